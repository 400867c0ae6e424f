/* serving_conditions.c - KVO_SOCKET: whom the server serves, and that neither the program nor a client can harm the other. */
#include "served.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };
/* Another user than those of other runs of this test. */
static uid_t other_user;

/* --------------------------------------------------------------------------------------------- The socket and its end -- */

TEST("there is no thread and no socket unless KVO_SOCKET asks for them") {
  unsetenv("KVO_SOCKET");
  item *object = observed();
  item_set_value(object, 1);
  usleep(50000);
  CHECK_EQ(count_threads("kvo"), 0);
  CHECK(!exists(asking_path(getpid())));
}

static void observe_and_say(void *arg) {
  (void)arg;
  observed();
  for (int i = 0; i < 300 && count_threads("kvo") == 0; i++) usleep(1000); /* the thread sets its own name */
  dprintf(STDERR_FILENO, "servers: %d\n", count_threads("kvo"));
}

TEST("0 is no socket") {
  harness_environment("KVO_SOCKET", "0");
  CHECK_EQ(harness_run_child(observe_and_say, NULL, NULL).errors, "servers: 0\n");
}

TEST("a value that is neither 1 nor an absolute path is reported when the library is loaded, and ignored") {
  char command[9000], line[600] = "";
  snprintf(command, sizeof command, "KVO_SOCKET=socket %s --run nothing 2>&1", harness_command());
  FILE *output = popen(command, "r");
  CHECK(output != NULL && fgets(line, sizeof line, output) != NULL);
  pclose(output);
  CHECK_EQ(line, "KVO0034 warning: KVO_SOCKET: \"socket\" is invalid and ignored; use 1, or an absolute path\n");
}

TEST("the first registration makes a socket that only its user can connect to, and a thread named kvo") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  CHECK_EQ(count_threads("kvo"), 0);
  item *object = observed();
  struct stat is;
  CHECK_EQ(lstat(asking_path(getpid()), &is), 0);
  CHECK(S_ISSOCK(is.st_mode));
  CHECK_EQ(is.st_mode & 0777, 0600);
  while (count_threads("kvo") == 0) usleep(1000); /* the thread sets its own name */
  watcher more = {0};
  watch(object, "other", KVO_NEW, &more);
  CHECK_EQ(count_threads("kvo"), 1);
}

