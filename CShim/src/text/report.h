/* text/report.h - reports as text and as JSON, written in parts. Start with report_text.c. */
#ifndef KVO_TEXT_REPORT_H
#define KVO_TEXT_REPORT_H

#include "platform/symbols.h"
#include "text/sink.h"

/** An address as a number, because %p prints NULL as "(nil)", which reads like a value. */
static inline unsigned long long kvo__address(const void *pointer) { return (unsigned long long)(uintptr_t)pointer; }

/* --------------------------------------------------------------------------------------------------------- report.c -- */

/** The form of a report. */
typedef struct kvo_report_form {
  kvo_report_format format;
  /** Demangle names of functions. */
  bool demangles;
  /** Leave out what is printed once per code only. */
  bool is_repeated;
} kvo_report_form;

/** Writes a report to a file descriptor. Async-signal-safe: allocates nothing. False if not everything could be written. */
KVO_HIDDEN bool kvo__report_write(const kvo_fault *fault, const kvo_report_form *form, int fd);

/** Puts a report into a sink. */
KVO_HIDDEN void kvo__put_report(kvo_sink *to, const kvo_fault *fault, const kvo_report_form *form);
KVO_HIDDEN void kvo__put_code(kvo_sink *to, kvo_fault_code code);
/** Puts a number that is not negative, with three decimals. */
KVO_HIDDEN void kvo__put_seconds(kvo_sink *to, double seconds);
KVO_HIDDEN void kvo__put_build_id(kvo_sink *to, const kvo_module *of);

typedef struct kvo_named_option {
  kvo_options option;
  const char *name;
} kvo_named_option;
enum { KVO_OPTION_COUNT = 4 };
/** The options of an observation that reports name, and their names. */
extern KVO_HIDDEN const kvo_named_option kvo__named_options[KVO_OPTION_COUNT];

/** Stores the name of a thread of this process and returns it; "" if there is no such thread. */
KVO_HIDDEN const char *kvo__thread_name(uint32_t thread, char *buffer, size_t size);
KVO_HIDDEN const char *kvo__event_name(kvo_event_kind kind);

enum { KVO_PROGRAM_PATH = 512, KVO_TIME_SIZE = 32 };
/** Stores the path of the program's file, cut, and returns it; "" if it is unknown. */
KVO_HIDDEN const char *kvo__program_path(char buffer[KVO_PROGRAM_PATH]);
/** Stores the present time, such as 2026-11-28T14:58:50.123Z, and returns it. */
KVO_HIDDEN const char *kvo__time_text(char buffer[KVO_TIME_SIZE]);

/* ------------------------------------------------------------------- report_text.c, report_stack.c, report_json.c -- */

KVO_HIDDEN void kvo__put_text_report(kvo_sink *to, const kvo_fault *fault, bool is_repeated);
/** kvo__put_clean or kvo__put_json_bytes. */
typedef void (*kvo_put_string)(kvo_sink *to, const char *string, size_t length);
/** Puts the name of a function, demangled if the sink demangles. */
KVO_HIDDEN void kvo__put_symbol(kvo_sink *to, const char *symbol, kvo_put_string put);
/** Puts a call: its function, module and offset. */
KVO_HIDDEN void kvo__put_call(kvo_sink *to, const void *return_address);
/** The calls of a stack that are worth a line, a line each. */
KVO_HIDDEN void kvo__put_function(kvo_sink *to, void (*function)(void));
/** Whether a call is one of the runtime, of its binding, or of Swift's standard library: text reports leave these out. */
KVO_HIDDEN bool kvo__is_library_call(const void *return_address);
KVO_HIDDEN void kvo__put_stack(kvo_sink *to, void *const *frames, size_t count, const char *indent);
/** Puts a line with the build-ids of the modules of the calls, with which the files for the offsets can be found later, on any machine. */
KVO_HIDDEN void kvo__put_modules(kvo_sink *to, const kvo_fault *fault);
KVO_HIDDEN void kvo__put_json_report(kvo_sink *to, const kvo_fault *fault);
/** Put members of JSON: "options", a list of names; and a source location, or null. */
KVO_HIDDEN void kvo__put_json_options(kvo_sink *to, kvo_options options);
KVO_HIDDEN void kvo__put_json_site(kvo_sink *to, const char *name, const char *file, size_t length, uint32_t line);

/* --------------------------------------------------------------------------------------------------------- nearest.c -- */

/** A search for the name that was probably meant: `found` is NULL, or the closest candidate so far. */
typedef struct kvo_nearest {
  const char *name;
  const char *found;
  size_t away;
} kvo_nearest;

/** Compares a candidate. The string must stay valid during the search. */
KVO_HIDDEN void kvo__nearest(kvo_nearest *search, const char *candidate);

/* -------------------------------------------------------------------------------------------------- fault_table.c -- */

/** The number of faults in the table. */
#define KVO_COUNT_FAULT(name, value, severity, exception, text, why) +1
enum { KVO_FAULT_COUNT = 0 KVO_FAULT_MAP(KVO_COUNT_FAULT), KVO_SEVERITY_COUNT = KVO_SEVERITY_INFO + 1 };
#undef KVO_COUNT_FAULT
/** The index of a fault in the table. */
KVO_HIDDEN size_t kvo__fault_index(kvo_fault_code code);
/** The name of the exception that Apple raises, or NULL. */
KVO_HIDDEN const char *kvo__exception_of(kvo_fault_code code);
KVO_HIDDEN kvo_severity kvo__severity_of(kvo_fault_code code);
/** One sentence that says why it is misuse. */
KVO_HIDDEN const char *kvo__why_of(kvo_fault_code code);

#endif /* KVO_TEXT_REPORT_H */
