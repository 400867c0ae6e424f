/* report_symbols.c - names of functions in reports, from the symbol tables of ELF files of unusual form. */
#include "harness.h"
#include "image.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The function that reports name at an address of the image, "" if none. Each image has a file of its own, because names are kept. */
static const char *function_at(const image *of, size_t size, size_t address) {
  static char name[64], text[128];
  static int count;
  snprintf(name, sizeof name, "kvo-symbols-%ld-%d.so", (long)getpid(), count++);
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

/* Adds an exported table with the function "exported", at the same address; it is in the sections `symbols` and `symbols` + 1. */
static void add_exported(image *to, size_t symbols) {
  to->symbols[3] = to->symbols[1];
  to->symbols[3].st_name = image_add_name(to, "exported");
  to->sections[symbols] = to->sections[1];
  to->sections[symbols].sh_type = SHT_DYNSYM;
  to->sections[symbols].sh_offset += 2 * sizeof(Elf64_Sym);
  to->header.e_shnum = 5;
}

TEST("a function is named from the table of all symbols, and only without one from that of the exported ones") {
  image made = image_make();
  add_exported(&made, 3);
  CHECK_EQ(function_of(&made), "inner");
  made.sections[1].sh_type = SHT_NULL;
  CHECK_EQ(function_of(&made), "exported");
  made.sections[4] = made.sections[1];
  made.sections[4].sh_type = SHT_SYMTAB;
  CHECK_EQ(function_of(&made), "inner");
  made.header.e_shnum = 4;
  CHECK_EQ(function_of(&made), "exported");
}

TEST("a file with more sections than its header can count has their number in the first one") {
  image made = image_make();
  made.header.e_shnum = 0;
  CHECK_EQ(function_of(&made), "");
  made.sections[0].sh_size = 3;
  CHECK_EQ(function_of(&made), "inner");
}

TEST("tables that end where the file ends are whole, and what is cut off names nothing") {
  image made = image_make();
  made.symbols[1].st_name = sizeof made.names - sizeof "inner";
  strcpy(made.names + made.symbols[1].st_name, "inner");
  CHECK_EQ(function_of(&made), "inner");
  CHECK_EQ(function_at(&made, sizeof made - 1, IMAGE_FUNCTION), "");
  made = image_make();
  made.sections[2].sh_offset = offsetof(image, notes) + 100; /* an empty table of names, in front */
  memcpy(made.notes + 100, made.names, 16);
  made.sections[2].sh_size = 16;
  size_t symbols_end = offsetof(image, symbols) + 2 * sizeof(Elf64_Sym);
  CHECK_EQ(function_at(&made, symbols_end, IMAGE_FUNCTION), "inner");
  CHECK_EQ(function_at(&made, symbols_end - 1, IMAGE_FUNCTION), "");
  made.sections[1].sh_offset = offsetof(image, notes) + 200; /* the section headers are last */
  memcpy(made.notes + 200, made.symbols, 2 * sizeof(Elf64_Sym));
  size_t sections_end = offsetof(image, sections) + 3 * sizeof(Elf64_Shdr);
  CHECK_EQ(function_at(&made, sections_end, IMAGE_FUNCTION), "inner");
  CHECK_EQ(function_at(&made, sections_end - 1, IMAGE_FUNCTION), "");
}

/* One change that makes the table invalid. */
enum change {
  NONE,
  LONGER_HEADERS,
  SHORTER_HEADERS,
  ENTRY_SIZE,
  LINK,
  NO_NAMES,
  OPEN_NAMES,
  FAR_SYMBOLS,
  FAR_NAMES,
  FAR_SECTIONS,
  NO_SECTIONS,
  NAME_BEHIND,
  NO_NAME,
  UNDEFINED,
  VARIABLE,
  CHANGES
};

static image changed(enum change change) {
  image made = image_make();
  switch (change) {
    case LONGER_HEADERS: made.header.e_shentsize++; break;
    case SHORTER_HEADERS: made.header.e_shentsize--; break;
    case ENTRY_SIZE: made.sections[1].sh_entsize++; break;
    case LINK: made.sections[1].sh_link = UINT32_MAX; break;
    case NO_NAMES: made.sections[2].sh_size = 0; break;
    case OPEN_NAMES: memset(made.names + 56, 'x', 8); break;
    case FAR_SYMBOLS: made.sections[1].sh_offset = sizeof made + 1; break;
    case FAR_NAMES: made.sections[2].sh_offset = UINT64_MAX; break;
    case FAR_SECTIONS: made.header.e_shoff = UINT64_MAX; break;
    case NO_SECTIONS: made.header.e_shoff = made.header.e_shnum = 0; break;
    case NAME_BEHIND: made.symbols[1].st_name = sizeof made.names; break;
    case NO_NAME: made.symbols[1].st_name = 0; break;
    case UNDEFINED: made.symbols[1].st_shndx = SHN_UNDEF; break;
    case VARIABLE: made.symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT); break;
    default: break;
  }
  return made;
}

