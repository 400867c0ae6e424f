/* path_ends.c - the key at the end of a path, whose changes are passed on without evaluation, and what makes it an evaluated one. */
#include "fixture.h"

/* ------------------------------------------------------------------------------------------------- What is an end -- */

/* Its `size` is that of another object, which the getter reads by key-value coding. */
typedef struct frame {
  kvo_object header;
  item *inner;
} frame;

static void take(const kvo_value *value, void *arg) { *(int *)arg = *(const int *)value->bytes; }

static int get_size(const frame *of) {
  int value = 0;
  kvo_get_value(as_object(of->inner), "value", take, &value);
  return value * 100;
}

static item *get_shape(const frame *of) { return of->inner; }

TEST("a getter that reads by key path delivers the value that it computes") {
  static const kvo_property_spec size = {.name = "size", .type = "i", .getter = (kvo_function)get_size};
  static const kvo_property_spec shape = {.name = "shape", .type = "@", .getter = (kvo_function)get_shape};
  kvo_class_spec inner_spec = {.struct_size = sizeof inner_spec,
                               .name = "Frame",
                               .instance_size = sizeof(frame),
                               .properties = &size,
                               .property_count = 1};
  kvo_class_spec outer_spec = inner_spec;
  outer_spec.name = "Picture";
  outer_spec.properties = &shape;
  kvo_class *inner_class, *outer_class;
  CHECK_OK(kvo_class_register(&inner_spec, &inner_class));
  CHECK_OK(kvo_class_register(&outer_spec, &outer_class));
  kvo_object *inner, *outer;
  CHECK_OK(kvo_object_create(inner_class, &inner));
  CHECK_OK(kvo_object_create(outer_class, &outer));
  item *innermost = item_make(1);
  ((frame *)(void *)inner)->inner = innermost;
  ((frame *)(void *)outer)->inner = (item *)(void *)inner;
  watcher observer = {.tag = 'a'};
  watch((item *)(void *)outer, "shape.size", KVO_NEW, &observer);
  item_set_value(innermost, 7);
  CHECK_EQ(observer.calls, 1);
  CHECK_EQ(observer.new_value.integer, 700);
  CHECK_OK(kvo_remove_observer(observer.id));
  kvo_object_destroy(outer);
  kvo_object_destroy(inner);
  item_destroy(innermost);
}

/* -------------------------------------------------------------------------------------------- What turns meanwhile -- */

static item *first, *second, *third, *fourth;

static void turn_to_third(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior && first->next == second) item_set_next(first, third);
}

static void kill_third_once(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->then_arg != NULL) return;
  self->then_arg = self;
  item_destroy(third);
}

/* `second` is an intermediate or the last object of the path; a callback of its change destroys what is on the path then. */
static int deaths_notified(bool turned) {
  first = item_make(1), second = item_make(2), third = item_make(3), fourth = item_make(4);
  first->next = turned ? second : third;
  second->next = third->next = second;
  watcher killer = {.tag = 'k', .then = kill_third_once}, path = {.tag = 'p'};
  watcher turner = {.tag = 't', .then = turn_to_third};
  watch(second, "next", KVO_ENDS_WITH_OBJECT, &killer);
  watch(first, "next.next.next", KVO_ENDS_WITH_OBJECT, &path);
  watch(second, "next", KVO_PRIOR | KVO_ENDS_WITH_OBJECT, &turner);
  item_set_next(second, fourth);
  int told = path.calls;
  item_destroy(first);
  item_destroy(second);
  item_destroy(fourth);
  return told;
}

TEST("a death notifies also in a change during which a key has become the end of the path") {
  CHECK_EQ(deaths_notified(false), 2);
  CHECK_EQ(deaths_notified(true), 2); /* of what the prior observer changes it is told by the change itself */
}

static watcher late;

static void register_path(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior) watch(first, "next.value", KVO_NEW, &late);
}

