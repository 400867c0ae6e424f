/* status.c - the version of the library, and the texts of statuses. */
#include "platform/platform.h"

#define TEXT_OF(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

uint32_t kvo_version(void) { return KVO_VERSION_NUMBER; }

const char *kvo_version_string(void) { return VERSION_TEXT(KVO_VERSION_MAJOR, KVO_VERSION_MINOR, KVO_VERSION_PATCH); }

const char *kvo_status_string(kvo_status status) {
  switch (status) {
#define KVO_STATUS_CASE(name, value, text)                                                                             \
  case name: return text;
    KVO_STATUS_MAP(KVO_STATUS_CASE)
#undef KVO_STATUS_CASE
  }
  return "unknown status";
}
