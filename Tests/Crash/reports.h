/* reports.h - the whole reports of the scenarios, and the file that keeps them. */
#ifndef KVO_CRASH_REPORTS_H
#define KVO_CRASH_REPORTS_H

#include <CCrashScenarios.h>

/* Runs the scenarios whose reports do not differ from run to run, prints the first line of each report that is not as the file has it, and
 * returns how many there are. */
size_t reports_compare(const kvo_crash_list *list, const char *path);

/* Writes the present reports to the file. Returns whether that succeeded. */
bool reports_keep(const kvo_crash_list *list, const char *path);

#endif
