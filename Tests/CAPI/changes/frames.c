/* frames.c - the frames of bindings: what their memory held before a change reaches no observer. */
#include "holder.h"

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
  CHECK_TOLD(*self, 1, 1, 2);
}

/* Leaves bytes on the stack, where the frames of the next call will be. */
__attribute__((noinline)) static void fill_stack(void) {
  volatile char used[8192];
  for (size_t i = 0; i < sizeof used; i++) used[i] = (char)0xa5;
}

TEST("the record of a set has nothing but what belongs to it, in whichever way the set is made") {
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
        if ((options[i] & KVO_NEW) != 0) CHECK_TOLD(w[n], 1, 7, 8);
      }
    }
}
