/* bind.c - bindings: a property of a GObject that follows a key path of a KVO object, as GBinding has it follow a property. */
#include "binding.h"

G_DEFINE_TYPE(KvoGlibBinding, kvo_glib_binding, G_TYPE_OBJECT)

static void bind_source_ended(void *user_data) {
  kvo_glib_binding_unbind(user_data);
  g_object_unref(user_data);
}

static void kvo_glib_binding_init(KvoGlibBinding *of) { g_weak_ref_init(&of->target, NULL); }

static void bind_finalize(GObject *object) {
  KvoGlibBinding *of = (KvoGlibBinding *)object;
  binding_drop_waiting(of);
  if (of->source != NULL) kvo_glib_weak_drop(of->source);
  if (of->place != NULL) kvo_glib_place_drop(of->place);
  if (of->property != NULL) g_param_spec_unref(of->property);
  g_weak_ref_clear(&of->target);
  g_free(of->key_path);
  G_OBJECT_CLASS(kvo_glib_binding_parent_class)->finalize(object);
}

static void kvo_glib_binding_class_init(KvoGlibBindingClass *cls) { G_OBJECT_CLASS(cls)->finalize = bind_finalize; }

/* Says what is wrong with the target, or NULL. */
static const char *bind_wrong_target(const GParamSpec *property, GBindingFlags flags) {
  if (property == NULL) return "does not exist";
  if ((property->flags & G_PARAM_WRITABLE) == 0) return "cannot be set";
  if ((property->flags & G_PARAM_CONSTRUCT_ONLY) != 0) return "can only be set when the object is constructed";
  if ((flags & G_BINDING_BIDIRECTIONAL) != 0 && (property->flags & G_PARAM_READABLE) == 0)
    return "cannot be read, as a bidirectional binding does";
  if ((flags & G_BINDING_INVERT_BOOLEAN) != 0 && property->value_type != G_TYPE_BOOLEAN)
    return "is no boolean, which could be inverted";
  return NULL;
}

/* Stores the type of a value that cannot be bound. */
static void bind_check(const kvo_value *value, void *type) {
  if (kvo_glib_value_is_foreign(value)) *(char **)type = g_strdup(value->type);
}

/* Registers the observation, which has a reference of its own. */
static gboolean bind_observe(KvoGlibBinding *of, kvo_object *object) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = of->key_path,
                           .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                           .callback = binding_model_changed,
                           .user_data = g_object_ref(of),
                           .destroy = bind_source_ended};
  kvo_status status = kvo_add_observer(object, &observer, &of->observation);
  if (status == KVO_OK) return TRUE;
  kvo_glib_critical_status(status);
  g_object_unref(of);
  return FALSE;
}

/* Checks and keeps both sides. */
static gboolean bind_sides(KvoGlibBinding *of, kvo_object *object, const char *key_path, gpointer target,
                           const char *target_property) {
  static const char function[] = "kvo_glib_bind";
  if (object == NULL || key_path == NULL || target_property == NULL || !G_IS_OBJECT(target)) {
    g_critical("%s: object, key_path and target_property must not be NULL, and target must be a GObject", function);
    return FALSE;
  }
  const guint all = G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE | G_BINDING_INVERT_BOOLEAN;
  if ((of->flags & ~all) != 0) {
    g_critical("%s: the flags have %u, which no flag of GBinding is", function, of->flags & ~all);
    return FALSE;
  }
  GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(target), target_property);
  const char *wrong = bind_wrong_target(property, of->flags);
  if (wrong != NULL) {
    g_critical("%s: the property \"%s\" of %s %s", function, target_property, G_OBJECT_TYPE_NAME(target), wrong);
    return FALSE;
  }
  char *foreign = NULL;
  kvo_status status = kvo_get_value(object, key_path, bind_check, &foreign);
  if (foreign != NULL) {
    g_critical("%s: the value of \"%s\" has the type %s, which GLib has none for", function, key_path, foreign);
    g_free(foreign);
    return FALSE;
  }
  if (status == KVO_OK) {
    of->source = kvo_glib_weak_take(object);
    if (of->source == NULL) status = KVO_ERROR_DYING_OBJECT;
  }
  if (status == KVO_OK && (of->flags & G_BINDING_BIDIRECTIONAL) != 0 && binding_model_is_read_only(object, key_path)) {
    g_critical("%s: \"%s\" cannot be set, as a bidirectional binding does", function, key_path);
    return FALSE;
  }
  if (status != KVO_OK) {
    g_critical("%s: %s", function, *kvo_last_error() != 0 ? kvo_last_error() : kvo_status_string(status));
    return FALSE;
  }
  of->key_path = g_strdup(key_path);
  of->property = g_param_spec_ref(property);
  of->place = kvo_glib_place_take();
  return TRUE;
}

KvoGlibBinding *kvo_glib_bind_full(kvo_object *object, const char *key_path, gpointer target,
                                   const char *target_property, GBindingFlags flags, GBindingTransformFunc transform_to,
                                   GBindingTransformFunc transform_from, gpointer user_data, GDestroyNotify notify) {
  KvoGlibBinding *of = g_object_new(KVO_GLIB_TYPE_BINDING, NULL);
  of->flags = flags;
  of->transform_to = transform_to;
  of->transform_from = transform_from;
  of->user_data = user_data;
  of->notify = notify;
  if (!bind_sides(of, object, key_path, target, target_property)) {
    binding_release_user_data(of);
    g_object_unref(of);
    return NULL;
  }
  g_object_ref(of); /* it may end while the target is set */
  binding_attach(of, target, (flags & G_BINDING_BIDIRECTIONAL) != 0 ? G_CALLBACK(binding_target_changed) : NULL);
  if (!bind_observe(of, object))
    kvo_glib_binding_unbind(of);
  else if ((flags & G_BINDING_SYNC_CREATE) != 0)
    kvo_get_value(object, key_path, binding_read, of);
  KvoGlibBinding *made = binding_is_ended(of) ? NULL : of;
  g_object_unref(of);
  return made;
}

KvoGlibBinding *kvo_glib_bind(kvo_object *object, const char *key_path, gpointer target, const char *target_property,
                              GBindingFlags flags) {
  return kvo_glib_bind_full(object, key_path, target, target_property, flags, NULL, NULL, NULL, NULL);
}
