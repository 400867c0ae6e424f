/* fault.c - every misuse ends here: one code, one report, one policy. */
#define _GNU_SOURCE
#include "history.h"
#include "report.h"
#include "trace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ Raising -- */

static kvo_lock handler_lock;
static kvo_fault_handler process_handler;
static void *process_handler_arg;
/* Of the call of a handler, which may have left it by longjmp. A fault within the handler takes the policy's action at once. */
static _Thread_local const char *handler_frame;
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
  const char *own_frame = __builtin_frame_address(0);
  bool in_handler = handler_frame != NULL && own_frame < handler_frame; /* stacks grow downwards */
  kvo__lock(&handler_lock);
  kvo_fault_handler handler = process_handler;
  void *arg = process_handler_arg;
  kvo__unlock(&handler_lock);
  if ((handler == NULL && thread_handler == NULL) || in_handler) return KVO_ACTION_DEFAULT;
  handler_frame = own_frame;
  void *recorder = kvo__recording_suspend(); /* an evaluation may have raised it */
  kvo_action action = KVO_ACTION_DEFAULT;
  if (thread_handler != NULL) action = thread_handler(fault, thread_handler_arg);
  if (action == KVO_ACTION_DEFAULT && handler != NULL) action = handler(fault, arg);
  kvo__recording_resume(recorder);
  handler_frame = NULL;
  return action;
}

/* The thread that is just writing a report. */
static _Atomic uint32_t writer;

/* False when another thread keeps its turn for long, or when this one was interrupted by a signal in the midst of its own. */
static bool take_turn(uint32_t thread) {
  const struct timespec moment = {0, 1000000};
  for (int tries = 0; tries < 500; tries++) {
    uint32_t nobody = 0;
    if (atomic_compare_exchange_strong(&writer, &nobody, thread)) return true;
    if (nobody == thread) return false;
    nanosleep(&moment, NULL);
  }
  return false;
}

/* Whole, or when it is not this thread's turn at least its first line, in one piece. */
static void write_report(const kvo_fault *fault, bool has_turn) {
  kvo_report_format format;
  int fd = kvo__report_destination(&format);
  if (has_turn) {
    kvo__report_write(fault, format, fd);
    return;
  }
  char line[512];
  int size = snprintf(line, sizeof line, "%s\n", fault->summary);
  kvo__write_all(fd, line, (size_t)size < sizeof line ? (size_t)size : sizeof line - 1);
}

void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *apple, const char *help,
                     const kvo_fault_observation *observations, size_t observation_count, const char *file,
                     uint32_t line) {
  if (kvo__is_switched_off(code)) return;
  kvo_severity severity = kvo__severity_of(code);
  if (severity == KVO_SEVERITY_FATAL) thread_faults++;
  char summary_block[512];
  kvo_text summary = KVO_TEXT(summary_block);
  kvo__append(&summary, "KVO%04d %s: ", (int)code, kvo_severity_name(severity));
  kvo__append_cut(&summary, detail);
  kvo_fault fault = {.code = code,
                     .severity = severity,
                     .summary = summary.bytes,
                     .apple = apple,
                     .exception = kvo__exception_of(code),
                     .help = help,
                     .file = file,
                     .file_length = file != NULL ? strlen(file) : 0,
                     .line = line,
                     .observations = observations,
                     .observation_count = observation_count,
                     .thread = (uint32_t)syscall(SYS_gettid)};
  void *frames[KVO_FAULT_FRAMES];
  fault.frames = frames;
  fault.frame_count = kvo__stack_at_fault(frames, KVO_FAULT_FRAMES);
  kvo_past past;
  fault.events = past.events;
  fault.event_count = kvo__history_of(fault.object, &past);
  kvo_action action = ask_handler(&fault);
  if (action == KVO_ACTION_DEFAULT) action = kvo__policy_for(code);
  bool is_written = action != KVO_ACTION_IGNORE;
  bool has_turn = is_written && take_turn(fault.thread);
  if (is_written) write_report(&fault, has_turn);
  kvo_fault_break(&fault);
  if (action == KVO_ACTION_ABORT) kvo__trace_save();
  if (action == KVO_ACTION_ABORT) die(); /* in its turn: of two that fault at once, one ends the process */
  if (has_turn) atomic_store(&writer, 0);
  kvo__discard(&summary);
}

