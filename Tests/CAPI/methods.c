/* methods.c - functions of classes that are called by name, and hooks before, instead of and after them. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_method.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef struct box {
  kvo_object header;
  int width, height;
  char name[16];
} box;

typedef struct size {
  double width, height, depth;
} size;

static char log_text[256];
static void say(const char *text) { strncat(log_text, text, sizeof log_text - strlen(log_text) - 1); }

static int area(const box *of, int scale) {
  say("f");
  return of->width * of->height * scale;
}
static signed char sign(const box *of, double value, const char *text) {
  (void)of, (void)text;
  return value < 0 ? -1 : 1;
}
static void rename_to(box *of, const char *name) { snprintf(of->name, sizeof of->name, "%s", name); }
static size measure(const box *of, size by) { return (size){of->width * by.width, of->height * by.height, by.depth}; }
static float ratio(const box *of) { return (float)of->width / (float)of->height; }
static long counted(kvo_object *object, long by, void *user) {
  (void)object;
  return *(long *)user += by;
}
static double mixed(const box *of, double first, const char *second) {
  return of->width + first + (double)strlen(second);
}
static int sum_of(const box *of, int first, int second) { return of->width + 10 * first + 100 * second; }
static int half_area(const box *of, int scale) { return area(of, scale) / 2; }

static long counter;

static kvo_class *box_class(void) {
  static kvo_class *cls;
  static const kvo_method_spec methods[] = {
      {.name = "area", .type = "i@i", .function = (kvo_function)area},
      {.name = "sign", .type = "c@d*", .function = (kvo_function)sign},
      {.name = "rename", .type = "v@*", .function = (kvo_function)rename_to},
      {.name = "measure", .type = "{size=ddd}@{size=ddd}", .function = (kvo_function)measure},
      {.name = "mixed", .type = "d@d*", .function = (kvo_function)mixed},
      {.name = "sum", .type = "i@ii", .function = (kvo_function)sum_of},
      {.name = "ratio", .type = "f@", .function = (kvo_function)ratio},
      {.name = "count",
       .type = "l@l",
       .function = (kvo_function)counted,
       .flags = KVO_METHOD_WITH_USER,
       .user = &counter}};
  if (cls != NULL) return cls;
  kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Box", .instance_size = sizeof(box)};
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_class_add_methods(cls, methods, sizeof methods / sizeof *methods, sizeof *methods));
  return cls;
}

static kvo_object *box_of(kvo_class *cls, int width, int height) {
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  ((box *)object)->width = width;
  ((box *)object)->height = height;
  return object;
}

static kvo_object *box_make(int width, int height) { return box_of(box_class(), width, height); }

static int call_area(kvo_object *object, int scale) {
  return ((int (*)(kvo_object *, int))kvo_object_method(object, "area"))(object, scale);
}

/* Hooks that write a letter: those before and after say it, those instead say it around what they call. */
static void letter(kvo_call *call, void *user_data) {
  (void)call;
  say(user_data);
}
static void around(kvo_call *call, void *user_data) {
  say(user_data);
  CHECK_OK(kvo_call_proceed(call));
  say(user_data);
}
static int destroyed;
static void count_destroyed(void *user_data) {
  (void)user_data;
  destroyed++;
}

static kvo_hook add(kvo_object *object, kvo_class *cls, const char *method, kvo_hook_when when, int order,
                    kvo_hook_function function, const char *text) {
  kvo_hook_spec spec = {.struct_size = sizeof spec,
                        .method = method,
                        .when = when,
                        .order = order,
                        .function = function,
                        .user_data = (void *)(uintptr_t)text,
                        .destroy = count_destroyed};
  kvo_hook hook = 0;
  CHECK_OK(object != NULL ? kvo_object_hook(object, &spec, &hook) : kvo_class_hook(cls, &spec, &hook));
  CHECK(hook != 0);
  return hook;
}

static void check_area(kvo_object *object, const char *expected) {
  log_text[0] = '\0';
  CHECK_EQ(call_area(object, 1), ((box *)object)->width * ((box *)object)->height);
  CHECK_EQ(log_text, expected);
}

