/* bindings.c - functions for bindings: objects whose header is not at their beginning, what an evaluation has read,
 * pointers of threads, distances of names. */
#include "holder.h"
#include "shared.h"

#include <stdlib.h>

/* ------------------------------------------------------------------------------------------ Objects and values -- */

static int calls, last_new;

static void read_int(const kvo_value *value, void *arg) { *(int *)arg = *(const int *)value->bytes; }

static void note_second(const kvo_raw_change *change, void *user_data) {
  CHECK_SAME(change->object, &held.header);
  CHECK_SAME(change->changed, &held.header);
  CHECK_SAME(change->instance, &held);
  CHECK_SAME(kvo_property_user(change->property), (void *)offsetof(holder, second));
  kvo_property_view(change->property, change->new_value, read_int, &last_new);
  calls++;
}

TEST("a binding's object is where its header is, minus the class's offset, in every call") {
  static const kvo_observer_ops ops = {.callback = note_second};
  hold(1, 2);
  CHECK_SAME(kvo_object_instance(&held.header), &held);
  int value = 0;
  CHECK_OK(kvo_get_value(&held.header, "second", read_int, &value));
  CHECK_EQ(value, 2);
  value = 5;
  CHECK_OK(kvo_set_value(&held.header, "first", &(kvo_value){"i", sizeof value, &value}));
  CHECK_EQ(held.first, 5);
  kvo_binding_observer observer = {.options = KVO_NEW, .ops = &ops, .user_data = &held};
  observe_named(&held.header, "second", NULL, NULL, observer);
  CHECK_SAME(kvo_object_instance(&held.header), &held); /* its class is now another */
  kvo_frame frame;
  CHECK((kvo_frame_enter(&frame, &held.header, key("second")) & KVO_FRAME_WANTS_NEW) != 0);
  held.second = 7;
  kvo_frame_finish_with(&frame, NULL, &held.second);
  CHECK_EQ(calls, 1);
  CHECK_EQ(last_new, 7);
}

TEST("kvo_observation_is_registered is true from the registration to the removal, and never again for that id") {
  make_items();
  watcher w = {0}, next = {0};
  CHECK(!kvo_observation_is_registered(0));
  watch(a, "value", KVO_NONE, &w);
  CHECK(kvo_observation_is_registered(w.id));
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK(!kvo_observation_is_registered(w.id));
  watch(a, "value", KVO_ENDS_WITH_OBJECT, &next);
  CHECK(!kvo_observation_is_registered(w.id));
  CHECK(kvo_observation_is_registered(next.id));
  item_destroy(a);
  CHECK(!kvo_observation_is_registered(next.id));
}

/* ------------------------------------------------------------------------------------------------------- Reads -- */

/* What an expression has read. The unused part has this pattern. */
enum { READS = 24, PATTERN = 0xa5 };
static kvo_read reads[READS];
static size_t capacity, count;

static void keep_reads(void) {
  memset(reads, PATTERN, sizeof reads);
  count = kvo_track_reads(reads, capacity);
}

static void check_reads(size_t expected_count, const size_t *members, size_t kept) {
  const void *untouched;
  memset(&untouched, PATTERN, sizeof untouched);
  CHECK_EQ(count, expected_count);
  for (size_t i = 0; i < kept; i++) CHECK_SAME(kvo_property_user(reads[i].property), (void *)members[i]);
  CHECK_SAME(reads[kept].object, untouched);
}

static void note_value(const kvo_raw_change *change, void *user_data) {
  CHECK_SAME(change->property, NULL);
  last_new = *(const int *)change->new_value;
  calls++;
}

static void release_value(void *value, void *user_data) { free(value); }

static void observe_tracked(const kvo_observer_ops *ops) {
  kvo_binding_observer observer = {.key_path = "tracked", .options = KVO_NEW, .ops = ops};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_tracked(&held.header, &observer, false, &id));
}

static void set_first(int value) {
  kvo_frame frame;
  uint32_t wants = kvo_frame_enter(&frame, &held.header, key("first"));
  held.first = value;
  if (wants != 0) kvo_frame_finish_with(&frame, NULL, &held.first);
}

static void *sum(void *user_data) {
  CHECK(kvo_is_tracking() && kvo_track_is_recording());
  kvo_track_read(&held.header, key("first"));
  void *paused = kvo_track_pause();
  CHECK(!kvo_track_is_recording());
  kvo_track_read(&held.header, key("compared"));
  kvo_track_resume(paused);
  kvo_track_read(&held.header, key("second"));
  keep_reads();
  CHECK_EQ(kvo_track_reads(NULL, 8), 2);
  return holder_value(held.first + held.second);
}

