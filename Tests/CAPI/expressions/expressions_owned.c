/* expressions_owned.c - expressions that only their owner may evaluate: changes made elsewhere ask it to settle. */
#include "expression.h"
#include "shared.h"

#include <sched.h>
#include <stdlib.h>

/* Whether this thread is the owner's. */
static _Thread_local bool is_owner;

/* An expression that reads keys of `root`. */
typedef struct owned {
  expression of;
  item *root;
  /** What its owner was asked to settle, and how often; and how often it was evaluated elsewhere. */
  _Atomic kvo_observation asked_for;
  _Atomic int asked, elsewhere;
} owned;

static int atomic_value(item *of) {
  read_key(of, "value");
  return __atomic_load_n(&of->value, __ATOMIC_SEQ_CST);
}

static int read_root(expression *self) {
  owned *own = (owned *)self;
  own->elsewhere += !is_owner;
  return atomic_value(own->root);
}

static int read_next_value(expression *self) {
  owned *own = (owned *)self;
  own->elsewhere += !is_owner;
  item *next = read_next(own->root);
  return next != NULL ? atomic_value(next) : NO_VALUE;
}

/* Like read_next_value; and the value is that of the key. */
static int read_path(expression *self) {
  int value = read_next_value(self);
  item *next = ((owned *)self)->root->next;
  if (next != NULL) kvo_track_value_is_of(as_object(next), key_of("value"));
  return value;
}

static void *of_property(const kvo_property *property, const void *value, void *user_data) {
  ((expression *)user_data)->released--; /* this value will be released, too */
  int *made = malloc(sizeof *made);
  CHECK(made != NULL);
  *made = *(const int *)value;
  return made;
}

static bool same(const void *one, const void *other, void *user_data) {
  return *(const int *)one == *(const int *)other;
}

static bool is_here(void *user_data) { return is_owner; }

static void ask(kvo_observation observation, void *user_data) {
  owned *self = user_data;
  self->asked_for = observation;
  self->asked++;
}

static kvo_observer_ops owned_ops(void) {
  kvo_observer_ops ops = expression_ops;
  ops.same = same;
  ops.is_here = is_here;
  ops.ask = ask;
  ops.of_property = of_property;
  return ops;
}

static kvo_status try_begin(owned *self, kvo_options options, const kvo_observer_ops *ops) {
  kvo_binding_observer observer = {
      .key_path = "expression", .options = options, .ops = ops, .user_data = self, KVO_HERE};
  return kvo_binding_observe_tracked(as_object(self->root), &observer, true, &self->of.id);
}

static void begin(owned *self, kvo_options options) {
  static kvo_observer_ops ops;
  ops = owned_ops();
  is_owner = true;
  CHECK_OK(try_begin(self, options, &ops));
}

/* A binding that is said to set the value of the target. */
static void begin_binding(owned *self, item *target, const kvo_observer_ops *ops) {
  kvo_binding_observer observer = {.key_path = "expression",
                                   .options = KVO_NEW,
                                   .ops = ops,
                                   .user_data = self,
                                   .is_binding = true,
                                   .target = as_object(target),
                                   .target_key = key_of("value"),
                                   KVO_HERE};
  is_owner = true;
  CHECK_OK(kvo_binding_observe_tracked(as_object(self->root), &observer, false, &self->of.id));
}

static void finish(owned *self) {
  CHECK_EQ(self->elsewhere, 0);
  expression_end(&self->of);
  item_destroy(self->root);
}

/* What the owner does when it gets to it. */
static void settle(const owned *self) {
  is_owner = true;
  kvo_settle(self->of.id);
}

static void set_elsewhere(item *object, int value) {
  is_owner = false;
  item_set_value(object, value);
}

static void check(const owned *self, int notified, int old_value, int new_value) {
  CHECK_EQ(self->of.notified, notified);
  CHECK_EQ(self->of.old_value, old_value);
  CHECK_EQ(self->of.new_value, new_value);
}

