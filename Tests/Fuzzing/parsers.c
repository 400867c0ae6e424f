/* parsers.c - the target fuzz_parsers: strings that a program passes - type encodings, key paths, keys - and the properties that accepted
 * ones must have. The first byte selects the kind, the rest is the string. */
#include "classes.h"
#include "roundtrip.h"

#include <kvo/kvo_binding.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400 };

static char text[LONGEST + 1];

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "\nfuzz_parsers: ");
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, "\nThe string: \"%s\"\n", text);
  abort();
}

void program_sets(item *object, key of, int number) { item_store(object, of, number); }

/* -------------------------------------------------------------------------------------------------------- Properties -- */

/* Registers a class whose name is taken: everything is parsed, and nothing is kept. */
static kvo_status register_in_vain(const char *name, const char *type, const char *affecting, bool twice) {
  const char *const affected_by[] = {affecting, NULL};
  kvo_property_spec properties[2];
  properties[0] =
      (kvo_property_spec){.name = name, .type = type, .affected_by = affecting != NULL ? affected_by : NULL};
  properties[1] = properties[0];
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Taken",
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = twice ? 2 : 1};
  kvo_class *none = NULL;
  kvo_status status = kvo_class_register(&spec, &none);
  if (status == KVO_OK || none != NULL) fail("a class with a taken name was registered");
  return status;
}

/* ---------------------------------------------------------------------------------------------------- Type encodings -- */

/* Whether the encoding is accepted inside another one, which `format` makes; then also its size and alignment. */
static bool measure(const char *format, size_t *size, size_t *alignment) {
  char around[LONGEST + 32];
  snprintf(around, sizeof around, format, text);
  return kvo_type_size(around, size, alignment) == KVO_OK;
}

