/* lifetimes.c - K01 to K13: objects and observers that are destroyed while an observation is registered. */
#include "scenarios.h"

static void dies_while_observed(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);       // site K01c: registered
  OBSERVE(&sidebar, letter, "author.name", KVO_NEW); // site K01c: registered too
  document_set_pages(letter, 2);
  document_destroy(letter); // site K01c: destroyed
}

static void dies_observing_itself(void) {
  document *letter = document_make("A letter");
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .options = KVO_NEW,
                           .callback = panel_is_told,
                           .user_data = letter,
                           KVO_HERE}; // site K03c: registered
  CHECK(kvo_add_observer(&letter->header, &observer, NULL) == KVO_OK);
  document_destroy(letter); // site K03c: destroyed
}

static void object_was_replaced(void) {
  panel sidebar = {.name = "sidebar"};
  document *shown = document_make("A letter"), *before = shown;
  OBSERVE(&sidebar, shown, "pages", KVO_NEW); // site K08c: registered, with the one before
  shown = document_make("A reply");
  kvo_remove_observer_for(&shown->header, &sidebar, "pages"); // site K08c: removed from the new one
  document_destroy(before);
  document_destroy(shown);
}

static void id_outlives_its_object(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation stale = OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT); // site K12c: registered
  document_destroy(letter);
  document *reply = document_make("A reply"); /* most often at the same address */
  kvo_observation own = OBSERVE(&sidebar, reply, "pages", KVO_NEW);
  kvo_remove_observer(stale); // site K12c: removed
  document_set_pages(reply, 2);
  CHECK(sidebar.calls == 1);
  kvo_remove_observer(own);
  document_destroy(reply);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K01c", dies_while_observed, "1", .contains = "pages|author.name"),
    SCENARIO("K03c", dies_observing_itself, "1", .contains = "itself"),
    SCENARIO("K08c", object_was_replaced, "2 1"),
    SCENARIO("K12c", id_outlives_its_object, "5"),
};

const crash_part crash_lifetimes = CRASH_PART(list);
