/* track.c - observations of expressions: evaluated while the runtime records what is read, subscribed to exactly that.
 *
 * Reads subscribe at once, before the value is read, so that no change between the reading and the subscribing is lost and no
 * object that was read can be gone when it is subscribed to. An evaluation has a number; when it is over, and no newer one is,
 * the dependencies that it did not read are dropped. Thus threads may evaluate the same observation at the same time, and what
 * remains in the end is what the newest evaluation read.
 *
 * An evaluation may declare that its value is just that of the key that it read last, as that of a key path is. A change of that
 * key cannot change what is read, so its dependency becomes a LEAF: it hands the change on, and nothing is evaluated. */
#include "internal.h"

uint32_t kvo_tracking_count;

/* A value of an evaluation, shared by deliveries and `last`. */
typedef struct kvo_cell {
  _Atomic uint32_t references;
  void *value;
} cell;

struct kvo_tracked {
  _Atomic uint32_t references;
  _Atomic bool live;
  kvo_lock lock;
  /** Valid while live. */
  kvo_object *object;
  void *instance;
  /** Of `object`. */
  kvo_info *root;
  const kvo_observer_ops *ops;
  void *user_data;
  kvo_options options;
  bool keep_last;
  /** The registration has succeeded: until then nobody is told. */
  _Atomic bool registered;
  /** There was something to tell before. */
  _Atomic bool missed;
  kvo_observation id;
  /** The anchor's place. */
  uint64_t order;
  /** Below: guarded by `lock`. */
  kvo_dependency *dependencies;
  uint64_t started, committed;
  cell *last;
  /** An object on the way died, and no change has been told since: the program's pointer to it may dangle. */
  bool orphaned;
};

/* More than that, and no read is known to be the last. */
enum { READS = 8 };

/* What an evaluation has read. */
typedef struct read {
  /** For comparison only, as the object. */
  const kvo_info *info;
  kvo_key key;
  kvo_object *object;
  const kvo_property *property;
  /** By key-value coding: the getter that it is going to call will say so too. */
  bool awaits_getter;
} read;

/* An evaluation in progress on this thread. */
typedef struct evaluation {
  struct evaluation *outer;
  kvo_tracked *tracked;
  /** 0: evaluated without recording. */
  uint64_t number;
  kvo_status status;
  /** The root's info lives as long as this: its object may die in an evaluation of its own. */
  uint64_t entered;
  uint32_t mark;
  /** What was read, in order, and how much. */
  read reads[READS];
  size_t read_count;
  /** The value is said to be that of one of them. */
  const kvo_info *value_info;
  kvo_key value_key;
} evaluation;

static _Thread_local evaluation *evaluations;
/* The innermost one that records, unless suspended. */
static _Thread_local evaluation *recorder;

/* ---------------------------------------------------------------------------------------------------------- Lifetime -- */

static void retain(kvo_tracked *tracked) { atomic_fetch_add(&tracked->references, 1); }

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

void kvo__tracked_release(kvo_tracked *tracked) {
  if (atomic_fetch_sub(&tracked->references, 1) != 1) return;
  cell_release(tracked, tracked->last);
  void (*end)(void *user_data) = atomic_load(&tracked->registered) ? tracked->ops->destroy : tracked->ops->abandon;
  if (end != NULL) end(tracked->user_data);
  kvo__free(tracked);
}

/* tracked->lock is held. */
static void chain(kvo_tracked *tracked, kvo_dependency *dependency) {
  dependency->chained = true;
  dependency->from = NULL;
  dependency->to = tracked->dependencies;
  if (tracked->dependencies != NULL) tracked->dependencies->from = dependency;
  tracked->dependencies = dependency;
}

/* tracked->lock is held. */
static void unchain(kvo_tracked *tracked, kvo_dependency *dependency) {
  if (dependency->from != NULL)
    dependency->from->to = dependency->to;
  else
    tracked->dependencies = dependency->to;
  if (dependency->to != NULL) dependency->to->from = dependency->from;
  dependency->from = dependency->to = NULL;
  dependency->chained = false;
  /* Under the lock: a new one of this observation may be linked into the same slot next, and only one may be told. */
  kvo__publish_dead(&dependency->node.live);
}

