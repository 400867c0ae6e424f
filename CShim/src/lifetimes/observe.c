/* observe.c - registration of observations of one key. For expressions: observe_tracked.c; for C programs: api/c_observer.c. */
#include "changes/settle.h"
#include "lifetimes/lifetimes.h"

#include "platform/settings.h"

/* Sends the initial notification of a direct observation. The caller is a reader, so the node is not freed. */
static void observe_send_initial(kvo_info *info, kvo_node *node) {
  const kvo_property *property = kvo__slot_property(info, atomic_load_explicit(&node->slot, memory_order_relaxed));
  kvo_raw_change record = {
      .object = info->object,
      .instance = kvo__info_instance(info),
      .changed = info->object,
      .property = property,
      .kind = KVO_CHANGE_SETTING,
      .observation = node->id,
  };
  void *value = NULL;
  if ((node->options & KVO_NEW) != 0 && property != NULL) {
    void *recorder = kvo__recording_suspend(); /* a getter may register: what it tells is not read for its value */
    value = kvo__property_copy(property, info->object, NULL);
    kvo__recording_resume(recorder);
  }
  record.new_value = value;
  kvo__call_direct(&record, node);
  kvo__property_release(property, value);
}

/* Tokens of a binding have no address; no two of them are equal, nor are two closures of one receiver. */
void kvo__warn_of_duplicate(kvo_object *object, const kvo_binding_observer *observer) {
  if (kvo__settings.duplicates && observer->identity.address != NULL && !observer->is_receiver)
    kvo__find_duplicate(object, &observer->identity, observer->key_path, observer->context,
                        (kvo_place){observer->file, observer->line});
}

static kvo_status observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                              kvo_observation *out) {
  kvo__warn_of_duplicate(object, observer);
  kvo_node *node = kvo__node_make(object, key, observer, KVO_NODE_DIRECT);
  if (node == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  if (observer->is_binding && !kvo__bound_make(node, observer->target, observer->target_key)) {
    kvo__node_drop(node);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  bool is_initial = (observer->options & KVO_INITIAL) != 0;
  if (!is_initial && !observer->is_binding) return kvo__node_register(object, node, key, out);
  /* As a reader, because the initial callback may remove its own observation, and another thread that of a binding. */
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  if (info == NULL) {
    kvo__node_drop(node);
    return status;
  }
  uint64_t entered = kvo__enter(info);
  status = kvo__node_register(object, node, key, out);
  if (status == KVO_OK && observer->is_binding) kvo__bound_list(node);
  if (status == KVO_OK && is_initial) {
    kvo_first first = {0};
    if (observer->is_binding) first = kvo__settle_first(node);
    if (first.hold == NULL || first.is_claimed) observe_send_initial(info, node);
    if (observer->is_binding) kvo__settle_rest(node, &first);
    kvo__node_set_notified(node, false); /* the initial notification is no change */
  }
  kvo__leave(info, entered);
  return status;
}

bool kvo__can_observe(const kvo_object *object, const kvo_binding_observer *observer, const kvo_observation *out,
                      const char *also_wrong) {
  const char *wrong = object == NULL                                                 ? "object is NULL"
                      : out == NULL                                                  ? "out is NULL"
                      : observer == NULL                                             ? "observer is NULL"
                      : observer->key_path == NULL                                   ? "observer->key_path is NULL"
                      : observer->ops == NULL                                        ? "observer->ops is NULL"
                      : observer->ops->callback == NULL && observer->deliver == NULL ? "observer->ops->callback is NULL"
                      : observer->deliver != NULL && !KVO_CALLS_CLOSURES
                          ? "observer->deliver is set, but the compiler of this library does not know Swift's calls"
                      : ((unsigned)observer->options & ~KVO_KNOWN_OPTIONS) != 0 ? "observer->options has unknown bits"
                                                                                : also_wrong;
  kvo_place place = observer != NULL ? (kvo_place){observer->file, observer->line} : KVO_NOWHERE;
  if (wrong == NULL) return true;
  if (observer != NULL && observer->ops != NULL && observer->ops->abandon != NULL)
    observer->ops->abandon(observer->user_data);
  kvo__invalid("registration", wrong, place);
  return false;
}

kvo_status kvo_binding_observe_key(kvo_object *object, kvo_key key, const kvo_binding_observer *observer,
                                   kvo_observation *out) {
  if (!kvo__can_observe(object, observer, out, NULL)) return KVO_ERROR_INVALID_ARGUMENT;
  kvo_status status = observe_key(object, key, observer, out);
  if (status != KVO_OK && observer->ops->abandon != NULL) observer->ops->abandon(observer->user_data);
  return status;
}
