/* out_of_memory.c - whichever allocation fails, nothing crashes, nothing leaks, and the next call works.
 *
 * One scenario uses the whole API. It runs in a process of its own for each n, with the n-th allocation failing: a
 * call that returns OUT_OF_MEMORY must have changed nothing, and is repeated. Then it runs once more without
 * failures, and at the end the runtime must hold as many blocks as in a process in which nothing failed. */
#include "allocator.h"
#include "fixture.h"

#include <sys/wait.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------- The whole API -- */

/* Makes the call, and repeats it if it failed for lack of memory. */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    has_failed = 0;                                                                                                    \
    kvo_status status_ = (call);                                                                                       \
    if (status_ != KVO_OK) {                                                                                           \
      CHECK_STATUS(status_, KVO_ERROR_OUT_OF_MEMORY);                                                                  \
      CHECK(has_failed);                                                                                               \
      CHECK_OK(call);                                                                                                  \
    }                                                                                                                  \
  } while (0)

static kvo_status observe(item *object, const char *key_path, int options, watcher *w) {
  kvo_observer observer = watcher_observer(key_path, options, w);
  bool was_observed = kvo_object_is_observed(as_object(object));
  kvo_status status = kvo_add_observer(as_object(object), &observer, &w->id);
  if (status == KVO_OK) return status;
  CHECK(w->id == 0);
  CHECK_EQ(w->calls, 0);
  CHECK_EQ(w->destroyed, 0);
  CHECK_EQ(kvo_object_is_observed(as_object(object)), was_observed);
  return status;
}

static void count_value(const kvo_value *value, void *arg) { ++*(int *)arg; }

static kvo_action no_fault(const kvo_fault *fault, void *arg) {
  if (fault->code == KVO_FAULT_NEVER_NOTIFIES) return KVO_ACTION_IGNORE; /* the key is announced by hand */
  harness_fail(__FILE__, __LINE__, "%s", fault->summary);
}

static void scenario(void) {
  enum { VALUE, NEXT, NAME, PATH, FAR, IMAGINARY, INITIAL, KINDS, ALL = KVO_NEW | KVO_OLD | KVO_PRIOR };
  static const struct {
    const char *path;
    int options;
  } kinds[KINDS] = {{"value", ALL},
                    {"next", ALL},
                    {"name", ALL},
                    {"next.value", ALL},
                    {"far", ALL},
                    {"imaginary", KVO_NONE},
                    {"next.value", KVO_INITIAL | KVO_NEW}};
  static const char *const read[] = {"next.value", "name", "next.next.value"};
  kvo_object *made[2] = {NULL, NULL};
  watcher w[KINDS] = {0};
  size_t index = 3;
  int reads = 0;
  kvo_set_fault_handler(no_fault, NULL);
  for (int i = 0; i < 2; i++) TRY(kvo_object_create(item_class(), &made[i]));
  item *root = (item *)made[0], *leaf = (item *)made[1];
  root->next = leaf;
  for (int i = 0; i < KINDS; i++) TRY(observe(root, kinds[i].path, kinds[i].options, &w[i]));
  CHECK(w[INITIAL].calls >= 1);
  w[INITIAL].calls = 0;

  /* A registered observer is notified of each change, even without memory for the values. */
  item_set_value(leaf, 1);
  CHECK_EQ(w[PATH].calls, 1);
  CHECK_EQ(w[FAR].calls, 1);
  CHECK_EQ(w[INITIAL].calls, 1);
  item_set_value(root, 2);
  CHECK_NEW(w[VALUE], 1, 2);
  item_set_name(root, "second");
  CHECK_EQ(w[NAME].calls, 1);
  item_set_next(root, NULL);
  item_set_next(root, leaf);
  CHECK_EQ(w[NEXT].calls, 2);
  CHECK_EQ(w[PATH].calls, 3);
  TRY(kvo_will_change(made[0], "imaginary"));
  CHECK_OK(kvo_did_change(made[0], "imaginary"));
  CHECK_EQ(w[IMAGINARY].calls, 1);
  TRY(kvo_will_change_indexes(made[0], KVO_CHANGE_REMOVAL, "name", &index, 1));
  CHECK_OK(kvo_did_change_indexes(made[0], KVO_CHANGE_REMOVAL, "name", &index, 1));
  CHECK_EQ(w[NAME].calls, 2);
  for (int i = 0; i < 3; i++) TRY(kvo_get_value(made[0], read[i], count_value, &reads));
  CHECK_EQ(reads, 3);

  item_destroy(leaf); /* the paths lead to nil */
  CHECK(w[PATH].calls >= 3);
  root->next = NULL;
  CHECK_OK(kvo_remove_observer_for(made[0], &w[IMAGINARY], "imaginary"));
  for (int i = 0; i < KINDS; i++)
    if (i != IMAGINARY) CHECK_OK(kvo_remove_observer(w[i].id));
  item_destroy(root);
  for (int i = 0; i < KINDS; i++) CHECK_EQ(w[i].destroyed, 1);
}

enum { NOTHING_FAILED = 254 };

