/* runtime.c - assembles the rooms: the table of hooks, and what happens when the library is loaded and unloaded. */
#include "api/api.h"
#include "changes/scopes.h"
#include "changes/settle.h"
#include "hooks.h"
#include "methods/methods.h"
#include "platform/settings.h"
#include "registry/places.h"

#if KVO_DIAGNOSTICS
#include "faults/reporting.h"
#include "serving/serving.h"
#include "watching/slow.h"
#include "watching/trace.h"
#include "watching/traffic.h"
#endif

_Atomic uint32_t kvo__attention = KVO_NO_BARRIER; /* until kvo__threads_start has tried */

static void abandoned(kvo_thread *self, const void *frame) {
  uint32_t before = atomic_load(&self->depth);
  kvo__end_abandoned(self, frame);
  kvo__scopes_left(0, before);
}

static void unmark_below(kvo_thread *self, uint32_t depth) {
  uint32_t before = atomic_load(&self->depth);
  kvo__unmark_below(self, depth);
  kvo__scopes_left(depth + 1, before);
}

static void thread_ends(kvo_thread *self) {
  kvo__nodes_thread_end(self);
  kvo__end_all(self);
  kvo__unwind_drop(self);
  kvo__settle_thread_end(self);
  kvo__scopes_drop();
  kvo__manual_drop(); /* may run code of the program, with marks */
  kvo__old_objects_free(NULL);
  kvo__ids_thread_end(self);
#if KVO_DIAGNOSTICS
  kvo__trace_thread_end(self);
  kvo__slow_thread_end(self);
#endif
}

static void forked(void) {
  kvo__tracking_forked();
  kvo__pages_forked();
  kvo__bound_forked();
#if KVO_DIAGNOSTICS
  kvo__trace_forked();
  kvo__slow_forked();
  kvo__faults_forked();
  kvo__traffic_forked();
  kvo__serve_forked();
#endif
}

const struct kvo_hooks kvo__hooks = {
    .abandoned = abandoned,
    .unmark_below = unmark_below,
    .may_nest = kvo__may_nest_slowly,
    .told = kvo__told,
    .unwound = kvo__unwind_if_due,
    .thread_ends = thread_ends,
    .forked = forked,
    .class_ends = kvo__methods_end,
    .module_is_unused = kvo__module_is_unused,
    .intercepted = (kvo_function)kvo__intercepted,
    .is_open = kvo__is_open,
    .settle = kvo__settle_one,
    .binding_left = kvo__bound_left,
    .free_binding = kvo__bound_free,
    .free_observer = kvo__observer_free,
    .release_expression = kvo__tracked_release,
#if KVO_DIAGNOSTICS
    .change_begins = kvo__note_change_begins,
    .change_pauses = kvo__note_change_pauses,
    .change_resumes = kvo__note_change_resumes,
    .change_ends = kvo__note_change_ends,
    .registered = kvo__note_registered,
    .ended = kvo__note_ended,
    .delivery = kvo__note_delivery,
    .died = kvo__note_death,
    .serve = kvo__serve,
    .remember = kvo__remember_ended,
    .forget = kvo__forget_ended,
#endif
};

/* Before the program's constructors, which may create threads, observe and fork. */
__attribute__((constructor)) static void runtime_start(void) {
  kvo__settings_read();
  kvo__places_start();
  kvo__threads_start();
#if KVO_DIAGNOSTICS
  kvo__look_for_misspelt_names();
  kvo__tap_start();
  kvo__serve_start();
#endif
}

#if KVO_DIAGNOSTICS
__attribute__((destructor)) static void runtime_end(void) {
  kvo__serve_end();
  if (kvo__settings.leaks) kvo__report_leaks();
}
#endif
