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
    .deallocated = kvo__fault_deallocated,
    .overwritten = kvo__fault_overwritten,
    .ended_before_change = kvo__fault_ended_before_change,
    .not_created = kvo__fault_not_created,
    .refused = kvo__fault_registration,
    .path_broken = kvo__fault_path_broken,
    .cannot_set = kvo__fault_cannot_set,
    .invalid_argument = kvo__fault_invalid_argument,
    .no_setter = kvo__fault_no_setter,
    .other_form = kvo__fault_other_form,
    .undefined = kvo__fault_undefined,
    .never_notifies = kvo__fault_never_notifies,
    .self_dependency = kvo__fault_self_dependency,
    .cannot_follow = kvo__fault_cannot_follow,
    .unsupported_object = kvo__fault_unsupported_object,
    .duplicate = kvo__fault_duplicate,
    .not_observing = kvo__fault_ended,
    .not_registered = kvo__fault_not_registered,
    .ambiguous = kvo__fault_ambiguous,
    .unused = kvo__fault_unused,
    .endless_wait = kvo__fault_endless_wait,
    .endless_death = kvo__fault_endless_death,
    .interrupted = kvo__fault_interrupted,
    .too_deep = kvo__fault_too_deep,
    .left = kvo__fault_abandoned,
    .unsettled = kvo__fault_unsettled,
    .slow = kvo__fault_slow,
    .avalanche = kvo__fault_avalanche,
    .no_will = kvo__fault_no_will,
    .unfinished = kvo__fault_unfinished,
    .crossed = kvo__fault_crossed,
    .doubled = kvo__fault_doubled,
    .silent_change = kvo__fault_silent_change,
    .unordered_indexes = kvo__fault_unordered_indexes,
    .other_indexes = kvo__fault_other_indexes,
    .unknown_key = kvo__warn_of_unknown_key,
    .misconfigured = kvo__complain,
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
  if (kvo__settings.leaks) kvo__tell_leaks();
}
#endif
