/* policy.c - what the environment says about faults: the action after one, and where reports go. Read once. */
#define _GNU_SOURCE
#include "faults/reporting.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* KVO_ACTION_DEFAULT if KVO_POLICY has no item. */
static kvo_action general_policy, severity_policies[KVO_SEVERITY_COUNT], code_policies[KVO_FAULT_COUNT];
static kvo_report_format report_format;
static _Atomic int report_fd = STDERR_FILENO;

/* ------------------------------------------------------------------------------------------------------------ Reading -- */

static bool is(const char *item, size_t length, const char *word) {
  return strlen(word) == length && memcmp(item, word, length) == 0;
}

static bool parse_action(const char *item, size_t length, kvo_action *out) {
  if (is(item, length, "abort"))
    *out = KVO_ACTION_ABORT;
  else if (is(item, length, "log"))
    *out = KVO_ACTION_LOG;
  else if (is(item, length, "ignore"))
    *out = KVO_ACTION_IGNORE;
  else if (is(item, length, "trap"))
    *out = KVO_ACTION_TRAP;
  else if (is(item, length, "once"))
    *out = KVO_ACTION_ONCE;
  else
    return false;
  return true;
}

/* The policy that an item such as `error:log` or `KVO0002:log` sets; NULL if there is no such severity or code. */
static kvo_action *subject(const char *item, size_t length) {
  for (size_t i = 0; i < KVO_SEVERITY_COUNT; i++)
    if (is(item, length, kvo_severity_name((kvo_severity)i))) return &severity_policies[i];
  for (size_t i = 0; i < KVO_FAULT_COUNT; i++) {
    char name[16];
    kvo_sink to = {.memory = name, .capacity = sizeof name, .fd = -1};
    kvo__append(&to, "KVO%04d", (int)kvo_fault_kind_at(i)->code);
    if (is(item, length, name)) return &code_policies[i];
  }
  return NULL;
}

/* The policy that an item sets; NULL if the item is invalid. */
static kvo_action *parse_policy(const char *item, size_t length, kvo_action *action) {
  const char *colon = memchr(item, ':', length);
  size_t before = colon != NULL ? (size_t)(colon + 1 - item) : 0;
  kvo_action *of = colon != NULL ? subject(item, before - 1) : &general_policy;
  return of != NULL && parse_action(item + before, length - before, action) ? of : NULL;
}

static bool set_policy(const char *item, size_t length) {
  kvo_action action, *of = parse_policy(item, length, &action);
  if (of != NULL) *of = action;
  return of != NULL;
}

static bool is_policy(const char *item, size_t length) {
  kvo_action action;
  return parse_policy(item, length, &action) != NULL;
}

static bool parse_form(const char *item, size_t length) {
  bool json = is(item, length, "json");
  if (json) report_format = KVO_REPORT_JSON;
  return json || is(item, length, "text") || is(item, length, "leaks"); /* settings.c handles "leaks" */
}

/* Without `advice` wrong items are not reported. */
static void read_list(const char *variable, bool (*parse)(const char *item, size_t length), const char *advice) {
  for (const char *list = secure_getenv(variable); list != NULL && *list != '\0';) {
    size_t length = strcspn(list, ",");
    if (!parse(list, length) && advice != NULL) kvo__fault_misconfigured(variable, list, length, advice);
    list += length;
    if (*list == ',') list++;
  }
}

static void read_policy(void) { read_list("KVO_POLICY", set_policy, NULL); }

/* Before the rest, because it may ignore what is wrong in the rest. */
static void need_policy(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_policy);
}

static void complain_of_path(const char *pattern) {
  kvo__fault_misconfigured("KVO_REPORT_PATH", pattern, strlen(pattern),
                           "cannot be written to: reports go to standard error");
}

/* The environment may be another one when writing fails. */
static char report_path[4096];

static void open_report_file(void) {
  const char *pattern = secure_getenv("KVO_REPORT_PATH");
  if (pattern == NULL || *pattern == '\0') return;
  kvo_sink to = {.memory = report_path, .capacity = sizeof report_path, .fd = -1};
  for (const char *rest = pattern; *rest != '\0';) {
    const char *place = strstr(rest, "%p");
    size_t length = place != NULL ? (size_t)(place - rest) : strlen(rest);
    for (size_t i = 0; i < length; i++) kvo__put_byte(&to, rest[i]); /* unescaped: it is a file name */
    if (place != NULL) kvo__put_number(&to, (unsigned long long)getpid(), 10);
    rest += length + (place != NULL ? 2 : 0);
  }
  bool is_whole = kvo__sink_end(&to) < sizeof report_path;
  /* O_NONBLOCK: a FIFO may have no reader. */
  int fd = is_whole ? open(report_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666) : -1;
  if (fd >= 0)
    report_fd = fd;
  else
    complain_of_path(pattern);
}

bool kvo__report_redirect(void) {
  if (report_fd == STDERR_FILENO) return false;
  report_fd = STDERR_FILENO;
  complain_of_path(report_path);
  return true;
}

