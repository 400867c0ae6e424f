/* report_modules.c - module, offset and build-id in reports about code whose file is stripped, missing, replaced or damaged. */
#include "fixture.h"
#include <kvo/kvo_binding.h>
#include <kvo/kvo_graph.h>

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file in the directory of this test program. */
static const char *beside(const char *name) {
  static char path[1024];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
  CHECK(length > 0);
  path[length] = '\0';
  snprintf(strrchr(path, '/') + 1, 64, "%s", name);
  return path;
}

/* ---------------------------------------------------------------------------------------------------------- Unloaded -- */

typedef struct plugin {
  void *handle;
  kvo_status (*observe)(kvo_object *object, const char *key_path, kvo_options options, kvo_observation *out);
  kvo_status (*remove)(kvo_observation observation);
  kvo_status (*announce)(kvo_object *object);
} plugin;

static void find_function(void *handle, const char *name, void *out) {
  void *symbol = dlsym(handle, name);
  CHECK(symbol != NULL);
  memcpy(out, &symbol, sizeof symbol);
}

static plugin load(void) {
  plugin loaded = {.handle = dlopen(beside("faulting_module.so"), RTLD_NOW)};
  CHECK(loaded.handle != NULL);
  find_function(loaded.handle, "observe_in_module", &loaded.observe);
  find_function(loaded.handle, "remove_in_module", &loaded.remove);
  find_function(loaded.handle, "announce_in_module", &loaded.announce);
  return loaded;
}

static void unload(plugin *loaded) {
  dlclose(loaded->handle);
  CHECK_SAME(dlopen(beside("faulting_module.so"), RTLD_NOW | RTLD_NOLOAD), NULL); /* it is unloaded */
}

static void skip_without_unloading(void) {
#ifndef __GLIBC__
  harness_skip("musl unloads nothing");
#endif
}

static void fault_after_unloading(void *arg) {
  (void)arg;
  item *object = item_make(1), *announced = item_make(2);
  kvo_observation removed, left, path, dead;
  plugin loaded = load();
  CHECK_OK(loaded.observe(as_object(object), "value", KVO_NEW, &removed));
  CHECK_OK(loaded.observe(as_object(object), "other", KVO_NEW, &left));
  CHECK_OK(loaded.observe(as_object(object), "next.value", KVO_NEW, &path));
  CHECK_OK(loaded.observe(as_object(announced), "quiet", KVO_NEW, &dead));
  CHECK_OK(loaded.announce(as_object(announced)));
  CHECK_OK(loaded.remove(removed));
  unload(&loaded);
  kvo_remove_observer(removed);
  kvo_remove_observer_for(as_object(object), NULL, "nothing");
  item_destroy(announced);
  item_destroy(object);
  fputs("went on\n", stderr);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) count++;
  return count;
}

TEST("source locations in a plug-in are reported also after it was unloaded") {
  skip_without_unloading();
  child_result run = harness_run_child(fault_after_unloading, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, "first removed at ");
  CHECK_CONTAINS(run.errors, "willChange called at ");
  CHECK(count_of(run.errors, "registered at ") >= 5);
  CHECK(count_of(run.errors, "faulting.c:") >= 8);
  CHECK_CONTAINS(run.errors, "went on\n");
}

TEST("calls in an unloaded plug-in are named, with its build-id") {
  skip_without_unloading();
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(fault_after_unloading, NULL, "log");
  CHECK_CONTAINS(run.errors, " observe_in_module  faulting_module.so+0x");
  CHECK_CONTAINS(run.errors, " remove_in_module  faulting_module.so+0x");
  CHECK_CONTAINS(run.errors, " (unloaded)\n");
  CHECK_CONTAINS(run.errors, " faulting_module.so build-id ");
}

static void remove_in_plugin_and_again(void *arg) {
  (void)arg;
  item *object = item_make(1);
  static watcher w;
  kvo_observation id = watch(object, "value", KVO_NEW, &w);
  plugin loaded = load();
  CHECK_OK(loaded.remove(id));
  kvo_remove_observer(id);
}

TEST("the modules of the calls of every location are listed, not only those of the fault") {
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = harness_run_child(remove_in_plugin_and_again, NULL, "log");
  const char *modules = strstr(run.errors, "\n  modules: ");
  CHECK(modules != NULL);
  CHECK_CONTAINS(modules, "faulting_module.so build-id ");
}

