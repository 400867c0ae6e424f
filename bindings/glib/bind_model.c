/* bind_model.c - bindings, from the target to the model. */
#include "binding.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------------------ What can be set -- */

static gboolean model_key_is_read_only(kvo_object *owner, const char *key) {
  GObject *observed = kvo_glib_observed_dup(owner);
  if (observed != NULL) {
    const GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(observed), key);
    g_object_unref(observed);
    return spec == NULL || (spec->flags & G_PARAM_WRITABLE) == 0 || (spec->flags & G_PARAM_CONSTRUCT_ONLY) != 0;
  }
  kvo_class *cls = kvo_object_class(owner);
  const kvo_property *property = kvo_class_property(cls, key);
  /* Of a class of another language only setting says it. */
  return property != NULL && kvo_class_instance_size(cls) != 0 && kvo_object_setter(owner, key) == NULL;
}

typedef struct model_key {
  const char *key;
  gboolean is_read_only;
} model_key;

static void model_check_owner(const kvo_value *owner, void *arg) {
  model_key *of = arg;
  kvo_object *object = NULL;
  if (owner->bytes == NULL || kvo_value_object(owner, &object) != KVO_OK || object == NULL) return;
  of->is_read_only = model_key_is_read_only(object, of->key);
}

gboolean binding_model_is_read_only(kvo_object *object, const char *key_path) {
  const char *dot = strrchr(key_path, '.');
  if (key_path[0] == '@' || strstr(key_path, ".@") != NULL) return TRUE; /* an operator */
  if (dot == NULL) return model_key_is_read_only(object, key_path);
  model_key last = {dot + 1, FALSE};
  char *path = g_strndup(key_path, (gsize)(dot - key_path));
  kvo_get_value(object, path, model_check_owner, &last);
  g_free(path);
  return last.is_read_only;
}

/* --------------------------------------------------------------------------------------------------------------- Setting -- */

/* The type that the model has now: only its value knows it. Nil does not, unless it is that of a string. */
static void model_read_type(const kvo_value *value, void *type) {
  GType found = kvo_glib_type_for_encoding(value->type);
  if (value->bytes == NULL && found != G_TYPE_STRING) return;
  *(GType *)type = found == KVO_GLIB_TYPE_OBJECT ? G_TYPE_OBJECT : found; /* another object need not be a wrapper */
}

static void model_set(KvoGlibBinding *of, kvo_object *object, const GValue *from) {
  GType type = G_TYPE_INVALID;
  if (kvo_get_value(object, of->key_path, model_read_type, &type) != KVO_OK) type = G_TYPE_INVALID;
  GValue to = G_VALUE_INIT;
  g_value_init(&to, type == G_TYPE_INVALID || type == G_TYPE_LIST_MODEL ? G_VALUE_TYPE(from) : type);
  if (binding_transform(of, FALSE, from, &to) && kvo_observation_is_registered(of->observation)) {
    kvo_glib_view view;
    kvo_glib_view_begin(&view, &to);
    of->is_setting = TRUE;
    kvo_status status = kvo_set_value(object, of->key_path, &view.value);
    of->is_setting = FALSE;
    kvo_glib_view_end(&view);
    if (status != KVO_OK && status != KVO_ERROR_REFUSED)
      g_warning("Unable to set \"%s\": %s", of->key_path, kvo_last_error());
  }
  g_value_unset(&to);
}

void binding_target_changed(GObject *target, GParamSpec *property, gpointer user_data) {
  KvoGlibBinding *of = user_data;
  (void)property;
  if (of->is_setting || binding_is_ended(of)) return;
  kvo_glib_pin pin;
  kvo_object *object = kvo_glib_weak_pin(of->source, &pin);
  if (object == NULL) return;
  g_object_ref(of);
  binding_enter(of);
  GValue from = G_VALUE_INIT;
  g_object_get_property(target, of->property->name, g_value_init(&from, of->property->value_type));
  model_set(of, object, &from);
  g_value_unset(&from);
  binding_leave(of);
  kvo_glib_unpin(&pin);
  g_object_unref(of);
}
