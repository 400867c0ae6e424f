/* report_images.c - module, offset, build-id and function in reports, for ELF files of unusual form and for mappings that change. */
#include "harness.h"
#include "image.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The name of a new file; it is valid until four others were asked for. */
static const char *fresh_name(void) {
  static char names[4][64];
  static int count;
  char *name = names[count % 4];
  snprintf(name, sizeof names[0], "kvo-image-%ld-%d.so", (long)getpid(), count++);
  return name;
}

/* Maps an image and removes its file, which the mapping keeps. */
static char *load_unnamed(const image *of) {
  const char *name = fresh_name();
  char *mapped = image_load(of, name);
  unlink(name);
  return mapped;
}

/* ---------------------------------------------------------------------------------------------------------- Build-ids -- */

typedef struct note {
  unsigned type;
  const char *name;
  unsigned name_size, size;
} note;

static size_t padded(size_t size, size_t alignment) { return (size + alignment - 1) / alignment * alignment; }

/* Writes the notes; the bytes of each description are 0xa0 and its index. Returns where the last description ends. */
static size_t write_notes(image *to, const note *notes, size_t count, size_t alignment) {
  size_t at = 0, end = 0;
  for (size_t i = 0; i < count; i++) {
    Elf64_Nhdr header = {notes[i].name_size, notes[i].size, notes[i].type};
    size_t description = at + padded(sizeof header + notes[i].name_size, alignment);
    end = description + notes[i].size;
    CHECK(end < sizeof to->notes);
    memcpy(to->notes + at, &header, sizeof header);
    memcpy(to->notes + at + sizeof header, notes[i].name, notes[i].name_size);
    memset(to->notes + description, 0xa0 + (int)i, notes[i].size);
    at = padded(end, alignment);
  }
  return end;
}

/* The build-id that JSON shows for a description of `size` bytes. */
static const char *id_of(size_t index, size_t size) {
  static char text[80];
  size_t length = (size_t)sprintf(text, "\"");
  for (size_t i = 0; i < size; i++) length += (size_t)sprintf(text + length, "%02x", 0xa0 + (unsigned)index);
  strcpy(text + length, "\"");
  return size > 0 ? text : "null";
}

static const struct {
  note notes[3];
  size_t count, expected, size;
} sequences[] = {
    {{{3, "GNU", 4, 20}}, 1, 0, 20},
    {{{3, "GNU", 4, 1}}, 1, 0, 1},
    {{{3, "GNU", 4, 32}}, 1, 0, 32},
    {{{3, "GNU", 4, 33}, {3, "GNU", 4, 20}}, 2, 1, 20}, /* it is too long to be kept */
    {{{1, "GNU", 4, 16}, {3, "GNU", 4, 20}, {3, "GNU", 4, 8}}, 3, 1, 20},
    {{{3, "XYZ", 4, 5}, {3, "GNU", 4, 20}}, 2, 1, 20},
    {{{3, "GNUGNU", 7, 3}, {3, "GNU", 4, 20}}, 2, 1, 20},
    {{{3, "GNU", 3, 6}, {3, "GNU", 4, 20}}, 2, 1, 20},
    {{{1, "", 0, 9}, {5, "abcdefgh", 9, 0}, {3, "GNU", 4, 20}}, 3, 2, 20},
    {{{1, "GNU", 4, 16}, {2, "GNU", 4, 20}}, 2, 0, 0},
};

TEST("a module's build-id is found between other notes, padded as the segment says") {
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    for (size_t alignment = 4; alignment <= 8; alignment += 4) {
      image made = image_make();
      made.segments[1].p_align = alignment;
      made.segments[1].p_memsz = write_notes(&made, sequences[i].notes, sequences[i].count, alignment);
      CHECK_EQ(image_build_id_at(load_unnamed(&made)), id_of(sequences[i].expected, sequences[i].size));
    }
}

TEST("notes that are not aligned to 8 bytes are aligned to 4, whatever their segment says") {
  for (size_t alignment = 0; alignment < 4; alignment++) {
    image made = image_make();
    made.segments[1].p_align = alignment;
    CHECK(strcmp(image_build_id_at(load_unnamed(&made)), "null") != 0);
  }
}

TEST("a note that does not end in its segment, and what is behind the segment, is not read") {
  static const note notes[] = {{1, "GNU", 4, 5}, {3, "GNU", 4, 20}};
  for (size_t cut = 0; cut < 60; cut++) {
    image made = image_make();
    size_t end = write_notes(&made, notes, 2, 4);
    made.segments[1].p_memsz = end - cut;
    CHECK_EQ(image_build_id_at(load_unnamed(&made)), id_of(1, cut == 0 ? 20 : 0));
  }
  for (int is_name = 0; is_name < 2; is_name++) {
    image made = image_make();
    memset(made.notes + (is_name ? 0 : 4), 0xff, 4);
    CHECK_EQ(image_build_id_at(load_unnamed(&made)), "null");
  }
}

