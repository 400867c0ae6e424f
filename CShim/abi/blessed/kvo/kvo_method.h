/* kvo_method.h - functions of a class that are called by name, and hooks on them: before, instead of and after. Part of kvo.h.
 *
 *     static int area(const Box *box, int scale) { return box->width * box->height * scale; }
 *
 *     kvo_method_spec methods[] = { { .name = "area", .type = "i@i", .function = (kvo_function)area } };
 *     kvo_class_add_methods(box_class, methods, 1, sizeof *methods);
 *
 *     int result = ((int (*)(kvo_object *, int))kvo_object_method(box, "area"))(box, 2);
 *
 *     static void log_area(kvo_call *call, void *user_data) { printf("%d\n", *(int *)call->result); }
 *     kvo_hook_spec spec = { .struct_size = sizeof spec, .method = "area", .when = KVO_HOOK_AFTER, .function = log_area };
 *     kvo_hook hook;
 *     kvo_object_hook(box, &spec, &hook);    // or kvo_class_hook, for all boxes
 *     kvo_hook_remove(hook);
 *
 * As long as nothing is hooked, kvo_object_method returns the program's own function; then a trampoline with the same signature. All of it
 * is our decision. Hooks are ordered by `order`, those of the same order by registration, whether they are on the class or on the object.
 * They run on the thread of the call, with no lock held, and may add and remove hooks: this call goes on with those that it began with,
 * except removed ones. They must return; see the general rules of kvo.h.
 */
#ifndef KVO_METHOD_H
#define KVO_METHOD_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ---------------------------------------------------------------------------------------------------------- Methods -- */

enum {
  /** The function has one more parameter, the last one, which is `user`. Callers do not pass it. */
  KVO_METHOD_WITH_USER = 1u << 0,
};

/** Describes a method. Set unused members to zero. */
typedef struct kvo_method_spec {
  /** The name: not empty. */
  const char *name;
  /** The encoding of the result, "v" for none, then "@" for the object, then those of at most 12 parameters: "v@", "d@id". A result has at
   * most 256 bytes. */
  const char *type;
  /** The function. */
  kvo_function function;
  /** KVO_METHOD_… bits. */
  uint32_t flags;
  /** For KVO_METHOD_WITH_USER: what the function gets. */
  void *KVO_NULLABLE user;
} kvo_method_spec;

/** Adds methods to a class; its subclasses inherit them, and may add their own of the same name, which then are called for their objects.
 * `method_size` is sizeof(kvo_method_spec). Call it before other threads use objects of the class. The methods end with the class.
 *
 * Fails with INVALID_ARGUMENT, DUPLICATE_KEY (the class has a method of this name), BAD_TYPE_ENCODING, UNSUPPORTED_SETTER (libffi cannot
 * call it) or OUT_OF_MEMORY; then none is added, and kvo_last_error names the method. */
KVO_API kvo_status kvo_class_add_methods(kvo_class *cls, const kvo_method_spec *methods, size_t count,
                                         size_t method_size);

/** Returns the function to call now, for the class of this object: the program's, or, if it is hooked, a trampoline with the same
 * signature. Look it up for each call; one kept from before the first hook calls no hooks. NULL if there is no such method, for NULL, and
 * if there is no executable memory for a method with user data. */
KVO_API kvo_function KVO_NULLABLE kvo_object_method(const kvo_object *object, const char *name);

/** Calls a method with its hooks, without a trampoline, for bindings: `arguments` points to the addresses of the arguments after the
 * object, `result` to room for the result; both may be NULL if there are none. Fails with INVALID_ARGUMENT (NULL) or UNDEFINED_KEY. */
KVO_API kvo_status kvo_object_call(kvo_object *object, const char *name,
                                   void *KVO_NULLABLE const *KVO_NULLABLE arguments, void *KVO_NULLABLE result);

/* ------------------------------------------------------------------------------------------------------------ Hooks -- */

/** When a hook is called. */
typedef enum kvo_hook_when {
  /** Before the function. */
  KVO_HOOK_BEFORE = 1,
  /** In place of the function; kvo_call_proceed calls the next such hook, and after the last one the function. */
  KVO_HOOK_INSTEAD = 2,
  /** After the function, whose result it may replace. */
  KVO_HOOK_AFTER = 3,
} kvo_hook_when;

/** A call that is hooked. Valid until the hook returns. */
typedef struct kvo_call {
  /** The object whose method is called. */
  kvo_object *object;
  /** The name of the method. */
  const char *method;
  /** The arguments after the object. */
  const kvo_value *arguments;
  size_t argument_count;
  /** The encoding of the result: "v" for none. */
  const char *result_type;
  /** The size of the result in bytes: 0 for none. */
  size_t result_size;
  /** The result: zero until the function, or a hook instead of it, has set it. A hook may write a value of the type. */
  void *result;
} kvo_call;

/** Called for a call of the method. No lock is held. */
typedef void (*kvo_hook_function)(kvo_call *call, void *KVO_NULLABLE user_data);

/** Describes a hook. Set unused members to zero. */
typedef struct kvo_hook_spec {
  /** sizeof(kvo_hook_spec), so that later versions can add members. */
  size_t struct_size;
  /** The name of a method. */
  const char *method;
  /** When the hook is called. */
  kvo_hook_when when;
  /** Lower ones run first. */
  int32_t order;
  /** What is called. */
  kvo_hook_function function;
  /** Passed to the function. */
  void *KVO_NULLABLE user_data;
  /** NULL, or a function that is called once with user_data when the hook has ended and no call of it is running or can run any more; not
   * if the registration fails. */
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
} kvo_hook_spec;

/** Identifies a hook. Never 0, and never reused. */
typedef uint64_t kvo_hook;

/** Adds a hook on a method of one object, and stores its id in `*out`, which may be NULL. It ends with the object. Fails with
 * INVALID_ARGUMENT, UNDEFINED_KEY (no such method), DYING_OBJECT, NO_INTERCEPTION (no executable memory) or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_object_hook(kvo_object *object, const kvo_hook_spec *spec, kvo_hook *KVO_NULLABLE out);

/** The same for all objects of a class and of the subclasses that inherit the method. While it is there the class cannot be
 * unregistered. */
KVO_API kvo_status kvo_class_hook(kvo_class *cls, const kvo_hook_spec *spec, kvo_hook *KVO_NULLABLE out);

/** Removes a hook. After it returns no call of it begins on any thread; one that has begun on another thread may still be running, and
 * `destroy` is called after it. Returns NOT_REGISTERED if it had ended. */
KVO_API kvo_status kvo_hook_remove(kvo_hook hook);

/** In a hook instead of a method: calls the next one, or the function, which sets the result. May be called any number of times. Fails with
 * INVALID_ARGUMENT in other hooks and for NULL. */
KVO_API kvo_status kvo_call_proceed(kvo_call *call);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_METHOD_H */
