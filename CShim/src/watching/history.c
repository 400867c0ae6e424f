/* history.c - a bounded, lock-free ring of the last events of the process, for reports (KVO_HISTORY). */
#define _GNU_SOURCE
#include "watching/history.h"

#include "platform/settings.h"

#include <stdlib.h>

/* An event, with copies of all strings that may be freed. */
typedef struct past_event {
  int64_t time;
  const void *object;
  const char *class_name;
  kvo_observation observation;
  const char *file;
  uint32_t line, thread, kind;
  bool has_value;
  char key_path[KVO_PAST_KEY], value[KVO_VALUE_TEXT];
} past_event;

enum { EVENT_WORDS = (sizeof(past_event) + 7) / 8 };

/* Its content is written and read word by word. A reader may overlap with a writer and detects this by the state. */
typedef struct ring_slot {
  /** Twice the number of the event in the slot, plus 1 while it is being written; 0 at first. Events are numbered from 1. */
  _Atomic uint64_t state;
  _Atomic uint64_t words[EVENT_WORDS];
} ring_slot;

static ring_slot *history_ring;
static uint64_t capacity;
/* How many events have been noted. */
static _Atomic uint64_t history_count;

bool kvo__history_start(uint32_t events) {
  kvo__assert(history_ring == NULL);
  /* From the C library, because the program's allocator may not be set yet. */
  history_ring = calloc(events, sizeof *history_ring);
  capacity = history_ring != NULL ? events : 0;
  return history_ring != NULL;
}

/* 0 for an event that is not kept. */
static uint32_t history_kind_of(kvo_moment moment) {
  switch (moment) {
    case KVO_MOMENT_REGISTERED: return KVO_EVENT_REGISTERED;
    case KVO_MOMENT_ENDED: return KVO_EVENT_ENDED;
    case KVO_MOMENT_CHANGE_BEGINS: return KVO_EVENT_CHANGED;
    case KVO_MOMENT_DELIVERY_BEGINS: return KVO_EVENT_DELIVERED;
    case KVO_MOMENT_DIED: return KVO_EVENT_DIED;
    case KVO_MOMENT_CHANGE_PAUSES:
    case KVO_MOMENT_CHANGE_RESUMES:
    case KVO_MOMENT_CHANGE_ENDS:
    case KVO_MOMENT_DELIVERY_ENDS: break;
  }
  return 0;
}

void kvo__history_note(const kvo_event_details *details) {
  past_event event = {.time = kvo__now(),
                      .object = details->object,
                      .class_name = details->class_name,
                      .observation = details->observation,
                      .file = details->file,
                      .line = details->line,
                      .kind = history_kind_of(details->moment)};
  if (event.kind == 0) return;
  event.thread = kvo__thread_number();
  if (details->key_path != NULL) kvo__copy_cut(event.key_path, sizeof event.key_path, details->key_path);
  if (kvo__settings.values && details->change != NULL)
    event.has_value = kvo__new_value_text(details->change, event.value, sizeof event.value);
  uint64_t words[EVENT_WORDS] = {0};
  memcpy(words, &event, sizeof event);

  uint64_t number = atomic_fetch_add(&history_count, 1) + 1;
  ring_slot *slot = &history_ring[number % capacity];
  uint64_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
  /* Another thread is still writing into this slot from an earlier round, or has already used it in a later one: one of the two events is
   * lost. */
  if ((state & 1) != 0 || state > 2 * number || !atomic_compare_exchange_strong(&slot->state, &state, 2 * number + 1))
    return;
  /* Release stores after the state: a reader that reads a new word also sees the new state, and discards what it has read. */
  for (size_t i = 0; i < EVENT_WORDS; i++) atomic_store_explicit(&slot->words[i], words[i], memory_order_release);
  atomic_store_explicit(&slot->state, 2 * number, memory_order_release);
}

/* Copies an event; false if it has been overwritten or is being written. */
static bool read_event(uint64_t number, past_event *out) {
  const ring_slot *slot = &history_ring[number % capacity];
  if (atomic_load_explicit(&slot->state, memory_order_acquire) != 2 * number) return false;
  uint64_t words[EVENT_WORDS];
  for (size_t i = 0; i < EVENT_WORDS; i++) words[i] = atomic_load_explicit(&slot->words[i], memory_order_acquire);
  if (atomic_load_explicit(&slot->state, memory_order_relaxed) != 2 * number) return false;
  memcpy(out, words, sizeof *out);
  return true;
}

static void history_fill(kvo_past *out, size_t index, const past_event *event, int64_t time) {
  memcpy(out->key_paths[index], event->key_path, KVO_PAST_KEY);
  memcpy(out->values[index], event->value, KVO_VALUE_TEXT);
  kvo_event filled = {.kind = (kvo_event_kind)event->kind,
                      .thread = event->thread,
                      .age = time > event->time ? (double)(time - event->time) / 1e9 : 0,
                      .object = event->object,
                      .object_class = event->class_name,
                      .key_path = out->key_paths[index],
                      .observation = event->observation,
                      .file = event->file,
                      .line = event->line,
                      .value = event->has_value ? out->values[index] : NULL};
  out->events[index] = filled;
}

size_t kvo__history_of(const void *object, kvo_past *out) {
  if (capacity == 0) return 0;
  uint64_t newest = atomic_load(&history_count);
  int64_t time = kvo__now();
  uint64_t oldest = newest > capacity ? newest - capacity + 1 : 1;
  size_t free = KVO_PAST;
  past_event event;
  for (uint64_t number = newest; number >= oldest && free > 0; number--)
    if (read_event(number, &event) && (object == NULL || event.object == object))
      history_fill(out, --free, &event, time);
  memmove(out->events, out->events + free, (KVO_PAST - free) * sizeof *out->events); /* the strings do not move */
  return KVO_PAST - free;
}
