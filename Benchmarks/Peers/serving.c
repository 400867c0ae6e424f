/* serving.c - see serving.h. */
#include "serving.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

long sum;

/* SplitMix64, with the seed of the rows in Swift. */
static uint64_t next_random(void) {
  static uint64_t state = 42;
  uint64_t value = state += UINT64_C(0x9E3779B97F4A7C15);
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return value ^ value >> 31;
}

void shuffle(void **pointers, size_t count) {
  for (size_t last = count; last > 1; last--) {
    size_t other = (size_t)(next_random() % last);
    void *moved = pointers[last - 1];
    pointers[last - 1] = pointers[other];
    pointers[other] = moved;
  }
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static const row *find(const row *rows, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(rows[i].name, name) == 0) return &rows[i];
  return NULL;
}

/* The objects of a row are kept until another row is requested. */
static void answer(const row *asked, long count) {
  static const row *made;
  if (made != asked) {
    asked->make();
    made = asked;
  }
  if (asked->prepare != NULL) asked->prepare(count);
  sum = 0;
  long long start = now();
  asked->run(count);
  long long end = now();
  if (asked->observed && sum == 0)
    printf("error no observer of \"%s\" was called\n", asked->name);
  else
    printf("%lld\n", end - start);
}

int serve(const row *rows, size_t row_count) {
  char line[128], name[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    long count;
    const row *asked;
    if (sscanf(line, "%63s %ld", name, &count) != 2 || count < 2)
      puts("error expected \"<row> <count>\", and a count of 2 at least");
    else if ((asked = find(rows, row_count, name)) == NULL)
      printf("error unknown row \"%s\"\n", name);
    else
      answer(asked, count);
    fflush(stdout);
  }
  return 0;
}
