/* object.c - objects: their word, their info, and their death. */
#include "text/report.h"
#include "watching/ended.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------------------ Life and isa -- */

static void set_word(kvo_object *object, uintptr_t word) {
  __atomic_store_n(&object->kvo_private_word, word, __ATOMIC_RELEASE);
}

bool kvo__is_object(const kvo_object *object) {
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  if (info == NULL) return (word & KVO_WORD_OBSERVED) == 0 && kvo__class_is_known((kvo_class *)(word & ~KVO_WORD_TAGS));
  if (!kvo__info_is_likely(info) || !kvo__class_is_known(info->cls)) return false;
  return info->object == object || info->cls->of_binding; /* which may move a header to end it */
}

kvo_status kvo_object_init(kvo_object *object, kvo_class *cls) {
  if (object == NULL || !kvo__class_is_known(cls)) return KVO_ERROR_INVALID_ARGUMENT;
  set_word(object, (uintptr_t)cls);
  return KVO_OK;
}

kvo_status kvo_object_create(kvo_class *cls, kvo_object **out) {
  if (!kvo__class_is_known(cls) || out == NULL || cls->instance_size == 0) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_object *object = kvo__alloc(cls->instance_size);
  if (object == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  set_word(object, (uintptr_t)cls);
  *out = object;
  return KVO_OK;
}

void kvo_object_adopt(kvo_object *object, kvo_class *cls) {
  uintptr_t empty = 0;
  if (object == NULL) return;
  __atomic_compare_exchange_n(&object->kvo_private_word, &empty, (uintptr_t)cls, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_ACQUIRE);
}

kvo_class *kvo_object_class(const kvo_object *object) {
  if (object == NULL) return NULL;
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  return info != NULL ? info->cls : (kvo_class *)(word & ~KVO_WORD_TAGS);
}

/* The class whose setters are to be called. */
static kvo_class *dispatching_class(const kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  kvo_status made_before;
  return kvo_object_is_observed(object) ? kvo__class_notifying(cls, &made_before) : cls;
}

/* Whether a setter notifies: not if all that is observed is announced by hand. */
static bool has_notifying_setter(const kvo_object *object) {
  kvo_slot *slot = &kvo__word_info(kvo__word(object))->first;
  for (; slot != NULL; slot = atomic_load(&slot->next))
    if (atomic_load(&slot->wants) != 0 && !slot->manual) return true;
  return false;
}

kvo_class *kvo_object_isa(const kvo_object *object) {
  bool notifies = kvo_object_is_observed(object) && has_notifying_setter(object);
  return notifies ? dispatching_class(object) : kvo_object_class(object);
}

bool kvo_object_is_observed(const kvo_object *object) {
  return object != NULL && (kvo__word(object) & KVO_WORD_OBSERVED) != 0;
}

void *kvo_object_instance(const kvo_object *object) {
  kvo_class *cls = kvo_object_class(object);
  return (void *)((uintptr_t)object - (cls != NULL ? cls->header_offset : 0)); /* NULL of NULL */
}

kvo_function kvo_object_property_setter(const kvo_object *object, const kvo_property *property) {
  kvo_class *isa = dispatching_class(object);
  if (isa == NULL || property == NULL) return NULL;
  bool is_own = property->index < isa->property_count && isa->properties[property->index] == property;
  return is_own ? isa->setters[property->index] : NULL;
}

kvo_function kvo_object_setter(const kvo_object *object, const char *key) {
  kvo_class *isa = dispatching_class(object);
  const kvo_property *property = kvo_class_property(isa, key);
  return property != NULL ? isa->setters[property->index] : NULL;
}

static void do_nothing(void) {}

/* Whether a call that passes such a value passes what the setter takes. */
static bool takes(const kvo_property *property, kvo_form form, size_t size) {
  return (form == KVO_FORM_ANY || form == property->form) && (size == 0 || size == property->size);
}

kvo_function kvo_object_setter_to_call(const kvo_object *object, const char *key, kvo_form form, size_t size,
                                       const char *file, uint32_t line) {
  kvo_class *isa = dispatching_class(object);
  const kvo_property *property = kvo_class_property(isa, key);
  kvo_function setter = property != NULL ? isa->setters[property->index] : NULL;
  if (__builtin_expect(setter != NULL && takes(property, form, size), true)) return setter;
  kvo_place place = {file, line};
  if (object == NULL || key == NULL)
    kvo__fault_invalid_argument("KVO_SET", object == NULL ? "object is NULL" : "key is NULL", place);
  else if (setter == NULL)
    kvo__fault_no_setter(object, key, place);
  else
    kvo__fault_other_form(object, property, form, size, place);
  return do_nothing; /* the caller removes the arguments, in every C calling convention of Linux */
}

kvo_function kvo_object_getter(const kvo_object *object, const char *key) {
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo_class_property(cls, key) : NULL;
  return property != NULL ? property->getter : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- Death -- */

/* What the death of an object leaves to be told, gathered while its nodes are taken apart. */
typedef struct funeral {
  kvo_place place;
  /* At first `few`, so that without memory there is still a report. */
  kvo_fault_observation *left;
  size_t left_count, left_capacity;
  kvo_fault_observation few[4];
  /* Dependencies; of a tracked observation that read several keys, several. */
  kvo_node **bereaved;
  size_t bereaved_count, bereaved_capacity;
} funeral;

/* `first` is what the array was at first, and is not freed. */
static bool grow(void **array, size_t *capacity, size_t count, size_t element, const void *first) {
  if (count < *capacity) return true;
  size_t larger = *capacity == 0 ? 8 : *capacity * 2;
  void *copy = kvo__alloc(larger * element);
  if (copy == NULL) return false;
  if (count > 0) memcpy(copy, *array, count * element);
  if (*array != first) kvo__free(*array);
  *array = copy;
  *capacity = larger;
  return true;
}

static void bury(kvo_info *info, kvo_node *node, funeral *of) {
  if (!kvo__node_is_own(node)) {
    if (!kvo__tracked_detach(node)) return;
    if (grow((void **)&of->bereaved, &of->bereaved_capacity, of->bereaved_count, sizeof *of->bereaved, NULL))
      of->bereaved[of->bereaved_count++] = node;
    kvo__node_retire(info, node);
    return;
  }
  /* Also if it is being removed on another thread, which may not have come to this yet: the object must not be evaluated. */
  if (kvo__node_kind(node) == KVO_NODE_ANCHOR) kvo__tracked_end(node->user_data);
  kvo__publish_dead(&node->live);              /* before: the other thread may not have come to this yet either */
  if (kvo__id_claim(node->id) == NULL) return; /* being removed on another thread */
  kvo__tap_node(node, KVO_MOMENT_ENDED);
  bool apple_contract = (node->options & KVO_ENDS_WITH_OBJECT) == 0;
  if (apple_contract && grow((void **)&of->left, &of->left_capacity, of->left_count, sizeof *of->left, of->few))
    kvo__describe_node(node, &of->left[of->left_count++]);
  kvo__remember_ended(node, true, of->place);
  kvo__node_retire(info, node);
}

/* Each once, oldest first. */
static void tell_bereaved(const kvo_info *info, funeral *of) {
  if (of->bereaved_count > 1) qsort(of->bereaved, of->bereaved_count, sizeof *of->bereaved, kvo__node_by_order);
  for (size_t i = 0; i < of->bereaved_count; i++)
    if (i == 0 || of->bereaved[i]->user_data != of->bereaved[i - 1]->user_data)
      kvo__tracked_died(of->bereaved[i]->user_data, info);
}

/* Leaves the object as one that is being destroyed: it has its class, and takes no observers. False: another thread evaluates it, which
 * waits for this one. */
static bool finish(kvo_object *object, kvo_place place) {
  kvo__manual_forget(object);
  kvo__look_for_abandoned(); /* here, for further in the frames are no longer below */
  kvo__wills_abandoned(__builtin_frame_address(0));
  kvo_info *info = kvo__word_info(kvo__word(object));
  if (info == NULL) {
    set_word(object, kvo__word(object) | KVO_WORD_DYING);
    return true;
  }
  kvo__manual_end_of(info);
  uint64_t entered = kvo__enter(info);
  kvo__tap_death(info);
  /* First: what is linked from here on would be missed. */
  kvo__lock(&info->lock);
  atomic_fetch_or(&info->state, KVO_STATE_DEAD);
  kvo__unlock(&info->lock);
  funeral dead = {.place = place};
  dead.left = dead.few;
  dead.left_capacity = sizeof dead.few / sizeof *dead.few;
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer))
      bury(info, node, &dead);
  /* Only they evaluate the object, and what was put off; one that was removed before may still do so. */
  bool may_be_evaluated = kvo__slot_find(info, KVO_KEY_ANCHORS) != NULL || atomic_load(&kvo__threads.settling) != 0;
  bool is_evaluated = may_be_evaluated && kvo__wait_for_evaluations(info) != KVO_WAITED;
  if (is_evaluated) kvo__fault_endless_death(info, place);
  /* The header may have been moved to be destroyed; reports name the object. */
  set_word(info->object, (uintptr_t)info->cls | KVO_WORD_DYING);
  set_word(object, (uintptr_t)info->cls | KVO_WORD_DYING);
  if (dead.left_count > 0) kvo__fault_deallocated(info->object, info->cls, dead.left, dead.left_count, dead.place);
  if ((atomic_load(&info->state) & KVO_STATE_REMEMBERED) != 0)
    kvo__tombs_close((const char *)info->object - info->cls->header_offset);
  tell_bereaved(info, &dead);
  if (dead.left != dead.few) kvo__free(dead.left);
  kvo__free(dead.bereaved);
  kvo__leave(info, entered);
  return !is_evaluated;
}

