/* fault.c - every misuse ends here: one code, one report, one policy. */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------------- Text -- */

/* A text that grows beyond its first block, which is on the stack, as long as there is memory, and else is cut short. */
typedef struct text {
  char *bytes;
  size_t length, capacity;
  bool on_heap;
} text;

static void append(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(text *to, const char *format, ...) {
  for (;;) {
    va_list arguments;
    va_start(arguments, format);
    int needed = vsnprintf(to->bytes + to->length, to->capacity - to->length, format, arguments);
    va_end(arguments);
    if (needed < 0) return;
    if ((size_t)needed < to->capacity - to->length) {
      to->length += (size_t)needed;
      return;
    }
    size_t larger = 2 * (to->length + (size_t)needed + 1);
    char *grown = kvo__alloc(larger);
    if (grown == NULL) {
      to->length = to->capacity - 1;
      return;
    }
    memcpy(grown, to->bytes, to->length);
    if (to->on_heap) kvo__free(to->bytes);
    to->bytes = grown;
    to->capacity = larger;
    to->on_heap = true;
  }
}

static void discard(text *of) {
  if (of->on_heap) kvo__free(of->bytes);
}

/* As a number: %p prints NULL as "(nil)", which reads like a value. */
static unsigned long long address(const void *pointer) { return (unsigned long long)(uintptr_t)pointer; }

static void append_options(text *to, kvo_options options) {
  static const struct {
    kvo_options option;
    const char *name;
  } names[] = {{KVO_NEW, "new"}, {KVO_OLD, "old"}, {KVO_INITIAL, "initial"}, {KVO_PRIOR, "prior"}};
  const char *separator = "";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((options & names[i].option) != 0) {
      append(to, "%s%s", separator, names[i].name);
      separator = "|";
    }
  if (*separator == '\0') append(to, "none");
}

static void append_observer(text *to, const kvo_fault_observation *each) {
  if (each->observer_class != NULL)
    append(to, "%s@0x%llx", each->observer_class, address(each->observer));
  else
    append(to, "0x%llx", address(each->observer));
}

static void append_site(text *to, const char *file, size_t length, uint32_t line) {
  if (file != NULL)
    append(to, "%.*s:%u", (int)length, file, (unsigned)line);
  else
    append(to, "a place that was not told (KVO_HERE tells it)");
}

static void append_observations(text *to, const kvo_fault_observation *observations, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const kvo_fault_observation *each = &observations[i];
    append(to, "    \"%s\"  observer ", each->key_path);
    append_observer(to, each);
    append(to, "  options ");
    append_options(to, each->options);
    append(to, "  context 0x%llx  id 0x%llx\n        registered at ", address(each->context),
           (unsigned long long)each->observation);
    append_site(to, each->file, each->file_length, each->line);
    append(to, "\n");
  }
}

/* ------------------------------------------------------------------------------------------------------------- Policy -- */

static const struct {
  kvo_fault_code code;
  const char *exception, *text;
} codes[] = {
#define KVO_FAULT_ROW(name, value, exception, text) {name, exception, text},
    KVO_FAULT_MAP(KVO_FAULT_ROW)
#undef KVO_FAULT_ROW
};

enum { CODE_COUNT = sizeof codes / sizeof *codes };

/* From KVO_POLICY, read once; KVO_ACTION_DEFAULT where it does not speak. */
static kvo_action general_policy = KVO_ACTION_ABORT;
static kvo_action code_policies[CODE_COUNT];

static bool parse_action(const char *word, size_t length, kvo_action *out) {
  static const struct {
    const char *word;
    kvo_action action;
  } words[] = {{"abort", KVO_ACTION_ABORT}, {"log", KVO_ACTION_LOG}, {"ignore", KVO_ACTION_IGNORE}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == length && memcmp(words[i].word, word, length) == 0) {
      *out = words[i].action;
      return true;
    }
  return false;
}

static bool parse_item(const char *item, size_t length) {
  kvo_action action;
  if (parse_action(item, length, &action)) {
    general_policy = action;
    return true;
  }
  unsigned number = 0;
  if (length < 9 || memcmp(item, "KVO", 3) != 0 || item[7] != ':') return false;
  for (size_t i = 3; i < 7; i++) {
    if (item[i] < '0' || item[i] > '9') return false;
    number = number * 10 + (unsigned)(item[i] - '0');
  }
  if (!parse_action(item + 8, length - 8, &action)) return false;
  for (size_t i = 0; i < CODE_COUNT; i++)
    if ((unsigned)codes[i].code == number) {
      code_policies[i] = action;
      return true;
    }
  return false;
}

