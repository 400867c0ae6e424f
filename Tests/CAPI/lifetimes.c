/* lifetimes.c - when user data is destroyed, and the effects of the death of an object. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

TEST("destroy runs once, in the removal, when no callback runs") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  item_set_value(object, 1);
  CHECK_EQ(w.destroyed, 0);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1);
  item_destroy(object);
  CHECK_EQ(w.destroyed, 1);
}

static void remove_and_look(watcher *self, const kvo_change *change) {
  (void)change;
  CHECK_OK(kvo_remove_observer(self->id));
  CHECK_EQ(self->destroyed, 0);
}

static void check_own_removal(const char *key_path) {
  item *object = item_make(0), *next = item_make(0);
  object->next = next;
  watcher w = {.then = remove_and_look};
  watch(object, key_path, KVO_NEW | KVO_OLD, &w);
  item_set_value(next, 1);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.destroyed, 1);
  CHECK(!w.destroyed_in_callback);
  item_destroy(object);
  item_destroy(next);
}

TEST("destroy runs after the callback that removed its own observation has returned") { check_own_removal("value"); }
TEST("destroy also runs after the callback for an observation of a key path") { check_own_removal("next.value"); }
TEST("destroy also runs after the callback for an observation of an affected key") { check_own_removal("doubled"); }

static void destroy_object(watcher *self, const kvo_change *change) {
  if (change->is_prior) return;
  item_destroy((item *)change->object);
  CHECK_EQ(self->destroyed, 0);
}

static void check_own_death(const char *key_path) {
  item *object = item_make(0), *next = item_make(0);
  object->next = next;
  watcher before = {0}, w = {.then = destroy_object}, after = {0};
  watch(object, key_path, KVO_ENDS_WITH_OBJECT | KVO_NEW | KVO_OLD, &before);
  watch(object, key_path, KVO_ENDS_WITH_OBJECT | KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  watch(object, key_path, KVO_ENDS_WITH_OBJECT | KVO_NEW | KVO_OLD, &after);
  if (strchr(key_path, '.') != NULL)
    item_set_value(next, 1);
  else
    item_set_value(object, 1);
  CHECK_EQ(after.calls, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(before.calls, 0); /* otherwise it would get a dead object */
  CHECK_EQ(after.destroyed, 1);
  CHECK_EQ(w.destroyed, 1);
  CHECK(!w.destroyed_in_callback);
  CHECK_EQ(before.destroyed, 1);
  CHECK_STATUS(kvo_cancel_observer(before.id), KVO_ERROR_NOT_REGISTERED);
  item_destroy(next);
}

TEST("an object may be destroyed in a callback of its own change: the remaining observers are not notified") {
  check_own_death("value");
}
TEST("the root object of a key path may be destroyed in a callback of that path") { check_own_death("next.value"); }

/* ---------------------------------------------------------------------------------------- Ends that are no good ends -- */

static void destroy_before(watcher *self, const kvo_change *change) {
  if (change->is_prior) kvo_object_destroy(self->then_arg);
}

