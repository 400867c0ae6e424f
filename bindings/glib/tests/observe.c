/* observe.c - kvo_glib_observe: the properties of a GObject as keys. */
#include "support.h"

static void note_change(const kvo_change *change, void *user_data) {
  (void)user_data;
  int64_t number;
  const char *text;
  const kvo_value *value = change->new_value;
  if (value == NULL || value->bytes == NULL)
    note("%s=nil", change->key_path);
  else if (kvo_value_int64(value, &number) == KVO_OK)
    note("%s=%d", change->key_path, (int)number);
  else if (kvo_value_string(value, &text) == KVO_OK)
    note("%s=%s", change->key_path, text);
  else
    note("%s", change->key_path);
}

static kvo_observation observe(kvo_object *object, const char *key_path) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                           .callback = note_change,
                           KVO_HERE};
  kvo_observation id = 0;
  g_assert_cmpint(kvo_add_observer(object, &observer, &id), ==, KVO_OK);
  return id;
}

static void test_keys(void) {
  Board *board = board_new();
  kvo_object *object = kvo_glib_observe(board);
  g_assert_true(object == kvo_glib_observe(board));
  g_object_set(board, "text", "red", "number", 3, "real", 1.5, "letter", 'x', "active", TRUE, NULL);
  char *text;
  int64_t number;
  double real;
  bool active;
  g_assert_cmpint(kvo_get_string(object, "text", &text), ==, KVO_OK);
  g_assert_cmpint(kvo_get_int64(object, "number", &number), ==, KVO_OK);
  g_assert_cmpint(kvo_get_double(object, "real", &real), ==, KVO_OK);
  g_assert_cmpint(kvo_get_bool(object, "active", &active), ==, KVO_OK);
  g_assert_cmpstr(text, ==, "red");
  g_assert_cmpint(number, ==, 3);
  g_assert_cmpfloat(real, ==, 1.5);
  g_assert_true(active);
  kvo_string_free(text);
  g_assert_cmpint(kvo_set_int64(object, "number", 4), ==, KVO_OK);
  g_assert_cmpint(kvo_set_string(object, "text", NULL), ==, KVO_OK);
  g_assert_cmpint(kvo_set_string(object, "caption", NULL), ==, KVO_OK); /* it has no NULL, but a default */
  g_assert_cmpint(kvo_set_string(object, "number", "12"), ==, KVO_OK);  /* KVO's conversion */
  g_assert_cmpint(kvo_set_int64(object, "small", 5000), ==, KVO_OK);
  int set, small;
  char *caption;
  g_object_get(board, "number", &set, "text", &text, "caption", &caption, "small", &small, NULL);
  g_assert_cmpstr(caption, ==, "none");
  g_free(caption);
  g_assert_cmpint(set, ==, 12);
  g_assert_null(text);
  g_assert_cmpint(small, ==, 1000);
  g_assert_cmpint(kvo_set_int64(object, "letter", 1000), ==, KVO_ERROR_TYPE_MISMATCH);
  g_assert_cmpint(kvo_set_string(object, "number", "many"), ==, KVO_ERROR_TYPE_MISMATCH);
  g_assert_cmpint(kvo_get_int64(object, "secret", &number), ==, KVO_ERROR_UNDEFINED_KEY);
  g_object_unref(board);
}

static void test_notified(void) {
  Board *board = board_new();
  kvo_object *object = kvo_glib_observe(board);
  observe(object, "number");
  observe(object, "text");
  g_object_set(board, "number", 1, NULL);
  kvo_set_int64(object, "number", 2);
  g_object_freeze_notify(G_OBJECT(board));
  g_object_set(board, "text", "a", NULL);
  g_object_set(board, "text", "b", NULL);
  note("thaw");
  g_object_thaw_notify(G_OBJECT(board));
  assert_noted("number=1 number=2 thaw text=b");
  g_object_unref(board); /* ends the observations */
  assert_noted("");
}

static void test_path(void) {
  Board *board = board_new(), *inner = board_new(), *other = board_new();
  kvo_object *object = kvo_glib_observe(board);
  observe(object, "object.number");
  g_object_set(board, "object", inner, NULL);
  g_object_set(inner, "number", 5, NULL);
  g_assert_cmpint(kvo_set_object(object, "object", kvo_glib_observe(other)), ==, KVO_OK);
  g_object_set(inner, "number", 6, NULL);
  g_object_set(other, "number", 8, NULL);
  kvo_set_object(object, "object", NULL);
  assert_noted("object.number=0 object.number=5 object.number=0 object.number=8 object.number=nil");
  g_object_unref(board);
  g_object_unref(inner);
  g_object_unref(other);
}

/* A GObject that lets go of its child first when it is disposed of, and must not be read afterwards. */
typedef struct Parent {
  GObject parent_instance;
  GObject *child;
  gboolean is_disposed;
} Parent;
typedef GObjectClass ParentClass;
static GType parent_get_type(void);
G_DEFINE_TYPE(Parent, parent, G_TYPE_OBJECT)

static void parent_get(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  (void)id, (void)spec;
  g_assert_false(((Parent *)object)->is_disposed);
  g_value_set_object(value, ((Parent *)object)->child);
}
static void parent_set(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  (void)id, (void)spec;
  g_set_object(&((Parent *)object)->child, g_value_get_object(value));
}
static void parent_dispose(GObject *object) {
  ((Parent *)object)->is_disposed = TRUE;
  g_clear_object(&((Parent *)object)->child);
  G_OBJECT_CLASS(parent_parent_class)->dispose(object);
}
static void parent_init(Parent *of) { (void)of; }
static void parent_class_init(ParentClass *cls) {
  cls->get_property = parent_get;
  cls->set_property = parent_set;
  cls->dispose = parent_dispose;
  g_object_class_install_property(cls, 1, g_param_spec_object("child", NULL, NULL, G_TYPE_OBJECT, G_PARAM_READWRITE));
}

