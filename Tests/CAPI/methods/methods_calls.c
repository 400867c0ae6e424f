/* methods_calls.c - what a hook sees of a call, how hooks proceed, and how long hooks and methods last. */
#include "allocator.h"
#include "boxed.h"

#include <stdio.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- Proceeding -- */

static void proceed_twice(kvo_call *call, void *user_data) {
  (void)user_data;
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_call_proceed(call));
}

TEST("each call of kvo_call_proceed goes on with the same hooks, whether they are on the object or on the class") {
  kvo_object *object = box_make(2, 3);
  kvo_hook last = add(object, NULL, "area", KVO_HOOK_INSTEAD, 2, around, "y"),
           first = add(NULL, box_class(), "area", KVO_HOOK_INSTEAD, 0, proceed_twice, ""),
           middle = add(NULL, box_class(), "area", KVO_HOOK_INSTEAD, 1, around, "x");
  check_area(object, "xyfyxxyfyx");
  CHECK_OK(kvo_hook_remove(first));
  first = add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, proceed_twice, "");
  check_area(object, "xyfyxxyfyx");
  CHECK_OK(kvo_hook_remove(last));
  check_area(object, "xfxxfx");
  CHECK_OK(kvo_hook_remove(middle));
  check_area(object, "ff");
  CHECK_OK(kvo_hook_remove(first));
  check_area(object, "f");
  kvo_object_destroy(object);
}

static void refused_to_proceed(kvo_call *call, void *user_data) {
  say(user_data);
  CHECK_STATUS(kvo_call_proceed(call), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_EQ(kvo_last_error(), "kvo_call_proceed: the hook is not one instead of a method");
}

TEST("hooks before and after a method cannot proceed, also if others are instead of it") {
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "area", KVO_HOOK_BEFORE, 0, refused_to_proceed, "b");
  add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, around, "i");
  add(object, NULL, "area", KVO_HOOK_AFTER, 0, refused_to_proceed, "a");
  check_area(object, "bifia");
  check_area(object, "bifia");
  kvo_object_destroy(object);
}

static void add_more(kvo_call *call, void *user_data) {
  say(user_data);
  add(call->object, NULL, "area", KVO_HOOK_BEFORE, -1, letter, "n");
  add(call->object, NULL, "area", KVO_HOOK_BEFORE, 1, letter, "m");
}

TEST("hooks that are added in a call run from the next call on") {
  kvo_object *object = box_make(2, 3);
  kvo_hook adding = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, add_more, "a");
  add(object, NULL, "area", KVO_HOOK_BEFORE, 2, letter, "z");
  check_area(object, "azf");
  CHECK_OK(kvo_hook_remove(adding));
  check_area(object, "nmzf");
  kvo_object_destroy(object);
}

/* -------------------------------------------------------------------------------------------- Arguments and results -- */

static void take(const box *of, signed char c, double d, int i, const char *text, const char *no_text,
                 const kvo_object *object, const kvo_object *nil) {
  (void)of, (void)c, (void)d, (void)i, (void)object;
  CHECK(no_text == NULL && nil == NULL);
  say(text);
}

static void see_arguments(kvo_call *call, void *user_data) {
  static const char *const types[] = {"c", "d", "i", "*", "*", "@", "@"};
  static const size_t sizes[] = {
      1, sizeof(double), sizeof(int), sizeof(char *), sizeof(char *), sizeof(void *), sizeof(void *)};
  say(user_data);
  CHECK_EQ(call->argument_count, 7);
  for (size_t i = 0; i < 7; i++) {
    CHECK_EQ(call->arguments[i].type, types[i]);
    CHECK_EQ(call->arguments[i].size, sizes[i]);
    CHECK((call->arguments[i].bytes == NULL) == (i == 4 || i == 6));
  }
  CHECK_EQ(*(const double *)call->arguments[1].bytes, 0.0);
  CHECK_EQ(*(const char *const *)call->arguments[3].bytes, "text");
  CHECK_SAME(*(kvo_object *const *)call->arguments[5].bytes, call->object);
  CHECK_EQ(call->result_type, "v");
  CHECK_EQ(call->result_size, 0);
}

TEST("of the arguments that a hook sees only strings and objects that are NULL are nil, and zeros are values") {
  const kvo_method_spec method = {.name = "take", .type = "v@cdi**@@", .function = (kvo_function)take};
  CHECK_OK(kvo_class_add_methods(box_class(), &method, 1, sizeof method));
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "take", KVO_HOOK_BEFORE, 0, see_arguments, "before ");
  add(object, NULL, "take", KVO_HOOK_AFTER, 0, see_arguments, " after");
  ((void (*)(kvo_object *, signed char, double, int, const char *, const char *, kvo_object *,
             kvo_object *))kvo_object_method(object, "take"))(object, 0, 0.0, 0, "text", NULL, object, NULL);
  CHECK_EQ(log_text, "before text after");
  kvo_object_destroy(object);
}

