/* serving.h - the protocol of a peer program: it reads lines "<row> <count>" and prints the nanoseconds for that many operations. */
#ifndef SERVING_H
#define SERVING_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One operation of a peer. */
typedef struct row {
  const char *name;
  /** Creates the objects of the operations; called once, before the first. */
  void (*make)(void);
  /** NULL, or prepares `count` operations, outside the measured time. */
  void (*prepare)(long count);
  /** Runs the operation `count` times; this is measured. */
  void (*run)(long count);
  /** Whether the operation notifies observers, which change `sum`; if it did not change, the answer is an error. */
  bool observed;
} row;

/** Answers requests until the end of input and returns the exit status. The answer to an unknown row begins with "error". */
int serve(const row *rows, size_t count);

/** Puts pointers into a random order, which is the same in each run. */
void shuffle(void **pointers, size_t count);

/** The sum that observers add to. */
extern long sum;

#ifdef __cplusplus
}
#endif

#endif /* SERVING_H */