/* The exit status of a process in which allocation n failed: the number of blocks at the end. */
static int blocks_after(long n) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    use_counting_allocator();
    item_class();
    fail_in = n;
    scenario();
    bool failed = fail_in <= 0;
    fail_in = 0;
    scenario();
    if (n > 0 && !failed) _exit(NOTHING_FAILED);
    _exit(live_blocks < NOTHING_FAILED && live_blocks > 1 ? (int)live_blocks : 1);
  }
  int status;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) harness_fail(__FILE__, __LINE__, "allocation %ld failing: signal %d", n, WTERMSIG(status));
  if (WEXITSTATUS(status) == 1) harness_fail(__FILE__, __LINE__, "allocation %ld failing: see above", n);
  return WEXITSTATUS(status);
}

TEST("whichever allocation fails, nothing crashes, nothing leaks, and the next call works") {
  int expected = blocks_after(0), blocks;
  long n = 1;
  for (; (blocks = blocks_after(n)) != NOTHING_FAILED; n++)
    if (blocks != expected)
      harness_fail(__FILE__, __LINE__, "allocation %ld failing: %d blocks are left, not %d", n, blocks, expected);
  CHECK(n > 40); /* the scenario allocates */
}

/* ------------------------------------------------------------------------------------------ Reports and values -- */

TEST_REPORTED("a fault is reported, perhaps with less detail, when there is no memory for the report") {
  enum { MANY = 40 };
  use_counting_allocator();
  ignore_faults();
  for (long n = 1; n < 12; n++) {
    watcher many[MANY] = {0};
    item *object = item_make(0);
    for (int i = 0; i < MANY; i++) watch(object, "next.next.next.value", KVO_NONE, &many[i]);
    faults.count = 0;
    fail_in = n;
    CHECK_STATUS(kvo_remove_observer_for(as_object(object), object, "value"), KVO_ERROR_NOT_REGISTERED);
    item_destroy(object);
    fail_in = 0;
    CHECK(faults.count >= 1);
    CHECK_CONTAINS(faults.report, "KVO00");
    for (int i = 0; i < MANY; i++) CHECK_EQ(many[i].destroyed, 1);
  }
}

TEST("an old string that cannot be copied for lack of memory is unknown, not nil") {
  use_counting_allocator();
  item *object = item_make(0);
  item_set_name(object, "Ada");
  watcher w = {0};
  watch(object, "name", KVO_OLD, &w);
  fail_in = 1;
  item_set_name(object, "Bob");
  CHECK(has_failed);
  CHECK_EQ(w.calls, 1);
  CHECK(!w.old_value.delivered);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------- Paths -- */

static int cannot_follow;

static kvo_action count_cannot_follow(const kvo_fault *fault, void *arg) {
  CHECK_EQ((int)fault->code, (int)KVO_FAULT_NEVER_NOTIFIES);
  CHECK_CONTAINS(fault->summary, "could not be updated after a change");
  cannot_follow++;
  return KVO_ACTION_IGNORE;
}

static void begin_failing(long n, bool keeps) {
  cannot_follow = 0;
  has_failed = 0;
  keeps_failing = keeps;
  fail_in = n;
}

/* Whether an allocation has failed. */
static bool end_failing(void) {
  fail_in = 0;
  keeps_failing = 0;
  return has_failed;
}

/* Calls a test for each n, with the n-th allocation failing, or that and every later one, until none fails. */
static void for_each_failure(bool (*test)(long n, bool keeps, int options), const int *options, int count) {
  use_counting_allocator();
  kvo_set_fault_handler(count_cannot_follow, NULL);
  test(0, false, KVO_NEW); /* allocates what is never freed */
  for (int i = 0; i < count; i++)
    for (int keeps = 0; keeps < 2; keeps++) {
      long before = live_blocks;
      for (long n = 1; test(n, keeps, options[i]); n++) CHECK_EQ((long)live_blocks, before);
      CHECK_EQ((long)live_blocks, before);
    }
}

static int reported;

/* Replaces both objects of a path without memory, then sets the end. */
static bool replace_without_memory(long n, bool keeps, int options) {
  item *root = item_make(0), *middle = item_make(1), *end = item_make(2);
  item *other_middle = item_make(3), *other_end = item_make(4);
  root->next = middle;
  middle->next = other_middle->next = end;
  watcher w = {0};
  watch(root, "next.next.value", options, &w);
  begin_failing(n, keeps);
  item_set_next(root, other_middle);
  item_set_next(other_middle, other_end);
  bool failed = end_failing();
  reported += cannot_follow;
  int calls = w.calls;
  if (!keeps) CHECK_EQ(cannot_follow, 0); /* the retry had memory */
  if (cannot_follow == 0) CHECK_EQ(calls, 2);
  CHECK(calls >= 1);
  item_set_value(other_end, 40);
  item_set_value(other_end, 41);
  if (cannot_follow == 0) {
    CHECK_NEW(w, calls + 2, 41);
  }
  /* A change of an old subscription updates them. */
  calls = w.calls;
  item_set_next(root, other_middle);
  CHECK_NEW(w, calls + 1, 41);
  item_set_value(other_end, 42);
  CHECK_NEW(w, calls + 2, 42);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1);
  item *all[] = {root, middle, end, other_middle, other_end};
  for (int i = 0; i < 5; i++) item_destroy(all[i]);
  return failed;
}

TEST_REPORTED(
    "whichever allocation fails while a path is replaced, no later change is lost without a fault that says so") {
  for_each_failure(replace_without_memory, (int[]){KVO_NEW, KVO_NEW | KVO_OLD | KVO_PRIOR}, 2);
  CHECK(reported > 0);
}
