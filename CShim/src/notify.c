/* notify.c - a change from before the store until the last observer has been told. */
#include "internal.h"

/* Innermost first: the will phases of this thread's frames that are not over. */
static _Thread_local kvo_will_phase *will_phases;

static kvo_frame_content *content(kvo_frame *frame) { return (kvo_frame_content *)(void *)frame; }

/* ------------------------------------------------------------------------------------------------------------- Frame -- */

uint32_t kvo__frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key, bool by_setter, kvo_change_kind kind,
                          const kvo_selection *selection) {
  uintptr_t word = kvo__word(object);
  if ((word & KVO_WORD_OBSERVED) == 0) return 0;
  kvo_info *info = kvo__word_info(word);
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot == NULL || (by_setter && slot->manual)) return 0;
  /* Before `wants`: see kvo__node_link. */
  uint64_t limit = atomic_load_explicit(&info->births, memory_order_acquire);
  uint32_t wants = atomic_load_explicit(&slot->wants, memory_order_acquire);
  if (wants == 0) return 0;
  kvo_frame_content *change = content(frame);
  change->info = info;
  change->slot = slot;
  change->cursor = NULL;
  change->epoch = (uint8_t)kvo__enter(info);
  change->limit = limit;
  change->will = NULL;
  change->selection = selection;
  change->kind = (uint8_t)kind;
  change->started = false;
  return wants;
}

uint32_t kvo_frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key) {
  return kvo__frame_begin(frame, object, key, true, KVO_CHANGE_SETTING, NULL);
}

/* Whether a node is to be told of this change: not if it was registered during it, not if it was removed. */
static bool is_told(const kvo_frame_content *change, kvo_node *node) {
  return node->birth <= change->limit && atomic_load(&node->live);
}

static void send(kvo_frame_content *change, kvo_node *node, bool is_prior, const void *old_value,
                 const void *new_value) {
  kvo_raw_change record = {
      .object = change->info->object,
      .property = change->slot->property,
      .old_value = (node->options & KVO_OLD) != 0 ? old_value : NULL,
      .new_value = (node->options & KVO_NEW) != 0 ? new_value : NULL,
      .indexes = change->selection != NULL ? change->selection->indexes : NULL,
      .index_count = change->selection != NULL ? change->selection->count : 0,
      .kind = (kvo_change_kind)change->kind,
      .is_prior = is_prior,
      .observation = node->id,
  };
  kvo__call(&record, node->callback, node->user_data);
}

void kvo_frame_will(kvo_frame *frame, const void *old_value) {
  kvo_frame_content *change = content(frame);
  change->will = kvo__alloc(sizeof *change->will);
  if (change->will != NULL) { /* without memory, tracked observations will not know the old value */
    change->will->info = change->info;
    change->will->outer = will_phases;
    will_phases = change->will;
  }
  for (kvo_node *node = atomic_load(&change->slot->oldest); node != NULL; node = atomic_load(&node->newer)) {
    if (!is_told(change, node)) continue;
    if (node->kind == KVO_NODE_DEPENDENCY)
      kvo__tracked_will(node->tracked, change);
    else if ((node->options & KVO_PRIOR) != 0)
      send(change, node, true, old_value, NULL);
  }
}

bool kvo_frame_next(kvo_frame *frame) {
  kvo_frame_content *change = content(frame);
  kvo_node *node = change->started ? atomic_load(&change->cursor->older) : atomic_load(&change->slot->newest);
  while (node != NULL && !is_told(change, node)) node = atomic_load(&node->older);
  if (node == NULL) return false;
  change->cursor = node;
  change->started = true;
  return true;
}

void kvo_frame_deliver(kvo_frame *frame, const void *old_value, const void *new_value) {
  kvo_frame_content *change = content(frame);
  kvo_node *node = change->cursor;
  if (node->kind == KVO_NODE_DEPENDENCY)
    kvo__tracked_did(node->tracked, change);
  else
    send(change, node, false, old_value, new_value);
}

void kvo_frame_end(kvo_frame *frame) {
  kvo_frame_content *change = content(frame);
  if (change->will != NULL) {
    /* Usually the innermost; interleaved manual pairs end in another order, and one may end with its thread. */
    kvo_will_phase **link = &will_phases;
    while (*link != NULL && *link != change->will) link = &(*link)->outer;
    if (*link != NULL) *link = change->will->outer;
    kvo__pending_free(change->will);
  }
  kvo__leave(change->info, change->epoch);
}

bool kvo__in_change_of(const kvo_tracked *tracked, const kvo_info *dying) {
  for (const kvo_will_phase *will = will_phases; will != NULL; will = will->outer) {
    if (will->info == dying) continue; /* the rest of its observers is not told */
    for (const kvo_pending_value *pending = will->pending; pending != NULL; pending = pending->next)
      if (pending->tracked == tracked && !pending->told) return true;
  }
  return false;
}

