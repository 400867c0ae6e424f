/* settle.c - bindings settle before any observer is notified.
 *
 * A change of a key that bindings read opens a hold: a scope that covers all objects. Its queue has the bindings that are to run, the
 * lowest first. Each one reads, and its callback sets its target; that only stores, is noted as in a coalescing scope, and puts the
 * bindings that read the target into the queue. When the queue is empty the observers are notified: those of the change that opened the
 * hold, then those of what was set, in the order of the first changes. */
#include "changes/settle.h"
#include "changes/scopes.h"
#include "platform/settings.h"

#include <sched.h>

kvo_open_scope *kvo__settling(void) {
  kvo_open_scope *scope = kvo__scopes();
  while (scope != NULL && (scope->kind != KVO_SCOPE_SETTLES || scope->is_over)) scope = scope->outer;
  return scope;
}

/* Keeps a binding from being freed until `settle_let_go`. False if it is being removed: who enters after that keeps nothing. The caller is
 * a reader of its node. */
static bool settle_keep(kvo_bound *bound, uint64_t *entered) {
  kvo_tracked *tracked = kvo__bound_tracked(bound);
  *entered = 0;
  if (tracked != NULL) {
    kvo__tracked_retain(tracked);
    return true;
  }
  kvo_info *info = kvo__slot_info(atomic_load(&bound->node->slot));
  *entered = kvo__enter(info);
  if (atomic_load(&bound->node->live)) return true;
  kvo__leave(info, *entered);
  return false;
}

/* May free the binding, and run code of the program. */
static void settle_let_go(kvo_bound *bound, uint64_t entered) {
  kvo_tracked *tracked = kvo__bound_tracked(bound);
  if (tracked != NULL)
    kvo__tracked_release(tracked);
  else
    kvo__leave(kvo__slot_info(atomic_load(&bound->node->slot)), entered);
}

static void begin_running(kvo_open_scope *hold, kvo_bound *bound) {
  bound->outer = hold->running;
  hold->running = bound;
}

static void settle_release(kvo_open_scope *hold, kvo_bound *bound) {
  uint64_t entered = bound->entered;
  if (kvo__bound_release(bound, hold)) settle_let_go(bound, entered);
}

static bool settle_claim(kvo_open_scope *hold, kvo_bound *bound, bool is_to_run) {
  uint64_t entered;
  if (!settle_keep(bound, &entered)) return false;
  bool is_claimed = kvo__bound_claim(bound, hold, is_to_run);
  if (is_claimed)
    bound->entered = entered;
  else
    settle_let_go(bound, entered);
  return is_claimed;
}

/* A binding whose owner is on another thread. This thread does not become its settler: the owner would have to wait for it. It asks the
 * owner when it has settled its own bindings, some of which may set what that one reads. */
typedef struct kvo_owned {
  struct kvo_owned *next;
  kvo_tracked *tracked;
} kvo_owned;

static void ask_owner_of(kvo_open_scope *hold, kvo_tracked *tracked) {
  kvo__tracked_react(tracked, KVO_STORED, &(kvo_change_place){.depth = hold->depth, .scope = hold});
}

static void owned_push(kvo_open_scope *hold, kvo_tracked *tracked) {
  if (hold->owned != NULL && hold->owned->tracked == tracked) return;
  kvo_owned *made = kvo__alloc(sizeof *made);
  if (made == NULL) {
    ask_owner_of(hold, tracked);
    return;
  }
  kvo__tracked_retain(tracked);
  *made = (kvo_owned){hold->owned, tracked};
  hold->owned = made;
}

/* The caller releases it. */
static kvo_tracked *owned_pop(kvo_open_scope *hold) {
  kvo_owned *first = hold->owned;
  kvo_tracked *tracked = first->tracked;
  hold->owned = first->next;
  kvo__free(first);
  return tracked;
}

static void settle_add(kvo_open_scope *hold, kvo_bound *bound) {
  kvo_tracked *tracked = kvo__bound_tracked(bound);
  if (tracked != NULL && kvo__tracked_is_evaluating(tracked)) return; /* it is evaluated once more */
  if (tracked != NULL && kvo__tracked_is_elsewhere(tracked))
    owned_push(hold, tracked);
  else
    (void)settle_claim(hold, bound, true);
}

