/* observe.c - the other way: the properties of a GObject as keys of a KVO object. */
#include "private.h"

#include <pthread.h>
#include <string.h>

/* It is data of the GObject, whose memory it has as long as that; the header is zero once the GObject has been disposed of. */
typedef struct observed {
  kvo_object header;
  GObject *object;
} observed;

static pthread_mutex_t observe_lock = PTHREAD_MUTEX_INITIALIZER;
/* Under that lock: the classes by their GTypes, and the set of them. They last as long as the process. */
static GHashTable *observe_by_type, *observe_classes;
/* Whether there are any. */
static gint observe_is_used;

/* ---------------------------------------------------------------------------------------------------------- Properties -- */

/* What kvo_glib_view_begin makes of a value of the type. */
static const char *observe_encoding(GType type) {
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

static void *observe_copy(void *instance, void *user, const kvo_selection *selection) {
  (void)selection;
  GParamSpec *spec = user;
  GValue *value = g_new0(GValue, 1);
  GObject *object = g_object_ref(((observed *)instance)->object);
  g_object_get_property(object, spec->name, g_value_init(value, spec->value_type));
  g_object_unref(object);
  return value;
}

static void observe_release(void *value, void *user) {
  (void)user;
  g_value_unset(value);
  g_free(value);
}

static void observe_view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_glib_view view;
  kvo_glib_view_begin(&view, value);
  reader(&view.value, arg);
  kvo_glib_view_end(&view);
}

static kvo_status observe_integer(const kvo_value *from, gint64 least, gint64 greatest, gint64 *to) {
  kvo_status status = kvo_value_int64(from, to);
  return status == KVO_OK && (*to < least || *to > greatest) ? KVO_ERROR_TYPE_MISMATCH : status;
}

static kvo_status observe_object(const kvo_value *from, GValue *to) {
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
static kvo_status observe_fill(const kvo_value *from, GValue *to) {
  kvo_status status;
  gint64 integer = 0;
  uint64_t natural = 0;
  double real = 0;
  bool truth = false;
  const char *string = NULL;
#define FILL(least, greatest, set)                                                                                     \
  status = observe_integer(from, least, greatest, &integer);                                                           \
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
    case G_TYPE_INTERFACE: return observe_object(from, to);
    default: return KVO_ERROR_TYPE_MISMATCH; /* only its own language knows what a pointer is to */
  }
#undef FILL
}

static kvo_status observe_assign(void *instance, void *user, const kvo_value *from) {
  GParamSpec *spec = user;
  if ((spec->flags & G_PARAM_WRITABLE) == 0 || (spec->flags & G_PARAM_CONSTRUCT_ONLY) != 0) return KVO_ERROR_READ_ONLY;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  kvo_status status = observe_fill(from, &value);
  if (status == KVO_OK) {
    GObject *object = g_object_ref(((observed *)instance)->object);
    g_param_value_validate(spec, &value);
    g_object_set_property(object, spec->name, &value);
    g_object_unref(object);
  }
  g_value_unset(&value);
  return status == KVO_ERROR_NO_VALUE ? KVO_ERROR_TYPE_MISMATCH : status;
}

static bool observe_same(const void *one, const void *other, void *user) {
  return g_param_values_cmp(user, one, other) == 0;
}

static const kvo_value_ops observe_ops = {.copy = observe_copy,
                                          .release = observe_release,
                                          .view = observe_view,
                                          .assign = observe_assign,
                                          .same = observe_same};

/* ------------------------------------------------------------------------------------------------------------- Classes -- */

/* Under the lock. */
static kvo_class *observe_class(GObject *object) {
  if (observe_by_type == NULL) {
    observe_by_type = g_hash_table_new(NULL, NULL);
    observe_classes = g_hash_table_new(NULL, NULL);
  }
  gpointer type = GSIZE_TO_POINTER(G_OBJECT_TYPE(object));
  kvo_class *cls = g_hash_table_lookup(observe_by_type, type);
  if (cls != NULL) return cls;
  guint count, used = 0;
  GParamSpec **specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(object), &count);
  kvo_raw_property *properties = g_new0(kvo_raw_property, count + 1);
  for (guint i = 0; i < count; i++) {
    if ((specs[i]->flags & G_PARAM_READABLE) == 0 || strchr(specs[i]->name, '.') != NULL) continue;
    properties[used++] = (kvo_raw_property){.name = specs[i]->name,
                                            .type = observe_encoding(specs[i]->value_type),
                                            .ops = &observe_ops,
                                            .user = g_param_spec_ref(specs[i])};
  }
  kvo_raw_class described = {.struct_size = sizeof described,
                             .name = G_OBJECT_TYPE_NAME(object),
                             .header_offset = offsetof(observed, header),
                             .properties = properties,
                             .property_count = used,
                             .property_size = sizeof *properties};
  kvo_status status = kvo_raw_class_register(&described, &cls);
  if (status != KVO_OK) {
    kvo_glib_critical_status(status);
    cls = NULL;
  } else {
    g_hash_table_insert(observe_by_type, type, cls);
    g_hash_table_add(observe_classes, cls);
    g_atomic_int_set(&observe_is_used, TRUE);
  }
  g_free(properties);
  g_free(specs);
  return cls;
}

