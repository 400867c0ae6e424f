/* expressions.c - the cost of an expression that reads n keys. */
#include "scaling.h"

#include <stdio.h>
#include <string.h>

static void ignore(const kvo_raw_change *change, void *user_data) {}

static counted **read_objects;
static size_t read_count;

static void *read_all(void *user_data) {
  for (size_t i = 0; i < read_count; i++) counted_release(counted_next(read_objects[i]));
  return calloc(1, 1);
}

static void release_value(void *value, void *user_data) { free(value); }

static void observe_all(size_t n) {
  static const kvo_observer_ops ops = {.callback = ignore, .evaluate = read_all, .release = release_value};
  read_objects = scaling_array(n, sizeof *read_objects);
  read_count = n;
  for (size_t i = 0; i < n; i++) read_objects[i] = counted_make((int)i);
  kvo_binding_observer described = {.key_path = "all", .options = KVO_OLD, .ops = &ops};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(counted_object(read_objects[0]), &described, false, &id));
}

ROW("observe an expression that reads n objects") { MEASURE observe_all(n); }

ROW("set one of n objects that an expression reads") {
  observe_all(n);
  MEASURE counted_set_next(read_objects[n / 2], NULL);
}

ROW("replace all of n objects that an expression reads, and set one") {
  observe_all(n);
  for (size_t i = 1; i < n; i++) read_objects[i] = counted_make((int)i);
  MEASURE counted_set_next(read_objects[0], NULL);
}

static item **chain_of(size_t n, char *path) {
  item **all = scaling_array(n, sizeof *all);
  for (size_t i = n; i-- > 0;) {
    all[i] = item_make((int)i);
    if (i + 1 < n) item_set_next(all[i], all[i + 1]);
    memcpy(path + 5 * i, "next.", 5);
  }
  memcpy(path + 5 * (n - 1), "value", 6);
  return all;
}

ROW("observe a path of n components") {
  char *path = scaling_array(5 * n + 1, 1);
  item **all = chain_of(n, path);
  listener *one = scaling_array(1, sizeof *one);
  MEASURE listen(one, as_object(all[0]), path, KVO_NEW | KVO_OLD);
}

ROW("replace an object on a path of n components") {
  char *path = scaling_array(5 * n + 1, 1);
  item **all = chain_of(n, path);
  listener *one = scaling_array(1, sizeof *one);
  listen(one, as_object(all[0]), path, KVO_NEW | KVO_OLD);
  MEASURE item_set_next(all[n / 2], all[n / 2 + 2]);
}

static int get_nothing(const kvo_object *of) { return 0; }

static void set_nothing(kvo_object *of, int value) {}

/* Layers of two keys, each of which is affected by both keys of the layer below. */
static kvo_object *layers_of(size_t n) {
  kvo_property_spec *properties = scaling_array(n, sizeof *properties);
  char(*names)[32] = scaling_array(n, sizeof *names);
  const char **affecting = scaling_array(3 * n, sizeof *affecting);
  for (size_t i = 0; i < n; i++) {
    snprintf(names[i], sizeof *names, "key%zu", i);
    properties[i].name = names[i];
    properties[i].type = "i";
    properties[i].getter = (kvo_function)get_nothing;
    if (i < 2) properties[i].setter = (kvo_function)set_nothing;
    if (i < 2) continue;
    affecting[3 * i] = names[i / 2 * 2 - 2];
    affecting[3 * i + 1] = names[i / 2 * 2 - 1];
    properties[i].affected_by = &affecting[3 * i];
  }
  return object_made("Layers", sizeof(kvo_object), properties, n);
}

ROW("observe a key in layers of n that affect it/8") {
  kvo_object *object = layers_of(n);
  listener *one = scaling_array(1, sizeof *one);
  char name[32];
  snprintf(name, sizeof name, "key%zu", n - 1);
  MEASURE listen(one, object, name, KVO_NEW | KVO_OLD);
}

ROW("set what affects a key in layers of n/8") {
  kvo_object *object = layers_of(n);
  listener *one = scaling_array(1, sizeof *one);
  char name[32];
  snprintf(name, sizeof name, "key%zu", n - 1);
  listen(one, object, name, KVO_NEW | KVO_OLD);
  MEASURE KVO_SET(object, "key0", int, 1);
}
