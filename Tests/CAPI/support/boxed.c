/* boxed.c - see boxed.h. */
#include "boxed.h"
#include "made.h"

#include <stdio.h>
#include <string.h>

char log_text[256];
void say(const char *text) { strncat(log_text, text, sizeof log_text - strlen(log_text) - 1); }

int area(const box *of, int scale) {
  say("f");
  return of->width * of->height * scale;
}
static signed char sign(const box *of, double value, const char *text) { return value < 0 ? -1 : 1; }
static void rename_to(box *of, const char *name) { snprintf(of->name, sizeof of->name, "%s", name); }
size measure(const box *of, size by) { return (size){of->width * by.width, of->height * by.height, by.depth}; }
static float ratio(const box *of) { return (float)of->width / (float)of->height; }
static long counted(kvo_object *object, long by, void *user) { return *(long *)user += by; }
static double mixed(const box *of, double first, const char *second) {
  return of->width + first + (double)strlen(second);
}
static int sum_of(const box *of, int first, int second) { return of->width + 10 * first + 100 * second; }

long counter;

kvo_class *box_class(void) {
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
  cls = class_made("Box", sizeof(box), NULL, 0);
  CHECK_OK(kvo_class_add_methods(cls, methods, sizeof methods / sizeof *methods, sizeof *methods));
  return cls;
}

kvo_object *box_of(kvo_class *cls, int width, int height) {
  kvo_object *object = object_of(cls);
  ((box *)object)->width = width;
  ((box *)object)->height = height;
  return object;
}

kvo_object *box_make(int width, int height) { return box_of(box_class(), width, height); }

int call_area(kvo_object *object, int scale) {
  return ((int (*)(kvo_object *, int))kvo_object_method(object, "area"))(object, scale);
}

/* Hooks that write a letter: those before and after say it, those instead say it around what they call. */
void letter(kvo_call *call, void *user_data) { say(user_data); }
void around(kvo_call *call, void *user_data) {
  say(user_data);
  CHECK_OK(kvo_call_proceed(call));
  say(user_data);
}
int destroyed;
void count_destroyed(void *user_data) { destroyed++; }

kvo_hook add(kvo_object *object, kvo_class *cls, const char *method, kvo_hook_when when, int order,
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

void check_area(kvo_object *object, const char *expected) {
  log_text[0] = '\0';
  CHECK_EQ(call_area(object, 1), ((box *)object)->width * ((box *)object)->height);
  CHECK_EQ(log_text, expected);
}
