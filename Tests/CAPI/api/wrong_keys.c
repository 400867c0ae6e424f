/* wrong_keys.c - one rule for a wrong key in C: the call returns a status and changes nothing, and the process goes on. */
#include "basket.h"

#include <kvo/kvo_bind.h>
#include <kvo/kvo_coding.h>
#include <kvo/kvo_collection.h>
#include <kvo/kvo_fault.h>
#include <kvo/kvo_graph.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static item *object;
static watcher seen;

static void ignore_value(const kvo_value *value, void *arg) { (void)value, (void)arg; }
static void ignore_change(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

static kvo_status observe(const char *key_path, int options) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = ignore_change,
                           KVO_HERE};
  return kvo_add_observer(as_object(object), &observer, NULL);
}

static void make_object(void) {
  object = item_make(1);
  item_set_next(object, item_make(2));
}

/* ---------------------------------------------------------------------------------------------- Without a fault handler -- */

static kvo_status get(void) {
  int64_t out = 0;
  return kvo_get_int64(as_object(object), "valeu", &out);
}
static kvo_status get_value(void) { return kvo_get_value(as_object(object), "next.valeu", ignore_value, NULL); }
static kvo_status set(void) { return kvo_set_int64(as_object(object), "valeu", 5); }
static kvo_status set_path(void) { return kvo_set_value(as_object(object), "next.valeu", KVO_VALUE(int, 5)); }
static kvo_status set_by_macro(void) { return KVO_SET(object, "valeu", int, 5); }
static kvo_status validate(void) {
  return kvo_validate_value(as_object(object), "valeu", KVO_VALUE(int, 5), ignore_value, NULL);
}
static kvo_status observe_path(void) { return observe("next.valeu", KVO_NEW); }
static kvo_status observe_first(void) { return observe("nxet.value", KVO_NONE); }
static kvo_status observe_initially(void) { return observe("valeu", KVO_NEW | KVO_INITIAL); }
static kvo_status bind_to(void) { return kvo_bind(as_object(object), "valeu", as_object(object), "other", NULL); }
static kvo_status bind_from(void) { return kvo_bind(as_object(object), "value", as_object(object), "otehr", NULL); }
static kvo_status insert(void) { return kvo_list_insert(as_object(object), "valeu", 0, KVO_VALUE(int, 5)); }
static kvo_status add(void) { return kvo_members_add(as_object(object), "valeu", KVO_VALUE(int, 5)); }

static void call(void *arg) {
  kvo_status (*function)(void) = *(kvo_status(**)(void))arg;
  make_object();
  kvo_status status = function();
  const item *next = object->next;
  if (object->value != 1 || next->value != 2 || kvo_object_is_observed(as_object(object))) fputs("changed\n", stderr);
  if (status != KVO_ERROR_UNDEFINED_KEY) fprintf(stderr, "status %d\n", (int)status);
  if (strstr(kvo_last_error(), "class 'Item'") == NULL) fprintf(stderr, "error: %s\n", kvo_last_error());
  fputs("went on\n", stderr);
}

TEST(
    "a wrong key never ends the process: the call returns UNDEFINED_KEY, kvo_last_error names the class, nothing changes") {
  kvo_status (*functions[])(void) = {
      get,           get_value,         set,     set_path,  set_by_macro, validate, observe_path,
      observe_first, observe_initially, bind_to, bind_from, insert,       add};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    child_result run = harness_run_child(call, &functions[i], NULL);
    CHECK_EQ(run.signal, 0);
    const char *last = strstr(run.errors, "went on");
    bool is_good = last != NULL && strstr(run.errors, "changed") == NULL && strstr(run.errors, "status ") == NULL &&
                   strstr(run.errors, "error: class") == NULL;
    if (!is_good) harness_fail(__FILE__, __LINE__, "function %zu: %s", i, run.errors);
  }
}

