/* bind.c - bindings of C objects: kvo_bind.h. */
#include "api/api.h"
#include "changes/settle.h"
#include "lifetimes/lifetimes.h"

#include <kvo/kvo_bind.h>
#include <stdio.h>

/* A binding, the user data of its observation, in one block with its strings. */
typedef struct binding {
  kvo_object *target, *source;
  const char *key, *path;
  /** NULL for a key path. */
  kvo_compute compute;
  void *user_data;
  void (*destroy)(void *user_data);
  /** That of the target's death; 0 if the target is the source, with which the binding ends anyway. */
  kvo_observation watch;
  char strings[];
} binding;

/* ------------------------------------------------------------------------------------------------------------ Value -- */

static void bind_keep(const kvo_value *value, void *arg) {
  kvo_boxed **kept = arg;
  if (*kept == NULL && value != NULL) *kept = kvo__box(value);
}

static void *bind_evaluate(void *user_data) {
  binding *of = user_data;
  kvo_boxed *value = NULL;
  if (of->compute != NULL)
    of->compute(of->user_data, bind_keep, &value);
  else
    value = kvo__path_evaluate(of->source, of->path, NULL);
  return value;
}

static void bind_release(void *value, void *user_data) {
  (void)user_data;
  kvo__unbox(value);
}

/* A value that a binding is about to set. */
typedef struct given {
  const kvo_raw_change *change;
  binding *of;
  const kvo_value *value;
  bool is_same;
} given;

/* Whether a floating-point number is stored as another one, of a less exact type: 0.3 as 0.3f. */
static bool is_stored_as(const kvo_value *value, const kvo_value *stored) {
  long double converted;
  return kvo__value_store(value, stored->type, stored->size, &converted) == KVO_OK &&
         kvo__value_same(&(kvo_value){stored->type, stored->size, &converted}, stored);
}

/* Floating-point numbers of two types: a side of a two-way binding is not to answer what was made of its own value. */
static bool are_same_reals(const kvo_value *one, const kvo_value *other) {
  if (one->bytes == NULL || other->bytes == NULL) return false;
  char types[] = {kvo__type_unqualified(one->type)[0], kvo__type_unqualified(other->type)[0]};
  bool differ = types[0] != types[1] && strchr("fdD", types[0]) != NULL && strchr("fdD", types[1]) != NULL;
  return differ && (is_stored_as(one, other) || is_stored_as(other, one));
}

static void bind_compare(const kvo_value *present, void *arg) {
  given *new = arg;
  new->is_same = kvo__value_same(present, new->value) || are_same_reals(present, new->value);
}

static void bind_describe(kvo_node *node, void *arg) { kvo__describe_node(node, arg); }

static void set_value(const kvo_value *value, void *arg) {
  given *new = arg;
  binding *of = new->of;
  if ((kvo__word(of->target) & KVO_WORD_DYING) != 0) return; /* the binding is about to end */
  new->value = value;
  (void)kvo__path_read(of->target, of->key, KVO_PATH_READ, bind_compare, new);
  kvo_status status = new->is_same ? KVO_OK : kvo_set_value_at(of->target, of->key, value, NULL, 0);
  if (status == KVO_OK || status == KVO_ERROR_REFUSED) return; /* the setter has decided */
  kvo_fault_observation concerned = {.key_path = of->path, .object = of->source, .object_class = ""};
  (void)kvo__id_look_up(new->change->observation, bind_describe, &concerned);
  KVO_MISUSE(cannot_set, of->target, of->key, &concerned);
}

/* The value is that of the property, or one of `evaluate`. */
static void set(const kvo_raw_change *change, void *user_data) {
  given new = {.change = change, .of = user_data};
  if (change->new_value == NULL) return;
  if (change->property != NULL)
    kvo__property_view(change->property, change->new_value, set_value, &new);
  else
    set_value(&((const kvo_boxed *)change->new_value)->value, &new);
}

/* -------------------------------------------------------------------------------------------------------------- Ends -- */

/* Frees nothing: kvo__observer_free follows. */
static void bind_end(void *user_data) {
  binding *of = user_data;
  if (of->destroy != NULL) of->destroy(of->user_data);
  kvo__end_named(of->watch, KVO_NOWHERE);
}

static void abandon(void *user_data) { kvo__free(user_data); }

static const kvo_observer_ops ops = {
    .callback = set, .destroy = bind_end, .abandon = abandon, .evaluate = bind_evaluate, .release = bind_release};

void kvo__observer_free(const kvo_observer_ops *its, void *user_data) {
  if (kvo__is_of_c(its) || its == &ops) kvo__free(user_data);
}

