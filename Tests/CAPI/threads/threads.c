/* threads.c - concurrent sets, registrations and removals: nothing is lost, nothing is delivered twice. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <limits.h>
#include <sched.h>
#include <string.h>

static shared *object, *leaf;
static _Atomic int calls, path_calls, destroyed, added, working;

/* ---------------------------------------------------------------------------------------------------------- Counting -- */

static void set_many(int number) {
  for (int i = 0; i < rounds(20000); i++) set(object, number * 1000 + i);
}

TEST("n threads that set one key m times each cause exactly n*m notifications, each with its prior one") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &calls, &destroyed);
  on_threads(set_many);
  CHECK_EQ((int)calls, THREADS * rounds(20000));
  CHECK_EQ((int)object->sets, THREADS * rounds(20000));
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
}

static void set_leaf_many(int number) {
  for (int i = 0; i < rounds(5000); i++) set(leaf, number * 1000 + i);
}

TEST("the same holds through a key path") {
  object = shared_make();
  leaf = shared_make();
  object->next = leaf;
  kvo_observation id = observe(object, "next.value", KVO_NEW | KVO_OLD, &calls, &destroyed);
  on_threads(set_leaf_many);
  CHECK_EQ((int)calls, THREADS * rounds(5000));
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(object);
  shared_destroy(leaf);
}

static void pair_many(int number) {
  (void)number;
  for (int i = 0; i < rounds(5000); i++) {
    CHECK_OK(kvo_will_change(&object->header, "value"));
    CHECK_OK(kvo_did_change(&object->header, "value"));
  }
}

TEST("the same holds for pairs announced by hand, which match within their thread") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NEW | KVO_OLD, &calls, NULL);
  on_threads(pair_many);
  CHECK_EQ((int)calls, THREADS * rounds(5000));
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

/* ------------------------------------------------------------------------------------------------ Adding and removing -- */

static void set_or_churn(int number) {
  if (number % 2 == 0) {
    set_many(number);
    return;
  }
  for (int i = 0; i < rounds(5000); i++) {
    kvo_observation id =
        observe(object, i % 3 == 0 ? "next.value" : "value", KVO_NEW | KVO_OLD, &path_calls, &destroyed);
    added++;
    CHECK_OK(kvo_remove_observer(id));
  }
}

TEST(
    "while other observers are registered and removed, one is notified of each set, and each removed one is destroyed once") {
  object = shared_make();
  object->next = object;
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  on_threads(set_or_churn);
  CHECK_EQ((int)calls, THREADS / 2 * rounds(20000));
  CHECK_EQ((int)destroyed, (int)added);
  CHECK_OK(kvo_remove_observer(id));
  CHECK(!kvo_object_is_observed(&object->header));
  shared_destroy(object);
}

TEST("the last removal races with sets: each set is stored once, and the object is of its own class in the end") {
  object = shared_make();
  on_threads(set_or_churn);
  CHECK_EQ((int)object->sets, THREADS / 2 * rounds(20000));
  CHECK_EQ((int)destroyed, (int)added);
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
  CHECK_EQ((int)destroyed, (int)added);
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}

/* Two threads, at least one of which is always in its callback. */
static _Atomic int entered[2], may_leave[2];
static _Thread_local int side; /* not from the new value: the other thread may have set before it is read */

static void take_turns(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
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
      atomic_store(&offered, observe(object, "value", KVO_NONE, NULL, &destroyed));
      added++;
      set(object, i);
    }
    kvo_observation id = atomic_load(&offered);
    if (id != 0 && kvo_cancel_observer(id) == KVO_OK) calls++;
  }
}

TEST("of several threads that remove one observation exactly one succeeds") {
  object = shared_make();
  on_threads(cancel_offered);
  CHECK_EQ((int)added, rounds(20000));
  CHECK_EQ((int)calls, (int)added);
  CHECK_EQ((int)destroyed, (int)added);
  shared_destroy(object);
}

static kvo_observation single;
static _Atomic int cancelled, late;

static void count_late(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
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
  atomic_store(&cancelled, 1);
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

/* ---------------------------------------------------------------------------------------------- Coming during a change -- */

/* An observer registered while others set must get each change completely: the value before it, and a prior notification. */
static _Thread_local int open_priors;

static void note_whole_change(const kvo_change *change, void *user_data) {
  (void)user_data;
  CHECK(change->old_value != NULL);
  open_priors += change->is_prior ? 1 : -1;
  CHECK(open_priors >= 0);
}

static void set_or_come_and_go(int number) {
  if (number % 2 == 0) {
    while (working > 0) {
      set(object, 1);
      open_priors = 0; /* a removal between the two leaves a prior notification alone */
    }
    return;
  }
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .options = KVO_OLD | KVO_PRIOR,
                           .callback = note_whole_change};
  for (int i = 0; i < rounds(20000); i++) {
    kvo_observation id;
    CHECK_OK(kvo_add_observer(&object->header, &observer, &id));
    CHECK_OK(kvo_remove_observer(id));
  }
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

/* ---------------------------------------------------------------------------------------------------- Manual pairs -- */

static _Atomic int announcing;

static void announce_or_end_another(int number) {
  for (int i = 0; i < rounds(3000); i++) {
    if (number % 2 == 0) {
      (void)kvo_will_change(&object->header, "value");
      (void)kvo_did_change(&object->header, "value");
    } else {
      (void)kvo_did_change(&object->header, "value"); /* searches the wills of other threads */
    }
  }
}

static kvo_action expect_unbalanced(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK(fault->code == KVO_FAULT_DID_WITHOUT_WILL || fault->code == KVO_FAULT_CROSSED_THREADS);
  announcing++;
  return KVO_ACTION_IGNORE;
}

TEST_REPORTED("a did without a will searches the pairs of other threads while they begin and end them") {
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_PRIOR, &calls, NULL);
  kvo_set_fault_handler(expect_unbalanced, NULL);
  on_threads(announce_or_end_another);
  CHECK_EQ((int)announcing, THREADS / 2 * rounds(3000));
  CHECK_OK(kvo_remove_observer(id));
  shared_destroy(object);
}
