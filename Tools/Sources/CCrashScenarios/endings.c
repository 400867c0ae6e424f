/* endings.c - K14 to K25: misuse during destruction, and observations that remain when the process ends. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <stdlib.h>

/* ---------------------------------------------------------------------------------------------------- At the very end -- */

static void never_ends(void) {
  static panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K16c: registered
  document_set_pages(letter, 2);
}

static void exits_while_observed(void) {
  static panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  document_set_pages(letter, 2);
}

static void ends_at_once(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K17c: registered
  kvo_cancel_observer(id);
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 0);
  document_destroy(letter);
}

static void on_the_stack(void) {
  panel sidebar = {.name = "sidebar"};
  document letter = {.title = "A letter"};
  CHECK(kvo_object_init(&letter.header, document_class()) == KVO_OK);
  OBSERVE(&sidebar, &letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT);
  document_set_pages(&letter, 2);
  CHECK(sidebar.calls == 1);
  kvo_object_finish(&letter.header);
}

/* ---------------------------------------------------------------------------------------------------------- Callbacks -- */

typedef struct death {
  document *letter;
  author *anna;
} death;

/* Thread 0 changes the end of the path, thread 1 destroys its root. */
static void destroy_or_rename(size_t index, void *arg) {
  death *of = arg;
  if (index == 1)
    document_destroy(of->letter);
  else
    author_set_name(of->anna, "Bert");
}

static void dies_during_a_callback(void) {
  for (int round = 0; round < 200; round++) {
    panel sidebar = {.name = "sidebar"};
    death of = {document_make("A letter"), author_make("Anna")};
    document_set_author(of.letter, of.anna);
    kvo_observation id = OBSERVE(&sidebar, of.letter, "author.name", KVO_NEW | KVO_ENDS_WITH_OBJECT);
    kvo_crash_in_threads(2, destroy_or_rename, &of);
    kvo_cancel_observer_and_wait(id);
    CHECK(sidebar.calls <= 1);
    author_destroy(of.anna);
  }
}

static void remove_and_free(panel *self, const kvo_change *change) {
  kvo_remove_observer(change->observation);
  (void)self;
}

static void observer_dies_in_its_callback(void) {
  panel toolbar = {.name = "toolbar"}, *sidebar = calloc(1, sizeof *sidebar);
  if (sidebar == NULL) abort();
  sidebar->then = remove_and_free;
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&toolbar, letter, "pages", KVO_NEW);
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .callback = panel_is_told,
                           .user_data = sidebar,
                           .destroy = free,
                           KVO_HERE};
  CHECK(kvo_add_observer(&letter->header, &observer, NULL) == KVO_OK);
  document_set_pages(letter, 2);
  CHECK(toolbar.calls == 1);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void destroy_it(panel *self, const kvo_change *change) {
  (void)change;
  document_destroy(self->of);
}

static void object_dies_in_its_callback(void) {
  document *letter = document_make("A letter");
  panel sidebar = {.name = "sidebar", .of = letter, .then = destroy_it};
  OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT);
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 1);
}

/* -------------------------------------------------------------------------------------------------------- Destruction -- */

static void observe_again(void *user_data) {
  panel *sidebar = user_data;
  OBSERVE(sidebar, sidebar->of, "pages", KVO_NEW); // site K22c: registered while the object is destroyed
}

static void registered_while_destroyed(void) {
  document *letter = document_make("A letter");
  panel sidebar = {.name = "sidebar", .of = letter};
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .options = KVO_ENDS_WITH_OBJECT,
                           .callback = panel_is_told,
                           .user_data = &sidebar,
                           .destroy = observe_again,
                           KVO_HERE};
  CHECK(kvo_add_observer(&letter->header, &observer, NULL) == KVO_OK);
  document_destroy(letter);
}

static void many_short_lives(size_t count) {
  panel sidebar = {.name = "sidebar"};
  for (size_t i = 0; i < count; i++) {
    document *letter = document_make("A letter");
    OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT);
    document_set_pages(letter, 1);
    document_destroy(letter);
  }
  CHECK(sidebar.calls == (int)count);
}

static void a_hundred_thousand_lives(void) {
  many_short_lives(10000);
  size_t before = kvo_crash_memory_in_use();
  many_short_lives(90000);
  CHECK(kvo_crash_memory_in_use() < before + 65536);
}

typedef struct holder {
  kvo_observation other;
} holder;

static void remove_other(void *user_data) {
  holder *of = user_data;
  CHECK(kvo_remove_observer(of->other) == KVO_OK);
}

static void destruction_removes_another(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  holder held = {OBSERVE(&sidebar, letter, "title", KVO_NEW)};
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .callback = panel_is_told,
                           .user_data = &held,
                           .destroy = remove_other,
                           KVO_HERE};
  kvo_observation id;
  CHECK(kvo_add_observer(&letter->header, &observer, &id) == KVO_OK);
  CHECK(kvo_cancel_observer(id) == KVO_OK);
  document_destroy(letter);
}

static const kvo_crash_scenario list[] = {
    IMPOSSIBLE("K14c", "in C nothing counts references: an object that is being destroyed is freed, whoever keeps its "
                       "address"),
    IMPOSSIBLE("K15c", "C has no weak references"),
    SCENARIO("K16c", never_ends, "14", .environment = "KVO_REPORT=leaks",
             .variation = "several objects; an observation of a key path"),
    SCENARIO("K17c", ends_at_once, "15", .environment = "KVO_POLICY=KVO0015:log", .variation = "with KVO_INITIAL"),
    SCENARIO("K18c", on_the_stack, "", .variation = "a static object, an array of objects"),
    SCENARIO("K19c", dies_during_a_callback, "", .variation = "the object in the middle of a path dies"),
    SCENARIO("K20c", observer_dies_in_its_callback, "", .variation = "the newest, the oldest of several"),
    SCENARIO("K21c", object_dies_in_its_callback, "", .variation = "the root of a key path"),
    SCENARIO("K22c", registered_while_destroyed, "7", .flags = KVO_CRASH_GOLDEN,
             .variation = "in a callback that the death of the object causes"),
    SCENARIO("K23c", a_hundred_thousand_lives, "", .flags = KVO_CRASH_ALONE,
             .variation = "one object observed as often"),
    SCENARIO("K24c", exits_while_observed, "", .flags = KVO_CRASH_ALONE, .variation = "with KVO_REPORT=leaks: K16c"),
    SCENARIO("K25c", destruction_removes_another, "",
             .variation = "it removes one of the same key, or destroys the "
                          "object"),
};

const crash_part crash_endings = CRASH_PART(list);
