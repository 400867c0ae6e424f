/* model.c - see model.h. An observation is a list of the keys that it depends on; a change tests all observations. */
#include "model.h"
#include "model_paths.h"

#include <stdlib.h>
#include <string.h>

typedef struct observation {
  bool live;
  /** It observes an expression: a path, or a key that others affect. It depends on the keys that its evaluation reads. */
  bool evaluated;
  int count;
  interest heard[READS];
  value last;
  /** The last key of its path, if its changes are delivered like those of a direct observation of that key. */
  interest leaf;
  /** When it was registered. */
  long registered;
  /** An intermediate object died, and nothing has been evaluated since. */
  bool orphaned;
  /** The lives of all objects that it has ever depended on, one bit each. */
  uint64_t involved;
} observation;

/* A change, from before the store until the last observer has been notified. */
typedef struct frame {
  struct frame *outer;
  int slot, key, life;
  /** The clock at its beginning, and after the store. */
  long begun, stored;
  /** An observer that is notified without an evaluation wants the new value. */
  bool wants_new;
  kvo_change_kind kind;
  int indexes;
  value before;
  /** For evaluated observations: notified before the change; notified after it; and the old value. */
  bool pending[WATCHES], told[WATCHES];
  value pending_values[WATCHES];
} frame;

/* A frame between will and did. */
typedef struct pair {
  struct pair *below;
  frame frame;
  /** kvo_will_change has returned. */
  bool open;
} pair;

/* An announcement that was not passed on. */
typedef struct unobserved {
  int slot, key, life;
} unobserved;

/* The limit of registry/unobserved.c. */
enum { MAX_UNOBSERVED = 64 };

static struct {
  /** Counts dependencies; a change notifies those that existed when it began. */
  long clock;
  int lives, life[SLOTS];
  observation observations[WATCHES];
  frame *frames;
  pair *pairs;
  unobserved unobserved[MAX_UNOBSERVED];
  int unobserved_count;
} model;

static void fault(world *in, kvo_fault_code code) { world_log(in, FAULTED)->status = (int)code; }

/* -------------------------------------------------------------------------------------------------------- Evaluation -- */

static value evaluate(world *in, int number, reads *into, interest *leaf) {
  value result;
  kvo_status status =
      model_read(in, into, in->watches[number].slot, key_paths[in->watches[number].path], &result, leaf);
  if (status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NOT_AN_OBJECT) fault(in, KVO_FAULT_UNDEFINED_KEY);
  return result;
}

