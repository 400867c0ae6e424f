/* silent_changes.c - finds out, when an expression is settled after a change, whether an object that it reads was replaced without
 * notification (KVO0032). */
#include "expressions/deliver.h"
#include "hooks.h"

static uint64_t count_readers(kvo_info *holder) {
  kvo__lock(&holder->lock);
  kvo__count_readers(holder);
  kvo__unlock(&holder->lock);
  uint64_t state = atomic_load(&holder->state);
  return (state & KVO_STATE_READERS) + (state & KVO_STATE_EARLIER_READERS) / KVO_STATE_EARLIER_READER;
}

/* Whether another change of the holder is in progress, which may be about to notify. */
static bool others_change(const kvo_evaluation *over, kvo_info *holder) {
  kvo_slot *changed = (kvo_slot *)(uintptr_t)over->changed;
  uint64_t own = (uint64_t)(holder == kvo__slot_info(changed)) + (uint64_t)(holder == over->tracked->root);
  return count_readers(holder) > own;
}

/* Finds a dependency by the address of its slot, which may be dangling. */
static const kvo_dependency *find_by_address(const kvo_dependency *in, const kvo_slot *slot) {
  while (in != NULL && kvo__dependency_slot(in) != slot) in = in->to;
  return in;
}

/* Whether a list contains this key of the object at this address. */
static bool hears_of(const kvo_dependency *in, const kvo_object *object, kvo_key key) {
  while (in != NULL && (kvo__dependency_info(in)->object != object || kvo__dependency_key(in) != key)) in = in->to;
  return in != NULL;
}

/* Whether a change in progress may be why the suspect is read now: one of the holder, or of anything that was read before it, such as the
 * list whose elements are read. The expression has not been notified of it yet. */
static bool is_being_changed(const kvo_evaluation *over, const kvo_key_read *suspect) {
  for (const kvo_key_read *each = over->reads; each != suspect; each++) {
    const kvo_dependency *read = find_by_address(over->tracked->dependencies, each->slot);
    if (read == NULL) continue;
    if (others_change(over, kvo__dependency_info(read)) ||
        kvo__unobserved_may_be_open(kvo__dependency_info(read)->object, each->key))
      return true;
  }
  return false;
}

/* Whether an object can follow this key. After the number of one element, the next element is read. */
static bool leads_on(const kvo_info *holder, kvo_key key) {
  const kvo_property *property = kvo__class_find(holder->cls, key);
  return property == NULL || strchr("@?[<", property->type[0]) != NULL;
}

/* Whether an evaluation has read a key more than once. */
static bool is_read_again(const kvo_evaluation *over, const kvo_key_read *read) {
  size_t times = 0;
  for (size_t i = 0; i < over->read_count; i++) times += over->reads[i].slot == read->slot;
  return times > 1;
}

/* Whether this read led the evaluation before to another object, which was read by the same key then. */
static bool leads_elsewhere(const kvo_evaluation *over, const kvo_dependency *holder, const kvo_key_read *next) {
  const kvo_dependency *all = over->tracked->dependencies;
  return holder != NULL && holder->successor != NULL && holder->successor != next->object &&
         atomic_load(&holder->node.slot) != over->changed && hears_of(all, holder->successor, next->key) &&
         leads_on(kvo__dependency_info(holder), kvo__dependency_key(holder)) && !is_read_again(over, next - 1);
}

/* The change without notification is certain if all of this holds. After the same read, the newest evaluation read this key of another
 * object, and is still subscribed to it: so the holder had that object then. Only this thread has ever evaluated the observation (otherwise
 * nothing is compared). Each notified change has been followed, except the one that this evaluation follows, which may have led to all that
 * was read after it; the evaluation itself has made none. No other change of what was read up to the holder is in progress, nor announced
 * by hand, nor left to a scope or to a later delivery. A store that began before the key was observed is seen late: see is_seen_late. */
