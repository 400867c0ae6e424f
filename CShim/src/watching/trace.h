/* watching/trace.h - the recorder of a Chrome trace: trace.c. */
#ifndef KVO_INTERNAL_TRACE_H
#define KVO_INTERNAL_TRACE_H

#include "text/sink.h"
#include "watching/events.h"

/** The size of a buffer for a name from the program, and for a slice's name; a longer name is cut. */
enum { KVO_TRACE_NAME = 160, KVO_TRACE_TITLE = 4 * KVO_TRACE_NAME };

static inline bool kvo__trace_begins_change(kvo_moment moment) {
  return moment == KVO_MOMENT_CHANGE_BEGINS || moment == KVO_MOMENT_CHANGE_RESUMES;
}
/** Makes the name of a slice, such as "set Host.load" or "observer Watch.swift:41 (load) Chart". */
KVO_HIDDEN void kvo__trace_name(const kvo_event_details *what, char *out, size_t size);
KVO_HIDDEN const char *kvo__trace_category(kvo_moment moment);

/** The program's calls that led to a change, innermost first. trace_calls.c. */
enum { KVO_TRACE_CALLS = 3 };
typedef struct kvo_trace_call {
  const void *return_address;
  /** The code is the library's, the language's, or a setter's: the change was made by a caller of it. */
  bool is_skipped;
  /** It is that of `main`, or of the C library. */
  bool is_last;
  /** The module has been named in this recording. */
  uint64_t named_in;
  /** The call as in a report, such as "App.Editor.edit(_:)  editor+0x204f3". */
  char text[2 * KVO_TRACE_NAME];
} kvo_trace_call;
/** Stores those of this thread that are shown, and returns how many there are. They are valid until the next call, which the caller has to
 * prevent with a lock. */
KVO_HIDDEN size_t kvo__trace_calls(kvo_trace_call *calls[KVO_TRACE_CALLS]);
/** Forgets the names of calls, at the beginning of a recording: other code may have been loaded there. */
KVO_HIDDEN void kvo__trace_forget_calls(void);
/** Puts what says where the file of a call's module is: the members name, path and buildId. False if that is not known. */
KVO_HIDDEN bool kvo__put_trace_module(kvo_sink *to, const kvo_trace_call *of);

/** kvo_trace_begin, which also stores the number of the recording; whether that recording goes on; and its end, if it does. */
KVO_HIDDEN kvo_status kvo__trace_begin_as(const char *path, uint64_t *number);
KVO_HIDDEN bool kvo__trace_goes_on(uint64_t number);
KVO_HIDDEN kvo_status kvo__trace_end_of(uint64_t number);
KVO_HIDDEN void kvo__trace_note(const kvo_event_details *details);
/** Records a fault. May be called in a signal handler. */
KVO_HIDDEN void kvo__trace_fault(const kvo_fault *fault);
/** Writes what has been recorded so far, when the process is about to die. May be called in a signal handler. */
KVO_HIDDEN void kvo__trace_save(void);
/** Ends the slices of a thread at the end of that thread. */
KVO_HIDDEN void kvo__trace_thread_end(kvo_thread *thread);
/** In the child of a fork: stops recording there, because the file belongs to the parent. */
KVO_HIDDEN void kvo__trace_forked(void);

#endif /* KVO_INTERNAL_TRACE_H */
