/* guarded_elements.c - hooks, lists and sets use only the memory that the runtime has asked for. */
#include "basket.h"
#include "boxed.h"
#include "guarded.h"

#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------------------- Hooks -- */

/* Adds a hook of one of the three kinds, which proceeds if it is to. */
static kvo_hook add_one(kvo_object *object, kvo_class *cls, int number) {
  static const kvo_hook_when kinds[] = {KVO_HOOK_BEFORE, KVO_HOOK_INSTEAD, KVO_HOOK_AFTER};
  kvo_hook_when when = kinds[number % 3];
  return add(object, cls, "area", when, number % 4, when == KVO_HOOK_INSTEAD ? around : letter, "");
}

static void check_call(kvo_object *object) {
  log_text[0] = '\0';
  CHECK_EQ(call_area(object, 1), 6);
  CHECK_EQ(log_text, "f");
}

TEST("any number of hooks on an object, on its class, or on both are called from their own memory") {
  enum { MOST = 9 };
  guard_memory();
  kvo_object *object = box_make(2, 3);
  for (int of_object = 0; of_object <= MOST; of_object++)
    for (int of_class = 0; of_class <= MOST; of_class += 3) {
      kvo_hook hooks[2 * MOST];
      int count = 0;
      for (int i = 0; i < of_object; i++) {
        hooks[count++] = add_one(object, NULL, i);
        check_call(object);
      }
      for (int i = 0; i < of_class; i++) {
        hooks[count++] = add_one(NULL, box_class(), i + 1);
        check_call(object);
      }
      check_memory();
      for (int first = 0; first < 3; first++) /* each third one */
        for (int i = first; i < count; i += 3) {
          CHECK_OK(kvo_hook_remove(hooks[i]));
          check_call(object);
        }
    }
  CHECK(kvo_object_method(object, "area") == (kvo_function)area);
  kvo_object_destroy(object);
  check_memory();
}

static void add_in_call(kvo_call *call, void *user_data) {
  (void)user_data;
  for (int i = 0; i < 4; i++) add_one(call->object, NULL, i);
}

TEST("hooks that are added in a call, and end with their object, keep to their memory") {
  guard_memory();
  for (int round = 0; round < 5; round++) {
    kvo_object *object = box_make(2, 3);
    kvo_hook adding = add(object, NULL, "area", KVO_HOOK_BEFORE, 2, add_in_call, "");
    for (int i = 0; i < round; i++) {
      check_call(object);
      check_memory();
    }
    if (round % 2 == 0) CHECK_OK(kvo_hook_remove(adding));
    destroyed = 0;
    kvo_object_destroy(object);
    CHECK_EQ(destroyed, 4 * round + round % 2);
    check_memory();
  }
}

/* ------------------------------------------------------------------------------------------------ Lists and sets -- */

TEST("lists and sets of any number of elements are read, told and changed in their own memory") {
  guard_memory();
  basket *object = basket_make("b", 0);
  static const char *const keys[] = {"names", "prices", "tags", "words"};
  scribe to[4] = {{{0}, 0, 0, 0}};
  for (int i = 0; i < 4; i++) scribe_watch(object, keys[i], KVO_NEW | KVO_OLD, &to[i]);
  for (size_t i = 0; i < 10; i++) {
    char name[16];
    snprintf(name, sizeof name, "n%u", (unsigned)i);
    CHECK_OK(kvo_list_insert(as_kvo(object), "names", i / 2, VALUE("*", const char *, name)));
    CHECK_OK(kvo_list_insert(as_kvo(object), "prices", i, VALUE("d", double, (double)i)));
    CHECK_OK(kvo_members_add(as_kvo(object), "tags", VALUE("i", int, (int)i)));
    CHECK_OK(kvo_members_add(as_kvo(object), "words", VALUE("*", const char *, name)));
    for (int k = 0; k < 4; k++) {
      CHECK(text_at(object, keys[k])[0] == '(');
      CHECK_EQ(to[k].calls, (int)i + 1);
    }
    check_memory();
  }
  CHECK_EQ(text_at(object, "names"), "(\"n1\",\"n3\",\"n5\",\"n7\",\"n9\",\"n8\",\"n6\",\"n4\",\"n2\",\"n0\")");
  CHECK_EQ(text_at(object, "prices.@sum.self"), "45");
  for (size_t i = 0; i < 10; i++) {
    CHECK_OK(kvo_list_remove(as_kvo(object), "names", i % 3 == 0 ? 0 : 9 - i));
    CHECK_OK(kvo_members_remove(as_kvo(object), "tags", VALUE("i", int, (int)i)));
    check_memory();
  }
  CHECK_EQ(text_at(object, "names"), "()");
  for (int i = 0; i < 4; i++) CHECK_OK(kvo_remove_observer(to[i].id));
  basket_destroy(object);
  check_memory();
}

TEST("several elements are inserted, replaced and removed at a time, as many as a buffer holds and one more") {
  static const size_t indexes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  guard_memory();
  for (size_t count = 1; count <= 10; count++) {
    basket *object = basket_make("b", 0);
    double numbers[10], sum = 0;
    kvo_value values[10];
    for (size_t i = 0; i < 10; i++) {
      numbers[i] = (double)i + 1;
      values[i] = (kvo_value){"d", sizeof(double), &numbers[i]};
    }
    CHECK_OK(kvo_list_insert_several(as_kvo(object), "prices", indexes, count, values));
    CHECK_OK(kvo_get_double(as_kvo(object), "prices.@sum.self", &sum));
    CHECK_EQ(sum, (double)(count * (count + 1) / 2));
    for (size_t i = 0; i < 10; i++) numbers[i] = 2;
    CHECK_OK(kvo_list_replace_several(as_kvo(object), "prices", indexes, count, values));
    CHECK_OK(kvo_get_double(as_kvo(object), "prices.@sum.self", &sum));
    CHECK_EQ(sum, (double)(2 * count));
    CHECK_OK(kvo_list_remove_several(as_kvo(object), "prices", indexes, count));
    CHECK_EQ(object->price_count, 0);
    basket_destroy(object);
    check_memory();
  }
}
