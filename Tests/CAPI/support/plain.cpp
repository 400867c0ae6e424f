/* plain.cpp - kvo.hpp in a program without exceptions and without run-time types: it works, and an error ends the program. */
#include <kvo/kvo.hpp>

#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

struct Document : kvo::object {
  kvo::property<double> zoom{this, 1};
  kvo::property<std::string> title{this, "Untitled"};
  kvo::property<std::vector<int>> marks{this};
  kvo::property<Document *> parent{this, nullptr};
  KVO_PROPERTIES(Document, kvo::object, zoom, title, marks, parent)
};

#define CHECK(condition)                                                                                               \
  ((condition) ? (void)0 : (void)(std::printf("line %d: %s\n", __LINE__, #condition), failed = 1))

/* Whether the call ends the process by SIGABRT. */
template <class Call> static bool aborts(Call &&call) {
  pid_t child = fork();
  if (child == 0) {
    std::freopen("/dev/null", "w", stderr);
    call();
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

int main() {
  int failed = 0, calls = 0;
  Document document, other;
  auto a = kvo::observe(document, &Document::zoom, [&](const kvo::change<double> &) { calls++; });
  auto b = kvo::observe(document, "parent.title", [&](const kvo::record &) { calls++; });
  auto c = kvo::observe(
      document, [&] { return document.zoom * 2; }, [&](const kvo::change<double> &) { calls++; });
  auto d = kvo::bind(other, &Document::title, document, &Document::title);
  document.zoom = 2;
  document.parent = &other;
  document.title = "Report";
  document.marks = {1, 2};
  document.marks.insert_at(0, 0);
  CHECK(calls == 4);
  CHECK(other.title == "Report");
  CHECK(kvo::get<std::vector<int>>(document, "marks").size() == 3);
  kvo::set(document, "zoom", 5);
  CHECK(document.zoom == 5);
  CHECK(aborts([&] { document.marks.remove_at(9); }));
  CHECK(aborts([&] { kvo::set(document, "zoom", "x"); }));
  return failed;
}
