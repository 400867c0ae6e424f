/* closures.c - observers of a binding that are Swift closures: `deliver` is called in Swift's calling convention, which clang knows. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_attribute
#define __has_attribute(name) 0
#endif

#if __has_attribute(swiftcall)

static kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

/* What a closure of the test captures. */
typedef struct captured {
  int calls, priors, last_old, last_new, destroyed;
} captured;

static captured first, second;

static void closure(const kvo_raw_change *change, void *context) {
  (void)change;
  ((captured *)context)->calls++;
}

static __attribute__((swiftcall)) void deliver(const kvo_raw_change *change, kvo_raw_callback given, void *its_context,
                                               __attribute__((swift_context)) void *context) {
  captured *of = context;
  CHECK_SAME(context, its_context);
  CHECK(given == closure);
  if (change->is_prior) {
    of->priors++;
    return;
  }
  if (change->old_value != NULL) of->last_old = *(const int *)change->old_value;
  if (change->new_value != NULL) of->last_new = *(const int *)change->new_value;
  given(change, its_context);
}

static void never(const kvo_raw_change *change, void *user_data) {
  (void)change, (void)user_data;
  abort();
}
static void count_end(void *user_data) { ((captured *)user_data)->destroyed++; }

static kvo_observation observe(item *object, int options, captured *by) {
  static const kvo_observer_ops ops = {.callback = never, .destroy = count_end};
  kvo_binding_observer observer = {.key_path = "value",
                                   .options = (kvo_options)options,
                                   .ops = &ops,
                                   .user_data = by,
                                   .deliver = (kvo_raw_callback)(void *)deliver,
                                   .closure = closure};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(object), key("value"), &observer, &id));
  return id;
}

static void set_framed(item *object, int value) {
  kvo_frame frame;
  int old_value = object->value;
  uint32_t wants = kvo_frame_enter(&frame, as_object(object), key("value"));
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  object->value = value;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, &object->value);
}

TEST("a closure is called for each change, with its context, however the change is made, and destroyed once") {
  item *object = item_make(1);
  kvo_observation ids[] = {observe(object, KVO_NEW | KVO_OLD, &first), observe(object, KVO_PRIOR | KVO_NEW, &second)};
  set_framed(object, 2);
  CHECK_EQ(first.calls, 1);
  CHECK_EQ(first.last_old, 1);
  CHECK_EQ(first.last_new, 2);
  CHECK_EQ(first.priors, 0);
  CHECK_EQ(second.priors, 1);
  CHECK_EQ(second.last_new, 2);
  CHECK_OK(kvo_remove_observer(ids[1]));
  set_framed(object, 3);
  kvo_change_word(as_object(object), key("value"), &(uint64_t){0}, 4);
  CHECK_EQ(first.calls, 3);
  CHECK_EQ(second.calls, 1);
  CHECK_OK(kvo_observation_pause(ids[0]));
  set_framed(object, 5);
  CHECK_EQ(first.calls, 3);
  CHECK_OK(kvo_observation_resume(ids[0], false));
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  CHECK_EQ(first.calls, 4);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[0]));
  CHECK_EQ(first.destroyed, 1);
  CHECK_EQ(second.destroyed, 1);
  item_destroy(object);
}

TEST("closures and callbacks of one key are notified newest first") {
  item *object = item_make(1);
  watcher w = {.tag = 'w'};
  kvo_observation id = observe(object, KVO_NONE, &first);
  watch(object, "value", KVO_NEW, &w);
  kvo_observation other = observe(object, KVO_NEW, &second);
  item_set_value(object, 2);
  set_framed(object, 3);
  CHECK_EQ(first.calls, 2);
  CHECK_EQ(second.calls, 2);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(other));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* What closures that take a word were told, in order. */
typedef struct told {
  const captured *by;
  const void *instance;
  kvo_word_change change;
} told;

static told words[16];
static int word_count;
static void (*in_closure)(void);

static __attribute__((swiftcall)) void take_word(void *instance, const kvo_word_change *change,
                                                 __attribute__((swift_context)) void *context) {
  words[word_count++] = (told){context, instance, *change};
  ((captured *)context)->calls++;
  void (*run)(void) = in_closure;
  in_closure = NULL;
  if (run != NULL) run();
}

static __attribute__((swiftcall)) void deliver_otherwise(const kvo_raw_change *change, kvo_raw_callback given,
                                                         void *its_context,
                                                         __attribute__((swift_context)) void *context) {
  CHECK_SAME(context, its_context);
  CHECK(given == (kvo_raw_callback)(void *)take_word);
  if (change->is_prior)
    ((captured *)context)->priors++;
  else
    ((captured *)context)->calls++;
}

static kvo_observation take_words(item *object, const char *name, int options, captured *by) {
  static const kvo_observer_ops ops = {.callback = never, .destroy = count_end};
  kvo_binding_observer observer = {.key_path = name,
                                   .options = (kvo_options)options,
                                   .ops = &ops,
                                   .user_data = by,
                                   .deliver = (kvo_raw_callback)(void *)deliver_otherwise,
                                   .closure = (kvo_raw_callback)(void *)take_word,
                                   .takes_word = true};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(object), key(name), &observer, &id));
  return id;
}

static item *word_object;
static uint64_t word_storage;
static kvo_observation word_ids[3];
static captured word_of[3];

static void set_word(uint64_t value) { kvo_change_word(as_object(word_object), key("value"), &word_storage, value); }

/* The closure that was called, by its place in `word_of`, or -1. */
static int caller(int i) { return i < word_count ? (int)(words[i].by - word_of) : -1; }

