/* manual.c - changes that the program announces by hand: will and did. */
#include "text/report.h"
#include "watching/ended.h"

enum { MANUAL_FRAMES = 8, FEW = 16 };

/* A change between will and did, of the thread that announced it. */
typedef struct kvo_manual {
  kvo_frame frame;
  /** Neighbours in the list; and its place in the index, behind those of its object and key that were announced before. */
  struct kvo_manual *below, *above;
  kvo_index_entry entry;
  uint64_t number;
  kvo_object *object;
  kvo_key key;
  /** Behind the indexes. */
  const char *name;
  uint32_t wants;
  /** Where will was called: also the stack, since a binding may not know more. */
  kvo_place place;
  uint32_t frame_count;
  void *frames[MANUAL_FRAMES];
  /** kvo_will_change has told everybody; until then a did in a callback is not for this one. Other threads read it. */
  _Atomic bool announced;
  /** The values were given with kvo_will_change; they are not read. */
  bool has_values;
  /** It was reported that another thread called did, and there will be none. */
  bool is_reported;
  void *old_value;
  void *new_value;
  kvo_selection selection;
  size_t indexes[];
} manual;

static kvo_frame_content *content(manual *open) { return kvo__frame_content_of(&open->frame); }

static const kvo_property *property_of(manual *open) {
  return kvo__slot_property(content(open)->info, content(open)->slot);
}

/* ---------------------------------------------------------------------------------------------------- Open changes -- */

/* Of this thread, innermost first. Others look at it, with its lock, when a did without a will may be one of another thread; so it is
 * in the thread's record, which is there as long as others find it. */
static manual *innermost(void) { return kvo__this_thread != NULL ? kvo__this_thread->manuals.first : NULL; }

static manual *of_entry(const kvo_index_entry *entry) {
  return (manual *)((uintptr_t)entry - offsetof(manual, entry));
}

static kvo_index_key key_of(const kvo_index_entry *entry) {
  const manual *open = of_entry(entry);
  return kvo__index_key(open->object, open->key, open->number);
}

static bool is_of(const manual *open, const kvo_object *object, kvo_key key) {
  return open->object == object && open->key == key;
}

/* The innermost of a thread's of this object and key; below one of these, if that is not NULL. */
static manual *find_below(const kvo_manual_list *list, const manual *one, const kvo_object *object, kvo_key key) {
  if (list->by_key.key_of == NULL) {
    manual *open = one != NULL ? one->below : list->first;
    while (open != NULL && !is_of(open, object, key)) open = open->below;
    return open;
  }
  kvo_index_key wanted = kvo__index_key(object, key, one != NULL ? one->number : UINT64_MAX);
  for (kvo_index_entry *at; (at = kvo__index_before(&list->by_key, wanted)) != NULL; wanted = key_of(at)) {
    if (key_of(at).major != wanted.major) return NULL;
    if (is_of(of_entry(at), object, key)) return of_entry(at);
  }
  return NULL;
}

/* The thread has a record. */
static void push(manual *open) {
  kvo_manual_list *list = &kvo__this_thread->manuals;
  open->below = list->first;
  open->number = open->below != NULL ? open->below->number + 1 : 0;
  kvo__lock(&list->lock);
  if (open->below != NULL) open->below->above = open;
  list->first = open;
  list->count++;
  if (list->by_key.key_of != NULL) {
    kvo__index_add(&list->by_key, &open->entry);
  } else if (list->count > FEW) {
    list->by_key.key_of = key_of;
    for (; open != NULL; open = open->below) kvo__index_add(&list->by_key, &open->entry);
  }
  kvo__unlock(&list->lock);
  kvo__unusual++;
}

static void free_manual(manual *open) {
  const kvo_property *property = property_of(open);
  kvo__property_release(property, open->old_value);
  kvo__property_release(property, open->new_value);
  kvo_frame_end(&open->frame);
  kvo__free(open);
}

/* Where it was announced; valid as long as it is. */
static kvo_fault_site will_of(const manual *open, uint32_t thread) {
  kvo_fault_site site = kvo__site("willChange called", open->place);
  site.thread = thread;
  site.frames = open->frames;
  site.frame_count = open->frame_count;
  return site;
}

/* Out of the list: nobody else looks at it any more. */
static void take_out(manual *open) {
  kvo_manual_list *list = &kvo__this_thread->manuals;
  kvo__lock(&list->lock);
  if (open->below != NULL) open->below->above = open->above;
  *(open->above != NULL ? &open->above->below : &list->first) = open->below;
  if (list->by_key.key_of != NULL) kvo__index_remove(&list->by_key, &open->entry);
  if (--list->count == 0) list->by_key.key_of = NULL;
  kvo__unlock(&list->lock);
  kvo__unusual--;
}

