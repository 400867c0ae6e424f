/* trace.c - records a Chrome trace: nested slices of changes and deliveries per thread. */
#define _GNU_SOURCE
#include "watching/trace.h"

#include "platform/settings.h"
#include "platform/signals.h"
#include "text/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = KVO_TRACE_NAME, EVENT = 12288, BUFFER = 1 << 16, FLUSH_AFTER_NS = 10000000 };

/* A change or delivery in progress. */
typedef struct slice {
  const void *token;
  /** It has ended while a later one has not: changes announced by hand may end in any order, slices must nest. */
  bool has_ended;
  /** It is a change in a scope, whose observers are notified in a later slice. */
  bool is_paused;
} slice;

/* The slices that a thread has begun in this recording. */
typedef struct kvo_thread_trace {
  struct kvo_thread_trace *next;
  uint64_t recording;
  uint32_t thread;
  size_t depth, capacity;
  slice *slices;
  /** As it is in the file. */
  char name[16];
} thread_trace;

/* Guards everything below. The file is a complete JSON array at any time: each write ends with the end of the array, and the next write
 * starts by overwriting that. */
static kvo_lock trace_lock;
static int fd = -1;
static pid_t process;
static off_t trace_end;
static uint64_t recording;
static int64_t started, flushed;
static bool has_failed;
static size_t length;
static char buffer[BUFFER];
static thread_trace *trace_threads;

static const char list_end[] = "\n]\n";

/* ------------------------------------------------------------------------------------------------------------- File -- */

static bool write_at(off_t place, const char *bytes, size_t count) {
  kvo_held_signals signals;
  kvo__signals_hold(&signals);
  while (count > 0) {
    ssize_t written = pwrite(fd, bytes, count, place);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes += written;
    place += written;
    count -= (size_t)written;
  }
  kvo__signals_release(&signals);
  return count == 0;
}

static void flush(void) {
  if (fd < 0 || length == 0) return;
  memcpy(buffer + length, list_end, sizeof list_end - 1);
  if (!has_failed && write_at(trace_end, buffer, length + sizeof list_end - 1)) {
    trace_end += (off_t)length;
  } else if (!has_failed) {
    has_failed = true; /* keep the file a complete array */
    if (ftruncate(fd, trace_end) == 0) write_at(trace_end, list_end, sizeof list_end - 1);
  }
  length = 0;
  flushed = kvo__now();
}

/* Begins an event in the buffer, leaving room for the end of the array. */
static kvo_sink begin_event(char phase, uint32_t thread, int64_t time) {
  if (length + EVENT + sizeof list_end > BUFFER) flush();
  kvo_sink to = {.memory = buffer + length, .capacity = EVENT, .fd = -1};
  kvo__put(&to, trace_end == 0 && length == 0 ? "[\n" : ",\n");
  kvo__put(&to, "{\"ph\":\"");
  kvo__put_byte(&to, phase);
  kvo__put(&to, "\",\"pid\":");
  kvo__put_number(&to, (unsigned long long)process, 10);
  kvo__put(&to, ",\"tid\":");
  kvo__put_number(&to, thread, 10);
  uint64_t since = (uint64_t)(time - started);
  kvo__put(&to, ",\"ts\":"); /* in microseconds */
  kvo__put_number(&to, since / 1000, 10);
  kvo__put_byte(&to, '.');
  for (uint64_t digit = 100; digit > 0; digit /= 10) kvo__put_number(&to, since / digit % 10, 10);
  return to;
}

static void end_event(kvo_sink *of) {
  kvo__put_byte(of, '}');
  if (of->total < of->capacity) length += of->total; /* always true, because names are cut */
}

/* ------------------------------------------------------------------------------------------------------------ Names -- */

/* Writes a name from the program; a long one is cut and ends with "...". */
static void trace_put_name(kvo_sink *to, const char *member, const char *name) {
  char cut[NAME];
  kvo__copy_cut(cut, sizeof cut, name);
  kvo__put_json_string(to, member, cut);
}

static void put_metadata(const char *kind, uint32_t thread, int64_t time, const char *name) {
  kvo_sink to = begin_event('M', thread, time);
  kvo__put_json_string(&to, "name", kind);
  kvo__put(&to, ",\"args\":{\"name\":");
  kvo__put_json_bytes(&to, name, strlen(name));
  kvo__put_byte(&to, '}');
  end_event(&to);
}

/* Writes the name of this thread, at first and when it has changed. */
static void name_thread(thread_trace *own, int64_t time) {
  char name[16] = "main";
  if ((pid_t)own->thread != process) prctl(PR_GET_NAME, name);
  if (strcmp(own->name, name) == 0) return;
  memcpy(own->name, name, sizeof name);
  put_metadata("thread_name", own->thread, time, name);
}

