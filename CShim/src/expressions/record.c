/* record.c - the reads of an evaluation: the dependencies that it adds, keeps and drops, and which of them is a leaf. */
#include "expressions/tracked.h"

uint32_t kvo_tracking_count;

/* ---------------------------------------------------------------------------------------------------------- Lifetime -- */

kvo_cell *kvo__cell_make(kvo_tracked *tracked) {
  kvo_cell *made = atomic_load_explicit(&tracked->spare, memory_order_relaxed);
  if (made != NULL) made = atomic_exchange(&tracked->spare, NULL);
  if (made == NULL) made = kvo__alloc(sizeof *made);
  if (made == NULL) return NULL;
  atomic_store_explicit(&made->references, 1, memory_order_relaxed);
  made->value = NULL;
  return made;
}

void kvo__cell_release(kvo_tracked *tracked, kvo_cell *held) {
  if (held == NULL) return;
  /* The only reference needs no atomic subtraction: others are made from one that is held. */
  bool is_only = atomic_load_explicit(&held->references, memory_order_acquire) == 1;
  if (!is_only && atomic_fetch_sub(&held->references, 1) != 1) return;
  if (held->value != NULL) tracked->ops->release(held->value, tracked->user_data);
  kvo_cell *none = NULL;
  if (!atomic_compare_exchange_strong(&tracked->spare, &none, held)) kvo__free(held);
}

void kvo__tracked_release(kvo_tracked *tracked) {
  if (atomic_fetch_sub(&tracked->references, 1) != 1) return;
  kvo__cell_release(tracked, atomic_load(&tracked->last));
  kvo__free(atomic_load(&tracked->spare));
  kvo__free(atomic_load(&tracked->spare_dependency));
  if (tracked->is_complete) {
    kvo__node_destroy(tracked->anchor, tracked->ops, tracked->user_data);
  } else {
    kvo__id_let_go(tracked->anchor);
    if (tracked->ops->abandon != NULL) tracked->ops->abandon(tracked->user_data);
  }
  kvo__node_drop(tracked->anchor);
  kvo__free(tracked);
}

void kvo__evaluation_left(const kvo_mark *mark) {
  if (mark->is_counted) __atomic_fetch_sub(&kvo_tracking_count, 1, __ATOMIC_RELAXED);
  kvo__leave(atomic_load(&mark->root), atomic_load(&mark->entered));
}

/* ------------------------------------------------------------------------------------------------------ Dependencies -- */

/* tracked->lock is held. */
static void count_change(kvo_tracked *tracked) {
  uint64_t before = atomic_load_explicit(&tracked->list_changes, memory_order_relaxed);
  atomic_store_explicit(&tracked->list_changes, before + 1, memory_order_relaxed);
}

/* tracked->lock is held. */
static void chain(kvo_tracked *tracked, kvo_dependency *dependency) {
  kvo__assert(kvo__holds(&tracked->lock));
  dependency->chained = true;
  count_change(tracked);
  dependency->from = NULL;
  dependency->to = tracked->dependencies;
  if (tracked->dependencies != NULL) tracked->dependencies->from = dependency;
  tracked->dependencies = dependency;
}

/* tracked->lock is held. */
static void unchain(kvo_tracked *tracked, kvo_dependency *dependency) {
  kvo__assert(kvo__holds(&tracked->lock));
  if (dependency->from != NULL)
    dependency->from->to = dependency->to;
  else
    tracked->dependencies = dependency->to;
  if (dependency->to != NULL) dependency->to->from = dependency->from;
  dependency->from = dependency->to = NULL;
  dependency->chained = false;
  count_change(tracked);
  /* Under the lock: another node of this observation may be linked into the same slot next, and only one of them may be notified. */
  kvo__publish_dead(&dependency->node.live);
}

bool kvo__tracked_detach(kvo_node *node) {
  kvo_tracked *tracked = node->user_data;
  kvo_dependency *dependency = kvo__dependency(node);
  kvo__lock(&tracked->lock);
  bool mine = dependency->chained;
  if (mine) unchain(tracked, dependency);
  tracked->orphaned = tracked->orphaned || mine;
  kvo__unlock(&tracked->lock);
  return mine;
}

