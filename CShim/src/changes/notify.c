/* notify.c - a change, from before the store until the last observer has been notified. */
#include "changes/announcements.h"
#include "changes/scopes.h"
#include "changes/settle.h"

static kvo_frame_content *notify_content(kvo_frame *frame) { return kvo__frame_content_of(frame); }

/* ------------------------------------------------------------------------------------------------------------- Frame -- */

/* The part of the record that is the same for all observers. */
static kvo_raw_change notify_record_of(const kvo_frame_content *change, const kvo_selection *selection) {
  const kvo_info *info = change->info;
  kvo_raw_change record = {
      .object = info->object,
      .instance = kvo__info_instance(info),
      .changed = info->object,
      .property = kvo__slot_property(info, change->slot),
      .indexes = selection != NULL ? selection->indexes : NULL,
      .index_count = selection != NULL ? selection->count : 0,
      .kind = (kvo_change_kind)change->kind,
  };
  return record;
}

uint32_t kvo__frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key, bool by_setter, kvo_change_kind kind,
                          const kvo_selection *selection) {
  uintptr_t word = kvo__word(object);
  if ((word & KVO_WORD_OBSERVED) == 0) return 0;
  kvo_info *info = kvo__word_info(word);
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot == NULL || (by_setter && slot->manual)) return 0;
  /* Load `births` before `wants`: kvo__node_link stores them in the opposite order, so `wants` covers every node up to `limit`. */
  uint64_t limit = atomic_load_explicit(&info->births, memory_order_acquire);
  unsigned wants = atomic_load_explicit(&slot->wants, memory_order_acquire);
  if (wants == 0) return 0;
  kvo_frame_content *change = notify_content(frame);
  change->info = info;
  change->slot = slot;
  change->cursor = NULL;
  change->limit = limit;
  change->late_limit = 0;
  change->clock = kvo__own.thread != NULL ? (uint32_t)kvo__own.thread->clock : 0;
  change->registered = atomic_load_explicit(&kvo__births, memory_order_relaxed);
  change->kind = (uint8_t)kind;
  change->wants = (uint8_t)wants;
  change->started = false;
  change->is_marked = change->is_reading = change->is_in_place = change->is_settled = false;
  change->hold = NULL;
  change->is_tapped = false;
  change->record = notify_record_of(change, selection);
  /* Last, because an atomic read-modify-write waits for the loads before it and delays those after it. */
  change->entered = kvo__enter(info);
  return kvo__is_tapped() ? kvo__hooks.change_begins(change) : wants;
}

/* kvo_frame_begin while this thread has an open mute, an announced change or a scope. */
__attribute__((noinline, cold)) static uint32_t begin_slowly(kvo_frame *frame, kvo_object *object, kvo_key key) {
  if (kvo__mute_take(object, key) || kvo__scope_takes(object, key, true)) return 0;
  uint32_t wants = kvo__frame_begin(frame, object, key, true, KVO_CHANGE_SETTING, NULL);
  if (wants != 0) kvo__manual_is_doubled(object, key);
  return wants;
}

static uint32_t begin_setting(kvo_frame *frame, kvo_object *object, kvo_key key) {
  if (__builtin_expect(kvo__own.open_changes != 0, false)) return begin_slowly(frame, object, key);
  return kvo__frame_begin(frame, object, key, true, KVO_CHANGE_SETTING, NULL);
}

static uint32_t begin_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                             const size_t *indexes, size_t count) {
  bool is_good = frame != NULL && object != NULL && kind >= KVO_CHANGE_SETTING && kind <= KVO_CHANGE_REPLACEMENT;
  if (!is_good) return 0;
  bool is_alone = __builtin_expect(kvo__own.open_changes == 0, true);
  if (!is_alone && kvo__scope_takes(object, key, true)) return 0; /* it is told as a setting */
  kvo_selection selection = {indexes, indexes != NULL ? count : 0};
  uint32_t wants = kvo__frame_begin(frame, object, key, true, kind, &selection);
  if (!is_alone && wants != 0) kvo__manual_is_doubled(object, key);
  return wants;
}

