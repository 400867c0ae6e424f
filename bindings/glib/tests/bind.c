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
  return g_test_run();
}
