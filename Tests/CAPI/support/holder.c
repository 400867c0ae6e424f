/* holder.c - see holder.h. */
#include "holder.h"

#include <stdlib.h>

holder held;
int holder_reads, holder_values;

void *holder_value(int number) {
  int *made = malloc(sizeof *made);
  CHECK(made != NULL);
  *made = number;
  holder_values++;
  return made;
}

/* The user pointer of a property is its offset in the object. */
static int *member(void *instance, void *user) { return (int *)((char *)instance + (uintptr_t)user); }

static void *copy(void *instance, void *user, const kvo_selection *selection) {
  CHECK_SAME(selection, NULL);
  holder_reads++;
  return holder_value(*member(instance, user));
}

static void release(void *value, void *user) {
  holder_values--;
  free(value);
}

static void view(const void *value, void *user, kvo_value_reader reader, void *arg) {
  reader(&(kvo_value){"i", sizeof(int), value}, arg);
}

static kvo_status assign(void *instance, void *user, const kvo_value *value) {
  *member(instance, user) = *(const int *)value->bytes;
  return KVO_OK;
}

static bool same(const void *one, const void *other, void *user) { return *(const int *)one == *(const int *)other; }

static kvo_class *holder_class(void) {
  static kvo_class *made;
  static const kvo_value_ops ops = {copy, release, view, assign, NULL}, compared = {copy, release, view, assign, same};
  kvo_binding_property properties[] = {
      {.name = "first", .type = "i", .ops = &ops, .user = (void *)offsetof(holder, first)},
      {.name = "second", .type = "i", .ops = &ops, .user = (void *)offsetof(holder, second)},
      {.name = "compared", .type = "i", .ops = &compared, .user = (void *)offsetof(holder, second)}};
  if (made == NULL)
    CHECK_OK(kvo_binding_class_register("Holder", NULL, offsetof(holder, header), properties, 3, &made));
  return made;
}

void hold(int first, int second) {
  held = (holder){.first = first, .second = second};
  kvo_object_adopt(&held.header, holder_class());
}
