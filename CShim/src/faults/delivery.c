/* delivery.c - faults of nested, slow or abandoned deliveries, and of announced changes. */
#include "faults/reporting.h"

/* ------------------------------------------------------------------------------------------------------------- Depth -- */

/* Appends a step such as: "x" of A@0x1 (Model.swift:12) */
static void append_step(kvo_sink *to, const kvo_fault_observation *of) {
  kvo__append(to, "\"%s\" of %s@0x%llx", of->key_path, of->object_class != NULL ? of->object_class : "(no class)",
              kvo__address(of->object));
  if (of->file != NULL) kvo__append(to, " (%s:%u)", of->file, (unsigned)of->line);
}

/* Appends what a binding sets, if its registration has said it: "x" of A@0x1 (Model.swift:12); otherwise what it observes. */
static void append_binding(kvo_sink *to, const kvo_fault_observation *of) {
  static const char prefix[] = "binding of ";
  bool is_said = of->note != NULL && strncmp(of->note, prefix, sizeof prefix - 1) == 0 && of->observer_class != NULL;
  if (!is_said) {
    append_step(to, of);
    return;
  }
  kvo__append(to, "%s of %s@0x%llx", of->note + sizeof prefix - 1, of->observer_class, kvo__address(of->observer));
  if (of->file != NULL) kvo__append(to, " (%s:%u)", of->file, (unsigned)of->line);
}

static const char *delivery_file_of(const kvo_fault_observation *of) { return of->file != NULL ? of->file : ""; }

/* Sorts by source location, then by id. */
static bool is_before(const kvo_fault_observation *left, const kvo_fault_observation *right) {
  int files = strcmp(delivery_file_of(left), delivery_file_of(right));
  if (files != 0) return files < 0;
  return left->line != right->line ? left->line < right->line : left->observation < right->observation;
}

/* Stores the observations of a chain's last `length` steps, each once, beginning with the first one in the source, so that the report does
 * not depend on where the chain was cut. Returns how many there are. */
static size_t store_members(kvo_report *report, size_t length) {
  size_t count = report->fault.chain_count, members = 0, first = 0;
  if (length > count) length = count;
  const kvo_fault_step *steps = report->steps + (count - length);
  for (size_t i = 1; i < length; i++)
    if (is_before(&steps[i].observation, &steps[first].observation)) first = i;
  for (size_t i = 0; i < length; i++) {
    const kvo_fault_observation *each = &steps[(first + i) % length].observation;
    size_t known = 0;
    while (known < members && report->members[known].observation != each->observation) known++;
    if (known == members) report->members[members++] = *each;
  }
  return members;
}

/* Appends the observations of a cycle, as many as fit into the first line. */
static void append_round(kvo_sink *to, const kvo_fault_observation *members, size_t count) {
  enum { IN_FIRST_LINE = 4 };
  for (size_t i = 0; i < count && i < IN_FIRST_LINE; i++) {
    if (i > 0) kvo__append(to, " -> ");
    append_step(to, &members[i]);
  }
  if (count > IN_FIRST_LINE) kvo__append(to, " -> …");
}

