/* threads.c - concurrent sets, registrations and removals: nothing is lost, nothing is delivered twice. */
#include "shared.h"

#include <errno.h>
#include <kvo/kvo_binding.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static shared *object, *leaf;
static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

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

/* -------------------------------------------------------------------------------------------------------------- Paths -- */

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

/* Sets objects on the path and objects that are not; only the former notify, once. */
static void check_subscribed(_Atomic int *told) {
  for (int i = 0; i < MIDDLES; i++) {
    bool on_path = object->next == middles[i];
    *told = 0;
    set_next(middles[i], middles[i]->next);
    CHECK_EQ((int)*told, on_path);
  }
  for (int i = 0; i < MIDDLES; i++) {
    bool on_path = object->next->next == leaves[i];
    *told = 0;
    set(leaves[i], 1);
    CHECK_EQ((int)*told, on_path);
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
    kvo_observation one = observe(object, "next.next.value", KVO_NEW, &calls, &destroyed);
    kvo_observation two = observe(object, "next.next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, &path_calls, &destroyed);
    on_threads(replace_many);
    check_subscribed(&calls);
    check_subscribed(&path_calls);
    CHECK_OK(kvo_remove_observer(one));
    CHECK_OK(kvo_remove_observer(two));
    for (int i = 0; i < MIDDLES; i++) {
      CHECK(!kvo_object_is_observed(&middles[i]->header) && !kvo_object_is_observed(&leaves[i]->header));
      shared_destroy(middles[i]);
      shared_destroy(leaves[i]);
    }
    shared_destroy(object);
  }
  CHECK_EQ((int)destroyed, 2 * rounds(40));
}

/* ------------------------------------------------------------------------------------------------- First observations -- */

static kvo_class *fresh;
static shared *own[THREADS];
static kvo_class *isas[THREADS];

static void observe_own(int number) {
  _Atomic int told = 0;
  kvo_observation id = observe(own[number], "value", KVO_NEW, &told, NULL);
  isas[number] = kvo_object_isa(&own[number]->header);
  set(own[number], 1);
  CHECK_EQ((int)told, 1);
  CHECK_OK(kvo_remove_observer(id));
}

TEST("8 threads that observe a class for the first time simultaneously make one notifying class") {
  for (int round = 0; round < rounds(200); round++) {
    char name[32];
    snprintf(name, sizeof name, "Fresh%d", round);
    CHECK_OK(shared_register(name, &fresh));
    for (int i = 0; i < THREADS; i++) own[i] = shared_make_of(fresh);
    on_threads(observe_own);
    for (int i = 0; i < THREADS; i++) {
      CHECK_SAME(isas[i], isas[0]);
      shared_destroy(own[i]);
    }
  }
}

static void observe_object(int number) {
  kvo_observation id = observe(object, number % 2 == 0 ? "value" : "next.value", KVO_NEW, &calls, &destroyed);
  CHECK(kvo_object_is_observed(&object->header));
  CHECK_OK(kvo_remove_observer(id));
}

TEST("8 threads that observe one object for the first time simultaneously all succeed") {
  for (int round = 0; round < rounds(500); round++) {
    object = shared_make();
    on_threads(observe_object);
    CHECK(!kvo_object_is_observed(&object->header));
    shared_destroy(object);
  }
  CHECK_EQ((int)destroyed, THREADS * rounds(500));
}

static void register_once(int number) {
  (void)number;
  kvo_class *cls = NULL;
  kvo_status status = shared_register("Contended", &cls);
  if (status == KVO_OK)
    added++;
  else
    CHECK_STATUS(status, KVO_ERROR_DUPLICATE_CLASS);
}

TEST("of several threads that register one class name exactly one succeeds") {
  on_threads(register_once);
  CHECK_EQ((int)added, 1);
}

/* -------------------------------------------------------------------------------------------------------- Simultaneous -- */

/* How many large blocks the runtime has. Each takes a moment to allocate, so that other threads find that there is none yet. */
static _Atomic int large_blocks;
enum { LARGE = 8192 };

static void *allocate_slowly(size_t size, void *arg) {
  (void)arg;
  size_t *block = malloc(sizeof(max_align_t) + size);
  if (block == NULL) return NULL;
  *block = size;
  if (size >= LARGE) {
    large_blocks++;
    a_moment();
  }
  return (char *)block + sizeof(max_align_t);
}

static void release(void *memory, void *arg) {
  (void)arg;
  size_t *block = (size_t *)(void *)((char *)memory - sizeof(max_align_t));
  if (*block >= LARGE) large_blocks--;
  free(block);
}

static pthread_barrier_t start;

static void register_one(void *arg) {
  pthread_barrier_wait(&start);
  CHECK_OK(kvo_remove_observer(observe(arg, "value", KVO_NEW, NULL, NULL)));
}

TEST("of tables that threads make for the first ids at the same time one is kept for every two threads of 32") {
  enum { COUNT = 32, TABLES = 16 };
  kvo_set_allocator(allocate_slowly, release, NULL);
  running *threads[COUNT];
  shared *own[COUNT];
  CHECK(pthread_barrier_init(&start, NULL, COUNT) == 0);
  for (int i = 0; i < COUNT; i++) threads[i] = start_thread(register_one, own[i] = shared_make());
  for (int i = 0; i < COUNT; i++) {
    join_thread(threads[i]);
    shared_destroy(own[i]);
  }
  CHECK_EQ((int)large_blocks, TABLES);
}

#if defined(__GLIBC__)
enum { NAMES = 50, NAME_LENGTH = 1 << 16 };
static char names[THREADS][NAME_LENGTH];

/* Each thread has the same name in memory of its own. */
static void register_with_names(int number) {
  shared *own = shared_make();
  for (int i = 0; i < NAMES; i++) {
    kvo_observation id;
    kvo_observer observer = {
        .struct_size = sizeof observer, .key_path = "value", .callback = ignore, .file = names[number]};
    memset(names[number], 'a' + i % 26, NAME_LENGTH - 1);
    names[number][0] = (char)('0' + i);
    pthread_barrier_wait(&start);
    CHECK_OK(kvo_add_observer(&own->header, &observer, &id));
    CHECK_OK(kvo_remove_observer(id));
  }
  shared_destroy(own);
}

TEST("threads that name the same file for the first time at the same time keep one copy of its name") {
  CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
  size_t before = mallinfo2().uordblks;
  on_threads(register_with_names);
  size_t used = mallinfo2().uordblks - before;
  if (!harness_is_instrumented()) CHECK(used < (NAMES + 6) * (size_t)NAME_LENGTH);
}
#endif

/* ----------------------------------------------------------------------------------------------------------- Crossing -- */

static shared *other;
static _Thread_local int depth;

static void set_the_other(const kvo_change *change, void *user_data) {
  (void)user_data;
  calls++;
  if (depth > 0) return;
  depth++;
  set(change->object == &object->header ? other : object, 1);
  depth--;
}

static void set_either(int number) {
  for (int i = 0; i < rounds(5000); i++) set(number % 2 == 0 ? object : other, i);
}

TEST("two objects whose observers set each other, from several threads, do not deadlock") {
  object = shared_make();
  other = shared_make();
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "value", .options = KVO_NEW, .callback = set_the_other};
  kvo_observation one, two;
  CHECK_OK(kvo_add_observer(&object->header, &observer, &one));
  CHECK_OK(kvo_add_observer(&other->header, &observer, &two));
  on_threads(set_either);
  CHECK_EQ((int)calls, 2 * THREADS * rounds(5000));
  CHECK_OK(kvo_remove_observer(one));
  CHECK_OK(kvo_remove_observer(two));
  shared_destroy(object);
  shared_destroy(other);
}

