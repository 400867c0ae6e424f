/* inheritance.cpp - KVO_PROPERTIES of classes whose kvo::object is at no fixed place, which must not compile. 0 is without a mistake. */
#include <kvo/kvo.hpp>

struct Named : kvo::object {
  kvo::property<std::string> name{this, "a"};
  KVO_PROPERTIES(Named, kvo::object, name)
};

#if WRONG == 0
struct Widget {
  virtual ~Widget() = default;
  int size = 0;
};
struct Aged : Named {
  kvo::property<int> age{this, 1};
  KVO_PROPERTIES(Aged, Named, age)
};
struct Button : Widget, Aged {
  kvo::property<int> width{this, 1};
  KVO_PROPERTIES(Button, Aged, width)
};
struct Shared : virtual Widget, Named { // this virtual base has no kvo::object
  kvo::property<int> height{this, 1};
  KVO_PROPERTIES(Shared, Named, height)
};
class Private : Named {
  kvo::property<int> depth{this, 1};
  KVO_PROPERTIES(Private, Named, depth)
};
template <class T> struct Box : Widget, Named {
  kvo::property<T> value{this};
  KVO_PROPERTIES(Box, Named, value)
};
struct Plain : virtual Named {}; // has no properties of its own
void make() {
  struct Local : Named {
    kvo::property<int> depth{this, 1};
    KVO_PROPERTIES(Local, Named, depth)
  };
  Local local;
  Button button;
  Shared shared;
  Private own;
  Plain plain;
  Box<double> box;
}
#elif WRONG == 1
struct Virtual : virtual kvo::object {
  kvo::property<int> value{this, 1};
  KVO_PROPERTIES(Virtual, kvo::object, value)
};
#elif WRONG == 2
struct Virtual : virtual Named {
  kvo::property<int> value{this, 1};
  KVO_PROPERTIES(Virtual, Named, value)
};
#elif WRONG == 3
struct Between : virtual Named {};
struct Above : Between {};
struct Virtual : Above {
  kvo::property<int> value{this, 1};
  KVO_PROPERTIES(Virtual, Above, value)
};
#elif WRONG == 4
template <class T> struct Virtual : virtual Named {
  kvo::property<T> value{this, 1};
  KVO_PROPERTIES(Virtual, Named, value)
};
Virtual<int> made;
#endif
