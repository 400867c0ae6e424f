/* registry/registry.h - the header word of an object and what it refers to: info, slots, nodes, ids, values. Start with struct kvo_info,
 * struct kvo_slot and struct kvo_node. The words are explained in the glossary of README.md; in addition:
 *
 * The word is 0 (a binding's object that was not used yet), or a kvo_class *, with KVO_WORD_DYING while the object is being destroyed, or a
 * kvo_info * with KVO_WORD_INFO. KVO_WORD_OBSERVED on top of KVO_WORD_INFO means that the object's setters notify. The word is the isa.
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

#include "classes/classes.h"
#include "registry/places.h"

/* ----------------------------------------------------------------------------------------------------- object.c -- */

typedef enum kvo_node_kind {
  KVO_NODE_DIRECT,
  KVO_NODE_PAUSED,
  KVO_NODE_MISSED,
  KVO_NODE_ANCHOR,
  KVO_NODE_DEATH,
  KVO_NODE_DEPENDENCY,
  KVO_NODE_LEAF,
  KVO_NODE_SUBJECT
} kvo_node_kind;

/* Keep these small: each observed object has one slot in its info, and each observation has a node. */
struct kvo_slot {
  kvo_key key;
  /** Set once under info->lock. Slots are never removed while the info lives. */
  kvo_slot *_Atomic next;
  /** The ends of the list of nodes. Written under info->lock, read by readers without it. */
  kvo_node *_Atomic oldest;
  kvo_node *_Atomic newest;
  /** The index of the key's property in the class, or KVO_NO_PROPERTY for an undefined key. Constant. */
  uint16_t index;
  /** How many nodes want the old value, the new value, and a will phase; from KVO_MANY on not counted. Under info->lock. */
  uint8_t wanting_old, wanting_new, wanting_will;
  /** A summary of these, KVO_FRAME_… bits and KVO_SLOT_MANUAL, which changes read without the lock. Written under info->lock. */
  _Atomic uint8_t wants;
  /** Setters of the key do not notify (KVO_PROPERTY_MANUAL). Constant. */
  bool manual : 1;
  /** This is the slot inside its info; any other is a kvo_later_slot. Constant. */
  bool is_first : 1;
  /** This is not a slot but the kvo_slot_index of the slot before it, and has the same key. Constant. */
  bool is_index : 1;
};

/** A bit of kvo_slot.wants: the slot is observed, and its setters do not notify. */
#define KVO_SLOT_MANUAL 0x80u

/** From this count on counting stops: the slot counts as wanting until its last node is removed. */
#define KVO_MANY UINT8_MAX

struct kvo_node {
  /** Written under info->lock, read by readers without it. Kept after unlinking, so that a reader at this node can go on. */
  kvo_node *_Atomic older;
  kvo_node *_Atomic newer;
  /** NULL until the node is linked. */
  kvo_slot *_Atomic slot;
  /** The node's number among all nodes that were ever linked: a change notifies only nodes that were linked before it. After unlinking,
   * when `live` is false, it holds the address of the next garbage node, and in bit 0 the epoch in which this one was unlinked. */
  _Atomic uint64_t birth;
  /** The observer's functions; NULL for a DEPENDENCY and a LEAF. With KVO_NODE_IS_CLOSURE, the function that delivers to a Swift
   * closure, and that closure's function: see kvo__call_function. */
  union {
    const kvo_observer_ops *ops;
    kvo_raw_callback deliver;
  };
  kvo_raw_callback closure;
  /** The argument of the ops, or the closure's context; for an ANCHOR, a DEPENDENCY and a LEAF the kvo_tracked, to which each of them holds
   * a reference. */
  void *user_data;
  /** 0 for a DEPENDENCY and a LEAF. */
  kvo_observation id;
  /** Where it was registered. */
  kvo_site site;
  union {
    struct {
      /** The options of the registration, and KVO_NODE_HAS_DETAILS and KVO_NODE_IS_CLOSURE. */
      uint16_t options;
      /** False once the node's id has been claimed, or the node has been taken out of tracked->dependencies. The thread that did it unlinks
       * the node. */
      _Atomic bool live;
      /** A kvo_node_kind. It changes under info->lock: a DEPENDENCY becomes a LEAF, and the reverse, as do a DIRECT and a PAUSED one. A
       * PAUSED one becomes MISSED without the lock. */
      _Atomic uint8_t kind;
    };
    /** These three in one load; see kvo_traits. */
    _Atomic uint32_t traits;
  };
};

