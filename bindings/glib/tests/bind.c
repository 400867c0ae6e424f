/* bind.c - kvo_glib_bind, beside GBinding with the same events. */
#include "support.h"

#include <kvo/kvo_graph.h>
#include <string.h>

/* A source of either kind: a Board that GBinding binds, or a Person. */
typedef struct side {
  gboolean is_kvo;
  gpointer source;
  Board *target;
  gpointer binding;
} side;

static const char *key_of(gboolean is_kvo, const char *property) {
  static const char *const names[][2] = {
      {"text", "name"}, {"number", "age"}, {"active", "is_open"}, {"real", "weight"}};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(property, names[i][0]) == 0) return names[i][is_kvo];
  return property;
}

/* Notes the source's changes under the name that both have. */
static void note_key(const kvo_change *change, void *property) {
  Board *board = board_new();
  GValue value = G_VALUE_INIT;
  GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(board), property);
  GObject *wrapper = kvo_glib_wrap(change->object);
  g_object_get_property(wrapper, change->key_path, g_value_init(&value, spec->value_type));
  char *text = g_strdup_value_contents(&value);
  note("source.%s=%s", (char *)property, text);
  g_free(text);
  g_value_unset(&value);
  g_object_unref(wrapper);
  g_object_unref(board);
}

/* Observers are notified after the binding: KVO's of the source are those that are older. */
static void begin(side *of, gboolean is_kvo, const char *property, const char *target, GBindingFlags flags,
                  GBindingTransformFunc to, GBindingTransformFunc from) {
  *of = (side){is_kvo, is_kvo ? (gpointer)person_new("Ann", 5) : (gpointer)board_new(), board_new(), NULL};
  if (is_kvo) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = key_of(TRUE, property),
                             .callback = note_key,
                             .options = KVO_ENDS_WITH_OBJECT,
                             .user_data = (void *)property,
                             KVO_HERE};
    kvo_add_observer(of->source, &observer, NULL);
    of->binding = kvo_glib_bind_full(of->source, key_of(TRUE, property), of->target, target, flags, to, from, of, NULL);
  } else {
    g_object_set(of->source, "text", "Ann", "number", 5, NULL);
    of->binding = g_object_bind_property_full(of->source, property, of->target, target, flags, to, from, of, NULL);
    char *signal = g_strconcat("notify::", property, NULL);
    g_signal_connect(of->source, signal, G_CALLBACK(note_notify), "source.");
    g_free(signal);
  }
  g_signal_connect(of->target, "notify", G_CALLBACK(note_notify), "target.");
}

static void end_source(side *of) {
  if (of->source == NULL) return;
  if (of->is_kvo)
    kvo_object_destroy(of->source);
  else
    g_object_unref(of->source);
  of->source = NULL;
}

static void end(side *of) {
  end_source(of);
  g_clear_object(&of->target);
}

static void unbind(side *of) {
  if (of->is_kvo)
    kvo_glib_binding_unbind(of->binding);
  else
    g_binding_unbind(of->binding);
}

static void set_text(side *of, const char *text) {
  if (of->is_kvo)
    person_set_name(of->source, text);
  else
    g_object_set(of->source, "text", text, NULL);
}
static void set_number(side *of, int number) {
  if (of->is_kvo)
    person_set_age(of->source, number);
  else
    g_object_set(of->source, "number", number, NULL);
}
static void set_active(side *of, gboolean active) {
  if (of->is_kvo)
    kvo_set_bool(of->source, "is_open", active != 0);
  else
    g_object_set(of->source, "active", active, NULL);
}
static void set_real(side *of, double real) {
  if (of->is_kvo)
    kvo_set_double(of->source, "weight", real);
  else
    g_object_set(of->source, "real", real, NULL);
}

/* Runs the script on both sides, and compares what is noted; returns that. */
static void compare(void (*script)(side *of, gboolean is_kvo), const char *expected) {
  char *texts[2];
  for (int is_kvo = 0; is_kvo < 2; is_kvo++) {
    side of;
    script(&of, is_kvo);
    end(&of);
    texts[is_kvo] = noted();
  }
  g_assert_cmpstr(texts[0], ==, texts[1]);
  g_assert_cmpstr(texts[1], ==, expected);
  g_free(texts[0]);
  g_free(texts[1]);
}