/* Moves a dependency to the list `taken`. The thread that does it has to retire the node. tracked->lock is held. */
static void record_take(kvo_tracked *tracked, kvo_dependency *dependency, kvo_dependency **taken) {
  unchain(tracked, dependency);
  dependency->from = *taken;
  *taken = dependency;
}

kvo_dependency *kvo__take_read_by(kvo_tracked *tracked, uint64_t number) {
  kvo__assert(kvo__holds(&tracked->lock));
  kvo_dependency *taken = NULL;
  for (kvo_dependency *each = tracked->dependencies, *next; each != NULL; each = next) {
    next = each->to;
    if (number == 0 || each->generation == number) record_take(tracked, each, &taken);
  }
  return taken;
}

void kvo__retire_taken(kvo_tracked *tracked, kvo_dependency *taken) {
  while (taken != NULL) {
    kvo_dependency *each = taken, *none = NULL;
    taken = each->from;
    if (!kvo__node_unlink(kvo__dependency_info(each), &each->node)) continue;
    if (atomic_compare_exchange_strong(&tracked->spare_dependency, &none, each))
      kvo__tracked_release(tracked);
    else
      kvo__node_free(&each->node);
  }
}

void kvo__tracked_stop(kvo_tracked *tracked) { kvo__publish_dead(&tracked->live); }

void kvo__tracked_end(kvo_tracked *tracked) {
  kvo__tracked_stop(tracked);
  kvo__lock(&tracked->lock);
  kvo_dependency *taken = kvo__take_read_by(tracked, 0);
  kvo__unlock(&tracked->lock);
  kvo__retire_taken(tracked, taken);
}

/* --------------------------------------------------------------------------------------------------------- Recording -- */

bool kvo_track_is_recording(void) { return kvo__own.recorder != NULL; }

void *kvo__recording_suspend(void) {
  void *suspended = kvo__own.recorder;
  kvo__own.recorder = NULL;
  return suspended;
}

/* Whether an evaluation is in progress on this thread. On several stacks they may end in any order. */
static bool record_is_in_progress(const kvo_evaluation *of) {
  uint32_t depth = kvo__present_depth();
  for (uint32_t i = depth; i > 0; i--)
    if (kvo__evaluation_of(kvo__mark_at(i - 1)) == of) return true;
  return false;
}

void kvo__recording_resume(void *suspended) {
  kvo__own.recorder = suspended != NULL && record_is_in_progress(suspended) ? suspended : NULL;
}

void kvo__tracking_forked(void) {
  uint32_t recording = 0, depth = kvo__present_depth();
  for (uint32_t i = 0; i < depth; i++)
    recording += kvo__evaluation_of(kvo__mark_at(i)) != NULL && kvo__mark_at(i)->is_counted;
  __atomic_store_n(&kvo_tracking_count, recording, __ATOMIC_RELAXED);
}

/* The dependency of this observation on a key, or NULL. The nodes of a slot are sorted by order, and all nodes of an observation have its
 * order. tracked->lock is held, so that a dependency in the list stays there. */
static kvo_dependency *find_dependency(kvo_tracked *tracked, kvo_info *info, kvo_key key) {
  kvo__assert(kvo__holds(&tracked->lock));
  /* Most expressions read few keys: then their own list is shorter than the list of a key with many observers. */
  enum { SHORT = 8 };
  kvo_dependency *chained = tracked->dependencies;
  for (int seen = 0; chained != NULL && seen < SHORT; seen++, chained = chained->to)
    if (kvo__dependency_info(chained) == info && kvo__dependency_key(chained) == key) return chained;
  if (chained == NULL) return NULL;
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot == NULL) return NULL;
  kvo__lock(&info->lock);
  kvo_node *node = kvo__slot_place(info, slot, tracked->order);
  kvo_dependency *found = NULL;
  for (; node != NULL && kvo__node_order(node) == tracked->order && found == NULL; node = atomic_load(&node->older))
    if (!kvo__node_is_own(node) && kvo__dependency(node)->chained) found = kvo__dependency(node);
  kvo__unlock(&info->lock);
  return found;
}

bool kvo__tracked_awaits_silent(kvo_tracked *tracked) {
  kvo__lock(&tracked->lock);
  kvo_dependency *each = tracked->dependencies;
  while (each != NULL && (kvo__node_kind(&each->node) == KVO_NODE_LEAF ||
                          !kvo__silent_is_open(kvo__dependency_info(each), kvo__dependency_key(each))))
    each = each->to;
  kvo__unlock(&tracked->lock);
  return each != NULL;
}

