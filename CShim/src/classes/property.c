/* property.c - makes the properties of classes from their descriptions, and says in kvo_last_error why one is refused. */
#include "classes/classes.h"

void kvo__property_free(kvo_property *property) {
  if (property == NULL) return;
  if (property->affected_by != NULL)
    for (char **path = property->affected_by; *path != NULL; path++) kvo__free(*path);
  kvo__free(property->affected_by);
  for (size_t i = 0; i < property->further; i++) kvo__type_free(property->arguments[2 + i]);
  kvo__type_free(property->value_type);
  kvo__free((void *)property->to_many);
  kvo__free(property->setter_type);
  kvo__free((void *)property->name);
  kvo__free((void *)property->type);
  kvo__free(property);
}

static kvo_status copy_paths(const char *const *paths, char ***out) {
  size_t count = 0;
  if (paths == NULL || paths[0] == NULL) return KVO_OK;
  while (paths[count] != NULL) {
    if (kvo__path_check(paths[count]) != KVO_OK) return KVO_ERROR_MALFORMED_KEY_PATH;
    count++;
  }
  char **copy = kvo__alloc((count + 1) * sizeof(char *));
  if (copy == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  *out = copy;
  for (size_t i = 0; i < count; i++) {
    copy[i] = kvo__copy_string(paths[i], strlen(paths[i]));
    if (copy[i] == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  }
  return KVO_OK;
}

kvo_status kvo__property_refuse(const kvo_class *cls, const char *key, kvo_status status, const char *reason) {
  return kvo__fail(status, "property '%s' of class '%s': %s", key != NULL ? key : "(NULL)", cls->name, reason);
}

enum {
  FLAGS = KVO_PROPERTY_MANUAL | KVO_PROPERTY_COMPUTED | KVO_PROPERTY_DECLARED | KVO_PROPERTY_TOLD |
          KVO_PROPERTY_AMONG_OTHERS | KVO_PROPERTY_IN_PLACE,
  C_FLAGS = KVO_PROPERTY_WITH_USER | KVO_PROPERTY_AT_OFFSET | KVO_PROPERTY_READ_ONLY | KVO_PROPERTY_COPIED,
};

static kvo_status property_make(const kvo_class *cls, const char *name, const char *type,
                                const char *const *affected_by, uint32_t flags, uint32_t known, kvo_property **out) {
  const char *wrong = name == NULL || name[0] == '\0' ? "it has no name"
                      : strchr(name, '.') != NULL     ? "a key has no dots"
                      : type == NULL                  ? "it has no type"
                      : (flags & ~known) != 0         ? "it has unknown flags"
                                                      : NULL;
  if (wrong != NULL) return kvo__property_refuse(cls, name, KVO_ERROR_INVALID_ARGUMENT, wrong);
  kvo_property *property = kvo__alloc(sizeof *property);
  if (property == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  *out = property;
  property->name = kvo__copy_string(name, strlen(name));
  type = kvo__type_unqualified(type);
  property->type = kvo__copy_string(type, strlen(type));
  if (property->name == NULL || property->type == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  property->key = kvo_key_hash(name, strlen(name));
  property->flags = flags;
  kvo_status status = copy_paths(affected_by, &property->affected_by);
  return status == KVO_OK
             ? KVO_OK
             : kvo__property_refuse(cls, name, status, "affected_by has a malformed key path, or no memory");
}

/* What a setter returns and its further parameters, from `setter_type`. */
static kvo_status describe_setter(const kvo_class *cls, kvo_property *property, const char *type) {
  const char *at = type, *reason = NULL;
  kvo_status status = KVO_OK;
  property->answer = *at == 'B' ? KVO_ANSWERS_BOOL : *at == 'i' ? KVO_ANSWERS_INT : KVO_ANSWERS_NOT;
  if (property->answer == KVO_ANSWERS_NOT && *at != 'v') {
    reason = "a setter returns void, bool or int";
    status = KVO_ERROR_UNSUPPORTED_SETTER;
  } else if (at[1] != '@') {
    reason = "the first parameter of a setter is the object, \"@\"";
    status = KVO_ERROR_UNSUPPORTED_SETTER;
  }
  if (status == KVO_OK) {
    at = kvo__type_unqualified(at + 2);
    size_t length = strlen(property->type);
    if (strncmp(at, property->type, length) != 0) {
      reason = "the second parameter of a setter is of the property's type";
      status = KVO_ERROR_UNSUPPORTED_SETTER;
    }
    at += length;
  }
  while (status == KVO_OK && *at != '\0') {
    ffi_type *further = NULL;
    if (property->further == KVO_MAX_FURTHER) {
      reason = "it has more than four further parameters";
      status = KVO_ERROR_UNSUPPORTED_SETTER;
      break;
    }
    status = kvo__type_parse_next(&at, &further, &reason);
    if (status != KVO_OK) break;
    property->arguments[2 + property->further++] = further;
    if (further->size > KVO_MAX_FURTHER_SIZE) {
      reason = "a further parameter is too large";
      status = KVO_ERROR_UNSUPPORTED_SETTER;
    }
  }
  return status == KVO_OK ? KVO_OK
                          : kvo__fail(status, "property '%s' of class '%s': setter type \"%s\": %s", property->name,
                                      cls->name, type, reason);
}

/* Describes the calls of the getter and the setter of a C property for libffi. */
static kvo_status describe_calls(const kvo_class *cls, kvo_property *property, const char *setter_type) {
  const char *reason = NULL;
  kvo_status status = kvo__type_parse(property->type, &property->value_type, &reason);
  if (status != KVO_OK)
    return kvo__fail(status, "property '%s' of class '%s': type encoding \"%s\": %s", property->name, cls->name,
                     property->type, reason);
  property->size = property->value_type->size;
  property->form = kvo__type_form(property->type);
  property->arguments[0] = &ffi_type_pointer;
  property->arguments[1] = property->value_type;
  if (setter_type != NULL && property->setter != NULL) {
    status = describe_setter(cls, property, setter_type);
    if (status == KVO_OK) property->setter_type = kvo__copy_string(setter_type, strlen(setter_type));
    if (status == KVO_OK && property->setter_type == NULL)
      status = kvo__property_refuse(cls, property->name, KVO_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  if (status != KVO_OK) return status;
  static ffi_type *getter_arguments[] = {&ffi_type_pointer, &ffi_type_pointer};
  unsigned user = (property->flags & KVO_PROPERTY_WITH_USER) != 0, count = 2 + (unsigned)property->further;
  property->arguments[count] = &ffi_type_pointer;
  ffi_type *value = property->value_type, *result = property->answer == KVO_ANSWERS_BOOL  ? &ffi_type_uint8
                                                    : property->answer == KVO_ANSWERS_INT ? &ffi_type_sint
                                                                                          : &ffi_type_void;
  bool is_possible =
      ffi_prep_cif(&property->getter_entry_cif, FFI_DEFAULT_ABI, 1, value, getter_arguments) == FFI_OK &&
      ffi_prep_cif(&property->getter_cif, FFI_DEFAULT_ABI, 1 + user, value, getter_arguments) == FFI_OK &&
      ffi_prep_cif(&property->setter_entry_cif, FFI_DEFAULT_ABI, count, result, property->arguments) == FFI_OK &&
      ffi_prep_cif(&property->setter_cif, FFI_DEFAULT_ABI, count + user, result, property->arguments) == FFI_OK;
  return is_possible ? KVO_OK
                     : kvo__property_refuse(cls, property->name, KVO_ERROR_UNSUPPORTED_SETTER, "libffi cannot call it");
}

/* Checks what the flags of a C property mean together with its other members. */
static kvo_status check_flags(const kvo_class *cls, const kvo_property *property) {
  bool at_offset = (property->flags & KVO_PROPERTY_AT_OFFSET) != 0;
  const char *wrong = NULL;
  if ((property->flags & KVO_PROPERTY_READ_ONLY) != 0 && !at_offset)
    wrong = "KVO_PROPERTY_READ_ONLY is for properties at an offset; others have no setter";
  else if (kvo__is_copied(property) && (property->type[0] != '*' || property->getter == NULL))
    wrong = "KVO_PROPERTY_COPIED is for strings with a getter";
  else if (!at_offset)
    return KVO_OK;
  else if (property->offset < sizeof(kvo_object) || property->offset > cls->instance_size ||
           property->size > cls->instance_size - property->offset)
    wrong = "the value at the offset is not within the instance, after its header";
  else if (property->offset % property->value_type->alignment != 0)
    wrong = "the offset is not aligned for the type";
  return wrong == NULL ? KVO_OK : kvo__property_refuse(cls, property->name, KVO_ERROR_INVALID_ARGUMENT, wrong);
}

kvo_status kvo__property_make(const kvo_class *cls, const char *name, const char *type, const char *const *affected_by,
                              uint32_t flags, kvo_property **out) {
  return property_make(cls, name, type, affected_by, flags, FLAGS, out);
}

kvo_status kvo__property_from_spec(const kvo_class *cls, const kvo_property_spec *spec, kvo_property **out) {
  kvo_status status = property_make(cls, spec->name, spec->type, spec->affected_by, spec->flags, FLAGS | C_FLAGS, out);
  if (status != KVO_OK) return status;
  kvo_property *property = *out;
  property->getter = spec->getter;
  property->setter = spec->setter;
  property->user = spec->user;
  property->offset = spec->offset;
  status = describe_calls(cls, property, spec->setter_type);
  return status == KVO_OK ? check_flags(cls, property) : status;
}
