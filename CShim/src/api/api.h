/* api/api.h - what the files of this room share. Start with c_observer.c. */
#ifndef KVO_API_API_H
#define KVO_API_API_H

#include "lifetimes/lifetimes.h"

/* --------------------------------------------------------------------------------------------------------- bind.c -- */

/** Whether this is an observation that kvo_bind_computed has made with a function or an argument in the module. */
KVO_HIDDEN bool kvo__bind_is_in(const kvo_node *node, const kvo_module_range *module);
/** kvo_hooks.free_observer. */
KVO_HIDDEN void kvo__observer_free(const kvo_observer_ops *its, void *user_data);

/* ---------------------------------------------------------------------------------------------------- unloading.c -- */

/** kvo_hooks.module_is_unused. */
KVO_HIDDEN kvo_status kvo__module_is_unused(const char *function, const void *address);

#endif /* KVO_API_API_H */
