/* expressions_owned.c - expressions that only their owner may evaluate: changes made elsewhere ask it to settle them. */
#include "fixture.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Whether this thread is the owner's. */
static _Thread_local bool is_owner;

/* An expression of the values of `root` and of those behind it. */
typedef struct owned {
  item *root;
  int (*body)(struct owned *self);
  kvo_observation id;
  /* What its owner was asked to settle, and how often. */
  _Atomic kvo_observation asked_for;
  _Atomic int asked, evaluated, elsewhere;
  int told, priors, old_value, new_value;
} owned;

enum { NONE = -1 };

static kvo_key key_of(const char *name) { return kvo_key_hash(name, strlen(name)); }

static int value_of(item *of) {
  kvo_track_read(as_object(of), key_of("value"));
  return __atomic_load_n(&of->value, __ATOMIC_SEQ_CST);
}

static int read_value(owned *self) { return value_of(self->root); }

static item *next_of(item *of) {
  kvo_track_read(as_object(of), key_of("next"));
  return of->next;
}

static int read_next_value(owned *self) {
  item *next = next_of(self->root);
  return next != NULL ? value_of(next) : NONE;
}

static int read_path(owned *self) {
  item *next = next_of(self->root);
  int value = next != NULL ? value_of(next) : NONE;
  if (next != NULL) kvo_track_value_is_of(as_object(next), key_of("value"));
  return value;
}

static void *evaluate(void *user_data) {
  owned *self = user_data;
  self->evaluated++;
  self->elsewhere += !is_owner;
  int *value = malloc(sizeof *value);
  *value = self->body(self);
  return value;
}

static void release(void *value, void *user_data) { (void)user_data, free(value); }

static void *of_property(const kvo_property *property, const void *value, void *user_data) {
  (void)property, (void)user_data;
  int *made = malloc(sizeof *made);
  *made = *(const int *)value;
  return made;
}

static bool same(const void *one, const void *other, void *user_data) {
  (void)user_data;
  return *(const int *)one == *(const int *)other;
}

static bool is_here(void *user_data) {
  (void)user_data;
  return is_owner;
}

static void ask(kvo_observation observation, void *user_data) {
  owned *self = user_data;
  self->asked_for = observation;
  self->asked++;
}

static void note(const kvo_raw_change *change, void *user_data) {
  owned *self = user_data;
  if (change->is_prior)
    self->priors++;
  else
    self->told++;
  self->old_value = change->old_value != NULL ? *(const int *)change->old_value : NONE;
  self->new_value = change->new_value != NULL ? *(const int *)change->new_value : NONE;
}

static const kvo_observer_ops ops = {.callback = note,
                                     .evaluate = evaluate,
                                     .release = release,
                                     .same = same,
                                     .is_here = is_here,
                                     .ask = ask,
                                     .of_property = of_property};

static kvo_binding_observer described(owned *self, kvo_options options) {
  return (kvo_binding_observer){.key_path = "expression", .options = options, .ops = &ops, .user_data = self, KVO_HERE};
}

static void begin(owned *self, kvo_options options) {
  is_owner = true;
  kvo_binding_observer observer = described(self, options);
  CHECK_OK(kvo_binding_observe_tracked(as_object(self->root), &observer, true, &self->id));
}

/* What the owner does when it gets to it. */
static void settle(owned *self) {
  is_owner = true;
  kvo_settle(self->id);
}

static void check(const owned *self, int told, int old_value, int new_value) {
  CHECK_EQ(self->told, told);
  CHECK_EQ(self->old_value, old_value);
  CHECK_EQ(self->new_value, new_value);
  CHECK_EQ(self->elsewhere, 0);
}