/* Says where the file of a call's module is, so that a tool can find the source line. Once per call: modules are few. */
static void name_module(kvo_trace_call *of, uint32_t thread) {
  if (of->named_in == recording) return;
  of->named_in = recording;
  kvo_sink to = begin_event('M', thread, started);
  kvo__put_json_string(&to, "name", "kvo_module");
  kvo__put(&to, ",\"args\":{");
  bool is_known = kvo__put_trace_module(&to, of);
  kvo__put_byte(&to, '}');
  if (is_known) end_event(&to);
}

static void trace_put_object(kvo_sink *to, const char *class_name, const void *object) {
  char name[2 * NAME];
  kvo__copy_cut(name, NAME, class_name);
  kvo_sink address = {.memory = name + strlen(name), .capacity = NAME, .fd = -1};
  kvo__put_byte(&address, '@');
  kvo__put_address(&address, (unsigned long long)(uintptr_t)object);
  kvo__sink_end(&address);
  kvo__put(to, "\"object\":");
  kvo__put_json_bytes(to, name, strlen(name));
}

static void put_calls(kvo_sink *to, kvo_trace_call *const *calls, size_t count) {
  if (count == 0) return;
  kvo__put_member(to, "calls");
  for (size_t i = 0; i < count; i++) {
    kvo__put_byte(to, i == 0 ? '[' : ',');
    kvo__put_json_bytes(to, calls[i]->text, strlen(calls[i]->text));
  }
  kvo__put_byte(to, ']');
}

/* The calls that made a change; none if it is inside another slice. */
typedef struct caller_list {
  kvo_trace_call *calls[KVO_TRACE_CALLS];
  size_t count;
} caller_list;

static void trace_put_event(char phase, const thread_trace *on, int64_t time, const kvo_event_details *what,
                            const char *value, const caller_list *by) {
  char name[KVO_TRACE_TITLE];
  for (size_t i = 0; i < by->count; i++) name_module(by->calls[i], on->thread);
  kvo__trace_name(what, name, sizeof name);
  kvo_sink to = begin_event(phase, on->thread, time);
  kvo__put_json_string(&to, "name", name);
  kvo__put_json_string(&to, "cat", kvo__trace_category(what->moment));
  if (phase == 'i') kvo__put(&to, ",\"s\":\"t\"");
  kvo__put(&to, ",\"args\":{");
  trace_put_object(&to, what->class_name, what->object);
  if (what->key_path != NULL) trace_put_name(&to, "key", what->key_path);
  if (what->observation != 0) kvo__put_json_address(&to, "observation", what->observation);
  if (what->observer_class != NULL) trace_put_name(&to, "observer", what->observer_class);
  if (what->observer != NULL)
    kvo__put_json_address(&to, "observerAddress", (unsigned long long)(uintptr_t)what->observer);
  if (what->note != NULL) trace_put_name(&to, "note", what->note);
  if (what->file != NULL) trace_put_name(&to, "file", what->file);
  if (what->file != NULL) {
    kvo__put_member(&to, "line");
    kvo__put_number(&to, what->line, 10);
  }
  if (value != NULL) trace_put_name(&to, "new", value);
  if (what->moment == KVO_MOMENT_CHANGE_RESUMES) {
    kvo__put_member(&to, "resumed");
    kvo__put(&to, "true");
  }
  put_calls(&to, by->calls, by->count);
  kvo__put_byte(&to, '}');
  end_event(&to);
}

/* ----------------------------------------------------------------------------------------------------------- Slices -- */

/* The slices of this thread; NULL without memory. From the C library, like the kvo_thread that owns them. */
static thread_trace *own_trace(void) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) return NULL;
  if (self->trace == NULL && (self->trace = calloc(1, sizeof *self->trace)) != NULL) {
    self->trace->next = trace_threads;
    trace_threads = self->trace;
  }
  thread_trace *own = self->trace;
  if (own != NULL && own->recording != recording) {
    own->recording = recording;
    own->thread = kvo__thread_number(); /* differs in the child of a fork */
    own->depth = 0;
    own->name[0] = '\0';
    name_thread(own, started);
  }
  return own;
}

static bool trace_push(thread_trace *on, const void *token) {
  if (on->depth == on->capacity) {
    size_t larger = on->capacity == 0 ? 16 : 2 * on->capacity;
    slice *slices = realloc(on->slices, larger * sizeof *slices);
    if (slices == NULL) return false;
    on->slices = slices;
    on->capacity = larger;
  }
  on->slices[on->depth++] = (slice){.token = token};
  return true;
}

