/* sets.c - rounds of concurrent sets of words, whose observers come and go: Swift closures that take a word, closures with a record, C
 * callbacks and key paths. An observer is called with values of its object, and not after its end; it is destroyed once, and is not called
 * after that. What one thread sets at last notifies each observer that is left once, with the values before and now.
 *
 * A compiler that does not know Swift's calling convention leaves out the closures.
 *
 *     stress_sets --seconds 30 [--seed N] [--round N] */
#include <kvo/kvo.h>
#include <kvo/kvo_binding.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "random.h"
#include "registry/closures.h"

enum { ITEMS = 4, THREADS = 4, WATCHERS = 4096, LEFT = 8, MOST_NESTED = 3, ROUND_SECONDS = 120 };

/* The value of an item has the item's number in the upper half. Each thread has its own storage for it: a program orders its stores of a
 * property, and only the runtime is tested for races. */
typedef struct item {
  kvo_object header;
  uint64_t tag;
  struct item *next;
} item;

typedef enum kind { TAKES_WORD, HAS_RECORD, CALLBACK, PATH } kind;
typedef enum mode { CALM, YIELDS, SETS, ENDS_ITSELF, ENDS_ANOTHER, REGISTERS, MODES } mode;

typedef struct watcher {
  item *of;
  kind kind;
  mode mode;
  kvo_options options;
  /* 0 until it is known. */
  _Atomic kvo_observation id;
  /* How often it was called, before a change and after one; removed; and destroyed. */
  _Atomic int priors, calls, ends, destroyed;
  /* The new value of the last call. */
  _Atomic uint64_t last;
} watcher;

static item *items[ITEMS], *roots[ITEMS];
static watcher watchers[WATCHERS];
static _Atomic int watcher_count, left_count;
static int operations;
static bool is_calm;
static kvo_class *item_class;
static kvo_key value_key;
static _Thread_local uint64_t storage[ITEMS];
static _Thread_local int nested;

/* ------------------------------------------------------------------------------------------------------------ The class -- */

static uint64_t get_value(const item *of) { return of->tag; }
static void set_value(item *of, uint64_t value) { (void)of, (void)value; }
static item *get_next(const item *of) { return of->next; }
static void set_next(item *of, item *to) { of->next = to; }

