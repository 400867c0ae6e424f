/* delivery.c - K57 to K69. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <setjmp.h>
#include <stdlib.h>
#include <time.h>

/* ------------------------------------------------------------------------------------------------------------- Loops -- */

static void count_up(panel *self, const kvo_change *change) {
  (void)change;
  document_set_pages(self->of, self->of->pages + 1);
}

static void sets_it_again(void) {
  document *letter = document_make("A letter");
  panel sidebar = {.name = "sidebar", .of = letter, .then = count_up};
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K58c: registered
  document_set_pages(letter, 1);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void copy_pages(panel *self, const kvo_change *change) {
  const document *from = (const document *)change->object;
  if (self->of->pages != from->pages) document_set_pages(self->of, from->pages);
}

static void turn_pages(panel *self, const kvo_change *change) {
  document_set_pages(self->of, ((const document *)change->object)->pages % 5 + 1);
}

static void bind(void (*how)(panel *self, const kvo_change *change)) {
  document *letter = document_make("A letter"), *reply = document_make("A reply");
  panel to_reply = {.name = "to the reply", .of = reply, .then = how};
  panel to_letter = {.name = "to the letter", .of = letter, .then = how};
  kvo_observation one = OBSERVE(&to_reply, letter, "pages", KVO_NEW); // site K60c: one direction
  kvo_observation two = OBSERVE(&to_letter, reply, "pages", KVO_NEW); // site K60c: the other direction
  document_set_pages(letter, 7);
  CHECK(reply->pages > 0);
  kvo_remove_observer(one);
  kvo_remove_observer(two);
  document_destroy(letter);
  document_destroy(reply);
}

static void values_settle(void) { bind(copy_pages); }
static void values_never_settle(void) { bind(turn_pages); }

static void set_next(panel *self, const kvo_change *change) {
  (void)change;
  if (self->of->next != NULL) document_set_pages(self->of->next, self->of->pages);
}

static void a_long_chain(void) {
  enum { COUNT = 2000 };
  document *all[COUNT];
  panel *panels = calloc(COUNT, sizeof *panels);
  if (panels == NULL) abort();
  for (size_t i = 0; i < COUNT; i++) {
    all[i] = document_make("A page");
    panels[i] = (panel){.name = "a page", .of = all[i], .then = set_next};
    OBSERVE(&panels[i], all[i], "pages", KVO_NEW);
    if (i > 0) all[i - 1]->next = all[i];
  }
  document_set_pages(all[0], 5);
  CHECK(all[COUNT - 1]->pages == 5);
  for (size_t i = 0; i < COUNT; i++) {
    kvo_remove_observer(panels[i].observation);
    document_destroy(all[i]);
  }
  free(panels);
}

/* -------------------------------------------------------------------------------------------------------------- Exits -- */

static jmp_buf outside;

static void jump_out(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  longjmp(outside, 1);
}

static void left_by_longjmp(void) {
  static panel sidebar = {.name = "sidebar", .then = jump_out}, toolbar = {.name = "toolbar"};
  static document *volatile letter;
  letter = document_make("A letter");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K62c: registered
  if (setjmp(outside) == 0) document_set_pages(letter, 2);
  document *reply = document_make("A reply");
  kvo_observation id = OBSERVE(&toolbar, reply, "pages", KVO_NEW);
  document_set_pages(reply, 2);
  CHECK(toolbar.calls == 1);
  kvo_remove_observer(id);
  document_destroy(reply);
}

static void exit_now(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  exit(0);
}

static document *kept;
static void set_at_exit(void) { document_set_pages(kept, 3); }

static void exits_in_a_callback(void) {
  static panel sidebar = {.name = "sidebar", .then = exit_now}, toolbar = {.name = "toolbar"};
  document *letter = document_make("A letter");
  kept = document_make("A reply");
  OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  OBSERVE(&toolbar, kept, "pages", KVO_NEW);
  atexit(set_at_exit); /* no lock may be held */
  document_set_pages(letter, 2);
}

/* ------------------------------------------------------------------------------------------------------------- Values -- */

static void check_order(panel *self, const kvo_change *change) {
  const document *letter = (const document *)change->object;
  CHECK(letter->pages == (change->is_prior ? 0 : 2));
  CHECK(self->calls == (change->is_prior ? 1 : 2));
}

static void order_of_delivery(void) {
  panel sidebar = {.name = "sidebar", .then = check_order};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_PRIOR);
  document_set_pages(letter, 2);
  CHECK(sidebar.calls == 2);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static void wrong_type(void) {
  panel sidebar = {.name = "sidebar"};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW);
  double number = 2.5;
  kvo_value value = {.type = "d", .size = sizeof number, .bytes = &number};
  CHECK(kvo_set_value(&letter->header, "pages", &value) == KVO_ERROR_TYPE_MISMATCH);
  CHECK(letter->pages == 0 && sidebar.calls == 0);
  kvo_remove_observer(id);
  document_destroy(letter);
}

