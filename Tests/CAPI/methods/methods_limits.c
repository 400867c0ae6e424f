/* methods_limits.c - methods and hooks: the largest results and the most parameters, many hooks, lack of memory, and what is refused. */
#include "allocator.h"
#include "boxed.h"
#include "steps.h"

#include <stdio.h>
#include <string.h>

typedef struct large {
  char bytes[256];
} large;
static large fill(const box *of, char with) {
  large made;
  memset(&made, with, sizeof made);
  made.bytes[255] = (char)of->width;
  return made;
}
static int add_all(const box *of, int a, long b, short c, char d, double e, float f, int g, int h, int i, int j, int k,
                   const char *l) {
  return of->width + a + (int)b + c + d + (int)e + (int)f + g + h + i + j + k + (int)strlen(l);
}
static unsigned char narrow(const box *of, bool whether) { return (unsigned char)(of->width + whether); }

TEST("a result of 256 bytes, 12 parameters, and results smaller than a register are passed on") {
  const kvo_method_spec methods[] = {
      {.name = "fill", .type = "{large=[256c]}@c", .function = (kvo_function)fill},
      {.name = "add", .type = "i@ilscdfiiiii*", .function = (kvo_function)add_all},
      {.name = "narrow", .type = "C@B", .function = (kvo_function)narrow},
  };
  CHECK_OK(kvo_class_add_methods(box_class(), methods, 3, sizeof *methods));
  kvo_object *object = box_make(2, 4);
  for (int hooked = 0; hooked < 2; hooked++) {
    for (int i = 0; hooked && i < 3; i++) add(object, NULL, methods[i].name, KVO_HOOK_BEFORE, 0, letter, "x");
    large made = ((large(*)(kvo_object *, char))kvo_object_method(object, "fill"))(object, 'a');
    CHECK_EQ(made.bytes[0], 'a');
    CHECK_EQ(made.bytes[254], 'a');
    CHECK_EQ(made.bytes[255], 2);
    int (*sum)(kvo_object *, int, long, short, char, double, float, int, int, int, int, int, const char *) =
        (int (*)(kvo_object *, int, long, short, char, double, float, int, int, int, int, int,
                 const char *))kvo_object_method(object, "add");
    CHECK_EQ(sum(object, 1, 20, 300, 4, 5000, 6, 70000, 8, 9, 10, 11, "abc"), 75374);
    CHECK_EQ(((unsigned char (*)(kvo_object *, bool))kvo_object_method(object, "narrow"))(object, true), 3);
    struct {
      unsigned char result, after[7];
    } room = {.after = {9, 9, 9, 9, 9, 9, 9}};
    bool whether = false;
    ((box *)object)->width = 200;
    CHECK_OK(kvo_object_call(object, "narrow", (void *[]){&whether}, &room.result));
    CHECK_EQ(room.result, 200);
    for (int i = 0; i < 7; i++) CHECK_EQ(room.after[i], 9);
    ((box *)object)->width = 2;
  }
  CHECK_EQ(log_text, "xxxx");
  kvo_object_destroy(object);
}

static void expect_in_turn(kvo_call *call, void *user_data) {
  (void)call;
  char digits[16];
  snprintf(digits, sizeof digits, "%d ", *(int *)user_data);
  say(digits);
}

