/* scopes.c - changes of certain objects within a stretch of a thread's code: coalesced, told once for each key at its end; or silent.
 *
 * A coalescing scope keeps for each key that changes what a change between a will and a did keeps: a frame, and the value before the first
 * change. Later changes of the key only store. The expressions that depend on such keys are kept in one will phase of the scope, so that an
 * expression is notified once, whatever number of its keys changed. An open scope counts in kvo_own.open_changes: changes outside of scopes
 * test nothing more. */
#include "changes/scopes.h"

struct kvo_coalesced {
  kvo_frame frame;
  kvo_coalesced *next;
  kvo_index_entry entry;
  /** The change of the same key that other observers are told of, and that is therefore not in the index, or NULL. */
  kvo_coalesced *earlier;
  const kvo_object *object;
  kvo_key key;
  /** Notifies the observers that were registered after this birth, up to the frame's limit: earlier ones are those of another change of the
   * key. */
  uint64_t after;
  /** Up to this birth the dependencies of expressions are kept in the scope's will phase. */
  uint64_t seen;
  /** Up to this birth, expressions may have read the value before the last store. */
  uint64_t stored;
  /** The value before the first change, or NULL. */
  void *old_value;
  /** The value that an observer is told just now, or NULL. Here, so that it is released if the observer leaves with longjmp. */
  void *new_value;
  /** Its object has died. */
  bool is_over;
};

static kvo_frame_content *content(kvo_coalesced *of) { return kvo__frame_content_of(&of->frame); }

static const kvo_property *property_of(kvo_coalesced *of) {
  return kvo__slot_property(content(of)->info, content(of)->slot);
}

/* -------------------------------------------------------------------------------------------------------------- Finding -- */

static kvo_coalesced *of_entry(const kvo_index_entry *entry) {
  return (kvo_coalesced *)((uintptr_t)entry - offsetof(kvo_coalesced, entry));
}

/* The changes of an object follow one another. */
static kvo_index_key key_of(const kvo_index_entry *entry) {
  return (kvo_index_key){(uintptr_t)of_entry(entry)->object, of_entry(entry)->key};
}

/* The change of an object with this key, or, if there is none, with the next greater one; NULL if there is none either. */
static kvo_coalesced *find_from(const kvo_open_scope *scope, const kvo_object *object, kvo_key key) {
  if (scope->by_key.root == NULL) return NULL;
  const kvo_index_entry *at = kvo__index_from(&scope->by_key, (kvo_index_key){(uintptr_t)object, key});
  return at != NULL && of_entry(at)->object == object ? of_entry(at) : NULL;
}

static kvo_coalesced *find(const kvo_open_scope *scope, const kvo_object *object, kvo_key key) {
  kvo_coalesced *found = find_from(scope, object, key);
  return found != NULL && found->key == key ? found : NULL;
}

/* The outermost coalescing scope of the object, and in `*silent` whether another one silences it. */
static kvo_open_scope *scope_of(const kvo_object *object, bool *silent) {
  kvo_open_scope *found = NULL;
  *silent = false;
  for (kvo_open_scope *scope = kvo__scopes(); scope != NULL; scope = scope->outer) {
    if (!kvo__scope_covers(scope, object)) continue;
    if (scope->kind == KVO_SCOPE_SILENCES)
      *silent = true;
    else
      found = scope;
  }
  return found;
}

kvo_scoped kvo__scoped(const kvo_object *object) {
  if (kvo__scopes() == NULL) return KVO_UNSCOPED;
  bool silent;
  const kvo_open_scope *scope = scope_of(object, &silent);
  return silent ? KVO_SILENT : scope != NULL ? KVO_COALESCED : KVO_UNSCOPED;
}

/* -------------------------------------------------------------------------------------------------------------- Ending -- */

static void forget_last(void) {
  for (kvo_open_scope *scope = kvo__scopes(); scope != NULL; scope = scope->outer) scope->object = NULL;
}

