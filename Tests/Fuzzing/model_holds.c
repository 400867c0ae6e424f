/* model_holds.c - see model.h: what must not be told now. A scope holds what changes in it until its end; a silent one is a change that
 * tells nobody, and settles; a proxy absorbs a change that it tells itself; a pause holds one observation. */
#include "model_state.h"

#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- Silence -- */

static bool covers(const scope *of, int slot) { return of->lives[slot] == model.life[slot]; }

bool model_is_silent(int slot) {
  for (int i = 0; i < model.scope_count; i++)
    if (model.scopes[i].kind == KVO_SCOPE_SILENCES && covers(&model.scopes[i], slot)) return true;
  return false;
}

void model_begin_quietly(int slot, key of) {
  if (model.quiet_count == MAX_QUIET) fail("the model's table of silent changes is too small");
  model.quiet[model.quiet_count++] = (quiet){slot, (int)of, model.life[slot], model.scope_count};
}

void model_forget_quiet(int slot, key of, int life) {
  for (int i = model.quiet_count; i-- > 0;)
    if (model.quiet[i].slot == slot && model.quiet[i].key == (int)of && model.quiet[i].life == life) {
      model.quiet_count--;
      memmove(&model.quiet[i], &model.quiet[i + 1], (size_t)(model.quiet_count - i) * sizeof model.quiet[0]);
      return;
    }
}

/* What was told last stays the old value of what is told next. */
void model_end_quietly(world *in, int slot, key of, int life) {
  long stored = model_tick();
  if (model.life[slot] == life && model_is_silent(slot))
    for (int i = in->watch_count - 1; i >= 0; i--) {
      const interest *link = model_link(i, slot, of);
      if (link != NULL && model.observations[i].is_expression && link->read < stored) model_follow(in, i, slot, of);
    }
  model_forget_quiet(slot, of, life);
}

static void end_silence(void) {
  int kept = 0;
  for (int i = 0; i < model.quiet_count; i++)
    if (model.quiet[i].scope != model.scope_count) model.quiet[kept++] = model.quiet[i];
  model.quiet_count = kept;
}

/* ----------------------------------------------------------------------------------------------------- Coalescing -- */

/* The outermost one counts; 0 if there is none. */
int model_scope_of(int slot) {
  for (int i = 0; i < model.scope_count; i++) {
    const scope *each = &model.scopes[i];
    if (each->kind != KVO_SCOPE_SILENCES && !each->settles && !each->ending && covers(each, slot)) return i + 1;
  }
  return 0;
}

/* The same, or that of the settling of bindings. */
static int hold_of(int slot) {
  int scope = model_scope_of(slot);
  if (scope != 0) return scope;
  for (int i = 0; i < model.scope_count; i++)
    if (model.scopes[i].settles && !model.scopes[i].ending) return i + 1;
  return 0;
}

bool model_is_scoped(int slot) { return model_is_silent(slot) || model_scope_of(slot) != 0; }

static held_change *find(scope *in, int slot, key of) {
  for (int i = 0; i < in->held_count; i++) {
    held_change *each = &in->held[i];
    if (each->of.slot == slot && each->of.key == (int)of && each->of.life == model.life[slot]) return each;
  }
  return NULL;
}

bool model_hold_knows(int number, int slot, key of) { return find(&model.scopes[number - 1], slot, of) != NULL; }

static held_change *make(scope *in, const frame *of) {
  if (in->held_count == MAX_HELD) fail("the model's table of held changes is too small");
  held_change *made = &in->held[in->held_count++];
  *made = (held_change){.of = *of};
  return made;
}

/* Once somebody wants it: an observer, or a scope that compares. */
static value read_before(world *in, const frame *of, bool compares) {
  bool wants_old = false;
  for (int i = 0; i < in->watch_count; i++)
    wants_old |= model_link(i, of->slot, (key)of->key) != NULL && !model.observations[i].is_expression &&
                 (in->watches[i].options & KVO_OLD) != 0;
  bool is_defined = of->key != IMAGINARY && model_defines(in, of->slot, (key)of->key);
  return wants_old || (compares && is_defined) ? model_present(in, of, (value){ABSENT, 0}) : (value){ABSENT, 0};
}

/* An expression is told once, at the end of the outermost hold in which something that it reads has changed. */
static void hold(int number, int scope) {
  observation *self = &model.observations[number];
  if (self->held == 0) self->held_prior = false;
  if (self->held == 0 || self->held > scope) self->held = scope;
}

static void note_due(world *in, held_change *here, const frame *of, int number) {
  for (int i = in->watch_count - 1; i >= 0; i--) {
    observation *self = &model.observations[i];
    due what = model_due(in, of, i);
    if (what == NOTHING) continue;
    if (!self->is_expression)
      here->due[i] = true;
    else if (self->reading != NULL)
      self->again = true;
    else if (what == SETTLES)
      model_begin_to_follow(in, i, of);
    else if (in->watches[i].binds && model.scopes[number - 1].settles)
      model_enqueue(in, i);
    else
      hold(i, number);
  }
}

