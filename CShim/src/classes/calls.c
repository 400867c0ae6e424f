/* calls.c - calls of C getters and setters by their signatures, and the trampolines that replace setters. */
#include "classes/classes.h"

static bool with_user(const kvo_property *property) { return (property->flags & KVO_PROPERTY_WITH_USER) != 0; }

/* Calls a setter that returns something or has further parameters. */
static int call_described(const kvo_property *property, kvo_object *object, const void *value, void *const *further) {
  static const _Alignas(max_align_t) char zeros[KVO_MAX_FURTHER_SIZE];
  void *arguments[2 + KVO_MAX_FURTHER + 1] = {&object, (void *)value};
  for (size_t i = 0; i < property->further; i++) arguments[2 + i] = further != NULL ? further[i] : (void *)zeros;
  arguments[2 + property->further] = (void *)&property->user;
  ffi_arg result[2] = {0, 0}; /* libffi widens an integer result */
  ffi_call((ffi_cif *)&property->setter_cif, property->setter, result, arguments);
  return property->answer == KVO_ANSWERS_BOOL  ? (uint8_t)result[0] != 0
         : property->answer == KVO_ANSWERS_INT ? (int)(ffi_sarg)result[0]
                                               : 0;
}

KVO_CALLS_BY_SIGNATURE
int kvo__call_setter(const kvo_property *property, kvo_object *object, const void *value, void *const *further) {
  kvo_function setter = property->setter;
  if (property->answer != KVO_ANSWERS_NOT || property->further != 0)
    return call_described(property, object, value, further);
  if (with_user(property)) {
    switch (property->type[0]) {
#define SET(code, T)                                                                                                   \
  case code: ((void (*)(kvo_object *, T, void *))setter)(object, *(T const *)value, property->user); return 0;
      KVO_FOR_EACH_SCALAR(SET)
#undef SET
    }
  } else {
    switch (property->type[0]) {
#define SET(code, T)                                                                                                   \
  case code: ((void (*)(kvo_object *, T))setter)(object, *(T const *)value); return 0;
      KVO_FOR_EACH_SCALAR(SET)
#undef SET
    }
  }
  return call_described(property, object, value, NULL);
}

void kvo__store_at_offset(const kvo_property *property, kvo_object *object, const void *value) {
  void *storage = (char *)object + property->offset;
  switch (property->size) { /* as one access each */
    case 1: memcpy(storage, value, 1); return;
    case 2: memcpy(storage, value, 2); return;
    case 4: memcpy(storage, value, 4); return;
    case 8: memcpy(storage, value, 8); return;
    default: memmove(storage, value, property->size);
  }
}

static void load_at_offset(const kvo_property *property, const kvo_object *object, void *value) {
  const void *storage = (const char *)object + property->offset;
  switch (property->size) {
    case 1: memcpy(value, storage, 1); return;
    case 2: memcpy(value, storage, 2); return;
    case 4: memcpy(value, storage, 4); return;
    case 8: memcpy(value, storage, 8); return;
    default: memcpy(value, storage, property->size);
  }
}

KVO_CALLS_BY_SIGNATURE
void kvo__call_getter(const kvo_property *property, const kvo_object *object, void *value) {
  kvo_function getter = property->getter;
  if (getter == NULL) {
    load_at_offset(property, object, value);
    return;
  }
  if (with_user(property)) {
    switch (property->type[0]) {
#define GET(code, T)                                                                                                   \
  case code: *(T *)value = ((T(*)(const kvo_object *, void *))getter)(object, property->user); return;
      KVO_FOR_EACH_SCALAR(GET)
#undef GET
    }
  } else {
    switch (property->type[0]) {
#define GET(code, T)                                                                                                   \
  case code: *(T *)value = ((T(*)(const kvo_object *))getter)(object); return;
      KVO_FOR_EACH_SCALAR(GET)
#undef GET
    }
  }
  /* libffi widens an integer result to a register, so it may write more than the value's size. */
  void *arguments[2] = {&object, (void *)&property->user};
  if (property->size >= sizeof(ffi_arg)) {
    ffi_call((ffi_cif *)&property->getter_cif, getter, value, arguments);
  } else {
    ffi_arg widened[2] = {0, 0};
    ffi_call((ffi_cif *)&property->getter_cif, getter, widened, arguments);
    memcpy(value, widened, property->size);
  }
}

/* ------------------------------------------------------------------------------------------------------ Trampolines -- */

/* The type of kvo__hooks.intercepted; hooks.h does not include libffi. */
typedef void (*trampoline)(ffi_cif *cif, void *result, void **arguments, void *user_data);

