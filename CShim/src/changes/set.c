/* set.c - a change of a stored property in the usual case: one mark, no atomic exchange, the observers called in one loop.
 *
 * All other cases are those of notify.c: a mute, a pair or a scope is open, a watcher uses the tap, an observer wants a prior notification
 * or evaluates an expression, the object's readers are counted, there is no room for a mark. If the case is found only after the mark was
 * made, the frame keeps the mark (is_reading). Documentation/Design.md, "Readers and epochs", says why the order of loads and stores is
 * safe. */
#include "changes/scopes.h"
#include "changes/settle.h"

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

/* How a change goes on. A change of a key that bindings read is BOUND, if that is all that is unusual. */
typedef enum path { UNOBSERVED, USUAL, UNUSUAL, BOUND } path;

#define INLINE static inline __attribute__((always_inline))
#define UNLIKELY(condition) __builtin_expect((condition), false)
/* Swift's clang would move the call of a closure out of the function, as cold code. It does not divide functions that are not inlined. */
#define UNDIVIDED __attribute__((noinline))

INLINE kvo_mark *mark_of(const kvo_thread *self, uint32_t depth) {
  return &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
}

/* Makes the mark of a change in this stack frame, with nothing delivered yet. False if there is no room, or if a mark is there whose code
 * was left. Only while kvo__attention is 0: the store of the depth is no exchange. */
INLINE bool make_mark(kvo_thread *self, uint32_t depth, kvo_info *info, const kvo_slot *slot, const void *frame) {
  kvo_mark *mark = mark_of(self, depth);
  if (depth >= self->limit ||
      (uintptr_t)frame - self->floor >= atomic_load_explicit(&self->room, memory_order_relaxed) ||
      (depth != 0 && mark[-1].frame <= frame))
    return false;
  atomic_store_explicit(&mark->observation, 0, memory_order_relaxed);
  atomic_store_explicit(&mark->root, NULL, memory_order_relaxed);
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  mark->slot = slot;
  mark->recorder = NULL;
  atomic_store_explicit(&mark->entered, 0, memory_order_relaxed);
  atomic_store_explicit(&mark->reads, info, memory_order_release); /* after `entered`: see kvo__count_marks */
  atomic_store_explicit(&self->depth, depth + 1, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst); /* as in kvo__publish */
  return true;
}

/* What notify.c is for. */
enum { UNUSUAL_WANTS = KVO_FRAME_WANTS_WILL | KVO_SLOT_MANUAL | KVO_SLOT_BINDS };

/* `unusual`: what a slot may want that makes a change of it unusual. */
INLINE path begin(reading *of, kvo_object *object, kvo_key key, const void *frame, unsigned unusual) {
  uintptr_t word = kvo__word(object);
  if (UNLIKELY((word & KVO_WORD_OBSERVED) == 0)) return UNOBSERVED;
  bool is_alone = ((uintptr_t)kvo__own.recorder | kvo__own.open_changes | kvo__attended()) == 0;
  if (UNLIKELY(!is_alone)) return UNUSUAL; /* early, for sets in a scope */
  kvo_info *info = (kvo_info *)(word - (KVO_WORD_OBSERVED | KVO_WORD_INFO));
  kvo_slot *slot = &info->first;
  if (UNLIKELY(slot->key != key) && (slot = kvo__slot_find(info, key)) == NULL) return UNOBSERVED;
  uint64_t registered = atomic_load_explicit(&kvo__births, memory_order_relaxed);
  /* Before `wants`: see kvo__node_link. */
  uint64_t limit = atomic_load_explicit(&info->births, memory_order_acquire);
  unsigned wants = atomic_load_explicit(&slot->wants, memory_order_acquire);
  if (UNLIKELY(wants == 0)) return UNOBSERVED;
  kvo_thread *self = kvo__own.thread;
  if (UNLIKELY(self == NULL || (wants & unusual) != 0))
    return self != NULL && (wants & unusual) == KVO_SLOT_BINDS ? BOUND : UNUSUAL;
  const void *reader = atomic_load_explicit(&info->reader, memory_order_relaxed);
  if (UNLIKELY(reader != self) && reader != KVO_READ_BY_ALL) {
    if (!kvo__read_by_marks(info, self)) return UNUSUAL;
    reader = atomic_load_explicit(&info->reader, memory_order_relaxed);
    if (!kvo__reads_by_marks(reader, self)) return UNUSUAL;
  }
  uint32_t depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
  if (UNLIKELY(!make_mark(self, depth, info, slot, frame))) return UNUSUAL;
  *of = (reading){self, info, slot, limit, registered, wants, depth};
  /* Again: a thread that has begun to count this object's readers either has found the mark or is noticed here. */
  if (UNLIKELY(atomic_load_explicit(&info->reader, memory_order_relaxed) != reader)) {
    mark_of(self, depth)->node = kvo__no_node;
    kvo__stop_reading(self, depth);
    return UNUSUAL;
  }
  return USUAL;
}

