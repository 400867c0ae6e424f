/* knobs.c - what the environment says the runtime is to remember and watch. Read when the library is loaded, before threads; not
 * by a program that runs with other rights than its user's. */
#define _GNU_SOURCE
#include "text/report.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { MOST_ZOMBIES = 1 << 16, MOST_HISTORY = 1 << 20, MOST_DEPTH = 1 << 20, MOST_SLOW = 3600000 };

struct kvo_knobs kvo__knobs = {.zombies = 2048};

static void read_number(const char *variable, uint32_t most, uint32_t *out) {
  const char *text = secure_getenv(variable);
  if (text == NULL || *text == '\0') return;
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= most)
    *out = (uint32_t)number;
  else
    kvo__complain(variable, text, strlen(text),
                  "is not understood and is skipped; say a number, in the limits that KVO_HELP=1 lists");
}

static void read_stacks(void) {
  const char *text = secure_getenv("KVO_STACKS");
  kvo__knobs.all_calls = text != NULL && strcmp(text, "full") == 0;
  if (kvo__knobs.all_calls)
    kvo__knobs.stacks = KVO_MOST_STACKS;
  else
    read_number("KVO_STACKS", KVO_MOST_STACKS, &kvo__knobs.stacks);
}

/* A misspelt name would be without effect, and nobody would know. Not ours are those of programs that use the prefix, which are not
 * like any of ours. */
static void look_for_misspelt_names(void) {
  static const char *const ours[] = {"KVO_POLICY",  "KVO_REPORT",  "KVO_REPORT_PATH", "KVO_STACKS",
                                     "KVO_ZOMBIES", "KVO_HISTORY", "KVO_VALUES",      "KVO_MAX_DEPTH",
                                     "KVO_SLOW_MS", "KVO_HELP",    "KVO_WITHOUT"};
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
    kvo__append(&to, "is no variable of the library: did you mean %s?", nearest.found);
    kvo__complain("the environment", name, length, problem);
  }
}

__attribute__((constructor)) static void read_knobs(void) {
  read_stacks();
  read_number("KVO_ZOMBIES", MOST_ZOMBIES, &kvo__knobs.zombies);
  read_number("KVO_HISTORY", MOST_HISTORY, &kvo__knobs.history);
  read_number("KVO_MAX_DEPTH", MOST_DEPTH, &kvo__knobs.max_depth);
  read_number("KVO_SLOW_MS", MOST_SLOW, &kvo__knobs.slow_ms);
  uint32_t values = 0;
  read_number("KVO_VALUES", 1, &values);
  kvo__knobs.values = values != 0;
  const char *report = secure_getenv("KVO_REPORT");
  for (const char *item = report; item != NULL && *item != '\0'; item += item[strcspn(item, ",")] == ',') {
    size_t length = strcspn(item, ",");
    if (length == 5 && memcmp(item, "leaks", length) == 0) kvo__knobs.leaks = true;
    item += length;
  }
  look_for_misspelt_names();
  const char *policy = secure_getenv("KVO_POLICY");
  bool info = policy != NULL && strstr(policy, "info:") != NULL;
  kvo__knobs.unused = info || (policy != NULL && strstr(policy, "KVO0015") != NULL);
  kvo__knobs.duplicates = info || (policy != NULL && strstr(policy, "KVO0019") != NULL);
  kvo__tap_start();
}

/* Here and not in leaks.c, of which nothing else is used: the linker would leave that out of a program that links libkvo.a. */
__attribute__((destructor)) static void tell_leaks(void) {
  if (kvo__knobs.leaks) kvo__tell_leaks();
}
