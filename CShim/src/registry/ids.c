/* ids.c - the nodes that have an id, their memory and their ids: 64 bits, never 0, never reused, resolved in constant time without a lock.
 *
 * An id is generation (32 bits, the highest 0) | slab (25) | place in the slab (7): it says where its node is. So neither nodes nor ids
 * need allocations of their own, nor a table that leads from one to the other. Each thread keeps a few free nodes, so most registrations
 * need no lock here.
 *
 * Who has an id that may have ended reads nothing but the state of its place, which is never freed. The nodes are apart from the states,
 * and their memory goes back to the allocator when none of a slab is in use: otherwise a program would keep the memory of the most
 * observations that it ever had at a time. A place whose generations are used up is not used again. */
#include "registry/registry.h"

#if defined(__SANITIZE_ADDRESS__)
#define KVO_HIDES_FROM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KVO_HIDES_FROM_ASAN 1
#endif
#endif
#if defined(KVO_ASSERTIONS) && KVO_ASSERTIONS && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#define KVO_HIDES_FROM_VALGRIND 1
#endif
#endif
/* So that tools for finding errors of memory report a use of a free node as they do with memory that was freed. */
#if defined(KVO_HIDES_FROM_ASAN)
#include <sanitizer/asan_interface.h>
#define HIDE(memory, size) ASAN_POISON_MEMORY_REGION(memory, size)
#define REVEAL(memory, size) ASAN_UNPOISON_MEMORY_REGION(memory, size)
#elif defined(KVO_HIDES_FROM_VALGRIND)
#include <valgrind/memcheck.h>
#define HIDE(memory, size) VALGRIND_MAKE_MEM_NOACCESS(memory, size)
#define REVEAL(memory, size) VALGRIND_MAKE_MEM_DEFINED(memory, size)
#else
#define HIDE(memory, size) ((void)(memory), (void)(size))
#define REVEAL(memory, size) ((void)(memory), (void)(size))
#endif

enum { PLACE_BITS = 7, IDS_PLACES = 1 << PLACE_BITS, SLABS = 1 << 18 };
_Static_assert((uint64_t)SLABS << PLACE_BITS <= UINT64_C(1) << 25,
               "the tokens of Swift keep flags in the bits 25 to 31 of an id");

/* A thread takes so many free nodes at once, and keeps up to twice as many. So many slabs of a kind keep their memory while none of their
 * nodes is in use, so that it is not allocated again and again. */
enum { IDS_FEW = 8, SPARE = 8 };

typedef struct slab {
  /** The generation of the last id given, and above it what has become of the node: NAMES_A_NODE while the id names it; HAS_ENDED when a
   * thread has claimed it, which owns it, until its user data has been destroyed; then neither. */
  _Atomic uint32_t state[IDS_PLACES];
  /** The nodes, all with details or all without; NULL while none is in use. It changes only then, under the lock, so whoever has a node
   * of the slab may read it. */
  char *nodes;
  bool is_detailed;
  /** The slab's part of its ids. Constant. */
  uint32_t number;
  /** The rest is under the lock. The free nodes that no thread keeps: while there are any, the slab is in the list of its kind. */
  kvo_free_nodes free;
  struct slab *next, *previous;
} slab;

#define NAMES_A_NODE (UINT32_C(1) << 31)
#define HAS_ENDED (UINT32_C(1) << 30)
#define LAST_GENERATION (HAS_ENDED - 1)

static slab *_Atomic slabs[SLABS];
static _Atomic uint32_t slab_count;

static kvo_lock ids_lock;
/* The slabs with free nodes, and how many of them have only such: without details, with details. And the slabs without memory for nodes. */
static slab *usable[2], *bare;
static uint32_t spare[2];

/* How many threads look for a node, and the lock that each of them holds: who claims an id waits for them. */
static _Atomic uint32_t lookers;
static kvo_lock looking;

static uint32_t generation_of(kvo_observation id) { return (uint32_t)(id >> 32); }

static slab *slab_at(uint32_t place) { return atomic_load_explicit(&slabs[place >> PLACE_BITS], memory_order_acquire); }