static bool goes_on;
static void proceed_or_not(kvo_call *call, void *user_data) {
  (void)user_data;
  if (goes_on) CHECK_OK(kvo_call_proceed(call));
}

TEST("the result of a hooked method is zero until the function or a hook has set it") {
  kvo_object *object = box_make(2, 3);
  static const char *const names[] = {"area", "measure", "ratio"};
  for (int i = 0; i < 3; i++) add(object, NULL, names[i], KVO_HOOK_INSTEAD, 0, proceed_or_not, "");
  int (*area_of)(kvo_object *, int) = (int (*)(kvo_object *, int))kvo_object_method(object, "area");
  float (*ratio_of)(kvo_object *) = (float (*)(kvo_object *))kvo_object_method(object, "ratio");
  size (*measure_of)(kvo_object *, size) = (size(*)(kvo_object *, size))kvo_object_method(object, "measure");
  size by = {1.5, 2.5, 3.5}, measured[2], called[2];
  void *arguments[] = {&by};
  int areas[2];
  float ratios[2];
  kvo_status statuses[2];
  memset(measured, 0x55, sizeof measured);
  memset(called, 0x55, sizeof called);
  for (int i = 0; i < 2; i++) { /* the second calls find on the stack what the first ones have left there */
    goes_on = i == 0;
    areas[i] = area_of(object, 1);
  }
  for (int i = 0; i < 2; i++) {
    goes_on = i == 0;
    ratios[i] = ratio_of(object);
  }
  for (int i = 0; i < 2; i++) {
    goes_on = i == 0;
    measured[i] = measure_of(object, by);
  }
  for (int i = 0; i < 2; i++) {
    goes_on = i == 0;
    statuses[i] = kvo_object_call(object, "measure", arguments, &called[i]);
  }
  CHECK_EQ(areas[0], 6);
  CHECK_EQ(areas[1], 0);
  CHECK(ratios[0] > 0.6f);
  CHECK_EQ(ratios[1], 0.0f);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(statuses[i]);
    CHECK_EQ(measured[i].width, i == 0 ? 3.0 : 0.0);
    CHECK_EQ(measured[i].depth, i == 0 ? 3.5 : 0.0);
    CHECK_EQ(called[i].height, i == 0 ? 7.5 : 0.0);
    CHECK_EQ(called[i].depth, i == 0 ? 3.5 : 0.0);
  }
  kvo_object_destroy(object);
}

static double by_float(const box *of, float by, int times) { return of->width + 10.0 * (double)by + 100 * times; }
static double by_both(const box *of, double one, float other) { return of->width + 10 * one + 100.0 * (double)other; }
static int by_long(const box *of, long one, int other) { return of->width + 10 * (int)one + 100 * other; }
static int by_three(const box *of, int one, int other, int last) {
  return of->width + 10 * one + 100 * other + 1000 * last;
}

TEST("methods with two or three parameters of any type get each of them") {
  const kvo_method_spec methods[] = {{.name = "byFloat", .type = "d@fi", .function = (kvo_function)by_float},
                                     {.name = "byBoth", .type = "d@df", .function = (kvo_function)by_both},
                                     {.name = "byLong", .type = "i@li", .function = (kvo_function)by_long},
                                     {.name = "byThree", .type = "i@iii", .function = (kvo_function)by_three}};
  CHECK_OK(kvo_class_add_methods(box_class(), methods, 4, sizeof *methods));
  kvo_object *object = box_make(2, 3);
  float half = 0.5f;
  double quarter = 0.25, real = 0;
  long seven = 7;
  int one = 1, two = 2, three = 3, integer = 0;
  CHECK_OK(kvo_object_call(object, "byFloat", (void *[]){&half, &three}, &real));
  CHECK_EQ(real, 307.0);
  CHECK_OK(kvo_object_call(object, "byBoth", (void *[]){&quarter, &half}, &real));
  CHECK_EQ(real, 54.5);
  CHECK_OK(kvo_object_call(object, "byLong", (void *[]){&seven, &three}, &integer));
  CHECK_EQ(integer, 372);
  CHECK_OK(kvo_object_call(object, "byThree", (void *[]){&one, &two, &three}, &integer));
  CHECK_EQ(integer, 3212);
  kvo_object_destroy(object);
}

