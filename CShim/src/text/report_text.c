/* report_text.c - a fault as lines for people: what happened, why it is misuse, where, and what to do. */
#define _GNU_SOURCE
#include "text/report.h"

#include "platform/settings.h"

#include <unistd.h>

static void report_text_put_name(kvo_sink *to, const char *name) { kvo__put_clean(to, name, strlen(name)); }

static void put_quoted(kvo_sink *to, const char *name) {
  kvo__put_byte(to, '"');
  report_text_put_name(to, name);
  kvo__put_byte(to, '"');
}

static void put_lines(kvo_sink *to, const char *label, const char *string, const char *indent) {
  kvo__put(to, label);
  for (const char *line = string;;) {
    size_t length = strcspn(line, "\n");
    kvo__put_clean(to, line, length);
    kvo__put_byte(to, '\n');
    line += length;
    if (*line++ == '\0') return;
    kvo__put(to, indent);
  }
}

/* Puts an object, such as Document@0x7f3c5c0041e0. */
static void report_text_put_object(kvo_sink *to, const char *class_name, const void *address) {
  if (class_name != NULL) {
    report_text_put_name(to, class_name);
    kvo__put_byte(to, '@');
  }
  kvo__put_address(to, kvo__address(address));
}

/* Puts a source location, such as ` at Sidebar.swift:41`. */
static void report_text_put_place(kvo_sink *to, const char *file, size_t length, uint32_t line, const char *unknown) {
  kvo__put(to, " at ");
  if (file == NULL) {
    kvo__put(to, unknown);
    return;
  }
  kvo__put_clean(to, file, length);
  kvo__put_byte(to, ':');
  kvo__put_number(to, line, 10);
}

/* A thread without a name of its own has the name of the main thread. */
static void put_thread(kvo_sink *to, uint32_t thread) {
  if (thread == 0) return;
  kvo__put(to, "  thread ");
  kvo__put_number(to, thread, 10);
  char name[64], first[64];
  uint32_t process = (uint32_t)getpid();
  kvo__thread_name(thread, name, sizeof name);
  if (thread == process) {
    kvo__put(to, " (main)");
  } else if (name[0] != '\0' && strcmp(name, kvo__thread_name(process, first, sizeof first)) != 0) {
    kvo__put_byte(to, ' ');
    put_quoted(to, name);
  }
}

/* ---------------------------------------------------------------------------------------------------------- Evidence -- */

static const char in_c[] = "an unknown place (pass KVO_HERE)";

/* Puts where an observation was registered. A binding's code, which gives notes, cannot pass KVO_HERE. */
static void put_registered(kvo_sink *to, const kvo_fault_observation *each) {
  report_text_put_place(to, each->file, each->file_length, each->line, each->note != NULL ? "an unknown place" : in_c);
}

static void report_text_put_site(kvo_sink *to, const kvo_fault_site *site) {
  kvo__put(to, "  ");
  report_text_put_name(to, site->label);
  if (site->file != NULL || site->frame_count == 0)
    report_text_put_place(to, site->file, site->file_length, site->line, in_c);
  put_thread(to, site->thread);
  if (site->age >= 0) {
    kvo__put(to, site->thread != 0 ? ", " : "  ");
    kvo__put_seconds(to, site->age);
    kvo__put(to, " s ago");
  }
  kvo__put_byte(to, '\n');
  kvo__put_stack(to, site->frames, site->frame_count, "      ");
}

/* Puts the key path, the object and the observer. */
static void put_parties(kvo_sink *to, const kvo_fault_observation *each, const char *verb) {
  put_quoted(to, each->key_path);
  if (each->object != NULL) {
    kvo__put(to, " of ");
    report_text_put_object(to, each->object_class, each->object);
  }
  kvo__put(to, verb);
  if (each->observer_class == NULL && each->observer == NULL)
    kvo__put(to, "a callback"); /* the address of a closure says nothing */
  else
    report_text_put_object(to, each->observer_class, each->observer);
}

static void put_callback(kvo_sink *to, const kvo_fault_observation *each) {
  if (each->callback == NULL) return;
  kvo__put(to, ", callback ");
  kvo__put_function(to, each->callback);
}

static void put_options(kvo_sink *to, kvo_options options) {
  const char *separator = "  options ";
  for (size_t i = 0; i < KVO_OPTION_COUNT; i++)
    if ((options & kvo__named_options[i].option) != 0) {
      kvo__put(to, separator);
      kvo__put(to, kvo__named_options[i].name);
      separator = "|";
    }
}