kvo_function kvo__closure(kvo_code code, ffi_cif *cif, kvo_function body, void *user_data) {
  if (ffi_prep_closure_loc(code.writable, cif, (trampoline)body, user_data, code.executable) != FFI_OK) return NULL;
  /* libffi flushes the instruction cache for the writable view only; the code runs at the other address. */
  __builtin___clear_cache(code.executable, (char *)code.executable + KVO_CODE_SIZE);
  /* A union, because ISO C does not allow a cast from an object pointer to a function pointer. */
  union {
    void *address;
    kvo_function function;
  } entry = {code.executable};
  return entry.function;
}

bool kvo__intercept(kvo_class *cls, kvo_function *setters) {
  size_t count = 0;
  for (size_t i = 0; i < cls->property_count; i++)
    if (kvo__has_own_setter(cls->properties[i])) count++;
  if (count == 0) return true;
  kvo_code code = kvo__pages_allocate(count);
  if (code.writable == NULL) return false;
  for (size_t i = 0; i < cls->property_count; i++) {
    const kvo_property *property = cls->properties[i];
    if (!kvo__has_own_setter(property)) continue;
    setters[i] = kvo__closure(code, (ffi_cif *)&property->setter_entry_cif, kvo__hooks.intercepted, (void *)property);
    if (setters[i] == NULL) return false;
    code.writable = (char *)code.writable + KVO_CODE_SIZE;
    code.executable = (char *)code.executable + KVO_CODE_SIZE;
  }
  return true;
}

void kvo__widen_result(const ffi_type *type, const void *value, void *result) {
  switch (type->type) {
#define WIDEN(T, widened)                                                                                              \
  do {                                                                                                                 \
    T narrow;                                                                                                          \
    memcpy(&narrow, value, sizeof narrow);                                                                             \
    *(widened *)result = narrow;                                                                                       \
  } while (0)
    case FFI_TYPE_VOID: return;
    case FFI_TYPE_SINT8: WIDEN(int8_t, ffi_sarg); return;
    case FFI_TYPE_UINT8: WIDEN(uint8_t, ffi_arg); return;
    case FFI_TYPE_SINT16: WIDEN(int16_t, ffi_sarg); return;
    case FFI_TYPE_UINT16: WIDEN(uint16_t, ffi_arg); return;
    case FFI_TYPE_INT:
    case FFI_TYPE_SINT32: WIDEN(int32_t, ffi_sarg); return;
    case FFI_TYPE_UINT32: WIDEN(uint32_t, ffi_arg); return;
#undef WIDEN
    default:
      if (value != result) memcpy(result, value, type->size);
  }
}

/* The body of a trampoline of a getter. */
static void calls_get(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  const kvo_property *property = user_data;
  const kvo_object *object = *(kvo_object *const *)arguments[0];
  (void)cif;
  if (property->size >= sizeof(ffi_arg)) {
    kvo__call_getter(property, object, result);
  } else {
    ffi_arg value;
    kvo__call_getter(property, object, &value);
    kvo__widen_result(property->value_type, &value, result);
  }
}

static kvo_lock entries_lock;

static kvo_function entry_of(_Atomic(void *) *made, const kvo_property *property, const ffi_cif *cif,
                             kvo_function body) {
  union {
    void *address;
    kvo_function function;
  } entry = {atomic_load_explicit(made, memory_order_acquire)};
  if (entry.address != NULL) return entry.function;
  kvo__lock(&entries_lock);
  entry.address = atomic_load_explicit(made, memory_order_relaxed);
  if (entry.address == NULL) {
    kvo_code code = kvo__pages_allocate(1);
    if (code.writable != NULL) entry.function = kvo__closure(code, (ffi_cif *)cif, body, (void *)property);
    atomic_store_explicit(made, entry.address, memory_order_release);
  }
  kvo__unlock(&entries_lock);
  return entry.function;
}

/* The address of a member that is written although the property is constant otherwise. */
#define WRITTEN(member) ((_Atomic(void *) *)(uintptr_t)&property->member)

kvo_function kvo__setter_entry(const kvo_property *property) {
  if (property->ops != NULL || !kvo__can_set(property) || kvo__has_own_setter(property)) return NULL;
  return entry_of(WRITTEN(setter_entry), property, &property->setter_entry_cif, kvo__hooks.intercepted);
}

kvo_function kvo__getter_entry(const kvo_property *property) {
  if (property->ops != NULL || !kvo__can_read(property)) return NULL;
  return entry_of(WRITTEN(getter_entry), property, &property->getter_entry_cif, (kvo_function)calls_get);
}
