/* c_observer.c - kvo_add_observer: registration for C programs. */
#include "lifetimes/lifetimes.h"
#include "registry/places.h"

static kvo_status c_observer_refuse(const kvo_class *cls, const kvo_object *object, const kvo_observer *observer,
                                    kvo_status status, uint32_t errors) {
  if (status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NO_INTERCEPTION ||
      status == KVO_ERROR_MALFORMED_KEY_PATH || status == KVO_ERROR_DYING_OBJECT || status == KVO_ERROR_NOT_AN_OBJECT ||
      status == KVO_ERROR_TYPE_MISMATCH)
    KVO_MISUSE(refused, status, cls, object, observer->key_path, observer->user_data, observer->options,
               observer->context, (kvo_place){observer->file, observer->line});
  return kvo__explain(status, errors, "kvo_add_observer", object, observer->key_path);
}

/* Describes the first invalid argument of kvo_add_observer; NULL if there is none. */
static const char *c_observer_wrong_argument(const kvo_object *object, const kvo_observer *observer) {
  if (object == NULL) return "object is NULL";
  if (observer->callback == NULL) return "observer->callback is NULL";
  if (observer->key_path == NULL) return "observer->key_path is NULL";
  if (((unsigned)observer->options & ~KVO_KNOWN_OPTIONS) != 0) return "observer->options has unknown bits";
  return NULL;
}

/* Reports what is declared to affect the property, and begins with its own key; one such path is enough. */
static void report_own(const kvo_object *object, const kvo_property *property, kvo_place place) {
  char **path = property->affected_by;
  while (path != NULL && *path != NULL && !kvo__affects_itself(property, *path)) path++;
  if (path != NULL && *path != NULL) KVO_MISUSE(self_dependency, object, property, *path, place);
}

/* Warns of what is declared to affect the property and begins with a key that the class does not have. */
static void warn_of_undefined(const kvo_object *object, const kvo_class *cls, const kvo_property *property,
                              kvo_place place) {
  bool may_have = cls->coding != NULL && cls->coding->value_for_undefined_key != NULL;
  for (char **path = property->affected_by; path != NULL && *path != NULL && !may_have; path++)
    if (**path != '@' && kvo__class_find(cls, kvo_key_hash(*path, strcspn(*path, "."))) == NULL)
      KVO_MISUSE(never_notifies, object, *path, property->name, KVO_SILENCE_UNDEFINED, place);
}

/* The first version of the structure. */
enum { C_OBSERVER_LEAST_OBSERVER = KVO_SIZE_TO(kvo_observer, line) };

kvo_status kvo_add_observer(kvo_object *object, const kvo_observer *given, kvo_observation *out) {
  kvo_observer whole, *observer = &whole;
  const char *wrong =
      given == NULL ? "observer is NULL"
      : !kvo__copy_spec(observer, sizeof *observer, given, given->struct_size, C_OBSERVER_LEAST_OBSERVER)
          ? "observer->struct_size is not sizeof(kvo_observer)"
          : NULL;
  if (wrong != NULL) return kvo__invalid("kvo_add_observer", wrong, KVO_NOWHERE);
  wrong = c_observer_wrong_argument(object, observer);
  if (wrong != NULL) return kvo__invalid("kvo_add_observer", wrong, (kvo_place){observer->file, observer->line});
  if (!kvo__is_object(object)) {
    KVO_MISUSE(unsupported_object, object, "kvo_add_observer", observer->key_path, NULL,
               (kvo_place){observer->file, observer->line});
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_add_observer: \"%s\": this memory is not an object",
                     observer->key_path);
  }
  uint32_t errors = kvo__error_count();
  kvo_class *cls = kvo_object_class(object);
  kvo_status status = kvo__path_check(observer->key_path);
  if (status != KVO_OK) return c_observer_refuse(cls, object, observer, status, errors);
  bool single = strchr(observer->key_path, '.') == NULL;
  const kvo_property *property = kvo_class_property(cls, observer->key_path);
  bool needs_value = (observer->options & KVO_INITIAL) != 0 && (observer->options & KVO_NEW) != 0;
  if (single && property == NULL && needs_value)
    return c_observer_refuse(cls, object, observer, KVO_ERROR_UNDEFINED_KEY, errors);

  size_t length = strlen(observer->key_path);
  kvo_c_observer *own = kvo__alloc(sizeof *own + length + 1);
  if (own == NULL) return c_observer_refuse(cls, object, observer, KVO_ERROR_OUT_OF_MEMORY, errors);
  own->object = object;
  own->callback = observer->callback;
  own->user_data = observer->user_data;
  own->destroy = observer->destroy;
  own->context = observer->context;
  memcpy(own->key_path, observer->key_path, length);
  kvo_binding_observer described = {
      .key_path = own->key_path,
      .options = observer->options,
      .ops = &kvo__c_ops,
      .user_data = own,
      .context = observer->context,
      .identity = {NULL, observer->user_data},
      .file = observer->file,
      .line = observer->line,
  };
  kvo_observation id = 0;
  bool evaluated =
      property != NULL && (property->affected_by != NULL || (property->flags & KVO_PROPERTY_COMPUTED) != 0);
  if (single && !evaluated) {
    status = kvo_binding_observe_key(object, kvo_key_hash(own->key_path, length), &described, &id);
  } else {
    /* Read the path once without recording: one that cannot be walked is refused before anything is registered. */
    kvo_boxed *probe = kvo__path_copy(object, own->key_path, &status, KVO_PATH_PROBED, NULL);
    bool holds_object = kvo__box_may_hold_object(probe);
    own->leads_to_nil = probe == NULL || probe->value.bytes == NULL;
    kvo__unbox(probe);
    if (status == KVO_OK || status == KVO_ERROR_NO_GETTER)
      status = kvo_binding_observe_tracked(object, &described, !holds_object, &id);
    else
      kvo__free(own);
  }
  if (status != KVO_OK) return c_observer_refuse(cls, object, observer, status, errors);
  bool by_hand = property != NULL && (property->flags & (KVO_PROPERTY_MANUAL | KVO_PROPERTY_READ_ONLY)) != 0;
  bool never_notifies = property == NULL || (property->ops == NULL && !kvo__can_set(property) && !by_hand);
  if (single && !evaluated && never_notifies)
    KVO_MISUSE(never_notifies, object, observer->key_path, NULL,
               property == NULL ? KVO_SILENCE_UNDEFINED : KVO_SILENCE_BY_HAND,
               (kvo_place){observer->file, observer->line});
  if (single && property != NULL) {
    report_own(object, property, (kvo_place){observer->file, observer->line});
    warn_of_undefined(object, cls, property, (kvo_place){observer->file, observer->line});
  }
  if (out != NULL) *out = id;
  return KVO_OK;
}