/* The change may end on any thread. Until the store, expressions are left to it. */
static uint32_t in_place(kvo_frame *frame, uint32_t wants) {
  if (wants == 0) return 0;
  notify_content(frame)->is_in_place = true;
  notify_content(frame)->clock = 0;
  atomic_fetch_add(&notify_content(frame)->slot->storing, 1);
  if (!atomic_load_explicit(&kvo__has_in_place, memory_order_relaxed)) atomic_store(&kvo__has_in_place, true);
  return wants;
}

static inline void set_slot(const kvo_frame_content *change) {
  if (change->mark < KVO_TOO_DEEP) kvo__mark_at(change->mark)->slot = change->slot;
}

/* The change ends in this stack frame: until the store, expressions are left to its mark. */
static uint32_t in_frame(kvo_frame *frame, uint32_t wants, const void *stack_frame) {
  if (wants == 0) return 0;
  kvo_frame_content *change = notify_content(frame);
  change->mark = kvo__mark(0, NULL, NULL, NULL);
  change->is_marked = true;
  if (change->mark >= KVO_TOO_DEEP) return wants;
  kvo_mark *mark = kvo__mark_at(change->mark);
  mark->node = kvo__no_node;
  mark->slot = change->slot;
  mark->recorder = kvo__own.recorder;
  __atomic_store_n(&mark->frame, stack_frame, __ATOMIC_RELAXED);
  return wants;
}

uint32_t kvo_frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key) {
  return frame != NULL && object != NULL ? in_place(frame, begin_setting(frame, object, key)) : 0;
}

uint32_t kvo__frame_enter_slowly(kvo_frame *frame, kvo_object *object, kvo_key key, const void *stack_frame) {
  return in_frame(frame, begin_setting(frame, object, key), stack_frame);
}

uint32_t kvo_frame_begin_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                                const size_t *indexes, size_t count) {
  return in_place(frame, begin_change(frame, object, key, kind, indexes, count));
}

uint32_t kvo__frame_enter_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                                 const size_t *indexes, size_t count, const void *stack_frame) {
  return in_frame(frame, begin_change(frame, object, key, kind, indexes, count), stack_frame);
}

static inline bool may_evaluate(kvo_node_kind kind) { return kind >= KVO_NODE_DEPENDENCY && kind != KVO_NODE_LEAF; }

/* Whether what was registered during the change, with its initial value, is told: it has read the old one. Not by a did whose will is not
 * known. */
static inline bool is_initial(const kvo_frame_content *change, const kvo_node *node) {
  return change->limit != 0 && (node->options & KVO_INITIAL) != 0;
}

/* Whether a node that was linked during the change, and before the store, is told. */
static bool is_told_late(const kvo_frame_content *change, const kvo_node *node) {
  if (kvo__node_is_own(node)) return is_initial(change, node);
  return kvo__node_order(node) <= change->registered || may_evaluate(kvo__node_kind(node)) || is_initial(change, node);
}

/* Whether an expression was left to this change, in which an observer has destroyed the object. */
__attribute__((noinline, cold)) static bool is_owed(const kvo_frame_content *change, const kvo_node *node) {
  bool is_dead = (atomic_load(&change->info->state) & KVO_STATE_DEAD) != 0;
  return is_dead && change->started && kvo__node_is_owed(node);
}

/* Whether this change notifies a node: not if it was registered during the change or has been removed. */
static inline bool notify_is_told(const kvo_frame_content *change, const kvo_node *node) {
  uint64_t birth = atomic_load_explicit(&node->birth, memory_order_acquire);
  if (!atomic_load_explicit(&node->live, memory_order_acquire)) return is_owed(change, node);
  if (change->is_settled && (node->options & KVO_NODE_BINDS) != 0) return false;
  if (birth <= change->limit) return true;
  if (!change->started) return false;
  if (kvo__node_is_dependency(node) && atomic_load(&((kvo_tracked *)node->user_data)->is_stale)) return true;
  return birth <= change->late_limit && is_told_late(change, node);
}

