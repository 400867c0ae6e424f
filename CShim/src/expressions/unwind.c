/* unwind.c - makes deliveries that would have nested too deeply: they are deferred until others have returned, and then get the present
 * value.
 *
 * So no observer keeps an old value because a limit was reached. While the deliveries in progress return, no other nests in them: if an
 * observer makes several changes, each would nest as deep again, which takes time exponential in the depth. Afterwards a cycle may start
 * again, but not for ever. */
#include "expressions/deliver.h"

enum {
  /** After this much depth in total, deliveries that belong to a cycle are dropped; others are then still made this many times. An
   * expression whose deliveries are dropped is still evaluated about as often. */
  MAX_TOTAL_DEPTH = 100000,
  MAX_LATE = 100,
};

bool kvo__hold_object(kvo_info *info, const kvo_node *node, const void *frame, uint32_t *mark) {
  atomic_fetch_add(&kvo__threads.unwinding, 1);
  kvo__lock(&info->lock);
  bool live = (atomic_load(&info->state) & KVO_STATE_DEAD) == 0 && atomic_load(&node->live);
  *mark = live ? kvo__mark(node->id, info, NULL, NULL) : KVO_UNMARKED;
  kvo__unlock(&info->lock);
  if (!live) atomic_fetch_sub(&kvo__threads.unwinding, 1);
  if (live && *mark != KVO_UNMARKED) {
    kvo__mark_at(*mark)->recorder = kvo__own.recorder;
    /* It encloses the delivery, which may have the same frame. */
    __atomic_store_n(&kvo__mark_at(*mark)->frame, (const char *)frame + 1, __ATOMIC_RELAXED);
  }
  return live;
}

void kvo__let_go_of_object(uint32_t mark) {
  kvo__unmark(mark);
  atomic_fetch_sub(&kvo__threads.unwinding, 1);
}

/* The object is held. */
static void unwind_call(kvo_node *node, kvo_info *info, const void *old_value) {
  const kvo_property *property = kvo__slot_property(info, atomic_load(&node->slot));
  void *value =
      property != NULL && (node->options & KVO_NEW) != 0 ? kvo__property_copy(property, info->object, NULL) : NULL;
  kvo_raw_change record = {
      .object = info->object,
      .instance = kvo_object_instance(info->object),
      .changed = info->object,
      .property = property,
      .old_value = (node->options & KVO_OLD) != 0 ? old_value : NULL,
      .new_value = value,
      .kind = KVO_CHANGE_SETTING,
      .observation = node->id,
  };
  kvo__call_direct(&record, node);
  if (value != NULL) kvo__property_release(property, value);
}

/* The change that it missed is over, and the object may die on another thread. */
void kvo__deliver_present(kvo_node *node, kvo_info *info, const void *old_value) {
  uint32_t mark;
  if (kvo__node_misses(node, KVO_CHANGE_SETTING, NULL, 0) ||
      !kvo__hold_object(info, node, __builtin_frame_address(0), &mark))
    return;
  bool is_kept = kvo__info_retain(info);
  unwind_call(node, info, old_value);
  kvo__let_go_of_object(mark);
  if (is_kept) kvo__info_release(info);
}

void kvo__deliver_missed(kvo_node *node, kvo_info *info, const void *old_value) {
  uint32_t mark;
  if (!kvo__hold_object(info, node, __builtin_frame_address(0), &mark)) return;
  bool is_kept = kvo__info_retain(info), is_alive = is_kept || !kvo__info_counts(info);
  kvo__let_go_of_object(mark);
  if (is_alive && (node->options & KVO_NODE_BINDS) != 0)
    kvo__hooks.settle(node); /* another thread may be settling it */
  else if (is_alive)
    kvo__deliver_present(node, info, old_value);
  if (is_kept) kvo__info_release(info);
}

/* Makes a delivery or, of an endless cycle, drops it: its observer knows what it sets itself. An expression must nevertheless follow the
 * objects that it depends on now. Not inlined: a delivery in the stack frame of the loop would look as if the loop had been left
 * (kvo__is_left). */
