/* modules.c - the modules of the process, from the kernel's list of mappings, remembered after they are unloaded. The loader's list is not
 * used for reports: reading it takes a lock, which may stay locked for ever in the child of a fork. */
#define _GNU_SOURCE
#include "platform/modules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifdef __GLIBC__
/* A statically linked program need not have these. */
#pragma weak dlopen
#pragma weak dladdr1
#endif

enum { MODULES_MAX_MODULES = 512, LONGEST_PATH = 200, LONGEST_ID = 32 };
enum { MODULES_FREE, MODULES_BUSY, READY };

typedef struct noted_module {
  /** FREE; BUSY while another thread, or code that a signal has interrupted, fills the entry; READY. */
  _Atomic uint32_t state;
  /** The number of the last scan that found it. */
  _Atomic uint32_t seen;
  /** The address range of its code, and the address where the beginning of the file is mapped. */
  uintptr_t begin, end, header_at;
  uintptr_t base;
  /** The build-id: its address in memory, its offset in the file, its length, which is 0 if there is none. */
  uintptr_t build_id_at, build_id_offset;
  size_t build_id_length;
  ElfW(Ehdr) header;
  unsigned char build_id[LONGEST_ID];
  char path[LONGEST_PATH];
} noted_module;

/* Later entries are newer: of two at the same address the later one is valid. */
static noted_module noted[MODULES_MAX_MODULES];

static const noted_module *at(size_t index) {
  return atomic_load_explicit(&noted[index].state, memory_order_acquire) == READY ? &noted[index] : NULL;
}

/* The newest module that has, or had, code at the address, searching from the entry before `*below` downwards; stores its index there. */
static const noted_module *modules_find(uintptr_t address, size_t *below) {
  for (size_t i = *below; i-- > 0;) {
    const noted_module *each = at(i);
    if (each == NULL || address < each->begin || address >= each->end) continue;
    *below = i;
    return each;
  }
  return NULL;
}

/* Scans are numbered; the number of the last one that has finished. */
static _Atomic uint32_t scans, last_scan;

static void set_at_least(_Atomic uint32_t *number, uint32_t least) {
  uint32_t present = atomic_load(number);
  while (present < least && !atomic_compare_exchange_weak(number, &present, least)) continue;
}

/* ---------------------------------------------------------------------------------------------------------- Reading -- */

/* Reads through /proc/self/mem, because reading memory that has just been unmapped then fails instead of crashing. */
static bool read_memory(int memory, uintptr_t address, void *to, size_t size) {
#ifdef __GLIBC__ /* whose off_t may have 32 bits, with a sign */
  return pread64(memory, to, size, (off64_t)address) == (ssize_t)size;
#else
  return pread(memory, to, size, (off_t)address) == (ssize_t)size;
#endif
}

/* A note is a header, a name and a description, each padded to the segment's alignment. */
static void read_build_id(int memory, const ElfW(Phdr) * segment, noted_module *into) {
  uintptr_t begin = into->base + segment->p_vaddr, to = begin + segment->p_memsz;
  uint64_t alignment = segment->p_align == 8 ? 8 : 4, whole;
  ElfW(Nhdr) note;
  for (uintptr_t from = begin; from < to && read_memory(memory, from, &note, sizeof note); from += whole) {
    uint64_t description = (sizeof note + note.n_namesz + alignment - 1) / alignment * alignment;
    if (description + note.n_descsz > to - from) return;
    whole = (description + note.n_descsz + alignment - 1) / alignment * alignment;
    char name[4] = "";
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof name || note.n_descsz > LONGEST_ID ||
        !read_memory(memory, from + sizeof note, name, sizeof name) || memcmp(name, "GNU", sizeof name) != 0)
      continue;
    into->build_id_at = from + description;
    if (!read_memory(memory, into->build_id_at, into->build_id, note.n_descsz)) return;
    into->build_id_offset = segment->p_offset + (into->build_id_at - begin);
    into->build_id_length = note.n_descsz;
    return;
  }
}

/* False if it is not an ELF file, or was unmapped meanwhile. */
static bool read_headers(int memory, noted_module *into) {
  if (!read_memory(memory, into->header_at, &into->header, sizeof into->header) ||
      memcmp(into->header.e_ident, ELFMAG, SELFMAG) != 0 || into->header.e_phentsize != sizeof(ElfW(Phdr)))
    return false;
  into->base = into->header_at;
  into->build_id_length = 0;
  for (int pass = 0; pass < 2; pass++) /* the first pass finds the load address */
    for (size_t i = 0; i < into->header.e_phnum; i++) {
      ElfW(Phdr) segment;
      uintptr_t segment_at = into->header_at + into->header.e_phoff + i * sizeof segment;
      if (!read_memory(memory, segment_at, &segment, sizeof segment)) return false;
      if (pass == 0 && segment.p_type == PT_LOAD && segment.p_offset == 0)
        into->base = into->header_at - segment.p_vaddr;
      if (pass == 1 && segment.p_type == PT_NOTE && into->build_id_length == 0) read_build_id(memory, &segment, into);
    }
  return true;
}

