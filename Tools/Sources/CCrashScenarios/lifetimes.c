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

static void ends_with_its_object(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT);
  document_destroy(letter);
  CHECK(kvo_cancel_observer(id) == KVO_ERROR_NOT_REGISTERED);
}

static void observe_oneself(document *letter, int options) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .options = (kvo_options)options,
                           .callback = panel_is_told,
                           .user_data = letter,
                           KVO_HERE}; // site K03c: registered
  CHECK(kvo_add_observer(&letter->header, &observer, NULL) == KVO_OK);
}

static void dies_observing_itself(void) {
  document *letter = document_make("A letter");
  observe_oneself(letter, KVO_NEW);
  document_destroy(letter); // site K03c: destroyed
}

static void dies_observing_itself_safely(void) {
  document *letter = document_make("A letter");
  observe_oneself(letter, KVO_NEW | KVO_ENDS_WITH_OBJECT);
  document_destroy(letter);
}

static void one_of_two_was_removed(void) {
  panel sidebar = {.name = "sidebar"}, toolbar = {.name = "toolbar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K05c: the one left was registered
  kvo_observation id = OBSERVE(&toolbar, letter, "pages", KVO_NEW);
  kvo_remove_observer(id);  // site K05c: the other was removed
  document_destroy(letter); // site K05c: destroyed
}

static void component_dies(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  author *anna = author_make("Anna");
  document_set_author(letter, anna);
  kvo_observation id = OBSERVE(&sidebar, letter, "author.name", KVO_NEW);
  letter->author = NULL; /* as a weak reference is cleared: in silence */
  author_destroy(anna);
  CHECK(sidebar.calls == 1);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void root_of_a_path_dies(void) {
  panel sidebar = {.name = "sidebar"};
  author *anna = author_make("Anna");
  document *letter = document_make("A letter");
  document_set_author(letter, anna);
  OBSERVE(&sidebar, letter, "author.name", KVO_NEW); // site K07c: registered
  document_destroy(letter);                          // site K07c: destroyed
  author_set_name(anna, "Bert");                     /* nothing may be left of the path */
  CHECK(sidebar.calls == 0);
  author_destroy(anna);
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

static void count_last_page(document *of) { document_set_pages(of, 0); }

static void set_while_destroyed(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT);
  document_will_be_freed = count_last_page;
  document_destroy(letter);
  document_will_be_freed = NULL;
  CHECK(sidebar.calls == 0);
}

#define NO_KNOWLEDGE                                                                                                   \
  "an observer in C is a pointer that the runtime never looks behind: it cannot know that the memory was freed; give " \
  "the observation a destroy function, or keep the observer until it is removed"

static const kvo_crash_scenario list[] = {
    SCENARIO("K01c", dies_while_observed, "1", .contains = "pages|author.name", .flags = KVO_CRASH_GOLDEN,
             .variation = "other key paths, more observers, an object in memory of the program (kvo_object_finish)"),
    SCENARIO("K02c", ends_with_its_object, "", .variation = "a key path, an expression, several at once"),
    SCENARIO("K03c", dies_observing_itself, "1", .contains = "itself", .variation = "a key path that begins with it"),
    SCENARIO("K04c", dies_observing_itself_safely, "", .variation = "a key path that begins with it"),
    SCENARIO("K05c", one_of_two_was_removed, "1", .lacks = "2 observations",
             .variation = "another order of removal; two key paths of one observer"),
    SCENARIO("K06c", component_dies, "", .variation = "in the middle of a longer path"),
    SCENARIO("K07c", root_of_a_path_dies, "1", .contains = "author.name", .variation = "longer paths; two of them"),
    SCENARIO("K08c", object_was_replaced, "2 1", .variation = "the new one is observed by another"),
    IMPOSSIBLE("K09c", NO_KNOWLEDGE),
    IMPOSSIBLE("K10c", NO_KNOWLEDGE),
    IMPOSSIBLE("K11c", NO_KNOWLEDGE),
    SCENARIO("K12c", id_outlives_its_object, "5", .flags = KVO_CRASH_GOLDEN,
             .variation = "kvo_cancel_observer, which accepts it"),
    SCENARIO("K13c", set_while_destroyed, "", .variation = "a key path through the dying object"),
};

const crash_part crash_lifetimes = CRASH_PART(list);
