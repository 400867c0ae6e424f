/* frames.c - the frames of bindings: what their memory held before a change reaches no observer. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

/* 8 bytes whose first ones are an int, as the observers of "value" read them. */
static uint64_t word_of(int value) {
  uint64_t word = 0;
  memcpy(&word, &value, sizeof value);
  return word;
}

/* ------------------------------------------------------------------------------------------------------------ Records -- */

static int checked;

/* Of a set from 1 to 2. */
static void check_set(const kvo_change *change, void *user_data) {
  CHECK_SAME(change->object, user_data);
  CHECK_EQ(change->key_path, "value");
  CHECK_EQ((int)change->kind, KVO_CHANGE_SETTING);
  CHECK(!change->is_prior);
  CHECK_SAME(change->indexes, NULL);
  CHECK_EQ(change->index_count, 0);
  CHECK_SAME(change->context, NULL);
  CHECK_EQ(see(change->old_value).integer, 1);
  CHECK_EQ(see(change->new_value).integer, 2);
  checked++;
}

/* Leaves bytes on the stack, where the frames of the next call will be. */
__attribute__((noinline)) static void fill_stack(void) {
  volatile char used[8192];
  for (size_t i = 0; i < sizeof used; i++) used[i] = (char)0xa5;
}

static void by_setter(item *object) { item_set_value(object, 2); }

static void by_word(item *object) {
  uint64_t storage = word_of(1);
  kvo_change_word(as_object(object), key("value"), &storage, word_of(2));
}

static void by_frame(item *object, uint32_t (*begin)(kvo_frame *frame, kvo_object *object, kvo_key key)) {
  int old_value = 1, new_value = 2;
  kvo_frame frame;
  memset(&frame, 0xa5, sizeof frame);
  CHECK(begin(&frame, as_object(object), key("value")) != 0);
  kvo_frame_finish_with(&frame, &old_value, &new_value);
}

static void by_begin(item *object) { by_frame(object, kvo_frame_begin); }
static void by_enter(item *object) { by_frame(object, kvo_frame_enter); }

static void by_hand(item *object) {
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  object->value = 2;
  CHECK_OK(kvo_did_change(as_object(object), "value"));
}

TEST("the record of a set has nothing but what belongs to it, in whichever way the set is made") {
  static void (*const ways[])(item * object) = {by_setter, by_word, by_begin, by_enter, by_hand};
  for (int i = 0; i < 5; i++) {
    item *object = item_make(1);
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "value",
                             .options = (kvo_options)(KVO_OLD | KVO_NEW),
                             .callback = check_set,
                             .user_data = object,
                             KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
    fill_stack();
    ways[i](object);
    CHECK_EQ(checked, i + 1);
    CHECK_OK(kvo_remove_observer(id));
    item_destroy(object);
  }
}

TEST(
    "kvo_change_word stores the value, whatever is observed, also between a notification before the change and one after") {
  static const int options[] = {KVO_NONE, KVO_OLD | KVO_NEW, KVO_PRIOR, KVO_OLD | KVO_NEW | KVO_PRIOR};
  uint64_t storage = 0;
  kvo_change_word(NULL, key("value"), &storage, 1);
  CHECK_EQ((int)storage, 1);
  kvo_change_word(NULL, key("value"), NULL, 1);
  for (int i = 0; i < 4; i++)
    for (int observers = 0; observers < 3; observers++) {
      item *object = item_make(1), *root = item_make(0);
      watcher w[2] = {{0}}, of_path = {0};
      root->next = object;
      storage = word_of(7);
      if (observers == 2) watch(root, "next.value", options[i], &of_path);
      for (int n = 0; n < observers; n++) watch(object, "value", options[i], &w[n]);
      kvo_change_word(as_object(object), key("value"), &storage, word_of(8));
      CHECK(storage == word_of(8));
      for (int n = 0; n < observers; n++) {
        CHECK_EQ(w[n].calls, 1);
        CHECK_EQ(w[n].priors, (options[i] & KVO_PRIOR) != 0);
        if ((options[i] & KVO_NEW) != 0) CHECK_EQ(w[n].new_value.integer, 8);
        if ((options[i] & KVO_OLD) != 0) CHECK_EQ(w[n].old_value.integer, 7);
        CHECK_OK(kvo_remove_observer(w[n].id));
      }
      if (observers == 2) CHECK_EQ(of_path.calls, 1);
      if (observers == 2) CHECK_OK(kvo_remove_observer(of_path.id));
      item_destroy(root);
      item_destroy(object);
    }
}

