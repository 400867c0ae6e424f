/* abi_program.cpp - a program in C++ of the last blessed version: built with CShim/abi/blessed.hpp, run with the present library. kvo.hpp
 * is part of the program; the functions that it calls are the library's. Do not change it for a new version: when a version is blessed,
 * add what it has. */
#include "blessed.hpp"

#include <cstdio>
#include <cstdlib>

#define CHECK(condition) ((condition) ? (void)0 : fail(__LINE__, #condition))
static void fail(int line, const char *condition) {
  std::fprintf(stderr, "abi_program.cpp:%d: %s; %s\n", line, condition, kvo_last_error());
  std::exit(1);
}

struct Author : kvo::object {
  kvo::property<std::string> name{this, "Ada"};
  KVO_PROPERTIES(Author, kvo::object, name)
};
struct Document : kvo::object {
  kvo::property<double> zoom{this, 1};
  kvo::property<int> pages{this, 1};
  kvo::property<std::string> title{this, "a"};
  kvo::property<Author *> author{this, nullptr};
  kvo::property<std::unique_ptr<Author>> owner{this};
  kvo::property<std::vector<int>> marks{this};
  KVO_PROPERTIES(Document, kvo::object, zoom, pages, title, author, owner, marks)
};
struct Book : Document {
  kvo::property<bool> open{this, false};
  KVO_PROPERTIES(Book, Document, open)
};

int main() {
  CHECK(kvo_version() >= KVO_VERSION_NUMBER);
  Book book, label;
  Author author;
  std::string log;
  {
    auto zoom = kvo::observe(
        book, &Book::zoom,
        [&](const kvo::change<double> &change) {
          log += change.is_prior
                     ? "prior "
                     : std::to_string(int(*change.old_value)) + ">" + std::to_string(int(*change.new_value)) + " ";
        },
        KVO_OLD | KVO_NEW | KVO_PRIOR);
    auto title = kvo::observe(book, &Book::title, [&](const kvo::change<std::string> &change) {
      log += *change.old_value + ">" + *change.new_value + " ";
    });
    auto path = kvo::observe(book, "author.name", [&](const kvo::record &change) {
      log += change.new_value<std::string>().value_or("nil") + " ";
    });
    auto owned = kvo::observe(book, "owner.name", [&](const kvo::record &change) {
      log += change.new_value<std::string>().value_or("nil") + " ";
    });
    auto area = kvo::observe(
        book, [&] { return book.zoom * book.pages; },
        [&](const kvo::change<double> &change) { log += "area " + std::to_string(int(*change.new_value)) + " "; });
    auto marks = kvo::observe(book, &Book::marks, [&](const kvo::change<std::vector<int>> &change) {
      log += "mark " + std::to_string(change.indexes[0]) + " ";
    });
    auto bound = kvo::bind(label, &Book::title, book, &Book::title);
    auto computed = kvo::bind(label, &Book::pages, [&] { return book.pages * 2; });
    book.zoom = 2;
    book.title = "b";
    book.author = &author;
    author.name = "Eve";
    book.owner = std::make_unique<Author>();
    book.pages = 3;
    book.marks.insert_at(0, 7);
    CHECK(log == "prior area 2 1>2 a>b Ada Eve Ada area 6 mark 0 ");
    CHECK(label.title.get() == "b" && label.pages.get() == 6);
    log.clear();
    {
      kvo::scope together(book);
      book.title = "c";
      book.title = "d";
    }
    CHECK(log == "b>d ");
    title.pause();
    book.title = "e";
    title.resume();
    CHECK(log == "b>d d>e ");
    CHECK(zoom.is_active());
    zoom.cancel_and_wait();
  }
  kvo::set(book, "open", true);
  CHECK(book.open.get() && kvo::get<bool>(book, "open"));
  kvo::set(book, "author", &author);
  CHECK(kvo::get<std::string>(book, "author.name") == "Eve");
  CHECK(kvo::object::from(book.kvo()) == &book);
  bool thrown = false;
  try {
    kvo::set(book, "title", 5);
  } catch (const kvo::error &error) {
    thrown = error.status() == KVO_ERROR_TYPE_MISMATCH;
  }
  CHECK(thrown);
  return 0;
}
