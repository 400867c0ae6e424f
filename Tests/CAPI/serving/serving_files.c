/* serving_files.c - KVO_SOCKET: the files that the server opens and closes, and what it does to the program's threads. */
#include "served.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------- File descriptors -- */

enum { MOST = 64 };

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

static int open_count(void) {
  int count = 0;
  for (int fd = 0; fd < MOST; fd++) count += is_open(fd);
  return count;
}

static void note_open(bool open_ones[MOST]) {
  for (int fd = 0; fd < MOST; fd++) open_ones[fd] = is_open(fd);
}

static void wait_for_count(int count) {
  while (open_count() != count) usleep(1000); /* a test that hangs is ended */
}

/* Connects a socket that was made before. */
static void connect_to_itself(int client) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, asking_path(getpid()), sizeof address.sun_path);
  CHECK_EQ(connect(client, (struct sockaddr *)&address, sizeof address), 0);
}

/* How many files are open while there is no client. The server has closed those of clients that it has answered. */
static int count_without_clients(void) {
  int fd = asking_connect(getpid());
  asking_send(fd, "stats 3600000 2\n");
  CHECK(asking_line(fd) != NULL);
  int count = open_count() - 2; /* both ends of the connection */
  close(fd);
  wait_for_count(count);
  return count;
}

/* A client that the server has accepted. */
static int accepted(void) {
  int before = count_without_clients(), fd = asking_connect(getpid());
  wait_for_count(before + 2);
  return fd;
}

/* Waits until the program may not record a trace itself. */
static void wait_for_trace(void) {
  while (kvo_trace_begin("/dev/null") != KVO_ERROR_BUSY) usleep(500);
}

TEST("a program without standard input is served, and a child that it forks closes the server's files") {
  if (is_under_tsan()) return;
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  pid_t child = fork();
  if (child == 0) {
    close(STDIN_FILENO);
    observed();
    if (!is_open(0)) _exit(3); /* the server's socket */
    free(ask_well("stats"));
    usleep(50000); /* the server is idle: the allocator of AddressSanitizer is not for forks */
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(is_open(0) ? 4 : 0);
    if (status_of(grandchild) != 0) _exit(5);
    exit(0);
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(!exists(asking_path(child)));
}

TEST("a client whose connection has the number 0 is served as long as it wants") {
  served();
  free(ask_well("hello"));
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  close(STDIN_FILENO);
  connect_to_itself(client);
  asking_send(client, "stats 10 0\n");
  CHECK(asking_line(client) != NULL && asking_line(client) != NULL);
  CHECK(is_open(0));
  free(ask_well("hello"));
  for (int i = 0; i < 3; i++) CHECK(asking_line(client) != NULL);
  close(client);
  while (is_open(0)) usleep(1000);
}

TEST("a trace whose file has the number 0 is recorded, and the file is closed at its end and when its client goes") {
  item *object = served();
  for (int leaves = 0; leaves < 2; leaves++) {
    int fd = accepted();
    close(STDIN_FILENO);
    asking_send(fd, "trace 3600000\n");
    while (!is_open(0)) usleep(1000);
    wait_for_trace();
    item_set_value(object, 1);
    if (leaves == 0) {
      CHECK_OK(kvo_trace_end());
      char *answer = asking_rest(fd);
      CHECK_CONTAINS(answer, "\"set Item.value\"");
      CHECK_CONTAINS(answer, "{\"done\":true}\n");
      free(answer);
    } else {
      close(fd);
    }
    while (is_open(0)) usleep(1000);
    CHECK_EQ(open("/dev/null", O_RDONLY), 0);
  }
}

TEST("what was opened for a client is closed when it has gone, and a child closes nothing of the program's") {
  if (is_under_tsan()) return;
  served();
  int before = count_without_clients(), fd = asking_connect(getpid());
  asking_send(fd, "trace 3600000\n");
  wait_for_trace();
  close(fd);
  wait_for_count(before);
  free(ask_well("trace 1"));
  wait_for_count(before);
  int others[16];
  for (int i = 0; i < 16; i++) others[i] = open("/dev/null", O_RDONLY | O_CLOEXEC); /* with the same numbers */
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 16; i++)
      if (!is_open(others[i])) _exit(3);
    _exit(0);
  }
  CHECK_EQ(status_of(child), 0);
}

TEST("a trace that is refused leaves no file open") {
  char file[64];
  served();
  snprintf(file, sizeof file, "serving-files-%ld.json", (long)getpid());
  CHECK_OK(kvo_trace_begin(file));
  int before = count_without_clients();
  for (int i = 0; i < 3; i++) {
    char *answer = ask("trace 10");
    CHECK_CONTAINS(answer, "\"code\":\"busy\"}");
    free(answer);
  }
  wait_for_count(before);
  CHECK_OK(kvo_trace_end());
  unlink(file);
}

TEST("a socket that cannot be made leaves no file open") {
  harness_environment("KVO_SOCKET", "/nowhere/at/all.sock");
  item *object = item_make(0);
  int before = open_count();
  watch(object, "value", KVO_NEW, &quiet);
  CHECK_EQ(open_count(), before);
}