TEST("of several segments with notes the first with a build-id counts, and segments that cannot be read are skipped") {
  image made = image_make();
  static const note notes[] = {{3, "GNU", 4, 20}, {3, "GNU", 4, 20}, {1, "GNU", 4, 20}};
  write_notes(&made, notes, 3, 4);
  for (int i = 0; i < 4; i++) { /* unreadable, without an id, the second note, the first one */
    made.segments[i] = made.segments[1];
    made.segments[i].p_vaddr = i == 0 ? 4096 : offsetof(image, notes) + (size_t)(3 - i) * 36;
  }
  made.header.e_phnum = 4;
  CHECK_EQ(image_build_id_at(load_unnamed(&made)), id_of(1, 20));
  made.header.e_phnum = 2;
  CHECK_EQ(image_build_id_at(load_unnamed(&made)), "null");
  made.segments[2].p_type = PT_NULL;
  made.header.e_phnum = 4;
  CHECK_EQ(image_build_id_at(load_unnamed(&made)), id_of(0, 20));
}

TEST("a build-id whose bytes cannot be read is none") {
  image made = image_make();
  made.segments[1].p_vaddr = 4096 - 16; /* the last bytes of the page that the file has */
  made.segments[1].p_memsz = 36;
  static char page[4096];
  memcpy(page, &made, sizeof made);
  memcpy(page + 4096 - 16, made.notes, 16);
  const char *name = fresh_name();
  image_write((const image *)(const void *)page, sizeof page, name);
  CHECK_EQ(image_build_id_at(image_map(name, NULL)), "null");
  unlink(name);
}

/* ------------------------------------------------------------------------------------------------------------ Offsets -- */

TEST("an offset is an address of the file, which begins where the segment with its first byte says") {
  image made = image_make();
  made.header.e_phnum = 4;
  made.segments[2] = made.segments[1];
  made.segments[0] = (Elf64_Phdr){.p_type = PT_PHDR, .p_vaddr = 0x50000};
  made.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = 0x1000, .p_vaddr = 0x70000};
  made.segments[3] = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x400000};
  made.segments[2].p_vaddr += 0x400000;
  made.symbols[1].st_value += 0x400000;
  const char *name = fresh_name();
  char *mapped = image_load(&made, name), expected[128];
  snprintf(expected, sizeof expected, "inner  %s+0x400104", name);
  for (int i = 0; i < 600; i++) /* more often than modules can be noted: it is known to be the same */
    CHECK_EQ(image_call_at(mapped + IMAGE_FUNCTION + 4), (const char *)expected);
  CHECK(strcmp(image_build_id_at(mapped), "null") != 0);
  unlink(name);
}

TEST("code that is mapped from no ELF file, or without the beginning of its file, has its address only") {
  image magic = image_make(), size = image_make(), many = image_make();
  magic.header.e_ident[0] = 'e';
  size.header.e_phentsize--;
  many.header.e_phnum = 200;
  const image *wrong[] = {&magic, &size, &many};
  char expected[64];
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char *mapped = load_unnamed(wrong[i]);
    snprintf(expected, sizeof expected, "%p", (void *)(mapped + 1));
    CHECK_EQ(image_call_at(mapped), (const char *)expected);
  }
  char *whole = load_unnamed(&magic);
  const char *name = fresh_name();
  image right = image_make();
  char *loaded = image_load(&right, name);
  CHECK(munmap(loaded, 4096) == 0);
  snprintf(expected, sizeof expected, "%p", (void *)(loaded + 4096 + 1));
  CHECK_EQ(image_call_at(loaded + 4096), (const char *)expected);
  CHECK(munmap(whole, 8192) == 0);
  unlink(name);
}

TEST("the code of a module is found where its file is mapped in several parts") {
  harness_skip_if_emulated("qemu-user fails where code is mapped again at an address");
  static char pages[3 * 4096];
  image made = image_make();
  memcpy(pages, &made, sizeof made);
  const char *name = fresh_name();
  image_write((const image *)(const void *)pages, sizeof pages, name);
  char *mapped = image_map(name, NULL), expected[128];
  CHECK(mprotect(mapped, 4096, PROT_READ) == 0); /* the headers are in a part without code */
  snprintf(expected, sizeof expected, "%s+0x1010", name);
  CHECK_EQ(image_call_at(mapped + 4096 + 16), (const char *)expected);
  unlink(name);
}

