/* fault_contents.c - what faults contain: the object, the first line, Apple's sentence and the help of misuses that are rare. */
#include "basket.h"
#include "counted.h"
#include "fixture.h"
#include "seen_fault.h"

#include <kvo/kvo_binding.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------- A header that is not in front -- */

typedef struct framed {
  uint64_t before[5];
  kvo_object header;
} framed;

static void *copy_zero(void *instance, void *user, const kvo_selection *selection) {
  (void)instance, (void)user, (void)selection;
  return calloc(1, sizeof(int));
}
static void release_copy(void *value, void *user) { (void)user, free(value); }
static void view_int(const void *value, void *user, kvo_value_reader reader, void *arg) {
  kvo_value view = {"i", sizeof(int), value};
  (void)user;
  reader(&view, arg);
}
static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) {
  (void)instance, (void)user, (void)value;
  return KVO_ERROR_READ_ONLY;
}

static void begin_framed(framed *object) {
  static const kvo_value_ops ops = {copy_zero, release_copy, view_int, assign_nothing, NULL};
  const kvo_binding_property property = {.name = "value", .type = "i", .ops = &ops};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Framed", NULL, offsetof(framed, header), &property, 1, &cls));
  CHECK_OK(kvo_object_init(&object->header, cls));
  kvo_set_fault_handler(keep, NULL);
}

static void observe_framed(framed *object, const char *key, watcher *w) {
  kvo_observer observer = watcher_observer(key, KVO_NEW, w);
  CHECK_OK(kvo_add_observer(&object->header, &observer, &w->id));
}

TEST("faults of announcements name an object by its own address, wherever its header is in it") {
  framed object = {{0}, {0}};
  watcher w = {0}, of_undefined = {0};
  begin_framed(&object);
  observe_framed(&object, "value", &w);
  CHECK_STATUS(kvo_did_change(&object.header, "value"), KVO_ERROR_UNBALANCED);
  CHECK_EQ((int)seen[0].code, KVO_FAULT_DID_WITHOUT_WILL);
  check_object(&seen[0], &object, "Framed", "didChange of \"value\" of ", " without a preceding willChange");
  CHECK_OK(kvo_will_change(&object.header, "vlaue"));
  CHECK_EQ((int)seen[0].code, KVO_FAULT_UNDEFINED_KEY);
  check_object(&seen[0], &object, "Framed", "willChange of \"vlaue\" of ", ", which has no such key");
  CHECK_EQ((const char *)seen[0].help, "did you mean \"value\"?");
  observe_framed(&object, "imaginary", &of_undefined);
  CHECK_OK(kvo_will_change(&object.header, "imaginary"));
  CHECK_OK(kvo_did_change(&object.header, "imaginary"));
  CHECK_EQ((int)seen[0].code, KVO_FAULT_UNDEFINED_KEY);
  check_object(&seen[0], &object, "Framed", "the value of \"imaginary\" of ", " is needed, but there is no such key");
  char apple[64];
  snprintf(apple, sizeof apple, "[<Framed 0x%llx> ", (unsigned long long)(uintptr_t)&object);
  CHECK_CONTAINS((const char *)seen[0].apple, (const char *)apple);
  CHECK_OK(kvo_remove_observer(of_undefined.id));
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_object_finish(&object.header);
}

TEST("an announced key that resembles a property among others is no misspelling") {
  static const kvo_value_ops ops = {copy_zero, release_copy, view_int, assign_nothing, NULL};
  const kvo_binding_property properties[] = {
      {.name = "value", .type = "i", .ops = &ops, .flags = KVO_PROPERTY_AMONG_OTHERS},
      {.name = "height", .type = "i", .ops = &ops}};
  framed object = {{0}, {0}};
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Open", NULL, offsetof(framed, header), properties, 2, &cls));
  CHECK_OK(kvo_object_init(&object.header, cls));
  kvo_set_fault_handler(keep, NULL);
  memset(seen, 0, sizeof seen);
  CHECK_OK(kvo_will_change(&object.header, "vlaue"));
  CHECK_EQ((const char *)seen[0].summary, "");
  CHECK_OK(kvo_will_change(&object.header, "hieght"));
  CHECK_EQ((const char *)seen[0].help, "did you mean \"height\"?");
  kvo_object_finish(&object.header);
}

