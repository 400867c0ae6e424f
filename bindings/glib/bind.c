/* bind.c - bindings: a property of a GObject that follows a key path of a KVO object, as GBinding has it follow a property. */
#include "binding.h"

G_DEFINE_TYPE(KvoGlibBinding, kvo_glib_binding, G_TYPE_OBJECT)

/* ------------------------------------------------------------------------------------------------- From model to target -- */

static gboolean bind_invert(const GValue *from, GValue *to) {
  GValue truth = G_VALUE_INIT;
  g_value_init(&truth, G_TYPE_BOOLEAN);
  gboolean is_made = kvo_glib_value_convert(from, &truth);
  if (is_made) {
    g_value_set_boolean(&truth, !g_value_get_boolean(&truth));
    is_made = kvo_glib_value_convert(&truth, to);
  }
  g_value_unset(&truth);
  return is_made;
}

static gboolean bind_transform(KvoGlibBinding *of, GBindingTransformFunc transform, const GValue *from, GValue *to) {
  /* A KvoGlibBinding is an object, so that the function may have it as its user data, but no GBinding. */
  if (transform != NULL) return transform((GBinding *)(gpointer)of, from, to, of->user_data);
  if ((of->flags & G_BINDING_INVERT_BOOLEAN) != 0) return bind_invert(from, to);
  return kvo_glib_value_convert(from, to);
}

/* Sets the target on its thread; `from` is not initialised for a nil that has no type. Changes `from`. */
static void bind_set_target(KvoGlibBinding *of, GValue *from) {
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
    is_made = bind_transform(of, of->transform_to, from, to);
  }
  if (is_made && !binding_is_ended(of)) {
    g_param_value_validate(of->property, to);
    of->is_setting = TRUE;
    g_object_set_property(target, of->property->name, to);
    of->is_setting = FALSE;
  }
  if (G_IS_VALUE(&made)) g_value_unset(&made);
  binding_leave(of);
  g_object_unref(target);
}

/* On the target's context: what other threads have changed. */
static void bind_deliver(GObject *object) {
  KvoGlibBinding *of = (KvoGlibBinding *)object;
  GValue value = G_VALUE_INIT;
  gboolean is_waiting = binding_take_waiting(of, &value);
  if (is_waiting && !binding_is_ended(of)) bind_set_target(of, &value);
  if (G_IS_VALUE(&value)) g_value_unset(&value);
}

static void bind_value(KvoGlibBinding *of, const kvo_value *value) {
  GValue from = G_VALUE_INIT;
  if (kvo_glib_place_is_here(of->place)) {
    binding_drop_waiting(of);
    if (!of->is_setting && !binding_is_ended(of)) {
      kvo_glib_value_init_from(&from, value, of->place);
      bind_set_target(of, &from);
    }
  } else if (kvo_glib_value_init_from(&from, value, of->place)) {
    GValue kept = G_VALUE_INIT;
    g_value_init(&kept, G_VALUE_TYPE(&from));
    g_value_copy(&from, &kept);
    binding_wait(of, &kept, bind_deliver);
  } else {
    binding_wait(of, &from, bind_deliver);
  }
  if (G_IS_VALUE(&from)) g_value_unset(&from);
}

static void bind_changed(const kvo_change *change, void *user_data) { bind_value(user_data, change->new_value); }

static void bind_read(const kvo_value *value, void *user_data) { bind_value(user_data, value); }

/* ------------------------------------------------------------------------------------------------- From target to model -- */

/* The type that the model has now: only its value knows it. Nil does not, unless it is that of a string. */
static void bind_read_type(const kvo_value *value, void *type) {
  if (value->bytes != NULL || kvo_glib_type_for_encoding(value->type) == G_TYPE_STRING)
    *(GType *)type = kvo_glib_type_for_encoding(value->type);
}

