/* crows.c - see crows.h. */
#include "crows.h"

#include <ffi.h>
#include <kvo/kvo.h>
#include <kvo/kvo_bind.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct point {
  kvo_object header;
  double x;
  _Atomic double y;
} point;

typedef void (*setter)(kvo_object *object, double value);

static double get_x(const kvo_object *object) { return ((const point *)object)->x; }
static void set_x(kvo_object *object, double value) { ((point *)object)->x = value; }

static double get_y(const kvo_object *object) {
  return atomic_load_explicit(&((const point *)object)->y, memory_order_relaxed);
}

static void set_y(kvo_object *object, double value) {
  atomic_store_explicit(&((point *)object)->y, value, memory_order_relaxed);
}

/* An object whose properties share no cache line, not even one that the processor fetches along with another. */
typedef struct spread {
  kvo_object header;
  char before[128];
  double left;
  char between[120];
  double right;
  char after[128];
} spread;

static double get_left(const kvo_object *object) { return ((const spread *)object)->left; }
static void set_left(kvo_object *object, double value) { ((spread *)object)->left = value; }
static double get_right(const kvo_object *object) { return ((const spread *)object)->right; }
static void set_right(kvo_object *object, double value) { ((spread *)object)->right = value; }

/* Each thread has its own sum, so that observers do not contend. */
static _Thread_local double sum;

static void add_up(const kvo_change *change, void *user_data) {
  (void)user_data;
  sum += *(const double *)change->old_value->bytes + *(const double *)change->new_value->bytes;
}

static kvo_object *observed, *unobserved, *shared;
static const kvo_property *x_property, *y_property, *apart_properties[2];
static setter bare_closure;
static point bare;

static void need(bool made, const char *what) {
  if (made) return;
  fprintf(stderr, "crows: cannot make %s\n", what);
  abort();
}

/* Makes a class with two properties. */
static kvo_class *make_class(const char *name, size_t size, const kvo_property_spec *properties) {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = name, .instance_size = size, .properties = properties, .property_count = 2};
  kvo_class *cls;
  need(kvo_class_register(&spec, &cls) == KVO_OK, "a class");
  return cls;
}

/* Makes an object with an observer of each of two properties. */
static kvo_object *make_observed(kvo_class *cls, const kvo_property_spec *properties) {
  kvo_object *object;
  need(kvo_object_create(cls, &object) == KVO_OK, "an object");
  kvo_observer observer = {.struct_size = sizeof observer,
                           .options = (kvo_options)(KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT),
                           .callback = add_up,
                           KVO_HERE};
  for (int i = 0; i < 2; i++) {
    observer.key_path = properties[i].name;
    need(kvo_add_observer(object, &observer, NULL) == KVO_OK, "an observation");
  }
  return object;
}

static void make_objects(void) {
  static const kvo_property_spec points[] = {
      {.name = "x", .type = "d", .getter = (kvo_function)get_x, .setter = (kvo_function)set_x},
      {.name = "y", .type = "d", .getter = (kvo_function)get_y, .setter = (kvo_function)set_y}};
  static const kvo_property_spec spreads[] = {
      {.name = "left", .type = "d", .getter = (kvo_function)get_left, .setter = (kvo_function)set_left},
      {.name = "right", .type = "d", .getter = (kvo_function)get_right, .setter = (kvo_function)set_right}};
  kvo_class *cls = make_class("BenchmarkPoint", sizeof(point), points);
  observed = make_observed(cls, points);
  need(kvo_object_create(cls, &unobserved) == KVO_OK, "an object");
  x_property = kvo_class_property(cls, "x");
  y_property = kvo_class_property(cls, "y");
  cls = make_class("BenchmarkSpread", sizeof(spread), spreads);
  shared = make_observed(cls, spreads);
  apart_properties[0] = kvo_class_property(cls, "left");
  apart_properties[1] = kvo_class_property(cls, "right");
}

static void forward(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  (void)result;
  (void)user_data;
  ffi_call(cif, FFI_FN(set_x), NULL, arguments);
}

static void make_closure(void) {
  static ffi_cif cif;
  static ffi_type *arguments[] = {&ffi_type_pointer, &ffi_type_double};
  void *code;
  ffi_closure *closure = ffi_closure_alloc(sizeof(ffi_closure), &code);
  need(closure != NULL && ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 2, &ffi_type_void, arguments) == FFI_OK &&
           ffi_prep_closure_loc(closure, &cif, forward, NULL, code) == FFI_OK,
       "a closure");
  memcpy(&bare_closure, &code, sizeof code); /* ISO C has no cast from a data pointer to a function pointer */
}

static void make(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_objects);
}

/* Looks up the setter for each call, as a program has to do. */
static void set(kvo_object *object, const kvo_property *property, long count) {
  for (long i = 0; i < count; i++) ((setter)kvo_object_property_setter(object, property))(object, (double)i);
}

void crows_set_observed(long count) {
  make();
  set(observed, x_property, count);
}

void crows_set_unobserved(long count) {
  make();
  set(unobserved, x_property, count);
}

void crows_set_shared(long count) {
  make();
  set(observed, y_property, count);
}

void crows_set_apart(long count, int thread) {
  make();
  set(shared, apart_properties[thread], count);
}

void crows_set_bare_closure(long count) {
  if (bare_closure == NULL) make_closure();
  for (long i = 0; i < count; i++) bare_closure(&bare.header, (double)i);
}

/* -------------------------------------------------------------------------------------------------------------- Grid -- */

enum { SIDE = 9 };

/* A cell, and those to the left and above; NULL at the border. */
typedef struct cell {
  kvo_object *object;
  const struct cell *left, *up;
} cell;

static cell grid[SIDE][SIDE];

static double value_of(const cell *of) {
  double value = 0;
  if (of != NULL) kvo_get_double(of->object, "x", &value);
  return value;
}

static void add_neighbours(void *user_data, kvo_value_reader reader, void *arg) {
  const cell *self = user_data;
  double value = value_of(self->left) + value_of(self->up);
  kvo_value passed = {"d", sizeof value, &value};
  reader(&passed, arg);
}

static void make_grid(void) {
  for (int at = 0; at < SIDE * SIDE; at++) {
    int row = at / SIDE, column = at % SIDE;
    cell *made = &grid[row][column];
    need(kvo_object_create(kvo_object_class(unobserved), &made->object) == KVO_OK, "an object");
    made->left = column > 0 ? &grid[row][column - 1] : NULL;
    made->up = row > 0 ? &grid[row - 1][column] : NULL;
    if (at > 0) need(kvo_bind_computed(made->object, "x", add_neighbours, made, NULL, NULL) == KVO_OK, "a binding");
  }
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "x",
                           .options = (kvo_options)(KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT),
                           .callback = add_up,
                           KVO_HERE};
  need(kvo_add_observer(grid[SIDE - 1][SIDE - 1].object, &observer, NULL) == KVO_OK, "an observation");
}

void crows_set_corner(long count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  make();
  pthread_once(&once, make_grid);
  set(grid[0][0].object, x_property, count);
}

void crows_set_pointer(long count) {
  setter volatile pointer = set_x;
  for (long i = 0; i < count; i++) pointer(&bare.header, (double)i);
}