/* Whether another change that is in progress is going to tell it. */
static bool is_left_to_change(int number, const frame *of) {
  for (const frame *each = model.frames; each != NULL; each = each->outer)
    if (each != of && !(each->announced && each->stored == 0) && model_is_ahead(each, number)) return true;
  return false;
}

/* Who wants that is called before the change, oldest first, once in the hold. What the setter makes of the change is not known yet: its
 * observers are due also if it refuses. */
int model_hold_begins(world *in, frame *of) {
  int number = hold_of(of->slot);
  if (number == 0) return 0;
  scope *self = &model.scopes[number - 1];
  held_change *here = find(self, of->slot, (key)of->key);
  if (here == NULL) here = make(self, of);
  if (here->of.before.kind == ABSENT)
    here->of.before = read_before(in, of, self->kind == KVO_SCOPE_COALESCES_IF_CHANGED);
  if (!self->settles) {
    here->of.stored = model_tick();
    note_due(in, here, of, number);
  }
  for (int i = 0; i < in->watch_count && of->life == model.life[of->slot]; i++) {
    observation *each = &model.observations[i];
    const interest *link = model_link(i, of->slot, (key)of->key);
    if (link == NULL || link->linked > of->begun || each->reading != NULL) continue;
    bool *told = each->is_expression ? &each->held_prior : &here->prior[i];
    bool is_again = *told && (!each->is_expression || each->held != 0);
    *told = true;
    if (is_again || (each->is_expression && is_left_to_change(i, of))) continue;
    bool is_kept = !each->is_expression || (in->watches[i].options & KVO_OLD) != 0;
    bool compares = !is_kept && !in->watches[i].binds; /* a binding has no old value */
    if (compares && self->kind == KVO_SCOPE_COALESCES_IF_CHANGED) each->last = model_read_present(in, i);
    if ((in->watches[i].options & KVO_PRIOR) == 0) continue;
    value before = each->is_expression ? each->last : here->of.before;
    model_tell(in, i, of, true, before, (value){ABSENT, 0});
  }
  return number;
}

void model_hold_stored(world *in, const frame *of, int number) {
  frame stored = *of;
  held_change *here = find(&model.scopes[number - 1], of->slot, (key)of->key);
  if (of->life != model.life[of->slot] || here == NULL) return;
  stored.stored = here->of.stored = model_tick();
  if (model.scopes[number - 1].settles) here->of.given = of->given; /* in a scope the present value counts */
  note_due(in, here, &stored, number);
}

void model_hold_changed(world *in, const frame *of, int number) {
  note_due(in, make(&model.scopes[number - 1], of), of, number);
}

void model_scopes_forget(int slot) {
  for (int i = 0; i < model.scope_count; i++) model.scopes[i].lives[slot] = -1;
}

static void tell_direct(world *in, int number, const held_change *of) {
  bool wants_new = (in->watches[number].options & KVO_NEW) != 0 && !model.observations[number].paused;
  bool has_new = wants_new && of->of.kind != KVO_CHANGE_REMOVAL;
  value after = has_new ? model_present(in, &of->of, of->of.given) : (value){ABSENT, 0};
  model_tell(in, number, &of->of, false, of->of.before, after);
}

/* Whether the value that its observer knows was read before the last store of this key. */
static bool is_stale(int number, const held_change *of) {
  const observation *self = &model.observations[number];
  const interest *link = model_link(number, of->of.slot, (key)of->of.key);
  return self->is_expression && link->linked < of->of.stored && self->known < of->of.stored;
}

/* Unless a change in progress is going to, because the hold has ended in one of its callbacks. */
static void tell_expression(world *in, int number, const frame *of, bool compares) {
  model.observations[number].held = 0;
  if (model_is_postponed(number, of))
    model.observations[number].stale = true;
  else
    model_tell_expression(in, number, of, compares);
}

/* In the order of the first changes; for each key newest first. */
static void tell_held(world *in, int number, scope *of) {
  bool compares = of->kind == KVO_SCOPE_COALESCES_IF_CHANGED;
  for (int at = 0; at < of->held_count; at++) {
    held_change *each = &of->held[at];
    int slot = each->of.slot;
    key changed = (key)each->of.key;
    bool is_known = each->of.before.kind != ABSENT && each->of.life == model.life[slot];
    value now = is_known ? world_read(in, slot, changed) : (value){ABSENT, 0};
    bool is_same = compares && is_known && memcmp(&now, &each->of.before, sizeof now) == 0;
    model_begin_change(&each->of);
    for (int i = in->watch_count - 1; i >= 0; i--) {
      each->of.cursor = i;
      const observation *self = &model.observations[i];
      if (each->of.life != model.life[slot] || model_link(i, slot, changed) == NULL) continue;
      if (self->is_expression && (self->stale || (is_stale(i, each) && self->held == number)))
        tell_expression(in, i, each->of.kind != KVO_CHANGE_SETTING ? &each->of : NULL, compares);
      else if (each->due[i] && !is_same)
        tell_direct(in, i, each);
    }
    model_end_change(&each->of);
  }
  for (int i = in->watch_count - 1; i >= 0; i--) /* what they read has changed since */
    if (model.observations[i].live && model.observations[i].held == number) tell_expression(in, i, NULL, compares);
}

