/* trace.h - the recorder of a Chrome trace: trace.c. */
#ifndef KVO_INTERNAL_TRACE_H
#define KVO_INTERNAL_TRACE_H

#include "watching/events.h"

/** Bytes of a name of the program's, and of a slice's; what is longer is cut. */
enum { KVO_TRACE_NAME = 160, KVO_TRACE_TITLE = 3 * KVO_TRACE_NAME };

/** Such as "set Host.load" and "observer Watch.swift:41 (load)". */
KVO_HIDDEN void kvo__trace_name(const kvo_event_details *what, char *out, size_t size);
KVO_HIDDEN const char *kvo__trace_category(kvo_moment moment);

KVO_HIDDEN void kvo__trace_note(const kvo_event_details *details);
/** Writes what has been recorded so far: the process is about to die. May be called in a signal handler. */
KVO_HIDDEN void kvo__trace_save(void);
/** The thread is no longer in the list of threads. */
KVO_HIDDEN void kvo__trace_thread_end(kvo_thread *thread);
/** In the child of a fork, which is not recorded: the file is its parent's. */
KVO_HIDDEN void kvo__trace_forked(void);

#endif /* KVO_INTERNAL_TRACE_H */
