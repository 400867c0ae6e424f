/* bindings.c - functions for bindings: objects whose header is not at their beginning, what an evaluation has read,
 * pointers of threads, distances of names. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- Class -- */

typedef struct model {
  int first, second;
  uint64_t unrelated[3];
  kvo_object header;
} model;

static kvo_key key(const char *name) { return kvo_key_hash(name, strlen(name)); }

/* The user pointer of a property is its offset in the object. */
static int *member(void *instance, void *user) { return (int *)((char *)instance + (uintptr_t)user); }

static void *copy_member(void *instance, void *user, const kvo_selection *selection) {
  CHECK_SAME(selection, NULL);
  int *copy = malloc(sizeof *copy);
  *copy = *member(instance, user);
  return copy;
}

static void release_member(void *value, void *user) { (void)user, free(value); }

static void view_member(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  reader(&(kvo_value){"i", sizeof(int), value}, arg);
}

static kvo_status assign_member(void *instance, void *user, const kvo_value *value) {
  *member(instance, user) = *(const int *)value->bytes;
  return KVO_OK;
}

static const kvo_value_ops ops = {copy_member, release_member, view_member, assign_member, NULL};

static kvo_class *model_class(void) {
  static kvo_class *made;
  kvo_binding_property properties[] = {
      {.name = "first", .type = "i", .ops = &ops, .user = (void *)offsetof(model, first)},
      {.name = "second", .type = "i", .ops = &ops, .user = (void *)offsetof(model, second)}};
  if (made == NULL) CHECK_OK(kvo_binding_class_register("Model", NULL, offsetof(model, header), properties, 2, &made));
  return made;
}

static void read_int(const kvo_value *value, void *arg) { *(int *)arg = *(const int *)value->bytes; }

/* -------------------------------------------------------------------------------------------------- Objects and values -- */

static int calls, last_new;

static void note(const kvo_raw_change *change, void *user_data) {
  model *of = user_data;
  CHECK_SAME(change->object, &of->header);
  CHECK_SAME(change->changed, &of->header);
  CHECK_SAME(change->instance, of);
  CHECK_SAME(kvo_property_user(change->property), (void *)offsetof(model, second));
  kvo_property_view(change->property, change->new_value, read_int, &last_new);
  calls++;
}

TEST("a binding's object is where its header is, minus the class's offset, in every call") {
  model object = {.first = 1, .second = 2};
  kvo_object_adopt(&object.header, model_class());
  CHECK(kvo_class_is_of_binding(kvo_object_class(&object.header)));
  CHECK(!kvo_class_is_of_binding(item_class()));
  CHECK_SAME(kvo_object_instance(&object.header), &object);
  int read = 0;
  CHECK_OK(kvo_get_value(&object.header, "second", read_int, &read));
  CHECK_EQ(read, 2);
  int value = 5;
  CHECK_OK(kvo_set_value(&object.header, "first", &(kvo_value){"i", sizeof value, &value}));
  CHECK_EQ(object.first, 5);
  static const kvo_observer_ops noting = {.callback = note};
  kvo_binding_observer observer = {.key_path = "second", .options = KVO_NEW, .ops = &noting, .user_data = &object};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(&object.header, key("second"), &observer, &id));
  CHECK_SAME(kvo_object_instance(&object.header), &object); /* its class is now another */
  kvo_frame frame;
  CHECK((kvo_frame_enter(&frame, &object.header, key("second")) & KVO_FRAME_WANTS_NEW) != 0);
  object.second = 7;
  kvo_frame_finish_with(&frame, NULL, &object.second);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_new, 7);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_finish(&object.header);
}

/* -------------------------------------------------------------------------------------------------------------- Reads -- */

static kvo_read reads[24];
static size_t capacity, count, count_of_null;

static void *sum(void *user_data) {
  model *of = user_data;
  int *value = malloc(sizeof *value);
  CHECK(kvo_is_tracking() && kvo_track_is_recording() && kvo_track_is_subscribing());
  kvo_track_read(&of->header, key("first"));
  void *paused = kvo_track_pause();
  CHECK(!kvo_track_is_recording());
  kvo_track_read(&of->header, key("paused"));
  kvo_track_resume(paused);
  kvo_track_read(&of->header, key("second"));
  *value = of->first + of->second;
  memset(reads, 0xa5, sizeof reads);
  count = kvo_track_reads(reads, capacity);
  count_of_null = kvo_track_reads(NULL, 8);
  return value;
}

static void release_sum(void *value, void *user_data) { (void)user_data, free(value); }

