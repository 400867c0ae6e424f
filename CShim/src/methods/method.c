/* method.c - the methods of classes: their description, and the function to call. */
#include "methods/methods.h"

static kvo_lock method_lock;

static kvo_index_key method_key_of(const kvo_index_entry *entry) {
  const kvo_method *method = (const kvo_method *)entry;
  return kvo__index_key(method->cls, method->key, (uintptr_t)method->cls);
}

/* All methods, by class and name. Under the lock. */
static kvo_index all_methods = {NULL, method_key_of};

static kvo_method *find_own(const kvo_class *cls, kvo_key key, const char *name) {
  kvo_index_entry *entry = kvo__index_from(&all_methods, kvo__index_key(cls, key, (uintptr_t)cls));
  kvo_method *method = (kvo_method *)entry;
  bool found = method != NULL && method->cls == cls && method->key == key && strcmp(method->name, name) == 0;
  return found ? method : NULL;
}

kvo_method *kvo__method_find(const kvo_class *cls, const char *name) {
  kvo_key key = kvo_key_hash(name, strlen(name));
  kvo_method *found = NULL;
  kvo__lock(&method_lock);
  for (; cls != NULL && (found == NULL || found->is_retired); cls = cls->superclass) found = find_own(cls, key, name);
  kvo__unlock(&method_lock);
  return found != NULL && !found->is_retired ? found : NULL;
}

/* ------------------------------------------------------------------------------------------------------ Registration -- */

static void free_method(kvo_method *method) {
  if (method == NULL) return;
  for (size_t i = 0; i < method->count; i++) {
    kvo__type_free(method->arguments[1 + i]);
    kvo__free(method->types[i]);
  }
  kvo__type_free(method->result);
  kvo__free(method->result_type);
  kvo__free(method->name);
  kvo__free(method->type);
  kvo__free(method);
}

/* Parses one type, and copies its text. */
static kvo_status method_parse(const char **at, ffi_type **type, char **text, const char **reason) {
  const char *begin = kvo__type_unqualified(*at);
  kvo_status status = kvo__type_parse_next(at, type, reason);
  if (status != KVO_OK) return status;
  *text = kvo__copy_string(begin, (size_t)(*at - begin));
  if (*text != NULL) return KVO_OK;
  kvo__type_free(*type);
  *type = NULL;
  *reason = "no memory";
  return KVO_ERROR_OUT_OF_MEMORY;
}

/* The code of a parameter that is an int, a double or a pointer; 0 for others. */
static int usual_code(char code) {
  switch (code) {
    case 'i':
    case 'd': return code;
    case '*':
    case '@':
    case '^': return '^';
    default: return 0;
  }
}

static int shape_of(const kvo_method *method) {
  if (method->with_user || method->count > 2) return 0;
  if (method->count == 0) return 'v';
  if (method->count == 1) return method->types[0][0];
  int one = usual_code(method->types[0][0]), other = usual_code(method->types[1][0]);
  return one != 0 ? KVO_SHAPE(one, other) : 0;
}

