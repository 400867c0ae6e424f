/* kvo_coding.h - key-value coding in C: values by key path as C types, collection operators, validation, undefined keys. Part of kvo.h.
 *
 * Key paths are Apple's. A key of an object is that of a property or collection of its class; "self" is the object, and cannot be observed.
 * A key of a list gives a list: what the path from there on gives for each element, or nil. A key of a set gives a set, without nil.
 * Operators begin with "@" and are applied to the collection on their left:
 *
 *     items.@count                   the number of elements; what follows is ignored
 *     items.@sum.price  @avg         numbers added with the digits of their shortest notation, so that 0.1 and 0.2 make 0.3; without nil,
 *                                    which counts as an element for @avg. A sum of integers is "q" if that holds it, otherwise "d". Of
 *                                    no elements the sum is 0 and the average nil
 *     items.@min.price  @max         numbers, or strings by their bytes; without nil. Of no elements nil
 *     items.@unionOfObjects.tag      the elements' values, without nil;  @distinctUnionOfObjects without those that are equal to another
 *     lists.@unionOfArrays.tag       for a list of lists, the values of all their elements;  @distinctUnionOfArrays, @distinctUnionOfSets
 *
 * An observed path may go through a collection only by an operator; it is then notified of changes of the collection and of what the
 * operator has read in the elements. An unknown operator, one without the key that it needs, and an operator of an object are
 * UNDEFINED_KEY; an operand that is no number, or cannot be compared, is TYPE_MISMATCH. Collections nested more than 32 deep are
 * MALFORMED_KEY_PATH.
 *
 * Conversions lose nothing. A number becomes one of any other type that can represent it. A float becomes the double of the same value.
 * Otherwise floating-point numbers, integers and texts are equal if their shortest decimal notations are: the double 0.1 becomes the float
 * 0.1. A text becomes a number if it is exactly a decimal numeral, and a bool also if it is "true", "false", "YES" or "NO"; a number never
 * becomes a text. Anything else is TYPE_MISMATCH, and kvo_last_error says why. The general rules of kvo.h apply.
 */
#ifndef KVO_CODING_H
#define KVO_CODING_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ---------------------------------------------------------------------------------------------------- Typed values -- */

#if !defined(__cplusplus)
/** The type encoding of a C type, as a constant: "?", which nothing accepts, for one that is not listed. */
#define KVO_ENCODING(T)                                                                                                \
  _Generic((T *)0, bool *: "B", char *: (char)-1 < 0 ? "c" : "C", signed char *: "c", unsigned char *: "C",            \
           short *: "s", unsigned short *: "S", int *: "i", unsigned *: "I", long *: "l", unsigned long *: "L",        \
           long long *: "q", unsigned long long *: "Q", float *: "f", double *: "d", long double *: "D",               \
           char **: "*", const char **: "*", kvo_object **: "@", void **: "^v", default: "?")
/** A kvo_value of type T, valid in the block that contains it: KVO_VALUE(double, 3.5). */
#define KVO_VALUE(T, ...) (&(const kvo_value){KVO_ENCODING(T), sizeof(T), (T[1]){__VA_ARGS__}})
#endif

/** Store a value as a C type. Fail with INVALID_ARGUMENT (NULL), TYPE_MISMATCH, and, for nil, NO_VALUE; then `*out` is left as it is. Any
 * thread. */
KVO_API kvo_status kvo_value_int64(const kvo_value *value, int64_t *out);
KVO_API kvo_status kvo_value_uint64(const kvo_value *value, uint64_t *out);
KVO_API kvo_status kvo_value_double(const kvo_value *value, double *out);
KVO_API kvo_status kvo_value_bool(const kvo_value *value, bool *out);
/** The same for a string, which is valid as long as the value, and for an object, which is not retained; for nil NULL is stored. */
KVO_API kvo_status kvo_value_string(const kvo_value *value, const char *KVO_NULLABLE *KVO_NONNULL out);
KVO_API kvo_status kvo_value_object(const kvo_value *value, kvo_object *KVO_NULLABLE *KVO_NONNULL out);

/** Read a key path as a C type. Fail as kvo_get_value does, and with TYPE_MISMATCH or NO_VALUE (nil); then `*out` is left as it is. NULL is
 * fault KVO0008. Any thread. */