/* A change in a scope reaches bindings when the scope ends. */
static void settle_held(world *in, int number) {
  unsigned which = 0;
  for (int i = 0; i < in->watch_count; i++) {
    observation *self = &model.observations[i];
    if (!self->live || !in->watches[i].binds || self->held != number) continue;
    self->held = 0;
    which |= 1u << i;
  }
  for (int i = 0; i < in->watch_count; i++)
    if ((which >> i & 1) != 0) model_enqueue(in, i);
  if (which != 0) model_run_bindings(in);
}

int model_begin_hold(void) {
  if (model.scope_count == MAX_HOLDS) fail("the model's table of holds is too small");
  scope *made = &model.scopes[model.scope_count++];
  *made = (scope){.kind = KVO_SCOPE_COALESCES, .settles = true};
  for (int slot = 0; slot < SLOTS; slot++) made->lives[slot] = -1;
  return model.scope_count;
}

void model_begin_scope(world *in, kvo_scope_kind kind, int slots, kvo_scope *unused) {
  scope *made = &model.scopes[model.scope_count++];
  *made = (scope){.kind = kind};
  for (int slot = 0; slot < SLOTS; slot++) made->lives[slot] = (slots >> slot & 1) != 0 ? model.life[slot] : -1;
}

void model_end_scope(world *in, kvo_scope *unused) {
  scope *last = &model.scopes[model.scope_count - 1];
  if (last->kind == KVO_SCOPE_SILENCES) {
    end_silence();
  } else {
    if (!last->settles) {
      last->settles = true; /* from here on it holds what bindings set */
      settle_held(in, model.scope_count);
    }
    last->ending = true;
    tell_held(in, model.scope_count, last);
  }
  model.scope_count--;
}

/* ----------------------------------------------------------------------------------------------------------- Proxies -- */

void model_absorb(world *in, int slot, key of, kvo_mute *unused) {
  if (model.absorbed_count == MAX_ABSORBED) fail("the model's table of absorbed changes is too small");
  model.absorbed[model.absorbed_count++] = (absorbed){slot, (int)of, model.life[slot], false};
}

void model_emit(world *in, kvo_mute *unused) { model.absorbed_count--; }

bool model_is_absorbed(int slot, key of) {
  for (int i = model.absorbed_count; i-- > 0;) {
    absorbed *each = &model.absorbed[i];
    if (each->slot != slot || each->key != (int)of || each->life != model.life[slot] || each->used) continue;
    return each->used = true;
  }
  return false;
}

/* ------------------------------------------------------------------------------------------------------------- Pauses -- */

/* The present value of a direct observation's key, ABSENT if there is none. */
static value read_direct(world *in, int number) {
  const char *path = key_paths[in->watches[number].path];
  key of = key_named(path, (int)strlen(path));
  bool has_value = of != IMAGINARY && model_defines(in, in->watches[number].slot, of) && key_infos[of].readable;
  return has_value ? world_read(in, in->watches[number].slot, of) : (value){ABSENT, 0};
}

kvo_status model_pause(world *in, int number) {
  observation *self = &model.observations[number];
  if (!self->live) return KVO_ERROR_NOT_REGISTERED;
  if (self->paused) return KVO_OK;
  self->paused = true;
  self->missed = false;
  if (!self->is_expression) self->kept = read_direct(in, number);
  return KVO_OK;
}

kvo_status model_resume(world *in, int number, bool tell_missed) {
  observation *self = &model.observations[number];
  if (!self->live) return KVO_ERROR_NOT_REGISTERED;
  bool has_missed = self->paused && self->missed;
  self->paused = false;
  if (!has_missed) return KVO_OK;
  if (in->watches[number].binds && tell_missed)
    model_settle_bindings(in, 1u << number);
  else if (self->is_expression && tell_missed)
    model_tell_expression(in, number, NULL, false);
  else if (self->is_expression)
    model_begin_to_follow(in, number, NULL);
  else if (!self->is_expression && tell_missed)
    model_tell(in, number, NULL, false, self->kept, read_direct(in, number));
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------ Postponement -- */

bool model_is_postponed(int number, const frame *of) {
  return model.observations[number].held != 0 || is_left_to_change(number, of);
}

bool model_awaits_change(int number, int dying_life) {
  if (model.observations[number].held != 0) return true;
  for (const frame *each = model.frames; each != NULL; each = each->outer)
    if (each->life != dying_life && model_is_ahead(each, number)) return true;
  return false;
}

bool model_awaits_silent_change(int number) {
  for (int i = 0; i < model.quiet_count; i++) {
    const quiet *each = &model.quiet[i];
    if (each->life == model.life[each->slot] && model_link(number, each->slot, (key)each->key) != NULL) return true;
  }
  return false;
}
