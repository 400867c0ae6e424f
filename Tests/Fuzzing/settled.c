/* settled.c - see settled.h. */
#include "settled.h"

#include "model.h"
#include "model_paths.h"
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

/* The value that each observation was told last; ABSENT if it is not known. */
static value last[WATCHES];

int settled_depth(void) {
  const char *limit = getenv("KVO_FUZZ_DEPTH");
  return limit != NULL ? atoi(limit) : 0;
}

/* A set of a manual key, an announcement without a change and a store change a value, or tell nothing new. So does a computed key that does
 * not declare all that it reads. */
void settled_prepare(program *of) {
  for (int i = 0; i < SLOTS; i++) of->shapes[i] &= ~(1 | 8);
  for (int i = 0; i < of->count; i++) {
    operation *each = &of->operations[i];
    bool is_untold = each->code == STORE || each->code == SILENTLY || each->code == WILL || each->code == DID ||
                     each->code == WILL_INDEXES || each->code == PROXY || each->code == PAUSE;
    if (is_untold) each->code = QUERY;
  }
}

void settled_begin(void) { memset(last, 0, sizeof last); }

static bool is_followed(const watch *of) { return of->closure != PATH || strstr(key_paths[of->path], "quiet") == NULL; }

/* False if it cannot be read. */
static bool read_present(world *in, const watch *of, value *out) {
  if (!in->alive[of->slot]) return false;
  if (of->closure == PATH) return model_read(in, NULL, of->slot, key_paths[of->path], out, NULL) == KVO_OK;
  if (of->closure == SETTING) return false; /* to read it would set */
  *out = (value){INTEGER, world_evaluate(in, of->closure, of->slot)};
  return true;
}

void settled_check(world *in) {
  bool told[WATCHES] = {false};
  for (int i = 0; i < in->log.count; i++) {
    const event *each = &in->log.events[i];
    if (each->kind != CALLED || each->prior) continue;
    const watch *as = &in->watches[each->watch];
    value *known = &last[each->watch];
    bool has_both = (as->options & (KVO_OLD | KVO_NEW)) == (KVO_OLD | KVO_NEW);
    bool is_chained = has_both && is_followed(as) && !model_is_direct(in, each->watch) && known->kind != ABSENT;
    if (is_chained && each->before.kind != ABSENT && memcmp(&each->before, known, sizeof *known) != 0)
      fail("observation %d is told %d as the old value, and was told %d before", each->watch, each->before.number,
           known->number);
    *known = each->after;
    told[each->watch] = true;
  }
  /* What refers to a dead object is cleared without telling. */
  bool is_whole = true;
  for (int slot = 0; slot < SLOTS; slot++) is_whole = is_whole && in->alive[slot];
  for (int i = 0; i < in->watch_count && is_whole; i++) {
    value present;
    const watch *as = &in->watches[i];
    bool wants = (as->options & KVO_NEW) != 0 && last[i].kind != ABSENT && is_followed(as);
    if (!told[i] || !wants || !runtime_is_registered(i) || !read_present(in, as, &present)) continue;
    if (memcmp(&present, &last[i], sizeof present) != 0)
      fail("observation %d was told %d last, and its value is %d", i, last[i].number, present.number);
  }
  in->log.count = 0;
}