static size_t round_up(size_t size, size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

static void check_layout(size_t size, size_t alignment) {
  size_t outer, outer_alignment;
  if (size == 0 || alignment == 0 || (alignment & (alignment - 1)) != 0 || size % alignment != 0)
    fail("size %zu and alignment %zu are none", size, alignment);
  if (measure("%si", &outer, &outer_alignment) || measure("%s}", &outer, &outer_alignment))
    fail("accepted with something behind it");
  if (measure("^%s", &outer, &outer_alignment) && outer != sizeof(void *)) fail("a pointer to it is no pointer");
  if (measure("{x=%s}", &outer, &outer_alignment) && (outer != size || outer_alignment != alignment))
    fail("a structure of it alone has another size or alignment");
  if (measure("{x=[3%s]}", &outer, &outer_alignment) && (outer != 3 * size || outer_alignment != alignment))
    fail("an array of 3 has another size or alignment");
  if (measure("{x=c%sc}", &outer, &outer_alignment) &&
      (outer != round_up(alignment + size + 1, alignment) || outer_alignment != alignment))
    fail("a structure of it between two chars has another size or alignment");
}

static void check_encoding(void) {
  size_t size = 0, alignment = 0;
  bool measured = kvo_type_size(text, &size, &alignment) == KVO_OK;
  kvo_status status = register_in_vain("property", text, NULL, false);
  bool accepted = status == KVO_ERROR_DUPLICATE_CLASS;
  if (!accepted && status != KVO_ERROR_BAD_TYPE_ENCODING && status != KVO_ERROR_UNSUPPORTED_SETTER)
    fail("the registration answers \"%s\"", kvo_status_string(status));
  if (accepted != measured)
    fail("kvo_type_size %s it, a class %s", measured ? "knows" : "refuses", accepted ? "takes it" : "does not");
  if (!accepted) return;
  check_layout(size, alignment);
  round_trip(text, size);
}

/* --------------------------------------------------------------------------------------------------------- Key paths -- */

/* Whether a rest of a path has no other keys than "self", which any value has. */
static bool is_self_only(const char *at) {
  while (strncmp(at, "self.", 5) == 0) at += 5;
  return strcmp(at, "self") == 0;
}

/* The expected status of reading the path, and the object and key at its end; -1 if an intermediate value is nil. `*is_self`: the path ends
 * with "self", which cannot be set. */
static kvo_status expect(int *slot, key *last, bool *is_self) {
  *is_self = false;
  const char *at = text;
  if (*at == '\0' || *at == '.' || strstr(at, "..") != NULL || at[strlen(at) - 1] == '.')
    return KVO_ERROR_MALFORMED_KEY_PATH;
  for (;;) {
    size_t length = strcspn(at, ".");
    *last = key_named(at, (int)length);
    if (length == 4 && strncmp(at, "self", 4) == 0) {
      *is_self = at[length] == '\0';
      if (*is_self) return KVO_OK;
      at += length + 1;
      continue;
    }
    if (*last == IMAGINARY) return KVO_ERROR_UNDEFINED_KEY;
    if (at[length] == '\0') return KVO_OK;
    if (!key_infos[*last].readable) return KVO_ERROR_NO_GETTER;
    if (key_infos[*last].kind != OBJECT) {
      *is_self = is_self_only(at + length + 1);
      return *is_self ? KVO_OK : KVO_ERROR_NOT_AN_OBJECT;
    }
    *slot = item_load(&items[*slot], *last);
    if (*slot < 0) return KVO_OK;
    at += length + 1;
  }
}

static void note_value(const kvo_value *seen, void *arg) { *(value *)arg = value_seen(seen); }
static void ignore_change(const kvo_change *change, void *user_data) {}

static void check_status(const char *what, kvo_status is, kvo_status should) {
  if (is != should) fail("%s: \"%s\" instead of \"%s\"", what, kvo_status_string(is), kvo_status_string(should));
}

static void check_path(void) {
  kvo_object *root = &items[0].header;
  int slot = 0, seven = 7;
  key last = IMAGINARY;
  bool is_self;
  kvo_status walked = expect(&slot, &last, &is_self), read = walked, set = walked, added = walked;
  bool found = walked == KVO_OK && slot >= 0 && !is_self, single = strchr(text, '.') == NULL;
  if (walked == KVO_OK && slot >= 0 && is_self)
    set = last == IMAGINARY || key_infos[last].kind == OBJECT ? KVO_ERROR_UNDEFINED_KEY : KVO_ERROR_NOT_AN_OBJECT;
  if (found && !key_infos[last].readable) read = KVO_ERROR_NO_GETTER;
  if (found && key_infos[last].kind != INTEGER) set = KVO_ERROR_TYPE_MISMATCH;
  if (found && !key_infos[last].settable) set = KVO_ERROR_READ_ONLY;
  if (added == KVO_ERROR_NO_GETTER || (single && added == KVO_ERROR_UNDEFINED_KEY)) added = KVO_OK;

  value seen = {TORN, 0};
  check_status("reading", kvo_get_value(root, text, note_value, &seen), read);
  if ((seen.kind == TORN) == (read == KVO_OK)) fail("the reader was called, or not, against the status");
  kvo_value given = {"i", sizeof seven, &seven};
  check_status("setting", kvo_set_value(root, text, &given), set);
  if (found && set == KVO_OK && item_load(&items[slot], last) != 7) fail("what was set is not there");

  kvo_observer observer = {.struct_size = sizeof observer, .key_path = text, .options = KVO_NEW | KVO_OLD};
  observer.callback = ignore_change;
  kvo_observation id = 0;
  check_status("observing", kvo_add_observer(root, &observer, &id), added);
  if (added == KVO_OK) {
    if (!kvo_object_is_observed(root)) fail("observed, but the object does not say so");
    check_status("will", kvo_will_change(root, text), KVO_OK);
    check_status("did", kvo_did_change(root, text), KVO_OK);
    check_status("removing", kvo_remove_observer_for(root, NULL, text), KVO_OK);
  }
  check_status("cancelling", kvo_cancel_observer(id), KVO_ERROR_NOT_REGISTERED);
  for (int i = 0; i < SLOTS; i++)
    if (kvo_object_observation_count(&items[i].header) != 0) fail("object %d keeps a registration", i);
}

/* -------------------------------------------------------------------------------------------------------------- Keys -- */

/* A name and a path that affects it, separated by a newline. */
static void check_key(bool twice) {
  char name[LONGEST + 1];
  strcpy(name, text);
  char *affecting = strchr(name, '\n');
  if (affecting != NULL) *affecting++ = '\0';
  bool bad_path = affecting != NULL && (*affecting == '\0' || *affecting == '.' || strstr(affecting, "..") != NULL ||
                                        affecting[strlen(affecting) - 1] == '.');
  kvo_status should = twice ? KVO_ERROR_DUPLICATE_KEY : KVO_ERROR_DUPLICATE_CLASS;
  if (bad_path) should = KVO_ERROR_MALFORMED_KEY_PATH;
  if (name[0] == '\0' || strchr(name, '.') != NULL) should = KVO_ERROR_INVALID_ARGUMENT;
  check_status("registering", register_in_vain(name, "i", affecting, twice), should);
  const kvo_property *property = kvo_class_property(class_of_shape(0), name);
  bool known = key_named(name, (int)strlen(name)) != IMAGINARY;
  if (known != (property != NULL)) fail("the class finds a property that it has not, or not one that it has");
  if (property != NULL && strcmp(kvo_property_name(property), name) != 0) fail("the class finds another property");
}

/* ----------------------------------------------------------------------------------------------------------- Running -- */

static kvo_action go_on(const kvo_fault *fault, void *arg) {
  char report[64];
  kvo_fault_format(fault, KVO_REPORT_TEXT, report, sizeof report);
  if (strncmp(report, "KVO00", 5) != 0) fail("a report without its summary");
  if (kvo_fault_format(fault, KVO_REPORT_JSON, NULL, 0) < 200) fail("a report in JSON without its members");
  return KVO_ACTION_IGNORE;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  kvo_class_spec taken = {.struct_size = sizeof taken, .name = "Taken", .instance_size = sizeof(kvo_object)};
  kvo_class *cls;
  if (kvo_class_register(&taken, &cls) != KVO_OK) fail("no class");
  kvo_set_fault_handler(go_on, NULL);
  for (int i = 0; i < SLOTS; i++)
    if (kvo_object_init(&items[i].header, class_of_shape(0)) != KVO_OK) fail("no object");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size == 0) return 0;
  size_t length = size - 1 < LONGEST ? size - 1 : LONGEST;
  memcpy(text, bytes + 1, length);
  text[length] = '\0';
  for (int i = 0; i < SLOTS; i++) { /* 0 -> 1 -> 2 -> 0, and 3 -> 3 */
    item_store(&items[i], WIDE, i);
    item_store(&items[i], NEXT, i < 3 ? (i + 1) % 3 : -1);
    item_store(&items[i], OWNED, i == 1 ? 3 : -1);
  }
  switch (bytes[0] % 4) {
    case 0:
    case 1: check_encoding(); break;
    case 2: check_path(); break;
    default: check_key(bytes[0] >= 128);
  }
  return 0;
}
