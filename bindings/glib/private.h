/* private.h - what the files of kvo-glib share. */
#ifndef KVO_GLIB_PRIVATE_H
#define KVO_GLIB_PRIVATE_H

#include <kvo/kvo_glib.h>
#include <kvo/kvo_raw.h>

/* ----------------------------------------------------------------------------------------------------------- place.c -- */

/* A main context, and the thread whose default it was when the place was taken. Counted. */
typedef struct kvo_glib_place {
  GThread *home;
  GMainContext *context;
  unsigned references; /* under the lock, as those that are counted are listed */
  unsigned index;      /* never changes; below 2^29 */
} kvo_glib_place;

/* The one lock of the library. Nothing of the program, of GObject or of the runtime that calls anybody runs under it. */
void kvo_glib_lock(void);
void kvo_glib_unlock(void);
/* Waits for kvo_glib_wake, without the lock meanwhile. */
void kvo_glib_wait(void);
void kvo_glib_wake(void);

/* The place of this thread, with a reference. */
kvo_glib_place *kvo_glib_place_take(void);
kvo_glib_place *kvo_glib_place_again(kvo_glib_place *place);
void kvo_glib_place_drop(kvo_glib_place *place);
/* Under the lock: the place of an index, without a reference. */
kvo_glib_place *kvo_glib_place_at(unsigned index);
/* Whether what belongs to the place may be used on this thread now: it runs the context, or is at home while nobody runs it. */
gboolean kvo_glib_place_is_here(const kvo_glib_place *place);
/* Has the context call `run`, unless it is NULL, once, with an object that is kept until then. */
void kvo_glib_place_run(const kvo_glib_place *place, void (*run)(GObject *object), GObject *object);

/* ------------------------------------------------------------------------------------------------------------ weak.c -- */

/* What the library knows of a KVO object, one for each: where it is as long as it lives, and its wrapper. Counted. */
typedef struct kvo_glib_weak {
  kvo_object *object; /* under the lock: NULL when it is dead */
  /* Under the lock: the watch of its death, or the newest of the observations that end this one: see kvo_glib_wrapper_observe. */
  kvo_observation watch;
  GObject *wrapper; /* under the lock, without a reference, until it is being disposed of */
  GWeakRef
      found; /* the same for who wants a reference: GObject knows whether it is the last one that is being dropped */
  unsigned references;      /* under the lock */
  unsigned wrapped;         /* under the lock: how many wrappers there have been */
  unsigned place : 29;      /* under the lock: the wrapper's */
  unsigned is_frozen : 1;   /* under the lock: the wrapper's notifications wait for its context */
  unsigned is_observed : 1; /* under the lock: its keys are */
  unsigned is_dying : 1;    /* under the lock: no pins are made any more */
} kvo_glib_weak;

/* An object that a thread reads, or a list model that it reads: another thread that destroys it, or what it has, waits. On the stack. */
typedef struct kvo_glib_pin {
  const void *what;
  GThread *thread;
  struct kvo_glib_pin *next, **link;
} kvo_glib_pin;

/* Returns NULL for an object that is being destroyed. The object is alive. */
kvo_glib_weak *kvo_glib_weak_take(kvo_object *object);
kvo_glib_weak *kvo_glib_weak_again(kvo_glib_weak *weak);
void kvo_glib_weak_drop(kvo_glib_weak *weak);
/* Under the lock: that of an object of which perhaps only the address is left; NULL if there is none. No reference. */
kvo_glib_weak *kvo_glib_weak_find(const kvo_object *address);
/* The wrapper, with a reference; NULL if there is none. Not under the lock: a reference may call a toggle notification. */
GObject *kvo_glib_weak_wrapper(kvo_glib_weak *weak);
/* The same of an object of which perhaps only the address is left, and its place, unless `place` is NULL. */
GObject *kvo_glib_weak_find_wrapper(const kvo_object *address, kvo_glib_place **place);
/* Returns the object, which lives until kvo_glib_unpin; NULL, without a pin, if it is dead. */
kvo_object *kvo_glib_weak_pin(kvo_glib_weak *weak, kvo_glib_pin *pin);
void kvo_glib_unpin(kvo_glib_pin *pin);
/* Under the lock: pins; waits for the pins of other threads. */
void kvo_glib_pin_link(kvo_glib_pin *pin, const void *what);
void kvo_glib_pin_wait(const void *what);

/* ----------------------------------------------------------------------------------------------------------- value.c -- */

/* The type of a GValue for a type encoding; G_TYPE_INVALID if there is none. */
GType kvo_glib_type_for_encoding(const char *encoding);
/* Makes a GValue of a value; the wrapper of an object is made for the place, or for this thread's if it is NULL. False, and none, for a
 * value that has no type in GLib, and for nil where the type has none. A string is the kvo_value's: g_value_copy copies it. */
