/* kvo_values.h - UNSTABLE, part of kvo_binding.h: key paths through a binding's own values, the walk of kvo_coding.h over values that only
 * the binding can interpret.
 *
 * A binding for a language with collections, dictionaries and numbers of its own describes its values by a table of functions. The runtime
 * follows the key path, evaluates the operators, adds the numbers and sets values; the functions only read and make single values:
 *
 *     kvo_binding_value company = { .ops = &my_ops, .kind = KVO_KIND_OBJECT, .words = { my_object } }, found;
 *     if (kvo_binding_value_for_path(&company, "people.@sum.age", false, &found, &my_context) == KVO_OK) {
 *       ...
 *       my_ops.destroy(&found);
 *     }
 *
 * No lock is held when they are called, and they may call everything. None may return by longjmp or an exception.
 */
#ifndef KVO_VALUES_OF_BINDINGS_H
#define KVO_VALUES_OF_BINDINGS_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/** What a binding's value is in a key path. */
typedef enum kvo_binding_kind {
  /** Nil: it owns nothing, and is never destroyed or copied by the binding's functions. */
  KVO_KIND_NIL = 0,
  /** A value that has no key but "self". */
  KVO_KIND_VALUE = 1,
  /** An object, which knows its keys itself. */
  KVO_KIND_OBJECT = 2,
  /** A collection with an order. */
  KVO_KIND_LIST = 3,
  /** A collection of distinct values. */
  KVO_KIND_SET = 4,
  /** Its keys are looked up; an entry whose key is the rest of the path has precedence. */
  KVO_KIND_DICTIONARY = 5,
  /** A value that stands for nil in a collection. It has no key but "self", and @sum, @avg, @min and @max treat it as nil. */
  KVO_KIND_NULL = 6,
  /** Not known yet: the walk calls `classify` when it has to know. */
  KVO_KIND_UNKNOWN = 7,
} kvo_binding_kind;

struct kvo_binding_values;

/** A value of a binding. It may be moved bytewise. */
typedef struct kvo_binding_value {
  /** The functions for it; they must stay valid for ever. */
  const struct kvo_binding_values *ops;
  /** What the walk knows of it. */
  kvo_binding_kind kind;
  /** The binding's. */
  void *KVO_NULLABLE words[5];
} kvo_binding_value;

/** How a collection that a walk makes treats its values. */
typedef enum kvo_gathering {
  /** A list: of nil it has what the language puts in its place. */
  KVO_GATHER_LIST = 0,
  /** A list with the first of equal values only. */
  KVO_GATHER_DISTINCT = 1,
  /** A set. */
  KVO_GATHER_SET = 2,
  /** A list of what a list had before a value was set in it, nil included. */
  KVO_GATHER_CHANGED = 3,
} kvo_gathering;

/** A sum of numbers, as exact as the digits of their shortest notations. */
typedef struct kvo_binding_sum {
  /** The sum as a text with an exponent, such as "-12e-1", rounded once to the 38 or 39 digits that an integer of 128 bits has; NULL if one
   * of the numbers is infinite, no number, or outside of the range of 10^-360 to 10^324. */
  const char *KVO_NULLABLE text;
  /** Whether the sum is `magnitude` times ten to the power of `exponent`, and negative if `is_negative`. */
  bool is_short;
  /** If `is_short`: whether the sum is less than 0. */
  bool is_negative;
  /** If `is_short`: the power of ten. */
  int32_t exponent;
  /** If `is_short`: the digits, as an integer. */
  uint64_t magnitude;
  /** What the sum is to be divided by: 1, or for an average the number of elements. */
  size_t count;
  /** The floating-point number that is nearest to the quotient. */
  double quotient;
} kvo_binding_sum;

/** Why a key path cannot be followed. */
typedef enum kvo_binding_reason {
  /** The value has no key `name`. */
  KVO_REFUSED_KEY = 0,
  /** The value has no key `name` that can be set. */
  KVO_REFUSED_SETTING = 1,
  /** The value does not have the collection operator `name`, which is without its "@". */
  KVO_REFUSED_OPERATOR = 2,
  /** An observed path goes through the collection without an operator; `name` is the rest of the path. */
  KVO_REFUSED_COLLECTION = 3,
  /** The operator `name` of the collection cannot take `operand`, which would have to be: a number, */
  KVO_REFUSED_NO_NUMBER = 4,
  /** comparable with `other`, */
  KVO_REFUSED_INCOMPARABLE = 5,
  /** a list, */
  KVO_REFUSED_NO_LIST = 6,
  /** a set, */
  KVO_REFUSED_NO_SET = 7,
  /** comparable for equality, to be in a list of distinct values, */
  KVO_REFUSED_NOT_DISTINCT = 8,
  /** or comparable for equality, to be in a set; `name` is "self" if no operator makes it. */
  KVO_REFUSED_NO_MEMBER = 9,
} kvo_binding_reason;

