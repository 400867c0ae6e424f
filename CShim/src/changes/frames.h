/* changes/frames.h - a change in progress, from will to did. Start with kvo_frame_content, then kvo_frame_begin in notify.c. */
#ifndef KVO_FRAMES_H
#define KVO_FRAMES_H

#include "expressions/deliver.h"

/* --------------------------------------------------------------------------------------------------------- notify.c -- */

/** The content of a kvo_frame. */
struct kvo_frame_content {
  kvo_info *info;
  kvo_slot *slot;
  kvo_node *cursor;
  /** The value that kvo__enter returned. */
  uint64_t entered;
  /** `limit`: the birth of the newest node that is notified. `registered`: the birth of the newest node in the process when the change
   * began. `late_limit`: after the store, the birth of the newest node; up to it, dependencies of expressions registered before the change
   * are notified, too. */
  uint64_t limit, registered, late_limit;
  uint8_t kind;
  uint8_t wants;
  bool started;
  /** The observers notified after the change share one mark. */
  bool is_marked;
  /** The mark is made when the change begins and protects the nodes (kvo_mark.reads). Otherwise the change is counted (`entered`). */
  bool is_reading;
  /** It counts in kvo_slot.storing, until the store. */
  bool is_in_place;
  /** The bindings of the key have been settled, and are not told by the change itself. */
  bool is_settled;
  /** Something listened (kvo__is_tapped) when the change began or resumed; it is also told of the deliveries and the end. */
  bool is_tapped;
  /** Its end tells the observers of what those have set, or NULL. */
  kvo_open_scope *hold;
  uint32_t mark;
  /** The lower half of the thread's clock when the change began; 0 if that is not known, or if the change may end on another thread. */
  uint32_t clock;
  /** The record that observers get, filled in for each in turn. */
  kvo_raw_change record;
};

_Static_assert(sizeof(kvo_frame_content) <= sizeof(kvo_frame), "kvo_frame in kvo_binding.h is too small");

static inline kvo_frame_content *kvo__frame_content_of(kvo_frame *frame) { return (kvo_frame_content *)(void *)frame; }

/** Whether a node's expression is evaluated for this change; other nodes get the frame's values. */
static inline bool kvo__frame_evaluates(const kvo_frame_content *change, kvo_node_kind kind) {
  return kind == KVO_NODE_DEPENDENCY || (kind == KVO_NODE_SUBJECT && change->kind == KVO_CHANGE_SETTING);
}

KVO_HIDDEN uint32_t kvo__frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key, bool by_setter,
                                     kvo_change_kind kind, const kvo_selection *selection);
/** kvo_frame_enter for a frame of the function with this stack frame; `slowly`: in the cases that set.c does not know. */
KVO_HIDDEN uint32_t kvo__frame_enter_slowly(kvo_frame *frame, kvo_object *object, kvo_key key, const void *stack_frame);
KVO_HIDDEN uint32_t kvo__frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key, const void *stack_frame);
/** Does what kvo_frame_finish_with does, from a node on; then the caller has set `late_limit`. With NULL, for all nodes that are left. */
KVO_HIDDEN void kvo__frame_finish_from(kvo_frame *frame, kvo_node *next, const void *old_value, const void *new_value);
/** kvo_frame_begin_change for a frame of the function with this stack frame. */
KVO_HIDDEN uint32_t kvo__frame_enter_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                                            const size_t *indexes, size_t count, const void *stack_frame);
/** Bracket the notifications before a change of a key, in this stack frame. */
KVO_HIDDEN uint32_t kvo__before_begin(const kvo_slot *slot, const void *frame);
KVO_HIDDEN void kvo__before_end(uint32_t mark);
/** If this thread is notifying observers before a change of this object, the slot of that change; otherwise NULL. */
KVO_HIDDEN const kvo_slot *kvo__in_will_of(const kvo_info *info);
/** Ends a change of an object that is being destroyed, whose death is told instead. */
KVO_HIDDEN void kvo__frame_drop(kvo_frame *frame);
/** Says that the change has come to the expression at its cursor: what is left to the change from now on is left to older ones. */
KVO_HIDDEN kvo_change_place kvo__frame_reaches(kvo_frame_content *change, const void *frame);
/** Notifies an observer before the change: a direct one, or an expression that is a leaf. */
KVO_HIDDEN void kvo__send_prior(const kvo_frame_content *change, kvo_node *node, bool is_leaf, const void *old_value);
/* ----------------------------------------------------------------------------------------------------- old_objects.c -- */

/** Keeps the memory of an object that has ended until the change that is running a setter or an accessor on this thread has notified those
 * who may get the object as the old value. False if there is no such change: the caller frees the object. */
KVO_HIDDEN bool kvo__old_object_keep(kvo_object *object);
/** Frees the objects that were kept for the change of the function with this stack frame; for NULL, those of all changes. */
KVO_HIDDEN void kvo__old_objects_free_slowly(const void *frame);
static inline void kvo__old_objects_free(const void *frame) {
  bool are_there = kvo__own.thread != NULL && kvo__own.thread->late_ends != NULL;
  if (__builtin_expect(are_there, false)) kvo__old_objects_free_slowly(frame);
}

/* ---------------------------------------------------------------------------------------------------------- stored.c -- */

/** Begins a silent change, if there are expressions for its end to evaluate. */
KVO_HIDDEN void kvo__follow_silently(const kvo_object *object, kvo_key key);
/** After such a change: settles what depends on the key, and notifies nobody. */
KVO_HIDDEN void kvo__stored_silently(kvo_info *info, kvo_key key);
/** Ends a change that kvo__follow_silently may have begun, and that was not made. */
KVO_HIDDEN void kvo__not_stored(const kvo_object *object, kvo_key key);

/* ----------------------------------------------------------------------------------------------------------- mutes.c -- */

/** Uses up a mute of this object and key, if there is one. A mute silences one change; later changes by observers or by the setter notify
 * as usual. */
KVO_HIDDEN bool kvo__mute_take(const kvo_object *object, kvo_key key);
/** Whether this thread is inside a binding's store of this computed property, which notifies by itself. */
KVO_HIDDEN bool kvo__is_muted(const kvo_object *object, kvo_key key);
/** Whether this thread has a mute or an announced change of this object and key, whose end follows the store. */
KVO_HIDDEN bool kvo__notifies_itself(const kvo_object *object, kvo_key key);

/* --------------------------------------------------------------------------------------------------------- manual.c -- */

/** At the end of a thread: ends the changes that it has announced and not ended, each with KVO0029. */
KVO_HIDDEN void kvo__manual_drop(void);
/** At the death of an object: does the same for the changes of that object announced on this thread. */
KVO_HIDDEN void kvo__manual_end_of(const kvo_info *info);

/* -------------------------------------------------------------------------------------------------------- setter.c -- */

/** Sets a property of a C object that can be set; the object may be observed. Fails with REFUSED. */
KVO_HIDDEN kvo_status kvo__set(const kvo_property *property, kvo_object *object, const void *value);
/** The body of the trampoline of a C setter, as libffi calls it. */
KVO_HIDDEN void kvo__intercepted(ffi_cif *cif, void *result, void **arguments, void *user_data);

#endif /* KVO_FRAMES_H */
