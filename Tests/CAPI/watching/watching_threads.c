/* watching_threads.c - kvo_snapshot and KVO_HISTORY while other threads register, set, remove and destroy. */
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>

enum { WORKERS = 3 };

static _Atomic int stop;
static int paths_seen, events_seen;
/* Each worker has an object, which is observed for one key path only. */
static item *roots[WORKERS];
static const char *const key_paths[WORKERS] = {"next.value", "value", "other"};

static void work(void *arg) {
  int number = (int)(intptr_t)arg;
  item *root = roots[number];
  while (!stop) {
    item *next = item_make(0);
    watcher w = {0};
    root->next = next;
    watch(root, key_paths[number], KVO_NEW, &w);
    item_set_value(root, 1);
    item_set_other(root, 1);
    item_set_value(next, 1);
    item_set_next(root, NULL);
    kvo_cancel_observer(w.id);
    item_destroy(next);
  }
}

static int number_of(const void *object) {
  int number = 0;
  while (number < WORKERS && roots[number] != object) number++;
  return number;
}

static kvo_action check_events(const kvo_fault *fault, void *arg) {
  for (size_t i = 0; i < fault->event_count; i++) {
    const kvo_event *event = &fault->events[i];
    int number = number_of(event->object);
    const char *expected = number < WORKERS ? key_paths[number] : "value";
    if (number == 0 && event->kind == KVO_EVENT_CHANGED) expected = "next";
    if (event->kind == KVO_EVENT_DIED) expected = "";
    CHECK_EQ(event->key_path, expected);
    CHECK_EQ(event->object_class, "Item");
    CHECK(event->thread != 0);
    events_seen++;
  }
  return KVO_ACTION_IGNORE;
}

static void check_snapshot(void) {
  kvo_graph *graph = NULL;
  CHECK_OK(kvo_snapshot(&graph));
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    int number = number_of(graph->objects[each->object].object);
    CHECK_EQ(each->key_path, key_paths[number]);
    CHECK_EQ(each->kind, number == 0 ? KVO_GRAPH_EXPRESSION : KVO_GRAPH_DIRECT);
    CHECK(each->edge_count <= (number == 0 ? 3 : 0)); /* two, and one more of an evaluation in progress */
    paths_seen += each->edge_count == 2;
  }
  kvo_graph_free(graph);
}

TEST("snapshots and events are whole while other threads register, set, remove and destroy") {
  harness_environment("KVO_HISTORY", "256");
  kvo_set_fault_handler(check_events, NULL);
  running *threads[WORKERS];
  for (int i = 0; i < WORKERS; i++) roots[i] = item_make(0);
  for (int i = 0; i < WORKERS; i++) threads[i] = start_thread(work, (void *)(intptr_t)i);
  for (int i = 0; i < 1000 || paths_seen < 50 || events_seen == 0; i++) {
    check_snapshot();
    kvo_fault_raise(KVO_FAULT_UNHANDLED, "a test", NULL, NULL, NULL, 0, NULL, 0);
  }
  stop = 1;
  for (int i = 0; i < WORKERS; i++) join_thread(threads[i]);
  for (int i = 0; i < WORKERS; i++) item_destroy(roots[i]);
}
