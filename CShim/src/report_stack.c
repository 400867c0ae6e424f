/* report_stack.c - stacks in a report for people: which calls are worth a line, and what finds them in the source later. */
#define _GNU_SOURCE
#include "report.h"

static void put_clean(kvo_sink *to, const char *name) { kvo__put_clean(to, name, strlen(name)); }

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool ends(const char *text, const char *with) {
  size_t length = strlen(text), of_end = strlen(with);
  return length >= of_end && memcmp(text + length - of_end, with, of_end) == 0;
}

/* What the compiler of Swift puts between a caller and a closure. */
static bool is_thunk(const char *symbol) {
  return symbol != NULL && begins(symbol, "$s") && (ends(symbol, "TA") || ends(symbol, "TR"));
}

/* Whose function a call is in. */
typedef enum kvo_origin {
  OF_PROGRAM,
  /** Within the runtime. */
  OF_RUNTIME,
  /** A function of the runtime or of the binding that programs may call. */
  ENTRY,
  /** Of the standard library of Swift, which calls closures, and may be specialised in any module. */
  GLUE
} kvo_origin;

/* The runtime may be linked into the program, so its functions are known by their names. */
static kvo_origin origin_of(const void *return_address) {
  kvo_code_place place = kvo__code_place(return_address);
  if (!place.is_known) return OF_PROGRAM;
  const char *file = strrchr(place.module.path, '/');
  if (file != NULL && begins(file, "/libkvo.so")) return OF_RUNTIME;
  if (file != NULL && strcmp(file, "/libswiftCore.so") == 0) return GLUE;
  if (place.symbol == NULL) return OF_PROGRAM;
  if (begins(place.symbol, "kvo__") || begins(place.symbol, "kvo_fault_raise")) return OF_RUNTIME;
  if (begins(place.symbol, "kvo_") || begins(place.symbol, "$s17KeyValueObserving")) return ENTRY;
  return begins(place.symbol, "$sS") || begins(place.symbol, "$ss") || is_thunk(place.symbol) ? GLUE : OF_PROGRAM;
}

/* The calls of a stack that are worth a line. */
typedef struct shown_calls {
  size_t index[16], count;
  /** How many more there are, for which there is no room. */
  size_t more;
} shown_calls;

/* The innermost calls are the runtime's own: of them only what the program called. Between them may be static functions of C, whose
 * names tell nothing. */
static size_t innermost_shown(void *const *frames, size_t count) {
  size_t shown = 0;
  bool entered = false;
  for (size_t i = 0; i < count; i++) {
    kvo_origin origin = origin_of(frames[i]);
    if (origin == OF_RUNTIME || origin == ENTRY)
      shown = i;
    else if (origin == OF_PROGRAM && (entered || i + 1 == count || origin_of(frames[i + 1]) == OF_PROGRAM))
      break;
    if (origin == ENTRY) entered = true;
  }
  return shown;
}

/* Who calls main is no news. */
static shown_calls shown_of(void *const *frames, size_t count) {
  shown_calls shown = {.count = 0, .more = 0};
  bool is_main = false;
  for (size_t i = innermost_shown(frames, count); i < count && !is_main; i++) {
    const char *symbol = kvo__code_place(frames[i]).symbol;
    is_main = symbol != NULL && strcmp(symbol, "main") == 0;
    if (is_thunk(symbol)) continue;
    if (shown.count < sizeof shown.index / sizeof *shown.index)
      shown.index[shown.count++] = i;
    else
      shown.more++;
  }
  return shown;
}

/* Not inlined: in a signal handler, whose stack may be small, this room is not needed. */
__attribute__((noinline)) static void put_demangled(kvo_sink *to, const char *symbol, kvo_put_string put) {
  char name[2048];
  const char *demangled = kvo__demangle(symbol, name, sizeof name);
  put(to, demangled, strlen(demangled));
}

void kvo__put_symbol(kvo_sink *to, const char *symbol, kvo_put_string put) {
  if (to->demangles)
    put_demangled(to, symbol, put);
  else
    put(to, symbol, strlen(symbol));
}

static void put_call(kvo_sink *to, const void *return_address) {
  kvo_code_place place = kvo__code_place(return_address);
  if (!place.is_known) {
    kvo__put_address(to, kvo__address(return_address));
    return;
  }
  char name[256];
  if (kvo__is_signal_return(return_address)) {
    kvo__put(to, "(a signal came)  ");
  } else if (place.symbol != NULL) {
    kvo__put_symbol(to, place.symbol, kvo__put_clean);
    kvo__put(to, "  ");
  }
  put_clean(to, kvo__module_name(&place.module, name, sizeof name));
  kvo__put_byte(to, '+');
  kvo__put_address(to, place.offset);
}

size_t kvo_call_format(const void *return_address, char *buffer, size_t size) {
  kvo_sink to = kvo__sink_of(buffer, size);
  to.demangles = kvo__can_demangle();
  put_call(&to, return_address);
  return kvo__sink_end(&to);
}

void kvo__put_function(kvo_sink *to, void (*function)(void)) {
  put_call(to, (const char *)(uintptr_t)function + 1); /* within it, as what a call returns to */
}

void kvo__put_stack(kvo_sink *to, void *const *frames, size_t count, const char *indent) {
  shown_calls shown = shown_of(frames, count);
  for (size_t i = 0; i < shown.count; i++) {
    kvo__put(to, indent);
    kvo__put_byte(to, '#');
    kvo__put_number(to, i, 10);
    kvo__put_byte(to, ' ');
    put_call(to, frames[shown.index[i]]);
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
    kvo_code_place place = kvo__code_place(frames[shown.index[i]]);
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