/* A line of /proc/self/maps. */
typedef struct mapping {
  uintptr_t begin, end, offset;
  bool is_code, is_file;
  char path[LONGEST_PATH];
} mapping;

/* Whether the same file is still mapped there: it has the same header and the same build-id. */
static bool is_there(int memory, const noted_module *module) {
  ElfW(Ehdr) header;
  unsigned char id[LONGEST_ID];
  return read_memory(memory, module->header_at, &header, sizeof header) &&
         memcmp(&header, &module->header, sizeof header) == 0 &&
         read_memory(memory, module->build_id_at, id, module->build_id_length) &&
         memcmp(id, module->build_id, module->build_id_length) == 0;
}

/* The newest entry for the mapping, if that module is still mapped there. */
static noted_module *noted_at(int memory, const mapping *code, uintptr_t header_at) {
  size_t below = MODULES_MAX_MODULES;
  const noted_module *found = modules_find(code->begin, &below);
  bool fits = found != NULL && found->end >= code->end && found->header_at == header_at && is_there(memory, found);
  return fits ? &noted[below] : NULL;
}

static void modules_note(int memory, const mapping *code, uintptr_t header_at, uint32_t number) {
  noted_module *present = noted_at(memory, code, header_at);
  if (present != NULL) {
    set_at_least(&present->seen, number);
    return;
  }
  noted_module found = {.begin = code->begin, .end = code->end, .header_at = header_at};
  if (!read_headers(memory, &found)) return;
  /* The executable is opened as /proc/self/exe, which also works when its file was replaced. */
  if (header_at + found.header.e_phoff != getauxval(AT_PHDR)) {
    size_t length = strlen(code->path), deleted = strlen(" (deleted)");
    if (length > deleted && strcmp(code->path + length - deleted, " (deleted)") == 0) length -= deleted;
    memcpy(found.path, code->path, length);
  }
  for (size_t i = 0; i < MODULES_MAX_MODULES; i++) {
    uint32_t free = MODULES_FREE;
    if (!atomic_compare_exchange_strong(&noted[i].state, &free, MODULES_BUSY)) continue;
    size_t from = offsetof(noted_module, begin);
    memcpy((char *)&noted[i] + from, (const char *)&found + from, sizeof found - from);
    atomic_store(&noted[i].seen, number);
    atomic_store_explicit(&noted[i].state, READY, memory_order_release);
    return;
  }
}

/* -------------------------------------------------------------------------------------------------------- The mappings -- */

typedef struct reader {
  int fd;
  char bytes[512];
  size_t next, count;
  bool has_ended;
} reader;

/* Returns the next byte; at the end, the end of a line. */
static int next_byte(reader *of) {
  if (of->next == of->count) {
    ssize_t got = read(of->fd, of->bytes, sizeof of->bytes);
    of->has_ended = got <= 0;
    if (of->has_ended) return '\n';
    of->count = (size_t)got;
    of->next = 0;
  }
  return (unsigned char)of->bytes[of->next++];
}

/* Reads hexadecimal digits, and stores the byte that follows them. */
static uintptr_t read_hexadecimal(reader *of, int *behind) {
  uintptr_t number = 0;
  for (;;) {
    int byte = next_byte(of), lower = byte | 0x20;
    bool is_letter = lower >= 'a' && lower <= 'f';
    *behind = byte;
    if (!is_letter && !(byte >= '0' && byte <= '9')) return number;
    number = 16 * number + (uintptr_t)(is_letter ? lower - 'a' + 10 : byte - '0');
  }
}

/* Reads a line "begin-end rwxp offset device inode path"; false if there is none. Of a path that is too long only the end is kept. */
static bool read_mapping(reader *of, mapping *out) {
  int byte;
  out->begin = read_hexadecimal(of, &byte);
  out->end = read_hexadecimal(of, &byte);
  char rights[4] = "";
  for (size_t i = 0; i < sizeof rights; i++) rights[i] = (char)next_byte(of);
  out->is_code = rights[2] == 'x';
  next_byte(of);
  out->offset = read_hexadecimal(of, &byte);
  for (int words = 0; words < 2 && byte != '\n'; words += byte == ' ') byte = next_byte(of);
  size_t length = 0;
  while (byte == ' ') byte = next_byte(of);
  out->is_file = byte == '/';
  for (; byte != '\n'; byte = next_byte(of)) {
    if (length + 1 == sizeof out->path) {
      size_t kept = sizeof out->path / 2;
      memmove(out->path, out->path + length - kept, kept);
      length = kept;
    }
    out->path[length++] = (char)byte;
  }
  out->path[length] = '\0';
  return !of->has_ended;
}

