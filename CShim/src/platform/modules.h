/* modules.h - the executable and the libraries of the process, also those that are not loaded any more: modules.c. */
#ifndef KVO_MODULES_H
#define KVO_MODULES_H

#include "platform/platform.h"

/** An ELF file that is loaded, or was. What it points to lives for ever. */
typedef struct kvo_module {
  /** Where it was loaded from; "" of the executable, which is /proc/self/exe. */
  const char *path;
  /** What is to be added to an address of the file. */
  uintptr_t base;
  /** From its note, and where that is in the file; 0 bytes if it has none. */
  const unsigned char *build_id;
  size_t build_id_length;
  uintptr_t build_id_at;
  /** It has been unloaded since it was noted. */
  bool is_gone;
} kvo_module;

/** Finds the module whose code an address was when kvo__modules_look was called; if there was none, the one that was noted there last;
 * false when there was none either. Takes neither memory nor a lock, not even the loader's: it may be called in a signal handler and in the child of a fork. What is not
 * known yet is read from /proc/self/maps. */
KVO_HIDDEN bool kvo__module_find(const void *address, kvo_module *out);
/** Tells whether an address is in the code of a module. */
KVO_HIDDEN bool kvo__is_code(const void *address);
/** Before modules are asked for: looks which are loaded now. */
KVO_HIDDEN void kvo__modules_look(void);
/** Notes the modules of calls, so that they can be named when they are not loaded any more. */
KVO_HIDDEN void kvo__modules_note(void *const *frames, size_t count);

#endif /* KVO_MODULES_H */
