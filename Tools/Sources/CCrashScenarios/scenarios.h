/* scenarios.h - common declarations of the scenarios in C: the model and the lists. */
#ifndef KVO_CRASH_SCENARIOS_H
#define KVO_CRASH_SCENARIOS_H

#include "include/CCrashScenarios.h"

/* ------------------------------------------------------------------------------------------------------------- Lists -- */

/** The scenarios of one file. */
typedef struct crash_part {
  const kvo_crash_scenario *scenarios;
  size_t count;
} crash_part;

extern const crash_part crash_lifetimes, crash_endings, crash_removal, crash_registration, crash_delivery, crash_manual,
    crash_machinery;

#define CRASH_PART(list)                                                                                               \
  { (list), sizeof(list) / sizeof *(list) }
/** The codes of a scenario are the first of the further members. */
#define SCENARIO(number, body, ...)                                                                                    \
  { .id = number, .file = __FILE__, .run = body, .codes = __VA_ARGS__ }

#define CHECK(condition) kvo_crash_check((condition), #condition, __FILE__, __LINE__)

/* ------------------------------------------------------------------------------------------------------------- Model -- */

/** Keys: name (*). */
typedef struct author {
  kvo_object header;
  char name[24];
} author;

/** Keys: pages (i), title (*), author (@), wordCount (i, KVO_PROPERTY_MANUAL), age (i, only read). */
typedef struct document {
  kvo_object header;
  /** Atomic, so that threads may set it at the same time. */
  _Atomic int pages;
  int word_count;
  char title[24];
  author *_Atomic author;
} document;

kvo_class *document_class(void);
/** Returns NULL if memory cannot be allocated. */
document *document_make(const char *title);
/** A macro, so that reports name the line of the program. */
#define document_destroy(of) kvo_object_destroy(&(of)->header)
void document_set_pages(document *of, int pages);
void document_set_author(document *of, author *by);

author *author_make(const char *name);
#define author_destroy(of) kvo_object_destroy(&(of)->header)
void author_set_name(author *of, const char *name);

/** An observer. */
typedef struct panel {
  const char *name;
  _Atomic int calls;
  /** NULL, or called in each callback. */
  void (*then)(struct panel *self, const kvo_change *change);
  document *of;
  kvo_observation observation;
} panel;

/** The callback of a panel. */
void panel_is_told(const kvo_change *change, void *user_data);
/** kvo_add_observer for a panel. */
kvo_observation panel_observe(panel *self, kvo_object *object, const char *key_path, int options, void *context,
                              const char *file, uint32_t line);
/** The same, with the source location of this line. Returns the observation, 0 if it was refused. */
#define OBSERVE(self, of, key_path, options)                                                                           \
  panel_observe((self), &(of)->header, (key_path), (options), NULL, __FILE__, __LINE__)

/** Waits until a flag is set, at most some seconds; a timeout is recorded as a failure. */
void await(_Atomic int *flag);

#endif
