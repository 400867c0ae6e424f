/* gauges.c - a plug-in with two classes of its own, one a subclass of the other: unregistering.c loads and unloads it again and again. */
#include <kvo/kvo.h>

typedef struct gauge {
  kvo_object header;
  double value;
  double limit;
} gauge;

static gauge *made;
static kvo_class *gauge_class, *limited_class;
static int calls;

static double get_value(const gauge *of) { return of->value; }
static bool set_value(gauge *of, double value) {
  if (value < 0) return false;
  of->value = value;
  return true;
}
static double get_doubled(const kvo_object *object, void *user) {
  (void)user;
  return 2 * ((const gauge *)object)->value;
}
static void finalize(kvo_object *object) {
  if (object == &made->header) made = NULL;
}
static void changed(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  calls++;
}

static kvo_status open_classes(void) {
  static const char *const affecting[] = {"value", NULL};
  const kvo_property_spec properties[] = {{.name = "value",
                                           .type = "d",
                                           .getter = (kvo_function)get_value,
                                           .setter = (kvo_function)set_value,
                                           .setter_type = "B@d"},
                                          {.name = "doubled",
                                           .type = "d",
                                           .getter = (kvo_function)get_doubled,
                                           .affected_by = affecting,
                                           .flags = KVO_PROPERTY_WITH_USER}};
  const kvo_property_spec limit = {
      .name = "limit", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(gauge, limit)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Gauge",
                         .instance_size = sizeof(gauge),
                         .properties = properties,
                         .property_count = 2,
                         .finalize = finalize};
  kvo_status status = kvo_class_register(&spec, &gauge_class);
  if (status != KVO_OK) return status;
  spec.name = "LimitedGauge";
  spec.superclass = gauge_class;
  spec.properties = &limit;
  spec.property_count = 1;
  return kvo_class_register(&spec, &limited_class);
}

/* Uses the classes, and ends them. Returns how often the observers were called; negative if a call fails. */
KVO_API int gauges_use(void);
int gauges_use(void) {
  kvo_object *object;
  kvo_observation ids[3];
  const char *keys[] = {"value", "doubled", "limit"};
  if (open_classes() != KVO_OK) return -1;
  if (kvo_object_create(limited_class, &object) != KVO_OK) return -2;
  made = (gauge *)object;
  calls = 0;
  for (int i = 0; i < 3; i++) {
    kvo_observer observer = {
        .struct_size = sizeof observer, .key_path = keys[i], .options = KVO_OLD, .callback = changed, KVO_HERE};
    if (kvo_add_observer(object, &observer, &ids[i]) != KVO_OK) return -3;
  }
  bool (*set)(kvo_object *, double) = (bool (*)(kvo_object *, double))kvo_object_setter(object, "value");
  if (!set(object, 2) || set(object, -1) || made->value != 2) return -4;
  if (((double (*)(const kvo_object *))kvo_object_getter(object, "doubled"))(object) != 4) return -5;
  if (KVO_SET(object, "limit", double, 7) != KVO_OK || KVO_SET(object, "value", double, 3) != KVO_OK) return -6;
  if (kvo_class_unregister(gauge_class) != KVO_ERROR_BUSY || kvo_class_unregister(limited_class) != KVO_ERROR_BUSY)
    return -7;
  for (int i = 0; i < 3; i++)
    if (kvo_remove_observer(ids[i]) != KVO_OK) return -8;
  kvo_object_destroy(object);
  if (made != NULL) return -9; /* finalize was this plug-in's */
  if (kvo_class_unregister(gauge_class) != KVO_ERROR_BUSY) return -10;
  if (kvo_class_unregister(limited_class) != KVO_OK || kvo_class_unregister(gauge_class) != KVO_OK) return -11;
  return calls;
}
