/* methods.c - functions of classes that are called by name, and hooks before, instead of and after them. */
#include "boxed.h"
#include "made.h"

#include <string.h>

static kvo_class *subclass(const char *name, kvo_class *superclass) {
  return register_class((kvo_class_spec){.name = name, .instance_size = sizeof(box), .superclass = superclass});
}

/* Calls a method by its function, which has these parameters. */
#define CALL(T, name, parameters, ...) (((T(*) parameters)kvo_object_method(object, name))(__VA_ARGS__))

TEST("without hooks a method is the program's own function, and as long as it is hooked one and the same trampoline") {
  kvo_object *object = box_make(2, 3);
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
  CHECK(kvo_object_method(object, "volume") == NULL);
  CHECK_EQ(call_area(object, 2), 12);
  kvo_hook hook = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a");
  kvo_function function = kvo_object_method(object, "area"), counting = kvo_object_method(object, "count");
  CHECK(function != (kvo_function)area && function != counting);
  CHECK(kvo_object_method(object, "area") == function);
  CHECK(kvo_object_method(object, "count") == counting);
  CHECK_OK(kvo_hook_remove(hook));
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
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
  CHECK_CONTAINS(kvo_last_error(), "class 'Box'");
  kvo_object_destroy(object); /* ends its hooks */
  CHECK_EQ(destroyed, 5);
  check_area(other, "dfdg");
  CHECK_OK(kvo_hook_remove(hooks[3]));
  CHECK_OK(kvo_hook_remove(hooks[5]));
  CHECK_STATUS(kvo_hook_remove(hooks[0]), KVO_ERROR_NOT_REGISTERED);
  CHECK(kvo_object_method(other, "area") == (kvo_function)area);
  CHECK_EQ(destroyed, 7);
  kvo_object_destroy(other);
}

/* -------------------------------------------------------------------------------------------- Arguments and results -- */

static void take(const box *of, signed char c, double d, int i, const char *text, const char *no_text,
                 const kvo_object *object, const kvo_object *nil) {
  CHECK(no_text == NULL && nil == NULL);
  say(text);
}

static void see_arguments(kvo_call *call, void *user_data) {
  static const char *const types[] = {"c", "d", "i", "*", "*", "@", "@"};
  static const size_t sizes[] = {
      1, sizeof(double), sizeof(int), sizeof(char *), sizeof(char *), sizeof(void *), sizeof(void *)};
  say(user_data);
  CHECK_EQ(call->method, "take");
  CHECK_EQ(call->argument_count, 7);
  for (size_t i = 0; i < 7; i++) {
    CHECK_EQ(call->arguments[i].type, types[i]);
    CHECK_EQ(call->arguments[i].size, sizes[i]);
    CHECK((call->arguments[i].bytes == NULL) == (i == 4 || i == 6));
  }
  CHECK_EQ(*(const double *)call->arguments[1].bytes, -2.5);
  CHECK_EQ(*(const int *)call->arguments[2].bytes, 0);
  CHECK_EQ(*(const char *const *)call->arguments[3].bytes, "text");
  CHECK_SAME(*(kvo_object *const *)call->arguments[5].bytes, call->object);
  CHECK_EQ(call->result_type, "v");
  CHECK_EQ(call->result_size, 0);
}

TEST("a hook gets all arguments, of which only strings and objects that are NULL are nil") {
  const kvo_method_spec method = {.name = "take", .type = "v@cdi**@@", .function = (kvo_function)take};
  CHECK_OK(kvo_class_add_methods(box_class(), &method, 1, sizeof method));
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "take", KVO_HOOK_BEFORE, 0, see_arguments, "before ");
  add(object, NULL, "take", KVO_HOOK_AFTER, 0, see_arguments, " after");
  CALL(void, "take", (kvo_object *, signed char, double, int, const char *, const char *, kvo_object *, kvo_object *),
       object, 0, -2.5, 0, "text", NULL, object, NULL);
  CHECK_EQ(log_text, "before text after");
  kvo_object_destroy(object);
}

static void replace_sign(kvo_call *call, void *user_data) {
  CHECK_EQ(call->result_type, "c");
  CHECK_EQ(call->result_size, 1);
  CHECK_EQ(*(signed char *)call->result, -1);
  *(signed char *)call->result = -100;
}
static void write_result(kvo_call *call, void *user_data) {
  CHECK_EQ(*(int *)call->result, 0);
  *(int *)call->result = 77;
}
static void keep_result(kvo_call *call, void *user_data) {}
static void call_twice(kvo_call *call, void *user_data) {
  CHECK_OK(kvo_call_proceed(call));
  int first = *(int *)call->result;
  CHECK_OK(kvo_call_proceed(call));
  *(int *)call->result += first;
}