TEST(
    "changes made elsewhere ask the owner once; when it settles them, it gets the value delivered last and the present one") {
  owned one = {.of.body = read_root, .root = item_make(1)};
  begin(&one, KVO_OLD | KVO_NEW | KVO_PRIOR);
  for (int value = 2; value < 5; value++) set_elsewhere(one.root, value);
  CHECK_EQ(one.asked, 1);
  CHECK_EQ(one.asked_for, one.of.id);
  CHECK_EQ(one.of.evaluated, 1);
  CHECK_EQ(one.of.notified + one.of.priors, 0);
  settle(&one);
  check(&one, 1, 1, 4);
  CHECK_EQ(one.of.priors, 1); /* just before the other one */
  set_elsewhere(one.root, 5);
  CHECK_EQ(one.asked, 2);
  settle(&one);
  check(&one, 2, 4, 5);
  settle(&one); /* nothing was asked for */
  kvo_settle(0);
  CHECK_EQ(one.of.notified, 2);
  finish(&one);
}

TEST("a change that the owner makes is delivered before its setter returns, with what it was asked for before") {
  owned one = {.of.body = read_root, .root = item_make(1)};
  begin(&one, KVO_OLD | KVO_NEW);
  item_set_value(one.root, 2);
  check(&one, 1, 1, 2);
  CHECK_EQ(one.asked, 0);
  set_elsewhere(one.root, 3);
  is_owner = true;
  item_set_value(one.root, 4);
  CHECK_EQ(one.of.notified, 2);
  CHECK_EQ(one.of.new_value, 4);
  settle(&one);
  CHECK_EQ(one.of.notified, 2);
  finish(&one);
}

static item *first, *second;

static void make_owned_path(owned *self, int (*body)(expression *self), kvo_options options) {
  first = item_make(1);
  second = item_make(10);
  *self = (owned){.of.body = body, .root = item_make(0)};
  self->root->next = first;
  begin(self, options);
}

TEST("a property at the end of a path is delivered elsewhere, too, until an object on the path is replaced there") {
  owned one;
  make_owned_path(&one, read_path, KVO_OLD | KVO_NEW);
  for (int value = 2; value < 4; value++) set_elsewhere(first, value);
  CHECK_EQ(one.asked, 0);
  CHECK_EQ(one.of.evaluated, 1);
  check(&one, 2, 2, 3);
  item_set_next(one.root, second);
  item_set_value(first, 4);
  item_set_value(second, 11);
  CHECK_EQ(one.of.notified, 2);
  CHECK_EQ(one.asked, 1);
  settle(&one);
  CHECK_EQ(one.of.notified, 3);
  CHECK_EQ(one.of.new_value, 11);
  set_elsewhere(second, 12);
  CHECK_EQ(one.of.evaluated, 2);
  check(&one, 4, 11, 12);
  finish(&one);
}

TEST("an observer that has got such a change elsewhere may have the owner settle it") {
  owned one;
  make_owned_path(&one, read_path, KVO_NEW);
  set_elsewhere(first, 2);
  kvo_unsettle(one.of.id);
  kvo_unsettle(0);
  CHECK_EQ(one.of.notified, 1);
  CHECK_EQ(one.asked, 1);
  settle(&one);
  check(&one, 2, NO_VALUE, 2);
  kvo_unsettle(one.of.id); /* by the owner: at once */
  check(&one, 3, NO_VALUE, 2);
  finish(&one);
}

TEST("what dies elsewhere is settled by the owner, and read by nobody before") {
  owned one;
  make_owned_path(&one, read_next_value, KVO_OLD | KVO_NEW);
  is_owner = false;
  item_destroy(first);
  CHECK_EQ(one.asked, 1);
  CHECK_EQ(one.of.notified, 0);
  one.root->next = NULL;
  settle(&one);
  check(&one, 1, 1, NO_VALUE);
  finish(&one);
}

TEST("of a change of which nobody is notified the owner is asked to follow it, and is not notified") {
  owned one;
  make_owned_path(&one, read_next_value, KVO_OLD | KVO_NEW);
  is_owner = false;
  BEGIN(scope, KVO_SCOPE_SILENCES, one.root);
  item_set_next(one.root, second);
  kvo_scope_end(&scope);
  CHECK_EQ(one.asked, 1);
  settle(&one);
  CHECK_EQ(one.of.notified, 0);
  item_set_value(second, 11);
  check(&one, 1, 1, 11); /* nobody was notified of 10 */
  finish(&one);
}

