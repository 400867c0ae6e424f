/* report_modules.c - what a report says of code whose file is stripped, gone, replaced or damaged: module, offset, build-id. */
#include "fixture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file beside the program of this test. */
static const char *beside(const char *name) {
  static char path[1024];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
  CHECK(length > 0);
  path[length] = '\0';
  snprintf(strrchr(path, '/') + 1, 64, "%s", name);
  return path;
}

/* ---------------------------------------------------------------------------------------------------------- Stripped -- */

static void execute(void *arg) { execl(arg, arg, (char *)NULL); }

/* The word behind `before`, which ends at a space, a comma or a line. */
static void word_behind(const char *report, const char *before, char *out, size_t size) {
  const char *at = strstr(report, before);
  if (at == NULL) harness_fail(__FILE__, __LINE__, "\"%s\" is not in:\n%s", before, report);
  at += strlen(before);
  snprintf(out, size, "%.*s", (int)strcspn(at, " ,\n"), at);
}

TEST("of a stripped program a report has the offsets and the build-id that find its symbols") {
  char named[64], stripped[64], named_id[64], stripped_id[64];
  child_result run = harness_run_child(execute, (void *)(uintptr_t)beside("faulting_program"), NULL);
  CHECK_EQ(run.signal, SIGABRT);
  word_behind(run.errors, "\n      #1 close_document  faulting_program+0x", named, sizeof named);
  word_behind(run.errors, "faulting_program build-id ", named_id, sizeof named_id);
  run = harness_run_child(execute, (void *)(uintptr_t)beside("faulting_program_stripped"), NULL);
  CHECK_EQ(run.signal, SIGABRT);
  word_behind(run.errors, "\n      #1 faulting_program_stripped+0x", stripped, sizeof stripped);
  word_behind(run.errors, "faulting_program_stripped build-id ", stripped_id, sizeof stripped_id);
  CHECK_EQ((const char *)stripped, (const char *)named);
  CHECK_EQ((const char *)stripped_id, (const char *)named_id);
  CHECK_EQ(strlen(stripped_id), (size_t)40);
  CHECK_SAME(strstr(run.errors, "close_document"), NULL);
}

/* ------------------------------------------------------------------------------------------------- Files that changed -- */

static char bytes[1 << 17];
static size_t byte_count;

static void write_file(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0700);
  CHECK(fd >= 0 && write(fd, bytes, byte_count) == (ssize_t)byte_count);
  close(fd);
}

/* Loads a copy of the module, puts other bytes in the place of its file, or none, and misuses. */
static void fault_in_copy(void *arg) {
  char loaded[128], path[64];
  snprintf(path, sizeof path, "kvo-modules-%ld.so", (long)getpid());
  snprintf(loaded, sizeof loaded, "./%s", path);
  FILE *module = fopen(beside("faulting_module.so"), "rb");
  CHECK(module != NULL);
  byte_count = fread(bytes, 1, sizeof bytes, module);
  CHECK(feof(module));
  fclose(module);
  write_file(path);
  void *copy = dlopen(loaded, RTLD_NOW);
  if (copy == NULL) harness_fail(__FILE__, __LINE__, "%s", dlerror());
  unlink(path); /* another file, for the loaded one stays mapped */
  void (*change)(void) = *(void (**)(void))arg;
  if (change != NULL) {
    change();
    write_file(path);
  }
  void *symbol = dlsym(copy, "fault_in_module");
  void (*fault)(void);
  memcpy(&fault, &symbol, sizeof fault);
  fault();
  unlink(path);
}

/* The report after a change of the module's file; whether it names the function. */
static bool names_function_after(void (*change)(void)) {
  child_result run = harness_run_child(fault_in_copy, &change, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(run.exit_code, 0);
  CHECK_CONTAINS(run.errors, "kvo-modules-");
  CHECK_CONTAINS(run.errors, ".so+0x");
  CHECK_CONTAINS(run.errors, "\n  more: ");
  return strstr(run.errors, "\n      #1 close_document  kvo-modules-") != NULL;
}

static void change_nothing(void) {}
static void empty(void) { byte_count = 0; }
static void halve(void) { byte_count /= 2; }
static void keep_header(void) { byte_count = 64; }
static void fill(void) { memset(bytes, 0xff, byte_count); }

/* Another build of the same file: whose symbols are elsewhere. */
static void another_build(void) {
  for (size_t i = 0; i + 4 + 20 <= 4096; i++)
    if (memcmp(bytes + i, "GNU\0", 4) == 0) bytes[i + 4] ^= 1;
}

TEST("a function is named from its module's file, unless that is gone, another, or no such file") {
  CHECK(names_function_after(change_nothing));
  CHECK(!names_function_after(NULL));
  CHECK(!names_function_after(empty));
  CHECK(!names_function_after(halve));
  CHECK(!names_function_after(keep_header));
  CHECK(!names_function_after(fill));
  CHECK(!names_function_after(another_build));
}

static unsigned seed;

/* In what says where the tables are, and in the tables; the build-id stays. */
static void damage(void) {
  for (int i = 0; i < 8; i++) {
    seed = seed * 1103515245 + 12345;
    size_t tables = byte_count - 4096, at = seed / 65536 % (tables + 24);
    bytes[at < 24 ? 40 + at : 4096 + at - 24] = (char)(seed >> 8);
  }
}

static void section_headers_far_away(void) { memset(bytes + 40, 0xff, 8); }
static void many_section_headers(void) { memset(bytes + 60, 0xff, 2); }

/* Sizes and offsets in all section headers. */
static void huge_sections(void) {
  uint64_t offset;
  memcpy(&offset, bytes + 40, sizeof offset);
  for (size_t at = offset + 24; at + 24 < byte_count; at += 64) memset(bytes + at, 0x7f, 16);
}

TEST("a damaged file costs names at the most") {
  names_function_after(section_headers_far_away);
  names_function_after(many_section_headers);
  names_function_after(huge_sections);
  int rounds = harness_is_instrumented() ? 10 : 200;
  for (seed = 1; rounds > 0; rounds--, seed += 77) names_function_after(damage);
}