/** The traits of a node, as a value. */
typedef union kvo_traits {
  struct {
    uint16_t options;
    bool live;
    uint8_t kind;
  };
  uint32_t all;
} kvo_traits;

/** A kvo_node_details follows the node in its block. */
#define KVO_NODE_HAS_DETAILS 0x8000u
/** The observer is a Swift closure, which the runtime calls itself. */
#define KVO_NODE_IS_CLOSURE 0x4000u
/** It is the observation of a receiver, which removal by observer and key path does not find: kvo_binding_observer.is_receiver. */
#define KVO_NODE_OF_RECEIVER 0x2000u

/** What a node has in addition, unless a binding's token registered it for a declared key. */
typedef struct kvo_node_details {
  /** The key path of the registration; NULL if it is the name of the slot's property. */
  const char *key_path;
  void *context;
  const void *address;
  const char *class_name;
  /** What the binding has to say about it, or NULL. */
  const char *note;
  /** Its entries in the indexes of its slot, if the slot has any; under info->lock. */
  kvo_index_entry by_observer, by_context;
  /** How many return addresses follow this struct (KVO_STACKS). */
  uint32_t frame_count;
  /** It has been notified of a change. Recorded only while a tap is set, such as KVO_TAP_USE. */
  _Atomic bool notified;
} kvo_node_details;

/** A node of an observed expression, in the slot of a key that the expression has read. */
typedef struct kvo_dependency {
  kvo_node node;
  /** Its entry in the index of its slot, if there is one; under info->lock. */
  kvo_index_entry entry;
  /** The birth of the expression's anchor: in each slot, a dependency is ordered by when its observation was registered. */
  uint64_t order;
  /** Neighbours in tracked->dependencies, under tracked->lock. In a list of dependencies that were taken out, only `from` is used. */
  struct kvo_dependency *to, *from;
  /** The newest evaluation that read the key. Under tracked->lock. */
  uint64_t generation;
  /** The last evaluation that recorded the declared dependencies of the key. Under tracked->lock. */
  uint64_t declared_in;
  /** The object that the newest evaluation read next, if it read this key once. Only compared, never dereferenced. Under tracked->lock. */
  const kvo_object *successor;
  /** It is in tracked->dependencies. Under tracked->lock. */
  bool chained;
} kvo_dependency;

/** The node is the first member of a kvo_dependency, and every DEPENDENCY and LEAF is one. */
static inline kvo_dependency *kvo__dependency(const kvo_node *node) { return (kvo_dependency *)(uintptr_t)node; }

/** The bits of kvo_info.state: the count of readers that entered in this epoch, the count of those of the previous epoch, the parity of the
 * epoch, and three flags. */
#define KVO_STATE_READER UINT64_C(1)
#define KVO_STATE_EARLIER_READER (UINT64_C(1) << 30)
#define KVO_STATE_READERS (KVO_STATE_EARLIER_READER - 1)
#define KVO_STATE_EARLIER_READERS (KVO_STATE_READERS << 30)
#define KVO_STATE_EPOCH (UINT64_C(1) << 60)
#define KVO_STATE_DEAD (UINT64_C(1) << 61)
#define KVO_STATE_GARBAGE (UINT64_C(1) << 62)
/** The log of ended observations has entries of this object. */
#define KVO_STATE_REMEMBERED (UINT64_C(1) << 63)