void kvo__settle_add(kvo_open_scope *hold, const kvo_slot *slot) {
  if ((atomic_load_explicit(&slot->wants, memory_order_acquire) & KVO_SLOT_BINDS) == 0) return;
  for (kvo_node *node = atomic_load(&slot->newest); node != NULL; node = atomic_load(&node->older))
    if ((node->options & KVO_NODE_BINDS) != 0 && atomic_load(&node->live)) settle_add(hold, kvo__bound_of(node));
}

/* May run code of the program. */
static void forget_cycle(kvo_open_scope *hold) {
  while (hold->cycle_length > 0) {
    hold->cycle_length--;
    settle_let_go(kvo__bound_of(hold->cycle[hold->cycle_length]), hold->cycle_entered[hold->cycle_length]);
  }
}

/* Notes the bindings that run once the limit is reached, until the first of them is due again. */
static bool is_given_up(kvo_open_scope *hold, kvo_bound *bound) {
  enum { MOST = sizeof hold->cycle / sizeof *hold->cycle };
  if (hold->cycle_length > 0 && !atomic_load(&hold->cycle[0]->live)) forget_cycle(hold);
  if (hold->cycle_length > 0 && hold->cycle[0] == bound->node) {
    if (!hold->is_reported) KVO_MISUSE(unsettled, hold->cycle, hold->cycle_length, kvo__settings.max_rounds);
    hold->is_reported = true;
    return true;
  }
  if (hold->cycle_length == 0 && bound->rounds <= kvo__settings.max_rounds) return false;
  if (hold->is_reported) return bound->rounds > kvo__settings.max_rounds;
  bool is_member = bound->rounds > kvo__settings.max_rounds / 2; /* others run seldom */
  if (is_member && hold->cycle_length < MOST && settle_keep(bound, &hold->cycle_entered[hold->cycle_length]))
    hold->cycle[hold->cycle_length++] = bound->node;
  return false;
}

/* Evaluates the expression of a binding and tells it. False if it has been put back, because it has read what is about to be set. */
static bool run_expression(kvo_open_scope *hold, kvo_bound *bound, kvo_tracked *tracked) {
  kvo_change_place place = {.depth = hold->depth, .scope = hold};
  if (!kvo__tracked_is_due(tracked, &place)) return true;
  uint64_t before = kvo__list_changes(tracked);
  kvo_status status;
  kvo_cell *now = kvo__arm(tracked, NULL, &status, NULL);
  bool waits = kvo__list_changes(tracked) != before && kvo__bound_waits(bound, hold, true);
  if (!waits && status != KVO_ERROR_NOT_REGISTERED) kvo__tracked_tell_present(tracked, now, false);
  kvo__cell_release(tracked, now);
  return !waits;
}

/* Two threads that settle bindings of each other's targets could exchange the values in each round: each lets the other one go on for a
 * while, which differs from thread to thread and from round to round. To sleep would be a cancellation point. */
static void step_aside(const kvo_bound *bound) {
  enum { WITHOUT = 4, MOST_DOUBLINGS = 8 };
  if (bound->rounds <= WITHOUT) return;
  uint32_t doublings = bound->rounds - WITHOUT < MOST_DOUBLINGS ? bound->rounds - WITHOUT : MOST_DOUBLINGS;
  uint32_t mixed = ((uint32_t)kvo__own.thread->number * 2654435761u + bound->rounds) * 2246822519u;
  for (uint32_t left = mixed >> (32 - doublings); left > 0; left--) sched_yield();
}

static void settle_run(kvo_open_scope *hold, kvo_bound *bound) {
  if (kvo__bound_waits(bound, hold, false)) return;
  bound->rounds++;
  if (bound->is_contended) step_aside(bound);
  kvo_tracked *tracked = kvo__bound_tracked(bound);
  if (!is_given_up(hold, bound)) {
    begin_running(hold, bound);
    bool is_run = true;
    if (tracked != NULL)
      is_run = run_expression(hold, bound, tracked);
    else
      kvo__deliver_present(bound->node, kvo__slot_info(atomic_load(&bound->node->slot)), NULL);
    hold->running = bound->outer;
    if (!is_run) return;
  }
  settle_release(hold, bound);
}

