/* kvo_glib.h - GLib and GTK: widgets that follow a model of KVO objects.
 *
 *     GtkWidget *label = gtk_label_new(NULL);
 *     kvo_glib_bind(document, "author.name", label, "label", G_BINDING_SYNC_CREATE);
 *
 * A KVO object is never kept by what is made of it here, nor is a target: a binding ends with either side, and a wrapper and a list model
 * outlive their object, empty. Every function may be called on any thread. What a function makes belongs to the main context that is the
 * thread default then: changes made on the thread that runs this context, or on the calling thread as long as no thread runs it, arrive at
 * once; those of other threads arrive when the context gets to them, coalesced, in order. A thread that destroys a KVO object waits while
 * another one reads or sets it here: do not destroy it under a lock that its getters and setters take.
 */
#ifndef KVO_GLIB_H
#define KVO_GLIB_H

#include <gio/gio.h>
#include <kvo/kvo.h>

G_BEGIN_DECLS

/* --------------------------------------------------------------------------------------------------------- Bindings -- */

#define KVO_GLIB_TYPE_BINDING (kvo_glib_binding_get_type())
/**
 * KvoGlibBinding:
 *
 * A property of a GObject that follows a key path of a KVO object: see kvo_glib_bind(). It keeps itself as long as it is bound.
 */
KVO_API G_DECLARE_FINAL_TYPE(KvoGlibBinding, kvo_glib_binding, KVO_GLIB, BINDING, GObject)

KVO_API KvoGlibBinding *kvo_glib_bind(kvo_object *object, const char *key_path, gpointer target,
                                      const char *target_property, GBindingFlags flags);
KVO_API KvoGlibBinding *kvo_glib_bind_full(kvo_object *object, const char *key_path, gpointer target,
                                           const char *target_property, GBindingFlags flags,
                                           GBindingTransformFunc transform_to, GBindingTransformFunc transform_from,
                                           gpointer user_data, GDestroyNotify notify);
KVO_API KvoGlibBinding *kvo_glib_bind_with_closures(kvo_object *object, const char *key_path, gpointer target,
                                                    const char *target_property, GBindingFlags flags,
                                                    GClosure *transform_to, GClosure *transform_from);
KVO_API void kvo_glib_binding_unbind(KvoGlibBinding *binding);

/* --------------------------------------------------------------------------------------------------------- Wrappers -- */

#define KVO_GLIB_TYPE_OBJECT (kvo_glib_object_get_type())
KVO_API G_DECLARE_DERIVABLE_TYPE(KvoGlibObject, kvo_glib_object, KVO_GLIB, OBJECT, GObject)

/**
 * KvoGlibObject:
 *
 * The wrapper of a KVO object: see kvo_glib_wrap(). Its type is made from the object's class.
 */
struct _KvoGlibObjectClass {
  /*< private >*/
  GObjectClass parent_class;
};

KVO_API GObject *kvo_glib_wrap(kvo_object *object);
KVO_API GType kvo_glib_wrapper_type(kvo_class *cls);
KVO_API kvo_object *kvo_glib_object_get_kvo_object(KvoGlibObject *wrapper);

/* ------------------------------------------------------------------------------------------------------------ Lists -- */

#define KVO_GLIB_TYPE_LIST_MODEL (kvo_glib_list_model_get_type())
/**
 * KvoGlibListModel:
 *
 * A list of a KVO object as a #GListModel: see kvo_glib_list_model().
 */
KVO_API G_DECLARE_FINAL_TYPE(KvoGlibListModel, kvo_glib_list_model, KVO_GLIB, LIST_MODEL, GObject)
#define KVO_GLIB_TYPE_VALUE (kvo_glib_value_get_type())
/**
 * KvoGlibValue:
 *
 * The item of a #KvoGlibListModel for a value that is no object, such as a number or a string. It never changes.
 */
KVO_API G_DECLARE_FINAL_TYPE(KvoGlibValue, kvo_glib_value, KVO_GLIB, VALUE, GObject)

KVO_API GListModel *kvo_glib_list_model(kvo_object *object, const char *key);

/* ---------------------------------------------------------------------------------------------- Objects of GLib -- */

KVO_API kvo_object *kvo_glib_observe(gpointer object);

G_END_DECLS

#endif /* KVO_GLIB_H */
