/* list_callbacks.c - observers that change a list while they are told of it, and what a silent scope inserts. */
#include "basket.h"

#include <kvo/kvo_scope.h>
#include <stdio.h>

static kvo_status insert_price(basket *object, size_t index, double price) {
  return kvo_list_insert(as_kvo(object), "prices", index, VALUE("d", double, price));
}

static void remove_second(const kvo_change *change, void *user_data) {
  int *left = user_data;
  if ((*left)-- > 0) CHECK_OK(kvo_list_remove(change->object, "prices", 1));
}

TEST("an observer that is told of an insertion after another one has removed the element gets no element") {
  basket *object = basket_make("b", 0);
  CHECK_OK(insert_price(object, 0, 1));
  scribe to = {0};
  int left = 1;
  kvo_observer remover = {
      .struct_size = sizeof remover, .key_path = "prices", .callback = remove_second, .user_data = &left};
  kvo_observation id;
  scribe_watch(object, "prices", KVO_NEW, &to); /* older, so it is told after the nested change */
  CHECK_OK(kvo_add_observer(as_kvo(object), &remover, &id));
  CHECK_OK(insert_price(object, 1, 2));
  CHECK_EQ((const char *)to.text, "remove[1] insert[1]+ ");
  CHECK_EQ(text_at(object, "prices"), "(1)");
  CHECK_OK(kvo_remove_observer(to.id));
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(object);
}

static void count(const kvo_change *change, void *user_data) {
  (void)change;
  ++*(int *)user_data;
}

TEST("an expression of a list's elements follows what was inserted in a silent scope") {
  basket *root = basket_make("root", 0), *leaf = basket_make("leaf", 2);
  int calls = 0;
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = "items.@sum.total", .callback = count, .user_data = &calls};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_kvo(root), &observer, &id));
  kvo_object *objects[] = {as_kvo(root)};
  kvo_scope scope;
  CHECK_OK(kvo_scope_begin(&scope, KVO_SCOPE_SILENCES, objects, 1, NULL, 0));
  CHECK_OK(kvo_list_insert(as_kvo(root), "items", 0, VALUE("@", kvo_object *, as_kvo(leaf))));
  kvo_scope_end(&scope);
  CHECK_EQ(calls, 0);
  CHECK_OK(kvo_set_double(as_kvo(leaf), "total", 5));
  CHECK_EQ(calls, 1);
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(root);
  basket_destroy(leaf);
}

static void copy_text(const kvo_value *value, void *to) {
  snprintf(to, 32, "%s", value->bytes != NULL ? *(char *const *)value->bytes : "nil");
}

static void remove_and_look(const kvo_change *change, void *user_data) {
  if (change->kind != KVO_CHANGE_INSERTION) return;
  CHECK_OK(kvo_list_remove(change->object, "names", 0));
  CHECK_OK(kvo_change_element(change, KVO_NEW, 0, copy_text, user_data));
}

TEST("a string that was inserted is valid until the callback returns, though the callback removes it") {
  basket *object = basket_make("b", 0);
  char text[32] = "";
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = "names",
                           .options = KVO_NEW,
                           .callback = remove_and_look,
                           .user_data = text};
  kvo_observation id;
  CHECK_OK(kvo_add_observer(as_kvo(object), &observer, &id));
  CHECK_OK(kvo_list_insert(as_kvo(object), "names", 0, VALUE("*", const char *, "an element")));
  CHECK_EQ((const char *)text, "an element");
  CHECK_OK(kvo_remove_observer(id));
  basket_destroy(object);
}