static void modules_look(void) {
  uint32_t number = atomic_fetch_add(&scans, 1) + 1;
  int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  reader maps = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
  mapping each;
  /* The last mapping with offset 0; the other mappings of that file follow it. */
  struct {
    uintptr_t at;
    char path[LONGEST_PATH];
  } file = {0, ""};
  while (memory >= 0 && maps.fd >= 0 && read_mapping(&maps, &each)) {
    if (!each.is_file && strcmp(each.path, "[vdso]") != 0) continue;
    if (each.offset == 0) {
      file.at = each.begin;
      memcpy(file.path, each.path, sizeof file.path);
    }
    if (each.is_code && strcmp(file.path, each.path) == 0) modules_note(memory, &each, file.at, number);
  }
  if (memory >= 0 && maps.fd >= 0) set_at_least(&last_scan, number);
  if (memory >= 0) close(memory);
  if (maps.fd >= 0) close(maps.fd);
}

void kvo__modules_look(void) {
  int cancellation = kvo__cancel_hold(); /* files are read, and the caller may hold locks */
  modules_look();
  kvo__cancel_resume(cancellation);
}

/* ------------------------------------------------------------------------------------------------------------ Asking -- */

bool kvo__module_find(const void *address, kvo_module *out) {
  const noted_module *last = NULL, *each;
  uint32_t present = atomic_load(&last_scan);
  for (size_t below = MODULES_MAX_MODULES; (each = modules_find((uintptr_t)address, &below)) != NULL;) {
    bool is_loaded = atomic_load(&each->seen) >= present;
    if (!is_loaded && last != NULL) continue;
    last = each;
    if (is_loaded) break;
  }
  if (last == NULL) return false;
  *out = (kvo_module){.path = last->path,
                      .base = last->base,
                      .build_id = last->build_id,
                      .build_id_length = last->build_id_length,
                      .build_id_offset = last->build_id_offset,
                      .is_gone = atomic_load(&last->seen) < present};
  return true;
}

bool kvo__is_code(const void *address) {
  size_t below = MODULES_MAX_MODULES;
  if (modules_find((uintptr_t)address, &below) != NULL) return true;
  kvo__modules_look();
  below = MODULES_MAX_MODULES;
  return modules_find((uintptr_t)address, &below) != NULL;
}

void kvo__modules_note(void *const *frames, size_t count) {
  /* A cache of pages that contained no module's code: frame pointers may lead anywhere, and a scan is slow. */
  static _Atomic uintptr_t elsewhere[256];
  for (size_t i = 0; i < count; i++) {
    uintptr_t address = (uintptr_t)frames[i], page = address >> 12;
    size_t below = MODULES_MAX_MODULES;
    if (modules_find(address, &below) != NULL ||
        atomic_load_explicit(&elsewhere[page % 256], memory_order_relaxed) == page)
      continue;
    if (!kvo__is_code(frames[i])) atomic_store_explicit(&elsewhere[page % 256], page, memory_order_relaxed);
  }
}

/* --------------------------------------------------------------------------------------------------------- Unloading -- */

static bool is_linked_to_stay(const struct dl_phdr_info *info, const ElfW(Phdr) * dynamic) {
  const ElfW(Dyn) *each = (const void *)(info->dlpi_addr + dynamic->p_vaddr);
  for (; each->d_tag != DT_NULL; each++)
    if (each->d_tag == DT_FLAGS_1) return (each->d_un.d_val & DF_1_NODELETE) != 0;
  return false;
}

typedef struct sought {
  uintptr_t address;
  kvo_module_range range;
  bool is_first, stays;
} sought;

static int look_at_module(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  sought *of = arg;
  uintptr_t begin = UINTPTR_MAX, end = 0;
  of->stays = of->is_first; /* the executable */
  of->is_first = false;
  for (size_t i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t at = info->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_DYNAMIC && !of->stays) of->stays = is_linked_to_stay(info, segment);
    if (segment->p_type != PT_LOAD) continue;
    if (at < begin) begin = at;
    if (at + segment->p_memsz > end) end = at + segment->p_memsz;
  }
  if (begin > end) return 0;
  of->range = (kvo_module_range){begin, end - begin};
  return kvo__is_in(&of->range, of->address);
}

bool kvo__module_may_go(const void *address, kvo_module_range *out) {
  sought of = {.address = (uintptr_t)address, .is_first = true};
  if (dl_iterate_phdr(look_at_module, &of) == 0 || of.stays || kvo__is_in(&of.range, (uintptr_t)noted)) return false;
  *out = of.range;
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- Pinning -- */

void kvo__module_pin(const void *address) {
  (void)address; /* musl unloads nothing */
#ifdef __GLIBC__
  Dl_info here;
  struct link_map *module = NULL;
  bool known = dladdr1 != NULL && dladdr1(address, &here, (void **)&module, RTLD_DL_LINKMAP) != 0 && module != NULL;
  if (known && module->l_name != NULL && module->l_name[0] != '\0' && dlopen != NULL)
    dlopen(module->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
#endif
}