static void trace_pop(thread_trace *on, int64_t time) {
  on->depth--;
  kvo_sink to = begin_event('E', on->thread, time);
  if (on->slices[on->depth].is_paused) kvo__put(&to, ",\"args\":{\"paused\":true}");
  end_event(&to);
}

/* Ends a slice of a thread. False if it has not begun it in this recording. */
static bool trace_finish_on(thread_trace *on, const void *token, int64_t time, bool is_paused) {
  size_t i = on->recording == recording ? on->depth : 0;
  while (i > 0 && (on->slices[i - 1].token != token || on->slices[i - 1].has_ended)) i--;
  if (i == 0) return false;
  on->slices[i - 1].has_ended = true;
  on->slices[i - 1].is_paused = is_paused;
  while (on->depth > 0 && on->slices[on->depth - 1].has_ended) trace_pop(on, time);
  return true;
}

/* Ends the slice of a change, if it began in this recording: one in place may end on another thread. */
static void trace_finish(thread_trace *own, const void *token, int64_t time, bool is_paused) {
  bool is_done = trace_finish_on(own, token, time, is_paused);
  for (thread_trace *each = trace_threads; !is_done && each != NULL; each = each->next)
    is_done = trace_finish_on(each, token, time, is_paused);
}

static void trace_record(thread_trace *on, const kvo_event_details *what, const char *value) {
  caller_list by = {.count = 0};
  if (kvo__trace_begins_change(what->moment) && on->depth == 0) by.count = kvo__trace_calls(by.calls);
  int64_t time = kvo__now(); /* naming calls takes time, which is not the change's */
  if (on->depth == 0) name_thread(on, time);
  switch (what->moment) {
    case KVO_MOMENT_CHANGE_BEGINS:
    case KVO_MOMENT_CHANGE_RESUMES:
    case KVO_MOMENT_DELIVERY_BEGINS:
      if (trace_push(on, what->token)) trace_put_event('B', on, time, what, value, &by);
      break;
    case KVO_MOMENT_CHANGE_PAUSES: trace_finish(on, what->token, time, true); break;
    case KVO_MOMENT_CHANGE_ENDS: trace_finish(on, what->token, time, false); break;
    case KVO_MOMENT_DELIVERY_ENDS: (void)trace_finish_on(on, what->token, time, false); break;
    case KVO_MOMENT_REGISTERED:
    case KVO_MOMENT_ENDED:
    case KVO_MOMENT_DIED: trace_put_event('i', on, time, what, NULL, &by); break;
  }
  /* Buffer events otherwise: after a kill, the file lacks only the last moments. */
  if (on->depth == 0 && time - flushed > FLUSH_AFTER_NS) flush();
}

void kvo__trace_note(const kvo_event_details *details) {
  char value[KVO_VALUE_TEXT];
  bool has_value =
      kvo__settings.values && details->change != NULL &&
      kvo__new_value_text(details->change, value, sizeof value); /* outside the lock: this calls the binding */
  kvo__lock(&trace_lock);
  thread_trace *own = fd >= 0 ? own_trace() : NULL;
  if (own != NULL) trace_record(own, details, has_value ? value : NULL);
  kvo__unlock(&trace_lock);
}

void kvo__trace_thread_end(kvo_thread *thread) {
  thread_trace *own = thread->trace;
  if (own == NULL) return;
  kvo__lock(&trace_lock);
  if (fd >= 0 && own->recording == recording)
    while (own->depth > 0) trace_pop(own, kvo__now());
  thread_trace **link = &trace_threads;
  while (*link != own) link = &(*link)->next;
  *link = own->next;
  kvo__unlock(&trace_lock);
  free(own->slices);
  free(own);
}

/* ------------------------------------------------------------------------------------------------- Beginning and end -- */

/* The lock is held. */
static kvo_status trace_open_file(const char *path) {
  if (fd >= 0) return KVO_ERROR_BUSY;
  struct stat is;
  /* O_NONBLOCK: a FIFO may have no reader. */
  int opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (opened < 0) return KVO_ERROR_FILE;
  if (fstat(opened, &is) != 0 || !S_ISREG(is.st_mode)) { /* the end of the array could not be overwritten */
    close(opened);
    return KVO_ERROR_FILE;
  }
  fd = opened;
  process = getpid();
  trace_end = 0;
  length = 0;
  has_failed = false;
  recording++;
  kvo__trace_forget_calls();
  started = kvo__now();
  put_metadata("process_name", (uint32_t)process, started, program_invocation_short_name);
  flush();
  if (!has_failed) return KVO_OK;
  close(fd);
  fd = -1;
  return KVO_ERROR_FILE;
}

