/* bindings.c - rounds of concurrent random changes of a graph of bindings: at rest each target has the value of its source, and what one
 * thread changes then is delivered with its last value.
 *
 *     stress_bindings --seconds 30 [--seed N] [--round N] */
#include <kvo/kvo.h>
#include <kvo/kvo_bind.h>
#include <kvo/kvo_scope.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "random.h"

/* The first cells are set by the threads, the others are bound to those before them. */
enum { SOURCES = 4, CELLS = 24, OBSERVERS = 8, THREADS = 4, ROUND_SECONDS = 120 };

typedef struct cell {
  kvo_object header;
  _Atomic int value, other;
  _Atomic(struct cell *) next;
  /* The function that computes the value; NULL for a source. */
  int (*function)(struct cell *self);
  struct cell *one, *two;
} cell;

typedef struct observer {
  cell *root;
  const char *path;
  /* The value that was delivered last, and that from before the changes of one thread. */
  _Atomic int last;
  int before;
  kvo_observation id;
} observer;

static cell *cells[CELLS];
static observer observers[OBSERVERS];
static int operations;
static bool sets_again, has_scopes;

/* ------------------------------------------------------------------------------------------------------------ The class -- */

#define PROPERTY(T, name)                                                                                              \
  static T get_##name(const cell *of) { return atomic_load(&of->name); }                                               \
  static void set_##name(cell *of, T to) { atomic_store(&of->name, to); }
PROPERTY(int, value)
PROPERTY(int, other)
PROPERTY(cell *, next)

static kvo_class *cell_class;

static void register_class(void) {
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "other", .type = "i", .getter = (kvo_function)get_other, .setter = (kvo_function)set_other},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Cell",
                         .instance_size = sizeof(cell),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  if (kvo_class_register(&spec, &cell_class) != KVO_OK) fail("%s", kvo_last_error());
}

/* ---------------------------------------------------------------------------------------------------------- The graph -- */

/* In an evaluation the reads are recorded. */
static int read_int(cell *of, const char *key_path) {
  int64_t value = 0;
  kvo_status status = kvo_get_int64(&of->header, key_path, &value);
  if (status != KVO_OK && status != KVO_ERROR_NO_VALUE) fail("%s", kvo_last_error());
  return (int)value;
}

static int sum(cell *self) { return (read_int(self->one, "value") + read_int(self->two, "value")) % 1000003; }
static int choice(cell *self) { return read_int(self->one, "value") % 2 == 0 ? 7 : read_int(self->two, "value"); }
static int after_next(cell *self) { return read_int(self, "next.value") + 1; }
static int same(cell *self) { return read_int(self->one, "value"); }

static void compute(void *of, kvo_value_reader reader, void *arg) {
  int result = ((cell *)of)->function(of);
  kvo_value value = {.type = "i", .size = sizeof result, .bytes = &result};
  reader(&value, arg);
}

static void make_cell(int number) {
  static int (*const functions[])(cell *) = {sum, choice, after_next, same};
  kvo_object *made;
  if (kvo_object_create(cell_class, &made) != KVO_OK) fail("%s", kvo_last_error());
  cell *of = cells[number] = (cell *)made;
  if (number < SOURCES) return;
  of->one = cells[any((uint32_t)number)];
  of->two = cells[any((uint32_t)number)];
  of->next = cells[any((uint32_t)number)];
  of->function = functions[any(4)];
  kvo_status status = of->function == same ? kvo_bind(made, "value", &of->one->header, "value", NULL)
                                           : kvo_bind_computed(made, "value", compute, of, NULL, NULL);
  if (status != KVO_OK) fail("%s", kvo_last_error());
}

/* -------------------------------------------------------------------------------------------------------- The changes -- */

static void set_source(void) { kvo_set_int64(&cells[any(SOURCES)]->header, "value", any(9)); }

static void note(const kvo_change *change, void *user_data) {
  observer *of = user_data;
  int64_t value = -1;
  if (change->new_value->bytes != NULL) (void)kvo_value_int64(change->new_value, &value);
  if (of != NULL) atomic_store(&of->last, (int)value);
  if (sets_again && any(20) == 0) set_source();
}

static kvo_observation observe(cell *root, const char *path, kvo_options options, observer *of) {
  kvo_observer described = {.struct_size = sizeof described,
                            .key_path = path,
                            .options = options | KVO_NEW,
                            .callback = note,
                            .user_data = of,
                            KVO_HERE};
  kvo_observation id;
  if (kvo_add_observer(&root->header, &described, &id) != KVO_OK) fail("%s", kvo_last_error());
  return id;
}

