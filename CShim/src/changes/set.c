/* set.c - a change of a stored property in the usual case: one mark, no atomic exchange, the observers called in one loop.
 *
 * A value of 8 bytes whose observers are all closures that take a word needs no record (set_words). KVO_SLOT_NO_WORDS is only a hint: each
 * node's traits are tested when it is called. Other observers get a record (set_recorded).
 *
 * All other cases are those of notify.c: a mute, a pair or a scope is open, a watcher uses the tap, an observer wants a prior notification
 * or is an expression that this change may not settle, the object's readers are counted, there is no room for a mark. If the case is found
 * only after the mark was made, the frame keeps the mark (is_reading). Documentation/Design.md, "Readers and epochs", says why the order of
 * loads and stores is safe. */
#include "changes/reading.h"
#include "changes/scopes.h"
#include "changes/settle.h"

static kvo_frame_content *set_content(kvo_frame *frame) { return kvo__frame_content_of(frame); }

/* What is the same for all observers. */
INLINE void set_fill_record(kvo_raw_change *record, const kvo_info *info, const kvo_slot *slot) {
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

/* The values that an observer wants. */
INLINE void fill_values(kvo_raw_change *record, unsigned options, const void *old_value, const void *new_value) {
  record->old_value = (options & KVO_OLD) != 0 ? old_value : NULL;
  record->new_value = (options & KVO_NEW) != 0 ? new_value : NULL;
}

__attribute__((noinline)) static void settle(kvo_slot *slot, const kvo_node *node, const void *old_value,
                                             uint32_t clock) {
  kvo_tracked *tracked = node->user_data;
  if (old_value != NULL && (node->options & KVO_NODE_IS_CHECKED) != 0)
    kvo__check_replaced(tracked, node, old_value, clock);
  if (!kvo__tracked_defers(tracked)) kvo__tracked_settle(tracked, slot, false);
}

/* Evaluates an expression and notifies, or notifies a key path whose value is that of the key. False if the frame is needed for that:
 * something else may be open, or it is not this thread that evaluates it. */
INLINE bool call_expression(const reading *of, kvo_raw_change *record, kvo_mark *mark, const kvo_node *node,
                            kvo_traits traits, const void *old_value, uint32_t clock) {
  kvo_tracked *tracked = node->user_data;
  bool is_leaf = traits.kind == KVO_NODE_LEAF;
  if (is_leaf ? !has_values(of, node) : traits.kind != KVO_NODE_DEPENDENCY || tracked->ops->is_here != NULL)
    return false;
  bool is_usual = atomic_load(&node->birth) <= of->limit &&
                  atomic_load_explicit(&tracked->registered, memory_order_acquire) != 0 && of->depth == 0 &&
                  !atomic_load_explicit(&tracked->is_stale, memory_order_relaxed) &&
                  !atomic_load_explicit(&kvo__has_in_place, memory_order_relaxed);
  if (UNLIKELY(!is_usual || kvo__own.open_changes != 0)) return false;
  if (UNLIKELY(!traits.live)) return true;
  if (!is_leaf) {
    settle(of->slot, node, old_value, clock);
    return true;
  }
  mark->dependency = node;
  begin_delivery(mark, tracked->anchor, tracked->id);
  if (UNLIKELY(kvo__attended() != 0)) attend();
  if (UNLIKELY(!atomic_load(&tracked->live))) return true;
  if (tracked->keeps_last) {
    kvo__tracked_leaf(tracked, record, true);
    return true;
  }
  record->object = tracked->object;
  record->instance = tracked->instance;
  record->observation = tracked->id;
  tracked->ops->callback(record, tracked->user_data);
  if (atomic_load_explicit(&node->older, memory_order_acquire) == NULL) return true;
  record->object = of->info->object;
  record->instance = kvo__info_instance(of->info);
  return true;
}

/* Loads the newest node after the store. False if nodes are being linked or have been, and a frame is needed: who links a node holds the
 * lock, and then stores `births`. If neither shows, all direct nodes from there on are older than the change. */
INLINE bool load_newest(const reading *of, kvo_node **node) {
  kvo__assert(kvo__holds_none());
  *node = atomic_load_explicit(&of->slot->newest, memory_order_acquire);
  bool is_linking = atomic_load_explicit(&of->info->lock.state, memory_order_acquire) != 0 ||
                    atomic_load_explicit(&of->info->births, memory_order_acquire) != of->limit;
  if (UNLIKELY(is_linking)) mark_of(of->self, of->depth)->node = kvo__no_node;
  return !is_linking;
}

/* The traits of a node of kind DIRECT that is live and has a closure, apart from its options. */
static const kvo_traits usual = {.options = KVO_NODE_IS_CLOSURE, .live = true, .kind = KVO_NODE_DIRECT};
static const kvo_traits compared = {.options = KVO_NODE_IS_CLOSURE, .live = true, .kind = UINT8_MAX};

/* Calls the observers from a node on, newest first. Returns the first that needs more than this, or NULL. */
INLINE kvo_node *call_from(const reading *of, kvo_raw_change *record, kvo_node *node, const void *old_value,
                           const void *new_value) {
  uint32_t clock = (uint32_t)of->self->clock;
  for (; node != NULL; node = atomic_load_explicit(&node->older, memory_order_acquire)) {
    kvo_mark *mark = mark_of(of->self, of->depth); /* the marks may have moved */
    begin_delivery(mark, node, node->id);
    if (UNLIKELY(kvo__attended() != 0)) attend();
    kvo_traits traits = {.all = atomic_load(&node->traits)};
    fill_values(record, traits.options, old_value, new_value);
    record->observation = node->id;
    if (__builtin_expect(KVO_CALLS_CLOSURES && (traits.all & compared.all) == usual.all, true)) {
      kvo__call_function(record, node);
    } else if (traits.kind == KVO_NODE_DIRECT) {
      if (traits.live) node->ops->callback(record, node->user_data); /* a closure is usual */
    } else if (traits.kind < KVO_NODE_DEPENDENCY ||
               !call_expression(of, record, mark, node, traits, old_value, clock)) {
      return node;
    }
  }
  return NULL;
}

/* The traits of a node of kind DIRECT that is live, takes a word, and wants no more, apart from its other options. */
static const kvo_traits word = {.options = KVO_NODE_TAKES_WORD, .live = true, .kind = KVO_NODE_DIRECT};
static const kvo_traits word_compared = {
    .options = KVO_NODE_TAKES_WORD | KVO_NODE_BINDS | KVO_PRIOR, .live = true, .kind = UINT8_MAX};

/* Calls the closure of a node that takes a word. False if it does not, or has ended. */
INLINE bool call_with_word(kvo_mark *mark, const kvo_node *node, void *instance, kvo_word_change *change,
                           uint64_t old_value, const uint64_t *storage) {
  kvo__assert(kvo__holds_none());
  begin_delivery(mark, node, node->id);
  if (UNLIKELY(kvo__attended() != 0)) attend();
  kvo_traits traits = {.all = atomic_load(&node->traits)};
  if (UNLIKELY((traits.all & word_compared.all) != word.all)) return false;
  /* A value that is not there is 0, without a jump. */
  uint64_t lacks_new = ~traits.all & KVO_NEW, lacks_old = (~traits.all & KVO_OLD) / KVO_OLD;
  change->new_value = __atomic_load_n(storage, __ATOMIC_RELAXED) & (lacks_new - 1);
  change->has_no_new = (uint8_t)lacks_new;
  change->old_value = old_value & (lacks_old - 1);
  change->has_no_old = (uint8_t)lacks_old;
  kvo__call_with_word(node, instance, change);
  return true;
}

/* The same for a node and all older ones. Returns the one that needs a frame, or NULL. */
static UNDIVIDED kvo_node *call_more(uint32_t depth, kvo_node *node, void *instance, kvo_word_change *change,
                                     uint64_t old_value, const uint64_t *storage) {
  const kvo_thread *self = kvo__own.thread;
  /* The marks may have moved. */
  while (node != NULL && call_with_word(mark_of(self, depth), node, instance, change, old_value, storage))
    node = atomic_load_explicit(&node->older, memory_order_acquire);
  return node;
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
  change->registered = atomic_load_explicit(&kvo__births, memory_order_relaxed);
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
  kvo_frame_content *change = set_content(frame);
  bool has_begun = mark_of(kvo__own.thread, change->mark)->node != kvo__no_node;
  change->late_limit = has_begun ? change->limit : atomic_load_explicit(&change->info->births, memory_order_acquire);
  kvo__frame_finish_from(frame, next, old_value, new_value);
}

/* The rest of a change, with a frame, from a node on. Few parameters, all in registers: what else it needs is in the mark. `has_called`: an
 * observer, so the thread's clock is not that of the beginning any more. */
__attribute__((noinline, cold)) static void finish_framed(uint32_t depth, uint64_t limit, kvo_node *next,
                                                          uint64_t old_value, const uint64_t *storage,
                                                          bool has_called) {
  kvo_frame frame;
  const kvo_mark *mark = kvo__mark_at(depth);
  kvo_info *info = atomic_load_explicit(&mark->reads, memory_order_relaxed);
  reading of = {kvo__own.thread, info, (kvo_slot *)(uintptr_t)mark->slot, limit, HAS_BOTH, depth};
  set_fill_record(&set_content(&frame)->record, info, of.slot);
  fill_frame(set_content(&frame), &of);
  if (has_called) set_content(&frame)->clock = 0;
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
  uint64_t run = kvo__settle_begin(bound, of->depth);
  if (run == 0) return NULL;
  begin_delivery(mark, node, node->id);
  if (UNLIKELY(kvo__attended() != 0)) attend();
  kvo_traits now = {.all = atomic_load(&node->traits)};
  bool is_usual = now.all == traits.all; /* otherwise it has ended, or is paused */
  record->old_value = NULL;
  record->new_value = (traits.options & KVO_NEW) != 0 ? new_value : NULL;
  record->observation = node->id;
  if (UNLIKELY(!is_usual))
    mark->node = kvo__no_node;
  else if (KVO_CALLS_CLOSURES && (traits.options & KVO_NODE_IS_CLOSURE) != 0)
    kvo__call_function(record, node);
  else
    node->ops->callback(record, node->user_data);
  kvo__settle_end(bound, of->depth, run);
  return is_usual ? NULL : node;
}

/* The cases of notify.c. Apart from set_slowly, which saves registers and has a frame. */
__attribute__((noinline, cold)) static void set_unusually(kvo_object *object, kvo_key key, uint64_t *storage,
                                                          uint64_t value) {
  if (kvo__scope_has(object, key))
    *storage = value; /* the end of the scope notifies */
  else
    set_slowly(object, key, storage, value, __builtin_frame_address(0));
}

/* A change of a slot all of whose nodes take a word. */
static UNDIVIDED void set_words(kvo_info *info, kvo_slot *slot, uint64_t *storage, uint64_t value, kvo_thread *self,
                                uint64_t limit) {
  reading of = {.self = self, .info = info, .slot = slot};
  kvo_mark *mark = begin(&of, __builtin_frame_address(0));
  if (UNLIKELY(mark == NULL)) {
    set_slowly(info->object, slot->key, storage, value, __builtin_frame_address(0));
    return;
  }
  uint64_t old_value = *storage;
  *storage = value;
  kvo_node *next = atomic_load_explicit(&slot->newest, memory_order_acquire);
  /* Again: what has been linked since may have read the old value. */
  if (UNLIKELY(next == NULL || way_of(atomic_load_explicit(&slot->wants, memory_order_acquire)) != WORDS)) {
    mark->node = kvo__no_node;
    finish_framed(of.depth, limit, next, old_value, storage, false);
    return;
  }
  void *instance = kvo__info_instance(info);
  kvo_word_change change;
  change.kind = KVO_CHANGE_SETTING - 1;
  change.indexes = NULL;
  change.is_prior = 0;
  if (UNLIKELY(!call_with_word(mark, next, instance, &change, old_value, storage))) {
    finish_framed(of.depth, limit, next, old_value, storage, false);
    return;
  }
  next = atomic_load_explicit(&next->older, memory_order_acquire);
  if (next != NULL) next = call_more(of.depth, next, instance, &change, old_value, storage);
  if (UNLIKELY(next != NULL))
    finish_framed(of.depth, limit, next, old_value, storage, true);
  else
    kvo__stop_reading(kvo__own.thread, of.depth); /* `self` would be kept until now */
}

/* A change with a record: of a slot with bindings, or with a node that does not take a word. */
INLINE void set_with_record(kvo_info *info, kvo_slot *slot, uint64_t *storage, uint64_t value, kvo_thread *self,
                            uint64_t limit, bool is_bound) {
  reading of = {self, info, slot, limit, HAS_BOTH, 0};
  if (UNLIKELY(begin(&of, __builtin_frame_address(0)) == NULL)) {
    set_slowly(info->object, slot->key, storage, value, __builtin_frame_address(0));
    return;
  }
  kvo_raw_change record;
  uint64_t old_value = *storage;
  set_fill_record(&record, info, slot);
  *storage = value;
  kvo_node *newest = NULL, *next;
  if (is_bound)
    next = newest = call_binding(&of, &record, storage);
  else
    next = __builtin_expect(load_newest(&of, &newest), true) ? call_from(&of, &record, newest, &old_value, storage)
                                                             : newest;
  if (UNLIKELY(next != NULL))
    finish_framed(of.depth, limit, next, old_value, storage, next != newest);
  else
    kvo__stop_reading(of.self, of.depth);
}

static UNDIVIDED void set_recorded(kvo_info *info, kvo_slot *slot, uint64_t *storage, uint64_t value, kvo_thread *self,
                                   uint64_t limit) {
  set_with_record(info, slot, storage, value, self, limit, false);
}

static UNDIVIDED void set_bound(kvo_info *info, kvo_slot *slot, uint64_t *storage, uint64_t value, kvo_thread *self,
                                uint64_t limit) {
  set_with_record(info, slot, storage, value, self, limit, true);
}

/* Chooses the way of a change. Each way is called last, with its own stack frame in the place of this one. So a way saves only the
 * registers that it needs, and all ways have the same frame address, by which a later change finds a mark that was left. */
INLINE void set_set_in(kvo_info *info, kvo_slot *slot, uint64_t *storage, uint64_t value, kvo_thread *self) {
  uint64_t limit = births_of(info);
  way way = way_of(atomic_load_explicit(&slot->wants, memory_order_acquire));
  if (__builtin_expect(way == WORDS, KVO_CALLS_CLOSURES))
    set_words(info, slot, storage, value, self, limit);
  else if (__builtin_expect(way == RECORDED, true))
    set_recorded(info, slot, storage, value, self, limit);
  else if (way == BOUND)
    set_bound(info, slot, storage, value, self, limit);
  else
    set_unusually(info->object, slot->key, storage, value);
}

/* Apart, so that the search saves no registers in other cases. In code that is not optimized its ways have a deeper frame: then a mark of
 * the first slot that was left is found by a later call. */
static UNDIVIDED void set_later_slot(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value) {
  kvo_info *info = info_of(kvo__word(object));
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot != NULL)
    set_set_in(info, slot, storage, value, kvo__own.thread);
  else
    set_unusually(object, key, storage, value);
}

