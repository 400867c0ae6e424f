/* removal.c - K26 to K42. */
#include "scenarios.h"

#include <stdio.h>

static void was_never_registered(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K26c: registered
  kvo_remove_observer_for(&letter->header, &sidebar, "page");       // site K26c: removed
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void removed_twice(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K27c: registered
  kvo_remove_observer(id);                                          // site K27c: removed
  document_set_pages(letter, 2);
  kvo_remove_observer(id); // site K27c: removed again
  document_destroy(letter);
}

/* ------------------------------------------------------------------------------------------------------------- Races -- */

typedef struct race {
  kvo_observation id;
  _Atomic int successes;
} race;

static void remove_it(size_t index, void *arg) {
  race *of = arg;
  (void)index;
  if (kvo_remove_observer(of->id) == KVO_OK) of->successes++; // site K28c: removed
}

static void removed_on_two_threads(void) {
  document *letter = document_make("A letter");
  for (int round = 0; round < 50; round++) {
    panel sidebar = {.name = "sidebar"};
    race of = {.id = OBSERVE(&sidebar, letter, "pages", KVO_NEW)}; // site K28c: registered
    kvo_crash_in_threads(2, remove_it, &of);
    CHECK(of.successes == 1);
  }
  document_destroy(letter);
}

/* ------------------------------------------------------------------------------------------------- Classes, contexts -- */

static void view_close(panel *view) { kvo_remove_observer(view->observation); } // site K29c: removed again

static void editor_close(panel *editor) {
  kvo_remove_observer(editor->observation); // site K29c: removed
  view_close(editor);
}

static void removed_by_both_classes(void) {
  panel editor = {.name = "editor"};
  document *letter = document_make("A letter");
  OBSERVE(&editor, letter, "pages", KVO_NEW); // site K29c: registered
  editor_close(&editor);
  document_destroy(letter);
}

static char own_context, base_context;

static void wrong_context(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  panel_observe(&sidebar, &letter->header, "pages", KVO_NEW, &own_context, __FILE__, __LINE__); // site K30c: registered
  kvo_remove_observer_for_context(&letter->header, &sidebar, "pages", &base_context);           // site K30c: removed
  kvo_remove_observer_for_context(&letter->header, &sidebar, "pages", &own_context);
  document_destroy(letter);
}

static void ambiguous(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  panel_observe(&sidebar, &letter->header, "pages", KVO_NEW, &base_context, __FILE__, __LINE__);
  panel_observe(&sidebar, &letter->header, "pages", KVO_NEW, &own_context, __FILE__,
                __LINE__);                                     // site K31c: the one taken
  kvo_remove_observer_for(&letter->header, &sidebar, "pages"); // site K31c: removed
  kvo_remove_observer_for_context(&letter->header, &sidebar, "pages", &base_context);
  document_destroy(letter);
}

/* ------------------------------------------------------------------------------------------------------- In callbacks -- */

static void remove_own(panel *self, const kvo_change *change) {
  (void)self;
  CHECK(kvo_remove_observer(change->observation) == KVO_OK);
}

static void removed_in_the_initial_callback(void) {
  panel sidebar = {.name = "sidebar", .then = remove_own};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_INITIAL);
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 1);
  CHECK(!kvo_object_is_observed(&letter->header));
  CHECK(kvo_cancel_observer(id) == KVO_ERROR_NOT_REGISTERED);
  document_destroy(letter);
}

static void removes_itself(void) {
  panel sidebar = {.name = "sidebar", .then = remove_own}, toolbar = {.name = "toolbar"};
  document *letter = document_make("A letter");
  kvo_observation other = OBSERVE(&toolbar, letter, "pages", KVO_NEW);
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  document_set_pages(letter, 2);
  document_set_pages(letter, 3);
  CHECK(sidebar.calls == 1 && toolbar.calls == 2);
  kvo_remove_observer(other);
  document_destroy(letter);
}

static void remove_other(panel *self, const kvo_change *change) {
  (void)change;
  kvo_cancel_observer(self->other->observation);
}

static void removes_a_later_one(void) {
  panel toolbar = {.name = "toolbar"}, sidebar = {.name = "sidebar", .then = remove_other, .other = &toolbar};
  document *letter = document_make("A letter");
  OBSERVE(&toolbar, letter, "pages", KVO_NEW); /* told after the newer one */
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 1 && toolbar.calls == 0);
  kvo_remove_observer(sidebar.observation);
  document_destroy(letter);
}

static void removes_the_last_one(void) {
  panel sidebar = {.name = "sidebar", .then = remove_own};
  document *letter = document_make("A letter");
  for (int i = 1; i <= 100; i++) {
    OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_OLD);
    document_set_pages(letter, i);
    CHECK(sidebar.calls == i && letter->pages == i);
    CHECK(!kvo_object_is_observed(&letter->header));
  }
  document_destroy(letter);
}

