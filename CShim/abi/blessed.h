#ifndef KVO_H
#define KVO_H
#ifndef KVO_BASE_H
#define KVO_BASE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#define KVO_API __attribute__((visibility("default")))
#else
#define KVO_API
#endif
#if defined(__clang__)
#define KVO_NULLABLE _Nullable
#define KVO_NONNULL _Nonnull
#define KVO_ASSUME_NONNULL_BEGIN                                                                                       \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                     \
      _Pragma("clang assume_nonnull begin")
#define KVO_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
#define KVO_NULLABLE
#define KVO_NONNULL
#define KVO_ASSUME_NONNULL_BEGIN
#define KVO_ASSUME_NONNULL_END
#endif
KVO_ASSUME_NONNULL_BEGIN
#define KVO_VERSION_MAJOR 0
#define KVO_VERSION_MINOR 2
#define KVO_VERSION_PATCH 0
#define KVO_VERSION_NUMBER (KVO_VERSION_MAJOR * 10000 + KVO_VERSION_MINOR * 100 + KVO_VERSION_PATCH)
#define KVO_ABI_NUMBER 1
KVO_API uint32_t kvo_version(void);
KVO_API const char *kvo_version_string(void);
#define KVO_STATUS_MAP(X)                                                                                              \
  X(KVO_OK, 0, "success")                                                                                              \
  X(KVO_ERROR_INVALID_ARGUMENT, -1, "invalid argument")                                                                \
  X(KVO_ERROR_OUT_OF_MEMORY, -2, "out of memory")                                                                      \
  X(KVO_ERROR_DUPLICATE_CLASS, -3, "a class of this name is already registered")                                       \
  X(KVO_ERROR_DUPLICATE_KEY, -4, "the class or a superclass already has a property of this key")                       \
  X(KVO_ERROR_BAD_TYPE_ENCODING, -5, "malformed or unsupported type encoding")                                         \
  X(KVO_ERROR_UNSUPPORTED_SETTER, -6, "a setter of this signature cannot be intercepted")                              \
  X(KVO_ERROR_NO_INTERCEPTION, -7, "no memory for executable trampolines")                                             \
  X(KVO_ERROR_UNDEFINED_KEY, -8, "the class has no such key")                                                          \
  X(KVO_ERROR_MALFORMED_KEY_PATH, -9, "malformed key path")                                                            \
  X(KVO_ERROR_NOT_REGISTERED, -10, "no such observation is registered")                                                \
  X(KVO_ERROR_READ_ONLY, -11, "the property has no setter")                                                            \
  X(KVO_ERROR_NO_GETTER, -12, "the property has no getter")                                                            \
  X(KVO_ERROR_TYPE_MISMATCH, -13, "the value is not of the property's type")                                           \
  X(KVO_ERROR_DYING_OBJECT, -14, "the object is being destroyed")                                                      \
  X(KVO_ERROR_NOT_AN_OBJECT, -15, "a key path leads through a value that is not an observable object")                 \
  X(KVO_ERROR_UNBALANCED, -16, "did without a matching will on this thread")                                           \
  X(KVO_ERROR_FILE, -17, "a file cannot be written")                                                                   \
  X(KVO_ERROR_BUSY, -18, "something of the kind is going on already")                                                  \
  X(KVO_ERROR_NO_DIAGNOSTICS, -19, "the library was built without diagnostics")                                        \
  X(KVO_ERROR_OUT_OF_RANGE, -20, "the collection has no such index")                                                   \
  X(KVO_ERROR_REFUSED, -21, "the setter has refused the value")                                                        \
  X(KVO_ERROR_NO_VALUE, -22, "the value is nil")
typedef enum kvo_status {
#define KVO_STATUS_ENUM(name, value, text) name = value,
  KVO_STATUS_MAP(KVO_STATUS_ENUM)
#undef KVO_STATUS_ENUM
} kvo_status;
KVO_API const char *kvo_status_string(kvo_status status);
KVO_API const char *kvo_last_error(void);
KVO_API void kvo_set_allocator(void *KVO_NULLABLE (*KVO_NULLABLE allocate)(size_t size, void *KVO_NULLABLE arg),
                               void (*KVO_NULLABLE release)(void *KVO_NULLABLE memory, void *KVO_NULLABLE arg),
                               void *KVO_NULLABLE arg);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_CLASS_H
