/* binding.h - what the files of bindings share: a binding. */
#ifndef KVO_GLIB_BINDING_H
#define KVO_GLIB_BINDING_H

#include "private.h"

/* The observation, the target while it is attached, and each call that its context is going to make have a reference. */
struct _KvoGlibBinding {
  GObject parent_instance;
  kvo_glib_weak *source;
  kvo_glib_place *place;
  GParamSpec *property;
  char *key_path;
  kvo_observation observation;
  GBindingTransformFunc transform_to, transform_from;
  gpointer user_data;
  GDestroyNotify notify;
  GBindingFlags flags;
  GWeakRef target;
  /* Used by the target's thread. */
  gulong handler;
  unsigned depth;      /* how many calls of the program it is in */
  gboolean is_setting; /* what it sets itself is not sent back */
  gboolean is_attached;
  /* Set once, under the lock; read by any thread. */
  gint is_ended;
  /* Under the lock: what another thread has changed last. */
  gboolean is_waiting, is_called, has_changed;
  GValue waiting;
};

static inline gboolean binding_is_ended(const KvoGlibBinding *of) { return g_atomic_int_get(&of->is_ended); }

/* Around calls of the program by the target's thread. */
void binding_enter(KvoGlibBinding *of);
void binding_leave(KvoGlibBinding *of);
void binding_release_user_data(KvoGlibBinding *of);
/* Has the context call `deliver`, unless it is going to; takes the value. Drops what was read before a change and comes after it. */
void binding_wait(KvoGlibBinding *of, GValue *value, gboolean is_change, void (*deliver)(GObject *binding));
/* Takes what is waiting; false if nothing is. Ends the binding on the target's side, if it has ended. */
gboolean binding_take_waiting(KvoGlibBinding *of, GValue *value);
/* A change is delivered now, or the binding ends. */
void binding_drop_waiting(KvoGlibBinding *of);
/* Makes it end with the target, and, if there is a handler, connects it. */
void binding_attach(KvoGlibBinding *of, GObject *target, GCallback changed);

/* Converts as GBinding does; warns, and returns false, if that cannot be done. To the target's type, or to the model's. */
gboolean binding_convert(const KvoGlibBinding *of, gboolean is_to_target, const GValue *from, GValue *to);
/* Converts as the binding says. */
gboolean binding_transform(KvoGlibBinding *of, gboolean is_to_target, const GValue *from, GValue *to);
/* Whether the path leads, as far as is known now, to what can never be set. */
gboolean binding_model_is_read_only(kvo_object *object, const char *key_path);
/* The callbacks of the observation and of notify::, and a reader of the model's value at the beginning. */
void binding_model_changed(const kvo_change *change, void *binding);
void binding_target_changed(GObject *target, GParamSpec *property, gpointer binding);
void binding_read(const kvo_value *value, void *binding);

#endif
