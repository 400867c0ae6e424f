/* setters.c - what happens around the store of a set: observers that begin in the setter, whose record each observer gets, and properties
 * of another class. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------- Registered in the setter -- */

typedef struct gauge {
  kvo_object header;
  int level;
} gauge;

/* Called by the setter after it has stored. */
static void (*after_store)(void);

static int get_level(const gauge *of) { return of->level; }
static void set_level(gauge *of, int level) {
  of->level = level;
  if (after_store != NULL) after_store();
}

static kvo_object *gauge_make(void) {
  static const kvo_property_spec level = {
      .name = "level", .type = "i", .getter = (kvo_function)get_level, .setter = (kvo_function)set_level};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Gauge",
                         .instance_size = sizeof(gauge),
                         .properties = &level,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return made;
}

static kvo_object *observed;
static watcher late;

static void observe_late(void) {
  kvo_observer observer = watcher_observer("level", KVO_OLD | KVO_NEW, &late);
  after_store = NULL;
  CHECK_OK(kvo_add_observer(observed, &observer, &late.id));
}

TEST("an observer that is registered while the setter runs is not notified of that set, whatever the others want") {
  static const int options[] = {KVO_NONE, KVO_OLD, KVO_OLD | KVO_NEW, KVO_PRIOR};
  observed = gauge_make();
  for (int i = 0; i < 4; i++) {
    watcher first = {0};
    late = (watcher){0};
    kvo_observer observer = watcher_observer("level", options[i], &first);
    CHECK_OK(kvo_add_observer(observed, &observer, &first.id));
    KVO_SET(observed, "level", int, 1);
    after_store = observe_late;
    KVO_SET(observed, "level", int, 2);
    CHECK_EQ(first.calls, 2);
    CHECK_EQ(late.calls, 0);
    KVO_SET(observed, "level", int, 3);
    CHECK_EQ(first.calls, 3);
    CHECK_EQ(late.calls, 1);
    CHECK_EQ(late.old_value.integer, 2);
    CHECK_OK(kvo_remove_observer(first.id));
    CHECK_OK(kvo_remove_observer(late.id));
  }
  kvo_object_destroy(observed);
}

TEST("an observer that is registered between the two calls of a binding's change is not notified of it") {
  item *object = item_make(1);
  watcher first = {0}, second = {0};
  kvo_frame frame;
  int old_value = 1;
  watch(object, "value", KVO_NEW, &first);
  CHECK(kvo_frame_enter(&frame, as_object(object), kvo_key_hash("value", 5)) != 0);
  object->value = 2;
  watch(object, "value", KVO_NEW, &second);
  kvo_frame_finish_with(&frame, &old_value, &object->value);
  CHECK_EQ(first.calls, 1);
  CHECK_EQ(first.new_value.integer, 2);
  CHECK_EQ(second.calls, 0);
  CHECK_OK(kvo_remove_observer(first.id));
  CHECK_OK(kvo_remove_observer(second.id));
  item_destroy(object);
}

/* -------------------------------------------------------------------------------------------------- Whose record -- */

static int raw_calls;

static void check_record(const kvo_raw_change *change, void *user_data) {
  CHECK_SAME(change->object, user_data);
  CHECK_SAME(change->instance, user_data);
  CHECK_SAME(change->changed, user_data);
  raw_calls++;
}

static void set_by_word(item *object, int value) {
  uint64_t storage = 0, word = 0;
  memcpy(&word, &value, sizeof value);
  kvo_change_word(as_object(object), kvo_key_hash("value", 5), &storage, word);
}

TEST("an observer that is told after one of a path to its object gets its own object, in whichever way that is set") {
  static void (*const ways[])(item * object, int value) = {item_set_value, set_by_word};
  static const kvo_observer_ops ops = {.callback = check_record};
  for (int i = 0; i < 4; i++) {
    int options = i < 2 ? KVO_NONE : KVO_NEW;
    item *root = item_make(0), *end = item_make(1);
    root->next = end;
    watcher older = {0}, path = {0}, newer = {0};
    kvo_binding_observer raw = {.key_path = "value", .ops = &ops, .user_data = end};
    kvo_observation id;
    CHECK_OK(kvo_binding_observe_key(as_object(end), kvo_key_hash("value", 5), &raw, &id));
    watch(end, "value", options, &older);
    watch(root, "next.value", options, &path);
    watch(end, "value", options, &newer);
    for (int n = 1; n < 3; n++) {
      ways[i % 2](end, n);
      CHECK_SAME(older.object, end);
      CHECK_SAME(path.object, root);
      CHECK_SAME(newer.object, end);
      CHECK_EQ(path.calls, n);
      CHECK_EQ(raw_calls, 2 * i + n);
    }
    CHECK_OK(kvo_remove_observer(older.id));
    CHECK_OK(kvo_remove_observer(path.id));
    CHECK_OK(kvo_remove_observer(newer.id));
    CHECK_OK(kvo_remove_observer(id));
    item_destroy(root);
    item_destroy(end);
  }
}

