/* model_bindings.c - see model.h: bindings settle before anybody is told. They run in the order of their heights, each at most once unless
 * what it has read changes again; then the observers of everything that has changed are told, once. */
#include "model_state.h"

#include <string.h>

enum { MAX_ROUNDS = 100 };

/* Whether a binding is of a property that the other one sets. */
static bool answers(const world *in, int number, int other) {
  const observation *self = &model.observations[number];
  const watch *as = &in->watches[other];
  return in->watches[number].closure == PATH && self->count == 1 && self->links[0].slot == as->target &&
         self->links[0].key == (int)as->target_key;
}

/* A property that no binding sets has the height 0. Neither direction of a two-way binding is above the other. */
static int height_of(const world *in, int number, int slot, key of) {
  int height = 0;
  for (int i = 0; i < in->watch_count; i++) {
    const watch *each = &in->watches[i];
    const observation *self = &model.observations[i];
    bool sets = self->live && each->binds && each->target == slot && each->target_key == of;
    if (sets && !answers(in, i, number) && self->height > height) height = self->height;
  }
  return height;
}

static int bindings_of(const world *in) {
  int count = 0;
  for (int i = 0; i < in->watch_count; i++) count += in->watches[i].binds && model.observations[i].live;
  return count;
}

bool model_reaches_bindings(const world *in, const frame *of) {
  for (int i = 0; i < in->watch_count; i++)
    if (in->watches[i].binds && model.observations[i].held == 0 && model_due(in, of, i) != NOTHING) return true;
  return false;
}

void model_enqueue(const world *in, int number) { model.observations[number].queued = true; }

static int take_lowest(const world *in) {
  int lowest = -1;
  for (int i = 0; i < in->watch_count; i++) {
    const observation *self = &model.observations[i];
    if (self->live && self->queued && (lowest < 0 || self->height < model.observations[lowest].height)) lowest = i;
  }
  if (lowest >= 0) model.observations[lowest].queued = false;
  return lowest;
}

/* Whether it has read what a queued binding is going to set. */
static bool is_too_early(const world *in, int number) {
  const observation *self = &model.observations[number];
  for (int i = 0; i < in->watch_count; i++)
    if (i != number && model.observations[i].live && model.observations[i].queued && !answers(in, i, number) &&
        model_link(number, in->watches[i].target, in->watches[i].target_key) != NULL)
      return self->height <= bindings_of(in); /* in a cycle each is too early */
  return false;
}

/* Puts it back into the queue if it has, or is about to: what it reads may be set by a binding that is queued only when others have run. */
static bool waits(const world *in, int number, bool has_run) {
  observation *self = &model.observations[number];
  int height = 0;
  for (int i = 0; i < self->count; i++) {
    int read = height_of(in, number, self->links[i].slot, (key)self->links[i].key);
    if (read > height) height = read;
  }
  bool is_too_low = !has_run && height >= self->height && height < bindings_of(in);
  self->height = height + 1;
  return self->queued = is_too_low || is_too_early(in, number);
}

static void run(world *in, int number) {
  observation *self = &model.observations[number];
  const watch *as = &in->watches[number];
  if (waits(in, number, false)) return;
  if (++self->rounds > MAX_ROUNDS) model.is_endless = true;
  if (model.is_endless) return;
  value now = model_settle(in, number);
  self->known = model_tick();
  if (self->paused) self->missed = true;
  if (!self->live || self->paused || waits(in, number, true)) return;
  bool can_set = in->alive[as->target] && model_defines(in, as->target, as->target_key);
  value present = can_set ? world_read(in, as->target, as->target_key) : now;
  bool is_same = memcmp(&present, &now, sizeof now) == 0;
  self->last = now;
  if (is_same || now.kind == ABSENT) return;
  if (now.kind == INTEGER || now.kind == STRING) /* a text of a number */
    world_set(in, as->target, as->target_key, now.number);
  else
    model_fault(in, KVO_FAULT_TYPE_MISMATCH);
}

void model_run_bindings(world *in) {
  for (int next = take_lowest(in); next >= 0; next = take_lowest(in)) run(in, next);
  for (int i = 0; i < in->watch_count; i++) model.observations[i].rounds = 0;
}

void model_settle_bindings(world *in, unsigned which) {
  for (int i = 0; i < in->watch_count; i++)
    if ((which >> i & 1) != 0) model_enqueue(in, i);
  model_begin_hold();
  model_run_bindings(in);
  model_end_scope(in, NULL);
}

static kvo_status check(world *in, const watch *as) {
  const char *path = key_paths[as->path];
  value now;
  if (!model_defines(in, as->target, as->target_key)) return KVO_ERROR_UNDEFINED_KEY;
  kvo_status status = as->closure == PATH ? model_check(path) : KVO_OK;
  if (status == KVO_OK && as->closure == PATH) status = model_read(in, NULL, as->slot, path, &now, NULL);
  return status == KVO_ERROR_NO_GETTER ? KVO_OK : status;
}

/* Registers one direction. */
static void bind_one(world *in, int number) {
  const watch *as = &in->watches[number];
  observation *self = &model.observations[number];
  *self = (observation){.involved = UINT64_C(1) << model.life[as->slot] % 64, .end = {-1, 0, 0, 0}};
  self->registered = self->known = model_tick();
  self->live = self->is_expression = true;
  model_settle_bindings(in, 1u << number);
}

kvo_status model_bind(world *in, int number) {
  int first = in->watches[number].back - 1;
  kvo_status status = check(in, &in->watches[number]);
  if (status == KVO_OK && first >= 0) status = check(in, &in->watches[first]);
  if (status != KVO_OK) return status;
  if (first >= 0) bind_one(in, first);
  bind_one(in, number);
  return KVO_OK;
}