TEST("the socket is removed when the process ends, also while clients are served") {
  if (is_under_tsan()) return;
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  pid_t child = fork();
  if (child == 0) {
    observed();
    int fd = asking_connect(getpid());
    asking_send(fd, "stats 10 0\n");
    if (asking_line(fd) == NULL || !exists(asking_path(getpid()))) _exit(3);
    exit(0);
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(!exists(asking_path(child)));
}

static void *end_later(void *arg) {
  (void)arg;
  usleep(50000);
  return NULL;
}

TEST("the server does not keep a process alive whose threads have all ended") {
  if (is_under_tsan()) return;
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  pid_t child = fork();
  if (child == 0) {
    observed();
    pthread_t thread;
    pthread_create(&thread, NULL, end_later, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(!exists(asking_path(child)));
}

TEST("a program of one thread is served as long as that lives") {
  served();
  sleep(2); /* the server looks each second whether other threads have ended */
  char *answer = ask_well("stats");
  CHECK_CONTAINS(answer, "\"observations\":1");
  free(answer);
  CHECK_EQ(count_threads("kvo"), 1);
}

TEST("the socket of a process that was killed is replaced, a living one is not") {
  char path[64];
  snprintf(path, sizeof path, "/tmp/kvo-test-shared-%ld.sock", (long)getpid());
  harness_environment("KVO_SOCKET", path);
  pid_t child = fork();
  if (child == 0) {
    observed();
    kill(getpid(), SIGKILL);
  }
  CHECK_EQ(WTERMSIG(status_of(child)), SIGKILL);
  CHECK(exists(path));
  observed();
  while (count_threads("kvo") == 0) usleep(1000);
  CHECK_EQ(count_threads("kvo"), 1);
  unlink(path);
}

TEST("what is not a socket of this user, or is in use, is left alone and reported in one line") {
  char path[64], elsewhere[64], refused[200];
  snprintf(path, sizeof path, "/tmp/kvo-test-taken-%ld.sock", (long)getpid());
  snprintf(elsewhere, sizeof elsewhere, "/tmp/kvo-test-elsewhere-%ld", (long)getpid());
  snprintf(refused, sizeof refused,
           "KVO0034 warning: KVO_SOCKET: \"%s\" exists already and is not a socket of this user, so kvo cannot look at "
           "this program\nservers: 0\n",
           path);
  harness_environment("KVO_SOCKET", path);
  CHECK_EQ(symlink(elsewhere, path), 0);
  child_result child = harness_run_child(observe_and_say, NULL, NULL);
  CHECK_CONTAINS(child.errors, (const char *)refused);
  CHECK(!exists(elsewhere));
  unlink(path);
  observed();
  child = harness_run_child(observe_and_say, NULL, NULL);
  CHECK_CONTAINS(child.errors, "is the socket of another process, so kvo cannot look at this program\nservers: 0\n");
  unlink(path);
}

TEST("a path that cannot be made a socket is reported") {
  harness_environment("KVO_SOCKET", "/nowhere/at/all.sock");
  child_result child = harness_run_child(observe_and_say, NULL, NULL);
  CHECK_CONTAINS(
      child.errors,
      "cannot be made a socket: No such file or directory, so kvo cannot look at this program\nservers: 0\n");
}

/* Removes a link, or a folder with what is in it. */
static void remove_folder(const char *folder) {
  char pattern[100];
  glob_t left;
  unlink(folder);
  snprintf(pattern, sizeof pattern, "%s/*", folder);
  if (glob(pattern, 0, NULL, &left) == 0)
    for (size_t i = 0; i < left.gl_pathc; i++) unlink(left.gl_pathv[i]);
  globfree(&left);
  rmdir(folder);
}

/* Observes with KVO_SOCKET set to a folder, whose name ends with this, in a child. */
static void observe_with_folder(const char *end) {
  if (is_under_tsan()) return;
  char folder[64], setting[80];
  snprintf(folder, sizeof folder, "/tmp/kvo-test-folder-%ld", (long)getpid());
  snprintf(setting, sizeof setting, "%s%s", folder, end);
  CHECK(mkdir(folder, 0700) == 0 || errno == EEXIST); /* the environment is set by another execve */
  harness_environment("KVO_SOCKET", setting);
  pid_t child = fork();
  if (child == 0) {
    char path[100];
    observed();
    snprintf(path, sizeof path, "%s/kvo-%ld.sock", folder, (long)getpid());
    _exit(exists(path) ? 0 : 3);
  }
  int status = status_of(child);
  remove_folder(folder);
  CHECK(!exists(folder));
  CHECK_EQ(status, 0);
}

TEST("a folder has the socket of each process") { observe_with_folder(""); }
TEST("a folder that is named with a slash at its end has the socket of each process") { observe_with_folder("/"); }

/* Becomes another user, whose usual folder in /tmp is prepared as a link or open to others, and observes. */
static void observe_as_other_user(void *arg) {
  (void)arg;
  if (setgid(other_user) != 0 || setuid(other_user) != 0) _exit(9);
  observe_and_say(NULL);
}

TEST("the usual folder in /tmp must be the user's own and closed to others, and no link to one") {
  unsetenv("XDG_RUNTIME_DIR");
  harness_environment("KVO_SOCKET", "1");
  if (getuid() != 0) harness_skip("only root can become another user");
  char folder[64], wrong[200];
  other_user = 100000 + (uid_t)getpid();
  snprintf(folder, sizeof folder, "/tmp/kvo-%u", (unsigned)other_user);
  snprintf(wrong, sizeof wrong, "KVO_SOCKET: \"%s\" is not a folder of this user that only this user can use", folder);
  remove_folder(folder);
  CHECK_EQ(mkdir(folder, 0700), 0); /* root's */
  CHECK_CONTAINS(harness_run_child(observe_as_other_user, NULL, NULL).errors, wrong);
  CHECK_EQ(chown(folder, other_user, other_user) | chmod(folder, 0770), 0);
  CHECK_CONTAINS(harness_run_child(observe_as_other_user, NULL, NULL).errors, wrong);
  CHECK_EQ(rmdir(folder), 0);
  CHECK_EQ(symlink("/tmp", folder), 0);
  CHECK_EQ(lchown(folder, other_user, other_user), 0);
  CHECK_CONTAINS(harness_run_child(observe_as_other_user, NULL, NULL).errors, wrong);
  unlink(folder);
  CHECK_CONTAINS(harness_run_child(observe_as_other_user, NULL, NULL).errors, "servers: 1\n");
  remove_folder(folder);
  CHECK(!exists(folder));
}

/* ------------------------------------------------------------------------------------------------------------- Users -- */

/* What happens to another user who connects: the first line, or the name of the error. */
static void ask_as_nobody(char *told, size_t size) {
  int ends[2];
  pid_t server = getpid();
  CHECK_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0) _exit(9);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, asking_path(server), sizeof address.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (connected) send(fd, "hello\n", 6, MSG_NOSIGNAL);
    const char *line = connected ? asking_line(fd) : strerror(errno);
    dprintf(ends[1], "%s", line != NULL ? line : "nothing");
    _exit(0);
  }
  close(ends[1]);
  ssize_t count = read(ends[0], told, size - 1);
  told[count > 0 ? count : 0] = '\0';
  close(ends[0]);
  CHECK_EQ(status_of(child), 0);
}

TEST("another user cannot connect, and is refused even if the file permits it") {
  served();
  if (getuid() != 0) harness_skip("only root can become another user");
  char told[300];
  ask_as_nobody(told, sizeof told);
  CHECK_EQ(told, "Permission denied");
  CHECK_EQ(chmod(asking_path(getpid()), 0666), 0);
  ask_as_nobody(told, sizeof told);
  CHECK_EQ(told, "{\"error\":\"this program is another user's\",\"code\":\"forbidden\"}\n");
}

/* ----------------------------------------------------------------------------------------------------------- Clients -- */

TEST("clients that say nothing, that vanish, or that never read hinder neither others nor the program") {
  item *object = served();
  int silent[8], deaf[4];
  for (int i = 0; i < 8; i++) silent[i] = asking_connect(getpid());
  for (int i = 0; i < 4; i++) {
    deaf[i] = asking_connect(getpid());
    int small = 1;
    setsockopt(deaf[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    asking_send(deaf[i], "stats 10 0\n");
  }
  for (int i = 0; i < 200; i++) {
    int fd = asking_connect(getpid());
    asking_send(fd, i % 3 == 0 ? "graph\n" : i % 3 == 1 ? "stats 10 0\n" : "tra");
    close(fd);
    item_set_value(object, i);
  }
  char *answer = ask_well("graph");
  free(answer);
  CHECK_EQ(quiet.calls, 200);
  for (int i = 0; i < 8; i++) close(silent[i]);
  for (int i = 0; i < 4; i++) close(deaf[i]);
}

TEST("a client that neither reads nor writes is given up after ten seconds") {
  served();
  int silent = asking_connect(getpid());
  char byte;
  CHECK_EQ(recv(silent, &byte, 1, 0), 0);
  close(silent);
}

TEST("clients beyond the sixteenth wait until another has gone") {
  served();
  int first[16];
  for (int i = 0; i < 16; i++) {
    first[i] = asking_connect(getpid());
    asking_send(first[i], "stats 10 0\n");
    CHECK(asking_line(first[i]) != NULL);
  }
  int last = asking_connect(getpid());
  asking_send(last, "hello\n");
  struct timeval brief = {0, 200000};
  setsockopt(last, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
  CHECK(asking_line(last) == NULL);
  close(first[3]);
  struct timeval patient = {0, 0};
  setsockopt(last, SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof patient);
  char *answer = asking_rest(last);
  CHECK_CONTAINS(answer, "{\"done\":true}");
  free(answer);
}

TEST("a program that has used up its file descriptors can still be looked at") {
  served();
  free(ask_well("hello"));
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  struct rlimit few = {64, 64};
  CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  CHECK_EQ(errno, EMFILE);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, asking_path(getpid()), sizeof address.sun_path);
  CHECK_EQ(connect(client, (struct sockaddr *)&address, sizeof address), 0);
  asking_send(client, "graph\n");
  char *answer = asking_rest(client);
  CHECK_CONTAINS(answer, "{\"done\":true}");
  free(answer);
}

/* ------------------------------------------------------------------------------------------------------------- Forks -- */

TEST("the child of a fork leaves the parent's socket alone, and its first registration makes its own") {
  if (is_under_tsan()) return;
  served();
  int fd = asking_connect(getpid());
  asking_send(fd, "stats 300 0\n");
  CHECK(asking_line(fd) != NULL && asking_line(fd) != NULL);
  usleep(50000); /* the server is idle: the allocator of AddressSanitizer is not for forks */
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    if (exists(asking_path(getpid()))) _exit(3);
    item *own = observed();
    int asked = asking_connect(getpid());
    asking_send(asked, "stats 10 0\n");
    if (asking_line(asked) == NULL || asking_line(asked) == NULL) _exit(4);
    item_set_value(own, 1);
    while (number_after(asking_line(asked), "\"notifications\":[", "\"count\":") != 1) continue;
    int other = asking_connect(parent);
    asking_send(other, "hello\n");
    const char *line = asking_line(other);
    if (number_after(line, "", "\"pid\":") != parent) _exit(5);
    unlink(asking_path(getpid()));
    _exit(0); /* without a leak check: what the parent's server held is never freed */
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(asking_line(fd) != NULL);
  close(fd);
  free(ask_well("hello"));
}
