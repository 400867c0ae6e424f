/* fault_contents.c - what faults contain: the object, the first line, Apple's sentence and the help. Misuses that are frequent have their
 * whole reports in the crash catalogue. */
#include "basket.h"
#include "made.h"
#include "zeros.h"

#include <stdio.h>
#include <string.h>

/* The last two faults, the newer one first. */
static struct {
  kvo_fault_code code;
  kvo_severity severity;
  const void *object;
  char object_class[32], summary[1024], apple[1024], help[2048];
} seen[2];

static kvo_action keep(const kvo_fault *fault, void *arg) {
  seen[1] = seen[0];
  seen[0].code = fault->code;
  seen[0].severity = fault->severity;
  seen[0].object = fault->object;
  snprintf(seen[0].object_class, sizeof seen[0].object_class, "%s",
           fault->object_class != NULL ? fault->object_class : "");
  snprintf(seen[0].summary, sizeof seen[0].summary, "%s", fault->summary);
  snprintf(seen[0].apple, sizeof seen[0].apple, "%s", fault->apple != NULL ? fault->apple : "");
  snprintf(seen[0].help, sizeof seen[0].help, "%s", fault->help != NULL ? fault->help : "");
  return KVO_ACTION_IGNORE;
}

static void keep_faults(void) {
  memset(seen, 0, sizeof seen);
  kvo_set_fault_handler(keep, NULL);
}

/* Checks a fault's object, and that its first line names the object between these texts. */
static void check_object(int number, const void *object, const char *cls, const char *before, const char *behind) {
  char expected[512];
  snprintf(expected, sizeof expected, "%s%s@0x%llx%s", before, cls, (unsigned long long)(uintptr_t)object, behind);
  CHECK_CONTAINS((const char *)seen[number].summary, (const char *)expected);
  CHECK_SAME(seen[number].object, object);
  CHECK_EQ((const char *)seen[number].object_class, cls);
}

static void check_help(const char *expected) { CHECK_EQ((const char *)seen[0].help, expected); }

/* A binding's object, whose header is not in front. */
typedef struct framed {
  uint64_t before[5];
  kvo_object header;
} framed;

static void framed_init(framed *object, const kvo_binding_property *properties, size_t count) {
  kvo_class *cls;
  CHECK_OK(kvo_binding_class_register("Framed", NULL, offsetof(framed, header), properties, count, &cls));
  CHECK_OK(kvo_object_init(&object->header, cls));
  keep_faults();
}

/* -------------------------------------------------------------------------------------------------------- Announcements -- */

TEST("faults of announcements and of a death name an object by its own address, wherever its header is in it") {
  const kvo_binding_property property = {.name = "value", .type = "i", .ops = &zeros};
  framed object = {{0}, {0}};
  watcher w = {0};
  framed_init(&object, &property, 1);
  watch_object(&object.header, "value", KVO_NEW, &w);
  CHECK_STATUS(kvo_did_change(&object.header, "value"), KVO_ERROR_UNBALANCED);
  check_object(0, &object, "Framed", "KVO0028 error: didChange of \"value\" of ", " without a preceding willChange");
  CHECK_OK(kvo_will_change(&object.header, "vlaue"));
  check_object(0, &object, "Framed", "KVO0009 warning: willChange of \"vlaue\" of ", ", which has no such key");
  check_help("did you mean \"value\"?");
  CHECK_OK(kvo_will_change(&object.header, "value"));
  kvo_object_finish(&object.header);
  check_object(1, &object, "Framed", "KVO0029 error: willChange of \"value\" of ", " was never followed by didChange");
  check_object(0, &object, "Framed", "KVO0001 fatal: ", " was deallocated while 1 observation was registered");
  char apple[80];
  snprintf(apple, sizeof apple, "An instance 0x%llx of class Framed ", (unsigned long long)(uintptr_t)&object);
  CHECK_CONTAINS((const char *)seen[0].apple, (const char *)apple);
}

TEST("an announced key that resembles a property among others is no misspelling") {
  const kvo_binding_property properties[] = {
      {.name = "value", .type = "i", .ops = &zeros, .flags = KVO_PROPERTY_AMONG_OTHERS},
      {.name = "height", .type = "i", .ops = &zeros}};
  framed object = {{0}, {0}};
  framed_init(&object, properties, 2);
  CHECK_OK(kvo_will_change(&object.header, "vlaue"));
  CHECK_EQ((int)seen[0].code, 0);
  CHECK_OK(kvo_will_change(&object.header, "hieght"));
  check_help("did you mean \"height\"?");
  kvo_object_finish(&object.header);
}

/* -------------------------------------------------------------------------------------------------------------- Refusals -- */

/* A registration that is refused with a single fault. */
static void refuse(kvo_object *object, const char *key_path, int options, kvo_status expected) {
  watcher w = {0};
  kvo_observer observer = watcher_observer(key_path, options, &w);
  keep_faults();
  CHECK_STATUS(kvo_add_observer(object, &observer, NULL), expected);
  CHECK_EQ((int)seen[1].code, 0);
  CHECK_EQ(w.calls + w.destroyed, 0);
  CHECK(!kvo_object_is_observed(object));
}

