/* boxed.h - a class with methods, and hooks that write letters, for the tests of methods and hooks. */
#ifndef KVO_TEST_BOXED_H
#define KVO_TEST_BOXED_H

#include "harness.h"

#include <kvo/kvo_method.h>

typedef struct box {
  kvo_object header;
  int width, height;
  char name[16];
} box;

typedef struct size {
  double width, height, depth;
} size;

/* Methods: area (i@i), which says "f"; sign (c@d*), rename (v@*), measure ({size=ddd}@{size=ddd}), mixed (d@d*), sum (i@ii), ratio (f@),
 * and count (l@l, with `counter` as its user data). */
kvo_class *box_class(void);
kvo_object *box_of(kvo_class *cls, int width, int height);
kvo_object *box_make(int width, int height);
int area(const box *of, int scale);
size measure(const box *of, size by);
extern long counter;

/* What methods and hooks have said. */
extern char log_text[256];
void say(const char *text);

int call_area(kvo_object *object, int scale);
/* Calls it, and compares the result and what is said. */
void check_area(kvo_object *object, const char *expected);

/* A hook that says its letter, and one instead of a method that says it around what it calls. */
void letter(kvo_call *call, void *user_data);
void around(kvo_call *call, void *user_data);

/* Adds a hook to an object, or if that is NULL to a class; `destroyed` counts its end. */
kvo_hook add(kvo_object *object, kvo_class *cls, const char *method, kvo_hook_when when, int order,
             kvo_hook_function function, const char *text);
extern int destroyed;
void count_destroyed(void *user_data);

#endif