/* Ends a change that nobody is notified of (any more). Runs code of the program: the value's release. */
static void end_change(kvo_coalesced *change) {
  if (change->is_over) return;
  change->is_over = true;
  void *old_value = change->old_value, *new_value = change->new_value;
  change->old_value = change->new_value = NULL;
  kvo__property_release(property_of(change), old_value);
  kvo__property_release(property_of(change), new_value);
  kvo_frame_end(&change->frame);
}

static void use(kvo_open_scope *scope) { scope->users++; }

/* Frees the scope if it has ended and nobody uses it. */
static void let_go(kvo_open_scope *scope) {
  if (--scope->users != 0 || !scope->is_over) return;
  for (kvo_coalesced *change = scope->first, *next; change != NULL; change = next) {
    next = change->next;
    end_change(change);
    kvo__free(change);
  }
  if (scope->will != NULL) kvo__will_end(scope->will);
  kvo__free(scope);
}

static void unlink_scope(kvo_open_scope *scope) {
  kvo_open_scope **link = &kvo__own.thread->scopes;
  while (*link != scope) link = &(*link)->outer;
  *link = scope->outer;
  kvo__own.open_changes--;
  scope->is_over = true;
  kvo__silent_scope_ends(scope);
  forget_last();
}

/* Ends a scope whose end the program did not reach. */
static void drop(kvo_open_scope *scope) {
  unlink_scope(scope);
  scope->users = 1; /* also if code that used it was left */
  kvo_will_phase *will = scope->will;
  for (size_t i = 0; will != NULL && i < will->count; i++) {
    kvo_pending_value *pending = &will->pending[i];
    if (pending->delivered) continue;
    pending->delivered = true;
    kvo__tracked_rearm(pending->tracked); /* it is not told, but follows the new values */
  }
  let_go(scope);
}

void kvo__scopes_drop(void) {
  while (kvo__scopes() != NULL) drop(kvo__scopes());
}

void kvo__scopes_left(uint32_t first, uint32_t before) {
  uint32_t depth = atomic_load(&kvo__own.thread->depth);
  for (kvo_open_scope *scope = kvo__scopes(); scope != NULL; scope = scope->outer) {
    if (!scope->is_calling || scope->depth < first || scope->depth >= before || scope->depth < depth) continue;
    scope->is_left = true;
    forget_last(); /* so that the next change drops it */
  }
}

/* Drops scopes that were left with longjmp or an exception, as this stack frame or a mark that was left shows. */
static void drop_left(const void *frame) {
  bool is_below = true;
  for (kvo_open_scope *scope = kvo__scopes(); scope != NULL;) {
    is_below = is_below && scope->frame <= frame;
    if (scope->is_left || (is_below && kvo__is_left(scope->frame, frame))) {
      drop(scope);
      scope = kvo__scopes();
      is_below = true;
    } else {
      scope = scope->outer; /* also if it is on another stack */
    }
  }
}

static kvo_open_scope *innermost_of(const kvo_object *object) {
  kvo_open_scope *scope = kvo__scopes();
  while (scope != NULL && !kvo__scope_covers(scope, object)) scope = scope->outer;
  return scope;
}

void kvo__scopes_forget(const kvo_object *object) {
  forget_last();
  for (kvo_open_scope *scope; (scope = innermost_of(object)) != NULL;) {
    kvo__scope_lose(scope, object);
    use(scope);
    for (kvo_coalesced *change; (change = find_from(scope, object, 0)) != NULL;) {
      kvo__index_remove(&scope->by_key, &change->entry);
      for (; change != NULL; change = change->earlier) end_change(change);
    }
    let_go(scope);
  }
}

/* -------------------------------------------------------------------------------------------------------------- Noting -- */

/* Whether a node is one that the change has to look at: linked after `after`, up to `limit`. */
static bool is_between(const kvo_node *node, uint64_t after, uint64_t limit) {
  uint64_t birth = atomic_load_explicit(&node->birth, memory_order_acquire);
  return birth > after && birth <= limit && atomic_load_explicit(&node->live, memory_order_acquire);
}