TEST("many hooks run by order and by registration, whatever was removed between") {
  enum { COUNT = 60 };
  static int numbers[COUNT];
  kvo_object *object = box_make(2, 3);
  kvo_hook hooks[COUNT];
  bool live[COUNT];
  for (int i = 0; i < COUNT; i++) {
    numbers[i] = i;
    hooks[i] = add(object, NULL, "area", KVO_HOOK_BEFORE, i * 7 % 5 - 2, expect_in_turn, (char *)&numbers[i]);
    live[i] = true;
    int gone = i * 11 % (i + 1);
    if (i % 3 != 2) continue;
    CHECK_STATUS(kvo_hook_remove(hooks[gone]), live[gone] ? KVO_OK : KVO_ERROR_NOT_REGISTERED);
    live[gone] = false;
  }
  for (int rest = COUNT; rest-- > 0;) {
    char expected[256] = "", one[16];
    for (int order = -2; order <= 2; order++)
      for (int i = 0; i < COUNT; i++)
        if (live[i] && i * 7 % 5 - 2 == order && strlen(expected) < 200) {
          snprintf(one, sizeof one, "%d ", i);
          strcat(expected, one);
        }
    log_text[0] = '\0';
    CHECK_EQ(call_area(object, 1), 6);
    if (strlen(expected) < 200)
      CHECK_EQ(log_text, strcat(expected, "f"));
    else
      CHECK(strncmp(log_text, expected, 200) == 0);
    int next = rest * 37 % COUNT;
    CHECK_STATUS(kvo_hook_remove(hooks[next]), live[next] ? KVO_OK : KVO_ERROR_NOT_REGISTERED);
    live[next] = false;
  }
  CHECK_EQ(destroyed, COUNT);
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
  kvo_object_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------------- Cost -- */

static kvo_object *measured_box;
static const char *measured_method;
static void **measured_arguments;

static void call_measured(void *arg) {
  union {
    int integer;
    double real;
    void *pointer;
  } result;
  measured_box = box_of(arg, 2, 3);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_object_call(measured_box, measured_method, measured_arguments, &result));
  steps_begin();
  kvo_object_call(measured_box, measured_method, measured_arguments, &result);
  steps_end();
}

static long usual_none(kvo_object *of) { return ((box *)of)->width; }
static long usual_one(kvo_object *of, long one) { return ((box *)of)->width + one; }
static double usual_real(kvo_object *of, double one) { return ((box *)of)->width + one; }
static long usual_two(kvo_object *of, long one, long two) { return ((box *)of)->width + one + two; }

TEST("methods with at most two usual parameters are called without libffi, which takes longer") {
  static const struct {
    const char *type, *parameters;
  } usual[] = {{"^v@", ""},    {"i@", ""},   {"i@i", "i"},     {"v@q", "q"},    {"^v@*", "*"},
               {"i@ii", "ii"}, {"d@d", "d"}, {"^v@i^v", "i^"}, {"v@^v*", "^*"}, {"i@di", "di"}};
  int integer = 1;
  void *pointer = NULL;
  long long word = 2;
  double real = 3;
  if (harness_is_instrumented()) return;
  if (sizeof(void *) < 8) harness_skip("libffi passes all arguments on the stack there, in few instructions");
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    const char *type = usual[i].type;
    const size_t count = strlen(usual[i].parameters);
    const kvo_function function = strchr(type, 'd') != NULL ? (kvo_function)usual_real
                                  : count == 0              ? (kvo_function)usual_none
                                  : count == 1              ? (kvo_function)usual_one
                                                            : (kvo_function)usual_two;
    char name[16], slow[16];
    snprintf(name, sizeof name, "usual%zu", i);
    snprintf(slow, sizeof slow, "slow%zu", i);
    const kvo_method_spec methods[] = {
        {.name = name, .type = type, .function = function},
        {.name = slow, .type = type, .function = function, .flags = KVO_METHOD_WITH_USER, .user = NULL}};
    CHECK_OK(kvo_class_add_methods(box_class(), methods, 2, sizeof *methods));
    void *arguments[2];
    for (size_t k = 0; k < count; k++) {
      char code = usual[i].parameters[k];
      arguments[k] = code == 'i'   ? (void *)&integer
                     : code == 'q' ? (void *)&word
                     : code == 'd' ? (void *)&real
                                   : &pointer;
    }
    measured_arguments = arguments;
    measured_method = name;
    long direct = steps_of(call_measured, box_class());
    measured_method = slow;
    long by_libffi = steps_of(call_measured, box_class());
    if (direct < 0) harness_skip("processes cannot be traced");
    if (direct + 50 > by_libffi)
      harness_fail(__FILE__, __LINE__, "\"%s\": %ld instructions, and %ld with libffi", type, direct, by_libffi);
  }
}

