/* threads.c - what each thread is running, for threads that have to wait for it: a removal waits for deliveries, an object's death waits
 * for evaluations, a fork waits for locks.
 *
 * A thread publishes what it does with plain stores to a record of its own, because it does so at every delivery. Waiting is rare, so the
 * waiter pays: it makes all threads execute a memory barrier (membarrier(2)), after which each thread has either published what it does, or
 * will see what the waiter has changed. Without that system call the stores are exchanges. */
#define _GNU_SOURCE
#include "threads/threads.h"

#include "platform/modules.h"
#include "platform/settings.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static kvo_lock list_lock;
static kvo_thread *threads;
static uint32_t made_records;

/* How many times code runs without a mark, because there was no memory for one. */
static _Atomic uint32_t unmarked;

struct kvo_threads_state kvo__threads;

/* Held by the thread that stops the others. */
static kvo_lock stop_lock;

/* How many threads without a record are in sections. */
static _Atomic uint32_t unrecorded;

/* Changes when a mark ends for which a thread may be waiting. */
static _Atomic uint32_t threads_progress;

/* ---------------------------------------------------------------------------------------------------------- Barriers -- */

static long membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0); }

enum { LONG_ENOUGH = 10 }; /* milliseconds: by then, each processor's earlier stores are visible */

/* For the waiter, after its change and before it reads the other threads' records. */
static void barrier(void) {
  if (!kvo__has_barrier() || membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED); /* at first use: it is slow in a process with threads */
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  /* A sandbox that the program has entered refuses the call. From now on marks are published by exchanges. */
  atomic_fetch_or(&kvo__attention, KVO_NO_BARRIER);
  kvo__sleep(LONG_ENOUGH);
}

/* ---------------------------------------------------------------------------------------------------------- Records -- */

enum { FIRST_MARKS = 16 };

static pthread_key_t end_key;
static bool has_end_key; /* the number of keys is limited */

static void thread_end(void *record) {
  kvo_thread *self = record;
  kvo__hooks.thread_ends(self);
  kvo__acquire(&list_lock);
  kvo_thread **link = &threads;
  while (*link != self) link = &(*link)->next;
  *link = self->next;
  kvo__release(&list_lock);
  kvo__own.lost_unobserved |= self->unobserved.count != 0 || self->unobserved.forgotten != 0;
  kvo__own.thread = NULL; /* a later destructor of this thread may make a new record */
  free(atomic_load(&self->marks));
  free(self->error_text);
  free(self->silent.many);
  free(self);
}

/* The end of a thread can go unnoticed: if it used the runtime only in the last round of its TSD destructors, or if the program has used up
 * the keys. Its record then stays in the list, with what the thread did last. */
static bool is_gone(const kvo_thread *thread) {
  int before = errno;
  bool gone = syscall(SYS_tgkill, getpid(), thread->number, 0) != 0 && errno == ESRCH;
  errno = before;
  return gone;
}

static bool others_hold_locks(void) {
  if (atomic_load(&unrecorded) != (kvo__own.unrecorded != 0)) return true;
  for (const kvo_thread *each = threads; each != NULL; each = each->next)
    if (each != kvo__own.thread && atomic_load(&each->sections) != 0 && !is_gone(each)) return true;
  return false;
}

/* Whether sections wait for the last stop to end. Of threads without a record it is not known. */
static bool others_wait(void) {
  for (const kvo_thread *each = threads; each != NULL; each = each->next)
    if (each != kvo__own.thread && atomic_load(&each->waits) && !is_gone(each)) return true;
  return false;
}

/* Returns, with the list locked, when there are none. */
static void await_none(bool (*others)(void)) {
  for (;;) {
    kvo__acquire(&list_lock);
    if (!others()) return;
    kvo__release(&list_lock); /* a thread that holds another lock may need this one to go on */
    sched_yield();
  }
}

/* One stop at a time, and before the next one those that waited for the last one enter their sections: otherwise threads that stop the
 * others again and again would keep them waiting for ever. */
