/* methods_limits.c - methods and hooks: on several threads, with little memory, and what they cost. */
#include "allocator.h"
#include "boxed.h"
#include "shared.h"
#include "steps.h"

#include <stdio.h>

/* ----------------------------------------------------------------------------------------------------------- Threads -- */

static _Atomic bool stop;
static _Atomic long hooks_destroyed;
typedef struct token {
  _Atomic bool ended;
} token;
static void use_token(kvo_call *call, void *user_data) {
  CHECK(!((token *)user_data)->ended); /* not freed, not destroyed */
}
static void end_token(void *user_data) {
  ((token *)user_data)->ended = true;
  hooks_destroyed++;
}
static int plain_area(const box *of, int scale) { return of->width * scale; }

static void call_on(void *arg) {
  while (!stop) CHECK_EQ(((int (*)(kvo_object *, int))kvo_object_method(arg, "plain"))(arg, 2), 14);
}

static void hook_on(void *arg) {
  enum { TIMES = 2000 };
  static _Atomic int next;
  static token tokens[2 * TIMES];
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
}

TEST("threads add and remove hooks while others call, and no hook is used after its destroy") {
  running *callers[2], *hookers[2];
  const kvo_method_spec plain = {.name = "plain", .type = "i@i", .function = (kvo_function)plain_area};
  kvo_object *object = box_make(7, 1);
  CHECK_OK(kvo_class_add_methods(box_class(), &plain, 1, sizeof plain));
  for (int i = 0; i < 2; i++) {
    callers[i] = start_thread(call_on, object);
    hookers[i] = start_thread(hook_on, object);
  }
  for (int i = 0; i < 2; i++) join_thread(hookers[i]);
  stop = true;
  for (int i = 0; i < 2; i++) join_thread(callers[i]);
  CHECK_EQ((long)hooks_destroyed, harness_is_instrumented() ? 400 : 4000);
  CHECK(kvo_object_method(object, "plain") == (kvo_function)plain_area);
  kvo_object_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------------- Cost -- */

static long one_parameter(kvo_object *of, long one) { return ((box *)of)->width + one; }
static double real_parameter(kvo_object *of, double one) { return ((box *)of)->width + one; }
static long two_parameters(kvo_object *of, long one, long two) { return ((box *)of)->width + one + two; }

static kvo_object *measured_box;
static const char *measured_method;
static void **measured_arguments;

static void call_measured(void *arg) {
  double result;
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_object_call(measured_box, measured_method, measured_arguments, &result));
  steps_begin();
  kvo_object_call(measured_box, measured_method, measured_arguments, &result);
  steps_end();
}

TEST("methods with at most two usual parameters are called without libffi, which takes longer") {
  long one = 1, two = 2;
  double real = 3;
  const struct {
    const char *type;
    kvo_function function;
    void *arguments[2];
  } usual[] = {{"^v@*", (kvo_function)one_parameter, {&one}},
               {"v@q", (kvo_function)one_parameter, {&one}},
               {"d@d", (kvo_function)real_parameter, {&real}},
               {"^v@^^v", (kvo_function)two_parameters, {&one, &two}}};
  if (harness_is_instrumented()) return;
  if (sizeof(void *) < 8) harness_skip("libffi passes all arguments on the stack there, in few instructions");
  measured_box = box_make(2, 3);
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
    char names[2][32];
    long steps[2];
    measured_arguments = (void **)(uintptr_t)usual[i].arguments;
    for (int slow = 0; slow < 2; slow++) {
      snprintf(names[slow], sizeof names[slow], "%s%zu", slow ? "slow" : "usual", i);
      const kvo_method_spec method = {.name = names[slow],
                                      .type = usual[i].type,
                                      .function = usual[i].function,
                                      .flags = slow ? KVO_METHOD_WITH_USER : 0};
      CHECK_OK(kvo_class_add_methods(box_class(), &method, 1, sizeof method));
      measured_method = names[slow];
      steps[slow] = steps_of(call_measured, NULL);
    }
    if (steps[0] < 0) harness_skip("processes cannot be traced");
    if (steps[0] + 50 > steps[1])
      harness_fail(__FILE__, __LINE__, "\"%s\": %ld instructions, and %ld with libffi", usual[i].type, steps[0],
                   steps[1]);
  }
  kvo_object_destroy(measured_box);
}

/* ---------------------------------------------------------------------------------------------------- Without memory -- */

TEST("without memory nothing is hooked and no method is added, and nothing leaks") {
  use_counting_allocator();
  kvo_object *object = box_make(2, 3);
  CHECK_OK(kvo_hook_remove(add(object, NULL, "area", KVO_HOOK_BEFORE, 0, letter, "a"))); /* makes what stays */
  const kvo_hook_spec spec = {
      .struct_size = sizeof spec, .method = "area", .when = KVO_HOOK_BEFORE, .function = letter, .user_data = "x"};
  const kvo_method_spec more = {.name = "more", .type = "{size=ddd}@{size=ddd}*", .function = (kvo_function)measure};
  kvo_hook hook = 0;
  long before = live_blocks;
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  for (long n = 1; status != KVO_OK; n++) {
    fail_in = n;
    status = kvo_object_hook(object, &spec, &hook);
    fail_in = 0;
    if (status == KVO_OK) continue;
    CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
    CHECK_EQ(hook, 0);
    CHECK_EQ((long)live_blocks, before);
    check_area(object, "f");
  }
  check_area(object, "xf");
  CHECK_OK(kvo_hook_remove(hook));
  status = KVO_ERROR_OUT_OF_MEMORY;
  before = live_blocks;
  for (long n = 1; status != KVO_OK; n++) {
    fail_in = n;
    status = kvo_class_add_methods(box_class(), &more, 1, sizeof more);
    fail_in = 0;
    if (status == KVO_OK) continue;
    CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
    CHECK_EQ((long)live_blocks, before);
    CHECK(kvo_object_method(object, "more") == NULL);
  }
  kvo_object_destroy(object);
}
