/* faults/reporting.h - a fault in the making, from the first word of its report to the end of the process. A newcomer reads kvo_report
 * first, then one of the files that raise, and kvo__raise in fault.c. */
#ifndef KVO_FAULTS_REPORTING_H
#define KVO_FAULTS_REPORTING_H

#include "faults/faults.h"
#include "text/report.h"
#include "watching/ended.h"
#include "watching/history.h"

/* ---------------------------------------------------------------------------------------------------- reporting.c -- */

enum { KVO_MAX_SITES = 4, KVO_MAX_STEPS = 40, KVO_DETAIL_SIZE = 4096, KVO_REPORT_STACK = 1 << 18 };

/** A fault in the making: what it is made of, and the stack that it is made on. */
typedef struct kvo_report {
  /** The thread that makes it, as kvo__own_mark tells it, 0 if none does. */
  _Atomic uintptr_t owner;
  /** The fault handler is asked, which may not return. */
  bool is_asked;
  kvo_fault fault;
  /** The first line behind code and severity; and what the fault's members of these names become, if something is put into them. */
  kvo_sink detail, apple, help;
  kvo_fault_site sites[KVO_MAX_SITES];
  /** Of the first lines of `sites`, where they are no literals. */
  char labels[KVO_MAX_SITES][320];
  /** What the fault's members may point to. */
  kvo_fault_observation concerned;
  kvo_ended entries[KVO_MAX_SITES];
  kvo_fault_step steps[KVO_MAX_STEPS];
  kvo_past past;
  void *frames[KVO_FAULT_FRAMES];
  char summary_text[2048], detail_text[KVO_DETAIL_SIZE], apple_text[4096], help_text[4096];
  /** It grows downwards. */
  _Alignas(16) char stack[KVO_REPORT_STACK];
} kvo_report;

/** Begins a fault of this code: its severity is the code's, and all else is empty. kvo__raise ends it. Cannot fail; may be called in a
 * signal handler. */
KVO_HIDDEN kvo_report *kvo__report(kvo_fault_code code);
/** The same without a look at what was left by longjmp: locks may be held. */
KVO_HIDDEN kvo_report *kvo__report_begin(kvo_fault_code code);
/** Ends one that is not raised. */
KVO_HIDDEN void kvo__report_end(kvo_report *report);
/** Says what a fault is about: observations, the first one's object, and where it happened. */
KVO_HIDDEN void kvo__report_concerns(kvo_report *report, const kvo_fault_observation *observations, size_t count,
                                     kvo_place place);
/** Says where it happened. */
KVO_HIDDEN void kvo__report_at(kvo_report *report, kvo_place place);
/** Adds another place that it is about; no more than KVO_MAX_SITES. */
KVO_HIDDEN kvo_fault_site *kvo__report_site(kvo_report *report, const char *label, kvo_place place);
/** Stores the deliveries in progress on this thread in the fault, and returns them. */
KVO_HIDDEN const kvo_fault_step *kvo__report_chain(kvo_report *report);
/** Runs `body` on a report's stack, and returns when it has. */
KVO_HIDDEN void kvo__report_run(kvo_report *on, void (*body)(void *arg), void *arg);
/** Runs `body` on a stack that has room, if one is free, and else on the present one. */
KVO_HIDDEN void kvo__with_room(void (*body)(void *arg), void *arg);
/** In the child of a fork, where the other threads are gone. */
KVO_HIDDEN void kvo__reports_forked(void);
/** What tells this thread from others, and is the same in the child of a fork. */
static inline uintptr_t kvo__own_mark(void) { return (uintptr_t)&kvo__this_thread; }

/* --------------------------------------------------------------------------------------------------------- chain.c -- */

/** The deliveries in progress on this thread, outermost first, rounds folded; returns how many steps. */
KVO_HIDDEN size_t kvo__chain(kvo_fault_step *steps, size_t capacity);

/* --------------------------------------------------------------------------------------------------------- fault.c -- */

/** Completes a fault, reports it and ends it. No lock may be held. */
KVO_HIDDEN void kvo__raise(kvo_report *report);
/** Ends the process by SIGABRT. */
KVO_HIDDEN _Noreturn void kvo__die(void);
/** In the child of a fork, where the other threads are gone. */
KVO_HIDDEN void kvo__faults_forked(void);

/* -------------------------------------------------------------------------------------------------------- groups.c -- */

/** So many observations a report lists one by one; of more it has one of each place. */
enum { KVO_MAX_SINGLE = 8 };
/** Puts one of each place, key path and class first, with the count of its duplicates, largest counts first; returns
 * how many there are then. */
KVO_HIDDEN size_t kvo__group(kvo_fault_observation *all, size_t count);
/** Appends their key paths, each once and with how often it comes: key paths: "title" ×3, "pages". */
KVO_HIDDEN void kvo__append_key_paths(kvo_sink *to, const kvo_fault_observation *groups, size_t count);

/* -------------------------------------------------------------------------------------------------- removal.c -- */

/** Apple's sentence. */
KVO_HIDDEN void kvo__append_cannot_remove(kvo_sink *to, const char *observer_class, const void *observer,
                                          const char *key_path, const char *object_class, const void *object);

/* -------------------------------------------------------------------------------------------------------- policy.c -- */

/** What the environment says about a code at this severity; never KVO_ACTION_DEFAULT. */
KVO_HIDDEN kvo_action kvo__policy_for(kvo_fault_code code, kvo_severity severity);
#if defined(KVO_MUTATIONS)
/** For scripts/check-mutations.sh: whether KVO_WITHOUT says that this fault is not to be raised. */
KVO_HIDDEN bool kvo__is_switched_off(kvo_fault_code code);
#else
static inline bool kvo__is_switched_off(kvo_fault_code code) {
  (void)code;
  return false;
}
#endif
/** Where reports go, and in which form. */
KVO_HIDDEN int kvo__report_destination(kvo_report_format *format);
/** What has been written to there did not take it: from now on reports go to standard error. False when they did before. */
KVO_HIDDEN bool kvo__report_redirect(void);

#endif /* KVO_FAULTS_REPORTING_H */
