/* registry/registry.h - the word of an object, and what is behind it: info, slots, nodes, ids, values. A newcomer reads struct kvo_info,
 * struct kvo_slot and struct kvo_node first.
 *
 * word          the one word of a kvo_object: 0 (a binding's object that nobody has touched), a kvo_class *, with KVO_WORD_DYING
 *               while the object is being destroyed, or a kvo_info * with KVO_WORD_INFO; KVO_WORD_OBSERVED on top of that means
 *               that the object's setters notify. It is the isa.
 * info          what the runtime knows of one object that is or was observed. Made at the first observation, freed after
 *               the object's death, so that a setter may use it for as long as it may use the object; and not before its
 *               last reader has left and its last node is unlinked.
 * slot          all registrations of one key of one object, in order.
 * node          one registration in a slot. Kinds: DIRECT (an observation of one key), ANCHOR (stands in the root object for a
 *               tracked observation, in the slot of key 0), DEPENDENCY (a tracked observation hears of one key that it read).
 *               It is a LEAF while the value is just that key's: then it is told like a DIRECT one, with no evaluation.
 * tracked       an observation of an expression: a key path, a computed property.
 * frame         a change in progress: from before the store until the last observer has been told.
 * reader        whoever uses nodes of an info without its lock: a frame, a removal. Nodes are freed when the readers that could
 *               see them have gone (two epochs, as in SRCU, but the last reader frees instead of the writer waiting).
 * mark          says, for other threads to see, which observation's code this thread is running (threads.c).
 *
 * Locks, in the order in which they may nest: tracked->lock, info->lock; the list of threads in either.
 * None is held when code of the program runs.
 */
#ifndef KVO_REGISTRY_H
#define KVO_REGISTRY_H

#include "classes/classes.h"

/* ----------------------------------------------------------------------------------------------------- object.c -- */

typedef enum kvo_node_kind {
  KVO_NODE_DIRECT,
  KVO_NODE_ANCHOR,
  KVO_NODE_DEPENDENCY,
  KVO_NODE_LEAF,
  KVO_NODE_SUBJECT
} kvo_node_kind;

/* Their sizes count: the first slot is in each observed object's info, a node in each observation. */
struct kvo_slot {
  kvo_key key;
  /** Set once under info->lock; slots are never removed while the info lives. */
  kvo_slot *_Atomic next;
  /** Ends of the list of nodes; written under info->lock, read by readers. */
  kvo_node *_Atomic oldest;
  kvo_node *_Atomic newest;
  /** Of what the key names among the class's properties; KVO_NO_PROPERTY of an undefined key. Constant. */
  uint16_t index;
  /** How many nodes want what, up to KVO_MANY, from where it is not known; info->lock. */
  uint8_t wanting_old, wanting_new, wanting_will;
  /** KVO_FRAME_… bits; written under info->lock. */
  _Atomic uint8_t wants;
  /** Setters do not notify (KVO_PROPERTY_MANUAL). Constant. */
  bool manual : 1;
  /** It is the one in its info; another is a kvo_later_slot. Constant. */
  bool is_first : 1;
  /** It is no slot, but the kvo_slot_index of the one before it, and has its key. Constant. */
  bool is_index : 1;
};

/** So many that counting stops: the slot is taken to be wanting until its last node has gone. */
#define KVO_MANY UINT8_MAX

struct kvo_node {
  /** Written under info->lock, read by readers; kept after unlinking, so that a reader that stands here can go on. */
  kvo_node *_Atomic older;
  kvo_node *_Atomic newer;
  /** NULL before it is linked. */
  kvo_slot *_Atomic slot;
  /** Position among all that was ever linked: a frame tells only nodes that were linked before it. After it was unlinked, and
   * so is no longer live, the address of the next garbage node, and in bit 0 the epoch in which it was unlinked. */
  _Atomic uint64_t birth;
  /** What to call; of a DEPENDENCY and a LEAF NULL. */
  const kvo_observer_ops *ops;
  /** For the ops; of an ANCHOR, a DEPENDENCY and a LEAF the kvo_tracked, to which each holds a reference. */
  void *user_data;
  /** 0 of a DEPENDENCY and a LEAF. */
  kvo_observation id;
  const char *file;
  uint32_t line;
  /** As registered, and KVO_NODE_HAS_DETAILS. */
  uint16_t options;
  /** False from the claim of its id on, or from when it leaves tracked->dependencies: whoever took it will unlink it. */
  _Atomic bool live;
  /** A kvo_node_kind; a DEPENDENCY becomes a LEAF, and the reverse, under info->lock. */
  _Atomic uint8_t kind;
};

