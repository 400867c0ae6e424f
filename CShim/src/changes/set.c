/* set.c - a change of a stored property in the usual case: one mark, no atomic exchange, the observers called in one loop.
 *
 * All other cases are those of notify.c: a mute or a pair is open, a watcher uses the tap, an observer wants a prior notification or
 * evaluates an expression, the object's readers are counted, there is no room for a mark. If the case is found only after the mark was
 * made, the frame keeps the mark (is_reading). Documentation/Design.md, "Readers and epochs", says why the order of loads and stores is safe. */
#include "changes/frames.h"

static kvo_frame_content *content(kvo_frame *frame) { return kvo__frame_content_of(frame); }

/* A change that protects the object's nodes by its mark. */
typedef struct reading {
  kvo_thread *self;
  kvo_info *info;
  kvo_slot *slot;
  uint64_t limit, registered;
  unsigned wants;
  uint32_t depth;
} reading;

/* How a change goes on. */
typedef enum path { UNOBSERVED, USUAL, UNUSUAL } path;

#define INLINE static inline __attribute__((always_inline))

/* The node of a mark before the first delivery. It is never used, because the mark names no observation. */
static const kvo_node no_node[1];

INLINE kvo_mark *mark_of(const kvo_thread *self, uint32_t depth) {
  return &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
}

/* Makes the mark of a change in this stack frame. False if there is no room, or if a mark is there whose code was left. */
INLINE bool make_mark(kvo_thread *self, uint32_t depth, kvo_info *info, kvo_raw_change *record, const void *frame) {
  kvo_mark *mark = mark_of(self, depth);
  if (depth >= self->limit ||
      (uintptr_t)frame - self->floor >= atomic_load_explicit(&self->room, memory_order_relaxed) ||
      (depth != 0 && mark[-1].frame <= frame))
    return false;
  atomic_store_explicit(&mark->observation, 0, memory_order_relaxed);
  atomic_store_explicit(&mark->root, NULL, memory_order_relaxed);
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  mark->node = no_node; /* not NULL, as for a delivery: then the members of evaluations are not used */
  mark->change = record;
  mark->recorder = NULL;
  atomic_store_explicit(&mark->entered, 0, memory_order_relaxed);
  atomic_store_explicit(&mark->reads, info, memory_order_release); /* after `entered`: see kvo__count_marks */
  kvo__publish(&self->depth, depth + 1);
  return true;
}

INLINE path begin(reading *of, kvo_object *object, kvo_key key, kvo_raw_change *record, const void *frame) {
  uintptr_t word = kvo__word(object);
  if ((word & KVO_WORD_OBSERVED) == 0) return UNOBSERVED;
  kvo_info *info = (kvo_info *)(word - (KVO_WORD_OBSERVED | KVO_WORD_INFO));
  kvo_slot *slot = &info->first;
  if (__builtin_expect(slot->key != key, false) && (slot = kvo__slot_find(info, key)) == NULL) return UNOBSERVED;
  uint64_t registered = atomic_load_explicit(&kvo__births, memory_order_relaxed);
  /* Before `wants`: see kvo__node_link. */
  uint64_t limit = atomic_load_explicit(&info->births, memory_order_acquire);
  unsigned wants = atomic_load_explicit(&slot->wants, memory_order_acquire);
  if (wants == 0) return UNOBSERVED;
  kvo_thread *self = kvo__this_thread;
  bool is_tapped = kvo__is_tapped(), is_slow = kvo__slow_path_count != 0;
  if (__builtin_expect(self == NULL || is_tapped || is_slow || slot->manual || (wants & KVO_FRAME_WANTS_WILL) != 0,
                       false))
    return UNUSUAL;
  const void *reader = atomic_load_explicit(&info->reader, memory_order_relaxed);
  if (__builtin_expect(!kvo__reads_by_marks(reader, self), false) && !kvo__read_by_marks(info, self)) return UNUSUAL;
  uint32_t depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
  if (__builtin_expect(!make_mark(self, depth, info, record, frame), false)) return UNUSUAL;
  /* Again: a thread that has begun to count this object's readers either has found the mark or is noticed here. */
  reader = atomic_load_explicit(&info->reader, memory_order_relaxed);
  if (__builtin_expect(!kvo__reads_by_marks(reader, self), false)) {
    kvo__stop_reading(self, info, depth);
    return UNUSUAL;
  }
  *of = (reading){self, info, slot, limit, registered, wants, depth};
  return USUAL;
}

