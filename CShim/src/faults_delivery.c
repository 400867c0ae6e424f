/* faults_delivery.c - deliveries that do not end, and announcements that do not fit each other. */
#include "report.h"
#include "tombs.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------------- Depth -- */

/* "x" of A@0x1 (Model.swift:12) */
static void append_step(kvo_text *to, const kvo_fault_observation *of) {
  kvo__append(to, "\"%s\" of %s@0x%llx", of->key_path, of->object_class != NULL ? of->object_class : "(no class)",
              kvo__address(of->object));
  if (of->file != NULL) kvo__append(to, " (%s:%u)", of->file, (unsigned)of->line);
}

/* Each of a round, as far as a first line is for it. */
static void append_round(kvo_text *to, const kvo_fault_step *steps, size_t count, size_t length) {
  enum { IN_FIRST_LINE = 4 };
  size_t first = count - (length < count ? length : count);
  for (size_t i = 0; i < length && i < IN_FIRST_LINE && first + i < count; i++) {
    if (i > 0) kvo__append(to, " -> ");
    append_step(to, &steps[first + i].observation);
  }
  if (length > IN_FIRST_LINE) kvo__append(to, " -> …");
}

static const char later[] =
    " What was not told is told with the present value once other deliveries are over; what goes on in a circle even then is not told "
    "of what it sets itself.";

void kvo__fault_too_deep(uint32_t depth, const kvo_nesting *nesting, bool by_variable) {
  enum { STEPS = 16 };
  kvo_fault_step steps[STEPS];
  size_t count = kvo__chain(steps, STEPS);
  const kvo_fault_observation *last = count > 0 ? &steps[count - 1].observation : NULL;
  bool is_settled = nesting->shape != KVO_CIRCLE || !nesting->values_repeat;
  char detail_block[512], help_block[512];
  kvo_text detail = KVO_TEXT(detail_block), help = KVO_TEXT(help_block);
  kvo_fault fault = kvo__fault_of(is_settled ? KVO_FAULT_RECURSION : KVO_FAULT_UNSETTLED);
  const char *repeat = nesting->values_repeat ? ", and is told the same values again and again" : "";
  const char *limit = by_variable ? "KVO_MAX_DEPTH allows no more" : "the stack has no room for more";
  switch (nesting->shape) {
    case KVO_CIRCLE:
      kvo__append(&detail, "%zu observations set what the next one observes%s; they nest %u deep, and %s: ",
                  nesting->length, nesting->values_repeat ? ", and are told the same values again and again" : "",
                  (unsigned)depth, limit);
      append_round(&detail, steps, count, nesting->length);
      kvo__append(&help, "bind in one direction only, set only what differs, or make the values agree: what one of them stores "
                         "(rounded, trimmed, clamped) is not what the other wants.");
      break;
    case KVO_CIRCLE_OF_ONE:
      kvo__append(&detail, "an observer sets what it observes%s; it nests %u deep, and %s: ", repeat, (unsigned)depth,
                  limit);
      if (last != NULL) append_step(&detail, last);
      kvo__append(&help, "do not set the observed property in its own callback, or only to a value that differs.");
      break;
    case KVO_CIRCLE_IRREGULAR:
      kvo__append(&detail, "%zu observations call each other again and again, %u deep, and %s; the innermost is ",
                  nesting->length, (unsigned)depth, limit);
      if (last != NULL) append_step(&detail, last);
      kvo__append(&help, "look at the chain: who sets what whom calls?");
      break;
    default:
      kvo__append(&detail, "deliveries nest %u deep, each of another observation, and %s; the innermost is ",
                  (unsigned)depth, limit);
      if (last != NULL) append_step(&detail, last);
      kvo__append(&help, "this is no circle, but a long chain: shorten it, or set the next object after the callback has returned.");
  }
  kvo__append(&help, by_variable ? " KVO_MAX_DEPTH=n lets deliveries nest deeper, as far as the stack allows."
                                 : " A thread with a larger stack lets deliveries nest deeper.");
  kvo__append(&help, "%s", later);
  fault.help = help.bytes;
  fault.chain = steps;
  fault.chain_count = count;
  fault.observations = last;
  fault.observation_count = last != NULL ? 1 : 0;
  fault.object = last != NULL ? last->object : NULL;
  fault.object_class = last != NULL ? last->object_class : NULL;
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
  kvo__discard(&help);
}

