/* report.h - what the files about faults share: texts, reports, and what the environment says. Not installed. */
#ifndef KVO_INTERNAL_REPORT_H
#define KVO_INTERNAL_REPORT_H

#include "sink.h"

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
KVO_HIDDEN void kvo__discard(kvo_text *of);

/** As a number: %p prints NULL as "(nil)", which reads like a value. */
static inline unsigned long long kvo__address(const void *pointer) { return (unsigned long long)(uintptr_t)pointer; }

/* --------------------------------------------------------------------------------------------------------- report.c -- */

/** Members of JSON: "options", a list of their names; and a place, or null. */
KVO_HIDDEN void kvo__put_json_options(kvo_sink *to, kvo_options options);
KVO_HIDDEN void kvo__put_json_site(kvo_sink *to, const char *name, const char *file, size_t length, uint32_t line);
/** Writes a report to a file descriptor, piece by piece: it needs no memory, and may be done in a signal handler. */
KVO_HIDDEN void kvo__report_write(const kvo_fault *fault, kvo_report_format format, int fd);

/* --------------------------------------------------------------------------------------------------------- policy.c -- */

/** NULL where Apple raises nothing. */
KVO_HIDDEN const char *kvo__exception_of(kvo_fault_code code);
KVO_HIDDEN kvo_severity kvo__severity_of(kvo_fault_code code);
/** What the environment says about a code; never KVO_ACTION_DEFAULT. */
KVO_HIDDEN kvo_action kvo__policy_for(kvo_fault_code code);
/** KVO0034: a part of an environment variable that is not understood. */
KVO_HIDDEN void kvo__complain(const char *variable, const char *item, size_t length, const char *advice);
/** Where reports go, and in which form. */
KVO_HIDDEN int kvo__report_destination(kvo_report_format *format);

#endif /* KVO_INTERNAL_REPORT_H */
