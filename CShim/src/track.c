/* track.c - observations of expressions: evaluated while the runtime records what is read, subscribed to exactly that.
 *
 * Reads subscribe at once, before the value is read, so that no change between the reading and the subscribing is lost and no
 * object that was read can be gone when it is subscribed to. An evaluation has a number; when it is over, and no newer one is,
 * the dependencies that it did not read are dropped. Thus threads may evaluate the same observation at the same time, and what
 * remains in the end is what the newest evaluation read. */
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
  /** Of `object`. */
  kvo_info *root;
  kvo_raw_callback callback;
  void *user_data;
  void (*destroy)(void *user_data);
  void *(*evaluate)(void *user_data);
  void (*release)(void *value, void *user_data);
  kvo_options options;
  bool keep_last;
  kvo_observation id;
  uint64_t order;
  /** Below: guarded by `lock`. */
  kvo_node *dependencies;
  uint64_t started, committed;
  cell *last;
  /** An object on the way died, and no change has been told since: the program's pointer to it may dangle. */
  bool orphaned;
};

/* An evaluation in progress on this thread. */
typedef struct evaluation {
  struct evaluation *outer;
  kvo_tracked *tracked;
  /** 0: evaluated without recording. */
  uint64_t number;
  kvo_status status;
  /** The root's info lives as long as this: its object may die in an evaluation of its own. */
  uint32_t root_epoch;
} evaluation;

static _Thread_local evaluation *evaluations;
/* The innermost one that records, unless suspended. */
static _Thread_local evaluation *recorder;

/* ---------------------------------------------------------------------------------------------------------- Lifetime -- */

static void retain(kvo_tracked *tracked) { atomic_fetch_add(&tracked->references, 1); }

static void cell_release(kvo_tracked *tracked, cell *held) {
  if (held == NULL || atomic_fetch_sub(&held->references, 1) != 1) return;
  if (held->value != NULL) tracked->release(held->value, tracked->user_data);
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
  if (tracked->destroy != NULL) tracked->destroy(tracked->user_data);
  kvo__free(tracked);
}

/* tracked->lock is held. */
static void chain(kvo_tracked *tracked, kvo_node *dependency) {
  dependency->chained = true;
  dependency->chained_from = NULL;
  dependency->chain = tracked->dependencies;
  if (tracked->dependencies != NULL) tracked->dependencies->chained_from = dependency;
  tracked->dependencies = dependency;
}

/* tracked->lock is held. */
static void unchain(kvo_tracked *tracked, kvo_node *dependency) {
  if (dependency->chained_from != NULL)
    dependency->chained_from->chain = dependency->chain;
  else
    tracked->dependencies = dependency->chain;
  if (dependency->chain != NULL) dependency->chain->chained_from = dependency->chained_from;
  dependency->chained_from = dependency->chain = NULL;
  dependency->chained = false;
  /* Under the lock: a new one of this observation may be linked into the same slot next, and only one may be told. */
  atomic_store(&dependency->live, false);
}

bool kvo__tracked_detach(kvo_tracked *tracked, kvo_node *dependency) {
  kvo__lock(&tracked->lock);
  bool mine = dependency->chained;
  if (mine) unchain(tracked, dependency);
  kvo__unlock(&tracked->lock);
  return mine;
}

/* Drops the dependencies that `is_stale` picks. The info of one is alive while the list has it, for its object's death takes it
 * out first; and then as long as this thread is a reader. */
static void drop(kvo_tracked *tracked, bool (*is_stale)(const kvo_node *dependency, uint64_t number), uint64_t number) {
  kvo_node *dropped = NULL;
  kvo__lock(&tracked->lock);
  for (kvo_node *dependency = tracked->dependencies, *next; dependency != NULL; dependency = next) {
    next = dependency->chain;
    if (!is_stale(dependency, number)) continue;
    unchain(tracked, dependency);
    dependency->epoch = kvo__enter(dependency->slot->info);
    dependency->chained_from = dropped;
    dropped = dependency;
  }
  kvo__unlock(&tracked->lock);
  while (dropped != NULL) {
    kvo_node *dependency = dropped;
    kvo_info *info = dependency->slot->info;
    uint32_t epoch = dependency->epoch;
    dropped = dependency->chained_from;
    kvo__node_unlink(info, dependency);
    kvo__leave(info, epoch);
  }
}

