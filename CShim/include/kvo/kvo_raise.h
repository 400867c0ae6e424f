/* kvo_raise.h - UNSTABLE, part of kvo_binding.h: faults that a binding raises itself, and what it needs to describe them. */
#ifndef KVO_RAISE_H
#define KVO_RAISE_H

#include <kvo/kvo_binding.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** Returns the limit that KVO_MAX_ROUNDS sets: how often a binding may run in one settling. Cannot fail. Any thread. */
KVO_API uint32_t kvo_binding_max_rounds(void);

/** Returns the edit distance between a misspelt name and one that may have been meant: letters to insert, remove, replace or transpose,
 * whatever their case. 0 if they are equal, or too far apart to be meant. A getter's name, such as "isOpen", is close to its key, "open".
 * Any thread; takes no lock. Returns 0 for NULL. */
KVO_API size_t kvo_name_distance(const char *written, const char *meant);

/** Reports a fault on behalf of a binding. `detail` follows the code and severity on the first line; `apple` is Apple's sentence or NULL;
 * `help` is a remedy or NULL; `observations` are those concerned; `file` and `line` are where it happened. Returns if the process is to go
 * on. No lock may be held. NULL for `detail` is an empty text; NULL for `observations` means none, whatever the count. */
KVO_API void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *KVO_NULLABLE apple,
                             const char *KVO_NULLABLE help, const kvo_fault_observation *KVO_NULLABLE observations,
                             size_t observation_count, const char *KVO_NULLABLE file, uint32_t line);

/** Sets a handler that is called after the thread's handler and before the process's, NULL for none, and returns the previous one. For a
 * binding with scopes of its own, such as Swift's tasks: the handler finds the scope on the faulting thread. */
KVO_API kvo_fault_handler KVO_NULLABLE kvo_binding_set_scope_fault_handler(kvo_fault_handler KVO_NULLABLE handler);

/** Returns how many fatal faults the calling thread has raised. A binding compares it before and after it calls code of the program, to
 * stop after a fault what an exception would have stopped. */
KVO_API uint64_t kvo_thread_fault_count(void);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_RAISE_H */