TEST("a hook replaces the result, which is zero until the function or a hook sets it, or calls the function twice") {
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "sign", KVO_HOOK_AFTER, 0, replace_sign, "");
  CHECK_EQ(CALL(signed char, "sign", (kvo_object *, double, char *), object, -2.5, NULL), -100);
  kvo_hook hook = add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, write_result, "");
  CHECK_EQ(call_area(object, 1), 77);
  CHECK_EQ(log_text, "");
  CHECK_OK(kvo_hook_remove(hook));
  add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, call_twice, "");
  add(NULL, box_class(), "area", KVO_HOOK_INSTEAD, 1, around, "x");
  CHECK_EQ(call_area(object, 1), 12);
  CHECK_EQ(log_text, "xfxxfx");
  size by = {1.5, 2.5, 3.5};
  for (int hooked = 0; hooked < 2;
       hooked++) { /* the second call finds on the stack what the first one has left there */
    if (hooked) add(object, NULL, "measure", KVO_HOOK_INSTEAD, 0, keep_result, "");
    size measured = CALL(size, "measure", (kvo_object *, size), object, by);
    CHECK_EQ(measured.width, hooked ? 0.0 : 3.0);
    CHECK_EQ(measured.depth, hooked ? 0.0 : 3.5);
  }
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
static unsigned char narrow(const box *of, bool whether) { return (unsigned char)(of->width + 198 + whether); }
static char *name_of(box *of) { return of->name; }
static box *itself(box *of) { return of; }
static void *nothing_at(box *of, int at) { return at == 0 ? NULL : of; }
static double by_float(const box *of, float by, int times) { return of->width + 10.0 * (double)by + 100 * times; }
static double by_both(const box *of, double one, float other) { return of->width + 10 * one + 100.0 * (double)other; }
static int by_long(const box *of, long one, int other) { return of->width + 10 * (int)one + 100 * other; }
static short by_three(const box *of, int one, int other, int last) {
  return (short)(of->width + 10 * one + 100 * other + 1000 * last);
}

/* Besides those of boxed.h. */
static const kvo_method_spec methods[] = {
    {.name = "fill", .type = "{large=[256c]}@c", .function = (kvo_function)fill},
    {.name = "add", .type = "i@ilscdfiiiii*", .function = (kvo_function)add_all},
    {.name = "narrow", .type = "C@B", .function = (kvo_function)narrow},
    {.name = "name", .type = "*@", .function = (kvo_function)name_of},
    {.name = "itself", .type = "@@", .function = (kvo_function)itself},
    {.name = "nothing", .type = "^v@i", .function = (kvo_function)nothing_at},
    {.name = "byFloat", .type = "d@fi", .function = (kvo_function)by_float},
    {.name = "byBoth", .type = "d@df", .function = (kvo_function)by_both},
    {.name = "byLong", .type = "i@li", .function = (kvo_function)by_long},
    {.name = "byThree", .type = "s@iii", .function = (kvo_function)by_three},
};
enum { METHODS = sizeof methods / sizeof *methods };

/* Checks the result of kvo_object_call, and that nothing is written behind it. */
static void check_call(kvo_object *object, const char *name, void **arguments, const void *expected, size_t size) {
  unsigned char result[300], whole[300];
  memset(result, 0xee, sizeof result);
  memset(whole, 0xee, sizeof whole);
  memcpy(whole, expected, size);
  CHECK_OK(kvo_object_call(object, name, arguments, result));
  if (memcmp(result, whole, sizeof whole) != 0) harness_fail(__FILE__, __LINE__, "%s has another result", name);
}
#define CHECK_CALL(T, name, expected, ...) check_call(object, name, (void *[]){__VA_ARGS__}, &(T){expected}, sizeof(T))