TEST("a silent change by the owner leaves a change made elsewhere to the answer, which notifies once") {
  owned one = {.of.body = read_root, .root = item_make(1)};
  begin(&one, KVO_OLD | KVO_NEW);
  set_elsewhere(one.root, 2);
  is_owner = true;
  BEGIN(scope, KVO_SCOPE_SILENCES, one.root);
  item_set_value(one.root, 3);
  kvo_scope_end(&scope);
  CHECK_EQ(one.of.notified, 0);
  settle(&one);
  check(&one, 1, 1, 3);
  settle(&one);
  CHECK_EQ(one.of.notified, 1);
  item_set_value(one.root, 4);
  check(&one, 2, 3, 4);
  finish(&one);
}

TEST("a change made elsewhere before a pause is delivered after it, one made in it is missed") {
  owned one = {.of.body = read_root, .root = item_make(1)};
  begin(&one, KVO_OLD | KVO_NEW);
  set_elsewhere(one.root, 2);
  CHECK_OK(kvo_observation_pause(one.of.id));
  settle(&one);
  CHECK_EQ(one.of.notified, 0);
  CHECK_OK(kvo_observation_resume(one.of.id, false));
  CHECK_EQ(one.asked, 2);
  settle(&one);
  CHECK_EQ(one.of.notified, 1);
  CHECK_EQ(one.of.new_value, 2);
  for (int tells = 0; tells < 2; tells++) {
    CHECK_OK(kvo_observation_pause(one.of.id));
    set_elsewhere(one.root, 3 + tells);
    CHECK_OK(kvo_observation_resume(one.of.id, tells != 0));
    CHECK_EQ(one.of.notified, 1);
    settle(&one);
    CHECK_EQ(one.of.notified, 1 + tells);
  }
  CHECK_EQ(one.of.new_value, 4);
  finish(&one);
}

TEST("at the end of a scope elsewhere the owner is asked, and of one of its own it is notified") {
  owned one = {.of.body = read_root, .root = item_make(1)};
  begin(&one, KVO_OLD | KVO_NEW);
  for (int round = 0; round < 2; round++) {
    is_owner = round == 1;
    BEGIN(scope, KVO_SCOPE_COALESCES_IF_CHANGED, one.root);
    for (int value = 0; value < 3; value++) item_set_value(one.root, 10 * (round + 1) + value);
    kvo_scope_end(&scope);
    CHECK_EQ(one.of.notified, 2 * round);
    CHECK_EQ(one.asked, 1);
    settle(&one);
    check(&one, round + 1, round == 0 ? 1 : 12, round == 0 ? 12 : 22);
  }
  finish(&one);
}

TEST("nothing is settled after the end of the observation or of its object") {
  owned one = {.of.body = read_root, .root = item_make(1)}, other = {.of.body = read_root, .root = item_make(1)};
  begin(&one, KVO_NEW);
  begin(&other, KVO_NEW | KVO_ENDS_WITH_OBJECT);
  set_elsewhere(one.root, 2);
  set_elsewhere(other.root, 2);
  finish(&one);
  item_destroy(other.root);
  settle(&one);
  settle(&other);
  CHECK_EQ(one.of.notified + other.of.notified, 0);
  CHECK_EQ(one.of.evaluated + other.of.evaluated, 2);
}

TEST_REPORTED("is_here without ask, and ask without is_here, are KVO0008") {
  ignore_faults();
  owned one = {.of.body = read_root, .root = item_make(1)};
  kvo_observer_ops wrong[] = {owned_ops(), owned_ops()};
  wrong[0].ask = NULL;
  wrong[1].is_here = NULL;
  for (int i = 0; i < 2; i++) {
    CHECK_STATUS(try_begin(&one, KVO_NEW, &wrong[i]), KVO_ERROR_INVALID_ARGUMENT);
    CHECK_FAULTS(i + 1, KVO_FAULT_INVALID_ARGUMENT);
  }
  item_destroy(one.root);
}

static item *copy;
static int copy_when_asked;

static int read_both(expression *self) {
  owned *own = (owned *)self;
  own->elsewhere += !is_owner;
  return atomic_value(own->root) + atomic_value(copy);
}

static void ask_and_look(kvo_observation observation, void *user_data) {
  copy_when_asked = copy->value;
  ask(observation, user_data);
}

