/* serving_clients.c - KVO_SOCKET: neither program nor client harms the other; the files that the server opens. */
#include "served.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* ----------------------------------------------------------------------------------------------------- Clients -- */

TEST("clients that say nothing, that vanish, or that never read hinder neither others nor the program") {
  item *object = served();
  int silent[8], deaf[4];
  for (int i = 0; i < 8; i++) silent[i] = asking_connect(getpid());
  for (int i = 0; i < 4; i++) {
    int small = 1;
    deaf[i] = asking_connect(getpid());
    setsockopt(deaf[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    asking_send(deaf[i], "stats 10 0\n");
  }
  for (int i = 0; i < 200; i++) {
    int fd = asking_connect(getpid());
    asking_send(fd, i % 3 == 0 ? "graph\n" : i % 3 == 1 ? "stats 10 0\n" : "tra");
    close(fd);
    item_set_value(object, i);
  }
  answer_to("graph");
  CHECK_EQ(quiet.calls, 200);
  for (int i = 0; i < 8; i++) close(silent[i]);
  for (int i = 0; i < 4; i++) close(deaf[i]);
}

TEST("a client that neither reads nor writes is given up after ten seconds") {
  served();
  CHECK_EQ(asking_rest(asking_connect(getpid())), "");
}

TEST("clients beyond the sixteenth wait until another has closed its connection") {
  served();
  int first[16];
  for (int i = 0; i < 16; i++) first[i] = asking_begin("stats 10 0");
  int last = asking_connect(getpid());
  asking_send(last, "hello\n");
  struct timeval brief = {0, 200000}, patient = {0, 0};
  setsockopt(last, SOL_SOCKET, SO_RCVTIMEO, &brief, sizeof brief);
  CHECK(asking_line(last) == NULL);
  close(first[3]);
  setsockopt(last, SOL_SOCKET, SO_RCVTIMEO, &patient, sizeof patient);
  CHECK_CONTAINS(asking_rest(last), "{\"done\":true}\n");
}

/* -------------------------------------------------------------------------------------------- File descriptors -- */

enum { MOST = 64 };

static bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

/* ------------------------------------------------------------------------------------------------------- Forks -- */

TEST("executed programs and forked children have none of the server's files, and a child makes its own socket") {
  bool before[MOST];
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  if (is_under_tsan()) return;
  for (int fd = 0; fd < MOST; fd++) before[fd] = is_open(fd);
  observed();
  answer_to("trace 1");
  for (int i = 0; i < 8; i++) before[open("/dev/null", O_RDONLY | O_CLOEXEC)] = true; /* numbers of the server's */
  int figures = asking_begin("stats 300 0"), traces = asking_begin("trace 3600000");
  CHECK(asking_line(figures) != NULL);
  usleep(50000); /* the server is idle: the allocator of AddressSanitizer is not for forks */
  for (int fd = 0; fd < MOST; fd++) {
    before[fd] |= fd == figures || fd == traces;
    CHECK(!is_open(fd) || before[fd] || (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  }
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    for (int fd = 0; fd < MOST; fd++)
      if (is_open(fd) != before[fd]) _exit(3);
    if (exists(asking_path(getpid()))) _exit(4);
    item *own = observed();
    int asked = asking_begin("stats 10 0");
    item_set_value(own, 1);
    while (number_after(asking_line(asked), "\"notifications\":[", "\"count\":") != 1) continue;
    int other = asking_connect(parent);
    asking_send(other, "hello\n");
    if (number_after(asking_line(other), "", "\"pid\":") != parent) _exit(5);
    unlink(asking_path(getpid()));
    _exit(0); /* without a leak check: what the parent's server held is never freed */
  }
  CHECK_EQ(status_of(child), 0);
  CHECK(asking_line(figures) != NULL);
  CHECK_OK(kvo_trace_end());
  CHECK_CONTAINS(asking_rest(traces), "{\"done\":true}\n");
  close(figures);
}
