/* paths.c - the walk along key paths from object to object: reads values, and records the keys. */
#include "expressions/walk.h"

/* Values up to this size are read into the stack. */
enum { PATHS_INLINE_VALUE = 64 };

/* Without memory an evaluation must fail, or its missing reads would count as no longer needed. */
static kvo_status paths_out_of_memory(void) {
  kvo__track_fail(KVO_ERROR_OUT_OF_MEMORY);
  return KVO_ERROR_OUT_OF_MEMORY; /* the caller makes the text */
}

static kvo_status pass_nil(kvo_value_reader reader, void *arg) {
  kvo_value nil = {"@", sizeof(void *), NULL};
  reader(&nil, arg);
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------- One property -- */

/* An object on a key path, with the value that refers to it, because a binding's value may be all that keeps the object alive. */
typedef struct held {
  kvo_object *object;
  const kvo_property *property;
  void *value;
} held;

static void paths_let_go(const held *of) { kvo__property_release(of->property, of->value); }

/* The status for a NULL from kvo__property_copy. */
static kvo_status no_value(const kvo_property *property) {
  bool is_of_c = property->to_many != NULL || (property->ops == NULL && kvo__can_read(property));
  return is_of_c ? paths_out_of_memory()
                 : kvo__fail(KVO_ERROR_NO_GETTER, "property '%s' has no getter", property->name);
}

/* An object that is being destroyed counts as nil, because others must not read it. */
static bool is_dying(const kvo_object *object) {
  bool is = (kvo__word(object) & KVO_WORD_DYING) != 0;
  if (is) kvo__track_dying();
  return is;
}

/* Copies the present value. If the class declares what changes a property, the reads of its getter are not recorded. */
static void *copy_recorded(const kvo_property *property, kvo_object *object) {
  if ((property->flags & KVO_PROPERTY_DECLARED) == 0) return kvo__property_copy(property, object, NULL);
  void *paused = kvo_track_pause();
  void *value = kvo__property_copy(property, object, NULL);
  kvo_track_resume(paused);
  return value;
}

/* Whether the getter can be called with an address on the stack: the value of any other is copied, with what it points to. */
static bool is_plain(const kvo_property *property) {
  return property->ops == NULL && kvo__can_read(property) && property->type[0] != '*' &&
         property->size <= PATHS_INLINE_VALUE && (property->flags & KVO_PROPERTY_DECLARED) == 0;
}

static kvo_status read_property(const kvo_property *property, kvo_object *object, kvo_value_reader reader, void *arg) {
  if (is_plain(property)) {
    _Alignas(16) unsigned char value[PATHS_INLINE_VALUE];
    kvo__call_getter(property, object, value);
    kvo__property_view(property, value, reader, arg);
    return KVO_OK;
  }
  void *value = copy_recorded(property, object);
  if (value == NULL) return no_value(property);
  kvo__property_view(property, value, reader, arg);
  kvo__property_release(property, value);
  return KVO_OK;
}

/* ---------------------------------------------------------------------------------------------------------- Recording -- */

static void read_nothing(const kvo_value *value, void *arg) { (void)value, (void)arg; }

/* The value of the last key is needed only to record what its getter reads. */
static kvo_status visit_last(kvo_object *object, const kvo_property *property, const char *key, void *arg) {
  (void)key, (void)arg;
  bool changes_with_reads =
      property != NULL && (property->flags & (KVO_PROPERTY_COMPUTED | KVO_PROPERTY_DECLARED)) == KVO_PROPERTY_COMPUTED;
  if (changes_with_reads) (void)read_property(property, object, read_nothing, NULL);
  return KVO_OK;
}

/* Records the keys of a path; the operands of an operator are keys too. */
static void record_path(kvo_object *object, const char *key_path) {
  kvo_walk walk = {.use = KVO_PATH_PROBED, .visit = strchr(key_path, '@') == NULL ? visit_last : NULL};
  (void)kvo__walk_object(&walk, object, (kvo_path){key_path, NULL}, false, read_nothing, NULL);
}

/* Keys may affect each other, in cycles or in several ways: an evaluation records the declared dependencies of a key once. A path that
 * begins with the key itself is no dependency: it is reported when the key is observed. */
static void record_key(kvo_object *object, const kvo_property *property, kvo_key key) {
  kvo_track_coded_read(object, key);
  if (property == NULL || property->affected_by == NULL || !kvo__track_declared(object, key)) return;
  for (char **path = property->affected_by; *path != NULL; path++)
    if (!kvo__affects_itself(property, *path)) record_path(object, *path);
}

/* ----------------------------------------------------------------------------------------------------- Undefined keys -- */

/* Goes on with a value that is only valid in the reader to which it is passed. */
typedef struct continuation {
  kvo_walk *walk;
  kvo_path path;
  kvo_value_reader reader;
  void *arg;
  kvo_status status;
  /** A function of the program may pass more than one value: the first counts. */
  bool has_gone;
  /** The value is an object, or nil: the walk goes on there without another stack frame. */
  bool is_object;
  kvo_object *object;
} continuation;

/* What a program's function passes: NULL and a C string that is NULL, as KVO_VALUE makes it, are nil; what has no type cannot be
 * interpreted. */
static void go_on(const kvo_value *value, void *arg) {
  continuation *of = arg;
  kvo_value passed = value != NULL ? *value : (kvo_value){NULL, 0, NULL};
  if (passed.type == NULL) passed.type = "?";
  if (kvo__value_is_nil(&passed)) passed.bytes = NULL;
  if (!of->has_gone) of->status = kvo__walk_value(of->walk, &passed, of->path, of->reader, of->arg);
  of->has_gone = true;
}

/* The name of a component as a string, for a function of the program. */
typedef struct name {
  char inside[128];
  char *block;
  const char *string;
} name;

static bool make_name(name *to, const kvo_component *of) {
  to->block = of->length < sizeof to->inside ? NULL : kvo__copy_string(of->name, of->length);
  to->string = to->block != NULL ? to->block : to->inside;
  if (of->length >= sizeof to->inside) return to->block != NULL;
  memcpy(to->inside, of->name, of->length);
  to->inside[of->length] = '\0';
  return true;
}

static kvo_status too_deep(void) {
  return kvo__fail(KVO_ERROR_MALFORMED_KEY_PATH,
                   "the key path leads through more than %d collections and undefined keys", KVO_WALK_DEPTH);
}

/* The class does not have the key. */
static kvo_status undefined(kvo_walk *walk, kvo_object *object, const kvo_component *first, kvo_path rest,
                            kvo_value_reader reader, void *arg) {
  const kvo_coding_hooks *hooks = kvo_object_class(object)->coding;
  bool is_operator = first->name[0] == '@' && rest.at != NULL;
  name key;
  if (!make_name(&key, first)) return paths_out_of_memory();
  if (hooks == NULL || hooks->value_for_undefined_key == NULL || is_operator) {
    kvo_status status =
        kvo__fail(KVO_ERROR_UNDEFINED_KEY, "class '%s' has no key '%s'%s", kvo_object_class(object)->name, key.string,
                  is_operator ? ": operators are for collections" : "");
    kvo__free(key.block);
    return status;
  }
  if (walk->depth >= KVO_WALK_DEPTH) {
    kvo__free(key.block);
    return too_deep();
  }
  walk->depth++;
  continuation next = {.walk = walk, .path = rest, .reader = reader, .arg = arg, .status = KVO_ERROR_UNDEFINED_KEY};
  kvo_status status = hooks->value_for_undefined_key(object, key.string, go_on, &next, hooks->user);
  walk->depth--;
  kvo__free(key.block);
  return status == KVO_OK ? next.status : status;
}

static kvo_status paths_visit(kvo_walk *walk, kvo_object *object, const kvo_property *property,
                              const kvo_component *last) {
  name key;
  if (!make_name(&key, last)) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_status status = walk->visit(object, property, key.string, walk->visit_arg);
  kvo__free(key.block);
  return status;
}

/* ----------------------------------------------------------------------------------------------------------- The walk -- */

static bool paths_is_of(const kvo_value *value, const char *codes) {
  return value->type != NULL && value->type[0] != '\0' && strchr(codes, value->type[0]) != NULL;
}

static void paths_look_at(const kvo_value *value, void *arg) {
  continuation *of = arg;
  of->is_object = paths_is_of(value, "@");
  if (!of->is_object)
    go_on(value, arg);
  else if (value->bytes != NULL)
    of->object = *(kvo_object *const *)value->bytes;
}

/* Moves on to the object that a property holds. False if there is none: then the walk has ended, with the status. */
static bool paths_follow(kvo_walk *walk, held *at, const kvo_property *property, kvo_path path, kvo_value_reader reader,
                         void *arg, kvo_status *status) {
  held next = {NULL, property, NULL};
  if (is_plain(property) && property->type[0] == '@') {
    kvo__call_getter(property, at->object, &next.object);
  } else {
    continuation found = {.walk = walk, .path = path, .reader = reader, .arg = arg, .status = KVO_OK};
    next.value = copy_recorded(property, at->object);
    if (next.value == NULL) {
      *status = no_value(property);
      return false;
    }
    kvo__property_view(property, next.value, paths_look_at, &found);
    if (!found.is_object) {
      paths_let_go(&next);
      *status = found.status;
      return false;
    }
    next.object = found.object;
  }
  if (next.object != NULL && !is_dying(next.object)) {
    paths_let_go(at);
    *at = next;
    return true;
  }
  paths_let_go(&next);
  *status = walk->visit == NULL ? pass_nil(reader, arg) : KVO_OK;
  return false;
}

/* Tells the observation of the whole path what its value is, so that it need not evaluate it. */
static void declare(const kvo_walk *walk, const kvo_property *property, kvo_object *object) {
  bool is_stored = property->affected_by == NULL && (property->flags & KVO_PROPERTY_COMPUTED) == 0;
  if (is_stored && walk->use == KVO_PATH_OBSERVED) kvo_track_value_is_of(object, property->key);
}

kvo_status kvo__walk_object(kvo_walk *walk, kvo_object *object, kvo_path path, bool is_whole, kvo_value_reader reader,
                            void *arg) {
  held at = {object, NULL, NULL};
  kvo_status status = KVO_OK;
  for (;;) {
    const kvo_class *cls = kvo_object_class(at.object);
    if (cls == NULL) { /* being destroyed: counts as nil */
      if (walk->visit == NULL) pass_nil(reader, arg);
      break;
    }
    kvo_component first = kvo__path_take(&path);
    const kvo_property *property = kvo__class_find(cls, first.key);
    bool is_self = property == NULL && kvo__component_is(&first, "self");
    if (!is_self && kvo__own.recorder != NULL) record_key(at.object, property, first.key);
    if (path.at == NULL) {
      if (walk->visit != NULL) {
        status = paths_visit(walk, at.object, property, &first);
      } else if (property != NULL) {
        status = read_property(property, at.object, reader, arg);
        if (is_whole) declare(walk, property, at.object); /* without a getter, too: a set then tells the value */
      } else if (is_self) {
        kvo_value value = {"@", sizeof(kvo_object *), &at.object};
        reader(&value, arg);
      }
      if (property != NULL || is_self || walk->visit != NULL) break;
    }
    if (is_self) continue;
    if (property == NULL) {
      status = undefined(walk, at.object, &first, path, reader, arg);
      break;
    }
    if (!paths_follow(walk, &at, property, path, reader, arg, &status)) break;
  }
  paths_let_go(&at);
  return status;
}

static kvo_status not_an_object(const kvo_value *value, const kvo_component *next) {
  name key;
  if (!make_name(&key, next)) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_status status = kvo__fail(KVO_ERROR_NOT_AN_OBJECT, "a value of type \"%s\" has no key '%s'",
                                value->type != NULL ? value->type : "?", key.string);
  kvo__free(key.block);
  return status;
}

kvo_status kvo__walk_value(kvo_walk *walk, const kvo_value *value, kvo_path path, kvo_value_reader reader, void *arg) {
  if (path.at == NULL) {
    reader(value, arg);
    return KVO_OK;
  }
  if (kvo__foreign(value) != NULL) return kvo__walk_foreign(walk, kvo__foreign(value), path, false, reader, arg);
  if (paths_is_of(value, "@")) {
    kvo_object *object = value->bytes != NULL ? *(kvo_object *const *)value->bytes : NULL;
    if (object != NULL && !is_dying(object)) return kvo__walk_object(walk, object, path, false, reader, arg);
    return walk->visit == NULL ? pass_nil(reader, arg) : KVO_OK;
  }
  if (value->bytes == NULL && (value->type == kvo__foreign_type || paths_is_of(value, "[<")))
    return walk->visit == NULL ? pass_nil(reader, arg) : KVO_OK;
  if (kvo_value_collection(value) != NULL) {
    if (walk->depth >= KVO_WALK_DEPTH) return too_deep();
    walk->depth++;
    kvo_status status = kvo__walk_collection(walk, value, path, reader, arg);
    walk->depth--;
    return status;
  }
  while (path.at != NULL) {
    kvo_component first = kvo__path_take(&path);
    if (!kvo__component_is(&first, "self") || walk->visit != NULL) return not_an_object(value, &first);
  }
  reader(value, arg);
  return KVO_OK;
}

/* ------------------------------------------------------------------------------------------------------- Whole paths -- */

kvo_status kvo__path_check_of(const kvo_object *object, const char *key_path) {
  if (kvo_object_class(object) == NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "the object was not initialised, or has been finished");
  return kvo__path_check(key_path);
}

kvo_status kvo__path_read(kvo_object *object, const char *key_path, kvo_path_use use, kvo_value_reader reader,
                          void *arg) {
  kvo__look_for_abandoned(); /* an evaluation, for instance: the walk's larger frames are below it */
  kvo_walk walk = {.use = use};
  return kvo__walk_object(&walk, object, (kvo_path){key_path, NULL}, true, reader, arg);
}

/* A value that is being copied, and the box for it. */
typedef struct copying {
  kvo_boxed *made, *spare;
} copying;

static void box_value(const kvo_value *value, void *arg) {
  copying *of = arg;
  of->made = kvo__box_again(value, of->spare);
  of->spare = NULL;
}

kvo_boxed *kvo__path_copy(kvo_object *object, const char *key_path, kvo_status *status, kvo_path_use use,
                          kvo_boxed *spare) {
  copying copy = {NULL, spare};
  *status = kvo__path_read(object, key_path, use, box_value, &copy);
  kvo__unbox(copy.spare);
  if (*status == KVO_OK && copy.made != NULL) return copy.made;
  if (*status == KVO_OK) *status = KVO_ERROR_OUT_OF_MEMORY;
  if (*status == KVO_ERROR_OUT_OF_MEMORY) paths_out_of_memory();
  kvo__unbox(copy.made);
  return NULL;
}

kvo_status kvo__path_visit(kvo_object *object, const char *key_path, kvo_path_visitor paths_visit, void *arg) {
  kvo__look_for_abandoned();
  kvo_walk walk = {.use = KVO_PATH_READ, .visit = paths_visit, .visit_arg = arg};
  return kvo__walk_object(&walk, object, (kvo_path){key_path, NULL}, false, NULL, NULL);
}
