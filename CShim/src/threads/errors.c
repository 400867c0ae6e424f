/* errors.c - the text of the last error of each thread. */
#include "threads/threads.h"
#include "text/sink.h"

#include <stdlib.h>

enum { TEXT = 512 };

/* Makes room for a text. False without memory. */
static bool errors_begin(kvo_thread *self, kvo_status status) {
  if (self == NULL) return false;
  self->error = status;
  self->error_count++;
  self->error_function = NULL;
  /* From the C library, as the record: it is freed with it. */
  if (self->error_text == NULL) self->error_text = malloc(TEXT);
  return self->error_text != NULL;
}

kvo_status kvo__fail(kvo_status status, const char *format, ...) {
  kvo_thread *self = kvo__thread();
  if (!errors_begin(self, status)) return status;
  kvo_sink text = kvo__sink_of(self->error_text, TEXT);
  va_list of;
  va_start(of, format);
  kvo__append_list(&text, format, of);
  va_end(of);
  return status;
}

kvo_status kvo__invalid(const char *function, const char *what, kvo_place place) {
  KVO_MISUSE(invalid_argument, function, what, place);
  return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: %s", function, what);
}

kvo_status kvo__fail_id(kvo_status status, const char *function, kvo_observation id) {
  kvo_thread *self = status != KVO_OK ? kvo__thread() : NULL;
  if (self == NULL) return status;
  self->error = status;
  self->error_function = function;
  self->error_id = id;
  return status;
}

const char *kvo_last_error(void) {
  kvo_thread *self = kvo__own.thread;
  if (self == NULL || self->error == KVO_OK) return "";
  if (self->error_function != NULL)
    kvo__fail(self->error, "%s: observation %llu: %s", self->error_function, (unsigned long long)self->error_id,
              kvo_status_string(self->error));
  return self->error_text != NULL ? self->error_text : kvo_status_string(self->error);
}

void kvo__refused(int result) {
  kvo_thread *self = kvo__thread();
  if (self != NULL) self->refusal = result;
}

int kvo_last_refusal(void) { return kvo__own.thread != NULL ? kvo__own.thread->refusal : 0; }
