/* server.c - the thread that serves the clients of the socket. It never waits for one of them, and nobody waits for it. */
#define _GNU_SOURCE
#include "platform/settings.h"
#include "serving/address.h"
#include "serving/client.h"
#include "serving/serving.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 16, STACK = 256 * 1024, FULL = 100, PATIENCE = 10, FAREWELL = 500 };
static const int64_t millisecond = 1000000, second = 1000000000;

/* The process that these belong to; file descriptors are -1 if there are none. The thread closes all but `wake`. */
static pid_t owner;
static _Atomic int listening = -1, reserve = -1, wake = -1;
static char path[KVO_SOCKET_PATH];
static _Atomic bool is_asked_to_end;
static _Atomic uint32_t has_ended;
static kvo_client clients[CLIENTS];

/* ---------------------------------------------------------------------------------------------------------- Clients -- */

/* Keeps a file descriptor for a client to come when the program has used up all others. */
static void keep_one_in_reserve(void) {
  if (reserve < 0) reserve = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void dismiss(kvo_client *of) {
  char rest[KVO_REQUEST];
  int fd = atomic_exchange(&of->fd, -1);
  kvo__client_leave(of);
  /* What was not read would make close(2) drop what was sent. */
  for (int i = 0; i < 64 && recv(fd, rest, sizeof rest, MSG_DONTWAIT) > 0;) i++;
  shutdown(fd, SHUT_RDWR); /* a child that the program has forked may have a copy */
  close(fd);
  keep_one_in_reserve();
}

/* Whether the client runs as this user, or as root. */
static bool is_welcome(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

/* The files of the place are closed already. */
static void welcome(kvo_client *in, int fd) {
  in->stage = KVO_READS;
  in->request_length = 0;
  in->is_whole = false;
  in->left = 0;
  in->due = INT64_MAX;
  in->patience = kvo__now() + PATIENCE * second;
  in->fd = fd;
  if (!is_welcome(fd)) kvo__client_fail(in, "forbidden", "this program is another user's");
}

/* Accepts a client. False if that cannot be done now. */
static bool take_client(void) {
  kvo_client *in = clients;
  while (in < clients + CLIENTS && in->fd >= 0) in++;
  if (in == clients + CLIENTS) return true;
  int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
    kvo__output_close(&reserve);
    fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  }
  if (fd >= 0) welcome(in, fd);
  return fd >= 0 || errno == EAGAIN || errno == ECONNABORTED || errno == EINTR;
}

/* Reads the request; what follows its line is ignored. */
static void read_request(kvo_client *of) {
  size_t room = sizeof of->request - of->request_length;
  ssize_t count = recv(of->fd, of->request + of->request_length, room, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count == 0 && of->request_length > 0) { /* a line without an end */
    of->request[of->request_length++] = '\n';
  } else if (count <= 0) {
    dismiss(of);
    return;
  } else {
    of->request_length += (size_t)count;
  }
  char *end = memchr(of->request, '\n', of->request_length);
  if (end != NULL) {
    if (end > of->request && end[-1] == '\r') end--;
    *end = '\0';
    kvo__client_answer(of);
  } else if (of->request_length == sizeof of->request) {
    kvo__client_fail(of, "request", "a request is one line of at most %d bytes", (int)sizeof of->request - 1);
  }
}

static void write_answer(kvo_client *of) {
  size_t before = of->output.length - of->output.sent;
  kvo_sent sent = kvo__output_send(&of->output, of->fd);
  if (sent != KVO_SENT_NOTHING || before == 0) of->patience = kvo__now() + PATIENCE * second;
  if (sent == KVO_SENT_TO_NOBODY || (sent == KVO_SENT_ALL && of->stage == KVO_ENDS && of->is_whole))
    dismiss(of);
  else if (sent == KVO_SENT_ALL && of->stage == KVO_ENDS)
    kvo__client_finish(of); /* sent in the next round */
}

static bool has_output(const kvo_client *of) {
  return of->output.sent < of->output.length || of->output.file >= 0 || of->stage == KVO_ENDS;
}

static void serve(kvo_client *of, short events) {
  if (of->stage == KVO_READS && (events & (POLLIN | POLLHUP)) != 0) {
    read_request(of);
  } else if ((events & (POLLHUP | POLLERR)) != 0) {
    dismiss(of);
    return;
  }
  int64_t now = kvo__now();
  if (of->fd >= 0 && of->due <= now) kvo__client_continue(of);
  if (of->fd >= 0 && has_output(of)) write_answer(of);
  bool waits = of->stage == KVO_READS || of->output.sent < of->output.length;
  if (of->fd >= 0 && waits && of->patience <= now) dismiss(of);
}

/* ----------------------------------------------------------------------------------------------------------- Thread -- */

/* Whether no other thread of the program is left, so that the process ends with this one. The main thread remains, as a zombie. */
static bool server_is_alone(void) {
  char text[512];
  int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t count = read(fd, text, sizeof text - 1);
  close(fd);
  text[count > 0 ? count : 0] = '\0';
  const char *state = strrchr(text, ')');
  int threads = 0;
  return state != NULL && state[1] == ' ' && state[2] == 'Z' &&
         sscanf(state + 3, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d", &threads) == 1 &&
         threads == 2;
}

/* One round; `refused` is when a client could not be accepted last. */
static void serve_all(int64_t *refused) {
  struct pollfd polled[CLIENTS + 2];
  kvo_client *whose[CLIENTS];
  int64_t now = kvo__now(), next = now + second;
  nfds_t count = 0;
  bool has_room = false;
  for (kvo_client *each = clients; each != clients + CLIENTS; each++) {
    if (each->fd < 0) {
      has_room = true;
      continue;
    }
    bool reads = each->stage == KVO_READS, writes = has_output(each);
    if (each->due < next) next = each->due;
    if ((reads || writes) && each->patience < next) next = each->patience;
    whose[count] = each;
    polled[count++] = (struct pollfd){.fd = each->fd, .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0))};
  }
  bool accepts = has_room && now - *refused >= FULL * millisecond;
  if (has_room && !accepts && *refused + FULL * millisecond < next) next = *refused + FULL * millisecond;
  polled[count] = (struct pollfd){.fd = wake, .events = POLLIN};
  polled[count + 1] = (struct pollfd){.fd = accepts ? (int)listening : -1, .events = POLLIN};
  int64_t wait = next > now ? (next - now + millisecond - 1) / millisecond : 0;
  if (poll(polled, count + 2, (int)wait) < 0) {
    polled[count + 1].revents = 0;
    for (nfds_t i = 0; i < count; i++) polled[i].revents = 0;
  }
  for (nfds_t i = 0; i < count; i++) serve(whose[i], polled[i].revents);
  if ((polled[count + 1].revents & POLLIN) != 0 && !take_client()) *refused = kvo__now();
}

