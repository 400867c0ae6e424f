/* wrap_keys.c - the properties of wrappers, and their notify::. */
#include "private.h"

/* -------------------------------------------------------------------------------------------------------- Properties -- */

typedef struct keys_reading {
  const GParamSpec *spec;
  GValue *to;
} keys_reading;

static void keys_read(const kvo_value *value, void *arg) {
  const keys_reading *reading = arg;
  GValue read = G_VALUE_INIT;
  if (!kvo_glib_value_init_from(&read, value, NULL)) return;
  if (!kvo_glib_value_convert(&read, reading->to))
    g_warning("Unable to convert a value of type %s to the property \"%s\" of %s, of type %s", G_VALUE_TYPE_NAME(&read),
              reading->spec->name, g_type_name(reading->spec->owner_type), G_VALUE_TYPE_NAME(reading->to));
  g_value_unset(&read);
}

static void keys_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  (void)id;
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  kvo_glib_pin pin;
  kvo_object *of = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  g_param_value_set_default(spec, value);
  if (of == NULL) return;
  const char *key = g_param_spec_get_nick(spec);
  if (spec->value_type == G_TYPE_LIST_MODEL) {
    g_value_take_object(value, kvo_glib_list_model(of, key));
  } else {
    keys_reading reading = {spec, value};
    kvo_status status = kvo_get_value(of, key, keys_read, &reading);
    if (status != KVO_OK) kvo_glib_critical_status(status);
    if (spec->value_type == G_TYPE_OBJECT) kvo_glib_keep((kvo_glib_wrapper *)object, spec, g_value_get_object(value));
  }
  kvo_glib_unpin(&pin);
}

static void keys_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  (void)id;
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  kvo_glib_pin pin;
  kvo_object *of = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  if (of == NULL) return;
  kvo_glib_view view;
  kvo_glib_view_begin(&view, value);
  kvo_status status = kvo_set_value(of, g_param_spec_get_nick(spec), &view.value);
  kvo_glib_view_end(&view);
  if (status != KVO_OK && status != KVO_ERROR_REFUSED) kvo_glib_critical_status(status);
  kvo_glib_unpin(&pin);
}

void kvo_glib_object_class_accessors(GObjectClass *cls) {
  cls->get_property = keys_get_property;
  cls->set_property = keys_set_property;
}

/* --------------------------------------------------------------------------------------------------- notify:: of keys -- */

/* On the wrapper's context: lets what has waited out. */
static void keys_thaw(GObject *object) {
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  kvo_glib_lock();
  /* Of an object that has been destroyed meanwhile nothing is notified: whoever followed it would get the defaults. */
  gboolean is_frozen = weak->is_frozen && weak->wrapper == object && weak->object != NULL;
  if (is_frozen) weak->is_frozen = FALSE;
  kvo_glib_unlock();
  if (is_frozen) g_object_thaw_notify(object);
}

static void keys_notify(GObject *object, GParamSpec *spec, const kvo_glib_place *place) {
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  if (kvo_glib_place_is_here(place)) {
    keys_thaw(object); /* what other threads have changed before is first */
    g_object_notify_by_pspec(object, spec);
    return;
  }
  g_object_freeze_notify(object);
  g_object_notify_by_pspec(object, spec); /* waits, once however often the key changes */
  kvo_glib_lock();
  gboolean was_frozen = weak->is_frozen;
  weak->is_frozen = TRUE;
  if (was_frozen)
    g_object_thaw_notify(object); /* which the other freeze keeps from calling anybody: keys_thaw needs the lock */
  kvo_glib_unlock();
  if (!was_frozen) kvo_glib_place_run(place, keys_thaw, object);
}

/* The wrapper is found by the object: there may be none, or another one, which wants to know, too. */
static void keys_changed(const kvo_change *change, void *user_data) {
  (void)user_data;
  kvo_glib_place *place = NULL;
  GObject *object = kvo_glib_weak_find_wrapper(change->object, &place);
  if (object == NULL) return;
  kvo_glib_kept *left = kvo_glib_keep_changed((kvo_glib_wrapper *)object, change->context, change->object);
  keys_notify(object, change->context, place);
  if (left != NULL) kvo_glib_keep_release(left);
  g_object_unref(object);
}

typedef struct keys_handler {
  kvo_fault_handler function;
  void *arg;
} keys_handler;

/* A key that never changes is observed like the others, which is no mistake here. */
static kvo_action keys_quiet(const kvo_fault *fault, void *arg) {
  const keys_handler *outer = arg;
  if (fault->code == KVO_FAULT_NEVER_NOTIFIES) return KVO_ACTION_IGNORE;
  return outer->function != NULL ? outer->function(fault, outer->arg) : KVO_ACTION_DEFAULT;
}

/* Each observation ends the one that was made before it, and the first one the watch: whoever ends the newest ends all, and nobody needs
 * to keep the others. They may have ended with the object. */
static void keys_ended(void *before) { kvo_cancel_observer((kvo_observation)(uintptr_t)before); }

/* Observes the keys, as long as anything here uses the object. */
void kvo_glib_wrapper_observe(kvo_glib_weak *weak, const kvo_glib_class *cls, kvo_object *object) {
  kvo_glib_lock();
  gboolean was_observed = weak->is_observed;
  kvo_observation newest = weak->watch;
  weak->is_observed = TRUE;
  kvo_glib_unlock();
  if (was_observed) return;
  keys_handler outer;
  outer.function = kvo_get_thread_fault_handler(&outer.arg);
  kvo_set_thread_fault_handler(keys_quiet, &outer);
  for (size_t i = 0; i < cls->count; i++) {
    if (!cls->keys[i].notifies) continue;
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = cls->keys[i].name,
                             .options = KVO_ENDS_WITH_OBJECT,
                             .callback = keys_changed,
                             .user_data = (void *)(uintptr_t)newest,
                             .destroy = keys_ended,
                             .context = cls->keys[i].spec};
    kvo_add_observer(object, &observer, &newest);
  }
  kvo_set_thread_fault_handler(outer.function, outer.arg);
  kvo_glib_lock();
  weak->watch = newest;
  kvo_glib_unlock();
}
