/* closures.c - bindings whose values closures convert, for languages that have no function pointers. */
#include "binding.h"

#include <string.h>

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

/* What stands in the result before a closure is called is still there after an exception. A result is a GValue of any type, so that it can
 * be converted. But Python makes an int of 32 bits for one, so numbers that may be greater have their own type, and begin with one that
 * nobody returns: a NaN, or digits drawn by lot. */
static const guint64 closures_none = 0x7ff8b6d3a95c1e47;

static void closures_begin(GValue *result, GType type) {
  static const GValue none;
  switch (type) {
    case G_TYPE_UINT:
    case G_TYPE_LONG:
    case G_TYPE_INT64: g_value_set_int64(g_value_init(result, G_TYPE_INT64), (gint64)closures_none); break;
    case G_TYPE_ULONG:
    case G_TYPE_UINT64: g_value_set_uint64(g_value_init(result, G_TYPE_UINT64), closures_none); break;
    case G_TYPE_FLOAT:
    case G_TYPE_DOUBLE: memcpy(g_value_init(result, G_TYPE_DOUBLE)->data, &closures_none, sizeof closures_none); break;
    default: g_value_set_static_boxed(g_value_init(result, G_TYPE_VALUE), &none);
  }
}

static gboolean closures_take(const KvoGlibBinding *of, gboolean is_to_target, const GValue *result, GValue *to) {
  if (!G_VALUE_HOLDS(result, G_TYPE_VALUE)) return binding_convert(of, is_to_target, result, to);
  const GValue *returned = g_value_get_boxed(result);
  if (returned != NULL && G_IS_VALUE(returned)) return binding_convert(of, is_to_target, returned, to);
  return g_value_fits_pointer(to); /* NULL, as the value is at the beginning */
}

static gboolean closures_call(GClosure *closure, gboolean is_to_target, gpointer binding, const GValue *from,
                              GValue *to) {
  GValue arguments[2] = {G_VALUE_INIT, G_VALUE_INIT}, result = G_VALUE_INIT;
  g_value_set_object(g_value_init(&arguments[0], KVO_GLIB_TYPE_BINDING), binding);
  g_value_copy(from, g_value_init(&arguments[1], G_VALUE_TYPE(from)));
  closures_begin(&result, G_VALUE_TYPE(to));
  const guint64 first = result.data[0].v_uint64;
  g_closure_invoke(closure, &result, 2, arguments, NULL);
  gboolean is_made = result.data[0].v_uint64 != first && closures_take(binding, is_to_target, &result, to);
  g_value_unset(&arguments[0]);
  g_value_unset(&arguments[1]);
  g_value_unset(&result);
  return is_made;
}

static gboolean closures_to(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  return closures_call(((closures *)user_data)->to, TRUE, binding, from, to);
}

static gboolean closures_from(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  return closures_call(((closures *)user_data)->from, FALSE, binding, from, to);
}

KvoGlibBinding *kvo_glib_bind_with_closures(kvo_object *object, const char *key_path, gpointer target,
                                            const char *target_property, GBindingFlags flags, GClosure *transform_to,
                                            GClosure *transform_from) {
  closures *of = g_new(closures, 1);
  *of = (closures){closures_keep(transform_to), closures_keep(transform_from)};
  return kvo_glib_bind_full(object, key_path, target, target_property, flags, of->to != NULL ? closures_to : NULL,
                            of->from != NULL ? closures_from : NULL, of, closures_free);
}
