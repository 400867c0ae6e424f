/* kvo_glib.h - GLib and GTK: widgets that follow a model of KVO objects.
 *
 *     GtkWidget *label = gtk_label_new(NULL);
 *     kvo_glib_bind(document, "author.name", label, "label", G_BINDING_SYNC_CREATE);
 *
 * A KVO object is never kept by what is made of it here, nor is a target: a binding ends with either side, and a wrapper and a list model
 * outlive their object, empty. Every function may be called on any thread.
 *
 * What a function makes belongs to the main context that is the thread default then. A change made on the context's thread, which is the
 * one that runs it, or the calling one while nobody runs it, arrives at once; a change of another thread arrives from an idle source of the
 * context, in order, and of several changes of one value only the last one.
 *
 * A thread that destroys a KVO object waits while another one reads it here: do not destroy it under a lock that its getters take. It must
 * not destroy one that is being set here, as nobody may while a setter runs: let it remove the object from the model, and destroy it on the
 * context's thread.
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
 * sets nothing. A nil, also of a string, sets the property's default: "" for the text of a GtkEntry, which must not be %NULL; %NULL for
 * most objects.
 *
 * The binding ends with kvo_glib_binding_unbind(), with @object, or with @target. An object along the path that is replaced or destroyed
 * is a change; a #GObject only when it is replaced. The target is set on the main context that is the thread default now: see above. Any
 * thread.
 *
 * Returns: (transfer none) (nullable): the binding, which is valid as long as it is bound; g_object_ref() it to keep it longer. %NULL,
 *   with a critical warning that says why: an argument is %NULL, the path cannot be read, the property, or for
 *   %G_BINDING_BIDIRECTIONAL the end of the path, cannot be bound so, or @flags are unknown. %NULL without a warning if the binding has
 *   ended while the target was set
 */
KVO_API KvoGlibBinding *kvo_glib_bind(kvo_object *object, const char *key_path, gpointer target,
                                      const char *target_property, GBindingFlags flags);

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
 * which is no #GBinding. If one returns %FALSE, nothing is set. Any thread.
 *
 * A string that is nil is passed to @transform_to as %NULL. If a function makes a %NULL string for the target, that gets its default, as
 * from kvo_glib_bind(). For any other nil, such as the value behind an object that is nil, the target is set to its default, and
 * @transform_to is not called.
 *
 * Returns: (transfer none) (nullable): as for kvo_glib_bind()
 */
KVO_API KvoGlibBinding *kvo_glib_bind_full(kvo_object *object, const char *key_path, gpointer target,
                                           const char *target_property, GBindingFlags flags,
                                           GBindingTransformFunc transform_to, GBindingTransformFunc transform_from,
                                           gpointer user_data, GDestroyNotify notify);

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
 * kvo_glib_bind_full() with closures: in Python `lambda binding, name: name.upper()`. They are called with the binding and the value, and
 * return a value of any type, which is converted as by kvo_glib_bind(). Nothing is set if one raises an exception, which Python prints, or
 * if it returns `None` and the property's type has no %NULL. They are kept until the binding has ended. It is for languages whose functions
 * are closures; C has kvo_glib_bind_full(). Any thread.
 *
 * Returns: (transfer none) (nullable): as for kvo_glib_bind()
 */
KVO_API KvoGlibBinding *kvo_glib_bind_with_closures(kvo_object *object, const char *key_path, gpointer target,
                                                    const char *target_property, GBindingFlags flags,
                                                    GClosure *transform_to, GClosure *transform_from);

/**
 * kvo_glib_binding_unbind:
 * @binding: a binding; one that has ended is left as it is
 *
 * Ends a binding: on the thread of its target nothing is set any more once this has returned; called on another one, a value may just be
 * being set. Unless the caller has a reference of its own, @binding is not valid any more. Any thread, also in its functions.
 */
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

/**
 * kvo_glib_wrap:
 * @object: (type gpointer) (not nullable): a living KVO object, of a class of any language; not kept
 *
 * Returns the wrapper of a KVO object: the same one as long as it lives, of the type that kvo_glib_wrapper_type() says. Reading and setting
 * its properties reads and sets those of the object, and a change of the object, whoever makes it, is `notify::`. The wrapper observes the
 * object's keys as long as it lives, because GLib does not say when a handler is connected.
 *
 * A wrapper that a property returns is kept by this one, as long as this one lives and the property has that object: a #GtkExpression
 * that looks up "name" of "author" goes on following. Of objects that refer to each other the wrappers would keep each other for ever, so
 * the last reference to be read, which closes the circle, keeps nothing.
 *
 * The wrapper does not keep the object: afterwards its properties have their default values, and setting them does nothing. `notify::` is
 * emitted on the main context that was the thread default when the wrapper was made: at once for changes on its thread, otherwise later,
 * as one, like g_object_thaw_notify(). A value that cannot be read or set is a critical warning; one that the object's setter refuses is
 * not. Any thread.
 *
 * Returns: (transfer full) (nullable): the wrapper, a #KvoGlibObject; %NULL, with a critical warning, for %NULL and for an object that is
 *   being destroyed
 */
KVO_API GObject *kvo_glib_wrap(kvo_object *object);

