/* kvo_scope.h - scopes of a thread, in which changes of certain objects are delivered once at the end, or not at all. Part of kvo.h. */
#ifndef KVO_SCOPE_H
#define KVO_SCOPE_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** What happens to the changes of an object in a scope. */
typedef enum kvo_scope_kind {
  /** They are delivered at the end of the scope, each key once. */
  KVO_SCOPE_COALESCES = 0,
  /** The same, but only for keys and expressions whose value differs from that before the scope (with KVO_OLD, an expression's from the one
   * delivered last), or cannot be compared. Numbers of different types are compared as numbers: the sum 0 of no elements is that of one
   * that is 0.0. A bool differs from numbers. If another thread sets a key within the scope and the scope then sets it to the value before,
   * that last value is not delivered; nor is one that is set back after an observation was resumed within the scope and notified of what it
   * had missed. */
  KVO_SCOPE_COALESCES_IF_CHANGED = 1,
  /** Nobody is notified of them. */
  KVO_SCOPE_SILENCES = 2,
} kvo_scope_kind;

/** A stretch of code of one thread, from kvo_scope_begin to kvo_scope_end. The members belong to the runtime and need no
 * initialisation. */
typedef struct kvo_scope {
  /** The runtime's. */
  uintptr_t kvo_private[4];
} kvo_scope;

/** Begins a scope of this thread for changes of these objects, or of all if `objects` is NULL: by setters, by frames, and announced by
 * hand. Changes of other objects, and those that other threads make, notify as usual.
 *
 * A coalescing scope notifies each observer of each changed key once, at its end: a setting, even of changes of elements, with the value
 * before the first change as the old value and the present one as the new value. The order is that of the first changes; for each key
 * newest observer first. What an observer changes then is delivered at once: before what the scope has yet to deliver, also of the same
 * key. Bindings settle at the end, before any observer is notified. Observers that want the change before it is made are called at the
 * first change. An observation that is registered in the scope is notified of the changes made after that, if there are any. An expression
 * that reads several of the keys notifies once. When one of them has changed, what this thread changes of anything else that the expression
 * reads, also of other objects, is left to the end of the scope too, in the same notification. The scope notes a change before the store:
 * with KVO_SCOPE_COALESCES a set that the setter refuses is delivered as well, with the present value.
 *
 * An old value that is an object is kept without being retained, also as an element of a list or a set: it has to live until kvo_scope_end,
 * which passes it to the observers, has returned, not only until its setter has.
 *
 * In a silent scope nobody is notified of changes, and expressions follow the new values. A death notifies all the same, but not an
 * expression that has read the key whose store releases the object. Code that uses frames calls kvo_binding_stored after each store whose
 * kvo_frame_begin returned 0 (kvo_raw.h).
 *
 * Scopes nest. If several cover an object, its changes are silent if one of these scopes is, otherwise they are delivered at the end of the
 * outermost, whose kind counts. A change takes time for each scope that is open. Changes that observers make within a scope, on its thread,
 * belong to it; those that they make while the end of the scope calls them do not. An announcement belongs to the scope in which its
 * kvo_will_change is called, and has to end in it.
 *
 * `objects` is copied. If it is NULL the count has to be 0, and the scope covers whatever this thread changes. The objects are not
 * retained: one that is destroyed within the scope, which has to be on this thread, leaves it, and its changes are not delivered; an
 * expression of C++ that read it is notified of the death at once, or at the end if something else that it reads has changed in the scope.
 * `scope` has to be a local variable of the code that calls kvo_scope_end; the call may pass a copy. If that code is left with longjmp or
 * an exception, or the thread ends, nothing is delivered, and expressions follow the new values. Until the thread's next notification or
 * scope shows it, changes are still taken for those of the scope: it shows in a stack frame that is further out than the library's own
 * frames reach, about 1 KiB, so always end a scope. `file` and `line` are for reports. Fails with INVALID_ARGUMENT, which is fault KVO0008,
 * or OUT_OF_MEMORY; then there is no scope, changes notify as usual, and kvo_scope_end does nothing. If memory is lacking later, a change
 * that cannot be kept notifies at once. Our decision. */
KVO_API kvo_status kvo_scope_begin(kvo_scope *scope, kvo_scope_kind kind,
                                   kvo_object *KVO_NONNULL const *KVO_NULLABLE objects, size_t count,
                                   const char *KVO_NULLABLE file, uint32_t line);

/** Ends a scope: notifies of its changes, on this thread, before it returns. Call it on the thread that began the scope. NULL, and a scope
 * that is not open on this thread, are ignored. */
KVO_API void kvo_scope_end(kvo_scope *scope);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_SCOPE_H */
