/* old_objects.c - setters and accessors that own objects, and destroy the one that they replace; and who may destroy an object. */
#include "fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

typedef struct box {
  kvo_object header;
  struct box *content;
  struct box *list[4];
  size_t count;
  char *name;
} box;

static int finalized;

static void destroy(box *of) {
  if (of != NULL) kvo_object_destroy(&of->header);
}

static box *get_content(const box *of) { return of->content; }
static void set_content(box *of, box *content) {
  box *old = of->content;
  of->content = content;
  destroy(old);
}
static box *get_both(const box *of) { return (void)of, NULL; }
static void set_both(box *of, box *content) { KVO_SET(of, "content", box *, content); }
static size_t count_of(const kvo_object *object, void *user) { return (void)user, ((const box *)object)->count; }
static void get_at(const kvo_object *object, size_t index, void *element, void *user) {
  (void)user;
  memcpy(element, &((const box *)object)->list[index], sizeof(box *));
}
static kvo_status insert_at(kvo_object *object, size_t index, const void *element, void *user) {
  box *of = (box *)object;
  (void)user;
  memmove(of->list + index + 1, of->list + index, (of->count++ - index) * sizeof *of->list);
  memcpy(of->list + index, element, sizeof *of->list);
  return KVO_OK;
}
static kvo_status remove_at(kvo_object *object, size_t index, void *user) {
  box *of = (box *)object, *old = of->list[index];
  (void)user;
  memmove(of->list + index, of->list + index + 1, (--of->count - index) * sizeof *of->list);
  destroy(old);
  return KVO_OK;
}

static void finalize(kvo_object *object) {
  box *of = (box *)object;
  finalized++;
  free(of->name);
  of->name = NULL;
  destroy(of->content);
}

static kvo_class *box_class(void) {
  static kvo_class *cls;
  if (cls != NULL) return cls;
  kvo_property_spec properties[] = {
      {.name = "content", .type = "@", .getter = (kvo_function)get_content, .setter = (kvo_function)set_content},
      {.name = "both", .type = "@", .getter = (kvo_function)get_both, .setter = (kvo_function)set_both}};
  kvo_list_accessors accessors = {.struct_size = sizeof accessors,
                                  .count = count_of,
                                  .get_at = get_at,
                                  .insert_at = insert_at,
                                  .remove_at = remove_at};
  kvo_collection_spec list = {.name = "list", .element_type = "@", .list = &accessors};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Box",
                         .instance_size = sizeof(box),
                         .properties = properties,
                         .property_count = 2,
                         .finalize = finalize,
                         .collections = &list,
                         .collection_count = 1,
                         .collection_size = sizeof list};
  CHECK_OK(kvo_class_register(&spec, &cls));
  return cls;
}

static box *make(const char *name) {
  kvo_object *object;
  CHECK_OK(kvo_object_create(box_class(), &object));
  size_t size = strlen(name) + 1;
  ((box *)object)->name = memcpy(malloc(size), name, size);
  return (box *)object;
}

/* The names of the old objects that observers got, and how many objects had been finalized when the last one got them. */
static char seen[64];
static int finalized_then;

static void append(const kvo_value *value, void *arg) {
  (void)arg;
  box *of = value->bytes != NULL ? *(box *const *)value->bytes : NULL;
  strcat(seen, of != NULL ? of->name : "-");
}

static void note(const kvo_change *change, void *user_data) {
  (void)user_data;
  finalized_then = finalized;
  if (change->old_value == NULL) return;
  if (change->kind == KVO_CHANGE_SETTING) append(change->old_value, NULL);
  for (size_t i = 0; change->kind != KVO_CHANGE_SETTING && i < kvo_change_count(change, KVO_OLD); i++)
    CHECK_OK(kvo_change_element(change, KVO_OLD, i, append, NULL));
}

static kvo_observation observe(box *of, const char *key_path, kvo_options options, kvo_callback callback) {
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = key_path, .options = options, .callback = callback, KVO_HERE};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(&of->header, &observer, &id));
  return id;
}

static void set(box *of, const char *key, box *value) { CHECK_OK(KVO_SET(of, key, box *, value)); }

static void set_content_by_key(box *of, box *content) { set(of, "content", content); }
static void set_content_by_trampoline(box *of, box *content) {
  ((void (*)(box *, box *))kvo_object_setter(&of->header, "content"))(of, content);
}

TEST("observers get the old object, unharmed, that an owning setter destroys; then it is finalized") {
  static void (*const ways[])(box * of, box * content) = {set_content_by_key, set_content_by_trampoline};
  for (int i = 0; i < 2; i++) {
    box *of = make("of");
    seen[0] = '\0';
    observe(of, "content", KVO_OLD, note);
    observe(of, "content", KVO_OLD | KVO_NEW, note);
    ways[i](of, make("a"));
    CHECK_EQ((const char *)seen, "--");
    ways[i](of, make("b"));
    CHECK_EQ((const char *)seen, "--aa");
    CHECK_EQ(finalized_then, 2 * i);
    CHECK_EQ(finalized, 2 * i + 1);
    ways[i](of, NULL);
    CHECK_EQ((const char *)seen, "--aabb");
    CHECK_EQ(finalized, 2 * i + 2);
  }
}

