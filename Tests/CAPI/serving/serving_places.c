/* serving_places.c - KVO_SOCKET: where the socket is, what is in its way, and who may connect to it. */
#include "served.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------- Places -- */

TEST("the socket of a process that was killed is replaced also in a program without standard input") {
  char path[64];
  snprintf(path, sizeof path, "/tmp/kvo-test-stale-%ld.sock", (long)getpid());
  harness_environment("KVO_SOCKET", path);
  if (is_under_tsan()) return;
  pid_t child = fork();
  if (child == 0) {
    observed();
    kill(getpid(), SIGKILL);
  }
  CHECK_EQ(WTERMSIG(status_of(child)), SIGKILL);
  CHECK(exists(path));
  close(STDIN_FILENO);
  observed();
  int listens = 0;
  socklen_t size = sizeof listens;
  CHECK_EQ(getsockopt(0, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size), 0); /* what looked at the old one is closed */
  CHECK_EQ(listens, 1);
  unlink(path);
}

/* Whether a child that has this as $XDG_RUNTIME_DIR makes its socket in the folder. */
static bool uses(const char *folder, const char *runtime) {
  pid_t child = fork();
  if (child == 0) {
    char path[100], usual[100];
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    observed();
    snprintf(path, sizeof path, "%s/kvo-%ld.sock", folder, (long)getpid());
    snprintf(usual, sizeof usual, "/tmp/kvo-%u/%ld.sock", (unsigned)geteuid(), (long)getpid());
    bool is_there = exists(path);
    unlink(path);
    unlink(usual);
    _exit(is_there ? 0 : 3);
  }
  int status = status_of(child);
  CHECK(status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 3));
  return status == 0;
}

TEST("the socket is in $XDG_RUNTIME_DIR if that is a folder of this user in which nobody else can write") {
  harness_environment("KVO_SOCKET", "1");
  if (is_under_tsan()) return;
  char folder[64], to_folder[80], below[80];
  snprintf(folder, sizeof folder, "/tmp/kvo-test-runtime-%ld", (long)getpid());
  snprintf(to_folder, sizeof to_folder, "%s-link", folder);
  snprintf(below, sizeof below, "%s/none", folder);
  CHECK_EQ(mkdir(folder, 0700), 0);
  CHECK_EQ(symlink(folder, to_folder), 0);
  CHECK(uses(folder, folder));
  CHECK(!uses(folder, to_folder));
  CHECK(!uses(below, below));
  CHECK_EQ(chmod(folder, 0755), 0);
  CHECK(uses(folder, folder));
  CHECK_EQ(chmod(folder, 0775), 0);
  CHECK(!uses(folder, folder));
  CHECK_EQ(chmod(folder, 0757), 0);
  CHECK(!uses(folder, folder));
  CHECK_EQ(chmod(folder, 0700) | chdir("/tmp"), 0);
  CHECK(!uses(folder, folder + strlen("/tmp/")));
  CHECK_EQ(unlink(to_folder) | rmdir(folder), 0);
}

/* A path in /tmp of this length, with the number of this process where `number` is. */
static const char *path_of_length(size_t length, const char *number) {
  static char path[200];
  size_t used = (size_t)snprintf(path, sizeof path, "/tmp/kvo-test-%s-", number);
  memset(path + used, 'x', length - used);
  path[length] = '\0';
  return path;
}

static const char *own_number(void) {
  static char number[24];
  snprintf(number, sizeof number, "%ld", (long)getpid());
  return number;
}

TEST("a path of 107 bytes is that of a socket") {
  harness_environment("KVO_SOCKET", path_of_length(107 + 2 - strlen(own_number()), "%p"));
  observed();
  CHECK(exists(path_of_length(107, own_number())));
  unlink(path_of_length(107, own_number()));
}

static void observe_in_child(void *arg) {
  (void)arg;
  observed();
}

TEST("a path that gets longer than 107 bytes by the number of the process is refused") {
  if (strlen(own_number()) < 3) return; /* the setting itself would be too long */
  harness_environment("KVO_SOCKET", path_of_length(108 + 2 - strlen(own_number()), "%p"));
  child_result run = harness_run_child(observe_in_child, NULL, NULL);
  CHECK_CONTAINS(run.errors, "\" makes a path of more than 107 bytes, so kvo cannot look at this program\n");
  observed();
  CHECK_EQ(count_threads("kvo"), 0);
  CHECK(!exists(path_of_length(107, own_number())));
}

/* Observes with a folder as setting in which the path of the socket has this length. Returns whether there is a socket. */
static bool has_socket_of_length(size_t length) {
  char folder[200], path[240];
  size_t behind = strlen("/kvo-") + strlen(own_number()) + strlen(".sock");
  snprintf(folder, sizeof folder, "%s", path_of_length(length - behind, own_number()));
  CHECK(mkdir(folder, 0700) == 0 || errno == EEXIST); /* the environment is set by another execve */
  harness_environment("KVO_SOCKET", folder);
  observed();
  snprintf(path, sizeof path, "%s/kvo-%s.sock", folder, own_number());
  bool is_there = exists(path);
  unlink(path);
  CHECK_EQ(rmdir(folder), 0); /* nothing else is in it */
  return is_there;
}

TEST("the path of a socket in a folder may have 107 bytes") { CHECK(has_socket_of_length(107)); }
TEST("in a folder where its path would have more than 107 bytes there is no socket") {
  CHECK(!has_socket_of_length(108));
}

/* ------------------------------------------------------------------------------------------------------------- Users -- */

TEST("a program of any user is served to that user, and to root") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  if (getuid() != 0) harness_skip("only root can become another user");
  if (is_under_tsan()) return;
  uid_t other_user = 100000 + (uid_t)getpid();
  int ends[2];
  char byte = 0;
  CHECK_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    if (setgid(other_user) != 0 || setuid(other_user) != 0) _exit(9);
    observed();
    free(ask_well("hello"));
    if (write(ends[1], &byte, 1) != 1) _exit(3);
    for (;;) pause();
  }
  close(ends[1]);
  CHECK_EQ(read(ends[0], &byte, 1), 1);
  int fd = asking_connect(child);
  asking_send(fd, "hello\n");
  char *answer = asking_rest(fd);
  CHECK_CONTAINS(answer, "{\"done\":true}\n");
  free(answer);
  kill(child, SIGKILL);
  status_of(child);
  unlink(asking_path(child));
}
