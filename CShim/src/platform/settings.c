/* settings.c - reads the settings of what the runtime remembers and watches from the environment, when the library is loaded and before
 * there are threads. A program that runs with other privileges than its user's ignores them (secure_getenv(3)). */
#define _GNU_SOURCE
#include "platform/settings.h"

#include "hooks.h"

#include <kvo/kvo_binding.h>

#include <stdlib.h>

enum {
  MAX_ZOMBIES = 1 << 16,
  MAX_HISTORY = 1 << 20,
  SETTINGS_MAX_DEPTH = 1 << 20,
  MAX_SLOW = 3600000,
  MAX_ROUNDS = 1 << 20,
  MAX_AVALANCHE = 1 << 30
};

struct kvo_settings kvo__settings = {.zombies = 2048, .max_rounds = 1000};

static void settings_read_number(const char *variable, uint32_t most, uint32_t *out) {
  const char *text = secure_getenv(variable);
  if (text == NULL || *text == '\0') return;
  char *end;
  unsigned long number = strtoul(text, &end, 10);
  if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && number <= most)
    *out = (uint32_t)number;
  else
    KVO_MISUSE(misconfigured, variable, text, strlen(text),
               "is invalid and ignored; use a number within the limits that KVO_HELP=1 lists");
}

uint32_t kvo_binding_max_rounds(void) { return kvo__settings.max_rounds; }

static void read_stacks(void) {
  const char *text = secure_getenv("KVO_STACKS");
  kvo__settings.all_calls = text != NULL && strcmp(text, "full") == 0;
  if (kvo__settings.all_calls)
    kvo__settings.stacks = KVO_MAX_STACKS;
  else
    settings_read_number("KVO_STACKS", KVO_MAX_STACKS, &kvo__settings.stacks);
}

static void read_socket(void) {
  const char *text = secure_getenv("KVO_SOCKET");
  if (text == NULL || *text == '\0' || strcmp(text, "0") == 0) return;
  size_t length = strlen(text);
  if (strcmp(text, "1") != 0 && *text != '/')
    KVO_MISUSE(misconfigured, "KVO_SOCKET", text, length, "is invalid and ignored; use 1, or an absolute path");
  else if (length >= KVO_SOCKET_PATH)
    KVO_MISUSE(misconfigured, "KVO_SOCKET", text, length, "is ignored: the path of a socket has at most 107 bytes");
  else
    memcpy(kvo__settings.socket, text, length);
}

void kvo__settings_read(void) {
  read_socket();
  read_stacks();
  settings_read_number("KVO_ZOMBIES", MAX_ZOMBIES, &kvo__settings.zombies);
  settings_read_number("KVO_HISTORY", MAX_HISTORY, &kvo__settings.history);
  settings_read_number("KVO_MAX_DEPTH", SETTINGS_MAX_DEPTH, &kvo__settings.max_depth);
  settings_read_number("KVO_MAX_ROUNDS", MAX_ROUNDS, &kvo__settings.max_rounds);
  settings_read_number("KVO_SLOW_MS", MAX_SLOW, &kvo__settings.slow_ms);
  settings_read_number("KVO_AVALANCHE", MAX_AVALANCHE, &kvo__settings.avalanche);
  uint32_t values = 0;
  settings_read_number("KVO_VALUES", 1, &values);
  kvo__settings.values = values != 0;
  const char *report = secure_getenv("KVO_REPORT");
  for (const char *item = report; item != NULL && *item != '\0'; item += item[strcspn(item, ",")] == ',') {
    size_t length = strcspn(item, ",");
    if (length == 5 && memcmp(item, "leaks", length) == 0) kvo__settings.leaks = true;
    item += length;
  }
  const char *policy = secure_getenv("KVO_POLICY");
  bool info = policy != NULL && strstr(policy, "info:") != NULL;
  kvo__settings.unused = info || (policy != NULL && strstr(policy, "KVO0015") != NULL);
  kvo__settings.duplicates = info || (policy != NULL && strstr(policy, "KVO0019") != NULL);
  kvo__settings.silent_changes = policy != NULL && strstr(policy, "KVO0032") != NULL;
}
