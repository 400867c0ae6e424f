/* kvo_collection.h - to-many properties: lists and sets of elements, whose changes are delivered with indexes and elements. Part of kvo.h.
 *
 * A class registers a list or a set with a key, the type encoding of an element, and the program's accessors:
 *
 *     static size_t count(const kvo_object *o, void *user) { return ((const Order *)o)->count; }
 *     static void get_at(const kvo_object *o, size_t index, void *element, void *user) {
 *       *(kvo_object **)element = ((const Order *)o)->items[index];
 *     }
 *     static kvo_status insert_at(kvo_object *o, size_t index, const void *element, void *user) { ... return KVO_OK; }
 *     static kvo_status remove_at(kvo_object *o, size_t index, void *user) { ... return KVO_OK; }
 *
 *     kvo_list_accessors items = { .struct_size = sizeof items, .count = count, .get_at = get_at, .insert_at = insert_at,
 *                                  .remove_at = remove_at };
 *     kvo_collection_spec collections[] = { { .name = "items", .element_type = "@", .list = &items } };
 *     kvo_class_spec spec = { ..., .collections = collections, .collection_count = 1, .collection_size = sizeof *collections };
 *
 *     kvo_list_insert(order, "items", 0, KVO_VALUE(kvo_object *, item)); // calls insert_at, then the observers of "items"
 *
 * Observers get a kvo_change of kind insertion, removal or replacement, with the indexes; old_value and new_value are collections of the
 * elements concerned only, which kvo_change_count and kvo_change_element read. The general rules of kvo.h apply.
 */
#ifndef KVO_COLLECTION_H
#define KVO_COLLECTION_H

#include <kvo/kvo.h>