static void register_class(void) {
  kvo_property_spec properties[] = {
      {.name = "value", .type = "Q", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Item",
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties};
  if (kvo_class_register(&spec, &item_class) != KVO_OK) fail("%s", kvo_last_error());
  value_key = kvo_key_hash("value", strlen("value"));
}

static item *make_item(uint64_t tag, item *next) {
  kvo_object *made;
  if (kvo_object_create(item_class, &made) != KVO_OK) fail("%s", kvo_last_error());
  item *of = (item *)made;
  of->tag = tag;
  of->next = next;
  return of;
}

static bool is_of(const item *of, uint64_t value) { return value >> 32 == of->tag >> 32; }

/* ------------------------------------------------------------------------------------------------------------- A set -- */

static void set(int number, uint64_t low) {
  item *of = items[number];
  uint64_t *at = &storage[number], value = of->tag | low;
  if (any(4) != 0) {
    kvo_change_word(&of->header, value_key, at, value);
    return;
  }
  kvo_frame frame;
  uint64_t old_value = *at;
  uint32_t wants = kvo_frame_enter(&frame, &of->header, value_key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, &old_value);
  *at = value;
  if (wants != 0) kvo_frame_finish_with(&frame, &old_value, at);
}

/* ------------------------------------------------------------------------------------------------------- The observers -- */

static watcher *observe(item *of, bool is_left);

static void end(watcher *of) {
  kvo_status status = kvo_cancel_observer(atomic_load(&of->id));
  if (status == KVO_OK)
    atomic_fetch_add(&of->ends, 1);
  else if (status != KVO_ERROR_NOT_REGISTERED)
    fail("a removal returned %s", kvo_status_string(status));
}

/* Any that is left, or NULL. */
static watcher *any_left(void) {
  int count = atomic_load(&watcher_count);
  watcher *of = count != 0 ? &watchers[any(count < WATCHERS ? (uint32_t)count : WATCHERS)] : NULL;
  return of != NULL && atomic_load(&of->id) != 0 ? of : NULL;
}

static void act_in(watcher *of) {
  watcher *another;
  if (is_calm || nested >= MOST_NESTED) return;
  nested++;
  switch (of->mode) {
    case YIELDS: sched_yield(); break;
    case SETS:
      if (any(4) == 0) set((int)any(ITEMS), any(1000));
      break;
    case ENDS_ITSELF:
      if (atomic_load(&of->id) != 0) end(of);
      break;
    case ENDS_ANOTHER:
      if (any(8) == 0 && (another = any_left()) != NULL) end(another);
      break;
    case REGISTERS:
      if (any(8) == 0) (void)observe(items[any(ITEMS)], true);
      break;
    default: break;
  }
  nested--;
}

/* `new_value`, `old_value`: NULL if they are not there. */
static void called(watcher *of, bool is_prior, const uint64_t *old_value, const uint64_t *new_value) {
  bool wants_new = (of->options & KVO_NEW) != 0 && !is_prior, wants_old = (of->options & KVO_OLD) != 0;
  if (atomic_load(&of->destroyed) != 0) fail("an observer is called after it was destroyed");
  if ((new_value != NULL) != wants_new || (old_value != NULL) != wants_old) fail("an observer gets the wrong values");
  if ((new_value != NULL && !is_of(of->of, *new_value)) || (old_value != NULL && !is_of(of->of, *old_value)))
    fail("an observer gets the value of another object");
  if (new_value != NULL) atomic_store(&of->last, *new_value);
  atomic_fetch_add(is_prior ? &of->priors : &of->calls, 1);
  act_in(of);
}

static void called_with_record(const kvo_raw_change *change, void *user_data) {
  watcher *of = user_data;
  if (change->instance != of->of || change->object != &of->of->header) fail("an observer gets another object");
  called(of, change->is_prior, change->old_value, change->new_value);
}

static void called_for_path(const kvo_change *change, void *user_data) {
  const uint64_t *old_value = change->old_value != NULL ? change->old_value->bytes : NULL;
  const uint64_t *new_value = change->new_value != NULL ? change->new_value->bytes : NULL;
  called(user_data, change->is_prior, old_value, new_value);
}

#if KVO_CALLS_CLOSURES
static __attribute__((swiftcall)) void closure(void *instance, const kvo_word_change *change,
                                               __attribute__((swift_context)) void *context) {
  watcher *of = context;
  if (instance != of->of) fail("a closure gets another object");
  if (change->kind != 0 || change->is_prior != 0 || change->indexes != NULL)
    fail("a closure gets another kind of change");
  if ((change->has_no_new != 0 && change->new_value != 0) || (change->has_no_old != 0 && change->old_value != 0))
    fail("a value that is not there is not 0");
  called(of, false, change->has_no_old != 0 ? NULL : &change->old_value,
         change->has_no_new != 0 ? NULL : &change->new_value);
}

static __attribute__((swiftcall)) void deliver(const kvo_raw_change *change, kvo_raw_callback given,
                                               void *closure_context, __attribute__((swift_context)) void *context) {
  if (given != (kvo_raw_callback)(void *)closure || closure_context != context) fail("another closure is called");
  called_with_record(change, context);
}
#endif

static void destroy(void *user_data) {
  if (atomic_fetch_add(&((watcher *)user_data)->destroyed, 1) != 0) fail("an observer is destroyed twice");
}

static kvo_status observe_path(watcher *of, kvo_observation *id) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "next.value",
                           .options = of->options,
                           .callback = called_for_path,
                           .user_data = of,
                           .destroy = destroy,
                           KVO_HERE};
  return kvo_add_observer(&roots[of->of->tag >> 32]->header, &observer, id);
}

static kvo_status observe_key(watcher *of, kvo_observation *id) {
  static const kvo_observer_ops ops = {.callback = called_with_record, .destroy = destroy};
  kvo_binding_observer observer = {
      .key_path = "value", .options = of->options | KVO_ENDS_WITH_OBJECT, .ops = &ops, .user_data = of};
#if KVO_CALLS_CLOSURES
  if (of->kind != CALLBACK) {
    observer.deliver = (kvo_raw_callback)(void *)deliver;
    observer.closure = (kvo_raw_callback)(void *)closure;
    observer.takes_word = of->kind == TAKES_WORD;
  }
#endif
  return kvo_binding_observe_key(&of->of->header, value_key, &observer, id);
}

/* NULL if there is no room. `is_left`: nobody ends it but another observer. */
static watcher *observe(item *of, bool is_left) {
  static const kind kinds[] = {TAKES_WORD, TAKES_WORD, TAKES_WORD, TAKES_WORD, TAKES_WORD, HAS_RECORD, CALLBACK, PATH};
  if (atomic_load(&watcher_count) >= WATCHERS || (is_left && atomic_fetch_add(&left_count, 1) >= LEFT)) return NULL;
  int number = atomic_fetch_add(&watcher_count, 1);
  if (number >= WATCHERS) return NULL;
  watcher *made = &watchers[number];
  made->of = of;
  made->kind = kinds[any(sizeof kinds / sizeof *kinds)];
  made->mode = any(2) == 0 ? (mode)any(SETS) : (mode)any(MODES);
  made->options = (kvo_options)any(4); /* KVO_NEW and KVO_OLD, or not */
  if (made->kind == PATH)
    made->options = KVO_NEW;
  else if (any(16) == 0)
    made->options |= KVO_PRIOR;
  kvo_observation id;
  kvo_status status = made->kind == PATH ? observe_path(made, &id) : observe_key(made, &id);
  if (status != KVO_OK) fail("%s", kvo_last_error());
  atomic_store(&made->id, id);
  return made;
}

