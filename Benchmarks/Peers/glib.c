/* glib.c - the peer GObject: a property whose setter stores and notifies, and handlers of its signal "notify::". */
#include "serving.h"

#include <glib-object.h>

#define SUBJECT_TYPE (subject_get_type())
G_DECLARE_FINAL_TYPE(Subject, subject, BENCH, SUBJECT, GObject)

struct _Subject {
  GObject parent;
  gint number;
};

G_DEFINE_FINAL_TYPE(Subject, subject, G_TYPE_OBJECT)

enum { NUMBER = 1, PROPERTY_COUNT };
static GParamSpec *properties[PROPERTY_COUNT];

static G_NO_INLINE void subject_set_number(Subject *self, gint value) {
  self->number = value;
  g_object_notify_by_pspec(G_OBJECT(self), properties[NUMBER]);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  if (id == NUMBER)
    g_value_set_int(value, BENCH_SUBJECT(object)->number);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
  if (id == NUMBER)
    subject_set_number(BENCH_SUBJECT(object), g_value_get_int(value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void subject_class_init(SubjectClass *cls) {
  GObjectClass *base = G_OBJECT_CLASS(cls);
  base->get_property = get_property;
  base->set_property = set_property;
  properties[NUMBER] = g_param_spec_int("number", NULL, NULL, G_MININT, G_MAXINT, 0,
                                        G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_properties(base, PROPERTY_COUNT, properties);
}

static void subject_init(Subject *self) { self->number = 0; }

static void add_up(Subject *self, GParamSpec *spec, gpointer data) {
  (void)spec;
  (void)data;
  sum += self->number;
}

static Subject *subject;

static gulong connect_to(Subject *object) {
  return g_signal_connect(object, "notify::number", G_CALLBACK(add_up), NULL);
}

static void make(int observers) {
  subject = g_object_new(SUBJECT_TYPE, NULL);
  for (int i = 0; i < observers; i++) connect_to(subject);
}

static void make_0(void) { make(0); }
static void make_1(void) { make(1); }
static void make_2(void) { make(2); }
static void make_5(void) { make(5); }
static void make_10(void) { make(10); }
static void make_20(void) { make(20); }
static void make_50(void) { make(50); }
static void make_100(void) { make(100); }

static void set(long count) {
  for (long i = 0; i < count; i++) subject_set_number(subject, (gint)i);
}

static void connect_and_disconnect(long count) {
  for (long i = 0; i < count; i++) g_signal_handler_disconnect(subject, connect_to(subject));
}

static GPtrArray *fresh;

static void make_fresh(void) { fresh = g_ptr_array_new_with_free_func(g_object_unref); }

static void prepare_fresh(long count) {
  g_ptr_array_set_size(fresh, 0);
  for (long i = 0; i < count; i++) g_ptr_array_add(fresh, g_object_new(SUBJECT_TYPE, NULL));
}

static void connect_fresh(long count) {
  for (long i = 0; i < count; i++) connect_to(g_ptr_array_index(fresh, i));
}

/* Many objects, each with a handler, in random order. */
static Subject **population;
static long population_count, position;

static void make_population(long count) {
  population = g_new(Subject *, count);
  population_count = count;
  for (long i = 0; i < count; i++) {
    population[i] = g_object_new(SUBJECT_TYPE, NULL);
    connect_to(population[i]);
  }
  shuffle((void **)population, (size_t)count);
}

static void make_1000(void) { make_population(1000); }
static void make_10000(void) { make_population(10000); }
static void make_100000(void) { make_population(100000); }
static void make_1000000(void) { make_population(1000000); }

/* Continues where the turn before ended. */
static void walk(long count) {
  for (long i = 0; i < count; i++) {
    subject_set_number(population[position], (gint)i);
    if (++position == population_count) position = 0;
  }
}

int main(void) {
  static const row rows[] = {
      {"set-unobserved", make_0, NULL, set, false},
      {"set-1", make_1, NULL, set, true},
      {"set-2", make_2, NULL, set, true},
      {"set-5", make_5, NULL, set, true},
      {"set-10", make_10, NULL, set, true},
      {"set-20", make_20, NULL, set, true},
      {"set-50", make_50, NULL, set, true},
      {"set-100", make_100, NULL, set, true},
      {"observe", make_0, NULL, connect_and_disconnect, false},
      {"observe-observed", make_1, NULL, connect_and_disconnect, false},
      {"first", make_fresh, prepare_fresh, connect_fresh, false},
      {"walk-1000", make_1000, NULL, walk, true},
      {"walk-10000", make_10000, NULL, walk, true},
      {"walk-100000", make_100000, NULL, walk, true},
      {"walk-1000000", make_1000000, NULL, walk, true},
  };
  return serve(rows, G_N_ELEMENTS(rows));
}
