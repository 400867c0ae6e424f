/* traffic.c - counts changes by key, and notifications by place of registration and by observation, while a client asks for it. */
#define _GNU_SOURCE
#include "watching/traffic.h"

#include <errno.h>
#include <stdlib.h>

kvo_traffic_row kvo__traffic_other_changes = {.is_of_changes = true}, kvo__traffic_other_notifications;

/* ------------------------------------------------------------------------------------------------------------- Rows -- */

/* A hash table with linear probing, to which rows are only added. Read without the lock, written under it. */
enum { TRAFFIC_PLACES = 2 * KVO_TRAFFIC_ROWS };
static kvo_lock rows_lock;
static kvo_traffic_row *_Atomic rows[TRAFFIC_PLACES];
static size_t row_count;

static uint64_t mixed(uint64_t hash, uint64_t with) {
  hash = (hash ^ with) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint64_t text_hash(const char *text) { return text != NULL ? kvo_key_hash(text, strlen(text)) : 0; }

/* The names of classes and files are compared by address: each is kept once. */
static uint64_t traffic_hash_of(const kvo_event_details *of, bool is_of_changes) {
  uint64_t hash = mixed(is_of_changes, (uintptr_t)of->class_name);
  hash = mixed(hash, text_hash(of->key_path));
  if (is_of_changes) return hash;
  hash = mixed(hash, (uintptr_t)of->file);
  hash = mixed(hash, of->line);
  return mixed(hash, text_hash(of->observer_class));
}

static bool same_text(const char *a, const char *b) { return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0; }

static bool is_row_of(const kvo_traffic_row *row, uint64_t hash, const kvo_event_details *of, bool is_of_changes) {
  if (row->hash != hash || row->is_of_changes != is_of_changes || row->class_name != of->class_name) return false;
  if (!same_text(row->key_path, of->key_path)) return false;
  return is_of_changes ||
         (row->file == of->file && row->line == of->line && same_text(row->observer_class, of->observer_class));
}

/* The row, or NULL; and the place where it is or would be. */
static kvo_traffic_row *traffic_find(uint64_t hash, const kvo_event_details *of, bool is_of_changes, size_t *place) {
  for (size_t i = (size_t)hash % TRAFFIC_PLACES;; i = (i + 1) % TRAFFIC_PLACES) {
    kvo_traffic_row *row = atomic_load_explicit(&rows[i], memory_order_acquire);
    *place = i;
    if (row == NULL || is_row_of(row, hash, of, is_of_changes)) return row;
  }
}

/* NULL without memory. From the C library, because the program may count what its allocator handed out. */
static kvo_traffic_row *make_row(uint64_t hash, const kvo_event_details *of, bool is_of_changes) {
  const char *observer_class = is_of_changes ? NULL : of->observer_class;
  size_t key_size = strlen(of->key_path) + 1, class_size = observer_class != NULL ? strlen(observer_class) + 1 : 0;
  kvo_traffic_row *made = calloc(1, sizeof *made + key_size + class_size);
  if (made == NULL) return NULL;
  char *text = (char *)(made + 1);
  made->hash = hash;
  made->is_of_changes = is_of_changes;
  made->class_name = of->class_name;
  made->key_path = memcpy(text, of->key_path, key_size);
  if (observer_class != NULL) made->observer_class = memcpy(text + key_size, observer_class, class_size);
  made->file = is_of_changes ? NULL : of->file;
  made->line = is_of_changes ? 0 : of->line;
  return made;
}

static kvo_traffic_row *row_of(const kvo_event_details *of, bool is_of_changes) {
  uint64_t hash = traffic_hash_of(of, is_of_changes);
  size_t place;
  kvo_traffic_row *row = traffic_find(hash, of, is_of_changes, &place);
  if (row != NULL) return row;
  kvo__lock(&rows_lock);
  row = traffic_find(hash, of, is_of_changes, &place);
  if (row == NULL && row_count < KVO_TRAFFIC_ROWS && (row = make_row(hash, of, is_of_changes)) != NULL) {
    row_count++;
    atomic_store_explicit(&rows[place], row, memory_order_release);
  }
  kvo__unlock(&rows_lock);
  if (row != NULL) return row;
  return is_of_changes ? &kvo__traffic_other_changes : &kvo__traffic_other_notifications;
}

void kvo__traffic_visit(void (*visit)(const kvo_traffic_row *row, void *arg), void *arg) {
  for (size_t i = 0; i < TRAFFIC_PLACES; i++) {
    const kvo_traffic_row *row = atomic_load_explicit(&rows[i], memory_order_acquire);
    if (row != NULL) visit(row, arg);
  }
}

/* ----------------------------------------------------------------------------------------------------- Observations -- */

typedef struct counted {
  /** 0 in a free place. */
  kvo_observation observation;
  uint64_t count;
  kvo_traffic_row *row;
} counted;

/* Hash tables with linear probing, each under its lock. */
enum { SHARDS = 16, FIRST = 64, TRAFFIC_MOST = KVO_TRAFFIC_OBSERVATIONS / SHARDS };
typedef struct shard {
  kvo_lock lock;
  size_t used, capacity;
  counted *all;
} shard;
static shard shards[SHARDS];

static uint64_t id_hash(kvo_observation id) { return mixed(0, id); }
static shard *shard_of(kvo_observation id) { return &shards[id_hash(id) >> 60]; }

/* The place where an observation is or would be. There is a free one. */
static size_t traffic_place_of(const shard *in, kvo_observation id) {
  size_t i = (size_t)id_hash(id) & (in->capacity - 1);
  while (in->all[i].observation != 0 && in->all[i].observation != id) i = (i + 1) & (in->capacity - 1);
  return i;
}

/* Makes room for one more; false at the limit, and without memory. */
static bool traffic_make_room(shard *in) {
  if (in->used == TRAFFIC_MOST) return false;
  if (2 * (in->used + 1) <= in->capacity) return true;
  shard larger = {.capacity = in->capacity == 0 ? FIRST : 2 * in->capacity};
  larger.all = calloc(larger.capacity, sizeof *larger.all);
  if (larger.all == NULL) return false;
  for (size_t i = 0; i < in->capacity; i++)
    if (in->all[i].observation != 0) larger.all[traffic_place_of(&larger, in->all[i].observation)] = in->all[i];
  free(in->all);
  in->all = larger.all;
  in->capacity = larger.capacity;
  return true;
}

/* Counts a notification of an observation, and returns the row of its place. */
static kvo_traffic_row *count_one(const kvo_event_details *of) {
  shard *in = shard_of(of->observation);
  kvo__lock(&in->lock);
  counted *found = in->capacity > 0 ? &in->all[traffic_place_of(in, of->observation)] : NULL;
  kvo_traffic_row *row = NULL;
  if (found != NULL && found->observation != 0) {
    found->count++;
    row = found->row;
  }
  kvo__unlock(&in->lock);
  if (row != NULL) return row;
  row = row_of(of, false);
  kvo__lock(&in->lock);
  /* Its end, if it comes later than this question, takes it out. */
  if (kvo_observation_is_registered(of->observation) && traffic_make_room(in)) {
    counted *place = &in->all[traffic_place_of(in, of->observation)];
    in->used += place->observation == 0;
    *place = (counted){of->observation, place->count + 1, row};
  }
  kvo__unlock(&in->lock);
  return row;
}

static void forget(kvo_observation id) {
  shard *in = shard_of(id);
  kvo__lock(&in->lock);
  size_t hole = in->capacity > 0 ? traffic_place_of(in, id) : 0;
  if (in->capacity > 0 && in->all[hole].observation != 0) {
    size_t mask = in->capacity - 1;
    in->used--;
    /* Moves those after it up that would not be found behind a free place. */
    for (size_t i = (hole + 1) & mask; in->all[i].observation != 0; i = (i + 1) & mask) {
      size_t first = (size_t)id_hash(in->all[i].observation) & mask;
      if (((i - first) & mask) < ((i - hole) & mask)) continue;
      in->all[hole] = in->all[i];
      hole = i;
    }
    in->all[hole] = (counted){0, 0, NULL};
  }
  kvo__unlock(&in->lock);
}

bool kvo__traffic_of(kvo_observation observation, uint64_t *count) {
  shard *in = shard_of(observation);
  kvo__lock(&in->lock);
  const counted *found = in->capacity > 0 ? &in->all[traffic_place_of(in, observation)] : NULL;
  bool is_there = found != NULL && found->observation != 0;
  *count = is_there ? found->count : 0;
  bool is_known = is_there || in->used < TRAFFIC_MOST;
  kvo__unlock(&in->lock);
  return is_known;
}

/* ----------------------------------------------------------------------------------------------------------- Events -- */

static void traffic_add(_Atomic uint64_t *to, uint64_t amount) {
  atomic_fetch_add_explicit(to, amount, memory_order_relaxed);
}

void kvo__traffic_note(const kvo_event_details *details) {
  if (details->moment == KVO_MOMENT_CHANGE_BEGINS) traffic_add(&row_of(details, true)->count, 1);
  if (details->moment == KVO_MOMENT_ENDED) forget(details->observation);
}

kvo_traffic_call kvo__traffic_begin(const kvo_event_details *details) {
  kvo_traffic_call call = {NULL, 0};
  if ((kvo__attended() & KVO_TAP_TRAFFIC) == 0) return call;
  int error = errno;
  call.row = count_one(details);
  traffic_add(&call.row->count, 1);
  call.begun = kvo__now();
  errno = error;
  return call;
}

void kvo__traffic_end(const kvo_traffic_call *call) {
  if (call->row == NULL) return;
  uint64_t took = (uint64_t)(kvo__now() - call->begun);
  traffic_add(&call->row->nanoseconds, took);
  uint64_t longest = atomic_load_explicit(&call->row->longest, memory_order_relaxed);
  while (took > longest && !atomic_compare_exchange_weak(&call->row->longest, &longest, took)) continue;
}

/* -------------------------------------------------------------------------------------------------- Beginning and end -- */

static void clear(kvo_traffic_row *row) {
  atomic_store(&row->count, 0);
  atomic_store(&row->nanoseconds, 0);
  atomic_store(&row->longest, 0);
}

void kvo__traffic_start(void) {
  /* What was counted before, or by a notification that was in progress then; or by the parent of this process. */
  for (shard *each = shards; each != shards + SHARDS; each++) {
    kvo__lock(&each->lock);
    free(each->all);
    each->all = NULL;
    each->used = each->capacity = 0;
    kvo__unlock(&each->lock);
  }
  for (size_t i = 0; i < TRAFFIC_PLACES; i++) {
    kvo_traffic_row *row = atomic_load(&rows[i]);
    if (row != NULL) clear(row);
  }
  clear(&kvo__traffic_other_changes);
  clear(&kvo__traffic_other_notifications);
  atomic_fetch_or(&kvo__attention, KVO_TAP_TRAFFIC);
}

void kvo__traffic_stop(void) { atomic_fetch_and(&kvo__attention, ~(uint32_t)KVO_TAP_TRAFFIC); }

void kvo__traffic_forked(void) { atomic_fetch_and(&kvo__attention, ~(uint32_t)KVO_TAP_TRAFFIC); }
