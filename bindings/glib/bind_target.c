/* bind_target.c - bindings, from the model to the target: at once on its thread, later from others. */
#include "binding.h"

gboolean binding_convert(const KvoGlibBinding *of, gboolean is_to_target, const GValue *from, GValue *to) {
  if (kvo_glib_value_convert(from, to)) return TRUE;
  const char *target = g_type_name(of->property->owner_type), *property = of->property->name;
  if (is_to_target)
    g_warning("Unable to convert a value of type %s, of \"%s\", to the property \"%s\" of %s, of type %s",
              G_VALUE_TYPE_NAME(from), of->key_path, property, target, G_VALUE_TYPE_NAME(to));
  else
    g_warning("Unable to convert a value of type %s, of the property \"%s\" of %s, to \"%s\", of type %s",
              G_VALUE_TYPE_NAME(from), property, target, of->key_path, G_VALUE_TYPE_NAME(to));
  return FALSE;
}

static gboolean target_invert(const KvoGlibBinding *of, gboolean is_to_target, const GValue *from, GValue *to) {
  GValue truth = G_VALUE_INIT;
  g_value_init(&truth, G_TYPE_BOOLEAN);
  gboolean is_made = binding_convert(of, is_to_target, from, &truth);
  if (is_made) {
    g_value_set_boolean(&truth, !g_value_get_boolean(&truth));
    is_made = binding_convert(of, is_to_target, &truth, to);
  }
  g_value_unset(&truth);
  return is_made;
}

gboolean binding_transform(KvoGlibBinding *of, gboolean is_to_target, const GValue *from, GValue *to) {
  GBindingTransformFunc transform = is_to_target ? of->transform_to : of->transform_from;
  /* A KvoGlibBinding is an object, so that the function may have it as its user data, but no GBinding. */
  if (transform != NULL) return transform((GBinding *)(gpointer)of, from, to, of->user_data);
  if ((of->flags & G_BINDING_INVERT_BOOLEAN) != 0) return target_invert(of, is_to_target, from, to);
  return binding_convert(of, is_to_target, from, to);
}

/* Sets the target on its thread; `from` is not initialised for a nil that has no type. Changes `from`. */
static void target_set(KvoGlibBinding *of, GValue *from) {
  GObject *target = g_weak_ref_get(&of->target);
  if (target == NULL) return;
  GValue made = G_VALUE_INIT, *to = &made;
  gboolean is_made = TRUE;
  binding_enter(of);
  if (!G_IS_VALUE(from)) {
    g_value_init(to, of->property->value_type);
    g_param_value_set_default(of->property, to);
  } else if (of->transform_to == NULL && (of->flags & G_BINDING_INVERT_BOOLEAN) == 0 &&
             G_VALUE_TYPE(from) == of->property->value_type) {
    to = from;
  } else {
    g_value_init(to, of->property->value_type);
    is_made = binding_transform(of, TRUE, from, to);
  }
  /* The transform may have destroyed the model, whose observation then ends later if a callback of it is running. */
  if (is_made && kvo_observation_is_registered(of->observation)) {
    kvo_glib_value_fit(of->property, to);
    of->is_setting = TRUE;
    g_object_set_property(target, of->property->name, to);
    of->is_setting = FALSE;
  }
  if (G_IS_VALUE(&made)) g_value_unset(&made);
  binding_leave(of);
  g_object_unref(target);
}

/* On the target's context: what other threads have changed. */
static void target_deliver(GObject *object) {
  KvoGlibBinding *of = (KvoGlibBinding *)object;
  GValue value = G_VALUE_INIT;
  gboolean is_waiting = binding_take_waiting(of, &value);
  if (is_waiting && !binding_is_ended(of)) target_set(of, &value);
  if (G_IS_VALUE(&value)) g_value_unset(&value);
}

/* Another thread may have changed the model after a value was read that is no change. */
static void target_take(KvoGlibBinding *of, const kvo_value *value, gboolean is_change) {
  GValue from = G_VALUE_INIT;
  if (kvo_glib_value_is_foreign(value)) {
    g_warning("Unable to convert a value of type %s, of \"%s\", to the property \"%s\" of %s", value->type,
              of->key_path, of->property->name, g_type_name(of->property->owner_type));
    return;
  }
  if (kvo_glib_place_is_here(of->place)) {
    if (is_change) binding_drop_waiting(of);
    if (!of->is_setting && !binding_is_ended(of)) {
      kvo_glib_value_init_from(&from, value, of->place);
      target_set(of, &from);
    }
  } else if (kvo_glib_value_init_from(&from, value, of->place)) {
    GValue kept = G_VALUE_INIT;
    g_value_init(&kept, G_VALUE_TYPE(&from));
    g_value_copy(&from, &kept);
    binding_wait(of, &kept, is_change, target_deliver);
  } else {
    binding_wait(of, &from, is_change, target_deliver);
  }
  if (G_IS_VALUE(&from)) g_value_unset(&from);
}

void binding_model_changed(const kvo_change *change, void *user_data) {
  target_take(user_data, change->new_value, TRUE);
}

void binding_read(const kvo_value *value, void *user_data) { target_take(user_data, value, FALSE); }
