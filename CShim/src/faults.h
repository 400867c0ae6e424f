/* faults.h - the faults that the runtime raises, one function each: fault.c. Part of internal.h. */
#ifndef KVO_FAULTS_H
#define KVO_FAULTS_H

#include "internal.h"

/** A registration that is refused: which fault it is follows from the status. */
KVO_HIDDEN void kvo__fault_registration(kvo_status status, const kvo_class *cls, const kvo_object *object,
                                        const char *key_path, const void *observer, kvo_options options,
                                        const void *context, const char *file, uint32_t line);
/** KVO0009: a set of a key that has no setter. */
KVO_HIDDEN void kvo__fault_no_setter(const kvo_object *object, const char *key);
/** KVO0011: an expression that read nothing observable. */
KVO_HIDDEN void kvo__fault_never_notifies(const kvo_object *object, const kvo_binding_observer *observer);
/** KVO0017. */
KVO_HIDDEN void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited);
/** KVO0002, for an id. */
KVO_HIDDEN void kvo__fault_stale(kvo_observation observation);
/** KVO0002, for an observer and a key path. */
KVO_HIDDEN void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity,
                                          const char *key_path, const void *context, bool match_context,
                                          const char *file, uint32_t line);
/** KVO0009: a value is wanted of a key that the class does not have. */
KVO_HIDDEN void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot);
/** KVO0001. No lock may be held. */
KVO_HIDDEN void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls,
                                       const kvo_fault_observation *left, size_t count);

#endif /* KVO_FAULTS_H */
