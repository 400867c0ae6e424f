/* CSwiftRuntime.h - the entry points of Swift's runtime that the Swift layer calls and that Swift code cannot name, and questions about
 * the thread that Foundation answers too slowly or not at all. */
#ifndef C_SWIFT_RUNTIME_H
#define C_SWIFT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Retains an object unless its deinitialisation has begun, and returns it or NULL. Its memory has to be there, as an unowned
 * reference sees to. It is how a weak reference is read, without the side table, which would make every retain and release of
 * the object slower. Defined in libswiftCore. */
void *_Nullable swift_tryRetain(void *_Nonnull object);

/** Whether an object's deinitialisation has begun. Its memory has to be there. Defined in libswiftCore. */
bool swift_isDeallocating(void *_Nonnull object);

/** The number of unowned references to an object, including the one that stands for its life: it is released when the object's
 * deinitialisation has ended. Defined in libswiftCore. */
size_t swift_unownedRetainCount(void *_Nonnull object);

/** A serial executor, as `UnownedSerialExecutor` stores it. */
typedef struct kvo_executor {
  uintptr_t identity;
  uintptr_t implementation;
} kvo_executor;

/** The executor of the job that this thread runs; its identity is 0 if the thread runs no job, or one that has none. Two words are
 * returned in the same registers by Swift's calling convention and by C's, on x86-64 and on AArch64. Defined in
 * libswift_Concurrency. */
kvo_executor swift_task_getCurrentExecutor(void);

/** Whether this is the thread that began the process. */
bool kvo_is_main_thread(void);

/** The kernel's ID of this thread, as in fault reports. */
uint32_t kvo_kernel_thread(void);

/** Whether two blocks have the same bytes. Of a size that the caller's compiler knows, it is a comparison of words. */
static inline bool kvo_has_same_bytes(const void *_Nonnull one, const void *_Nonnull other, size_t size) {
  return memcmp(one, other, size) == 0;
}

/** A computed property that an evaluation reads just now, in a stack frame of this thread, to record what its getter reads. */
typedef struct kvo_recorded {
  const void *_Nullable evaluation;
  const void *_Nonnull object;
  uint64_t key;
  struct kvo_recorded *_Nullable outer;
} kvo_recorded;

/** Makes it the innermost of this thread, with the one so far as `outer`; false if the evaluation reads the property already. */
bool kvo_recorded_begin(kvo_recorded *_Nonnull recorded);
void kvo_recorded_end(const kvo_recorded *_Nonnull recorded);

#endif
