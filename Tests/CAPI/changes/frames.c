/* frames.c - how bindings notify: by frames, words, kinds and indexes, with mutes during a store, and with values
 * that they pass. */
#include "holder.h"
#include "shared.h"

/* 8 bytes whose first ones are an int, as the observers of "value" read them. */
static uint64_t word_of(int value) {
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}

static void by_setter(void) { item_set_value(a, 2); }

static void by_word(void) {
  uint64_t storage = word_of(1);
  kvo_change_word(as_object(a), key("value"), &storage, word_of(2));
}

static void by_frame(uint32_t (*begin)(kvo_frame *frame, kvo_object *object, kvo_key key)) {
  int old_value = 1, new_value = 2;
  kvo_frame frame;
  memset(&frame, 0xa5, sizeof frame);
  CHECK(begin(&frame, as_object(a), key("value")) != 0);
  kvo_frame_finish_with(&frame, &old_value, &new_value);
}

static void by_begin(void) { by_frame(kvo_frame_begin); }
static void by_enter(void) { by_frame(kvo_frame_enter); }

static void by_hand(void) {
  will(a, "value");
  a->value = 2;
  did(a, "value");
}

enum { WAYS = 5 };
static void (*const ways[WAYS])(void) = {by_setter, by_word, by_begin, by_enter, by_hand};

/* Of a set from 1 to 2. */
static void check_set(watcher *self, const kvo_change *change) {
  CHECK_SAME(change->object, a);
  CHECK_EQ(change->key_path, "value");
  CHECK(!change->is_prior);
  CHECK_SAME(change->indexes, NULL);
  CHECK_EQ(change->index_count, 0);
  CHECK_SAME(change->context, NULL);
  CHECK_NOTIFIED(*self, 1, 1, 2);
}

/* Leaves bytes on the stack, where the frames of the next call will be. */
__attribute__((noinline)) static void fill_stack(void) {
  volatile char used[8192];
  for (size_t i = 0; i < sizeof used; i++) used[i] = (char)0xa5;
}

TEST("the record of an assignment has only what belongs to it, however the value is assigned") {
  for (int i = 0; i < WAYS; i++) {
    make_items();
    watcher w = {.then = check_set};
    watch(a, "value", KVO_OLD | KVO_NEW, &w);
    fill_stack();
    ways[i]();
    CHECK_EQ(w.calls, 1);
  }
}

TEST("kvo_change_word stores the value, whatever is observed, also between notifications before and after it") {
  static const int options[] = {KVO_NONE, KVO_OLD | KVO_NEW, KVO_PRIOR, KVO_OLD | KVO_NEW | KVO_PRIOR};
  uint64_t storage = 0;
  kvo_change_word(NULL, key("value"), &storage, 1);
  CHECK_EQ((int)storage, 1);
  kvo_change_word(NULL, key("value"), NULL, 1);
  for (int i = 0; i < 4; i++)
    for (int observers = 0; observers < 3; observers++) {
      make_items();
      watcher w[2] = {{0}}, path = {0}, other = {0};
      item_set_next(b, a);
      storage = word_of(7);
      watch(a, "other", KVO_NONE, &other);
      if (observers == 2) watch(b, "next.value", options[i], &path);
      for (int n = 0; n < observers; n++) watch(a, "value", options[i], &w[n]);
      kvo_change_word(as_object(a), key("value"), &storage, word_of(8));
      CHECK(storage == word_of(8));
      CHECK_EQ(path.calls, observers == 2);
      for (int n = 0; n < observers; n++) {
        CHECK_EQ(w[n].calls, 1);
        CHECK_EQ(w[n].priors, (options[i] & KVO_PRIOR) != 0);
        if ((options[i] & KVO_NEW) != 0) CHECK_NOTIFIED(w[n], 1, 7, 8);
      }
      BEGIN(scope, KVO_SCOPE_COALESCES, a);
      kvo_change_word(as_object(a), key("value"), &storage, word_of(9));
      kvo_scope_end(&scope);
      CHECK(storage == word_of(9));
      for (int n = 0; n < observers; n++) CHECK_EQ(w[n].calls, 2);
    }
}

/* ------------------------------------------------------------------------------------------- Kinds and indexes -- */

/* Notifies an insertion into a key of an object as a binding does, with 7 as the elements. */
static uint32_t insert_at(item *object, const char *name, const size_t *indexes, size_t count) {
  kvo_frame frame;
  int elements = 7;
  uint32_t wants = kvo_frame_begin_change(&frame, as_object(object), key(name), KVO_CHANGE_INSERTION, indexes, count);
  if (wants == 0) return 0;
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, NULL, &elements);
  kvo_frame_end(&frame);
  return wants;
}