void kvo__fault_abandoned(const kvo_node *node) {
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo_fault_observation left;
  kvo_fault fault = kvo__fault_of(KVO_FAULT_ABANDONED_DELIVERY);
  kvo__append(&detail, node != NULL ? "the callback of " : "a getter that was called for observers");
  if (node != NULL) {
    kvo__describe_node(node, &left);
    append_step(&detail, &left);
    fault.observations = &left;
    fault.observation_count = 1;
    fault.object = left.object;
    fault.object_class = left.object_class;
  }
  kvo__append(&detail, " was left by longjmp or an exception: %s were not told",
              node != NULL ? "the observers after it" : "they");
  fault.help =
      "catch exceptions and end jumps within the callback or the getter. Found at what this thread did next; that the "
      "object's memory stays allocated cannot be helped";
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
}

/* ------------------------------------------------------------------------------------------------------ Announcements -- */

/* A fault about an announcement of a key of an object, and one of its observers. */
static void raise_announcement(kvo_fault *fault, const kvo_object *object, const kvo_class *cls,
                               const kvo_fault_observation *concerned, kvo_place place, const char *detail) {
  fault->observations = concerned;
  fault->observation_count = concerned != NULL ? 1 : 0;
  fault->object = (const char *)object - (cls != NULL ? cls->header_offset : 0);
  fault->object_class = cls != NULL ? cls->written : NULL;
  fault->file = place.file;
  fault->line = place.line;
  kvo__raise(fault, detail);
}

static void append_object(kvo_text *to, const kvo_object *object, const kvo_class *cls) {
  kvo__append(to, "%s@0x%llx", cls != NULL ? cls->written : "(no class)",
              kvo__address((const char *)object - (cls != NULL ? cls->header_offset : 0)));
}

void kvo__fault_no_will(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                        kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "didChange of \"%s\" of ", key);
  append_object(&detail, object, cls);
  kvo__append(&detail, " without willChange before: nobody is told");
  kvo_fault fault = kvo__fault_of(KVO_FAULT_DID_WITHOUT_WILL);
  fault.help =
      "call willChange with the same key before the value changes, on the same thread, once for each didChange";
  raise_announcement(&fault, object, cls, concerned, place, detail.bytes);
  kvo__discard(&detail);
}

void kvo__fault_unfinished(const kvo_info *info, const kvo_object *object, const char *key,
                           const kvo_fault_observation *concerned, const char *end, const kvo_fault_site *will) {
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "willChange of \"%s\" of ", key);
  append_object(&detail, object, info->cls);
  kvo__append(&detail, " was never followed by didChange: %s, and its observers were not told", end);
  kvo_fault fault = kvo__fault_of(KVO_FAULT_UNFINISHED_CHANGE);
  fault.help = "call didChange on every way out, also after an error: in Swift with defer";
  fault.sites = will;
  fault.site_count = 1;
  raise_announcement(&fault, object, info->cls, concerned, KVO_NOWHERE, detail.bytes);
  kvo__discard(&detail);
}

void kvo__fault_crossed(const kvo_object *object, const char *key, const kvo_fault_observation *concerned,
                        const kvo_fault_site *will, kvo_place did) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "willChange of \"%s\" of ", key);
  append_object(&detail, object, cls);
  kvo__append(&detail, " was called on thread %u, and didChange on thread %u: nobody is told", (unsigned)will->thread,
              (unsigned)kvo__thread_number());
  kvo_fault fault = kvo__fault_of(KVO_FAULT_CROSSED_THREADS);
  fault.help = "call both on one thread; to change on another one, announce the change there";
  fault.sites = will;
  fault.site_count = 1;
  raise_announcement(&fault, object, cls, concerned, did, detail.bytes);
  kvo__discard(&detail);
}

void kvo__fault_doubled(const kvo_info *info, const char *key, const kvo_fault_observation *concerned,
                        const kvo_fault_site *will) {
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "\"%s\" of ", key);
  append_object(&detail, info->object, info->cls);
  kvo__append(&detail, " is set between willChange and didChange, and its setter tells the change, too: observers are "
                       "told twice");
  kvo_fault fault = kvo__fault_of(KVO_FAULT_DOUBLE_NOTIFICATION);
  fault.help = "announce by hand only what no setter tells, or switch the setter's telling off: "
               "automaticallyNotifiesObservers(forKey:) in Swift, KVO_PROPERTY_MANUAL in C";
  fault.sites = will;
  fault.site_count = 1;
  /* Its place is where the pair is: told once for each. */
  raise_announcement(&fault, info->object, info->cls, concerned, (kvo_place){will->file, will->line}, detail.bytes);
  kvo__discard(&detail);
}

