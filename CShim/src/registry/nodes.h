/* registry/nodes.h - the word of an object, and what it refers to: info, slots, nodes (object.c, nodes.c). Part of registry.h, whose head
 * explains the words. */
#ifndef KVO_NODES_H
#define KVO_NODES_H

#include "classes/classes.h"
#include "registry/places.h"

typedef enum kvo_node_kind {
  KVO_NODE_DIRECT,
  KVO_NODE_PAUSED,
  KVO_NODE_MISSED,
  KVO_NODE_ANCHOR,
  KVO_NODE_DEATH,
  /** A key that an expression has read. A LEAF is one whose value is that of the expression. A SUBJECT has the elements that the
   * expression's value has. */
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
  /** How many changes of the key are between their begin and their store, of those that may end on another thread. */
  _Atomic uint8_t storing;
  /** Setters of the key do not notify (KVO_PROPERTY_MANUAL). Constant. */
  bool manual : 1;
  /** This is the slot inside its info; any other is a kvo_later_slot. Constant. */
  bool is_first : 1;
  /** Of the first slot: kvo_object_create has made the object (KVO_WORD_CREATED). Constant. */
  bool is_of_created : 1;
  /** This is not a slot but the kvo_slot_index of the slot before it, and has the same key. Constant. */
  bool is_index : 1;
};

/** A bit of kvo_slot.wants: the slot is observed, and its setters do not notify. */
#define KVO_SLOT_MANUAL 0x80u
/** Another one: a binding has been linked into the slot, since it was last empty. */
#define KVO_SLOT_BINDS 0x40u
/** Another one: a node that does not take a word has, in the same way. */
#define KVO_SLOT_NO_WORDS 0x20u

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
      /** The options of the registration, and KVO_NODE_… bits. */
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

/** The node is the first member of a kvo_detailed_node. */
#define KVO_NODE_HAS_DETAILS 0x8000u
/** The observer is a Swift closure, which the runtime calls itself. */
#define KVO_NODE_IS_CLOSURE 0x4000u
/** It is the observation of a receiver, which removal by observer and key path does not find: kvo_binding_observer.is_receiver. */
#define KVO_NODE_OF_RECEIVER 0x2000u
/** The old value of the expression is read before a change, because it is not kept. */
#define KVO_NODE_READS_BEFORE 0x1000u
/** A key on an observed path, if it is checked which object a change of it replaces (silent_changes.c). */
#define KVO_NODE_IS_CHECKED 0x0800u
/** The callback of the observation sets a property (settle.c). */
#define KVO_NODE_BINDS 0x0400u
/** A Swift closure that can be called with a kvo_word_change. */
#define KVO_NODE_TAKES_WORD 0x0200u

/** What most observations do not have, in a block of its own. The return addresses of KVO_STACKS follow it, and then the strings. */
typedef struct kvo_node_texts {
  /** The key path of the registration; NULL if it is the name of the slot's property. */
  const char *key_path;
  const char *class_name;
  /** What the binding has to say about it, or NULL. */
  const char *note;
} kvo_node_texts;

/** What a node has in addition, unless a binding's token registered it for a declared key. */
typedef struct kvo_node_details {
  void *context;
  const void *address;
  /** NULL if there are none. */
  kvo_node_texts *texts;
  /** With KVO_NODE_BINDS, what is kept of the binding. */
  struct kvo_bound *bound;
  /** Its entries in the indexes of its slot, if the slot has any; under info->lock. */
  kvo_index_entry by_observer, by_context;
  /** How many return addresses follow the texts. */
  uint32_t frame_count;
  /** It has been notified of a change. Recorded only while a tap is set, such as KVO_TAP_USE. */
  _Atomic bool notified;
} kvo_node_details;

/** Nodes with an id are in slabs of one of two sizes (ids.c). A pointer to separate details would take memory in all of them, and an
 * allocation for those that have details; these are most observations of C programs. */
typedef struct kvo_detailed_node {
  kvo_node node;
  kvo_node_details details;
} kvo_detailed_node;

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
   * KVO_READ_COUNTED, or KVO_READ_BY_NONE before the first change. Never NULL, as a thread without a record is. See kvo__read_by_marks. */
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
  /** The death has begun: whoever watches it is being asked, or has been. */
  _Atomic bool is_asked;
} kvo_death_slot;

/** The second slot of an info, the root of the tree; or NULL. */
static inline kvo_later_slot *kvo__second_slot(kvo_info *info) {
  kvo_slot *second = atomic_load_explicit(&info->first.next, memory_order_acquire);
  if (second != NULL && second->is_index) second = atomic_load_explicit(&second->next, memory_order_acquire);
  return (kvo_later_slot *)(void *)second;
}

static inline kvo_info *kvo__slot_info(kvo_slot *slot) {
  return slot->is_first ? (kvo_info *)(void *)((char *)slot - offsetof(kvo_info, first))
                        : ((kvo_later_slot *)(void *)slot)->info;
}

/** The binding's object that the info's object is the header of. */
static inline void *kvo__info_instance(const kvo_info *info) { return (char *)info->object - info->cls->header_offset; }

/** Whether the object of an info is counted. If such an object cannot be retained, it is being destroyed and its values may be gone: the
 * runtime learns of the death later. */
static inline bool kvo__info_counts(const kvo_info *info) { return info->cls->retain != NULL; }

/** Keeps the object of an info, which is alive, until kvo__info_release; false if that cannot be. */
static inline bool kvo__info_retain(const kvo_info *info) {
  return kvo__info_counts(info) && info->cls->retain(kvo__info_instance(info)) != NULL;
}
/** May destroy the object. No lock may be held; the caller is a reader. */
static inline void kvo__info_release(const kvo_info *info) { info->cls->release(kvo__info_instance(info)); }

