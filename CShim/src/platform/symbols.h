/* platform/symbols.h - module, offset and function at an address of code: symbols.c, elf.c. */
#ifndef KVO_SYMBOLS_H
#define KVO_SYMBOLS_H

#include "platform/modules.h"
#include "platform/stack.h"

/** The location of a call. The strings stay valid for ever. */
typedef struct kvo_code_place {
  /** False if the address is in no module; then the rest is not set. */
  bool is_known;
  kvo_module module;
  /** The offset of the call in the module's file, as addr2line(1) and llvm-symbolizer take it. */
  uintptr_t offset;
  /** The function's linker name; NULL for a stripped module, and if the file cannot be read. */
  const char *symbol;
} kvo_code_place;

/** Finds the call that has this return address. Async-signal-safe: allocates nothing. A module's file is mapped at its first use, and stays
 * mapped. */
KVO_HIDDEN kvo_code_place kvo__code_place(const void *return_address);

/** Stores the name of a module's file without its directory, cut if it does not fit, and returns it. */
KVO_HIDDEN const char *kvo__module_name(const kvo_module *module, char *buffer, size_t size);

/** Returns whether names can be demangled now: demangling allocates, so not when memory is short, nor in a signal handler, as far as the 64
 * innermost calls of the caller show one. */
KVO_HIDDEN bool kvo__can_demangle(const kvo_caller *caller);
/** Stores the demangled name of a Swift function, shortened, or of a C++ function, cut if it does not fit, and returns it. Returns the name
 * itself if the language's runtime is not loaded. Call it only if kvo__can_demangle. */
KVO_HIDDEN const char *kvo__demangle(const char *symbol, char *buffer, size_t size);

/** Shortens a demangled Swift name in place: removes types, and the file of a private function. */
KVO_HIDDEN void kvo__shorten_swift(char *name);
/** Whether the process has Swift's runtime. */
KVO_HIDDEN bool kvo__has_swift(void);

/* ------------------------------------------------------------------------------------------------------------- elf.c -- */

/** Returns the name of the function that contains an address of the module's file, or NULL. */
KVO_HIDDEN const char *kvo__elf_function(const kvo_module *module, uintptr_t address);

#endif /* KVO_SYMBOLS_H */
