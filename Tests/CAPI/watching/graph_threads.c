/* graph_threads.c - kvo_snapshot while other threads register, remove, set, and destroy. */
#include "fixture.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 3 };

static _Atomic int stop;

/* Each thread has an object that is observed directly and one that is observed through a path. */
static void *churn(void *arg) {
  (void)arg;
  while (!stop) {
    item *root = item_make(0), *next = item_make(0), *other = item_make(0);
    root->next = next;
    watcher w[3] = {{0}};
    watch(root, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[0]);
    watch(next, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[1]);
    watch(root, "name", KVO_NONE, &w[2]);
    item_set_value(next, 1);
    item_set_next(root, other);
    kvo_cancel_observer(w[2].id);
    item_destroy(root);
    item_destroy(next);
    item_destroy(other);
  }
  return NULL;
}

TEST("a snapshot is consistent while other threads register, remove and destroy") {
  item *constant = item_make(0);
  watcher w = {0};
  watch(constant, "other", KVO_NEW, &w);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, churn, NULL);
  int seen = 0;
  for (int i = 0; i < 300 || seen < 50; i++) {
    kvo_graph *graph = NULL;
    CHECK_OK(kvo_snapshot(&graph));
    CHECK_SAME(graph->objects[0].object, constant);
    for (size_t each = 0; each < graph->observation_count; each++) {
      const kvo_graph_observation *of = &graph->observations[each];
      bool is_path = strcmp(of->key_path, "next.value") == 0;
      CHECK_EQ(of->kind == KVO_GRAPH_EXPRESSION, is_path);
      CHECK(of->edge_count <= (is_path ? 3 : 0)); /* the present edges, and one more of an evaluation in progress */
      CHECK_EQ(graph->objects[of->object].class_name, "Item");
      seen += is_path && of->edge_count == 2;
    }
    kvo_graph_free(graph);
  }
  stop = 1;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  kvo_cancel_observer(w.id);
  item_destroy(constant);
}
