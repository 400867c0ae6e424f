/* bad_input_reports.c - rows of the table of bad_input.c: faults, graphs, traces. */
#include "bad_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- Faults -- */

ROW(kvo_severity_name) {
  CHECK_EQ(kvo_severity_name((kvo_severity)4), "unknown");
  CHECK_EQ(kvo_severity_name((kvo_severity)-1), "unknown");
  CHECK_EQ(kvo_severity_name((kvo_severity)99999), "unknown");
}

ROW(kvo_fault_kind_at) { CHECK_SAME(kvo_fault_kind_at(SIZE_MAX), NULL); }

/* In both forms, and in an unknown one. */
static size_t format_all(const kvo_fault *fault) {
  static char text[1 << 16];
  size_t total = 0;
  for (int form = -1; form < 3; form++) {
    size_t length = kvo_fault_format(fault, (kvo_report_format)form, text, sizeof text);
    CHECK_EQ(strlen(text), length);
    CHECK_EQ(kvo_fault_format(fault, (kvo_report_format)form, NULL, sizeof text), length);
    CHECK_EQ(kvo_fault_format(fault, (kvo_report_format)form, NULL, 0), length);
    total += length;
  }
  return total;
}

ROW(kvo_fault_format) {
  kvo_fault empty = {0}, unknown = {.code = (kvo_fault_code)9999, .severity = (kvo_severity)42, .summary = "?"},
            counts = {.summary = "",
                      .observation_count = 3,
                      .site_count = 3,
                      .frame_count = 3,
                      .chain_count = 3,
                      .event_count = 3,
                      .file_length = 3};
  static const kvo_fault_observation observation = {.key_path = "value", .frame_count = 3};
  static const kvo_fault_site site = {.label = "made", .frame_count = 3};
  static const kvo_fault_step step = {.observation = {.key_path = "value", .frame_count = 3}};
  kvo_fault nested = {.summary = "",
                      .observations = &observation,
                      .observation_count = 1,
                      .sites = &site,
                      .site_count = 1,
                      .chain = &step,
                      .chain_count = 1};
  CHECK_EQ(format_all(NULL), 0);
  CHECK(format_all(&empty) > 0);
  CHECK(format_all(&unknown) > 0);
  CHECK(format_all(&counts) > 0);
  CHECK(format_all(&nested) > 0);
}

ROW(kvo_binding_max_rounds) { CHECK(kvo_binding_max_rounds() > 0); }
ROW(kvo_settling_serial) { CHECK_EQ((int)kvo_settling_serial(), 0); }

ROW(kvo_name_distance) {
  CHECK_EQ(kvo_name_distance(NULL, "value"), (size_t)0);
  CHECK_EQ(kvo_name_distance("value", NULL), (size_t)0);
  CHECK_EQ(kvo_name_distance("", ""), (size_t)0);
  char *huge = text_of_size(1 << 20, 'x');
  CHECK_EQ(kvo_name_distance(huge, "value"), (size_t)0);
  free(huge);
}

ROW(kvo_call_is_library) {
  CHECK(!kvo_call_is_library(NULL));
  CHECK(!kvo_call_is_library((void *)(uintptr_t)1));
  CHECK(!kvo_call_is_library((void *)UINTPTR_MAX));
}

ROW(kvo_call_format) {
  char text[100] = "", small[4] = "xxx";
  size_t length = kvo_call_format(NULL, text, sizeof text);
  CHECK_EQ(strlen(text), length);
  CHECK_EQ(kvo_call_format((void *)(uintptr_t)1, NULL, 100), kvo_call_format((void *)(uintptr_t)1, NULL, 0));
  CHECK(kvo_call_format((void *)UINTPTR_MAX, small, sizeof small) > 3);
  CHECK_EQ(strlen(small), 3);
}

static kvo_action ignore(const kvo_fault *fault, void *arg) {
  format_all(fault);
  *(int *)arg += 1;
  return KVO_ACTION_IGNORE;
}

static kvo_action answer_nonsense(const kvo_fault *fault, void *arg) { return (kvo_action)99; }

