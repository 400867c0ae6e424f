/* model_life.c - see model.h: beginnings, pauses and ends of observations; objects, and what they store. */
#include "model_state.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------- Registration and removal -- */

static kvo_status add(world *in, int number) {
  const watch *as = &in->watches[number];
  observation *self = &model.observations[number];
  const char *path = key_paths[as->path];
  if (model_check(path) != KVO_OK) {
    model_fault(in, KVO_FAULT_MALFORMED_KEY_PATH);
    return KVO_ERROR_MALFORMED_KEY_PATH;
  }
  bool single = strchr(path, '.') == NULL, initial = (as->options & KVO_INITIAL) != 0;
  key of = key_named(path, (int)strlen(path));
  bool defined = single && model_defines(in, as->slot, of);
  *self = (observation){.involved = UINT64_C(1) << model.life[as->slot] % 64};
  self->registered = ++model.clock;
  if (single && (!defined || shape_affected_by(in->shapes[as->slot], of) == NULL)) {
    if (!defined && initial && (as->options & KVO_NEW) != 0) {
      model_fault(in, KVO_FAULT_UNDEFINED_KEY);
      return KVO_ERROR_UNDEFINED_KEY;
    }
    self->live = true;
    self->count = 1;
    self->heard[0] = (interest){as->slot, of, ++model.clock};
    value now = {ABSENT, 0};
    if (defined && key_infos[of].readable) now = world_read(in, as->slot, of);
    if (initial) model_tell(in, number, NULL, false, (value){ABSENT, 0}, now);
    return KVO_OK;
  }
  value now;
  kvo_status status = model_read(in, NULL, as->slot, path, &now, NULL);
  if (status != KVO_OK && status != KVO_ERROR_NO_GETTER) {
    model_fault(in, KVO_FAULT_UNDEFINED_KEY);
    return status;
  }
  self->live = self->evaluated = true;
  now = model_arm(in, number);
  if (initial) model_tell(in, number, NULL, false, (value){ABSENT, 0}, now);
  return KVO_OK;
}

static kvo_status remove_one(world *in, int number, ending how) {
  observation *self = &model.observations[number];
  bool ends = self->live && how != END_FORGED;
  if (ends) self->live = false;
  if (!ends && (how == END_REMOVE || how == END_FORGED)) model_fault(in, KVO_FAULT_NOT_REGISTERED);
  if (how == END_AND_WAIT && in->running[number] != 0) model_fault(in, KVO_FAULT_ENDLESS_WAIT);
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
  model_fault(in, KVO_FAULT_NOT_REGISTERED);
  return KVO_ERROR_NOT_REGISTERED;
}

/* The present value of a direct observation's key, ABSENT if there is none. */
static value read_direct(world *in, int number) {
  const char *path = key_paths[in->watches[number].path];
  key of = key_named(path, (int)strlen(path));
  bool has_value = of != IMAGINARY && model_defines(in, in->watches[number].slot, of) && key_infos[of].readable;
  return has_value ? world_read(in, in->watches[number].slot, of) : (value){ABSENT, 0};
}

static kvo_status pause_one(world *in, int number) {
  observation *self = &model.observations[number];
  if (!self->live) return KVO_ERROR_NOT_REGISTERED;
  if (self->paused) return KVO_OK;
  self->paused = true;
  self->missed = false;
  self->kept = (value){ABSENT, 0};
  if ((in->watches[number].options & KVO_OLD) != 0)
    self->kept = self->evaluated ? model_arm(in, number) : read_direct(in, number);
  return KVO_OK;
}

static kvo_status resume_one(world *in, int number, bool tell_missed) {
  observation *self = &model.observations[number];
  if (!self->live) return KVO_ERROR_NOT_REGISTERED;
  bool tells = self->paused && self->missed && tell_missed;
  self->paused = false;
  if (!tells) return KVO_OK;
  value before = self->kept, after = self->evaluated ? model_arm(in, number) : read_direct(in, number);
  model_tell(in, number, NULL, false, before, after);
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------------- Death -- */

/* Whether a change in progress is going to notify this observation anyway. */
static bool will_be_told(int number, int dying_life) {
  for (const frame *each = model.frames; each != NULL; each = each->outer)
    if (each->life != dying_life && each->pending[number] && !each->told[number] && model_is_told(each, number))
      return true;
  for (int i = 0; i < model.quiet_count; i++) {
    const quiet *each = &model.quiet[i];
    if (each->life == model.life[each->slot] && model_follows(number, each->slot, each->key, model.clock)) return true;
  }
  return false;
}

static void forget_unobserved(int slot) {
  int kept = 0;
  for (int i = 0; i < model.unobserved_count; i++)
    if (model.unobserved[i].slot != slot) model.unobserved[kept++] = model.unobserved[i];
  model.unobserved_count = kept;
}

/* Promises 14, 16 and 17. */
static void finish(world *in, int slot) {
  forget_unobserved(slot);
  bool watch_called[WATCHES] = {false};
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
        watch_called[i] = true;
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
  model.dying |= 1u << slot;
  for (int i = in->watch_count; i-- > 0;) { /* newest first */
    observation *self = &model.observations[i];
    if (!watch_called[i] || !self->live || will_be_told(i, life)) continue;
    value before = self->last, after = model_arm(in, i);
    model_tell(in, i, NULL, false, before, after);
  }
  model.dying &= ~(1u << slot);
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
  bool is_converted = to.kind == STRING && kind == INTEGER; /* a text of a number */
  if (to.kind == NIL ? kind != OBJECT && kind != STRING : to.kind != kind && !is_converted)
    return KVO_ERROR_TYPE_MISMATCH;
  model_set(in, slot, last, to.kind != NIL ? to.number : kind == OBJECT ? -1 : 0, false);
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

const calls model_calls = {create,
                           finish,
                           seal,
                           load,
                           store,
                           model_set,
                           set_path,
                           get_path,
                           model_will_change,
                           model_did_change,
                           add,
                           remove_one,
                           remove_for,
                           pause_one,
                           resume_one,
                           model_silence,
                           model_speak,
                           survey};
