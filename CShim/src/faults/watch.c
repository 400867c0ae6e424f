/* watch.c - faults that are reported only if a setting asks for them: observations that never end, slow callbacks. */
#include "faults/reporting.h"
#include "platform/settings.h"

#include <unistd.h>

void kvo__fault_never_ended(const kvo_fault_observation *places, size_t place_count, size_t lines, size_t count) {
  const kvo_fault_observation *most = places; /* largest groups first */
  kvo_report *report = kvo__report(KVO_FAULT_NEVER_ENDED);
  kvo__append(&report->detail,
              "%zu observation%s, registered at %zu place%s, had not ended when the process ended; %zu of them: \"",
              count, count == 1 ? "" : "s", lines, lines == 1 ? "" : "s", most->duplicate_count + 1);
  kvo__append(&report->detail, "%s\" of %s", most->key_path, most->object_class);
  if (most->file != NULL) kvo__append(&report->detail, ", at %s:%u", most->file, (unsigned)most->line);
  report->fault.thread = kvo__thread_number();
  report->fault.observations = places;
  report->fault.observation_count = place_count;
  report->fault.help =
      kvo__is_for_swift(KVO_NOWHERE, most)
          ? "release the token when its work is done, and let the closure capture neither the token nor the object; or "
            "observe with \"for: self\". One that is meant to last as long as the process may stay"
          : "call kvo_remove_observer when its work is done. One that is meant to last as long as the process may stay";
  kvo__raise(report);
}

void kvo__fault_slow(const kvo_fault_observation *delivered, uint32_t thread, uint64_t milliseconds) {
  char name[64];
  kvo_report *report = kvo__report(KVO_FAULT_SLOW_CALLBACK);
  kvo__append(&report->detail, "an observer of \"%s\" of %s@0x%llx has not returned for %llu ms, on thread %u %s",
              delivered->key_path, delivered->object_class, kvo__address(delivered->object),
              (unsigned long long)milliseconds, (unsigned)thread,
              thread == (uint32_t)getpid() ? "(main)" : kvo__thread_name(thread, name, sizeof name));
  report->fault.thread = thread;
  report->fault.object = delivered->object;
  report->fault.object_class = delivered->object_class;
  report->fault.observations = delivered;
  report->fault.observation_count = 1;
  report->fault.help = "let the callback only record the change, and do the work elsewhere: the setter waits for it";
  kvo__raise(report);
}

void kvo__fault_avalanche(const kvo_avalanche *of, const kvo_node *delivered) {
  kvo_report *report = kvo__report(KVO_FAULT_SLOW_CALLBACK);
  kvo__describe_node(delivered, &report->concerned);
  kvo__append(
      &report->detail,
      "one set of \"%s\" of %s@0x%llx has caused more than %u notifications (KVO_AVALANCHE), with those that its "
      "observers cause, and goes on",
      of->key, of->class_name, kvo__address(of->object), (unsigned)kvo__settings.avalanche);
  kvo__append(
      &report->help,
      "kvo trace and kvo view show which observers multiply: let an observer set only what differs, and set what "
      "depends on several values once, in %s",
      kvo__is_for_swift(KVO_NOWHERE, &report->concerned) ? "withCoalescedChanges(of:)"
                                                         : "a scope with KVO_SCOPE_COALESCES");
  kvo__report_concerns(report, &report->concerned, 1, KVO_NOWHERE);
  report->fault.object = of->object;
  report->fault.object_class = of->class_name;
  kvo__raise(report);
}
