/* coding.c - the target fuzz_coding: changes of lists and sets, and key paths with operators.
 *
 * The input is a sequence of steps. Observers replay the changes that they are told of on a copy of the list; after each step it has to be
 * equal to the list, unless nobody could be told. Conversions are compared with those of the C library. */
#include <kvo/kvo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Callbacks and accessors need not use all that they are given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { OBJECTS = 3, ROOM = 24, LISTS = 2 };

typedef struct row {
  kvo_object header;
  double prices[ROOM];
  struct row *items[ROOM];
  int tags[ROOM];
  size_t price_count, item_count, tag_count;
  double total;
  long long whole;
  float small;
  char *title;
  struct row *best;
  bool refuses;
} row;

static row rows[OBJECTS];

static void fail(const char *what) {
  fprintf(stderr, "\nfuzz_coding: %s; the last error: %s\n", what, kvo_last_error());
  abort();
}

static void expect(bool condition, const char *what) {
  if (!condition) fail(what);
}

/* ---------------------------------------------------------------------------------------------------------- The class -- */

static double get_total(const row *of) { return of->total; }
static void set_total(row *of, double value) { of->total = value; }
static long long get_whole(const row *of) { return of->whole; }
static void set_whole(row *of, long long value) { of->whole = value; }
static float get_small(const row *of) { return of->small; }
static void set_small(row *of, float value) { of->small = value; }
static row *get_best(const row *of) { return of->best; }
static void set_best(row *of, row *value) { of->best = value; }
static char *get_title(const row *of) { return of->title; }
static void set_title(row *of, const char *value) {
  char *copy = value != NULL ? strdup(value) : NULL;
  free(of->title);
  of->title = copy;
}

static size_t count_prices(const kvo_object *of, void *user) { return ((const row *)of)->price_count; }
static void get_price(const kvo_object *of, size_t index, void *to, void *user) {
  expect(index < ((const row *)of)->price_count, "get_at beyond the end");
  *(double *)to = ((const row *)of)->prices[index];
}
static kvo_status insert_price(kvo_object *object, size_t index, const void *element, void *user) {
  row *of = (row *)object;
  expect(index <= of->price_count, "insert_at beyond the end");
  if (of->refuses || of->price_count == ROOM) return KVO_ERROR_BUSY;
  memmove(&of->prices[index + 1], &of->prices[index], (of->price_count++ - index) * sizeof(double));
  of->prices[index] = *(const double *)element;
  return KVO_OK;
}
static kvo_status remove_price(kvo_object *object, size_t index, void *user) {
  row *of = (row *)object;
  expect(index < of->price_count, "remove_at beyond the end");
  if (of->refuses && index % 2 == 0) return KVO_ERROR_BUSY;
  memmove(&of->prices[index], &of->prices[index + 1], (--of->price_count - index) * sizeof(double));
  return KVO_OK;
}

static size_t count_items(const kvo_object *of, void *user) { return ((const row *)of)->item_count; }
static void get_item(const kvo_object *of, size_t index, void *to, void *user) {
  *(row **)to = ((const row *)of)->items[index];
}
static kvo_status insert_item(kvo_object *object, size_t index, const void *element, void *user) {
  row *of = (row *)object;
  if (of->item_count == ROOM) return KVO_ERROR_BUSY;
  memmove(&of->items[index + 1], &of->items[index], (of->item_count++ - index) * sizeof(row *));
  of->items[index] = *(row *const *)element;
  return KVO_OK;
}
static kvo_status remove_item(kvo_object *object, size_t index, void *user) {
  row *of = (row *)object;
  memmove(&of->items[index], &of->items[index + 1], (--of->item_count - index) * sizeof(row *));
  return KVO_OK;
}

