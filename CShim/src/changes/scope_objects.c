/* scope_objects.c - which objects an open scope covers: all, or a sorted array of their addresses. */
#include "changes/scopes.h"

#include <stdlib.h>

/* Set in the address of an object that has died. */
#define DEAD ((uintptr_t)1)

static int scope_objects_by_address(const void *left, const void *right) {
  uintptr_t a = *(const uintptr_t *)left, b = *(const uintptr_t *)right;
  return (a > b) - (a < b);
}

const char *kvo__scope_mistake(kvo_object *const *objects, size_t count) {
  if (objects == NULL && count > 0) return "objects is NULL";
  for (size_t i = 0; i < count; i++)
    if (objects[i] == NULL) return "an object is NULL";
  return NULL;
}

void kvo__scope_fill(kvo_open_scope *scope, kvo_object *const *objects, size_t count) {
  for (size_t i = 0; i < count; i++) scope->objects[i] = (uintptr_t)objects[i];
  if (count > 1) qsort(scope->objects, count, sizeof scope->objects[0], scope_objects_by_address);
  for (size_t i = 0; i < count; i++) /* each once */
    if (i == 0 || scope->objects[i] != scope->objects[i - 1]) scope->objects[scope->count++] = scope->objects[i];
}

/* The position of an object in the array, or where it would be. */
static size_t position(const kvo_open_scope *scope, const kvo_object *object) {
  size_t first = 0, end = scope->count;
  while (first < end) {
    size_t middle = first + (end - first) / 2;
    if ((scope->objects[middle] & ~DEAD) < (uintptr_t)object)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

bool kvo__scope_covers(const kvo_open_scope *scope, const kvo_object *object) {
  if (scope->covers_all) return !scope->is_over;
  size_t at = position(scope, object);
  return !scope->is_over && at < scope->count && scope->objects[at] == (uintptr_t)object;
}

void kvo__scope_lose(kvo_open_scope *scope, const kvo_object *object) {
  if (scope->covers_all) return;
  scope->objects[position(scope, object)] |= DEAD;
}
