/* ended.c - a log of the observations that ended last, so that a report can tell a second removal from a removal of what was never
 * registered. KVO_ZOMBIES bounds its size. */
#define _GNU_SOURCE
#include "watching/ended.h"

#include "lifetimes/lifetimes.h"
#include "platform/modules.h"
#include "platform/settings.h"
#include "registry/places.h"

#include <stdlib.h>

static kvo_lock ended_lock;
/* A ring, allocated at the first end. From the C library, because it is never freed and the program may count what its allocator handed
 * out. */
static kvo_ended *ended_ring;
/* The stacks of the entries, at the same places; NULL without KVO_STACKS. */
static kvo_ended_stacks *stacks;
/* The number of the newest entry; entries are numbered from 1. */
static uint64_t last;

/* For each bucket the number of the newest entry whose object's address maps to it. */
enum { ENDED_BUCKETS = 512 };
static uint64_t ended_buckets[ENDED_BUCKETS];

static uint64_t *ended_bucket_of(const void *object) { return &ended_buckets[(uintptr_t)object / 16 % ENDED_BUCKETS]; }

/* The entry with this number, or NULL if it has been overwritten. The lock is held. */
static kvo_ended *entry_at(uint64_t number) {
  kvo__assert(kvo__holds(&ended_lock));
  return number != 0 && last - number < kvo__settings.zombies ? &ended_ring[number % kvo__settings.zombies] : NULL;
}

/* Copies as much of a string as fits, and terminates it with NUL. */
static void ended_copy(char *to, size_t size, const char *from) {
  size_t length = from != NULL ? strlen(from) : 0;
  if (length >= size) length = size - 1;
  if (length > 0) memcpy(to, from, length);
  to[length] = '\0';
}

/* The hash of the key path of a node; and in *name the property's name, which is never freed, or NULL. */
static kvo_key path_of(const kvo_node *node, const kvo_fault_observation *described, const char **name) {
  const kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  const kvo_property *property = kvo__slot_property(kvo__slot_info((kvo_slot *)(uintptr_t)slot), slot);
  *name = property != NULL ? property->name : NULL;
  return property != NULL ? property->key : kvo_key_hash(described->key_path, strlen(described->key_path));
}

static void fill_stacks(kvo_ended_stacks *of, const kvo_fault_observation *ended) {
  of->registered_count = (uint32_t)ended->frame_count;
  if (ended->frame_count > 0) memcpy(of->registered, ended->frames, ended->frame_count * sizeof *of->registered);
  of->ended_count = (uint32_t)kvo__stack_capture(of->ended, kvo__settings.stacks);
  kvo__modules_note(of->ended, of->ended_count);
  void *callback = (void *)(uintptr_t)ended->callback;
  if (callback != NULL) kvo__modules_note(&callback, 1);
}

static void ended_fill(kvo_ended *entry, kvo_ended_stacks *of, const kvo_node *node, bool by_death, kvo_place place) {
  kvo_fault_observation ended;
  kvo__describe_node(node, &ended);
  entry->id = ended.observation;
  entry->object = ended.object;
  entry->object_class = ended.object_class;
  entry->observer = ended.observer;
  entry->context = ended.context;
  entry->options = ended.options;
  entry->registered = (kvo_place){ended.file, ended.line};
  entry->ended = kvo__keep(place);
  entry->thread = kvo__thread_number();
  entry->by_death = by_death;
  entry->object_died = false; /* kvo__forget_ended comes to this entry, too */
  entry->path_hash = path_of(node, &ended, &entry->property_name);
  entry->nanoseconds = kvo__coarse_now();
  entry->callback = ended.callback;
  if (of != NULL) fill_stacks(of, &ended);
  ended_copy(entry->observer_class, sizeof entry->observer_class, ended.observer_class);
  if (entry->property_name == NULL) ended_copy(entry->path_copy, sizeof entry->path_copy, ended.key_path);
  uint64_t *bucket = ended_bucket_of(entry->object);
  entry->number = ++last;
  entry->older = *bucket;
  *bucket = entry->number;
}

static void ended_add(const kvo_node *ended, bool by_death, kvo_place place) {
  kvo__lock(&ended_lock);
  if (ended_ring == NULL) {
    ended_ring = calloc(kvo__settings.zombies, sizeof *ended_ring);
    if (kvo__settings.stacks > 0) stacks = calloc(kvo__settings.zombies, sizeof *stacks);
  }
  size_t next = (last + 1) % kvo__settings.zombies;
  if (ended_ring != NULL) ended_fill(&ended_ring[next], stacks != NULL ? &stacks[next] : NULL, ended, by_death, place);
  kvo__unlock(&ended_lock);
}

