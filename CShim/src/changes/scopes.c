/* scopes.c - changes of certain objects within a stretch of a thread's code: coalesced, told once for each key at its end; or silent.
 *
 * A coalescing scope keeps for each key that changes what a change between a will and a did keeps: a frame, and the value before the first
 * change. Later changes of the key only store. Whatever reads such a key is left to the end of the scope (kvo__is_postponed). There each
 * observer is told once, in the order of the first changes: with the value before the scope as the old one, and an expression with what it
 * was told last. An open scope counts in kvo_own.open_changes: changes outside of scopes test nothing more. */
#include "changes/announcements.h"
#include "changes/scopes.h"
#include "changes/settle.h"

static kvo_frame_content *scopes_content(kvo_coalesced *of) { return kvo__frame_content_of(&of->frame); }

static const kvo_property *scopes_property_of(kvo_coalesced *of) {
  return kvo__slot_property(scopes_content(of)->info, scopes_content(of)->slot);
}

/* -------------------------------------------------------------------------------------------------------------- Finding -- */

static kvo_coalesced *scopes_of_entry(const kvo_index_entry *entry) {
  return (kvo_coalesced *)((uintptr_t)entry - offsetof(kvo_coalesced, entry));
}

/* The changes of an object follow one another. */
static kvo_index_key scopes_key_of(const kvo_index_entry *entry) {
  return (kvo_index_key){(uintptr_t)scopes_of_entry(entry)->object, scopes_of_entry(entry)->key};
}

/* The change of an object with this key, or, if there is none, with the next greater one; NULL if there is none either. */
static kvo_coalesced *find_from(const kvo_open_scope *scope, const kvo_object *object, kvo_key key) {
  if (scope->by_key.root == NULL) return NULL;
  const kvo_index_entry *at = kvo__index_from(&scope->by_key, (kvo_index_key){(uintptr_t)object, key});
  return at != NULL && scopes_of_entry(at)->object == object ? scopes_of_entry(at) : NULL;
}

static kvo_coalesced *scopes_find(const kvo_open_scope *scope, const kvo_object *object, kvo_key key) {
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
  kvo__property_release(scopes_property_of(change), old_value);
  kvo__property_release(scopes_property_of(change), new_value);
  if (!change->is_kept) {
    kvo_frame_end(&change->frame);
    return;
  }
  kvo_info *info = scopes_content(change)->info;
  uint64_t entered = kvo__enter(info);
  kvo_frame_end(&change->frame);
  kvo__info_release(info);
  kvo__leave(info, entered);
}

static void use(kvo_open_scope *scope) { scope->users++; }