void kvo__fault_too_deep(uint32_t depth, const kvo_nesting *nesting, bool by_variable) {
  bool is_settled = nesting->shape != KVO_CIRCLE || !nesting->values_repeat;
  kvo_report *report = kvo__report(is_settled ? KVO_FAULT_RECURSION : KVO_FAULT_UNSETTLED);
  const kvo_fault_step *steps = kvo__report_chain(report);
  size_t count = report->fault.chain_count;
  const kvo_fault_observation *last = count > 0 ? &steps[count - 1].observation : NULL;
  size_t members = store_members(report, nesting->shape == KVO_CIRCLE             ? nesting->length
                                         : nesting->shape == KVO_CIRCLE_IRREGULAR ? count
                                                                                  : 1);
  kvo_sink *detail = &report->detail, *help = &report->help;
  const char *repeat = nesting->values_repeat ? ", and receives the same values again and again" : "";
  const char *limit = by_variable ? "KVO_MAX_DEPTH allows no more" : "the stack is full";
  switch (nesting->shape) {
    case KVO_CIRCLE:
      kvo__append(detail, "%zu observations form a cycle%s; they nest %u deep, and %s: ", nesting->length,
                  nesting->values_repeat ? " and receive the same values again and again" : "", (unsigned)depth, limit);
      append_round(detail, report->members, members);
      kvo__append(
          help, "bind in one direction only, set only what differs, or make the values agree: what one of them stores "
                "(rounded, trimmed, clamped) is not what the other wants.");
      break;
    case KVO_CIRCLE_OF_ONE:
      kvo__append(detail, "an observer sets the property that it observes%s; it nests %u deep, and %s: ", repeat,
                  (unsigned)depth, limit);
      if (last != NULL) append_step(detail, last);
      kvo__append(help, "do not set the observed property in its own callback, or only to a value that differs.");
      break;
    case KVO_CIRCLE_IRREGULAR:
      kvo__append(detail, "%zu observations call each other again and again, %u deep, and %s; the innermost is ",
                  nesting->length, (unsigned)depth, limit);
      if (last != NULL) append_step(detail, last);
      kvo__append(help, "find out which of their callbacks sets which property, and let one of them not.");
      break;
    default:
      kvo__append(detail, "a long chain of %u nested deliveries without a cycle, and %s; the innermost is ",
                  (unsigned)depth, limit);
      if (last != NULL) append_step(detail, last);
      kvo__append(help, "shorten the chain, or set the next object after the callback has returned.");
  }
  if (by_variable)
    kvo__append(help, " KVO_MAX_DEPTH=n lets deliveries nest deeper, as far as the stack allows.");
  else if (nesting->shape == KVO_NO_CIRCLE)
    kvo__append(help, " A thread with a larger stack lets deliveries nest deeper.");
  kvo__report_concerns(report, report->members, members, KVO_NOWHERE);
  kvo__raise(report);
}

void kvo__fault_unsettled(const kvo_node *const *bindings, size_t count, uint32_t rounds) {
  enum { NAMED = 16 };
  kvo_fault_observation named[NAMED];
  kvo_report *report = kvo__report(KVO_FAULT_UNSETTLED);
  size_t shown = count < NAMED ? count : NAMED;
  kvo__append(&report->detail, "%zu binding%s set%s what %s without end, for %u rounds (KVO_MAX_ROUNDS): ", count,
              count == 1 ? "" : "s", count == 1 ? "s" : "", count == 1 ? "it reads" : "the next one reads",
              (unsigned)rounds);
  for (size_t i = 0; i < shown; i++) {
    kvo__describe_node(bindings[i], &named[i]);
    if (i > 0) kvo__append(&report->detail, " -> ");
    append_binding(&report->detail, &named[i]);
  }
  if (shown < count) kvo__append(&report->detail, " -> …");
  report->fault.help =
      "let the expressions, the conversions and the setters that correct values agree on a value; or bind in "
      "one direction only. All properties keep their last values";
  kvo__report_concerns(report, named, shown, KVO_NOWHERE);
  kvo__raise(report);
}

void kvo__fault_abandoned(const kvo_node *outer, const kvo_node *inner) {
  kvo_fault_observation left[2];
  size_t count = outer == NULL ? 0 : inner == outer ? 1 : 2;
  kvo_report *report = kvo__report(KVO_FAULT_ABANDONED_DELIVERY);
  kvo__append(&report->detail, count > 0 ? "the callback of " : "a getter that was called for observers");
  if (count > 0) {
    kvo__describe_node(inner, &left[0]); /* the jump began there */
    kvo__describe_node(outer, &left[count - 1]);
    append_step(&report->detail, &left[0]);
    kvo__report_concerns(report, left, count, KVO_NOWHERE);
  }
  kvo__append(&report->detail, " was left by longjmp or an exception");
  if (count > 1) {
    kvo__append(&report->detail, ", and with it that of ");
    append_step(&report->detail, &left[1]);
  }
  kvo__append(&report->detail, ": %s were not notified", count > 0 ? "the later observers" : "they");
  report->fault.help =
      "catch exceptions and end jumps inside the callback or getter. Found at this thread's next operation; memory of "
      "the object may not be freed";
  kvo__raise(report);
}

/* ------------------------------------------------------------------------------------------------------ Announcements -- */

