/* wrap.c - wrappers: one GObject for each KVO object, whose properties are those of its class. */
#include "private.h"

static void kvo_glib_object_class_init(KvoGlibObjectClass *cls);
static void kvo_glib_object_init(KvoGlibObject *object) { (void)object; }
static gpointer wrap_parent_class;

GType kvo_glib_object_get_type(void) {
  static GType type;
  if (g_once_init_enter(&type)) {
    GTypeInfo info = {.class_size = sizeof(KvoGlibObjectClass),
                      .class_init = (GClassInitFunc)(void (*)(void))kvo_glib_object_class_init,
                      .instance_size = sizeof(kvo_glib_wrapper),
                      .instance_init = (GInstanceInitFunc)(void (*)(void))kvo_glib_object_init};
    g_once_init_leave(&type, g_type_register_static(G_TYPE_OBJECT, "KvoGlibObject", &info, 0));
  }
  return type;
}

kvo_glib_weak *kvo_glib_object_weak(KvoGlibObject *object) {
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  return weak != NULL ? kvo_glib_weak_again(weak) : NULL;
}

/* Takes the wrapper from where others find it. One that another thread has found just before goes on; but that thread may already have
 * dropped it again, when GObject would not call this another time. So the context gets a reference, which is dropped later. */
static void wrap_dispose(GObject *object) {
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  kvo_glib_place *place = NULL;
  gboolean is_kept = FALSE;
  kvo_glib_lock();
  if (weak != NULL && weak->wrapper == object) {
    place = kvo_glib_place_at(weak->place);
    is_kept = g_atomic_int_get(&object->ref_count) > 1;
    if (!is_kept) {
      weak->wrapper = NULL;
      weak->is_frozen = FALSE;
    }
  }
  kvo_glib_unlock();
  if (is_kept) {
    kvo_glib_place_run(place, NULL, object);
    return;
  }
  if (place != NULL) kvo_glib_place_drop(place);
  G_OBJECT_CLASS(wrap_parent_class)->dispose(object);
}

static void wrap_finalize(GObject *object) {
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  kvo_glib_lock();
  kvo_glib_kept *kept = kvo_glib_keep_steal((kvo_glib_wrapper *)object);
  kvo_glib_unlock();
  if (weak != NULL) kvo_glib_weak_drop(weak);
  if (kept != NULL) kvo_glib_keep_release(kept);
  G_OBJECT_CLASS(wrap_parent_class)->finalize(object);
}

static void kvo_glib_object_class_init(KvoGlibObjectClass *cls) {
  wrap_parent_class = g_type_class_peek_parent(cls);
  GObjectClass *object_class = G_OBJECT_CLASS(cls);
  object_class->dispose = wrap_dispose;
  object_class->finalize = wrap_finalize;
}

/* The wrapper that there is, with a reference. */
static GObject *wrap_find(kvo_glib_weak *weak) {
  kvo_glib_lock();
  GObject *object = weak->wrapper != NULL ? g_object_ref(weak->wrapper) : NULL;
  kvo_glib_unlock();
  return object;
}

static GObject *wrap_make(kvo_glib_weak *weak, kvo_object *of, kvo_glib_place *place) {
  const kvo_glib_class *cls = kvo_glib_class_for(kvo_object_class(of));
  GObject *made = g_object_new(cls->type, NULL);
  place = place != NULL ? kvo_glib_place_again(place) : kvo_glib_place_take();
  kvo_glib_lock();
  GObject *other = weak->wrapper; /* another thread may have made one meanwhile */
  if (other != NULL) {
    g_object_ref(other);
  } else {
    ((kvo_glib_wrapper *)made)->weak = weak;
    weak->wrapper = made;
    weak->place = place->index;
    weak->is_frozen = FALSE;
  }
  kvo_glib_unlock();
  if (other == NULL) {
    kvo_glib_wrapper_observe(weak, cls, of);
    return made;
  }
  kvo_glib_place_drop(place);
  kvo_glib_weak_drop(weak);
  g_object_unref(made);
  return other;
}

GObject *kvo_glib_wrap_at(kvo_object *object, kvo_glib_place *place) {
  kvo_glib_weak *weak = kvo_glib_weak_take(object);
  if (weak == NULL) return NULL;
  GObject *found = wrap_find(weak);
  if (found == NULL) return wrap_make(weak, object, place);
  kvo_glib_weak_drop(weak);
  return found;
}

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
 * not.
 *
 * Returns: (transfer full) (nullable): the wrapper, a #KvoGlibObject; %NULL, with a critical warning, for %NULL and for an object that is
 *   being destroyed
 */
GObject *kvo_glib_wrap(kvo_object *object) {
  g_return_val_if_fail(object != NULL, NULL);
  GObject *wrapper = kvo_glib_wrap_at(object, NULL);
  if (wrapper == NULL) g_critical("%s: the object is being destroyed", G_STRFUNC);
  return wrapper;
}

/**
 * kvo_glib_object_get_kvo_object:
 * @wrapper: a wrapper
 *
 * Returns the object of a wrapper, for the functions of kvo.h. It is not kept: use it only where it cannot be destroyed meanwhile.
 *
 * Returns: (type gpointer) (transfer none) (nullable): the object; %NULL if it has been destroyed
 */
kvo_object *kvo_glib_object_get_kvo_object(KvoGlibObject *wrapped) {
  g_return_val_if_fail(KVO_GLIB_IS_OBJECT(wrapped), NULL);
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)wrapped)->weak;
  kvo_glib_pin pin;
  kvo_object *object = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  if (object != NULL) kvo_glib_unpin(&pin);
  return object;
}
