/* isa.c - the notifying class of an observed object: hidden from kvo_object_class, and removed with the last observation. */
#include "fixture.h"

#include <stdio.h>

#include <string.h>

TEST("an observed object hides its notifying class from kvo_object_class and shows it to kvo_object_isa") {
  item *object = item_make(0);
  watcher w = {0};
  CHECK_SAME(kvo_object_class(as_object(object)), item_class());
  CHECK_SAME(kvo_object_isa(as_object(object)), item_class());
  CHECK(!kvo_object_is_observed(as_object(object)));
  watch(object, "value", KVO_NONE, &w);
  kvo_class *isa = kvo_object_isa(as_object(object));
  CHECK_SAME(kvo_object_class(as_object(object)), item_class());
  CHECK(isa != item_class());
  CHECK_EQ(kvo_class_name(isa), "KVONotifying_Item");
  CHECK_SAME(kvo_class_superclass(isa), item_class());
  CHECK_EQ(kvo_class_property_count(isa), kvo_class_property_count(item_class()));
  CHECK(kvo_object_is_observed(as_object(object)));
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_SAME(kvo_object_isa(as_object(object)), item_class());
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_destroy(object);
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

TEST("the setter is the program's own again only after the last of several observations is removed") {
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
  item_destroy(object);
}

TEST("a trampoline that the program kept still sets after the last removal") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  void (*kept)(kvo_object *, int) = (void (*)(kvo_object *, int))kvo_object_setter(as_object(object), "value");
  CHECK_OK(kvo_remove_observer(w.id));
  kept(as_object(object), 12);
  CHECK_EQ(object->value, 12);
  CHECK_EQ(w.calls, 0);
  item_destroy(object);
}

TEST("observing one object does not affect other objects of its class") {
  item *observed = item_make(0), *other = item_make(0);
  watcher w = {0};
  watch(observed, "value", KVO_NONE, &w);
  CHECK_SAME(kvo_object_isa(as_object(other)), item_class());
  item_set_value(other, 3);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(observed);
  item_destroy(other);
}

TEST("two objects of one class share one notifying class") {
  item *one = item_make(0), *two = item_make(0);
  watcher w1 = {0}, w2 = {0};
  watch(one, "value", KVO_NONE, &w1);
  watch(two, "other", KVO_NONE, &w2);
  CHECK_SAME(kvo_object_isa(as_object(one)), kvo_object_isa(as_object(two)));
  CHECK_OK(kvo_remove_observer(w1.id));
  CHECK_OK(kvo_remove_observer(w2.id));
  item_destroy(one);
  item_destroy(two);
}

TEST("lookups return defined results for keys, unknown keys, NULL, and headers without a class") {
  item *object = item_make(0);
  kvo_object nothing = {0};
  CHECK_SAME(kvo_object_class(&nothing), NULL);
  CHECK_SAME(kvo_object_class(NULL), NULL);
  CHECK(kvo_object_setter(as_object(object), "nonsense") == NULL);
  CHECK(kvo_object_setter(as_object(object), "doubled") == NULL);
  CHECK(kvo_object_getter(as_object(object), "doubled") != NULL);
  CHECK(kvo_object_getter(as_object(object), "nonsense") == NULL);
  CHECK(kvo_object_setter(&nothing, "value") == NULL);
  const kvo_property *value = kvo_class_property(item_class(), "value");
  CHECK_SAME(kvo_class_property_at(item_class(), 0), value);
  CHECK_SAME(kvo_class_property_at(item_class(), 1000), NULL);
  CHECK_SAME(kvo_class_property(item_class(), "nonsense"), NULL);
  CHECK_EQ(kvo_property_name(value), "value");
  CHECK_EQ(kvo_property_type(value), "i");
  item_destroy(object);
}

/* -------------------------------------------------------------------------------------------------------- Subclasses -- */

typedef struct sub_item {
  item base;
  double extra;
} sub_item;

