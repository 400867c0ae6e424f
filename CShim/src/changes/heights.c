/* heights.c - the order in which bindings are settled: each after those that set what it reads.
 *
 * All bindings are in one index, by what they set. A binding's height is corrected when it is to run: if it was too low, because one that
 * sets what it reads was made later, the binding goes back into the queue. Several threads may settle at once, but each binding has one
 * settler: a thread that finds another one notes that the binding is outdated, and the settler runs it once more. */
#include "changes/scopes.h"
#include "changes/settle.h"

/* How often a binding may be put back in one hold: more shows a cycle, whose bindings run as they come. */
enum { MOST_PUT_BACK = 8 };

static kvo_lock bound_lock;

static kvo_bound *of_queued(const kvo_index_entry *entry) {
  return (kvo_bound *)((uintptr_t)entry - offsetof(kvo_bound, queued));
}

static kvo_bound *of_target(const kvo_index_entry *entry) {
  return (kvo_bound *)((uintptr_t)entry - offsetof(kvo_bound, of_target));
}

static kvo_index_key heights_target_key(const kvo_index_entry *entry) {
  const kvo_bound *of = of_target(entry);
  return kvo__index_key(of->target, of->key, (uintptr_t)of);
}

static kvo_index all_targets = {NULL, heights_target_key};

static kvo_index_key queue_key(const kvo_index_entry *entry) {
  const kvo_bound *of = of_queued(entry);
  return (kvo_index_key){of->height, of->order};
}

/* The next binding that sets a key, after one or NULL. The lock is held. */
static kvo_bound *next_setter(const kvo_object *object, kvo_key key, const kvo_bound *after) {
  kvo_index_key wanted = kvo__index_key(object, key, after != NULL ? (uintptr_t)after + 1 : 0);
  const kvo_index_entry *found = kvo__index_from(&all_targets, wanted);
  if (found == NULL || heights_target_key(found).major != wanted.major) return NULL;
  kvo_bound *of = of_target(found);
  return of->target == object && of->key == key ? of : NULL;
}

bool kvo__bound_make(kvo_node *node, const kvo_object *target, kvo_key key) {
  kvo_bound *made = kvo__alloc(sizeof *made);
  if (made == NULL) return false;
  made->node = node;
  made->target = target;
  made->key = key;
  kvo__node_details(node)->bound = made;
  return true;
}

void kvo__bound_list(const kvo_node *node) {
  kvo_bound *bound = kvo__bound_of(node);
  if (bound->target == NULL) return;
  if (kvo__bound_tracked(bound) == NULL) {
    kvo_slot *slot = atomic_load(&node->slot);
    bound->source = kvo__slot_info(slot)->object;
    bound->source_key = slot->key;
  }
  kvo__lock(&bound_lock);
  kvo__index_add(&all_targets, &bound->of_target);
  bound->is_listed = true;
  kvo__unlock(&bound_lock);
}

void kvo__bound_free(kvo_bound *bound) {
  if (bound == NULL) return;
  if (bound->is_listed) {
    kvo__lock(&bound_lock);
    kvo__index_remove(&all_targets, &bound->of_target);
    kvo__unlock(&bound_lock);
  }
  kvo__free(bound);
}

/* Added to a settler. */
enum { OUTDATED = 1 };

static uintptr_t heights_address_of(const kvo_open_scope *hold) { return (uintptr_t)hold; }
static uintptr_t own_thread(void) { return (uintptr_t)kvo__own.thread; }
static uintptr_t settler_of(const kvo_bound *bound) { return atomic_load(&bound->settler) & ~(uintptr_t)OUTDATED; }

static bool heights_begin(kvo_bound *bound, uintptr_t settler) {
  uintptr_t nobody = 0;
  if (!atomic_compare_exchange_strong(&bound->settler, &nobody, settler)) return false;
  uint64_t runs = atomic_load_explicit(&bound->runs, memory_order_relaxed);
  atomic_store_explicit(&bound->runs, runs + 1, memory_order_relaxed);
  return true;
}

/* False if what it reads has changed meanwhile. */
static bool heights_end(kvo_bound *bound, uintptr_t settler) {
  return atomic_compare_exchange_strong(&bound->settler, &settler, 0);
}

/* The lock is held. */
static void enqueue(kvo_bound *bound, kvo_open_scope *hold) {
  bound->is_queued = true;
  atomic_store(&bound->settler, heights_address_of(hold));
  kvo__index_add(&hold->queue, &bound->queued);
}

