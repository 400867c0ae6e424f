/* report_stack.c - stacks in a report for people: which calls are worth a line, and what finds them in the source later. */
#define _GNU_SOURCE
#include "report.h"

typedef enum kvo_origin { OF_PROGRAM, OF_LANGUAGE, OF_RUNTIME, ENTRY } kvo_origin;

static void put_clean(kvo_sink *to, const char *name) { kvo__put_clean(to, name, strlen(name)); }

static bool ends_with(const char *name, const char *end) {
  size_t length = strlen(name), end_length = strlen(end);
  return length >= end_length && strcmp(name + length - end_length, end) == 0;
}

/* What Swift puts between two functions: thunks, and functions of its library, which may be specialised in any module. */
static bool is_of_swift(const char *module, const char *symbol) {
  if (module != NULL && strcmp(module, "/libswiftCore.so") == 0) return true;
  if (symbol == NULL || strncmp(symbol, "$s", 2) != 0) return false;
  return symbol[2] == 's' || symbol[2] == 'S' || ends_with(symbol, "TR") || ends_with(symbol, "TRTA");
}

/* Whose function a call is in. The runtime may be linked into the program, so its functions are known by their names. */
static kvo_origin origin_of(const void *return_address) {
  static const char library[] = "libkvo.so", binding[] = "$s17KeyValueObserving";
  kvo_code_place place = kvo__code_place(return_address);
  if (!place.is_known) return OF_PROGRAM;
  const char *name = strrchr(place.module.path, '/');
  if (name != NULL && strncmp(name + 1, library, sizeof library - 1) == 0) return OF_RUNTIME;
  if (place.symbol == NULL) return OF_PROGRAM;
  if (strncmp(place.symbol, "kvo__", 5) == 0 || strncmp(place.symbol, "kvo_fault_raise", 15) == 0) return OF_RUNTIME;
  bool is_entry = strncmp(place.symbol, "kvo_", 4) == 0 || strncmp(place.symbol, binding, sizeof binding - 1) == 0;
  return is_entry ? ENTRY : is_of_swift(name, place.symbol) ? OF_LANGUAGE : OF_PROGRAM;
}

/* The calls of a stack that are worth a line. */
typedef struct shown_calls {
  size_t first, count;
  /** How many could not be shown for want of room. */
  size_t more;
} shown_calls;

/* The innermost calls are the runtime's own: of them only what the program called. Between them may be static functions, whose names
 * tell nothing. */
static size_t innermost_shown(void *const *frames, size_t count) {
  size_t shown = 0;
  bool entered = false;
  for (size_t i = 0; i < count; i++) {
    kvo_origin origin = origin_of(frames[i]);
    if (origin == OF_LANGUAGE) continue;
    if (origin != OF_PROGRAM)
      shown = i;
    else if (entered || i + 1 == count || origin_of(frames[i + 1]) == OF_PROGRAM)
      break;
    if (origin == ENTRY) entered = true;
  }
  return shown;
}

/* Who calls main is no news. */
static shown_calls shown_of(void *const *frames, size_t count) {
  enum { MOST = 16 };
  size_t first = innermost_shown(frames, count), end = first;
  for (bool is_main = false; end < count && !is_main; end++) {
    const char *symbol = kvo__code_place(frames[end]).symbol;
    is_main = symbol != NULL && strcmp(symbol, "main") == 0;
  }
  size_t all = end - first;
  return all <= MOST ? (shown_calls){first, all, 0} : (shown_calls){first, MOST, all - MOST};
}

static void put_call(kvo_sink *to, const void *return_address) {
  kvo_code_place place = kvo__code_place(return_address);
  if (!place.is_known) {
    kvo__put_address(to, kvo__address(return_address));
    return;
  }
  char name[512];
  if (kvo__is_signal_return(return_address)) {
    kvo__put(to, "(a signal came)  ");
  } else if (place.symbol != NULL) {
    put_clean(to, to->demangles ? kvo__demangle(place.symbol, name, sizeof name) : place.symbol);
    kvo__put(to, "  ");
  }
  put_clean(to, kvo__module_name(&place.module, name, sizeof name));
  kvo__put_byte(to, '+');
  kvo__put_address(to, place.offset);
}

void kvo__put_stack(kvo_sink *to, void *const *frames, size_t count, const char *indent) {
  shown_calls shown = shown_of(frames, count);
  for (size_t i = 0; i < shown.count; i++) {
    kvo__put(to, indent);
    kvo__put_byte(to, '#');
    kvo__put_number(to, i, 10);
    kvo__put_byte(to, ' ');
    put_call(to, frames[shown.first + i]);
    kvo__put_byte(to, '\n');
  }
  if (shown.more == 0) return;
  kvo__put(to, indent);
  kvo__put_byte(to, '(');
  kvo__put_number(to, shown.more, 10);
  kvo__put(to, " calls more, which KVO_REPORT=json lists)\n");
}

/* ----------------------------------------------------------------------------------------------------------- Modules -- */

enum { MOST_MODULES = 24 };

/* Those that the shown calls are in. */
typedef struct module_list {
  kvo_module all[MOST_MODULES];
  size_t count;
} module_list;

static void note_modules(module_list *into, void *const *frames, size_t count) {
  shown_calls shown = shown_of(frames, count);
  for (size_t i = 0; i < shown.count; i++) {
    kvo_code_place place = kvo__code_place(frames[shown.first + i]);
    size_t known = 0;
    while (known < into->count && into->all[known].base != place.module.base) known++;
    if (place.is_known && known == into->count && known < MOST_MODULES) into->all[into->count++] = place.module;
  }
}

void kvo__put_modules(kvo_sink *to, const kvo_fault *fault) {
  module_list list = {.count = 0};
  for (size_t i = 0; i < fault->site_count; i++)
    note_modules(&list, fault->sites[i].frames, fault->sites[i].frame_count);
  for (size_t i = 0; i < fault->observation_count; i++)
    note_modules(&list, fault->observations[i].frames, fault->observations[i].frame_count);
  note_modules(&list, fault->frames, fault->frame_count);
  for (size_t i = 0; i < list.count; i++) {
    char name[256];
    kvo__put(to, i == 0 ? "  modules: " : ", ");
    put_clean(to, kvo__module_name(&list.all[i], name, sizeof name));
    kvo__put(to, list.all[i].build_id_length > 0 ? " build-id " : " without build-id");
    kvo__put_build_id(to, &list.all[i]);
  }
  if (list.count == MOST_MODULES) kvo__put(to, ", and perhaps others, which KVO_REPORT=json names");
  if (list.count > 0) kvo__put(to, "\n    addr2line -Cfe MODULE 0xOFFSET names the line of a call\n");
}