static void report_text_put_observation(kvo_sink *to, const kvo_fault_observation *each, bool is_notified) {
  kvo__put(to, "    ");
  put_parties(to, each, "  observer ");
  put_options(to, each->options);
  if (each->context != NULL) {
    kvo__put(to, "  context ");
    kvo__put_address(to, kvo__address(each->context));
  }
  kvo__put(to, "\n        registered");
  put_registered(to, each);
  if (each->duplicate_count > 0) {
    kvo__put(to, each->duplicate_count == 1 ? ", as was " : ", as were ");
    kvo__put_number(to, each->duplicate_count, 10);
    kvo__put(to, each->duplicate_count == 1 ? " other like it" : " others like it");
  }
  put_callback(to, each);
  if (each->note != NULL) {
    kvo__put(to, ", ");
    report_text_put_name(to, each->note);
  }
  if (is_notified) kvo__put(to, ", being notified");
  kvo__put_byte(to, '\n');
  kvo__put_stack(to, each->frames, each->frame_count, "          ");
}

/* Whether a text report is long enough; JSON has everything. */
static bool report_text_is_long(const kvo_sink *to) { return to->total > 8192; }

static bool is_notified(const kvo_fault *fault, kvo_observation observation) {
  for (size_t i = 0; i < fault->chain_count; i++)
    if (fault->chain[i].observation.observation == observation) return observation != 0;
  return false;
}

static bool is_listed(const kvo_fault *fault, kvo_observation observation) {
  for (size_t i = 0; i < fault->observation_count; i++)
    if (fault->observations[i].observation == observation) return observation != 0;
  return false;
}

/* Whether all deliveries in progress are of observations of the fault. In a circle these stand in the order of the deliveries. */
static bool are_all_listed(const kvo_fault *fault) {
  size_t listed = 0;
  while (listed < fault->chain_count && is_listed(fault, fault->chain[listed].observation.observation)) listed++;
  return listed == fault->chain_count;
}

static void put_observations(kvo_sink *to, const kvo_fault *fault) {
  const kvo_fault_observation *all = fault->observations;
  /* A dangling observer is not called. */
  bool has_notified = fault->code != KVO_FAULT_DANGLING_OBSERVER && are_all_listed(fault);
  size_t shown = 0, left = 0, count = fault->observation_count;
  if (count > 0) kvo__put(to, "  observations:\n");
  for (; shown < count && (shown == 0 || !report_text_is_long(to)); shown++)
    report_text_put_observation(to, &all[shown], has_notified && is_notified(fault, all[shown].observation));
  for (size_t i = shown; i < count; i++) left += all[i].duplicate_count + 1;
  if (left == 0) return;
  kvo__put(to, "    (");
  kvo__put_number(to, left, 10);
  kvo__put(to, " more; KVO_REPORT=json lists them)\n");
}

static void report_text_put_step(kvo_sink *to, const kvo_fault_observation *each, const char *verb) {
  put_parties(to, each, verb);
  kvo__put(to, ", registered");
  put_registered(to, each);
  put_callback(to, each);
  kvo__put_byte(to, '\n');
}

static void put_chain(kvo_sink *to, const kvo_fault_step *chain, size_t count, bool is_last_called) {
  size_t round_ends = 0, round = 0, repeats = 0;
  kvo__put(to, "  deliveries in progress, each caused by the one above:\n");
  if (chain[0].skipped > 0) {
    kvo__put(to, "    (");
    kvo__put_number(to, chain[0].skipped, 10);
    kvo__put(to, chain[0].skipped == 1 ? " outer delivery omitted)\n" : " outer deliveries omitted)\n");
  }
  for (size_t i = 0; i < count; i++) {
    if (i > 0 && report_text_is_long(to)) {
      kvo__put(to, "    (");
      kvo__put_number(to, count - i, 10);
      kvo__put(to, " more; KVO_REPORT=json lists them)\n");
      return;
    }
    kvo__put(to, "    ");
    report_text_put_step(to, &chain[i].observation, i + 1 < count || is_last_called ? " notified " : " was to notify ");
    if (chain[i].round > 0) {
      round = chain[i].round;
      repeats = chain[i].repeats;
      round_ends = i + round;
    }
    if (i + 1 != round_ends) continue;
    kvo__put(to, round == 1 ? "    (repeated " : "    (the ");
    if (round > 1) kvo__put_number(to, round, 10);
    if (round > 1) kvo__put(to, " steps above repeated ");
    kvo__put_number(to, repeats, 10);
    kvo__put(to, repeats == 1 ? " more time)\n" : " more times)\n");
  }
}