/* Ends the marks of code that was left without returning. The caller then uses notify.c, whose marks are those of inner stack frames, which
 * would not show it. */
static void end_abandoned(const void *frame) {
  kvo_thread *self = kvo__this_thread;
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  if (depth != 0 && mark_of(self, depth - 1)->frame <= frame) kvo__hooks.abandoned(self, frame);
}

/* What is the same for all observers. */
INLINE void fill_record(kvo_raw_change *record, const kvo_info *info, const kvo_slot *slot) {
  record->object = info->object;
  record->instance = info->instance;
  record->changed = info->object;
  record->property = kvo__slot_property(info, slot);
  record->indexes = NULL;
  record->index_count = 0;
  record->kind = KVO_CHANGE_SETTING;
  record->is_prior = false;
}

INLINE void call(kvo_raw_change *record, kvo_mark *mark, const kvo_node *direct, const kvo_tracked *leaf) {
  void *recorder = kvo_is_tracking() ? kvo__recording_suspend() : NULL;
  if (__builtin_expect(recorder != NULL, false)) mark->recorder = recorder;
  if (leaf != NULL)
    leaf->ops->callback(record, leaf->user_data);
  else
    kvo__call_node(record, direct);
  if (__builtin_expect(recorder != NULL, false)) kvo__recording_resume(recorder);
}

/* Says in the mark that the observation is delivered. Returns whether it is still registered. */
INLINE bool begin_delivery(kvo_mark *mark, const kvo_node *node, kvo_observation observation,
                           const _Atomic bool *live) {
  mark->node = node;
  kvo__publish_observation(mark, observation);
  if (__builtin_expect(atomic_load(&kvo__threads.waiters) != 0, false)) kvo__marks_changed();
  return __builtin_expect(atomic_load(live), true);
}

/* Notifies a key path whose value is that of the key. False if the frame is needed for that. */
INLINE bool call_leaf(const reading *of, kvo_raw_change *record, kvo_mark *mark, const kvo_node *node) {
  const kvo_tracked *tracked = node->user_data;
  unsigned missing = (node->options & KVO_NEW) != 0 ? ~of->wants & KVO_FRAME_WANTS_NEW : 0;
  missing |= (node->options & KVO_OLD) != 0 ? ~of->wants & KVO_FRAME_WANTS_OLD : 0;
  bool is_usual =
      kvo__node_order(node) <= of->registered && atomic_load_explicit(&tracked->registered, memory_order_acquire) != 0;
  if (__builtin_expect(!is_usual || missing != 0 || kvo__slow_path_count != 0, false)) return false;
  if (!begin_delivery(mark, tracked->anchor, tracked->id, &tracked->live)) return true;
  record->object = tracked->object;
  record->instance = tracked->instance;
  record->observation = tracked->id;
  call(record, mark, NULL, tracked);
  record->object = of->info->object;
  record->instance = of->info->instance;
  return true;
}

