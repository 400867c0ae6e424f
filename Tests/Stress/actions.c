/* actions.c - the random operations of a thread in a round; some are done in callbacks. */
#include "round.h"

#include <string.h>

/* Root objects that only their thread uses, and destroys while other threads set the objects on their paths. */
enum { OWN = 3, OWN_WATCHERS = 40, NESTED = 3 };
typedef struct own_root {
  node *root;
  /* How many calls of this thread need the object alive. */
  int pins;
  int count;
  watcher *watchers[OWN_WATCHERS];
  /* The watchers whose receiver it is. */
  int received_count;
  watcher *received[OWN_WATCHERS];
} own_root;
static _Thread_local own_root own[OWN];

static node *any_node(void) { return here.nodes[any((uint32_t)here.objects)]; }

/* ----------------------------------------------------------------------------------------------------------- Watchers -- */

static int any_options(void) {
  return (any(2) ? KVO_NEW : 0) | (any(2) ? KVO_OLD : 0) | (any(4) ? 0 : KVO_PRIOR) | (any(6) ? 0 : KVO_INITIAL);
}

static void watch_own(own_root *of, observed path) {
  if (of->root == NULL || of->count == OWN_WATCHERS) return;
  int number = of->count++;
  of->pins++;
  of->watchers[number] = observe(of->root, path, any_options(), false);
  of->pins--;
}

static void watch_any(void) {
  if (any(2) == 0)
    watch_own(&own[any(OWN)], (observed)any(OBSERVED));
  else
    (void)observe(any_node(), (observed)any(OBSERVED), any_options(), false);
}

/* Most of the newest ones are alive. */
static void end_any(bool wait) {
  uint32_t count = (uint32_t)atomic_load(&here.watcher_count);
  watcher *of = &here.watchers[count > 60 && any(2) ? count - 1 - any(20) : any(count)];
  if (atomic_load(&of->id) != 0 && !of->stable) end_watch(of, wait); /* otherwise its registration is in progress */
}

/* ---------------------------------------------------------------------------------------------------------- Own roots -- */

static void make_own(void) {
  own_root *of = &own[any(OWN)];
  if (of->root != NULL) return;
  of->count = of->pins = of->received_count = 0;
  of->root = node_make();
  of->pins++;
  set_next(of->root, any_node());
  for (uint32_t i = any(3) + 1; i > 0; i--) watch_own(of, (observed)(O_FAR + any(OBSERVED - O_FAR)));
  of->pins--;
}

static void destroy_own(own_root *of) {
  if (of->root == NULL || of->pins > 0) return;
  node *root = of->root;
  of->root = NULL; /* the next operations may make a new one here */
  for (int i = 0; i < of->count; i++)
    if (of->watchers[i] != NULL) of->watchers[i]->root_died = true;
  for (int i = 0; i < of->received_count; i++)
    if (of->received[i] != NULL) of->received[i]->receiver_ended = true;
  node_destroy(root);
}

static void use_own(void) {
  own_root *of = &own[any(OWN)];
  if (of->root == NULL) return;
  of->pins++;
  if (any(2))
    set_value(of->root);
  else
    set_next(of->root, any(4) ? any_node() : NULL);
  of->pins--;
}

/* --------------------------------------------------------------------------------------------------------- Receivers -- */

static void receive(void) {
  own_root *of = &own[any(OWN)];
  if (of->root == NULL || of->received_count == OWN_WATCHERS) return;
  int number = of->received_count++;
  of->pins++;
  of->received[number] = observe_for(of->root, any_node(), (observed)any(O_FAR), any_options());
  of->pins--;
}

/* Ends what one of this thread's receivers observes: everywhere, or of one object. */
static void end_received(void) {
  own_root *of = &own[any(OWN)];
  if (of->root == NULL) return;
  node *object = any(2) ? any_node() : NULL;
  const char *path = any(2) ? observed_paths[any(O_FAR)] : NULL;
  int count = of->received_count; /* callbacks may add more */
  of->pins++;
  for (int i = 0; i < count; i++) {
    watcher *each = of->received[i];
    bool ends = each != NULL && (object == NULL || each->root == object) &&
                (path == NULL || strcmp(path, observed_paths[each->path]) == 0);
    if (ends) each->receiver_ended = true;
  }
  (void)kvo_binding_end_all(object != NULL ? &object->header : NULL, of->root, path, true, NULL, 0);
  of->pins--;
}

/* ------------------------------------------------------------------------------------------------------------ Pausing -- */

