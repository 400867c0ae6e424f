/* threads.c - adding, removing, setting and dying at the same time on several threads. ThreadSanitizer runs this file. */
#include "harness.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 8 };

/* Storage that several threads may set at once. */
typedef struct shared {
  kvo_object header;
  _Atomic int value;
  _Atomic(struct shared *) next;
  _Atomic int sets;
} shared;

static int get_value(const shared *of) { return atomic_load(&of->value); }
static shared *get_next(const shared *of) { return atomic_load(&of->next); }
static void set_next(shared *of, shared *next) { atomic_store(&of->next, next); }
static void set_value(shared *of, int value) {
  atomic_store(&of->value, value);
  atomic_fetch_add(&of->sets, 1);
}

static kvo_status register_class(const char *name, kvo_class **out) {
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(shared),
                         .properties = properties,
                         .property_count = 2};
  return kvo_class_register(&spec, out);
}

static shared *make(kvo_class *cls) {
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  return (shared *)made;
}

static shared *make_one(void) {
  static kvo_class *cls;
  if (cls == NULL) CHECK_OK(register_class("Shared", &cls));
  return make(cls);
}

static void set(shared *object, int value) { KVO_SET(object, "value", int, value); }

/* An observer on the heap: a use after its destruction is seen by the sanitizers, and by `alive` without them. */
typedef struct observer {
  _Atomic int alive;
  _Atomic int *calls, *destroyed;
} observer;

static void note(const kvo_change *change, void *user_data) {
  observer *self = user_data;
  CHECK(atomic_load(&self->alive) == 1);
  if (!change->is_prior && self->calls != NULL) atomic_fetch_add(self->calls, 1);
}

static void destroy(void *user_data) {
  observer *self = user_data;
  CHECK(atomic_exchange(&self->alive, 0) == 1);
  if (self->destroyed != NULL) atomic_fetch_add(self->destroyed, 1);
  free(self);
}

static kvo_observation observe(shared *object, const char *key_path, int options, _Atomic int *calls,
                               _Atomic int *destroyed) {
  observer *made = calloc(1, sizeof *made);
  made->alive = 1;
  made->calls = calls;
  made->destroyed = destroyed;
  kvo_observer described = {.struct_size = sizeof described,
                            .key_path = key_path,
                            .options = (kvo_options)options,
                            .callback = note,
                            .user_data = made,
                            .destroy = destroy,
                            KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&object->header, &described, &id));
  return id;
}

/* Runs `body` on THREADS threads at once, with the number of the thread, and waits for them. */
static pthread_barrier_t together;
static void (*thread_body)(int number);

static void *start(void *arg) {
  pthread_barrier_wait(&together);
  thread_body((int)(intptr_t)arg);
  return NULL;
}

static void on_threads(void (*body)(int number)) {
  pthread_t threads[THREADS];
  thread_body = body;
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, start, (void *)(intptr_t)i) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  pthread_barrier_destroy(&together);
}

static int rounds(int normally) { return harness_is_instrumented() ? normally / 4 : normally; }

static shared *object, *leaf;
static _Atomic int calls, path_calls, destroyed, added, working;

/* ---------------------------------------------------------------------------------------------------------- Counting -- */

static void set_many(int number) {
  for (int i = 0; i < rounds(20000); i++) set(object, number * 1000 + i);
}

TEST("n threads times m sets of one key give exactly n*m notifications, each with its prior one") {
  object = make_one();
  kvo_observation id = observe(object, "value", KVO_NEW | KVO_OLD | KVO_PRIOR, &calls, &destroyed);
  on_threads(set_many);
  CHECK_EQ((int)calls, THREADS * rounds(20000));
  CHECK_EQ((int)object->sets, THREADS * rounds(20000));
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ((int)destroyed, 1);
  kvo_object_destroy(&object->header);
}

static void set_leaf_many(int number) {
  for (int i = 0; i < rounds(5000); i++) set(leaf, number * 1000 + i);
}

TEST("so they do through a key path") {
  object = make_one();
  leaf = make_one();
  object->next = leaf;
  kvo_observation id = observe(object, "next.value", KVO_NEW | KVO_OLD, &calls, &destroyed);
  on_threads(set_leaf_many);
  CHECK_EQ((int)calls, THREADS * rounds(5000));
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ((int)destroyed, 1);
  kvo_object_destroy(&object->header);
  kvo_object_destroy(&leaf->header);
}

static void pair_many(int number) {
  (void)number;
  for (int i = 0; i < rounds(5000); i++) {
    CHECK_OK(kvo_will_change(&object->header, "value"));
    CHECK_OK(kvo_did_change(&object->header, "value"));
  }
}

TEST("so do manual pairs, which match within their thread") {
  object = make_one();
  kvo_observation id = observe(object, "value", KVO_NEW | KVO_OLD, &calls, NULL);
  on_threads(pair_many);
  CHECK_EQ((int)calls, THREADS * rounds(5000));
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&object->header);
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