GObject *kvo_glib_observed_dup(kvo_object *object) {
  if (!g_atomic_int_get(&observe_is_used)) return NULL;
  const kvo_class *cls = kvo_object_class(object);
  pthread_mutex_lock(&observe_lock);
  gboolean is_observed = cls != NULL && g_hash_table_contains(observe_classes, cls);
  pthread_mutex_unlock(&observe_lock);
  return is_observed ? g_object_ref(((observed *)kvo_object_instance(object))->object) : NULL;
}

/* ------------------------------------------------------------------------------------------------------------- Objects -- */

/* The value has been set already: the old one is not known. */
static void observe_notified(GObject *object, GParamSpec *spec, gpointer user_data) {
  observed *of = user_data;
  (void)object;
  kvo_key key = kvo_key_hash(spec->name, strlen(spec->name));
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, key);
  if (wants == 0) {
    kvo_binding_stored(&of->header, key);
    return;
  }
  void *value = (wants & KVO_FRAME_WANTS_NEW) != 0 ? observe_copy(of, spec, NULL) : NULL;
  kvo_frame_finish_with(&frame, NULL, value);
  if (value != NULL) observe_release(value, spec);
}

/* The GObject is being disposed of. */
static void observe_disposed(gpointer user_data, GObject *object) {
  (void)object;
  kvo_object_finish(&((observed *)user_data)->header);
}

/**
 * kvo_glib_observe:
 * @object: (type GObject.Object): a GObject; not kept
 *
 * Makes a GObject observable by KVO: returns a KVO object whose keys are the names of its readable properties, such as "label". Reading and
 * setting a key reads and sets the property, and `notify::` notifies the observers of the key, on its thread. They do not get the old
 * value, nor are they notified before the change, because GLib does not say that a change is going to be made. The value of a property that is
 * an object is that object's KVO object, so that key paths lead through objects: "buffer.text". For a wrapper it is the object wrapped.
 *
 * A number is set if the property's type can represent it, and then brought into its range as by g_param_value_validate(). Boxed
 * values, variants and pointers can be read as a pointer only.
 *
 * There is one for each GObject. When that is disposed of, its observations end, as of any KVO object that is destroyed, and the pointer is not
 * valid any more. Any thread; but reading and setting calls @object, which may need its own.
 *
 * Returns: (type gpointer) (transfer none) (nullable): the KVO object, which is valid until @object is disposed of. %NULL, with a critical
 *   warning, if @object is no GObject, or there is no memory; %NULL for a wrapper whose object has been destroyed
 */
kvo_object *kvo_glib_observe(gpointer object) {
  static GQuark quark;
  g_return_val_if_fail(G_IS_OBJECT(object), NULL);
  if (KVO_GLIB_IS_OBJECT(object)) return kvo_glib_object_get_kvo_object(object);
  pthread_mutex_lock(&observe_lock);
  if (quark == 0) quark = g_quark_from_static_string("kvo-glib-observed");
  observed *of = g_object_get_qdata(object, quark);
  kvo_class *cls = of == NULL || kvo_object_class(&of->header) == NULL ? observe_class(object) : NULL;
  if (cls != NULL) {
    if (of == NULL) {
      of = g_new0(observed, 1);
      of->object = object;
      g_object_set_qdata_full(object, quark, of, g_free);
    }
    kvo_object_adopt(&of->header, cls);
    g_object_weak_ref(object, observe_disposed, of);
    g_signal_connect(object, "notify", G_CALLBACK(observe_notified), of);
  }
  pthread_mutex_unlock(&observe_lock);
  return of != NULL ? &of->header : NULL;
}