ROW(kvo_fault_raise) {
  int raised = 0;
  kvo_set_fault_handler(ignore, &raised);
  kvo_fault_raise(KVO_FAULT_TYPE_MISMATCH, NULL, NULL, NULL, NULL, 0, NULL, 0);
  kvo_fault_raise(KVO_FAULT_TYPE_MISMATCH, "", NULL, NULL, NULL, SIZE_MAX, NULL, 7);
  kvo_fault_raise((kvo_fault_code)0, "", NULL, NULL, NULL, 0, NULL, 0);
  kvo_fault_raise((kvo_fault_code)-1, "", NULL, NULL, NULL, 0, NULL, 0);
  kvo_fault_raise((kvo_fault_code)12345, "", NULL, NULL, NULL, 0, NULL, 0);
  CHECK_EQ(raised, 5);
}

/* The following calls are reported; the reports do not matter here. */
static void quiet(void) { CHECK(freopen("/dev/null", "w", stderr) != NULL); }

#define HANDLER_ROW(set)                                                                                               \
  ROW(set) {                                                                                                           \
    quiet();                                                                                                           \
    CHECK(set(answer_nonsense, NULL) == NULL);                                                                         \
    kvo_fault_raise(KVO_FAULT_TYPE_MISMATCH, "goes on", NULL, NULL, NULL, 0, NULL, 0);                                 \
    CHECK(set(NULL, NULL) == answer_nonsense);                                                                         \
  }
HANDLER_ROW(kvo_set_fault_handler)
HANDLER_ROW(kvo_set_thread_fault_handler)
ROW(kvo_get_fault_handler) { CHECK(kvo_get_fault_handler(NULL) == NULL); }
ROW(kvo_get_thread_fault_handler) { CHECK(kvo_get_thread_fault_handler(NULL) == NULL); }
ROW(kvo_binding_set_scope_fault_handler) { CHECK(kvo_binding_set_scope_fault_handler(NULL) == NULL); }
ROW(kvo_fault_break) { kvo_fault_break(NULL); }
ROW(kvo_thread_fault_count) { CHECK_EQ(kvo_thread_fault_count(), 0); }

/* ------------------------------------------------------------------------------------------------ Graphs and traces -- */

ROW(kvo_snapshot) { REFUSED(kvo_snapshot(NULL)); }
ROW(kvo_graph_free) { kvo_graph_free(NULL); }

ROW(kvo_graph_format) {
  static const kvo_graph_object object = {.observation_count = 2, .key_path_count = 2, .edge_count = 2};
  static const kvo_graph_observation observation = {
      .kind = (kvo_graph_kind)99, .object = 99, .observer_object = 99, .options = (kvo_options)-1};
  static const kvo_graph_edge edge = {.observation = 99, .object = 99};
  kvo_graph empty = {0}, counts = {.object_count = 9, .observation_count = 9, .edge_count = 9},
            hollow = {&object, 1, &observation, 1, &edge, 1};
  const kvo_graph *graphs[] = {NULL, &empty, &counts, &hollow};
  static char text[4096];
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++)
    for (int form = -1; form < 4; form++) {
      size_t length = kvo_graph_format(graphs[i], (kvo_graph_form)form, text, sizeof text);
      CHECK_EQ(strlen(text), length);
      CHECK_EQ(kvo_graph_format(graphs[i], (kvo_graph_form)form, NULL, sizeof text), length);
    }
}

ROW(kvo_trace_begin) {
  REFUSED(kvo_trace_begin(NULL));
  CHECK_STATUS(kvo_trace_begin(""), KVO_ERROR_FILE);
  CHECK_STATUS(kvo_trace_begin("/"), KVO_ERROR_FILE);
  CHECK_STATUS(kvo_trace_begin("/dev/null"), KVO_ERROR_FILE);
  char *endless = text_of_size(1 << 20, 'x');
  CHECK_STATUS(kvo_trace_begin(endless), KVO_ERROR_FILE);
  free(endless);
}
ROW(kvo_trace_end) { CHECK_OK(kvo_trace_end()); }
