/* registration.c - faults of registrations that are refused, or that will not do what they seem to do; and of wrong arguments. */
#include "faults/reporting.h"

static const char *name_of(const kvo_class *cls) { return cls != NULL ? cls->display_name : "(no class)"; }

/* Sets the object of a fault and its source location. */
static void registration_concern(kvo_report *report, const kvo_object *object, const kvo_class *cls, kvo_place place) {
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

/* ------------------------------------------------------------------------------------------------- Refused key paths -- */

/* Where the walk of a key path failed: at a component that an object of this class does not have, or that a collection, which the class of
 * the object before it has for `collection`, does not have. Both are NULL if that is not known. */
typedef struct registration_stop {
  const kvo_class *cls;
  const kvo_property *collection;
  const char *component;
  size_t length;
} registration_stop;

static void take_object(const kvo_value *value, void *arg) {
  bool is_object = kvo__type_unqualified(value->type)[0] == '@' && value->bytes != NULL;
  if (is_object) *(kvo_object **)arg = *(kvo_object *const *)value->bytes;
}

static registration_stop stopped_at(const kvo_object *object, const char *key_path) {
  kvo_object *at = (kvo_object *)(uintptr_t)object;
  registration_stop found = {.cls = kvo_object_class(object), .component = key_path};
  for (;; found.component += found.length + 1) {
    found.length = strcspn(found.component, ".");
    kvo_key key = kvo_key_hash(found.component, found.length);
    const kvo_property *property = found.cls != NULL ? kvo__class_find(found.cls, key) : NULL;
    if (property == NULL || found.component[found.length] == '\0') return found;
    found.cls = NULL;
    if (property->type[0] == '[' || property->type[0] == '<') {
      found.collection = property;
      found.component += found.length + 1;
      found.length = strcspn(found.component, ".");
      return found;
    }
    void *value = kvo__property_copy(property, at, NULL);
    at = NULL;
    if (value != NULL) kvo__property_view(property, value, take_object, &at);
    kvo__property_release(property, value);
    if (at == NULL || !kvo__is_object(at)) return found;
    found.cls = kvo_object_class(at);
  }
}

static const char *const operators[] = {"@count", "@sum", "@avg", "@min", "@max", "@distinctUnionOfObjects",
                                        "@distinctUnionOfArrays", "@distinctUnionOfSets",
                                        /* of lists only: */
                                        "@unionOfObjects", "@unionOfArrays"};
enum { OPERATORS = sizeof operators / sizeof *operators, OF_LISTS_ONLY = 2 };

static bool is_list(const kvo_property *collection) { return collection->type[0] == '['; }
static const char *registration_kind_of(const kvo_property *collection) { return is_list(collection) ? "list" : "set"; }
static size_t count_operators(const kvo_property *collection) {
  return is_list(collection) ? OPERATORS : OPERATORS - OF_LISTS_ONLY;
}

/* Whether the collection has the operator at which a walk stopped. */
static bool has_operator(const registration_stop *at) {
  for (size_t i = 0; i < count_operators(at->collection); i++)
    if (strncmp(operators[i], at->component, at->length) == 0 && operators[i][at->length] == '\0') return true;
  return false;
}

static kvo_fault_code undefined_code(kvo_status status, const registration_stop *at) {
  if (status == KVO_ERROR_TYPE_MISMATCH) return KVO_FAULT_TYPE_MISMATCH;
  bool is_operator = at->component[0] == '@', is_last = at->component[at->length] == '\0';
  if (status == KVO_ERROR_NOT_AN_OBJECT)
    return at->collection != NULL && !is_operator ? KVO_FAULT_THROUGH_COLLECTION : KVO_FAULT_UNDEFINED_KEY;
  bool is_wrong = at->collection != NULL ? is_last || !has_operator(at) : at->cls != NULL && !is_last;
  return is_operator && is_wrong ? KVO_FAULT_BAD_OPERATOR : KVO_FAULT_UNDEFINED_KEY;
}

/* KVO0018. */
static void describe_through(kvo_report *report, const char *key_path, const registration_stop *at) {
  const char *of = at->collection->name;
  int before = (int)(at->component - key_path), length = (int)at->length;
  bool has_objects = at->collection->type[1] == '@';
  kvo__append(&report->detail, "\"%s\" on it is a %s, and \"%.*s\" is no operator of collections", of,
              registration_kind_of(at->collection), length, at->component);
  kvo__append(&report->apple, "[<%s> addObserver:forKeyPath:options:context:] is not supported. Key path: %s",
              is_list(at->collection) ? "NSArray" : "NSSet", at->component);
  kvo__append(&report->help,
              "observe \"%.*s\" itself, an operator of it, such as \"%.*s@count\" or \"%.*s@sum.%.*s\"%s", before - 1,
              key_path, before, key_path, before, key_path, has_objects ? length : 4,
              has_objects ? at->component : "self", has_objects ? ", or its elements one by one" : "");
  if (!has_objects) report->fault.why = "a collection has no properties to observe, nor have its elements";
}

/* KVO0036. */
static void describe_operator(kvo_report *report, const registration_stop *at) {
  int length = (int)at->length;
  if (at->collection == NULL) {
    kvo__append(&report->detail, "%s has no operator \"%.*s\": it is not a collection", at->cls->display_name, length,
                at->component);
    report->fault.help = "put a key of a list or a set before the operator";
    return;
  }
  kvo__append(&report->detail, "\"%s\" on it is a %s, ", at->collection->name, registration_kind_of(at->collection));
  if (has_operator(at)) {
    kvo__append(&report->detail, "whose operator \"%.*s\" needs a key on its right", length, at->component);
    kvo__append(&report->help,
                "the operator is followed by what it takes of each element: \"%.*s.self\", or a key instead of self",
                length, at->component);
    return;
  }
  char name[64];
  size_t kept = at->length < sizeof name ? at->length : sizeof name - 1;
  memcpy(name, at->component, kept);
  name[kept] = '\0';
  kvo_nearest nearest = {.name = name};
  kvo__append(&report->detail, "which has no operator \"%.*s\"", length, at->component);
  kvo__append(&report->apple, "[<%s> valueForKeyPath:]: this class does not implement the %.*s operation.",
              is_list(at->collection) ? "NSArray" : "NSSet", length - 1, at->component + 1);
  for (size_t i = 0; i < count_operators(at->collection); i++) kvo__nearest(&nearest, operators[i]);
  if (nearest.found != NULL) kvo__append(&report->help, "did you mean \"%s\"? ", nearest.found);
  kvo__append(&report->help, "the operators of a %s are", registration_kind_of(at->collection));
  for (size_t i = 0; i < count_operators(at->collection); i++)
    kvo__append(&report->help, "%s %s", i == 0 ? "" : ",", operators[i]);
}

/* KVO0009. */
static void describe_undefined(kvo_report *report, kvo_status status, const registration_stop *at) {
  if (status == KVO_ERROR_NOT_AN_OBJECT)
    kvo__append(&report->detail, "a value on it is not an observable object, so it has no keys");
  else if (at->cls != NULL)
    kvo__append(&report->detail, "%s has no key \"%.*s\"", at->cls->display_name, (int)at->length, at->component);
  else
    kvo__append(&report->detail, "an object on it has no such key");
  if (at->cls != NULL && status != KVO_ERROR_NOT_AN_OBJECT)
    append_keys(&report->help, at->cls, at->component, at->length);
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

/* A registration whose key path cannot be walked. */
typedef struct stopped {
  const char *key_path;
  const void *observer;
  kvo_options options;
  const void *context;
} stopped;

/* KVO0026: an operator on the path has got a value with which it cannot compute, as the walk's error says. */
static void describe_operand(kvo_report *report) {
  kvo__append(&report->detail, "its operator cannot be computed, %s", kvo_last_error());
  report->fault.why = "an operator has a result only if it can compute with all values that it gets";
  report->fault.help =
      "let the key behind the operator name values that suit it: numbers for @sum and @avg, values that "
      "can be compared for @min and @max, collections for the unions of lists and sets";
}

/* Says why a key path cannot be walked. */
static void describe_stop(kvo_report *report, kvo_status status, const registration_stop *at, const kvo_object *object,
                          const stopped *of) {
  switch (report->fault.code) {
    case KVO_FAULT_THROUGH_COLLECTION: describe_through(report, of->key_path, at); break;
    case KVO_FAULT_BAD_OPERATOR: describe_operator(report, at); break;
    case KVO_FAULT_TYPE_MISMATCH: describe_operand(report); break;
    default:
      describe_undefined(report, status, at);
      kvo__append(
          &report->apple,
          "[<%s 0x%llx> addObserver:<0x%llx> forKeyPath:@\"%s\" options:%u context:0x%llx] was sent to an object "
          "that is not KVC-compliant for the \"%s\" property.",
          name_of(kvo_object_class(object)), kvo__address(kvo_object_instance(object)), kvo__address(of->observer),
          of->key_path, (unsigned)of->options & 15u, kvo__address(of->context), of->key_path);
  }
}

/* A wrong key in C is no reason to end the process, which may be the host of the plug-in that has it: the call fails with a status. */
static void is_survived(kvo_report *report) { report->fault.severity = KVO_SEVERITY_ERROR; }

void kvo__fault_refused(kvo_status status, const kvo_class *cls, const kvo_object *object, const char *key_path,
                        const void *observer, kvo_options options, const void *context, kvo_place place) {
  registration_stop at = {0};
  kvo_fault_code code;
  switch (status) {
    case KVO_ERROR_MALFORMED_KEY_PATH: code = KVO_FAULT_MALFORMED_KEY_PATH; break;
    case KVO_ERROR_NO_INTERCEPTION: code = KVO_FAULT_NO_INTERCEPTION; break;
    case KVO_ERROR_DYING_OBJECT: code = KVO_FAULT_DYING_OBJECT; break;
    default: at = stopped_at(object, key_path); code = undefined_code(status, &at);
  }
  kvo_report *report = kvo__report(code);
  if (code != KVO_FAULT_DYING_OBJECT) is_survived(report);
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
                  "is executable memory forbidden (SELinux, noexec), are there no free file descriptors, or is "
                  "RLIMIT_FSIZE below a page? Otherwise announce changes with kvo_will_change and kvo_did_change, "
                  "with KVO_PROPERTY_MANUAL");
      break;
    case KVO_ERROR_DYING_OBJECT:
      kvo__append(&report->detail, "the object is being destroyed");
      kvo__append(&report->help,
                  "do not observe an object during its destruction, or one that another thread may be releasing");
      break;
    default: describe_stop(report, status, &at, object, &(stopped){key_path, observer, options, context});
  }
  registration_concern(report, object, cls, place);
  kvo__raise(report);
}