/* Whether this thread is notifying a newer observer of a change that the expression may have to be told of as well: then what it reads now
 * is not what its observer knows. */
static bool is_owed(kvo_tracked *tracked) {
  if (kvo__awaits_change(tracked)) return true;
  uint32_t depth = kvo__own.thread != NULL ? atomic_load(&kvo__own.thread->depth) : 0;
  for (uint32_t i = 0; i < depth; i++) {
    const kvo_mark *mark = kvo__mark_at(i);
    if (!kvo__is_delivery(mark)) continue;
    uint64_t order = kvo__node_order(mark->node);
    /* The observation has ended. Its order is not known any more, and was not if it ended meanwhile. */
    if (!atomic_load_explicit(&mark->node->live, memory_order_acquire)) return true;
    if (order <= tracked->order) continue;
    if (kvo__node_kind(mark->node) != KVO_NODE_DIRECT) return true; /* which key has changed is not known */
    kvo_slot *slot = atomic_load_explicit(&mark->node->slot, memory_order_relaxed);
    if (kvo__tracked_hears(tracked, kvo__slot_info(slot), slot->key)) return true;
  }
  return false;
}

/* Keeps the old value of an expression for the end of the scope, unless a scope has it already. The outermost one counts. */
static void keep_expression(kvo_open_scope *scope, kvo_coalesced *change, kvo_node *node) {
  kvo_tracked *tracked = node->user_data;
  bool is_inside = true;
  for (kvo_open_scope *each = kvo__scopes(); each != NULL; each = each->outer) {
    if (each == scope) is_inside = false;
    bool may_keep = each->will != NULL && !each->is_over;
    kvo_pending_value *pending = may_keep ? kvo__pending_of(tracked, each->will) : NULL;
    if (pending == NULL) continue;
    if (is_inside && !kvo__pending_move(pending, scope->will)) scope->is_incomplete = true;
    return;
  }
  kvo__tracked_will(tracked, node, content(change)->info, scope->will);
  kvo_pending_value *made = kvo__pending_of(tracked, scope->will);
  if (made == NULL)
    scope->is_incomplete = true;
  else if (is_owed(tracked))
    made->is_late = true; /* for scopes that compare: this one, or an outer one that it is moved to */
}

/* Keeps the old values of the expressions that were linked after `after`. Then notifies observers that want the change before it is made:
 * what they change is in no old value. */
static void tell_before(kvo_open_scope *scope, kvo_coalesced *change, uint64_t after, uint64_t limit) {
  kvo_frame_content *frame = content(change);
  bool has_prior = false;
  for (kvo_node *node = atomic_load(&frame->slot->oldest); node != NULL && !change->is_over && !scope->is_over;
       node = atomic_load(&node->newer)) {
    if (!is_between(node, after, limit)) continue;
    has_prior = has_prior || (node->options & KVO_PRIOR) != 0;
    if (!kvo__is_direct(kvo__node_kind(node))) keep_expression(scope, change, node);
  }
  if (!has_prior) return;
  kvo_will_phase *telling = kvo__will_begin(frame->info, frame->slot, __builtin_frame_address(0), false);
  if (telling != NULL)
    kvo__will_bind(telling, __builtin_frame_address(0)); /* so that it ends if an observer leaves with longjmp */
  for (kvo_node *node = atomic_load(&frame->slot->oldest); node != NULL && !change->is_over && !scope->is_over;
       node = atomic_load(&node->newer)) {
    if ((node->options & KVO_PRIOR) == 0 || !is_between(node, after, limit)) continue;
    kvo_node_kind kind = kvo__node_kind(node);
    if (!kvo__is_direct(kind))
      kvo__tracked_prior(node->user_data, scope->will);
    else if (kind == KVO_NODE_DIRECT)
      kvo__send_prior(frame, node, false, change->old_value);
  }
  if (telling != NULL) kvo__will_end(telling);
}