/* Calls the observers, newest first. Returns the first that needs more than this, or NULL. */
INLINE kvo_node *call_all(const reading *of, kvo_raw_change *record, const void *old_value, const void *new_value) {
  kvo__assert(kvo__holds_none());
  kvo_node *node = atomic_load_explicit(&of->slot->newest, memory_order_acquire);
  for (; node != NULL; node = atomic_load_explicit(&node->older, memory_order_acquire)) {
    if (__builtin_expect(atomic_load_explicit(&node->birth, memory_order_acquire) > of->limit, false)) return node;
    kvo_mark *mark = mark_of(of->self, of->depth); /* the marks may have moved */
    record->old_value = (node->options & KVO_OLD) != 0 ? old_value : NULL;
    record->new_value = (node->options & KVO_NEW) != 0 ? new_value : NULL;
    kvo_node_kind kind = kvo__node_kind(node);
    if (__builtin_expect(kind == KVO_NODE_DIRECT, true)) {
      if (!begin_delivery(mark, node, node->id, &node->live)) continue;
      record->observation = node->id;
      call(record, mark, node, NULL);
    } else if (kind != KVO_NODE_LEAF || !call_leaf(of, record, mark, node)) {
      return node;
    }
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------- In one call -- */

__attribute__((noinline, cold)) static void set_slowly(kvo_object *object, kvo_key key, uint64_t *storage,
                                                       uint64_t value, const void *outer) {
  kvo_frame frame;
  end_abandoned(outer);
  uint32_t wants = kvo_frame_begin(&frame, object, key);
  if (wants == 0) {
    *storage = value;
    kvo_binding_stored(object, key);
    return;
  }
  uint64_t old_value = *storage;
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) {
    kvo_frame_will(&frame, &old_value);
    kvo__frame_stays(&frame, __builtin_frame_address(0));
  }
  *storage = value;
  kvo_frame_finish_with(&frame, &old_value, storage);
}

INLINE void fill_frame(kvo_frame_content *change, const reading *of) {
  change->info = of->info;
  change->slot = of->slot;
  change->cursor = NULL;
  change->limit = of->limit;
  change->registered = of->registered;
  change->late_limit = 0;
  change->will = NULL;
  change->kind = KVO_CHANGE_SETTING;
  change->wants = (uint8_t)of->wants;
  change->started = change->is_tapped = false;
  change->is_marked = change->is_reading = true;
  change->mark = of->depth;
}

/* Goes on with a frame, which the change did not need before. */
__attribute__((noinline, cold)) static void finish_framed(reading of, const kvo_raw_change *record, kvo_node *next,
                                                          uint64_t old_value, const uint64_t *storage) {
  kvo_frame frame;
  kvo_frame_content *change = content(&frame);
  fill_frame(change, &of);
  change->record = *record;
  mark_of(of.self, of.depth)->change = &change->record;
  kvo__frame_finish_from(&frame, next, &old_value, storage);
}

void kvo_change_word(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value) {
  if (__builtin_expect(object == NULL || storage == NULL, false)) {
    if (storage != NULL) *storage = value;
    return;
  }
  kvo_raw_change record;
  reading of;
  if (__builtin_expect(begin(&of, object, key, &record, __builtin_frame_address(0)) != USUAL, false)) {
    set_slowly(object, key, storage, value, __builtin_frame_address(0));
    return;
  }
  uint64_t old_value = *storage;
  fill_record(&record, of.info, of.slot);
  *storage = value;
  kvo_node *next = call_all(&of, &record, &old_value, storage);
  if (__builtin_expect(next != NULL, false))
    finish_framed(of, &record, next, old_value, storage);
  else
    kvo__stop_reading(of.self, of.info, of.depth);
}

/* --------------------------------------------------------------------------------------------------- In two or more -- */

uint32_t kvo__frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key, const void *stack_frame) {
  reading of;
  kvo_frame_content *change = content(frame);
  path path = begin(&of, object, key, &change->record, stack_frame);
  if (path == UNOBSERVED) return 0;
  if (__builtin_expect(path == UNUSUAL, false)) {
    end_abandoned(stack_frame);
    return kvo_frame_begin(frame, object, key);
  }
  fill_frame(change, &of);
  fill_record(&change->record, of.info, of.slot);
  return of.wants;
}

uint32_t kvo_frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key) {
  return frame != NULL && object != NULL ? kvo__frame_enter(frame, object, key, frame) : 0;
}

void kvo_frame_finish_with(kvo_frame *frame, const void *old_value, const void *new_value) {
  if (frame == NULL) return;
  kvo_frame_content *change = content(frame);
  kvo_node *next = NULL;
  if (__builtin_expect(change->is_reading && !change->started, true)) {
    reading of = {kvo__this_thread,   change->info,  change->slot, change->limit,
                  change->registered, change->wants, change->mark};
    next = call_all(&of, &change->record, old_value, new_value);
    if (__builtin_expect(next == NULL, true)) {
      kvo__stop_reading(of.self, of.info, of.depth);
      return;
    }
  }
  kvo__frame_finish_from(frame, next, old_value, new_value);
}

void kvo_frame_finish(kvo_frame *frame, const void *old_value) { kvo_frame_finish_with(frame, old_value, NULL); }
