/* list_items.c - the items that a list model shows, in memory: with room at both ends, so that the shorter part is moved. */
#include "list.h"

#include <string.h>

void list_item_free(const KvoGlibListModel *of, gpointer item) {
  if (!of->is_objects && item != NULL) g_object_unref(item);
}

gboolean list_item_same(const KvoGlibListModel *of, gpointer one, gpointer other) {
  return one == other || (!of->is_objects && one != NULL && other != NULL && kvo_glib_value_item_equal(one, other));
}

/* Of items that are not there the class is not known; that of all others is likely. */
void list_item_learn(KvoGlibListModel *of, gpointer object) {
  kvo_class *cls = of->is_objects && object != NULL ? kvo_object_class(object) : NULL;
  if (cls == NULL || g_atomic_pointer_get(&of->item_class) == cls) return;
  GType type = kvo_glib_class_for(cls)->type;
  kvo_glib_lock();
  if (of->item_type == 0) of->item_type = type;
  while (!g_type_is_a(type, of->item_type)) of->item_type = g_type_parent(of->item_type);
  kvo_glib_unlock();
  g_atomic_pointer_set(&of->item_class, cls);
}

/* Moves the items to new memory, with room for more at either end. */
static void items_grow(KvoGlibListModel *of, guint more) {
  guint room = of->count / 2 + LIST_FEW + more, capacity = of->count + 2 * room;
  gpointer *store = g_new(gpointer, capacity), *items = store + room;
  if (of->count != 0) memcpy(items, of->items, of->count * sizeof *items);
  g_free(of->store);
  of->store = store;
  of->items = items;
  of->capacity = capacity;
}

void list_items_splice(KvoGlibListModel *of, guint position, guint removed, const gpointer *items, guint added,
                       guint expected) {
  guint behind = of->count - position - removed;
  gboolean is_front = position < behind;
  gpointer *old = of->is_objects ? NULL : g_memdup2(of->items + position, removed * sizeof *old);
  kvo_glib_lock();
  guint before = (guint)(of->items - of->store), room = is_front ? before : of->capacity - before - of->count;
  if (added > removed && room < added - removed) items_grow(of, added - removed);
  gpointer *begin = of->items, *end = begin + position + removed; /* what stays behind begins there */
  if (added != removed && is_front) {
    of->items = end - added - position;
    memmove(of->items, begin, position * sizeof *begin);
  } else if (added != removed) {
    memmove(begin + position + added, end, behind * sizeof *begin);
  }
  if (added != 0) memcpy(of->items + position, items, added * sizeof *items);
  of->count += added - removed;
  of->expected += expected;
  kvo_glib_unlock();
  for (guint i = 0; old != NULL && i < removed; i++)
    list_item_free(of, old[i]); /* who watches one may read the model */
  g_free(old);
}
