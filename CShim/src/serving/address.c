/* address.c - where the socket is, and that no other user can put theirs in its place or connect to it. */
#define _GNU_SOURCE
#include "serving/address.h"

#include "faults/faults.h"
#include "text/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static void complain(const char *path, const char *problem, int error) {
  char text[256];
  kvo_sink to = {.memory = text, .capacity = sizeof text, .fd = -1};
  kvo__append(&to, "%s%s%s, so kvo cannot look at this program", problem, error != 0 ? ": " : "",
              error != 0 ? strerror(error) : "");
  kvo__fault_misconfigured("KVO_SOCKET", path, strlen(path), text);
}

/* ------------------------------------------------------------------------------------------------------------- Place -- */

/* Whether it is a folder of this user, not a link to one, in which only the user can do what these bits of a mode say. */
static bool is_own_folder(const char *path, mode_t forbidden) {
  struct stat is;
  return lstat(path, &is) == 0 && S_ISDIR(is.st_mode) && is.st_uid == geteuid() && (is.st_mode & forbidden) == 0;
}

/* False if it does not fit. */
static bool compose(char path[KVO_SOCKET_PATH], const char *folder, const char *name) {
  kvo_sink to = {.memory = path, .capacity = KVO_SOCKET_PATH, .fd = -1};
  kvo__put(&to, folder);
  kvo__put(&to, name);
  kvo__put_number(&to, (unsigned long long)getpid(), 10);
  kvo__put(&to, ".sock");
  return kvo__sink_end(&to) < KVO_SOCKET_PATH;
}

static bool usual_place(char path[KVO_SOCKET_PATH]) {
  const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != NULL && *runtime == '/' && is_own_folder(runtime, S_IWGRP | S_IWOTH) &&
      compose(path, runtime, "/kvo-"))
    return true;
  char folder[64];
  kvo_sink to = {.memory = folder, .capacity = sizeof folder, .fd = -1};
  kvo__append(&to, "/tmp/kvo-%u", (unsigned)geteuid());
  if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST) {
    complain(folder, "cannot be made", errno);
    return false;
  }
  if (!is_own_folder(folder, S_IRWXG | S_IRWXO)) {
    complain(folder, "is not a folder of this user that only this user can use", 0);
    return false;
  }
  return compose(path, folder, "/");
}

/* A folder, or a path in which %p is the id of the process. */
static bool named_place(char path[KVO_SOCKET_PATH]) {
  const char *setting = kvo__settings.socket;
  struct stat is;
  bool fits;
  if (setting[strlen(setting) - 1] == '/') {
    fits = compose(path, setting, "kvo-");
  } else if (stat(setting, &is) == 0 && S_ISDIR(is.st_mode)) {
    fits = compose(path, setting, "/kvo-");
  } else {
    kvo_sink to = {.memory = path, .capacity = KVO_SOCKET_PATH, .fd = -1};
    for (const char *each = setting; *each != '\0'; each++) {
      bool is_place = each[0] == '%' && each[1] == 'p';
      if (is_place)
        kvo__put_number(&to, (unsigned long long)getpid(), 10);
      else
        kvo__put_byte(&to, *each);
      each += is_place;
    }
    fits = kvo__sink_end(&to) < KVO_SOCKET_PATH;
  }
  if (!fits) complain(setting, "makes a path of more than 107 bytes", 0);
  return fits;
}

/* ------------------------------------------------------------------------------------------------------------ Socket -- */

static struct sockaddr_un address_address_of(const char path[KVO_SOCKET_PATH]) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  _Static_assert(sizeof address.sun_path == KVO_SOCKET_PATH, "unix(7)");
  memcpy(address.sun_path, path, strlen(path) + 1);
  return address;
}

static int new_socket(void) { return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

/* Removes the socket of a process that has ended. False if there is something else. */
static bool make_way(const char path[KVO_SOCKET_PATH]) {
  struct stat is;
  if (lstat(path, &is) != 0) return true;
  if (!S_ISSOCK(is.st_mode) || is.st_uid != geteuid()) {
    complain(path, "exists already and is not a socket of this user", 0);
    return false;
  }
  struct sockaddr_un address = address_address_of(path);
  int probe = new_socket();
  bool is_left = probe >= 0 && connect(probe, (const struct sockaddr *)&address, sizeof address) != 0 &&
                 (errno == ECONNREFUSED || errno == ENOENT);
  if (probe >= 0) close(probe);
  if (is_left) return unlink(path) == 0 || errno == ENOENT;
  complain(path, "is the socket of another process", 0);
  return false;
}

/* Whether the file is a socket that only this user can connect to. */
static bool is_private(const char *path) {
  struct stat is;
  return lstat(path, &is) == 0 && S_ISSOCK(is.st_mode) && is.st_uid == geteuid() &&
         (is.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

int kvo__address_listen(char path[KVO_SOCKET_PATH]) {
  bool is_usual = strcmp(kvo__settings.socket, "1") == 0;
  if (!(is_usual ? usual_place(path) : named_place(path)) || !make_way(path)) return -1;
  struct sockaddr_un address = address_address_of(path);
  int fd = new_socket();
  /* bind(2) gives the file the socket's mode: it never has another. */
  bool is_bound =
      fd >= 0 && fchmod(fd, S_IRUSR | S_IWUSR) == 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
  int error = errno;
  if (is_bound && is_private(path) && listen(fd, 16) == 0) return fd;
  if (fd >= 0) close(fd);
  if (is_bound) unlink(path);
  complain(path, is_bound ? "cannot be made a socket of this user alone" : "cannot be made a socket",
           is_bound ? 0 : error);
  return -1;
}
