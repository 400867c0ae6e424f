/* cxx_operators.cpp - kvo.hpp: a property is used as its value is, in comparisons, sums, loops and on streams; also of constant objects. */
#include <kvo/kvo.hpp>

#include <chrono>
#include <map>
#include <sstream>

#include "harness.h"

struct Large {
  int m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24,
      m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39;
};
KVO_STRUCT(Large, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21,
           m22, m23, m24, m25, m26, m27, m28, m29, m30, m31, m32, m33, m34, m35, m36, m37, m38, m39)

namespace {

enum class Color { red, green };

class Document : public kvo::object {
public:
  kvo::property<int> pages{this, 7};
  kvo::property<std::size_t> bytes{this, 1};
  kvo::property<double> zoom{this, 1.5};
  kvo::property<bool> open{this, false};
  kvo::property<char> letter{this, 'a'};
  kvo::property<Color> color{this, Color::red};
  kvo::property<std::string> title{this, "Ada"}, author{this, "Bob"};
  kvo::property<std::vector<int>> marks{this};
  kvo::property<std::map<std::string, int>> counts{this};
  kvo::property<std::optional<int>> limit{this};
  kvo::property<std::chrono::seconds> age{this};
  kvo::property<std::shared_ptr<Document>> editor{this};
  kvo::property<Document *> parent{this, nullptr};
  KVO_PROPERTIES(Document, kvo::object, pages, bytes, zoom, open, letter, color, title, author, marks, counts, limit,
                 age, editor, parent)
};

/* An observer of a property can be in the class of the property. */
class Node : public kvo::object {
public:
  kvo::property<std::unique_ptr<Node>> next{this};
  kvo::property<std::vector<std::shared_ptr<Node>>> others{this};
  kvo::property<Node *> up{this, nullptr};
  KVO_PROPERTIES(Node, kvo::object, next, others, up)
};

class Wide : public kvo::object {
public:
  kvo::property<int> p0{this, 0}, p1{this, 1}, p2{this, 2}, p3{this, 3}, p4{this, 4}, p5{this, 5}, p6{this, 6},
      p7{this, 7};
  kvo::property<int> p8{this, 8}, p9{this, 9}, p10{this, 10}, p11{this, 11}, p12{this, 12}, p13{this, 13},
      p14{this, 14}, p15{this, 15};
  kvo::property<int> p16{this, 16}, p17{this, 17}, p18{this, 18}, p19{this, 19}, p20{this, 20}, p21{this, 21},
      p22{this, 22}, p23{this, 23};
  kvo::property<int> p24{this, 24}, p25{this, 25}, p26{this, 26}, p27{this, 27}, p28{this, 28}, p29{this, 29},
      p30{this, 30}, p31{this, 31};
  kvo::property<int> p32{this, 32}, p33{this, 33}, p34{this, 34}, p35{this, 35}, p36{this, 36}, p37{this, 37},
      p38{this, 38}, p39{this, 39};
  kvo::property<Large> large{this};
  KVO_PROPERTIES(Wide, kvo::object, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18,
                 p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35, p36, p37, p38,
                 p39, large)
};

} // namespace

TEST("a property is compared with a value, with another property, and with a pointer that is null") {
  Document document;
  CHECK(document.title == "Ada" && "Ada" == document.title && document.title == std::string("Ada"));
  CHECK(document.title != document.author && document.title < document.author && document.author >= document.title);
  CHECK(document.pages == 7 && document.bytes == 1 && 1.5 >= document.zoom && document.pages > document.zoom);
  CHECK(document.color == Color::red && document.letter == 'a');
  CHECK(document.marks == std::vector<int>() && document.limit == std::nullopt &&
        document.age < std::chrono::minutes(1));
  CHECK(document.editor == nullptr && document.parent == nullptr && document.parent == NULL);
  CHECK(!document.editor && !document.limit && !document.parent && !document.open);
  document.limit = 3;
  CHECK(document.limit == 3 && document.limit);
}

TEST("a property is written to a stream as its value") {
  Document document;
  std::ostringstream out;
  out << document.title << document.pages << document.zoom << document.letter << document.open;
  CHECK_EQ(out.str(), "Ada71.5a0");
}

TEST("a property takes part in sums as its value") {
  Document document;
  CHECK_EQ(document.title + "!", "Ada!");
  CHECK_EQ("to " + document.title + ' ' + document.author, "to Ada Bob");
  CHECK_EQ(document.zoom * document.pages, 10.5);
  CHECK((document.age + std::chrono::seconds(2)).count() == 2);
}