static void check_death_before(const char *key_path) {
  item *object = item_make(0), *next = item_make(0);
  bool is_path = strchr(key_path, '.') != NULL;
  item *changes = is_path ? next : object;
  object->next = next;
  watcher w = {.then = destroy_before, .then_arg = changes};
  watch(object, key_path, KVO_PRIOR, &w);
  ignore_faults();
  item_set_value(changes, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ(faults.code, KVO_FAULT_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, "is ended in a callback before a change of its \"value\"");
  CHECK_CONTAINS(faults.file, "lifetimes.c");
  CHECK_EQ(changes->value, 1); /* it is alive */
  CHECK_CONTAINS(faults.report, "\n  the setter has not yet stored the value\n");
  CHECK_EQ(w.calls, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
  item_destroy(next);
  CHECK_EQ(faults.count, 1);
}

TEST_REPORTED("an object destroyed in a callback before its change is reported, and is not destroyed") {
  check_death_before("value");
}
TEST_REPORTED("the same holds for an object on a key path") { check_death_before("next.value"); }

static void change_again_before(watcher *self, const kvo_change *change) {
  if (change->is_prior && self->then_arg != NULL) {
    item *other = self->then_arg;
    self->then_arg = NULL;
    item_set_value(other, 2);
  }
}

TEST("an object other than the changing one may be destroyed in a callback before a change") {
  item *object = item_make(0), *other = item_make(0);
  watcher w = {.then = destroy_before, .then_arg = other}, of_other = {0};
  watch(object, "value", KVO_PRIOR, &w);
  watch(other, "value", KVO_ENDS_WITH_OBJECT, &of_other);
  item_set_value(object, 1);
  kvo_cancel_observer(w.id);
  watcher again = {.then = change_again_before, .then_arg = object};
  watch(object, "value", KVO_PRIOR, &again);
  item_set_value(object, 1); /* and nested changes end */
  kvo_cancel_observer(again.id);
  item_destroy(object);
}

TEST_REPORTED("a header that is not that of an object is reported, and not dereferenced") {
  static const uintptr_t words[] = {1, 2, 7, 0xffff, 0x55555555a2, 0x7fffffffffff, 0xdeadbeefdeadbeef, UINTPTR_MAX};
  item *observed = item_make(0);
  watcher w = {0};
  watch(observed, "value", KVO_NONE, &w);
  ignore_faults();
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    kvo_object garbage[8] = {{words[i]}};
    faults.count = 0;
    kvo_object_destroy(garbage);
    CHECK_EQ(faults.count, 1);
    CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
    CHECK_CONTAINS(faults.file, "lifetimes.c");
    kvo_object_finish(garbage);
    CHECK_EQ(faults.count, 2);
  }
  kvo_cancel_observer(w.id);
  item_destroy(observed);
}

TEST_REPORTED(
    "a copy of an observed object is not an object, and destroying it does not end the original's observations") {
  item *object = item_make(0), copy;
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  memcpy(&copy, object, sizeof copy);
  ignore_faults();
  kvo_object_finish(as_object(&copy));
  CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  kvo_cancel_observer(w.id);
  item_destroy(object);
}

static void destroy_itself(kvo_object *object) { kvo_object_destroy(object); }

TEST_REPORTED("an object whose finalize destroys it is reported, and one that is finished twice is ignored") {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Restless", .instance_size = sizeof(kvo_object), .finalize = destroy_itself};
  kvo_class *cls;
  kvo_object *object, own;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  ignore_faults();
  kvo_object_destroy(object);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "it is being destroyed already");
  CHECK_OK(kvo_object_init(&own, cls));
  kvo_object_finish(&own);
  kvo_object_finish(&own); /* the header is zero: nothing to finish */
  CHECK_EQ(faults.count, 1);
}

TEST_REPORTED("an object that is destroyed twice is reported, unless its memory is another object by then") {
  if (harness_is_instrumented()) return; /* they report the read */
  ignore_faults();
  for (int observed = 0; observed < 2; observed++) {
    item *object = item_make(0), *keep = item_make(1);
    watcher w = {0};
    if (observed != 0) {
      watch(object, "value", KVO_NONE, &w);
      kvo_cancel_observer(w.id);
    }
    item *volatile hidden = object;
    faults.count = 0;
    kvo_object_destroy(as_object(object));
    kvo_object_destroy(as_object(hidden));
    CHECK_EQ(faults.count, 1);
    CHECK_EQ(faults.code, KVO_FAULT_UNSUPPORTED_OBJECT);
    item_destroy(keep);
  }
}

