/* report_images.c - module, offset, build-id and function of a call, for ELF files of unusual form and for mappings that change. */
#include "harness.h"
#include "image.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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
    {{{3, "GNU", 4, 32}}, 1, 0, 32},
    {{{3, "GNU", 4, 33}, {3, "GNU", 4, 20}}, 2, 1, 20}, /* it is too long to be kept */
    {{{1, "GNU", 4, 16}, {3, "GNU", 4, 20}, {3, "GNU", 4, 8}}, 3, 1, 20},
    {{{3, "XYZ", 4, 5}, {3, "GNU", 4, 20}}, 2, 1, 20},
    {{{3, "GNUGNU", 7, 3}, {3, "GNU", 4, 20}}, 2, 1, 20},
    {{{3, "GNU", 3, 6}, {3, "GNU", 4, 20}}, 2, 1, 20},
    {{{1, "", 0, 9}, {5, "abcdefgh", 9, 0}, {3, "GNU", 4, 20}}, 3, 2, 20},
    {{{1, "GNU", 4, 16}, {2, "GNU", 4, 20}}, 2, 0, 0},
};

TEST("a build-id is found between other notes, padded to 8 bytes if the segment says so, and otherwise to 4") {
  static const size_t alignments[] = {0, 1, 3, 4, 8};
  for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
    for (size_t k = 0; k < sizeof alignments / sizeof *alignments; k++) {
      image made = image_make();
      made.segments[1].p_align = alignments[k];
      size_t padding = alignments[k] == 8 ? 8 : 4;
      made.segments[1].p_memsz = write_notes(&made, sequences[i].notes, sequences[i].count, padding);
      CHECK_EQ(image_build_id_at(load_unnamed(&made)), id_of(sequences[i].expected, sequences[i].size));
    }
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

/* ---------------------------------------------------------------------------------------------- Mappings that change -- */

/* valgrind does not ask the kernel whether an address is readable, so that what is unmapped, or beyond the file's end, is read. */
TEST("of the modules that were loaded at one address the present one is named, or, if there is none, the last one") {
  if (harness_is_valgrind()) return;
  image one = image_make(), other = image_make();
  other.notes[20] ^= 1;
  const char *first = fresh_name(), *second = fresh_name();
  char *mapped = image_load(&one, first), in_first[80], in_second[80], unloaded[80];
  snprintf(in_first, sizeof in_first, "%s+0x0", first);
  snprintf(in_second, sizeof in_second, "%s+0x0", second);
  snprintf(unloaded, sizeof unloaded, "%s+0x0 (unloaded)", second);
  CHECK_EQ(image_call_at(mapped), (const char *)in_first);
  image_write(&other, sizeof other, second);
  for (int i = 0; i < 600; i++) { /* more often than modules can be noted */
    image_map(second, mapped);
    CHECK_EQ(image_call_at(mapped), (const char *)in_second);
    munmap(mapped, 8192);
    CHECK_EQ(image_call_at(mapped), (const char *)unloaded);
    if (i > 0) continue;
    image_map(first, mapped);
    CHECK_EQ(image_call_at(mapped), (const char *)in_first);
  }
  unlink(first);
  unlink(second);
}

/* ---------------------------------------------------------------------------------------------------------- Functions -- */

/* The function that reports name at an address of the image, "" if none. Each image has a file of its own, because names are kept. */
static const char *function_at(const image *of, size_t size, size_t address) {
  static char text[128];
  const char *name = fresh_name();
  image_write(of, size, name);
  snprintf(text, sizeof text, "%s", image_call_at(image_map(name, NULL) + address));
  unlink(name);
  char *end = strstr(text, name);
  CHECK(end != NULL);
  *(end > text ? end - 2 : end) = '\0';
  return text;
}

static const char *function_of(const image *of) { return function_at(of, sizeof *of, IMAGE_FUNCTION); }

TEST("a function is named at its first and last byte, and not before and behind it") {
  image made = image_make();
  CHECK_EQ(function_at(&made, sizeof made, IMAGE_FUNCTION - 1), "");
  CHECK_EQ(function_at(&made, sizeof made, IMAGE_FUNCTION), "inner");
  CHECK_EQ(function_at(&made, sizeof made, IMAGE_FUNCTION + IMAGE_FUNCTION_SIZE - 1), "inner");
  CHECK_EQ(function_at(&made, sizeof made, IMAGE_FUNCTION + IMAGE_FUNCTION_SIZE), "");
}

TEST("a table of symbols in which something is wrong, or that is cut off, names nothing") {
  image made = image_make();
#define WRONG(member, value)                                                                                           \
  do {                                                                                                                 \
    image wrong = made;                                                                                                \
    wrong.member = (value);                                                                                            \
    if (strcmp(function_of(&wrong), "") != 0) harness_fail(__FILE__, __LINE__, #member " = " #value);                  \
  } while (0)
  WRONG(header.e_shentsize, made.header.e_shentsize + 1);
  WRONG(header.e_shentsize, made.header.e_shentsize - 1);
  WRONG(header.e_shoff, UINT64_MAX);
  WRONG(header.e_shoff, 0);
  WRONG(header.e_shnum, 0);
  WRONG(sections[1].sh_entsize, made.sections[1].sh_entsize + 1);
  WRONG(sections[1].sh_link, UINT32_MAX);
  WRONG(sections[1].sh_offset, sizeof made + 1);
  WRONG(sections[2].sh_offset, UINT64_MAX);
  WRONG(sections[2].sh_size, 0);
  WRONG(names[sizeof made.names - 1], 'x');
  WRONG(symbols[1].st_name, sizeof made.names);
  WRONG(symbols[1].st_name, 0);
  WRONG(symbols[1].st_shndx, SHN_UNDEF);
  WRONG(symbols[1].st_info, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT));
  WRONG(symbols[1].st_size, 0);
  CHECK_EQ(function_at(&made, sizeof made - 1, IMAGE_FUNCTION), "");
  CHECK_EQ(function_at(&made, offsetof(image, symbols), IMAGE_FUNCTION), "");
  CHECK_EQ(function_at(&made, offsetof(image, sections), IMAGE_FUNCTION), "");
  CHECK_EQ(function_of(&made), "inner");
}
