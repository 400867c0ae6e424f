/* unloading.c - plug-ins that contain libkvo and are closed while threads that have used it still run. Uses nothing of libkvo itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static sem_t used, closed;
static int (*use)(void (*during)(void));
static int calls;

static void nothing(void) {}

static void *use_and_end_later(void *arg) {
  (void)arg;
  calls = use(nothing);
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

/* Usage: unloading <plug-in>. Exits with 0 if it has survived. */
int main(int count, char **arguments) {
  if (count != 2) return 2;
  alarm(20);
  setenv("KVO_SLOW_MS", "1", 1); /* the watchdog, too */
  setenv("KVO_SOCKET", "/tmp/kvo-test-%p.sock", 1);
  void *plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 3;
  }
  union {
    void *address;
    int (*function)(void (*during)(void));
  } symbol = {dlsym(plugin, "plugin_use")};
  use = symbol.function;
  union {
    void *address;
    const void *(*function)(size_t index);
  } kind_at = {dlsym(plugin, "kvo_fault_kind_at")};
  /* A plug-in that hides the function embeds all of the library. */
  bool has_server = kind_at.address == NULL || kind_at.function(0) != NULL;
  sem_init(&used, 0, 0);
  sem_init(&closed, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, use_and_end_later, NULL);
  sem_wait(&used);
  if (dlclose(plugin) != 0) return 4;
  sem_post(&closed);
  pthread_join(thread, NULL);
  usleep(20000); /* the watchdog wakes up */
  if (has_server && !is_served()) return 6;
  printf("test_unloading: %d passed, 0 failed\n", calls == 2);
  return calls == 2 ? 0 : 5;
}
