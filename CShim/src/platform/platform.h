/* platform/platform.h - what every file of the runtime includes: memory, the clock, cancellation. The other headers of this room stand for
 * themselves: settings, stack, modules, symbols, index. */
#ifndef KVO_PLATFORM_H
#define KVO_PLATFORM_H

/* The runtime itself calls its functions without the place. */
#define KVO_NO_SITES

#include <kvo/kvo_binding.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define KVO_HIDDEN __attribute__((visibility("hidden")))

/* In a section of its own: reports leave out the runtime's calls, also where it is linked into the program. GCC has no such pragma; of
 * what it compiles a report knows the library and the names of functions. */
#if defined(__clang__) && defined(__ELF__)
#pragma clang section text = "kvo_code"
#endif

/** What must hold where it stands, and would be a mistake of the runtime's own if it did not: in debug builds and in the C suite
 * (KVO_ASSERTIONS) the process ends with its line; elsewhere it is not looked at. */
#if defined(KVO_ASSERTIONS) && KVO_ASSERTIONS
#define kvo__assert(condition) ((condition) ? (void)0 : kvo__assert_failed(#condition, __FILE__, __LINE__))
#else
#define kvo__assert(condition) ((void)sizeof((condition) ? 1 : 0))
#endif
_Noreturn KVO_HIDDEN void kvo__assert_failed(const char *condition, const char *file, int line);

/** Around what may be a cancellation point of the C library, such as write(2), where a lock or a file would stay behind: the thread
 * is not cancelled in between. They nest; what the first returns is to be given to the second. */
KVO_HIDDEN int kvo__cancel_hold(void);
KVO_HIDDEN void kvo__cancel_resume(int before);

/** Zeroed memory of the process's allocator, or NULL. */
KVO_HIDDEN void *kvo__alloc(size_t size);
KVO_HIDDEN void kvo__free(void *memory);
KVO_HIDDEN char *kvo__copy_string(const char *string, size_t length);

/** Nanoseconds of the monotonic clock. */
KVO_HIDDEN int64_t kvo__now(void);
/** The same, exact to some milliseconds, and quick. */
KVO_HIDDEN int64_t kvo__coarse_now(void);

#endif /* KVO_PLATFORM_H */
