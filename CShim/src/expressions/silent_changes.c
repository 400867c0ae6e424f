/* silent_changes.c - finds out, before a change, whether an object that an expression reads was replaced without notification (KVO0032). */
#include "expressions/tracked.h"

void kvo__note_compared(kvo_evaluation *over, kvo_object *object, kvo_key key) {
  kvo_comparison *compared = &over->compared;
  if (!compared->is_wanted || compared->count == KVO_MAX_READS || key == KVO_KEY_LIFETIME) return;
  const kvo_key_read *last = compared->count > 0 ? &over->reads[compared->count - 1] : NULL;
  if (last != NULL && last->object == object && last->key == key) return; /* reported by key-value coding before */
  over->reads[compared->count++] =
      (kvo_key_read){.info = kvo__word_info(kvo__word(object)), .key = key, .object = object};
}

/* Whether another change of the holder is in progress, which may be about to notify. */
static bool others_change(const kvo_evaluation *over, kvo_info *holder) {
  kvo__lock(&holder->lock);
  kvo__count_readers(holder);
  kvo__unlock(&holder->lock);
  uint64_t state = atomic_load(&holder->state);
  uint64_t readers = (state & KVO_STATE_READERS) + (state & KVO_STATE_EARLIER_READERS) / KVO_STATE_EARLIER_READER;
  uint64_t own = (uint64_t)(holder == over->compared.changing) + (uint64_t)(holder == over->tracked->root);
  return readers > own;
}

/* Finds a dependency by the address of an info, which may be dangling. */
static const kvo_dependency *find_by_address(const kvo_dependency *in, const kvo_info *info, kvo_key key) {
  while (in != NULL && (kvo__dependency_info(in) != info || kvo__dependency_key(in) != key)) in = in->to;
  return in;
}

/* Whether a list contains this key of the object at this address. */
static bool hears_of(const kvo_dependency *in, const kvo_object *object, kvo_key key) {
  while (in != NULL && (kvo__dependency_info(in)->object != object || kvo__dependency_key(in) != key)) in = in->to;
  return in != NULL;
}

/* The first read that follows a subscribed read and is not subscribed itself: the value of the key before it has changed without
 * notification, or the notification is in progress. NULL if there is none; tracked->lock is held. */
static const kvo_key_read *find_suspect(const kvo_evaluation *over) {
  const kvo_dependency *all = over->tracked->dependencies;
  bool was_subscribed = false;
  for (size_t i = 0; i < over->compared.count; i++) {
    const kvo_key_read *each = &over->reads[i];
    bool is_subscribed = each->info != NULL && find_by_address(all, each->info, each->key) != NULL;
    if (!is_subscribed && was_subscribed) return each;
    was_subscribed = is_subscribed;
  }
  return NULL;
}

/* Whether a change in progress may be why the suspect is read now: one of the holder, or of anything that was read before it, such as the
 * list whose elements are read. The expression has not been notified of it yet. */
static bool is_being_changed(const kvo_evaluation *over, const kvo_key_read *suspect) {
  for (const kvo_key_read *each = over->reads; each != suspect; each++) {
    const kvo_dependency *read = find_by_address(over->tracked->dependencies, each->info, each->key);
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

/* The change without notification is certain if all of this holds. After the same read, the newest evaluation read this key of another
 * object, and is still subscribed to it: so the holder had that object then. Only this thread has ever evaluated the observation (otherwise
 * nothing is compared). No evaluation has begun since this one, so each notified change has been followed. No other change of what was read
 * up to the holder is in progress, nor announced by hand. With several threads it is never certain, because one of them may have stored and
 * not notified yet; nothing is reported then. */
kvo_info *kvo__silent_change(const kvo_evaluation *over, uint64_t *entered, kvo_key *key) {
  kvo_tracked *tracked = over->tracked;
  if (over->compared.count < 2) return NULL;
  kvo_info *changed = NULL;
  kvo__lock(&tracked->lock);
  const kvo_dependency *all = tracked->dependencies;
  const kvo_key_read *suspect = find_suspect(over);
  const kvo_dependency *holder = suspect != NULL ? find_by_address(all, suspect[-1].info, suspect[-1].key) : NULL;
  if (holder != NULL && holder->successor != NULL && holder->successor != suspect->object &&
      tracked->started == over->begun_before && hears_of(all, holder->successor, suspect->key) &&
      leads_on(kvo__dependency_info(holder), suspect[-1].key) && !is_being_changed(over, suspect))
    changed = kvo__dependency_info(holder);
  if (changed != NULL) {
    *entered = kvo__enter(changed); /* valid, because the expression is subscribed to it */
    *key = suspect[-1].key;
  }
  kvo__unlock(&tracked->lock);
  return changed;
}