/** The node's block holds a kvo_node_details behind it. */
#define KVO_NODE_HAS_DETAILS 0x8000u

/** What a token of a declared key does not have. */
typedef struct kvo_node_details {
  /** As registered, unless it is the name of the slot's property. */
  const char *key_path;
  void *context;
  const void *address;
  const char *class_name;
  /** Its places in the indexes of its slot, if there are any; info->lock. */
  kvo_index_entry by_observer, by_context;
  /** How many return addresses stand behind this, for KVO_STACKS. */
  uint32_t frame_count;
  /** It has been told of a change, as far as KVO_TAP_USE was on. */
  _Atomic bool told;
} kvo_node_details;

/** A node of a tracked observation in a slot of what it read. */
typedef struct kvo_dependency {
  kvo_node node;
  /** Its place in the index of its slot, if there is one; info->lock. */
  kvo_index_entry entry;
  /** The birth of the tracked observation's anchor: dependencies stand where it was registered. */
  uint64_t order;
  /** Neighbours in tracked->dependencies (tracked->lock); `from` alone in a list of what was taken out of there. */
  struct kvo_dependency *to, *from;
  /** The newest evaluation that read it. tracked->lock. */
  uint64_t generation;
  /** The last evaluation that has recorded what its key is declared to be affected by. tracked->lock. */
  uint64_t declared_in;
  /** What the newest evaluation read next, if it read this once: an address, for comparison. tracked->lock. */
  const kvo_object *successor;
  /** Whether it is in tracked->dependencies; tracked->lock. */
  bool chained;
} kvo_dependency;

/** The first of a kvo_dependency is its node. */
static inline kvo_dependency *kvo__dependency(kvo_node *node) { return (kvo_dependency *)(void *)node; }

/** The bits of kvo_info.state: readers of this epoch, readers of the one before it, the epoch's parity, and three flags. */
#define KVO_STATE_READER UINT64_C(1)
#define KVO_STATE_EARLIER_READER (UINT64_C(1) << 30)
#define KVO_STATE_READERS (KVO_STATE_EARLIER_READER - 1)
#define KVO_STATE_EARLIER_READERS (KVO_STATE_READERS << 30)
#define KVO_STATE_EPOCH (UINT64_C(1) << 60)
#define KVO_STATE_DEAD (UINT64_C(1) << 61)
#define KVO_STATE_GARBAGE (UINT64_C(1) << 62)
/** There are entries of this object's observations. */
#define KVO_STATE_REMEMBERED (UINT64_C(1) << 63)

struct kvo_info {
  kvo_object *object;
  kvo_class *cls;
  /** In one word, so that entering is one addition and leaving sees the flags it must act on. */
  _Atomic uint64_t state;
  /** Of the newest node that is linked and counted in `wants`. */
  _Atomic uint64_t births;
  kvo_lock lock;
  /** Linked nodes; info->lock. */
  uint32_t node_count;
  /** The last unlinked node; info->lock. */
  kvo_node *garbage;
  /** The first slot is inline: most objects are observed by one key. */
  kvo_slot first;
};

typedef struct kvo_later_slot {
  kvo_slot slot;
  kvo_info *info;
  /** Slots with lesser and with greater keys, below the second slot of the info: keys are hashes, so that the tree is not deep. Written
   * under info->lock; they stay as long as the info. */
  struct kvo_later_slot *_Atomic less, *_Atomic greater;
  /** Of the second: the newest slot; info->lock. */
  kvo_slot *newest_slot;
} kvo_later_slot;

