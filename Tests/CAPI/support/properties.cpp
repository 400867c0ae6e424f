/* properties.cpp - uses of kvo::property that must not compile, each with a message that says why. 0 is without a mistake. */
#include <kvo/kvo.hpp>

struct Child : kvo::object {
  kvo::property<std::string> name{this, "a"};
  KVO_PROPERTIES(Child, kvo::object, name)
};

struct Parent : kvo::object {
#if WRONG == 1
  kvo::property<Child> child{this};
#elif WRONG == 2
  kvo::property<Child &> child{this};
#elif WRONG == 3
  kvo::property<const int> count{this, 1};
#endif
  kvo::property<int> number{this, 1};
  kvo::property<std::unique_ptr<Child>> owned{this};
  KVO_PROPERTIES(Parent, kvo::object, number, owned)
};

int main() {
  Parent parent;
  parent.owned = std::make_unique<Child>();
#if WRONG == 4
  parent.owned.modify([](std::unique_ptr<Child> &child) { child.reset(); });
#elif WRONG == 5
  parent.number.insert_at(0, 1);
#endif
}
