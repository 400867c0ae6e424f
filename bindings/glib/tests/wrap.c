/* wrap.c - kvo_glib_wrap: the properties of a class as those of a GObject. */
#include "support.h"

#include <kvo/kvo_raw.h>
#include <unistd.h>

static void expect(const char *pattern) { g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, pattern); }

static void test_identity(void) {
  kvo_object *ann = person_new("Ann", 5), *bo = person_new("Bo", 6);
  GObject *one = kvo_glib_wrap(ann), *again = kvo_glib_wrap(ann), *other = kvo_glib_wrap(bo);
  g_assert_true(one == again);
  g_assert_true(one != other);
  g_assert_true(KVO_GLIB_IS_OBJECT(one));
  g_assert_true(kvo_glib_object_get_kvo_object(KVO_GLIB_OBJECT(one)) == ann);
  g_assert_cmpstr(G_OBJECT_TYPE_NAME(one), ==, "KvoPerson");
  g_assert_true(G_OBJECT_TYPE(one) == kvo_glib_wrapper_type(person_class()));
  g_object_unref(one);
  g_object_unref(again);
  g_assert_false(kvo_object_is_observed(ann));
  one = kvo_glib_wrap(ann); /* a new one, perhaps at the same address */
  char *name;
  g_object_get(one, "name", &name, NULL);
  g_assert_cmpstr(name, ==, "Ann");
  g_free(name);
  g_object_unref(one);
  g_object_unref(other);
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
}

static void test_values(void) {
  kvo_object *ann = person_new("Ann", 5), *bo = person_new("Bo", 6);
  GObject *wrapper = kvo_glib_wrap(ann), *boss = kvo_glib_wrap(bo), *read;
  g_object_set(wrapper, "name", "Anna", "age", -7, "is-open", TRUE, "weight", 2.5, "boss", boss, NULL);
  const person *of = (person *)ann;
  g_assert_cmpstr(of->name, ==, "Anna");
  g_assert_cmpint(of->age, ==, -7);
  g_assert_true(of->is_open);
  g_assert_cmpfloat(of->weight, ==, 2.5);
  g_assert_true(of->boss == bo);
  char *name;
  int age;
  gboolean is_open;
  double weight;
  g_object_get(wrapper, "name", &name, "age", &age, "is-open", &is_open, "weight", &weight, "boss", &read, NULL);
  g_assert_cmpstr(name, ==, "Anna");
  g_assert_cmpint(age, ==, -7);
  g_assert_true(is_open);
  g_assert_cmpfloat(weight, ==, 2.5);
  g_assert_true(read == boss);
  g_free(name);
  g_object_unref(read);
  g_object_set(wrapper, "name", NULL, "boss", NULL, NULL);
  g_assert_null(of->name);
  g_assert_null(of->boss);
  g_object_unref(wrapper);
  g_object_unref(boss);
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
}

static void test_notify(void) {
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann);
  g_signal_connect(wrapper, "notify", G_CALLBACK(note_notify), NULL);
  person_set_age(ann, 6);
  g_object_set(wrapper, "age", 7, NULL);
  kvo_set_string(ann, "name", "Bob");
  kvo_set_double(ann, "weight", 300);
  assert_noted("age=6 age=7 name=\"Bob\" weight=100.000000");
  g_object_freeze_notify(wrapper);
  person_set_age(ann, 8);
  person_set_age(ann, 9);
  assert_noted("");
  g_object_thaw_notify(wrapper);
  assert_noted("age=9");
  kvo_scope scope;
  kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, &ann, 1, __FILE__, __LINE__);
  person_set_age(ann, 10);
  person_set_age(ann, 11);
  kvo_scope_end(&scope);
  assert_noted("age=11");
  g_object_unref(wrapper);
  kvo_object_destroy(ann);
}

/* GLib's own bindings work on wrappers, without any of ours. */
static void test_gbinding(void) {
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann);
  Board *board = board_new();
  g_object_bind_property(wrapper, "name", board, "text", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
  g_signal_connect(board, "notify", G_CALLBACK(note_notify), NULL);
  person_set_name(ann, "Bob");
  g_object_set(board, "text", "Cid", NULL);
  assert_noted("text=\"Bob\" text=\"Cid\"");
  g_assert_cmpstr(((person *)ann)->name, ==, "Cid");
  kvo_object_destroy(ann);
  g_object_set(board, "text", "Dan", NULL);
  g_object_unref(wrapper);
  g_object_unref(board);
  g_free(noted());
}

