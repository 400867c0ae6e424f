/* list_model.c - a list of a KVO object as a GListModel. */
#include "list.h"

static void list_implement(GListModelInterface *interface);
G_DEFINE_TYPE_WITH_CODE(KvoGlibListModel, kvo_glib_list_model, G_TYPE_OBJECT,
                        G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, list_implement))

/* ------------------------------------------------------------------------------------------------------------- Reading -- */

static GType list_get_item_type(GListModel *model) {
  return ((KvoGlibListModel *)model)->is_objects ? KVO_GLIB_TYPE_OBJECT : KVO_GLIB_TYPE_VALUE;
}

static guint list_get_n_items(GListModel *model) { return ((KvoGlibListModel *)model)->count; }

/* Of an item that is not there only its address is known, but its class is probably that of the others. */
static void list_learn(KvoGlibListModel *of, GType type) {
  kvo_glib_lock();
  if (of->item_type == 0) of->item_type = type;
  while (!g_type_is_a(type, of->item_type)) of->item_type = g_type_parent(of->item_type);
  kvo_glib_unlock();
}

/* The wrapper of an item, or NULL. The object cannot be destroyed meanwhile: whoever removes it from the list, or destroys the owner, waits
 * for the pins. */
static GObject *list_wrap(KvoGlibListModel *of, guint position) {
  kvo_glib_pin owner, model;
  gboolean is_owned = kvo_glib_weak_pin(of->owner, &owner) != NULL;
  kvo_glib_lock();
  kvo_object *object = position < of->count ? of->items[position] : NULL;
  gboolean is_there =
      is_owned && object != NULL && (of->leaving == NULL || !g_hash_table_contains(of->leaving, object));
  if (is_there) kvo_glib_pin_link(&model, of);
  kvo_glib_unlock();
  GObject *wrapper = NULL;
  if (is_there) {
    wrapper = kvo_glib_wrap_at(object, of->place);
    kvo_glib_unpin(&model);
  }
  if (is_owned) kvo_glib_unpin(&owner);
  if (wrapper != NULL) list_learn(of, G_OBJECT_TYPE(wrapper));
  return wrapper;
}

/* An object that the list does not have any more may have been destroyed: only the wrapper that there is knows. */
static GObject *list_wrap_left(KvoGlibListModel *of, guint position) {
  for (guint i = 0; of->item_type == 0 && i < of->count && i < LIST_FEW; i++) {
    GObject *other = list_wrap(of, i);
    if (other != NULL) g_object_unref(other);
  }
  kvo_glib_lock();
  kvo_object *object = position < of->count ? of->items[position] : NULL;
  GType type = of->item_type != 0 ? of->item_type : KVO_GLIB_TYPE_OBJECT;
  kvo_glib_unlock();
  GObject *found = object != NULL ? kvo_glib_weak_find_wrapper(object, NULL) : NULL;
  return found != NULL ? found : g_object_new(type, NULL); /* of no object */
}

static gpointer list_get_item(GListModel *model, guint position) {
  KvoGlibListModel *of = (KvoGlibListModel *)model;
  if (position >= of->count) return NULL;
  gpointer item = of->items[position];
  if (!of->is_objects) return g_object_ref(item);
  GObject *wrapper = list_wrapper_find(of, item);
  if (wrapper != NULL) return wrapper;
  wrapper = list_wrap(of, position);
  if (wrapper == NULL) return list_wrap_left(of, position);
  list_wrapper_keep(of, item, wrapper);
  return wrapper;
}

static void list_implement(GListModelInterface *interface) {
  interface->get_item_type = list_get_item_type;
  interface->get_n_items = list_get_n_items;
  interface->get_item = list_get_item;
}

static void kvo_glib_list_model_init(KvoGlibListModel *of) { g_queue_init(&of->edits); }

static void list_finalize(GObject *object) {
  KvoGlibListModel *of = (KvoGlibListModel *)object;
  kvo_cancel_observer(of->observation);
  for (list_edit *edit; (edit = list_edit_pop(of)) != NULL;) list_edit_free(of, edit);
  for (guint i = 0; !of->is_objects && i < of->count; i++) g_clear_object((GObject **)&of->items[i]);
  g_clear_pointer(&of->wrappers, g_hash_table_unref);
  g_free(of->store);
  g_free(of->key);
  kvo_glib_weak_drop(of->owner);
  kvo_glib_place_drop(of->place);
  G_OBJECT_CLASS(kvo_glib_list_model_parent_class)->finalize(object);
}

static void kvo_glib_list_model_class_init(KvoGlibListModelClass *cls) {
  G_OBJECT_CLASS(cls)->finalize = list_finalize;
}

static kvo_status list_observe(KvoGlibListModel *of, kvo_object *object) {
  list_link *link = g_new(list_link, 1);
  g_weak_ref_init(&link->model, of);
  kvo_observer observer = {.struct_size = sizeof observer,
                           .key_path = of->key,
                           .options = KVO_NEW | KVO_OLD | KVO_ENDS_WITH_OBJECT,
                           .callback = list_changed,
                           .user_data = link,
                           .destroy = list_ended};
  kvo_status status = kvo_add_observer(object, &observer, &of->observation);
  if (status == KVO_OK) return KVO_OK;
  g_weak_ref_clear(&link->model);
  g_free(link);
  return status;
}

GListModel *kvo_glib_list_model(kvo_object *object, const char *key) {
  g_return_val_if_fail(object != NULL && key != NULL, NULL);
  size_t count = 0;
  kvo_status status = kvo_list_count(object, key, &count);
  kvo_glib_weak *owner = status == KVO_OK ? kvo_glib_weak_take(object) : NULL;
  if (owner == NULL) {
    if (status != KVO_OK)
      kvo_glib_critical_status(status);
    else
      g_critical("%s: the object is being destroyed", G_STRFUNC);
    return NULL;
  }
  KvoGlibListModel *of = g_object_new(KVO_GLIB_TYPE_LIST_MODEL, NULL);
  of->owner = owner;
  of->place = kvo_glib_place_take();
  of->key = g_strdup(key);
  const kvo_property *property = kvo_class_property(kvo_object_class(object), key);
  of->is_objects = property != NULL && kvo_property_type(property)[1] == '@';
  status = list_observe(of, object);
  if (status != KVO_OK) {
    kvo_glib_critical_status(status);
    g_object_unref(of);
    return NULL;
  }
  list_edit_whole(of, object);
  list_flush(of);
  return G_LIST_MODEL(of);
}