static void write_all(const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(STDERR_FILENO, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes += written;
    length -= (size_t)written;
  }
}

static void read_policy(void) {
  const char *policy = secure_getenv("KVO_POLICY");
  while (policy != NULL && *policy != '\0') {
    size_t length = strcspn(policy, ",");
    if (!parse_item(policy, length)) {
      char line[256];
      int size =
          snprintf(line, sizeof line,
                   "KVO0034 warning: KVO_POLICY: \"%.*s\" is not understood and is skipped; say abort, log, ignore, or "
                   "for one code KVO0002:log\n",
                   (int)(length < 64 ? length : 64), policy);
      write_all(line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
    }
    policy += length;
    if (*policy == ',') policy++;
  }
}

/* What leaves nothing undone is an error, not fatal, unless the policy names its code. */
static bool is_harmless(kvo_fault_code code) { return code == KVO_FAULT_NEVER_NOTIFIES; }

static const char *exception_of(kvo_fault_code code) {
  for (size_t i = 0; i < CODE_COUNT; i++)
    if (codes[i].code == code && codes[i].exception[0] != '\0') return codes[i].exception;
  return NULL;
}

static kvo_action policy_for(kvo_fault_code code) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, read_policy);
  for (size_t i = 0; i < CODE_COUNT; i++)
    if (codes[i].code == code && code_policies[i] != KVO_ACTION_DEFAULT) return code_policies[i];
  return is_harmless(code) && general_policy == KVO_ACTION_ABORT ? KVO_ACTION_LOG : general_policy;
}

/* ------------------------------------------------------------------------------------------------------------ Raising -- */

static kvo_lock handler_lock;
static kvo_fault_handler process_handler;
static void *process_handler_arg;
/* A fault within the handler takes the policy's action at once. */
static _Thread_local bool in_handler;
static _Thread_local kvo_fault_handler thread_handler;
static _Thread_local void *thread_handler_arg;
static _Thread_local uint64_t thread_faults;

uint64_t kvo_thread_fault_count(void) { return thread_faults; }

kvo_fault_handler kvo_set_thread_fault_handler(kvo_fault_handler handler, void *arg) {
  kvo_fault_handler before = thread_handler;
  thread_handler = handler;
  thread_handler_arg = arg;
  return before;
}

kvo_fault_handler kvo_get_thread_fault_handler(void **arg) {
  if (arg != NULL) *arg = thread_handler_arg;
  return thread_handler;
}

kvo_fault_handler kvo_set_fault_handler(kvo_fault_handler handler, void *arg) {
  kvo__lock(&handler_lock);
  kvo_fault_handler before = process_handler;
  process_handler = handler;
  process_handler_arg = arg;
  kvo__unlock(&handler_lock);
  return before;
}

kvo_fault_handler kvo_get_fault_handler(void **arg) {
  kvo__lock(&handler_lock);
  kvo_fault_handler present = process_handler;
  if (arg != NULL) *arg = process_handler_arg;
  kvo__unlock(&handler_lock);
  return present;
}

__attribute__((noinline)) void kvo_fault_break(const kvo_fault *fault) {
  __asm__ volatile("" : : "r"(fault) : "memory");
}

/* From this frame, not from libc's: swift-backtrace and gdb then see the whole stack of the misuse above it. */
__attribute__((noinline, noreturn)) static void die(void) {
  long process = getpid(), thread = syscall(SYS_gettid);
#if defined(__x86_64__)
  long result = SYS_tgkill;
  __asm__ volatile("syscall" : "+a"(result) : "D"(process), "S"(thread), "d"((long)SIGABRT) : "rcx", "r11", "memory");
#else
  syscall(SYS_tgkill, process, thread, SIGABRT);
#endif
  abort(); /* SIGABRT was ignored, blocked or handled */
}

static kvo_action ask_handler(const kvo_fault *fault) {
  kvo__lock(&handler_lock);
  kvo_fault_handler handler = process_handler;
  void *arg = process_handler_arg;
  kvo__unlock(&handler_lock);
  if ((handler == NULL && thread_handler == NULL) || in_handler) return KVO_ACTION_DEFAULT;
  in_handler = true;
  void *recorder = kvo__recording_suspend(); /* an evaluation may have raised it */
  kvo_action action = KVO_ACTION_DEFAULT;
  if (thread_handler != NULL) action = thread_handler(fault, thread_handler_arg);
  if (action == KVO_ACTION_DEFAULT && handler != NULL) action = handler(fault, arg);
  kvo__recording_resume(recorder);
  in_handler = false;
  return action;
}

