/* binding.c - what a binding keeps: changes of other threads, and its ends. */
#include "binding.h"

/* ------------------------------------------------------------------------------------------------------------ Waiting -- */

void binding_wait(KvoGlibBinding *of, GValue *value, void (*deliver)(GObject *binding)) {
  kvo_glib_lock();
  GValue replaced = of->waiting;
  gboolean is_called = of->is_called;
  of->waiting = *value;
  of->is_waiting = of->is_called = TRUE;
  kvo_glib_unlock();
  if (G_IS_VALUE(&replaced)) g_value_unset(&replaced);
  *value = (GValue)G_VALUE_INIT;
  if (!is_called) kvo_glib_place_run(of->place, deliver, G_OBJECT(of));
}

gboolean binding_take_waiting(KvoGlibBinding *of, GValue *value) {
  kvo_glib_lock();
  gboolean is_waiting = of->is_waiting;
  *value = of->waiting;
  of->waiting = (GValue)G_VALUE_INIT;
  of->is_waiting = of->is_called = FALSE;
  kvo_glib_unlock();
  return is_waiting;
}

void binding_drop_waiting(KvoGlibBinding *of) {
  GValue dropped = G_VALUE_INIT;
  kvo_glib_lock();
  if (of->is_waiting) {
    dropped = of->waiting;
    of->waiting = (GValue)G_VALUE_INIT;
    of->is_waiting = FALSE;
  }
  kvo_glib_unlock();
  if (G_IS_VALUE(&dropped)) g_value_unset(&dropped);
}

/* --------------------------------------------------------------------------------------------------------------- Ends -- */

void binding_release_user_data(KvoGlibBinding *of) {
  GDestroyNotify notify = of->notify;
  of->notify = NULL;
  if (notify != NULL) notify(of->user_data);
}

void binding_enter(KvoGlibBinding *of) { of->depth++; }

void binding_leave(KvoGlibBinding *of) {
  if (--of->depth == 0 && binding_is_ended(of) && !of->is_attached) binding_release_user_data(of);
}

/* The target is being disposed of, and has forgotten its handlers. */
static void binding_target_ended(gpointer user_data, GObject *target) {
  KvoGlibBinding *of = user_data;
  (void)target;
  of->is_attached = FALSE;
  of->handler = 0;
  kvo_glib_binding_unbind(of);
  if (of->depth == 0) binding_release_user_data(of);
  g_object_unref(of);
}

void binding_attach(KvoGlibBinding *of, GObject *target, GCallback changed) {
  g_weak_ref_set(&of->target, target);
  of->is_attached = TRUE; /* with the reference of whoever made it */
  g_object_weak_ref(target, binding_target_ended, of);
  if (changed == NULL) return;
  char *signal = g_strconcat("notify::", of->property->name, NULL);
  of->handler = g_signal_connect_data(target, signal, changed, of, NULL, 0);
  g_free(signal);
}

/* On the target's thread: lets go of it, unless it has ended. */
static void binding_detach(GObject *object) {
  KvoGlibBinding *of = (KvoGlibBinding *)object;
  GObject *target = g_weak_ref_get(&of->target);
  if (target == NULL) return; /* it is being disposed of, also on another thread, and calls binding_target_ended */
  gboolean was_attached = of->is_attached;
  of->is_attached = FALSE;
  if (was_attached) {
    if (of->handler != 0) g_signal_handler_disconnect(target, of->handler);
    of->handler = 0;
    g_object_weak_unref(target, binding_target_ended, of);
    g_weak_ref_set(&of->target, NULL);
  }
  g_object_unref(target);
  if (!was_attached) return; /* it has been disposed of, and is still referred to */
  if (of->depth == 0) binding_release_user_data(of);
  g_object_unref(of);
}

void kvo_glib_binding_unbind(KvoGlibBinding *binding) {
  g_return_if_fail(KVO_GLIB_IS_BINDING(binding));
  kvo_glib_lock();
  gboolean had_ended = binding->is_ended;
  g_atomic_int_set(&binding->is_ended, TRUE);
  kvo_glib_unlock();
  if (had_ended) return;
  g_object_ref(binding);
  kvo_cancel_observer(binding->observation);
  binding_drop_waiting(binding);
  if (kvo_glib_place_is_here(binding->place))
    binding_detach(G_OBJECT(binding));
  else
    kvo_glib_place_run(binding->place, binding_detach, G_OBJECT(binding));
  g_object_unref(binding);
}
