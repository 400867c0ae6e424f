/* faults_watch.c - what is told only to those who ask for it: observations that never end, callbacks that take long. */
#include "report.h"

#include <unistd.h>

void kvo__fault_never_ended(const kvo_fault_observation *places, size_t place_count, size_t count) {
  const kvo_fault_observation *most = places; /* those of which there are most come first */
  char detail_block[512];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "%zu observation%s, made at %zu place%s, had not ended when the process did; %zu of them: \"",
              count, count == 1 ? "" : "s", place_count, place_count == 1 ? "" : "s", most->alike + 1);
  kvo__append_cut(&detail, most->key_path);
  kvo__append(&detail, "\" of ");
  kvo__append_cut(&detail, most->object_class);
  if (most->file != NULL) {
    kvo__append(&detail, ", at ");
    kvo__append_cut(&detail, most->file);
    kvo__append(&detail, ":%u", (unsigned)most->line);
  }
  kvo_fault fault = kvo__fault_of(KVO_FAULT_NEVER_ENDED);
  fault.thread = kvo__thread_number();
  fault.observations = places;
  fault.observation_count = place_count;
  fault.help =
      "end an observation when its work is done: in Swift let go of its token, and let its closure capture neither the "
      "token nor the object; in C call kvo_remove_observer. One that is meant to last as long as the process may stay";
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
}

void kvo__fault_slow(const kvo_fault_observation *delivered, uint32_t thread, uint64_t milliseconds) {
  char detail_block[512], name[64];
  kvo_text detail = KVO_TEXT(detail_block);
  kvo__append(&detail, "an observer of \"");
  kvo__append_cut(&detail, delivered->key_path);
  kvo__append(&detail, "\" of ");
  kvo__append_cut(&detail, delivered->object_class);
  kvo__append(&detail, "@0x%llx has not returned for %llu ms, on thread %u ", kvo__address(delivered->object),
              (unsigned long long)milliseconds, (unsigned)thread);
  kvo__append_cut(&detail, thread == (uint32_t)getpid() ? "(main)" : kvo__thread_name(thread, name, sizeof name));
  kvo_fault fault = kvo__fault_of(KVO_FAULT_SLOW_CALLBACK);
  fault.thread = thread;
  fault.object = delivered->object;
  fault.object_class = delivered->object_class;
  fault.observations = delivered;
  fault.observation_count = 1;
  fault.help = "let the callback only note the change, and do the work elsewhere: whoever set the property waits "
               "for it";
  kvo__raise(&fault, detail.bytes);
  kvo__discard(&detail);
}
