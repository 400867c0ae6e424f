/* changes/scopes.h - stretches of a thread's code in which changes of certain objects are coalesced or silent: scopes.c,
 * scope_objects.c.
 * circle: notify.c, scopes.c, settle.c, stored.c: a change asks the scope whether it may notify; the scope keeps its own changes in frames;
 * bindings are settled in a scope, before its observers and others are notified. */
#ifndef KVO_SCOPES_H
#define KVO_SCOPES_H

#include "changes/frames.h"

/** A change of a key of an object in a coalescing scope. */
typedef struct kvo_coalesced {
  kvo_frame frame;
  struct kvo_coalesced *next;
  kvo_index_entry entry;
  const kvo_object *object;
  kvo_key key;
  /** The nodes up to this birth have been told before the change, and old values that are not kept have been read. */
  uint64_t seen;
  /** The thread's clock at the last store: what was evaluated later has read its value. And the birth of the newest node then: what was
   * registered with its initial value later has read it, too. */
  uint64_t stored, registered;
  /** The value before the first change, or NULL. */
  void *old_value;
  /** The value that an observer is told just now, or NULL. Here, so that it is released if the observer leaves with longjmp. */
  void *new_value;
  /** Its object has died. */
  bool is_over;
  /** Its object is kept until its observers have been notified. */
  bool is_kept;
} kvo_coalesced;

/** The kind of a scope in which bindings are settled. It covers all objects. */
#define KVO_SCOPE_SETTLES ((kvo_scope_kind)(KVO_SCOPE_SILENCES + 1))

/** An open scope. Not the program's kvo_scope, because that is gone when the scope has been left with longjmp. */
struct kvo_open_scope {
  struct kvo_open_scope *outer;
  /** Tells it from an earlier scope at the same address. */
  uint64_t serial;
  /** The address of the program's kvo_scope: the scope was left when the stack frame that contains it is gone. */
  const void *frame;
  kvo_scope_kind kind;
  /** The change that was found last: its object, NULL for none, its key, its info with the births known to the change, and the thread's
   * clock then. */
  const kvo_object *object;
  kvo_key key;
  const kvo_info *info;
  uint64_t seen, clock;
  /** The change whose observers are being notified, or NULL. */
  kvo_coalesced *present;
  /** The changes, oldest first, and those that are not over by object and key. */
  kvo_coalesced *first, **last;
  kvo_index by_key;
  /** How many calls use the scope, and whether it has ended meanwhile: the last of them frees it. */
  uint32_t users;
  bool is_over;
  /** When the end of the scope notifies, or bindings run: the depth of the marks outside of it; before that UINT32_MAX. If a mark of that
   * depth was left, so was the end of the scope, although its stack frame need not show it. */
  uint32_t depth;
  bool is_left;
  /** Bindings run: in this scope, or, at its end, in another one. */
  bool is_settling;
  /** The key whose change has opened it, if that tells its observers: also of what a binding makes of it. */
  kvo_slot *opener;
  /** The bindings that are to run, the lowest first, and the innermost one that runs. */
  kvo_index queue;
  struct kvo_bound *running;
  /** Those whose owners are asked when the queue is empty. */
  struct kvo_owned *owned;
  /** How many changes of the program on other threads it has settled. */
  uint64_t renewals;
  /** Those that run after the limit of rounds, which are a cycle; how many; and whether it is reported. */
  const kvo_node *cycle[64];
  uint64_t cycle_entered[64];
  size_t cycle_length;
  bool is_reported;
  /** It covers all objects; otherwise those with these addresses, sorted. */
  bool covers_all;
  size_t count;
  uintptr_t objects[];
};

/* ------------------------------------------------------------------------------------------------ scope_objects.c -- */

/** Describes the first mistake in the objects of kvo_scope_begin; NULL if there is none. */
KVO_HIDDEN const char *kvo__scope_mistake(kvo_object *const *objects, size_t count);
/** Has a scope cover these objects. Its memory has room for `count` addresses. */
KVO_HIDDEN void kvo__scope_fill(kvo_open_scope *scope, kvo_object *const *objects, size_t count);
/** Whether a scope that has not ended covers an object. */
KVO_HIDDEN bool kvo__scope_covers(const kvo_open_scope *scope, const kvo_object *object);
/** Notes the death of an object that the scope covers: a later object at its address is not in the scope. */
KVO_HIDDEN void kvo__scope_lose(kvo_open_scope *scope, const kvo_object *object);

/* ------------------------------------------------------------------------------------------------------- scopes.c -- */

/** The number of a new scope. */
KVO_HIDDEN uint64_t kvo__scope_serial(void);
/** Opens a scope of this thread; NULL without memory. */
KVO_HIDDEN kvo_open_scope *kvo__scope_open(kvo_scope_kind kind, kvo_object *const *objects, size_t count);
/** Notifies of what a scope has noted, and ends it. */
KVO_HIDDEN void kvo__scope_close(kvo_open_scope *scope);

/** What a thread's open scopes say about an object. */
typedef enum kvo_scoped { KVO_UNSCOPED, KVO_COALESCED, KVO_SILENT } kvo_scoped;

/** kvo__scope_takes for the change that was found last, in a few instructions. */
static inline bool kvo__scope_has(const kvo_object *object, kvo_key key) {
  const kvo_open_scope *scope = kvo__scopes();
  return scope != NULL && scope->object == object && scope->key == key && scope->frame > __builtin_frame_address(0) &&
         scope->clock == kvo__own.thread->clock &&
         atomic_load_explicit(&scope->info->births, memory_order_acquire) == scope->seen;
}

KVO_HIDDEN bool kvo__scope_takes_slowly(kvo_object *object, kvo_key key, bool by_setter);
/** Before a change: whether it is silent, or is noted and told at the end of a scope. If not, it notifies as usual. Calls prior observers
 * and evaluates expressions; no lock may be held. */
static inline bool kvo__scope_takes(kvo_object *object, kvo_key key, bool by_setter) {
  return kvo__scopes() != NULL && kvo__scope_takes_slowly(object, key, by_setter);
}
/** What applies to changes of this object. */
KVO_HIDDEN kvo_scoped kvo__scoped(const kvo_object *object);
/** After a store that notified nobody, when `open_changes` is not 0: whether expressions must be looked at, and, in `*silent`, whether they
 * are only settled. */
KVO_HIDDEN bool kvo__scope_stored(const kvo_object *object, kvo_key key, bool *silent);
/** See hooks.h. */
KVO_HIDDEN bool kvo__is_open(const kvo_tracked *tracked, kvo_slot *slot, const kvo_change_place *place,
                             bool with_announced);
/** At the death of an object: its changes in scopes of this thread end without notification. */
KVO_HIDDEN void kvo__scopes_forget(const kvo_object *object);
/** Marks from `first` on were left, of those that there were `before`: notes which scopes were left with them. */
KVO_HIDDEN void kvo__scopes_left(uint32_t first, uint32_t before);
/** At the end of a thread: ends all its scopes without notification. */
KVO_HIDDEN void kvo__scopes_drop(void);

#endif /* KVO_SCOPES_H */