#define KVO_CLASS_H
#ifdef __cplusplus
#include <type_traits>
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
#if defined(__cplusplus) && defined(__GNUC__) && !defined(KVO_NO_SITES)
#define KVO_SITE , const char *KVO_NULLABLE file = __builtin_FILE(), uint32_t line = __builtin_LINE()
#define KVO_SITED(symbol) __asm__(symbol)
#else
#define KVO_SITE
#define KVO_SITED(symbol)
#endif
typedef struct kvo_class kvo_class;
typedef struct kvo_property kvo_property;
typedef struct kvo_object {
  uintptr_t kvo_private_word;
} kvo_object;
typedef void (*kvo_function)(void);
enum {
  KVO_PROPERTY_MANUAL = 1u << 0,
  KVO_PROPERTY_WITH_USER = 1u << 4,
  KVO_PROPERTY_AT_OFFSET = 1u << 5,
  KVO_PROPERTY_READ_ONLY = 1u << 6,
  KVO_PROPERTY_COPIED = 1u << 9,
};
typedef struct kvo_property_spec {
  const char *name;
  const char *type;
  kvo_function KVO_NULLABLE getter;
  kvo_function KVO_NULLABLE setter;
  const char *KVO_NULLABLE const *KVO_NULLABLE affected_by;
  uint32_t flags;
  void *KVO_NULLABLE user;
  size_t offset;
  const char *KVO_NULLABLE setter_type;
} kvo_property_spec;
typedef struct kvo_class_spec {
  size_t struct_size;
  const char *name;
  kvo_class *KVO_NULLABLE superclass;
  size_t instance_size;
  const kvo_property_spec *KVO_NULLABLE properties;
  size_t property_count;
  void (*KVO_NULLABLE finalize)(kvo_object *object);
  const struct kvo_collection_spec *KVO_NULLABLE collections;
  size_t collection_count;
  size_t collection_size;
  size_t property_size;
  const struct kvo_coding_hooks *KVO_NULLABLE coding;
} kvo_class_spec;
KVO_API kvo_status kvo_class_register(const kvo_class_spec *spec, kvo_class *KVO_NULLABLE *KVO_NONNULL out);
KVO_API kvo_status kvo_class_unregister(kvo_class *cls);
KVO_API kvo_status kvo_can_unload(const void *address);
KVO_API kvo_class *KVO_NULLABLE kvo_class_find(const char *name);
KVO_API const char *kvo_class_name(const kvo_class *cls);
KVO_API kvo_class *KVO_NULLABLE kvo_class_superclass(const kvo_class *cls);
KVO_API size_t kvo_class_instance_size(const kvo_class *cls);
KVO_API size_t kvo_class_property_count(const kvo_class *cls);
KVO_API const kvo_property *KVO_NULLABLE kvo_class_property_at(const kvo_class *cls, size_t index);
KVO_API const kvo_property *KVO_NULLABLE kvo_class_property(const kvo_class *cls, const char *key);
KVO_API const char *kvo_property_name(const kvo_property *property);
KVO_API const char *kvo_property_type(const kvo_property *property);
KVO_API void *KVO_NULLABLE kvo_property_user(const kvo_property *property);
KVO_API kvo_status kvo_type_size(const char *type, size_t *KVO_NULLABLE size, size_t *KVO_NULLABLE alignment);
KVO_API kvo_status kvo_object_create(kvo_class *cls, kvo_object *KVO_NULLABLE *KVO_NONNULL out);
KVO_API kvo_status kvo_object_init(kvo_object *object, kvo_class *cls);
KVO_API void kvo_object_finish(kvo_object *object KVO_SITE) KVO_SITED("kvo_object_finish_at");
KVO_API void kvo_object_destroy(kvo_object *KVO_NULLABLE object KVO_SITE) KVO_SITED("kvo_object_destroy_at");
KVO_API bool kvo_object_end(kvo_object *KVO_NULLABLE object);
KVO_API kvo_class *KVO_NULLABLE kvo_object_class(const kvo_object *object);
KVO_API kvo_class *KVO_NULLABLE kvo_object_isa(const kvo_object *object);
KVO_API bool kvo_object_is_observed(const kvo_object *object);
KVO_API kvo_function KVO_NULLABLE kvo_object_setter(const kvo_object *object, const char *key);
KVO_API kvo_function KVO_NULLABLE kvo_object_property_setter(const kvo_object *object, const kvo_property *property);
KVO_API kvo_function KVO_NULLABLE kvo_object_getter(const kvo_object *object, const char *key);
KVO_API kvo_status kvo_object_store(kvo_object *object, const kvo_property *property, const void *value);
KVO_API kvo_status kvo_object_load(const kvo_object *object, const kvo_property *property, void *value);
KVO_API int kvo_last_refusal(void);
typedef enum kvo_form {
  KVO_FORM_ANY = 0,
  KVO_FORM_INTEGER = 1,
  KVO_FORM_REAL = 2,
  KVO_FORM_POINTER = 3,
  KVO_FORM_STRUCTURE = 4,
} kvo_form;
KVO_API kvo_function kvo_object_setter_to_call(const kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE key,
                                               kvo_form form, size_t size, const char *KVO_NULLABLE file,
                                               uint32_t line);
#if defined(__cplusplus)
}
template <typename T> struct kvo_form_of {
  static constexpr kvo_form form = std::is_integral<T>::value || std::is_enum<T>::value ? KVO_FORM_INTEGER
                                   : std::is_floating_point<T>::value                   ? KVO_FORM_REAL
                                   : std::is_pointer<T>::value                          ? KVO_FORM_POINTER
                                   : std::is_class<T>::value || std::is_union<T>::value ? KVO_FORM_STRUCTURE
                                                                                        : KVO_FORM_ANY;
};
#define KVO_FORM_OF(T) (kvo_form_of<__typeof__(T)>::form)
extern "C" {
#elif defined(__GNUC__)
#define KVO_FORM_OF(T) kvo_form_of_class(__builtin_classify_type(*(volatile __typeof__(T) *)0))
#else
#define KVO_FORM_OF(T) KVO_FORM_ANY
#endif
static inline kvo_form kvo_form_of_class(int type_class) {
  switch (type_class) {
    case 1:
    case 2:
    case 3:
    case 4: return KVO_FORM_INTEGER;
    case 5: return KVO_FORM_POINTER;
    case 8: return KVO_FORM_REAL;
    case 12:
    case 13: return KVO_FORM_STRUCTURE;
    default: return KVO_FORM_ANY;
  }
}
static inline int kvo_word_is_observed(const kvo_object *object) {
  return (__atomic_load_n(&object->kvo_private_word, __ATOMIC_ACQUIRE) & 1) != 0;
}
KVO_API void kvo_object_stored(kvo_object *object, const char *key);
KVO_API kvo_status kvo_object_store_key(kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE key, kvo_form form,
                                        char code, size_t size, const void *KVO_NULLABLE value,
                                        const char *KVO_NULLABLE file, uint32_t line);
#define KVO_CODE_OTHER '\1'
#if defined(__cplusplus)
}
template <typename T> struct kvo_code_of { static constexpr char code = KVO_CODE_OTHER; };
#define KVO_CODE(T, value)                                                                                             \
  template <> struct kvo_code_of<T> { static constexpr char code = value; };
KVO_CODE(bool, 'B')
KVO_CODE(char *, '*')
KVO_CODE(const char *, '*')
KVO_CODE(void *, '^')
KVO_CODE(const void *, '^')
KVO_CODE(kvo_object *, '@')
KVO_CODE(const kvo_object *, '@')
#undef KVO_CODE
template <typename T> struct kvo_code_of<const T> : kvo_code_of<T> {};
#define KVO_CODE_OF(T) (kvo_code_of<T>::code)
template <typename T, typename Given> struct kvo_loses {
  typedef typename std::decay<Given>::type From;
  static constexpr bool to_whole = std::is_integral<T>::value || std::is_enum<T>::value;
  static constexpr bool to_number = to_whole || std::is_floating_point<T>::value;
  static constexpr bool is_lossy =
      (to_whole && std::is_floating_point<From>::value) || (to_number && std::is_pointer<From>::value);
};
inline kvo_object *KVO_NULLABLE kvo_object_at(kvo_object *KVO_NULLABLE object) { return object; }
template <typename T>
typename std::enable_if<!std::is_convertible<T *, kvo_object *>::value, kvo_object *>::type
kvo_object_at(T *KVO_NULLABLE object) {
  return reinterpret_cast<kvo_object *>(const_cast<typename std::remove_cv<T>::type *>(object));
}
template <typename T> struct kvo_set_as {
  static kvo_status store(kvo_object *object, const char *key, const char *file, uint32_t line, T value) {
    return kvo_object_store_key(object, key, KVO_FORM_OF(T), KVO_CODE_OF(T), sizeof value, &value, file, line);
  }
  template <typename Given, typename std::enable_if<kvo_loses<T, Given>::is_lossy, int>::type = 0>
  static kvo_status store(kvo_object *, const char *, const char *, uint32_t, const Given &) {
    static_assert(!kvo_loses<T, Given>::is_lossy, "KVO_SET: the value is not of the type, and would be lost");
    return KVO_ERROR_TYPE_MISMATCH;
  }
};
#define KVO_SET(object, key, T, ...)                                                                                   \
  (kvo_set_as<__typeof__(T)>::store(kvo_object_at(object), (key), __FILE__, __LINE__, __VA_ARGS__))
