/* sequences.c - the target fuzz_sequences: runs a program of operations in the model and in the runtime. Observers and callers must see the
 * same in both. KVO_FUZZ_PRINT=1 prints the program as it runs. With KVO_FUZZ_DEPTH=4 deliveries nest no deeper, and only what must hold
 * at rest is checked. */
#include "model.h"
#include "runtime.h"
#include "settled.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static program running;
static int position = -1;
static world expected, seen;

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "\nfuzz_sequences: ");
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\nThe program; it failed at %d:\n", position);
  program_print(&running, position);
  abort();
}

/* ---------------------------------------------------------------------------------------------------------- Comparing -- */

/* A new sequence of deliveries counts for the fuzzer like code that runs for the first time. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t features[2048];

static void note_feature(const event *each, unsigned *before) {
  if (each->kind == STORED || each->kind == LISTED || each->kind == COUNTED) return;
  unsigned said[] = {each->kind,
                     (unsigned)each->prior,
                     (unsigned)each->status,
                     each->before.kind,
                     each->after.kind,
                     each->kind == CALLED ? (unsigned)seen.watches[each->watch].options : 0},
           now = 0;
  for (size_t i = 0; i < sizeof said / sizeof *said; i++) now = now * 31 + said[i];
  features[(now * 2654435761u ^ *before) >> 8 & 2047] = 1;
  *before = now;
}

static void print_log(const event_log *log, int from, const char *title) {
  fprintf(stderr, "%s\n", title);
  for (int i = from < 3 ? 0 : from - 3; i < log->count && i < from + 12; i++)
    event_print(&log->events[i], i == from ? "  > " : "    ");
}

/* Who is late need not get the old value, and may get the whole present one in place of the elements. */
static void allow_for_lateness(event *model, const event *runtime) {
  if (!model->is_late) return;
  model->is_late = 0;
  if (runtime->before.kind != ABSENT) return;
  model->before = runtime->before;
  if (model->change == KVO_CHANGE_SETTING || runtime->change != KVO_CHANGE_SETTING) return;
  model->change = KVO_CHANGE_SETTING;
  model->index_count = model->indexes = 0;
  model->after = runtime->after;
}

static bool are_same(event *model, const event *runtime) {
  allow_for_lateness(model, runtime);
  return memcmp(model, runtime, sizeof *model) == 0;
}

static void compare(void) {
  enum { CAPACITY = sizeof seen.log.events / sizeof *seen.log.events };
  int count = expected.log.count < seen.log.count ? expected.log.count : seen.log.count, same = 0;
  if (count > CAPACITY) count = CAPACITY;
  while (same < count && are_same(&expected.log.events[same], &seen.log.events[same])) same++;
  if (same < count || expected.log.count != seen.log.count) {
    print_log(&expected.log, same, "\nThe model expects");
    print_log(&seen.log, same, "but the runtime does");
    fail("the runtime does not do what the model expects");
  }
  unsigned before = 0;
  for (int i = 0; i < count; i++) note_feature(&seen.log.events[i], &before);
  expected.log.count = seen.log.count = 0;
}

/* User data is destroyed once, and immediately unless an open pair may still call. */
static void check_destructions(bool pairs_may_keep) {
  for (int i = 0; i < seen.watch_count; i++) {
    bool must = runtime_was_registered(i) && !model_is_registered(i), may = must && pairs_may_keep && model_may_keep(i);
    int times = runtime_destroyed(i);
    if (times > must) fail("the user data of observation %d is destroyed before the observation ends", i);
    if (times < must && !may) fail("the user data of observation %d is not destroyed", i);
  }
}

static void finish_step(void) {
  world_survey(&expected);
  world_survey(&seen);
  compare();
  check_destructions(true);
}

/* ------------------------------------------------------------------------------------------------------------- Running -- */

/* Without the model. */
static void *run_settled(void *unused) {
  for (position = 0; position < running.count;) {
    seen.fuel = 24;
    position += world_perform(&seen, position);
    settled_check(&seen);
  }
  for (int slot = 0; slot < SLOTS; slot++) world_kill(&seen, slot, true);
  return unused;
}

static void *run(void *unused) {
  enum { FUEL = 12 };
  bool print = getenv("KVO_FUZZ_PRINT") != NULL;
  if (print) program_print(&running, -1);
  for (position = 0; position < running.count;) {
    if (print) fprintf(stderr, "at %d\n", position);
    expected.fuel = seen.fuel = FUEL;
    world_perform(&expected, position);
    if (model_is_endless()) break;
    int taken = world_perform(&seen, position);
    finish_step();
    position += taken;
  }
  for (int slot = 0; slot < SLOTS; slot++) {
    expected.fuel = seen.fuel = FUEL;
    world_kill(&expected, slot, true);
    world_kill(&seen, slot, true);
    if (!model_is_endless()) finish_step();
  }
  return unused;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
const char *__asan_default_options(void);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  runtime_start();
  return 0;
}

/* Callbacks nest, and the stacks of allocations would exhaust memory. */
const char *__asan_default_options(void) { return "malloc_context_size=8"; }

/* On a new thread, because pairs that are left open end with their thread. Its stack is small, because it is allocated each time. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1 << 20);
  program_decode(&running, bytes, size);
  bool has_limit = settled_depth() != 0;
  if (has_limit) settled_prepare(&running);
  settled_begin();
  model_begin();
  runtime_begin(&seen);
  world_begin(&expected, &model_calls, &running);
  world_begin(&seen, &runtime_calls, &running);
  if (pthread_create(&thread, &small, has_limit ? run_settled : run, NULL) != 0 || pthread_join(thread, NULL) != 0)
    fail("there is no thread");
  pthread_attr_destroy(&small);
  if (!has_limit && !model_is_endless()) check_destructions(false);
  model_end();
  return 0;
}
