/* registration.c - K43 to K56. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void undefined_key(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "titel", KVO_NEW | KVO_INITIAL); // site K43c: registered
  document_set_author(letter, author_make("Anna"));
  OBSERVE(&sidebar, letter, "author.nmae", KVO_NEW);
  CHECK(!kvo_object_is_observed(&letter->header));
  author_destroy(letter->author);
  document_destroy(letter);
}

static void malformed_paths(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  char *long_path = malloc(1 << 20);
  if (long_path == NULL) abort();
  memset(long_path, 'a', 1 << 20);
  memcpy(long_path + (1 << 20) - 4, "..b", 4);
  OBSERVE(&sidebar, letter, "author..name", KVO_NEW); // site K44c: registered
  OBSERVE(&sidebar, letter, "", KVO_NEW);
  OBSERVE(&sidebar, letter, "author.", KVO_NEW);
  OBSERVE(&sidebar, letter, ".name", KVO_NEW);
  OBSERVE(&sidebar, letter, long_path, KVO_NEW);
  free(long_path);
  document_destroy(letter);
}

static void never_notifies(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "age", KVO_NEW); // site K45c: registered
  kvo_cancel_observer(id);
  document_destroy(letter);
}

static void unsupported_setters(void) {
  static const char *const types[] = {"b4", "(u=if)", "v", "{s=b1}"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    kvo_property_spec property = {.name = "value", .type = types[i], .setter = (kvo_function)document_set_pages};
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = "Unsupported",
                           .instance_size = sizeof(document),
                           .properties = &property,
                           .property_count = 1};
    kvo_class *made = NULL;
    CHECK(kvo_class_register(&spec, &made) != KVO_OK);
    CHECK(kvo_class_find("Unsupported") == NULL);
  }
}

static void nothing_where_something_must_be(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .callback = panel_is_told,
                           .user_data = &sidebar,
                           KVO_HERE}; // site K47c: registered
  kvo_observer without_callback = observer, without_path = observer;
  memset(&without_callback.callback, 0, sizeof without_callback.callback);
  memset(&without_path.key_path, 0, sizeof without_path.key_path);
  kvo_object *nothing = NULL;
  CHECK(kvo_add_observer(nothing, &observer, NULL) == KVO_ERROR_INVALID_ARGUMENT);
  CHECK(kvo_add_observer(&letter->header, &without_callback, NULL) == KVO_ERROR_INVALID_ARGUMENT);
  CHECK(kvo_add_observer(&letter->header, &without_path, NULL) == KVO_ERROR_INVALID_ARGUMENT);
  document_destroy(letter);
}

static void no_object(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = calloc(1, sizeof *letter); /* forgotten: kvo_object_init */
  if (letter == NULL) abort();
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K48c: registered
  free(letter);
}

static void registered_twice(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation first = OBSERVE(&sidebar, letter, "pages", KVO_NEW);  // site K50.2c: registered
  kvo_observation second = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K50.2c: registered again
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 2);
  kvo_remove_observer(first);
  kvo_remove_observer(second);
  document_destroy(letter);
}

static void no_executable_memory(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  struct rlimit files, none;
  getrlimit(RLIMIT_NOFILE, &files);
  none = files;
  none.rlim_cur = 0; /* trampolines live in a memory file */
  setrlimit(RLIMIT_NOFILE, &none);
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K51c: registered
  setrlimit(RLIMIT_NOFILE, &files);
  document_set_pages(letter, 2);
  CHECK(letter->pages == 2 && sidebar.calls == 0);
  document_destroy(letter);
}

static void header_is_overwritten(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_object saved = letter->header;
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K53c: registered
  memset(&letter->header, 0, sizeof letter->header);                /* what memset over a whole structure does */
  kvo_cancel_observer(id);
  letter->header = saved; /* else there is no object to destroy: KVO0012 */
  document_destroy(letter);
}

static void header_is_restored(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_object saved = letter->header;                                /* another tool's idea of what belongs here */
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K54c: registered
  document_set_pages(letter, 2);
  letter->header = saved;
  document_set_pages(letter, 3); /* its setter is the program's own again */
  CHECK(letter->pages == 3 && sidebar.calls == 1);
  kvo_cancel_observer(id);
  document_destroy(letter);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K43c", undefined_key, "9 9", .ending = KVO_CRASH_ENDS_WELL, .contains = "title"),
    SCENARIO("K44c", malformed_paths, "10*5", .ending = KVO_CRASH_ENDS_WELL),
    SCENARIO("K45c", never_notifies, "11"),
    SCENARIO("K46c", unsupported_setters, ""),
    SCENARIO("K47c", nothing_where_something_must_be, "8*3"),
    SCENARIO("K48c", no_object, "12"),
    SCENARIO("K50.2c", registered_twice, "19", .environment = "KVO_POLICY=KVO0019:log"),
    SCENARIO("K51c", no_executable_memory, "20", .flags = KVO_CRASH_ALONE),
    SCENARIO("K53c", header_is_overwritten, "21", .flags = KVO_CRASH_ALONE),
    SCENARIO("K54c", header_is_restored, "21", .flags = KVO_CRASH_ALONE),
};

const crash_part crash_registration = CRASH_PART(list);
