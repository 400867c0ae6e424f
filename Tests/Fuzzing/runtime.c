/* runtime.c - see runtime.h. */
#include "runtime.h"

#include "classes.h"

#include <kvo/kvo_bind.h>
#include <kvo/kvo_binding.h>
#include <sanitizer/asan_interface.h>
#include <stdlib.h>
#include <string.h>

static world *here;

enum { ASKED = 2 }; /* how often each end is asked for */

/* The state of an observation, in addition to its watch. */
static struct {
  kvo_observation id;
  bool registered;
  int destroyed, ended;
} states[WATCHES];

/* Observers and contexts by number; context 0 is NULL. */
static char identities[4], contexts[4];
static void *context_of(int number) { return number != 0 ? &contexts[number] : NULL; }
static int number_of_context(const void *context) {
  return context != NULL ? (int)((const char *)context - contexts) : 0;
}

static kvo_object *object_in(int slot) { return &items[slot].header; }
static int slot_of(const kvo_object *object) { return (int)((const item *)object - items); }

static kvo_key hash_of(key of) { return kvo_key_hash(key_infos[of].name, strlen(key_infos[of].name)); }

/* ---------------------------------------------------------------------------------------------------------- Observers -- */

static void check_id(int number, kvo_observation id) {
  if (states[number].id == 0) states[number].id = id; /* an initial callback: the id is not known yet */
  if (states[number].id != id) fail("observation %d is told another id", number);
  if (states[number].destroyed != 0) fail("observation %d is told after its user data was destroyed", number);
}

static void called(int number, const kvo_change *change, void *user_data) {
  const watch *as = &here->watches[number];
  check_id(number, change->observation);
  event told = {.kind = CALLED, .watch = number, .slot = slot_of(change->object), .prior = change->is_prior};
  told.change = (int)change->kind;
  told.before = value_seen(change->old_value);
  told.after = value_seen(change->new_value);
  told.context = number_of_context(change->context);
  told.identity = (int)((char *)user_data - identities);
  told.path = strcmp(change->key_path, key_paths[as->path]) == 0 ? as->path : -1;
  told.index_count = (int)change->index_count;
  for (size_t i = 0; i < change->index_count; i++) told.indexes |= 1 << change->indexes[i];
  world_called(here, &told);
}

static void ignore_value(const kvo_value *seen, void *arg) {}

/* It may call the runtime: no lock is held. */
static void destroyed(int number, void *user_data) {
  bool is_own = here->watches[number].closure != PATH || user_data == &identities[here->watches[number].identity];
  if (!is_own) fail("another's user data is destroyed");
  if (states[number].destroyed++ != 0) fail("the user data of observation %d is destroyed twice", number);
  if (here->running[number] != 0) fail("the user data of observation %d is destroyed during its callback", number);
  if (kvo_cancel_observer(states[number].id) != KVO_ERROR_NOT_REGISTERED)
    fail("the user data of observation %d is destroyed while it is registered", number);
  if (here->alive[0]) (void)kvo_get_value(object_in(0), "next.value", ignore_value, NULL);
}

/* One function per observation shows which one is called or destroyed, even if several share their user data. */
/* clang-format off */
#define FOR_EACH_WATCH(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) \
  X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
  X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
  X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
/* clang-format on */
#define DEFINE(n)                                                                                                      \
  static void called_##n(const kvo_change *change, void *user_data) { called(n, change, user_data); }                  \
  static void destroyed_##n(void *user_data) { destroyed(n, user_data); }
FOR_EACH_WATCH(DEFINE)
#define NAME_CALLED(n) called_##n,
#define NAME_DESTROYED(n) destroyed_##n,
static const kvo_callback callbacks[WATCHES] = {FOR_EACH_WATCH(NAME_CALLED)};
static void (*const destroys[WATCHES])(void *) = {FOR_EACH_WATCH(NAME_DESTROYED)};

/* The user data of a closure is its number. */
static char numbers[WATCHES];