/* --------------------------------------------------------------------------------------------------------- Side by side -- */

static void default_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "text", "text", G_BINDING_DEFAULT, NULL, NULL);
  set_text(of, "Bob");
  g_object_set(of->target, "text", "own", NULL);
  set_text(of, NULL);
  set_text(of, "Cid");
}
static void test_default(void) {
  compare(default_script,
          "target.text=\"Bob\" source.text=\"Bob\" target.text=\"own\" target.text=NULL source.text=NULL "
          "target.text=\"Cid\" source.text=\"Cid\"");
}

static void sync_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "number", "small", G_BINDING_SYNC_CREATE, NULL, NULL);
  int number = 0;
  g_object_get(of->target, "small", &number, NULL);
  note("first=%d", number);
  set_number(of, 6);
  set_number(of, 2000); /* out of the target's range: brought into it */
}
static void test_sync(void) {
  compare(sync_script, "first=5 target.small=6 source.number=6 target.small=1000 source.number=2000");
}

static void two_way_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "text", "text", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE, NULL, NULL);
  set_text(of, "Bob");
  g_object_set(of->target, "text", "entered", NULL);
  g_object_set(of->target, "number", 3, NULL);
  g_object_set(of->target, "text", NULL, NULL);
}
static void test_two_way(void) {
  compare(two_way_script, "target.text=\"Bob\" source.text=\"Bob\" source.text=\"entered\" target.text=\"entered\" "
                          "target.number=3 source.text=NULL target.text=NULL");
}

static void clamped_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "real", "real", G_BINDING_BIDIRECTIONAL, NULL, NULL);
  set_real(of, 250);
  g_object_set(of->target, "real", 300.0, NULL);
}
static void test_clamped(void) {
  compare(clamped_script,
          "target.real=100.000000 source.real=100.000000 source.real=100.000000 target.real=100.000000");
}

static void invert_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "active", "active", G_BINDING_BIDIRECTIONAL | G_BINDING_INVERT_BOOLEAN | G_BINDING_SYNC_CREATE,
        NULL, NULL);
  set_active(of, TRUE);
  g_object_set(of->target, "active", TRUE, NULL);
}
static void test_invert(void) {
  compare(invert_script, "target.active=FALSE source.active=TRUE source.active=FALSE target.active=TRUE");
}

static void convert_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "number", "real", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE, NULL, NULL);
  set_number(of, 42);
  g_object_set(of->target, "real", 7.9, NULL);
  end(of);
  begin(of, is_kvo, "number", "text", G_BINDING_SYNC_CREATE, NULL, NULL);
  set_number(of, 43);
  end(of);
  begin(of, is_kvo, "number", "letter", G_BINDING_DEFAULT, NULL, NULL);
  set_number(of, 65);
  end(of);
  begin(of, is_kvo, "active", "number", G_BINDING_DEFAULT, NULL, NULL);
  set_active(of, TRUE);
}
static void test_convert(void) {
  compare(convert_script,
          "target.real=42.000000 source.number=42 source.number=7 target.real=7.900000 target.text=\"43\" "
          "source.number=43 target.letter=65 source.number=65 target.number=1 source.active=TRUE");
}

static gboolean shout(GBinding *binding, const GValue *from, GValue *to, gpointer user_data) {
  side *of = user_data;
  g_assert_true((gpointer)binding == of->binding || of->binding == NULL);
  const char *text = g_value_get_string(from);
  if (text == NULL || strcmp(text, "no") == 0) return FALSE;
  g_value_take_string(to, g_ascii_strup(text, -1));
  return TRUE;
}
static void transform_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "text", "text", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE, shout, shout);
  set_text(of, "bob");
  set_text(of, "no");
  g_object_set(of->target, "text", "cid", NULL);
  g_object_set(of->target, "text", "no", NULL);
}
static void test_transform(void) {
  compare(transform_script, "target.text=\"BOB\" source.text=\"bob\" source.text=\"no\" source.text=\"CID\" "
                            "target.text=\"cid\" target.text=\"no\"");
}