void kvo__fault_silent_change(const kvo_fault_observation *concerned, const kvo_info *holder, const char *key) {
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "\"%s\" of ", key);
  append_object(&detail, holder->object, holder->cls);
  kvo__append(&detail, " was changed without notification, and the observation of \"%s\" of %s@0x%llx did not notice",
              concerned->key_path, concerned->object_class, kvo__address(concerned->object));
  kvo_fault fault = kvo__fault_of(KVO_FAULT_SILENT_CHANGE);
  fault.help =
      "set it through its setter, or announce the change with willChange and didChange; the observation follows "
      "from here on";
  raise_announcement(&fault, holder->object, holder->cls, concerned, KVO_NOWHERE, detail.bytes);
  kvo__discard(&detail);
}

void kvo__warn_of_unknown_key(const kvo_object *object, const char *key, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  if (cls == NULL || kvo__class_find(cls, kvo_key_hash(key, strlen(key))) != NULL) return;
  kvo_nearest nearest = {.name = key};
  for (size_t i = 0; i < cls->property_count; i++) kvo__nearest(&nearest, cls->properties[i]->name);
  if (nearest.found == NULL) return; /* any key may be announced, and perhaps this one is meant */
  char detail_block[512], help_block[160];
  kvo_text detail = KVO_TEXT(detail_block), help = KVO_TEXT(help_block);
  kvo__append(&detail, "willChange of \"%s\" of ", key);
  append_object(&detail, object, cls);
  kvo__append(&detail, ", which has no such key and no observer of it");
  kvo__append(&help, "did you mean \"%s\"?", nearest.found);
  kvo_fault fault = kvo__fault_of(KVO_FAULT_UNDEFINED_KEY);
  fault.severity = KVO_SEVERITY_WARNING;
  fault.why = "a change of a misspelt key is told to nobody";
  fault.help = help.bytes;
  raise_announcement(&fault, object, cls, NULL, place, detail.bytes);
  kvo__discard(&detail);
  kvo__discard(&help);
}

void kvo__fault_unordered_indexes(const kvo_object *object, const char *key, size_t position, size_t before,
                                  size_t index, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "a change of elements of \"%s\" of ", key);
  append_object(&detail, object, cls);
  kvo__append(&detail, " has positions that do not rise: number %zu is %zu after %zu", position, index, before);
  kvo_fault fault = kvo__fault_of(KVO_FAULT_BAD_INDEXES);
  fault.help = "give each position once, ascending";
  raise_announcement(&fault, object, cls, NULL, place, detail.bytes);
  kvo__discard(&detail);
}

static void append_announced(kvo_text *to, const kvo_announced *of) {
  enum { SHOWN = 8 };
  static const char *const names[] = {"?", "a setting", "an insertion", "a removal", "a replacement"};
  kvo__append(to, "%s", names[of->kind >= KVO_CHANGE_SETTING && of->kind <= KVO_CHANGE_REPLACEMENT ? of->kind : 0]);
  for (size_t i = 0; i < of->count && i < SHOWN; i++) kvo__append(to, "%s%zu", i == 0 ? " at " : ", ", of->indexes[i]);
  if (of->count > SHOWN) kvo__append(to, " and %zu more", of->count - SHOWN);
  if (of->count == 0) kvo__append(to, " at no position");
}

void kvo__fault_other_indexes(const kvo_object *object, const char *key, const kvo_announced *begun,
                              const kvo_announced *end, const kvo_fault_site *will, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "willChange of \"%s\" of ", key);
  append_object(&detail, object, cls);
  kvo__append(&detail, " announced ");
  append_announced(&detail, begun);
  kvo__append(&detail, ", and didChange ");
  append_announced(&detail, end);
  kvo__append(&detail, ": observers are told what willChange said");
  kvo_fault fault = kvo__fault_of(KVO_FAULT_BAD_INDEXES);
  fault.help = "give both the same kind and positions";
  fault.sites = will;
  fault.site_count = 1;
  raise_announcement(&fault, object, cls, NULL, place, detail.bytes);
  kvo__discard(&detail);
}
