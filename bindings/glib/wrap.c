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

GObject *kvo_glib_wrap(kvo_object *object) {
  g_return_val_if_fail(object != NULL, NULL);
  GObject *wrapper = kvo_glib_wrap_at(object, NULL);
  if (wrapper == NULL) g_critical("%s: the object is being destroyed", G_STRFUNC);
  return wrapper;
}

kvo_object *kvo_glib_object_get_kvo_object(KvoGlibObject *wrapped) {
  g_return_val_if_fail(KVO_GLIB_IS_OBJECT(wrapped), NULL);
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)wrapped)->weak;
  kvo_glib_pin pin;
  kvo_object *object = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  if (object != NULL) kvo_glib_unpin(&pin);
  return object;
}

gboolean kvo_glib_object_call(KvoGlibObject *wrapped, void (*function)(kvo_object *object, gpointer user_data),
                              gpointer user_data) {
  g_return_val_if_fail(KVO_GLIB_IS_OBJECT(wrapped) && function != NULL, FALSE);
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)wrapped)->weak;
  kvo_glib_pin pin;
  kvo_object *object = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  if (object == NULL) return FALSE;
  function(object, user_data);
  kvo_glib_unpin(&pin);
  return TRUE;
}
