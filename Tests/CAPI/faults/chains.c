/* chains.c - nested deliveries that end: how a report lists them, and how long a wait for the outermost takes. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static kvo_observation observe_value(item *object, kvo_callback callback, void *user_data) {
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "value", .callback = callback, .user_data = user_data, KVO_HERE};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  return id;
}

/* --------------------------------------------------------------------------------------------------------------- Rounds -- */

static int rounds_left;

static void set_other_or_fail(const kvo_change *change, void *user_data) {
  (void)change;
  if (--rounds_left > 0)
    item_set_value(user_data, rounds_left);
  else
    kvo_remove_observer(7);
}

static int count_of(const char *text, const char *part) {
  int count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

/* The report of a fault inside `deep` nested deliveries of two observers that set what the other one observes. */
static const char *report_of_rounds(int deep) {
  item *left = item_make(0), *right = item_make(0);
  kvo_observation ids[] = {observe_value(left, set_other_or_fail, right),
                           observe_value(right, set_other_or_fail, left)};
  rounds_left = deep;
  item_set_value(left, 1);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(left);
  item_destroy(right);
  CHECK_EQ(faults.count, 1);
  return faults.report;
}

TEST("a cycle that occurs three times in the list of deliveries is reported once, with its count") {
  ignore_faults();
  const char *report = report_of_rounds(6);
  CHECK_EQ(count_of(report, " notified "), 2);
  CHECK_CONTAINS(report, "the 2 steps above repeated 2 more times");
}

TEST("a cycle that occurs twice in the list of deliveries is reported twice") {
  ignore_faults();
  const char *report = report_of_rounds(4);
  CHECK_EQ(count_of(report, " notified "), 4);
  CHECK(strstr(report, "repeated") == NULL);
}

/* ------------------------------------------------------------------------------------------------------------- Chains -- */

/* Deep enough that the thread's array of marks has been enlarged. */
enum { DEEP = 40 };
static item *links[DEEP + 1];
static kvo_observation link_ids[DEEP];
static void (*at_the_end)(void);

static void set_next_link(const kvo_change *change, void *user_data) {
  (void)change;
  item **next = user_data;
  if (next == &links[DEEP])
    at_the_end();
  else
    item_set_value(*next, 1);
}

static void deliver_deep(void (*end)(void)) {
  at_the_end = end;
  for (int i = 0; i <= DEEP; i++) links[i] = item_make(0);
  for (int i = 0; i < DEEP; i++) link_ids[i] = observe_value(links[i], set_next_link, &links[i + 1]);
  item_set_value(links[0], 1);
}

static void remove_what_never_was(void) { kvo_remove_observer(7); }

TEST("the report of a fault in deeply nested deliveries names the innermost ones, each with its object") {
  ignore_faults();
  deliver_deep(remove_what_never_was);
  CHECK_EQ(faults.count, 1);
  for (int i = DEEP - 10; i < DEEP; i++) {
    char name[64];
    snprintf(name, sizeof name, "\"value\" of Item@0x%llx notified", (unsigned long long)(uintptr_t)links[i]);
    CHECK_CONTAINS(faults.report, name);
  }
}

static atomic_bool is_over;
static pthread_t waiting_thread;

static void *wait_for_outermost(void *arg) {
  (void)arg;
  CHECK_OK(kvo_cancel_observer_and_wait(link_ids[0]));
  atomic_store(&is_over, true);
  return NULL;
}

static void let_another_wait(void) {
  CHECK_EQ(pthread_create(&waiting_thread, NULL, wait_for_outermost, NULL), 0);
  usleep(50000);
  CHECK(!atomic_load(&is_over));
}

TEST("a wait for the outermost of many nested deliveries lasts until that has returned") {
  deliver_deep(let_another_wait);
  pthread_join(waiting_thread, NULL);
  CHECK(atomic_load(&is_over));
}
