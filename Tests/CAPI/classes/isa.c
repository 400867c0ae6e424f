/* isa.c - the notifying class of an observed object; what subclasses inherit; objects in memory of the program. */
#include "made.h"

#include <kvo/kvo_binding.h>

TEST("an observed object hides its notifying class from kvo_object_class and shows it to kvo_object_isa") {
  item *object = item_make(0), *twin = item_make(0), *other = item_make(0);
  watcher w = {0}, of_twin = {0};
  kvo_class *cls = item_class();
  CHECK_SAME(kvo_object_isa(as_object(object)), cls);
  CHECK(!kvo_object_is_observed(as_object(object)));
  watch(object, "value", KVO_NONE, &w);
  kvo_class *isa = kvo_object_isa(as_object(object));
  CHECK_SAME(kvo_object_class(as_object(object)), cls);
  CHECK(isa != cls && kvo_object_is_observed(as_object(object)));
  CHECK_EQ(kvo_class_name(isa), "KVONotifying_Item");
  CHECK_SAME(kvo_class_superclass(isa), cls);
  CHECK_EQ(kvo_class_property_count(isa), kvo_class_property_count(cls));
  for (size_t i = 0; i <= kvo_class_property_count(cls); i++)
    CHECK_SAME(kvo_class_property_at(isa, i), kvo_class_property_at(cls, i));
  CHECK_SAME(kvo_class_property(isa, "next"), kvo_class_property(cls, "next"));
  /* Observed objects of a class share it, and others of the class keep theirs. */
  watch(twin, "other", KVO_NONE, &of_twin);
  CHECK_SAME(kvo_object_isa(as_object(twin)), isa);
  CHECK_SAME(kvo_object_isa(as_object(other)), cls);
  CHECK_OK(kvo_remove_observer(of_twin.id));
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_SAME(kvo_object_isa(as_object(object)), cls);
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_destroy(object);
  item_destroy(twin);
  item_destroy(other);
}

TEST("an object of which only keys announced by hand are observed keeps its class") {
  item *object = item_make(0);
  watcher w = {0}, other = {0};
  watch(object, "quiet", KVO_NONE, &w);
  CHECK(kvo_object_is_observed(as_object(object)));
  CHECK_SAME(kvo_object_isa(as_object(object)), item_class());
  watch(object, "value", KVO_NONE, &other);
  CHECK(kvo_object_isa(as_object(object)) != item_class());
  CHECK_OK(kvo_remove_observer(other.id));
  CHECK_SAME(kvo_object_isa(as_object(object)), item_class());
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("the setter is the program's own again after the last of several observations, and a kept trampoline still sets") {
  item *object = item_make(0);
  watcher first = {0}, second = {0};
  kvo_function own = kvo_object_setter(as_object(object), "value");
  watch(object, "value", KVO_NONE, &first);
  kvo_function trampoline = kvo_object_setter(as_object(object), "value");
  watch(object, "other", KVO_NONE, &second);
  CHECK(trampoline != own);
  CHECK_OK(kvo_remove_observer(first.id));
  CHECK(kvo_object_setter(as_object(object), "value") == trampoline);
  CHECK_OK(kvo_remove_observer(second.id));
  CHECK(kvo_object_setter(as_object(object), "value") == own);
  ((void (*)(kvo_object *, int))trampoline)(as_object(object), 12);
  CHECK_EQ(object->value, 12);
  CHECK_EQ(first.calls + second.calls, 0);
  item_destroy(object);
}

/* -------------------------------------------------------------------------------------------------------- Subclasses -- */

typedef struct sub_item {
  item base;
  double extra;
} sub_item;

static kvo_object *sub_make(void) {
  static const kvo_property_spec property = AT_OFFSET(sub_item, extra, "d");
  return object_of(subclass_made(item_class(), "SubItem", sizeof(sub_item), &property, 1));
}

TEST("an object of a subclass notifies for inherited and for own properties") {
  kvo_object *object = sub_make();
  watcher value = {0}, extra = {0};
  watch((item *)object, "value", KVO_NEW, &value);
  watch((item *)object, "extra", KVO_NEW, &extra);
  CHECK_EQ(kvo_class_name(kvo_object_isa(object)), "KVONotifying_SubItem");
  SETTER(object, "value", int)(object, 7);
  KVO_SET(object, "extra", double, 2.5);
  CHECK_EQ(value.new_value.integer, 7);
  CHECK_EQ(extra.new_value.real, 2.5);
  CHECK_EQ(((sub_item *)object)->extra, 2.5);
  CHECK_OK(kvo_remove_observer(value.id));
  CHECK_OK(kvo_remove_observer(extra.id));
  kvo_object_destroy(object);
}

TEST("a subclass lists inherited properties first, and has their setters and getters") {
  kvo_object *object = sub_make();
  item *plain = item_make(1);
  kvo_class *sub = kvo_object_class(object), *super = item_class();
  size_t inherited = kvo_class_property_count(super);
  CHECK_SAME(kvo_class_superclass(sub), super);
  CHECK_EQ(kvo_class_property_count(sub), inherited + 1);
  CHECK_EQ(kvo_property_name(kvo_class_property_at(sub, inherited)), "extra");
  CHECK_SAME(kvo_class_property(super, "extra"), NULL);
  for (size_t i = 0; i < inherited; i++) {
    const kvo_property *property = kvo_class_property_at(super, i);
    const char *key = kvo_property_name(property);
    CHECK_SAME(kvo_class_property_at(sub, i), property);
    CHECK(kvo_object_setter(object, key) == kvo_object_setter(as_object(plain), key));
    CHECK(kvo_object_property_setter(object, property) == kvo_object_setter(object, key));
    CHECK(kvo_object_getter(object, key) == kvo_object_getter(as_object(plain), key));
  }
  kvo_object_destroy(object);
  item_destroy(plain);
}

/* ------------------------------------------------------------------------------------------------------ Own memory -- */

TEST("memory of the program becomes an object, is observed, and is released again") {
  item object = {.value = 1};
  watcher w = {0};
  CHECK_OK(kvo_object_init(as_object(&object), item_class()));
  watch(&object, "value", KVO_NEW, &w);
  item_set_value(&object, 4);
  CHECK_EQ(w.new_value.integer, 4);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_finish(as_object(&object));
  CHECK_SAME(kvo_object_class(as_object(&object)), NULL);
  CHECK_EQ(object.header.kvo_private_word, 0);
  CHECK_EQ(object.value, 4); /* only the header is the runtime's */
}

static int finalized;
static void count_finalize(kvo_object *object) {
  CHECK(kvo_object_class(object) != NULL); /* its setters can still be called */
  CHECK(!kvo_object_is_observed(object));  /* the observations have ended */
  finalized++;
}

TEST("finalize runs once per destroyed object, inherited by subclasses, and not for a finished one") {
  kvo_class *base = register_class((kvo_class_spec){.name = "Final", .finalize = count_finalize});
  kvo_object own;
  kvo_class *derived = subclass_made(base, "Derived", sizeof(kvo_object), NULL, 0);
  kvo_object_destroy(object_of(base));
  CHECK_EQ(finalized, 1);
  kvo_object_destroy(object_of(derived));
  CHECK_EQ(finalized, 2);
  CHECK_OK(kvo_object_init(&own, base));
  kvo_object_finish(&own);
  kvo_object_destroy(NULL);
  CHECK_EQ(finalized, 2);
}
