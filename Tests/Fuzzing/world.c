/* world.c - executes a program of operations, in either world. */
#include "world.h"

#include "model_paths.h"

#include <string.h>

void world_begin(world *out, const calls *through, const program *of) {
  memset(out, 0, offsetof(world, log));
  out->log.count = 0;
  out->calls = through;
  out->program = of;
  out->current = -1;
  for (int slot = 0; slot < SLOTS; slot++) {
    out->shapes[slot] = of->shapes[slot];
    out->alive[slot] = true;
    through->create(out, slot);
  }
}

/* ------------------------------------------------------------------------------------------------------------ Events -- */

event *world_log(world *in, event_kind kind) {
  enum { CAPACITY = sizeof in->log.events / sizeof *in->log.events };
  /* Beyond the end of the log the count still shows a difference. */
  event *entry = &in->log.events[in->log.count++ % CAPACITY];
  memset(entry, 0, sizeof *entry);
  entry->kind = kind;
  return entry;
}

static void returned(world *in, kvo_status status) { world_log(in, RETURNED)->status = status; }

void world_called(world *in, const event *told) {
  *world_log(in, CALLED) = *told;
  watch *self = &in->watches[told->watch];
  self->known = true;
  in->running[told->watch]++;
  for (int i = 0; i < self->action_count; i++) {
    int when = in->program->operations[self->first_action + i].when;
    bool skipped = (told->prior ? when & ACT_NOT_PRIOR : when & ACT_NOT_AFTER) || (self->spent >> i & 1);
    if (skipped || in->fuel == 0) continue;
    if (when & ACT_ONCE) self->spent |= 1u << i;
    in->fuel--;
    int outer = in->current;
    in->current = told->watch;
    world_perform(in, self->first_action + i);
    in->current = outer;
  }
  in->running[told->watch]--;
}

void world_survey(world *in) {
  for (int i = 0; i < in->watch_count; i++) {
    if (!in->watches[i].binds || in->watches[i].evaluations == 0) continue;
    event *evaluated = world_log(in, EVALUATED);
    evaluated->watch = i;
    evaluated->index_count = in->watches[i].evaluations;
  }
  for (int slot = 0; slot < SLOTS; slot++) {
    if (!in->alive[slot]) continue;
    in->calls->survey(in, slot);
    for (key each = 0; each < KEYS; each++) {
      if (!key_infos[each].settable) continue;
      event *stored = world_log(in, STORED);
      stored->slot = slot;
      stored->path = each;
      stored->after = value_of(each, in->calls->load(in, slot, each));
    }
  }
}

/* ----------------------------------------------------------------------------------------------------------- Setters -- */

/* Clears references to dead objects: C has no weak references, so a correct program has to. */
static int living(const world *in, key of, int number) {
  return key_infos[of].kind == OBJECT && number >= 0 && !in->alive[number] ? -1 : number;
}

/* An object must not die between the beginning of a set and its store, because the setter is about to write to it. */
static void set(world *in, int slot, key of, int number, bool kept) {
  setting here = {in->settings, slot, false};
  in->settings = &here;
  in->pinned[slot]++;
  in->calls->set(in, slot, of, number, kept);
  if (!here.stored) in->pinned[slot]--;
  in->settings = here.outer;
}

/* Bindings in a cycle add without end. */
static int sum(int one, int other) { return (int)((unsigned)one + (unsigned)other); }

void world_set(world *in, int slot, key of, int number) { set(in, slot, of, number, false); }

void world_program_sets(world *in, int slot, key of, int number) {
  if (shape_is_at_offset(in->shapes[slot], of)) { /* by the runtime, of which the program learns nothing */
    in->calls->store(in, slot, of, number);
    return;
  }
  setting *here = in->settings;
  while (here != NULL && (here->slot != slot || here->stored)) here = here->outer;
  int before = in->calls->load(in, slot, of);
  in->calls->store(in, slot, of, living(in, of, number));
  if (of == PAIR) set(in, slot, OTHER, sum(number, 1), false);
  if (of == OWNED && before >= 0) world_kill(in, before, true);
  if (here != NULL && !here->stored) { /* a binding may have set another key in between */
    here->stored = true;
    in->pinned[slot]--;
  }
}

static value argument_for(const operation *op, const char *path) {
  const char *dot = strrchr(path, '.'), *last = dot != NULL ? dot + 1 : path;
  key of = key_named(last, (int)strlen(last));
  if ((op->flags & 12) == 12) return (op->flags & 1) != 0 ? (value){INTEGER, op->argument} : (value){NIL, 0};
  return value_of(of, stored_for(of, op->argument));
}