static void set_in_scope(void) {
  kvo_scope scope;
  kvo_object *objects[SOURCES];
  size_t count = 0;
  for (int i = 0; i < SOURCES; i++)
    if (any(2) == 0) objects[count++] = &cells[i]->header;
  kvo_scope_kind kind = any(2) == 0 ? KVO_SCOPE_COALESCES : KVO_SCOPE_COALESCES_IF_CHANGED;
  if (kvo_scope_begin(&scope, kind, objects, count, NULL, 0) != KVO_OK) fail("%s", kvo_last_error());
  for (int i = 0; i < 3; i++) set_source();
  kvo_scope_end(&scope);
}

static void act(void) {
  switch (any(8)) {
    case 0: {
      uint32_t number = SOURCES + any(CELLS - SOURCES);
      kvo_set_object(&cells[number]->header, "next", any(4) == 0 ? NULL : &cells[any(number)]->header);
      return;
    }
    case 1: {
      kvo_observation id = observe(cells[any(CELLS)], any(2) == 0 ? "value" : "next.value",
                                   (any(2) == 0 ? KVO_OLD : 0) | (any(3) == 0 ? KVO_INITIAL : 0), NULL);
      set_source();
      if (kvo_cancel_observer(id) != KVO_OK) fail("%s", kvo_last_error());
      return;
    }
    case 2: {
      kvo_observation id;
      kvo_object *target = &cells[any(CELLS)]->header;
      if (kvo_bind(target, "other", &cells[any(CELLS)]->header, "value", &id) != KVO_OK) fail("%s", kvo_last_error());
      set_source();
      if (kvo_cancel_observer(id) != KVO_OK) fail("%s", kvo_last_error());
      return;
    }
    case 3:
      if (has_scopes) set_in_scope();
      return;
    default: set_source();
  }
}

static void *run(void *start) {
  random_state = (uint64_t)(uintptr_t)start;
  for (int i = 0; i < operations; i++) act();
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- Rounds -- */

static int present_value(const observer *of) {
  const cell *end = strcmp(of->path, "value") == 0 ? of->root : of->root->next;
  return end != NULL ? end->value : -1;
}

static void check_cells(void) {
  for (int i = SOURCES; i < CELLS; i++)
    if (cells[i]->value != cells[i]->function(cells[i]))
      fail("cell %d is %d, and its source %d", i, cells[i]->value, cells[i]->function(cells[i]));
}

static void check_changes_of_one_thread(void) {
  sets_again = false;
  for (int i = 0; i < OBSERVERS; i++) observers[i].before = present_value(&observers[i]);
  for (int i = 0; i < SOURCES; i++) kvo_set_int64(&cells[i]->header, "value", 100 + i);
  check_cells();
  for (int i = 0; i < OBSERVERS; i++) {
    const observer *of = &observers[i];
    int now = present_value(of);
    if (now != of->before && of->last != now) fail("\"%s\" is %d, and was last %d", of->path, now, of->last);
  }
}

static void run_round(void) {
  pthread_t threads[THREADS];
  random_state = seed * UINT64_C(1000003) + (uint64_t)current;
  alarm(ROUND_SECONDS); /* a hang ends the process, which has printed the seed */
  operations = any(4) == 0 ? 300 : 20;
  sets_again = any(2) == 0;
  has_scopes = any(2) == 0;
  for (int i = 0; i < CELLS; i++) make_cell(i);
  for (int i = 0; i < OBSERVERS; i++) {
    observer *of = &observers[i];
    *of = (observer){.root = cells[any(CELLS)], .path = any(2) == 0 ? "value" : "next.value"};
    of->id = observe(of->root, of->path, KVO_INITIAL | (any(2) == 0 ? KVO_OLD : 0), of);
  }
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(random_state + 77u * (unsigned)i)) != 0)
      fail("no thread");
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  check_cells();
  check_changes_of_one_thread();
  for (int i = 0; i < OBSERVERS; i++)
    if (kvo_cancel_observer(observers[i].id) != KVO_OK) fail("%s", kvo_last_error());
  for (int i = CELLS; i-- > 0;) kvo_object_destroy(&cells[i]->header);
}

int main(int argc, char **argv) {
  register_class();
  return run_rounds("stress of bindings", run_round, argc, argv);
}
