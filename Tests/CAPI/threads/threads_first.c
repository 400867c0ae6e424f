/* threads_first.c - what several threads do for the first time at the same time: observe a class or an object, use a name, need a table. */
#include "shared.h"

#include <malloc.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static shared *object;
static _Atomic int calls, destroyed, added;

/* ------------------------------------------------------------------------------------------ Observations and classes -- */

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

/* -------------------------------------------------------------------------------------------------- Tables and names -- */

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
  kvo_observation id = observe(arg, "value", KVO_NEW, NULL, NULL);
  pthread_barrier_wait(&start);
  CHECK_OK(kvo_remove_observer(id));
}

TEST("of slabs that threads make for the first observations at the same time one is kept for every 16 threads of 32") {
  enum { COUNT = 32, SLABS = 2 };
  kvo_set_allocator(allocate_slowly, release, NULL);
  running *threads[COUNT];
  shared *own[COUNT];
  CHECK(pthread_barrier_init(&start, NULL, COUNT) == 0);
  for (int i = 0; i < COUNT; i++) threads[i] = start_thread(register_one, own[i] = shared_make());
  for (int i = 0; i < COUNT; i++) {
    join_thread(threads[i]);
    shared_destroy(own[i]);
  }
  CHECK_EQ((int)large_blocks, SLABS);
}

static void register_alone(void *arg) { CHECK_OK(kvo_remove_observer(observe(arg, "value", KVO_NEW, NULL, NULL))); }

TEST("threads that end leave the memory for observations that they have kept to others") {
  kvo_set_allocator(allocate_slowly, release, NULL);
  shared *object = shared_make();
  for (int i = 0; i < 100; i++) join_thread(start_thread(register_alone, object));
  CHECK_EQ((int)large_blocks, 1);
  shared_destroy(object);
}

#if defined(__GLIBC__)
enum { NAMES = 50, NAME_LENGTH = 1 << 16 };
static char names[THREADS][NAME_LENGTH];

static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

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
