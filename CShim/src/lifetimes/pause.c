/* pause.c - pausing and resuming observations: a paused one notes that it has missed a change, and nothing else.
 *
 * A direct observation is paused by the kind of its node, which a change reads anyway. An expression has no callback as long as it is not
 * `registered`, as during its registration. */
#include "lifetimes/lifetimes.h"

/* An observation found by its id, with what keeps it from being freed. */
typedef struct target {
  kvo_node *node;
  kvo_info *info;
  uint64_t entered;
  /** For an expression, otherwise NULL. */
  kvo_tracked *tracked;
} target;

/* Nobody retires the node before it has been entered. */
static void pause_enter(kvo_node *node, void *arg) {
  target *of = arg;
  if (!kvo__node_is_own(node)) return;
  of->node = node;
  of->info = kvo__slot_info(atomic_load_explicit(&node->slot, memory_order_relaxed));
  of->entered = kvo__enter(of->info);
  of->tracked = kvo__node_kind(node) == KVO_NODE_ANCHOR ? node->user_data : NULL;
  if (of->tracked != NULL) kvo__tracked_retain(of->tracked);
}

/* False if the id names no observation. The caller lets go of the target. */
static bool pause_find(kvo_observation id, target *of) {
  *of = (target){0};
  return kvo__id_look_up(id, pause_enter, of) && of->node != NULL;
}

static void pause_let_go(const target *of) {
  if (of->tracked != NULL) kvo__tracked_release(of->tracked);
  kvo__leave(of->info, of->entered);
}

/* ---------------------------------------------------------------------------------------------------- Direct -- */

/* The present value, if the object is alive. */
static void *pause_read_value(const target *of, const kvo_property *property) {
  uint32_t mark;
  if (!kvo__hold_object(of->info, of->node, __builtin_frame_address(0), &mark)) return NULL;
  bool is_kept = kvo__info_retain(of->info);
  void *value = is_kept || !kvo__info_counts(of->info) ? kvo__property_keep(property, of->info->object, NULL) : NULL;
  kvo__let_go_of_object(mark);
  if (is_kept) kvo__info_release(of->info);
  return value;
}

/* Returns the number of births that only a change which begins from now on has, or a greater one. */
static uint64_t births_from_now(kvo_info *info) {
  kvo__lock(&info->lock);
  uint64_t births = atomic_fetch_add_explicit(&kvo__births, 1, memory_order_relaxed) + 1;
  atomic_store_explicit(&info->births, births, memory_order_release);
  kvo__unlock(&info->lock);
  return births;
}