kvo_status kvo__trace_begin_as(const char *path, uint64_t *number) {
  if (path == NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_trace_begin: path is NULL");
  int cancellation = kvo__cancel_hold();
  kvo__lock(&trace_lock);
  kvo_status status = trace_open_file(path);
  if (status == KVO_OK) atomic_fetch_or(&kvo__attention, KVO_TAP_TRACE);
  *number = recording;
  kvo__unlock(&trace_lock);
  kvo__cancel_resume(cancellation);
  return status == KVO_OK ? status : kvo__fail(status, "kvo_trace_begin: %s: %s", path, kvo_status_string(status));
}

kvo_status kvo_trace_begin(const char *path) {
  uint64_t number;
  return kvo__trace_begin_as(path, &number);
}

bool kvo__trace_goes_on(uint64_t number) {
  kvo__lock(&trace_lock);
  bool goes_on = fd >= 0 && recording == number;
  kvo__unlock(&trace_lock);
  return goes_on;
}

/* Ends the recording with this number, or, if it is 0, any. */
static kvo_status end_of(uint64_t number) {
  kvo_status status = KVO_OK;
  int cancellation = kvo__cancel_hold();
  kvo__lock(&trace_lock);
  if (fd >= 0 && (number == 0 || number == recording)) {
    atomic_fetch_and(&kvo__attention, ~(uint32_t)KVO_TAP_TRACE);
    int64_t time = kvo__now();
    for (thread_trace *each = trace_threads; each != NULL; each = each->next)
      while (each->recording == recording && each->depth > 0) trace_pop(each, time);
    flush();
    bool closed = close(fd) == 0;
    fd = -1;
    if (!closed || has_failed) status = KVO_ERROR_FILE;
  }
  kvo__unlock(&trace_lock);
  kvo__cancel_resume(cancellation);
  return status == KVO_OK ? status : kvo__fail(status, "kvo_trace_end: %s", kvo_status_string(status));
}

kvo_status kvo_trace_end(void) { return end_of(0); }
kvo_status kvo__trace_end_of(uint64_t number) { return end_of(number); }

/* The process may have been interrupted anywhere, even in this file with the lock held: gives up after some tries. */
static bool try_lock(void) {
  for (int tries = 0; tries < 1000; tries++) {
    uint32_t is_free = 0;
    if (atomic_compare_exchange_weak(&trace_lock.state, &is_free, kvo__thread_number())) return true;
  }
  return false;
}

void kvo__trace_save(void) {
  if (!try_lock()) return;
  flush();
  kvo__release(&trace_lock);
}

static void put_fault(const kvo_fault *fault) {
  char name[32];
  kvo_sink title = {.memory = name, .capacity = sizeof name, .fd = -1};
  kvo__append(&title, "KVO%04d %s", (int)fault->code, kvo_severity_name(fault->severity));
  kvo__sink_end(&title);
  const kvo_fault_observation *first = fault->observation_count > 0 ? fault->observations : NULL;
  kvo_sink to = begin_event('i', kvo__thread_number(), kvo__now());
  kvo__put_json_string(&to, "name", name);
  kvo__put(&to, ",\"cat\":\"fault\",\"s\":\"t\",\"args\":{");
  if (fault->object != NULL) {
    trace_put_object(&to, fault->object_class != NULL ? fault->object_class : "", fault->object);
    kvo__put_byte(&to, ',');
  }
  kvo__put(&to, "\"summary\":");
  kvo__put_json_bytes(&to, fault->summary, strlen(fault->summary));
  if (first != NULL && first->observation != 0) kvo__put_json_address(&to, "observation", first->observation);
  if (fault->file != NULL) trace_put_name(&to, "file", fault->file);
  if (fault->file != NULL) {
    kvo__put_member(&to, "line");
    kvo__put_number(&to, fault->line, 10);
  }
  kvo__put_byte(&to, '}');
  end_event(&to);
}

void kvo__trace_fault(const kvo_fault *fault) {
  if ((atomic_load(&kvo__attention) & KVO_TAP_TRACE) == 0 || !try_lock()) return;
  if (fd >= 0) put_fault(fault);
  kvo__release(&trace_lock);
}

/* At the end of the process, if the program has not ended the recording. */
__attribute__((destructor)) static void end_recording(void) { kvo_trace_end(); }

void kvo__trace_forked(void) {
  /* The other threads do not exist in the child. One of them may have been noting a fault, which is in no section. */
  atomic_store(&trace_lock.state, 0);
  trace_threads = kvo__own.thread != NULL ? kvo__own.thread->trace : NULL;
  if (trace_threads != NULL) trace_threads->next = NULL;
  if (fd < 0) return;
  atomic_fetch_and(&kvo__attention, ~(uint32_t)KVO_TAP_TRACE);
  close(fd);
  fd = -1;
  length = 0;
}
