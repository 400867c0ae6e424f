/* report_calls.c - which calls of a stack a text report shows, and which modules it lists. */
#include "image.h"
#include "reported.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32], files[32][32];
static size_t file_count;

/* Makes a folder for the modules, and enters it: their names may be those of system libraries. */
static void enter_folder(void) {
  if (sizeof(void *) != 8) harness_skip("the ELF files that it makes are of 64 bits");
  snprintf(folder, sizeof folder, "kvo-calls-%ld", (long)getpid());
  CHECK(mkdir(folder, 0700) == 0 && chdir(folder) == 0);
}

static void leave_folder(void) {
  for (size_t i = 0; i < file_count; i++) unlink(files[i]);
  CHECK(chdir("..") == 0 && rmdir(folder) == 0);
}

static void *map_as(const image *of, const char *file) {
  snprintf(files[file_count++], sizeof files[0], "%s", file);
  return image_load(of, file) + IMAGE_FUNCTION + 4;
}

/* A call in a function of this name, in a module of its own. */
static void *call_in(const char *file, const char *function) {
  image made = image_make();
  made.symbols[1].st_name = image_add_name(&made, function);
  return map_as(&made, file);
}

/* The functions of the calls that a report shows, or the addresses of those that are in no module. */
static const char *functions_of(void *const *frames, size_t count) {
  static char names[1024];
  size_t length = 0;
  kvo_fault fault = fault_of("x");
  fault.frames = frames;
  fault.frame_count = count;
  names[0] = '\0';
  for (const char *at = formatted(&fault, KVO_REPORT_TEXT); (at = strstr(at, "\n      #")) != NULL;) {
    at += strlen("\n      #");
    at += strcspn(at, " ") + 1;
    const char *separator = length > 0 ? " " : "";
    length += (size_t)snprintf(names + length, sizeof names - length, "%s%.*s", separator, (int)strcspn(at, " \n"), at);
  }
  return names;
}

#define FUNCTIONS(...)                                                                                                 \
  functions_of((void *[]){__VA_ARGS__}, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *)) /* of exactly these */

TEST("a stack is shown up to main, or up to the function that Swift makes of it in a module") {
  enter_folder();
  void *own = call_in("app.so", "edit"), *other = call_in("other.so", "other"), *c = call_in("libc.so.6", "start");
  void *real_main = call_in("main.so", "main"), *swift_main = call_in("swift.so", "app_main");
  CHECK_EQ(FUNCTIONS(own, real_main, other, c), "edit main");
  CHECK_EQ(FUNCTIONS(own, swift_main, c, c), "edit app_main");
  CHECK_EQ(FUNCTIONS(own, swift_main, other, c), "edit app_main other"); /* nothing calls it: it only has the name */
  CHECK_EQ(FUNCTIONS(own, swift_main), "edit app_main");
  leave_folder();
}

TEST("the C library's functions that start a thread are left out, unless a stack has no others") {
  static const char *const libraries[] = {"libc.so.6", "libc-2.31.so", "libpthread-2.31.so"};
  enter_folder();
  void *own = call_in("app.so", "edit"), *unknown = (void *)(uintptr_t)0x1000;
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    void *c = call_in(libraries[i], "start");
    CHECK_EQ(FUNCTIONS(own, c, c), "edit");
    CHECK_EQ(FUNCTIONS(c, own, c), "start edit"); /* one that has called the program back */
    CHECK_EQ(FUNCTIONS(c, c), "start start");
    CHECK_EQ(FUNCTIONS(own, unknown), "edit 0x1000");
  }
  leave_folder();
}

TEST("calls of Swift's libraries are left out, unless a stack has no others") {
  enter_folder();
  void *own = call_in("app.so", "edit"), *swift = call_in("libswiftCore.so", "call");
  void *unknown = (void *)(uintptr_t)0x1000;
  CHECK_EQ(FUNCTIONS(swift, own, swift), "edit");
  CHECK_EQ(FUNCTIONS(swift, unknown, swift, own), "0x1000 edit");
  CHECK_EQ(FUNCTIONS(swift, swift), "call call");
  leave_folder();
}

TEST("of a deep stack sixteen calls are shown, and how many more there are") {
  enter_folder();
  void *frames[28], *own = call_in("app.so", "edit");
  for (size_t i = 0; i < 28; i++) frames[i] = own;
  kvo_fault fault = fault_of("x");
  fault.frames = frames;
  fault.frame_count = 28;
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT),
                 "\n      #15 edit  app.so+0x103\n      (12 more frames; KVO_REPORT=json lists them)\n");
  fault.frame_count = 16;
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), "\n      #15 edit  app.so+0x103\n");
  CHECK_SAME(strstr(formatted(&fault, KVO_REPORT_TEXT), "more frames"), NULL);
  leave_folder();
}

/* ------------------------------------------------------------------------------------------------------ Their modules -- */

#define ID "b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1"
#define ADVICE " (kvo symbolize, or addr2line -Cfe MODULE 0xOFFSET, names lines)\n"

TEST("the modules of all calls are listed once each: those of the places, of the registrations and of the fault") {
  enter_folder();
  image made = image_make();
  made.segments[1].p_type = PT_NULL;
  void *calls[] = {call_in("a.so", "a"), call_in("b.so", "b"), call_in("c.so", "c"), map_as(&made, "plain.so")};
  void *of_fault[] = {call_in("e.so", "e"), calls[0]};
  const kvo_fault_site sites[] = {{.label = "one", .age = -1, .frames = &calls[0], .frame_count = 1},
                                  {.label = "two", .age = -1, .frames = &calls[1], .frame_count = 1}};
  const kvo_fault_observation observations[] = {{.key_path = "value", .frames = &calls[2], .frame_count = 1},
                                                {.key_path = "other", .frames = &calls[3], .frame_count = 1}};
  kvo_fault fault = fault_of("x");
  fault.sites = sites;
  fault.site_count = 2;
  fault.observations = observations;
  fault.observation_count = 2;
  fault.frames = of_fault;
  fault.frame_count = 2;
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT),
                 "\n  modules: a.so build-id " ID ", b.so build-id " ID ", c.so build-id " ID
                 ", plain.so without build-id, e.so build-id " ID ADVICE);
  leave_folder();
}
