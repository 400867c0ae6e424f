/* throwing.c - C++ exceptions that leave callbacks, getters and setters: the caller catches them, no pointer dangles,
 * and reports name C++ functions. */
#include "hooked.h"
#include "shared.h"
#include "throwing.h"

/* Memory used by calls that an exception crosses is never freed: disable LeakSanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static void throw_in_callback(watcher *self, const kvo_change *change) { throw_out(); }

static void set_to_one(void *arg) { item_set_value(arg, 1); }

TEST_REPORTED(
    "an exception from a callback passes through the setter, and is KVO0025 at the next delivery, which still takes place") {
  ignore_faults();
  item *object = item_make(0), *other = item_make(0);
  watcher throwing = {.then = throw_in_callback}, older = {0}, elsewhere = {0};
  watch(object, "value", KVO_NEW, &older);
  watch(object, "value", KVO_NEW, &throwing);
  watch(other, "value", KVO_NEW, &elsewhere);
  CHECK(catch_from(set_to_one, object));
  CHECK_EQ(object->value, 1);
  CHECK_EQ(older.calls, 0);
  CHECK_EQ(faults.count, 0);
  item_set_value(other, 2);
  CHECK_EQ(elsewhere.calls, 1);
  CHECK_FAULTS(1, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_OK(kvo_cancel_observer_and_wait(throwing.id));
  item_set_value(object, 3);
  CHECK_EQ(older.calls, 1);
  CHECK_EQ(faults.count, 1);
}

static void throw_in_getter(const shared *of) { throw_out(); }

static void cut_path(void *arg) { set_next(arg, NULL); }

TEST_REPORTED("an exception from a getter in an evaluation is KVO0025, once, and nothing records any more") {
  ignore_faults();
  shared *root = shared_make(), *middle = shared_make(), *end = shared_make();
  set_next(root, middle);
  set_next(middle, end);
  _Atomic int calls = 0;
  kvo_observation id = observe(root, "slow", KVO_NEW | KVO_OLD, &calls, NULL);
  in_slow_getter = throw_in_getter;
  CHECK(catch_from(cut_path, middle));
  in_slow_getter = NULL;
  set_next(root, end);
  CHECK_FAULTS(1, KVO_FAULT_ABANDONED_DELIVERY);
  CHECK_OK(kvo_cancel_observer_and_wait(id));
  CHECK_EQ(faults.count, 1);
}

static void throw_in_setter(item *of) { throw_out(); }

TEST("an exception from a setter passes through, and is a change that notifies nobody") {
  ignore_faults();
  item *object = hooked_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NEW | KVO_OLD, &w);
  in_setter = throw_in_setter;
  CHECK(catch_from(set_to_one, object));
  CHECK_EQ(w.calls, 0);
  in_setter = NULL;
  item_set_value(object, 1);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_cancel_observer_and_wait(w.id));
  kvo_object_destroy(as_object(object));
  CHECK_EQ(faults.count, 0);
}

TEST_REPORTED("a C++ function is reported with its demangled name") {
  ignore_faults();
  misuse_in_cpp();
  CHECK_CONTAINS(faults.report, "app::misuse(unsigned long)");
}
