/* format.c - kvo_fault_format, kvo_call_format and kvo_call_is_library, on a stack with enough room. */
#include "faults/reporting.h"

typedef struct fault_formatting {
  const kvo_fault *fault;
  kvo_report_form form;
  kvo_caller caller;
  kvo_sink to;
} fault_formatting;

static void format_fault(void *arg) {
  fault_formatting *of = arg;
  kvo__modules_look();
  of->form.demangles = kvo__can_demangle(&of->caller);
  kvo__put_report(&of->to, of->fault, &of->form);
}

/* Adds what a fault made by the program may lack. */
static kvo_fault completed(const kvo_fault *fault) {
  kvo_fault whole = *fault;
  if (whole.summary == NULL) whole.summary = "";
  if (whole.file == NULL) whole.file_length = 0;
  if (whole.observations == NULL) whole.observation_count = 0;
  if (whole.sites == NULL) whole.site_count = 0;
  if (whole.frames == NULL) whole.frame_count = 0;
  if (whole.chain == NULL) whole.chain_count = 0;
  if (whole.events == NULL) whole.event_count = 0;
  return whole;
}

size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *buffer, size_t size) {
  fault_formatting of = {NULL, {.format = format}, KVO_CALLER, kvo__sink_of(buffer, size)};
  if (fault != NULL) {
    kvo_fault whole = completed(fault);
    of.fault = &whole;
    kvo__with_room(format_fault, &of);
  }
  return kvo__sink_end(&of.to);
}

typedef struct call_formatting {
  const void *return_address;
  kvo_caller caller;
  kvo_sink to;
} call_formatting;

static void format_call(void *arg) {
  call_formatting *of = arg;
  kvo__modules_look();
  of->to.demangles = kvo__can_demangle(&of->caller);
  kvo__put_call(&of->to, of->return_address);
}

size_t kvo_call_format(const void *return_address, char *buffer, size_t size) {
  call_formatting of = {return_address, KVO_CALLER, kvo__sink_of(buffer, size)};
  kvo__with_room(format_call, &of);
  return kvo__sink_end(&of.to);
}

typedef struct call_question {
  const void *return_address;
  bool is_library;
} call_question;

static void ask_of_call(void *arg) {
  call_question *of = arg;
  kvo__modules_look();
  of->is_library = kvo__is_library_call(of->return_address);
}

bool kvo_call_is_library(const void *return_address) {
  call_question of = {return_address, false};
  kvo__with_room(ask_of_call, &of);
  return of.is_library;
}