static void bind_set_model(KvoGlibBinding *of, kvo_object *object, const GValue *from) {
  GType type = G_TYPE_INVALID;
  if (kvo_get_value(object, of->key_path, bind_read_type, &type) != KVO_OK) type = G_TYPE_INVALID;
  GValue to = G_VALUE_INIT;
  g_value_init(&to, type == G_TYPE_INVALID || type == G_TYPE_LIST_MODEL ? G_VALUE_TYPE(from) : type);
  if (bind_transform(of, of->transform_from, from, &to) && !binding_is_ended(of)) {
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

static void bind_target_changed(GObject *target, GParamSpec *property, gpointer user_data) {
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
  bind_set_model(of, object, &from);
  g_value_unset(&from);
  binding_leave(of);
  kvo_glib_unpin(&pin);
  g_object_unref(of);
}

/* ---------------------------------------------------------------------------------------------------------------- Lives -- */

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

static void bind_ignore(const kvo_value *value, void *arg) {
  (void)value;
  (void)arg;
}

/* Registers the observation, which has a reference of its own. */
static gboolean bind_observe(KvoGlibBinding *of, kvo_object *object) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = of->key_path,
                           .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                           .callback = bind_changed,
                           .user_data = g_object_ref(of),
                           .destroy = bind_source_ended,
                           KVO_HERE};
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
  GParamSpec *property = g_object_class_find_property(G_OBJECT_GET_CLASS(target), target_property);
  const char *wrong = bind_wrong_target(property, of->flags);
  if (wrong != NULL) {
    g_critical("%s: the property \"%s\" of %s %s", function, target_property, G_OBJECT_TYPE_NAME(target), wrong);
    return FALSE;
  }
  kvo_status status = kvo_get_value(object, key_path, bind_ignore, NULL);
  if (status == KVO_OK) {
    of->source = kvo_glib_weak_take(object);
    if (of->source == NULL) status = KVO_ERROR_DYING_OBJECT;
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

/**
 * kvo_glib_bind_full: (skip)
 * @object: (type gpointer) (not nullable): a living KVO object; not kept
 * @key_path: a key path of @object, such as "author.name"; copied
 * @target: (type GObject.Object): the object whose property is set; not kept
 * @target_property: a property of @target that can be set
 * @flags: the flags of #GBinding
 * @transform_to: (nullable): converts from the model to the target, or %NULL for a conversion as by g_value_transform()
 * @transform_from: (nullable): converts from the target to the model
 * @user_data: passed to the functions
 * @notify: (nullable): called with @user_data when the binding has ended and none of them runs; also if there is no binding
 *
 * kvo_glib_bind() with functions that convert. They are called on the thread that sets, with the #KvoGlibBinding as their first argument,
 * which is no #GBinding. If one returns %FALSE, nothing is set.
 *
 * A string that is nil is passed to @transform_to as %NULL. For any other nil, such as the value behind an object that is nil, the target
 * is set to its default, and @transform_to is not called.
 *
 * Returns: (transfer none) (nullable): as for kvo_glib_bind()
 */
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
  binding_attach(of, target, (flags & G_BINDING_BIDIRECTIONAL) != 0 ? G_CALLBACK(bind_target_changed) : NULL);
  if (!bind_observe(of, object))
    kvo_glib_binding_unbind(of);
  else if ((flags & G_BINDING_SYNC_CREATE) != 0)
    kvo_get_value(object, key_path, bind_read, of);
  KvoGlibBinding *made = binding_is_ended(of) ? NULL : of;
  g_object_unref(of);
  return made;
}

/**
 * kvo_glib_bind:
 * @object: (type gpointer) (not nullable): a living KVO object; not kept
 * @key_path: a key path of @object, such as "author.name"; copied
 * @target: (type GObject.Object): the object whose property is set; not kept
 * @target_property: a property of @target that can be set
 * @flags: the flags of #GBinding
 *
 * Binds a property of a GObject to a key path, as g_object_bind_property() binds it to a property: the target is set after each change of
 * the path's value, with %G_BINDING_SYNC_CREATE also at once; with %G_BINDING_BIDIRECTIONAL the model is set when the target notifies.
 * What the binding itself sets is not sent back. Values are converted as by g_value_transform(); a value that cannot be is a warning, and
 * sets nothing. A nil sets %NULL, or the default of a property that has no %NULL.
 *
 * The binding ends with kvo_glib_binding_unbind(), with @object, or with @target. An object along the path that is replaced or destroyed
 * is a change. The target is set on the main context that is the thread default now: see the first comment of kvo_glib.h.
 *
 * Returns: (transfer none) (nullable): the binding, which is valid as long as it is bound; g_object_ref() it to keep it longer. %NULL,
 *   with a critical warning that says why: an argument is %NULL, the path cannot be read, or the property cannot be bound so
 */
KvoGlibBinding *kvo_glib_bind(kvo_object *object, const char *key_path, gpointer target, const char *target_property,
                              GBindingFlags flags) {
  return kvo_glib_bind_full(object, key_path, target, target_property, flags, NULL, NULL, NULL, NULL);
}
