/* rules.c - the state machine of an observed expression: one table says, for each event and state, what is done.
 *
 * An expression is settled, then its observer is notified. To settle it is to evaluate it and to link it to what it reads now. The old
 * value of a notification is the value that was delivered last. */
#include "expressions/deliver.h"

/* What an expression is, as this thread sees it: the first that applies. */
typedef enum state {
  /** Its observation has ended. */
  ENDED,
  /** This thread is evaluating it. */
  EVALUATING,
  /** A change or a scope that is open is going to settle it and to notify, and knows that it has to. */
  STALE,
  /** The same, and does not know it yet. */
  LEFT,
  /** Only its owner may evaluate it, on another thread. */
  ELSEWHERE,
  HERE,
  STATES
} state;

typedef enum action {
  NOTHING,
  /** Evaluate it once more after the evaluation in progress. */
  AGAIN,
  /** Leave it to what is open: it becomes STALE. */
  LEAVE,
  /** Read what was delivered last, if that is not kept, and notify an observer that wants it before the change. */
  PREPARE,
  /** Settle it. */
  FOLLOW,
  /** Settle it and notify. */
  NOTIFY,
  /** Ask its owner to do that. */
  ASK_TO_FOLLOW,
  ASK_TO_NOTIFY
} action;

/* What dies in an evaluation needs no other one: a computed property may make an object each time. Documentation/Design.md shows the same
 * table. */
static const uint8_t actions[KVO_EXPRESSION_EVENTS][STATES] = {
    /*                          ENDED, EVALUATING, STALE, LEFT, ELSEWHERE, HERE */
    [KVO_WILL_STORE] = {NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, PREPARE},
    [KVO_STORED] = {NOTHING, AGAIN, NOTHING, LEAVE, ASK_TO_NOTIFY, NOTIFY},
    [KVO_STORED_MEANWHILE] = {NOTHING, AGAIN, NOTHING, FOLLOW, ASK_TO_FOLLOW, FOLLOW},
    [KVO_STORED_SILENTLY] = {NOTHING, AGAIN, NOTHING, FOLLOW, ASK_TO_FOLLOW, FOLLOW},
    [KVO_DIED] = {NOTHING, NOTHING, NOTHING, LEAVE, ASK_TO_NOTIFY, NOTIFY},
    [KVO_RELEASED] = {NOTHING, NOTIFY, NOTIFY, NOTIFY, ASK_TO_NOTIFY, NOTIFY},
    [KVO_ASKED] = {NOTHING, AGAIN, NOTHING, LEAVE, NOTIFY, NOTIFY},
    [KVO_ASKED_SILENTLY] = {NOTHING, AGAIN, NOTHING, LEAVE, FOLLOW, FOLLOW},
};

/* ---------------------------------------------------------------------------------------------------------- The state -- */

/* Enters the root, so that the user data stays; false if the observation has ended. */
static bool rules_enter(kvo_tracked *tracked, uint64_t *entered) {
  kvo__lock(&tracked->lock);
  bool live = atomic_load(&tracked->live);
  if (live) *entered = kvo__enter(tracked->root);
  kvo__unlock(&tracked->lock);
  return live;
}

bool kvo__tracked_is_elsewhere(kvo_tracked *tracked) {
  uint64_t entered;
  if (tracked->ops->is_here == NULL) return false;
  if (!rules_enter(tracked, &entered)) return true;
  bool is_here = tracked->ops->is_here(tracked->user_data);
  kvo__leave(tracked->root, entered);
  return !is_here;
}

/* Whether this thread is evaluating the expression, which `again` has it do once more. */
static bool is_evaluating(const kvo_tracked *tracked, bool again) {
  if (kvo__own.thread == NULL) return false;
  bool found = false;
  for (uint32_t i = atomic_load_explicit(&kvo__own.thread->depth, memory_order_relaxed); i > 0; i--) {
    kvo_evaluation *each = kvo__evaluation_of(kvo__mark_at(i - 1));
    if (each == NULL || each->tracked != tracked) continue;
    each->is_outdated = each->is_outdated || again;
    found = true;
  }
  return found;
}

