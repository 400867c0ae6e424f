/* registration.c - faults of registrations that are refused, or that will not do what they seem to do; and of wrong arguments. */
#include "faults/reporting.h"

static const char *name_of(const kvo_class *cls) { return cls != NULL ? cls->display_name : "(no class)"; }

/* Sets the object of a fault and its source location. */
static void concern(kvo_report *report, const kvo_object *object, const kvo_class *cls, kvo_place place) {
  report->fault.object = object != NULL ? kvo_object_instance(object) : NULL;
  report->fault.object_class = cls != NULL ? cls->display_name : NULL;
  kvo__report_at(report, place);
}

/* Appends the keys of a class, the most similar one first. */
static void append_keys(kvo_sink *to, const kvo_class *cls, const char *missing, size_t length) {
  enum { MAX = 40 };
  char name[80];
  size_t kept = length < sizeof name ? length : sizeof name - 1;
  memcpy(name, missing, kept);
  name[kept] = '\0';
  kvo_nearest nearest = {.name = name};
  for (size_t i = 0; i < cls->property_count; i++) kvo__nearest(&nearest, cls->properties[i]->name);
  if (nearest.found != NULL) kvo__append(to, "did you mean \"%s\"? ", nearest.found);
  kvo__append(to, "the keys of %s are:", cls->display_name);
  for (size_t i = 0; i < cls->property_count && i < MAX; i++)
    kvo__append(to, "%s %s", i == 0 ? "" : ",", cls->properties[i]->name);
  if (cls->property_count > MAX) kvo__append(to, " and %zu more", cls->property_count - MAX);
  if (cls->property_count == 0) kvo__append(to, " none");
}

/* Where the walk of a key path failed: the class of the object there, and the component that it does not have. */
static const kvo_class *stopped_at(const kvo_object *object, const char *key_path, const char **component,
                                   size_t *length) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_object *at = (kvo_object *)(uintptr_t)object;
  for (*component = key_path;; *component += *length + 1) {
    *length = strcspn(*component, ".");
    const kvo_property *property = cls != NULL ? kvo__class_find(cls, kvo_key_hash(*component, *length)) : NULL;
    if (property == NULL || (*component)[*length] == '\0') return cls;
    if (property->ops != NULL || !kvo__can_read(property) || property->type[0] != '@') return NULL;
    kvo__call_getter(property, at, &at);
    if (at == NULL) return NULL;
    cls = kvo_object_class(at);
  }
}

/* The number of the first empty component, counted from 1, and its offset. */
static size_t empty_component(const char *key_path, size_t *offset) {
  size_t number = 1;
  for (const char *component = key_path;; number++) {
    size_t length = strcspn(component, ".");
    *offset = (size_t)(component - key_path);
    if (length == 0 || component[length] == '\0') return number;
    component += length + 1;
  }
}

void kvo__fault_registration(kvo_status status, const kvo_class *cls, const kvo_object *object, const char *key_path,
                             const void *observer, kvo_options options, const void *context, kvo_place place) {
  kvo_fault_code code = status == KVO_ERROR_MALFORMED_KEY_PATH ? KVO_FAULT_MALFORMED_KEY_PATH
                        : status == KVO_ERROR_NO_INTERCEPTION  ? KVO_FAULT_NO_INTERCEPTION
                        : status == KVO_ERROR_DYING_OBJECT     ? KVO_FAULT_DYING_OBJECT
                                                               : KVO_FAULT_UNDEFINED_KEY;
  kvo_report *report = kvo__report(code);
  const void *instance = kvo_object_instance(object);
  kvo__append(&report->detail, "cannot observe \"%s\" of %s@0x%llx: ", key_path, name_of(cls), kvo__address(instance));
  switch (status) {
    case KVO_ERROR_MALFORMED_KEY_PATH: {
      size_t offset, number = empty_component(key_path, &offset);
      kvo__append(&report->detail, "it has an empty component, number %zu, at position %zu", number, offset);
      kvo__append(&report->help, "join keys by single dots, with none at the ends: \"author.name\"");
      break;
    }
    case KVO_ERROR_NO_INTERCEPTION:
      kvo__append(&report->detail, "there is no memory for executable trampolines");
      kvo__append(&report->help,
                  "is executable memory forbidden (SELinux, noexec), or are there no free file descriptors? Otherwise "
                  "announce changes with kvo_will_change and kvo_did_change, with KVO_PROPERTY_MANUAL");
      break;
    case KVO_ERROR_DYING_OBJECT:
      kvo__append(&report->detail, "the object is being destroyed");
      kvo__append(&report->help,
                  "do not observe an object during its destruction, or one that another thread may be releasing");
      break;
    default: {
      const char *component;
      size_t length;
      const kvo_class *at = stopped_at(object, key_path, &component, &length);
      if (status == KVO_ERROR_NOT_AN_OBJECT)
        kvo__append(&report->detail, "a value on it is not an observable object, so it has no keys");
      else if (at != NULL)
        kvo__append(&report->detail, "%s has no key \"%.*s\"", at->display_name, (int)length, component);
      else
        kvo__append(&report->detail, "an object on it has no such key");
      kvo__append(
          &report->apple,
          "[<%s 0x%llx> addObserver:<0x%llx> forKeyPath:@\"%s\" options:%u context:0x%llx] was sent to an object "
          "that is not KVC-compliant for the \"%s\" property.",
          name_of(cls), kvo__address(instance), kvo__address(observer), key_path, (unsigned)options & 15u,
          kvo__address(context), key_path);
      if (at != NULL && status != KVO_ERROR_NOT_AN_OBJECT) append_keys(&report->help, at, component, length);
    }
  }
  concern(report, object, cls, place);
  kvo__raise(report);
}

