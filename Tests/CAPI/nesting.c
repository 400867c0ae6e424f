/* nesting.c - nested deliveries: cycles are broken, long chains are not, and a callback that was left is reported. */
#include "fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* AddressSanitizer has a table of frames that thousands of nested deliveries fill; then each call searches it all. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_stack_use_after_return=0"; }

/* ------------------------------------------------------------------------------------------------------------ Circles -- */

static int told;

static void set_again(const kvo_change *change, void *user_data) {
  (void)user_data;
  told++;
  item *object = (item *)change->object;
  item_set_value(object, object->value + 1);
}

static void set_other(const kvo_change *change, void *user_data) {
  told++;
  item_set_value(user_data, ((item *)change->object)->value + 1);
}

static kvo_observation observe_with(item *object, int options, kvo_callback callback, void *user_data) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "value",
                           .options = (kvo_options)options,
                           .callback = callback,
                           .user_data = user_data,
                           KVO_HERE};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  return id;
}

static kvo_observation observe_value(item *object, kvo_callback callback, void *user_data) {
  return observe_with(object, KVO_NONE, callback, user_data);
}

/* The last value of an observer that changes nothing. */
static void look(const kvo_change *change, void *user_data) { *(int *)user_data = ((item *)change->object)->value; }

static void look_at_new(const kvo_change *change, void *user_data) {
  *(int *)user_data = (int)see(change->new_value).integer;
}

