/* kvo_fault.h - faults: the misuse that the runtime reports, the content of a report, and who decides what happens next. Part of kvo.h.
 * Where Apple's platforms raise an exception, a fault carries its name and text; the rest is our decision. In a library that was built with
 * -DKVO_DIAGNOSTICS=OFF no misuse is reported or fatal, as with KVO_POLICY=ignore, and no handler is called. */
#ifndef KVO_FAULT_H
#define KVO_FAULT_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** All faults: the number, which never changes; the severity, from which a report may differ: KVO0026 is an error if a binding of C cannot
 * set its target; the name of the exception that Apple raises, or "" if Apple raises none or crashes; the meaning in one line; why it is
 * misuse, which is the second line of a report. */
#define KVO_FAULT_MAP(X)                                                                                               \
  X(KVO_FAULT_DEALLOCATED_WHILE_OBSERVED, 1, FATAL, "NSInternalInconsistencyException",                                \
    "an object was deallocated while observed",                                                                        \
    "an observation that does not end with its object must be removed before the object ends")                         \
  X(KVO_FAULT_NOT_REGISTERED, 2, FATAL, "NSRangeException", "removal of an observer that is not registered",           \
    "an observer can be removed only from the object, for the key path and with the context that it was added with")   \
  X(KVO_FAULT_REMOVED_TWICE, 3, FATAL, "NSRangeException", "removal of an observation that was removed before",        \
    "a removal ends an observation, and this one had already ended")                                                   \
  X(KVO_FAULT_DANGLING_OBSERVER, 4, FATAL, "", "an observer died without removing its observation",                    \
    "an observer must be removed before it is deallocated; on Apple's platforms this change would be sent to "         \
    "freed memory")                                                                                                    \
  X(KVO_FAULT_STALE_HANDLE, 5, FATAL, "", "an observation's id was used after its object had died",                    \
    "the end of an object ends its observations, and ids are never reused")                                            \
  X(KVO_FAULT_DYING_OBJECT, 7, FATAL, "", "registration on an object that is being destroyed",                         \
    "an object that is being destroyed cannot be observed")                                                            \
  X(KVO_FAULT_INVALID_ARGUMENT, 8, FATAL, "", "an invalid argument, such as NULL or a value that never was an id",     \
    "the argument is invalid")                                                                                         \
  X(KVO_FAULT_UNDEFINED_KEY, 9, FATAL, "NSUnknownKeyException", "undefined key",                                       \
    "a key must name a property of an observable object")                                                              \
  X(KVO_FAULT_MALFORMED_KEY_PATH, 10, FATAL, "NSUnknownKeyException", "malformed key path",                            \
    "a key path consists of keys separated by single dots")                                                            \
  X(KVO_FAULT_NEVER_NOTIFIES, 11, ERROR, "", "an observation that can never notify",                                   \
    "nothing that the value depends on notifies")                                                                      \
  X(KVO_FAULT_UNSUPPORTED_OBJECT, 12, FATAL, "", "memory that is not an object of a registered class",                 \
    "only objects of a registered class can be observed")                                                              \
  X(KVO_FAULT_NEVER_ENDED, 14, WARNING, "", "an observation that had not ended when the process did",                  \
    "an observation that is registered when the process ends may have been forgotten or be part of a reference cycle") \
  X(KVO_FAULT_ENDED_UNUSED, 15, INFO, "", "an observation that ended before any change",                               \
    "the observation ends with its token: keep the token as long as you want notifications")                           \
  X(KVO_FAULT_AMBIGUOUS_REMOVAL, 16, WARNING, "", "a removal without a context that matches several observations",     \
    "without a context it is ambiguous which observation to remove; it may be that of a superclass")                   \
  X(KVO_FAULT_ENDLESS_WAIT, 17, ERROR, "", "a wait that would never end",                                              \
    "a callback that waits for itself, directly or through another thread, would wait forever; the call returned "     \
    "without waiting")                                                                                                 \
  X(KVO_FAULT_THROUGH_COLLECTION, 18, FATAL, "NSInvalidArgumentException",                                             \
    "an observed key path goes through a collection", "a collection has no properties to observe; its elements have")  \
  X(KVO_FAULT_DUPLICATE, 19, INFO, "", "an observation that exists already", "each registration notifies separately")  \
  X(KVO_FAULT_NO_INTERCEPTION, 20, ERROR, "", "setters of a class cannot be intercepted",                              \
    "without executable memory no C setter can be intercepted; the object is unchanged")                               \
  X(KVO_FAULT_OVERWRITTEN_HEADER, 21, WARNING, "", "an observed object's header was overwritten",                      \
    "the header belongs to the runtime and says whether setters notify")                                               \
  X(KVO_FAULT_UNHANDLED, 22, FATAL, "NSInternalInconsistencyException",                                                \
    "a change that no class of the observer's hierarchy handled",                                                      \
    "no class in the observer's hierarchy recognised the context")                                                     \
  X(KVO_FAULT_RECURSION, 23, FATAL, "", "deliveries nested too deeply",                                                \
    "each nested delivery uses more of the stack, which would overflow")                                               \
  X(KVO_FAULT_UNSETTLED, 24, ERROR, "", "observations that set each other's properties without end",                   \
    "each observer sets a value that makes the next one set again")                                                    \
  X(KVO_FAULT_ABANDONED_DELIVERY, 25, FATAL, "", "a callback that was left by longjmp or an exception",                \
    "a callback must return, so that the runtime can notify the other observers and release its resources")            \
  X(KVO_FAULT_TYPE_MISMATCH, 26, FATAL, "NSInvalidArgumentException", "a value of the wrong type",                     \
    "values are converted only if nothing is lost")                                                                    \
  X(KVO_FAULT_SLOW_CALLBACK, 27, WARNING, "", "a callback that takes longer than KVO_SLOW_MS",                         \
    "the thread that sets a property waits until all its observers have returned")                                     \
  X(KVO_FAULT_DID_WITHOUT_WILL, 28, ERROR, "", "didChange without willChange",                                         \
    "a change needs a pair of calls: without willChange its old value is unknown and key paths are not updated")       \
  X(KVO_FAULT_UNFINISHED_CHANGE, 29, ERROR, "", "willChange without didChange",                                        \
    "a change needs a pair of calls: observers are notified at didChange")                                             \
  X(KVO_FAULT_CROSSED_THREADS, 30, ERROR, "", "willChange and didChange on different threads",                         \
    "a pair belongs to one thread: two threads may announce changes of one key at the same time")                      \
  X(KVO_FAULT_DOUBLE_NOTIFICATION, 31, WARNING, "", "a change announced manually that the setter announces too",       \
    "a set between willChange and didChange notifies through the setter and again at didChange")                       \
  X(KVO_FAULT_SILENT_CHANGE, 32, ERROR, "", "an object on an observed key path was replaced without notification",     \
    "an observed key path is updated only by notifications: meanwhile it observed an object that was no longer on it") \
  X(KVO_FAULT_BAD_INDEXES, 33, ERROR, "", "indexes that do not match the collection or the other half of the change",  \
    "the indexes tell observers which elements changed")                                                               \
  X(KVO_FAULT_BAD_CONFIGURATION, 34, WARNING, "", "an invalid environment variable", "an invalid part is ignored")     \
  X(KVO_FAULT_NIL_VALUE, 35, FATAL, "NSInvalidArgumentException", "nil for a property that cannot be nil",             \
    "the property's type cannot represent nil")                                                                        \
  X(KVO_FAULT_BAD_OPERATOR, 36, FATAL, "NSInvalidArgumentException",                                                   \
    "a collection operator that is unknown or used wrongly", "the operator is unknown, or cannot be applied here")     \
  X(KVO_FAULT_OUT_OF_RANGE, 37, FATAL, "NSRangeException", "an index out of range", "the index is out of range")       \
  X(KVO_FAULT_NIL_COLLECTION, 38, FATAL, "NSInternalInconsistencyException", "a mutation of a collection that is nil", \
    "the property has no collection to change")                                                                        \
  X(KVO_FAULT_SELF_DEPENDENCY, 39, FATAL, "NSInternalInconsistencyException",                                          \
    "a key that is declared to affect itself", "a change of a key always notifies its own observers")                  \
  X(KVO_FAULT_BAD_COLLECTION_CHANGE, 40, FATAL, "NSInvalidArgumentException",                                          \
    "different numbers of elements and indexes", "the arguments contradict each other")

