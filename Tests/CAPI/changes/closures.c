/* closures.c - observers of a binding that are Swift closures: `deliver` is called in Swift's calling convention,
 * which clang knows. */
#include "holder.h"

#include <stdlib.h>
#include <string.h>

#ifndef __has_attribute
#define __has_attribute(name) 0
#endif

#if __has_attribute(swiftcall)

/* What a closure of the test captures. */
typedef struct captured {
  int calls, priors, last_old, last_new, destroyed;
} captured;

static captured of[3];
static kvo_observation ids[3];

/* --------------------------------------------------------------------------------- Closures that take a record -- */

static void closure(const kvo_raw_change *change, void *context) { ((captured *)context)->calls++; }

static __attribute__((swiftcall)) void deliver(const kvo_raw_change *change, kvo_raw_callback given, void *its_context,
                                               __attribute__((swift_context)) void *context) {
  captured *self = context;
  CHECK_SAME(context, its_context);
  CHECK(given == closure);
  if (change->is_prior) {
    self->priors++;
    return;
  }
  if (change->old_value != NULL) self->last_old = *(const int *)change->old_value;
  if (change->new_value != NULL) self->last_new = *(const int *)change->new_value;
  given(change, its_context);
}

static void never(const kvo_raw_change *change, void *user_data) { abort(); }
static void count_end(void *user_data) { ((captured *)user_data)->destroyed++; }
static const kvo_observer_ops ops = {.callback = never, .destroy = count_end};

/* Observes the value of `a`. The others are what `observer` has. */
static kvo_observation observe_closure(captured *by, int options, kvo_binding_observer observer) {
  observer.key_path = "value";
  observer.options = (kvo_options)options;
  observer.ops = &ops;
  observer.user_data = by;
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(as_object(a), key("value"), &observer, &id));
  return id;
}

static kvo_observation observe_records(captured *by, int options) {
  return observe_closure(by, options,
                         (kvo_binding_observer){.deliver = (kvo_raw_callback)(void *)deliver, .closure = closure});
}

static void set_framed(int value) {
  kvo_frame frame;
  int old_value = a->value;
  uint32_t wants = kvo_frame_enter(&frame, as_object(a), key("value"));
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  a->value = value;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, &a->value);
}

static uint64_t word_storage = 10;
static void set_word(uint64_t value) { kvo_change_word(as_object(a), key("value"), &word_storage, value); }

TEST("a closure is called for each change, with its context, however the change is made, and destroyed once") {
  make_items();
  watcher between = {0};
  ids[0] = observe_records(&of[0], KVO_NEW | KVO_OLD);
  watch(a, "value", KVO_NEW, &between);
  ids[1] = observe_records(&of[1], KVO_PRIOR | KVO_NEW);
  set_framed(2);
  CHECK_EQ(of[0].calls, 1);
  CHECK_EQ(of[0].last_old, 1);
  CHECK_EQ(of[0].last_new, 2);
  CHECK_EQ(of[0].priors, 0);
  CHECK_EQ(of[1].priors, 1);
  CHECK_EQ(of[1].last_new, 2);
  CHECK_EQ(between.calls, 1);
  CHECK_OK(kvo_remove_observer(ids[1]));
  set_framed(3);
  set_word(4);
  item_set_value(a, 5);
  CHECK_EQ(of[0].calls, 4);
  CHECK_EQ(of[1].calls, 1);
  CHECK_EQ(between.calls, 4);
  CHECK_OK(kvo_observation_pause(ids[0]));
  set_framed(6);
  CHECK_EQ(of[0].calls, 4);
  CHECK_OK(kvo_observation_resume(ids[0], false));
  will(a, "value");
  did(a, "value");
  CHECK_EQ(of[0].calls, 5);
  CHECK_OK(kvo_cancel_observer_and_wait(ids[0]));
  CHECK_EQ(of[0].destroyed, 1);
  CHECK_EQ(of[1].destroyed, 1);
}

/* ----------------------------------------------------------------------------------- Closures that take a word -- */

/* The words that closures got, in order. */
typedef struct taken {
  const captured *by;
  const void *instance;
  kvo_word_change change;
} taken;

