/* threads_unrecorded.c - threads for whose record there is no memory: what is observed is still notified, and nothing is misuse. */
#include "fixture.h"
#include "shared.h"

#include <dlfcn.h>
#include <kvo/kvo_binding.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* libkvo allocates records with it, and calls this one. */
static _Atomic bool refuses;
static _Atomic int refused;
void *aligned_alloc(size_t alignment, size_t size) {
#ifdef __GLIBC__
  if (!refuses) return memalign(alignment, size);
#else /* musl's memalign calls this function */
  static void *(*next)(size_t alignment, size_t size);
  if (next == NULL) *(void **)&next = dlsym(RTLD_NEXT, "aligned_alloc");
  if (!refuses) return next(alignment, size);
#endif
  refused++;
  return NULL;
}

static void *run(void *body) {
  (*(void (**)(void))body)();
  return NULL;
}

/* Runs it on a new thread, which has no record. */
static void on_new_thread(void (*body)(void)) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, &body);
  pthread_join(thread, NULL);
}

static item *object;
static watcher seen;
static kvo_key key_of(const char *name) { return kvo_key_hash(name, strlen(name)); }

static void set_unrecorded(void) {
  refuses = true;
  item_set_value(object, 1);
  item_set_value(object, 2);
  refuses = false;
}

TEST("a thread without memory for its record notifies observers of keys and of key paths") {
  item *first = item_make(0);
  static watcher by_path;
  object = item_make(0);
  item_set_next(first, object);
  watch(object, "value", KVO_NEW, &seen);
  watch(first, "next.value", KVO_NEW, &by_path);
  refused = 0;
  on_new_thread(set_unrecorded);
  CHECK(refused > 0);
  CHECK_EQ(seen.calls, 2);
  CHECK_EQ(seen.new_value.integer, 2);
  CHECK_EQ(by_path.calls, 2);
  CHECK_EQ(by_path.new_value.integer, 2);
  CHECK_OK(kvo_remove_observer(seen.id));
  CHECK_OK(kvo_remove_observer(by_path.id));
  item_destroy(first);
  item_destroy(object);
}

static void announce_unrecorded(void) {
  refuses = true;
  CHECK_OK(kvo_will_change(as_object(object), "value"));
  refuses = false;
  watch(object, "value", KVO_NEW, &seen);
  CHECK_OK(kvo_did_change(as_object(object), "value"));
  refuses = true;
}

static void announce_observed(void) {
  refuses = true;
  CHECK_STATUS(kvo_will_change(as_object(object), "value"), KVO_ERROR_OUT_OF_MEMORY);
  refuses = false;
}

TEST("a did whose will could not be noted for lack of memory is no misuse") {
  object = item_make(0);
  on_new_thread(announce_unrecorded);
  refuses = false;
  CHECK_EQ(seen.calls, 0);
  on_new_thread(announce_observed);
  CHECK_OK(kvo_remove_observer(seen.id));
  item_destroy(object);
}

static void mute_unrecorded(void) {
  refuses = true;
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(object), key_of("value"));
  item_set_value(object, 5);
  kvo_mute_end(&mute);
  item_set_value(object, 6);
  refuses = false;
}

TEST("a mute works on a thread without memory for its record") {
  object = item_make(0);
  watch(object, "value", KVO_NEW, &seen);
  on_new_thread(mute_unrecorded);
  CHECK_EQ(seen.calls, 1);
  CHECK_EQ(seen.new_value.integer, 6);
  CHECK_OK(kvo_remove_observer(seen.id));
  item_destroy(object);
}

static void keep_unrecorded(void) {
  int mine = 0;
  refuses = true;
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, &mine), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, NULL), NULL);
  CHECK_EQ((int)kvo_thread_fault_count(), 0);
  refuses = false;
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, &mine), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, NULL), &mine);
}

TEST("a pointer of a binding is not stored without memory for the thread's record") { on_new_thread(keep_unrecorded); }

static kvo_action ignore(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  return KVO_ACTION_IGNORE;
}

static void handle_unrecorded(void) {
  refuses = true;
  kvo_set_thread_fault_handler(ignore, NULL);
  CHECK(kvo_get_thread_fault_handler(NULL) == NULL);
  refuses = false;
  kvo_set_thread_fault_handler(ignore, NULL);
  CHECK(kvo_get_thread_fault_handler(NULL) == ignore);
}

TEST_REPORTED("a thread's fault handler is not set without memory for the thread's record, and is asked for then") {
  on_new_thread(handle_unrecorded);
  CHECK(kvo_get_thread_fault_handler(NULL) == NULL);
}
