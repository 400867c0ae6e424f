/* misspelt.c - reports environment variables that are probably misspelt settings (KVO0034). */
#define _GNU_SOURCE
#include "faults/reporting.h"

#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

/* A misspelt name would silently have no effect. Variables of other programs that use the prefix are ignored, because they do not resemble
 * ours. */
void kvo__look_for_misspelt_names(void) {
  static const char *const ours[] = {"KVO_POLICY",    "KVO_REPORT", "KVO_REPORT_PATH", "KVO_STACKS",     "KVO_ZOMBIES",
                                     "KVO_HISTORY",   "KVO_VALUES", "KVO_MAX_DEPTH",   "KVO_MAX_ROUNDS", "KVO_SLOW_MS",
                                     "KVO_AVALANCHE", "KVO_SOCKET", "KVO_HELP"};
  enum { OURS = sizeof ours / sizeof *ours, LONGEST = 40 };
  for (char **each = environ; getauxval(AT_SECURE) == 0 && each != NULL && *each != NULL; each++) {
    char name[LONGEST];
    size_t length = strcspn(*each, "=");
    if (length >= sizeof name || strncasecmp(*each, "KVO_", 4) != 0) continue;
    memcpy(name, *each, length);
    name[length] = '\0';
    kvo_nearest nearest = {.name = name};
    bool is_ours = false;
    for (size_t i = 0; i < OURS; i++) {
      is_ours = is_ours || strcmp(name, ours[i]) == 0;
      kvo__nearest(&nearest, ours[i]);
    }
    if (is_ours || nearest.found == NULL) continue;
    char problem[LONGEST + 64];
    kvo_sink to = {.memory = problem, .capacity = sizeof problem, .fd = -1};
    kvo__append(&to, "is not a variable of the library: did you mean %s?", nearest.found);
    kvo__fault_misconfigured("the environment", name, length, problem);
  }
}
