/* elements.c - changes of the elements of to-many properties of C classes, and the accessors that notify of them. */
#include "changes/elements.h"

/* Elements up to this size altogether are read into the stack. */
enum { INLINE_ELEMENTS = 256 };

/* --------------------------------------------------------------------------------------------------------- The change -- */

kvo_status kvo__elements_fail(kvo_status status, uint32_t errors, const char *function, const kvo_class *cls,
                              const char *key) {
  char reason[256] = "";
  const char *text = kvo__error_count() == errors ? kvo_status_string(status) : kvo_last_error();
  strncat(reason, text, sizeof reason - 1); /* the new text takes the place of the old one */
  return kvo__fail(status, "%s: key '%s' of class '%s': %s", function, key, kvo_class_name(cls), reason);
}

kvo_status kvo__index_check(const kvo_mutation *of, size_t position, size_t count) {
  size_t index = of->indexes[position];
  if (of->kind == KVO_CHANGE_INSERTION ? index <= count : index < count) return KVO_OK;
  return kvo__fail(KVO_ERROR_OUT_OF_RANGE, "index %zu of %zu elements", index, count);
}

/* Whether the change is still possible after code of the program has run, which may have changed the collection. `*has_happened` says that
 * a set has, or has not, the member already. */
static kvo_status check_again(const kvo_mutation *of, bool *has_happened) {
  const kvo_to_many *many = of->property->to_many;
  *has_happened = false;
  if (!many->is_list) {
    bool inserts = of->kind == KVO_CHANGE_INSERTION;
    *has_happened = many->members.contains(of->object, of->elements, many->members.user) == inserts;
    return KVO_OK;
  }
  size_t count = many->list.count(of->object, many->list.user);
  bool grows = of->kind == KVO_CHANGE_INSERTION;
  kvo_status status = KVO_OK;
  for (size_t i = 0; i < of->count && status == KVO_OK; i++) status = kvo__index_check(of, i, count + (grows ? i : 0));
  return status;
}

/* NULL for a removal from a list. */
static const void *elements_element_of(const kvo_mutation *of, size_t position) {
  if (of->elements == NULL) return NULL;
  return (const unsigned char *)of->elements + position * of->property->to_many->size;
}

/* What accessors have done: so many elements are changed; and a replacement may have left its new element before the old one. */
typedef struct elements_progress {
  size_t done;
  bool has_inserted;
} elements_progress;

/* Without an accessor for it: inserts first, because an insertion may be refused, and what was removed could not be put back. */
static kvo_status replace(const kvo_list_accessors *list, kvo_object *object, size_t index, const void *element,
                          elements_progress *to) {
  if (list->replace_at != NULL) return list->replace_at(object, index, element, list->user);
  kvo_status status = list->insert_at(object, index, element, list->user);
  if (status != KVO_OK) return status;
  status = list->remove_at(object, index + 1, list->user);
  if (status != KVO_OK) to->has_inserted = list->remove_at(object, index, list->user) != KVO_OK;
  return status;
}

/* Removes from the last element on, so that the indexes of the others stay right. */
static size_t elements_position_of(const kvo_mutation *of, size_t step) {
  return of->kind == KVO_CHANGE_REMOVAL ? of->count - 1 - step : step;
}

static kvo_status change_one(const kvo_mutation *of, size_t position, elements_progress *to) {
  const kvo_to_many *many = of->property->to_many;
  const void *element = elements_element_of(of, position);
  bool inserts = of->kind == KVO_CHANGE_INSERTION;
  if (!many->is_list)
    return (inserts ? many->members.add : many->members.remove)(of->object, element, many->members.user);
  size_t index = of->indexes[position];
  if (inserts) return many->list.insert_at(of->object, index, element, many->list.user);
  if (of->kind == KVO_CHANGE_REMOVAL) return many->list.remove_at(of->object, index, many->list.user);
  return replace(&many->list, of->object, index, element, to);
}

