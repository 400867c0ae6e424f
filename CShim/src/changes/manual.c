/* manual.c - changes announced by hand: kvo_will_change and kvo_did_change. */
#include "changes/announcements.h"
#include "changes/scopes.h"
#include "registry/places.h"

static const kvo_property *manual_property_of(kvo_manual *open) {
  return kvo__slot_property(kvo__manual_content(open)->info, kvo__manual_content(open)->slot);
}

/* ---------------------------------------------------------------------------------------------------------------- Ends -- */

static void free_manual(kvo_manual *open, bool by_death) {
  const kvo_property *property = manual_property_of(open);
  kvo__property_release(property, open->old_value);
  kvo__property_release(property, open->new_value);
  if (by_death)
    kvo__frame_drop(&open->frame);
  else
    kvo_frame_end(&open->frame);
  kvo__free(open);
}

static void end_unfinished(kvo_manual *open, const char *end, bool by_death) {
  if (!open->is_reported) {
    kvo_fault_observation concerned;
    bool is_observed = kvo__describe_first(kvo__manual_content(open)->slot, &concerned);
    kvo_fault_site will = kvo__manual_site(open, kvo__thread_number());
    KVO_MISUSE(unfinished, kvo__manual_content(open)->info, open->object, open->name, is_observed ? &concerned : NULL,
               end, &will);
  }
  free_manual(open, by_death);
}

void kvo__manual_drop(void) {
  for (kvo_manual *open = kvo__manual_innermost(); open != NULL; open = kvo__manual_innermost()) {
    kvo__manual_take_out(open);
    end_unfinished(open, "its thread ended", false);
  }
}

void kvo__manual_end_of(const kvo_info *info) {
  for (kvo_manual *open = kvo__manual_innermost(); open != NULL;) {
    if (kvo__manual_content(open)->info != info || !atomic_load(&open->announced)) {
      open = open->below;
      continue;
    }
    kvo__manual_take_out(open);
    end_unfinished(open, "its object ended", true);
    open = kvo__manual_innermost(); /* the fault handler may have changed the list */
  }
}

/* -------------------------------------------------------------------------------------------------------------- Will -- */

/* Copies the present value of the property. An undefined key is a fault. */
static void *manual_read_value(kvo_manual *open, kvo_property_reader *read) {
  kvo_frame_content *change = kvo__manual_content(open);
  const kvo_property *property = manual_property_of(open);
  if (property == NULL) {
    KVO_MISUSE(undefined, change->info->cls, change->info->object, change->slot);
    return NULL;
  }
  const kvo_selection *selection = open->selection.indexes != NULL ? &open->selection : NULL;
  return read(property, change->info->object, selection);
}

