/* serving.h - how a peer program is asked: a line "<row> <count>" comes in, the nanoseconds for that many operations go out. */
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
  /** Makes what the operations need; called once, before the first of them. */
  void (*make)(void);
  /** NULL, or makes ready for `count` operations; outside of the measured time. */
  void (*prepare)(long count);
  /** Does the operation `count` times; what is measured. */
  void (*run)(long count);
  /** The operation tells observers, which change `sum`; if it did not change, the answer is an error. */
  bool observed;
} row;

/** Answers until the end of input; returns the exit status. An unknown row is answered with a line that begins "error". */
int serve(const row *rows, size_t count);

/** What observers add to. */
extern long sum;

#ifdef __cplusplus
}
#endif

#endif /* SERVING_H */
