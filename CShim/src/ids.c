/* ids.c - 64-bit ids of observations: never 0, never used twice, resolved in constant time.
 *
 * An id is generation (32 bits) | entry (24) | shard (8). An entry whose generations are used up is never used again. The
 * shards keep threads that register at once apart. */
#include "internal.h"

enum { SHARDS = 16, CHUNK = 1024, CHUNKS = 1 << 14 };

typedef struct entry {
  /** NULL while free. */
  kvo_node *node;
  uint32_t generation;
  uint32_t next_free;
} entry;

typedef struct shard {
  kvo_lock lock;
  uint32_t used;
  /** Index + 1 of the first free entry, or 0. */
  uint32_t free;
  entry *chunks[CHUNKS];
} __attribute__((aligned(64))) shard;

static shard shards[SHARDS];

static uint32_t own_shard(void) {
  static _Atomic uint32_t threads;
  static _Thread_local uint32_t own; /* shard + 1 */
  if (own == 0) own = atomic_fetch_add(&threads, 1) % SHARDS + 1;
  return own - 1;
}

static entry *entry_at(shard *in, uint32_t index) { return &in->chunks[index / CHUNK][index % CHUNK]; }

kvo_observation kvo__id_assign(kvo_node *node) {
  uint32_t number = own_shard(), index;
  shard *in = &shards[number];
  kvo__lock(&in->lock);
  if (in->free != 0) {
    index = in->free - 1;
    in->free = entry_at(in, index)->next_free;
  } else {
    index = in->used;
    if (index / CHUNK >= CHUNKS) goto full;
    if (in->chunks[index / CHUNK] == NULL) {
      in->chunks[index / CHUNK] = kvo__alloc(CHUNK * sizeof(entry));
      if (in->chunks[index / CHUNK] == NULL) goto full;
    }
    in->used++;
  }
  entry *taken = entry_at(in, index);
  taken->generation++;
  taken->node = node;
  node->id = (uint64_t)taken->generation << 32 | (uint64_t)index << 8 | number;
  kvo__unlock(&in->lock);
  return node->id;
full:
  kvo__unlock(&in->lock);
  return 0;
}

/* The shard is locked: the entry's id is used up. */
static void give_back(shard *in, entry *named, uint32_t index) {
  named->node = NULL;
  if (named->generation == UINT32_MAX) return;
  named->next_free = in->free;
  in->free = index + 1;
}

static uint32_t index_of(kvo_observation id) { return (id >> 8) & 0xffffff; }

void kvo__id_return(kvo_node *node) {
  shard *in = &shards[node->id & 0xff];
  kvo__lock(&in->lock);
  give_back(in, entry_at(in, index_of(node->id)), index_of(node->id));
  kvo__unlock(&in->lock);
}

kvo_node *kvo__id_claim(kvo_observation id, uint64_t *entered) {
  uint32_t number = id & 0xff, index = index_of(id), generation = (uint32_t)(id >> 32);
  if (number >= SHARDS || generation == 0) return NULL;
  shard *in = &shards[number];
  kvo_node *node = NULL;
  kvo__lock(&in->lock);
  if (index < in->used) {
    entry *named = entry_at(in, index);
    /* Without a slot it is not linked yet: whoever names it has guessed its id. */
    kvo_slot *slot = named->generation == generation && named->node != NULL ? atomic_load(&named->node->slot) : NULL;
    if (slot != NULL) {
      node = named->node;
      give_back(in, named, index);
      atomic_store(&node->live, false);
      /* Within the lock: the object's death claims too, and frees the info only when all readers have left. */
      *entered = kvo__enter(kvo__slot_info(slot));
    }
  }
  kvo__unlock(&in->lock);
  return node;
}
