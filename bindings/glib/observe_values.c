/* observe_values.c - the values of a GObject's properties, for the runtime. */
#include "private.h"

/* What kvo_glib_view_begin makes of a value of the type. */
const char *kvo_glib_observed_encoding(GType type) {
  switch (G_TYPE_FUNDAMENTAL(type)) {
    case G_TYPE_BOOLEAN: return "B";
    case G_TYPE_CHAR:
    case G_TYPE_UCHAR:
    case G_TYPE_ENUM:
    case G_TYPE_INT: return "i";
    case G_TYPE_FLAGS:
    case G_TYPE_UINT: return "I";
    case G_TYPE_LONG: return "l";
    case G_TYPE_ULONG: return "L";
    case G_TYPE_INT64: return "q";
    case G_TYPE_UINT64: return "Q";
    case G_TYPE_FLOAT: return "f";
    case G_TYPE_DOUBLE: return "d";
    case G_TYPE_STRING: return "*";
    case G_TYPE_OBJECT:
    case G_TYPE_INTERFACE: return "@";
    default: return "^v";
  }
}

static void *values_copy(void *instance, void *user, const kvo_selection *selection) {
  (void)selection;
  GParamSpec *spec = user;
  GValue *value = g_new0(GValue, 1);
  GObject *object = g_object_ref(((kvo_glib_observed *)instance)->object);
  g_object_get_property(object, spec->name, g_value_init(value, spec->value_type));
  g_object_unref(object);
  return value;
}

static void values_release(void *value, void *user) {
  (void)user;
  g_value_unset(value);
  g_free(value);
}

static void values_view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_glib_view view;
  kvo_glib_view_begin(&view, value);
  reader(&view.value, arg);
  kvo_glib_view_end(&view);
}

static kvo_status values_integer(const kvo_value *from, gint64 least, gint64 greatest, gint64 *to) {
  kvo_status status = kvo_value_int64(from, to);
  return status == KVO_OK && (*to < least || *to > greatest) ? KVO_ERROR_TYPE_MISMATCH : status;
}

static kvo_status values_object(const kvo_value *from, GValue *to) {
  kvo_object *object = NULL;
  kvo_status status = kvo_value_object(from, &object);
  if (status != KVO_OK && status != KVO_ERROR_NO_VALUE) return status;
  GObject *found = object != NULL ? kvo_glib_observed_dup(object) : NULL;
  if (found == NULL && object != NULL) found = kvo_glib_wrap_at(object, NULL);
  gboolean fits = found == NULL || g_value_type_compatible(G_OBJECT_TYPE(found), G_VALUE_TYPE(to));
  if (fits) g_value_set_object(to, found);
  g_clear_object(&found);
  return fits ? KVO_OK : KVO_ERROR_TYPE_MISMATCH;
}

/* Fills a GValue, without loss. */
static kvo_status values_fill(const kvo_value *from, GValue *to) {
  kvo_status status;
  gint64 integer = 0;
  uint64_t natural = 0;
  double real = 0;
  bool truth = false;
  const char *string = NULL;
#define FILL(least, greatest, set)                                                                                     \
  status = values_integer(from, least, greatest, &integer);                                                            \
  if (status == KVO_OK) set;                                                                                           \
  return status;
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(to))) {
    case G_TYPE_BOOLEAN:
      status = kvo_value_bool(from, &truth);
      g_value_set_boolean(to, truth);
      return status;
    case G_TYPE_CHAR: FILL(G_MININT8, G_MAXINT8, g_value_set_schar(to, (gint8)integer))
    case G_TYPE_UCHAR: FILL(0, G_MAXUINT8, g_value_set_uchar(to, (guchar)integer))
    case G_TYPE_INT: FILL(G_MININT, G_MAXINT, g_value_set_int(to, (int)integer))
    case G_TYPE_UINT: FILL(0, G_MAXUINT, g_value_set_uint(to, (guint)integer))
    case G_TYPE_LONG: FILL(G_MINLONG, G_MAXLONG, g_value_set_long(to, (long)integer))
    case G_TYPE_INT64: FILL(G_MININT64, G_MAXINT64, g_value_set_int64(to, integer))
    case G_TYPE_ENUM: FILL(G_MININT, G_MAXINT, g_value_set_enum(to, (int)integer))
    case G_TYPE_FLAGS: FILL(0, G_MAXUINT, g_value_set_flags(to, (guint)integer))
    case G_TYPE_ULONG:
    case G_TYPE_UINT64:
      status = kvo_value_uint64(from, &natural);
      if (G_VALUE_HOLDS_UINT64(to))
        g_value_set_uint64(to, natural);
      else if (natural <= G_MAXULONG)
        g_value_set_ulong(to, (gulong)natural);
      else
        return KVO_ERROR_TYPE_MISMATCH;
      return status;
    case G_TYPE_FLOAT:
      status = kvo_value_double(from, &real);
      g_value_set_float(to, (float)real);
      return status;
    case G_TYPE_DOUBLE:
      status = kvo_value_double(from, &real);
      g_value_set_double(to, real);
      return status;
    case G_TYPE_STRING:
      status = kvo_value_string(from, &string);
      g_value_set_string(to, string);
      return status == KVO_ERROR_NO_VALUE ? KVO_OK : status;
    case G_TYPE_OBJECT:
    case G_TYPE_INTERFACE: return values_object(from, to);
    default: return KVO_ERROR_TYPE_MISMATCH; /* only its own language knows what a pointer is to */
  }
#undef FILL
}

static kvo_status values_assign(void *instance, void *user, const kvo_value *from) {
  GParamSpec *spec = user;
  if ((spec->flags & G_PARAM_WRITABLE) == 0 || (spec->flags & G_PARAM_CONSTRUCT_ONLY) != 0) return KVO_ERROR_READ_ONLY;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  kvo_status status = values_fill(from, &value);
  if (status == KVO_OK) {
    GObject *object = g_object_ref(((kvo_glib_observed *)instance)->object);
    kvo_glib_value_fit(spec, &value);
    g_object_set_property(object, spec->name, &value);
    g_object_unref(object);
  }
  g_value_unset(&value);
  return status == KVO_ERROR_NO_VALUE ? KVO_ERROR_TYPE_MISMATCH : status;
}

static bool values_same(const void *one, const void *other, void *user) {
  return g_param_values_cmp(user, one, other) == 0;
}

const kvo_value_ops kvo_glib_observed_ops = {
    .copy = values_copy, .release = values_release, .view = values_view, .assign = values_assign, .same = values_same};