/* ---------------------------------------------------------------------------------------------------------- Refusals -- */

static void check_refused(kvo_method_spec spec, kvo_status status, const char *text) {
  CHECK_STATUS(kvo_class_add_methods(box_class(), &spec, 1, sizeof spec), status);
  CHECK_CONTAINS(kvo_last_error(), text);
  CHECK_CONTAINS(kvo_last_error(), "of class 'Box'");
}

TEST("methods that cannot be called are refused, with the reason") {
  const kvo_function function = (kvo_function)area;
#define WRONG(name_, type_, status, text)                                                                              \
  check_refused((kvo_method_spec){.name = name_, .type = type_, .function = function}, status, text)
  WRONG("", "v@", KVO_ERROR_INVALID_ARGUMENT, "no name");
  WRONG(NULL, "v@", KVO_ERROR_INVALID_ARGUMENT, "no name");
  WRONG("x", NULL, KVO_ERROR_INVALID_ARGUMENT, "method 'x' of class 'Box': it has no type");
  WRONG("x", "", KVO_ERROR_BAD_TYPE_ENCODING, "too early");
  WRONG("x", "v", KVO_ERROR_UNSUPPORTED_SETTER, "the object");
  WRONG("x", "vi@", KVO_ERROR_UNSUPPORTED_SETTER, "the object");
  WRONG("x", "v@b3", KVO_ERROR_UNSUPPORTED_SETTER, "bit fields");
  WRONG("x", "v@!", KVO_ERROR_BAD_TYPE_ENCODING, "malformed");
  WRONG("x", "v@iiiiiiiiiiiii", KVO_ERROR_UNSUPPORTED_SETTER, "more than 12");
  WRONG("x", "{s=[257c]}@", KVO_ERROR_UNSUPPORTED_SETTER, "256 bytes");
  WRONG("area", "v@", KVO_ERROR_DUPLICATE_KEY, "has it already");
  const kvo_method_spec two[] = {{.name = "new", .type = "v@", .function = function},
                                 {.name = "area", .type = "v@", .function = function}};
  CHECK_STATUS(kvo_class_add_methods(box_class(), two, 2, sizeof *two), KVO_ERROR_DUPLICATE_KEY);
  kvo_object *object = box_make(1, 1);
  CHECK(kvo_object_method(object, "new") == NULL);
  kvo_object_destroy(object);
}

static kvo_hook removed_without_memory;
static void remove_without_memory(kvo_call *call, void *user_data) {
  (void)call;
  say(user_data);
  if (removed_without_memory == 0) return;
  fail_in = 1;
  CHECK_OK(kvo_hook_remove(removed_without_memory));
  fail_in = 0;
  removed_without_memory = 0;
}

static int other_area(const box *of, int scale, void *user) { return of->width * scale + (user != NULL); }

TEST("the methods of a class that comes and goes need no more memory, and are those of the last one") {
  use_counting_allocator();
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Crate", .instance_size = sizeof(box), .superclass = box_class()};
  const kvo_method_spec methods[] = {
      {.name = "run", .type = "i@i", .function = (kvo_function)area},
      {.name = "run", .type = "i@i", .function = (kvo_function)other_area, .flags = KVO_METHOD_WITH_USER},
      {.name = "run", .type = "l@i", .function = (kvo_function)area}};
  long before = 0;
  for (int i = 0; i < 20; i++) {
    kvo_class *crate;
    CHECK_OK(kvo_class_register(&spec, &crate));
    CHECK_OK(kvo_class_add_methods(crate, &methods[0], 1, sizeof *methods));
    kvo_object *object = box_of(crate, 2, 3);
    CHECK(kvo_object_method(object, "run") == (kvo_function)area);
    CHECK_OK(kvo_hook_remove(add(object, NULL, "run", KVO_HOOK_BEFORE, 0, letter, "a")));
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(crate));
    if (i == 1) before = live_blocks;
  }
  CHECK_EQ((long)live_blocks, before);
  for (int round = 0; round < 6; round++) { /* another signature is another method, and may also return */
    int i = 1 + round % 2;
    if (round == 2) before = live_blocks;
    kvo_class *crate;
    CHECK_OK(kvo_class_register(&spec, &crate));
    CHECK_OK(kvo_class_add_methods(crate, &methods[i], 1, sizeof *methods));
    kvo_object *object = box_of(crate, 2, 3);
    CHECK((kvo_object_method(object, "run") == (kvo_function)area) == (i == 2));
    int scale = 4;
    long result = 0;
    CHECK_OK(kvo_object_call(object, "run", (void *[]){&scale}, &result));
    CHECK_EQ((int)result, i == 1 ? 8 : 24);
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(crate));
  }
  CHECK_EQ((long)live_blocks, before);
}

