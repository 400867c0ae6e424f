/* object.c - objects: their word, their info, and their death. */
#include "internal.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------ Life and isa -- */

kvo_status kvo_object_init(kvo_object *object, kvo_class *cls) {
  if (object == NULL || cls == NULL || cls->original != NULL) return KVO_ERROR_INVALID_ARGUMENT;
  __atomic_store_n(&object->kvo_private_word, (uintptr_t)cls, __ATOMIC_RELEASE);
  return KVO_OK;
}

kvo_status kvo_object_create(kvo_class *cls, kvo_object **out) {
  if (cls == NULL || out == NULL || cls->instance_size == 0) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_object *object = kvo__alloc(cls->instance_size);
  if (object == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_status status = kvo_object_init(object, cls);
  if (status != KVO_OK) {
    kvo__free(object);
    return status;
  }
  *out = object;
  return KVO_OK;
}

void kvo_object_adopt(kvo_object *object, kvo_class *cls) {
  uintptr_t empty = 0;
  __atomic_compare_exchange_n(&object->kvo_private_word, &empty, (uintptr_t)cls, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
}

void kvo_object_destroy(kvo_object *object) {
  if (object == NULL) return;
  kvo_class *cls = kvo_object_class(object);
  kvo_object_finish(object);
  if (cls != NULL && cls->finalize != NULL) cls->finalize(object);
  kvo__free(object);
}

kvo_class *kvo_object_class(const kvo_object *object) {
  if (object == NULL) return NULL;
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  return info != NULL ? info->cls : (kvo_class *)word;
}

kvo_class *kvo_object_isa(const kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  kvo_status made_before;
  return kvo_object_is_observed(object) ? kvo__class_notifying(cls, &made_before) : cls;
}

bool kvo_object_is_observed(const kvo_object *object) {
  return object != NULL && (kvo__word(object) & KVO_WORD_OBSERVED) != 0;
}

void *kvo_object_instance(const kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  return (char *)object - (cls != NULL ? cls->header_offset : 0);
}

kvo_function kvo_object_property_setter(const kvo_object *object, const kvo_property *property) {
  kvo_class *isa = kvo_object_isa(object);
  return isa != NULL ? isa->setters[property->index] : NULL;
}

kvo_function kvo_object_setter(const kvo_object *object, const char *key) {
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo_class_property(cls, key) : NULL;
  return property != NULL ? kvo_object_property_setter(object, property) : NULL;
}

static void do_nothing(void) {}

kvo_function kvo_object_setter_to_call(const kvo_object *object, const char *key) {
  kvo_function setter = kvo_object_setter(object, key);
  if (setter != NULL) return setter;
  kvo__fault_no_setter(object, key);
  return do_nothing; /* the caller removes the arguments, in every C calling convention of Linux */
}

kvo_function kvo_object_getter(const kvo_object *object, const char *key) {
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo_class_property(cls, key) : NULL;
  return property != NULL ? property->getter : NULL;
}

/* -------------------------------------------------------------------------------------------------------------- Info -- */

static void slot_init(kvo_slot *slot, kvo_info *info, kvo_key key) {
  const kvo_property *property = kvo__class_find(info->cls, key);
  slot->key = key;
  slot->info = info;
  slot->property = property;
  slot->manual = property != NULL && (property->flags & KVO_PROPERTY_MANUAL) != 0;
}

kvo_info *kvo__info_ensure(kvo_object *object, kvo_key key, kvo_status *status) {
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  if (info != NULL) return info;
  kvo_class *cls = (kvo_class *)word;
  if (cls == NULL) {
    *status = KVO_ERROR_INVALID_ARGUMENT;
    return NULL;
  }
  if (kvo__class_notifying(cls, status) == NULL) return NULL;
  info = kvo__alloc(sizeof *info);
  if (info == NULL) {
    *status = KVO_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  info->object = object;
  info->cls = cls;
  slot_init(&info->first, info, key);
  if (!__atomic_compare_exchange_n(&object->kvo_private_word, &word, (uintptr_t)info | KVO_WORD_INFO, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    kvo__free(info); /* another thread was first */
    return kvo__word_info(word);
  }
  return info;
}

kvo_slot *kvo__slot_find(kvo_info *info, kvo_key key) {
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load_explicit(&slot->next, memory_order_acquire))
    if (slot->key == key) return slot;
  return NULL;
}

/* info->lock is held. */
static kvo_slot *slot_ensure(kvo_info *info, kvo_key key) {
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot != NULL) return slot;
  slot = kvo__alloc(sizeof *slot);
  if (slot == NULL) return NULL;
  slot_init(slot, info, key);
  kvo_slot *last = &info->first;
  for (kvo_slot *next; (next = atomic_load_explicit(&last->next, memory_order_relaxed)) != NULL;) last = next;
  atomic_store_explicit(&last->next, slot, memory_order_release);
  return slot;
}

static void info_free(kvo_info *info) {
  for (kvo_slot *slot = atomic_load(&info->first.next); slot != NULL;) {
    kvo_slot *next = atomic_load(&slot->next);
    kvo__free(slot);
    slot = next;
  }
  kvo__free(info);
}

/* Counts what a node wants in or out of its slot; info->lock is held. */
static void slot_count(kvo_slot *slot, const kvo_node *node, int by) {
  bool dependency = node->kind == KVO_NODE_DEPENDENCY;
  slot->nodes += (uint32_t)by;
  if (!dependency && (node->options & KVO_OLD) != 0) slot->wanting_old += (uint32_t)by;
  if (!dependency && (node->options & KVO_NEW) != 0) slot->wanting_new += (uint32_t)by;
  if (dependency || (node->options & KVO_PRIOR) != 0) slot->wanting_will += (uint32_t)by;
  atomic_store_explicit(
      &slot->wants,
      (slot->nodes != 0 ? KVO_FRAME_OBSERVED : 0u) | (slot->wanting_old != 0 ? KVO_FRAME_WANTS_OLD : 0u) |
          (slot->wanting_new != 0 ? KVO_FRAME_WANTS_NEW : 0u) | (slot->wanting_will != 0 ? KVO_FRAME_WANTS_WILL : 0u),
      memory_order_release);
}

/* The isa swap: the word says whether setters notify. info->lock is held, and the object lives. */
static void word_update(kvo_info *info) {
  uintptr_t word = (uintptr_t)info | KVO_WORD_INFO | (info->node_count != 0 ? KVO_WORD_OBSERVED : 0);
  __atomic_store_n(&info->object->kvo_private_word, word, __ATOMIC_RELEASE);
}

kvo_status kvo__node_link(kvo_info *info, kvo_node *node, kvo_key key) {
  kvo__lock(&info->lock);
  bool dead = (atomic_load(&info->state) & KVO_STATE_DEAD) != 0;
  kvo_slot *slot = dead ? NULL : slot_ensure(info, key);
  if (slot == NULL) {
    kvo__unlock(&info->lock);
    return dead ? KVO_ERROR_DYING_OBJECT : KVO_ERROR_OUT_OF_MEMORY;
  }
  node->slot = slot;
  node->birth = atomic_load_explicit(&info->births, memory_order_relaxed) + 1;
  atomic_store_explicit(&node->live, true, memory_order_relaxed);
  kvo_node *older = atomic_load_explicit(&slot->newest, memory_order_relaxed), *newer = NULL;
  while (older != NULL && older->order > node->order) {
    newer = older;
    older = atomic_load_explicit(&older->older, memory_order_relaxed);
  }
  atomic_store_explicit(&node->older, older, memory_order_relaxed);
  atomic_store_explicit(&node->newer, newer, memory_order_relaxed);
  atomic_store(newer != NULL ? &newer->older : &slot->newest, node);
  atomic_store(older != NULL ? &older->newer : &slot->oldest, node);
  slot_count(slot, node, 1);
  /* Last: a frame that is to tell the node knows what it wants, and finds it before the store and after it. */
  atomic_store(&info->births, node->birth);
  if (info->node_count++ == 0) word_update(info);
  kvo__unlock(&info->lock);
  return KVO_OK;
}

void kvo__node_unlink(kvo_info *info, kvo_node *node) {
  kvo_slot *slot = node->slot;
  kvo__lock(&info->lock);
  kvo_node *older = atomic_load_explicit(&node->older, memory_order_relaxed);
  kvo_node *newer = atomic_load_explicit(&node->newer, memory_order_relaxed);
  atomic_store(newer != NULL ? &newer->older : &slot->newest, older);
  atomic_store(older != NULL ? &older->newer : &slot->oldest, newer);
  slot_count(slot, node, -1);
  uint64_t state = atomic_load(&info->state);
  if (--info->node_count == 0 && (state & KVO_STATE_DEAD) == 0) word_update(info);
  size_t epoch = (state & KVO_STATE_EPOCH) != 0;
  node->chain = info->garbage[epoch];
  info->garbage[epoch] = node;
  atomic_fetch_or(&info->state, KVO_STATE_GARBAGE);
  kvo__unlock(&info->lock);
}

/* ----------------------------------------------------------------------------------------------------------- Readers -- */

static uint64_t reader_of(uint32_t epoch) { return UINT64_C(1) << (epoch * KVO_STATE_READERS_SHIFT); }

static uint64_t readers_in(uint64_t state, uint32_t epoch) {
  return (state >> (epoch * KVO_STATE_READERS_SHIFT)) & KVO_STATE_READERS_MASK;
}

uint32_t kvo__enter(kvo_info *info) {
  /* Compare-and-swap, not add: a reader counted in the wrong epoch would have to leave again, and leaving may free nodes,
   * which is not allowed where a shard of ids.c is locked. */
  uint64_t state = atomic_load_explicit(&info->state, memory_order_relaxed);
  for (;;) {
    uint32_t epoch = (state & KVO_STATE_EPOCH) != 0;
    if (atomic_compare_exchange_weak(&info->state, &state, state + reader_of(epoch))) return epoch;
  }
}

/* Takes the garbage that no reader can see any more; info->lock is held. Garbage of an epoch was unlinked before the epoch
 * turned, so that only readers of that epoch, or of the one before it, can stand on it; the epoch turns only when the one
 * before it has no readers left. */
static kvo_node *take_garbage(kvo_info *info) {
  kvo_node *taken = NULL;
  for (int turns = 0; turns < 2; turns++) {
    uint64_t state = atomic_load(&info->state);
    uint32_t now = (state & KVO_STATE_EPOCH) != 0, before = 1 - now;
    if (readers_in(state, before) != 0) break;
    while (info->garbage[before] != NULL) {
      kvo_node *node = info->garbage[before];
      info->garbage[before] = node->chain;
      node->chain = taken;
      taken = node;
    }
    if (info->garbage[now] == NULL) break;
    atomic_fetch_xor(&info->state, KVO_STATE_EPOCH);
  }
  if (info->garbage[0] == NULL && info->garbage[1] == NULL) atomic_fetch_and(&info->state, ~KVO_STATE_GARBAGE);
  return taken;
}

void kvo__leave(kvo_info *info, uint32_t epoch) {
  uint64_t state = atomic_load_explicit(&info->state, memory_order_relaxed);
  while ((state & (KVO_STATE_GARBAGE | KVO_STATE_DEAD)) == 0)
    if (atomic_compare_exchange_weak(&info->state, &state, state - reader_of(epoch))) return;
  /* Under the lock, so that whoever leaves last sees that it is the last. */
  kvo__lock(&info->lock);
  atomic_fetch_sub(&info->state, reader_of(epoch));
  kvo_node *garbage = take_garbage(info);
  state = atomic_load(&info->state);
  bool last = (state & KVO_STATE_DEAD) != 0 && readers_in(state, 0) == 0 && readers_in(state, 1) == 0;
  kvo__unlock(&info->lock);
  while (garbage != NULL) {
    kvo_node *next = garbage->chain;
    kvo__node_free(garbage);
    garbage = next;
  }
  if (last) info_free(info);
}

/* ------------------------------------------------------------------------------------------------------------- Death -- */

/* What the death of an object leaves to be told, gathered while its nodes are taken apart. */
typedef struct funeral {
  kvo_fault_observation *left;
  size_t left_count, left_capacity;
  /* Dependencies; of a tracked observation that read several keys, several. */
  kvo_node **bereaved;
  size_t bereaved_count, bereaved_capacity;
} funeral;

static bool grow(void **array, size_t *capacity, size_t count, size_t element) {
  if (count < *capacity) return true;
  size_t larger = *capacity == 0 ? 8 : *capacity * 2;
  void *copy = kvo__alloc(larger * element);
  if (copy == NULL) return false;
  if (count > 0) memcpy(copy, *array, count * element);
  kvo__free(*array);
  *array = copy;
  *capacity = larger;
  return true;
}

static void bury(kvo_info *info, kvo_node *node, funeral *of) {
  if (node->kind == KVO_NODE_DEPENDENCY) {
    if (!kvo__tracked_detach(node->tracked, node)) return;
    if (grow((void **)&of->bereaved, &of->bereaved_capacity, of->bereaved_count, sizeof *of->bereaved))
      of->bereaved[of->bereaved_count++] = node;
    kvo__node_unlink(info, node);
    return;
  }
  /* Also if it is being removed on another thread, which may not have come to this yet: the object must not be evaluated. */
  if (node->kind == KVO_NODE_ANCHOR) kvo__tracked_end(node->tracked);
  uint32_t epoch;
  if (kvo__id_claim(node->id, &epoch) == NULL) return; /* being removed on another thread */
  bool apple_contract = (node->options & KVO_ENDS_WITH_OBJECT) == 0;
  if (apple_contract && grow((void **)&of->left, &of->left_capacity, of->left_count, sizeof *of->left))
    kvo__describe_node(node, &of->left[of->left_count++]);
  kvo__node_unlink(info, node);
  kvo__leave(info, epoch);
}

/* Each once, oldest first. */
static void tell_bereaved(const kvo_info *info, funeral *of) {
  if (of->bereaved_count > 1) qsort(of->bereaved, of->bereaved_count, sizeof *of->bereaved, kvo__node_by_order);
  for (size_t i = 0; i < of->bereaved_count; i++)
    if (i == 0 || of->bereaved[i]->tracked != of->bereaved[i - 1]->tracked)
      kvo__tracked_died(of->bereaved[i]->tracked, info);
}

void kvo_object_finish(kvo_object *object) {
  if (object == NULL) return;
  kvo_info *info = kvo__word_info(kvo__word(object));
  if (info == NULL) {
    __atomic_store_n(&object->kvo_private_word, 0, __ATOMIC_RELEASE);
    return;
  }
  uint32_t epoch = kvo__enter(info);
  funeral dead = {NULL, 0, 0, NULL, 0, 0};
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer))
      bury(info, node, &dead);
  kvo__evaluations_wait(info);
  kvo__lock(&info->lock);
  atomic_fetch_or(&info->state, KVO_STATE_DEAD);
  __atomic_store_n(&object->kvo_private_word, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&info->object->kvo_private_word, 0, __ATOMIC_RELEASE);
  kvo__unlock(&info->lock);

  /* The header may have been moved to be destroyed; reports name the object. */
  if (dead.left_count > 0) kvo__fault_deallocated(info->object, info->cls, dead.left, dead.left_count);
  tell_bereaved(info, &dead);
  kvo__free(dead.left);
  kvo__free(dead.bereaved);
  kvo__leave(info, epoch);
}
