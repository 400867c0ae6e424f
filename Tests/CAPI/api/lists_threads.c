/* lists_threads.c - lists that several threads change, observe and read; also for ThreadSanitizer. */
#include "basket.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 2000 };

static _Atomic int notified;
static _Atomic bool over;

static void count_elements(const kvo_change *change, void *user_data) {
  (void)user_data;
  size_t expected = change->kind == KVO_CHANGE_REMOVAL || change->is_prior ? 0 : change->index_count;
  CHECK_EQ(kvo_change_count(change, KVO_NEW), expected);
  notified++;
}

static kvo_observation observe(basket *object, int options) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "prices",
                           .callback = count_elements,
                           .options = (kvo_options)options};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_kvo(object), &observer, &id));
  return id;
}

/* Each thread has a list of its own: the program's storage is not the runtime's to protect. */
static void *change_list(void *arg) {
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_OK(kvo_list_insert(arg, "prices", 0, KVO_VALUE(double, i)));
    CHECK_OK(kvo_list_replace(arg, "prices", 0, KVO_VALUE(int, i)));
    CHECK_OK(kvo_list_remove(arg, "prices", 0));
  }
  return NULL;
}

static void *observe_all(void *arg) {
  while (!over)
    for (int i = 0; i < THREADS; i++)
      CHECK_OK(kvo_cancel_observer_and_wait(observe(((basket **)arg)[i], KVO_NEW | KVO_OLD)));
  return NULL;
}

TEST("lists are observed while other threads change them") {
  basket *objects[THREADS];
  pthread_t threads[THREADS], other;
  kvo_observation ids[THREADS];
  for (int i = 0; i < THREADS; i++) {
    objects[i] = basket_make("b", 0);
    ids[i] = observe(objects[i], KVO_NEW | KVO_OLD | KVO_PRIOR);
  }
  pthread_create(&other, NULL, observe_all, objects);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, change_list, objects[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  over = true;
  pthread_join(other, NULL);
  for (int i = 0; i < THREADS; i++) {
    CHECK_OK(kvo_remove_observer(ids[i]));
    basket_destroy(objects[i]);
  }
  CHECK(notified >= THREADS * ROUNDS * 3);
}

static void *read_paths(void *arg) {
  double number;
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_OK(kvo_get_double(arg, "items.@sum.total", &number));
    CHECK_EQ(number, 6.0);
    CHECK_STATUS(kvo_get_double(arg, "items.@sum.title", &number), KVO_ERROR_TYPE_MISMATCH);
    CHECK_CONTAINS(kvo_last_error(), "items.@sum.title");
  }
  return NULL;
}

TEST("key paths are read on several threads, each with its own last error") {
  basket *root = basket_make("root", 0);
  pthread_t threads[THREADS];
  for (int i = 0; i < 3; i++)
    CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(basket_make("b", i + 1)))));
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, read_paths, root);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < 3; i++) basket_destroy(root->items[i]);
  basket_destroy(root);
}
