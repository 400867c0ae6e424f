/* lists_threads.c - key paths through lists that several threads read; also for ThreadSanitizer. */
#include "basket.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 2000 };

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