/* A handler of the target that sets the source, and one of the source that sets the target: neither goes round. */
static void answer(GObject *target, GParamSpec *spec, gpointer user_data) {
  (void)target;
  (void)spec;
  side *of = user_data;
  static int depth;
  if (depth++ < 3) set_text(of, "answer");
  depth--;
}
static void nested_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "text", "text", G_BINDING_BIDIRECTIONAL, NULL, NULL);
  g_signal_connect(of->target, "notify::number", G_CALLBACK(answer), of);
  g_object_set(of->target, "number", 1, NULL);
  g_object_set(of->target, "text", "typed", NULL);
}
static void test_nested(void) {
  compare(nested_script,
          "target.number=1 target.text=\"answer\" source.text=\"answer\" source.text=\"typed\" target.text=\"typed\"");
}

static void several_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "text", "text", G_BINDING_DEFAULT, NULL, NULL);
  side other;
  begin(&other, is_kvo, "text", "text", G_BINDING_DEFAULT, NULL, NULL);
  g_object_freeze_notify(G_OBJECT(of->target));
  set_text(of, "one");
  set_text(of, "two");
  note("thaw");
  g_object_thaw_notify(G_OBJECT(of->target));
  end(&other);
}
static void test_frozen(void) {
  compare(several_script, "source.text=\"one\" source.text=\"two\" thaw target.text=\"two\"");
}

static void ends_script(side *of, gboolean is_kvo) {
  begin(of, is_kvo, "text", "text", G_BINDING_DEFAULT, NULL, NULL);
  unbind(of);
  set_text(of, "after");
  end(of);
  begin(of, is_kvo, "text", "text", G_BINDING_BIDIRECTIONAL, NULL, NULL);
  g_clear_object(&of->target);
  set_text(of, "no target");
  end(of);
  begin(of, is_kvo, "text", "text", G_BINDING_BIDIRECTIONAL, NULL, NULL);
  end_source(of);
  g_object_set(of->target, "text", "no source", NULL);
}
static void test_ends(void) {
  compare(ends_script, "source.text=\"after\" source.text=\"no target\" target.text=\"no source\"");
}

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
  g_test_add_func("/bind/the target follows the source as GBinding has it", test_default);
  g_test_add_func("/bind/sync-create sets the target at once, and values are brought into the target's range",
                  test_sync);
  g_test_add_func("/bind/bidirectional sets the source when the target notifies, and nothing is sent back",
                  test_two_way);
  g_test_add_func("/bind/a value that the source's setter changes is not sent back, as by GBinding", test_clamped);
  g_test_add_func("/bind/invert-boolean inverts in both directions", test_invert);
  g_test_add_func("/bind/numbers and texts are converted as by GBinding", test_convert);
  g_test_add_func("/bind/transforms are those of GBinding, and one that returns FALSE sets nothing", test_transform);
  g_test_add_func("/bind/handlers that set the other side do not loop", test_nested);
  g_test_add_func("/bind/a frozen target notifies once", test_frozen);
  g_test_add_func("/bind/a binding ends when it is unbound, with its target and with its source", test_ends);
  g_test_add_func("/bind/a path follows the objects on it, and nil is the target's default", test_path);
  g_test_add_func("/bind/a nil string sets the default of a property that has one", test_nil_string);
  g_test_add_func("/bind/a path with an operator and an object are bound", test_operator);
  g_test_add_func("/bind/user data is released once, when the binding has ended", test_notify_data);
  g_test_add_func("/bind/what cannot be bound is a critical warning that says why", test_wrong);
  g_test_add_func("/bind/bidirectional to what cannot be set is refused at once, as unknown flags are", test_read_only);
  g_test_add_func("/bind/observations of the library say no place in it", test_places);
  g_test_add_func("/bind/what cannot be converted is a warning, and sets nothing", test_unconvertible);
  return g_test_run();
}
