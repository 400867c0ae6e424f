// main.cpp - the same program as main.c, with kvo.hpp.
#include <kvo/kvo.hpp>

#include <cstdio>

struct Point : kvo::object {
  kvo::property<double> x{this, 0};
  KVO_PROPERTIES(Point, kvo::object, x)
};

int main() {
  Point point;
  kvo::token token = kvo::observe(point, &Point::x, [](const kvo::change<double> &change) {
    std::printf("x: %g -> %g\n", *change.old_value, *change.new_value);
  });
  point.x = 3.5;
}