static kvo_info *info_of(const kvo_dependency *dependency) {
  return kvo__slot_info(atomic_load_explicit(&dependency->node.slot, memory_order_relaxed));
}

static kvo_key key_of(const kvo_dependency *dependency) {
  return atomic_load_explicit(&dependency->node.slot, memory_order_relaxed)->key;
}

bool kvo__tracked_detach(kvo_node *node) {
  kvo_tracked *tracked = node->user_data;
  kvo_dependency *dependency = kvo__dependency(node);
  kvo__lock(&tracked->lock);
  bool mine = dependency->chained;
  if (mine) unchain(tracked, dependency);
  kvo__unlock(&tracked->lock);
  return mine;
}

/* Takes one out of the list, onto another: who does is the one to retire it. tracked->lock is held. */
static void take(kvo_tracked *tracked, kvo_dependency *dependency, kvo_dependency **taken) {
  unchain(tracked, dependency);
  dependency->from = *taken;
  *taken = dependency;
}

/* No lock is held. */
static void retire(kvo_dependency *taken) {
  while (taken != NULL) {
    kvo_dependency *dependency = taken;
    taken = dependency->from;
    kvo__node_retire(info_of(dependency), &dependency->node);
  }
}

/* Drops the dependencies that `is_stale` picks. */
static void drop(kvo_tracked *tracked, bool (*is_stale)(const kvo_dependency *dependency, uint64_t number),
                 uint64_t number) {
  kvo_dependency *dropped = NULL;
  kvo__lock(&tracked->lock);
  for (kvo_dependency *dependency = tracked->dependencies, *next; dependency != NULL; dependency = next) {
    next = dependency->to;
    if (is_stale(dependency, number)) take(tracked, dependency, &dropped);
  }
  kvo__unlock(&tracked->lock);
  retire(dropped);
}

static bool any(const kvo_dependency *dependency, uint64_t number) {
  (void)dependency;
  (void)number;
  return true;
}

static bool older_than(const kvo_dependency *dependency, uint64_t number) { return dependency->generation < number; }
static bool of_exactly(const kvo_dependency *dependency, uint64_t number) { return dependency->generation == number; }

void kvo__tracked_stop(kvo_tracked *tracked) { kvo__publish_dead(&tracked->live); }

void kvo__tracked_end(kvo_tracked *tracked) {
  kvo__tracked_stop(tracked);
  drop(tracked, any, 0);
}

/* --------------------------------------------------------------------------------------------------------- Recording -- */

bool kvo_track_is_recording(void) { return recorder != NULL; }

void *kvo__recording_suspend(void) {
  void *suspended = recorder;
  recorder = NULL;
  return suspended;
}

void kvo__recording_resume(void *suspended) { recorder = suspended; }

void kvo__tracking_forked(void) {
  uint32_t recording = 0;
  for (const evaluation *each = evaluations; each != NULL; each = each->outer) recording += each->number != 0;
  __atomic_store_n(&kvo_tracking_count, recording, __ATOMIC_RELAXED);
}

/* The dependency of this observation in a slot: nodes stand in order, and all of one observation have its order. Its lock is
 * held, so that one which is chained stays. */
static kvo_dependency *find_dependency(kvo_tracked *tracked, kvo_info *info, kvo_key key) {
  /* Most expressions read a few keys: their own list is then shorter than that of a key that many observe. */
  enum { SHORT = 8 };
  kvo_dependency *chained = tracked->dependencies;
  for (int seen = 0; chained != NULL && seen < SHORT; seen++, chained = chained->to)
    if (info_of(chained) == info && key_of(chained) == key) return chained;
  if (chained == NULL) return NULL;
  uint64_t order = tracked->order;
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot == NULL) return NULL;
  kvo_dependency *found = NULL;
  kvo__lock(&info->lock);
  for (kvo_node *node = atomic_load(&slot->newest); node != NULL && kvo__node_order(node) >= order;
       node = atomic_load(&node->older)) {
    found = kvo__node_order(node) == order && !kvo__node_is_own(node) ? kvo__dependency(node) : NULL;
    if (found != NULL && found->chained) break;
    found = NULL;
  }
  kvo__unlock(&info->lock);
  return found;
}