/** The number of a fault; KVO_FAULT_MAP has the list. */
typedef enum kvo_fault_code {
/** An enumerator of KVO_FAULT_MAP. */
#define KVO_FAULT_ENUM(name, value, severity, exception, text, why) name = value,
  KVO_FAULT_MAP(KVO_FAULT_ENUM)
#undef KVO_FAULT_ENUM
} kvo_fault_code;

/** The severity of a fault, which decides what happens by default. */
typedef enum kvo_severity {
  /** The process ends. */
  KVO_SEVERITY_FATAL = 0,
  /** It is reported; the misuse has no effect, and the process goes on. */
  KVO_SEVERITY_ERROR = 1,
  /** It is reported once per source location, without one per calls of the program; KVO0009 and KVO0011 once per location and key. Memory
   * and notifications were correct. */
  KVO_SEVERITY_WARNING = 2,
  /** It is reported only if KVO_POLICY or a handler asks for it: the code is often intended. */
  KVO_SEVERITY_INFO = 3,
} kvo_severity;

/** Returns the name of a severity, such as "fatal", or "unknown". The string is static: do not free it. Cannot fail. Async-signal-safe. */
KVO_API const char *kvo_severity_name(kvo_severity severity);

/** A row of KVO_FAULT_MAP, for tools that list the faults or look one up. */
typedef struct kvo_fault_kind {
  /** The number of the fault. */
  kvo_fault_code code;
  /** Its severity. */
  kvo_severity severity;
  /** The name of the exception that Apple raises, or NULL where Apple raises none or crashes. */
  const char *KVO_NULLABLE exception;
  /** The one-line meaning. */
  const char *meaning;
} kvo_fault_kind;