static size_t count_tags(const kvo_object *of, void *user) { return ((const row *)of)->tag_count; }
static size_t find_tag(const row *of, int tag) {
  size_t index = 0;
  while (index < of->tag_count && of->tags[index] != tag) index++;
  return index;
}
static bool has_tag(const kvo_object *of, const void *tag, void *user) {
  return find_tag((const row *)of, *(const int *)tag) < ((const row *)of)->tag_count;
}
static void each_tag(const kvo_object *of, void (*visit)(const void *tag, void *arg), void *arg, void *user) {
  for (size_t i = 0; i < ((const row *)of)->tag_count; i++) visit(&((const row *)of)->tags[i], arg);
}
static kvo_status add_tag(kvo_object *object, const void *tag, void *user) {
  row *of = (row *)object;
  expect(!has_tag(object, tag, user), "a member is added twice");
  if (of->tag_count == ROOM) return KVO_ERROR_BUSY;
  of->tags[of->tag_count++] = *(const int *)tag;
  return KVO_OK;
}
static kvo_status remove_tag(kvo_object *object, const void *tag, void *user) {
  row *of = (row *)object;
  expect(has_tag(object, tag, user), "a member is removed that is none");
  of->tags[find_tag(of, *(const int *)tag)] = of->tags[of->tag_count - 1];
  of->tag_count--;
  return KVO_OK;
}

static void register_class(void) {
#define BOTH(key, encoding)                                                                                            \
  {.name = #key, .type = encoding, .getter = (kvo_function)get_##key, .setter = (kvo_function)set_##key}
  kvo_property_spec properties[] = {BOTH(total, "d"), BOTH(whole, "q"), BOTH(small, "f"), BOTH(title, "*"),
                                    BOTH(best, "@")};
  kvo_list_accessors prices = {.struct_size = sizeof prices,
                               .count = count_prices,
                               .get_at = get_price,
                               .insert_at = insert_price,
                               .remove_at = remove_price};
  kvo_list_accessors items = {.struct_size = sizeof items,
                              .count = count_items,
                              .get_at = get_item,
                              .insert_at = insert_item,
                              .remove_at = remove_item};
  kvo_member_accessors tags = {.struct_size = sizeof tags,
                               .count = count_tags,
                               .contains = has_tag,
                               .for_each = each_tag,
                               .add = add_tag,
                               .remove = remove_tag};
  kvo_collection_spec collections[] = {{.name = "prices", .element_type = "d", .list = &prices},
                                       {.name = "items", .element_type = "@", .list = &items},
                                       {.name = "tags", .element_type = "i", .members = &tags}};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Row",
                         .instance_size = sizeof(row),
                         .properties = properties,
                         .property_count = sizeof properties / sizeof *properties,
                         .property_size = sizeof *properties,
                         .collections = collections,
                         .collection_count = 3,
                         .collection_size = sizeof *collections};
  kvo_class *cls;
  expect(kvo_class_register(&spec, &cls) == KVO_OK, "no class");
  for (int i = 0; i < OBJECTS; i++) expect(kvo_object_init(&rows[i].header, cls) == KVO_OK, "no object");
}

/* ---------------------------------------------------------------------------------------------------------- Observers -- */

/* What an observer of "prices" knows: it is told of every change. */
typedef struct mirror {
  double prices[ROOM];
  size_t count;
} mirror;
static mirror mirrors[OBJECTS];

static void read_double(const kvo_value *value, void *arg) {
  expect(kvo_value_double(value, arg) == KVO_OK, "an element is no double");
}

static double element(const kvo_change *change, kvo_options which, size_t position) {
  double read = 0;
  expect(kvo_change_element(change, which, position, read_double, &read) == KVO_OK, "a change lacks an element");
  return read;
}

static bool are_same(double one, double other) { return memcmp(&one, &other, sizeof one) == 0; }

