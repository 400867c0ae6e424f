/* shared.c - see shared.h. */
#include "shared.h"

#include "made.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

static int get_value(const shared *of) { return atomic_load(&of->value); }
static shared *get_next(const shared *of) { return atomic_load(&of->next); }
static void store_next(shared *of, shared *next) { atomic_store(&of->next, next); }
static void store_value(shared *of, int value) {
  atomic_store(&of->value, value);
  atomic_fetch_add(&of->sets, 1);
}

void (*_Atomic in_slow_getter)(const shared *of);

static int get_slow(const shared *of) {
  void (*hook)(const shared *) = atomic_load(&in_slow_getter);
  if (hook != NULL) hook(of);
  return 0;
}

kvo_status shared_register(const char *name, kvo_class **out) {
  static const char *const affecting[] = {"next.next", NULL};
  kvo_property_spec properties[] = {PROPERTY("value", "i", get_value, store_value),
                                    PROPERTY("next", "@", get_next, store_next),
                                    PROPERTY_WITH("slow", "i", get_slow, NULL, .affected_by = affecting)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(shared),
                         .properties = properties,
                         .property_count = 3};
  return kvo_class_register(&spec, out);
}

shared *shared_make_of(kvo_class *cls) { return (shared *)object_of(cls); }

static kvo_class *shared_class;
static void register_shared_class(void) { CHECK_OK(shared_register("Shared", &shared_class)); }

shared *shared_make(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_shared_class);
  return shared_make_of(shared_class);
}

void shared_destroy(shared *object) { kvo_object_destroy(&object->header); }

/* --------------------------------------------------------------------------------------------------------- Observers -- */

typedef struct observer {
  _Atomic int alive;
  _Atomic int *calls, *destroyed;
} observer;

static void note(const kvo_change *change, void *user_data) {
  observer *self = user_data;
  CHECK(atomic_load(&self->alive) == 1);
  if (!change->is_prior && self->calls != NULL) atomic_fetch_add(self->calls, 1);
}

static void destroy(void *user_data) {
  observer *self = user_data;
  CHECK(atomic_exchange(&self->alive, 0) == 1);
  if (self->destroyed != NULL) atomic_fetch_add(self->destroyed, 1);
  free(self);
}

kvo_observation observe(shared *object, const char *key_path, int options, _Atomic int *calls, _Atomic int *destroyed) {
  observer *made = calloc(1, sizeof *made);
  made->alive = 1;
  made->calls = calls;
  made->destroyed = destroyed;
  kvo_observer described = observer_by(key_path, options, note, made);
  described.destroy = destroy;
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&object->header, &described, &id));
  return id;
}

kvo_observation observe_with(shared *object, const char *key_path, int options, kvo_callback callback,
                             void *user_data) {
  return observe_by(&object->header, key_path, options, callback, user_data);
}

/* ----------------------------------------------------------------------------------------------------------- Threads -- */

struct running {
  pthread_t thread;
  void (*body)(void *arg);
  void *arg;
};

static void *run(void *arg) {
  running *self = arg;
  self->body(self->arg);
  return NULL;
}

running *start_thread(void (*body)(void *arg), void *arg) {
  running *made = malloc(sizeof *made);
  made->body = body;
  made->arg = arg;
  CHECK(pthread_create(&made->thread, NULL, run, made) == 0);
  return made;
}

void join_thread(running *thread) {
  CHECK(pthread_join(thread->thread, NULL) == 0);
  free(thread);
}

static pthread_barrier_t together;
static void (*thread_body)(int number);

static void start_together(void *arg) {
  pthread_barrier_wait(&together);
  thread_body((int)(intptr_t)arg);
}

void on_threads(void (*body)(int number)) {
  running *threads[THREADS];
  thread_body = body;
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) threads[i] = start_thread(start_together, (void *)(intptr_t)i);
  for (int i = 0; i < THREADS; i++) join_thread(threads[i]);
  pthread_barrier_destroy(&together);
}

void await(const _Atomic int *flag) {
  while (atomic_load(flag) == 0) usleep(100);
}

void a_moment(void) { usleep(30000); }

int rounds(int normally) {
  const char *fewer = getenv("KVO_TEST_FEWER"); /* set by mutate.sh */
  int divisor = (fewer != NULL ? atoi(fewer) : 1) * (harness_is_instrumented() ? 4 : 1);
  return normally > divisor ? normally / divisor : 1;
}
