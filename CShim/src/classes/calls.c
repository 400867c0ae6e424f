/* calls.c - calls of C getters and setters by their signatures, and the trampolines that replace setters. */
#include "classes/classes.h"

/* A program's getter takes a pointer to its own structure instead of kvo_object. The calling convention is the same; only UBSan's check of
 * function types would object. */
#if defined(__clang__)
#define KVO_CALLS_BY_SIGNATURE __attribute__((no_sanitize("function")))
#else
#define KVO_CALLS_BY_SIGNATURE
#endif

/* Calls a function with a scalar value through its exact C type, because libffi takes four times as long. The compiler widens small
 * integers as the ABI requires. */
#define FOR_EACH_SCALAR(X)                                                                                             \
  X('c', signed char)                                                                                                  \
  X('C', unsigned char)                                                                                                \
  X('s', short)                                                                                                        \
  X('S', unsigned short)                                                                                               \
  X('i', int)                                                                                                          \
  X('I', unsigned int)                                                                                                 \
  X('l', long)                                                                                                         \
  X('L', unsigned long)                                                                                                \
  X('q', long long)                                                                                                    \
  X('Q', unsigned long long)                                                                                           \
  X('f', float)                                                                                                        \
  X('d', double)                                                                                                       \
  X('B', bool)                                                                                                         \
  X('*', void *)                                                                                                       \
  X('@', void *)                                                                                                       \
  X('^', void *)

KVO_CALLS_BY_SIGNATURE
void kvo__call_setter(const kvo_property *property, kvo_function setter, kvo_object *object, const void *value) {
  switch (property->type[0]) {
#define SET(code, T)                                                                                                   \
  case code: ((void (*)(kvo_object *, T))setter)(object, *(T const *)value); return;
    FOR_EACH_SCALAR(SET)
#undef SET
    default: {
      void *arguments[2] = {&object, (void *)value};
      ffi_call((ffi_cif *)&property->setter_cif, setter, NULL, arguments);
    }
  }
}

KVO_CALLS_BY_SIGNATURE
void kvo__call_getter(const kvo_property *property, const kvo_object *object, void *value) {
  switch (property->type[0]) {
#define GET(code, T)                                                                                                   \
  case code: *(T *)value = ((T(*)(const kvo_object *))property->getter)(object); return;
    FOR_EACH_SCALAR(GET)
#undef GET
    default: {
      /* libffi widens an integer result to a register, so it may write more than the value's size. */
      void *arguments[1] = {&object};
      if (property->size >= sizeof(ffi_arg)) {
        ffi_call((ffi_cif *)&property->getter_cif, property->getter, value, arguments);
      } else {
        ffi_arg widened[2] = {0, 0};
        ffi_call((ffi_cif *)&property->getter_cif, property->getter, widened, arguments);
        memcpy(value, widened, property->size);
      }
    }
  }
}

/* The type of kvo__hooks.intercepted; hooks.h does not include libffi. */
typedef void (*trampoline)(ffi_cif *cif, void *result, void **arguments, void *user_data);

bool kvo__intercept(kvo_class *cls, kvo_function *setters) {
  size_t count = 0;
  for (size_t i = 0; i < cls->property_count; i++)
    if (cls->properties[i]->setter != NULL) count++;
  if (count == 0) return true;
  kvo_code code = kvo__pages_allocate(count);
  if (code.writable == NULL) return false;
  for (size_t i = 0; i < cls->property_count; i++) {
    const kvo_property *property = cls->properties[i];
    if (property->setter == NULL) continue;
    if (ffi_prep_closure_loc(code.writable, (ffi_cif *)&property->setter_cif, (trampoline)kvo__hooks.intercepted,
                             (void *)property, code.executable) != FFI_OK)
      return false;
    /* libffi flushes the instruction cache for the writable view only; the code runs at the other address. */
    __builtin___clear_cache(code.executable, (char *)code.executable + KVO_CODE_SIZE);
    /* A union, because ISO C does not allow a cast from an object pointer to a function pointer. */
    union {
      void *address;
      kvo_function function;
    } entry = {code.executable};
    setters[i] = entry.function;
    code.writable = (char *)code.writable + KVO_CODE_SIZE;
    code.executable = (char *)code.executable + KVO_CODE_SIZE;
  }
  return true;
}
