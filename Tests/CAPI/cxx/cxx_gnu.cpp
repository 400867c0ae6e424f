/* cxx_gnu.cpp - kvo.hpp with the extensions of GNU: numbers that are arithmetic types there, and that C cannot read. */
#include <kvo/kvo.hpp>

#include "harness.h"

#ifdef __SIZEOF_INT128__

namespace {

__extension__ using Wide = __int128;
__extension__ using Positive = unsigned __int128;
struct Pair {
  Wide wide;
  int number;
};

} // namespace

KVO_STRUCT(Pair, wide, number)

namespace {

enum Code : Positive { none };

class Numbers : public kvo::object {
public:
  kvo::property<Wide> wide{this, 1};
  kvo::property<Positive> positive{this, 2u};
  kvo::property<Code> code{this, none};
  kvo::property<std::optional<Wide>> maybe{this, Wide{3}};
  kvo::property<std::vector<Wide>> many{this, std::vector<Wide>{4}};
  kvo::property<Pair> pair{this, Pair{5, 6}};
  KVO_PROPERTIES(Numbers, kvo::object, wide, positive, code, maybe, many, pair)
};

template <class Call> kvo_status status_of(Call &&call) {
  try {
    call();
  } catch (const kvo::error &error) {
    return error.status();
  }
  return KVO_OK;
}

} // namespace

TEST("an integer of 128 bits, alone and within other types, has the encoding of what C cannot interpret") {
  CHECK_EQ(std::string(kvo::encoding<Wide>::text()), "?");
  CHECK_EQ(std::string(kvo::encoding<Positive>::text()), "?");
  CHECK_EQ(std::string(kvo::encoding<Code>::text()), "?");
  CHECK_EQ(std::string(kvo::encoding<std::optional<Wide>>::text()), "?");
  CHECK_EQ(std::string(kvo::encoding<std::vector<Positive>>::text()), "[?]");
  CHECK_EQ(std::string(kvo::encoding<Pair>::text()), "{Pair=?i}");
  CHECK_EQ(std::string(kvo::encoding<long long>::text()), "q");
  CHECK_EQ(std::string(kvo::encoding<long double>::text()), "D");
}

TEST("an integer of 128 bits is observed in C++, and neither read nor set as a number by key") {
  Numbers numbers;
  Wide large = Wide{1} << 100, told = 0;
  auto token =
      kvo::observe(numbers, &Numbers::wide, [&](const kvo::change<Wide> &change) { told = *change.new_value; });
  numbers.wide = large;
  CHECK(told == large);
  for (const char *key : {"wide", "positive", "code", "maybe"}) {
    CHECK_STATUS(status_of([&] { kvo::get<int>(numbers, key); }), KVO_ERROR_TYPE_MISMATCH);
    CHECK_STATUS(status_of([&] { kvo::get<Wide>(numbers, key); }), KVO_ERROR_TYPE_MISMATCH);
    CHECK_STATUS(status_of([&] { kvo::set(numbers, key, 7); }), KVO_ERROR_TYPE_MISMATCH);
    CHECK_STATUS(status_of([&] { kvo::set(numbers, key, large); }), KVO_ERROR_TYPE_MISMATCH);
  }
  CHECK_STATUS(status_of([&] { kvo::get<std::vector<int>>(numbers, "many"); }), KVO_ERROR_TYPE_MISMATCH);
  CHECK(numbers.wide.get() == large && numbers.many->at(0) == 4);
  kvo::set(numbers, "pair", Pair{large, 8});
  CHECK(kvo::get<Pair>(numbers, "pair").wide == large);
}

#endif