/* Without memory for it, the observers of what bindings set are notified in the order of the changes. */
kvo_open_scope *kvo__settle_open(uint32_t depth, const void *frame) {
  kvo_open_scope *hold = kvo__scope_open(KVO_SCOPE_SETTLES, NULL, 0);
  if (hold == NULL) return NULL;
  hold->frame = frame;
  hold->is_settling = true;
  hold->depth = depth;
  return hold;
}

static kvo_bound *settle_next(kvo_open_scope *hold) {
  kvo_bound *next;
  while ((next = kvo__bound_next(hold)) == NULL && hold->owned != NULL) {
    kvo_tracked *tracked = owned_pop(hold);
    ask_owner_of(hold, tracked);
    kvo__tracked_release(tracked);
  }
  return next;
}

void kvo__settle_run_all(kvo_open_scope *hold) {
  uint64_t renewals = hold->renewals;
  for (kvo_bound *next; (next = settle_next(hold)) != NULL; renewals = hold->renewals) {
    if (hold->renewals != renewals) forget_cycle(hold);
    settle_run(hold, next);
  }
  hold->is_over = true;
  /* What is told next need not be deeper in the stack. If an observer leaves it, its mark shows that. */
  hold->frame = NULL;
  forget_cycle(hold);
}

uint64_t kvo_settling_serial(void) {
  kvo_thread *self = kvo__own.thread;
  if (self != NULL && self->lone != 0) {
    if (self->lone_serial == 0) self->lone_serial = kvo__scope_serial();
    return self->lone_serial;
  }
  const kvo_open_scope *hold = kvo__settling();
  return hold != NULL ? hold->serial : 0;
}

uint64_t kvo__settle_begin(kvo_bound *bound, uint32_t depth) {
  kvo_thread *self = kvo__own.thread;
  if (depth == 0) self->lone = 0; /* others were left */
  uint64_t run = kvo__bound_begin(bound, depth);
  if (run != 0 && self->lone++ == 0) self->lone_serial = 0;
  return run;
}

/* Settles what has become outdated. */
static void settle_outdated(kvo_thread *self, uint32_t depth) {
  kvo_open_scope *hold = kvo__settle_open(depth, __builtin_frame_address(0));
  if (hold == NULL) return; /* the next one that ends will try again */
  for (kvo_bound *next; (next = self->outdated) != NULL;) {
    self->outdated = next->outer;
    kvo__bound_pass(next, hold);
  }
  kvo__settle_run_all(hold);
  kvo__scope_close(hold);
}

void kvo__settle_thread_end(kvo_thread *self) {
  self->lone = 0;
  if (self->outdated != NULL) settle_outdated(self, 0);
}

void kvo__settle_end(kvo_bound *bound, uint32_t depth, uint64_t run) {
  kvo_thread *self = kvo__own.thread;
  if (!kvo__bound_end(bound, run)) {
    if (settle_keep(bound, &bound->entered)) {
      bound->depth = KVO_BOUND_WAITS;
      bound->outer = self->outdated;
      self->outdated = bound;
    } else {
      kvo__bound_give_up(bound);
    }
  }
  if (--self->lone == 0 && self->outdated != NULL) settle_outdated(self, depth);
}

/* Runs a binding without a hold. The caller is a reader of what it has read. */
static void run_alone(kvo_bound *bound, const kvo_change_place *place) {
  kvo_tracked *tracked = kvo__bound_tracked(bound);
  if (tracked != NULL && kvo__tracked_is_evaluating(tracked)) return;
  if (tracked != NULL && kvo__tracked_is_elsewhere(tracked)) {
    kvo__tracked_react(tracked, KVO_STORED, place);
    return;
  }
  uint64_t run = kvo__settle_begin(bound, place->depth);
  if (run == 0) return;
  uint64_t before = tracked != NULL ? kvo__list_changes(tracked) : 0;
  if (tracked == NULL)
    kvo__deliver_present(bound->node, kvo__slot_info(atomic_load(&bound->node->slot)), NULL);
  else if (kvo__tracked_is_due(tracked, place))
    kvo__tracked_settle(tracked, NULL, false);
  if (tracked != NULL && kvo__list_changes(tracked) != before) (void)kvo__bound_waits(bound, NULL, true);
  kvo__settle_end(bound, place->depth, run);
}

