/* executable_memory.c - no memory is writable and executable, and without executable memory the program works without notifications. */
#include "fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct maps {
  int writable_and_executable, trampolines;
} maps;

static maps read_maps(void) {
  maps found = {0, 0};
  char line[1024], permissions[5];
  FILE *file = fopen("/proc/self/maps", "r");
  CHECK(file != NULL);
  while (fgets(line, sizeof line, file) != NULL) {
    CHECK(sscanf(line, "%*s %4s", permissions) == 1);
    if (permissions[1] == 'w' && permissions[2] == 'x') found.writable_and_executable++;
    if (permissions[2] == 'x' && strstr(line, "kvo-trampolines") != NULL) found.trampolines++;
  }
  fclose(file);
  return found;
}

TEST("no page is writable and executable at the same time, also after many classes were observed") {
  static kvo_property_spec properties[40];
  static char names[40][8];
  maps before = read_maps();
  watcher w = {0};
  for (int i = 0; i < 40; i++) {
    snprintf(names[i], sizeof names[i], "key%d", i);
    properties[i] = (kvo_property_spec){.name = names[i], .type = "i", .setter = (kvo_function)item_set_value};
  }
  for (int c = 0; c < 20; c++) {
    char class_name[16];
    snprintf(class_name, sizeof class_name, "Class%d", c);
    kvo_class_spec spec = {.struct_size = sizeof spec,
                           .name = class_name,
                           .instance_size = sizeof(kvo_object),
                           .properties = properties,
                           .property_count = 40};
    kvo_class *cls;
    kvo_object *object;
    CHECK_OK(kvo_class_register(&spec, &cls));
    CHECK_OK(kvo_object_create(cls, &object));
    kvo_observer observer = watcher_observer("key7", KVO_ENDS_WITH_OBJECT, &w);
    CHECK_OK(kvo_add_observer(object, &observer, NULL));
    kvo_object_destroy(object);
  }
  maps after = read_maps();
  /* valgrind makes such pages itself, for translated code. */
  if (!harness_is_valgrind()) CHECK_EQ(after.writable_and_executable, before.writable_and_executable);
  if (!harness_is_instrumented()) CHECK_EQ(after.writable_and_executable, 0);
  CHECK_EQ(before.trampolines, 0);
  CHECK(after.trampolines > 0);
}

TEST_REPORTED(
    "without executable memory an observation is refused as fault KVO0020, and the object works without notifications") {
  item *object = item_make(1);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  kvo_observation id = 99;
  struct rlimit files, none;
  CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
  none = files;
  none.rlim_cur = 0;
  ignore_faults();
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  CHECK_STATUS(kvo_add_observer(as_object(object), &observer, &id), KVO_ERROR_NO_INTERCEPTION);
  CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, KVO_FAULT_NO_INTERCEPTION);
  CHECK_CONTAINS(faults.summary, "KVO0020 error: cannot observe \"value\" of Item@0x");
  CHECK_EQ(id, 99);
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_set_value(object, 5);
  CHECK_EQ(object->value, 5);
  CHECK_EQ(w.calls, 0);
  CHECK_EQ(w.destroyed, 0);

  /* With memory again, the same class can be observed. */
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  item_set_value(object, 6);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

typedef struct plain {
  kvo_object header;
  int value;
} plain;

TEST(
    "a class without setters of its own is observed without executable memory, and has no functions for callers then") {
  const kvo_property_spec property = {
      .name = "value", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(plain, value)};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Plain",
                         .instance_size = sizeof(plain),
                         .properties = &property,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *object;
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  struct rlimit files, none;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
  none = files;
  none.rlim_cur = 0;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  kvo_status status = kvo_add_observer(object, &observer, &w.id);
  kvo_function setter = kvo_object_setter(object, "value"), getter = kvo_object_getter(object, "value");
  CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
  CHECK_OK(status);
  CHECK(setter == NULL && getter == NULL);
  KVO_SET(object, "value", int, 5);
  CHECK_EQ(w.calls, 1);
  CHECK_EQ(w.new_value.integer, 5);
  CHECK(kvo_object_setter(object, "value") != NULL); /* now there is memory */
  CHECK(kvo_object_getter(object, "value") != NULL);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}

TEST("executable memory is made also where a file gets the number 0, and leaves no file open") {
  close(STDIN_FILENO);
  item *object = item_make(1);
  watcher w = {0};
  watch(object, "value", KVO_NEW, &w);
  CHECK_EQ(open("/dev/null", O_RDONLY), 0);
  item_set_value(object, 2);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

/* Without SIGXFSZ, which only the library's own attempt may raise. */
static bool can_make_file(void) {
  void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
  int file = memfd_create("probe", 0);
  bool can = file >= 0 && ftruncate(file, 4096) == 0;
  if (file >= 0) close(file);
  signal(SIGXFSZ, before);
  return can;
}

TEST_REPORTED("where files must not grow an observation is refused as fault KVO0020 as well, and no SIGXFSZ arrives") {
  if (harness_is_valgrind()) return; /* it has the limit as well, and writes to a file */
  item *object = item_make(1);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  struct rlimit sizes, none;
  ignore_faults();
  CHECK(getrlimit(RLIMIT_FSIZE, &sizes) == 0);
  none = sizes;
  none.rlim_cur = 0;
  CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
  bool is_limited = !can_make_file();
  kvo_status status = is_limited ? kvo_add_observer(as_object(object), &observer, &w.id) : KVO_OK;
  CHECK(setrlimit(RLIMIT_FSIZE, &sizes) == 0);
  if (!is_limited) harness_skip("the limit does not hold for memory files");
  CHECK_STATUS(status, KVO_ERROR_NO_INTERCEPTION);
  CHECK_EQ((int)faults.code, KVO_FAULT_NO_INTERCEPTION);
  CHECK(!kvo_object_is_observed(as_object(object)));
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
  item_set_value(object, 6);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}