/** The property that the slot's key names, or NULL for an undefined key. */
static inline const kvo_property *kvo__slot_property(const kvo_info *info, const kvo_slot *slot) {
  return slot->index != KVO_NO_PROPERTY ? info->cls->properties[slot->index] : NULL;
}

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(kvo_info) == 96 && sizeof(kvo_node) == 72 && sizeof(kvo_detailed_node) == 144),
               "an observed object and an observation of it have grown");

/** Whether this is an object, as far as can be told without following an invalid pointer: its header names a registered class, or is an
 * info of this object. True for an object that is being destroyed. */
KVO_HIDDEN bool kvo__is_object(const kvo_object *object);

#define KVO_WORD_OBSERVED ((uintptr_t)1)
#define KVO_WORD_INFO ((uintptr_t)2)
/** On top of a kvo_class *: the object is being destroyed and takes no observers. */
#define KVO_WORD_DYING ((uintptr_t)4)
#define KVO_WORD_TAGS ((uintptr_t)7)
/** On top of a kvo_class *: kvo_object_create has made the object, so its memory is the runtime's. An info knows it, too. */
#define KVO_WORD_CREATED ((uintptr_t)8)

static inline uintptr_t kvo__word(const kvo_object *object) {
  return __atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE);
}

KVO_HIDDEN void kvo__set_word(kvo_object *object, uintptr_t word);

static inline kvo_info *kvo__word_info(uintptr_t word) {
  return (word & KVO_WORD_INFO) != 0 ? (kvo_info *)(word & ~KVO_WORD_TAGS) : NULL;
}

static inline kvo_class *kvo__word_class(uintptr_t word) {
  return (kvo_class *)(word & ~(KVO_WORD_TAGS | KVO_WORD_CREATED));
}

/** The info of an object. Makes it, with a first slot for `key`, if there is none. NULL if there is no memory for it or for the trampolines
 * of its class, if the object is being destroyed, or if it has no class (see *status). */
KVO_HIDDEN kvo_info *kvo__info_ensure(kvo_object *object, kvo_key key, kvo_status *status);
/** Records the address of a new info: nothing is read at an address outside of the range of all. */
KVO_HIDDEN void kvo__info_note(const kvo_info *info);
static inline kvo_slot *kvo__slot_find(kvo_info *info, kvo_key key) {
  if (info->first.key == key) return &info->first;
  kvo_later_slot *at = kvo__second_slot(info);
  while (at != NULL && at->slot.key != key)
    at = atomic_load_explicit(key < at->slot.key ? &at->less : &at->greater, memory_order_acquire);
  return at != NULL ? &at->slot : NULL;
}
/** The birth of the newest node in the process. */
extern KVO_HIDDEN _Atomic uint64_t kvo__births;
/** At the end of a thread: frees the nodes that it was freeing when it left a `destroy` function. */
KVO_HIDDEN void kvo__nodes_thread_end(kvo_thread *self);
/** Links a node into the slot of its key. On KVO_ERROR_OUT_OF_MEMORY and KVO_ERROR_DYING_OBJECT it is not linked. */
KVO_HIDDEN kvo_status kvo__node_link(kvo_info *info, kvo_node *node, kvo_key key);
/** The number of nodes that need the object's setters: all but those of the death slot. info->lock is held. */
KVO_HIDDEN size_t kvo__observed_by(kvo_info *info);
/** Makes a linked DEPENDENCY a LEAF, or the reverse. */
KVO_HIDDEN void kvo__node_turn(kvo_info *info, kvo_node *node, kvo_node_kind kind);
/** Unlinks a node that the caller has claimed, and frees it when no reader can see it any more. No lock may be held. */
KVO_HIDDEN void kvo__node_retire(kvo_info *info, kvo_node *node);
/** The same, but if no reader can see the node now, the caller has to free it: true. */
KVO_HIDDEN bool kvo__node_unlink(kvo_info *info, kvo_node *node);
/** Frees a node that was never linked, or that no reader can see, and destroys its user data. */
KVO_HIDDEN void kvo__node_free(kvo_node *node);

static inline kvo_node_kind kvo__node_kind(const kvo_node *node) {
  return (kvo_node_kind)atomic_load_explicit(&node->kind, memory_order_relaxed);
}

/** After the first change that a paused observation misses, which began at this number of births. If that may have been stored before the
 * pause read the value, and the value is not the one before the change, it is forgotten: the resumption delivers no old value. */
KVO_HIDDEN void kvo__paused_misses(const kvo_node *node, const void *old_value, uint64_t began);

static inline bool kvo__is_paused(kvo_node_kind kind) { return kind == KVO_NODE_PAUSED || kind == KVO_NODE_MISSED; }
/** Whether it is the kind of an observation of one key, paused or not. */
static inline bool kvo__is_direct(kvo_node_kind kind) { return kind <= KVO_NODE_MISSED; }

/** Whether the node is paused; it then notes that it has missed a change of this kind. `old_value`: the value before the change, or NULL if
 * that is not known. `began`: a number of births before its store. May run code of the program. */
static inline bool kvo__node_misses(kvo_node *node, kvo_change_kind change, const void *old_value, uint64_t began) {
  uint8_t kind = atomic_load(&node->kind);
  while (kind == KVO_NODE_PAUSED)
    if (atomic_compare_exchange_weak(&node->kind, &kind, KVO_NODE_MISSED)) {
      if (change == KVO_CHANGE_SETTING) kvo__paused_misses(node, old_value, began);
      return true;
    }
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

#endif /* KVO_NODES_H */
