/* fault.c - every misuse ends here: one code, one report, one policy. The misuses themselves: faults_*.c. */
#define _GNU_SOURCE
#include "history.h"
#include "report.h"
#include "trace.h"

#include <fcntl.h>
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
static kvo_fault_handler _Atomic scope_handler;
static _Thread_local kvo_fault_handler thread_handler;
static _Thread_local void *thread_handler_arg;
static _Thread_local uint64_t thread_faults;

uint64_t kvo_thread_fault_count(void) { return thread_faults; }

kvo_fault_handler kvo_binding_set_scope_fault_handler(kvo_fault_handler handler) {
  return atomic_exchange(&scope_handler, handler);
}

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

/* `cancellation` is what the program had set. */
static kvo_action ask_handler(const kvo_fault *fault, int cancellation) {
  kvo__lock(&handler_lock);
  kvo_fault_handler handler = process_handler;
  void *arg = process_handler_arg;
  kvo__unlock(&handler_lock);
  kvo_fault_handler scope = atomic_load(&scope_handler);
  if ((handler == NULL && scope == NULL && thread_handler == NULL) || kvo__in_handler()) return KVO_ACTION_DEFAULT;
  kvo__cancel_resume(cancellation); /* it is the program's code */
  uint32_t mark = kvo__handler_begin(__builtin_frame_address(0));
  void *recorder = kvo__recording_suspend(); /* an evaluation may have raised it */
  kvo_action action = KVO_ACTION_DEFAULT;
  if (thread_handler != NULL) action = thread_handler(fault, thread_handler_arg);
  if (action == KVO_ACTION_DEFAULT && scope != NULL) action = scope(fault, NULL);
  if (action == KVO_ACTION_DEFAULT && handler != NULL) action = handler(fault, arg);
  kvo__recording_resume(recorder);
  kvo__handler_end(mark);
  kvo__cancel_hold();
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

/* A debugger, or another tracer, follows this process. */
static bool is_traced(void) {
  char status[2048];
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = read(fd, status, sizeof status - 1);
  close(fd);
  status[size > 0 ? size : 0] = '\0';
  const char *tracer = strstr(status, "TracerPid:");
  return tracer != NULL && strtol(tracer + strlen("TracerPid:"), NULL, 10) != 0;
}

/* What tells places of the program apart: the source line if the caller told it, else the stack. */
static uint64_t place_of(const kvo_fault *fault) {
  uint64_t parts[6] = {(uint64_t)fault->code, (uint64_t)(uintptr_t)fault->file, fault->line};
  for (size_t i = 0; fault->file == NULL && i < fault->frame_count && i < 6; i++)
    parts[i] = parts[i] * 31 + (uint64_t)(uintptr_t)fault->frames[i];
  return kvo_key_hash((const char *)parts, sizeof parts);
}

/* Remembers the place. A bounded table: with it full, more is told rather than less. */
static bool is_first_time(const kvo_fault *fault) {
  static _Atomic uint64_t places[1024];
  enum { COUNT = sizeof places / sizeof *places };
  uint64_t place = place_of(fault);
  for (size_t i = 0; i < COUNT; i++) {
    uint64_t present = 0;
    if (atomic_compare_exchange_strong(&places[(place + i) % COUNT], &present, place)) return true;
    if (present == place) return false;
  }
  return true;
}

/* What is to be done, with nothing left to ask. */
static kvo_action decide(const kvo_fault *fault, int cancellation) {
  kvo_action action = ask_handler(fault, cancellation);
  if (action == KVO_ACTION_DEFAULT) action = kvo__policy_for(fault->code, fault->severity);
  if (action == KVO_ACTION_ONCE) action = is_first_time(fault) ? KVO_ACTION_LOG : KVO_ACTION_IGNORE;
  return action;
}

kvo_fault kvo__fault_of(kvo_fault_code code) {
  kvo_fault fault;
  memset(&fault, 0, sizeof fault);
  fault.code = code;
  fault.severity = kvo__severity_of(code);
  return fault;
}

void kvo__fault_concerns(kvo_fault *fault, const kvo_fault_observation *observations, size_t count, kvo_place place) {
  fault->observations = observations;
  fault->observation_count = count;
  fault->object = observations[0].object;
  fault->object_class = observations[0].object_class;
  fault->file = place.file;
  fault->line = place.line;
}

kvo_fault_site kvo__site(const char *label, kvo_place place) {
  return (kvo_fault_site){.label = label,
                          .file = place.file,
                          .file_length = place.file != NULL ? strlen(place.file) : 0,
                          .line = place.line,
                          .age = -1};
}

void kvo__raise(kvo_fault *fault, const char *detail) {
  if (kvo__is_switched_off(fault->code)) return;
  enum { STEPS = 24 };
  kvo__look_for_abandoned(); /* a handler, for instance, which then is asked again */
  int cancellation = kvo__cancel_hold(); /* in the midst of a report its turn would never end */
  void *frames[KVO_FAULT_FRAMES];
  kvo_fault_step steps[STEPS];
  char summary_block[512];
  kvo_text summary = KVO_TEXT(summary_block);
  if (fault->severity == KVO_SEVERITY_FATAL) thread_faults++;
  kvo__append(&summary, "KVO%04d %s: ", (int)fault->code, kvo_severity_name(fault->severity));
  kvo__append_cut(&summary, detail);
  fault->summary = summary.bytes;
  fault->exception = kvo__exception_of(fault->code);
  if (fault->why == NULL) fault->why = kvo__why_of(fault->code);
  fault->file_length = fault->file != NULL ? strlen(fault->file) : 0;
  if (fault->thread == 0) { /* else it is about what another thread does, or about no call at all */
    fault->thread = kvo__thread_number();
    fault->frames = frames;
    fault->frame_count = kvo__stack_at_fault(frames, KVO_FAULT_FRAMES);
  }
  if (fault->chain == NULL) {
    fault->chain = steps;
    fault->chain_count = kvo__chain(steps, STEPS);
  }
  kvo_past past;
  fault->events = past.events;
  fault->event_count = kvo__history_of(fault->object, &past);
  kvo_action action = decide(fault, cancellation);
  bool is_written = action != KVO_ACTION_IGNORE;
  bool has_turn = is_written && take_turn(fault->thread);
  if (is_written) write_report(fault, has_turn);
  kvo_fault_break(fault);
  if (action == KVO_ACTION_ABORT) kvo__trace_save();
  if (action == KVO_ACTION_ABORT) die(); /* in its turn: of two that fault at once, one ends the process */
  if (has_turn) atomic_store(&writer, 0);
  if (action == KVO_ACTION_TRAP && is_traced()) raise(SIGTRAP);
  kvo__discard(&summary);
  kvo__cancel_resume(cancellation);
}

void kvo__fault_interrupted(void) {
  /* Locks are held, and nobody can be asked: the call can neither go on nor fail. */
  static _Atomic bool is_told;
  kvo__cancel_hold();
  if (!atomic_exchange(&is_told, true)) {
    void *frames[KVO_FAULT_FRAMES];
    kvo_fault fault = kvo__fault_of(KVO_FAULT_ENDLESS_WAIT);
    fault.severity = KVO_SEVERITY_FATAL;
    fault.summary = "KVO0017 fatal: a signal handler calls the runtime in the midst of a call that it has interrupted, and would wait "
                    "for it for ever";
    fault.help = "in a signal handler note what has happened, and observe, remove and set where the program goes on: kvo.h says what a "
                 "handler may call";
    fault.thread = kvo__thread_number();
    fault.frames = frames;
    fault.frame_count = kvo__stack_at_fault(frames, KVO_FAULT_FRAMES);
    write_report(&fault, true);
    kvo_fault_break(&fault);
  }
  die();
}

void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *apple, const char *help,
                     const kvo_fault_observation *observations, size_t observation_count, const char *file,
                     uint32_t line) {
  kvo_fault fault = kvo__fault_of(code);
  fault.apple = apple;
  fault.help = help;
  fault.observations = observations;
  fault.observation_count = observations != NULL ? observation_count : 0;
  fault.file = file;
  fault.line = line;
  kvo__raise(&fault, detail != NULL ? detail : "");
}