static void closure_called(const kvo_raw_change *change, void *user_data) {
  int number = (int)((char *)user_data - numbers);
  const watch *as = &here->watches[number];
  check_id(number, change->observation);
  event told = {.kind = CALLED, .watch = number, .slot = slot_of(change->object), .prior = change->is_prior};
  told.change = (int)change->kind;
  if (change->old_value != NULL) told.before = (value){INTEGER, *(const int *)change->old_value};
  if (change->new_value != NULL) told.after = (value){INTEGER, *(const int *)change->new_value};
  told.context = as->context;
  told.identity = as->identity;
  told.path = as->path;
  told.index_count = (int)change->index_count;
  world_called(here, &told);
}

static void *closure_evaluate(void *user_data) {
  int number = (int)((char *)user_data - numbers), *made = malloc(sizeof *made);
  if (!here->alive[here->watches[number].slot]) fail("closure %d is evaluated after its object has died", number);
  if (made != NULL) *made = world_evaluate(here, here->watches[number].closure, here->watches[number].slot);
  return made;
}

static void closure_release(void *value, void *user_data) { free(value); }

static bool closure_same(const void *one, const void *other, void *user_data) {
  return *(const int *)one == *(const int *)other;
}

static void closure_destroyed(void *user_data) { destroyed((int)((char *)user_data - numbers), user_data); }

static const kvo_observer_ops closure_ops = {.callback = closure_called,
                                             .destroy = closure_destroyed,
                                             .evaluate = closure_evaluate,
                                             .release = closure_release,
                                             .same = closure_same};

static kvo_status add_closure(const watch *as, int number, kvo_observation *id) {
  kvo_binding_observer described = {.key_path = "closure",
                                    .options = (kvo_options)as->options,
                                    .ops = &closure_ops,
                                    .user_data = &numbers[number],
                                    .context = context_of(as->context),
                                    .identity = {NULL, &identities[as->identity]},
                                    .file = __FILE__,
                                    .line = __LINE__};
  return kvo_binding_observe_tracked(object_in(as->slot), &described, true, id);
}

/* -1 for one that is being registered. */
static int watch_with(kvo_observation id) {
  for (int i = 0; i < here->watch_count; i++)
    if (states[i].id == id) return i;
  for (int i = 0; i < here->watch_count; i++)
    if (!here->watches[i].known) return -1;
  fail("the runtime names an observation that nobody made");
}

static void ended(kvo_end end, void *arg) {
  int number = (int)(intptr_t)arg;
  if (states[number].destroyed != 1) fail("the end of observation %d is told before its destruction", number);
  if (++states[number].ended > ASKED) fail("the end of observation %d is told too often", number);
}

static void ask_for_end(int number) {
  for (int i = 0; i < ASKED && states[number].registered; i++)
    if (kvo_observation_on_end(states[number].id, ended, (void *)(intptr_t)number) != KVO_OK)
      states[number].ended++; /* it is over */
}

static kvo_status add(world *in, int number) {
  const watch *as = &in->watches[number];
  kvo_observer described = {.struct_size = sizeof described,
                            .key_path = key_paths[as->path],
                            .options = (kvo_options)as->options,
                            .callback = callbacks[number],
                            .user_data = &identities[as->identity],
                            .destroy = destroys[number],
                            .context = context_of(as->context),
                            KVO_HERE};
  kvo_observation id = 0;
  kvo_status status =
      as->closure != PATH ? add_closure(as, number, &id) : kvo_add_observer(object_in(as->slot), &described, &id);
  states[number].registered = status == KVO_OK;
  if ((status == KVO_OK) != (id != 0)) fail("observation %d: id and status do not agree", number);
  if (states[number].id != 0 && states[number].id != id) fail("observation %d was told another id", number);
  states[number].id = id;
  ask_for_end(number);
  return status;
}

