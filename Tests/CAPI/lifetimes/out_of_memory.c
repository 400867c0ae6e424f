/* out_of_memory.c - whichever allocation fails, nothing crashes, nothing leaks, and the next call works.
 *
 * One scenario uses the whole API. It runs in a process of its own for each n, with the n-th allocation failing: a call that returns
 * OUT_OF_MEMORY must have changed nothing, and is repeated. Then it runs once more without failures, and at the end the runtime must hold
 * as many blocks as in a process in which nothing failed. */
#include "allocator.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct large {
  double values[50]; /* too large for the trampoline's buffer */
} large;

typedef struct node {
  kvo_object header;
  int value;
  struct node *next;
  char *name;
  large large;
} node;

static int get_value(const node *of) { return of->value; }
static void set_value(node *of, int value) { of->value = value; }
static node *get_next(const node *of) { return of->next; }
static void set_next(node *of, node *next) { of->next = next; }
static char *get_name(const node *of) { return of->name; }
static void set_name(node *of, char *name) { of->name = name; }
static large get_large(const node *of) { return of->large; }
static void set_large(node *of, large value) { of->large = value; }
static void set_shifted(node *of, int value, int by) { of->value = value + by; }
static int get_sum(const node *of) { return of->next != NULL ? of->value + of->next->value : of->value; }

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

static kvo_class *cls;

static void register_class(void) {
  static const char *const affecting[] = {"value", "next.value", NULL};
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next},
      {.name = "name", .type = "*", .getter = (kvo_function)get_name, .setter = (kvo_function)set_name},
      {.name = "large", .type = "{large=[50d]}", .getter = (kvo_function)get_large, .setter = (kvo_function)set_large},
      {.name = "sum", .type = "i", .getter = (kvo_function)get_sum, .affected_by = affecting},
      {.name = "shifted",
       .type = "i",
       .getter = (kvo_function)get_value,
       .setter = (kvo_function)set_shifted,
       .setter_type = "v@ii"},
  };
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Node",
                         .instance_size = sizeof(node),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties,
                         .property_size = sizeof *properties};
  if (cls != NULL) return;
  has_failed = 0;
  long before = live_blocks;
  kvo_status status = kvo_class_register(&spec, &cls);
  if (status == KVO_OK) return;
  CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
  CHECK(has_failed);
  CHECK_SAME(cls, NULL);
  CHECK_SAME(kvo_class_find("Node"), NULL);
  CHECK_EQ((long)live_blocks, before);
  CHECK_OK(kvo_class_register(&spec, &cls));
}

typedef struct counter {
  int calls, destroyed;
  seen_value new_value;
} counter;

static void note(const kvo_change *change, void *user_data) {
  counter *self = user_data;
  if (!change->is_prior) self->calls++;
  if (strcmp(change->key_path, "large") != 0) self->new_value = see(change->new_value);
}

static void note_destroyed(void *user_data) { ((counter *)user_data)->destroyed++; }

static kvo_observation observe(kvo_object *object, const char *key_path, int options, counter *user_data) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = note,
                           .user_data = user_data,
                           .destroy = note_destroyed};
  kvo_observation id = 0;
  has_failed = 0;
  bool was_observed = kvo_object_is_observed(object);
  kvo_status status = kvo_add_observer(object, &observer, &id);
  if (status == KVO_OK) return id;
  CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
  CHECK(has_failed);
  CHECK(id == 0);
  CHECK_EQ(user_data->calls, 0);
  CHECK_EQ(user_data->destroyed, 0);
  CHECK_EQ(kvo_object_is_observed(object), was_observed);
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  return id;
}

static void ignore_value(const kvo_value *value, void *arg) { (void)value, ++*(int *)arg; }

static kvo_action no_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  if (fault->code == KVO_FAULT_NEVER_NOTIFIES) return KVO_ACTION_IGNORE; /* the key is announced by hand */
  harness_fail(__FILE__, __LINE__, "%s", fault->summary);
}

