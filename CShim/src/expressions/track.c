/* track.c - observations of expressions: evaluated while the runtime records what is read, subscribed to exactly that.
 *
 * Reads subscribe at once, before the value is read, so that no change between the reading and the subscribing is lost and no
 * object that was read can be gone when it is subscribed to. An evaluation has a number; when it is over, and no newer one is,
 * the dependencies that it did not read are dropped. Thus threads may evaluate the same observation at the same time, and what
 * remains in the end is what the newest evaluation read.
 *
 * An evaluation may declare that its value is just that of the key that it read last, as that of a key path is. A change of that
 * key cannot change what is read, so its dependency becomes a LEAF: it hands the change on, and nothing is evaluated. */
#include "text/report.h"
#include "expressions/tracked.h"

/* ---------------------------------------------------------------------------------------------------------- Lifetime -- */

static void cell_release(kvo_tracked *tracked, cell *held) {
  if (held == NULL || atomic_fetch_sub(&held->references, 1) != 1) return;
  if (held->value != NULL) tracked->ops->release(held->value, tracked->user_data);
  kvo__free(held);
}

/* The value that was last told, kept; NULL if none is. tracked->lock is held. */
static cell *hold_last(kvo_tracked *tracked) {
  if (tracked->last != NULL) atomic_fetch_add(&tracked->last->references, 1);
  return tracked->last;
}

void kvo__describe_root(const kvo_tracked *tracked, kvo_fault_observation *out) {
  out->object = tracked->instance;
  out->object_class = tracked->cls->written;
}

void kvo__describe_observation(const kvo_node *node, kvo_fault_observation *out) {
  const kvo_tracked *tracked = kvo__node_is_own(node) ? NULL : node->user_data;
  kvo__describe_node(tracked != NULL ? tracked->anchor : node, out);
}

const kvo_observer_ops *kvo__node_ops(const kvo_node *node) {
  if (kvo__node_kind(node) != KVO_NODE_ANCHOR) return node->ops;
  const kvo_tracked *tracked = node->user_data;
  return tracked->ops;
}

void *kvo__node_user_data(const kvo_node *node) {
  if (kvo__node_kind(node) != KVO_NODE_ANCHOR) return node->user_data;
  const kvo_tracked *tracked = node->user_data;
  return tracked->user_data;
}

void kvo__tracked_release(kvo_tracked *tracked) {
  if (atomic_fetch_sub(&tracked->references, 1) != 1) return;
  cell_release(tracked, tracked->last);
  void (*end)(void *user_data) = atomic_load(&tracked->registered) ? tracked->ops->destroy : tracked->ops->abandon;
  if (end != NULL) end(tracked->user_data);
  kvo__free(tracked->anchor);
  kvo__free(tracked);
}

/* -------------------------------------------------------------------------------------------------------- Evaluating -- */

/* Begins an evaluation unless the observation has ended. tracked->lock is held: whoever ends the observation takes it before
 * letting the root go, so that the root's death waits for this evaluation. */
static bool begin_evaluation(evaluation *here) {
  kvo_tracked *tracked = here->tracked;
  if (!atomic_load(&tracked->live)) return false;
  if (kvo__thread() != tracked->thread) tracked->is_shared = true;
  here->begun_before = tracked->started;
  here->serial = ++tracked->evaluations;
  here->entered = kvo__enter(tracked->root);
  here->mark = kvo__mark(tracked->id, tracked->root, NULL, NULL);
  if (here->mark == KVO_UNMARKED) return true;
  kvo_mark *mark = kvo__mark_at(here->mark);
  mark->evaluation = here;
  mark->entered = here->entered;
  mark->recorder = kvo__recorder;
  return true;
}

/* No lock may be held. */
static void end_evaluation(const evaluation *here) {
  kvo__unmark(here->mark);
  kvo__leave(here->tracked->root, here->entered);
}

