/* faults_lifetime.c - objects that die while they are observed, and objects whose header is not theirs any more. */
#include "report.h"
#include "tombs.h"

static const char *yes(kvo_options options, kvo_options option) { return (options & option) != 0 ? "YES" : "NO"; }

/* What is an object with Apple is one here by its identity: the observation's id, and its key path. */
static void append_info(kvo_text *to, const kvo_fault_observation *of) {
  kvo__append(to,
              "\n<NSKeyValueObservance 0x%llx: Observer: 0x%llx, Key path: %s, Options: <New: %s, Old: %s, Prior: %s> "
              "Context: 0x%llx, Property: 0x%llx>",
              (unsigned long long)of->observation, kvo__address(of->observer), of->key_path, yes(of->options, KVO_NEW),
              yes(of->options, KVO_OLD), yes(of->options, KVO_PRIOR), kvo__address(of->context),
              kvo__address(of->key_path));
}

void kvo__fault_deallocated(const kvo_object *object, const kvo_class *cls, const kvo_fault_observation *left,
                            size_t count, kvo_place place) {
  enum { REMOVED = 4, IN_FIRST_LINE = 8 };
  const void *instance = (const char *)object - cls->header_offset;
  char detail_block[512], apple_block[1024], help_block[512];
  kvo_text detail = KVO_TEXT(detail_block), apple = KVO_TEXT(apple_block), help = KVO_TEXT(help_block);
  kvo__append(&detail, "%s@0x%llx was deallocated while %zu observation%s registered (key path%s:", cls->written,
              kvo__address(instance), count, count == 1 ? " was" : "s were", count == 1 ? "" : "s");
  kvo__append(
      &apple,
      "An instance 0x%llx of class %s was deallocated while key value observers were still registered with it. Current "
      "observation info: <NSKeyValueObservationInfo 0x%llx> (",
      kvo__address(instance), cls->written, kvo__address(object));
  bool itself = false;
  for (size_t i = 0; i < count; i++) {
    if (i < IN_FIRST_LINE) kvo__append(&detail, "%s \"%s\"", i == 0 ? "" : ",", left[i].key_path);
    append_info(&apple, &left[i]);
    itself = itself || left[i].observer == instance;
  }
  kvo__append(&detail, count > IN_FIRST_LINE ? " and more)" : ")");
  kvo__append(&apple, "\n)");
  kvo__append(&help,
              "%sremove each observation before its object dies, or make it one that ends with the object: in "
              "Swift the token of observe(_:options:changeHandler:), in C the option KVO_ENDS_WITH_OBJECT",
              itself
                  ? "the observer is the object itself, so nobody can remove it in time: observe with a closure that "
                    "does not capture the object, which ends with it. Otherwise "
                  : "");
  kvo_tomb removed[REMOVED];
  kvo_fault_site sites[REMOVED];
  char labels[REMOVED][160];
  size_t site_count = kvo__tombs_at(instance, removed, REMOVED);
  for (size_t i = 0; i < site_count; i++) {
    kvo_text label = KVO_TEXT(labels[i]);
    kvo__append(&label, "removed in time: \"%s\" by %s@0x%llx", kvo__tomb_path(&removed[i]),
                removed[i].observer_class[0] != '\0' ? removed[i].observer_class : "observer",
                kvo__address(removed[i].observer));
    sites[i] = kvo__site(labels[i], removed[i].ended);
    sites[i].thread = removed[i].thread;
    sites[i].age = (double)(kvo__now() - removed[i].nanoseconds) / 1e9;
    kvo__discard(&label);
  }
  kvo_fault fault = kvo__fault_of(KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  fault.apple = apple.bytes;
  fault.help = help.bytes;
  fault.observations = left;
  fault.observation_count = count;
  fault.sites = sites;
  fault.site_count = site_count;
  fault.object = instance;
  fault.object_class = cls->written;
  fault.file = place.file;
  fault.line = place.line;
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
  kvo__discard(&apple);
  kvo__discard(&help);
}

void kvo__fault_overwritten(const kvo_info *info, const kvo_fault_observation *concerned, uintptr_t word) {
  const void *instance = (const char *)info->object - info->cls->header_offset;
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "the header of %s@0x%llx was overwritten with 0x%llx while the object was observed",
              info->cls->written, kvo__address(instance), (unsigned long long)word);
  kvo_fault fault = kvo__fault_of(KVO_FAULT_OVERWRITTEN_HEADER);
  fault.help =
      "end an object with kvo_object_destroy or kvo_object_finish before its memory is freed or used again; do "
      "not initialise it again, copy another one over it, or let another tool write to its header while it is "
      "observed. Changes made since were told to nobody. Found when the last observation ended";
  kvo__fault_concerns(&fault, concerned, 1, KVO_NOWHERE);
  fault.object = instance;
  fault.object_class = info->cls->written;
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
}

void kvo__fault_ended_before_change(const kvo_info *info, const kvo_slot *slot, const char *function, kvo_place place) {
  const void *instance = (const char *)info->object - info->cls->header_offset;
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "%s: %s@0x%llx is ended in a callback before a change of its \"%s\"", function,
              info->cls->written, kvo__address(instance), kvo__slot_name(info, slot));
  kvo_fault fault = kvo__fault_of(KVO_FAULT_INVALID_ARGUMENT);
  fault.why = "its setter is about to store into it";
  fault.help = "end it after the change: in a callback without is_prior, or where the set was called. If the process "
               "goes on, kvo_object_destroy has done nothing";
  fault.object = instance;
  fault.object_class = info->cls->written;
  fault.file = place.file;
  fault.line = place.line;
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
}
