/* removal.c - faults of removals that fail, removals that are ambiguous, and waits that would never end. */
#include "faults/reporting.h"
#include "platform/settings.h"

static double age_of(const kvo_ended *entry) { return (double)(kvo__now() - entry->nanoseconds) / 1e9; }

/* Makes an ended observation the one that the fault concerns. The entry has to stay valid until the fault is raised. */
static void removal_concern(kvo_report *report, const kvo_ended *entry) {
  kvo__ended_stacks(entry, &report->stacks);
  report->concerned = (kvo_fault_observation){
      .observation = entry->id,
      .key_path = kvo__ended_path(entry),
      .options = entry->options,
      .observer_class = entry->observer_class[0] != '\0' ? entry->observer_class : NULL,
      .observer = entry->observer,
      .context = (void *)(uintptr_t)entry->context,
      .file = entry->registered.file,
      .file_length = entry->registered.file != NULL ? strlen(entry->registered.file) : 0,
      .line = entry->registered.line,
      .callback = entry->callback,
      .frames = report->stacks.registered,
      .frame_count = report->stacks.registered_count,
      .object = entry->object,
      .object_class = entry->object_class,
  };
}

/* Adds where the observation of the fault ended. */
static void add_ending(kvo_report *report, const kvo_ended *entry, const char *label) {
  kvo_fault_site *site = kvo__report_site(report, label, entry->ended);
  site->thread = entry->thread;
  site->age = age_of(entry);
  site->frames = report->stacks.ended;
  site->frame_count = report->stacks.ended_count;
}

static const char *observer_name(const kvo_ended *entry) {
  return entry->observer_class[0] != '\0' ? entry->observer_class : "observer";
}

void kvo__append_observer(kvo_sink *to, const kvo_ended *entry) {
  if (entry->observer_class[0] == '\0' && entry->observer == NULL)
    kvo__append(to, "a callback");
  else
    kvo__append(to, "%s@0x%llx", observer_name(entry), kvo__address(entry->observer));
}

/* Appends the known source locations, as in " (registered at App.swift:12, removed at App.swift:20)", because a log may show the first line
 * only. */
static void removal_append_places(kvo_sink *to, const kvo_ended *entry, const char *ended) {
  if (entry->registered.file == NULL && entry->ended.file == NULL) return;
  kvo__append(to, " (");
  if (entry->registered.file != NULL)
    kvo__append(to, "registered at %s:%u", entry->registered.file, (unsigned)entry->registered.line);
  if (entry->ended.file != NULL)
    kvo__append(to, "%s%s at %s:%u", entry->registered.file != NULL ? ", " : "", ended, entry->ended.file,
                (unsigned)entry->ended.line);
  kvo__append(to, ")");
}

void kvo__append_cannot_remove(kvo_sink *to, const char *observer_class, const void *observer, const char *key_path,
                               const char *object_class, const void *object) {
  kvo__append(to,
              "Cannot remove an observer <%s 0x%llx> for the key path \"%s\" from <%s 0x%llx> because it is not "
              "registered as an observer.",
              observer_class, kvo__address(observer), key_path, object_class, kvo__address(object));
}

void kvo__fault_removed_twice(const kvo_ended *entry, bool by_address, kvo_place again) {
  kvo_report *report = kvo__report(KVO_FAULT_REMOVED_TWICE);
  kvo__append_observer(&report->detail, entry);
  kvo__append(&report->detail, " was removed twice for \"%s\" of %s@0x%llx", kvo__ended_path(entry),
              entry->object_class, kvo__address(entry->object));
  removal_append_places(&report->detail, entry, "first removed");
  kvo__append_cannot_remove(&report->apple, observer_name(entry), entry->observer, kvo__ended_path(entry),
                            entry->object_class, entry->object);
  removal_concern(report, entry);
  add_ending(report, entry, "first removed");
  kvo__append(
      &report->help, "%s",
      kvo__is_for_swift(again, &report->concerned)
          ? "remove it in one place only; or observe with \"for: self\", which needs no removal, or with a token, "
            "whose invalidate() may be repeated"
          : "remove it in one place only, or with kvo_cancel_observer, which may be repeated");
  if (by_address && entry->observer != NULL)
    kvo__append(&report->help,
                "; if the observer that was removed first has been deallocated meanwhile, this is another one at its "
                "address, which was not added");
  kvo__report_concerns(report, &report->concerned, 1, again);
  kvo__raise(report);
}