void kvo__send_prior(const kvo_frame_content *change, kvo_node *node, bool is_leaf, const void *old_value) {
  kvo_raw_change record = change->record;
  record.is_prior = true;
  record.old_value = (node->options & KVO_OLD) != 0 ? old_value : NULL;
  record.observation = node->id;
  if (is_leaf)
    kvo__tracked_leaf(node->user_data, &record, false);
  else
    kvo__call_direct(&record, node);
}

uint32_t kvo__before_begin(const kvo_slot *slot, const void *frame) {
  uint32_t depth = kvo__mark(0, NULL, NULL, NULL);
  if (depth >= KVO_TOO_DEEP) return depth;
  kvo_mark *mark = kvo__mark_at(depth);
  mark->node = kvo__no_node;
  mark->slot = slot;
  mark->is_before = true;
  mark->recorder = kvo__own.recorder;
  __atomic_store_n(&mark->frame, frame, __ATOMIC_RELAXED);
  return depth;
}

void kvo__before_end(uint32_t mark) { kvo__unmark(mark); }

const kvo_slot *kvo__in_will_of(const kvo_info *info) {
  kvo__look_for_abandoned();
  for (uint32_t i = kvo__present_depth(); i > 0; i--) {
    const kvo_mark *mark = kvo__mark_at(i - 1);
    bool is_before =
        mark->node == kvo__no_node && mark->frame != NULL && atomic_load(&mark->reads) == NULL && mark->is_before;
    if (is_before && kvo__slot_info((kvo_slot *)(uintptr_t)mark->slot) == info) return mark->slot;
  }
  return NULL;
}

/* How many marks there were before that of the change, if it has one. */
static inline uint32_t depth_of(const kvo_frame_content *change) {
  return change->is_marked && change->mark < KVO_TOO_DEEP ? change->mark : kvo__present_depth();
}

/* Has expressions read what they delivered last, before an observer changes that. Returns whether there are observers to notify before the
 * change. */
static bool read_lasts(const kvo_frame_content *change, kvo_change_place *place) {
  bool has_prior = false;
  for (kvo_node *node = atomic_load(&change->slot->oldest); node != NULL; node = atomic_load(&node->newer)) {
    kvo_node_kind kind = kvo__node_kind(node); /* read once: another thread may change it */
    if (!notify_is_told(change, node) || kvo__is_paused(kind)) continue;
    has_prior = has_prior || (node->options & KVO_PRIOR) != 0;
    place->reads_last = (node->options & KVO_OLD) != 0;
    if (kvo__frame_evaluates(change, kind)) kvo__tracked_react(node->user_data, KVO_WILL_STORE, place);
  }
  return has_prior;
}

static void tell_prior(const kvo_frame_content *change, kvo_change_place *place, const void *old_value) {
  place->reads_last = false;
  place->tells_prior = true;
  for (kvo_node *node = atomic_load(&change->slot->oldest); node != NULL; node = atomic_load(&node->newer)) {
    kvo_node_kind kind = kvo__node_kind(node);
    if (!notify_is_told(change, node) || kvo__is_paused(kind)) continue;
    if (kvo__frame_evaluates(change, kind))
      kvo__tracked_react(node->user_data, KVO_WILL_STORE, place);
    else if ((node->options & KVO_PRIOR) != 0 &&
             (kind == KVO_NODE_DIRECT || !kvo__is_postponed(node->user_data, place, false)))
      kvo__send_prior(change, node, kind != KVO_NODE_DIRECT, old_value);
  }
}

void kvo_frame_will(kvo_frame *frame, const void *old_value) {
  if (frame == NULL) return;
  kvo_frame_content *change = notify_content(frame);
  kvo_change_place place = {.depth = depth_of(change), .own = change->slot};
  uint32_t before = kvo__before_begin(change->slot, __builtin_frame_address(0));
  if (read_lasts(change, &place)) tell_prior(change, &place, old_value);
  kvo__before_end(before);
}

/* Returns the first node to be notified, starting with `node` and going on to older ones. */
static inline kvo_node *told_from(const kvo_frame_content *change, kvo_node *node) {
  while (node != NULL && !notify_is_told(change, node)) node = atomic_load_explicit(&node->older, memory_order_acquire);
  return node;
}

/* Ends the mark as soon as there is no further observation: what the program runs before it ends the frame, such as the release of an old
 * value, may have a less deep stack frame than the mark. */
