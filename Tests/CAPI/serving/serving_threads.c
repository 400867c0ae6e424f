/* serving_threads.c - clients ask for everything while other threads register, set, remove and destroy. */
#include "asking.h"
#include "fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3 };

static _Atomic int stop;
static item *common;

static void *work(void *arg) {
  watcher *own = arg;
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
    own->then_arg = own;
  }
  return NULL;
}

static void ignore(const kvo_change *change, void *arg) { (void)change, (void)arg; }

static void *ask_often(void *arg) {
  static const char *const requests[] = {
      "stats 10 3", "graph", "graph dot", "who 10 Item.value", "who 0 Item.next.value", "hello"};
  const int *rounds = arg;
  for (int i = 0; i < *rounds; i++) free(ask_well(requests[i % 6]));
  return NULL;
}

static void *trace_often(void *arg) {
  const int *rounds = arg;
  for (int i = 0; i < *rounds; i++) free(ask_well("trace 5"));
  return NULL;
}

TEST("figures, graphs, traces and observers are told while threads register, set, remove and destroy") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  common = item_make(0);
  kvo_observation id;
  CHECK_OK(kvo_add_observer(
      as_object(common),
      &(kvo_observer){.struct_size = sizeof(kvo_observer), .key_path = "other", .callback = ignore, KVO_HERE}, &id));
  pthread_t threads[WORKERS], clients[3];
  watcher own[WORKERS] = {{0}};
  int rounds = harness_is_instrumented() ? 30 : 120;
  for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, &own[i]);
  pthread_create(&clients[0], NULL, ask_often, &rounds);
  pthread_create(&clients[1], NULL, ask_often, &rounds);
  pthread_create(&clients[2], NULL, trace_often, &rounds);
  for (int i = 0; i < 3; i++) pthread_join(clients[i], NULL);
  stop = 1;
  for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
  kvo_cancel_observer(id);
  item_destroy(common);
}

TEST("a program forks and exits while clients are served and threads work") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  common = item_make(0);
  pthread_t threads[WORKERS], client;
  watcher own[WORKERS] = {{0}};
  int rounds = harness_is_instrumented() ? 20 : 60;
  for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, work, &own[i]);
  usleep(20000);
  pthread_create(&client, NULL, ask_often, &rounds);
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      item_set_value(common, i);
      _exit(0);
    }
    int status;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
  }
  pthread_join(client, NULL);
  stop = 1;
  for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
  item_destroy(common);
}
