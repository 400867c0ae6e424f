/* value.c - values between the runtime and GLib. */
#include "private.h"

#include <string.h>

static char value_code(const char *encoding) { return encoding == NULL ? 0 : encoding[strspn(encoding, "rnNoORVA")]; }

GType kvo_glib_type_for_encoding(const char *encoding) {
  switch (value_code(encoding)) {
    case 'B': return G_TYPE_BOOLEAN;
    case 'c': return G_TYPE_CHAR;
    case 'C': return G_TYPE_UCHAR;
    case 's':
    case 'S':
    case 'i': return G_TYPE_INT;
    case 'I': return G_TYPE_UINT;
    case 'l': return G_TYPE_LONG;
    case 'L': return G_TYPE_ULONG;
    case 'q': return G_TYPE_INT64;
    case 'Q': return G_TYPE_UINT64;
    case 'f': return G_TYPE_FLOAT;
    case 'd':
    case 'D': return G_TYPE_DOUBLE;
    case '*': return G_TYPE_STRING;
    case '@': return KVO_GLIB_TYPE_OBJECT;
    case '^':
    case ':':
    case '#': return G_TYPE_POINTER;
    case '[': return G_TYPE_LIST_MODEL;
    default: return G_TYPE_INVALID;
  }
}

/* The integers of C that are no type of GLib, and the 32-bit ones that may be of either encoding, by their sizes. */
static void value_set_integer(GValue *to, char code, const void *bytes, size_t size) {
  switch (code) {
    case 's': g_value_set_int(to, *(const short *)bytes); break;
    case 'S': g_value_set_int(to, *(const unsigned short *)bytes); break;
    case 'i': g_value_set_int(to, *(const int *)bytes); break;
    case 'I': g_value_set_uint(to, *(const unsigned *)bytes); break;
    case 'l': g_value_set_long(to, size == sizeof(long) ? *(const long *)bytes : *(const int *)bytes); break;
    case 'L':
      g_value_set_ulong(to, size == sizeof(long) ? *(const unsigned long *)bytes : *(const unsigned *)bytes);
      break;
    case 'q': g_value_set_int64(to, *(const long long *)bytes); break;
    default: g_value_set_uint64(to, *(const unsigned long long *)bytes);
  }
}

static void value_set_object(GValue *to, kvo_object *object, kvo_glib_place *place) {
  if (object == NULL) return;
  GObject *observed = kvo_glib_observed_dup(object);
  if (observed != NULL) {
    g_value_unset(to);
    g_value_init(to, G_OBJECT_TYPE(observed));
  }
  g_value_take_object(to, observed != NULL ? observed : kvo_glib_wrap_at(object, place));
}

gboolean kvo_glib_value_is_foreign(const kvo_value *value) {
  if (value == NULL || value->bytes == NULL || value->type == NULL) return FALSE;
  GType type = kvo_glib_type_for_encoding(value->type);
  return type == G_TYPE_INVALID || type == G_TYPE_LIST_MODEL;
}

gboolean kvo_glib_value_init_from(GValue *to, const kvo_value *from, kvo_glib_place *place) {
  if (from == NULL || from->type == NULL) return FALSE;
  char code = value_code(from->type);
  GType type = kvo_glib_type_for_encoding(from->type);
  if (type == G_TYPE_INVALID || kvo_glib_value_is_foreign(from)) return FALSE;
  const void *bytes = from->bytes;
  if (bytes == NULL && strchr("*^:#", code) == NULL)
    return FALSE; /* "@" is also the nil behind an object that is nil */
  g_value_init(to, type);
  if (bytes == NULL) return TRUE;
  switch (code) {
    case 'B': g_value_set_boolean(to, *(const bool *)bytes); break;
    case 'c': g_value_set_schar(to, *(const signed char *)bytes); break;
    case 'C': g_value_set_uchar(to, *(const unsigned char *)bytes); break;
    case 'f': g_value_set_float(to, *(const float *)bytes); break;
    case 'd': g_value_set_double(to, *(const double *)bytes); break;
    case 'D': g_value_set_double(to, (double)*(const long double *)bytes); break;
    case '*': g_value_set_static_string(to, *(const char *const *)bytes); break;
    case '@': value_set_object(to, *(kvo_object *const *)bytes, place); break;
    case '^':
    case ':':
    case '#': g_value_set_pointer(to, *(gpointer const *)bytes); break;
    default: value_set_integer(to, code, bytes, from->size);
  }
  return TRUE;
}

