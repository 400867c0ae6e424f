/* computed.c - a binding's computed property: its setter changes what it is computed from, and notifies once. */
#include "expression.h"

#include <stdlib.h>

/* A class of a binding with `side`, which is stored, and `area`, which is computed from it. */
typedef struct square {
  kvo_object header;
  int side;
} square;

static kvo_key side_key, area_key;

static int area_of(square *of) {
  kvo_track_read(&of->header, side_key);
  return of->side * of->side;
}

/* The user data of a property is its key. */
static void *copy_value(void *instance, void *user, const kvo_selection *selection) {
  square *of = instance;
  int *copy = malloc(sizeof *copy);
  CHECK(copy != NULL);
  kvo_track_read(&of->header, *(kvo_key *)user);
  *copy = user == &area_key ? area_of(of) : of->side;
  return copy;
}

static void release_copy(void *value, void *user) { free(value); }

static void view_value(const void *value, void *user, kvo_value_reader reader, void *arg) {
  reader(&(kvo_value){"i", sizeof(int), value}, arg);
}

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) { return KVO_OK; }

static const kvo_value_ops ops = {copy_value, release_copy, view_value, assign_nothing, NULL};

static kvo_class *square_class(void) {
  static kvo_class *cls;
  static const kvo_binding_property properties[] = {
      {.name = "side", .type = "i", .ops = &ops, .user = &side_key},
      {.name = "area", .type = "i", .ops = &ops, .user = &area_key, .flags = KVO_PROPERTY_COMPUTED}};
  side_key = key_of("side");
  area_key = key_of("area");
  if (cls == NULL) CHECK_OK(kvo_binding_class_register("Square", NULL, 0, properties, 2, &cls));
  return cls;
}

static square *make_of(kvo_class *cls, int side) {
  square *made = calloc(1, sizeof *made);
  CHECK(made != NULL);
  kvo_object_adopt(&made->header, cls);
  made->side = side;
  return made;
}

static square *make(int side) { return make_of(square_class(), side); }

static void end(square *of) {
  kvo_object_finish(&of->header);
  free(of);
}

/* The accessor of `side`. */
static void set_side(square *of, int side) {
  int old_value = of->side;
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, side_key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  of->side = side;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, &side);
}

/* What the setter of `area` also does, unless NULL. */
static void (*in_area_setter)(square *of);

/* The accessor of `area`. */
static void set_area(square *of, int side) {
  kvo_frame frame;
  kvo_mute mute;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, area_key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  kvo_mute_begin(&mute, &of->header, area_key);
  set_side(of, side);
  if (in_area_setter != NULL) in_area_setter(of);
  kvo_mute_end(&mute);
  if (wants != 0) kvo_frame_finish(&frame, NULL);
}

static void announce(square *of, const char *key) {
  CHECK_OK(kvo_will_change(&of->header, key));
  CHECK_OK(kvo_did_change(&of->header, key));
}

static void announce_area(square *of) { announce(of, "area"); }
static void announce_side(square *of) { announce(of, "side"); }

/* --------------------------------------------------------------------------------------------------- Observers -- */

static int read_area(expression *self) {
  kvo_track_read(self->root, area_key);
  return area_of((square *)self->root);
}

/* Observes `area` as an expression. */
static void observe_area(expression *self, square *of, int options) {
  *self = (expression){.root = &of->header, .body = read_area, .key_path = "area"};
  expression_begin(self, options);
}

static void watch_key(square *of, const char *key, int options, watcher *observer) {
  watch_object(&of->header, key, options, observer);
}

/* An observation of the key itself, which no change of another key notifies. */
typedef struct direct {
  int calls;
  kvo_observation id;
} direct;

static void count_call(const kvo_raw_change *change, void *user_data) { ((direct *)user_data)->calls++; }

static void observe_key(direct *self, square *of, kvo_key key) {
  static const kvo_observer_ops counting = {.callback = count_call};
  kvo_binding_observer described = {.key_path = "key", .ops = &counting, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_key(&of->header, key, &described, &self->id));
}

TEST("the setters of a computed property and of what it is computed from notify once, whoever else observes") {
  for (int observers = 0; observers < 4; observers++) {
    square *of = make(1);
    expression area;
    watcher before = {0}, after = {0};
    if ((observers & 1) != 0) watch_key(of, "side", KVO_NEW, &before);
    observe_area(&area, of, KVO_NEW | KVO_PRIOR);
    if ((observers & 2) != 0) watch_key(of, "side", KVO_NEW, &after);
    for (int i = 1; i <= 3; i++) {
      set_area(of, 1 + i);
      CHECK_EQ(area.priors, i);
      CHECK_EQ(area.notified, i);
      CHECK_EQ(area.new_value, (1 + i) * (1 + i));
      CHECK_EQ(before.calls, (observers & 1) != 0 ? i : 0);
      CHECK_EQ(after.calls, (observers & 2) != 0 ? i : 0);
    }
    set_side(of, 7);
    CHECK_EQ(area.priors, 4);
    CHECK_EQ(area.notified, 4);
    CHECK_EQ(area.new_value, 49);
    expression_end(&area);
    if (before.id != 0) CHECK_OK(kvo_remove_observer(before.id));
    if (after.id != 0) CHECK_OK(kvo_remove_observer(after.id));
    end(of);
  }
}