TEST(
    "changes made elsewhere ask the owner once; when it settles them, it is told the value told last and the present one") {
  owned one = {.root = item_make(1), .body = read_value};
  begin(&one, KVO_OLD | KVO_NEW);
  is_owner = false;
  for (int value = 2; value < 5; value++) item_set_value(one.root, value);
  CHECK_EQ(one.asked, 1);
  CHECK_EQ(one.asked_for, one.id);
  CHECK_EQ(one.evaluated, 1);
  CHECK_EQ(one.told, 0);
  settle(&one);
  check(&one, 1, 1, 4);
  is_owner = false;
  item_set_value(one.root, 5);
  CHECK_EQ(one.asked, 2);
  settle(&one);
  check(&one, 2, 4, 5);
  kvo_settle(one.id); /* nothing was asked for */
  kvo_settle(0);
  CHECK_EQ(one.told, 2);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

TEST("a change that the owner makes is told before its setter returns, and is what it was asked for as well") {
  owned one = {.root = item_make(1), .body = read_value};
  begin(&one, KVO_OLD | KVO_NEW);
  item_set_value(one.root, 2);
  check(&one, 1, 1, 2);
  CHECK_EQ(one.asked, 0);
  is_owner = false;
  item_set_value(one.root, 3);
  is_owner = true;
  item_set_value(one.root, 4);
  CHECK_EQ(one.told, 2);
  CHECK_EQ(one.new_value, 4);
  settle(&one);
  CHECK_EQ(one.told, 2);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

TEST("before a change made elsewhere nobody is told; the prior notification comes when it is settled, just before") {
  owned one = {.root = item_make(1), .body = read_value};
  begin(&one, KVO_OLD | KVO_PRIOR);
  is_owner = false;
  item_set_value(one.root, 2);
  CHECK_EQ(one.priors, 0);
  settle(&one);
  CHECK_EQ(one.priors, 1);
  check(&one, 1, 1, NONE);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

TEST("a property at the end of a path is told as it is elsewhere, too, until an object on the path is replaced there") {
  item *first = item_make(1), *second = item_make(10);
  owned one = {.root = item_make(0), .body = read_path};
  one.root->next = first;
  begin(&one, KVO_OLD | KVO_NEW);
  is_owner = false;
  for (int value = 2; value < 4; value++) item_set_value(first, value);
  CHECK_EQ(one.evaluated, 1);
  CHECK_EQ(one.asked, 0);
  check(&one, 2, 2, 3);
  item_set_next(one.root, second);
  item_set_value(first, 4);
  item_set_value(second, 11);
  CHECK_EQ(one.told, 2);
  CHECK_EQ(one.asked, 1);
  settle(&one);
  CHECK_EQ(one.told, 3);
  CHECK_EQ(one.new_value, 11);
  is_owner = false;
  item_set_value(second, 12);
  CHECK_EQ(one.evaluated, 2);
  check(&one, 4, 11, 12);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root), item_destroy(first), item_destroy(second);
}

TEST("an observer that has got such a change elsewhere may have the owner settle it") {
  item *next = item_make(1);
  owned one = {.root = item_make(0), .body = read_path};
  one.root->next = next;
  begin(&one, KVO_NEW);
  is_owner = false;
  item_set_value(next, 2);
  kvo_unsettle(one.id);
  kvo_unsettle(0);
  CHECK_EQ(one.told, 1);
  CHECK_EQ(one.asked, 1);
  settle(&one);
  check(&one, 2, NONE, 2);
  kvo_unsettle(one.id); /* by the owner: at once */
  check(&one, 3, NONE, 2);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root), item_destroy(next);
}

TEST("what dies elsewhere is settled by the owner, and read by nobody before") {
  item *next = item_make(1);
  owned one = {.root = item_make(0), .body = read_next_value};
  one.root->next = next;
  begin(&one, KVO_OLD | KVO_NEW);
  is_owner = false;
  item_destroy(next);
  CHECK_EQ(one.asked, 1);
  CHECK_EQ(one.told, 0);
  one.root->next = NULL;
  settle(&one);
  check(&one, 1, 1, NONE);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

TEST("of a change that nobody is told of, the owner is asked to follow it, and is not told") {
  item *first = item_make(1), *second = item_make(10);
  owned one = {.root = item_make(0), .body = read_next_value};
  one.root->next = first;
  begin(&one, KVO_OLD | KVO_NEW);
  is_owner = false;
  kvo_object *silent = as_object(one.root);
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, &silent, 1, __FILE__, __LINE__));
  item_set_next(one.root, second);
  kvo_scope_end(&scope);
  CHECK_EQ(one.asked, 1);
  settle(&one);
  CHECK_EQ(one.told, 0);
  item_set_value(second, 11);
  check(&one, 1, 1, 11); /* 10 was told nobody */
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root), item_destroy(first), item_destroy(second);
}

TEST("a change made elsewhere before a pause is told after it, one made in it is missed") {
  owned one = {.root = item_make(1), .body = read_value};
  begin(&one, KVO_OLD | KVO_NEW);
  is_owner = false;
  item_set_value(one.root, 2);
  is_owner = true;
  CHECK_OK(kvo_observation_pause(one.id));
  settle(&one);
  CHECK_EQ(one.told, 0);
  CHECK_OK(kvo_observation_resume(one.id, false));
  CHECK_EQ(one.asked, 2);
  settle(&one);
  CHECK_EQ(one.told, 1);
  CHECK_EQ(one.new_value, 2);
  CHECK_OK(kvo_observation_pause(one.id));
  is_owner = false;
  item_set_value(one.root, 3);
  settle(&one);
  CHECK_OK(kvo_observation_resume(one.id, false));
  settle(&one);
  CHECK_EQ(one.told, 1);
  CHECK_OK(kvo_observation_pause(one.id));
  is_owner = false;
  item_set_value(one.root, 4);
  CHECK_OK(kvo_observation_resume(one.id, true));
  CHECK_EQ(one.told, 1);
  settle(&one);
  CHECK_EQ(one.told, 2);
  CHECK_EQ(one.new_value, 4);
  CHECK_EQ(one.elsewhere, 0);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

TEST("at the end of a scope elsewhere the owner is asked, and of one of its own it is told") {
  owned one = {.root = item_make(1), .body = read_value};
  begin(&one, KVO_OLD | KVO_NEW);
  kvo_object *object = as_object(one.root);
  for (int round = 0; round < 2; round++) {
    is_owner = round == 1;
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES_IF_CHANGED, &object, 1, __FILE__, __LINE__));
    for (int value = 0; value < 3; value++) item_set_value(one.root, 10 * (round + 1) + value);
    kvo_scope_end(&scope);
    CHECK_EQ(one.told, 2 * round);
    CHECK_EQ(one.asked, 1);
    settle(&one);
    check(&one, round + 1, round == 0 ? 1 : 12, round == 0 ? 12 : 22);
  }
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

