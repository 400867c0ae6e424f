/* list_items.c - the items that a list model shows, in memory: with room at both ends, so that the shorter part is moved. */
#include "list.h"

#include <string.h>

void list_item_free(const KvoGlibListModel *of, gpointer item) {
  if (!of->is_objects && item != NULL) g_object_unref(item);
}

gboolean list_item_same(const KvoGlibListModel *of, gpointer one, gpointer other) {
  return one == other || (!of->is_objects && one != NULL && other != NULL && kvo_glib_value_item_equal(one, other));
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
