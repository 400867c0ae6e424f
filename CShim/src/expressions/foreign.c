/* foreign.c - the walk along key paths through a binding's own values: reads, and sets with copies. */
#include "expressions/walk.h"

kvo_binding_kind kvo__foreign_kind(const kvo_binding_value *of) {
  /* Every value of a walk is in storage that is written; const says only that it stays the same value. */
  if (of->kind == KVO_KIND_UNKNOWN) of->ops->classify((kvo_binding_value *)(uintptr_t)of);
  return of->kind;
}

static bool foreign_is_collection(const kvo_binding_value *of) {
  return kvo__foreign_kind(of) == KVO_KIND_LIST || of->kind == KVO_KIND_SET;
}

/* Whether no key of it can be set. After its kind is known. */
static bool cannot_be_set(const kvo_binding_value *of) {
  return of->kind == KVO_KIND_VALUE || of->kind == KVO_KIND_NULL;
}

static void destroy(kvo_binding_value *value) {
  if (value->kind != KVO_KIND_NIL) value->ops->destroy(value);
}

void kvo__foreign_refuse(kvo_walk *walk, const kvo_binding_refusal *refusal) {
  refusal->of->ops->refused(refusal, walk->user);
}

/* `name` is a key of the value, or an operator with its "@". */
static kvo_status foreign_refuse(kvo_walk *walk, const kvo_binding_value *of, const kvo_component *name,
                                 kvo_binding_reason reason) {
  bool is_operator = name->length > 0 && name->name[0] == '@' && reason != KVO_REFUSED_SETTING && !cannot_be_set(of);
  kvo__foreign_refuse(
      walk, &(kvo_binding_refusal){
                .reason = reason, .of = of, .name = name->name + is_operator, .length = name->length - is_operator});
  return kvo__fail(KVO_ERROR_UNDEFINED_KEY, "a value of a binding has no key '%.*s'",
                   (int)(name->length < 64 ? name->length : 64), name->name);
}

static size_t length_of(kvo_path path) { return path.end != NULL ? (size_t)(path.end - 1 - path.at) : strlen(path.at); }

/* ------------------------------------------------------------------------------------------------------------ Reading -- */

/* Stores the value of an operator of a dictionary, which has only "@count". */
static kvo_status foreign_apply(kvo_walk *walk, const kvo_binding_value *of, const kvo_component *name, bool is_last,
                                kvo_binding_value *to) {
  if (!is_last) return foreign_refuse(walk, of, name, KVO_REFUSED_OPERATOR);
  if (!kvo__component_is(name, "@count")) return foreign_refuse(walk, of, name, KVO_REFUSED_KEY);
  of->ops->integer((int64_t)of->ops->count(of), to);
  return KVO_OK;
}

/* Stores the value of an entry, and takes its key from the path. */
static kvo_status read_entry(kvo_walk *walk, const kvo_binding_value *of, kvo_path *path, kvo_binding_value *to) {
  kvo_path whole = *path;
  kvo_component first = kvo__path_take(path);
  if (first.length > 0 && first.name[0] == '@') return foreign_apply(walk, of, &first, path->at == NULL, to);
  kvo_status status = KVO_ERROR_UNDEFINED_KEY;
  if (path->at != NULL) { /* as on Apple's platforms, an entry whose key contains dots has precedence */
    status = of->ops->value_for_key(of, whole.at, length_of(whole), false, to, walk->user);
    if (status == KVO_OK) path->at = NULL;
  }
  if (status == KVO_ERROR_UNDEFINED_KEY)
    status = of->ops->value_for_key(of, first.name, first.length, false, to, walk->user);
  return status == KVO_ERROR_UNDEFINED_KEY ? KVO_OK : status; /* nil */
}

static kvo_status read_object(kvo_walk *walk, const kvo_binding_value *of, kvo_path *path, bool is_whole,
                              kvo_binding_value *to) {
  kvo_component first = kvo__path_take(path);
  bool is_operator = path->at != NULL && first.length > 0 && first.name[0] == '@';
  if (is_operator) return foreign_refuse(walk, of, &first, KVO_REFUSED_OPERATOR);
  bool is_last = is_whole && path->at == NULL && walk->use != KVO_PATH_READ;
  return of->ops->value_for_key(of, first.name, first.length, is_last, to, walk->user);
}