static bool any(const kvo_node *dependency, uint64_t number) {
  (void)dependency;
  (void)number;
  return true;
}

static bool older_than(const kvo_node *dependency, uint64_t number) { return dependency->generation < number; }
static bool of_exactly(const kvo_node *dependency, uint64_t number) { return dependency->generation == number; }

void kvo__tracked_end(kvo_tracked *tracked) {
  atomic_store(&tracked->live, false);
  drop(tracked, any, 0);
}

void kvo__evaluations_wait(kvo_info *root) {
  uint32_t own = 0, count;
  for (const evaluation *each = evaluations; each != NULL; each = each->outer)
    if (each->tracked->root == root) own++;
  atomic_store(&root->awaited, true);
  while ((count = atomic_load(&root->evaluating)) > own) kvo__futex_wait(&root->evaluating, count);
}

/* --------------------------------------------------------------------------------------------------------- Recording -- */

bool kvo_track_is_recording(void) { return recorder != NULL; }

void *kvo__recording_suspend(void) {
  void *suspended = recorder;
  recorder = NULL;
  return suspended;
}

void kvo__recording_resume(void *suspended) { recorder = suspended; }

/* The dependency of this observation in a slot: nodes stand in order, and all of one observation have its order. Its lock is
 * held, so that one which is chained stays. */
static kvo_node *find_dependency(kvo_tracked *tracked, kvo_info *info, kvo_key key) {
  /* Most expressions read a few keys: their own list is then shorter than that of a key that many observe. */
  enum { SHORT = 8 };
  kvo_node *chained = tracked->dependencies;
  for (int seen = 0; chained != NULL && seen < SHORT; seen++, chained = chained->chain)
    if (chained->slot->info == info && chained->slot->key == key) return chained;
  if (chained == NULL) return NULL;
  uint64_t order = tracked->order;
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot == NULL) return NULL;
  kvo__lock(&info->lock);
  kvo_node *node = atomic_load(&slot->newest);
  while (node != NULL && (node->order > order || (node->order == order && !node->chained)))
    node = atomic_load(&node->older);
  if (node != NULL && node->order != order) node = NULL;
  kvo__unlock(&info->lock);
  return node;
}