/* ---------------------------------------------------------------------------------------------------------- The faults -- */

static const char *yes(kvo_options options, kvo_options option) { return (options & option) != 0 ? "YES" : "NO"; }

void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, const kvo_fault_observation *left,
                            size_t count) {
  char detail_block[512], apple_block[1024];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo_text apple = KVO_TEXT(apple_block);
  kvo__append(&detail, "%s@0x%llx was deallocated while %zu observation%s registered (key path%s:", cls->written,
              kvo__address((const char *)object - cls->header_offset), count, count == 1 ? " was" : "s were",
              count == 1 ? "" : "s");
  kvo__append(
      &apple,
      "An instance 0x%llx of class %s was deallocated while key value observers were still registered with it. Current "
      "observation info: <NSKeyValueObservationInfo 0x%llx> (",
      kvo__address((const char *)object - cls->header_offset), cls->written, kvo__address(object));
  for (size_t i = 0; i < count; i++) {
    kvo__append(&detail, "%s \"%s\"", i == 0 ? "" : ",", left[i].key_path);
    /* What is an object with Apple is one here by its identity: the observation's id, and its key path. */
    kvo__append(
        &apple,
        "\n<NSKeyValueObservance 0x%llx: Observer: 0x%llx, Key path: %s, Options: <New: %s, Old: %s, Prior: %s> "
        "Context: 0x%llx, Property: 0x%llx>",
        (unsigned long long)left[i].observation, kvo__address(left[i].observer), left[i].key_path,
        yes(left[i].options, KVO_NEW), yes(left[i].options, KVO_OLD), yes(left[i].options, KVO_PRIOR),
        kvo__address(left[i].context), kvo__address(left[i].key_path));
  }
  kvo__append(&detail, ")");
  kvo__append(&apple, "\n)");
  kvo_fault_raise(
      KVO_FAULT_DEALLOCATED_WHILE_OBSERVED, detail.bytes, apple.bytes,
      "remove each observation before its object dies, or make it one that ends with the object: in Swift the "
      "token of observe(_:options:changeHandler:), in C the option KVO_ENDS_WITH_OBJECT",
      left, count, NULL, 0);
  kvo__discard(&detail);
  kvo__discard(&apple);
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
  const char *name = cls != NULL ? cls->written : "(no class)";
  const void *instance = kvo_object_instance(object);
  const char *observer_class = identity->class_name != NULL ? identity->class_name : "observer";
  char context_text[64] = "", detail_block[512], apple_block[512];
  if (match_context) snprintf(context_text, sizeof context_text, " with context 0x%llx", kvo__address(context));
  kvo_text detail = KVO_TEXT(detail_block);
  kvo_text apple = KVO_TEXT(apple_block);
  kvo__append(&detail, "cannot remove %s@0x%llx for \"%s\"%s from %s@0x%llx: it is not registered", observer_class,
              kvo__address(identity->address), key_path, context_text, name, kvo__address(instance));
  kvo__append(
      &apple,
      "Cannot remove an observer <%s 0x%llx> for the key path \"%s\" from <%s 0x%llx> because it is not registered "
      "as an observer.",
      observer_class, kvo__address(identity->address), key_path, name, kvo__address(instance));
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
  kvo__discard(&detail);
  kvo__discard(&apple);
}

