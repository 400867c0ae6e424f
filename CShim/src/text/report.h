/* report.h - what the files about faults share: texts, reports, and what the environment says. Not installed. */
#ifndef KVO_INTERNAL_REPORT_H
#define KVO_INTERNAL_REPORT_H

#include "watching/history.h"
#include "platform/sink.h"
#include "platform/symbols.h"
#include "watching/ended.h"

/** As a number: %p prints NULL as "(nil)", which reads like a value. */
static inline unsigned long long kvo__address(const void *pointer) { return (unsigned long long)(uintptr_t)pointer; }

/* ---------------------------------------------------------------------------------------------------- reporting.c -- */

enum { KVO_MOST_SITES = 4, KVO_MOST_STEPS = 40, KVO_DETAIL_SIZE = 4096, KVO_REPORT_STACK = 1 << 18 };

/** A fault in the making: what it is made of, and the stack that it is made on. */
typedef struct kvo_report {
  /** The thread that makes it, as kvo__own_mark tells it, 0 if none does. */
  _Atomic uintptr_t owner;
  /** The fault handler is asked, which may not return. */
  bool is_asked;
  kvo_fault fault;
  /** The first line behind code and severity; and what the fault's members of these names become, if something is put into them. */
  kvo_sink detail, apple, help;
  kvo_fault_site sites[KVO_MOST_SITES];
  /** Of the first lines of `sites`, where they are no literals. */
  char labels[KVO_MOST_SITES][320];
  /** What the fault's members may point to. */
  kvo_fault_observation concerned;
  kvo_tomb tombs[KVO_MOST_SITES];
  kvo_fault_step steps[KVO_MOST_STEPS];
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
/** A place with a label, of unknown thread and age. */
KVO_HIDDEN kvo_fault_site kvo__site(const char *label, kvo_place place);
/** Adds another place that it is about; no more than KVO_MOST_SITES. */
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

/* --------------------------------------------------------------------------------------------------------- fault.c -- */

/** Completes a fault, reports it and ends it. No lock may be held. */
KVO_HIDDEN void kvo__raise(kvo_report *report);
/** Ends the process by SIGABRT. */
KVO_HIDDEN _Noreturn void kvo__die(void);
/** In the child of a fork, where the other threads are gone. */
KVO_HIDDEN void kvo__faults_forked(void);
/** The kernel's number of this thread. */
KVO_HIDDEN uint32_t kvo__thread_number(void);
/** Nanoseconds of the monotonic clock. */
KVO_HIDDEN int64_t kvo__now(void);

/* -------------------------------------------------------------------------------------------------------- groups.c -- */

/** So many observations a report lists one by one; of more it has one of each place. */
enum { KVO_MOST_SINGLE = 8 };
/** Puts one of each place, key path and class first, with how many are alike, those of which there are most before the others; returns
 * how many there are then. */
KVO_HIDDEN size_t kvo__group(kvo_fault_observation *all, size_t count);
/** Appends their key paths, each once and with how often it comes: key paths: "title" ×3, "pages". */
KVO_HIDDEN void kvo__append_key_paths(kvo_sink *to, const kvo_fault_observation *groups, size_t count);

/* -------------------------------------------------------------------------------------------------- faults_removal.c -- */

/** Apple's sentence. */
KVO_HIDDEN void kvo__append_cannot_remove(kvo_sink *to, const char *observer_class, const void *observer,
                                          const char *key_path, const char *object_class, const void *object);

/* --------------------------------------------------------------------------------------------------------- nearest.c -- */

/** A search for what was probably meant: `found` is NULL, or the candidate that is least away. */
typedef struct kvo_nearest {
  const char *name;
  const char *found;
  size_t away;
} kvo_nearest;

/** Considers a candidate; the string must live as long as the search. */
KVO_HIDDEN void kvo__nearest(kvo_nearest *search, const char *candidate);

/* --------------------------------------------------------------------------------------------------------- report.c -- */

/** What a report is written with. */
typedef struct kvo_report_form {
  kvo_report_format format;
  /** Names of functions are written as their language writes them. */
  bool demangles;
  /** Without what is to be said once only. */
  bool is_repeated;
} kvo_report_form;

/** Writes a report to a file descriptor, piece by piece: it needs no memory, and may be done in a signal handler. False when not all of
 * it could be written. */
KVO_HIDDEN bool kvo__report_write(const kvo_fault *fault, const kvo_report_form *form, int fd);

KVO_HIDDEN void kvo__put_code(kvo_sink *to, kvo_fault_code code);
/** With three places behind the point, of a number that is not negative. */
KVO_HIDDEN void kvo__put_seconds(kvo_sink *to, double seconds);
KVO_HIDDEN void kvo__put_build_id(kvo_sink *to, const kvo_module *of);

typedef struct kvo_named_option {
  kvo_options option;
  const char *name;
} kvo_named_option;
enum { KVO_OPTION_COUNT = 4 };
/** Which options of an observation reports name, and how. */
extern KVO_HIDDEN const kvo_named_option kvo__named_options[KVO_OPTION_COUNT];

/** Stores the name of a thread of this process and returns it; "" if there is none such. */
KVO_HIDDEN const char *kvo__thread_name(uint32_t thread, char *buffer, size_t size);
KVO_HIDDEN const char *kvo__event_name(kvo_event_kind kind);

/* ------------------------------------------------------------------- report_text.c, report_stack.c, report_json.c -- */

KVO_HIDDEN void kvo__put_text_report(kvo_sink *to, const kvo_fault *fault, bool is_repeated);
/** kvo__put_clean or kvo__put_json_bytes. */
typedef void (*kvo_put_string)(kvo_sink *to, const char *string, size_t length);
/** The name of a function, demangled if the sink demangles. */
KVO_HIDDEN void kvo__put_symbol(kvo_sink *to, const char *symbol, kvo_put_string put);
/** The calls of a stack that are worth a line, a line each. */
KVO_HIDDEN void kvo__put_function(kvo_sink *to, void (*function)(void));
/** Whether a call is one of the runtime, of its binding, or of the standard library of Swift: what a report for people leaves out. */
KVO_HIDDEN bool kvo__is_library_call(const void *return_address);
KVO_HIDDEN void kvo__put_stack(kvo_sink *to, void *const *frames, size_t count, const char *indent);
/** A line with the build-ids of the modules of such calls: what finds the files to the offsets, on another machine and later. */
KVO_HIDDEN void kvo__put_modules(kvo_sink *to, const kvo_fault *fault);
KVO_HIDDEN void kvo__put_json_report(kvo_sink *to, const kvo_fault *fault);
/** Members of JSON: "options", a list of their names; and a place, or null. */
KVO_HIDDEN void kvo__put_json_options(kvo_sink *to, kvo_options options);
KVO_HIDDEN void kvo__put_json_site(kvo_sink *to, const char *name, const char *file, size_t length, uint32_t line);

/* --------------------------------------------------------------------------------------------------------- policy.c -- */

/** NULL where Apple raises nothing. */
KVO_HIDDEN const char *kvo__exception_of(kvo_fault_code code);
KVO_HIDDEN kvo_severity kvo__severity_of(kvo_fault_code code);
/** Why it is a misuse, in one sentence. */
KVO_HIDDEN const char *kvo__why_of(kvo_fault_code code);
/** What the environment says about a code at this severity; never KVO_ACTION_DEFAULT. */
KVO_HIDDEN kvo_action kvo__policy_for(kvo_fault_code code, kvo_severity severity);
/** Whether the environment names this code. */
KVO_HIDDEN bool kvo__policy_names(kvo_fault_code code);
#if defined(KVO_MUTATIONS)
/** For scripts/check-mutations.sh: whether KVO_WITHOUT says that this fault is not to be raised. */
KVO_HIDDEN bool kvo__is_switched_off(kvo_fault_code code);
#else
static inline bool kvo__is_switched_off(kvo_fault_code code) {
  (void)code;
  return false;
}
#endif
/** KVO0034: a part of an environment variable, and what is wrong with it. */
KVO_HIDDEN void kvo__complain(const char *variable, const char *item, size_t length, const char *problem);
/** Where reports go, and in which form. */
KVO_HIDDEN int kvo__report_destination(kvo_report_format *format);
/** What has been written to there did not take it: from now on reports go to standard error. False when they did before. */
KVO_HIDDEN bool kvo__report_redirect(void);

#endif /* KVO_INTERNAL_REPORT_H */