TEST("the calls of a fault that the program formats itself are named also in a module that was loaded just before") {
  char text[4096];
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = "x"};
  kvo_fault_format(&fault, KVO_REPORT_TEXT, text, sizeof text);
  void *module = dlopen(beside("faulting_module.so"), RTLD_NOW);
  CHECK(module != NULL);
  void *call = (char *)dlsym(module, "fault_in_module") + 1;
  fault.frames = &call;
  fault.frame_count = 1;
  kvo_fault_format(&fault, KVO_REPORT_TEXT, text, sizeof text);
  CHECK_CONTAINS(text, "\n      #0 fault_in_module  faulting_module.so+0x");
}

TEST("a call that the program formats is named also in a module that was loaded just before") {
  char text[4096];
  kvo_call_format((void *)(uintptr_t)kvo_fault_format, text, sizeof text);
  void *module = dlopen(beside("faulting_module.so"), RTLD_NOW);
  CHECK(module != NULL);
  kvo_call_format((char *)dlsym(module, "fault_in_module") + 1, text, sizeof text);
  CHECK_CONTAINS(text, "fault_in_module  faulting_module.so+0x");
}

TEST("events in an unloaded plug-in are reported") {
  skip_without_unloading();
  harness_environment("KVO_HISTORY", "64");
  child_result run = harness_run_child(fault_after_unloading, NULL, "log");
  CHECK_CONTAINS(run.errors, "registered \"other\" of Item@");
  CHECK(count_of(run.errors, "faulting.c:") >= 8);
}

static const char *kept_name;
static void note_file(const kvo_fault_observation *observation, void *arg) { (void)arg, kept_name = observation->file; }

/* The file name that is kept of a registration with this one. */
static const char *kept_of(const char *file) {
  static watcher w;
  item *object = item_make(0);
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  observer.file = file;
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  kvo_object_visit_observations(as_object(object), note_file, NULL);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
  return kept_name;
}

TEST("of a constant of the program no copy is made, and of what may change or be unloaded one") {
  static const char constant[] = "constant.c";
  static char variable[] = "variable.c";
  char local[] = "local.c";
  CHECK_SAME(kept_of(constant), constant);
  CHECK(kept_of(variable) != variable);
  CHECK_EQ(kept_of(variable), "variable.c");
  CHECK(kept_of(local) != local);
  CHECK_SAME(kept_of(local), kept_of(local)); /* one copy */
  CHECK_SAME(kept_of(NULL), NULL);
}

TEST("the same file name at another address is the same source location, and the number of distinct ones is limited") {
  item *object = item_make(0);
  static watcher w;
  char file[64];
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  observer.file = file;
  const char *first = NULL;
  for (int i = 0; i < 20000; i++) {
    kvo_observation id;
    snprintf(file, sizeof file, "script-%d.lua", i < 10000 ? i % 10 : i);
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
    memset(file, 'x', 8);
    kvo_graph *graph;
    if (i % 1000 == 0) {
      CHECK_OK(kvo_snapshot(&graph));
      CHECK_EQ(graph->observation_count, (size_t)1);
      if (i < 10000) CHECK_EQ(graph->observations[0].file, "script-0.lua");
      if (i == 0) first = graph->observations[0].file;
      kvo_graph_free(graph);
    }
    CHECK_OK(kvo_remove_observer(id));
  }
  CHECK_EQ(first, "script-0.lua");
}

TEST("the names of 4000 files are kept, and beyond 5000 no others, but those still are") {
  char file[64];
  for (int i = 0; i < 6000; i++) {
    snprintf(file, sizeof file, "script-%d.lua", i);
    const char *name = kept_of(file);
    CHECK(i > 4000 || name != NULL);
    CHECK(i < 5000 || name == NULL);
    if (name != NULL) CHECK_EQ(name, (const char *)file);
  }
  CHECK_EQ(kept_of("script-1.lua"), "script-1.lua");
}

/* ---------------------------------------------------------------------------------------------------------- Stripped -- */

static void execute(void *arg) { harness_execute(arg, (char *[2]){NULL, NULL}); }

/* The word after `before`, up to a space, a comma or the end of the line. */
static void word_behind(const char *report, const char *before, char *out, size_t size) {
  const char *at = strstr(report, before);
  if (at == NULL) harness_fail(__FILE__, __LINE__, "\"%s\" is not in:\n%s", before, report);
  at += strlen(before);
  snprintf(out, size, "%.*s", (int)strcspn(at, " ,\n"), at);
}

