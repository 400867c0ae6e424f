/* computed.c - a binding's computed property: its setter changes what it is computed from, and its observers are notified once. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>
#include <string.h>

/* A class of a binding with `side`, which is stored, and `area`, which is computed from it. */
typedef struct square {
  kvo_object header;
  int side;
} square;

static kvo_key side_key, area_key;
static const char side_name[] = "side", area_name[] = "area";

static int area_of(square *of) {
  kvo_track_read(&of->header, side_key);
  return of->side * of->side;
}

static void *copy_value(void *instance, void *user, const kvo_selection *selection) {
  (void)selection;
  square *of = instance;
  int *copy = malloc(sizeof *copy);
  kvo_track_read(&of->header, user == area_name ? area_key : side_key);
  *copy = user == area_name ? area_of(of) : of->side;
  return copy;
}

static void release_copy(void *value, void *user) {
  (void)user;
  free(value);
}

static void view_value(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_OK;
}

static const kvo_value_ops ops = {copy_value, release_copy, view_value, assign_nothing, NULL};

static square *make(int side) {
  static kvo_class *cls;
  static const kvo_binding_property properties[] = {
      {.name = side_name, .type = "i", .ops = &ops, .user = (void *)(uintptr_t)side_name},
      {.name = area_name,
       .type = "i",
       .ops = &ops,
       .user = (void *)(uintptr_t)area_name,
       .flags = KVO_PROPERTY_COMPUTED}};
  side_key = kvo_key_hash(side_name, strlen(side_name));
  area_key = kvo_key_hash(area_name, strlen(area_name));
  if (cls == NULL) CHECK_OK(kvo_binding_class_register("Square", NULL, 0, properties, 2, &cls));
  square *made = calloc(1, sizeof *made);
  kvo_object_adopt(&made->header, cls);
  made->side = side;
  return made;
}

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
static void (*in_setter)(square *of);

/* The accessor of `area`. */
static void set_area(square *of, int side) {
  kvo_frame frame;
  kvo_mute mute;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, area_key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  kvo_mute_begin(&mute, &of->header, area_key);
  set_side(of, side);
  if (in_setter != NULL) in_setter(of);
  kvo_mute_end(&mute);
  if (wants != 0) kvo_frame_finish(&frame, NULL);
}

/* -------------------------------------------------------------------------------------------------------- Expressions -- */

/* An observation of `area` as an expression. */
typedef struct seen {
  square *of;
  int calls, priors, last;
  kvo_observation id;
} seen;

static void *evaluate_area(void *user_data) {
  seen *self = user_data;
  int *value = malloc(sizeof *value);
  kvo_track_read(&self->of->header, area_key);
  *value = area_of(self->of);
  return value;
}

static void note_area(const kvo_raw_change *change, void *user_data) {
  seen *self = user_data;
  if (change->is_prior)
    self->priors++;
  else
    self->calls++;
  if (change->new_value != NULL) self->last = *(const int *)change->new_value;
}

static void observe_area(seen *self, square *of, int options) {
  static const kvo_observer_ops ops = {.callback = note_area, .evaluate = evaluate_area, .release = release_copy};
  kvo_binding_observer described = {
      .key_path = area_name, .options = (kvo_options)options, .ops = &ops, .user_data = self, KVO_HERE};
  self->of = of;
  CHECK_OK(kvo_binding_observe_tracked(&of->header, &described, false, &self->id));
}

static kvo_observation watch_side(square *of, watcher *observer) {
  kvo_observer described = watcher_observer(side_name, KVO_NEW, observer);
  CHECK_OK(kvo_add_observer(&of->header, &described, &observer->id));
  return observer->id;
}

TEST("a change of what it is computed from notifies an observer of a computed property once") {
  square *of = make(1);
  seen area = {0};
  observe_area(&area, of, KVO_NEW);
  set_side(of, 3);
  CHECK_EQ(area.calls, 1);
  CHECK_EQ(area.last, 9);
  set_side(of, 4);
  CHECK_EQ(area.calls, 2);
  CHECK_EQ(area.last, 16);
  CHECK_OK(kvo_remove_observer(area.id));
  end(of);
}

TEST(
    "its setter notifies the observer once, whichever observers of the other property were registered before or after") {
  for (int observers = 0; observers < 4; observers++) {
    square *of = make(1);
    seen area = {0};
    watcher before = {0}, after = {0};
    if ((observers & 1) != 0) watch_side(of, &before);
    observe_area(&area, of, KVO_NEW);
    if ((observers & 2) != 0) watch_side(of, &after);
    for (int i = 1; i <= 3; i++) {
      set_area(of, 1 + i);
      CHECK_EQ(area.calls, i);
      CHECK_EQ(area.last, (1 + i) * (1 + i));
      CHECK_EQ(before.calls, (observers & 1) != 0 ? i : 0);
      CHECK_EQ(after.calls, (observers & 2) != 0 ? i : 0);
    }
    set_side(of, 7);
    CHECK_EQ(area.calls, 4);
    CHECK_OK(kvo_remove_observer(area.id));
    if (before.id != 0) CHECK_OK(kvo_remove_observer(before.id));
    if (after.id != 0) CHECK_OK(kvo_remove_observer(after.id));
    end(of);
  }
}

TEST("before its setter changes anything the observer is notified once, too") {
  square *of = make(1);
  seen area = {0};
  observe_area(&area, of, KVO_NEW | KVO_PRIOR);
  set_area(of, 2);
  CHECK_EQ(area.priors, 1);
  CHECK_EQ(area.calls, 1);
  set_side(of, 3);
  CHECK_EQ(area.priors, 2);
  CHECK_EQ(area.calls, 2);
  CHECK_OK(kvo_remove_observer(area.id));
  end(of);
}

