/* changes/frames.h - a change in progress, from will to did. A newcomer reads kvo_frame_content first, then kvo_frame_begin in notify.c. */
#ifndef KVO_FRAMES_H
#define KVO_FRAMES_H

#include "expressions/deliver.h"

/* --------------------------------------------------------------------------------------------------------- notify.c -- */

/** What a kvo_frame holds. */
struct kvo_frame_content {
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
};

_Static_assert(sizeof(kvo_frame_content) <= sizeof(kvo_frame), "kvo_frame in kvo_binding.h is too small");

static inline kvo_frame_content *kvo__frame_content_of(kvo_frame *frame) { return (kvo_frame_content *)(void *)frame; }

/** Whether a node evaluates for this change; others take the frame's values. */
static inline bool kvo__frame_evaluates(const kvo_frame_content *change, kvo_node_kind kind) {
  return kind == KVO_NODE_DEPENDENCY || (kind == KVO_NODE_SUBJECT && change->kind == KVO_CHANGE_SETTING);
}

/** How many mutes and manual pairs this thread has open: usually none, and a change by a setter pays for one load. */
extern KVO_HIDDEN _Thread_local uint32_t kvo__slow_path_count __attribute__((tls_model("initial-exec")));

KVO_HIDDEN uint32_t kvo__frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key, bool by_setter,
                                     kvo_change_kind kind, const kvo_selection *selection);
/** The change is made within the caller's stack frame, and will be over when that is, or be left with it. */
KVO_HIDDEN void kvo__frame_stays(kvo_frame *frame, const void *stack_frame);
/** Whether a binding is just storing a computed property, and tells it itself. */
KVO_HIDDEN bool kvo__is_muted(const kvo_object *object, kvo_key key);

/* --------------------------------------------------------------------------------------------------------- manual.c -- */

/** At the end of a thread: ends the changes that kvo_will_change began and nobody has finished, as KVO0029. */
KVO_HIDDEN void kvo__manual_drop(void);
/** At the death of an object: the same for what this thread has begun of it. */
KVO_HIDDEN void kvo__manual_end_of(const kvo_info *info);

/* -------------------------------------------------------------------------------------------------------- setter.c -- */

/** What the trampoline of a C setter runs, as libffi calls it. */
KVO_HIDDEN void kvo__intercepted(ffi_cif *cif, void *result, void **arguments, void *user_data);

#endif /* KVO_FRAMES_H */
