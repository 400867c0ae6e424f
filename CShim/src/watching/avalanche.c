/* avalanche.c - KVO_AVALANCHE: counts the deliveries that the outermost set of a thread causes, and reports it when they are too many. */
#include "platform/settings.h"
#include "watching/events.h"

static bool is_delivering(const kvo_thread *self) {
  const kvo_mark *found;
  size_t skipped;
  return kvo__deliveries(self, &found, 1, &skipped) > 0;
}

static void avalanche_begin(kvo_avalanche *of, const kvo_event_details *set) {
  of->token = set->token;
  of->object = set->object;
  of->class_name = set->class_name;
  of->count = 0;
  kvo__copy_cut(of->key, sizeof of->key, set->key_path);
}

void kvo__avalanche_note(const kvo_event_details *details) {
  kvo_thread *self = kvo__own.thread;
  if (self == NULL) return;
  kvo_avalanche *of = &self->avalanche;
  switch (details->moment) {
    case KVO_MOMENT_CHANGE_BEGINS:
    case KVO_MOMENT_CHANGE_RESUMES:
      if (!is_delivering(self)) avalanche_begin(of, details);
      break;
    case KVO_MOMENT_CHANGE_PAUSES:
    case KVO_MOMENT_CHANGE_ENDS:
      if (of->token == details->token && !is_delivering(self)) of->token = NULL;
      break;
    default: break;
  }
}

/* Only once for each set, and with what is delivered at that moment: its stack and the deliveries in progress show how it came about. */
bool kvo__avalanche_count(const kvo_node *delivered) {
  kvo_thread *self = kvo__own.thread;
  if (self == NULL || self->avalanche.token == NULL) return false;
  kvo_avalanche *of = &self->avalanche;
  if (of->count++ != kvo__settings.avalanche) return false;
  KVO_MISUSE(avalanche, of, delivered);
  return true;
}
