/* report_stack.c - stacks in text reports: the calls worth a line, and the modules to find them in the source later. */
#define _GNU_SOURCE
#include "text/report.h"

#include "platform/settings.h"

static void put_clean(kvo_sink *to, const char *name) { kvo__put_clean(to, name, strlen(name)); }

static bool report_stack_begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static bool ends(const char *text, const char *with) {
  size_t length = strlen(text), of_end = strlen(with);
  return length >= of_end && memcmp(text + length - of_end, with, of_end) == 0;
}

/* --------------------------------------------------------------------------------------------------- Library or program -- */

/* Code that the Swift compiler inserts between a caller and a closure, or between a requirement and its witness. */
static bool is_thunk(const char *symbol) {
  return report_stack_begins(symbol, "$s") && (ends(symbol, "TA") || ends(symbol, "TR") || ends(symbol, "TW"));
}

static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_letter(char c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }
static bool report_stack_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Skips an identifier: its length and its characters. After a `0` it consists of such parts and of letters, each of which stands for a word
 * that occurred before in the symbol; the last letter is in upper case. Returns the argument if there is none. */
static const char *past_identifier(const char *at) {
  const char *from = at;
  bool has_words = at[0] == '0' && at[1] != '0', is_encoded = at[0] == '0' && at[1] == '0';
  at += is_encoded ? 2 : has_words;
  do {
    for (; has_words && is_letter(*at); at++) has_words = !is_upper(*at);
    if (at != from && *at == '0') return at + 1;
    size_t length = 0;
    while (report_stack_is_digit(*at) && length < 1000) length = 10 * length + (size_t)(*at++ - '0');
    if (is_encoded && *at == '_') at++;
    if (length == 0 || strnlen(at, length) < length) return from;
    at += length;
  } while (has_words);
  return at;
}

static bool is_of_library_module(const char *name) {
  return report_stack_begins(name, "10Foundation") || report_stack_begins(name, "20FoundationEssentials") ||
         report_stack_begins(name, "17KeyValueObserving");
}

/* Foundation extends types of FoundationEssentials, and is then named by their module's first word. */
static bool is_of_foundation(const char *symbol, const char *name) {
  return report_stack_begins(symbol, "$s20FoundationEssentials") && report_stack_begins(name, "0A0E");
}

/* A function of Swift's standard library, which may be specialised in a module of the program, of Foundation or of the Swift layer; not one
 * of an extension by the program: `$sSa4AppE…`. */
static bool is_of_swift_library(const char *symbol) {
  const char *member;
  if (report_stack_begins(symbol, "$sS") && symbol[3] != '\0')
    member = symbol + 4;
  else if (report_stack_begins(symbol, "$ss"))
    member = past_identifier(symbol + 3);
  else if (report_stack_begins(symbol, "$s") && is_of_library_module(symbol + 2))
    member = past_identifier(past_identifier(symbol + 2));
  else
    return false;
  if (*member == '\0') return false;
  if (symbol[2] != 'S') {
    if (strchr("VOCP", *member) == NULL) return true; /* no member of a type */
    member++;
  }
  /* Of a nested type, such as `$sSS8UTF8ViewV5countSivg`, each name is followed by the letter of its kind, which may be `a` for C. */
  const char *end = past_identifier(member);
  while (end != member && *end != '\0' && strchr("VOCPa", *end) != NULL) {
    member = end + 1;
    end = past_identifier(member);
  }
  if (is_of_library_module(member) || is_of_foundation(symbol, member)) return true;
  /* Between the module and the `E` of an extension with constraints is their signature. */
  return end == member || (*end != 'E' && strstr(end, "lE") == NULL);
}

/* The runtime is often linked into the program. If the compiler supports it, its code is in a section of its own (platform/platform.h). */
extern const char __start_kvo_code[] __attribute__((weak, visibility("hidden")));
extern const char __stop_kvo_code[] __attribute__((weak, visibility("hidden")));

static bool is_of_runtime(const void *return_address, const kvo_code_place *place, const char *file) {
  if (report_stack_begins(file, "libkvo.so")) return true;
  const char *address = return_address, *begin = __start_kvo_code, *end = __stop_kvo_code;
  if (begin != end) return address > begin && address <= end;
  return place->symbol != NULL && report_stack_begins(place->symbol, "kvo_");
}

bool kvo__is_library_call(const void *return_address) {
  kvo_code_place place = kvo__code_place(return_address);
  if (!place.is_known) return false;
  const char *slash = strrchr(place.module.path, '/'), *file = slash != NULL ? slash + 1 : place.module.path;
  if (report_stack_begins(file, "libswift") || is_of_runtime(return_address, &place, file)) return true;
  if (place.symbol == NULL) return false;
  return is_thunk(place.symbol) || is_of_swift_library(place.symbol);
}