/* Raises a fault about a change announced manually, and one of the observations of the key. */
static void raise_announcement(kvo_report *report, const kvo_object *object, const kvo_class *cls,
                               const kvo_fault_observation *concerned, kvo_place place) {
  kvo__report_concerns(report, concerned, concerned != NULL ? 1 : 0, place);
  report->fault.object = (const char *)object - (cls != NULL ? cls->header_offset : 0);
  report->fault.object_class = cls != NULL ? cls->display_name : NULL;
  kvo__raise(report);
}

static void append_object(kvo_sink *to, const kvo_object *object, const kvo_class *cls) {
  kvo__append(to, "%s@0x%llx", cls != NULL ? cls->display_name : "(no class)",
              kvo__address((const char *)object - (cls != NULL ? cls->header_offset : 0)));
}

void kvo__fault_no_will(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                        kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_DID_WITHOUT_WILL);
  kvo__append(&report->detail, "didChange of \"%s\" of ", key);
  append_object(&report->detail, object, cls);
  kvo__append(&report->detail, " without a preceding willChange: no observer is notified");
  report->fault.help =
      kvo__is_for_swift(place, concerned)
          ? "call willChange with the same key before the value changes, on the same thread, once for each didChange"
          : "call kvo_will_change with the same key before the value changes, on the same thread, once for each did";
  raise_announcement(report, object, cls, concerned, place);
}

void kvo__fault_unfinished(const kvo_info *info, const kvo_object *object, const char *key,
                           const kvo_fault_observation *concerned, const char *end, const kvo_fault_site *will) {
  kvo_report *report = kvo__report(KVO_FAULT_UNFINISHED_CHANGE);
  kvo__append(&report->detail, "willChange of \"%s\" of ", key);
  append_object(&report->detail, object, info->cls);
  kvo__append(&report->detail, " was never followed by didChange: %s, and its observers were not notified", end);
  bool is_for_swift = kvo__is_for_swift((kvo_place){will->file, will->line}, concerned);
  report->fault.help = is_for_swift
                           ? "call didChange on every path, also after an error: \"defer { didChangeValue(…) }\""
                           : "call kvo_did_change on every path, also after an error";
  report->fault.sites = will;
  report->fault.site_count = 1;
  raise_announcement(report, object, info->cls, concerned, KVO_NOWHERE);
}

void kvo__fault_crossed(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                        const kvo_fault_site *will, kvo_place did) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_CROSSED_THREADS);
  kvo__append(&report->detail, "willChange of \"%s\" of ", key);
  append_object(&report->detail, object, cls);
  kvo__append(&report->detail, " was called on thread %u, and didChange on thread %u: no observer is notified",
              (unsigned)will->thread, (unsigned)kvo__thread_number());
  report->fault.help = "call both on one thread, the one that stores the value";
  report->fault.sites = will;
  report->fault.site_count = 1;
  raise_announcement(report, object, cls, concerned, did);
}

void kvo__fault_doubled(const kvo_info *info, const char *key, const kvo_fault_observation *concerned,
                        const kvo_fault_site *will) {
  kvo_report *report = kvo__report(KVO_FAULT_DOUBLE_NOTIFICATION);
  kvo__append(&report->detail, "\"%s\" of ", key);
  append_object(&report->detail, info->object, info->cls);
  kvo__append(&report->detail,
              " is set between willChange and didChange, and its setter also notifies: observers are notified "
              "twice");
  kvo__append(&report->help, "announce manually only what no setter announces, or turn automatic notification off: %s",
              kvo__is_for_swift((kvo_place){will->file, will->line}, concerned)
                  ? "override automaticallyNotifiesObservers(forKey:)"
                  : "give the property KVO_PROPERTY_MANUAL");
  report->fault.sites = will;
  report->fault.site_count = 1;
  /* The source location is that of the will, so each pair is reported once. */
  raise_announcement(report, info->object, info->cls, concerned, (kvo_place){will->file, will->line});
}

