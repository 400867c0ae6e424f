/* asking.c - see asking.h. */
#include "asking.h"

#include "harness.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *asking_path(pid_t process) {
  static _Thread_local char path[108];
  snprintf(path, sizeof path, "/tmp/kvo-test-%ld.sock", (long)process);
  return path;
}

int asking_connect_with(int fd, pid_t process) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, asking_path(process), sizeof address.sun_path);
  return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

int asking_connect(pid_t process) {
  for (;;) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    int error = asking_connect_with(fd, process);
    if (error == 0) return fd;
    close(fd);
    if (error != ENOENT && error != ECONNREFUSED) harness_fail(__FILE__, __LINE__, "connect: %s", strerror(error));
    usleep(1000); /* a test that hangs is ended */
  }
}

void asking_send(int fd, const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    ssize_t count = send(fd, text, left, MSG_NOSIGNAL);
    if (count <= 0) return;
    text += count;
    left -= (size_t)count;
  }
}

int asking_begin(const char *request) {
  int fd = asking_connect(getpid());
  asking_send(fd, request);
  asking_send(fd, "\n");
  CHECK(asking_line(fd) != NULL);
  return fd;
}

/* ----------------------------------------------------------------------------------------------------- Answers -- */

enum { MOST = 1 << 26 };

/* This thread's text of up to MOST bytes. */
static char *room(void) {
  static _Thread_local char *text;
  if (text == NULL) text = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(text != MAP_FAILED);
  return text;
}

const char *asking_line(int fd) {
  char *line = room();
  size_t length = 0;
  while (length == 0 || line[length - 1] != '\n')
    if (recv(fd, line + length++, 1, 0) != 1) return NULL;
  line[length] = '\0';
  CHECK(json_is_valid(line));
  return line;
}

const char *asking_rest(int fd) {
  char *text = room();
  size_t length = 0;
  ssize_t count;
  while ((count = recv(fd, text + length, MOST - length, 0)) > 0) length += (size_t)count;
  CHECK(count == 0 || (errno == ECONNRESET && length > 0)); /* the program has answered before all was sent */
  text[length] = '\0';
  close(fd);
  return text;
}

const char *answer_to(const char *request) {
  static const char end[] = "{\"done\":true}\n";
  const char *answer = asking_rest(asking_begin(request));
  size_t length = strlen(answer), done = strlen(end);
  if (length < done || strcmp(answer + length - done, end) != 0)
    harness_fail(__FILE__, __LINE__, "\"%s\" was answered by: %s", request, answer);
  room()[length - done] = '\0';
  return answer;
}

const char *error_of(const char *request) {
  int fd = asking_begin(request);
  const char *line = asking_line(fd);
  char more;
  CHECK_CONTAINS(line, "{\"error\":\"");
  CHECK_EQ(recv(fd, &more, 1, 0), 0);
  close(fd);
  return line;
}

long long number_after(const char *text, const char *from, const char *name) {
  const char *at = text != NULL ? strstr(text, from) : NULL;
  at = at != NULL ? strstr(at, name) : NULL;
  return at != NULL ? atoll(at + strlen(name)) : -1;
}
