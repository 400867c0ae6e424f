/* wrap.c - wrappers: one GObject for each KVO object, whose properties are those of its class. */
#include "private.h"

typedef struct wrapper {
  KvoGlibObject parent;
  kvo_glib_weak *weak; /* NULL if it is of no object */
} wrapper;

static void kvo_glib_object_class_init(KvoGlibObjectClass *cls);
static void kvo_glib_object_init(KvoGlibObject *object) { (void)object; }
static gpointer wrap_parent_class;

GType kvo_glib_object_get_type(void) {
  static GType type;
  if (g_once_init_enter(&type)) {
    GTypeInfo info = {.class_size = sizeof(KvoGlibObjectClass),
                      .class_init = (GClassInitFunc)(void (*)(void))kvo_glib_object_class_init,
                      .instance_size = sizeof(wrapper),
                      .instance_init = (GInstanceInitFunc)(void (*)(void))kvo_glib_object_init};
    g_once_init_leave(&type, g_type_register_static(G_TYPE_OBJECT, "KvoGlibObject", &info, 0));
  }
  return type;
}

kvo_glib_weak *kvo_glib_object_weak(KvoGlibObject *object) {
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
  return weak != NULL ? kvo_glib_weak_again(weak) : NULL;
}

GObject *kvo_glib_object_dead(void) { return g_object_new(KVO_GLIB_TYPE_OBJECT, NULL); }

/* -------------------------------------------------------------------------------------------------------- Properties -- */

static void wrap_read(const kvo_value *value, void *to) {
  GValue read = G_VALUE_INIT;
  if (!kvo_glib_value_init_from(&read, value, NULL)) return;
  kvo_glib_value_convert(&read, to);
  g_value_unset(&read);
}

static void wrap_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  (void)id;
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
  kvo_glib_pin pin;
  kvo_object *of = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  g_param_value_set_default(spec, value);
  if (of == NULL) return;
  const char *key = g_param_spec_get_nick(spec);
  if (spec->value_type == G_TYPE_LIST_MODEL) {
    g_value_take_object(value, kvo_glib_list_model(of, key));
  } else {
    kvo_status status = kvo_get_value(of, key, wrap_read, value);
    if (status != KVO_OK) kvo_glib_critical_status(status);
  }
  kvo_glib_unpin(&pin);
}

static void wrap_set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  (void)id;
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
  kvo_glib_pin pin;
  kvo_object *of = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  if (of == NULL) return;
  kvo_glib_view view;
  kvo_glib_view_begin(&view, value);
  kvo_status status = kvo_set_value(of, g_param_spec_get_nick(spec), &view.value);
  kvo_glib_view_end(&view);
  if (status != KVO_OK && status != KVO_ERROR_REFUSED) kvo_glib_critical_status(status);
  kvo_glib_unpin(&pin);
}

void kvo_glib_object_class_accessors(GObjectClass *cls) {
  cls->get_property = wrap_get_property;
  cls->set_property = wrap_set_property;
}

/* --------------------------------------------------------------------------------------------------- notify:: of keys -- */

/* On the wrapper's context: lets what has waited out. */
static void wrap_thaw(GObject *object) {
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
  kvo_glib_lock();
  gboolean is_frozen = weak->is_frozen && weak->wrapper == object;
  if (is_frozen) weak->is_frozen = FALSE;
  kvo_glib_unlock();
  if (is_frozen) g_object_thaw_notify(object);
}

static void wrap_notify(GObject *object, GParamSpec *spec, const kvo_glib_place *place) {
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
  if (kvo_glib_place_is_here(place)) {
    wrap_thaw(object); /* what other threads have changed before is first */
    g_object_notify_by_pspec(object, spec);
    return;
  }
  g_object_freeze_notify(object);
  g_object_notify_by_pspec(object, spec); /* waits, once however often the key changes */
  kvo_glib_lock();
  gboolean was_frozen = weak->is_frozen;
  weak->is_frozen = TRUE;
  if (was_frozen)
    g_object_thaw_notify(object); /* which the other freeze keeps from calling anybody: wrap_thaw needs the lock */
  kvo_glib_unlock();
  if (!was_frozen) kvo_glib_place_run(place, wrap_thaw, object);
}