/** The second slot of an info, or NULL. */
static inline kvo_later_slot *kvo__second_slot(kvo_info *info) {
  kvo_slot *second = atomic_load_explicit(&info->first.next, memory_order_acquire);
  if (second != NULL && second->is_index) second = atomic_load_explicit(&second->next, memory_order_acquire);
  return (kvo_later_slot *)(void *)second;
}

/* Stands behind a slot whose list was once walked for long. The indexes are there from then on; info->lock. */
typedef struct kvo_slot_index {
  kvo_later_slot later;
  /** Of the dependencies, by order; and of own nodes that have details, by observer and key path, and by these and the context. Without
   * a key_of: not made yet. */
  kvo_index by_order, by_observer, by_context;
} kvo_slot_index;

static inline kvo_info *kvo__slot_info(kvo_slot *slot) {
  return slot->is_first ? (kvo_info *)(void *)((char *)slot - offsetof(kvo_info, first))
                        : ((kvo_later_slot *)(void *)slot)->info;
}

/** What the key of a slot names, NULL for an undefined one. */
static inline const kvo_property *kvo__slot_property(const kvo_info *info, const kvo_slot *slot) {
  return slot->index != KVO_NO_PROPERTY ? info->cls->properties[slot->index] : NULL;
}

_Static_assert(sizeof(void *) != 8 || (sizeof(kvo_info) == 88 && sizeof(kvo_node) == 72),
               "an observed object and an observation of it have grown");

/** Whether this is an object, as far as can be told without following garbage: its header names a registered class, or is an info
 * of this object. A dying one is. */
KVO_HIDDEN bool kvo__is_object(const kvo_object *object);

#define KVO_WORD_OBSERVED ((uintptr_t)1)
#define KVO_WORD_INFO ((uintptr_t)2)
/** On top of a kvo_class *: the object is being destroyed, and takes no observers any more. */
#define KVO_WORD_DYING ((uintptr_t)4)
#define KVO_WORD_TAGS ((uintptr_t)7)

static inline uintptr_t kvo__word(const kvo_object *object) {
  return __atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE);
}

KVO_HIDDEN void kvo__set_word(kvo_object *object, uintptr_t word);

static inline kvo_info *kvo__word_info(uintptr_t word) {
  return (word & KVO_WORD_INFO) != 0 ? (kvo_info *)(word & ~KVO_WORD_TAGS) : NULL;
}

/** The object's info, made now, with a first slot for `key`, if need be; NULL without memory for it or for its class's
 * trampolines, or when the object has no class (see *status). */
KVO_HIDDEN kvo_info *kvo__info_ensure(kvo_object *object, kvo_key key, kvo_status *status);
/** An info is made at this address. */
KVO_HIDDEN void kvo__info_note(const kvo_info *info);
/** Whether the address may be that of an info: of what is false nothing may be read, and what is true has been the memory of infos, or
 * lies between. */
KVO_HIDDEN bool kvo__info_is_likely(const kvo_info *info);
static inline kvo_slot *kvo__slot_find(kvo_info *info, kvo_key key) {
  if (info->first.key == key) return &info->first;
  kvo_later_slot *at = kvo__second_slot(info);
  while (at != NULL && at->slot.key != key)
    at = atomic_load_explicit(key < at->slot.key ? &at->less : &at->greater, memory_order_acquire);
  return at != NULL ? &at->slot : NULL;
}
/** The birth of the newest node of all. */
extern KVO_HIDDEN _Atomic uint64_t kvo__births;
/** Links a node into its key's slot. OUT_OF_MEMORY or DYING_OBJECT: not linked. */
KVO_HIDDEN kvo_status kvo__node_link(kvo_info *info, kvo_node *node, kvo_key key);
/** The newest node of a slot that does not stand behind this place, or NULL; info->lock is held. */
KVO_HIDDEN kvo_node *kvo__slot_place(kvo_info *info, kvo_slot *slot, uint64_t order);
/** Whose observations are looked for. */
typedef struct kvo_wanted {
  const void *address;
  const char *key_path;
  const void *context;
  bool match_context;
} kvo_wanted;
/** Calls `visit` for the own nodes of a slot that may be those, newest first, until it returns false; it has to look itself. info->lock
 * is held. */
