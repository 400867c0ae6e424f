/* deferred.c - the queue of deliveries that would have nested too deeply. They are made by unwind.c. */
#include "expressions/deliver.h"

enum { DEFERRED_BUCKETS = 256 };

typedef struct kvo_deferrals {
  kvo_deferred *first, *last, *buckets[DEFERRED_BUCKETS];
} kvo_deferrals;

kvo_tracked *kvo__deferred_tracked(const kvo_deferred *of) {
  return kvo__node_kind(of->node) == KVO_NODE_ANCHOR ? of->node->user_data : NULL;
}

static void deferred_let_go(kvo_deferred *of) {
  if (kvo__deferred_tracked(of) != NULL)
    kvo__tracked_release(kvo__deferred_tracked(of));
  else
    kvo__leave(of->info, of->entered);
  kvo__free(of);
}

static bool deferred_is_in_progress(const kvo_thread *self, const kvo_node *node) {
  for (uint32_t i = atomic_load(&self->depth); i > 0; i--)
    if (kvo__is_delivery(kvo__mark_at(i - 1)) && kvo__mark_at(i - 1)->node == node) return true;
  return false;
}

/* NULL also if the observation is being removed: who enters after that keeps nothing. */
static kvo_deferred *deferred_make(kvo_deferred **link, const kvo_node *node) {
  kvo_deferred *made = kvo__alloc(sizeof *made);
  if (made == NULL) return NULL;
  made->node = node;
  if (kvo__deferred_tracked(made) != NULL) {
    kvo__tracked_retain(kvo__deferred_tracked(made));
  } else {
    made->info = kvo__slot_info(atomic_load_explicit(&node->slot, memory_order_relaxed));
    made->entered = kvo__enter(made->info);
  }
  if (!atomic_load(&node->live)) {
    deferred_let_go(made);
    return NULL;
  }
  return *link = made;
}

void kvo__defer(const kvo_node *node) {
  kvo__assert(kvo__own.thread != NULL);
  kvo_thread *self = kvo__own.thread;
  if (self->unwinding.all == NULL) self->unwinding.all = kvo__alloc(sizeof(kvo_deferrals));
  kvo_deferrals *all = self->unwinding.all;
  if (all == NULL) return; /* the delivery is lost; KVO0023 or KVO0024 was reported */
  kvo_deferred **link = &all->buckets[(uintptr_t)node / sizeof *node % DEFERRED_BUCKETS];
  while (*link != NULL && (*link)->node != node) link = &(*link)->other;
  kvo_deferred *present = *link;
  if (present != NULL && present->is_queued) return;
  if (present == NULL) present = deferred_make(link, node);
  if (present == NULL) return;
  present->is_in_cycle |= deferred_is_in_progress(self, node);
  present->is_queued = true;
  present->next = NULL;
  if (all->first == NULL)
    all->first = present;
  else
    all->last->next = present;
  all->last = present;
}

kvo_deferred *kvo__deferred_take(const kvo_unwinding *from) {
  kvo_deferred *first = from->all != NULL ? from->all->first : NULL;
  if (first == NULL) return NULL;
  from->all->first = first->next;
  first->is_queued = false;
  return first;
}

void kvo__deferred_let_go(const kvo_unwinding *of) {
  kvo_deferrals *all = of->all;
  for (size_t i = 0; all != NULL && i < DEFERRED_BUCKETS; i++)
    while (all->buckets[i] != NULL) {
      kvo_deferred *each = all->buckets[i];
      all->buckets[i] = each->other;
      deferred_let_go(each);
    }
  kvo__free(all);
}