static void removed_between_will_and_did(void) {
  panel sidebar = {.name = "sidebar"}, toolbar = {.name = "toolbar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "wordCount", KVO_NEW);
  OBSERVE(&toolbar, letter, "wordCount", KVO_NEW);
  kvo_will_change(&letter->header, "wordCount");
  kvo_remove_observer(sidebar.observation);
  letter->word_count = 500;
  kvo_did_change(&letter->header, "wordCount");
  CHECK(sidebar.calls == 0 && toolbar.calls == 1);
  kvo_remove_observer(toolbar.observation);
  document_destroy(letter);
}

static void registered_between_will_and_did(void) {
  panel sidebar = {.name = "sidebar"}, toolbar = {.name = "toolbar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "wordCount", KVO_NEW);
  kvo_will_change(&letter->header, "wordCount");
  OBSERVE(&toolbar, letter, "wordCount", KVO_NEW);
  letter->word_count = 500;
  kvo_did_change(&letter->header, "wordCount");
  CHECK(sidebar.calls == 1 && toolbar.calls == 0);
  kvo_remove_observer(sidebar.observation);
  kvo_remove_observer(toolbar.observation);
  document_destroy(letter);
}

/* ----------------------------------------------------------------------------------------------------------- Waiting -- */

typedef struct visit {
  document *letter;
  panel *sidebar;
  _Atomic int is_inside, is_over;
} visit;

static visit present;

static void stay_a_moment(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  present.is_inside = 1;
  a_moment();
  CHECK(!present.is_over);
}

static void set_or_wait(size_t index, void *arg) {
  visit *of = arg;
  if (index == 0) {
    document_set_pages(of->letter, 2);
    return;
  }
  await(&of->is_inside);
  kvo_cancel_observer_and_wait(of->sidebar->observation);
  of->is_over = 1;
}

static void waits_for_another_thread(void) {
  for (int round = 0; round < 20; round++) {
    panel sidebar = {.name = "sidebar", .then = stay_a_moment};
    present = (visit){.letter = document_make("A letter"), .sidebar = &sidebar};
    OBSERVE(&sidebar, present.letter, "pages", KVO_NEW);
    kvo_crash_in_threads(2, set_or_wait, &present);
    CHECK(sidebar.calls == 1);
    document_destroy(present.letter);
  }
}

static void wait_for_oneself(panel *self, const kvo_change *change) {
  (void)self;
  kvo_cancel_observer_and_wait(change->observation); // site K39c: waits within the callback
}

static void waits_for_itself(void) {
  panel sidebar = {.name = "sidebar", .then = wait_for_oneself};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K39c: registered
  document_set_pages(letter, 2);
  document_set_pages(letter, 3);
  CHECK(sidebar.calls == 1);
  document_destroy(letter);
}

/* Both callbacks are running before either waits. */
static _Atomic int inside, both_inside;

static void wait_for_other(panel *self, const kvo_change *change) {
  (void)change;
  if (++inside == 2) both_inside = 1;
  await(&both_inside);
  kvo_cancel_observer_and_wait(self->other->observation); // site K40c: waits for the other, which waits for it
}

static void set_own(size_t index, void *arg) {
  panel *const *panels = arg;
  document_set_pages(panels[index]->of, 2);
}

static void wait_for_each_other(void) {
  inside = both_inside = 0;
  panel left = {.name = "left", .of = document_make("A letter"), .then = wait_for_other};
  panel right = {.name = "right", .of = document_make("A reply"), .then = wait_for_other, .other = &left};
  left.other = &right;
  OBSERVE(&left, left.of, "pages", KVO_NEW);
  OBSERVE(&right, right.of, "pages", KVO_NEW);
  panel *panels[] = {&left, &right};
  kvo_crash_in_threads(2, set_own, panels);
  document_destroy(left.of);
  document_destroy(right.of);
}

/* -------------------------------------------------------------------------------------------------------------- Names -- */

static void removed_by_a_temporary_name(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  char key[16];
  snprintf(key, sizeof key, "%s", "pages");
  OBSERVE(&sidebar, letter, key, KVO_NEW);
  key[0] = '?';
  char same_key[16];
  snprintf(same_key, sizeof same_key, "pa%s", "ges");
  CHECK(kvo_remove_observer_for(&letter->header, &sidebar, same_key) == KVO_OK);
  document_destroy(letter);
}

static void removed_by_nonsense(void) {
  kvo_remove_observer(0); // site K42c: removed
  kvo_remove_observer(UINT64_C(0x1234567890));
  kvo_remove_observer(UINT64_MAX);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K26c", was_never_registered, "2", .contains = "\"pages\"", .flags = KVO_CRASH_GOLDEN,
             .variation = "another observer, another object, another context"),
    SCENARIO("K27c", removed_twice, "3", .flags = KVO_CRASH_GOLDEN,
             .variation = "by observer and key path; after hundreds of other removals"),
    SCENARIO("K28c", removed_on_two_threads, "3*50", .variation = "more threads; by observer and key path"),
    SCENARIO("K29c", removed_by_both_classes, "3", .variation = "the other way round"),
    SCENARIO("K30c", wrong_context, "2", .contains = "context", .variation = "NULL as the context"),
    SCENARIO("K31c", ambiguous, "16", .flags = KVO_CRASH_GOLDEN, .variation = "three of them"),
    SCENARIO("K32c", removed_in_the_initial_callback, "", .variation = "of a key path"),
    SCENARIO("K33c", removes_itself, "", .variation = "before the change (KVO_PRIOR)"),
    SCENARIO("K34c", removes_a_later_one, "", .variation = "an earlier one, all others"),
    SCENARIO("K35c", removes_the_last_one, "", .variation = "of a key path, of an affected key"),
    SCENARIO("K36c", removed_between_will_and_did, "", .variation = "nested pairs"),
    SCENARIO("K37c", registered_between_will_and_did, "", .variation = "nested pairs"),
    SCENARIO("K38c", waits_for_another_thread, "", .variation = "several waiters"),
    SCENARIO("K39c", waits_for_itself, "17", .flags = KVO_CRASH_GOLDEN, .variation = "in a set within the callback"),
    SCENARIO("K40c", wait_for_each_other, "17", .variation = "a circle of three"),
    SCENARIO("K41c", removed_by_a_temporary_name, "", .variation = "a key path of several keys"),
    SCENARIO("K42c", removed_by_nonsense, "8 8 8", .flags = KVO_CRASH_GOLDEN,
             .variation = "an id that another process was given"),
};

const crash_part crash_removal = CRASH_PART(list);
