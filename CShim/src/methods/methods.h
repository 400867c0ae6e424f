/* methods/methods.h - functions of classes that are called by name, and the hooks on them: method.c, hook.c, call.c. Start with kvo_method.
 * circle: call.c, hook.c, method.c: a method has a trampoline, which calls hooks, which are on methods. */
#ifndef KVO_METHODS_METHODS_H
#define KVO_METHODS_METHODS_H

#include "registry/registry.h"

/** Two parameters that are int, double or pointers, '^'. */
#define KVO_SHAPE(one, other) ((one) << 8 | (other))

enum { KVO_MAX_PARAMETERS = 12, KVO_MAX_RESULT = 256 };

typedef struct kvo_method kvo_method;

/** A registered hook. Each chain that contains it has a reference. */
typedef struct kvo_hooking {
  kvo_index_entry by_id;
  kvo_hook id;
  kvo_method *method;
  /** One of these; the other is NULL. */
  kvo_object *object;
  kvo_class *cls;
  kvo_hook_when when;
  int32_t order;
  kvo_hook_function function;
  void *user_data;
  void (*destroy)(void *user_data);
  _Atomic bool live;
  _Atomic uint32_t references;
} kvo_hooking;

/** The place of a hook in a chain. */
typedef struct kvo_link {
  int32_t order;
  kvo_hook id;
  /** NULL: it was removed. */
  kvo_hooking *hook;
} kvo_link;

/** Hooks in the order in which they run. The links do not change while a call uses it. */
typedef struct kvo_chain {
  /** The calls, and the list that it is in. */
  _Atomic uint32_t users;
  uint32_t count, capacity;
  /** How many links are those of removed hooks. Under the lock of hooks. */
  uint32_t removed;
  /** How many there are before, instead and after: by kvo_hook_when. */
  uint32_t kinds[4];
  kvo_link links[];
} kvo_chain;

/** A function of a class. Constant once added, except for the last members; kept for the next one that is like it, as classes are. */
struct kvo_method {
  kvo_index_entry entry;
  kvo_class *cls;
  kvo_key key;
  char *name, *type;
  kvo_function function;
  void *user;
  bool with_user;
  /** The class was unregistered. Under the lock of methods. */
  bool is_retired;
  /** The method of this name that the class had before, with another signature; all of these are retired. Under the lock of methods. */
  kvo_method *earlier;
  ffi_type *result;
  char *result_type;
  /** Of the parameters after the object. */
  size_t count;
  char *types[KVO_MAX_PARAMETERS];
  /** A bit for each parameter that is a string or an object, whose value may be nil. */
  uint32_t references;
  /** The codes of the parameters, for calls by exact type: 'v' for none; that of the only one; KVO_SHAPE of two; 0 for others. */
  int shape;
  ffi_type *arguments[1 + KVO_MAX_PARAMETERS + 1];
  /** The program's function, and the same without user. */
  ffi_cif cif, entry_cif;
  /** Made at the first request. */
  _Atomic(void *) trampoline;
  /** How many hooks are on it, on the class or on objects. */
  _Atomic uint32_t hooked;
  /** The hooks on the class, or NULL. Under the lock of hooks. */
  kvo_chain *chain;
};

/* -------------------------------------------------------------------------------------------------------- method.c -- */

/** The method that the objects of a class have by this name, or NULL. */
KVO_HIDDEN kvo_method *kvo__method_find(const kvo_class *cls, const char *name);
/** The trampoline of a method; NULL without memory. */
KVO_HIDDEN kvo_function kvo__method_trampoline(kvo_method *method);
/** A method whose function or argument is in the module; NULL if there is none. */
KVO_HIDDEN const kvo_method *kvo__method_in(const kvo_module_range *module);
/** A class is unregistered: its methods end. */
KVO_HIDDEN void kvo__methods_end(kvo_class *cls);

/* ---------------------------------------------------------------------------------------------------------- hook.c -- */

/** Stores the hooks on the class and on the object that a call has to use, or NULL; false if there are none. */
KVO_HIDDEN bool kvo__chains_take(kvo_method *method, const kvo_object *object, kvo_chain *chains[2]);
KVO_HIDDEN void kvo__chain_let_go(kvo_chain *chain);
/** The method of a hook that has a function or an argument in the module; NULL if there is none. */
KVO_HIDDEN const kvo_method *kvo__hook_in(const kvo_module_range *module);
/** Ends the hooks on an object that dies. */
KVO_HIDDEN void kvo__hooks_forget(const kvo_object *object);

/* ---------------------------------------------------------------------------------------------------------- call.c -- */

/** The body of trampolines, as libffi calls it. */
KVO_HIDDEN void kvo__method_called(ffi_cif *cif, void *result, void **arguments, void *user_data);

#endif /* KVO_METHODS_METHODS_H */
