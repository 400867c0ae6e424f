/* internal.h - what the files of the runtime share, and the words they use.
 *
 * word          the one word of a kvo_object: 0 (a binding's object that nobody has touched), a kvo_class *, or a kvo_info *
 *               with KVO_WORD_INFO; KVO_WORD_OBSERVED on top of it means that the object's setters notify. It is the isa.
 * info          what the runtime knows of one object that is or was observed. Made at the first observation, freed after
 *               the object's death, so that a setter may use it for as long as it may use the object.
 * slot          all registrations of one key of one object, in order.
 * node          one registration in a slot. Kinds: DIRECT (an observation of one key), ANCHOR (stands in the root object for a
 *               tracked observation, in the slot of key 0), DEPENDENCY (a tracked observation hears of one key that it read).
 * tracked       an observation of an expression: a key path, a computed property.
 * frame         a change in progress: from before the store until the last observer has been told.
 * reader        whoever uses nodes of an info without its lock: a frame, a removal. Nodes are freed when the readers that could
 *               see them have gone (two epochs, as in SRCU, but the last reader frees instead of the writer waiting).
 *
 * Locks, in the order in which they may nest: tracked->lock, info->lock, a shard of ids.c. None is held when code of the
 * program runs.
 */
#ifndef KVO_INTERNAL_H
#define KVO_INTERNAL_H

#include <ffi.h>
#include <kvo/kvo_binding.h>
#include <stdatomic.h>
#include <string.h>

#define KVO_HIDDEN __attribute__((visibility("hidden")))

/* ----------------------------------------------------------------------------------------------------- support.c -- */

/** A mutex of 4 bytes on a futex: 0 free, 1 held, 2 held with waiters. Never held while code of the program runs. */
typedef struct kvo_lock {
  _Atomic uint32_t state;
} kvo_lock;

KVO_HIDDEN void kvo__lock(kvo_lock *lock);
/** Its last access to the lock's memory is the atomic that releases it: whoever gets the lock next may free it. */
KVO_HIDDEN void kvo__unlock(kvo_lock *lock);
/** Calls `cleanup` when the calling thread ends. One function per process: the last one given. */
KVO_HIDDEN void kvo__at_thread_end(void (*cleanup)(void *unused));
KVO_HIDDEN void kvo__futex_wait(_Atomic uint32_t *word, uint32_t expected);
KVO_HIDDEN void kvo__futex_wake_all(_Atomic uint32_t *word);

/** Zeroed memory of the process's allocator, or NULL. */
KVO_HIDDEN void *kvo__alloc(size_t size);
KVO_HIDDEN void kvo__free(void *memory);
KVO_HIDDEN char *kvo__copy_string(const char *string, size_t length);

/* ---------------------------------------------------------------------------------------------------- encoding.c -- */

/** The key of the slot that holds anchors, and dependencies that wait for the object's death only. */
#define KVO_KEY_ANCHORS KVO_KEY_LIFETIME

/** Parses a type encoding into libffi's description, allocated as one tree. */
KVO_HIDDEN kvo_status kvo__type_parse(const char *type, ffi_type **out);
KVO_HIDDEN void kvo__type_free(ffi_type *type);
/** The encoding behind const and its like, which a property drops: its first character then says what the value is. */
KVO_HIDDEN const char *kvo__type_unqualified(const char *type);

/* ------------------------------------------------------------------------------------------------------- class.c -- */

struct kvo_property {
  const char *name;
  const char *type;
  kvo_key key;
  /** Position in `properties` of the class and of every subclass. */
  size_t index;
  kvo_function getter;
  kvo_function setter;
  /** NULL for a property of a C class. */
  const kvo_value_ops *ops;
  void *user;
  char **affected_by;
  uint32_t flags;
  /** Of the C type; 0 and NULL when ops are set. */
  size_t size;
  ffi_type *value_type;
  ffi_cif getter_cif;
  ffi_cif setter_cif;
  ffi_type *setter_arguments[2];
};

