/* bad_input.h - rows of the table of bad arguments: one for each function of the API, each in a process of its own. */
#ifndef KVO_TEST_BAD_INPUT_H
#define KVO_TEST_BAD_INPUT_H

#define KVO_NO_SITES /* the functions themselves */
#include "fixture.h"

#include <kvo/kvo_binding.h>

/* The row of a function; its body calls it with each argument that it must not get, in turn. */
#define ROW(function)                                                                                                  \
  static void row_of_##function(void);                                                                                 \
  __attribute__((constructor)) static void add_row_of_##function(void) {                                               \
    row_add(#function);                                                                                                \
    harness_register(#function " takes bad arguments without harm", row_of_##function);                                \
  }                                                                                                                    \
  static void row_of_##function(void)

void row_add(const char *function);
/* How many rows there are of a function. */
int row_count(const char *function);

/* A call that is told of by its status alone. */
#define REFUSED(call) CHECK_STATUS(call, KVO_ERROR_INVALID_ARGUMENT)

/* A call that raises KVO0008, once, and says so. */
#define FAULTS(call) (faults_clear(), (void)(call), faults_check("", 0, __FILE__, __LINE__))
/* The same with what it returns. */
#define FAULTS_AND_REFUSED(call) (faults_clear(), REFUSED(call), faults_check("", 0, __FILE__, __LINE__))
/* A call that is given the place "here.c", 7, and tells it. */
#define FAULTS_HERE(call) (faults_clear(), (void)(call), faults_check("here.c", 7, __FILE__, __LINE__))
void faults_clear(void);
void faults_check(const char *place, uint32_t place_line, const char *file, int line);

/* A class of a binding with one property, "value", whose values are ints on the heap. */
kvo_class *bound_class(void);
extern const kvo_value_ops bound_ops;
/* An object of it. */
kvo_object *bound_make(void);

/* `length` times the byte, and NUL. On the heap. */
char *text_of_size(size_t length, char byte);

#endif