__attribute__((noinline)) static void unwind_deliver(kvo_deferred *next, bool ends) {
  kvo_tracked *tracked = kvo__deferred_tracked(next);
  if (ends) next->late++;
  if (ends && (next->is_in_cycle || next->late > MAX_LATE)) {
    if (tracked != NULL) atomic_store(&tracked->is_stale, false); /* it is not told any more */
    if (tracked != NULL && next->late <= 2 * MAX_LATE) kvo__tracked_react(tracked, KVO_STORED_SILENTLY, NULL);
  } else if (tracked != NULL) {
    kvo__tracked_react(tracked, KVO_RELEASED, NULL);
  } else {
    kvo__deliver_missed((kvo_node *)(uintptr_t)next->node, next->info, NULL);
  }
}

/* The depth at which half of the deliveries have returned, so that another one is within the limit then. Other calls do not count: there a
 * delivery would be deferred again, without end, as long as the outermost one is in progress. */
static uint32_t half(const kvo_thread *self) {
  uint32_t depth = atomic_load(&self->depth);
  size_t all;
  kvo__deliveries(self, NULL, 0, &all);
  if (all == 0) return depth / 2;
  for (uint32_t i = 0, outer = 0; i < depth; i++)
    if (kvo__is_delivery(kvo__mark_at(i)) && outer++ == all / 2) return i;
  return 0;
}

/* The depth at which the present cycle began; without a cycle half of the depth. Not necessarily 0, because the whole program may run in a
 * callback. */
static uint32_t beginning(const kvo_thread *self) {
  enum { EXAMINED = 32 };
  uint32_t depth = atomic_load(&self->depth), first = depth > EXAMINED ? depth - EXAMINED : 0;
  for (uint32_t i = 0; i < depth / 2; i++)
    for (uint32_t inner = depth; inner > first && inner > i + 1 && kvo__is_delivery(kvo__mark_at(i)); inner--)
      if (kvo__mark_at(inner - 1)->node == kvo__mark_at(i)->node) return i;
  return half(self);
}

void kvo__unwind_begin(kvo_thread *self, bool gives_up) {
  kvo__assert(self == kvo__own.thread);
  kvo_unwinding *unwinding = &self->unwinding;
  if (!unwinding->is_begun) atomic_fetch_add(&kvo__threads.unwinding, 1);
  if (unwinding->frame == NULL) unwinding->depth = beginning(self);
  unwinding->total_depth += atomic_load(&self->depth);
  unwinding->gives_up |= gives_up;
  unwinding->is_begun = unwinding->is_on = true;
  self->limit = 0;
}

/* Deliveries may nest again. */
static void nest(kvo_thread *self) {
  self->unwinding.is_on = false;
  self->limit = kvo__limit_of(self);
}

static void unwind_stop(kvo_unwinding *unwinding) {
  kvo_unwinding over = *unwinding;
  *unwinding = (kvo_unwinding){.all = NULL};
  atomic_fetch_sub(&kvo__threads.unwinding, 1);
  kvo__deferred_let_go(&over); /* may run code of the program */
}

void kvo__unwind_if_due(kvo_thread *self, uint32_t depth) {
  kvo__assert(self == kvo__own.thread);
  kvo_unwinding *unwinding = &self->unwinding;
  if (!unwinding->is_on || depth > unwinding->depth || unwinding->frame != NULL || atomic_load(&self->sections) != 0)
    return;
  unwinding->frame = __builtin_frame_address(0);
  unwinding->depth = depth;
  nest(self);
  for (kvo_deferred *next = kvo__deferred_take(unwinding); next != NULL; next = kvo__deferred_take(unwinding)) {
    unwind_deliver(next, unwinding->gives_up || unwinding->total_depth > MAX_TOTAL_DEPTH);
    nest(self);
  }
  unwind_stop(unwinding);
}

void kvo__unwind_left(kvo_thread *self) {
  kvo__assert(self == kvo__own.thread);
  self->unwinding.frame = NULL;
  self->unwinding.is_on = true;
  self->limit = 0;
}

void kvo__unwind_drop(kvo_thread *self) {
  kvo__assert(self == kvo__own.thread);
  if (self->unwinding.is_begun) unwind_stop(&self->unwinding);
}
