/* death.c - the death of an object: ends its observations, and notifies expressions that depend on it. */
#include "changes/scopes.h"
#include "changes/settle.h"
#include "lifetimes/lifetimes.h"
#include "methods/methods.h"

/* What is collected while the nodes of a dying object are unlinked, for reports and notifications afterwards. */
typedef struct teardown {
  kvo_place place;
  /* Initially `few`, so that the report does not need memory. */
  kvo_fault_observation *left;
  size_t left_count, left_capacity;
  kvo_fault_observation few[4];
  /* Those of expressions that depend on the object, linked by `from`, so that none is lost without memory. An expression that read several
   * of its keys occurs several times. */
  kvo_dependency *dependents;
} teardown;

/* Doubles the capacity of `left` if it is full. */
static bool death_has_room(teardown *of) {
  if (of->left_count < of->left_capacity) return true;
  kvo_fault_observation *larger = kvo__alloc(2 * of->left_capacity * sizeof *larger);
  if (larger == NULL) return false;
  memcpy(larger, of->left, of->left_count * sizeof *larger);
  if (of->left != of->few) kvo__free(of->left);
  of->left = larger;
  of->left_capacity *= 2;
  return true;
}

/* Whether the death changes what an expression has read by this dependency. Who refers to an object that is counted keeps it, so that only
 * a weak property, which has read its lifetime, can have led to one that dies. Any other reference has been replaced, or is just being
 * replaced, and the program's closures and getters must not run then: they would read in the middle of the store, or an `unowned`. What an
 * opaque expression has read may be a container that is just dropping the object, whatever its class. */
static bool is_changed_by_death(const kvo_info *info, const kvo_node *node) {
  const kvo_tracked *tracked = node->user_data;
  bool is_replaced = info->cls->retain != NULL || tracked->is_opaque;
  return !is_replaced || atomic_load(&node->slot)->key == KVO_KEY_LIFETIME;
}

static void end_node(kvo_info *info, kvo_node *node, teardown *of) {
  if (kvo__node_is_dependency(node)) {
    if (!kvo__tracked_detach(node)) return;
    if (is_changed_by_death(info, node)) {
      kvo__dependency(node)->from = of->dependents;
      of->dependents = kvo__dependency(node);
    }
    kvo__node_retire(info, node);
    return;
  }
  /* Also if another thread is removing it and has not got this far: the object must not be evaluated any more. */
  if (kvo__node_kind(node) == KVO_NODE_ANCHOR) kvo__tracked_end(node->user_data);
  kvo__publish_dead(&node->live);              /* first: another thread that removes it may not have done this */
  if (kvo__id_claim(node->id) == NULL) return; /* being removed on another thread */
  if (kvo__node_kind(node) == KVO_NODE_DEATH) {
    kvo__node_retire(info, node);
    return;
  }
  if (kvo__is_tapped()) kvo__hooks.ended(node);
  kvo__end_is_death(node->id);
  bool apple_contract = (node->options & KVO_ENDS_WITH_OBJECT) == 0;
  if (apple_contract && death_has_room(of)) kvo__describe_node(node, &of->left[of->left_count++]);
  KVO_TELL(remember, node, true, of->place);
  kvo_observation other = (node->options & KVO_NODE_BINDS) != 0 ? kvo__bound_of(node)->other : 0;
  kvo__node_retire(info, node);
  if (other != 0) kvo__end_named(other, of->place);
}

/* Oldest first, so that those that are added meanwhile are asked, too. The caller is a reader. */
static void ask_watches(kvo_info *info) {
  kvo_slot *watches = kvo__slot_find(info, KVO_KEY_DEATH);
  if (watches == NULL) return;
  atomic_store(&((kvo_death_slot *)(void *)watches)->is_asked, true);
  for (kvo_node *node = atomic_load(&watches->oldest); node != NULL; node = atomic_load(&node->newer))
    if (atomic_load(&node->live) && node->ops->ask != NULL) node->ops->ask(node->id, node->user_data);
}

/* First, because what is unlinked last is destroyed first: whoever watches the death is told after all observations have ended. */
static void end_watches(kvo_info *info, teardown *of) {
  kvo_slot *watches = kvo__slot_find(info, KVO_KEY_DEATH);
  if (watches == NULL) return;
  for (kvo_node *node = atomic_load(&watches->oldest); node != NULL; node = atomic_load(&node->newer))
    end_node(info, node, of);
}

/* Dependencies last, newest first: the change in which an observer has destroyed the object goes on from node to older node, and
 * notifies the expressions that were left to it. */