/* Opens a change. NULL with KVO_OK if no observer is to be notified. */
static kvo_manual *open_manual(kvo_object *object, kvo_change_kind kind, kvo_key key, const char *name,
                               const kvo_selection *selection, kvo_place place, kvo_status *status) {
  static const kvo_selection whole;
  if (selection == NULL) selection = &whole;
  *status = KVO_OK;
  /* First test whether anybody observes: usually nobody does, and then neither memory nor a stack walk is needed. */
  kvo_frame frame;
  bool muted = kvo__own.open_changes != 0 && (kvo__is_muted(object, key) || kvo__scope_takes(object, key, false));
  uint32_t wants = muted ? 0 : kvo__frame_begin(&frame, object, key, false, kind, selection);
  if (wants == 0) {
    kvo__unobserved_will(object, key, !muted);
    return NULL;
  }
  size_t count = selection->count, name_size = strlen(name) + 1;
  bool fits = count <= (SIZE_MAX - sizeof(kvo_manual) - name_size) / sizeof(size_t) && kvo__thread() != NULL;
  kvo_manual *open = fits ? kvo__alloc(sizeof *open + count * sizeof(size_t) + name_size) : NULL;
  if (open == NULL) {
    kvo_frame_end(&frame);
    kvo__unobserved_will(object, key, false);
    *status = KVO_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  open->frame = frame;
  open->wants = wants;
  if (count > 0) memcpy(open->indexes, selection->indexes, count * sizeof(size_t));
  open->selection.indexes = selection->indexes != NULL ? open->indexes : NULL;
  open->selection.count = count;
  kvo__manual_content(open)->record.indexes = open->selection.indexes;
  open->object = object;
  open->key = key;
  open->name = memcpy(open->indexes + count, name, name_size);
  open->place = kvo__keep(place);
  open->frame_count = (uint32_t)kvo__stack_capture(open->frames, KVO_MANUAL_FRAMES);
  kvo__manual_push(open);
  return open;
}

/* Notifies observers that want the change before it is made. */
static void announce(kvo_manual *open) {
  if ((open->wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&open->frame, open->old_value);
  atomic_store(&open->announced, true);
}

static kvo_status will_change(kvo_object *object, kvo_change_kind kind, const char *key, const kvo_selection *selection,
                              kvo_place place) {
  kvo_status status;
  kvo_manual *open = open_manual(object, kind, kvo_key_hash(key, strlen(key)), key, selection, place, &status);
  if (open == NULL) {
    if (status == KVO_OK) KVO_MISUSE(unknown_key, object, key, place);
    return status;
  }
  if ((open->wants & KVO_FRAME_WANTS_OLD) != 0 && kind != KVO_CHANGE_INSERTION)
    open->old_value = manual_read_value(open, kvo__property_keep);
  announce(open);
  return KVO_OK;
}

bool kvo_binding_is_observed(const kvo_object *object, kvo_key key) {
  uintptr_t word = object != NULL ? kvo__word(object) : 0;
  const kvo_slot *slot = (word & KVO_WORD_OBSERVED) != 0 ? kvo__slot_find(kvo__word_info(word), key) : NULL;
  return slot != NULL && atomic_load_explicit(&slot->wants, memory_order_acquire) != 0;
}

void kvo_binding_will_unobserved(kvo_object *object, kvo_key key) {
  if (object == NULL) return;
  bool is_silent = kvo__scoped(object) == KVO_SILENT || kvo__is_muted(object, key);
  kvo__unobserved_will(object, key, !is_silent && !kvo_binding_is_observed(object, key));
}

static bool are_given(const kvo_object *object, const char *key, const char *function, kvo_place place) {
  if (object == NULL || key == NULL) kvo__invalid(function, object == NULL ? "object is NULL" : "key is NULL", place);
  return object != NULL && key != NULL;
}

static bool is_ordered_change(kvo_change_kind kind, const size_t *indexes, size_t count, const char *function,
                              kvo_place place) {
  bool ordered = kind == KVO_CHANGE_INSERTION || kind == KVO_CHANGE_REMOVAL || kind == KVO_CHANGE_REPLACEMENT;
  const char *wrong = !ordered                       ? "kind is not that of an ordered change"
                      : indexes == NULL && count > 0 ? "indexes is NULL"
                                                     : NULL;
  if (wrong != NULL) kvo__invalid(function, wrong, place);
  return wrong == NULL;
}

kvo_status kvo_will_change_at(kvo_object *object, const char *key, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_will_change", place)) return KVO_ERROR_INVALID_ARGUMENT;
  return kvo__result(will_change(object, KVO_CHANGE_SETTING, key, NULL, place), "kvo_will_change", object, key);
}

kvo_status kvo_will_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                      size_t count, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_will_change_indexes", place)) return KVO_ERROR_INVALID_ARGUMENT;
  if (!is_ordered_change(kind, indexes, count, "kvo_will_change_indexes", place)) {
    kvo__unobserved_will(object, kvo_key_hash(key, strlen(key)), false);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  for (size_t i = 1; i < count; i++)
    if (indexes[i] <= indexes[i - 1]) {
      kvo__unobserved_will(object, kvo_key_hash(key, strlen(key)), false);
      KVO_MISUSE(unordered_indexes, object, key, i, indexes[i - 1], indexes[i], place);
      return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_will_change_indexes: \"%s\": the indexes are not ascending",
                       key);
    }
  kvo_selection selection = {indexes, count};
  return kvo__result(will_change(object, kind, key, &selection, place), "kvo_will_change_indexes", object, key);
}

kvo_status kvo_binding_will_change_values(kvo_object *object, kvo_key key, kvo_change_kind kind, void *old_value,
                                          void *new_value) {
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo__class_find(cls, key) : NULL;
  if (property == NULL) return KVO_ERROR_UNDEFINED_KEY;
  if (property->ops == NULL || property->to_many != NULL || kind < KVO_CHANGE_SETTING || kind > KVO_CHANGE_REPLACEMENT)
    return KVO_ERROR_INVALID_ARGUMENT;
  kvo_status status;
  kvo_manual *open = open_manual(object, kind, key, property->name, NULL, KVO_NOWHERE, &status);
  if (open == NULL) {
    kvo__property_release(property, old_value);
    kvo__property_release(property, new_value);
    return status;
  }
  open->has_values = true;
  open->old_value = old_value;
  open->new_value = new_value;
  announce(open);
  return KVO_OK;
}

/* --------------------------------------------------------------------------------------------------------------- Did -- */

/* The innermost change in a thread's list that a did may end. Comparing the info excludes changes of a dead object at the same address: an
 * open frame keeps that object's info, so a new object has another one. */
static kvo_manual *find_announced(const kvo_manual_list *list, const kvo_object *object, kvo_key key,
                                  const kvo_info *info) {
  kvo_manual *open = kvo__manual_find(list, NULL, object, key);
  while (open != NULL && (!atomic_load(&open->announced) || kvo__manual_content(open)->info != info))
    open = kvo__manual_find(list, open, object, key);
  return open;
}

static bool manual_is_same(const kvo_announced *begun, const kvo_announced *end) {
  if (begun->kind != end->kind || begun->count != end->count) return false;
  return end->count == 0 || memcmp(begun->indexes, end->indexes, end->count * sizeof *end->indexes) == 0;
}

/* A search for the will among other threads' announced changes. */
typedef struct crossing {
  const kvo_object *object;
  kvo_key key;
  const kvo_info *info;
  /** The will may end at any time, so its frames are copied. */
  kvo_fault_site will;
  void *frames[KVO_MANUAL_FRAMES];
} crossing;

static bool has_will(kvo_thread *thread, void *arg) {
  crossing *search = arg;
  kvo_manual_list *list = &thread->manuals;
  kvo__lock(&list->lock);
  kvo_manual *open = find_announced(list, search->object, search->key, search->info);
  if (open != NULL) {
    open->is_reported = true;
    search->will = kvo__manual_site(open, thread->number);
    memcpy(search->frames, open->frames, sizeof search->frames);
    search->will.frames = search->frames;
  }
  kvo__unlock(&list->lock);
  return open != NULL;
}

/* Handles a did without a will that was passed on. Only key paths that were led to the object in between are notified. One that was
 * registered in between, or whose intermediate object was changed without notification, has to follow the present value. */
static kvo_status follow_present_value(kvo_object *object, const char *key, kvo_key hash, kvo_info *info,
                                       kvo_place place) {
  uint64_t registered;
  bool was_unobserved = kvo__unobserved_did(object, hash, &registered);
  bool silent;
  bool is_muted = kvo__own.open_changes != 0 && kvo__is_muted(object, hash);
  if (was_unobserved && is_muted) return KVO_OK; /* the binding notifies */
  kvo_scoped scoped = kvo__scoped(object);
  /* The end of the scope notifies of a change that it knows. */
  if (was_unobserved && scoped == KVO_COALESCED && !kvo__scope_stored(object, hash, &silent)) return KVO_OK;
  kvo_frame frame;
  if (kvo__frame_begin(&frame, object, hash, false, KVO_CHANGE_SETTING, NULL) == 0) return KVO_OK;
  kvo_frame_content *change = kvo__frame_content_of(&frame);
  change->limit = 0;
  change->registered = registered;
  kvo_fault_observation concerned;
  bool is_observed = kvo__describe_first(change->slot, &concerned);
  crossing search = {.object = object, .key = hash, .info = change->info};
  if (was_unobserved) {
    /* no misuse */
  } else if (kvo__find_thread(has_will, &search)) {
    KVO_MISUSE(crossed, object, key, is_observed ? &concerned : NULL, &search.will, place);
  } else {
    KVO_MISUSE(no_will, object, key, is_observed ? &concerned : NULL, place);
  }
  if (scoped == KVO_SILENT) { /* as the change of a setter */
    kvo__stored_silently(info, hash);
    kvo__frame_drop(&frame);
  } else {
    kvo_frame_finish(&frame, NULL);
  }
  return was_unobserved ? KVO_OK : KVO_ERROR_UNBALANCED;
}

/* Ends the newest open change of this object and key. */
static kvo_status did_change(kvo_object *object, const char *key, const kvo_announced *end, kvo_place place) {
  kvo_key hash = kvo_key_hash(key, strlen(key));
  kvo_info *info = kvo__word_info(kvo__word(object));
  /* The will in a scope is not in the list; one that is there was called outside of the scope. */
  bool is_in_scope = kvo__scoped(object) != KVO_UNSCOPED && kvo__unobserved_is_open(object, hash);
  kvo_manual *open = !is_in_scope && kvo__manual_innermost() != NULL
                         ? find_announced(&kvo__own.thread->manuals, object, hash, info)
                         : NULL;
  if (open == NULL) {
    kvo_status status = follow_present_value(object, key, hash, info, place);
    kvo__silent_end(info, hash);
    return status;
  }
  kvo__manual_take_out(open);
  kvo_frame_content *change = kvo__manual_content(open);
  kvo_announced begun = {(kvo_change_kind)change->kind, open->selection.indexes, open->selection.count};
  /* The did of a set mutation names no kind. */
  static const kvo_announced setting = {.kind = KVO_CHANGE_SETTING};
  if (end == NULL && !open->has_values) end = &setting;
  if (end != NULL && !manual_is_same(&begun, end)) {
    kvo_fault_site will = kvo__manual_site(open, kvo__thread_number());
    KVO_MISUSE(other_indexes, object, key, &begun, end, &will, place);
  }
  bool read_new = !open->has_values && (open->wants & KVO_FRAME_WANTS_NEW) != 0 && change->kind != KVO_CHANGE_REMOVAL;
  while (kvo_frame_next(&open->frame)) {
    kvo_node_kind kind = kvo__node_kind(change->cursor);
    bool is_wanted = !kvo__frame_evaluates(change, kind) && (change->cursor->options & KVO_NEW) != 0;
    void *new_value = read_new && is_wanted ? manual_read_value(open, kvo__property_copy) : NULL;
    kvo_frame_deliver(&open->frame, open->old_value, open->has_values ? open->new_value : new_value);
    if (new_value != NULL) kvo__property_release(manual_property_of(open), new_value);
  }
  free_manual(open, false);
  return KVO_OK;
}

kvo_status kvo_did_change_at(kvo_object *object, const char *key, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_did_change", place)) return KVO_ERROR_INVALID_ARGUMENT;
  return kvo__result(did_change(object, key, NULL, place), "kvo_did_change", object, key);
}

kvo_status kvo_did_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                     size_t count, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_did_change_indexes", place) ||
      !is_ordered_change(kind, indexes, count, "kvo_did_change_indexes", place))
    return KVO_ERROR_INVALID_ARGUMENT;
  kvo_announced end = {kind, indexes, count};
  return kvo__result(did_change(object, key, &end, place), "kvo_did_change_indexes", object, key);
}

/* ------------------------------------------------------------------------------------- For callers without a place -- */

kvo_status kvo_will_change(kvo_object *object, const char *key) { return kvo_will_change_at(object, key, NULL, 0); }

kvo_status kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                   size_t count) {
  return kvo_will_change_indexes_at(object, kind, key, indexes, count, NULL, 0);
}

kvo_status kvo_did_change(kvo_object *object, const char *key) { return kvo_did_change_at(object, key, NULL, 0); }

kvo_status kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                  size_t count) {
  return kvo_did_change_indexes_at(object, kind, key, indexes, count, NULL, 0);
}