/* The only observer of a key, if that is a binding: it needs no hold, because the change notifies no other observer. But if it reads what
 * it sets, the observers of that would be notified before it has run again. */
static kvo_bound *only_binding(kvo_slot *slot) {
  const kvo_node *node = atomic_load(&slot->newest);
  bool is_only = node != NULL && atomic_load(&node->older) == NULL && (node->options & KVO_NODE_BINDS) != 0;
  kvo_bound *only = is_only && atomic_load(&node->live) ? kvo__bound_of(node) : NULL;
  return only != NULL && !atomic_load(&only->reads_target) ? only : NULL;
}

kvo_open_scope *kvo__settle(kvo_slot *slot, uint32_t depth, bool is_told) {
  kvo_open_scope *outer = kvo__settling();
  if (outer != NULL) {
    kvo__settle_add(outer, slot);
    return NULL;
  }
  bool may_nest = depth < KVO_MOST_NESTED_BINDINGS && kvo__thread() != NULL && kvo__may_nest();
  kvo_bound *only = may_nest ? only_binding(slot) : NULL;
  if (only != NULL) {
    run_alone(only, &(kvo_change_place){.depth = depth, .changed = slot});
    return NULL;
  }
  kvo_open_scope *hold = kvo__settle_open(depth, __builtin_frame_address(0));
  if (hold == NULL) return NULL;
  if (is_told) hold->opener = slot;
  kvo__settle_add(hold, slot);
  kvo__settle_run_all(hold);
  return hold;
}

void kvo__settle_one(const kvo_node *node) {
  kvo_open_scope *outer = kvo__settling();
  if (outer != NULL) {
    settle_add(outer, kvo__bound_of(node));
    return;
  }
  kvo_open_scope *hold = kvo__settle_open(kvo__present_depth(), __builtin_frame_address(0));
  if (hold == NULL) return;
  settle_add(hold, kvo__bound_of(node));
  kvo__settle_run_all(hold);
  kvo__scope_close(hold);
}

kvo_first kvo__settle_first(const kvo_node *node) {
  kvo_first first = {.hold = kvo__settling()};
  first.is_own = first.hold == NULL;
  if (first.is_own) first.hold = kvo__settle_open(kvo__present_depth(), __builtin_frame_address(0));
  if (first.hold == NULL) return first;
  kvo_bound *bound = kvo__bound_of(node);
  first.is_claimed = settle_claim(first.hold, bound, false);
  if (first.is_claimed) begin_running(first.hold, bound);
  return first;
}

void kvo__settle_rest(const kvo_node *node, const kvo_first *first) {
  if (first->hold == NULL) return;
  if (first->is_claimed) {
    first->hold->running = kvo__bound_of(node)->outer;
    (void)kvo__bound_waits(kvo__bound_of(node), NULL, true);
    settle_release(first->hold, kvo__bound_of(node));
  }
  if (!first->is_own) return;
  kvo__settle_run_all(first->hold);
  kvo__scope_close(first->hold);
}

kvo_open_scope *kvo__settle_scope(kvo_open_scope *scope) {
  kvo_open_scope *hold = NULL;
  for (const kvo_coalesced *each = scope->first; each != NULL; each = each->next) {
    if (each->is_over) continue;
    const kvo_slot *slot = kvo__frame_content_of((kvo_frame *)(uintptr_t)&each->frame)->slot;
    if ((atomic_load_explicit(&slot->wants, memory_order_acquire) & KVO_SLOT_BINDS) == 0) continue;
    if (hold == NULL) hold = kvo__settle_open(kvo__present_depth(), __builtin_frame_address(0));
    if (hold == NULL) return NULL;
    scope->is_settling = true;
    kvo__settle_add(hold, slot);
  }
  if (hold != NULL) kvo__settle_run_all(hold);
  return hold;
}

void kvo__settle_drop(kvo_open_scope *hold) {
  for (kvo_bound *next; (next = hold->running) != NULL;) {
    hold->running = next->outer;
    settle_release(hold, next);
  }
  for (kvo_bound *next; (next = kvo__bound_next(hold)) != NULL;) settle_release(hold, next);
  while (hold->owned != NULL) kvo__tracked_release(owned_pop(hold));
  forget_cycle(hold);
}
