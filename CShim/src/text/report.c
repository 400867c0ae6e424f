/* report.c - writes a report to a file descriptor, in blocks, so that no report is too long. */
#include "text/report.h"

void kvo__put_report(kvo_sink *to, const kvo_fault *fault, const kvo_report_form *form) {
  to->demangles = form->demangles;
  if (form->format == KVO_REPORT_JSON)
    kvo__put_json_report(to, fault);
  else
    kvo__put_text_report(to, fault, form->is_repeated);
}

bool kvo__report_write(const kvo_fault *fault, const kvo_report_form *form, int fd) {
  char block[1024];
  kvo_sink to = {.memory = block, .capacity = sizeof block, .fd = fd};
  kvo__put_report(&to, fault, form);
  kvo__sink_flush(&to);
  return !to.failed;
}
