/* slow.c - the watchdog: a thread that reports callbacks which have been running for KVO_SLOW_MS, even if they never return. It ends when
 * no delivery is in progress, so that it does not keep a process whose other threads have ended, and the next delivery starts it again. */
#define _GNU_SOURCE
#include "watching/slow.h"

#include "platform/settings.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/** A delivery in progress. */
typedef struct watched {
  struct watched *next;
  uint64_t number;
  const kvo_thread *thread;
  const void *frame;
  int64_t begun;
  bool is_reported;
  /** Its strings are never freed, except those that are copied below. */
  kvo_fault_observation what;
  uint32_t thread_id;
  char key_path[80], observer_class[80], note[160];
} watched;

/* Guards the list, newest first, its newest number, and is_running. */
static kvo_lock slow_lock;
static watched *watched_list;
static uint64_t newest;
static bool is_running;
/* Changes when a delivery begins: an idle watchdog waits on it. */
static _Atomic uint32_t begins;
static _Atomic bool slow_is_idle;

/* Copies a delivery to be reported, innermost first, and returns 0. Otherwise returns the nanoseconds until one may be due, INT64_MAX if
 * there is none. */
static int64_t take_due(watched *out) {
  int64_t limit = (int64_t)kvo__settings.slow_ms * 1000000, wait = INT64_MAX;
  kvo__lock(&slow_lock);
  int64_t time = kvo__now(); /* read under the lock: everything in the list began earlier */
  for (watched *each = watched_list; each != NULL; each = each->next) {
    if (each->is_reported) continue;
    if (time - each->begun >= limit) {
      each->is_reported = true;
      *out = *each;
      wait = 0;
      break;
    }
    int64_t left = limit - (time - each->begun);
    if (left < wait) wait = left;
  }
  kvo__unlock(&slow_lock);
  return wait;
}

/* Whether there is nothing to watch: then this thread ends. */
static bool slow_stop(void) {
  kvo__lock(&slow_lock);
  bool stops = watched_list == NULL;
  if (stops) is_running = false;
  kvo__unlock(&slow_lock);
  return stops;
}

static void *watch(void *arg) {
  enum { IDLE_MS = 1000 };
  (void)arg;
  pthread_setname_np(pthread_self(), "kvo-slow");
  for (;;) {
    watched due;
    atomic_store(&slow_is_idle, true);
    uint32_t before = atomic_load(&begins);
    int64_t wait = take_due(&due);
    if (wait > IDLE_MS * INT64_C(1000000) && wait < INT64_MAX) wait = IDLE_MS * INT64_C(1000000);
    if (wait == 0) {
      due.what.key_path = due.key_path;
      if (due.what.observer_class != NULL) due.what.observer_class = due.observer_class;
      if (due.what.note != NULL) due.what.note = due.note;
      KVO_MISUSE(slow, &due.what, due.thread_id, (uint64_t)(kvo__now() - due.begun) / 1000000);
    } else if (wait == INT64_MAX) {
      kvo__futex_wait_for(&begins, before, IDLE_MS);
      if (atomic_load(&begins) == before && slow_stop()) return NULL;
    } else {
      struct timespec pause = {(time_t)(wait / 1000000000), (long)(wait % 1000000000)};
      nanosleep(&pause, NULL);
    }
  }
}

/* Starts the watchdog; the lock is held. If that fails, the next delivery tries again. */
static void slow_start(void) {
  sigset_t most, before;
  sigfillset(&most);
  /* Signals that a fault on the watchdog's own thread raises. All others are left to the program's threads. */
  static const int own[] = {SIGABRT, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&most, own[i]);
  pthread_sigmask(SIG_SETMASK, &most, &before);
  pthread_t thread;
  is_running = pthread_create(&thread, NULL, watch, NULL) == 0;
  if (is_running) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Removes the delivery of that number, and those of a thread which were left: all if there is no frame. The lock is held. */
static void remove_ended(uint64_t number, const kvo_thread *thread, const void *frame) {
  for (watched **link = &watched_list; *link != NULL;) {
    watched *each = *link;
    bool is_left = each->thread == thread && (frame == NULL || kvo__is_left(each->frame, frame));
    if (each->number == number || is_left) {
      *link = each->next;
      free(each);
    } else {
      link = &each->next;
    }
  }
}

uint64_t kvo__slow_begin(const kvo_event_details *details, const void *frame) {
  watched *made = calloc(1, sizeof *made);
  if (made == NULL) return 0;
  made->thread = kvo__thread();
  made->frame = frame;
  made->thread_id = kvo__thread_number();
  made->begun = kvo__now();
  kvo_fault_observation what = {.observation = details->observation,
                                .options = details->options,
                                .observer_class = details->observer_class,
                                .observer = details->observer,
                                .context = details->context,
                                .note = details->note,
                                .file = details->file,
                                .file_length = details->file != NULL ? strlen(details->file) : 0,
                                .line = details->line,
                                .callback = details->callback,
                                .object = details->object,
                                .object_class = details->class_name};
  made->what = what;
  kvo__copy_cut(made->key_path, sizeof made->key_path, details->key_path);
  if (what.observer_class != NULL)
    kvo__copy_cut(made->observer_class, sizeof made->observer_class, what.observer_class);
  if (what.note != NULL) kvo__copy_cut(made->note, sizeof made->note, what.note);
  kvo__lock(&slow_lock);
  remove_ended(0, made->thread, frame);
  uint64_t number = made->number = ++newest;
  made->next = watched_list;
  watched_list = made;
  if (!is_running) slow_start();
  kvo__unlock(&slow_lock);
  atomic_fetch_add(&begins, 1);
  if (atomic_exchange(&slow_is_idle, false)) kvo__futex_wake_all(&begins);
  return number;
}

void kvo__slow_end(uint64_t number, const void *frame) {
  kvo__lock(&slow_lock);
  remove_ended(number, kvo__own.thread, frame);
  kvo__unlock(&slow_lock);
}

void kvo__slow_thread_end(const kvo_thread *thread) {
  kvo__lock(&slow_lock);
  remove_ended(0, thread, NULL);
  kvo__unlock(&slow_lock);
}

void kvo__slow_forked(void) {
  is_running = false;
  for (watched **link = &watched_list; *link != NULL;) {
    watched *each = *link;
    if (each->thread == kvo__own.thread) {
      each->thread_id = kvo__thread_number();
      link = &each->next;
    } else {
      *link = each->next; /* leaked: the allocator might not be usable yet */
    }
  }
}