TEST("faults of a death name an object by its own address, wherever its header is in it") {
  framed object = {{0}, {0}};
  watcher w = {0};
  begin_framed(&object);
  observe_framed(&object, "value", &w);
  CHECK_OK(kvo_will_change(&object.header, "value"));
  kvo_object_finish(&object.header);
  CHECK_EQ((int)seen[1].code, KVO_FAULT_UNFINISHED_CHANGE);
  check_object(&seen[1], &object, "Framed", "willChange of \"value\" of ", " was never followed by didChange");
  CHECK_EQ((int)seen[0].code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  check_object(&seen[0], &object, "Framed", "KVO0001 fatal: ", " was deallocated while 1 observation was registered");
  char apple[80];
  snprintf(apple, sizeof apple, "An instance 0x%llx of class Framed ", (unsigned long long)(uintptr_t)&object);
  CHECK_CONTAINS((const char *)seen[0].apple, (const char *)apple);
}

/* -------------------------------------------------------------------------------------------------------------- Refusals -- */

/* A registration that is refused. */
static void refuse(kvo_object *object, const char *key_path, int options, kvo_status expected) {
  watcher w = {0};
  kvo_observer observer = watcher_observer(key_path, options, &w);
  kvo_set_fault_handler(keep, NULL);
  CHECK_STATUS(kvo_add_observer(object, &observer, NULL), expected);
}

TEST("a malformed key path is reported with its empty component and with the form that it should have, and no more") {
  item *object = item_make(0);
  refuse(as_object(object), "next..value", KVO_NONE, KVO_ERROR_MALFORMED_KEY_PATH);
  check_object(&seen[0], object, "Item", "cannot observe \"next..value\" of ",
               ": it has an empty component, number 2, at position 5, at ");
  CHECK_EQ((const char *)seen[0].help, "join keys by single dots, with none at the ends: \"author.name\"");
  CHECK_EQ((const char *)seen[0].apple, "");
  item_destroy(object);
}

TEST("a path through a value that is not an object is reported as such, without keys that might be meant") {
  item *object = item_make(0);
  refuse(as_object(object), "value.vlaue", KVO_NONE, KVO_ERROR_NOT_AN_OBJECT);
  check_object(&seen[0], object, "Item", "cannot observe \"value.vlaue\" of ",
               ": a value on it is not an observable object, so it has no keys, at ");
  CHECK_EQ((const char *)seen[0].help, "");
  item_destroy(object);
}

TEST("a path that fails behind a binding's object is reported without that object's keys") {
  counted *root = counted_make(1);
  counted_set_next(root, counted_make(2));
  refuse(counted_object(root), "next.imaginary", KVO_NONE, KVO_ERROR_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen[0].summary, ": an object on it has no such key, at ");
  CHECK_EQ((const char *)seen[0].help, "");
  counted_release(root);
}

TEST("Apple's sentence has the four options that Apple has") {
  item *object = item_make(0);
  object->next = object;
  refuse(as_object(object), "next.imaginary", KVO_NEW | KVO_OLD | KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT,
         KVO_ERROR_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen[0].apple, " forKeyPath:@\"next.imaginary\" options:15 context:0x0] was sent to ");
  refuse(as_object(object), "next.imaginary", KVO_ENDS_WITH_OBJECT, KVO_ERROR_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen[0].apple, " options:0 context:0x0] was sent to ");
  item_destroy(object);
}

/* ------------------------------------------------------------------------------------------------------------------ Keys -- */

/* What helps if an object of a class with this many keys has not the one that is observed. */
static const char *help_of_class_with(size_t count) {
  static char names[41][32], class_name[32];
  kvo_property_spec properties[41];
  for (size_t i = 0; i < count; i++) {
    snprintf(names[i], sizeof names[i], "p%zu", i);
    properties[i] = (kvo_property_spec){.name = names[i], .type = "i"};
  }
  snprintf(class_name, sizeof class_name, "Of%zuKeys", count);
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = class_name,
                         .instance_size = sizeof(kvo_object),
                         .properties = count > 0 ? properties : NULL,
                         .property_count = count};
  kvo_class *cls;
  kvo_object *object;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &object));
  refuse(object, "imaginary", KVO_INITIAL | KVO_NEW, KVO_ERROR_UNDEFINED_KEY);
  kvo_object_destroy(object);
  return seen[0].help;
}

