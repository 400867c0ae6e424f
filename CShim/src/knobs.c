/* knobs.c - what the environment says the runtime is to remember and watch. Read when the library is loaded, before threads; not
 * by a program that runs with other rights than its user's. */
#define _GNU_SOURCE
#include "report.h"

#include <stdlib.h>

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
    kvo__complain(variable, text, strlen(text), "say a number, in the limits that KVO_HELP=1 lists");
}

__attribute__((constructor)) static void read_knobs(void) {
  read_number("KVO_STACKS", KVO_MOST_STACKS, &kvo__knobs.stacks);
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