/* -------------------------------------------------------------------------------------------------------- The changes -- */

static void wait_for_end(watcher *of) {
  if (kvo_cancel_observer_and_wait(of->id) == KVO_OK) atomic_fetch_add(&of->ends, 1);
  int calls = atomic_load(&of->calls), priors = atomic_load(&of->priors);
  sched_yield();
  if (of->calls != calls || of->priors != priors) fail("an observer is called after a removal that waits");
}

static void observe_for_a_while(void) {
  watcher *own[4];
  int number = (int)any(ITEMS), count = 1 + (int)any(4);
  for (int i = 0; i < count; i++) own[i] = observe(items[number], false);
  for (uint32_t i = any(3); i > 0; i--) set(number, any(1000));
  /* Newest first, too: a change that is at an observer which has been removed goes on to those that were removed after it. */
  bool is_backwards = any(2) == 0;
  for (int i = 0; i < count; i++) {
    watcher *of = own[is_backwards ? count - 1 - i : i];
    if (of == NULL) continue;
    if (any(8) == 0) (void)kvo_observation_pause(of->id);
    if (any(2) == 0)
      end(of);
    else
      wait_for_end(of);
  }
}

static void act(void) {
  switch (any(8)) {
    case 0: (void)observe(items[any(ITEMS)], true); return;
    case 1:
    case 2: observe_for_a_while(); return;
    case 3: {
      watcher *of = any_left();
      if (of == NULL) return;
      (void)kvo_observation_pause(of->id);
      set((int)any(ITEMS), any(1000));
      (void)kvo_observation_resume(of->id, false);
      return;
    }
    default:
      for (uint32_t i = any(16), number = any(ITEMS); i > 0; i--) set((int)number, any(1000));
  }
}

static void begin_thread(void) {
  for (int i = 0; i < ITEMS; i++) storage[i] = items[i]->tag;
}

static void *run(void *start) {
  random_state = (uint64_t)(uintptr_t)start;
  begin_thread();
  for (int i = 0; i < operations; i++) act();
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- Rounds -- */

static int used(void) { return watcher_count < WATCHERS ? watcher_count : WATCHERS; }

static void check_set(int number, uint64_t low) {
  static int calls[WATCHERS], priors[WATCHERS];
  int count = used();
  for (int i = 0; i < count; i++) {
    calls[i] = watchers[i].calls;
    priors[i] = watchers[i].priors;
  }
  set(number, low);
  for (int i = 0; i < count; i++) {
    const watcher *of = &watchers[i];
    int right = of->ends == 0 && of->of == items[number];
    if (of->calls - calls[i] != right) fail("watcher %d is called %d times, not %d", i, of->calls - calls[i], right);
    int right_before = right != 0 && (of->options & KVO_PRIOR) != 0;
    if (of->priors - priors[i] != right_before) fail("watcher %d is called %d times before", i, of->priors - priors[i]);
    if (right != 0 && (of->options & KVO_NEW) != 0 && of->last != (of->of->tag | low))
      fail("watcher %d gets %llx", i, (unsigned long long)of->last);
  }
}

static void check_ends(void) {
  for (int i = 0; i < used(); i++) {
    if (watchers[i].ends > 1) fail("watcher %d was removed twice", i);
    if (watchers[i].ends != 0 && watchers[i].destroyed == 0) fail("watcher %d is not destroyed after its end", i);
    if (watchers[i].ends == 0 && watchers[i].destroyed != 0) fail("watcher %d is destroyed before its end", i);
  }
}

static void run_round(void) {
  pthread_t threads[THREADS];
  random_state = seed * UINT64_C(1000003) + (uint64_t)current;
  alarm(ROUND_SECONDS); /* a hang ends the process, which has printed the seed */
  operations = any(4) == 0 ? 300 : 30;
  memset(watchers, 0, sizeof watchers);
  watcher_count = left_count = 0;
  is_calm = false;
  for (int i = 0; i < ITEMS; i++) {
    items[i] = make_item((uint64_t)i << 32, NULL);
    roots[i] = make_item(0, items[i]);
  }
  begin_thread();
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)(random_state + 77u * (unsigned)i)) != 0)
      fail("no thread");
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  is_calm = true;
  for (int i = 0; i < used(); i++) (void)kvo_observation_resume(watchers[i].id, false);
  for (int i = 0; i < 2 * ITEMS; i++) check_set(i % ITEMS, 2000u + (unsigned)i);
  check_ends();
  for (int i = 0; i < used(); i++)
    if (watchers[i].kind == PATH && watchers[i].ends == 0) end(&watchers[i]);
  for (int i = 0; i < ITEMS; i++) {
    kvo_object_destroy(&roots[i]->header);
    kvo_object_destroy(&items[i]->header);
  }
  for (int i = 0; i < used(); i++)
    if (watchers[i].destroyed != 1) fail("watcher %d is not destroyed at the end", i);
}

int main(int argc, char **argv) {
  register_class();
  return run_rounds("stress of sets", run_round, argc, argv);
}