struct kvo_info {
  kvo_object *object;
  kvo_class *cls;
  /** Counts and flags share one word, so that entering is one addition, and leaving sees the flags that it has to act on. */
  _Atomic uint64_t state;
  /** Which threads' changes protect the nodes by their marks instead of counting themselves: one thread's, KVO_READ_BY_ALL,
   * KVO_READ_COUNTED, or NULL before the first change. See kvo__read_by_marks. */
  const void *_Atomic reader;
  /** The birth of the newest node that is linked and counted in its slot's `wants`. */
  _Atomic uint64_t births;
  kvo_lock lock;
  /** The number of linked nodes; under info->lock. */
  uint32_t node_count;
  /** The node that was unlinked last; under info->lock. */
  kvo_node *garbage;
  /** The first slot is part of the info, because most objects are observed by one key. */
  kvo_slot first;
};

typedef struct kvo_later_slot {
  kvo_slot slot;
  kvo_info *info;
  /** A binary tree of the later slots by key, with the second slot of the info at its root. Keys are hashes, so the tree stays shallow.
   * Written under info->lock; slots stay as long as the info. */
  struct kvo_later_slot *_Atomic less, *_Atomic greater;
  /** In the second slot only: the newest slot. Under info->lock. */
  kvo_slot *newest_slot;
} kvo_later_slot;

/** The slot of KVO_KEY_DEATH, never the first of an info. Its nodes do not make the object an observed one. */
typedef struct kvo_death_slot {
  kvo_later_slot later;
  /** The number of its nodes; under info->lock. */
  uint32_t count;
} kvo_death_slot;

/** The second slot of an info, the root of the tree; or NULL. */
static inline kvo_later_slot *kvo__second_slot(kvo_info *info) {
  kvo_slot *second = atomic_load_explicit(&info->first.next, memory_order_acquire);
  if (second != NULL && second->is_index) second = atomic_load_explicit(&second->next, memory_order_acquire);
  return (kvo_later_slot *)(void *)second;
}

/* Follows a slot whose list was once found to be long, and stays from then on. Under info->lock. */
typedef struct kvo_slot_index {
  kvo_later_slot later;
  /** The dependencies by order; the observations' own nodes that have details, by observer and key path; and the same nodes by observer,
   * key path and context. An index without a key_of has not been made yet. */
  kvo_index by_order, by_observer, by_context;
} kvo_slot_index;

static inline kvo_info *kvo__slot_info(kvo_slot *slot) {
  return slot->is_first ? (kvo_info *)(void *)((char *)slot - offsetof(kvo_info, first))
                        : ((kvo_later_slot *)(void *)slot)->info;
}

/** The binding's object that the info's object is the header of. */
static inline void *kvo__info_instance(const kvo_info *info) { return (char *)info->object - info->cls->header_offset; }

/** The property that the slot's key names, or NULL for an undefined key. */
static inline const kvo_property *kvo__slot_property(const kvo_info *info, const kvo_slot *slot) {
  return slot->index != KVO_NO_PROPERTY ? info->cls->properties[slot->index] : NULL;
}

_Static_assert(sizeof(void *) != 8 || (sizeof(kvo_info) == 96 && sizeof(kvo_node) == 72),
               "an observed object and an observation of it have grown");

/** Whether this is an object, as far as can be told without following an invalid pointer: its header names a registered class, or is an
 * info of this object. True for an object that is being destroyed. */
KVO_HIDDEN bool kvo__is_object(const kvo_object *object);

#define KVO_WORD_OBSERVED ((uintptr_t)1)
#define KVO_WORD_INFO ((uintptr_t)2)
/** On top of a kvo_class *: the object is being destroyed and takes no observers. */
#define KVO_WORD_DYING ((uintptr_t)4)
#define KVO_WORD_TAGS ((uintptr_t)7)

static inline uintptr_t kvo__word(const kvo_object *object) {
  return __atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE);
}

KVO_HIDDEN void kvo__set_word(kvo_object *object, uintptr_t word);

static inline kvo_info *kvo__word_info(uintptr_t word) {
  return (word & KVO_WORD_INFO) != 0 ? (kvo_info *)(word & ~KVO_WORD_TAGS) : NULL;
}

/** The info of an object. Makes it, with a first slot for `key`, if there is none. NULL if there is no memory for it or for the trampolines
 * of its class, if the object is being destroyed, or if it has no class (see *status). */
