/* dying.c - objects, observers and user data end on one thread while other threads use them. */
#include "fixture.h"
#include "staying.h"

#include <kvo/kvo_binding.h>
#include <pthread.h>

static shared *object, *leaf;
static _Atomic int calls, destroyed, working;

/* ------------------------------------------------------------------------------------------------------- Death -- */

static void set_leaf_or_die(int number) {
  while (number == 0 && working > 0) set(leaf, 1);
  if (number == 0) return;
  for (int i = 0; i < rounds(3000); i++) {
    shared *root = shared_make();
    set_next(root, leaf);
    (void)observe(root, "next.value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT, NULL, &destroyed);
    shared_destroy(root);
  }
  working--;
}

TEST("root objects of key paths die while other threads set the object at the end") {
  leaf = shared_make();
  working = THREADS - 1;
  on_threads(set_leaf_or_die);
  CHECK_EQ((int)destroyed, (THREADS - 1) * rounds(3000));
  CHECK(!kvo_object_is_observed(&leaf->header));
  shared_destroy(leaf);
}

static void live_and_die(int number) {
  for (int i = 0; i < rounds(3000); i++) {
    shared *root = shared_make(), *end = shared_make();
    set_next(root, end);
    _Atomic int notified = 0;
    kvo_observation id = observe(root, "next.value", KVO_NEW | KVO_OLD, &notified, &destroyed);
    (void)observe(end, "value", KVO_ENDS_WITH_OBJECT, NULL, &destroyed);
    set(end, number);
    shared_destroy(end);
    CHECK_EQ((int)notified, 2);
    set_next(root, NULL);
    CHECK_OK(kvo_remove_observer(id));
    shared_destroy(root);
  }
}

TEST("threads that each observe and destroy their own objects do not affect each other") {
  on_threads(live_and_die);
  CHECK_EQ((int)destroyed, 2 * THREADS * rounds(3000));
}

static _Atomic kvo_observation offered;

static void cancel_against_death(int number) {
  if (number == 0) shared_destroy(object);
  if (number == 1) (void)kvo_cancel_observer(offered);
}

TEST("a removal races with the death of its object: the user data is destroyed once") {
  for (int round = 0; round < rounds(1000); round++) {
    object = shared_make();
    set_next(object, object);
    offered = observe(object, round % 2 == 0 ? "value" : "next.value", KVO_ENDS_WITH_OBJECT, NULL, &destroyed);
    on_threads(cancel_against_death);
    CHECK_EQ((int)destroyed, round + 1);
  }
}

/* ------------------------------------------------------------------------------------------------- Evaluations -- */

static void destroy_the_object(void *finished) {
  shared_destroy(object);
  atomic_store((_Atomic int *)finished, 1);
}

TEST("the destruction of a root object waits for an evaluation on another thread, also of a removed observation") {
  object = shared_make();
  leaf = shared_make();
  set_next(object, leaf);
  _Atomic int finished = 0;
  kvo_observation id = observe(object, "slow", KVO_NEW, NULL, &destroyed);
  in_slow_getter = stay_in_getter;
  running *setter = start_staying(clear_next, leaf);
  CHECK_OK(kvo_remove_observer(id));
  running *destroyer = start_thread(destroy_the_object, &finished);
  a_moment();
  CHECK_EQ((int)finished, 0);
  end_staying(setter);
  join_thread(destroyer);
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(leaf);
}

/* A root, an intermediate object and a leaf, whose setters the program guards with a read-write lock, because C
 * programs retain nothing: setters hold it shared, destruction holds it exclusively. */
static shared *root;
static pthread_rwlock_t owning = PTHREAD_RWLOCK_INITIALIZER;

static void set_or_destroy_the_middle(int number) {
  for (int i = 0; i < rounds(number == 0 ? 500 : 4000); i++) {
    if (number == 0) {
      shared *replacement = shared_make();
      pthread_rwlock_wrlock(&owning);
      shared *middle = root->next;
      set_next(replacement, leaf);
      if (i % 2 == 0) set_next(root, replacement);
      shared_destroy(middle); /* or destroy it first, so that the path ends in nil */
      if (i % 2 != 0) set_next(root, replacement);
    } else {
      pthread_rwlock_rdlock(&owning);
      set(leaf, i);
    }
    pthread_rwlock_unlock(&owning);
  }
}

TEST("an intermediate object dies between the sets of other threads, and no change is lost") {
  root = shared_make();
  leaf = shared_make();
  set_next(root, shared_make());
  set_next(root->next, leaf);
  kvo_observation id = observe(root, "next.next.value", KVO_OLD | KVO_NEW, &calls, &destroyed);
  on_threads(set_or_destroy_the_middle);
  int replaced = rounds(500), deaths_before = replaced / 2; /* which are changes of their own */
  CHECK_EQ((int)calls, (THREADS - 1) * rounds(4000) + replaced + deaths_before);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ((int)destroyed, 1);
  shared_destroy(root->next);
  shared_destroy(root);
  shared_destroy(leaf);
}

enum { KEYS = 20 };
static shared *dying[THREADS];
static kvo_object no_object;

/* The first evaluation reads KEYS keys of each object. Later ones fail, so that its subscriptions are kept. */
static void *read_all(void *user_data) {
  bool *has_read = user_data;
  if (*has_read) kvo_track_read(&no_object, 1);
  for (int i = 0; i < THREADS && !*has_read; i++)
    for (kvo_key key = 1; key <= KEYS; key++) kvo_track_read(&dying[i]->header, key);
  return NULL;
}

static void release_nothing(void *value, void *user_data) {}
static void count_raw(const kvo_raw_change *change, void *user_data) { calls++; }
static void die_together(int number) { shared_destroy(dying[number]); }

TEST("several objects that one expression has read die at the same time: each death notifies once") {
  static const kvo_observer_ops ops = {.callback = count_raw, .evaluate = read_all, .release = release_nothing};
  object = shared_make();
  for (int round = 0; round < rounds(400); round++) {
    bool has_read = false;
    kvo_binding_observer described = {.key_path = "all", .ops = &ops, .user_data = &has_read};
    kvo_observation id;
    for (int i = 0; i < THREADS; i++) dying[i] = shared_make();
    CHECK_OK(kvo_binding_observe_tracked(&object->header, &described, false, &id));
    has_read = true;
    calls = 0;
    on_threads(die_together);
    CHECK_EQ((int)calls, THREADS);
    CHECK_OK(kvo_remove_observer(id));
  }
  shared_destroy(object);
}

/* ----------------------------------------------------------------------------------- Ends that use the runtime -- */

/* The destroy function of an observation registers, sets, looks up and removes on the same object. */
static void destroy_busily(void *user_data) {
  shared *of = user_data;
  kvo_observation id = observe_with(of, "next.value", KVO_NEW | KVO_OLD, ignore_change, NULL);
  set(of, 1);
  CHECK(kvo_object_is_observed(&of->header));
  CHECK(kvo_object_observation_count(&of->header) > 0);
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  destroyed++;
}

static void churn_busily(int number) {
  for (int i = 0; i < rounds(2000); i++) {
    kvo_observer described =
        observer_by(i % 2 == 0 ? "value" : "next.value", KVO_NEW | KVO_OLD | KVO_PRIOR, ignore_change, object);
    described.destroy = destroy_busily;
    kvo_observation id;
    CHECK_OK(kvo_add_observer(&object->header, &described, &id));
    if (number % 2 == 0) set(object, i);
    CHECK_OK(kvo_cancel_observer(id));
  }
}

TEST("user data is destroyed once and without a lock held: its destroy function may use the runtime") {
  object = shared_make();
  set_next(object, object);
  on_threads(churn_busily);
  CHECK_EQ((int)destroyed, THREADS * rounds(2000));
  CHECK(!kvo_object_is_observed(&object->header));
  shared_destroy(object);
}
