/* path_limits.c - how deep and how long key paths may be, and what their ends and intermediate objects may be. */
#include "basket.h"
#include "made.h"

#include <kvo/kvo_binding.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------- Reading -- */

static int reads;
static void count_read(const kvo_value *value, void *arg) { reads++; }

static kvo_status value_of(kvo_object *object, const char *key, kvo_value_reader reader, void *arg, void *user) {
  if (strcmp(key, "me") != 0) return KVO_ERROR_UNDEFINED_KEY;
  reader(&(kvo_value){"@", sizeof object, &object}, arg);
  return KVO_OK;
}

/* A basket that is the value of its undefined key "me". */
static basket *with_undefined_key(void) {
  static kvo_class *cls;
  kvo_coding_hooks hooks = {.struct_size = sizeof hooks, .value_for_undefined_key = value_of};
  kvo_class_spec spec = {
      .name = "Undefining", .superclass = basket_class(), .instance_size = sizeof(basket), .coding = &hooks};
  if (cls == NULL) cls = register_class(spec);
  basket *object = (basket *)object_of(cls);
  object->allowed = -1;
  return object;
}

TEST("a key path leads through at most 32 collections, or undefined keys for which a class has values") {
  static const char *const keys[] = {"items.", "me."};
  basket *root = with_undefined_key();
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, KVO_VALUE(kvo_object *, as_kvo(root))));
  for (int i = 0; i < 2; i++) {
    char path[256] = "total";
    for (int depth = 1; depth <= 34; depth++) {
      memmove(path + strlen(keys[i]), path, strlen(path) + 1);
      memcpy(path, keys[i], strlen(keys[i]));
      kvo_status status = kvo_get_value(as_kvo(root), path, count_read, NULL);
      CHECK_STATUS(status, depth <= 32 ? KVO_OK : KVO_ERROR_MALFORMED_KEY_PATH);
      if (status != KVO_OK) CHECK_CONTAINS(kvo_last_error(), "more than 32 collections and undefined keys");
    }
    CHECK_EQ(reads, 32 * (i + 1));
  }
  root->item_count = 0;
  basket_destroy(root);
}

TEST("an object on a key path whose header is zero counts as nil: nothing is read, set or validated") {
  basket *root = basket_make("root", 1);
  basket finished;
  memset(&finished, 0, sizeof finished);
  root->best = &finished;
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(text_at(root, "best.total"), "nil");
    CHECK_EQ(text_at(root, "best.best.total"), "nil");
    CHECK_OK(kvo_set_double(as_kvo(root), "best.total", 5));
    CHECK_EQ(finished.total, 0.0);
    CHECK_OK(kvo_validate_value(as_kvo(root), "best.total", KVO_VALUE(double, 5), never_read, NULL));
    CHECK_OK(kvo_object_init(as_kvo(&finished), basket_class()));
    CHECK_EQ(text_at(root, "best.total"), "0");
    kvo_object_finish(as_kvo(&finished));
  }
  root->best = NULL;
  basket_destroy(root);
}

/* ----------------------------------------------------------------------------------------------- Declared keys -- */

typedef struct card {
  kvo_object header;
  int value, other;
  struct card *held;
} card;

static void take(const kvo_value *value, void *arg) { *(int *)arg = *(const int *)value->bytes; }

/* Reads another key than the one that is declared. */
static int get_sum(const card *of) {
  int other = 0;
  CHECK_OK(kvo_get_value((kvo_object *)(uintptr_t)of, "other", take, &other));
  return of->value + other;
}

static card *get_held(const card *of) { return of->held; }
static void set_held(card *of, card *held) { of->held = held; }

static card *card_make(void) {
  static kvo_class *cls;
  static const char *const by_value[] = {"value", NULL};
  const kvo_property_spec properties[] = {
      AT_OFFSET(card, value, "i"), AT_OFFSET(card, other, "i"),
      PROPERTY_WITH("declared", "i", get_sum, NULL, .affected_by = by_value, .flags = KVO_PROPERTY_DECLARED),
      PROPERTY_WITH("read", "i", get_sum, NULL, .affected_by = by_value),
      PROPERTY_WITH("held", "@", get_held, set_held, .flags = KVO_PROPERTY_DECLARED)};
  if (cls == NULL) cls = class_made("Card", sizeof(card), properties, COUNT(properties));
  return (card *)object_of(cls);
}

