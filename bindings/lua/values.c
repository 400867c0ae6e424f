/* values.c - values between Lua and the runtime. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static const char *unqualified(const char *type) { return type + strspn(type, "rnNoORVA"); }

static void copy_elements(value *to, const kvo_value *from) {
  size_t count = kvo_value_count(from);
  to->kind = LIST;
  to->elements = calloc(count != 0 ? count : 1, sizeof *to->elements);
  if (to->elements == NULL) return;
  for (to->count = 0; to->count < count; to->count++)
    if (kvo_value_element(from, to->count, value_read, &to->elements[to->count]) != KVO_OK) break;
}

void value_copy(value *to, const kvo_value *from) {
  *to = (value){.kind = NIL};
  if (from == NULL || from->bytes == NULL || from->type == NULL) return;
  if (kvo_value_collection(from) != NULL) {
    copy_elements(to, from);
    return;
  }
  const void *bytes = from->bytes;
#define NUMBER_OF(code, T, form, member)                                                                               \
  case code: *to = (value){.kind = form, .member = *(const T *)bytes}; return;
  switch (*unqualified(from->type)) {
    NUMBER_OF('B', bool, BOOLEAN, boolean)
    NUMBER_OF('c', signed char, INTEGER, integer)
    NUMBER_OF('C', unsigned char, INTEGER, integer)
    NUMBER_OF('s', short, INTEGER, integer)
    NUMBER_OF('S', unsigned short, INTEGER, integer)
    NUMBER_OF('i', int, INTEGER, integer)
    NUMBER_OF('I', unsigned, INTEGER, integer)
    NUMBER_OF('l', long, INTEGER, integer)
    NUMBER_OF('q', long long, INTEGER, integer)
    NUMBER_OF('f', float, NUMBER, number)
    NUMBER_OF('d', double, NUMBER, number)
    case 'L':
    case 'Q': {
      unsigned long long number =
          from->size == sizeof(unsigned long) ? *(const unsigned long *)bytes : *(const unsigned long long *)bytes;
      *to = number <= LUA_MAXINTEGER ? (value){.kind = INTEGER, .integer = (long long)number}
                                     : (value){.kind = NUMBER, .number = (double)number};
      return;
    }
    case 'D': *to = (value){.kind = NUMBER, .number = (double)*(const long double *)bytes}; return;
    case '@': *to = (value){.kind = OBJECT, .object = *(kvo_object *const *)bytes}; return;
    case '*':
      if (*(char *const *)bytes != NULL) *to = (value){.kind = STRING, .string = strdup(*(char *const *)bytes)};
      if (to->string == NULL) to->kind = NIL;
      return;
    default: to->kind = OTHER;
  }
#undef NUMBER_OF
}

void value_free(value *of) {
  free(of->string);
  for (size_t i = 0; i < of->count; i++) value_free(&of->elements[i]);
  free(of->elements);
  *of = (value){.kind = NIL};
}

void value_read(const kvo_value *from, void *to) { value_copy(to, from); }

void value_push(lua_State *L, const value *of) {
  switch (of->kind) {
    case BOOLEAN: lua_pushboolean(L, of->boolean); break;
    case INTEGER: lua_pushinteger(L, of->integer); break;
    case NUMBER: lua_pushnumber(L, of->number); break;
    case STRING: lua_pushstring(L, of->string); break;
    case OBJECT: object_push(L, of->object); break;
    case LIST:
      luaL_checkstack(L, 4, "nested lists");
      lua_createtable(L, (int)of->count, 0);
      for (size_t i = 0; i < of->count; i++) {
        value_push(L, &of->elements[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
      }
      break;
    default: lua_pushnil(L);
  }
}

const char *value_view(lua_State *L, int index, const char *type, value *storage, kvo_value *view) {
  *storage = (value){.kind = NIL};
  switch (lua_type(L, index)) {
    case LUA_TNIL:
    case LUA_TNONE: *view = (kvo_value){unqualified(type), 0, NULL}; return NULL;
    case LUA_TBOOLEAN:
      storage->boolean = lua_toboolean(L, index);
      *view = (kvo_value){"B", sizeof storage->boolean, &storage->boolean};
      return NULL;
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) {
        storage->integer = lua_tointeger(L, index);
        *view = (kvo_value){"q", sizeof storage->integer, &storage->integer};
      } else {
        storage->number = lua_tonumber(L, index);
        *view = (kvo_value){"d", sizeof storage->number, &storage->number};
      }
      return NULL;
    case LUA_TSTRING: {
      size_t length;
      storage->string = (char *)lua_tolstring(L, index, &length); /* Lua's own */
      *view = (kvo_value){"*", sizeof storage->string, &storage->string};
      return strlen(storage->string) == length ? NULL : "a string with NUL cannot be passed to C";
    }
    case LUA_TUSERDATA:
      storage->object = object_test(L, index);
      *view = (kvo_value){"@", sizeof storage->object, &storage->object};
      return storage->object != NULL ? NULL : "an object, which is alive, was expected";
    default: return "a value of this type cannot be passed to C";
  }
}

void check_status(lua_State *L, kvo_status status, const char *what) {
  if (status == KVO_OK) return;
  const char *text = kvo_last_error();
  luaL_error(L, "%s: %s", what, *text != 0 ? text : kvo_status_string(status));
}