/* NULL for many numbers that were never ids; for the others the state of the place differs. */
static slab *slab_of(kvo_observation id) {
  bool may_be_id = generation_of(id) <= LAST_GENERATION && (uint32_t)id < (uint32_t)SLABS << PLACE_BITS;
  return may_be_id ? slab_at((uint32_t)id) : NULL;
}

static size_t size_of(bool is_detailed) { return is_detailed ? sizeof(kvo_detailed_node) : sizeof(kvo_node); }

static kvo_node *node_at(const slab *of, size_t place) {
  return (kvo_node *)(void *)(of->nodes + place * size_of(of->is_detailed));
}

/* ------------------------------------------------------------------------------------------------------- Free nodes -- */

/* In a free node `older` is the next free one, `id` the last that was given, and the rest has no meaning. */
static void ids_push(kvo_free_nodes *list, kvo_node *node, size_t size) {
  atomic_store_explicit(&node->older, list->first, memory_order_relaxed);
  HIDE(node, size);
  list->first = node;
  list->count++;
}

static kvo_node *ids_pop(kvo_free_nodes *list, size_t size) {
  kvo_node *node = list->first;
  REVEAL(node, size);
  list->first = atomic_load_explicit(&node->older, memory_order_relaxed);
  list->count--;
  return node;
}

static kvo_node *after(kvo_node *node) {
  REVEAL(&node->older, sizeof node->older);
  kvo_node *next = atomic_load_explicit(&node->older, memory_order_relaxed);
  HIDE(&node->older, sizeof node->older);
  return next;
}

static void cut_behind(kvo_node *node) {
  REVEAL(&node->older, sizeof node->older);
  atomic_store_explicit(&node->older, NULL, memory_order_relaxed);
  HIDE(&node->older, sizeof node->older);
}

static void enlist(slab *of) {
  slab **list = &usable[of->is_detailed];
  of->previous = NULL;
  of->next = *list;
  if (*list != NULL) (*list)->previous = of;
  *list = of;
}

static void delist(slab *of) {
  if (of->next != NULL) of->next->previous = of->previous;
  *(of->previous != NULL ? &of->previous->next : &usable[of->is_detailed]) = of->next;
}

/* Makes all nodes of a slab free ones. The lock is held. */
static void ids_fill(slab *of, char *nodes, bool is_detailed) {
  kvo__assert(kvo__holds(&ids_lock));
  of->nodes = nodes;
  of->is_detailed = is_detailed;
  for (uint32_t place = IDS_PLACES; place-- > 0;) {
    kvo_node *node = node_at(of, place);
    uint32_t generation = atomic_load_explicit(&of->state[place], memory_order_relaxed);
    node->id = (uint64_t)generation << 32 | of->number | place;
    ids_push(&of->free, node, size_of(is_detailed));
  }
  enlist(of);
  spare[is_detailed]++;
}

/* Makes free nodes if there are none; false if it cannot. */
static bool make_free(bool is_detailed) {
  char *nodes = kvo__alloc(IDS_PLACES * size_of(is_detailed));
  slab *made = kvo__alloc(sizeof *made);
  bool has_memory = nodes != NULL && made != NULL;
  kvo__lock(&ids_lock);
  if (has_memory && usable[is_detailed] == NULL) { /* otherwise another thread has made them */
    uint32_t count = atomic_load_explicit(&slab_count, memory_order_relaxed);
    slab *of = bare;
    if (of != NULL) {
      bare = of->next;
    } else if (count < SLABS) {
      of = made;
      made = NULL;
      of->number = count << PLACE_BITS;
      atomic_store_explicit(&slabs[count], of, memory_order_release);
      atomic_store_explicit(&slab_count, count + 1, memory_order_release);
    }
    if (of != NULL) ids_fill(of, nodes, is_detailed);
    if (of != NULL) nodes = NULL;
  }
  bool are_there = usable[is_detailed] != NULL;
  kvo__unlock(&ids_lock);
  kvo__free(nodes);
  kvo__free(made);
  return are_there;
}

