/* ends.c - who wants to know of the end of an observation, with its reason. */
#include "registry/registry.h"

/* A function to call when an observation has ended. */
typedef struct end_record {
  struct end_record *next;
  kvo_observation of;
  kvo_end_callback ended;
  void *arg;
  bool is_death;
} end_record;

typedef struct bucket {
  kvo_lock lock;
  /** Newest first. */
  end_record *first;
} bucket;

enum { BUCKETS = 64 };
static bucket buckets[BUCKETS];

/* How many records there are: usually none, and then the end of an observation is one load longer. */
static _Atomic size_t record_count;

/* The index of an id's entry is in bits 8 to 31, its shard in bits 0 to 7. */
static bucket *bucket_of(kvo_observation id) { return &buckets[(id ^ id >> 8) % BUCKETS]; }

/* Takes the oldest record of an observation, and of this function and argument unless the function is NULL. */
static end_record *take(kvo_observation id, kvo_end_callback ended, const void *arg) {
  bucket *in = bucket_of(id);
  end_record **oldest = NULL, *taken = NULL;
  kvo__lock(&in->lock);
  for (end_record **link = &in->first; *link != NULL; link = &(*link)->next)
    if ((*link)->of == id && (ended == NULL || ((*link)->ended == ended && (*link)->arg == arg))) oldest = link;
  if (oldest != NULL) {
    taken = *oldest;
    *oldest = taken->next;
    atomic_fetch_sub(&record_count, 1);
  }
  kvo__unlock(&in->lock);
  return taken;
}

void kvo__end_is_death(kvo_observation id) {
  if (atomic_load(&record_count) == 0) return;
  bucket *in = bucket_of(id);
  kvo__lock(&in->lock);
  for (end_record *each = in->first; each != NULL; each = each->next)
    if (each->of == id) each->is_death = true;
  kvo__unlock(&in->lock);
}

void kvo__end_tell(kvo_observation id) {
  if (atomic_load(&record_count) == 0) return;
  for (end_record *taken; (taken = take(id, NULL, NULL)) != NULL; kvo__free(taken))
    taken->ended(taken->is_death ? KVO_END_OBJECT_DIED : KVO_END_REMOVED, taken->arg);
}

kvo_status kvo_observation_on_end(kvo_observation observation, kvo_end_callback ended, void *arg) {
  if (ended == NULL) {
    KVO_TELL(invalid_argument, "kvo_observation_on_end", "ended is NULL", KVO_NOWHERE);
    return KVO_ERROR_INVALID_ARGUMENT;
  }
  end_record *made = kvo__alloc(sizeof *made);
  if (made == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  made->of = observation;
  made->ended = ended;
  made->arg = arg;
  bucket *in = bucket_of(observation);
  kvo__lock(&in->lock);
  made->next = in->first;
  in->first = made;
  atomic_fetch_add(&record_count, 1);
  kvo__unlock(&in->lock);
  /* Who ends the observation takes the id first and then the records. So if the id still names it, the record will be found. */
  if (kvo_observation_is_registered(observation)) return KVO_OK;
  end_record *taken = take(observation, ended, arg);
  if (taken == NULL) return KVO_OK; /* it ended meanwhile, and `ended` was called */
  kvo__free(taken);
  return KVO_ERROR_NOT_REGISTERED;
}
