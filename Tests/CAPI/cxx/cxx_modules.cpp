/* cxx_modules.cpp - kvo.hpp: a program and its plug-in, whose symbols are hidden, have one handler of exceptions and know all classes. */
#include <dlfcn.h>

#include "harness.h"
#include "hidden.h"

namespace {

class Document : public kvo::object {
public:
  kvo::property<int> pages{this, 1};
  KVO_PROPERTIES(Document, kvo::object, pages)
};

template <class Function> Function *loaded(const char *name) {
  static void *plugin = dlopen(KVO_HIDDEN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  void *found = dlsym(plugin, name);
  CHECK(found != nullptr);
  return reinterpret_cast<Function *>(found);
}

std::string handled;

void handle(std::exception_ptr exception, const char *key_path) {
  try {
    std::rethrow_exception(exception);
  } catch (const kvo::error &error) {
    handled = std::string(key_path) + ": " + error.what();
  }
}

} // namespace

TEST("the handler of exceptions that a program sets receives those of a plug-in's observers") {
  kvo::set_exception_handler(handle);
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