TEST_REPORTED(
    "memory reused without kvo_object_finish is reported with the observation that was registered, not with another") {
  static item near; /* static, so that this does not read freed memory */
  item *root = item_make(0);
  CHECK_OK(kvo_object_init(as_object(&near), item_class()));
  root->next = &near;
  watcher w = {0};
  watch(root, "next.value", KVO_NONE, &w);
  memset(&near, 0, sizeof near);
  root->next = NULL;
  ignore_faults();
  kvo_cancel_observer(w.id);
  CHECK_EQ(faults.code, KVO_FAULT_OVERWRITTEN_HEADER);
  CHECK_EQ(faults.first.observation, w.id);
  CHECK_EQ((const char *)faults.first_key_path, "next.value");
  CHECK_CONTAINS(faults.first_file, "fixture.c");
  char part[64];
  snprintf(part, sizeof part, "the header of Item@%p was", (void *)&near);
  CHECK_CONTAINS(faults.summary, part);
  item_destroy(root);
}

TEST("an observation that ends with its object ends without a fault, and its user data is destroyed once") {
  ignore_faults();
  item *object = item_make(0);
  watcher direct = {0}, path = {0};
  watch(object, "value", KVO_ENDS_WITH_OBJECT, &direct);
  watch(object, "next.value", KVO_ENDS_WITH_OBJECT, &path);
  item_destroy(object);
  CHECK_EQ(faults.count, 0);
  CHECK_EQ(direct.destroyed, 1);
  CHECK_EQ(path.destroyed, 1);
  CHECK_EQ(direct.calls + path.calls, 0);
  CHECK_STATUS(kvo_cancel_observer(direct.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_cancel_observer(path.id), KVO_ERROR_NOT_REGISTERED);
}

TEST_REPORTED(
    "if the process goes on after an object died while observed, memory is safe and the user data destroyed") {
  ignore_faults();
  item *object = item_make(0);
  watcher direct = {0}, path = {0};
  watch(object, "value", KVO_NONE, &direct);
  watch(object, "next.value", KVO_NONE, &path);
  item_destroy(object);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(faults.observation_count, 2);
  CHECK_EQ(direct.destroyed, 1);
  CHECK_EQ(path.destroyed, 1);
}

TEST("user data is not destroyed when the registration fails") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer bad = watcher_observer("next..value", KVO_NONE, &w),
               undefined = watcher_observer("imaginary.value", KVO_NONE, &w);
  CHECK_STATUS(kvo_add_observer(as_object(object), &bad, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_STATUS(kvo_add_observer(as_object(object), &undefined, NULL), KVO_ERROR_UNDEFINED_KEY);
  CHECK_EQ(w.destroyed, 0);
  CHECK_EQ(w.calls, 0);
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------ Objects on the way -- */

TEST("the death of an intermediate object is a change to nil, and notifies once") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_destroy(leaf);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 5);
  CHECK(w.new_value.told && w.new_value.nil);
  root->next = NULL;
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
}

TEST("after the death of an intermediate object a new one can be set, and the dead one's memory is not accessed") {
  item *root = item_make(0), *leaf = item_make(5), *fresh = item_make(6);
  root->next = leaf;
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, &w);
  item_destroy(leaf);
  item_set_next(root, fresh);
  CHECK_EQ(w.calls, 2);
  CHECK(w.old_value.nil);
  CHECK_EQ(w.new_value.integer, 6);
  item_set_value(fresh, 7);
  CHECK_EQ(w.calls, 3);
  CHECK_EQ(w.old_value.integer, 6);
  CHECK_EQ(w.new_value.integer, 7);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(fresh);
}

TEST("the same holds in the middle of a longer path") {
  item *root = item_make(0), *middle = item_make(1), *leaf = item_make(2), *fresh = item_make(3);
  root->next = middle;
  middle->next = leaf;
  watcher w = {0};
  watch(root, "next.next.value", KVO_NEW | KVO_OLD, &w);
  item_destroy(middle);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 2);
  item_set_value(leaf, 20); /* no longer on the path */
  CHECK_EQ(w.calls, 1);
  fresh->next = leaf;
  item_set_next(root, fresh);
  CHECK_EQ(w.calls, 2);
  CHECK(w.old_value.nil);
  CHECK_EQ(w.new_value.integer, 20);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(root);
  item_destroy(leaf);
  item_destroy(fresh);
}

