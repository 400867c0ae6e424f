/* unobserved.c - changes that a thread announced by hand while nobody observed the key. An observer registered between such a will and its
 * did is not notified of that change, and the did is no misuse. */
#include "registry/registry.h"

typedef kvo_unobserved_changes changes;

static changes *own_changes(void) { return kvo__own.thread != NULL ? &kvo__own.thread->unobserved : NULL; }

/* The newest one of this key; the count if there is none. */
static uint32_t unobserved_find(const changes *all, const kvo_object *object, kvo_key key) {
  for (uint32_t i = all->count; i-- > 0;)
    if (all->open[i].object == object && all->open[i].key == key) return i;
  return all->count;
}

static void unobserved_remove_at(changes *all, uint32_t i) {
  all->count--;
  memmove(&all->open[i], &all->open[i + 1], (all->count - i) * sizeof all->open[0]);
}

void kvo__unobserved_will(const kvo_object *object, kvo_key key, bool tells) {
  changes *all = kvo__thread() != NULL ? own_changes() : NULL;
  if (all == NULL) kvo__own.lost_unobserved = true;
  if (all == NULL) return;
  if (all->count == KVO_MAX_UNOBSERVED) {
    if (all->forgotten++ == 0) all->registered = all->open[0].registered;
    unobserved_remove_at(all, 0);
  }
  all->open[all->count].object = object;
  all->open[all->count].key = key;
  all->open[all->count].registered = tells ? atomic_load_explicit(&kvo__births, memory_order_relaxed) : 0;
  all->count++;
}

bool kvo__unobserved_is_open(const kvo_object *object, kvo_key key) {
  const changes *all = own_changes();
  return all != NULL && unobserved_find(all, object, key) < all->count;
}

bool kvo__unobserved_may_be_open(const kvo_object *object, kvo_key key) {
  const changes *all = own_changes();
  return kvo__own.lost_unobserved || (all != NULL && all->forgotten != 0) || kvo__unobserved_is_open(object, key);
}

bool kvo__unobserved_did(const kvo_object *object, kvo_key key, uint64_t *registered) {
  *registered = 0;
  changes *all = own_changes();
  uint32_t at = all != NULL ? unobserved_find(all, object, key) : 0;
  if (all == NULL || at == all->count) {
    if (all == NULL || all->forgotten == 0) return kvo__own.lost_unobserved;
    all->forgotten--;
    *registered = all->registered; /* of the oldest: a path that was registered after it is not told, but follows */
    return true;
  }
  *registered = all->open[at].registered;
  unobserved_remove_at(all, at);
  return true;
}

void kvo__unobserved_forget(const kvo_object *object) {
  changes *all = own_changes();
  uint32_t kept = 0;
  for (uint32_t i = 0; all != NULL && i < all->count; i++)
    if (all->open[i].object != object) all->open[kept++] = all->open[i];
  if (all != NULL) all->count = kept;
}
