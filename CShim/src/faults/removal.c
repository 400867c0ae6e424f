/* removal.c - removals that fail, removals that are not clear, and waits that would never end. */
#include "faults/reporting.h"
#include "platform/settings.h"

static double age_of(const kvo_tomb *tomb) { return (double)(kvo__now() - tomb->nanoseconds) / 1e9; }

static kvo_fault_observation described(const kvo_tomb *tomb) {
  return (kvo_fault_observation){
      .observation = tomb->id,
      .key_path = kvo__tomb_path(tomb),
      .options = tomb->options,
      .observer_class = tomb->observer_class[0] != '\0' ? tomb->observer_class : NULL,
      .observer = tomb->observer,
      .context = (void *)(uintptr_t)tomb->context,
      .file = tomb->registered.file,
      .file_length = tomb->registered.file != NULL ? strlen(tomb->registered.file) : 0,
      .line = tomb->registered.line,
      .object = tomb->object,
      .object_class = tomb->object_class,
  };
}

static void add_ending(kvo_report *report, const kvo_tomb *tomb, const char *label) {
  kvo_fault_site *site = kvo__report_site(report, label, tomb->ended);
  site->thread = tomb->thread;
  site->age = age_of(tomb);
  site->frames = tomb->frames;
  site->frame_count = tomb->frame_count;
}

static const char *observer_name(const kvo_tomb *tomb) {
  return tomb->observer_class[0] != '\0' ? tomb->observer_class : "observer";
}

/* Where it was told, " (made at App.swift:12, removed at App.swift:20)": a log's reader may see the first line only. */
static void append_places(kvo_sink *to, const kvo_tomb *tomb, const char *ended) {
  if (tomb->registered.file == NULL && tomb->ended.file == NULL) return;
  kvo__append(to, " (");
  if (tomb->registered.file != NULL)
    kvo__append(to, "made at %s:%u", tomb->registered.file, (unsigned)tomb->registered.line);
  if (tomb->ended.file != NULL)
    kvo__append(to, "%s%s at %s:%u", tomb->registered.file != NULL ? ", " : "", ended, tomb->ended.file,
                (unsigned)tomb->ended.line);
  kvo__append(to, ")");
}

void kvo__append_cannot_remove(kvo_sink *to, const char *observer_class, const void *observer, const char *key_path,
                               const char *object_class, const void *object) {
  kvo__append(to,
              "Cannot remove an observer <%s 0x%llx> for the key path \"%s\" from <%s 0x%llx> because it is not "
              "registered as an observer.",
              observer_class, kvo__address(observer), key_path, object_class, kvo__address(object));
}

static void raise_removed_twice(const kvo_tomb *tomb, kvo_place again) {
  kvo_report *report = kvo__report(KVO_FAULT_REMOVED_TWICE);
  kvo__append(&report->detail, "%s@0x%llx was removed twice for \"%s\" of %s@0x%llx", observer_name(tomb),
              kvo__address(tomb->observer), kvo__tomb_path(tomb), tomb->object_class, kvo__address(tomb->object));
  append_places(&report->detail, tomb, "first removed");
  kvo__append_cannot_remove(&report->apple, observer_name(tomb), tomb->observer, kvo__tomb_path(tomb),
                            tomb->object_class, tomb->object);
  report->concerned = described(tomb);
  add_ending(report, tomb, "first removed");
  report->fault.help = "remove an observation in one place only, or by what may be ended again: in Swift the token's "
                       "invalidate(), in C kvo_cancel_observer";
  kvo__report_concerns(report, &report->concerned, 1, again);
  kvo__raise(report);
}

static void raise_stale_handle(const kvo_tomb *tomb, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_STALE_HANDLE);
  kvo__append(&report->detail,
              "observation 0x%llx of \"%s\" ended when its object %s@0x%llx died: what is at this address now, if "
              "anything, is another object",
              (unsigned long long)tomb->id, kvo__tomb_path(tomb), tomb->object_class, kvo__address(tomb->object));
  append_places(&report->detail, tomb, "object ended");
  report->concerned = described(tomb);
  add_ending(report, tomb, "object ended");
  report->fault.help =
      "forget an observation's id when its object dies, or end it with kvo_cancel_observer, which accepts one "
      "that has ended";
  kvo__report_concerns(report, &report->concerned, 1, place);
  kvo__raise(report);
}

void kvo__fault_ended(kvo_observation observation, kvo_place place) {
  kvo_tomb tomb;
  bool was_given = kvo__id_was_given(observation);
  bool found = kvo__tomb_of(observation, &tomb);
  if (!found && was_given) {
    kvo__tomb_await();
    found = kvo__tomb_of(observation, &tomb);
  }
  if (found) {
    if (tomb.by_death)
      raise_stale_handle(&tomb, place);
    else
      raise_removed_twice(&tomb, place);
    return;
  }
  kvo_report *report = kvo__report(was_given ? KVO_FAULT_NOT_REGISTERED : KVO_FAULT_INVALID_ARGUMENT);
  if (was_given) {
    kvo__append(
        &report->detail,
        "removal of observation 0x%llx, which has ended: longer ago than the last %u endings that are remembered",
        (unsigned long long)observation, (unsigned)kvo__settings.zombies);
    report->fault.help = "remove an observation once; KVO_ZOMBIES=n remembers more, and then tells where it ended";
  } else {
    kvo__append(&report->detail, "0x%llx is given as an observation, and never was one%s",
                (unsigned long long)observation, observation == 0 ? ": was its registration refused?" : "");
    report->fault.help = "give the id that kvo_add_observer stored, and look at the status that it returned";
  }
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_ENDLESS_WAIT);
  kvo__append(&report->detail, "waiting for the deliveries of observation 0x%llx would never end: %s",
              (unsigned long long)observation,
              waited == KVO_WAITED_IN_OWN ? "this is one of them"
                                          : "another thread is in one, and waits for what this thread delivers");
  kvo_tomb tomb;
  if (kvo__tomb_of(observation, &tomb)) {
    report->concerned = described(&tomb);
    kvo__report_concerns(report, &report->concerned, 1, place);
  }
  report->fault.help =
      "within a callback end an observation without waiting: invalidate() in Swift, kvo_cancel_observer in C";
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_endless_death(const kvo_info *info, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_ENDLESS_WAIT);
  kvo__append(
      &report->detail,
      "waiting for the evaluations of %s@0x%llx, which is being destroyed, would never end: another thread is in "
      "one, and waits for this thread",
      info->cls->written, kvo__address((const char *)info->object - info->cls->header_offset));
  report->fault.object = info->object;
  report->fault.object_class = info->cls->written;
  report->fault.help = "destroy no object within a getter that evaluates another; the memory of this one is not freed";
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_unused(const kvo_node *node, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_ENDED_UNUSED);
  kvo__describe_node(node, &report->concerned);
  kvo__append(&report->detail, "the observation of \"%s\" of %s@0x%llx ended before it was told of any change",
              report->concerned.key_path, report->concerned.object_class, kvo__address(report->concerned.object));
  if (report->concerned.file != NULL)
    kvo__append(&report->detail, " (made at %s:%u)", report->concerned.file, (unsigned)report->concerned.line);
  report->fault.help =
      "keep the token that observe(_:options:changeHandler:) returns, in a property for instance: the observation "
      "ends with it";
  kvo__report_concerns(report, &report->concerned, 1, place);
  kvo__raise(report);
}