TEST("a frame with a kind and indexes, if any, delivers both, before and after the change, with its elements") {
  static const size_t indexes[] = {2, 5};
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  for (size_t count = 2, calls = 1; calls < 3; count = 0, calls++) {
    CHECK(insert_at(a, "value", count > 0 ? indexes : NULL, count) != 0);
    CHECK_EQ(w.priors, calls);
    CHECK_EQ(w.calls, calls);
    CHECK_EQ((int)w.kind, KVO_CHANGE_INSERTION);
    CHECK_EQ(w.index_count, count);
    if (count > 0) CHECK_EQ(w.indexes[1], 5);
    CHECK_EQ(w.new_value.integer, 7);
    CHECK(!w.old_value.delivered);
  }
}

TEST_REPORTED("a frame with a kind between a will and its did is reported: observers are notified twice") {
  make_items();
  watcher w = {0};
  size_t index = 0;
  watch(a, "value", KVO_NEW, &w);
  will(a, "other");
  CHECK(insert_at(a, "value", &index, 1) != 0);
  CHECK_EQ(faults.count, 0);
  will(a, "value");
  CHECK(insert_at(a, "value", &index, 1) != 0);
  CHECK_FAULTS(1, KVO_FAULT_DOUBLE_NOTIFICATION);
  CHECK_CONTAINS(faults.summary, "\"value\" of Item@");
  CHECK_CONTAINS(faults.summary, " is set between willChange and didChange, and its setter also notifies: ");
  did(a, "value");
  did(a, "other");
}

TEST("kvo_frame_end ignores a frame that has ended, and one that is zeroed") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  kvo_frame frame = {{0}};
  int new_value = 2;
  kvo_frame_end(&frame);
  CHECK(kvo_frame_begin(&frame, as_object(a), key("value")) != 0);
  kvo_frame_end(&frame);
  kvo_frame_end(&frame);
  CHECK(kvo_frame_begin(&frame, as_object(a), key("value")) != 0);
  kvo_frame_finish_with(&frame, NULL, &new_value);
  kvo_frame_end(&frame);
  CHECK_EQ(w.calls, 1);
}

TEST("kvo_frame_begin_change returns 0 for a manual key and for one that nobody observes") {
  make_items();
  watcher w = {0};
  size_t index = 0;
  watch(a, "quiet", KVO_NEW, &w);
  CHECK_EQ(insert_at(a, "quiet", &index, 1), 0);
  CHECK_EQ(insert_at(a, "value", &index, 1), 0);
  CHECK_EQ(w.calls, 0);
}

TEST("a key path that ends in the key gets kind and indexes, an expression that reads it gets a setting") {
  make_items();
  watcher path = {0}, doubled = {0};
  item_set_next(b, a);
  watch(b, "next.value", KVO_NEW, &path);
  watch(a, "doubled", KVO_NEW, &doubled);
  size_t index = 4;
  CHECK(insert_at(a, "value", &index, 1) != 0);
  CHECK_EQ((int)path.kind, KVO_CHANGE_INSERTION);
  CHECK_EQ(path.indexes[0], 4);
  CHECK_EQ(path.new_value.integer, 7);
  CHECK_EQ((int)doubled.kind, KVO_CHANGE_SETTING);
  CHECK_EQ(doubled.index_count, 0);
  CHECK_EQ(doubled.new_value.integer, 2);
}

/* ------------------------------------------------------------------------------------------------------- Mutes -- */

static void set_a(void *arg) { item_set_value(a, 20); }

TEST("a mute suppresses one change of its key by a setter on its thread, and nothing else") {
  make_items();
  watcher value = {.tag = 'V'}, other = {.tag = 'O'}, second = {.tag = 'S'};
  watch(a, "value", KVO_NONE, &value);
  watch(a, "other", KVO_NONE, &other);
  watch(b, "value", KVO_NONE, &second);
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(a), key("value"));
  item_set_other(a, 2);
  item_set_value(b, 2);
  join_thread(start_thread(set_a, NULL));
  CHECK_EQ((const char *)trace, "OSV");
  item_set_value(a, 2);
  CHECK_EQ(a->value, 2);
  CHECK_EQ((const char *)trace, "OSV");
  item_set_value(a, 3);
  kvo_mute_end(&mute);
  item_set_value(a, 4);
  CHECK_EQ((const char *)trace, "OSVVV");
}

