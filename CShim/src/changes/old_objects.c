/* old_objects.c - objects that a setter destroys, although observers are going to get them as old values: their memory is freed when those
 * have been notified. */
#include "changes/frames.h"

/* An object that has ended, and whose memory is still needed. */
struct kvo_late_end {
  struct kvo_late_end *next;
  kvo_object *object;
  /** The stack frame of the change that frees it. */
  const void *frame;
};

static bool old_objects_may_hold_object(const kvo_slot *slot) {
  const kvo_info *info = kvo__slot_info((kvo_slot *)(uintptr_t)slot);
  const kvo_property *property = kvo__slot_property(info, slot);
  return property != NULL && !info->cls->of_binding && kvo__type_may_hold_object(property->type);
}

/* Whether it is the mark of a change of a C object that is between the reading of the old value and the notification, of which an observer
 * gets an object. */
static bool keeps_object(const kvo_mark *mark) {
  if (mark->node != kvo__no_node || mark->frame == NULL || mark->slot == NULL) return false;
  if (atomic_load_explicit(&mark->reads, memory_order_relaxed) == NULL && mark->is_before) return false;
  return (atomic_load(&mark->slot->wants) & KVO_FRAME_WANTS_OLD) != 0 && old_objects_may_hold_object(mark->slot);
}

bool kvo__old_object_keep(kvo_object *object) {
  kvo_thread *self = kvo__own.thread;
  uint32_t depth = self != NULL ? atomic_load_explicit(&self->depth, memory_order_relaxed) : 0, i = 0;
  while (i < depth && !keeps_object(kvo__mark_at(i))) i++;
  if (i == depth) return false;
  struct kvo_late_end *made = kvo__alloc(sizeof *made);
  if (made == NULL) return true; /* it is leaked: an observer may get it */
  *made = (struct kvo_late_end){self->late_ends, object, kvo__mark_at(i)->frame};
  self->late_ends = made;
  return true;
}

void kvo__old_objects_free_slowly(const void *frame) {
  struct kvo_late_end **link = &kvo__own.thread->late_ends;
  while (*link != NULL) {
    struct kvo_late_end *each = *link;
    if (frame != NULL && each->frame != frame) {
      link = &each->next;
      continue;
    }
    *link = each->next;
    kvo_object *object = each->object;
    kvo__free(each);
    kvo__object_free(object); /* which may destroy others */
    link = &kvo__own.thread->late_ends;
  }
}
