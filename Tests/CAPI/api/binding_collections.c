/* binding_collections.c - lists and sets of a binding, which kvo_list_… and kvo_members_… read through its operations. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

/* What all keys of the class have: "list" ([i]), "set" (<i>) and "any" (?). */
static kvo_value given;
static bool is_unreadable;
static int copies;

static void *copy(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  if (is_unreadable) return NULL;
  copies++;
  return malloc(1);
}
static void release(void *value, void *user) {
  (void)user;
  copies--;
  free(value);
}
static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)value, (void)user;
  reader(&given, arg);
}
static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

static size_t refused_position = SIZE_MAX;
static kvo_status element(const kvo_collection *self, size_t position, kvo_value_reader reader, void *arg) {
  int number = 10 * (int)position;
  if (position == refused_position) return KVO_ERROR_BUSY;
  CHECK(position < self->count);
  reader(&(kvo_value){"i", sizeof number, &number}, arg);
  return KVO_OK;
}

static kvo_object *bound(void) {
  static const kvo_value_ops ops = {copy, release, view, assign, NULL};
  static kvo_object object;
  const kvo_binding_property properties[] = {{.name = "list", .type = "[i]", .ops = &ops},
                                             {.name = "set", .type = "<i>", .ops = &ops},
                                             {.name = "any", .type = "?", .ops = &ops}};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, properties, 3, &cls));
  CHECK_OK(kvo_object_init(&object, cls));
  return &object;
}

static void add_up(const kvo_value *value, void *arg) { *(int *)arg += *(const int *)value->bytes + 1; }

static const kvo_collection three = {sizeof three, 3, element};
static size_t count;
static int sum;

TEST("a list of a binding is counted, and its elements are read") {
  kvo_object *object = bound();
  static const char *const keys[] = {"list", "any"};
  given = (kvo_value){"[i]", sizeof three, &three};
  for (int i = 0; i < 2; i++) {
    sum = 0;
    CHECK_OK(kvo_list_count(object, keys[i], &count));
    CHECK_EQ(count, 3);
    CHECK_OK(kvo_list_get(object, keys[i], 2, add_up, &sum));
    CHECK_EQ(sum, 21);
    CHECK_STATUS(kvo_list_get(object, keys[i], 3, add_up, &sum), KVO_ERROR_OUT_OF_RANGE);
    CHECK_EQ(sum, 21);
  }
  CHECK_EQ(copies, 0);
  kvo_object_finish(object);
}

TEST("a set of a binding is counted, and its members are enumerated until one cannot be read") {
  kvo_object *object = bound();
  static const char *const keys[] = {"set", "any"};
  given = (kvo_value){"<i>", sizeof three, &three};
  for (int i = 0; i < 2; i++) {
    sum = 0;
    refused_position = SIZE_MAX;
    CHECK_OK(kvo_members_count(object, keys[i], &count));
    CHECK_EQ(count, 3);
    CHECK_OK(kvo_members_for_each(object, keys[i], add_up, &sum));
    CHECK_EQ(sum, 33);
    refused_position = 1;
    CHECK_STATUS(kvo_members_for_each(object, keys[i], add_up, &sum), KVO_ERROR_BUSY);
    CHECK_EQ(sum, 34);
  }
  CHECK_EQ(copies, 0);
  kvo_object_finish(object);
}

TEST("nil is an empty list, and an empty set") {
  kvo_object *object = bound();
  given = (kvo_value){"[i]", sizeof three, NULL};
  CHECK_OK(kvo_list_count(object, "list", &count));
  CHECK_EQ(count, 0);
  CHECK_STATUS(kvo_list_get(object, "list", 0, add_up, &sum), KVO_ERROR_OUT_OF_RANGE);
  given.type = "<i>";
  count = 1;
  CHECK_OK(kvo_members_count(object, "set", &count));
  CHECK_EQ(count, 0);
  CHECK_OK(kvo_members_for_each(object, "set", add_up, &sum));
  CHECK_EQ(sum, 0);
  kvo_object_finish(object);
}

TEST("a binding's list is no set, its set no list, another value neither, and none has mutating accessors") {
  kvo_object *object = bound();
  int number = 5;
  count = 77;
#define REFUSED(call) CHECK_STATUS(call, KVO_ERROR_TYPE_MISMATCH)
  REFUSED(kvo_list_count(object, "set", &count));
  REFUSED(kvo_list_get(object, "set", 0, add_up, &sum));
  REFUSED(kvo_members_count(object, "list", &count));
  REFUSED(kvo_members_for_each(object, "list", add_up, &sum));
  given = (kvo_value){"i", sizeof number, &number};
  REFUSED(kvo_list_count(object, "any", &count));
  REFUSED(kvo_list_get(object, "any", 0, add_up, &sum));
  REFUSED(kvo_members_count(object, "any", &count));
  REFUSED(kvo_members_for_each(object, "any", add_up, &sum));
  REFUSED(kvo_list_insert(object, "list", 0, &given));
  CHECK_CONTAINS(kvo_last_error(), "set the whole value with kvo_set_value");
  REFUSED(kvo_members_add(object, "set", &given));
  CHECK_CONTAINS(kvo_last_error(), "set the whole value with kvo_set_value");
  REFUSED(kvo_list_insert(object, "set", 0, &given));
  CHECK_CONTAINS(kvo_last_error(), "it is not a list");
  given.type = NULL;
  REFUSED(kvo_list_count(object, "any", &count));
  CHECK_EQ(count, 77);
  CHECK_EQ(sum, 0);
  CHECK_EQ(copies, 0);
  kvo_object_finish(object);
}

TEST("a binding's collection that cannot be copied has no getter") {
  kvo_object *object = bound();
  is_unreadable = true;
  CHECK_STATUS(kvo_list_count(object, "list", &count), KVO_ERROR_NO_GETTER);
  CHECK_STATUS(kvo_list_get(object, "list", 0, add_up, &sum), KVO_ERROR_NO_GETTER);
  CHECK_STATUS(kvo_members_count(object, "set", &count), KVO_ERROR_NO_GETTER);
  CHECK_STATUS(kvo_members_for_each(object, "set", add_up, &sum), KVO_ERROR_NO_GETTER);
  CHECK_CONTAINS(kvo_last_error(), "key 'set' of class 'Bound': the collection cannot be read");
  kvo_object_finish(object);
}
