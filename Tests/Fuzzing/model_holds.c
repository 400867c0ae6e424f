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
static int scope_of(int slot) {
  for (int i = 0; i < model.scope_count; i++) {
    const scope *each = &model.scopes[i];
    if (each->kind != KVO_SCOPE_SILENCES && !each->ending && covers(each, slot)) return i + 1;
  }
  return 0;
}

bool model_is_scoped(int slot) { return model_is_silent(slot) || scope_of(slot) != 0; }

static held_change *find(scope *in, int slot, key of) {
  for (int i = 0; i < in->held_count; i++) {
    held_change *each = &in->held[i];
    if (each->slot == slot && each->key == (int)of && each->life == model.life[slot]) return each;
  }
  return NULL;
}

static held_change *find_or_make(world *in, scope *of, int slot, key changed) {
  held_change *found = find(of, slot, changed);
  if (found != NULL) return found;
  if (of->held_count == MAX_HELD) fail("the model's table of held changes is too small");
  found = &of->held[of->held_count++];
  *found = (held_change){.slot = slot, .key = (int)changed, .life = model.life[slot]};
  bool wants_old = false;
  for (int i = 0; i < in->watch_count; i++)
    wants_old |= model_link(i, slot, changed) != NULL && !model.observations[i].is_expression &&
                 (in->watches[i].options & KVO_OLD) != 0;
  frame here = {.slot = slot, .key = (int)changed, .kind = KVO_CHANGE_SETTING};
  if (wants_old || model_defines(in, slot, changed)) found->before = model_present(in, &here, (value){ABSENT, 0});
  return found;
}

/* An expression is told once, at the end of the outermost scope in which something that it reads has changed. */
static void hold(int number, int scope) {
  observation *self = &model.observations[number];
  if (self->held == 0) self->held_prior = false;
  if (self->held == 0 || self->held > scope) self->held = scope;
}

static void hold_readers(const world *in, int slot, key of, int scope, long stored) {
  for (int i = 0; i < in->watch_count; i++) {
    const interest *link = model_link(i, slot, of);
    observation *self = &model.observations[i];
    if (link == NULL || !self->is_expression || link->linked >= stored || self->known >= stored) continue;
    if (self->reading != NULL)
      self->again = true;
    else
      hold(i, scope);
  }
}

bool model_scope_begins(world *in, int slot, key of) {
  int number = scope_of(slot);
  if (number == 0) return false;
  scope *self = &model.scopes[number - 1];
  held_change *here = find_or_make(in, self, slot, of);
  long begun = model.clock;
  hold_readers(in, slot, of, number, begun + 1);
  frame none = {.slot = slot, .key = (int)of, .kind = KVO_CHANGE_SETTING};
  for (int i = 0; i < in->watch_count && here->life == model.life[slot]; i++) { /* once in the scope, oldest first */
    observation *each = &model.observations[i];
    const interest *link = model_link(i, slot, of);
    if (link == NULL || link->linked > begun || each->reading != NULL) continue;
    bool *told = each->is_expression ? &each->held_prior : &here->prior[i];
    if (*told) continue;
    *told = true;
    if ((in->watches[i].options & KVO_PRIOR) == 0) continue;
    value before = each->is_expression ? each->last : here->before;
    model_tell(in, i, &none, true, before, (value){ABSENT, 0});
  }
  if (here->stored <= begun) here->stored = begun + 1; /* also if the setter refuses */
  return true;
}

bool model_scope_stored(world *in, int slot, key of) {
  int number = scope_of(slot);
  held_change *here = number != 0 ? find(&model.scopes[number - 1], slot, of) : NULL;
  if (here == NULL) return false;
  here->stored = model_tick();
  hold_readers(in, slot, of, number, here->stored);
  return true;
}

void model_scopes_forget(int slot) {
  for (int i = 0; i < model.scope_count; i++) model.scopes[i].lives[slot] = -1;
}

