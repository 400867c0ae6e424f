/* accessors.c - what bindings need of a property: accessors with user data, values at an offset, setters that answer or take more. */
#include "fixture.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static kvo_class *class_of(const char *name, size_t size, const kvo_property_spec *properties, size_t count) {
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = size,
                         .properties = properties,
                         .property_count = count,
                         .property_size = sizeof *properties};
  kvo_class *cls = NULL;
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

/* The last change. */
static struct {
  int calls, priors;
  double old_value, new_value;
} seen;

static double number(const kvo_value *value) {
  if (value == NULL || value->bytes == NULL) return NAN;
  switch (value->type[0]) {
    case 'd': return *(const double *)value->bytes;
    case 'f': return (double)*(const float *)value->bytes;
    case 'i': return *(const int *)value->bytes;
    case 's': return *(const short *)value->bytes;
    case 'C': return *(const unsigned char *)value->bytes;
    default: return NAN;
  }
}

static void note(const kvo_change *change, void *user_data) {
  (void)user_data;
  if (change->is_prior) {
    seen.priors++;
    return;
  }
  seen.calls++;
  seen.old_value = number(change->old_value);
  seen.new_value = number(change->new_value);
}

static kvo_observation observe(kvo_object *object, const char *key, unsigned options) {
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = key, .options = (kvo_options)options, .callback = note};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  memset(&seen, 0, sizeof seen);
  return id;
}

/* ---------------------------------------------------------------------------------------------------------- User data -- */

/* A binding keeps its values elsewhere, and has one getter and one setter for all properties. */
typedef struct cell {
  const char *name;
  double value;
  const kvo_object *object;
} cell;

static double cell_get(const kvo_object *object, void *user) {
  CHECK_SAME(object, ((cell *)user)->object);
  return ((cell *)user)->value;
}
static void cell_set(kvo_object *object, double value, void *user) {
  CHECK_SAME(object, ((cell *)user)->object);
  ((cell *)user)->value = value;
}

typedef struct pair {
  long first, second;
} pair;
static pair the_pair;
static pair pair_get(const kvo_object *object, void *user) {
  (void)object;
  return *(pair *)user;
}
static void pair_set(kvo_object *object, pair value, void *user) {
  (void)object;
  *(pair *)user = value;
}

static short the_short;
static short short_get(const kvo_object *object, void *user) {
  (void)object;
  return *(short *)user;
}

TEST("getters and setters get the user data of their property, observed or not") {
  static cell width = {.name = "width"}, height = {.name = "height"};
  const kvo_function get = (kvo_function)cell_get, set = (kvo_function)cell_set;
  const kvo_property_spec properties[] = {
      {.name = "width", .type = "d", .getter = get, .setter = set, .flags = KVO_PROPERTY_WITH_USER, .user = &width},
      {.name = "height", .type = "d", .getter = get, .setter = set, .flags = KVO_PROPERTY_WITH_USER, .user = &height}};
  kvo_class *cls = class_of("Bound", sizeof(kvo_object), properties, 2);
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  width.object = height.object = object;
  CHECK_SAME(kvo_property_user(kvo_class_property(cls, "height")), &height);
  for (int observed = 0; observed < 2; observed++) {
    kvo_observation id = observed ? observe(object, "height", KVO_NEW | KVO_OLD) : 0;
    height.value = 1;
    CHECK_OK(KVO_SET(object, "width", double, 2.5));
    CHECK_OK(KVO_SET(object, "height", double, 3.5));
    CHECK_EQ(width.value, 2.5);
    CHECK_EQ(height.value, 3.5);
    if (observed) CHECK_EQ(seen.old_value, 1.0);
    double value = 4.5;
    kvo_value boxed = {"d", sizeof value, &value};
    CHECK_OK(kvo_set_value(object, "height", &boxed));
    CHECK_EQ(height.value, 4.5);
    value = 5.5;
    CHECK_OK(kvo_object_store(object, kvo_class_property(cls, "height"), &value));
    CHECK_EQ(height.value, 5.5);
    /* Callers do not pass the user data. */
    ((void (*)(kvo_object *, double))kvo_object_setter(object, "height"))(object, 6.5);
    CHECK_EQ(height.value, 6.5);
    CHECK_EQ(((double (*)(const kvo_object *))kvo_object_getter(object, "height"))(object), 6.5);
    CHECK_OK(kvo_object_load(object, kvo_class_property(cls, "height"), &value));
    CHECK_EQ(value, 6.5);
    CHECK_EQ(seen.calls, observed ? 4 : 0);
    if (observed) CHECK_EQ(seen.new_value, 6.5);
    if (observed) CHECK_OK(kvo_remove_observer(id));
  }
  kvo_object_destroy(object);
}

