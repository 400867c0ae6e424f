/* basket.c - the class of basket.h. */
#include "basket.h"
#include "made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *get_title(const basket *of) { return of->title; }
static void set_title(basket *of, const char *title) {
  char *copy = title != NULL ? strdup(title) : NULL;
  free(of->title);
  of->title = copy;
}
static double get_total(const basket *of) { return of->total; }
static void set_total(basket *of, double total) { of->total = total; }
static basket *get_best(const basket *of) { return of->best; }
static void set_best(basket *of, basket *best) { of->best = best; }

static bool refuses(basket *of) {
  of->accesses++;
  if (of->allowed < 0) return false;
  return of->allowed-- == 0;
}

/* The place of a list in a basket, as the accessors' user data. */
typedef struct place {
  size_t at, count_at, size;
  bool owns_strings;
} place;

static const place prices = {offsetof(basket, prices), offsetof(basket, price_count), sizeof(double), false},
                   items = {offsetof(basket, items), offsetof(basket, item_count), sizeof(basket *), false},
                   names = {offsetof(basket, names), offsetof(basket, name_count), sizeof(char *), true},
                   quiet = {offsetof(basket, quiet), offsetof(basket, quiet_count), sizeof(int), false},
                   pairs = {offsetof(basket, pairs), offsetof(basket, pair_count), sizeof(pair), false},
                   tags = {offsetof(basket, tags), offsetof(basket, tag_count), sizeof(int), false},
                   words = {offsetof(basket, words), offsetof(basket, word_count), sizeof(char *), true};

static unsigned char *bytes_of(const kvo_object *object, const place *of, size_t index) {
  return (unsigned char *)object + of->at + index * of->size;
}
static size_t *count_of(const kvo_object *object, const place *of) {
  return (size_t *)(void *)((char *)object + of->count_at);
}

static size_t list_count(const kvo_object *object, void *user) { return *count_of(object, user); }

static void list_get(const kvo_object *object, size_t index, void *element, void *user) {
  const place *of = user;
  if (index >= *count_of(object, of)) harness_fail(__FILE__, __LINE__, "get_at beyond the end");
  memcpy(element, bytes_of(object, of, index), of->size);
}

static void store(const kvo_object *object, const place *of, size_t index, const void *element) {
  memcpy(bytes_of(object, of, index), element, of->size);
  char **string = (char **)(void *)bytes_of(object, of, index);
  if (of->owns_strings && *string != NULL) *string = strdup(*string);
}

static kvo_status list_insert(kvo_object *object, size_t index, const void *element, void *user) {
  const place *of = user;
  size_t *count = count_of(object, of);
  if (refuses((basket *)object) || *count == BASKET_ROOM) return KVO_ERROR_BUSY;
  if (index > *count) return KVO_ERROR_OUT_OF_RANGE;
  memmove(bytes_of(object, of, index + 1), bytes_of(object, of, index), (*count - index) * of->size);
  store(object, of, index, element);
  ++*count;
  return KVO_OK;
}

static kvo_status list_remove(kvo_object *object, size_t index, void *user) {
  const place *of = user;
  size_t *count = count_of(object, of);
  if (refuses((basket *)object)) return KVO_ERROR_BUSY;
  if (((basket *)object)->removable-- == 0) {
    ((basket *)object)->removable = 0;
    return KVO_ERROR_REFUSED;
  }
  if (index >= *count) return KVO_ERROR_OUT_OF_RANGE;
  if (of->owns_strings) free(*(char **)(void *)bytes_of(object, of, index));
  --*count;
  memmove(bytes_of(object, of, index), bytes_of(object, of, index + 1), (*count - index) * of->size);
  return KVO_OK;
}

static kvo_status list_replace(kvo_object *object, size_t index, const void *element, void *user) {
  const place *of = user;
  if (refuses((basket *)object)) return KVO_ERROR_BUSY;
  if (index >= *count_of(object, of)) return KVO_ERROR_OUT_OF_RANGE;
  char *before = of->owns_strings ? *(char **)(void *)bytes_of(object, of, index) : NULL;
  store(object, of, index, element);
  free(before);
  return KVO_OK;
}

static size_t fixed_count(const kvo_object *object, void *user) { return 3; }
static void fixed_get(const kvo_object *object, size_t index, void *element, void *user) {
  *(int *)element = 7 + (int)index;
}

static size_t find_member(const kvo_object *object, const place *of, const void *element) {
  size_t count = *count_of(object, of), index = 0;
  for (; index < count; index++) {
    const void *member = bytes_of(object, of, index);
    if (of->owns_strings ? strcmp(*(char *const *)member, *(char *const *)element) == 0
                         : memcmp(member, element, of->size) == 0)
      break;
  }
  return index;
}
static bool set_contains(const kvo_object *object, const void *element, void *user) {
  return find_member(object, user, element) < *count_of(object, user);
}
static void set_for_each(const kvo_object *object, void (*visit)(const void *element, void *arg), void *arg,
                         void *user) {
  for (size_t i = 0; i < *count_of(object, user); i++) visit(bytes_of(object, user, i), arg);
}
static kvo_status set_add(kvo_object *object, const void *element, void *user) {
  return list_insert(object, *count_of(object, user), element, user);
}
static kvo_status set_remove(kvo_object *object, const void *element, void *user) {
  return list_remove(object, find_member(object, user, element), user);
}

