/* scopes_threads.c - a scope is that of its thread: what other threads change and register meanwhile, and the end of the thread. */
#include "allocator.h"
#include "scoped.h"

#include <pthread.h>

static void *set_on_thread(void *value) {
  item_set_value(a, (int)(intptr_t)value);
  return NULL;
}

TEST("a scope is that of its thread: what another thread changes notifies as usual") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  for (int kind = KVO_SCOPE_COALESCES; kind <= KVO_SCOPE_SILENCES; kind++) {
    BEGIN(scope, (kvo_scope_kind)kind, a);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, set_on_thread, (void *)(intptr_t)(kind + 10)) == 0);
    pthread_join(thread, NULL);
    kvo_scope_end(&scope);
    CHECK_EQ(w.calls, kind + 1);
    CHECK_EQ(w.new_value.integer, kind + 10);
  }
}

static void *end_scope(void *scope) {
  kvo_scope_end(scope);
  return NULL;
}

TEST("the end of a scope on another thread has no effect") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, end_scope, &scope) == 0);
  pthread_join(thread, NULL);
  CHECK_EQ(w.calls, 0);
  kvo_scope_end(&scope);
  CHECK_TOLD(w, 1, 1, 5);
  kvo_scope_end(&scope);
  item_set_value(a, 6);
  CHECK_TOLD(w, 2, 5, 6);
}

static void *set_end(void *value) {
  item_set_value(b, (int)(intptr_t)value);
  return NULL;
}

static void *set_end_in_scope(void *value) {
  BEGIN(scope, KVO_SCOPE_COALESCES, b);
  set_end(value);
  kvo_scope_end(&scope);
  return NULL;
}

/* Its record may be at the same address. */
TEST("the end of a scope tells a path that an earlier thread has told last, too") {
  make_items();
  item_set_next(a, b);
  watcher w = {0};
  watch(a, "next.value", KVO_OLD | KVO_NEW, &w);
  void *(*const bodies[])(void *) = {set_end, set_end_in_scope};
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, bodies[i % 2], (void *)(intptr_t)(i + 10)) == 0);
    pthread_join(thread, NULL);
    CHECK_EQ(w.calls, i + 1);
    CHECK_EQ(w.new_value.integer, i + 10);
  }
}

/* As those of an actor, or of tasks. */
TEST("the end of a scope tells an expression once, although another thread has evaluated it before") {
  make_items();
  total sum = {.of = {a, b, c}};
  watch_total(&sum, KVO_OLD | KVO_NEW);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, set_end, (void *)(intptr_t)10) == 0);
  pthread_join(thread, NULL);
  CHECK_EQ(sum.calls, 1);
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b, c);
  item_set_value(a, 4);
  item_set_value(b, 5);
  item_set_value(c, 6);
  kvo_scope_end(&scope);
  CHECK_EQ(sum.calls, 2);
  CHECK_EQ(sum.old_value, 14);
  CHECK_EQ(sum.new_value, 15);
}

static void *leave_open(void *arg) {
  (void)arg;
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  (void)scope;
  return NULL;
}

TEST("the end of a thread ends its scopes without notification and without a fault") {
  use_counting_allocator();
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_OLD | KVO_NEW, &w);
  long before = live_blocks;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, leave_open, NULL) == 0);
  pthread_join(thread, NULL);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(live_blocks, before);
  CHECK_EQ(faults.count, 0);
  item_set_value(a, 6);
  CHECK_TOLD(w, 1, 5, 6);
}

static _Atomic bool stops;
static _Atomic long told_on_threads;

static void count_told(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  told_on_threads++;
}

static void *register_and_remove(void *arg) {
  (void)arg;
  while (!stops) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "next.value",
                             .options = KVO_OLD | KVO_NEW,
                             .callback = count_told,
                             KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_add_observer(as_object(a), &observer, &id));
    CHECK_OK(kvo_remove_observer(id));
  }
  return NULL;
}

TEST("other threads may register and remove observations of the objects of a scope") {
  make_items();
  item_set_next(a, b);
  watcher w = {0};
  watch(b, "value", KVO_OLD | KVO_NEW, &w);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, register_and_remove, NULL) == 0);
  /* The storage is the program's, and a registration reads it: only the same values are stored, and atomically. */
  for (int round = 0; round < 2000; round++) {
    BEGIN(scope, round % 3 == 2 ? KVO_SCOPE_SILENCES : KVO_SCOPE_COALESCES, a, b);
    for (int i = 0; i < 3; i++) {
      kvo_frame frame;
      if (kvo_frame_begin(&frame, as_object(b), kvo_key_hash("value", 5)) != 0) kvo_frame_finish(&frame, NULL);
      kvo_binding_stored(as_object(b), kvo_key_hash("value", 5));
    }
    kvo_scope_end(&scope);
  }
  stops = true;
  pthread_join(thread, NULL);
  CHECK_EQ(w.calls, 1334);
}
