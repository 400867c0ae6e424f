/* registry/registry.h - the header word of an object and what it refers to: info, slots, nodes, ids, values. Start with struct kvo_info,
 * struct kvo_slot and struct kvo_node in nodes.h. The words are explained in the glossary of README.md; in addition:
 *
 * The word is 0 (a binding's object that was not used yet), or a kvo_class *, with KVO_WORD_CREATED if kvo_object_create has made the
 * object, and KVO_WORD_DYING while it is being destroyed, or a kvo_info * with KVO_WORD_INFO. KVO_WORD_OBSERVED on top of KVO_WORD_INFO
 * means that the object's setters notify. The word is the isa.
 *
 * An info is made at the first observation of an object. It is freed after the object's death, when its last reader has left and its last
 * node is unlinked; so a setter may use the info for as long as it may use the object.
 *
 * A node is of one of these kinds:
 *   DIRECT      an observation of one key
 *   PAUSED      a DIRECT one that is paused: a change makes it MISSED instead of notifying it
 *   MISSED      a DIRECT one that is paused and has missed a change
 *   ANCHOR      an observation of an expression, in the slot of key 0 of its root object
 *   DEATH       not an observation: a function that a binding wants called at the object's death, in the slot of KVO_KEY_DEATH
 *   DEPENDENCY  a key that an expression has read; a change of it evaluates the expression
 *   LEAF        a dependency while the expression's value is just that key's value: it is notified like a DIRECT one, without evaluation
 *   SUBJECT     a dependency while the elements of the expression's value are those of that key's value: indexed changes are passed on,
 *               a set evaluates the expression
 *
 * Readers use nodes without the lock. A node is freed when all readers that could see it have left: two epochs, as in SRCU, except that the
 * last reader frees the nodes instead of the writer waiting.
 *
 * Locks, in the order in which they may nest: tracked->lock, info->lock; the lock of the list of threads inside either. None is held while
 * code of the program runs. */
#ifndef KVO_REGISTRY_H
#define KVO_REGISTRY_H

#include "platform/modules.h"
#include "registry/closures.h"
#include "registry/nodes.h"
#include "registry/readers.h"
#include "registry/slot_index.h"
#include "registry/values.h"

/* ------------------------------------------------------------------------------------------------------- node.c -- */

/** All options that are defined. */
#define KVO_KNOWN_OPTIONS ((unsigned)(KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT))
/** Makes a node for an observation, with its own copies of strings, to be linked under `key`. NULL without memory. */
KVO_HIDDEN kvo_node *kvo__node_make(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                    kvo_node_kind kind);
/** Links a node that has an id. On failure the node is freed and its user data is untouched. Once linked, another thread may remove
 * the node at any time, unless the caller is a reader of its info. */
KVO_HIDDEN kvo_status kvo__node_register(kvo_object *object, kvo_node *node, kvo_key key, kvo_observation *out);
/** The details of a node, or NULL. */
KVO_HIDDEN kvo_node_details *kvo__node_details(const kvo_node *node);
/** The node that has these details. */
KVO_HIDDEN kvo_node *kvo__details_node(const kvo_node_details *details);
/** The hash of a node's key path. */
KVO_HIDDEN kvo_key kvo__node_path(const kvo_node *node);
/** The key path of the registration, or the name of the property that it observes. */
KVO_HIDDEN const char *kvo__node_key_path(const kvo_node *node);
/** Sets and returns whether an observation, given by its own node, has been notified of a change. Set only while a tap is set, such as
 * KVO_TAP_USE. */
KVO_HIDDEN void kvo__node_set_notified(const kvo_node *node, bool notified);
KVO_HIDDEN bool kvo__node_was_notified(const kvo_node *node);
/** Compares pointers to nodes for qsort(3): oldest first. */
KVO_HIDDEN int kvo__node_by_order(const void *left, const void *right);

/* -------------------------------------------------------------------------------------------------------- object.c -- */

/** Finalizes and frees an object of kvo_object_create whose observations have ended. */
KVO_HIDDEN void kvo__object_free(kvo_object *object);
/** Sets the text of kvo_last_error for a function that has failed with a key or key path of an object, and returns the status; KVO_OK is no
 * failure. */
KVO_HIDDEN kvo_status kvo__result(kvo_status status, const char *function, const kvo_object *object,
                                  const char *key_path);
/** The same, but if there was an error since `errors` were counted (kvo__error_count), its text is the reason. */
KVO_HIDDEN kvo_status kvo__explain(kvo_status status, uint32_t errors, const char *function, const kvo_object *object,
                                   const char *key_path);

/* ----------------------------------------------------------------------------------------------------------- ids.c -- */