/* Evaluates; from now on it depends on exactly the keys that were read. Keys that it depended on before keep their age. */
static value arm(world *in, int number) {
  observation *self = &model.observations[number];
  reads now = {0};
  value result = evaluate(in, number, &now, &self->leaf);
  /* The old value must be known when an intermediate object dies. */
  if ((in->watches[number].options & KVO_OLD) != 0) self->leaf.slot = -1;
  for (int i = 0; i < now.count; i++) {
    now.all[i].since = ++model.clock;
    self->involved |= UINT64_C(1) << model.life[now.all[i].slot] % 64;
    for (int j = 0; j < self->count; j++)
      if (self->heard[j].slot == now.all[i].slot && self->heard[j].key == now.all[i].key)
        now.all[i].since = self->heard[j].since;
  }
  memcpy(self->heard, now.all, sizeof now.all);
  self->count = now.count;
  self->last = result;
  self->orphaned = false;
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- Changes -- */

/* Whether this change is delivered with the key's own values. */
static bool is_direct(const frame *of, int number) {
  const observation *self = &model.observations[number];
  return !self->evaluated || (self->leaf.slot == of->slot && self->leaf.key == of->key);
}

static void tell(world *in, int number, const frame *of, bool prior, value before, value after) {
  const watch *as = &in->watches[number];
  event told = {.kind = CALLED, .watch = number, .slot = as->slot, .prior = prior, .change = KVO_CHANGE_SETTING};
  told.context = as->context;
  told.identity = as->identity;
  told.path = as->path;
  if ((as->options & KVO_OLD) != 0) told.before = before;
  if ((as->options & KVO_NEW) != 0) told.after = after;
  if (of != NULL && is_direct(of, number)) {
    told.change = (int)of->kind;
    told.indexes = of->indexes;
    for (int i = 0; i < 8; i++) told.index_count += of->indexes >> i & 1;
  }
  world_called(in, &told);
}

static bool hears(int number, int slot, key of, long since) {
  const observation *self = &model.observations[number];
  for (int i = 0; self->live && i < self->count; i++)
    if (self->heard[i].slot == slot && self->heard[i].key == (int)of && self->heard[i].since <= since) return true;
  return false;
}

/* Promise 6: not if it was registered during the change, or removed. An expression that began to depend on the key before the store was
 * over may have read the old value. */
static bool is_told(const frame *of, int number) {
  const observation *self = &model.observations[number];
  bool may_be_late = self->evaluated && self->registered <= of->begun && of->stored != 0;
  return of->life == model.life[of->slot] && hears(number, of->slot, of->key, may_be_late ? of->stored : of->begun);
}

/* Registered during the change, when it may have read the old value: it is evaluated again, and not notified. */
static bool is_rearmed(const frame *of, int number) {
  const observation *self = &model.observations[number];
  return self->evaluated && self->registered > of->begun && !is_direct(of, number) &&
         of->life == model.life[of->slot] && hears(number, of->slot, of->key, of->stored);
}

static bool begin(frame *out, const world *in, int slot, key of, kvo_change_kind kind, int indexes) {
  *out = (frame){.slot = slot, .key = of, .life = model.life[slot], .begun = model.clock};
  out->kind = kind;
  out->indexes = indexes;
  bool any = false;
  for (int i = 0; i < in->watch_count; i++) {
    if (!is_told(out, i)) continue;
    any = true;
    if (is_direct(out, i) && (in->watches[i].options & KVO_NEW) != 0) out->wants_new = true;
  }
  return any;
}

static bool wants(const frame *of, const world *in, int option) {
  for (int i = 0; i < in->watch_count; i++)
    if (is_told(of, i) && is_direct(of, i) && (in->watches[i].options & option) != 0) return true;
  return false;
}

/* Promise 2: before the change, oldest first. */
static void will(frame *of, world *in) {
  of->outer = model.frames;
  model.frames = of;
  for (int i = 0; i < in->watch_count; i++) {
    if (!is_told(of, i)) continue;
    observation *self = &model.observations[i];
    bool prior = (in->watches[i].options & KVO_PRIOR) != 0;
    value before = of->before;
    if (!is_direct(of, i)) {
      before = (value){ABSENT, 0};
      if ((in->watches[i].options & KVO_OLD) != 0) before = self->orphaned ? self->last : evaluate(in, i, NULL, NULL);
      of->pending[i] = true;
      of->pending_values[i] = before;
    }
    if (prior) tell(in, i, of, true, before, (value){ABSENT, 0});
  }
}

/* The present value of the key as a direct observer gets it; `stored` if there is no getter. */
static value present(world *in, const frame *of, value stored) {
  if (of->key == IMAGINARY || !model_defines(in, of->slot, of->key)) {
    fault(in, KVO_FAULT_UNDEFINED_KEY);
    return (value){ABSENT, 0};
  }
  if (of->kind != KVO_CHANGE_SETTING) return (value){ABSENT, 0};
  return key_infos[of->key].readable ? world_read(in, of->slot, of->key) : stored;
}

/* Promises 2 and 3: after the change, newest first, each with the present value. */
static void did(frame *of, world *in, value stored) {
  of->stored = model.clock;
  for (int i = in->watch_count - 1; i >= 0; i--) {
    if (is_rearmed(of, i)) arm(in, i);
    if (!is_told(of, i)) continue;
    bool new_option = (in->watches[i].options & KVO_NEW) != 0, wanted = new_option && of->kind != KVO_CHANGE_REMOVAL;
    bool unprepared = model.observations[i].evaluated && new_option && !of->wants_new;
    if (!is_direct(of, i) || unprepared) {
      value before = of->pending[i] ? of->pending_values[i] : model.observations[i].last;
      of->told[i] = true;
      value after = arm(in, i);
      tell(in, i, NULL, false, before, after);
    } else {
      tell(in, i, of, false, of->before, wanted ? present(in, of, stored) : (value){ABSENT, 0});
    }
  }
  frame **link = &model.frames;
  while (*link != NULL && *link != of) link = &(*link)->outer;
  if (*link != NULL) *link = of->outer;
}

static void set(world *in, int slot, key of, int number, bool kept) {
  (void)kept;
  if (!model_defines(in, slot, of) || !key_infos[of].settable) {
    fault(in, KVO_FAULT_UNDEFINED_KEY);
    return;
  }
  frame here;
  if (shape_is_manual(in->shapes[slot], of) || !begin(&here, in, slot, of, KVO_CHANGE_SETTING, 0)) {
    world_program_sets(in, slot, of, number);
    return;
  }
  if (key_infos[of].readable) here.before = world_read(in, slot, of);
  will(&here, in);
  world_program_sets(in, slot, of, number);
  did(&here, in, value_of(of, number));
}

/* ------------------------------------------------------------------------------------------------------ Manual pairs -- */

/* A will that was unobserved or refused: its did is no misuse. */
static void remember_unobserved(int slot, key of) {
  if (model.unobserved_count == MAX_UNOBSERVED) {
    memmove(&model.unobserved[0], &model.unobserved[1], (MAX_UNOBSERVED - 1) * sizeof model.unobserved[0]);
    model.unobserved_count--;
  }
  model.unobserved[model.unobserved_count++] = (unobserved){slot, (int)of, model.life[slot]};
}

static bool take_unobserved(int slot, key of) {
  for (int i = model.unobserved_count; i-- > 0;) {
    const unobserved *each = &model.unobserved[i];
    if (each->slot != slot || each->key != (int)of || each->life != model.life[slot]) continue;
    model.unobserved_count--;
    memmove(&model.unobserved[i], &model.unobserved[i + 1],
            (size_t)(model.unobserved_count - i) * sizeof model.unobserved[0]);
    return true;
  }
  return false;
}

static kvo_status will_change(world *in, int slot, key of, kvo_change_kind kind, int indexes) {
  if (kind == (kvo_change_kind)0) {
    remember_unobserved(slot, of);
    fault(in, KVO_FAULT_INVALID_ARGUMENT);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  pair *made = calloc(1, sizeof *made);
  if (!begin(&made->frame, in, slot, of, kind, indexes)) {
    free(made);
    remember_unobserved(slot, of);
    return KVO_OK;
  }
  made->below = model.pairs;
  model.pairs = made;
  if (wants(&made->frame, in, KVO_OLD) && kind != KVO_CHANGE_INSERTION)
    made->frame.before = present(in, &made->frame, (value){ABSENT, 0});
  will(&made->frame, in);
  made->open = true;
  return KVO_OK;
}

/* A did without a will: nobody is notified, but paths follow the present value. */
static kvo_status follow_present_value(world *in, int slot, key of) {
  kvo_status status = KVO_OK;
  bool was_unobserved = take_unobserved(slot, of);
  frame here = {.slot = slot, .key = of, .life = model.life[slot], .begun = model.clock};
  for (int i = in->watch_count - 1; i >= 0; i--) {
    if (!hears(i, slot, of, here.begun)) continue;
    if (!was_unobserved) status = KVO_ERROR_UNBALANCED;
    if (!is_direct(&here, i)) arm(in, i);
  }
  return status;
}

/* Promise 4. */
static kvo_status did_change(world *in, int slot, key of) {
  pair **link = &model.pairs;
  while (*link != NULL && !((*link)->open && (*link)->frame.slot == slot && (*link)->frame.key == (int)of &&
                            (*link)->frame.life == model.life[slot]))
    link = &(*link)->below;
  pair *found = *link;
  if (found == NULL) return follow_present_value(in, slot, of);
  *link = found->below;
  did(&found->frame, in, (value){ABSENT, 0});
  free(found);
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------- Registration and removal -- */

static kvo_status add(world *in, int number) {
  const watch *as = &in->watches[number];
  observation *self = &model.observations[number];
  const char *path = key_paths[as->path];
  if (model_check(path) != KVO_OK) {
    fault(in, KVO_FAULT_MALFORMED_KEY_PATH);
    return KVO_ERROR_MALFORMED_KEY_PATH;
  }
  bool single = strchr(path, '.') == NULL, initial = (as->options & KVO_INITIAL) != 0;
  key of = key_named(path, (int)strlen(path));
  bool defined = single && model_defines(in, as->slot, of);
  *self = (observation){.involved = UINT64_C(1) << model.life[as->slot] % 64};
  self->registered = ++model.clock;
  if (single && (!defined || shape_affected_by(in->shapes[as->slot], of) == NULL)) {
    if (!defined && initial && (as->options & KVO_NEW) != 0) {
      fault(in, KVO_FAULT_UNDEFINED_KEY);
      return KVO_ERROR_UNDEFINED_KEY;
    }
    self->live = true;
    self->count = 1;
    self->heard[0] = (interest){as->slot, of, ++model.clock};
    value now = {ABSENT, 0};
    if (defined && key_infos[of].readable) now = world_read(in, as->slot, of);
    if (initial) tell(in, number, NULL, false, (value){ABSENT, 0}, now);
    return KVO_OK;
  }
  value now;
  kvo_status status = model_read(in, NULL, as->slot, path, &now, NULL);
  if (status != KVO_OK && status != KVO_ERROR_NO_GETTER) {
    fault(in, KVO_FAULT_UNDEFINED_KEY);
    return status;
  }
  self->live = self->evaluated = true;
  now = arm(in, number);
  if (initial) tell(in, number, NULL, false, (value){ABSENT, 0}, now);
  return KVO_OK;
}

static kvo_status remove_one(world *in, int number, ending how) {
  observation *self = &model.observations[number];
  bool ends = self->live && how != END_FORGED;
  if (ends) self->live = false;
  if (!ends && (how == END_REMOVE || how == END_FORGED)) fault(in, KVO_FAULT_NOT_REGISTERED);
  if (how == END_AND_WAIT && in->running[number] != 0) fault(in, KVO_FAULT_ENDLESS_WAIT);
  return ends ? KVO_OK : KVO_ERROR_NOT_REGISTERED;
}

/* Promise 9. */
static kvo_status remove_for(world *in, int slot, int identity, int path, bool with_context, int context) {
  for (int i = in->watch_count - 1; i >= 0; i--) {
    const watch *as = &in->watches[i];
    if (!model.observations[i].live || as->slot != slot || as->identity != identity || as->path != path) continue;
    if (with_context && as->context != context) continue;
    model.observations[i].live = false;
    return KVO_OK;
  }
  fault(in, KVO_FAULT_NOT_REGISTERED);
  return KVO_ERROR_NOT_REGISTERED;
}

/* ------------------------------------------------------------------------------------------------------------- Death -- */

/* Whether a change in progress is going to notify this observation anyway. */
static bool will_be_told(int number, int dying_life) {
  for (const frame *each = model.frames; each != NULL; each = each->outer)
    if (each->life != dying_life && each->pending[number] && !each->told[number] && is_told(each, number)) return true;
  return false;
}

/* Promises 14, 16 and 17. */
static void finish(world *in, int slot) {
  bool bereaved[WATCHES] = {false};
  int life = model.life[slot], left = 0, left_bits = 0;
  for (int i = 0; i < in->watch_count; i++) {
    observation *self = &model.observations[i];
    if (!self->live) continue;
    if (in->watches[i].slot == slot) {
      self->live = false;
      if ((in->watches[i].options & KVO_ENDS_WITH_OBJECT) == 0) {
        left++;
        left_bits |= (int)(1u << i);
      }
      continue;
    }
    int kept = 0;
    for (int j = 0; j < self->count; j++) {
      if (self->heard[j].slot == slot)
        bereaved[i] = true;
      else
        self->heard[kept++] = self->heard[j];
    }
    self->count = kept;
  }
  model.life[slot] = 0;
  if (left > 0) {
    event *told = world_log(in, FAULTED);
    told->status = KVO_FAULT_DEALLOCATED_WHILE_OBSERVED;
    told->index_count = left;
    told->indexes = left <= MOST_SINGLE ? left_bits : 0;
  }
  for (int i = 0; i < in->watch_count; i++) {
    observation *self = &model.observations[i];
    if (!bereaved[i] || !self->live || will_be_told(i, life)) continue;
    value before = self->last, after = arm(in, i);
    self->orphaned = true;
    tell(in, i, NULL, false, before, after);
  }
}

bool model_is_registered(int number) { return model.observations[number].live; }

bool model_may_keep(int number) {
  for (const pair *each = model.pairs; each != NULL; each = each->below)
    if ((model.observations[number].involved >> each->frame.life % 64 & 1) != 0) return true;
  return false;
}

/* ----------------------------------------------------------------------------------------------------------- Storage -- */

static int storage[SLOTS][KEYS];

static void create(world *in, int slot) {
  (void)in;
  model.life[slot] = ++model.lives;
  memset(storage[slot], 0, sizeof storage[slot]);
  storage[slot][NEXT] = storage[slot][OWNED] = -1;
}

static void seal(world *in, int slot) { (void)in, (void)slot; }

static int load(world *in, int slot, key of) {
  (void)in;
  return storage[slot][of];
}

static void store(world *in, int slot, key of, int number) {
  (void)in;
  storage[slot][of] = number;
}

static kvo_status get_path(world *in, int slot, int path) {
  value out;
  kvo_status status = model_check(key_paths[path]);
  if (status == KVO_OK) status = model_read(in, NULL, slot, key_paths[path], &out, NULL);
  if (status == KVO_OK) world_log(in, READ)->after = out;
  return status;
}

static kvo_status set_path(world *in, int slot, int path, value to) {
  key last;
  kvo_status status = model_check(key_paths[path]);
  if (status == KVO_OK) status = model_walk(in, NULL, &slot, key_paths[path], &last);
  if (status != KVO_OK || slot < 0) return status;
  if (!key_infos[last].settable) return KVO_ERROR_READ_ONLY;
  value_kind kind = key_infos[last].kind;
  if (to.kind == NIL ? kind != OBJECT && kind != STRING : to.kind != kind) return KVO_ERROR_TYPE_MISMATCH;
  set(in, slot, last, to.kind != NIL ? to.number : kind == OBJECT ? -1 : 0, false);
  return KVO_OK;
}

/* An observation counts once, and once more for each key that its evaluation has read. */
static void survey(world *in, int slot) {
  int count = 0;
  for (int i = 0; i < in->watch_count; i++) {
    const observation *self = &model.observations[i];
    if (!self->live) continue;
    if (self->evaluated && in->watches[i].slot == slot) count++;
    for (int j = 0; j < self->count; j++) count += self->heard[j].slot == slot;
  }
  event *counted = world_log(in, COUNTED);
  counted->slot = slot;
  counted->index_count = count;
  for (int i = 0; i < in->watch_count; i++) {
    if (!model.observations[i].live || in->watches[i].slot != slot) continue;
    event *listed = world_log(in, LISTED);
    listed->slot = slot;
    listed->watch = i;
  }
}

void model_begin(void) { memset(&model, 0, sizeof model); }

void model_end(void) {
  while (model.pairs != NULL) {
    pair *last = model.pairs;
    model.pairs = last->below;
    free(last);
  }
}

const calls model_calls = {create,   finish,      seal,       load, store,      set,        set_path,
                           get_path, will_change, did_change, add,  remove_one, remove_for, survey};
