/* executable_memory.c - no memory is writable and executable, and without executable memory the program works without notifications. */
#include "made.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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

static int next_file(void) {
  int file = open("/dev/null", O_RDONLY);
  close(file);
  return file;
}

TEST("no page is writable and executable at the same time, and no file stays open, after many classes were observed") {
  static kvo_property_spec properties[40];
  static char names[40][16];
  close(STDIN_FILENO); /* so that the runtime's own file may get the number 0 */
  maps before = read_maps();
  watcher w = {0};
  for (int i = 0; i < 40; i++) {
    snprintf(names[i], sizeof names[i], "key%d", i);
    properties[i] = (kvo_property_spec){.name = names[i], .type = "i", .setter = (kvo_function)item_set_value};
  }
  for (int c = 0; c < 20; c++) {
    char class_name[32];
    snprintf(class_name, sizeof class_name, "Class%d", c);
    kvo_object *object = object_made(class_name, sizeof(kvo_object), properties, 40);
    watch((item *)object, "key7", KVO_ENDS_WITH_OBJECT, &w);
    kvo_object_destroy(object);
  }
  maps after = read_maps();
  CHECK_EQ(next_file(), 0);
  /* valgrind makes such pages itself, for translated code. */
  if (!harness_is_valgrind()) CHECK_EQ(after.writable_and_executable, before.writable_and_executable);
  if (!harness_is_instrumented()) CHECK_EQ(after.writable_and_executable, 0);
  CHECK_EQ(before.trampolines, 0);
  CHECK(after.trampolines > 0);
}

/* Sets a limit of the process to 0, and returns the previous one. */
static struct rlimit forbid(int resource) {
  struct rlimit before, none;
  CHECK(getrlimit(resource, &before) == 0);
  none = before;
  none.rlim_cur = 0;
  CHECK(setrlimit(resource, &none) == 0);
  return before;
}

static void check_refused(int resource) {
  item *object = item_make(1);
  watcher w = {0};
  kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
  kvo_observation id = 99;
  ignore_faults();
  struct rlimit before = forbid(resource);
  kvo_status status = kvo_add_observer(as_object(object), &observer, &id);
  CHECK(setrlimit(resource, &before) == 0);
  CHECK_STATUS(status, KVO_ERROR_NO_INTERCEPTION);
  CHECK_FAULTS(1, KVO_FAULT_NO_INTERCEPTION);
  CHECK_CONTAINS(faults.summary, "KVO0020 error: cannot observe \"value\" of Item@0x");
  CHECK_EQ(id, 99);
  CHECK(!kvo_object_is_observed(as_object(object)));
  item_set_value(object, 5);
  CHECK_EQ(object->value, 5);
  CHECK_EQ(w.calls + w.destroyed, 0);

  /* With memory again, the same class can be observed. */
  CHECK_OK(kvo_add_observer(as_object(object), &observer, &id));
  item_set_value(object, 6);
  CHECK_EQ(w.calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  item_destroy(object);
}

TEST_REPORTED(
    "without executable memory an observation is refused as fault KVO0020, and the object works without notifications") {
  check_refused(RLIMIT_NOFILE);
}

TEST(
    "a class without setters of its own is observed without executable memory, and has no functions for callers then") {
  const kvo_property_spec property = AT_OFFSET(item, value, "i");
  kvo_object *object = object_made("Plain", sizeof(item), &property, 1);
  watcher w = {0};
  struct rlimit before = forbid(RLIMIT_NOFILE);
  watch((item *)object, "value", KVO_NEW, &w);
  CHECK(kvo_object_setter(object, "value") == NULL && kvo_object_getter(object, "value") == NULL);
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  KVO_SET(object, "value", int, 5);
  CHECK_NEW(w, 1, 5);
  CHECK(kvo_object_setter(object, "value") != NULL && kvo_object_getter(object, "value") != NULL);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_destroy(object);
}