static void *copy_value(kvo_coalesced *change, bool is_wanted) {
  kvo_frame_content *frame = content(change);
  const kvo_property *property = property_of(change);
  if (property == NULL && is_wanted) KVO_TELL(undefined, frame->info->cls, frame->info->object, frame->slot);
  return property != NULL ? kvo__property_copy(property, frame->info->object, NULL) : NULL;
}

/* Notes the first change of a key, or the first one for the observers that were registered after an earlier one was noted. NULL if nobody
 * observes the key, or without memory: then the change notifies as usual. */
static kvo_coalesced *note(kvo_open_scope *scope, kvo_object *object, kvo_key key, bool by_setter,
                           kvo_coalesced *earlier) {
  uint64_t after = earlier != NULL ? earlier->seen : 0;
  kvo_frame frame;
  uint32_t wants = kvo__frame_begin(&frame, object, key, by_setter, KVO_CHANGE_SETTING, NULL);
  if (wants == 0) return NULL;
  kvo_coalesced *made = kvo__alloc(sizeof *made);
  if (made == NULL) {
    kvo_frame_end(&frame);
    return NULL;
  }
  made->frame = frame;
  made->object = object;
  made->key = key;
  made->after = after;
  made->earlier = earlier;
  made->seen = made->stored = content(made)->limit;
  *scope->last = made;
  scope->last = &made->next;
  kvo__index_add(&scope->by_key, &made->entry);
  use(scope);
  bool is_wanted = (wants & KVO_FRAME_WANTS_OLD) != 0;
  void *old_value = is_wanted || scope->kind == KVO_SCOPE_COALESCES_IF_CHANGED ? copy_value(made, is_wanted) : NULL;
  if (made->is_over)
    kvo__property_release(property_of(made), old_value);
  else
    made->old_value = old_value;
  tell_before(scope, made, after, made->seen);
  if (made->is_over)
    made = NULL;
  else if (content(made)->is_tapped)
    kvo__hooks.change_pauses(content(made));
  let_go(scope);
  return made;
}

/* Observers have been registered, or expressions have begun to depend on the key, since the change was noted. */
static kvo_coalesced *look_again(kvo_open_scope *scope, kvo_coalesced *change, kvo_object *object, bool by_setter) {
  kvo_frame_content *frame = content(change);
  uint64_t seen = change->seen, limit = atomic_load_explicit(&frame->info->births, memory_order_acquire);
  bool has_direct = false;
  for (kvo_node *node = atomic_load(&frame->slot->newest); node != NULL; node = atomic_load(&node->older))
    has_direct = has_direct || (kvo__is_direct(kvo__node_kind(node)) && is_between(node, seen, limit));
  if (has_direct) { /* for them this is the first change */
    kvo__index_remove(&scope->by_key, &change->entry);
    kvo_coalesced *later = note(scope, object, change->key, by_setter, change);
    if (later == NULL && find(scope, object, change->key) == NULL && !change->is_over)
      kvo__index_add(&scope->by_key, &change->entry);
    return later;
  }
  change->seen = limit;
  use(scope);
  tell_before(scope, change, seen, limit);
  let_go(scope);
  return change;
}

bool kvo__scope_takes_slowly(kvo_object *object, kvo_key key, bool by_setter) {
  kvo__look_for_abandoned();
  drop_left(__builtin_frame_address(0));
  bool silent;
  kvo_open_scope *scope = scope_of(object, &silent);
  if (silent) kvo__follow_silently(object, key);
  if (scope == NULL || silent) return silent;
  kvo_coalesced *change = find(scope, object, key);
  use(scope);
  if (change == NULL)
    change = note(scope, object, key, by_setter, NULL);
  else if (atomic_load_explicit(&content(change)->info->births, memory_order_acquire) != change->seen)
    change = look_again(scope, change, object, by_setter);
  kvo_open_scope *innermost = kvo__scopes();
  if (change != NULL && !change->is_over && !scope->is_over) {
    innermost->object = object;
    innermost->key = key;
    innermost->info = content(change)->info;
    innermost->seen = change->seen;
  }
  let_go(scope);
  return change != NULL;
}

