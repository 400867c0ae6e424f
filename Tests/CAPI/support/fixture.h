/* fixture.h - the class that most tests observe, and an observer that records what it gets. */
#ifndef KVO_TEST_FIXTURE_H
#define KVO_TEST_FIXTURE_H

#include "harness.h"

#include <kvo/kvo_binding.h>

/* Keys: value (i), other (i), next (@), name (*, copied by the setter), doubled (i, read-only, affected by value), quiet (i,
 * KVO_PROPERTY_MANUAL), far (i, read-only, affected by next.value). */
typedef struct item {
  kvo_object header;
  int value, other, quiet;
  struct item *next;
  char *name;
} item;

kvo_class *item_class(void);
item *item_make(int value);
void item_destroy(item *object);
static inline kvo_object *as_object(item *object) { return &object->header; }

static inline void item_set_value(item *object, int value) { KVO_SET(object, "value", int, value); }
static inline void item_set_other(item *object, int value) { KVO_SET(object, "other", int, value); }
static inline void item_set_next(item *object, item *next) { KVO_SET(object, "next", item *, next); }
static inline void item_set_name(item *object, const char *name) { KVO_SET(object, "name", const char *, name); }

/* Begins a scope whose kvo_scope is the variable of that name. */
#define BEGIN(name, kind, ...)                                                                                         \
  kvo_scope name;                                                                                                      \
  do {                                                                                                                 \
    item *items[] = {__VA_ARGS__};                                                                                     \
    kvo_object *objects[sizeof items / sizeof *items];                                                                 \
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) objects[i] = as_object(items[i]);                        \
    CHECK_OK(kvo_scope_begin(&name, kind, objects, sizeof items / sizeof *items, __FILE__, __LINE__));                 \
  } while (0)

/* A value in a form that tests can compare. */
typedef struct seen_value {
  bool delivered, nil;
  long long integer;
  double real;
  const void *object;
  char text[32];
} seen_value;

typedef struct watcher watcher;
struct watcher {
  /** Appended to `trace` at each callback, in lower case for a prior one. */
  char tag;
  /** NULL, or called at the end of each callback. */
  void (*then)(watcher *self, const kvo_change *change);
  void *then_arg;
  void *context;
  /** The last record. */
  int calls, priors, destroyed;
  bool destroyed_in_callback;
  int depth;
  seen_value old_value, new_value;
  kvo_change_kind kind;
  kvo_object *object;
  void *seen_context;
  kvo_observation seen_id, id;
  char key_path[64];
  size_t indexes[8];
  size_t index_count;
};

/* Checks how often a watcher was called, and the new value that it got last, or both values of an assignment. */
#define CHECK_NEW(w, count, after) (CHECK_EQ((w).calls, count), CHECK_EQ((w).new_value.integer, after))
#define CHECK_NOTIFIED(w, count, before, after)                                                                        \
  (CHECK_NEW(w, count, after), CHECK_EQ((w).old_value.integer, before), CHECK_EQ((int)(w).kind, KVO_CHANGE_SETTING))

/* The order of all callbacks of the process, one letter each. */
extern char trace[512];
void trace_clear(void);

/* Registers and checks the status. Sets the watcher's `id`; its destruction is counted. */
kvo_observation watch_object(kvo_object *object, const char *key_path, int options, watcher *observer);
kvo_observation watch(item *object, const char *key_path, int options, watcher *observer);
/* The observer that `watch` registers, for the caller to modify and register. */
kvo_observer watcher_observer(const char *key_path, int options, watcher *observer);
/* An observer with a callback of the test, to modify and register; and its registration, which checks the status. */
kvo_observer observer_by(const char *key_path, int options, kvo_callback callback, void *user_data);
kvo_observation observe_by(kvo_object *object, const char *key_path, int options, kvo_callback callback,
                           void *user_data);
/* Observes a key for an observer of a binding that has this class and address. Without `ops` it ignores changes. */
kvo_observation observe_named(kvo_object *object, const char *key, const char *class_name, const void *address,
                              kvo_binding_observer described);
/* Callbacks that do nothing, and a reader that must not be called. */
void ignore_change(const kvo_change *change, void *user_data);
void ignore_raw(const kvo_raw_change *change, void *user_data);
void never_read(const kvo_value *value, void *arg);
/* Decodes a value of type i, d, @ or *. */
seen_value see(const kvo_value *value);

/* The last fault, recorded by a handler that goes on without a report. */
typedef struct fault_log {
  int count;
  kvo_fault_code code;
  char summary[512], apple[1024], report[16384], file[128];
  uint32_t line;
  size_t observation_count;
  kvo_fault_observation first;
  char first_file[128], first_key_path[64];
} fault_log;
extern fault_log faults;
void ignore_faults(void);
/* Checks how many faults there were, and the last one. */
#define CHECK_FAULTS(times, last) (CHECK_EQ(faults.count, times), CHECK_EQ((int)faults.code, last))

#endif