TEST_REPORTED("where the status is easily overlooked, the wrong key is also logged, as an error: observing, KVO_SET") {
  kvo_status (*functions[])(void) = {observe_path, observe_first, observe_initially, set_by_macro};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    CHECK_CONTAINS(harness_run_child(call, &functions[i], NULL).errors, "KVO0009 error: ");
    CHECK_EQ(harness_run_child(call, &functions[i], "KVO0009:abort").signal, SIGABRT);
  }
}

/* ------------------------------------------------------------------------------------- Keys that are announced by hand -- */

static void announce(void *arg) {
  (void)arg;
  make_object();
  if (kvo_will_change(as_object(object), "valeu") != KVO_OK) fputs("refused\n", stderr);
  if (kvo_did_change(as_object(object), "valeu") != KVO_OK) fputs("refused\n", stderr);
}

static void observe_announced(void *arg) {
  (void)arg;
  make_object();
  if (observe("valeu", KVO_NONE) != KVO_OK) fputs("refused\n", stderr);
}

TEST_REPORTED(
    "a single key may be one that is announced by hand: observing and announcing it is a warning, and succeeds") {
  child_result run = harness_run_child(announce, NULL, NULL);
  CHECK_EQ(run.signal, 0);
  CHECK_SAME(strstr(run.errors, "refused"), NULL);
  CHECK_CONTAINS(run.errors, "KVO0009 warning: willChange of \"valeu\"");
  run = harness_run_child(observe_announced, NULL, NULL);
  CHECK_EQ(run.signal, 0);
  CHECK_SAME(strstr(run.errors, "refused"), NULL);
  CHECK_CONTAINS(run.errors, "KVO0011 warning: the observation of \"valeu\"");
}

static void announce_observed(void *arg) {
  (void)arg;
  make_object();
  kvo_observer observer = watcher_observer("valeu", KVO_OLD | KVO_NEW, &seen);
  kvo_add_observer(as_object(object), &observer, NULL);
  kvo_will_change(as_object(object), "valeu");
  kvo_did_change(as_object(object), "valeu");
  fprintf(stderr, "calls %d\n", seen.calls);
}

TEST_REPORTED("its observer is notified without values, which are an error if it wants them") {
  child_result run = harness_run_child(announce_observed, NULL, NULL);
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, "KVO0009 error: the value of \"valeu\"");
  CHECK_CONTAINS(run.errors, "calls 1");
}

/* ------------------------------------------------------------------------------------------------------ Wrong key paths -- */