static void tell_direct(world *in, int number, const held_change *of, bool is_same) {
  frame here = {.slot = of->slot, .key = of->key, .kind = KVO_CHANGE_SETTING};
  observation *self = &model.observations[number];
  bool is_due = model_link(number, of->slot, (key)of->key)->linked < of->stored && !is_same;
  if (!is_due) return;
  bool wants_new = (in->watches[number].options & KVO_NEW) != 0 && !self->paused;
  value after = wants_new ? model_present(in, &here, (value){ABSENT, 0}) : (value){ABSENT, 0};
  model_tell(in, number, &here, false, of->before, after);
}

/* In the order of the first changes; for each key newest first. */
static void tell_held(world *in, int number, scope *of) {
  bool compares = of->kind == KVO_SCOPE_COALESCES_IF_CHANGED;
  for (int at = 0; at < of->held_count; at++) {
    held_change *each = &of->held[at];
    bool is_known = each->before.kind != ABSENT && each->life == model.life[each->slot];
    value now = is_known ? world_read(in, each->slot, (key)each->key) : (value){ABSENT, 0};
    bool is_same = compares && is_known && memcmp(&now, &each->before, sizeof now) == 0;
    for (int i = in->watch_count - 1; i >= 0; i--) {
      if (each->life != model.life[each->slot] || model_link(i, each->slot, (key)each->key) == NULL) continue;
      if (!model.observations[i].is_expression)
        tell_direct(in, i, each, is_same);
      else if (model.observations[i].held == number)
        model_tell_expression(in, i, NULL, compares);
    }
  }
  for (int i = in->watch_count - 1; i >= 0; i--) /* what they read has changed since */
    if (model.observations[i].live && model.observations[i].held == number)
      model_tell_expression(in, i, NULL, compares);
}

void model_begin_scope(world *in, kvo_scope_kind kind, int slots, kvo_scope *unused) {
  (void)in, (void)unused;
  scope *made = &model.scopes[model.scope_count++];
  *made = (scope){.kind = kind};
  for (int slot = 0; slot < SLOTS; slot++) made->lives[slot] = (slots >> slot & 1) != 0 ? model.life[slot] : -1;
}

void model_end_scope(world *in, kvo_scope *unused) {
  (void)unused;
  scope *last = &model.scopes[model.scope_count - 1];
  last->ending = true;
  if (last->kind == KVO_SCOPE_SILENCES)
    end_silence();
  else
    tell_held(in, model.scope_count, last);
  model.scope_count--;
}

/* ----------------------------------------------------------------------------------------------------------- Proxies -- */

void model_absorb(world *in, int slot, key of, kvo_mute *unused) {
  (void)in, (void)unused;
  if (model.absorbed_count == MAX_ABSORBED) fail("the model's table of absorbed changes is too small");
  model.absorbed[model.absorbed_count++] = (absorbed){slot, (int)of, model.life[slot], false};
}

void model_emit(world *in, kvo_mute *unused) {
  (void)in, (void)unused;
  model.absorbed_count--;
}

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
  bool tells = self->paused && self->missed && tell_missed;
  self->paused = false;
  if (!tells) return KVO_OK;
  if (self->is_expression)
    model_tell_expression(in, number, NULL, false);
  else
    model_tell(in, number, NULL, false, self->kept, read_direct(in, number));
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------------- Deaths -- */

bool model_will_be_told(const world *in, int number, int dying_life) {
  if (model.observations[number].held != 0) return true;
  for (const frame *each = model.frames; each != NULL; each = each->outer)
    if (each->life != dying_life && model_is_ahead(in, each, number)) return true;
  for (int i = 0; i < model.quiet_count; i++) {
    const quiet *each = &model.quiet[i];
    if (each->life == model.life[each->slot] && model_link(number, each->slot, (key)each->key) != NULL) return true;
  }
  return false;
}
