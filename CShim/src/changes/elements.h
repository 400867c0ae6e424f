/* changes/elements.h - changes of the elements of to-many properties of C classes. */
#ifndef KVO_ELEMENTS_H
#define KVO_ELEMENTS_H

#include "changes/frames.h"

/** A change of some elements. */
typedef struct kvo_mutation {
  kvo_object *object;
  const kvo_property *property;
  /** An insertion, removal or replacement; for a set one of the first two. */
  kvo_change_kind kind;
  /** For a list: ascending. */
  const size_t *indexes;
  size_t count;
  /** The elements to insert, or for a set to add or remove; one after the other. */
  const void *elements;
  /** The function that the program has called, for kvo_last_error. */
  const char *function;
} kvo_mutation;

/** Says in kvo_last_error which function has failed with which key of a class, and why: what was said since `errors` were counted
 * (kvo__error_count), or else the text of the status. Returns the status, which is not KVO_OK. */
KVO_HIDDEN kvo_status kvo__elements_fail(kvo_status status, uint32_t errors, const char *function, const kvo_class *cls,
                                         const char *key);

/** Whether a list of `count` elements has the index at this position, or for an insertion can have it next. OUT_OF_RANGE if not; the text
 * is only the reason. */
KVO_HIDDEN kvo_status kvo__index_check(const kvo_mutation *of, size_t position, size_t count);

/** Calls the program's accessors, and notifies observers of what these have done. Returns the first status that is not KVO_OK. Observers
 * that are called before the change may change the collection: if the list has not all the indexes then, the status is OUT_OF_RANGE, and
 * if the set has, or has not, the member already, KVO_OK; nothing is changed or told. */
KVO_HIDDEN kvo_status kvo__mutate(const kvo_mutation *of);

/** The accessors to call for this object now. */
KVO_HIDDEN kvo_list_accessors kvo__list_accessors(const kvo_object *object, const kvo_property *property);
KVO_HIDDEN kvo_member_accessors kvo__member_accessors(const kvo_object *object, const kvo_property *property);

#endif /* KVO_ELEMENTS_H */
