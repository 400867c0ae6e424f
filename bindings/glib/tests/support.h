/* support.h - a model in C for the tests and the benchmark, and a GObject with the same properties. */
#ifndef KVO_GLIB_TEST_SUPPORT_H
#define KVO_GLIB_TEST_SUPPORT_H

#include <kvo/kvo_glib.h>

/* A class Person with name (string), age (int), is_open (bool), weight (double, at most 100), boss (object), friends (list of Person),
 * tags (list of strings), and code, which only C can read. Setters keep strings and nothing else. */
typedef struct person {
  kvo_object header;
  char *name;
  int age;
  bool is_open;
  double weight;
  kvo_object *boss;
  GPtrArray *friends, *tags;
  struct {
    int a, b;
  } code;
} person;

kvo_class *person_class(void);
kvo_object *person_new(const char *name, int age);
/* Sets without a report where the test means to. */
void person_set_name(kvo_object *person, const char *name);
void person_set_age(kvo_object *person, int age);
/* At the end for -1. */
void person_add_friend(kvo_object *person, int index, kvo_object *friend);
void person_add_tag(kvo_object *person, int index, const char *tag);

/* A GObject type with the properties text (string), caption (string, which must not be NULL, by default "none"), number (int), active
 * (boolean), real (double, at most 100), object (object), letter (char), small (int, -1000 to 1000), fixed (int, which cannot be
 * set); "real" is clamped by its setter. */
#define BOARD_TYPE (board_get_type())
G_DECLARE_FINAL_TYPE(Board, board, BOARD, BOARD, GObject)
Board *board_new(void);

/* Texts that handlers write, and the test compares. */
void note(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* What has been noted since the last call, separated by spaces. Free it. */
char *noted(void);
/* Asserts that this has been noted. */
#define assert_noted(expected)                                                                                         \
  do {                                                                                                                 \
    char *is = noted();                                                                                                \
    g_assert_cmpstr(is, ==, expected);                                                                                 \
    g_free(is);                                                                                                        \
  } while (0)
/* A handler of notify:: that notes the property and its value. */
void note_notify(GObject *object, GParamSpec *spec, gpointer prefix);
/* A handler of items-changed. */
void note_items(GListModel *model, guint position, guint removed, guint added, gpointer prefix);
/* Runs what is ready in the default context. */
void run_ready(void);

#endif