static void set_side_again(watcher *self, const kvo_change *change) {
  (void)change;
  square *of = self->then_arg;
  self->then = NULL;
  set_side(of, 5);
}

TEST("what a callback changes during its setter is told at the end of that, once") {
  square *of = make(1);
  seen area = {0};
  watcher side = {.then = set_side_again, .then_arg = of};
  observe_area(&area, of, KVO_NEW);
  watch_side(of, &side);
  set_area(of, 2);
  CHECK_EQ(side.calls, 2);
  CHECK_EQ(area.calls, 1);
  CHECK_EQ(area.last, 25);
  CHECK_OK(kvo_remove_observer(area.id));
  CHECK_OK(kvo_remove_observer(side.id));
  end(of);
}

static void announce_area(square *of) {
  CHECK_OK(kvo_will_change(&of->header, area_name));
  CHECK_OK(kvo_did_change(&of->header, area_name));
}

static void announce_side(square *of) {
  CHECK_OK(kvo_will_change(&of->header, side_name));
  CHECK_OK(kvo_did_change(&of->header, side_name));
}

/* An observation of the key itself, which no change of another key notifies. */
static void observe_key(seen *self, square *of, kvo_key key) {
  static const kvo_observer_ops ops = {.callback = note_area};
  kvo_binding_observer described = {.key_path = "key", .ops = &ops, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_key(&of->header, key, &described, &self->id));
}

TEST("a setter that announces its own property by hand notifies the observers once, and a pair outside of it does") {
  square *of = make(1);
  seen area = {0}, own = {0}, side = {0};
  ignore_faults();
  observe_area(&area, of, KVO_NEW);
  observe_key(&own, of, area_key);
  observe_key(&side, of, side_key);
  in_setter = announce_area;
  set_area(of, 2);
  CHECK_EQ(area.calls, 1);
  CHECK_EQ(own.calls, 1);
  CHECK_EQ(side.calls, 1);
  in_setter = announce_side; /* another property: as usual */
  set_area(of, 3);
  CHECK_EQ(area.calls, 2);
  CHECK_EQ(own.calls, 2);
  CHECK_EQ(side.calls, 3);
  announce_area(of);
  CHECK_EQ(area.calls, 3);
  CHECK_EQ(own.calls, 3);
  CHECK_OK(kvo_remove_observer(area.id));
  CHECK_OK(kvo_remove_observer(own.id));
  CHECK_OK(kvo_remove_observer(side.id));
  end(of);
}

TEST("the setter of another object's computed property does not silence a change of this one's") {
  square *of = make(1), *other = make(1);
  seen area = {0};
  observe_area(&area, of, KVO_NEW);
  kvo_mute mutes[2];
  kvo_mute_begin(&mutes[0], &other->header, area_key);
  set_side(of, 2);
  CHECK_EQ(area.calls, 1);
  kvo_mute_begin(&mutes[1], &of->header, side_key); /* suppresses the next change only */
  set_side(of, 3);
  CHECK_EQ(area.calls, 1);
  set_side(of, 4);
  CHECK_EQ(area.calls, 2);
  kvo_mute_end(&mutes[0]);
  kvo_mute_end(&mutes[1]);
  kvo_mute_end(&mutes[1]);
  set_side(of, 5);
  CHECK_EQ(area.calls, 3);
  CHECK_OK(kvo_remove_observer(area.id));
  end(of);
  end(other);
}

TEST("a subclass of a binding may replace an inherited property, but neither has a class one key twice") {
  static const char *const side_paths[] = {side_name, NULL};
  square *of = make(1);
  kvo_class *base = kvo_object_class(&of->header), *derived = NULL, *refused = NULL;
  kvo_binding_property properties[] = {{.name = area_name, .type = "i", .ops = &ops, .affected_by = side_paths},
                                       {.name = "other", .type = "i", .ops = &ops}};
  CHECK_OK(kvo_binding_class_register("Derived", base, 0, properties, 2, &derived));
  CHECK_EQ(kvo_class_property_count(derived), 3);
  CHECK(kvo_class_property(derived, area_name) != kvo_class_property(base, area_name));
  CHECK_SAME(kvo_class_property(derived, side_name), kvo_class_property(base, side_name));
  properties[1].name = area_name;
  CHECK_STATUS(kvo_binding_class_register("Refused", base, 0, properties, 2, &refused), KVO_ERROR_DUPLICATE_KEY);
  end(of);
}

TEST("a key that is declared to depend on a computed property is told of changes of what that reads") {
  static const char *const paths[] = {area_name, NULL};
  const kvo_binding_property label = {.name = "label",
                                      .type = "i",
                                      .ops = &ops,
                                      .affected_by = paths,
                                      .flags = KVO_PROPERTY_COMPUTED | KVO_PROPERTY_DECLARED};
  square *plain = make(1), *of = calloc(1, sizeof *of);
  kvo_class *labelled = NULL;
  CHECK(of != NULL);
  CHECK_OK(kvo_binding_class_register("Labelled", kvo_object_class(&plain->header), 0, &label, 1, &labelled));
  kvo_object_adopt(&of->header, labelled);
  watcher observer = {0};
  kvo_observer described = watcher_observer("label", KVO_NEW, &observer);
  CHECK_OK(kvo_add_observer(&of->header, &described, &observer.id));
  set_side(of, 2);
  CHECK_EQ(observer.calls, 1);
  announce_area(of);
  CHECK_EQ(observer.calls, 2);
  set_side(of, 3);
  CHECK_EQ(observer.calls, 3);
  CHECK_OK(kvo_remove_observer(observer.id));
  end(plain);
  end(of);
}
