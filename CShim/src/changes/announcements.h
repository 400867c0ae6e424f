/* changes/announcements.h - changes that a thread has announced by hand and not ended yet: announcements.c. */
#ifndef KVO_ANNOUNCEMENTS_H
#define KVO_ANNOUNCEMENTS_H

#include "changes/frames.h"

/** How many return addresses of a will are kept: up to seven are those of the runtime and of the Swift layer. */
enum { KVO_MANUAL_FRAMES = 12 };

/** A change between its will and its did, in the list of the thread that announced it. */
typedef struct kvo_manual {
  kvo_frame frame;
  /** Neighbours in the thread's list, and the entry in its index, where `number` orders wills of the same object and key. */
  struct kvo_manual *below, *above;
  kvo_index_entry entry;
  uint64_t number;
  kvo_object *object;
  kvo_key key;
  /** The key's name, stored after the indexes. */
  const char *name;
  uint32_t wants;
  /** Where will was called. Also its call stack, because a binding may not know the source location. */
  kvo_place place;
  uint32_t frame_count;
  void *frames[KVO_MANUAL_FRAMES];
  /** kvo_will_change has notified all observers. Until then a did in one of their callbacks does not end this change. Other threads read
   * it. */
  _Atomic bool announced;
  /** The values were passed to kvo_will_change and are not read from the property. */
  bool has_values;
  /** A did on another thread has been reported (KVO0030), so no did on this thread is expected. */
  bool is_reported;
  void *old_value;
  void *new_value;
  kvo_selection selection;
  size_t indexes[];
} kvo_manual;

static inline kvo_frame_content *kvo__manual_content(kvo_manual *open) { return kvo__frame_content_of(&open->frame); }

/** The innermost open change of this thread, or NULL. */
KVO_HIDDEN kvo_manual *kvo__manual_innermost(void);
/** The innermost open change of this object and key in a thread's list; if `one` is not NULL, the next one outside of it. */
KVO_HIDDEN kvo_manual *kvo__manual_find(const kvo_manual_list *list, const kvo_manual *one, const kvo_object *object,
                                        kvo_key key);
/** Adds a change to the list of this thread, which must have a record. */
KVO_HIDDEN void kvo__manual_push(kvo_manual *open);
/** Removes a change from the list of this thread. No other thread can find it afterwards. */
KVO_HIDDEN void kvo__manual_take_out(kvo_manual *open);
/** Where a change was announced. Valid as long as the change is open. */
KVO_HIDDEN kvo_fault_site kvo__manual_site(const kvo_manual *open, uint32_t thread);
/** Reports KVO0031 if a setter notifies while this thread has announced a change of the same key by hand. */
KVO_HIDDEN void kvo__manual_is_doubled(const kvo_object *object, kvo_key key);

#endif /* KVO_ANNOUNCEMENTS_H */
