/* ids.c - 64-bit ids of observations: never 0, never reused, resolved in constant time without a lock.
 *
 * An id is generation (32 bits, the highest 0) | entry (24) | shard (8). An entry whose generations are used up is retired for ever. Shards
 * reduce contention between threads that register at the same time. */
#include "registry/registry.h"

enum { SHARDS = 16, CHUNK = 1024, CHUNKS = 1 << 14 };

/* The entries of a chunk, in two arrays, because an entry of a struct would have 4 bytes more. */
typedef struct chunk {
  /** In a free entry the index + 1 of the next free one, otherwise the address of the node. */
  _Atomic uint64_t next_or_node[CHUNK];
  /** The generation of the last id given, and above it NAMES_A_NODE while that id names a node. The thread that clears the bit owns the
   * entry. */
  _Atomic uint32_t state[CHUNK];
} chunk;

#define NAMES_A_NODE (UINT32_C(1) << 31)
#define LAST_GENERATION (NAMES_A_NODE - 1)

/* Where an entry is; both NULL if it does not exist. */
typedef struct entry {
  _Atomic uint64_t *next_or_node;
  _Atomic uint32_t *state;
} entry;

typedef struct shard {
  /** The index + 1 of the first free entry, or 0; in the upper half a count of changes, which prevents the ABA problem: a head that was
   * removed and added again compares as different. */
  _Atomic uint64_t free;
  _Atomic uint32_t used;
  /** How many threads look for a node of this shard, and the lock that each of them holds: who claims an id waits for them. */
  _Atomic uint32_t lookers;
  kvo_lock looking;
  chunk *_Atomic chunks[CHUNKS];
} __attribute__((aligned(64))) shard;

static shard shards[SHARDS];

static shard *own_shard(void) {
  const kvo_thread *self = kvo__thread();
  return &shards[self != NULL ? self->serial % SHARDS : 0];
}

/* None for an index that has never been used. */
static entry entry_at(shard *in, uint32_t index) {
  chunk *at = index / CHUNK < CHUNKS ? atomic_load_explicit(&in->chunks[index / CHUNK], memory_order_acquire) : NULL;
  return at != NULL ? (entry){&at->next_or_node[index % CHUNK], &at->state[index % CHUNK]} : (entry){NULL, NULL};
}

static uint32_t generation_of(entry of) {
  return atomic_load_explicit(of.state, memory_order_relaxed) & LAST_GENERATION;
}

static kvo_node *node_of(entry of) {
  return (kvo_node *)(uintptr_t)atomic_load_explicit(of.next_or_node, memory_order_relaxed);
}

static uint64_t changed(uint64_t head, uint32_t first) { return ((head >> 32) + 1) << 32 | first; }

static void give_back(shard *in, entry owned, uint32_t index) {
  if (generation_of(owned) == LAST_GENERATION) return;
  uint64_t head = atomic_load_explicit(&in->free, memory_order_relaxed);
  do atomic_store_explicit(owned.next_or_node, (uint32_t)head, memory_order_relaxed);
  while (!atomic_compare_exchange_weak(&in->free, &head, changed(head, index + 1)));
}

/* Removes the first entry from the free list; false if it is empty. */
static bool take_back(shard *in, uint32_t *index) {
  uint64_t head = atomic_load(&in->free);
  while ((uint32_t)head != 0) {
    *index = (uint32_t)head - 1;
    /* If another thread has taken the entry, this may be the address of a node; but then the head has changed and the exchange fails. */
    uint64_t next = atomic_load_explicit(entry_at(in, *index).next_or_node, memory_order_relaxed);
    if (atomic_compare_exchange_weak(&in->free, &head, changed(head, (uint32_t)next))) return true;
  }
  return false;
}

/* Takes the first entry that was never used; false without memory, or when the shard is full. */
static bool take_new(shard *in, uint32_t *index) {
  *index = atomic_load(&in->used);
  do
    if (*index / CHUNK >= CHUNKS) return false;
  while (!atomic_compare_exchange_weak(&in->used, index, *index + 1));
  if (entry_at(in, *index).state != NULL) return true;
  chunk *made = kvo__alloc(sizeof *made), *present = NULL;
  if (made != NULL && !atomic_compare_exchange_strong(&in->chunks[*index / CHUNK], &present, made)) {
    kvo__free(made); /* another thread has added the chunk */
    return true;
  }
  return made != NULL; /* if not, one entry is lost */
}

static entry entry_of(kvo_observation id, shard **in, uint32_t *index) {
  uint32_t number = id & 0xff;
  if (number >= SHARDS || id >> 32 > LAST_GENERATION) return (entry){NULL, NULL};
  *in = &shards[number];
  *index = (id >> 8) & 0xffffff;
  return entry_at(*in, *index);
}