static uint64_t newer(uint64_t one, uint64_t other) { return one > other ? one : other; }

/* Links a new dependency; tracked->lock is held. */
static kvo_status depend(kvo_tracked *tracked, kvo_info *info, kvo_key key, uint64_t number) {
  kvo__assert(kvo__holds(&tracked->lock));
  kvo_dependency *made = atomic_exchange(&tracked->spare_dependency, NULL);
  if (made != NULL)
    memset(made, 0, sizeof *made);
  else if ((made = kvo__alloc(sizeof *made)) == NULL)
    return KVO_ERROR_OUT_OF_MEMORY;
  atomic_store_explicit(&made->node.kind, KVO_NODE_DEPENDENCY, memory_order_relaxed);
  made->node.options =
      (uint16_t)(tracked->options | (tracked->keeps_last ? KVO_NEW : 0) |
                 (tracked->reads_before ? KVO_NODE_READS_BEFORE : 0) | (tracked->is_checked ? KVO_NODE_IS_CHECKED : 0) |
                 (tracked->is_binding ? KVO_NODE_BINDS : 0));
  made->node.user_data = tracked;
  made->order = tracked->order;
  made->generation = number;
  kvo_status status = kvo__node_link(info, &made->node, key);
  if (status != KVO_OK) {
    kvo__free(made);
    return status;
  }
  kvo__tracked_retain(tracked);
  chain(tracked, made);
  return KVO_OK;
}

static kvo_status subscribe(const kvo_evaluation *here, kvo_info *info, kvo_key key, const kvo_slot **slot) {
  kvo_tracked *tracked = here->tracked;
  kvo_status status = KVO_OK;
  kvo__lock(&tracked->lock);
  bool live = atomic_load(&tracked->live);
  kvo_dependency *found = live ? find_dependency(tracked, info, key) : NULL;
  if (found != NULL)
    found->generation = newer(found->generation, here->number);
  else if (live)
    status = depend(tracked, info, key, here->number);
  *slot = kvo__slot_find(info, key);
  kvo__unlock(&tracked->lock);
  return status;
}

void kvo__track_fail(kvo_status status) {
  if (kvo__own.recorder != NULL && kvo__own.recorder->status == KVO_OK) kvo__own.recorder->status = status;
}

void kvo__track_dying(void) {
  if (kvo__own.recorder != NULL) kvo__own.recorder->has_met_dying = true;
}

/* Whether it is the same read once more: key-value coding has reported it, and now the getter does. */
static inline bool is_reported(kvo_evaluation *here, const kvo_object *object, kvo_key key) {
  const kvo_key_read *last = &here->reads[here->read_count - 1];
  here->expects_getter = false;
  return here->read_count - 1 < KVO_MAX_READS && last->object == object && last->key == key;
}

/* Whether it has been read already, where it was expected. The thread that drops it belongs to a newer evaluation, or kvo__commit_reads
 * finds that it is gone. */
static bool record_is_kept(const kvo_evaluation *here, const kvo_slot *slot) {
  uint32_t i = 0;
  while (i < here->kept && here->reads[i].slot != slot) i++;
  return i < here->kept;
}

/* A read that was not expected. From now on none is. `coded`: by key-value coding, which goes on to call the getter. */
__attribute__((noinline)) static void read_otherwise(kvo_evaluation *here, kvo_object *object, kvo_key key,
                                                     bool coded) {
  kvo_status status = KVO_OK;
  if (!coded && here->expects_getter && is_reported(here, object, key)) return;
  here->expects_getter = coded;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  const kvo_slot *slot = info != NULL ? kvo__slot_find(info, key) : NULL;
  if (info != NULL && (slot == NULL || !record_is_kept(here, slot))) status = subscribe(here, info, key, &slot);
  if (status == KVO_ERROR_DYING_OBJECT) here->has_met_dying = true;
  if (status != KVO_OK) kvo__track_fail(status);
  if (info == NULL) return;
  size_t at = here->read_count++;
  if (at < KVO_MAX_READS) here->reads[at] = (kvo_key_read){slot, key, object, kvo__class_find(info->cls, key), NULL};
}

