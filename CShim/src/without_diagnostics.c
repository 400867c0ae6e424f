/* without_diagnostics.c - the public functions of watching/, faults/ and text/ in a build without them. Nothing is reported: a call that
 * would be misuse fails or does nothing, as under the policy "ignore". */
#include "hooks.h"

#if !KVO_DIAGNOSTICS

kvo_status kvo_snapshot(kvo_graph **out) {
  if (out == NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_snapshot: out is NULL");
  *out = NULL;
  return kvo__fail(KVO_ERROR_NO_DIAGNOSTICS, "kvo_snapshot: the library was built without diagnostics");
}

void kvo_graph_free(kvo_graph *graph) { (void)graph; }

kvo_status kvo_trace_begin(const char *path) {
  return path != NULL
             ? kvo__fail(KVO_ERROR_NO_DIAGNOSTICS, "kvo_trace_begin: the library was built without diagnostics")
             : kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_trace_begin: path is NULL");
}

kvo_status kvo_trace_end(void) { return KVO_OK; }

static size_t empty_text(char *buffer, size_t size) {
  if (buffer != NULL && size > 0) buffer[0] = '\0';
  return 0;
}

size_t kvo_fault_format(const kvo_fault *fault, kvo_report_format format, char *buffer, size_t size) {
  (void)fault, (void)format;
  return empty_text(buffer, size);
}

size_t kvo_call_format(const void *return_address, char *buffer, size_t size) {
  (void)return_address;
  return empty_text(buffer, size);
}

bool kvo_call_is_library(const void *return_address) {
  (void)return_address;
  return false;
}

size_t kvo_graph_format(const kvo_graph *graph, kvo_graph_form form, char *buffer, size_t size) {
  (void)graph, (void)form;
  return empty_text(buffer, size);
}

const kvo_fault_kind *kvo_fault_kind_at(size_t index) {
  (void)index;
  return NULL;
}

const char *kvo_severity_name(kvo_severity severity) {
  (void)severity;
  return "unknown";
}

void kvo_fault_break(const kvo_fault *fault) { (void)fault; }

void kvo_fault_raise(kvo_fault_code code, const char *detail, const char *apple, const char *help,
                     const kvo_fault_observation *observations, size_t observation_count, const char *file,
                     uint32_t line) {
  (void)code, (void)detail, (void)apple, (void)help, (void)observations, (void)observation_count, (void)file,
      (void)line;
}

void kvo_binding_never_notifies(kvo_object *object, const char *key_path, const char *affected, kvo_silence silence,
                                const char *file, uint32_t line) {
  (void)object, (void)key_path, (void)affected, (void)silence, (void)file, (void)line;
}

uint64_t kvo_thread_fault_count(void) { return 0; }

/* No handler is ever called, so none is stored. */

kvo_fault_handler kvo_set_fault_handler(kvo_fault_handler handler, void *arg) {
  (void)handler, (void)arg;
  return NULL;
}

kvo_fault_handler kvo_get_fault_handler(void **arg) {
  if (arg != NULL) *arg = NULL;
  return NULL;
}

kvo_fault_handler kvo_set_thread_fault_handler(kvo_fault_handler handler, void *arg) {
  (void)handler, (void)arg;
  return NULL;
}

kvo_fault_handler kvo_get_thread_fault_handler(void **arg) {
  if (arg != NULL) *arg = NULL;
  return NULL;
}

kvo_fault_handler kvo_binding_set_scope_fault_handler(kvo_fault_handler handler) {
  (void)handler;
  return NULL;
}

#endif
