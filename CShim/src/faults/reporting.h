/* faults/reporting.h - making a fault, from the first word of its report to the end of the process. Start with kvo_report, then one of the
 * files that raise faults, then kvo__raise in fault.c. */
#ifndef KVO_FAULTS_REPORTING_H
#define KVO_FAULTS_REPORTING_H

#include "faults/faults.h"
#include "text/report.h"
#include "watching/ended.h"
#include "watching/history.h"

/* ---------------------------------------------------------------------------------------------------- reporting.c -- */

enum { KVO_MAX_SITES = 4, KVO_MAX_STEPS = 40, KVO_DETAIL_SIZE = 4096, KVO_REPORT_STACK = 1 << 18 };

/** The memory in which a fault is made: its content, and a stack to make it on. */
typedef struct kvo_report {
  /** The thread that makes the fault (kvo__own_mark), 0 if the report is free. */
  _Atomic uintptr_t owner;
  /** The fault handler is running; it may not return. */
  bool is_asked;
  kvo_fault fault;
  /** The first line after code and severity; and the fault's members of these names, if something was put into them. */
  kvo_sink detail, apple, help;
  kvo_fault_site sites[KVO_MAX_SITES];
  /** The labels of `sites`, if they are not literals. */
  char labels[KVO_MAX_SITES][320];
  /** Storage for the fault's members. */
  kvo_fault_observation concerned, members[KVO_MAX_STEPS];
  kvo_ended entries[KVO_MAX_SITES];
  kvo_ended_stacks stacks;
  kvo_fault_step steps[KVO_MAX_STEPS];
  kvo_past past;
  void *frames[KVO_FAULT_FRAMES];
  char summary_text[2048], detail_text[KVO_DETAIL_SIZE], apple_text[4096], help_text[4096];
  /** The stack; it grows downwards. */
  _Alignas(16) char stack[KVO_REPORT_STACK];
} kvo_report;

/** Begins a fault with this code and its severity; everything else is empty. kvo__raise ends it. Cannot fail. May be called in a signal
 * handler. */
KVO_HIDDEN kvo_report *kvo__report(kvo_fault_code code);
/** The same without looking for abandoned calls, so locks may be held. */
KVO_HIDDEN kvo_report *kvo__report_begin(kvo_fault_code code);
/** Ends a fault without raising it. */
KVO_HIDDEN void kvo__report_end(kvo_report *report);
/** Sets the observations, the object (that of the first one) and the source location of a fault. */
KVO_HIDDEN void kvo__report_concerns(kvo_report *report, const kvo_fault_observation *observations, size_t count,
                                     kvo_place place);
/** Sets the source location of a fault. */
KVO_HIDDEN void kvo__report_at(kvo_report *report, kvo_place place);
/** Adds a related location, at most KVO_MAX_SITES. */
KVO_HIDDEN kvo_fault_site *kvo__report_site(kvo_report *report, const char *label, kvo_place place);
/** Sets the deliveries in progress on this thread, and returns them. */
KVO_HIDDEN const kvo_fault_step *kvo__report_chain(kvo_report *report);
/** Calls `body` on the stack of a report. */
KVO_HIDDEN void kvo__report_run(kvo_report *on, void (*body)(void *arg), void *arg);
/** Calls `body` on the stack of a report; without memory on the present one. */
KVO_HIDDEN void kvo__with_room(void (*body)(void *arg), void *arg);
/** In the child of a fork, where the other threads are gone. */
KVO_HIDDEN void kvo__reports_forked(void);
/** A number that identifies this thread, and is the same in the child of a fork. */
static inline uintptr_t kvo__own_mark(void) { return (uintptr_t)&kvo__own.thread; }

/* --------------------------------------------------------------------------------------------------------- chain.c -- */

/** Stores the deliveries in progress on this thread, outermost first, with cycles folded. Returns the number of steps. */
KVO_HIDDEN size_t kvo__chain(kvo_fault_step *steps, size_t capacity);

/* --------------------------------------------------------------------------------------------------------- fault.c -- */

/** Completes a fault, reports it and frees it. Returns if the process is to go on. No lock may be held. */
KVO_HIDDEN void kvo__raise(kvo_report *report);
/** In the child of a fork, where the other threads are gone. */
KVO_HIDDEN void kvo__faults_forked(void);

/* ----------------------------------------------------------------------------------------------------------- die.c -- */

/** Writes what the program has printed and the C library still keeps for standard output, unless that could hang or is unsafe: in a signal
 * handler, while another thread prints, and if nobody reads. */
KVO_HIDDEN void kvo__flush_output(const kvo_caller *caller);
/** In the child of a fork. */
KVO_HIDDEN void kvo__output_forked(void);
/** Ends the process with SIGABRT. */
KVO_HIDDEN _Noreturn void kvo__die(void);

/* -------------------------------------------------------------------------------------------------------- groups.c -- */

/** A report lists at most this many observations one by one; of more it lists one per source location. */
enum { KVO_MAX_SINGLE = 8 };
/** Moves one observation per source location, class and key path to the front, with the count of its duplicates, largest counts first.
 * Returns how many there are, and in `*lines`, which may be NULL, how many source locations. */
KVO_HIDDEN size_t kvo__group(kvo_fault_observation *all, size_t count, size_t *lines);
/** Appends the distinct key paths with their counts, as in: key paths: "title" ×3, "pages". */
KVO_HIDDEN void kvo__append_key_paths(kvo_sink *to, const kvo_fault_observation *groups, size_t count);

/* -------------------------------------------------------------------------------------------------- removal.c -- */

/** Appends the observer of an observation that has ended, as in Panel@0x7f3c5c0041e0. */
KVO_HIDDEN void kvo__append_observer(kvo_sink *to, const kvo_ended *entry);
/** KVO0003. An observer found by its address may be another one than that of the entry. */
KVO_HIDDEN void kvo__fault_removed_twice(const kvo_ended *entry, bool by_address, kvo_place again);
/** Appends Apple's sentence about a removal that fails. */
KVO_HIDDEN void kvo__append_cannot_remove(kvo_sink *to, const char *observer_class, const void *observer,
                                          const char *key_path, const char *object_class, const void *object);

/* -------------------------------------------------------------------------------------------------- language.c -- */

/** Whether the help of a fault is read by somebody who writes Swift: by the source file of the fault, otherwise by that of an observation,
 * which may be NULL, otherwise by whether the process has Swift. */
KVO_HIDDEN bool kvo__is_for_swift(kvo_place place, const kvo_fault_observation *concerned);

/* -------------------------------------------------------------------------------------------------------- policy.c -- */

/** The file descriptor and the format of reports. */
KVO_HIDDEN int kvo__report_destination(kvo_report_format *format);
/** Sends reports to standard error from now on, after a failed write. False if they went there already. */
KVO_HIDDEN bool kvo__report_redirect(void);

#endif /* KVO_FAULTS_REPORTING_H */