TEST("an evaluation can ask what it has read, in order, and as much as it has room for") {
  static const kvo_observer_ops ops = {.callback = note_value, .evaluate = sum, .release = release_value};
  static const size_t members[] = {offsetof(holder, first), offsetof(holder, second)};
  hold(1, 2);
  CHECK_EQ(kvo_track_reads(reads, 8), 0);
  capacity = 8;
  observe_tracked(&ops);
  CHECK(!kvo_is_tracking());
  check_reads(2, members, 2);
  CHECK_SAME(reads[1].object, &held.header);
  capacity = 1;
  set_first(10);
  CHECK_EQ(last_new, 12);
  check_reads(2, members, 1);
}

/* By key-value coding: the getter of "first" reads itself, that of "second" the other one. */
static void *coded_sum(void *user_data) {
  kvo_track_coded_read(&held.header, key("first"));
  kvo_track_read(&held.header, key("first"));
  kvo_track_coded_read(&held.header, key("second"));
  kvo_track_read(&held.header, key("first"));
  kvo_track_read(&held.header, key("first"));
  keep_reads();
  return holder_value(held.first);
}

static void *read_often(void *user_data) {
  for (int i = 0; i < 20; i++) kvo_track_read(&held.header, key(i % 2 == 0 ? "first" : "second"));
  keep_reads();
  return holder_value(held.first);
}

/* At each evaluation the reads must be the same. */
static void check_evaluations(void *(*evaluate)(void *user_data), size_t number, const size_t *members, size_t kept) {
  static kvo_observer_ops ops = {.callback = note_value, .release = release_value};
  ops.evaluate = evaluate;
  hold(1, 2);
  capacity = READS;
  observe_tracked(&ops);
  for (int round = 0; round < 3; round++) {
    check_reads(number, members, kept);
    set_first(round + 10);
    CHECK_EQ(last_new, round + 10);
  }
}

TEST("a getter's read of its own key, which key-value coding reads, counts once; another key counts") {
  static const size_t members[] = {offsetof(holder, first), offsetof(holder, second), offsetof(holder, first),
                                   offsetof(holder, first)};
  check_evaluations(coded_sum, 4, members, 4);
}

TEST("of more reads than the runtime keeps an evaluation gets the first sixteen, and the number of all") {
  size_t members[16];
  for (int i = 0; i < 16; i++) members[i] = i % 2 == 0 ? offsetof(holder, first) : offsetof(holder, second);
  check_evaluations(read_often, 20, members, 16);
}

/* ----------------------------------------------------------------------------------------- Pointers of threads -- */

static void exchange_on_thread(void *arg) {
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, arg), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, NULL), arg);
}

TEST("each thread keeps a pointer in each slot, and gets the previous one") {
  int one, other;
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_DELIVERY, &one), NULL);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, &other), NULL);
  join_thread(start_thread(exchange_on_thread, &one));
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_DELIVERY, NULL), &one);
  CHECK_SAME(kvo_thread_exchange(KVO_THREAD_CODING, &one), &other);
  for (int i = 0; i < 2; i++) CHECK_SAME(kvo_thread_exchange((kvo_thread_slot)2, &one), NULL);
}

/* ------------------------------------------------------------------------------------------------------- Names -- */

TEST("the distance of two names counts letters to insert, remove, replace and transpose") {
  static const struct {
    const char *written, *meant;
    size_t distance;
  } rows[] = {
      /* clang-format off */
      {"title", "title", 0}, {"title", "tilte", 1}, {"title", "tite", 1}, {"title", "titlle", 1},
      {"title", "tittle", 1}, {"title", "zitle", 1}, {"title", "titlz", 1}, {"title", "xxtitle", 2},
      {"title", "titlexx", 2}, {"title", "ttile", 1}, {"TITLE", "tilte", 1}, {"title", "name", 0},
      {"isOpen", "open", 1}, {"open", "isOpen", 1}, {"isopen", "open", 1}, {"asOpen", "open", 2},
      {"isOpen", "opens", 0}, {"isA", "a", 1}, {"a", "b", 0}, {"ab", "ac", 1},
      {"abc", "axy", 0}, {"abcd", "abxy", 2}, {"abcdef", "abcxyz", 0}, {"abcdefg", "abcdxyz", 3},
      {"abcdefg", "abcwxyz", 0}, {"AZaz", "azAZ", 0}, {"lenght", "length", 1}, {"key[", "key{", 1},
      {"key@", "key`", 1}, {"author", "autor", 1}, {"author", "uathro", 2}, {"", "", 0}, {"a", "", 0},
      /* clang-format on */
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