KVO_HIDDEN kvo_info *kvo__info_ensure(kvo_object *object, kvo_key key, kvo_status *status);
/** Records the address of a new info for kvo__info_is_likely. */
KVO_HIDDEN void kvo__info_note(const kvo_info *info);
/** Whether an address may be that of an info. If false, nothing may be read there. If true, the address is in the range of addresses that
 * infos have had. */
KVO_HIDDEN bool kvo__info_is_likely(const kvo_info *info);
static inline kvo_slot *kvo__slot_find(kvo_info *info, kvo_key key) {
  if (info->first.key == key) return &info->first;
  kvo_later_slot *at = kvo__second_slot(info);
  while (at != NULL && at->slot.key != key)
    at = atomic_load_explicit(key < at->slot.key ? &at->less : &at->greater, memory_order_acquire);
  return at != NULL ? &at->slot : NULL;
}
/** The birth of the newest node in the process. */
extern KVO_HIDDEN _Atomic uint64_t kvo__births;
/** Links a node into the slot of its key. On KVO_ERROR_OUT_OF_MEMORY and KVO_ERROR_DYING_OBJECT it is not linked. */
KVO_HIDDEN kvo_status kvo__node_link(kvo_info *info, kvo_node *node, kvo_key key);
/** The number of nodes that need the object's setters: all but those of the death slot. info->lock is held. */
KVO_HIDDEN size_t kvo__observed_by(kvo_info *info);
/** The newest node of a slot whose order is at most `order`, or NULL. info->lock is held. */
KVO_HIDDEN kvo_node *kvo__slot_place(kvo_info *info, kvo_slot *slot, uint64_t order);
/** The observer, key path and context to search for. */
typedef struct kvo_wanted {
  const void *address;
  const char *key_path;
  const void *context;
  bool match_context;
} kvo_wanted;
/** Calls `visit` for the own nodes of a slot that may match, newest first, until it returns false. `visit` has to compare them itself.
 * info->lock is held. */
KVO_HIDDEN void kvo__slot_visit(kvo_info *info, kvo_slot *slot, const kvo_wanted *what,
                                bool (*visit)(kvo_node *node, void *arg), void *arg);
/** Makes a linked DEPENDENCY a LEAF, or the reverse. */
KVO_HIDDEN void kvo__node_turn(kvo_info *info, kvo_node *node, kvo_node_kind kind);
/** Unlinks a node that the caller has claimed, and frees it when no reader can see it any more. No lock may be held. */
KVO_HIDDEN void kvo__node_retire(kvo_info *info, kvo_node *node);
/** Frees a node that was never linked, or that no reader can see, and destroys its user data. */
KVO_HIDDEN void kvo__node_free(kvo_node *node);

static inline kvo_node_kind kvo__node_kind(const kvo_node *node) {
  return (kvo_node_kind)atomic_load_explicit(&node->kind, memory_order_relaxed);
}

static inline bool kvo__is_paused(kvo_node_kind kind) { return kind == KVO_NODE_PAUSED || kind == KVO_NODE_MISSED; }
/** Whether it is the kind of an observation of one key, paused or not. */
static inline bool kvo__is_direct(kvo_node_kind kind) { return kind <= KVO_NODE_MISSED; }

/** Whether the node is paused; it then notes that it has missed a change. */
static inline bool kvo__node_misses(kvo_node *node) {
  uint8_t kind = atomic_load(&node->kind);
  while (kind == KVO_NODE_PAUSED)
    if (atomic_compare_exchange_weak(&node->kind, &kind, KVO_NODE_MISSED)) return true;
  return kind == KVO_NODE_MISSED;
}

/** Whether the node is an observation's own. */
static inline bool kvo__node_is_own(const kvo_node *node) { return kvo__node_kind(node) <= KVO_NODE_ANCHOR; }

/** Whether the node is a key that an expression has read. */
static inline bool kvo__node_is_dependency(const kvo_node *node) { return kvo__node_kind(node) >= KVO_NODE_DEPENDENCY; }

