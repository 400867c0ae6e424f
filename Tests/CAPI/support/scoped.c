/* scoped.c - what the tests of changes have in common. */
#include "scoped.h"

#include <stdlib.h>

/* Local variables stay on the stack: how far a scope has been left is seen by its address there. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_stack_use_after_return=0"; }

item *a, *b, *c;

/* All that were made, so that the leak checker finds those that a test leaves behind. */
static item **made;
static size_t made_count;

static item *make_item(int value) {
  made = realloc(made, (made_count + 1) * sizeof *made);
  CHECK(made != NULL);
  return made[made_count++] = item_make(value);
}

void make_items(void) {
  ignore_faults();
  a = make_item(1);
  b = make_item(2);
  c = make_item(3);
}

void destroy_items(void) {
  item_destroy(a);
  item_destroy(b);
  item_destroy(c);
}

void set_quietly(item *object, int value) {
  will(object, "quiet");
  KVO_SET(object, "quiet", int, value);
  did(object, "quiet");
}

void replace_next(item *object, item *next) {
  kvo_frame frame;
  kvo_key key = kvo_key_hash("next", 4);
  uint32_t wants = kvo_frame_begin(&frame, as_object(object), key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  item *old = object->next;
  object->next = next;
  for (item *owned; old != NULL; old = owned) {
    owned = old->next;
    item_destroy(old);
  }
  if (wants != 0)
    kvo_frame_finish(&frame, NULL);
  else
    kvo_binding_stored(as_object(object), key);
}

void *make_of(kvo_class *cls) { return object_of(cls); }

static void *evaluate_total(void *user_data) {
  total *self = user_data;
  int *sum = calloc(1, sizeof *sum);
  for (int i = 0; i < 4 && self->of[i] != NULL; i++) {
    kvo_track_read(as_object(self->of[i]), kvo_key_hash("value", 5));
    *sum += self->of[i]->value;
  }
  return sum;
}

static void free_total(void *value, void *user_data) { free(value); }
static bool same_total(const void *one, const void *other, void *user_data) {
  return *(const int *)one == *(const int *)other;
}

static void note_total(const kvo_raw_change *change, void *user_data) {
  total *self = user_data;
  if (change->is_prior) self->priors++;
  if (change->is_prior) return;
  self->calls++;
  CHECK_SAME(change->property, NULL);
  self->old_value = change->old_value != NULL ? *(const int *)change->old_value : -1;
  self->new_value = change->new_value != NULL ? *(const int *)change->new_value : -1;
}

void watch_total(total *of, int options) {
  static const kvo_observer_ops ops = {
      .callback = note_total, .evaluate = evaluate_total, .release = free_total, .same = same_total};
  kvo_binding_observer observer = {.key_path = "total", .options = (kvo_options)options, .ops = &ops, .user_data = of};
  CHECK_OK(kvo_binding_observe_tracked(as_object(of->of[0]), &observer, true, &of->id));
}
