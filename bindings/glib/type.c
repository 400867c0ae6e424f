/* type.c - the types of wrappers, made from classes: a property for each key whose type GLib has. */
#include "private.h"

#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

/* By the address of the class; under this lock, which code of the program never runs under. Of classes that have been unregistered the
 * addresses may be those of others: so a class is compared with what is known of it. */
static pthread_mutex_t type_lock = PTHREAD_MUTEX_INITIALIZER;
static GHashTable *types;

/* --------------------------------------------------------------------------------------------------------- Properties -- */

/* A name that GParamSpec takes. Letters of other alphabets have none: such keys are no properties. */
static gboolean type_is_property_name(const char *key) {
  return g_param_spec_is_valid_name(key) && !g_str_has_prefix(key, "kvo-glib-");
}

static GParamSpec *type_number_spec(const char *key, const char *blurb, const char *encoding, GParamFlags flags) {
  switch (encoding[strspn(encoding, "rnNoORVA")]) {
    case 'B': return g_param_spec_boolean(key, key, blurb, FALSE, flags);
    case 'c': return g_param_spec_char(key, key, blurb, G_MININT8, G_MAXINT8, 0, flags);
    case 'C': return g_param_spec_uchar(key, key, blurb, 0, G_MAXUINT8, 0, flags);
    case 's': return g_param_spec_int(key, key, blurb, SHRT_MIN, SHRT_MAX, 0, flags);
    case 'S': return g_param_spec_int(key, key, blurb, 0, USHRT_MAX, 0, flags);
    case 'i': return g_param_spec_int(key, key, blurb, INT_MIN, INT_MAX, 0, flags);
    case 'I': return g_param_spec_uint(key, key, blurb, 0, UINT_MAX, 0, flags);
    case 'l': return g_param_spec_long(key, key, blurb, LONG_MIN, LONG_MAX, 0, flags);
    case 'L': return g_param_spec_ulong(key, key, blurb, 0, ULONG_MAX, 0, flags);
    case 'q': return g_param_spec_int64(key, key, blurb, G_MININT64, G_MAXINT64, 0, flags);
    case 'Q': return g_param_spec_uint64(key, key, blurb, 0, G_MAXUINT64, 0, flags);
    case 'f': return g_param_spec_float(key, key, blurb, -INFINITY, INFINITY, 0, flags);
    default: return g_param_spec_double(key, key, blurb, -INFINITY, INFINITY, 0, flags);
  }
}

static GParamSpec *type_spec(const char *key, const char *encoding, const char *class_name, GParamFlags flags) {
  GType type = kvo_glib_type_for_encoding(encoding);
  if (type == G_TYPE_INVALID || flags == 0 || !type_is_property_name(key)) return NULL;
  char *blurb = g_strdup_printf("%s.%s, a value of type %s", class_name, key, encoding);
  flags |= G_PARAM_STATIC_NICK | G_PARAM_EXPLICIT_NOTIFY;
  GParamSpec *spec;
  if (type == G_TYPE_STRING)
    spec = g_param_spec_string(key, key, blurb, NULL, flags);
  else if (type == G_TYPE_POINTER)
    spec = g_param_spec_pointer(key, key, blurb, flags);
  else if (type == G_TYPE_LIST_MODEL)
    spec = g_param_spec_object(key, key, blurb, type, flags & ~G_PARAM_WRITABLE);
  else if (type == KVO_GLIB_TYPE_OBJECT)
    spec = g_param_spec_object(key, key, blurb, G_TYPE_OBJECT, flags);
  else
    spec = type_number_spec(key, blurb, encoding, flags);
  g_free(blurb);
  return g_param_spec_ref_sink(spec);
}

/* What can be done with the properties of a class is known of its objects only. */
static GParamFlags type_access(const kvo_object *sample, const char *key, const char *encoding) {
  if (sample == NULL || encoding[0] == '[')
    return G_PARAM_READWRITE; /* of a binding's class: setting says whether it can be set */
  return (kvo_object_getter(sample, key) != NULL ? G_PARAM_READABLE : 0) |
         (kvo_object_setter(sample, key) != NULL ? G_PARAM_WRITABLE : 0);
}

/* ------------------------------------------------------------------------------------------------------------- Types -- */

static gboolean type_is_of(const kvo_glib_class *known, const kvo_class *cls) {
  if (known == NULL || known->count != kvo_class_property_count(cls) || strcmp(known->name, kvo_class_name(cls)) != 0)
    return FALSE;
  for (size_t i = 0; i < known->count; i++) {
    const kvo_property *property = kvo_class_property_at(cls, i);
    if (strcmp(known->keys[i].name, kvo_property_name(property)) != 0 ||
        strcmp(known->keys[i].encoding, kvo_property_type(property)) != 0)
      return FALSE;
  }
  return TRUE;
}

