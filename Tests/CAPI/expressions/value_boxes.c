/* value_boxes.c - the values of a path that is evaluated, which are copies: whole, with the type of the property, whatever its length. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 24 };

/* A structure with a number, under a name of any length. */
typedef struct holder {
  kvo_object header;
  struct {
    long long number;
  } any;
} holder;

static char types[LONGEST + 1][LONGEST + 8], names[LONGEST + 1][32];

static kvo_class *class_with(int length) {
  kvo_class *cls;
  snprintf(names[length], sizeof names[length], "Holder%d", length);
  memset(types[length], 'n', sizeof types[length]);
  types[length][0] = '{';
  snprintf(types[length] + 1 + length, 4, "=q}");
  kvo_property_spec any = {
      .name = "any", .type = types[length], .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(holder, any)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = names[length],
                         .instance_size = sizeof(holder),
                         .properties = &any,
                         .property_count = 1};
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

static holder *holder_make(kvo_class *cls, long long number) {
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  ((holder *)(void *)made)->any.number = number;
  return (holder *)(void *)made;
}

static int checked;
static const char *expected_type;

static void check_value(const kvo_value *value, long long number) {
  CHECK(value != NULL && value->bytes != NULL);
  CHECK_EQ(value->type, expected_type);
  CHECK_EQ(value->size, sizeof number);
  CHECK((uintptr_t)value->bytes % _Alignof(long long) == 0);
  CHECK_BYTES(value->bytes, &number, sizeof number);
}

static void check_change(const kvo_change *change, void *user_data) {
  (void)user_data;
  check_value(change->old_value, 0x0102030405060708);
  check_value(change->new_value, -2);
  checked++;
}

TEST("the old and the new value of a path have the type of the property, whatever its length") {
  for (int length = 1; length <= LONGEST; length++) {
    kvo_class *cls = class_with(length);
    item *root = item_make(0);
    holder *first = holder_make(cls, 0x0102030405060708), *second = holder_make(cls, -2);
    root->next = (item *)(void *)first;
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "next.any",
                             .options = (kvo_options)(KVO_OLD | KVO_NEW),
                             .callback = check_change,
                             KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_add_observer(as_object(root), &observer, &id));
    expected_type = types[length];
    item_set_next(root, (item *)(void *)second);
    CHECK_EQ(checked, length);
    CHECK_OK(kvo_remove_observer(id));
    kvo_object_destroy(&first->header);
    kvo_object_destroy(&second->header);
    item_destroy(root);
  }
}