gboolean kvo_glib_value_convert(const GValue *from, GValue *to) {
  if (g_value_type_compatible(G_VALUE_TYPE(from), G_VALUE_TYPE(to))) {
    g_value_copy(from, to);
    return TRUE;
  }
  /* The wrappers of other classes than the property wants, as a GValue of an object's own type would show. */
  return g_value_type_transformable(G_VALUE_TYPE(from), G_VALUE_TYPE(to)) && g_value_transform(from, to);
}

/* ------------------------------------------------------------------------------------------------------- To the runtime -- */

static void view_object(kvo_glib_view *view, gpointer object) {
  if (object != NULL && KVO_GLIB_IS_OBJECT(object)) {
    view->weak = kvo_glib_object_weak(object);
    view->storage.object = view->weak != NULL ? kvo_glib_weak_pin(view->weak, &view->pin) : NULL;
    if (view->weak != NULL && view->storage.object == NULL) g_clear_pointer(&view->weak, kvo_glib_weak_drop);
  } else {
    view->storage.object = object != NULL ? kvo_glib_observe(object) : NULL;
  }
  view->value = (kvo_value){"@", sizeof view->storage.object, &view->storage.object};
  if (view->storage.object == NULL) view->value.bytes = NULL;
}

#define VIEW(encoding, member, from)                                                                                   \
  (view->storage.member = (from),                                                                                      \
   view->value = (kvo_value){encoding, sizeof view->storage.member, &view->storage.member})

void kvo_glib_view_begin(kvo_glib_view *view, const GValue *of) {
  view->weak = NULL;
  const void *data = of->data; /* its first 8 bytes are the value, of its C type */
  switch (G_TYPE_FUNDAMENTAL(G_VALUE_TYPE(of))) {
    case G_TYPE_BOOLEAN: VIEW("B", truth, g_value_get_boolean(of) != FALSE); break;
    case G_TYPE_CHAR: VIEW("i", integer, g_value_get_schar(of)); break;
    case G_TYPE_UCHAR: VIEW("i", integer, g_value_get_uchar(of)); break;
    case G_TYPE_ENUM: VIEW("i", integer, g_value_get_enum(of)); break;
    case G_TYPE_FLAGS: VIEW("I", natural, g_value_get_flags(of)); break;
    case G_TYPE_INT: view->value = (kvo_value){"i", sizeof(int), data}; break;
    case G_TYPE_UINT: view->value = (kvo_value){"I", sizeof(unsigned), data}; break;
    case G_TYPE_LONG: view->value = (kvo_value){"l", sizeof(long), data}; break;
    case G_TYPE_ULONG: view->value = (kvo_value){"L", sizeof(unsigned long), data}; break;
    case G_TYPE_INT64: view->value = (kvo_value){"q", sizeof(gint64), data}; break;
    case G_TYPE_UINT64: view->value = (kvo_value){"Q", sizeof(guint64), data}; break;
    case G_TYPE_FLOAT: view->value = (kvo_value){"f", sizeof(float), data}; break;
    case G_TYPE_DOUBLE: view->value = (kvo_value){"d", sizeof(double), data}; break;
    case G_TYPE_STRING:
      VIEW("*", string, g_value_get_string(of));
      if (view->storage.string == NULL) view->value.bytes = NULL;
      break;
    case G_TYPE_OBJECT:
    case G_TYPE_INTERFACE: view_object(view, g_value_get_object(of)); break;
    default: VIEW("^v", pointer, g_value_fits_pointer(of) ? g_value_peek_pointer(of) : NULL);
  }
}

void kvo_glib_view_end(kvo_glib_view *view) {
  if (view->weak == NULL) return;
  kvo_glib_unpin(&view->pin);
  kvo_glib_weak_drop(view->weak);
}

void kvo_glib_value_fit(GParamSpec *property, GValue *value) {
  if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value) == NULL) g_param_value_set_default(property, value);
  g_param_value_validate(property, value);
}
