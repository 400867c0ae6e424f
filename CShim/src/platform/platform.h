/* platform/platform.h - included by every file of the runtime: memory, the clock, cancellation. The other headers of this room are included
 * where they are used: settings, stack, modules, symbols, index, signals. */
#ifndef KVO_PLATFORM_H
#define KVO_PLATFORM_H

/* The runtime calls its own functions without a source location. */
#define KVO_NO_SITES

#include <kvo/kvo_binding.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define KVO_HIDDEN __attribute__((visibility("hidden")))

/* The runtime's code is in a section of its own, so that reports can leave out its calls even if it is linked into the program. GCC has no
 * such pragma; for its code a report recognises the library and the names of functions. */
#if defined(__clang__) && defined(__ELF__)
#pragma clang section text = "kvo_code"
#endif

/** Checks an invariant of the runtime. In debug builds and in the C suite (KVO_ASSERTIONS) a violation ends the process with the source
 * line; in other builds the condition is not evaluated. */
#if defined(KVO_ASSERTIONS) && KVO_ASSERTIONS
#define kvo__assert(condition) ((condition) ? (void)0 : kvo__assert_failed(#condition, __FILE__, __LINE__))
#else
#define kvo__assert(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
_Noreturn KVO_HIDDEN void kvo__assert_failed(const char *condition, const char *file, int line);

/** Disable and restore the cancellation of this thread, around calls that may be cancellation points, such as write(2), and would leave a
 * lock or a file behind. They nest; pass the result of the first to the second. */
KVO_HIDDEN int kvo__cancel_hold(void);
KVO_HIDDEN void kvo__cancel_resume(int before);
/** Sleeps for some milliseconds. No cancellation point; keeps errno. */
KVO_HIDDEN void kvo__sleep(uint32_t milliseconds);

/** Allocates zeroed memory with the program's allocator; NULL if there is none. */
KVO_HIDDEN void *kvo__alloc(size_t size);
KVO_HIDDEN void kvo__free(void *memory);
KVO_HIDDEN char *kvo__copy_string(const char *string, size_t length);
/** The size of a structure whose last member was this one. */
#define KVO_SIZE_TO(T, member)                                                                                         \
  ((offsetof(T, member) + sizeof(((T *)0)->member) + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *))
/** Copies a structure that the caller has filled and that has `given` bytes in its headers. Members that these do not have become zero.
 * False if it has fewer than `least` bytes, a size that no header gives it, or, of a later version, members that are set and unknown
 * here. */
KVO_HIDDEN bool kvo__copy_spec(void *into, size_t size, const void *from, size_t given, size_t least);

/** The time of the monotonic clock in nanoseconds. */
KVO_HIDDEN int64_t kvo__now(void);
/** The same with a resolution of some milliseconds, but faster. */
KVO_HIDDEN int64_t kvo__coarse_now(void);

#endif /* KVO_PLATFORM_H */