/** Makes an empty node that has an id, which names nothing until it is published; NULL without memory. */
KVO_HIDDEN kvo_node *kvo__node_new(bool is_detailed);
/** Frees the memory of such a node, and nothing else. */
KVO_HIDDEN void kvo__node_drop(kvo_node *node);
/** Publishes the id of a node: kvo__id_claim finds it from now on. The node's info is locked, and the node is about to be linked. */
KVO_HIDDEN void kvo__id_publish(const kvo_node *node);
/** Takes the node of an id; of several callers one gets it, and only that one may retire the node. It must do that next, because the
 * unretired node keeps its info alive. NULL if the id names no node. */
KVO_HIDDEN kvo_node *kvo__id_claim(kvo_observation id);
/** Calls `visit` with the node of an id, which nobody can claim until it returns; false if the id names no node. It runs in a section with
 * a lock held: `visit` may enter the node's info as a reader, or take a lock within which nothing else is taken. */
KVO_HIDDEN bool kvo__id_look_up(kvo_observation id, void (*visit)(kvo_node *node, void *arg), void *arg);
/** Whether this has ever been the id of an observation. */
KVO_HIDDEN bool kvo__id_was_given(kvo_observation id);
/** Calls `visit` for each node with an id, in no particular order: up to KVO_NODE_ANCHOR those of observations, up to KVO_NODE_DEATH also
 * those that watch a death. The world must be stopped (kvo__world_stop). */
KVO_HIDDEN void kvo__ids_visit(kvo_node_kind last, void (*visit)(kvo_node *node, void *arg), void *arg);
/** The same for the nodes that have ended, but which a change in progress keeps, or whose `destroy` is running: nothing is valid but the
 * node itself, and the user data of an observation of C or of a binding. */
KVO_HIDDEN void kvo__ids_visit_ended(void (*visit)(kvo_node *node, void *arg), void *arg);
/** Destroys the user data of an observation that has ended, or of one that watches a death, with the ops that it has. */
KVO_HIDDEN void kvo__node_destroy(kvo_node *node, const kvo_observer_ops *ops, void *user_data);
/** Says that the user data of an ended node has been destroyed: kvo__ids_visit_ended visits it no more. */
KVO_HIDDEN void kvo__id_let_go(const kvo_node *node);
/** Gives back the free nodes that a thread has kept, at the end of the thread. */
KVO_HIDDEN void kvo__ids_thread_end(kvo_thread *thread);

/* ---------------------------------------------------------------------------------------------------------- ends.c -- */

/** Says that it is the object's death that ends an observation. Its node has been claimed. */
KVO_HIDDEN void kvo__end_is_death(kvo_observation id);
/** Calls the functions given to kvo_observation_on_end. The observation's user data has been destroyed; no lock may be held. */
KVO_HIDDEN void kvo__end_tell(kvo_observation id);
/** An observation for whose end a function is to be called that is in the module, or whose argument is; 0 if there is none. */
KVO_HIDDEN kvo_observation kvo__end_in(const kvo_module_range *module);

/* -------------------------------------------------------------------------------------------------- unobserved.c -- */

/** Notes a will that no observer is to be notified of, so that its did on this thread is no misuse. If it `tells`, key paths that are led
 * to the object until then are told: nobody observed the key, but the change was not silenced or refused. */
KVO_HIDDEN void kvo__unobserved_will(const kvo_object *object, kvo_key key, bool tells);
/** Whether this thread has an open will of this key that nobody observed. */
KVO_HIDDEN bool kvo__unobserved_is_open(const kvo_object *object, kvo_key key);
/** The same, or true if such a will was forgotten, because there were too many. */
KVO_HIDDEN bool kvo__unobserved_may_be_open(const kvo_object *object, kvo_key key);
/** Ends the newest such will, or one that was forgotten; false if there is none. `*registered` is what the will has noted, or 0. */
KVO_HIDDEN bool kvo__unobserved_did(const kvo_object *object, kvo_key key, uint64_t *registered);
/** Forgets the open wills of an object, at its death. */
KVO_HIDDEN void kvo__unobserved_forget(const kvo_object *object);

/* -------------------------------------------------------------------------------------------------------- silent.c -- */

/** Begin and end a change of this thread that a scope silences, at whose end the expressions that depend on the key are evaluated. The end
 * may run code of the program. */
KVO_HIDDEN void kvo__silent_begin(kvo_info *info, kvo_key key);
KVO_HIDDEN void kvo__silent_end(const kvo_info *info, kvo_key key);
/** Whether this thread is in such a change of this key. */
KVO_HIDDEN bool kvo__silent_is_open(const kvo_info *info, kvo_key key);
/** Ends the changes that began in a scope of this thread, at the scope's end. */
KVO_HIDDEN void kvo__silent_scope_ends(const kvo_open_scope *scope);

#endif /* KVO_REGISTRY_H */