static void raise_stale_handle(const kvo_ended *entry, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_STALE_HANDLE);
  kvo__append(&report->detail,
              "observation 0x%llx of \"%s\" ended when its object %s@0x%llx ended; another object may be at this "
              "address now",
              (unsigned long long)entry->id, kvo__ended_path(entry), entry->object_class, kvo__address(entry->object));
  removal_append_places(&report->detail, entry, "object ended");
  removal_concern(report, entry);
  add_ending(report, entry, "object ended");
  report->fault.help =
      "discard an observation's id when its object ends, or end it with kvo_cancel_observer, which accepts one "
      "that has ended";
  kvo__report_concerns(report, &report->concerned, 1, place);
  kvo__raise(report);
}

void kvo__fault_not_observing(kvo_observation observation, kvo_place place) {
  kvo_ended entry;
  bool was_given = kvo__id_was_given(observation);
  bool found = kvo__ended_by_id(observation, &entry);
  if (!found && was_given) {
    kvo__ended_await();
    found = kvo__ended_by_id(observation, &entry);
  }
  if (found) {
    if (entry.by_death)
      raise_stale_handle(&entry, place);
    else
      kvo__fault_removed_twice(&entry, false, place);
    return;
  }
  kvo_report *report = kvo__report(was_given ? KVO_FAULT_NOT_REGISTERED : KVO_FAULT_INVALID_ARGUMENT);
  if (was_given) {
    kvo__append(&report->detail, "observation 0x%llx has ended, and is no longer among the last %u that are remembered",
                (unsigned long long)observation, (unsigned)kvo__settings.zombies);
    report->fault.help =
        "remove an observation once; KVO_ZOMBIES=n remembers more, and the report then says where it ended";
  } else {
    kvo__append(&report->detail, "0x%llx is not an observation's id%s", (unsigned long long)observation,
                observation == 0 ? ": did the registration fail?" : "");
    report->fault.help = "pass the id that kvo_add_observer stored, and check its status";
  }
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_endless_wait(kvo_observation observation, kvo_waited waited, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_ENDLESS_WAIT);
  kvo__append(&report->detail, "waiting for the deliveries of observation 0x%llx would never end: %s",
              (unsigned long long)observation,
              waited == KVO_WAITED_IN_OWN ? "this call is inside one of them"
                                          : "another thread is running one and waits for this thread");
  kvo_ended entry;
  if (kvo__ended_by_id(observation, &entry)) {
    removal_concern(report, &entry);
    kvo__report_concerns(report, &report->concerned, 1, place);
  }
  report->fault.help = kvo__is_for_swift(place, report->fault.observations)
                           ? "inside a callback end an observation without waiting: with invalidate()"
                           : "inside a callback end an observation without waiting: with kvo_cancel_observer";
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_endless_death(const kvo_info *info, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_ENDLESS_WAIT);
  kvo__append(&report->detail,
              "waiting for the evaluations of %s@0x%llx, which is being destroyed, would never end: another thread is "
              "running one and waits for this thread",
              info->cls->display_name, kvo__address(kvo__info_instance(info)));
  report->fault.object = kvo__info_instance(info);
  report->fault.object_class = info->cls->display_name;
  report->fault.help =
      "do not destroy an object inside a getter that evaluates another; the memory of this one is not freed";
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_unused(const kvo_node *node, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_ENDED_UNUSED);
  kvo__describe_node(node, &report->concerned);
  kvo__append(&report->detail, "the observation of \"%s\" of %s@0x%llx ended before its first notification",
              report->concerned.key_path, report->concerned.object_class, kvo__address(report->concerned.object));
  if (report->concerned.file != NULL)
    kvo__append(&report->detail, " (registered at %s:%u)", report->concerned.file, (unsigned)report->concerned.line);
  if (report->concerned.callback != NULL) { /* registered in C */
    report->fault.why = "kvo_cancel_observer has ended it, and nothing was told";
    report->fault.help = "end an observation when its notifications are not wanted any more";
  } else {
    report->fault.help =
        "keep the token in a property, \"token = object.observe(…)\"; or let the observation last as long as its receiver: "
        "object.onChange(of: \\.key, for: self) { me, old, new in … }";
  }
  kvo__report_concerns(report, &report->concerned, 1, place);
  kvo__raise(report);
}