gboolean kvo_glib_value_init_from(GValue *to, const kvo_value *from, kvo_glib_place *place);
/* Whether it is a value, but one that has no type in GLib: a structure, a list, a value of a language. */
gboolean kvo_glib_value_is_foreign(const kvo_value *value);
/* Converts as GBinding does, to a value that has its type; false if that cannot be done. */
gboolean kvo_glib_value_convert(const GValue *from, GValue *to);
/* Before a property is set: makes it a value that the property can have. Instead of NULL a string is the default: who sets a text of GTK to
 * NULL crashes. */
void kvo_glib_value_fit(GParamSpec *property, GValue *value);
/* A kvo_value of a GValue, valid as long as both. An object is pinned. */
typedef struct kvo_glib_view {
  kvo_value value;
  union {
    bool truth;
    int integer;
    unsigned natural;
    gpointer pointer;
    const char *string;
    kvo_object *object;
  } storage;
  kvo_glib_weak *weak;
  kvo_glib_pin pin;
} kvo_glib_view;
void kvo_glib_view_begin(kvo_glib_view *view, const GValue *of);
void kvo_glib_view_end(kvo_glib_view *view);

/* ------------------------------------------------------------------------------------------------------------ type.c -- */

/* A property of a class. The nick of its GParamSpec is the key. */
typedef struct kvo_glib_key {
  char *name;
  char *encoding;
  GParamSpec *spec;  /* NULL if it is none of the wrapper */
  gboolean notifies; /* whether changes of the value are notify:: */
} kvo_glib_key;

/* A class of which there are, or were, wrappers. Lasts as long as the process, as GTypes do. */
typedef struct kvo_glib_class {
  GType type;
  char *name;
  size_t count;
  kvo_glib_key *keys;
} kvo_glib_class;

/* Returns that of a registered class. */
const kvo_glib_class *kvo_glib_class_for(kvo_class *cls);

/* ------------------------------------------------------------------------------------------------------------ wrap.c -- */

typedef struct kvo_glib_wrapper {
  KvoGlibObject parent;
  kvo_glib_weak *weak; /* NULL if it is of no object */
} kvo_glib_wrapper;

/* Observes the keys of its object, as long as anything here uses that. */
void kvo_glib_wrapper_observe(kvo_glib_weak *weak, const kvo_glib_class *cls, kvo_object *object);
/* The wrapper's, with a reference; NULL if it is of no object. */
kvo_glib_weak *kvo_glib_object_weak(KvoGlibObject *wrapper);
/* GObject has each class of objects with properties say how they are read and set. */
void kvo_glib_object_class_accessors(GObjectClass *cls);
/* kvo_glib_wrap for a place, or for this thread's if it is NULL; NULL, and no warning, for an object that is being destroyed. */
GObject *kvo_glib_wrap_at(kvo_object *object, kvo_glib_place *place);

/* ------------------------------------------------------------------------------------------------------------ keep.c -- */

typedef struct kvo_glib_kept kvo_glib_kept;
/* The property has returned this: it is kept if it is a wrapper, instead of what was. */
void kvo_glib_keep(kvo_glib_wrapper *keeper, const GParamSpec *spec, GObject *value);
/* The property has changed: takes out what it has kept, unless it still has that object; NULL if there is none. */
kvo_glib_kept *kvo_glib_keep_changed(kvo_glib_wrapper *keeper, const GParamSpec *spec, kvo_object *of);
/* Under the lock: takes out all. */
kvo_glib_kept *kvo_glib_keep_steal(kvo_glib_wrapper *keeper);
/* Releases what has been taken out. */
void kvo_glib_keep_release(kvo_glib_kept *list);

/* ------------------------------------------------------------------------------------------------------ value_item.c -- */

KvoGlibValue *kvo_glib_value_item(const kvo_value *of, kvo_glib_place *place);
gboolean kvo_glib_value_item_equal(KvoGlibValue *one, KvoGlibValue *other);

/* --------------------------------------------------------------------------------------------- observe.c, observe_values.c -- */

/* It is data of the GObject, and lasts as long. */
typedef struct kvo_glib_observed {
  kvo_object header;
  GObject *object;
  gboolean is_connected; /* under the lock, or while the GObject is being disposed of */
} kvo_glib_observed;

/* The operations on its values, and the type encoding for one. */
extern const kvo_value_ops kvo_glib_observed_ops;
const char *kvo_glib_observed_encoding(GType type);
/* The GObject of which this is the KVO object, with a reference; NULL if it is none. The object is alive. */
GObject *kvo_glib_observed_dup(kvo_object *object);

/* Says what was wrong in a call of the runtime. */
#define kvo_glib_critical_status(status)                                                                               \
  g_critical("%s: %s", G_STRFUNC, *kvo_last_error() != 0 ? kvo_last_error() : kvo_status_string(status))

#endif