/* -------------------------------------------------------------------------------------------------------------- Time -- */

static void take_long(panel *self, const kvo_change *change) {
  (void)self;
  (void)change;
  const struct timespec long_time = {0, 300000000};
  nanosleep(&long_time, NULL);
}

static void slow_callback(void) {
  panel sidebar = {.name = "sidebar", .then = take_long};
  document *letter = document_make("A letter");
  kvo_observation id = OBSERVE(&sidebar, letter, "pages", KVO_NEW); // site K67c: registered
  document_set_pages(letter, 2);
  kvo_remove_observer(id);
  document_destroy(letter);
}

static size_t registered;

static void register_another(panel *self, const kvo_change *change) {
  registered++;
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "pages",
                           .options = KVO_ENDS_WITH_OBJECT,
                           .callback = panel_is_told,
                           .user_data = self,
                           KVO_HERE};
  CHECK(kvo_add_observer(change->object, &observer, NULL) == KVO_OK);
}

static void registers_each_time(void) {
  panel sidebar = {.name = "sidebar", .then = register_another};
  document *letter = document_make("A letter");
  registered = 0;
  OBSERVE(&sidebar, letter, "pages", KVO_NEW | KVO_ENDS_WITH_OBJECT);
  for (int i = 1; i <= 6; i++) document_set_pages(letter, i);
  CHECK(registered == 63); /* each is told of the changes after it only: the number doubles */
  document_destroy(letter);
}

static const kvo_crash_scenario list[] = {
    IMPOSSIBLE("K57c", "each observation in C has a callback of its own: there is no central one to forget it in"),
    SCENARIO("K58c", sets_it_again, "23", .flags = KVO_CRASH_ALONE | KVO_CRASH_GOLDEN,
             .variation = "through a second property; KVO_MAX_DEPTH"),
    SCENARIO("K59c", values_settle, "", .variation = "three objects in a circle"),
    SCENARIO("K60c", values_never_settle, "24", .flags = KVO_CRASH_ALONE | KVO_CRASH_GOLDEN,
             .variation = "three objects in a circle"),
    SCENARIO("K61c", a_long_chain, "", .variation = "more objects, as far as the stack goes"),
    SCENARIO("K62c", left_by_longjmp, "25", .flags = KVO_CRASH_ALONE | KVO_CRASH_GOLDEN,
             .variation = "a C++ exception; the next change is of the same object"),
    SCENARIO("K63c", exits_in_a_callback, "", .flags = KVO_CRASH_ALONE, .variation = "_exit, pthread_exit"),
    IMPOSSIBLE("K64c", "C has no exclusive access: a setter stores, and is over"),
    SCENARIO("K65c", order_of_delivery, "",
             .variation = "several observers: newest first, before the change oldest "
                          "first"),
    SCENARIO("K66c", wrong_type, "", .variation = "other types: in C it is a status, and nothing is changed"),
    SCENARIO("K67c", slow_callback, "27", .environment = "KVO_SLOW_MS=50", .flags = KVO_CRASH_GOLDEN,
             .variation = "one that never returns"),
    IMPOSSIBLE("K68c", "there are no queues in C: callbacks run on the thread that makes the change"),
    SCENARIO("K69c", registers_each_time, "", .variation = "in the initial callback, of other keys"),
};

const crash_part crash_delivery = CRASH_PART(list);
