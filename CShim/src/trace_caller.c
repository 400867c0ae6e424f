/* trace_caller.c - who called a binding's setter that no observer called: the call of the program nearest to it. */
#include "symbols.h"
#include "trace.h"

#include <stdlib.h>

/* What a call is: the runtime may be linked into the program, where its own static functions look like the program's. */
typedef enum call_kind {
  OF_PROGRAM = 1,
  /** The runtime, a binding, or what they are called through. */
  BETWEEN,
  /** Of these, what programs call. */
  ENTRY
} call_kind;

/* What is known of a call, so that its names are looked up once. */
typedef struct known_call {
  const void *address;
  call_kind kind;
  char text[KVO_TRACE_NAME];
} known_call;

enum { KNOWN = 64, DEEPEST = 32 };
struct kvo_known_calls {
  known_call calls[KNOWN];
};

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* A setter of Swift: who calls it is wanted. */
static bool is_setter(const char *symbol) {
  size_t length = strlen(symbol);
  return begins(symbol, "$s") && length > 4 && (strcmp(symbol + length - 2, "vs") == 0 || strstr(symbol, "vM") != NULL);
}

static call_kind kind_of(const kvo_code_place *place) {
  const char *file = strrchr(place->module.path, '/'), *symbol = place->symbol;
  if (file != NULL && begins(file, "/libkvo.so")) return ENTRY;
  if (file != NULL && begins(file, "/libswiftCore.so")) return BETWEEN;
  if (symbol == NULL) return OF_PROGRAM;
  if (begins(symbol, "kvo__") || begins(symbol, "$sS") || begins(symbol, "$ss")) return BETWEEN;
  if (begins(symbol, "kvo_") || begins(symbol, "$s17KeyValueObserving") || is_setter(symbol)) return ENTRY;
  return OF_PROGRAM;
}

static known_call *look_up(kvo_thread *self, const void *address) {
  known_call *known = &self->known_calls->calls[(uintptr_t)address / 4 % KNOWN];
  if (known->address == address) return known;
  kvo_code_place place = kvo__code_place(address);
  known->address = address;
  known->kind = place.is_known ? kind_of(&place) : BETWEEN;
  if (known->kind == OF_PROGRAM) kvo_call_format(address, known->text, sizeof known->text);
  return known;
}

const char *kvo__trace_caller(void) {
  kvo_thread *self = kvo__thread();
  if (self == NULL || atomic_load_explicit(&self->depth, memory_order_relaxed) != 0) return NULL;
  if (self->known_calls == NULL && (self->known_calls = calloc(1, sizeof *self->known_calls)) == NULL) return NULL;
  void *frames[DEEPEST];
  size_t count = kvo__stack_capture(frames, DEEPEST);
  bool entered = false;
  for (size_t i = 0; i < count; i++) {
    known_call *known = look_up(self, frames[i]);
    if (known->kind == ENTRY) entered = true;
    if (known->kind != OF_PROGRAM || !entered) continue;
    /* A static function of the runtime has others of it around it. */
    size_t next = i + 1;
    while (next < count && next < i + 3 && look_up(self, frames[next])->kind == OF_PROGRAM) next++;
    if (next == count || next == i + 3) return look_up(self, frames[i])->text;
  }
  return NULL;
}
