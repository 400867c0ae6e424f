/* judge.h - declarations shared by the code that runs scenarios and the code that checks them. */
#ifndef KVO_CRASH_JUDGE_H
#define KVO_CRASH_JUDGE_H

#include "include/CCrashScenarios.h"

enum { CRASH_MOST_CODES = 64, CRASH_FAILED_CHECK = 70 };

/** Returns the first failure that kvo_crash_check recorded, ended with '\n'; "" if there was none. */
const char *crash_failed_check(void);
void crash_forget_checks(void);

/** Records a code; returns false if there is no room. */
bool crash_note_code(kvo_crash_result *result, int code);
/** Finds the codes of the reports in a text; the reports may be text or JSON. */
void crash_read_codes(kvo_crash_result *result, const char *report);
/** Checks the codes and the contents of the report. `in_child`: the first fatal fault has ended the process. Sets `passed` and
 * `reason`. */
void crash_judge(const kvo_crash_scenario *scenario, bool in_child, kvo_crash_result *result);
/** Returns how a scenario ends in a separate process, in the notation of `ended`. */
const char *crash_expected_end(const kvo_crash_scenario *scenario);
/** Formats codes: "KVO0002, KVO0001", or "none". */
void crash_describe_codes(const int *codes, size_t count, char *into, size_t size);
void crash_fail(kvo_crash_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
