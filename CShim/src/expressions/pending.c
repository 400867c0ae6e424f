/* pending.c - the will phases of changes in progress: the old values of the expressions that will be notified. */
#include "expressions/tracked.h"

#include <stdlib.h>

/* A thread has memory for one will phase of a change that does not leave it, which is enough unless changes nest. Not on the stack: a frame
 * that is left with longjmp is still in the list. */
_Static_assert(sizeof(kvo_will_phase) <= sizeof((kvo_thread){0}.usual_will), "KVO_WILL_WORDS is too small");

static kvo_will_phase *innermost(void) { return kvo__own.thread != NULL ? kvo__own.thread->wills : NULL; }

/* ------------------------------------------------------------------------------------------------------------ Values -- */

/* The place in the table of the expression's position, or the free place where it would be. */
static uint32_t *place_of(const kvo_will_phase *will, const kvo_tracked *tracked) {
  size_t mask = 2 * will->capacity - 1; /* a power of 2 */
  size_t at = (size_t)((((uint64_t)(uintptr_t)tracked >> 4) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
  while (will->positions[at] != 0 && will->pending[will->positions[at] - 1].tracked != tracked) at = (at + 1) & mask;
  return &will->positions[at];
}

static void fill_table(kvo_will_phase *will) {
  memset(will->positions, 0, 2 * will->capacity * sizeof will->positions[0]);
  for (uint32_t i = 0; i < will->count; i++) {
    uint32_t *place = will->pending[i].tracked != NULL ? place_of(will, will->pending[i].tracked) : NULL;
    if (place != NULL && *place == 0) *place = i + 1;
  }
}

/* Makes room for more values than there can be now. */
static bool grow(kvo_will_phase *will) {
  enum { GROWTH = 4, FEW = 4 };
  size_t capacity = GROWTH * will->capacity;
  if (capacity > UINT32_MAX) return false;
  kvo_pending_value *more = kvo__alloc(capacity * sizeof *more);
  uint32_t *positions = more != NULL && capacity > FEW ? kvo__alloc(2 * capacity * sizeof *positions) : NULL;
  if (more == NULL || (positions == NULL && capacity > FEW)) {
    kvo__free(more);
    return false;
  }
  memcpy(more, will->pending, will->count * sizeof *more);
  if (will->pending != &will->first) kvo__free(will->pending);
  kvo__free(will->positions);
  will->pending = more;
  will->positions = positions;
  will->capacity = capacity;
  if (positions != NULL) fill_table(will);
  return true;
}

bool kvo__pending_add(kvo_will_phase *will, kvo_pending_value value) {
  kvo_thread *self = kvo__thread();
  if (self == NULL || (will->count == will->capacity && !grow(will))) return false;
  if (value.serial == 0) value.serial = ++self->will_serials;
  will->pending[will->count++] = value;
  if (will->positions == NULL) return true;
  uint32_t *place = place_of(will, value.tracked);
  if (*place == 0) *place = (uint32_t)will->count;
  return true;
}

bool kvo__pending_move(kvo_pending_value *value, kvo_will_phase *to) {
  if (!kvo__pending_add(to, *value)) return false;
  *value = (kvo_pending_value){.delivered = true};
  return true;
}

kvo_pending_value *kvo__pending_of(const kvo_tracked *tracked, const kvo_will_phase *will) {
  if (will->positions != NULL) {
    uint32_t position = *place_of(will, tracked);
    return position != 0 ? &will->pending[position - 1] : NULL;
  }
  for (size_t i = 0; i < will->count; i++)
    if (will->pending[i].tracked == tracked) return &will->pending[i];
  return NULL;
}

static uint64_t order_of(const kvo_pending_value *of) { return of->tracked != NULL ? of->tracked->order : 0; }

static int by_order(const void *left, const void *right) {
  uint64_t one = order_of(left), other = order_of(right);
  return (one > other) - (one < other);
}

void kvo__pending_sort(kvo_will_phase *will) {
  if (will->count > 1) qsort(will->pending, will->count, sizeof will->pending[0], by_order);
  if (will->positions != NULL) fill_table(will);
}

void kvo__pending_told(const kvo_tracked *tracked, kvo_will_phase *will) {
  kvo_pending_value *pending = kvo__pending_of(tracked, will);
  if (pending != NULL) pending->delivered = true;
}

/* Releases the values. Their release functions may do anything. */
static void give_back(kvo_will_phase *will) {
  for (size_t i = will->count; i-- > 0;) {
    kvo_pending_value *pending = &will->pending[i];
    kvo_tracked *tracked = pending->tracked;
    if (tracked == NULL) continue; /* moved */
    if (pending->value != NULL) tracked->ops->release(pending->value, tracked->user_data);
    kvo__cell_release(tracked, pending->last);
    kvo__tracked_release(tracked);
  }
  if (will->pending != &will->first) kvo__free(will->pending);
  kvo__free(will->positions);
  kvo_thread *self = kvo__own.thread;
  if (self != NULL && (void *)will == self->usual_will)
    self->usual_will_is_used = false;
  else
    kvo__free(will);
}

/* ------------------------------------------------------------------------------------------------------------ Phases -- */

kvo_will_phase *kvo__will_begin(const kvo_info *info, kvo_slot *slot, const void *telling, bool stays) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) return NULL;
  bool is_usual = stays && !self->usual_will_is_used;
  kvo_will_phase *will = is_usual ? (void *)self->usual_will : kvo__alloc(sizeof *will);
  if (will == NULL) return NULL;
  if (is_usual) self->usual_will_is_used = true;
  will->info = info;
  will->slot = slot;
  will->if_changed = false;
  will->pending = &will->first;
  will->count = 0;
  will->capacity = 1;
  will->positions = NULL;
  will->telling = telling;
  will->frame = NULL;
  will->thread = self;
  will->inner = NULL;
  will->outer = self->wills;
  if (will->outer != NULL) will->outer->inner = will;
  return self->wills = will;
}