static void end_unfinished(manual *open, const char *end) {
  if (!open->is_reported) {
    kvo_fault_observation concerned;
    bool told = kvo__describe_first(content(open)->slot, &concerned);
    kvo_fault_site will = will_of(open, kvo__thread_number());
    kvo__fault_unfinished(content(open)->info, open->object, open->name, told ? &concerned : NULL, end, &will);
  }
  free_manual(open);
}

void kvo__manual_drop(void) {
  for (manual *open = innermost(); open != NULL; open = innermost()) {
    take_out(open);
    end_unfinished(open, "its thread ended");
  }
}

void kvo__manual_end_of(const kvo_info *info) {
  for (manual *open = innermost(); open != NULL;) {
    if (content(open)->info != info || !atomic_load(&open->announced)) {
      open = open->below;
      continue;
    }
    take_out(open);
    end_unfinished(open, "its object died");
    open = innermost(); /* a handler may have done anything */
  }
}

void kvo__manual_is_doubled(const kvo_object *object, kvo_key key) {
  if (innermost() == NULL) return;
  const kvo_manual_list *list = &kvo__this_thread->manuals;
  manual *open = find_below(list, NULL, object, key);
  while (open != NULL && open->has_values) open = find_below(list, open, object, key);
  if (open == NULL) return;
  kvo_fault_observation concerned;
  bool told = kvo__describe_first(content(open)->slot, &concerned);
  kvo_fault_site will = will_of(open, kvo__thread_number());
  kvo__fault_doubled(content(open)->info, open->name, told ? &concerned : NULL, &will);
}

/* --------------------------------------------------------------------------------------------- Wills nobody heard -- */

/* Who observes between a will and its did is not told of that change, and the did is no misuse. So many may be open at once, on a
 * thread; of more, the oldest are forgotten. */
enum { UNHEARD = 64 };
static _Thread_local struct {
  uint32_t count;
  struct {
    const kvo_object *object;
    kvo_key key;
  } wills[UNHEARD];
} unheard;

static void remember_unheard(const kvo_object *object, kvo_key key) {
  if (unheard.count == UNHEARD) {
    memmove(&unheard.wills[0], &unheard.wills[1], (UNHEARD - 1) * sizeof unheard.wills[0]);
    unheard.count--;
  }
  unheard.wills[unheard.count].object = object;
  unheard.wills[unheard.count].key = key;
  unheard.count++;
}

bool kvo__manual_is_open(const kvo_object *object, kvo_key key) {
  uint32_t i = 0;
  while (i < unheard.count && (unheard.wills[i].object != object || unheard.wills[i].key != key)) i++;
  return i < unheard.count;
}

/* Whether there was such a will. */
static bool take_unheard(const kvo_object *object, kvo_key key) {
  for (uint32_t i = unheard.count; i-- > 0;)
    if (unheard.wills[i].object == object && unheard.wills[i].key == key) {
      unheard.count--;
      memmove(&unheard.wills[i], &unheard.wills[i + 1], (unheard.count - i) * sizeof unheard.wills[0]);
      return true;
    }
  return false;
}

void kvo__manual_forget(const kvo_object *object) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < unheard.count; i++)
    if (unheard.wills[i].object != object) unheard.wills[kept++] = unheard.wills[i];
  unheard.count = kept;
}

/* -------------------------------------------------------------------------------------------------------------- Will -- */

/* The present value of the frame's property; a fault when the key is undefined. */
static void *read_value(manual *open) {
  kvo_frame_content *change = content(open);
  const kvo_property *property = property_of(open);
  if (property == NULL) {
    kvo__fault_undefined(change->info->cls, change->info->object, change->slot);
    return NULL;
  }
  const kvo_selection *selection = open->selection.indexes != NULL ? &open->selection : NULL;
  return kvo__property_copy(property, change->info->object, selection);
}

