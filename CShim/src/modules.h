/* modules.h - the executable and the libraries of the process: modules.c. */
#ifndef KVO_MODULES_H
#define KVO_MODULES_H

#include "internal.h"

/** A loaded ELF file, as long as it stays loaded. */
typedef struct kvo_module {
  /** Where it was loaded from; "" of the executable, which is /proc/self/exe. The loader's. */
  const char *path;
  /** What is to be added to an address of the file. */
  uintptr_t base;
  /** From its note; 0 bytes if it has none. */
  const unsigned char *build_id;
  size_t build_id_length;
} kvo_module;

/** Finds the module whose code an address is; false when there is none. Takes no memory, and the loader's lock for a moment. */
KVO_HIDDEN bool kvo__module_find(const void *address, kvo_module *out);
/** Tells whether an address is in the code of a module. */
KVO_HIDDEN bool kvo__is_code(const void *address);

#endif /* KVO_MODULES_H */
