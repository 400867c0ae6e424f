/* tombs.c - the last observations that have ended, so that a second removal can be told from one of what never was. Bounded:
 * KVO_ZOMBIES says how many. */
#define _GNU_SOURCE
#include "tombs.h"
#include "report.h"

#include <stdlib.h>
#include <time.h>

static kvo_lock lock;
/* A ring, made at the first end. Of the C library, as it stays for ever: the program may count what its allocator gave. */
static kvo_tomb *ring;
static size_t next, used;

int64_t kvo__now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* As much as fits, ended with NUL. */
static void copy(char *to, size_t size, const char *from) {
  size_t length = from != NULL ? strlen(from) : 0;
  if (length >= size) length = size - 1;
  if (length > 0) memcpy(to, from, length);
  to[length] = '\0';
}

void kvo__tomb_add(const kvo_fault_observation *ended, bool by_death, kvo_place place) {
  if (kvo__knobs.zombies == 0) return;
  kvo_tomb tomb = {
      .id = ended->observation,
      .object = ended->object,
      .object_class = ended->object_class,
      .observer = ended->observer,
      .context = ended->context,
      .options = ended->options,
      .registered = {ended->file, ended->line},
      .ended = place,
      .thread = kvo__thread_number(),
      .by_death = by_death,
      .object_died = by_death,
      .path_hash = kvo_key_hash(ended->key_path, strlen(ended->key_path)),
      .nanoseconds = kvo__now(),
  };
  if (kvo__knobs.stacks > 0) {
    size_t most = kvo__knobs.stacks < KVO_TOMB_FRAMES ? kvo__knobs.stacks : KVO_TOMB_FRAMES;
    tomb.frame_count = (uint32_t)kvo__stack_capture(tomb.frames, most);
  }
  copy(tomb.observer_class, sizeof tomb.observer_class, ended->observer_class);
  copy(tomb.key_path, sizeof tomb.key_path, ended->key_path);
  kvo__lock(&lock);
  if (ring == NULL) ring = calloc(kvo__knobs.zombies, sizeof *ring);
  if (ring != NULL) {
    ring[next] = tomb;
    next = (next + 1) % kvo__knobs.zombies;
    if (used < kvo__knobs.zombies) used++;
  }
  kvo__unlock(&lock);
}

void kvo__tomb_await(void) {
  kvo__world_stop();
  kvo__world_resume();
}

/* Newest first; the lock is held. */
static kvo_tomb *at_age(size_t age) { return &ring[(next + used - 1 - age) % used]; }

void kvo__tombs_close(const void *object) {
  kvo__lock(&lock);
  for (size_t age = 0; age < used; age++)
    if (at_age(age)->object == object) at_age(age)->object_died = true;
  kvo__unlock(&lock);
}

bool kvo__tomb_of(kvo_observation id, kvo_tomb *out) {
  bool found = false;
  kvo__lock(&lock);
  for (size_t age = 0; age < used && !found; age++) {
    found = at_age(age)->id == id;
    if (found) *out = *at_age(age);
  }
  kvo__unlock(&lock);
  return found;
}

bool kvo__tomb_find(const void *object, const void *observer, const char *key_path, const void *context,
                    bool match_context, bool of_dead, kvo_tomb *out) {
  kvo_key hash = kvo_key_hash(key_path, strlen(key_path));
  bool found = false;
  kvo__lock(&lock);
  for (size_t age = 0; age < used && !found; age++) {
    const kvo_tomb *tomb = at_age(age);
    found = tomb->object == object && tomb->observer == observer && tomb->path_hash == hash &&
            tomb->object_died == of_dead && (!match_context || tomb->context == context);
    if (found) *out = *tomb;
  }
  kvo__unlock(&lock);
  return found;
}

size_t kvo__tombs_at(const void *object, kvo_tomb *out, size_t capacity) {
  size_t count = 0;
  kvo__lock(&lock);
  for (size_t age = 0; age < used && count < capacity; age++)
    if (at_age(age)->object == object && !at_age(age)->object_died) out[count++] = *at_age(age);
  kvo__unlock(&lock);
  return count;
}