/* A thread keeps one free entry for itself, so that its next registration needs no atomic read-modify-write. */
static bool take_kept(uint32_t *index, shard **in) {
  kvo_thread *self = kvo__own.thread;
  if (self == NULL || self->kept_id == 0) return false;
  entry_of(self->kept_id, in, index);
  self->kept_id = 0;
  return true;
}

static void keep_or_give_back(shard *in, entry owned, uint32_t index) {
  kvo_thread *self = kvo__own.thread;
  if (self != NULL && self->kept_id == 0 && generation_of(owned) != LAST_GENERATION)
    self->kept_id = (uint64_t)1 << 32 | (uint64_t)index << 8 | (uint64_t)(in - shards);
  else
    give_back(in, owned, index);
}

void kvo__id_thread_end(const kvo_thread *thread) {
  shard *in = NULL;
  uint32_t index = 0;
  if (thread->kept_id == 0) return;
  entry kept = entry_of(thread->kept_id, &in, &index);
  give_back(in, kept, index);
}

kvo_observation kvo__id_assign(kvo_node *node) {
  shard *in = NULL;
  uint32_t index = 0;
  if (!take_kept(&index, &in)) {
    in = own_shard();
    if (!take_back(in, &index) && !take_new(in, &index)) return 0;
  }
  entry owned = entry_at(in, index);
  uint32_t generation = generation_of(owned) + 1;
  atomic_store_explicit(owned.state, generation, memory_order_relaxed);
  atomic_store_explicit(owned.next_or_node, (uint64_t)(uintptr_t)node, memory_order_relaxed);
  node->id = (uint64_t)generation << 32 | (uint64_t)index << 8 | (uint64_t)(in - shards);
  return node->id;
}

void kvo__id_publish(const kvo_node *node) {
  shard *in = NULL;
  uint32_t index = 0;
  entry owned = entry_of(node->id, &in, &index);
  atomic_store_explicit(owned.state, NAMES_A_NODE | generation_of(owned), memory_order_release);
}

void kvo__id_return(const kvo_node *node) {
  shard *in = NULL;
  uint32_t index = 0;
  entry owned = entry_of(node->id, &in, &index);
  keep_or_give_back(in, owned, index);
}

kvo_node *kvo__id_claim(kvo_observation id) {
  shard *in = NULL;
  uint32_t index = 0;
  uint32_t generation = (uint32_t)(id >> 32), named = NAMES_A_NODE | generation;
  entry owned = entry_of(id, &in, &index);
  if (owned.state == NULL || !atomic_compare_exchange_strong(owned.state, &named, generation)) return NULL;
  if (atomic_load(&in->lookers) != 0) { /* one that has found the id first is using the node */
    kvo__lock(&in->looking);
    kvo__unlock(&in->looking);
  }
  kvo_node *node = node_of(owned);
  keep_or_give_back(in, owned, index);
  kvo__publish_dead(&node->live);
  return node;
}

void kvo__ids_visit(void (*visit)(kvo_node *node, void *arg), void *arg) {
  for (shard *in = shards; in != shards + SHARDS; in++) {
    uint32_t used = atomic_load(&in->used);
    for (uint32_t index = 0; index < used; index++) {
      entry each = entry_at(in, index);
      if (each.state == NULL || (atomic_load_explicit(each.state, memory_order_acquire) & NAMES_A_NODE) == 0) continue;
      kvo_node *node = node_of(each);
      if (kvo__node_is_own(node)) visit(node, arg);
    }
  }
}

bool kvo__id_look_up(kvo_observation id, void (*visit)(kvo_node *node, void *arg), void *arg) {
  if (!kvo_observation_is_registered(id)) return false;
  shard *in = NULL;
  uint32_t index = 0;
  entry named = entry_of(id, &in, &index);
  kvo__lock(&in->looking);
  atomic_fetch_add(&in->lookers, 1); /* before the look */
  bool is_found = kvo_observation_is_registered(id);
  if (is_found) visit(node_of(named), arg);
  atomic_fetch_sub(&in->lookers, 1);
  kvo__unlock(&in->looking);
  return is_found;
}

bool kvo_observation_is_registered(kvo_observation id) {
  shard *in = NULL;
  uint32_t index = 0;
  entry owned = entry_of(id, &in, &index);
  return owned.state != NULL && atomic_load(owned.state) == (NAMES_A_NODE | (uint32_t)(id >> 32));
}

bool kvo__id_was_given(kvo_observation id) {
  shard *in = NULL;
  uint32_t index = 0;
  entry of = entry_of(id, &in, &index);
  return of.state != NULL && id >> 32 != 0 && id >> 32 <= generation_of(of);
}
