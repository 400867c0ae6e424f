/* silent.c - the silent changes in progress on a thread: those that a scope silences, between the store or the will and what follows it.
 * Then the expressions that depend on the key are evaluated, so that a death meanwhile need not do it. */
#include "registry/registry.h"

static void remove_at(kvo_silent_changes *all, uint32_t i) {
  all->count--;
  memmove(&all->open[i], &all->open[i + 1], (all->count - i) * sizeof all->open[0]);
}

/* The newest one of this key; the count if there is none. */
static uint32_t find(const kvo_silent_changes *all, const kvo_object *object, kvo_key key) {
  for (uint32_t i = all->count; i-- > 0;)
    if (all->open[i].object == object && all->open[i].key == key) return i;
  return all->count;
}

void kvo__silent_begin(const kvo_object *object, kvo_key key) {
  if (kvo__own.thread == NULL) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  if (all->count == KVO_MAX_SILENT) remove_at(all, 0);
  all->open[all->count].object = object;
  all->open[all->count].key = key;
  all->open[all->count].scope = kvo__own.scopes;
  all->count++;
}

bool kvo__silent_is_open(const kvo_object *object, kvo_key key) {
  const kvo_thread *self = kvo__own.thread;
  return self != NULL && find(&self->silent, object, key) < self->silent.count;
}

void kvo__silent_end(const kvo_object *object, kvo_key key) {
  if (!kvo__silent_is_open(object, key)) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  remove_at(all, find(all, object, key));
}

void kvo__silent_scope_ends(const kvo_open_scope *scope) {
  kvo_silent_changes *all = &kvo__own.thread->silent;
  for (uint32_t i = all->count; i-- > 0;)
    if (all->open[i].scope == scope) remove_at(all, i);
}

void kvo__silent_forget(const kvo_object *object) {
  if (kvo__own.thread == NULL) return;
  kvo_silent_changes *all = &kvo__own.thread->silent;
  for (uint32_t i = all->count; i-- > 0;)
    if (all->open[i].object == object) remove_at(all, i);
}
