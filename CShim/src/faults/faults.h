/* faults/faults.h - what serving/ and runtime.c call of faults/; hooks.h declares the faults. No lock may be held. */
#ifndef KVO_FAULTS_H
#define KVO_FAULTS_H

#include "lifetimes/lifetimes.h"

/** KVO0014: `count` observations have not ended; `places` has one of each source location, class and key path, and they are at `lines`
 * source locations. */
KVO_HIDDEN void kvo__fault_never_ended(const kvo_fault_observation *places, size_t place_count, size_t lines,
                                       size_t count);
/** Reports what is still observed, as KVO0014. At the end of the process. */
KVO_HIDDEN void kvo__report_leaks(void);
/** How many faults of this severity have been raised in the process. */
KVO_HIDDEN uint64_t kvo__fault_count(kvo_severity severity);
/** KVO0034 for environment variables that look like misspelt settings. */
KVO_HIDDEN void kvo__look_for_misspelt_names(void);

#endif /* KVO_FAULTS_H */
