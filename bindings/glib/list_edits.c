/* list_edits.c - edits of a list model: made of the changes of its list, and made in what it shows. */
#include "list.h"

#include <string.h>

typedef struct item_reading {
  const KvoGlibListModel *of;
  gpointer item;
} item_reading;

/* Of an object its address, of any other value an item with a reference. */
static void edits_read_item(const kvo_value *element, void *arg) {
  item_reading *reading = arg;
  if (!reading->of->is_objects)
    reading->item = kvo_glib_value_item(element, reading->of->place);
  else
    reading->item = element->bytes != NULL ? *(kvo_object *const *)element->bytes : NULL;
}

list_edit *list_edit_new(guint position, guint removed, guint added) {
  list_edit *edit = g_malloc0(sizeof *edit + added * sizeof *edit->items);
  edit->link.data = edit;
  edit->position = position;
  edit->removed = removed;
  edit->added = added;
  return edit;
}

void list_edit_free(const KvoGlibListModel *of, list_edit *edit) {
  for (guint i = 0; i < edit->added; i++) list_item_free(of, edit->items[i]);
  g_free(edit);
}

void list_edit_push(KvoGlibListModel *of, list_edit *edit) {
  kvo_glib_lock();
  of->expected = edit->is_whole ? edit->added : of->expected + edit->added - edit->removed;
  g_queue_push_tail_link(&of->edits, &edit->link);
  kvo_glib_unlock();
}

/* ---------------------------------------------------------------------------------------------------------- Of changes -- */

/* How many indexes from one on follow each other. */
static size_t edits_run(const kvo_change *change, size_t from) {
  size_t to = from + 1;
  while (to < change->index_count && change->indexes[to] == change->indexes[to - 1] + 1) to++;
  return to - from;
}

static gboolean edits_of_run(KvoGlibListModel *of, const kvo_change *change, size_t from, size_t count) {
  gboolean inserts = change->kind != KVO_CHANGE_REMOVAL, removes = change->kind != KVO_CHANGE_INSERTION;
  list_edit *edit = list_edit_new((guint)change->indexes[from], removes ? (guint)count : 0, inserts ? (guint)count : 0);
  gboolean is_made = TRUE;
  for (size_t i = 0; inserts && i < count && is_made; i++) {
    item_reading reading = {of, NULL};
    is_made = kvo_change_element(change, KVO_NEW, from + i, edits_read_item, &reading) == KVO_OK;
    edit->items[i] = reading.item;
  }
  if (is_made)
    list_edit_push(of, edit);
  else
    list_edit_free(of, edit);
  return is_made;
}

gboolean list_edits_of_change(KvoGlibListModel *of, const kvo_change *change) {
  if (change->kind == KVO_CHANGE_SETTING || change->indexes == NULL) return FALSE;
  if (change->kind != KVO_CHANGE_REMOVAL) {
    for (size_t i = 0, run; i < change->index_count; i += run) {
      run = edits_run(change, i);
      if (!edits_of_run(of, change, i, run)) return FALSE;
    }
    return TRUE;
  }
  /* From the last on, so that the indexes of the others stay. */
  for (size_t end = change->index_count, begin; end > 0; end = begin) {
    begin = end - 1;
    while (begin > 0 && change->indexes[begin - 1] + 1 == change->indexes[begin]) begin--;
    if (!edits_of_run(of, change, begin, end - begin)) return FALSE;
  }
  return TRUE;
}

typedef struct whole_reading {
  KvoGlibListModel *of;
  list_edit *edit;
} whole_reading;

static void edits_read_whole(const kvo_value *value, void *arg) {
  whole_reading *reading = arg;
  size_t count = kvo_value_count(value);
  reading->edit = list_edit_new(0, 0, (guint)count);
  for (size_t i = 0; i < count; i++) {
    item_reading item = {reading->of, NULL};
    kvo_value_element(value, i, edits_read_item, &item);
    reading->edit->items[i] = item.item;
  }
}

