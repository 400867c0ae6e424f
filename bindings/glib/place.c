/* place.c - where what the library makes may be used: the main context of its thread; and the library's lock. */
#include "private.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

void kvo_glib_lock(void) { pthread_mutex_lock(&lock); }
void kvo_glib_unlock(void) { pthread_mutex_unlock(&lock); }
void kvo_glib_wait(void) { pthread_cond_wait(&changed, &lock); }
void kvo_glib_wake(void) { pthread_cond_broadcast(&changed); }

/* Under the lock. A program has a few; NULL where one has ended. */
static GPtrArray *places;

static kvo_glib_place *place_find(const GThread *home, const GMainContext *context) {
  for (unsigned i = 0; places != NULL && i < places->len; i++) {
    kvo_glib_place *place = g_ptr_array_index(places, i);
    if (place != NULL && place->home == home && place->context == context) return place;
  }
  return NULL;
}

static void place_list(kvo_glib_place *place) {
  if (places == NULL) places = g_ptr_array_new();
  unsigned index = 0;
  while (index < places->len && g_ptr_array_index(places, index) != NULL) index++;
  if (index == places->len) g_ptr_array_add(places, NULL);
  place->index = index;
  g_ptr_array_index(places, index) = place;
}

kvo_glib_place *kvo_glib_place_take(void) {
  GThread *self = g_thread_self();
  GMainContext *context = g_main_context_ref_thread_default();
  kvo_glib_lock();
  kvo_glib_place *place = place_find(self, context);
  if (place == NULL) {
    place = g_new0(kvo_glib_place, 1);
    place->home = g_thread_ref(self); /* so that no other thread gets its address */
    place->context = g_main_context_ref(context);
    place_list(place);
  }
  place->references++;
  kvo_glib_unlock();
  g_main_context_unref(context);
  return place;
}

kvo_glib_place *kvo_glib_place_again(kvo_glib_place *place) {
  kvo_glib_lock();
  place->references++;
  kvo_glib_unlock();
  return place;
}

void kvo_glib_place_drop(kvo_glib_place *place) {
  kvo_glib_lock();
  gboolean is_last = --place->references == 0;
  if (is_last) g_ptr_array_index(places, place->index) = NULL;
  kvo_glib_unlock();
  if (!is_last) return;
  g_main_context_unref(place->context);
  g_thread_unref(place->home);
  g_free(place);
}

kvo_glib_place *kvo_glib_place_at(unsigned index) { return g_ptr_array_index(places, index); }

gboolean kvo_glib_place_is_here(const kvo_glib_place *place) {
  if (g_main_context_is_owner(place->context)) return TRUE;
  if (place->home != g_thread_self() || !g_main_context_acquire(place->context)) return FALSE;
  g_main_context_release(place->context);
  return TRUE;
}

typedef struct place_call {
  void (*run)(GObject *object);
  GObject *object;
} place_call;

static gboolean place_dispatch(gpointer data) {
  place_call *call = data;
  kvo_glib_lock(); /* orders it after kvo_glib_place_run for ThreadSanitizer, which does not know the locks of GLib */
  kvo_glib_unlock();
  if (call->run != NULL) call->run(call->object);
  return G_SOURCE_REMOVE;
}

static void place_call_free(gpointer data) {
  place_call *call = data;
  g_object_unref(call->object);
  g_free(call);
}

/* As an idle source: what other threads change all the time keeps no event, timeout or redraw from its turn. */
void kvo_glib_place_run(const kvo_glib_place *place, void (*run)(GObject *object), GObject *object) {
  place_call *call = g_new(place_call, 1);
  *call = (place_call){run, g_object_ref(object)};
  kvo_glib_lock();
  kvo_glib_unlock();
  GSource *source = g_idle_source_new();
  g_source_set_name(source, "kvo-glib");
  g_source_set_callback(source, place_dispatch, call, place_call_free);
  g_source_attach(source, place->context);
  g_source_unref(source);
}
