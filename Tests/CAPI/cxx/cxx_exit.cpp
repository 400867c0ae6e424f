/* cxx_exit.cpp - kvo.hpp: objects that are used at the exit of the program, after what was made later has been destroyed. */
#include <kvo/kvo.hpp>

#include <cstdio>
#include <cstdlib>

#include "harness.h"

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
  kvo::property<Rectangle> frame{this, Rectangle{1, 2, 3, 4}};
  kvo::property<std::vector<Rectangle>> parts{this};
  KVO_PROPERTIES(Document, kvo::object, zoom, title, frame, parts)
};

/* Uses the document when the program exits. */
struct Saving {
  Document &document;
  ~Saving() {
    document.zoom = 2;
    document.title = "Saved";
    kvo::set(document, "frame", Rectangle{5, 6, 7, 8});
    kvo::set(document, "parts", std::vector<Rectangle>{Rectangle{1, 1, 1, 9}});
    std::fprintf(stderr, "frame %g, parts %g; ", kvo::get<Rectangle>(document, "frame").left,
                 kvo::get<std::vector<Rectangle>>(document, "parts").at(0).bottom);
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
  CHECK_EQ(result.errors, "zoom 1 -> 2; title Saved; frame 5, parts 9; zoom 2 -> 3; ");
}
