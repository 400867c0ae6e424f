/* lifetime.c - faults of objects that die while observed, and of objects whose header is invalid. */
#include "faults/reporting.h"

static const char *yes(kvo_options options, kvo_options option) { return (options & option) != 0 ? "YES" : "NO"; }

/* Apple's text names an observance object. Its identity here is the observation's id and its key path. */
static void append_info(kvo_sink *to, const kvo_fault_observation *of) {
  kvo__append(to,
              "\n<NSKeyValueObservance 0x%llx: Observer: 0x%llx, Key path: %s, Options: <New: %s, Old: %s, Prior: %s> "
              "Context: 0x%llx, Property: 0x%llx>",
              (unsigned long long)of->observation, kvo__address(of->observer), of->key_path, yes(of->options, KVO_NEW),
              yes(of->options, KVO_OLD), yes(of->options, KVO_PRIOR), kvo__address(of->context),
              kvo__address(of->key_path));
}

void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, kvo_fault_observation *left, size_t count,
                            kvo_place place) {
  const void *instance = (const char *)object - cls->header_offset;
  kvo_report *report = kvo__report(KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  size_t groups = count > KVO_MAX_SINGLE ? kvo__group(left, count, NULL) : count;
  kvo__append(&report->detail, "%s@0x%llx was deallocated while %zu observation%s registered (", cls->display_name,
              kvo__address(instance), count, count == 1 ? " was" : "s were");
  kvo__append_key_paths(&report->detail, left, groups);
  kvo__append(&report->detail, ")");
  /* For handlers and JSON; the text report lists the observations already. */
  kvo__append(&report->apple,
              "An instance 0x%llx of class %s was deallocated while key value observers were still registered with it. "
              "Current observation info: <NSKeyValueObservationInfo 0x%llx> (",
              kvo__address(instance), cls->display_name, kvo__address(object));
  for (size_t i = 0; i < count && count <= KVO_MAX_SINGLE; i++) append_info(&report->apple, &left[i]);
  kvo__append(&report->apple, count <= KVO_MAX_SINGLE ? "\n)" : "...)");
  bool itself = false;
  for (size_t i = 0; i < groups; i++) itself = itself || left[i].observer == instance;
  bool is_swift = kvo__is_for_swift(place, left);
  kvo__append(
      &report->help, "%s%s", itself ? "the observer is the object itself: " : "",
      !is_swift ? "call kvo_remove_observer before the object ends, or register with KVO_ENDS_WITH_OBJECT"
      : itself ? "observe with \"for: self\", onChange(of: \\.key, for: self) { me, old, new in … }, which ends with "
                 "it; or call removeObserver in its deinit"
               : "observe with \"for: self\", object.onChange(of: \\.key, for: self) { me, old, new in … }, which "
                 "ends with the object; or add the option .endsWithObject, or call removeObserver before the "
                 "object ends");
  const kvo_ended *removed = report->entries;
  size_t removed_count = kvo__ended_at(instance, report->entries, KVO_MAX_SITES);
  for (size_t i = 0; i < removed_count; i++) {
    kvo_sink label = {.memory = report->labels[i], .capacity = sizeof report->labels[i], .fd = -1};
    kvo__append(&label, "removed in time: \"%s\" by ", kvo__ended_path(&removed[i]));
    kvo__append_observer(&label, &removed[i]);
    kvo_fault_site *site = kvo__report_site(report, report->labels[i], removed[i].ended);
    site->thread = removed[i].thread;
    site->age = (double)(kvo__now() - removed[i].nanoseconds) / 1e9;
  }
  kvo__report_concerns(report, left, groups, place);
  report->fault.object = instance;
  kvo__raise(report);
}

void kvo__fault_overwritten(const kvo_info *info, const kvo_node *node) {
  uintptr_t word = kvo__word(info->object);
  kvo_fault_observation concerned;
  kvo__describe_observation(node, &concerned);
  const void *instance = kvo__info_instance(info);
  kvo_report *report = kvo__report(KVO_FAULT_OVERWRITTEN_HEADER);
  kvo__append(&report->detail, "the header of %s@0x%llx was overwritten with 0x%llx while the object was observed",
              info->cls->display_name, kvo__address(instance), (unsigned long long)word);
  report->fault.help =
      "end an object with kvo_object_destroy or kvo_object_finish before its memory is freed or used again; do "
      "not initialise it again, copy another one over it, or let another tool write to its header while it is "
      "observed. Changes since then did not notify. Found when the last observation ended";
  kvo__report_concerns(report, &concerned, 1, KVO_NOWHERE);
  report->fault.object = instance;
  kvo__raise(report);
}

void kvo__fault_ended_before_change(const kvo_info *info, const kvo_slot *slot, const char *function, kvo_place place) {
  const void *instance = kvo__info_instance(info);
  kvo_report *report = kvo__report(KVO_FAULT_INVALID_ARGUMENT);
  kvo__append(&report->detail, "%s: %s@0x%llx is ended in a callback before a change of its \"%s\"", function,
              info->cls->display_name, kvo__address(instance), kvo__slot_name(info, slot));
  report->fault.why = "the setter has not yet stored the value";
  report->fault.help =
      "end it after the change: in a callback without is_prior, or where the set was called. If the process goes on, "
      "kvo_object_destroy has done nothing";
  report->fault.object = instance;
  report->fault.object_class = info->cls->display_name;
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_not_created(const kvo_object *object, const char *function, kvo_place place) {
  const char *name = kvo_object_class(object)->display_name;
  kvo_report *report = kvo__report(KVO_FAULT_INVALID_ARGUMENT);
  kvo__append(&report->detail, "%s: kvo_object_create has not made %s@0x%llx", function, name, kvo__address(object));
  report->fault.why = "its memory is the program's, and cannot be freed here";
  report->fault.help = "end an object made by kvo_object_init with kvo_object_finish, then free its memory. If the "
                       "process goes on, kvo_object_destroy has done nothing";
  report->fault.object = object;
  report->fault.object_class = name;
  kvo__report_at(report, place);
  kvo__raise(report);
}
