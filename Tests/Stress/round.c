/* round.c - the class of the objects, random numbers, and the beginning and end of a round. */
#include "round.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

shared here;
_Thread_local self me;

const char *const observed_paths[OBSERVED] = {
    "value", "other", "quiet", "next", "far", "next.value", "next.next.value", "next.far", "next.next.next.other"};

/* --------------------------------------------------------------------------------------------------- Random numbers -- */

uint32_t any(uint32_t below) { /* splitmix64 */
  uint64_t mixed = me.random += UINT64_C(0x9e3779b97f4a7c15);
  mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)((mixed ^ mixed >> 31) >> 32) % below;
}

void maybe_pause(void) {
  if (me.number == 0 || (int)any(1000) >= here.pauses) return;
  if (any(4) == 0 && me.yields > 0) { /* each may take milliseconds on a busy machine */
    me.yields--;
    if (any(8) == 0)
      usleep(any(200));
    else
      sched_yield();
    return;
  }
  for (volatile uint32_t spins = any(2000); spins > 0; spins--) continue;
}

int fresh_value(void) {
  int made = atomic_fetch_add(&here.values, 1);
  if (made >= VALUES) fail("a round needs more than %d values", VALUES);
  return made;
}

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

/* Where an object is in a scope, or -1. */
static int place_in(const thread_scope *in, const node *of) {
  int i = in->count;
  while (--i >= 0 && in->objects[i] != &of->header) continue;
  return i;
}

/* Counts a change that observers will be notified of: silence wins, then the outermost scope of the object counts. */
static void note_change(node *of, key key) {
  thread_scope *telling = NULL;
  for (thread_scope *each = me.scopes; each != NULL; each = each->outer) {
    if (place_in(each, of) < 0) continue;
    if (each->silent) return;
    telling = each;
  }
  bool *changed = telling != NULL ? &telling->changed[place_in(telling, of)][key] : NULL;
  if (changed == NULL || !*changed) atomic_fetch_add(&of->changes[key], 1);
  if (changed != NULL) *changed = true;
}

#define GETTER(name)                                                                                                   \
  static int get_##name(const node *of) {                                                                              \
    maybe_pause();                                                                                                     \
    return atomic_load(&of->name);                                                                                     \
  }
#define SETTER(name, T, key)                                                                                           \
  static void store_##name(node *of, T to) {                                                                           \
    maybe_pause();                                                                                                     \
    atomic_store(&of->name, to);                                                                                       \
    note_change(of, key);                                                                                              \
    maybe_pause();                                                                                                     \
  }
GETTER(value)
GETTER(other)
GETTER(quiet)
SETTER(value, int, VALUE)
SETTER(other, int, OTHER)
SETTER(next, node *, NEXT)

static node *get_next(const node *of) {
  maybe_pause();
  return atomic_load(&of->next);
}

static int get_far(const node *of) {
  const node *next = get_next(of);
  return next != NULL ? get_value(next) + 1000 : -1;
}

void change_quiet(node *of, void (*within)(void)) {
  if (kvo_will_change(&of->header, "quiet") != KVO_OK) fail("a change cannot begin");
  atomic_store(&of->quiet, fresh_value());
  if (within != NULL) within();
  note_change(of, QUIET);
  if (kvo_did_change(&of->header, "quiet") != KVO_OK) fail("a change cannot end");
}

static kvo_class *node_class;

static void register_class(void) {
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)store_value},
      {.name = "other", .type = "i", .getter = (kvo_function)get_other, .setter = (kvo_function)store_other},
      {.name = "quiet", .type = "i", .getter = (kvo_function)get_quiet},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)store_next},
      {.name = "far", .type = "i", .getter = (kvo_function)get_far, .affected_by = shape_affected_by(0, FAR)}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Node",
                         .instance_size = sizeof(node),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  if (kvo_class_register(&spec, &node_class) != KVO_OK) fail("no class");
}

node *node_make(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_class);
  kvo_object *made;
  if (kvo_object_create(node_class, &made) != KVO_OK) fail("no object");
  node *of = (node *)made;
  of->value = fresh_value();
  return of;
}

void node_destroy(node *of) { kvo_object_destroy(&of->header); }

/* ------------------------------------------------------------------------------------------------------------ Rounds -- */

void round_begin(uint64_t seed) {
  me = (self){.random = seed};
  here.threads = 2 + (int)any(THREADS - 1);
  here.objects = 2 + (int)any(OBJECTS - 1);
  here.operations = any(4) == 0 ? 200 : 3 + (int)any(30); /* a long round may repair later what it has lost */
  here.pauses = any(3) == 0 ? 0 : (int)any(300);
  here.replacing = any(4) != 0;
  here.coalescing = any(2) == 0;
  here.silencing = here.coalescing && any(3) == 0;
  here.watcher_count = 0;
  here.values = 1;
  here.left_open = 0;
  here.watchers = calloc(WATCHERS, sizeof *here.watchers);
  for (int i = 0; i < here.objects; i++) here.nodes[i] = node_make();
  for (int i = 0; i < here.objects; i++) {
    node *of = here.nodes[i];
    of->next = here.nodes[any((uint32_t)here.objects)];
    (void)observe(of, O_VALUE, KVO_NEW | (any(2) ? KVO_OLD | KVO_PRIOR : 0), true);
    (void)observe(of, O_OTHER, KVO_NEW | KVO_OLD, true);
    (void)observe(of, O_QUIET, any(2) ? KVO_NEW : KVO_NONE, true);
    (void)observe(of, O_NEXT, KVO_NONE, true);
  }
  for (int i = 0; i < here.objects; i++)
    for (observed of = O_FAR; of < OBSERVED; of++)
      if (any(2) == 0) {
        int options = KVO_NEW | KVO_INITIAL | (any(2) ? KVO_OLD : 0) | (any(4) ? 0 : KVO_PRIOR);
        observe(here.nodes[i], of, options, true)->calls[false] = 0; /* it has got its value if nothing changes */
      }
}

void round_end(void) {
  for (int i = 0; i < here.watcher_count; i++)
    if (any(2) == 0) end_watch(&here.watchers[i], any(2) == 0);
  for (int i = 0; i < here.objects; i++) node_destroy(here.nodes[i]);
  for (int i = 0; i < here.watcher_count; i++) {
    watcher *of = &here.watchers[i];
    if (of->destroyed != 1)
      fail("the user data of \"%s\" was destroyed %d times", observed_paths[of->path], of->destroyed);
    if (of->ends_notified != of->asked) fail("an end was delivered %d times, not %d", of->ends_notified, of->asked);
    if (of->watches_ended != of->watches) fail("a watch of a death has ended %d times", of->watches_ended);
    free(of->delivered);
  }
  free(here.watchers);
}
