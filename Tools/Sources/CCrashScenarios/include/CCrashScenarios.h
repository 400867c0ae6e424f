/* CCrashScenarios.h - the crash catalogue as programs.
 *
 * A scenario is a small program with one misuse, or with code that only appears to be one, for a row of the catalogue (K01-K97).
 * `kvo crash` (Swift and C) and `kvo_crash` (C alone) run them; scripts/crashes.py checks how they end. The lines of a scenario that its
 * report has to name end with a comment:
 *
 *     kvo_remove_observer(id); // site K27c: removed again
 */
#ifndef CCRASHSCENARIOS_H
#define CCRASHSCENARIOS_H

#include <kvo/kvo.h>
#include <stdbool.h>
#include <stddef.h>

KVO_ASSUME_NONNULL_BEGIN

/** How the process of a scenario ends without a fault handler. */
typedef enum kvo_crash_ending {
  /** By SIGABRT if one of the codes is fatal, otherwise with exit status 0. */
  KVO_CRASH_ENDS_BY_CODES = 0,
  KVO_CRASH_ENDS_WELL,
  KVO_CRASH_ENDS_ABORTED,
} kvo_crash_ending;

/** The flags of a scenario, as bits. */
enum {
  /** It needs a separate process: it exits, forks, sets handlers of the process, or exhausts a resource. */
  KVO_CRASH_ALONE = 1u << 0,
  /** Threads race: the last of the codes is raised once or more often. */
  KVO_CRASH_OR_MORE = 1u << 1,
  /** Its standard error is not readable or has other contents, and is not compared with the codes. */
  KVO_CRASH_UNREADABLE = 1u << 2,
};

/** A scenario. It and its strings are never freed. */
typedef struct kvo_crash_scenario {
  /** The row, a dot and a number if there are several, and `c` for C: "K27", "K27c", "K93.2". */
  const char *id;
  /** The source file as passed to the compiler. */
  const char *file;
  void (*run)(void);
  /** The faults that it raises, in order, when each is ignored: "2 1", "3*50" for fifty times; "" for none. */
  const char *codes;
  /** Environment variables, separated by single spaces: "KVO_REPORT=json KVO_STACKS=8". */
  const char *KVO_NULLABLE environment;
  /** Texts that standard error must contain, separated by '|'; and texts that it must not contain. */
  const char *KVO_NULLABLE contains;
  const char *KVO_NULLABLE lacks;
  kvo_crash_ending ending;
  /** KVO_CRASH_... bits. */
  uint32_t flags;
} kvo_crash_scenario;

/** A row of the catalogue. */
typedef struct kvo_crash_row {
  const char *number, *title;
} kvo_crash_row;

/** Returns the row of an id, or NULL. */
const kvo_crash_row *KVO_NULLABLE kvo_crash_row_of(const char *id);

/** Returns the scenario in C at an index, in the order of the catalogue's sections, or NULL past the end. */
const kvo_crash_scenario *KVO_NULLABLE kvo_crash_c_scenario(size_t index);

/** Prints a scenario for scripts/crashes.py, as a line of JSON. */
void kvo_crash_print(const kvo_crash_scenario *scenario);

/** Runs the scenario in this process, which then ends: without a core file, and with status 70 if a kvo_crash_check failed. */
_Noreturn void kvo_crash_perform(const kvo_crash_scenario *scenario);

/** Runs a scenario on this thread, with a handler that ignores its faults, and prints a line with its id and their codes, and one with a
 * check that failed. Does nothing for one that is KVO_CRASH_ALONE, or that has an environment. */
void kvo_crash_record(const kvo_crash_scenario *scenario);

/* -------------------------------------------------------------------------------------------------- Within a scenario -- */

/** Records a failed condition, unless one was recorded before; the scenario then fails. Any thread. */
void kvo_crash_check(bool holds, const char *what, const char *file, uint32_t line);

/** Returns the number of bytes allocated at present. */
size_t kvo_crash_memory_in_use(void);

/** Runs `body(index, arg)` on `count` threads at the same time, and returns when all have returned. The fault handler of
 * the calling thread also handles their faults. */
void kvo_crash_in_threads(size_t count, void (*body)(size_t index, void *KVO_NULLABLE arg), void *KVO_NULLABLE arg);

KVO_ASSUME_NONNULL_END

#endif /* CCRASHSCENARIOS_H */