static void *server_run(void *arg) {
  (void)arg;
  pthread_setname_np(pthread_self(), "kvo");
  int64_t refused = kvo__now() - second, looked = kvo__now();
  while (!is_asked_to_end) {
    serve_all(&refused);
    if (kvo__now() - looked < second) continue;
    looked = kvo__now();
    if (!server_is_alone()) continue;
    unlink(path);
    break;
  }
  for (kvo_client *each = clients; each != clients + CLIENTS; each++)
    if (each->fd >= 0) dismiss(each);
  kvo__output_close(&listening);
  kvo__output_close(&reserve);
  has_ended = 1;
  kvo__futex_wake_all(&has_ended);
  return NULL;
}

/* With all signals blocked but those that a fault on the thread itself raises: the others are for the program's threads. */
static bool start_thread(void) {
  sigset_t most, before;
  sigfillset(&most);
  static const int own[] = {SIGABRT, SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&most, own[i]);
  pthread_sigmask(SIG_SETMASK, &most, &before);
  pthread_attr_t small;
  pthread_t thread;
  bool has_attributes = pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, STACK) == 0;
  bool started =
      (has_attributes && pthread_create(&thread, &small, server_run, NULL) == 0) ||
      pthread_create(&thread, NULL, server_run, NULL) == 0; /* thread-local storage may need a larger stack */
  if (started) pthread_detach(thread);
  if (has_attributes) pthread_attr_destroy(&small);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

/* ------------------------------------------------------------------------------------------------- Beginning and end -- */

void kvo__serve_start(void) {
  for (size_t i = 0; i < CLIENTS; i++) clients[i] = (kvo_client){.fd = -1, .output = {.file = -1}, .traced = -1};
  if (*kvo__settings.socket != '\0') atomic_fetch_or(&kvo__attention, KVO_TAP_SERVE);
}

static void server_begin(void) {
  int fd = kvo__address_listen(path);
  if (fd < 0) return;
  owner = getpid();
  listening = fd;
  wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  keep_one_in_reserve();
  is_asked_to_end = false;
  has_ended = 0;
  if (wake >= 0 && start_thread()) return;
  unlink(path);
  kvo__output_close(&listening);
  kvo__output_close(&reserve);
  kvo__output_close(&wake);
  kvo__fault_misconfigured("KVO_SOCKET", path, strlen(path),
                           "cannot be served: the program has no thread or file descriptor left");
}

void kvo__serve(void) {
  if ((atomic_fetch_and(&kvo__attention, ~(uint32_t)KVO_TAP_SERVE) & KVO_TAP_SERVE) == 0) return;
  int error = errno, cancellation = kvo__cancel_hold();
  server_begin();
  kvo__cancel_resume(cancellation);
  errno = error;
}

void kvo__serve_end(void) {
  if (listening < 0 || owner != getpid()) return;
  unlink(path);
  is_asked_to_end = true;
  const uint64_t one = 1;
  int cancellation = kvo__cancel_hold();
  bool is_told = write(wake, &one, sizeof one) >= 0;
  kvo__cancel_resume(cancellation);
  if (!is_told) return;
  /* The thread may be waiting for one that has called exit(3) in a signal handler. */
  for (int waited = 0; has_ended == 0 && waited < FAREWELL; waited += FULL) kvo__futex_wait_for(&has_ended, 0, FULL);
}

void kvo__serve_forked(void) {
  if (owner == 0) return;
  owner = 0;
  kvo__output_close(&listening);
  kvo__output_close(&reserve);
  kvo__output_close(&wake);
  /* What belongs to a client in addition is leaked, because the allocator might not be usable yet. */
  for (kvo_client *each = clients; each != clients + CLIENTS; each++) {
    kvo__output_close(&each->fd);
    kvo__output_close(&each->output.file);
    kvo__output_close(&each->traced);
  }
  kvo__client_forked();
  kvo__serve_start();
}
