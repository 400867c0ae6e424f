/* expressions_reads.c - what an expression depends on, whether its value is that of a key, and its old values. */
#include "expression.h"

enum { MANY = 18, FEW = 5 };
static item *all[MANY];

static void make_all(int count) {
  for (int i = 0; i < count; i++) all[i] = item_make(i);
}

static void end_all(expression *one, int count) {
  expression_end(one);
  for (int i = 0; i < count; i++) item_destroy(all[i]);
}

/* -------------------------------------------------------------------------------------------------- Which keys -- */

static unsigned wanted;
static bool is_reversed, reads_twice;

/* Reads the first object and those in `wanted`. */
static int read_wanted(expression *self) {
  read_value(all[0]);
  for (int i = 1; i < MANY; i++) {
    int number = is_reversed ? MANY - i : i;
    if ((wanted & 1u << number) == 0) continue;
    read_value(all[number]);
    if (reads_twice) read_value(all[number]);
  }
  return 0;
}

/* Sets each object, and returns which of them notify the expression, as bits; each of those by one evaluation. */
static unsigned notified_of(expression *self, int count) {
  unsigned found = 0;
  for (int i = 0; i < count; i++) {
    int evaluated = self->evaluated, notified = self->notified;
    item_set_value(all[i], notified);
    if (self->notified > notified) found |= 1u << i;
    CHECK_EQ(self->evaluated - evaluated, self->notified - notified);
  }
  return found;
}

/* Changes what the expression reads to `reads`, and checks that it depends on exactly that, after one evaluation. */
static void check_reads(expression *self, unsigned reads, int count) {
  wanted = reads;
  int evaluated = self->evaluated;
  item_set_value(all[0], 2);
  CHECK_EQ(self->evaluated, evaluated + 1);
  CHECK_EQ(notified_of(self, count), reads | 1);
}

TEST("after one evaluation an expression depends on what it has read, in any order, whatever it had read before") {
  make_all(MANY);
  expression one = {.root = as_object(all[0]), .body = read_wanted};
  expression_begin(&one, KVO_NEW);
  for (unsigned from = 0; from < 1u << FEW; from += 2)
    for (unsigned to = 0; to < 1u << FEW; to += 2)
      for (int way = 0; way < 3; way++) {
        is_reversed = reads_twice = false;
        wanted = from;
        item_set_value(all[0], 1);
        is_reversed = way == 1;
        reads_twice = way == 2;
        check_reads(&one, to, FEW);
      }
  is_reversed = reads_twice = false;
  for (int count = 1; count < MANY; count++) check_reads(&one, (1u << count) - 1, MANY); /* more and more */
  for (int count = MANY; count > 0; count--) check_reads(&one, (1u << count) - 1, MANY); /* fewer and fewer */
  end_all(&one, MANY);
}

/* ------------------------------------------------------------------------------------------ The value of a key -- */

static int declare_only(expression *self) {
  int value = read_value(all[0]);
  kvo_track_value_is_of(self->root, key_of("value"));
  return value;
}

static int declare_last(expression *self) {
  read_value(all[0]);
  read_key(all[0], "other");
  kvo_track_value_is_of(self->root, key_of("other"));
  return all[0]->other;
}

static int declare_last_object(expression *self) {
  read_value(all[0]);
  int value = read_value(all[1]);
  kvo_track_value_is_of(as_object(all[1]), key_of("value"));
  return value;
}

static int declare_first(expression *self) {
  int value = read_value(all[0]);
  read_key(all[0], "other");
  kvo_track_value_is_of(self->root, key_of("value"));
  return value;
}

static int declare_read_again(expression *self) {
  declare_first(self);
  int value = read_value(all[0]);
  kvo_track_value_is_of(self->root, key_of("value"));
  return value;
}

static void see_nothing(const kvo_value *value, void *arg) {}

static int read_by_coding(expression *self) {
  CHECK_OK(kvo_get_value(self->root, "value", see_nothing, NULL));
  return 0;
}

TEST("changes of the key whose value an expression has are passed on, if it was read last and once") {
  static const struct {
    const char *name;
    int (*body)(expression *self);
    int changed;
    bool is_other, is_passed;
  } rows[] = {{"the only key", declare_only, 0, false, true},
              {"the last key", declare_last, 0, true, true},
              {"the key before the last", declare_last, 0, false, false},
              {"the last object", declare_last_object, 1, false, true},
              {"the object before the last", declare_last_object, 0, false, false},
              {"the first of two keys", declare_first, 0, false, false},
              {"the key behind the first", declare_first, 0, true, false},
              {"a key that is read twice", declare_read_again, 0, false, false},
              {"the key between", declare_read_again, 0, true, false},
              {"a key read by key-value coding", read_by_coding, 0, false, false}};
  make_all(2);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    expression one = {.root = as_object(all[0]), .body = rows[i].body};
    expression_begin(&one, KVO_NEW);
    for (int round = 1; round <= 3; round++) {
      if (rows[i].is_other)
        item_set_other(all[rows[i].changed], round);
      else
        item_set_value(all[rows[i].changed], round);
      if (one.notified != round || one.passed != round * rows[i].is_passed ||
          one.evaluated != 1 + round * !rows[i].is_passed)
        harness_fail(__FILE__, __LINE__, "%s: notified %d, passed on %d, evaluated %d times", rows[i].name,
                     one.notified, one.passed, one.evaluated);
    }
    expression_end(&one);
  }
}

static bool declares;

static int declare_sometimes(expression *self) {
  int value = read_value(all[0]) + read_value(all[1]);
  if (declares) kvo_track_value_is_of(as_object(all[1]), key_of("value"));
  return value;
}

TEST("an expression may have the value of the last key after one evaluation, and not after the next") {
  make_all(2);
  expression one = {.root = as_object(all[0]), .body = declare_sometimes};
  expression_begin(&one, KVO_NEW);
  for (int round = 1; round <= 6; round++) {
    declares = round % 2 != 0;
    item_set_value(all[0], round);
    int evaluated = one.evaluated, passed = one.passed;
    item_set_value(all[1], round);
    CHECK_EQ(one.evaluated - evaluated, !declares);
    CHECK_EQ(one.passed - passed, declares);
    CHECK_EQ(one.notified, 2 * round);
  }
  end_all(&one, 2);
}
