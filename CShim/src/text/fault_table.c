/* fault_table.c - the table of faults, and for each the sentence that says why it is misuse, the second line of a report. */
#include "text/report.h"

static const kvo_fault_kind codes[] = {
#define KVO_FAULT_ROW(name, value, severity, exception, text)                                                          \
  {name, KVO_SEVERITY_##severity, sizeof exception > 1 ? exception : NULL, text},
    KVO_FAULT_MAP(KVO_FAULT_ROW)
#undef KVO_FAULT_ROW
};
static const char *const severity_names[KVO_SEVERITY_COUNT] = {"fatal", "error", "warning", "info"};

size_t kvo__fault_index(kvo_fault_code code) {
  size_t row = 0;
  while (row + 1 < KVO_FAULT_COUNT && codes[row].code != code) row++;
  return row;
}

const kvo_fault_kind *kvo_fault_kind_at(size_t index) { return index < KVO_FAULT_COUNT ? &codes[index] : NULL; }

const char *kvo__exception_of(kvo_fault_code code) { return codes[kvo__fault_index(code)].exception; }

kvo_severity kvo__severity_of(kvo_fault_code code) { return codes[kvo__fault_index(code)].severity; }

const char *kvo_severity_name(kvo_severity severity) {
  return (unsigned)severity < KVO_SEVERITY_COUNT ? severity_names[severity] : "unknown";
}

const char *kvo__why_of(kvo_fault_code code) {
  switch (code) {
    case KVO_FAULT_DEALLOCATED_WHILE_OBSERVED:
      return "an observation that does not end with its object must be removed before the object ends";
    case KVO_FAULT_NOT_REGISTERED:
      return "an observer can be removed only from the object, for the key path and with the context that it was added "
             "with";
    case KVO_FAULT_REMOVED_TWICE: return "a removal ends an observation, and this one had already ended";
    case KVO_FAULT_DANGLING_OBSERVER:
      return "an observer must be removed before it is deallocated; on Apple's platforms this change would be sent to "
             "freed memory";
    case KVO_FAULT_STALE_HANDLE: return "the end of an object ends its observations, and ids are never reused";
    case KVO_FAULT_DYING_OBJECT: return "an object that is being destroyed cannot be observed";
    case KVO_FAULT_INVALID_ARGUMENT: return "the argument is invalid";
    case KVO_FAULT_UNDEFINED_KEY: return "a key must name a property of an observable object";
    case KVO_FAULT_MALFORMED_KEY_PATH: return "a key path consists of keys separated by single dots";
    case KVO_FAULT_NEVER_NOTIFIES: return "nothing that the value depends on notifies";
    case KVO_FAULT_UNSUPPORTED_OBJECT: return "only objects of a registered class can be observed";
    case KVO_FAULT_NEVER_ENDED:
      return "an observation that is registered when the process ends may have been forgotten or be part of a "
             "reference cycle";
    case KVO_FAULT_ENDED_UNUSED:
      return "the observation ends with its token: keep the token as long as you want notifications";
    case KVO_FAULT_AMBIGUOUS_REMOVAL:
      return "without a context it is ambiguous which observation to remove; it may be that of a superclass";
    case KVO_FAULT_ENDLESS_WAIT:
      return "a callback that waits for itself, directly or through another thread, would wait forever; the call "
             "returned without waiting";
    case KVO_FAULT_THROUGH_COLLECTION: return "a collection has no properties to observe; its elements have";
    case KVO_FAULT_DUPLICATE: return "each registration notifies separately";
    case KVO_FAULT_NO_INTERCEPTION:
      return "without executable memory no C setter can be intercepted; the object is unchanged";
    case KVO_FAULT_OVERWRITTEN_HEADER: return "the header belongs to the runtime and says whether setters notify";
    case KVO_FAULT_UNHANDLED: return "no class in the observer's hierarchy recognised the context";
    case KVO_FAULT_RECURSION: return "each nested delivery uses more of the stack, which would overflow";
    case KVO_FAULT_UNSETTLED: return "each observer sets a value that makes the next one set again";
    case KVO_FAULT_ABANDONED_DELIVERY:
      return "a callback must return, so that the runtime can notify the other observers and release its resources";
    case KVO_FAULT_TYPE_MISMATCH: return "values are converted only if nothing is lost";
    case KVO_FAULT_SLOW_CALLBACK: return "the thread that sets a property waits until all its observers have returned";
    case KVO_FAULT_DID_WITHOUT_WILL:
      return "a change needs a pair of calls: without willChange its old value is unknown and key paths are not "
             "updated";
    case KVO_FAULT_UNFINISHED_CHANGE: return "a change needs a pair of calls: observers are notified at didChange";
    case KVO_FAULT_CROSSED_THREADS:
      return "a pair belongs to one thread: two threads may announce changes of one key at the same time";
    case KVO_FAULT_DOUBLE_NOTIFICATION:
      return "a set between willChange and didChange notifies through the setter and again at didChange";
    case KVO_FAULT_SILENT_CHANGE:
      return "an observed key path is updated only by notifications: meanwhile it observed an object that was no "
             "longer on it";
    case KVO_FAULT_BAD_INDEXES: return "the indexes tell observers which elements changed";
    case KVO_FAULT_BAD_CONFIGURATION: return "an invalid part is ignored";
    case KVO_FAULT_NIL_VALUE: return "the property's type cannot represent nil";
    case KVO_FAULT_BAD_OPERATOR: return "the operator is unknown, or cannot be applied here";
    case KVO_FAULT_OUT_OF_RANGE: return "the index is out of range";
    case KVO_FAULT_NIL_COLLECTION: return "the property has no collection to change";
    case KVO_FAULT_SELF_DEPENDENCY: return "a change of a key always notifies its own observers";
    case KVO_FAULT_BAD_COLLECTION_CHANGE: return "the arguments contradict each other";
  }
  return NULL;
}