static void append_keys(kvo_text *to, const kvo_class *cls) {
  kvo__append(to, "the keys of %s are:", cls->written);
  for (size_t i = 0; i < cls->property_count; i++)
    kvo__append(to, "%s %s", i == 0 ? "" : ",", cls->properties[i]->name);
  if (cls->property_count == 0) kvo__append(to, " none");
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
  const char *name = cls != NULL ? cls->written : "(no class)";
  const void *instance = kvo_object_instance(object);
  char detail_block[512], apple_block[512], help_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo_text apple = KVO_TEXT(apple_block);
  kvo_text help = KVO_TEXT(help_block);
  kvo__append(&detail, "cannot observe \"%s\" of %s@0x%llx: %s", key_path, name, kvo__address(instance),
              rows[row].what);
  bool undefined = rows[row].code == KVO_FAULT_UNDEFINED_KEY;
  if (undefined) {
    kvo__append(
        &apple,
        "[<%s 0x%llx> addObserver:<0x%llx> forKeyPath:@\"%s\" options:%u context:0x%llx] was sent to an object that "
        "is not "
        "KVC-compliant for the \"%s\" property.",
        name, kvo__address(instance), kvo__address(observer), key_path, (unsigned)options & 15u, kvo__address(context),
        key_path);
    if (cls != NULL) append_keys(&help, cls);
  }
  kvo_fault_raise(rows[row].code, detail.bytes, undefined ? apple.bytes : NULL, help.length > 0 ? help.bytes : NULL,
                  NULL, 0, file, line);
  kvo__discard(&detail);
  kvo__discard(&apple);
  kvo__discard(&help);
}

void kvo__fault_no_setter(const kvo_object *object, const char *key) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512], help_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo_text help = KVO_TEXT(help_block);
  kvo__append(&detail, "\"%s\" of %s@0x%llx is set, but there is no such setter", key,
              cls != NULL ? cls->written : "(no class)", kvo__address(kvo_object_instance(object)));
  if (cls != NULL) append_keys(&help, cls);
  kvo_fault_raise(KVO_FAULT_UNDEFINED_KEY, detail.bytes, NULL, help.length > 0 ? help.bytes : NULL, NULL, 0, NULL, 0);
  kvo__discard(&detail);
  kvo__discard(&help);
}

void kvo__fault_never_notifies(const kvo_object *object, const kvo_binding_observer *observer) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail,
              "the observation of \"%s\" of %s@0x%llx can never notify: its evaluation reads nothing observable",
              observer->key_path, cls != NULL ? cls->written : "(no class)", kvo__address(kvo_object_instance(object)));
  kvo_fault_raise(
      KVO_FAULT_NEVER_NOTIFIES, detail.bytes, NULL,
      "make what it reads observable, or declare what affects it in keyPathsForValuesAffectingValue(forKey:)", NULL, 0,
      observer->file, observer->line);
  kvo__discard(&detail);
}

void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot) {
  kvo_fault_observation concerned;
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && kvo__node_kind(node) != KVO_NODE_DIRECT) node = atomic_load(&node->newer);
  if (node != NULL) kvo__describe_node(node, &concerned);
  const char *key = node != NULL ? concerned.key_path : "?";
  const void *instance = (const char *)object - cls->header_offset;
  char detail_block[512], apple_block[512], help_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo_text apple = KVO_TEXT(apple_block);
  kvo_text help = KVO_TEXT(help_block);
  kvo__append(&detail, "a value is wanted of \"%s\" of %s@0x%llx, which has no such key", key, cls->written,
              kvo__address(instance));
  kvo__append(&apple,
              "[<%s 0x%llx> valueForUndefinedKey:]: this class is not key value coding-compliant for the key %s.",
              cls->written, kvo__address(instance), key);
  append_keys(&help, cls);
  kvo_fault_raise(KVO_FAULT_UNDEFINED_KEY, detail.bytes, apple.bytes, help.bytes, node != NULL ? &concerned : NULL,
                  node != NULL ? 1 : 0, NULL, 0);
  kvo__discard(&detail);
  kvo__discard(&apple);
  kvo__discard(&help);
}
