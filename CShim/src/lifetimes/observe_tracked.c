/* observe_tracked.c - registration of observations of expressions. */
#include "changes/settle.h"
#include "lifetimes/lifetimes.h"

#include "platform/settings.h"

/* Makes the kvo_tracked and its anchor, linked and with an id. On failure it frees both. */
static kvo_status observe_tracked_make(kvo_object *object, const kvo_binding_observer *observer, bool keeps_last,
                                       bool is_opaque, kvo_tracked **out) {
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, KVO_KEY_ANCHORS, &status);
  if (info == NULL) return status;
  kvo_tracked *tracked = kvo__alloc(sizeof *tracked);
  if (tracked == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_node *anchor = kvo__node_make(object, KVO_KEY_ANCHORS, observer, KVO_NODE_ANCHOR);
  bool fits =
      anchor != NULL && (!observer->is_binding || kvo__bound_make(anchor, observer->target, observer->target_key));
  if (!fits) {
    if (anchor != NULL) kvo__node_drop(anchor);
    kvo__free(tracked);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  tracked->is_binding = observer->is_binding;
  tracked->is_opaque = is_opaque;
  tracked->object = object;
  tracked->instance = kvo_object_instance(object);
  tracked->root = info;
  tracked->ops = observer->ops;
  tracked->user_data = observer->user_data;
  tracked->options = observer->options;
  bool wants_old = (observer->options & KVO_OLD) != 0, is_of_c = kvo__is_of_c(observer->ops);
  tracked->keeps_last = keeps_last && wants_old;
  tracked->reads_before =
      wants_old && (!keeps_last || (is_of_c && ((const kvo_c_observer *)observer->user_data)->leads_to_nil));
  bool is_path =
      !observer->has_gaps && strchr(observer->key_path, '.') != NULL && strchr(observer->key_path, '@') == NULL;
  tracked->is_checked = is_path && ((observer->options & KVO_OLD) != 0 || kvo__settings.silent_changes);
  atomic_store(&tracked->live, true);
  atomic_store(&tracked->references, 2); /* one for the anchor, one for the caller */
  anchor->user_data = tracked;
  tracked->anchor = anchor;
  tracked->cls = info->cls;
  tracked->thread = kvo__thread_serial();
  /* No change notifies it before it is armed, so its id and order may be set after linking. */
  uint64_t entered = kvo__enter(info);
  status = kvo__node_register(object, anchor, KVO_KEY_ANCHORS, &tracked->id);
  if (status == KVO_OK) {
    tracked->order = kvo__node_order(anchor);
    if (tracked->is_binding) kvo__bound_list(anchor);
  } else {
    kvo__free(tracked);
  }
  kvo__leave(info, entered);
  *out = tracked;
  return status;
}

/* Sends the initial notification, with the value read at registration, unless a change was missed since. */
static void observe_tracked_send_initial(kvo_tracked *tracked, kvo_cell *value) {
  kvo_status status;
  kvo_cell *fresh = atomic_load(&tracked->missed) ? kvo__arm(tracked, NULL, &status, NULL) : NULL;
  kvo__tracked_tell_initial(tracked, fresh != NULL ? fresh : value);
  kvo__node_set_notified(tracked->anchor, false); /* the initial notification is no change */
  kvo__cell_release(tracked, fresh);
}

/* Reports KVO0011 for an expression that no change can notify; as a warning if a change announced by hand can. */
static void warn_if_never_notified(const kvo_object *object, kvo_tracked *tracked,
                                   const kvo_binding_observer *observer) {
  kvo__lock(&tracked->lock);
  const kvo_dependency *only = tracked->dependencies;
  bool live = atomic_load(&tracked->live), reads_nothing = live && only == NULL, by_hand = false;
  if (live && only != NULL && only->to == NULL) {
    kvo_slot *slot = atomic_load_explicit(&only->node.slot, memory_order_relaxed);
    const kvo_property *property = kvo__slot_property(kvo__slot_info(slot), slot);
    by_hand =
        property != NULL &&
        (property->flags & (KVO_PROPERTY_COMPUTED | KVO_PROPERTY_MANUAL | KVO_PROPERTY_TOLD)) == KVO_PROPERTY_COMPUTED;
  }
  kvo__unlock(&tracked->lock);
  if (reads_nothing || by_hand)
    KVO_MISUSE(never_notifies, object, observer->key_path, NULL,
               by_hand ? KVO_SILENCE_BY_HAND : KVO_SILENCE_NOTHING_READ, (kvo_place){observer->file, observer->line});
}

kvo_status kvo_binding_observe_tracked(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                       kvo_observation *out) {
  return kvo__observe_expression(object, observer, keep_last, false, out);
}

kvo_status kvo__observe_expression(kvo_object *object, const kvo_binding_observer *observer, bool keep_last,
                                   bool is_opaque, kvo_observation *out) {
  bool can_evaluate =
      observer != NULL && observer->ops != NULL && observer->ops->evaluate != NULL && observer->ops->release != NULL;
  const char *wrong = !can_evaluate               ? "observer->ops lack evaluate or release"
                      : observer->deliver != NULL ? "observer->deliver is set, but an expression is observed"
                      : (observer->ops->is_here == NULL) != (observer->ops->ask == NULL)
                          ? "observer->ops have one of is_here and ask"
                          : NULL;
  if (!kvo__can_observe(object, observer, out, wrong)) return KVO_ERROR_INVALID_ARGUMENT;
  kvo__warn_of_duplicate(object, observer);
  kvo_tracked *tracked = NULL;
  kvo_status status = observe_tracked_make(object, observer, keep_last, is_opaque, &tracked);
  if (status != KVO_OK) {
    if (observer->ops->abandon != NULL) observer->ops->abandon(observer->user_data);
    return status;
  }
  kvo_cell *value = kvo__arm_once(tracked, NULL, &status, NULL);
  if (status == KVO_ERROR_NOT_REGISTERED)
    status = KVO_OK; /* another thread has ended it meanwhile: it was registered */
  if (status == KVO_OK) {
    kvo__tracked_set_last(tracked, value);
    tracked->is_complete = true;
    bool is_initial = (observer->options & KVO_INITIAL) != 0 && value != NULL;
    kvo_first first = {0};
    if (is_initial && observer->is_binding) first = kvo__settle_first(tracked->anchor);
    atomic_store(&tracked->registered, atomic_load(&kvo__births));
    *out = tracked->id;
    warn_if_never_notified(object, tracked, observer);
    if (is_initial && (first.hold == NULL || first.is_claimed))
      observe_tracked_send_initial(tracked, value);
    else if (is_initial && atomic_load(&tracked->missed)) /* another thread has settled it, but might not tell it */
      kvo__settle_one(tracked->anchor);
    if (is_initial && observer->is_binding) kvo__settle_rest(tracked->anchor, &first);
  } else {
    kvo_cancel_observer(tracked->id);
  }
  kvo__cell_release(tracked, value);
  kvo__tracked_release(tracked);
  return status;
}

/* Nobody frees the struct before it has been retained. */
static void retain(kvo_node *node, void *arg) {
  if (kvo__node_kind(node) != KVO_NODE_ANCHOR) return;
  kvo_tracked **out = arg;
  *out = node->user_data;
  kvo__tracked_retain(*out);
}

static kvo_tracked *observe_tracked_find(kvo_observation observation) {
  kvo_tracked *tracked = NULL;
  return kvo__id_look_up(observation, retain, &tracked) ? tracked : NULL;
}

void kvo_settle(kvo_observation observation) {
  kvo_tracked *tracked = observe_tracked_find(observation);
  if (tracked == NULL) return;
  kvo__tracked_answer(tracked);
  kvo__tracked_release(tracked);
}

void kvo_unsettle(kvo_observation observation) {
  kvo_tracked *tracked = observe_tracked_find(observation);
  if (tracked == NULL) return;
  kvo__tracked_react(tracked, KVO_STORED, NULL);
  kvo__tracked_release(tracked);
}
