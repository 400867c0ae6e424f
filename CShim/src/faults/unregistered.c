/* unregistered.c - faults of removals by observer and key path: of what is not registered, and of what is registered several times. */
#include "faults/reporting.h"

/* ---------------------------------------------------------------------------------------------- What is registered -- */

/* The observations of an object; their strings are not copied. */
typedef struct registered {
  kvo_fault_observation *all;
  size_t count, capacity;
} registered;

static void collect(const kvo_fault_observation *observation, void *arg) {
  registered *into = arg;
  if (into->count < into->capacity) into->all[into->count++] = *observation;
}

static registered registered_with(const kvo_object *object) {
  registered on = {NULL, 0, kvo_object_observation_count(object)};
  if (on.capacity > 0) on.all = kvo__alloc(on.capacity * sizeof *on.all);
  if (on.all == NULL) on.capacity = 0;
  kvo_object_visit_observations(object, collect, &on);
  return on;
}

/* ------------------------------------------------------------------------------------------- Of the same observer -- */

/* Observations by the same observer with the same key path. Strings are copied, because they may end. */
typedef struct related {
  const void *observer, *object;
  const char *key_path;
  /* Of the same object: as an observer, and as the receiver of a closure, which removal by observer does not find. */
  bool as_observer, as_receiver;
  const void *context;
  /* Of another object. */
  bool found;
  char object_class[64];
  const void *other_object;
  kvo_place place;
} related;

static void note_related(kvo_node *node, void *arg) {
  related *search = arg;
  kvo_fault_observation described;
  kvo__describe_node(node, &described);
  if (described.observer != search->observer || strcmp(described.key_path, search->key_path) != 0) return;
  if (described.object == search->object && (node->options & KVO_NODE_OF_RECEIVER) != 0) {
    search->as_receiver = true;
  } else if (described.object == search->object) {
    search->as_observer = true;
    search->context = described.context;
  }
  if (search->found || described.object == search->object) return;
  search->found = true;
  search->other_object = described.object;
  search->place = (kvo_place){described.file, described.line};
  kvo__copy_cut(search->object_class, sizeof search->object_class, described.object_class);
}

static related find_related(const void *observer, const void *object, const char *key_path) {
  related search = {.observer = observer, .object = object, .key_path = key_path};
  if (observer == NULL) return search;
  kvo__world_stop();
  kvo__ids_visit(KVO_NODE_ANCHOR, note_related, &search);
  kvo__world_resume();
  return search;
}

/* ------------------------------------------------------------------------------------------------------------- Hints -- */

static void append_hint(kvo_sink *to, const registered *on, const void *observer, const char *key_path,
                        const related *other) {
  const kvo_fault_observation *with_other_context = NULL, *of_other_path = NULL;
  kvo_nearest nearest = {.name = key_path};
  for (size_t i = 0; i < on->count; i++) {
    if (on->all[i].observer != observer) continue;
    of_other_path = &on->all[i];
    if (strcmp(on->all[i].key_path, key_path) == 0)
      with_other_context = &on->all[i];
    else
      kvo__nearest(&nearest, on->all[i].key_path);
  }
  if (other->as_receiver && !other->as_observer)
    kvo__append(to,
                "it observes this key path as the receiver of a closure, not as an observer: end that with its token "
                "or with stopObserving(_:for:)");
  else if (with_other_context != NULL)
    kvo__append(to, "this observer observes this key path with context 0x%llx: pass the one given at registration",
                kvo__address(other->as_observer ? other->context : with_other_context->context));
  else if (nearest.found != NULL)
    kvo__append(to, "did you mean \"%s\", which this observer observes?", nearest.found);
  else if (other->found)
    kvo__append(to, "this observer observes \"%s\" of another object, %s@0x%llx: was the object replaced between?",
                key_path, other->object_class, kvo__address(other->other_object));
  else if (of_other_path != NULL)
    kvo__append(to, "this observer observes another key path of the object, \"%s\": is it that one?",
                of_other_path->key_path);
  else if (on->count == 0)
    kvo__append(to, "nothing is registered with the object: was the observer added to another one, or never?");
  else
    kvo__append(to, "other observers are registered with the object, but not this one: was it added to another object, "
                    "or never?");
}

/* Raises KVO0002. */
static void raise_unregistered(const kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                               const void *context, bool match_context, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  const char *name = cls != NULL ? cls->display_name : "(no class)";
  const void *instance = kvo_object_instance(object);
  const char *observer_class = identity->class_name != NULL ? identity->class_name : "observer";
  kvo_report *report = kvo__report(KVO_FAULT_NOT_REGISTERED);
  kvo__append(&report->detail, "cannot remove %s@0x%llx for \"%s\"", observer_class, kvo__address(identity->address),
              key_path);
  if (match_context) kvo__append(&report->detail, " with context 0x%llx", kvo__address(context));
  kvo__append(&report->detail, " from %s@0x%llx: it is not registered", name, kvo__address(instance));
  kvo__append_cannot_remove(&report->apple, observer_class, identity->address, key_path, name, instance);
  related other = find_related(identity->address, instance, key_path);
  if (other.found) kvo__report_site(report, "with the other object registered", other.place);
  if (kvo__ended_find(instance, identity, key_path, context, match_context, true, report->entries))
    kvo__report_site(report, "with an earlier object at this address registered", report->entries[0].registered);
  /* Enter as a reader, so that the strings stay valid while the report is made. */
  kvo_info *info = kvo__word_info(kvo__word(object));
  uint64_t entered = info != NULL ? kvo__enter(info) : 0;
  registered on = info != NULL ? registered_with(object) : (registered){0};
  append_hint(&report->help, &on, identity->address, key_path, &other);
  if (on.count > KVO_MAX_SINGLE) on.count = kvo__group(on.all, on.count, NULL);
  kvo__report_concerns(report, on.all, on.count, place);
  report->fault.object = instance;
  report->fault.object_class = name;
  kvo__raise(report);
  if (info != NULL) kvo__leave(info, entered);
  kvo__free(on.all);
}

void kvo__fault_not_registered(const kvo_object *object, const kvo_observer_identity *identity, const char *key_path,
                               const void *context, bool match_context, kvo_place place) {
  kvo_ended entry;
  kvo__ended_await();
  if (kvo__ended_find(kvo_object_instance(object), identity, key_path, context, match_context, false, &entry))
    kvo__fault_removed_twice(&entry, true, place);
  else
    raise_unregistered(object, identity, key_path, context, match_context, place);
}

/* --------------------------------------------------------------------------------------------------------- Ambiguous -- */

void kvo__fault_ambiguous(const kvo_fault_observation *candidates, size_t count, kvo_place place) {
  const kvo_fault_observation *taken = &candidates[0];
  kvo_report *report = kvo__report(KVO_FAULT_AMBIGUOUS_REMOVAL);
  kvo__append(
      &report->detail,
      "a removal without context of %s@0x%llx for \"%s\" of %s@0x%llx matches %zu observations: the newest, with "
      "context 0x%llx, is removed",
      taken->observer_class != NULL ? taken->observer_class : "observer", kvo__address(taken->observer),
      taken->key_path, taken->object_class, kvo__address(taken->object), count, kvo__address(taken->context));
  report->fault.help = "remove with the context given at registration";
  kvo__report_concerns(report, candidates, count, place);
  kvo__raise(report);
}
