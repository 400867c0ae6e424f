/* cpeers.c - see cpeers.h. */
#include "cpeers.h"

#include <ffi.h>
#include <kvo/kvo.h>
#include <stddef.h>

typedef struct point {
  kvo_object header;
  double x;
} point;

typedef void (*setter)(void *object, double value);

static kvo_object *observed;
static point bare;
static const kvo_property *x_property;
static setter bare_setter;
static double sum;

static double get_x(const kvo_object *object) { return ((const point *)object)->x; }
static void set_x(kvo_object *object, double value) { ((point *)object)->x = value; }

static void add_up(const kvo_change *change, void *user_data) {
  (void)user_data;
  sum += *(const double *)change->old_value->bytes + *(const double *)change->new_value->bytes;
}

static void forward(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  (void)result;
  (void)user_data;
  ffi_call(cif, FFI_FN(set_x), NULL, arguments);
}

static int prepare_observed(void) {
  static const kvo_property_spec x = {
      .name = "x", .type = "d", .getter = (kvo_function)get_x, .setter = (kvo_function)set_x};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "BenchmarkPoint",
                         .instance_size = sizeof(point),
                         .properties = &x,
                         .property_count = 1};
  kvo_class *cls;
  if (kvo_class_register(&spec, &cls) != KVO_OK || kvo_object_create(cls, &observed) != KVO_OK) return 0;
  x_property = kvo_class_property(cls, "x");
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "x",
                           .options = (kvo_options)(KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT),
                           .callback = add_up,
                           KVO_HERE};
  return kvo_add_observer(observed, &observer, NULL) == KVO_OK;
}

static int prepare_bare(void) {
  static ffi_cif cif;
  static ffi_type *arguments[] = {&ffi_type_pointer, &ffi_type_double};
  void *code;
  ffi_closure *closure = ffi_closure_alloc(sizeof(ffi_closure), &code);
  if (closure == NULL || ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 2, &ffi_type_void, arguments) != FFI_OK ||
      ffi_prep_closure_loc(closure, &cif, forward, NULL, code) != FFI_OK)
    return 0;
  bare_setter = (setter)code;
  return 1;
}

int cpeers_prepare(void) {
  if (observed != NULL) return 1;
  return prepare_observed() && prepare_bare();
}

void cpeers_set_observed(long count) {
  for (long i = 0; i < count; i++)
    ((setter)kvo_object_property_setter(observed, x_property))(observed, (double)i);
}

void cpeers_set_bare_closure(long count) {
  for (long i = 0; i < count; i++) bare_setter(&bare, (double)i);
}

double cpeers_sum(void) { return sum; }
