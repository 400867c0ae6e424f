/* fixture.c - the class "Item", the recording observer, and the recording fault handler. */
#include "fixture.h"
#include "made.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- Items -- */

static int get_value(const item *of) { return of->value; }
static void set_value(item *of, int value) { of->value = value; }
static int get_other(const item *of) { return of->other; }
static void set_other(item *of, int value) { of->other = value; }
static int get_quiet(const item *of) { return of->quiet; }
static void set_quiet(item *of, int value) { of->quiet = value; }
static item *get_next(const item *of) { return of->next; }
static void set_next(item *of, item *next) { of->next = next; }
static char *get_name(const item *of) { return of->name; }
static int get_doubled(const item *of) { return 2 * of->value; }
static int get_far(const item *of) { return of->next != NULL ? of->next->value + 1000 : -1; }

static void set_name(item *of, const char *name) {
  char *copy = name != NULL ? strdup(name) : NULL;
  free(of->name); /* a record's old string must stay valid */
  of->name = copy;
}

static void finalize(kvo_object *object) { free(((item *)object)->name); }

kvo_class *item_class(void) {
  static kvo_class *cls;
  if (cls != NULL) return cls;
  static const char *const by_value[] = {"value", NULL}, *const by_next_value[] = {"next.value", NULL};
  kvo_property_spec properties[] = {PROPERTY("value", "i", get_value, set_value),
                                    PROPERTY("other", "i", get_other, set_other),
                                    PROPERTY("next", "@", get_next, set_next),
                                    PROPERTY("name", "*", get_name, set_name),
                                    PROPERTY_WITH("doubled", "i", get_doubled, NULL, .affected_by = by_value),
                                    PROPERTY_WITH("quiet", "i", get_quiet, set_quiet, .flags = KVO_PROPERTY_MANUAL),
                                    PROPERTY_WITH("far", "i", get_far, NULL, .affected_by = by_next_value)};
  return cls = register_class((kvo_class_spec){.name = "Item",
                                               .instance_size = sizeof(item),
                                               .properties = properties,
                                               .property_count = COUNT(properties),
                                               .finalize = finalize});
}

item *item_make(int value) {
  item *made = (item *)object_of(item_class());
  made->value = value;
  return made;
}

void item_destroy(item *object) { kvo_object_destroy(&object->header); }

/* ---------------------------------------------------------------------------------------------------------- Watchers -- */

char trace[512];

void trace_clear(void) { trace[0] = '\0'; }

static void trace_add(char letter) {
  size_t length = strlen(trace);
  if (letter != '\0' && length + 1 < sizeof trace) {
    trace[length] = letter;
    trace[length + 1] = '\0';
  }
}

seen_value see(const kvo_value *value) {
  seen_value seen = {0};
  if (value == NULL) return seen;
  seen.delivered = true;
  seen.nil = value->bytes == NULL;
  if (seen.nil) return seen;
  switch (value->type[0]) {
    case 'i': seen.integer = *(const int *)value->bytes; break;
    case 'd': seen.real = *(const double *)value->bytes; break;
    case '@': seen.object = *(const void *const *)value->bytes; break;
    case '*': snprintf(seen.text, sizeof seen.text, "%s", *(const char *const *)value->bytes); break;
    default: harness_fail(__FILE__, __LINE__, "a value of type %s was not expected", value->type);
  }
  return seen;
}

static void note(const kvo_change *change, void *user_data) {
  watcher *self = user_data;
  self->depth++;
  if (change->is_prior)
    self->priors++;
  else
    self->calls++;
  trace_add(change->is_prior ? (char)tolower(self->tag) : self->tag);
  self->old_value = see(change->old_value);
  self->new_value = see(change->new_value);
  self->kind = change->kind;
  self->object = change->object;
  self->seen_context = change->context;
  self->seen_id = change->observation;
  snprintf(self->key_path, sizeof self->key_path, "%s", change->key_path);
  self->index_count = change->index_count;
  for (size_t i = 0; i < change->index_count && i < 8; i++) self->indexes[i] = change->indexes[i];
  if (self->then != NULL) self->then(self, change);
  self->depth--;
}

static void note_destroyed(void *user_data) {
  watcher *self = user_data;
  self->destroyed++;
  if (self->depth > 0) self->destroyed_in_callback = true;
}

kvo_observer watcher_observer(const char *key_path, int options, watcher *observer) {
  kvo_observer described = observer_by(key_path, options, note, observer);
  described.destroy = note_destroyed;
  described.context = observer->context;
  return described;
}

kvo_observation watch_object(kvo_object *object, const char *key_path, int options, watcher *observer) {
  kvo_observer described = watcher_observer(key_path, options, observer);
  CHECK_OK(kvo_add_observer(object, &described, &observer->id));
  return observer->id;
}

kvo_observation watch(item *object, const char *key_path, int options, watcher *observer) {
  return watch_object(as_object(object), key_path, options, observer);
}

/* --------------------------------------------------------------------------------------------------- Other observers -- */

kvo_observer observer_by(const char *key_path, int options, kvo_callback callback, void *user_data) {
  return (kvo_observer){.struct_size = sizeof(kvo_observer),
                        .key_path = key_path,
                        .options = (kvo_options)options,
                        .callback = callback,
                        .user_data = user_data,
                        KVO_HERE};
}

kvo_observation observe_by(kvo_object *object, const char *key_path, int options, kvo_callback callback,
                           void *user_data) {
  kvo_observer observer = observer_by(key_path, options, callback, user_data);
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  return id;
}

kvo_observation observe_named(kvo_object *object, const char *key, const char *class_name, const void *address,
                              kvo_binding_observer described) {
  static const kvo_observer_ops ignoring = {.callback = ignore_raw};
  described.key_path = key;
  described.identity.class_name = class_name;
  described.identity.address = address;
  if (described.ops == NULL) described.ops = &ignoring;
  kvo_observation id;
  CHECK_OK(kvo_binding_observe_key(object, kvo_key_hash(key, strlen(key)), &described, &id));
  return id;
}

void ignore_change(const kvo_change *change, void *user_data) {}
void ignore_raw(const kvo_raw_change *change, void *user_data) {}
void never_read(const kvo_value *value, void *arg) { harness_fail(__FILE__, __LINE__, "the reader was called"); }

/* ------------------------------------------------------------------------------------------------------------ Faults -- */

fault_log faults;

static kvo_action keep_fault(const kvo_fault *fault, void *arg) {
  faults.count++;
  faults.code = fault->code;
  snprintf(faults.summary, sizeof faults.summary, "%s", fault->summary);
  snprintf(faults.apple, sizeof faults.apple, "%s", fault->apple != NULL ? fault->apple : "");
  kvo_fault_format(fault, KVO_REPORT_TEXT, faults.report, sizeof faults.report);
  snprintf(faults.file, sizeof faults.file, "%.*s", (int)fault->file_length, fault->file != NULL ? fault->file : "");
  faults.line = fault->line;
  faults.observation_count = fault->observation_count;
  if (fault->observation_count > 0) {
    faults.first = fault->observations[0];
    snprintf(faults.first_file, sizeof faults.first_file, "%.*s", (int)faults.first.file_length,
             faults.first.file != NULL ? faults.first.file : "");
    snprintf(faults.first_key_path, sizeof faults.first_key_path, "%s", faults.first.key_path);
  }
  return KVO_ACTION_IGNORE;
}

void ignore_faults(void) { kvo_set_fault_handler(keep_fault, NULL); }
