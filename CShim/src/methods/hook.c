/* hook.c - the hooks on methods: registration, removal, and the chains of hooks that calls use.
 *
 * A call takes a chain with a reference. A chain that calls use is replaced by a copy; others are changed in place, so that n hooks do not
 * cost n copies. A hook that was removed is skipped, and destroyed with the last chain that has it. */
#include "methods/methods.h"

static kvo_lock hook_lock;

static kvo_index_key key_of_id(const kvo_index_entry *entry) {
  return (kvo_index_key){((const kvo_hooking *)entry)->id, 0};
}

/* The hooks by id, also those that have ended, until they are destroyed. Under the lock, as all below. */
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

static void hook_let_go(kvo_hooking *hook) {
  if (atomic_fetch_sub(&hook->references, 1) != 1) return;
  if (hook->destroy != NULL) hook->destroy(hook->user_data);
  kvo__lock(&hook_lock);
  if (hook->id != 0) kvo__index_remove(&hooks_by_id, &hook->by_id);
  kvo__unlock(&hook_lock);
  kvo__free(hook);
}

void kvo__chain_let_go(kvo_chain *chain) {
  if (chain == NULL || atomic_fetch_sub(&chain->users, 1) != 1) return;
  for (uint32_t i = 0; i < chain->count; i++)
    if (chain->links[i].hook != NULL) hook_let_go(chain->links[i].hook);
  kvo__free(chain);
}

