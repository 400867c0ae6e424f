/* trace_nesting.c - the slices of a trace nest as what they stand for, also if a change begins in one place and is told in another. */
#include "scoped.h"
#include "traced.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line of every registration in these tests. */
static unsigned line(void) {
  watcher w;
  return watcher_observer("", 0, &w).line;
}

/* Ends the recording, and compares its slices with a text in which each @ stands for the place of the registrations. */
static void check_slices(const char *expected) {
  char *text = ended(), full[4096], *to = full;
  for (const char *at = expected; *at != '\0'; at++)
    to += at[0] == '@' ? snprintf(to, 32, "fixture.c:%u", line()) : snprintf(to, 2, "%c", *at);
  check_order(text);
  check_shape(text, full);
  free(text);
}

/* --------------------------------------------------------------------------------------------------------- By hand -- */

TEST("what a change notifies is inside it, also if changes announced by hand end in another order") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  watch(object, "other", KVO_NONE, &w);
  begin();
  kvo_will_change(as_object(object), "value");
  kvo_will_change(as_object(object), "other");
  kvo_did_change(as_object(object), "value");
  kvo_did_change(as_object(object), "other");
  size_t indexes[] = {0};
  kvo_will_change_indexes(as_object(object), KVO_CHANGE_INSERTION, "value", indexes, 1);
  kvo_did_change(as_object(object), "value");
  check_slices("(set Item.value(set Item.other)(observer @ (value)))(set Item.other(observer @ (other)))"
               "(insert into Item.value(observer @ (value)))");
}

TEST("a change that is interleaved with another has a slice that is paused, and one that is resumed") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  watch(object, "other", KVO_NONE, &w);
  begin();
  kvo_will_change(as_object(object), "value");
  kvo_will_change(as_object(object), "other");
  kvo_did_change(as_object(object), "value");
  kvo_did_change(as_object(object), "other");
  char *text = ended();
  const char *paused = strstr(text, ",\"args\":{\"paused\":true}}"), *resumed = strstr(text, ",\"resumed\":true");
  CHECK(paused != NULL && resumed != NULL && paused < resumed);
  CHECK_SAME(strstr(paused + 15, "paused"), NULL);
  CHECK_SAME(strstr(resumed + 3, "resumed"), NULL);
  const char *first = strstr(text, "\"set Item.value\"");
  CHECK(first != NULL && first < paused && strstr(first + 1, "\"set Item.value\"") == NULL);
  free(text);
}

TEST("changes announced by hand that nest have one slice each, with all that happens in between") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  watch(object, "other", KVO_NONE, &w);
  watch(object, "quiet", KVO_NONE, &w);
  begin();
  kvo_will_change(as_object(object), "value");
  kvo_will_change(as_object(object), "quiet");
  item_set_other(object, 1);
  kvo_did_change(as_object(object), "quiet");
  kvo_did_change(as_object(object), "value");
  check_slices("(set Item.value(set Item.quiet(set Item.other(observer @ (other)))(observer @ (quiet)))"
               "(observer @ (value)))");
}

static void announce_other(watcher *self, const kvo_change *change) {
  (void)self;
  kvo_will_change(change->object, "other");
}

static void end_other(watcher *self, const kvo_change *change) {
  self->then = NULL;
  kvo_did_change(change->object, "other");
}

TEST("a change announced in a callback and ended after it is not inside the callback when it is told") {
  item *object = item_make(0);
  watcher w[2] = {{.then = announce_other}, {0}};
  watch(object, "value", KVO_NONE, &w[0]);
  watch(object, "other", KVO_NONE, &w[1]);
  begin();
  item_set_value(object, 1);
  kvo_did_change(as_object(object), "other");
  check_slices("(set Item.value(observer @ (value)(set Item.other)))(set Item.other(observer @ (other)))");
}

TEST("a change announced before a callback and ended in it is told in the callback") {
  item *object = item_make(0);
  watcher w[2] = {{.then = end_other}, {0}};
  watch(object, "value", KVO_NONE, &w[0]);
  watch(object, "other", KVO_NONE, &w[1]);
  begin();
  kvo_will_change(as_object(object), "other");
  item_set_value(object, 1);
  item_set_value(object, 1);
  check_slices("(set Item.other(set Item.value(observer @ (value)(set Item.other(observer @ (other)))))"
               "(set Item.value(observer @ (value))))");
}