/** Immutable once registered, but for `notifying`. */
struct kvo_class {
  const char *name;
  kvo_class *superclass;
  /** For a notifying class the class it notifies for, otherwise NULL. */
  kvo_class *original;
  size_t instance_size;
  size_t header_offset;
  bool of_binding;
  void (*finalize)(kvo_object *object);
  size_t property_count;
  /** Inherited first. */
  const kvo_property **properties;
  /** The same order as `properties`, for a fast search. */
  kvo_key *keys;
  /** Setters to call, by property index: the trampolines of a notifying class, the program's setters otherwise. */
  kvo_function *setters;
  /** Made at the first observation of an instance, then constant. */
  kvo_class *_Atomic notifying;
  kvo_class *next;
};

KVO_HIDDEN const kvo_property *kvo__class_find(const kvo_class *cls, kvo_key key);
/** The notifying class, made now if need be; NULL, with *status saying which, when there is no memory for it or its trampolines. */
KVO_HIDDEN kvo_class *kvo__class_notifying(kvo_class *cls, kvo_status *status);

/* --------------------------------------------------------------------------------------------------- intercept.c -- */

/** Makes one trampoline a setter of `cls` into `setters`. False: no memory, nothing made. */
KVO_HIDDEN bool kvo__intercept(kvo_class *cls, kvo_function *setters);
/** Calls a setter of a C property's signature with a pointer to the value. */
KVO_HIDDEN void kvo__call_setter(const kvo_property *property, kvo_function setter, kvo_object *object,
                                 const void *value);
/** Calls the getter of a C property and stores the value. */
KVO_HIDDEN void kvo__call_getter(const kvo_property *property, const kvo_object *object, void *value);

/** A closure's two addresses: write through the first, run the second. */
typedef struct kvo_code {
  void *writable;
  void *executable;
} kvo_code;

/** Memory for `count` closures from pages.c, each KVO_CODE_SIZE apart; NULL addresses when there is none. Never freed: a frame
 * may be inside one at any time, and classes live for ever. */
#define KVO_CODE_SIZE ((sizeof(ffi_closure) + 63) / 64 * 64)
KVO_HIDDEN kvo_code kvo__pages_allocate(size_t count);

/* ------------------------------------------------------------------------------------------------------ values.c -- */

/** A value that the runtime owns, in one block with what it points to. */
typedef struct kvo_boxed {
  kvo_value value;
} kvo_boxed;

/** Copies a value, strings and bytes included; NULL without memory. Free it with kvo__free. */
KVO_HIDDEN kvo_boxed *kvo__box(const kvo_value *value);
/** Reads a property into new storage of the form that kvo_property_view understands; NULL when it cannot be read. */
KVO_HIDDEN void *kvo__property_copy(const kvo_property *property, kvo_object *object, const kvo_selection *selection);
KVO_HIDDEN void kvo__property_release(const kvo_property *property, void *value);
/** Reads a key path; every key on the way, and what it is said to be affected by, is recorded when this thread records. NULL
 * with a status when it cannot. Free the result with kvo__free. */
KVO_HIDDEN kvo_boxed *kvo__path_copy(kvo_object *object, const char *key_path, kvo_status *status);
/** Components are not empty, and there is at least one. */
KVO_HIDDEN kvo_status kvo__path_check(const char *key_path);

/* ----------------------------------------------------------------------------------------------------- object.c -- */

typedef struct kvo_info kvo_info;
typedef struct kvo_slot kvo_slot;
typedef struct kvo_node kvo_node;
typedef struct kvo_tracked kvo_tracked;

typedef enum kvo_node_kind { KVO_NODE_DIRECT, KVO_NODE_ANCHOR, KVO_NODE_DEPENDENCY } kvo_node_kind;