/* Puts the deliveries in progress, unless the list of observations says it. */
static void put_deliveries(kvo_sink *to, const kvo_fault *fault) {
  if (are_all_listed(fault)) return;
  size_t count = fault->chain_count;
  const kvo_fault_step *chain = fault->chain;
  bool is_last_called = fault->code != KVO_FAULT_DANGLING_OBSERVER; /* a dangling observer is not called */
  if (count > 1 || chain[0].round > 0 || chain[0].skipped > 0) {
    put_chain(to, chain, count, is_last_called);
    return;
  }
  kvo__put(to, "  delivery in progress: ");
  report_text_put_step(to, &chain[0].observation, is_last_called ? " notified " : " was to notify ");
}

static void report_text_put_event(kvo_sink *to, const kvo_event *event) {
  kvo__put(to, "    ");
  kvo__put_seconds(to, event->age);
  kvo__put(to, " s before: ");
  kvo__put(to, kvo__event_name(event->kind));
  kvo__put_byte(to, ' ');
  if (event->key_path[0] != '\0') { /* the death of an object has none */
    put_quoted(to, event->key_path);
    kvo__put(to, " of ");
  }
  report_text_put_object(to, event->object_class, event->object);
  if (event->value != NULL) {
    kvo__put(to, ", now ");
    report_text_put_name(to, event->value);
  }
  if (event->file != NULL) {
    if (event->kind != KVO_EVENT_REGISTERED) kvo__put(to, ", registered");
    report_text_put_place(to, event->file, strlen(event->file), event->line, in_c);
  }
  put_thread(to, event->thread);
  kvo__put_byte(to, '\n');
}

/* -------------------------------------------------------------------------------------------------------- The report -- */

static void put_fault_site(kvo_sink *to, const kvo_fault *fault) {
  if (fault->file == NULL && fault->frame_count == 0) return;
  kvo__put(to, "  fault");
  if (fault->file != NULL) report_text_put_place(to, fault->file, fault->file_length, fault->line, in_c);
  put_thread(to, fault->thread);
  kvo__put_byte(to, '\n');
  kvo__put_stack(to, fault->frames, fault->frame_count, "      ");
}

/* Puts which process of which program this was, when, and the version of the library. Not inlined, so that the path takes no stack while
 * the rest is put. */
__attribute__((noinline)) static void report_text_put_process(kvo_sink *to) {
  char path[KVO_PROGRAM_PATH], time[KVO_TIME_SIZE];
  kvo__put(to, "  process ");
  kvo__put_number(to, (unsigned long long)getpid(), 10);
  kvo__put_byte(to, ' ');
  report_text_put_name(to, kvo__program_path(path));
  kvo__put(to, ", ");
  kvo__put(to, kvo__time_text(time));
  kvo__put(to, ", swift-kvo ");
  kvo__put(to, kvo_version_string());
  kvo__put_byte(to, '\n');
}

/* Puts further hints, once per code. */
static void put_more(kvo_sink *to, const kvo_fault *fault) {
  kvo__put(to, "  more: kvo explain ");
  kvo__put_code(to, fault->code);
  if (kvo__settings.stacks == 0 && fault->observation_count + fault->site_count > 0)
    kvo__put(to, "; KVO_STACKS=32 records the stacks of registrations");
  if (kvo__settings.history == 0 && fault->object != NULL) kvo__put(to, "; KVO_HISTORY=256 records earlier events");
  kvo__put(to, "; KVO_HELP=1 lists all settings\n");
}

/* Puts the first line of Apple's sentence, by which the web can be searched; the report has the rest itself, and JSON all of it. */
static void put_apple(kvo_sink *to, const char *sentence) {
  size_t length = strcspn(sentence, "\n");
  bool has_list = sentence[length] != '\0' && length > 0 && sentence[length - 1] == '(';
  kvo__put(to, "  Apple says: ");
  kvo__put_clean(to, sentence, length);
  kvo__put(to, has_list ? "...)\n" : sentence[length] != '\0' ? " ...\n" : "\n");
}

void kvo__put_text_report(kvo_sink *to, const kvo_fault *fault, bool is_repeated) {
  put_lines(to, "", fault->summary, "  ");
  if (fault->why != NULL) put_lines(to, "  ", fault->why, "    ");
  for (size_t i = 0; i < fault->site_count; i++) report_text_put_site(to, &fault->sites[i]);
  put_observations(to, fault);
  put_fault_site(to, fault);
  put_deliveries(to, fault);
  if (fault->event_count > 0) kvo__put(to, "  what happened before:\n");
  for (size_t i = 0; i < fault->event_count; i++) report_text_put_event(to, &fault->events[i]);
  if (fault->apple != NULL) put_apple(to, fault->apple);
  if (fault->help != NULL) put_lines(to, "  help: ", fault->help, "    ");
  if (!is_repeated) put_more(to, fault);
  report_text_put_process(to);
  kvo__put_modules(to, fault);
}