TEST("structures, and integers smaller than a register, pass with user data, too") {
  const kvo_property_spec properties[] = {{.name = "pair",
                                           .type = "{pair=ll}",
                                           .getter = (kvo_function)pair_get,
                                           .setter = (kvo_function)pair_set,
                                           .flags = KVO_PROPERTY_WITH_USER,
                                           .user = &the_pair},
                                          {.name = "small",
                                           .type = "s",
                                           .getter = (kvo_function)short_get,
                                           .flags = KVO_PROPERTY_WITH_USER,
                                           .user = &the_short}};
  kvo_class *cls = class_of("Pairs", sizeof(kvo_object), properties, 2);
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  pair value = {1, -2};
  CHECK_OK(KVO_SET(object, "pair", pair, value));
  CHECK_EQ(the_pair.second, -2);
  kvo_observation id = observe(object, "pair", KVO_NEW | KVO_OLD);
  value.first = 7;
  CHECK_OK(KVO_SET(object, "pair", pair, value));
  ((void (*)(kvo_object *, pair))kvo_object_setter(object, "pair"))(object, (pair){8, 9});
  CHECK_EQ(((pair(*)(const kvo_object *))kvo_object_getter(object, "pair"))(object).second, 9);
  CHECK_EQ(seen.calls, 2);
  the_short = -5;
  CHECK_EQ(((short (*)(const kvo_object *))kvo_object_getter(object, "small"))(object), -5);
  CHECK(kvo_object_setter(object, "small") == NULL);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------- At an offset -- */

typedef struct plain {
  kvo_object header;
  double real;
  int whole;
  unsigned char byte;
  short half;
  char *name;
  struct plain *next;
  struct {
    char bytes[300];
  } large;
  double sealed;
} plain;

#define AT(key, encoding, member)                                                                                      \
  { .name = key, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(plain, member) }

static kvo_class *plain_class(void) {
  static kvo_class *cls;
  const kvo_property_spec properties[] = {AT("real", "d", real),
                                          AT("whole", "i", whole),
                                          AT("byte", "C", byte),
                                          AT("half", "s", half),
                                          AT("name", "*", name),
                                          AT("next", "@", next),
                                          AT("large", "{large=[300c]}", large),
                                          {.name = "sealed",
                                           .type = "d",
                                           .flags = KVO_PROPERTY_AT_OFFSET | KVO_PROPERTY_READ_ONLY,
                                           .offset = offsetof(plain, sealed)}};
  if (cls == NULL) cls = class_of("Plain", sizeof(plain), properties, COUNT(properties));
  return cls;
}

static plain *plain_make(void) {
  kvo_object *object;
  CHECK_OK(kvo_object_create(plain_class(), &object));
  return (plain *)object;
}

static void check_number(plain *object, const char *key, double value, int calls) {
  CHECK_EQ(seen.calls, calls);
  CHECK_EQ(seen.new_value, value);
  union {
    double d;
    int i;
    unsigned char C;
    short s;
  } loaded;
  const kvo_property *property = kvo_class_property(plain_class(), key);
  CHECK_OK(kvo_object_load(&object->header, property, &loaded));
  kvo_value boxed = {kvo_property_type(property), 0, &loaded};
  CHECK_EQ(number(&boxed), value);
}

TEST("a value at an offset is stored and loaded without accessors, and notifies") {
  plain *object = plain_make();
#define EACH(key, member, T, first, second)                                                                            \
  do {                                                                                                                 \
    T value = (first);                                                                                                 \
    const kvo_property *property = kvo_class_property(plain_class(), key);                                             \
    CHECK_OK(kvo_object_store(&object->header, property, &value));                                                     \
    CHECK_EQ(object->member, value);                                                                                   \
    kvo_observation id = observe(&object->header, key, KVO_NEW | KVO_OLD);                                             \
    value = (second);                                                                                                  \
    CHECK_OK(kvo_object_store(&object->header, property, &value));                                                     \
    CHECK_EQ(object->member, value);                                                                                   \
    CHECK_EQ(seen.old_value, (double)(first));                                                                         \
    check_number(object, key, (double)(second), 1);                                                                    \
    CHECK_OK(KVO_SET(object, key, T, (first)));                                                                        \
    check_number(object, key, (double)(first), 2);                                                                     \
    ((void (*)(kvo_object *, T))kvo_object_setter(&object->header, key))(&object->header, (second));                   \
    check_number(object, key, (double)(second), 3);                                                                    \
    CHECK(((T(*)(const kvo_object *))kvo_object_getter(&object->header, key))(&object->header) == (T)(second));        \
    CHECK_OK(kvo_remove_observer(id));                                                                                 \
    ((void (*)(kvo_object *, T))kvo_object_setter(&object->header, key))(&object->header, (first));                    \
    CHECK_EQ(object->member, (first));                                                                                 \
    CHECK_EQ(seen.calls, 3);                                                                                           \
  } while (0)
  EACH("real", real, double, 1.5, -2.5);
  EACH("whole", whole, int, 7, -8);
  EACH("byte", byte, unsigned char, 1, 255);
  EACH("half", half, short, 300, -300);
  kvo_object_destroy(&object->header);
}

TEST("values at an offset are told before the change, too, and with the old value of a large structure") {
  plain *object = plain_make();
  kvo_observation id = observe(&object->header, "real", KVO_NEW | KVO_OLD | KVO_PRIOR);
  KVO_SET(object, "real", double, 3.0);
  CHECK_EQ(seen.priors, 1);
  check_number(object, "real", 3.0, 1);
  CHECK_OK(kvo_remove_observer(id));
  id = observe(&object->header, "large", KVO_OLD);
  object->large.bytes[299] = 1;
  __typeof__(object->large) large = {{0}};
  CHECK_OK(KVO_SET(object, "large", __typeof__(large), large));
  CHECK_EQ(object->large.bytes[299], 0);
  CHECK_EQ(seen.calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&object->header);
}

TEST("key paths lead through objects at an offset") {
  plain *first = plain_make(), *second = plain_make(), *third = plain_make();
  KVO_SET(first, "next", plain *, second);
  kvo_observation id = observe(&first->header, "next.whole", KVO_NEW);
  KVO_SET(second, "whole", int, 5);
  CHECK_EQ(seen.new_value, 5.0);
  third->whole = 6;
  KVO_SET(first, "next", plain *, third);
  CHECK_EQ(seen.new_value, 6.0);
  KVO_SET(second, "whole", int, 7);
  CHECK_EQ(seen.calls, 2);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&first->header);
  kvo_object_destroy(&second->header);
  kvo_object_destroy(&third->header);
}

