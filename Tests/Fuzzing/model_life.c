/* model_life.c - see model.h: beginnings and ends of observations, and deaths of objects. */
#include "model_state.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------- Registration and removal -- */

static kvo_status add_direct(world *in, int number, key of) {
  const watch *as = &in->watches[number];
  observation *self = &model.observations[number];
  bool defined = model_defines(in, as->slot, of), initial = (as->options & KVO_INITIAL) != 0;
  if (!defined && initial && (as->options & KVO_NEW) != 0) {
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return KVO_ERROR_UNDEFINED_KEY;
  }
  self->live = true;
  self->count = 1;
  self->links[0] = (interest){as->slot, (int)of, self->registered, self->registered};
  value now = {ABSENT, 0};
  if (defined && key_infos[of].readable) now = world_read(in, as->slot, of);
  if (initial) model_tell(in, number, NULL, false, (value){ABSENT, 0}, now);
  return KVO_OK;
}

bool model_is_direct(const world *in, int number) {
  const watch *as = &in->watches[number];
  const char *path = key_paths[as->path];
  key of = key_named(path, (int)strlen(path));
  bool is_affected = model_defines(in, as->slot, of) && shape_affected_by(in->shapes[as->slot], of) != NULL;
  return as->closure == PATH && strchr(path, '.') == NULL && !is_affected;
}

kvo_status model_add(world *in, int number) {
  const watch *as = &in->watches[number];
  observation *self = &model.observations[number];
  const char *path = key_paths[as->path];
  *self = (observation){.involved = UINT64_C(1) << model.life[as->slot] % 64, .end = {-1, 0, 0, 0}};
  self->registered = self->known = model_tick();
  if (as->closure == PATH) {
    if (model_check(path) != KVO_OK) {
      model_fault(in, KVO_FAULT_MALFORMED_KEY_PATH);
      return KVO_ERROR_MALFORMED_KEY_PATH;
    }
    if (model_is_direct(in, number)) return add_direct(in, number, key_named(path, (int)strlen(path)));
  }
  self->live = self->is_expression = true;
  value now;
  kvo_status status = model_first(in, number, &now);
  if (status != KVO_OK && status != KVO_ERROR_NO_GETTER) {
    self->live = false;
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return status;
  }
  if ((as->options & KVO_INITIAL) != 0) model_tell(in, number, NULL, false, (value){ABSENT, 0}, now);
  return KVO_OK;
}

kvo_status model_remove(world *in, int number, ending how) {
  observation *self = &model.observations[number];
  bool ends = self->live && how != END_FORGED;
  if (ends) self->live = false;
  if (ends && in->watches[number].back != 0) model.observations[in->watches[number].back - 1].live = false;
  if (!ends && (how == END_REMOVE || how == END_FORGED)) model_fault(in, KVO_FAULT_NOT_REGISTERED);
  if (how == END_AND_WAIT && in->running[number] != 0) model_fault(in, KVO_FAULT_ENDLESS_WAIT);
  return ends ? KVO_OK : KVO_ERROR_NOT_REGISTERED;
}

/* The newest one. */
kvo_status model_remove_for(world *in, int slot, int identity, int path, bool with_context, int context) {
  for (int i = in->watch_count - 1; i >= 0; i--) {
    const watch *as = &in->watches[i];
    if (!model.observations[i].live || as->slot != slot || as->identity != identity || as->path != path) continue;
    if (as->closure != PATH || as->binds || (with_context && as->context != context)) continue;
    model.observations[i].live = false;
    return KVO_OK;
  }
  model_fault(in, KVO_FAULT_NOT_REGISTERED);
  return KVO_ERROR_NOT_REGISTERED;
}

/* ------------------------------------------------------------------------------------------------------------- Death -- */

static void forget_unobserved(int slot) {
  int kept = 0;
  for (int i = 0; i < model.unobserved_count; i++)
    if (model.unobserved[i].slot != slot) model.unobserved[kept++] = model.unobserved[i];
  model.unobserved_count = kept;
}

/* Ends the observations of the object; returns those that are not allowed to outlive it, one bit each. */
static unsigned end_own(const world *in, int slot) {
  unsigned left = 0;
  for (int i = 0; i < in->watch_count; i++) {
    observation *self = &model.observations[i];
    bool is_own = in->watches[i].slot == slot || (in->watches[i].binds && in->watches[i].target == slot);
    if (!self->live || !is_own) continue;
    self->live = false;
    if (in->watches[i].binds) continue;
    if ((in->watches[i].options & KVO_ENDS_WITH_OBJECT) == 0) left |= 1u << i;
  }
  return left;
}

static bool drop_links(int number, int slot) {
  observation *self = &model.observations[number];
  int kept = 0, before = self->count;
  for (int i = 0; i < self->count; i++)
    if (self->links[i].slot != slot) self->links[kept++] = self->links[i];
  self->count = kept;
  return self->live && kept < before;
}

/* Whether it is a function of the program that a death does not call. */
static bool is_opaque(const watch *as) { return as->binds && as->closure != PATH; }

/* An expression that has read it is notified, newest first, unless something in progress is going to notify it. */
void model_finish(world *in, int slot) {
  int life = model.life[slot];
  forget_unobserved(slot);
  model_scopes_forget(slot);
  unsigned left = end_own(in, slot);
  bool is_reader[WATCHES];
  for (int i = 0; i < in->watch_count; i++) is_reader[i] = drop_links(i, slot) && !is_opaque(&in->watches[i]);
  model.life[slot] = 0;
  if (left != 0) {
    event *told = world_log(in, FAULTED);
    told->status = KVO_FAULT_DEALLOCATED_WHILE_OBSERVED;
    told->index_count = __builtin_popcount(left);
    told->indexes = told->index_count <= MOST_SINGLE ? (int)left : 0;
  }
  model.dying |= 1u << slot;
  for (int i = in->watch_count; i-- > 0;) {
    observation *self = &model.observations[i];
    if (i >= WATCHES || !is_reader[i] || !self->live) continue;
    if (self->reading != NULL)
      self->again = true;
    else if (model_awaits_change(i, life))
      self->stale = true;
    else if (model_awaits_silent_change(i))
      continue;
    else if (in->watches[i].binds)
      model_settle_bindings(in, 1u << i);
    else
      model_tell_expression(in, i, NULL, false);
  }
  model.dying &= ~(1u << slot);
}

bool model_is_registered(int number) { return model.observations[number].live; }
bool model_is_endless(void) { return model.is_endless; }

bool model_may_keep(int number) {
  for (const pair *each = model.pairs; each != NULL; each = each->below)
    if ((model.observations[number].involved >> each->frame.life % 64 & 1) != 0) return true;
  return false;
}
