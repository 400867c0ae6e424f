/* faults/faults.h - the faults that the runtime raises, one function each. hooks.h describes their parameters. No lock may be held,
 * except where a comment says otherwise. */
#ifndef KVO_FAULTS_H
#define KVO_FAULTS_H

#include "lifetimes/lifetimes.h"

/* ---------------------------------------------------------------------------------------------- lifetime.c -- */

/** KVO0001. */
KVO_HIDDEN void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, kvo_fault_observation *left,
                                       size_t count, kvo_place place);
/** KVO0021. */
KVO_HIDDEN void kvo__fault_overwritten(const kvo_info *info, const kvo_node *node);
/** KVO0008. */
KVO_HIDDEN void kvo__fault_ended_before_change(const kvo_info *info, const kvo_slot *slot, const char *function,
                                               kvo_place place);

/** KVO0008. */
KVO_HIDDEN void kvo__fault_not_created(const kvo_object *object, const char *function, kvo_place place);

/* ------------------------------------------------------------------------------------------ registration.c -- */

/** A refused registration; the status decides which fault it is. */
KVO_HIDDEN void kvo__fault_registration(kvo_status status, const kvo_class *cls, const kvo_object *object,
                                        const char *key_path, const void *observer, kvo_options options,
                                        const void *context, kvo_place place);
/** The same fault for an observation whose key path, since a change, leads to what cannot be observed. */
KVO_HIDDEN void kvo__fault_path_broken(kvo_status status, const kvo_object *object,
                                       const kvo_fault_observation *concerned);
/** KVO0026. */
KVO_HIDDEN void kvo__fault_cannot_set(const kvo_object *target, const char *key,
                                      const kvo_fault_observation *concerned);
/** KVO0008. */
KVO_HIDDEN void kvo__fault_invalid_argument(const char *function, const char *what, kvo_place place);
/** KVO0009. */
KVO_HIDDEN void kvo__fault_no_setter(const kvo_object *object, const char *key, kvo_place place);
/** KVO0026. */
KVO_HIDDEN void kvo__fault_other_form(const kvo_object *object, const kvo_property *property, kvo_form form, char code,
                                      size_t size, kvo_place place);
/** KVO0009. */
KVO_HIDDEN void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot);
/** KVO0011. */
KVO_HIDDEN void kvo__fault_never_notifies(const kvo_object *object, const char *key_path, const char *affected,
                                          kvo_silence silence, kvo_place place);
/** KVO0039. */
KVO_HIDDEN void kvo__fault_self_dependency(const kvo_object *object, const kvo_property *property, const char *path,
                                           kvo_place place);
/** KVO0011. */
KVO_HIDDEN void kvo__fault_cannot_follow(const kvo_fault_observation *concerned);
/** KVO0012. */
KVO_HIDDEN void kvo__fault_unsupported_object(const kvo_object *object, const char *function, const char *key_path,
                                              const char *why, kvo_place place);
/** KVO0019. */
KVO_HIDDEN void kvo__fault_duplicate(const kvo_fault_observation *present, size_t count, bool is_all, kvo_place place);

/* ---------------------------------------------------------------------------- removal.c, unregistered.c -- */

/** KVO0002, KVO0003, KVO0005 or KVO0008. */
KVO_HIDDEN void kvo__fault_ended(kvo_observation observation, kvo_place place);
/** KVO0002 or KVO0003. */
KVO_HIDDEN void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity,
                                          const char *key_path, const void *context, bool match_context,
                                          kvo_place place);
/** KVO0017. */
KVO_HIDDEN void kvo__fault_endless_death(const kvo_info *info, kvo_place place);
/** KVO0016. */
KVO_HIDDEN void kvo__fault_ambiguous(const kvo_fault_observation *candidates, size_t count, kvo_place place);
/** KVO0015. */
KVO_HIDDEN void kvo__fault_unused(const kvo_node *node, kvo_place place);
/** KVO0017: this thread waits for a lock that it holds: a guard, or a lock of the runtime in a signal handler that has interrupted it.
 * Always fatal. In fault.c. */
_Noreturn KVO_HIDDEN void kvo__fault_interrupted(const kvo_lock *lock, bool is_guard);
/** KVO0017. */
KVO_HIDDEN void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited, kvo_place place);

/* ---------------------------------------------------------------------------------------------- delivery.c -- */

/** KVO0024 or KVO0023. */
KVO_HIDDEN void kvo__fault_too_deep(uint32_t depth, const kvo_nesting *nesting, bool by_variable);
/** KVO0024, of bindings. */
KVO_HIDDEN void kvo__fault_unsettled(const kvo_node *const *bindings, size_t count, uint32_t rounds);
/** KVO0025. */
KVO_HIDDEN void kvo__fault_abandoned(const kvo_node *outer, const kvo_node *inner);
/** KVO0028. */
KVO_HIDDEN void kvo__fault_no_will(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                                   kvo_place place);
/** KVO0029. */
KVO_HIDDEN void kvo__fault_unfinished(const kvo_info *info, const kvo_object *object, const char *key,
                                      const kvo_fault_observation *concerned, const char *end,
                                      const kvo_fault_site *will);
/** KVO0030. */
KVO_HIDDEN void kvo__fault_crossed(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                                   const kvo_fault_site *will, kvo_place did);
/** KVO0031. */
KVO_HIDDEN void kvo__fault_doubled(const kvo_info *info, const char *key, const kvo_fault_observation *concerned,
                                   const kvo_fault_site *will);
/** KVO0032. */
KVO_HIDDEN void kvo__fault_silent_change(const kvo_fault_observation *concerned, const kvo_info *holder,
                                         const char *key);
/** KVO0033. */
KVO_HIDDEN void kvo__fault_unordered_indexes(const kvo_object *object, const char *key, size_t position, size_t before,
                                             size_t index, kvo_place place);
/** KVO0033. */
KVO_HIDDEN void kvo__fault_other_indexes(const kvo_object *object, const char *key, const kvo_announced *begun,
                                         const kvo_announced *end, const kvo_fault_site *will, kvo_place place);
/** KVO0009 as a warning. */
KVO_HIDDEN void kvo__warn_of_unknown_key(const kvo_object *object, const char *key, kvo_place place);

/* ------------------------------------------------------------------------------------------------- watch.c, leaks.c -- */

/** KVO0014: `count` observations have not ended; `places` has one of each source location, class and key path, and they are at `lines`
 * source locations. */
KVO_HIDDEN void kvo__fault_never_ended(const kvo_fault_observation *places, size_t place_count, size_t lines,
                                       size_t count);
/** KVO0027. */
KVO_HIDDEN void kvo__fault_slow(const kvo_fault_observation *delivered, uint32_t thread, uint64_t milliseconds);

/** KVO0027, of a set that notifies too many. */
KVO_HIDDEN void kvo__fault_avalanche(const kvo_avalanche *of, const kvo_node *delivered);

/** Reports what is still observed, as KVO0014. At the end of the process. */
KVO_HIDDEN void kvo__tell_leaks(void);
/** KVO0034: a wrong item of an environment variable. */
KVO_HIDDEN void kvo__complain(const char *variable, const char *item, size_t length, const char *problem);
/** How many faults of this severity have been raised in the process. In fault.c. */
KVO_HIDDEN uint64_t kvo__fault_count(kvo_severity severity);
/** KVO0034 for environment variables that look like misspelt settings. */
KVO_HIDDEN void kvo__look_for_misspelt_names(void);

#endif /* KVO_FAULTS_H */