TEST("a path registered during a change of an intermediate object is not notified of it, and follows later changes") {
  first = item_make(1), second = item_make(2), third = item_make(3);
  first->next = second;
  late = (watcher){.tag = 'l'};
  watcher registrar = {.tag = 'r', .then = register_path};
  watch(first, "next", KVO_PRIOR, &registrar);
  item_set_next(first, third);
  CHECK_EQ(late.calls, 0);
  item_set_value(second, 20);
  CHECK_EQ(late.calls, 0);
  item_set_value(third, 30);
  CHECK_EQ(late.calls, 1);
  CHECK_EQ(late.new_value.integer, 30);
  CHECK_OK(kvo_remove_observer(late.id));
  CHECK_OK(kvo_remove_observer(registrar.id));
  item_destroy(first);
  item_destroy(second);
  item_destroy(third);
}

static void register_in_nested(watcher *self, const kvo_change *change) {
  if (!change->is_prior) return;
  if (self->priors == 1)
    item_set_next(first, second);
  else
    watch(first, "next.value", KVO_NEW | KVO_OLD, &late);
}

TEST("a path registered during changes that are nested is notified of none of them, and follows later changes") {
  first = item_make(1), second = item_make(2), third = item_make(3);
  late = (watcher){.tag = 'l'};
  watcher registrar = {.tag = 'r', .then = register_in_nested};
  watch(first, "next", KVO_PRIOR, &registrar);
  item_set_next(first, third);
  CHECK_EQ(late.calls, 0);
  item_set_value(third, 30);
  CHECK_EQ(late.calls, 1);
  CHECK_EQ(late.old_value.integer, 3);
  CHECK_EQ(late.new_value.integer, 30);
  CHECK_OK(kvo_remove_observer(late.id));
  CHECK_OK(kvo_remove_observer(registrar.id));
  item_destroy(first);
  item_destroy(second);
  item_destroy(third);
}

static void set_again_once(watcher *self, const kvo_change *change) {
  (void)change;
  if (self->calls == 2) item_set_value(second, 22); /* the first is the initial call */
}

static void register_setter(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->priors == 1) watch(second, "value", KVO_NEW | KVO_OLD | KVO_INITIAL, &late);
}

