/* bindings.cpp - kvo::bind of properties that C cannot set: does not compile with WRONG > 0. */
#include <kvo/kvo.hpp>

struct Author : kvo::object {
  kvo::property<Author *> friend_of{this, nullptr};
  kvo::property<std::shared_ptr<Author>> shared{this};
  kvo::property<const char *> text{this, "text"};
  kvo::property<std::vector<std::shared_ptr<Author>>> several{this};
  KVO_PROPERTIES(Author, kvo::object, friend_of, shared, text, several)
};

int main() {
  Author one, other;
  kvo::token token = kvo::bind(one, &Author::friend_of, other, &Author::shared);
#if WRONG == 1
  token = kvo::bind(one, &Author::shared, other, &Author::shared);
#elif WRONG == 2
  token = kvo::bind(one, &Author::text, [] { return "text"; });
#elif WRONG == 3
  token = kvo::bind_two_way(one, &Author::several, other, &Author::several);
#elif WRONG == 4
  token = kvo::bind(one, &Author::friend_of, 3, &Author::friend_of);
#endif
}
