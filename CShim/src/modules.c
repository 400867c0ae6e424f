/* modules.c - see modules.h. What the loader knows; no file is read. */
#define _GNU_SOURCE
#include "modules.h"

#include <link.h>

typedef struct kvo_module_search {
  uintptr_t address;
  kvo_module *out;
} kvo_module_search;

static bool is_in(const struct dl_phdr_info *info, const ElfW(Phdr) * segment, uintptr_t address) {
  uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
  return segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 && address >= begin &&
         address - begin < segment->p_memsz;
}

/* Notes are a header, a name and a description, each filled up to the segment's alignment. */
static void find_build_id(const struct dl_phdr_info *info, const ElfW(Phdr) * segment, kvo_module *out) {
  const char *at = (const char *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr);
  size_t left = segment->p_memsz, alignment = segment->p_align == 8 ? 8 : 4;
  while (left >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, at, sizeof note);
    size_t description = (sizeof note + note.n_namesz + alignment - 1) / alignment * alignment;
    if (description > left || note.n_descsz > left - description) return;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at + sizeof note, "GNU", 4) == 0) {
      out->build_id = (const unsigned char *)at + description;
      out->build_id_length = note.n_descsz;
      return;
    }
    size_t whole = (description + note.n_descsz + alignment - 1) / alignment * alignment;
    if (whole > left) return;
    at += whole;
    left -= whole;
  }
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  kvo_module_search *search = arg;
  bool found = false;
  for (size_t i = 0; i < info->dlpi_phnum && !found; i++) found = is_in(info, &info->dlpi_phdr[i], search->address);
  if (!found) return 0;
  *search->out = (kvo_module){.path = info->dlpi_name != NULL ? info->dlpi_name : "", .base = info->dlpi_addr};
  for (size_t i = 0; i < info->dlpi_phnum && search->out->build_id == NULL; i++)
    if (info->dlpi_phdr[i].p_type == PT_NOTE) find_build_id(info, &info->dlpi_phdr[i], search->out);
  return 1;
}

bool kvo__module_find(const void *address, kvo_module *out) {
  kvo_module_search search = {(uintptr_t)address, out};
  return dl_iterate_phdr(look_at, &search) != 0;
}

bool kvo__is_code(const void *address) {
  kvo_module module;
  return kvo__module_find(address, &module);
}