static void watch_card(card *object, const char *key_path, watcher *observer) {
  watch_object(&object->header, key_path, KVO_NEW, observer);
}

TEST("of a key with declared dependencies only these are followed, of another also what its getter reads") {
  card *root = card_make(), *held = card_make(), *next = card_make();
  root->held = held;
  watcher declared = {0}, read = {0}, path = {0};
  watch_card(held, "declared", &declared);
  KVO_SET(held, "other", int, 4);
  watch_card(root, "held.read", &read);  /* at the end of a path the value is the computed one, too */
  watch_card(root, "held.value", &path); /* behind a declared key a path is followed as usual */
  KVO_SET(held, "other", int, 5);
  CHECK_EQ(declared.calls, 0);
  CHECK_NEW(read, 1, 5);
  KVO_SET(held, "value", int, 2);
  CHECK_NEW(declared, 1, 7);
  CHECK_NEW(read, 2, 7);
  CHECK_EQ(path.calls, 1);
  KVO_SET(root, "held", card *, next);
  CHECK_NEW(path, 2, 0);
  KVO_SET(held, "value", int, 4);
  CHECK_EQ(path.calls, 2);
  KVO_SET(next, "value", int, 5);
  CHECK_EQ(path.new_value.integer, 5);
  KVO_SET(root, "held", card *, NULL);
  CHECK(path.new_value.nil);
  watcher *all[] = {&declared, &read, &path};
  for (int i = 0; i < 3; i++) CHECK_OK(kvo_remove_observer(all[i]->id));
  card *cards[] = {root, held, next};
  for (int i = 0; i < 3; i++) kvo_object_destroy(&cards[i]->header);
}

/* -------------------------------------------------------------------------------------------------- Long paths -- */

enum { LONGEST = 18, LONGEST_NOT_EVALUATED = 16 };

/* Notifies an insertion into "value" as a binding does. */
static void insert(item *object, size_t index) {
  kvo_frame frame;
  int elements = 7;
  memset(&frame, 0xff, sizeof frame);
  uint32_t wants =
      kvo_frame_begin_change(&frame, as_object(object), kvo_key_hash("value", 5), KVO_CHANGE_INSERTION, &index, 1);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(&frame, NULL);
  while (kvo_frame_next(&frame)) kvo_frame_deliver(&frame, NULL, &elements);
  kvo_frame_end(&frame);
}

TEST("a path of any length is notified of a change at its end once, and follows each of its objects") {
  for (int length = 2; length <= LONGEST; length++) {
    item *chain[LONGEST], *other = item_make(50);
    char path[8 * LONGEST] = "";
    for (int i = 0; i < length; i++) chain[i] = item_make(i);
    for (int i = 1; i < length; i++) {
      chain[i - 1]->next = chain[i];
      strcat(path, "next.");
    }
    strcat(path, "value");
    watcher w = {0}, old = {0};
    watch(chain[0], path, KVO_NEW, &w);
    watch(chain[0], path, KVO_NEW | KVO_OLD, &old);
    for (int i = 1; i <= 3; i++) {
      item_set_value(chain[length - 1], 100 + i);
      CHECK_EQ(w.calls, i);
      CHECK_EQ(old.calls, i);
      CHECK_EQ(old.old_value.integer, i == 1 ? length - 1 : 99 + i);
    }
    if (length <= LONGEST_NOT_EVALUATED) {
      insert(chain[length - 1], 4);
      CHECK_EQ((int)w.kind, KVO_CHANGE_INSERTION);
      CHECK_EQ(w.index_count, 1);
      CHECK_EQ(w.indexes[0], 4);
      CHECK_EQ(w.new_value.integer, 7);
    }
    int calls = w.calls;
    item_set_next(chain[length - 2], other);
    CHECK_NEW(w, calls + 1, 50);
    item_set_value(chain[length - 1], 7);
    CHECK_EQ(w.calls, calls + 1);
    item_set_value(other, 51);
    CHECK_EQ(w.new_value.integer, 51);
    item_set_next(chain[0], NULL);
    CHECK(w.new_value.nil);
    CHECK_OK(kvo_remove_observer(w.id));
    CHECK_OK(kvo_remove_observer(old.id));
    for (int i = 0; i < length; i++) {
      CHECK_EQ(kvo_object_observation_count(as_object(chain[i])), 0);
      item_destroy(chain[i]);
    }
    item_destroy(other);
  }
}

/* -------------------------------------------------------------------------------------------------- Long types -- */
