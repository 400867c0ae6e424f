/* cxx_tokens.cpp - kvo.hpp: tokens end, pause and resume their observations, and do nothing without one. */
#include <kvo/kvo.hpp>

#include "harness.h"

namespace {

class Document : public kvo::object {
public:
  kvo::property<int> pages{this, 1};
  KVO_PROPERTIES(Document, kvo::object, pages)
};

} // namespace

TEST("the observation ends with its token, and a token that is assigned to ends the one that it had") {
  Document document;
  int calls = 0;
  auto count = [&](const auto &) { calls++; };
  {
    auto token = kvo::observe(document, &Document::pages, count);
    CHECK(token.is_active());
    document.pages = 2;
    CHECK_EQ(calls, 1);
    token = kvo::observe(document, &Document::pages, count);
    document.pages = 3;
    CHECK_EQ(calls, 2);
    kvo::token moved = std::move(token);
    CHECK(!token.is_active()); /* empty */
    CHECK(moved.is_active());
    document.pages = 4;
    CHECK_EQ(calls, 3);
  }
  document.pages = 5;
  CHECK_EQ(calls, 3);
}

TEST("a token that is left when the object dies has ended, and that is no misuse") {
  kvo::token token;
  {
    Document other;
    token = kvo::observe(other, &Document::pages, [](const kvo::change<int> &) {});
    CHECK(token.is_active());
  }
  CHECK(!token.is_active());
  token.cancel();
}

TEST("a paused observation tells what it has missed once, and nothing if it is not asked to") {
  Document document;
  std::string log;
  auto token = kvo::observe(document, &Document::pages, [&](const kvo::change<int> &change) {
    log += std::to_string(*change.old_value) + " -> " + std::to_string(*change.new_value) + "; ";
  });
  token.pause();
  document.pages = 2;
  document.pages = 3;
  CHECK_EQ(log, "");
  token.resume();
  CHECK_EQ(log, "1 -> 3; ");
  token.pause();
  document.pages = 4;
  token.resume(false);
  CHECK_EQ(log, "1 -> 3; ");
}

/* Calls everything that a token does. */
static void use(kvo::token &token) {
  token.pause();
  token.resume();
  token.resume(false);
  CHECK(!token.is_active());
  token.cancel();
  token.cancel_and_wait();
  CHECK_EQ(token.detach(), 0u);
  CHECK_EQ(token.id(), 0u);
}

static kvo_fault_code code;
static std::string summary, file;
static unsigned line;

static kvo_action keep(const kvo_fault *fault, void *) {
  code = fault->code;
  summary = fault->summary;
  file = fault->file != nullptr ? fault->file : "";
  line = fault->line;
  return KVO_ACTION_IGNORE;
}

TEST_REPORTED(
    "a fault of a token has the line of the program, and where the language knows none no line of the headers") {
  Document document;
  kvo::token self;
  unsigned expected = 0;
  self = kvo::observe(document, &Document::pages, [&](const auto &) {
    expected = __LINE__ + 1;
    self.cancel_and_wait();
  });
  kvo_set_fault_handler(keep, nullptr);
  document.pages = 2;
  CHECK_EQ(code, KVO_FAULT_ENDLESS_WAIT);
  CHECK_EQ(file, std::string(__FILE__));
  CHECK_EQ(line, expected);
  kvo_set_fault_handler(nullptr, nullptr);
}

TEST_REPORTED("an object that is destroyed while observed has no line of the headers") {
  kvo_set_fault_handler(keep, nullptr);
  kvo_observation id = 0;
  {
    Document document;
    kvo_observer observer{};
    observer.struct_size = sizeof observer;
    observer.key_path = "pages";
    observer.callback = [](const kvo_change *, void *) {};
    CHECK_OK(kvo_add_observer(document.kvo(), &observer, &id));
  }
  CHECK_EQ(code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(file, std::string());
  kvo_set_fault_handler(nullptr, nullptr);
}

TEST("a token without an observation does nothing: an empty one, and those of an end, a move and a giving up") {
  kvo::token empty;
  use(empty);
  Document document;
  int calls = 0;
  auto observe = [&] { return kvo::observe(document, &Document::pages, [&](const auto &) { calls++; }); };
  kvo::token token = observe();
  token.cancel();
  use(token);
  kvo::token moved = observe();
  token = std::move(moved);
  use(moved);
  CHECK(token.is_active());
  token.detach();
  use(token);
  document.pages = 2;
  CHECK_EQ(calls, 1);
}

TEST("a token whose observation has ended with its object, or by its id, does nothing") {
  kvo::token token;
  {
    Document document;
    token = kvo::observe(document, &Document::pages, [](const auto &) {});
  }
  token.pause();
  token.resume();
  token.cancel();
  use(token);
  Document document;
  token = kvo::observe(document, &Document::pages, [](const auto &) {});
  CHECK_OK(kvo_cancel_observer(token.id()));
  token.pause();
  token.resume();
  token.cancel();
  use(token);
}
