/* threads/record.h - what is kept for each thread, for itself and for other threads to read: the data of threads.c. Start with kvo_mark and
 * kvo_thread. */
#ifndef KVO_RECORD_H
#define KVO_RECORD_H

#include "hooks.h"
#include "platform/index.h"
#include "threads/lock.h"

#include <kvo/kvo_binding.h>

/** What a thread is in: a change, or code of the program, that is a delivery, an evaluation or a fault handler. */
typedef struct kvo_mark {
  _Atomic kvo_observation observation;
  /** The info of the object that is being evaluated, which must not be freed meanwhile; NULL for a delivery. */
  kvo_info *_Atomic root;
  /** The stack frame that runs the code. NULL for a mark whose code has returned before that of a later mark did, on another stack. Only
   * the thread itself writes it, as an atomic; other threads compare the address. */
  const void *frame;
  /** The members from here on are for the thread itself only. The node of the observation for a delivery, which keeps the node from being
   * freed; otherwise NULL. While `observation` is 0 it is the node of an earlier delivery. */
  const kvo_node *node;
  /** For a change whose mark is also that of a delivery, if `node` is an expression's own: the node of the slot, where the change is. */
  const kvo_node *dependency;
  /** The recorder that was active before, which is restored if this code is left without returning. */
  void *recorder;
  /** For a change that protects the nodes of this info without being counted there (kvo__read_by_marks), otherwise NULL. */
  kvo_info *_Atomic reads;
  /** What kvo__enter returned: for an evaluation, of the root; for a change, of `reads`, or 0 as long as no other thread has counted the
   * change, which it does with the list of threads locked. */
  _Atomic uint64_t entered;
  /** For an evaluation: the evaluation, and whether it is counted in kvo_tracking_count. */
  void *evaluation;
  bool is_counted;
  /** A fault handler, which the program may leave with longjmp. */
  bool is_handler;
  /** Not for an evaluation or a handler: the key that a change changes, or NULL for a delivery that belongs to none and for a change to
   * which nothing is left any more. */
  const struct kvo_slot *slot;
  /** With a slot, and without `reads`: observers are being notified before the store. */
  bool is_before;
  /** For a delivery that is deep (see KVO_DEEP): what kvo__told returned when the delivery began. Otherwise 0. */
  uint32_t told;
} kvo_mark;

/** From this depth on, or on a small stack from the lesser one, or from 0 with KVO_MAX_DEPTH, it is noted what deliveries tell: if they
 * form a cycle that reaches the limit, it shows whether their values repeat. */
enum { KVO_DEEP = 128, KVO_DEEP_ON_SMALL_STACK = 32, KVO_SMALL_STACK = 256 * 1024 };

/** The changes that a thread has announced by hand and not ended, innermost first. Other threads read the list under the lock. */
typedef struct kvo_manual_list {
  kvo_lock lock;
  struct kvo_manual *first;
  size_t count;
  /** Index by object and key, then in the order of announcement. Without a key_of while the list is short. */
  kvo_index by_key;
} kvo_manual_list;

/** What a thread waits for: the deliveries and evaluations of one observation, or all evaluations of a root object. */
typedef struct kvo_awaited {
  kvo_observation observation;
  const kvo_info *root;
} kvo_awaited;

/** Deliveries that would have nested too deeply and are made after others have returned. */
typedef struct kvo_unwinding {
  struct kvo_deferrals *all;
  /** `is_begun`: there may be deferred deliveries. `is_on`: no delivery may nest until the depth is `depth` again. */
  bool is_begun, is_on;
  uint32_t depth;
  /** The stack frame that is making deferred deliveries now, or NULL. */
  const void *frame;
  /** The sum of the depths that deliveries have reached since they were first deferred. */
  uint64_t total_depth;
  /** KVO0024 was reported, so the deliveries of the cycle are dropped. */
  bool gives_up;
} kvo_unwinding;

/** A list of nodes that are not in use. */
typedef struct kvo_free_nodes {
  kvo_node *first;
  uint32_t count;
} kvo_free_nodes;

typedef struct kvo_silent_change {
  kvo_info *info;
  kvo_key key;
  /** What kvo__enter returned. */
  uint64_t entered;
  /** The innermost scope when the change began, for comparison. */
  const struct kvo_open_scope *scope;
} kvo_silent_change;
/** Changes of a thread that a scope silences, oldest first: in `few`, and in `many` once there was no room. Without memory for more the
 * oldest is forgotten. */
enum { KVO_FEW_SILENT = 16 };
typedef struct kvo_silent_changes {
  uint32_t count, capacity;
  kvo_silent_change *many;
  kvo_silent_change few[KVO_FEW_SILENT];
} kvo_silent_changes;

/** Changes that a thread has announced by hand while nobody observed the key, oldest first. Beyond this many the oldest is
 * forgotten, and counted, so that its did is no misuse. */
enum { KVO_MAX_UNOBSERVED = 64 };
typedef struct kvo_unobserved_changes {
  uint32_t count, forgotten;
  /** `registered` of the oldest one that is forgotten. */
  uint64_t registered;
  struct {
    const kvo_object *object;
    kvo_key key;
    /** The birth of the newest node in the process then: a path that is registered already and led to the object meanwhile is told. 0 if
     * the change is silent or misuse. */
    uint64_t registered;
  } open[KVO_MAX_UNOBSERVED];
} kvo_unobserved_changes;

/** The record of a thread, which other threads may read. Allocated when the thread first needs it, and freed at the thread's end: see
 * kvo__thread. */