struct kvo_slot {
  kvo_key key;
  kvo_info *info;
  /** Set once under info->lock; slots are never removed while the info lives. */
  kvo_slot *_Atomic next;
  /** Ends of the list of nodes; written under info->lock, read by readers. */
  kvo_node *_Atomic oldest;
  kvo_node *_Atomic newest;
  /** KVO_FRAME_… bits; written under info->lock. */
  _Atomic uint32_t wants;
  /** How many nodes want what; info->lock. */
  uint32_t nodes, wanting_old, wanting_new, wanting_will;
  /** What the key names, NULL for an undefined one. Constant. */
  const kvo_property *property;
  /** Setters do not notify (KVO_PROPERTY_MANUAL). Constant. */
  bool manual;
};

struct kvo_node {
  /** Written under info->lock, read by readers; kept after unlinking, so that a reader that stands here can go on. */
  kvo_node *_Atomic older;
  kvo_node *_Atomic newer;
  kvo_slot *slot;
  /** Position among the observations of the process: that of the tracked observation for its dependencies. */
  uint64_t order;
  /** Counted per info; a frame tells only nodes that were linked before it. */
  uint64_t birth;
  /** The callback and what it gets; for a DEPENDENCY unused. */
  kvo_raw_callback callback;
  void *user_data;
  void (*destroy)(void *user_data);
  /** Of an ANCHOR and a DEPENDENCY; each holds a reference. */
  kvo_tracked *tracked;
  /** Neighbours in tracked->dependencies (tracked->lock); `chained_from` alone in a list of what was taken out of there; `chain`
   * alone in a list of garbage (info->lock). */
  kvo_node *chain;
  kvo_node *chained_from;
  /** Whether it is in tracked->dependencies; tracked->lock. */
  bool chained;
  /** Of the thread that has just taken it out of there, as a reader of its info. */
  uint32_t epoch;
  /** Of a DEPENDENCY: the newest evaluation that read it. tracked->lock. */
  uint64_t generation;
  /** False from the claim of its id on, or from when it leaves tracked->dependencies: whoever took it will unlink it. */
  _Atomic bool live;
  uint8_t kind;
  uint16_t options;
  uint32_t line;
  /** Below: 0 and NULL for a DEPENDENCY; constant. */
  kvo_observation id;
  /** Owned unless it is the name of a property. */
  const char *key_path;
  void *context;
  kvo_observer_identity identity;
  const char *file;
  size_t file_length;
  bool owns_key_path;
};

/** The bits of kvo_info.state. */
#define KVO_STATE_EPOCH (UINT64_C(1) << 63)
#define KVO_STATE_GARBAGE (UINT64_C(1) << 62)
#define KVO_STATE_DEAD (UINT64_C(1) << 61)
#define KVO_STATE_READERS_SHIFT 30
#define KVO_STATE_READERS_MASK ((UINT64_C(1) << KVO_STATE_READERS_SHIFT) - 1)

struct kvo_info {
  kvo_object *object;
  kvo_class *cls;
  /** Readers of either epoch, the epoch, and two flags, in one word, so that leaving sees the flags it must act on. */
  _Atomic uint64_t state;
  /** Of the newest node that is linked and counted in `wants`. */
  _Atomic uint64_t births;
  /** Evaluations in progress of tracked observations of this object, removed ones included; waited for with a futex. */
  _Atomic uint32_t evaluating;
  /** Somebody waits for `evaluating` to fall: waking costs a system call. */
  _Atomic bool awaited;
  kvo_lock lock;
  /** Linked nodes; info->lock. */
  uint32_t node_count;
  /** Unlinked nodes by the epoch in which they were unlinked; info->lock. */
  kvo_node *garbage[2];
  /** The first slot is inline: most objects are observed by one key. */
  kvo_slot first;
};

#define KVO_WORD_OBSERVED ((uintptr_t)1)
#define KVO_WORD_INFO ((uintptr_t)2)
#define KVO_WORD_TAGS ((uintptr_t)7)

