/* kvo_site.h - functions with a source location argument, for reports. Part of kvo.h.
 *
 * In C a call of kvo_remove_observer and its like is a macro that calls the function here with the present file and line; in C++ it calls
 * the function here with default arguments. Write the calls as kvo.h describes them. In C++ a pointer to such a function has the location's
 * parameters, unless KVO_NO_SITES is defined. Other callers, such as a scripting language, either call the functions of kvo.h, and reports
 * then have no location, or call these with a location of their own. `file` is copied, once per distinct name, unless it is a constant of
 * the executable; NULL means unknown, and so does a new name after some thousand different ones. Everything else, also for NULL, is as
 * kvo.h says. Our decision.
 */
#ifndef KVO_SITE_H
#define KVO_SITE_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** kvo_object_finish. */
KVO_API void kvo_object_finish_at(kvo_object *object, const char *KVO_NULLABLE file, uint32_t line);
/** kvo_object_destroy. */
KVO_API void kvo_object_destroy_at(kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE file, uint32_t line);
/** kvo_get_value. */
KVO_API kvo_status kvo_get_value_at(kvo_object *object, const char *key_path, kvo_value_reader reader,
                                    void *KVO_NULLABLE arg, const char *KVO_NULLABLE file, uint32_t line);
/** kvo_set_value. */
KVO_API kvo_status kvo_set_value_at(kvo_object *object, const char *key_path, const kvo_value *value,
                                    const char *KVO_NULLABLE file, uint32_t line);
/** kvo_remove_observer. */
KVO_API kvo_status kvo_remove_observer_at(kvo_observation observation, const char *KVO_NULLABLE file, uint32_t line);
/** kvo_cancel_observer. */
KVO_API kvo_status kvo_cancel_observer_at(kvo_observation observation, const char *KVO_NULLABLE file, uint32_t line);
/** kvo_cancel_observer_and_wait. */
KVO_API kvo_status kvo_cancel_observer_and_wait_at(kvo_observation observation, const char *KVO_NULLABLE file,
                                                   uint32_t line);
/** kvo_remove_observer_for. */
KVO_API kvo_status kvo_remove_observer_for_at(kvo_object *object, void *KVO_NULLABLE user_data, const char *key_path,
                                              const char *KVO_NULLABLE file, uint32_t line);
/** kvo_remove_observer_for_context. */
KVO_API kvo_status kvo_remove_observer_for_context_at(kvo_object *object, void *KVO_NULLABLE user_data,
                                                      const char *key_path, void *KVO_NULLABLE context,
                                                      const char *KVO_NULLABLE file, uint32_t line);
/** kvo_will_change. */
KVO_API kvo_status kvo_will_change_at(kvo_object *object, const char *key, const char *KVO_NULLABLE file,
                                      uint32_t line);
/** kvo_will_change_indexes. */
KVO_API kvo_status kvo_will_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key,
                                              const size_t *indexes, size_t count, const char *KVO_NULLABLE file,
                                              uint32_t line);
/** kvo_did_change. */
KVO_API kvo_status kvo_did_change_at(kvo_object *object, const char *key, const char *KVO_NULLABLE file, uint32_t line);
/** kvo_did_change_indexes. */
KVO_API kvo_status kvo_did_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key,
                                             const size_t *indexes, size_t count, const char *KVO_NULLABLE file,
                                             uint32_t line);

/* The functions of kvo.h still exist, also for pointers to them, because a macro with parameters replaces calls only. The macros are
 * variadic so that an argument may be a compound literal, which contains commas. */
#if !defined(KVO_NO_SITES) && !defined(__cplusplus)
#define kvo_object_finish(...) kvo_object_finish_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_object_destroy(...) kvo_object_destroy_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_get_value(...) kvo_get_value_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_set_value(...) kvo_set_value_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_remove_observer(...) kvo_remove_observer_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_cancel_observer(...) kvo_cancel_observer_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_cancel_observer_and_wait(...) kvo_cancel_observer_and_wait_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_remove_observer_for(...) kvo_remove_observer_for_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_remove_observer_for_context(...) kvo_remove_observer_for_context_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_will_change(...) kvo_will_change_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_will_change_indexes(...) kvo_will_change_indexes_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_did_change(...) kvo_did_change_at(__VA_ARGS__, __FILE__, __LINE__)
#define kvo_did_change_indexes(...) kvo_did_change_indexes_at(__VA_ARGS__, __FILE__, __LINE__)
#endif

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_SITE_H */