static inline void end_mark(kvo_frame_content *change) {
  if (!change->is_marked || change->is_reading) return;
  change->is_marked = false;
  kvo__unmark(change->mark);
}

static void end_in_place(kvo_frame_content *change) {
  change->is_in_place = false;
  atomic_fetch_sub(&change->slot->storing, 1);
}

/* Unless the scope that tells the change has done it. */
static void notify_settle(kvo_frame_content *change) {
  if (change->is_settled || (atomic_load_explicit(&change->slot->wants, memory_order_acquire) & KVO_SLOT_BINDS) == 0)
    return;
  change->is_settled = true;
  kvo_mark *mark = change->is_marked && change->mark < KVO_TOO_DEEP ? kvo__mark_at(change->mark) : NULL;
  if (mark != NULL && mark->node == kvo__no_node) mark->node = KVO_NO_NODE_BUT_SETTLED;
  change->hold = kvo__settle(change->slot, depth_of(change), change->kind == KVO_CHANGE_SETTING);
}

/* The node to be notified after the cursor. */
static inline kvo_node *next_told(kvo_frame_content *change) {
  if (change->started) return told_from(change, atomic_load_explicit(&change->cursor->older, memory_order_acquire));
  change->started = true;
  if (change->is_in_place) end_in_place(change);
  notify_settle(change);
  end_mark(change);
  change->late_limit = atomic_load_explicit(&change->info->births, memory_order_acquire);
  return told_from(change, atomic_load_explicit(&change->slot->newest, memory_order_acquire));
}

__attribute__((noinline, cold)) static void note_told(const kvo_frame_content *change) {
  kvo__mark_at(change->mark)->told = kvo__told(&change->record);
}

/* Notifies a DIRECT observation. Most of its record has been filled since the frame began, and one mark serves all: there may be many
 * observers. */
static inline void call_direct(kvo_frame_content *change, kvo_node *node) {
  if (change->is_marked) {
    kvo__mark_again(change->mark, node->id, node);
    if (__builtin_expect(change->mark < KVO_TOO_DEEP && change->mark >= kvo__own.thread->limit, false))
      note_told(change);
  } else {
    change->mark = kvo__mark(node->id, NULL, node, &change->record);
    set_slot(change);
  }
  change->is_marked = true;
  if (__builtin_expect(change->mark == KVO_TOO_DEEP, false)) {
    kvo__defer(node);
    return;
  }
  if (!atomic_load(&node->live)) return;
  kvo__assert(kvo__holds_none());
  void *recorder = kvo_is_tracking() ? kvo__recording_suspend() : NULL;
  if (recorder != NULL && change->mark != KVO_UNMARKED) kvo__mark_at(change->mark)->recorder = recorder;
  if (change->is_tapped)
    kvo__hooks.delivery(&change->record, node, kvo__direct_callback(node), kvo__direct_argument(node));
  else
    kvo__call_node(&change->record, node);
  if (recorder != NULL) kvo__recording_resume(recorder);
}

/* Clears the mark, so that a thread that waits for the last observer does not also wait for what comes next: a getter, an evaluation, or
 * another observer. */
static inline void forget_mark(const kvo_frame_content *change) {
  if (change->is_marked) kvo__mark_again(change->mark, 0, NULL);
}

/* What comes between two observers, and the next one, may have a less deep stack frame than the last one, and has not left it: the release
 * of a value, a getter, an evaluation. The frame is that of a function which the binding called. */
static inline void enclose(const kvo_frame_content *change, const void *frame) {
  if (change->is_marked) kvo__mark_encloses(change->mark, frame);
}

/* Whether a leaf needs values that the frame does not have: it was registered late, or has just become a leaf. */
static bool wants_more(const kvo_frame_content *change, const kvo_node *leaf, const void *new_value) {
  bool wants_old = (leaf->options & KVO_OLD) != 0, wants_new = (leaf->options & KVO_NEW) != 0;
  return (wants_old && (change->wants & KVO_FRAME_WANTS_OLD) == 0) ||
         (wants_new && (change->wants & KVO_FRAME_WANTS_NEW) == 0) ||
         (wants_new && new_value == NULL && change->kind == KVO_CHANGE_SETTING);
}

