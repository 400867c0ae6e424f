/* observe.c - the other way: the properties of a GObject as keys of a KVO object. */
#include "private.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t observe_lock = PTHREAD_MUTEX_INITIALIZER;
/* Under that lock: the classes by their GTypes, and the set of them. They last as long as the process. */
static GHashTable *observe_by_type, *observe_classes;
/* Whether there are any. */
static gint observe_is_used;

/* ------------------------------------------------------------------------------------------------------------- Classes -- */

/* Who refers to a GObject keeps it, and notifies when it lets go: only that is a change for a path that leads through it. To read the path
 * when the GObject ends would read one that is letting go of it, in the middle of its own dispose. */
static void *observe_retain(void *instance) { return g_object_ref(((kvo_glib_observed *)instance)->object); }
static void observe_release(void *instance) { g_object_unref(((kvo_glib_observed *)instance)->object); }

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
                                            .type = kvo_glib_observed_encoding(specs[i]->value_type),
                                            .ops = &kvo_glib_observed_ops,
                                            .user = g_param_spec_ref(specs[i])};
  }
  kvo_raw_class described = {.struct_size = sizeof described,
                             .name = G_OBJECT_TYPE_NAME(object),
                             .header_offset = offsetof(kvo_glib_observed, header),
                             .properties = properties,
                             .property_count = used,
                             .property_size = sizeof *properties};
  kvo_status status = kvo_raw_class_register(&described, &cls);
  if (status != KVO_OK) {
    kvo_glib_critical_status(status);
    cls = NULL;
  } else {
    kvo_binding_class_keep(cls, observe_retain, observe_release);
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
  return is_observed ? g_object_ref(((kvo_glib_observed *)kvo_object_instance(object))->object) : NULL;
}

GObject *kvo_glib_get_gobject(kvo_object *object) {
  g_return_val_if_fail(object != NULL, NULL);
  GObject *found = kvo_glib_observed_dup(object);
  if (found != NULL) g_object_unref(found);
  return found;
}

/* ------------------------------------------------------------------------------------------------------------- Objects -- */

/* The value has been set already: the old one is not known. */
static void observe_notified(GObject *object, GParamSpec *spec, gpointer user_data) {
  kvo_glib_observed *of = user_data;
  (void)object;
  kvo_key key = kvo_key_hash(spec->name, strlen(spec->name));
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, key);
  if (wants == 0) {
    kvo_binding_stored(&of->header, key);
    return;
  }
  void *value = (wants & KVO_FRAME_WANTS_NEW) != 0 ? kvo_glib_observed_ops.copy(of, spec, NULL) : NULL;
  kvo_frame_finish_with(&frame, NULL, value);
  if (value != NULL) kvo_glib_observed_ops.release(value, spec);
}

/* The GObject is being disposed of: observations end, and GObject disconnects the handler. It may be read until it is finalized. */
static void observe_disposed(gpointer user_data, GObject *object) {
  kvo_glib_observed *of = user_data;
  (void)object;
  kvo_class *cls = kvo_object_class(&of->header);
  kvo_object_finish(&of->header);
  kvo_object_adopt(&of->header, cls);
  of->is_connected = FALSE;
}

static void observe_finalized(gpointer data) {
  kvo_object_finish(&((kvo_glib_observed *)data)->header);
  g_free(data);
}

kvo_object *kvo_glib_observe(gpointer object) {
  static GQuark quark;
  g_return_val_if_fail(G_IS_OBJECT(object), NULL);
  if (KVO_GLIB_IS_OBJECT(object)) return kvo_glib_object_get_kvo_object(object);
  pthread_mutex_lock(&observe_lock);
  if (quark == 0) quark = g_quark_from_static_string("kvo-glib-observed");
  kvo_glib_observed *of = g_object_get_qdata(object, quark);
  kvo_class *cls = of == NULL ? observe_class(object) : NULL;
  if (cls != NULL) {
    of = g_new0(kvo_glib_observed, 1);
    of->object = object;
    kvo_object_adopt(&of->header, cls);
    g_object_set_qdata_full(object, quark, of, observe_finalized);
  }
  if (of != NULL && !of->is_connected) {
    of->is_connected = TRUE;
    g_object_weak_ref(object, observe_disposed, of);
    g_signal_connect(object, "notify", G_CALLBACK(observe_notified), of);
  }
  pthread_mutex_unlock(&observe_lock);
  return of != NULL ? &of->header : NULL;
}
