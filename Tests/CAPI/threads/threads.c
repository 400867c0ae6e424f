/* threads.c - concurrent sets, registrations and removals: nothing is lost, nothing is delivered twice. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

static shared *object, *leaf;
static _Atomic int calls, priors, destroyed, working;

/* ---------------------------------------------------------------------------------------------------- Counting -- */

static void count(const kvo_change *change, void *user_data) {
  if (change->is_prior)
    priors++;
  else
    calls++;
}

static void set_object(int value) { set(object, value); }
static void set_leaf(int value) { set(leaf, value); }
static void announce(int value) {
  CHECK_OK(kvo_will_change(&object->header, "value"));
  CHECK_OK(kvo_did_change(&object->header, "value"));
}

static void (*change_once)(int value);
static void change_many(int number) {
  for (int i = 0; i < rounds(5000); i++) change_once(number * 1000 + i);
}

/* Each of many changes on all threads notifies once. */
static void check_count(const char *key_path, int options, void (*change)(int value)) {
  object = shared_make();
  leaf = shared_make();
  object->next = leaf;
  kvo_observation id = observe_with(object, key_path, options, count, NULL);
  change_once = change;
  on_threads(change_many);
  CHECK_EQ((int)calls, THREADS * rounds(5000));
  CHECK_EQ((int)priors, (options & KVO_PRIOR) != 0 ? THREADS * rounds(5000) : 0);
  CHECK_OK(kvo_remove_observer(id));
  set(object, 0);
  CHECK_EQ((int)calls, THREADS * rounds(5000));
  shared_destroy(object);
  shared_destroy(leaf);
}

TEST("n threads that set one key m times each cause exactly n*m notifications, each with its prior one") {
  check_count("value", KVO_NEW | KVO_OLD | KVO_PRIOR, set_object);
}

TEST("the same holds through a key path") { check_count("next.value", KVO_NEW | KVO_OLD, set_leaf); }

TEST("the same holds for pairs announced by hand, which match within their thread") {
  check_count("value", KVO_NEW | KVO_OLD, announce);
}

/* ----------------------------------------------------------------------------------------- Adding and removing -- */

static void set_or_churn(int number) {
  if (number % 2 == 0) {
    for (int i = 0; i < rounds(20000); i++) set(object, i);
    return;
  }
  for (int i = 0; i < rounds(5000); i++) {
    const char *key_path = i % 3 == 0 ? "next.value" : "value";
    CHECK_OK(kvo_remove_observer(observe(object, key_path, KVO_NEW | KVO_OLD, NULL, &destroyed)));
  }
}

TEST(
    "while other observers are registered and removed, one is notified of each set, and each removed one is destroyed once") {
  object = shared_make();
  object->next = object;
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  on_threads(set_or_churn);
  CHECK_EQ((int)calls, THREADS / 2 * rounds(20000));
  CHECK_EQ((int)destroyed, THREADS / 2 * rounds(5000));
  CHECK_OK(kvo_remove_observer(id));
  CHECK(!kvo_object_is_observed(&object->header));
  shared_destroy(object);
}

TEST("the last removal races with sets: each set is stored once, and the object is of its own class in the end") {
  object = shared_make();
  on_threads(set_or_churn);
  CHECK_EQ((int)object->sets, THREADS / 2 * rounds(20000));
  CHECK_EQ((int)destroyed, THREADS / 2 * rounds(5000));
  CHECK(!kvo_object_is_observed(&object->header));
  CHECK_SAME(kvo_object_isa(&object->header), kvo_object_class(&object->header));
  CHECK_EQ(kvo_object_observation_count(&object->header), 0);
  shared_destroy(object);
}

static void look(const kvo_fault_observation *seen, void *arg) {
  CHECK(seen->observation != 0 && strstr(seen->key_path, "value") != NULL);
  ++*(int *)arg;
}