/* Frees the scope if it has ended and nobody uses it. */
static void scopes_let_go(kvo_open_scope *scope) {
  if (--scope->users != 0 || !scope->is_over) return;
  for (kvo_coalesced *change = scope->first, *next; change != NULL; change = next) {
    next = change->next;
    end_change(change);
    kvo__free(change);
  }
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

/* Settles what was left to a change that nobody is told of. */
static void scopes_settle(kvo_coalesced *change) {
  for (kvo_node *node = atomic_load(&scopes_content(change)->slot->newest); node != NULL && !change->is_over;
       node = atomic_load(&node->older))
    if (kvo__node_is_dependency(node) && atomic_load(&node->live))
      kvo__tracked_react(node->user_data, KVO_STORED_SILENTLY, NULL);
}

/* Ends a scope whose end the program did not reach. */
static void drop(kvo_open_scope *scope) {
  unlink_scope(scope);
  scope->users = 1; /* also if code that used it was left */
  kvo__settle_drop(scope);
  for (kvo_coalesced *change = scope->first; change != NULL; change = change->next) scopes_settle(change);
  scopes_let_go(scope);
}

void kvo__scopes_drop(void) {
  while (kvo__scopes() != NULL) drop(kvo__scopes());
}

void kvo__scopes_left(uint32_t first, uint32_t before) {
  uint32_t depth = atomic_load(&kvo__own.thread->depth);
  for (kvo_open_scope *scope = kvo__scopes(); scope != NULL; scope = scope->outer) {
    if (scope->depth < first || scope->depth >= before || scope->depth < depth) continue;
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

/* Whether a scope is concerned by the death of an object. */
static bool concerns(const kvo_open_scope *scope, const kvo_object *object) {
  if (scope->covers_all) return find_from(scope, object, 0) != NULL;
  return kvo__scope_covers(scope, object);
}

static kvo_open_scope *innermost_of(const kvo_object *object) {
  kvo_open_scope *scope = kvo__scopes();
  while (scope != NULL && !concerns(scope, object)) scope = scope->outer;
  return scope;
}

/* The newest expression that the death of the object leaves to its scope. */
static kvo_node *newest_owed(kvo_coalesced *change) {
  kvo_node *node = atomic_load(&scopes_content(change)->slot->newest);
  while (node != NULL && !kvo__node_is_owed(node)) node = atomic_load(&node->older);
  return node;
}

void kvo__scopes_forget(const kvo_object *object) {
  forget_last();
  for (kvo_open_scope *scope; (scope = innermost_of(object)) != NULL;) {
    kvo__scope_lose(scope, object);
    use(scope);
    for (kvo_coalesced *change; (change = find_from(scope, object, 0)) != NULL;) {
      kvo__index_remove(&scope->by_key, &change->entry);
      if (change == scope->present) continue; /* it ends when the observer has returned */
      scopes_content(change)->started = true; /* observers are not notified any more */
      scopes_content(change)->cursor = newest_owed(change);
      if (scopes_content(change)->cursor == NULL) end_change(change);
    }
    scopes_let_go(scope);
  }
}

/* -------------------------------------------------------------------------------------------------------------- Noting -- */

/* Whether a node is one that the change has to look at: linked after `after`, up to `limit`. */
static bool is_between(const kvo_node *node, uint64_t after, uint64_t limit) {
  uint64_t birth = atomic_load_explicit(&node->birth, memory_order_acquire);
  return birth > after && birth <= limit && atomic_load_explicit(&node->live, memory_order_acquire);
}

/* Whether what an expression reads now is what it was told last: always before the first change of the key. */
static bool is_known(const kvo_coalesced *change, kvo_tracked *tracked, uint64_t after) {
  return after == 0 || kvo__tracked_is_told(tracked, change->stored);
}

static bool wants_last(const kvo_open_scope *scope, const kvo_node *node) {
  return scope->kind == KVO_SCOPE_COALESCES_IF_CHANGED || (node->options & KVO_OLD) != 0;
}

/* Before the change, for nodes that were linked after `after`: has expressions read what they delivered last, or notifies. */
static void scopes_prepare(kvo_open_scope *scope, kvo_coalesced *change, uint64_t after, kvo_change_place place) {
  kvo_frame_content *frame = scopes_content(change);
  uint64_t limit = change->seen;
  for (kvo_node *node = atomic_load(&frame->slot->oldest); node != NULL && !change->is_over && !scope->is_over;
       node = atomic_load(&node->newer)) {
    if (!is_between(node, after, limit)) continue;
    if (kvo__node_is_dependency(node)) {
      place.reads_last = !place.tells_prior && is_known(change, node->user_data, after) && wants_last(scope, node);
      kvo__tracked_react(node->user_data, KVO_WILL_STORE, &place);
    } else if (place.tells_prior && (node->options & KVO_PRIOR) != 0 && kvo__node_kind(node) == KVO_NODE_DIRECT) {
      kvo__send_prior(frame, node, false, change->old_value);
    }
  }
}

/* Reads the old values that are not kept, and then notifies observers that want the change before it is made, and may make others. */
static void scopes_tell_before(kvo_open_scope *scope, kvo_coalesced *change, uint64_t after) {
  kvo_change_place place = {.depth = kvo__present_depth(), .own = scopes_content(change)->slot, .scope = scope};
  uint32_t before = kvo__before_begin(place.own, __builtin_frame_address(0));
  scopes_prepare(scope, change, after, place);
  place.tells_prior = true;
  scopes_prepare(scope, change, after, place);
  kvo__before_end(before);
}

static void *scopes_read_value(kvo_coalesced *change, kvo_property_reader *read, bool is_wanted) {
  kvo_frame_content *frame = scopes_content(change);
  const kvo_property *property = scopes_property_of(change);
  if (property == NULL && is_wanted) KVO_MISUSE(undefined, frame->info->cls, frame->info->object, frame->slot);
  return property != NULL ? read(property, frame->info->object, NULL) : NULL;
}

/* Keeps the present value as the old one, if that is wanted and none is kept yet: before a store, and again if observers have been
 * registered. */
static void keep_old(const kvo_open_scope *scope, kvo_coalesced *change) {
  if (change->old_value != NULL || change->is_over) return;
  unsigned wants = atomic_load_explicit(&scopes_content(change)->slot->wants, memory_order_acquire);
  bool is_wanted = (wants & KVO_FRAME_WANTS_OLD) != 0;
  if (!is_wanted && scope->kind != KVO_SCOPE_COALESCES_IF_CHANGED) return;
  void *present = scopes_read_value(change, kvo__property_keep, is_wanted);
  if (change->is_over)
    kvo__property_release(scopes_property_of(change), present);
  else
    change->old_value = present;
}

/* Notes the first change of a key. NULL if nobody observes the key, or without memory: then the change notifies as usual. */
static kvo_coalesced *scopes_note(kvo_open_scope *scope, kvo_object *object, kvo_key key, bool by_setter) {
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
  made->seen = scopes_content(made)->limit;
  made->stored = UINT64_MAX; /* until the store */
  made->is_kept = kvo__info_retain(scopes_content(made)->info);
  *scope->last = made;
  scope->last = &made->next;
  kvo__index_add(&scope->by_key, &made->entry);
  use(scope);
  keep_old(scope, made);
  scopes_tell_before(scope, made, 0);
  if (atomic_load_explicit(&scopes_content(made)->info->births, memory_order_acquire) != made->seen)
    keep_old(scope, made);
  if (made->is_over)
    made = NULL;
  else if (scopes_content(made)->is_tapped)
    kvo__hooks.change_pauses(scopes_content(made));
  scopes_let_go(scope);
  return made;
}

/* Called before and after a store, because not every setter comes back after it. */
static void note_store(kvo_coalesced *change) {
  change->stored = kvo__own.thread->clock;
  change->registered = atomic_load_explicit(&scopes_content(change)->info->births, memory_order_acquire);
}

/* Observers have been registered, or expressions have begun to depend on the key, since the change was noted. */
static void look_again(kvo_open_scope *scope, kvo_coalesced *change) {
  uint64_t after = change->seen;
  change->seen = atomic_load_explicit(&scopes_content(change)->info->births, memory_order_acquire);
  use(scope);
  keep_old(scope, change);
  scopes_tell_before(scope, change, after);
  keep_old(scope, change);
  scopes_let_go(scope);
}

/* Whether the key is the one whose change has opened a hold, and is told with that. */
static bool is_opener(const kvo_open_scope *scope, const kvo_object *object, kvo_key key) {
  return scope->opener != NULL && scope->opener->key == key && kvo__slot_info(scope->opener)->object == object;
}

bool kvo__scope_takes_slowly(kvo_object *object, kvo_key key, bool by_setter) {
  kvo__look_for_abandoned();
  drop_left(__builtin_frame_address(0));
  bool silent;
  kvo_open_scope *scope = scope_of(object, &silent);
  if (silent) kvo__follow_silently(object, key);
  if (scope == NULL || silent) return silent;
  if (is_opener(scope, object, key)) return true;
  kvo_coalesced *change = scopes_find(scope, object, key);
  use(scope);
  if (change == NULL)
    change = scopes_note(scope, object, key, by_setter);
  else if (atomic_load_explicit(&scopes_content(change)->info->births, memory_order_acquire) != change->seen)
    look_again(scope, change);
  kvo_open_scope *innermost = kvo__scopes();
  if (change != NULL && !change->is_over) note_store(change);
  bool is_quick = kvo__settling() == NULL;
  if (change != NULL && !change->is_over && !scope->is_over && is_quick) {
    innermost->object = object;
    innermost->key = key;
    innermost->info = scopes_content(change)->info;
    innermost->seen = change->seen;
    innermost->clock = change->stored;
  }
  scopes_let_go(scope);
  return change != NULL;
}

bool kvo__scope_stored(const kvo_object *object, kvo_key key, bool *silent) {
  const kvo_open_scope *scope = scope_of(object, silent);
  if (*silent) return true;
  kvo_coalesced *change = scope != NULL ? scopes_find(scope, object, key) : NULL;
  kvo_open_scope *hold = kvo__settling();
  if (scope != NULL && scope == hold && is_opener(scope, object, key)) {
    kvo__settle_add(hold, scope->opener);
    return false;
  }
  if (change == NULL) return !kvo__notifies_itself(object, key);
  note_store(change);
  if (hold != NULL && scope->is_settling) kvo__settle_add(hold, scopes_content(change)->slot);
  return false;
}

bool kvo__is_open(const kvo_tracked *tracked, kvo_slot *slot, const kvo_change_place *place, bool with_announced) {
  const kvo_object *object = kvo__slot_info(slot)->object;
  for (const kvo_open_scope *scope = kvo__scopes(); scope != NULL; scope = scope->outer) {
    bool is_own = place != NULL && place->scope == scope && (place->own == NULL || place->own == slot);
    if (tracked->is_binding && (scope->is_over || scope->is_settling)) is_own = true; /* it has run, or is about to */
    if (!is_own && !scope->is_over && scope->opener == slot)
      return true; /* its observer is notified once the bindings have settled */
    kvo_coalesced *change = is_own ? NULL : scopes_find(scope, object, slot->key);
    /* Of a change that is being told the mark says what it is still coming to. */
    bool is_told = change == NULL || change->is_over || scopes_content(change)->started ||
                   kvo__was_told_since(tracked, change->stored);
    if (!is_told) return true;
  }
  return with_announced && kvo__manual_innermost() != NULL &&
         kvo__manual_find(&kvo__own.thread->manuals, NULL, object, slot->key) != NULL;
}

/* -------------------------------------------------------------------------------------------------------------- Telling -- */

/* Tells an expression, unless what it was told last was read after the last store. */
static void scopes_tell_expression(const kvo_open_scope *scope, kvo_coalesced *change) {
  kvo_tracked *tracked = scopes_content(change)->cursor->user_data;
  kvo_change_place place = kvo__frame_reaches(scopes_content(change), __builtin_frame_address(0));
  place.changed = NULL; /* it is not the only one */
  place.scope = scope;
  place.if_changed = scope->kind == KVO_SCOPE_COALESCES_IF_CHANGED;
  if (kvo__tracked_is_told(tracked, change->stored)) return;
  kvo__tracked_react(tracked, KVO_STORED, &place);
}

/* Whether an observer of the key was registered before the last change, or with its initial value before the last store. */
static bool scopes_is_told(const kvo_coalesced *change, const kvo_node *node) {
  uint64_t birth = atomic_load_explicit(&node->birth, memory_order_acquire);
  return birth <= ((node->options & KVO_INITIAL) != 0 ? change->registered : change->seen);
}

/* An observer may destroy the object, if its class does not let the runtime keep it. */
static bool scopes_is_dead(kvo_coalesced *change) {
  return (atomic_load(&scopes_content(change)->info->state) & KVO_STATE_DEAD) != 0;
}

static void scopes_tell(kvo_open_scope *scope, kvo_coalesced *change) {
  kvo_frame_content *frame = scopes_content(change);
  const kvo_property *property = scopes_property_of(change);
  /* A change whose scope ends while its first observers are told, before the change, has not paused. */
  if (!frame->is_tapped && kvo__is_tapped() && !scopes_is_dead(change)) kvo__hooks.change_resumes(frame);
  bool is_same = false;
  if (scope->kind == KVO_SCOPE_COALESCES_IF_CHANGED && change->old_value != NULL && !scopes_is_dead(change)) {
    void *present = scopes_read_value(change, kvo__property_copy, false);
    is_same = present != NULL && kvo__property_same(property, change->old_value, present);
    kvo__property_release(property, present);
  }
  frame->is_settled = scope->is_settling;
  frame->limit = atomic_load_explicit(&frame->info->births, memory_order_acquire);
  bool has_next = frame->cursor != NULL || kvo_frame_next(&change->frame); /* see kvo__scopes_forget */
  for (; has_next; has_next = kvo_frame_next(&change->frame)) {
    kvo_node *node = frame->cursor;
    if (kvo__node_is_dependency(node)) {
      scopes_tell_expression(scope, change);
    } else if (!is_same && scopes_is_told(change, node)) {
      change->new_value = (node->options & KVO_NEW) != 0 ? scopes_read_value(change, kvo__property_copy, true) : NULL;
      kvo_frame_deliver(&change->frame, change->old_value, change->new_value);
      kvo__property_release(property, change->new_value);
      change->new_value = NULL;
    }
  }
}

/* Notifies in the order of the first changes. */
static void tell_all(kvo_open_scope *scope) {
  scope->depth = atomic_load(&kvo__own.thread->depth);
  for (kvo_coalesced *change = scope->first; change != NULL; change = change->next) {
    scope->present = change;
    if (!change->is_over) scopes_tell(scope, change);
    scope->present = NULL;
    end_change(change);
  }
}

/* ---------------------------------------------------------------------------------------------------------------- API -- */

uint64_t kvo__scope_serial(void) {
  static _Atomic uint64_t serials;
  return atomic_fetch_add(&serials, 1) + 1;
}

kvo_open_scope *kvo__scope_open(kvo_scope_kind kind, kvo_object *const *objects, size_t count) {
  kvo__look_for_abandoned();
  drop_left(__builtin_frame_address(0));
  bool fits = count <= (SIZE_MAX - sizeof(kvo_open_scope)) / sizeof *objects && kvo__thread() != NULL;
  kvo_open_scope *made = fits ? kvo__alloc(sizeof *made + count * sizeof *objects) : NULL;
  if (made == NULL) return NULL;
  made->serial = kvo__scope_serial();
  made->kind = kind;
  made->last = &made->first;
  made->by_key.key_of = scopes_key_of;
  made->users = 1;
  made->depth = UINT32_MAX;
  made->covers_all = objects == NULL;
  kvo__scope_fill(made, objects, count);
  made->outer = kvo__scopes();
  kvo__own.thread->scopes = made;
  kvo__own.open_changes++;
  return made;
}

void kvo__scope_close(kvo_open_scope *scope) {
  scope->is_over = true;
  tell_all(scope);
  unlink_scope(scope);
  scopes_let_go(scope);
}

/* The words of the program's kvo_scope. */
enum { ADDRESS, SERIAL };

kvo_status kvo_scope_begin(kvo_scope *scope, kvo_scope_kind kind, kvo_object *const *objects, size_t count,
                           const char *file, uint32_t line) {
  if (scope != NULL) *scope = (kvo_scope){{0}};
  const char *wrong = scope == NULL                                             ? "scope is NULL"
                      : kind < KVO_SCOPE_COALESCES || kind > KVO_SCOPE_SILENCES ? "kind is unknown"
                                                                                : kvo__scope_mistake(objects, count);
  if (wrong != NULL) return kvo__invalid("kvo_scope_begin", wrong, (kvo_place){file, line});
  kvo_open_scope *made = kvo__scope_open(kind, objects, count);
  if (made == NULL) return kvo__fail(KVO_ERROR_OUT_OF_MEMORY, "kvo_scope_begin: out of memory");
  made->frame = scope;
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
  open->frame = NULL; /* nothing shows yet that it has been left */
  forget_last();
  drop_left(__builtin_frame_address(0));
  open->frame = __builtin_frame_address(0); /* an observer may leave its end with longjmp */
  kvo__look_for_abandoned();
  kvo_open_scope *hold = kvo__settle_scope(open);
  kvo__scope_close(open);
  if (hold != NULL) kvo__scope_close(hold);
}
