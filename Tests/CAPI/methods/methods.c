/* methods.c - functions of classes that are called by name, and hooks before, instead of and after them. */
#include "boxed.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

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

static int half_area(const box *of, int scale) { return area(of, scale) / 2; }

static char *name_of(box *of) { return of->name; }
static box *itself(box *of) { return of; }
static void *nothing_at(box *of, int at) { return at == 0 ? NULL : of; }

TEST("results that are strings, objects and pointers pass, with hooks and without") {
  const kvo_method_spec methods[] = {{.name = "name", .type = "*@", .function = (kvo_function)name_of},
                                     {.name = "itself", .type = "@@", .function = (kvo_function)itself},
                                     {.name = "nothing", .type = "^v@i", .function = (kvo_function)nothing_at}};
  CHECK_OK(kvo_class_add_methods(box_class(), methods, 3, sizeof *methods));
  kvo_object *object = box_make(1, 1);
  strcpy(((box *)object)->name, "box");
  for (int hooked = 0; hooked < 2; hooked++) {
    for (int i = 0; hooked && i < 3; i++) add(object, NULL, methods[i].name, KVO_HOOK_AFTER, 0, letter, "x");
    CHECK_EQ(((char *(*)(kvo_object *))kvo_object_method(object, "name"))(object), "box");
    CHECK_SAME(((void *(*)(kvo_object *))kvo_object_method(object, "itself"))(object), object);
    CHECK_SAME(((void *(*)(kvo_object *, int))kvo_object_method(object, "nothing"))(object, 0), NULL);
    void *result = NULL;
    char *text = NULL;
    int at = 1;
    CHECK_OK(kvo_object_call(object, "name", NULL, &text));
    CHECK_EQ((const char *)text, "box");
    CHECK_OK(kvo_object_call(object, "itself", NULL, &result));
    CHECK_SAME(result, object);
    result = NULL;
    CHECK_OK(kvo_object_call(object, "nothing", (void *[]){&at}, &result));
    CHECK_SAME(result, object);
  }
  CHECK_EQ(log_text, "xxxxxx");
  kvo_object_destroy(object);
}

static kvo_status late_status[2];

static kvo_status hook_late(kvo_object *object) {
  kvo_hook_spec spec = {.struct_size = sizeof spec,
                        .method = "area",
                        .when = KVO_HOOK_BEFORE,
                        .function = letter,
                        .user_data = "x",
                        .destroy = count_destroyed};
  return kvo_object_hook(object, &spec, NULL);
}

static void hook_in_finalize(kvo_object *object) { late_status[0] = hook_late(object); }

static kvo_action hook_in_handler(const kvo_fault *fault, void *object) {
  CHECK_EQ((int)fault->code, KVO_FAULT_UNFINISHED_CHANGE);
  late_status[1] = hook_late(object);
  return KVO_ACTION_IGNORE;
}

static void ignore_change(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

TEST(
    "an object that is being destroyed gets no hooks, and one from before ends with it, not with the next object there") {
  static const kvo_property_spec width = {
      .name = "width", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(box, width)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Late",
                         .superclass = box_class(),
                         .instance_size = sizeof(box),
                         .properties = &width,
                         .property_count = 1,
                         .finalize = hook_in_finalize};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
  for (int observed = 0; observed < 2; observed++) {
    kvo_object *object = box_of(cls, 1, 2);
    destroyed = 0;
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "width",
                             .options = KVO_ENDS_WITH_OBJECT,
                             .callback = ignore_change};
    if (observed) CHECK_OK(kvo_add_observer(object, &observer, NULL));
    if (observed) CHECK_OK(kvo_will_change(object, "width")); /* whose end is reported while the object ends */
    kvo_set_fault_handler(hook_in_handler, object);
    kvo_object_destroy(object);
    kvo_set_fault_handler(NULL, NULL);
    CHECK_STATUS(late_status[0], KVO_ERROR_DYING_OBJECT);
    if (observed && HAS_REPORTS) CHECK_OK(late_status[1]);
    CHECK_EQ(destroyed, observed && HAS_REPORTS);
    kvo_object *next = box_of(box_class(), 3, 4); /* usually at the same address */
    check_area(next, "f");
    kvo_object_destroy(next);
  }
}

TEST("a class is unregistered once the hooks on it are removed, and with hooks on objects that have died") {
  kvo_class_spec spec = {
      .struct_size = sizeof spec, .name = "Crate", .instance_size = sizeof(box), .superclass = box_class()};
  kvo_class *crate;
  CHECK_OK(kvo_class_register(&spec, &crate));
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
