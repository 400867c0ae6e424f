/* support.c - the model of the tests. */
#include "support.h"

/* ------------------------------------------------------------------------------------------------------------- Person -- */

static char *get_name(const person *of) { return of->name; }
static void set_name(person *of, char *name) {
  char *old = of->name;
  of->name = g_strdup(name);
  g_free(old);
}
static double get_weight(const person *of) { return of->weight; }
static void set_weight(person *of, double weight) { of->weight = weight > 100 ? 100 : weight; }

static GPtrArray *items_of(const kvo_object *of, void *user) {
  return user != NULL ? ((const person *)of)->tags : ((const person *)of)->friends;
}
static size_t count(const kvo_object *of, void *user) { return items_of(of, user)->len; }
static void get_at(const kvo_object *of, size_t index, void *element, void *user) {
  *(void **)element = g_ptr_array_index(items_of(of, user), index);
}
static kvo_status insert_at(kvo_object *of, size_t index, const void *element, void *user) {
  void *item = *(void *const *)element;
  g_ptr_array_insert(items_of(of, user), (gint)index, user != NULL ? g_strdup(item) : item);
  return KVO_OK;
}
static kvo_status remove_at(kvo_object *of, size_t index, void *user) {
  g_ptr_array_remove_index(items_of(of, user), (guint)index);
  return KVO_OK;
}

static void finalize(kvo_object *object) {
  person *of = (person *)object;
  g_free(of->name);
  g_ptr_array_unref(of->friends);
  g_ptr_array_unref(of->tags);
}

kvo_class *person_class(void) {
  static kvo_class *cls;
  if (cls != NULL) return cls;
  kvo_list_accessors friends = {
      .struct_size = sizeof friends, .count = count, .get_at = get_at, .insert_at = insert_at, .remove_at = remove_at};
  kvo_list_accessors tags = friends;
  tags.user = "tags";
  kvo_collection_spec lists[] = {{.name = "friends", .element_type = "@", .list = &friends},
                                 {.name = "tags", .element_type = "*", .list = &tags}};
#define AT(member, encoding)                                                                                           \
  {.name = #member, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(person, member)}
  kvo_property_spec properties[] = {
      {.name = "name", .type = "*", .getter = (kvo_function)get_name, .setter = (kvo_function)set_name},
      AT(age, "i"),
      AT(is_open, "B"),
      {.name = "weight", .type = "d", .getter = (kvo_function)get_weight, .setter = (kvo_function)set_weight},
      AT(boss, "@"),
      AT(code, "{code=ii}")};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Person",
                         .instance_size = sizeof(person),
                         .properties = properties,
                         .property_count = G_N_ELEMENTS(properties),
                         .property_size = sizeof *properties,
                         .finalize = finalize,
                         .collections = lists,
                         .collection_count = G_N_ELEMENTS(lists),
                         .collection_size = sizeof *lists};
  kvo_status status = kvo_class_register(&spec, &cls);
  if (status != KVO_OK) g_error("%s", kvo_last_error());
  return cls;
}

kvo_object *person_new(const char *name, int age) {
  kvo_object *made;
  if (kvo_object_create(person_class(), &made) != KVO_OK) g_error("%s", kvo_last_error());
  person *of = (person *)made;
  of->name = g_strdup(name);
  of->age = age;
  of->friends = g_ptr_array_new();
  of->tags = g_ptr_array_new_with_free_func(g_free);
  return made;
}

void person_set_name(kvo_object *of, const char *name) {
  g_assert_cmpint(kvo_set_string(of, "name", name), ==, KVO_OK);
}
void person_set_age(kvo_object *of, int age) { g_assert_cmpint(KVO_SET(of, "age", int, age), ==, KVO_OK); }
void person_add_friend(kvo_object *of, int index, kvo_object *friend) {
  size_t at = index < 0 ? ((person *)of)->friends->len : (size_t)index;
  g_assert_cmpint(kvo_list_insert(of, "friends", at, KVO_VALUE(kvo_object *, friend)), ==, KVO_OK);
}
void person_add_tag(kvo_object *of, int index, const char *tag) {
  size_t at = index < 0 ? ((person *)of)->tags->len : (size_t)index;
  g_assert_cmpint(kvo_list_insert(of, "tags", at, KVO_VALUE(const char *, tag)), ==, KVO_OK);
}

/* -------------------------------------------------------------------------------------------------------------- Board -- */

struct _Board {
  GObject parent_instance;
  char *text, *caption;
  int number;
  gboolean active;
  double real;
  GObject *object;
  gint8 letter;
  int small;
};

G_DEFINE_TYPE(Board, board, G_TYPE_OBJECT)

enum { TEXT = 1, NUMBER, ACTIVE, REAL, OBJECT, LETTER, SMALL, SECRET, CAPTION, FIXED };