TEST("nothing is settled after the end of the observation or of its object") {
  owned one = {.root = item_make(1), .body = read_value}, other = {.root = item_make(1), .body = read_value};
  begin(&one, KVO_NEW);
  begin(&other, KVO_NEW | KVO_ENDS_WITH_OBJECT);
  is_owner = false;
  item_set_value(one.root, 2);
  item_set_value(other.root, 2);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(other.root);
  settle(&one);
  settle(&other);
  CHECK_EQ(one.told + other.told, 0);
  CHECK_EQ(one.evaluated + other.evaluated, 2);
  item_destroy(one.root);
}

TEST_REPORTED("is_here without ask, and ask without is_here, are KVO0008") {
  ignore_faults();
  owned one = {.root = item_make(1), .body = read_value};
  kvo_observer_ops without_ask = ops, without_is_here = ops;
  without_ask.ask = NULL;
  without_is_here.is_here = NULL;
  const kvo_observer_ops *wrong[] = {&without_ask, &without_is_here};
  for (int i = 0; i < 2; i++) {
    kvo_binding_observer observer = described(&one, KVO_NEW);
    observer.ops = wrong[i];
    CHECK_STATUS(kvo_binding_observe_tracked(as_object(one.root), &observer, false, &one.id),
                 KVO_ERROR_INVALID_ARGUMENT);
    CHECK_EQ(faults.code, KVO_FAULT_INVALID_ARGUMENT);
  }
  item_destroy(one.root);
}

/* ------------------------------------------------------------------------------------------------------- Threads -- */

enum { THREADS = 3, SETS = 2000 };
static _Atomic int running;

/* A setter that two threads may call. */
static void store(item *object, int value) {
  kvo_frame frame;
  if (kvo_frame_enter(&frame, as_object(object), key_of("value")) != 0) {
    __atomic_store_n(&object->value, value, __ATOMIC_SEQ_CST);
    kvo_frame_finish(&frame, NULL);
  } else {
    __atomic_store_n(&object->value, value, __ATOMIC_SEQ_CST);
  }
}

static void *set_often(void *arg) {
  item *object = arg;
  for (int value = 1; value <= SETS; value++) store(object, value);
  running--;
  return NULL;
}

TEST("while threads set, the owner alone evaluates, and is told the last value in the end") {
  owned one = {.root = item_make(0), .body = read_value};
  begin(&one, KVO_NEW);
  pthread_t threads[THREADS];
  running = THREADS;
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, set_often, one.root);
  int done = 0;
  while (running > 0 || done != one.asked) {
    if (done == one.asked) continue;
    done = one.asked;
    settle(&one);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  CHECK_EQ(one.new_value, SETS);
  CHECK_EQ(one.elsewhere, 0);
  CHECK(one.told <= one.asked);
  CHECK_OK(kvo_remove_observer(one.id));
  item_destroy(one.root);
}

/* The user data is freed with the observation, so AddressSanitizer sees a question that comes too late. */
static void destroy(void *user_data) {
  owned *self = user_data;
  self->root = NULL;
  free(self);
}

static const kvo_observer_ops ending_ops = {.callback = note,
                                            .destroy = destroy,
                                            .abandon = destroy,
                                            .evaluate = evaluate,
                                            .release = release,
                                            .is_here = is_here,
                                            .ask = ask};

static _Atomic kvo_observation present;

static void *settle_often(void *arg) {
  (void)arg;
  is_owner = true;
  while (running > 0) kvo_settle(present);
  return NULL;
}

TEST(
    "observations end while threads change what they read and while they are settled, and nobody is asked after its end") {
  item *root = item_make(0);
  pthread_t threads[THREADS], settling;
  running = THREADS;
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, set_often, root);
  pthread_create(&settling, NULL, settle_often, NULL);
  is_owner = true;
  while (running > 0) {
    owned *one = calloc(1, sizeof *one);
    *one = (owned){.root = root, .body = read_value};
    kvo_binding_observer observer = described(one, KVO_NEW);
    observer.ops = &ending_ops;
    kvo_observation id;
    CHECK_OK(kvo_binding_observe_tracked(as_object(root), &observer, false, &id));
    present = id;
    CHECK_OK(kvo_remove_observer(id));
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_join(settling, NULL);
  item_destroy(root);
}
