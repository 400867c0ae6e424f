/* pausing_getters.c - getters that resume or pause the observation for whose pause they are read, and changes during a registration. */
#include "allocator.h"
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

typedef struct hooked {
  kvo_object header;
  item *value;
} hooked;

/* Objects, because a value that may be one is read for a pause. */
static item *values[3];

/* Called once by the getter. */
static void (*in_getter)(void);

static item *get_value(const hooked *of) {
  void (*body)(void) = in_getter;
  in_getter = NULL;
  if (body != NULL) body();
  return of->value;
}

static void set_value(hooked *of, item *value) { of->value = value; }

static item *hooked_make(void) {
  static kvo_class *cls;
  static const kvo_property_spec value = {
      .name = "value", .type = "@", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Hooked",
                         .instance_size = sizeof(item),
                         .properties = &value,
                         .property_count = 1};
  if (cls == NULL) CHECK_OK(kvo_class_register(&spec, &cls));
  kvo_object *made;
  CHECK_OK(kvo_object_create(cls, &made));
  return (item *)made;
}

static item *object, *root;

static void set(int number) { KVO_SET(object, "value", item *, values[number]); }
static watcher w;

static void resume(void) { CHECK_OK(kvo_observation_resume(w.id, true)); }

static void resume_and_pause(void) {
  resume();
  CHECK_OK(kvo_observation_pause(w.id));
}

/* Of the key itself, and of a path that ends with it. */
static void make(bool by_path) {
  for (int i = 0; i < 3; i++) values[i] = item_make(i);
  root = item_make(0);
  object = hooked_make();
  ((hooked *)object)->value = values[0];
  root->next = object;
  w = (watcher){0};
  watch(by_path ? root : object, by_path ? "next.value" : "value", KVO_OLD | KVO_NEW, &w);
  set(1);
  CHECK_EQ(w.calls, 1);
}

static void end(void) {
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(as_object(object));
  item_destroy(root);
  for (int i = 0; i < 3; i++) item_destroy(values[i]);
}

TEST("an observation that is resumed while its value is read for the pause is not paused, and keeps nothing") {
  use_counting_allocator();
  for (int by_path = 0; by_path < 2; by_path++) {
    make(by_path);
    long before = 0;
    for (int round = 0; round < 3; round++) {
      in_getter = resume;
      CHECK_OK(kvo_observation_pause(w.id));
      CHECK(in_getter == NULL);
      CHECK(!kvo_observation_is_paused(w.id));
      if (round == 0) before = live_blocks;
      CHECK_EQ((long)live_blocks, before);
    }
    set(2);
    CHECK_EQ(w.calls, 2);
    CHECK(w.old_value.object == as_object(values[1]));
    end();
  }
}

TEST("one that is resumed and paused again then keeps one value, and tells what it has missed") {
  use_counting_allocator();
  for (int by_path = 0; by_path < 2; by_path++) {
    make(by_path);
    long before = 0;
    for (int round = 0; round < 3; round++) {
      in_getter = resume_and_pause;
      CHECK_OK(kvo_observation_pause(w.id));
      CHECK(in_getter == NULL);
      CHECK(kvo_observation_is_paused(w.id));
      CHECK_OK(kvo_observation_resume(w.id, true));
      CHECK_EQ(w.calls, 1);
      if (round == 0) before = live_blocks;
      CHECK_EQ((long)live_blocks, before);
    }
    in_getter = resume_and_pause;
    CHECK_OK(kvo_observation_pause(w.id));
    set(2);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_EQ(w.calls, 2);
    CHECK(w.old_value.object == as_object(values[1]));
    CHECK(w.new_value.object == as_object(values[2]));
    end();
  }
}

/* --------------------------------------------------------------------------------------- During the registration -- */

typedef struct changing {
  item *of;
  int evaluated, told;
} changing;

/* Changes what it has read, the first time. */
static void *evaluate(void *user_data) {
  changing *self = user_data;
  kvo_track_read(as_object(self->of), kvo_key_hash("value", 5));
  if (self->evaluated++ == 0) item_set_value(self->of, 7);
  return calloc(1, 1);
}

static void note(const kvo_raw_change *change, void *user_data) {
  (void)change;
  ((changing *)user_data)->told++;
}

static void release(void *value, void *user_data) { (void)user_data, free(value); }

TEST("a change during the registration is not missed by a later pause") {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  changing of = {.of = item_make(1)};
  kvo_binding_observer observer = {.key_path = "changing", .options = KVO_NEW, .ops = &ops, .user_data = &of};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(as_object(of.of), &observer, false, &id));
  CHECK_EQ(of.told, 0);
  CHECK_OK(kvo_observation_pause(id));
  CHECK_OK(kvo_observation_resume(id, true));
  CHECK_EQ(of.told, 0);
  item_set_value(of.of, 8);
  CHECK_EQ(of.told, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(of.of);
}
