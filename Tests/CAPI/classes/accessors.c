/* accessors.c - what bindings need of a property: accessors with user data, values at an offset, setters that answer or take more. */
#include "made.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- User data -- */

/* A binding keeps its values elsewhere, and has one getter and one setter for all properties. */
typedef struct cell {
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

TEST("getters and setters get the user data of their property, observed or not") {
  static cell width, height;
  const kvo_property_spec properties[] = {
      PROPERTY_WITH("width", "d", cell_get, cell_set, .flags = KVO_PROPERTY_WITH_USER, .user = &width),
      PROPERTY_WITH("height", "d", cell_get, cell_set, .flags = KVO_PROPERTY_WITH_USER, .user = &height)};
  kvo_object *object = object_made("Bound", sizeof(kvo_object), properties, 2);
  const kvo_property *property = kvo_class_property(kvo_object_class(object), "height");
  CHECK_SAME(kvo_property_user(property), &height);
  width.object = height.object = object;
  for (int is_observed = 0; is_observed < 2; is_observed++) {
    watcher w = {0};
    double value = 4.5, loaded = 0;
    if (is_observed) watch((item *)object, "height", KVO_NEW | KVO_OLD, &w);
    CHECK_OK(KVO_SET(object, "width", double, 2.5));
    CHECK_EQ(width.value, 2.5);
    CHECK_OK(KVO_SET(object, "height", double, 3.5));
    CHECK_EQ(height.value, 3.5);
    CHECK_OK(kvo_object_store(object, property, &value));
    CHECK_EQ(height.value, 4.5);
    SETTER(object, "height", double)(object, 5.5); /* callers do not pass the user data */
    CHECK_EQ(GETTER(object, "height", double)(object), 5.5);
    CHECK_OK(kvo_object_load(object, property, &loaded));
    CHECK_EQ(loaded, 5.5);
    if (!is_observed) continue;
    CHECK_EQ(w.calls, 3);
    CHECK_EQ(w.old_value.real, 4.5);
    CHECK_EQ(w.new_value.real, 5.5);
    CHECK_OK(kvo_remove_observer(w.id));
  }
  kvo_object_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------- At an offset -- */

typedef struct triple {
  short a, b, c;
} triple;

typedef struct plain {
  kvo_object header;
  signed char c;
  short s;
  unsigned short S;
  int i;
  unsigned I;
  unsigned long long Q;
  float f;
  double d;
  bool B;
  void *p;
  char *name;
  struct plain *next;
  triple t;
} plain;

static kvo_class *plain_class(void) {
  static kvo_class *cls;
#define AT(member, encoding) AT_OFFSET(plain, member, encoding)
  static const kvo_property_spec properties[] = {
      AT(c, "c"), AT(s, "s"), AT(S, "S"),  AT(i, "i"),    AT(I, "I"),    AT(Q, "Q"),           AT(f, "f"),
      AT(d, "d"), AT(B, "B"), AT(p, "^v"), AT(name, "*"), AT(next, "@"), AT(t, "{triple=sss}")};
#undef AT
  if (cls == NULL) cls = class_made("Plain", sizeof(plain), properties, COUNT(properties));
  return cls;
}

static plain *plain_make(void) { return (plain *)object_of(plain_class()); }

TEST("scalar values at an offset are set, read and observed without accessors; strings are neither copied nor freed") {
  plain *of = plain_make();
  kvo_object *object = &of->header;
  kvo_observation id = 0;
  int calls = 0;
  char first[] = "first", second[] = "second";
#define EACH(member, T, one, other)                                                                                    \
  for (int is_observed = 0; is_observed < 2; is_observed++) {                                                          \
    if (is_observed) id = count_changes(object, #member, KVO_NEW | KVO_OLD | KVO_PRIOR, &calls);                       \
    kvo_function getter = kvo_object_getter(object, #member), setter = kvo_object_setter(object, #member);             \
    calls = 0;                                                                                                         \
    SETTER(object, #member, T)(object, (one));                                                                         \
    CHECK(of->member == (T)(one));                                                                                     \
    CHECK(GETTER(object, #member, T)(object) == (T)(one));                                                             \
    CHECK_OK(KVO_SET(object, #member, T, (other)));                                                                    \
    CHECK(of->member == (T)(other));                                                                                   \
    CHECK(GETTER(object, #member, T)(object) == (T)(other));                                                           \
    CHECK_EQ(calls, is_observed ? 4 : 0);                                                                              \
    CHECK(kvo_object_getter(object, #member) == getter && kvo_object_setter(object, #member) == setter);               \
    if (is_observed) CHECK_OK(kvo_remove_observer(id));                                                                \
  }
  EACH(c, signed char, SCHAR_MIN, 7)
  EACH(s, short, SHRT_MIN, 7)
  EACH(S, unsigned short, USHRT_MAX, 7)
  EACH(i, int, INT_MIN, 7)
  EACH(I, unsigned, UINT_MAX, 7)
  EACH(Q, unsigned long long, ULLONG_MAX, 7)
  EACH(f, float, -1.5f, 2.5f)
  EACH(d, double, -1.5, 2.5)
  EACH(B, bool, true, false)
  EACH(p, void *, of, NULL)
  EACH(name, char *, first, second)
#undef EACH
  kvo_object_destroy(object);
}

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
  kvo_object *object = object_made("Sized", sizeof(sized), properties, SIZES);
  sized *of = (sized *)object;
  unsigned char value[ROOM], loaded[ROOM], expected[ROOM];
  int calls = 0;
  for (int is_observed = 0; is_observed < 2; is_observed++)
    for (size_t i = 0; i < SIZES; i++) {
      const kvo_property *property = kvo_class_property_at(kvo_object_class(object), i);
      kvo_observation id = is_observed ? count_changes(object, names[i], KVO_NEW | KVO_OLD, &calls) : 0;
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

TEST("a read-only value at an offset is loaded, and not stored") {
  kvo_property_spec property = AT_OFFSET(plain, i, "i");
  property.flags |= KVO_PROPERTY_READ_ONLY;
  kvo_object *object = object_made("Sealed", sizeof(plain), &property, 1);
  const kvo_property *sealed = kvo_class_property(kvo_object_class(object), "i");
  int value = 2;
  CHECK_STATUS(kvo_object_store(object, sealed, &value), KVO_ERROR_READ_ONLY);
  CHECK(kvo_object_setter(object, "i") == NULL);
  ((plain *)object)->i = 4;
  CHECK_OK(kvo_object_load(object, sealed, &value));
  CHECK_EQ(value, 4);
  kvo_object_destroy(object);
}

/* ---------------------------------------------------------------------------- Setters that answer, and that take more -- */

typedef struct block {
  char bytes[256];
} block;

typedef struct host {
  kvo_object header;
  int accepted, filled, status;
  unsigned char small;
  double real;
  void *pointer;
  short last;
  block given;
} host;

static int get_accepted(const host *of) { return of->accepted; }
static bool set_accepted(host *of, int value) {
  if (value >= 0) of->accepted = value;
  return value >= 0;
}

static int get_filled(const host *of) { return of->filled; }
static void set_filled(host *of, int value, block given) {
  of->filled = value;
  of->given = given;
}

static int get_status(const kvo_object *object, void *user) {
  CHECK_EQ(*(int *)user, 42);
  return ((const host *)object)->status;
}
static int set_status(kvo_object *object, int value, unsigned char small, double real, void *pointer, short last,
                      void *user) {
  host *of = (host *)object;
  CHECK_EQ(*(int *)user, 42);
  if (value < 0) return value;
  of->status = value;
  of->small = small;
  of->real = real;
  of->pointer = pointer;
  of->last = last;
  return 0;
}

static host *host_make(void) {
  static int user = 42;
  const kvo_property_spec properties[] = {
      PROPERTY_WITH("accepted", "i", get_accepted, set_accepted, .setter_type = "B@i"),
      PROPERTY_WITH("filled", "i", get_filled, set_filled, .setter_type = "v@i{block=[256c]}"),
      PROPERTY_WITH("status", "i", get_status, set_status, .setter_type = "i@iCd^vs", .flags = KVO_PROPERTY_WITH_USER,
                    .user = &user)};
  return (host *)object_made("Host", sizeof(host), properties, COUNT(properties));
}

TEST("a trampoline passes further arguments, and returns what the setter has returned; other calls pass zeros") {
  host *of = host_make();
  kvo_object *object = &of->header;
  static const char *const keys[] = {"accepted", "filled", "status"};
  for (int is_observed = 0; is_observed < 2; is_observed++) {
    kvo_observation ids[3];
    int calls = 0;
    for (int i = 0; is_observed && i < 3; i++) ids[i] = count_changes(object, keys[i], KVO_NEW | KVO_OLD, &calls);
    bool (*set_accepted)(kvo_object *, int) = (bool (*)(kvo_object *, int))kvo_object_setter(object, "accepted");
    CHECK(set_accepted(object, 5));
    CHECK(!set_accepted(object, -5));
    CHECK_EQ(of->accepted, 5);
    block given;
    memset(&given, 'x', sizeof given);
    SETTER(object, "filled", int, block)(object, 3, given);
    CHECK_EQ(of->filled, 3);
    CHECK_BYTES(&of->given, &given, sizeof given);
    CHECK_OK(KVO_SET(object, "filled", int, 4));
    memset(&given, 0, sizeof given);
    CHECK_BYTES(&of->given, &given, sizeof given);
    int (*set_status)(kvo_object *, int, unsigned char, double, void *, short) =
        (int (*)(kvo_object *, int, unsigned char, double, void *, short))kvo_object_setter(object, "status");
    CHECK_EQ(set_status(object, 5, 200, 2.5, of, -6), 0);
    CHECK(of->status == 5 && of->small == 200 && of->real == 2.5 && of->pointer == of && of->last == -6);
    CHECK_EQ(set_status(object, -42, 0, 0, NULL, 0), -42);
    CHECK_EQ(of->status, 5);
    CHECK_OK(KVO_SET(object, "status", int, 6));
    CHECK(of->status == 6 && of->small == 0 && of->real == 0 && of->pointer == NULL && of->last == 0);
    CHECK_EQ(calls, is_observed ? 5 : 0);
    for (int i = 0; is_observed && i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  }
  kvo_object_destroy(object);
}

TEST("a value that a setter refuses is no change: no observer is notified of it, and the caller gets the result") {
  host *of = host_make();
  kvo_object *object = &of->header;
  for (int is_observed = 0; is_observed < 2; is_observed++) {
    watcher accepted = {0}, status = {0};
    if (is_observed) watch((item *)object, "accepted", KVO_NEW | KVO_PRIOR, &accepted);
    if (is_observed) watch((item *)object, "status", KVO_NEW, &status);
    CHECK_STATUS(KVO_SET(object, "accepted", int, -1), KVO_ERROR_REFUSED);
    CHECK_EQ(kvo_last_refusal(), 0);
    CHECK_STATUS(KVO_SET(object, "status", int, -7), KVO_ERROR_REFUSED);
    CHECK_EQ(kvo_last_refusal(), -7);
    CHECK_CONTAINS(kvo_last_error(), "property 'status' of class 'Host'");
    CHECK_STATUS(kvo_set_int64(object, "status", -9), KVO_ERROR_REFUSED);
    CHECK_EQ(kvo_last_refusal(), -9);
    const kvo_property *property = kvo_class_property(kvo_object_class(object), "status");
    CHECK_STATUS(kvo_object_store(object, property, &(int){-1}), KVO_ERROR_REFUSED);
    CHECK_EQ(accepted.calls + status.calls, 0);
    CHECK_EQ(accepted.priors, is_observed); /* that observer was notified before the setter could refuse */
    CHECK_OK(KVO_SET(object, "accepted", int, 1));
    CHECK_OK(KVO_SET(object, "status", int, 1));
    CHECK_EQ(accepted.calls + status.calls, is_observed ? 2 : 0);
    if (is_observed) CHECK_OK(kvo_remove_observer(accepted.id));
    if (is_observed) CHECK_OK(kvo_remove_observer(status.id));
  }
  kvo_object_destroy(object);
}
