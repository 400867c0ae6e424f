/* computed_callbacks.c - what observers see and do while the setter of a binding's computed property changes what it is computed from. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

/* A class of a binding with `side`, which is stored, and `area`, which is computed from it. */
typedef struct tile {
  kvo_object header;
  int side;
} tile;

static kvo_key side_key, area_key;

static int area_of(tile *of) {
  kvo_track_read(&of->header, side_key);
  return of->side * of->side;
}

static void *copy_of(int number) {
  int *copy = malloc(sizeof *copy);
  CHECK(copy != NULL);
  *copy = number;
  return copy;
}

static void *copy_side(void *instance, void *user, const kvo_selection *selection) {
  (void)user, (void)selection;
  tile *of = instance;
  kvo_track_read(&of->header, side_key);
  return copy_of(of->side);
}

static void *copy_area(void *instance, void *user, const kvo_selection *selection) {
  (void)user, (void)selection;
  tile *of = instance;
  kvo_track_read(&of->header, area_key);
  return copy_of(area_of(of));
}

static void release_copy(void *value, void *user) { (void)user, free(value); }

static void view_value(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_OK;
}

static tile *make(int side) {
  static const kvo_value_ops stored = {copy_side, release_copy, view_value, assign_nothing, NULL},
                             computed = {copy_area, release_copy, view_value, assign_nothing, NULL};
  static const kvo_binding_property properties[] = {
      {.name = "side", .type = "i", .ops = &stored},
      {.name = "area", .type = "i", .ops = &computed, .flags = KVO_PROPERTY_COMPUTED}};
  static kvo_class *cls;
  side_key = kvo_key_hash("side", 4);
  area_key = kvo_key_hash("area", 4);
  if (cls == NULL) CHECK_OK(kvo_binding_class_register("Tile", NULL, 0, properties, 2, &cls));
  tile *made = calloc(1, sizeof *made);
  CHECK(made != NULL);
  kvo_object_adopt(&made->header, cls);
  made->side = side;
  return made;
}

static void end(tile *of) {
  kvo_object_finish(&of->header);
  free(of);
}

/* The accessor of `side`. */
static void set_side(tile *of, int side) {
  int old_value = of->side;
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, side_key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  of->side = side;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, &side);
}

/* The accessor of `area`. */
static void set_area(tile *of, int side) {
  kvo_frame frame;
  kvo_mute mute;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, area_key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  kvo_mute_begin(&mute, &of->header, area_key);
  set_side(of, side);
  kvo_mute_end(&mute);
  if (wants != 0) kvo_frame_finish(&frame, NULL);
}

static void watch_key(tile *of, const char *key, int options, watcher *observer) {
  kvo_observer described = watcher_observer(key, options, observer);
  CHECK_OK(kvo_add_observer(&of->header, &described, &observer->id));
}

/* An observation of the computed key itself, which is told of announced changes and of what its setter notifies. */
static int own_calls;
static void count_own(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data, own_calls++; }
static kvo_observation observe_own(tile *of) {
  static const kvo_observer_ops ops = {.callback = count_own};
  kvo_binding_observer described = {.key_path = "area", .ops = &ops, KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(&of->header, area_key, &described, &id));
  return id;
}

static void announce_area(tile *of) {
  CHECK_OK(kvo_will_change(&of->header, "area"));
  CHECK_OK(kvo_did_change(&of->header, "area"));
}

static void announce_in_callback(watcher *self, const kvo_change *change) {
  (void)change;
  announce_area(self->then_arg);
}

TEST("what a callback announces of a computed property during its setter notifies as usual") {
  ignore_faults();
  tile *of = make(1);
  watcher side = {.then = announce_in_callback, .then_arg = of};
  kvo_observation own = observe_own(of);
  watch_key(of, "side", KVO_NONE, &side);
  set_area(of, 2);
  CHECK_EQ(side.calls, 1);
  CHECK_EQ(own_calls, 2);
  CHECK_OK(kvo_remove_observer(side.id));
  CHECK_OK(kvo_remove_observer(own));
  end(of);
}

TEST("the setter of another object's computed property does not silence an announced change of this one's") {
  ignore_faults();
  tile *of = make(1), *other = make(1);
  kvo_observation own = observe_own(of);
  kvo_mute mute;
  kvo_mute_begin(&mute, &other->header, area_key);
  announce_area(of);
  CHECK_EQ(own_calls, 1);
  kvo_mute_end(&mute);
  announce_area(of);
  CHECK_EQ(own_calls, 2);
  CHECK_OK(kvo_remove_observer(own));
  end(of);
  end(other);
}

TEST("an observer of a stored property is called before the setter of a computed one changes it, and after") {
  ignore_faults();
  tile *of = make(1);
  watcher side = {.tag = 'S'}, area = {.tag = 'A'};
  watch_key(of, "side", KVO_OLD | KVO_NEW | KVO_PRIOR, &side);
  watch_key(of, "area", KVO_NEW, &area);
  for (int i = 2; i < 5; i++) {
    trace_clear();
    set_area(of, i);
    CHECK_EQ((const char *)trace, "sSA");
    CHECK_EQ(side.old_value.integer, i - 1);
    CHECK_EQ(side.new_value.integer, i);
    CHECK_EQ(area.new_value.integer, i * i);
  }
  CHECK_OK(kvo_remove_observer(side.id));
  CHECK_OK(kvo_remove_observer(area.id));
  end(of);
}

/* An expression that reads `area` and `side` of one tile, and, once that side is greater than 2, `side` of another. */
typedef struct chosen {
  tile *first, *second;
  int calls, last;
  kvo_observation id;
} chosen;

static void *evaluate_chosen(void *user_data) {
  chosen *self = user_data;
  kvo_track_read(&self->first->header, area_key);
  int sum = area_of(self->first);
  if (self->first->side > 2) {
    kvo_track_read(&self->second->header, side_key);
    sum += self->second->side;
  }
  return copy_of(sum);
}

static void note_chosen(const kvo_raw_change *change, void *user_data) {
  chosen *self = user_data;
  self->calls++;
  self->last = *(const int *)change->new_value;
}

TEST("an expression that the setter of a computed property leads to a key, which it then stores, is told once") {
  static const kvo_observer_ops ops = {.callback = note_chosen, .evaluate = evaluate_chosen, .release = release_copy};
  chosen of = {.first = make(2), .second = make(5)};
  kvo_binding_observer described = {.key_path = "chosen", .options = KVO_NEW, .ops = &ops, .user_data = &of, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(&of.first->header, &described, false, &of.id));
  kvo_frame frame;
  kvo_mute mute;
  CHECK(kvo_frame_begin(&frame, &of.first->header, area_key) != 0);
  kvo_frame_will(&frame, NULL);
  kvo_mute_begin(&mute, &of.first->header, area_key);
  set_side(of.first, 3);
  /* The accessor of `side` has found the second tile unobserved, before the expression read it. */
  of.second->side = 7;
  kvo_binding_stored(&of.second->header, side_key);
  CHECK_EQ(of.calls, 0);
  kvo_mute_end(&mute);
  kvo_frame_finish(&frame, NULL);
  CHECK_EQ(of.calls, 1);
  CHECK_EQ(of.last, 16);
  set_side(of.second, 8);
  CHECK_EQ(of.calls, 2);
  CHECK_EQ(of.last, 17);
  CHECK_OK(kvo_remove_observer(of.id));
  end(of.first);
  end(of.second);
}
