/* ending.c - the last line of an answer. */
#include "serving/client.h"

#include <stdarg.h>

static void ending_end(kvo_client *of) {
  of->stage = KVO_ENDS;
  of->due = INT64_MAX;
  of->is_whole = true;
}

static void put_done(kvo_sink *to, void *arg) {
  (void)arg;
  kvo__put(to, "{\"done\":true}\n");
}

void kvo__client_finish(kvo_client *of) {
  kvo__output_put(&of->output, put_done, NULL);
  ending_end(of);
}

typedef struct failure {
  const char *code, *text;
} failure;

static void put_failure(kvo_sink *to, void *arg) {
  const failure *of = arg;
  kvo__put(to, "{\"error\":");
  kvo__put_json_bytes(to, of->text, strlen(of->text));
  kvo__put_json_string(to, "code", of->code);
  kvo__put(to, "}\n");
}

void kvo__client_fail(kvo_client *of, const char *code, const char *format, ...) {
  char text[KVO_REQUEST + 256];
  kvo_sink to = {.memory = text, .capacity = sizeof text, .fd = -1};
  va_list arguments;
  va_start(arguments, format);
  kvo__append_list(&to, format, arguments);
  va_end(arguments);
  failure failed = {code, text};
  kvo__output_put(&of->output, put_failure, &failed);
  ending_end(of);
}
