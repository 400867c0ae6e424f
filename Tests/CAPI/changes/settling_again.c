/* settling_again.c - observers that set what bindings read, values that a binding cannot set, and a chain of bindings. */
#include "scoped.h"

/* ----------------------------------------------------------------------------- Observers that set what is read -- */

/* An object whose value the runtime stores itself. */
typedef struct cell {
  kvo_object header;
  int64_t value;
} cell;

static cell *source, *between, *target;
static kvo_observation binding;

static int64_t cell_value(cell *of) {
  int64_t value = 0;
  CHECK_OK(kvo_get_int64(&of->header, "value", &value));
  return value;
}

static void copy_source(void *user_data, kvo_value_reader reader, void *arg) {
  int64_t value = cell_value(source);
  reader(&(kvo_value){"q", sizeof value, &value}, arg);
}

/* Binds the target to the source in one of four ways; each is all that observes the source. */
static void bind_target(int way) {
  kvo_object *from = &source->header, *over = &between->header, *to = &target->header;
  switch (way) {
    case 0: CHECK_OK(kvo_bind(to, "value", from, "value", &binding)); break;
    case 1: CHECK_OK(kvo_bind_computed(to, "value", copy_source, NULL, NULL, &binding)); break;
    case 2: CHECK_OK(kvo_bind_two_way(to, "value", from, "value", &binding)); break;
    default:
      CHECK_OK(kvo_bind(over, "value", from, "value", &binding));
      CHECK_OK(kvo_bind(to, "value", over, "value", NULL));
  }
}

static void set_source(int64_t value) { CHECK_OK(kvo_set_int64(&source->header, "value", value)); }

static void clamp(watcher *self, const kvo_change *change) {
  if (cell_value(source) <= 100) return;
  switch (*(int *)self->then_arg) {
    case 0: set_source(100); break;
    case 1: {
      kvo_scope scope;
      CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &(kvo_object *){&source->header}, 1, NULL, 0));
      set_source(100);
      kvo_scope_end(&scope);
      break;
    }
    default:
      CHECK_OK(kvo_observation_pause(binding));
      set_source(100);
      CHECK_OK(kvo_observation_resume(binding, true));
  }
  CHECK_EQ(cell_value(target), 100);
}

static void compare(watcher *self, const kvo_change *change) { CHECK_EQ(cell_value(target), cell_value(source)); }

static int64_t get_cell(const cell *of) { return of->value; }
static void set_cell(cell *of, int64_t to) { of->value = to; }

TEST(
    "what an observer of a target changes is settled when it returns, also if the binding is all that observes the source") {
  static const kvo_property_spec kinds[] = {AT_OFFSET(cell, value, "q"), PROPERTY("value", "q", get_cell, set_cell)};
  for (int kind = 0; kind < 2; kind++) {
    kvo_class *cls = class_made(kind == 0 ? "Cell" : "CellWithAccessors", sizeof(cell), &kinds[kind], 1);
    for (int way = 0; way < 4; way++)
      for (int how = 0; how < (way == 2 ? 2 : 3); how++) {
        cell *cells[] = {source = make_of(cls), between = make_of(cls), target = make_of(cls)};
        watcher older = {.then = compare}, newer = {.then = clamp, .then_arg = &how};
        watch((item *)target, "value", KVO_ENDS_WITH_OBJECT, &older);
        watch((item *)target, "value", KVO_ENDS_WITH_OBJECT, &newer);
        bind_target(way);
        set_source(250);
        CHECK_EQ(source->value, 100);
        CHECK_EQ(target->value, 100);
        set_source(7);
        CHECK_EQ(target->value, 7);
        for (int i = 0; i < 3; i++) kvo_object_destroy(&cells[i]->header);
      }
  }
  CHECK_EQ(faults.count, 0);
}

/* ---------------------------------------------------------------------------- Values that a target cannot have -- */

TEST_REPORTED("a value that the target cannot have is a fault, and leaves the target as it is") {
  make_items();
  CHECK_OK(kvo_bind(as_object(a), "value", as_object(a), "next.value", NULL));
  CHECK_EQ(a->value, 1);
  CHECK_FAULTS(1, KVO_FAULT_TYPE_MISMATCH);
  CHECK_CONTAINS(faults.summary, "KVO0026 error: the value of \"next.value\" of Item");
  CHECK_CONTAINS(faults.summary, " cannot be set as \"value\" of Item");
  item_set_next(a, b);
  CHECK_EQ(a->value, 2);
}

typedef struct picky {
  kvo_object header;
  int value;
} picky;

static int picky_value(const picky *of) { return of->value; }
static bool picky_set(picky *of, int value) {
  if (value >= 0) of->value = value;
  return value >= 0;
}

TEST("a value that the target's setter refuses leaves the target as it is, without a fault") {
  make_items();
  kvo_property_spec property = PROPERTY_WITH("value", "i", picky_value, picky_set, .setter_type = "B@i");
  picky *target = (picky *)object_made("Picky", sizeof(picky), &property, 1);
  CHECK_OK(kvo_bind(&target->header, "value", as_object(a), "value", NULL));
  item_set_value(a, 5);
  item_set_value(a, -5);
  CHECK_EQ(target->value, 5);
  item_set_value(a, 6);
  CHECK_EQ(target->value, 6);
  CHECK_EQ(faults.count, 0);
  kvo_object_destroy(&target->header);
}

TEST_REPORTED("a path that is led to an object without its key is a fault of the binding, which keeps its value") {
  make_items();
  item_set_next(a, b);
  CHECK_OK(kvo_bind(as_object(a), "value", as_object(a), "next.value", NULL));
  item_set_next(a, make_of(class_made("Empty", sizeof(kvo_object), NULL, 0)));
  CHECK_FAULTS(1, KVO_FAULT_UNDEFINED_KEY);
  CHECK_EQ(a->value, 2);
}

typedef struct reals {
  kvo_object header;
  float single;
  double exact;
} reals;

TEST("a two-way binding of a float and a double leaves the side that was set as it is") {
  static const kvo_property_spec properties[] = {AT_OFFSET(reals, single, "f"), AT_OFFSET(reals, exact, "d")};
  kvo_class *cls = class_made("Reals", sizeof(reals), properties, 2);
  reals *left = make_of(cls), *right = make_of(cls);
  right->exact = 0.1;
  CHECK_OK(kvo_bind_two_way(&left->header, "single", &right->header, "exact", NULL));
  CHECK(left->single == 0.1f && right->exact == 0.1);
  CHECK_OK(KVO_SET(right, "exact", double, 0.3));
  CHECK(left->single == 0.3f && right->exact == 0.3);
  CHECK_OK(KVO_SET(left, "single", float, 0.5f));
  CHECK(right->exact == 0.5);
  kvo_object_destroy(&left->header);
  kvo_object_destroy(&right->header);
}

/* ---------------------------------------------------------------------------------------------- Only observers -- */

TEST("a chain of 20 000 bindings follows its first object, however small the stack is") {
  enum { COUNT = 20000 };
  static item *items[COUNT];
  for (int i = 0; i < COUNT; i++) {
    items[i] = item_make(0);
    if (i > 0) CHECK_OK(kvo_bind(as_object(items[i]), "value", as_object(items[i - 1]), "value", NULL));
  }
  for (int value = 1; value < 3; value++) {
    item_set_value(items[0], value);
    CHECK_EQ(items[COUNT - 1]->value, value);
  }
  for (int i = 0; i < COUNT; i++) item_destroy(items[i]);
}