TEST("while others come and go, one that stays is told of each set, and each that went is destroyed once") {
  object = make_one();
  object->next = object;
  kvo_observation id = observe(object, "value", KVO_NONE, &calls, NULL);
  on_threads(set_or_churn);
  CHECK_EQ((int)calls, THREADS / 2 * rounds(20000));
  CHECK_EQ((int)destroyed, (int)added);
  CHECK_OK(kvo_remove_observer(id));
  CHECK(!kvo_object_is_observed(&object->header));
  kvo_object_destroy(&object->header);
}

TEST("the last removal races with sets, and each set is stored once") {
  object = make_one();
  on_threads(set_or_churn);
  CHECK_EQ((int)object->sets, THREADS / 2 * rounds(20000));
  CHECK_EQ((int)destroyed, (int)added);
  CHECK(!kvo_object_is_observed(&object->header));
  kvo_object_destroy(&object->header);
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
  object = make_one();
  on_threads(cancel_offered);
  CHECK_EQ((int)added, rounds(20000));
  CHECK_EQ((int)calls, (int)added);
  CHECK_EQ((int)destroyed, (int)added);
  kvo_object_destroy(&object->header);
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

TEST("8 threads that observe a class for the first time at once make one notifying class") {
  for (int round = 0; round < rounds(200); round++) {
    char name[32];
    snprintf(name, sizeof name, "Fresh%d", round);
    CHECK_OK(register_class(name, &fresh));
    for (int i = 0; i < THREADS; i++) own[i] = make(fresh);
    on_threads(observe_own);
    for (int i = 0; i < THREADS; i++) {
      CHECK_SAME(isas[i], isas[0]);
      kvo_object_destroy(&own[i]->header);
    }
  }
}

static void observe_object(int number) {
  kvo_observation id = observe(object, number % 2 == 0 ? "value" : "next.value", KVO_NEW, &calls, &destroyed);
  CHECK(kvo_object_is_observed(&object->header));
  CHECK_OK(kvo_remove_observer(id));
}

TEST("8 threads that observe one object for the first time at once all succeed") {
  for (int round = 0; round < rounds(500); round++) {
    object = make_one();
    on_threads(observe_object);
    CHECK(!kvo_object_is_observed(&object->header));
    kvo_object_destroy(&object->header);
  }
  CHECK_EQ((int)destroyed, THREADS * rounds(500));
}

static void register_once(int number) {
  (void)number;
  kvo_class *cls = NULL;
  kvo_status status = register_class("Contended", &cls);
  if (status == KVO_OK)
    added++;
  else
    CHECK_STATUS(status, KVO_ERROR_DUPLICATE_CLASS);
}

TEST("of several threads that register one class name exactly one succeeds") {
  on_threads(register_once);
  CHECK_EQ((int)added, 1);
}

/* ------------------------------------------------------------------------------------------------------------- Death -- */

static void set_leaf_or_die(int number) {
  if (number == 0) {
    while (working > 0) set(leaf, 1);
    return;
  }
  for (int i = 0; i < rounds(3000); i++) {
    shared *root = make_one();
    set_next(root, leaf);
    (void)observe(root, "next.value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT, NULL, &destroyed);
    added++;
    kvo_object_destroy(&root->header);
  }
  working--;
}

TEST("roots of key paths die while others set the object at their end") {
  leaf = make_one();
  working = THREADS - 1;
  on_threads(set_leaf_or_die);
  CHECK_EQ((int)destroyed, (int)added);
  CHECK(!kvo_object_is_observed(&leaf->header));
  kvo_object_destroy(&leaf->header);
}

static void live_and_die(int number) {
  for (int i = 0; i < rounds(3000); i++) {
    shared *root = make_one(), *end = make_one();
    set_next(root, end);
    _Atomic int told = 0;
    kvo_observation id = observe(root, "next.value", KVO_NEW | KVO_OLD, &told, &destroyed);
    (void)observe(end, "value", KVO_ENDS_WITH_OBJECT, NULL, &destroyed);
    set(end, number);
    kvo_object_destroy(&end->header);
    CHECK_EQ((int)told, 2);
    set_next(root, NULL);
    CHECK_OK(kvo_remove_observer(id));
    kvo_object_destroy(&root->header);
  }
}

TEST("threads that each observe and destroy objects of their own do not disturb each other") {
  kvo_object_destroy(&make_one()->header); /* registers the class before the threads do */
  on_threads(live_and_die);
  CHECK_EQ((int)destroyed, 2 * THREADS * rounds(3000));
}

static void cancel_against_death(int number) {
  if (number > 1) return;
  if (number == 0)
    kvo_object_destroy(&object->header);
  else
    (void)kvo_cancel_observer(atomic_load(&offered));
}

TEST("a removal races with the death of its object: the user data is destroyed once") {
  for (int round = 0; round < rounds(1000); round++) {
    object = make_one();
    set_next(object, object);
    atomic_store(&offered,
                 observe(object, round % 2 == 0 ? "value" : "next.value", KVO_ENDS_WITH_OBJECT, NULL, &destroyed));
    on_threads(cancel_against_death);
    CHECK_EQ((int)destroyed, round + 1);
  }
}

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
  object = make_one();
  other = make_one();
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "value", .options = KVO_NEW, .callback = set_the_other};
  kvo_observation one, two;
  CHECK_OK(kvo_add_observer(&object->header, &observer, &one));
  CHECK_OK(kvo_add_observer(&other->header, &observer, &two));
  on_threads(set_either);
  CHECK_EQ((int)calls, 2 * THREADS * rounds(5000));
  CHECK_OK(kvo_remove_observer(one));
  CHECK_OK(kvo_remove_observer(two));
  kvo_object_destroy(&object->header);
  kvo_object_destroy(&other->header);
}

