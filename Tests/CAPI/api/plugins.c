/* plugins.c - plug-ins that contain or link libkvo: closed while threads that have used it still run, and several of them in one process.
 * Uses nothing of libkvo itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Observes in the plug-in; returns 2. */
typedef int (*plugin_use)(void (*during)(void));

static void nothing(void) {}

static void *load(const char *path, plugin_use *use) {
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s: %s\n", path, dlerror());
    exit(3);
  }
  *(void **)use = dlsym(plugin, "plugin_use");
  return plugin;
}

/* ------------------------------------------------------------------------------------------------------ Unloading -- */

static sem_t used, closed;
static int calls;

static void *use_and_end_later(void *arg) {
  calls = (*(plugin_use *)arg)(nothing);
  sem_post(&used);
  sem_wait(&closed);
  return NULL; /* the runtime's thread destructor runs now */
}

/* Whether the server of KVO_SOCKET answers. */
static bool is_served(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/tmp/kvo-test-%ld.sock", (long)getpid());
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  char answer[16] = "";
  bool answers = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 && send(fd, "hello\n", 6, 0) == 6 &&
                 recv(fd, answer, 13, MSG_WAITALL) == 13 && memcmp(answer, "{\"protocol\":1", 13) == 0;
  close(fd);
  return answers;
}

/* Whether the plug-in can be closed, and its library goes on. */
static bool unloads(const char *path) {
  setenv("KVO_SLOW_MS", "1", 1); /* the watchdog, too */
  setenv("KVO_SOCKET", "/tmp/kvo-test-%p.sock", 1);
  plugin_use use;
  const void *(*kind_at)(size_t index);
  void *plugin = load(path, &use);
  *(void **)&kind_at = dlsym(plugin, "kvo_fault_kind_at");
  /* A plug-in that hides the function embeds all of the library. */
  bool has_server = kind_at == NULL || kind_at(0) != NULL;
  sem_init(&used, 0, 0);
  sem_init(&closed, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, use_and_end_later, &use);
  sem_wait(&used);
  if (dlclose(plugin) != 0) return false;
  sem_post(&closed);
  pthread_join(thread, NULL);
  usleep(20000); /* the watchdog wakes up */
  return calls == 2 && (!has_server || is_served());
}

/* -------------------------------------------------------------------------------------------------------- Loading -- */

enum { COPIES = 8, THREADS = 3 };

static sem_t loaded;
static plugin_use uses[COPIES];
static int right;
/* A plug-in is used by one thread after the other: it has static variables. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void *use_all(void *arg) {
  sem_wait(&loaded);
  for (int i = 0; i < COPIES; i++) {
    pthread_mutex_lock(&turn);
    if (uses[i](nothing) == 2) right++;
    pthread_mutex_unlock(&turn);
  }
  return arg;
}

/* A file of its own, because the same file is loaded once only. */
static void load_copy(const char *path, int number) {
  char copy[64];
  snprintf(copy, sizeof copy, "/tmp/kvo-plugins-%d-%d.so", (int)getpid(), number);
  int from = open(path, O_RDONLY | O_CLOEXEC), to = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
  struct stat file;
  if (from < 0 || to < 0 || fstat(from, &file) != 0) exit(4);
  while (sendfile(to, from, NULL, (size_t)file.st_size) > 0) continue;
  close(from);
  close(to);
  load(copy, &uses[number]);
  unlink(copy);
}

/* Whether all copies work on all threads, of which the last one begins after they are loaded. */
static bool load_together(const char *path) {
  pthread_t threads[THREADS];
  sem_init(&loaded, 0, 0);
  for (int i = 0; i < THREADS - 1; i++) pthread_create(&threads[i], NULL, use_all, NULL);
  for (int i = 0; i < COPIES; i++) load_copy(path, i);
  pthread_create(&threads[THREADS - 1], NULL, use_all, NULL);
  for (int i = 0; i < THREADS; i++) sem_post(&loaded);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return right == COPIES * THREADS;
}

/* Usage: plugins unload PLUG-IN, or plugins load PLUG-IN. */
int main(int count, char **arguments) {
  if (count != 3) return 2;
  alarm(60);
  bool passes = (strcmp(arguments[1], "load") == 0 ? load_together : unloads)(arguments[2]);
  printf("test_plugins: %d passed, %d failed\n", passes, !passes);
  return passes ? 0 : 1;
}