/* Runs it with this thread recording. */
static void *evaluate(evaluation *here) {
  evaluation *outer_recorder = kvo__recorder;
  kvo__recorder = here;
  __atomic_fetch_add(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  if (here->mark != KVO_UNMARKED) kvo__mark_at(here->mark)->is_counted = true;
  void *value = here->tracked->ops->evaluate(here->tracked->user_data);
  if (here->mark != KVO_UNMARKED) kvo__mark_at(here->mark)->is_counted = false;
  __atomic_fetch_sub(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  kvo__recording_resume(outer_recorder);
  return value;
}

void kvo__evaluation_left(const kvo_mark *mark) {
  if (mark->is_counted) __atomic_fetch_sub(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  kvo__leave(atomic_load(&mark->root), mark->entered);
}

/* Tells if an object on the way was replaced in silence; the did that follows re-arms the observation. */
static void report_silent_change(const evaluation *over) {
  uint64_t entered;
  kvo_info *holder = kvo__silent_change(over, &entered);
  if (holder == NULL) return;
  kvo_fault_observation concerned;
  kvo__describe_node(over->tracked->anchor, &concerned);
  const kvo_property *property = kvo__class_find(holder->cls, over->compared.holder_key);
  kvo__fault_silent_change(&concerned, holder, property != NULL ? property->name : "?");
  kvo__leave(holder, entered);
}

/* Computes the value before a change of `changing`, and compares what is read with what is subscribed to; NULL when the observation
 * has ended or cannot tell. */
static void *peek(kvo_tracked *tracked, const kvo_info *changing) {
  evaluation here = {.tracked = tracked, .compared = {.changing = changing}};
  kvo__before_evaluation();
  kvo__lock(&tracked->lock);
  bool live = begin_evaluation(&here);
  here.compared.is_wanted = !tracked->is_shared && !tracked->is_incomplete;
  kvo__unlock(&tracked->lock);
  if (!live) return NULL;
  void *value = evaluate(&here);
  report_silent_change(&here);
  end_evaluation(&here);
  return value;
}

/* Evaluates and re-arms. The cell is the caller's to release; NULL when the observation has ended. */
static cell *arm_once(kvo_tracked *tracked, kvo_status *status) {
  cell *result = kvo__alloc(sizeof *result);
  if (result == NULL) {
    *status = KVO_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  evaluation here = {.tracked = tracked};
  kvo__before_evaluation();
  kvo__lock(&tracked->lock);
  bool live = begin_evaluation(&here);
  here.number = ++tracked->started;
  kvo__unlock(&tracked->lock);
  if (!live) {
    kvo__free(result);
    *status = KVO_ERROR_NOT_REGISTERED;
    return NULL;
  }
  result->value = evaluate(&here);
  atomic_store(&result->references, 1);
  cell *replaced = NULL;
  kvo__lock(&tracked->lock);
  bool newest = here.number > tracked->committed;
  if (newest) {
    tracked->committed = here.number;
    tracked->is_incomplete = here.status != KVO_OK;
    tracked->orphaned = false;
    bool has_leaf = kvo__settle_leaf(tracked, &here);
    if (tracked->keep_last) {
      replaced = tracked->last;
      tracked->last = has_leaf ? NULL : result; /* it would not follow the leaf: better none than an old one */
      if (!has_leaf) atomic_fetch_add(&result->references, 1);
    }
  }
  kvo__unlock(&tracked->lock);
  end_evaluation(&here);
  cell_release(tracked, replaced);
  /* What an incomplete evaluation did not come to read may still be needed. */
  if (!newest)
    kvo__drop_read_by(tracked, here.number);
  else if (here.status == KVO_OK)
    kvo__drop_read_before(tracked, here.number);
  *status = here.status;
  return result;
}

/* After a change, when nobody can be told by a status that memory lacks: tries again, and if that does not help says so, for what the
 * observation has come to lead to may then change untold. It keeps what it was subscribed to, and the next change of that
 * arms it. */
static cell *arm(kvo_tracked *tracked, kvo_status *status) {
  enum { TRIES = 3 };
  cell *result = arm_once(tracked, status);
  for (int tries = 1; tries < TRIES && *status == KVO_ERROR_OUT_OF_MEMORY; tries++) {
    cell_release(tracked, result);
    result = arm_once(tracked, status);
  }
  if (*status == KVO_ERROR_OUT_OF_MEMORY) {
    kvo__lock(&tracked->lock);
    tracked->is_incomplete = true;
    kvo__unlock(&tracked->lock);
    kvo_fault_observation concerned;
    kvo__describe_node(tracked->anchor, &concerned);
    kvo__fault_cannot_follow(&concerned);
  }
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- Changes -- */

/* An error of a registration means that its callback never runs: while that may still come, it is only noted. */
static void call(kvo_tracked *tracked, const kvo_raw_change *change) {
  if (!atomic_load(&tracked->registered)) {
    atomic_store(&tracked->missed, true);
    if (!atomic_load(&tracked->registered)) return;
  }
  kvo__call(change, tracked->anchor, &tracked->live, tracked->ops->callback, tracked->user_data);
}

static void tell(kvo_tracked *tracked, kvo_change_kind kind, bool is_prior, const void *old_value,
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

/* Room for one more; NULL without memory. */
static kvo_pending_value *add_pending(kvo_will_phase *will) {
  if (will->count == will->capacity) {
    kvo_pending_value *more = kvo__alloc(4 * will->capacity * sizeof *more);
    if (more == NULL) return NULL;
    memcpy(more, will->pending, will->count * sizeof *more);
    if (will->pending != &will->first) kvo__free(will->pending);
    will->pending = more;
    will->capacity *= 4;
  }
  return &will->pending[will->count++];
}

void kvo__tracked_will(kvo_tracked *tracked, const kvo_node *node, kvo_frame_content *frame) {
  bool wanted = (tracked->options & KVO_OLD) != 0;
  kvo__lock(&tracked->lock);
  cell *last = wanted && tracked->orphaned ? hold_last(tracked) : NULL;
  kvo__unlock(&tracked->lock);
  void *evaluated = wanted && last == NULL ? peek(tracked, frame->info) : NULL;
  if (!wanted && kvo__policy_names(KVO_FAULT_SILENT_CHANGE)) {
    void *unwanted = peek(tracked, frame->info);
    if (unwanted != NULL) tracked->ops->release(unwanted, tracked->user_data);
  }
  const void *old_value = last != NULL ? last->value : evaluated;
  kvo_pending_value *pending = frame->will != NULL ? add_pending(frame->will) : NULL;
  bool is_kept = pending != NULL;
  if (is_kept) {
    kvo__tracked_retain(tracked);
    *pending = (kvo_pending_value){tracked, node, evaluated, last, false};
  }
  if ((tracked->options & KVO_PRIOR) != 0) tell(tracked, KVO_CHANGE_SETTING, true, old_value, NULL);
  if (is_kept) return;
  if (evaluated != NULL) tracked->ops->release(evaluated, tracked->user_data);
  cell_release(tracked, last);
}

kvo_pending_value *kvo__pending_of(const kvo_tracked *tracked, const kvo_will_phase *will) {
  size_t first = 0, end = will->count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if (will->pending[middle].tracked->order < tracked->order)
      first = middle + 1;
    else
      end = middle;
  }
  return first < will->count && will->pending[first].tracked == tracked ? &will->pending[first] : NULL;
}

void kvo__pending_told(const kvo_tracked *tracked, kvo_will_phase *will) {
  kvo_pending_value *pending = kvo__pending_of(tracked, will);
  if (pending != NULL) pending->told = true;
}

void kvo__tracked_did(kvo_tracked *tracked, kvo_frame_content *frame) {
  if (!kvo__may_nest()) { /* nor may the evaluation, whose getters may make changes, too */
    kvo__defer(tracked->anchor);
    return;
  }
  const void *old_value = NULL;
  cell *last = NULL;
  kvo_pending_value *pending = frame->will != NULL ? kvo__pending_of(tracked, frame->will) : NULL;
  if (pending != NULL) {
    old_value = pending->last != NULL ? pending->last->value : pending->value;
    pending->told = true;
  } else if ((tracked->options & KVO_OLD) != 0) { /* it came to depend on this key during the change */
    kvo__lock(&tracked->lock);
    last = hold_last(tracked);
    kvo__unlock(&tracked->lock);
    old_value = last != NULL ? last->value : NULL;
  }
  kvo_status status;
  cell *now = arm(tracked, &status); /* without memory the new value is unknown, but the change is told */
  tell(tracked, KVO_CHANGE_SETTING, false, old_value, now != NULL ? now->value : NULL);
  cell_release(tracked, now);
  cell_release(tracked, last);
}

void kvo__tracked_retell(kvo_tracked *tracked) {
  kvo_status status;
  cell *now = arm(tracked, &status);
  tell(tracked, KVO_CHANGE_SETTING, false, NULL, now != NULL ? now->value : NULL);
  cell_release(tracked, now);
}

void kvo__tracked_missed(kvo_tracked *tracked, uint64_t birth) {
  uint64_t registered = atomic_load(&tracked->registered);
  kvo_frame_content no_frame = {.will = NULL};
  if (registered != 0 && birth > registered)
    kvo__tracked_did(tracked, &no_frame);
  else
    kvo__tracked_rearm(tracked);
}

void kvo__tracked_rearm(kvo_tracked *tracked) {
  kvo_status status;
  cell_release(tracked, arm(tracked, &status));
}

void kvo__pending_free(kvo_will_phase *will) {
  for (size_t i = will->count; i-- > 0;) {
    kvo_pending_value *pending = &will->pending[i];
    kvo_tracked *tracked = pending->tracked;
    if (pending->value != NULL) tracked->ops->release(pending->value, tracked->user_data);
    cell_release(tracked, pending->last);
    kvo__tracked_release(tracked);
  }
  if (will->pending != &will->first) kvo__free(will->pending);
  kvo__free(will);
}

/* Whether this thread is just evaluating and re-arming it. */
static bool is_being_armed(const kvo_tracked *tracked) {
  kvo__look_for_abandoned();
  uint32_t depth = kvo__this_thread != NULL ? atomic_load(&kvo__this_thread->depth) : 0;
  for (uint32_t i = 0; i < depth; i++) {
    const evaluation *each = kvo__evaluation_of(kvo__mark_at(i));
    if (each != NULL && each->tracked == tracked && each->number != 0) return true;
  }
  return false;
}

void kvo__tracked_died(kvo_tracked *tracked, const kvo_info *dying) {
  /* Died of being replaced: the did of that change tells, and re-arms. Died in an evaluation: its value is being told anyway,
   * and if the evaluation made the object, as a computed property may, the next one would make another, without end. */
  if (!atomic_load(&tracked->live) || kvo__in_change_of(tracked, dying) || is_being_armed(tracked)) return;
  kvo__lock(&tracked->lock);
  cell *before = hold_last(tracked);
  kvo__unlock(&tracked->lock);
  kvo_status status;
  cell *now = arm(tracked, &status);
  kvo__lock(&tracked->lock);
  tracked->orphaned = true;
  kvo__unlock(&tracked->lock);
  tell(tracked, KVO_CHANGE_SETTING, false, before != NULL ? before->value : NULL, now != NULL ? now->value : NULL);
  cell_release(tracked, now);
  cell_release(tracked, before);
}

/* ------------------------------------------------------------------------------------------------------ Registration -- */

/* A tracked observation and its anchor, linked, with an id; when it fails nothing is left of them. */
static kvo_status make(kvo_object *object, const kvo_binding_observer *observer, kvo_tracked **out) {
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, KVO_KEY_ANCHORS, &status);
  if (info == NULL) return status;
  kvo_tracked *tracked = kvo__alloc(sizeof *tracked);
  if (tracked == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_node *anchor = kvo__node_make(object, KVO_KEY_ANCHORS, observer, KVO_NODE_ANCHOR);
  if (anchor == NULL) {
    kvo__free(tracked);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  tracked->object = object;
  tracked->instance = kvo_object_instance(object);
  tracked->root = info;
  tracked->ops = observer->ops;
  tracked->user_data = observer->user_data;
  tracked->options = observer->options;
  atomic_store(&tracked->live, true);
  atomic_store(&tracked->references, 2); /* the anchor's, and the caller's */
  anchor->user_data = tracked;
  tracked->anchor = anchor;
  tracked->cls = info->cls;
  tracked->thread = kvo__thread();
  /* Nothing tells it of a change before it is armed, so its id and order may come after the link. */
  uint64_t entered = kvo__enter(info);
  status = kvo__node_register(object, anchor, KVO_KEY_ANCHORS, &tracked->id);
  if (status == KVO_OK)
    tracked->order = kvo__node_order(anchor);
  else
    kvo__free(tracked);
  kvo__leave(info, entered);
  *out = tracked;
  return status;
}

/* The initial notification, with the value that was read at registration unless a change has gone untold since. */
static void tell_initial(kvo_tracked *tracked, cell *value) {
  kvo_status status;
  cell *fresh = atomic_load(&tracked->missed) ? arm(tracked, &status) : NULL;
  const cell *told = fresh != NULL ? fresh : value;
  tell(tracked, KVO_CHANGE_SETTING, false, NULL, told->value);
  kvo__node_set_told(tracked->anchor, false); /* that was no change */
  cell_release(tracked, fresh);
}

/* KVO0011 for one that nothing can tell of a change; for one that only an announcement by hand can, a warning. */
static void warn_if_deaf(const kvo_object *object, kvo_tracked *tracked, const kvo_binding_observer *observer) {
  kvo__lock(&tracked->lock);
  const kvo_dependency *only = tracked->dependencies;
  bool live = atomic_load(&tracked->live), deaf = live && only == NULL, by_hand = false;
  if (live && only != NULL && only->to == NULL) {
    kvo_slot *slot = atomic_load_explicit(&only->node.slot, memory_order_relaxed);
    const kvo_property *property = kvo__slot_property(kvo__slot_info(slot), slot);
    by_hand =
        property != NULL &&
        (property->flags & (KVO_PROPERTY_COMPUTED | KVO_PROPERTY_MANUAL | KVO_PROPERTY_TOLD)) == KVO_PROPERTY_COMPUTED;
  }
  kvo__unlock(&tracked->lock);
  if (deaf || by_hand)
    kvo__fault_never_notifies(object, observer->key_path, by_hand ? KVO_SILENCE_BY_HAND : KVO_SILENCE_NOTHING_READ,
                              (kvo_place){observer->file, observer->line});
}

kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                       kvo_observation *out) {
  bool can_evaluate =
      observer != NULL && observer->ops != NULL && observer->ops->evaluate != NULL && observer->ops->release != NULL;
  if (!kvo__can_observe(object, observer, out, can_evaluate ? NULL : "observer->ops lack evaluate or release"))
    return KVO_ERROR_INVALID_ARGUMENT;
  kvo__warn_of_duplicate(object, observer);
  kvo_tracked *tracked = NULL;
  kvo_status status = make(object, observer, &tracked);
  if (status != KVO_OK) {
    if (observer->ops->abandon != NULL) observer->ops->abandon(observer->user_data);
    return status;
  }
  tracked->keep_last = keep_last;
  cell *value = arm_once(tracked, &status);
  if (status == KVO_OK) {
    atomic_store(&tracked->registered, atomic_load(&kvo__births));
    *out = tracked->id;
    warn_if_deaf(object, tracked, observer);
    if ((observer->options & KVO_INITIAL) != 0) tell_initial(tracked, value);
  } else {
    kvo_cancel_observer(tracked->id);
  }
  cell_release(tracked, value);
  kvo__tracked_release(tracked);
  return status;
}