static void end_nodes(kvo_info *info, teardown *of) {
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer))
      if (!kvo__node_is_dependency(node)) end_node(info, node, of);
  for (kvo_slot *slot = &info->first; slot != NULL; slot = atomic_load(&slot->next))
    for (kvo_node *node = atomic_load(&slot->newest); node != NULL; node = atomic_load(&node->older))
      end_node(info, node, of);
}

/* Merges two lists that are sorted newest first. */
static kvo_dependency *merge(kvo_dependency *one, kvo_dependency *other) {
  kvo_dependency *merged = NULL, **end = &merged;
  while (one != NULL && other != NULL) {
    kvo_dependency **newer = one->order >= other->order ? &one : &other;
    *end = *newer;
    *newer = (*newer)->from;
    end = &(*end)->from;
  }
  *end = one != NULL ? one : other;
  return merged;
}

/* Sorts a list newest first, without memory. */
static kvo_dependency *sorted(kvo_dependency *list) {
  kvo_dependency *runs[64] = {NULL}; /* the one at i has 2 to the power of i elements, or none */
  while (list != NULL) {
    kvo_dependency *run = list;
    list = run->from;
    run->from = NULL;
    size_t i = 0;
    for (; runs[i] != NULL; runs[i++] = NULL) run = merge(runs[i], run);
    runs[i] = run;
  }
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) list = merge(runs[i], list);
  return list;
}

/* Whether it is a binding that sets the object. It ends with that, and the program's function may rely on it. */
static bool ends_with(const kvo_dependency *of, const kvo_object *object) {
  return (of->node.options & KVO_NODE_BINDS) != 0 && kvo__bound_of(&of->node)->target == object;
}

/* Notifies each binding, or each other expression, once. */
static void notify_kind(const kvo_dependency *dependents, const kvo_object *object, bool is_binding) {
  const void *notified = NULL;
  for (const kvo_dependency *each = dependents; each != NULL; each = each->from) {
    kvo_tracked *tracked = each->node.user_data;
    if (tracked != notified && tracked->is_binding == is_binding && !ends_with(each, object))
      kvo__tracked_react(tracked, KVO_DIED, NULL);
    notified = tracked;
  }
}

/* As a change does: bindings settle, then the others are notified, newest first, then the observers of what bindings have set. */
static void notify_dependents(kvo_dependency *dependents, const kvo_object *object) {
  dependents = sorted(dependents);
  const kvo_dependency *binding = dependents;
  while (binding != NULL && (binding->node.options & KVO_NODE_BINDS) == 0) binding = binding->from;
  bool is_outermost = binding != NULL && kvo__settling() == NULL;
  kvo_open_scope *hold =
      is_outermost && kvo__thread() != NULL ? kvo__settle_open(kvo__present_depth(), __builtin_frame_address(0)) : NULL;
  if (binding != NULL) notify_kind(dependents, object, true);
  if (hold != NULL) kvo__settle_run_all(hold);
  notify_kind(dependents, object, false);
  if (hold != NULL) kvo__scope_close(hold);
}

/* Ends all observations of an object and leaves it marked as being destroyed: with its class, taking no observers. Returns false if another
 * thread still evaluates the object and waits for this thread. */
static bool death_finish(kvo_object *object, kvo_place place) {
  kvo__look_for_abandoned(); /* in this frame: a callee's is below those that were left */
  kvo_info *info = kvo__word_info(kvo__word(object));
  const kvo_object *named = info != NULL ? info->object : object; /* a binding may have moved the header to finish it */
  uint64_t entered = info != NULL ? kvo__enter(info) : 0;
  if (info != NULL) ask_watches(info);
  kvo__unobserved_forget(named);
  kvo__scopes_forget(named);
  if (info == NULL) {
    kvo__set_word(object, kvo__word(object) | KVO_WORD_DYING);
    kvo__hooks_forget(named); /* only now, because from here on it gets no more */
    return true;
  }
  kvo__manual_end_of(info);
  if (kvo__is_tapped()) kvo__hooks.died(info);
  /* First, so that no node is linked any more which the loop below would miss. */
  kvo__lock(&info->lock);
  atomic_fetch_or(&info->state, KVO_STATE_DEAD);
  kvo__count_readers(info); /* that of a callback which waits for the end, on another thread */
  kvo__unlock(&info->lock);
  teardown dead; /* no initializer: to clear `few` takes longer than the rest of a death */
  dead.place = place;
  dead.left = dead.few;
  dead.left_count = 0;
  dead.left_capacity = sizeof dead.few / sizeof *dead.few;
  dead.dependents = NULL;
  end_watches(info, &dead);
  end_nodes(info, &dead);
  /* Only anchors and deferred deliveries evaluate the object. One that was removed before may still be doing so. */
  bool may_be_evaluated = kvo__slot_find(info, KVO_KEY_ANCHORS) != NULL || atomic_load(&kvo__threads.unwinding) != 0;
  bool is_evaluated = may_be_evaluated && kvo__wait_for_evaluations(info) != KVO_WAITED;
  if (is_evaluated) KVO_MISUSE(endless_death, info, place);
  /* Reports name the address of the object. */
  uintptr_t created = info->first.is_of_created ? KVO_WORD_CREATED : 0;
  kvo__set_word(info->object, (uintptr_t)info->cls | KVO_WORD_DYING | created);
  kvo__set_word(object, (uintptr_t)info->cls | KVO_WORD_DYING | created);
  kvo__hooks_forget(named); /* only now, because from here on it gets no more */
  if (dead.left_count > 0) KVO_MISUSE(deallocated, info->object, info->cls, dead.left, dead.left_count, dead.place);
  if ((atomic_load(&info->state) & KVO_STATE_REMEMBERED) != 0) KVO_TELL(forget, info);
  notify_dependents(dead.dependents, named);
  if (dead.left != dead.few) kvo__free(dead.left);
  kvo__leave(info, entered);
  return !is_evaluated;
}

