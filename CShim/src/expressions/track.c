/* track.c - observations of expressions: evaluated while the runtime records what they read, and subscribed to exactly that.
 *
 * A read subscribes before the value is read. So no change between reading and subscribing is lost, and the object that is read is alive
 * when it is subscribed to. Each evaluation has a number. When it ends, and no newer one has ended, the dependencies that it did not read
 * are dropped. Thus several threads may evaluate the same observation at the same time; in the end the subscriptions are those of the
 * newest evaluation.
 *
 * An evaluation may declare that its result is the value of the key that it read last, as for a key path. A change of that key cannot
 * change what is read, so its dependency becomes a LEAF: it passes the change on, and nothing is evaluated. */
#include "expressions/deliver.h"
#include "platform/settings.h"

/* ---------------------------------------------------------------------------------------------------------- Lifetime -- */

/* Retains the value that was delivered last; NULL if it is not kept. tracked->lock is held. */
static kvo_cell *hold_last(kvo_tracked *tracked) {
  kvo__assert(kvo__holds(&tracked->lock));
  if (tracked->last != NULL) atomic_fetch_add(&tracked->last->references, 1);
  return tracked->last;
}

/* The same for an expression that must not be evaluated, because its object may be dead. No lock may be held. */
static kvo_cell *hold_last_of_orphan(kvo_tracked *tracked) {
  kvo__lock(&tracked->lock);
  kvo_cell *last = tracked->orphaned ? hold_last(tracked) : NULL;
  kvo__unlock(&tracked->lock);
  return last;
}

/* -------------------------------------------------------------------------------------------------------- Evaluating -- */

/* Prepares this thread so that an evaluation which is left without returning is noticed; `frame` is the caller's. No lock may be held. */
static void before_evaluation(const void *frame) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) return;
  kvo__measure(self);
  kvo__look_for_abandoned_below(frame);
}

/* Begins an evaluation, unless the observation has ended. tracked->lock is held: the thread that ends the observation also takes it before
 * it releases the root, so the root's death waits for this evaluation. */
static bool begin_evaluation(kvo_evaluation *here, const void *frame) {
  kvo_tracked *tracked = here->tracked;
  kvo__assert(kvo__holds(&tracked->lock));
  if (!atomic_load(&tracked->live)) return false;
  if (kvo__thread() != tracked->thread) tracked->is_shared = true;
  here->begun_before = tracked->started;
  here->serial = ++tracked->evaluations;
  here->entered = kvo__enter(tracked->root);
  here->mark = kvo__mark(tracked->id, tracked->root, NULL, NULL);
  if (here->mark == KVO_UNMARKED) return true;
  kvo_mark *mark = kvo__mark_at(here->mark);
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  mark->evaluation = here;
  atomic_store_explicit(&mark->entered, here->entered, memory_order_relaxed);
  mark->recorder = kvo__own.recorder;
  return true;
}

/* No lock may be held. */
static void end_evaluation(const kvo_evaluation *here) {
  kvo__unmark(here->mark);
  kvo__leave(here->tracked->root, here->entered);
}

