/* memory.c - allocation through the program's allocator, and deferral of thread cancellation. */
#include "platform/platform.h"

#include <pthread.h>
#include <stdlib.h>

static void *default_allocate(size_t size, void *arg) {
  (void)arg;
  return malloc(size);
}

static void default_release(void *memory, void *arg) {
  (void)arg;
  free(memory);
}

/* Set before any other call (see kvo_set_allocator), hence without a lock. */
static struct {
  void *(*allocate)(size_t size, void *arg);
  void (*release)(void *memory, void *arg);
  void *arg;
} allocator = {default_allocate, default_release, NULL};

void kvo_set_allocator(void *(*allocate)(size_t size, void *arg), void (*release)(void *memory, void *arg), void *arg) {
  bool custom = allocate != NULL && release != NULL;
  allocator.allocate = custom ? allocate : default_allocate;
  allocator.release = custom ? release : default_release;
  allocator.arg = custom ? arg : NULL;
}

void *kvo__alloc(size_t size) {
  void *memory = allocator.allocate(size, allocator.arg);
  if (memory != NULL) memset(memory, 0, size);
  return memory;
}

void kvo__free(void *memory) {
  if (memory != NULL) allocator.release(memory, allocator.arg);
}

char *kvo__copy_string(const char *string, size_t length) {
  char *copy = kvo__alloc(length + 1);
  if (copy != NULL) memcpy(copy, string, length);
  return copy;
}

bool kvo__copy_spec(void *into, size_t size, const void *from, size_t given, size_t least) {
  memset(into, 0, size); /* also if it fails: errors name what the caller has given */
  if (given < least || given % sizeof(void *) != 0) return false;
  memcpy(into, from, given < size ? given : size);
  for (size_t i = size; i < given; i++)
    if (((const char *)from)[i] != 0) return false;
  return true;
}

/* ------------------------------------------------------------------------------------------------------ Cancellation -- */

int kvo__cancel_hold(void) {
  int before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  return before;
}

void kvo__cancel_resume(int before) { pthread_setcancelstate(before, NULL); }