/* A read that is expected next, like all before it, is only counted. */
static inline void record(kvo_evaluation *here, kvo_object *object, kvo_key key, bool coded) {
  uint32_t next = here->kept;
  bool is_next = next < here->expected_count && next == here->read_count && here->reads[next].key == key &&
                 here->reads[next].object == object;
  if (__builtin_expect(!is_next, false)) {
    read_otherwise(here, object, key, coded);
    return;
  }
  here->expects_getter = coded;
  here->kept = next + 1;
  here->read_count++;
}

void kvo_track_read(kvo_object *object, kvo_key key) {
  kvo__look_for_abandoned(); /* a getter may have caught an exception of its callee */
  if (kvo__own.recorder != NULL && object != NULL) record(kvo__own.recorder, object, key, false);
}

void kvo_track_coded_read(kvo_object *object, kvo_key key) {
  kvo__look_for_abandoned();
  if (kvo__own.recorder != NULL && object != NULL) record(kvo__own.recorder, object, key, true);
}

bool kvo__track_declared(kvo_object *object, kvo_key key) {
  kvo_evaluation *recording = kvo__own.recorder;
  if (recording == NULL) return true;
  kvo_info *info = kvo__word_info(kvo__word(object));
  kvo_tracked *tracked = recording->tracked;
  kvo__lock(&tracked->lock);
  kvo_dependency *read = info != NULL ? find_dependency(tracked, info, key) : NULL;
  bool is_first = read != NULL && read->declared_in != recording->number;
  if (is_first) read->declared_in = recording->number;
  kvo__unlock(&tracked->lock);
  return is_first;
}

size_t kvo_track_reads(kvo_read *reads, size_t capacity) {
  kvo_evaluation *recording = kvo__own.recorder;
  if (recording == NULL) return 0;
  if (reads == NULL) capacity = 0;
  for (size_t i = 0; i < recording->read_count && i < capacity && i < KVO_MAX_READS; i++) {
    reads[i].object = recording->reads[i].object;
    reads[i].property = recording->reads[i].property;
  }
  return recording->read_count;
}

void *kvo_track_pause(void) { return kvo__recording_suspend(); }
void kvo_track_resume(void *paused) { kvo__recording_resume(paused); }

/* Takes the slot that was noted with the read, not that of the object: it may have been released since, if another thread replaced it. */
void kvo_track_value_is_of(kvo_object *object, kvo_key key) {
  kvo_evaluation *recording = kvo__own.recorder;
  size_t count = recording != NULL ? recording->read_count : 0;
  if (object == NULL || count == 0 || count > KVO_MAX_READS) return;
  const kvo_key_read *last = &recording->reads[count - 1];
  if (last->object != object || last->key != key) return;
  recording->value_slot = last->slot;
}

void kvo_track_elements_are_of(kvo_object *object, kvo_key key) {
  if (kvo__own.recorder == NULL || object == NULL) return;
  kvo_info *info = kvo__word_info(kvo__word(object));
  kvo__own.recorder->subject_slot = info != NULL ? kvo__slot_find(info, key) : NULL;
}

/* The read whose value the result of the evaluation is, or NULL. */
static const kvo_key_read *leaf_of(const kvo_evaluation *over) {
  if (over->status != KVO_OK || over->read_count == 0 || over->read_count > KVO_MAX_READS) return NULL;
  const kvo_tracked *tracked = over->tracked;
  bool is_settled = tracked->is_binding, is_told_later = tracked->keeps_last && tracked->ops->of_property == NULL;
  if (is_settled || is_told_later) return NULL;
  const kvo_key_read *last = &over->reads[over->read_count - 1];
  /* If another key was read after it, a getter has computed the result from that. */
  if (over->value_slot == NULL || over->value_slot != last->slot) return NULL;
  for (const kvo_key_read *each = over->reads; each != last; each++)
    if (each->slot == last->slot) return NULL; /* it is also an intermediate key */
  return last;
}

