/* errors.c - the text of the last error of each thread. */
#include "threads/threads.h"
#include "text/sink.h"

#include <stdlib.h>

enum { TEXT = 512 };

kvo_status kvo__fail(kvo_status status, const char *format, ...) {
  kvo_thread *self = kvo__thread();
  if (self == NULL) return status;
  self->error = status;
  /* From the C library, as the record: it is freed with it. */
  if (self->error_text == NULL) self->error_text = malloc(TEXT);
  if (self->error_text == NULL) return status;
  kvo_sink text = kvo__sink_of(self->error_text, TEXT);
  va_list of;
  va_start(of, format);
  kvo__append_list(&text, format, of);
  va_end(of);
  return status;
}

const char *kvo_last_error(void) {
  const kvo_thread *self = kvo__own.thread;
  if (self == NULL || self->error == KVO_OK) return "";
  return self->error_text != NULL ? self->error_text : kvo_status_string(self->error);
}

void kvo__refused(int result) {
  kvo_thread *self = kvo__thread();
  if (self != NULL) self->refusal = result;
}

int kvo_last_refusal(void) { return kvo__own.thread != NULL ? kvo__own.thread->refusal : 0; }