/* A name that no type has: "Kvo" and that of the class, without what types may not have. */
static char *type_name(const char *class_name) {
  char *name = g_strconcat("Kvo", class_name, NULL);
  g_strcanon(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_-+", '_');
  if (g_type_from_name(name) == 0) return name;
  for (unsigned number = 2;; number++) {
    char *numbered = g_strdup_printf("%s%u", name, number);
    if (g_type_from_name(numbered) == 0) {
      g_free(name);
      return numbered;
    }
    g_free(numbered);
  }
}

static void type_class_init(gpointer g_class, gpointer class_data);

static const kvo_glib_class *type_make(kvo_class *cls, const kvo_glib_class *super) {
  kvo_glib_class *made = g_new0(kvo_glib_class, 1);
  made->name = g_strdup(kvo_class_name(cls));
  made->count = kvo_class_property_count(cls);
  made->keys = g_new0(kvo_glib_key, made->count + 1);
  size_t size = kvo_class_instance_size(cls);
  kvo_object *sample = size != 0 ? g_malloc0(size) : NULL;
  if (sample != NULL && kvo_object_init(sample, cls) != KVO_OK) g_clear_pointer(&sample, g_free);
  for (size_t i = 0; i < made->count; i++) {
    kvo_glib_key *key = &made->keys[i];
    const kvo_property *property = kvo_class_property_at(cls, i);
    key->name = g_strdup(kvo_property_name(property));
    key->encoding = g_strdup(kvo_property_type(property));
    for (size_t j = 0; super != NULL && j < super->count && key->spec == NULL; j++)
      if (strcmp(super->keys[j].name, key->name) == 0 && strcmp(super->keys[j].encoding, key->encoding) == 0)
        key->spec = super->keys[j].spec;
    if (key->spec == NULL)
      key->spec = type_spec(key->name, key->encoding, made->name, type_access(sample, key->name, key->encoding));
    key->notifies = key->spec != NULL && key->encoding[0] != '[' && (key->spec->flags & G_PARAM_READABLE) != 0;
  }
  if (sample != NULL) {
    kvo_object_finish(sample);
    g_free(sample);
  }
  char *name = type_name(made->name);
  GTypeInfo info = {.class_size = sizeof(KvoGlibObjectClass),
                    .class_init = type_class_init,
                    .class_data = made,
                    .instance_size = sizeof(KvoGlibObject)};
  GTypeQuery base;
  g_type_query(KVO_GLIB_TYPE_OBJECT, &base);
  info.instance_size = (guint16)base.instance_size;
  made->type = g_type_register_static(super != NULL ? super->type : KVO_GLIB_TYPE_OBJECT, name, &info, 0);
  g_free(name);
  return made;
}

static void type_class_init(gpointer g_class, gpointer class_data) {
  const kvo_glib_class *of = class_data;
  kvo_glib_object_class_accessors(g_class);
  for (size_t i = 0; i < of->count; i++) {
    GParamSpec *spec = of->keys[i].spec;
    if (spec == NULL || spec->owner_type != 0) continue; /* none, or a superclass's */
    GParamSpec *other = g_object_class_find_property(g_class, spec->name);
    if (other != NULL && other->owner_type == of->type) continue; /* first_name and first-name are one: the first */
    g_object_class_install_property(g_class, (guint)i + 1, spec);
  }
}

/* Under the lock. */
static const kvo_glib_class *type_find(kvo_class *cls) {
  if (types == NULL) types = g_hash_table_new(NULL, NULL);
  const kvo_glib_class *known = g_hash_table_lookup(types, cls);
  if (type_is_of(known, cls)) return known;
  kvo_class *superclass = kvo_class_superclass(cls);
  known = type_make(cls, superclass != NULL ? type_find(superclass) : NULL);
  g_hash_table_insert(types, cls, (gpointer)known);
  return known;
}

const kvo_glib_class *kvo_glib_class_for(kvo_class *cls) {
  pthread_mutex_lock(&type_lock);
  const kvo_glib_class *found = type_find(cls);
  pthread_mutex_unlock(&type_lock);
  g_type_class_unref(g_type_class_ref(found->type)); /* static types are never unloaded */
  return found;
}

GType kvo_glib_wrapper_type(kvo_class *cls) {
  g_return_val_if_fail(cls != NULL, G_TYPE_INVALID);
  return kvo_glib_class_for(cls)->type;
}
