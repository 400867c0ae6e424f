/* silent.c - the silent changes in progress on a thread: those that a scope silences, between the store or the will and what follows it.
 * Then the expressions that depend on the key are evaluated, so that a death meanwhile need not do it. Each counts as a reader of its
 * object, as a change that notifies does: other threads see that a change is in progress. */
#include "registry/registry.h"

#include <stdlib.h>

static kvo_silent_change *open_in(kvo_silent_changes *all) { return all->many != NULL ? all->many : all->few; }

/* Makes room for one more. From the C library, as the record that owns it. */
static bool silent_has_room(kvo_silent_changes *all) {
  uint32_t capacity = all->many != NULL ? all->capacity : KVO_FEW_SILENT;
  if (all->count < capacity) return true;
  kvo_silent_change *more = malloc(2 * (size_t)capacity * sizeof *more);
  if (more == NULL) return false;
  memcpy(more, open_in(all), all->count * sizeof *more);
  free(all->many);
  all->many = more;
  all->capacity = 2 * capacity;
  return true;
}

/* May free nodes and run code of the program. */
static void silent_remove_at(kvo_silent_changes *all, uint32_t i) {
  kvo_silent_change *open = open_in(all), over = open[i];
  all->count--;
  memmove(&open[i], &open[i + 1], (all->count - i) * sizeof *open);
  kvo__leave(over.info, over.entered);
}

/* The newest one of this key; the count if there is none. */
static uint32_t silent_find(kvo_silent_changes *all, const kvo_info *info, kvo_key key) {
  const kvo_silent_change *open = open_in(all);
  for (uint32_t i = all->count; i-- > 0;)
    if (open[i].info == info && open[i].key == key) return i;
  return all->count;
}

void kvo__silent_begin(kvo_info *info, kvo_key key) {
  if (kvo__own.thread == NULL) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  if (!silent_has_room(all)) silent_remove_at(all, 0);
  if (!silent_has_room(all)) return; /* it has run code that has begun others */
  open_in(all)[all->count++] = (kvo_silent_change){info, key, kvo__enter(info), kvo__own.thread->scopes};
}

bool kvo__silent_is_open(const kvo_info *info, kvo_key key) {
  kvo_thread *self = kvo__own.thread;
  return self != NULL && silent_find(&self->silent, info, key) < self->silent.count;
}

void kvo__silent_end(const kvo_info *info, kvo_key key) {
  if (!kvo__silent_is_open(info, key)) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  silent_remove_at(all, silent_find(all, info, key));
}

void kvo__silent_scope_ends(const kvo_open_scope *scope) {
  kvo_silent_changes *all = &kvo__own.thread->silent;
  uint32_t i = 0;
  while (i < all->count) {
    if (open_in(all)[i].scope != scope) {
      i++;
      continue;
    }
    silent_remove_at(all, i);
    i = 0; /* it may have changed the list */
  }
}
