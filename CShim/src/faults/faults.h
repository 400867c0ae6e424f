/* faults/faults.h - the faults that the runtime raises, one function each, as hooks.h describes them. */
#ifndef KVO_FAULTS_H
#define KVO_FAULTS_H

#include "lifetimes/lifetimes.h"

/* ---------------------------------------------------------------------------------------------- lifetime.c -- */

/** KVO0001. No lock may be held. */
KVO_HIDDEN void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, kvo_fault_observation *left,
                                       size_t count, kvo_place place);
/** KVO0021: the header holds `word`, as the last observation ends. */
KVO_HIDDEN void kvo__fault_overwritten(const kvo_info *info, const kvo_node *node);
/** KVO0008: a callback before a change ends the object that changes. */
KVO_HIDDEN void kvo__fault_ended_before_change(const kvo_info *info, const kvo_slot *slot, const char *function,
                                               kvo_place place);

/* ------------------------------------------------------------------------------------------ registration.c -- */

/** A registration that is refused: which fault it is follows from the status. */
KVO_HIDDEN void kvo__fault_registration(kvo_status status, const kvo_class *cls, const kvo_object *object,
                                        const char *key_path, const void *observer, kvo_options options,
                                        const void *context, kvo_place place);
/** KVO0008: an argument of a function of the API. */
KVO_HIDDEN void kvo__fault_invalid_argument(const char *function, const char *what, kvo_place place);
/** KVO0009: a set of a key that has no setter. */
KVO_HIDDEN void kvo__fault_no_setter(const kvo_object *object, const char *key, kvo_place place);
/** KVO0026: the property's setter takes values of another form or size. */
KVO_HIDDEN void kvo__fault_other_form(const kvo_object *object, const kvo_property *property, kvo_form form,
                                      size_t size, kvo_place place);
/** KVO0009: a value is wanted of a key that the class does not have. */
KVO_HIDDEN void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot);
/** KVO0011: an observation that nothing tells; a warning if its changes may be announced by hand. */
KVO_HIDDEN void kvo__fault_never_notifies(const kvo_object *object, const char *key_path, kvo_silence silence,
                                          kvo_place place);
/** KVO0011: an expression that could not be armed anew after a change, for want of memory. */
KVO_HIDDEN void kvo__fault_cannot_follow(const kvo_fault_observation *concerned);
/** KVO0012: `key_path` is that of an observation, or NULL; `why` is NULL when the header tells. */
KVO_HIDDEN void kvo__fault_unsupported_object(const kvo_object *object, const char *function, const char *key_path,
                                              const char *why, kvo_place place);
/** KVO0019: what is registered already. */
KVO_HIDDEN void kvo__fault_duplicate(const kvo_fault_observation *present, kvo_place place);

/* ---------------------------------------------------------------------------- removal.c, unregistered.c -- */

/** An id that is not registered: KVO0002, KVO0003, KVO0005 or KVO0008. */
KVO_HIDDEN void kvo__fault_ended(kvo_observation observation, kvo_place place);
/** KVO0002 or KVO0003, for an observer and a key path. */
KVO_HIDDEN void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity,
                                          const char *key_path, const void *context, bool match_context,
                                          kvo_place place);
/** KVO0017: the death of an object whose evaluation on another thread waits for this one. */
KVO_HIDDEN void kvo__fault_endless_death(const kvo_info *info, kvo_place place);
/** KVO0016: a removal that fits several, the first of which is taken. */
KVO_HIDDEN void kvo__fault_ambiguous(const kvo_fault_observation *candidates, size_t count, kvo_place place);
/** KVO0015: it ends, its node is still there, and it was told of no change. */
KVO_HIDDEN void kvo__fault_unused(const kvo_node *node, kvo_place place);
/** KVO0017, fatal whatever the policy: this thread waits for a lock that it holds, so a signal handler has interrupted it in there and
 * calls the runtime. In fault.c. */
_Noreturn KVO_HIDDEN void kvo__fault_interrupted(const kvo_lock *lock);
/** KVO0017. */
KVO_HIDDEN void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited, kvo_place place);

/* ---------------------------------------------------------------------------------------------- delivery.c -- */

/** A limit is reached, of the variable or of the stack: KVO0024 for a circle of several whose values repeat, otherwise KVO0023. */
KVO_HIDDEN void kvo__fault_too_deep(uint32_t depth, const kvo_nesting *nesting, bool by_variable);
/** KVO0025: the callback of this node, or, if NULL, a getter in an evaluation. */
KVO_HIDDEN void kvo__fault_abandoned(const kvo_node *node);
/** KVO0028. `concerned` here and below is one of those who observe the key, or NULL. */
KVO_HIDDEN void kvo__fault_no_will(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                                   kvo_place place);
/** KVO0029: `end` says why there can be no did any more. */
KVO_HIDDEN void kvo__fault_unfinished(const kvo_info *info, const kvo_object *object, const char *key,
                                      const kvo_fault_observation *concerned, const char *end,
                                      const kvo_fault_site *will);
/** KVO0030: will was called elsewhere, on another thread. */
KVO_HIDDEN void kvo__fault_crossed(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                                   const kvo_fault_site *will, kvo_place did);
/** KVO0031: will was called there. */
KVO_HIDDEN void kvo__fault_doubled(const kvo_info *info, const char *key, const kvo_fault_observation *concerned,
                                   const kvo_fault_site *will);
/** KVO0032: the object at a key of an observed path is another than the one that was observed there. */
KVO_HIDDEN void kvo__fault_silent_change(const kvo_fault_observation *concerned, const kvo_info *holder,
                                         const char *key);
/** KVO0033: positions that do not rise. */
KVO_HIDDEN void kvo__fault_unordered_indexes(const kvo_object *object, const char *key, size_t position, size_t before,
                                             size_t index, kvo_place place);
/** KVO0033: did says something else than will, which holds. */
KVO_HIDDEN void kvo__fault_other_indexes(const kvo_object *object, const char *key, const kvo_announced *begun,
                                         const kvo_announced *end, const kvo_fault_site *will, kvo_place place);
/** KVO0009 as a warning: a change is announced of a key that nobody observes and the class does not have, but a similar one. */
KVO_HIDDEN void kvo__warn_of_unknown_key(const kvo_object *object, const char *key, kvo_place place);

/* ------------------------------------------------------------------------------------------------- watch.c, leaks.c -- */

/** KVO0014: so many observations, of which these are one of each place. */
KVO_HIDDEN void kvo__fault_never_ended(const kvo_fault_observation *places, size_t place_count, size_t count);
/** KVO0027: a delivery on that thread, still in progress. */
KVO_HIDDEN void kvo__fault_slow(const kvo_fault_observation *delivered, uint32_t thread, uint64_t milliseconds);

/** Tells what is still observed, as KVO0014. At the end of the process; no lock may be held. */
KVO_HIDDEN void kvo__tell_leaks(void);
/** KVO0034. Looks for variables that are probably meant to be ours. */
KVO_HIDDEN void kvo__complain(const char *variable, const char *item, size_t length, const char *problem);
KVO_HIDDEN void kvo__look_for_misspelt_names(void);

#endif /* KVO_FAULTS_H */