static void pause_any(void) {
  watcher *of = &here.watchers[any((uint32_t)atomic_load(&here.watcher_count))];
  if (atomic_load(&of->id) == 0 || of->stable) return; /* otherwise its registration is in progress */
  kvo_status status = any(2) ? kvo_observation_pause(of->id) : kvo_observation_resume(of->id, any(2) == 0);
  if (status != KVO_OK && status != KVO_ERROR_NOT_REGISTERED) fail("no pause: %s", kvo_status_string(status));
}

/* ------------------------------------------------------------------------------------------------------------- Scopes -- */

static void act_once(void);

/* A silent scope of objects that others observe is only in a round that knows of it. */
static void act_in_scope(void) {
  if (me.scope_depth == NESTED) return;
  thread_scope own_scope = {.outer = me.scopes, .silent = any(3) == 0};
  bool is_private = own_scope.silent ? !here.silencing : !here.coalescing;
  for (uint32_t i = any(SCOPED + 1); i > 0; i--) {
    node *of = is_private || any(3) == 0 ? own[any(OWN)].root : any_node();
    if (of != NULL) own_scope.objects[own_scope.count++] = &of->header;
  }
  kvo_scope open;
  kvo_scope_kind kind = own_scope.silent ? KVO_SCOPE_SILENCES : KVO_SCOPE_COALESCES;
  if (kvo_scope_begin(&open, kind, own_scope.objects, (size_t)own_scope.count, NULL, 0) != KVO_OK) fail("no scope");
  me.scopes = &own_scope;
  me.scope_depth++;
  for (uint32_t i = any(6); i > 0; i--) {
    if (me.mine != NULL && me.depth == 0 && any(4) == 0) set_other(me.mine);
    act_once();
  }
  me.scopes = own_scope.outer;
  kvo_scope_end(&open);
  me.scope_depth--;
}

/* ----------------------------------------------------------------------------------------------------------- Looking -- */

static void look_at(const kvo_value *seen, void *arg) {
  if (seen->bytes != NULL && seen->size != sizeof(int)) fail("a value has %zu bytes", seen->size);
}

/* The stable observations keep it observed all the time. */
static void look(void) {
  node *of = any_node();
  if (!kvo_object_is_observed(&of->header)) fail("an observed object says that it is not");
  if (kvo_class_superclass(kvo_object_isa(&of->header)) != kvo_object_class(&of->header)) fail("a wrong isa");
  if (kvo_get_value(&of->header, observed_paths[O_FAR + any(OBSERVED - O_FAR)], look_at, NULL) != KVO_OK)
    fail("no value");
}

/* ----------------------------------------------------------------------------------------------------------- Schedule -- */

static void act_once(void) {
  maybe_pause();
  switch (any(22)) {
    case 0:
    case 1:
    case 2: set_value(any_node()); return;
    case 3:
    case 4:
      if (here.replacing) set_next(any_node(), any(5) ? any_node() : NULL);
      return;
    case 5: change_quiet(any_node(), any(4) ? NULL : act_in_callback); return;
    case 6:
    case 7:
    case 8: watch_any(); return;
    case 9:
    case 10: end_any(false); return;
    case 11: end_any(true); return;
    case 12: make_own(); return;
    case 13: destroy_own(&own[any(OWN)]); return;
    case 14: use_own(); return;
    case 15: receive(); return;
    case 16: end_received(); return;
    case 17:
    case 18: pause_any(); return;
    case 19:
    case 20: act_in_scope(); return;
    default: look();
  }
}

void act_in_callback(void) {
  if (me.number == 0 || me.depth >= NESTED || me.fuel == 0 || any(6) != 0) return;
  me.fuel--;
  me.depth++;
  act_once();
  me.depth--;
}

void act(int number, uint64_t seed) {
  me = (self){.random = seed, .number = number, .fuel = 2 * here.operations, .yields = 20};
  me.mine = number <= here.objects ? here.nodes[number - 1] : NULL;
  for (int i = 0; i < here.operations; i++) {
    if (me.mine != NULL && any(6) == 0) set_other(me.mine);
    act_once();
  }
  me.fuel = 0; /* no more operations in callbacks */
  if (any(8) == 0 && kvo_will_change(&any_node()->header, "quiet") == KVO_OK) {
    me.left_open = true; /* ends with the thread, which reports it */
    atomic_fetch_add(&here.left_open, 1);
  }
  for (uint32_t i = 0; i < OWN; i++) destroy_own(&own[i]);
}
