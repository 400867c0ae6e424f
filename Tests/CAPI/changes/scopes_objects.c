/* scopes_objects.c - which objects and changes belong to a scope: of many objects those that live, none that is made later at the address
 * of one that died, words, what silent scopes enclose; and what lacks memory. */
#include "allocator.h"
#include "scoped.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------------- Objects -- */

TEST("of forty objects in a scope any may die next, and the others stay in it") {
  enum { MANY = 40 };
  ignore_faults();
  static item *items[MANY];
  static watcher w[MANY];
  kvo_object *objects[MANY];
  for (int i = 0; i < MANY; i++) {
    items[i] = item_make(0);
    objects[i] = as_object(items[i]);
    watch(items[i], "value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w[i]);
  }
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, MANY, NULL, 0));
  for (int dead = 1; dead < MANY; dead++) {
    item_destroy(items[dead * 7 % MANY]);
    for (int lives = dead + 1; lives <= MANY; lives++) {
      int which = lives * 7 % MANY; /* the last one is 0 */
      item_set_value(items[which], dead);
      CHECK_EQ(w[which].calls, 0);
    }
  }
  kvo_scope_end(&scope);
  CHECK_TOLD(w[0], 1, 0, MANY - 1);
  for (int i = 1; i < MANY; i++) {
    CHECK_EQ(w[i].calls, 0);
    CHECK_EQ(w[i].destroyed, 1);
  }
  CHECK_OK(kvo_remove_observer(w[0].id));
  item_destroy(items[0]);
}

/* Memory that is never used again, so that what was freed stays as it was. */
static void *freed[4096];
static size_t freed_count;
static void *allocate(size_t size, void *arg) { return (void)arg, malloc(size); }
static void keep(void *memory, void *arg) {
  (void)arg;
  CHECK(freed_count < sizeof freed / sizeof *freed);
  freed[freed_count++] = memory;
}

TEST(
    "a new object at the address of one that died in the scope is not in it, also if the scope's last change was that one's") {
  kvo_set_allocator(allocate, keep, NULL);
  ignore_faults();
  static item memory;
  static watcher first, second;
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &first);
  kvo_object *objects[] = {as_object(&memory)};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  item_set_value(&memory, 5);
  item_set_value(&memory, 6);
  kvo_object_finish(as_object(&memory));
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  watch(&memory, "value", KVO_OLD | KVO_NEW, &second);
  item_set_value(&memory, 7);
  CHECK_TOLD(second, 1, 6, 7);
  kvo_scope_end(&scope);
  CHECK_EQ(first.calls, 0);
  CHECK_EQ(first.destroyed, 1);
  CHECK_OK(kvo_remove_observer(second.id));
  kvo_object_finish(as_object(&memory));
}

TEST(
    "an expression is told at the end of a scope, also if a silent one of another object is open when its key changes") {
  make_items();
  total sum = {.of = {a, b}};
  watch_total(&sum, KVO_OLD | KVO_NEW);
  BEGIN(outer, KVO_SCOPE_COALESCES, a);
  BEGIN(silent, KVO_SCOPE_SILENCES, c);
  item_set_value(a, 10);
  kvo_scope_end(&silent);
  CHECK_EQ(sum.calls, 0);
  kvo_scope_end(&outer);
  CHECK_EQ(sum.calls, 1);
  CHECK_EQ(sum.old_value, 3);
  CHECK_EQ(sum.new_value, 12);
  CHECK_OK(kvo_remove_observer(sum.id));
  destroy_items();
}

/* --------------------------------------------------------------------------------------------------------- Memory -- */

TEST("after a change that a scope could not keep for lack of memory an observation ends at once when it is removed") {
  use_counting_allocator();
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NONE, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  fail_in = 1;
  item_set_value(a, 5);
  fail_in = 0;
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1);
  kvo_scope_end(&scope);
  destroy_items();
}

TEST("whichever allocation in nested scopes fails, the end of the outer one tells expressions their last values") {
  use_counting_allocator();
  make_items();
  total one = {.of = {a}}, both = {.of = {a, b}};
  watch_total(&one, KVO_NEW);
  watch_total(&both, KVO_NEW);
  for (int n = 1, value = 100;; n++) {
    has_failed = 0;
    BEGIN(outer, KVO_SCOPE_COALESCES, a);
    BEGIN(inner, KVO_SCOPE_COALESCES, b);
    item_set_value(b, ++value);
    fail_in = n;
    item_set_value(a, ++value);
    fail_in = 0;
    kvo_scope_end(&inner);
    item_set_value(a, ++value);
    kvo_scope_end(&outer);
    CHECK_EQ(one.new_value, a->value);
    CHECK_EQ(both.new_value, a->value + b->value);
    if (!has_failed) break;
  }
  CHECK_OK(kvo_remove_observer(one.id));
  CHECK_OK(kvo_remove_observer(both.id));
  destroy_items();
}

/* --------------------------------------------------------------------------------------------------- At an offset -- */

typedef struct tally {
  kvo_object header;
  unsigned long long count;
  int low, high;
} tally;

static tally *tally_make(void) {
  static kvo_class *cls;
  static const kvo_property_spec properties[] = {
      {.name = "count", .type = "Q", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(tally, count)},
      {.name = "low", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(tally, low)},
      {.name = "high", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(tally, high)}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Tally",
                         .instance_size = sizeof(tally),
                         .properties = properties,
                         .property_count = 3};
  kvo_object *made;
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return (tally *)(void *)made;
}