bool kvo__bind_is_in(const kvo_node *node, const kvo_module_range *module) {
  if (kvo__node_ops(node) != &ops) return false;
  const binding *of = kvo__node_user_data(node);
  return kvo__is_in(module, (uintptr_t)of->compute) || kvo__is_in(module, (uintptr_t)of->destroy) ||
         kvo__is_in(module, (uintptr_t)of->user_data);
}

/* The id of a binding, for the watch of its target's death. Registration sets it, also if the target dies meanwhile. */
typedef struct bound_id {
  kvo_observation id;
  _Atomic uint32_t references;
} bound_id;

static void bound_id_release(void *user_data) {
  bound_id *of = user_data;
  if (atomic_fetch_sub(&of->references, 1) == 1) kvo__free(of);
}

/* When the death begins: the memory of the target may go before the watch is destroyed, if a change of the target is in progress. */
static void bind_end_at_death(kvo_observation watch, void *user_data) {
  (void)watch;
  kvo__end_named(((bound_id *)user_data)->id, KVO_NOWHERE);
}

static const kvo_observer_ops watch_ops = {.destroy = bound_id_release, .ask = bind_end_at_death};

/* Before the registration of the binding, which runs code of the program. The caller has a reference to `to`. */
static kvo_status watch_target(kvo_object *target, bound_id *to, kvo_observation *watch) {
  atomic_fetch_add(&to->references, 1);
  kvo_status status = kvo_binding_observe_death(target, &watch_ops, to, watch);
  if (status != KVO_OK) bound_id_release(to);
  return status;
}

/* -------------------------------------------------------------------------------------------------------------- Making -- */

static binding *bind_make(const binding *of) {
  size_t key_size = strlen(of->key) + 1, path_size = strlen(of->path) + 1;
  binding *made = kvo__alloc(sizeof *made + key_size + path_size);
  if (made == NULL) return NULL;
  *made = *of;
  made->key = memcpy(made->strings, of->key, key_size);
  made->path = memcpy(made->strings + key_size, of->path, path_size);
  return made;
}

/* Registers a binding whose source is the root. */
static kvo_status bind_property(const char *function, const binding *of, kvo_observation *out, kvo_place place) {
  kvo_class *cls = kvo_object_class(of->target);
  const kvo_property *property = kvo_class_property(cls, of->key);
  binding *made = bind_make(of);
  bound_id *id = made != NULL ? kvo__alloc(sizeof *id) : NULL;
  kvo_status status = id != NULL ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY;
  if (id != NULL) *id = (bound_id){.references = 1};
  if (status == KVO_OK && of->source != of->target) status = watch_target(of->target, id, &made->watch);
  if (status != KVO_OK) {
    kvo__free(made);
    if (id != NULL) bound_id_release(id);
    return kvo__fail(status, "%s: \"%s\": %s", function, of->key, kvo_status_string(status));
  }
  kvo_observation watch = made->watch;
  char note[128];
  snprintf(note, sizeof note, "binding of \"%.100s\"", of->key);
  kvo_binding_observer observer = {
      .key_path = made->path,
      .options = KVO_NEW | KVO_INITIAL | KVO_ENDS_WITH_OBJECT,
      .ops = &ops,
      .user_data = made,
      .identity = {kvo_class_name(cls), kvo_object_instance(of->target)},
      .file = place.file,
      .line = place.line,
      .note = note,
      .is_receiver = true,
      .is_binding = true,
      .target = of->target,
      .target_key = property->key,
  };
  const kvo_property *read = of->compute == NULL ? kvo_class_property(kvo_object_class(of->source), of->path) : NULL;
  bool is_stored = read != NULL && read->affected_by == NULL && (read->flags & KVO_PROPERTY_COMPUTED) == 0;
  status = is_stored ? kvo_binding_observe_key(of->source, read->key, &observer, &id->id)
                     : kvo__observe_expression(of->source, &observer, false, of->compute != NULL, &id->id);
  if (status == KVO_OK && out != NULL) *out = id->id; /* it may have ended */
  if (status != KVO_OK) kvo__end_named(watch, KVO_NOWHERE);
  bound_id_release(id);
  return status == KVO_OK ? status : kvo__fail(status, "%s: \"%s\": %s", function, of->path, kvo_status_string(status));
}

