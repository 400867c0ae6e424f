/* judge.h - what running a scenario and judging it share. */
#ifndef KVO_CRASH_JUDGE_H
#define KVO_CRASH_JUDGE_H

#include "include/CCrashScenarios.h"

enum { CRASH_MOST_CODES = 64, CRASH_FAILED_CHECK = 70 };

/** The first thing that kvo_crash_check noted, ended with '\n'; "" if nothing was. */
const char *crash_failed_check(void);
void crash_forget_checks(void);

/** Notes a code; false when there is no room. */
bool crash_note_code(kvo_crash_result *result, int code);
/** The codes of the reports in a text, text or JSON. */
void crash_read_codes(kvo_crash_result *result, const char *report);
/** Judges codes, and what the report has to contain. `in_child`: the first fatal fault has ended the process. Fills `passed` and
 * `reason`. */
void crash_judge(const kvo_crash_scenario *scenario, bool in_child, kvo_crash_result *result);
/** Tells whether a scenario in a process of its own shows this code, every time. */
bool crash_shows(const kvo_crash_scenario *scenario, int code);
/** How a scenario ends in a process of its own, as `ended` says it. */
const char *crash_expected_end(const kvo_crash_scenario *scenario);
/** "KVO0002, KVO0001", or "none". */
void crash_describe_codes(const int *codes, size_t count, char *into, size_t size);
void crash_fail(kvo_crash_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
