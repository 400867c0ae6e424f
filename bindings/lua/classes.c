/* classes.c - kvo.class: classes of Lua. Values are in the object at offsets; strings and lists have accessors that get the offset. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static const char class_type[] = "kvo.class", list_of_type[] = "kvo.list_of";

enum { SLOT = 8, MOST = 64, TEXT = 1024 };

/* A list in an object. */
typedef struct list {
  size_t count, capacity;
  char (*items)[SLOT];
} list;

/* A class of this process. Classes last, and so do these; Lua states that define the same class share it. */
typedef struct lua_class {
  struct lua_class *next;
  kvo_class *cls;
  char name[TEXT], signature[TEXT];
  /* Of each slot, with inherited ones: the type of the value, upper case for lists. */
  char types[MOST];
  size_t count;
} lua_class;

static lua_class *classes;
static pthread_mutex_t classes_lock = PTHREAD_MUTEX_INITIALIZER;

static lua_class *find_made(const kvo_class *cls) {
  lua_class *found = classes;
  while (found != NULL && found->cls != cls) found = found->next;
  return found;
}

/* ----------------------------------------------------------------------------------------------------------- Accessors -- */

static void *at(const kvo_object *object, const void *user) { return (char *)object + (uintptr_t)user; }

static char *get_string(const kvo_object *object, void *user) { return *(char **)at(object, user); }

static bool set_string(kvo_object *object, char *text, void *user) {
  char *copy = text != NULL ? strdup(text) : NULL, **place = at(object, user);
  if (text != NULL && copy == NULL) return false;
  free(*place);
  *place = copy;
  return true;
}

static size_t item_count(const kvo_object *object, void *user) {
  const list *of = *(list **)at(object, user);
  return of != NULL ? of->count : 0;
}

/* Of elements that are no strings: they have 8 bytes, or one. */
static void get_item(const kvo_object *object, size_t index, void *element, void *user) {
  const list *of = *(list **)at(object, user);
  memcpy(element, of->items[index], SLOT);
}
static void get_flag(const kvo_object *object, size_t index, void *element, void *user) {
  memcpy(element, (*(list **)at(object, user))->items[index], sizeof(bool));
}

static kvo_status make_room(kvo_object *object, size_t index, void *user, list **out) {
  list **place = at(object, user);
  if (*place == NULL && (*place = calloc(1, sizeof **place)) == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  list *of = *out = *place;
  if (of->count == of->capacity) {
    size_t capacity = of->capacity * 2 + 4;
    void *grown = realloc(of->items, capacity * SLOT);
    if (grown == NULL) return KVO_ERROR_OUT_OF_MEMORY;
    of->items = grown;
    of->capacity = capacity;
  }
  memmove(of->items[index + 1], of->items[index], (of->count++ - index) * SLOT);
  return KVO_OK;
}

static kvo_status insert_bytes(kvo_object *object, size_t index, const void *element, size_t size, void *user) {
  list *of;
  kvo_status status = make_room(object, index, user, &of);
  if (status == KVO_OK) memcpy(of->items[index], element, size);
  return status;
}
static kvo_status insert_item(kvo_object *object, size_t index, const void *element, void *user) {
  return insert_bytes(object, index, element, SLOT, user);
}
static kvo_status insert_flag(kvo_object *object, size_t index, const void *element, void *user) {
  return insert_bytes(object, index, element, sizeof(bool), user);
}
static kvo_status insert_string(kvo_object *object, size_t index, const void *element, void *user) {
  const char *text = *(char *const *)element;
  char *copy = text != NULL ? strdup(text) : NULL;
  if (text != NULL && copy == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  kvo_status status = insert_bytes(object, index, &copy, sizeof copy, user);
  if (status != KVO_OK) free(copy);
  return status;
}

static kvo_status remove_item(kvo_object *object, size_t index, void *user) {
  list *of = *(list **)at(object, user);
  memmove(of->items[index], of->items[index + 1], (--of->count - index) * SLOT);
  return KVO_OK;
}
static kvo_status remove_string(kvo_object *object, size_t index, void *user) {
  char *text;
  memcpy(&text, (*(list **)at(object, user))->items[index], sizeof text);
  free(text);
  return remove_item(object, index, user);
}

static void finalize(kvo_object *object) {
  pthread_mutex_lock(&classes_lock);
  const lua_class *of = find_made(kvo_object_class(object));
  pthread_mutex_unlock(&classes_lock);
  for (size_t i = 0; of != NULL && i < of->count; i++) {
    void **slot = (void **)(void *)((char *)object + sizeof(kvo_object) + i * SLOT);
    if (of->types[i] == '*') free(*slot);
    if (of->types[i] != 'L' && of->types[i] != 'S') continue;
    list *items = *slot;
    for (size_t j = 0; items != NULL && of->types[i] == 'S' && j < items->count; j++)
      free(*(char **)(void *)items->items[j]);
    if (items != NULL) free(items->items);
    free(items);
  }
}

/* -------------------------------------------------------------------------------------------------------- Registration -- */

static const char *encoding_of(const char *word) {
  static const char *const words[][2] = {
      {"number", "d"}, {"integer", "q"}, {"boolean", "B"}, {"string", "*"}, {"object", "@"}};
  for (size_t i = 0; word != NULL && i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i][0], word) == 0) return words[i][1];
  return NULL;
}