extern "C" {
#else
#define KVO_CODE_OF(T)                                                                                                 \
  _Generic(*(__typeof__(T) *)0,                                                                                        \
      _Bool: 'B',                                                                                                      \
      char *: '*',                                                                                                     \
      const char *: '*',                                                                                               \
      void *: '^',                                                                                                     \
      const void *: '^',                                                                                               \
      kvo_object *: '@',                                                                                               \
      const kvo_object *: '@',                                                                                         \
      default: KVO_CODE_OTHER)
#define KVO_LOSES(T, value)                                                                                            \
  ((KVO_CLASS_OF(T) <= 4 && __builtin_classify_type(value) == 8) ||                                                    \
   ((KVO_CLASS_OF(T) <= 4 || KVO_CLASS_OF(T) == 8) && __builtin_classify_type(value) == 5))
#define KVO_CLASS_OF(T) __builtin_classify_type(*(__typeof__(T) *)0)
#define KVO_SET(object, key, T, ...)                                                                                   \
  __extension__({                                                                                                      \
    _Static_assert(!KVO_LOSES(T, (__VA_ARGS__)), "KVO_SET: the value is not of the type " #T ", and would be lost");   \
    kvo_object_store_key((kvo_object *)(object), (key), KVO_FORM_OF(T), KVO_CODE_OF(T), sizeof(T),                     \
                         (__typeof__(T)[1]){(__VA_ARGS__)}, __FILE__, __LINE__);                                       \
  })
#endif
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
typedef struct kvo_value {
  const char *KVO_NULLABLE type;
  size_t size;
  const void *KVO_NULLABLE bytes;
} kvo_value;
typedef void (*kvo_value_reader)(const kvo_value *value, void *KVO_NULLABLE arg);
KVO_API kvo_status kvo_get_value(kvo_object *object, const char *key_path, kvo_value_reader reader,
                                 void *KVO_NULLABLE arg KVO_SITE) KVO_SITED("kvo_get_value_at");
KVO_API kvo_status kvo_set_value(kvo_object *object, const char *key_path, const kvo_value *value KVO_SITE)
    KVO_SITED("kvo_set_value_at");
typedef enum kvo_options {
  KVO_NONE = 0,
  KVO_NEW = 1 << 0,
  KVO_OLD = 1 << 1,
  KVO_INITIAL = 1 << 2,
  KVO_PRIOR = 1 << 3,
  KVO_ENDS_WITH_OBJECT = 1 << 8,
} kvo_options;
#ifdef __cplusplus
}
constexpr kvo_options operator|(kvo_options a, kvo_options b) noexcept {
  return static_cast<kvo_options>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr kvo_options operator&(kvo_options a, kvo_options b) noexcept {
  return static_cast<kvo_options>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr kvo_options operator~(kvo_options a) noexcept {
  return static_cast<kvo_options>((KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT) &
                                  ~static_cast<unsigned>(a));
}
inline kvo_options &operator|=(kvo_options &a, kvo_options b) noexcept { return a = a | b; }
inline kvo_options &operator&=(kvo_options &a, kvo_options b) noexcept { return a = a & b; }
extern "C" {
#endif
typedef enum kvo_change_kind {
  KVO_CHANGE_SETTING = 1,
  KVO_CHANGE_INSERTION = 2,
  KVO_CHANGE_REMOVAL = 3,
  KVO_CHANGE_REPLACEMENT = 4,
} kvo_change_kind;
typedef uint64_t kvo_observation;
typedef struct kvo_change {
  kvo_object *object;
  const char *key_path;
  kvo_change_kind kind;
  bool is_prior;
  const kvo_value *KVO_NULLABLE old_value;
  const kvo_value *KVO_NULLABLE new_value;
  const size_t *KVO_NULLABLE indexes;
  size_t index_count;
  void *KVO_NULLABLE context;
  kvo_observation observation;
} kvo_change;
typedef void (*kvo_callback)(const kvo_change *change, void *KVO_NULLABLE user_data);
typedef struct kvo_observer {
  size_t struct_size;
  const char *key_path;
  kvo_options options;
  kvo_callback callback;
  void *KVO_NULLABLE user_data;
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
  void *KVO_NULLABLE context;
  const char *KVO_NULLABLE file;
  uint32_t line;
} kvo_observer;
#define KVO_HERE .file = __FILE__, .line = __LINE__
KVO_API kvo_status kvo_add_observer(kvo_object *object, const kvo_observer *observer,
                                    kvo_observation *KVO_NULLABLE out);
KVO_API kvo_status kvo_remove_observer(kvo_observation observation KVO_SITE) KVO_SITED("kvo_remove_observer_at");
KVO_API kvo_status kvo_cancel_observer(kvo_observation observation KVO_SITE) KVO_SITED("kvo_cancel_observer_at");
KVO_API kvo_status kvo_cancel_observer_and_wait(kvo_observation observation KVO_SITE)
    KVO_SITED("kvo_cancel_observer_and_wait_at");
KVO_API kvo_status kvo_observation_pause(kvo_observation observation);
KVO_API kvo_status kvo_observation_resume(kvo_observation observation, bool tell_missed);
KVO_API bool kvo_observation_is_paused(kvo_observation observation);
KVO_API kvo_status kvo_remove_observer_for(kvo_object *object, void *KVO_NULLABLE user_data,
                                           const char *key_path KVO_SITE) KVO_SITED("kvo_remove_observer_for_at");
KVO_API kvo_status kvo_remove_observer_for_context(kvo_object *object, void *KVO_NULLABLE user_data,
                                                   const char *key_path, void *KVO_NULLABLE context KVO_SITE)
    KVO_SITED("kvo_remove_observer_for_context_at");
KVO_API kvo_status kvo_will_change(kvo_object *object, const char *key KVO_SITE) KVO_SITED("kvo_will_change_at");
KVO_API kvo_status kvo_did_change(kvo_object *object, const char *key KVO_SITE) KVO_SITED("kvo_did_change_at");
KVO_API kvo_status kvo_will_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key,
                                           const size_t *indexes, size_t count KVO_SITE)
    KVO_SITED("kvo_will_change_indexes_at");
KVO_API kvo_status kvo_did_change_indexes(kvo_object *object, kvo_change_kind kind, const char *key,
                                          const size_t *indexes, size_t count KVO_SITE)
    KVO_SITED("kvo_did_change_indexes_at");
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#ifndef KVO_BIND_H
#define KVO_BIND_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
KVO_API kvo_status kvo_bind(kvo_object *target, const char *key, kvo_object *source, const char *key_path,
                            kvo_observation *KVO_NULLABLE out KVO_SITE) KVO_SITED("kvo_bind_at");
typedef void (*kvo_compute)(void *KVO_NULLABLE user_data, kvo_value_reader reader, void *KVO_NULLABLE arg);
KVO_API kvo_status kvo_bind_computed(kvo_object *target, const char *key, kvo_compute compute,
                                     void *KVO_NULLABLE user_data,
                                     void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data),
                                     kvo_observation *KVO_NULLABLE out KVO_SITE) KVO_SITED("kvo_bind_computed_at");
KVO_API kvo_status kvo_bind_two_way(kvo_object *one, const char *key, kvo_object *other, const char *other_key,
                                    kvo_observation *KVO_NULLABLE out KVO_SITE) KVO_SITED("kvo_bind_two_way_at");
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
#endif
#ifndef KVO_CODING_H
#define KVO_CODING_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
#if !defined(__cplusplus)
#define KVO_ENCODING(T)                                                                                                \
  _Generic((T *)0, bool *: "B", char *: (char)-1 < 0 ? "c" : "C", signed char *: "c", unsigned char *: "C",            \
           short *: "s", unsigned short *: "S", int *: "i", unsigned *: "I", long *: "l", unsigned long *: "L",        \
           long long *: "q", unsigned long long *: "Q", float *: "f", double *: "d", long double *: "D",               \
           char **: "*", const char **: "*", kvo_object **: "@", void **: "^v", default: "?")
#define KVO_VALUE(T, ...) (&(const kvo_value){KVO_ENCODING(T), sizeof(T), (T[1]){__VA_ARGS__}})
#endif
KVO_API kvo_status kvo_value_int64(const kvo_value *value, int64_t *out);
KVO_API kvo_status kvo_value_uint64(const kvo_value *value, uint64_t *out);
KVO_API kvo_status kvo_value_double(const kvo_value *value, double *out);
KVO_API kvo_status kvo_value_bool(const kvo_value *value, bool *out);
KVO_API kvo_status kvo_value_string(const kvo_value *value, const char *KVO_NULLABLE *KVO_NONNULL out);
KVO_API kvo_status kvo_value_object(const kvo_value *value, kvo_object *KVO_NULLABLE *KVO_NONNULL out);
KVO_API kvo_status kvo_get_int64(kvo_object *object, const char *key_path, int64_t *out);
KVO_API kvo_status kvo_get_uint64(kvo_object *object, const char *key_path, uint64_t *out);
KVO_API kvo_status kvo_get_double(kvo_object *object, const char *key_path, double *out);
KVO_API kvo_status kvo_get_bool(kvo_object *object, const char *key_path, bool *out);
KVO_API kvo_status kvo_get_string(kvo_object *object, const char *key_path, char *KVO_NULLABLE *KVO_NONNULL out);
KVO_API kvo_status kvo_get_object(kvo_object *object, const char *key_path, kvo_object *KVO_NULLABLE *KVO_NONNULL out);
KVO_API void kvo_string_free(char *KVO_NULLABLE string);
KVO_API kvo_status kvo_set_int64(kvo_object *object, const char *key_path, int64_t value);
KVO_API kvo_status kvo_set_uint64(kvo_object *object, const char *key_path, uint64_t value);
KVO_API kvo_status kvo_set_double(kvo_object *object, const char *key_path, double value);
KVO_API kvo_status kvo_set_bool(kvo_object *object, const char *key_path, bool value);
KVO_API kvo_status kvo_set_string(kvo_object *object, const char *key_path, const char *KVO_NULLABLE value);
KVO_API kvo_status kvo_set_object(kvo_object *object, const char *key_path, kvo_object *KVO_NULLABLE value);
typedef struct kvo_coding_hooks {
  size_t struct_size;
  kvo_status (*KVO_NULLABLE value_for_undefined_key)(kvo_object *object, const char *key, kvo_value_reader reader,
                                                     void *KVO_NULLABLE arg, void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE set_value_for_undefined_key)(kvo_object *object, const char *key, const kvo_value *value,
                                                         void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE set_nil_value_for_key)(kvo_object *object, const char *key, void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE validate)(kvo_object *object, const char *key, const kvo_value *value,
                                      kvo_value_reader accept, void *KVO_NULLABLE arg, void *KVO_NULLABLE user);
  void *KVO_NULLABLE user;
} kvo_coding_hooks;
KVO_API kvo_status kvo_validate_value(kvo_object *object, const char *key_path, const kvo_value *value,
                                      kvo_value_reader accept, void *KVO_NULLABLE arg);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_COLLECTION_H
#define KVO_COLLECTION_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
typedef struct kvo_collection {
  size_t struct_size;
  size_t count;
  kvo_status (*element)(const struct kvo_collection *self, size_t position, kvo_value_reader reader,
                        void *KVO_NULLABLE arg);
} kvo_collection;
KVO_API const kvo_collection *KVO_NULLABLE kvo_value_collection(const kvo_value *KVO_NULLABLE value);
KVO_API size_t kvo_value_count(const kvo_value *KVO_NULLABLE value);
KVO_API kvo_status kvo_value_element(const kvo_value *value, size_t position, kvo_value_reader reader,
                                     void *KVO_NULLABLE arg);
KVO_API size_t kvo_change_count(const kvo_change *change, kvo_options which);
KVO_API kvo_status kvo_change_element(const kvo_change *change, kvo_options which, size_t position,
                                      kvo_value_reader reader, void *KVO_NULLABLE arg);
typedef struct kvo_list_accessors {
  size_t struct_size;
  size_t (*count)(const kvo_object *object, void *KVO_NULLABLE user);
  void (*get_at)(const kvo_object *object, size_t index, void *element, void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE insert_at)(kvo_object *object, size_t index, const void *element, void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE remove_at)(kvo_object *object, size_t index, void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE replace_at)(kvo_object *object, size_t index, const void *element, void *KVO_NULLABLE user);
  void *KVO_NULLABLE user;
} kvo_list_accessors;
typedef struct kvo_member_accessors {
  size_t struct_size;
  size_t (*count)(const kvo_object *object, void *KVO_NULLABLE user);
  bool (*contains)(const kvo_object *object, const void *element, void *KVO_NULLABLE user);
  void (*for_each)(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg,
                   void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE add)(kvo_object *object, const void *element, void *KVO_NULLABLE user);
  kvo_status (*KVO_NULLABLE remove)(kvo_object *object, const void *element, void *KVO_NULLABLE user);
  void *KVO_NULLABLE user;
} kvo_member_accessors;
typedef struct kvo_collection_spec {
  const char *name;
  const char *element_type;
  uint32_t flags;
  const kvo_list_accessors *KVO_NULLABLE list;
  const kvo_member_accessors *KVO_NULLABLE members;
} kvo_collection_spec;
KVO_API kvo_status kvo_object_list_accessors(const kvo_object *object, const char *key, kvo_list_accessors *out);
KVO_API kvo_status kvo_object_member_accessors(const kvo_object *object, const char *key, kvo_member_accessors *out);
KVO_API kvo_status kvo_list_count(kvo_object *object, const char *key, size_t *out);
KVO_API kvo_status kvo_list_get(kvo_object *object, const char *key, size_t index, kvo_value_reader reader,
                                void *KVO_NULLABLE arg);
KVO_API kvo_status kvo_list_insert(kvo_object *object, const char *key, size_t index, const kvo_value *value);
KVO_API kvo_status kvo_list_remove(kvo_object *object, const char *key, size_t index);
KVO_API kvo_status kvo_list_replace(kvo_object *object, const char *key, size_t index, const kvo_value *value);
KVO_API kvo_status kvo_list_insert_several(kvo_object *object, const char *key, const size_t *KVO_NULLABLE indexes,
                                           size_t count, const kvo_value *KVO_NULLABLE values);
KVO_API kvo_status kvo_list_remove_several(kvo_object *object, const char *key, const size_t *KVO_NULLABLE indexes,
                                           size_t count);
KVO_API kvo_status kvo_list_replace_several(kvo_object *object, const char *key, const size_t *KVO_NULLABLE indexes,
                                            size_t count, const kvo_value *KVO_NULLABLE values);
KVO_API kvo_status kvo_members_count(kvo_object *object, const char *key, size_t *out);
KVO_API kvo_status kvo_members_contain(kvo_object *object, const char *key, const kvo_value *value, bool *out);
KVO_API kvo_status kvo_members_for_each(kvo_object *object, const char *key, kvo_value_reader reader,
                                        void *KVO_NULLABLE arg);
KVO_API kvo_status kvo_members_add(kvo_object *object, const char *key, const kvo_value *value);
KVO_API kvo_status kvo_members_remove(kvo_object *object, const char *key, const kvo_value *value);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_FAULT_H
#define KVO_FAULT_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
#define KVO_FAULT_MAP(X)                                                                                               \
  X(KVO_FAULT_DEALLOCATED_WHILE_OBSERVED, 1, FATAL, "NSInternalInconsistencyException",                                \
    "an object was deallocated while observed")                                                                        \
  X(KVO_FAULT_NOT_REGISTERED, 2, FATAL, "NSRangeException", "removal of an observer that is not registered")           \
  X(KVO_FAULT_REMOVED_TWICE, 3, FATAL, "NSRangeException", "removal of an observation that was removed before")        \
  X(KVO_FAULT_DANGLING_OBSERVER, 4, FATAL, "", "an observer died without removing its observation")                    \
  X(KVO_FAULT_STALE_HANDLE, 5, FATAL, "", "an observation's id was used after its object had died")                    \
  X(KVO_FAULT_DYING_OBJECT, 7, FATAL, "", "registration on an object that is being destroyed")                         \
  X(KVO_FAULT_INVALID_ARGUMENT, 8, FATAL, "", "an invalid argument, such as NULL or a value that never was an id")     \
  X(KVO_FAULT_UNDEFINED_KEY, 9, FATAL, "NSUnknownKeyException", "undefined key")                                       \
  X(KVO_FAULT_MALFORMED_KEY_PATH, 10, FATAL, "NSUnknownKeyException", "malformed key path")                            \
  X(KVO_FAULT_NEVER_NOTIFIES, 11, ERROR, "", "an observation that can never notify")                                   \
  X(KVO_FAULT_UNSUPPORTED_OBJECT, 12, FATAL, "", "memory that is not an object of a registered class")                 \
  X(KVO_FAULT_NEVER_ENDED, 14, WARNING, "", "an observation that had not ended when the process did")                  \
  X(KVO_FAULT_ENDED_UNUSED, 15, INFO, "", "an observation that ended before any change")                               \
  X(KVO_FAULT_AMBIGUOUS_REMOVAL, 16, WARNING, "", "a removal without a context that matches several observations")     \
  X(KVO_FAULT_ENDLESS_WAIT, 17, ERROR, "", "a wait that would never end")                                              \
  X(KVO_FAULT_THROUGH_COLLECTION, 18, FATAL, "NSInvalidArgumentException",                                             \
    "an observed key path goes through a collection")                                                                  \
  X(KVO_FAULT_DUPLICATE, 19, INFO, "", "an observation that exists already")                                           \
  X(KVO_FAULT_NO_INTERCEPTION, 20, ERROR, "", "setters of a class cannot be intercepted")                              \
  X(KVO_FAULT_OVERWRITTEN_HEADER, 21, WARNING, "", "an observed object's header was overwritten")                      \
  X(KVO_FAULT_UNHANDLED, 22, FATAL, "NSInternalInconsistencyException",                                                \
    "a change that no class of the observer's hierarchy handled")                                                      \
  X(KVO_FAULT_RECURSION, 23, FATAL, "", "deliveries nested too deeply")                                                \
  X(KVO_FAULT_UNSETTLED, 24, ERROR, "", "observations that set each other's properties without end")                   \
  X(KVO_FAULT_ABANDONED_DELIVERY, 25, FATAL, "", "a callback that was left by longjmp or an exception")                \
  X(KVO_FAULT_TYPE_MISMATCH, 26, FATAL, "NSInvalidArgumentException", "a value of the wrong type")                     \
  X(KVO_FAULT_SLOW_CALLBACK, 27, WARNING, "", "a callback that takes longer than KVO_SLOW_MS")                         \
  X(KVO_FAULT_DID_WITHOUT_WILL, 28, ERROR, "", "didChange without willChange")                                         \
  X(KVO_FAULT_UNFINISHED_CHANGE, 29, ERROR, "", "willChange without didChange")                                        \
  X(KVO_FAULT_CROSSED_THREADS, 30, ERROR, "", "willChange and didChange on different threads")                         \
  X(KVO_FAULT_DOUBLE_NOTIFICATION, 31, WARNING, "", "a change announced manually that the setter announces too")       \
  X(KVO_FAULT_SILENT_CHANGE, 32, ERROR, "", "an object on an observed key path was replaced without notification")     \
  X(KVO_FAULT_BAD_INDEXES, 33, ERROR, "", "indexes that do not match the collection or the other half of the change")  \
  X(KVO_FAULT_BAD_CONFIGURATION, 34, WARNING, "", "an invalid environment variable")                                   \
  X(KVO_FAULT_NIL_VALUE, 35, FATAL, "NSInvalidArgumentException", "nil for a property that cannot be nil")             \
  X(KVO_FAULT_BAD_OPERATOR, 36, FATAL, "NSInvalidArgumentException",                                                   \
    "a collection operator that is unknown or used wrongly")                                                           \
  X(KVO_FAULT_OUT_OF_RANGE, 37, FATAL, "NSRangeException", "an index out of range")                                    \
  X(KVO_FAULT_NIL_COLLECTION, 38, FATAL, "NSInternalInconsistencyException", "a mutation of a collection that is nil") \
  X(KVO_FAULT_SELF_DEPENDENCY, 39, FATAL, "NSInternalInconsistencyException",                                          \
    "a key that is declared to affect itself")                                                                         \
  X(KVO_FAULT_BAD_COLLECTION_CHANGE, 40, FATAL, "NSInvalidArgumentException",                                          \
    "different numbers of elements and indexes")
typedef enum kvo_fault_code {
#define KVO_FAULT_ENUM(name, value, severity, exception, text) name = value,
  KVO_FAULT_MAP(KVO_FAULT_ENUM)
#undef KVO_FAULT_ENUM
} kvo_fault_code;
typedef enum kvo_severity {
  KVO_SEVERITY_FATAL = 0,
  KVO_SEVERITY_ERROR = 1,
  KVO_SEVERITY_WARNING = 2,
  KVO_SEVERITY_INFO = 3,
} kvo_severity;
KVO_API const char *kvo_severity_name(kvo_severity severity);
typedef struct kvo_fault_kind {
  kvo_fault_code code;
  kvo_severity severity;
  const char *KVO_NULLABLE exception;
  const char *meaning;
} kvo_fault_kind;
KVO_API const kvo_fault_kind *KVO_NULLABLE kvo_fault_kind_at(size_t index);
typedef struct kvo_fault_site {
  const char *label;
  const char *KVO_NULLABLE file;
  size_t file_length;
  uint32_t line;
  uint32_t thread;
  double age;
  void *const KVO_NULLABLE *KVO_NULLABLE frames;
  size_t frame_count;
} kvo_fault_site;
typedef struct kvo_fault_observation {
  kvo_observation observation;
  const char *key_path;
  kvo_options options;
  const char *KVO_NULLABLE observer_class;
  const void *KVO_NULLABLE observer;
  void *KVO_NULLABLE context;
  const char *KVO_NULLABLE note;
  const char *KVO_NULLABLE file;
  size_t file_length;
  uint32_t line;
  void (*KVO_NULLABLE callback)(void);
  const void *KVO_NULLABLE object;
  const char *KVO_NULLABLE object_class;
  void *const KVO_NULLABLE *KVO_NULLABLE frames;
  size_t frame_count;
  size_t duplicate_count;
} kvo_fault_observation;
typedef struct kvo_fault_step {
  kvo_fault_observation observation;
  size_t round;
  size_t repeats;
  size_t skipped;
} kvo_fault_step;
typedef enum kvo_event_kind {
  KVO_EVENT_REGISTERED = 1,
  KVO_EVENT_ENDED = 2,
  KVO_EVENT_CHANGED = 3,
  KVO_EVENT_DELIVERED = 4,
  KVO_EVENT_DIED = 5,
} kvo_event_kind;
typedef struct kvo_event {
  kvo_event_kind kind;
  uint32_t thread;
  double age;
  const void *object;
  const char *object_class;
  const char *key_path;
  kvo_observation observation;
  const char *KVO_NULLABLE file;
  uint32_t line;
  const char *KVO_NULLABLE value;
} kvo_event;
typedef struct kvo_fault {
  kvo_fault_code code;
  kvo_severity severity;
  const char *summary;
  const char *KVO_NULLABLE apple;
  const char *KVO_NULLABLE exception;
  const char *KVO_NULLABLE help;
  const char *KVO_NULLABLE file;
  size_t file_length;
  uint32_t line;
  const kvo_fault_observation *KVO_NULLABLE observations;
  size_t observation_count;
  uint32_t thread;
  const char *KVO_NULLABLE why;
  const void *KVO_NULLABLE object;
  const char *KVO_NULLABLE object_class;
  const kvo_fault_site *KVO_NULLABLE sites;
  size_t site_count;
  void *const KVO_NULLABLE *KVO_NULLABLE frames;
  size_t frame_count;
  const kvo_fault_step *KVO_NULLABLE chain;
  size_t chain_count;
  const kvo_event *KVO_NULLABLE events;
  size_t event_count;
} kvo_fault;
typedef enum kvo_report_format {
  KVO_REPORT_TEXT = 0,
  KVO_REPORT_JSON = 1,
} kvo_report_format;
KVO_API size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *KVO_NULLABLE buffer,
                                size_t size);
KVO_API size_t kvo_call_format(const void *KVO_NULLABLE return_address, char *KVO_NULLABLE buffer, size_t size);
KVO_API bool kvo_call_is_library(const void *KVO_NULLABLE return_address);
typedef enum kvo_action {
  KVO_ACTION_DEFAULT = 0,
  KVO_ACTION_IGNORE = 1,
  KVO_ACTION_LOG = 2,
  KVO_ACTION_ABORT = 3,
  KVO_ACTION_TRAP = 4,
  KVO_ACTION_ONCE = 5,
} kvo_action;
typedef kvo_action (*kvo_fault_handler)(const kvo_fault *fault, void *KVO_NULLABLE arg);
KVO_API kvo_fault_handler KVO_NULLABLE kvo_set_fault_handler(kvo_fault_handler KVO_NULLABLE handler,
                                                             void *KVO_NULLABLE arg);
KVO_API kvo_fault_handler KVO_NULLABLE kvo_get_fault_handler(void *KVO_NULLABLE *KVO_NULLABLE arg);
KVO_API kvo_fault_handler KVO_NULLABLE kvo_set_thread_fault_handler(kvo_fault_handler KVO_NULLABLE handler,
                                                                    void *KVO_NULLABLE arg);
KVO_API kvo_fault_handler KVO_NULLABLE kvo_get_thread_fault_handler(void *KVO_NULLABLE *KVO_NULLABLE arg);
KVO_API void kvo_fault_break(const kvo_fault *fault);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_GRAPH_H
#define KVO_GRAPH_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
typedef struct kvo_graph_object {
  const void *object;
  const char *class_name;
  size_t first_observation;
  size_t observation_count;
  const char *KVO_NONNULL const *KVO_NONNULL key_paths;
  size_t key_path_count;
  size_t edge_count;
} kvo_graph_object;
typedef enum kvo_graph_kind {
  KVO_GRAPH_DIRECT = 1,
  KVO_GRAPH_EXPRESSION = 2,
} kvo_graph_kind;
#define KVO_GRAPH_NONE SIZE_MAX
typedef struct kvo_graph_observation {
  kvo_observation observation;
  kvo_graph_kind kind;
  size_t object;
  const char *key_path;
  kvo_options options;
  const char *KVO_NULLABLE observer_class;
  const void *KVO_NULLABLE observer;
  size_t observer_object;
  void *KVO_NULLABLE context;
  const char *KVO_NULLABLE note;
  const char *KVO_NULLABLE file;
  uint32_t line;
  size_t first_edge;
  size_t edge_count;
} kvo_graph_observation;
typedef struct kvo_graph_edge {
  size_t observation;
  size_t object;
  const char *KVO_NULLABLE key;
  bool is_value;
} kvo_graph_edge;
typedef struct kvo_graph {
  const kvo_graph_object *objects;
  size_t object_count;
  const kvo_graph_observation *observations;
  size_t observation_count;
  const kvo_graph_edge *edges;
  size_t edge_count;
} kvo_graph;
KVO_API kvo_status kvo_snapshot(kvo_graph *KVO_NULLABLE *KVO_NONNULL out);
KVO_API void kvo_graph_free(kvo_graph *KVO_NULLABLE graph);
typedef enum kvo_graph_form {
  KVO_GRAPH_JSON = 0,
  KVO_GRAPH_DOT = 1,
  KVO_GRAPH_MERMAID = 2,
} kvo_graph_form;
KVO_API size_t kvo_graph_format(const kvo_graph *graph, kvo_graph_form form, char *KVO_NULLABLE buffer, size_t size);
KVO_API kvo_status kvo_trace_begin(const char *path);
KVO_API kvo_status kvo_trace_end(void);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_METHOD_H
#define KVO_METHOD_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
enum {
  KVO_METHOD_WITH_USER = 1u << 0,
};
typedef struct kvo_method_spec {
  const char *name;
  const char *type;
  kvo_function function;
  uint32_t flags;
  void *KVO_NULLABLE user;
} kvo_method_spec;
KVO_API kvo_status kvo_class_add_methods(kvo_class *cls, const kvo_method_spec *methods, size_t count,
                                         size_t method_size);
KVO_API kvo_function KVO_NULLABLE kvo_object_method(const kvo_object *object, const char *name);
KVO_API kvo_status kvo_object_call(kvo_object *object, const char *name,
                                   void *KVO_NULLABLE const *KVO_NULLABLE arguments, void *KVO_NULLABLE result);
typedef enum kvo_hook_when {
  KVO_HOOK_BEFORE = 1,
  KVO_HOOK_INSTEAD = 2,
  KVO_HOOK_AFTER = 3,
} kvo_hook_when;
typedef struct kvo_call {
  kvo_object *object;
  const char *method;
  const kvo_value *arguments;
  size_t argument_count;
  const char *result_type;
  size_t result_size;
  void *result;
} kvo_call;
typedef void (*kvo_hook_function)(kvo_call *call, void *KVO_NULLABLE user_data);
typedef struct kvo_hook_spec {
  size_t struct_size;
  const char *method;
  kvo_hook_when when;
  int32_t order;
  kvo_hook_function function;
  void *KVO_NULLABLE user_data;
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
} kvo_hook_spec;
typedef uint64_t kvo_hook;
KVO_API kvo_status kvo_object_hook(kvo_object *object, const kvo_hook_spec *spec, kvo_hook *KVO_NULLABLE out);
KVO_API kvo_status kvo_class_hook(kvo_class *cls, const kvo_hook_spec *spec, kvo_hook *KVO_NULLABLE out);
KVO_API kvo_status kvo_hook_remove(kvo_hook hook);
KVO_API kvo_status kvo_call_proceed(kvo_call *call);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_SCOPE_H
#define KVO_SCOPE_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
typedef enum kvo_scope_kind {
  KVO_SCOPE_COALESCES = 0,
  KVO_SCOPE_COALESCES_IF_CHANGED = 1,
  KVO_SCOPE_SILENCES = 2,
} kvo_scope_kind;
typedef struct kvo_scope {
  uintptr_t kvo_private[4];
} kvo_scope;
KVO_API kvo_status kvo_scope_begin(kvo_scope *scope, kvo_scope_kind kind,
                                   kvo_object *KVO_NONNULL const *KVO_NULLABLE objects, size_t count,
                                   const char *KVO_NULLABLE file, uint32_t line);
KVO_API void kvo_scope_end(kvo_scope *scope);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
#ifndef KVO_SITE_H
#define KVO_SITE_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
KVO_API void kvo_object_finish_at(kvo_object *object, const char *KVO_NULLABLE file, uint32_t line);
KVO_API void kvo_object_destroy_at(kvo_object *KVO_NULLABLE object, const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_get_value_at(kvo_object *object, const char *key_path, kvo_value_reader reader,
                                    void *KVO_NULLABLE arg, const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_set_value_at(kvo_object *object, const char *key_path, const kvo_value *value,
                                    const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_remove_observer_at(kvo_observation observation, const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_cancel_observer_at(kvo_observation observation, const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_cancel_observer_and_wait_at(kvo_observation observation, const char *KVO_NULLABLE file,
                                                   uint32_t line);
KVO_API kvo_status kvo_remove_observer_for_at(kvo_object *object, void *KVO_NULLABLE user_data, const char *key_path,
                                              const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_remove_observer_for_context_at(kvo_object *object, void *KVO_NULLABLE user_data,
                                                      const char *key_path, void *KVO_NULLABLE context,
                                                      const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_will_change_at(kvo_object *object, const char *key, const char *KVO_NULLABLE file,
                                      uint32_t line);
KVO_API kvo_status kvo_will_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key,
                                              const size_t *indexes, size_t count, const char *KVO_NULLABLE file,
                                              uint32_t line);
KVO_API kvo_status kvo_did_change_at(kvo_object *object, const char *key, const char *KVO_NULLABLE file, uint32_t line);
KVO_API kvo_status kvo_did_change_indexes_at(kvo_object *object, kvo_change_kind kind, const char *key,
                                             const size_t *indexes, size_t count, const char *KVO_NULLABLE file,
                                             uint32_t line);
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
#endif
#endif
#ifndef KVO_RAW_H
#define KVO_RAW_H
#ifdef __cplusplus
extern "C" {
#endif
KVO_ASSUME_NONNULL_BEGIN
typedef uint64_t kvo_key;
KVO_API kvo_key kvo_key_hash(const char *name, size_t length);
typedef struct kvo_selection {
  const size_t *indexes;
  size_t count;
} kvo_selection;
typedef struct kvo_value_ops {
  void *KVO_NULLABLE (*KVO_NONNULL copy)(void *instance, void *KVO_NULLABLE user,
                                         const kvo_selection *KVO_NULLABLE selection);
  void (*release)(void *value, void *KVO_NULLABLE user);
  void (*view)(const void *value, void *KVO_NULLABLE user, kvo_value_reader reader, void *KVO_NULLABLE arg);
  kvo_status (*assign)(void *instance, void *KVO_NULLABLE user, const kvo_value *value);
  bool (*KVO_NULLABLE same)(const void *one, const void *other, void *KVO_NULLABLE user);
} kvo_value_ops;
enum {
  KVO_PROPERTY_COMPUTED = 1u << 1,
  KVO_PROPERTY_DECLARED = 1u << 2,
  KVO_PROPERTY_IN_PLACE = 1u << 8,
};
typedef struct kvo_raw_property {
  const char *name;
  const char *type;
  const kvo_value_ops *ops;
  void *KVO_NULLABLE user;
  const char *KVO_NULLABLE const *KVO_NULLABLE affected_by;
  uint32_t flags;
} kvo_raw_property;
typedef struct kvo_raw_class {
  size_t struct_size;
  const char *name;
  kvo_class *KVO_NULLABLE superclass;
  size_t header_offset;
  const kvo_raw_property *KVO_NULLABLE properties;
  size_t property_count;
  size_t property_size;
} kvo_raw_class;
KVO_API kvo_status kvo_raw_class_register(const kvo_raw_class *described, kvo_class *KVO_NULLABLE *KVO_NONNULL out);
KVO_API void *kvo_object_instance(const kvo_object *object);
KVO_API void kvo_object_adopt(kvo_object *object, kvo_class *cls);
enum {
  KVO_FRAME_OBSERVED = 1u << 0,
  KVO_FRAME_WANTS_OLD = 1u << 1,
  KVO_FRAME_WANTS_NEW = 1u << 2,
  KVO_FRAME_WANTS_WILL = 1u << 3,
};
typedef struct kvo_frame {
  uint64_t kvo_private[20];
} kvo_frame;
KVO_API uint32_t kvo_frame_begin(kvo_frame *frame, kvo_object *object, kvo_key key);
KVO_API uint32_t kvo_frame_enter(kvo_frame *frame, kvo_object *object, kvo_key key);
KVO_API void kvo_change_word(kvo_object *object, kvo_key key, uint64_t *storage, uint64_t value);
KVO_API uint32_t kvo_frame_begin_change(kvo_frame *frame, kvo_object *object, kvo_key key, kvo_change_kind kind,
                                        const size_t *KVO_NULLABLE indexes, size_t count);
KVO_API void kvo_binding_stored(kvo_object *object, kvo_key key);
KVO_API void kvo_frame_will(kvo_frame *frame, const void *KVO_NULLABLE old_value);
KVO_API void kvo_frame_finish_with(kvo_frame *frame, const void *KVO_NULLABLE old_value,
                                   const void *KVO_NULLABLE new_value);
KVO_API void kvo_frame_end(kvo_frame *frame);
extern KVO_API uint32_t kvo_tracking_count;
static inline bool kvo_is_tracking(void) { return __atomic_load_n(&kvo_tracking_count, __ATOMIC_RELAXED) != 0; }
KVO_API void kvo_track_read(kvo_object *object, kvo_key key);
KVO_API bool kvo_track_is_recording(void);
typedef struct kvo_raw_change {
  kvo_object *object;
  void *instance;
  const kvo_object *KVO_NULLABLE changed;
  const kvo_property *KVO_NULLABLE property;
  const void *KVO_NULLABLE old_value;
  const void *KVO_NULLABLE new_value;
  const size_t *KVO_NULLABLE indexes;
  size_t index_count;
  kvo_change_kind kind;
  bool is_prior;
  kvo_observation observation;
} kvo_raw_change;
typedef void (*kvo_raw_callback)(const kvo_raw_change *change, void *user_data);
typedef struct kvo_observer_identity {
  const char *KVO_NULLABLE class_name;
  const void *KVO_NULLABLE address;
} kvo_observer_identity;
typedef struct kvo_observer_ops {
  kvo_raw_callback callback;
  void (*KVO_NULLABLE destroy)(void *KVO_NULLABLE user_data);
  void (*KVO_NULLABLE abandon)(void *KVO_NULLABLE user_data);
  void *KVO_NULLABLE (*KVO_NULLABLE evaluate)(void *user_data);
  void (*KVO_NULLABLE release)(void *value, void *user_data);
  bool (*KVO_NULLABLE same)(const void *one, const void *other, void *user_data);
  bool (*KVO_NULLABLE is_here)(void *user_data);
  void (*KVO_NULLABLE ask)(kvo_observation observation, void *user_data);
  void *KVO_NULLABLE (*KVO_NULLABLE of_property)(const kvo_property *property, const void *value, void *user_data);
} kvo_observer_ops;
typedef struct kvo_raw_observer {
  size_t struct_size;
  const char *key_path;
  kvo_options options;
  const kvo_observer_ops *ops;
  void *KVO_NULLABLE user_data;
  void *KVO_NULLABLE context;
  kvo_observer_identity identity;
  const char *KVO_NULLABLE file;
  uint32_t line;
  const char *KVO_NULLABLE note;
  bool is_receiver;
  bool is_binding;
  kvo_object *KVO_NULLABLE target;
  kvo_key target_key;
} kvo_raw_observer;
KVO_API kvo_status kvo_raw_observe(kvo_object *object, kvo_key key, const kvo_raw_observer *observer,
                                   kvo_observation *out);
KVO_API kvo_status kvo_raw_observe_expression(kvo_object *object, const kvo_raw_observer *observer, bool keep_last,
                                              kvo_observation *out);
KVO_API void kvo_settle(kvo_observation observation);
KVO_API kvo_status kvo_binding_observe_death(kvo_object *object, const kvo_observer_ops *ops,
                                             void *KVO_NULLABLE user_data, kvo_observation *out);
KVO_API bool kvo_observation_is_registered(kvo_observation observation);
KVO_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif
#endif