static kvo_status method_describe(kvo_method *method, const char *type, const char **reason) {
  const char *at = type;
  kvo_status status = KVO_OK;
  if (*at == 'v') {
    method->result = &ffi_type_void;
    method->result_type = kvo__copy_string("v", 1);
    if (method->result_type == NULL) status = KVO_ERROR_OUT_OF_MEMORY;
    at++;
  } else {
    status = method_parse(&at, &method->result, &method->result_type, reason);
  }
  if (status != KVO_OK) return status;
  *reason = "the result has more than 256 bytes";
  if (method->result->size > KVO_MAX_RESULT) return KVO_ERROR_UNSUPPORTED_SETTER;
  *reason = "the first parameter is the object, \"@\"";
  if (*at++ != '@') return KVO_ERROR_UNSUPPORTED_SETTER;
  method->arguments[0] = &ffi_type_pointer;
  while (*at != '\0') {
    *reason = "it has more than 12 parameters";
    if (method->count == KVO_MAX_PARAMETERS) return KVO_ERROR_UNSUPPORTED_SETTER;
    status = method_parse(&at, &method->arguments[1 + method->count], &method->types[method->count], reason);
    if (status != KVO_OK) return status;
    char code = method->types[method->count][0];
    if (code == '@' || code == '*') method->references |= UINT32_C(1) << method->count;
    method->count++;
  }
  method->shape = shape_of(method);
  unsigned count = 1 + (unsigned)method->count;
  method->arguments[count] = &ffi_type_pointer;
  *reason = "libffi cannot call it";
  bool is_possible =
      ffi_prep_cif(&method->entry_cif, FFI_DEFAULT_ABI, count, method->result, method->arguments) == FFI_OK &&
      ffi_prep_cif(&method->cif, FFI_DEFAULT_ABI, count + method->with_user, method->result, method->arguments) ==
          FFI_OK;
  return is_possible ? KVO_OK : KVO_ERROR_UNSUPPORTED_SETTER;
}