kvo_class *basket_class(void) {
  static kvo_class *cls;
  if (cls != NULL) return cls;
#define LIST(name, replaces)                                                                                           \
  {.struct_size = sizeof(kvo_list_accessors),                                                                          \
   .count = list_count,                                                                                                \
   .get_at = list_get,                                                                                                 \
   .insert_at = list_insert,                                                                                           \
   .remove_at = list_remove,                                                                                           \
   .replace_at = replaces,                                                                                             \
   .user = (void *)&name}
#define SET(name)                                                                                                      \
  {                                                                                                                    \
    .struct_size = sizeof(kvo_member_accessors), .count = list_count, .contains = set_contains,                        \
    .for_each = set_for_each, .add = set_add, .remove = set_remove, .user = (void *)&name                              \
  }
  kvo_list_accessors lists[] = {LIST(prices, list_replace), LIST(items, list_replace), LIST(names, list_replace),
                                LIST(quiet, list_replace), LIST(pairs, NULL)};
  kvo_list_accessors fixed = {.struct_size = sizeof fixed, .count = fixed_count, .get_at = fixed_get};
  kvo_member_accessors sets[] = {SET(tags), SET(words)};
  kvo_collection_spec collections[] = {
      {.name = "prices", .element_type = "d", .list = &lists[0]},
      {.name = "items", .element_type = "@", .list = &lists[1]},
      {.name = "names", .element_type = "r*", .list = &lists[2]},
      {.name = "quiet", .element_type = "i", .list = &lists[3], .flags = KVO_PROPERTY_MANUAL},
      {.name = "pairs", .element_type = "{pair=id}", .list = &lists[4]},
      {.name = "fixed", .element_type = "i", .list = &fixed},
      {.name = "tags", .element_type = "i", .members = &sets[0]},
      {.name = "words", .element_type = "*", .members = &sets[1]},
  };
  kvo_property_spec properties[] = {
      PROPERTY("title", "*", get_title, set_title),
      PROPERTY("total", "d", get_total, set_total),
      PROPERTY("best", "@", get_best, set_best),
  };
  return cls = register_class((kvo_class_spec){.name = "Basket",
                                               .instance_size = sizeof(basket),
                                               .properties = properties,
                                               .property_count = COUNT(properties),
                                               .collections = collections,
                                               .collection_count = COUNT(collections)});
}

basket *basket_make(const char *title, double total) {
  basket *object = (basket *)object_of(basket_class());
  object->title = title != NULL ? strdup(title) : NULL;
  object->total = total;
  object->allowed = object->removable = -1;
  return object;
}

void basket_destroy(basket *object) {
  for (size_t i = 0; i < object->name_count; i++) free(object->names[i]);
  for (size_t i = 0; i < object->word_count; i++) free(object->words[i]);
  free(object->title);
  kvo_object_destroy(as_kvo(object));
}

static void append(char *to, const char *text) { snprintf(to + strlen(to), 1024 - strlen(to), "%s", text); }

void write_value(const kvo_value *value, void *arg) {
  char text[128] = "?";
  int64_t integer;
  double real;
  if (kvo_value_collection(value) != NULL) {
    append(arg, "(");
    for (size_t i = 0; i < kvo_value_count(value); i++) {
      if (i > 0) append(arg, ",");
      CHECK_OK(kvo_value_element(value, i, write_value, arg));
    }
    append(arg, ")");
    return;
  }
  const void *bytes = value->bytes;
  if (bytes == NULL) {
    append(arg, "nil");
    return;
  }
  switch (value->type[value->type[0] == 'r']) {
    case 'Q': snprintf(text, sizeof text, "%llu", *(const unsigned long long *)bytes); break;
    case 'd': snprintf(text, sizeof text, "%.15g", *(const double *)bytes); break;
    case '*': snprintf(text, sizeof text, "\"%s\"", *(const char *const *)bytes); break;
    case '@': snprintf(text, sizeof text, "<%s>", (*(basket *const *)bytes)->title); break;
    case '{': snprintf(text, sizeof text, "%d/%g", ((const pair *)bytes)->number, ((const pair *)bytes)->real); break;
    default:
      if (kvo_value_int64(value, &integer) == KVO_OK)
        snprintf(text, sizeof text, "%lld", (long long)integer);
      else if (kvo_value_double(value, &real) == KVO_OK)
        snprintf(text, sizeof text, "%.15g", real);
  }
  append(arg, text);
}

static void write_part(const kvo_change *change, kvo_options which, const char *sign, char *to) {
  const kvo_value *value = which == KVO_OLD ? change->old_value : change->new_value;
  if (value == NULL) return;
  append(to, sign);
  if (change->kind == KVO_CHANGE_SETTING) {
    write_value(value, to);
    return;
  }
  for (size_t i = 0; i < kvo_change_count(change, which); i++) {
    if (i > 0) append(to, ",");
    CHECK_OK(kvo_change_element(change, which, i, write_value, to));
  }
}

static void wrote(const kvo_change *change, void *user_data) {
  scribe *to = user_data;
  static const char *const kinds[] = {"", "set", "insert", "remove", "replace"};
  (*(change->is_prior ? &to->priors : &to->calls))++;
  if (change->is_prior) append(to->text, "will ");
  append(to->text, kinds[change->kind]);
  for (size_t i = 0; i < change->index_count; i++) {
    char number[32];
    snprintf(number, sizeof number, "%s%zu%s", i == 0 ? "[" : ",", change->indexes[i],
             i + 1 == change->index_count ? "]" : "");
    append(to->text, number);
  }
  write_part(change, KVO_OLD, "-", to->text);
  write_part(change, KVO_NEW, "+", to->text);
  append(to->text, " ");
}

void scribe_watch(basket *object, const char *key_path, int options, scribe *to) {
  to->id = observe_by(as_kvo(object), key_path, options, wrote, to);
}

const char *text_at(basket *object, const char *key_path) {
  static char text[1024];
  text[0] = '\0';
  kvo_status status = kvo_get_value(as_kvo(object), key_path, write_value, text);
  if (status != KVO_OK) snprintf(text, sizeof text, "(%s)", kvo_status_string(status));
  return text;
}