/* Ends the marks of code that was left without returning. The caller then uses notify.c, whose marks are those of inner stack frames, which
 * would not show it. */
static void end_abandoned(const void *frame) {
  kvo_thread *self = kvo__own.thread;
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0;
  if (depth != 0 && mark_of(self, depth - 1)->frame <= frame) kvo__hooks.abandoned(self, frame);
}

/* What is the same for all observers. */
INLINE void fill_record(kvo_raw_change *record, const kvo_info *info, const kvo_slot *slot) {
  record->object = info->object;
  record->instance = kvo__info_instance(info);
  record->changed = info->object;
  record->property = kvo__slot_property(info, slot);
  record->indexes = NULL;
  record->index_count = 0;
  record->kind = KVO_CHANGE_SETTING;
  record->is_prior = false;
}

/* Says in the mark that an observation is delivered. The caller then tests whether it is still registered. */
INLINE void begin_delivery(kvo_mark *mark, const kvo_node *node, kvo_observation observation) {
  mark->node = node;
  atomic_store_explicit(&mark->observation, observation, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst); /* as in kvo__publish_observation; `attend` stands for its exchange */
}

__attribute__((noinline, cold)) static void attend(void) {
  atomic_thread_fence(memory_order_seq_cst); /* the barrier may have become unavailable since the change began */
  if (kvo__is_awaited()) kvo__marks_changed();
}

/* Whether the caller has the values that an observer wants, which may be more than the observers wanted when the change began. */
INLINE bool has_values(const reading *of, const kvo_node *node) {
  return ((node->options & KVO_OLD) == 0 || (of->wants & KVO_FRAME_WANTS_OLD) != 0) &&
         ((node->options & KVO_NEW) == 0 || (of->wants & KVO_FRAME_WANTS_NEW) != 0);
}

/* Notifies a key path whose value is that of the key. False if the frame is needed for that. */
INLINE bool call_leaf(const reading *of, kvo_raw_change *record, kvo_mark *mark, const kvo_node *node) {
  kvo_tracked *tracked = node->user_data;
  bool is_usual = atomic_load(&node->birth) <= of->limit && kvo__dependency(node)->order <= of->registered &&
                  atomic_load_explicit(&tracked->registered, memory_order_acquire) != 0 && of->depth == 0 &&
                  !atomic_load_explicit(&tracked->is_stale, memory_order_relaxed) &&
                  !atomic_load_explicit(&kvo__has_in_place, memory_order_relaxed);
  if (UNLIKELY(!is_usual || kvo__own.open_changes != 0)) return false;
  begin_delivery(mark, tracked->anchor, tracked->id);
  if (UNLIKELY(kvo__attended() != 0)) attend();
  if (UNLIKELY(!atomic_load(&tracked->live))) return true;
  if (tracked->keeps_last) {
    kvo__tracked_leaf(tracked, record);
    return true;
  }
  record->object = tracked->object;
  record->instance = tracked->instance;
  record->observation = tracked->id;
  tracked->ops->callback(record, tracked->user_data);
  record->object = of->info->object;
  record->instance = kvo__info_instance(of->info);
  return true;
}

/* The traits of a node of kind DIRECT that is live and has a closure, apart from its options. */
static const kvo_traits usual = {.options = KVO_NODE_IS_CLOSURE, .live = true, .kind = KVO_NODE_DIRECT};
static const kvo_traits compared = {.options = KVO_NODE_IS_CLOSURE, .live = true, .kind = UINT8_MAX};

/* Calls the observers, newest first. Returns the first that needs more than this, or NULL. `has_all`: both values are there, whatever the
 * observers wanted when the change began. */