static void compute(void *user_data, kvo_value_reader reader, void *arg) {
  int number = (int)((char *)user_data - numbers);
  int computed = world_compute(here, number);
  reader(&(kvo_value){"i", sizeof computed, &computed}, arg);
}

static kvo_status bind(world *in, int number) {
  const watch *as = &in->watches[number];
  const char *target_key = key_infos[as->target_key].name;
  kvo_observation id = 0;
  kvo_status status;
  if (as->back != 0)
    status = kvo_bind_two_way(object_in(as->slot), key_paths[as->path], object_in(as->target), target_key, &id);
  else if (as->closure != PATH)
    status = kvo_bind_computed(object_in(as->target), target_key, compute, &numbers[number], closure_destroyed, &id);
  else
    status = kvo_bind(object_in(as->target), target_key, object_in(as->slot), key_paths[as->path], &id);
  if ((status == KVO_OK) != (id != 0)) fail("binding %d: id and status do not agree", number);
  states[number].id = id;
  states[number].registered = status == KVO_OK && as->closure != PATH; /* the others have no user data */
  ask_for_end(number);
  return status;
}

static kvo_status remove_one(world *in, int number, ending how) {
  kvo_observation id = states[number].id;
  switch (how) {
    case END_CANCEL: return kvo_cancel_observer(id);
    case END_AND_WAIT: return kvo_cancel_observer_and_wait(id);
    case END_FORGED: /* an id of another generation; none, if the registration has failed */
      return kvo_remove_observer(id != 0 ? id ^ UINT64_C(1) << 40 : 0);
    default: return kvo_remove_observer(id);
  }
}

static kvo_status remove_for(world *in, int slot, int identity, int path, bool with_context, int context) {
  void *user_data = &identities[identity];
  if (!with_context) return kvo_remove_observer_for(object_in(slot), user_data, key_paths[path]);
  return kvo_remove_observer_for_context(object_in(slot), user_data, key_paths[path], context_of(context));
}

static kvo_status pause_one(world *in, int number) {
  kvo_status status = kvo_observation_pause(states[number].id);
  if (status == KVO_OK && !kvo_observation_is_paused(states[number].id)) fail("observation %d is not paused", number);
  return status;
}

static kvo_status resume_one(world *in, int number, bool tell) {
  return kvo_observation_resume(states[number].id, tell);
}

static void begin_scope(world *in, kvo_scope_kind kind, int slots, kvo_scope *scope) {
  kvo_object *objects[SLOTS];
  size_t count = 0;
  for (int slot = 0; slot < SLOTS; slot++)
    if ((slots >> slot & 1) != 0) objects[count++] = object_in(slot);
  kvo_status status = kvo_scope_begin(scope, kind, objects, count, NULL, 0);
  if (status != KVO_OK) fail("a scope cannot begin: %s", kvo_status_string(status));
}

static void end_scope(world *in, kvo_scope *scope) { kvo_scope_end(scope); }

static void absorb(world *in, int slot, key of, kvo_mute *mute) { kvo_mute_begin(mute, object_in(slot), hash_of(of)); }

static void emit(world *in, kvo_mute *mute) { kvo_mute_end(mute); }

/* ------------------------------------------------------------------------------------------------------------- Faults -- */

/* The model does not know the log of ended observations, nor which ids existed. */
static kvo_fault_code known_code(const kvo_fault *fault) {
  bool is_ended = fault->code == KVO_FAULT_REMOVED_TWICE || fault->code == KVO_FAULT_STALE_HANDLE ||
                  strstr(fault->summary, "is not an observation's id") != NULL;
  return is_ended ? KVO_FAULT_NOT_REGISTERED : fault->code;
}

