/* seen_fault.h - a fault handler that keeps what the last two faults contain. */
#ifndef SEEN_FAULT_H
#define SEEN_FAULT_H

#include "fixture.h"

#include <stdio.h>

/* The last two faults, the newer one first. */
typedef struct seen_fault {
  kvo_fault_code code;
  kvo_severity severity;
  const void *object;
  char object_class[32], summary[1024], apple[1024], help[2048];
  kvo_fault_site site;
} seen_fault;
static seen_fault seen[2];

static kvo_action keep(const kvo_fault *fault, void *arg) {
  (void)arg;
  seen[1] = seen[0];
  seen[0] = (seen_fault){.code = fault->code, .severity = fault->severity, .object = fault->object};
  snprintf(seen[0].object_class, sizeof seen[0].object_class, "%s",
           fault->object_class != NULL ? fault->object_class : "");
  snprintf(seen[0].summary, sizeof seen[0].summary, "%s", fault->summary);
  snprintf(seen[0].apple, sizeof seen[0].apple, "%s", fault->apple != NULL ? fault->apple : "");
  snprintf(seen[0].help, sizeof seen[0].help, "%s", fault->help != NULL ? fault->help : "");
  if (fault->site_count > 0) seen[0].site = fault->sites[0];
  return KVO_ACTION_IGNORE;
}

/* Checks that the first line names the object between these texts, and that the fault has it. */
static void check_object(const seen_fault *of, const void *object, const char *cls, const char *before,
                         const char *behind) {
  char expected[512];
  snprintf(expected, sizeof expected, "%s%s@0x%llx%s", before, cls, (unsigned long long)(uintptr_t)object, behind);
  CHECK_CONTAINS((const char *)of->summary, (const char *)expected);
  CHECK_SAME(of->object, object);
  CHECK_EQ((const char *)of->object_class, cls);
}

#endif /* SEEN_FAULT_H */