static void replay(const kvo_change *change, void *user_data) {
  mirror *to = user_data;
  size_t count = change->index_count;
  bool inserts = change->kind == KVO_CHANGE_INSERTION, removes = change->kind == KVO_CHANGE_REMOVAL;
  expect(inserts || removes || change->kind == KVO_CHANGE_REPLACEMENT, "a kind of change that no list has");
  expect(count > 0 && kvo_change_count(change, KVO_NEW) == (removes ? 0 : count) &&
             kvo_change_count(change, KVO_OLD) == (inserts ? 0 : count),
         "the elements do not belong to the indexes");
  for (size_t i = 0; i < count; i++) {
    size_t index = inserts ? change->indexes[i] : change->indexes[removes ? count - 1 - i : i];
    if (!inserts)
      expect(index < to->count && are_same(to->prices[index], element(change, KVO_OLD, removes ? count - 1 - i : i)),
             "an old element is not the one of its index");
    if (inserts) memmove(&to->prices[index + 1], &to->prices[index], (to->count++ - index) * sizeof(double));
    if (removes) memmove(&to->prices[index], &to->prices[index + 1], (--to->count - index) * sizeof(double));
    if (!removes) to->prices[index] = element(change, KVO_NEW, i);
  }
}

static void look(const kvo_change *change, void *user_data) {}

static const char *const observed[] = {"items.@sum.total",
                                       "items.@count",
                                       "best.prices",
                                       "tags",
                                       "items",
                                       "best.items.@max.whole",
                                       "items.@distinctUnionOfObjects.best.title"};
enum { OBSERVED = sizeof observed / sizeof *observed };

/* ----------------------------------------------------------------------------------------------------------- The input -- */

static const uint8_t *at, *end;
static unsigned byte(void) { return at < end ? *at++ : 0; }

static char text[64];
/* A text of the input, up to a NUL. */
static const char *take_text(void) {
  size_t length = 0;
  while (at < end && *at != 0 && length < sizeof text - 1) text[length++] = (char)*at++;
  if (at < end) at++;
  text[length] = '\0';
  return text;
}

static union {
  double real;
  float single;
  int64_t integer;
  uint64_t natural;
  bool truth;
  const char *string;
  kvo_object *object;
  signed char character;
} given;

static kvo_value take_value(void) {
  unsigned kind = byte() % 9;
  memset(&given, 0, sizeof given);
  if (kind == 6) {
    given.string = take_text();
    return (kvo_value){"r*", sizeof given.string, &given.string};
  }
  for (size_t i = 0; i < 8; i++) ((uint8_t *)&given)[i] = (uint8_t)byte();
  switch (kind) {
    case 0: given.real = (double)(int8_t)given.natural; return (kvo_value){"d", sizeof given.real, &given};
    case 1: return (kvo_value){"d", sizeof given.real, &given};
    case 2: return (kvo_value){"f", sizeof given.single, &given};
    case 3: return (kvo_value){"q", sizeof given.integer, &given};
    case 4: return (kvo_value){"Q", sizeof given.natural, &given};
    case 5: given.truth = given.natural & 1; return (kvo_value){"B", sizeof given.truth, &given};
    case 7: given.object = &rows[given.natural % OBJECTS].header; return (kvo_value){"@", sizeof given.object, &given};
    default: return (kvo_value){"@", sizeof given.object, NULL};
  }
}

/* ------------------------------------------------------------------------------------------------------------ Checking -- */