/* ----------------------------------------------------------------------------------------------------------- Lifetimes -- */

TEST("as long as a method is hooked its function is one and the same trampoline") {
  kvo_object *object = box_make(2, 3);
  kvo_hook hook = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a");
  kvo_function function = kvo_object_method(object, "area"), counting = kvo_object_method(object, "count");
  CHECK(function != (kvo_function)area && function != counting);
  CHECK(kvo_object_method(object, "area") == function);
  CHECK(kvo_object_method(object, "count") == counting);
  CHECK_OK(kvo_hook_remove(hook));
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
  kvo_object_destroy(object);
}

TEST("each object ends its own hooks, whichever of them dies or loses its hook first") {
  for (int is_removed = 0; is_removed < 2; is_removed++) {
    kvo_object *one = box_make(1, 1), *other = box_make(2, 2);
    destroyed = 0;
    kvo_hook first = add(one, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a"),
             second = add(other, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "b");
    if (is_removed) CHECK_OK(kvo_hook_remove(first));
    kvo_object_destroy(one);
    CHECK_EQ(destroyed, 1);
    check_area(other, "bf");
    kvo_object_destroy(other);
    CHECK_EQ(destroyed, 2);
    CHECK_STATUS(kvo_hook_remove(first), KVO_ERROR_NOT_REGISTERED);
    CHECK_STATUS(kvo_hook_remove(second), KVO_ERROR_NOT_REGISTERED);
  }
}

static void destroy_object(kvo_call *call, void *user_data) {
  say(user_data);
  kvo_object_destroy(call->object);
  CHECK_EQ(destroyed, 0); /* its hooks are in use */
}

TEST("a hook of an object that dies in the call is not called any more") {
  kvo_object *object = box_make(2, 3);
  add(object, NULL, "area", KVO_HOOK_INSTEAD, 0, destroy_object, "d");
  kvo_hook after = add(object, NULL, "area", KVO_HOOK_AFTER, 0, letter, "x");
  CHECK_EQ(call_area(object, 1), 0);
  CHECK_EQ(log_text, "d");
  CHECK_EQ(destroyed, 2);
  CHECK_STATUS(kvo_hook_remove(after), KVO_ERROR_NOT_REGISTERED);
}

TEST("hooks that are added after many others were removed run, and so do those that were left") {
  for (int many = 3; many <= 15; many = 2 * many + 1) {
    kvo_object *object = box_make(2, 3);
    kvo_hook hooks[17];
    int gone = many / 2 + 1, count = many;
    for (int i = 0; i < many; i++) hooks[i] = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "x");
    for (int i = 0; i < gone; i++) CHECK_OK(kvo_hook_remove(hooks[i]));
    for (int i = 0; i < 2; i++) hooks[count++] = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "x");
    while (gone < count) {
      CHECK_OK(kvo_hook_remove(hooks[gone++]));
      log_text[0] = '\0';
      CHECK_EQ(call_area(object, 1), 6);
      CHECK_EQ(strlen(log_text), count - gone + 1); /* and what the function says */
    }
    kvo_object_destroy(object);
  }
}

static size_t allocated;
static void count_bytes(size_t bytes) { allocated += bytes; }

TEST("hooks take memory in proportion to their number") {
  enum { MANY = 2000 };
  static kvo_hook hooks[MANY];
  use_counting_allocator();
  kvo_object *object = box_make(2, 3);
  before_allocation = count_bytes;
  for (int i = 0; i < MANY; i++) hooks[i] = add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "");
  before_allocation = NULL;
  CHECK(allocated < MANY * 1000);
  for (int i = 0; i < MANY; i++) CHECK_OK(kvo_hook_remove(hooks[i]));
  CHECK_EQ(destroyed, MANY);
  kvo_object_destroy(object);
}

static int half_area(const box *of, int scale) { return area(of, scale) / 2; }
static long add_to(kvo_object *object, long by, void *user) {
  (void)object;
  return *(long *)user += by;
}

