/* settling_again.c - observers that set what bindings read, and values that a binding cannot set. */
#include "fixture.h"

#include <kvo/kvo_bind.h>
#include <kvo/kvo_scope.h>

typedef struct cell {
  kvo_object header;
  int64_t value;
} cell;

static cell *cell_make(void) {
  static kvo_class *cls;
  static const kvo_property_spec value = {
      .name = "value", .type = "q", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(cell, value)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Cell",
                         .instance_size = sizeof(cell),
                         .properties = &value,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  return (cell *)made;
}

static cell *a, *c, *d;

static int64_t value_of(cell *of) {
  int64_t value = 0;
  CHECK_OK(kvo_get_int64(&of->header, "value", &value));
  return value;
}

static void pass(int64_t value, kvo_value_reader reader, void *arg) {
  reader(&(kvo_value){"q", sizeof value, &value}, arg);
}

static void three_times(void *user_data, kvo_value_reader reader, void *arg) {
  (void)user_data;
  pass(value_of(a) * 3, reader, arg);
}

static void copy_a(void *user_data, kvo_value_reader reader, void *arg) {
  (void)user_data;
  pass(value_of(a), reader, arg);
}

static void sum(void *user_data, kvo_value_reader reader, void *arg) {
  (void)user_data;
  pass(value_of(a) + value_of(c), reader, arg);
}

static void set_once(const kvo_change *change, void *user_data) {
  int *calls = user_data;
  (void)change;
  if ((*calls)++ == 0) CHECK_OK(kvo_set_int64(&a->header, "value", 2));
}

TEST("an observer of a target may set the source again: all that is bound follows") {
  a = cell_make(), c = cell_make(), d = cell_make();
  CHECK_OK(kvo_bind_computed(&c->header, "value", three_times, NULL, NULL, NULL));
  CHECK_OK(kvo_bind_computed(&d->header, "value", sum, NULL, NULL, NULL));
  int calls = 0;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .options = KVO_NEW,
                           .callback = set_once,
                           .user_data = &calls,
                           KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&c->header, &observer, &id));
  CHECK_OK(kvo_set_int64(&a->header, "value", 5));
  CHECK_EQ(a->value, 2);
  CHECK_EQ(c->value, 6);
  CHECK_EQ(d->value, 8);
  CHECK_EQ(calls, 2);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&d->header), kvo_object_destroy(&c->header), kvo_object_destroy(&a->header);
}

TEST_REPORTED("a value that the target cannot have is a fault, and leaves the target as it is") {
  ignore_faults();
  item *of = item_make(7), *next = item_make(8);
  CHECK_OK(kvo_bind(as_object(of), "value", as_object(of), "next.value", NULL));
  CHECK_EQ(of->value, 7);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_TYPE_MISMATCH);
  CHECK_CONTAINS(faults.summary, "the value of \"next.value\" of Item");
  CHECK_CONTAINS(faults.summary, " cannot be set as \"value\" of Item");
  item_set_next(of, next);
  CHECK_EQ(of->value, 8);
  item_destroy(of), item_destroy(next);
}

TEST_REPORTED("a path that is led to an object without its key is a fault of the binding, which keeps its value") {
  ignore_faults();
  static const kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Empty", .instance_size = sizeof(kvo_object)};
  kvo_class *cls;
  kvo_object *empty;
  item *of = item_make(7), *next = item_make(8);
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &empty));
  item_set_next(of, next);
  CHECK_OK(kvo_bind(as_object(of), "value", as_object(of), "next.value", NULL));
  item_set_next(of, (item *)empty);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNDEFINED_KEY);
  CHECK_EQ(of->value, 8);
  item_set_next(of, NULL);
  item_destroy(of), item_destroy(next), kvo_object_destroy(empty);
}

static item *one, *other;

static void end_both(watcher *self, const kvo_change *change) {
  (void)change;
  CHECK_OK(kvo_cancel_observer(*(kvo_observation *)self->then_arg));
  item_set_value(other, 5);
  CHECK_EQ(one->value, 2);
  item_set_value(one, 6);
  CHECK_EQ(other->value, 5);
}

TEST("the id of a two-way binding ends both directions at once, also while the object is changing") {
  kvo_observation id;
  one = item_make(1), other = item_make(2);
  CHECK_OK(kvo_bind_two_way(as_object(one), "value", as_object(other), "value", &id));
  watcher ending = {.then = end_both, .then_arg = &id};
  watch(one, "other", KVO_NONE, &ending);
  item_set_other(one, 1);
  CHECK_EQ(ending.calls, 1);
  CHECK_OK(kvo_remove_observer(ending.id));
  item_destroy(one), item_destroy(other);
}

static void destroy_target(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_destroy(other);
}

TEST("an observer of a target may destroy it, after bindings have been settled and at the end of a scope") {
  for (int scoped = 0; scoped < 2; scoped++) {
    one = item_make(1), other = item_make(2);
    watcher source = {0}, first = {0}, last = {.then = destroy_target};
    CHECK_OK(kvo_bind(as_object(other), "value", as_object(one), "value", NULL));
    watch(one, "value", KVO_NEW, &source);
    watch(other, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &first);
    watch(other, "value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &last);
    kvo_scope scope;
    kvo_object *object = as_object(one);
    if (scoped) CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &object, 1, __FILE__, __LINE__));
    item_set_value(one, 5);
    if (scoped) kvo_scope_end(&scope);
    CHECK_EQ(last.calls, 1);
    CHECK_EQ(first.calls, 0);
    item_set_value(one, 6);
    CHECK_EQ(source.calls, 2);
    CHECK_OK(kvo_remove_observer(source.id));
    item_destroy(one);
  }
}