static inline uintptr_t kvo__word(const kvo_object *object) {
  return __atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE);
}

static inline kvo_info *kvo__word_info(uintptr_t word) {
  return (word & KVO_WORD_INFO) != 0 ? (kvo_info *)(word & ~KVO_WORD_TAGS) : NULL;
}

/** The object's info, made now, with a first slot for `key`, if need be; NULL without memory for it or for its class's
 * trampolines, or when the object has no class (see *status). */
KVO_HIDDEN kvo_info *kvo__info_ensure(kvo_object *object, kvo_key key, kvo_status *status);
KVO_HIDDEN kvo_slot *kvo__slot_find(kvo_info *info, kvo_key key);
/** Links a node into its key's slot. OUT_OF_MEMORY or DYING_OBJECT: not linked. */
KVO_HIDDEN kvo_status kvo__node_link(kvo_info *info, kvo_node *node, kvo_key key);
/** Unlinks and retires a node that the caller has claimed; the caller is a reader of the info. */
KVO_HIDDEN void kvo__node_unlink(kvo_info *info, kvo_node *node);
/** A node for an observation, with its own copies of strings; NULL without memory. */
KVO_HIDDEN kvo_node *kvo__node_make(kvo_object *object, const kvo_binding_observer *observer);
/** Gives a node its id and links it; on failure the node is freed, its user data untouched. */
KVO_HIDDEN kvo_status kvo__node_register(kvo_object *object, kvo_node *node, kvo_key key, kvo_observation *out);
/** Frees a node that was never linked, or that no reader can see any more; its user data is destroyed. */
KVO_HIDDEN void kvo__node_free(kvo_node *node);
/** Ends an observation whose node kvo__id_claim gave, and leaves its info. */
KVO_HIDDEN void kvo__observation_end(kvo_node *node, uint32_t epoch);
KVO_HIDDEN uint64_t kvo__next_order(void);
/** For qsort of pointers to nodes: oldest first. */
KVO_HIDDEN int kvo__node_by_order(const void *left, const void *right);

/** Registers as a reader and returns the epoch, to be given to kvo__leave. */
KVO_HIDDEN uint32_t kvo__enter(kvo_info *info);
/** May destroy nodes and, after the object's death, the info. No lock may be held. */
KVO_HIDDEN void kvo__leave(kvo_info *info, uint32_t epoch);

/* ----------------------------------------------------------------------------------------------------------- ids.c -- */

/** Gives a node its id; 0 without memory. */
KVO_HIDDEN kvo_observation kvo__id_assign(kvo_node *node);
/** Takes the node of an id, once: the caller alone may unlink it, and has become a reader of its info. NULL: none (any more). */
KVO_HIDDEN kvo_node *kvo__id_claim(kvo_observation id, uint32_t *epoch);

/* --------------------------------------------------------------------------------------------------------- notify.c -- */

/** The old value of a tracked observation, from the will to the did of one frame. */
typedef struct kvo_pending_value {
  struct kvo_pending_value *next;
  kvo_tracked *tracked;
  void *value;
  /** Instead of `value` when it must not be evaluated: what the observation was last told. */
  struct kvo_cell *last;
  /** The did has come to it. */
  bool told;
} kvo_pending_value;

/** The will phase of a frame. On the heap, not in the frame: the frame is a value of the binding's, which may move it. */
typedef struct kvo_will_phase {
  /** Of the next outer frame of this thread that has one. */
  struct kvo_will_phase *outer;
  /** Of the object that changes. */
  const kvo_info *info;
  kvo_pending_value *pending;
  /** The one that was told last: the next stands behind it, for they are told in the order of the list. */
  kvo_pending_value *cursor;
} kvo_will_phase;

/** What a kvo_frame holds. */
typedef struct kvo_frame_content {
  kvo_info *info;
  kvo_slot *slot;
  kvo_node *cursor;
  uint64_t limit;
  /** NULL unless kvo_frame_will was called. */
  kvo_will_phase *will;
  const kvo_selection *selection;
  uint8_t epoch;
  uint8_t kind;
  bool started;
} kvo_frame_content;