/** The position of a node in its slot. */
static inline uint64_t kvo__node_order(const kvo_node *node) {
  return kvo__node_is_dependency(node) ? kvo__dependency(node)->order
                                       : atomic_load_explicit(&node->birth, memory_order_relaxed);
}

/** Registers the caller as a reader. Returns what to pass to kvo__leave. */
static inline uint64_t kvo__enter(kvo_info *info) {
  return atomic_fetch_add(&info->state, KVO_STATE_READER) + KVO_STATE_READER;
}
/** The unit by which the present state counts a reader: if the epoch has turned since it entered, the earlier readers' count. */
static inline uint64_t kvo__reader_of(uint64_t entered, uint64_t state) {
  return ((entered ^ state) & KVO_STATE_EPOCH) == 0 ? KVO_STATE_READER : KVO_STATE_EARLIER_READER;
}
KVO_HIDDEN void kvo__leave_slowly(kvo_info *info, uint64_t entered);

/** Values of kvo_info.reader: the changes of all threads protect the nodes by their marks, or none does. */
#define KVO_READ_BY_ALL ((const void *)1)
#define KVO_READ_COUNTED ((const void *)2)

/** Whether a change of this thread may protect the nodes by its mark. A change tests this before it makes the mark, and again after. */
static inline bool kvo__reads_by_marks(const void *reader, const kvo_thread *self) {
  return reader == self || reader == KVO_READ_BY_ALL;
}
/** Makes this thread one whose changes protect the nodes by their marks. False if this change has to be counted. */
KVO_HIDDEN bool kvo__read_by_marks(kvo_info *info, kvo_thread *self);
/** Counts the changes in progress that protect the nodes by their marks, and, if other threads make such changes, has later changes
 * counted as well. Returns whether there was one. Call it after an atomic exchange that follows the stores which later changes must see.
 * info->lock is held. */
KVO_HIDDEN bool kvo__count_readers(kvo_info *info);
/** Ends the mark at this depth, which protects the nodes of the info. May free nodes and, after the object's death, the info. No lock may
 * be held. */
KVO_HIDDEN void kvo__stop_reading_slowly(kvo_info *info, uint32_t depth);
/** The same for a mark that has just ended. */
KVO_HIDDEN void kvo__stopped_reading(kvo_info *info, kvo_mark *mark);
static inline void kvo__stop_reading(kvo_thread *self, kvo_info *info, uint32_t depth) {
  uint32_t above = depth + 1;
  if (__builtin_expect(above > self->limit || atomic_load_explicit(&self->depth, memory_order_relaxed) != above,
                       false)) {
    kvo__stop_reading_slowly(info, depth);
    return;
  }
  kvo_mark *mark = &atomic_load_explicit(&self->marks, memory_order_relaxed)[depth];
  atomic_store_explicit(&self->depth, depth, memory_order_release);
  atomic_signal_fence(memory_order_seq_cst); /* as in kvo__publish; what follows stands for its exchange */
  bool is_noticed = kvo__attended() != 0 || atomic_load(&mark->entered) != 0;
  if (__builtin_expect(is_noticed, false)) kvo__stopped_reading(info, mark);
}
/** May free nodes and, after the object's death, the info. No lock may be held. */
static inline void kvo__leave(kvo_info *info, uint64_t entered) {
  uint64_t state = entered; /* a guess: usually nothing has changed since */
  while ((state & (KVO_STATE_GARBAGE | KVO_STATE_DEAD)) == 0)
    if (atomic_compare_exchange_weak(&info->state, &state, state - kvo__reader_of(entered, state))) return;
  kvo__leave_slowly(info, entered);
}

/* ---------------------------------------------------------------------------------------------------- Swift closures -- */

/** Whether the compiler knows Swift's calling convention, so that the runtime can call closures itself. A closure is passed as two
 * arguments, its function and its context. */
#define KVO_CALLS_CLOSURES 0
#if defined(__has_attribute)
#if __has_attribute(swiftcall)
#undef KVO_CALLS_CLOSURES
#define KVO_CALLS_CLOSURES 1
typedef
    __attribute__((swiftcall)) void (*kvo_deliver)(const kvo_raw_change *change, kvo_raw_callback closure,
                                                   void *closure_context, __attribute__((swift_context)) void *context);
