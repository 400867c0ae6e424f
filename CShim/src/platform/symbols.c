/* symbols.c - module, offset and function of a call, and demangled names. */
#define _GNU_SOURCE
#include "platform/symbols.h"

#include <stdlib.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- Places -- */

kvo_code_place kvo__code_place(const void *return_address) {
  kvo_code_place place = {.is_known = false};
  /* The call instruction is before the return address, which may already be in the next function. */
  uintptr_t address = (uintptr_t)return_address - 1;
  place.is_known = kvo__module_find((const void *)address, &place.module);
  if (!place.is_known) return place;
  place.offset = address - place.module.base;
  place.symbol = kvo__elf_function(&place.module, place.offset);
  return place;
}

const char *kvo__module_name(const kvo_module *module, char *buffer, size_t size) {
  const char *path = module->path;
  size_t length = strlen(path);
  char executable[512];
  if (length == 0) {
    ssize_t read = readlink("/proc/self/exe", executable, sizeof executable);
    path = executable;
    length = read > 0 ? (size_t)read : 0;
  }
  size_t begin = length;
  while (begin > 0 && path[begin - 1] != '/') begin--;
  size_t kept = length - begin < size ? length - begin : size - 1;
  memcpy(buffer, path + begin, kept);
  buffer[kept] = '\0';
  return buffer;
}

/* ---------------------------------------------------------------------------------------------------------- Demangling -- */

/* Functions of libswiftCore and of the C++ runtime, if the process has loaded them. */
extern char *swift_demangle(const char *name, size_t length, char *buffer, size_t *size, uint32_t flags)
    __attribute__((weak));
extern char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status) __attribute__((weak));

bool kvo__has_swift(void) { return swift_demangle != NULL; }

bool kvo__can_demangle(const kvo_caller *caller) {
  enum { PLENTY = 1 << 18 };
  if ((swift_demangle == NULL && __cxa_demangle == NULL) || kvo__in_signal_handler(caller)) return false;
  void *volatile memory = malloc(PLENTY); /* volatile: the compiler would remove the allocation */
  free(memory);
  return memory != NULL;
}

const char *kvo__demangle(const char *symbol, char *buffer, size_t size) {
  enum { LONGEST = 2000 }; /* it limits their recursion */
  if (strlen(symbol) > LONGEST) return symbol;
  if (swift_demangle != NULL && (strncmp(symbol, "$s", 2) == 0 || strncmp(symbol, "$e", 2) == 0)) {
    size_t written = size;
    if (swift_demangle(symbol, strlen(symbol), buffer, &written, 0) == NULL) return symbol;
    buffer[size - 1] = '\0';
    kvo__shorten_swift(buffer);
    return buffer;
  }
  if (__cxa_demangle == NULL || strncmp(symbol, "_Z", 2) != 0) return symbol;
  int status;
  char *written = __cxa_demangle(symbol, NULL, NULL, &status);
  if (written == NULL) return symbol;
  size_t length = strlen(written);
  if (length >= size) length = size - 1;
  memcpy(buffer, written, length);
  buffer[length] = '\0';
  free(written);
  return buffer;
}