static void count_up(const kvo_change *change, void *user_data) {
  (void)change;
  int64_t value = value_of(a);
  ++*(int *)user_data;
  if (value < 6) CHECK_OK(kvo_set_int64(&a->header, "value", value + 1));
}

TEST("an observer of a target may set the source again and again") {
  a = cell_make(), c = cell_make();
  CHECK_OK(kvo_bind_computed(&c->header, "value", three_times, NULL, NULL, NULL));
  int calls = 0;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .options = KVO_ENDS_WITH_OBJECT,
                           .callback = count_up,
                           .user_data = &calls,
                           KVO_HERE};
  CHECK_OK(kvo_add_observer(&c->header, &observer, NULL));
  CHECK_OK(kvo_set_int64(&a->header, "value", 1));
  CHECK_EQ(a->value, 6);
  CHECK_EQ(c->value, 18);
  CHECK_EQ(calls, 6);
  kvo_object_destroy(&c->header), kvo_object_destroy(&a->header);
}

typedef struct reals {
  kvo_object header;
  float single;
  double exact;
} reals;

TEST("a two-way binding of a float and a double leaves the side that was set as it is") {
  static const kvo_property_spec properties[] = {
      {.name = "single", .type = "f", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(reals, single)},
      {.name = "exact", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(reals, exact)}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Reals",
                         .instance_size = sizeof(reals),
                         .properties = properties,
                         .property_count = 2};
  kvo_class *cls;
  kvo_object *left, *right;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &left));
  CHECK_OK(kvo_object_create(cls, &right));
  ((reals *)right)->exact = 0.1;
  CHECK_OK(kvo_bind_two_way(left, "single", right, "exact", NULL));
  CHECK(((reals *)left)->single == 0.1f && ((reals *)right)->exact == 0.1);
  CHECK_OK(KVO_SET(right, "exact", double, 0.3));
  CHECK(((reals *)left)->single == 0.3f && ((reals *)right)->exact == 0.3);
  CHECK_OK(KVO_SET(left, "single", float, 0.5f));
  CHECK(((reals *)right)->exact == 0.5);
  kvo_object_destroy(left), kvo_object_destroy(right);
}

static kvo_observation binding;

/* Bindings that are the only observers of `a`, in each way. `d` is not bound, or after `c`. */
static void bind_c(int way) {
  switch (way) {
    case 0: CHECK_OK(kvo_bind(&c->header, "value", &a->header, "value", &binding)); break;
    case 1: CHECK_OK(kvo_bind_computed(&c->header, "value", copy_a, NULL, NULL, &binding)); break;
    case 2: CHECK_OK(kvo_bind_two_way(&c->header, "value", &a->header, "value", &binding)); break;
    default:
      CHECK_OK(kvo_bind(&d->header, "value", &a->header, "value", &binding));
      CHECK_OK(kvo_bind(&c->header, "value", &d->header, "value", NULL));
  }
}

static void clamp(const kvo_change *change, void *user_data) {
  (void)change;
  if (value_of(a) <= 100) return;
  switch (*(int *)user_data) {
    case 0: CHECK_OK(kvo_set_int64(&a->header, "value", 100)); break;
    case 1: {
      kvo_scope scope;
      CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &(kvo_object *){&a->header}, 1, NULL, 0));
      CHECK_OK(kvo_set_int64(&a->header, "value", 100));
      kvo_scope_end(&scope);
      break;
    }
    default:
      CHECK_OK(kvo_observation_pause(binding));
      CHECK_OK(kvo_set_int64(&a->header, "value", 100));
      CHECK_OK(kvo_observation_resume(binding, true));
  }
  CHECK_EQ(value_of(c), 100);
}

static int mixtures;

static void compare(const kvo_change *change, void *user_data) {
  (void)change;
  (void)user_data;
  if (value_of(c) != value_of(a)) mixtures++;
}

TEST(
    "what an observer of a target changes is settled when it returns, also if the binding is all that observes the source") {
  for (int way = 0; way < 4; way++)
    for (int how = 0; how < (way == 2 ? 2 : 3); how++) {
      a = cell_make(), c = cell_make(), d = cell_make();
      mixtures = 0;
      kvo_observer older = {.struct_size = sizeof older,
                            .key_path = "value",
                            .options = KVO_ENDS_WITH_OBJECT,
                            .callback = compare,
                            KVO_HERE};
      CHECK_OK(kvo_add_observer(&c->header, &older, NULL));
      kvo_observer newer = older;
      newer.callback = clamp;
      newer.user_data = &how;
      CHECK_OK(kvo_add_observer(&c->header, &newer, NULL));
      bind_c(way);
      CHECK_OK(kvo_set_int64(&a->header, "value", 250));
      CHECK_EQ(value_of(a), 100);
      CHECK_EQ(value_of(c), 100);
      CHECK_EQ(mixtures, 0);
      CHECK_OK(kvo_set_int64(&a->header, "value", 7));
      CHECK_EQ(value_of(c), 7);
      kvo_object_destroy(&c->header);
      kvo_object_destroy(&d->header);
      kvo_object_destroy(&a->header);
    }
  CHECK_EQ(faults.count, 0);
}