static bool death_has_begun(const kvo_object *object) {
  uintptr_t word = kvo__word(object);
  kvo_info *info = kvo__word_info(word);
  const kvo_slot *watches = info != NULL ? kvo__slot_find(info, KVO_KEY_DEATH) : NULL;
  return (word & KVO_WORD_DYING) != 0 ||
         (watches != NULL && atomic_load(&((const kvo_death_slot *)(const void *)watches)->is_asked));
}

/* Whether there is an object to finish or destroy; reports KVO0012 if not. */
static bool can_end(kvo_object *object, const char *function, kvo_place place) {
  bool is_object = kvo__is_object(object), is_dying = is_object && death_has_begun(object);
  if (is_object && !is_dying) return true;
  KVO_MISUSE(unsupported_object, object, function, NULL, is_dying ? "it is being destroyed already" : NULL, place);
  return false;
}

/* Whether kvo_object_create has made the object, so that its memory can be freed; reports KVO0008 if not. */
static bool is_created(const kvo_object *object, const char *function, kvo_place place) {
  uintptr_t word = kvo__word(object);
  const kvo_info *info = kvo__word_info(word);
  if (info != NULL ? info->first.is_of_created : (word & KVO_WORD_CREATED) != 0) return true;
  KVO_MISUSE(not_created, object, function, place);
  return false;
}

/* Whether this thread is in a callback before a change of this object, whose setter is about to store into it; reports KVO0008 if so. */
static bool is_before_change(const kvo_object *object, const char *function, kvo_place place) {
  const kvo_info *info = kvo__word_info(kvo__word(object));
  const kvo_slot *slot = info != NULL ? kvo__in_will_of(info) : NULL;
  if (slot != NULL) KVO_MISUSE(ended_before_change, info, slot, function, place);
  return slot != NULL;
}

void kvo_object_finish_at(kvo_object *object, const char *file, uint32_t line) {
  static const char function[] = "kvo_object_finish";
  kvo_place place = {file, line};
  if (object == NULL || kvo__word(object) == 0 || !can_end(object, function, place)) return;
  is_before_change(object, function, place); /* its memory goes in any case */
  kvo_class *cls = kvo_object_class(object);
  death_finish(object, place);
  kvo__set_word(object, 0);
  kvo__class_let_go(cls);
}

void kvo_object_destroy_at(kvo_object *object, const char *file, uint32_t line) {
  static const char function[] = "kvo_object_destroy";
  kvo_place place = {file, line};
  if (object == NULL || !can_end(object, function, place) || !is_created(object, function, place) ||
      is_before_change(object, function, place))
    return;
  if (!death_finish(object, place)) return; /* another thread evaluates it and waits for this one: leak it */
  if (!kvo__old_object_keep(object)) kvo__object_free(object);
}

bool kvo_object_end(kvo_object *object) {
  static const char function[] = "kvo_object_end";
  if (object == NULL || kvo__word(object) == 0 || !can_end(object, function, KVO_NOWHERE)) return true;
  is_before_change(object, function, KVO_NOWHERE); /* the memory stays, for the setter too */
  kvo_class *cls = kvo_object_class(object);
  bool is_ended = death_finish(object, KVO_NOWHERE);
  if (is_ended && cls->finalize != NULL) cls->finalize(object);
  kvo__set_word(object, 0);
  kvo__class_let_go(cls);
  return is_ended;
}

void kvo_object_finish(kvo_object *object) { kvo_object_finish_at(object, NULL, 0); }

void kvo_object_destroy(kvo_object *object) { kvo_object_destroy_at(object, NULL, 0); }