void kvo__fault_path_broken(kvo_status status, const kvo_object *object, const kvo_fault_observation *concerned) {
  registration_stop at = stopped_at(object, concerned->key_path);
  kvo_report *report = kvo__report(undefined_code(status, &at));
  is_survived(report);
  kvo__append(&report->detail, "\"%s\" of %s@0x%llx cannot be followed: ", concerned->key_path, concerned->object_class,
              kvo__address(concerned->object));
  describe_stop(report, status, &at, object,
                &(stopped){concerned->key_path, concerned->observer, concerned->options, concerned->context});
  kvo__report_concerns(report, concerned, 1, KVO_NOWHERE);
  kvo__raise(report);
}

void kvo__fault_cannot_set(const kvo_object *target, const char *key, const kvo_fault_observation *concerned) {
  kvo_report *report = kvo__report(KVO_FAULT_TYPE_MISMATCH);
  kvo__append(&report->detail, "the value of \"%s\" of %s@0x%llx cannot be set as \"%s\" of %s@0x%llx, %s",
              concerned->key_path, concerned->object_class, kvo__address(concerned->object), key,
              name_of(kvo_object_class(target)), kvo__address(kvo_object_instance(target)), kvo_last_error());
  report->fault.severity = KVO_SEVERITY_ERROR; /* which values there are, only the program's data decide */
  report->fault.why = "a binding sets its target to each value of its source; the target keeps the one before";
  report->fault.help = "bind with kvo_bind_computed, whose function passes a value that the target takes, for nil too";
  kvo__report_concerns(report, concerned, 1, KVO_NOWHERE);
  kvo__raise(report);
}

