/* trace_calls.c - the calls of the program that led to the outermost change of a thread, and their names, which are kept. */
#define _GNU_SOURCE
#include "watching/trace.h"

#include "text/report.h"

#include <unistd.h>

/* An address is named once: that reads symbols. Two addresses with one place in the table take turns; of two in one stack the outer one is
 * left out. */
enum { TRACE_CALLS_KEPT = 512, FRAMES = 64 };
static kvo_trace_call trace_calls_kept[TRACE_CALLS_KEPT];

/* The accessors that the macro, or the compiler, makes for a property: their caller makes the change. */
static bool is_setter(const char *text) {
  return strstr(text, ".setter") != NULL || strstr(text, ".modify") != NULL || strstr(text, ".didset") != NULL;
}

static bool trace_calls_is_main(const char *text) { return strncmp(text, "main  ", strlen("main  ")) == 0; }

static bool trace_calls_is_of_c_library(const kvo_code_place *place) {
  const char *slash = place->is_known ? strrchr(place->module.path, '/') : NULL;
  return slash != NULL && (strncmp(slash, "/libc.so", 8) == 0 || strncmp(slash, "/ld-musl", 8) == 0);
}

__attribute__((noinline)) static kvo_trace_call *named(const void *return_address, kvo_trace_call *call) {
  if (call->return_address == return_address) return call;
  kvo_caller caller = KVO_CALLER;
  kvo_code_place place = kvo__code_place(return_address);
  if (!place.is_known) { /* its module was loaded after the last look */
    kvo__modules_look();
    place = kvo__code_place(return_address);
  }
  memset(call, 0, sizeof *call);
  call->return_address = return_address;
  kvo_sink to = {
      .memory = call->text, .capacity = sizeof call->text, .fd = -1, .demangles = kvo__can_demangle(&caller)};
  kvo__put_call(&to, return_address);
  kvo__sink_end(&to);
  call->is_skipped = !place.is_known || kvo__is_library_call(return_address) || is_setter(call->text);
  call->is_last = trace_calls_is_main(call->text) || trace_calls_is_of_c_library(&place);
  if (trace_calls_is_of_c_library(&place)) call->is_skipped = true;
  return call;
}

__attribute__((noinline)) size_t kvo__trace_calls(kvo_trace_call *calls[KVO_TRACE_CALLS]) {
  void *frames[FRAMES];
  size_t count = kvo__stack_capture(frames, FRAMES), found = 0;
  for (size_t i = 0; i < count && found < KVO_TRACE_CALLS; i++) {
    kvo_trace_call *place = &trace_calls_kept[(uintptr_t)frames[i] / 2 % TRACE_CALLS_KEPT];
    bool is_free = true; /* not that of a call that was found */
    for (size_t j = 0; j < found; j++) is_free = is_free && calls[j] != place;
    if (!is_free) continue;
    const kvo_trace_call *call = named(frames[i], place);
    if (!call->is_skipped) calls[found++] = place;
    if (call->is_last) break;
  }
  return found;
}

void kvo__trace_forget_calls(void) { memset(trace_calls_kept, 0, sizeof trace_calls_kept); }

bool kvo__put_trace_module(kvo_sink *to, const kvo_trace_call *of) {
  kvo_code_place place = kvo__code_place(of->return_address);
  if (!place.is_known) return false;
  char name[256], path[KVO_MAX_SHOWN];
  ssize_t length = 0;
  if (place.module.path[0] == '\0') length = readlink("/proc/self/exe", path, sizeof path);
  kvo__put(to, "\"name\":");
  const char *short_name = kvo__module_name(&place.module, name, sizeof name);
  kvo__put_json_bytes(to, short_name, strlen(short_name));
  kvo__put(to, ",\"path\":");
  if (length > 0)
    kvo__put_json_bytes(to, path, (size_t)length);
  else
    kvo__put_json_bytes(to, place.module.path, strlen(place.module.path));
  kvo__put(to, ",\"buildId\":\"");
  kvo__put_build_id(to, &place.module);
  kvo__put_byte(to, '"');
  return true;
}
