/* kvo_bind.h - bindings: properties that follow other properties.
 *
 * A binding sets its target to the value of its source, when it is made and after each change. All bindings settle before anyone is
 * notified of a change: each after those that set what it reads, so once, whatever the number of ways from the change to it. Then the
 * observers of all that was set are notified, once each, with the value before the change and the present one. Nobody sees a mixture of old
 * and new values. (Prior notifications of a target come right before it is set.) A value that the target has already is not set.
 * Floating-point numbers of two types count as the same if one is stored as the other, as 0.3 is as 0.3f.
 *
 * In a coalescing scope (kvo_scope.h) bindings settle when the scope ends, and one that has been ended by then sets nothing more.
 *
 * A binding ends when one of its objects is destroyed, or with kvo_cancel_observer and its id.
 *
 * Any thread. A binding is settled on the thread that makes the change, before the setter returns. If another thread is settling it at that
 * time, that thread does it once more instead, and the setter may return before. The target ends with the last value. So a thread that
 * changes what a binding reads uses the target and its observers until its setter returns, as if it set the target itself: nobody may
 * destroy the target meanwhile.
 *
 * Bindings that never agree, such as `a = b + 1` and `b = a`, are KVO0024 after KVO_MAX_ROUNDS rounds; the report names them all, and each
 * property keeps the value that was set last.
 *
 * Bindings are no part of Apple's KVO; Cocoa Bindings and Qt's bindable properties are the models. */
#ifndef KVO_BIND_H
#define KVO_BIND_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** Binds the property `key` of `target` to the value of a key path of `source`. The value is converted as by kvo_set_value; a value that
 * cannot be set leaves the target as it is, and is fault KVO0026, an error: the process goes on. So does a path that is led to an object
 * without its key (KVO0009). A value that the setter refuses leaves the target as it is, without a fault; observers of the target may be
 * notified, with the value that it has.
 *
 * @param target, source  Objects of C; not retained. They may be the same.
 * @param key             A key of `target` that can be set. Copied.
 * @param key_path        As of kvo_observer. Copied.
 * @param out             NULL, or gets the id of the binding.
 * @return                As kvo_add_observer for the source; UNDEFINED_KEY or READ_ONLY if `key` is no key of `target`, or cannot be
 *                        set, as a list or set of C cannot. NULL for anything but `out` is INVALID_ARGUMENT and fault KVO0008. */
KVO_API kvo_status kvo_bind(kvo_object *target, const char *key, kvo_object *source, const char *key_path,
                            kvo_observation *KVO_NULLABLE out KVO_SITE) KVO_SITED("kvo_bind_at");

/** Computes the value of a binding: reads properties with kvo_get_value or other functions of key-value coding, and passes the value to
 * `reader` once, with `arg`. What is read is followed; it may be another property each time. Called on the thread of the change, with no
 * lock held. Not passing a value leaves the target as it is. */
typedef void (*kvo_compute)(void *KVO_NULLABLE user_data, kvo_value_reader reader, void *KVO_NULLABLE arg);

/** Binds a property to a value that is computed. `destroy`, if not NULL, is called with `user_data` once when the binding has ended. The
 * binding ends with the target; what `compute` reads must live as long, or be removed from what it reads before. The death of an object
 * that it has read does not call it, because the program may just be changing what led to the object. Fails as kvo_bind does. */
KVO_API kvo_status kvo_bind_computed(kvo_object *target, const char *key, kvo_compute compute,
                                     void *KVO_NULLABLE user_data,
                                     void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data),
                                     kvo_observation *KVO_NULLABLE out KVO_SITE) KVO_SITED("kvo_bind_computed_at");

/** Keeps two properties equal: first `one` takes the value of `other`, then each follows the other. It is two bindings; the side that was
 * set answers only if its setter has stored another value, which the other side then takes. Ends with either object, or with
 * kvo_cancel_observer and the id in `*out`, which ends both. kvo_cancel_observer_and_wait waits for both; if they have ended before, it
 * waits for the one that sets `other`. Fails as kvo_bind does. */
KVO_API kvo_status kvo_bind_two_way(kvo_object *one, const char *key, kvo_object *other, const char *other_key,
                                    kvo_observation *KVO_NULLABLE out KVO_SITE) KVO_SITED("kvo_bind_two_way_at");

/** kvo_bind, kvo_bind_computed and kvo_bind_two_way with a source location: see kvo_site.h. Each fails as kvo_bind does. */
KVO_API kvo_status kvo_bind_at(kvo_object *target, const char *key, kvo_object *source, const char *key_path,
                               kvo_observation *KVO_NULLABLE out, const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_bind_computed_at(kvo_object *target, const char *key, kvo_compute compute,
                                        void *KVO_NULLABLE user_data,
                                        void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data),
                                        kvo_observation *KVO_NULLABLE out, const char *KVO_NULLABLE file,
                                        uint32_t line);
KVO_API kvo_status kvo_bind_two_way_at(kvo_object *one, const char *key, kvo_object *other, const char *other_key,
                                       kvo_observation *KVO_NULLABLE out, const char *KVO_NULLABLE file, uint32_t line);

#if !defined(KVO_NO_SITES) && !defined(__cplusplus)
#define kvo_bind(...) kvo_bind_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_bind_computed(...) kvo_bind_computed_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_bind_two_way(...) kvo_bind_two_way_at(__VA_ARGS__, __FILE__, __LINE__)
#endif

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_BIND_H */