TEST("the server looks each second whether the program has ended, and leaves no file open") {
  served();
  int before = count_without_clients();
  sleep(3);
  wait_for_count(before);
}

TEST("what the server opens is closed when the program executes another, and standard input stays open") {
  bool before[MOST];
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  note_open(before);
  observed();
  int client = asking_connect(getpid());
  asking_send(client, "stats 10 0\n");
  CHECK(asking_line(client) != NULL);
  for (int fd = 0; fd < MOST; fd++) {
    bool is_of_server = is_open(fd) && !before[fd] && fd != client;
    CHECK(!is_of_server || (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK(!before[fd] || is_open(fd));
  }
  close(client);
}

TEST("the child of a fork has none of the server's files, also while clients are served") {
  bool before[MOST];
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  if (is_under_tsan()) return;
  note_open(before);
  observed();
  int figures = asking_connect(getpid()), traces = asking_connect(getpid());
  asking_send(figures, "stats 300 0\n");
  CHECK(asking_line(figures) != NULL && asking_line(figures) != NULL);
  asking_send(traces, "trace 3600000\n");
  wait_for_trace();
  pid_t child = fork();
  if (child == 0) {
    for (int fd = 0; fd < MOST; fd++)
      if (is_open(fd) && !before[fd] && fd != figures && fd != traces) _exit(3);
    _exit(0);
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(asking_line(figures) != NULL);
  CHECK_OK(kvo_trace_end());
  free(asking_rest(traces));
  close(figures);
}

static void observe_without_files(void *arg) {
  (void)arg;
  int next = open("/dev/null", O_RDONLY);
  close(next);
  struct rlimit limit, few;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  few = (struct rlimit){(rlim_t)next + 1, limit.rlim_max}; /* one for the socket, none for what wakes the thread */
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  observed();
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  dprintf(STDERR_FILENO, "servers: %d, socket: %d, file: %d\n", count_threads("kvo"), exists(asking_path(getpid())),
          is_open(next));
}

TEST("a program that has no file descriptors for a server goes on without one, and is told so") {
  if (is_under_tsan()) return;
  served();
  free(ask_well("hello")); /* the child needs no other files */
  usleep(50000);
  child_result run = harness_run_child(observe_without_files, NULL, NULL);
  CHECK_CONTAINS(run.errors, " cannot be served: the program has no thread or file descriptor left\n");
  CHECK_CONTAINS(run.errors, "\nservers: 0, socket: 0, file: 0\n");
}

TEST("a program that has used up its file descriptors can be looked at again and again") {
  served();
  count_without_clients();
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  struct rlimit limit, few;
  CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  few = (struct rlimit){MOST, limit.rlim_max};
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  for (int i = 0; i < 3; i++) {
    connect_to_itself(client);
    asking_send(client, "graph\n");
    char *answer = asking_rest(client); /* closes it */
    CHECK_CONTAINS(answer, "{\"done\":true}");
    free(answer);
    usleep(100000);
    CHECK_EQ(open_count(), MOST - 1); /* the server has kept one for the next client */
    client = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(client >= 0);
  }
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0); /* the leak checker opens files */
}

/* ------------------------------------------------------------------------------------------- The program's threads -- */

static volatile sig_atomic_t signals;
static void count_signal(int number) {
  (void)number;
  signals++;
}

TEST("signals are for the program's threads, and the thread that starts the server is as before") {
  if (is_under_tsan()) return;
  signal(SIGUSR1, count_signal);
  served();
  free(ask_well("hello"));
  sigset_t mask, pending;
  int state;
  CHECK_EQ(pthread_sigmask(SIG_SETMASK, NULL, &mask), 0);
  CHECK(!sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGTERM));
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state), 0);
  CHECK_EQ(state, PTHREAD_CANCEL_ENABLE);
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &mask, NULL), 0);
  CHECK_EQ(kill(getpid(), SIGUSR1), 0);
  usleep(50000);
  CHECK_EQ((int)signals, 0);
  CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &mask, NULL), 0);
  CHECK_EQ((int)signals, 1);
}

static void *end_later(void *arg) {
  (void)arg;
  usleep(50000);
  return NULL;
}

TEST("the server does not keep a process alive that has no standard input either") {
  if (is_under_tsan()) return;
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  pid_t child = fork();
  if (child == 0) {
    observed();
    close(STDIN_FILENO);
    pthread_t thread;
    pthread_create(&thread, NULL, end_later, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(!exists(asking_path(child)));
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

TEST("a program that is served ends at once") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  harness_skip_if_emulated("processes end slowly");
  if (harness_is_instrumented()) return;
  long long least = INT64_MAX;
  for (int i = 0; i < 10; i++) {
    int ends[2];
    char byte = 0;
    CHECK_EQ(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
      observed();
      free(ask_well("hello"));
      if (write(ends[1], &byte, 1) != 1) _exit(3);
      exit(0);
    }
    CHECK_EQ(read(ends[0], &byte, 1), 1);
    long long begun = now();
    CHECK_EQ(status_of(child), 0);
    if (now() - begun < least) least = now() - begun;
    close(ends[0]);
    close(ends[1]);
  }
  CHECK(least < 80000000);
}
