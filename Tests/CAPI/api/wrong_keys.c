/* wrong_keys.c - one rule for a wrong key in C: the call returns a status and changes nothing, and the process goes on. */
#include "basket.h"

#include <kvo/kvo_bind.h>
#include <kvo/kvo_graph.h>
#include <signal.h>
#include <string.h>

static item *object;
static watcher seen;

static void ignore_value(const kvo_value *value, void *arg) {}

static kvo_status observe(const char *key_path, int options) {
  kvo_observer observer = watcher_observer(key_path, options, &seen);
  return kvo_add_observer(as_object(object), &observer, NULL);
}

static void make_object(void) {
  object = item_make(1);
  item_set_next(object, item_make(2));
}

/* ---------------------------------------------------------------------------------------------- Without a fault handler -- */

/* Checks the status of a call with a wrong key of "Item", and that it has changed nothing. */
static void check_refused(kvo_status status, const char *call, int line) {
  bool is_whole = object->value == 1 && object->next->value == 2 && !kvo_object_is_observed(as_object(object));
  if (status != KVO_ERROR_UNDEFINED_KEY || !is_whole || strstr(kvo_last_error(), "class 'Item'") == NULL)
    harness_fail(__FILE__, line, "%s: status %d, \"%s\"", call, (int)status, kvo_last_error());
}
#define REFUSED(call) check_refused(call, #call, __LINE__)

static void make_calls(void *arg) {
  make_object();
  kvo_object *of = as_object(object);
  REFUSED(kvo_get_int64(of, "valeu", &(int64_t){0}));
  REFUSED(kvo_get_value(of, "next.valeu", ignore_value, NULL));
  REFUSED(kvo_set_int64(of, "valeu", 5));
  REFUSED(kvo_set_value(of, "next.valeu", KVO_VALUE(int, 5)));
  REFUSED(kvo_validate_value(of, "valeu", KVO_VALUE(int, 5), ignore_value, NULL));
  REFUSED(kvo_bind(of, "valeu", of, "other", NULL));
  REFUSED(kvo_bind(of, "value", of, "otehr", NULL));
  REFUSED(kvo_list_insert(of, "valeu", 0, KVO_VALUE(int, 5)));
  REFUSED(kvo_members_add(of, "valeu", KVO_VALUE(int, 5)));
}

enum { LOGGED_CALLS = 4 };
static void make_logged_call(void *arg) {
  make_object();
  switch (*(int *)arg) {
    case 0: REFUSED(observe("next.valeu", KVO_NEW)); break;
    case 1: REFUSED(observe("nxet.value", KVO_NONE)); break;
    case 2: REFUSED(observe("valeu", KVO_NEW | KVO_INITIAL)); break;
    default: REFUSED(KVO_SET(object, "valeu", int, 5));
  }
}

TEST("a wrong key never ends the process: the call returns UNDEFINED_KEY, the error names the class, nothing changes") {
  child_result run = harness_run_child(make_calls, NULL, NULL);
  CHECK_EQ(run.exit_code, 0);
  CHECK_EQ(run.errors, "");
  for (int i = 0; i < LOGGED_CALLS; i++) CHECK_EQ(harness_run_child(make_logged_call, &i, NULL).exit_code, 0);
}

TEST_REPORTED("where the status is easily overlooked, the wrong key is also logged, as an error: observing, KVO_SET") {
  for (int i = 0; i < LOGGED_CALLS; i++) {
    CHECK_CONTAINS(harness_run_child(make_logged_call, &i, NULL).errors, "KVO0009 error: ");
    CHECK_EQ(harness_run_child(make_logged_call, &i, "KVO0009:abort").signal, SIGABRT);
  }
}

/* ------------------------------------------------------------------------------------- Keys that are announced by hand -- */

static void announce(void *arg) {
  make_object();
  if (arg != NULL) CHECK_OK(observe("valeu", *(int *)arg));
  CHECK_OK(kvo_will_change(as_object(object), "valeu"));
  CHECK_OK(kvo_did_change(as_object(object), "valeu"));
  CHECK_EQ(seen.calls, arg != NULL);
}

