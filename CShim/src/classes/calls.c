/* intercept.c - libffi trampolines in front of C setters, and calls of C getters and setters by signature. */
#include "internal.h"

/* Values up to this size live on the stack of the trampoline. */
enum { INLINE_VALUE = 256 };

/* A program's getter takes its own structure where we say kvo_object; the calls agree, and only UBSan's check of types minds. */
#if defined(__clang__)
#define KVO_CALLS_BY_SIGNATURE __attribute__((no_sanitize("function")))
#else
#define KVO_CALLS_BY_SIGNATURE
#endif

/* Calls a function of scalar value through its exact C type: libffi would take four times as long. Small integers are
 * widened by the compiler as the ABI demands. */
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
      /* libffi returns integers narrower than a register widened to one, so it may write more than the value's size. */
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

/* The trampoline's body: what an observed object's setter does. */
static void intercepted(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  (void)cif;
  (void)result;
  const kvo_property *property = user_data;
  kvo_object *object = *(kvo_object **)arguments[0];
  const void *argument = arguments[1];
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, object, property->key);
  if (wants == 0) {
    kvo__call_setter(property, property->setter, object, argument);
    kvo_binding_stored(object, property->key);
    return;
  }
  _Alignas(16) unsigned char inline_values[2][INLINE_VALUE];
  void *old_value = NULL, *new_value = NULL, *block = NULL;
  if (property->getter != NULL) {
    if (property->size <= INLINE_VALUE) {
      old_value = inline_values[0];
      new_value = inline_values[1];
    } else if ((block = kvo__alloc(2 * property->size)) != NULL) {
      old_value = block;
      new_value = (char *)block + property->size;
    } /* without memory the records carry no old value, and the argument as the new one */
  }
  const void *old_known = NULL;
  char *old_string = NULL;
  if (old_value != NULL && (wants & KVO_FRAME_WANTS_OLD) != 0) {
    kvo__call_getter(property, object, old_value);
    old_known = old_value;
    if (property->type[0] == '*') {
      /* The setter will usually free the old string. */
      const char *present = *(char **)old_value;
      if (present != NULL) old_string = kvo__copy_string(present, strlen(present));
      if (present != NULL && old_string == NULL) old_known = NULL; /* not nil, but not known */
      *(char **)old_value = old_string;
    }
  }
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) {
    kvo_frame_will(&frame, old_known);
    kvo__frame_stays(&frame, __builtin_frame_address(0));
  }
  kvo__call_setter(property, property->setter, object, argument);
  if ((wants & KVO_FRAME_WANTS_NEW) == 0) {
    kvo_frame_finish(&frame, old_known);
  } else {
    while (kvo_frame_next(&frame)) {
      if (new_value != NULL) kvo__call_getter(property, object, new_value);
      kvo_frame_deliver(&frame, old_known, new_value != NULL ? new_value : argument);
    }
    kvo_frame_end(&frame);
  }
  kvo__free(old_string);
  kvo__free(block);
}

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
    if (ffi_prep_closure_loc(code.writable, (ffi_cif *)&property->setter_cif, intercepted, (void *)property,
                             code.executable) != FFI_OK)
      return false;
    /* libffi knows the writable view only; an instruction cache may be looked up by the address of the other. */
    __builtin___clear_cache(code.executable, (char *)code.executable + KVO_CODE_SIZE);
    /* Through a union: ISO C has no cast from an object pointer to a function pointer. */
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
