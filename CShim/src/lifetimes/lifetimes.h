/* lifetimes/lifetimes.h - observations begin and end: registration, removal, the death of the object. A newcomer reads observe.c first. */
#ifndef KVO_LIFETIMES_LIFETIMES_H
#define KVO_LIFETIMES_LIFETIMES_H

#include "changes/frames.h"

/** Whether a binding's registration has the arguments that it needs; KVO0008 if not. `also_wrong` is what else is wrong, or NULL. */
KVO_HIDDEN bool kvo__can_observe(const kvo_object *object, const kvo_binding_observer *observer,
                                 const kvo_observation *out, const char *also_wrong);
/** KVO0019, if it was asked for. */
KVO_HIDDEN void kvo__warn_of_duplicate(kvo_object *object, const kvo_binding_observer *observer);
/** KVO0019 if there is such an observation. */
KVO_HIDDEN void kvo__find_duplicate(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                                    const void *context, kvo_place place);

#endif /* KVO_LIFETIMES_LIFETIMES_H */
