/* expected_reads.c - evaluations that read what the one before them has read, while other threads drop and add dependencies. */
#include "shared.h"

#include <kvo/kvo_binding.h>
#include <string.h>

/* Two objects that have the expression evaluated, one on each thread, and one that it reads only sometimes. */
static shared *one, *two, *third;
static _Atomic int told, evaluated, has_begun_later, has_linked, has_dropped;
static bool races;
static _Thread_local bool is_second_thread, is_nested;

static void read_value(shared *of) { kvo_track_read(&of->header, kvo_key_hash("value", 5)); }

static void *evaluate(void *user_data) {
  (void)user_data;
  evaluated++;
  if (!races) {
    read_value(one);
    read_value(two);
    read_value(third);
  } else if (is_nested) {
    read_value(one);
    read_value(two);
  } else if (!is_second_thread) { /* an older evaluation, which adds a dependency after a newer one has ended */
    is_nested = true;
    set(two, 1);
    is_nested = false;
    read_value(one);
    read_value(two);
    read_value(third);
    has_linked = 1;
    await(&has_begun_later);
  } else { /* expects it; but it is dropped when the older evaluation ends */
    has_begun_later = 1;
    await(&has_dropped);
    races = false;
    read_value(one);
    read_value(two);
    read_value(third);
  }
  return NULL;
}

static void note(const kvo_raw_change *change, void *user_data) {
  (void)change, (void)user_data;
  told++;
}

static void release(void *value, void *user_data) { (void)value, (void)user_data; }

static kvo_observation begin(void) {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  kvo_binding_observer described = {.key_path = "sum", .ops = &ops};
  kvo_observation id;
  one = shared_make();
  two = shared_make();
  third = shared_make();
  CHECK_OK(kvo_binding_observe_tracked(&one->header, &described, false, &id));
  return id;
}

static void end(kvo_observation id) {
  CHECK_OK(kvo_cancel_observer(id));
  CHECK_EQ(kvo_object_observation_count(&third->header), 0);
  shared_destroy(one);
  shared_destroy(two);
  shared_destroy(third);
}

static void change_two(void *arg) {
  (void)arg;
  is_second_thread = true;
  await(&has_linked);
  set(two, 2);
}

TEST("an evaluation that has read what another thread then drops is repeated, and depends on it") {
  races = true;
  is_nested = true; /* at the registration it reads two of the three */
  kvo_observation id = begin();
  is_nested = false;
  running *second = start_thread(change_two, NULL);
  set(one, 1);
  has_dropped = 1;
  join_thread(second);
  int before = told;
  set(third, 1);
  CHECK_EQ((int)told, before + 1);
  end(id);
}

TEST("an expression that reads the same again is evaluated once for each change, and told of each") {
  races = false;
  kvo_observation id = begin();
  for (int i = 1; i <= 4; i++) {
    int before = evaluated, told_before = told;
    set(one, i);
    set(two, i);
    set(third, i);
    CHECK_EQ((int)evaluated, before + 3);
    CHECK_EQ((int)told, told_before + 3);
  }
  end(id);
}

static bool reads_reversed, reads_twice, reads_few;

static void *evaluate_otherwise(void *user_data) {
  (void)user_data;
  shared *order[] = {one, two, third};
  for (int i = 0; i < (reads_few ? 1 : 3); i++) read_value(order[reads_reversed && !reads_few ? 2 - i : i]);
  if (reads_twice) read_value(two);
  return NULL;
}

/* Sets each object, and returns for which of them the observer was told, as bits. */
static int who_tells(void) {
  shared *all[] = {one, two, third};
  int found = 0;
  for (int i = 0; i < 3; i++) {
    int before = told;
    set(all[i], before);
    found |= (told > before) << i;
  }
  return found;
}

TEST("an expression depends on what it has read last, in any order and any number of times") {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate_otherwise, .release = release};
  kvo_binding_observer described = {.key_path = "sum", .ops = &ops};
  kvo_observation id;
  one = shared_make();
  two = shared_make();
  third = shared_make();
  CHECK_OK(kvo_binding_observe_tracked(&one->header, &described, false, &id));
  for (int way = 0; way < 16; way++) {
    reads_reversed = (way & 1) != 0;
    reads_twice = (way & 2) != 0;
    reads_few = (way & 4) != 0;
    set(one, way);
    CHECK_EQ(who_tells(), reads_few ? (reads_twice ? 3 : 1) : 7);
  }
  end(id);
}