/* After the store. An expression that began to depend on the key after the last look may have read the value before it. That value is its
 * old one, also if the key is set again. */
static void follow_late(kvo_open_scope *scope, kvo_coalesced *change) {
  const kvo_frame_content *frame = content(change);
  uint64_t seen = change->seen, limit = atomic_load_explicit(&frame->info->births, memory_order_acquire);
  if (limit == seen) return;
  use(scope);
  for (kvo_node *node = atomic_load(&frame->slot->newest); node != NULL && !change->is_over && !scope->is_over;
       node = atomic_load(&node->older)) {
    if (!kvo__node_is_dependency(node) || !is_between(node, seen, limit)) continue;
    bool is_leaf = kvo__node_kind(node) == KVO_NODE_LEAF;
    if (!is_leaf || (node->options & KVO_OLD) == 0) kvo__tracked_keep_late(node->user_data, node, scope->will);
    if (!is_leaf) kvo__tracked_rearm(node->user_data);
  }
  change->stored = atomic_load_explicit(&frame->info->births, memory_order_acquire);
  let_go(scope);
}

bool kvo__scope_stored(const kvo_object *object, kvo_key key, bool *silent) {
  kvo_open_scope *scope = scope_of(object, silent);
  if (*silent) return true;
  kvo_coalesced *change = scope != NULL ? find(scope, object, key) : NULL;
  if (change != NULL) {
    follow_late(scope, change);
    return false;
  }
  return !kvo__notifies_itself(object, key);
}

/* -------------------------------------------------------------------------------------------------------------- Telling -- */

static void tell_expression(kvo_open_scope *scope, kvo_coalesced *change, kvo_node *node) {
  kvo_tracked *tracked = node->user_data;
  const kvo_pending_value *pending = kvo__pending_of(tracked, scope->will);
  uint64_t birth = atomic_load_explicit(&node->birth, memory_order_acquire);
  if (pending != NULL) {
    if (!pending->delivered) kvo__tracked_did(tracked, scope->will);
  } else if (kvo__is_left_to_scope(tracked)) {
    kvo__tracked_rearm(tracked);     /* told at the end of that scope */
  } else if (birth > change->seen) { /* it began to depend on the key after the last look */
    if (birth <= change->stored) kvo__tracked_missed(tracked, birth);
  } else if (scope->is_incomplete) {
    kvo__tracked_did(tracked, NULL);
  }
}

static void tell(kvo_open_scope *scope, kvo_coalesced *change) {
  kvo_frame_content *frame = content(change);
  const kvo_property *property = property_of(change);
  /* A change whose scope ends while its first observers are told, before the change, has not paused. */
  if (!frame->is_tapped && kvo__is_tapped()) kvo__hooks.change_resumes(frame);
  bool is_same = false, is_dead = (atomic_load(&frame->info->state) & KVO_STATE_DEAD) != 0;
  if (scope->kind == KVO_SCOPE_COALESCES_IF_CHANGED && change->old_value != NULL && !is_dead) {
    void *present = copy_value(change, false);
    is_same = present != NULL && kvo__property_same(property, change->old_value, present);
    kvo__property_release(property, present);
  }
  while (kvo_frame_next(&change->frame)) {
    kvo_node *node = frame->cursor;
    if (!kvo__is_direct(kvo__node_kind(node))) {
      scope->is_calling = true;
      tell_expression(scope, change, node);
      scope->is_calling = false;
    } else if (!is_same && atomic_load_explicit(&node->birth, memory_order_acquire) > change->after) {
      change->new_value = (node->options & KVO_NEW) != 0 ? copy_value(change, true) : NULL;
      scope->is_calling = true;
      kvo_frame_deliver(&change->frame, change->old_value, change->new_value);
      scope->is_calling = false;
      kvo__property_release(property, change->new_value);
      change->new_value = NULL;
    }
  }
}

