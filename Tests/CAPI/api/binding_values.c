/* binding_values.c - values of a binding: lists and sets, which kvo_list_… and kvo_members_… read through its operations, and what its
 * setter is given. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdio.h>
#include <stdlib.h>

/* What the keys "list" ([i]), "set" (<i>), "any" (?) and "real" (d) of the class have. */
static kvo_value given;
static bool is_unreadable;
static int copies;

static void *copy(void *instance, void *user, const kvo_selection *selection) {
  if (is_unreadable) return NULL;
  copies++;
  return malloc(1);
}
static void release(void *value, void *user) {
  copies--;
  free(value);
}
static void view(const void *value, void *user, kvo_value_reader reader, void *arg) { reader(&given, arg); }

/* What the setter was given. */
static struct {
  char type[16];
  bool is_nil;
  double number;
} assigned;
static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  snprintf(assigned.type, sizeof assigned.type, "%s", value->type);
  assigned.is_nil = value->bytes == NULL;
  if (!assigned.is_nil && value->type[0] != '*') CHECK_OK(kvo_value_double(value, &assigned.number));
  return KVO_OK;
}

/* The elements 0, 10 and 20. */
static size_t refused_position = SIZE_MAX;
static kvo_status element(const kvo_collection *self, size_t position, kvo_value_reader reader, void *arg) {
  if (position == refused_position) return KVO_ERROR_BUSY;
  CHECK(position < self->count);
  reader(KVO_VALUE(int, 10 * (int)position), arg);
  return KVO_OK;
}
static const kvo_collection three = {sizeof three, 3, element};

static kvo_object object;
static void begin(void) {
  static const kvo_value_ops ops = {copy, release, view, assign, NULL};
  const kvo_binding_property properties[] = {{.name = "list", .type = "[i]", .ops = &ops},
                                             {.name = "set", .type = "<i>", .ops = &ops},
                                             {.name = "any", .type = "?", .ops = &ops},
                                             {.name = "real", .type = "d", .ops = &ops}};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Bound", NULL, 0, properties, 4, &cls));
  CHECK_OK(kvo_object_init(&object, cls));
}
static void end(void) {
  CHECK_EQ(copies, 0);
  kvo_object_finish(&object);
}

static size_t count = 77;
static int sum;
static void add_up(const kvo_value *value, void *arg) { *(int *)arg += *(const int *)value->bytes + 1; }

static void check_list(const char *key) {
  sum = 0;
  given = (kvo_value){"[i]", sizeof three, &three};
  CHECK_OK(kvo_list_count(&object, key, &count));
  CHECK_EQ(count, 3);
  CHECK_OK(kvo_list_get(&object, key, 2, add_up, &sum));
  CHECK_STATUS(kvo_list_get(&object, key, 3, add_up, &sum), KVO_ERROR_OUT_OF_RANGE);
  CHECK_EQ(sum, 21);
}

static void check_set(const char *key) {
  sum = 0;
  given = (kvo_value){"<i>", sizeof three, &three};
  refused_position = SIZE_MAX;
  CHECK_OK(kvo_members_count(&object, key, &count));
  CHECK_EQ(count, 3);
  CHECK_OK(kvo_members_for_each(&object, key, add_up, &sum));
  CHECK_EQ(sum, 33);
  refused_position = 1;
  CHECK_STATUS(kvo_members_for_each(&object, key, add_up, &sum), KVO_ERROR_BUSY);
  CHECK_EQ(sum, 34);
}

TEST("lists and sets of a binding are counted, and their elements read until one cannot be; nil is empty") {
  begin();
  check_list("list");
  check_list("any");
  check_set("set");
  check_set("any");
  given = (kvo_value){"[i]", sizeof three, NULL};
  CHECK_OK(kvo_list_count(&object, "list", &count));
  CHECK_EQ(count, 0);
  CHECK_STATUS(kvo_list_get(&object, "list", 0, add_up, &sum), KVO_ERROR_OUT_OF_RANGE);
  given.type = "<i>";
  count = 1;
  CHECK_OK(kvo_members_count(&object, "set", &count));
  CHECK_EQ(count, 0);
  CHECK_OK(kvo_members_for_each(&object, "set", add_up, &sum));
  CHECK_EQ(sum, 34);
  end();
}

#define REFUSED(call, status, text)                                                                                    \
  do {                                                                                                                 \
    CHECK_STATUS(call, status);                                                                                        \
    CHECK_CONTAINS(kvo_last_error(), text);                                                                            \
  } while (0)

static void check_unreadable(const char *list, const char *set, kvo_status status, const char *text) {
  REFUSED(kvo_list_count(&object, list, &count), status, text);
  REFUSED(kvo_list_get(&object, list, 0, add_up, &sum), status, text);
  REFUSED(kvo_members_count(&object, set, &count), status, text);
  REFUSED(kvo_members_for_each(&object, set, add_up, &sum), status, text);
}

TEST("a binding's list is no set, its set no list, another value neither, and none has accessors that change it") {
  begin();
  check_unreadable("set", "list", KVO_ERROR_TYPE_MISMATCH, "it is not a ");
  given = *KVO_VALUE(int, 5);
  check_unreadable("any", "any", KVO_ERROR_TYPE_MISMATCH, "");
  REFUSED(kvo_list_insert(&object, "list", 0, &given), KVO_ERROR_TYPE_MISMATCH,
          "set the whole value with kvo_set_value");
  REFUSED(kvo_members_add(&object, "set", &given), KVO_ERROR_TYPE_MISMATCH, "set the whole value with kvo_set_value");
  REFUSED(kvo_list_insert(&object, "set", 0, &given), KVO_ERROR_TYPE_MISMATCH, "it is not a list");
  given.type = NULL;
  check_unreadable("any", "any", KVO_ERROR_TYPE_MISMATCH, "");
  is_unreadable = true;
  check_unreadable("list", "set", KVO_ERROR_NO_GETTER, "of class 'Bound': the collection cannot be read");
  CHECK_EQ(count, 77);
  CHECK_EQ(sum, 0);
  end();
}

TEST("a binding is given numbers in the type of its property, and what is no number as it is") {
  begin();
  CHECK_OK(kvo_set_int64(&object, "real", 7));
  CHECK_EQ((const char *)assigned.type, "d");
  CHECK_EQ(assigned.number, 7.0);
  CHECK_OK(kvo_set_string(&object, "real", "seven"));
  CHECK_EQ((const char *)assigned.type, "*");
  CHECK_OK(kvo_set_value(&object, "real", &(kvo_value){"q", sizeof(int64_t), NULL}));
  CHECK_EQ((const char *)assigned.type, "q");
  CHECK(assigned.is_nil);
  CHECK_OK(kvo_set_int64(&object, "any", 8));
  CHECK_EQ((const char *)assigned.type, "q");
  CHECK_EQ(assigned.number, 8.0);
  end();
}