static void scenario(void) {
  enum { KINDS = 7, ALL = KVO_NEW | KVO_OLD | KVO_PRIOR };
  static const char *const paths[KINDS] = {"value", "next", "name", "large", "next.value", "sum", "imaginary"};
  kvo_object *root_object = NULL, *leaf_object = NULL;
  counter counters[KINDS] = {0}, initial = {0};
  kvo_observation ids[KINDS];
  char first[] = "first", second[] = "second";
  int reads = 0;
  kvo_set_fault_handler(no_fault, NULL);
  register_class();
  TRY(kvo_object_create(cls, &root_object));
  TRY(kvo_object_create(cls, &leaf_object));
  node *root = (node *)root_object, *leaf = (node *)leaf_object;
  root->next = leaf;
  root->name = first;
  for (int i = 0; i < KINDS; i++)
    ids[i] = observe(root_object, paths[i], i == KINDS - 1 ? KVO_NONE : ALL, &counters[i]);
  kvo_observation initial_id =
      observe(root_object, "next.value", KVO_INITIAL | KVO_NEW | KVO_ENDS_WITH_OBJECT, &initial);
  CHECK(initial_id != 0);
  CHECK(initial.calls >= 1);
  initial.calls = 0;

  /* A registered observer is notified of each change, even without memory for the values. */
  KVO_SET(leaf_object, "value", int, 1);
  CHECK_EQ(counters[4].calls, 1);
  CHECK_EQ(counters[5].calls, 1);
  CHECK_EQ(initial.calls, 1);
  KVO_SET(root_object, "value", int, 2);
  CHECK_EQ(counters[0].calls, 1);
  CHECK_EQ(counters[0].new_value.integer, 2);
  CHECK_EQ(counters[5].calls, 2);
  KVO_SET(root_object, "name", char *, second);
  CHECK_EQ(counters[2].calls, 1);
  KVO_SET(root_object, "large", large, root->large);
  CHECK_EQ(counters[3].calls, 1);
  KVO_SET(root_object, "next", node *, NULL);
  KVO_SET(root_object, "next", node *, leaf);
  CHECK_EQ(counters[1].calls, 2);
  CHECK_EQ(counters[4].calls, 3);
  TRY(kvo_will_change(root_object, "imaginary"));
  CHECK_OK(kvo_did_change(root_object, "imaginary"));
  CHECK_EQ(counters[6].calls, 1);
  size_t index = 3;
  TRY(kvo_will_change_indexes(root_object, KVO_CHANGE_REMOVAL, "name", &index, 1));
  CHECK_OK(kvo_did_change_indexes(root_object, KVO_CHANGE_REMOVAL, "name", &index, 1));
  CHECK_EQ(counters[2].calls, 2);
  TRY(kvo_get_value(root_object, "next.value", ignore_value, &reads));
  TRY(kvo_get_value(root_object, "name", ignore_value, &reads));
  TRY(kvo_get_value(root_object, "next.next.value", ignore_value, &reads));
  CHECK_EQ(reads, 3);

  CHECK_OK(kvo_remove_observer(ids[0]));
  CHECK_OK(kvo_remove_observer_for(root_object, &counters[6], "imaginary"));
  kvo_object_destroy(leaf_object); /* the paths lead to nil */
  CHECK(counters[4].calls >= 3);
  root->next = NULL;
  for (int i = 1; i < KINDS - 1; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  kvo_object_destroy(root_object);
  for (int i = 0; i < KINDS; i++) CHECK_EQ(counters[i].destroyed, 1);
  CHECK_EQ(initial.destroyed, 1);
}

enum { NOTHING_FAILED = 254 };

/* The exit status of a process in which allocation n failed: the number of blocks at the end. */
static int blocks_after(long n) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    use_counting_allocator();
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
  int expected = blocks_after(0);
  long n = 1;
  for (;; n++) {
    int blocks = blocks_after(n);
    if (blocks == NOTHING_FAILED) break;
    if (blocks != expected)
      harness_fail(__FILE__, __LINE__, "allocation %ld failing: %d blocks are left, not %d", n, blocks, expected);
  }
  CHECK(n > 80); /* the scenario allocates */
}

static int faults_seen;
static kvo_action count_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  faults_seen++;
  CHECK(kvo_fault_format(fault, KVO_REPORT_TEXT, NULL, 0) > 20);
  return KVO_ACTION_IGNORE;
}