void kvo__fault_invalid_argument(const char *function, const char *what, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_INVALID_ARGUMENT);
  kvo__append(&report->detail, "%s: %s", function, what);
  if (!kvo__is_for_swift(place, NULL))
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
  if (cls == NULL) {
    kvo__fault_unsupported_object(object, "KVO_SET", NULL, NULL, place);
    return;
  }
  const kvo_property *property = kvo_class_property(cls, key);
  kvo_report *report = kvo__report(KVO_FAULT_UNDEFINED_KEY);
  is_survived(report);
  kvo__append(&report->detail, "\"%s\" of %s@0x%llx is set, but %s", key, name_of(cls),
              kvo__address(kvo_object_instance(object)),
              property != NULL ? "it has no setter" : "there is no such setter");
  if (property == NULL) {
    append_keys(&report->help, cls, key, strlen(key));
  } else {
    bool is_collection = property->type[0] == '[' || property->type[0] == '<';
    report->fault.why = "the property cannot be set, because its class has no function for that";
    report->fault.help = is_collection           ? "change the elements, with the functions of kvo_collection.h"
                         : property->ops != NULL ? "set it with kvo_set_value: it is a property of another language"
                                                 : "give it a setter, or set what its value is computed from";
  }
  registration_concern(report, object, cls, place);
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
  registration_concern(report, object, cls, place);
  kvo__raise(report);
}

