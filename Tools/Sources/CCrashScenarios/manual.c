/* manual.c - K70 to K78: manually announced changes. */
#include "scenarios.h"

static void did_without_will(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "wordCount", KVO_NEW); // site K70c: registered
  letter->word_count = 500;
  kvo_did_change(&letter->header, "wordCount"); // site K70c: announced
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void will_without_did(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "wordCount", KVO_NEW | KVO_ENDS_WITH_OBJECT);
  kvo_will_change(&letter->header, "wordCount"); // site K71c: announced
  letter->word_count = 500;
  document_destroy(letter);
}

typedef struct relay {
  document *letter;
  _Atomic int is_announced, is_done;
} relay;

static void announce_or_finish(size_t index, void *arg) {
  relay *of = arg;
  if (index == 0) {
    kvo_will_change(&of->letter->header, "wordCount"); // site K72c: will
    of->is_announced = 1;
    await(&of->is_done); /* the thread lives on */
    kvo_did_change(&of->letter->header, "wordCount");
    return;
  }
  await(&of->is_announced);
  of->letter->word_count = 500;
  kvo_did_change(&of->letter->header, "wordCount"); // site K72c: did
  of->is_done = 1;
}

static void will_and_did_on_two_threads(void) {
  panel sidebar = {.name = "sidebar"};
  relay of = {.letter = document_make("A letter")};
  kvo_observation id = OBSERVE(&sidebar, of.letter, "wordCount", KVO_NEW);
  kvo_crash_in_threads(2, announce_or_finish, &of);
  kvo_remove_observer(id);
  document_destroy(of.letter);
}

static void announced_twice(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  kvo_will_change(&letter->header, "pages"); // site K74c: announced by hand
  document_set_pages(letter, 2);             /* announces it too */
  kvo_did_change(&letter->header, "pages");
  CHECK(sidebar.calls == 2);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void unknown_key(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "wordCount", KVO_NEW);
  kvo_will_change(&letter->header, "wordcount"); // site K75c: announced
  letter->word_count = 500;
  kvo_did_change(&letter->header, "wordcount");
  CHECK(sidebar.calls == 0);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void replaced_in_silence(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  author *anna = author_make("Anna"), *bert = author_make("Bert"), *cleo = author_make("Cleo");
  document_set_author(letter, anna);
  kvo_observation id = OBSERVE(&sidebar, letter, "author.name", KVO_NEW | KVO_OLD); // site K76c: registered
  letter->author = bert;                                                            /* without the setter */
  document_set_author(letter, cleo);                                                /* here it is noticed */
  author_set_name(cleo, "Cleopatra");
  CHECK(sidebar.calls == 2);
  kvo_remove_observer(id);
  author_destroy(anna);
  author_destroy(bert);
  author_destroy(cleo);
  document_destroy(letter);
}

static void different_positions(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  const size_t first = 0, second = 1;
  kvo_observation id = OBSERVE(&sidebar, letter, "wordCount", KVO_NONE);
  kvo_will_change_indexes(&letter->header, KVO_CHANGE_REMOVAL, "wordCount", &first, 1); // site K77c: will
  letter->word_count--;
  kvo_did_change_indexes(&letter->header, KVO_CHANGE_REMOVAL, "wordCount", &second, 1); // site K77c: did
  CHECK(sidebar.calls == 1);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static const kvo_crash_scenario list[] = {
    SCENARIO("K70c", did_without_will, "28"),
    SCENARIO("K71c", will_without_did, "29"),
    SCENARIO("K72c", will_and_did_on_two_threads, "30"),
    SCENARIO("K74c", announced_twice, "31"),
    SCENARIO("K75c", unknown_key, "9", .ending = KVO_CRASH_ENDS_WELL, .contains = "wordCount"),
    SCENARIO("K76c", replaced_in_silence, "32"),
    SCENARIO("K77c", different_positions, "33"),
};

const crash_part crash_manual = CRASH_PART(list);
