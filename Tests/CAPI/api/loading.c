/* loading.c - plug-ins that each contain libkvo, loaded into one process, and used on threads of which some existed before. Uses nothing of
 * libkvo itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COPIES = 8, THREADS = 2 };

static sem_t loaded;
static int (*use[COPIES])(void (*during)(void));
static int right;
/* A plug-in is used by one thread after the other: it has static variables. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void nothing(void) {}

static void *use_all(void *arg) {
  sem_wait(&loaded);
  for (int i = 0; i < COPIES; i++) {
    pthread_mutex_lock(&turn);
    if (use[i](nothing) == 2) right++;
    pthread_mutex_unlock(&turn);
  }
  return arg;
}

/* A file of its own, because the same file is loaded once only. */
static void *load_copy(const char *path, int number) {
  char copy[64];
  snprintf(copy, sizeof copy, "/tmp/kvo-loading-%d-%d.so", (int)getpid(), number);
  int from = open(path, O_RDONLY | O_CLOEXEC), to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  struct stat file;
  if (from < 0 || to < 0 || fstat(from, &file) != 0) return NULL;
  while (sendfile(to, from, NULL, (size_t)file.st_size) > 0) continue;
  close(from);
  close(to);
  void *plugin = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) fprintf(stderr, "copy %d: %s\n", number, dlerror());
  unlink(copy);
  return plugin;
}

/* Usage: loading <plug-in>. Exits with 0 if all its copies work on all threads. */
int main(int count, char **arguments) {
  if (count != 2) return 2;
  alarm(60);
  pthread_t threads[THREADS + 1];
  sem_init(&loaded, 0, 0);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, use_all, NULL);
  for (int i = 0; i < COPIES; i++) {
    void *plugin = load_copy(arguments[1], i);
    if (plugin == NULL) return 3;
    union {
      void *address;
      int (*function)(void (*during)(void));
    } symbol = {dlsym(plugin, "plugin_use")};
    use[i] = symbol.function;
  }
  pthread_create(&threads[THREADS], NULL, use_all, NULL);
  for (int i = 0; i <= THREADS; i++) sem_post(&loaded);
  for (int i = 0; i <= THREADS; i++) pthread_join(threads[i], NULL);
  int failed = COPIES * (THREADS + 1) - right;
  printf("test_loading: %d passed, %d failed\n", right, failed);
  return failed != 0;
}