/* Notifies in the order of the first changes. Then the expressions whose subscriptions have changed meanwhile. */
static void tell_all(kvo_open_scope *scope) {
  scope->depth = atomic_load(&kvo__own.thread->depth);
  for (kvo_coalesced *change = scope->first; change != NULL; change = change->next) {
    if (!change->is_over) tell(scope, change);
    end_change(change);
  }
  kvo__pending_sort(scope->will);
  scope->is_calling = true;
  for (size_t i = 0; i < scope->will->count; i++)
    if (!scope->will->pending[i].delivered) kvo__tracked_did(scope->will->pending[i].tracked, scope->will);
  scope->is_calling = false;
}

/* ---------------------------------------------------------------------------------------------------------------- API -- */

static const char *mistake(kvo_scope_kind kind, kvo_object *const *objects, size_t count) {
  if (kind < KVO_SCOPE_COALESCES || kind > KVO_SCOPE_SILENCES) return "kind is unknown";
  if (objects == NULL && count > 0) return "objects is NULL";
  for (size_t i = 0; i < count; i++)
    if (objects[i] == NULL) return "an object is NULL";
  return NULL;
}

/* The words of the program's kvo_scope. */
enum { ADDRESS, SERIAL };

kvo_status kvo_scope_begin(kvo_scope *scope, kvo_scope_kind kind, kvo_object *const *objects, size_t count,
                           const char *file, uint32_t line) {
  static _Atomic uint64_t serials;
  if (scope != NULL) *scope = (kvo_scope){{0}};
  const char *wrong = scope == NULL ? "scope is NULL" : mistake(kind, objects, count);
  if (wrong != NULL) return kvo__invalid("kvo_scope_begin", wrong, (kvo_place){file, line});
  kvo__look_for_abandoned();
  drop_left(__builtin_frame_address(0));
  bool fits = count <= (SIZE_MAX - sizeof(kvo_open_scope)) / sizeof *objects && kvo__thread() != NULL;
  kvo_open_scope *made = fits ? kvo__alloc(sizeof *made + count * sizeof *objects) : NULL;
  bool is_silent = kind == KVO_SCOPE_SILENCES;
  if (made != NULL && !is_silent) made->will = kvo__will_begin_scope(kind == KVO_SCOPE_COALESCES_IF_CHANGED);
  if (made == NULL || (!is_silent && made->will == NULL)) {
    kvo__free(made);
    return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "kvo_scope_begin: out of memory");
  }
  made->serial = atomic_fetch_add(&serials, 1) + 1;
  made->frame = scope;
  made->kind = kind;
  made->last = &made->first;
  made->by_key.key_of = key_of;
  made->users = 1;
  kvo__scope_fill(made, objects, count);
  made->outer = kvo__scopes();
  kvo__own.thread->scopes = made;
  kvo__own.open_changes++;
  scope->kvo_private[ADDRESS] = (uintptr_t)made;
  scope->kvo_private[SERIAL] = (uintptr_t)made->serial;
  return KVO_OK;
}

void kvo_scope_end(kvo_scope *scope) {
  if (scope == NULL) return;
  kvo_open_scope *open = kvo__scopes();
  while (open != NULL &&
         ((uintptr_t)open != scope->kvo_private[ADDRESS] || (uintptr_t)open->serial != scope->kvo_private[SERIAL]))
    open = open->outer;
  if (open == NULL || open->is_over) return; /* or it is open on another thread, which needs its words */
  *scope = (kvo_scope){{0}};
  open->is_over = true;
  open->frame = NULL; /* nothing shows yet that it has been left */
  forget_last();
  drop_left(__builtin_frame_address(0));
  open->frame = __builtin_frame_address(0); /* an observer may leave its end with longjmp */
  kvo__look_for_abandoned();
  if (open->will != NULL) tell_all(open);
  unlink_scope(open);
  let_go(open);
}
