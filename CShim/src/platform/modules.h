/* platform/modules.h - the executable and the libraries of the process, also unloaded ones: modules.c. */
#ifndef KVO_MODULES_H
#define KVO_MODULES_H

#include "platform/platform.h"

/** An ELF file that is or was loaded. The pointers stay valid for ever. */
typedef struct kvo_module {
  /** The path of the file; "" for the executable, which is /proc/self/exe. */
  const char *path;
  /** Add it to an address of the file to get one in memory. */
  uintptr_t base;
  /** The build-id and its offset in the file; 0 bytes if it has none. */
  const unsigned char *build_id;
  size_t build_id_length;
  uintptr_t build_id_offset;
  /** It has been unloaded. */
  bool is_gone;
} kvo_module;

/** Finds the module that had code at this address at the last kvo__modules_look, otherwise the last one known there; false if there was
 * none. Async-signal-safe: allocates nothing and takes no lock, not even the loader's. May be called in the child of a fork. */
KVO_HIDDEN bool kvo__module_find(const void *address, kvo_module *out);
/** Returns whether an address is in the code of a module, known or found by a scan. */
KVO_HIDDEN bool kvo__is_code(const void *address);
/** Finds out which modules are loaded now, from /proc/self/maps. Call it before kvo__module_find. */
KVO_HIDDEN void kvo__modules_look(void);
/** Notes the modules of these return addresses, so that reports can name them after they are unloaded. */
KVO_HIDDEN void kvo__modules_note(void *const *frames, size_t count);
/** Where a module is in memory. */
typedef struct kvo_module_range {
  uintptr_t begin, size;
} kvo_module_range;

/** Stores where the module is that has this address, and may be unloaded. False for an address in no module, in the executable, in the
 * module that contains this library, and in one that was linked to stay (-z nodelete). Takes the loader's lock. */
KVO_HIDDEN bool kvo__module_may_go(const void *address, kvo_module_range *out);
static inline bool kvo__is_in(const kvo_module_range *range, uintptr_t address) {
  return address - range->begin < range->size;
}
/** Keeps the module that has this address from being unloaded (dlclose(3)). */
KVO_HIDDEN void kvo__module_pin(const void *address);

#endif /* KVO_MODULES_H */