void kvo__world_stop(void) {
  kvo__acquire(&stop_lock);
  await_none(others_wait);
  kvo__release(&list_lock);
  atomic_store(&kvo__threads.forking, 1);
  barrier();
  await_none(others_hold_locks);
}

void kvo__world_resume(void) {
  kvo__release(&list_lock);
  atomic_store(&kvo__threads.forking, 0);
  kvo__futex_wake_all(&kvo__threads.forking);
  kvo__release(&stop_lock);
}

/* The other threads do not exist in the child. What they held stays held: for example, their entries as readers keep nodes from being
 * freed. Their records are leaked, because the allocator might not be usable yet. */
static void after_fork_in_child(void) {
  threads = kvo__own.thread;
  if (threads != NULL) {
    threads->next = NULL;
    threads->number = (uint32_t)syscall(SYS_gettid);
  }
  atomic_fetch_and(&kvo__attention, KVO_WAITER - 1);
  atomic_store(&unmarked, kvo__own.unmarked);
  atomic_store(&unrecorded, kvo__own.unrecorded != 0);
  kvo__stack_forked();
  int cancellation = kvo__cancel_hold(); /* files are closed */
  kvo__hooks.forked();
  kvo__cancel_resume(cancellation);
  kvo__world_resume();
}

static void before_fork(void) {
  kvo__stack_before_fork();
  kvo__world_stop();
}

static void prepare_ends(void) { has_end_key = pthread_key_create(&end_key, thread_end) == 0; }

/* Called before the program can register handlers of its own. At a fork, prepare handlers run in reverse order of registration: so the
 * program's run, and take their locks, before ours, which stops all other threads that need a lock of the runtime. */
