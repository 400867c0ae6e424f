/* offsets.c - values at an offset of every size and type, with the trampolines that get and set them; setters with further parameters. */
#include "fixture.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static kvo_object *make(const char *name, size_t size, const kvo_property_spec *properties, size_t count) {
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = size,
                         .properties = properties,
                         .property_count = count,
                         .property_size = sizeof *properties};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

static int calls;
static void count(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  calls++;
}

static kvo_observation observe(kvo_object *object, const char *key) {
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = key, .options = KVO_NEW | KVO_OLD, .callback = count};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  return id;
}

/* -------------------------------------------------------------------------------------------------------------- Sizes -- */

enum { SIZES = 33, ROOM = 40 };

typedef struct sized {
  kvo_object header;
  unsigned char bytes[SIZES][ROOM];
} sized;

TEST("a value of any size at an offset is stored and loaded, and the bytes around it stay as they are") {
  static char names[SIZES][8], types[SIZES][16];
  kvo_property_spec properties[SIZES];
  for (size_t i = 0; i < SIZES; i++) {
    snprintf(names[i], sizeof names[i], "of%zu", i + 1);
    snprintf(types[i], sizeof types[i], "{s=[%zuC]}", i + 1);
    properties[i] = (kvo_property_spec){.name = names[i],
                                        .type = types[i],
                                        .flags = KVO_PROPERTY_AT_OFFSET,
                                        .offset = offsetof(sized, bytes) + ROOM * i + 1};
  }
  kvo_object *object = make("Sized", sizeof(sized), properties, SIZES);
  sized *of = (sized *)object;
  unsigned char value[ROOM], loaded[ROOM], expected[ROOM];
  for (int is_observed = 0; is_observed < 2; is_observed++)
    for (size_t i = 0; i < SIZES; i++) {
      const kvo_property *property = kvo_class_property_at(kvo_object_class(object), i);
      kvo_observation id = is_observed ? observe(object, names[i]) : 0;
      memset(of->bytes, 0xee, sizeof of->bytes);
      memset(expected, 0xee, sizeof expected);
      memset(loaded, 0xdd, sizeof loaded);
      for (size_t k = 0; k < ROOM; k++) value[k] = (unsigned char)(k + 1 + (size_t)is_observed);
      memcpy(expected + 1, value, i + 1);
      CHECK_OK(kvo_object_store(object, property, value));
      CHECK_BYTES(of->bytes[i], expected, sizeof expected);
      CHECK_OK(kvo_object_load(object, property, loaded));
      memset(value + i + 1, 0xdd, ROOM - (i + 1));
      CHECK_BYTES(loaded, value, sizeof loaded);
      if (is_observed) CHECK_OK(kvo_remove_observer(id));
    }
  CHECK_EQ(calls, SIZES);
  kvo_object_destroy(object);
}

/* -------------------------------------------------------------------------------------------------------------- Types -- */

typedef struct triple {
  short a, b, c;
} triple;

typedef struct many {
  kvo_object header;
  signed char c;
  unsigned char C;
  short s;
  unsigned short S;
  int i;
  unsigned I;
  long l;
  unsigned long L;
  long long q;
  unsigned long long Q;
  float f;
  double d;
  bool B;
  void *p;
  triple t;
} many;

#define AT(T, key, encoding, member)                                                                                   \
  { .name = key, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(T, member) }

