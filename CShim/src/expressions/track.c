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
  if (kvo__thread_serial() != tracked->thread) tracked->is_shared = true;
  here->began = kvo__own.thread != NULL ? ++kvo__own.thread->clock : 0;
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

/* Calls `track_evaluate` with this thread recording. */
static void *track_evaluate(kvo_evaluation *here) {
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

/* The value before a change, of an expression that does not keep what it has told. NULL without memory, if the observation has ended, or if
 * it cannot be evaluated. */
static kvo_cell *read_before(kvo_tracked *tracked) {
  kvo_cell *result = kvo__cell_make(tracked);
  if (result == NULL) return NULL;
  kvo_evaluation here;
  kvo__evaluation_clear(&here, tracked);
  before_evaluation(__builtin_frame_address(0));
  kvo__lock(&tracked->lock);
  bool live = !tracked->orphaned && begin_evaluation(&here, __builtin_frame_address(0));
  kvo__unlock(&tracked->lock);
  if (!live) {
    kvo__cell_release(tracked, result);
    return NULL;
  }
  void *recorder = kvo__recording_suspend();
  result->value = tracked->ops->evaluate(tracked->user_data);
  kvo__recording_resume(recorder);
  end_evaluation(&here);
  return result;
}

/* Says what an evaluation has read, and takes the dependencies that are no longer needed. False if it has to be done again. tracked->lock
 * is held. */
static bool commit(kvo_evaluation *over, kvo_dependency **unread) {
  kvo_tracked *tracked = over->tracked;
  if (over->number < tracked->committed) {
    *unread = kvo__take_read_by(tracked, over->number);
    return true;
  }
  if (!kvo__commit_reads(over, unread)) return false;
  tracked->committed = over->number;
  tracked->read_at = over->began;
  tracked->is_incomplete = over->status != KVO_OK;
  tracked->orphaned = over->has_met_dying;
  return true;
}

kvo_cell *kvo__arm_once(kvo_tracked *tracked, const kvo_slot *changed, kvo_status *status, bool *was_left) {
  kvo_evaluation here;
  for (bool is_again = false, is_lost = false;;) {
    kvo_cell *result = kvo__cell_make(tracked);
    if (result == NULL) {
      *status = KVO_ERROR_OUT_OF_MEMORY;
      return NULL;
    }
    kvo__evaluation_clear(&here, tracked);
    bool is_stale = atomic_exchange(&tracked->is_stale, false);
    if (was_left != NULL && is_stale) *was_left = true;
    here.changed = is_stale || is_again ? NULL : changed;
    before_evaluation(__builtin_frame_address(0));
    kvo__lock(&tracked->lock);
    bool live = begin_evaluation(&here, __builtin_frame_address(0));
    here.number = ++tracked->started;
    if (!is_lost) kvo__expect_reads(&here);
    kvo__unlock(&tracked->lock);
    if (!live) {
      kvo__cell_release(tracked, result);
      *status = KVO_ERROR_NOT_REGISTERED;
      return NULL;
    }
    result->began = here.began;
    result->value = track_evaluate(&here);
    if (is_again && kvo__own.thread != NULL)
      result->began = ++kvo__own.thread->clock; /* what it sets is not followed */
    kvo_info *replaced = NULL;
    kvo_dependency *unread = NULL;
    uint64_t entered;
    kvo_key key;
    kvo__lock(&tracked->lock);
    if (here.kept != here.read_count && here.number > tracked->committed)
      replaced = kvo__silent_change(&here, &entered, &key);
    is_lost = !commit(&here, &unread);
    kvo__unlock(&tracked->lock);
    end_evaluation(&here);
    bool is_followed = replaced != NULL && !kvo__tell_silent_change(tracked, here.number, replaced, key);
    if (replaced != NULL) kvo__leave(replaced, entered);
    kvo__retire_taken(tracked, unread);
    *status = here.status;
    /* Read again: each read subscribes, this time; or another thread has followed a change meanwhile; or it has left it to a change that
     * would have told it, had what that changes not been dropped; or, once, because a getter that always sets what it reads has no end. */
    bool is_void = is_lost || is_followed || atomic_load(&tracked->is_stale);
    if (!is_void && (!here.is_outdated || is_again)) return result;
    kvo__cell_release(tracked, result);
    is_again = is_again || !is_void;
  }
}

/* After a change no caller gets a status, so this retries when memory is short. If that fails, it reports KVO0011, because keys that the
 * expression now depends on may change unnoticed. The old subscriptions remain, and the next change of one of them evaluates again. */
kvo_cell *kvo__arm(kvo_tracked *tracked, const kvo_slot *changed, kvo_status *status, bool *was_left) {
  enum { TRIES = 3 };
  kvo_cell *result = kvo__arm_once(tracked, changed, status, was_left);
  for (int tries = 1; tries < TRIES && *status == KVO_ERROR_OUT_OF_MEMORY; tries++) {
    kvo__cell_release(tracked, result);
    result = kvo__arm_once(tracked, changed, status, was_left);
  }
  if (*status == KVO_ERROR_OUT_OF_MEMORY) {
    kvo__lock(&tracked->lock);
    tracked->is_incomplete = true;
    kvo__unlock(&tracked->lock);
    kvo_fault_observation concerned;
    kvo__describe_node(tracked->anchor, &concerned);
    KVO_MISUSE(cannot_follow, &concerned);
  }
  return result;
}

/* ----------------------------------------------------------------------------------------------------------- Telling -- */

/* If a registration fails, its callback must never run. While it may still fail, and in a pause, a change is only noted in `missed`: not
 * before it happens, because the setter may refuse it. */
static void track_call(kvo_tracked *tracked, const kvo_raw_change *change, bool is_marked) {
  if (!atomic_load(&tracked->registered)) {
    if (!change->is_prior) atomic_store(&tracked->missed, true);
    if (!atomic_load(&tracked->registered)) return;
  }
  if (!is_marked)
    kvo__call(change, tracked->anchor, &tracked->live, tracked->ops->callback, tracked->user_data);
  else if (atomic_load(&tracked->live))
    tracked->ops->callback(change, tracked->user_data);
}

static void track_tell(kvo_tracked *tracked, bool is_prior, const kvo_cell *old_value, const kvo_cell *new_value,
                       bool is_marked) {
  bool wants_old = (tracked->options & KVO_OLD) != 0 && old_value != NULL;
  bool wants_new = (tracked->options & KVO_NEW) != 0 && new_value != NULL;
  kvo_raw_change record = {
      .object = tracked->object,
      .instance = tracked->instance,
      .old_value = wants_old ? old_value->value : NULL,
      .new_value = wants_new ? new_value->value : NULL,
      .kind = KVO_CHANGE_SETTING,
      .is_prior = is_prior,
      .observation = tracked->id,
  };
  track_call(tracked, &record, is_marked);
}

/* Whether a value may be delivered as the old one later: the box of a C observer does not retain an object. */
static bool may_keep(const kvo_tracked *tracked, const kvo_cell *value) {
  return tracked->keeps_last && !(kvo__is_of_c(tracked->ops) && kvo__box_may_hold_object(value->value));
}

/* Replaces the value that was told last and returns it; the caller releases it. tracked->lock is held. */
static kvo_cell *replace_last(kvo_tracked *tracked, kvo_cell *now) {
  kvo__assert(kvo__holds(&tracked->lock));
  kvo_cell *before = atomic_load_explicit(&tracked->last, memory_order_acquire);
  bool keeps = now != NULL && may_keep(tracked, now);
  if (keeps) atomic_fetch_add(&now->references, 1);
  atomic_store_explicit(&tracked->last, keeps ? now : NULL, memory_order_release);
  tracked->told_by = kvo__thread_serial();
  tracked->told_at = now != NULL ? now->began : 0;
  return before;
}

void kvo__tracked_set_last(kvo_tracked *tracked, kvo_cell *now) {
  kvo__lock(&tracked->lock);
  kvo_cell *before = replace_last(tracked, now);
  kvo__unlock(&tracked->lock);
  kvo__cell_release(tracked, before);
}

void kvo__tracked_keep_last(kvo_tracked *tracked, kvo_cell *now) {
  if (now == NULL || !may_keep(tracked, now)) return;
  kvo__lock(&tracked->lock);
  if (atomic_load_explicit(&tracked->last, memory_order_relaxed) == NULL) {
    atomic_fetch_add(&now->references, 1);
    atomic_store_explicit(&tracked->last, now, memory_order_release);
  }
  kvo__unlock(&tracked->lock);
}

void kvo__tracked_forget_last(kvo_tracked *tracked, bool unless_kept) {
  if (atomic_load_explicit(&tracked->last, memory_order_acquire) == NULL) return;
  kvo__lock(&tracked->lock);
  kvo_cell *before = atomic_load_explicit(&tracked->last, memory_order_acquire);
  bool is_kept = unless_kept && before != NULL && may_keep(tracked, before);
  if (!is_kept) atomic_store_explicit(&tracked->last, NULL, memory_order_release);
  kvo__unlock(&tracked->lock);
  if (is_kept) return;
  kvo__cell_release(tracked, before);
}

static bool are_same(const kvo_tracked *tracked, const kvo_cell *before, const kvo_cell *now) {
  return tracked->ops->same != NULL && before != NULL && now != NULL && before->value != NULL && now->value != NULL &&
         tracked->ops->same(before->value, now->value, tracked->user_data);
}

/* Whether a value is known to be what was told last. */
static bool is_last(kvo_tracked *tracked, const kvo_cell *now) {
  kvo__lock(&tracked->lock);
  kvo_cell *last = atomic_load_explicit(&tracked->last, memory_order_acquire);
  if (last != NULL) atomic_fetch_add(&last->references, 1);
  kvo__unlock(&tracked->lock);
  bool is_same = are_same(tracked, last, now);
  kvo__cell_release(tracked, last);
  return is_same;
}

static void tell_present(kvo_tracked *tracked, kvo_cell *now, bool if_changed, bool is_marked) {
  if (!atomic_load(&tracked->registered)) { /* it is told later, with the same old value */
    if (if_changed && is_last(tracked, now)) return;
    atomic_store(&tracked->missed, true);
    if (!atomic_load(&tracked->registered)) return;
  }
  kvo__lock(&tracked->lock);
  kvo_cell *before = replace_last(tracked, now);
  kvo__unlock(&tracked->lock);
  if (!if_changed || !are_same(tracked, before, now)) track_tell(tracked, false, before, now, is_marked);
  kvo__cell_release(tracked, before);
}

void kvo__tracked_tell_present(kvo_tracked *tracked, kvo_cell *now, bool if_changed) {
  tell_present(tracked, now, if_changed, false);
}

void kvo__tracked_tell_initial(kvo_tracked *tracked, kvo_cell *now) {
  kvo__tracked_set_last(tracked, now);
  track_tell(tracked, false, NULL, now, false);
}

void kvo__tracked_tell_prior(kvo_tracked *tracked) {
  kvo__lock(&tracked->lock);
  kvo_cell *last = atomic_load_explicit(&tracked->last, memory_order_acquire);
  if (last != NULL) atomic_fetch_add(&last->references, 1);
  kvo__unlock(&tracked->lock);
  track_tell(tracked, true, last, NULL, false);
  kvo__cell_release(tracked, last);
}

/* The value of the expression, made from that of the property at its end; NULL without memory. */
static kvo_cell *of_property(kvo_tracked *tracked, const kvo_raw_change *change) {
  bool is_whole = change->kind == KVO_CHANGE_SETTING;
  const kvo_property *property = change->property;
  kvo_object *changed = (kvo_object *)(uintptr_t)change->changed;
  void *copy = is_whole ? NULL : kvo__property_copy(property, changed, NULL); /* the change has only some elements */
  const void *value = is_whole ? change->new_value : copy;
  kvo_cell *made = value != NULL ? kvo__cell_make(tracked) : NULL;
  if (made != NULL) {
    made->began = kvo__own.thread != NULL ? ++kvo__own.thread->clock : 0;
    made->value = tracked->ops->of_property(property, value, tracked->user_data);
  }
  kvo__property_release(property, copy);
  return made;
}

/* Its old value is what was told last. */
static void tell_setting(kvo_tracked *tracked, const kvo_raw_change *change, bool is_marked) {
  if (change->is_prior) {
    kvo__tracked_tell_prior(tracked);
    return;
  }
  kvo_cell *now = of_property(tracked, change);
  tell_present(tracked, now, false, is_marked);
  kvo__cell_release(tracked, now);
}

/* Whether what was delivered last may be an object that has died meanwhile: the box of a C observer does not retain it. The old value of
 * the change itself is from now. */
static bool may_have_died(const kvo_tracked *tracked, const kvo_property *property) {
  return kvo__is_of_c(tracked->ops) && kvo__type_may_hold_object(property->type);
}

void kvo__tracked_leaf(kvo_tracked *tracked, const kvo_raw_change *change, bool is_marked) {
  if (tracked->keeps_last && change->kind == KVO_CHANGE_SETTING && !may_have_died(tracked, change->property)) {
    tell_setting(tracked, change, is_marked);
    return;
  }
  kvo_raw_change record = *change;
  record.object = tracked->object;
  record.instance = tracked->instance;
  record.observation = tracked->id;
  if ((tracked->options & KVO_NEW) == 0) record.new_value = NULL; /* it is there for what keeps the last value */
  bool is_told = !change->is_prior && atomic_load(&tracked->registered) != 0;
  if (is_told && tracked->keeps_last && atomic_load(&tracked->has_leaf)) {
    kvo_cell *now = of_property(tracked, change);
    kvo__tracked_set_last(tracked, now);
    kvo__cell_release(tracked, now);
  } else if (is_told) {
    kvo__tracked_forget_last(tracked, tracked->keeps_last);
  }
  track_call(tracked, &record, is_marked);
}

void kvo__tracked_settle(kvo_tracked *tracked, const kvo_slot *changed, bool if_changed) {
  kvo_status status;
  kvo_cell *now = kvo__arm(tracked, changed, &status, NULL);
  if (now != NULL || status != KVO_ERROR_NOT_REGISTERED) kvo__tracked_tell_present(tracked, now, if_changed);
  kvo__cell_release(tracked, now);
}

void kvo__tracked_read_last(kvo_tracked *tracked) {
  if (atomic_load_explicit(&tracked->last, memory_order_acquire) != NULL) return;
  kvo_cell *present = read_before(tracked);
  kvo__lock(&tracked->lock);
  bool is_first = atomic_load_explicit(&tracked->last, memory_order_relaxed) == NULL;
  if (is_first) atomic_store_explicit(&tracked->last, present, memory_order_release);
  kvo__unlock(&tracked->lock);
  if (!is_first) kvo__cell_release(tracked, present);
}
