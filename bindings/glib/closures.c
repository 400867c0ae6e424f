/* closures.c - bindings whose values closures convert, for languages that have no function pointers. */
#include "binding.h"

typedef struct closures {
  GClosure *to, *from;
} closures;

static GClosure *closures_keep(GClosure *closure) {
  if (closure == NULL) return NULL;
  g_closure_ref(closure);
  g_closure_sink(closure);
  if (G_CLOSURE_NEEDS_MARSHAL(closure)) g_closure_set_marshal(closure, g_cclosure_marshal_generic);
  return closure;
}

static void closures_free(gpointer data) {
  closures *of = data;
  g_clear_pointer(&of->to, g_closure_unref);
  g_clear_pointer(&of->from, g_closure_unref);
  g_free(of);
}

static gboolean closures_call(GClosure *closure, gpointer binding, const GValue *from, GValue *to) {
  GValue arguments[2] = {G_VALUE_INIT, G_VALUE_INIT}, result = G_VALUE_INIT;
  g_value_set_object(g_value_init(&arguments[0], KVO_GLIB_TYPE_BINDING), binding);
  g_value_copy(from, g_value_init(&arguments[1], G_VALUE_TYPE(from)));
  g_closure_invoke(closure, g_value_init(&result, G_VALUE_TYPE(to)), 2, arguments, NULL);
  g_value_copy(&result, to);
  g_value_unset(&arguments[0]);
  g_value_unset(&arguments[1]);
  g_value_unset(&result);
  return TRUE;
}

static gboolean closures_to(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  return closures_call(((closures *)user_data)->to, binding, from, to);
}

static gboolean closures_from(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  return closures_call(((closures *)user_data)->from, binding, from, to);
}

/**
 * kvo_glib_bind_with_closures: (rename-to kvo_glib_bind_full)
 * @object: (type gpointer) (not nullable): a living KVO object; not kept
 * @key_path: a key path of @object; copied
 * @target: (type GObject.Object): the object whose property is set; not kept
 * @target_property: a property of @target that can be set
 * @flags: the flags of #GBinding
 * @transform_to: (nullable): converts from the model to the target, or %NULL for a conversion as by g_value_transform()
 * @transform_from: (nullable): converts from the target to the model
 *
 * kvo_glib_bind_full() with closures, which are called with the binding and the value, and return the value to set, of the type of the
 * property: in Python `lambda binding, name: name.upper()`. They are kept until the binding has ended.
 *
 * Returns: (transfer none) (nullable): as for kvo_glib_bind()
 */
KvoGlibBinding *kvo_glib_bind_with_closures(kvo_object *object, const char *key_path, gpointer target,
                                            const char *target_property, GBindingFlags flags, GClosure *transform_to,
                                            GClosure *transform_from) {
  closures *of = g_new(closures, 1);
  *of = (closures){closures_keep(transform_to), closures_keep(transform_from)};
  return kvo_glib_bind_full(object, key_path, target, target_property, flags, of->to != NULL ? closures_to : NULL,
                            of->from != NULL ? closures_from : NULL, of, closures_free);
}
