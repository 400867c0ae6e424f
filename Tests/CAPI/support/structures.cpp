/* structures.cpp - KVO_STRUCT of structures that C would lay out in another way, which must not compile. 0 is without a mistake. */
#include <kvo/kvo.hpp>

struct Kept {
  int number;
  double real;
  char code;
};
struct Flags {
  unsigned one : 3;
};
struct __attribute__((packed)) Packed {
  char code;
  double real;
};
struct alignas(64) Aligned {
  double real;
};
struct Empty {
  int number;
  std::array<int, 0> none;
};

#if WRONG == 0
KVO_STRUCT(Kept, number, real, code)
#elif WRONG == 1
KVO_STRUCT(Kept, number, code) // one is missing
#elif WRONG == 2
KVO_STRUCT(Kept, real, number, code) // not in order
#elif WRONG == 3
KVO_STRUCT(Flags, one)
#elif WRONG == 4
KVO_STRUCT(Packed, code, real)
#elif WRONG == 5
KVO_STRUCT(Aligned, real)
#elif WRONG == 6
KVO_STRUCT(Empty, number, none) // C has no such member
#endif
