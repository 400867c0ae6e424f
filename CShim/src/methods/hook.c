/* hook.c - the hooks on methods: registration, removal, and the chains of hooks that calls use.
 *
 * A call takes a chain with a reference, so a chain that is in use is replaced, not changed. A hook that was removed is skipped, and
 * destroyed with the last chain that has it. */
#include "methods/methods.h"

static kvo_lock lock;

static kvo_index_key key_of_id(const kvo_index_entry *entry) {
  return (kvo_index_key){((const kvo_hooking *)entry)->id, 0};
}

/* The hooks by id. Under the lock, as all below. */
static kvo_index hooks_by_id = {NULL, key_of_id};
static kvo_hook last_id;

/* The hooks of one method on one object. */
typedef struct on_object {
  kvo_index_entry entry;
  const kvo_object *object;
  kvo_method *method;
  kvo_chain *chain;
} on_object;

/* All chains of an object have the same major key, and no other object has it. */
static kvo_index_key key_on(const kvo_object *object, const kvo_method *method) {
  return kvo__index_key(object, 0, (uintptr_t)method);
}

static kvo_index_key key_of_object(const kvo_index_entry *entry) {
  return key_on(((const on_object *)entry)->object, ((const on_object *)entry)->method);
}

static kvo_index hooked_objects = {NULL, key_of_object};
static _Atomic size_t object_count;

static on_object *find_on(const kvo_object *object, const kvo_method *method) {
  if (hooked_objects.root == NULL) return NULL;
  on_object *found = (on_object *)kvo__index_from(&hooked_objects, key_on(object, method));
  return found != NULL && found->object == object && (method == NULL || found->method == method) ? found : NULL;
}

/* ------------------------------------------------------------------------------------------------------------ Chains -- */

static void let_go(kvo_hooking *hook) {
  if (atomic_fetch_sub(&hook->references, 1) != 1) return;
  if (hook->destroy != NULL) hook->destroy(hook->user_data);
  kvo__free(hook);
}

void kvo__chain_let_go(kvo_chain *chain) {
  if (chain == NULL || atomic_fetch_sub(&chain->users, 1) != 1) return;
  for (uint32_t i = 0; i < chain->count; i++) let_go(chain->hooks[i]);
  kvo__free(chain);
}

static bool runs_before(const kvo_hooking *one, const kvo_hooking *other) {
  return one->order != other->order ? one->order < other->order : one->id < other->id;
}

static void append(kvo_chain *chain, kvo_hooking *hook) {
  chain->hooks[chain->count++] = hook;
  chain->kinds[hook->when]++;
  atomic_fetch_add(&hook->references, 1);
}

/* A copy of a chain, which may be NULL, with `more`, if it is not NULL, and without hooks that were removed. NULL without memory. */
static kvo_chain *copy(const kvo_chain *chain, kvo_hooking *more) {
  uint32_t count = chain != NULL ? chain->count : 0;
  kvo_chain *made = kvo__alloc(sizeof *made + (count + 1) * sizeof *made->hooks);
  if (made == NULL) return NULL;
  atomic_store(&made->users, 1);
  for (uint32_t i = 0; i < count; i++) {
    if (more != NULL && runs_before(more, chain->hooks[i])) {
      append(made, more);
      more = NULL;
    }
    if (atomic_load(&chain->hooks[i]->live)) append(made, chain->hooks[i]);
  }
  if (more != NULL) append(made, more);
  return made;
}

bool kvo__chains_take(kvo_method *method, const kvo_object *object, kvo_chain *chains[2]) {
  if (atomic_load_explicit(&method->hooked, memory_order_acquire) == 0) return false;
  kvo__lock(&lock);
  const on_object *own = find_on(object, method);
  chains[0] = method->chain;
  chains[1] = own != NULL ? own->chain : NULL;
  for (int i = 0; i < 2; i++)
    if (chains[i] != NULL) atomic_fetch_add_explicit(&chains[i]->users, 1, memory_order_relaxed);
  kvo__unlock(&lock);
  return chains[0] != NULL || chains[1] != NULL;
}

/* -------------------------------------------------------------------------------------------------------- Registration -- */

