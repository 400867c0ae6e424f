/* served.c - see served.h. */
#include "served.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

watcher quiet;

item *observed(void) {
  item *object = item_make(0);
  watch(object, "value", KVO_NEW, &quiet);
  return object;
}

item *served(void) {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  return observed();
}

void wait_for_trace(bool is_recorded) {
  while ((kvo_trace_begin("/dev/null") == KVO_ERROR_BUSY) != is_recorded) usleep(500);
}

bool exists(const char *path) {
  struct stat is;
  return lstat(path, &is) == 0;
}

int status_of(pid_t child) {
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  return status;
}

bool is_under_tsan(void) {
  const char *tool = getenv("KVO_TEST_TOOL");
  return tool != NULL && strcmp(tool, "tsan") == 0;
}

int count_threads(const char *name) {
  glob_t threads;
  int count = 0;
  CHECK_EQ(glob("/proc/self/task/*/comm", 0, NULL, &threads), 0);
  for (size_t i = 0; i < threads.gl_pathc; i++) {
    FILE *file = fopen(threads.gl_pathv[i], "r");
    char line[32] = "";
    if (file != NULL && fgets(line, sizeof line, file) != NULL) {
      line[strcspn(line, "\n")] = '\0';
      count += strcmp(line, name) == 0;
    }
    if (file != NULL) fclose(file);
  }
  globfree(&threads);
  return count;
}
