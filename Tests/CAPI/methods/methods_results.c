/* methods_results.c - small results of hooked methods, and descriptions of more methods than there can be. */
#include "boxed.h"

#include <string.h>

static bool goes_on;
static void proceed_or_not(kvo_call *call, void *user_data) {
  (void)user_data;
  if (goes_on) CHECK_OK(kvo_call_proceed(call));
}

static unsigned char of_byte(const box *of) { return (unsigned char)(of->width + 0x50); }
static short of_short(const box *of) { return (short)(of->width + 0x5050); }
static bool of_bool(const box *of) { return of->width != 0; }

TEST("a result of one or two bytes is zero until the function or a hook has set it") {
  const kvo_method_spec methods[] = {{.name = "byte", .type = "C@", .function = (kvo_function)of_byte},
                                     {.name = "short", .type = "s@", .function = (kvo_function)of_short},
                                     {.name = "bool", .type = "B@", .function = (kvo_function)of_bool}};
  CHECK_OK(kvo_class_add_methods(box_class(), methods, 3, sizeof *methods));
  kvo_object *object = box_make(2, 3);
  for (int i = 0; i < 3; i++) add(object, NULL, methods[i].name, KVO_HOOK_INSTEAD, 0, proceed_or_not, "");
  unsigned char (*byte_of)(kvo_object *) = (unsigned char (*)(kvo_object *))kvo_object_method(object, "byte");
  short (*short_of)(kvo_object *) = (short (*)(kvo_object *))kvo_object_method(object, "short");
  bool (*bool_of)(kvo_object *) = (bool (*)(kvo_object *))kvo_object_method(object, "bool");
  unsigned char bytes[2], called[2];
  short shorts[2];
  bool bools[2];
  kvo_status statuses[2];
  for (int i = 0; i < 2; i++) { /* the second calls find on the stack what the first ones have left there */
    goes_on = i == 0;
    bytes[i] = byte_of(object);
  }
  for (int i = 0; i < 2; i++) {
    goes_on = i == 0;
    shorts[i] = short_of(object);
  }
  for (int i = 0; i < 2; i++) {
    goes_on = i == 0;
    bools[i] = bool_of(object);
  }
  for (int i = 0; i < 2; i++) {
    goes_on = i == 0;
    statuses[i] = kvo_object_call(object, "byte", NULL, &called[i]);
  }
  CHECK_EQ(bytes[0], 0x52);
  CHECK_EQ(bytes[1], 0);
  CHECK_EQ(shorts[0], 0x5052);
  CHECK_EQ(shorts[1], 0);
  CHECK(bools[0]);
  CHECK(!bools[1]);
  for (int i = 0; i < 2; i++) CHECK_OK(statuses[i]);
  CHECK_EQ(called[0], 0x52);
  CHECK_EQ(called[1], 0);
  kvo_object_destroy(object);
}

static void see_no_result(kvo_call *call, void *user_data) {
  say(user_data);
  CHECK_EQ(call->result_type, "v");
  CHECK_EQ(call->result_size, 0);
}

TEST("the result of a caller that wants none is left alone") {
  kvo_object *object = box_make(2, 3);
  const char *name = "box";
  unsigned char bytes[16], expected[16];
  memset(bytes, 0xee, sizeof bytes);
  memset(expected, 0xee, sizeof expected);
  for (int hooked = 0; hooked < 2; hooked++) {
    if (hooked) add(object, NULL, "rename", KVO_HOOK_AFTER, 0, see_no_result, "a");
    CHECK_OK(kvo_object_call(object, "rename", (void *[]){&name}, bytes));
    CHECK_BYTES(bytes, expected, sizeof bytes);
    CHECK_OK(kvo_object_call(object, "rename", (void *[]){&name}, NULL));
    CHECK_EQ((const char *)((box *)object)->name, "box");
  }
  CHECK_EQ(log_text, "aa");
  kvo_object_destroy(object);
}

TEST("more methods than memory can hold are refused before any is read") {
  const kvo_method_spec method = {.name = "more", .type = "v@", .function = (kvo_function)of_bool};
  const size_t counts[] = {SIZE_MAX / sizeof(void *), SIZE_MAX / sizeof(void *) + 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    CHECK_STATUS(kvo_class_add_methods(box_class(), &method, counts[i], sizeof method), KVO_ERROR_INVALID_ARGUMENT);
    CHECK_EQ(kvo_last_error(), "kvo_class_add_methods: there are too many methods");
  }
  kvo_object *object = box_make(1, 1);
  CHECK(kvo_object_method(object, "more") == NULL);
  kvo_object_destroy(object);
}