void list_edit_whole(KvoGlibListModel *of, kvo_object *object) {
  whole_reading reading = {of, NULL};
  kvo_status status = kvo_get_value(object, of->key, edits_read_whole, &reading);
  if (status != KVO_OK) kvo_glib_critical_status(status);
  list_edit *edit = reading.edit != NULL ? reading.edit : list_edit_new(0, 0, 0);
  edit->is_whole = TRUE;
  list_edit_push(of, edit);
}

/* ----------------------------------------------------------------------------------------------------------- Made -- */

/* Leaves what is the same at both ends out of an edit of everything. */
static void edits_trim(const KvoGlibListModel *of, list_edit *edit) {
  guint least = MIN(of->count, edit->added), before = 0, after = 0;
  while (before < least && list_item_same(of, of->items[before], edit->items[before])) before++;
  while (after < least - before &&
         list_item_same(of, of->items[of->count - 1 - after], edit->items[edit->added - 1 - after]))
    after++;
  for (guint i = 0; i < before; i++) list_item_free(of, edit->items[i]);
  for (guint i = edit->added - after; i < edit->added; i++) list_item_free(of, edit->items[i]);
  edit->position = before;
  edit->removed = of->count - before - after;
  edit->added -= before + after;
  memmove(edit->items, edit->items + before, edit->added * sizeof *edit->items);
}

gboolean list_edit_make(KvoGlibListModel *of, list_edit *edit) {
  if (edit->is_whole) edits_trim(of, edit);
  if (edit->position > of->count || edit->removed > of->count - edit->position)
    return FALSE; /* another one makes it good */
  if (edit->removed + edit->added == 0) return FALSE;
  list_items_splice(of, edit->position, edit->removed, edit->items, edit->added, 0);
  memset(edit->items, 0, edit->added * sizeof *edit->items);
  return TRUE;
}

/* Whether what a change removes is what the model has there. */
static gboolean edits_fit(const KvoGlibListModel *of, const kvo_change *change) {
  gboolean fits = TRUE;
  for (size_t i = 0; change->kind != KVO_CHANGE_INSERTION && fits && i < change->index_count; i++) {
    item_reading old = {of, NULL};
    if (kvo_change_element(change, KVO_OLD, i, edits_read_item, &old) != KVO_OK) break;
    fits = change->indexes[i] < of->count && list_item_same(of, of->items[change->indexes[i]], old.item);
    list_item_free(of, old.item);
  }
  return fits;
}

gboolean list_edit_at_once(KvoGlibListModel *of, const kvo_change *change, list_edit *made) {
  gboolean inserts = change->kind != KVO_CHANGE_REMOVAL, removes = change->kind != KVO_CHANGE_INSERTION;
  size_t number = change->index_count, count = 0;
  if (change->kind == KVO_CHANGE_SETTING || number == 0 || change->indexes == NULL || (inserts && number > LIST_FEW) ||
      edits_run(change, 0) != number)
    return FALSE;
  made->position = (guint)change->indexes[0];
  made->added = inserts ? (guint)number : 0;
  made->removed = removes ? (guint)number : 0;
  if (kvo_list_count(change->object, of->key, &count) != KVO_OK || of->count + made->added - made->removed != count ||
      made->position + made->removed > of->count || !edits_fit(of, change))
    return FALSE;
  gpointer items[LIST_FEW] = {NULL};
  for (guint i = 0; i < made->added; i++) {
    item_reading reading = {of, NULL};
    if (kvo_change_element(change, KVO_NEW, i, edits_read_item, &reading) != KVO_OK) {
      while (i-- > 0) list_item_free(of, items[i]);
      return FALSE;
    }
    items[i] = reading.item;
  }
  list_items_splice(of, made->position, made->removed, items, made->added, made->added - made->removed);
  return TRUE;
}