TEST_REPORTED("a fault is reported, perhaps with less detail, when there is no memory for the report") {
  use_counting_allocator();
  for (long n = 1; n < 12; n++) {
    static watcher many[40];
    item *object = item_make(0);
    memset(many, 0, sizeof many);
    for (int i = 0; i < 40; i++) watch(object, "next.next.next.value", KVO_NONE, &many[i]);
    kvo_set_fault_handler(count_fault, NULL);
    fail_in = n;
    faults_seen = 0;
    CHECK_STATUS(kvo_remove_observer_for(as_object(object), object, "value"), KVO_ERROR_NOT_REGISTERED);
    item_destroy(object);
    fail_in = 0;
    CHECK(faults_seen >= 1);
    for (int i = 0; i < 40; i++) CHECK_EQ(many[i].destroyed, 1);
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
  CHECK(!w.old_value.told);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* ---------------------------------------------------------------------------------------------------- Replaced paths -- */

static int cannot_follow;

static kvo_action count_cannot_follow(const kvo_fault *fault, void *arg) {
  (void)arg;
  CHECK_EQ((int)fault->code, (int)KVO_FAULT_NEVER_NOTIFIES);
  CHECK_CONTAINS(fault->summary, "could not be updated after a change");
  cannot_follow++;
  return KVO_ACTION_IGNORE;
}

/* Replaces both objects of a path while the n-th allocation, and with `keeps` every later one, fails; then sets the end. False if no
 * allocation failed. */
static bool replace_without_memory(long n, bool keeps, int options) {
  item *root = item_make(0), *middle = item_make(1), *end = item_make(2);
  item *other_middle = item_make(3), *other_end = item_make(4);
  item_set_next(root, middle);
  item_set_next(middle, end);
  item_set_next(other_middle, end);
  watcher w = {0};
  watch(root, "next.next.value", options, &w);
  cannot_follow = 0;
  has_failed = 0;
  keeps_failing = keeps;
  fail_in = n;
  item_set_next(root, other_middle);
  item_set_next(other_middle, other_end);
  bool failed = has_failed;
  fail_in = 0;
  keeps_failing = 0;
  int told = w.calls;
  if (!keeps) CHECK_EQ(cannot_follow, 0); /* the retry had memory */
  if (cannot_follow == 0) CHECK_EQ(told, 2);
  CHECK(told >= 1);
  item_set_value(other_end, 40);
  item_set_value(other_end, 41);
  if (cannot_follow == 0) {
    CHECK_EQ(w.calls, told + 2);
    CHECK_EQ(w.new_value.integer, 41);
  }
  /* A change of an old subscription updates them. */
  told = w.calls;
  item_set_next(root, other_middle);
  CHECK_EQ(w.calls, told + 1);
  CHECK_EQ(w.new_value.integer, 41);
  item_set_value(other_end, 42);
  CHECK_EQ(w.calls, told + 2);
  CHECK_EQ(w.new_value.integer, 42);
  CHECK_OK(kvo_remove_observer(w.id));
  CHECK_EQ(w.destroyed, 1);
  item *all[] = {root, middle, end, other_middle, other_end};
  for (int i = 0; i < 5; i++) item_destroy(all[i]);
  return failed;
}

TEST_REPORTED(
    "whichever allocation fails while a path is replaced, no later change is lost without a fault that says so") {
  use_counting_allocator();
  kvo_set_fault_handler(count_cannot_follow, NULL);
  static const int options[] = {KVO_NEW, KVO_NEW | KVO_OLD | KVO_PRIOR};
  int said = 0;
  replace_without_memory(0, false, KVO_NEW); /* allocates what is never freed */
  for (int i = 0; i < 2; i++)
    for (int keeps = 0; keeps < 2; keeps++) {
      long n = 1, before = live_blocks;
      while (replace_without_memory(n, keeps, options[i])) {
        said += cannot_follow;
        n++;
      }
      CHECK(n > 3);
      CHECK_EQ((long)live_blocks, before);
    }
  CHECK(said > 0);
}

/* Destroys an object that 20 observed paths pass through while the n-th allocation, and with `keeps` every later one, fails. False if no
 * allocation failed. */
static bool destroy_without_memory(long n, bool keeps, int options) {
  enum { PATHS = 20 };
  item *end = item_make(1), *roots[PATHS];
  watcher watchers[PATHS] = {0};
  for (int i = 0; i < PATHS; i++) {
    roots[i] = item_make(0);
    item_set_next(roots[i], end);
    watch(roots[i], "next.value", options, &watchers[i]);
  }
  cannot_follow = 0;
  has_failed = 0;
  keeps_failing = keeps;
  fail_in = n;
  item_destroy(end);
  bool failed = has_failed;
  fail_in = 0;
  keeps_failing = 0;
  for (int i = 0; i < PATHS; i++) {
    CHECK_EQ(watchers[i].calls, 1);
    CHECK_OK(kvo_remove_observer(watchers[i].id));
    item_destroy(roots[i]);
  }
  return failed;
}

TEST_REPORTED("whichever allocation fails while an object is destroyed, the observers of paths through it are told") {
  use_counting_allocator();
  kvo_set_fault_handler(count_cannot_follow, NULL);
  static const int options[] = {KVO_NONE, KVO_NEW, KVO_NEW | KVO_OLD};
  destroy_without_memory(0, false, KVO_NEW); /* allocates what is never freed */
  for (int i = 0; i < 3; i++)
    for (int keeps = 0; keeps < 2; keeps++) {
      long before = live_blocks;
      for (long n = 1; destroy_without_memory(n, keeps, options[i]); n++) CHECK_EQ((long)live_blocks, before);
      CHECK_EQ((long)live_blocks, before);
    }
}