/* The callback sets through the same recursive lock: the thread that holds it while setting runs the callback under it. */
static pthread_mutex_t guarding;

static void set_under_lock(shared *which, int value) {
  pthread_mutex_lock(&guarding);
  set(which, value);
  pthread_mutex_unlock(&guarding);
}

static void set_the_other_locked(const kvo_change *change, void *user_data) {
  (void)user_data;
  calls++;
  if (change->object == &object->header) set_under_lock(other, 1);
}

static void set_locked(int number) {
  for (int i = 0; i < rounds(2000); i++) {
    set_under_lock(number % 2 == 0 ? object : other, i);
    kvo_observation id = observe(object, "value", KVO_NEW, NULL, &destroyed);
    CHECK_OK(kvo_cancel_observer_and_wait(id));
  }
}

TEST("the program may hold a lock of its own while it sets, and its callbacks may take that lock") {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&guarding, &recursive);
  object = shared_make();
  other = shared_make();
  kvo_observation one = observe_with(object, "value", KVO_NEW, set_the_other_locked, NULL);
  kvo_observation two = observe_with(other, "value", KVO_NEW, set_the_other_locked, NULL);
  on_threads(set_locked);
  CHECK_EQ((int)calls, 3 * THREADS / 2 * rounds(2000));
  CHECK_EQ((int)destroyed, THREADS * rounds(2000));
  CHECK_OK(kvo_remove_observer(one));
  CHECK_OK(kvo_remove_observer(two));
  shared_destroy(object);
  shared_destroy(other);
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