/* Some of Apple's sentences have several lines; in the report they stay together. */
static void append_apple(text *report, const char *apple) {
  append(report, "  Apple says: ");
  for (const char *line = apple, *end; *line != '\0'; line = end) {
    end = strchr(line, '\n');
    end = end != NULL ? end + 1 : line + strlen(line);
    append(report, "%s%.*s", line == apple ? "" : "    ", (int)(end - line), line);
  }
  append(report, "\n");
}

void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *apple, const char *help,
                     const kvo_fault_observation *observations, size_t observation_count, const char *file,
                     uint32_t line) {
  if (!is_harmless(code)) thread_faults++;
  size_t file_length = file != NULL ? strlen(file) : 0;
  char report_block[4096], summary_block[512];
  text summary = {summary_block, 0, sizeof summary_block, false};
  text report = {report_block, 0, sizeof report_block, false};
  append(&summary, "KVO%04d %s: %s", (int)code, is_harmless(code) ? "error" : "fatal", detail);
  append(&report, "%s\n", summary.bytes);
  if (apple != NULL) append_apple(&report, apple);
  if (observation_count > 0) {
    append(&report, "  observations:\n");
    append_observations(&report, observations, observation_count);
  }
  if (file != NULL) {
    append(&report, "  fault at ");
    append_site(&report, file, file_length, line);
    append(&report, "\n");
  }
  if (help != NULL) append(&report, "  help: %s\n", help);
  append(&report,
         "  more: break on kvo_fault_break; KVO_POLICY=log goes on after a fault, KVO_POLICY=KVO%04d:log after this "
         "one only\n",
         (int)code);
  kvo_fault fault = {.code = code,
                     .summary = summary.bytes,
                     .apple = apple,
                     .exception = exception_of(code),
                     .report = report.bytes,
                     .file = file,
                     .file_length = file_length,
                     .line = line,
                     .observations = observations,
                     .observation_count = observation_count};
  kvo_action action = ask_handler(&fault);
  if (action == KVO_ACTION_DEFAULT) action = policy_for(code);
  if (action != KVO_ACTION_IGNORE) write_all(report.bytes, report.length);
  kvo_fault_break(&fault);
  if (action == KVO_ACTION_ABORT) die();
  discard(&summary);
  discard(&report);
}

/* ---------------------------------------------------------------------------------------------------------- The faults -- */

static const char *yes(kvo_options options, kvo_options option) { return (options & option) != 0 ? "YES" : "NO"; }

void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, const kvo_fault_observation *left,
                            size_t count) {
  char detail_block[512], apple_block[1024];
  text detail = {detail_block, 0, sizeof detail_block, false};
  text apple = {apple_block, 0, sizeof apple_block, false};
  append(&detail, "%s@0x%llx was deallocated while %zu observation%s registered (key path%s:", cls->name,
         address((const char *)object - cls->header_offset), count, count == 1 ? " was" : "s were",
         count == 1 ? "" : "s");
  append(
      &apple,
      "An instance 0x%llx of class %s was deallocated while key value observers were still registered with it. Current "
      "observation info: <NSKeyValueObservationInfo 0x%llx> (",
      address((const char *)object - cls->header_offset), cls->name, address(object));
  for (size_t i = 0; i < count; i++) {
    append(&detail, "%s \"%s\"", i == 0 ? "" : ",", left[i].key_path);
    /* What is an object with Apple is one here by its identity: the observation's id, and its key path. */
    append(&apple,
           "\n<NSKeyValueObservance 0x%llx: Observer: 0x%llx, Key path: %s, Options: <New: %s, Old: %s, Prior: %s> "
           "Context: 0x%llx, Property: 0x%llx>",
           (unsigned long long)left[i].observation, address(left[i].observer), left[i].key_path,
           yes(left[i].options, KVO_NEW), yes(left[i].options, KVO_OLD), yes(left[i].options, KVO_PRIOR),
           address(left[i].context), address(left[i].key_path));
  }
  append(&detail, ")");
  append(&apple, "\n)");
  kvo_fault_raise(
      KVO_FAULT_DEALLOCATED_WHILE_OBSERVED, detail.bytes, apple.bytes,
      "remove each observation before its object dies, or make it one that ends with the object: in Swift the "
      "token of observe(_:options:changeHandler:), in C the option KVO_ENDS_WITH_OBJECT",
      left, count, NULL, 0);
  discard(&detail);
  discard(&apple);
}