TEST("what the old object owns is destroyed after it") {
  box *of = make("of"), *a = make("a");
  set(a, "content", make("inner"));
  set(of, "content", a);
  observe(of, "content", KVO_OLD, note);
  observe(of, "content.content", KVO_OLD, note);
  set(of, "content", NULL);
  CHECK_CONTAINS(seen, "inner");
  CHECK_CONTAINS(seen, "a");
  CHECK_EQ(finalized_then, 0);
  CHECK_EQ(finalized, 2);
}

TEST("without observers of the old value the object is finalized at once") {
  box *of = make("of");
  observe(of, "content", KVO_NEW, note);
  set(of, "content", make("a"));
  set(of, "content", NULL);
  CHECK_EQ(finalized_then, 1);
}

TEST("the elements that a list destroys are finalized after the observers have got them") {
  box *of = make("of"), *elements[] = {make("a"), make("b"), make("c")};
  observe(of, "list", KVO_OLD, note);
  for (size_t i = 0; i < 3; i++)
    CHECK_OK(kvo_list_insert(&of->header, "list", i, KVO_VALUE(kvo_object *, &elements[i]->header)));
  CHECK_OK(kvo_list_remove(&of->header, "list", 1));
  CHECK_EQ((const char *)seen, "b");
  CHECK_EQ(finalized_then, 0);
  CHECK_EQ(finalized, 1);
  CHECK_OK(kvo_list_replace(&of->header, "list", 0, KVO_VALUE(kvo_object *, &make("d")->header)));
  CHECK_EQ((const char *)seen, "ba");
  CHECK_EQ(finalized, 2);
}

TEST("an object that a set in a setter destroys lives until the outermost set has notified") {
  box *of = make("of");
  set(of, "content", make("a"));
  observe(of, "content", KVO_OLD, note);
  observe(of, "both", KVO_OLD, note);
  set(of, "both", NULL);
  CHECK_EQ((const char *)seen, "a-");
  CHECK_EQ(finalized_then, 0);
  CHECK_EQ(finalized, 1);
}

static jmp_buf away;
static void leave(const kvo_change *change, void *user_data) {
  note(change, user_data);
  longjmp(away, 1);
}

static void *set_and_leave(void *of) {
  if (setjmp(away) == 0) set(of, "content", NULL);
  return NULL;
}

TEST_REPORTED("a callback that is left does not free the old object at the wrong time, but at the thread's end") {
  ignore_faults();
  box *of = make("of");
  set(of, "content", make("a"));
  observe(of, "content", KVO_OLD, leave);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, set_and_leave, of), 0);
  pthread_join(thread, NULL);
  CHECK_EQ((const char *)seen, "a");
  CHECK_EQ(finalized, 1);
}

/* ------------------------------------------------------------------------------------------------------ Who may destroy -- */

TEST_REPORTED("kvo_object_destroy of an object in memory of the program is a fault, and does nothing") {
  ignore_faults();
  box own = {.name = NULL};
  CHECK_OK(kvo_object_init(&own.header, box_class()));
  kvo_object_destroy(&own.header);
  CHECK_EQ(faults.count, 1);
  CHECK_EQ((int)faults.code, (int)KVO_FAULT_INVALID_ARGUMENT);
  CHECK_CONTAINS(faults.summary, "KVO0008 fatal: kvo_object_destroy: kvo_object_create has not made Box@0x");
  CHECK_CONTAINS(faults.report, "kvo_object_finish");
  CHECK_EQ((int)faults.line, __LINE__ - 5);
  kvo_observation id = observe(&own, "content", KVO_OLD, note);
  kvo_object_destroy(&own.header); /* observed */
  CHECK_EQ(faults.count, 2);
  CHECK_OK(kvo_remove_observer(id));
  CHECK_EQ(finalized, 0);
  kvo_object_finish(&own.header);
  CHECK_EQ(faults.count, 2);
}

TEST("an object of kvo_object_create is destroyed whether or not it is, or was, observed") {
  box *of = make("never");
  kvo_object_destroy(&of->header);
  of = make("was");
  CHECK_OK(kvo_remove_observer(observe(of, "content", KVO_OLD, note)));
  kvo_object_destroy(&of->header);
  of = make("is");
  observe(of, "content", KVO_OLD | KVO_ENDS_WITH_OBJECT, note);
  kvo_object_destroy(&of->header);
  CHECK_EQ(finalized, 3);
  CHECK_OK(kvo_class_unregister(box_class()));
}
