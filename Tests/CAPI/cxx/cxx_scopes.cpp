/* cxx_scopes.cpp - kvo.hpp: blocks of code whose changes are told at the end, or not at all. */
#include <kvo/kvo.hpp>

#include <stdexcept>

#include "harness.h"

namespace {

class Document : public kvo::object {
public:
  kvo::property<int> pages{this, 1};
  kvo::property<std::string> title{this, "a"};
  KVO_PROPERTIES(Document, kvo::object, pages, title)
};

struct log {
  std::string text;
  kvo::token pages, title;
  explicit log(Document &document)
      : pages(kvo::observe(document, &Document::pages,
                           [this](const kvo::change<int> &change) {
                             text += std::to_string(*change.old_value) + ">" + std::to_string(*change.new_value) + " ";
                           })),
        title(kvo::observe(document, &Document::title, [this](const kvo::change<std::string> &change) {
          text += *change.old_value + ">" + *change.new_value + " ";
        })) {}
};

} // namespace

TEST("a scope tells each property once at the end of its block, of several objects and of objects of C") {
  Document one, other;
  log first(one), second(other);
  {
    kvo::scope together(one, other.kvo());
    one.pages = 2;
    one.title = "b";
    one.pages = 3;
    other.pages = 4;
    CHECK_EQ(first.text + second.text, "");
  }
  CHECK_EQ(first.text, "1>3 a>b ");
  CHECK_EQ(second.text, "1>4 ");
}

TEST("a scope without objects holds whatever is changed in its block") {
  Document one, other;
  log first(one), second(other);
  {
    kvo::scope together;
    one.pages = 2;
    other.pages = 4;
    CHECK_EQ(first.text + second.text, "");
  }
  CHECK_EQ(first.text, "1>2 ");
  CHECK_EQ(second.text, "1>4 ");
}

TEST("a scope tells only what differs, or nothing, if its kind says so") {
  Document document;
  log heard(document);
  {
    kvo::scope differing(KVO_SCOPE_COALESCES_IF_CHANGED, document);
    document.pages = 2;
    document.pages = 1;
    document.title = "b";
  }
  CHECK_EQ(heard.text, "a>b ");
  {
    kvo::scope silent(KVO_SCOPE_SILENCES, document);
    document.pages = 9;
  }
  CHECK_EQ(heard.text, "a>b ");
}

TEST("a scope that is left by an exception tells what has changed") {
  Document document;
  log heard(document);
  try {
    kvo::scope together(document);
    document.pages = 2;
    throw std::runtime_error("left");
  } catch (const std::runtime_error &) {}
  CHECK_EQ(heard.text, "1>2 ");
  document.pages = 3;
  CHECK_EQ(heard.text, "1>2 2>3 ");
}
