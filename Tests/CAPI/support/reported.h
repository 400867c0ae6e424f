/* reported.h - faults without much ado, and what tests of reports look for in them. */
#ifndef KVO_TEST_REPORTED_H
#define KVO_TEST_REPORTED_H

#include "harness.h"
#include "texts.h"

#include <kvo/kvo_binding.h>

/* For functions that a report shall name: each has a frame, without inlining and tail calls, and no copy with another name. */
#ifdef __clang__
#define CALLED __attribute__((noinline))
#else
#define CALLED __attribute__((noipa))
#endif
#define FRAME_STAYS() __asm__ volatile("")

/* Raises KVO0008, which is fatal: 0x0 is not an observation's id. */
void never_was(void);
/* The same, as the body of a child process. */
void fault_once(void *arg);
/* Raises KVO0011 as an error, without a source location. */
void raise_silent(void);

/* A fault that the program makes. */
kvo_fault fault_of(const char *summary);
/* Its report; JSON is checked to be valid. Overwritten by the next call. */
const char *formatted(const kvo_fault *fault, kvo_report_format format);

/* The present time of a clock that is never set. */
double seconds(void);
/* The content of a file, which is removed. Overwritten by the next call. */
const char *take_file(const char *path);
/* Runs a child with this setting in its environment. */
child_result run_with(const char *variable, const char *value, void (*body)(void *arg), const char *policy);
/* Checks that a report of never_was is whole, and that the process went on. */
void check_report(const child_result *run);

#endif