/* What conversion has accepted has to be what the C library reads, or the same number. */
static void check_conversion(kvo_object *object) {
  row *of = (row *)object;
  kvo_value value = take_value();
  of->total = 0.5;
  of->whole = 77;
  char code = value.type[value.type[0] == 'r'];
  if (kvo_set_value(object, "total", &value) == KVO_OK) {
    if (code == '*') expect(of->total == strtod(given.string, NULL), "a text became another double");
    if (code == 'q')
      expect((long double)of->total == (long double)given.integer || fabs(of->total) > 1e15,
             "an int64_t became another double");
    if (code == 'd') expect(are_same(of->total, given.real), "a double became another one");
  } else {
    expect(of->total == 0.5, "a refused value was stored");
  }
  if (kvo_set_value(object, "whole", &value) == KVO_OK) {
    if (code == 'd') expect((double)of->whole == given.real, "a double became another integer");
    if (code == 'f') expect((float)of->whole == given.single, "a float became another integer");
    if (code == 'Q')
      expect((uint64_t)of->whole == given.natural && of->whole >= 0, "an uint64_t became another integer");
    if (code == '*') expect((double)of->whole == strtod(given.string, NULL), "a text became another integer");
  } else {
    expect(of->whole == 77, "a refused value was stored");
  }
  if (kvo_set_value(object, "small", &value) == KVO_OK && code == 'd' && given.real == given.real) {
    char shortest[32];
    snprintf(shortest, sizeof shortest, "%.9g", (double)of->small);
    expect((double)of->small == given.real || fabs(strtod(shortest, NULL) / given.real - 1) < 1e-6,
           "a double became another float");
  }
  int64_t integer;
  double real;
  if (kvo_get_int64(object, "total", &integer) == KVO_OK)
    expect((double)integer == of->total, "a double was read as another integer");
  if (kvo_get_double(object, "whole", &real) == KVO_OK && of->whole > -(1LL << 53) && of->whole < 1LL << 53)
    expect(real == (double)of->whole, "an integer was read as another double");
}

static unsigned seen;

static void weigh(const kvo_value *value, void *arg) {
  seen++;
  for (size_t i = 0; i < kvo_value_count(value); i++)
    expect(kvo_value_element(value, i, weigh, NULL) == KVO_OK, "an element cannot be read");
}

static void read_path(kvo_object *object, const char *path) {
  double real;
  char *string = NULL;
  unsigned collections = 0; /* each element of each is walked: keep the work small */
  for (const char *c = path; *c != '\0'; c++) collections += strncmp(c, "items", 5) == 0;
  if (collections > 3) return;
  seen = 0;
  kvo_status status = kvo_get_value(object, path, weigh, NULL);
  expect((status == KVO_OK) == (seen > 0), "the reader was called, or not, against the status");
  if (status != KVO_OK) expect(kvo_last_error()[0] != '\0', "an error without a text");
  (void)kvo_get_double(object, path, &real);
  if (kvo_get_string(object, path, &string) == KVO_OK) kvo_string_free(string);
}

/* A path made of components that mean something. */
static const char *take_path(void) {
  static const char *const components[] = {"items",
                                           "prices",
                                           "tags",
                                           "best",
                                           "total",
                                           "whole",
                                           "title",
                                           "self",
                                           "@count",
                                           "@sum",
                                           "@avg",
                                           "@min",
                                           "@max",
                                           "@unionOfObjects",
                                           "@distinctUnionOfObjects",
                                           "@unionOfArrays",
                                           "@distinctUnionOfArrays",
                                           "@distinctUnionOfSets",
                                           "small",
                                           "none"};
  static char path[256];
  path[0] = '\0';
  for (unsigned i = byte() % 6 + 1; i > 0; i--) {
    if (path[0] != '\0') strcat(path, ".");
    strcat(path, components[byte() % (sizeof components / sizeof *components)]);
  }
  return path;
}

static void change_prices(kvo_object *object) {
  unsigned kind = byte();
  size_t index = byte() % (ROOM + 2), count = byte() % 4, indexes[4];
  double reals[4] = {byte(), byte() / 10.0, 1e300, -0.0};
  kvo_value values[4];
  ((row *)object)->refuses = kind >= 200;
  for (size_t i = 0; i < 4; i++) {
    indexes[i] = i == 0 ? index : indexes[i - 1] + byte() % 3;
    values[i] = (kvo_value){"d", sizeof(double), &reals[i]};
  }
  switch (kind % 7) {
    case 0: {
      kvo_value value = take_value();
      (void)kvo_list_insert(object, "prices", index, &value);
      break;
    }
    case 1: (void)kvo_list_remove(object, "prices", index); break;
    case 2: (void)kvo_list_replace(object, "prices", index, values); break;
    case 3: (void)kvo_list_insert_several(object, "prices", indexes, count, values); break;
    case 4: (void)kvo_list_remove_several(object, "prices", indexes, count); break;
    case 5: (void)kvo_list_replace_several(object, "prices", indexes, count, values); break;
    default: {
      kvo_list_accessors own = {.struct_size = sizeof own};
      expect(kvo_object_list_accessors(object, "prices", &own) == KVO_OK, "no accessors");
      if (index <= ((row *)object)->price_count) (void)own.insert_at(object, index, reals, own.user);
    }
  }
  ((row *)object)->refuses = false;
}