#endif
#endif

/** The ops of all closures. */
extern KVO_HIDDEN const kvo_observer_ops *_Atomic kvo__closure_ops;

static inline bool kvo__is_closure(const kvo_node *node) { return (node->options & KVO_NODE_IS_CLOSURE) != 0; }

/** The ops of a node of kind DIRECT. */
static inline const kvo_observer_ops *kvo__direct_ops(const kvo_node *node) {
  return kvo__is_closure(node) ? atomic_load_explicit(&kvo__closure_ops, memory_order_acquire) : node->ops;
}

/** Delivers to the closure of a node that has one. A function that captures nothing ignores its own context, and one that has a context
 * ignores the closure: see kvo_binding_observer. */
static inline void kvo__call_function(const kvo_raw_change *change, const kvo_node *node) {
#if KVO_CALLS_CLOSURES
  ((kvo_deliver)(void *)node->deliver)(change, node->closure, node->user_data, node->user_data);
#else
  (void)change, (void)node; /* Swift's compiler, which makes closures, compiles this file as well */
#endif
}

/** Calls the observer of a node of kind DIRECT. */
static inline void kvo__call_node(const kvo_raw_change *change, const kvo_node *node) {
  if (__builtin_expect(KVO_CALLS_CLOSURES && kvo__is_closure(node), KVO_CALLS_CLOSURES))
    kvo__call_function(change, node);
  else
    node->ops->callback(change, node->user_data);
}

/** A callback and its argument that do what kvo__call_node does. */
KVO_HIDDEN void kvo__call_closure(const kvo_raw_change *change, void *node);
static inline kvo_raw_callback kvo__direct_callback(const kvo_node *node) {
  return kvo__is_closure(node) ? kvo__call_closure : node->ops->callback;
}
static inline void *kvo__direct_argument(const kvo_node *node) {
  return kvo__is_closure(node) ? (void *)(uintptr_t)node : node->user_data;
}

/* ------------------------------------------------------------------------------------------------------- node.c -- */

/** All options that are defined. */
#define KVO_KNOWN_OPTIONS ((unsigned)(KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT))
/** Makes a node for an observation, with its own copies of strings, to be linked under `key`. NULL without memory. */
KVO_HIDDEN kvo_node *kvo__node_make(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                    kvo_node_kind kind);
/** Gives a node its id and links it. On failure the node is freed and its user data is untouched. Once linked, another thread may remove
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

/* ----------------------------------------------------------------------------------------------------------- ids.c -- */

/** Gives a node an id, which names nothing until it is published; 0 without memory. */
KVO_HIDDEN kvo_observation kvo__id_assign(kvo_node *node);
/** Publishes the id of a node: kvo__id_claim finds it from now on. The node's info is locked, and the node is about to be linked. */
KVO_HIDDEN void kvo__id_publish(const kvo_node *node);
/** Returns the id of a node that could not be linked. */
KVO_HIDDEN void kvo__id_return(const kvo_node *node);
/** Takes the node of an id; of several callers one gets it, and only that one may retire the node. It must do that next, because the
 * unretired node keeps its info alive. NULL if the id names no node. */
KVO_HIDDEN kvo_node *kvo__id_claim(kvo_observation id);
/** The node of an id, or NULL. The world must be stopped (kvo__world_stop). */
KVO_HIDDEN kvo_node *kvo__id_node(kvo_observation id);
/** Whether this has ever been the id of an observation. */
KVO_HIDDEN bool kvo__id_was_given(kvo_observation id);
/** Calls `visit` for the own node of each observation, in no particular order. The world must be stopped (kvo__world_stop). */
KVO_HIDDEN void kvo__ids_visit(void (*visit)(kvo_node *node, void *arg), void *arg);
/** Returns the free entry that a thread has kept, at the end of the thread. */
KVO_HIDDEN void kvo__id_thread_end(const kvo_thread *thread);