TEST("without hooks a method is the program's own function") {
  kvo_object *object = box_make(2, 3);
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
  CHECK(kvo_object_method(object, "volume") == NULL);
  CHECK_EQ(call_area(object, 2), 12);
  kvo_object_destroy(object);
}

TEST("hooks run before, instead of and after a method, on one object and on the class, in their order") {
  kvo_object *object = box_make(2, 3), *other = box_make(4, 5);
  kvo_hook hooks[] = {add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a"),
                      add(NULL, box_class(), "area", KVO_HOOK_BEFORE, 0, letter, "b"),
                      add(object, NULL, "area", KVO_HOOK_BEFORE, -1, letter, "c"),
                      add(NULL, box_class(), "area", KVO_HOOK_INSTEAD, 5, around, "d"),
                      add(object, NULL, "area", KVO_HOOK_INSTEAD, 4, around, "e"),
                      add(NULL, box_class(), "area", KVO_HOOK_AFTER, 0, letter, "g"),
                      add(object, NULL, "area", KVO_HOOK_AFTER, 0, letter, "h")};
  check_area(object, "cabedfdegh");
  check_area(other, "bdfdg");
  CHECK_OK(kvo_hook_remove(hooks[1]));
  CHECK_OK(kvo_hook_remove(hooks[4]));
  check_area(object, "cadfdgh");
  CHECK_EQ(destroyed, 2);
  CHECK_STATUS(kvo_hook_remove(hooks[1]), KVO_ERROR_NOT_REGISTERED);
  CHECK_STATUS(kvo_class_unregister(box_class()), KVO_ERROR_BUSY);
  kvo_object_destroy(object); /* ends its hooks */
  CHECK_EQ(destroyed, 5);
  check_area(other, "dfdg");
  CHECK_OK(kvo_hook_remove(hooks[3]));
  CHECK_OK(kvo_hook_remove(hooks[5]));
  CHECK_STATUS(kvo_hook_remove(hooks[0]), KVO_ERROR_NOT_REGISTERED);
  CHECK(kvo_object_method(other, "area") == (kvo_function)area);
  CHECK_EQ(destroyed, 7);
  kvo_object_destroy(other);
  kvo_object *at_same_address = box_make(1, 1);
  check_area(at_same_address, "f");
  kvo_object_destroy(at_same_address);
}

static void read_arguments(kvo_call *call, void *user_data) {
  (void)user_data;
  CHECK_EQ(call->method, "sign");
  CHECK_EQ(call->argument_count, 2);
  CHECK_EQ(call->arguments[0].type, "d");
  CHECK_EQ(*(const double *)call->arguments[0].bytes, -2.5);
  CHECK_EQ(call->arguments[1].type, "*");
  CHECK(call->arguments[1].bytes == NULL); /* nil */
  CHECK_EQ(call->result_type, "c");
  CHECK_EQ(call->result_size, 1);
}
static void read_sign(kvo_call *call, void *user_data) {
  (void)user_data;
  CHECK_EQ(*(signed char *)call->result, -1);
  *(signed char *)call->result = -100;
}
static void refuse_to_call(kvo_call *call, void *user_data) {
  (void)user_data;
  CHECK_EQ(*(int *)call->result, 0);
  *(int *)call->result = 77;
}
static void call_twice(kvo_call *call, void *user_data) {
  (void)user_data;
  CHECK_OK(kvo_call_proceed(call));
  int first = *(int *)call->result;
  CHECK_OK(kvo_call_proceed(call));
  *(int *)call->result += first;
}

TEST("a hook reads the arguments, and reads and writes the result") {
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "sign", KVO_HOOK_BEFORE, 0, read_arguments, "");
  add(object, NULL, "sign", KVO_HOOK_AFTER, 0, read_sign, "");
  CHECK_EQ(((signed char (*)(kvo_object *, double, char *))kvo_object_method(object, "sign"))(object, -2.5, NULL),
           -100);
  kvo_hook hook = add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, refuse_to_call, "");
  log_text[0] = '\0';
  CHECK_EQ(call_area(object, 1), 77);
  CHECK_EQ(log_text, "");
  CHECK_OK(kvo_hook_remove(hook));
  hook = add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, call_twice, "");
  add(object, NULL, "area", KVO_HOOK_INSTEAD, 1, around, "x");
  CHECK_EQ(call_area(object, 1), 12);
  CHECK_EQ(log_text, "xfxxfx");
  kvo_object_destroy(object);
}

