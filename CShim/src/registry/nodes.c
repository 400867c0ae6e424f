/* nodes.c - the info of an observed object: its slots, its lists of nodes, and the readers of these. */
#include "registry/registry.h"

/* -------------------------------------------------------------------------------------------------- Info and slots -- */

static void slot_init(kvo_slot *slot, const kvo_class *cls, kvo_key key) {
  const kvo_property *property = kvo__class_find(cls, key);
  slot->key = key;
  slot->index = property != NULL ? (uint16_t)property->index : KVO_NO_PROPERTY;
  slot->manual = property != NULL && (property->flags & KVO_PROPERTY_MANUAL) != 0;
}

kvo_info *kvo__info_ensure(kvo_object *object, kvo_key key, kvo_status *status) {
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  if (info != NULL) return info;
  if ((word & KVO_WORD_DYING) != 0) {
    *status = KVO_ERROR_DYING_OBJECT;
    return NULL;
  }
  kvo_class *cls = kvo__word_class(word);
  if (cls == NULL) {
    *status = KVO_ERROR_INVALID_ARGUMENT;
    return NULL;
  }
  if (kvo__class_notifying(cls, status) == NULL) return NULL;
  info = kvo__alloc(sizeof *info);
  if (info == NULL) {
    *status = KVO_ERROR_OUT_OF_MEMORY;
    return NULL;
  }
  kvo__info_note(info);
  info->object = object;
  info->cls = cls;
  atomic_init(&info->reader, KVO_READ_BY_NONE);
  info->first.is_first = true;
  info->first.is_of_created = (word & KVO_WORD_CREATED) != 0;
  /* The nodes of a death slot are not what setters look for. */
  bool is_death = key == KVO_KEY_DEATH;
  slot_init(&info->first, cls, !is_death ? key : cls->property_count > 0 ? cls->properties[0]->key : KVO_KEY_ANCHORS);
  if (!__atomic_compare_exchange_n(&object->kvo_private_word, &word, (uintptr_t)info | KVO_WORD_INFO, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    kvo__free(info); /* another thread has made the info */
    return kvo__word_info(word);
  }
  return info;
}

/* info->lock is held. */
static kvo_slot *slot_ensure(kvo_info *info, kvo_key key) {
  kvo__assert(kvo__holds(&info->lock));
  kvo_slot *slot = kvo__slot_find(info, key);
  if (slot != NULL) return slot;
  kvo_later_slot *later = kvo__alloc(key == KVO_KEY_DEATH ? sizeof(kvo_death_slot) : sizeof *later);
  if (later == NULL) return NULL;
  later->info = info;
  slot_init(&later->slot, info->cls, key);
  kvo_later_slot *second = kvo__second_slot(info), *_Atomic *link = NULL;
  for (kvo_later_slot *at = second; at != NULL; at = atomic_load_explicit(link, memory_order_relaxed))
    link = key < at->slot.key ? &at->less : &at->greater;
  kvo_slot *last = second != NULL ? second->newest_slot : &info->first;
  kvo_slot *index = atomic_load_explicit(&last->next, memory_order_relaxed);
  atomic_store_explicit(index != NULL ? &index->next : &last->next, &later->slot, memory_order_release);
  if (link != NULL) atomic_store_explicit(link, later, memory_order_release);
  (second != NULL ? second : later)->newest_slot = &later->slot;
  return &later->slot;
}

static void info_free(kvo_info *info) {
  for (kvo_slot *slot = atomic_load(&info->first.next); slot != NULL;) {
    kvo_slot *next = atomic_load(&slot->next);
    kvo__free(slot);
    slot = next;
  }
  kvo__free(info);
}

/* ------------------------------------------------------------------------------------------------------------ Nodes -- */

static void nodes_count(uint8_t *wanting, bool wants, int by) {
  if (wants && *wanting != KVO_MANY) *wanting = (uint8_t)(*wanting + by);
}

/* Bits of `wants` that stay until the slot is empty. */
enum { KEPT_WANTS = KVO_SLOT_BINDS | KVO_SLOT_NO_WORDS };

static unsigned kept_wants(const kvo_node *node) {
  return ((node->options & KVO_NODE_BINDS) != 0 ? KVO_SLOT_BINDS : 0u) |
         ((node->options & KVO_NODE_TAKES_WORD) == 0 ? KVO_SLOT_NO_WORDS : 0u);
}

/* Adds what a node wants to the counts of its slot, or subtracts it; info->lock is held. */
static void slot_count(kvo_slot *slot, const kvo_node *node, int by) {
  kvo_node_kind kind = kvo__node_kind(node);
  bool evaluated = kind == KVO_NODE_DEPENDENCY, reads_before = (node->options & KVO_NODE_READS_BEFORE) != 0;
  bool is_checked = evaluated && slot->index != KVO_NO_PROPERTY && (node->options & KVO_NODE_IS_CHECKED) != 0;
  nodes_count(&slot->wanting_old, is_checked || (!evaluated && (node->options & KVO_OLD) != 0), by);
  nodes_count(&slot->wanting_new, !evaluated && (node->options & KVO_NEW) != 0, by);
  nodes_count(&slot->wanting_will, reads_before || (node->options & KVO_PRIOR) != 0, by);
}

/* `kept`: what a node that has just been linked adds. info->lock is held. */
static void slot_summarize(kvo_slot *slot, unsigned kept) {
  if (slot->key == KVO_KEY_DEATH) return;
  unsigned wants = 0;
  if (atomic_load_explicit(&slot->newest, memory_order_relaxed) == NULL) {
    slot->wanting_old = slot->wanting_new = slot->wanting_will = 0;
  } else {
    kept |= atomic_load_explicit(&slot->wants, memory_order_relaxed) & KEPT_WANTS;
    wants = KVO_FRAME_OBSERVED | kept | (slot->wanting_old != 0 ? KVO_FRAME_WANTS_OLD : 0u) |
            (slot->wanting_new != 0 ? KVO_FRAME_WANTS_NEW : 0u) |
            (slot->wanting_will != 0 ? KVO_FRAME_WANTS_WILL : 0u) | (slot->manual ? KVO_SLOT_MANUAL : 0u);
  }
  atomic_store_explicit(&slot->wants, (uint8_t)wants, memory_order_release);
}

/* Counts a node of the death slot, and returns whether it is one. info->lock is held. */
static bool count_death(kvo_slot *slot, int by) {
  if (slot->key != KVO_KEY_DEATH) return false;
  ((kvo_death_slot *)(void *)slot)->count += (uint32_t)by;
  return true;
}

size_t kvo__observed_by(kvo_info *info) {
  kvo__assert(kvo__holds(&info->lock));
  if (info->node_count == 0 || kvo__second_slot(info) == NULL) return info->node_count;
  const kvo_slot *death = kvo__slot_find(info, KVO_KEY_DEATH);
  return info->node_count - (death != NULL ? ((const kvo_death_slot *)(const void *)death)->count : 0);
}

static bool nodes_is_observed(kvo_info *info) { return kvo__observed_by(info) != 0; }

/* The isa swap: sets in the object's word whether setters notify. Returns false, and changes nothing, if the word is not the runtime's any
 * more. info->lock is held, and the object is alive. */
static bool word_update(kvo_info *info) {
  kvo__assert(kvo__holds(&info->lock));
  uintptr_t word = (uintptr_t)info | KVO_WORD_INFO | (nodes_is_observed(info) ? KVO_WORD_OBSERVED : 0);
  if (kvo__word_info(kvo__word(info->object)) != info) return false;
  __atomic_store_n(&info->object->kvo_private_word, word, __ATOMIC_RELEASE);
  return true;
}

static bool nodes_is_dead(const kvo_info *info) { return (atomic_load(&info->state) & KVO_STATE_DEAD) != 0; }

_Atomic uint64_t kvo__births = 1; /* 0 is before all changes */

/* Adds a node to the existing indexes of its slot, or removes it from them. */
static void index_node(kvo_slot *slot, kvo_node *node, void (*change)(kvo_index *index, kvo_index_entry *entry)) {
  kvo_slot_index *of = kvo__slot_index(slot);
  if (of != NULL) kvo__slot_index_change(of, node, change);
}

kvo_status kvo__node_link(kvo_info *info, kvo_node *node, kvo_key key) {
  kvo__lock(&info->lock);
  bool dead = nodes_is_dead(info);
  kvo_slot *slot = dead ? NULL : slot_ensure(info, key);
  if (slot == NULL) {
    kvo__unlock(&info->lock);
    return dead ? KVO_ERROR_DYING_OBJECT : KVO_ERROR_OUT_OF_MEMORY;
  }
  /* Under the lock, so that within an info births ascend in the order of linking. */
  uint64_t birth = atomic_fetch_add_explicit(&kvo__births, 1, memory_order_relaxed) + 1;
  atomic_store_explicit(&node->birth, birth, memory_order_relaxed);
  atomic_store_explicit(&node->live, true, memory_order_relaxed);
  atomic_store_explicit(&node->slot, slot, memory_order_release);
  if (node->id != 0) kvo__id_publish(node);
  kvo_node *older = kvo__slot_place(info, slot, kvo__node_order(node));
  kvo_node *newer = atomic_load_explicit(older != NULL ? &older->newer : &slot->oldest, memory_order_relaxed);
  atomic_store_explicit(&node->older, older, memory_order_relaxed);
  atomic_store_explicit(&node->newer, newer, memory_order_relaxed);
  atomic_store_explicit(newer != NULL ? &newer->older : &slot->newest, node, memory_order_release);
  atomic_store_explicit(older != NULL ? &older->newer : &slot->oldest, node, memory_order_release);
  index_node(slot, node, kvo__index_add);
  slot_count(slot, node, 1);
  slot_summarize(slot, kept_wants(node));
  /* Last: a change whose limit includes this node then also sees what the node wants, and finds the node before the store as well as after
   * it. */
  atomic_store_explicit(&info->births, birth, memory_order_release);
  info->node_count++;
  if (!count_death(slot, 1) && (kvo__word(info->object) & KVO_WORD_OBSERVED) == 0) word_update(info);
  kvo__unlock(&info->lock);
  return KVO_OK;
}

void kvo__node_turn(kvo_info *info, kvo_node *node, kvo_node_kind kind) {
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  kvo__lock(&info->lock);
  slot_count(slot, node, -1);
  atomic_store_explicit(&node->kind, (uint8_t)kind, memory_order_release);
  slot_count(slot, node, 1);
  slot_summarize(slot, 0);
  kvo__unlock(&info->lock);
}

/* Returns false if the object's header was overwritten. info->lock is held. */
static bool unlink_locked(kvo_info *info, kvo_node *node) {
  kvo__assert(kvo__holds(&info->lock));
  kvo_slot *slot = atomic_load_explicit(&node->slot, memory_order_relaxed);
  kvo_node *older = atomic_load_explicit(&node->older, memory_order_relaxed);
  kvo_node *newer = atomic_load_explicit(&node->newer, memory_order_relaxed);
  index_node(slot, node, kvo__index_remove);
  atomic_store_explicit(newer != NULL ? &newer->older : &slot->newest, older, memory_order_release);
  atomic_store_explicit(older != NULL ? &older->newer : &slot->oldest, newer, memory_order_release);
  slot_count(slot, node, -1);
  slot_summarize(slot, 0);
  count_death(slot, -1);
  info->node_count--;
  return nodes_is_dead(info) || nodes_is_observed(info) || word_update(info);
}

/* Adds an unlinked node to the garbage, in the present epoch. info->lock is held. */
static void discard_locked(kvo_info *info, kvo_node *node) {
  kvo__assert(kvo__holds(&info->lock));
  uint64_t epoch = (atomic_load(&info->state) & KVO_STATE_EPOCH) != 0;
  atomic_store_explicit(&node->birth, (uint64_t)(uintptr_t)info->garbage | epoch, memory_order_release);
  info->garbage = node;
  atomic_fetch_or(&info->state, KVO_STATE_GARBAGE);
}

/* ---------------------------------------------------------------------------------------------------------- Readers -- */

/* Starts a new epoch; there must be no readers of the earlier one. info->lock is held. */
static void turn_epoch(kvo_info *info) {
  kvo__assert(kvo__holds(&info->lock));
  uint64_t state = atomic_load(&info->state), turned;
  do {
    uint64_t kept = (state & ~(KVO_STATE_READERS | KVO_STATE_EARLIER_READERS)) ^ KVO_STATE_EPOCH;
    turned = kept | (state & KVO_STATE_READERS) * KVO_STATE_EARLIER_READER;
  } while (!atomic_compare_exchange_weak(&info->state, &state, turned));
}

/* The next node of the garbage list, and the epoch in which this node was unlinked. */
static kvo_node *next_garbage(const kvo_node *node, bool *epoch) {
  uint64_t chained = atomic_load_explicit(&node->birth, memory_order_relaxed);
  *epoch = (chained & 1) != 0;
  return (kvo_node *)(uintptr_t)(chained & ~UINT64_C(1));
}

/* Takes the garbage that no reader can see; info->lock is held. A node is unlinked before its epoch ends, so only readers that entered in
 * that epoch or the one before can be at it. In the list it comes after the garbage of the present epoch. No node is walked over more than
 * once, because then its epoch is over. */
static kvo_node *take_garbage(kvo_info *info) {
  kvo__assert(kvo__holds(&info->lock));
  kvo_node *taken = NULL;
  if ((atomic_load(&info->state) & KVO_STATE_EARLIER_READERS) != 0) return NULL;
  bool now = (atomic_load(&info->state) & KVO_STATE_EPOCH) != 0, epoch = false;
  kvo_node *last = NULL, *node = info->garbage;
  for (kvo_node *next; node != NULL; last = node, node = next) {
    next = next_garbage(node, &epoch);
    if (epoch != now) break;
  }
  taken = node;
  if (last == NULL) {
    info->garbage = NULL;
  } else {
    atomic_store_explicit(&last->birth, (uint64_t)now, memory_order_relaxed);
    turn_epoch(info);
    /* If no reader has entered since before the epoch turned, this garbage can be freed, too. */
    if ((atomic_load(&info->state) & KVO_STATE_EARLIER_READERS) == 0) {
      atomic_store_explicit(&last->birth, (uint64_t)(uintptr_t)taken | (uint64_t)now, memory_order_relaxed);
      taken = info->garbage;
      info->garbage = NULL;
    }
  }
  if (info->garbage == NULL) atomic_fetch_and(&info->state, ~KVO_STATE_GARBAGE);
  return taken;
}

static kvo_node *take_condemned(kvo_thread *self) {
  bool epoch;
  kvo_node *node = self->condemned;
  if (node != NULL) self->condemned = next_garbage(node, &epoch);
  return node;
}

void kvo__nodes_thread_end(kvo_thread *self) {
  for (kvo_node *node; (node = take_condemned(self)) != NULL;) kvo__node_free(node);
}

/* Puts garbage in front of what the thread is about to free, and returns how many nodes it is. */
static size_t condemn(kvo_thread *self, kvo_node *garbage) {
  size_t count = 0;
  bool epoch;
  kvo_node *last = NULL;
  for (kvo_node *node = garbage; node != NULL; node = next_garbage(node, &epoch), count++) last = node;
  if (last == NULL) return 0;
  atomic_store_explicit(&last->birth, (uint64_t)(uintptr_t)self->condemned, memory_order_relaxed);
  self->condemned = garbage;
  return count;
}

/* Frees garbage, and what an earlier call has left. Their `destroy` may do anything: call this function again, leave it with longjmp, or
 * end the thread. */
static __attribute__((noinline)) void free_nodes(kvo_node *garbage) {
  kvo_thread *self = kvo__thread();
  const void *frame = __builtin_frame_address(0);
  if (self == NULL) {
    for (bool epoch; garbage != NULL;) {
      kvo_node *node = garbage;
      garbage = next_garbage(node, &epoch);
      kvo__node_free(node);
    }
    return;
  }
  bool is_inner = self->condemned != NULL && (uintptr_t)self->condemned_by > (uintptr_t)frame;
  size_t count = condemn(self, garbage);
  if (!is_inner) {
    self->condemned_by = frame;
    count = SIZE_MAX;
  }
  for (kvo_node *node; count > 0 && (node = take_condemned(self)) != NULL; count--) kvo__node_free(node);
}

/* Frees what can be freed, and unlocks. Whether this is the last user is decided under the lock, so that exactly one thread sees it. */
static void clean_up(kvo_info *info) {
  kvo__assert(kvo__holds(&info->lock));
  kvo_node *garbage = take_garbage(info);
  uint64_t state = atomic_load(&info->state);
  bool last = (state & KVO_STATE_DEAD) != 0 && info->node_count == 0 &&
              (state & (KVO_STATE_READERS | KVO_STATE_EARLIER_READERS)) == 0;
  kvo__unlock(&info->lock);
  if (garbage != NULL || (kvo__own.thread != NULL && kvo__own.thread->condemned != NULL)) free_nodes(garbage);
  if (last) info_free(info);
}

static uint64_t nodes_enter(kvo_info *info) { return kvo__enter(info); }

/* A thread makes so many counted changes before one of them makes its object readable by marks again, because the next removal by another
 * thread costs a barrier. With assertions on, tests look for races, so it happens often. */
#if defined(KVO_ASSERTIONS) && KVO_ASSERTIONS
enum { CHANGES_A_BARRIER = 4 };
#else
enum { CHANGES_A_BARRIER = 1024 };
#endif

bool kvo__read_by_marks(kvo_info *info, kvo_thread *self) {
  const void *reader = atomic_load(&info->reader);
  bool is_first = reader == KVO_READ_BY_NONE;
  if (!is_first && ++self->counted_changes % CHANGES_A_BARRIER != 0) return false;
  const void *next = is_first || reader == KVO_READ_COUNTED ? self : KVO_READ_BY_ALL;
  return atomic_compare_exchange_strong(&info->reader, &reader, next);
}

bool kvo__count_readers(kvo_info *info) {
  kvo__assert(kvo__holds(&info->lock));
  kvo__fence_after_exchange();
  const void *reader = atomic_load(&info->reader);
  if (reader == KVO_READ_BY_NONE || reader == KVO_READ_COUNTED) return false;
  bool found = kvo__count_own_marks(info, nodes_enter);
  if (reader == kvo__own.thread) return found;
  atomic_store(&info->reader, KVO_READ_COUNTED); /* before the barrier: changes that begin after it are counted */
  return kvo__count_marks(info, nodes_enter) || found;
}

void kvo__stopped_reading(kvo_mark *mark) {
  kvo_info *info = atomic_load_explicit(&mark->reads, memory_order_relaxed);
  uint64_t entered = kvo__mark_take(mark);
  kvo__marks_changed();
  if (entered != 0) kvo__leave(info, entered);
}

void kvo__stop_reading_slowly(uint32_t depth) {
  kvo_info *info = atomic_load_explicit(&kvo__mark_at(depth)->reads, memory_order_relaxed);
  uint64_t entered = kvo__mark_take(kvo__mark_at(depth));
  kvo__unmark(depth);
  if (entered != 0) kvo__leave(info, entered);
}

void kvo__leave_slowly(kvo_info *info, uint64_t entered) {
  kvo__assert(!kvo__holds(&info->lock));
  kvo__lock(&info->lock);
  uint64_t state = atomic_load(&info->state);
  atomic_fetch_sub(&info->state, kvo__reader_of(entered, state));
  clean_up(info);
}

bool kvo__node_unlink(kvo_info *info, kvo_node *node) {
  kvo__assert(!kvo__holds(&info->lock));
  kvo__lock(&info->lock);
  bool overwritten = !unlink_locked(info, node);
  if (overwritten) {
    kvo__unlock(&info->lock);
    KVO_MISUSE(overwritten, info, node);
    kvo__lock(&info->lock);
  }
  /* Usually there is no reader. Who enters after this exchange cannot find the node any more. */
  uint64_t nobody = atomic_load(&info->state) & (KVO_STATE_EPOCH | KVO_STATE_REMEMBERED);
  bool is_unread = atomic_compare_exchange_strong(&info->state, &nobody, nobody);
  if (!kvo__count_readers(info) && is_unread) {
    kvo__unlock(&info->lock);
    return true;
  }
  discard_locked(info, node);
  clean_up(info);
  return false;
}

void kvo__node_retire(kvo_info *info, kvo_node *node) {
  if (kvo__node_unlink(info, node)) kvo__node_free(node);
}

kvo_status kvo__node_register(kvo_object *object, kvo_node *node, kvo_key key, kvo_observation *out) {
  kvo_status status = KVO_ERROR_OUT_OF_MEMORY;
  kvo_info *info = kvo__info_ensure(object, key, &status);
  if (info == NULL) {
    kvo__node_drop(node);
    return status;
  }
  *out = node->id; /* once linked, another thread may free the node, unless we are a reader */
  bool tapped = kvo__is_tapped();
  uint64_t entered = tapped ? kvo__enter(info) : 0;
  status = kvo__node_link(info, node, key);
  if (tapped && status == KVO_OK) kvo__hooks.registered(node);
  if (tapped) kvo__leave(info, entered);
  if (status == KVO_OK) return KVO_OK;
  kvo__node_drop(node);
  return status;
}
