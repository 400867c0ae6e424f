/* list_changes.c - a list model follows its list: changes become edits, which are made and emitted on its thread. */
#include "list.h"

static void changes_called(GObject *object);

list_edit *list_edit_pop(KvoGlibListModel *of) {
  kvo_glib_lock();
  GList *link = g_queue_pop_head_link(&of->edits);
  if (link == NULL) g_clear_pointer(&of->leaving, g_hash_table_unref);
  kvo_glib_unlock();
  return link != NULL ? link->data : NULL;
}

/* Emits an edit that has been made. What handlers change meanwhile waits until all handlers have been called. */
static void changes_emit(KvoGlibListModel *of, const list_edit *edit) {
  of->is_emitting = TRUE;
  g_list_model_items_changed(G_LIST_MODEL(of), edit->position, edit->removed, edit->added);
  of->is_emitting = FALSE;
}

/* Makes the edits that there are one after the other, and emits each: not those that other threads add meanwhile, which may never end. */
static void changes_make(KvoGlibListModel *of, gint64 until) {
  kvo_glib_lock();
  guint left = g_queue_get_length(&of->edits);
  kvo_glib_unlock();
  for (list_edit *edit; left != 0 && (edit = list_edit_pop(of)) != NULL; left--) {
    if (list_edit_make(of, edit)) changes_emit(of, edit);
    list_edit_free(of, edit);
    if (g_get_monotonic_time() >= until) return;
  }
}

/* Until a time, and then the context calls again for the rest. */
static void changes_flush(KvoGlibListModel *of, gint64 until) {
  if (of->is_emitting) {
    of->has_more = TRUE;
    return;
  }
  do {
    of->has_more = FALSE;
    changes_make(of, until);
  } while (of->has_more && g_get_monotonic_time() < until);
  kvo_glib_lock();
  gboolean calls = !g_queue_is_empty(&of->edits) && !of->is_called;
  if (calls) of->is_called = TRUE;
  if (g_queue_is_empty(&of->edits)) g_clear_pointer(&of->leaving, g_hash_table_unref);
  kvo_glib_unlock();
  if (calls) kvo_glib_place_run(of->place, changes_called, G_OBJECT(of));
}

void list_flush(KvoGlibListModel *of) { changes_flush(of, G_MAXINT64); }

/* A part of a frame for this model, however many changes are waiting. */
enum { CHANGES_TURN = 5000 /* microseconds */ };

static void changes_called(GObject *object) {
  KvoGlibListModel *of = (KvoGlibListModel *)object;
  kvo_glib_lock();
  of->is_called = FALSE;
  kvo_glib_unlock();
  changes_flush(of, g_get_monotonic_time() + CHANGES_TURN);
}

static void changes_arrange(KvoGlibListModel *of, gboolean is_here) {
  if (is_here) {
    list_flush(of);
    return;
  }
  kvo_glib_lock();
  gboolean was_called = of->is_called;
  of->is_called = TRUE;
  kvo_glib_unlock();
  if (!was_called) kvo_glib_place_run(of->place, changes_called, G_OBJECT(of));
}

typedef struct leaving {
  KvoGlibListModel *of;
  gboolean leaves;
  GHashTable *present; /* what the list has now, if the change has strayed: that does not leave */
} leaving;

static void changes_leave(const kvo_value *element, void *arg) {
  const leaving *how = arg;
  gpointer object = element->bytes != NULL ? *(kvo_object *const *)element->bytes : NULL;
  kvo_glib_lock();
  GHashTable **set = &how->of->leaving;
  if (*set == NULL) *set = g_hash_table_new(NULL, NULL);
  if (!how->leaves)
    g_hash_table_remove(*set, object);
  else if (how->present == NULL || !g_hash_table_contains(how->present, object))
    g_hash_table_add(*set, object);
  if (!how->leaves && how->present != NULL) g_hash_table_add(how->present, object);
  kvo_glib_unlock();
}

static void changes_stay(const kvo_value *list, void *in) {
  for (size_t i = kvo_value_count(list); i-- > 0;) kvo_value_element(list, i, changes_leave, in);
}

/* Whoever has taken objects out of the list may destroy them once this has returned, while the model still shows them. The edits are there
 * already, so that whoever makes them may clear the set. */
static void changes_note_removed(KvoGlibListModel *of, const kvo_change *change, gboolean has_strayed) {
  if (!of->is_objects) return;
  GHashTable *present = has_strayed ? g_hash_table_new(NULL, NULL) : NULL;
  leaving out = {of, TRUE, present}, in = {of, FALSE, present};
  if (has_strayed) kvo_get_value(change->object, of->key, changes_stay, &in);
  for (size_t i = kvo_change_count(change, KVO_OLD); i-- > 0;)
    kvo_change_element(change, KVO_OLD, i, changes_leave, &out);
  for (size_t i = kvo_change_count(change, KVO_NEW); i-- > 0;)
    kvo_change_element(change, KVO_NEW, i, changes_leave, has_strayed ? &out : &in);
  g_clear_pointer(&present, g_hash_table_unref);
  kvo_glib_lock();
  kvo_glib_pin_wait(of);
  kvo_glib_unlock();
}

/* Whether the number of items after all edits is not that of the list: changes have arrived in another order than they were made in. */
static gboolean changes_have_strayed(KvoGlibListModel *of, kvo_object *object) {
  size_t count = 0;
  if (kvo_list_count(object, of->key, &count) != KVO_OK) return FALSE;
  kvo_glib_lock();
  gboolean has_strayed = of->expected != count;
  kvo_glib_unlock();
  return has_strayed;
}

/* The model, with a reference, and whether edits of it are waiting. */
static KvoGlibListModel *changes_find(list_link *link, gboolean *is_waiting) {
  KvoGlibListModel *of = g_weak_ref_get(&link->model);
  kvo_glib_lock();
  *is_waiting = of != NULL && !g_queue_is_empty(&of->edits);
  kvo_glib_unlock();
  return of;
}

void list_changed(const kvo_change *change, void *user_data) {
  gboolean is_waiting;
  KvoGlibListModel *of = changes_find(user_data, &is_waiting);
  if (of == NULL) return;
  gboolean is_here = kvo_glib_place_is_here(of->place);
  list_edit made = {.is_whole = FALSE};
  if (is_here && !is_waiting && !of->is_emitting && list_edit_at_once(of, change, &made)) {
    changes_emit(of, &made);
    if (of->has_more) list_flush(of);
  } else {
    gboolean is_whole = !list_edits_of_change(of, change) || changes_have_strayed(of, change->object);
    if (is_whole) list_edit_whole(of, change->object);
    if (!is_here || of->is_emitting) changes_note_removed(of, change, is_whole);
    changes_arrange(of, is_here);
  }
  g_object_unref(of);
}

/* The owner has died, or the model. */
void list_ended(void *user_data) {
  gboolean is_waiting;
  KvoGlibListModel *of = changes_find(user_data, &is_waiting);
  if (of != NULL) {
    list_edit *edit = list_edit_new(0, 0, 0);
    edit->is_whole = TRUE;
    list_edit_push(of, edit);
    changes_arrange(of, kvo_glib_place_is_here(of->place));
    g_object_unref(of);
  }
  g_weak_ref_clear(&((list_link *)user_data)->model);
  g_free(user_data);
}
