/* watchers.c - observations with checks that are possible while the threads run. */
#include "round.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------- What was delivered -- */

bool was_delivered(const watcher *of, int value) {
  return (atomic_load(&of->delivered[(value + 1) / 32]) >> (value + 1) % 32 & 1) != 0;
}

static void note_delivered(watcher *of, int value) {
  of->last = value;
  if (of->delivered != NULL) atomic_fetch_or(&of->delivered[(value + 1) / 32], 1u << (value + 1) % 32);
}

/* Only one thread sets it, and not in a callback: so each change is delivered once and in order, apart from its scopes. */
static void check_mine(watcher *of, const kvo_change *change) {
  int old_value = *(const int *)change->old_value->bytes, new_value = *(const int *)change->new_value->bytes;
  int last = atomic_load(&of->last);
  bool continues = here.silencing ? old_value >= last : old_value == last;
  if (!continues || (here.coalescing ? new_value <= old_value : new_value != old_value + 1))
    fail("a key that one thread sets is delivered as %d -> %d after %d", old_value, new_value, last);
}

static void check_call(watcher *of, kvo_observation id) {
  if (atomic_load(&of->fenced)) fail("\"%s\" is notified after a wait for it was over", observed_paths[of->path]);
  if (atomic_load(&of->destroyed)) fail("\"%s\" is notified after its destruction", observed_paths[of->path]);
  kvo_observation none = 0;
  if (!atomic_compare_exchange_strong(&of->id, &none, id) && none != id)
    fail("\"%s\" is notified with another id", observed_paths[of->path]);
  maybe_pause();
}

static void end_call(watcher *of) {
  act_in_callback();
  if (atomic_load(&of->fenced)) fail("a wait for \"%s\" ended while it ran", observed_paths[of->path]);
  if (*of->body != (int)of->path) fail("the user data is overwritten");
}

static void called(const kvo_change *change, void *user_data) {
  watcher *of = user_data;
  check_call(of, change->observation);
  atomic_fetch_add(&of->calls[change->is_prior], 1);
  if (!change->is_prior && of->stable && of->path == O_OTHER) check_mine(of, change);
  if (change->new_value != NULL && of->path != O_NEXT)
    note_delivered(of, change->new_value->bytes != NULL ? *(const int *)change->new_value->bytes : -1);
  end_call(of);
}

static void receiver_called(const kvo_raw_change *change, void *user_data) {
  watcher *of = user_data;
  check_call(of, change->observation);
  atomic_fetch_add(&of->calls[change->is_prior], 1);
  end_call(of);
}

static void destroyed(void *user_data) {
  watcher *of = user_data;
  if (atomic_fetch_add(&of->destroyed, 1) != 0)
    fail("the user data of \"%s\" is destroyed twice", observed_paths[of->path]);
  free(of->body);
  if (of->death != 0) (void)kvo_cancel_observer(of->death);
  maybe_pause();
  /* No lock is held: it may look up, set and register. */
  act_in_callback();
}

/* ------------------------------------------------------------------------------------------------- Beginning and end -- */

static void ends_notified(kvo_end end, void *arg) {
  watcher *of = arg;
  if (of->destroyed != 1) fail("the end of \"%s\" is delivered before its destruction", observed_paths[of->path]);
  atomic_fetch_add(&of->ends_notified, 1);
  act_in_callback();
}

static void ask_for_end(watcher *of) {
  for (uint32_t i = any(3); i > 0; i--)
    if (kvo_observation_on_end(of->id, ends_notified, of) == KVO_OK) atomic_fetch_add(&of->asked, 1);
}

static watcher *make(node *root, observed of, int options, bool stable) {
  int number = atomic_load(&here.watcher_count);
  do
    if (number == WATCHERS) return NULL;
  while (!atomic_compare_exchange_weak(&here.watcher_count, &number, number + 1));
  watcher *made = &here.watchers[number];
  made->root = root;
  made->path = of;
  made->options = options | KVO_ENDS_WITH_OBJECT;
  made->stable = stable;
  made->body = malloc(sizeof *made->body);
  *made->body = (int)of;
  made->last = atomic_load(&root->other);
  if (stable && of >= O_FAR) made->delivered = calloc(VALUES / 32 + 64, sizeof *made->delivered);
  return made;
}

watcher *observe(node *root, observed of, int options, bool stable) {
  watcher *made = make(root, of, options, stable);
  if (made == NULL) return NULL;
  kvo_observer described = {.struct_size = sizeof described,
                            .key_path = observed_paths[of],
                            .options = (kvo_options)made->options,
                            .callback = called,
                            .user_data = made,
                            .destroy = destroyed,
                            KVO_HERE};
  kvo_observation id;
  kvo_status status = kvo_add_observer(&root->header, &described, &id);
  if (status != KVO_OK) fail("no observation: %s", kvo_status_string(status));
  atomic_store(&made->id, id);
  if (!stable) ask_for_end(made);
  return made;
}

/* Called once: when the receiver dies, or when the observation has ended before. */
static void receiver_died(void *user_data) {
  watcher *of = user_data;
  atomic_fetch_add(&of->watches_ended, 1);
  (void)kvo_cancel_observer(of->id);
}

watcher *observe_for(node *receiver, node *root, observed of, int options) {
  static const kvo_observer_ops ops = {.callback = receiver_called, .destroy = destroyed};
  static const kvo_observer_ops death_ops = {.destroy = receiver_died};
  watcher *made = make(root, of, options & ~KVO_INITIAL, false);
  if (made == NULL) return NULL;
  kvo_binding_observer described = {.key_path = observed_paths[of],
                                    .options = (kvo_options)made->options,
                                    .ops = &ops,
                                    .user_data = made,
                                    .identity = {"Receiver", receiver},
                                    .note = "on a thread",
                                    .is_receiver = true};
  kvo_observation id, death;
  kvo_key key = kvo_key_hash(observed_paths[of], strlen(observed_paths[of]));
  kvo_status status = kvo_binding_observe_key(&root->header, key, &described, &id);
  if (status != KVO_OK) fail("no observation of a receiver: %s", kvo_status_string(status));
  atomic_store(&made->id, id);
  atomic_fetch_add(&made->watches, 1);
  status = kvo_binding_observe_death(&receiver->header, &death_ops, made, &death);
  if (status != KVO_OK) fail("no watch of a death: %s", kvo_status_string(status));
  atomic_store(&made->death, death);
  if (made->destroyed) (void)kvo_cancel_observer(death);
  ask_for_end(made);
  return made;
}

void end_watch(watcher *of, bool wait) {
  kvo_observation id = atomic_load(&of->id);
  me.unwaited = false;
  kvo_status status = wait ? kvo_cancel_observer_and_wait(id) : kvo_cancel_observer(id);
  bool waited = wait && !me.unwaited;
  if (status == KVO_OK && atomic_fetch_add(&of->ended, 1) != 0)
    fail("\"%s\" was ended twice", observed_paths[of->path]);
  if (waited) atomic_store(&of->fenced, 1);
}
