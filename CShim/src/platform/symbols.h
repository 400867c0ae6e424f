/* symbols.h - what is at an address of code: module, offset, function: symbols.c, elf.c. */
#ifndef KVO_SYMBOLS_H
#define KVO_SYMBOLS_H

#include "platform/modules.h"
#include "platform/stack.h"

/** A call. The strings stay valid for ever. */
typedef struct kvo_code_place {
  /** False: no module is there, and the rest is not set. */
  bool is_known;
  kvo_module module;
  /** Of the call in the module's file: what addr2line and llvm-symbolizer want. */
  uintptr_t offset;
  /** The function's name as the linker knows it; NULL of a stripped module, and of one whose file is gone. */
  const char *symbol;
} kvo_code_place;

/** Finds the call that a return address belongs to. Takes no memory; the names of a module's functions are read from its file, which
 * is mapped at the first question and stays so. May be called in a signal handler. */
KVO_HIDDEN kvo_code_place kvo__code_place(const void *return_address);

/** Stores the name of a module's file without its folder, cut short if it does not fit, and returns it. */
KVO_HIDDEN const char *kvo__module_name(const kvo_module *module, char *buffer, size_t size);

/** Tells whether names can be demangled here and now. It takes memory of the C library, so not when that is short, nor in a signal
 * handler, as far as the 64 innermost calls of the caller show one. */
KVO_HIDDEN bool kvo__can_demangle(const kvo_caller *caller);
/** Stores a name as its language writes it, cut short if it does not fit, and returns it: of Swift, in short, and of C++, when their
 * runtimes are loaded. Otherwise returns the name itself. Only when kvo__can_demangle. */
KVO_HIDDEN const char *kvo__demangle(const char *symbol, char *buffer, size_t size);

/** Makes a demangled name of Swift shorter, in place: without types, and without what says which file a private function is in. */
KVO_HIDDEN void kvo__shorten_swift(char *name);

/* ------------------------------------------------------------------------------------------------------------- elf.c -- */

/** Returns the name of the function of a module's file in which an address of the file lies, or NULL. */
KVO_HIDDEN const char *kvo__elf_function(const kvo_module *module, uintptr_t address);

#endif /* KVO_SYMBOLS_H */
