/* cxx_process.cpp - kvo.hpp and its process: threads that end in observers, objects at the exit, and a plug-in with hidden symbols. */
#include "held.hpp"
#include "hidden.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>

/* Its encoding is too long for the memory within a std::string. */
struct Rectangle {
  double left, top, right, bottom;
};
KVO_STRUCT(Rectangle, left, top, right, bottom)

namespace {

class Document : public kvo::object {
public:
  kvo::property<double> zoom{this, 1.0};
  kvo::property<std::string> title{this, "Untitled"};
  kvo::property<std::vector<int>> marks{this};
  kvo::property<Rectangle> frame{this, Rectangle{1, 2, 3, 4}};
  KVO_PROPERTIES(Document, kvo::object, zoom, title, marks, frame)
};

/* ---------------------------------------------------------------------------------------------------- Ends of threads -- */

bool is_cancelled; /* otherwise pthread_exit */
bool ends = true;

/* Ends this thread. */
void end() {
  if (!ends) return;
  if (!is_cancelled) pthread_exit(PTHREAD_CANCELED);
  pthread_cancel(pthread_self());
  pthread_testcancel();
}

/* Runs `body`, which ends its thread, on a new one: once by pthread_exit and once by cancellation. */
template <class Body> void on_threads(Body body) {
  const char *tool = getenv("KVO_TEST_TOOL");
  bool is_tsan = tool != nullptr && std::string(tool) == "tsan"; /* it hangs when a thread is cancelled */
  alarm(20);
  for (int i = 0; i < (is_tsan ? 1 : 2); i++) {
    is_cancelled = i == 1;
    pthread_t thread;
    void *result = nullptr;
    auto run = [](void *arg) -> void * {
      (*static_cast<Body *>(arg))();
      return nullptr;
    };
    CHECK(pthread_create(&thread, nullptr, run, &body) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK_SAME(result, PTHREAD_CANCELED);
  }
}

} // namespace

TEST("a thread may end in an observer and in the handler of exceptions: locals are destroyed, the next change works") {
  struct Local {
    int *count;
    ~Local() { ++*count; }
  };
  Document document;
  int destroyed = 0;
  auto handler = [&](const auto &) {
    Local local{&destroyed};
    end();
  };
  auto zoom = kvo::observe(document, &Document::zoom, handler);
  auto marks = kvo::observe(document, &Document::marks, handler);
  auto prior = kvo::observe(document, &Document::title, handler, KVO_NEW | KVO_OLD | KVO_PRIOR);
  kvo::set_exception_handler([](std::exception_ptr, const char *) { end(); });
  Holder<int> thrower;
  auto throwing = kvo::observe(thrower, &Holder<int>::value, [](const auto &) { throw std::runtime_error("no"); });
  on_threads([&] { thrower.value += 1; });
  on_threads([&] { document.zoom = document.zoom + 1; });
  on_threads([&] { document.marks.insert_at(0, 1); });
  on_threads([&] { document.title = document.title.get() + "x"; });
  CHECK_EQ(document.title.get(), "Untitled"); /* the thread ended before the change */
  CHECK(destroyed >= 3);
  ends = false;
  int before = destroyed;
  document.zoom = 9;
  document.title = "y";
  document.marks.remove_at(0);
  CHECK_EQ(destroyed, before + 4);
}

TEST("a thread may end in an observer at the end of a scope") {
  Document document;
  ends = true;
  auto token = kvo::observe(document, &Document::zoom, [](const auto &) { end(); });
  on_threads([&] {
    kvo::scope together(document);
    document.zoom = document.zoom + 1;
  });
  ends = false;
  document.zoom = 9;
  CHECK_EQ(document.zoom.get(), 9.0);
}

/* ----------------------------------------------------------------------------------------------------------- The exit -- */

namespace {

/* Uses the document when the program exits. */
struct Saving {
  Document &document;
  ~Saving() {
    document.zoom = 2;
    document.title = "Saved";
    kvo::set(document, "frame", Rectangle{5, 6, 7, 8});
    std::fprintf(stderr, "frame %g; ", kvo::get<Rectangle>(document, "frame").left);
    auto token = kvo::observe(document, &Document::zoom, [](const auto &) {}); /* finds the name */
    document.zoom = 3;
  }
};

void exit_with_objects(void *) {
  static Document document;
  static Saving saving{document};
  /* From here on the class and the encodings exist, after `saving`: what is destroyed at exit is destroyed before it. */
  kvo::observe(document, &Document::zoom, [](const kvo::change<double> &change) {
    std::fprintf(stderr, "zoom %g -> %g; ", *change.old_value, *change.new_value);
  }).detach();
  kvo::observe(document, "title", [](const kvo::record &change) {
    std::fprintf(stderr, "title %s; ", change.new_value<std::string>().value_or("?").c_str());
  }).detach();
  std::exit(0);
}

} // namespace

TEST("an object that is destroyed at exit notifies its observers until then, whatever has been destroyed before") {
  child_result result = harness_run_child(exit_with_objects, nullptr, nullptr);
  CHECK_EQ(result.signal, 0);
  CHECK_EQ(result.exit_code, 0);
  CHECK_EQ(result.errors, "zoom 1 -> 2; title Saved; frame 5; zoom 2 -> 3; ");
}

/* ----------------------------------------------------------------------------------------------------------- A plug-in -- */

template <class Function> static Function *loaded(const char *name) {
  static void *plugin = dlopen(KVO_HIDDEN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  void *found = dlsym(plugin, name);
  CHECK(found != nullptr);
  return reinterpret_cast<Function *>(found);
}

static std::string handled;

TEST("the handler of exceptions that a program sets receives those of a plug-in's observers") {
  kvo::set_exception_handler([](std::exception_ptr exception, const char *key_path) {
    handled = key_path + (": " + thrown_by<kvo::error>([&] { std::rethrow_exception(exception); }));
  });
  loaded<decltype(hidden_throw)>("hidden_throw")();
  CHECK_EQ(handled, "level: hidden");
}

TEST("a program finds the objects of a plug-in's classes, and a plug-in those of the program's") {
  kvo_object *gauge = loaded<decltype(hidden_gauge)>("hidden_gauge")();
  auto from = loaded<decltype(hidden_object)>("hidden_object");
  CHECK(kvo::object::from(gauge) != nullptr);
  CHECK_SAME(kvo::object::from(gauge), from(gauge));
  Document document;
  CHECK_SAME(kvo::object::from(document.kvo()), &document);
  CHECK_SAME(from(document.kvo()), &document);
}
