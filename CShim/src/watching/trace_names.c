/* trace_names.c - the names of slices and instants in a trace. */
#include "watching/trace.h"

#include "text/sink.h"

/* Describes an observation, such as "Chart.swift:41 (cpu) Gauge". */
static void describe_observation(const kvo_event_details *of, char *out, size_t size) {
  kvo_sink to = {.memory = out, .capacity = size, .fd = -1};
  char cut[KVO_TRACE_NAME / 2];
  const char *slash = of->file != NULL ? strrchr(of->file, '/') : NULL;
  if (of->file != NULL) {
    kvo__copy_cut(cut, sizeof cut, slash != NULL ? slash + 1 : of->file);
    kvo__put(&to, cut);
    kvo__put_byte(&to, ':');
    kvo__put_number(&to, of->line, 10);
  } else {
    kvo__put_address(&to, of->observation);
  }
  kvo__copy_cut(cut, sizeof cut, of->key_path);
  kvo__put(&to, " (");
  kvo__put(&to, cut);
  kvo__put(&to, of->is_prior ? ", before)" : ")");
  if (of->observer_class != NULL) {
    kvo__copy_cut(cut, sizeof cut, of->observer_class);
    kvo__put_byte(&to, ' ');
    kvo__put(&to, cut);
  }
  kvo__sink_end(&to);
}

static const char *verb(kvo_change_kind kind) {
  switch (kind) {
    case KVO_CHANGE_INSERTION: return "insert into ";
    case KVO_CHANGE_REMOVAL: return "remove from ";
    case KVO_CHANGE_REPLACEMENT: return "replace in ";
    case KVO_CHANGE_SETTING: break;
  }
  return "set ";
}

void kvo__trace_name(const kvo_event_details *what, char *out, size_t size) {
  kvo_sink to = {.memory = out, .capacity = size, .fd = -1};
  char first[2 * KVO_TRACE_NAME], second[KVO_TRACE_NAME];
  bool is_of_object = kvo__trace_begins_change(what->moment) || what->moment == KVO_MOMENT_DIED;
  if (is_of_object)
    kvo__copy_cut(first, KVO_TRACE_NAME, what->class_name);
  else
    describe_observation(what, first, sizeof first);
  switch (what->moment) {
    case KVO_MOMENT_REGISTERED: kvo__put(&to, "registered "); break;
    case KVO_MOMENT_ENDED: kvo__put(&to, "ended "); break;
    case KVO_MOMENT_CHANGE_BEGINS:
    case KVO_MOMENT_CHANGE_RESUMES: kvo__put(&to, verb(what->kind)); break;
    case KVO_MOMENT_DELIVERY_BEGINS: kvo__put(&to, "observer "); break;
    case KVO_MOMENT_DIED:
    case KVO_MOMENT_CHANGE_PAUSES:
    case KVO_MOMENT_CHANGE_ENDS:
    case KVO_MOMENT_DELIVERY_ENDS: break;
  }
  kvo__put(&to, first);
  if (what->moment == KVO_MOMENT_DIED) kvo__put(&to, " died");
  if (kvo__trace_begins_change(what->moment)) {
    kvo__copy_cut(second, sizeof second, what->key_path);
    kvo__put_byte(&to, '.');
    kvo__put(&to, second);
  }
  kvo__sink_end(&to);
}

const char *kvo__trace_category(kvo_moment moment) {
  if (kvo__trace_begins_change(moment)) return "change";
  return moment == KVO_MOMENT_DELIVERY_BEGINS ? "delivery" : "life";
}
