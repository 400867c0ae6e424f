/* pages.c - executable memory that is never writable: each page is mapped twice, once writable and once executable.
 *
 * Both mappings are of one anonymous file (memfd_create(2)). libffi's own allocator would fall back to pages that are writable and
 * executable at the same time; here /proc/self/maps shows only rw- and r-x mappings. */
#define _GNU_SOURCE
#include "classes/classes.h"

#include "platform/signals.h"

#include <sys/mman.h>
#include <unistd.h>

static kvo_lock pages_lock;
/* The unused part of the newest pages; under pages_lock. */
static kvo_code rest;
static size_t rest_count;

static bool map_pages(size_t size, kvo_code *out) {
  int file = memfd_create("kvo-trampolines", MFD_CLOEXEC);
  if (file < 0) return false;
  bool mapped = false;
  kvo_held_signals signals;
  kvo__signals_hold(&signals); /* RLIMIT_FSIZE applies to files in memory, too */
  bool has_room = ftruncate(file, (off_t)size) == 0;
  kvo__signals_release(&signals);
  if (has_room) {
    void *writable = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    /* MAP_SHARED, because both mappings are of one memory. A child of a fork shares it too: what is in use is never written again and is
     * valid for both, and what is not used belongs to the parent (kvo__pages_forked). */
    void *executable = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    mapped = writable != MAP_FAILED && executable != MAP_FAILED;
    if (mapped) {
      out->writable = writable;
      out->executable = executable;
    } else {
      if (writable != MAP_FAILED) munmap(writable, size);
      if (executable != MAP_FAILED) munmap(executable, size);
    }
  }
  close(file);
  return mapped;
}

kvo_code kvo__pages_allocate(size_t count) {
  kvo_code code = {NULL, NULL};
  int cancellation = kvo__cancel_hold();
  kvo__lock(&pages_lock);
  if (count > rest_count) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (count * KVO_CODE_SIZE + page - 1) / page * page;
    kvo_code fresh;
    if (map_pages(size, &fresh)) {
      /* The few closures left on the previous page are wasted: they are too few for this class. */
      rest = fresh;
      rest_count = size / KVO_CODE_SIZE;
    }
  }
  if (count <= rest_count) {
    code = rest;
    rest.writable = (char *)rest.writable + count * KVO_CODE_SIZE;
    rest.executable = (char *)rest.executable + count * KVO_CODE_SIZE;
    rest_count -= count;
  }
  kvo__unlock(&pages_lock);
  kvo__cancel_resume(cancellation);
  return code;
}

void kvo__pages_forked(void) {
  rest = (kvo_code){NULL, NULL};
  rest_count = 0;
}