/* Whether the model knows the fault: those that are fatal; of the errors, wrong keys and waits. */
static bool is_known(const kvo_fault *fault) {
  bool is_of_key = fault->code == KVO_FAULT_UNDEFINED_KEY || fault->code == KVO_FAULT_MALFORMED_KEY_PATH ||
                   fault->code == KVO_FAULT_THROUGH_COLLECTION || fault->code == KVO_FAULT_TYPE_MISMATCH ||
                   fault->code == KVO_FAULT_BAD_OPERATOR;
  return fault->severity == KVO_SEVERITY_FATAL || fault->code == KVO_FAULT_ENDLESS_WAIT ||
         (fault->severity == KVO_SEVERITY_ERROR && is_of_key);
}

/* Its reads are no dependencies, although an evaluation may have raised the fault. */
static kvo_action faulted(const kvo_fault *fault, void *arg) {
  if (here->alive[0]) (void)kvo_get_value(object_in(0), "quiet", ignore_value, NULL);
  if (!is_known(fault)) return KVO_ACTION_IGNORE;
  event *told = world_log(here, FAULTED);
  told->status = (int)known_code(fault);
  if (fault->code != KVO_FAULT_DEALLOCATED_WHILE_OBSERVED) return KVO_ACTION_IGNORE;
  for (size_t i = 0; i < fault->observation_count; i++)
    told->index_count += (int)fault->observations[i].duplicate_count + 1;
  for (size_t i = 0; i < fault->observation_count && told->index_count <= MOST_SINGLE; i++)
    told->indexes |= (int)(1u << watch_with(fault->observations[i].observation));
  return KVO_ACTION_IGNORE;
}

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

static void create(world *in, int slot) {
  ASAN_UNPOISON_MEMORY_REGION(&items[slot], sizeof items[slot]);
  item_clear(&items[slot]);
  kvo_status status = kvo_object_init(object_in(slot), class_of_shape(in->shapes[slot]));
  if (status != KVO_OK) fail("object %d cannot be made: %s", slot, kvo_status_string(status));
}

static void finish(world *in, int slot) {
  kvo_object_finish(object_in(slot));
  if (kvo_object_class(object_in(slot)) != NULL) fail("object %d has a class after its end", slot);
}

static void seal(world *in, int slot) {
  item_clear(&items[slot]);
  ASAN_POISON_MEMORY_REGION(&items[slot], sizeof items[slot]);
}

static int load(world *in, int slot, key of) { return item_load(&items[slot], of); }

static int get(world *in, int slot, key of) {
  kvo_track_read(object_in(slot), hash_of(of));
  return item_load(&items[slot], of);
}

static void store(world *in, int slot, key of, int number) { item_store(&items[slot], of, number); }

void program_sets(item *object, key of, int number) { world_program_sets(here, (int)(object - items), of, number); }

/* Sets "value" where the runtime stores it. */
static void set_at_offset(item *object, int number, bool kept) {
  if (kept)
    ((void (*)(kvo_object *, long long))kvo_object_setter(&object->header, "value"))(&object->header, number);
  else if (KVO_SET(&object->header, "value", long long, number) != KVO_OK)
    fail("it is not set: %s", kvo_last_error());
}

/* A trampoline that was kept notifies exactly while the object is observed. */
static void set(world *in, int slot, key of, int number, bool kept) {
  static kvo_function trampolines[SHAPES][KEYS];
  if (shape_is_at_offset(in->shapes[slot], of)) {
    set_at_offset(&items[slot], number, kept);
    return;
  }
  kvo_function *known = &trampolines[in->shapes[slot]][of];
  kvo_function setter = kvo_object_setter_to_call(object_in(slot), key_infos[of].name, KVO_FORM_ANY, 0, NULL, 0);
  const kvo_property *property = kvo_class_property(class_of_shape(in->shapes[slot]), key_infos[of].name);
  if (property != NULL && kvo_object_property_setter(object_in(slot), property) != NULL) {
    if (kvo_object_property_setter(object_in(slot), property) != setter) fail("two setters of %s", key_infos[of].name);
    if (kvo_object_is_observed(object_in(slot))) *known = setter;
    if (kept && *known != NULL) setter = *known;
  }
  call_setter(setter, &items[slot], of, number);
}

