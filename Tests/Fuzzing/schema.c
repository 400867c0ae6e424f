/* schema.c - see schema.h. */
#include "schema.h"

#include <stddef.h>
#include <string.h>

const key_info key_infos[KEYS + 1] = {
    [VALUE] = {"value", "i", INTEGER, true, true},      [NEXT] = {"next", "@", OBJECT, true, true},
    [SUM] = {"sum", "i", INTEGER, true, false},         [OTHER] = {"other", "i", INTEGER, true, true},
    [OWNED] = {"owned", "@", OBJECT, true, true},       [QUIET] = {"quiet", "i", INTEGER, true, true},
    [FAR] = {"far", "i", INTEGER, true, false},         [NAME] = {"name", "*", STRING, true, true},
    [BOX] = {"box", "{box=di}", BOXED, true, true},     [SINK] = {"sink", "i", INTEGER, false, true},
    [PAIR] = {"pair", "i", INTEGER, true, true},        [LEFT] = {"left", "i", INTEGER, true, true},
    [RIGHT] = {"right", "i", INTEGER, true, true},      [WIDE] = {"wide", "{wide=[40q]}", WIDTH, true, true},
    [FARTHER] = {"farther", "i", INTEGER, true, false}, [IMAGINARY] = {"imaginary", "", INTEGER, false, false},
};

const char *const key_paths[PATHS] = {
    "value",
    "next.value",
    "next",
    "next.next.value",
    "sum",
    "far",
    "owned.value",
    "owned",
    "next.owned",
    "next.next",
    "other",
    "next.sum",
    "name",
    "next.name",
    "box",
    "quiet",
    "next.quiet",
    "farther",
    "pair",
    "left",
    "right",
    "wide",
    "sink",
    "next.sink",
    "imaginary",
    "next.far",
    "next.imaginary",
    "owned.next.sum",
    "next.farther",
    "next.left",
    "next.box",
    "next.wide",
    "owned.owned",
    "value.value",
    "next..value",
    "",
    ".value",
    "next.",
    "next.pair",
    "next.next.next.other",
};

int path_named(const char *path) {
  int number = 0;
  while (strcmp(key_paths[number], path) != 0) number++;
  return number;
}

key key_named(const char *name, int length) {
  for (int i = 0; i < KEYS; i++)
    if ((int)strlen(key_infos[i].name) == length && memcmp(key_infos[i].name, name, (size_t)length) == 0) return i;
  return IMAGINARY;
}

bool shape_is_manual(int shape, key of) { return of == QUIET || (of == VALUE && (shape & 1) != 0); }

bool shape_is_at_offset(int shape, key of) { return of == VALUE && (shape & 33) == 32; }

int shape_base_keys(int shape) { return (shape & 2) != 0 ? OWNED : SINK; }
bool shape_has_subclass(int shape) { return (shape & 4) == 0; }
bool shape_defines(int shape, key of) { return of < (shape_has_subclass(shape) ? KEYS : (key)shape_base_keys(shape)); }

const char *const *shape_affected_by(int shape, key of) {
  static const char *const both[] = {"value", "other", NULL}, *const chain[] = {"next.sum", "value", NULL},
                           *const by_value[] = {"value", NULL}, *const by_next_value[] = {"next.value", NULL},
                           *const by_left[] = {"left", NULL}, *const by_right[] = {"right", NULL},
                           *const farther[] = {"next.sum", "owned.value", NULL};
  switch (of) {
    case SUM: return (shape & 8) != 0 ? chain : both;
    case OTHER: return (shape & 16) != 0 ? by_value : NULL;
    case FAR: return by_next_value;
    case LEFT: return by_right;
    case RIGHT: return by_left;
    case FARTHER: return farther;
    default: return NULL;
  }
}

value value_of(key of, int stored) {
  bool nil = (key_infos[of].kind == OBJECT && stored < 0) || (key_infos[of].kind == STRING && stored == 0);
  return nil ? (value){NIL, 0} : (value){key_infos[of].kind, stored};
}

int stored_for(key of, int argument) {
  switch (key_infos[of].kind) {
    case OBJECT: return argument % (SLOTS + 1) - 1;
    case STRING: return argument % 8;
    default: return argument;
  }
}
