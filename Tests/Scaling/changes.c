/* changes.c - the cost of a change with n observers, or of one that n paths follow. */
#include "scaling.h"

#include <kvo/kvo_bind.h>
#include <kvo/kvo_scope.h>

static listener *listeners(size_t n) { return scaling_array(n, sizeof(listener)); }

ROW("set a key with n observers") {
  item *object = item_make(0);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "value", KVO_NEW | KVO_OLD | KVO_PRIOR);
  MEASURE item_set_value(object, 1);
}

ROW("set the end of n paths") {
  item *object = item_make(0), *next = item_make(1);
  item_set_next(object, next);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "next.value", KVO_NEW | KVO_OLD);
  MEASURE item_set_value(next, 1);
}

ROW("replace an object that n paths pass through") {
  item *object = item_make(0), *next = item_make(1), *other = item_make(2);
  item_set_next(object, next);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "next.value", KVO_NEW);
  MEASURE item_set_next(object, other);
}

ROW("replace an object that n paths pass through, between other observers") {
  item *object = item_make(0), *next = item_make(1), *other = item_make(2);
  item_set_next(object, next);
  listener *all = listeners(n), *direct = listeners(n);
  for (size_t i = 0; i < n; i++) {
    listen(&all[i], as_object(object), "next.value", KVO_NEW | KVO_OLD | KVO_PRIOR);
    listen(&direct[i], as_object(other), "value", KVO_NEW);
  }
  MEASURE item_set_next(object, other);
}

static counted *path_of(int depth) {
  counted *first = counted_make(depth);
  if (depth > 0) counted_set_next(first, path_of(depth - 1));
  return first;
}

ROW("replace an object that n paths pass through, and that dies of it") {
  counted *root = path_of(2);
  counted_watcher *all = scaling_array(n, sizeof *all);
  for (size_t i = 0; i < n; i++) counted_watch(&all[i], root, 2, KVO_NEW | KVO_OLD);
  MEASURE counted_set_next(root, path_of(1));
  CHECK_EQ((int)all[0].calls, 1);
}

/* Each of n root objects leads to the hub, and on from there. */
static item **roots_of(size_t n, item *hub, const char *key_path) {
  item **roots = scaling_array(n, sizeof *roots);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) {
    roots[i] = item_make((int)i);
    item_set_next(roots[i], hub);
    listen(&all[i], as_object(roots[i]), key_path, KVO_NEW | KVO_OLD);
  }
  return roots;
}

ROW("replace what is behind a hub of n roots") {
  item *hub = item_make(0), *end = item_make(1), *other = item_make(2);
  item_set_next(hub, end);
  roots_of(n, hub, "next.next.value");
  MEASURE item_set_next(hub, other);
}

ROW("n roots leave one hub for another, newest first") {
  item *hub = item_make(0), *other = item_make(1);
  item **roots = roots_of(n, hub, "next.value");
  MEASURE for (size_t i = n; i-- > 0;) item_set_next(roots[i], other);
}

ROW("n roots leave one hub for another, at random") {
  item *hub = item_make(0), *other = item_make(1);
  item **roots = roots_of(n, hub, "next.value");
  const size_t *order = scaling_shuffled(n);
  MEASURE for (size_t i = 0; i < n; i++) item_set_next(roots[order[i]], other);
}

ROW("an object that n expressions read dies") {
  item *object = item_make(0), *next = item_make(1);
  item_set_next(object, next);
  listener *all = listeners(n);
  for (size_t i = 0; i < n; i++) listen(&all[i], as_object(object), "next.value", KVO_NEW);
  MEASURE item_destroy(next);
}

ROW("n changes are announced by hand, one within the other") {
  item *object = item_make(0);
  listener *one = listeners(1);
  listen(one, as_object(object), "value", KVO_NEW | KVO_OLD);
  MEASURE {
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_will_change(as_object(object), "value"));
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_did_change(as_object(object), "value"));
  }
}

ROW("n changes are announced by hand, and end in the order in which they began") {
  item **all = scaling_array(n, sizeof *all);
  listener *one = listeners(1);
  for (size_t i = 0; i < n; i++) {
    all[i] = item_make(0);
    listen(one, as_object(all[i]), "value", KVO_NEW | KVO_OLD);
  }
  MEASURE {
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_will_change(as_object(all[i]), "value"));
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_did_change(as_object(all[i]), "value"));
  }
}

ROW("n objects change in a scope and die in it") {
  kvo_object **all = scaling_array(n, sizeof *all);
  listener *by = listeners(n);
  for (size_t i = 0; i < n; i++) {
    all[i] = as_object(item_make(0));
    listen(&by[i], all[i], "value", KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT);
  }
  const size_t *order = scaling_shuffled(n);
  MEASURE {
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, all, n, NULL, 0));
    for (size_t i = 0; i < n; i++) item_set_value((item *)(void *)all[i], 1);
    for (size_t i = 0; i < n; i++) item_destroy((item *)(void *)all[order[i]]);
    kvo_scope_end(&scope);
  }
}

static item **summed;
static size_t summed_count;

static void sum(void *user_data, kvo_value_reader reader, void *arg) {
  int64_t all = 0, one = 0;
  for (size_t i = 0; i < summed_count; i++) {
    CHECK_OK(kvo_get_int64(as_object(summed[i]), "value", &one));
    all += one;
  }
  reader(&(kvo_value){"q", sizeof all, &all}, arg);
}

ROW("n objects change in a scope, in the order in which an expression reads them") {
  summed = scaling_array(n, sizeof *summed);
  summed_count = n;
  for (size_t i = 0; i < n; i++) summed[i] = item_make(0);
  CHECK_OK(kvo_bind_computed(as_object(item_make(0)), "value", sum, NULL, NULL, NULL));
  MEASURE {
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, (kvo_object **)(void *)summed, n, NULL, 0));
    for (size_t i = 0; i < n; i++) item_set_value(summed[i], 1);
    kvo_scope_end(&scope);
  }
}

/* Observes n paths, and returns the objects at their ends. */
static kvo_object **ends_of_paths(size_t n) {
  kvo_object **all = scaling_array(n, sizeof *all);
  listener *by = listeners(n);
  for (size_t i = 0; i < n; i++) {
    item *object = item_make(0), *next = item_make(1);
    all[i] = as_object(next);
    item_set_next(object, next);
    listen(&by[i], as_object(object), "next.value", KVO_NEW | KVO_OLD);
  }
  return all;
}

ROW("n paths change in a scope, at random") {
  kvo_object **all = ends_of_paths(n);
  const size_t *order = scaling_shuffled(n);
  MEASURE {
    kvo_scope scope;
    CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_COALESCES, all, n, NULL, 0));
    for (size_t i = 0; i < n; i++) item_set_value((item *)(void *)all[order[i]], 2);
    kvo_scope_end(&scope);
  }
}

ROW("n changes are announced by hand of keys that paths end with") {
  kvo_object **all = ends_of_paths(n);
  MEASURE {
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_will_change(all[i], "value"));
    for (size_t i = 0; i < n; i++) CHECK_OK(kvo_did_change(all[i], "value"));
  }
}