static kvo_status set_path(world *in, int slot, int path, value to) {
  const char *dot = strrchr(key_paths[path], '.'), *last = dot != NULL ? dot + 1 : key_paths[path];
  kvo_value made = value_made(to, key_named(last, (int)strlen(last)));
  return kvo_set_value(object_in(slot), key_paths[path], &made);
}

static void log_value(const kvo_value *seen, void *arg) { world_log(arg, READ)->after = value_seen(seen); }

static kvo_status get_path(world *in, int slot, int path) {
  return kvo_get_value(object_in(slot), key_paths[path], log_value, in);
}

static kvo_status will(world *in, int slot, key of, kvo_change_kind kind, int indexes) {
  size_t positions[8], count = 0;
  for (size_t i = 0; i < 8; i++)
    if ((indexes >> i & 1) != 0) positions[count++] = i;
  if (kind == KVO_CHANGE_SETTING) return kvo_will_change(object_in(slot), key_infos[of].name);
  kvo_status status = kvo_will_change_indexes(object_in(slot), kind, key_infos[of].name, positions, count);
  memset(positions, 0, sizeof positions); /* the runtime has copied them */
  return status;
}

static kvo_status did(world *in, int slot, key of) { return kvo_did_change(object_in(slot), key_infos[of].name); }

static void list(const kvo_fault_observation *each, void *arg) {
  int watch = watch_with(each->observation);
  if (watch < 0) return;
  event *listed = world_log(here, LISTED);
  listed->slot = *(int *)arg;
  listed->watch = watch;
}

static void survey(world *in, int slot) {
  event *counted = world_log(in, COUNTED);
  counted->slot = slot;
  int count = (int)kvo_object_observation_count(object_in(slot));
  counted->index_count = in->scopes == 0 ? count : 0;
  kvo_class *own = class_of_shape(in->shapes[slot]), *isa = kvo_object_isa(object_in(slot));
  bool observed = kvo_object_is_observed(object_in(slot));
  if (observed != (count != 0)) fail("object %d: is_observed does not agree with the count", slot);
  if (kvo_object_class(object_in(slot)) != own) fail("object %d has changed its class", slot);
  /* An object of which only manual keys are observed keeps its class. */
  bool notifies = observed && isa != NULL && kvo_class_superclass(isa) == own;
  if (isa != own && !notifies) fail("object %d has a wrong isa", slot);
  kvo_object_visit_observations(object_in(slot), list, &slot);
}

/* ------------------------------------------------------------------------------------------------------------- Running -- */

void runtime_start(void) {
  if (getenv("KVO_FUZZ_DEPTH") != NULL) setenv("KVO_MAX_DEPTH", getenv("KVO_FUZZ_DEPTH"), 1);
  kvo_set_fault_handler(faulted, NULL);
  setenv("KVO_POLICY", "ignore", 1); /* for faults in the handler */
}

void runtime_begin(world *of) {
  here = of;
  memset(states, 0, sizeof states);
}

bool runtime_was_registered(int number) { return states[number].registered; }
bool runtime_is_registered(int number) { return kvo_observation_is_registered(states[number].id); }
int runtime_destroyed(int number) {
  int asked = states[number].registered && states[number].destroyed != 0 ? ASKED : 0;
  if (asked != 0 && states[number].ended != asked) fail("the end of observation %d is not told", number);
  return states[number].destroyed;
}

const calls runtime_calls = {
    .create = create,
    .finish = finish,
    .seal = seal,
    .load = load,
    .get = get,
    .store = store,
    .set = set,
    .set_path = set_path,
    .get_path = get_path,
    .will = will,
    .did = did,
    .add = add,
    .bind = bind,
    .remove = remove_one,
    .remove_for = remove_for,
    .pause = pause_one,
    .resume = resume_one,
    .begin_scope = begin_scope,
    .end_scope = end_scope,
    .absorb = absorb,
    .emit = emit,
    .survey = survey,
};
