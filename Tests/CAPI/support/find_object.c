/* find_object.c - a function of glibc that the unwinder of Debian's gcc calls, for programs with musl (scripts/check-ports.sh). */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>

/* glibc's structure of this name. */
struct found {
  unsigned long long flags;
  void *begin, *end;
  struct link_map *map;
  void *eh_frame;
  unsigned long long reserved[7];
};

struct search {
  uintptr_t address;
  struct found *found;
};

static int look_into(struct dl_phdr_info *module, size_t size, void *arg) {
  struct search *search = arg;
  (void)size;
  void *eh_frame = NULL;
  int is_here = 0;
  for (int i = 0; i < module->dlpi_phnum; i++) {
    uintptr_t begin = module->dlpi_addr + module->dlpi_phdr[i].p_vaddr, end = begin + module->dlpi_phdr[i].p_memsz;
    if (module->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) eh_frame = (void *)begin;
    if (module->dlpi_phdr[i].p_type != PT_LOAD || search->address < begin || search->address >= end) continue;
    is_here = 1;
    search->found->begin = (void *)begin;
    search->found->end = (void *)end;
  }
  search->found->eh_frame = eh_frame;
  return is_here && eh_frame != NULL;
}

int _dl_find_object(void *address, struct found *found);
int _dl_find_object(void *address, struct found *found) {
  struct search search = {(uintptr_t)address, found};
  return dl_iterate_phdr(look_into, &search) != 0 ? 0 : -1;
}