static void note_sum(const kvo_raw_change *change, void *user_data) {
  (void)user_data;
  CHECK_SAME(change->property, NULL);
  last_new = *(const int *)change->new_value;
  calls++;
}

static void set_first(model *object, int value) {
  kvo_frame frame;
  uint32_t wants = kvo_frame_enter(&frame, &object->header, key("first"));
  object->first = value;
  if (wants != 0) kvo_frame_finish_with(&frame, NULL, &object->first);
}

/* By key-value coding: the getter of "first" reads itself, that of "second" the other one. */
static void *coded_sum(void *user_data) {
  model *of = user_data;
  int *value = malloc(sizeof *value);
  kvo_track_coded_read(&of->header, key("first"));
  kvo_track_read(&of->header, key("first"));
  kvo_track_coded_read(&of->header, key("second"));
  kvo_track_read(&of->header, key("first"));
  kvo_track_read(&of->header, key("first"));
  *value = of->first;
  count = kvo_track_reads(reads, 8);
  return value;
}

TEST("a getter's read of its own key, which key-value coding reads, counts once; another key counts") {
  model object = {.first = 1, .second = 2};
  kvo_object_adopt(&object.header, model_class());
  static const kvo_observer_ops summing = {.callback = note_sum, .evaluate = coded_sum, .release = release_sum};
  kvo_binding_observer observer = {.key_path = "sum", .options = KVO_NEW, .ops = &summing, .user_data = &object};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(&object.header, &observer, false, &id));
  for (int round = 0; round < 3; round++) {
    CHECK_EQ(count, 4);
    const size_t expected[] = {offsetof(model, first), offsetof(model, second), offsetof(model, first),
                               offsetof(model, first)};
    for (int i = 0; i < 4; i++) CHECK_SAME(kvo_property_user(reads[i].property), (void *)expected[i]);
    set_first(&object, round + 10);
    CHECK_EQ(last_new, round + 10);
  }
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_finish(&object.header);
}

static void *read_often(void *user_data) {
  model *of = user_data;
  int *value = malloc(sizeof *value);
  for (int i = 0; i < 20; i++) kvo_track_read(&of->header, key(i % 2 == 0 ? "first" : "second"));
  *value = of->first;
  memset(reads, 0xa5, sizeof reads);
  count = kvo_track_reads(reads, sizeof reads / sizeof *reads);
  return value;
}

TEST("of more reads than the runtime keeps an evaluation gets the first sixteen, and the number of all") {
  model object = {.first = 1};
  kvo_object_adopt(&object.header, model_class());
  static const kvo_observer_ops reading = {.callback = note_sum, .evaluate = read_often, .release = release_sum};
  kvo_binding_observer observer = {.key_path = "sum", .options = KVO_NEW, .ops = &reading, .user_data = &object};
  kvo_observation id;
  const void *untouched;
  memset(&untouched, 0xa5, sizeof untouched);
  CHECK_OK(kvo_binding_observe_tracked(&object.header, &observer, false, &id));
  for (int round = 0; round < 3; round++) {
    CHECK_EQ(count, 20);
    for (int i = 0; i < 16; i++) CHECK_SAME(reads[i].object, &object.header);
    CHECK_SAME(kvo_property_user(reads[15].property), (void *)offsetof(model, second));
    CHECK_SAME(reads[16].object, untouched);
    set_first(&object, round + 20);
    CHECK_EQ(last_new, round + 20);
  }
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_finish(&object.header);
}

TEST("an evaluation can ask what it has read, in order, and as much as it has room for") {
  model object = {.first = 1, .second = 2};
  kvo_object_adopt(&object.header, model_class());
  static const kvo_observer_ops summing = {.callback = note_sum, .evaluate = sum, .release = release_sum};
  kvo_binding_observer observer = {.key_path = "sum", .options = KVO_NEW, .ops = &summing, .user_data = &object};
  kvo_observation id;
  CHECK_EQ(kvo_track_reads(reads, 8), 0);
  capacity = 8;
  CHECK_OK(kvo_binding_observe_tracked(&object.header, &observer, false, &id));
  CHECK(!kvo_is_tracking());
  CHECK_EQ(count, 2);
  CHECK_EQ(count_of_null, 2);
  for (int i = 0; i < 2; i++) CHECK_SAME(reads[i].object, &object.header);
  CHECK_SAME(kvo_property_user(reads[0].property), (void *)offsetof(model, first));
  CHECK_SAME(kvo_property_user(reads[1].property), (void *)offsetof(model, second));
  const void *untouched;
  memset(&untouched, 0xa5, sizeof untouched);
  CHECK_SAME(reads[2].object, untouched);
  capacity = 1;
  set_first(&object, 10);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_new, 12);
  CHECK_EQ(count, 2);
  CHECK_SAME(reads[0].object, &object.header);
  CHECK_SAME(reads[1].object, untouched);
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_finish(&object.header);
}

