/* pausing.c - observations that are paused: no call begins, and what was missed is told once, or not at all. */
#include "allocator.h"
#include "fixture.h"
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

#define CHECK_TOLD(w, count, before, after)                                                                            \
  do {                                                                                                                 \
    CHECK_EQ((w).calls, count);                                                                                        \
    CHECK_EQ((w).old_value.integer, before);                                                                           \
    CHECK_EQ((w).new_value.integer, after);                                                                            \
    CHECK_EQ((int)(w).kind, KVO_CHANGE_SETTING);                                                                       \
  } while (0)

/* An observation of a key, one whose value is that of the last key of a path, and one that is evaluated. */
static const char *const paths[] = {"value", "next.value", "doubled"};
enum { PATHS = 3, FACTOR_OF_LAST = 2 };

static item *object;

/* An object that all paths lead to. */
static void make_object(void) {
  ignore_faults();
  object = item_make(1);
  item_set_next(object, object);
}

static int expected(int path, int value) { return path == PATHS - 1 ? FACTOR_OF_LAST * value : value; }

TEST(
    "a paused observation is not called, and its resumption tells what it has missed once, with the value at the pause") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0}, other = {0};
    watch(object, paths[i], KVO_OLD | KVO_NEW | KVO_PRIOR, &w);
    watch(object, "value", KVO_NONE, &other);
    item_set_value(object, 2);
    CHECK(!kvo_observation_is_paused(w.id));
    CHECK_OK(kvo_observation_pause(w.id));
    CHECK(kvo_observation_is_paused(w.id));
    CHECK(kvo_observation_is_registered(w.id));
    for (int value = 3; value < 6; value++) item_set_value(object, value);
    CHECK_EQ(w.calls, 1);
    CHECK_EQ(w.priors, 1);
    CHECK_EQ(other.calls, 4);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK(!kvo_observation_is_paused(w.id));
    CHECK_TOLD(w, 2, expected(i, 2), expected(i, 5));
    CHECK_EQ(w.priors, 1);
    item_set_value(object, 6);
    CHECK_TOLD(w, 3, expected(i, 5), expected(i, 6));
    CHECK_EQ(w.priors, 2);
    CHECK_OK(kvo_remove_observer(w.id));
    CHECK_OK(kvo_remove_observer(other.id));
    item_destroy(object);
    CHECK_EQ(w.destroyed, 1);
    CHECK_EQ(faults.count, 0);
  }
}

TEST("the resumption tells nothing if nothing was missed, or if it is not asked to") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0};
    watch(object, paths[i], KVO_OLD | KVO_NEW, &w);
    CHECK_OK(kvo_observation_pause(w.id));
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_EQ(w.calls, 0);
    CHECK_OK(kvo_observation_pause(w.id));
    item_set_value(object, 2);
    CHECK_OK(kvo_observation_resume(w.id, false));
    CHECK_EQ(w.calls, 0);
    CHECK_OK(kvo_observation_pause(w.id)); /* what an earlier pause has missed does not count */
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_EQ(w.calls, 0);
    item_set_value(object, 3);
    CHECK_TOLD(w, 1, expected(i, 2), expected(i, 3));
    item_destroy(object);
  }
}

/* Refuses negative values. */
typedef struct refusing {
  kvo_object header;
  int value;
} refusing;

static int get_refusing(const refusing *of) { return of->value; }
static bool set_refusing(refusing *of, int value) {
  if (value < 0) return false;
  of->value = value;
  return true;
}

static kvo_object *refusing_make(void) {
  static const kvo_property_spec value = {.name = "value",
                                          .type = "i",
                                          .getter = (kvo_function)get_refusing,
                                          .setter = (kvo_function)set_refusing,
                                          .setter_type = "B@i"};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Refusing",
                         .instance_size = sizeof(refusing),
                         .properties = &value,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return made;
}