/** Returns row `index` of KVO_FAULT_MAP, in the order of the codes; NULL past the end. The row is static: do not free it. Cannot fail. Any
 * thread; takes no lock. Our decision. */
KVO_API const kvo_fault_kind *KVO_NULLABLE kvo_fault_kind_at(size_t index);

/** A location in the program. Valid until the handler returns. */
typedef struct kvo_fault_site {
  /** What happened there, such as "removed". */
  const char *label;
  /** `file_length` bytes, not always terminated by NUL; NULL if unknown. */
  const char *KVO_NULLABLE file;
  size_t file_length;
  uint32_t line;
  /** The kernel's thread id, 0 if unknown. */
  uint32_t thread;
  /** How many seconds before the fault; negative if unknown. */
  double age;
  /** Return addresses, innermost first; NULL if not captured. */
  void *const KVO_NULLABLE *KVO_NULLABLE frames;
  size_t frame_count;
} kvo_fault_site;

/** An observation that a fault concerns. If there are more than 8, one stands for all of the same source location. Valid until the handler
 * returns. */
typedef struct kvo_fault_observation {
  /** The id. */
  kvo_observation observation;
  /** The key path, as registered. */
  const char *key_path;
  /** The options, as registered. */
  kvo_options options;
  /** The class name of the observer; NULL if only its address is known. */
  const char *KVO_NULLABLE observer_class;
  /** The observer's address; NULL if unknown. */
  const void *KVO_NULLABLE observer;
  /** The context, as registered. */
  void *KVO_NULLABLE context;
  /** What the registration said about itself, such as the queue that delivers; NULL if nothing. */
  const char *KVO_NULLABLE note;
  /** Where it was registered: `file_length` bytes, not always terminated by NUL; NULL if unknown. */
  const char *KVO_NULLABLE file;
  size_t file_length;
  uint32_t line;
  /** The C function that is called; NULL for a binding's observation. */
  void (*KVO_NULLABLE callback)(void);
  /** The observed object's address, as a binding knows it; NULL if unknown. */
  const void *KVO_NULLABLE object;
  /** The name of the object's class; NULL if unknown. */
  const char *KVO_NULLABLE object_class;
  /** Return addresses of the registration, innermost first; NULL unless KVO_STACKS is set. */
  void *const KVO_NULLABLE *KVO_NULLABLE frames;
  size_t frame_count;
  /** How many more observations it stands for: those with the same source location, key path and class. */
  size_t duplicate_count;
} kvo_fault_observation;

