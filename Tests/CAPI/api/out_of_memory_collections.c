/* out_of_memory_collections.c - whichever allocation of a list, a set or of key-value coding fails: OUT_OF_MEMORY, nothing changed, nothing
 * lost; or, while observers are called, values that are unknown to them. */
#include "allocator.h"
#include "basket.h"

#include <stdlib.h>
#include <string.h>

/* Makes the call, and repeats it if it failed for lack of memory. */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    kvo_status status_ = (call);                                                                                       \
    if (status_ != KVO_OK) {                                                                                           \
      CHECK_STATUS(status_, KVO_ERROR_OUT_OF_MEMORY);                                                                  \
      CHECK(has_failed);                                                                                               \
      CHECK_OK(call);                                                                                                  \
    }                                                                                                                  \
  } while (0)

static void count_calls(const kvo_change *change, void *user_data) {
  (void)change;
  ++*(int *)user_data;
}

static void look(const kvo_value *value, void *arg) {
  (void)value;
  ++*(int *)arg;
}

enum { PATHS = 5 };

/* Whether an allocation failed. */
static bool run(long n) {
  static const char *const paths[PATHS] = {"names", "items", "items.@sum.total", "best.prices", "words"};
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 2);
  kvo_observation ids[PATHS];
  int calls[PATHS] = {0}, reads = 0;
  root->best = leaf;
  has_failed = 0;
  fail_in = n;
  for (int i = 0; i < PATHS; i++) {
    kvo_observer observer = {.struct_size = sizeof observer,
                             .key_path = paths[i],
                             .callback = count_calls,
                             .user_data = &calls[i],
                             .options = KVO_NEW | KVO_OLD | KVO_PRIOR};
    TRY(kvo_add_observer(as_kvo(root), &observer, &ids[i]));
  }
  char large[2000];
  memset(large, 'x', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  const char *string = large;
  kvo_value values[2] = {{"*", sizeof string, &string}, {"*", sizeof string, &string}};
  pair pairs[8] = {{0}};
  kvo_value many[8];
  size_t indexes[8];
  for (size_t i = 0; i < 8; i++) many[i] = (kvo_value){"{pair=id}", sizeof(pair), &pairs[i]}, indexes[i] = i;
  TRY(kvo_list_insert_several(as_kvo(root), "names", indexes, 2, values));
  CHECK_EQ(root->name_count, 2);
  TRY(kvo_list_replace(as_kvo(root), "names", 0, values));
  TRY(kvo_list_remove(as_kvo(root), "names", 0));
  CHECK_EQ(root->name_count, 1);
  TRY(kvo_list_insert_several(as_kvo(root), "pairs", indexes, 8, many));
  CHECK_EQ(root->pair_count, 8);
  TRY(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(leaf))));
  TRY(kvo_list_insert(as_kvo(leaf), "prices", 0, KVO_VALUE(double, 1)));
  TRY(kvo_members_add(as_kvo(root), "words", values));
  TRY(kvo_members_remove(as_kvo(root), "words", values));
  CHECK(calls[0] >= 6 && calls[1] >= 2 && calls[3] >= 1 && calls[4] >= 3);
  TRY(kvo_set_double(as_kvo(leaf), "total", 5));
  double number = 0;
  char *text = NULL;
  TRY(kvo_get_double(as_kvo(root), "items.@sum.total", &number));
  CHECK_EQ(number, 5.0);
  TRY(kvo_get_string(as_kvo(root), "items.@max.title", &text));
  CHECK_EQ((const char *)text, "leaf");
  kvo_string_free(text);
  TRY(kvo_get_value(as_kvo(root), "items.prices.@distinctUnionOfArrays.self", look, &reads));
  TRY(kvo_get_value(as_kvo(root), "items.title.@unionOfObjects.self", look, &reads));
  TRY(kvo_list_get(as_kvo(root), "names", 0, look, &reads));
  TRY(kvo_members_for_each(as_kvo(root), "tags", look, &reads));
  TRY(kvo_validate_value(as_kvo(root), "best.total", KVO_VALUE(double, 1), look, &reads));
  CHECK_EQ(reads, 4);
  size_t index = 0;
  TRY(kvo_will_change_indexes(as_kvo(root), KVO_CHANGE_REPLACEMENT, "names", &index, 1));
  CHECK_OK(kvo_did_change_indexes(as_kvo(root), KVO_CHANGE_REPLACEMENT, "names", &index, 1));
  for (int i = 0; i < PATHS; i++) CHECK_OK(kvo_remove_observer(ids[i]));
  bool failed = has_failed;
  fail_in = 0;
  basket_destroy(root);
  basket_destroy(leaf);
  return failed;
}

static kvo_action no_fault(const kvo_fault *fault, void *arg) {
  (void)arg;
  if (fault->code == KVO_FAULT_NEVER_NOTIFIES) return KVO_ACTION_IGNORE; /* an expression that could not be updated */
  harness_fail(__FILE__, __LINE__, "%s", fault->summary);
}

TEST("whichever allocation fails in a call for a list, a set or a key path, the call works the next time") {
  use_counting_allocator();
  kvo_set_fault_handler(no_fault, NULL);
  run(0); /* allocates what is never freed */
  long before = live_blocks, n = 1;
  for (; run(n); n++)
    if (live_blocks != before)
      harness_fail(__FILE__, __LINE__, "allocation %ld: %ld blocks", n, (long)live_blocks - before);
  CHECK(n > 100);
  CHECK_EQ((long)live_blocks, before);
}

TEST("whichever allocation fails while a class with lists is registered, it is not registered") {
  use_counting_allocator();
  basket_class();
  kvo_list_accessors prices = {.struct_size = sizeof prices};
  basket *object = basket_make("b", 0);
  CHECK_OK(kvo_object_list_accessors(as_kvo(object), "prices", &prices));
  kvo_collection_spec collections[] = {{.name = "a", .element_type = "d", .list = &prices},
                                       {.name = "b", .element_type = "{pair=id}", .list = &prices}};
  kvo_coding_hooks hooks = {.struct_size = sizeof hooks};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Lists",
                         .instance_size = sizeof(kvo_object),
                         .collections = collections,
                         .collection_count = 2,
                         .collection_size = sizeof *collections,
                         .coding = &hooks};
  kvo_class *cls = NULL;
  kvo_status status = KVO_OK;
  long before = live_blocks, n = 1;
  for (;; n++) {
    fail_in = n;
    status = kvo_class_register(&spec, &cls);
    if (status == KVO_OK) break;
    fail_in = 0;
    CHECK_STATUS(status, KVO_ERROR_OUT_OF_MEMORY);
    CHECK_SAME(kvo_class_find("Lists"), NULL);
    CHECK_EQ((long)live_blocks, before);
  }
  fail_in = 0;
  CHECK(n > 10);
  basket_destroy(object);
}