TEST("the code that the kernel adds to the process is named as it calls it") {
  char *vdso = (char *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
  if (vdso == NULL || harness_is_valgrind()) return;
  CHECK_CONTAINS(image_call_at(vdso + 0x100), "[vdso]+0x100");
}

/* -------------------------------------------------------------------------------------------------------------- Paths -- */

TEST("the name of a module's file is that from before the file was removed, and may have spaces") {
  harness_skip_if_emulated("qemu-user fails where code is mapped again at an address");
  image made = image_make();
  char *removed = load_unnamed(&made);
  CHECK_CONTAINS(image_call_at(removed), ".so+0x0");
  CHECK_EQ(strncmp(image_call_at(removed), "kvo-image-", 10), 0);
  char *spaced = image_load(&made, " kvo image (deleted) x ");
  unlink(" kvo image (deleted) x ");
  CHECK_EQ(image_call_at(spaced), " kvo image (deleted) x +0x0");
}

/* Makes a directory in the current one, and enters it. */
static void enter(const char *directory) {
  CHECK_EQ(mkdir(directory, 0700), 0);
  CHECK_EQ(chdir(directory), 0);
}

static void leave(const char *directory) {
  CHECK_EQ(chdir(".."), 0);
  CHECK_EQ(rmdir(directory), 0);
}

TEST("of a long path the end is kept: at least 99 bytes") {
  harness_skip_if_emulated("qemu-user fails where code is mapped again at an address");
  image made = image_make();
  char directory[256], name[96], expected[128];
  for (int length = 40; length < 240; length += 9) {
    snprintf(directory, sizeof directory, "%0*ld", length, (long)getpid());
    snprintf(name, sizeof name, "%095d", length);
    snprintf(expected, sizeof expected, "%s+0x1", name);
    enter(directory);
    CHECK_EQ(image_call_at(image_load(&made, name) + 1), (const char *)expected);
    unlink(name);
    leave(directory);
  }
}

/* ---------------------------------------------------------------------------------------------- Mappings that change -- */

/* The module's name and the offset 0, as long as it is loaded. */
static const char *call_in(const char *name) {
  static char text[128];
  snprintf(text, sizeof text, "%s+0x0", name);
  return text;
}

static const char *unloaded_call_in(const char *name) {
  static char text[128];
  snprintf(text, sizeof text, "%s+0x0 (unloaded)", name);
  return text;
}

/* valgrind does not ask the kernel whether an address is readable, so that what is unmapped, or beyond the file's end, is read. */
TEST("of the modules that were loaded at one address the present one is named, or, if there is none, the last one") {
  if (harness_is_valgrind()) return;
  image one = image_make(), other = image_make();
  other.notes[20] ^= 1;
  const char *first = fresh_name(), *second = fresh_name();
  char *mapped = image_load(&one, first);
  image_write(&other, sizeof other, second);
  CHECK_EQ(image_call_at(mapped), call_in(first));
  image_map(second, mapped);
  CHECK_EQ(image_call_at(mapped), call_in(second));
  munmap(mapped, 8192);
  CHECK_EQ(image_call_at(mapped), unloaded_call_in(second));
  image_map(first, mapped);
  CHECK_EQ(image_call_at(mapped), call_in(first));
  munmap(mapped, 8192);
  CHECK_CONTAINS(image_call_at(mapped), " (unloaded)");
  for (int i = 0; i < 600; i++) { /* more often than modules can be noted */
    image_map(second, mapped);
    CHECK_EQ(image_call_at(mapped), call_in(second));
    munmap(mapped, 8192);
    (void)image_call_at(mapped);
  }
  unlink(first);
  unlink(second);
}

TEST("two modules at one address are told apart by their headers, and by their build-ids") {
  image one = image_make(), other_header = one, other_id = one;
  other_header.header.e_entry = 1;
  other_id.notes[35] ^= 1;
  const image *images[] = {&one, &other_header, &other_id};
  const char *names[3];
  for (int i = 0; i < 3; i++) image_write(images[i], sizeof one, names[i] = fresh_name());
  char *mapped = image_map(names[0], NULL);
  for (int i = 0; i < 3; i++) {
    image_map(names[i], mapped);
    CHECK_EQ(image_call_at(mapped), call_in(names[i]));
  }
  for (int i = 0; i < 3; i++) unlink(names[i]);
}

TEST("a module that is mapped again with more code is known with all of it") {
  harness_skip_if_emulated("qemu-user fails where code is mapped again at an address");
  if (harness_is_valgrind()) return;
  image made = image_make();
  char *mapped = load_unnamed(&made);
  CHECK(mprotect(mapped + 4096, 4096, PROT_READ) == 0);
  CHECK_CONTAINS(image_call_at(mapped + 4095), ".so+0xfff");
  CHECK_EQ(strncmp(image_call_at(mapped + 4096), "0x", 2), 0);
  CHECK(mprotect(mapped + 4096, 4096, PROT_READ | PROT_EXEC) == 0);
  CHECK_CONTAINS(image_call_at(mapped + 4096), ".so+0x1000");
  CHECK_EQ(strncmp(image_call_at(mapped + 8192), "0x", 2), 0);
}
