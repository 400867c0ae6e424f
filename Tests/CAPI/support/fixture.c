/* fixture.c - the class "Item", the recording observer, and the recording fault handler. */
#include "fixture.h"

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
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .getter = (kvo_function)get_value, .setter = (kvo_function)set_value},
      {.name = "other", .type = "i", .getter = (kvo_function)get_other, .setter = (kvo_function)set_other},
      {.name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)set_next},
      {.name = "name", .type = "*", .getter = (kvo_function)get_name, .setter = (kvo_function)set_name},
      {.name = "doubled", .type = "i", .getter = (kvo_function)get_doubled, .affected_by = by_value},
      {.name = "quiet",
       .type = "i",
       .getter = (kvo_function)get_quiet,
       .setter = (kvo_function)set_quiet,
       .flags = KVO_PROPERTY_MANUAL},
      {.name = "far", .type = "i", .getter = (kvo_function)get_far, .affected_by = by_next_value},
  };
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Item",
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties,
                         .finalize = finalize};
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

item *item_make(int value) {
  kvo_object *made = NULL;
  CHECK_OK(kvo_object_create(item_class(), &made));
  ((item *)made)->value = value;
  return (item *)made;
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
  return (kvo_observer){.struct_size = sizeof(kvo_observer),
                        .key_path = key_path,
                        .options = (kvo_options)options,
                        .callback = note,
                        .user_data = observer,
                        .destroy = note_destroyed,
                        .context = observer->context,
                        KVO_HERE};
}

kvo_observation watch(item *object, const char *key_path, int options, watcher *observer) {
  kvo_observer described = watcher_observer(key_path, options, observer);
  CHECK_OK(kvo_add_observer(as_object(object), &described, &observer->id));
  return observer->id;
}

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

kvo_observation observe_by(kvo_object *object, const char *key_path, int options, kvo_callback callback,
                           void *user_data) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = callback,
                           .user_data = user_data,
                           KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(object, &observer, &id));
  return id;
}