TEST("a set that the setter refuses is not missed, whatever the observation asks for") {
  kvo_object *refuses = refusing_make();
  item *root = item_make(0);
  item_set_next(root, (item *)(void *)refuses);
  watcher w[4] = {{0}};
  for (int i = 0; i < 4; i++) {
    kvo_observer observer = watcher_observer(i < 2 ? "value" : "next.value", KVO_OLD | (i % 2 ? KVO_PRIOR : 0), &w[i]);
    CHECK_OK(kvo_add_observer(i < 2 ? refuses : as_object(root), &observer, &w[i].id));
    CHECK_OK(kvo_observation_pause(w[i].id));
  }
  CHECK_STATUS(KVO_SET(refuses, "value", int, -1), KVO_ERROR_REFUSED);
  for (int i = 0; i < 4; i++) {
    CHECK_OK(kvo_observation_resume(w[i].id, true));
    CHECK_EQ(w[i].calls, 0);
    CHECK_OK(kvo_observation_pause(w[i].id));
  }
  CHECK_OK(KVO_SET(refuses, "value", int, 1));
  for (int i = 0; i < 4; i++) {
    CHECK_OK(kvo_observation_resume(w[i].id, true));
    CHECK_EQ(w[i].calls, 1);
    CHECK_OK(kvo_remove_observer(w[i].id));
  }
  item_destroy(root);
  kvo_object_destroy(refuses);
}

TEST("pausing and resuming twice is the same as once, and the first pause counts") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0};
    watch(object, paths[i], KVO_OLD | KVO_NEW, &w);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_OK(kvo_observation_pause(w.id));
    item_set_value(object, 2);
    CHECK_OK(kvo_observation_pause(w.id));
    item_set_value(object, 3);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_TOLD(w, 1, expected(i, 1), expected(i, 3));
    item_destroy(object);
  }
}

TEST("an observation that asks for no values is told without values") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {0};
    watch(object, paths[i], KVO_NONE, &w);
    CHECK_OK(kvo_observation_pause(w.id));
    item_set_value(object, 2);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_EQ(w.calls, 1);
    CHECK(!w.old_value.told && !w.new_value.told);
    item_destroy(object);
  }
}

TEST("an observation may be removed while it is paused, by id or by observer, and what was kept is freed") {
  use_counting_allocator();
  make_object();
  item_set_name(object, "Ada");
  item_set_name(object, NULL);
  for (int i = 0; i < PATHS; i++) {
    long before = 0;
    for (int way = 0; way < 4; way++) {
      watcher w = {0};
      watch(object, paths[i], KVO_OLD | KVO_NEW, &w);
      CHECK_OK(kvo_observation_pause(w.id));
      item_set_value(object, way);
      if (way % 2 == 0)
        CHECK_OK(kvo_remove_observer(w.id));
      else
        CHECK_OK(kvo_remove_observer_for(as_object(object), &w, paths[i]));
      CHECK_EQ(w.destroyed, 1);
      CHECK_EQ(w.calls, 0);
      CHECK(!kvo_observation_is_paused(w.id));
      CHECK_STATUS(kvo_observation_pause(w.id), KVO_ERROR_NOT_REGISTERED);
      CHECK_STATUS(kvo_observation_resume(w.id, true), KVO_ERROR_NOT_REGISTERED);
      if (way < 2) before = live_blocks;
      if (way > 1) CHECK_EQ(live_blocks, before);
    }
  }
  CHECK_EQ(faults.count, 0);
}

TEST("the death of the object ends a paused observation, and what was kept is freed") {
  use_counting_allocator();
  for (int i = 0; i < PATHS; i++) {
    long before = 0;
    for (int round = 0; round < 3; round++) {
      make_object();
      watcher w = {0};
      watch(object, paths[i], KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &w);
      CHECK_OK(kvo_observation_pause(w.id));
      item_set_value(object, 2);
      item_destroy(object);
      CHECK_EQ(w.destroyed, 1);
      CHECK_EQ(w.calls, 0);
      CHECK_STATUS(kvo_observation_resume(w.id, true), KVO_ERROR_NOT_REGISTERED);
      if (round == 1) before = live_blocks;
      if (round == 2) CHECK_EQ(live_blocks, before);
    }
  }
}