static void churn_or_look(int number) {
  if (number % 2 == 0) {
    set_or_churn(number + (number < 4)); /* two threads set, two register and remove */
    return;
  }
  kvo_class *cls = kvo_object_class(&object->header);
  for (int i = 0; i < rounds(5000); i++) {
    int seen = 0;
    kvo_object_visit_observations(&object->header, look, &seen);
    CHECK(seen >= 1);
    CHECK(kvo_object_observation_count(&object->header) >= 1);
    CHECK(kvo_object_is_observed(&object->header));
    CHECK_SAME(kvo_class_superclass(kvo_object_isa(&object->header)), cls);
  }
}

TEST("registrations are listed while other threads register, remove and set, and one that remains is always listed") {
  object = shared_make();
  object->next = object;
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  on_threads(churn_or_look);
  CHECK_EQ((int)calls, 2 * rounds(20000));
  CHECK_EQ((int)destroyed, 2 * rounds(5000));
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

/* Two threads, at least one of which is always in its callback. */
static _Atomic int entered[2], may_leave[2];
static _Thread_local int side; /* not from the new value: the other thread may have set before it is read */

static void take_turns(const kvo_change *change, void *user_data) {
  int turn = atomic_fetch_add(&entered[side], 1);
  while (may_leave[side] <= turn) sched_yield();
}

static void set_in_turns(void *arg) {
  side = arg != NULL;
  while (working > 0) set(object, side);
}

TEST(
    "an observer removed while deliveries overlap without pause is destroyed once those that were running have returned") {
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, take_turns, NULL);
  working = 1;
  running *threads[] = {start_thread(set_in_turns, NULL), start_thread(set_in_turns, object)};
  for (int round = 0; round < 100; round++)
    for (int one = 0; one < 2; one++) {
      while (entered[one] <= round) sched_yield(); /* so that the other thread may leave its callback */
      CHECK_OK(kvo_remove_observer(observe(object, "next", KVO_NEW, NULL, &destroyed)));
      may_leave[!one] += round > 0 || one == 1;
    }
  CHECK(destroyed >= 100 * 2 - 4);
  working = 0;
  for (int one = 0; one < 2; one++) may_leave[one] = INT_MAX;
  for (int one = 0; one < 2; one++) join_thread(threads[one]);
  CHECK_EQ((int)destroyed, 100 * 2);
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

static _Atomic kvo_observation offered;

static void cancel_offered(int number) {
  for (int i = 0; i < rounds(20000); i++) {
    if (number == 0) {
      offered = observe(object, "value", KVO_NONE, NULL, &destroyed);
      set(object, i);
    }
    kvo_observation id = offered;
    if (id != 0 && kvo_cancel_observer(id) == KVO_OK) calls++;
  }
}

TEST("of several threads that remove one observation exactly one succeeds") {
  object = shared_make();
  on_threads(cancel_offered);
  CHECK_EQ((int)calls, rounds(20000));
  CHECK_EQ((int)destroyed, rounds(20000));
  shared_destroy(object);
}

static kvo_observation single;
static _Atomic int cancelled, late;

static void count_late(const kvo_change *change, void *user_data) {
  calls++;
  if (cancelled) late++;
}

static void set_or_cancel(int number) {
  if (number != 0) {
    for (int i = 0; i < 200 || !cancelled; i++) set(object, i);
    return;
  }
  while (calls < 100) sched_yield();
  CHECK_OK(kvo_cancel_observer(single));
  cancelled = 1;
}

TEST("after a removal deliveries that had begun may return, one per thread, and no other begins") {
  for (int round = 0; round < rounds(200); round++) {
    object = shared_make();
    calls = cancelled = late = 0;
    single = observe_with(object, "value", KVO_NONE, count_late, NULL);
    on_threads(set_or_cancel);
    CHECK(late < THREADS);
    shared_destroy(object);
  }
}

/* A new observer must get each change completely: the value before it, and a prior notification. */
static _Thread_local int open_priors;

static void note_whole_change(const kvo_change *change, void *user_data) {
  CHECK(change->old_value != NULL);
  open_priors += change->is_prior ? 1 : -1;
  CHECK(open_priors >= 0);
}

static void set_or_come_and_go(int number) {
  while (number % 2 == 0 && working > 0) {
    set(object, 1);
    open_priors = 0; /* a removal between the two leaves a prior notification alone */
  }
  if (number % 2 == 0) return;
  for (int i = 0; i < rounds(20000); i++)
    CHECK_OK(kvo_remove_observer(observe_with(object, "value", KVO_OLD | KVO_PRIOR, note_whole_change, NULL)));
  working--;
}

TEST("an observer registered while other threads set is notified of whole changes only") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NONE, NULL, NULL);
  working = THREADS / 2;
  on_threads(set_or_come_and_go);
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

