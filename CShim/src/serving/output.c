/* output.c - buffers what a client is to receive, and sends it without blocking. */
#define _GNU_SOURCE
#include "serving/output.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

char *kvo__output_room(kvo_output *to, size_t size) {
  if (to->sent == to->length) to->sent = to->length = 0;
  if (to->capacity - to->length < size) {
    size_t least = to->length + size, capacity = to->capacity < BLOCK ? BLOCK : to->capacity;
    while (capacity < least) capacity *= 2;
    char *larger = capacity > size ? realloc(to->text, capacity) : NULL;
    if (larger == NULL) return NULL;
    to->text = larger;
    to->capacity = capacity;
  }
  return to->text + to->length;
}

bool kvo__output_put(kvo_output *to, kvo_put_text put, void *arg) {
  for (size_t size = 1024;;) {
    char *room = kvo__output_room(to, size);
    if (room == NULL) return false;
    kvo_sink sink = {.memory = room, .capacity = size, .fd = -1};
    put(&sink, arg);
    if (kvo__sink_end(&sink) < size) {
      to->length += sink.total;
      return true;
    }
    size = sink.total + sink.total / 4 + 64; /* counts may have grown the next time */
  }
}

/* Reads the next block of the file into the text, which has been sent. */
static bool refill(kvo_output *of) {
  char *room = kvo__output_room(of, BLOCK);
  if (room == NULL) return false;
  off_t left = of->size - of->read;
  ssize_t count = pread(of->file, room, left < BLOCK ? (size_t)left : BLOCK, of->read);
  if (count <= 0) return false;
  of->length += (size_t)count;
  of->read += count;
  return true;
}

kvo_sent kvo__output_send(kvo_output *of, int fd) {
  kvo_sent result = KVO_SENT_NOTHING;
  for (;;) {
    if (of->sent == of->length && of->file >= 0 && of->read < of->size && !refill(of)) return KVO_SENT_TO_NOBODY;
    if (of->sent == of->length) return KVO_SENT_ALL;
    ssize_t count = send(fd, of->text + of->sent, of->length - of->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? result : KVO_SENT_TO_NOBODY;
    of->sent += (size_t)count;
    result = KVO_SENT_SOME;
  }
}

void kvo__output_free(kvo_output *of) {
  free(of->text);
  kvo__output_close(&of->file);
  of->text = NULL;
  of->length = of->capacity = of->sent = 0;
  of->read = of->size = 0;
}

void kvo__output_close(_Atomic int *fd) {
  int closed = atomic_exchange(fd, -1);
  if (closed >= 0) close(closed);
}
