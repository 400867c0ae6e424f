/* Embedding.md's key path, in a program with an order of two items. */
#include <kvo/kvo.h>
#include <stdio.h>

typedef struct item {
  kvo_object header;
  double price;
} item;

typedef struct order_of_two {
  kvo_object header;
  kvo_object *items[2];
} order_of_two;

static size_t count(const kvo_object *object, void *user) { return 2; }
static void get_at(const kvo_object *object, size_t index, void *element, void *user) {
  *(kvo_object **)element = ((const order_of_two *)object)->items[index];
}

int main(void) {
  kvo_property_spec price = {
      .name = "price", .type = "d", .flags = KVO_PROPERTY_AT_OFFSET, .offset = offsetof(item, price)};
  kvo_class_spec items = {.struct_size = sizeof items,
                          .name = "Item",
                          .instance_size = sizeof(item),
                          .properties = &price,
                          .property_count = 1};
  kvo_list_accessors list = {.struct_size = sizeof list, .count = count, .get_at = get_at};
  kvo_collection_spec collection = {.name = "items", .element_type = "@", .list = &list};
  kvo_class_spec orders = {.struct_size = sizeof orders,
                           .name = "Order",
                           .instance_size = sizeof(order_of_two),
                           .collections = &collection,
                           .collection_count = 1,
                           .collection_size = sizeof collection};
  kvo_class *item_class, *order_class;
  kvo_object *order;
  if (kvo_class_register(&items, &item_class) != KVO_OK || kvo_class_register(&orders, &order_class) != KVO_OK ||
      kvo_object_create(order_class, &order) != KVO_OK)
    return 1;
  for (int i = 0; i < 2; i++) {
    kvo_object *made;
    if (kvo_object_create(item_class, &made) != KVO_OK) return 1;
    KVO_SET(made, "price", double, 2.5 * (i + 1));
    ((order_of_two *)order)->items[i] = made;
  }
  // snippet: key paths
  for (int i = 0; i < 2; i++) kvo_object_destroy(((order_of_two *)order)->items[i]);
  kvo_object_destroy(order);
  return 0;
}
