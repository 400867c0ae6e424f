/* model.c - documents, authors and panels: the model of the scenarios. */
#define _GNU_SOURCE
#include "scenarios.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* --------------------------------------------------------------------------------------------------- Getters, setters -- */

static int get_pages(const document *of) { return of->pages; }
static void set_pages(document *of, int pages) { of->pages = pages; }
static int get_word_count(const document *of) { return of->word_count; }
static void set_word_count(document *of, int count) { of->word_count = count; }
static const char *get_title(const document *of) { return of->title; }
static void set_title(document *of, const char *title) { snprintf(of->title, sizeof of->title, "%s", title); }
static author *get_author(const document *of) { return of->author; }
static void set_author(document *of, author *by) { of->author = by; }
static const char *get_name(const author *of) { return of->name; }
static void set_name(author *of, const char *name) { snprintf(of->name, sizeof of->name, "%s", name); }
static int get_age(const document *of) { return (int)sizeof of->title; }

/* ------------------------------------------------------------------------------------------------------------ Classes -- */

#define PROPERTY(key, encoding, suffix)                                                                                \
  { .name = key, .type = encoding, .getter = (kvo_function)get_##suffix, .setter = (kvo_function)set_##suffix }

static kvo_class *make_class(const char *name, size_t size, const kvo_property_spec *properties, size_t count) {
  kvo_class *made = NULL;
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = size,
                         .properties = properties,
                         .property_count = count};
  if (kvo_class_register(&spec, &made) != KVO_OK) abort();
  return made;
}

static kvo_class *documents, *authors;

static void make_classes(void) {
  static const kvo_property_spec of_documents[] = {
      PROPERTY("title", "*", title),
      PROPERTY("pages", "i", pages),
      PROPERTY("author", "@", author),
      {.name = "wordCount",
       .type = "i",
       .getter = (kvo_function)get_word_count,
       .setter = (kvo_function)set_word_count,
       .flags = KVO_PROPERTY_MANUAL},
      {.name = "age", .type = "i", .getter = (kvo_function)get_age},
  };
  static const kvo_property_spec of_authors[] = {PROPERTY("name", "*", name)};
  documents = make_class("document", sizeof(document), of_documents, sizeof of_documents / sizeof *of_documents);
  authors = make_class("author", sizeof(author), of_authors, 1);
}

static void need_classes(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_classes);
}

kvo_class *document_class(void) {
  need_classes();
  return documents;
}

static kvo_class *author_class(void) {
  need_classes();
  return authors;
}

document *document_make(const char *title) {
  kvo_object *made = NULL;
  if (kvo_object_create(document_class(), &made) != KVO_OK) return NULL;
  set_title((document *)made, title);
  return (document *)made;
}

author *author_make(const char *name) {
  kvo_object *made = NULL;
  if (kvo_object_create(author_class(), &made) != KVO_OK) return NULL;
  set_name((author *)made, name);
  return (author *)made;
}

void document_set_pages(document *of, int pages) { KVO_SET(of, "pages", int, pages); }
void document_set_author(document *of, author *by) { KVO_SET(of, "author", author *, by); }
void author_set_name(author *of, const char *name) { KVO_SET(of, "name", const char *, name); }

/* ------------------------------------------------------------------------------------------------------------- Panels -- */

void panel_is_told(const kvo_change *change, void *user_data) {
  panel *self = user_data;
  self->calls++;
  if (self->then != NULL) self->then(self, change);
}

kvo_observation panel_observe(panel *self, kvo_object *object, const char *key_path, int options, void *context,
                              const char *file, uint32_t line) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = panel_is_told,
                           .user_data = self,
                           .context = context,
                           .file = file,
                           .line = line};
  self->observation = 0;
  kvo_add_observer(object, &observer, &self->observation);
  return self->observation;
}

void await(_Atomic int *flag) {
  const struct timespec moment = {0, 1000000};
  for (int tries = 0; tries < 10000 && *flag == 0; tries++) nanosleep(&moment, NULL);
  CHECK(*flag != 0);
}
