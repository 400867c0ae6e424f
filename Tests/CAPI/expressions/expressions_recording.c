/* expressions_recording.c - what an evaluation records: how many reads, and which evaluations are in progress in the child of a fork. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct expression {
  item *root;
  void (*body)(void);
  kvo_observation id;
  int evaluated, told;
} expression;

static void *evaluate(void *user_data) {
  expression *self = user_data;
  self->evaluated++;
  self->body();
  return NULL;
}

static void note(const kvo_raw_change *change, void *user_data) {
  (void)change;
  ((expression *)user_data)->told++;
}

static void release(void *value, void *user_data) { (void)value, (void)user_data; }

static void begin(expression *self) {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  kvo_binding_observer described = {
      .key_path = "expression", .options = KVO_NEW, .ops = &ops, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(as_object(self->root), &described, false, &self->id));
}

static kvo_key value_key(void) { return kvo_key_hash("value", strlen("value")); }
static void read_value(item *of) { kvo_track_read(as_object(of), value_key()); }

enum { MANY = 18 };
static item *all[MANY];

static void make_all(int count) {
  for (int i = 0; i < count; i++) all[i] = item_make(i);
}

static void destroy_all(int count) {
  for (int i = 0; i < count; i++) item_destroy(all[i]);
}

/* ---------------------------------------------------------------------------------------------------- Counted reads -- */

static int plain_reads;
static size_t counted[5];

/* Reads as many objects; then by key-value coding, whose getter reads the same; and the same again. */
static void read_coded(void) {
  for (int i = 0; i < plain_reads; i++) read_value(all[i]);
  counted[0] = kvo_track_reads(NULL, 0);
  kvo_track_coded_read(as_object(all[16]), value_key());
  read_value(all[16]);
  counted[1] = kvo_track_reads(NULL, 0);
  read_value(all[16]);
  counted[2] = kvo_track_reads(NULL, 0);
  read_value(all[17]);
  counted[3] = kvo_track_reads(NULL, 0);
  read_value(all[17]);
  counted[4] = kvo_track_reads(NULL, 0);
}

TEST(
    "of what is read twice only the read that key-value coding has announced is not counted, at any of sixteen places") {
  make_all(MANY);
  for (plain_reads = 0; plain_reads < 16; plain_reads++) {
    expression one = {.root = all[16], .body = read_coded};
    begin(&one);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 5; i++) CHECK_EQ(counted[i], plain_reads + i);
      memset(counted, 0, sizeof counted);
      item_set_value(all[16], round);
      CHECK_EQ(one.evaluated, round + 2);
    }
    CHECK_OK(kvo_remove_observer(one.id));
  }
  destroy_all(MANY);
}

static void read_twice(void) {
  read_value(all[0]);
  read_value(all[0]);
  counted[0] = kvo_track_reads(NULL, 0);
}

TEST("a key that is read twice in a row, without key-value coding, counts twice in each evaluation") {
  make_all(1);
  expression one = {.root = all[0], .body = read_twice};
  begin(&one);
  for (int round = 0; round < 3; round++) {
    CHECK_EQ(counted[0], 2);
    counted[0] = 0;
    item_set_value(all[0], round);
  }
  CHECK_OK(kvo_remove_observer(one.id));
  destroy_all(1);
}

/* ------------------------------------------------------------------------------------------- What sets what it reads -- */

static int sets_to_come;

static void set_what_it_reads(void) {
  read_value(all[0]);
  read_value(all[1]);
  if (sets_to_come-- > 0) item_set_value(all[1], sets_to_come);
}

TEST(
    "an expression that sets what it reads, once or each time, is told the last value, with or without the old value") {
  make_all(2);
  for (int with_old = 0; with_old < 2; with_old++) {
    expression one = {.root = all[0], .body = set_what_it_reads};
    static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
    kvo_binding_observer described = {.key_path = "expression",
                                      .options = with_old ? KVO_NEW | KVO_OLD : KVO_NEW,
                                      .ops = &ops,
                                      .user_data = &one,
                                      KVO_HERE};
    CHECK_OK(kvo_binding_observe_tracked(as_object(one.root), &described, false, &one.id));
    enum { ROUNDS = 3, MANY_SETS = 1000, FEW = 20 };
    for (int round = 0; round < ROUNDS; round++) {
      one.told = one.evaluated = 0;
      sets_to_come = round == 1 ? MANY_SETS : 1;
      item_set_value(all[0], round + 5);
      CHECK(one.told > 0);
      CHECK(one.evaluated < FEW);
      sets_to_come = one.told = 0;
      item_set_value(all[1], round + 7); /* still followed, once */
      CHECK_EQ(one.told, 1);
    }
    CHECK_OK(kvo_remove_observer(one.id));
  }
  destroy_all(2);
}

/* ------------------------------------------------------------------------------------------------------------ Forks -- */

static bool forks;
static int expected_evaluations;

static void fork_now(void) {
  read_value(all[1]);
  if (!forks) return;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit((int)kvo_tracking_count == expected_evaluations && kvo_track_is_recording() ? 0 : 1);
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQ(status, 0);
}

static void set_what_forks(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_set_value(all[1], 5);
}

/* Changes a property, whose observer changes what the other expression reads. */
static void set_observed(void) {
  read_value(all[0]);
  if (forks) item_set_value(all[2], 5);
}

TEST("in the child of a fork the evaluations of the thread that has forked are in progress, and no others") {
  make_all(3);
  expression outer = {.root = all[0], .body = set_observed}, inner = {.root = all[1], .body = fork_now};
  watcher between = {.then = set_what_forks};
  begin(&inner);
  begin(&outer);
  watch(all[2], "value", KVO_NONE, &between);
  forks = true;
  expected_evaluations = 1;
  item_set_value(all[1], 4);
  expected_evaluations = 2;
  item_set_value(all[0], 4);
  forks = false;
  CHECK_EQ(inner.told, 2);
  CHECK_EQ(outer.told, 1);
  CHECK_EQ((int)kvo_tracking_count, 0);
  CHECK_OK(kvo_remove_observer(between.id));
  CHECK_OK(kvo_remove_observer(inner.id));
  CHECK_OK(kvo_remove_observer(outer.id));
  destroy_all(3);
}
