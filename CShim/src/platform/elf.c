/* elf.c - names of functions from the symbol tables of ELF files. The loader keeps exported symbols only, and an executable exports none.
 * Files are not trusted: every read is checked to be inside the file. */
#define _GNU_SOURCE
#include "platform/symbols.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- Files -- */

/* A mapped file and the tables found in it; without tables it has no symbols. */
typedef struct kvo_elf {
  const char *symbols;
  size_t symbol_count;
  const char *strings;
  size_t strings_size;
} kvo_elf;

typedef struct elf_bytes {
  const char *at;
  size_t size;
} elf_bytes;

/* A pointer to bytes of the file; NULL if they are not inside it. */
static const char *within(elf_bytes file, uint64_t offset, uint64_t size) {
  return offset <= file.size && size <= file.size - offset ? file.at + offset : NULL;
}

/* Whether the file is the one that was loaded, and was not replaced since. Without a build-id, whose length is then 0, this is assumed. */
static bool elf_is_same(elf_bytes file, const kvo_module *module) {
  const char *note = within(file, module->build_id_offset, module->build_id_length);
  return note != NULL && memcmp(note, module->build_id, module->build_id_length) == 0;
}

static bool read_section(elf_bytes file, const ElfW(Ehdr) * header, uint64_t index, ElfW(Shdr) * out) {
  const char *at = within(file, header->e_shoff + index * sizeof *out, sizeof *out);
  if (at == NULL) return false;
  memcpy(out, at, sizeof *out);
  return true;
}

/* Finds the table of all symbols, or, in a stripped file, of exported ones. */
static void find_tables(elf_bytes file, kvo_elf *out) {
  ElfW(Ehdr) header;
  ElfW(Shdr) section, strings, found = {.sh_type = SHT_NULL};
  if (file.size < sizeof header) return;
  memcpy(&header, file.at, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof section) return;
  size_t count = header.e_shnum;
  if (count == 0 && read_section(file, &header, 0, &section)) count = section.sh_size;
  for (size_t i = 0; i < count && found.sh_type != SHT_SYMTAB; i++) {
    if (!read_section(file, &header, i, &section)) return;
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) found = section;
  }
  if (found.sh_type == SHT_NULL || found.sh_entsize != sizeof(ElfW(Sym)) ||
      !read_section(file, &header, found.sh_link, &strings))
    return;
  const char *symbols = within(file, found.sh_offset, found.sh_size);
  const char *names = within(file, strings.sh_offset, strings.sh_size);
  if (symbols == NULL || names == NULL || strings.sh_size == 0 || names[strings.sh_size - 1] != '\0') return;
  *out = (kvo_elf){symbols, found.sh_size / sizeof(ElfW(Sym)), names, strings.sh_size};
}

static kvo_elf elf_open_file(const kvo_module *module) {
  kvo_elf opened = {0};
  const char *path = module->path[0] != '\0' ? module->path : "/proc/self/exe";
  if (path[0] != '/') return opened; /* the kernel's code, or a path of which only the end is known */
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return opened;
  struct stat status;
  elf_bytes file = {MAP_FAILED, 0};
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    file.size = (size_t)status.st_size;
    file.at = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
  }
  close(fd);
  if ((const void *)file.at == MAP_FAILED) return opened;
  if (elf_is_same(file, module)) find_tables(file, &opened);
  if (opened.symbol_count == 0) munmap((void *)(uintptr_t)file.at, file.size);
  return opened;
}

static kvo_elf open_elf(const kvo_module *module) {
  int cancellation = kvo__cancel_hold();
  kvo_elf opened = elf_open_file(module);
  kvo__cancel_resume(cancellation);
  return opened;
}

/* ------------------------------------------------------------------------------------------------------------ Keeping -- */

enum { ELF_FREE, ELF_BUSY, MAX_FILES = 64 };

/* Files stay mapped, so that names stay valid. If all entries are in use, functions of further modules have no names. */
static struct {
  /** FREE; BUSY while another thread, or code that a signal has interrupted, opens the file; otherwise the key of the module. */
  _Atomic uint64_t of;
  kvo_elf elf;
} files[MAX_FILES];

static uint64_t hash(uint64_t hash, const void *of, size_t size) {
  const unsigned char *at = of;
  for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * 0x100000001b3;
  return hash;
}

/* Distinguishes two builds of a file that are loaded one after the other. */
static uint64_t elf_key_of(const kvo_module *module) {
  uint64_t key = hash(0xcbf29ce484222325, module->path, strlen(module->path));
  return hash(key, module->build_id, module->build_id_length) | 2;
}

static const kvo_elf *elf_file_of(const kvo_module *module) {
  uint64_t key = elf_key_of(module);
  for (size_t i = 0; i < MAX_FILES; i++) {
    uint64_t of = atomic_load_explicit(&files[i].of, memory_order_acquire);
    if (of == key) return &files[i].elf;
    if (of == ELF_FREE && atomic_compare_exchange_strong(&files[i].of, &of, ELF_BUSY)) {
      files[i].elf = open_elf(module);
      atomic_store_explicit(&files[i].of, key, memory_order_release);
      return &files[i].elf;
    }
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ Symbols -- */

/* The name of the function at an address; of several names the last global one. */
static const char *elf_search(const kvo_elf *file, uintptr_t address) {
  const char *found = NULL;
  for (size_t i = 0; i < file->symbol_count; i++) {
    ElfW(Sym) symbol;
    memcpy(&symbol, file->symbols + i * sizeof symbol, sizeof symbol);
    if (address - symbol.st_value >= symbol.st_size || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0 || symbol.st_name >= file->strings_size) continue;
    if (found == NULL || ELF64_ST_BIND(symbol.st_info) != STB_LOCAL) found = file->strings + symbol.st_name;
  }
  return found;
}

/* A cache: a table may have a hundred thousand symbols, and a program that goes on after faults looks up the same addresses again. */
typedef struct known_name {
  /** Odd while another thread, or code that a signal has interrupted, writes it. */
  _Atomic uint32_t version;
  const kvo_elf *_Atomic file;
  _Atomic uintptr_t address;
  const char *_Atomic name;
} known_name;

enum { SETS = 128, WAYS = 4 };
static known_name elf_known[SETS][WAYS];

static bool recall(known_name *entry, const kvo_elf *file, uintptr_t address, const char **name) {
  uint32_t version = atomic_load(&entry->version);
  *name = atomic_load(&entry->name);
  bool fits = atomic_load(&entry->file) == file && atomic_load(&entry->address) == address;
  return fits && version % 2 == 0 && atomic_load(&entry->version) == version;
}

static void remember(known_name *entry, const kvo_elf *file, uintptr_t address, const char *name) {
  uint32_t version = atomic_load(&entry->version);
  if (version % 2 != 0 || !atomic_compare_exchange_strong(&entry->version, &version, version + 1)) return;
  atomic_store(&entry->file, file);
  atomic_store(&entry->address, address);
  atomic_store(&entry->name, name);
  atomic_store(&entry->version, version + 2);
}

const char *kvo__elf_function(const kvo_module *module, uintptr_t address) {
  const kvo_elf *file = elf_file_of(module);
  if (file == NULL) return NULL;
  known_name *set = elf_known[hash(0, &address, sizeof address) % SETS];
  known_name *least = set; /* the one that was replaced least often */
  for (size_t i = 0; i < WAYS; i++) {
    const char *name;
    if (recall(&set[i], file, address, &name)) return name;
    if (atomic_load(&set[i].version) < atomic_load(&least->version)) least = &set[i];
  }
  const char *found = elf_search(file, address);
  remember(least, file, address, found);
  return found;
}