TEST(
    "an observer that sets what it observes is KVO0023, which names the limit; if a handler goes on, so does the program") {
  ignore_faults();
  item *object = item_make(0);
  int seen = 0, seen_new = 0;
  kvo_observation ids[] = {observe_value(object, look, &seen), observe_value(object, set_again, NULL),
                           observe_with(object, KVO_NEW, look_at_new, &seen_new)};
  item_set_value(object, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0023 fatal: an observer sets the property that it observes; it nests ");
  CHECK_CONTAINS(faults.summary, " deep, and the stack is full: \"value\" of Item@0x");
  CHECK_CONTAINS(faults.report, "set_again");
  /* Passive observers have the last value. */
  CHECK_EQ(seen, object->value);
  CHECK_EQ(seen_new, object->value);
  /* The cycle has ended: the next change notifies as usual. */
  told = 0;
  item_set_value(object, 1);
  CHECK(told > 1000);
  CHECK_EQ(faults.count, 2);
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(object);
}

static void set_to_three(const kvo_change *change, void *user_data) {
  (void)change;
  told++;
  item_set_value(user_data, 3);
}

static void set_to_next(const kvo_change *change, void *user_data) {
  told++;
  item_set_value(user_data, ((item *)change->object)->value % 2 + 1);
}

TEST(
    "two observers that set what the other observes, with repeating values, are KVO0024, with both in the first line") {
  ignore_faults();
  item *a = item_make(0), *b = item_make(0);
  int seen[2] = {0};
  kvo_observation ids[] = {observe_with(a, KVO_NEW, set_to_next, b), observe_with(b, KVO_NEW, set_to_three, a),
                           observe_value(a, look, &seen[0]), observe_value(b, look, &seen[1])};
  item_set_value(a, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_UNSETTLED);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "KVO0024 error: 2 observations form a cycle and receive the same values again");
  CHECK_CONTAINS(faults.summary, " -> \"value\" of Item@0x");
  CHECK_CONTAINS(faults.report, "(the 2 steps above repeated 127 more times)");
  CHECK(told < 50000); /* a cycle with repeating values is not tried again */
  CHECK_EQ(seen[0], a->value);
  CHECK_EQ(seen[1], b->value);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

TEST("two observers whose values do not repeat, or are not delivered, are KVO0023, because they might end") {
  ignore_faults();
  item *a = item_make(0), *b = item_make(0);
  kvo_observation ids[] = {observe_with(a, KVO_NEW, set_other, b), observe_with(b, KVO_NEW, set_other, a)};
  item_set_value(a, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "KVO0023 fatal: 2 observations form a cycle; they nest ");
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  ids[0] = observe_value(a, set_to_next, b);
  ids[1] = observe_value(b, set_to_three, a);
  item_set_value(a, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_EQ(faults.count, 2);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

static void name_the_same(const kvo_change *change, void *user_data) {
  (void)change;
  item_set_name(user_data, "same");
}

TEST("strings of C do not count as repeating values, because a nested change may have freed them") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  kvo_observation ids[2];
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "name",
                             .options = KVO_NEW,
                             .callback = name_the_same,
                             .user_data = pair[1 - i]};
    CHECK_OK(kvo_add_observer(as_object(pair[i]), &observer, &ids[i]));
  }
  item_set_name(pair[0], "first");
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

typedef struct place {
  const char *file;
  uint32_t line;
} place;

/* Makes a cycle of two observations from these places, by a change of either object, and checks that the first line begins with the first
 * observation. */
static void check_cycle(place first, place second, bool begins_with_first) {
  item *pair[] = {item_make(0), item_make(0)};
  const place places[] = {first, second};
  kvo_observation ids[2];
  char shown[2][64], expected[192];
  for (int i = 0; i < 2; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "value",
                             .callback = set_other,
                             .user_data = pair[1 - i],
                             .file = places[i].file,
                             .line = places[i].line};
    CHECK_OK(kvo_add_observer(as_object(pair[i]), &observer, &ids[i]));
    shown[i][0] = '\0';
    if (places[i].file != NULL)
      snprintf(shown[i], sizeof shown[i], " (%s:%u)", places[i].file, (unsigned)places[i].line);
  }
  snprintf(expected, sizeof expected, ": \"value\" of Item@%p%s -> \"value\" of Item@%p%s", (void *)pair[0], shown[0],
           (void *)pair[1], shown[1]);
  item_set_value(pair[begins_with_first ? 0 : 1], 1);
  CHECK_CONTAINS(faults.summary, expected);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

TEST("the first line shows a cycle in the order of the source locations, wherever it was cut") {
  harness_environment("KVO_MAX_DEPTH", "40");
  static const place pairs[][2] = {{{NULL, 0}, {"a.c", 1}},
                                   {{"a.c", 9}, {"b.c", 2}},
                                   {{"a.c", 9}, {"a.cc", 2}},
                                   {{"a.c", 2}, {"a.c", 9}},
                                   {{"a.c", 2}, {"a.c", 2}}};
  ignore_faults();
  for (size_t i = 0; i < 10; i++) check_cycle(pairs[i / 2][0], pairs[i / 2][1], i % 2 == 0);
}

static void set_both(const kvo_change *change, void *user_data) {
  item **pair = user_data;
  (void)change;
  told++;
  for (int i = 0; i < 2; i++) item_set_value(pair[i], pair[i]->value + 1);
}

TEST("a cycle that branches ends after one report, not in time exponential in its depth") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  int seen[2] = {0};
  kvo_observation ids[] = {observe_value(pair[0], set_both, pair), observe_value(pair[1], set_both, pair),
                           observe_value(pair[0], look, &seen[0]), observe_value(pair[1], look, &seen[1])};
  item_set_value(pair[0], 1);
  CHECK_EQ(faults.count, 1);
  CHECK(told < 1000000);
  for (int i = 0; i < 2; i++) CHECK_EQ(seen[i], pair[i]->value);
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

/* The Thue-Morse sequence, in which nothing occurs three times in a row. */
static void set_either(const kvo_change *change, void *user_data) {
  item **pair = user_data;
  (void)change;
  if (++told > 20000) return;
  item *next = pair[__builtin_parity((unsigned)told)];
  item_set_value(next, next->value + 1);
}

TEST("two observers that set each other irregularly are KVO0023, which says that and nothing else") {
  ignore_faults();
  item *pair[] = {item_make(0), item_make(0)};
  kvo_observation ids[] = {observe_value(pair[0], set_either, pair), observe_value(pair[1], set_either, pair)};
  item_set_value(pair[0], 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "2 observations call each other again and again, ");
  CHECK_CONTAINS(faults.report, "help: look at the chain: which callback sets which property?");
  CHECK_SAME(strstr(faults.report, "without a cycle"), NULL);
  CHECK_SAME(strstr(faults.report, "shorten the chain"), NULL);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i < 2; i++) item_destroy(pair[i]);
}