static kvo_status check_key(const char *function, kvo_object *target, const char *key) {
  uint32_t errors = kvo__error_count();
  kvo_status status = kvo__path_check_of(target, key);
  if (status != KVO_OK) return kvo__explain(status, errors, function, target, key);
  kvo_class *cls = kvo_object_class(target);
  const kvo_property *property = kvo_class_property(cls, key);
  bool can_set = property != NULL && (property->ops == NULL ? kvo__can_set(property) : property->to_many == NULL);
  if (can_set) return KVO_OK;
  return kvo__fail(property == NULL ? KVO_ERROR_UNDEFINED_KEY : KVO_ERROR_READ_ONLY,
                   "%s: \"%s\" of class '%s' cannot be set", function, key, kvo_class_name(cls));
}

static kvo_status check(const char *function, kvo_object *target, const char *key, kvo_object *source, const char *path,
                        kvo_place place) {
  const char *wrong = target == NULL   ? "target is NULL"
                      : key == NULL    ? "key is NULL"
                      : source == NULL ? "source is NULL"
                      : path == NULL   ? "key_path is NULL"
                                       : NULL;
  if (wrong != NULL) return kvo__invalid(function, wrong, place);
  kvo_status status = check_key(function, target, key);
  if (status != KVO_OK) return status;
  uint32_t errors = kvo__error_count();
  status = kvo__path_check_of(source, path);
  if (status == KVO_OK) kvo__unbox(kvo__path_copy(source, path, &status, KVO_PATH_PROBED, NULL));
  return status == KVO_ERROR_NO_GETTER ? KVO_OK : kvo__explain(status, errors, function, source, path);
}

kvo_status kvo_bind_at(kvo_object *target, const char *key, kvo_object *source, const char *key_path,
                       kvo_observation *out, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  kvo_status status = check("kvo_bind", target, key, source, key_path, place);
  if (status != KVO_OK) return status;
  return bind_property("kvo_bind", &(binding){.target = target, .source = source, .key = key, .path = key_path}, out,
                       place);
}

kvo_status kvo_bind_computed_at(kvo_object *target, const char *key, kvo_compute compute, void *user_data,
                                void (*destroy)(void *user_data), kvo_observation *out, const char *file,
                                uint32_t line) {
  kvo_place place = {file, line};
  const char *wrong = target == NULL    ? "target is NULL"
                      : key == NULL     ? "key is NULL"
                      : compute == NULL ? "compute is NULL"
                                        : NULL;
  if (wrong != NULL) return kvo__invalid("kvo_bind_computed", wrong, place);
  kvo_status status = check_key("kvo_bind_computed", target, key);
  if (status != KVO_OK) return status;
  binding of = {.target = target, .source = target, .key = key, .path = key, .compute = compute};
  of.user_data = user_data;
  of.destroy = destroy;
  return bind_property("kvo_bind_computed", &of, out, place);
}

kvo_status kvo_bind_two_way_at(kvo_object *one, const char *key, kvo_object *other, const char *other_key,
                               kvo_observation *out, const char *file, uint32_t line) {
  kvo_place place = {file, line};
  kvo_observation first = 0, second = 0;
  kvo_status status = check("kvo_bind_two_way", one, key, other, other_key, place);
  if (status == KVO_OK) status = check("kvo_bind_two_way", other, other_key, one, key, place);
  if (status != KVO_OK) return status;
  binding to_one = {.target = one, .source = other, .key = key, .path = other_key};
  binding to_other = {.target = other, .source = one, .key = other_key, .path = key};
  status = bind_property("kvo_bind_two_way", &to_one, &first, place);
  if (status != KVO_OK) return status;
  if (!kvo_observation_is_registered(first)) { /* an observer of the first value has destroyed one of them */
    if (out != NULL) *out = first;
    return KVO_OK;
  }
  status = bind_property("kvo_bind_two_way", &to_other, &second, place);
  if (status != KVO_OK || !kvo__bound_join(second, first)) kvo__end_named(first, KVO_NOWHERE);
  if (out != NULL && status == KVO_OK) *out = second;
  return status;
}

/* ------------------------------------------------------------------------------------- For callers without a place -- */

#undef kvo_bind
#undef kvo_bind_computed
#undef kvo_bind_two_way

kvo_status kvo_bind(kvo_object *target, const char *key, kvo_object *source, const char *key_path,
                    kvo_observation *out) {
  return kvo_bind_at(target, key, source, key_path, out, NULL, 0);
}

kvo_status kvo_bind_computed(kvo_object *target, const char *key, kvo_compute compute, void *user_data,
                             void (*destroy)(void *user_data), kvo_observation *out) {
  return kvo_bind_computed_at(target, key, compute, user_data, destroy, out, NULL, 0);
}

kvo_status kvo_bind_two_way(kvo_object *one, const char *key, kvo_object *other, const char *other_key,
                            kvo_observation *out) {
  return kvo_bind_two_way_at(one, key, other, other_key, out, NULL, 0);
}
