/* threads_unrecorded.c - threads without memory for their records: what is observed is still notified. */
#include "fixture.h"
#include "shared.h"

#include <dlfcn.h>
#include <kvo/kvo_binding.h>
#include <malloc.h>

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

/* A new thread has no record yet. */
static void on_new_thread(void (*body)(void *arg)) {
  join_thread(start_thread(body, NULL));
  refuses = false;
}

static item *object;
static watcher direct, path;

static void set_unrecorded(void *arg) {
  refuses = true;
  item_set_value(object, 1);
  kvo_mute mute;
  kvo_mute_begin(&mute, as_object(object), kvo_key_hash("value", 5));
  item_set_value(object, 2); /* notifies nobody */
  kvo_mute_end(&mute);
  item_set_value(object, 3);
}

TEST("a thread without memory for its record notifies observers of keys and of key paths, and mutes changes") {
  item *first = item_make(0);
  object = item_make(0);
  item_set_next(first, object);
  watch(object, "value", KVO_NEW, &direct);
  watch(first, "next.value", KVO_NEW, &path);
  refused = 0;
  on_new_thread(set_unrecorded);
  CHECK(refused > 0);
  CHECK_NEW(direct, 2, 3);
  CHECK_NEW(path, 2, 3);
  CHECK_OK(kvo_remove_observer(direct.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(first);
  item_destroy(object);
}
