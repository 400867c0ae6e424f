/* model_changes.c - see model.h: what a change does. Prior notifications; store; then its observers are settled and told, newest first. */
#include "model_state.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- Who is due -- */

static bool is_new(const world *in, const frame *of, int number) {
  bool has_initial = (in->watches[number].options & KVO_INITIAL) != 0;
  return model.observations[number].registered > of->begun && !has_initial;
}

/* A link is stale if what it read was read before the store, and its observer has not been told of what was read since. So whoever
 * registers during the change with its initial value is told exactly if that value is out of date; whoever registers without one is told of
 * later changes only. */
due model_due(const world *in, const frame *of, int number) {
  const observation *self = &model.observations[number];
  const interest *link = model_link(number, of->slot, (key)of->key);
  if (link == NULL || of->life != model.life[of->slot]) return NOTHING;
  bool is_stale = of->stored == 0 || (link->linked < of->stored && self->known < of->stored);
  bool is_new_here = is_new(in, of, number);
  if (!self->is_expression) return is_stale && !is_new_here ? TELLS : NOTHING;
  if (self->stale) return TELLS;
  /* Elements are told each time: another change does not contain them. */
  bool has_elements = of->kind != KVO_CHANGE_SETTING && self->end.slot == of->slot && self->end.key == of->key;
  if (!is_stale && !(has_elements && link->linked <= of->begun)) return NOTHING;
  return is_new_here ? SETTLES : TELLS;
}

bool model_is_ahead(const frame *of, int number) {
  const interest *link = model_link(number, of->slot, (key)of->key);
  return number < of->cursor && link != NULL && of->life == model.life[of->slot];
}

/* ---------------------------------------------------------------------------------------------------------- Frames -- */

void model_frame(frame *out, int slot, key of, kvo_change_kind kind, int indexes) {
  *out = (frame){.slot = slot, .key = of, .life = model.life[slot], .begun = model.clock, .cursor = WATCHES};
  out->kind = kind;
  out->indexes = indexes;
}

static bool is_observed(const world *in, int slot, key of) {
  for (int i = 0; i < in->watch_count; i++)
    if (model_link(i, slot, of) != NULL) return true;
  return false;
}

static bool wants(const world *in, const frame *of, int option) {
  for (int i = 0; i < in->watch_count; i++)
    if (model_due(in, of, i) == TELLS && !model.observations[i].is_expression && (in->watches[i].options & option) != 0)
      return true;
  return false;
}

value model_present(world *in, const frame *of, value given) {
  if (of->key == IMAGINARY || !model_defines(in, of->slot, (key)of->key)) {
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return (value){ABSENT, 0};
  }
  if (of->kind != KVO_CHANGE_SETTING) return (value){ABSENT, 0};
  return key_infos[of->key].readable ? world_read(in, of->slot, (key)of->key) : given;
}

void model_begin_change(frame *of) {
  of->outer = model.frames;
  model.frames = of;
}

void model_end_change(const frame *of) {
  frame **link = &model.frames;
  while (*link != NULL && *link != of) link = &(*link)->outer;
  if (*link != NULL) *link = of->outer;
}

/* Before the change, oldest first. */
static void will(world *in, frame *of) {
  model_begin_change(of);
  for (int i = 0; i < in->watch_count; i++) {
    const observation *self = &model.observations[i];
    const interest *link = model_link(i, of->slot, (key)of->key);
    bool is_told = link != NULL && link->linked <= of->begun && of->life == model.life[of->slot];
    if (!is_told || (in->watches[i].options & KVO_PRIOR) == 0) continue;
    if (self->is_expression && (self->reading != NULL || model_is_postponed(i, of))) continue;
    bool is_of_elements = of->kind != KVO_CHANGE_SETTING && self->end.slot == of->slot && self->end.key == of->key;
    value before = self->is_expression && !is_of_elements ? self->last : of->before;
    model_tell(in, i, of, true, before, (value){ABSENT, 0});
  }
}

