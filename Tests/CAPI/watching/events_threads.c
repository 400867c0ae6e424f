/* events_threads.c - KVO_HISTORY with several threads: events are complete, and reading them takes no lock. */
#include "fixture.h"

#include <kvo/kvo_binding.h>

#include <pthread.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 2000 };

static _Atomic int wrong, read_in_between, working = THREADS;

static kvo_action look(const kvo_fault *fault, void *arg) {
  (void)arg;
  for (size_t i = 0; i < fault->event_count; i++) {
    const kvo_event *event = &fault->events[i];
    bool is_value = strcmp(event->key_path, "value") == 0, is_other = strcmp(event->key_path, "other") == 0;
    const item *object = event->object;
    /* Objects with even numbers are observed by one key, the others by another. */
    if (strcmp(event->object_class, "Item") != 0 || event->thread == 0) wrong++;
    if (event->kind != KVO_EVENT_DIED && (object->quiet % 2 == 0 ? !is_value : !is_other)) wrong++;
    read_in_between++;
  }
  return KVO_ACTION_IGNORE;
}

static item *objects[THREADS];

static void *change(void *arg) {
  int number = (int)(intptr_t)arg;
  item *object = objects[number];
  for (int i = 0; i < ROUNDS || read_in_between == 0; i++) {
    watcher w = {0};
    watch(object, number % 2 == 0 ? "value" : "other", KVO_NEW, &w);
    if (number % 2 == 0)
      item_set_value(object, i);
    else
      item_set_other(object, i);
    kvo_cancel_observer(w.id);
  }
  working--;
  return NULL;
}

TEST("events that several threads record at the same time are complete, also when they are read meanwhile") {
  harness_environment("KVO_HISTORY", "256");
  kvo_set_fault_handler(look, NULL);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    objects[i] = item_make(0);
    objects[i]->quiet = i;
  }
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, change, (void *)(intptr_t)i);
  while (working > 0) kvo_fault_raise(KVO_FAULT_UNHANDLED, "a test", NULL, NULL, NULL, 0, NULL, 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK_EQ(wrong, 0);
  CHECK(read_in_between > 0);
  for (int i = 0; i < THREADS; i++) item_destroy(objects[i]);
}