bool kvo__tracked_is_evaluating(const kvo_tracked *tracked) { return is_evaluating(tracked, true); }

/* Whether it is left to what is open. What dies is also left to a change that is announced by hand, and to a silent one that is about to
 * store. LEAVE is done at once, while what is open cannot end. */
static bool rules_is_left(kvo_tracked *tracked, kvo_expression_event event, const kvo_change_place *place) {
  if (event == KVO_DIED && kvo__scopes() != NULL && kvo__tracked_awaits_silent(tracked)) return true;
  bool leaves = actions[event][LEFT] == LEAVE && !kvo__is_absorbed(tracked, place);
  return leaves ? kvo__postpone(tracked, place, event == KVO_DIED) : kvo__is_postponed(tracked, place, false);
}

static state state_for(kvo_tracked *tracked, kvo_expression_event event, const kvo_change_place *place) {
  const uint8_t *row = actions[event];
  if (!atomic_load(&tracked->live)) return ENDED;
  if (is_evaluating(tracked, row[EVALUATING] == AGAIN)) return EVALUATING;
  if (rules_is_left(tracked, event, place)) return atomic_load(&tracked->is_stale) ? STALE : LEFT;
  return kvo__tracked_is_elsewhere(tracked) ? ELSEWHERE : HERE;
}

/* --------------------------------------------------------------------------------------------------------- The actions -- */

static void ask(kvo_tracked *tracked) {
  uint64_t entered;
  if (!rules_enter(tracked, &entered)) return;
  tracked->ops->ask(tracked->id, tracked->user_data);
  kvo__leave(tracked->root, entered);
}

/* Asks the owner once for all that it has not done yet. */
static void ask_owner(kvo_tracked *tracked, bool notifies) {
  atomic_store(&tracked->is_stale, true);
  uint32_t asked = KVO_ASKED_TO_FOLLOW;
  bool is_registered = atomic_load(&tracked->registered) != 0;
  if (notifies && !is_registered) { /* see track_call in track.c */
    atomic_store(&tracked->missed, true);
    is_registered = atomic_load(&tracked->registered) != 0;
  }
  if (notifies && is_registered) asked |= KVO_ASKED_TO_TELL;
  if (atomic_fetch_or(&tracked->asked, asked) == 0) ask(tracked);
}

/* Settles it. If a change was left to whoever settles it next, the observer is notified all the same, unless what it was left to is still
 * open, or the owner has been asked to notify. `is_last`: what it reads now counts as delivered. */
static void rules_follow(kvo_tracked *tracked, bool is_last) {
  kvo_status status;
  bool was_left = false;
  kvo_cell *now = kvo__arm(tracked, NULL, &status, &was_left);
  if (was_left && (atomic_load(&tracked->asked) & KVO_ASKED_TO_TELL) != 0)
    atomic_store(&tracked->is_stale, true);
  else if (was_left && !kvo__postpone(tracked, NULL, true))
    kvo__tracked_tell_present(tracked, now, false);
  else if (!was_left && is_last)
    kvo__tracked_set_last(tracked, now);
  else if (!was_left)
    kvo__tracked_keep_last(tracked, now);
  kvo__cell_release(tracked, now);
}

/* A binding has no old value. */
static bool lacks_last(const kvo_tracked *tracked, const kvo_change_place *place) {
  return place->reads_last && !tracked->is_binding &&
         atomic_load_explicit(&tracked->last, memory_order_acquire) == NULL;
}

static bool wants_prior(const kvo_tracked *tracked, const kvo_change_place *place) {
  return place->tells_prior && (tracked->options & KVO_PRIOR) != 0;
}

/* Asked first: to find the state takes a time that grows with what the expression reads. */
static bool has_to_prepare(const kvo_tracked *tracked, const kvo_change_place *place) {
  return wants_prior(tracked, place) || lacks_last(tracked, place);
}

static void prepare(kvo_tracked *tracked, const kvo_change_place *place) {
  if (lacks_last(tracked, place)) kvo__tracked_read_last(tracked);
  if (wants_prior(tracked, place)) kvo__tracked_tell_prior(tracked);
}