static void step(void) {
  unsigned what = byte();
  kvo_object *object = &rows[what / 16 % OBJECTS].header;
  switch (what % 8) {
    case 0:
    case 1: change_prices(object); break;
    case 2: {
      kvo_object *item = &rows[byte() % OBJECTS].header;
      kvo_value value = {"@", sizeof item, &item};
      if (((row *)object)->item_count < 4) (void)kvo_list_insert(object, "items", byte() % 5, &value);
      break;
    }
    case 3: (void)kvo_list_remove(object, "items", byte() % 5); break;
    case 4: {
      kvo_value value = take_value();
      (void)(what & 8 ? kvo_members_add : kvo_members_remove)(object, "tags", &value);
      break;
    }
    case 5: check_conversion(object); break;
    case 6: {
      const char *path = what & 8 ? take_path() : take_text();
      read_path(object, path);
      kvo_value value = take_value();
      if (strstr(path, "prices") == NULL) (void)kvo_set_value(object, path, &value);
      break;
    }
    default: (void)kvo_set_object(object, "best", byte() % 2 ? &rows[byte() % OBJECTS].header : NULL);
  }
}

static kvo_action go_on(const kvo_fault *fault, void *arg) {
  bool is_expected = fault->code == KVO_FAULT_BAD_INDEXES || fault->code == KVO_FAULT_INVALID_ARGUMENT ||
                     fault->code == KVO_FAULT_UNDEFINED_KEY || fault->code == KVO_FAULT_UNSUPPORTED_OBJECT;
  if (!is_expected) fail(fault->summary);
  return KVO_ACTION_IGNORE;
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  register_class();
  kvo_set_fault_handler(go_on, NULL);
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  at = bytes, end = bytes + size;
  kvo_observation ids[OBJECTS], others[OBSERVED];
  unsigned choice = byte();
  for (int i = 0; i < OBJECTS; i++) {
    row *of = &rows[i];
    of->price_count = of->item_count = of->tag_count = 0;
    of->total = i / 10.0;
    of->whole = i;
    of->best = NULL;
    set_title(of, i == 0 ? NULL : "t");
    mirrors[i].count = 0;
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = "prices",
                             .callback = replay,
                             .user_data = &mirrors[i],
                             .options = KVO_NEW | KVO_OLD};
    expect(kvo_add_observer(&of->header, &observer, &ids[i]) == KVO_OK, "no observer");
  }
  for (int i = 0; i < OBSERVED; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = observed[i],
                             .callback = look,
                             .options = KVO_NEW | (i % 2 ? KVO_OLD | KVO_PRIOR : 0)};
    others[i] = 0;
    if (choice >> i & 1) expect(kvo_add_observer(&rows[0].header, &observer, &others[i]) == KVO_OK, "no observer");
  }
  for (int steps = 0; at < end && steps < 64; steps++) {
    step();
    for (int i = 0; i < OBJECTS; i++)
      expect(mirrors[i].count == rows[i].price_count &&
                 memcmp(mirrors[i].prices, rows[i].prices, mirrors[i].count * sizeof(double)) == 0,
             "the changes that were told do not make the list");
  }
  for (int i = 0; i < OBJECTS; i++) expect(kvo_remove_observer(ids[i]) == KVO_OK, "the observer was gone");
  for (int i = 0; i < OBSERVED; i++)
    if (others[i] != 0) expect(kvo_remove_observer(others[i]) == KVO_OK, "the observer was gone");
  for (int i = 0; i < OBJECTS; i++) expect(!kvo_object_is_observed(&rows[i].header), "an object keeps a registration");
  return 0;
}