static void test_dead(void) {
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann), *boss;
  kvo_object_destroy(ann);
  char *name;
  int age;
  GListModel *friends;
  g_object_get(wrapper, "name", &name, "age", &age, "boss", &boss, "friends", &friends, NULL);
  g_assert_null(name);
  g_assert_cmpint(age, ==, 0);
  g_assert_null(boss);
  g_assert_null(friends);
  g_object_set(wrapper, "age", 9, NULL);
  g_assert_null(kvo_glib_object_get_kvo_object(KVO_GLIB_OBJECT(wrapper)));
  /* An object that has the memory of the dead one is another. */
  for (int i = 0; i < 100; i++) {
    kvo_object *next = person_new("Next", i);
    GObject *other = kvo_glib_wrap(next);
    g_assert_true(other != wrapper);
    g_object_get(other, "age", &age, NULL);
    g_assert_cmpint(age, ==, i);
    kvo_object_destroy(next);
    g_object_unref(other);
  }
  g_object_unref(wrapper);
}

/* ------------------------------------------------------------------------------------------------------------- Classes -- */

typedef struct numbers {
  kvo_object header;
  signed char c;
  unsigned char C;
  short s;
  unsigned short S;
  unsigned I;
  long l;
  unsigned long L;
  long long q;
  unsigned long long Q;
  float f;
  void *pointer;
  int first_name, constant, other_a, other_b;
} numbers;

static int get_constant(const numbers *of) { return of->constant; }

static void test_types(void) {
#define AT(key, member, encoding)                                                                                      \
  {.name = key, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(numbers, member)}
  kvo_property_spec properties[] = {AT("c", c, "c"),
                                    AT("C", C, "C"),
                                    AT("s", s, "s"),
                                    AT("S", S, "S"),
                                    AT("I", I, "I"),
                                    AT("l", l, "l"),
                                    AT("L", L, "L"),
                                    AT("q", q, "q"),
                                    AT("Q", Q, "Q"),
                                    AT("f", f, "f"),
                                    AT("pointer", pointer, "^v"),
                                    AT("firstName", first_name, "i"),
                                    AT("other_a", other_a, "i"),
                                    AT("other-a", other_b, "i"),
                                    AT("größe", other_b, "i"),
                                    {.name = "constant", .type = "i", .getter = (kvo_function)get_constant}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "My.Numbers",
                         .instance_size = sizeof(numbers),
                         .properties = properties,
                         .property_count = G_N_ELEMENTS(properties),
                         .property_size = sizeof *properties};
  kvo_class *cls, *derived;
  g_assert_cmpint(kvo_class_register(&spec, &cls), ==, KVO_OK);
  GType type = kvo_glib_wrapper_type(cls);
  g_assert_cmpstr(g_type_name(type), ==, "KvoMy_Numbers");
  GObjectClass *object_class = g_type_class_ref(type);
  static const struct {
    const char *name;
    GType type;
  } expected[] = {{"c", G_TYPE_CHAR},     {"C", G_TYPE_UCHAR}, {"s", G_TYPE_INT},           {"S", G_TYPE_INT},
                  {"I", G_TYPE_UINT},     {"l", G_TYPE_LONG},  {"L", G_TYPE_ULONG},         {"q", G_TYPE_INT64},
                  {"Q", G_TYPE_UINT64},   {"f", G_TYPE_FLOAT}, {"pointer", G_TYPE_POINTER}, {"firstName", G_TYPE_INT},
                  {"other-a", G_TYPE_INT}};
  for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
    GParamSpec *found = g_object_class_find_property(object_class, expected[i].name);
    g_assert_nonnull(found);
    g_assert_true(found->value_type == expected[i].type);
    g_assert_true((found->flags & G_PARAM_READWRITE) == G_PARAM_READWRITE);
  }
  GParamSpecInt *small = G_PARAM_SPEC_INT(g_object_class_find_property(object_class, "s"));
  g_assert_cmpint(small->minimum, ==, -32768);
  GParamSpec *constant = g_object_class_find_property(object_class, "constant");
  g_assert_true((constant->flags & G_PARAM_READWRITE) == G_PARAM_READABLE);
  g_assert_cmpstr(g_param_spec_get_nick(g_object_class_find_property(object_class, "other-a")), ==, "other_a");
  g_type_class_unref(object_class);

  kvo_property_spec more = {.name = "more", .type = "i", .getter = (kvo_function)get_constant};
  kvo_class_spec sub = {.struct_size = sizeof sub,
                        .name = "My_Numbers",
                        .superclass = cls,
                        .instance_size = sizeof(numbers),
                        .properties = &more,
                        .property_count = 1,
                        .property_size = sizeof more};
  g_assert_cmpint(kvo_class_register(&sub, &derived), ==, KVO_OK);
  g_assert_cmpstr(g_type_name(kvo_glib_wrapper_type(derived)), ==, "KvoMy_Numbers2");
  g_assert_true(g_type_is_a(kvo_glib_wrapper_type(derived), type));

  kvo_object *object;
  kvo_object_create(derived, &object);
  GObject *wrapper = kvo_glib_wrap(object);
  g_signal_connect(wrapper, "notify", G_CALLBACK(note_notify), NULL);
  g_object_set(wrapper, "c", -3, "C", 200, "s", -30000, "S", 60000, "I", 4000000000u, "l", -5l, "L", 5ul, "q",
               (gint64)-1, "Q", G_MAXUINT64, "f", 0.5, "firstName", 3, NULL);
  /* Those of one g_object_set are emitted together, the last one first. */
  assert_noted("firstName=3 f=0.500000 Q=18446744073709551615 q=-1 L=5 l=-5 I=4000000000 S=60000 s=-30000 C=200 c=-3");
  g_object_unref(wrapper);
  kvo_object_destroy(object);

  /* A class that takes the name, and perhaps the address, of one that has ended has a type of its own. */
  g_assert_cmpint(kvo_class_unregister(derived), ==, KVO_OK);
  more.type = "B";
  g_assert_cmpint(kvo_class_register(&sub, &derived), ==, KVO_OK);
  g_assert_cmpstr(g_type_name(kvo_glib_wrapper_type(derived)), ==, "KvoMy_Numbers3");