static void print_help(void) {
  const char *help = secure_getenv("KVO_HELP");
  if (help == NULL || *help == '\0' || strcmp(help, "0") == 0) return;
  char block[1024];
  kvo_sink text = {.memory = block, .capacity = sizeof block, .fd = STDERR_FILENO};
  kvo__put(
      &text,
      "These environment variables set what happens after a fault:\n"
      "  KVO_POLICY       abort, trap, log, once or ignore, for all faults, or a list for a severity or a code:\n"
      "                   log,error:abort,KVO0002:ignore\n"
      "  KVO_REPORT       text or json; and leaks: report at exit what is still observed\n"
      "  KVO_REPORT_PATH  a file to append reports to; %p is the process id\n"
      "  KVO_STACKS=n     keep n return addresses of each registration and removal (0; to 64); full: 64, and\n"
      "                   reports include the library's own calls\n"
      "  KVO_ZOMBIES=n    remember n ended observations (2048; to 65536)\n"
      "  KVO_HISTORY=n    remember n events (0; to 1048576)\n"
      "  KVO_VALUES=1     let reports contain values of properties\n"
      "  KVO_MAX_DEPTH=n  let deliveries nest n deep at most; 0: as deep as the stack allows\n"
      "  KVO_MAX_ROUNDS=n let a binding set its target n times in answer to itself (1000; to 1048576)\n"
      "  KVO_SLOW_MS=n    report callbacks that take longer, in milliseconds (0: none)\n"
      "  KVO_AVALANCHE=n  report a set that causes more than n notifications, with those that they cause (0: none)\n"
      "  KVO_SOCKET=1     let kvo top, graph, trace and who look at the running program; or the path of the socket\n"
      "  KVO_HELP=1       this list\n"
      "The faults:\n");
  for (size_t i = 0; i < KVO_FAULT_COUNT; i++)
    kvo__append(&text, "  KVO%04d %-7s %s\n", (int)kvo_fault_kind_at(i)->code,
                kvo_severity_name(kvo_fault_kind_at(i)->severity), kvo_fault_kind_at(i)->meaning);
  kvo__sink_flush(&text);
}

static void read_environment(void) {
  int cancellation = kvo__cancel_hold();
  need_policy();
  read_list("KVO_POLICY", is_policy,
            "is invalid and ignored; use abort, trap, log, once, ignore, or one of them for a severity or a code: "
            "error:log, KVO0002:log");
  read_list("KVO_REPORT", parse_form, "is invalid and ignored; use text or json, and leaks");
  open_report_file();
  print_help();
  kvo__cancel_resume(cancellation);
}

static void need_environment(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_environment);
}

/* ------------------------------------------------------------------------------------------------------------- Asking -- */

/* Whether a fault may go unreported by policy: some must at least be logged. */
static bool may_be_ignored(kvo_fault_code code) {
  return code != KVO_FAULT_DANGLING_OBSERVER && code != KVO_FAULT_ABANDONED_DELIVERY;
}

static kvo_action default_action(kvo_severity severity) {
  static const kvo_action actions[KVO_SEVERITY_COUNT] = {KVO_ACTION_ABORT, KVO_ACTION_LOG, KVO_ACTION_ONCE,
                                                         KVO_ACTION_IGNORE};
  return actions[severity];
}

kvo_action kvo__fault_policy(kvo_fault_code code, kvo_severity severity) {
  need_environment();
  kvo_action action = code_policies[kvo__fault_index(code)];
  if (action == KVO_ACTION_DEFAULT) action = severity_policies[severity];
  /* A general `abort` applies to fatal faults only, because the others do no harm; and no general policy applies to infos, which are not
   * reported. */
  bool is_general =
      severity == KVO_SEVERITY_FATAL || (severity != KVO_SEVERITY_INFO && general_policy != KVO_ACTION_ABORT);
  if (action == KVO_ACTION_DEFAULT && is_general) action = general_policy;
  if (action == KVO_ACTION_DEFAULT) action = default_action(severity);
  return action == KVO_ACTION_IGNORE && !may_be_ignored(code) ? KVO_ACTION_LOG : action;
}

/* An item for all faults does not ignore what is wrong: otherwise it would hide that the item for one of them is misspelt. */
static bool ignores_complaints(void) {
  need_policy();
  kvo_action action = code_policies[kvo__fault_index(KVO_FAULT_BAD_CONFIGURATION)];
  if (action == KVO_ACTION_DEFAULT) action = severity_policies[KVO_SEVERITY_WARNING];
  return action == KVO_ACTION_IGNORE;
}

void kvo__fault_misconfigured(const char *variable, const char *item, size_t length, const char *problem) {
  if (ignores_complaints()) return;
  char line[512];
  kvo_sink to = {.memory = line, .capacity = sizeof line, .fd = STDERR_FILENO};
  kvo__append(&to, "KVO%04d %s: %s: \"%.*s\" %s", (int)KVO_FAULT_BAD_CONFIGURATION,
              kvo_severity_name(KVO_SEVERITY_WARNING), variable, (int)length, item, problem);
  kvo__put_byte(&to, '\n');
  kvo__sink_flush(&to);
}

int kvo__report_destination(kvo_report_format *format) {
  need_environment();
  *format = report_format;
  return report_fd;
}