/* Whether there is an object to be ended; a fault if not. */
static bool can_end(kvo_object *object, const char *function, kvo_place place) {
  bool is_object = kvo__is_object(object), is_dying = is_object && (kvo__word(object) & KVO_WORD_DYING) != 0;
  if (is_object && !is_dying) return true;
  kvo__fault_unsupported_object(object, function, NULL, is_dying ? "it is being destroyed already" : NULL, place);
  return false;
}

/* Whether a callback of this thread ends an object before a change of it: its setter is about to store into it. */
static bool is_before_change(const kvo_object *object, const char *function, kvo_place place) {
  const kvo_info *info = kvo__word_info(kvo__word(object));
  const kvo_slot *slot = info != NULL ? kvo__in_will_of(info) : NULL;
  if (slot != NULL) kvo__fault_ended_before_change(info, slot, function, place);
  return slot != NULL;
}

void kvo_object_finish_at(kvo_object *object, const char *file, uint32_t line) {
  static const char function[] = "kvo_object_finish";
  kvo_place place = {file, line};
  if (object == NULL || kvo__word(object) == 0 || !can_end(object, function, place)) return;
  is_before_change(object, function, place); /* its memory goes, whatever is said here */
  finish(object, place);
  set_word(object, 0);
}

void kvo_object_destroy_at(kvo_object *object, const char *file, uint32_t line) {
  static const char function[] = "kvo_object_destroy";
  kvo_place place = {file, line};
  if (object == NULL || !can_end(object, function, place) || is_before_change(object, function, place)) return;
  kvo_class *cls = kvo_object_class(object);
  if (!finish(object, place)) return; /* another thread's evaluation is using it, and waits for this one: its memory stays */
  if (cls->finalize != NULL) cls->finalize(object);
  kvo__free(object);
}

void kvo_object_finish(kvo_object *object) { kvo_object_finish_at(object, NULL, 0); }

void kvo_object_destroy(kvo_object *object) { kvo_object_destroy_at(object, NULL, 0); }