static void announce_or_only_end(int number) {
  for (int i = 0; i < rounds(3000); i++) {
    if (number % 2 == 0) (void)kvo_will_change(&object->header, "value");
    (void)kvo_did_change(&object->header, "value"); /* without a will it looks for one of another thread */
  }
}

static kvo_action expect_unbalanced(const kvo_fault *fault, void *arg) {
  CHECK(fault->code == KVO_FAULT_DID_WITHOUT_WILL || fault->code == KVO_FAULT_CROSSED_THREADS);
  calls++;
  return KVO_ACTION_IGNORE;
}

TEST_REPORTED("a did without a will is reported while other threads announce changes of the same key") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_PRIOR, NULL, NULL);
  kvo_set_fault_handler(expect_unbalanced, NULL);
  on_threads(announce_or_only_end);
  CHECK_EQ((int)calls, THREADS / 2 * rounds(3000));
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

/* --------------------------------------------------------------------------------------------------- Key paths -- */

enum { MIDDLES = 4 };
static shared *middles[MIDDLES], *leaves[MIDDLES];

static void replace_many(int number) {
  for (int i = 0; i < rounds(5000); i++) {
    int one = (i + number) % MIDDLES, two = i / 3 % MIDDLES;
    if (number % 4 == 0)
      set(leaves[one], i);
    else if (number % 4 == 1)
      set_next(object, middles[one]);
    else
      set_next(middles[one], i % 5 == 0 ? NULL : leaves[two]);
  }
}

/* Sets objects on the path and objects that are not; only the former notify, each of the two observers once. */
static void check_subscribed(void) {
  for (int i = 0; i < MIDDLES; i++) {
    bool on_path = object->next == middles[i];
    calls = 0;
    set_next(middles[i], middles[i]->next);
    CHECK_EQ((int)calls, on_path ? 2 : 0);
  }
  for (int i = 0; i < MIDDLES; i++) {
    bool on_path = object->next->next == leaves[i];
    calls = 0;
    set(leaves[i], 1);
    CHECK_EQ((int)calls, on_path ? 2 : 0);
  }
}

TEST("a path whose intermediate objects several threads replace is in the end subscribed to the last ones only") {
  for (int round = 0; round < rounds(40); round++) {
    object = shared_make();
    for (int i = 0; i < MIDDLES; i++) {
      middles[i] = shared_make();
      leaves[i] = shared_make();
    }
    object->next = middles[0];
    kvo_observation one = observe_with(object, "next.next.value", KVO_NEW, count, NULL);
    kvo_observation two = observe_with(object, "next.next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, count, NULL);
    on_threads(replace_many);
    check_subscribed();
    CHECK_OK(kvo_remove_observer(one));
    CHECK_OK(kvo_remove_observer(two));
    for (int i = 0; i < MIDDLES; i++) {
      CHECK(!kvo_object_is_observed(&middles[i]->header) && !kvo_object_is_observed(&leaves[i]->header));
      shared_destroy(middles[i]);
      shared_destroy(leaves[i]);
    }
    shared_destroy(object);
  }
}