TEST("a table of symbols in which something is wrong names nothing") {
  for (enum change change = NONE; change < CHANGES; change++) {
    image made = changed(change);
    CHECK_EQ(function_of(&made), change == NONE ? "inner" : "");
  }
}

TEST("of several functions at an address the last global one is named, otherwise the first") {
  image made = image_make();
  made.sections[1].sh_size = 5 * sizeof(Elf64_Sym);
  for (unsigned i = 2; i < 5; i++) made.symbols[i] = made.symbols[1];
  made.symbols[2].st_name = image_add_name(&made, "second");
  made.symbols[3].st_name = image_add_name(&made, "third");
  made.symbols[4].st_name = image_add_name(&made, "fourth");
  CHECK_EQ(function_of(&made), "fourth");
  made.symbols[4].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  CHECK_EQ(function_of(&made), "third");
  for (int i = 1; i < 5; i++) made.symbols[i].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  CHECK_EQ(function_of(&made), "inner");
  made.symbols[2].st_info = ELF64_ST_INFO(STB_WEAK, STT_FUNC);
  CHECK_EQ(function_of(&made), "second");
}

TEST("two builds of a file that are loaded one after the other have their own names") {
  image made = image_make();
  image_write(&made, sizeof made, "kvo-symbols.so");
  char *mapped = image_map("kvo-symbols.so", NULL);
  CHECK_EQ(strncmp(image_call_at(mapped + IMAGE_FUNCTION), "inner  ", 7), 0);
  made.notes[20] ^= 1;
  made.symbols[1].st_name = image_add_name(&made, "newer");
  unlink("kvo-symbols.so");
  image_write(&made, sizeof made, "kvo-symbols.so");
  image_map("kvo-symbols.so", mapped);
  CHECK_EQ(strncmp(image_call_at(mapped + IMAGE_FUNCTION), "newer  ", 7), 0);
  unlink("kvo-symbols.so");
}

/* --------------------------------------------------------------------------------------------------------- The cache -- */

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

/* The time of naming the functions at some addresses of the image. */
static long long time_of_calls(const char *mapped) {
  long long began = now();
  for (int i = 0; i < 16; i++) (void)image_call_at(mapped + 7 * i);
  return now() - began;
}

TEST("a function that was named before is named without searching a large table again") {
  enum { MANY = 1 << 20 };
  image made = image_make();
  made.sections[1].sh_offset = sizeof made;
  made.sections[1].sh_size = MANY * sizeof(Elf64_Sym);
  image_write(&made, sizeof made, "kvo-many-symbols.so");
  CHECK_EQ(truncate("kvo-many-symbols.so", (off_t)(sizeof made + made.sections[1].sh_size)), 0);
  char *mapped = image_map("kvo-many-symbols.so", NULL);
  (void)image_call_at(mapped + 4095); /* reads the file */
  long long first = time_of_calls(mapped), least = first;
  for (int i = 0; i < 5; i++) {
    long long again = time_of_calls(mapped);
    if (again < least) least = again;
  }
  unlink("kvo-many-symbols.so");
  CHECK(least < first / 4);
}