static void begin_words(const int *options, int count) {
  word_object = item_make(1);
  word_storage = 10;
  /* The first change of a thread measures its stack, and is made with a frame. */
  kvo_observation id = take_words(word_object, "value", KVO_NONE, &word_of[0]);
  set_word(10);
  CHECK_OK(kvo_remove_observer(id));
  word_count = 0;
  memset(word_of, 0, sizeof word_of);
  for (int i = 0; i < count; i++) word_ids[i] = take_words(word_object, "value", options[i], &word_of[i]);
}

static void end_words(int count) {
  for (int i = 0; i < count; i++) kvo_cancel_observer(word_ids[i]);
  for (int i = 0; i < count; i++) CHECK_EQ(word_of[i].destroyed, 1);
  item_destroy(word_object);
}

TEST("a closure that takes a word gets what it asked for, and 0 for a value that is not there") {
  begin_words((int[]){KVO_OLD, KVO_NONE, KVO_OLD | KVO_NEW}, 3);
  set_word(11);
  CHECK_EQ(word_count, 3);
  const kvo_word_change expected[] = {
      {.old_value = 10, .new_value = 11}, {.has_no_old = 1, .has_no_new = 1}, {.old_value = 10, .has_no_new = 1}};
  for (int i = 0; i < 3; i++) {
    const kvo_word_change *change = &words[i].change;
    CHECK_EQ(caller(i), 2 - i);
    CHECK_SAME(words[i].instance, word_object);
    CHECK_EQ(change->kind, 0);
    CHECK_EQ(change->is_prior, 0);
    CHECK_SAME(change->indexes, NULL);
    CHECK_EQ(change->old_value, expected[i].old_value);
    CHECK_EQ(change->new_value, expected[i].new_value);
    CHECK_EQ(change->has_no_old, expected[i].has_no_old);
    CHECK_EQ(change->has_no_new, expected[i].has_no_new);
  }
  end_words(3);
}

TEST("a closure that takes a word, with prior notifications and for other changes, is called by its function") {
  begin_words((int[]){KVO_NEW, KVO_NEW | KVO_PRIOR}, 2);
  set_word(11);
  CHECK_EQ(word_count, 0);
  CHECK_EQ(word_of[1].priors, 1);
  CHECK_EQ(word_of[0].calls, 1);
  CHECK_EQ(word_of[1].calls, 1);
  CHECK_OK(kvo_remove_observer(word_ids[1]));
  set_framed(word_object, 12);
  CHECK_EQ(word_count, 0);
  CHECK_EQ(word_of[0].calls, 2);
  set_word(13); /* nothing is notified before it any more */
  CHECK_EQ(word_count, 1);
  watcher w = {.tag = 'w'};
  watch(word_object, "value", KVO_NEW, &w);
  CHECK_OK(kvo_remove_observer(word_ids[0]));
  CHECK_OK(kvo_remove_observer(w.id));
  word_ids[0] = take_words(word_object, "value", KVO_NEW, &word_of[2]);
  set_word(14); /* the slot was empty meanwhile */
  CHECK_EQ(word_count, 2);
  CHECK_OK(kvo_remove_observer(word_ids[0]));
  item_destroy(word_object);
}

static void set_again(void) { set_word(12); }
static void remove_next(void) { CHECK_OK(kvo_remove_observer(word_ids[1])); }
static void pause_last(void) { CHECK_OK(kvo_observation_pause(word_ids[0])); }
static void add_newer(void) { take_words(word_object, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &word_of[2]); }

TEST("closures that take a word are nested, removed, paused and added while they are called") {
  begin_words((int[]){KVO_NEW, KVO_NEW, KVO_NEW}, 3);
  in_closure = set_again;
  set_word(11);
  CHECK_EQ(word_count, 6);
  for (int i = 0; i < 6; i++) CHECK_EQ(words[i].change.new_value, i == 0 ? 11 : 12);
  const int order[] = {2, 2, 1, 0, 1, 0};
  for (int i = 0; i < 6; i++) CHECK_EQ(caller(i), order[i]);
  word_count = 0;
  in_closure = pause_last;
  set_word(13);
  CHECK_EQ(word_count, 2);
  CHECK_EQ(kvo_observation_resume(word_ids[0], false), KVO_OK);
  word_count = 0;
  in_closure = remove_next;
  set_word(14);
  CHECK_EQ(word_count, 2);
  CHECK_EQ(caller(1), 0);
  CHECK_EQ(word_of[1].destroyed, 1);
  CHECK_OK(kvo_remove_observer(word_ids[2]));
  word_count = 0;
  in_closure = add_newer;
  set_word(15);
  CHECK_EQ(word_count, 1);
  set_word(16);
  CHECK_EQ(word_count, 3);
  CHECK_EQ(caller(1), 2);
  CHECK_OK(kvo_remove_observer(word_ids[0]));
  word_of[2].destroyed = 0;
  item_destroy(word_object);
  CHECK_EQ(word_of[2].destroyed, 1);
}

TEST("others observe a key as well as closures that take a word, before and after them") {
  begin_words((int[]){KVO_NEW, KVO_NEW}, 2);
  watcher w = {.tag = 'w'};
  watch(word_object, "value", KVO_NEW, &w);
  set_word(11);
  CHECK_EQ(word_count, 0); /* with a record, which the closures' function reads */
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(word_of[0].calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  set_word(12);
  CHECK_EQ(word_of[0].calls, 2);
  CHECK_EQ(word_of[1].calls, 2);
  end_words(2);
}

#else

TEST("the compiler does not know Swift's calling convention") { harness_skip("it is gcc"); }

#endif
