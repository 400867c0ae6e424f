/* main.c - the example at the top of kvo.h, as a program against an installed library. */
#include <kvo/kvo.h>
#include <stdio.h>

typedef struct Point {
  kvo_object header;
  double x;
} Point;
static double point_x(const Point *p) { return p->x; }
static void point_set_x(Point *p, double x) { p->x = x; }

static void moved(const kvo_change *change, void *user_data) {
  (void)user_data;
  printf("%s: %g -> %g\n", change->key_path, *(const double *)change->old_value->bytes,
         *(const double *)change->new_value->bytes);
}

int main(void) {
  kvo_property_spec properties[] = {
      {.name = "x", .type = "d", .getter = (kvo_function)point_x, .setter = (kvo_function)point_set_x}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Point",
                         .instance_size = sizeof(Point),
                         .properties = properties,
                         .property_count = 1};
  kvo_class *point_class;
  kvo_object *point;
  if (kvo_class_register(&spec, &point_class) != KVO_OK || kvo_object_create(point_class, &point) != KVO_OK) return 1;
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .options = KVO_NEW | KVO_OLD, .callback = moved, KVO_HERE};
  kvo_observation id;
  if (kvo_add_observer(point, &observer, &id) != KVO_OK) return 1;
  KVO_SET(point, "x", double, 3.5); /* calls point_set_x, then moved() */
  kvo_status removed = kvo_remove_observer(id);
  kvo_object_destroy(point);
  return removed != KVO_OK;
}
