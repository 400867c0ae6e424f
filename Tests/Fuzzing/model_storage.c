/* model_storage.c - see model.h: objects of the model, what they store, and key-value coding. */
#include "model_state.h"

#include <stdlib.h>
#include <string.h>

static int storage[SLOTS][KEYS];

static void create(world *in, int slot) {
  model.life[slot] = ++model.lives;
  memset(storage[slot], 0, sizeof storage[slot]);
  storage[slot][NEXT] = storage[slot][OWNED] = -1;
}

static void seal(world *in, int slot) {}

static int load(world *in, int slot, key of) { return storage[slot][of]; }

static int get(world *in, int slot, key of) {
  if (model.recorder != NULL) model_note(in, model.recorder, slot, of);
  return load(in, slot, of);
}

static void store(world *in, int slot, key of, int number) { storage[slot][of] = number; }

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

/* The observation of an object that was registered next after that time, or -1. */
static int next_of(const world *in, int slot, long time) {
  int next = -1;
  for (int i = 0; i < in->watch_count; i++) {
    const observation *self = &model.observations[i];
    bool is_listed = self->live && in->watches[i].known && in->watches[i].slot == slot;
    if (is_listed && self->registered > time && (next < 0 || self->registered < model.observations[next].registered))
      next = i;
  }
  return next;
}

/* An observation counts once, and once more for each key that its evaluation has read. An expression that is held need not have the links
 * of what it would read now, so in a scope nothing is counted. */
static void survey(world *in, int slot) {
  int count = 0;
  for (int i = 0; i < in->watch_count; i++) {
    const observation *self = &model.observations[i];
    if (!self->live) continue;
    if (self->is_expression && in->watches[i].slot == slot && !model_is_direct(in, i)) count++;
    for (key of = 0; of <= KEYS; of++) count += model_link(i, slot, of) != NULL;
  }
  event *counted = world_log(in, COUNTED);
  counted->slot = slot;
  counted->index_count = in->scopes == 0 ? count : 0;
  for (int i = next_of(in, slot, -1); i >= 0; i = next_of(in, slot, model.observations[i].registered)) {
    event *listed = world_log(in, LISTED);
    listed->slot = slot;
    listed->watch = i;
  }
}

void model_begin(void) { memset(&model, 0, offsetof(struct model, scopes)); }

void model_end(void) {
  while (model.pairs != NULL) {
    pair *last = model.pairs;
    model.pairs = last->below;
    free(last);
  }
}

const calls model_calls = {
    .create = create,
    .finish = model_finish,
    .seal = seal,
    .load = load,
    .get = get,
    .store = store,
    .set = model_set,
    .set_path = set_path,
    .get_path = get_path,
    .will = model_will_change,
    .did = model_did_change,
    .add = model_add,
    .bind = model_bind,
    .remove = model_remove,
    .remove_for = model_remove_for,
    .pause = model_pause,
    .resume = model_resume,
    .begin_scope = model_begin_scope,
    .end_scope = model_end_scope,
    .absorb = model_absorb,
    .emit = model_emit,
    .survey = survey,
};
