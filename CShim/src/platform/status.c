/* status.c - the version of the library, and the texts of statuses. */
#include "platform/platform.h"

uint32_t kvo_version(void) { return KVO_VERSION_NUMBER; }

const char *kvo_status_string(kvo_status status) {
  switch (status) {
#define KVO_STATUS_CASE(name, value, text)                                                                             \
  case name: return text;
    KVO_STATUS_MAP(KVO_STATUS_CASE)
#undef KVO_STATUS_CASE
  }
  return "unknown status";
}
