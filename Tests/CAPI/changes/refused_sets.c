/* refused_sets.c - sets that the setter refuses: deaths of objects on a key path meanwhile, or later, are told. */
#include "fixture.h"

#include <kvo/kvo_scope.h>

static item *parent, *child;

static item *get_child(const item *of) { return of->next; }
static bool refuse(item *of, item *next) { return (void)of, (void)next, false; }

/* The reference to the child is weak. */
static void forget_child(kvo_object *object) {
  if (parent->next == (item *)object) parent->next = NULL;
}

static kvo_class *refusing_class(void) {
  static kvo_class *cls;
  static const kvo_property_spec properties[] = {{.name = "child",
                                                  .type = "@",
                                                  .getter = (kvo_function)get_child,
                                                  .setter = (kvo_function)refuse,
                                                  .setter_type = "B@@"}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Refusing",
                         .superclass = item_class(),
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = 1,
                         .finalize = forget_child};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

static item *make(int value) {
  kvo_object *made;
  CHECK_OK(kvo_object_create(refusing_class(), &made));
  ((item *)made)->value = value;
  return (item *)made;
}

static void make_family(void) {
  parent = make(0);
  child = make(1);
  parent->next = child;
}

static kvo_status set_refused(void) { return (kvo_status)KVO_SET(parent, "child", item *, NULL); }

static void destroy_child(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior && parent->next != NULL) kvo_object_destroy(as_object(child));
}

TEST("the death of an object on a path, by an observer that is called before a set which is refused, is told once") {
  for (int options = KVO_NEW; options <= (KVO_NEW | KVO_OLD); options += KVO_OLD) {
    make_family();
    watcher path = {0}, prior = {.then = destroy_child};
    watch(parent, "child.value", options | KVO_ENDS_WITH_OBJECT, &path);
    watch(parent, "child", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &prior);
    CHECK_STATUS(set_refused(), KVO_ERROR_REFUSED);
    CHECK_EQ(path.calls, 1);
    CHECK(path.new_value.nil);
    CHECK_STATUS(set_refused(), KVO_ERROR_REFUSED);
    CHECK_EQ(path.calls, 1);
    kvo_object_destroy(as_object(parent));
  }
}

TEST("a set that was refused in a silent scope silences no later death of an object that the scope does not cover") {
  make_family();
  watcher path = {0};
  watch(parent, "child.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &path);
  kvo_object *objects[] = {as_object(parent)};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, 1, NULL, 0));
  CHECK_STATUS(set_refused(), KVO_ERROR_REFUSED);
  kvo_object_destroy(as_object(child));
  CHECK_EQ(path.calls, 1);
  CHECK(path.new_value.nil);
  kvo_scope_end(&scope);
  CHECK_EQ(path.calls, 1);
  kvo_object_destroy(as_object(parent));
}
