/* basket.h - a class with lists and sets, for the tests of to-many properties and of key-value coding, and an observer of their changes. */
#ifndef KVO_TEST_BASKET_H
#define KVO_TEST_BASKET_H

#include "fixture.h"

enum { BASKET_ROOM = 20 };

/* Keys: title (*), total (d), best (@); the lists prices (d), items (@, of baskets), names (*), fixed (i: 7, 8, 9, without mutating
 * accessors), quiet (i, KVO_PROPERTY_MANUAL), pairs ({pair=id}, replaced by insertion and removal); the sets tags (i) and words (*). */
typedef struct pair {
  int number;
  double real;
} pair;

typedef struct basket {
  kvo_object header;
  char *title;
  double total;
  struct basket *best;
  double prices[BASKET_ROOM];
  struct basket *items[BASKET_ROOM];
  char *names[BASKET_ROOM];
  int quiet[BASKET_ROOM];
  pair pairs[BASKET_ROOM];
  int tags[BASKET_ROOM];
  char *words[BASKET_ROOM];
  size_t price_count, item_count, name_count, quiet_count, pair_count, tag_count, word_count;
  /* Calls of mutating accessors that succeed before the next one is refused with KVO_ERROR_BUSY; negative: none is refused. */
  int allowed;
  /* How many elements may be removed before all removals are refused with KVO_ERROR_REFUSED; negative: any. */
  int removable;
  /* How many calls of mutating accessors there were. */
  int accesses;
} basket;

kvo_class *basket_class(void);
basket *basket_make(const char *title, double total);
void basket_destroy(basket *object);
static inline kvo_object *as_kvo(basket *object) { return &object->header; }

/* The address of a value, as a kvo_value. */
#define VALUE(encoding, T, ...) (&(kvo_value){encoding, sizeof(T), &(T){__VA_ARGS__}})

/* Records the changes of a list or a set as a text, such as "insert[1]+2.5 " or "replace[0]-1+3 " or "set-(1,2)+(1) ". */
typedef struct scribe {
  char text[1024];
  int calls, priors;
  kvo_observation id;
} scribe;
void scribe_watch(basket *object, const char *key_path, int options, scribe *to);
/* Appends a value as a text; `arg` is a char[1024]. */
void write_value(const kvo_value *value, void *arg);
/* The value of a key path as a text; the status's text in parentheses if it cannot be read. Overwritten by the next call. */
const char *text_at(basket *object, const char *key_path);

#endif
