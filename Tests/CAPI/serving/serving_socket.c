/* serving_socket.c - KVO_SOCKET: when and where there is a socket, what is in its way, and who may connect to it. */
#include "served.h"

#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Observes, and prints how many threads serve. */
static void observe_and_say(void *arg) {
  observed();
  for (int i = 0; i < 300 && count_threads("kvo") == 0; i++) usleep(1000); /* the thread sets its own name */
  dprintf(STDERR_FILENO, "servers: %d\n", count_threads("kvo"));
}

static void check_said(void (*body)(void *arg), const char *expected) {
  CHECK_CONTAINS(harness_run_child(body, NULL, NULL).errors, expected);
}

/* A path in /tmp of this process; valid until the second call after this. */
static const char *own_path(const char *end) {
  static char paths[2][100];
  static int next;
  char *path = paths[next++ % 2];
  snprintf(path, sizeof paths[0], "/tmp/kvo-test-%ld%s", (long)getpid(), end);
  return path;
}

/* -------------------------------------------------------------------------------------- The socket and its end -- */

TEST("without KVO_SOCKET, and with 0, there is no socket") {
  check_said(observe_and_say, "servers: 0\n");
  if (getenv("KVO_SOCKET") == NULL) harness_environment("KVO_SOCKET", "0");
}

TEST("a value that is neither 1 nor a short absolute path is reported when the library is loaded, and ignored") {
  static const char *const why[] = {"is invalid and ignored; use 1, or an absolute path",
                                    "is ignored: the path of a socket has at most 107 bytes"};
  for (int i = 0; i < 2; i++) {
    char command[9000], line[600] = "", expected[600], value[200];
    snprintf(value, sizeof value, i == 0 ? "socket" : "/%0107d", 0);
    snprintf(command, sizeof command, "KVO_SOCKET=%s %s --run nothing 2>&1", value, harness_command());
    FILE *output = popen(command, "r");
    CHECK(output != NULL && fgets(line, sizeof line, output) != NULL);
    pclose(output);
    snprintf(expected, sizeof expected, "KVO0034 warning: KVO_SOCKET: \"%s\" %s\n", value, why[i]);
    CHECK_EQ((const char *)line, (const char *)expected);
  }
}

TEST("the first registration makes a socket that only its user can connect to, and a thread named kvo") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  CHECK_EQ(count_threads("kvo"), 0);
  observed();
  struct stat is;
  CHECK_EQ(lstat(asking_path(getpid()), &is), 0);
  CHECK_EQ(is.st_mode, S_IFSOCK | 0600);
  while (count_threads("kvo") == 0) usleep(1000); /* the thread sets its own name */
  observed();
  CHECK_EQ(count_threads("kvo"), 1);
}

static void exit_while_served(void) {
  asking_begin("stats 10 0");
  exit(exists(asking_path(getpid())) ? 0 : 3);
}

static void *end_later(void *arg) {
  usleep(30000);
  return arg;
}

static void end_threads(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, end_later, NULL);
  pthread_detach(thread);
  pthread_exit(NULL);
}

TEST("the socket is removed when the process exits, also while clients are served, or when its threads have ended") {
  static void (*const ends[])(void) = {exit_while_served, end_threads};
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  for (int i = 0; i < 2 && !is_under_tsan(); i++) {
    pid_t child = fork();
    if (child == 0) {
      observed();
      ends[i]();
    }
    CHECK_EQ(status_of(child), 0);
    CHECK(!exists(asking_path(child)));
  }
}

/* ------------------------------------------------------------------------------------------ What is in its way -- */

TEST("the socket of a process that was killed is replaced; one that is in use and what is no socket are left alone") {
  const char *path = own_path(".sock");
  harness_environment("KVO_SOCKET", path);
  CHECK_EQ(symlink("/nowhere", path), 0);
  check_said(observe_and_say, "\" exists already and is not a socket of this user, so kvo cannot look at this program\n"
                              "servers: 0\n");
  CHECK(exists(path));
  unlink(path);
  pid_t child = fork();
  if (child == 0) {
    observed();
    kill(getpid(), SIGKILL);
  }
  CHECK_EQ(WTERMSIG(status_of(child)), SIGKILL);
  CHECK(exists(path));
  observed();
  while (count_threads("kvo") == 0) usleep(1000);
  check_said(observe_and_say, "\" is the socket of another process, so kvo cannot look at this program\nservers: 0\n");
  unlink(path);
}

TEST("a path that cannot be made a socket is reported") {
  harness_environment("KVO_SOCKET", "/nowhere/at/all.sock");
  check_said(observe_and_say, "cannot be made a socket: No such file or directory, so kvo cannot look at this program\n"
                              "servers: 0\n");
}

/* A path of this length that begins like this. */
static const char *long_path(const char *begin, size_t length) {
  static char path[200];
  size_t used = strlen(strcpy(path, begin));
  memset(path + used, 'x', length - used);
  path[length] = '\0';
  return path;
}

/* Sets a path with the number of the process that has this length. Returns the path. */
static const char *set_path_of_length(size_t length) {
  size_t number_length = strlen(own_path("")) - strlen("/tmp/kvo-test-");
  harness_environment("KVO_SOCKET", long_path("/tmp/kvo-test-%p", length + 2 - number_length));
  return long_path(own_path(""), length);
}

