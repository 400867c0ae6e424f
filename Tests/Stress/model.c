/* model.c - checks the objects and observations that a round has left, while no thread runs, against the fuzzer's model: it gets the same
 * ones, and says what each observation reads, which value it has, how many an object has, and which observers a change notifies. */
#include "model_state.h"
#include "round.h"

#include <string.h>

/* Its observations have the numbers of the watchers. */
static world expected;

static const key stored_keys[] = {VALUE, OTHER, QUIET, NEXT};
enum { STORED_KEYS = sizeof stored_keys / sizeof *stored_keys };

static int slot_of(const node *of) {
  int slot = here.objects;
  while (--slot >= 0 && here.nodes[slot] != of) continue;
  return slot;
}

static int stored_in(const node *of, key key) {
  switch (key) {
    case VALUE: return of->value;
    case OTHER: return of->other;
    case QUIET: return of->quiet;
    default: return slot_of(of->next);
  }
}

static bool is_live(const watcher *of) { return of->ended == 0 && !of->root_died && !of->receiver_ended; }

/* Makes what the round has left in the model, too. */
static void copy_round(void) {
  static const program none;
  model_begin();
  world_begin(&expected, &model_calls, &none);
  for (int slot = 0; slot < here.objects; slot++)
    for (int i = 0; i < STORED_KEYS; i++)
      model_calls.store(&expected, slot, stored_keys[i], stored_in(here.nodes[slot], stored_keys[i]));
  expected.watch_count = here.watcher_count;
  for (int i = 0; i < here.watcher_count; i++) {
    const watcher *each = &here.watchers[i];
    if (!is_live(each)) continue;
    int path = path_named(observed_paths[each->path]);
    expected.watches[i] = (watch){.slot = slot_of(each->root), .path = path, .options = each->options & ~KVO_INITIAL};
    (void)model_calls.add(&expected, i);
    if (kvo_observation_is_paused(each->id)) (void)model_calls.pause(&expected, i);
  }
}

/* The present value of an expression; -1 if there is none. */
static int last_value(const watcher *of) {
  value last = model.observations[of - here.watchers].last;
  return last.kind == INTEGER ? last.number : -1;
}

/* ----------------------------------------------------------------------------------------------------------- Checks -- */

/* How often the keys that it reads have changed, if no object on its path was replaced. */
static int changes_of(const watcher *of) {
  int changes = 0;
  for (int slot = 0; slot < here.objects; slot++)
    for (key key = 0; key < KEYS; key++)
      if (model_link((int)(of - here.watchers), slot, key) != NULL) changes += here.nodes[slot]->changes[key];
  return changes;
}

static void check_stable(const watcher *of) {
  const char *name = observed_paths[of->path];
  if (of->ended != 0) fail("a stable observation of \"%s\" has ended", name);
  bool is_exact = is_single(of->path) || !here.replacing;
  int changes = is_exact ? changes_of(of) : 0, calls = of->calls[false];
  /* What changes while a change or a scope is open that is going to notify of the expression is delivered by that. */
  bool may_merge = !is_single(of->path) && calls > 0 && calls < changes;
  if (is_exact && calls != changes && !may_merge)
    fail("\"%s\" was notified %d times of %d changes", name, calls, changes);
  if (of->delivered != NULL && !here.silencing && !was_delivered(of, last_value(of)))
    fail("\"%s\" was never notified of its last value %d", name, last_value(of));
  if (of->path == O_OTHER && !here.silencing && of->last != of->root->other)
    fail("\"other\" is %d, delivered as %d", of->root->other, of->last);
}

static void check_watcher(const watcher *of) {
  if (of->stable) check_stable(of);
  int ended = is_live(of) ? 0 : 1;
  if (of->destroyed != ended)
    fail("the user data of \"%s\" was destroyed %d times, and has ended %d times", observed_paths[of->path],
         of->destroyed, ended);
  int expected_ends = ended != 0 ? of->asked : 0;
  if (of->ends_notified != expected_ends)
    fail("the end of \"%s\" was delivered %d times, not %d", observed_paths[of->path], of->ends_notified,
         expected_ends);
  if (kvo_observation_is_registered(of->id) != is_live(of))
    fail("\"%s\" is registered: %d", observed_paths[of->path], ended);
}