static kvo_status set_path(world *in, const operation *op, int path) {
  key last;
  int target = op->slot; /* where it will store */
  bool is_good = model_walk(in, NULL, &target, key_paths[path], &last) == KVO_OK && target >= 0;
  value to = argument_for(op, key_paths[path]);
  if (to.kind == OBJECT && !in->alive[to.number]) to = (value){NIL, 0};
  if (!is_good) return in->calls->set_path(in, op->slot, path, to);
  setting here = {in->settings, target, false};
  in->settings = &here;
  in->pinned[target]++;
  kvo_status status = in->calls->set_path(in, op->slot, path, to);
  if (!here.stored) in->pinned[target]--;
  in->settings = here.outer;
  return status;
}

value world_read(world *in, int slot, key of) {
  const calls *storage = in->calls;
  int next = storage->load(in, slot, NEXT), owned = storage->load(in, slot, OWNED);
  switch (of) {
    case SUM: return (value){INTEGER, sum(storage->load(in, slot, VALUE), storage->load(in, slot, OTHER))};
    case FAR: return (value){INTEGER, next >= 0 ? sum(storage->load(in, next, VALUE), 1000) : -1};
    case FARTHER: {
      int near = owned >= 0 ? storage->load(in, owned, VALUE) : 0;
      return (value){INTEGER, sum(near, next >= 0 ? world_read(in, next, SUM).number : -1000)};
    }
    default: return value_of(of, storage->load(in, slot, of));
  }
}

int world_evaluate(world *in, closure which, int slot) {
  const calls *through = in->calls;
  int first = through->get(in, slot, VALUE);
  switch (which) {
    case SUM_OF_TWO: return sum(first, through->get(in, slot, OTHER));
    case CONDITIONAL: {
      if (first % 2 == 0) return through->get(in, slot, OTHER);
      int next = through->get(in, slot, NEXT);
      return next >= 0 && in->alive[next] ? through->get(in, next, VALUE) : -1;
    }
    default: {
      int wanted = first % 64 * 3;
      if (through->load(in, slot, OTHER) != wanted) set(in, slot, OTHER, wanted, false);
      return in->alive[slot] ? through->get(in, slot, OTHER) : -1;
    }
  }
}

int world_compute(world *in, int number) {
  watch *as = &in->watches[number];
  if (in->silent_scopes == 0) as->evaluations++;
  return world_evaluate(in, as->closure, as->slot);
}

/* ------------------------------------------------------------------------------------------------------ Life and death -- */

/* A binding may be about to set it, or to read it. */
static bool is_bound(const world *in, int slot) {
  for (int i = 0; i < in->watch_count; i++)
    if (in->watches[i].binds && (in->watches[i].slot == slot || in->watches[i].target == slot)) return true;
  return false;
}

/* Known to differ: the death of a target that the binding also reads. */
static void end_bindings(world *in, int slot) {
  for (int i = 0; i < in->watch_count && !in->program->is_whole; i++) {
    const watch *each = &in->watches[i];
    if (each->known && each->binds && each->target == slot && each->slot != slot)
      (void)in->calls->remove(in, i, END_CANCEL);
  }
}

void world_kill(world *in, int slot, bool tidy) {
  if (!in->alive[slot] || in->pinned[slot] != 0 || (in->current >= 0 && is_bound(in, slot))) return;
  end_bindings(in, slot);
  in->alive[slot] = false;
  in->dying[slot] = true;
  in->calls->finish(in, slot);
  in->dying[slot] = false;
  if (!tidy) return;
  for (int other = 0; other < SLOTS; other++) {
    if (in->sealed[other]) continue;
    if (in->calls->load(in, other, NEXT) == slot) in->calls->store(in, other, NEXT, -1);
    if (in->calls->load(in, other, OWNED) == slot) in->calls->store(in, other, OWNED, -1);
  }
  in->sealed[slot] = true;
  in->calls->seal(in, slot);
}

static void create(world *in, int slot, int shape) {
  if (in->alive[slot] || in->dying[slot]) return;
  in->shapes[slot] = shape;
  in->alive[slot] = true;
  in->sealed[slot] = false;
  in->calls->create(in, slot);
}

/* ------------------------------------------------------------------------------------------------------- Observations -- */

static int actions_of(const program *of, int position) {
  int wanted = of->operations[position].flags >> 6, left = of->count - position - 1;
  return wanted < left ? wanted : left;
}

