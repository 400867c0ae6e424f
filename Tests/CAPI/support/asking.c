/* asking.c - a client of the socket that KVO_SOCKET names. */
#include "asking.h"

#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

const char *asking_path(pid_t process) {
  static _Thread_local char path[108];
  snprintf(path, sizeof path, "/tmp/kvo-test-%ld.sock", (long)process);
  return path;
}

int asking_connect(pid_t process) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, asking_path(process), sizeof address.sun_path);
  for (;;) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int error = errno;
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

char *asking_rest(int fd) {
  size_t length = 0, capacity = 1 << 16;
  char *text = malloc(capacity);
  for (;;) {
    if (length + 1 == capacity) text = realloc(text, capacity *= 2);
    CHECK(text != NULL);
    ssize_t count = recv(fd, text + length, capacity - length - 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == ECONNRESET && length > 0) break; /* the program has answered before all was sent */
    if (count < 0) {
      fprintf(stderr, "recv after %zu bytes: %s\n", length, strerror(errno)); /* which tests may expect */
      free(text);
      close(fd);
      return NULL;
    }
    if (count == 0) break;
    length += (size_t)count;
  }
  close(fd);
  text[length] = '\0';
  return text;
}

const char *asking_line(int fd) {
  static _Thread_local char line[1 << 18];
  size_t length = 0;
  while (length + 1 < sizeof line && (length == 0 || line[length - 1] != '\n'))
    if (recv(fd, line + length, 1, 0) == 1)
      length++;
    else
      return NULL;
  line[length] = '\0';
  return line;
}

char *ask(const char *request) {
  int fd = asking_connect(getpid());
  asking_send(fd, request);
  asking_send(fd, "\n");
  char *answer = asking_rest(fd);
  CHECK(answer != NULL);
  return answer;
}

char *ask_well(const char *request) {
  static const char end[] = "{\"done\":true}\n";
  char *answer = ask(request);
  size_t length = strlen(answer);
  if (length < sizeof end || strcmp(answer + length - (sizeof end - 1), end) != 0)
    harness_fail(__FILE__, __LINE__, "\"%s\" was answered by: %s", request, answer);
  return answer;
}

long long number_after(const char *text, const char *from, const char *name) {
  const char *at = text != NULL ? strstr(text, from) : NULL;
  at = at != NULL ? strstr(at, name) : NULL;
  return at != NULL ? atoll(at + strlen(name)) : -1;
}