UNDIVIDED void kvo_change_word(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value) {
  if (UNLIKELY(object == NULL || storage == NULL)) {
    if (storage != NULL) *storage = value;
    return;
  }
  uintptr_t word = kvo__word(object);
  if (UNLIKELY((word & KVO_WORD_OBSERVED) == 0 || !is_alone()))
    set_unusually(object, key, storage, value);
  else if (UNLIKELY(info_of(word)->first.key != key))
    set_later_slot(object, key, storage, value);
  else
    set_set_in(info_of(word), &info_of(word)->first, storage, value, kvo__own.thread);
}

/* --------------------------------------------------------------------------------------------------- In two or more -- */

uint32_t kvo__frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key, const void *stack_frame) {
  uintptr_t word = kvo__word(object);
  if (UNLIKELY((word & KVO_WORD_OBSERVED) == 0)) return 0;
  reading of = {.self = kvo__own.thread, .info = info_of(word)};
  bool is_usual = is_alone();
  if (__builtin_expect(is_usual, true)) {
    of.slot = kvo__slot_find(of.info, key);
    if (UNLIKELY(of.slot == NULL)) return 0;
    of.limit = births_of(of.info);
    of.wants = atomic_load_explicit(&of.slot->wants, memory_order_acquire);
    if (UNLIKELY(of.wants == 0)) return 0;
    is_usual = (of.wants & UNUSUAL_WANTS) == 0 && begin(&of, stack_frame) != NULL;
  }
  if (UNLIKELY(!is_usual)) {
    if (kvo__scope_has(object, key)) return 0;
    end_abandoned(stack_frame);
    return kvo__frame_enter_slowly(frame, object, key, stack_frame);
  }
  mark_of(of.self, of.depth)->node = kvo__no_node; /* until the change is finished the binding may do anything */
  kvo_frame_content *change = set_content(frame);
  fill_frame(change, &of);
  set_fill_record(&change->record, of.info, of.slot);
  return of.wants;
}

uint32_t kvo_frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key) {
  return frame != NULL && object != NULL ? kvo__frame_enter(frame, object, key, frame) : 0;
}

UNDIVIDED void kvo_frame_finish_with(kvo_frame *frame, const void *old_value, const void *new_value) {
  if (frame == NULL) return;
  kvo_frame_content *change = set_content(frame);
  if (UNLIKELY(!change->is_reading || change->started)) {
    kvo__frame_finish_from(frame, NULL, old_value, new_value);
    return;
  }
  reading of = {kvo__own.thread, change->info, change->slot, change->limit, change->wants, change->mark};
  kvo_node *next;
  if (__builtin_expect(load_newest(&of, &next), true))
    next = call_from(&of, &change->record, next, old_value, new_value);
  if (__builtin_expect(next == NULL, true))
    kvo__stop_reading(kvo__own.thread, of.depth); /* `of.self` would be kept until now */
  else
    finish_from(frame, next, old_value, new_value);
}

void kvo_frame_finish(kvo_frame *frame, const void *old_value) { kvo_frame_finish_with(frame, old_value, NULL); }