TEST("of the keys of a class forty are listed, and it is said how many more there are, or that there are none") {
  CHECK_EQ(help_of_class_with(0), "the keys of Of0Keys are: none");
  CHECK_EQ(help_of_class_with(2), "the keys of Of2Keys are: p0, p1");
  const char *forty = help_of_class_with(40);
  CHECK_CONTAINS(forty, "the keys of Of40Keys are: p0, p1, p2, ");
  CHECK_EQ(strcmp(strstr(forty, ", p38"), ", p38, p39"), 0);
  const char *more = help_of_class_with(41);
  CHECK_EQ(strcmp(strstr(more, ", p38"), ", p38, p39 and 1 more"), 0);
}

TEST("a key of any length is compared with those of the class, and a short one after a long one, too") {
  static const char keys[] = "the keys of Item are: value, other, next, name, doubled, quiet, far";
  item *object = item_make(0);
  for (size_t length = 77; length < 84; length++) {
    char key[100] = "", expected[128];
    memset(key, 'k', length);
    refuse(as_object(object), key, KVO_INITIAL | KVO_NEW, KVO_ERROR_UNDEFINED_KEY);
    CHECK_EQ((const char *)seen[0].help, keys);
    refuse(as_object(object), "valeu", KVO_INITIAL | KVO_NEW, KVO_ERROR_UNDEFINED_KEY);
    snprintf(expected, sizeof expected, "did you mean \"value\"? %s", keys);
    CHECK_EQ((const char *)seen[0].help, (const char *)expected);
  }
  item_destroy(object);
}

/* --------------------------------------------------------------------------------------------------------------- Setters -- */

TEST("a set of a key without a setter is reported with the object and the keys that there are") {
  item *object = item_make(0);
  kvo_set_fault_handler(keep, NULL);
  CHECK_STATUS(KVO_SET(as_object(object), "valeu", int, 1), KVO_ERROR_UNDEFINED_KEY);
  check_object(&seen[0], object, "Item", "KVO0009 error: \"valeu\" of ", " is set, but there is no such setter, at ");
  CHECK_CONTAINS((const char *)seen[0].help, "did you mean \"value\"? the keys of Item are: value, other, ");
  item_destroy(object);
}

TEST("a set of a key that has no setter says so, and does not suggest the same key") {
  item *object = item_make(0);
  kvo_set_fault_handler(keep, NULL);
  CHECK_STATUS(KVO_SET(as_object(object), "doubled", int, 1), KVO_ERROR_READ_ONLY);
  check_object(&seen[0], object, "Item", "KVO0009 error: \"doubled\" of ", " is set, but it has no setter, at ");
  CHECK_EQ((const char *)seen[0].help, "give it a setter, or set what its value is computed from");
  item_destroy(object);
  basket *list = basket_make("list", 0);
  CHECK_STATUS(KVO_SET(as_kvo(list), "items", void *, NULL), KVO_ERROR_READ_ONLY);
  CHECK_EQ((const char *)seen[0].help, "change the elements, with the functions of kvo_collection.h");
  basket_destroy(list);
}

TEST("a set with another type is reported with both types and their sizes, and with the encoding to use") {
  item *object = item_make(0);
  kvo_set_fault_handler(keep, NULL);
  CHECK_STATUS(KVO_SET(as_object(object), "value", double, 1.5), KVO_ERROR_TYPE_MISMATCH);
  check_object(&seen[0], object, "Item", "\"value\" of ",
               " is an integer of 4 bytes, and is set to a floating-point number of 8 bytes, at ");
  CHECK_EQ((const char *)seen[0].help,
           "give KVO_SET the type of the setter's parameter: that of \"value\" has the encoding \"i\"");
  CHECK_STATUS(KVO_SET(as_object(object), "value", short, 1), KVO_ERROR_TYPE_MISMATCH);
  CHECK_CONTAINS((const char *)seen[0].summary, " is an integer of 4 bytes, and is set to an integer of 2 bytes, at ");
  item_destroy(object);
}

