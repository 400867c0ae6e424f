/* fault.c - raises faults: completes them, calls the handlers, writes the report and takes the action. The other files of this room
 * describe the faults. */
#define _GNU_SOURCE
#include "faults/reporting.h"
#include "watching/trace.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ Raising -- */

static kvo_lock handler_lock;
static kvo_fault_handler process_handler;
static void *process_handler_arg;
static kvo_fault_handler _Atomic scope_handler;

uint64_t kvo_thread_fault_count(void) { return kvo__own.faults; }

kvo_fault_handler kvo_binding_set_scope_fault_handler(kvo_fault_handler handler) {
  return atomic_exchange(&scope_handler, handler);
}

kvo_fault_handler kvo_set_thread_fault_handler(kvo_fault_handler handler, void *arg) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) return NULL;
  kvo_fault_handler before = self->fault_handler;
  self->fault_handler = handler;
  self->fault_handler_arg = arg;
  return before;
}

kvo_fault_handler kvo_get_thread_fault_handler(void **arg) {
  const kvo_thread *self = kvo__own.thread;
  if (arg != NULL) *arg = self != NULL ? self->fault_handler_arg : NULL;
  return self != NULL ? self->fault_handler : NULL;
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

/* Calls the handlers. `cancellation` is the program's cancellation state. */
static kvo_action ask_handler(kvo_report *report, int cancellation) {
  const kvo_fault *fault = &report->fault;
  void *arg, *thread_arg;
  kvo_fault_handler handler = kvo_get_fault_handler(&arg);
  kvo_fault_handler scope = atomic_load(&scope_handler);
  kvo_fault_handler thread_handler = kvo_get_thread_fault_handler(&thread_arg);
  if ((handler == NULL && scope == NULL && thread_handler == NULL) || kvo__in_handler()) return KVO_ACTION_DEFAULT;
  kvo__cancel_resume(cancellation);          /* the handler is code of the program */
  void *recorder = kvo__recording_suspend(); /* the fault may be in an evaluation */
  uint32_t mark = kvo__handler_begin(__builtin_frame_address(0), recorder);
  kvo_action action = KVO_ACTION_DEFAULT;
  report->is_asked =
      true; /* only while the handler has its mark: otherwise a signal handler would take the report for abandoned */
  atomic_signal_fence(memory_order_seq_cst);
  if (thread_handler != NULL) action = thread_handler(fault, thread_arg);
  if (action == KVO_ACTION_DEFAULT && scope != NULL) action = scope(fault, NULL);
  handler = kvo_get_fault_handler(&arg); /* those before may have replaced it, and freed what `arg` was */
  if (action == KVO_ACTION_DEFAULT && handler != NULL) action = handler(fault, arg);
  report->is_asked = false;
  atomic_signal_fence(memory_order_seq_cst);
  kvo__recording_resume(recorder);
  kvo__handler_end(mark);
  kvo__cancel_hold();
  return action;
}

/* The thread that is writing a report, and how many threads wait to write one. */
static _Atomic uintptr_t writer;
static _Atomic uint32_t waiting;

/* Whether the destination takes nothing, because nobody reads: then a report of this thread could not be written either. */
static bool is_stalled(int fd) {
  struct pollfd room = {.fd = fd, .events = POLLOUT};
  return poll(&room, 1, 0) == 0;
}

/* Waits for this thread's turn to write. False if another thread takes longer than half a second in which the destination could be written,
 * or than a minute, or if this is a signal handler that has interrupted this thread's own turn. */
static bool take_turn(void) {
  enum { TRIES = 500, MOST_TRIES = 60000 };
  kvo_report_format format;
  int fd = kvo__report_destination(&format);
  bool has_turn = false, waits = false;
  for (int tries = 0, all = 0; tries < TRIES && all < MOST_TRIES; all++) {
    uintptr_t nobody = 0;
    /* Threads that wait already come first: otherwise a thread that reports one fault after the other would always win. */
    bool is_first = waits || atomic_load(&waiting) == 0;
    has_turn = is_first && atomic_compare_exchange_strong(&writer, &nobody, kvo__own_mark());
    if (has_turn || nobody == kvo__own_mark()) break;
    if (!waits) atomic_fetch_add(&waiting, 1);
    waits = true;
    kvo__sleep(1);
    tries += !is_stalled(fd);
  }
  if (waits) atomic_fetch_sub(&waiting, 1);
  return has_turn;
}

/* In the child of a fork the other threads, and their turns, do not exist. */
void kvo__faults_forked(void) {
  if (atomic_load(&writer) != kvo__own_mark()) atomic_store(&writer, 0);
  atomic_store(&waiting, 0);
  kvo__reports_forked();
  kvo__output_forked();
}

/* Whether a fault of this code was reported before: only the first report has hints. */
static bool was_reported(kvo_fault_code code) {
  static _Atomic uint64_t reported[4];
  uint64_t bit = UINT64_C(1) << code % 64;
  return (atomic_fetch_or(&reported[code / 64 % 4], bit) & bit) != 0;
}

/* Writes a JSON report without details, in one write. It begins with a line break, because another report may have been interrupted in a
 * line: that one is lost, but not this one. */
__attribute__((noinline)) static bool write_json_line(int fd, const kvo_fault *fault) {
  char line[16384]; /* a string takes up to 6000 bytes */
  kvo_sink to = {.memory = line, .capacity = sizeof line, .fd = -1};
  const kvo_fault first_line = {
      .code = fault->code, .severity = fault->severity, .summary = fault->summary, .thread = fault->thread};
  kvo__put_byte(&to, '\n');
  kvo__put_json_report(&to, &first_line);
  return kvo__write_all(fd, line, to.total < sizeof line ? to.total : sizeof line - 1);
}

/* Writes the whole report, or, without a turn, its first line in one write. */
static bool write_to(int fd, const kvo_fault *fault, const kvo_report_form *form, bool has_turn) {
  if (has_turn) return kvo__report_write(fault, form, fd);
  if (form->format == KVO_REPORT_JSON) return write_json_line(fd, fault);
  char line[512];
  kvo_sink to = {.memory = line, .capacity = sizeof line, .fd = -1};
  kvo__append(&to, "%s", fault->summary);
  size_t length = to.total < sizeof line ? to.total : sizeof line - 1;
  line[length++] = '\n'; /* replaces the NUL */
  return kvo__write_all(fd, line, length);
}

static void write_report(const kvo_fault *fault, bool demangles, bool has_turn) {
  kvo_report_form form = {.demangles = demangles};
  int fd = kvo__report_destination(&form.format);
  form.is_repeated = was_reported(fault->code);
  if (!write_to(fd, fault, &form, has_turn) && kvo__report_redirect())
    write_to(kvo__report_destination(&form.format), fault, &form, has_turn);
}

/* Whether a debugger or another tracer is attached to this process. */
static bool is_traced(void) {
  char status[1024] = ""; /* the line is near the beginning */
  int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = read(fd, status, sizeof status - 1);
  close(fd);
  const char *tracer = strstr(status, "TracerPid:");
  return size > 0 && tracer != NULL && strtol(tracer + strlen("TracerPid:"), NULL, 10) != 0;
}

/* A hash of the innermost calls outside of the library: between them and the fault may be any number of the Swift layer's. */
static uint64_t calls_of(const kvo_fault *fault) {
  enum { CALLS = 6 };
  const void *calls[CALLS] = {NULL};
  for (size_t i = 0, count = 0; i < fault->frame_count && count < CALLS; i++) {
    kvo__is_code((const char *)fault->frames[i] - 1); /* finds a module that was loaded since */
    if (!kvo__is_library_call(fault->frames[i])) calls[count++] = fault->frames[i];
  }
  return kvo_key_hash((const char *)calls, sizeof calls);
}

/* A hash of a text without its addresses. */
static uint64_t subject_of(const char *text) {
  uint64_t hash = 0;
  while (*text != '\0') {
    size_t length = 1;
    if (strncmp(text, "0x", 2) == 0)
      length = 2 + strspn(text + 2, "0123456789abcdef");
    else
      hash = hash * 31 + (unsigned char)*text;
    text += length;
  }
  return hash;
}

/* A hash of where a fault is: of its source line if it is known, else of the calls. A fault that is about no call, such as a slow callback,
 * has that of its first observation: the source line, else the id. */
static uint64_t location_of(const kvo_fault *fault) {
  if (fault->file != NULL) return kvo_key_hash(fault->file, fault->file_length) + fault->line;
  if (fault->frame_count > 0 || fault->observation_count == 0) return calls_of(fault);
  const kvo_fault_observation *first = fault->observations;
  return first->file != NULL ? kvo_key_hash(first->file, first->file_length) + first->line : first->observation;
}

/* A hash of the location in the program. Of faults about a key it is also that of the key: one line, such as that of a helper function,
 * may name several. */
static uint64_t fault_place_of(const kvo_report *report) {
  const kvo_fault *fault = &report->fault;
  bool is_about_key = fault->code == KVO_FAULT_UNDEFINED_KEY || fault->code == KVO_FAULT_NEVER_NOTIFIES;
  uint64_t parts[] = {(uint64_t)fault->code, location_of(fault), is_about_key ? subject_of(report->detail.memory) : 0};
  return kvo_key_hash((const char *)parts, sizeof parts);
}

/* Whether no fault was at this location before. The table is bounded: if it is full, faults are reported again. */
static bool is_first_time(const kvo_report *report) {
  static _Atomic uint64_t places[1024];
  enum { COUNT = sizeof places / sizeof *places };
  uint64_t place = fault_place_of(report);
  for (size_t i = 0; i < COUNT; i++) {
    uint64_t present = 0;
    if (atomic_compare_exchange_strong(&places[(place + i) % COUNT], &present, place)) return true;
    if (present == place) return false;
  }
  return true;
}

/* The state of kvo__raise. */
typedef struct raising {
  kvo_report *report;
  kvo_caller caller;
  kvo_action action;
  bool is_written, has_turn;
} raising;

/* Whether a text contains a source location, and not only one whose line number begins with the same digits. */
static bool has_place(const char *text, const char *place) {
  size_t length = strlen(place);
  for (const char *found = strstr(text, place); found != NULL; found = strstr(found + 1, place))
    if (found[length] < '0' || found[length] > '9') return true;
  return false;
}

/* Appends a source location, unless the line contains it already. Returns whether it did. */
static bool append_place(kvo_sink *to, const char *what, const char *file, size_t length, uint32_t line,
                         bool is_repeated) {
  char place[1100]; /* of a file name the beginning and the end, 1000 bytes */
  kvo_sink text = {.memory = place, .capacity = sizeof place, .fd = -1};
  kvo__append(&text, "%.*s:%u", (int)length, file, (unsigned)line);
  bool is_new = is_repeated || !has_place(to->memory, place);
  if (is_new) kvo__append(to, ", %s %s", what, place);
  return is_new;
}

/* Appends source locations to the first line, because a log may show that line only: where it happened, or where the object of the fault
 * was registered. */
static void fault_append_places(kvo_sink *to, const kvo_fault *fault) {
  const kvo_fault_observation *first = fault->observation_count > 0 ? fault->observations : NULL;
  bool is_death = fault->code == KVO_FAULT_DEALLOCATED_WHILE_OBSERVED;
  bool is_again = fault->code == KVO_FAULT_REMOVED_TWICE; /* the second removal may be on the line of the first */
  bool is_about_registration = fault->file == NULL || is_death;
  bool is_of_announcement = fault->code >= KVO_FAULT_DID_WITHOUT_WILL && fault->code <= KVO_FAULT_BAD_INDEXES;
  if (fault->file == NULL && is_of_announcement && fault->site_count > 0 && fault->sites->file != NULL) {
    append_place(to, "willChange called at", fault->sites->file, fault->sites->file_length, fault->sites->line, false);
    is_about_registration = false;
  }
  if (is_about_registration && first != NULL && first->file != NULL) {
    bool elsewhere = false,
         is_new = append_place(to, "registered at", first->file, first->file_length, first->line, false);
    for (size_t i = 1; i < fault->observation_count; i++)
      elsewhere = elsewhere || first[i].line != first->line || first[i].file != first->file;
    if (elsewhere && is_new) kvo__append(to, " and elsewhere");
  }
  if (fault->file != NULL)
    append_place(to, is_death ? "deallocated at" : "at", fault->file, fault->file_length, fault->line, is_again);
}

static void put_texts(kvo_report *report) {
  kvo_fault *fault = &report->fault;
  kvo_sink to = {.memory = report->summary_text, .capacity = sizeof report->summary_text, .fd = -1};
  fault->file_length = fault->file != NULL ? strlen(fault->file) : 0;
  kvo__append(&to, "KVO%04d %s: %s", (int)fault->code, kvo_severity_name(fault->severity), report->detail.memory);
  fault_append_places(&to, fault);
  fault->summary = report->summary_text;
  fault->exception = kvo__exception_of(fault->code);
  if (fault->why == NULL) fault->why = kvo__why_of(fault->code);
  if (report->apple.total > 0) fault->apple = report->apple.memory;
  if (report->help.total > 0) fault->help = report->help.memory;
}

static void complete(void *arg) {
  const raising *of = arg;
  kvo_report *report = of->report;
  kvo_fault *fault = &report->fault;
  put_texts(report);
  if (fault->thread == 0) { /* otherwise it is about another thread, or about no call */
    fault->thread = kvo__thread_number();
    fault->frames = report->frames;
    fault->frame_count = kvo__stack_at_fault(&of->caller, report->frames, KVO_FAULT_FRAMES);
  }
  if (fault->chain == NULL) {
    fault->chain = report->steps;
    fault->chain_count = kvo__chain(report->steps, KVO_MAX_STEPS);
  }
  fault->events = report->past.events;
  fault->event_count = kvo__history_of(fault->object, &report->past);
}

/* Decides on the action, after the handlers, and writes the report. */
static void fault_decide(void *arg) {
  raising *of = arg;
  const kvo_fault *fault = &of->report->fault;
  kvo_action action = of->action;
  if (action == KVO_ACTION_DEFAULT) action = kvo__fault_policy(fault->code, fault->severity);
  if (action == KVO_ACTION_ONCE) action = is_first_time(of->report) ? KVO_ACTION_LOG : KVO_ACTION_IGNORE;
  of->action = action;
  of->is_written = action != KVO_ACTION_IGNORE;
  of->has_turn = of->is_written && take_turn();
  if (of->is_written) kvo__modules_look();
  if (of->is_written) write_report(fault, kvo__can_demangle(&of->caller), of->has_turn);
}

static void flush_output(void *arg) {
  const raising *of = arg;
  kvo__flush_output(&of->caller);
}

static _Atomic uint64_t counts[KVO_SEVERITY_COUNT];

uint64_t kvo__fault_count(kvo_severity severity) {
  return atomic_load_explicit(&counts[severity], memory_order_relaxed);
}

__attribute__((noinline)) void kvo__raise(kvo_report *report) {
  kvo__assert(kvo__holds_none());
  kvo_fault *fault = &report->fault;
  int cancellation = kvo__cancel_hold(); /* a thread cancelled during its report would never end its turn */
  raising of = {.report = report, .caller = KVO_CALLER};
  if (fault->severity == KVO_SEVERITY_FATAL) kvo__own.faults++;
  atomic_fetch_add_explicit(&counts[fault->severity], 1, memory_order_relaxed);
  kvo__report_run(report, complete, &of);
  of.action = ask_handler(report, cancellation); /* code of the program runs on the program's stack */
  kvo__report_run(report, fault_decide, &of);
  if (of.is_written) kvo__trace_fault(fault);
  kvo_fault_break(fault);
  if (of.action == KVO_ACTION_ABORT) kvo__trace_save();
  if (of.action == KVO_ACTION_ABORT)
    kvo__report_run(report, flush_output, &of);  /* after the report, which matters more */
  if (of.action == KVO_ACTION_ABORT) kvo__die(); /* while it has its turn: one of several threads ends the process */
  if (of.has_turn) atomic_store(&writer, 0);
  if (of.action == KVO_ACTION_TRAP && is_traced()) raise(SIGTRAP);
  kvo__report_end(report);
  kvo__cancel_resume(cancellation);
}

void kvo__fault_interrupted(const kvo_lock *lock, bool is_guard) {
  (void)lock;
  /* Locks are held, so no handler can be called; and the call can neither go on nor fail. */
  static _Atomic bool is_reported;
  kvo__cancel_hold();
  if (!atomic_exchange(&is_reported, true)) {
    kvo_report *report = kvo__report_begin(KVO_FAULT_ENDLESS_WAIT);
    raising of = {.report = report, .caller = KVO_CALLER, .action = KVO_ACTION_ABORT};
    report->fault.severity = KVO_SEVERITY_FATAL;
    kvo__append(&report->detail, "%s",
                is_guard ? "kvo_guard_lock of a guard that this thread already holds"
                         : "a signal handler called a function that waits for the code it interrupted");
    report->fault.why = is_guard
                            ? "the thread would wait for itself forever"
                            : "the interrupted code holds a lock that the function needs, so neither could continue";
    report->fault.help =
        is_guard
            ? "unlock a guard before calling a function that takes it, and take none in a signal handler: the code "
              "that it has interrupted may hold it"
            : "in a signal handler only record what happened, and observe, remove and set after it has returned: "
              "kvo.h says what a handler may call";
    kvo__report_run(report, complete, &of);
    kvo__report_run(report, fault_decide, &of);
    kvo_fault_break(&report->fault);
  }
  kvo__die();
}

void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *apple, const char *help,
                     const kvo_fault_observation *observations, size_t observation_count, const char *file,
                     uint32_t line) {
  kvo_report *report = kvo__report(code);
  kvo__append(&report->detail, "%s", detail != NULL ? detail : "");
  report->fault.apple = apple;
  report->fault.help = help;
  report->fault.observations = observations;
  report->fault.observation_count = observations != NULL ? observation_count : 0;
  kvo__report_at(report, (kvo_place){file, line});
  kvo__raise(report);
}
