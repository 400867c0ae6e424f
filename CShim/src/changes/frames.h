/* frames.h - a change in progress, as notify.c, manual.c and track.c share it. Part of internal.h. */
#ifndef KVO_FRAMES_H
#define KVO_FRAMES_H

#include "internal.h"

/* --------------------------------------------------------------------------------------------------------- notify.c -- */

/** The old value of a tracked observation, from the will to the did of one frame. */
typedef struct kvo_pending_value {
  kvo_tracked *tracked;
  /** What says that it is to be told. */
  const kvo_node *node;
  void *value;
  /** Instead of `value` when it must not be evaluated: what the observation was last told. */
  struct kvo_cell *last;
  /** The did has come to it. */
  bool told;
} kvo_pending_value;

/** The will phase of a frame. On the heap, not in the frame: the frame is a value of the binding's, which may move it. */
typedef struct kvo_will_phase {
  /** Of the next outer frame of this thread that has one. */
  struct kvo_will_phase *outer;
  /** Of the object that changes. */
  const kvo_info *info;
  /** Of the frame. */
  kvo_slot *slot;
  /** In the order of registration; at first there is room for one, here. */
  kvo_pending_value *pending;
  size_t count, capacity;
  kvo_pending_value first;
  /** While observers are being told before the change: the stack frame of that. Else NULL. */
  const void *telling;
  /** Of a change that is over when this stack frame is; NULL of others. */
  const void *frame;
} kvo_will_phase;

/** What a kvo_frame holds. */
typedef struct kvo_frame_content {
  kvo_info *info;
  kvo_slot *slot;
  kvo_node *cursor;
  /** What kvo__enter returned. */
  uint64_t entered;
  /** The newest node that is told; and of expressions registered no later than `registered`, that is, before the change began,
   * the newest dependency, once the store is over. */
  uint64_t limit, registered, late_limit;
  /** NULL unless kvo_frame_will was called. */
  kvo_will_phase *will;
  uint8_t kind;
  uint8_t wants;
  bool started;
  /** One mark for all observers told after the change, in turn. */
  bool is_marked;
  /** Somebody listened when it began, and is told of what it does. */
  bool is_tapped;
  uint32_t mark;
  /** What they get, in turn. */
  kvo_raw_change record;
} kvo_frame_content;

_Static_assert(sizeof(kvo_frame_content) <= sizeof(kvo_frame), "kvo_frame in kvo_binding.h is too small");

static inline kvo_frame_content *kvo__frame_content_of(kvo_frame *frame) { return (kvo_frame_content *)(void *)frame; }

/** Whether a node evaluates for this change; others take the frame's values. */
static inline bool kvo__frame_evaluates(const kvo_frame_content *change, kvo_node_kind kind) {
  return kind == KVO_NODE_DEPENDENCY || (kind == KVO_NODE_SUBJECT && change->kind == KVO_CHANGE_SETTING);
}

/** How many mutes and manual pairs this thread has open: usually none, and a change by a setter pays for one load. */
extern KVO_HIDDEN _Thread_local uint32_t kvo__unusual __attribute__((tls_model("initial-exec")));

KVO_HIDDEN uint32_t kvo__frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key, bool by_setter,
                                     kvo_change_kind kind, const kvo_selection *selection);
/** The change is made within the caller's stack frame, and will be over when that is, or be left with it. */
KVO_HIDDEN void kvo__frame_stays(kvo_frame *frame, const void *stack_frame);
/** Forgets the changes that were left by longjmp or an exception, as the present frame shows. No lock may be held. */
KVO_HIDDEN void kvo__wills_abandoned(const void *frame);
/** Whether a binding is just storing a computed property, and tells it itself. */
KVO_HIDDEN bool kvo__is_muted(const kvo_object *object, kvo_key key);
/** Tells whether a frame of this thread, not one of the dying object itself, will yet tell this tracked observation its did. */
KVO_HIDDEN bool kvo__in_change_of(const kvo_tracked *tracked, const kvo_info *dying);

/** The key of a change of this object before which this thread is just telling observers; NULL if there is none. */
KVO_HIDDEN const kvo_slot *kvo__in_will_of(const kvo_info *info);

/* --------------------------------------------------------------------------------------------------------- manual.c -- */

/** At the end of a thread: ends the changes that kvo_will_change began and nobody has finished, as KVO0029. */
KVO_HIDDEN void kvo__manual_drop(void);
/** At the death of an object: the same for what this thread has begun of it. */
KVO_HIDDEN void kvo__manual_end_of(const kvo_info *info);
/** At the death of an object: announcements that nobody heard are forgotten. */
KVO_HIDDEN void kvo__manual_forget(const kvo_object *object);
/** Whether this thread has announced a change of this key that nobody observed then, and not yet its end. */
KVO_HIDDEN bool kvo__manual_is_open(const kvo_object *object, kvo_key key);
/** A setter tells a change: KVO0031 if this thread is announcing the same one by hand. */
KVO_HIDDEN void kvo__manual_is_doubled(const kvo_object *object, kvo_key key);

#endif /* KVO_FRAMES_H */
