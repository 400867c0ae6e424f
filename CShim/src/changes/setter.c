/* setter.c - the body of the trampolines: what a C setter of an observed object does. */
#include "changes/frames.h"

/* Values up to this size are kept on the trampoline's stack. */
enum { INLINE_VALUE = 256 };

void kvo__intercepted(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  (void)cif;
  (void)result;
  const kvo_property *property = user_data;
  kvo_object *object = *(kvo_object **)arguments[0];
  const void *argument = arguments[1];
  kvo_frame frame;
  uint32_t wants = kvo__frame_enter(&frame, object, property->key, __builtin_frame_address(0));
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
    } /* without memory: no old value, and the argument as the new value */
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
      if (present != NULL && old_string == NULL) old_known = NULL; /* NULL here means unknown, not nil */
      *(char **)old_value = old_string;
    }
  }
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo__frame_will(&frame, old_known, __builtin_frame_address(0));
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