TEST("the owner of a binding is asked when other bindings have set what it reads") {
  owned one = {.of.body = read_both, .root = item_make(1)};
  copy = item_make(0);
  item *target = item_make(0);
  kvo_observation id;
  CHECK_OK(kvo_bind(as_object(copy), "value", as_object(one.root), "value", &id));
  kvo_observer_ops ops = owned_ops();
  ops.ask = ask_and_look;
  begin_binding(&one, target, &ops);
  set_elsewhere(one.root, 2);
  CHECK_EQ(one.asked, 1);
  CHECK_EQ(copy_when_asked, 2);
  settle(&one);
  CHECK_EQ(one.of.new_value, 4);
  finish(&one);
  item_destroy(copy);
  item_destroy(target);
}

/* ----------------------------------------------------------------------------------------------------- Threads -- */

enum { SETTERS = 3, SETS = 2000 };
static running *setters[SETTERS];
static _Atomic int setting;

/* A setter that several threads may call. */
static void store(item *object, int value) {
  kvo_frame frame;
  uint32_t wants = kvo_frame_enter(&frame, as_object(object), key_of("value"));
  __atomic_store_n(&object->value, value, __ATOMIC_SEQ_CST);
  if (wants != 0) kvo_frame_finish(&frame, NULL);
}

static void set_often(void *object) {
  for (int value = 1; value <= SETS; value++) store(object, value);
  setting--;
}

static void start_setters(item *object) {
  setting = SETTERS;
  for (int i = 0; i < SETTERS; i++) setters[i] = start_thread(set_often, object);
}

static void join_setters(void) {
  for (int i = 0; i < SETTERS; i++) join_thread(setters[i]);
}

static _Atomic int has_begun_to_ask, goes_on;

/* Another thread that is interrupted before it asks the owner. */
static bool is_here_after_a_while(void *user_data) {
  if (is_owner) return true;
  has_begun_to_ask = 1;
  while (!goes_on) sched_yield();
  return is_here(user_data);
}

static void store_two(void *root) { store(root, 2); }

TEST("a binding that its owner changes is settled at once, even if another thread is about to ask for that") {
  owned one = {.of.body = read_root, .root = item_make(1)};
  kvo_observer_ops ops = owned_ops();
  ops.is_here = is_here_after_a_while;
  is_owner = true;
  item *target = item_make(0);
  begin_binding(&one, target, &ops);
  running *setter = start_thread(store_two, one.root);
  while (!has_begun_to_ask) sched_yield();
  store(one.root, 3);
  CHECK_EQ(one.of.new_value, 3);
  goes_on = 1;
  join_thread(setter);
  settle(&one);
  CHECK_EQ(one.of.new_value, 3);
  finish(&one);
  item_destroy(target);
}

TEST("while threads set, the owner alone evaluates, and gets the last value in the end") {
  owned one = {.of.body = read_root, .root = item_make(0)};
  begin(&one, KVO_NEW);
  start_setters(one.root);
  int done = 0;
  while (setting > 0 || done != one.asked) {
    if (done == one.asked) continue;
    done = one.asked;
    settle(&one);
  }
  join_setters();
  CHECK_EQ(one.of.new_value, SETS);
  CHECK(one.of.notified <= one.asked);
  finish(&one);
}

/* The user data is freed with the observation, so AddressSanitizer sees a question that comes too late. */
static void destroy(void *user_data) {
  ((owned *)user_data)->root = NULL;
  free(user_data);
}

static _Atomic kvo_observation present;

static void settle_often(void *arg) {
  is_owner = true;
  while (setting > 0) kvo_settle(present);
}

TEST("observations end while threads change and settle what they read, and nobody is asked after the end") {
  item *root = item_make(0);
  kvo_observer_ops ending = owned_ops();
  ending.destroy = ending.abandon = destroy;
  start_setters(root);
  running *settling = start_thread(settle_often, NULL);
  is_owner = true;
  while (setting > 0) {
    owned *one = calloc(1, sizeof *one);
    CHECK(one != NULL);
    *one = (owned){.of.body = read_root, .root = root};
    kvo_binding_observer observer = {
        .key_path = "expression", .options = KVO_NEW, .ops = &ending, .user_data = one, KVO_HERE};
    kvo_observation id;
    CHECK_OK(kvo_binding_observe_tracked(as_object(root), &observer, false, &id));
    present = id;
    CHECK_OK(kvo_remove_observer(id));
  }
  join_setters();
  join_thread(settling);
  item_destroy(root);
}
