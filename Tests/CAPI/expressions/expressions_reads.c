/* expressions_reads.c - what an expression depends on after evaluations that read other keys than the one before, in any order, while
 * objects die, and with a result that is the value of a key or is not. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <string.h>

typedef struct expression {
  item *root;
  void (*body)(void);
  kvo_observation id;
  /** `passed`: how often it was told of a property's change without an evaluation. */
  int evaluated, told, passed;
} expression;

static void *evaluate(void *user_data) {
  expression *self = user_data;
  self->evaluated++;
  self->body();
  return NULL;
}

static void note(const kvo_raw_change *change, void *user_data) {
  expression *self = user_data;
  self->told++;
  self->passed += change->property != NULL;
}

static void release(void *value, void *user_data) { (void)value, (void)user_data; }

static void begin(expression *self) {
  static const kvo_observer_ops ops = {.callback = note, .evaluate = evaluate, .release = release};
  kvo_binding_observer described = {
      .key_path = "expression", .options = KVO_NEW, .ops = &ops, .user_data = self, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(as_object(self->root), &described, false, &self->id));
}

static kvo_key key_of(const char *name) { return kvo_key_hash(name, strlen(name)); }
static void read_key(item *of, const char *key) { kvo_track_read(as_object(of), key_of(key)); }
static void read_value(item *of) { read_key(of, "value"); }

enum { MANY = 18 };
static item *all[MANY];

static void make_all(int count) {
  for (int i = 0; i < count; i++) all[i] = item_make(i);
}

static void destroy_all(int count) {
  for (int i = 0; i < count; i++) item_destroy(all[i]);
}

/* ---------------------------------------------------------------------------------------------------- Other objects -- */

enum { FEW = 5 };
static unsigned wanted;
static bool is_reversed;

/* The first one, and those in `wanted`. */
static void read_wanted(void) {
  read_value(all[0]);
  for (int i = 1; i < FEW; i++) {
    int number = is_reversed ? FEW - i : i;
    if ((wanted & 1u << number) != 0) read_value(all[number]);
  }
}

/* Sets each object, and returns which of them the expression is told of, as bits; each of those with one evaluation. */
static unsigned told_of(expression *self, int count) {
  unsigned found = 0;
  for (int i = 0; i < count; i++) {
    int evaluated = self->evaluated, told = self->told;
    item_set_value(all[i], told);
    if (self->told > told) found |= 1u << i;
    CHECK_EQ(self->evaluated - evaluated, self->told - told);
  }
  return found;
}

TEST("after a change an expression depends on what it has read then, whatever it had read before, by one evaluation") {
  make_all(FEW);
  expression one = {.root = all[0], .body = read_wanted};
  begin(&one);
  for (unsigned from = 0; from < 32; from += 2)
    for (unsigned to = 0; to < 32; to += 2)
      for (int reversed = 0; reversed < 2; reversed++) {
        wanted = from;
        is_reversed = false;
        item_set_value(all[0], 1);
        wanted = to;
        is_reversed = reversed != 0;
        int evaluated = one.evaluated;
        item_set_value(all[0], 2);
        CHECK_EQ(one.evaluated, evaluated + 1);
        CHECK_EQ(told_of(&one, FEW), to | 1);
      }
  CHECK_OK(kvo_remove_observer(one.id));
  destroy_all(FEW);
}

static int read_count;

static void read_first_ones(void) {
  for (int i = 0; i < read_count; i++) read_value(all[i]);
}

TEST("the same holds for more and more objects, and for fewer and fewer") {
  make_all(MANY);
  read_count = 1;
  expression one = {.root = all[0], .body = read_first_ones};
  begin(&one);
  for (int step = 1; step < 2 * MANY; step++) {
    read_count = step <= MANY ? step : 2 * MANY - step;
    int evaluated = one.evaluated;
    item_set_value(all[0], step);
    CHECK_EQ(one.evaluated, evaluated + 1);
    CHECK_EQ(told_of(&one, MANY), (1u << read_count) - 1);
  }
  CHECK_OK(kvo_remove_observer(one.id));
  destroy_all(MANY);
}