TEST("mutes nest, each suppresses one change, and one under which nothing was stored ends at kvo_mute_end") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  kvo_mute outer, inner, unused;
  kvo_mute_begin(&outer, as_object(a), key("value"));
  kvo_mute_begin(&inner, as_object(a), key("value"));
  item_set_value(a, 2);
  kvo_mute_end(&inner);
  item_set_value(a, 3);
  kvo_mute_begin(&unused, as_object(a), key("value"));
  kvo_mute_end(&unused);
  CHECK_EQ(w.calls, 0);
  item_set_value(a, 4);
  CHECK_EQ(w.calls, 1);
  kvo_mute_end(&outer);
}

/* ----------------------------------------------------------------------------------------------- Passed values -- */

static void will_with(kvo_change_kind kind, int old_value, int new_value) {
  CHECK_OK(kvo_binding_will_change_values(&held.header, key("first"), kind,
                                          old_value != 0 ? holder_value(old_value) : NULL,
                                          new_value != 0 ? holder_value(new_value) : NULL));
}

TEST("values passed with the will are delivered, if any, and the property is not read; then they are released") {
  static const struct {
    kvo_change_kind kind;
    int old_value, new_value; /* 0: none */
  } rows[] = {{KVO_CHANGE_REPLACEMENT, 3, 4}, {KVO_CHANGE_INSERTION, 0, 4}, {KVO_CHANGE_REMOVAL, 3, 0}};
  hold(1000, 0);
  watcher w = {0};
  watch(HELD, "first", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  for (int i = 0; i < 3; i++) {
    int old_value = rows[i].old_value, new_value = rows[i].new_value;
    will_with(rows[i].kind, old_value, new_value);
    CHECK_EQ(w.priors, i + 1);
    CHECK_EQ(w.old_value.integer, old_value);
    CHECK(!w.new_value.delivered);
    CHECK_EQ(holder_values, (old_value != 0) + (new_value != 0));
    did(HELD, "first");
    CHECK_EQ(w.calls, i + 1);
    CHECK_EQ((int)w.kind, (int)rows[i].kind);
    CHECK_EQ(w.index_count, 0);
    CHECK_EQ(w.old_value.delivered, old_value != 0);
    CHECK_EQ(w.old_value.integer, old_value);
    CHECK_EQ(w.new_value.delivered, new_value != 0);
    CHECK_EQ(w.new_value.integer, new_value);
    CHECK_EQ(holder_values + holder_reads, 0);
  }
}

TEST("values passed for a change that notifies nobody are released at once, those for an undefined key not at all") {
  hold(1000, 0);
  make_items();
  will_with(KVO_CHANGE_REPLACEMENT, 3, 4);
  CHECK_EQ(holder_values, 0);
  did(HELD, "first");
  int mine = 1;
  CHECK_STATUS(kvo_binding_will_change_values(&held.header, key("imaginary"), KVO_CHANGE_REMOVAL, &mine, NULL),
               KVO_ERROR_UNDEFINED_KEY);
  CHECK_STATUS(kvo_binding_will_change_values(as_object(a), key("value"), KVO_CHANGE_REMOVAL, &mine, NULL),
               KVO_ERROR_INVALID_ARGUMENT);
}

static watcher of_open;

static void leave_open(void *object_dies) {
  hold(1000, 0);
  of_open = (watcher){0};
  watch(HELD, "first", KVO_OLD | KVO_ENDS_WITH_OBJECT, &of_open);
  will_with(KVO_CHANGE_REPLACEMENT, 3, 4);
  if (*(bool *)object_dies) kvo_object_finish(&held.header);
}

TEST("values of a pair that is left open are released at the end of the thread, also if the object has died before") {
  ignore_faults();
  for (int i = 0; i < 2; i++) {
    bool object_dies = i == 1;
    join_thread(start_thread(leave_open, &object_dies));
    CHECK_EQ(holder_values, 0);
    CHECK_EQ(of_open.calls, 0);
    CHECK_EQ(of_open.destroyed, object_dies);
  }
}

/* ------------------------------------------------------------------------------------------ Released, compared -- */

TEST("a scope for differences notifies of values of a binding that cannot be compared, or that differ") {
  static const char *const keys[] = {"second", "compared"};
  hold(0, 1);
  watcher w[2] = {{0}};
  for (int i = 0; i < 2; i++) watch(HELD, keys[i], KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[i]);
  for (int last = 1; last < 3; last++) {
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, &(kvo_object *){&held.header}, 1, NULL, 0));
    for (int i = 0; i < 2; i++) {
      held.second = 1;
      will(HELD, keys[i]);
      held.second = 9;
      did(HELD, keys[i]);
    }
    held.second = last;
    kvo_scope_end(&scope);
    CHECK_EQ(w[0].calls, last);
    CHECK_EQ(w[1].calls, last - 1); /* the first time it has its old value again */
  }
  CHECK_EQ(w[1].new_value.integer, 2);
}
