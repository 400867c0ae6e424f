/* cxx_ending.cpp - kvo.hpp: threads that end or are cancelled in observers, expressions and handlers of exceptions. */
#include <kvo/kvo.hpp>

#include <pthread.h>
#include <unistd.h>

#include "harness.h"

extern "C" void __lsan_disable(void) __attribute__((weak)); /* of AddressSanitizer */

namespace {

enum { SECONDS = 20 };

bool is_cancelled; /* otherwise pthread_exit */
bool are_leaks_expected;

/* Ends this thread. */
void end() {
  if (!is_cancelled) pthread_exit(PTHREAD_CANCELED);
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

/* Says when it is destroyed. */
struct Local {
  int *count;
  ~Local() { ++*count; }
};

/* When `is_last` is set, a copy ends the thread. */
struct Ending {
  static inline bool is_last = false;
  int value = 0;
  Ending() = default;
  explicit Ending(int v) : value(v) {}
  Ending(const Ending &other) : value(other.value) {
    if (is_last) end();
  }
  Ending(Ending &&) = default;
  Ending &operator=(const Ending &) = default;
  Ending &operator=(Ending &&) = default;
};

class Document : public kvo::object {
public:
  kvo::property<double> zoom{this, 1.0};
  kvo::property<std::string> title{this, ""};
  kvo::property<std::vector<int>> marks{this};
  kvo::property<Ending> ending{this};
  KVO_PROPERTIES(Document, kvo::object, zoom, title, marks, ending)
};

/* Runs `body`, which ends its thread, on a new one: once by pthread_exit and once by cancellation. */
template <class Body> void on_threads(Body body) {
  const char *tool = getenv("KVO_TEST_TOOL");
  bool is_tsan = tool != nullptr && std::string(tool) == "tsan"; /* it hangs when a thread is cancelled */
  alarm(SECONDS);
  for (int i = 0; i < (is_tsan ? 1 : 2); i++) {
    is_cancelled = i == 1;
    pthread_t thread;
    void *result = nullptr;
    auto run = [](void *arg) -> void * {
      if (are_leaks_expected) __lsan_disable();
      (*static_cast<Body *>(arg))();
      return nullptr;
    };
    CHECK(pthread_create(&thread, nullptr, run, &body) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK_SAME(result, PTHREAD_CANCELED);
  }
}

} // namespace

TEST("a thread may end in the observer of a property, of any type") {
  Document document;
  int destroyed = 0;
  bool ends = true;
  auto handler = [&](const auto &) {
    Local local{&destroyed};
    if (ends) end();
  };
  auto zoom = kvo::observe(document, &Document::zoom, handler);
  auto title = kvo::observe(document, &Document::title, handler);
  auto marks = kvo::observe(document, &Document::marks, handler);
  on_threads([&] { document.zoom = document.zoom + 1; });
  on_threads([&] { document.title = document.title.get() + "x"; });
  on_threads([&] { document.marks.insert_at(0, 1); });
  CHECK(destroyed >= 3);
  ends = false;
  int before = destroyed;
  document.zoom = 9;
  document.title = "y";
  document.marks.remove_at(0);
  CHECK_EQ(destroyed, before + 3);
}

TEST("a thread may end in an observer that is called before the change, and the next change works") {
  Document document;
  bool ends = true;
  int calls = 0;
  auto token = kvo::observe(
      document, &Document::title,
      [&](const kvo::change<std::string> &) {
        calls++;
        if (ends) end();
      },
      KVO_NEW | KVO_OLD | KVO_PRIOR);
  on_threads([&] { document.title = document.title.get() + "x"; });
  CHECK_EQ(document.title.get(), "");
  ends = false;
  calls = 0;
  document.title = "y";
  CHECK_EQ(calls, 2);
}

TEST("a thread may end in the observer of a key path and of an expression, and in an expression") {
  are_leaks_expected = __lsan_disable != nullptr; /* the runtime's memory for an abandoned evaluation is not freed */
  if (are_leaks_expected) __lsan_disable();
  Document document, other;
  bool ends = true;
  auto path = kvo::observe(document, "title", [&](const kvo::record &) {
    if (ends) end();
  });
  auto handler = kvo::observe(
      other, [&] { return other.zoom + 1; },
      [&](const auto &) {
        if (ends) end();
      });
  on_threads([&] { document.title = document.title.get() + "x"; });
  on_threads([&] { other.zoom = other.zoom + 1; });
  ends = false;
  Document third;
  auto expression = kvo::observe(
      third,
      [&] {
        double zoom = third.zoom;
        if (ends) end();
        return zoom;
      },
      [](const auto &) {});
  ends = true;
  on_threads([&] { third.zoom = third.zoom + 1; });
  ends = false;
}

TEST("a thread may end in what a value of C code's set notifies, and in a value's copy") {
  Document document;
  bool ends = true;
  auto token = kvo::observe(document, &Document::title, [&](const auto &) {
    if (ends) end();
  });
  on_threads([&] { kvo_set_string(document.kvo(), "title", "set"); });
  ends = false;
  auto copied = kvo::observe(document, &Document::ending, [](const auto &) {});
  Ending::is_last = true;
  on_threads([&] { document.ending = Ending(3); });
  Ending::is_last = false;
  CHECK_EQ(document.ending->value, 0);
  document.ending = Ending(4);
  CHECK_EQ(document.ending->value, 4);
}

static void ending_handler(std::exception_ptr, const char *) { end(); }

TEST("a thread may end in the handler of exceptions") {
  kvo::set_exception_handler(ending_handler);
  Document document;
  auto token = kvo::observe(document, &Document::zoom, [](const auto &) { throw std::runtime_error("no"); });
  on_threads([&] { document.zoom = document.zoom + 1; });
}

TEST("the default handler of exceptions prints what is no std::exception, too") {
  Document document;
  auto token = kvo::observe(document, &Document::zoom, [](const auto &) { throw 3; });
  document.zoom = 2;
  CHECK_EQ(document.zoom.get(), 2.0);
}