void kvo__call(const kvo_raw_change *change, kvo_raw_callback callback, void *user_data) {
  if (!kvo_is_tracking()) {
    callback(change, user_data);
    return;
  }
  void *recorder = kvo__recording_suspend();
  callback(change, user_data);
  kvo__recording_resume(recorder);
}

/* ------------------------------------------------------------------------------------------------------ Manual pairs -- */

/* A change between kvo_will_change and kvo_did_change, on the stack of its thread. */
typedef struct manual {
  kvo_frame frame;
  struct manual *below;
  kvo_object *object;
  kvo_key key;
  uint32_t wants;
  void *old_value;
  kvo_selection selection;
  size_t indexes[];
} manual;

static _Thread_local manual *manual_changes;

/* A pair is scoped to a thread: what is still open when the thread ends will not be told, but is not leaked either. */
static void drop_manual_changes(void *unused) {
  (void)unused;
  while (manual_changes != NULL) {
    manual *open = manual_changes;
    manual_changes = open->below;
    if (open->old_value != NULL) kvo__property_release(content(&open->frame)->slot->property, open->old_value);
    kvo_frame_end(&open->frame);
    kvo__free(open);
  }
}

static void watch_thread_end(void) {
  static _Thread_local bool watched;
  if (watched) return;
  watched = true;
  kvo__at_thread_end(drop_manual_changes);
}

/* The present value of the frame's property; a fault when the key is undefined. */
static void *read_value(kvo_frame_content *change, const kvo_selection *selection) {
  const kvo_property *property = change->slot->property;
  if (property == NULL) {
    kvo__fault_undefined(change->info->cls, change->info->object, change->slot);
    return NULL;
  }
  return kvo__property_copy(property, change->info->object, selection);
}

static kvo_status will_change(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                              size_t count) {
  if (object == NULL || key == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_key hash = kvo_key_hash(key, strlen(key));
  manual *open = kvo__alloc(sizeof *open + count * sizeof(size_t));
  if (open == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  if (count > 0) memcpy(open->indexes, indexes, count * sizeof(size_t));
  open->selection.indexes = open->indexes;
  open->selection.count = count;
  open->object = object;
  open->key = hash;
  const kvo_selection *selection = kind != KVO_CHANGE_SETTING ? &open->selection : NULL;
  open->wants = kvo__frame_begin(&open->frame, object, hash, false, kind, selection);
  if (open->wants == 0) {
    kvo__free(open);
    return KVO_OK;
  }
  watch_thread_end();
  open->below = manual_changes;
  manual_changes = open;
  if ((open->wants & KVO_FRAME_WANTS_OLD) != 0 && kind != KVO_CHANGE_INSERTION)
    open->old_value = read_value(content(&open->frame), selection);
  if ((open->wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&open->frame, open->old_value);
  return KVO_OK;
}

kvo_status kvo_will_change(kvo_object *object, const char *key) {
  return will_change(object, KVO_CHANGE_SETTING, key, NULL, 0);
}

kvo_status kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key, const size_t *indexes,
                                   size_t count) {
  bool ordered = kind == KVO_CHANGE_INSERTION || kind == KVO_CHANGE_REMOVAL || kind == KVO_CHANGE_REPLACEMENT;
  if (!ordered || (indexes == NULL && count > 0)) return KVO_ERROR_INVALID_ARGUMENT;
  return will_change(object, kind, key, indexes, count);
}

kvo_status kvo_did_change(kvo_object *object, const char *key) {
  if (object == NULL || key == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_key hash = kvo_key_hash(key, strlen(key));
  kvo_info *info = kvo__word_info(kvo__word(object));
  manual **link = &manual_changes;
  /* The info tells a new object at the address of a dead one from it: an open frame keeps the old info's memory. */
  while (*link != NULL && ((*link)->object != object || (*link)->key != hash || content(&(*link)->frame)->info != info))
    link = &(*link)->below;
  manual *open = *link;
  if (open == NULL) { /* a will that nobody was to be told of left nothing behind */
    kvo_slot *slot = info != NULL ? kvo__slot_find(info, hash) : NULL;
    return slot != NULL && atomic_load(&slot->wants) != 0 ? KVO_ERROR_UNBALANCED : KVO_OK;
  }
  *link = open->below;
  kvo_frame_content *change = content(&open->frame);
  bool read_new = (open->wants & KVO_FRAME_WANTS_NEW) != 0 && change->kind != KVO_CHANGE_REMOVAL;
  while (kvo_frame_next(&open->frame)) {
    bool direct = change->cursor->kind == KVO_NODE_DIRECT && (change->cursor->options & KVO_NEW) != 0;
    void *new_value = read_new && direct ? read_value(change, change->selection) : NULL;
    kvo_frame_deliver(&open->frame, open->old_value, new_value);
    if (new_value != NULL) kvo__property_release(change->slot->property, new_value);
  }
  if (open->old_value != NULL) kvo__property_release(change->slot->property, open->old_value);
  kvo_frame_end(&open->frame);
  kvo__free(open);
  return KVO_OK;
}
