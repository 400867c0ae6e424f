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
      return "an observation made without KVO_ENDS_WITH_OBJECT, or with addObserver, must be removed before its object "
             "dies";
    case KVO_FAULT_NOT_REGISTERED:
      return "an observer can be removed only from the object, for the key path and with the context that it was added "
             "with";
    case KVO_FAULT_REMOVED_TWICE: return "a removal ends one observation, and this one was over";
    case KVO_FAULT_DANGLING_OBSERVER:
      return "an observer must be removed before it dies; on Apple's platforms this change would be told to freed "
             "memory";
    case KVO_FAULT_STALE_HANDLE: return "the death of an object ends its observations, and no id is used again";
    case KVO_FAULT_DYING_OBJECT: return "an object whose destruction has begun takes no more observers";
    case KVO_FAULT_INVALID_ARGUMENT: return "the function cannot do anything with this argument";
    case KVO_FAULT_UNDEFINED_KEY: return "a key names a property of an observable object, and here it names none";
    case KVO_FAULT_MALFORMED_KEY_PATH: return "a key path is keys joined by single dots";
    case KVO_FAULT_NEVER_NOTIFIES: return "nothing that the value is made of tells its changes";
    case KVO_FAULT_UNSUPPORTED_OBJECT: return "only objects of a registered class can be observed";
    case KVO_FAULT_NEVER_ENDED:
      return "what is still registered when the process ends has perhaps been forgotten, or is held in a circle";
    case KVO_FAULT_ENDED_UNUSED:
      return "the token was let go at once, and with it the observation: it must be kept as long as changes are to be "
             "told";
    case KVO_FAULT_AMBIGUOUS_REMOVAL:
      return "without a context it is a guess which of them is meant, and code of a superclass may lose its own";
    case KVO_FAULT_ENDLESS_WAIT:
      return "a callback that waits for its own end, also by way of another thread, waits for ever; it did not wait";
    case KVO_FAULT_THROUGH_COLLECTION: return "a collection has no properties of its elements to observe";
    case KVO_FAULT_DUPLICATE: return "each registration is told by itself";
    case KVO_FAULT_NO_INTERCEPTION:
      return "without executable memory no setter of a C class can be made to tell its changes; the object is as it "
             "was";
    case KVO_FAULT_OVERWRITTEN_HEADER: return "the header says whether setters notify, and belongs to the runtime";
    case KVO_FAULT_UNHANDLED: return "no class in the observer's hierarchy recognised the context";
    case KVO_FAULT_RECURSION: return "each delivery within a delivery takes more of the stack, which would overflow";
    case KVO_FAULT_UNSETTLED: return "each sets a value that makes the next one set again, without end";
    case KVO_FAULT_ABANDONED_DELIVERY:
      return "a callback must return: the runtime has to tell the other observers and to clean up";
    case KVO_FAULT_TYPE_MISMATCH: return "nothing is converted where something could be lost";
    case KVO_FAULT_SLOW_CALLBACK: return "the thread that sets a property waits until all its observers have returned";
    case KVO_FAULT_DID_WITHOUT_WILL:
      return "a change is announced by a pair: without will its old value is not known, and paths are not followed";
    case KVO_FAULT_UNFINISHED_CHANGE: return "a change is announced by a pair: observers are told at didChange only";
    case KVO_FAULT_CROSSED_THREADS:
      return "a pair belongs to its thread: two threads may announce changes of one key at once";
    case KVO_FAULT_DOUBLE_NOTIFICATION: return "a set between will and did is told by the setter, and once more by did";
    case KVO_FAULT_SILENT_CHANGE:
      return "an observed path follows only what it is told of: in between it observed an object that was no longer on "
             "it";
    case KVO_FAULT_BAD_INDEXES: return "the positions say to observers which elements have changed";
    case KVO_FAULT_BAD_CONFIGURATION: return "what is not understood is skipped";
    case KVO_FAULT_NIL_VALUE: return "the property's type has no nil";
    case KVO_FAULT_BAD_OPERATOR: return "the operator is not known, or needs another path or other elements";
    case KVO_FAULT_OUT_OF_RANGE: return "the collection has no such position";
    case KVO_FAULT_NIL_COLLECTION: return "there is no collection to change";
    case KVO_FAULT_SELF_DEPENDENCY: return "each change of the key would be a change of the key";
    case KVO_FAULT_BAD_COLLECTION_CHANGE: return "the arguments contradict each other";
  }
  return NULL;
}
