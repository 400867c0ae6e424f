/* report_json.c - a fault as one line of JSON, for machines. */
#define _GNU_SOURCE
#include "text/report.h"

#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------------- Members -- */

/* Begins an object with its first member; kvo__put_member puts the others. */
static void report_json_begin(kvo_sink *to, const char *name) {
  kvo__put(to, "{\"");
  kvo__put(to, name);
  kvo__put(to, "\":");
}

static void put_string(kvo_sink *to, const char *string) { kvo__put_json_bytes(to, string, strlen(string)); }

static void put_number(kvo_sink *to, const char *name, unsigned long long number) {
  kvo__put_member(to, name);
  kvo__put_number(to, number, 10);
}

static void begin_with_address(kvo_sink *to, const char *name, unsigned long long number) {
  report_json_begin(to, name);
  kvo__put_byte(to, '"');
  kvo__put_address(to, number);
  kvo__put_byte(to, '"');
}

/* Puts null if the age is unknown. */
static void put_seconds_ago(kvo_sink *to, double age) {
  kvo__put_member(to, "secondsAgo");
  if (age >= 0)
    kvo__put_seconds(to, age);
  else
    kvo__put(to, "null");
}

static void report_json_put_object(kvo_sink *to, const char *class_name, const void *address) {
  kvo__put_member(to, "object");
  if (address == NULL) {
    kvo__put(to, "null");
    return;
  }
  begin_with_address(to, "address", kvo__address(address));
  kvo__put_json_string(to, "class", class_name);
  kvo__put_byte(to, '}');
}

void kvo__put_json_site(kvo_sink *to, const char *name, const char *file, size_t length, uint32_t line) {
  kvo__put_member(to, name);
  if (file == NULL) {
    kvo__put(to, "null");
    return;
  }
  report_json_begin(to, "file");
  kvo__put_json_bytes(to, file, length);
  put_number(to, "line", line);
  kvo__put_byte(to, '}');
}

void kvo__put_json_options(kvo_sink *to, kvo_options options) {
  kvo__put_member(to, "options");
  const char *separator = "";
  kvo__put_byte(to, '[');
  for (size_t i = 0; i < KVO_OPTION_COUNT; i++)
    if ((options & kvo__named_options[i].option) != 0) {
      kvo__put(to, separator);
      put_string(to, kvo__named_options[i].name);
      separator = ",";
    }
  kvo__put_byte(to, ']');
}

/* ------------------------------------------------------------------------------------------------------------- Stacks -- */

/* Puts a call; if it is not in the code of a module, only its address. */
static void put_call(kvo_sink *to, const void *return_address) {
  kvo_code_place place = kvo__code_place(return_address);
  char name[256];
  begin_with_address(to, "address", kvo__address(return_address));
  if (place.is_known) {
    kvo__put_json_string(to, "module", kvo__module_name(&place.module, name, sizeof name));
    kvo__put_json_address(to, "offset", place.offset);
    kvo__put_member(to, "buildId");
    kvo__put(to, place.module.build_id_length > 0 ? "\"" : "null");
    kvo__put_build_id(to, &place.module);
    if (place.module.build_id_length > 0) kvo__put_byte(to, '"');
    kvo__put_member(to, "symbol");
    if (place.symbol != NULL)
      kvo__put_symbol(to, place.symbol, kvo__put_json_bytes);
    else
      kvo__put(to, "null");
    kvo__put_member(to, "isLibrary");
    kvo__put(to, kvo__is_library_call(return_address) ? "true" : "false");
    if (place.module.is_gone) kvo__put(to, ",\"isUnloaded\":true");
  }
  kvo__put_byte(to, '}');
}

static void put_stack(kvo_sink *to, void *const *frames, size_t count) {
  if (frames == NULL) count = 0; /* in a fault made by the program */
  kvo__put_member(to, "stack");
  kvo__put_byte(to, '[');
  for (size_t i = 0; i < count; i++) {
    if (i > 0) kvo__put_byte(to, ',');
    put_call(to, frames[i]);
  }
  kvo__put_byte(to, ']');
}

/* ---------------------------------------------------------------------------------------------------------- Evidence -- */

