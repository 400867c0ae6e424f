/* unobserved.c - changes that a thread announced by hand while nobody observed the key. */
#include "registry/registry.h"

/* An observer registered between a will and its did is not notified of that change, and the did is no misuse. A thread remembers this many
 * open wills; beyond that it forgets the oldest. */
enum { MAX_OPEN = 64 };
static _Thread_local struct {
  uint32_t count;
  struct {
    const kvo_object *object;
    kvo_key key;
  } wills[MAX_OPEN];
} open_wills;

void kvo__unobserved_will(const kvo_object *object, kvo_key key) {
  if (open_wills.count == MAX_OPEN) {
    open_wills.count--;
    memmove(&open_wills.wills[0], &open_wills.wills[1], open_wills.count * sizeof open_wills.wills[0]);
  }
  open_wills.wills[open_wills.count].object = object;
  open_wills.wills[open_wills.count].key = key;
  open_wills.count++;
}

bool kvo__unobserved_is_open(const kvo_object *object, kvo_key key) {
  uint32_t i = 0;
  while (i < open_wills.count && (open_wills.wills[i].object != object || open_wills.wills[i].key != key)) i++;
  return i < open_wills.count;
}

bool kvo__unobserved_did(const kvo_object *object, kvo_key key) {
  for (uint32_t i = open_wills.count; i-- > 0;)
    if (open_wills.wills[i].object == object && open_wills.wills[i].key == key) {
      open_wills.count--;
      memmove(&open_wills.wills[i], &open_wills.wills[i + 1], (open_wills.count - i) * sizeof open_wills.wills[0]);
      return true;
    }
  return false;
}

void kvo__unobserved_forget(const kvo_object *object) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < open_wills.count; i++)
    if (open_wills.wills[i].object != object) open_wills.wills[kept++] = open_wills.wills[i];
  open_wills.count = kept;
}
