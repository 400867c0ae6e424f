/* value_cycles.c - nested deliveries of long texts that differ only at their ends: no cycle that delivers the same again and again. */
#include "nested.h"

#include <kvo/kvo_binding.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A class of a binding with a text that ends with the number of a page. */
typedef struct story {
  kvo_object header;
  int page;
} story;

static kvo_key text_key;

static void write_text(int page, char text[256]) { snprintf(text, 256, "%0200d", page); }

/* A value is a block with the text. */
static void *copy_text(void *instance, void *user, const kvo_selection *selection) {
  (void)user, (void)selection;
  char *copy = malloc(256);
  CHECK(copy != NULL);
  write_text(((story *)instance)->page, copy);
  return copy;
}

static void release_text(void *value, void *user) { (void)user, free(value); }

static void view_text(const void *value, void *user, kvo_value_reader reader, void *arg) {
  (void)user;
  kvo_value view = {"*", sizeof value, &value};
  reader(&view, arg);
}

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_OK;
}

static void set_page(story *of, int page) {
  char text[256];
  kvo_frame frame;
  uint32_t wants = kvo_frame_begin(&frame, &of->header, text_key);
  of->page = page;
  write_text(page, text);
  if (wants != 0) kvo_frame_finish_with(&frame, NULL, text);
}

static void turn_back(const kvo_raw_change *change, void *user_data) {
  (void)change;
  story *of = user_data;
  told++;
  if (of->page > 0) set_page(of, of->page - 1);
}

TEST("where a limit stops nested changes of a long text they still end, if the texts differ only at their ends") {
  harness_environment("KVO_MAX_DEPTH", "10");
  ignore_faults();
  static const kvo_value_ops ops = {copy_text, release_text, view_text, assign_nothing, NULL};
  static const kvo_observer_ops observing = {.callback = turn_back};
  const kvo_binding_property property = {.name = "text", .type = "*", .ops = &ops};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Story", NULL, 0, &property, 1, &cls));
  story of = {.page = 0};
  CHECK_OK(kvo_object_init(&of.header, cls));
  text_key = kvo_key_hash("text", 4);
  kvo_binding_observer observer = {
      .key_path = "text", .options = KVO_NEW, .ops = &observing, .user_data = &of, KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(&of.header, text_key, &observer, &id));
  set_page(&of, 300);
  CHECK_EQ(of.page, 0);
  CHECK(told > 10);
  CHECK_EQ(faults.count, 1);
  CHECK_CONTAINS(faults.summary, "it nests 10 deep, and KVO_MAX_DEPTH allows no more");
  CHECK_OK(kvo_remove_observer(id));
  kvo_object_finish(&of.header);
}