/**
 * kvo_glib_wrapper_type:
 * @cls: (type gpointer) (not nullable): a registered class, as of kvo_class_find()
 *
 * Returns the type of the wrappers of a class, for a #GtkExpression or a `.ui` file: "Kvo" and the name of the class, whose other
 * characters than letters of ASCII, digits, "-" and "+" are "_"; with a number if there is such a type already. The type of a subclass is
 * derived from that of its superclass.
 *
 * The type has a property for each key of the class whose name and type GLib has: numbers, booleans, strings, objects, pointers, and lists
 * as #GListModel. A structure, a set and a value that only the language of the class can interpret are none. "_" in a key is "-" in the
 * property, as usual. The nick of a property is the key. Numbers have the range of their C type. Objects are of type #GObject: a wrapper,
 * or the #GObject that kvo_glib_observe() has made observable. It is made once, and lasts as long as the process. Any thread.
 *
 * Returns: the type; %G_TYPE_INVALID for %NULL, with a critical warning
 */
KVO_API GType kvo_glib_wrapper_type(kvo_class *cls);

/**
 * kvo_glib_object_get_kvo_object:
 * @wrapper: a wrapper
 *
 * Returns the object of a wrapper, for the functions of kvo.h. It is not kept: use it only where it cannot be destroyed meanwhile. Any
 * thread.
 *
 * Returns: (type gpointer) (transfer none) (nullable): the object; %NULL if it has been destroyed, or is being
 */
KVO_API kvo_object *kvo_glib_object_get_kvo_object(KvoGlibObject *wrapper);

/**
 * kvo_glib_object_call: (skip)
 * @wrapper: a wrapper
 * @function: what is called
 * @user_data: passed to the function
 *
 * Calls a function with the object of a wrapper, which cannot be destroyed meanwhile: another thread that does waits. So the
 * function must not wait for that thread, nor for callbacks of the object's observations. Any thread.
 *
 * Returns: %FALSE, and the function is not called, if the object has been destroyed, or is being
 */
KVO_API gboolean kvo_glib_object_call(KvoGlibObject *wrapper, void (*function)(kvo_object *object, gpointer user_data),
                                      gpointer user_data);

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

/**
 * kvo_glib_list_model:
 * @object: (type gpointer) (not nullable): a living KVO object; not kept
 * @key: a key of a list of @object; copied
 *
 * Makes a #GListModel of a list. It emits #GListModel::items-changed with the indexes of each change of the list, and for a list that is
 * set as a whole with the range that differs. Its items are wrappers, as of kvo_glib_wrap(), and for a list of other values each a
 * #KvoGlibValue. An object has to live as long as it is in the list: remove it, then destroy it.
 *
 * The model keeps neither the list nor its objects, but the wrappers that it has returned, until their objects leave the list. When @object
 * is destroyed it becomes empty. The item type is #KvoGlibObject, since a list may get elements of any class; or #KvoGlibValue.
 *
 * Any thread may make a model; use it on the thread of its main context, the thread default now, where it changes: at once for changes on
 * that thread, otherwise later, in order, so that until then it shows what it has emitted. Changes of other threads are emitted in turns of
 * a few milliseconds, between which the context goes on. An object that another thread has removed meanwhile may have been destroyed: its
 * item is its wrapper if somebody has it, or one of no object, whose properties have their defaults, of the class that all items so far
 * have; a #KvoGlibObject without properties if there has been no other.
 *
 * Returns: (transfer full) (nullable): the model, a #KvoGlibListModel; %NULL, with a critical warning, if an argument is %NULL, or @object
 *   has no such list
 */
KVO_API GListModel *kvo_glib_list_model(kvo_object *object, const char *key);

/* ---------------------------------------------------------------------------------------------- Objects of GLib -- */

/**
 * kvo_glib_observe:
 * @object: (type GObject.Object): a GObject; not kept
 *
 * Makes a GObject observable by KVO: returns a KVO object whose keys are the names of its readable properties, such as "label". Reading and
 * setting a key reads and sets the property, and `notify::` notifies the observers of the key, on its thread. They do not get the old
 * value, nor are they notified before the change, because GLib does not say that a change is going to be made. The value of a property
 * that is an object is that object's KVO object, so that key paths lead through objects: "buffer.text". For a wrapper it is the object
 * wrapped.
 *
 * A number is set if the property's type can represent it, and then brought into its range as by g_param_value_validate(). Boxed
 * values, variants and pointers can be read as a pointer only.
 *
 * There is one for each GObject. When that is disposed of, its observations end, as of any KVO object that is destroyed. For a path that
 * leads through it that is no change, because who refers to a GObject keeps it, and notifies when it lets go. Any thread; but reading and
 * setting calls @object, which may need its own.
 *
 * Returns: (type gpointer) (transfer none) (nullable): the KVO object, which is valid until @object is finalized. %NULL, with a critical
 *   warning, if @object is no GObject, or there is no memory; %NULL for a wrapper whose object has been destroyed
 */
KVO_API kvo_object *kvo_glib_observe(gpointer object);

/**
 * kvo_glib_get_gobject:
 * @object: (type gpointer) (not nullable): a living KVO object
 *
 * Returns the GObject of a KVO object that kvo_glib_observe() has returned, or that the value of a property is. Any thread.
 *
 * Returns: (transfer none) (nullable): the GObject; %NULL for a KVO object of another kind, such as one that has a wrapper
 */
KVO_API GObject *kvo_glib_get_gobject(kvo_object *object);

G_END_DECLS

#endif /* KVO_GLIB_H */