static void board_get(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  Board *of = BOARD_BOARD(object);
  (void)spec;
  switch (id) {
    case TEXT: g_value_set_string(value, of->text); break;
    case CAPTION: g_value_set_string(value, of->caption); break;
    case NUMBER: g_value_set_int(value, of->number); break;
    case ACTIVE: g_value_set_boolean(value, of->active); break;
    case REAL: g_value_set_double(value, of->real); break;
    case LETTER: g_value_set_schar(value, of->letter); break;
    case SMALL: g_value_set_int(value, of->small); break;
    case FIXED: g_value_set_int(value, 0); break;
    default: g_value_set_object(value, of->object);
  }
}

static void board_set(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  Board *of = BOARD_BOARD(object);
  (void)spec;
  switch (id) {
    case TEXT:
      g_free(of->text);
      of->text = g_value_dup_string(value);
      break;
    case CAPTION:
      g_assert_nonnull(g_value_get_string(value));
      g_free(of->caption);
      of->caption = g_value_dup_string(value);
      break;
    case NUMBER: of->number = g_value_get_int(value); break;
    case ACTIVE: of->active = g_value_get_boolean(value); break;
    case REAL: of->real = MIN(g_value_get_double(value), 100); break;
    case LETTER: of->letter = g_value_get_schar(value); break;
    case SMALL: of->small = g_value_get_int(value); break;
    case OBJECT: g_set_object(&of->object, g_value_get_object(value)); break;
    default: break;
  }
}

static void board_finalize(GObject *object) {
  Board *of = BOARD_BOARD(object);
  g_free(of->text);
  g_free(of->caption);
  g_clear_object(&of->object);
  G_OBJECT_CLASS(board_parent_class)->finalize(object);
}

static void board_init(Board *of) { (void)of; }
static void board_class_init(BoardClass *cls) {
  GObjectClass *object_class = G_OBJECT_CLASS(cls);
  object_class->get_property = board_get;
  object_class->set_property = board_set;
  object_class->finalize = board_finalize;
  GParamFlags both = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  g_object_class_install_property(object_class, TEXT, g_param_spec_string("text", NULL, NULL, NULL, both));
  g_object_class_install_property(object_class, CAPTION, g_param_spec_string("caption", NULL, NULL, "none", both));
  g_object_class_install_property(object_class, NUMBER,
                                  g_param_spec_int("number", NULL, NULL, G_MININT, G_MAXINT, 7, both));
  g_object_class_install_property(object_class, SMALL, g_param_spec_int("small", NULL, NULL, -1000, 1000, 7, both));
  g_object_class_install_property(object_class, ACTIVE, g_param_spec_boolean("active", NULL, NULL, FALSE, both));
  g_object_class_install_property(object_class, REAL, g_param_spec_double("real", NULL, NULL, -1e9, 1e9, 0, both));
  g_object_class_install_property(object_class, OBJECT, g_param_spec_object("object", NULL, NULL, G_TYPE_OBJECT, both));
  g_object_class_install_property(object_class, LETTER, g_param_spec_char("letter", NULL, NULL, -128, 127, 0, both));
  g_object_class_install_property(object_class, FIXED,
                                  g_param_spec_int("fixed", NULL, NULL, 0, 9, 0, G_PARAM_READABLE));
  g_object_class_install_property(object_class, SECRET,
                                  g_param_spec_int("secret", NULL, NULL, 0, 9, 0, G_PARAM_WRITABLE));
}

Board *board_new(void) { return g_object_new(BOARD_TYPE, NULL); }

/* -------------------------------------------------------------------------------------------------------------- Notes -- */

static GString *notes;

void note(const char *format, ...) {
  if (notes == NULL) notes = g_string_new(NULL);
  if (notes->len != 0) g_string_append_c(notes, ' ');
  va_list arguments;
  va_start(arguments, format);
  g_string_append_vprintf(notes, format, arguments);
  va_end(arguments);
}

char *noted(void) {
  char *text = notes != NULL ? g_string_free(notes, FALSE) : g_strdup("");
  notes = NULL;
  return text;
}

void note_notify(GObject *object, GParamSpec *spec, gpointer prefix) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(object, spec->name, g_value_init(&value, spec->value_type));
  char *text = g_strdup_value_contents(&value);
  note("%s%s=%s", prefix != NULL ? (const char *)prefix : "", spec->name, text);
  g_free(text);
  g_value_unset(&value);
}

void note_items(GListModel *model, guint position, guint removed, guint added, gpointer prefix) {
  note("%s%u-%u+%u/%u", prefix != NULL ? (const char *)prefix : "", position, removed, added,
       g_list_model_get_n_items(model));
}

void run_ready(void) {
  while (g_main_context_iteration(NULL, FALSE)) {}
}
