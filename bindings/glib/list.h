/* list.h - what the files of list models share: a list model and the edits of it. */
#ifndef KVO_GLIB_LIST_H
#define KVO_GLIB_LIST_H

#include "private.h"

/* Items that replace others: of objects their addresses, of values each a KvoGlibValue with a reference. */
typedef struct list_edit {
  GList link;
  gboolean is_whole; /* the items are all that the list has */
  guint position, removed, added;
  gpointer items[];
} list_edit;

/* What the observation has, and finds the model by. */
typedef struct list_link {
  GWeakRef model;
} list_link;

struct _KvoGlibListModel {
  GObject parent_instance;
  /* Never change. */
  kvo_glib_weak *owner;
  kvo_glib_place *place;
  char *key;
  gboolean is_objects;
  kvo_observation observation;
  /* Under the lock. */
  GType item_type; /* that all wrappers that were items have; 0 if none was */
  /* What has been emitted; changed on the model's context only. */
  gpointer *items; /* within the store */
  guint count;
  gpointer *store;
  guint capacity;
  /* Edits to make, and the number of items after them. */
  GQueue edits;
  guint expected;
  gboolean is_called;
  /* Objects that another thread has removed from the list, and may have destroyed, while edits are waiting; NULL if there are none. */
  GHashTable *leaving;
  /* Used by the model's thread: whether it emits, and has got edits meanwhile. */
  gboolean is_emitting, has_more;
  /* Used by the model's thread: the wrappers that it has returned, by the addresses of their objects, as long as these are items. */
  GHashTable *wrappers;
};

/* The items of one range that a change inserts, on the stack. */
enum { LIST_FEW = 8 };

/* Of objects an item is the address, of values an item with a reference. */
void list_item_free(const KvoGlibListModel *of, gpointer item);
gboolean list_item_same(const KvoGlibListModel *of, gpointer one, gpointer other);
/* On the model's thread: the wrapper that is kept for an item, with a reference; NULL if there is none. */
GObject *list_wrapper_find(KvoGlibListModel *of, gpointer item);
void list_wrapper_keep(KvoGlibListModel *of, gpointer item, GObject *wrapper);
/* On the model's thread: replaces items by others, whose references it takes, and counts on as many more. */
void list_items_splice(KvoGlibListModel *of, guint position, guint removed, const gpointer *items, guint added,
                       guint expected);

void list_edit_free(const KvoGlibListModel *of, list_edit *edit);
list_edit *list_edit_new(guint position, guint removed, guint added);
void list_edit_push(KvoGlibListModel *of, list_edit *edit);
/* The edits of a change are added to the queue; false if it does not say what it changes. */
gboolean list_edits_of_change(KvoGlibListModel *of, const kvo_change *change);
/* The list as it is now becomes one edit. */
void list_edit_whole(KvoGlibListModel *of, kvo_object *object);
/* On the model's thread, while nothing is pending: makes the edit of a change of one range with few items, and stores what to emit. False
 * if it is no such change, or does not fit what the model has. */
gboolean list_edit_at_once(KvoGlibListModel *of, const kvo_change *change, list_edit *made);
/* Makes an edit, without its items afterwards; false if there is nothing to emit. */
gboolean list_edit_make(KvoGlibListModel *of, list_edit *edit);

/* Takes the next edit from the queue; NULL if there is none. */
list_edit *list_edit_pop(KvoGlibListModel *of);
/* On the model's thread: makes the edits that there are one after the other, and emits each. */
void list_flush(KvoGlibListModel *of);
/* For the observation, with its list_link. */
void list_changed(const kvo_change *change, void *link);
void list_ended(void *link);

#endif
