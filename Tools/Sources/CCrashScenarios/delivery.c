/* delivery.c - K57 to K69. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <setjmp.h>
#include <time.h>

static void count_up(panel *self, const kvo_change *change) {
  (void)change;
  document_set_pages(self->of, self->of->pages + 1);
}

static void sets_it_again(void) {
  document *letter = document_make("A letter");
  panel sidebar = {.name = "sidebar", .of = letter, .then = count_up};
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K58c: registered
  document_set_pages(letter, 1);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void turn_pages(panel *self, const kvo_change *change) {
  document_set_pages(self->of, ((const document *)change->object)->pages % 5 + 1);
}

static void values_never_settle(void) {
  document *letter = document_make("A letter"), *reply = document_make("A reply");
  panel to_reply = {.name = "to the reply", .of = reply, .then = turn_pages};
  panel to_letter = {.name = "to the letter", .of = letter, .then = turn_pages};
  kvo_observation one = OBSERVE(&to_reply, letter, "pages", KVO_NEW); // site K60c: one direction
  kvo_observation two = OBSERVE(&to_letter, reply, "pages", KVO_NEW); // site K60c: the other direction
  document_set_pages(letter, 7);
  CHECK(reply->pages > 0);
  kvo_remove_observer(one);
  kvo_remove_observer(two);
  document_destroy(letter);
  document_destroy(reply);
}

static jmp_buf outside;

static void jump_out(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  longjmp(outside, 1);
}

static void left_by_longjmp(void) {
  static panel sidebar = {.name = "sidebar", .then = jump_out}, toolbar = {.name = "toolbar"};
  static document *volatile letter;
  letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K62c: registered
  if (setjmp(outside) == 0) document_set_pages(letter, 2);
  document *reply = document_make("A reply");
  kvo_observation id = OBSERVE(&toolbar, reply, "pages", KVO_NEW);
  document_set_pages(reply, 2);
  CHECK(toolbar.calls == 1);
  kvo_remove_observer(id);
  document_destroy(reply);
}

static void take_long(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  const struct timespec long_time = {0, 300000000};
  nanosleep(&long_time, NULL);
}

static void slow_callback(void) {
  panel sidebar = {.name = "sidebar", .then = take_long};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K67c: registered
  document_set_pages(letter, 2);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K58c", sets_it_again, "23", .flags = KVO_CRASH_ALONE),
    SCENARIO("K60c", values_never_settle, "24", .flags = KVO_CRASH_ALONE),
    SCENARIO("K62c", left_by_longjmp, "25", .flags = KVO_CRASH_ALONE),
    SCENARIO("K67c", slow_callback, "27", .environment = "KVO_SLOW_MS=50"),
};

const crash_part crash_delivery = CRASH_PART(list);