static kvo_status pause_direct(const target *of) {
  kvo_node *node = of->node;
  const kvo_property *property = kvo__slot_property(of->info, atomic_load_explicit(&node->slot, memory_order_relaxed));
  bool wants_old = (node->options & KVO_OLD) != 0 && property != NULL;
  kvo_paused *made = wants_old ? kvo__paused_make(node->id, property) : NULL;
  if (wants_old && made == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo__lock(&of->info->lock);
  bool live = atomic_load(&node->live), pauses = live && kvo__node_kind(node) == KVO_NODE_DIRECT;
  uint64_t serial = pauses && made != NULL ? kvo__paused_add(made) : 0;
  if (pauses) atomic_store(&node->kind, KVO_NODE_PAUSED);
  kvo__unlock(&of->info->lock);
  if (!pauses) kvo__paused_free(made);
  if (serial != 0) {
    void *value = pause_read_value(of, property);
    if (value != NULL && !kvo__paused_keep(node->id, serial, value, births_from_now(of->info)))
      kvo__property_release(property, value);
  }
  return live ? KVO_OK : KVO_ERROR_NOT_REGISTERED;
}

static kvo_status resume_direct(const target *of, bool tell_missed) {
  kvo_node *node = of->node;
  bool has_missed = false;
  kvo_paused *paused = NULL;
  kvo__lock(&of->info->lock);
  bool live = atomic_load(&node->live);
  if (live && kvo__is_paused(kvo__node_kind(node))) {
    has_missed = atomic_exchange(&node->kind, KVO_NODE_DIRECT) == KVO_NODE_MISSED;
    paused = kvo__paused_take(node->id); /* after that: see kvo__paused_misses */
  }
  kvo__unlock(&of->info->lock);
  if (has_missed && tell_missed) kvo__deliver_missed(node, of->info, kvo__paused_value(paused));
  kvo__paused_free(paused);
  return live ? KVO_OK : KVO_ERROR_NOT_REGISTERED;
}

/* ----------------------------------------------------------------------------------------------- Expressions -- */

static kvo_status pause_tracked(kvo_tracked *tracked) {
  kvo__lock(&tracked->lock);
  bool live = atomic_load(&tracked->live), pauses = live && tracked->held == 0;
  uint64_t registered = atomic_load(&tracked->registered);
  if (pauses) {
    atomic_store(&tracked->missed, false);
    tracked->held = registered;
    atomic_store(&tracked->registered, 0);
  }
  kvo__unlock(&tracked->lock);
  if (!live) return KVO_ERROR_NOT_REGISTERED;
  if (!pauses || (tracked->options & KVO_OLD) == 0 || !kvo__tracked_may_read(tracked)) return KVO_OK;
  kvo__tracked_read_last(tracked);
  kvo__lock(&tracked->lock);
  bool is_paused = tracked->held != 0; /* a getter may have resumed it */
  kvo__unlock(&tracked->lock);
  if (!is_paused) kvo__tracked_unchanged(tracked);
  return KVO_OK;
}

static kvo_status resume_tracked(kvo_tracked *tracked, bool tell_missed) {
  bool has_missed = false;
  kvo__lock(&tracked->lock);
  bool live = atomic_load(&tracked->live), resumes = live && tracked->held != 0;
  if (resumes) {
    atomic_store(&tracked->registered, tracked->held);
    tracked->held = 0;
    has_missed = atomic_exchange(&tracked->missed, false); /* after `registered`: see track_call in track.c */
  }
  kvo__unlock(&tracked->lock);
  if (resumes) kvo__tracked_ask_again(tracked);
  if (has_missed && tell_missed)
    kvo__tracked_react(tracked, KVO_RELEASED, NULL);
  else if (has_missed)
    kvo__tracked_react(tracked, KVO_STORED_MEANWHILE, NULL);
  else if (resumes && !atomic_load(&tracked->is_stale)) /* else it is told by what it is left to */
    kvo__tracked_unchanged(tracked);
  return live ? KVO_OK : KVO_ERROR_NOT_REGISTERED;
}

/* ---------------------------------------------------------------------------------------------------------------- API -- */

kvo_status kvo_observation_pause(kvo_observation observation) {
  target of;
  static const char function[] = "kvo_observation_pause";
  if (!pause_find(observation, &of)) return kvo__fail_id(KVO_ERROR_NOT_REGISTERED, function, observation);
  kvo_status status = of.tracked != NULL ? pause_tracked(of.tracked) : pause_direct(&of);
  pause_let_go(&of);
  return kvo__fail_id(status, function, observation);
}

kvo_status kvo_observation_resume(kvo_observation observation, bool tell_missed) {
  target of;
  static const char function[] = "kvo_observation_resume";
  if (!pause_find(observation, &of)) return kvo__fail_id(KVO_ERROR_NOT_REGISTERED, function, observation);
  kvo_status status = of.tracked != NULL ? resume_tracked(of.tracked, tell_missed) : resume_direct(&of, tell_missed);
  pause_let_go(&of);
  return kvo__fail_id(status, function, observation);
}

bool kvo_observation_is_paused(kvo_observation observation) {
  target of;
  if (!pause_find(observation, &of)) return false;
  bool paused = kvo__is_paused(kvo__node_kind(of.node));
  if (of.tracked != NULL) {
    kvo__lock(&of.tracked->lock);
    paused = of.tracked->held != 0;
    kvo__unlock(&of.tracked->lock);
  }
  pause_let_go(&of);
  return paused;
}