/** A delivery in progress on the faulting thread. */
typedef struct kvo_fault_step {
  /** The observation that is delivered. */
  kvo_fault_observation observation;
  /** If not 0, the `round` steps beginning with this one occurred `repeats` more times, nested, before the next step. */
  size_t round;
  /** How many more times the steps of the round occurred. */
  size_t repeats;
  /** In the first step: how many outer deliveries are left out. */
  size_t skipped;
} kvo_fault_step;

/** The kind of an event in the life of an object before a fault (KVO_HISTORY). */
typedef enum kvo_event_kind {
  /** An observation was registered. */
  KVO_EVENT_REGISTERED = 1,
  /** An observation ended. */
  KVO_EVENT_ENDED = 2,
  /** A property was changed. */
  KVO_EVENT_CHANGED = 3,
  /** A callback was called. */
  KVO_EVENT_DELIVERED = 4,
  /** The object was destroyed. */
  KVO_EVENT_DIED = 5,
} kvo_event_kind;

/** An event. Valid until the handler returns. */
typedef struct kvo_event {
  /** What happened. */
  kvo_event_kind kind;
  /** The kernel's id of the thread on which it happened. */
  uint32_t thread;
  /** How many seconds before the fault. */
  double age;
  /** The object's address, as a binding knows it. */
  const void *object;
  /** The name of its class. */
  const char *object_class;
  /** The key, or the key path of an observation. */
  const char *key_path;
  /** 0 for KVO_EVENT_CHANGED and KVO_EVENT_DIED. */
  kvo_observation observation;
  /** Where the observation was registered, terminated by NUL; NULL if unknown. */
  const char *KVO_NULLABLE file;
  uint32_t line;
  /** The new value as text, if KVO_VALUES is set and C can read its type; otherwise NULL. */
  const char *KVO_NULLABLE value;
} kvo_event;

/** A fault. Valid until the handler returns. */
typedef struct kvo_fault {
  /** The number of the fault. */
  kvo_fault_code code;
  /** Its severity. */
  kvo_severity severity;
  /** One complete line, which begins with the code, such as "KVO0002 fatal: ...", and ends with the source location if it is known. Control
   * characters in names are escaped. */
  const char *summary;
  /** Apple's sentence for this misuse, or NULL where Apple has none. */
  const char *KVO_NULLABLE apple;
  /** The name of the exception that Apple raises, such as "NSRangeException", or NULL where Apple raises none or crashes. */
  const char *KVO_NULLABLE exception;
  /** How to correct the program, or NULL. */
  const char *KVO_NULLABLE help;
  /** Where the misuse happened: `file_length` bytes, not always terminated by NUL; NULL if unknown. */
  const char *KVO_NULLABLE file;
  size_t file_length;
  uint32_t line;
  /** The observations that it concerns; NULL if there are none. */
  const kvo_fault_observation *KVO_NULLABLE observations;
  /** How many there are. */
  size_t observation_count;
  /** The kernel's id of the thread that caused it. */
  uint32_t thread;
  /** Why it is a misuse, in one sentence, or NULL. */
  const char *KVO_NULLABLE why;
  /** The object's address, as a binding knows it; NULL if there is none. */
  const void *KVO_NULLABLE object;
  /** The name of the object's class; NULL if unknown. */
  const char *KVO_NULLABLE object_class;
  /** Related locations, such as the first removal of an observation that is removed again. */
  const kvo_fault_site *KVO_NULLABLE sites;
  size_t site_count;
  /** Return addresses of the misuse, innermost first. */
  void *const KVO_NULLABLE *KVO_NULLABLE frames;
  size_t frame_count;
  /** The deliveries in progress on this thread, outermost first. */
  const kvo_fault_step *KVO_NULLABLE chain;
  size_t chain_count;
  /** Earlier events of the object, oldest first. */
  const kvo_event *KVO_NULLABLE events;
  size_t event_count;
} kvo_fault;