static int compare(const void *one, const void *other) {
  return strcmp(*(const char *const *)one, *(const char *const *)other);
}

/* What a class is made of, while it is. */
typedef struct making {
  kvo_property_spec properties[MOST];
  kvo_collection_spec collections[MOST];
  kvo_list_accessors lists[MOST];
  size_t property_count, collection_count;
  lua_class *made;
} making;

static void add_property(making *in, const char *name, const char *type, bool is_list) {
  size_t offset = sizeof(kvo_object) + in->made->count * SLOT;
  void *user = (void *)(uintptr_t)offset;
  bool is_string = *type == '*', is_flag = *type == 'B';
  in->made->types[in->made->count++] = is_list ? (is_string ? 'S' : 'L') : *type;
  if (is_list) {
    kvo_list_accessors *list = &in->lists[in->collection_count];
    *list = (kvo_list_accessors){.struct_size = sizeof *list,
                                 .count = item_count,
                                 .get_at = is_flag ? get_flag : get_item,
                                 .insert_at = is_string ? insert_string
                                              : is_flag ? insert_flag
                                                        : insert_item,
                                 .remove_at = is_string ? remove_string : remove_item,
                                 .user = user};
    in->collections[in->collection_count++] = (kvo_collection_spec){.name = name, .element_type = type, .list = list};
  } else {
    kvo_property_spec *property = &in->properties[in->property_count++];
    *property = (kvo_property_spec){.name = name, .type = type, .flags = KVO_PROPERTY_AT_OFFSET, .offset = offset};
    if (is_string)
      *property = (kvo_property_spec){.name = name,
                                      .type = type,
                                      .flags = KVO_PROPERTY_WITH_USER,
                                      .user = user,
                                      .getter = (kvo_function)get_string,
                                      .setter = (kvo_function)set_string,
                                      .setter_type = "B@*"};
  }
}

/* Registers the class, under the first free name. The lock is held. */
static kvo_status register_class(making *in, const char *name, kvo_class *superclass) {
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = in->made->name,
                         .superclass = superclass,
                         .instance_size = sizeof(kvo_object) + (in->made->count + 1) * SLOT,
                         .properties = in->properties,
                         .property_count = in->property_count,
                         .property_size = sizeof *in->properties,
                         .finalize = finalize,
                         .collections = in->collections,
                         .collection_count = in->collection_count,
                         .collection_size = sizeof *in->collections};
  kvo_status status = KVO_ERROR_DUPLICATE_CLASS;
  for (int i = 1; status == KVO_ERROR_DUPLICATE_CLASS && i < 10000; i++) {
    if (i == 1)
      strcpy(in->made->name, name);
    else
      sprintf(in->made->name, "%s_%d", name, i);
    status = kvo_class_register(&spec, &in->made->cls);
  }
  return status;
}

/* A class is its name, because a plug-in of C may end one. */
static void push_class(lua_State *L, const kvo_class *cls) {
  size_t size = strlen(kvo_class_name(cls)) + 1;
  memcpy(lua_newuserdatauv(L, size, 0), kvo_class_name(cls), size);
  luaL_setmetatable(L, class_type);
}

static kvo_class *class_check(lua_State *L, int index) {
  kvo_class *found = kvo_class_find(luaL_checkudata(L, index, class_type));
  luaL_argcheck(L, found != NULL, index, "the class has ended");
  return found;
}