static void add(world *in, const operation *op, int position) {
  if (in->watch_count == WATCHES) return;
  int number = in->watch_count++;
  in->watches[number] = (watch){.slot = op->slot,
                                .path = op->subject % PATHS,
                                .closure = op->code == ADD ? PATH : 1 + op->subject % (CLOSURES - 1),
                                .options = (op->argument & 15) | ((op->argument & 16) != 0 ? KVO_ENDS_WITH_OBJECT : 0),
                                .identity = op->flags & 3,
                                .context = op->flags >> 2 & 3,
                                .first_action = position + 1,
                                .action_count = actions_of(in->program, position)};
  kvo_status status = in->calls->add(in, number);
  in->watches[number].known = true;
  returned(in, status);
}

static int bind_one(world *in, int source, int path, int target, key to) {
  int number = in->watch_count++;
  in->watches[number] = (watch){
      .slot = source, .path = path, .binds = true, .options = KVO_ENDS_WITH_OBJECT, .target = target, .target_key = to};
  return number;
}

/* The value of a path, of a closure of the target itself that sets nothing, or in both directions that of a property. */
static void bind(world *in, const operation *op) {
  static const key targets[] = {OTHER, VALUE, PAIR, LEFT, RIGHT};
  int slot = op->argument >> 3 & 3, number;
  key target = targets[(op->argument & 7) % 5], source = targets[op->flags >> 3 & 1];
  closure closure = op->flags % SETTING;
  bool is_two_way = (op->flags & 4) != 0;
  if (in->watch_count + is_two_way >= WATCHES || !in->alive[slot]) return;
  if (is_two_way) {
    target = targets[op->argument & 1];
    /* If another key affects one of them it is not decided which side answers. */
    bool is_affected = shape_affected_by(in->shapes[slot], target) || shape_affected_by(in->shapes[op->slot], source);
    bool is_to_itself = slot == op->slot && target == source; /* the order of the registrations is not decided */
    if (is_affected || is_to_itself) return;
    int first = bind_one(in, op->slot, path_named(key_infos[source].name), slot, target);
    number = bind_one(in, slot, path_named(key_infos[target].name), op->slot, source);
    in->watches[number].back = first + 1;
  } else if (closure == PATH) {
    number = bind_one(in, op->slot, op->subject % PATHS, slot, target);
  } else {
    if (!in->program->is_whole) target = (op->argument & 1) != 0 ? LEFT : RIGHT; /* what it reads is known to differ */
    number = bind_one(in, slot, 0, slot, target);
    in->watches[number].closure = closure;
  }
  kvo_status status = in->calls->bind(in, number);
  in->watches[number].known = true;
  returned(in, status);
}

/* The observation that an operation names, or -1. */
static int named(const world *in, const operation *op) {
  if (in->watch_count == 0) return -1;
  bool self = (op->when & ACT_ON_SELF) != 0 && in->current >= 0;
  int number = self ? in->current : op->subject % in->watch_count;
  return in->watches[number].known ? number : -1;
}

static void remove_watch(world *in, const operation *op) {
  int number = named(in, op);
  if (number < 0) return;
  ending how = op->code == REMOVE ? END_REMOVE : op->code == FORGED ? END_FORGED : END_CANCEL;
  if (op->code == CANCEL && (op->flags & 1) != 0) how = END_AND_WAIT;
  returned(in, in->calls->remove(in, number, how));
}

static void pause_watch(world *in, const operation *op) {
  int number = named(in, op);
  if (number < 0) return;
  returned(in, op->code == PAUSE ? in->calls->pause(in, number) : in->calls->resume(in, number, (op->flags & 1) != 0));
}

/* -------------------------------------------------------------------------------------------------------- Operations -- */

/* Runs the next operations in a scope; returns how many. */
static int perform_in_scope(world *in, const operation *op, int position) {
  if (in->scopes == MAX_SCOPES) return 0;
  int slots = op->argument % (1 << SLOTS), count = 0;
  for (int slot = 0; slot < SLOTS; slot++)
    if (!in->alive[slot]) slots &= ~(1 << slot);
  kvo_scope_kind kind = op->code == SILENTLY   ? KVO_SCOPE_SILENCES
                        : (op->flags & 4) != 0 ? KVO_SCOPE_COALESCES_IF_CHANGED
                                               : KVO_SCOPE_COALESCES;
  kvo_scope scope;
  in->scopes++;
  in->silent_scopes += kind == KVO_SCOPE_SILENCES;
  in->calls->begin_scope(in, kind, slots, &scope);
  for (int left = (op->flags & 3) + 1; left > 0 && position + 1 + count < in->program->count; left--)
    count += world_perform(in, position + 1 + count);
  in->calls->end_scope(in, &scope);
  in->silent_scopes -= kind == KVO_SCOPE_SILENCES;
  in->scopes--;
  return count;
}

