/* bad_input.h - rows of the table of invalid arguments: one for each function of the API, each in a process of its own. */
#ifndef KVO_TEST_BAD_INPUT_H
#define KVO_TEST_BAD_INPUT_H

#define KVO_NO_SITES /* the functions themselves */
#include "basket.h"

#include <kvo/kvo_binding.h>

/* The row of a function. Its body calls it with each invalid argument in turn. */
#define ROW(function)                                                                                                  \
  static void row_of_##function(void);                                                                                 \
  static void test_row_of_##function(void) { row_run(row_of_##function); }                                             \
  __attribute__((constructor)) static void add_row_of_##function(void) {                                               \
    row_add(#function);                                                                                                \
    harness_register(#function " takes bad arguments without harm", test_row_of_##function);                           \
  }                                                                                                                    \
  static void row_of_##function(void)

void row_add(const char *function);
void row_run(void (*row)(void));
/* What each row has: an item, and the header of no object. */
extern kvo_object *object, empty;
/* How many rows a function has. */
int row_count(const char *function);

/* A call that is refused by its status only. */
#define REFUSED(call) CHECK_STATUS(call, KVO_ERROR_INVALID_ARGUMENT)

/* A call that raises KVO0008 once, and returns INVALID_ARGUMENT. */
#define FAULTS(call) (faults_clear(), (void)(call), faults_check("", 0, __FILE__, __LINE__))
/* The same with another return value. */
#define FAULTS_AND_REFUSED(call) (faults_clear(), REFUSED(call), faults_check("", 0, __FILE__, __LINE__))
/* The same for a function whose first two arguments must not be NULL: an object, and mostly a key. */
#define NEEDS_BOTH(function, object, key, ...)                                                                         \
  (FAULTS_AND_REFUSED(function(NULL, key, __VA_ARGS__)), FAULTS_AND_REFUSED(function(object, NULL, __VA_ARGS__)))
/* A call with the source location "here.c", 7, which the fault must contain. */
#define FAULTS_HERE(call) (faults_clear(), (void)(call), faults_check("here.c", 7, __FILE__, __LINE__))
void faults_clear(void);
void faults_check(const char *place, uint32_t place_line, const char *file, int line);

/* A binding's class with one property, "value", whose values are allocated ints. */
kvo_class *bound_class(void);
extern const kvo_value_ops bound_ops;
/* An object of that class. */
kvo_object *bound_make(void);

/* A basket, the same one until the end of the test. */
kvo_object *made_basket(void);

/* Functions to pass. */
void read_nothing(const kvo_value *value, void *arg);
void ignore_raw_change(const kvo_raw_change *change, void *user_data);
void *evaluate_nothing(void *user_data);
void release_evaluated(void *value, void *user_data);

/* A string of `length` equal bytes. Free it. */
char *text_of_size(size_t length, char byte);

#endif