/* The last change of a count. */
typedef struct counted {
  int calls;
  unsigned long long old_value, new_value;
} counted;

static void note_count(const kvo_raw_change *change, void *user_data) {
  counted *self = user_data;
  self->calls++;
  CHECK(change->old_value != NULL && change->new_value != NULL);
  self->old_value = *(const unsigned long long *)change->old_value;
  self->new_value = *(const unsigned long long *)change->new_value;
}

TEST("a property of eight bytes at an offset is stored at each set in a scope, and told once") {
  static const kvo_observer_ops ops = {.callback = note_count};
  tally *of = tally_make();
  counted seen = {0};
  kvo_binding_observer observer = {
      .key_path = "count", .options = (kvo_options)(KVO_OLD | KVO_NEW), .ops = &ops, .user_data = &seen};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(&of->header, kvo_key_hash("count", 5), &observer, &id));
  kvo_object *objects[] = {&of->header};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  for (unsigned long long i = 1; i < 5; i++) {
    CHECK_OK(KVO_SET(of, "count", unsigned long long, i << 40));
    CHECK(of->count == i << 40);
  }
  CHECK_EQ(seen.calls, 0);
  kvo_scope_end(&scope);
  CHECK_EQ(seen.calls, 1);
  CHECK(seen.old_value == 0);
  CHECK(seen.new_value == 4ull << 40);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&of->header);
}

TEST("a set of an observed property at an offset changes no other one") {
  tally *of = tally_make();
  watcher w[2] = {{0}};
  static const char *const keys[] = {"low", "high"};
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = watcher_observer(keys[i], KVO_OLD | KVO_NEW, &w[i]);
    CHECK_OK(kvo_add_observer(&of->header, &observer, &w[i].id));
  }
  of->count = 7;
  of->high = 77;
  CHECK_OK(KVO_SET(of, "low", int, -1));
  CHECK_EQ(of->high, 77);
  CHECK_OK(KVO_SET(of, "high", int, -2));
  CHECK_EQ(of->low, -1);
  CHECK(of->count == 7);
  CHECK_TOLD(w[0], 1, 0, -1);
  CHECK_TOLD(w[1], 1, 77, -2);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(w[i].id));
  kvo_object_destroy(&of->header);
}

/* The value of the item that a count names. */
typedef struct chosen {
  tally *of;
  item *items[2];
  int calls;
} chosen;

static void *evaluate_chosen(void *user_data) {
  chosen *self = user_data;
  kvo_track_read(&self->of->header, kvo_key_hash("count", 5));
  kvo_track_read(as_object(self->items[self->of->count]), kvo_key_hash("value", 5));
  return calloc(1, 1);
}

static void free_chosen(void *value, void *user_data) { (void)user_data, free(value); }
static void note_chosen(const kvo_raw_change *change, void *user_data) { (void)change, ((chosen *)user_data)->calls++; }

TEST("an expression follows a property of eight bytes that is set in a silent scope") {
  static const kvo_observer_ops ops = {.callback = note_chosen, .evaluate = evaluate_chosen, .release = free_chosen};
  chosen of = {.of = tally_make(), .items = {item_make(1), item_make(2)}};
  kvo_binding_observer observer = {.key_path = "chosen", .options = KVO_NEW, .ops = &ops, .user_data = &of};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(&of.of->header, &observer, false, &id));
  kvo_object *objects[] = {&of.of->header};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, 1, NULL, 0));
  CHECK_OK(KVO_SET(of.of, "count", unsigned long long, 1));
  kvo_scope_end(&scope);
  CHECK_EQ(of.calls, 0);
  item_set_value(of.items[0], 10);
  CHECK_EQ(of.calls, 0);
  item_set_value(of.items[1], 20);
  CHECK_EQ(of.calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&of.of->header);
  for (int i = 0; i < 2; i++) item_destroy(of.items[i]);
}

/* ------------------------------------------------------------------------------------------------ Stored meanwhile -- */

/* Called once by the setter before it stores. */
static void (*before_store)(void);

static int get_value(const item *of) { return of->value; }
static void set_value(item *of, int value) {
  void (*body)(void) = before_store;
  before_store = NULL;
  if (body != NULL) body();
  of->value = value;
}

static item *late;
static void bring_onto_path(void) { item_set_next(a, late); }

TEST("a setter that puts its own object onto a path before it stores notifies the path, also in a scope of others") {
  static const kvo_property_spec value = {
      .name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Tardy",
                         .instance_size = sizeof(item),
                         .properties = &value,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  make_items();
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  late = (item *)made;
  late->value = 3;
  watcher path = {0};
  watch(a, "next.value", KVO_OLD | KVO_NEW, &path);
  BEGIN(scope, KVO_SCOPE_COALESCES, c);
  before_store = bring_onto_path;
  item_set_value(late, 5);
  CHECK_TOLD(path, 2, 3, 5);
  kvo_scope_end(&scope);
  CHECK_EQ(path.calls, 2);
  CHECK_OK(kvo_remove_observer(path.id));
  kvo_object_destroy(made);
  destroy_items();
}