/* Puts a hook into the chain of its method on its class or object. The replaced chain is let go by the caller. */
static kvo_status put_locked(kvo_hooking *hook, kvo_chain **replaced) {
  on_object *own = hook->object != NULL ? find_on(hook->object, hook->method) : NULL, *made = NULL;
  if (hook->object != NULL && own == NULL && (made = kvo__alloc(sizeof *made)) == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  if (made != NULL) *made = (on_object){.object = hook->object, .method = hook->method};
  kvo_chain **at = hook->object == NULL ? &hook->method->chain : own != NULL ? &own->chain : &made->chain;
  hook->id = last_id + 1;
  kvo_chain *chain = copy(*at, hook);
  if (chain == NULL) {
    kvo__free(made);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  last_id++;
  *replaced = *at;
  *at = chain;
  if (made != NULL) {
    kvo__index_add(&hooked_objects, &made->entry);
    atomic_fetch_add(&object_count, 1);
  }
  kvo__index_add(&hooks_by_id, &hook->by_id);
  atomic_fetch_add(&hook->method->hooked, 1);
  if (hook->cls != NULL) atomic_fetch_add(&hook->cls->hooks, 1);
  return KVO_OK;
}

static kvo_status hook(const char *function, kvo_object *object, kvo_class *cls, const kvo_hook_spec *given,
                       kvo_hook *out) {
  enum { LEAST = KVO_SIZE_TO(kvo_hook_spec, destroy) };
  kvo_hook_spec spec;
  bool is_on = object != NULL ? kvo__is_object(object) : kvo__class_is_known(cls);
  const char *wrong = !is_on          ? "it is on no object and no class"
                      : given == NULL ? "spec is NULL"
                      : !kvo__copy_spec(&spec, sizeof spec, given, given->struct_size, LEAST)
                          ? "spec->struct_size is not sizeof(kvo_hook_spec)"
                      : spec.method == NULL                                       ? "spec->method is NULL"
                      : spec.function == NULL                                     ? "spec->function is NULL"
                      : spec.when < KVO_HOOK_BEFORE || spec.when > KVO_HOOK_AFTER ? "spec->when is unknown"
                                                                                  : NULL;
  if (wrong != NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: %s", function, wrong);
  const kvo_class *of = object != NULL ? kvo_object_class(object) : cls;
  kvo_method *method = kvo__method_find(of, spec.method);
  if (method == NULL)
    return kvo__fail(KVO_ERROR_UNDEFINED_KEY, "%s: class '%s' has no method '%s'", function, of->name, spec.method);
  if (kvo__method_trampoline(method) == NULL)
    return kvo__fail(KVO_ERROR_NO_INTERCEPTION, "%s: method '%s' of class '%s': %s", function, method->name, of->name,
                     kvo_status_string(KVO_ERROR_NO_INTERCEPTION));
  kvo_hooking *made = kvo__alloc(sizeof *made);
  kvo_status status = made != NULL ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY;
  kvo_chain *replaced = NULL;
  if (made != NULL) {
    made->method = method;
    made->object = object;
    made->cls = object == NULL ? cls : NULL;
    made->when = spec.when;
    made->order = spec.order;
    made->function = spec.function;
    made->user_data = spec.user_data;
    made->destroy = spec.destroy;
    atomic_store(&made->live, true);
    atomic_store(&made->references, 1); /* that of this function */
    kvo__lock(&lock);
    status = put_locked(made, &replaced);
    kvo_hook id = made->id;
    kvo__unlock(&lock);
    if (status == KVO_OK && out != NULL) *out = id;
    if (status != KVO_OK) made->destroy = NULL;
    let_go(made);
  }
  kvo__chain_let_go(replaced);
  return status == KVO_OK ? KVO_OK : kvo__fail(status, "%s: method '%s': out of memory", function, spec.method);
}

kvo_status kvo_object_hook(kvo_object *object, const kvo_hook_spec *spec, kvo_hook *out) {
  return hook("kvo_object_hook", object, NULL, spec, out);
}

kvo_status kvo_class_hook(kvo_class *cls, const kvo_hook_spec *spec, kvo_hook *out) {
  return hook("kvo_class_hook", NULL, cls, spec, out);
}

/* ------------------------------------------------------------------------------------------------------------ Removal -- */

/* Takes a hook out of the indexes, and its chain out of use if nothing else is in it. Returns the chain to let go, or NULL. */
static kvo_chain *take_locked(kvo_hooking *hook) {
  atomic_store(&hook->live, false);
  kvo__index_remove(&hooks_by_id, &hook->by_id);
  atomic_fetch_sub(&hook->method->hooked, 1);
  if (hook->cls != NULL) atomic_fetch_sub(&hook->cls->hooks, 1);
  on_object *own = hook->object != NULL ? find_on(hook->object, hook->method) : NULL;
  kvo_chain **at = own != NULL ? &own->chain : &hook->method->chain, *chain = *at;
  bool others = false;
  for (uint32_t i = 0; i < chain->count; i++) others = others || atomic_load(&chain->hooks[i]->live);
  if (!others) {
    *at = NULL;
    if (own != NULL) {
      kvo__index_remove(&hooked_objects, &own->entry);
      atomic_fetch_sub(&object_count, 1);
      kvo__free(own);
    }
    return chain;
  }
  /* Without memory for another chain this one stays, with the hook, which is not called. */
  kvo_chain *shorter = copy(chain, NULL);
  if (shorter == NULL) return NULL;
  *at = shorter;
  return chain;
}

kvo_status kvo_hook_remove(kvo_hook id) {
  kvo__lock(&lock);
  kvo_hooking *found =
      hooks_by_id.root != NULL ? (kvo_hooking *)kvo__index_from(&hooks_by_id, (kvo_index_key){id, 0}) : NULL;
  bool is_there = found != NULL && found->id == id;
  kvo_chain *chain = is_there ? take_locked(found) : NULL;
  kvo__unlock(&lock);
  kvo__chain_let_go(chain);
  return is_there ? KVO_OK
                  : kvo__fail(KVO_ERROR_NOT_REGISTERED, "kvo_hook_remove: hook %llu: it is not registered (any more)",
                              (unsigned long long)id);
}

void kvo__hooks_forget(const kvo_object *object) {
  if (__builtin_expect(atomic_load_explicit(&object_count, memory_order_acquire) == 0, true)) return;
  for (;;) {
    kvo__lock(&lock);
    on_object *own = find_on(object, NULL);
    kvo_chain *chain = own != NULL ? own->chain : NULL;
    if (own != NULL) {
      for (uint32_t i = 0; i < chain->count; i++) {
        kvo_hooking *each = chain->hooks[i];
        if (!atomic_exchange(&each->live, false)) continue;
        kvo__index_remove(&hooks_by_id, &each->by_id);
        atomic_fetch_sub(&each->method->hooked, 1);
      }
      kvo__index_remove(&hooked_objects, &own->entry);
      atomic_fetch_sub(&object_count, 1);
    }
    kvo__unlock(&lock);
    if (own == NULL) return;
    kvo__free(own);
    kvo__chain_let_go(chain);
  }
}