/* Makes the pair's first half; NULL with KVO_OK when nobody is to be told. */
static manual *open_manual(kvo_object *object, kvo_change_kind kind, kvo_key key, const char *name,
                           const kvo_selection *selection, kvo_place place, kvo_status *status) {
  *status = KVO_ERROR_OUT_OF_MEMORY;
  size_t count = selection != NULL ? selection->count : 0;
  size_t name_size = strlen(name) + 1;
  if (count > (SIZE_MAX - sizeof(manual) - name_size) / sizeof(size_t) || kvo__thread() == NULL) return NULL;
  manual *open = kvo__alloc(sizeof *open + count * sizeof(size_t) + name_size);
  if (open == NULL) return NULL;
  *status = KVO_OK;
  if (count > 0) memcpy(open->indexes, selection->indexes, count * sizeof(size_t));
  open->selection.indexes = selection != NULL ? open->indexes : NULL;
  open->selection.count = count;
  open->object = object;
  open->key = key;
  open->name = memcpy(open->indexes + count, name, name_size);
  open->place = kvo__keep(place);
  open->frame_count = (uint32_t)kvo__stack_capture(open->frames, MANUAL_FRAMES);
  bool muted = kvo__unusual != 0 && kvo__is_muted(object, key);
  open->wants = muted ? 0 : kvo__frame_begin(&open->frame, object, key, false, kind, &open->selection);
  if (open->wants == 0) {
    kvo__free(open);
    remember_unheard(object, key);
    return NULL;
  }
  push(open);
  return open;
}