static void set_next_destroying(item *of, item *next) {
  item *before = of->next;
  of->next = next;
  if (before != NULL) item_destroy(before); /* like a setter that owns its value */
}
static item *get_next(const item *of) { return of->next; }

TEST("an intermediate object that dies because it is replaced is part of that one change") {
  kvo_property_spec property = {
      .name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next_destroying};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Owner",
                         .instance_size = sizeof(item),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  item *root = (item *)made, *fresh = item_make(6);
  root->next = item_make(5);
  watcher w = {0};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &w);
  item_set_next(root, fresh);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.old_value.integer, 5);
  CHECK_EQ(w.new_value.integer, 6);
  item_set_value(fresh, 7);
  CHECK_EQ(w.calls, 2);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(made);
  item_destroy(fresh);
}

TEST("an object at the address of a dead one inherits none of its observations") {
  item memory;
  watcher first = {0}, second = {0}, path = {0};
  item *root = item_make(0);
  memset(&memory, 0, sizeof memory);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  root->next = &memory;
  watch(&memory, "value", KVO_ENDS_WITH_OBJECT, &first);
  watch(root, "next.value", KVO_NONE, &path);
  kvo_object_finish(as_object(&memory));
  CHECK_EQ(path.calls, 1);
  CHECK_OK(kvo_object_init(as_object(&memory), item_class()));
  CHECK(!kvo_object_is_observed(as_object(&memory)));
  item_set_value(&memory, 1);
  watch(&memory, "value", KVO_NONE, &second);
  item_set_value(&memory, 2);
  CHECK_EQ(first.calls, 0);
  CHECK_EQ(path.calls, 1);
  CHECK_EQ(second.calls, 1);
  CHECK_STATUS(kvo_cancel_observer(first.id), KVO_ERROR_NOT_REGISTERED);
  CHECK_OK(kvo_remove_observer(second.id));
  CHECK_OK(kvo_remove_observer(path.id));
  kvo_object_finish(as_object(&memory));
  item_destroy(root);
}

static void destroy_root(watcher *self, const kvo_change *change) {
  (void)change;
  item_destroy(self->then_arg);
}

TEST("the notification of an intermediate object's death may destroy the root object") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher w = {.then = destroy_root, .then_arg = root};
  watch(root, "next.value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(leaf);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.destroyed, 1);
  CHECK(!w.destroyed_in_callback);
}

static void destroy_given(watcher *self, const kvo_change *change) {
  (void)change;
  self->then = NULL;
  item_destroy(self->then_arg);
}

TEST("an intermediate object that dies in a callback of its own change is delivered as nil") {
  item *root = item_make(0), *leaf = item_make(5);
  root->next = leaf;
  watcher path = {0}, w = {.then = destroy_given, .then_arg = leaf};
  watch(root, "next.value", KVO_NEW | KVO_OLD, &path);
  watch(leaf, "value", KVO_ENDS_WITH_OBJECT, &w); /* newer, so it runs first */
  item_set_value(leaf, 6);
  CHECK_EQ(path.calls, 1);
  CHECK(path.new_value.told && path.new_value.nil);
  item_set_next(root, NULL);
  CHECK_EQ(path.calls, 2);
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
}

TEST("an object that was just put on the path and dies in a later callback of that change is delivered as nil") {
  item *root = item_make(0), *fresh = item_make(5);
  watcher w = {.then = destroy_given, .then_arg = fresh}, path = {0};
  watch(root, "next", KVO_NONE, &w);
  watch(root, "next.value", KVO_NEW | KVO_OLD, &path); /* newer, so it runs first */
  item_set_next(root, fresh);
  CHECK_EQ(path.calls, 2);
  CHECK_EQ(path.old_value.integer, 5);
  CHECK(path.new_value.told && path.new_value.nil);
  item_set_next(root, NULL);
  CHECK_EQ(path.calls, 3);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(root);
}