KVO_HIDDEN void kvo__slot_visit(kvo_info *info, kvo_slot *slot, const kvo_wanted *what,
                                bool (*visit)(kvo_node *node, void *arg), void *arg);
/** Makes a linked DEPENDENCY a LEAF, or the reverse. */
KVO_HIDDEN void kvo__node_turn(kvo_info *info, kvo_node *node, kvo_node_kind kind);
/** Unlinks a node that the caller has claimed, and frees it as soon as no reader can see it. No lock may be held. */
KVO_HIDDEN void kvo__node_retire(kvo_info *info, kvo_node *node);
/** Frees a node that was never linked, or that no reader can see any more; its user data is destroyed. */
KVO_HIDDEN void kvo__node_free(kvo_node *node);

static inline kvo_node_kind kvo__node_kind(const kvo_node *node) {
  return (kvo_node_kind)atomic_load_explicit(&node->kind, memory_order_relaxed);
}

/** Of an observation's own node; the others belong to an expression that read a key. */
static inline bool kvo__node_is_own(const kvo_node *node) { return kvo__node_kind(node) <= KVO_NODE_ANCHOR; }

/** Where the node stands in its slot. */
static inline uint64_t kvo__node_order(const kvo_node *node) {
  return kvo__node_is_own(node) ? atomic_load_explicit(&node->birth, memory_order_relaxed)
                                : ((const kvo_dependency *)(const void *)node)->order;
}

/** Registers as a reader and returns what to give to kvo__leave. */
static inline uint64_t kvo__enter(kvo_info *info) {
  return atomic_fetch_add(&info->state, KVO_STATE_READER) + KVO_STATE_READER;
}
/** What counts a reader in the present state: a turn of the epoch since it entered has moved it to the earlier ones. */
static inline uint64_t kvo__reader_of(uint64_t entered, uint64_t state) {
  return ((entered ^ state) & KVO_STATE_EPOCH) == 0 ? KVO_STATE_READER : KVO_STATE_EARLIER_READER;
}
KVO_HIDDEN void kvo__leave_slowly(kvo_info *info, uint64_t entered);
/** May destroy nodes and, after the object's death, the info. No lock may be held. */
static inline void kvo__leave(kvo_info *info, uint64_t entered) {
  uint64_t state = entered; /* usually nothing has changed since */
  while ((state & (KVO_STATE_GARBAGE | KVO_STATE_DEAD)) == 0)
    if (atomic_compare_exchange_weak(&info->state, &state, state - kvo__reader_of(entered, state))) return;
  kvo__leave_slowly(info, entered);
}

/* ------------------------------------------------------------------------------------------------------- node.c -- */

/** The options that there are. */
#define KVO_KNOWN_OPTIONS ((unsigned)(KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT))
/** A node for an observation, to be linked under the key, with its own copies of strings; NULL without memory. */
KVO_HIDDEN kvo_node *kvo__node_make(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                    kvo_node_kind kind);
/** Gives a node its id and links it; on failure the node is freed, its user data untouched. Once it is linked another thread
 * may remove it, unless the caller is a reader of its info. */
KVO_HIDDEN kvo_status kvo__node_register(kvo_object *object, kvo_node *node, kvo_key key, kvo_observation *out);
/** The details of a node, or NULL; a node of details; and the hash of its key path. */
KVO_HIDDEN kvo_node_details *kvo__node_details(const kvo_node *node);
KVO_HIDDEN kvo_node *kvo__details_node(const kvo_node_details *details);
KVO_HIDDEN kvo_key kvo__node_path(const kvo_node *node);
/** As registered, or the name of the property that it observes. */
KVO_HIDDEN const char *kvo__node_key_path(const kvo_node *node);
/** Whether an observation has been told of a change, by its own node; as far as KVO_TAP_USE is on. */
KVO_HIDDEN void kvo__node_set_notified(const kvo_node *node, bool told);
KVO_HIDDEN bool kvo__node_was_notified(const kvo_node *node);
/** For qsort of pointers to nodes: oldest first. */
KVO_HIDDEN int kvo__node_by_order(const void *left, const void *right);

