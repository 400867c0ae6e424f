/* list_items.c - the items that a list model shows, in memory: with room at both ends, so that the shorter part is moved. */
#include "list.h"

#include <string.h>

void list_item_free(const KvoGlibListModel *of, gpointer item) {
  if (!of->is_objects && item != NULL) g_object_unref(item);
}

gboolean list_item_same(const KvoGlibListModel *of, gpointer one, gpointer other) {
  return one == other || (!of->is_objects && one != NULL && other != NULL && kvo_glib_value_item_equal(one, other));
}

/* ----------------------------------------------------------------------------------------------------------- Wrappers -- */

/* GTK asks for all items again after each change, so that making them anew would take longer than the change. */
void list_wrapper_keep(KvoGlibListModel *of, gpointer item, GObject *wrapper) {
  if (of->wrappers == NULL) of->wrappers = g_hash_table_new_full(NULL, NULL, NULL, g_object_unref);
  g_hash_table_insert(of->wrappers, item, g_object_ref(wrapper));
}

GObject *list_wrapper_find(KvoGlibListModel *of, gpointer item) {
  GObject *found = of->wrappers != NULL ? g_hash_table_lookup(of->wrappers, item) : NULL;
  if (found == NULL) return NULL;
  kvo_glib_lock();
  gboolean is_alive = kvo_glib_weak_find(item) == ((kvo_glib_wrapper *)found)->weak;
  kvo_glib_unlock();
  if (is_alive) return g_object_ref(found);
  g_hash_table_remove(of->wrappers, item); /* another object may be there now */
  return NULL;
}

/* Takes out the wrappers of items that are removed and not added; NULL if there are none. */
static GHashTable *items_leave(KvoGlibListModel *of, const gpointer *removed, guint removed_count,
                               const gpointer *added, guint added_count) {
  if (of->wrappers == NULL || g_hash_table_size(of->wrappers) == 0) return NULL;
  GHashTable *left = g_hash_table_new_full(NULL, NULL, NULL, g_object_unref);
  gpointer item, wrapper;
  for (guint i = 0; i < removed_count; i++)
    if (g_hash_table_steal_extended(of->wrappers, removed[i], &item, &wrapper))
      g_hash_table_insert(left, item, wrapper);
  for (guint i = 0; i < added_count; i++)
    if (g_hash_table_steal_extended(left, added[i], &item, &wrapper)) g_hash_table_insert(of->wrappers, item, wrapper);
  return left;
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
  GHashTable *left = of->is_objects ? items_leave(of, of->items + position, removed, items, added) : NULL;
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
  if (left != NULL) g_hash_table_unref(left);
}
