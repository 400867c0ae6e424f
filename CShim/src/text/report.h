/* text/report.h - reports as text and as JSON, piece by piece. A newcomer reads report_text.c first. */
#ifndef KVO_TEXT_REPORT_H
#define KVO_TEXT_REPORT_H

#include "platform/symbols.h"
#include "text/sink.h"

/** As a number: %p prints NULL as "(nil)", which reads like a value. */
static inline unsigned long long kvo__address(const void *pointer) { return (unsigned long long)(uintptr_t)pointer; }

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

/** Puts a report in its form. */
KVO_HIDDEN void kvo__put_report(kvo_sink *to, const kvo_fault *fault, const kvo_report_form *form);
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
/** A call: its function, module and offset. */
KVO_HIDDEN void kvo__put_call(kvo_sink *to, const void *return_address);
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

/* --------------------------------------------------------------------------------------------------------- nearest.c -- */

/** A search for what was probably meant: `found` is NULL, or the candidate that is least away. */
typedef struct kvo_nearest {
  const char *name;
  const char *found;
  size_t away;
} kvo_nearest;

/** Considers a candidate; the string must live as long as the search. */
KVO_HIDDEN void kvo__nearest(kvo_nearest *search, const char *candidate);

/* -------------------------------------------------------------------------------------------------- fault_table.c -- */

/** How many kinds of faults there are. */
#define KVO_COUNT_FAULT(name, value, severity, exception, text) +1
enum { KVO_FAULT_COUNT = 0 KVO_FAULT_MAP(KVO_COUNT_FAULT), KVO_SEVERITY_COUNT = KVO_SEVERITY_INFO + 1 };
#undef KVO_COUNT_FAULT
/** Its index among them. */
KVO_HIDDEN size_t kvo__fault_index(kvo_fault_code code);
/** NULL where Apple raises nothing. */
KVO_HIDDEN const char *kvo__exception_of(kvo_fault_code code);
KVO_HIDDEN kvo_severity kvo__severity_of(kvo_fault_code code);
/** Why it is a misuse, in one sentence. */
KVO_HIDDEN const char *kvo__why_of(kvo_fault_code code);

#endif /* KVO_TEXT_REPORT_H */