static void check_all_calls(kvo_object *object) {
  int one = 1, two = 2, three = 3;
  long seven = 7;
  short hundred = 100;
  char a = 'a', *text = "abc";
  bool yes = true;
  float half = 0.5f;
  double minus = -1, quarter = 0.25;
  size by = {1.5, 2.5, 3.5};
  large filled = fill((box *)object, 'a');
  CHECK_CALL(float, "ratio", 0.5f, NULL);
  CHECK_CALL(signed char, "sign", -1, &minus, &text);
  CHECK_CALL(double, "mixed", 4.0, &minus, &text);
  CHECK_CALL(int, "sum", 212, &one, &two);
  CHECK_CALL(unsigned char, "narrow", 201, &yes);
  CHECK_CALL(double, "byFloat", 307.0, &half, &three);
  CHECK_CALL(double, "byBoth", 54.5, &quarter, &half);
  CHECK_CALL(int, "byLong", 372, &seven, &three);
  CHECK_CALL(short, "byThree", 3212, &one, &two, &three);
  CHECK_CALL(int, "add", 217, &one, &seven, &hundred, &a, &minus, &half, &one, &two, &three, &one, &one, &text);
  CHECK_CALL(kvo_object *, "itself", object, NULL);
  CHECK_CALL(void *, "nothing", object, &one);
  counter = 0;
  CHECK_CALL(long, "count", 7, &seven);
  check_call(object, "fill", (void *[]){&a}, &filled, sizeof filled);
  check_call(object, "measure", (void *[]){&by}, &(size){3, 10, 3.5}, sizeof(size));
  check_call(object, "rename", (void *[]){&text}, "", 0);
  CHECK_OK(kvo_object_call(object, "rename", (void *[]){&text}, NULL));
  CHECK_CALL(char *, "name", ((box *)object)->name, NULL);
  CHECK_EQ(((box *)object)->name, "abc");
}

static void check_all_functions(kvo_object *object) {
  CHECK_EQ(CALL(float, "ratio", (kvo_object *), object), 0.5f);
  CHECK_EQ(CALL(double, "mixed", (kvo_object *, double, const char *), object, 1.5, "abc"), 6.5);
  CHECK_EQ(CALL(int, "sum", (kvo_object *, int, int), object, 3, -4), -368);
  CHECK_EQ(CALL(long, "count", (kvo_object *, long), object, 5), 12);
  CALL(void, "rename", (kvo_object *, const char *), object, "box");
  CHECK_EQ(CALL(char *, "name", (kvo_object *), object), "box");
  CHECK_SAME(CALL(void *, "itself", (kvo_object *), object), object);
  CHECK_SAME(CALL(void *, "nothing", (kvo_object *, int), object, 0), NULL);
  CHECK_EQ(CALL(unsigned char, "narrow", (kvo_object *, bool), object, true), 201);
  CHECK_EQ(CALL(short, "byThree", (kvo_object *, int, int, int), object, 1, 2, 3), 3212);
  size measured = CALL(size, "measure", (kvo_object *, size), object, (size){1.5, 2.5, 3.5});
  CHECK(measured.width == 3 && measured.height == 10 && measured.depth == 3.5);
  large filled = CALL(large, "fill", (kvo_object *, char), object, 'b'), expected = fill((box *)object, 'b');
  CHECK_BYTES(&filled, &expected, sizeof filled);
  CHECK_EQ(CALL(int, "add",
                (kvo_object *, int, long, short, char, double, float, int, int, int, int, int, const char *), object, 1,
                20, 300, 4, 5000, 6, 70000, 8, 9, 10, 11, "abc"),
           75374);
}

