/* fault_table.c - the table of faults. */
#include "text/report.h"

static const struct {
  kvo_fault_kind kind;
  const char *why;
} fault_rows[] = {
#define KVO_FAULT_ROW(name, value, severity, exception, text, why)                                                     \
  {{name, KVO_SEVERITY_##severity, sizeof exception > 1 ? exception : NULL, text}, why},
    KVO_FAULT_MAP(KVO_FAULT_ROW)
#undef KVO_FAULT_ROW
};
static const char *const severity_names[KVO_SEVERITY_COUNT] = {"fatal", "error", "warning", "info"};

size_t kvo__fault_index(kvo_fault_code code) {
  size_t row = 0;
  while (row + 1 < KVO_FAULT_COUNT && fault_rows[row].kind.code != code) row++;
  return row;
}

const kvo_fault_kind *kvo_fault_kind_at(size_t index) {
  return index < KVO_FAULT_COUNT ? &fault_rows[index].kind : NULL;
}

const char *kvo__exception_of(kvo_fault_code code) { return fault_rows[kvo__fault_index(code)].kind.exception; }

kvo_severity kvo__severity_of(kvo_fault_code code) { return fault_rows[kvo__fault_index(code)].kind.severity; }

const char *kvo_severity_name(kvo_severity severity) {
  return (unsigned)severity < KVO_SEVERITY_COUNT ? severity_names[severity] : "unknown";
}

const char *kvo__why_of(kvo_fault_code code) {
  size_t row = kvo__fault_index(code);
  return fault_rows[row].kind.code == code ? fault_rows[row].why : NULL;
}
