/* value_item.c - KvoGlibValue, the item of a list model for a value that is no object. */
#include "private.h"

#include <math.h>

struct _KvoGlibValue {
  GObject parent_instance;
  GValue value; /* not initialised for nil, and for a value that GLib has no type for */
};

G_DEFINE_TYPE(KvoGlibValue, kvo_glib_value, G_TYPE_OBJECT)

enum { ITEM_VALUE = 1, ITEM_STRING, ITEM_NUMBER };

KvoGlibValue *kvo_glib_value_item(const kvo_value *of, kvo_glib_place *place) {
  KvoGlibValue *item = g_object_new(KVO_GLIB_TYPE_VALUE, NULL);
  GValue view = G_VALUE_INIT;
  if (kvo_glib_value_init_from(&view, of, place)) {
    g_value_init(&item->value, G_VALUE_TYPE(&view));
    g_value_copy(&view, &item->value);
    g_value_unset(&view);
  }
  return item;
}

gboolean kvo_glib_value_item_equal(KvoGlibValue *one, KvoGlibValue *other) {
  if (!G_IS_VALUE(&one->value) || !G_IS_VALUE(&other->value))
    return G_IS_VALUE(&one->value) == G_IS_VALUE(&other->value);
  if (G_VALUE_TYPE(&one->value) != G_VALUE_TYPE(&other->value)) return FALSE;
  if (G_VALUE_HOLDS_STRING(&one->value))
    return g_strcmp0(g_value_get_string(&one->value), g_value_get_string(&other->value)) == 0;
  return one->value.data[0].v_uint64 == other->value.data[0].v_uint64;
}

static void item_get_property(GObject *object, guint id, GValue *to, GParamSpec *spec) {
  const GValue *value = &((KvoGlibValue *)object)->value;
  (void)spec;
  if (!G_IS_VALUE(value)) return;
  if (id == ITEM_VALUE)
    g_value_set_boxed(to, value);
  else if (g_value_type_transformable(G_VALUE_TYPE(value), G_VALUE_TYPE(to)))
    g_value_transform(value, to);
}

static void item_finalize(GObject *object) {
  GValue *value = &((KvoGlibValue *)object)->value;
  if (G_IS_VALUE(value)) g_value_unset(value);
  G_OBJECT_CLASS(kvo_glib_value_parent_class)->finalize(object);
}

static void kvo_glib_value_init(KvoGlibValue *item) { (void)item; }

static void kvo_glib_value_class_init(KvoGlibValueClass *cls) {
  GObjectClass *object_class = G_OBJECT_CLASS(cls);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  object_class->get_property = item_get_property;
  object_class->finalize = item_finalize;
  /**
   * KvoGlibValue:value:
   *
   * The value, with its type; %NULL for nil. It never changes.
   */
  g_object_class_install_property(
      object_class, ITEM_VALUE, g_param_spec_boxed("value", "value", "The value, with its type", G_TYPE_VALUE, flags));
  /**
   * KvoGlibValue:string:
   *
   * The value as a text; %NULL for nil.
   */
  g_object_class_install_property(object_class, ITEM_STRING,
                                  g_param_spec_string("string", "string", "The value as a text", NULL, flags));
  /**
   * KvoGlibValue:number:
   *
   * The value as a number; 0 for nil and for a text.
   */
  g_object_class_install_property(
      object_class, ITEM_NUMBER,
      g_param_spec_double("number", "number", "The value as a number", -INFINITY, INFINITY, 0, flags));
}
