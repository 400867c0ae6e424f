/* model.c - checks the invariants while no thread runs: subscriptions, deliveries, destroyed user data. */
#include "world.h"

#include <kvo/kvo_binding.h>

/* ------------------------------------------------------------------------------------------------------ Subscriptions -- */

/* The distinct keys that a path reads: a model of an expression's subscriptions. */
typedef struct reads {
  int count;
  struct {
    const node *of;
    key key;
  } each[8];
} reads;

static void add_read(reads *to, const node *of, key key) {
  for (int i = 0; i < to->count; i++)
    if (to->each[i].of == of && to->each[i].key == key) return;
  to->each[to->count].of = of;
  to->each[to->count++].key = key;
}

/* Reads `next`; NULL for NULL. */
static const node *read_next(reads *to, const node *of) {
  if (of == NULL) return NULL;
  add_read(to, of, NEXT);
  return of->next;
}

static void read_value(reads *to, const node *of) {
  if (of != NULL) add_read(to, of, VALUE);
}

static void read_far(reads *to, const node *of) {
  if (of == NULL) return;
  add_read(to, of, FAR);
  read_value(to, read_next(to, of));
}

static reads reads_of(const watcher *of) {
  reads made = {0};
  switch (of->path) {
    case P_FAR: read_far(&made, of->root); break;
    case P_NEXT_VALUE: read_value(&made, read_next(&made, of->root)); break;
    case P_NEXT_NEXT_VALUE: read_value(&made, read_next(&made, read_next(&made, of->root))); break;
    case P_NEXT_FAR: read_far(&made, read_next(&made, of->root)); break;
    default: add_read(&made, of->root, (key)of->path);
  }
  return made;
}

static bool hears(const watcher *of, const node *changed, key key) {
  reads all = reads_of(of);
  for (int i = 0; i < all.count; i++)
    if (all.each[i].of == changed && all.each[i].key == key) return true;
  return false;
}

int path_value(const watcher *of) {
  const node *at = of->root;
  int steps = of->path == P_FAR || of->path == P_NEXT_VALUE ? 1 : 2;
  while (at != NULL && steps-- > 0) at = at->next;
  return at != NULL ? at->value : -1;
}

static bool is_live(const watcher *of) { return of->ended == 0 && !of->root_died && !of->receiver_ended; }

/* ----------------------------------------------------------------------------------------------------------- Checks -- */

/* How often the keys that it reads have changed, if no object on its path was replaced. */
static int changes_of(const watcher *of) {
  reads all = reads_of(of);
  int changes = 0;
  for (int i = 0; i < all.count; i++) changes += all.each[i].of->changes[all.each[i].key];
  return changes;
}

static void check_stable(const watcher *of) {
  const char *name = path_names[of->path];
  if (of->ended != 0) fail("a stable observation of \"%s\" has ended", name);
  bool is_exact = is_single(of->path) || !here.replacing;
  int changes = is_exact ? changes_of(of) : 0;
  /* What changes while a change or a scope is open that is going to tell the expression is told by that. */
  bool may_merge = !is_single(of->path) && of->calls > 0 && of->calls < changes;
  if (is_exact && of->calls != changes && !may_merge)
    fail("\"%s\" was told %d times of %d changes", name, of->calls, changes);
  if (of->told != NULL && !here.silencing && !was_told(of, path_value(of)))
    fail("\"%s\" was never told its last value %d", name, path_value(of));
  if (of->path == P_MINE && !here.silencing && of->last != of->root->mine)
    fail("\"mine\" is %d, told %d", of->root->mine, of->last);
}

static void check_watcher(const watcher *of) {
  if (of->stable) check_stable(of);
  int ended = is_live(of) ? 0 : 1;
  if (of->destroyed != ended)
    fail("the user data of \"%s\" was destroyed %d times, and has ended %d times", path_names[of->path], of->destroyed,
         ended);
  int told = ended != 0 ? of->asked : 0;
  if (of->end_told != told)
    fail("the end of \"%s\" was told %d times, not %d", path_names[of->path], of->end_told, told);
  if (kvo_observation_is_registered(of->id) != is_live(of))
    fail("\"%s\" is registered: %d", path_names[of->path], ended);
}

static void check_count(const node *of) {
  size_t expected = 0;
  for (int i = 0; i < here.watcher_count; i++) {
    const watcher *each = &here.watchers[i];
    if (!is_live(each)) continue;
    if (!is_single(each->path)) expected += each->root == of; /* its anchor in the root */
    for (key key = 0; key < KEYS; key++) expected += hears(each, of, key);
  }
  if (kvo_object_observation_count(&of->header) != expected)
    fail("an object has %zu observations, and should have %zu", kvo_object_observation_count(&of->header), expected);
}

static void change(node *of, key key) {
  switch (key) {
    case VALUE: set_value(of); return;
    case MINE: set_mine(of); return;
    case QUIET: change_quiet(of, NULL); return;
    default: set_next(of, of->next);
  }
}

/* Changes each key of each object once: its observers are notified once, and no others. */
static void check_deliveries(node *of, key key) {
  static int before[WATCHERS];
  for (int i = 0; i < here.watcher_count; i++) before[i] = here.watchers[i].calls;
  change(of, key);
  for (int i = 0; i < here.watcher_count; i++) {
    const watcher *each = &here.watchers[i];
    bool is_told = is_live(each) && !kvo_observation_is_paused(each->id) && hears(each, of, key);
    int expected = is_told, calls = each->calls - before[i];
    if (calls != expected)
      fail("\"%s\" is told %d times, not %d, of a change of \"%s\"", path_names[each->path], calls, expected,
           key_names[key]);
    if (calls != 0 && each->told != NULL && !was_told(each, path_value(each)))
      fail("\"%s\" is told another value than it has", path_names[each->path]);
  }
}

/* Each key of each object was changed, so each paused watcher has missed something. */
static void check_resuming(const watcher *of) {
  if (!kvo_observation_is_paused(of->id)) return;
  bool tell = any(2) == 0;
  int before = of->calls;
  if (kvo_observation_resume(of->id, tell) != KVO_OK) fail("\"%s\" cannot be resumed", path_names[of->path]);
  if (kvo_observation_resume(of->id, true) != KVO_OK) fail("\"%s\" cannot be resumed again", path_names[of->path]);
  if (of->calls - before != tell)
    fail("\"%s\" is told %d times when it is resumed", path_names[of->path], of->calls - before);
}

void world_check(void) {
  for (int i = 0; i < here.watcher_count; i++) check_watcher(&here.watchers[i]);
  for (int i = 0; i < here.objects; i++) check_count(here.nodes[i]);
  for (int i = 0; i < here.objects; i++)
    for (key key = 0; key < FAR; key++) check_deliveries(here.nodes[i], key);
  for (int i = 0; i < here.watcher_count; i++) check_resuming(&here.watchers[i]);
}
