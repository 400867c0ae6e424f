/* C.md's scope, with a point that is observed. */
#include <kvo/kvo.h>
#include <stdio.h>

typedef struct point {
  kvo_object header;
  double x;
} point_of_plane;

static void moved(const kvo_change *change, void *user_data) {
  printf("x: %g -> %g\n", *(const double *)change->old_value->bytes, *(const double *)change->new_value->bytes);
}

int main(void) {
  kvo_property_spec x = {
      .name = "x", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(point_of_plane, x)};
  kvo_class_spec points = {.struct_size = sizeof points,
                           .name = "Point",
                           .instance_size = sizeof(point_of_plane),
                           .properties = &x,
                           .property_count = 1};
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "x", .options = KVO_NEW | KVO_OLD, .callback = moved, KVO_HERE};
  kvo_class *point_class;
  kvo_object *point;
  kvo_observation id;
  if (kvo_class_register(&points, &point_class) != KVO_OK || kvo_object_create(point_class, &point) != KVO_OK ||
      kvo_add_observer(point, &observer, &id) != KVO_OK)
    return 1;
  // snippet: scope
  kvo_remove_observer(id);
  kvo_object_destroy(point);
  return 0;
}
