/* out_of_memory_collections.c - whichever allocation of a list, a set or of key-value coding fails: OUT_OF_MEMORY, nothing changed, nothing
 * lost; or, while observers are called, values that are unknown to them. */
#include "allocator.h"
#include "basket.h"

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

static void count_calls(const kvo_change *change, void *user_data) { ((watcher *)user_data)->calls++; }

static void look(const kvo_value *value, void *arg) { ++*(int *)arg; }

enum { PATHS = 5 };

/* Whether the n-th allocation failed. */
static bool run(long n) {
  static const char *const paths[PATHS] = {"names", "items", "items.@sum.total", "best.prices", "words"};
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 2);
  kvo_object *o = as_kvo(root);
  watcher watchers[PATHS] = {{0}};
  int reads = 0;
  root->best = leaf;
  has_failed = 0;
  fail_in = n;
  for (int i = 0; i < PATHS; i++) {
    kvo_observer observer = watcher_observer(paths[i], KVO_NEW | KVO_OLD | KVO_PRIOR, &watchers[i]);
    observer.callback = count_calls;
    TRY(kvo_add_observer(o, &observer, &watchers[i].id));
  }
  char large[2000];
  memset(large, 'x', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  const kvo_value *text = KVO_VALUE(const char *, large), texts[2] = {*text, *text};
  pair pairs[8] = {{0}};
  kvo_value many[8];
  size_t indexes[8];
  for (size_t i = 0; i < 8; i++) {
    many[i] = (kvo_value){"{pair=id}", sizeof(pair), &pairs[i]};
    indexes[i] = i;
  }
  TRY(kvo_list_insert_several(o, "names", indexes, 2, texts));
  CHECK_EQ(root->name_count, 2);
  TRY(kvo_list_replace(o, "names", 0, text));
  TRY(kvo_list_remove(o, "names", 0));
  CHECK_EQ(root->name_count, 1);
  TRY(kvo_list_insert_several(o, "pairs", indexes, 8, many));
  CHECK_EQ(root->pair_count, 8);
  TRY(kvo_list_insert(o, "items", 0, KVO_VALUE(kvo_object *, as_kvo(leaf))));
  TRY(kvo_list_insert(as_kvo(leaf), "prices", 0, KVO_VALUE(double, 1)));
  TRY(kvo_members_add(o, "words", text));
  TRY(kvo_members_remove(o, "words", text));
  CHECK(watchers[0].calls >= 6 && watchers[1].calls >= 2 && watchers[3].calls >= 1 && watchers[4].calls >= 3);
  TRY(kvo_set_double(as_kvo(leaf), "total", 5));
  double number = 0;
  char *title = NULL;
  TRY(kvo_get_double(o, "items.@sum.total", &number));
  CHECK_EQ(number, 5.0);
  TRY(kvo_get_string(o, "items.@max.title", &title));
  CHECK_EQ((const char *)title, "leaf");
  kvo_string_free(title);
  TRY(kvo_get_value(o, "items.prices.@distinctUnionOfArrays.self", look, &reads));
  TRY(kvo_get_value(o, "items.title.@unionOfObjects.self", look, &reads));
  TRY(kvo_list_get(o, "names", 0, look, &reads));
  TRY(kvo_members_for_each(o, "tags", look, &reads));
  TRY(kvo_validate_value(o, "best.total", KVO_VALUE(double, 1), look, &reads));
  CHECK_EQ(reads, 4);
  TRY(kvo_will_change_indexes(o, KVO_CHANGE_REPLACEMENT, "names", indexes, 1));
  CHECK_OK(kvo_did_change_indexes(o, KVO_CHANGE_REPLACEMENT, "names", indexes, 1));
  for (int i = 0; i < PATHS; i++) CHECK_OK(kvo_remove_observer(watchers[i].id));
  bool failed = has_failed;
  fail_in = 0;
  basket_destroy(root);
  basket_destroy(leaf);
  return failed;
}

static kvo_action no_fault(const kvo_fault *fault, void *arg) {
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

TEST("strings that cannot be copied are no nil elements: all are read, or none") {
  use_counting_allocator();
  basket *object = basket_make("b", 0);
  for (size_t i = 0; i < 3; i++) CHECK_OK(kvo_list_insert(as_kvo(object), "names", i, KVO_VALUE(const char *, "Ada")));
  text_at(object, "names"); /* makes what stays */
  const long before = live_blocks;
  bool has_passed = false;
  for (long n = 1; !has_passed; n++) {
    char text[1024] = "";
    fail_in = n;
    kvo_status status = kvo_get_value(as_kvo(object), "names", write_value, text);
    has_passed = fail_in > 0;
    fail_in = 0;
    CHECK_STATUS(status, has_passed ? KVO_OK : KVO_ERROR_OUT_OF_MEMORY);
    CHECK_EQ((const char *)text, has_passed ? "(\"Ada\",\"Ada\",\"Ada\")" : "");
    CHECK_EQ((long)live_blocks, before);
    CHECK(!has_passed || n > 3);
  }
  basket_destroy(object);
}