_Static_assert(sizeof(kvo_frame_content) <= sizeof(kvo_frame), "kvo_frame in kvo_binding.h is too small");

KVO_HIDDEN uint32_t kvo__frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key, bool by_setter,
                                     kvo_change_kind kind, const kvo_selection *selection);
/** Calls an observer's raw callback, with recording suspended. */
KVO_HIDDEN void kvo__call(const kvo_raw_change *change, kvo_raw_callback callback, void *user_data);
/** Tells whether a frame of this thread, not one of the dying object itself, will yet tell this tracked observation its did. */
KVO_HIDDEN bool kvo__in_change_of(const kvo_tracked *tracked, const kvo_info *dying);

/* ----------------------------------------------------------------------------------------------------------- track.c -- */

/** Before a change of something that the expression read: its old value goes into the frame, prior observers are told. */
KVO_HIDDEN void kvo__tracked_will(kvo_tracked *tracked, kvo_frame_content *frame);
/** After it: evaluates again, re-arms, tells. */
KVO_HIDDEN void kvo__tracked_did(kvo_tracked *tracked, kvo_frame_content *frame);
KVO_HIDDEN void kvo__pending_free(kvo_will_phase *will);
/** An object that the expression read died. */
KVO_HIDDEN void kvo__tracked_died(kvo_tracked *tracked, const kvo_info *dying);
/** Ends the observation: no callback and no evaluation starts after it. May be called again. */
KVO_HIDDEN void kvo__tracked_end(kvo_tracked *tracked);
/** Waits until no other thread evaluates an observation of this object, all of which have ended. */
KVO_HIDDEN void kvo__evaluations_wait(kvo_info *root);
/** Takes a dependency of a dying object out of the observation's list; false when somebody else has. */
KVO_HIDDEN bool kvo__tracked_detach(kvo_tracked *tracked, kvo_node *dependency);
KVO_HIDDEN void kvo__tracked_release(kvo_tracked *tracked);
/** What this thread records is incomplete: the evaluation fails with this status. */
KVO_HIDDEN void kvo__track_fail(kvo_status status);
/** Stops recording on this thread and returns what to give to kvo__recording_resume. */
KVO_HIDDEN void *kvo__recording_suspend(void);
KVO_HIDDEN void kvo__recording_resume(void *recorder);

/* ----------------------------------------------------------------------------------------------------------- fault.c -- */

/** A registration that is refused: which fault it is follows from the status. */
KVO_HIDDEN void kvo__fault_registration(kvo_status status, const kvo_class *cls, const kvo_object *object,
                                        const char *key_path, const void *observer, kvo_options options,
                                        const void *context, const char *file, uint32_t line);
/** KVO0009: a set of a key that has no setter. */
KVO_HIDDEN void kvo__fault_no_setter(const kvo_object *object, const char *key);
/** KVO0011: an expression that read nothing observable. */
KVO_HIDDEN void kvo__fault_never_notifies(const kvo_object *object, const kvo_binding_observer *observer);
/** KVO0002, for an id. */
KVO_HIDDEN void kvo__fault_stale(kvo_observation observation);
/** KVO0002, for an observer and a key path. */
KVO_HIDDEN void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity,
                                          const char *key_path, const void *context, bool match_context,
                                          const char *file, size_t file_length, uint32_t line);
/** KVO0009: a value is wanted of a key that the class does not have. */
KVO_HIDDEN void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot);
/** KVO0001. No lock may be held. */
KVO_HIDDEN void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls,
                                       const kvo_fault_observation *left, size_t count);
/** Fills what a fault says about a node; the strings are the node's. */
KVO_HIDDEN void kvo__describe_node(const kvo_node *node, kvo_fault_observation *out);

#endif /* KVO_INTERNAL_H */
