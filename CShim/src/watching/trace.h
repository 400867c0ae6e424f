/* watching/trace.h - the recorder of a Chrome trace: trace.c. */
#ifndef KVO_INTERNAL_TRACE_H
#define KVO_INTERNAL_TRACE_H

#include "watching/events.h"

/** The size of a buffer for a name from the program, and for a slice's name; a longer name is cut. */
enum { KVO_TRACE_NAME = 160, KVO_TRACE_TITLE = 4 * KVO_TRACE_NAME };

/** Makes the name of a slice, such as "set Host.load" or "observer Watch.swift:41 (load) Chart". */
KVO_HIDDEN void kvo__trace_name(const kvo_event_details *what, char *out, size_t size);
KVO_HIDDEN const char *kvo__trace_category(kvo_moment moment);

KVO_HIDDEN void kvo__trace_note(const kvo_event_details *details);
/** Writes what has been recorded so far, when the process is about to die. May be called in a signal handler. */
KVO_HIDDEN void kvo__trace_save(void);
/** Ends the slices of a thread at the end of that thread. */
KVO_HIDDEN void kvo__trace_thread_end(kvo_thread *thread);
/** In the child of a fork: stops recording there, because the file belongs to the parent. */
KVO_HIDDEN void kvo__trace_forked(void);

#endif /* KVO_INTERNAL_TRACE_H */