static void report_json_put_observation(kvo_sink *to, const kvo_fault_observation *each) {
  begin_with_address(to, "id", each->observation);
  kvo__put_json_string(to, "keyPath", each->key_path);
  report_json_put_object(to, each->object_class, each->object);
  kvo__put_json_string(to, "observerClass", each->observer_class);
  kvo__put_json_address(to, "observer", kvo__address(each->observer));
  kvo__put_json_options(to, each->options);
  kvo__put_json_address(to, "context", kvo__address(each->context));
  if (each->note != NULL) kvo__put_json_string(to, "note", each->note);
  kvo__put_json_site(to, "registeredAt", each->file, each->file_length, each->line);
  kvo__put_member(to, "callback");
  if (each->callback != NULL)
    put_call(to, (const char *)(uintptr_t)each->callback + 1);
  else
    kvo__put(to, "null");
  put_stack(to, each->frames, each->frame_count);
  if (each->duplicate_count > 0) put_number(to, "duplicateCount", each->duplicate_count);
  kvo__put_byte(to, '}');
}

static void report_json_put_site(kvo_sink *to, const kvo_fault_site *site) {
  report_json_begin(to, "label");
  put_string(to, site->label);
  kvo__put_json_site(to, "at", site->file, site->file_length, site->line);
  put_number(to, "thread", site->thread);
  put_seconds_ago(to, site->age);
  put_stack(to, site->frames, site->frame_count);
  kvo__put_byte(to, '}');
}

static void report_json_put_step(kvo_sink *to, const kvo_fault_step *step) {
  report_json_begin(to, "observation");
  report_json_put_observation(to, &step->observation);
  put_number(to, "round", step->round);
  put_number(to, "repeats", step->repeats);
  put_number(to, "skipped", step->skipped);
  kvo__put_byte(to, '}');
}

static void report_json_put_event(kvo_sink *to, const kvo_event *event) {
  report_json_begin(to, "kind");
  put_string(to, kvo__event_name(event->kind));
  put_seconds_ago(to, event->age);
  put_number(to, "thread", event->thread);
  report_json_put_object(to, event->object_class, event->object);
  kvo__put_json_string(to, "keyPath", event->key_path);
  kvo__put_json_address(to, "id", event->observation);
  kvo__put_json_site(to, "registeredAt", event->file, event->file != NULL ? strlen(event->file) : 0, event->line);
  kvo__put_json_string(to, "value", event->value);
  kvo__put_byte(to, '}');
}

/* -------------------------------------------------------------------------------------------------------- The report -- */

/* Not inlined, so that the path takes no stack while the rest is put. */
__attribute__((noinline)) static void report_json_put_process(kvo_sink *to) {
  char path[KVO_PROGRAM_PATH], time[KVO_TIME_SIZE];
  put_number(to, "process", (unsigned long long)getpid());
  kvo__put_json_string(to, "program", kvo__program_path(path));
  kvo__put_json_string(to, "time", kvo__time_text(time));
  kvo__put_json_string(to, "version", kvo_version_string());
}

#define PUT_ALL(to, name, each, all, count)                                                                            \
  do {                                                                                                                 \
    kvo__put_member(to, name);                                                                                         \
    kvo__put_byte(to, '[');                                                                                            \
    for (size_t i = 0; i < (count); i++) {                                                                             \
      if (i > 0) kvo__put_byte(to, ',');                                                                               \
      each(to, &(all)[i]);                                                                                             \
    }                                                                                                                  \
    kvo__put_byte(to, ']');                                                                                            \
  } while (0)

void kvo__put_json_report(kvo_sink *to, const kvo_fault *fault) {
  report_json_begin(to, "schema");
  kvo__put_number(to, 1, 10);
  kvo__put_member(to, "code");
  kvo__put_byte(to, '"');
  kvo__put_code(to, fault->code);
  kvo__put_byte(to, '"');
  kvo__put_json_string(to, "severity", kvo_severity_name(fault->severity));
  kvo__put_json_string(to, "summary", fault->summary);
  kvo__put_json_string(to, "why", fault->why);
  kvo__put_json_string(to, "apple", fault->apple);
  kvo__put_json_string(to, "exception", fault->exception);
  kvo__put_json_string(to, "help", fault->help);
  report_json_put_object(to, fault->object_class, fault->object);
  report_json_put_process(to);
  char thread[64];
  put_number(to, "thread", fault->thread);
  kvo__put_json_string(to, "threadName", kvo__thread_name(fault->thread, thread, sizeof thread));
  kvo__put_json_site(to, "faultAt", fault->file, fault->file_length, fault->line);
  put_stack(to, fault->frames, fault->frame_count);
  PUT_ALL(to, "sites", report_json_put_site, fault->sites, fault->site_count);
  PUT_ALL(to, "observations", report_json_put_observation, fault->observations, fault->observation_count);
  PUT_ALL(to, "chain", report_json_put_step, fault->chain, fault->chain_count);
  PUT_ALL(to, "events", report_json_put_event, fault->events, fault->event_count);
  kvo__put(to, "}\n");
}
