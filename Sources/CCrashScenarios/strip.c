/* strip.c - a copy of a program without its symbols, to run instead of it. */
#define _GNU_SOURCE
#include "judge.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool crash_strip(const char *program, char *copy, size_t size) {
  const char *folder = getenv("TMPDIR");
  snprintf(copy, size, "%s/kvo-crash-XXXXXX", folder != NULL && *folder != '\0' ? folder : "/tmp");
  if (mkdtemp(copy) == NULL) return false;
  char whole[4096]; /* by its name: strip would find itself at /proc/self/exe */
  ssize_t length = readlink(program, whole, sizeof whole - 1);
  if (length > 0) whole[length] = '\0';
  strncat(copy, "/stripped", size - strlen(copy) - 1);
  char *const arguments[] = {"strip", "-o", copy, length > 0 ? whole : (char *)(uintptr_t)program, NULL};
  pid_t child;
  int status = -1;
  if (posix_spawnp(&child, "strip", NULL, NULL, arguments, environ) == 0) waitpid(child, &status, 0);
  if (status == 0) return true;
  crash_discard_copy(copy);
  return false;
}

void crash_discard_copy(char *copy) {
  unlink(copy);
  *strrchr(copy, '/') = '\0';
  rmdir(copy);
}