/* Whether the list still has the next index, because an accessor may set properties whose observers change the list. */
static kvo_status check_next(const kvo_mutation *of, size_t position) {
  const kvo_list_accessors *list = &of->property->to_many->list;
  return kvo__index_check(of, position, list->count(of->object, list->user));
}

static kvo_status change_all(const kvo_mutation *of, elements_progress *to) {
  for (; to->done < of->count; to->done++) {
    size_t position = elements_position_of(of, to->done);
    kvo_status status = to->done > 0 ? check_next(of, position) : KVO_OK;
    if (status == KVO_OK) status = change_one(of, position, to);
    if (status != KVO_OK) return status;
  }
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------- Notification -- */

/* NULL for an insertion, and without memory, which observers see as unknown. */
static kvo_elements *old_elements(const kvo_mutation *of) {
  if (of->kind == KVO_CHANGE_INSERTION) return NULL;
  if (!of->property->to_many->is_list) return kvo__elements_keep(of->property, of->elements, of->count);
  kvo_selection selection = {of->indexes, of->count};
  return kvo__elements_copy(of->property, of->object, &selection);
}

/* Notifies one observation, with the elements that the list has now. Without memory, with those that were passed. */
static void elements_deliver(kvo_frame *frame, const kvo_mutation *of, const void *old_value) {
  const kvo_to_many *many = of->property->to_many;
  kvo_elements passed = kvo__elements_of(of->property, of->elements, of->count);
  if (!many->is_list) {
    kvo_frame_deliver(frame, old_value, &passed);
    return;
  }
  /* Strings are copied, because the callback may remove the elements, and the accessor then usually frees them. */
  if (of->count * many->size > INLINE_ELEMENTS || many->type[0] == '*') {
    kvo_selection selection = {of->indexes, of->count};
    kvo_elements *present = kvo__elements_copy(of->property, of->object, &selection);
    kvo_frame_deliver(frame, old_value, present != NULL ? present : &passed);
    kvo__elements_free(present);
    return;
  }
  _Alignas(16) unsigned char bytes[INLINE_ELEMENTS];
  kvo_elements present = kvo__elements_of(of->property, bytes, 0);
  size_t count = many->list.count(of->object, many->list.user);
  for (size_t i = 0; i < of->count; i++)
    if (of->indexes[i] < count)
      many->list.get_at(of->object, of->indexes[i], bytes + present.base.count++ * many->size, many->list.user);
  kvo_frame_deliver(frame, old_value, &present);
}

/* Whether the next observation wants the new elements. */
static bool wants_new(const kvo_frame_content *change) {
  kvo_node_kind kind = kvo__node_kind(change->cursor);
  return !kvo__frame_evaluates(change, kind) && (change->cursor->options & KVO_NEW) != 0;
}

static void elements_notify(kvo_frame *frame, const kvo_mutation *of, const kvo_elements *old_value) {
  while (kvo_frame_next(frame)) {
    if (of->kind != KVO_CHANGE_REMOVAL && wants_new(kvo__frame_content_of(frame)))
      elements_deliver(frame, of, old_value);
    else
      kvo_frame_deliver(frame, old_value, NULL);
  }
}

/* What was changed, if an accessor has refused an element: those before it, or for a removal those after it. */
static kvo_mutation part_of(const kvo_mutation *of, size_t done) {
  kvo_mutation part = *of;
  size_t first = of->kind == KVO_CHANGE_REMOVAL ? of->count - done : 0;
  if (of->indexes != NULL) part.indexes = of->indexes + first;
  part.elements = elements_element_of(of, first);
  part.count = done;
  return part;
}

/* Notifies of the part that was changed. */
static void notify_part(kvo_frame *frame, const kvo_mutation *of, const kvo_elements *old_value, size_t done) {
  kvo_mutation part = part_of(of, done);
  kvo_raw_change *record = &kvo__frame_content_of(frame)->record;
  record->indexes = part.indexes;
  record->index_count = part.indexes != NULL ? part.count : 0;
  if (old_value == NULL) {
    elements_notify(frame, &part, NULL);
    return;
  }
  size_t first = of->kind == KVO_CHANGE_REMOVAL ? of->count - done : 0, size = of->property->to_many->size;
  kvo_elements old_part = kvo__elements_of(of->property, old_value->bytes + first * size, done);
  elements_notify(frame, &part, &old_part);
}

/* After a replacement whose accessors have refused to remove an element: notifies of the elements that are replaced, and of the one that
 * is inserted, which is a change of its own if there are any. */
static void notify_insertion(kvo_frame *frame, const kvo_mutation *of, const kvo_elements *old_value, size_t done) {
  kvo_mutation insertion = {
      of->object,  of->property, KVO_CHANGE_INSERTION, of->indexes + done, 1, elements_element_of(of, done),
      of->function};
  kvo_frame own;
  if (done > 0) {
    notify_part(frame, of, old_value, done);
    frame = &own;
    if (kvo__frame_enter_change(frame, of->object, of->property->key, insertion.kind, insertion.indexes, 1,
                                __builtin_frame_address(0)) == 0)
      return;
  } else {
    kvo_raw_change *record = &kvo__frame_content_of(frame)->record;
    record->kind = insertion.kind;
    record->indexes = insertion.indexes;
    record->index_count = 1;
  }
  elements_notify(frame, &insertion, NULL);
  if (frame == &own) kvo_frame_end(&own);
}

/* Changes what no frame notifies of: a scope may have called observers before the change. */
static kvo_status change_untold(const kvo_mutation *of, bool may_have_changed) {
  elements_progress made = {0};
  bool has_happened = false;
  kvo_status status = may_have_changed ? check_again(of, &has_happened) : KVO_OK;
  if (status == KVO_OK && !has_happened) status = change_all(of, &made);
  if (made.done > 0 || made.has_inserted) kvo_binding_stored(of->object, of->property->key);
  return status;
}

/* Calls the observers that are notified before the change. The old elements are read again afterwards, because those may have changed the
 * collection. */
static kvo_elements *elements_tell_before(kvo_frame *frame, const kvo_mutation *of, kvo_elements *old_value,
                                          bool wants_old) {
  kvo_frame_will(frame, old_value);
  if (!wants_old || !of->property->to_many->is_list) return old_value;
  kvo__elements_free(old_value);
  return old_elements(of);
}

static kvo_status mutate(const kvo_mutation *of) {
  kvo_frame frame;
  bool has_happened, is_alone = kvo__own.open_changes == 0;
  uint32_t wants = kvo__frame_enter_change(&frame, of->object, of->property->key, of->kind, of->indexes, of->count,
                                           __builtin_frame_address(0));
  if (wants == 0) return change_untold(of, !is_alone);
  bool wants_old = (wants & KVO_FRAME_WANTS_OLD) != 0;
  kvo_elements *old_value = wants_old ? old_elements(of) : NULL;
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) old_value = elements_tell_before(&frame, of, old_value, wants_old);
  elements_progress made = {0};
  kvo_status status = check_again(of, &has_happened);
  if (status == KVO_OK && !has_happened) status = change_all(of, &made);
  if (made.has_inserted)
    notify_insertion(&frame, of, old_value, made.done);
  else if (made.done == of->count)
    elements_notify(&frame, of, old_value);
  else if (made.done > 0)
    notify_part(&frame, of, old_value, made.done);
  kvo_frame_end(&frame);
  kvo__elements_free(old_value);
  if (wants_old) kvo__old_objects_free(__builtin_frame_address(0));
  return status;
}