static kvo_status subscribe(kvo_tracked *tracked, kvo_object *object, kvo_key key, uint64_t number) {
  kvo_status status = KVO_OK;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  if (info == NULL) return status;
  kvo_node *spare = kvo__alloc(sizeof *spare);
  if (spare == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo__lock(&tracked->lock);
  kvo_node *found = atomic_load(&tracked->live) ? find_dependency(tracked, info, key) : NULL;
  if (found != NULL) {
    if (found->generation < number) found->generation = number;
  } else if (atomic_load(&tracked->live)) {
    spare->kind = KVO_NODE_DEPENDENCY;
    spare->order = tracked->order;
    spare->tracked = tracked;
    spare->generation = number;
    status = kvo__node_link(info, spare, key);
    if (status == KVO_OK) {
      retain(tracked);
      chain(tracked, spare);
      spare = NULL;
    }
  }
  kvo__unlock(&tracked->lock);
  kvo__free(spare);
  return status;
}

void kvo__track_fail(kvo_status status) {
  if (recorder != NULL && recorder->status == KVO_OK) recorder->status = status;
}

void kvo_track_read(kvo_object *object, kvo_key key) {
  evaluation *recording = recorder;
  if (recording == NULL) return;
  kvo_status status = subscribe(recording->tracked, object, key, recording->number);
  if (status != KVO_OK) kvo__track_fail(status);
}

/* -------------------------------------------------------------------------------------------------------- Evaluating -- */

/* Begins an evaluation unless the observation has ended. tracked->lock is held: whoever ends the observation takes it before
 * letting the root go, so that the root's death waits for this evaluation. */
static bool begin_evaluation(evaluation *here) {
  kvo_tracked *tracked = here->tracked;
  if (!atomic_load(&tracked->live)) return false;
  here->root_epoch = kvo__enter(tracked->root);
  atomic_fetch_add(&tracked->root->evaluating, 1);
  return true;
}

/* No lock may be held. */
static void end_evaluation(const evaluation *here) {
  kvo_info *root = here->tracked->root;
  atomic_fetch_sub(&root->evaluating, 1);
  if (atomic_load(&root->awaited)) kvo__futex_wake_all(&root->evaluating);
  kvo__leave(root, here->root_epoch);
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
  void *value = tracked->evaluate(tracked->user_data);
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
  result->value = tracked->evaluate(tracked->user_data);
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
    if (tracked->keep_last) {
      replaced = tracked->last;
      tracked->last = result;
      atomic_fetch_add(&result->references, 1);
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

static void tell(kvo_tracked *tracked, kvo_change_kind kind, bool is_prior, const void *old_value,
                 const void *new_value) {
  kvo_raw_change record = {
      .object = tracked->object,
      .old_value = (tracked->options & KVO_OLD) != 0 ? old_value : NULL,
      .new_value = (tracked->options & KVO_NEW) != 0 ? new_value : NULL,
      .kind = kind,
      .is_prior = is_prior,
      .observation = tracked->id,
  };
  if (atomic_load(&tracked->live)) kvo__call(&record, tracked->callback, tracked->user_data);
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
  if (evaluated != NULL) tracked->release(evaluated, tracked->user_data);
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

void kvo__tracked_did(kvo_tracked *tracked, kvo_frame_content *frame) {
  const void *old_value = NULL;
  kvo_pending_value *pending = frame->will != NULL ? pending_of(tracked, frame->will) : NULL;
  if (pending != NULL) {
    old_value = pending->last != NULL ? pending->last->value : pending->value;
    pending->told = true;
  }
  kvo_status status;
  cell *now = arm(tracked, &status); /* without memory the new value is unknown, but the change is told */
  tell(tracked, KVO_CHANGE_SETTING, false, old_value, now != NULL ? now->value : NULL);
  cell_release(tracked, now);
}

void kvo__pending_free(kvo_will_phase *will) {
  while (will->pending != NULL) {
    kvo_pending_value *pending = will->pending;
    will->pending = pending->next;
    kvo_tracked *tracked = pending->tracked;
    if (pending->value != NULL) tracked->release(pending->value, tracked->user_data);
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

/* A tracked observation and its anchor, linked, with an id; nothing is left of them when it fails. */
static kvo_status make(kvo_object *object, const kvo_binding_observer *observer, kvo_tracked **out) {
  kvo_tracked *tracked = kvo__alloc(sizeof *tracked);
  if (tracked == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_node *anchor = kvo__node_make(object, observer);
  if (anchor == NULL) {
    kvo__free(tracked);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  tracked->object = object;
  tracked->callback = observer->callback;
  tracked->user_data = observer->user_data;
  tracked->options = observer->options;
  tracked->order = anchor->order;
  atomic_store(&tracked->live, true);
  atomic_store(&tracked->references, 2); /* the anchor's, and the caller's */
  anchor->kind = KVO_NODE_ANCHOR;
  anchor->tracked = tracked;
  anchor->destroy = NULL;
  /* Nothing tells it of a change before it is armed, so its id may come after the link. */
  kvo_status status = kvo__node_register(object, anchor, KVO_KEY_ANCHORS, &tracked->id);
  if (status != KVO_OK) {
    kvo__free(tracked);
    return status;
  }
  tracked->root = kvo__word_info(kvo__word(object));
  *out = tracked;
  return KVO_OK;
}

kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer,
                                       void *(*evaluate)(void *user_data),
                                       void (*release)(void *value, void *user_data), bool keep_last,
                                       kvo_observation *out) {
  kvo_tracked *tracked;
  kvo_status status = make(object, observer, &tracked);
  if (status != KVO_OK) return status;
  tracked->evaluate = evaluate;
  tracked->release = release;
  tracked->keep_last = keep_last;
  cell *value = arm(tracked, &status);
  if (status == KVO_OK) {
    tracked->destroy = observer->destroy; /* from here on the registration has succeeded */
    *out = tracked->id;
    kvo__lock(&tracked->lock);
    bool deaf = tracked->dependencies == NULL && atomic_load(&tracked->live);
    kvo__unlock(&tracked->lock);
    if (deaf) kvo__fault_never_notifies(object, observer);
    if ((observer->options & KVO_INITIAL) != 0) tell(tracked, KVO_CHANGE_SETTING, false, NULL, value->value);
  } else {
    kvo_cancel_observer(tracked->id);
  }
  cell_release(tracked, value);
  kvo__tracked_release(tracked);
  return status;
}