static kvo_status method_make(kvo_class *cls, const kvo_method_spec *spec, kvo_method **out, const char **reason) {
  *reason = spec->name == NULL || spec->name[0] == '\0'            ? "it has no name"
            : spec->type == NULL                                   ? "it has no type"
            : spec->function == NULL                               ? "it has no function"
            : (spec->flags & ~(uint32_t)KVO_METHOD_WITH_USER) != 0 ? "it has unknown flags"
                                                                   : NULL;
  if (*reason != NULL) return KVO_ERROR_INVALID_ARGUMENT;
  *reason = "no memory";
  kvo_method *method = kvo__alloc(sizeof *method);
  if (method == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  *out = method;
  method->cls = cls;
  method->name = kvo__copy_string(spec->name, strlen(spec->name));
  method->type = kvo__copy_string(spec->type, strlen(spec->type));
  if (method->name == NULL || method->type == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  method->key = kvo_key_hash(spec->name, strlen(spec->name));
  method->function = spec->function;
  method->user = spec->user;
  method->with_user = (spec->flags & KVO_METHOD_WITH_USER) != 0;
  return method_describe(method, spec->type, reason);
}

/* Lets the method return that had this signature before, if there is one. `*first` is the last one of this name. */
static kvo_method *revive(kvo_method **first, kvo_method *method) {
  kvo_method **link = first;
  while (*link != NULL && (strcmp((*link)->type, method->type) != 0 || (*link)->with_user != method->with_user))
    link = &(*link)->earlier;
  kvo_method *found = *link;
  if (found == NULL) return method;
  *link = found->earlier;
  found->function = method->function;
  found->user = method->user;
  found->is_retired = false;
  free_method(method);
  return found;
}

/* Adds a method, or lets one that was there before and is like it return. False if the class has one of this name. */
static bool method_add_locked(kvo_method **made) {
  kvo_method *method = *made, *present = find_own(method->cls, method->key, method->name);
  if (present != NULL && !present->is_retired) return false;
  if (present != NULL) kvo__index_remove(&all_methods, &present->entry);
  *made = revive(&present, method);
  (*made)->earlier = present; /* kept: code that was called before may still name it */
  kvo__index_add(&all_methods, &(*made)->entry);
  return true;
}

kvo_status kvo_class_add_methods(kvo_class *cls, const kvo_method_spec *specs, size_t count, size_t method_size) {
  enum { LEAST = KVO_SIZE_TO(kvo_method_spec, user) };
  const char *reason = !kvo__class_is_known(cls) ? "cls is not a class"
                       : specs == NULL           ? "methods is NULL"
                       : method_size < LEAST     ? "method_size is not sizeof(kvo_method_spec)"
                                                 : NULL;
  if (reason != NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_class_add_methods: %s", reason);
  if (count >= SIZE_MAX / sizeof(kvo_method *))
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_class_add_methods: there are too many methods");
  kvo_method **made = kvo__alloc((count + 1) * sizeof *made);
  kvo_status status = made != NULL ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY;
  const char *name = "";
  size_t ready = 0, added = 0;
  for (; ready < count && status == KVO_OK; ready++) {
    kvo_method_spec spec;
    const void *at = (const char *)specs + ready * method_size;
    reason = "method_size is not sizeof(kvo_method_spec)";
    status = kvo__copy_spec(&spec, sizeof spec, at, method_size, LEAST) ? method_make(cls, &spec, &made[ready], &reason)
                                                                        : KVO_ERROR_INVALID_ARGUMENT;
    if (status != KVO_OK && spec.name != NULL) name = spec.name;
  }
  kvo__lock(&method_lock);
  while (status == KVO_OK && added < count) {
    if (!method_add_locked(&made[added])) {
      status = KVO_ERROR_DUPLICATE_KEY;
      reason = "the class has it already";
      name = made[added]->name;
    } else {
      added++;
    }
  }
  for (size_t i = 0; status != KVO_OK && i < added; i++) made[i]->is_retired = true;
  kvo__unlock(&method_lock);
  if (status != KVO_OK)
    kvo__fail(status, "method '%s' of class '%s': %s", name, cls->name, reason != NULL ? reason : "no memory");
  for (size_t i = added; made != NULL && status != KVO_OK && i < count; i++) free_method(made[i]);
  kvo__free(made);
  return status;
}

/* The first method, or the one after another; NULL if there is none. The lock is held. */
static kvo_method *method_next_of(const kvo_method *method) {
  kvo_index_key from = {0, 0};
  if (method != NULL) from = method_key_of(&method->entry);
  if (method != NULL) from.minor++;
  return (kvo_method *)kvo__index_from(&all_methods, from);
}

void kvo__methods_end(kvo_class *cls) {
  kvo__lock(&method_lock);
  for (kvo_method *each = method_next_of(NULL); each != NULL; each = method_next_of(each))
    if (each->cls == cls) each->is_retired = true;
  kvo__unlock(&method_lock);
}

static bool method_is_in(const kvo_method *method, const kvo_module_range *module) {
  return !method->is_retired &&
         (kvo__is_in(module, (uintptr_t)method->function) || kvo__is_in(module, (uintptr_t)method->user));
}

const kvo_method *kvo__method_in(const kvo_module_range *module) {
  kvo__lock(&method_lock);
  const kvo_method *each = method_next_of(NULL);
  while (each != NULL && !method_is_in(each, module)) each = method_next_of(each);
  kvo__unlock(&method_lock);
  return each;
}

/* ------------------------------------------------------------------------------------------------- The function to call -- */

kvo_function kvo__method_trampoline(kvo_method *method) {
  union {
    void *address;
    kvo_function function;
  } entry = {atomic_load_explicit(&method->trampoline, memory_order_acquire)};
  if (entry.address != NULL) return entry.function;
  kvo__lock(&method_lock);
  entry.address = atomic_load_explicit(&method->trampoline, memory_order_relaxed);
  if (entry.address == NULL) {
    kvo_code code = kvo__pages_allocate(1);
    if (code.writable != NULL)
      entry.function = kvo__closure(code, &method->entry_cif, (kvo_function)kvo__method_called, method);
    atomic_store_explicit(&method->trampoline, entry.address, memory_order_release);
  }
  kvo__unlock(&method_lock);
  return entry.function;
}

kvo_function kvo_object_method(const kvo_object *object, const char *name) {
  if (object == NULL || name == NULL) return NULL;
  kvo_method *method = kvo__method_find(kvo_object_class(object), name);
  if (method == NULL) return NULL;
  if (!method->with_user && atomic_load_explicit(&method->hooked, memory_order_acquire) == 0) return method->function;
  return kvo__method_trampoline(method);
}
