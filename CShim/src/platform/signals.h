/* platform/signals.h - holds back the signals that a write may raise. */
#ifndef KVO_INTERNAL_SIGNALS_H
#define KVO_INTERNAL_SIGNALS_H

#include "platform/platform.h"

#include <signal.h>

/** The signals that a thread had blocked, and those that were pending, before kvo__signals_hold. */
typedef struct kvo_held_signals {
  sigset_t before, pending;
} kvo_held_signals;
/** Block SIGPIPE and SIGXFSZ on this thread, around calls that write to a file or extend it: they would end the process instead of SIGABRT,
 * or one that is to go on. The second consumes those that were raised meanwhile, except one that was pending before, and keeps errno. */
KVO_HIDDEN void kvo__signals_hold(kvo_held_signals *on);
KVO_HIDDEN void kvo__signals_release(kvo_held_signals *on);

#endif /* KVO_INTERNAL_SIGNALS_H */