#ifdef __cplusplus
extern "C" {
#endif

KVO_ASSUME_NONNULL_BEGIN

/* ------------------------------------------------------------------------------------------- Collections as values -- */

/** A collection that a kvo_value refers to: for a list the type is "[T]" and for a set "<T>", where T is the type of an element, or "?" if
 * the elements have several types; `bytes` points to a structure of this type. A binding makes its own, with its own `element`, and may
 * put members behind it. */
typedef struct kvo_collection {
  /** sizeof(kvo_collection), so that later versions can add members. */
  size_t struct_size;
  /** The number of elements. */
  size_t count;
  /** Passes the element at a position below `count` to `reader`, once, before it returns KVO_OK. A set has positions too, in no particular
   * order. Any thread. */
  kvo_status (*element)(const struct kvo_collection *self, size_t position, kvo_value_reader reader,
                        void *KVO_NULLABLE arg);
} kvo_collection;

/** Returns the collection that a value is; NULL for any other value, for nil and for NULL. Valid as long as the value. */
KVO_API const kvo_collection *KVO_NULLABLE kvo_value_collection(const kvo_value *KVO_NULLABLE value);

/** Returns the number of elements of a value; 0 if it is no collection, and for NULL. */
KVO_API size_t kvo_value_count(const kvo_value *KVO_NULLABLE value);

/** Passes an element of a value to `reader`, before returning. Fails with INVALID_ARGUMENT (NULL), TYPE_MISMATCH (no collection),
 * OUT_OF_RANGE or OUT_OF_MEMORY; `reader` is not called then. */
KVO_API kvo_status kvo_value_element(const kvo_value *value, size_t position, kvo_value_reader reader,
                                     void *KVO_NULLABLE arg);

/** Returns the number of elements that a change carries: `which` is KVO_OLD or KVO_NEW. 0 if it has no such value, or one that is no
 * collection, and for NULL. */
KVO_API size_t kvo_change_count(const kvo_change *change, kvo_options which);

/** Passes an element of a change's old or new value to `reader`, before returning; for a list the element of indexes[position]. Fails as
 * kvo_value_element does; INVALID_ARGUMENT also if the change has no such value. */
KVO_API kvo_status kvo_change_element(const kvo_change *change, kvo_options which, size_t position,
                                      kvo_value_reader reader, void *KVO_NULLABLE arg);

/* ---------------------------------------------------------------------------------------------------- Registration -- */

/** The accessors of a list. Elements are passed by address, as values of the element type. The mutating ones return KVO_OK, or any other
 * status: then they must have changed nothing, and the status is returned to the caller. */
typedef struct kvo_list_accessors {
  /** sizeof(kvo_list_accessors), so that later versions can add members. */
  size_t struct_size;
  /** Returns the number of elements. */
  size_t (*count)(const kvo_object *object, void *KVO_NULLABLE user);
  /** Stores the element of an index, which is below the count, in `*element`. A string may be the list's own; the runtime copies it. */
  void (*get_at)(const kvo_object *object, size_t index, void *element, void *KVO_NULLABLE user);
  /** Inserts an element before an index; at the count it appends. NULL, with remove_at, for a list that does not change through these. */
  kvo_status (*KVO_NULLABLE insert_at)(kvo_object *object, size_t index, const void *element, void *KVO_NULLABLE user);
  /** Removes the element of an index. */
  kvo_status (*KVO_NULLABLE remove_at)(kvo_object *object, size_t index, void *KVO_NULLABLE user);
  /** NULL: an element is replaced by an insertion and a removal, delivered as one replacement. If the removal is refused, the inserted
   * element is removed again; if that is refused too, it stays, and the insertion is delivered. */
  kvo_status (*KVO_NULLABLE replace_at)(kvo_object *object, size_t index, const void *element, void *KVO_NULLABLE user);
  /** Passed to the functions. */
  void *KVO_NULLABLE user;
} kvo_list_accessors;

/** The accessors of a set; what is said of a list's holds for them. */
typedef struct kvo_member_accessors {
  /** sizeof(kvo_member_accessors), so that later versions can add members. */
  size_t struct_size;
  /** Returns the number of members. */
  size_t (*count)(const kvo_object *object, void *KVO_NULLABLE user);
  /** Returns whether the set has a member equal to `*element`. */
  bool (*contains)(const kvo_object *object, const void *element, void *KVO_NULLABLE user);
  /** Calls `visit` with the address of each member and with `arg`. */
  void (*for_each)(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg,
                   void *KVO_NULLABLE user);
  /** Adds a member that the set does not contain. NULL, with remove, for a set that does not change through these. */
  kvo_status (*KVO_NULLABLE add)(kvo_object *object, const void *element, void *KVO_NULLABLE user);
  /** Removes a member that the set contains. */
  kvo_status (*KVO_NULLABLE remove)(kvo_object *object, const void *element, void *KVO_NULLABLE user);
  /** Passed to the functions. */
  void *KVO_NULLABLE user;
} kvo_member_accessors;

/** Describes a to-many property at registration; kvo_class_spec has an array of these. Set unused members to zero. */
typedef struct kvo_collection_spec {
  /** The key: not empty, without dots, and different from those of properties. */
  const char *name;
  /** The type encoding of an element, as for a property. */
  const char *element_type;
  /** 0 or KVO_PROPERTY_MANUAL. */
  uint32_t flags;
  /** The accessors of a list, or NULL for a set. Copied. */
  const kvo_list_accessors *KVO_NULLABLE list;
  /** The accessors of a set, or NULL for a list. Copied. */
  const kvo_member_accessors *KVO_NULLABLE members;
} kvo_collection_spec;

/** Stores the accessors to call now in `*out`, whose struct_size the caller has set: the program's, or, while the object is observed, ones
 * that notify, with the `user` that belongs to them. Look them up for each call, as kvo_object_setter says. Members of `*out` beyond its
 * struct_size are left alone. Fails with INVALID_ARGUMENT (NULL, struct_size), UNDEFINED_KEY, or TYPE_MISMATCH if the key is not that of a
 * list of a C class. */
KVO_API kvo_status kvo_object_list_accessors(const kvo_object *object, const char *key, kvo_list_accessors *out);
/** The same for a set. */
KVO_API kvo_status kvo_object_member_accessors(const kvo_object *object, const char *key, kvo_member_accessors *out);

/* ----------------------------------------------------------------------------------------------------------- Lists -- */

/* The functions below are Apple's mutableArrayValueForKey: and mutableSetValueForKey:. A value that is passed in is converted to the
 * element type as kvo_set_value does. Any thread.
 *
 * An observer that is called before the change (KVO_PRIOR) may change the same collection. The change is checked again afterwards, with the
 * program's accessors, before one is called that changes something. If a list does not have all the indexes any more, the call fails with
 * OUT_OF_RANGE; if a set has, or does not have, the member already, it returns KVO_OK. Either way nothing is changed, and nothing
 * delivered but what was before. Otherwise the change is made at the indexes that were passed, and the old elements that observers get
 * afterwards are those that are removed or replaced. The accessors that kvo_object_list_accessors and kvo_object_member_accessors find do
 * the same while the object is observed. */

/** Stores the number of elements. Fails with INVALID_ARGUMENT (NULL, which is also fault KVO0008), UNDEFINED_KEY, TYPE_MISMATCH (the key is
 * not that of a list), NO_GETTER or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_list_count(kvo_object *object, const char *key, size_t *out);

/** Passes the element of an index to `reader`, before returning. Fails as kvo_list_count does, and with OUT_OF_RANGE. */
KVO_API kvo_status kvo_list_get(kvo_object *object, const char *key, size_t index, kvo_value_reader reader,
                                void *KVO_NULLABLE arg);

/** Inserts an element before an index; at the count it appends. Fails as kvo_list_count does, with TYPE_MISMATCH also for an unsuitable
 * value, and with READ_ONLY (without the accessor), OUT_OF_RANGE and what the accessor returns; then nothing has been changed or
 * delivered. */
KVO_API kvo_status kvo_list_insert(kvo_object *object, const char *key, size_t index, const kvo_value *value);

/** Removes the element of an index. Fails as kvo_list_insert does. */
KVO_API kvo_status kvo_list_remove(kvo_object *object, const char *key, size_t index);

/** Replaces the element of an index. Fails as kvo_list_insert does. */
KVO_API kvo_status kvo_list_replace(kvo_object *object, const char *key, size_t index, const kvo_value *value);

/** Inserts several elements, as one change: `indexes`, ascending, are those that the elements have afterwards. Indexes that are not
 * ascending are INVALID_ARGUMENT and fault KVO0033. A count of 0 changes nothing. Fails as kvo_list_insert does; but if the accessor
 * refuses an element, those before it are inserted, and delivered. */
KVO_API kvo_status kvo_list_insert_several(kvo_object *object, const char *key, const size_t *KVO_NULLABLE indexes,
                                           size_t count, const kvo_value *KVO_NULLABLE values);

/** Removes the elements of several indexes, ascending, as one change. Elements are removed from the last on. Fails as
 * kvo_list_insert_several does. */
KVO_API kvo_status kvo_list_remove_several(kvo_object *object, const char *key, const size_t *KVO_NULLABLE indexes,
                                           size_t count);

/** Replaces the elements of several indexes, ascending, as one change. Fails as kvo_list_insert_several does. */
KVO_API kvo_status kvo_list_replace_several(kvo_object *object, const char *key, const size_t *KVO_NULLABLE indexes,
                                            size_t count, const kvo_value *KVO_NULLABLE values);

/* ------------------------------------------------------------------------------------------------------------ Sets -- */

/** Stores the number of members. Fails with INVALID_ARGUMENT (NULL, which is also fault KVO0008), UNDEFINED_KEY, TYPE_MISMATCH (the key is
 * not that of a set), NO_GETTER or OUT_OF_MEMORY. */
KVO_API kvo_status kvo_members_count(kvo_object *object, const char *key, size_t *out);

/** Stores whether the set has a member equal to the value. Fails as kvo_members_count does, with TYPE_MISMATCH also for an unsuitable
 * value. */
KVO_API kvo_status kvo_members_contain(kvo_object *object, const char *key, const kvo_value *value, bool *out);

/** Passes each member to `reader`, before returning; the members are those at the call, whatever `reader` does. Fails as
 * kvo_members_count does. */
KVO_API kvo_status kvo_members_for_each(kvo_object *object, const char *key, kvo_value_reader reader,
                                        void *KVO_NULLABLE arg);

/** Adds a member; if the set contains it, nothing is changed or delivered. The change is an insertion without indexes. Fails
 * as kvo_members_contain does, and with READ_ONLY (without the accessor) and what the accessor returns. */
KVO_API kvo_status kvo_members_add(kvo_object *object, const char *key, const kvo_value *value);

/** Removes a member; if the set does not contain it, nothing is changed or delivered. The change is a removal without indexes.
 * Fails as kvo_members_add does. */
KVO_API kvo_status kvo_members_remove(kvo_object *object, const char *key, const kvo_value *value);

KVO_ASSUME_NONNULL_END

#ifdef __cplusplus
}
#endif

#endif /* KVO_COLLECTION_H */
