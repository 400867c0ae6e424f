/* copied_strings.c - strings whose getter returns a copy: getter and setter take the object's own lock, whoever evaluates a path. */
#include "harness.h"

#include <kvo/kvo_coding.h>
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

static char *copy_of(const char *text) {
  size_t size = text != NULL ? strlen(text) + 1 : 0;
  return size > 0 ? memcpy(malloc(size), text, size) : NULL;
}

static char *get_name(const person *of) {
  pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&of->lock;
  pthread_mutex_lock(lock);
  char *copy = copy_of(of->name);
  pthread_mutex_unlock(lock);
  return copy;
}
static void set_name(person *of, const char *name) {
  char *made = copy_of(name);
  pthread_mutex_lock(&of->lock);
  char *old = of->name;
  of->name = made;
  pthread_mutex_unlock(&of->lock);
  free(old);
}
static person *get_friend(const person *of) { return of->friend; }
static void set_friend(person *of, person *friend) { of->friend = friend; }
static void finalize(kvo_object *object) { free(((person *)object)->name); }

static kvo_status register_person(kvo_property_spec name, kvo_class **cls) {
  kvo_property_spec properties[] = {
      name, {.name = "friend", .type = "@", .getter = (kvo_function)get_friend, .setter = (kvo_function)set_friend}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Person",
                         .instance_size = sizeof(person),
                         .properties = properties,
                         .property_count = 2,
                         .property_size = sizeof *properties,
                         .finalize = finalize};
  return kvo_class_register(&spec, cls);
}

static person *make(const char *name) {
  static kvo_class *cls;
  kvo_property_spec spec = {.name = "name",
                            .type = "*",
                            .getter = (kvo_function)get_name,
                            .setter = (kvo_function)set_name,
                            .flags = KVO_PROPERTY_COPIED};
  if (cls == NULL) CHECK_OK(register_person(spec, &cls));
  kvo_object *object;
  CHECK_OK(kvo_object_create(cls, &object));
  person *made = (person *)object;
  pthread_mutex_init(&made->lock, NULL);
  made->name = copy_of(name);
  return made;
}

static void destroy(person *of) { kvo_object_destroy(&of->header); }

/* What observers got, as "old>new ". */
static char told[256];

static const char *text_of(const kvo_value *value) {
  return value == NULL ? "?" : value->bytes == NULL ? "-" : *(const char *const *)value->bytes;
}
static void note(const kvo_change *change, void *user_data) {
  (void)user_data;
  size_t length = strlen(told);
  snprintf(told + length, sizeof told - length, "%s>%s ", text_of(change->old_value), text_of(change->new_value));
}

static kvo_observation observe(person *of, const char *key_path, int options, kvo_callback callback) {
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = key_path,
                           .options = (kvo_options)options,
                           .callback = callback,
                           KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&of->header, &observer, &id));
  return id;
}

static void check_told(const char *expected) {
  CHECK_EQ((const char *)told, expected);
  told[0] = '\0';
}

TEST("observers and readers get the strings of a getter that copies, and free what it returns") {
  person *anna = make("Anna"), *ben = make("Ben");
  set_friend(anna, ben);
  kvo_observation ids[] = {observe(ben, "name", KVO_NONE, note), observe(ben, "name", KVO_OLD | KVO_NEW, note),
                           observe(anna, "friend.name", KVO_OLD | KVO_NEW, note)};
  CHECK_OK(KVO_SET(ben, "name", const char *, "Benno"));
  check_told("Ben>Benno Ben>Benno ?>? ");
  CHECK_OK(KVO_SET(ben, "name", const char *, NULL));
  check_told("Benno>- Benno>- ?>? ");
  CHECK_OK(kvo_set_string(&anna->header, "friend.name", "Ben"));
  check_told("->Ben ->Ben ?>? ");
  CHECK_OK(KVO_SET(anna, "friend", person *, NULL));
  check_told("Ben>- ");
  CHECK_OK(kvo_remove_observer(observe(ben, "name", KVO_INITIAL | KVO_NEW, note)));
  check_told("?>Ben ");
  char *string;
  CHECK_OK(kvo_get_string(&ben->header, "name", &string));
  CHECK_EQ((const char *)string, "Ben");
  kvo_string_free(string);
  CHECK_OK(kvo_object_load(&ben->header, kvo_class_property(kvo_object_class(&ben->header), "name"), &string));
  CHECK_EQ((const char *)string, "Ben");
  free(string); /* the caller's own */
  CHECK_OK(kvo_will_change(&ben->header, "name"));
  CHECK_OK(kvo_did_change(&ben->header, "name"));
  check_told("Ben>Ben ?>? ");
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(ids[i]));
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

static void ignore(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

TEST("a lock for each object, taken in getter and setter, is enough for strings on the paths of other objects") {
  person *anna = make("Anna"), *other = make("other");
  shared = make("shared");
  kvo_observation id = observe(anna, "friend.name", KVO_OLD | KVO_NEW, ignore);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, rename_shared, NULL), 0);
  for (int i = 0; i < 20000; i++) KVO_SET(anna, "friend", person *, i % 2 != 0 ? shared : other);
  pthread_join(thread, NULL);
  CHECK_OK(kvo_remove_observer(id));
  destroy(shared);
  destroy(other);
  destroy(anna);
}

TEST("only a string with a getter can be copied") {
  kvo_class *cls;
  kvo_property_spec spec = {
      .name = "name", .type = "i", .getter = (kvo_function)get_name, .flags = KVO_PROPERTY_COPIED};
  CHECK_STATUS(register_person(spec, &cls), KVO_ERROR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kvo_last_error(), "KVO_PROPERTY_COPIED is for strings with a getter");
  spec.type = "*";
  spec.getter = NULL;
  CHECK_STATUS(register_person(spec, &cls), KVO_ERROR_INVALID_ARGUMENT);
  spec.flags |= KVO_PROPERTY_AT_OFFSET;
  spec.offset = offsetof(person, name);
  CHECK_STATUS(register_person(spec, &cls), KVO_ERROR_INVALID_ARGUMENT);
}
