/* cfaultpages.c - the examples in C of Documentation/Faults, word for word between `page:` and `page end`. */
#include "cfaultpages.h"

#include <kvo/kvo.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

/* page: README class of C */
typedef struct Point {
  kvo_object header;
  double x;
} Point;
static double point_x(const Point *p) { return p->x; }
static void point_set_x(Point *p, double x) { p->x = x; }

static kvo_class *point_class(void) {
  static kvo_class *cls;
  kvo_property_spec x = {
      .name = "x", .type = "d", .getter = (kvo_function)point_x, .setter = (kvo_function)point_set_x};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Point",
                         .instance_size = sizeof(Point),
                         .properties = &x,
                         .property_count = 1};
  if (cls == NULL) kvo_class_register(&spec, &cls);
  return cls;
}

static void moved(const kvo_change *change, void *user_data) {
  (void)change;
  ++*(int *)user_data;
}
/* page end */

/* An observer that counts the changes, and ends with its object. */
static kvo_observer counting(int *count) {
  return (kvo_observer){.struct_size = sizeof(kvo_observer),
                        .key_path = "x",
                        .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                        .callback = moved,
                        .user_data = count,
                        KVO_HERE};
}

void page_KVO0005_example(void) {
  int count = 0;
  /* page: KVO0005 example */
  kvo_object *point;
  kvo_observation id;
  kvo_object_create(point_class(), &point);
  kvo_add_observer(point,
                   &(kvo_observer){.struct_size = sizeof(kvo_observer),
                                   .key_path = "x",
                                   .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                                   .callback = moved,
                                   .user_data = &count,
                                   KVO_HERE},
                   &id);
  kvo_object_destroy(point);
  kvo_remove_observer(id); /* the observation ended with its object */
  /* page end */
}

void page_KVO0005_remedy(void) {
  int count = 0;
  kvo_object *point;
  kvo_observation id;
  kvo_object_create(point_class(), &point);
  kvo_observer observer = counting(&count);
  kvo_add_observer(point, &observer, &id);
  /* page: KVO0005 remedy */
  kvo_object_destroy(point);
  kvo_cancel_observer(id); /* no fault for one that has ended */
  /* page end */
}

/* page: KVO0007 example class */
static int left_count;

static void watch_at_the_end(kvo_object *point) { /* the `finalize` of its class */
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = moved, .user_data = &left_count, KVO_HERE};
  kvo_add_observer(point, &observer, NULL);
}
/* page end */

void page_KVO0007_example(void) {
  static kvo_class *last_class;
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "LastPoint",
                         .superclass = point_class(),
                         .instance_size = sizeof(Point),
                         .finalize = watch_at_the_end};
  if (last_class == NULL) kvo_class_register(&spec, &last_class);
  /* page: KVO0007 example */
  kvo_object *point;
  kvo_object_create(last_class, &point); /* of a class with `.finalize = watch_at_the_end` */
  kvo_object_destroy(point);
  /* page end */
}

void page_KVO0007_remedy(void) {
  int count = 0;
  /* page: KVO0007 remedy */
  kvo_object *point;
  kvo_observation id;
  kvo_object_create(point_class(), &point);
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = moved, .user_data = &count, KVO_HERE};
  kvo_add_observer(point, &observer, &id); /* while the object lives */
  kvo_remove_observer(id);
  kvo_object_destroy(point);
  /* page end */
}

void page_KVO0008_example(void) {
  /* page: KVO0008 example */
  kvo_observation id = 0;
  kvo_remove_observer(id); /* nothing was ever registered */
  /* page end */
}

void page_KVO0008_remedy(void) {
  /* page: KVO0008 remedy */
  kvo_observation id = 0;
  if (id != 0) kvo_remove_observer(id);
  /* page end */
}

void page_KVO0012_example(void) {
  int count = 0;
  /* page: KVO0012 example */
  Point point = {.x = 1}; /* kvo_object_init was not called */
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = moved, .user_data = &count, KVO_HERE};
  kvo_add_observer(&point.header, &observer, NULL);
  /* page end */
}

void page_KVO0012_remedy(void) {
  int count = 0;
  /* page: KVO0012 remedy */
  Point point = {.x = 1};
  kvo_object_init(&point.header, point_class());
  kvo_observation id;
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = moved, .user_data = &count, KVO_HERE};
  kvo_add_observer(&point.header, &observer, &id);
  kvo_remove_observer(id);
  kvo_object_finish(&point.header);
  /* page end */
}

void page_KVO0020_remedy(void) {
  int count = 0;
  kvo_object *point;
  kvo_object_create(point_class(), &point);
  kvo_observer observer = counting(&count);
  /* page: KVO0020 remedy */
  if (kvo_add_observer(point, &observer, NULL) == KVO_ERROR_NO_INTERCEPTION)
    fprintf(stderr, "going on without live updates\n"); /* the object works, un-notified */
  /* page end */
  kvo_object_destroy(point);
}

void page_KVO0021_example(void) {
  int count = 0;
  kvo_object *point;
  kvo_object_create(point_class(), &point);
  uintptr_t word = 0;
  /* page: KVO0021 example */
  kvo_observation id;
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = moved, .user_data = &count, KVO_HERE};
  kvo_add_observer(point, &observer, &id);
  /* page end */
  word = point->kvo_private_word;
  /* page: KVO0021 example */
  memset(point, 0, sizeof(Point)); /* the header with it */
  kvo_remove_observer(id);
  /* page end */
  if (point->kvo_private_word == 0) point->kvo_private_word = word;
  kvo_object_destroy(point);
}

void page_KVO0021_remedy(void) {
  kvo_object *object;
  kvo_object_create(point_class(), &object);
  Point *point = (Point *)object;
  /* page: KVO0021 remedy */
  memset((char *)point + sizeof(kvo_object), 0, sizeof(Point) - sizeof(kvo_object)); /* all but the header */
  /* page end */
  kvo_object_destroy(object);
}

/* page: KVO0025 example class */
static jmp_buf back;

static void refuse(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  longjmp(back, 1); /* out of the callback, over the frames of the runtime */
}
/* page end */

void page_KVO0025_example(void) {
  int count = 0;
  kvo_object *point;
  kvo_object_create(point_class(), &point);
  kvo_observer other = counting(&count);
  kvo_add_observer(point, &other, NULL);
  /* page: KVO0025 example */
  kvo_observation id;
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = refuse, .user_data = point, KVO_HERE};
  kvo_add_observer(point, &observer, &id);
  if (setjmp(back) == 0) KVO_SET(point, "x", double, 1); /* other observers of x are not notified */
  kvo_remove_observer(id);
  KVO_SET(point, "x", double, 2); /* notifying them, the runtime finds what was left behind */
  /* page end */
  kvo_object_destroy(point);
}

/* page: KVO0025 remedy class */
static void note_refusal(const kvo_change *change, void *user_data) {
  (void)change;
  *(int *)user_data = 1; /* returns; who made the change looks at it */
}
/* page end */

void page_KVO0025_remedy(void) {
  kvo_object *point;
  kvo_object_create(point_class(), &point);
  /* page: KVO0025 remedy */
  int refused = 0;
  kvo_observation id;
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .callback = note_refusal, .user_data = &refused, KVO_HERE};
  kvo_add_observer(point, &observer, &id);
  KVO_SET(point, "x", double, 1);
  if (refused) fprintf(stderr, "x may not be 1\n");
  /* page end */
  kvo_remove_observer(id);
  kvo_object_destroy(point);
}
