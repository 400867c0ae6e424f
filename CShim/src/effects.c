/* effects.c - what the callbacks of observations were seen to change in turn, for the graph. Bounded, and only while something listens
 * (events.h): the runtime cannot look into a callback. */
#include "effects.h"

#include <stdlib.h>

/* Guards the table, which is made when it is first needed: of the C library, as it stays for ever. */
static kvo_lock lock;
static kvo_effect *table;
static size_t used;

/* Where it is, or where there is room for it; NULL when there is none. Of one that was forgotten the place stays taken, so that those
 * behind it are found. */
static kvo_effect *place_of(kvo_observation by, const void *object, const char *key) {
  uint64_t hash = (by * UINT64_C(0x9e3779b97f4a7c15)) ^ kvo_key_hash(key, strlen(key)) ^ ((uintptr_t)object >> 4);
  for (size_t i = 0; i < KVO_MOST_EFFECTS; i++) {
    kvo_effect *each = &table[(hash + i) % KVO_MOST_EFFECTS];
    if (each->by == 0 || (each->by == by && each->object == object && strcmp(each->key, key) == 0)) return each;
  }
  return NULL;
}

void kvo__effect_note(kvo_observation by, const void *object, const char *key) {
  char cut[sizeof table->key];
  kvo__copy_cut(cut, sizeof cut, key);
  kvo__lock(&lock);
  if (table == NULL) table = calloc(KVO_MOST_EFFECTS, sizeof *table);
  kvo_effect *effect = table != NULL ? place_of(by, object, cut) : NULL;
  if (effect != NULL && effect->by == 0) {
    effect->by = by;
    effect->object = object;
    memcpy(effect->key, cut, sizeof cut);
    used++;
  }
  kvo__unlock(&lock);
}

void kvo__effects_forget(const void *object) {
  kvo__lock(&lock);
  for (size_t i = 0; used > 0 && i < KVO_MOST_EFFECTS; i++)
    if (table[i].object == object) table[i].object = NULL;
  kvo__unlock(&lock);
}

size_t kvo__effects_copy(kvo_effect *out, size_t capacity) {
  size_t count = 0;
  kvo__lock(&lock);
  for (size_t i = 0; used > 0 && i < KVO_MOST_EFFECTS; i++) {
    if (table[i].object == NULL) continue;
    if (count < capacity) out[count] = table[i];
    count++;
  }
  kvo__unlock(&lock);
  return count;
}