/* What the mutable collection of a key does: the elements that it announces are not looked at here. */
static void perform_as_proxy(world *in, const operation *op) {
  static const kvo_change_kind kinds[] = {KVO_CHANGE_SETTING, KVO_CHANGE_INSERTION, KVO_CHANGE_REMOVAL,
                                          KVO_CHANGE_REPLACEMENT};
  key of = op->subject % KEYS;
  if (!shape_defines(in->shapes[op->slot], of) || !key_infos[of].settable) return;
  kvo_change_kind kind = kinds[op->flags & 3];
  returned(in, in->calls->will(in, op->slot, of, kind, kind != KVO_CHANGE_SETTING ? op->argument : 0));
  kvo_mute mute;
  in->calls->absorb(in, op->slot, of, &mute);
  set(in, op->slot, of, stored_for(of, op->argument), false);
  in->calls->emit(in, &mute);
  returned(in, in->calls->did(in, op->slot, of));
}

/* Operations on an object, which is kept alive until the call returns. */
static void perform_on(world *in, const operation *op, int position) {
  static const kvo_change_kind kinds[] = {KVO_CHANGE_INSERTION, KVO_CHANGE_REMOVAL, KVO_CHANGE_REPLACEMENT,
                                          (kvo_change_kind)0};
  const calls *through = in->calls;
  int path = op->subject % PATHS;
  key any = op->subject % (KEYS + 1), identity = op->flags & 3, context = op->flags >> 2 & 3;
  switch (op->code) {
    case ADD:
    case ADD_CLOSURE: add(in, op, position); return;
    case BIND: bind(in, op); return;
    case PROXY: perform_as_proxy(in, op); return;
    case SET_PATH: returned(in, set_path(in, op, path)); return;
    case GET_PATH: returned(in, through->get_path(in, op->slot, path)); return;
    case WILL: returned(in, through->will(in, op->slot, any, KVO_CHANGE_SETTING, 0)); return;
    case WILL_INDEXES: returned(in, through->will(in, op->slot, any, kinds[op->flags & 3], op->argument)); return;
    case DID: returned(in, through->did(in, op->slot, any)); return;
    case REMOVE_FOR: returned(in, through->remove_for(in, op->slot, identity, path, false, 0)); return;
    case REMOVE_FOR_CONTEXT: returned(in, through->remove_for(in, op->slot, identity, path, true, context)); return;
    case QUERY: through->survey(in, op->slot); return;
    default: return;
  }
}

/* An action on "itself" is on the object, and the first key, of the observation. */
static operation resolve(const world *in, int position) {
  operation op = in->program->operations[position];
  if ((op.when & ACT_ON_SELF) == 0 || in->current < 0) return op;
  const watch *self = &in->watches[in->current];
  const char *path = key_paths[self->path];
  op.slot = self->slot;
  if (op.code == SET || op.code == STORE || op.code == WILL || op.code == DID || op.code == PROXY)
    op.subject = key_named(path, (int)strcspn(path, "."));
  return op;
}

int world_perform(world *in, int position) {
  operation resolved = resolve(in, position);
  const operation *op = &resolved;
  switch (op->code) {
    case CREATE: create(in, op->slot, op->argument % SHAPES); return 1;
    case KILL: world_kill(in, op->slot, (op->flags & 1) != 0); return 1;
    case REMOVE:
    case CANCEL:
    case FORGED: remove_watch(in, op); return 1;
    case PAUSE:
    case RESUME: pause_watch(in, op); return 1;
    case SILENTLY:
    case COALESCE: return 1 + perform_in_scope(in, op, position);
    default: break;
  }
  if (in->alive[op->slot]) {
    key of = op->subject % KEYS;
    int number = stored_for(of, op->argument);
    if (op->code == SET) { /* an object may die in a callback after its own change */
      set(in, op->slot, of, number, (op->flags & 1) != 0);
    } else if (op->code == STORE) {
      if (key_infos[of].settable) in->calls->store(in, op->slot, of, living(in, of, number));
    } else {
      in->pinned[op->slot]++;
      perform_on(in, op, position);
      in->pinned[op->slot]--;
    }
  }
  return op->code == ADD || op->code == ADD_CLOSURE ? 1 + actions_of(in->program, position) : 1;
}
