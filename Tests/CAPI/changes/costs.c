/* costs.c - what a set of an observed property costs, in instructions: the usual case is not the general one, and
 * stays the usual one. */
#include "holder.h"
#include "shared.h"
#include "steps.h"

static item *object, *other; /* other.next is the object */
static int called;
static void count(const kvo_change *change, void *user_data) { called++; }

static kvo_observation listen(item *to, const char *key_path, int options) {
  return observe_by(as_object(to), key_path, options, count, NULL);
}

/* ------------------------------------------------------------------------------------------------- Ways to set -- */

static void by_word(void) {
  static uint64_t storage;
  kvo_change_word(as_object(object), key("value"), &storage, storage + 1);
}

static void by_frame(void) {
  static int value;
  kvo_frame frame;
  int old_value = value;
  uint32_t wants = kvo_frame_enter(&frame, as_object(object), key("value"));
  value++;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, &value);
}

/* --------------------------------------------------------------------------------------------------- Measuring -- */

typedef struct measured {
  void (*set)(void);
  /** What is observed: by these key paths and options, until NULL. */
  const char *const *key_paths;
  int options;
  /** Called before the set that is measured, after others; or NULL. */
  void (*before)(void);
} measured;

static void set_once(void *arg) {
  const measured *of = arg;
  object = item_make(1);
  other = item_make(2);
  other->next = object;
  int observers = 0;
  for (; of->key_paths[observers] != NULL; observers++)
    listen(strchr(of->key_paths[observers], '.') != NULL ? other : object, of->key_paths[observers], of->options);
  for (int i = 0; i < 20; i++) of->set();
  if (of->before != NULL) of->before();
  called = 0;
  steps_begin();
  of->set();
  steps_end();
  CHECK_EQ(called, observers);
}

/* -1 where that cannot be measured. */
static long cost(const measured *of) {
  return harness_is_instrumented() ? -1 : steps_of(set_once, (void *)(uintptr_t)of);
}

static const char *const direct[] = {"value", NULL};
static const char *const several[] = {"value", "value", NULL};
static const char *const leaf[] = {"next.value", NULL};
static const char *const both[] = {"next.value", "value", NULL};
static const measured usual[] = {
    {by_word, direct, KVO_NONE, NULL},
    {by_word, direct, KVO_OLD | KVO_NEW, NULL},
    {by_word, several, KVO_OLD, NULL},
    {by_word, leaf, KVO_NEW, NULL},
    {by_word, both, KVO_NEW, NULL},
    {by_frame, direct, KVO_NONE, NULL},
    {by_frame, direct, KVO_OLD | KVO_NEW, NULL},
    {by_frame, both, KVO_NEW, NULL},
};
static const size_t usual_count = sizeof usual / sizeof *usual;

/* While any announced change is open, a set goes the general way. */
static void open_another_change(void) {
  item *changing = item_make(0);
  listen(changing, "value", KVO_NONE);
  will(changing, "value");
}

/* Whether so many instructions are those of the general way. */
static bool is_general(long steps, long of_usual) { return steps > of_usual + 100; }

TEST("a set takes the general way only while something is open on its thread") {
  for (size_t i = 0; i < usual_count; i++) {
    measured general = usual[i];
    general.before = open_another_change;
    long least = cost(&usual[i]);
    if (least < 0) return;
    CHECK(is_general(cost(&general), least));
  }
}

/* --------------------------------------------------------------------------- What makes it general for a while -- */

static void announce(void) {
  kvo_observation id = listen(other, "value", KVO_NONE);
  will(other, "value");
  did(other, "value");
  CHECK_OK(kvo_cancel_observer(id));
}

static void end_scope(kvo_scope_kind kind) {
  BEGIN(scope, kind, object);
  by_word();
  kvo_scope_end(&scope);
}

static void coalesce(void) { end_scope(KVO_SCOPE_COALESCES); }
static void be_silent(void) { end_scope(KVO_SCOPE_SILENCES); }

static void observe_meanwhile(const char *key_path, int options) {
  kvo_observation id = listen(object, key_path, options);
  by_word();
  CHECK_OK(kvo_cancel_observer(id));
}

static void observe_before_changes_for_a_while(void) { observe_meanwhile("value", KVO_PRIOR); }
static void observe_expression_for_a_while(void) { observe_meanwhile("doubled", KVO_OLD); }
/* In a path to the object its key is at first one of those that are read, and then the last one. */
static void lead_to_it_for_a_while(void) {
  item *from = item_make(0);
  kvo_observation ids[] = {listen(from, "next.value", KVO_OLD | KVO_NEW), listen(from, "next.doubled", KVO_PRIOR)};
  item_set_next(from, object);
  by_word();
  item_set_next(from, NULL);
  item_set_next(from, object);
  CHECK_OK(kvo_cancel_observer(ids[0]));
  CHECK_OK(kvo_cancel_observer(ids[1]));
}

static void wait_for_nothing(void) { CHECK_OK(kvo_cancel_observer_and_wait(listen(object, "value", KVO_NONE))); }

/* After a thousand sets at the latest a thread takes the usual way again. */
static void set_often(void *arg) {
  for (int i = 0; i < 3000; i++) by_word();
}

static void set_on_two_threads(void) {
  join_thread(start_thread(set_often, NULL));
  set_often(NULL);
}

TEST("a set is as cheap as before after whatever made it take the general way") {
  static void (*const events[])(void) = {announce,
                                         coalesce,
                                         be_silent,
                                         observe_before_changes_for_a_while,
                                         observe_expression_for_a_while,
                                         lead_to_it_for_a_while,
                                         wait_for_nothing,
                                         set_on_two_threads};
  for (size_t i = 0; i < usual_count; i += 5) {
    long least = cost(&usual[i]);
    if (least < 0) return;
    for (size_t event = 0; event < sizeof events / sizeof *events; event++) {
      measured after = usual[i];
      after.before = events[event];
      long again = cost(&after);
      if (is_general(again, least))
        harness_fail(__FILE__, __LINE__, "after event %zu %ld instead of %ld", event, again, least);
    }
  }
}