TEST("the report of a stripped program has the offsets and the build-id with which its symbols are found") {
  char named[64], stripped[64], named_id[64], stripped_id[64];
  child_result run = harness_run_child(execute, (void *)(uintptr_t)beside("faulting_program"), NULL);
  CHECK_EQ(run.signal, SIGABRT);
  word_behind(run.errors, "\n      #0 close_document  faulting_program+0x", named, sizeof named);
  word_behind(run.errors, "faulting_program build-id ", named_id, sizeof named_id);
  run = harness_run_child(execute, (void *)(uintptr_t)beside("faulting_program_stripped"), NULL);
  CHECK_EQ(run.signal, SIGABRT);
  word_behind(run.errors, "\n      #0 faulting_program_stripped+0x", stripped, sizeof stripped);
  word_behind(run.errors, "faulting_program_stripped build-id ", stripped_id, sizeof stripped_id);
  CHECK_EQ((const char *)stripped, (const char *)named);
  CHECK_EQ((const char *)stripped_id, (const char *)named_id);
  CHECK_EQ(strlen(stripped_id), (size_t)40);
  CHECK_CONTAINS(run.errors, "\n      #1 faulting_program_stripped+0x"); /* it is not known which call is in main */
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

/* Loads a copy of the module, replaces or removes its file, and causes a fault in it. */
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
  unlink(path); /* so that a new file is made: the loaded one stays mapped */
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

/* Whether the report names the function after a change of the module's file. */
static bool names_function_after(void (*change)(void)) {
  child_result run = harness_run_child(fault_in_copy, &change, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_EQ(run.exit_code, 0);
  CHECK_CONTAINS(run.errors, "kvo-modules-");
  CHECK_CONTAINS(run.errors, ".so+0x");
  CHECK_CONTAINS(run.errors, "\n  more: ");
  return strstr(run.errors, "\n      #0 close_document  kvo-modules-") != NULL;
}

static void change_nothing(void) {}
static void empty(void) { byte_count = 0; }
static void halve(void) { byte_count /= 2; }
static void keep_header(void) { byte_count = 64; }
static void fill(void) { memset(bytes, 0xff, byte_count); }

/* Another build of the same file, with symbols at other addresses. */
static void another_build(void) {
  for (size_t i = 0; i + 4 + 20 <= 4096; i++)
    if (memcmp(bytes + i, "GNU\0", 4) == 0) bytes[i + 4] ^= 1;
}

TEST("a function is named from its module's file, unless that is missing, another one, or not an ELF file") {
  CHECK(names_function_after(change_nothing));
  CHECK(!names_function_after(NULL));
  CHECK(!names_function_after(empty));
  CHECK(!names_function_after(halve));
  CHECK(!names_function_after(keep_header));
  CHECK(!names_function_after(fill));
  CHECK(!names_function_after(another_build));
}

static unsigned seed;

/* Damages the headers and the tables, but not the build-id. */
static void damage(void) {
  for (int i = 0; i < 8; i++) {
    seed = seed * 1103515245 + 12345;
    size_t tables = byte_count - 4096, at = seed / 65536 % (tables + 24);
    bytes[at < 24 ? 40 + at : 4096 + at - 24] = (char)(seed >> 8);
  }
}

static void section_headers_far_away(void) { memset(bytes + 40, 0xff, 8); }
static void many_section_headers(void) { memset(bytes + 60, 0xff, 2); }

/* The sizes and offsets in all section headers. */
static void huge_sections(void) {
  uint64_t offset;
  memcpy(&offset, bytes + 40, sizeof offset);
  for (size_t at = offset + 24; at + 24 < byte_count; at += 64) memset(bytes + at, 0x7f, 16);
}

enum { SECTION_HEADER = 64, SYMTAB = 2, DYNSYM = 11 };

/* Calls the table of all symbols one of exported symbols, so that the headers after it are read, too. */
static void without_full_table(void) {
  uint64_t offset;
  uint32_t exported = DYNSYM, type;
  memcpy(&offset, bytes + 40, sizeof offset);
  for (size_t at = offset + 4; at + sizeof type <= byte_count; at += SECTION_HEADER) {
    memcpy(&type, bytes + at, sizeof type);
    if (type == SYMTAB) memcpy(bytes + at, &exported, sizeof exported);
  }
}

/* The section headers are at the end of the file. */
static void without_last_section_header(void) {
  without_full_table();
  byte_count -= SECTION_HEADER;
}

TEST("a file whose list of sections is cut off names nothing") {
  CHECK(names_function_after(without_full_table));
  CHECK(!names_function_after(without_last_section_header));
}

/* The names of the symbols that are being changed. */
static const char *symbol_names;
static const char *symbol_name(const Elf64_Sym *symbol) { return symbol_names + symbol->st_name; }

/* Changes each symbol in the file's tables. */
static void change_symbols(void (*change)(Elf64_Sym *symbol)) {
  uint64_t offset;
  memcpy(&offset, bytes + 40, sizeof offset);
  for (size_t at = offset; at + sizeof(Elf64_Shdr) <= byte_count; at += sizeof(Elf64_Shdr)) {
    Elf64_Shdr section;
    memcpy(&section, bytes + at, sizeof section);
    if (section.sh_type != SYMTAB && section.sh_type != DYNSYM) continue;
    Elf64_Shdr strings;
    memcpy(&strings, bytes + offset + section.sh_link * sizeof strings, sizeof strings);
    symbol_names = bytes + strings.sh_offset;
    for (size_t i = 0; i + sizeof(Elf64_Sym) <= section.sh_size; i += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, bytes + section.sh_offset + i, sizeof symbol);
      change(&symbol);
      memcpy(bytes + section.sh_offset + i, &symbol, sizeof symbol);
    }
  }
}

static void name_beyond(Elf64_Sym *symbol) { symbol->st_name = UINT32_MAX; }
static void name_none(Elf64_Sym *symbol) { symbol->st_name = 0; }
static void define_elsewhere(Elf64_Sym *symbol) { symbol->st_shndx = SHN_UNDEF; }
static void call_data(Elf64_Sym *symbol) { symbol->st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT); }
static void empty_function(Elf64_Sym *symbol) { symbol->st_size = 0; }