static void test_disposed(void) {
  GObject *parent = g_object_new(parent_get_type(), NULL);
  Board *child = board_new(), *target = board_new();
  g_object_set(child, "text", "a", NULL);
  g_object_set(parent, "child", child, NULL);
  g_object_unref(child);
  observe(kvo_glib_observe(parent), "child.number");
  kvo_glib_bind(kvo_glib_observe(parent), "child.text", target, "text", G_BINDING_SYNC_CREATE);
  child = board_new();
  g_object_set(parent, "child", child, NULL); /* which ends the one before, in the middle of the store */
  g_object_set(child, "text", "b", "number", 1, NULL);
  assert_noted("child.number=0 child.number=1");
  g_object_unref(child);
  g_object_unref(parent);
  assert_noted("");
  char *text;
  g_object_get(target, "text", &text, NULL);
  g_assert_cmpstr(text, ==, "b");
  g_free(text);
  g_object_unref(target);
}

/* KVO's own bindings, and ours, reach a GObject; a wrapper is the object wrapped. */
static void test_bindings(void) {
  kvo_object *ann = person_new("Ann", 5);
  Board *board = board_new();
  kvo_object *object = kvo_glib_observe(board);
  g_assert_cmpint(kvo_bind_two_way(object, "text", ann, "name", NULL), ==, KVO_OK);
  person_set_name(ann, "Bob");
  char *text;
  g_object_get(board, "text", &text, NULL);
  g_assert_cmpstr(text, ==, "Bob");
  g_free(text);
  g_object_set(board, "text", "entered", NULL);
  g_assert_cmpstr(((person *)ann)->name, ==, "entered");
  GObject *wrapper = kvo_glib_wrap(ann);
  g_assert_true(kvo_glib_observe(wrapper) == ann);
  g_assert_true(kvo_glib_get_gobject(object) == (GObject *)board);
  g_assert_null(kvo_glib_get_gobject(ann));
  Board *copy = board_new();
  kvo_glib_bind(object, "text", copy, "text", G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  g_object_set(copy, "text", "from the copy", NULL);
  g_assert_cmpstr(((person *)ann)->name, ==, "from the copy");
  kvo_set_object(ann, "boss", object); /* read as the GObject that it is */
  GObject *boss;
  g_object_get(wrapper, "boss", &boss, NULL);
  g_assert_true(boss == (GObject *)board);
  g_object_unref(boss);
  g_object_unref(board);
  g_object_unref(wrapper);
  g_object_unref(copy);
  kvo_object_destroy(ann);
}

static void destroy_board(const kvo_change *change, void *board) {
  note_change(change, NULL);
  g_object_run_dispose(board);
}

static void note_name(kvo_object *object, gpointer user_data) {
  (void)user_data;
  note("%s", ((person *)object)->name);
}

static void test_call(void) {
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann);
  g_assert_true(kvo_glib_object_call(KVO_GLIB_OBJECT(wrapper), note_name, NULL));
  kvo_object_destroy(ann);
  g_assert_false(kvo_glib_object_call(KVO_GLIB_OBJECT(wrapper), note_name, NULL));
  assert_noted("Ann");
  g_object_unref(wrapper);
}

static void test_lives(void) {
  Board *board = board_new();
  kvo_object *object = kvo_glib_observe(board);
  observe(object, "number");
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "number",
                           .options = KVO_NEW | KVO_ENDS_WITH_OBJECT,
                           .callback = destroy_board,
                           .user_data = board,
                           KVO_HERE};
  g_assert_cmpint(kvo_add_observer(object, &observer, NULL), ==, KVO_OK);
  g_object_set(board, "number", 1, NULL);
  assert_noted("number=1");
  object = kvo_glib_observe(board); /* it has been disposed of, and lives on */
  observe(object, "number");
  g_object_set(board, "number", 2, NULL);
  assert_noted("number=2");
  g_object_unref(board);
}

static void test_wrong(void) {
  g_test_expect_message("kvo-glib", G_LOG_LEVEL_CRITICAL, "*G_IS_OBJECT*");
  g_assert_null(kvo_glib_observe(NULL));
  g_test_assert_expected_messages();
  kvo_object *ann = person_new("Ann", 5);
  GObject *wrapper = kvo_glib_wrap(ann);
  kvo_object_destroy(ann);
  g_assert_null(kvo_glib_observe(wrapper));
  g_object_unref(wrapper);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/observe/keys read and set the properties of a GObject", test_keys);
  g_test_add_func("/observe/notify:: notifies observers, once after a freeze", test_notified);
  g_test_add_func("/observe/a path leads through objects", test_path);
  g_test_add_func("/observe/a path does not read a GObject that is being disposed of", test_disposed);
  g_test_add_func("/observe/bindings of either kind reach a GObject, and a wrapper is its object", test_bindings);
  g_test_add_func("/observe/a function is called with the object of a wrapper while that is alive", test_call);
  g_test_add_func("/observe/observations end when the GObject is disposed of, also by an observer", test_lives);
  g_test_add_func("/observe/wrong arguments are critical warnings", test_wrong);
  return g_test_run();
}
