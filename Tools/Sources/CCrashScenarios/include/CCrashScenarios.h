/* CCrashScenarios.h - the crash catalogue as programs: scenarios, how to run them in separate processes, and their verdicts.
 *
 * A scenario is a small program with one misuse, or with code that only appears to be one, for a row of the catalogue (K01-K97).
 * `kvo crash` (Swift and C) and `kvo_crash` (C alone) run them. The lines of a scenario that its report has to name end with a
 * comment:
 *
 *     kvo_remove_observer(id); // site K27c: removed again
 */
#ifndef CCRASHSCENARIOS_H
#define CCRASHSCENARIOS_H

#include <kvo/kvo.h>
#include <stdbool.h>
#include <stddef.h>

KVO_ASSUME_NONNULL_BEGIN

/* --------------------------------------------------------------------------------------------------------- Scenarios -- */

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
  /** Its report is the golden one of its code. */
  KVO_CRASH_GOLDEN = 1u << 3,
};

/** A scenario. It and its strings are never freed. */
typedef struct kvo_crash_scenario {
  /** The row, a dot and a number if there are several, and `c` for C: "K27", "K27c", "K93.2". "E35" for a code without a row. */
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
  const char *number, *section, *title;
} kvo_crash_row;

/** Returns the row of an id, or NULL. */
const kvo_crash_row *KVO_NULLABLE kvo_crash_row_of(const char *id);

/** Returns the rows of the catalogue, K01 to K97 and then those of codes without a row, and stores their number. */
const kvo_crash_row *kvo_crash_rows(size_t *count);

/** Returns the scenario in C at an index, in the order of the catalogue's sections, or NULL past the end. */
const kvo_crash_scenario *KVO_NULLABLE kvo_crash_c_scenario(size_t index);

/** Returns whether a scenario is in C, by its id. */
bool kvo_crash_is_c(const kvo_crash_scenario *scenario);

/** Returns whether a scenario has a code. */
bool kvo_crash_expects(const kvo_crash_scenario *scenario, int code);

/** Runs the scenario in this process, which then ends: without a core file, and with status 70 if a kvo_crash_check failed. */
_Noreturn void kvo_crash_perform(const kvo_crash_scenario *scenario);

/* -------------------------------------------------------------------------------------------------- Within a scenario -- */

/** Records a failed condition, unless one was recorded before; the scenario then fails. Any thread. */
void kvo_crash_check(bool holds, const char *what, const char *file, uint32_t line);

/** Returns the number of bytes allocated at present. */
size_t kvo_crash_memory_in_use(void);

/** Runs `body(index, arg)` on `count` threads at the same time, and returns when all have returned. The fault handler of
 * the calling thread also handles their faults. */
void kvo_crash_in_threads(size_t count, void (*body)(size_t index, void *KVO_NULLABLE arg), void *KVO_NULLABLE arg);

/* --------------------------------------------------------------------------------------------------------- Verdicts -- */

/** The result of a scenario. Freed by kvo_crash_result_free. */
typedef struct kvo_crash_result {
  bool passed;
  /** The reason if it did not pass; "" if it did. */
  char reason[400];
  /** "SIGABRT", "exit 0", "time limit", or "handled" in process. */
  char ended[40];
  /** The raised codes, in order; at most the first 64. */
  int codes[64];
  size_t code_count;
  /** The output of the process to standard error, null-terminated. */
  char *KVO_NULLABLE report;
} kvo_crash_result;

void kvo_crash_result_free(kvo_crash_result *result);

/** How to start a scenario in a separate process. */
typedef struct kvo_crash_command {
  const char *program;
  /** The program's arguments, beginning with its name and ended by NULL; the scenario's id is appended. At most 8. */
  const char *KVO_NULLABLE const *KVO_NONNULL arguments;
  /** Whether Swift's runtime writes its backtrace below the report. */
  bool backtrace;
} kvo_crash_command;

/** Runs a scenario in a child process and checks the result. Blocks until the child has ended, or until its time limit. Any thread. */
void kvo_crash_run(const kvo_crash_scenario *scenario, const kvo_crash_command *command, kvo_crash_result *result);

/** Runs a scenario on this thread, with a handler that records its faults and ignores them, and checks the result. Not for one that is
 * KVO_CRASH_ALONE, or that has an environment: see kvo_crash_can_record. One at a time. */
void kvo_crash_record(const kvo_crash_scenario *scenario, kvo_crash_result *result);

/** Returns whether a scenario can run without a separate process. */
bool kvo_crash_can_record(const kvo_crash_scenario *scenario);

/** Returns a report without the parts that differ from run to run: addresses, lines, threads, times and stacks. Free it with free(). */
char *kvo_crash_normalise(const char *report);

/* ------------------------------------------------------------------------------------------------------------ Listing -- */

/** Several scenarios, and how to run them. */
typedef struct kvo_crash_list {
  const kvo_crash_scenario *KVO_NONNULL const *KVO_NONNULL scenarios;
  size_t count;
  const kvo_crash_command *command;
  /** Whether to print one line of JSON for each instead of a table, without parts that differ from run to run. */
  bool json;
} kvo_crash_list;

/** Prints the id, the title and the expected result of each scenario. */
void kvo_crash_print_list(const kvo_crash_list *list);

/** Runs one scenario, shows its report on standard error, and prints the verdict in a line. Returns whether it passed. */
bool kvo_crash_show(const kvo_crash_scenario *scenario, const kvo_crash_command *command);

/** Runs all scenarios, two at a time, and prints a line for each and a summary. Returns the number of failures. */
size_t kvo_crash_run_all(const kvo_crash_list *list);

KVO_ASSUME_NONNULL_END

#endif /* CCRASHSCENARIOS_H */