/* Stores a part of a value that can only be read, such as a field of a structure. */
static kvo_status read_part(kvo_walk *walk, const kvo_binding_value *of, kvo_path *path, kvo_binding_value *to) {
  kvo_component first = kvo__path_take(path);
  if (kvo__component_is(&first, "self")) {
    of->ops->copy(of, to);
    return KVO_OK;
  }
  kvo_status status = of->kind == KVO_KIND_VALUE
                          ? of->ops->value_for_key(of, first.name, first.length, false, to, walk->user)
                          : KVO_ERROR_UNDEFINED_KEY;
  return status == KVO_ERROR_UNDEFINED_KEY ? foreign_refuse(walk, of, &first, KVO_REFUSED_KEY) : status;
}

kvo_status kvo__walk_foreign(kvo_walk *walk, const kvo_binding_value *of, kvo_path path, bool is_whole,
                             kvo_value_reader reader, void *arg) {
  kvo_binding_value held[2];
  const kvo_binding_value *at = of;
  unsigned side = 0;
  kvo_status status = KVO_OK;
  while (status == KVO_OK && path.at != NULL && at->kind != KVO_KIND_NIL && !foreign_is_collection(at)) {
    kvo_binding_value *next = &held[side];
    *next = kvo__foreign_nil(of->ops);
    status = at->kind == KVO_KIND_OBJECT ? read_object(walk, at, &path, is_whole, next)
             : cannot_be_set(at)         ? read_part(walk, at, &path, next)
                                         : read_entry(walk, at, &path, next);
    if (status != KVO_OK) break;
    if (at != of) destroy(&held[1 - side]);
    at = next;
    side = 1 - side;
  }
  if (status == KVO_OK) {
    kvo_value value = kvo__foreign_view(at);
    if (path.at != NULL && at->kind != KVO_KIND_NIL)
      status = kvo__walk_collection(walk, &value, path, reader, arg);
    else
      reader(&value, arg);
  }
  if (at != of) destroy(&held[1 - side]);
  return status;
}

static void foreign_take(const kvo_value *value, void *arg) {
  kvo_binding_value *to = arg;
  const kvo_binding_value *own = kvo__foreign(value);
  if (own != NULL) own->ops->copy(own, to);
}

/* ------------------------------------------------------------------------------------------------------------ Setting -- */

typedef struct setting {
  kvo_walk *walk;
  kvo_path path;
  const kvo_binding_value *value;
  /** A copy of the list, with what has changed. */
  void *copy;
  bool is_changed;
} setting;

static kvo_status foreign_set_in(const setting *of, const kvo_binding_value *in, kvo_path path,
                                 kvo_binding_value *changed);

static kvo_status set_in_element(kvo_binding_value *element, void *arg) {
  setting *of = arg;
  const kvo_binding_values *ops = element->ops;
  kvo_binding_value changed = kvo__foreign_nil(ops);
  kvo_status status = element->kind != KVO_KIND_NIL ? foreign_set_in(of, element, of->path, &changed) : KVO_OK;
  if (status == KVO_OK) status = ops->add(of->copy, changed.kind != KVO_KIND_NIL ? &changed : element);
  of->is_changed = of->is_changed || changed.kind != KVO_KIND_NIL;
  destroy(&changed);
  return status;
}

