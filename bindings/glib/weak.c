/* weak.c - KVO objects that are not kept: where each is while it lives, and who uses it meanwhile. */
#include "private.h"

/* Those of living objects, found by their addresses; under the lock. Only keys: a slot has 12 bytes. */
static GHashTable *known;

static guint weak_hash(gconstpointer weak) { return g_direct_hash(((const kvo_glib_weak *)weak)->object); }
static gboolean weak_equal(gconstpointer one, gconstpointer other) {
  return ((const kvo_glib_weak *)one)->object == ((const kvo_glib_weak *)other)->object;
}

static void weak_free(kvo_glib_weak *weak) {
  g_weak_ref_clear(&weak->found);
  g_slice_free(kvo_glib_weak, weak);
}

GObject *kvo_glib_weak_wrapper(kvo_glib_weak *weak) { return g_weak_ref_get(&weak->found); }

/* Under the lock. */
static void weak_forget(kvo_glib_weak *weak) {
  if (weak->object == NULL) return;
  g_hash_table_remove(known, weak);
  weak->object = NULL;
}

/* Called once: when the death of the object begins. It can still be observed, so that the threads that use it need not know. */
static void weak_dies(kvo_observation watch, void *user_data) {
  kvo_glib_weak *weak = user_data;
  (void)watch;
  kvo_glib_lock();
  weak->is_dying = TRUE;
  kvo_glib_pin_wait(weak);
  weak_forget(weak);
  kvo_glib_unlock();
}

/* Called once: when the object has died, or when nobody needs to know of it any more. */
static void weak_ended(void *user_data) {
  kvo_glib_weak *weak = user_data;
  kvo_glib_lock();
  weak->is_dying = TRUE; /* also if it was made too late to be asked */
  kvo_glib_pin_wait(weak);
  weak_forget(weak);
  gboolean is_last = --weak->references == 0;
  kvo_glib_kept *kept = weak->wrapper != NULL ? kvo_glib_keep_steal((kvo_glib_wrapper *)weak->wrapper) : NULL;
  kvo_glib_unlock();
  if (kept != NULL) kvo_glib_keep_release(kept);
  if (is_last) weak_free(weak);
}

static const kvo_observer_ops watch_ops = {.destroy = weak_ended, .ask = weak_dies};

kvo_glib_weak *kvo_glib_weak_find(const kvo_object *address) {
  return known != NULL ? g_hash_table_lookup(known, &(kvo_glib_weak){.object = (kvo_object *)address}) : NULL;
}

kvo_glib_weak *kvo_glib_weak_again(kvo_glib_weak *weak) {
  kvo_glib_lock();
  weak->references++;
  kvo_glib_unlock();
  return weak;
}

GObject *kvo_glib_weak_find_wrapper(const kvo_object *address, kvo_glib_place **place) {
  kvo_glib_lock();
  kvo_glib_weak *weak = kvo_glib_weak_find(address);
  if (weak != NULL) weak->references++;
  kvo_glib_unlock();
  GObject *found = weak != NULL ? kvo_glib_weak_wrapper(weak) : NULL;
  if (found != NULL && place != NULL) {
    kvo_glib_lock();
    *place = weak->wrapper == found ? kvo_glib_place_at(weak->place) : NULL;
    kvo_glib_unlock();
    if (*place == NULL) g_clear_object(&found); /* it has been disposed of meanwhile */
  }
  if (weak != NULL) kvo_glib_weak_drop(weak);
  return found;
}

kvo_glib_weak *kvo_glib_weak_take(kvo_object *object) {
  kvo_glib_lock();
  kvo_glib_weak *weak = kvo_glib_weak_find(object);
  if (weak != NULL) weak->references++;
  kvo_glib_unlock();
  if (weak != NULL) return weak;

  kvo_glib_weak *made = g_slice_new0(kvo_glib_weak);
  g_weak_ref_init(&made->found, NULL);
  made->references = 2; /* the watch's and the caller's */
  if (kvo_binding_observe_death(object, &watch_ops, made, &made->watch) != KVO_OK) {
    weak_free(made);
    return NULL;
  }
  kvo_glib_lock();
  weak = kvo_glib_weak_find(object); /* another thread may have made one meanwhile */
  if (weak != NULL) {
    weak->references++;
  } else {
    made->object = object;
    if (known == NULL) known = g_hash_table_new(weak_hash, weak_equal);
    g_hash_table_add(known, made);
  }
  kvo_glib_unlock();
  if (weak == NULL) return made;
  kvo_glib_weak_drop(made);
  return weak;
}

void kvo_glib_weak_drop(kvo_glib_weak *weak) {
  kvo_glib_lock();
  unsigned left = --weak->references;
  kvo_observation watch = weak->watch;
  if (left == 1) weak_forget(weak); /* the last one is that of the watch, unless the object has died */
  kvo_glib_unlock();
  if (left == 1)
    kvo_cancel_observer(watch);
  else if (left == 0)
    weak_free(weak);
}

/* ------------------------------------------------------------------------------------------------------------- Pins -- */

static kvo_glib_pin *pins;

void kvo_glib_pin_link(kvo_glib_pin *pin, const void *what) {
  *pin = (kvo_glib_pin){.what = what, .thread = g_thread_self(), .next = pins, .link = &pins};
  if (pins != NULL) pins->link = &pin->next;
  pins = pin;
}

void kvo_glib_pin_wait(const void *what) {
  const GThread *self = g_thread_self();
  const kvo_glib_pin *pin = pins;
  while (pin != NULL) {
    if (pin->what == what && pin->thread != self) {
      kvo_glib_wait();
      pin = pins;
    } else {
      pin = pin->next;
    }
  }
}

kvo_object *kvo_glib_weak_pin(kvo_glib_weak *weak, kvo_glib_pin *pin) {
  kvo_glib_lock();
  kvo_object *object = !weak->is_dying ? weak->object : NULL;
  if (object != NULL) kvo_glib_pin_link(pin, weak);
  kvo_glib_unlock();
  return object;
}

void kvo_glib_unpin(kvo_glib_pin *pin) {
  kvo_glib_lock();
  *pin->link = pin->next;
  if (pin->next != NULL) pin->next->link = pin->link;
  kvo_glib_wake();
  kvo_glib_unlock();
}