/** Passed to `refused`. All of it is valid during the call. */
typedef struct kvo_binding_refusal {
  /** Why. */
  kvo_binding_reason reason;
  /** The value that refuses. */
  const kvo_binding_value *of;
  /** The component of the path that the reason speaks of, without a NUL. */
  const char *name;
  /** The number of bytes of `name`. */
  size_t length;
  /** For the reasons from KVO_REFUSED_NO_NUMBER on; NULL if it is nil. */
  const kvo_binding_value *KVO_NULLABLE operand;
  /** For KVO_REFUSED_INCOMPARABLE. */
  const kvo_binding_value *KVO_NULLABLE other;
} kvo_binding_refusal;

/** The functions for a binding's values. All are needed. A key has `length` bytes, without a NUL. `user` is what the caller of the walk has
 * passed. A status other than KVO_OK ends the walk and is returned to its caller. Values that functions store in `*to`, which is nil and
 * has its `ops`, belong to the walk, which destroys them; on failure nothing is stored. */
typedef struct kvo_binding_values {
  /** sizeof(kvo_binding_values), so that later versions can add members. */
  size_t struct_size;
  /** Makes a copy of a value that is not nil. */
  void (*copy)(const kvo_binding_value *value, kvo_binding_value *to);
  /** Destroys a value that is not nil. */
  void (*destroy)(kvo_binding_value *value);
  /** Replaces KVO_KIND_UNKNOWN by the kind of the value. */
  void (*classify)(kvo_binding_value *value);
  /** Stores the value of a key of an object or a dictionary, or of a field of a KVO_KIND_VALUE. A dictionary without an entry for the key
   * returns UNDEFINED_KEY, which is nil; a value without such a field returns it, too, and the path is refused.
   * `is_last`: the path is observed, and the value will be that of the whole path. */
  kvo_status (*value_for_key)(const kvo_binding_value *of, const char *key, size_t length, bool is_last,
                              kvo_binding_value *to, void *KVO_NULLABLE user);
  /** Sets the value of a key of an object or a dictionary. If the dictionary is a value, its changed copy is stored in `*changed`, which is
   * nil otherwise. */
  kvo_status (*set_value_for_key)(const kvo_binding_value *of, const char *key, size_t length,
                                  const kvo_binding_value *value, kvo_binding_value *changed, void *KVO_NULLABLE user);
  /** Returns the number of elements of a collection, or of entries of a dictionary. */
  size_t (*count)(const kvo_binding_value *of);
  /** Calls `visit` for each element of a collection until it returns something else than KVO_OK, and returns that. The elements belong to
   * the function. */
  kvo_status (*each)(const kvo_binding_value *of, kvo_status (*visit)(kvo_binding_value *element, void *arg), void *arg,
                     void *KVO_NULLABLE user);
  /** If the value is a number, or `texts` and it is a text, passes it to `reader`, once: as any number of C, or as a text "*" that is a
   * decimal numeral. */
  void (*number)(const kvo_binding_value *value, bool texts, kvo_value_reader reader, void *arg);
  /** Stores whether one value is less than another. False if it does not know: then they are compared as numbers, if they are. */
  bool (*is_less)(const kvo_binding_value *one, const kvo_binding_value *other, bool *is_less);
  /** Makes an integer, such as a count. */
  void (*integer)(int64_t value, kvo_binding_value *to);
  /** Makes the value of a sum, divided by its count. */
  void (*sum)(const kvo_binding_sum *sum, kvo_binding_value *to);
  /** Begins a collection; NULL without memory. */
  void *KVO_NULLABLE (*KVO_NONNULL gather)(kvo_gathering how, size_t capacity);
  /** Adds a copy of a value to it; nil only to a KVO_GATHER_LIST or _CHANGED. TYPE_MISMATCH if it has to be distinct and cannot be
   * compared: then the walk calls `refused`. */
  kvo_status (*add)(void *gathered, const kvo_binding_value *value);
  /** Makes the collection the value in `*to`, or drops it if that is NULL. */
  void (*finish)(void *gathered, kvo_binding_value *KVO_NULLABLE to);
  /** Learns why the walk is going to fail. */
  void (*refused)(const kvo_binding_refusal *refusal, void *KVO_NULLABLE user);
} kvo_binding_values;

/** Stores the value for a key path from a value in `*to`; nil if a value on the path is nil. If it `is_observed`, the path must not go
 * through a collection without an operator. A key of the path may be empty. Fails with INVALID_ARGUMENT (NULL, an incomplete table),
 * OUT_OF_MEMORY, OUT_OF_RANGE (an average of more than 2^32 elements), what a function of the table returns, and, after a call of
 * `refused`, UNDEFINED_KEY, NOT_AN_OBJECT or TYPE_MISMATCH; then `*to` is nil. Any thread. */
KVO_API kvo_status kvo_binding_value_for_path(const kvo_binding_value *of, const char *key_path, bool is_observed,
                                              kvo_binding_value *to, void *KVO_NULLABLE user);

/** Sets the value for a key path, of each element if it goes through a collection; does nothing if a value on the path is nil. If values on
 * the path are changed as copies, these are set in turn; that of the receiver itself is stored in `*changed`, which is nil if there is
 * none. Fails as kvo_binding_value_for_path does. Any thread. */
KVO_API kvo_status kvo_binding_set_value_for_path(const kvo_binding_value *of, const char *key_path,
                                                  const kvo_binding_value *value, kvo_binding_value *changed,
                                                  void *KVO_NULLABLE user);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_VALUES_OF_BINDINGS_H */