static kvo_status set_in_collection(const setting *outer, const kvo_binding_value *in, kvo_path path,
                                    kvo_binding_value *changed) {
  const kvo_binding_values *ops = in->ops;
  setting of = {outer->walk, path, outer->value, ops->gather(KVO_GATHER_CHANGED, ops->count(in)), false};
  if (of.copy == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_status status = ops->each(in, set_in_element, &of, of.walk->user);
  ops->finish(of.copy, status == KVO_OK && of.is_changed ? changed : NULL);
  return status;
}

/* Sets a value for a path that is not at its end, and stores the changed copy of `in`, if there is one. */
static kvo_status foreign_set_in(const setting *of, const kvo_binding_value *in, kvo_path path,
                                 kvo_binding_value *changed) {
  const kvo_binding_values *ops = in->ops;
  void *user = of->walk->user;
  if (foreign_is_collection(in)) return set_in_collection(of, in, path, changed);
  kvo_component first = kvo__path_take(&path);
  bool has_field = in->kind == KVO_KIND_VALUE && path.at != NULL; /* which may refer to an object */
  if (cannot_be_set(in) && !has_field) return foreign_refuse(of->walk, in, &first, KVO_REFUSED_SETTING);
  if (path.at == NULL) return ops->set_value_for_key(in, first.name, first.length, of->value, changed, user);
  kvo_binding_value next = kvo__foreign_nil(ops), inner = next;
  kvo_status status = ops->value_for_key(in, first.name, first.length, false, &next, user);
  bool has_no_value = status == KVO_ERROR_UNDEFINED_KEY && in->kind == KVO_KIND_DICTIONARY; /* nothing is set then */
  if (has_field && status == KVO_ERROR_UNDEFINED_KEY)
    status = foreign_refuse(of->walk, in, &first, KVO_REFUSED_SETTING);
  if (status == KVO_OK && next.kind != KVO_KIND_NIL) {
    status = foreign_set_in(of, &next, path, &inner);
    if (status == KVO_OK && inner.kind != KVO_KIND_NIL && has_field)
      status = foreign_refuse(of->walk, in, &first, KVO_REFUSED_SETTING); /* a changed copy, such as of a dictionary */
    else if (status == KVO_OK && inner.kind != KVO_KIND_NIL)
      status = ops->set_value_for_key(in, first.name, first.length, &inner, changed, user);
  }
  destroy(&inner);
  destroy(&next);
  return has_no_value ? KVO_OK : status;
}

/* -------------------------------------------------------------------------------------------------------- The calls -- */

static bool is_complete(const kvo_binding_values *ops) {
  return ops != NULL && ops->struct_size >= sizeof *ops && ops->copy != NULL && ops->destroy != NULL &&
         ops->classify != NULL && ops->value_for_key != NULL && ops->set_value_for_key != NULL && ops->count != NULL &&
         ops->each != NULL && ops->number != NULL && ops->is_less != NULL && ops->integer != NULL && ops->sum != NULL &&
         ops->gather != NULL && ops->add != NULL && ops->finish != NULL && ops->refused != NULL;
}

static bool is_good(const kvo_binding_value *value) {
  return value != NULL && (unsigned)value->kind <= KVO_KIND_UNKNOWN && is_complete(value->ops);
}

kvo_status kvo_binding_value_for_path(const kvo_binding_value *of, const char *key_path, bool is_observed,
                                      kvo_binding_value *to, void *user) {
  if (!is_good(of) || key_path == NULL || to == NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT,
                     "kvo_binding_value_for_path: of, its functions, key_path or to is NULL or incomplete");
  kvo_walk walk = {.use = is_observed ? KVO_PATH_OBSERVED : KVO_PATH_READ, .user = user};
  *to = kvo__foreign_nil(of->ops);
  kvo_status status = kvo__walk_foreign(&walk, of, (kvo_path){key_path, NULL}, true, foreign_take, to);
  if (status == KVO_ERROR_OUT_OF_MEMORY) kvo__fail(status, "kvo_binding_value_for_path: out of memory");
  return status;
}

kvo_status kvo_binding_set_value_for_path(const kvo_binding_value *of, const char *key_path,
                                          const kvo_binding_value *value, kvo_binding_value *changed, void *user) {
  if (!is_good(of) || key_path == NULL || value == NULL || changed == NULL)
    return kvo__fail(
        KVO_ERROR_INVALID_ARGUMENT,
        "kvo_binding_set_value_for_path: of, its functions, key_path, value or changed is NULL or incomplete");
  kvo_walk walk = {.use = KVO_PATH_READ, .user = user};
  setting whole = {.walk = &walk, .value = value};
  *changed = kvo__foreign_nil(of->ops);
  if (of->kind == KVO_KIND_NIL) return KVO_OK;
  kvo_status status = foreign_set_in(&whole, of, (kvo_path){key_path, NULL}, changed);
  if (status == KVO_ERROR_OUT_OF_MEMORY) kvo__fail(status, "kvo_binding_set_value_for_path: out of memory");
  return status;
}