/* kvo.class(name, properties [, superclass]) */
int class_make(lua_State *L) {
  size_t length;
  const char *name = luaL_checklstring(L, 1, &length), *names[MOST];
  luaL_argcheck(L, length > 0 && length < TEXT / 2, 1, "the name of a class was expected");
  luaL_checktype(L, 2, LUA_TTABLE);
  kvo_class *superclass = lua_isnoneornil(L, 3) ? NULL : class_check(L, 3);
  lua_settop(L, 3);
  size_t count = 0;
  for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
    luaL_argcheck(L, lua_type(L, -2) == LUA_TSTRING && count < MOST, 2, "names of at most 64 properties were expected");
    names[count++] = lua_tostring(L, -2);
  }
  qsort(names, count, sizeof *names, compare);
  making *in = lua_newuserdatauv(L, sizeof *in, 0);
  *in = (making){.made = lua_newuserdatauv(L, sizeof *in->made, 0)};
  *in->made = (lua_class){.cls = NULL};
  pthread_mutex_lock(&classes_lock);
  const lua_class *base = superclass != NULL ? find_made(superclass) : NULL;
  pthread_mutex_unlock(&classes_lock);
  if (superclass != NULL && base == NULL) return luaL_error(L, "a class of C cannot be the superclass of one of Lua");
  if (base != NULL) {
    memcpy(in->made->types, base->types, base->count);
    in->made->count = base->count;
  }
  luaL_argcheck(L, in->made->count + count <= MOST, 2, "a class has at most 64 properties");
  luaL_Buffer signature;
  luaL_buffinit(L, &signature);
  luaL_addstring(&signature, name);
  lua_pushfstring(L, ":%p", (void *)superclass);
  luaL_addvalue(&signature);
  for (size_t i = 0; i < count; i++) {
    lua_getfield(L, 2, names[i]);
    bool is_list = luaL_testudata(L, -1, list_of_type) != NULL;
    const char *type = is_list ? *(const char **)lua_touserdata(L, -1) : encoding_of(lua_tostring(L, -1));
    lua_pop(L, 1);
    if (type == NULL)
      return luaL_error(L,
                        "property '%s': a type was expected: number, integer, boolean, string, object, or "
                        "kvo.list of one of them",
                        names[i]);
    add_property(in, names[i], type, is_list);
    lua_pushfstring(L, " %s:%s%s", names[i], is_list ? "[" : "", type);
    luaL_addvalue(&signature);
  }
  luaL_pushresult(&signature);
  const char *text = lua_tostring(L, -1);
  luaL_argcheck(L, strlen(text) < TEXT, 2, "the names are too long");
  strcpy(in->made->signature, text);

  kvo_status status = KVO_OK;
  pthread_mutex_lock(&classes_lock);
  lua_class *found = classes;
  while (found != NULL && strcmp(found->signature, text) != 0) found = found->next;
  if (found == NULL && (found = malloc(sizeof *found)) != NULL) {
    status = register_class(in, name, superclass);
    *found = *in->made;
    found->next = classes;
    if (status == KVO_OK)
      classes = found;
    else
      free(found);
  } else if (found == NULL) {
    status = KVO_ERROR_OUT_OF_MEMORY;
  }
  pthread_mutex_unlock(&classes_lock);
  check_status(L, status, name);
  push_class(L, found->cls);
  return 1;
}

/* kvo.list "number" */
int class_list(lua_State *L) {
  const char *type = encoding_of(luaL_checkstring(L, 1));
  luaL_argcheck(L, type != NULL, 1, "number, integer, boolean, string or object was expected");
  *(const char **)lua_newuserdatauv(L, sizeof type, 0) = type;
  luaL_setmetatable(L, list_of_type);
  return 1;
}

int class_find(lua_State *L) {
  kvo_class *found = kvo_class_find(luaL_checkstring(L, 1));
  if (found != NULL)
    push_class(L, found);
  else
    lua_pushnil(L);
  return 1;
}

/* Class { key = value, ... } */
static int class_call(lua_State *L) {
  kvo_class *cls = class_check(L, 1);
  lua_settop(L, 2);
  object_create(L, cls);
  if (lua_isnil(L, 2)) return 1;
  luaL_checktype(L, 2, LUA_TTABLE);
  for (lua_pushnil(L); lua_next(L, 2) != 0;) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_settable(L, 3); /* pops the copied key and the value */
  }
  return 1;
}

static int class_index(lua_State *L) {
  kvo_class *cls = class_check(L, 1);
  const char *key = luaL_checkstring(L, 2);
  if (strcmp(key, "name") == 0) {
    lua_pushstring(L, kvo_class_name(cls));
  } else if (strcmp(key, "properties") == 0) {
    lua_newtable(L);
    for (size_t i = 0; i < kvo_class_property_count(cls); i++) {
      const kvo_property *property = kvo_class_property_at(cls, i);
      lua_pushstring(L, kvo_property_type(property));
      lua_setfield(L, -2, kvo_property_name(property));
    }
  } else {
    lua_pushnil(L);
  }
  return 1;
}

void class_open(lua_State *L) {
  luaL_newmetatable(L, list_of_type);
  lua_pushliteral(L, "kvo");
  lua_setfield(L, -2, "__metatable");
  luaL_newmetatable(L, class_type);
  lua_pushliteral(L, "kvo");
  lua_setfield(L, -2, "__metatable");
  lua_pushcfunction(L, class_call);
  lua_setfield(L, -2, "__call");
  lua_pushcfunction(L, class_index);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 2);
}
