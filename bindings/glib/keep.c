/* keep.c - the wrappers that a wrapper keeps: of the objects that its properties returned last. A GtkExpression that follows a path of
 * properties has a reference to the first wrapper only. */
#include "private.h"

/* A property's, in the list of the wrapper. */
struct kvo_glib_kept {
  kvo_glib_kept *next;
  const GParamSpec *spec;
  kvo_glib_wrapper *wrapper;
};

/* Under the lock. The list is data of the GObject: most wrappers have none. */
static GQuark keep_quark(void) {
  static GQuark quark;
  if (quark == 0) quark = g_quark_from_static_string("kvo-glib-kept");
  return quark;
}

static kvo_glib_kept *keep_list(kvo_glib_wrapper *keeper) {
  return g_object_get_qdata((GObject *)keeper, keep_quark());
}

/* ------------------------------------------------------------------------------------------------------------ Cycles -- */

/* Wrappers that keep each other would never be released, because GObject counts. So none is kept that keeps the keeper already: of objects
 * that refer to each other the last reference that has been read is not kept. Who follows it needs another reference to the wrapper, and
 * mostly has one: it is nearer to the beginning of the path. A chain that is longer than this is taken for a cycle, too. */
enum { KEEP_MOST = 1000 };

/* Under the lock: whether `from` keeps `to`, itself or by what it keeps. Who is kept lives. */
static gboolean keep_leads(kvo_glib_wrapper *from, const kvo_glib_wrapper *to) {
  if (from == to) return TRUE;
  if (keep_list(from) == NULL) return FALSE;
  GHashTable *seen = g_hash_table_new(NULL, NULL);
  GPtrArray *left = g_ptr_array_new();
  gboolean leads = FALSE;
  g_ptr_array_add(left, from);
  while (!leads && left->len != 0) {
    kvo_glib_wrapper *next = g_ptr_array_remove_index_fast(left, left->len - 1);
    leads = next == to || g_hash_table_size(seen) == KEEP_MOST;
    if (!g_hash_table_add(seen, next)) continue;
    for (kvo_glib_kept *kept = keep_list(next); kept != NULL; kept = kept->next) g_ptr_array_add(left, kept->wrapper);
  }
  g_ptr_array_unref(left);
  g_hash_table_unref(seen);
  return leads;
}

/* ----------------------------------------------------------------------------------------------------------- Released -- */

/* Each that is released may release others: one after the other, since there may be many. On its context, as its handlers may end. */
void kvo_glib_keep_release(kvo_glib_kept *list) {
  static _Thread_local kvo_glib_kept **more;
  kvo_glib_kept *first = list, **end = &first;
  if (more != NULL) { /* called by the loop below */
    while (*end != NULL) end = &(*end)->next;
    *end = *more;
    *more = first;
    return;
  }
  more = &first;
  while (first != NULL) {
    kvo_glib_kept *kept = first;
    first = kept->next;
    kvo_glib_lock();
    kvo_glib_weak *weak = kept->wrapper->weak;
    kvo_glib_place *place =
        weak != NULL && weak->wrapper == (GObject *)kept->wrapper ? kvo_glib_place_at(weak->place) : NULL;
    kvo_glib_unlock();
    if (place != NULL && !kvo_glib_place_is_here(place)) kvo_glib_place_run(place, NULL, (GObject *)kept->wrapper);
    g_object_unref(kept->wrapper);
    g_free(kept);
  }
  more = NULL;
}

kvo_glib_kept *kvo_glib_keep_steal(kvo_glib_wrapper *keeper) {
  return g_object_steal_qdata((GObject *)keeper, keep_quark());
}

/* Under the lock: takes the property's out of the list. */
static kvo_glib_kept *keep_take(kvo_glib_wrapper *keeper, const GParamSpec *spec) {
  kvo_glib_kept *list = keep_list(keeper), **link = &list;
  while (*link != NULL && (*link)->spec != spec) link = &(*link)->next;
  kvo_glib_kept *taken = *link;
  if (taken != NULL) {
    *link = taken->next;
    taken->next = NULL;
    g_object_set_qdata((GObject *)keeper, keep_quark(), list);
  }
  return taken;
}

static void keep_add(kvo_glib_wrapper *keeper, kvo_glib_kept *kept) {
  kept->next = keep_list(keeper);
  g_object_set_qdata((GObject *)keeper, keep_quark(), kept);
}

/* ----------------------------------------------------------------------------------------------------------- Kept -- */

void kvo_glib_keep(kvo_glib_wrapper *keeper, const GParamSpec *spec, GObject *value) {
  kvo_glib_wrapper *wrapper = value != NULL && KVO_GLIB_IS_OBJECT(value) ? (kvo_glib_wrapper *)value : NULL;
  kvo_glib_lock();
  kvo_glib_kept *kept = keep_take(keeper, spec), *replaced = NULL;
  if (kept != NULL && kept->wrapper != wrapper) {
    replaced = kept;
    kept = NULL;
  }
  if (kept == NULL && wrapper != NULL && !keep_leads(wrapper, keeper)) {
    kept = g_new(kvo_glib_kept, 1);
    *kept = (kvo_glib_kept){NULL, spec, g_object_ref(wrapper)};
  }
  if (kept != NULL) keep_add(keeper, kept);
  kvo_glib_unlock();
  if (replaced != NULL) kvo_glib_keep_release(replaced);
}

static void keep_read(const kvo_value *value, void *object) {
  if (value->bytes != NULL && kvo_value_object(value, object) != KVO_OK) *(kvo_object **)object = NULL;
}

kvo_glib_kept *kvo_glib_keep_changed(kvo_glib_wrapper *keeper, const GParamSpec *spec, kvo_object *of) {
  if (spec->value_type != G_TYPE_OBJECT) return NULL;
  kvo_glib_lock();
  const kvo_glib_kept *kept = keep_list(keeper);
  while (kept != NULL && kept->spec != spec) kept = kept->next;
  kvo_glib_unlock();
  if (kept == NULL) return NULL;
  kvo_object *object = NULL;
  if (kvo_get_value(of, g_param_spec_get_nick((GParamSpec *)spec), keep_read, &object) != KVO_OK) object = NULL;
  kvo_glib_lock();
  kvo_glib_kept *taken = keep_take(keeper, spec);
  if (taken != NULL && object != NULL && taken->wrapper->weak != NULL && taken->wrapper->weak->object == object) {
    keep_add(keeper, taken); /* it still has it */
    taken = NULL;
  }
  kvo_glib_unlock();
  return taken;
}