/* How many links of a chain are before that of the hook. */
static uint32_t hook_position_of(const kvo_chain *chain, const kvo_hooking *hook) {
  uint32_t from = 0, to = chain->count;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    const kvo_link *link = &chain->links[middle];
    if (link->order != hook->order ? link->order < hook->order : link->id < hook->id)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/* Puts a hook at a position, and what follows behind it. There is room. */
static void hook_insert(kvo_chain *chain, uint32_t at, kvo_hooking *hook) {
  memmove(&chain->links[at + 1], &chain->links[at], (chain->count - at) * sizeof *chain->links);
  chain->links[at] = (kvo_link){hook->order, hook->id, hook};
  chain->count++;
  chain->kinds[hook->when]++;
  atomic_fetch_add(&hook->references, 1);
}

/* Whether no call uses a chain: calls take it under the lock. */
static bool hook_is_idle(const kvo_chain *chain) { return atomic_load(&chain->users) == 1; }

/* A copy of a chain, which may be NULL, without hooks that were removed, and with room for as many again. NULL without memory. */
static kvo_chain *hook_copy(const kvo_chain *chain) {
  uint32_t count = chain != NULL ? chain->count : 0, capacity = 2 * count + 1;
  kvo_chain *made = kvo__alloc(sizeof *made + capacity * sizeof *made->links);
  if (made == NULL) return NULL;
  atomic_store(&made->users, 1);
  made->capacity = capacity;
  for (uint32_t i = 0; i < count; i++) {
    kvo_hooking *hook = chain->links[i].hook;
    if (hook != NULL && atomic_load(&hook->live)) hook_insert(made, made->count, hook);
  }
  return made;
}

bool kvo__chains_take(kvo_method *method, const kvo_object *object, kvo_chain *chains[2]) {
  if (atomic_load_explicit(&method->hooked, memory_order_acquire) == 0) return false;
  kvo__lock(&hook_lock);
  const on_object *own = find_on(object, method);
  chains[0] = method->chain;
  chains[1] = own != NULL ? own->chain : NULL;
  for (int i = 0; i < 2; i++)
    if (chains[i] != NULL) atomic_fetch_add_explicit(&chains[i]->users, 1, memory_order_relaxed);
  kvo__unlock(&hook_lock);
  return chains[0] != NULL || chains[1] != NULL;
}

/* -------------------------------------------------------------------------------------------------------- Registration -- */

/* Puts a hook into the chain of its method on its class or object. The replaced chain is let go by the caller. */
static kvo_status put_locked(kvo_hooking *hook, kvo_chain **replaced) {
  on_object *own = hook->object != NULL ? find_on(hook->object, hook->method) : NULL, *made = NULL;
  if (hook->object != NULL && own == NULL && (made = kvo__alloc(sizeof *made)) == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  if (made != NULL) *made = (on_object){.object = hook->object, .method = hook->method};
  kvo_chain **at = hook->object == NULL ? &hook->method->chain : own != NULL ? &own->chain : &made->chain;
  bool has_room = *at != NULL && hook_is_idle(*at) && (*at)->count < (*at)->capacity;
  kvo_chain *chain = has_room ? *at : hook_copy(*at);
  if (chain == NULL) {
    kvo__free(made);
    return KVO_ERROR_OUT_OF_MEMORY;
  }
  if (!has_room) *replaced = *at;
  *at = chain;
  hook->id = ++last_id;
  hook_insert(chain, hook_position_of(chain, hook), hook);
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
  /* Its hooks have been forgotten: another would stay for the next object at this address. */
  if (object != NULL && (kvo__word(object) & KVO_WORD_DYING) != 0)
    return kvo__fail(KVO_ERROR_DYING_OBJECT, "%s: method '%s': the object is being destroyed", function, spec.method);
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
    kvo__lock(&hook_lock);
    status = put_locked(made, &replaced);
    kvo_hook id = made->id;
    kvo__unlock(&hook_lock);
    if (status == KVO_OK && out != NULL) *out = id;
    if (status != KVO_OK) made->destroy = NULL;
    hook_let_go(made);
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

/* What a removal has taken out of use, to let go without the lock. */
typedef struct taken {
  kvo_chain *chain;
  kvo_hooking *hook;
} taken;

/* Takes a removed hook out of a chain that no call uses, and the empty links when they are the most. */
static void take_out(kvo_chain *chain, const kvo_hooking *hook) {
  chain->links[hook_position_of(chain, hook)].hook = NULL;
  chain->kinds[hook->when]--;
  if (chain->removed <= chain->count / 2) return;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < chain->count; i++)
    if (chain->links[i].hook != NULL) chain->links[kept++] = chain->links[i];
  chain->removed -= chain->count - kept;
  chain->count = kept;
}

/* Takes a hook out of the indexes and of its chain, and the chain out of use if nothing else is in it. */
static taken take_locked(kvo_hooking *hook) {
  atomic_store(&hook->live, false);
  atomic_fetch_sub(&hook->method->hooked, 1);
  if (hook->cls != NULL) atomic_fetch_sub(&hook->cls->hooks, 1);
  on_object *own = hook->object != NULL ? find_on(hook->object, hook->method) : NULL;
  kvo_chain **at = own != NULL ? &own->chain : &hook->method->chain, *chain = *at;
  chain->removed++;
  if (chain->removed == chain->count) {
    *at = NULL;
    if (own != NULL) {
      kvo__index_remove(&hooked_objects, &own->entry);
      atomic_fetch_sub(&object_count, 1);
      kvo__free(own);
    }
    return (taken){chain, NULL};
  }
  if (hook_is_idle(chain)) {
    take_out(chain, hook);
    return (taken){NULL, hook};
  }
  /* Without memory for another chain this one stays, with the hook, which is not called. */
  kvo_chain *shorter = hook_copy(chain);
  if (shorter == NULL) return (taken){NULL, NULL};
  *at = shorter;
  return (taken){chain, NULL};
}

kvo_status kvo_hook_remove(kvo_hook id) {
  kvo__lock(&hook_lock);
  kvo_hooking *found =
      hooks_by_id.root != NULL ? (kvo_hooking *)kvo__index_from(&hooks_by_id, (kvo_index_key){id, 0}) : NULL;
  bool is_there = found != NULL && found->id == id && atomic_load(&found->live);
  taken last = is_there ? take_locked(found) : (taken){NULL, NULL};
  kvo__unlock(&hook_lock);
  kvo__chain_let_go(last.chain);
  if (last.hook != NULL) hook_let_go(last.hook);
  return is_there ? KVO_OK
                  : kvo__fail(KVO_ERROR_NOT_REGISTERED, "kvo_hook_remove: hook %llu: it is not registered (any more)",
                              (unsigned long long)id);
}

static bool hook_is_in(const kvo_hooking *hook, const kvo_module_range *module) {
  return kvo__is_in(module, (uintptr_t)hook->function) || kvo__is_in(module, (uintptr_t)hook->destroy) ||
         kvo__is_in(module, (uintptr_t)hook->user_data);
}

const kvo_method *kvo__hook_in(const kvo_module_range *module) {
  kvo__lock(&hook_lock);
  const kvo_hooking *each = (const kvo_hooking *)kvo__index_from(&hooks_by_id, (kvo_index_key){0, 0});
  while (each != NULL && !hook_is_in(each, module))
    each = (const kvo_hooking *)kvo__index_from(&hooks_by_id, (kvo_index_key){each->id + 1, 0});
  const kvo_method *found = each != NULL ? each->method : NULL;
  kvo__unlock(&hook_lock);
  return found;
}

void kvo__hooks_forget(const kvo_object *object) {
  if (__builtin_expect(atomic_load_explicit(&object_count, memory_order_acquire) == 0, true)) return;
  for (;;) {
    kvo__lock(&hook_lock);
    on_object *own = find_on(object, NULL);
    kvo_chain *chain = own != NULL ? own->chain : NULL;
    if (own != NULL) {
      for (uint32_t i = 0; i < chain->count; i++) {
        kvo_hooking *each = chain->links[i].hook;
        if (each == NULL || !atomic_exchange(&each->live, false)) continue;
        atomic_fetch_sub(&each->method->hooked, 1);
      }
      kvo__index_remove(&hooked_objects, &own->entry);
      atomic_fetch_sub(&object_count, 1);
    }
    kvo__unlock(&hook_lock);
    if (own == NULL) return;
    kvo__free(own);
    kvo__chain_let_go(chain);
  }
}