/* ------------------------------------------------------------------------------------------------------------ Growth -- */

static void short_lives(int count) {
  item *leaf = item_make(0);
  for (int i = 0; i < count; i++) {
    item *object = item_make(0);
    watcher direct = {0}, path = {0};
    object->next = leaf;
    watch(object, "value", KVO_NEW | KVO_OLD, &direct);
    watch(object, "next.value", KVO_NEW | KVO_ENDS_WITH_OBJECT, &path);
    item_set_value(object, i);
    item_set_value(leaf, i);
    CHECK_EQ(direct.calls, 1);
    CHECK_EQ(path.calls, 1);
    CHECK_OK(kvo_remove_observer(direct.id));
    item_destroy(object);
    CHECK_EQ(path.destroyed, 1);
  }
  CHECK(!kvo_object_is_observed(as_object(leaf)));
  item_destroy(leaf);
}

TEST("100 000 short-lived observed objects leave no memory behind") {
  use_counting_allocator();
  short_lives(10);
  long blocks = live_blocks;
  struct mallinfo2 before = mallinfo2();
  short_lives(harness_is_instrumented() ? 2000 : 100000);
  struct mallinfo2 after = mallinfo2();
  CHECK_EQ((long)live_blocks, blocks);
  if (!harness_is_instrumented()) CHECK(after.uordblks <= before.uordblks + 4096);
}

TEST("one object that is observed and changed 100 000 times leaves no memory behind") {
  use_counting_allocator();
  item *object = item_make(0), *one = item_make(1), *two = item_make(2);
  watcher path = {0}, w = {0};
  watch(object, "next.value", KVO_NEW | KVO_OLD, &path);
  item_set_next(object, one);
  item_set_next(object, two);
  long blocks = live_blocks;
  int rounds = harness_is_instrumented() ? 1000 : 50000;
  for (int i = 0; i < rounds; i++) {
    watch(object, "value", KVO_NONE, &w);
    item_set_next(object, one);
    item_set_next(object, two);
    CHECK_OK(kvo_remove_observer(w.id));
  }
  CHECK_EQ((long)live_blocks, blocks + 1); /* the slot of "value" */
  CHECK_EQ(path.calls, 2 * rounds + 2);
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(object);
  item_destroy(one);
  item_destroy(two);
}

enum { CROWD = 20000 };
static item *crowd[2][CROWD];

static void *read_crowd(void *user_data) {
  item **members = crowd[*(int *)user_data];
  for (int i = 0; i < CROWD; i++) kvo_track_read(as_object(members[i]), kvo_key_hash("value", 5));
  return NULL;
}

static void release_nothing(void *value, void *user_data) { (void)value, (void)user_data; }
static void note_nothing(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("an expression that changes from 20 000 objects to 20 000 others does so in time proportional to their number") {
  for (int i = 0; i < 2 * CROWD; i++) crowd[i / CROWD][i % CROWD] = item_make(i);
  item *root = item_make(0);
  int which = 0;
  static const kvo_observer_ops ops = {note_nothing, NULL, NULL, read_crowd, release_nothing, NULL};
  kvo_binding_observer described = {.key_path = "crowd", .ops = &ops, .user_data = &which};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(root), &described, false, &id));
  which = 1;
  clock_t start = clock();
  item_set_value(crowd[0][0], 1);
  double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  CHECK(!kvo_object_is_observed(as_object(crowd[0][CROWD - 1])));
  CHECK(kvo_object_is_observed(as_object(crowd[1][CROWD - 1])));
  if (!harness_is_instrumented()) CHECK(seconds < 1); /* quadratic time would be 4 s */
  CHECK_OK(kvo_remove_observer(id));
  for (int i = 0; i < 2 * CROWD; i++) item_destroy(crowd[i / CROWD][i % CROWD]);
  item_destroy(root);
}