TEST("a key path that cannot be observed is reported with its object and its wrong component") {
  static const char form[] = "join keys by single dots, with none at the ends: \"author.name\"";
  static const struct {
    const char *key_path;
    kvo_status status;
    const char *detail, *help;
  } rows[] = {
      {"", KVO_ERROR_MALFORMED_KEY_PATH, ": it has an empty component, number 1, at position 0, at ", form},
      {".", KVO_ERROR_MALFORMED_KEY_PATH, ": it has an empty component, number 1, at position 0, at ", form},
      {"value.", KVO_ERROR_MALFORMED_KEY_PATH, ": it has an empty component, number 2, at position 6, at ", form},
      {".value", KVO_ERROR_MALFORMED_KEY_PATH, ": it has an empty component, number 1, at position 0, at ", form},
      {"next..value", KVO_ERROR_MALFORMED_KEY_PATH, ": it has an empty component, number 2, at position 5, at ", form},
      {"value.vlaue", KVO_ERROR_NOT_AN_OBJECT, ": a value on it is not an observable object, so it has no keys, at ",
       ""}};
  item *object = item_make(0);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char before[64];
    refuse(as_object(object), rows[i].key_path, KVO_NONE, rows[i].status);
    snprintf(before, sizeof before, "cannot observe \"%s\" of ", rows[i].key_path);
    check_object(0, object, "Item", before, rows[i].detail);
    check_help(rows[i].help);
  }
  object->next = object;
  refuse(as_object(object), "next.imaginary", KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT, KVO_ERROR_UNDEFINED_KEY);
  CHECK_CONTAINS((const char *)seen[0].apple, " options:12 context:0x0] was sent to "); /* those that Apple has */
  item_destroy(object);
}

TEST("a path through a collection is reported with what is wrong, Apple's sentence, and what to observe instead") {
  static const char form[] =
      "the operator is followed by what it takes of each element: \"@sum.self\", or a key instead of self";
  static const struct {
    const char *key_path;
    kvo_status status;
    kvo_fault_code code;
    const char *detail, *apple, *help; /* NULL: not compared */
  } rows[] = {
      {"items.@sum.items", KVO_ERROR_TYPE_MISMATCH, KVO_FAULT_TYPE_MISMATCH,
       "its operator cannot be computed, an operand of type \"[@]\" is not a number", NULL, NULL},
      {"prices.foo", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_THROUGH_COLLECTION,
       "\"prices\" on it is a list, and \"foo\" is no operator of collections",
       "[<NSArray> addObserver:forKeyPath:options:context:] is not supported. Key path: foo",
       "observe \"prices\" itself, an operator of it, such as \"prices.@count\" or \"prices.@sum.self\""},
      {"best.items.total", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_THROUGH_COLLECTION,
       "\"items\" on it is a list, and \"total\" is no operator of collections", NULL,
       "observe \"best.items\" itself, an operator of it, such as \"best.items.@count\" or \"best.items.@sum.total\", "
       "or its elements one by one"},
      {"tags.self.foo", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_THROUGH_COLLECTION,
       "\"tags\" on it is a set, and \"self\" is no operator of collections", NULL, NULL},
      {"prices.@cuont", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR,
       "\"prices\" on it is a list, which has no operator \"@cuont\"",
       "[<NSArray> valueForKeyPath:]: this class does not implement the cuont operation.",
       "did you mean \"@count\"? the operators of a list are @count, @sum, @avg, @min, @max, @distinctUnionOfObjects, "
       "@distinctUnionOfArrays, @distinctUnionOfSets, @unionOfObjects, @unionOfArrays"},
      {"tags.@unionOfObjects.self", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR,
       "\"tags\" on it is a set, which has no operator \"@unionOfObjects\"", NULL,
       "the operators of a set are @count, @sum, @avg, @min, @max, @distinctUnionOfObjects, @distinctUnionOfArrays, "
       "@distinctUnionOfSets"},
      {"prices.@sum", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR,
       "\"prices\" on it is a list, whose operator \"@sum\" needs a key on its right", NULL, form},
      {"best.@sum.total", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_BAD_OPERATOR,
       "Basket has no operator \"@sum\": it is not a collection", NULL,
       "put a key of a list or a set before the operator"},
      {"best.@count", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_UNDEFINED_KEY, "Basket has no key \"@count\"", NULL, NULL},
      {"items.@sum.imaginary", KVO_ERROR_UNDEFINED_KEY, KVO_FAULT_UNDEFINED_KEY, "an object on it has no such key",
       NULL, NULL},
      {"items.@sum.total.foo", KVO_ERROR_NOT_AN_OBJECT, KVO_FAULT_UNDEFINED_KEY,
       "a value on it is not an observable object, so it has no keys", NULL, NULL}};
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 1);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(leaf))));
  CHECK_OK(kvo_set_object(as_kvo(root), "best", as_kvo(leaf)));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char before[64], detail[256];
    refuse(as_kvo(root), rows[i].key_path, KVO_NONE, rows[i].status);
    snprintf(before, sizeof before, " error: cannot observe \"%s\" of ", rows[i].key_path);
    snprintf(detail, sizeof detail, ": %s, at ", rows[i].detail);
    check_object(0, root, "Basket", before, detail);
    CHECK_EQ((int)seen[0].code, (int)rows[i].code);
    if (rows[i].apple != NULL) CHECK_EQ((const char *)seen[0].apple, rows[i].apple);
    if (rows[i].help != NULL) check_help(rows[i].help);
  }
  basket_destroy(root);
  basket_destroy(leaf);
}

