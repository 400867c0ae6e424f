/* setters.c - what happens around the store of a set: observers that begin in the setter, whose record each observer
 * gets, strings during a callback, and sets that the setter refuses. */
#include "holder.h"

/* ------------------------------------------------------------------------------------ Registered in the setter -- */

/* Called by the setter after it has stored. */
static void (*after_store)(void);

static int get_level(const item *of) { return of->value; }
static void set_level(item *of, int level) {
  of->value = level;
  if (after_store != NULL) after_store();
}

static watcher late;

static void observe_late(void) {
  after_store = NULL;
  watch(a, "value", KVO_OLD | KVO_NEW, &late);
}

TEST("an observer that is registered while the setter runs is not notified of that set, whatever the others want") {
  static const int options[] = {KVO_NONE, KVO_OLD, KVO_OLD | KVO_NEW, KVO_PRIOR};
  static const kvo_property_spec value = {
      .name = "value", .type = "i", .getter = (kvo_function)get_level, .setter = (kvo_function)set_level};
  a = make_of(class_with("Gauge", sizeof(item), &value, 1));
  for (int i = 0; i < 4; i++) {
    watcher first = {0};
    late = (watcher){0};
    watch(a, "value", options[i], &first);
    item_set_value(a, 1);
    after_store = observe_late;
    item_set_value(a, 2);
    CHECK_EQ(first.calls, 2);
    CHECK_EQ(late.calls, 0);
    item_set_value(a, 3);
    CHECK_EQ(first.calls, 3);
    CHECK_NOTIFIED(late, 1, 2, 3);
    CHECK_OK(kvo_remove_observer(first.id));
    CHECK_OK(kvo_remove_observer(late.id));
  }
}

TEST("an observer that is registered between the two calls of a binding's change is not notified of it") {
  make_items();
  watcher first = {0}, second = {0};
  kvo_frame frame;
  int old_value = 1;
  watch(a, "value", KVO_NEW, &first);
  CHECK(kvo_frame_enter(&frame, as_object(a), key("value")) != 0);
  a->value = 2;
  watch(a, "value", KVO_NEW, &second);
  kvo_frame_finish_with(&frame, &old_value, &a->value);
  CHECK_EQ(first.calls, 1);
  CHECK_EQ(first.new_value.integer, 2);
  CHECK_EQ(second.calls, 0);
}

/* ------------------------------------------------------------------------------------------------ Whose record -- */

static void set_by_word(item *object, int value) {
  uint64_t storage = 0, word = 0;
  memcpy(&word, &value, sizeof value);
  kvo_change_word(as_object(object), key("value"), &storage, word);
}

TEST("an observer that is notified after one of a path to its object gets its own object, however that is set") {
  static void (*const ways[])(item * object, int value) = {item_set_value, set_by_word};
  for (int i = 0; i < 4; i++) {
    int options = i < 2 ? KVO_NONE : KVO_NEW;
    make_items();
    item_set_next(a, b);
    watcher older = {0}, path = {0}, newer = {0};
    watch(b, "value", options, &older);
    watch(a, "next.value", options, &path);
    watch(b, "value", options, &newer);
    for (int n = 1; n < 3; n++) {
      ways[i % 2](b, n);
      CHECK_SAME(older.object, b);
      CHECK_SAME(path.object, a);
      CHECK_SAME(newer.object, b);
      CHECK_EQ(path.calls, n);
    }
  }
}

/* --------------------------------------------------------------------------------- Strings during the callback -- */

static char seen_text[400];

static void set_name_again(watcher *self, const kvo_change *change) {
  const char *next = self->then_arg;
  self->then_arg = NULL;
  if (next == NULL) return; /* the nested change */
  item_set_name(b, next);
  strcpy(seen_text, *(char *const *)change->new_value->bytes);
}

TEST("a string in a change is valid until the callback returns, though the callback sets the property again") {
  char longest[300];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  for (int i = 0; i < 4; i++) {
    const char *name = i % 2 == 0 ? "a name" : longest;
    make_items();
    item_set_next(a, b);
    watcher first = {0}, again = {.then = set_name_again, .then_arg = "a name of another length"};
    watch(b, "name", KVO_NEW, &first); /* older, so it is notified last */
    if (i < 2)
      watch(b, "name", KVO_NEW, &again);
    else
      watch(a, "next.name", KVO_NEW, &again);
    item_set_name(b, name);
    CHECK_EQ(again.calls, 2);
    CHECK_EQ((const char *)seen_text, name);
    CHECK_EQ((const char *)first.new_value.text, "a name of another length");
    CHECK_OK(kvo_remove_observer(first.id));
    CHECK_OK(kvo_remove_observer(again.id));
    destroy_items();
  }
}

/* ------------------------------------------------------------------------------------------------ Refused sets -- */

static item *parent, *child;

static item *get_child(const item *of) { return of->next; }
static bool refuse(item *of, item *next) { return (void)of, (void)next, false; }

/* The reference to the child is weak. */
static void forget_child(kvo_object *object) {
  if (parent->next == (item *)object) parent->next = NULL;
}

static void make_family(void) {
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
  parent = make_of(cls);
  child = make_of(cls);
  parent->next = child;
}

static kvo_status set_refused(void) { return (kvo_status)KVO_SET(parent, "child", item *, NULL); }

static void destroy_child(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior && parent->next != NULL) item_destroy(child);
}

TEST("the death of an object on a path before a set which is refused, by an observer, is notified once") {
  for (int options = KVO_NEW; options <= (KVO_NEW | KVO_OLD); options += KVO_OLD) {
    make_family();
    watcher path = {0}, prior = {.then = destroy_child};
    watch(parent, "child.value", options | KVO_ENDS_WITH_OBJECT, &path);
    watch(parent, "child", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &prior);
    for (int i = 0; i < 2; i++) {
      CHECK_STATUS(set_refused(), KVO_ERROR_REFUSED);
      CHECK_EQ(path.calls, 1);
      CHECK(path.new_value.nil);
    }
    item_destroy(parent);
  }
}
