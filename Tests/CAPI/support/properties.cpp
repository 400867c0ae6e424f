/* properties.cpp - uses of kvo::property that must not compile, each with a message that says why. 0 is without a mistake. */
#include <kvo/kvo.hpp>

struct Child : kvo::object {
  kvo::property<std::string> name{this, "a"};
  KVO_PROPERTIES(Child, kvo::object, name)
};

struct Declared;

struct Parent : kvo::object {
#if WRONG == 1
  kvo::property<Child> child{this};
#elif WRONG == 2
  kvo::property<Child &> child{this};
#elif WRONG == 3
  kvo::property<const int> count{this, 1};
#endif
  int plain = 0;
  kvo::property<int> number{this, 1};
  kvo::property<double> real{this, 1};
  kvo::property<bool> flag{this, true};
  kvo::property<std::optional<int>> maybe{this};
  kvo::property<std::unique_ptr<Child>> owned{this};
  kvo::property<std::vector<int>> marks{this};
#if WRONG == 11
  KVO_PROPERTIES(Parent, kvo::object, number, owned, plain)
#elif WRONG == 15
  kvo::property<Declared *> declared{this, nullptr};
  KVO_PROPERTIES(Parent, kvo::object, number, real, flag, maybe, owned, marks, declared)
#else
  KVO_PROPERTIES(Parent, kvo::object, number, real, flag, maybe, owned, marks)
#endif
};

int main() {
  Parent parent;
  parent.owned = std::make_unique<Child>();
#if WRONG == 4
  parent.owned.modify([](std::unique_ptr<Child> &child) { child.reset(); });
#elif WRONG == 5
  parent.number.insert_at(0, 1);
#elif WRONG == 6
  parent.number = 3.5;
#elif WRONG == 7
  parent.number = parent.real;
#elif WRONG == 8
  parent.number *= 1.5;
#elif WRONG == 9
  parent.flag = "yes";
#elif WRONG == 10
  parent.maybe.set(3.5);
#elif WRONG == 12
  const Parent &constant = parent;
  kvo::token token = kvo::bind(constant, "number", parent, "real");
#elif WRONG == 13
  parent.marks.insert_at(0, 3.9);
#elif WRONG == 14
  parent.marks.replace_at(0, parent.real.get());
#endif
}