void kvo__expect_reads(kvo_evaluation *here) {
  kvo__assert(kvo__holds(&here->tracked->lock));
  uint32_t count = 0;
  const kvo_dependency *each = here->tracked->dependencies;
  for (; each != NULL && count < KVO_MAX_READS; each = each->to) count++;
  if (each != NULL) return;
  here->expected_count = count;
  for (each = here->tracked->dependencies; each != NULL; each = each->to) { /* newest first */
    kvo_slot *slot = kvo__dependency_slot(each);
    const kvo_info *info = kvo__slot_info(slot);
    here->reads[--count] = (kvo_key_read){slot, slot->key, info->object, kvo__slot_property(info, slot), each};
  }
}

/* Marks the dependencies that were read where they were expected, and counts the others. The list may have changed meanwhile, but what has
 * stayed in it has kept its order, and new ones come before it. False if one is gone. */
static bool confirm_kept(const kvo_evaluation *over, size_t *others) {
  uint32_t left = over->kept;
  for (kvo_dependency *each = over->tracked->dependencies; each != NULL; each = each->to) {
    const kvo_key_read *read = left > 0 ? &over->reads[left - 1] : NULL;
    if (read == NULL || read->dependency != each || read->slot != kvo__dependency_slot(each)) {
      ++*others;
      continue;
    }
    each->generation = newer(each->generation, over->number);
    left--;
  }
  return left == 0;
}

/* The object of the read that follows a read, if that was made only once; otherwise NULL. */
static const kvo_object *successor_of(const kvo_dependency *dependency, const kvo_evaluation *over) {
  const kvo_object *successor = NULL;
  size_t count = over->read_count <= KVO_MAX_READS ? over->read_count : 0, times = 0;
  for (size_t i = 0; i < count; i++)
    if (over->reads[i].slot == kvo__dependency_slot(dependency)) {
      successor = i + 1 < count ? over->reads[i + 1].object : NULL;
      times++;
    }
  return times == 1 ? successor : NULL;
}

/* Sets the kinds of the dependencies that it has read, and takes the others. The nodes of the former stay in place, because a change in
 * progress may be about to notify them. Returns whether it has read each of them once, in the order opposite to that of the list. */
static bool record_settle(kvo_tracked *tracked, const kvo_evaluation *over, kvo_dependency **unread) {
  const kvo_key_read *leaf = leaf_of(over);
  const kvo_slot *leaf_slot = leaf != NULL ? leaf->slot : NULL, *subject_slot = over->subject_slot;
  bool is_whole = over->status == KVO_OK; /* an incomplete one may still need what it did not get to read */
  bool is_regular = is_whole && over->read_count <= KVO_MAX_READS;
  const kvo_key_read *following = is_regular ? over->reads + over->read_count : over->reads;
  const kvo_object *successor = NULL;
  atomic_store_explicit(&tracked->has_leaf, leaf != NULL, memory_order_relaxed);
  for (kvo_dependency *each = tracked->dependencies, *next; each != NULL; each = next) {
    next = each->to;
    if (each->generation != over->number) {
      if (is_whole && each->generation < over->number) record_take(tracked, each, unread);
      continue;
    }
    const kvo_slot *slot = kvo__dependency_slot(each);
    is_regular = is_regular && following != over->reads && (--following)->slot == slot;
    each->successor = successor;
    successor = is_regular ? following->object : NULL;
    kvo_node_kind kind = slot == leaf_slot      ? KVO_NODE_LEAF
                         : slot == subject_slot ? KVO_NODE_SUBJECT
                                                : KVO_NODE_DEPENDENCY;
    if (kvo__node_kind(&each->node) != kind) kvo__node_turn(kvo__dependency_info(each), &each->node, kind);
  }
  if (is_regular && following == over->reads) return true;
  for (kvo_dependency *each = tracked->dependencies; each != NULL; each = each->to)
    if (each->generation == over->number) each->successor = successor_of(each, over);
  return false;
}

bool kvo__commit_reads(const kvo_evaluation *over, kvo_dependency **unread) {
  kvo_tracked *tracked = over->tracked;
  kvo__assert(kvo__holds(&tracked->lock));
  size_t others = 0;
  if (!confirm_kept(over, &others)) return false;
  bool is_plain = over->value_slot == NULL && over->subject_slot == NULL && over->status == KVO_OK;
  bool is_as_before = is_plain && tracked->is_regular && others == 0 && over->kept == over->read_count;
  if (!is_as_before) tracked->is_regular = record_settle(tracked, over, unread) && is_plain;
  return true;
}