TEST("a paused path whose intermediate object is replaced or dies follows, and tells that when it is resumed") {
  make_object();
  item *first = item_make(10), *second = item_make(20);
  item_set_next(object, first);
  watcher w = {0};
  watch(object, "next.value", KVO_OLD | KVO_NEW, &w);
  CHECK_OK(kvo_observation_pause(w.id));
  item_set_next(object, second);
  item_destroy(first);
  item_set_value(second, 21);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_observation_resume(w.id, true));
  CHECK_TOLD(w, 1, 10, 21);
  item_set_value(second, 22);
  CHECK_TOLD(w, 2, 21, 22);
}

static void pause_itself(watcher *self, const kvo_change *change) {
  CHECK_OK(kvo_observation_pause(change->observation));
  CHECK(kvo_observation_is_paused(change->observation));
  if (self->calls == 1) item_set_value(object, 50);
  if (self->calls == 2) CHECK_OK(kvo_observation_resume(change->observation, true));
}

TEST("a callback may pause and resume its own observation") {
  for (int i = 0; i < PATHS; i++) {
    make_object();
    watcher w = {.then = pause_itself};
    watch(object, paths[i], KVO_NEW, &w);
    item_set_value(object, 2);
    CHECK_EQ(w.calls, 1);
    item_set_value(object, 3);
    CHECK_EQ(w.calls, 1);
    CHECK_OK(kvo_observation_resume(w.id, true));
    CHECK_EQ(w.calls, 2);
    CHECK_EQ(w.new_value.integer, expected(i, 3));
    item_destroy(object);
  }
}

TEST("a change announced by hand and a change of elements count as missed; the resumption is a setting") {
  make_object();
  watcher w = {0};
  watch(object, "quiet", KVO_OLD | KVO_NEW, &w);
  CHECK_OK(kvo_observation_pause(w.id));
  size_t index = 0;
  CHECK_OK(kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "quiet", &index, 1));
  KVO_SET(object, "quiet", int, 7);
  CHECK_OK(kvo_did_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "quiet", &index, 1));
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_observation_resume(w.id, true));
  CHECK_TOLD(w, 1, 0, 7);
  CHECK_EQ(w.index_count, 0);
}

TEST("a coalesced change counts as missed, and is told at once when it is resumed in the scope") {
  make_object();
  watcher w = {0};
  watch(object, "value", KVO_OLD | KVO_NEW, &w);
  CHECK_OK(kvo_observation_pause(w.id));
  kvo_object *objects[] = {as_object(object)};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, objects, 1, NULL, 0));
  item_set_value(object, 2);
  item_set_value(object, 3);
  kvo_scope_end(&scope);
  CHECK_EQ(w.calls, 0);
  CHECK_OK(kvo_observation_resume(w.id, true));
  CHECK_TOLD(w, 1, 1, 3);
}

TEST("an old string is kept while the observation is paused") {
  make_object();
  item_set_name(object, "Ada");
  watcher w = {0};
  watch(object, "name", KVO_OLD | KVO_NEW, &w);
  CHECK_OK(kvo_observation_pause(w.id));
  item_set_name(object, "Bob");
  item_set_name(object, "Cid");
  CHECK_OK(kvo_observation_resume(w.id, true));
  CHECK_EQ(w.old_value.text, "Ada");
  CHECK_EQ(w.new_value.text, "Cid");
}

