/* setters.c - what happens around the store of a set: observers that begin in the setter, whose record each observer
 * gets, and strings during a callback. */
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
  static const kvo_property_spec value = PROPERTY("value", "i", get_level, set_level);
  a = make_of(class_made("Gauge", sizeof(item), &value, 1));
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
