/* copied_strings.c - strings whose getter returns a copy: getter and setter take the object's own lock, whoever evaluates a path. */
#include "basket.h"
#include "made.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct person {
  kvo_object header;
  pthread_mutex_t lock;
  char *name;
  struct person *_Atomic friend;
} person;

static char *get_name(const person *of) {
  pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&of->lock;
  pthread_mutex_lock(lock);
  char *copy = of->name != NULL ? strdup(of->name) : NULL;
  pthread_mutex_unlock(lock);
  return copy;
}
static void set_name(person *of, const char *name) {
  char *made = name != NULL ? strdup(name) : NULL;
  pthread_mutex_lock(&of->lock);
  char *old = of->name;
  of->name = made;
  pthread_mutex_unlock(&of->lock);
  free(old);
}
static person *get_friend(const person *of) { return of->friend; }
static void set_friend(person *of, person *friend) { of->friend = friend; }

static person *make(const char *name) {
  static kvo_class *cls;
  static const kvo_property_spec properties[] = {
      PROPERTY_WITH("name", "*", get_name, set_name, .flags = KVO_PROPERTY_COPIED),
      PROPERTY("friend", "@", get_friend, set_friend)};
  if (cls == NULL) cls = class_made("Person", sizeof(person), properties, 2);
  person *made = (person *)object_of(cls);
  pthread_mutex_init(&made->lock, NULL);
  set_name(made, name);
  return made;
}

static void destroy(person *of) {
  free(of->name);
  kvo_object_destroy(&of->header);
}

TEST("observers and readers get the strings of a getter that copies, and free what it returns") {
  person *anna = make("Anna"), *ben = make("Ben");
  kvo_object *object = &ben->header;
  scribe without = {0}, own = {0}, path = {0}, initial = {0};
  set_friend(anna, ben);
  scribe_watch((basket *)ben, "name", KVO_NONE, &without);
  scribe_watch((basket *)ben, "name", KVO_OLD | KVO_NEW, &own);
  scribe_watch((basket *)anna, "friend.name", KVO_OLD | KVO_NEW, &path);
  CHECK_OK(KVO_SET(ben, "name", const char *, "Benno"));
  CHECK_OK(KVO_SET(ben, "name", const char *, NULL));
  CHECK_OK(kvo_set_string(&anna->header, "friend.name", "Ben"));
  CHECK_EQ((const char *)without.text, "set set set ");
  CHECK_EQ((const char *)own.text, "set-\"Ben\"+\"Benno\" set-\"Benno\"+nil set-nil+\"Ben\" ");
  CHECK_EQ((const char *)path.text, (const char *)own.text);
  path.text[0] = own.text[0] = '\0';
  CHECK_OK(KVO_SET(anna, "friend", person *, NULL));
  CHECK_EQ((const char *)path.text, "set-\"Ben\"+nil ");
  CHECK_OK(kvo_will_change(object, "name"));
  CHECK_OK(kvo_did_change(object, "name"));
  CHECK_EQ((const char *)own.text, "set-\"Ben\"+\"Ben\" ");
  scribe_watch((basket *)ben, "name", KVO_INITIAL | KVO_NEW, &initial);
  CHECK_EQ((const char *)initial.text, "set+\"Ben\" ");
  char *string;
  CHECK_OK(kvo_get_string(object, "name", &string));
  CHECK_EQ((const char *)string, "Ben");
  kvo_string_free(string);
  CHECK_OK(kvo_object_load(object, kvo_class_property(kvo_object_class(object), "name"), &string));
  CHECK_EQ((const char *)string, "Ben");
  free(string); /* the caller's own */
  const kvo_observation ids[] = {without.id, own.id, path.id, initial.id};
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  destroy(ben);
  destroy(anna);
}

static person *shared;

static void *rename_shared(void *arg) {
  char name[40];
  for (int i = 0; i < 20000; i++) {
    snprintf(name, sizeof name, "a name of some length %d", i);
    KVO_SET(shared, "name", const char *, name);
  }
  return arg;
}

TEST("a lock for each object, taken in getter and setter, is enough for strings on the paths of other objects") {
  person *anna = make("Anna"), *other = make("other");
  shared = make("shared");
  int calls = 0;
  kvo_observation id = count_changes(&anna->header, "friend.name", KVO_OLD | KVO_NEW, &calls);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, rename_shared, NULL), 0);
  for (int i = 0; i < 20000; i++) KVO_SET(anna, "friend", person *, i % 2 != 0 ? shared : other);
  pthread_join(thread, NULL);
  CHECK_OK(kvo_remove_observer(id));
  destroy(shared);
  destroy(other);
  destroy(anna);
}
