/* removal.c - removal of observations, by id and by observer and key path. */
#include "changes/settle.h"
#include "lifetimes/lifetimes.h"

#include "platform/settings.h"

/* Whether an observation ends with a token, or in C with kvo_cancel_observer, and is not one of a receiver or a classic one, whose observer
 * is not its own function. */
static bool ends_with_token(const kvo_node *node) {
  if ((node->options & KVO_NODE_OF_RECEIVER) != 0) return false;
  const kvo_node_details *details = kvo__node_details(node);
  return details == NULL || details->address == NULL || kvo__is_of_c(kvo__node_ops(node)) ||
         details->address == kvo__node_user_data(node);
}

/* How an observation is ended: like a token, by a removal that names it, or because its observer is dead. */
typedef enum ending { LIKE_TOKEN, EXPLICIT, BY_DEATH } ending;

/* Ends an observation; if somebody removes it, the log of ended observations notes where. */
static kvo_status cancel(kvo_observation observation, ending how, kvo_place place) {
  /* As usual for the end of a token. */
  if (!kvo_observation_is_registered(observation)) return KVO_ERROR_NOT_REGISTERED;
  /* Because of the mark, kvo__wait_for_deliveries returns on other threads only after `live` is false. Because of the section, no fork
   * takes place before that. */
  kvo__section_enter();
  uint32_t mark = kvo__mark(observation, NULL, NULL, NULL);
  kvo_node *node = kvo__id_claim(observation);
  bool evaluated = node != NULL && kvo__node_kind(node) == KVO_NODE_ANCHOR;
  if (evaluated) kvo__tracked_stop(node->user_data);
  if (node != NULL && how != BY_DEATH)
    KVO_TELL(remember, node, false, place); /* inside the section: see kvo__ended_await */
  kvo__unmark(mark);
  kvo__section_leave();
  if (node == NULL) return KVO_ERROR_NOT_REGISTERED;
  if (kvo__settings.unused && how == LIKE_TOKEN && ends_with_token(node) && !kvo__node_was_notified(node))
    KVO_MISUSE(unused, node, place);
  kvo_info *info = kvo__slot_info(atomic_load_explicit(&node->slot, memory_order_relaxed));
  kvo_observation other = (node->options & KVO_NODE_BINDS) != 0 ? kvo__bound_of(node)->other : 0;
  if (evaluated) kvo__tracked_end(node->user_data);
  if (kvo__is_tapped() && kvo__node_is_own(node)) kvo__hooks.ended(node);
  kvo__node_retire(info, node);
  if (other != 0) cancel(other, how, place);
  return KVO_OK;
}

kvo_status kvo__end_named(kvo_observation observation, kvo_place place) { return cancel(observation, EXPLICIT, place); }

kvo_status kvo_binding_observer_died(kvo_observation observation) {
  return kvo__fail_id(cancel(observation, BY_DEATH, KVO_NOWHERE), "kvo_binding_observer_died", observation);
}

kvo_status kvo_cancel_observer_at(kvo_observation observation, const char *file, uint32_t line) {
  return kvo__fail_id(cancel(observation, LIKE_TOKEN, (kvo_place){file, line}), "kvo_cancel_observer", observation);
}

kvo_status kvo_cancel_observer_and_wait_at(kvo_observation observation, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  kvo_observation all[] = {observation, kvo__bound_other(observation)};
  kvo_status status = cancel(observation, LIKE_TOKEN, place);
  for (size_t i = 0; i < 2 && all[i] != 0; i++) {
    kvo_waited waited = kvo__wait_for_deliveries(all[i]);
    if (waited != KVO_WAITED) KVO_MISUSE(endless_wait, all[i], waited, place);
  }
  return kvo__fail_id(status, "kvo_cancel_observer_and_wait", observation);
}

kvo_status kvo_remove_observer_at(kvo_observation observation, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  kvo_status status = cancel(observation, EXPLICIT, place);
  if (status != KVO_OK) KVO_MISUSE(not_observing, observation, place);
  return kvo__fail_id(status, "kvo_remove_observer", observation);
}

/* ------------------------------------------------------------------------------------------ By observer and key path -- */

/* Matches, newest first; more than fit are dropped. */
typedef struct matches {
  kvo_fault_observation all[4];
  size_t count;
  uint64_t orders[4];
} matches;

static void removal_insert(matches *into, const kvo_fault_observation *match, uint64_t order) {
  enum { MAX = sizeof into->all / sizeof *into->all };
  size_t at = 0;
  while (at < into->count && at < MAX && into->orders[at] > order) at++;
  if (at == MAX) return;
  if (into->count < MAX) into->count++;
  for (size_t i = into->count - 1; i > at; i--) {
    into->all[i] = into->all[i - 1];
    into->orders[i] = into->orders[i - 1];
  }
  into->all[at] = *match;
  into->orders[at] = order;
}