static taken words[16];
static int word_count;
static void (*in_closure)(void); /* called once */

static __attribute__((swiftcall)) void take_word(void *instance, const kvo_word_change *change,
                                                 __attribute__((swift_context)) void *context) {
  words[word_count++] = (taken){context, instance, *change};
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

static kvo_observation take_words(captured *by, int options) {
  return observe_closure(by, options,
                         (kvo_binding_observer){.deliver = (kvo_raw_callback)(void *)deliver_otherwise,
                                                .closure = (kvo_raw_callback)(void *)take_word,
                                                .takes_word = true});
}

static void begin_words(const int *options, int count) {
  make_items();
  for (int i = 0; i < count; i++) ids[i] = take_words(&of[i], options[i]);
  set_word(10); /* with a frame, because the first change of a thread measures its stack */
  memset(of, 0, sizeof of);
}

TEST("a closure that takes a word gets what it asked for, and 0 for a value that is not there") {
  begin_words((int[]){KVO_OLD, KVO_NONE, KVO_OLD | KVO_NEW}, 3);
  set_word(11);
  CHECK_EQ(word_count, 3);
  const kvo_word_change expected[] = {
      {.old_value = 10, .new_value = 11}, {.has_no_old = 1, .has_no_new = 1}, {.old_value = 10, .has_no_new = 1}};
  for (int i = 0; i < 3; i++) {
    const kvo_word_change *change = &words[i].change;
    CHECK_SAME(words[i].by, &of[2 - i]);
    CHECK_SAME(words[i].instance, a);
    CHECK_EQ(change->kind, 0);
    CHECK_EQ(change->is_prior, 0);
    CHECK_SAME(change->indexes, NULL);
    CHECK_EQ(change->old_value, expected[i].old_value);
    CHECK_EQ(change->new_value, expected[i].new_value);
    CHECK_EQ(change->has_no_old, expected[i].has_no_old);
    CHECK_EQ(change->has_no_new, expected[i].has_no_new);
  }
}

TEST("while others are notified, or before changes, closures that take a word are called by their function") {
  begin_words((int[]){KVO_NEW, KVO_NEW | KVO_PRIOR}, 2);
  set_word(11);
  CHECK_EQ(word_count, 0);
  CHECK_EQ(of[1].priors, 1);
  CHECK_EQ(of[0].calls, 1);
  CHECK_EQ(of[1].calls, 1);
  CHECK_OK(kvo_remove_observer(ids[1]));
  set_framed(12);
  CHECK_EQ(word_count, 0);
  set_word(13); /* nothing is notified before it any more */
  CHECK_EQ(word_count, 1);
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  set_word(14);
  CHECK_EQ(word_count, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(of[0].calls, 4);
}

static void set_again(void) { set_word(12); }
static void remove_next(void) { CHECK_OK(kvo_remove_observer(ids[1])); }
static void pause_last(void) { CHECK_OK(kvo_observation_pause(ids[0])); }
static void add_newer(void) { take_words(&of[2], KVO_NEW); }

/* Sets a word, with an action in the first closure, and compares who is called, in order. */
static void check_callers(void (*action)(void), uint64_t value, const char *expected) {
  char callers[8] = "";
  word_count = 0;
  in_closure = action;
  set_word(value);
  for (int i = 0; i < word_count; i++) callers[i] = (char)('0' + (words[i].by - of));
  CHECK_EQ((const char *)callers, expected);
}

TEST("closures that take a word are nested, removed, paused and added while they are called") {
  begin_words((int[]){KVO_NEW, KVO_NEW, KVO_NEW}, 3);
  check_callers(set_again, 11, "221010");
  for (int i = 0; i < 6; i++) CHECK_EQ(words[i].change.new_value, i == 0 ? 11 : 12);
  check_callers(pause_last, 13, "21");
  CHECK_OK(kvo_observation_resume(ids[0], false));
  check_callers(remove_next, 14, "20");
  CHECK_OK(kvo_remove_observer(ids[2]));
  check_callers(add_newer, 15, "0");
  check_callers(NULL, 16, "20");
}

#else

TEST("the compiler does not know Swift's calling convention") { harness_skip("it is gcc"); }

#endif