/** The forms of a report. */
typedef enum kvo_report_format {
  /** Lines for people, less than 16 KiB unless names are very long. The first line is the summary. */
  KVO_REPORT_TEXT = 0,
  /** One line of JSON, whose member "schema" is 1. Addresses and ids are strings. Each call says whether it is one of the library's. */
  KVO_REPORT_JSON = 1,
} kvo_report_format;

/** Writes the whole report into `buffer` of `size` bytes, terminated by NUL, and cut if it does not fit. Returns the length of the whole
 * report without the NUL. Of a string longer than 1000 bytes it writes the beginning and the end.
 *
 * Async-signal-safe: it allocates nothing, takes no lock, and uses less than 3 KiB of stack. It may be called in the child of a fork and
 * when memory is exhausted. In a signal handler, names of Swift and C++ functions are not demangled, because their runtimes allocate memory
 * for that; names are missing where a module's file cannot be read. NULL for the fault writes an empty text, NULL for the buffer only
 * measures, and an unknown format is text. In a fault made by the program arrays may be NULL, whatever their counts. */
KVO_API size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *KVO_NULLABLE buffer,
                                size_t size);

/** Writes a call of a stack, such as "close_document libApp.so+0x33a1", into `buffer` of `size` bytes, terminated by NUL, and cut if it
 * does not fit. The offset is that of the call in the module's file, as addr2line(1) takes it. Returns the length of the whole text without
 * the NUL; NULL for the buffer only measures. Async-signal-safe: takes no lock; in a signal handler names of Swift and C++ functions are
 * not demangled. */
KVO_API size_t kvo_call_format(const void *KVO_NULLABLE return_address, char *KVO_NULLABLE buffer, size_t size);

/** Returns whether text reports leave a call of a stack out: it is in this library, in Swift's standard library or Foundation, also where
 * the compiler copied it into the program, or in a thunk. False if that is not known, as where the module's file has no symbols, and
 * without diagnostics. Async-signal-safe: takes no lock. */
KVO_API bool kvo_call_is_library(const void *KVO_NULLABLE return_address);

/** What happens after a fault. */
typedef enum kvo_action {
  /** As KVO_POLICY says; by default abort after a fatal fault, log an error, log a warning once, ignore an info. */
  KVO_ACTION_DEFAULT = 0,
  /** Go on without a report. The call that caused the fault returns an error, and memory is safe. */
  KVO_ACTION_IGNORE = 1,
  /** Write the report to standard error, and go on. */
  KVO_ACTION_LOG = 2,
  /** Write the report to standard error, and end the process with SIGABRT. */
  KVO_ACTION_ABORT = 3,
  /** Write the report, and stop in the debugger; without a debugger go on. */
  KVO_ACTION_TRAP = 4,
  /** KVO_ACTION_LOG for the first fault with this code at this source location, KVO_ACTION_IGNORE afterwards. */
  KVO_ACTION_ONCE = 5,
} kvo_action;

/** Called for each fault on the thread that caused it, with no lock held; for a slow callback (KVO0027) on a thread of the library, while
 * the callback runs. It may call every function of this header. A fault inside the handler does not call the handler again: it takes the
 * default action.
 *
 * A handler should return. If it is left with longjmp, the call that caused the fault, and the callbacks, getters and setters that the jump
 * crosses, are abandoned: the rest of their work is not done, and memory that they use is never freed. This is no fault; nobody waits for
 * the abandoned calls, and the handler is called for the next fault. The runtime notices the jump at the thread's next use of observations,
 * or when another thread waits. Our decision. */
typedef kvo_action (*kvo_fault_handler)(const kvo_fault *fault, void *KVO_NULLABLE arg);