bool kvo__tracked_defers(kvo_tracked *tracked) {
  if (kvo__may_nest()) return false;
  atomic_store(&tracked->is_stale, true);
  kvo__defer(tracked->anchor);
  return true;
}

static void rules_notify(kvo_tracked *tracked, kvo_expression_event event, const kvo_change_place *place) {
  if (event == KVO_ASKED && (tracked->options & KVO_PRIOR) != 0) kvo__tracked_tell_prior(tracked);
  if (tracked->is_binding) {
    kvo__hooks.settle(tracked->anchor);
  } else if (event == KVO_DIED || !kvo__tracked_defers(tracked)) {
    /* At once what dies, because the program may have only a pointer to it. */
    kvo__tracked_settle(tracked, place != NULL ? place->changed : NULL, place != NULL && place->if_changed);
  }
}

/* Finds the action, and asks the owner if that is it. */
static action rules_decide(kvo_tracked *tracked, kvo_expression_event event, const kvo_change_place *place,
                           state *found) {
  *found = state_for(tracked, event, place);
  action due = actions[event][*found];
  if (due == NOTIFY && tracked->ops->is_here != NULL) atomic_store(&tracked->asked, 0); /* the caller does it */
  if (due == ASK_TO_FOLLOW || due == ASK_TO_NOTIFY) ask_owner(tracked, due == ASK_TO_NOTIFY);
  return due;
}

bool kvo__tracked_is_due(kvo_tracked *tracked, const kvo_change_place *place) {
  state found;
  return rules_decide(tracked, KVO_STORED, place, &found) == NOTIFY && !kvo__tracked_defers(tracked);
}

void kvo__tracked_react(kvo_tracked *tracked, kvo_expression_event event, const kvo_change_place *place) {
  state found;
  if (event == KVO_WILL_STORE && !has_to_prepare(tracked, place)) return;
  if (event == KVO_DIED) kvo__look_for_abandoned();
  action due = rules_decide(tracked, event, place, &found);
  if (event == KVO_ASKED_SILENTLY && due == FOLLOW) atomic_store(&tracked->is_stale, false); /* only its owner was */
  if (due == PREPARE)
    prepare(tracked, place);
  else if (due == FOLLOW)
    rules_follow(tracked, event == KVO_STORED_MEANWHILE && found != LEFT);
  else if (due == NOTIFY)
    rules_notify(tracked, event, place);
}

/* --------------------------------------------------------------------------------------------------------- The events -- */

void kvo__tracked_missed(kvo_tracked *tracked, uint64_t birth) {
  bool is_notified = birth > atomic_load(&tracked->registered) || (tracked->options & KVO_INITIAL) != 0;
  kvo__tracked_react(tracked, is_notified ? KVO_STORED : KVO_STORED_MEANWHILE, NULL);
}

void kvo__tracked_unchanged(kvo_tracked *tracked) {
  if (atomic_load(&tracked->is_stale))
    kvo__tracked_react(tracked, KVO_STORED, NULL);
  else
    kvo__tracked_forget_last(tracked, true);
}

void kvo__tracked_answer(kvo_tracked *tracked) {
  bool is_paused = atomic_load(&tracked->registered) == 0;
  uint32_t asked = atomic_fetch_and(&tracked->asked, is_paused ? KVO_ASKED_TO_TELL : 0u);
  if (asked == 0) return;
  bool notifies = (asked & KVO_ASKED_TO_TELL) != 0 && !is_paused;
  kvo__tracked_react(tracked, notifies ? KVO_ASKED : KVO_ASKED_SILENTLY, NULL);
}

bool kvo__tracked_may_read(kvo_tracked *tracked) {
  return (atomic_load(&tracked->asked) & KVO_ASKED_TO_TELL) == 0 && !kvo__tracked_is_elsewhere(tracked);
}

void kvo__tracked_ask_again(kvo_tracked *tracked) {
  if (atomic_load(&tracked->asked) != 0) ask(tracked);
}

bool kvo__tracked_is_told(kvo_tracked *tracked, uint64_t since) {
  kvo__lock(&tracked->lock);
  bool is_told = kvo__was_told_since(tracked, since);
  kvo__unlock(&tracked->lock);
  return is_told && !atomic_load(&tracked->is_stale);
}
