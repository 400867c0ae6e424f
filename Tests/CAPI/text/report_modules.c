/* report_modules.c - module, offset and build-id in reports about code whose file is stripped, missing, replaced or damaged. */
#include "fixture.h"
#include "reported.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
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

TEST("source locations in a plug-in are reported also after it was unloaded") {
  skip_without_unloading();
  child_result run = harness_run_child(fault_after_unloading, NULL, "log");
  CHECK_EQ(run.signal, 0);
  CHECK_CONTAINS(run.errors, "first removed at ");
  CHECK_CONTAINS(run.errors, "willChange called at ");
  CHECK(occurrences(run.errors, "registered at ") >= 5);
  CHECK(occurrences(run.errors, "faulting.c:") >= 8);
  CHECK_CONTAINS(run.errors, "went on\n");
}

TEST("calls in an unloaded plug-in are named, with its build-id") {
  skip_without_unloading();
  harness_skip_without_frames();
  harness_environment("KVO_STACKS", "8");
  child_result run = run_with("KVO_REPORT", "json", fault_after_unloading, "log");
  CHECK_CONTAINS(run.errors, "\"symbol\":\"observe_in_module\",\"isLibrary\":false,\"isUnloaded\":true}");
  run = harness_run_child(fault_after_unloading, NULL, "log");
  CHECK_CONTAINS(run.errors, " observe_in_module  faulting_module.so+0x");
  CHECK_CONTAINS(run.errors, " remove_in_module  faulting_module.so+0x");
  CHECK_CONTAINS(run.errors, " (unloaded)\n");
  CHECK_CONTAINS(run.errors, " faulting_module.so build-id ");
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
