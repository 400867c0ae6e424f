/* model_paths.c - see model_paths.h. */
#include "model_paths.h"

#include "model_state.h"

#include <string.h>

bool model_defines(const world *in, int slot, key of) { return of < KEYS && shape_defines(in->shapes[slot], of); }

static key split(const char *path, const char **rest) {
  const char *dot = strchr(path, '.');
  *rest = dot != NULL ? dot + 1 : NULL;
  return key_named(path, dot != NULL ? (int)(dot - path) : (int)strlen(path));
}

static void note(const world *in, reads *into, int slot, const char *path);

static bool has(const reads *of, int slot, key wanted) {
  for (int i = 0; i < of->count; i++)
    if (of->all[i].slot == slot && of->all[i].key == (int)wanted) return true;
  return false;
}

void model_note(const world *in, reads *into, int slot, key of) {
  if (has(into, slot, of)) return;
  if (into->count == READS) fail("the model's table of reads is too small");
  long now = model_tick();
  into->all[into->count++] = (interest){slot, of, now, now};
}

/* Reads a key, and the keys that are declared to affect it. */
static void note_key(const world *in, reads *into, int slot, key of) {
  if (has(into, slot, of)) return;
  model_note(in, into, slot, of);
  const char *const *affecting = model_defines(in, slot, of) ? shape_affected_by(in->shapes[slot], of) : NULL;
  for (; affecting != NULL && *affecting != NULL; affecting++) note(in, into, slot, *affecting);
}

static void note(const world *in, reads *into, int slot, const char *path) {
  while (path != NULL && slot >= 0 && in->alive[slot]) {
    key of = split(path, &path);
    note_key(in, into, slot, of);
    if (!model_defines(in, slot, of) || key_infos[of].kind != OBJECT) return;
    slot = in->calls->load((world *)in, slot, of);
    if (slot >= 0 && !in->alive[slot]) into->has_met_dead = true;
  }
}

kvo_status model_walk(world *in, reads *into, int *slot, const char *path, key *last) {
  for (;;) {
    if (into != NULL && *slot >= 0 && !in->alive[*slot]) into->has_met_dead = true;
    if (*slot >= 0 && !in->alive[*slot]) *slot = -1;
    if (*slot < 0) return KVO_OK;
    *last = split(path, &path);
    if (into != NULL) note_key(in, into, *slot, *last);
    if (!model_defines(in, *slot, *last)) return KVO_ERROR_UNDEFINED_KEY;
    if (path == NULL) return KVO_OK;
    if (!key_infos[*last].readable) return KVO_ERROR_NO_GETTER;
    if (key_infos[*last].kind != OBJECT) return KVO_ERROR_NOT_AN_OBJECT;
    *slot = in->calls->load(in, *slot, *last);
  }
}

kvo_status model_check(const char *path) {
  bool malformed = path[0] == '.' || path[0] == '\0' || path[strlen(path) - 1] == '.' || strstr(path, "..") != NULL;
  return malformed ? KVO_ERROR_MALFORMED_KEY_PATH : KVO_OK;
}

/* Whether this key of this object is an intermediate one of a path. */
static bool leads_through(world *in, int slot, const char *path, int key_slot, key wanted) {
  for (key each = split(path, &path); path != NULL; each = split(path, &path)) {
    if (slot == key_slot && each == wanted) return true;
    slot = in->calls->load(in, slot, each);
  }
  return false;
}

kvo_status model_read(world *in, reads *into, int slot, const char *path, value *out, interest *end) {
  key last;
  int root = slot;
  *out = (value){ABSENT, 0};
  if (end != NULL) end->slot = -1;
  kvo_status status = model_walk(in, into, &slot, path, &last);
  if (status != KVO_OK) return status;
  if (end != NULL && slot >= 0 && shape_affected_by(in->shapes[slot], last) == NULL &&
      !leads_through(in, root, path, slot, last))
    *end = (interest){slot, last, 0, 0};
  if (slot >= 0 && !key_infos[last].readable) return KVO_ERROR_NO_GETTER;
  *out = slot >= 0 ? world_read(in, slot, last) : (value){NIL, 0};
  return KVO_OK;
}