static bool report_stack_is_of_c_library(const void *return_address) {
  kvo_code_place place = kvo__code_place(return_address);
  const char *slash = place.is_known ? strrchr(place.module.path, '/') : NULL;
  return slash != NULL && (report_stack_begins(slash, "/libc.so") || report_stack_begins(slash, "/libc-") ||
                           report_stack_begins(slash, "/libpthread"));
}

/* Whether a call is in `main`, or in the function that Swift makes of it in a module. */
static bool report_stack_is_main(void *const *frames, size_t count, size_t index) {
  const char *symbol = kvo__code_place(frames[index]).symbol;
  if (symbol == NULL) return false;
  return strcmp(symbol, "main") == 0 ||
         (ends(symbol, "_main") && index + 1 < count && report_stack_is_of_c_library(frames[index + 1]));
}

enum { FEW_CALLS = 16, MAX_CALLS = 64 };

/* The calls of a stack that get a line. */
typedef struct shown_calls {
  size_t index[MAX_CALLS], count;
  /** How many more there are than fit. */
  size_t more;
} shown_calls;

/* How many calls there are up to `main`, whose caller is always the same, or up to the C library's function that starts a thread. */
static size_t relevant_count(void *const *frames, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (report_stack_is_main(frames, count, i)) return i + 1;
  while (count > 0 && report_stack_is_of_c_library(frames[count - 1])) count--;
  return count;
}

/* Selects the program's own calls, or all calls if there are none. */
static shown_calls shown_of(void *const *frames, size_t count) {
  shown_calls shown = {.count = 0, .more = 0};
  if (frames == NULL) count = 0; /* in a fault made by the program */
  bool all = kvo__settings.all_calls;
  size_t listed = all ? count : relevant_count(frames, count), own = 0;
  for (size_t i = 0; i < listed; i++) own += !kvo__is_library_call(frames[i]);
  if (own == 0) listed = count;
  for (size_t i = 0; i < listed; i++) {
    if (!all && own > 0 && kvo__is_library_call(frames[i])) continue;
    if (shown.count < (all ? MAX_CALLS : FEW_CALLS))
      shown.index[shown.count++] = i;
    else
      shown.more++;
  }
  return shown;
}

/* ------------------------------------------------------------------------------------------------------------ Calls -- */

/* Not inlined, so that a signal handler, whose stack may be small, does not need this buffer. */
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

void kvo__put_call(kvo_sink *to, const void *return_address) {
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
  if (place.module.is_gone) kvo__put(to, " (unloaded)");
}

void kvo__put_function(kvo_sink *to, void (*function)(void)) {
  kvo__put_call(to, (const char *)(uintptr_t)function + 1); /* an address inside it, like a return address */
}

void kvo__put_stack(kvo_sink *to, void *const *frames, size_t count, const char *indent) {
  shown_calls shown = shown_of(frames, count);
  for (size_t i = 0; i < shown.count; i++) {
    kvo__put(to, indent);
    kvo__put_byte(to, '#');
    kvo__put_number(to, i, 10);
    kvo__put_byte(to, ' ');
    kvo__put_call(to, frames[shown.index[i]]);
    kvo__put_byte(to, '\n');
  }
  if (shown.more == 0) return;
  kvo__put(to, indent);
  kvo__put_byte(to, '(');
  kvo__put_number(to, shown.more, 10);
  kvo__put(to, " more frames; KVO_REPORT=json lists them)\n");
}

/* ----------------------------------------------------------------------------------------------------------- Modules -- */

enum { REPORT_STACK_MAX_MODULES = 24 };

/* The modules of the shown calls. */
typedef struct module_list {
  kvo_module all[REPORT_STACK_MAX_MODULES];
  size_t count;
} module_list;

static void note_modules(module_list *into, void *const *frames, size_t count) {
  shown_calls shown = shown_of(frames, count);
  for (size_t i = 0; i < shown.count; i++) {
    kvo_code_place place = kvo__code_place(frames[shown.index[i]]);
    size_t known = 0;
    while (known < into->count && into->all[known].path != place.module.path) known++;
    if (place.is_known && known == into->count && known < REPORT_STACK_MAX_MODULES)
      into->all[into->count++] = place.module;
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
  if (list.count == REPORT_STACK_MAX_MODULES) kvo__put(to, ", and perhaps others; KVO_REPORT=json lists them");
  if (list.count > 0) kvo__put(to, " (kvo symbolize, or addr2line -Cfe MODULE 0xOFFSET, names lines)\n");
}