TEST("without memory for the old value the observation is not paused") {
  use_counting_allocator();
  make_object();
  watcher w = {0};
  watch(object, "value", KVO_OLD | KVO_NEW, &w);
  fail_in = 1;
  CHECK_STATUS(kvo_observation_pause(w.id), KVO_ERROR_OUT_OF_MEMORY);
  fail_in = 0;
  CHECK(!kvo_observation_is_paused(w.id));
  item_set_value(object, 2);
  CHECK_TOLD(w, 1, 1, 2);
}

/* ------------------------------------------------------------------------------------------------------------ Threads -- */

static shared *on_all;
static _Atomic kvo_observation id_of[4];
static _Atomic int calls, is_over;

static void use_everything(int number) {
  static const char *const keys[] = {"value", "next.value", "next.next.value", "value"};
  unsigned state = (unsigned)number + 1;
  for (int i = 0; i < rounds(3000); i++) {
    state = state * 1103515245 + 12345;
    int which = state >> 16 & 3, what = state >> 18 & 15;
    kvo_observation id = atomic_load(&id_of[which]);
    if (what < 4) {
      kvo_status status = kvo_observation_pause(id);
      CHECK(status == KVO_OK || status == KVO_ERROR_NOT_REGISTERED);
    } else if (what < 8) {
      kvo_status status = kvo_observation_resume(id, (state >> 22 & 1) != 0);
      CHECK(status == KVO_OK || status == KVO_ERROR_NOT_REGISTERED);
    } else if (what < 10) {
      (void)kvo_observation_is_paused(id);
    } else if (what < 11) {
      if (kvo_cancel_observer(id) == KVO_OK)
        atomic_store(&id_of[which], observe(on_all, keys[which], KVO_OLD | KVO_NEW, &calls, NULL));
    } else {
      set(on_all, i);
    }
  }
}

TEST("several threads may pause, resume, remove and set at the same time; after that the observation works as before") {
  on_all = shared_make();
  set_next(on_all, on_all);
  static const char *const keys[] = {"value", "next.value", "next.next.value", "value"};
  for (int i = 0; i < 4; i++) id_of[i] = observe(on_all, keys[i], KVO_OLD | KVO_NEW, &calls, NULL);
  on_threads(use_everything);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_observation_resume(id_of[i], false));
  int before = calls;
  set(on_all, -1);
  CHECK_EQ((int)calls, before + 4);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_cancel_observer_and_wait(id_of[i]));
  shared_destroy(on_all);
}

static void pause_and_resume(void *arg) {
  (void)arg;
  while (!is_over) {
    (void)kvo_observation_pause(atomic_load(&id_of[0]));
    (void)kvo_observation_resume(atomic_load(&id_of[0]), true);
  }
}

TEST("an object may die while another thread pauses and resumes observations of it") {
  running *thread = start_thread(pause_and_resume, NULL);
  for (int i = 0; i < rounds(2000); i++) {
    shared *made = shared_make();
    set_next(made, made);
    id_of[0] =
        observe(made, i % 2 == 0 ? "value" : "next.value", KVO_OLD | KVO_NEW | KVO_ENDS_WITH_OBJECT, &calls, NULL);
    set(made, 1);
    set(made, 2);
    shared_destroy(made);
  }
  is_over = 1;
  join_thread(thread);
}

TEST("a resume that forgets does not tell a death that is left to an announced change") {
  item *object = item_make(1), *next = item_make(2);
  item_set_next(object, next);
  watcher path = {0};
  watch(object, "next.value", KVO_NEW, &path);
  CHECK_OK(kvo_will_change(as_object(object), "next"));
  CHECK_OK(kvo_observation_pause(path.id));
  item_destroy(next);
  object->next = NULL;
  CHECK_OK(kvo_observation_resume(path.id, false));
  CHECK_EQ(path.calls, 0);
  CHECK_OK(kvo_did_change(as_object(object), "next"));
  CHECK_EQ(path.calls, 1);
  CHECK(path.new_value.nil);
  CHECK_OK(kvo_remove_observer(path.id));
  item_destroy(object);
}