/* --------------------------------------------------------------------------------------------------------------- Endings -- */

static void destroy_before(watcher *self, const kvo_change *change) {
  (void)self;
  if (change->is_prior) kvo_object_destroy(change->object);
}

TEST("an object that is ended in a callback before its change is reported with the object and what to do") {
  item *object = item_make(0);
  watcher w = {.then = destroy_before};
  watch(object, "value", KVO_PRIOR, &w);
  kvo_set_fault_handler(keep, NULL);
  item_set_value(object, 1);
  CHECK_EQ((int)seen[0].code, KVO_FAULT_INVALID_ARGUMENT);
  check_object(&seen[0], object, "Item", ": ", " is ended in a callback before a change of its \"value\", at ");
  CHECK_CONTAINS((const char *)seen[0].help, "end it after the change: in a callback without is_prior");
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("memory that is no object is reported with its address") {
  kvo_object garbage[8] = {{7}};
  char expected[128];
  kvo_set_fault_handler(keep, NULL);
  kvo_object_destroy(garbage);
  snprintf(expected, sizeof expected, " of 0x%llx: it is not an object: its header is invalid, at ",
           (unsigned long long)(uintptr_t)garbage);
  CHECK_CONTAINS((const char *)seen[0].summary, (const char *)expected);
  CHECK_SAME(seen[0].object, garbage);
  CHECK_CONTAINS((const char *)seen[0].help, "create it with kvo_object_create or kvo_object_init, and end it once; ");
}

TEST("an observation that was removed in time is reported with the thread and the age of its removal") {
  item *object = item_make(0);
  watcher removed = {0}, left = {0};
  watch(object, "other", KVO_NONE, &removed);
  watch(object, "value", KVO_NONE, &left);
  CHECK_OK(kvo_remove_observer(removed.id));
  kvo_set_fault_handler(keep, NULL);
  item_destroy(object);
  CHECK_EQ((int)seen[0].code, KVO_FAULT_DEALLOCATED_WHILE_OBSERVED);
  CHECK_EQ(seen[0].site.thread, getpid());
  CHECK(seen[0].site.age >= 0 && seen[0].site.age < 30);
}

TEST("an observer that observes another key path of the object is reported with that key path") {
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  kvo_set_fault_handler(keep, NULL);
  CHECK_STATUS(kvo_remove_observer_for(as_object(object), &w, "doubled"), KVO_ERROR_NOT_REGISTERED);
  CHECK_EQ((const char *)seen[0].help,
           "this observer observes another key path of the object, \"value\": is it that one?");
  CHECK_OK(kvo_remove_observer(w.id));
  item_destroy(object);
}

TEST("an id that was forgotten is reported with the variable that lets more be remembered") {
  harness_environment("KVO_ZOMBIES", "0");
  item *object = item_make(0);
  watcher w = {0};
  watch(object, "value", KVO_NONE, &w);
  CHECK_OK(kvo_remove_observer(w.id));
  kvo_set_fault_handler(keep, NULL);
  CHECK_STATUS(kvo_remove_observer_at(w.id, "h.c", 3), KVO_ERROR_NOT_REGISTERED);
  CHECK_CONTAINS((const char *)seen[0].summary, " that are remembered, at h.c:3");
  CHECK_EQ((const char *)seen[0].help,
           "remove an observation once; KVO_ZOMBIES=n remembers more, and the report then says where it ended");
  item_destroy(object);
}

static void wait_for_itself(watcher *self, const kvo_change *change) {
  (void)self;
  CHECK_OK(kvo_cancel_observer_and_wait_at(change->observation, "h.c", 3));
}

TEST("an endless wait is reported with its source location, also if no ended observation is remembered") {
  harness_environment("KVO_ZOMBIES", "0");
  item *object = item_make(0);
  watcher w = {.then = wait_for_itself};
  watch(object, "value", KVO_NONE, &w);
  kvo_set_fault_handler(keep, NULL);
  item_set_value(object, 1);
  CHECK_EQ((int)seen[0].code, KVO_FAULT_ENDLESS_WAIT);
  CHECK_CONTAINS((const char *)seen[0].summary, " would never end: this call is inside one of them, at h.c:3");
  item_destroy(object);
}