/** Sets the handler of the process, NULL for none, and returns the previous one. `arg` must live until the handler is replaced
 * and its calls in progress on other threads have returned. A signal handler for SIGABRT must not be left with longjmp.
 *
 * Without a handler, or if it returns KVO_ACTION_DEFAULT, the environment decides. It is read once, at the first fault, and is ignored in a
 * program that runs with other privileges than its user's (see secure_getenv(3)):
 * - KVO_POLICY: a list of items. `abort` applies to fatal faults; `trap`, `log`, `once` and `ignore` to all but infos; items such as
 *   `error:abort` and `KVO0002:ignore` to a severity or a code. The most specific item applies. Ignored KVO0004 and KVO0025 are logged.
 * - KVO_REPORT: `text` (the default) or `json`; with `leaks`, observations that remain at exit are reported (KVO0014).
 * - KVO_REPORT_PATH: a file to append reports to, instead of standard error; `%p` in it is replaced by the process id. Once the file cannot
 *   be written, reports go to standard error.
 * - KVO_HELP: any value but 0 prints these settings and all codes at the first fault.
 *
 * The following are read when the library is loaded:
 * - KVO_STACKS: how many return addresses to keep of each registration and removal. 0, the default, keeps the source location only; `full`
 *   keeps 64, and text reports then also show the library's calls.
 * - KVO_ZOMBIES: how many ended observations to remember, to tell a second removal from that of an observation that never existed. 2048.
 * - KVO_HISTORY: how many events to remember. 0.
 * - KVO_VALUES: 1 lets reports and traces contain values of properties, which may be private.
 * - KVO_MAX_DEPTH: how deep deliveries may nest, if the stack has room. 0, the default, means as deep as the stack allows.
 * - KVO_MAX_ROUNDS: how often a binding sets its target in answer to itself, before it is KVO0024. 1000.
 * - KVO_SLOW_MS: reports callbacks that run longer than this many milliseconds. 0, the default, reports none.
 * - KVO_AVALANCHE: reports, once for each such set, that one set causes more than this many notifications, with those that its observers
 *   cause. 0, the default, reports none.
 * - KVO_SOCKET: 1 lets the tool `kvo` of the same user, or of root, look at the running program from its first registration on, through a
 *   socket in $XDG_RUNTIME_DIR or, where that is not set, in /tmp/kvo-UID. An absolute path is that of the socket, with `%p` for the
 *   process id, or of a folder for it. A thread named "kvo" serves it. The child of a fork makes a socket of its own. 0, the default,
 *   makes none.
 *
 * A library that was built without diagnostics has no faults, stores no handler and returns NULL; kvo_fault_kind_at(0) is NULL there. */
KVO_API kvo_fault_handler KVO_NULLABLE kvo_set_fault_handler(kvo_fault_handler KVO_NULLABLE handler,
                                                             void *KVO_NULLABLE arg);

/** Returns the handler of the process, or NULL. If `arg` is not NULL, stores its argument, so that it can be set again. */
KVO_API kvo_fault_handler KVO_NULLABLE kvo_get_fault_handler(void *KVO_NULLABLE *KVO_NULLABLE arg);

/** Sets the handler of the calling thread, NULL for none, and returns the previous one. It is called first; if it returns
 * KVO_ACTION_DEFAULT, the handler of the process is called. `arg` must live until the handler is replaced or the thread ends; destructors
 * of the thread's data may already run without it. Without memory it is not set: kvo_get_thread_fault_handler then returns NULL. */
KVO_API kvo_fault_handler KVO_NULLABLE kvo_set_thread_fault_handler(kvo_fault_handler KVO_NULLABLE handler,
                                                                    void *KVO_NULLABLE arg);

/** Returns the handler of the calling thread, or NULL. If `arg` is not NULL, stores its argument, so that it can be set again. */
KVO_API kvo_fault_handler KVO_NULLABLE kvo_get_thread_fault_handler(void *KVO_NULLABLE *KVO_NULLABLE arg);

/** Called for each fault, after its report is written and before the process ends or goes on. It does nothing; it is exported so that a
 * debugger can set a breakpoint on it. */
KVO_API void kvo_fault_break(const kvo_fault *fault);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_FAULT_H */