static double get_extra(const sub_item *of) { return of->extra; }
static void set_extra(sub_item *of, double extra) { of->extra = extra; }

static kvo_class *sub_class(void) {
  static kvo_class *cls;
  kvo_property_spec property = {
      .name = "extra", .type = "d", .getter = (kvo_function)get_extra, .setter = (kvo_function)set_extra};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "SubItem",
                         .superclass = item_class(),
                         .instance_size = sizeof(sub_item),
                         .properties = &property,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

static int extra_calls;
static void note_extra(const kvo_change *change, void *user_data) {
  (void)user_data;
  extra_calls++;
  CHECK_EQ(*(const double *)change->new_value->bytes, 2.5);
}

TEST("an object of a subclass notifies for inherited and for own properties") {
  kvo_object *made;
  CHECK_OK(kvo_object_create(sub_class(), &made));
  sub_item *object = (sub_item *)made;
  watcher w = {0};
  watch(&object->base, "value", KVO_NEW, &w);
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "extra", .options = KVO_NEW, .callback = note_extra};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(made, &observer, &id));
  CHECK_EQ(kvo_class_name(kvo_object_isa(made)), "KVONotifying_SubItem");
  item_set_value(&object->base, 7);
  KVO_SET(object, "extra", double, 2.5);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK_EQ(extra_calls, 1);
  CHECK_EQ(object->extra, 2.5);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(made);
}

TEST("a subclass lists inherited properties first") {
  kvo_class *sub = sub_class();
  CHECK_SAME(kvo_class_superclass(sub), item_class());
  CHECK_EQ(kvo_class_property_count(sub), kvo_class_property_count(item_class()) + 1);
  CHECK_SAME(kvo_class_property_at(sub, 0), kvo_class_property_at(item_class(), 0));
  CHECK_EQ(kvo_property_name(kvo_class_property_at(sub, kvo_class_property_count(sub) - 1)), "extra");
  CHECK_SAME(kvo_class_property(item_class(), "extra"), NULL);
}

/* ------------------------------------------------------------------------------------------------------ Own memory -- */

TEST("memory of the program becomes an object, is observed, and is released again") {
  item object;
  memset(&object, 0, sizeof object);
  CHECK_OK(kvo_object_init(as_object(&object), item_class()));
  watcher w = {0};
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
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Final", .instance_size = sizeof(kvo_object), .finalize = count_finalize};
  kvo_class *base, *derived;
  kvo_object *object, own;
  CHECK_OK(kvo_class_register(&spec, &base));
  spec.name = "Derived";
  spec.superclass = base;
  spec.finalize = NULL;
  CHECK_OK(kvo_class_register(&spec, &derived));
  CHECK_OK(kvo_object_create(base, &object));
  kvo_object_destroy(object);
  CHECK_EQ(finalized, 1);
  CHECK_OK(kvo_object_create(derived, &object));
  kvo_object_destroy(object);
  CHECK_EQ(finalized, 2);
  CHECK_OK(kvo_object_init(&own, base));
  kvo_object_finish(&own);
  kvo_object_destroy(NULL);
  CHECK_EQ(finalized, 2);
}

TEST("each of a thousand classes is known by its address and by its name") {
  enum { COUNT = 1000 };
  static kvo_class *classes[COUNT];
  char name[32];
  for (int i = 0; i < COUNT; i++) {
    kvo_class_spec spec = {.struct_size = sizeof spec, .name = name, .instance_size = sizeof(kvo_object)};
    snprintf(name, sizeof name, "Class %d", i);
    CHECK_OK(kvo_class_register(&spec, &classes[i]));
  }
  for (int i = 0; i < COUNT; i++) {
    kvo_object *object;
    snprintf(name, sizeof name, "Class %d", i);
    CHECK_SAME(kvo_class_find(name), classes[i]);
    CHECK_OK(kvo_object_create(classes[i], &object));
    CHECK_SAME(kvo_object_class(object), classes[i]);
    kvo_object_destroy(object);
  }
}