kvo_info *kvo__silent_change(kvo_evaluation *over, uint64_t *entered, kvo_key *key) {
  kvo_tracked *tracked = over->tracked;
  kvo__assert(kvo__holds(&tracked->lock));
  bool is_certain = over->changed != NULL && !over->is_outdated && !tracked->is_shared && !tracked->is_incomplete;
  if (!is_certain || over->read_count > KVO_MAX_READS) return NULL;
  for (size_t i = 0; i + 1 < over->read_count; i++) {
    const kvo_key_read *each = &over->reads[i], *next = each + 1;
    if (each->slot == over->changed) return NULL;
    const kvo_dependency *holder = find_by_address(tracked->dependencies, each->slot);
    if (!leads_elsewhere(over, holder, next) || is_being_changed(over, next)) continue;
    if (atomic_load(&tracked->is_stale)) return NULL; /* after counting: a change says first that it leaves it */
    kvo_info *changed = kvo__dependency_info(holder);
    *entered = kvo__enter(changed); /* valid, because the expression is subscribed to it */
    *key = each->key;
    return changed;
  }
  return NULL;
}

/* Whether another thread has replaced the object, and notifies only now. A setter of a key that nobody observes stores and then looks for
 * observers, so an expression that has subscribed meanwhile may read what is stored before it is notified. Between the two the setter calls
 * nothing, so only a thread that is off its processor takes longer than an evaluation: it gets 20 ms. No lock may be held. */
static bool is_seen_late(kvo_tracked *tracked, uint64_t number) {
  enum { TRIES = 20 };
  for (int tries = 0; tries < TRIES; tries++) {
    kvo__lock(&tracked->lock);
    bool is_followed = tracked->started != number || atomic_load(&tracked->is_stale) || !atomic_load(&tracked->live);
    kvo__unlock(&tracked->lock);
    if (is_followed) return true;
    kvo__sleep(1);
  }
  return false;
}

bool kvo__tell_silent_change(kvo_tracked *tracked, uint64_t number, const kvo_info *holder, kvo_key key) {
  bool is_ignored =
      !KVO_DIAGNOSTICS || kvo__fault_policy(KVO_FAULT_SILENT_CHANGE, KVO_SEVERITY_ERROR) == KVO_ACTION_IGNORE;
  if (!is_ignored && is_seen_late(tracked, number)) return false;
  kvo_fault_observation concerned;
  kvo__describe_node(tracked->anchor, &concerned);
  const kvo_property *property = kvo__class_find(holder->cls, key);
  KVO_MISUSE(silent_change, &concerned, holder, property != NULL ? property->name : "?");
  return true;
}

static void note_object(const kvo_value *value, void *arg) {
  const kvo_object **object = arg;
  if (value->type != NULL && value->type[0] == '@' && value->bytes != NULL)
    *object = *(kvo_object *const *)value->bytes;
}

void kvo__check_replaced(kvo_tracked *tracked, const kvo_node *node, const void *old_value, uint32_t clock) {
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  kvo_info *holder = kvo__slot_info(slot);
  const kvo_property *property = kvo__slot_property(holder, slot);
  if (property == NULL || property->affected_by != NULL || (property->flags & KVO_PROPERTY_COMPUTED) != 0) return;
  const kvo_object *replaced = NULL;
  kvo__property_view(property, old_value, note_object, &replaced);
  if (replaced == NULL) return;
  kvo__lock(&tracked->lock);
  uint64_t number = tracked->started;
  const kvo_object *successor = kvo__dependency(node)->successor;
  bool is_live = atomic_load(&tracked->live); /* otherwise it is followed no more */
  bool is_own = is_live && !tracked->is_shared && tracked->thread == kvo__thread_serial();
  bool is_older =
      clock != 0 && (int32_t)(clock - (uint32_t)tracked->read_at) >= 0; /* what it has read than the old value */
  bool is_certain = is_own && is_older && !tracked->is_incomplete;
  kvo__unlock(&tracked->lock);
  /* One reader is this change. */
  if (is_certain && successor != NULL && successor != replaced && count_readers(holder) == 1 &&
      !atomic_load(&tracked->is_stale))
    (void)kvo__tell_silent_change(tracked, number, holder, slot->key);
}
