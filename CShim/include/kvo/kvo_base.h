/* kvo_base.h - what all headers of libkvo need: visibility and nullability, the version, statuses and memory. Part of kvo.h. */
#ifndef KVO_BASE_H
#define KVO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/** Marks a function that the library exports. */
#define KVO_API __attribute__((visibility("default")))
#else
#define KVO_API
#endif

/* Pointers are never NULL unless marked KVO_NULLABLE. clang checks this, and Swift imports them as optionals; gcc ignores it. */
#if defined(__clang__)
#define KVO_NULLABLE _Nullable
#define KVO_NONNULL _Nonnull
#define KVO_ASSUME_NONNULL_BEGIN                                                                                       \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                     \
      _Pragma("clang assume_nonnull begin")
#define KVO_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
/** Marks a pointer that may be NULL. */
#define KVO_NULLABLE
/** Marks a pointer that is never NULL, where it would be taken for one that may be. */
#define KVO_NONNULL
/** From here on pointers are never NULL unless marked. */
#define KVO_ASSUME_NONNULL_BEGIN
/** The end of that. */
#define KVO_ASSUME_NONNULL_END
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ---------------------------------------------------------------------------------------------------------- Version -- */

/** The version of this header: incompatible changes, from 1.0 on. */
#define KVO_VERSION_MAJOR 0
/** The version of this header: additions; until 1.0 also incompatible changes. */
#define KVO_VERSION_MINOR 3
/** The version of this header: fixes. */
#define KVO_VERSION_PATCH 0
/** The version of this header as a number, as kvo_version returns that of the library. */
#define KVO_VERSION_NUMBER (KVO_VERSION_MAJOR * 10000 + KVO_VERSION_MINOR * 100 + KVO_VERSION_PATCH)
/** The number of the binary interface, that of libkvo.so.N. It changes only if a program that was built before could not run. */
#define KVO_ABI_NUMBER 1

/** Returns the version of the library at run time, as major * 10000 + minor * 100 + patch. Cannot fail. */
KVO_API uint32_t kvo_version(void);

/** Returns the version of the library at run time as text, such as "0.3.0". The string is static: do not free it. Cannot fail.
 * Async-signal-safe. */
KVO_API const char *kvo_version_string(void);

/* ----------------------------------------------------------------------------------------------------------- Status -- */

/** All statuses with their values and texts. Values never change; new ones are added at the end. */
#define KVO_STATUS_MAP(X)                                                                                              \
  X(KVO_OK, 0, "success")                                                                                              \
  X(KVO_ERROR_INVALID_ARGUMENT, -1, "invalid argument")                                                                \
  X(KVO_ERROR_OUT_OF_MEMORY, -2, "out of memory")                                                                      \
  X(KVO_ERROR_DUPLICATE_CLASS, -3, "a class of this name is already registered")                                       \
  X(KVO_ERROR_DUPLICATE_KEY, -4, "the class or a superclass already has a property of this key")                       \
  X(KVO_ERROR_BAD_TYPE_ENCODING, -5, "malformed or unsupported type encoding")                                         \
  X(KVO_ERROR_UNSUPPORTED_SETTER, -6, "a setter of this signature cannot be intercepted")                              \
  X(KVO_ERROR_NO_INTERCEPTION, -7, "no memory for executable trampolines")                                             \
  X(KVO_ERROR_UNDEFINED_KEY, -8, "the class has no such key")                                                          \
  X(KVO_ERROR_MALFORMED_KEY_PATH, -9, "malformed key path")                                                            \
  X(KVO_ERROR_NOT_REGISTERED, -10, "no such observation is registered")                                                \
  X(KVO_ERROR_READ_ONLY, -11, "the property has no setter")                                                            \
  X(KVO_ERROR_NO_GETTER, -12, "the property has no getter")                                                            \
  X(KVO_ERROR_TYPE_MISMATCH, -13, "the value is not of the property's type")                                           \
  X(KVO_ERROR_DYING_OBJECT, -14, "the object is being destroyed")                                                      \
  X(KVO_ERROR_NOT_AN_OBJECT, -15, "a key path leads through a value that is not an observable object")                 \
  X(KVO_ERROR_UNBALANCED, -16, "did without a matching will on this thread")                                           \
  X(KVO_ERROR_FILE, -17, "a file cannot be written")                                                                   \
  X(KVO_ERROR_BUSY, -18, "something of the kind is going on already")                                                  \
  X(KVO_ERROR_NO_DIAGNOSTICS, -19, "the library was built without diagnostics")                                        \
  X(KVO_ERROR_OUT_OF_RANGE, -20, "the collection has no such index")                                                   \
  X(KVO_ERROR_REFUSED, -21, "the setter has refused the value")                                                        \
  X(KVO_ERROR_NO_VALUE, -22, "the value is nil")

/** The result of a function; KVO_STATUS_MAP has the list. */
typedef enum kvo_status {
/** An enumerator of KVO_STATUS_MAP. */
#define KVO_STATUS_ENUM(name, value, text) name = value,
  KVO_STATUS_MAP(KVO_STATUS_ENUM)
#undef KVO_STATUS_ENUM
} kvo_status;

/** Returns the text of a status, or "unknown status"; never NULL. The string is static: do not free it. Async-signal-safe. */
KVO_API const char *kvo_status_string(kvo_status status);

/** Returns the text of the last error on this thread: which function failed, which class, property or key path was concerned, and why, in
 * one line without a newline. "" if no call has failed on this thread.
 *
 * Each function that returns a status other than KVO_OK sets it; one that succeeds leaves it as it is. The string is valid until the next
 * call on this thread that fails, and until the thread ends: copy what you keep. Without memory it is the text of the status. Never NULL.
 * Our decision. */
KVO_API const char *kvo_last_error(void);

/** Replaces malloc and free for all memory of the runtime, except executable pages, and what must outlive the allocator: the records of
 * threads, those of the diagnostics, and names of source files. Any thread may call them, with KVO_SOCKET or KVO_SLOW_MS also one of the
 * library.
 *
 * `allocate` returns memory aligned for any type, or NULL; `release` frees it; both get `arg`, and must not call the runtime. Call this
 * before any other function of the library, from one thread; NULL functions restore malloc and free. Both are called while the runtime
 * holds locks that a fork waits for: an allocator with fork handlers of its own must register them before libkvo is loaded, as the C
 * library does. Our decision. */
KVO_API void kvo_set_allocator(void *KVO_NULLABLE (*KVO_NULLABLE allocate)(size_t size, void *KVO_NULLABLE arg),
                               void (*KVO_NULLABLE release)(void *KVO_NULLABLE memory, void *KVO_NULLABLE arg),
                               void *KVO_NULLABLE arg);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_BASE_H */