INLINE kvo_node *call_all(const reading *of, kvo_raw_change *record, const void *old_value, const void *new_value,
                          bool has_all) {
  kvo__assert(kvo__holds_none());
  kvo_node *node = atomic_load_explicit(&of->slot->newest, memory_order_acquire);
  /* Who links a node holds the lock, and then stores `births`. If neither shows, all direct nodes from here on are older than the
   * change. */
  bool is_linking = atomic_load_explicit(&of->info->lock.state, memory_order_acquire) != 0 ||
                    atomic_load_explicit(&of->info->births, memory_order_acquire) != of->limit;
  if (UNLIKELY(node == NULL || is_linking)) {
    mark_of(of->self, of->depth)->node = kvo__no_node;
    return node;
  }
  do {
    kvo_mark *mark = mark_of(of->self, of->depth); /* the marks may have moved */
    begin_delivery(mark, node, node->id);
    if (UNLIKELY(kvo__attended() != 0)) attend();
    kvo_traits traits = {.all = atomic_load(&node->traits)};
    record->old_value = (traits.options & KVO_OLD) != 0 ? old_value : NULL;
    record->new_value = (traits.options & KVO_NEW) != 0 ? new_value : NULL;
    record->observation = node->id;
    if (__builtin_expect(KVO_CALLS_CLOSURES && (traits.all & compared.all) == usual.all, true)) {
      kvo__call_function(record, node);
    } else if (traits.kind == KVO_NODE_DIRECT) {
      if (traits.live) node->ops->callback(record, node->user_data); /* a closure is usual */
    } else if (traits.kind != KVO_NODE_LEAF || !(has_all || has_values(of, node)) ||
               !call_leaf(of, record, mark, node)) {
      return node;
    }
    node = atomic_load_explicit(&node->older, memory_order_acquire);
  } while (node != NULL);
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------- In one call -- */

__attribute__((noinline, cold)) static void set_slowly(kvo_object *object, kvo_key key, uint64_t *storage,
                                                       uint64_t value, const void *outer) {
  kvo_frame frame;
  end_abandoned(outer);
  uint32_t wants = kvo__frame_enter_slowly(&frame, object, key, __builtin_frame_address(0));
  if (wants == 0) {
    *storage = value;
    kvo_binding_stored(object, key);
    return;
  }
  uint64_t old_value = *storage;
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  *storage = value;
  kvo_frame_finish_with(&frame, &old_value, storage);
}

INLINE void fill_frame(kvo_frame_content *change, const reading *of) {
  change->info = of->info;
  change->slot = of->slot;
  change->cursor = NULL;
  change->limit = of->limit;
  change->registered = of->registered;
  change->clock = (uint32_t)of->self->clock;
  change->kind = KVO_CHANGE_SETTING;
  change->wants = (uint8_t)of->wants;
  change->started = change->is_tapped = change->is_in_place = change->is_settled = false;
  change->hold = NULL;
  change->is_marked = change->is_reading = true;
  change->mark = of->depth;
}

/* Goes on from a node. What was registered before the first delivery may have read the old value; what an observer registers has not. */
__attribute__((noinline, cold)) static void finish_from(kvo_frame *frame, kvo_node *next, const void *old_value,
                                                        const void *new_value) {
  kvo_frame_content *change = content(frame);
  bool has_begun = mark_of(kvo__own.thread, change->mark)->node != kvo__no_node;
  change->late_limit = has_begun ? change->limit : atomic_load_explicit(&change->info->births, memory_order_acquire);
  kvo__frame_finish_from(frame, next, old_value, new_value);
}

/* Goes on with a frame, which the change did not need before. */
__attribute__((noinline, cold)) static void finish_framed(kvo_thread *self, kvo_info *info, kvo_slot *slot,
                                                          uint64_t limit, uint64_t registered, unsigned wants,
                                                          uint32_t depth, const kvo_raw_change *record, kvo_node *next,
                                                          uint64_t old_value, const uint64_t *storage) {
  kvo_frame frame;
  kvo_frame_content *change = content(&frame);
  reading of = {self, info, slot, limit, registered, wants, depth};
  fill_frame(change, &of);
  if (next != atomic_load_explicit(&slot->newest, memory_order_relaxed)) change->clock = 0; /* observers were called */
  change->record = *record;
  finish_from(&frame, next, &old_value, storage);
}

/* Runs the only observer of a key, if that is a binding: whatever it sets, this change notifies no other observer. Returns the first
 * node, before any notification, if more is needed. */
INLINE kvo_node *call_binding(const reading *of, kvo_raw_change *record, const void *new_value) {
  kvo_mark *mark = mark_of(of->self, of->depth);
  mark->node = kvo__no_node;
  kvo_node *node = atomic_load_explicit(&of->slot->newest, memory_order_acquire);
  if (node == NULL) return NULL;
  kvo_traits traits = {.all = atomic_load(&node->traits)};
  bool is_only = atomic_load_explicit(&node->older, memory_order_acquire) == NULL && traits.live &&
                 traits.kind == KVO_NODE_DIRECT && (traits.options & (KVO_NODE_BINDS | KVO_OLD)) == KVO_NODE_BINDS;
  bool is_early = atomic_load_explicit(&node->birth, memory_order_acquire) <= of->limit;
  if (!is_only || !is_early || of->depth >= KVO_MOST_NESTED_BINDINGS || kvo__attended() != 0) return node;
  kvo_bound *bound = kvo__bound_of(node);
  if (atomic_load_explicit(&bound->reads_target, memory_order_relaxed)) return node;
  if (!kvo__settle_begin(bound, of->depth)) return NULL;
  begin_delivery(mark, node, node->id);
  record->old_value = NULL;
  record->new_value = (traits.options & KVO_NEW) != 0 ? new_value : NULL;
  record->observation = node->id;
  if (KVO_CALLS_CLOSURES && (traits.options & KVO_NODE_IS_CLOSURE) != 0)
    kvo__call_function(record, node);
  else
    node->ops->callback(record, node->user_data);
  kvo__settle_end(bound, of->depth);
  return NULL;
}

/* A change of a key that bindings read; false if the case is another one. */
__attribute__((noinline)) static bool set_bound(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value,
                                                const void *frame) {
  kvo_raw_change record;
  reading of;
  if (begin(&of, object, key, frame, KVO_FRAME_WANTS_WILL | KVO_SLOT_MANUAL) != USUAL) return false;
  uint64_t old_value = *storage;
  fill_record(&record, of.info, of.slot);
  *storage = value;
  kvo_node *next = call_binding(&of, &record, storage);
  if (next != NULL)
    finish_framed(of.self, of.info, of.slot, of.limit, of.registered, of.wants, of.depth, &record, next, old_value,
                  storage);
  else
    kvo__stop_reading(of.self, of.depth);
  return true;
}

/* Apart from set_slowly, which saves registers and has a frame. */
__attribute__((noinline, cold)) static void set_unusually(kvo_object *object, kvo_key key, uint64_t *storage,
                                                          uint64_t value, const void *outer) {
  if (kvo__scope_has(object, key))
    *storage = value; /* the end of the scope notifies */
  else
    set_slowly(object, key, storage, value, outer);
}

UNDIVIDED void kvo_change_word(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value) {
  if (UNLIKELY(object == NULL || storage == NULL)) {
    if (storage != NULL) *storage = value;
    return;
  }
  kvo_raw_change record;
  reading of;
  path path = begin(&of, object, key, __builtin_frame_address(0), UNUSUAL_WANTS);
  if (UNLIKELY(path != USUAL)) {
    if (path != BOUND || !set_bound(object, key, storage, value, __builtin_frame_address(0)))
      set_unusually(object, key, storage, value, __builtin_frame_address(0));
    return;
  }
  uint64_t old_value = *storage;
  fill_record(&record, of.info, of.slot);
  *storage = value;
  kvo_node *next = call_all(&of, &record, &old_value, storage, true);
  if (UNLIKELY(next != NULL)) /* member by member: the address of the struct would keep it in memory */
    finish_framed(of.self, of.info, of.slot, of.limit, of.registered, of.wants, of.depth, &record, next, old_value,
                  storage);
  else
    kvo__stop_reading(of.self, of.depth);
}

/* --------------------------------------------------------------------------------------------------- In two or more -- */

uint32_t kvo__frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key, const void *stack_frame) {
  reading of;
  kvo_frame_content *change = content(frame);
  path path = begin(&of, object, key, stack_frame, UNUSUAL_WANTS);
  if (path == UNOBSERVED) return 0;
  if (UNLIKELY(path != USUAL)) {
    if (kvo__scope_has(object, key)) return 0;
    end_abandoned(stack_frame);
    return kvo__frame_enter_slowly(frame, object, key, stack_frame);
  }
  mark_of(of.self, of.depth)->node = kvo__no_node; /* until the change is finished the binding may do anything */
  fill_frame(change, &of);
  fill_record(&change->record, of.info, of.slot);
  return of.wants;
}

uint32_t kvo_frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key) {
  return frame != NULL && object != NULL ? kvo__frame_enter(frame, object, key, frame) : 0;
}

UNDIVIDED void kvo_frame_finish_with(kvo_frame *frame, const void *old_value, const void *new_value) {
  if (frame == NULL) return;
  kvo_frame_content *change = content(frame);
  kvo_node *next = NULL;
  if (__builtin_expect(change->is_reading && !change->started, true)) {
    reading of = {kvo__own.thread,    change->info,  change->slot, change->limit,
                  change->registered, change->wants, change->mark};
    next = call_all(&of, &change->record, old_value, new_value, false);
    if (__builtin_expect(next == NULL, true)) {
      kvo__stop_reading(of.self, of.depth);
      return;
    }
    finish_from(frame, next, old_value, new_value);
    return;
  }
  kvo__frame_finish_from(frame, NULL, old_value, new_value);
}

void kvo_frame_finish(kvo_frame *frame, const void *old_value) { kvo_frame_finish_with(frame, old_value, NULL); }
