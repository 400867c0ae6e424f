/* raw.c - observations by kvo_raw.h: descriptions of any version. */
#include "lifetimes/lifetimes.h"

/* The first version of the structure. */
enum { RAW_LEAST_OBSERVER = KVO_SIZE_TO(kvo_raw_observer, target_key) };

/* Makes the description that the runtime uses. A status if the size is not that of a version; NULL is left to the caller. */
static kvo_status raw_describe(const kvo_raw_observer *given, kvo_binding_observer *to, bool *is_opaque) {
  kvo_raw_observer observer;
  if (!kvo__copy_spec(&observer, sizeof observer, given, given->struct_size, RAW_LEAST_OBSERVER))
    return kvo__invalid("registration", "observer->struct_size is not sizeof(kvo_raw_observer)", KVO_NOWHERE);
  *to = (kvo_binding_observer){
      .key_path = observer.key_path,
      .options = observer.options,
      .ops = observer.ops,
      .user_data = observer.user_data,
      .context = observer.context,
      .identity = observer.identity,
      .file = observer.file,
      .line = observer.line,
      .note = observer.note,
      .is_receiver = observer.is_receiver,
      .is_binding = observer.is_binding,
      .target = observer.target,
      .target_key = observer.target_key,
  };
  *is_opaque = observer.is_opaque;
  return KVO_OK;
}

kvo_status kvo_raw_observe(kvo_object *object, kvo_key key, const kvo_raw_observer *observer, kvo_observation *out) {
  kvo_binding_observer described;
  bool is_opaque;
  kvo_status status = observer != NULL ? raw_describe(observer, &described, &is_opaque) : KVO_OK;
  return status == KVO_OK ? kvo_binding_observe_key(object, key, observer != NULL ? &described : NULL, out) : status;
}

kvo_status kvo_raw_observe_expression(kvo_object *object, const kvo_raw_observer *observer, bool keep_last,
                                      kvo_observation *out) {
  kvo_binding_observer described;
  bool is_opaque = false;
  kvo_status status = observer != NULL ? raw_describe(observer, &described, &is_opaque) : KVO_OK;
  if (status != KVO_OK) return status;
  return kvo__observe_expression(object, observer != NULL ? &described : NULL, keep_last, is_opaque, out);
}