static void set_side_again(watcher *self, const kvo_change *change) {
  self->then = NULL;
  set_side(self->then_arg, 5);
}

TEST("observers are notified once, when the setter returns, of what a callback changes during it") {
  square *of = make(1);
  expression area;
  watcher side = {.then = set_side_again, .then_arg = of};
  observe_area(&area, of, KVO_NEW);
  watch_key(of, "side", KVO_NEW, &side);
  set_area(of, 2);
  CHECK_EQ(side.calls, 2);
  CHECK_EQ(area.notified, 1);
  CHECK_EQ(area.new_value, 25);
  expression_end(&area);
  CHECK_OK(kvo_remove_observer(side.id));
  end(of);
}

static void announce_in_callback(watcher *self, const kvo_change *change) { announce_area(self->then_arg); }

TEST("a setter that announces its own property notifies once; announced by others, it notifies as usual") {
  ignore_faults();
  square *of = make(1);
  expression area;
  direct own = {0}, side = {0};
  observe_area(&area, of, KVO_NEW);
  observe_key(&own, of, area_key);
  observe_key(&side, of, side_key);
  in_area_setter = announce_area;
  set_area(of, 2);
  CHECK_EQ(area.notified, 1);
  CHECK_EQ(own.calls, 1);
  CHECK_EQ(side.calls, 1);
  in_area_setter = announce_side; /* another property: as usual */
  set_area(of, 3);
  CHECK_EQ(area.notified, 2);
  CHECK_EQ(own.calls, 2);
  CHECK_EQ(side.calls, 3);
  in_area_setter = NULL;
  announce_area(of);
  CHECK_EQ(area.notified, 3);
  CHECK_EQ(own.calls, 3);
  watcher announcing = {.then = announce_in_callback, .then_arg = of};
  watch_key(of, "side", KVO_NONE, &announcing);
  set_area(of, 4);
  CHECK_EQ(announcing.calls, 1);
  CHECK_EQ(own.calls, 5);
  CHECK_OK(kvo_remove_observer(announcing.id));
  CHECK_OK(kvo_remove_observer(own.id));
  CHECK_OK(kvo_remove_observer(side.id));
  expression_end(&area);
  end(of);
}

/* ----------------------------------------------------------------------------------------------------- Classes -- */

TEST("a subclass of a binding may replace an inherited property, but neither has a class one key twice") {
  static const char *const side_paths[] = {"side", NULL};
  kvo_class *base = square_class(), *derived = NULL, *refused = NULL;
  kvo_binding_property properties[] = {{.name = "area", .type = "i", .ops = &ops, .affected_by = side_paths},
                                       {.name = "other", .type = "i", .ops = &ops}};
  CHECK_OK(kvo_binding_class_register("Derived", base, 0, properties, 2, &derived));
  CHECK_EQ(kvo_class_property_count(derived), 3);
  CHECK(kvo_class_property(derived, "area") != kvo_class_property(base, "area"));
  CHECK_SAME(kvo_class_property(derived, "side"), kvo_class_property(base, "side"));
  properties[1].name = "area";
  CHECK_STATUS(kvo_binding_class_register("Refused", base, 0, properties, 2, &refused), KVO_ERROR_DUPLICATE_KEY);
}

TEST("a key that is declared to depend on a computed property is notified of changes of what that reads") {
  static const char *const paths[] = {"area", NULL};
  const kvo_binding_property label = {.name = "label",
                                      .type = "i",
                                      .ops = &ops,
                                      .user = &side_key,
                                      .affected_by = paths,
                                      .flags = KVO_PROPERTY_COMPUTED | KVO_PROPERTY_DECLARED};
  kvo_class *labelled = NULL;
  CHECK_OK(kvo_binding_class_register("Labelled", square_class(), 0, &label, 1, &labelled));
  square *of = make_of(labelled, 1);
  watcher observer = {0};
  watch_key(of, "label", KVO_NEW, &observer);
  set_side(of, 2);
  CHECK_EQ(observer.calls, 1);
  announce_area(of);
  CHECK_EQ(observer.calls, 2);
  set_side(of, 3);
  CHECK_EQ(observer.calls, 3);
  CHECK_OK(kvo_remove_observer(observer.id));
  end(of);
}