struct kvo_thread {
  struct kvo_thread *next;
  /** The kernel's thread id. */
  uint32_t number;
  /** Replaced by a larger array under the list's lock. */
  kvo_mark *_Atomic marks;
  uint32_t capacity;
  /** From this depth on kvo__mark takes the slow path: deliveries are deep, the array is full, or no further one may nest. Used by the
   * thread itself only. */
  uint32_t limit;
  /** The part of the thread's stack where deliveries may begin: `room` bytes from `floor` up. `room` is 0 until the stack has been
   * measured. The thread itself writes both, `room` last: who reads a nonzero `room` also sees its `floor`. */
  uintptr_t floor;
  _Atomic uintptr_t room;
  /** Deferred deliveries (unwind.c). Used by the thread itself only. */
  kvo_unwinding unwinding;
  /** How many marks are in use. Written by the thread itself. */
  _Atomic uint32_t depth;
  /** How many locks it holds or waits for, and whether it waits for the end of a stop (kvo__world_stop). Written by the thread itself. */
  _Atomic uint32_t sections;
  _Atomic bool waits;
  /** Changes that it has announced by hand (announcements.c). */
  kvo_manual_list manuals;
  /** `waiting_for`: what the thread waits for, all zero for nothing. `gives_up`: it must stop waiting, because the death of an object waits
   * for it. `visited`: scratch of the search for cycles. All under the list's lock. */
  kvo_awaited waiting_for;
  bool gives_up;
  bool visited;
  /** Free nodes without and with details, for the thread's next registrations (ids.c). Used by the thread itself only. */
  kvo_free_nodes free_nodes[2];
  /** The number of changes that were counted as readers: see kvo__read_by_marks. Used by the thread itself only. */
  uint32_t counted_changes;
  /** Used by the thread itself only. */
  kvo_silent_changes silent;
  /** The nodes that the thread is about to free (nodes.c), and the stack frame of the outermost function that does it. If a `destroy`
   * leaves that, the rest stays here until the next time, or until the thread ends. */
  kvo_node *condemned;
  const void *condemned_by;
  /** Objects that have ended, and that observers may still get as old values (old_objects.c). */
  struct kvo_late_end *late_ends;
  /** The open scopes (scopes.c), innermost first. */
  kvo_open_scope *scopes;
  /** How many bindings the thread runs alone (settle.c); the number of that settling, or 0 until somebody asks for it; and those that have
   * become outdated in it. */
  uint32_t lone;
  uint64_t lone_serial;
  struct kvo_bound *outdated;
  /** Counts evaluations, and the ends of scopes. */
  uint64_t clock;
  /** Used by the thread itself only (avalanche.c). */
  kvo_avalanche avalanche;
  /** Announced changes that nobody observed (unobserved.c). */
  kvo_unobserved_changes unobserved;
  /** The bounds of the thread's stack. `stack_end` is 0 until they are known, and 1 if they cannot be found. */
  uintptr_t stack_begin, stack_end;
  /** Records are numbered in the order in which they are made, from 1: a later thread may get the record at the same address. */
  uint32_t serial;
  /** kvo_set_thread_fault_handler. */
  kvo_fault_handler fault_handler;
  void *fault_handler_arg;
  /** kvo_thread_exchange. */
  void *kept_by_bindings[KVO_THREAD_CODING + 1];
  /** The slices that the thread has begun in a trace that is being recorded (trace.c), or NULL. */
  struct kvo_thread_trace *trace;
  /** The thread's last error, and the result of the setter that refused a value (errors.c). `error_text` is NULL before the first error,
   * and without memory. Used by the thread itself only. */
  char *error_text;
  kvo_status error;
  /** Not NULL for an error whose text is not made yet: the function and the observation that it concerns. */
  const char *error_function;
  /** How many errors with a text there were. */
  uint32_t error_count;
  kvo_observation error_id;
  int refusal;
};

typedef struct kvo_evaluation kvo_evaluation;

/** All that the library keeps in thread-local storage: what a change tests about its own thread, and what must be kept if there is no
 * memory for the record. At most 64 bytes (CShim/abi/check-tls.sh): the C library reserves little such storage for libraries that are
 * loaded later, and each plug-in that contains the archive needs its own. */
struct kvo_own {
  /** The thread's record, or NULL: see kvo__thread. */
  kvo_thread *thread;
  /** The innermost evaluation that records; NULL while recording is suspended. */
  kvo_evaluation *recorder;
  /** How many mutes, announced changes and scopes are open; usually 0. */
  uintptr_t open_changes;
  /** The open mutes (notify.c), innermost first. */
  kvo_mute *mutes;
  /** kvo_thread_fault_count. */
  uint64_t faults;
  /** How many times the thread runs code without a mark, and in how many sections it is without a record: there was no memory. */
  uint32_t unmarked, unrecorded;
  /** There was no record to note an announced change that nobody observed (unobserved.c). */
  bool lost_unobserved;
};

/* With glibc an access is one load, also in a shared library. musl has no room for such storage in a library that is loaded later, so there
 * the compiler chooses; in an executable it is one load, too. */
#ifdef __GLIBC__
#define KVO_TLS_MODEL __attribute__((tls_model("initial-exec")))
#else
#define KVO_TLS_MODEL
#endif
extern KVO_HIDDEN _Thread_local struct kvo_own kvo__own KVO_TLS_MODEL;

#endif /* KVO_RECORD_H */