/* -------------------------------------------------------------------------------------------------- At an offset -- */

typedef struct choice {
  kvo_object header;
  int which;
} choice;

static kvo_class *choice_class(void) {
  static kvo_class *cls;
  static const kvo_property_spec which = {
      .name = "which", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(choice, which)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Choice",
                         .instance_size = sizeof(choice),
                         .properties = &which,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

/* The value of the chosen item. */
typedef struct chosen {
  choice *of;
  item *items[2];
  int calls;
} chosen;

static void *evaluate_chosen(void *user_data) {
  chosen *self = user_data;
  int *value = malloc(sizeof *value);
  CHECK(value != NULL);
  kvo_track_read(&self->of->header, kvo_key_hash("which", 5));
  item *read = self->items[self->of->which];
  kvo_track_read(as_object(read), kvo_key_hash("value", 5));
  *value = read->value;
  return value;
}

static void free_chosen(void *value, void *user_data) { (void)user_data, free(value); }

static void note_chosen(const kvo_raw_change *change, void *user_data) {
  (void)change;
  ((chosen *)user_data)->calls++;
}

TEST("an expression follows what is stored at an offset in a silent scope") {
  static const kvo_observer_ops ops = {.callback = note_chosen, .evaluate = evaluate_chosen, .release = free_chosen};
  kvo_object *object;
  CHECK_OK(kvo_object_create(choice_class(), &object));
  chosen of = {.of = (choice *)object, .items = {item_make(1), item_make(2)}};
  kvo_binding_observer observer = {.key_path = "chosen", .options = KVO_NEW, .ops = &ops, .user_data = &of};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(object, &observer, false, &id));
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, &object, 1, NULL, 0));
  CHECK_OK(KVO_SET(object, "which", int, 1));
  kvo_scope_end(&scope);
  CHECK_EQ(of.calls, 0);
  item_set_value(of.items[0], 10);
  CHECK_EQ(of.calls, 0);
  item_set_value(of.items[1], 20);
  CHECK_EQ(of.calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
  for (int i = 0; i < 2; i++) item_destroy(of.items[i]);
}

TEST("a property of a subclass is none of an object of its superclass") {
  typedef struct finer {
    choice base;
    int more;
  } finer;
  const kvo_property_spec more = {
      .name = "more", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(finer, more)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Finer",
                         .superclass = choice_class(),
                         .instance_size = sizeof(finer),
                         .properties = &more,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(choice_class(), &object));
  const kvo_property *property = kvo_class_property(cls, "more");
  CHECK(property != NULL);
  int value = 5;
  CHECK_STATUS(kvo_object_store(object, property, &value), KVO_ERROR_TYPE_MISMATCH);
  CHECK_STATUS(kvo_object_load(object, property, &value), KVO_ERROR_TYPE_MISMATCH);
  CHECK(kvo_object_property_setter(object, property) == NULL);
  CHECK_EQ(value, 5);
  kvo_object_destroy(object);
}

/* ------------------------------------------------------------------------------------------ Strings during the callback -- */

static char seen_text[400];
static item *renamed;

static const char *new_text(const kvo_change *change) {
  return change->new_value->bytes != NULL ? *(char *const *)change->new_value->bytes : "nil";
}

static void set_name_again(watcher *self, const kvo_change *change) {
  const char *next = self->then_arg;
  self->then_arg = NULL;
  if (next == NULL) return; /* the nested change */
  item_set_name(renamed, next);
  strcpy(seen_text, new_text(change));
}

static void check_renamed(const char *key_path, const char *name) {
  item *object = renamed = item_make(0), *root = item_make(0);
  item_set_next(root, object);
  watcher first = {0}, again = {.then = set_name_again, .then_arg = "a name of another length"};
  watch(object, "name", KVO_NEW, &first); /* older, so it is told last */
  watch(strcmp(key_path, "name") == 0 ? object : root, key_path, KVO_NEW, &again);
  item_set_name(object, name);
  CHECK_EQ(again.calls, 2);
  CHECK_EQ((const char *)seen_text, name);
  CHECK_EQ((const char *)first.new_value.text, "a name of another length");
  CHECK_OK(kvo_remove_observer(first.id));
  CHECK_OK(kvo_remove_observer(again.id));
  item_destroy(root);
  item_destroy(object);
}

TEST("a string in a change is valid until the callback returns, though the callback sets the property again") {
  char longest[300];
  memset(longest, 'x', sizeof longest);
  longest[sizeof longest - 1] = '\0';
  check_renamed("name", "a name");
  check_renamed("name", longest);
  check_renamed("next.name", longest);
}
