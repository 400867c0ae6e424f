/* trace_scopes.c - a coalesced change has two slices in a trace: where it is made, and where its observers are notified. */
#include "scoped.h"
#include "traced.h"

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

/* Its name is in the trace, because it is exported. */
void end_the_scope(kvo_scope *scope);
__attribute__((noinline)) void end_the_scope(kvo_scope *scope) {
  kvo_scope_end(scope);
  __asm__ volatile("");
}

TEST(
    "the slice of a coalesced change is paused, and the one at the end of the scope is resumed and says who ended it") {
  make_items();
  watcher w = {0};
  watch(a, "value", KVO_NEW, &w);
  begin();
  BEGIN(scope, KVO_SCOPE_COALESCES, a);
  item_set_value(a, 5);
  end_the_scope(&scope);
  char *text = ended();
  CHECK_CONTAINS(text, ",\"args\":{\"paused\":true}}");
  const char *resumed = strstr(text, "\"resumed\":true");
  CHECK(resumed != NULL);
  CHECK_CONTAINS(resumed, "\"calls\":[\"end_the_scope");
  free(text);
  destroy_items();
}

static kvo_scope prior_scope;

static void end_scope(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior) kvo_scope_end(&prior_scope);
}

TEST("a scope that is ended by an observer before the change leaves no slice open") {
  make_items();
  watcher w[2] = {{.then = end_scope}, {0}};
  watch(a, "value", KVO_PRIOR, &w[0]);
  watch(b, "value", KVO_NONE, &w[1]);
  begin();
  kvo_object *objects[] = {as_object(a)};
  CHECK_OK(kvo_scope_begin(&prior_scope, KVO_SCOPE_COALESCES, objects, 1, __FILE__, __LINE__));
  item_set_value(a, 5);
  item_set_value(b, 5);
  char *text = ended();
  check_order(text);
  const char *last = strstr(text, "\"set Item.value\"");
  while (strstr(last + 1, "\"set Item.value\"") != NULL) last = strstr(last + 1, "\"set Item.value\"");
  CHECK_CONTAINS(last, "\"calls\":["); /* it is an outermost one */
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