TEST_REPORTED(
    "a single key may be one that is announced by hand: a warning, and for an observer with values an error") {
  static int none = KVO_NONE, values = KVO_OLD | KVO_NEW;
  const struct {
    int *options;
    const char *logged;
  } rows[] = {{NULL, "KVO0009 warning: willChange of \"valeu\""},
              {&none, "KVO0011 warning: the observation of \"valeu\""},
              {&values, "KVO0009 error: the value of \"valeu\""}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    child_result run = harness_run_child(announce, rows[i].options, NULL);
    CHECK_EQ(run.exit_code, 0);
    CHECK_CONTAINS(run.errors, rows[i].logged);
  }
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

/* Checks the status, and that the last error names the function, the key and the class. */
static void check_error(kvo_status status, kvo_status expected, const char *function, const char *key, int line) {
  const char *text = kvo_last_error();
  bool is_whole = strncmp(text, function, strlen(function)) == 0 && text[strlen(function)] == ':' &&
                  strstr(text, key) != NULL && strstr(text, "class 'Basket'") != NULL;
  if (status != expected || !is_whole)
    harness_fail(__FILE__, line, "%s of \"%s\" is %s: \"%s\"", function, key, kvo_status_string(status), text);
}
#define FAILS(expected, function, key, ...)                                                                            \
  check_error(function(of, key, __VA_ARGS__), KVO_ERROR_##expected, #function, key, __LINE__)

TEST(
    "what cannot be done with a key returns its status, and kvo_last_error names the function, the key and the class") {
  ignore_faults();
  basket *made = basket_make("basket", 1);
  kvo_object *of = as_kvo(made);
  size_t count, indexes[] = {7, 8}, unordered[] = {1, 0};
  bool contains;
  double number;
  const kvo_value *one = KVO_VALUE(double, 1), *text = KVO_VALUE(const char *, "text"), both[] = {*one, *one},
                  nil = {"d", sizeof(double), NULL};
  FAILS(OUT_OF_RANGE, kvo_list_insert, "prices", 5, one);
  FAILS(TYPE_MISMATCH, kvo_list_insert, "prices", 0, text);
  FAILS(TYPE_MISMATCH, kvo_list_insert, "prices", 0, &nil);
  FAILS(TYPE_MISMATCH, kvo_list_insert, "names", 0, one);
  FAILS(READ_ONLY, kvo_list_insert, "fixed", 0, one);
  FAILS(TYPE_MISMATCH, kvo_list_insert, "tags", 0, one);
  FAILS(TYPE_MISMATCH, kvo_list_insert, "total", 0, one);
  CHECK_CONTAINS(kvo_last_error(), "key 'total' of class 'Basket': it is not a list");
  FAILS(UNDEFINED_KEY, kvo_list_insert, "nothing", 0, one);
  FAILS(OUT_OF_RANGE, kvo_list_remove, "prices", 0);
  FAILS(READ_ONLY, kvo_list_remove, "fixed", 0);
  FAILS(OUT_OF_RANGE, kvo_list_replace, "prices", 0, one);
  FAILS(INVALID_ARGUMENT, kvo_list_insert_several, "prices", unordered, 2, both);
  FAILS(OUT_OF_RANGE, kvo_list_remove_several, "prices", indexes, 2);
  FAILS(OUT_OF_RANGE, kvo_list_replace_several, "prices", indexes, 2, both);
  FAILS(TYPE_MISMATCH, kvo_list_count, "tags", &count);
  FAILS(TYPE_MISMATCH, kvo_list_count, "total", &count);
  FAILS(OUT_OF_RANGE, kvo_list_get, "prices", 3, ignore_value, NULL);
  FAILS(TYPE_MISMATCH, kvo_members_count, "prices", &count);
  CHECK_CONTAINS(kvo_last_error(), "key 'prices' of class 'Basket': it is not a set");
  FAILS(TYPE_MISMATCH, kvo_members_add, "tags", text);
  FAILS(TYPE_MISMATCH, kvo_members_add, "prices", one);
  FAILS(TYPE_MISMATCH, kvo_members_remove, "tags", text);
  FAILS(TYPE_MISMATCH, kvo_members_contain, "tags", text, &contains);
  FAILS(TYPE_MISMATCH, kvo_members_contain, "total", one, &contains);
  FAILS(TYPE_MISMATCH, kvo_members_for_each, "prices", ignore_value, NULL);
  FAILS(TYPE_MISMATCH, kvo_get_double, "title", &number);
  FAILS(TYPE_MISMATCH, kvo_set_value, "total", text);
  FAILS(MALFORMED_KEY_PATH, kvo_bind, "title..", of, "total", NULL);
  FAILS(UNDEFINED_KEY, kvo_bind, "titel", of, "total", NULL);
  FAILS(READ_ONLY, kvo_bind, "prices", of, "names", NULL);
  check_error(kvo_bind(of, "title", of, "totl", NULL), KVO_ERROR_UNDEFINED_KEY, "kvo_bind", "\"totl\"", __LINE__);
  CHECK_EQ(made->accesses, 0);
  CHECK_OK(kvo_get_double(of, "total", &number));
  CHECK_CONTAINS(kvo_last_error(), "\"totl\""); /* a call that succeeds leaves it as it is */
  made->allowed = 0;
  FAILS(BUSY, kvo_list_insert, "prices", 0, one);
  CHECK_CONTAINS(kvo_last_error(), kvo_status_string(KVO_ERROR_BUSY));
  made->allowed = 0;
  FAILS(BUSY, kvo_members_add, "tags", KVO_VALUE(int, 1));
  scribe to;
  kvo_list_accessors list = {.struct_size = sizeof list};
  scribe_watch(made, "prices", KVO_NONE, &to);
  CHECK_OK(kvo_object_list_accessors(of, "prices", &list));
  check_error(list.remove_at(of, 4, list.user), KVO_ERROR_OUT_OF_RANGE, "remove_at", "'prices'", __LINE__);
}

/* ------------------------------------------------------------------------------------------------------ Without diagnostics -- */

static kvo_action never(const kvo_fault *fault, void *arg) { harness_fail(__FILE__, __LINE__, "a handler is called"); }

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
