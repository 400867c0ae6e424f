/* cxx_operators.cpp - kvo.hpp: a property is used as its value is, in comparisons, sums, loops and on streams; also of constant objects. */
#include "held.hpp"

#include <chrono>
#include <map>
#include <sstream>

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
  kvo::property<std::unique_ptr<Document>> next{this};
  kvo::property<Document *> parent{this, nullptr};
  KVO_PROPERTIES(Document, kvo::object, pages, bytes, zoom, open, letter, color, title, author, marks, counts, limit,
                 age, next, parent)
};

using many = kvo::property<int>;
class Wide : public kvo::object {
public:
  many p0{this}, p1{this}, p2{this}, p3{this}, p4{this}, p5{this}, p6{this}, p7{this}, p8{this}, p9{this}, p10{this},
      p11{this}, p12{this}, p13{this}, p14{this}, p15{this}, p16{this}, p17{this}, p18{this}, p19{this}, p20{this},
      p21{this}, p22{this}, p23{this}, p24{this}, p25{this}, p26{this}, p27{this}, p28{this}, p29{this}, p30{this},
      p31{this}, p32{this}, p33{this};
  KVO_PROPERTIES(Wide, kvo::object, p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18,
                 p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33)
};

} // namespace

TEST("a property is compared with a value, with another property, and with a pointer that is null") {
  Document document;
  CHECK(document.title == "Ada" && "Ada" == document.title && document.title == std::string("Ada"));
  CHECK(document.title != document.author && document.title < document.author && document.author >= document.title);
  CHECK(document.pages == 7 && document.bytes == 1 && 1.5 >= document.zoom && document.pages > document.zoom);
  CHECK(document.color == Color::red && document.letter == 'a');
  CHECK(document.marks == std::vector<int>() && document.limit == std::nullopt);
  CHECK(document.age < std::chrono::minutes(1));
  CHECK(document.next == nullptr && document.parent == nullptr && document.parent == NULL);
  CHECK(!document.next && !document.limit && !document.parent && !document.open);
  document.limit = 3;
  CHECK(document.limit == 3 && document.limit);
}

TEST("a property takes part in sums and is written to a stream as its value") {
  Document document;
  CHECK_EQ(document.title + "!", "Ada!");
  CHECK_EQ("to " + document.title + ' ' + document.author, "to Ada Bob");
  CHECK_EQ(document.zoom * document.pages, 10.5);
  CHECK((document.age + std::chrono::seconds(2)).count() == 2);
  std::ostringstream out;
  out << document.title << document.pages << document.zoom << document.letter << document.open;
  CHECK_EQ(out.str(), "Ada71.5a0");
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
  document.title += "m";
  document.title += document.author;
  document.title = {'x', 'y'};
  CHECK_EQ(log, "8 7 8 7 Adam AdamBob xy ");
  document.open |= true;
  document.zoom *= document.pages;
  document.letter += 1;
  document.age += std::chrono::minutes(1);
  CHECK(document.open && document.zoom == 10.5 && document.letter == 'b' && document.age->count() == 60);
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