void kvo__fault_invalid_argument(const char *function, const char *what, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_INVALID_ARGUMENT);
  kvo__append(&report->detail, "%s: %s", function, what);
  report->fault.help = "the comment of the function in kvo.h says what its arguments must be";
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_unsupported_object(const kvo_object *object, const char *function, const char *key_path,
                                   const char *why, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_UNSUPPORTED_OBJECT);
  if (key_path != NULL)
    kvo__append(&report->detail, "cannot observe \"%s\" of 0x%llx: ", key_path, kvo__address(object));
  else
    kvo__append(&report->detail, "%s of 0x%llx: ", function, kvo__address(object));
  kvo__append(&report->detail, "%s",
              why != NULL              ? why
              : kvo__word(object) == 0 ? "it is not an object: its header is zero"
                                       : "it is not an object: its header is invalid");
  report->fault.help =
      "create it with kvo_object_create or kvo_object_init, and end it once; a destroyed object, or a copy of an "
      "observed one, is not an object";
  report->fault.object = object;
  kvo__report_at(report, place);
  kvo__raise(report);
}

void kvo__fault_no_setter(const kvo_object *object, const char *key, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_UNDEFINED_KEY);
  kvo__append(&report->detail, "\"%s\" of %s@0x%llx is set, but there is no such setter", key, name_of(cls),
              kvo__address(kvo_object_instance(object)));
  if (cls != NULL) append_keys(&report->help, cls, key, strlen(key));
  concern(report, object, cls, place);
  kvo__raise(report);
}

static const char *name_of_form(kvo_form form, char code) {
  if (code == 'B') return "a bool";
  if (code == '*') return "a string";
  if (code == '@') return "an object";
  switch (form) {
    case KVO_FORM_INTEGER: return "an integer";
    case KVO_FORM_REAL: return "a floating-point number";
    case KVO_FORM_POINTER: return "a pointer";
    case KVO_FORM_STRUCTURE: return "a structure";
    case KVO_FORM_ANY: break;
  }
  return "a value";
}

void kvo__fault_other_form(const kvo_object *object, const kvo_property *property, kvo_form form, char code,
                           size_t size, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_TYPE_MISMATCH);
  kvo__append(&report->detail, "\"%s\" of %s@0x%llx is %s of %zu bytes, and is set to %s of %zu bytes", property->name,
              name_of(cls), kvo__address(kvo_object_instance(object)), name_of_form(property->form, property->type[0]),
              property->size, name_of_form(form, code), size != 0 ? size : property->size);
  kvo__append(&report->help, "give KVO_SET the type of the setter's parameter: that of \"%s\" has the encoding \"%s\"",
              property->name, property->type);
  report->fault.why = "the setter would take another value than the one that is passed";
  concern(report, object, cls, place);
  kvo__raise(report);
}

static const char *silence_detail(kvo_silence silence) {
  switch (silence) {
    case KVO_SILENCE_BY_HAND:
      return "notifies only if its changes are announced manually: no setter notifies, and it reads nothing observable";
    case KVO_SILENCE_UNDEFINED: return "notifies only if its changes are announced manually: there is no such key";
    case KVO_SILENCE_CONSTANT: return "can never notify: it is a constant";
    default: return "can never notify: its evaluation reads nothing observable";
  }
}

#define DECLARE_IT                                                                                                     \
  "if its changes are announced manually, declare it: automaticallyNotifiesObservers(forKey:) in Swift, "              \
  "KVO_PROPERTY_MANUAL in C"

static void append_help(kvo_sink *to, const kvo_class *cls, const char *key_path, kvo_silence silence) {
  switch (silence) {
    case KVO_SILENCE_BY_HAND:
      kvo__append(to, "make what it reads observable, declare what affects it "
                      "(keyPathsForValuesAffectingValue(forKey:), affected_by), or, " DECLARE_IT);
      break;
    case KVO_SILENCE_UNDEFINED:
      if (cls != NULL) append_keys(to, cls, key_path, strcspn(key_path, "."));
      kvo__append(to, "; " DECLARE_IT);
      break;
    case KVO_SILENCE_CONSTANT: kvo__append(to, "make it a var, or observe what is in it"); break;
    default:
      kvo__append(to, "make what it reads observable, or declare what affects it in "
                      "keyPathsForValuesAffectingValue(forKey:)");
  }
}

