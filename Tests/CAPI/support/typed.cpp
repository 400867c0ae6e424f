// typed.cpp - kvo.h in C++: options combine to options, member functions may have the names of functions, and a call has its place.
#include <kvo/kvo.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

#ifdef WRONG
void wrong(kvo_object *object, char *text) {
#if WRONG == 1
  KVO_SET(object, "whole", int, 3.5);
#elif WRONG == 2
  KVO_SET(object, "wide", long, text);
#elif WRONG == 3
  KVO_SET(object, "real", double, text);
#elif WRONG == 4
  KVO_SET(object, "whole", int, *object);
#endif
  (void)text;
}
#endif

struct Point {
  double x, y;
};

struct Typed {
  kvo_object header;
  int whole;
  bool flag;
  const char *text;
  Point at;
};

// Does not begin with its object.
struct Base {
  int before = 0;
};
struct Derived : Base, kvo_object {
  int whole = 0;
};

// A class of the program may have member functions of these names.
struct Wrapper {
  kvo_object *object;
  int kvo_set_value(const char *key, int value) { return KVO_SET(object, key, int, value); }
  kvo_status kvo_remove_observer(kvo_observation id) { return ::kvo_remove_observer(id); }
  void kvo_object_destroy() { ::kvo_object_destroy(object); }
};

template <typename T> static kvo_status set_any(kvo_object *object, T value) {
  return KVO_SET(object, "whole", T, value);
}

static int calls;
static void changed(const kvo_change *, void *) { calls++; }

static uint32_t fault_line;
static kvo_action note(const kvo_fault *fault, void *) {
  if (fault->file != nullptr && std::strstr(fault->file, "typed.cpp") != nullptr) fault_line = fault->line;
  return KVO_ACTION_IGNORE;
}

#define CHECK(condition)                                                                                               \
  ((condition) ? (void)0 : (void)(std::printf("line %d: %s\n", __LINE__, #condition), failed = 1))

int main() {
  int failed = 0;
  kvo_property_spec properties[4] = {};
  const char *names[] = {"whole", "flag", "text", "at"}, *types[] = {"i", "B", "*", "{Point=dd}"};
  size_t offsets[] = {offsetof(Typed, whole), offsetof(Typed, flag), offsetof(Typed, text), offsetof(Typed, at)};
  for (int i = 0; i < 4; i++) {
    properties[i].name = names[i];
    properties[i].type = types[i];
    properties[i].flags = KVO_PROPERTY_AT_OFFSET;
    properties[i].offset = offsets[i];
  }
  kvo_class_spec spec = {};
  spec.struct_size = sizeof spec;
  spec.name = "Typed";
  spec.instance_size = sizeof(Typed);
  spec.properties = properties;
  spec.property_count = 4;
  kvo_class *cls;
  Wrapper wrapper = {};
  CHECK(kvo_class_register(&spec, &cls) == KVO_OK);
  CHECK(kvo_object_create(cls, &wrapper.object) == KVO_OK);
  kvo_observer observer = {};
  observer.struct_size = sizeof observer;
  observer.key_path = "whole";
  observer.options = KVO_NEW | KVO_OLD;
  observer.options |= KVO_PRIOR;
  observer.options &= ~KVO_PRIOR;
  CHECK(observer.options == (KVO_NEW | KVO_OLD));
  observer.callback = changed;
  kvo_observation id;
  CHECK(kvo_add_observer(wrapper.object, &observer, &id) == KVO_OK);
  CHECK(wrapper.kvo_set_value("whole", 5) == KVO_OK);
  CHECK(reinterpret_cast<Typed *>(wrapper.object)->whole == 5);
  CHECK(calls == 1);
  CHECK(wrapper.kvo_remove_observer(id) == KVO_OK);
  const char *text = "text";
  CHECK(KVO_SET(wrapper.object, "text", const char *, text) == KVO_OK);
  CHECK(KVO_SET(wrapper.object, "flag", bool, true) == KVO_OK);
  int variable = calls;
  CHECK(KVO_SET(wrapper.object, "whole", int, variable) == KVO_OK);
  CHECK(KVO_SET(wrapper.object, "whole", int, variable + 1L) == KVO_OK);
  CHECK([=] { return KVO_SET(wrapper.object, "whole", int, variable); }() == KVO_OK);
  CHECK(set_any(wrapper.object, variable) == KVO_OK);
  // A value may contain commas, lambdas and another set, and an object may be given by whatever begins with it.
  Typed *typed = reinterpret_cast<Typed *>(wrapper.object);
  void *address = typed;
  CHECK(KVO_SET(typed, "at", Point, Point{1, 2}) == KVO_OK && typed->at.y == 2);
  CHECK(KVO_SET(address, "at", Point, {3, 4}) == KVO_OK && typed->at.y == 4);
  CHECK(KVO_SET(typed, "whole", int, [&] { return variable + 8; }()) == KVO_OK && typed->whole == variable + 8);
  CHECK(KVO_SET(typed, "whole", int, KVO_SET(typed, "flag", bool, false)) == KVO_OK && !typed->flag);
  CHECK(KVO_SET(wrapper.object, "text", const char *, "literal") == KVO_OK);
  Derived derived;
  kvo_property_spec whole = properties[0];
  whole.offset = sizeof(kvo_object);
  spec.name = "Derived";
  spec.properties = &whole;
  spec.property_count = 1;
  CHECK(kvo_class_register(&spec, &cls) == KVO_OK);
  CHECK(kvo_object_init(&derived, cls) == KVO_OK);
  CHECK(KVO_SET(&derived, "whole", int, 6) == KVO_OK && derived.whole == 6);
  kvo_object_finish(&derived);
  kvo_set_fault_handler(note, nullptr);
  CHECK(KVO_SET(nullptr, "whole", int, 6) == KVO_ERROR_INVALID_ARGUMENT);
  CHECK(KVO_SET(wrapper.object, "flag", char, 2) == KVO_ERROR_TYPE_MISMATCH);
  CHECK(KVO_SET(wrapper.object, "text", kvo_object *, wrapper.object) == KVO_ERROR_TYPE_MISMATCH);
  uint32_t here = __LINE__ + 1;
  CHECK(kvo_remove_observer(id) == KVO_ERROR_NOT_REGISTERED);
  if (kvo_fault_kind_at(0) != nullptr) CHECK(fault_line == here);
  wrapper.kvo_object_destroy();
  return failed;
}