/* Fills in the parts of the record that depend on the observation's options. */
static inline void notify_fill_record(kvo_frame_content *change, const kvo_node *node, const void *old_value,
                                      const void *new_value) {
  change->record.old_value = (node->options & KVO_OLD) != 0 ? old_value : NULL;
  change->record.new_value = (node->options & KVO_NEW) != 0 ? new_value : NULL;
  change->record.observation = node->id;
}

/* Notes that a paused observation has missed the change, unless it has been resumed meanwhile. */
__attribute__((noinline, cold)) static void tell_paused(kvo_frame_content *change, kvo_node *node,
                                                        const void *old_value, const void *new_value) {
  /* A scope takes `limit` when it ends, and a set without a frame takes `registered` after the store. */
  uint64_t began = change->limit < change->registered ? change->limit : change->registered;
  if (kvo__node_misses(node, change->record.kind, old_value, began)) return;
  notify_fill_record(change, node, old_value, new_value);
  call_direct(change, node);
}

/* Says in the mark where the change is, for what is left to it. */
static void mark_expression(kvo_frame_content *change, const kvo_node *node) {
  if (!change->is_marked) {
    change->mark = kvo__mark(0, NULL, node, &change->record);
    change->is_marked = true;
    set_slot(change);
    if (change->mark < KVO_TOO_DEEP) kvo__mark_at(change->mark)->recorder = kvo__own.recorder;
  } else {
    forget_mark(change);
    if (change->mark < KVO_TOO_DEEP) kvo__mark_at(change->mark)->node = node;
  }
}

kvo_change_place kvo__frame_reaches(kvo_frame_content *change, const void *frame) {
  mark_expression(change, change->cursor);
  enclose(change, frame);
  return (kvo_change_place){
      .depth = depth_of(change), .changed = change->hold == NULL ? change->slot : NULL, .scope = change->hold};
}

/* Out of line, so that the common path stays small. */
__attribute__((noinline)) static void notify_tell_expression(kvo_frame_content *change, kvo_node *node,
                                                             kvo_node_kind kind, const void *old_value,
                                                             const void *new_value, const void *frame) {
  kvo_tracked *tracked = node->user_data;
  kvo_change_place place = kvo__frame_reaches(change, frame);
  bool is_new = kvo__node_order(node) > change->registered;
  if (is_new && !is_initial(change, node) && !atomic_load(&tracked->is_stale)) {
    kvo__tracked_react(tracked, change->registered != 0 ? KVO_STORED_MEANWHILE : KVO_STORED_SILENTLY, NULL);
    return;
  }
  if (is_new || kvo__frame_evaluates(change, kind) || wants_more(change, node, new_value) ||
      atomic_load(&tracked->is_stale)) {
    /* What a getter of the path itself sets proves nothing. */
    bool is_checked = old_value != NULL && atomic_load(&node->live) && (node->options & KVO_NODE_IS_CHECKED) != 0 &&
                      !kvo__tracked_is_evaluating(tracked);
    if (is_checked && change->kind == KVO_CHANGE_SETTING) kvo__check_replaced(tracked, node, old_value, change->clock);
    kvo__tracked_react(tracked, KVO_STORED, &place);
    return;
  }
  if (kvo__tracked_postpone(tracked, &place)) return;
  if (kvo__own.open_changes != 0 && kvo__is_postponed(tracked, &(kvo_change_place){.depth = place.depth}, true)) {
    /* The path has been led elsewhere while bindings were settled, or is being led elsewhere by hand. */
    kvo__tracked_react(tracked, KVO_STORED, &place);
    return;
  }
  if (kind == KVO_NODE_SUBJECT) /* the new elements may lead it to other keys */
    kvo__tracked_react(tracked, KVO_STORED_MEANWHILE, NULL);
  notify_fill_record(change, node, old_value, new_value);
  kvo__tracked_leaf(tracked, &change->record, false);
}