kvo_will_phase *kvo__will_begin_scope(bool if_changed) {
  kvo_will_phase *will = kvo__will_begin(NULL, NULL, NULL, false);
  if (will != NULL) will->if_changed = if_changed;
  return will;
}

void kvo__will_bind(kvo_will_phase *will, const void *frame) {
  will->frame = frame;
  if (frame == NULL) return;
  will->outer_bound = will->thread->bound_wills;
  will->thread->bound_wills = will;
}

/* Usually it is the innermost one. Changes announced by hand may end in any order. */
static void unlink_will(kvo_will_phase *will) {
  *(will->inner != NULL ? &will->inner->outer : &will->thread->wills) = will->outer;
  if (will->outer != NULL) will->outer->inner = will->inner;
  if (will->frame == NULL) return;
  kvo_will_phase **link = &will->thread->bound_wills;
  while (*link != will) link = &(*link)->outer_bound;
  *link = will->outer_bound;
}

void kvo__will_end(kvo_will_phase *will) {
  unlink_will(will);
  give_back(will);
}

const kvo_slot *kvo__in_will_of(const kvo_info *info) {
  /* Skips a phase whose stack frame is below this one: it was left with longjmp (stacks grow downwards). */
  const char *own_frame = __builtin_frame_address(0);
  const kvo_will_phase *will = innermost();
  while (will != NULL && (will->info != info || own_frame > (const char *)will->telling)) will = will->outer;
  return will != NULL ? will->slot : NULL;
}

void kvo__wills_abandoned(const void *frame) {
  kvo_thread *self = kvo__own.thread;
  for (kvo_will_phase **link = self != NULL ? &self->bound_wills : NULL; link != NULL && *link != NULL;) {
    kvo_will_phase *will = *link;
    if (kvo__is_left(will->frame, frame)) {
      kvo__will_end(will);
      link = &self->bound_wills; /* a release function may have changed the list */
    } else {
      link = &will->outer_bound;
    }
  }
}

/* The pending value of an expression in a scope that is still going to notify it, other than that of `except`; NULL if there is none. */
static kvo_pending_value *of_scope(const kvo_tracked *tracked, const kvo_will_phase *except) {
  for (kvo_will_phase *will = innermost(); will != NULL; will = will->outer) {
    kvo_pending_value *pending = will != except && kvo__will_is_of_scope(will) ? kvo__pending_of(tracked, will) : NULL;
    if (pending != NULL && !pending->delivered) return pending;
  }
  return NULL;
}

bool kvo__awaits_change(const kvo_tracked *tracked) {
  for (kvo_will_phase *will = innermost(); will != NULL; will = will->outer) {
    const kvo_pending_value *pending = kvo__will_is_of_scope(will) ? NULL : kvo__pending_of(tracked, will);
    if (pending != NULL && !pending->delivered) return true;
  }
  return false;
}

bool kvo__is_left_to_open_scope(const kvo_tracked *tracked) { return of_scope(tracked, NULL) != NULL; }

bool kvo__leave_to_open_scope(const kvo_tracked *tracked, kvo_will_phase *will) {
  kvo_pending_value *kept = of_scope(tracked, will);
  kvo_pending_value *own = kept != NULL && will != NULL ? kvo__pending_of(tracked, will) : NULL;
  if (own == NULL) return kept != NULL;
  own->delivered = true;
  if (own->serial < kept->serial) {
    kvo_pending_value newer = *kept;
    kept->value = own->value;
    kept->last = own->last;
    kept->is_late = true; /* nested changes may have told newer values */
    own->value = newer.value;
    own->last = newer.last;
  }
  return true;
}

bool kvo__in_change_of(kvo_tracked *tracked, const kvo_info *dying) {
  kvo__wills_abandoned(__builtin_frame_address(0));
  for (const kvo_will_phase *will = innermost(); will != NULL; will = will->outer) {
    if (will->info == dying) continue; /* its remaining observers are not notified */
    kvo_pending_value *pending = kvo__pending_of(tracked, will);
    /* The expression may have dropped that key since the will phase. A scope notifies it nevertheless. */
    if (pending != NULL && !pending->delivered && (kvo__will_is_of_scope(will) || atomic_load(&pending->node->live)))
      return pending->owes_death = true;
  }
  return kvo__scopes() != NULL && kvo__tracked_awaits_silent(tracked);
}

bool kvo__is_being_led(const kvo_tracked *tracked, uint64_t number, const kvo_info *info, kvo_key key) {
  kvo__assert(kvo__holds(&tracked->lock));
  for (const kvo_will_phase *will = innermost(); will != NULL; will = will->outer) {
    const kvo_pending_value *pending = kvo__will_is_of_scope(will) ? NULL : kvo__pending_of(tracked, will);
    if (pending == NULL || pending->delivered || !atomic_load(&pending->node->live)) continue;
    if (kvo__dependency(pending->node)->generation == number && (will->info != info || will->slot->key != key))
      return true;
  }
  return false;
}