/* ----------------------------------------------------------------------------------------------------- Evaluations -- */

/* A getter that, while `working`, stays inside until it is let go. */
static _Atomic int inside, let_go, finished;

static int get_slowly(const shared *of) {
  (void)of;
  if (working == 0) return 0;
  atomic_store(&inside, 1);
  while (!atomic_load(&let_go)) usleep(1000);
  CHECK(!atomic_load(&finished));
  return 0;
}

static void *set_the_leaf(void *arg) {
  (void)arg;
  KVO_SET(leaf, "next", shared *, NULL);
  return NULL;
}

static void *destroy_the_object(void *arg) {
  (void)arg;
  kvo_object_destroy(&object->header);
  atomic_store(&finished, 1);
  return NULL;
}

TEST("the root of a key path waits to die until an evaluation elsewhere is over, also of a removed observation") {
  static const char *const affecting[] = {"next.next", NULL};
  kvo_property_spec properties[] = {
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next},
      {.name = "slow", .type = "i", .getter = (kvo_function)get_slowly, .affected_by = affecting}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Slow",
                         .instance_size = sizeof(shared),
                         .properties = properties,
                         .property_count = 2};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
  object = make(cls);
  leaf = make(cls);
  set_next(object, leaf);
  kvo_observation id = observe(object, "slow", KVO_NEW, NULL, &destroyed);
  working = 1;
  pthread_t setter, destroyer;
  CHECK(pthread_create(&setter, NULL, set_the_leaf, NULL) == 0);
  while (!atomic_load(&inside)) usleep(1000);
  CHECK_OK(kvo_remove_observer(id));
  CHECK(pthread_create(&destroyer, NULL, destroy_the_object, NULL) == 0);
  usleep(50000);
  atomic_store(&let_go, 1);
  CHECK(pthread_join(setter, NULL) == 0);
  CHECK(pthread_join(destroyer, NULL) == 0);
  CHECK_EQ((int)destroyed, 1);
  kvo_object_destroy(&leaf->header);
}

/* ---------------------------------------------------------------------------------------------- Coming during a change -- */

/* What an observer that comes while others set must be told of each change: the value before it, and a prior note. */
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
      open_priors = 0; /* one that was removed between the two leaves a prior note alone */
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

TEST("an observer that comes while other threads set is told of whole changes only") {
  object = make_one();
  kvo_observation id = observe(object, "value", KVO_NONE, NULL, NULL);
  working = THREADS / 2;
  on_threads(set_or_come_and_go);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&object->header);
}

/* ------------------------------------------------------------------------------------- Deaths that one expression sees -- */

enum { KEYS = 20 };
static shared *dying[THREADS];
static kvo_object no_object;

/* Reads KEYS keys of each object at first. Later evaluations fail, so that nothing of what the first one read is dropped. */
static void *read_all(void *user_data) {
  bool *has_read = user_data;
  if (*has_read) kvo_track_read(&no_object, 1);
  for (int i = 0; i < THREADS && !*has_read; i++)
    for (kvo_key key = 1; key <= KEYS; key++) kvo_track_read(&dying[i]->header, key);
  return NULL;
}

static void release_nothing(void *value, void *user_data) {
  (void)value;
  (void)user_data;
}

static void count_raw(const kvo_raw_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  calls++;
}

static void die_together(int number) { kvo_object_destroy(&dying[number]->header); }

TEST("several objects that one expression read die at once: each death is told once") {
  object = make_one();
  for (int round = 0; round < rounds(400); round++) {
    bool has_read = false;
    static const kvo_observer_ops ops = {count_raw, NULL, read_all, release_nothing};
    kvo_binding_observer described = {.key_path = "all", .ops = &ops, .user_data = &has_read};
    kvo_observation id;
    for (int i = 0; i < THREADS; i++) dying[i] = make_one();
    CHECK_OK(kvo_binding_observe_tracked(&object->header, &described, false, &id));
    has_read = true;
    calls = 0;
    on_threads(die_together);
    CHECK_EQ((int)calls, THREADS);
    CHECK_OK(kvo_remove_observer(id));
  }
  kvo_object_destroy(&object->header);
}