TEST("what an observer changes that was registered during a change is left to that change, for older paths") {
  first = item_make(1), second = item_make(2);
  first->next = second;
  late = (watcher){.tag = 'l', .then = set_again_once};
  watcher path = {.tag = 'p'}, registrar = {.tag = 'r', .then = register_setter};
  watch(first, "next.value", KVO_NEW, &path);
  watch(second, "value", KVO_PRIOR, &registrar);
  item_set_value(second, 20);
  CHECK_EQ(late.calls, 3);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(path.new_value.integer, 22);
  CHECK_OK(kvo_remove_observer(late.id));
  CHECK_OK(kvo_remove_observer(registrar.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(first);
  item_destroy(second);
}

/* ----------------------------------------------------------------------------------------- What has been told before -- */

static void wait_for_other(watcher *self, const kvo_change *change) {
  (void)change;
  watcher *other = self->then_arg;
  if (other->id == 0) return;
  CHECK_EQ(other->depth, 0);
  CHECK_OK(kvo_cancel_observer_and_wait(other->id));
  other->id = 0;
}

static void wait_in_callback(item *object, const char *path, item *changed) {
  ignore_faults();
  watcher waits = {.tag = 'b', .then = wait_for_other}, waited_for = {.tag = 'a'};
  waits.then_arg = &waited_for;
  watch(object, path, KVO_NEW, &waits);
  watch(changed, "value", KVO_NEW, &waited_for);
  item_set_value(changed, 5);
  CHECK_EQ(waits.calls, 1);
  CHECK_EQ(waited_for.calls, 1);
  CHECK_EQ(faults.count, 0);
  CHECK_OK(kvo_remove_observer(waits.id));
}

TEST("a callback may wait for an observation that the same change has notified before") {
  item *object = item_make(1), *end = item_make(2);
  object->next = end;
  wait_in_callback(object, "value", object);
  wait_in_callback(object, "doubled", object);
  wait_in_callback(object, "next.value", end);
  item_destroy(object);
  item_destroy(end);
}

/* ------------------------------------------------------------------------------------------------------- Being led -- */

static item *first, *left_one, *reached;
static int left_value;

/* Sets the object that the path has been led away from, or is being. */
static void set_left(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_set_value(left_one, ++left_value);
}

/* The observer of the path must always get the value that the path has then. */
static void check_present(watcher *self, const kvo_change *change) {
  if (change->is_prior || change->new_value == NULL) return;
  const item *next = first->next;
  CHECK_EQ(self->new_value.integer, next->value);
}

static void make_led(void) {
  first = item_make(0);
  left_one = item_make(1);
  reached = item_make(77);
  left_value = 1;
  item_set_next(first, left_one);
}

static void end_led(watcher *path, watcher *setting) {
  CHECK_OK(kvo_remove_observer(path->id));
  CHECK_OK(kvo_remove_observer(setting->id));
  item_set_value(reached, 79);
  item_destroy(first);
  item_destroy(left_one);
  item_destroy(reached);
}

static const int all_options[] = {KVO_NONE, KVO_NEW, KVO_NEW | KVO_PRIOR, KVO_OLD | KVO_NEW};
enum { OPTIONS = sizeof all_options / sizeof *all_options };

TEST("a path is told its own value when an observer of an object on it sets the object that the path has left") {
  for (int i = 0; i < OPTIONS; i++) {
    make_led();
    watcher path = {.then = check_present}, setting = {.then = set_left};
    watch(first, "next.value", all_options[i], &path);
    watch(first, "next", KVO_NONE, &setting);
    item_set_next(first, reached);
    CHECK_EQ(path.calls, 1);
    item_set_value(reached, 78);
    CHECK_EQ(path.calls, 2);
    item_set_value(left_one, 5);
    CHECK_EQ(path.calls, 2);
    end_led(&path, &setting);
  }
}

TEST("and also when the object was set before the path was led away, by an observer before the change") {
  for (int i = 0; i < OPTIONS; i++) {
    make_led();
    watcher path = {.then = check_present}, setting = {.then = set_left};
    watch(first, "next.value", all_options[i], &path);
    watch(first, "next", KVO_PRIOR, &setting);
    item_set_next(first, reached);
    CHECK_EQ(path.calls, 1);
    end_led(&path, &setting);
  }
}

TEST("a path is told its own value between an announced change of an object on it and its end") {
  for (int i = 0; i < OPTIONS; i++) {
    make_led();
    watcher path = {.then = check_present}, setting = {.then = set_left};
    watch(first, "next.value", all_options[i], &path);
    watch(first, "next", KVO_NONE, &setting);
    CHECK_OK(kvo_will_change(as_object(first), "next"));
    item_set_value(left_one, ++left_value);
    CHECK_EQ(path.calls, 1);
    first->next = reached;
    item_set_value(left_one, ++left_value);
    CHECK_EQ(path.calls, 2);
    CHECK_OK(kvo_did_change(as_object(first), "next"));
    CHECK(path.calls >= 3);
    int calls = path.calls;
    item_set_value(reached, 78);
    CHECK_EQ(path.calls, calls + 1);
    end_led(&path, &setting);
  }
}

/* ------------------------------------------------------------------------------------------------- In the new object -- */

static void set_new_object(watcher *self, const kvo_change *change) {
  item *next = ((item *)change->object)->next;
  (void)self;
  item_set_value(next, 5);
  item_set_value(next, 6);
}

TEST("a path is told once, with the last value, what newer observers set in the object that it is led to") {
  item *root = item_make(0), *next = item_make(1);
  watcher path = {0}, newer = {.then = set_new_object};
  watch(root, "next.value", KVO_OLD | KVO_NEW, &path);
  watch(root, "next", KVO_NONE, &newer);
  item_set_next(root, next);
  CHECK_EQ(newer.calls, 1);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(path.new_value.integer, 6);
  item_set_value(next, 7);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.old_value.integer, 6);
  CHECK_OK(kvo_remove_observer(newer.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
  item_destroy(next);
}