/* After `heights_begin` for this hold. The lock is held. */
static void heights_take(kvo_bound *bound, kvo_open_scope *hold, bool is_to_run) {
  bound->order = kvo__node_order(bound->node);
  if (bound->serial != hold->serial) bound->rounds = bound->put_back = 0;
  bound->serial = hold->serial;
  bound->is_renewed = bound->is_contended = false;
  if (is_to_run) enqueue(bound, hold);
}

/* Notes that what a binding reads has changed while another thread, or this one, settles it. False if nobody does any more. The lock is
 * held. */
static bool outdate(kvo_bound *bound, uintptr_t settler, bool is_in_binding) {
  uintptr_t found = atomic_load(&bound->settler);
  if (found == settler && bound->is_queued) return true;
  while (found != 0 && !atomic_compare_exchange_weak(&bound->settler, &found, found | OUTDATED)) continue;
  if (found == 0) return false;
  bool is_others = (found & ~(uintptr_t)OUTDATED) != settler;
  if (is_others && !is_in_binding)
    bound->is_renewed = true;
  else if (is_others)
    bound->is_contended = true;
  return true;
}

/* A binding that this thread runs alone has set its target, whose observers are being notified: it can run again for what they change. The
 * lock is held. */
static void pass_on(kvo_bound *bound) {
  if (settler_of(bound) != own_thread() || !kvo__is_notifying(bound->target, bound->key, bound->depth)) return;
  atomic_store(&bound->settler, 0);
  kvo__own.thread->lone_serial = 0;
}

/* Returns whether it is this settler's now; otherwise the one that settles it runs it once more. The lock is held. */
static bool begin_or_outdate(kvo_bound *bound, uintptr_t settler, bool is_in_binding) {
  pass_on(bound);
  bool has_begun = false;
  do has_begun = heights_begin(bound, settler);
  while (!has_begun && !outdate(bound, settler, is_in_binding));
  return has_begun;
}

bool kvo__bound_claim(kvo_bound *bound, kvo_open_scope *hold, bool is_to_run) {
  hold->queue.key_of = queue_key;
  kvo__lock(&bound_lock);
  bool is_free = begin_or_outdate(bound, heights_address_of(hold), hold->running != NULL);
  if (is_free) heights_take(bound, hold, is_to_run);
  kvo__unlock(&bound_lock);
  return is_free;
}

uint64_t kvo__bound_begin(kvo_bound *bound, uint32_t depth) {
  bool has_begun = heights_begin(bound, own_thread());
  if (!has_begun) {
    kvo__lock(&bound_lock);
    has_begun = begin_or_outdate(bound, own_thread(), kvo__own.thread->lone != 0);
    kvo__unlock(&bound_lock);
  }
  if (!has_begun) return 0;
  bound->depth = depth;
  return atomic_load_explicit(&bound->runs, memory_order_relaxed);
}

/* After it has been passed on, another thread may be its settler and not have counted that yet. */
bool kvo__bound_end(kvo_bound *bound, uint64_t run) {
  return settler_of(bound) != own_thread() || atomic_load_explicit(&bound->runs, memory_order_relaxed) != run ||
         heights_end(bound, own_thread());
}

void kvo__bound_give_up(kvo_bound *bound) { atomic_store(&bound->settler, 0); }

void kvo__bound_pass(kvo_bound *bound, kvo_open_scope *hold) {
  hold->queue.key_of = queue_key;
  kvo__lock(&bound_lock);
  heights_take(bound, hold, true);
  kvo__unlock(&bound_lock);
}

static void heights_end_left(kvo_node *node, void *arg) {
  (void)arg;
  if ((node->options & KVO_NODE_BINDS) == 0) return;
  kvo_bound *bound = kvo__bound_of(node);
  kvo__lock(&bound_lock);
  if (settler_of(bound) == own_thread()) {
    atomic_store(&bound->settler, 0);
    kvo__own.thread->lone--;
  }
  kvo__unlock(&bound_lock);
}

static void heights_forked(kvo_node *node, void *arg) {
  (void)arg;
  if ((node->options & KVO_NODE_BINDS) == 0) return;
  kvo_bound *bound = kvo__bound_of(node);
  uintptr_t settler = settler_of(bound);
  bool is_own = settler == own_thread();
  for (kvo_open_scope *each = kvo__scopes(); each != NULL; each = each->outer)
    is_own = is_own || settler == heights_address_of(each);
  if (is_own) return;
  bound->is_queued = false;
  atomic_store(&bound->settler, 0);
}