void kvo__fault_stale(kvo_observation observation) {
  char detail[160];
  snprintf(detail, sizeof detail, "removal of observation 0x%llx, which is not registered: %s",
           (unsigned long long)observation,
           observation == 0 ? "0 is no observation" : "it was removed before, ended with its object, or never was");
  kvo_fault_raise(KVO_FAULT_NOT_REGISTERED, detail, NULL,
                  "remove an observation once; kvo_cancel_observer accepts one that has ended", NULL, 0, NULL, 0);
}

void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited) {
  char detail[200];
  snprintf(detail, sizeof detail, "waiting for the deliveries of observation 0x%llx would never end: %s",
           (unsigned long long)observation,
           waited == KVO_WAITED_IN_OWN ? "one of them is waiting"
                                       : "another thread delivers it, and waits for what this one delivers");
  kvo_fault_raise(
      KVO_FAULT_ENDLESS_WAIT, detail, NULL,
      "within a callback end an observation without waiting: invalidate() in Swift, kvo_cancel_observer in C", NULL, 0,
      NULL, 0);
}

/* The observations of the object, copied flat, for a report of what is registered instead. */
typedef struct registered {
  kvo_fault_observation *all;
  size_t count, capacity;
} registered;

static void collect(const kvo_fault_observation *observation, void *arg) {
  registered *into = arg;
  if (into->count < into->capacity) into->all[into->count++] = *observation;
}

static const char *hint(const registered *on, const void *observer, const char *key_path) {
  if (on->count == 0) return "the object has no observation at all: was it removed before, or from another object?";
  for (size_t i = 0; i < on->count; i++)
    if (on->all[i].observer == observer && strcmp(on->all[i].key_path, key_path) == 0)
      return "this observer observes this key path with another context: pass the one given at registration";
  for (size_t i = 0; i < on->count; i++)
    if (on->all[i].observer == observer)
      return "this observer observes another key path of the object: is the key path misspelt?";
  return "other observers are registered with the object, but not this one: was it removed before, or from another "
         "object?";
}

void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                               const void *context, bool match_context, const char *file, uint32_t line) {
  const kvo_class *cls = kvo_object_class(object);
  const char *name = cls != NULL ? cls->name : "(no class)";
  const void *instance = kvo_object_instance(object);
  const char *observer_class = identity->class_name != NULL ? identity->class_name : "observer";
  char context_text[64] = "", detail_block[512], apple_block[512];
  if (match_context) snprintf(context_text, sizeof context_text, " with context 0x%llx", address(context));
  text detail = {detail_block, 0, sizeof detail_block, false};
  text apple = {apple_block, 0, sizeof apple_block, false};
  append(&detail, "cannot remove %s@0x%llx for \"%s\"%s from %s@0x%llx: it is not registered", observer_class,
         address(identity->address), key_path, context_text, name, address(instance));
  append(&apple,
         "Cannot remove an observer <%s 0x%llx> for the key path \"%s\" from <%s 0x%llx> because it is not registered "
         "as an observer.",
         observer_class, address(identity->address), key_path, name, address(instance));
  /* As readers, so that the strings stay while the report is made. */
  kvo_info *info = kvo__word_info(kvo__word(object));
  uint64_t entered = info != NULL ? kvo__enter(info) : 0;
  registered on = {NULL, 0, kvo_object_observation_count(object)};
  if (on.capacity > 0) on.all = kvo__alloc(on.capacity * sizeof *on.all);
  if (on.all == NULL) on.capacity = 0;
  kvo_object_visit_observations(object, collect, &on);
  kvo_fault_raise(KVO_FAULT_NOT_REGISTERED, detail.bytes, apple.bytes, hint(&on, identity->address, key_path), on.all,
                  on.count, file, line);
  if (info != NULL) kvo__leave(info, entered);
  kvo__free(on.all);
  discard(&detail);
  discard(&apple);
}

static void append_keys(text *to, const kvo_class *cls) {
  append(to, "the keys of %s are:", cls->name);
  for (size_t i = 0; i < cls->property_count; i++) append(to, "%s %s", i == 0 ? "" : ",", cls->properties[i]->name);
  if (cls->property_count == 0) append(to, " none");
}

