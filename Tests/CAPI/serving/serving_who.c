/* serving_who.c - KVO_SOCKET: who observes a key, of which class, and through which keys. */
#include "asking.h"
#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ignore(const kvo_change *change, void *arg) { (void)change, (void)arg; }

static kvo_observation observe(kvo_object *object, const char *key_path, void *observer) {
  kvo_observer described = {.struct_size = sizeof described,
                            .key_path = key_path,
                            .options = KVO_ENDS_WITH_OBJECT,
                            .callback = ignore,
                            .user_data = observer};
  kvo_observation id = 0;
  CHECK_OK(kvo_add_observer(object, &described, &id));
  return id;
}

/* A class of a module. */
typedef struct gadget {
  kvo_object header;
  int value;
  item *next;
} gadget;

static gadget *gadget_make(void) {
  kvo_property_spec properties[] = {
      {.name = "value", .type = "i", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(gadget, value)},
      {.name = "next", .type = "@", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(gadget, next)}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "App.Gadget",
                         .instance_size = sizeof(gadget),
                         .properties = properties,
                         .property_count = 2,
                         .property_size = sizeof *properties};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return (gadget *)made;
}

static void register_class(const char *name, const kvo_property_spec *properties, size_t count) {
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .instance_size = sizeof(kvo_object),
                         .properties = properties,
                         .property_count = count};
  kvo_class *cls;
  CHECK_OK(kvo_class_register(&spec, &cls));
}

static void check_answer(const char *request, const char *part) {
  char *answer = ask_well(request);
  CHECK_CONTAINS(answer, part);
  free(answer);
}

static void check_error(const char *request, const char *part) {
  char *answer = ask(request);
  CHECK_CONTAINS(answer, "{\"error\":\"");
  CHECK_CONTAINS(answer, part);
  free(answer);
}

/* ------------------------------------------------------------------------------------------------------------- Names -- */

TEST("a class of a module is found by its name with and without the module's, and not by a part of it") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  observe(&gadget_make()->header, "value", NULL);
  check_answer("who 0 Gadget.value",
               "{\"class\":\"Gadget\",\"keyPath\":\"value\",\"objects\":1,\"observations\":1,\"through\":0,");
  check_answer("who 0 App.Gadget.value",
               "{\"class\":\"App.Gadget\",\"keyPath\":\"value\",\"objects\":1,\"observations\":1,\"through\":0,");
  check_error("who 0 adget.value", "\"code\":\"unknownClass\"}");
}

TEST("of the classes whose names begin a request the one with the longest name is meant") {
  static const kvo_property_spec property = {.name = "Gadget", .type = "i"};
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  register_class("App", &property, 1);
  observe(&gadget_make()->header, "value", NULL);
  check_answer("who 0 App.Gadget.value", "{\"class\":\"App.Gadget\",\"keyPath\":\"value\",\"objects\":1,");
  check_answer("who 0 App.Gadget", "{\"class\":\"App.Gadget\",\"keyPath\":null,\"objects\":1,");
}

TEST("of an unknown class in a module that part of the request is named which resembles a class") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  observe(&gadget_make()->header, "value", NULL);
  check_error("who 0 App.Gadgte.value",
              "there is no class \\u0022App.Gadgte\\u0022; did you mean \\u0022App.Gadget\\u0022?");
}

TEST("a key that the class does not declare has its observers, if there are any") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  ignore_faults(); /* it is announced by hand */
  observe(as_object(item_make(0)), "imaginary", NULL);
  check_answer("who 0 Item.imaginary", "\"keyPath\":\"imaginary\",\"objects\":1,\"observations\":1,\"through\":0,");
}

TEST("of a class that declares no keys any key is accepted, and has no observers") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  register_class("Plain", NULL, 0);
  observe(as_object(item_make(0)), "value", NULL);
  check_answer("who 0 Plain.anything",
               "{\"class\":\"Plain\",\"keyPath\":\"anything\",\"objects\":0,\"observations\":0,\"through\":0,");
}

/* ------------------------------------------------------------------------------------------------------------- Paths -- */

TEST("only observations that reach the key of this class are told, whatever the keys of others are called") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *first = item_make(0), *second = item_make(0), *third = item_make(0);
  gadget *root = gadget_make();
  first->next = second;
  root->next = third;
  observe(as_object(first), "next.name", NULL);
  observe(&root->header, "next.value", NULL);
  check_answer("who 0 Item.next", "\"objects\":0,\"observations\":0,\"through\":1,");
  check_answer("who 0 Gadget.next", "\"objects\":0,\"observations\":0,\"through\":1,");
  check_answer("who 0 Item.value", "\"objects\":0,\"observations\":0,\"through\":1,");
  check_answer("who 0 Item", "\"objects\":1,\"observations\":1,\"through\":1,");
}

/* --------------------------------------------------------------------------------------------------------- Observers -- */

TEST("an observer that is observed itself is named by its class, and one without an address is not named") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *object = item_make(0), *other = item_make(0);
  char expected[200];
  observe(as_object(object), "value", other);
  observe(as_object(other), "name", NULL);
  snprintf(expected, sizeof expected,
           "\"endsWithObject\":true,\"observerClass\":\"Item\",\"observer\":\"0x%llx\",\"note\":null,"
           "\"registeredAt\":null,",
           (unsigned long long)(uintptr_t)other);
  check_answer("who 0 Item.value", expected);
  check_answer("who 0 Item.name", "\"observerClass\":null,\"observer\":\"0x0\",");
}

TEST("an answer of any length is whole") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *object = item_make(0);
  watcher w = {0};
  char file[800];
  for (size_t length = 600; length < 780; length++) {
    memset(file, 'f', length);
    file[length] = '\0';
    kvo_observer observer = watcher_observer("value", KVO_NEW, &w);
    observer.file = file;
    CHECK_OK(kvo_add_observer(as_object(object), &observer, &w.id));
    char *answer = ask_well("who 0 Item.value");
    CHECK_CONTAINS(answer, "\"objects\":1,\"observations\":1,\"through\":0,");
    CHECK_EQ(strspn(strstr(answer, "\"file\":\"") + strlen("\"file\":\""), "f"), length);
    free(answer);
    CHECK_OK(kvo_cancel_observer(w.id));
  }
  item_destroy(object);
}