TEST("a path of more than 107 bytes is reported, and there is no socket") {
  set_path_of_length(108);
  check_said(observe_and_say,
             "\" makes a path of more than 107 bytes, so kvo cannot look at this program\nservers: 0\n");
}

/* ----------------------------------------------------------------------------------------------------- Folders -- */

/* Removes a link, or a folder with what is in it. */
static void remove_folder(const char *folder) {
  char pattern[100];
  glob_t left;
  unlink(folder);
  snprintf(pattern, sizeof pattern, "%s/*", folder);
  if (glob(pattern, 0, NULL, &left) == 0)
    for (size_t i = 0; i < left.gl_pathc; i++) unlink(left.gl_pathv[i]);
  globfree(&left);
  CHECK(rmdir(folder) == 0 || errno == ENOENT);
}

/* Observes with KVO_SOCKET set to a folder, whose name ends with this. */
static void check_folder(const char *end) {
  const char *folder = own_path(".folder");
  char socket[200];
  CHECK(mkdir(folder, 0700) == 0 || errno == EEXIST); /* the environment is set by another execve */
  snprintf(socket, sizeof socket, "%s%s", folder, end);
  harness_environment("KVO_SOCKET", socket);
  observed();
  snprintf(socket, sizeof socket, "%s/kvo-%ld.sock", folder, (long)getpid());
  CHECK(exists(socket));
  remove_folder(folder);
}

TEST("an existing folder has the socket of each process") { check_folder(""); }

/* Whether a child that has this as $XDG_RUNTIME_DIR makes its socket in the folder. */
static bool uses(const char *folder, const char *runtime) {
  pid_t child = fork();
  if (child == 0) {
    char path[100], usual[100];
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    observed();
    snprintf(path, sizeof path, "%s/kvo-%ld.sock", folder, (long)getpid());
    snprintf(usual, sizeof usual, "/tmp/kvo-%u/%ld.sock", (unsigned)geteuid(), (long)getpid());
    int is_elsewhere = unlink(path) != 0;
    _exit(unlink(usual) == 0 || !is_elsewhere ? is_elsewhere : 2);
  }
  int status = status_of(child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) < 2);
  return status == 0;
}

TEST("the socket is in $XDG_RUNTIME_DIR if that is a folder of this user in which nobody else can write") {
  harness_environment("KVO_SOCKET", "1");
  if (is_under_tsan()) return;
  const char *folder = own_path(".runtime"), *to_folder = own_path(".link");
  CHECK(!uses(folder, folder)); /* there is none */
  CHECK_EQ(mkdir(folder, 0700) | symlink(folder, to_folder) | chdir("/tmp"), 0);
  CHECK(uses(folder, folder));
  CHECK(!uses(folder, to_folder));
  CHECK(!uses(folder, folder + strlen("/tmp/")));
  static const mode_t modes[] = {0755, 0775, 0757};
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(chmod(folder, modes[i]), 0);
    CHECK_EQ(uses(folder, folder), modes[i] == 0755);
  }
  CHECK_EQ(unlink(to_folder) | rmdir(folder), 0);
}

/* ------------------------------------------------------------------------------------------------------- Users -- */

/* Another user than those of other runs of this test. */
static uid_t other_user;

static void become_other_user(void) {
  if (setgid(other_user) != 0 || setuid(other_user) != 0) _exit(9);
}

static void observe_as_other_user(void *arg) {
  become_other_user();
  observe_and_say(arg);
}

static void make_other_user(void) {
  if (getuid() != 0) harness_skip("only root can become another user");
  other_user = 100000 + (uid_t)getpid();
}

TEST("the usual folder in /tmp must be the user's own and closed to others, and no link to one") {
  unsetenv("XDG_RUNTIME_DIR");
  harness_environment("KVO_SOCKET", "1");
  make_other_user();
  char folder[64], wrong[200];
  snprintf(folder, sizeof folder, "/tmp/kvo-%u", (unsigned)other_user);
  snprintf(wrong, sizeof wrong, "KVO_SOCKET: \"%s\" is not a folder of this user that only this user can use", folder);
  CHECK_EQ(mkdir(folder, 0700), 0); /* root's */
  check_said(observe_as_other_user, wrong);
  CHECK_EQ(chown(folder, other_user, other_user) | chmod(folder, 0770), 0);
  check_said(observe_as_other_user, wrong);
  CHECK_EQ(rmdir(folder) | symlink("/tmp", folder) | lchown(folder, other_user, other_user), 0);
  check_said(observe_as_other_user, wrong);
  unlink(folder);
  check_said(observe_as_other_user, "servers: 1\n");
  remove_folder(folder);
}

static void ask_as_other_user(void *arg) {
  become_other_user();
  int fd = socket(AF_UNIX, SOCK_STREAM, 0), error = asking_connect_with(fd, getppid());
  asking_send(fd, "hello\n");
  dprintf(STDERR_FILENO, "%s", error != 0 ? strerror(error) : asking_line(fd));
}

TEST("another user cannot connect, and is refused even if the file permits it") {
  served();
  make_other_user();
  check_said(ask_as_other_user, "Permission denied");
  CHECK_EQ(chmod(asking_path(getpid()), 0666), 0);
  check_said(ask_as_other_user, "{\"error\":\"this program is another user's\",\"code\":\"forbidden\"}\n");
}