void kvo__fault_registration(kvo_status status, const kvo_class *cls, const kvo_object *object, const char *key_path,
                             const void *observer, kvo_options options, const void *context, const char *file,
                             uint32_t line) {
  static const struct {
    kvo_status status;
    kvo_fault_code code;
    const char *what;
  } rows[] = {
      {KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_UNDEFINED_KEY, "an object on it has no such key"},
      {KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_UNDEFINED_KEY, "a value on it is no observable object, so it has no keys"},
      {KVO_ERROR_MALFORMED_KEY_PATH, KVO_FAULT_MALFORMED_KEY_PATH, "it has an empty component"},
      {KVO_ERROR_NO_INTERCEPTION, KVO_FAULT_NO_INTERCEPTION, "there is no memory for executable trampolines"},
      {KVO_ERROR_DYING_OBJECT, KVO_FAULT_DYING_OBJECT, "the object is being destroyed"},
  };
  size_t row = 0;
  while (row + 1 < sizeof rows / sizeof *rows && rows[row].status != status) row++;
  const char *name = cls != NULL ? cls->name : "(no class)";
  const void *instance = kvo_object_instance(object);
  char detail_block[512], apple_block[512], help_block[512];
  text detail = {detail_block, 0, sizeof detail_block, false};
  text apple = {apple_block, 0, sizeof apple_block, false};
  text help = {help_block, 0, sizeof help_block, false};
  append(&detail, "cannot observe \"%s\" of %s@0x%llx: %s", key_path, name, address(instance), rows[row].what);
  bool undefined = rows[row].code == KVO_FAULT_UNDEFINED_KEY;
  if (undefined) {
    append(&apple,
           "[<%s 0x%llx> addObserver:<0x%llx> forKeyPath:@\"%s\" options:%u context:0x%llx] was sent to an object that "
           "is not "
           "KVC-compliant for the \"%s\" property.",
           name, address(instance), address(observer), key_path, (unsigned)options & 15u, address(context), key_path);
    if (cls != NULL) append_keys(&help, cls);
  }
  kvo_fault_raise(rows[row].code, detail.bytes, undefined ? apple.bytes : NULL, help.length > 0 ? help.bytes : NULL,
                  NULL, 0, file, line);
  discard(&detail);
  discard(&apple);
  discard(&help);
}

void kvo__fault_no_setter(const kvo_object *object, const char *key) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512], help_block[512];
  text detail = {detail_block, 0, sizeof detail_block, false};
  text help = {help_block, 0, sizeof help_block, false};
  append(&detail, "\"%s\" of %s@0x%llx is set, but there is no such setter", key,
         cls != NULL ? cls->name : "(no class)", address(kvo_object_instance(object)));
  if (cls != NULL) append_keys(&help, cls);
  kvo_fault_raise(KVO_FAULT_UNDEFINED_KEY, detail.bytes, NULL, help.length > 0 ? help.bytes : NULL, NULL, 0, NULL, 0);
  discard(&detail);
  discard(&help);
}

void kvo__fault_never_notifies(const kvo_object *object, const kvo_binding_observer *observer) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512];
  text detail = {detail_block, 0, sizeof detail_block, false};
  append(&detail, "the observation of \"%s\" of %s@0x%llx can never notify: its evaluation reads nothing observable",
         observer->key_path, cls != NULL ? cls->name : "(no class)", address(kvo_object_instance(object)));
  kvo_fault_raise(
      KVO_FAULT_NEVER_NOTIFIES, detail.bytes, NULL,
      "make what it reads observable, or declare what affects it in keyPathsForValuesAffectingValue(forKey:)", NULL, 0,
      observer->file, observer->line);
  discard(&detail);
}

void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot) {
  kvo_fault_observation concerned;
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && kvo__node_kind(node) != KVO_NODE_DIRECT) node = atomic_load(&node->newer);
  if (node != NULL) kvo__describe_node(node, &concerned);
  const char *key = node != NULL ? concerned.key_path : "?";
  const void *instance = (const char *)object - cls->header_offset;
  char detail_block[512], apple_block[512], help_block[512];
  text detail = {detail_block, 0, sizeof detail_block, false};
  text apple = {apple_block, 0, sizeof apple_block, false};
  text help = {help_block, 0, sizeof help_block, false};
  append(&detail, "a value is wanted of \"%s\" of %s@0x%llx, which has no such key", key, cls->name, address(instance));
  append(&apple, "[<%s 0x%llx> valueForUndefinedKey:]: this class is not key value coding-compliant for the key %s.",
         cls->name, address(instance), key);
  append_keys(&help, cls);
  kvo_fault_raise(KVO_FAULT_UNDEFINED_KEY, detail.bytes, apple.bytes, help.bytes, node != NULL ? &concerned : NULL,
                  node != NULL ? 1 : 0, NULL, 0);
  discard(&detail);
  discard(&apple);
  discard(&help);
}