/* ------------------------------------------------------------------------------------------------- Ends of threads -- */

static pthread_key_t last_key;
enum { ROUNDS = 4 }; /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc and musl */
static _Atomic int used_in_destructor;

/* Runs in each round of the thread's destructors, and uses the whole API in the last one. */
static void use_at_the_end(void *round) {
  if ((intptr_t)round < ROUNDS) {
    CHECK(pthread_setspecific(last_key, (void *)((intptr_t)round + 1)) == 0);
    return;
  }
  set(object, 1);
  CHECK_OK(kvo_will_change(&object->header, "value")); /* left open */
  used_in_destructor++;
}

static void end_late(void *arg) {
  (void)arg;
  CHECK(pthread_setspecific(last_key, (void *)(intptr_t)1) == 0);
}

TEST("a destructor of a thread may use the runtime after the runtime's own has run, also in its last round") {
  if (harness_is_instrumented()) return; /* ThreadSanitizer has ended by then */
  object = shared_make();
  kvo_observation id = observe(object, "value", KVO_NEW, &calls, NULL);
  CHECK(pthread_key_create(&last_key, use_at_the_end) ==
        0); /* created after the runtime's key, so it runs after it in each round */
  kvo_set_fault_handler(expect_unbalanced, NULL);
  for (int i = 0; i < 20; i++) {
    join_thread(start_thread(end_late, NULL));
    set(object, 2);
    CHECK_STATUS(kvo_did_change(&object->header, "value"),
                 KVO_ERROR_UNBALANCED); /* searches the record that the thread left */
    CHECK_EQ((int)used_in_destructor, i + 1);
  }
  CHECK_EQ((int)calls, 40);
  (void)kvo_cancel_observer_and_wait(id);
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* Ends the calling thread without its destructors, so that the runtime does not learn of it. */
static void end_unnoticed(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  syscall(SYS_exit, 0);
}

static void set_object_once(void *arg) {
  (void)arg;
  set(object, 1);
}

static void end_in_section(void *arg) {
  (void)arg;
  kvo_section_enter();
  end_unnoticed(NULL, NULL);
}

TEST("a thread that ends unnoticed in a callback is not waited for, and errno is kept") {
  if (harness_is_instrumented()) return; /* a tool has to learn of the end */
  object = shared_make();
  kvo_observation id = observe_with(object, "value", KVO_NEW, end_unnoticed, NULL);
  join_thread(start_thread(set_object_once, NULL));
  errno = 7;
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ(errno, 7);
}

TEST("a thread that ends unnoticed while it holds a lock does not prevent a fork") {
  if (harness_is_instrumented()) return;
  join_thread(start_thread(end_in_section, NULL));
  pid_t child = fork();
  if (child == 0) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}
