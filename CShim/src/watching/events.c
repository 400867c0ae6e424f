/* events.c - describes the events of the process and passes them to the listeners: history.c, trace.c, slow.c, traffic.c. */
#include "platform/settings.h"
#include "watching/history.h"
#include "watching/slow.h"
#include "watching/trace.h"
#include "watching/traffic.h"

#include <errno.h>

static void hand_out(const kvo_event_details *details) {
  uint32_t listening = atomic_load(&kvo__attention);
  int error = errno; /* the program must not see a change of errno */
  int cancellation = kvo__cancel_hold();
  if ((listening & KVO_TAP_HISTORY) != 0) kvo__history_note(details);
  if ((listening & KVO_TAP_TRACE) != 0) kvo__trace_note(details);
  if ((listening & KVO_TAP_TRAFFIC) != 0) kvo__traffic_note(details);
  if ((listening & KVO_TAP_AVALANCHE) != 0) kvo__avalanche_note(details);
  kvo__cancel_resume(cancellation);
  errno = error;
}

static const void *instance_of(const kvo_info *info) { return (const char *)info->object - info->cls->header_offset; }

static void note_change(const kvo_frame_content *change, kvo_moment moment) {
  kvo_event_details details = {.moment = moment,
                               .token = change->slot,
                               .object = instance_of(change->info),
                               .class_name = change->info->cls->display_name,
                               .key_path = kvo__slot_name(change->info, change->slot),
                               .kind = (kvo_change_kind)change->kind};
  hand_out(&details);
}

__attribute__((cold)) uint32_t kvo__note_change_begins(kvo_frame_content *change) {
  change->is_tapped = true;
  note_change(change, KVO_MOMENT_CHANGE_BEGINS);
  return change->wants;
}

__attribute__((cold)) void kvo__note_change_pauses(kvo_frame_content *change) {
  change->is_tapped = false;
  note_change(change, KVO_MOMENT_CHANGE_PAUSES);
}

__attribute__((cold)) void kvo__note_change_resumes(kvo_frame_content *change) {
  change->is_tapped = true;
  note_change(change, KVO_MOMENT_CHANGE_RESUMES);
}

__attribute__((cold)) void kvo__note_change_ends(const kvo_frame_content *change) {
  note_change(change, KVO_MOMENT_CHANGE_ENDS);
}

static kvo_event_details details_of(const kvo_node *node, const kvo_raw_change *change, kvo_moment moment) {
  kvo_fault_observation described;
  kvo__describe_node(node, &described);
  kvo_event_details details = {.moment = moment,
                               .token = node,
                               .object = described.object,
                               .class_name = described.object_class,
                               .key_path = described.key_path,
                               .observation = node->id,
                               .file = described.file,
                               .line = described.line,
                               .options = described.options,
                               .observer_class = described.observer_class,
                               .observer = described.observer,
                               .context = described.context,
                               .callback = described.callback,
                               .note = described.note,
                               .change = change};
  if (change != NULL) {
    details.kind = change->kind;
    details.is_prior = change->is_prior;
  }
  return details;
}

static void note_node(const kvo_node *node, kvo_moment moment) {
  kvo_event_details details = details_of(node, NULL, moment);
  hand_out(&details);
}

__attribute__((cold)) void kvo__note_registered(const kvo_node *node) {
  note_node(node, KVO_MOMENT_REGISTERED);
  if ((kvo__attended() & KVO_TAP_SERVE) != 0) kvo__hooks.serve();
}

__attribute__((cold)) void kvo__note_ended(const kvo_node *node) { note_node(node, KVO_MOMENT_ENDED); }

__attribute__((cold)) void kvo__note_delivery(const kvo_raw_change *change, const kvo_node *node,
                                              kvo_raw_callback callback, void *user_data) {
  kvo__node_set_notified(node, true);
  kvo_event_details details = details_of(node, change, KVO_MOMENT_DELIVERY_BEGINS);
  hand_out(&details);
  bool is_reported = (kvo__attended() & KVO_TAP_AVALANCHE) != 0 && kvo__avalanche_count(node);
  bool has_ended = is_reported && !atomic_load(&node->live); /* by the fault's handler */
  bool may_be_slow = (atomic_load(&kvo__attention) & KVO_TAP_SLOW) != 0;
  const void *frame = __builtin_frame_address(0);
  uint64_t watched = may_be_slow ? kvo__slow_begin(&details, frame) : 0;
  kvo_traffic_call counted = kvo__traffic_begin(&details);
  if (!has_ended) callback(change, user_data);
  kvo__traffic_end(&counted);
  if (watched != 0) kvo__slow_end(watched, frame);
  details.moment = KVO_MOMENT_DELIVERY_ENDS;
  details.change = NULL;
  hand_out(&details);
}

__attribute__((cold)) void kvo__note_death(const kvo_info *info) {
  kvo_event_details details = {
      .moment = KVO_MOMENT_DIED, .object = instance_of(info), .class_name = info->cls->display_name};
  hand_out(&details);
}

void kvo__tap_start(void) {
  if (kvo__settings.history > 0 && kvo__history_start(kvo__settings.history))
    atomic_fetch_or(&kvo__attention, KVO_TAP_HISTORY);
  if (kvo__settings.slow_ms > 0) atomic_fetch_or(&kvo__attention, KVO_TAP_SLOW);
  if (kvo__settings.avalanche > 0) atomic_fetch_or(&kvo__attention, KVO_TAP_AVALANCHE);
  if (kvo__settings.unused) atomic_fetch_or(&kvo__attention, KVO_TAP_USE);
}