static const char *silence_detail(kvo_silence silence) {
  switch (silence) {
    case KVO_SILENCE_BY_HAND:
      return "notifies only if its changes are announced manually: no setter notifies, and it reads nothing observable";
    case KVO_SILENCE_UNDEFINED: return "notifies only if its changes are announced manually: there is no such key";
    case KVO_SILENCE_NOT_OBSERVED:
      return "notifies only if its changes are announced manually: the property is @NotObserved";
    case KVO_SILENCE_DOTTED_KEY: return "does not notify of the entry of this name: dots separate the keys of a path";
    case KVO_SILENCE_CONSTANT: return "can never notify: it is a constant";
    default: return "can never notify: its evaluation reads nothing observable";
  }
}

/* What to write in Swift so that a computed property notifies. The method for one key is named after it. */
static void append_swift_remedy(kvo_sink *to, const char *key_path) {
  const char *dot = strrchr(key_path, '.'), *key = dot != NULL ? dot + 1 : key_path;
  bool is_lower = *key >= 'a' && *key <= 'z';
  kvo__append(
      to, "mark with @KeyValueObservable the class that declares it and those whose properties it reads; or declare "
          "what it reads, also computed properties: class func keyPathsForValuesAffecting");
  if (*key == '@' || *key == '\0') {
    kvo__append(to, "Value(forKey key: String) -> Set<String>");
    return;
  }
  if (is_lower) kvo__put_byte(to, (char)(*key - 'a' + 'A'));
  kvo__append(to, "%s() -> Set<String> { [\"…\"] }", is_lower ? key + 1 : key);
}