/* ------------------------------------------------------------------------------------------------------- What ends -- */

static void set_down(const kvo_change *change, void *user_data) {
  item *object = (item *)change->object;
  (void)user_data;
  told++;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

static void count_down(int from) {
  item *object = item_make(0);
  int seen = -1;
  kvo_observation first = observe_value(object, look, &seen), id = observe_value(object, set_down, NULL);
  item_set_value(object, from);
  CHECK_EQ(object->value, 0);
  CHECK_EQ(seen, 0);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(first));
  item_destroy(object);
}

TEST("an observer that counts down from 1000 ends, and is no fault") {
  ignore_faults();
  count_down(1000);
  CHECK_EQ(told, 1001);
  CHECK_EQ(faults.count, 0);
}

TEST("where a limit stops the count it still ends, and all observers get its value") {
  harness_environment("KVO_MAX_DEPTH", "10");
  ignore_faults();
  count_down(1000);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "it nests 10 deep, and KVO_MAX_DEPTH allows no more");
}

static void count_in_callback(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  count_down(1000);
}

TEST(
    "what a limit has deferred is delivered before the set that began the cycle returns, also within another callback") {
  harness_environment("KVO_MAX_DEPTH", "10");
  ignore_faults();
  item *outer = item_make(0);
  kvo_observation id = observe_value(outer, count_in_callback, NULL);
  item_set_value(outer, 1);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(outer);
}

static void approach(const kvo_change *change, void *user_data) {
  item *other = user_data;
  int wanted = ((item *)change->object)->value, step = wanted > other->value ? 1 : -1;
  told++;
  if (other->value != wanted) item_set_value(other, other->value + step); /* and the other one meets it half way */
  if (((item *)change->object)->value != other->value) item_set_value((item *)change->object, other->value);
}

static void settle(int distance) {
  item *a = item_make(0), *b = item_make(0);
  kvo_observation ids[] = {observe_with(a, KVO_NEW, approach, b), observe_with(b, KVO_NEW, approach, a)};
  item_set_value(a, distance);
  CHECK_EQ(a->value, b->value);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  item_destroy(a);
  item_destroy(b);
}

TEST("two properties that agree after 600 rounds are no fault") {
  ignore_faults();
  settle(600);
  CHECK_EQ(faults.count, 0);
}

/* ------------------------------------------------------------------------------------------------------ Small stacks -- */

/* Runs `body` on a thread with a stack of this many KiB. */
static void with_stack(int kilobytes, void *(*body)(void *arg), void *arg) {
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, (size_t)kilobytes * 1024) == 0);
  CHECK(pthread_create(&thread, &attributes, body, arg) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

static void *count_down_from(void *arg) {
  count_down(*(int *)arg);
  return NULL;
}

TEST("on a stack of 64 KiB 17 deliveries nest, and further ones are deferred") {
  ignore_faults();
  if (!harness_is_instrumented()) with_stack(64, count_down_from, &(int){17});
  CHECK_EQ(faults.count, 0);
  with_stack(harness_is_instrumented() ? 512 : 64, count_down_from, &(int){1000});
  CHECK_EQ(faults.count, 1);
}

static _Atomic int faults_seen;

static kvo_action see_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, KVO_FAULT_RECURSION);
  faults_seen++;
  return KVO_ACTION_IGNORE;
}

TEST("on a stack of 32 KiB deliveries are deferred before it overflows") {
  kvo_set_fault_handler(see_fault, NULL);
  if (harness_is_instrumented()) return;
  with_stack(32, count_down_from, &(int){200});
  CHECK_EQ((int)faults_seen, 1);
}

static uintptr_t deepest;