/* ---------------------------------------------------------------------------------------------------------- Scopes -- */

TEST("what coalesced changes notify is inside them at the end of the scope, not inside what was set meanwhile") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  watch(b, "value", KVO_NEW, &w);
  watch(c, "value", KVO_NEW, &w);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, a, b);
  for (int i = 0; i < 3; i++) item_set_value(a, i);
  item_set_value(c, 1);
  item_set_value(b, 1);
  kvo_scope_end(&scope);
  item_set_value(a, 7);
  check_slices("(set Item.value)(set Item.value(observer @ (value)))(set Item.value)"
               "(set Item.value(observer @ (value)))(set Item.value(observer @ (value)))"
               "(set Item.value(observer @ (value)))");
  destroy_items();
}

TEST(
    "the slice of a coalesced change is paused, and the one at the end of the scope is resumed and says who ended it") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  kvo_scope_end(&scope);
  char *text = ended();
  CHECK_CONTAINS(text, ",\"args\":{\"paused\":true}}");
  const char *resumed = strstr(text, "\"resumed\":true");
  CHECK(resumed != NULL);
  CHECK_CONTAINS(resumed, "\"calls\":[");
  free(text);
  destroy_items();
}

static void set_b(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  item_set_value(b, b->value + 1);
}

TEST("an observer that sets what a scope coalesces does not enclose what is notified at the scope's end") {
  make_items();
  watcher w[2] = {{.then = set_b}, {0}};
  watch(a, "value", KVO_NONE, &w[0]);
  watch(b, "value", KVO_NONE, &w[1]);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, b);
  item_set_value(a, 5);
  item_set_value(a, 6);
  kvo_scope_end(&scope);
  check_slices("(set Item.value(observer @ (value)(set Item.value)))(set Item.value(observer @ (value)))"
               "(set Item.value(observer @ (value)))");
  CHECK_EQ(w[1].calls, 1);
  destroy_items();
}

TEST("observers that are notified before a coalesced change are inside its first slice") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW | KVO_PRIOR, &w);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  item_set_value(a, 6);
  kvo_scope_end(&scope);
  check_slices("(set Item.value(observer @ (value, before)))(set Item.value(observer @ (value)))");
  destroy_items();
}

TEST("a coalesced change of an object that dies in the scope has one slice, which is ended") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  watch(b, "value", KVO_NEW, &w);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  CHECK_OK(kvo_cancel_observer(w.id)); /* that of b */
  item_destroy(a);
  item_set_value(b, 5);
  kvo_scope_end(&scope);
  item_set_value(b, 6);
  char *text = ended();
  check_order(text);
  const char *set = strstr(text, "\"set Item.value\"");
  CHECK(set != NULL && strstr(set + 1, "\"set Item.value\"") == NULL);
  free(text);
  item_destroy(b);
  item_destroy(c);
}

TEST("a recording that begins in a scope has the changes that are told at its end") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  begin();
  kvo_scope_end(&scope);
  check_slices("(set Item.value(observer @ (value)))");
  destroy_items();
}

/* ------------------------------------------------------------------------------------------------------------ Left -- */

static jmp_buf away;

static void leave(watcher *self, const kvo_change *change) {
  (void)self, (void)change;
  longjmp(away, 1);
}

TEST("a callback that is left with longjmp does not enclose what happens after it") {
  make_items();
  watcher w[2] = {{.then = leave}, {0}};
  watch(a, "value", KVO_NONE, &w[0]);
  watch(b, "value", KVO_NONE, &w[1]);
  begin();
  for (int i = 0; i < 3; i++) {
    if (setjmp(away) == 0) item_set_value(a, 1);
    item_set_value(b, 1);
  }
  check_slices("(set Item.value(observer @ (value)))(set Item.value(observer @ (value)))"
               "(set Item.value(observer @ (value)))(set Item.value(observer @ (value)))"
               "(set Item.value(observer @ (value)))(set Item.value(observer @ (value)))");
}