TEST("a string at an offset is neither copied nor freed") {
  plain *object = plain_make();
  char first[] = "first", second[] = "second";
  kvo_observation id = observe(&object->header, "name", KVO_NEW | KVO_OLD);
  CHECK_OK(KVO_SET(object, "name", char *, first));
  CHECK_OK(KVO_SET(object, "name", char *, second));
  CHECK_SAME(object->name, second);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(&object->header);
}

TEST("a read-only value at an offset is loaded and observed, and not stored") {
  plain *object = plain_make();
  const kvo_property *sealed = kvo_class_property(plain_class(), "sealed");
  double value = 2;
  CHECK_STATUS(kvo_object_store(&object->header, sealed, &value), KVO_ERROR_READ_ONLY);
  CHECK(kvo_object_setter(&object->header, "sealed") == NULL);
  object->sealed = 4;
  CHECK_OK(kvo_object_load(&object->header, sealed, &value));
  CHECK_EQ(value, 4.0);
  kvo_object_destroy(&object->header);
}

/* ------------------------------------------------------------------------------------------------ Setters that answer -- */

typedef struct picky {
  kvo_object header;
  int value, status, animated;
  void *token;
} picky;

static int picky_value(const picky *of) { return of->value; }
static int picky_status(const picky *of) { return of->status; }

static bool picky_set_value(picky *of, int value) {
  if (value < 0) return false;
  of->value = value;
  return true;
}

static int picky_set_status(picky *of, int value, unsigned char animated, void *token) {
  if (value < 0) return value;
  of->status = value;
  of->animated = animated;
  of->token = token;
  return 0;
}

static kvo_class *picky_class(void) {
  static kvo_class *cls;
  const kvo_property_spec properties[] = {{.name = "value",
                                           .type = "i",
                                           .getter = (kvo_function)picky_value,
                                           .setter = (kvo_function)picky_set_value,
                                           .setter_type = "B@i"},
                                          {.name = "status",
                                           .type = "i",
                                           .getter = (kvo_function)picky_status,
                                           .setter = (kvo_function)picky_set_status,
                                           .setter_type = "i@iC^v"}};
  if (cls == NULL) cls = class_of("Picky", sizeof(picky), properties, 2);
  return cls;
}