static void tell_direct(world *in, int number, const frame *of) {
  bool wanted = (in->watches[number].options & KVO_NEW) != 0 && of->kind != KVO_CHANGE_REMOVAL;
  value after = wanted && !model.observations[number].paused ? model_present(in, of, of->given) : (value){ABSENT, 0};
  model_tell(in, number, of, false, of->before, after);
}

/* Whoever is due, newest first, each with the present value. */
static void tell(world *in, frame *of) {
  for (int i = in->watch_count - 1; i >= 0; i--) {
    of->cursor = i;
    due what = model_due(in, of, i);
    observation *self = &model.observations[i];
    if (what == NOTHING) continue;
    if (!self->is_expression)
      tell_direct(in, i, of);
    else if (self->reading != NULL)
      self->again = true;
    else if (what == SETTLES)
      model_begin_to_follow(in, i, of);
    else if (model_is_postponed(i, of))
      self->stale = true;
    else
      model_tell_expression(in, i, of, false);
  }
}

static void did(world *in, frame *of) {
  of->stored = model_tick();
  if (model_reaches_bindings(in, of)) {
    int hold = model_begin_hold();
    model_hold_changed(in, of, hold);
    of->cursor = -1; /* the hold tells all of them */
    model_run_bindings(in);
    model_end_scope(in, NULL);
  } else {
    tell(in, of);
  }
  model_end_change(of);
}

/* ---------------------------------------------------------------------------------------------------------- Setters -- */