/* Tells those who want to be told before. */
static void announce(manual *open) {
  if ((open->wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&open->frame, open->old_value);
  atomic_store(&open->announced, true);
}

static kvo_status will_change(kvo_object *object, kvo_change_kind kind, const char *key, const kvo_selection *selection,
                              kvo_place place) {
  kvo_status status;
  manual *open = open_manual(object, kind, kvo_key_hash(key, strlen(key)), key, selection, place, &status);
  if (open == NULL) {
    if (status == KVO_OK) kvo__warn_of_unknown_key(object, key, place);
    return status;
  }
  if ((open->wants & KVO_FRAME_WANTS_OLD) != 0 && kind != KVO_CHANGE_INSERTION) open->old_value = read_value(open);
  announce(open);
  return KVO_OK;
}

void kvo_binding_will_unheard(kvo_object *object, kvo_key key) {
  if (object != NULL) remember_unheard(object, key);
}

static bool are_given(const kvo_object *object, const char *key, const char *function, kvo_place place) {
  if (object == NULL || key == NULL)
    kvo__fault_invalid_argument(function, object == NULL ? "object is NULL" : "key is NULL", place);
  return object != NULL && key != NULL;
}

static bool is_ordered_change(kvo_change_kind kind, const size_t *indexes, size_t count, const char *function,
                              kvo_place place) {
  bool ordered = kind == KVO_CHANGE_INSERTION || kind == KVO_CHANGE_REMOVAL || kind == KVO_CHANGE_REPLACEMENT;
  const char *wrong = !ordered                       ? "kind is not that of an ordered change"
                      : indexes == NULL && count > 0 ? "indexes is NULL"
                                                     : NULL;
  if (wrong != NULL) kvo__fault_invalid_argument(function, wrong, place);
  return wrong == NULL;
}

kvo_status kvo_will_change_at(kvo_object *object, const char *key, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_will_change", place)) return KVO_ERROR_INVALID_ARGUMENT;
  return will_change(object, KVO_CHANGE_SETTING, key, NULL, place);
}

kvo_status kvo_will_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                      size_t count, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_will_change_indexes", place)) return KVO_ERROR_INVALID_ARGUMENT;
  if (!is_ordered_change(kind, indexes, count, "kvo_will_change_indexes", place)) {
    remember_unheard(object, kvo_key_hash(key, strlen(key)));
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  for (size_t i = 1; i < count; i++)
    if (indexes[i] <= indexes[i - 1]) {
      remember_unheard(object, kvo_key_hash(key, strlen(key)));
      kvo__fault_unordered_indexes(object, key, i, indexes[i - 1], indexes[i], place);
      return KVO_ERROR_INVALID_ARGUMENT;
    }
  kvo_selection selection = {indexes, count};
  return will_change(object, kind, key, &selection, place);
}

kvo_status kvo_binding_will_change_values(kvo_object *object, kvo_key key, kvo_change_kind kind, void *old_value,
                                          void *new_value) {
  kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo__class_find(cls, key) : NULL;
  if (property == NULL) return KVO_ERROR_UNDEFINED_KEY;
  if (property->ops == NULL || kind < KVO_CHANGE_SETTING || kind > KVO_CHANGE_REPLACEMENT)
    return KVO_ERROR_INVALID_ARGUMENT;
  kvo_status status;
  manual *open = open_manual(object, kind, key, property->name, NULL, KVO_NOWHERE, &status);
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

/* The innermost of a thread's that a did ends. The info tells a new object at the address of a dead one from it: an open frame keeps the
 * old info's memory. */
static manual *find_announced(const kvo_manual_list *list, const kvo_object *object, kvo_key key, const kvo_info *info) {
  manual *open = find_below(list, NULL, object, key);
  while (open != NULL && (!atomic_load(&open->announced) || content(open)->info != info))
    open = find_below(list, open, object, key);
  return open;
}

static bool is_same(const kvo_announced *begun, const kvo_announced *end) {
  if (begun->kind != end->kind || begun->count != end->count) return false;
  return end->count == 0 || memcmp(begun->indexes, end->indexes, end->count * sizeof *end->indexes) == 0;
}

/* A will of another thread. */
typedef struct crossing {
  const kvo_object *object;
  kvo_key key;
  const kvo_info *info;
  /** It may end at any time: its frames are copied. */
  kvo_fault_site will;
  void *frames[MANUAL_FRAMES];
} crossing;

static bool has_will(kvo_thread *thread, void *arg) {
  crossing *search = arg;
  kvo_manual_list *list = &thread->manuals;
  kvo__lock(&list->lock);
  manual *open = find_announced(list, search->object, search->key, search->info);
  if (open != NULL) {
    open->is_reported = true;
    search->will = will_of(open, thread->number);
    memcpy(search->frames, open->frames, sizeof search->frames);
    search->will.frames = search->frames;
  }
  kvo__unlock(&list->lock);
  return open != NULL;
}

/* Of a did without a will: nobody is told, but a path that was observed in between, or whose head changed in silence before, has
 * to follow the value that it finds now. */
static kvo_status follow_present_value(kvo_object *object, const char *key, kvo_key hash, kvo_place place) {
  bool was_heard_by_nobody = take_unheard(object, hash);
  kvo_frame frame;
  if (kvo__frame_begin(&frame, object, hash, false, KVO_CHANGE_SETTING, NULL) == 0) return KVO_OK;
  kvo_frame_content *change = kvo__frame_content_of(&frame);
  change->limit = 0;
  change->registered = 0;
  kvo_fault_observation concerned;
  bool told = kvo__describe_first(change->slot, &concerned);
  crossing search = {.object = object, .key = hash, .info = change->info};
  if (was_heard_by_nobody) {
    /* no misuse */
  } else if (kvo__find_thread(has_will, &search)) {
    kvo__fault_crossed(object, key, told ? &concerned : NULL, &search.will, place);
  } else {
    kvo__fault_no_will(object, key, told ? &concerned : NULL, place);
  }
  kvo_frame_finish(&frame, NULL);
  return was_heard_by_nobody ? KVO_OK : KVO_ERROR_UNBALANCED;
}

/* Ends the newest open change of this object and key. */
static kvo_status did_change(kvo_object *object, const char *key, const kvo_announced *end, kvo_place place) {
  kvo_key hash = kvo_key_hash(key, strlen(key));
  kvo_info *info = kvo__word_info(kvo__word(object));
  manual *open = innermost() != NULL ? find_announced(&kvo__this_thread->manuals, object, hash, info) : NULL;
  if (open == NULL) return follow_present_value(object, key, hash, place);
  take_out(open);
  kvo_frame_content *change = content(open);
  kvo_announced begun = {(kvo_change_kind)change->kind, open->selection.indexes, open->selection.count};
  if (end != NULL && !is_same(&begun, end)) {
    kvo_fault_site will = will_of(open, kvo__thread_number());
    kvo__fault_other_indexes(object, key, &begun, end, &will, place);
  }
  bool read_new = !open->has_values && (open->wants & KVO_FRAME_WANTS_NEW) != 0 && change->kind != KVO_CHANGE_REMOVAL;
  while (kvo_frame_next(&open->frame)) {
    kvo_node_kind told = kvo__node_kind(change->cursor);
    bool is_wanted = !kvo__frame_evaluates(change, told) && (change->cursor->options & KVO_NEW) != 0;
    void *new_value = read_new && is_wanted ? read_value(open) : NULL;
    kvo_frame_deliver(&open->frame, open->old_value, open->has_values ? open->new_value : new_value);
    if (new_value != NULL) kvo__property_release(property_of(open), new_value);
  }
  free_manual(open);
  return KVO_OK;
}

kvo_status kvo_did_change_at(kvo_object *object, const char *key, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_did_change", place)) return KVO_ERROR_INVALID_ARGUMENT;
  return did_change(object, key, NULL, place);
}

kvo_status kvo_did_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                     size_t count, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (!are_given(object, key, "kvo_did_change_indexes", place) ||
      !is_ordered_change(kind, indexes, count, "kvo_did_change_indexes", place))
    return KVO_ERROR_INVALID_ARGUMENT;
  kvo_announced end = {kind, indexes, count};
  return did_change(object, key, &end, place);
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
