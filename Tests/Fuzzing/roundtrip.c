/* roundtrip.c - see roundtrip.h. The program's getter and setter are libffi closures: no C function fits every encoding. */
#include "roundtrip.h"

#include "classes/classes.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>

/* Classes exist for ever: at most this many encodings get one, each once. Larger values are skipped. */
enum { CLASSES = 256, LARGEST = 4096 };

typedef struct traveller {
  char *type;
  ffi_type *parsed;
  ffi_cif getter, setter;
  ffi_type *arguments[2];
  kvo_object object;
  /** Nonzero for bytes of the value that are not padding. */
  unsigned char mask[LARGEST];
} traveller;

static traveller *travellers[CLASSES];
static int traveller_count;
/* What the setter stored, the expected value, and the expected old value. */
static _Alignas(32) unsigned char stored[LARGEST], sent[LARGEST], before[LARGEST];
static traveller *current;
static int calls_seen;

static void get(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  traveller *of = user_data;
  if (cif->rtype->type != FFI_TYPE_STRUCT && of->parsed->size < sizeof(ffi_arg)) memset(result, 0, sizeof(ffi_arg));
  memcpy(result, stored, of->parsed->size);
}

static void set(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  memcpy(stored, arguments[1], ((traveller *)user_data)->parsed->size);
}

static kvo_function roundtrip_closure(ffi_cif *cif, void (*body)(ffi_cif *, void *, void **, void *), void *user_data) {
  union {
    void *address;
    kvo_function function;
  } code = {NULL};
  ffi_closure *made = ffi_closure_alloc(sizeof(ffi_closure), &code.address);
  if (made == NULL || ffi_prep_closure_loc(made, cif, body, user_data, code.address) != FFI_OK) fail("no closure");
  return code.function;
}

/* Marks the bytes of scalars. A long double has 10 on x86. */
static void mark(const ffi_type *type, unsigned char *mask) {
  if (type->type != FFI_TYPE_STRUCT) {
    bool extended = type->type == FFI_TYPE_LONGDOUBLE && __LDBL_MANT_DIG__ == 64;
    memset(mask, 1, extended ? 10 : type->size);
    return;
  }
  size_t at = 0;
  for (ffi_type **each = type->elements; *each != NULL; each++) {
    at = (at + (*each)->alignment - 1) / (*each)->alignment * (*each)->alignment;
    mark(*each, mask + at);
    at += (*each)->size;
  }
}

static traveller *make(const char *type) {
  traveller *made = calloc(1, sizeof *made);
  const char *reason;
  if (made == NULL || kvo__type_parse(type, &made->parsed, &reason) != KVO_OK) fail("accepted, but not parsed");
  made->type = strdup(type);
  made->arguments[0] = &ffi_type_pointer;
  made->arguments[1] = made->parsed;
  if (ffi_prep_cif(&made->getter, FFI_DEFAULT_ABI, 1, made->parsed, made->arguments) != FFI_OK ||
      ffi_prep_cif(&made->setter, FFI_DEFAULT_ABI, 2, &ffi_type_void, made->arguments) != FFI_OK)
    fail("libffi cannot call it");
  mark(made->parsed, made->mask);
  char name[32];
  snprintf(name, sizeof name, "Traveller%d", traveller_count);
  kvo_property_spec property = {.name = "value", .type = type};
  property.getter = roundtrip_closure(&made->getter, get, made);
  property.setter = roundtrip_closure(&made->setter, set, made);
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(kvo_object),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_init(&made->object, cls) != KVO_OK)
    fail("accepted under a taken name, but not under its own");
  travellers[traveller_count++] = made;
  return made;
}

static traveller *find_or_make(const char *type) {
  for (int i = 0; i < traveller_count; i++)
    if (strcmp(travellers[i]->type, type) == 0) return travellers[i];
  return traveller_count < CLASSES ? make(type) : NULL;
}

static void check_value(const char *what, const kvo_value *value, const unsigned char *expected) {
  const char *type = kvo__type_unqualified(current->type);
  if (value == NULL || value->bytes == NULL) fail("%s is none", what);
  if (strcmp(value->type, type) != 0 || value->size != current->parsed->size) fail("%s is of another type", what);
  if (type[0] == '*') { /* a string, which the runtime copies */
    if (strcmp(*(char *const *)value->bytes, *(char *const *)(const void *)expected) != 0)
      fail("%s is another string", what);
    return;
  }
  const unsigned char *bytes = value->bytes;
  for (size_t i = 0; i < value->size; i++)
    if (current->mask[i] != 0 && bytes[i] != expected[i]) fail("%s: byte %zu is another one", what, i);
}

static void changed(const kvo_change *change, void *user_data) {
  calls_seen++;
  check_value("the old value", change->old_value, before);
  check_value("the new value", change->new_value, sent);
}

static void read_back(const kvo_value *value, void *arg) { check_value("the value read", value, sent); }

/* Bytes 0 and 1 only, which are valid in every type, also in a bool; the first is 1, so that no pointer is nil. */
static void fill(unsigned char *bytes, size_t size, unsigned seed) {
  static char *const strings[] = {"one", "another"};
  for (size_t i = 0; i < size; i++) bytes[i] = i == 0 || ((i * 7 + seed) * 2654435761u >> 13 & 1) != 0;
  if (kvo__type_unqualified(current->type)[0] == '*') memcpy(bytes, &strings[seed % 2], sizeof(char *));
}

void round_trip(const char *type, size_t size) {
  if (size > LARGEST || (current = find_or_make(type)) == NULL) return;
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "value", .options = KVO_NEW | KVO_OLD};
  observer.callback = changed;
  kvo_observation id;
  fill(stored, size, 0);
  memcpy(before, stored, size);
  if (kvo_add_observer(&current->object, &observer, &id) != KVO_OK) fail("accepted, but not observed");
  for (unsigned seed = 1; seed < 3; seed++) {
    fill(sent, size, seed);
    calls_seen = 0;
    kvo_value value = {kvo__type_unqualified(type), size, sent};
    if (kvo_set_value(&current->object, "value", &value) != KVO_OK) fail("accepted, but not set");
    if (calls_seen != 1) fail("a set notified %d times", calls_seen);
    check_value("what the setter got", &(kvo_value){value.type, size, stored}, sent);
    if (kvo_get_value(&current->object, "value", read_back, NULL) != KVO_OK) fail("accepted, but not read");
    memcpy(before, sent, size);
  }
  if (kvo_remove_observer(id) != KVO_OK) fail("accepted, but not removed");
}