void kvo__fault_never_notifies(const kvo_object *object, const char *key_path, const char *affected,
                               kvo_silence silence, kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  kvo_report *report = kvo__report(KVO_FAULT_NEVER_NOTIFIES);
  if (affected == NULL)
    kvo__append(&report->detail, "the observation of \"%s\"", key_path);
  else
    kvo__append(&report->detail, "\"%s\", which is declared to affect \"%s\"", key_path, affected);
  kvo__append(&report->detail, " of %s@0x%llx %s", name_of(cls), kvo__address(kvo_object_instance(object)),
              silence_detail(silence));
  append_help(&report->help, cls, key_path, silence);
  bool by_hand = silence == KVO_SILENCE_BY_HAND || silence == KVO_SILENCE_UNDEFINED;
  if (by_hand) report->fault.severity = KVO_SEVERITY_WARNING; /* it may be intended */
  concern(report, object, cls, place);
  kvo__raise(report);
}

void kvo_binding_never_notifies(kvo_object *object, const char *key_path, const char *affected, kvo_silence silence,
                                const char *file, uint32_t line) {
  if (object == NULL || key_path == NULL || kvo_object_class(object) == NULL) return;
  kvo__fault_never_notifies(object, key_path, affected, silence, (kvo_place){file, line});
}

void kvo__fault_self_dependency(const kvo_object *object, const kvo_property *property, const char *path,
                                kvo_place place) {
  const kvo_class *cls = kvo_object_class(object);
  const char *key = property->name;
  kvo_report *report = kvo__report(KVO_FAULT_SELF_DEPENDENCY);
  kvo__append(&report->detail, "\"%s\" is declared to affect \"%s\" of %s", path, key, name_of(cls));
  const char *includes =
      strcmp(path, key) == 0
          ? "the same key that was passed in, which is not valid."
          : "a key path that starts with the same key that was passed in, which is not valid. The property identified by "
            "the key path already depends on the property identified by the key, never vice versa.";
  kvo__append(&report->apple,
              "%s: A +keyPathsForValuesAffectingValueForKey: message returned a set that includes %s\nPassed-in key: "
              "%s\nReturned key path set: {(",
              name_of(cls), includes, key);
  for (char **each = property->affected_by; *each != NULL; each++)
    kvo__append(&report->apple, "%s\n    %s", each == property->affected_by ? "" : ",", *each);
  kvo__append(&report->apple, "\n)}");
  kvo__append(&report->help, "remove \"%s\" from what is declared to affect \"%s\"", path, key);
  concern(report, object, cls, place);
  kvo__raise(report);
}

void kvo__fault_cannot_follow(const kvo_fault_observation *concerned) {
  kvo_report *report = kvo__report(KVO_FAULT_NEVER_NOTIFIES);
  kvo__append(&report->detail,
              "the observation of \"%s\" of %s@0x%llx could not be updated after a change: out of memory",
              concerned->key_path, concerned->object_class, kvo__address(concerned->object));
  report->fault.why = "it still observes only what it observed before; the next change of that updates it";
  report->fault.help =
      "when memory is available again, set a property on the key path, or register the observation again";
  kvo__report_concerns(report, concerned, 1, KVO_NOWHERE);
  kvo__raise(report);
}

void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot) {
  kvo_report *report = kvo__report(KVO_FAULT_UNDEFINED_KEY);
  kvo_node *node = atomic_load(&slot->oldest);
  while (node != NULL && !kvo__is_direct(kvo__node_kind(node))) node = atomic_load(&node->newer);
  if (node != NULL) kvo__describe_node(node, &report->concerned);
  const char *key = node != NULL ? report->concerned.key_path : "?";
  const void *instance = (const char *)object - cls->header_offset;
  kvo__append(&report->detail, "the value of \"%s\" of %s@0x%llx is needed, but there is no such key", key,
              cls->display_name, kvo__address(instance));
  kvo__append(&report->apple,
              "[<%s 0x%llx> valueForUndefinedKey:]: this class is not key value coding-compliant for the key %s.",
              cls->display_name, kvo__address(instance), key);
  append_keys(&report->help, cls, key, strlen(key));
  kvo__report_concerns(report, &report->concerned, node != NULL ? 1 : 0, KVO_NOWHERE);
  report->fault.object = instance;
  report->fault.object_class = cls->display_name;
  kvo__raise(report);
}

void kvo__fault_duplicate(const kvo_fault_observation *present, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_DUPLICATE);
  kvo__append(&report->detail,
              "%s@0x%llx already observes \"%s\" of %s@0x%llx with this context: each change will notify it twice",
              present->observer_class != NULL ? present->observer_class : "observer", kvo__address(present->observer),
              present->key_path, present->object_class, kvo__address(present->object));
  report->fault.help = "does the code that registers run twice? If both are intended, give each its own context";
  kvo__report_concerns(report, present, 1, place);
  kvo__raise(report);
}