/* Takes some free nodes from a slab; the list is empty. */
static void take_some(kvo_free_nodes *list, bool is_detailed, uint32_t most) {
  kvo__lock(&ids_lock);
  slab *from = usable[is_detailed];
  if (from != NULL) {
    if (from->free.count == IDS_PLACES) spare[is_detailed]--;
    kvo_node *last = from->free.first, *next;
    list->first = last;
    for (list->count = 1; (next = after(last)) != NULL && list->count < most; list->count++) last = next;
    if (next != NULL) cut_behind(last);
    from->free.first = next;
    from->free.count -= list->count;
    if (next == NULL) delist(from);
  }
  kvo__unlock(&ids_lock);
}

/* Adds a node to the free ones of its slab. Returns the memory of the slab's nodes if none is in use any more and there are enough spare
 * ones. The lock is held. */
static char *put_back(kvo_node *node, bool is_detailed) {
  kvo__assert(kvo__holds(&ids_lock));
  slab *of = slab_at((uint32_t)node->id);
  ids_push(&of->free, node, size_of(is_detailed));
  if (of->free.count == 1) enlist(of);
  if (of->free.count < IDS_PLACES || ++spare[is_detailed] <= SPARE) return NULL;
  spare[is_detailed]--;
  delist(of);
  of->next = bare;
  bare = of;
  char *nodes = of->nodes;
  of->nodes = NULL;
  of->free = (kvo_free_nodes){NULL, 0};
  return nodes;
}

/* Gives the first nodes of a list back to their slabs. */
static void ids_give_back(kvo_free_nodes *list, bool is_detailed, uint32_t count) {
  char *unneeded[2 * IDS_FEW + 1];
  size_t unneeded_count = 0;
  kvo__lock(&ids_lock);
  while (count-- > 0) {
    unneeded[unneeded_count] = put_back(ids_pop(list, size_of(is_detailed)), is_detailed);
    if (unneeded[unneeded_count] != NULL) unneeded_count++;
  }
  kvo__unlock(&ids_lock);
  while (unneeded_count > 0) {
    char *nodes = unneeded[--unneeded_count];
    REVEAL(nodes, IDS_PLACES * size_of(is_detailed));
    kvo__free(nodes);
  }
}

void kvo__ids_thread_end(kvo_thread *thread) {
  for (int i = 0; i < 2; i++) ids_give_back(&thread->free_nodes[i], i != 0, thread->free_nodes[i].count);
}

kvo_node *kvo__node_new(bool is_detailed) {
  kvo_thread *self = kvo__thread();
  kvo_free_nodes none = {NULL, 0}, *list = self != NULL ? &self->free_nodes[is_detailed] : &none;
  while (list->first == NULL) {
    take_some(list, is_detailed, self != NULL ? IDS_FEW : 1);
    if (list->first == NULL && !make_free(is_detailed)) return NULL;
  }
  kvo_node *node = ids_pop(list, size_of(is_detailed));
  kvo_observation id = node->id + (UINT64_C(1) << 32);
  memset(node, 0, size_of(is_detailed));
  node->id = id;
  if (is_detailed) node->options = KVO_NODE_HAS_DETAILS;
  return node;
}

#if defined(KVO_HIDES_FROM_ASAN)
/* Keeps a free node from being used again soon, as AddressSanitizer does with memory that was freed. Returns an earlier one, or NULL. */
static kvo_node *earlier_than(kvo_node *node) {
  static kvo_node *_Atomic kept[32];
  static _Atomic uint32_t count;
  HIDE(node, size_of((node->options & KVO_NODE_HAS_DETAILS) != 0));
  kvo_node *earlier = atomic_exchange(&kept[atomic_fetch_add(&count, 1) % 32], node);
  if (earlier != NULL) REVEAL(earlier, sizeof *earlier);
  return earlier;
}
#endif

static _Atomic uint32_t *state_of(const kvo_node *node) {
  return &slab_at((uint32_t)node->id)->state[node->id % IDS_PLACES];
}

