/* executable_memory.c - no memory is writable and executable, and without executable memory the program works without notifications. */
#include "fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

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