/* ----------------------------------------------------------------------------------------------------------- ids.c -- */

/** Gives a node its id, which names nothing yet; 0 without memory. */
KVO_HIDDEN kvo_observation kvo__id_assign(kvo_node *node);
/** From now on the id names the node. Its info is locked, and it is going to be linked. */
KVO_HIDDEN void kvo__id_publish(const kvo_node *node);
/** Takes back the id of a node that could not be linked. */
KVO_HIDDEN void kvo__id_return(const kvo_node *node);
/** Takes the node of an id, once: the caller alone may retire it, which must come next, for that keeps its info alive until then.
 * NULL: none (any more). */
KVO_HIDDEN kvo_node *kvo__id_claim(kvo_observation id);
/** Whether this was the id of an observation, ended or not. */
KVO_HIDDEN bool kvo__id_was_given(kvo_observation id);
/** Calls `visit` for each node that an id names, in no order. The world is stopped. */
KVO_HIDDEN void kvo__ids_visit(void (*visit)(kvo_node *node, void *arg), void *arg);
/** Gives back what a thread that ends has kept. */
KVO_HIDDEN void kvo__id_thread_end(const kvo_thread *thread);

/* ------------------------------------------------------------------------------------------------------ values.c -- */

/** A value that the runtime owns, in one block with what it points to. */
typedef struct kvo_boxed {
  kvo_value value;
} kvo_boxed;

/** kvo_property_view for arguments that are good. */
KVO_HIDDEN void kvo__property_view(const kvo_property *property, const void *value, kvo_value_reader reader, void *arg);
/** Copies a value, strings and bytes included; NULL without memory. Free it with kvo__free. */
KVO_HIDDEN kvo_boxed *kvo__box(const kvo_value *value);
/** Reads a property into new storage of the form that kvo_property_view understands; NULL when it cannot be read. */
KVO_HIDDEN void *kvo__property_copy(const kvo_property *property, kvo_object *object, const kvo_selection *selection);
KVO_HIDDEN void kvo__property_release(const kvo_property *property, void *value);

/* -------------------------------------------------------------------------------------------------- value_text.c -- */

/** Copies a text, NUL included, as far as it fits, and marks a cut; `size` is 4 at least. */
enum { KVO_VALUE_TEXT = 64 };
KVO_HIDDEN void kvo__copy_cut(char *to, size_t size, const char *text);
/** The new value as a text of `size` bytes at most, 16 at least, NUL included. False: not told, or not of a type that C knows. */
KVO_HIDDEN bool kvo__new_value_text(const kvo_raw_change *change, char *to, size_t size);

/** Whether two changes are known to have told the same new value. */
KVO_HIDDEN bool kvo__tells_same(const kvo_raw_change *one, const kvo_raw_change *other);

/* -------------------------------------------------------------------------------------------------- unobserved.c -- */

/** A change is announced that nobody is to hear of: its did, on this thread, is no misuse. */
KVO_HIDDEN void kvo__unobserved_will(const kvo_object *object, kvo_key key);
/** Whether this thread has announced a change of this key that nobody observed then, and not yet its end. */
KVO_HIDDEN bool kvo__unobserved_is_open(const kvo_object *object, kvo_key key);
/** Ends the newest such; false if there is none. */
KVO_HIDDEN bool kvo__unobserved_did(const kvo_object *object, kvo_key key);
/** At the death of an object: they are forgotten. */
KVO_HIDDEN void kvo__unobserved_forget(const kvo_object *object);

#endif /* KVO_REGISTRY_H */