static void check_count(int slot) {
  model_calls.survey(&expected, slot);
  int count = (int)kvo_object_observation_count(&here.nodes[slot]->header), right = expected.log.events[0].index_count;
  expected.log.count = 0;
  if (count != right) fail("an object has %d observations, and should have %d", count, right);
}

/* How often the model has called each watcher, after a change and before it; valid until the next call. */
static int (*take_calls(void))[2] {
  static int calls[WATCHERS][2];
  memset(calls, 0, sizeof calls);
  for (int i = 0; i < expected.log.count; i++) calls[expected.log.events[i].watch][expected.log.events[i].prior]++;
  expected.log.count = 0;
  return calls;
}

static void change(int slot, key key) {
  node *of = here.nodes[slot];
  switch (key) {
    case VALUE: set_value(of); break;
    case OTHER: set_other(of); break;
    case QUIET: change_quiet(of, NULL); break;
    default: set_next(of, of->next);
  }
  if (key == QUIET) (void)model_calls.will(&expected, slot, key, KVO_CHANGE_SETTING, 0);
  world_set(&expected, slot, key, stored_in(of, key));
  if (key == QUIET) (void)model_calls.did(&expected, slot, key);
}

/* Changes each key of each object once: its observers are notified as those of the model, and no others. */
static void check_deliveries(int slot, key key) {
  static int before[WATCHERS][2];
  for (int i = 0; i < here.watcher_count; i++)
    for (int prior = 0; prior < 2; prior++) before[i][prior] = here.watchers[i].calls[prior];
  change(slot, key);
  int(*right)[2] = take_calls();
  for (int i = 0; i < here.watcher_count; i++) {
    const watcher *each = &here.watchers[i];
    const char *name = observed_paths[each->path];
    for (int prior = 0; prior < 2; prior++)
      if (each->calls[prior] - before[i][prior] != right[i][prior])
        fail("\"%s\" is notified %d times, not %d, %s a change of \"%s\"", name, each->calls[prior] - before[i][prior],
             right[i][prior], prior ? "before" : "after", key_infos[key].name);
    bool gets_value = right[i][false] != 0 && !is_single(each->path) && (each->options & KVO_NEW) != 0;
    if (gets_value && each->last != last_value(each))
      fail("\"%s\" got %d, and has the value %d", name, each->last, last_value(each));
  }
}

/* Each key of each object was changed, so each paused watcher has missed something. */
static void check_resuming(int number) {
  const watcher *of = &here.watchers[number];
  const char *name = observed_paths[of->path];
  if (!kvo_observation_is_paused(of->id)) return;
  bool tell = any(2) == 0;
  int before = of->calls[false];
  (void)model_calls.resume(&expected, number, tell);
  if (kvo_observation_resume(of->id, tell) != KVO_OK) fail("\"%s\" cannot be resumed", name);
  if (kvo_observation_resume(of->id, true) != KVO_OK) fail("\"%s\" cannot be resumed again", name);
  if (of->calls[false] - before != take_calls()[number][false])
    fail("\"%s\" is notified %d times when it is resumed", name, of->calls[false] - before);
}

void round_check(void) {
  copy_round();
  for (int i = 0; i < here.watcher_count; i++) check_watcher(&here.watchers[i]);
  for (int slot = 0; slot < here.objects; slot++) check_count(slot);
  for (int slot = 0; slot < here.objects; slot++)
    for (int i = 0; i < STORED_KEYS; i++) check_deliveries(slot, stored_keys[i]);
  for (int i = 0; i < here.watcher_count; i++) check_resuming(i);
}