/* The wrapper is found by the object: there may be none, or another one, which wants to know, too. */
static void wrap_changed(const kvo_change *change, void *user_data) {
  (void)user_data;
  kvo_glib_lock();
  kvo_glib_weak *weak = kvo_glib_weak_find(change->object);
  GObject *object = weak != NULL && weak->wrapper != NULL ? g_object_ref(weak->wrapper) : NULL;
  const kvo_glib_place *place = object != NULL ? kvo_glib_place_at(weak->place) : NULL;
  kvo_glib_unlock();
  if (object == NULL) return;
  wrap_notify(object, change->context, place);
  g_object_unref(object);
}

typedef struct wrap_handler {
  kvo_fault_handler function;
  void *arg;
} wrap_handler;

/* A key that never changes is observed like the others, which is no mistake here. */
static kvo_action wrap_quiet(const kvo_fault *fault, void *arg) {
  const wrap_handler *outer = arg;
  if (fault->code == KVO_FAULT_NEVER_NOTIFIES) return KVO_ACTION_IGNORE;
  return outer->function != NULL ? outer->function(fault, outer->arg) : KVO_ACTION_DEFAULT;
}

/* Each observation ends the one that was made before it, and the first one the watch: whoever ends the newest ends all, and nobody needs
 * to keep the others. They may have ended with the object. */
static void wrap_ended(void *before) { kvo_cancel_observer((kvo_observation)(uintptr_t)before); }

/* Observes the keys, as long as anything here uses the object. */
static void wrap_observe(kvo_glib_weak *weak, const kvo_glib_class *cls, kvo_object *object) {
  kvo_glib_lock();
  gboolean was_observed = weak->is_observed;
  kvo_observation newest = weak->watch;
  weak->is_observed = TRUE;
  kvo_glib_unlock();
  if (was_observed) return;
  wrap_handler outer;
  outer.function = kvo_get_thread_fault_handler(&outer.arg);
  kvo_set_thread_fault_handler(wrap_quiet, &outer);
  for (size_t i = 0; i < cls->count; i++) {
    if (!cls->keys[i].notifies) continue;
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = cls->keys[i].name,
                             .options = KVO_ENDS_WITH_OBJECT,
                             .callback = wrap_changed,
                             .user_data = (void *)(uintptr_t)newest,
                             .destroy = wrap_ended,
                             .context = cls->keys[i].spec,
                             KVO_HERE};
    kvo_add_observer(object, &observer, &newest);
  }
  kvo_set_thread_fault_handler(outer.function, outer.arg);
  kvo_glib_lock();
  weak->watch = newest;
  kvo_glib_unlock();
}

/* -------------------------------------------------------------------------------------------------------------- Lives -- */

/* Takes the wrapper from where others find it. One that another thread has found just before goes on; but that thread may already have
 * dropped it again, when GObject would not call this another time. So the context gets a reference, which is dropped later. */
static void wrap_dispose(GObject *object) {
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
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
  kvo_glib_weak *weak = ((wrapper *)object)->weak;
  if (weak != NULL) kvo_glib_weak_drop(weak);
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
    ((wrapper *)made)->weak = weak;
    weak->wrapper = made;
    weak->place = place->index;
    weak->is_frozen = FALSE;
  }
  kvo_glib_unlock();
  if (other == NULL) {
    wrap_observe(weak, cls, of);
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
 * object's keys as long as it lives, because GLib does not tell when a handler is connected.
 *
 * The wrapper does not keep the object: afterwards its properties have their default values, and setting them does nothing. `notify::` is
 * emitted on the main context that was the thread default when the wrapper was made: at once for changes on its thread, otherwise later,
 * as one, like g_object_thaw_notify(). A value that cannot be read or set is a critical warning; one that the object's setter refuses is not.
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
  kvo_glib_weak *weak = ((wrapper *)wrapped)->weak;
  kvo_glib_pin pin;
  kvo_object *object = weak != NULL ? kvo_glib_weak_pin(weak, &pin) : NULL;
  if (object != NULL) kvo_glib_unpin(&pin);
  return object;
}
