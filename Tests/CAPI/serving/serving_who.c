/* serving_who.c - KVO_SOCKET: who observes a key, of which class, and through which keys. */
#include "made.h"
#include "served.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A class of a module. */
typedef struct gadget {
  kvo_object header;
  int value;
  item *next;
} gadget;

static gadget *gadget_make(void) {
  static const kvo_property_spec properties[] = {AT_OFFSET(gadget, value, "i"), AT_OFFSET(gadget, next, "@")};
  return (gadget *)object_made("App.Gadget", sizeof(gadget), properties, 2);
}

static void observe(void *object, const char *key_path, void *observer) {
  kvo_observer described = {sizeof described, key_path, KVO_ENDS_WITH_OBJECT, ignore_change, .user_data = observer};
  CHECK_OK(kvo_add_observer(object, &described, NULL));
}

TEST("who observes a key: each observation with its place, options, observer and notifications") {
  item *object = served();
  kvo_observer at = watcher_observer("", 0, &quiet);
  int fd = asking_begin("who 300 Item.value");
  for (int i = 1; i <= 7; i++) item_set_value(object, i);
  const char *answer = asking_rest(fd);
  CHECK_WHOLE(
      answer,
      "{\"class\":\"Item\",\"keyPath\":\"value\",\"objects\":1,\"observations\":1,\"through\":0,\"seconds\":~}\n"
      "{\"id\":\"0x%llx\",\"object\":{\"class\":\"Item\",\"address\":\"%p\"},\"keyPath\":\"value\","
      "\"via\":null,\"options\":[\"new\"],\"endsWithObject\":false,\"observerClass\":null,"
      "\"observer\":\"%p\",\"note\":null,\"registeredAt\":{\"file\":\"%s\",\"line\":%u},\"notifications\":7}\n"
      "{\"done\":true}\n",
      (unsigned long long)quiet.id, (void *)object, (void *)&quiet, at.file, at.line);
  double seconds = strtod(strstr(answer, "\"seconds\":") + strlen("\"seconds\":"), NULL);
  CHECK(seconds >= 0.3 && seconds < 60);
}

TEST("who observes a key includes those that reach it through a key path, and names observers that are observed") {
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  item *object = item_make(0), *next = item_make(0);
  item_set_next(object, next);
  observe(object, "next.name", next);
  observe(next, "value", NULL);
  CHECK_WHOLE(answer_to("who 0 Item.name"),
              "{\"class\":\"Item\",\"keyPath\":\"name\",\"objects\":0,\"observations\":0,\"through\":1,\"seconds\":~}\n"
              "{\"id\":\"~\",\"object\":{\"class\":\"Item\",\"address\":\"%p\"},\"keyPath\":\"next.name\","
              "\"via\":{\"class\":\"Item\",\"address\":\"%p\"},\"options\":[],\"endsWithObject\":true,"
              "\"observerClass\":\"Item\",\"observer\":\"%p\",\"note\":null,\"registeredAt\":null,"
              "\"notifications\":null}\n", /* they were not counted */
              (void *)object, (void *)next, (void *)next);
  CHECK_CONTAINS(answer_to("who 0 Item.value"), "\"observerClass\":null,\"observer\":\"0x0\",");
}

/* Checks the first line about a name, and how many observations follow. */
typedef struct row {
  const char *asked, *class_name, *key_path;
  int objects, observations, through;
} row;

static void check_rows(const row *rows, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const row *each = &rows[i];
    char request[64], expected[200];
    snprintf(request, sizeof request, "who 0 %s", each->asked);
    snprintf(expected, sizeof expected,
             "{\"class\":\"%s\",\"keyPath\":%s,\"objects\":%d,\"observations\":%d,\"through\":%d,", each->class_name,
             each->key_path, each->objects, each->observations, each->through);
    const char *answer = answer_to(request);
    CHECK_CONTAINS(answer, (const char *)expected);
    CHECK_EQ(occurrences(answer, "{\"id\":"), each->observations + each->through);
  }
}

TEST("only observations that reach the key of this class are counted, whatever the keys of others are called") {
  static const row rows[] = {
      {"Item.next", "Item", "\"next\"", 0, 0, 1},           {"Gadget.next", "Gadget", "\"next\"", 0, 0, 1},
      {"Item.value", "Item", "\"value\"", 0, 0, 1},         {"Item.next.name", "Item", "\"next.name\"", 1, 1, 0},
      {"Item.other", "Item", "\"other\"", 0, 0, 0},         {"Item", "Item", "null", 1, 2, 1},
      {"Item.imaginary", "Item", "\"imaginary\"", 1, 1, 0}, /* announced by hand */
  };
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  ignore_faults();
  item *first = item_make(0);
  gadget *root = gadget_make();
  first->next = item_make(0);
  root->next = item_make(0);
  observe(first, "next.name", NULL);
  observe(first, "imaginary", NULL);
  observe(root, "next.value", NULL);
  check_rows(rows, sizeof rows / sizeof *rows);
}

TEST("a class is found with and without its module's name, and of several names by the longest") {
  static const row rows[] = {
      {"Gadget.value", "Gadget", "\"value\"", 1, 1, 0}, {"App.Gadget.value", "App.Gadget", "\"value\"", 1, 1, 0},
      {"App.Gadget", "App.Gadget", "null", 1, 1, 0},    {"App.other", "App", "\"other\"", 0, 0, 0},
      {"Plain.any", "Plain", "\"any\"", 0, 0, 0}, /* it declares no keys */
  };
  static const kvo_property_spec properties[] = {{.name = "Gadget", .type = "i"}, {.name = "other", .type = "i"}};
  harness_environment("KVO_SOCKET", ASKING_SOCKET);
  class_made("App", sizeof(gadget), properties, 2);
  class_made("Plain", sizeof(gadget), NULL, 0);
  observe(gadget_make(), "value", NULL);
  check_rows(rows, sizeof rows / sizeof *rows);
}

/* In JSON within a text. */
#define QUOTED(name) "\\u0022" name "\\u0022"

TEST("a class or a key that does not exist is an error with the nearest name") {
  static const char *const rows[][3] = {
      {"Item.valeu", "Item has no key " QUOTED("valeu") "; did you mean " QUOTED("value") "?", "unknownKey"},
      {"Item.elephant", "Item has no key " QUOTED("elephant"), "unknownKey"},
      {"Itme.value", "there is no class " QUOTED("Itme") "; did you mean " QUOTED("Item") "?", "unknownClass"},
      {"App.Gadgte.value", "there is no class " QUOTED("App.Gadgte") "; did you mean " QUOTED("App.Gadget") "?",
       "unknownClass"},
      {"adget.value", "there is no class " QUOTED("adget") " that has been observed", "unknownClass"},
      {"Elephant.trunk", "there is no class " QUOTED("Elephant") " that has been observed", "unknownClass"},
      {"..value", "there is no class " QUOTED(".") " that has been observed", "unknownClass"},
  };
  served();
  kvo_object_destroy(&gadget_make()->header); /* its class remains */
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char request[64];
    snprintf(request, sizeof request, "who 0 %s", rows[i][0]);
    CHECK_WHOLE(error_of(request), "{\"error\":\"%s\",\"code\":\"%s\"}\n", rows[i][1], rows[i][2]);
  }
}
