/* unregister.c - the end of classes, and their return: a plug-in that is loaded again registers the same classes.
 *
 * The memory of an unregistered class is not freed: reports and logs name it, and its trampolines have its properties. The next class of
 * the same name and layout takes it over, with new functions, so a plug-in that comes and goes needs no more memory each time. Only what
 * differs from all earlier ones is new. */
#include "classes/classes.h"

bool kvo__class_hold(kvo_class *cls) {
  if (cls->of_binding) return true;
  atomic_fetch_add(&cls->objects, 1);
  /* The end of the class stores this first and then counts the objects. */
  if (!atomic_load(&cls->is_retired)) return true;
  atomic_fetch_sub(&cls->objects, 1);
  return false;
}

void kvo__class_let_go(kvo_class *cls) {
  if (!cls->of_binding) atomic_fetch_sub(&cls->objects, 1);
}

/* A class that inherits from this one, or NULL. The lock is held. */
static const kvo_class *subclass_of(const kvo_class *cls) {
  for (const kvo_class *each = kvo__classes_first(); each != NULL; each = each->next)
    if (each->superclass == cls && !atomic_load(&each->is_retired)) return each;
  return NULL;
}

kvo_status kvo_class_unregister(kvo_class *cls) {
  static const char function[] = "kvo_class_unregister";
  if (!kvo__class_is_known(cls))
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: cls is not a registered class", function);
  if (cls->of_binding)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: class '%s' is a binding's", function, cls->name);
  kvo_status used = kvo__hooks.module_is_unused(function, cls->given_name);
  kvo__classes_lock();
  bool was_retired = atomic_exchange(&cls->is_retired, true);
  const kvo_class *subclass = subclass_of(cls);
  size_t objects = atomic_load(&cls->objects), hooks = atomic_load(&cls->hooks);
  if (!was_retired && (subclass != NULL || objects > 0 || hooks > 0 || used != KVO_OK))
    atomic_store(&cls->is_retired, false);
  kvo__classes_unlock();
  if (was_retired)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: class '%s' is not registered any more", function, cls->name);
  if (subclass != NULL)
    return kvo__fail(KVO_ERROR_BUSY, "%s: class '%s' has the subclass '%s'", function, cls->name, subclass->name);
  if (objects > 0)
    return kvo__fail(KVO_ERROR_BUSY, "%s: class '%s' has %zu object%s not destroyed or finished", function, cls->name,
                     objects, objects == 1 ? " that was" : "s that were");
  if (hooks > 0)
    return kvo__fail(KVO_ERROR_BUSY, "%s: class '%s' has %zu hook%s not removed", function, cls->name, hooks,
                     hooks == 1 ? " that was" : "s that were");
  if (used != KVO_OK) return used;
  kvo__hooks.class_ends(cls);
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------------ Return -- */

static bool is_same_text(const char *one, const char *other) {
  return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

static bool are_same_paths(char *const *one, char *const *other) {
  if (one == NULL || other == NULL) return one == other;
  while (*one != NULL && *other != NULL && strcmp(*one, *other) == 0) one++, other++;
  return *one == *other; /* both NULL */
}

/* Whether the functions of one property can replace those of the other: the same calls, and the same trampolines. */
static bool is_like_property(const kvo_property *one, const kvo_property *other) {
  return strcmp(one->name, other->name) == 0 && strcmp(one->type, other->type) == 0 && one->flags == other->flags &&
         one->offset == other->offset && (one->getter == NULL) == (other->getter == NULL) &&
         (one->setter == NULL) == (other->setter == NULL) && is_same_text(one->setter_type, other->setter_type) &&
         are_same_paths(one->affected_by, other->affected_by); /* the type says whether it is a list or a set */
}

static bool is_like(const kvo_class *one, const kvo_class *other) {
  bool are_like = strcmp(one->name, other->name) == 0 && one->superclass == other->superclass &&
                  one->instance_size == other->instance_size && one->property_count == other->property_count &&
                  !one->of_binding;
  for (size_t i = 0; are_like && i < one->property_count; i++)
    are_like = is_like_property(one->properties[i], other->properties[i]);
  return are_like;
}

/* Gives a property the functions of a new one. */
static void replace_functions(kvo_property *property, const kvo_property *by) {
  property->getter = by->getter;
  property->setter = by->setter;
  if (property->to_many == NULL) {
    property->user = by->user;
    return;
  }
  kvo_to_many *accessors = (kvo_to_many *)property->to_many;
  accessors->list = by->to_many->list;
  accessors->members = by->to_many->members;
}

kvo_class *kvo__class_revive(kvo_class *fresh) {
  kvo_class *found = kvo__classes_first();
  while (found != NULL && !(atomic_load(&found->is_retired) && is_like(found, fresh))) found = found->next;
  if (found == NULL) return NULL;
  for (size_t i = 0; i < found->property_count; i++) {
    if (found->properties[i] != fresh->properties[i])
      replace_functions((kvo_property *)found->properties[i], fresh->properties[i]);
    found->setters[i] = fresh->setters[i];
  }
  const kvo_coding_hooks *hooks = found->coding;
  bool owns_hooks = found->owns_coding; /* not those of its superclass, which may be freed */
  found->coding = fresh->coding;
  found->owns_coding = fresh->owns_coding;
  fresh->coding = hooks;
  fresh->owns_coding = owns_hooks;
  found->given_name = fresh->given_name;
  found->finalize = fresh->finalize;
  kvo_class *notifying = atomic_load(&found->notifying);
  if (notifying != NULL) {
    notifying->finalize = fresh->finalize;
    notifying->coding = found->coding;
  }
  atomic_store(&found->is_retired, false);
  return found;
}