/* Observations of a binding's tokens are removed once only, so they are not logged. Those of classic observers have an observer that is no
 * receiver; if they may end with their object, this is an end as usual. */
static bool is_remembered(const kvo_node *node, bool by_death) {
  bool ends_with_object = (node->options & KVO_ENDS_WITH_OBJECT) != 0;
  if (!ends_with_object || kvo__is_of_c(kvo__node_ops(node))) return true;
  const kvo_node_details *details = kvo__node_details(node);
  return !by_death && details != NULL && details->address != NULL && (node->options & KVO_NODE_OF_RECEIVER) == 0;
}

void kvo__remember_ended(const kvo_node *node, bool by_death, kvo_place place) {
  if (kvo__settings.zombies == 0 || !is_remembered(node, by_death)) return;
  ended_add(node, by_death, place);
  kvo_info *info = kvo__slot_info(atomic_load_explicit(&node->slot, memory_order_relaxed));
  if ((atomic_load(&info->state) & KVO_STATE_REMEMBERED) == 0) atomic_fetch_or(&info->state, KVO_STATE_REMEMBERED);
}

void kvo__ended_await(void) {
  kvo__world_stop();
  kvo__world_resume();
}

/* The newest entry of an object, the entry before one of the same object, or NULL. The lock is held. */
static kvo_ended *of_object(kvo_ended *entry, const void *object) {
  while (entry != NULL && entry->object != object) entry = entry_at(entry->older);
  return entry;
}
static kvo_ended *newest_of(const void *object) { return of_object(entry_at(*ended_bucket_of(object)), object); }
static kvo_ended *before(const kvo_ended *entry) { return of_object(entry_at(entry->older), entry->object); }

void kvo__forget_ended(const kvo_info *info) {
  const void *object = kvo__info_instance(info);
  kvo__lock(&ended_lock);
  for (kvo_ended *entry = newest_of(object); entry != NULL && !entry->object_died; entry = before(entry))
    entry->object_died = true;
  kvo__unlock(&ended_lock);
}

bool kvo__ended_by_id(kvo_observation id, kvo_ended *out) {
  kvo__lock(&ended_lock);
  const kvo_ended *entry = entry_at(last);
  while (entry != NULL && entry->id != id) entry = entry_at(entry->number - 1);
  if (entry != NULL) *out = *entry;
  kvo__unlock(&ended_lock);
  return entry != NULL;
}

/* Whether the entry may be of this observer. One of another class is another observer, which was at the same address. */
static bool ended_is_of(const kvo_ended *entry, const kvo_observer_identity *observer) {
  if (entry->observer != observer->address) return false;
  return observer->class_name == NULL || entry->observer_class[0] == '\0' ||
         strncmp(entry->observer_class, observer->class_name, sizeof entry->observer_class - 1) == 0;
}

bool kvo__ended_find(const void *object, const kvo_observer_identity *observer, const char *key_path,
                     const void *context, bool match_context, bool of_dead, kvo_ended *out) {
  kvo_key hash = kvo_key_hash(key_path, strlen(key_path));
  bool found = false;
  kvo__lock(&ended_lock);
  for (const kvo_ended *entry = newest_of(object); entry != NULL && !found; entry = before(entry)) {
    found = ended_is_of(entry, observer) && entry->path_hash == hash && entry->object_died == of_dead &&
            (!match_context || entry->context == context);
    if (found) *out = *entry;
  }
  kvo__unlock(&ended_lock);
  return found;
}

size_t kvo__ended_at(const void *object, kvo_ended *out, size_t capacity) {
  size_t count = 0;
  kvo__lock(&ended_lock);
  for (const kvo_ended *entry = newest_of(object); entry != NULL && count < capacity; entry = before(entry))
    if (!entry->by_death && !entry->object_died) out[count++] = *entry;
  kvo__unlock(&ended_lock);
  return count;
}

void kvo__ended_stacks(const kvo_ended *entry, kvo_ended_stacks *out) {
  out->registered_count = out->ended_count = 0;
  kvo__lock(&ended_lock);
  if (stacks != NULL && entry_at(entry->number) != NULL) *out = stacks[entry->number % kvo__settings.zombies];
  kvo__unlock(&ended_lock);
}
