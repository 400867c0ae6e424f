// first.cpp - properties, a key path and a list in C++17.  g++ -std=c++17 first.cpp $(pkg-config --cflags --libs kvo)
#include <iostream>
#include <kvo/kvo.hpp>

struct Author : kvo::object {
  kvo::property<std::string> name{this};
  KVO_PROPERTIES(Author, kvo::object, name)
};

struct Document : kvo::object {
  kvo::property<double> zoom{this, 0.0};
  kvo::property<Author *> author{this, nullptr};
  kvo::property<std::vector<long long>> marks{this};
  KVO_PROPERTIES(Document, kvo::object, zoom, author, marks)
};

int main() {
  Author ada;
  ada.name = "Ada";
  Document report;
  auto zoomed = kvo::observe(report, &Document::zoom, [](const kvo::change<double> &change) {
    std::cout << "zoom " << *change.old_value << " -> " << *change.new_value << '\n';
  });
  auto renamed = kvo::observe(report, "author.name", [](const kvo::record &change) {
    std::cout << "author " << change.new_value<std::string>().value_or("nobody") << '\n';
  });
  using marks = std::vector<long long>;
  auto marked = kvo::observe(report, &Document::marks, [](const kvo::change<marks> &change) {
    for (std::size_t i = 0; i < change.index_count; i++)
      std::cout << "mark " << change.indexes[i] << " is " << change.new_value->at(i) << '\n';
  });
  report.zoom = 2.0;
  report.author = &ada;
  ada.name = "Grace";
  report.marks.insert_at(0, 7);
  report.author = nullptr;
}