TEST("values of every scalar type at an offset have getters and setters, which stay the same functions") {
  const kvo_property_spec properties[] = {
      AT(many, "c", "c", c), AT(many, "C", "C", C), AT(many, "s", "s", s), AT(many, "S", "S", S), AT(many, "i", "i", i),
      AT(many, "I", "I", I), AT(many, "l", "l", l), AT(many, "L", "L", L), AT(many, "q", "q", q), AT(many, "Q", "Q", Q),
      AT(many, "f", "f", f), AT(many, "d", "d", d), AT(many, "B", "B", B), AT(many, "p", "^v", p)};
  kvo_object *object = make("Many", sizeof(many), properties, sizeof properties / sizeof *properties);
  many *of = (many *)object;
#define EACH(member, T, first, second)                                                                                 \
  do {                                                                                                                 \
    kvo_function getter = kvo_object_getter(object, #member), setter = kvo_object_setter(object, #member);             \
    CHECK(getter != NULL && setter != NULL && getter != setter);                                                       \
    CHECK(kvo_object_getter(object, #member) == getter);                                                               \
    CHECK(kvo_object_setter(object, #member) == setter);                                                               \
    ((void (*)(kvo_object *, T))setter)(object, (first));                                                              \
    CHECK(of->member == (T)(first));                                                                                   \
    CHECK(((T(*)(const kvo_object *))getter)(object) == (T)(first));                                                   \
    of->member = (second);                                                                                             \
    CHECK(((T(*)(const kvo_object *))getter)(object) == (T)(second));                                                  \
  } while (0)
  EACH(c, signed char, SCHAR_MIN, 7);
  EACH(C, unsigned char, UCHAR_MAX, 7);
  EACH(s, short, SHRT_MIN, 7);
  EACH(S, unsigned short, USHRT_MAX, 7);
  EACH(i, int, INT_MIN, 7);
  EACH(I, unsigned, UINT_MAX, 7);
  EACH(l, long, LONG_MIN, 7);
  EACH(L, unsigned long, ULONG_MAX, 7);
  EACH(q, long long, LLONG_MIN, 7);
  EACH(Q, unsigned long long, ULLONG_MAX, 7);
  EACH(f, float, -1.5f, 2.5f);
  EACH(d, double, -1.5, 2.5);
  EACH(B, bool, true, false);
  EACH(p, void *, of, NULL);
#undef EACH
  kvo_object_destroy(object);
}

TEST("a structure smaller than a register at an offset has a getter and a setter, and a property without getter none") {
  static const kvo_property_spec properties[] = {AT(many, "t", "{triple=sss}", t), {.name = "none", .type = "i"}};
  kvo_object *object = make("Triples", sizeof(many), properties, 2);
  const triple given = {1, -2, 3};
  ((void (*)(kvo_object *, triple))kvo_object_setter(object, "t"))(object, given);
  CHECK_BYTES(&((many *)object)->t, &given, sizeof given);
  triple found = ((triple(*)(const kvo_object *))kvo_object_getter(object, "t"))(object);
  CHECK_BYTES(&found, &given, sizeof given);
  CHECK(kvo_object_getter(object, "none") == NULL);
  CHECK(kvo_object_setter(object, "none") == NULL);
  kvo_object_destroy(object);
}

enum { ALL = 300 };

typedef struct wide {
  kvo_object header;
  int values[ALL];
} wide;

TEST("a class may have hundreds of trampolines, each for its own property") {
  static char names[ALL][8];
  static kvo_property_spec properties[ALL];
  static kvo_function functions[2][ALL];
  for (size_t i = 0; i < ALL; i++) {
    snprintf(names[i], sizeof names[i], "at%zu", i);
    properties[i] = (kvo_property_spec){.name = names[i],
                                        .type = "i",
                                        .flags = KVO_PROPERTY_AT_OFFSET,
                                        .offset = offsetof(wide, values) + i * sizeof(int)};
  }
  kvo_object *object = make("Wide", sizeof(wide), properties, ALL);
  for (size_t i = 0; i < ALL; i++) {
    functions[0][i] = kvo_object_setter(object, names[i]);
    functions[1][i] = kvo_object_getter(object, names[i]);
    CHECK(functions[0][i] != NULL && functions[1][i] != NULL);
  }
  for (int i = 0; i < ALL; i++) ((void (*)(kvo_object *, int))functions[0][i])(object, i + 1);
  for (int i = 0; i < ALL; i++) {
    CHECK_EQ(((wide *)object)->values[i], i + 1);
    CHECK_EQ(((int (*)(const kvo_object *))functions[1][i])(object), i + 1);
  }
  kvo_object_destroy(object);
}

/* ------------------------------------------------------------------------------------------------- Further parameters -- */

typedef struct block {
  char bytes[256];
} block;

typedef struct host {
  kvo_object header;
  int shifted, value, filled;
  unsigned char small;
  double real;
  void *pointer;
  short last;
  block given;
} host;

static int get_shifted(const host *of) { return of->shifted; }
static void set_shifted(host *of, int value, int by) { of->shifted = value + by; }

static int get_filled(const host *of) { return of->filled; }
static void set_filled(host *of, int value, block given) {
  of->filled = value;
  of->given = given;
}

static int uses;
static int get_value(const kvo_object *object, void *user) {
  ++*(int *)user;
  return ((const host *)object)->value;
}
static int set_value(kvo_object *object, int value, unsigned char small, double real, void *pointer, short last,
                     void *user) {
  host *of = (host *)object;
  ++*(int *)user;
  if (value < 0) return value;
  of->value = value;
  of->small = small;
  of->real = real;
  of->pointer = pointer;
  of->last = last;
  return 0;
}

static kvo_object *make_host(void) {
  const kvo_property_spec properties[] = {{.name = "shifted",
                                           .type = "i",
                                           .getter = (kvo_function)get_shifted,
                                           .setter = (kvo_function)set_shifted,
                                           .setter_type = "v@ii"},
                                          {.name = "filled",
                                           .type = "i",
                                           .getter = (kvo_function)get_filled,
                                           .setter = (kvo_function)set_filled,
                                           .setter_type = "v@i{block=[256c]}"},
                                          {.name = "value",
                                           .type = "i",
                                           .getter = (kvo_function)get_value,
                                           .setter = (kvo_function)set_value,
                                           .flags = KVO_PROPERTY_WITH_USER,
                                           .user = &uses,
                                           .setter_type = "i@iCd^vs"}};
  return make("Host", sizeof(host), properties, 3);
}

TEST("trampolines pass one further parameter, four with user data, and one of 256 bytes; other calls pass zeros") {
  kvo_object *object = make_host();
  host *of = (host *)object;
  for (int is_observed = 0; is_observed < 2; is_observed++) {
    static const char *const keys[] = {"shifted", "filled", "value"};
    kvo_observation ids[3];
    for (int i = 0; is_observed && i < 3; i++) ids[i] = observe(object, keys[i]);
    ((void (*)(kvo_object *, int, int))kvo_object_setter(object, "shifted"))(object, 100, 23);
    CHECK_EQ(of->shifted, 123);
    CHECK_OK(KVO_SET(object, "shifted", int, 7));
    CHECK_EQ(of->shifted, 7);
    block given;
    memset(&given, 'x', sizeof given);
    ((void (*)(kvo_object *, int, block))kvo_object_setter(object, "filled"))(object, 3, given);
    CHECK_EQ(of->filled, 3);
    CHECK_BYTES(&of->given, &given, sizeof given);
    CHECK_OK(KVO_SET(object, "filled", int, 4));
    memset(&given, 0, sizeof given);
    CHECK_EQ(of->filled, 4);
    CHECK_BYTES(&of->given, &given, sizeof given);
    int (*set)(kvo_object *, int, unsigned char, double, void *, short) =
        (int (*)(kvo_object *, int, unsigned char, double, void *, short))kvo_object_setter(object, "value");
    uses = 0;
    CHECK_EQ(set(object, 5, 200, 2.5, of, -6), 0);
    CHECK_EQ(of->value, 5);
    CHECK_EQ(of->small, 200);
    CHECK_EQ(of->real, 2.5);
    CHECK_SAME(of->pointer, of);
    CHECK_EQ(of->last, -6);
    CHECK_EQ(set(object, -5, 0, 0, NULL, 0), -5);
    CHECK_EQ(of->value, 5);
    CHECK_OK(KVO_SET(object, "value", int, 6));
    CHECK_EQ(of->value, 6);
    CHECK_EQ(of->small, 0);
    CHECK_EQ(of->real, 0.0);
    CHECK_SAME(of->pointer, NULL);
    CHECK_EQ(of->last, 0);
    CHECK(uses >= 3);
    for (int i = 0; is_observed && i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  }
  CHECK_EQ(calls, 6);
  kvo_object_destroy(object);
}
