/* changes/announcements.h - changes that the program has announced by hand, and not yet ended: announcements.c. */
#ifndef KVO_ANNOUNCEMENTS_H
#define KVO_ANNOUNCEMENTS_H

#include "changes/frames.h"

/** How many return addresses are kept of a will. */
enum { KVO_MANUAL_FRAMES = 8 };

/** A change between will and did, of the thread that announced it. */
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
  void *frames[KVO_MANUAL_FRAMES];
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
} kvo_manual;

static inline kvo_frame_content *kvo__manual_content(kvo_manual *open) { return kvo__frame_content_of(&open->frame); }

/** Of this thread, or NULL. */
KVO_HIDDEN kvo_manual *kvo__manual_innermost(void);
/** The innermost of a thread's of this object and key; below one of these, if that is not NULL. */
KVO_HIDDEN kvo_manual *kvo__manual_find(const kvo_manual_list *list, const kvo_manual *one, const kvo_object *object,
                                        kvo_key key);
/** Adds one to this thread's, which has a record. */
KVO_HIDDEN void kvo__manual_push(kvo_manual *open);
/** Out of the list: nobody else looks at it any more. */
KVO_HIDDEN void kvo__manual_take_out(kvo_manual *open);
/** Where it was announced; valid as long as it is. */
KVO_HIDDEN kvo_fault_site kvo__manual_site(const kvo_manual *open, uint32_t thread);
/** A setter tells a change: KVO0031 if this thread is announcing the same one by hand. */
KVO_HIDDEN void kvo__manual_is_doubled(const kvo_object *object, kvo_key key);

#endif /* KVO_ANNOUNCEMENTS_H */
