/* ends.c - who wants to know of the end of an observation, with its reason. */
#include "registry/registry.h"

/* A function to call when an observation has ended. */
typedef struct end_record {
  kvo_index_entry entry;
  kvo_observation of;
  /** Counts the records, so that those of an observation are in their order. */
  uint64_t serial;
  kvo_end_callback ended;
  void *arg;
  bool is_death;
  /** Stays a record while the function runs, so that its module is not unloaded. */
  bool is_called;
} end_record;

static end_record *ends_record_of(const kvo_index_entry *entry) {
  return (end_record *)((uintptr_t)entry - offsetof(end_record, entry));
}

static kvo_index_key ends_key_of(const kvo_index_entry *entry) {
  return (kvo_index_key){ends_record_of(entry)->of, ends_record_of(entry)->serial};
}

/* Several, so that threads that end different observations seldom wait for each other. */
typedef struct bucket {
  kvo_lock lock;
  kvo_index records;
} bucket;

enum { ENDS_BUCKETS = 64 };
static bucket ends_buckets[ENDS_BUCKETS];

/* How many records there are: usually none, and then the end of an observation is one load longer. */
static _Atomic size_t record_count;

/* The place in the slab is in the lowest seven bits of an id, its slab in those above (ids.c). */
static bucket *ends_bucket_of(kvo_observation id) { return &ends_buckets[(id ^ id >> 8) % ENDS_BUCKETS]; }

/* The oldest record of an observation from a serial on, or NULL. The lock is held. */
static end_record *record_from(const bucket *in, kvo_observation id, uint64_t serial) {
  kvo_index_entry *at = kvo__index_from(&in->records, (kvo_index_key){id, serial});
  return at != NULL && ends_record_of(at)->of == id ? ends_record_of(at) : NULL;
}

/* The oldest record of an observation that is not called yet, and of this function and argument unless the function is NULL: the caller is
 * to call it, and to end it. */
static end_record *ends_take(kvo_observation id, kvo_end_callback ended, const void *arg) {
  bucket *in = ends_bucket_of(id);
  kvo__lock(&in->lock);
  end_record *taken = record_from(in, id, 0);
  while (taken != NULL && (taken->is_called || (ended != NULL && (taken->ended != ended || taken->arg != arg))))
    taken = record_from(in, id, taken->serial + 1);
  if (taken != NULL) taken->is_called = true;
  kvo__unlock(&in->lock);
  return taken;
}

static void ends_end(end_record *taken) {
  bucket *in = ends_bucket_of(taken->of);
  kvo__lock(&in->lock);
  kvo__index_remove(&in->records, &taken->entry);
  atomic_fetch_sub(&record_count, 1);
  kvo__unlock(&in->lock);
  kvo__free(taken);
}

void kvo__end_is_death(kvo_observation id) {
  if (atomic_load(&record_count) == 0) return;
  bucket *in = ends_bucket_of(id);
  kvo__lock(&in->lock);
  for (end_record *each = record_from(in, id, 0); each != NULL; each = record_from(in, id, each->serial + 1))
    each->is_death = true;
  kvo__unlock(&in->lock);
}

void kvo__end_tell(kvo_observation id) {
  if (atomic_load(&record_count) == 0) return;
  for (end_record *taken; (taken = ends_take(id, NULL, NULL)) != NULL; ends_end(taken))
    taken->ended(taken->is_death ? KVO_END_OBJECT_DIED : KVO_END_REMOVED, taken->arg);
}

kvo_observation kvo__end_in(const kvo_module_range *module) {
  kvo_observation found = 0;
  for (size_t i = 0; i < ENDS_BUCKETS && found == 0 && atomic_load(&record_count) > 0; i++) {
    kvo__lock(&ends_buckets[i].lock);
    kvo_index_entry *each = kvo__index_from(&ends_buckets[i].records, (kvo_index_key){0, 0});
    while (each != NULL && found == 0) {
      const end_record *record = ends_record_of(each);
      bool is_in = kvo__is_in(module, (uintptr_t)record->ended) || kvo__is_in(module, (uintptr_t)record->arg);
      if (is_in) found = record->of;
      each = kvo__index_from(&ends_buckets[i].records, (kvo_index_key){record->of, record->serial + 1});
    }
    kvo__unlock(&ends_buckets[i].lock);
  }
  return found;
}

kvo_status kvo_observation_on_end(kvo_observation observation, kvo_end_callback ended, void *arg) {
  static const char function[] = "kvo_observation_on_end";
  if (ended == NULL) return kvo__invalid(function, "ended is NULL", KVO_NOWHERE);
  end_record *made = kvo__alloc(sizeof *made);
  if (made == NULL) return kvo__fail_id(KVO_ERROR_OUT_OF_MEMORY, function, observation);
  static _Atomic uint64_t serials;
  made->of = observation;
  made->serial = atomic_fetch_add(&serials, 1) + 1;
  made->ended = ended;
  made->arg = arg;
  bucket *in = ends_bucket_of(observation);
  kvo__lock(&in->lock);
  in->records.key_of = ends_key_of;
  kvo__index_add(&in->records, &made->entry);
  atomic_fetch_add(&record_count, 1);
  kvo__unlock(&in->lock);
  /* Who ends the observation takes the id first and then the records. So if the id still names it, the record will be found. */
  if (kvo_observation_is_registered(observation)) return KVO_OK;
  end_record *taken = ends_take(observation, ended, arg);
  if (taken == NULL) return KVO_OK; /* it ended meanwhile, and `ended` was called */
  ends_end(taken);
  return kvo__fail_id(KVO_ERROR_NOT_REGISTERED, function, observation);
}
