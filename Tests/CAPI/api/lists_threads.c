/* lists_threads.c - lists that several threads change and observe; also for ThreadSanitizer. */
#include "basket.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 2000 };

static atomic_int told;
static atomic_bool over;

static void count_elements(const kvo_change *change, void *user_data) {
  (void)user_data;
  size_t expected = change->kind == KVO_CHANGE_REMOVAL || change->is_prior ? 0 : change->index_count;
  CHECK_EQ(kvo_change_count(change, KVO_NEW), expected);
  atomic_fetch_add(&told, 1);
}

/* Each thread has a list of its own: the program's storage is not the runtime's to protect. */
static void *change_list(void *arg) {
  basket *object = arg;
  for (int i = 0; i < ROUNDS; i++) {
    CHECK_OK(kvo_list_insert(as_kvo(object), "prices", 0, KVO_VALUE(double, i)));
    CHECK_OK(kvo_list_replace(as_kvo(object), "prices", 0, KVO_VALUE(int, i)));
    CHECK_OK(kvo_list_remove(as_kvo(object), "prices", 0));
  }
  return NULL;
}

static void *observe_all(void *arg) {
  basket **objects = arg;
  while (!atomic_load(&over))
    for (int i = 0; i < THREADS; i++) {
      kvo_observer observer = {.struct_size = sizeof observer,
                               .key_path = "prices",
                               .callback = count_elements,
                               .options = KVO_NEW | KVO_OLD};
      kvo_observation id;
      CHECK_OK(kvo_add_observer(as_kvo(objects[i]), &observer, &id));
      CHECK_OK(kvo_cancel_observer_and_wait(id));
    }
  return NULL;
}

TEST("lists are observed while other threads change them") {
  basket *objects[THREADS];
  pthread_t threads[THREADS], other;
  kvo_observation ids[THREADS];
  for (int i = 0; i < THREADS; i++) {
    objects[i] = basket_make("b", 0);
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "prices",
                             .callback = count_elements,
                             .options = KVO_NEW | KVO_OLD | KVO_PRIOR};
    CHECK_OK(kvo_add_observer(as_kvo(objects[i]), &observer, &ids[i]));
  }
  pthread_create(&other, NULL, observe_all, objects);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, change_list, objects[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  atomic_store(&over, true);
  pthread_join(other, NULL);
  for (int i = 0; i < THREADS; i++) {
    CHECK_OK(kvo_remove_observer(ids[i]));
    basket_destroy(objects[i]);
  }
  CHECK(atomic_load(&told) >= THREADS * ROUNDS * 3);
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