void model_set(world *in, int slot, key of, int number, bool kept) {
  if (!model_defines(in, slot, of) || !key_infos[of].settable) {
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return;
  }
  int life = model.life[slot];
  if (model_is_absorbed(slot, of)) {
    world_program_sets(in, slot, of, number);
    return;
  }
  if (model_is_silent(slot)) { /* also of a manual key: what reads it follows */
    model_begin_quietly(slot, of);
    world_program_sets(in, slot, of, number);
    model_end_quietly(in, slot, of, life);
    return;
  }
  if (shape_is_manual(in->shapes[slot], of) || !is_observed(in, slot, of)) {
    world_program_sets(in, slot, of, number);
    return;
  }
  frame here;
  model_frame(&here, slot, of, KVO_CHANGE_SETTING, 0);
  int hold = model_hold_begins(in, &here);
  if (hold == 0) {
    if (key_infos[of].readable) here.before = world_read(in, slot, of);
    will(in, &here);
  }
  world_program_sets(in, slot, of, number);
  here.given = value_of(of, number);
  if (hold != 0)
    model_hold_stored(in, &here, hold);
  else
    did(in, &here);
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

static int find_unobserved(int slot, key of) {
  for (int i = model.unobserved_count; i-- > 0;) {
    const unobserved *each = &model.unobserved[i];
    if (each->slot == slot && each->key == (int)of && each->life == model.life[slot]) return i;
  }
  return -1;
}

static bool take_unobserved(int slot, key of, long *begun) {
  int found = find_unobserved(slot, of);
  if (found >= 0) {
    *begun = model.unobserved[found].begun;
    model.unobserved_count--;
    memmove(&model.unobserved[found], &model.unobserved[found + 1],
            (size_t)(model.unobserved_count - found) * sizeof model.unobserved[0]);
    return true;
  }
  if (model.forgotten == 0) return false;
  model.forgotten--; /* it may be of this key */
  *begun = model.forgotten_begun;
  return true;
}

kvo_status model_will_change(world *in, int slot, key of, kvo_change_kind kind, int indexes) {
  if (kind == (kvo_change_kind)0) {
    remember_unobserved(slot, of, false);
    model_fault(in, KVO_FAULT_INVALID_ARGUMENT);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  if (model_is_silent(slot)) {
    model_begin_quietly(slot, of);
    remember_unobserved(slot, of, false);
    return KVO_OK;
  }
  frame held;
  model_frame(&held, slot, of, KVO_CHANGE_SETTING, 0);
  bool observed = is_observed(in, slot, of);
  if (!observed || model_hold_begins(in, &held) != 0) {
    remember_unobserved(slot, of, !observed);
    return KVO_OK;
  }
  pair *made = calloc(1, sizeof *made);
  model_frame(&made->frame, slot, of, kind, indexes);
  made->frame.announced = true;
  made->below = model.pairs;
  model.pairs = made;
  bool is_undefined = of == IMAGINARY || !model_defines(in, slot, of);
  if (kind != KVO_CHANGE_INSERTION && (!is_undefined || wants(in, &made->frame, KVO_OLD)))
    made->frame.before = model_present(in, &made->frame, (value){ABSENT, 0});
  will(in, &made->frame);
  made->open = true;
  return KVO_OK;
}

/* Runs the bindings that have read a key, which is to be the same as their targets have, and leaves a hold open. 0 if there are none. */
static int settle_bindings_of(world *in, int slot, key of) {
  int count = 0;
  for (int i = 0; i < in->watch_count; i++) {
    if (!in->watches[i].binds || model.observations[i].reading != NULL || model_link(i, slot, of) == NULL) continue;
    model_enqueue(in, i);
    count++;
  }
  if (count == 0) return 0;
  int hold = model_begin_hold();
  model_run_bindings(in);
  return hold;
}

/* A did whose will was not passed on. If that was because nobody observed the key, it is a change since then: expressions that were led to
 * the object meanwhile are told. Otherwise they follow, as does whoever has registered since: when the change began is not known. */
static kvo_status follow_present_value(world *in, int slot, key of) {
  kvo_status status = KVO_OK;
  long begun = -1;
  bool was_unobserved = take_unobserved(slot, of, &begun);
  frame here;
  model_frame(&here, slot, of, KVO_CHANGE_SETTING, 0);
  here.begun = begun;
  here.stored = model_tick();
  int hold = was_unobserved ? model_scope_of(slot) : 0;
  bool is_held = hold != 0 && model_hold_knows(hold, slot, of);
  if (is_held) { /* it is as long as the scope knows */
    here.begun = here.stored - 1;
    model_hold_stored(in, &here, hold);
  }
  model_begin_change(&here);
  int settling = is_held || model_is_silent(slot) ? 0 : settle_bindings_of(in, slot, of);
  for (int i = in->watch_count - 1; i >= 0; i--) {
    here.cursor = i;
    observation *self = &model.observations[i];
    if (model_link(i, slot, of) == NULL) continue;
    if (!was_unobserved) status = KVO_ERROR_UNBALANCED;
    if (in->watches[i].binds && settling != 0) continue;
    if (self->reading != NULL) self->again = true;
    if (!self->is_expression || self->reading != NULL || is_held) continue;
    if (begun < 0 && (!self->stale || model_is_silent(slot)))
      model_follow(in, i, slot, of);
    else if (self->registered > begun && !self->stale)
      model_begin_to_follow(in, i, &here);
    else if (model_is_postponed(i, &here))
      self->stale = true;
    else if (self->stale || model_due(in, &here, i) == TELLS)
      model_tell_expression(in, i, &here, false);
  }
  if (settling != 0) model_end_scope(in, NULL);
  model_end_change(&here);
  return status;
}

kvo_status model_did_change(world *in, int slot, key of) {
  pair **link = &model.pairs;
  while (*link != NULL && !((*link)->open && (*link)->frame.slot == slot && (*link)->frame.key == (int)of &&
                            (*link)->frame.life == model.life[slot]))
    link = &(*link)->below;
  pair *found = *link;
  if (found == NULL || (model_is_scoped(slot) && find_unobserved(slot, of) >= 0)) {
    int life = model.life[slot];
    kvo_status status = follow_present_value(in, slot, of);
    model_forget_quiet(slot, of, life);
    return status;
  }
  *link = found->below;
  did(in, &found->frame);
  free(found);
  return KVO_OK;
}