/* Links a new dependency; tracked->lock is held. */
static kvo_status depend(kvo_tracked *tracked, kvo_info *info, kvo_key key, uint64_t number, kvo_dependency *made) {
  atomic_store_explicit(&made->node.kind, KVO_NODE_DEPENDENCY, memory_order_relaxed);
  made->node.options = (uint16_t)tracked->options;
  made->node.user_data = tracked;
  made->order = tracked->order;
  made->generation = number;
  kvo_status status = kvo__node_link(info, &made->node, key);
  if (status != KVO_OK) return status;
  retain(tracked);
  chain(tracked, made);
  return KVO_OK;
}

static kvo_status subscribe(kvo_tracked *tracked, kvo_info *info, kvo_key key, uint64_t number) {
  kvo_status status = KVO_OK;
  kvo_dependency *spare = NULL;
  for (;;) {
    kvo__lock(&tracked->lock);
    bool live = atomic_load(&tracked->live);
    kvo_dependency *found = live ? find_dependency(tracked, info, key) : NULL;
    bool missing = live && found == NULL;
    if (found != NULL && found->generation < number) found->generation = number;
    if (missing && spare != NULL) {
      status = depend(tracked, info, key, number, spare);
      if (status == KVO_OK) spare = NULL;
      missing = false;
    }
    kvo__unlock(&tracked->lock);
    if (!missing) break;
    spare = kvo__alloc(sizeof *spare);
    if (spare == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  }
  kvo__free(spare);
  return status;
}

void kvo__track_fail(kvo_status status) {
  if (recorder != NULL && recorder->status == KVO_OK) recorder->status = status;
}

static void note_read(evaluation *recording, const kvo_info *info, kvo_key key, bool coded) {
  size_t count = recording->read_count;
  read *last = count > 0 && count <= READS ? &recording->reads[count - 1] : NULL;
  if (!coded && last != NULL && last->awaits_getter && last->info == info && last->key == key) {
    last->awaits_getter = false;
    return;
  }
  if (count < READS) {
    read made = {info, key, info->object, kvo__class_find(info->cls, key), coded};
    recording->reads[count] = made;
  }
  recording->read_count++;
}

static void track_read(kvo_object *object, kvo_key key, bool coded) {
  evaluation *recording = recorder;
  if (recording == NULL) return;
  kvo_status status = KVO_OK;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  if (info != NULL) status = subscribe(recording->tracked, info, key, recording->number);
  if (status != KVO_OK) kvo__track_fail(status);
  if (info != NULL) note_read(recording, info, key, coded);
}

void kvo_track_read(kvo_object *object, kvo_key key) { track_read(object, key, false); }
void kvo_track_coded_read(kvo_object *object, kvo_key key) { track_read(object, key, true); }

size_t kvo_track_reads(kvo_read *reads, size_t capacity) {
  const evaluation *recording = recorder;
  if (recording == NULL) return 0;
  for (size_t i = 0; i < recording->read_count && i < capacity && i < READS; i++) {
    reads[i].object = recording->reads[i].object;
    reads[i].property = recording->reads[i].property;
  }
  return recording->read_count;
}

void *kvo_track_pause(void) { return kvo__recording_suspend(); }
void kvo_track_resume(void *paused) { kvo__recording_resume(paused); }

void kvo_track_value_is_of(kvo_object *object, kvo_key key) {
  if (recorder == NULL) return;
  recorder->value_info = kvo__word_info(kvo__word(object));
  recorder->value_key = key;
}

/* The read whose value the evaluation's value is, or NULL. */
static const read *leaf_of(const evaluation *over) {
  if (over->status != KVO_OK || over->read_count == 0 || over->read_count > READS) return NULL;
  const read *last = &over->reads[over->read_count - 1];
  /* If something else was read after it, a getter has made the value of that. */
  if (over->value_info != last->info || over->value_key != last->key) return NULL;
  for (const read *each = over->reads; each != last; each++)
    if (each->info == last->info && each->key == last->key) return NULL; /* also on the way */
  return last;
}

/* Turns its dependencies into what the newest evaluation has made of them; tells whether one is a leaf. In place: a change in
 * progress goes on to tell it. tracked->lock is held. */
static bool settle_leaf(kvo_tracked *tracked, const evaluation *over) {
  const read *leaf = leaf_of(over);
  for (kvo_dependency *each = tracked->dependencies; each != NULL; each = each->to) {
    if (each->generation != over->number) continue;
    bool is_leaf = leaf != NULL && info_of(each) == leaf->info && key_of(each) == leaf->key;
    kvo_node_kind kind = is_leaf ? KVO_NODE_LEAF : KVO_NODE_DEPENDENCY;
    if (kvo__node_kind(&each->node) != kind) kvo__node_turn(info_of(each), &each->node, kind);
  }
  return leaf != NULL;
}

/* -------------------------------------------------------------------------------------------------------- Evaluating -- */

/* Begins an evaluation unless the observation has ended. tracked->lock is held: whoever ends the observation takes it before
 * letting the root go, so that the root's death waits for this evaluation. */
static bool begin_evaluation(evaluation *here) {
  kvo_tracked *tracked = here->tracked;
  if (!atomic_load(&tracked->live)) return false;
  here->entered = kvo__enter(tracked->root);
  here->mark = kvo__mark(tracked->id, tracked->root);
  return true;
}

/* No lock may be held. */
static void end_evaluation(const evaluation *here) {
  kvo__unmark(here->mark);
  kvo__leave(here->tracked->root, here->entered);
}

/* Computes the value, without recording; NULL when the observation has ended or cannot tell. */
static void *peek(kvo_tracked *tracked) {
  evaluation here = {.outer = evaluations, .tracked = tracked};
  kvo__lock(&tracked->lock);
  bool live = begin_evaluation(&here);
  kvo__unlock(&tracked->lock);
  if (!live) return NULL;
  evaluations = &here;
  void *suspended = kvo__recording_suspend();
  void *value = tracked->ops->evaluate(tracked->user_data);
  kvo__recording_resume(suspended);
  evaluations = here.outer;
  end_evaluation(&here);
  return value;
}

/* Evaluates and re-arms. The cell is the caller's to release; NULL when the observation has ended. */
static cell *arm(kvo_tracked *tracked, kvo_status *status) {
  cell *result = kvo__alloc(sizeof *result);
  if (result == NULL) {
    *status = KVO_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  evaluation here = {.outer = evaluations, .tracked = tracked};
  kvo__lock(&tracked->lock);
  bool live = begin_evaluation(&here);
  here.number = ++tracked->started;
  kvo__unlock(&tracked->lock);
  if (!live) {
    kvo__free(result);
    *status = KVO_ERROR_NOT_REGISTERED;
    return NULL;
  }
  evaluations = &here;
  evaluation *outer_recorder = recorder;
  recorder = &here;
  __atomic_fetch_add(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  result->value = tracked->ops->evaluate(tracked->user_data);
  __atomic_fetch_sub(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  recorder = outer_recorder;
  evaluations = here.outer;

  atomic_store(&result->references, 1);
  cell *replaced = NULL;
  kvo__lock(&tracked->lock);
  bool newest = here.number > tracked->committed;
  if (newest) {
    tracked->committed = here.number;
    tracked->orphaned = false;
    bool has_leaf = settle_leaf(tracked, &here);
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
    drop(tracked, of_exactly, here.number);
  else if (here.status == KVO_OK)
    drop(tracked, older_than, here.number);
  *status = here.status;
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- Changes -- */

/* An error of a registration means that its callback never runs: while that may still come, it is only noted. */
static void call(kvo_tracked *tracked, const kvo_raw_change *change) {
  if (!atomic_load(&tracked->registered)) {
    atomic_store(&tracked->missed, true);
    if (!atomic_load(&tracked->registered)) return;
  }
  kvo__call(change, &tracked->live, tracked->ops->callback, tracked->user_data);
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

void kvo__tracked_will(kvo_tracked *tracked, kvo_frame_content *frame) {
  kvo_pending_value *pending = frame->will != NULL ? kvo__alloc(sizeof *pending) : NULL;
  bool wanted = (tracked->options & KVO_OLD) != 0;
  kvo__lock(&tracked->lock);
  cell *last = wanted && tracked->orphaned ? hold_last(tracked) : NULL;
  kvo__unlock(&tracked->lock);
  void *evaluated = wanted && last == NULL ? peek(tracked) : NULL;
  const void *old_value = last != NULL ? last->value : evaluated;
  if (pending != NULL) {
    retain(tracked);
    pending->tracked = tracked;
    pending->value = evaluated;
    pending->last = last;
    pending->next = frame->will->pending;
    frame->will->pending = pending;
  }
  if ((tracked->options & KVO_PRIOR) != 0) tell(tracked, KVO_CHANGE_SETTING, true, old_value, NULL);
  if (pending != NULL) return;
  if (evaluated != NULL) tracked->ops->release(evaluated, tracked->user_data);
  cell_release(tracked, last);
}

/* Newest registration first, as the did phase goes; from the start only where registrations have gone in between. */
static kvo_pending_value *pending_of(const kvo_tracked *tracked, kvo_will_phase *will) {
  kvo_pending_value *pending = will->cursor != NULL ? will->cursor->next : will->pending;
  if (pending == NULL || pending->tracked != tracked) {
    pending = will->pending;
    while (pending != NULL && pending->tracked != tracked) pending = pending->next;
  }
  if (pending != NULL) will->cursor = pending;
  return pending;
}

void kvo__pending_told(const kvo_tracked *tracked, kvo_will_phase *will) {
  kvo_pending_value *pending = pending_of(tracked, will);
  if (pending != NULL) pending->told = true;
}

void kvo__tracked_did(kvo_tracked *tracked, kvo_frame_content *frame) {
  const void *old_value = NULL;
  cell *last = NULL;
  kvo_pending_value *pending = frame->will != NULL ? pending_of(tracked, frame->will) : NULL;
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

void kvo__tracked_rearm(kvo_tracked *tracked) {
  kvo_status status;
  cell_release(tracked, arm(tracked, &status));
}

void kvo__pending_free(kvo_will_phase *will) {
  while (will->pending != NULL) {
    kvo_pending_value *pending = will->pending;
    will->pending = pending->next;
    kvo_tracked *tracked = pending->tracked;
    if (pending->value != NULL) tracked->ops->release(pending->value, tracked->user_data);
    cell_release(tracked, pending->last);
    kvo__free(pending);
    kvo__tracked_release(tracked);
  }
  kvo__free(will);
}

/* Whether this thread is just evaluating and re-arming it. */
static bool is_being_armed(const kvo_tracked *tracked) {
  for (const evaluation *each = evaluations; each != NULL; each = each->outer)
    if (each->tracked == tracked && each->number != 0) return true;
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
  kvo_node *anchor = kvo__node_make(object, observer, KVO_NODE_ANCHOR);
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
  cell_release(tracked, fresh);
}

kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                       kvo_observation *out) {
  kvo_tracked *tracked = NULL;
  kvo_status status = make(object, observer, &tracked);
  if (status != KVO_OK) {
    if (observer->ops->abandon != NULL) observer->ops->abandon(observer->user_data);
    return status;
  }
  tracked->keep_last = keep_last;
  cell *value = arm(tracked, &status);
  if (status == KVO_OK) {
    atomic_store(&tracked->registered, true);
    *out = tracked->id;
    kvo__lock(&tracked->lock);
    bool deaf = tracked->dependencies == NULL && atomic_load(&tracked->live);
    kvo__unlock(&tracked->lock);
    if (deaf) kvo__fault_never_notifies(object, observer);
    if ((observer->options & KVO_INITIAL) != 0) tell_initial(tracked, value);
  } else {
    kvo_cancel_observer(tracked->id);
  }
  cell_release(tracked, value);
  kvo__tracked_release(tracked);
  return status;
}