TEST_REPORTED("a malformed key path, or one that comes to lead nowhere, does not end the process either") {
  make_object();
  ignore_faults();
  CHECK_STATUS(observe("next..value", KVO_NONE), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK_CONTAINS(faults.summary, "KVO0010 error: ");
  item *next = object->next;
  item_set_next(object, NULL);
  CHECK_OK(observe("next.valeu", KVO_NEW)); /* the next object may have the key */
  item_set_next(object, next);
  CHECK_CONTAINS(faults.summary, "KVO0009 error: \"next.valeu\" of Item@0x");
}

/* ---------------------------------------------------------------------------------------------------- What the error says -- */

/* Checks that the last error names the function, the key and the class. */
static void check_error(kvo_status status, const char *function, const char *key, const char *cls, int line) {
  const char *text = kvo_last_error();
  bool is_whole = status != KVO_OK && strncmp(text, function, strlen(function)) == 0 && text[strlen(function)] == ':' &&
                  strstr(text, key) != NULL && strstr(text, cls) != NULL;
  if (!is_whole) harness_fail(__FILE__, line, "%s: the error is \"%s\"", function, text);
}
#define FAILS(call, function, key) check_error(call, function, key, "class 'Basket'", __LINE__)

TEST("kvo_last_error names the function, the key and the class of whatever fails") {
  ignore_faults();
  kvo_object *basket = as_kvo(basket_make("basket", 1));
  size_t count, indexes[] = {7, 8}, unordered[] = {1, 0};
  bool contains;
  double number;
  const kvo_value *one = KVO_VALUE(double, 1), *text = KVO_VALUE(const char *, "text");
  const kvo_value both[] = {*one, *one};
  FAILS(kvo_list_insert(basket, "prices", 5, one), "kvo_list_insert", "'prices'");
  FAILS(kvo_list_insert(basket, "prices", 0, text), "kvo_list_insert", "'prices'");
  FAILS(kvo_list_insert(basket, "fixed", 0, one), "kvo_list_insert", "'fixed'");
  FAILS(kvo_list_insert(basket, "tags", 0, one), "kvo_list_insert", "'tags'");
  FAILS(kvo_list_remove(basket, "prices", 0), "kvo_list_remove", "'prices'");
  FAILS(kvo_list_replace(basket, "prices", 0, one), "kvo_list_replace", "'prices'");
  FAILS(kvo_list_insert_several(basket, "prices", unordered, 2, both), "kvo_list_insert_several", "'prices'");
  FAILS(kvo_list_remove_several(basket, "prices", indexes, 2), "kvo_list_remove_several", "'prices'");
  FAILS(kvo_list_replace_several(basket, "prices", indexes, 2, both), "kvo_list_replace_several", "'prices'");
  FAILS(kvo_list_count(basket, "tags", &count), "kvo_list_count", "'tags'");
  FAILS(kvo_list_get(basket, "prices", 3, ignore_value, NULL), "kvo_list_get", "'prices'");
  FAILS(kvo_members_count(basket, "prices", &count), "kvo_members_count", "'prices'");
  FAILS(kvo_members_add(basket, "tags", text), "kvo_members_add", "'tags'");
  FAILS(kvo_members_remove(basket, "tags", text), "kvo_members_remove", "'tags'");
  FAILS(kvo_members_contain(basket, "tags", text, &contains), "kvo_members_contain", "'tags'");
  FAILS(kvo_members_for_each(basket, "prices", ignore_value, NULL), "kvo_members_for_each", "'prices'");
  FAILS(kvo_get_double(basket, "title", &number), "kvo_get_double", "\"title\"");
  FAILS(kvo_set_value(basket, "total", text), "kvo_set_value", "\"total\"");
  FAILS(kvo_bind(basket, "title..", basket, "total", NULL), "kvo_bind", "\"title..\"");
  FAILS(kvo_bind(basket, "title", basket, "totl", NULL), "kvo_bind", "\"totl\"");
  FAILS(kvo_bind(basket, "titel", basket, "total", NULL), "kvo_bind", "\"titel\"");
  kvo_list_accessors list = {.struct_size = sizeof list};
  kvo_observer observer = {.struct_size = sizeof observer, .key_path = "prices", .callback = ignore_change};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(basket, &observer, &id));
  CHECK_OK(kvo_object_list_accessors(basket, "prices", &list));
  FAILS(list.remove_at(basket, 4, list.user), "remove_at", "'prices'");
  ((struct basket *)basket)->allowed = 0;
  FAILS(kvo_list_insert(basket, "prices", 0, one), "kvo_list_insert", "'prices'");
  ((struct basket *)basket)->allowed = 0;
  FAILS(kvo_members_add(basket, "tags", KVO_VALUE(int, 1)), "kvo_members_add", "'tags'");
}

/* ------------------------------------------------------------------------------------------------------ Without diagnostics -- */

static kvo_action never(const kvo_fault *fault, void *arg) {
  (void)fault, (void)arg;
  harness_fail(__FILE__, __LINE__, "a handler is called");
}

TEST_UNREPORTED("without diagnostics nothing is fatal, no handler is stored or called, and a program can see that") {
  CHECK(kvo_set_fault_handler(never, NULL) == NULL);
  CHECK(kvo_get_fault_handler(NULL) == NULL);
  CHECK_SAME(kvo_fault_kind_at(0), NULL);
  CHECK_STATUS(kvo_remove_observer(0), KVO_ERROR_NOT_REGISTERED);
  kvo_graph *graph;
  CHECK_STATUS(kvo_snapshot(&graph), KVO_ERROR_NO_DIAGNOSTICS);
  make_object();
  CHECK_OK(observe("value", KVO_NONE));
  item_destroy(object); /* observed: KVO0001 */
}
