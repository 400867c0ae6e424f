/* serving_threads.c - clients ask for everything while other threads register, set, remove, destroy and fork. */
#include "served.h"
#include "shared.h"

#include <unistd.h>

enum { WORKERS = 3, CLIENTS = 3, FORKS = 20 };

static _Atomic int stop;
static item *common;
/* More than the usual stack of the server's thread has room for. */
static _Thread_local char large[1 << 18];

static void work(void *arg) {
  large[0] = 1;
  while (!stop) {
    item *root = item_make(0), *next = item_make(0);
    root->next = next;
    watcher w[2] = {{0}};
    watch(root, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[0]);
    watch(next, "value", KVO_NEW, &w[1]);
    for (int i = 0; i < 20; i++) {
      item_set_value(next, i);
      kvo_will_change(as_object(common), "other");
      kvo_did_change(as_object(common), "other");
    }
    kvo_cancel_observer(w[1].id);
    item_destroy(root);
    item_destroy(next);
  }
}

/* Asks for traces if `arg` is not NULL, otherwise for the rest. */
static void ask_often(void *arg) {
  static const char *const requests[] = {
      "stats 10 3", "graph", "graph dot", "who 10 Item.value", "who 0 Item.next.value", "stats"};
  int count = rounds(120);
  for (int i = 0; i < count; i++) answer_to(arg != NULL ? "trace 5" : requests[i % 6]);
}

TEST("clients are answered while threads register, set, remove and destroy, and the program forks") {
  running *workers[WORKERS], *clients[CLIENTS];
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  common = item_make(0);
  kvo_observation id = observe_by(as_object(common), "other", KVO_NONE, ignore_change, NULL);
  for (int i = 0; i < WORKERS; i++) workers[i] = start_thread(work, NULL);
  usleep(20000);
  for (int i = 0; i < CLIENTS; i++) clients[i] = start_thread(ask_often, i == 0 ? common : NULL);
  for (int i = 0; i < FORKS; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      item_set_value(common, i);
      _exit(0);
    }
    CHECK_EQ(status_of(child), 0);
  }
  for (int i = 0; i < CLIENTS; i++) join_thread(clients[i]);
  stop = 1;
  for (int i = 0; i < WORKERS; i++) join_thread(workers[i]);
  kvo_cancel_observer(id);
  item_destroy(common);
}