KVO_API kvo_status kvo_get_int64(kvo_object *object, const char *key_path, int64_t *out);
KVO_API kvo_status kvo_get_uint64(kvo_object *object, const char *key_path, uint64_t *out);
KVO_API kvo_status kvo_get_double(kvo_object *object, const char *key_path, double *out);
KVO_API kvo_status kvo_get_bool(kvo_object *object, const char *key_path, bool *out);
/** The same for a string: `*out` is a copy, to be freed with kvo_string_free, or NULL for nil. */
KVO_API kvo_status kvo_get_string(kvo_object *object, const char *key_path, char *KVO_NULLABLE *KVO_NONNULL out);
/** The same for an object, which is not retained; NULL for nil. An object that only a binding's value keeps alive must not be read so. */
KVO_API kvo_status kvo_get_object(kvo_object *object, const char *key_path, kvo_object *KVO_NULLABLE *KVO_NONNULL out);
/** Frees what kvo_get_string has stored. NULL is ignored. */
KVO_API void kvo_string_free(char *KVO_NULLABLE string);

/** Set the last key of a key path to a value of a C type. Fail as kvo_set_value does. NULL for a string or an object is nil. Any thread. */
KVO_API kvo_status kvo_set_int64(kvo_object *object, const char *key_path, int64_t value);
KVO_API kvo_status kvo_set_uint64(kvo_object *object, const char *key_path, uint64_t value);
KVO_API kvo_status kvo_set_double(kvo_object *object, const char *key_path, double value);
KVO_API kvo_status kvo_set_bool(kvo_object *object, const char *key_path, bool value);
KVO_API kvo_status kvo_set_string(kvo_object *object, const char *key_path, const char *KVO_NULLABLE value);
KVO_API kvo_status kvo_set_object(kvo_object *object, const char *key_path, kvo_object *KVO_NULLABLE value);

/* ----------------------------------------------------------------------------------------- What a class decides -- */

/** Functions of a class that key-value coding calls; kvo_class_spec has a pointer to these. A subclass inherits them, or has its own. Each
 * may be NULL, and gets `user`. They may call everything. A status other than KVO_OK is returned to the caller. */
typedef struct kvo_coding_hooks {
  /** sizeof(kvo_coding_hooks), so that later versions can add members. */
  size_t struct_size;
  /** Passes the value of a key that the class does not have to `reader`, once, and returns KVO_OK (Apple: valueForUndefinedKey:). If it
   * passes none, the key is undefined; of several the first counts. */
  kvo_status (*KVO_NULLABLE value_for_undefined_key)(kvo_object *object, const char *key, kvo_value_reader reader,
                                                     void *KVO_NULLABLE arg, void *KVO_NULLABLE user);
  /** Sets a key that the class does not have (Apple: setValue:forUndefinedKey:). */
  kvo_status (*KVO_NULLABLE set_value_for_undefined_key)(kvo_object *object, const char *key, const kvo_value *value,
                                                         void *KVO_NULLABLE user);
  /** Sets nil for a key whose type has none, such as a number (Apple: setNilValueForKey:). */
  kvo_status (*KVO_NULLABLE set_nil_value_for_key)(kvo_object *object, const char *key, void *KVO_NULLABLE user);
  /** Says whether a value may be set for a key: returns KVO_OK, and if another value is to be set instead passes it to `accept`, once; or
   * refuses with a status (Apple: validateValue:forKey:error:). */
  kvo_status (*KVO_NULLABLE validate)(kvo_object *object, const char *key, const kvo_value *value,
                                      kvo_value_reader accept, void *KVO_NULLABLE arg, void *KVO_NULLABLE user);
  /** Passed to the functions. */
  void *KVO_NULLABLE user;
} kvo_coding_hooks;

/** Asks the object at the end of a key path whether a value may be set, and passes the one to set, which may be another, to `accept`, once,
 * before returning KVO_OK. Setting does not ask by itself (as on Apple's platforms). Without a `validate` of its class any value is
 * accepted. If an intermediate value is nil, `accept` is not called. Fails as kvo_set_value does, and with what `validate` returns. */
KVO_API kvo_status kvo_validate_value(kvo_object *object, const char *key_path, const kvo_value *value,
                                      kvo_value_reader accept, void *KVO_NULLABLE arg);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_CODING_H */