/* What to write. No accessor says that a computed property which is itself declared or announced is read. */
static void append_help(kvo_sink *to, const kvo_class *cls, const char *key_path, kvo_silence silence, bool is_swift) {
  bool is_computed = silence == KVO_SILENCE_NOTHING_READ || silence == KVO_SILENCE_BY_HAND;
  if (silence == KVO_SILENCE_CONSTANT)
    kvo__append(to, "make it a var, or observe a property of its value: \"%s.…\"", key_path);
  if (silence == KVO_SILENCE_UNDEFINED && cls != NULL) append_keys(to, cls, key_path, strcspn(key_path, "."));
  if (is_computed && is_swift) append_swift_remedy(to, key_path);
  if (is_computed && !is_swift)
    kvo__append(to, "list in affected_by the key paths that it reads, also those of computed properties");
  if (silence == KVO_SILENCE_NOTHING_READ && !is_swift)
    kvo__append(to, ". A function has to read properties that notify, in C with kvo_get_value");
  if (silence == KVO_SILENCE_DOTTED_KEY) kvo__append(to, "use a key without dots for what is observed");
  if (silence == KVO_SILENCE_NOT_OBSERVED) kvo__append(to, "remove @NotObserved");
  if (silence != KVO_SILENCE_BY_HAND && silence != KVO_SILENCE_UNDEFINED && silence != KVO_SILENCE_NOT_OBSERVED) return;
  kvo__append(to, ". If its changes are announced manually, %s",
              is_swift ? "return false for it from automaticallyNotifiesObservers(forKey:)"
                       : "register it with KVO_PROPERTY_MANUAL");
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
  append_help(&report->help, cls, key_path, silence, kvo__is_for_swift(place, NULL));
  if (silence != KVO_SILENCE_NOTHING_READ && silence != KVO_SILENCE_CONSTANT)
    report->fault.severity = KVO_SEVERITY_WARNING; /* it may be intended */
  registration_concern(report, object, cls, place);
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
  registration_concern(report, object, cls, place);
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

/* The oldest observation of a key that wants a value; any other is innocent. If it has ended meanwhile, the oldest one; or NULL. */
static kvo_node *oldest_wanting(kvo_slot *slot) {
  kvo_node *oldest = NULL;
  for (kvo_node *node = atomic_load(&slot->oldest); node != NULL; node = atomic_load(&node->newer)) {
    if (!kvo__is_direct(kvo__node_kind(node))) continue;
    if ((node->options & (KVO_OLD | KVO_NEW)) != 0) return node;
    if (oldest == NULL) oldest = node;
  }
  return oldest;
}

void kvo__fault_undefined(const kvo_class *cls, const kvo_object *object, kvo_slot *slot) {
  kvo_report *report = kvo__report(KVO_FAULT_UNDEFINED_KEY);
  kvo_node *node = oldest_wanting(slot);
  if (node != NULL) kvo__describe_node(node, &report->concerned);
  if (node != NULL && kvo__is_of_c(kvo__node_ops(node))) is_survived(report);
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

void kvo__fault_duplicate(const kvo_fault_observation *present, size_t count, bool is_all, kvo_place place) {
  kvo_report *report = kvo__report(KVO_FAULT_DUPLICATE);
  kvo__append(&report->detail,
              "%s@0x%llx already observes \"%s\" of %s@0x%llx with this context: each change will notify it ",
              present->observer_class != NULL ? present->observer_class : "observer", kvo__address(present->observer),
              present->key_path, present->object_class, kvo__address(present->object));
  if (count == 1 && is_all)
    kvo__append(&report->detail, "twice");
  else
    kvo__append(&report->detail, "%zu times%s", count + 1, is_all ? "" : " or more");
  report->fault.help = "does the code that registers run twice? If both are intended, give each its own context";
  kvo__report_concerns(report, present, count, place);
  kvo__raise(report);
}