TEST(
    "arguments and results of every kind pass through methods and hooked methods, by kvo_object_call and by the function") {
  static const char *const boxed[] = {"sign", "measure", "mixed", "sum", "ratio", "count", "rename"};
  CHECK_OK(kvo_class_add_methods(box_class(), methods, METHODS, sizeof *methods));
  kvo_object *object = box_make(2, 4);
  for (int hooked = 0; hooked < 2; hooked++) {
    for (int i = 0; hooked && i < METHODS; i++) add(object, NULL, methods[i].name, KVO_HOOK_BEFORE, 0, letter, "x");
    for (int i = 0; hooked && i < 7; i++) add(object, NULL, boxed[i], KVO_HOOK_AFTER, 0, letter, "y");
    check_all_calls(object);
    check_all_functions(object);
    CHECK_EQ(strlen(log_text), hooked ? 31 : 0); /* one letter for each call */
  }
  kvo_object_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------------- Classes -- */

static int half_area(const box *of, int scale) { return area(of, scale) / 2; }

TEST("subclasses inherit methods with the hooks on them, and have their own") {
  kvo_class *crate = subclass("Crate", box_class()), *heavy = subclass("Heavy", crate);
  const kvo_method_spec own = {.name = "area", .type = "i@i", .function = (kvo_function)half_area};
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
}

TEST("a class is unregistered once the hooks on it are removed, and with hooks on objects that were destroyed") {
  kvo_class *crate = subclass("Crate", box_class());
  kvo_object *object = box_of(crate, 2, 3);
  kvo_hook hooks[] = {add(NULL, crate, "area", KVO_HOOK_BEFORE, 0, letter, "a"),
                      add(NULL, crate, "ratio", KVO_HOOK_AFTER, 0, letter, "b")};
  add(object, NULL, "area", KVO_HOOK_AFTER, 0, letter, "c");
  kvo_object_destroy(object);
  CHECK_STATUS(kvo_class_unregister(crate), KVO_ERROR_BUSY);
  CHECK_CONTAINS(kvo_last_error(), "has 2 hooks");
  CHECK_OK(kvo_hook_remove(hooks[0]));
  CHECK_STATUS(kvo_class_unregister(crate), KVO_ERROR_BUSY);
  CHECK_OK(kvo_hook_remove(hooks[1]));
  CHECK_OK(kvo_class_unregister(crate));
}

static long add_to(kvo_object *object, long by, void *user) { return *(long *)user += by; }

TEST("methods end with their class, and one that returns has the new function, signature and user data") {
  static long total;
  const kvo_method_spec returning[] = {
      {.name = "run", .type = "i@i", .function = (kvo_function)area},
      {.name = "run", .type = "i@i", .function = (kvo_function)half_area},
      {.name = "run", .type = "l@l", .function = (kvo_function)add_to, .flags = KVO_METHOD_WITH_USER, .user = &total}};
  for (int i = 0; i < 3; i++) {
    kvo_class *crate = subclass("Crate", box_class());
    kvo_object *object = box_of(crate, 2, 4);
    CHECK(kvo_object_method(object, "run") == NULL);
    CHECK_OK(kvo_class_add_methods(crate, &returning[i], 1, sizeof *returning));
    long by = 3, result = 0;
    CHECK_OK(kvo_object_call(object, "run", (void *[]){&by}, &result));
    CHECK_EQ((int)result, i == 0 ? 24 : i == 1 ? 12 : 3);
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(crate));
  }
  CHECK_EQ(total, 3);
}

/* ----------------------------------------------------------------------------------- Ends and changes during calls -- */

static kvo_hook removed_in_call[3];
static void remove_all(kvo_call *call, void *user_data) {
  say(user_data);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_hook_remove(removed_in_call[i]));
  add(call->object, NULL, "area", KVO_HOOK_BEFORE, -1, letter, "m");
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
  check_area(object, "mfn");
  kvo_object_destroy(object);
  CHECK_EQ(destroyed, 5);
}

static void destroy_object(kvo_call *call, void *user_data) {
  say(user_data);
  kvo_object_destroy(call->object);
  CHECK_EQ(destroyed, 0); /* its hooks are in use */
}

TEST("a hook of an object that is destroyed in the call is not called any more") {
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, destroy_object, "d");
  kvo_hook after = add(object, NULL, "area", KVO_HOOK_AFTER, 0, letter, "x");
  CHECK_EQ(call_area(object, 1), 0);
  CHECK_EQ(log_text, "d");
  CHECK_EQ(destroyed, 2);
  CHECK_STATUS(kvo_hook_remove(after), KVO_ERROR_NOT_REGISTERED);
}

static kvo_status hooked_late;
static void hook_in_finalize(kvo_object *object) {
  kvo_hook_spec spec = {.struct_size = sizeof spec, .method = "area", .when = KVO_HOOK_BEFORE, .function = letter};
  hooked_late = kvo_object_hook(object, &spec, NULL);
}

TEST("an object that is being destroyed gets no hooks, and the next one at its address has none") {
  kvo_class *cls = register_class((kvo_class_spec){
      .name = "Late", .superclass = box_class(), .instance_size = sizeof(box), .finalize = hook_in_finalize});
  kvo_object *object = box_of(cls, 1, 2);
  add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "x");
  kvo_object_destroy(object);
  CHECK_STATUS(hooked_late, KVO_ERROR_DYING_OBJECT);
  CHECK_EQ(destroyed, 1);
  kvo_object *next = box_of(box_class(), 3, 4); /* usually at the same address */
  check_area(next, "f");
  kvo_object_destroy(next);
}