TEST("structures, floats, nothing, and user data pass through a hooked method and through kvo_object_call") {
  kvo_object *object = box_make(2, 4);
  for (int hooked = 0; hooked < 2; hooked++) {
    const char *names[] = {"measure", "ratio", "rename", "count", "mixed", "sum"};
    for (int i = 0; hooked && i < 6; i++) add(object, NULL, names[i], KVO_HOOK_BEFORE, 0, letter, "x");
    size by = {1.5, 2.5, 3.5}, made = ((size(*)(kvo_object *, size))kvo_object_method(object, "measure"))(object, by);
    CHECK_EQ(made.width, 3.0);
    CHECK_EQ(made.height, 10.0);
    CHECK_EQ(made.depth, 3.5);
    CHECK_EQ(((float (*)(kvo_object *))kvo_object_method(object, "ratio"))(object), 0.5f);
    ((void (*)(kvo_object *, const char *))kvo_object_method(object, "rename"))(object, "box");
    CHECK_EQ(((box *)object)->name, "box");
    CHECK_EQ(((double (*)(kvo_object *, double, const char *))kvo_object_method(object, "mixed"))(object, 1.5, "abc"),
             6.5);
    CHECK_EQ(((int (*)(kvo_object *, int, int))kvo_object_method(object, "sum"))(object, 3, -4), -368);
    counter = 0;
    CHECK_EQ(((long (*)(kvo_object *, long))kvo_object_method(object, "count"))(object, 5), 5);
    long three = 3, sum = 0;
    void *arguments[] = {&three};
    CHECK_OK(kvo_object_call(object, "count", arguments, &sum));
    CHECK_EQ(sum, 8);
    float third;
    CHECK_OK(kvo_object_call(object, "ratio", NULL, &third));
    CHECK_EQ(third, 0.5f);
    signed char minus;
    double value = -1;
    char *text = NULL;
    CHECK_OK(kvo_object_call(object, "sign", (void *[]){&value, &text}, &minus));
    CHECK_EQ(minus, -1);
  }
  CHECK_EQ(strlen(log_text), 8);
  kvo_object_destroy(object);
}

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

TEST("subclasses inherit methods with the hooks on them, and have their own") {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Crate", .instance_size = sizeof(box), .superclass = box_class()};
  kvo_class *crate, *heavy;
  CHECK_OK(kvo_class_register(&spec, &crate));
  spec.name = "Heavy";
  spec.superclass = crate;
  CHECK_OK(kvo_class_register(&spec, &heavy));
  kvo_method_spec own = {.name = "area", .type = "i@i", .function = (kvo_function)half_area};
  CHECK_OK(kvo_class_add_methods(heavy, &own, 1, sizeof own));
  kvo_object *first = box_make(2, 3), *second = box_of(crate, 2, 3), *third = box_of(heavy, 2, 3);
  kvo_hook on_box = add(NULL, box_class(), "area", KVO_HOOK_BEFORE, 0, letter, "b"),
           on_crate = add(NULL, crate, "area", KVO_HOOK_BEFORE, 0, letter, "c");
  check_area(first, "bf");
  check_area(second, "bcf");
  log_text[0] = '\0';
  CHECK_EQ(call_area(third, 1), 3);
  CHECK_EQ(log_text, "f"); /* another function, without hooks */
  CHECK_OK(kvo_hook_remove(on_box));
  CHECK_OK(kvo_hook_remove(on_crate));
  kvo_object_destroy(first);
  kvo_object_destroy(second);
  kvo_object_destroy(third);
  /* Methods end with their class, and return with it. */
  CHECK_OK(kvo_class_unregister(heavy));
  CHECK_OK(kvo_class_register(&spec, &heavy));
  third = box_of(heavy, 2, 3);
  CHECK(kvo_object_method(third, "area") == (kvo_function)area);
  kvo_object_destroy(third);
  CHECK_OK(kvo_class_add_methods(heavy, &own, 1, sizeof own));
  third = box_of(heavy, 2, 3);
  CHECK(kvo_object_method(third, "area") == (kvo_function)half_area);
  kvo_object_destroy(third);
}

