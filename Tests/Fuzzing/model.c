/* model.c - see model.h: what changes do. An observation is a list of the keys that it depends on; a change tests all observations. */
#include "model_state.h"

#include <stdlib.h>
#include <string.h>

struct model model;

void model_fault(world *in, kvo_fault_code code) { world_log(in, FAULTED)->status = (int)code; }

/* -------------------------------------------------------------------------------------------------------- Evaluation -- */

static value evaluate(world *in, int number, reads *into, interest *leaf, kvo_status *status) {
  value result;
  *status = model_read(in, into, in->watches[number].slot, key_paths[in->watches[number].path], &result, leaf);
  return result;
}

/* Whether a change in progress of another key that it has read is still going to notify it: its last key is not known for certain. */
static bool is_being_led(int number) {
  const interest *leaf = &model.observations[number].leaf;
  for (const frame *each = model.frames; each != NULL; each = each->outer) {
    bool is_leaf = each->slot == leaf->slot && each->key == leaf->key;
    if (each->pending[number] && !each->told[number] && !is_leaf && each->life == model.life[each->slot] &&
        model_hears(number, each->slot, each->key, each->begun))
      return true;
  }
  return false;
}

/* Evaluates; from now on it depends on exactly the keys that were read. Keys that it depended on before keep their age. */
value model_arm(world *in, int number) {
  observation *self = &model.observations[number];
  reads now = {0};
  kvo_status status;
  value result = evaluate(in, number, &now, &self->leaf, &status);
  /* Not before a change: once for each. */
  if (status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NOT_AN_OBJECT) model_fault(in, KVO_FAULT_UNDEFINED_KEY);
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
  if (self->leaf.slot >= 0 && is_being_led(number)) self->leaf.slot = -1;
  self->last = result;
  self->orphaned = now.has_met_dying;
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- Changes -- */

/* Whether this change is delivered with the key's own values. */
static bool is_direct(const frame *of, int number) {
  const observation *self = &model.observations[number];
  return !self->evaluated || (self->leaf.slot == of->slot && self->leaf.key == of->key);
}

void model_tell(world *in, int number, const frame *of, bool prior, value before, value after) {
  const watch *as = &in->watches[number];
  event told = {.kind = CALLED, .watch = number, .slot = as->slot, .prior = prior, .change = KVO_CHANGE_SETTING};
  told.context = as->context;
  told.identity = as->identity;
  told.path = as->path;
  observation *self = &model.observations[number];
  if (self->paused) {
    if (!prior) self->missed = true;
    return;
  }
  if ((as->options & KVO_OLD) != 0) told.before = before;
  if ((as->options & KVO_NEW) != 0) told.after = after;
  if (of != NULL && is_direct(of, number)) {
    told.change = (int)of->kind;
    told.indexes = of->indexes;
    for (int i = 0; i < 8; i++) told.index_count += of->indexes >> i & 1;
  }
  world_called(in, &told);
}

bool model_hears(int number, int slot, key of, long since) {
  const observation *self = &model.observations[number];
  for (int i = 0; self->live && i < self->count; i++)
    if (self->heard[i].slot == slot && self->heard[i].key == (int)of && self->heard[i].since <= since) return true;
  return false;
}

/* Promise 6: not if it was registered during the change, or removed. An expression that began to depend on the key before the store was
 * over may have read the old value. */
bool model_is_told(const frame *of, int number) {
  const observation *self = &model.observations[number];
  bool may_be_late = self->evaluated && self->registered <= of->begun && of->stored != 0;
  return of->life == model.life[of->slot] &&
         model_hears(number, of->slot, of->key, may_be_late ? of->stored : of->begun);
}

/* Registered during the change, when it may have read the old value: it is evaluated again, and not notified. */
static bool is_rearmed(const frame *of, int number) {
  const observation *self = &model.observations[number];
  return self->evaluated && self->registered > of->begun && !is_direct(of, number) &&
         of->life == model.life[of->slot] && model_hears(number, of->slot, of->key, of->stored);
}

static bool begin(frame *out, const world *in, int slot, key of, kvo_change_kind kind, int indexes) {
  *out = (frame){.slot = slot, .key = of, .life = model.life[slot], .begun = model.clock};
  out->kind = kind;
  out->indexes = indexes;
  bool any = false;
  for (int i = 0; i < in->watch_count; i++) {
    if (!model_is_told(out, i)) continue;
    any = true;
    if (is_direct(out, i) && (in->watches[i].options & KVO_NEW) != 0) out->wants_new = true;
  }
  return any;
}

static bool wants(const frame *of, const world *in, int option) {
  for (int i = 0; i < in->watch_count; i++)
    if (model_is_told(of, i) && is_direct(of, i) && (in->watches[i].options & option) != 0) return true;
  return false;
}

/* Promise 2: before the change, oldest first. */
static void will(frame *of, world *in) {
  of->outer = model.frames;
  model.frames = of;
  for (int i = 0; i < in->watch_count; i++) {
    if (!model_is_told(of, i)) continue;
    observation *self = &model.observations[i];
    bool prior = (in->watches[i].options & KVO_PRIOR) != 0;
    value before = of->before;
    if (!is_direct(of, i)) {
      self->leaf.slot = -1; /* until this change has notified it */
      before = (value){ABSENT, 0};
      kvo_status status;
      if ((in->watches[i].options & KVO_OLD) != 0)
        before = self->orphaned ? self->last : evaluate(in, i, NULL, NULL, &status);
      of->pending[i] = true;
      of->pending_values[i] = before;
    }
    if (prior) model_tell(in, i, of, true, before, (value){ABSENT, 0});
  }
}

/* The present value of the key as a direct observer gets it; `stored` if there is no getter. */
static value present(world *in, const frame *of, value stored) {
  if (of->key == IMAGINARY || !model_defines(in, of->slot, of->key)) {
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return (value){ABSENT, 0};
  }
  if (of->kind != KVO_CHANGE_SETTING) return (value){ABSENT, 0};
  return key_infos[of->key].readable ? world_read(in, of->slot, of->key) : stored;
}

/* Promises 2 and 3: after the change, newest first, each with the present value. */
static void did(frame *of, world *in, value stored) {
  of->stored = model.clock;
  for (int i = in->watch_count - 1; i >= 0; i--) {
    if (is_rearmed(of, i)) model_arm(in, i);
    if (!model_is_told(of, i)) continue;
    bool new_option = (in->watches[i].options & KVO_NEW) != 0, wanted = new_option && of->kind != KVO_CHANGE_REMOVAL;
    bool unprepared = model.observations[i].evaluated && new_option && !of->wants_new;
    if (!is_direct(of, i) || unprepared) {
      value before = of->pending[i] ? of->pending_values[i] : model.observations[i].last;
      of->told[i] = true;
      value after = model_arm(in, i);
      model_tell(in, i, NULL, false, before, after);
    } else {
      model_tell(in, i, of, false, of->before, wanted ? present(in, of, stored) : (value){ABSENT, 0});
    }
  }
  frame **link = &model.frames;
  while (*link != NULL && *link != of) link = &(*link)->outer;
  if (*link != NULL) *link = of->outer;
}

/* ------------------------------------------------------------------------------------------------------------ Silence -- */

static bool is_silent(int slot) {
  for (int i = 0; i < model.scope_count; i++)
    if (model.scopes[i].lives[slot] == model.life[slot]) return true;
  return false;
}

/* Whether an observation is evaluated again after a silent change of the key. */
bool model_follows(int number, int slot, key of, long since) {
  const observation *self = &model.observations[number];
  bool is_leaf = self->leaf.slot == slot && self->leaf.key == (int)of;
  return self->evaluated && !is_leaf && model_hears(number, slot, of, since);
}

/* Its deaths are not told, because its end evaluates. */
static void begin_quietly(const world *in, int slot, key of) {
  bool is_followed = false;
  for (int i = 0; i < in->watch_count; i++) is_followed = is_followed || model_follows(i, slot, of, model.clock);
  if (!is_followed) return;
  if (model.quiet_count == MAX_QUIET) fail("the model's table of silent changes is too small");
  model.quiet[model.quiet_count++] = (quiet){slot, (int)of, model.life[slot], model.scope_count};
}

static void end_quietly(int slot, key of, int life) {
  for (int i = model.quiet_count; i-- > 0;)
    if (model.quiet[i].slot == slot && model.quiet[i].key == (int)of && model.quiet[i].life == life) {
      model.quiet_count--;
      memmove(&model.quiet[i], &model.quiet[i + 1], (size_t)(model.quiet_count - i) * sizeof model.quiet[0]);
      return;
    }
}

static void set_silently(world *in, int slot, key of, int number) {
  int life = model.life[slot];
  begin_quietly(in, slot, of);
  world_program_sets(in, slot, of, number);
  if (model.life[slot] != life || !is_silent(slot)) return;
  long since = model.clock;
  for (int i = in->watch_count - 1; i >= 0; i--)
    if (model_follows(i, slot, of, since)) model_arm(in, i);
  end_quietly(slot, of, life);
}

void model_silence(world *in, int slots, kvo_scope *unused) {
  (void)in, (void)unused;
  scope *made = &model.scopes[model.scope_count++];
  for (int slot = 0; slot < SLOTS; slot++) made->lives[slot] = (slots >> slot & 1) != 0 ? model.life[slot] : -1;
}

void model_speak(world *in, kvo_scope *unused) {
  (void)in, (void)unused;
  int kept = 0;
  for (int i = 0; i < model.quiet_count; i++)
    if (model.quiet[i].scope != model.scope_count) model.quiet[kept++] = model.quiet[i];
  model.quiet_count = kept;
  model.scope_count--;
}

/* ---------------------------------------------------------------------------------------------------------- Setters -- */

void model_set(world *in, int slot, key of, int number, bool kept) {
  (void)kept;
  if (!model_defines(in, slot, of) || !key_infos[of].settable) {
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return;
  }
  frame here;
  if (is_silent(slot)) { /* also of a manual key: what reads it follows */
    set_silently(in, slot, of, number);
    return;
  }
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

/* A will that was unobserved or refused: its did is no misuse. Of too many the oldest is only counted. */
static void remember_unobserved(int slot, key of, bool tells) {
  if (model.unobserved_count == MAX_UNOBSERVED) {
    if (model.forgotten++ == 0) model.forgotten_begun = model.unobserved[0].begun;
    memmove(&model.unobserved[0], &model.unobserved[1], (MAX_UNOBSERVED - 1) * sizeof model.unobserved[0]);
    model.unobserved_count--;
  }
  model.unobserved[model.unobserved_count++] = (unobserved){slot, (int)of, model.life[slot], tells ? model.clock : -1};
}

static bool take_unobserved(int slot, key of, long *begun) {
  for (int i = model.unobserved_count; i-- > 0;) {
    const unobserved *each = &model.unobserved[i];
    if (each->slot != slot || each->key != (int)of || each->life != model.life[slot]) continue;
    *begun = each->begun;
    model.unobserved_count--;
    memmove(&model.unobserved[i], &model.unobserved[i + 1],
            (size_t)(model.unobserved_count - i) * sizeof model.unobserved[0]);
    return true;
  }
  if (model.forgotten == 0) return false;
  model.forgotten--; /* it may be of this key */
  *begun = model.forgotten_begun;
  return true;
}

static bool has_unobserved(int slot, key of) {
  for (int i = 0; i < model.unobserved_count; i++) {
    const unobserved *each = &model.unobserved[i];
    if (each->slot == slot && each->key == (int)of && each->life == model.life[slot]) return true;
  }
  return false;
}

kvo_status model_will_change(world *in, int slot, key of, kvo_change_kind kind, int indexes) {
  if (kind == (kvo_change_kind)0) {
    remember_unobserved(slot, of, false);
    model_fault(in, KVO_FAULT_INVALID_ARGUMENT);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  if (is_silent(slot)) {
    begin_quietly(in, slot, of);
    remember_unobserved(slot, of, false);
    return KVO_OK;
  }
  pair *made = calloc(1, sizeof *made);
  if (!begin(&made->frame, in, slot, of, kind, indexes)) {
    free(made);
    remember_unobserved(slot, of, true);
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

/* A did without a will that was passed on: paths follow the present value. Those that were registered before the will, and led to the
 * object since, are told. */
static kvo_status follow_present_value(world *in, int slot, key of) {
  kvo_status status = KVO_OK;
  long begun = -1;
  bool was_unobserved = take_unobserved(slot, of, &begun);
  frame here = {.slot = slot, .key = of, .life = model.life[slot], .begun = model.clock, .kind = KVO_CHANGE_SETTING};
  for (int i = in->watch_count - 1; i >= 0; i--) {
    if (!model_hears(i, slot, of, here.begun)) continue;
    if (!was_unobserved) status = KVO_ERROR_UNBALANCED;
    const observation *self = &model.observations[i];
    bool is_told = self->evaluated && self->registered <= begun;
    if (is_direct(&here, i) && !(is_told && (in->watches[i].options & KVO_NEW) != 0)) {
      if (is_told) model_tell(in, i, &here, false, here.before, (value){ABSENT, 0});
      continue;
    }
    value before = self->last, after = model_arm(in, i);
    if (is_told) model_tell(in, i, NULL, false, before, after);
  }
  return status;
}

/* Promise 4. */
kvo_status model_did_change(world *in, int slot, key of) {
  pair **link = &model.pairs;
  while (*link != NULL && !((*link)->open && (*link)->frame.slot == slot && (*link)->frame.key == (int)of &&
                            (*link)->frame.life == model.life[slot]))
    link = &(*link)->below;
  pair *found = *link;
  if (found == NULL || (is_silent(slot) && has_unobserved(slot, of))) {
    int life = model.life[slot];
    kvo_status status = follow_present_value(in, slot, of);
    end_quietly(slot, of, life);
    return status;
  }
  *link = found->below;
  did(&found->frame, in, (value){ABSENT, 0});
  free(found);
  return KVO_OK;
}