/* `frame` is that of the function that goes from node to node. */
static inline void notify_tell(kvo_frame_content *change, kvo_node *node, const void *old_value, const void *new_value,
                               const void *frame) {
  kvo_node_kind kind = kvo__node_kind(node);
  if (kvo__is_paused(kind)) {
    tell_paused(change, node, old_value, new_value);
  } else if (kind != KVO_NODE_DIRECT) {
    notify_tell_expression(change, node, kind, old_value, new_value, frame);
  } else {
    bool is_late = atomic_load_explicit(&node->birth, memory_order_relaxed) > change->limit;
    if (__builtin_expect(is_late && wants_more(change, node, new_value), false)) {
      (void)kvo__frame_reaches(change, frame); /* what the observer changes is left to this change */
      kvo__deliver_present(node, change->info, (change->wants & KVO_FRAME_WANTS_OLD) != 0 ? old_value : NULL);
      return;
    }
    notify_fill_record(change, node, old_value, new_value);
    call_direct(change, node);
  }
}

bool kvo_frame_next(kvo_frame *frame) {
  if (frame == NULL) return false;
  kvo_frame_content *change = notify_content(frame);
  enclose(change, __builtin_frame_address(0));
  bool was_over = change->started && change->cursor == NULL;
  kvo_node *node = was_over ? NULL : next_told(change);
  if (node == NULL) {
    end_mark(change);
    return false;
  }
  change->cursor = node;
  return true;
}

void kvo_frame_deliver(kvo_frame *frame, const void *old_value, const void *new_value) {
  if (frame == NULL || notify_content(frame)->cursor == NULL) return;
  kvo_frame_content *change = notify_content(frame);
  notify_tell(change, change->cursor, old_value, new_value, __builtin_frame_address(0));
  forget_mark(change);
  enclose(change, __builtin_frame_address(0));
}

void kvo__frame_finish_from(kvo_frame *frame, kvo_node *next, const void *old_value, const void *new_value) {
  kvo_frame_content *change = notify_content(frame);
  if (next != NULL) {
    change->started = true;
    if (kvo__mark_at(change->mark)->node == kvo__no_node) notify_settle(change);
    next = told_from(change, next);
  } else {
    next = next_told(change);
  }
  for (; next != NULL; next = next_told(change)) {
    change->cursor = next;
    notify_tell(change, next, old_value, new_value, __builtin_frame_address(0));
  }
  kvo_frame_end(frame);
}

/* The change was not made. */
__attribute__((noinline, cold)) static void end_untold(kvo_frame_content *change) {
  change->started = true;
  if (change->is_in_place) end_in_place(change);
  if (change->is_marked && change->mark < KVO_TOO_DEEP) {
    kvo__mark_at(change->mark)->slot = NULL;
    /* An observer before the change was left: that is found as usual, with this mark. */
    if (!change->is_reading && kvo__present_depth() != change->mark + 1) change->is_marked = false;
  }
  for (kvo_node *node = atomic_load(&change->slot->newest); node != NULL; node = atomic_load(&node->older))
    if (kvo__node_is_dependency(node) && atomic_load(&node->live)) kvo__tracked_unchanged(node->user_data);
}

void kvo__frame_drop(kvo_frame *frame) {
  kvo_frame_content *change = notify_content(frame);
  change->started = true;
  if (change->is_in_place) end_in_place(change);
  kvo_frame_end(frame);
}

/* Ignores a frame of kvo_frame_begin that has ended, or is zeroed: a signal handler of Python may raise before the binding knows that a
 * change has begun, or has ended. */
void kvo_frame_end(kvo_frame *frame) {
  if (frame == NULL) return;
  kvo_frame_content *change = notify_content(frame);
  if (!change->is_reading && change->entered == 0) return; /* a frame that reads has not set `entered` */
  if (!change->started) end_untold(change);
  if (change->hold != NULL) {
    end_mark(change); /* nothing is left to it any more */
    if (change->is_reading) kvo__mark_at(change->mark)->slot = NULL;
    kvo__scope_close(change->hold);
  }
  if (change->is_reading) {
    kvo__stop_reading(kvo__own.thread, change->mark);
    return;
  }
  end_mark(change);
  if (change->is_tapped) kvo__hooks.change_ends(change);
  uint64_t entered = change->entered;
  change->entered = 0;
  kvo__leave(change->info, entered);
}
