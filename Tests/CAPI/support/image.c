/* image.c - see image.h. */
#include "image.h"

#include "harness.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

unsigned image_add_name(image *to, const char *name) {
  size_t at = 1;
  while (to->names[at] != '\0') at += strlen(to->names + at) + 1;
  CHECK(at + strlen(name) + 1 < sizeof to->names);
  strcpy(to->names + at, name);
  return (unsigned)at;
}

image image_make(void) {
  image made = {.header = {.e_ident = ELFMAG,
                           .e_phoff = offsetof(image, segments),
                           .e_phentsize = sizeof(Elf64_Phdr),
                           .e_phnum = 2,
                           .e_shoff = offsetof(image, sections),
                           .e_shentsize = sizeof(Elf64_Shdr),
                           .e_shnum = 3}};
  made.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD, .p_memsz = sizeof made};
  made.segments[1] = (Elf64_Phdr){.p_type = PT_NOTE,
                                  .p_offset = offsetof(image, notes),
                                  .p_vaddr = offsetof(image, notes),
                                  .p_memsz = 36,
                                  .p_align = 4};
  Elf64_Nhdr note = {4, 20, NT_GNU_BUILD_ID};
  memcpy(made.notes, &note, sizeof note);
  memcpy(made.notes + sizeof note, "GNU", 4);
  memset(made.notes + sizeof note + 4, 0xb1, 20);
  made.sections[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                  .sh_offset = offsetof(image, symbols),
                                  .sh_size = 2 * sizeof(Elf64_Sym),
                                  .sh_entsize = sizeof(Elf64_Sym),
                                  .sh_link = 2};
  made.sections[2] =
      (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(image, names), .sh_size = sizeof made.names};
  made.symbols[1] = (Elf64_Sym){.st_name = image_add_name(&made, "inner"),
                                .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                .st_shndx = 1,
                                .st_value = IMAGE_FUNCTION,
                                .st_size = IMAGE_FUNCTION_SIZE};
  return made;
}

void image_write(const image *of, size_t size, const char *name) {
  int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0700);
  CHECK(fd >= 0 && write(fd, of, size) == (ssize_t)size);
  close(fd);
}

char *image_map(const char *name, void *at) {
  int fd = open(name, O_RDONLY);
  CHECK(fd >= 0);
  char *mapped = mmap(at, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at != NULL ? MAP_FIXED : 0), fd, 0);
  CHECK(mapped != MAP_FAILED);
  close(fd);
  return mapped;
}

char *image_load(const image *of, const char *name) {
  image_write(of, sizeof *of, name);
  return image_map(name, NULL);
}

const char *image_call_at(const void *address) {
  static char text[512];
  kvo_call_format((const char *)address + 1, text, sizeof text); /* a return address is behind its call */
  return text;
}

const char *image_build_id_at(const void *address) {
  static char text[4096];
  void *call = (char *)(uintptr_t)address + 1;
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = "x"};
  fault.frames = &call;
  fault.frame_count = 1;
  kvo_fault_format(&fault, KVO_REPORT_JSON, text, sizeof text);
  char *id = strstr(text, "\"buildId\":"), *end = strstr(text, ",\"symbol\":");
  if (id == NULL || end == NULL) return "no module";
  *end = '\0';
  return id + strlen("\"buildId\":");
}
