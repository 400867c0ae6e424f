/* model_expressions.c - see model.h: an expression is settled, then told. To settle is to evaluate it, and to link it to what it has read;
 * to tell is to call its observer with the value that it was told last as the old one, and the present value as the new one. */
#include "model_state.h"

#include <string.h>

struct model model;

void model_fault(world *in, kvo_fault_code code) { world_log(in, FAULTED)->status = (int)code; }

/* --------------------------------------------------------------------------------------------------------- Settling -- */

static const interest *find(const interest *all, int count, int slot, key of) {
  for (int i = 0; i < count; i++)
    if (all[i].slot == slot && all[i].key == (int)of) return &all[i];
  return NULL;
}

const interest *model_link(int number, int slot, key of) {
  const observation *self = &model.observations[number];
  if (!self->live) return NULL;
  const interest *found = find(self->links, self->count, slot, of);
  if (found == NULL && self->reading != NULL) found = find(self->reading->all, self->reading->count, slot, of);
  return found;
}

static value evaluate(world *in, int number, reads *into, interest *end, kvo_status *status) {
  const watch *as = &in->watches[number];
  value result = {ABSENT, 0};
  *status = KVO_OK;
  if (as->closure == PATH) {
    *status = model_read(in, into, as->slot, key_paths[as->path], &result, end);
    return result;
  }
  reads *outer = model.recorder;
  model.recorder = into;
  end->slot = -1;
  result = (value){INTEGER, world_compute(in, number)};
  model.recorder = outer;
  return result;
}

value model_read_present(world *in, int number) {
  kvo_status status;
  interest end;
  if (model.observations[number].is_orphaned) return (value){ABSENT, 0};
  return evaluate(in, number, NULL, &end, &status);
}

/* One evaluation. Keys that it has read before keep the time when they were linked. */
static value evaluate_once(world *in, int number, kvo_status *status) {
  observation *self = &model.observations[number];
  reads now = {0};
  interest end = {-1, 0, 0, 0};
  self->reading = &now;
  value result = evaluate(in, number, &now, &end, status);
  self->reading = NULL;
  if (!self->live) return result;
  self->stale = false;
  self->is_orphaned = now.has_met_dead;
  for (int i = 0; i < now.count; i++) {
    const interest *before = find(self->links, self->count, now.all[i].slot, (key)now.all[i].key);
    if (before != NULL) now.all[i].linked = before->linked;
    self->involved |= UINT64_C(1) << model.life[now.all[i].slot] % 64;
  }
  memcpy(self->links, now.all, sizeof now.all);
  self->count = now.count;
  self->end = end;
  return result;
}

/* What is stored during an evaluation that has read it makes another one necessary, once. */
static value evaluate_until_settled(world *in, int number, kvo_status *status) {
  observation *self = &model.observations[number];
  self->again = false;
  value result = evaluate_once(in, number, status);
  if (self->live && self->again) result = evaluate_once(in, number, status);
  self->again = false;
  return result;
}

kvo_status model_first(world *in, int number, value *out) {
  kvo_status status;
  *out = evaluate_until_settled(in, number, &status);
  model.observations[number].last = *out;
  model.observations[number].known = model_tick();
  return status;
}

value model_settle(world *in, int number) {
  kvo_status status;
  value result = evaluate_until_settled(in, number, &status);
  /* The path was valid at its registration. */
  bool is_broken = status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NOT_AN_OBJECT;
  if (is_broken) model_fault(in, KVO_FAULT_UNDEFINED_KEY);
  return result;
}

void model_follow(world *in, int number, int slot, key of) {
  observation *self = &model.observations[number];
  if (self->reading != NULL)
    self->again = true;
  else if (in->watches[number].binds && !model_is_silent(slot))
    model_settle_bindings(in, 1u << number);
  else if (self->end.slot == slot && self->end.key == (int)of)
    return;
  else if (!self->stale || !model_is_postponed(number, NULL))
    (void)model_settle(in, number);
}

void model_begin_to_follow(world *in, int number, const frame *of) {
  observation *self = &model.observations[number];
  value now = model_settle(in, number);
  if (model_is_postponed(number, of)) return;
  self->last = now;
  self->known = model_tick();
}

/* ---------------------------------------------------------------------------------------------------------- Telling -- */

/* Whether it is told with the kind and the indexes of this change. */
static bool is_of_key(const frame *of, int number) {
  const observation *self = &model.observations[number];
  return of != NULL && (!self->is_expression || (self->end.slot == of->slot && self->end.key == of->key));
}

/* Whether it still leads to its end: no other change that is in progress is going to tell it. */
static bool is_led(int number, const frame *of) {
  for (const frame *each = model.frames; each != NULL && model.observations[number].is_expression; each = each->outer)
    if (each != of && model_is_ahead(each, number)) return false;
  return true;
}

void model_tell(world *in, int number, const frame *of, bool prior, value before, value after) {
  const watch *as = &in->watches[number];
  event told = {.kind = CALLED, .watch = number, .slot = as->slot, .prior = prior, .change = KVO_CHANGE_SETTING};
  told.context = as->context;
  told.identity = as->identity;
  told.path = as->path;
  observation *self = &model.observations[number];
  if (!self->live) return;
  if (self->paused) {
    if (!prior) self->missed = true;
    return;
  }
  if ((as->options & KVO_OLD) != 0) told.before = before;
  told.is_late = of != NULL && !self->is_expression && self->registered > of->begun;
  if ((as->options & KVO_NEW) != 0) told.after = after;
  if (is_of_key(of, number) && (!prior || is_led(number, of))) {
    told.change = (int)of->kind;
    told.indexes = of->indexes;
    for (int i = 0; i < 8; i++) told.index_count += of->indexes >> i & 1;
  }
  world_called(in, &told);
}

/* A change at the end of a path is passed on: it leads to no other objects. */
static value pass_on(world *in, const frame *of) {
  return key_infos[of->key].readable ? world_read(in, of->slot, (key)of->key) : of->given;
}

void model_tell_expression(world *in, int number, const frame *of, bool unless_same) {
  observation *self = &model.observations[number];
  bool is_passed_on = !self->stale && is_of_key(of, number) && is_led(number, of);
  value now = is_passed_on ? pass_on(in, of) : model_settle(in, number), before = self->last;
  if (!self->live) return;
  bool is_same = before.kind != ABSENT && memcmp(&before, &now, sizeof now) == 0;
  self->held = 0;
  if (unless_same && is_same) return;
  if (!self->paused) {
    self->last = now;
    self->known = model_tick();
  }
  if (is_of_key(of, number) && of->kind != KVO_CHANGE_SETTING) /* the elements; there are none in this world */
    before = now = (value){ABSENT, 0};
  model_tell(in, number, of, false, before, now);
}