void kvo__threads_start(void) {
  /* A fork uses the barrier, also on a thread that has never used the runtime. Before this point the stores are exchanges. */
  long supported = membarrier(MEMBARRIER_CMD_QUERY);
  if (supported > 0 && (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
    atomic_fetch_and(&kvo__attention, ~(uint32_t)KVO_NO_BARRIER);
  /* If this module were unloaded, the destructors of threads that have used the runtime, and the watchdog, would run code that is gone. */
  kvo__module_pin(&kvo__threads);
  pthread_atfork(before_fork, kvo__world_resume, after_fork_in_child);
}

/* Returns zeroed memory that shares no cache line with other memory: a thread writes its record and its marks at each change. */
static void *make_apart(size_t size) {
  enum { LINES = 128 }; /* two, because processors also load the neighbor of a line */
  size_t whole = (size + LINES - 1) / LINES * LINES;
  void *made = aligned_alloc(LINES, whole);
  return made != NULL ? memset(made, 0, whole) : NULL;
}

kvo_thread *kvo__thread_make(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_ends);
  /* From the C library, not the program's allocator: a record may be made before that is set, and freed after it has gone. */
  kvo_thread *made = make_apart(sizeof *made);
  kvo_mark *marks = make_apart(FIRST_MARKS * sizeof *marks);
  if (made == NULL || marks == NULL) {
    free(made);
    free(marks);
    return NULL;
  }
  atomic_store(&made->marks, marks);
  made->capacity = FIRST_MARKS;
  made->limit = kvo__limit_of(made);
  made->number = (uint32_t)syscall(SYS_gettid);
  if (has_end_key) pthread_setspecific(end_key, made);
  kvo__acquire(&list_lock);
  made->serial = ++made_records;
  /* A record with the same thread id belongs to a thread whose end went unnoticed. Its memory is kept, because something may still point to
   * it. */
  for (kvo_thread **link = &threads; *link != NULL; link = &(*link)->next)
    if ((*link)->number == made->number) {
      *link = (*link)->next;
      break;
    }
  made->next = threads;
  threads = made;
  kvo__release(&list_lock);
  return kvo__own.thread = made;
}

bool kvo__find_thread(bool (*visit)(kvo_thread *thread, void *arg), void *arg) {
  bool found = false;
  kvo__section_enter();
  kvo__acquire(&list_lock);
  for (kvo_thread *each = threads; each != NULL && !found; each = each->next)
    found = each != kvo__own.thread && visit(each, arg);
  kvo__release(&list_lock);
  kvo__section_leave();
  return found;
}

/* ------------------------------------------------------------------------------------------------------------ Marks -- */

uint32_t kvo__limit_of(const kvo_thread *self) {
  if (self->unwinding.is_on) return 0;
  if (kvo__settings.max_depth != 0) return 0;
  uintptr_t room = atomic_load(&self->room);
  uint32_t deep = room != 0 && room < KVO_SMALL_STACK ? KVO_DEEP_ON_SMALL_STACK : KVO_DEEP;
  return self->capacity < deep ? self->capacity : deep;
}

static bool more_marks(kvo_thread *self) {
  kvo_mark *few = atomic_load(&self->marks), *many = make_apart(2 * self->capacity * sizeof *many);
  if (many == NULL) return false;
  kvo__acquire(&list_lock); /* under which other threads count marks */
  memcpy(many, few, self->capacity * sizeof *many);
  atomic_store(&self->marks, many);
  kvo__release(&list_lock);
  self->capacity *= 2;
  self->limit = kvo__limit_of(self);
  free(few);
  return true;
}

/* Whether a delivery in this stack frame reaches no limit, and encloses no code that was left. */
static bool is_within(const kvo_thread *self, uint32_t depth, const void *frame) {
  uint32_t most = kvo__settings.max_depth;
  return depth != 0 && depth < self->capacity && (most == 0 || depth < most) && !self->unwinding.is_on &&
         (uintptr_t)frame - self->floor < atomic_load(&self->room) && kvo__mark_at(depth - 1)->frame > frame;
}

uint32_t kvo__mark_slowly(kvo_observation observation, kvo_info *root, const kvo_node *node,
                          const kvo_raw_change *change, const void *frame) {
  kvo_thread *self = kvo__thread();
  if (self != NULL && node != NULL && !is_within(self, atomic_load(&self->depth), frame)) {
    kvo__hooks.abandoned(self, frame);
    if (!kvo__hooks.may_nest(self, frame)) return KVO_TOO_DEEP;
  }
  uint32_t depth = self != NULL ? atomic_load(&self->depth) : 0;
  if (self == NULL || (depth == self->capacity && !more_marks(self))) {
    kvo__own.unmarked++;
    atomic_fetch_add(&unmarked, 1);
    return KVO_UNMARKED;
  }
  kvo_mark *mark = kvo__mark_at(depth);
  kvo__mark_fill(mark, observation, root, node, frame);
  mark->told = node != NULL && depth >= self->limit ? kvo__hooks.told(change) : 0;
  kvo__publish(&self->depth, depth + 1);
  return depth;
}

void kvo__unmark_slowly(uint32_t depth) {
  if (depth == KVO_TOO_DEEP) return;
  if (depth == KVO_UNMARKED) {
    kvo__own.unmarked--;
    atomic_fetch_sub(&unmarked, 1);
    return;
  }
  kvo_thread *self = kvo__own.thread;
  if (atomic_load(&self->depth) == depth + 1)
    kvo__publish(&self->depth, depth);
  else
    kvo__hooks.unmark_below(self, depth); /* marks above were left, or run on another stack */
  kvo__hooks.unwound(self, atomic_load(&self->depth));
}

void kvo__marks_changed(void) {
  atomic_fetch_add(&threads_progress, 1);
  kvo__futex_wake_all(&threads_progress);
}

static bool count_marks_of(kvo_thread *thread, kvo_info *info, uint64_t (*enter)(kvo_info *info)) {
  kvo_mark *marks = atomic_load(&thread->marks);
  uint32_t depth = atomic_load(&thread->depth);
  bool found = false;
  for (uint32_t i = 0; i < depth; i++) {
    if (atomic_load(&marks[i].reads) != info || atomic_load(&marks[i].entered) != 0) continue;
    atomic_store(&marks[i].entered, enter(info));
    found = true;
  }
  return found;
}

bool kvo__count_marks(kvo_info *info, uint64_t (*enter)(kvo_info *info)) {
  bool found = false;
  atomic_fetch_add(&kvo__attention, KVO_WAITER);
  barrier();
  kvo__acquire(&list_lock);
  for (kvo_thread *each = threads; each != NULL; each = each->next)
    found |= each != kvo__own.thread && count_marks_of(each, info, enter);
  kvo__release(&list_lock);
  atomic_fetch_sub(&kvo__attention, KVO_WAITER);
  return found;
}

bool kvo__count_own_marks(kvo_info *info, uint64_t (*enter)(kvo_info *info)) {
  return kvo__own.thread != NULL && count_marks_of(kvo__own.thread, info, enter);
}

uint64_t kvo__mark_take(kvo_mark *mark) {
  kvo__section_enter();
  kvo__acquire(&list_lock); /* nobody is counting marks */
  uint64_t entered = atomic_load(&mark->entered);
  atomic_store(&mark->reads, NULL);
  kvo__release(&list_lock);
  kvo__section_leave();
  return entered;
}

static void wait_for_resume(void) {
  while (atomic_load(&kvo__threads.forking) != 0) {
    if (kvo__holds(&stop_lock)) KVO_MISUSE(interrupted, &stop_lock, false);
    kvo__futex_wait(&kvo__threads.forking, 1);
  }
}

void kvo__section_enter_slowly(void) {
  kvo_thread *self = kvo__own.thread;
  atomic_store(&self->waits, true);
  do {
    kvo__publish(&self->sections, 0);
    wait_for_resume();
    kvo__publish(&self->sections, 1);
  } while (atomic_load(&kvo__threads.forking) != 0);
  atomic_store(&self->waits, false);
}

void kvo__section_enter_unrecorded(void) {
  if (kvo__own.unrecorded++ != 0) return;
  atomic_fetch_add(&unrecorded, 1);
  while (atomic_load(&kvo__threads.forking) != 0) {
    atomic_fetch_sub(&unrecorded, 1);
    wait_for_resume();
    atomic_fetch_add(&unrecorded, 1);
  }
}

void kvo__section_leave_unrecorded(void) {
  if (kvo__own.unrecorded > 0 && --kvo__own.unrecorded == 0) atomic_fetch_sub(&unrecorded, 1);
}

/* ---------------------------------------------------------------------------------------------------------- Waiting -- */

/* The outermost mark of a thread that runs what is waited for, or NULL. The list is locked, or it is this thread. */
static const kvo_mark *awaited_mark(const kvo_thread *thread, kvo_awaited what) {
  kvo__assert(thread == kvo__own.thread || kvo__holds(&list_lock));
  const kvo_mark *marks = atomic_load(&thread->marks);
  uint32_t depth = atomic_load(&thread->depth);
  for (uint32_t i = 0; i < depth; i++)
    if (what.root != NULL ? atomic_load(&marks[i].root) == what.root
                          : atomic_load(&marks[i].observation) == what.observation)
      return &marks[i];
  return NULL;
}

static bool runs(const kvo_thread *thread, kvo_awaited what) { return awaited_mark(thread, what) != NULL; }

/* Whether that mark counts. The mark of code that was left with longjmp stays until the thread uses observations again. */
static bool still_runs(const kvo_thread *thread, kvo_awaited what, bool takes_time) {
  const kvo_mark *mark = awaited_mark(thread, what);
  if (mark == NULL || is_gone(thread)) return false;
  return !takes_time || !kvo__has_left(thread, __atomic_load_n(&mark->frame, __ATOMIC_RELAXED));
}

static bool others_run(kvo_awaited what, bool takes_time) {
  kvo__assert(kvo__holds(&list_lock));
  if (atomic_load(&unmarked) != kvo__own.unmarked) return true;
  for (const kvo_thread *each = threads; each != NULL; each = each->next)
    if (each != kvo__own.thread && still_runs(each, what, takes_time)) return true;
  return false;
}

static bool is_waiting(const kvo_thread *thread) {
  return thread->waiting_for.observation != 0 || thread->waiting_for.root != NULL;
}

/* Whether the threads that run what is waited for wait, directly or through others, for this thread; stores one of them that waits for
 * deliveries, if any does. The list is locked. */
static bool leads_back(kvo_awaited what, kvo_thread **for_deliveries) {
  for (kvo_thread *each = threads; each != NULL; each = each->next) {
    if (each->visited || each == kvo__own.thread || !is_waiting(each) || !runs(each, what)) continue;
    each->visited = true;
    if (!runs(kvo__own.thread, each->waiting_for) && !leads_back(each->waiting_for, for_deliveries)) continue;
    if (each->waiting_for.root == NULL) *for_deliveries = each;
    return true;
  }
  return false;
}

/* Whether this thread has to stop waiting. In a cycle of waits a thread that waits for deliveries stops, because an object that dies is
 * still in use by the evaluation that its death waits for. The list is locked. */
static bool ends_circle(kvo_awaited what) {
  kvo__assert(kvo__holds(&list_lock));
  kvo_thread *other = NULL;
  for (kvo_thread *each = threads; each != NULL; each = each->next) each->visited = false;
  if (!leads_back(what, &other)) return false;
  if (what.root == NULL || other == NULL) return true;
  other->gives_up = true;
  kvo__marks_changed();
  return false;
}

static kvo_waited wait(kvo_awaited what) {
  enum { LONG = 50 }; /* milliseconds without progress, after which other threads' stacks are examined */
  kvo_thread *self = kvo__thread();
  kvo_waited result = KVO_WAITED;
  int cancellation = kvo__cancel_hold();
  atomic_fetch_add(&kvo__attention, KVO_WAITER);
  barrier();
  bool takes_time = false;
  for (bool busy = true; busy && result == KVO_WAITED;) {
    uint32_t before = atomic_load(&threads_progress);
    kvo__acquire(&list_lock);
    busy = others_run(what, takes_time);
    if (busy && self != NULL && (self->gives_up || ends_circle(what))) result = KVO_WAITED_IN_CIRCLE;
    if (self != NULL) {
      self->waiting_for = busy && result == KVO_WAITED ? what : (kvo_awaited){0};
      self->gives_up = false;
    }
    kvo__release(&list_lock);
    if (busy && result == KVO_WAITED) kvo__futex_wait_for(&threads_progress, before, LONG);
    takes_time = atomic_load(&threads_progress) == before;
  }
  atomic_fetch_sub(&kvo__attention, KVO_WAITER);
  kvo__cancel_resume(cancellation);
  return result;
}

kvo_waited kvo__wait_for_deliveries(kvo_observation observation) {
  if (observation == 0) return KVO_WAITED; /* 0 is what a mark holds between two deliveries */
  kvo__look_for_abandoned();
  kvo_awaited what = {observation, NULL};
  kvo_waited result = wait(what);
  bool own = kvo__own.thread != NULL && runs(kvo__own.thread, what);
  return own ? KVO_WAITED_IN_OWN : result;
}

kvo_waited kvo__wait_for_evaluations(const kvo_info *root) {
  kvo_awaited what = {0, root};
  /* No barrier is needed: an evaluation sets its mark under the lock of its observation, and the thread that ended the observation has held
   * that lock since. */
  kvo__acquire(&list_lock);
  bool busy = others_run(what, false);
  kvo__release(&list_lock);
  return busy ? wait(what) : KVO_WAITED;
}

/* --------------------------------------------------------------------------------------- What a binding keeps here -- */

void *kvo_thread_exchange(kvo_thread_slot slot, void *pointer) {
  kvo_thread *self = (unsigned)slot <= KVO_THREAD_CODING ? kvo__thread() : NULL;
  if (self == NULL) return NULL;
  void *before = self->kept_by_bindings[slot];
  self->kept_by_bindings[slot] = pointer;
  return before;
}