void kvo__fault_silent_change(const kvo_fault_observation *concerned, const kvo_info *holder, const char *key) {
  kvo_report *report = kvo__report(KVO_FAULT_SILENT_CHANGE);
  kvo__append(&report->detail, "\"%s\" of ", key);
  append_object(&report->detail, holder->object, holder->cls);
  kvo__append(&report->detail,
              " was replaced without a notification, and the observation of \"%s\" of %s@0x%llx was not updated",
              concerned->key_path, concerned->object_class, kvo__address(concerned->object));
  report->fault.help =
      kvo__is_for_swift(KVO_NOWHERE, concerned)
          ? "set it through its setter, or announce the change with willChange and didChange; the observation is "
            "updated now"
          : "set it with KVO_SET or its setter, or announce the change with kvo_will_change and kvo_did_change; the "
            "observation is updated now";
  raise_announcement(report, holder->object, holder->cls, concerned, KVO_NOWHERE);
}

/* Whether a C class may have keys that are no properties. */
static bool answers_undefined_keys(const kvo_class *cls) {
  const kvo_coding_hooks *hooks = cls->coding;
  return hooks != NULL && (hooks->value_for_undefined_key != NULL || hooks->set_value_for_undefined_key != NULL);
}

void kvo__fault_unknown_key(const kvo_object *object, const char *key, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  if (cls == NULL || answers_undefined_keys(cls) || kvo__class_find(cls, kvo_key_hash(key, strlen(key))) != NULL)
    return;
  kvo_nearest nearest = {.name = key};
  for (size_t i = 0; i < cls->property_count; i++)
    if ((cls->properties[i]->flags & KVO_PROPERTY_AMONG_OTHERS) == 0) kvo__nearest(&nearest, cls->properties[i]->name);
  if (nearest.found == NULL) return; /* any key may be announced, so this may be intended */
  kvo_report *report = kvo__report(KVO_FAULT_UNDEFINED_KEY);
  kvo__append(&report->detail, "willChange of \"%s\" of ", key);
  append_object(&report->detail, object, cls);
  kvo__append(&report->detail, ", which has no such key and no observer of it");
  kvo__append(&report->help, "did you mean \"%s\"?", nearest.found);
  report->fault.severity = KVO_SEVERITY_WARNING;
  report->fault.why = "no observer is notified of a misspelt key";
  raise_announcement(report, object, cls, NULL, place);
}

void kvo__fault_unordered_indexes(const kvo_object *object, const char *key, size_t position, size_t before,
                                  size_t index, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_BAD_INDEXES);
  kvo__append(&report->detail, "a change of elements of \"%s\" of ", key);
  append_object(&report->detail, object, cls);
  kvo__append(&report->detail, " has indexes that are not ascending: number %zu is %zu, after %zu", position, index,
              before);
  report->fault.help = "pass each index once, in ascending order";
  raise_announcement(report, object, cls, NULL, place);
}

static void append_announced(kvo_sink *to, const kvo_announced *of) {
  enum { SHOWN = 8 };
  static const char *const names[] = {NULL, "a setting", "an insertion", "a removal", "a replacement"};
  kvo__append(to, "%s", names[of->kind]);
  for (size_t i = 0; i < of->count && i < SHOWN; i++) kvo__append(to, "%s%zu", i == 0 ? " at " : ", ", of->indexes[i]);
  if (of->count > SHOWN) kvo__append(to, " and %zu more", of->count - SHOWN);
  if (of->count == 0 && of->kind != KVO_CHANGE_SETTING) kvo__append(to, " at no index");
}

void kvo__fault_other_indexes(const kvo_object *object, const char *key, const kvo_announced *begun,
                              const kvo_announced *end, const kvo_fault_site *will, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_BAD_INDEXES);
  kvo__append(&report->detail, "willChange of \"%s\" of ", key);
  append_object(&report->detail, object, cls);
  kvo__append(&report->detail, " announced ");
  append_announced(&report->detail, begun);
  kvo__append(&report->detail, ", and didChange ");
  append_announced(&report->detail, end);
  kvo__append(&report->detail, ": observers receive what willChange announced");
  report->fault.help = begun->kind != KVO_CHANGE_SETTING && end->kind != KVO_CHANGE_SETTING
                           ? "pass the same kind and indexes to both"
                           : "call willChange and didChange in the same form: both with a kind and indexes, or neither";
  report->fault.sites = will;
  report->fault.site_count = 1;
  raise_announcement(report, object, cls, NULL, place);
}