/* Calls `evaluate` with this thread recording. */
static void *evaluate(kvo_evaluation *here) {
  kvo_evaluation *outer_recorder = kvo__own.recorder;
  kvo__own.recorder = here;
  __atomic_fetch_add(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  if (here->mark != KVO_UNMARKED) kvo__mark_at(here->mark)->is_counted = true;
  void *value = here->tracked->ops->evaluate(here->tracked->user_data);
  if (here->mark != KVO_UNMARKED) kvo__mark_at(here->mark)->is_counted = false;
  __atomic_fetch_sub(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  kvo__recording_resume(outer_recorder);
  return value;
}

/* Reports KVO0032 if an intermediate object was replaced without notification. The did that follows updates the subscriptions. */
static void report_silent_change(const kvo_evaluation *over) {
  uint64_t entered;
  kvo_key key;
  kvo_info *holder = kvo__silent_change(over, &entered, &key);
  if (holder == NULL) return;
  kvo_fault_observation concerned;
  kvo__describe_node(over->tracked->anchor, &concerned);
  const kvo_property *property = kvo__class_find(holder->cls, key);
  KVO_TELL(silent_change, &concerned, holder, property != NULL ? property->name : "?");
  kvo__leave(holder, entered);
}

/* Computes the value before a change of `changing`, and compares what is read with the subscriptions. NULL if the observation has ended or
 * cannot be evaluated. */
static void *peek(kvo_tracked *tracked, const kvo_info *changing) {
  kvo_evaluation here;
  kvo__evaluation_clear(&here, tracked);
  here.compared.changing = changing;
  before_evaluation(__builtin_frame_address(0));
  kvo__lock(&tracked->lock);
  bool live = begin_evaluation(&here, __builtin_frame_address(0));
  here.compared.is_wanted = !tracked->is_shared && !tracked->is_incomplete && tracked->committed > tracked->outdated;
  kvo__unlock(&tracked->lock);
  if (!live) return NULL;
  void *value = evaluate(&here);
  report_silent_change(&here);
  end_evaluation(&here);
  return value;
}

/* Says what the newest evaluation has read; tracked->lock is held. */
static kvo_confirmed commit(kvo_evaluation *over, kvo_cell *result, kvo_cell **replaced) {
  kvo_tracked *tracked = over->tracked;
  kvo_confirmed confirmed = kvo__confirm_reads(over);
  if (confirmed == KVO_READS_LOST) return confirmed;
  tracked->committed = over->number;
  tracked->is_incomplete = over->status != KVO_OK;
  tracked->orphaned = over->has_met_dying;
  bool has_leaf = confirmed != KVO_READS_AS_BEFORE && kvo__settle_leaf(tracked, over);
  if (!tracked->keep_last) return confirmed;
  *replaced = tracked->last;
  tracked->last = has_leaf ? NULL : result; /* a leaf does not update it: better none than an old one */
  if (!has_leaf) atomic_fetch_add(&result->references, 1);
  return confirmed;
}

/* Evaluates and updates the subscriptions. The caller releases the cell. NULL if the observation has ended, or without memory. */
kvo_cell *kvo__arm_once(kvo_tracked *tracked, kvo_status *status) {
  kvo_evaluation here;
  kvo_confirmed confirmed = KVO_READS_KEPT;
  for (;;) {
    kvo_cell *result = kvo__alloc(sizeof *result);
    if (result == NULL) {
      *status = KVO_ERROR_OUT_OF_MEMORY;
      return NULL;
    }
    kvo__evaluation_clear(&here, tracked);
    before_evaluation(__builtin_frame_address(0));
    kvo__lock(&tracked->lock);
    bool live = begin_evaluation(&here, __builtin_frame_address(0));
    here.number = ++tracked->started;
    if (confirmed != KVO_READS_LOST) kvo__expect_reads(&here);
    kvo__unlock(&tracked->lock);
    if (!live) {
      kvo__free(result);
      *status = KVO_ERROR_NOT_REGISTERED;
      return NULL;
    }
    result->value = evaluate(&here);
    atomic_store_explicit(&result->references, 1, memory_order_relaxed);
    kvo_cell *replaced = NULL;
    kvo__lock(&tracked->lock);
    bool newest = here.number > tracked->committed;
    confirmed = newest ? commit(&here, result, &replaced) : KVO_READS_KEPT;
    kvo__unlock(&tracked->lock);
    end_evaluation(&here);
    kvo__cell_release(tracked, replaced);
    *status = here.status;
    if (confirmed == KVO_READS_LOST) { /* this time each read subscribes */
      kvo__cell_release(tracked, result);
      continue;
    }
    /* An incomplete evaluation may still need what it did not get to read. */
    if (!newest)
      kvo__drop_read_by(tracked, here.number);
    else if (here.status == KVO_OK && confirmed != KVO_READS_AS_BEFORE)
      kvo__drop_read_before(tracked, here.number);
    return result;
  }
}

/* After a change no caller gets a status, so this retries when memory is short. If that fails, it reports KVO0011, because keys that the
 * expression now depends on may change unnoticed. The old subscriptions remain, and the next change of one of them evaluates again. */
kvo_cell *kvo__arm(kvo_tracked *tracked, kvo_status *status) {
  enum { TRIES = 3 };
  kvo_cell *result = kvo__arm_once(tracked, status);
  for (int tries = 1; tries < TRIES && *status == KVO_ERROR_OUT_OF_MEMORY; tries++) {
    kvo__cell_release(tracked, result);
    result = kvo__arm_once(tracked, status);
  }
  if (*status == KVO_ERROR_OUT_OF_MEMORY) {
    kvo__lock(&tracked->lock);
    tracked->is_incomplete = true;
    kvo__unlock(&tracked->lock);
    kvo_fault_observation concerned;
    kvo__describe_node(tracked->anchor, &concerned);
    KVO_TELL(cannot_follow, &concerned);
  }
  return result;
}

/* ------------------------------------------------------------------------------------------------------------ Owners -- */

/* Until the next evaluation the dependencies are those from before a change. */
static void note_outdated(kvo_tracked *tracked) {
  kvo__lock(&tracked->lock);
  tracked->outdated = tracked->started;
  kvo__unlock(&tracked->lock);
}

/* Enters the root, so that the user data stays; false if the observation has ended. */
static bool enter(kvo_tracked *tracked, uint64_t *entered) {
  kvo__lock(&tracked->lock);
  bool live = atomic_load(&tracked->live);
  if (live) *entered = kvo__enter(tracked->root);
  kvo__unlock(&tracked->lock);
  return live;
}

/* Whether only the owner may evaluate the expression, on another thread, or nobody any more. */
static bool is_elsewhere(kvo_tracked *tracked) {
  uint64_t entered;
  if (tracked->ops->is_here == NULL) return false;
  if (!enter(tracked, &entered)) return true;
  bool is_here = tracked->ops->is_here(tracked->user_data);
  kvo__leave(tracked->root, entered);
  return !is_here;
}

static void ask(kvo_tracked *tracked) {
  uint64_t entered;
  if (!enter(tracked, &entered)) return;
  tracked->ops->ask(tracked->id, tracked->user_data);
  kvo__leave(tracked->root, entered);
}

/* Leaves a change to the owner if this thread must not evaluate the expression; the owner is asked once. Otherwise the caller does what the
 * owner was asked for, if it notifies. Called before each evaluation that is due to a change. */
static bool is_left_to_owner(kvo_tracked *tracked, bool tells) {
  if (!is_elsewhere(tracked)) {
    if (tells) atomic_store(&tracked->asked, 0);
    return false;
  }
  kvo__unsettle_leaf(tracked);
  note_outdated(tracked);
  uint32_t asked = KVO_ASKED_TO_FOLLOW;
  if (tells && atomic_load(&tracked->registered) != 0)
    asked |= KVO_ASKED_TO_TELL;
  else if (tells)
    atomic_store(&tracked->missed, true); /* see call */
  if (atomic_fetch_or(&tracked->asked, asked) == 0) ask(tracked);
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- Changes -- */

/* If a registration fails, its callback must never run. While it may still fail, and in a pause, a change is only noted in `missed`: not
 * before it happens, because the setter may refuse it. */
static void call(kvo_tracked *tracked, const kvo_raw_change *change) {
  if (!atomic_load(&tracked->registered)) {
    if (!change->is_prior) atomic_store(&tracked->missed, true);
    if (!atomic_load(&tracked->registered)) return;
  }
  kvo__call(change, tracked->anchor, &tracked->live, tracked->ops->callback, tracked->user_data);
}

void kvo__tracked_tell(kvo_tracked *tracked, kvo_change_kind kind, bool is_prior, const void *old_value,
                       const void *new_value) {
  kvo_raw_change record = {
      .object = tracked->object,
      .instance = tracked->instance,
      .old_value = (tracked->options & KVO_OLD) != 0 ? old_value : NULL,
      .new_value = (tracked->options & KVO_NEW) != 0 ? new_value : NULL,
      .kind = kind,
      .is_prior = is_prior,
      .observation = tracked->id,
  };
  call(tracked, &record);
}

void kvo__tracked_leaf(kvo_tracked *tracked, const kvo_raw_change *change) {
  kvo_raw_change record = *change;
  record.object = tracked->object;
  record.instance = tracked->instance;
  record.observation = tracked->id;
  call(tracked, &record);
}

/* Whether a getter of the expression sets what it reads, and does so again in an evaluation that such a set has begun: that set is not
 * followed, or there would be no end. Evaluations on another stack, and those that were left from a deeper frame, count as well: a single
 * one changes nothing. Abandoned marks are not ended here: that of the last delivery may have a deeper frame, and has not been left. */
static bool is_set_by_itself(const kvo_tracked *tracked) {
  enum { NESTED = 2 };
  if (!kvo_is_tracking()) return false;
  const void *here = __builtin_frame_address(0);
  int nested = 0;
  for (uint32_t i = kvo__own.thread != NULL ? atomic_load(&kvo__own.thread->depth) : 0; i > 0 && nested < NESTED; i--) {
    const kvo_mark *each = kvo__mark_at(i - 1);
    bool is_own = kvo__evaluation_of(each) != NULL && atomic_load(&each->observation) == tracked->id;
    nested += is_own && !kvo__is_left(each->frame, here);
  }
  return nested == NESTED;
}

void kvo__tracked_will(kvo_tracked *tracked, const kvo_node *node, const kvo_info *changing, kvo_will_phase *will) {
  if (will != NULL && !kvo__will_is_of_scope(will)) kvo__unsettle_leaf(tracked);
  if (is_elsewhere(tracked) || is_set_by_itself(tracked)) return;
  bool is_compared = will != NULL && will->if_changed && tracked->ops->same != NULL;
  bool is_left = kvo__is_left_to_scope(tracked); /* one that is ending, which has the old value */
  bool wanted = !is_left && ((tracked->options & KVO_OLD) != 0 || is_compared);
  kvo_cell *last = wanted ? hold_last_of_orphan(tracked) : NULL;
  void *evaluated = wanted && last == NULL ? peek(tracked, changing) : NULL;
  if (!wanted && !is_left && kvo__settings.silent_changes) {
    void *unwanted = peek(tracked, changing);
    if (unwanted != NULL) tracked->ops->release(unwanted, tracked->user_data);
  }
  bool is_of_scope = will != NULL && kvo__will_is_of_scope(will);
  /* The getters may have changed other keys that it reads, in the same scope. */
  bool is_nested = is_of_scope && kvo__pending_of(tracked, will) != NULL;
  bool has_prior = !is_nested && !is_left && (tracked->options & KVO_PRIOR) != 0;
  bool is_kept = will != NULL && !is_nested &&
                 kvo__pending_add(will, (kvo_pending_value){.tracked = tracked,
                                                            .node = node,
                                                            .value = evaluated,
                                                            .last = last,
                                                            .owes_prior = is_of_scope && has_prior});
  if (is_kept) kvo__tracked_retain(tracked);
  if (has_prior && !(is_kept && is_of_scope))
    kvo__tracked_tell(tracked, KVO_CHANGE_SETTING, true, last != NULL ? last->value : evaluated, NULL);
  if (is_kept) return;
  if (evaluated != NULL) tracked->ops->release(evaluated, tracked->user_data);
  kvo__cell_release(tracked, last);
}

void kvo__tracked_keep_late(kvo_tracked *tracked, const kvo_node *node, kvo_will_phase *scope) {
  bool is_new = atomic_load_explicit(&node->birth, memory_order_acquire) <= atomic_load(&tracked->registered);
  if (is_new || kvo__is_left_to_scope(tracked)) return;
  kvo_cell *last = NULL;
  if ((tracked->options & KVO_OLD) != 0) {
    kvo__lock(&tracked->lock);
    last = hold_last(tracked);
    kvo__unlock(&tracked->lock);
  }
  /* Without the last value it is told also if it is the same. */
  kvo_pending_value value = {.tracked = tracked, .node = node, .last = last, .is_late = last == NULL};
  if (kvo__pending_add(scope, value))
    kvo__tracked_retain(tracked);
  else
    kvo__cell_release(tracked, last);
}

void kvo__tracked_prior(kvo_tracked *tracked, const kvo_will_phase *will) {
  kvo_pending_value *pending = kvo__pending_of(tracked, will);
  if (pending == NULL || !pending->owes_prior) return;
  pending->owes_prior = false;
  const void *old_value = pending->last != NULL ? pending->last->value : pending->value;
  kvo__tracked_tell(tracked, KVO_CHANGE_SETTING, true, old_value, NULL);
}

/* Leaves a change to a later delivery if none may begin here; nor may an evaluation: its getters may make changes. Until then the
 * dependencies are those from before the change. */
static bool is_deferred(kvo_tracked *tracked) {
  if (kvo__may_nest()) return false;
  note_outdated(tracked);
  kvo__defer(tracked->anchor);
  return true;
}

/* Whether an expression's values before and after a scope are known to be the same. */
static bool are_same(const kvo_tracked *tracked, const kvo_will_phase *will, const void *old_value,
                     const kvo_cell *now) {
  return will != NULL && will->if_changed && tracked->ops->same != NULL && old_value != NULL && now != NULL &&
         now->value != NULL && tracked->ops->same(old_value, now->value, tracked->user_data);
}

/* Returns whether a change is not followed. If so, a comparison of the reads is not certain any more (kvo__silent_change). */
static bool is_not_followed(kvo_tracked *tracked) {
  if (!is_set_by_itself(tracked)) return false;
  kvo__lock(&tracked->lock);
  tracked->started++;
  kvo__unlock(&tracked->lock);
  return true;
}

static void rearm(kvo_tracked *tracked) {
  if (is_not_followed(tracked)) return;
  kvo_status status;
  kvo__cell_release(tracked, kvo__arm(tracked, &status));
}

static void did(kvo_tracked *tracked, kvo_will_phase *will) {
  if (is_not_followed(tracked)) return;
  if (kvo__leave_to_scope(tracked, will)) { /* but other threads' changes of what it reads now are not */
    rearm(tracked);
    return;
  }
  if (is_deferred(tracked)) {
    if (will != NULL) kvo__pending_told(tracked, will); /* the later delivery tells it, not this change */
    return;
  }
  const void *old_value = NULL;
  kvo_cell *last = NULL;
  kvo_pending_value *pending = will != NULL ? kvo__pending_of(tracked, will) : NULL;
  bool is_late = pending != NULL && pending->is_late;
  if (pending != NULL) {
    old_value = pending->last != NULL ? pending->last->value : pending->value;
    pending->delivered = true;
  } else if ((tracked->options & KVO_OLD) != 0) { /* it began to depend on this key during the change */
    kvo__lock(&tracked->lock);
    last = hold_last(tracked);
    kvo__unlock(&tracked->lock);
    old_value = last != NULL ? last->value : NULL;
  }
  kvo_status status;
  kvo_cell *now = kvo__arm(tracked, &status); /* without memory: notify without the new value */
  if (is_late || !are_same(tracked, will, old_value, now))
    kvo__tracked_tell(tracked, KVO_CHANGE_SETTING, false, old_value, now != NULL ? now->value : NULL);
  kvo__cell_release(tracked, now);
  kvo__cell_release(tracked, last);
}

void kvo__tracked_did(kvo_tracked *tracked, kvo_will_phase *will) {
  if (!is_left_to_owner(tracked, true))
    did(tracked, will);
  else if (will != NULL)
    kvo__pending_told(tracked, will);
}

void kvo__tracked_settle(kvo_tracked *tracked) {
  bool is_paused = atomic_load(&tracked->registered) == 0;
  uint32_t asked = atomic_fetch_and(&tracked->asked, is_paused ? KVO_ASKED_TO_TELL : 0u);
  if (asked == 0 || !atomic_load(&tracked->live)) return;
  if ((asked & KVO_ASKED_TO_TELL) == 0 || is_paused) {
    rearm(tracked);
    return;
  }
  if ((tracked->options & KVO_PRIOR) != 0) {
    kvo__lock(&tracked->lock);
    kvo_cell *last = hold_last(tracked);
    kvo__unlock(&tracked->lock);
    kvo__tracked_tell(tracked, KVO_CHANGE_SETTING, true, last != NULL ? last->value : NULL, NULL);
    kvo__cell_release(tracked, last);
  }
  did(tracked, NULL);
}

kvo_cell *kvo__tracked_present(kvo_tracked *tracked) {
  kvo_status status;
  if ((atomic_load(&tracked->asked) & KVO_ASKED_TO_TELL) == 0 && !is_elsewhere(tracked))
    return kvo__arm(tracked, &status);
  kvo__lock(&tracked->lock);
  kvo_cell *last = hold_last(tracked);
  kvo__unlock(&tracked->lock);
  return last;
}

void kvo__tracked_ask_again(kvo_tracked *tracked) {
  if (atomic_load(&tracked->asked) != 0) ask(tracked);
}

void kvo__tracked_refused(kvo_will_phase *will) {
  for (size_t i = will->count; i-- > 0;)
    if (will->pending[i].owes_death && !will->pending[i].delivered) kvo__tracked_did(will->pending[i].tracked, will);
}

void kvo__tracked_retell(kvo_tracked *tracked, const void *old_value) {
  if (is_left_to_owner(tracked, true) || is_deferred(tracked)) return;
  kvo_status status;
  kvo_cell *now = kvo__arm(tracked, &status);
  kvo__tracked_tell(tracked, KVO_CHANGE_SETTING, false, old_value, now != NULL ? now->value : NULL);
  kvo__cell_release(tracked, now);
}

void kvo__tracked_missed(kvo_tracked *tracked, uint64_t birth) {
  if (birth > atomic_load(&tracked->registered))
    kvo__tracked_did(tracked, NULL);
  else
    kvo__tracked_rearm(tracked);
}

void kvo__tracked_rearm(kvo_tracked *tracked) {
  if (!is_left_to_owner(tracked, false)) rearm(tracked);
}

/* Whether this thread is evaluating it in order to subscribe. */
static bool is_being_armed(const kvo_tracked *tracked) {
  kvo__look_for_abandoned();
  uint32_t depth = kvo__own.thread != NULL ? atomic_load(&kvo__own.thread->depth) : 0;
  for (uint32_t i = 0; i < depth; i++) {
    const kvo_evaluation *each = kvo__evaluation_of(kvo__mark_at(i));
    if (each != NULL && each->tracked == tracked && each->number != 0) return true;
  }
  return false;
}

static void note_orphaned(kvo_tracked *tracked) {
  kvo__lock(&tracked->lock);
  tracked->orphaned = true;
  kvo__unlock(&tracked->lock);
}

void kvo__tracked_died(kvo_tracked *tracked, const kvo_info *dying) {
  /* If the object dies because it was replaced, the did of that change notifies. If it dies in an evaluation of this expression, the result
   * is delivered anyway; and if the evaluation made the object, as a computed property may, another evaluation would make another one,
   * without end. */
  if (!atomic_load(&tracked->live) || kvo__in_change_of(tracked, dying) || is_being_armed(tracked)) return;
  if (is_left_to_owner(tracked, true)) {
    note_orphaned(tracked);
    return;
  }
  kvo__lock(&tracked->lock);
  kvo_cell *before = hold_last(tracked);
  kvo__unlock(&tracked->lock);
  kvo_status status;
  kvo_cell *now = kvo__arm(tracked, &status);
  if (now == NULL) note_orphaned(tracked); /* not known */
  kvo__tracked_tell(tracked, KVO_CHANGE_SETTING, false, before != NULL ? before->value : NULL,
                    now != NULL ? now->value : NULL);
  kvo__cell_release(tracked, now);
  kvo__cell_release(tracked, before);
}
