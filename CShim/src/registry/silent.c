/* silent.c - the silent changes in progress on a thread: those that a scope silences, between the store or the will and what follows it.
 * Then the expressions that depend on the key are evaluated, so that a death meanwhile need not do it. Each counts as a reader of its
 * object, as a change that notifies does: other threads see that a change is in progress. */
#include "registry/registry.h"

/* May free nodes and run code of the program. */
static void remove_at(kvo_silent_changes *all, uint32_t i) {
  kvo_silent_change over = all->open[i];
  all->count--;
  memmove(&all->open[i], &all->open[i + 1], (all->count - i) * sizeof all->open[0]);
  kvo__leave(over.info, over.entered);
}

/* The newest one of this key; the count if there is none. */
static uint32_t find(const kvo_silent_changes *all, const kvo_info *info, kvo_key key) {
  for (uint32_t i = all->count; i-- > 0;)
    if (all->open[i].info == info && all->open[i].key == key) return i;
  return all->count;
}

void kvo__silent_begin(kvo_info *info, kvo_key key) {
  if (kvo__own.thread == NULL) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  if (all->count == KVO_MAX_SILENT) remove_at(all, 0);
  if (all->count == KVO_MAX_SILENT) return; /* it has run code that has begun others */
  all->open[all->count++] = (kvo_silent_change){info, key, kvo__enter(info), kvo__own.thread->scopes};
}

bool kvo__silent_is_open(const kvo_info *info, kvo_key key) {
  const kvo_thread *self = kvo__own.thread;
  return self != NULL && find(&self->silent, info, key) < self->silent.count;
}

void kvo__silent_end(const kvo_info *info, kvo_key key) {
  if (!kvo__silent_is_open(info, key)) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  remove_at(all, find(all, info, key));
}

void kvo__silent_scope_ends(const kvo_open_scope *scope) {
  kvo_silent_changes *all = &kvo__own.thread->silent;
  uint32_t i = 0;
  while (i < all->count) {
    if (all->open[i].scope != scope) {
      i++;
      continue;
    }
    remove_at(all, i);
    i = 0; /* it may have changed the list */
  }
}