TEST("a method that returns with its class has the new function, and the new user data") {
  static long counters[2];
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Crate", .instance_size = sizeof(box), .superclass = box_class()};
  for (int i = 0; i < 2; i++) {
    const kvo_method_spec methods[] = {
        {.name = "run", .type = "i@i", .function = i == 0 ? (kvo_function)area : (kvo_function)half_area},
        {.name = "add",
         .type = "l@l",
         .function = (kvo_function)add_to,
         .flags = KVO_METHOD_WITH_USER,
         .user = &counters[i]}};
    kvo_class *crate;
    CHECK_OK(kvo_class_register(&spec, &crate));
    CHECK_OK(kvo_class_add_methods(crate, methods, 2, sizeof *methods));
    kvo_object *object = box_of(crate, 2, 4);
    int scale = 1, result = 0;
    long by = 5, sum = 0;
    CHECK_OK(kvo_object_call(object, "run", (void *[]){&scale}, &result));
    CHECK_EQ(result, i == 0 ? 8 : 4);
    CHECK_OK(kvo_object_call(object, "add", (void *[]){&by}, &sum));
    CHECK_EQ(sum, 5);
    CHECK_EQ(counters[i], 5);
    kvo_object_destroy(object);
    CHECK_OK(kvo_class_unregister(crate));
  }
}

TEST("a class has only the methods that were added to it") {
  kvo_object *object = box_make(2, 3);
  for (int i = 0; i < 200; i++) {
    char name[32];
    snprintf(name, sizeof name, "nothing%d", i);
    CHECK(kvo_object_method(object, name) == NULL);
    CHECK_STATUS(kvo_object_call(object, name, NULL, NULL), KVO_ERROR_UNDEFINED_KEY);
  }
  kvo_object_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------ Refusals -- */

static void do_nothing(kvo_call *call, void *user_data) { (void)call, (void)user_data; }

TEST("a refused call or hook, and a refused method, say what is wrong, and with which") {
  kvo_object *object = box_make(2, 3);
  int scale = 1, result = 0;
  void *arguments[] = {&scale}, *none[] = {NULL};
  const kvo_hook_spec good = {
      .struct_size = sizeof good, .method = "area", .when = KVO_HOOK_BEFORE, .function = do_nothing};
  kvo_hook_spec bad;
  kvo_method_spec twice[] = {{.name = "fresh", .type = "v@", .function = (kvo_function)area},
                             {.name = "area", .type = "v@", .function = (kvo_function)area}};
#define SAYS(call, text)                                                                                               \
  do {                                                                                                                 \
    CHECK((call) != KVO_OK);                                                                                           \
    CHECK_EQ(kvo_last_error(), text);                                                                                  \
  } while (0)
#define SAYS_OF(change, text) SAYS((bad = good, change, kvo_object_hook(object, &bad, NULL)), "kvo_object_hook: " text)
  SAYS(kvo_object_call(NULL, "area", arguments, &result), "kvo_object_call: object or name is NULL");
  SAYS(kvo_object_call(object, "area", arguments, NULL), "kvo_object_call: method 'area': result is NULL");
  SAYS(kvo_object_call(object, "area", NULL, &result), "kvo_object_call: method 'area': arguments is NULL");
  SAYS(kvo_object_call(object, "area", none, &result), "kvo_object_call: method 'area': an argument's address is NULL");
  SAYS(kvo_object_call(object, "volume", none, &result), "kvo_object_call: class 'Box' has no method 'volume'");
  SAYS(kvo_class_hook(NULL, &good, NULL), "kvo_class_hook: it is on no object and no class");
  SAYS(kvo_object_hook(object, NULL, NULL), "kvo_object_hook: spec is NULL");
  SAYS_OF(bad.struct_size = sizeof bad - 1, "spec->struct_size is not sizeof(kvo_hook_spec)");
  SAYS_OF(bad.method = NULL, "spec->method is NULL");
  SAYS_OF(bad.function = NULL, "spec->function is NULL");
  SAYS_OF(bad.when = (kvo_hook_when)4, "spec->when is unknown");
  SAYS_OF(bad.method = "volume", "class 'Box' has no method 'volume'");
  SAYS(kvo_class_add_methods(NULL, twice, 1, sizeof *twice), "kvo_class_add_methods: cls is not a class");
  SAYS(kvo_class_add_methods(box_class(), NULL, 1, sizeof *twice), "kvo_class_add_methods: methods is NULL");
  SAYS(kvo_class_add_methods(box_class(), twice, 1, 8),
       "kvo_class_add_methods: method_size is not sizeof(kvo_method_spec)");
  SAYS(kvo_class_add_methods(box_class(), twice, 2, sizeof *twice),
       "method 'area' of class 'Box': the class has it already");
  twice[0].flags = 1u << 7;
  SAYS(kvo_class_add_methods(box_class(), twice, 1, sizeof *twice),
       "method 'fresh' of class 'Box': it has unknown flags");
  twice[0].function = NULL;
  SAYS(kvo_class_add_methods(box_class(), twice, 1, sizeof *twice),
       "method 'fresh' of class 'Box': it has no function");
#undef SAYS_OF
#undef SAYS
  kvo_object_destroy(object);
}
