/* endings.c - K14 to K25: misuse during destruction, and observations that remain when the process ends. */
#include "scenarios.h"

static void never_ends(void) {
  static panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K16c: registered
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

static const kvo_crash_scenario list[] = {
    SCENARIO("K16c", never_ends, "14", .environment = "KVO_REPORT=leaks"),
    SCENARIO("K17c", ends_at_once, "15", .environment = "KVO_POLICY=KVO0015:log"),
    SCENARIO("K22c", registered_while_destroyed, "7"),
};

const crash_part crash_endings = CRASH_PART(list);