TEST("a trampoline returns what the setter has returned") {
  kvo_object *object;
  CHECK_OK(kvo_object_create(picky_class(), &object));
  picky *of = (picky *)object;
  for (int observed = 0; observed < 2; observed++) {
    kvo_observation ids[2] = {0, 0};
    if (observed) ids[0] = observe(object, "value", KVO_NEW), ids[1] = observe(object, "status", KVO_NEW | KVO_OLD);
    bool (*set_value)(kvo_object *, int) = (bool (*)(kvo_object *, int))kvo_object_setter(object, "value");
    int (*set_status)(kvo_object *, int, unsigned char, void *) =
        (int (*)(kvo_object *, int, unsigned char, void *))kvo_object_setter(object, "status");
    CHECK(set_value(object, 5));
    CHECK(!set_value(object, -5));
    CHECK_EQ(of->value, 5);
    CHECK_EQ(set_status(object, 6, 200, of), 0);
    CHECK_EQ(of->animated, 200);
    CHECK_SAME(of->token, of);
    CHECK_EQ(set_status(object, -42, 0, NULL), -42);
    CHECK_EQ(of->status, 6);
    CHECK_EQ(seen.calls, observed ? 2 : 0);
    for (int i = 0; observed && i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  }
  kvo_object_destroy(object);
}

TEST("a value that a setter refuses is no change: no observer is notified of it, and the caller is told") {
  kvo_object *object;
  CHECK_OK(kvo_object_create(picky_class(), &object));
  for (int observed = 0; observed < 2; observed++) {
    kvo_observation value_id = 0, status_id = 0;
    if (observed) {
      value_id = observe(object, "value", KVO_NEW | KVO_PRIOR);
      status_id = observe(object, "status", KVO_NEW);
    }
    CHECK_STATUS(KVO_SET(object, "value", int, -1), KVO_ERROR_REFUSED);
    CHECK_EQ(kvo_last_refusal(), 0);
    CHECK_STATUS(KVO_SET(object, "status", int, -7), KVO_ERROR_REFUSED);
    CHECK_EQ(kvo_last_refusal(), -7);
    CHECK_CONTAINS(kvo_last_error(), "property 'status' of class 'Picky'");
    int value = -9;
    kvo_value boxed = {"i", sizeof value, &value};
    CHECK_STATUS(kvo_set_value(object, "status", &boxed), KVO_ERROR_REFUSED);
    CHECK_EQ(kvo_last_refusal(), -9);
    CHECK_STATUS(kvo_object_store(object, kvo_class_property(picky_class(), "status"), &value), KVO_ERROR_REFUSED);
    CHECK_EQ(seen.calls, 0);
    CHECK_EQ(seen.priors, observed); /* that observer was told before the setter could refuse */
    CHECK_OK(KVO_SET(object, "value", int, 1));
    CHECK_OK(KVO_SET(object, "status", int, 1));
    CHECK_EQ(seen.calls, observed ? 2 : 0);
    if (observed) CHECK_OK(kvo_remove_observer(value_id));
    if (observed) CHECK_OK(kvo_remove_observer(status_id));
  }
  kvo_object_destroy(object);
}

typedef struct holder {
  kvo_object header;
  picky *held;
} holder;

TEST("a refused value leaves the expressions that read the property as they were") {
  const kvo_property_spec property = {
      .name = "held", .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(holder, held)};
  kvo_class *cls = class_of("Holder", sizeof(holder), &property, 1);
  kvo_object *object, *root;
  CHECK_OK(kvo_object_create(picky_class(), &object));
  CHECK_OK(kvo_object_create(cls, &root));
  KVO_SET(root, "held", kvo_object *, object);
  kvo_observation id = observe(root, "held.value", KVO_NEW | KVO_OLD | KVO_PRIOR);
  CHECK_STATUS(KVO_SET(object, "value", int, -1), KVO_ERROR_REFUSED);
  CHECK_EQ(seen.calls, 0);
  CHECK_OK(KVO_SET(object, "value", int, 3));
  CHECK_EQ(seen.calls, 1);
  CHECK_EQ(seen.old_value, 0.0);
  CHECK_EQ(seen.new_value, 3.0);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(root);
  kvo_object_destroy(object);
}