static void names_beyond(void) { change_symbols(name_beyond); }
static void no_names(void) { change_symbols(name_none); }
static void undefined(void) { change_symbols(define_elsewhere); }
static void data(void) { change_symbols(call_data); }
static void empty_functions(void) { change_symbols(empty_function); }

TEST("only a function that is defined in the file, with a size and a name, gives its name") {
  void (*const changes[])(void) = {names_beyond, no_names, undefined, data, empty_functions};
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    child_result run = harness_run_child(fault_in_copy, (void *)(uintptr_t)&changes[i], "log");
    CHECK_EQ(run.signal, 0);
    CHECK_CONTAINS(run.errors, "\n      #0 kvo-modules-"); /* with the offset only */
  }
}

static Elf64_Sym static_one;

static void note_static_one(Elf64_Sym *symbol) {
  bool is_wanted = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
  if (is_wanted && strcmp(symbol_name(symbol), "close_document") == 0) static_one = *symbol;
}

/* Gives the global function the address of the static one. */
static void alias(Elf64_Sym *symbol) {
  if (strcmp(symbol_name(symbol), "remove_in_module") != 0) return;
  symbol->st_value = static_one.st_value;
  symbol->st_size = static_one.st_size;
}

/* Exchanges which of them is global. */
static void exchange(Elf64_Sym *symbol) {
  alias(symbol);
  if (strcmp(symbol_name(symbol), "close_document") == 0) symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  if (strcmp(symbol_name(symbol), "remove_in_module") == 0) symbol->st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
}

static void with_alias(void) {
  change_symbols(note_static_one);
  change_symbols(alias);
}

static void with_local_alias(void) {
  change_symbols(note_static_one);
  change_symbols(exchange);
}

TEST("of a function with a static and a global name the global one is shown, wherever it is in the table") {
  void (*change)(void) = with_alias;
  CHECK_CONTAINS(harness_run_child(fault_in_copy, &change, "log").errors, "\n      #0 remove_in_module  kvo-modules-");
  CHECK(names_function_after(with_local_alias));
}

TEST("a damaged file loses names, and nothing else") {
  names_function_after(section_headers_far_away);
  names_function_after(many_section_headers);
  names_function_after(huge_sections);
  int rounds = harness_is_instrumented() ? 10 : 200;
  for (seed = 1; rounds > 0; rounds--, seed += 77) names_function_after(damage);
}
