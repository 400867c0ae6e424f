/* bind_model.c - bindings, from the target to the model. */
#include "binding.h"

/* The type that the model has now: only its value knows it. Nil does not, unless it is that of a string. */
static void model_read_type(const kvo_value *value, void *type) {
  if (value->bytes != NULL || kvo_glib_type_for_encoding(value->type) == G_TYPE_STRING)
    *(GType *)type = kvo_glib_type_for_encoding(value->type);
}

static void model_set(KvoGlibBinding *of, kvo_object *object, const GValue *from) {
  GType type = G_TYPE_INVALID;
  if (kvo_get_value(object, of->key_path, model_read_type, &type) != KVO_OK) type = G_TYPE_INVALID;
  GValue to = G_VALUE_INIT;
  g_value_init(&to, type == G_TYPE_INVALID || type == G_TYPE_LIST_MODEL ? G_VALUE_TYPE(from) : type);
  if (binding_transform(of, FALSE, from, &to) && !binding_is_ended(of)) {
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
