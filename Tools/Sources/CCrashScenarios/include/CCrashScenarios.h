/* CCrashScenarios.h - the crash catalogue as programs: what a scenario is, how one is run in a process of its own, and the verdict.
 *
 * A scenario is a small program that does one thing wrong, or a thing that only looks wrong, as a row of the catalogue (K01-K97)
 * says. `kvo crash` (Swift and C) and `kvo_crash` (C alone) run them. The lines of a scenario that its report has to name end with
 * a comment that says so:
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

/** How the process of a scenario ends when nobody handles its faults. */
typedef enum kvo_crash_ending {
  /** By SIGABRT if one of the codes is fatal, otherwise with exit status 0. */
  KVO_CRASH_ENDS_BY_CODES = 0,
  KVO_CRASH_ENDS_WELL,
  KVO_CRASH_ENDS_ABORTED,
} kvo_crash_ending;

/** What else is particular about a scenario, as bits. */
enum {
  /** It needs a process of its own: it exits, forks, sets handlers of the process, or runs out of something. */
  KVO_CRASH_ALONE = 1u << 0,
  /** Threads race: any number of the codes may come, also none. */
  KVO_CRASH_ANY_NUMBER = 1u << 1,
  /** Threads race: the last of the codes comes once or more often. */
  KVO_CRASH_OR_MORE = 1u << 2,
  /** It writes where no report can be read, or what is not ours: standard error is not compared with the codes. */
  KVO_CRASH_UNREADABLE = 1u << 3,
  /** Its report is the one kept for its code. */
  KVO_CRASH_GOLDEN = 1u << 4,
};

/** A scenario. It and its strings live for ever. */
typedef struct kvo_crash_scenario {
  /** The row's number, after a dot which of several, and `c` for C: "K27", "K27c", "K93.2c". "E35": of a code that has no row. */
  const char *id;
  /** The source file, as its compiler was told it. */
  const char *file;
  /** Does it; NULL when it is impossible. */
  void (*KVO_NULLABLE run)(void);
  /** The faults that it raises, in order, when each is ignored: "2 1", "3*50" for fifty times; "" for none. */
  const char *codes;
  /** How one would vary it. */
  const char *KVO_NULLABLE variation;
  /** Why this language cannot do it. */
  const char *KVO_NULLABLE impossible;
  /** Variables of the environment, one space between two: "KVO_REPORT=json KVO_STACKS=8". */
  const char *KVO_NULLABLE environment;
  /** Texts that standard error has to contain, '|' between two; and ones that it must not. */
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

/** Returns the row that an id belongs to, or NULL. */
const kvo_crash_row *KVO_NULLABLE kvo_crash_row_of(const char *id);

/** Returns the rows of the catalogue, K01 to K97 and then those of codes without a row, and stores how many there are. */
const kvo_crash_row *kvo_crash_rows(size_t *count);

/** Returns the scenario in C at a position, in the order of the catalogue's sections, or NULL past the end. */
const kvo_crash_scenario *KVO_NULLABLE kvo_crash_c_scenario(size_t index);

/** Tells whether a scenario is in C, by its id. */
bool kvo_crash_is_c(const kvo_crash_scenario *scenario);

/** Tells whether one of a scenario's codes is this one. */
bool kvo_crash_expects(const kvo_crash_scenario *scenario, int code);

/** Does the scenario in this process, which then ends: without a core file, and with status 70 if a kvo_crash_check failed. */
_Noreturn void kvo_crash_perform(const kvo_crash_scenario *scenario);

/* -------------------------------------------------------------------------------------------------- Within a scenario -- */

/** Notes that something did not hold, unless something was noted before: the scenario then fails. Any thread. */
void kvo_crash_check(bool holds, const char *what, const char *file, uint32_t line);

/** Returns how many bytes are allocated at present. */
size_t kvo_crash_memory_in_use(void);

/** Runs `body(index, arg)` on `count` threads at once, and returns when all have returned. What handles the faults of the
 * calling thread handles theirs. */
void kvo_crash_in_threads(size_t count, void (*body)(size_t index, void *KVO_NULLABLE arg), void *KVO_NULLABLE arg);

/* --------------------------------------------------------------------------------------------------------- Verdicts -- */

/** How a scenario went. Freed by kvo_crash_result_free. */
typedef struct kvo_crash_result {
  bool passed;
  /** Why it did not pass; "" if it did. */
  char reason[400];
  /** "SIGABRT", "exit 0", "time limit", or "handled" in process. */
  char ended[40];
  /** The codes seen, in order; of more than 64 the first. */
  int codes[64];
  size_t code_count;
  /** All that the process wrote to standard error, ended with NUL. */
  char *KVO_NULLABLE report;
} kvo_crash_result;

void kvo_crash_result_free(kvo_crash_result *result);

/** How to start a scenario in a process of its own. */
typedef struct kvo_crash_command {
  const char *program;
  /** The program's arguments, its name first, ended by NULL; the scenario's id is appended. At most 8. */
  const char *KVO_NULLABLE const *KVO_NONNULL arguments;
  /** Lets Swift's runtime write its backtrace below the report. */
  bool backtrace;
  /** A code whose fault a runtime built with KVO_MUTATIONS does not raise; 0 for none. */
  int without;
} kvo_crash_command;

/** Runs a scenario in a child process and judges how it went. Blocks until the child has ended, by its time limit at the latest. Any
 * thread. A scenario that is impossible passes, and nothing is run. */
void kvo_crash_run(const kvo_crash_scenario *scenario, const kvo_crash_command *command, kvo_crash_result *result);

/** Runs a scenario on this thread, with a handler that notes its faults and goes on in silence, and judges how it went. Not for one that
 * is impossible or KVO_CRASH_ALONE, or that has an environment: see kvo_crash_can_record. One at a time. */
void kvo_crash_record(const kvo_crash_scenario *scenario, kvo_crash_result *result);

/** Tells whether a scenario can do without a process of its own. */
bool kvo_crash_can_record(const kvo_crash_scenario *scenario);

/** Returns a report without what differs from run to run: addresses, lines, threads, times and stacks. Free it with free(). */
char *kvo_crash_normalise(const char *report);

/* ------------------------------------------------------------------------------------------------------------ Listing -- */

/** What to do with several scenarios. */
typedef struct kvo_crash_list {
  const kvo_crash_scenario *KVO_NONNULL const *KVO_NONNULL scenarios;
  size_t count;
  const kvo_crash_command *command;
  /** One line of JSON for each, instead of a table. It says nothing that differs from run to run. */
  bool json;
} kvo_crash_list;

/** Prints id, title and expectation of each scenario. */
void kvo_crash_print_list(const kvo_crash_list *list);

/** Runs one scenario, lets its report be seen on standard error, and prints the verdict in a line. Returns whether it passed. */
bool kvo_crash_show(const kvo_crash_scenario *scenario, const kvo_crash_command *command);

/** Runs all, two at a time, prints a line for each and a sum. Returns how many failed. */
size_t kvo_crash_run_all(const kvo_crash_list *list);

/** For each code: runs the scenarios that show it, with its fault switched off. Prints which of them pass all the same, and returns how
 * many do. */
size_t kvo_crash_run_mutations(const kvo_crash_list *list);

KVO_ASSUME_NONNULL_END

#endif /* CCRASHSCENARIOS_H */
