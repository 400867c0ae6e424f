/* report.h - what the files about faults share: texts, reports, and what the environment says. Not installed. */
#ifndef KVO_INTERNAL_REPORT_H
#define KVO_INTERNAL_REPORT_H

#include "sink.h"
#include "symbols.h"

/** A text that grows beyond its first block, which is on the stack, as long as there is memory, and else is cut short. */
typedef struct kvo_text {
  char *bytes;
  size_t length, capacity;
  bool on_heap;
} kvo_text;

/** An empty text whose first block is an array. */
#define KVO_TEXT(block)                                                                                                \
  (kvo_text) { (block), 0, sizeof(block), false }

KVO_HIDDEN void kvo__append(kvo_text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Appends a string of the program's, cut as sinks cut it. */
KVO_HIDDEN void kvo__append_cut(kvo_text *to, const char *string);
KVO_HIDDEN void kvo__discard(kvo_text *of);

/** As a number: %p prints NULL as "(nil)", which reads like a value. */
static inline unsigned long long kvo__address(const void *pointer) { return (unsigned long long)(uintptr_t)pointer; }

/* --------------------------------------------------------------------------------------------------------- fault.c -- */

/** A fault of this code, to be filled: its severity is the code's, and all else is empty. */
KVO_HIDDEN kvo_fault kvo__fault_of(kvo_fault_code code);
/** Says what a fault is about: observations, the first one's object, and where it happened. */
KVO_HIDDEN void kvo__fault_concerns(kvo_fault *fault, const kvo_fault_observation *observations, size_t count,
                                    kvo_place place);
/** A place with a label, of unknown thread and age. */
KVO_HIDDEN kvo_fault_site kvo__site(const char *label, kvo_place place);
/** Completes a fault and reports it; `detail` is its first line behind code and severity. No lock may be held. */
KVO_HIDDEN void kvo__raise(kvo_fault *fault, const char *detail);
/** The kernel's number of this thread. */
KVO_HIDDEN uint32_t kvo__thread_number(void);
/** Nanoseconds of the monotonic clock. */
KVO_HIDDEN int64_t kvo__now(void);

/* -------------------------------------------------------------------------------------------------- faults_removal.c -- */

/** Apple's sentence. */
KVO_HIDDEN void kvo__append_cannot_remove(kvo_text *to, const char *observer_class, const void *observer,
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

/** Writes a report to a file descriptor, piece by piece: it needs no memory, and may be done in a signal handler. */
KVO_HIDDEN void kvo__report_write(const kvo_fault *fault, kvo_report_format format, int fd);

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

KVO_HIDDEN void kvo__put_text_report(kvo_sink *to, const kvo_fault *fault);
/** kvo__put_clean or kvo__put_json_bytes. */
typedef void (*kvo_put_string)(kvo_sink *to, const char *string, size_t length);
/** The name of a function, demangled if the sink demangles. */
KVO_HIDDEN void kvo__put_symbol(kvo_sink *to, const char *symbol, kvo_put_string put);
/** The calls of a stack that are worth a line, a line each. */
KVO_HIDDEN void kvo__put_function(kvo_sink *to, void (*function)(void));
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
/** KVO0034: a part of an environment variable that is not understood. */
KVO_HIDDEN void kvo__complain(const char *variable, const char *item, size_t length, const char *advice);
/** Where reports go, and in which form. */
KVO_HIDDEN int kvo__report_destination(kvo_report_format *format);

#endif /* KVO_INTERNAL_REPORT_H */