/* ------------------------------------------------------------------------------------------ Deaths in an evaluation -- */

static bool kills, reads_another;

/* Reads three objects; or destroys the second one instead of reading it, and may read one more. */
static void read_and_kill(void) {
  read_value(all[0]);
  if (kills && all[1] != NULL) {
    item_destroy(all[1]);
    all[1] = NULL;
  }
  if (all[1] != NULL) read_value(all[1]);
  read_value(all[2]);
  if (reads_another) read_value(all[3]);
}

TEST("an evaluation in which an object dies that the one before has read depends on all that it reads itself") {
  for (int another = 0; another < 2; another++) {
    make_all(4);
    kills = reads_another = false;
    expression one = {.root = all[0], .body = read_and_kill};
    begin(&one);
    kills = true;
    reads_another = another != 0;
    item_set_value(all[0], 7);
    CHECK_EQ(one.told, 1);
    for (int i = 0; i < 4; i++) {
      if (i == 1) continue;
      int before = one.told;
      item_set_value(all[i], 8);
      CHECK_EQ(one.told, before + (i < 3 || another));
    }
    CHECK_OK(kvo_remove_observer(one.id));
    item_destroy(all[0]);
    item_destroy(all[2]);
    item_destroy(all[3]);
  }
}

/* ----------------------------------------------------------------------------------------------- The value of a key -- */

static void declare_only(void) {
  read_value(all[0]);
  kvo_track_value_is_of(as_object(all[0]), key_of("value"));
}

static void declare_other(void) {
  read_value(all[0]);
  read_key(all[0], "other");
  kvo_track_value_is_of(as_object(all[0]), key_of("other"));
}

static void declare_same_key(void) {
  read_value(all[0]);
  read_value(all[1]);
  kvo_track_value_is_of(as_object(all[1]), key_of("value"));
}

static void declare_again(void) {
  read_value(all[0]);
  read_key(all[0], "other");
  read_value(all[0]);
  kvo_track_value_is_of(as_object(all[0]), key_of("value"));
}

TEST("changes of the key whose value an expression has are passed on, if it was read last and once") {
  make_all(2);
  const struct {
    void (*body)(void);
    int changed, passed;
    bool other;
  } cases[] = {{declare_only, 0, 1, false},     {declare_other, 0, 1, true},     {declare_other, 0, 0, false},
               {declare_same_key, 1, 1, false}, {declare_same_key, 0, 0, false}, {declare_again, 0, 0, false},
               {declare_again, 0, 0, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expression one = {.root = all[0], .body = cases[i].body};
    begin(&one);
    for (int round = 1; round <= 3; round++) {
      if (cases[i].other)
        item_set_other(all[cases[i].changed], round);
      else
        item_set_value(all[cases[i].changed], round);
      CHECK_EQ(one.told, round);
      CHECK_EQ(one.passed, round * cases[i].passed);
      CHECK_EQ(one.evaluated, 1 + round * !cases[i].passed);
    }
    CHECK_OK(kvo_remove_observer(one.id));
  }
  destroy_all(2);
}

static bool declares;

static void declare_sometimes(void) {
  read_value(all[0]);
  read_value(all[1]);
  if (declares) kvo_track_value_is_of(as_object(all[1]), key_of("value"));
}

TEST(
    "an expression that reads the same may have the value of the last key after one evaluation and not after the next") {
  make_all(2);
  declares = false;
  expression one = {.root = all[0], .body = declare_sometimes};
  begin(&one);
  for (int round = 1; round <= 6; round++) {
    declares = round % 2 != 0;
    item_set_value(all[0], round);
    int evaluated = one.evaluated, passed = one.passed;
    item_set_value(all[1], round);
    CHECK_EQ(one.evaluated - evaluated, !declares);
    CHECK_EQ(one.passed - passed, declares);
    CHECK_EQ(one.told, 2 * round);
  }
  CHECK_OK(kvo_remove_observer(one.id));
  destroy_all(2);
}