static bool is_set_meanwhile;

/* In its first evaluation another change begins before it reads the key, and ends after. */
static void *read_first(void *user_data) {
  model *of = user_data;
  int *value = malloc(sizeof *value);
  kvo_frame frame;
  bool sets = is_set_meanwhile;
  is_set_meanwhile = false;
  if (sets) CHECK(kvo_frame_begin(&frame, &of->header, key("first")) != 0);
  kvo_track_read(&of->header, key("first"));
  *value = of->first;
  if (sets) {
    of->first = 50;
    kvo_frame_finish_with(&frame, NULL, &of->first);
  }
  return value;
}

static void note_nothing(const kvo_raw_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("the initial notification has the value of a change that began and ended during the registration") {
  model object = {.first = 1};
  kvo_object_adopt(&object.header, model_class());
  static const kvo_observer_ops reading = {.callback = note_sum, .evaluate = read_first, .release = release_sum};
  static const kvo_observer_ops ignoring = {.callback = note_nothing};
  kvo_binding_observer observer = {.key_path = "first", .ops = &ignoring};
  kvo_observation other, id;
  CHECK_OK(kvo_binding_observe_key(&object.header, key("first"), &observer, &other));
  observer = (kvo_binding_observer){
      .key_path = "value", .options = KVO_NEW | KVO_INITIAL, .ops = &reading, .user_data = &object};
  is_set_meanwhile = true;
  CHECK_OK(kvo_binding_observe_tracked(&object.header, &observer, false, &id));
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_new, 50);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(other));
  kvo_object_finish(&object.header);
}

/* ----------------------------------------------------------------------------------------------- Pointers of threads -- */

static void *exchange_on_thread(void *arg) {
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, arg), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, NULL), arg);
  return NULL;
}

TEST("each thread keeps a pointer in each slot, and gets the previous one") {
  int one, other;
  pthread_t thread;
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_DELIVERY, &one), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, &other), NULL);
  CHECK(pthread_create(&thread, NULL, exchange_on_thread, &one) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_DELIVERY, NULL), &one);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, &one), &other);
  CHECK_SAME(kvo_thread_exchange((kvo_thread_slot)2, &one), NULL);
  CHECK_SAME(kvo_thread_exchange((kvo_thread_slot)2, &one), NULL);
}

/* -------------------------------------------------------------------------------------------------------------- Names -- */

TEST("the distance of two names counts letters to insert, remove, replace and transpose") {
  static const struct {
    const char *written, *meant;
    size_t distance;
  } rows[] = {
      {"title", "title", 0},
      {"title", "tilte", 1},
      {"title", "tite", 1},
      {"title", "titlle", 1},
      {"title", "tittle", 1},
      {"title", "zitle", 1},
      {"title", "titlz", 1},
      {"title", "xxtitle", 2},
      {"title", "titlexx", 2},
      {"title", "ttile", 1},
      {"TITLE", "tilte", 1},
      {"title", "name", 0},
      {"isOpen", "open", 1},
      {"open", "isOpen", 1},
      {"isopen", "open", 1},
      {"asOpen", "open", 2},
      {"isOpen", "opens", 0},
      {"a", "b", 0},
      {"ab", "ac", 1},
      {"abc", "axy", 0},
      {"abcd", "abxy", 2},
      {"abcdef", "abcxyz", 0},
      {"abcdefg", "abcdxyz", 3},
      {"abcdefg", "abcwxyz", 0},
      {"AZaz", "azAZ", 0},
      {"isA", "a", 1},
      {"lenght", "length", 1},
      {"key[", "key{", 1},
      {"key@", "key`", 1},
      {"author", "autor", 1},
      {"author", "uathro", 2},
      {"", "", 0},
      {"a", "", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (kvo_name_distance(rows[i].written, rows[i].meant) != rows[i].distance)
      harness_fail(__FILE__, __LINE__, "\"%s\" to \"%s\" is %zu", rows[i].written, rows[i].meant,
                   kvo_name_distance(rows[i].written, rows[i].meant));
}

TEST("of long names the first 48 characters are compared") {
  char one[64], other[64];
  memset(one, 'x', sizeof one);
  memset(other, 'x', sizeof other);
  one[63] = other[63] = '\0';
  other[48] = 'y';
  CHECK_EQ(kvo_name_distance(one, other), 0);
  other[47] = 'y';
  CHECK_EQ(kvo_name_distance(one, other), 1);
}