TEST("an observed operator that comes to a value with which it cannot compute is KVO0026 at that change") {
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 1);
  watcher w = {0};
  keep_faults();
  watch_object(as_kvo(root), "items.@sum.items", KVO_NONE, &w);
  CHECK_EQ((int)seen[0].code, 0);
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(leaf))));
  CHECK_EQ((int)seen[0].code, KVO_FAULT_TYPE_MISMATCH);
  CHECK_EQ((int)seen[1].code, 0);
  CHECK_CONTAINS((const char *)seen[0].summary, " cannot be followed: its operator cannot be computed, ");
  CHECK_OK(kvo_remove_observer(w.id));
  basket_destroy(root);
  basket_destroy(leaf);
}

/* ------------------------------------------------------------------------------------------------------------------ Keys -- */

/* What helps if an object of a class with these keys has not the one that is observed. */
static const char *help_of(const char *cls_name, const kvo_property_spec *properties, size_t count, const char *key) {
  kvo_object *object = object_made(cls_name, sizeof(kvo_object), count > 0 ? properties : NULL, count);
  refuse(object, key, KVO_INITIAL | KVO_NEW, KVO_ERROR_UNDEFINED_KEY);
  kvo_object_destroy(object);
  return seen[0].help;
}

TEST("of the keys of a class forty are listed, and it is said how many more there are, or that there are none") {
  static char names[41][32];
  kvo_property_spec properties[41];
  for (size_t i = 0; i < 41; i++) {
    snprintf(names[i], sizeof names[i], "p%zu", i);
    properties[i] = (kvo_property_spec){.name = names[i], .type = "i"};
  }
  CHECK_EQ(help_of("Bare", properties, 0, "imaginary"), "the keys of Bare are: none");
  const char *forty = help_of("Full", properties, 40, "imaginary");
  CHECK_CONTAINS(forty, "the keys of Full are: p0, p1, p2, ");
  CHECK_EQ(strstr(forty, ", p38"), ", p38, p39");
  CHECK_EQ(strstr(help_of("Fuller", properties, 41, "imaginary"), ", p38"), ", p38, p39 and 1 more");
}

TEST("of several keys that resemble the missing one the first of the nearest is suggested") {
  static const kvo_property_spec properties[] = {{.name = "titlexx", .type = "i"},
                                                 {.name = "titel", .type = "i"},
                                                 {.name = "tittle", .type = "i"},
                                                 {.name = "titleyy", .type = "i"}};
  CHECK_EQ(help_of("Titled", properties, 4, "title"),
           "did you mean \"titel\"? the keys of Titled are: titlexx, titel, tittle, titleyy");
}

TEST("a set that is refused is reported with the object, what is wrong with the key or the type, and what to do") {
  item *object = item_make(0);
  basket *list = basket_make("list", 0);
  keep_faults();
  CHECK_STATUS(KVO_SET(as_object(object), "valeu", int, 1), KVO_ERROR_UNDEFINED_KEY);
  check_object(0, object, "Item", "KVO0009 error: \"valeu\" of ", " is set, but there is no such setter, at ");
  CHECK_CONTAINS((const char *)seen[0].help, "did you mean \"value\"? the keys of Item are: value, other, ");
  CHECK_STATUS(KVO_SET(as_object(object), "doubled", int, 1), KVO_ERROR_READ_ONLY);
  check_object(0, object, "Item", "KVO0009 error: \"doubled\" of ", " is set, but it has no setter, at ");
  check_help("give it a setter, or set what its value is computed from");
  CHECK_STATUS(KVO_SET(as_kvo(list), "items", void *, NULL), KVO_ERROR_READ_ONLY);
  check_help("change the elements, with the functions of kvo_collection.h");
  CHECK_STATUS(KVO_SET(as_object(object), "value", double, 1.5), KVO_ERROR_TYPE_MISMATCH);
  check_object(0, object, "Item", "\"value\" of ",
               " is an integer of 4 bytes, and is set to a floating-point number of 8 bytes, at ");
  check_help("give KVO_SET the type of the setter's parameter: that of \"value\" has the encoding \"i\"");
  basket_destroy(list);
  item_destroy(object);
}
