/* bound.c - kvo_glib_bind, where GBinding has nothing like it: paths, nil, user data, and what cannot be bound. */
#include "support.h"

#include <kvo/kvo_graph.h>

/* --------------------------------------------------------------------------------------------------------------- Paths -- */

static void assert_text(Board *board, const char *expected) {
  char *text;
  g_object_get(board, "text", &text, NULL);
  g_assert_cmpstr(text, ==, expected);
  g_free(text);
}

static void test_path(void) {
  kvo_object *ann = person_new("Ann", 5), *boss = person_new("Bo", 50), *other = person_new("Cy", 51);
  Board *board = board_new();
  kvo_glib_bind(ann, "boss.name", board, "text", G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  kvo_glib_bind(ann, "boss.age", board, "number", G_BINDING_SYNC_CREATE);
  int number;
  g_object_get(board, "number", &number, NULL);
  g_assert_cmpint(number, ==, 7); /* the default of the property */
  assert_text(board, NULL);
  kvo_set_object(ann, "boss", boss);
  g_object_get(board, "number", &number, NULL);
  g_assert_cmpint(number, ==, 50);
  assert_text(board, "Bo");
  person_set_name(boss, "Bob");
  assert_text(board, "Bob");
  g_object_set(board, "text", "Rob", NULL);
  g_assert_cmpstr(((person *)boss)->name, ==, "Rob");
  kvo_set_object(ann, "boss", other);
  assert_text(board, "Cy");
  kvo_object_destroy(other); /* a change to nil */
  g_object_get(board, "number", &number, NULL);
  g_assert_cmpint(number, ==, 7);
  ((person *)ann)->boss = NULL;
  g_object_set(board, "text", "nobody", NULL); /* sets nothing */
  kvo_object_destroy(boss);
  kvo_object_destroy(ann);
  g_object_unref(board);
}

static gboolean nothing(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  (void)binding, (void)from, (void)user_data;
  g_value_set_string(to, NULL);
  return TRUE;
}

/* GtkEntry's text must not be NULL. */
static void test_nil_string(void) {
  kvo_object *ann = person_new(NULL, 5), *bo = person_new("Bo", 6);
  Board *board = board_new();
  char *caption;
  kvo_glib_bind(ann, "name", board, "caption", G_BINDING_SYNC_CREATE);
  g_signal_connect(board, "notify", G_CALLBACK(note_notify), NULL);
  person_set_name(ann, "Ann");
  person_set_name(ann, NULL);
  kvo_glib_bind(bo, "boss.name", board, "caption", G_BINDING_SYNC_CREATE);
  kvo_glib_bind_full(bo, "age", board, "caption", G_BINDING_SYNC_CREATE, nothing, NULL, NULL, NULL);
  assert_noted("caption=\"Ann\" caption=\"none\" caption=\"none\" caption=\"none\"");
  g_object_get(board, "caption", &caption, NULL);
  g_assert_cmpstr(caption, ==, "none");
  g_free(caption);
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
  g_object_unref(board);
}

static void test_operator(void) {
  kvo_object *ann = person_new("Ann", 5), *bo = person_new("Bo", 50);
  Board *board = board_new();
  kvo_glib_bind(ann, "friends.@count", board, "number", G_BINDING_SYNC_CREATE);
  kvo_glib_bind(ann, "boss", board, "object", G_BINDING_DEFAULT);
  person_add_friend(ann, -1, bo);
  kvo_set_object(ann, "boss", bo);
  int number;
  GObject *object;
  g_object_get(board, "number", &number, "object", &object, NULL);
  g_assert_cmpint(number, ==, 1);
  g_assert_true(kvo_glib_object_get_kvo_object(KVO_GLIB_OBJECT(object)) == bo);
  g_object_unref(object);
  kvo_object_destroy(ann);
  g_object_unref(board);
  kvo_object_destroy(bo);
}

/* A GObject that kvo_glib_observe has made observable is no wrapper. */
static void test_object(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new(), *one = board_new(), *two = board_new();
  kvo_set_object(ann, "boss", kvo_glib_observe(one));
  kvo_glib_bind(ann, "boss", board, "object", G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  GObject *shown;
  g_object_get(board, "object", &shown, NULL);
  g_assert_true(shown == G_OBJECT(one));
  g_object_unref(shown);
  g_object_set(board, "object", two, NULL);
  g_assert_true(((person *)ann)->boss == kvo_glib_observe(two));
  kvo_object *bo = person_new("Bo", 6);
  GObject *wrapper = kvo_glib_wrap(bo);
  g_object_set(board, "object", wrapper, NULL);
  g_assert_true(((person *)ann)->boss == bo);
  g_object_set(board, "object", two, NULL);
  g_assert_true(((person *)ann)->boss == kvo_glib_observe(two));
  g_object_unref(wrapper);
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
  g_object_unref(board);
  g_object_unref(one);
  g_object_unref(two);
}

static void count_call(gpointer count) { ++*(int *)count; }

static void test_notify_data(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new();
  int calls = 0;
  KvoGlibBinding *binding = kvo_glib_bind_full(ann, "name", board, "text", 0, NULL, NULL, &calls, count_call);
  g_object_ref(binding);
  kvo_glib_binding_unbind(binding);
  g_assert_cmpint(calls, ==, 1);
  kvo_glib_binding_unbind(binding);
  g_object_unref(binding);
  kvo_glib_bind_full(ann, "name", board, "text", 0, NULL, NULL, &calls, count_call);
  kvo_object_destroy(ann);
  g_assert_cmpint(calls, ==, 2);
  ann = person_new("Ann", 5);
  kvo_glib_bind_full(ann, "name", board, "text", 0, NULL, NULL, &calls, count_call);
  g_object_unref(board);
  g_assert_cmpint(calls, ==, 3);
  kvo_object_destroy(ann);
}

/* --------------------------------------------------------------------------------------------------------------- Wrong -- */

static void expect(const char *pattern) { g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, pattern); }

static void test_wrong(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new();
  int calls = 0;
  expect("*must not be NULL*");
  g_assert_null(kvo_glib_bind(NULL, "name", board, "text", 0));
  expect("*must not be NULL*");
  g_assert_null(kvo_glib_bind(ann, NULL, board, "text", 0));
  expect("*must not be NULL*");
  g_assert_null(kvo_glib_bind(ann, "name", NULL, "text", 0));
  expect("*must not be NULL*");
  g_assert_null(kvo_glib_bind(ann, "name", board, NULL, 0));
  expect("*\"txet\" of Board does not exist*");
  g_assert_null(kvo_glib_bind_full(ann, "name", board, "txet", 0, NULL, NULL, &calls, count_call));
  g_assert_cmpint(calls, ==, 1);
  expect("*\"secret\" of Board cannot be read*");
  g_assert_null(kvo_glib_bind(ann, "age", board, "secret", G_BINDING_BIDIRECTIONAL));
  expect("*\"text\" of Board is no boolean*");
  g_assert_null(kvo_glib_bind(ann, "is_open", board, "text", G_BINDING_INVERT_BOOLEAN));
  expect("*nmae*");
  g_assert_null(kvo_glib_bind(ann, "nmae", board, "text", 0));
  expect("*name*");
  g_assert_null(kvo_glib_bind(ann, "name.length", board, "text", 0));
  expect("*\"code\" has the type {code=ii}*");
  g_assert_null(kvo_glib_bind(ann, "code", board, "text", 0));
  expect("*\"friends\" has the type *@]*");
  g_assert_null(kvo_glib_bind(ann, "friends", board, "text", 0));
  expect("*\"friends.name\" has the type*");
  g_assert_null(kvo_glib_bind(ann, "friends.name", board, "text", 0));
  expect("*boss..name*");
  g_assert_null(kvo_glib_bind(ann, "boss..name", board, "text", 0));
  g_test_assert_expected_messages();
  kvo_object_destroy(ann);
  g_object_unref(board);
}

/* As GBinding: what could never be set is refused at once. */
static void test_read_only(void) {
  kvo_object *ann = person_new("Ann", 5), *bo = person_new("Bo", 50);
  Board *board = board_new(), *other = board_new();
  kvo_property_spec id = {.name = "id",
                          .type = "i",
                          .flags = KVO_PROPERTY_AT_OFFSET | KVO_PROPERTY_READ_ONLY,
                          .offset = offsetof(person, age)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Numbered",
                         .superclass = person_class(),
                         .instance_size = sizeof(person),
                         .properties = &id,
                         .property_count = 1,
                         .property_size = sizeof id};
  kvo_class *numbered_class;
  g_assert_cmpint(kvo_class_register(&spec, &numbered_class), ==, KVO_OK);
  kvo_object *numbered;
  kvo_object_create(numbered_class, &numbered);
  ((person *)numbered)->friends = g_ptr_array_new();
  ((person *)numbered)->tags = g_ptr_array_new();
  kvo_set_object(ann, "boss", numbered);

  expect("*\"id\" cannot be set*");
  g_assert_null(kvo_glib_bind(numbered, "id", board, "number", G_BINDING_BIDIRECTIONAL));
  expect("*\"boss.id\" cannot be set*");
  g_assert_null(kvo_glib_bind(ann, "boss.id", board, "number", G_BINDING_BIDIRECTIONAL));
  expect("*\"friends.@count\" cannot be set*");
  g_assert_null(kvo_glib_bind(ann, "friends.@count", board, "number", G_BINDING_BIDIRECTIONAL));
  expect("*\"friends.@sum.age\" cannot be set*");
  g_assert_null(kvo_glib_bind(ann, "friends.@sum.age", board, "number", G_BINDING_BIDIRECTIONAL));
  expect("*\"fixed\" cannot be set*");
  g_assert_null(kvo_glib_bind(kvo_glib_observe(other), "fixed", board, "number", G_BINDING_BIDIRECTIONAL));
  g_assert_nonnull(kvo_glib_bind(ann, "boss.id", board, "number", G_BINDING_SYNC_CREATE));
  g_assert_nonnull(kvo_glib_bind(ann, "boss.name", board, "text", G_BINDING_BIDIRECTIONAL));
  g_assert_nonnull(kvo_glib_bind(bo, "boss.name", board, "text", G_BINDING_BIDIRECTIONAL)); /* nobody there yet */
  g_assert_nonnull(kvo_glib_bind(kvo_glib_observe(other), "number", board, "small", G_BINDING_BIDIRECTIONAL));
  expect("*flags*16*");
  g_assert_null(kvo_glib_bind(ann, "name", board, "text", (GBindingFlags)(16 | G_BINDING_SYNC_CREATE)));
  g_test_assert_expected_messages();
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
  kvo_object_destroy(numbered);
  g_object_unref(board);
  g_object_unref(other);
}

/* A report of KVO says where an observation was registered: not in this library. */
static void test_places(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new();
  kvo_glib_bind(ann, "name", board, "text", 0);
  GObject *wrapper = kvo_glib_wrap(ann);
  GListModel *model = kvo_glib_list_model(ann, "friends");
  kvo_graph *graph;
  g_assert_cmpint(kvo_snapshot(&graph), ==, KVO_OK);
  for (size_t i = 0; i < graph->observation_count; i++) g_assert_null(graph->observations[i].file);
  g_assert_cmpuint(graph->observation_count, >, 6);
  kvo_graph_free(graph);
  g_object_unref(wrapper);
  g_object_unref(model);
  kvo_object_destroy(ann);
  g_object_unref(board);
}

static void test_unconvertible(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new();
  kvo_glib_bind(ann, "name", board, "number", 0);
  g_test_expect_message(
      "kvo-glib", G_LOG_LEVEL_WARNING,
      "Unable to convert a value of type gchararray, of \"name\", to the property \"number\" of Board, "
      "of type gint");
  person_set_name(ann, "Bob");
  g_test_assert_expected_messages();
  kvo_glib_bind(ann, "age", board, "text", G_BINDING_BIDIRECTIONAL);
  g_test_expect_message(
      "kvo-glib", G_LOG_LEVEL_WARNING,
      "Unable to convert a value of type gchararray, of the property \"text\" of Board, to \"age\", of "
      "type gint");
  g_object_set(board, "text", "many", NULL);
  g_test_assert_expected_messages();
  g_assert_cmpint(((person *)ann)->age, ==, 5);
  kvo_object_destroy(ann);
  g_object_unref(board);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/bound/a path follows the objects on it, and nil is the target's default", test_path);
  g_test_add_func("/bound/a nil string sets the default of a property that has one", test_nil_string);
  g_test_add_func("/bound/a path with an operator and an object are bound", test_operator);
  g_test_add_func("/bound/a two-way binding of an object sets wrappers and other GObjects", test_object);
  g_test_add_func("/bound/user data is released once, when the binding has ended", test_notify_data);
  g_test_add_func("/bound/what cannot be bound is a critical warning that says why", test_wrong);
  g_test_add_func("/bound/bidirectional to what cannot be set is refused at once, as unknown flags are",
                  test_read_only);
  g_test_add_func("/bound/observations of the library say no place in it", test_places);
  g_test_add_func("/bound/what cannot be converted is a warning, and sets nothing", test_unconvertible);
  return g_test_run();
}