TEST("without memory nothing is hooked, and nothing leaks") {
  use_counting_allocator();
  kvo_object *object = box_make(2, 3);
  kvo_hook first = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a"); /* makes what stays */
  CHECK_OK(kvo_hook_remove(first));
  destroyed = 0;
  long before = live_blocks;
  kvo_hook_spec spec = {.struct_size = sizeof spec,
                        .method = "area",
                        .when = KVO_HOOK_BEFORE,
                        .function = letter,
                        .user_data = "x",
                        .destroy = count_destroyed};
  for (int n = 1;; n++) {
    kvo_hook hook = 0;
    fail_in = n;
    kvo_status status = kvo_object_hook(object, &spec, &hook);
    fail_in = 0;
    if (status == KVO_OK) {
      CHECK_EQ(n, 4);
      CHECK_OK(kvo_hook_remove(hook));
      break;
    }
    CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
    CHECK_EQ(hook, 0);
    CHECK_EQ((long)live_blocks, before);
    check_area(object, "f");
  }
  CHECK_EQ(destroyed, 1);
  const kvo_method_spec more = {.name = "more", .type = "{size=ddd}@{size=ddd}*", .function = (kvo_function)measure};
  before = live_blocks;
  for (int n = 1;; n++) {
    fail_in = n;
    kvo_status status = kvo_class_add_methods(box_class(), &more, 1, sizeof more);
    fail_in = 0;
    if (status == KVO_OK) break;
    CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
    CHECK_EQ((long)live_blocks, before);
    CHECK(kvo_object_method(object, "more") == NULL);
  }
  const kvo_method_spec later = {.name = "later", .type = "v@i{size=ddd}", .function = (kvo_function)measure};
  const kvo_method_spec wrong[] = {later, {.name = "wrong", .type = "v@!", .function = (kvo_function)measure}};
  before = live_blocks;
  CHECK_STATUS(kvo_class_add_methods(box_class(), wrong, 2, sizeof *wrong), KVO_ERROR_BAD_TYPE_ENCODING);
  CHECK_EQ((long)live_blocks, before);
  /* A hook is removed even if there is no memory for the shorter chain. */
  kvo_hook hooks[] = {add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a"),
                      add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "b")};
  fail_in = 1;
  CHECK_OK(kvo_hook_remove(hooks[0]));
  fail_in = 0;
  check_area(object, "bf");
  removed_without_memory = add(object, NULL, "area", KVO_HOOK_AFTER, 0, letter, "c");
  add(object, NULL, "area", KVO_HOOK_BEFORE, 0, remove_without_memory, "r");
  kvo_hook last = add(object, NULL, "area", KVO_HOOK_AFTER, 1, letter, "d");
  check_area(object, "brfd");
  CHECK_OK(kvo_hook_remove(last));
  check_area(object, "brf");
  add(object, NULL, "area", KVO_HOOK_AFTER, 1, letter, "e");
  check_area(object, "brfe");
  kvo_object_destroy(object);
  CHECK_EQ(destroyed, 7);
}
