/* binding.c - what a binding keeps: changes of other threads, and its ends. */
#include "binding.h"

/* ------------------------------------------------------------------------------------------------------------ Waiting -- */

void binding_wait(KvoGlibBinding *of, GValue *value, gboolean is_change, void (*deliver)(GObject *binding)) {
  kvo_glib_lock();
  gboolean is_outdated = !is_change && of->has_changed, is_called = of->is_called || is_outdated;
  GValue replaced = is_outdated ? *value : of->waiting;
  if (!is_outdated) {
    of->waiting = *value;
    of->is_waiting = of->is_called = TRUE;
  }
  of->has_changed |= is_change;
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
  of->has_changed = TRUE;
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

/* Data of a target that is not disposed of: its bindings, under the lock. */
static GQuark binding_list_of(void) { return g_quark_from_static_string("kvo-glib-bindings"); }

/* The target is being disposed of, and has forgotten its handlers. From now on nobody else lets go of it. */
static void binding_target_ended(gpointer list, GObject *target) {
  GPtrArray *ended = list;
  kvo_glib_lock();
  g_object_steal_qdata(target, binding_list_of());
  for (guint i = 0; i < ended->len; i++) ((KvoGlibBinding *)ended->pdata[i])->is_attached = FALSE;
  kvo_glib_unlock();
  for (guint i = 0; i < ended->len; i++) {
    KvoGlibBinding *of = ended->pdata[i];
    of->handler = 0;
    kvo_glib_binding_unbind(of);
    if (of->depth == 0) binding_release_user_data(of);
    g_object_unref(of);
  }
  g_ptr_array_unref(ended);
}

void binding_attach(KvoGlibBinding *of, GObject *target, GCallback changed) {
  g_weak_ref_set(&of->target, target);
  kvo_glib_lock();
  of->is_attached = TRUE; /* with the reference of whoever made it */
  GPtrArray *list = g_object_get_qdata(target, binding_list_of());
  if (list == NULL) {
    list = g_ptr_array_new();
    g_object_set_qdata(target, binding_list_of(), list);
    g_object_weak_ref(target, binding_target_ended, list);
  }
  g_ptr_array_add(list, of);
  kvo_glib_unlock();
  if (changed == NULL) return;
  char *signal = g_strconcat("notify::", of->property->name, NULL);
  of->handler = g_signal_connect_data(target, signal, changed, of, NULL, 0);
  g_free(signal);
}

/* On the target's thread: lets go of it, unless it has ended or is just ending. */
static void binding_detach(GObject *object) {
  KvoGlibBinding *of = (KvoGlibBinding *)object;
  GObject *target = g_weak_ref_get(&of->target);
  if (target == NULL) return;
  kvo_glib_lock();
  gboolean was_attached = of->is_attached;
  of->is_attached = FALSE;
  if (was_attached) g_ptr_array_remove_fast(g_object_get_qdata(target, binding_list_of()), of);
  kvo_glib_unlock();
  if (was_attached) {
    if (of->handler != 0 && g_signal_handler_is_connected(target, of->handler))
      g_signal_handler_disconnect(target, of->handler);
    of->handler = 0;
    g_weak_ref_set(&of->target, NULL);
    if (of->depth == 0) binding_release_user_data(of);
    g_object_unref(of);
  }
  g_object_unref(target);
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