void kvo__node_drop(kvo_node *node) {
  if ((node->options & KVO_NODE_HAS_DETAILS) != 0) kvo__free(((kvo_detailed_node *)node)->details.texts);
  if ((node->options & KVO_NODE_BINDS) != 0) kvo__hooks.free_binding(((kvo_detailed_node *)node)->details.bound);
  if (generation_of(node->id) == LAST_GENERATION) return;
#if defined(KVO_HIDES_FROM_ASAN)
  node = earlier_than(node);
  if (node == NULL) return;
#endif
  bool is_detailed = (node->options & KVO_NODE_HAS_DETAILS) != 0;
  kvo_thread *self = kvo__own.thread;
  kvo_free_nodes none = {NULL, 0}, *list = self != NULL ? &self->free_nodes[is_detailed] : &none;
  ids_push(list, node, size_of(is_detailed));
  if (self == NULL)
    ids_give_back(list, is_detailed, 1);
  else if (list->count > 2 * IDS_FEW)
    ids_give_back(list, is_detailed, IDS_FEW);
}

/* -------------------------------------------------------------------------------------------------------------- Ids -- */

void kvo__id_publish(const kvo_node *node) {
  atomic_store_explicit(state_of(node), NAMES_A_NODE | generation_of(node->id), memory_order_release);
}

kvo_node *kvo__id_claim(kvo_observation id) {
  slab *of = slab_of(id);
  uint32_t generation = generation_of(id), named = NAMES_A_NODE | generation;
  if (of == NULL || !atomic_compare_exchange_strong(&of->state[id % IDS_PLACES], &named, HAS_ENDED | generation))
    return NULL;
  if (atomic_load(&lookers) != 0) { /* one that has found the id first is using the node */
    kvo__lock(&looking);
    kvo__unlock(&looking);
  }
  kvo_node *node = node_at(of, id % IDS_PLACES);
  kvo__publish_dead(&node->live);
  return node;
}

void kvo__id_let_go(const kvo_node *node) {
  kvo__section_enter(); /* who has stopped the world may be looking at the node */
  atomic_fetch_and(state_of(node), LAST_GENERATION);
  kvo__section_leave();
}

static void visit_state(uint32_t wanted, kvo_node_kind last, void (*visit)(kvo_node *node, void *arg), void *arg) {
  uint32_t count = atomic_load_explicit(&slab_count, memory_order_acquire);
  for (uint32_t i = 0; i < count * IDS_PLACES; i++) {
    slab *of = slab_at(i);
    if ((atomic_load_explicit(&of->state[i % IDS_PLACES], memory_order_acquire) & wanted) == 0) continue;
    kvo_node *node = node_at(of, i % IDS_PLACES);
    if (kvo__node_kind(node) <= last) visit(node, arg);
  }
}

void kvo__ids_visit(kvo_node_kind last, void (*visit)(kvo_node *node, void *arg), void *arg) {
  visit_state(NAMES_A_NODE, last, visit, arg);
}

void kvo__ids_visit_ended(void (*visit)(kvo_node *node, void *arg), void *arg) {
  visit_state(HAS_ENDED, KVO_NODE_DEATH, visit, arg);
}

bool kvo__id_look_up(kvo_observation id, void (*visit)(kvo_node *node, void *arg), void *arg) {
  if (!kvo_observation_is_registered(id)) return false;
  kvo__lock(&looking);
  atomic_fetch_add(&lookers, 1); /* before the look */
  bool is_found = kvo_observation_is_registered(id);
  if (is_found) visit(node_at(slab_of(id), id % IDS_PLACES), arg);
  atomic_fetch_sub(&lookers, 1);
  kvo__unlock(&looking);
  return is_found;
}

bool kvo_observation_is_registered(kvo_observation id) {
  const slab *of = slab_of(id);
  return of != NULL && atomic_load(&of->state[id % IDS_PLACES]) == (NAMES_A_NODE | generation_of(id));
}

bool kvo__id_was_given(kvo_observation id) {
  const slab *of = slab_of(id);
  uint32_t generation = generation_of(id);
  return of != NULL && generation != 0 && generation <= (atomic_load(&of->state[id % IDS_PLACES]) & LAST_GENERATION);
}