/* The state of a search. */
typedef struct removal_search {
  const kvo_wanted *what;
  matches found;
  size_t in_slot;
} removal_search;

static bool removal_note_match(kvo_node *node, void *arg) {
  removal_search *of = arg;
  enum { MAX = sizeof of->found.all / sizeof *of->found.all };
  if (!atomic_load(&node->live) || (node->options & KVO_NODE_OF_RECEIVER) != 0) return true;
  kvo_fault_observation described;
  kvo__describe_node(node, &described);
  if (described.observer != of->what->address || strcmp(described.key_path, of->what->key_path) != 0) return true;
  if (of->what->match_context && described.context != of->what->context) return true;
  removal_insert(&of->found, &described, kvo__node_order(node));
  return ++of->in_slot < MAX; /* the remaining ones are older */
}

/* Registered observations that match. Those of a key are in the slot of the key, those of expressions in the slot of anchors. The caller is
 * a reader. */
static matches find_matches(kvo_info *info, const kvo_wanted *what) {
  removal_search of = {.what = what};
  kvo_key path = kvo_key_hash(what->key_path, strlen(what->key_path));
  kvo_slot *slots[] = {kvo__slot_find(info, path), kvo__slot_find(info, KVO_KEY_ANCHORS)};
  kvo__lock(&info->lock);
  for (size_t i = 0; i < 2; i++) {
    of.in_slot = 0;
    if (slots[i] != NULL) kvo__slot_visit(info, slots[i], what, removal_note_match, &of);
  }
  kvo__unlock(&info->lock);
  return of.found;
}

/* Whether the matches differ in their contexts, and so are not one registration made several times. */
static bool have_several_contexts(const matches *found) {
  for (size_t i = 1; i < found->count; i++)
    if (found->all[i].context != found->all[0].context) return true;
  return false;
}

kvo_status kvo_binding_remove(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                              void *context, bool match_context, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  if (object == NULL || key_path == NULL || identity == NULL) {
    const char *wrong = object == NULL ? "object is NULL" : key_path == NULL ? "key_path is NULL" : "identity is NULL";
    return kvo__invalid("removal of an observer", wrong, place);
  }
  kvo_wanted what = {identity->address, key_path, context, match_context};
  kvo_info *info = kvo__word_info(kvo__word(object));
  while (info != NULL) {
    uint64_t entered = kvo__enter(info);
    matches found = find_matches(info, &what);
    if (have_several_contexts(&found)) KVO_MISUSE(ambiguous, found.all, found.count, place);
    kvo__leave(info, entered);
    if (found.count == 0) break;
    if (cancel(found.all[0].observation, EXPLICIT, place) == KVO_OK)
      return KVO_OK; /* otherwise another thread has removed it: search again */
  }
  KVO_MISUSE(not_registered, object, identity, key_path, context, match_context, place);
  return kvo__result(KVO_ERROR_NOT_REGISTERED, "removal of an observer", object, key_path);
}

void kvo__find_duplicate(kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                         const void *context, kvo_place place) {
  kvo_wanted what = {identity->address, key_path, context, true};
  kvo_info *info = kvo__word_info(kvo__word(object));
  if (info == NULL) return;
  uint64_t entered = kvo__enter(info);
  matches found = find_matches(info, &what);
  enum { MAX = sizeof found.all / sizeof *found.all };
  if (found.count > 0) KVO_MISUSE(duplicate, found.all, found.count, found.count < MAX, place);
  kvo__leave(info, entered);
}

kvo_status kvo_remove_observer_for_at(kvo_object *object, void *user_data, const char *key_path, const char *file,
                                      uint32_t line) {
  kvo_observer_identity identity = {NULL, user_data};
  return kvo_binding_remove(object, &identity, key_path, NULL, false, file, line);
}

kvo_status kvo_remove_observer_for_context_at(kvo_object *object, void *user_data, const char *key_path, void *context,
                                              const char *file, uint32_t line) {
  kvo_observer_identity identity = {NULL, user_data};
  return kvo_binding_remove(object, &identity, key_path, context, true, file, line);
}

/* -------------------------------------------------------------------------------------- For callers without a place -- */

kvo_status kvo_cancel_observer(kvo_observation observation) { return kvo_cancel_observer_at(observation, NULL, 0); }

kvo_status kvo_cancel_observer_and_wait(kvo_observation observation) {
  return kvo_cancel_observer_and_wait_at(observation, NULL, 0);
}

kvo_status kvo_remove_observer(kvo_observation observation) { return kvo_remove_observer_at(observation, NULL, 0); }

kvo_status kvo_remove_observer_for(kvo_object *object, void *user_data, const char *key_path) {
  return kvo_remove_observer_for_at(object, user_data, key_path, NULL, 0);
}

kvo_status kvo_remove_observer_for_context(kvo_object *object, void *user_data, const char *key_path, void *context) {
  return kvo_remove_observer_for_context_at(object, user_data, key_path, context, NULL, 0);
}
