/* removal.c - K26 to K42. */
#include "scenarios.h"

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

static void removed_by_nonsense(void) {
  kvo_remove_observer(0); // site K42c: removed
  kvo_remove_observer(UINT64_C(0x1234567890));
  kvo_remove_observer(UINT64_MAX);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K26c", was_never_registered, "2", .contains = "\"pages\""),
    SCENARIO("K27c", removed_twice, "3"),
    SCENARIO("K30c", wrong_context, "2", .contains = "context"),
    SCENARIO("K31c", ambiguous, "16"),
    SCENARIO("K39c", waits_for_itself, "17"),
    SCENARIO("K42c", removed_by_nonsense, "8 8 8"),
};

const crash_part crash_removal = CRASH_PART(list);
