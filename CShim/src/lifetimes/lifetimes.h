/* lifetimes/lifetimes.h - the lifetime of observations: registration, removal, the death of the object. Start with observe.c. */
#ifndef KVO_LIFETIMES_LIFETIMES_H
#define KVO_LIFETIMES_LIFETIMES_H

#include "changes/frames.h"

/** Checks the arguments of a binding's registration; reports KVO0008 if one is wrong. `also_wrong` describes a further mistake, or is
 * NULL. */
KVO_HIDDEN bool kvo__can_observe(const kvo_object *object, const kvo_binding_observer *observer,
                                 const kvo_observation *out, const char *also_wrong);
/** Reports KVO0019 if there is an equal registration and the setting asks for it. */
KVO_HIDDEN void kvo__warn_of_duplicate(kvo_object *object, const kvo_binding_observer *observer);
/** Reports KVO0019 if there is an equal registration. */
KVO_HIDDEN void kvo__find_duplicate(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                                    const void *context, kvo_place place);

/** kvo_binding_observe_tracked. `is_opaque` is that of kvo_raw_observer. */
KVO_HIDDEN kvo_status kvo__observe_expression(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                              bool is_opaque, kvo_observation *out);

/** Ends an observation that a removal has found by its observer. NOT_REGISTERED, which is no fault, if it has ended. */
KVO_HIDDEN kvo_status kvo__end_named(kvo_observation observation, kvo_place place);

#endif /* KVO_LIFETIMES_LIFETIMES_H */