/* ---------------------------------------------------------------------------------------------------------- ends.c -- */

/** Says that it is the object's death that ends an observation. Its node has been claimed. */
KVO_HIDDEN void kvo__end_is_death(kvo_observation id);
/** Calls the functions given to kvo_observation_on_end. The observation's user data has been destroyed; no lock may be held. */
KVO_HIDDEN void kvo__end_tell(kvo_observation id);

/* ------------------------------------------------------------------------------------------------------ values.c -- */

/** A value owned by the runtime, in one block with the bytes that it points to. */
typedef struct kvo_boxed {
  kvo_value value;
} kvo_boxed;

/** kvo_property_view without checks of the arguments. */
KVO_HIDDEN void kvo__property_view(const kvo_property *property, const void *value, kvo_value_reader reader, void *arg);
/** Copies a value with its bytes and string; NULL without memory. Free it with kvo__free. */
KVO_HIDDEN kvo_boxed *kvo__box(const kvo_value *value);
/** Reads a property into new storage in the form that kvo_property_view reads; NULL if it cannot be read. Free it with
 * kvo__property_release. */
KVO_HIDDEN void *kvo__property_copy(const kvo_property *property, kvo_object *object, const kvo_selection *selection);
KVO_HIDDEN void kvo__property_release(const kvo_property *property, void *value);
/** Whether two values of a property are known to be the same; and two values that C can read. */
KVO_HIDDEN bool kvo__property_same(const kvo_property *property, const void *one, const void *other);
KVO_HIDDEN bool kvo__value_same(const kvo_value *one, const kvo_value *other);

/* ------------------------------------------------------------------------------------------------------ paused.c -- */

/** The value that a property had when an observation of it was paused. */
typedef struct kvo_paused kvo_paused;
/** Makes one; NULL without memory. */
KVO_HIDDEN kvo_paused *kvo__paused_make(kvo_observation id, const kvo_property *property);
/** Adds it to those that can be found; returns what to pass to kvo__paused_keep. */
KVO_HIDDEN uint64_t kvo__paused_add(kvo_paused *made);
/** Stores the value. False if the pause is over: then the caller keeps it. */
KVO_HIDDEN bool kvo__paused_keep(kvo_observation id, uint64_t serial, void *value);
/** Takes that of an observation, for the caller to free; NULL if there is none. */
KVO_HIDDEN kvo_paused *kvo__paused_take(kvo_observation id);
/** The value, or NULL; also for NULL. */
KVO_HIDDEN const void *kvo__paused_value(const kvo_paused *of);
/** Releases it with its value. No lock may be held. NULL is ignored. */
KVO_HIDDEN void kvo__paused_free(kvo_paused *of);

/* -------------------------------------------------------------------------------------------------- value_text.c -- */

/** The size of a buffer for the text of a value. */
enum { KVO_VALUE_TEXT = 64 };
/** Copies a text with its NUL into `size` bytes, at least 4. A longer text is cut and ends with "...";
 * returns whether it is. */
KVO_HIDDEN bool kvo__copy_cut(char *to, size_t size, const char *text);
/** The new value of a change as a text of at most `size` bytes, NUL included; `size` is at least 16. False if the change has no new value,
 * or one of a type that C cannot read. */
KVO_HIDDEN bool kvo__new_value_text(const kvo_raw_change *change, char *to, size_t size);

/** Whether two changes are known to have the same new value. */
KVO_HIDDEN bool kvo__tells_same(const kvo_raw_change *one, const kvo_raw_change *other);

/* -------------------------------------------------------------------------------------------------- unobserved.c -- */

/** Notes a will that no observer is to be notified of, so that its did on this thread is no misuse. */
KVO_HIDDEN void kvo__unobserved_will(const kvo_object *object, kvo_key key);
/** Whether this thread has an open will of this key that nobody observed. */
KVO_HIDDEN bool kvo__unobserved_is_open(const kvo_object *object, kvo_key key);
/** Ends the newest such will; false if there is none. */
KVO_HIDDEN bool kvo__unobserved_did(const kvo_object *object, kvo_key key);
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