/* ------------------------------------------------------------------------------------------------ Changes during calls -- */

static kvo_hook removed_in_call[3];
static void remove_all(kvo_call *call, void *user_data) {
  say(user_data);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_hook_remove(removed_in_call[i]));
  add(call->object, NULL, "area", KVO_HOOK_AFTER, 0, letter, "n");
  CHECK_EQ(destroyed, 0);
}

TEST("a hook may remove itself and others, which are not called any more, and add others for the next call") {
  kvo_object *object = box_make(2, 3);
  removed_in_call[0] = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, remove_all, "a");
  removed_in_call[1] = add(object, NULL, "area", KVO_HOOK_BEFORE, 1, letter, "b");
  removed_in_call[2] = add(object, NULL, "area", KVO_HOOK_AFTER, 1, letter, "c");
  check_area(object, "af");
  CHECK_EQ(destroyed, 3);
  check_area(object, "fn");
  kvo_object_destroy(object);
  CHECK_EQ(destroyed, 4);
}

static _Atomic bool stop;
static _Atomic long hook_calls, hooks_destroyed;
typedef struct token {
  _Atomic bool ended;
} token;
static void use_token(kvo_call *call, void *user_data) {
  (void)call;
  CHECK(!((token *)user_data)->ended); /* not freed, not destroyed */
  hook_calls++;
}
static void end_token(void *user_data) {
  ((token *)user_data)->ended = true;
  hooks_destroyed++;
}
static int plain_area(const box *of, int scale) { return of->width * scale; }

static void *call_on(void *arg) {
  while (!stop) CHECK_EQ(((int (*)(kvo_object *, int))kvo_object_method(arg, "plain"))(arg, 2), 14);
  return NULL;
}

static void *hook_on(void *arg) {
  enum { TIMES = 2000 };
  static _Atomic int next;
  static token tokens[4 * TIMES];
  for (int i = 0; i < (harness_is_instrumented() ? TIMES / 10 : TIMES); i++) {
    kvo_hook_spec spec = {.struct_size = sizeof spec,
                          .method = "plain",
                          .when = (kvo_hook_when)(i % 2 == 0 ? KVO_HOOK_BEFORE : KVO_HOOK_AFTER),
                          .function = use_token,
                          .user_data = &tokens[next++],
                          .destroy = end_token};
    kvo_hook hook;
    CHECK_OK(i % 3 == 0 ? kvo_class_hook(box_class(), &spec, &hook) : kvo_object_hook(arg, &spec, &hook));
    CHECK_OK(kvo_hook_remove(hook));
  }
  return NULL;
}

TEST("threads add and remove hooks while others call, and no hook is used after its destroy") {
  pthread_t callers[2], hookers[2];
  const kvo_method_spec plain = {.name = "plain", .type = "i@i", .function = (kvo_function)plain_area};
  kvo_object *object = box_make(7, 1);
  CHECK_OK(kvo_class_add_methods(box_class(), &plain, 1, sizeof plain));
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(pthread_create(&callers[i], NULL, call_on, object), 0);
    CHECK_EQ(pthread_create(&hookers[i], NULL, hook_on, object), 0);
  }
  for (int i = 0; i < 2; i++) pthread_join(hookers[i], NULL);
  stop = true;
  for (int i = 0; i < 2; i++) pthread_join(callers[i], NULL);
  CHECK_EQ((long)hooks_destroyed, harness_is_instrumented() ? 400 : 4000);
  CHECK(kvo_object_method(object, "plain") == (kvo_function)plain_area);
  kvo_object_destroy(object);
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