#undef AT
}

/* A class of a language, whose values only its functions know. */
static int foreign_number;
static void *foreign_copy(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return g_memdup2(&foreign_number, sizeof foreign_number);
}
static void foreign_release(void *value, void *user) {
  (void)user;
  g_free(value);
}
static void foreign_view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  reader(&(kvo_value){"i", sizeof(int), value}, arg);
}
static kvo_status foreign_assign(void *instance, void *user, const kvo_value *value) {
  (void)user;
  int64_t number;
  if (kvo_value_int64(value, &number) != KVO_OK) return KVO_ERROR_TYPE_MISMATCH;
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, instance, kvo_key_hash("number", 6));
  foreign_number = (int)number;
  if (wants != 0) kvo_frame_finish_with(&frame, NULL, &foreign_number);
  return KVO_OK;
}

static void test_foreign(void) {
  static const kvo_value_ops ops = {
      .copy = foreign_copy, .release = foreign_release, .view = foreign_view, .assign = foreign_assign};
  kvo_raw_property property = {.name = "number", .type = "i", .ops = &ops};
  kvo_raw_class described = {.struct_size = sizeof described,
                             .name = "Language.Foreign",
                             .properties = &property,
                             .property_count = 1,
                             .property_size = sizeof property};
  kvo_class *cls;
  g_assert_cmpint(kvo_raw_class_register(&described, &cls), ==, KVO_OK);
  kvo_object object = {0};
  kvo_object_adopt(&object, cls);
  GObject *wrapper = kvo_glib_wrap(&object);
  g_signal_connect(wrapper, "notify", G_CALLBACK(note_notify), NULL);
  g_object_set(wrapper, "number", 4, NULL);
  kvo_set_int64(&object, "number", 5);
  assert_noted("number=4 number=5");
  Board *board = board_new();
  kvo_glib_bind(&object, "number", board, "number", G_BINDING_BIDIRECTIONAL);
  kvo_set_int64(&object, "number", 6);
  g_object_set(board, "number", 8, NULL);
  assert_noted("number=6 number=8");
  kvo_object_finish(&object);
  g_object_unref(wrapper);
  g_object_unref(board);
}

static void test_wrong(void) {
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*object != NULL*");
  g_assert_null(kvo_glib_wrap(NULL));
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*cls != NULL*");
  g_assert_true(kvo_glib_wrapper_type(NULL) == G_TYPE_INVALID);
  expect("*KVO_GLIB_IS_OBJECT*");
  g_assert_null(kvo_glib_object_get_kvo_object(NULL));
  g_test_assert_expected_messages();
}

/* Bindings of languages have toggle references: their functions may wait for a thread that waits for the library. */
static void use_library(gpointer data, GObject *wrapper, gboolean is_last) {
  (void)is_last;
  ++*(int *)data;
  kvo_glib_object_get_kvo_object(KVO_GLIB_OBJECT(wrapper));
}

static void test_toggled(void) {
  int calls = 0;
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann);
  g_object_add_toggle_ref(wrapper, use_library, &calls);
  g_object_unref(wrapper);
  alarm(20); /* it would wait for itself */
  person_set_age(ann, 6);
  GObject *again = kvo_glib_wrap(ann);
  g_assert_true(again == wrapper && calls >= 3);
  g_object_unref(again);
  alarm(0);
  g_object_remove_toggle_ref(wrapper, use_library, &calls);
  kvo_object_destroy(ann);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/wrap/an object has one wrapper while that lives", test_identity);
  g_test_add_func("/wrap/properties read and set the object", test_values);
  g_test_add_func("/wrap/each change of the object is notify::, once", test_notify);
  g_test_add_func("/wrap/GBinding binds a wrapper in both directions", test_gbinding);
  g_test_add_func("/wrap/a wrapper outlives its object, with defaults", test_dead);
  g_test_add_func("/wrap/types, ranges and access are those of the class", test_types);
  g_test_add_func("/wrap/an object of another language is wrapped and bound like one of C", test_foreign);
  g_test_add_func("/wrap/wrong arguments are critical warnings", test_wrong);
  g_test_add_func("/wrap/a toggle reference may use the library", test_toggled);
  return g_test_run();
}