void kvo__bound_forked(void) { kvo__ids_visit(KVO_NODE_ANCHOR, heights_forked, NULL); }

void kvo__bound_left(kvo_observation observation) { (void)kvo__id_look_up(observation, heights_end_left, NULL); }

kvo_bound *kvo__bound_next(kvo_open_scope *hold) {
  kvo__lock(&bound_lock);
  kvo_index_entry *first = hold->queue.root != NULL ? kvo__index_from(&hold->queue, (kvo_index_key){0, 0}) : NULL;
  kvo_bound *next = first != NULL ? of_queued(first) : NULL;
  if (next != NULL) {
    kvo__index_remove(&hold->queue, &next->queued);
    if (next->is_renewed) hold->renewals++;
    if (next->round_of != hold->renewals) next->rounds = 0;
    next->round_of = hold->renewals;
    next->is_queued = next->is_renewed = false;
    atomic_store(&next->settler, heights_address_of(hold));
  }
  kvo__unlock(&bound_lock);
  return next;
}

bool kvo__bound_release(kvo_bound *bound, kvo_open_scope *hold) {
  kvo__lock(&bound_lock);
  bool is_over = heights_end(bound, heights_address_of(hold));
  if (!is_over) enqueue(bound, hold);
  kvo__unlock(&bound_lock);
  return is_over;
}

/* What a binding finds among those that set what it reads. */
typedef struct heights {
  uint32_t greatest;
  bool is_queued, is_own;
} heights;

/* Whether it reads what the other one sets. Not known of an expression. It may have ended, and its source may be freed. */
static bool answers(const kvo_bound *bound, const kvo_bound *other) {
  return bound->source != NULL && bound->source == other->target && bound->source_key == other->key;
}

/* Neither direction of a two-way binding is above the other. The lock is held. */
static void heights_look_at(const kvo_bound *bound, const kvo_open_scope *hold, kvo_slot *slot, heights *found) {
  const kvo_object *object = kvo__slot_info(slot)->object;
  for (const kvo_bound *each = next_setter(object, slot->key, NULL); each != NULL;
       each = next_setter(object, slot->key, each)) {
    if (each == bound) {
      found->is_own = true;
      continue;
    }
    if (answers(each, bound)) continue;
    if (each->height > found->greatest) found->greatest = each->height;
    if (hold != NULL && each->is_queued && settler_of(each) == heights_address_of(hold) &&
        each->height >= bound->height)
      found->is_queued = true;
  }
}

bool kvo__bound_waits(kvo_bound *bound, kvo_open_scope *hold, bool has_run) {
  heights found = {0};
  kvo_tracked *tracked = kvo__bound_tracked(bound);
  if (tracked != NULL) kvo__lock(&tracked->lock);
  kvo__lock(&bound_lock);
  if (tracked == NULL) heights_look_at(bound, hold, atomic_load(&bound->node->slot), &found);
  for (const kvo_dependency *each = tracked != NULL ? tracked->dependencies : NULL; each != NULL; each = each->to)
    heights_look_at(bound, hold, atomic_load_explicit(&each->node.slot, memory_order_relaxed), &found);
  atomic_store(&bound->reads_target, found.is_own);
  /* What it reads may be set by a binding that is queued only when others have run. */
  bool is_too_low = !has_run && found.greatest >= bound->height;
  bool waits = hold != NULL && (found.is_queued || is_too_low) && ++bound->put_back <= MOST_PUT_BACK;
  if (bound->put_back <= MOST_PUT_BACK) bound->height = found.greatest + 1;
  if (waits) enqueue(bound, hold);
  kvo__unlock(&bound_lock);
  if (tracked != NULL) kvo__unlock(&tracked->lock);
  return waits;
}

static void set_other(kvo_node *node, void *arg) {
  atomic_store(&kvo__bound_of(node)->other, *(const kvo_observation *)arg);
}

bool kvo__bound_join(kvo_observation first, kvo_observation second) {
  return kvo__id_look_up(first, set_other, &second);
}

static void get_other(kvo_node *node, void *arg) {
  if ((node->options & KVO_NODE_BINDS) != 0) *(kvo_observation *)arg = kvo__bound_of(node)->other;
}

kvo_observation kvo__bound_other(kvo_observation first) {
  kvo_observation other = 0;
  (void)kvo__id_look_up(first, get_other, &other);
  return other;
}