/* A string may be the collection's own, which an observer that is called before the change can remove. */
static kvo_status mutate_kept(const kvo_mutation *of) {
  bool has_strings = of->elements != NULL && of->property->to_many->type[0] == '*';
  if (!has_strings || !kvo_object_is_observed(of->object)) return mutate(of);
  kvo_elements *kept = kvo__elements_keep(of->property, of->elements, of->count);
  if (kept == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_mutation change = *of;
  change.elements = kept->bytes;
  kvo_status status = mutate(&change);
  kvo__elements_free(kept);
  return status;
}

kvo_status kvo__mutate(const kvo_mutation *of) {
  uint32_t errors = kvo__error_count();
  const kvo_class *cls = kvo_object_class(of->object); /* an observer may destroy the object */
  kvo_status status = mutate_kept(of);
  return status == KVO_OK ? KVO_OK : kvo__elements_fail(status, errors, of->function, cls, of->property->name);
}

/* ---------------------------------------------------------------------------------------------------------- Accessors -- */

/* The accessors of an observed object; `user` is the property. */

static kvo_status insert_at(kvo_object *object, size_t index, const void *element, void *user) {
  return kvo__mutate(&(kvo_mutation){object, user, KVO_CHANGE_INSERTION, &index, 1, element, "insert_at"});
}

static kvo_status elements_remove_at(kvo_object *object, size_t index, void *user) {
  return kvo__mutate(&(kvo_mutation){object, user, KVO_CHANGE_REMOVAL, &index, 1, NULL, "remove_at"});
}

static kvo_status replace_at(kvo_object *object, size_t index, const void *element, void *user) {
  return kvo__mutate(&(kvo_mutation){object, user, KVO_CHANGE_REPLACEMENT, &index, 1, element, "replace_at"});
}

static size_t elements_count(const kvo_object *object, void *user) {
  const kvo_list_accessors *list = &((const kvo_property *)user)->to_many->list;
  return list->count(object, list->user);
}

static void get_at(const kvo_object *object, size_t index, void *element, void *user) {
  const kvo_list_accessors *list = &((const kvo_property *)user)->to_many->list;
  list->get_at(object, index, element, list->user);
}

static size_t count_members(const kvo_object *object, void *user) {
  const kvo_member_accessors *members = &((const kvo_property *)user)->to_many->members;
  return members->count(object, members->user);
}

static bool contains(const kvo_object *object, const void *element, void *user) {
  const kvo_member_accessors *members = &((const kvo_property *)user)->to_many->members;
  return members->contains(object, element, members->user);
}

static void for_each(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg, void *user) {
  const kvo_member_accessors *members = &((const kvo_property *)user)->to_many->members;
  members->for_each(object, visit, arg, members->user);
}

/* A set that has the member, or does not have it, does not change. */
static kvo_status elements_change_member(kvo_object *object, const void *element, void *user, kvo_change_kind kind) {
  bool is_member = contains(object, element, user);
  if (is_member == (kind == KVO_CHANGE_INSERTION)) return KVO_OK;
  return kvo__mutate(
      &(kvo_mutation){object, user, kind, NULL, 1, element, kind == KVO_CHANGE_INSERTION ? "add" : "remove"});
}

static kvo_status elements_add(kvo_object *object, const void *element, void *user) {
  return elements_change_member(object, element, user, KVO_CHANGE_INSERTION);
}

static kvo_status remove_member(kvo_object *object, const void *element, void *user) {
  return elements_change_member(object, element, user, KVO_CHANGE_REMOVAL);
}

kvo_list_accessors kvo__list_accessors(const kvo_object *object, const kvo_property *property) {
  const kvo_list_accessors *own = &property->to_many->list;
  if (!kvo_object_is_observed(object)) return *own;
  kvo_list_accessors notifying = {sizeof notifying, elements_count, get_at, NULL, NULL, NULL, (void *)property};
  if (own->insert_at == NULL) return notifying;
  notifying.insert_at = insert_at;
  notifying.remove_at = elements_remove_at;
  notifying.replace_at = replace_at;
  return notifying;
}

kvo_member_accessors kvo__member_accessors(const kvo_object *object, const kvo_property *property) {
  const kvo_member_accessors *own = &property->to_many->members;
  if (!kvo_object_is_observed(object)) return *own;
  kvo_member_accessors notifying = {sizeof notifying, count_members, contains, for_each, NULL, NULL, (void *)property};
  if (own->add == NULL) return notifying;
  notifying.add = elements_add;
  notifying.remove = remove_member;
  return notifying;
}
