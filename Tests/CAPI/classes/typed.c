/* typed.c - KVO_SET takes values of the property's type only: what C can see does not compile, the rest is a fault and sets nothing. With
 * WRONG defined, this file is a program that must not compile. */
#include "fixture.h"

#include <string.h>

typedef struct point {
  double x, y;
} point;

typedef struct typed {
  kvo_object header;
  int whole;
  long wide;
  double real;
  bool flag;
  char letter;
  char *text;
  kvo_object *object;
  void *pointer;
  struct {
    int row[80];
  } grid;
  point at;
} typed;

#define AT(member, encoding)                                                                                           \
  { .name = #member, .type = encoding, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(typed, member) }

static kvo_object *typed_make(void) {
  const kvo_property_spec properties[] = {AT(whole, "i"),      AT(wide, "l"),     AT(real, "d"),
                                          AT(flag, "B"),       AT(letter, "c"),   AT(text, "*"),
                                          AT(object, "@"),     AT(pointer, "^v"), AT(grid, "{grid=[80i]}"),
                                          AT(at, "{point=dd}")};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Typed",
                         .instance_size = sizeof(typed),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  return object;
}

#ifdef WRONG
void wrong(kvo_object *object);
void wrong(kvo_object *object) {
  char *text = NULL;
  (void)text;
#if WRONG == 1
  KVO_SET(object, "whole", int, 3.5);
#elif WRONG == 2
  KVO_SET(object, "wide", long, text);
#elif WRONG == 3
  KVO_SET(object, "real", double, text);
#elif WRONG == 4
  KVO_SET(object, "whole", int, *(typed *)object);
#endif
}
#endif

TEST("a value of the property's type is set, and the value is evaluated once") {
  kvo_object *object = typed_make();
  typed *of = (typed *)object;
  int next = 1;
  CHECK_OK(KVO_SET(object, "whole", int, next++));
  CHECK_EQ(next, 2);
  CHECK_EQ(of->whole, 1);
  CHECK_OK(KVO_SET(object, "whole", unsigned, 7));
  CHECK_OK(KVO_SET(object, "real", double, 5)); /* C converts an int to a double, and loses nothing */
  CHECK_EQ(of->real, 5.0);
  CHECK_OK(KVO_SET(object, "flag", bool, true));
  CHECK_OK(KVO_SET(object, "letter", char, 'x'));
  CHECK_OK(KVO_SET(object, "letter", signed char, 'y'));
  CHECK_OK(KVO_SET(object, "text", const char *, "text"));
  CHECK_OK(KVO_SET(object, "text", char *, NULL));
  CHECK_OK(KVO_SET(object, "object", kvo_object *, object));
  CHECK_OK(KVO_SET(object, "object", typed *, of));
  CHECK_OK(KVO_SET(object, "pointer", int *, &of->whole));
  CHECK_OK(KVO_SET(object, "pointer", char *, &of->letter));
  kvo_object_destroy(object);
}

/* Reads the 80 numbers of a grid, which are `first` and those after it, and counts the calls. */
TEST("a value may contain commas, and another set: the program is compiled with -Wshadow") {
  kvo_object *object = typed_make();
  typed *of = (typed *)object;
  CHECK_OK(KVO_SET(object, "at", point, (point){1, 2}));
  CHECK_EQ(of->at.y, 2.0);
  kvo_status status =
      KVO_SET(object, "whole", int, KVO_SET(object, "wide", long, KVO_SET(object, "real", double, 2.5) == KVO_OK));
  CHECK_OK(status);
  CHECK_EQ(of->wide, 1);
  CHECK_EQ(of->real, 2.5);
  CHECK_OK(kvo_set_value(object, "real", KVO_VALUE(double, ((point){3, 4}).y)));
  CHECK_EQ(of->real, 4.0);
  kvo_object_destroy(object);
}

typedef struct row_check {
  int first, calls;
} row_check;

static void check_row(const kvo_value *value, void *arg) {
  row_check *of = arg;
  int row[80];
  CHECK_EQ(value->size, sizeof row);
  memcpy(row, value->bytes, sizeof row);
  for (int i = 0; i < 80; i++) CHECK_EQ(row[i], of->first + i);
  of->calls++;
}

static void check_rows(const kvo_change *change, void *user_data) {
  row_check *checks = user_data;
  check_row(change->old_value, &checks[0]);
  check_row(change->new_value, &checks[1]);
}

TEST("a structure at an offset, of any size, is read, set and observed as a whole") {
  kvo_object *object = typed_make();
  typed *of = (typed *)object;
  int rows[3][80];
  for (int i = 0; i < 240; i++) rows[i / 80][i % 80] = i;
  row_check plain = {0, 0}, checks[2] = {{80, 0}, {160, 0}};
  const kvo_value values[] = {{"{grid=[80i]}", sizeof rows[0], rows[0]},     {"{grid=[80i]}", sizeof rows[1], rows[1]},
                              {"{grid=[80i]}", sizeof rows[2], rows[2]},     {"{other=[80i]}", sizeof rows[0], rows[0]},
                              {"{grid=[80i]}", sizeof rows[0] - 1, rows[0]}, {"{grid=[80i]}", sizeof rows[0], NULL}};
  CHECK_OK(kvo_set_value(object, "grid", &values[0]));
  CHECK_OK(kvo_get_value(object, "grid", check_row, &plain));
  CHECK_EQ(plain.calls, 1);
  CHECK_OK(kvo_set_value(object, "grid", &values[1]));
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "grid",
                           .options = KVO_OLD | KVO_NEW,
                           .callback = check_rows,
                           .user_data = checks};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  for (size_t i = 3; i < 6; i++) CHECK_STATUS(kvo_set_value(object, "grid", &values[i]), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS(kvo_last_error(), "{grid=[80i]}");
  CHECK_EQ(checks[0].calls, 0);
  CHECK_OK(kvo_set_value(object, "grid", &values[2]));
  CHECK_EQ(checks[0].calls, 1);
  CHECK_EQ(checks[1].calls, 1);
  CHECK_EQ(of->grid.row[79], 239);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_destroy(object);
}

TEST_REPORTED("a value of another type is fault KVO0026, and nothing is set") {
  kvo_object *object = typed_make();
  typed *of = (typed *)object;
  const typed before = *of;
#define WRONGLY(key, T, value)                                                                                         \
  do {                                                                                                                 \
    ignore_faults();                                                                                                   \
    faults.count = 0;                                                                                                  \
    CHECK_STATUS(KVO_SET(object, key, T, value), KVO_ERROR_TYPE_MISMATCH);                                             \
    CHECK_EQ(faults.count, 1);                                                                                         \
    CHECK_EQ(faults.code, KVO_FAULT_TYPE_MISMATCH);                                                                    \
    CHECK_BYTES(of, &before, sizeof before);                                                                           \
  } while (0)
  WRONGLY("wide", double, 3.25);
  WRONGLY("wide", int, 3);
  WRONGLY("real", long, 3);
  WRONGLY("real", float, 3.0f);
  WRONGLY("flag", char, 2);
  WRONGLY("flag", unsigned char, 2);
  WRONGLY("text", kvo_object *, object);
  WRONGLY("text", typed *, of);
  WRONGLY("text", void *, of);
  WRONGLY("object", char *, (char *)"text");
  WRONGLY("wide", char *, (char *)"text");
  WRONGLY("pointer", long, 5);
  CHECK_CONTAINS(kvo_last_error(), "property 'pointer' of class 'Typed' has the type \"^v\"");
  kvo_object_destroy(object);
}

TEST("every function that fails says which, with what, and why") {
  item *object = item_make(1);
  int value = 1;
  kvo_value real = {"d", sizeof value, &value};
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "next..value"};
  ignore_faults();
#define SAYS(call, text)                                                                                               \
  do {                                                                                                                 \
    CHECK((call) != KVO_OK);                                                                                           \
    CHECK_CONTAINS(kvo_last_error(), text);                                                                            \
  } while (0)
  SAYS(kvo_object_create(NULL, NULL), "kvo_object_create: cls is not a class");
  SAYS(kvo_object_init(NULL, item_class()), "kvo_object_init: object is NULL");
  SAYS(kvo_set_value(as_object(object), "value", &real), "kvo_set_value: \"value\" of class 'Item'");
  SAYS(kvo_set_value(as_object(object), "doubled", &(kvo_value){"i", sizeof value, &value}), "has no setter");
  SAYS(kvo_set_value(as_object(object), "value", NULL), "kvo_set_value: value is NULL");
  SAYS(kvo_add_observer(as_object(object), &observer, NULL), "kvo_add_observer: observer->callback is NULL");
  SAYS(kvo_add_observer(as_object(object), NULL, NULL), "kvo_add_observer: observer is NULL");
  observer.struct_size = 3;
  SAYS(kvo_add_observer(as_object(object), &observer, NULL), "struct_size is not sizeof(kvo_observer)");
  SAYS(kvo_remove_observer(12345), "kvo_remove_observer: observation 12345: no such observation is registered");
  SAYS(kvo_cancel_observer(12346), "kvo_cancel_observer: observation 12346");
  SAYS(kvo_cancel_observer_and_wait(12347), "kvo_cancel_observer_and_wait: observation 12347");
  SAYS(kvo_observation_pause(5), "kvo_observation_pause: observation 5");
  SAYS(kvo_observation_resume(6, true), "kvo_observation_resume: observation 6");
  SAYS(kvo_remove_observer_for(as_object(object), object, "value"),
       "removal of an observer: \"value\" of class 'Item'");
  SAYS(kvo_will_change(as_object(object), NULL), "kvo_will_change: key is NULL");
  SAYS(kvo_will_change_indexes(as_object(object), KVO_CHANGE_REMOVAL, "value", (size_t[]){2, 1}, 2), "not ascending");
  SAYS(kvo_did_change_indexes(as_object(object), KVO_CHANGE_SETTING, "value", NULL, 0), "kind is not that");
  SAYS(kvo_snapshot(NULL), "kvo_snapshot: out is NULL");
  SAYS(kvo_trace_begin(NULL), "kvo_trace_begin: path is NULL");
  item_destroy(object);
}