static void go_down(const kvo_change *change, void *user_data) {
  (void)user_data;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here < deepest) deepest = here;
  item *object = (item *)change->object;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

static void *find_deepest(void *least_left) {
  pthread_attr_t attributes;
  void *begin;
  size_t size;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getstack(&attributes, &begin, &size) == 0);
  pthread_attr_destroy(&attributes);
  item *object = item_make(0);
  kvo_observation id = observe_value(object, go_down, NULL);
  deepest = UINTPTR_MAX;
  item_set_value(object, 200);
  CHECK(deepest - (uintptr_t)begin >= (size_t)(uintptr_t)least_left);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
  return NULL;
}

TEST("a callback has a quarter of the stack, at least 16 KiB, but never more than half") {
  kvo_set_fault_handler(see_fault, NULL);
  if (harness_is_instrumented()) return;
  with_stack(32, find_deepest, (void *)(uintptr_t)(14 * 1024)); /* minus its own frame and the runtime's around it */
  with_stack(48, find_deepest, (void *)(uintptr_t)(14 * 1024));
  CHECK_EQ((int)faults_seen, 2);
}

static void swing(const kvo_change *change, void *user_data) {
  (void)user_data;
  told++;
  item_set_value((item *)change->object, !((item *)change->object)->value);
}

static void *swing_without_end(void *arg) {
  item *object = item_make(0);
  kvo_observation id = observe_with(object, KVO_NEW, swing, NULL);
  item_set_value(object, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
  return arg;
}

TEST("an observer whose values alternate is reported as a cycle, on a stack of any size") {
  ignore_faults();
  for (int kilobytes = 128, count = 0; kilobytes <= 512; kilobytes *= 2) {
    with_stack(kilobytes, swing_without_end, NULL);
    CHECK_EQ(faults.count, ++count);
    CHECK_CONTAINS(
        faults.summary,
        "an observer sets the property that it observes, and receives the same values again and again; it nests ");
  }
}

static void swing_on_a_small_stack(void *arg) { with_stack(*(int *)arg, swing_without_end, NULL); }

TEST("an observer that sets what it observes is found in the few deliveries that KVO_MAX_DEPTH allows") {
  harness_environment("KVO_MAX_DEPTH", "4");
  ignore_faults();
  swing_without_end(NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "an observer sets the property that it observes");
  CHECK_CONTAINS(faults.summary, "it nests 4 deep, and KVO_MAX_DEPTH allows no more: \"value\" of Item@0x");
}

TEST("the report of a cycle is whole on a small stack") {
  for (int kilobytes = 128; kilobytes <= 512; kilobytes *= 2) {
    child_result child = harness_run_child(swing_on_a_small_stack, &kilobytes, NULL);
    CHECK_EQ(child.signal, SIGABRT);
    CHECK_CONTAINS(child.errors, "help: do not set the observed property in its own callback");
  }
}

TEST("KVO_MAX_DEPTH does not allow deeper nesting than the stack does") {
  harness_environment("KVO_MAX_DEPTH", "1000000");
  ignore_faults();
  swing_without_end(NULL);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "the stack is full");
}

/* ------------------------------------------------------------------------------------------------------------- Chains -- */

static void chain(int length) {
  item **objects = calloc((size_t)length + 1, sizeof *objects);
  kvo_observation *ids = calloc((size_t)length, sizeof *ids);
  for (int i = 0; i <= length; i++) objects[i] = item_make(0);
  for (int i = 0; i < length; i++) ids[i] = observe_value(objects[i], set_other, objects[i + 1]);
  item_set_value(objects[0], 1);
  CHECK_EQ(objects[length]->value, length + 1);
  for (int i = 0; i < length; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  for (int i = 0; i <= length; i++) item_destroy(objects[i]);
  free(objects);
  free(ids);
}

TEST("a chain of a thousand objects, each of which sets the next, is notified to its end") {
  ignore_faults();
  chain(1000);
  CHECK_EQ(told, 1000);
  CHECK_EQ(faults.count, 0);
}

TEST("a chain that needs more than the stack is KVO0023, which says deep, and is notified to its end as well") {
  ignore_faults();
  chain(200000);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_RECURSION);
  CHECK_CONTAINS(faults.summary, "without a cycle, and the stack is full");
  CHECK_EQ(told, 200000);
}

