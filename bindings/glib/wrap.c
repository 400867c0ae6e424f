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

/* Under the lock: forgets the wrapper, and returns the place, whose reference it had. */
static kvo_glib_place *wrap_leave(kvo_glib_weak *weak) {
  weak->wrapper = NULL;
  weak->is_frozen = FALSE;
  return kvo_glib_place_at(weak->place);
}

static void wrap_dispose(GObject *object) {
  kvo_glib_weak *weak = ((kvo_glib_wrapper *)object)->weak;
  kvo_glib_lock();
  gboolean is_last = weak != NULL && weak->wrapper == object;
  kvo_glib_place *place = is_last ? wrap_leave(weak) : NULL;
  if (is_last) g_weak_ref_set(&weak->found, NULL);
  kvo_glib_unlock();
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

/* Makes it the wrapper, unless another thread has made one since `wrapped`: then it returns false. */
static gboolean wrap_enter(kvo_glib_weak *weak, GObject *made, const kvo_glib_place *place, unsigned wrapped) {
  kvo_glib_place *left = NULL;
  kvo_glib_lock();
  gboolean enters = weak->wrapped == wrapped;
  if (enters) {
    if (weak->wrapper != NULL) left = wrap_leave(weak); /* one that is about to be disposed of */
    ((kvo_glib_wrapper *)made)->weak = weak;
    g_weak_ref_set(&weak->found, made);
    weak->wrapper = made;
    weak->wrapped++;
    weak->place = place->index;
    weak->is_frozen = FALSE;
  }
  kvo_glib_unlock();
  if (left != NULL) kvo_glib_place_drop(left);
  return enters;
}

/* The wrapper that there is, with a reference, or NULL; and how many there have been before it was looked for. */
static GObject *wrap_find(kvo_glib_weak *weak, unsigned *wrapped) {
  kvo_glib_lock();
  *wrapped = weak->wrapped;
  kvo_glib_unlock();
  return kvo_glib_weak_wrapper(weak);
}

static GObject *wrap_make(kvo_glib_weak *weak, kvo_object *of, kvo_glib_place *place) {
  const kvo_glib_class *cls = kvo_glib_class_for(kvo_object_class(of));
  GObject *made = g_object_new(cls->type, NULL), *other;
  place = place != NULL ? kvo_glib_place_again(place) : kvo_glib_place_take();
  unsigned wrapped;
  while ((other = wrap_find(weak, &wrapped)) == NULL) {
    if (!wrap_enter(weak, made, place, wrapped)) continue;
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
  GObject *found = kvo_glib_weak_wrapper(weak);
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