TEST("a frame delivers nothing before its first observer was asked for") {
  static uint32_t (*const begins[])(kvo_frame * frame, kvo_object * object, kvo_key key) = {kvo_frame_begin,
                                                                                            kvo_frame_enter};
  for (int i = 0; i < 2; i++) {
    item *object = item_make(1);
    watcher w = {0};
    watch(object, "value", KVO_NONE, &w);
    kvo_frame frame;
    memset(&frame, 0xa5, sizeof frame);
    CHECK(begins[i](&frame, as_object(object), key("value")) != 0);
    kvo_frame_deliver(&frame, NULL, NULL);
    CHECK_EQ(w.calls, 0);
    while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, NULL, NULL);
    kvo_frame_end(&frame);
    CHECK_EQ(w.calls, 1);
    CHECK_OK(kvo_remove_observer(w.id));
    item_destroy(object);
  }
}

/* ------------------------------------------------------------------------------------------- Registered meanwhile -- */

static void register_between(uint32_t (*begin)(kvo_frame *frame, kvo_object *object, kvo_key key)) {
  item *root = item_make(0), *middle = item_make(1), *end = item_make(2), *other = item_make(3);
  root->next = middle;
  middle->next = end;
  watcher path = {0}, own = {0};
  watch(middle, "next", KVO_NEW | KVO_PRIOR, &own);
  kvo_frame frame;
  memset(&frame, 0x5a, sizeof frame);
  uint32_t wants = begin(&frame, as_object(middle), key("next"));
  CHECK((wants & KVO_FRAME_WANTS_WILL) != 0);
  watch(root, "next.next.value", KVO_NEW | KVO_PRIOR, &path);
  kvo_frame_will(&frame, &middle->next);
  CHECK_EQ(own.priors, 1);
  CHECK_EQ(path.priors, 0);
  middle->next = other;
  while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, &end, &other);
  kvo_frame_end(&frame);
  CHECK_EQ(own.calls, 1);
  CHECK_EQ(path.calls, 0);
  item_set_value(other, 4);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(path.new_value.integer, 4);
  CHECK_OK(kvo_remove_observer(path.id));
  CHECK_OK(kvo_remove_observer(own.id));
  item *all[] = {root, middle, end, other};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) item_destroy(all[i]);
}

TEST(
    "a path registered between the beginning of a change and its will is notified neither before nor after, and follows it") {
  register_between(kvo_frame_begin);
  register_between(kvo_frame_enter);
}

/* ------------------------------------------------------------------------------------------------ Recorded meanwhile -- */

static char trace_path[64];

static void begin_trace(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  CHECK_OK(kvo_trace_begin(trace_path));
}

TEST_REPORTED(
    "after a change in which a recording began, what is removed is destroyed at once, and in a change at its end") {
  static void (*const ways[])(item * object) = {by_setter, by_word, by_begin, by_enter, by_hand};
  snprintf(trace_path, sizeof trace_path, "frames-%ld.json", (long)getpid());
  for (int i = 0; i < 5; i++) {
    item *object = item_make(1);
    watcher first = {0}, other = {0};
    watch(object, "value", KVO_NONE, &first);
    watch(object, "value", KVO_NONE, &other);
    for (int n = 0; n < 20; n++) ways[i](object);
    first.then = begin_trace;
    ways[i](object);
    CHECK_OK(kvo_trace_end());
    for (int n = 0; n < 3; n++) ways[i](object);
    CHECK_EQ(first.calls, 24);
    CHECK_OK(kvo_remove_observer(other.id));
    CHECK_EQ(other.destroyed, 1);
    ways[i](object);
    CHECK_EQ(first.calls, 25);
    CHECK_OK(kvo_remove_observer(first.id));
    CHECK_EQ(first.destroyed, 1);
    item_destroy(object);
  }
  unlink(trace_path);
}