TEST("the elements of a property are reached by index and in loops") {
  Document document;
  CHECK(document.marks.empty());
  document.marks = {0, 5};
  document.counts = {{"a", 1}};
  int sum = 0;
  for (int mark : document.marks) sum += mark;
  for (const auto &[name, count] : document.counts) sum += count + int(name.size());
  CHECK_EQ(sum, 7);
  CHECK_EQ(document.marks[1], 5);
  CHECK_EQ(document.title[0], 'A');
  CHECK_EQ(document.marks.size(), 2u);
  document.marks = {};
  CHECK(document.marks.empty());
}

TEST("every operator that assigns notifies once") {
  Document document;
  std::string log;
  auto a = kvo::observe(document, &Document::pages,
                        [&](const kvo::change<int> &change) { log += std::to_string(*change.new_value) + " "; });
  auto b = kvo::observe(document, &Document::title,
                        [&](const kvo::change<std::string> &change) { log += *change.new_value + " "; });
  document.pages += 3;
  document.pages -= 1;
  document.pages *= 4;
  document.pages /= 3;
  document.pages %= 7;
  document.pages <<= 3;
  document.pages >>= 1;
  document.pages |= 3;
  document.pages &= 6;
  document.pages ^= 1;
  CHECK_EQ(log, "10 9 36 12 5 40 20 23 6 7 ");
  log.clear();
  CHECK_EQ(document.pages++, 7);
  CHECK_EQ(document.pages--, 8);
  CHECK_EQ((++document.pages).get(), 8);
  CHECK_EQ((--document.pages).get(), 7);
  CHECK_EQ(log, "8 7 8 7 ");
  log.clear();
  document.title += "m";
  document.title += document.author;
  document.title = {'x', 'y'};
  CHECK_EQ(log, "Adam AdamBob xy ");
  document.open |= true;
  document.zoom *= document.pages;
  document.letter += 1;
  document.age += std::chrono::minutes(1);
  CHECK(document.open && document.zoom == 10.5 && document.letter == 'b' && document.age->count() == 60);
}

TEST("an expression that compares and indexes properties follows them") {
  Document document;
  document.marks = {1};
  std::string log;
  auto token = kvo::observe(
      document, [&] { return document.title == "Ada" && document.marks[0] == 1 && !document.marks.empty(); },
      [&](const kvo::change<bool> &change) { log += *change.new_value ? "yes " : "no "; });
  document.title = "Eve";
  document.title = "Ada";
  document.marks = {2};
  CHECK_EQ(log, "no yes no ");
}

TEST("a constant object is observed, read and bound, and key paths are strings of C and of C++") {
  Document document, label;
  const Document &constant = document;
  const std::string path = "title", key = "author";
  int calls = 0;
  auto a = kvo::observe(constant, &Document::title, [&](const kvo::change<std::string> &) { calls++; });
  auto b = kvo::observe(constant, path, [&](const kvo::record &) { calls++; });
  auto c = kvo::observe(constant.kvo(), path, [&](const kvo::record &) { calls++; });
  auto d = kvo::observe(
      constant, [&] { return constant.title.get(); }, [&](const kvo::change<std::string> &) { calls++; });
  auto e = kvo::bind(label, key, constant, path);
  kvo::set(document, path, "Eve");
  CHECK_EQ(calls, 4);
  CHECK_EQ(label.author.get(), "Eve");
  CHECK_EQ(kvo::get<std::string>(constant, path), "Eve");
  kvo::set(document.kvo(), std::string("pages"), 3);
  CHECK_EQ(document.pages.get(), 3);
}

TEST("a class may have any number of properties, and a structure that many members") {
  Wide wide;
  int calls = 0;
  auto a = kvo::observe(wide, "p39", [&](const kvo::record &) { calls++; });
  auto b = kvo::observe(wide, &Wide::p32, [&](const kvo::change<int> &) { calls++; });
  wide.p39 = 1;
  wide.p32 = 1;
  CHECK_EQ(calls, 2);
  CHECK_EQ(kvo_class_property_count(kvo_object_class(wide.kvo())), 41u);
  CHECK_EQ(kvo::get<int>(wide, "p38"), 38);
  Large large{};
  large.m39 = 5;
  kvo::set(wide, "large", large);
  CHECK_EQ(wide.large->m39, 5);
}

TEST("a class has properties that refer to others of the class") {
  Node node;
  node.next = std::make_unique<Node>();
  node.next->up = &node;
  node.others.insert_at(0, std::make_shared<Node>());
  CHECK(node.next && node.next->up == &node);
  CHECK(kvo::get<kvo_object *>(node, "next.up") == node.kvo());
}