static int doubled_reported;

static void set_doubled(const kvo_change *change, void *user_data) {
  item *object = user_data;
  (void)change;
  doubled_reported++;
  if (object->value > 0) item_set_value(object, object->value - 1);
}

TEST("a computed property whose observer changes what it reads is deferred as well, and delivers the last value") {
  harness_environment("KVO_MAX_DEPTH", "20");
  ignore_faults();
  item *object = item_make(0);
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "doubled",
                           .options = KVO_NEW,
                           .callback = set_doubled,
                           .user_data = object,
                           KVO_HERE};
  kvo_observation id;
  watcher w = {0};
  watch(object, "doubled", KVO_NEW, &w);
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  item_set_value(object, 100);
  CHECK_EQ(object->value, 0);
  CHECK_EQ(w.new_value.integer, 0);
  CHECK_EQ(faults.count, 1);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------------- Abandoned -- */

static jmp_buf out;

static void leave(const kvo_change *change, void *user_data) {
  (void)change, (void)user_data;
  told++;
  longjmp(out, 1);
}

TEST("a callback left with longjmp is KVO0025 at the next delivery, which still takes place") {
  ignore_faults();
  item *object = item_make(0), *other = item_make(0);
  kvo_observation ids[] = {observe_value(object, leave, NULL), observe_value(other, set_down, NULL)};
  if (setjmp(out) == 0) item_set_value(object, 1);
  CHECK_EQ(told, 1);
  CHECK_EQ(faults.count, 0);
  item_set_value(other, 0);
  CHECK_EQ(told, 2);
  CHECK_EQ((int)faults.code, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_CONTAINS(faults.summary, "KVO0025 fatal: the callback of \"value\" of Item@0x");
  item_set_value(other, 0);
  CHECK_EQ(faults.count, 1);
  for (int i = 0; i < 2; i++) CHECK_OK(kvo_remove_observer(ids[i]));
}

/* ---------------------------------------------------------------------------------------------------------- Remembered -- */

TEST("an id is reported as removed twice, as that of a dead object, or as unknown, with the source locations") {
  ignore_faults();
  item *object = item_make(0), *mortal = item_make(0);
  watcher w = {0};
  kvo_observation removed = observe_value(object, set_down, &w);
  CHECK_OK(kvo_remove_observer(removed));
  CHECK_STATUS(kvo_remove_observer(removed), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  CHECK_CONTAINS(faults.report, "\n  first removed ");
  kvo_observation ended = watch(mortal, "value", KVO_ENDS_WITH_OBJECT, &w);
  item_destroy(mortal);
  CHECK_STATUS(kvo_remove_observer(ended), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_STALE_HANDLE);
  CHECK_CONTAINS(faults.report, "\n  object ended ");
  CHECK_STATUS(kvo_remove_observer(UINT64_MAX), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_INVALID_ARGUMENT);
  item_destroy(object);
}

TEST("a removal too long ago to be logged is KVO0002, and later ones are logged") {
  ignore_faults();
  item *object = item_make(0);
  watcher w = {0};
  kvo_observation first = watch(object, "value", KVO_NONE, &w), last = 0;
  CHECK_OK(kvo_remove_observer(first));
  for (int i = 0; i < 3000; i++) {
    last = watch(object, "value", KVO_NONE, &w);
    CHECK_OK(kvo_remove_observer(last));
  }
  CHECK_STATUS(kvo_remove_observer(first), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_NOT_REGISTERED);
  CHECK_CONTAINS(faults.summary, "no longer among the last 2048");
  CHECK_STATUS(kvo_remove_observer(last), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((int)faults.code, KVO_FAULT_REMOVED_TWICE);
  item_destroy(object);
}
