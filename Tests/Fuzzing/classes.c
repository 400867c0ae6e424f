/* classes.c - see classes.h. */
#include "classes.h"

#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

item items[SLOTS];

/* ----------------------------------------------------------------------------------------------------------- Storage -- */

static box box_made(int number) { return (box){number / 2.0, number}; }

static wide wide_made(int number) {
  wide made;
  for (int i = 0; i < 40; i++) made.parts[i] = number + i;
  return made;
}

static int slot_of(const item *object) { return object != NULL ? (int)(object - items) : -1; }
static item *item_at(int slot) { return slot >= 0 ? &items[slot] : NULL; }
static int number_in(const char *name) { return name != NULL ? atoi(name) : 0; }

int item_load(const item *object, key of) {
  switch (of) {
    case VALUE: return (int)object->value;
    case OTHER: return object->other;
    case QUIET: return object->quiet;
    case SINK: return object->sink;
    case PAIR: return object->pair;
    case LEFT: return object->left;
    case RIGHT: return object->right;
    case NEXT: return slot_of(object->next);
    case OWNED: return slot_of(object->owned);
    case NAME: return number_in(object->name);
    case BOX: return object->box.whole;
    case WIDE: return (int)object->wide.parts[0];
    default: fail("there is no storage of %s", key_infos[of].name);
  }
}

void item_store(item *object, key of, int number) {
  switch (of) {
    case VALUE: object->value = number; return;
    case OTHER: object->other = number; return;
    case QUIET: object->quiet = number; return;
    case SINK: object->sink = number; return;
    case PAIR: object->pair = number; return;
    case LEFT: object->left = number; return;
    case RIGHT: object->right = number; return;
    case NEXT: object->next = item_at(number); return;
    case OWNED: object->owned = item_at(number); return;
    case BOX: object->box = box_made(number); return;
    case WIDE: object->wide = wide_made(number); return;
    case NAME: {
      char text[16], *copy = NULL;
      snprintf(text, sizeof text, "%d", number);
      if (number != 0) copy = strdup(text);
      free(object->name); /* a record's old string must stay valid */
      object->name = copy;
      return;
    }
    default: fail("there is no storage of %s", key_infos[of].name);
  }
}

void item_clear(item *object) {
  free(object->name);
  memset(object, 0, sizeof *object);
  item_store(object, WIDE, 0);
}

/* ------------------------------------------------------------------------------------------------ Getters and setters -- */

#define SCALAR(field, KEY)                                                                                             \
  static int get_##field(const item *of) { return (int)of->field; }                                                    \
  static void set_##field(item *of, int to) { program_sets(of, KEY, to); }
SCALAR(value, VALUE)
SCALAR(other, OTHER)
SCALAR(quiet, QUIET)
SCALAR(pair, PAIR)
SCALAR(left, LEFT)
SCALAR(right, RIGHT)

static void set_sink(item *of, int to) { program_sets(of, SINK, to); }
static item *get_next(const item *of) { return of->next; }
static void set_next(item *of, item *to) { program_sets(of, NEXT, slot_of(to)); }
static item *get_owned(const item *of) { return of->owned; }
static void set_owned(item *of, item *to) { program_sets(of, OWNED, slot_of(to)); }
static char *get_name(const item *of) { return of->name; }
static void set_name(item *of, const char *to) { program_sets(of, NAME, number_in(to)); }
static box get_box(const item *of) { return of->box; }
static void set_box(item *of, box to) { program_sets(of, BOX, to.whole); }
static wide get_wide(const item *of) { return of->wide; }
static void set_wide(item *of, wide to) { program_sets(of, WIDE, (int)to.parts[0]); }
static int get_sum(const item *of) { return (int)of->value + of->other; }
static int get_far(const item *of) { return of->next != NULL ? (int)of->next->value + 1000 : -1; }
static int get_farther(const item *of) {
  return (of->owned != NULL ? (int)of->owned->value : 0) + (of->next != NULL ? get_sum(of->next) : -1000);
}

static const struct {
  kvo_function getter, setter;
} accessors[KEYS] = {
#define BOTH(KEY, field) [KEY] = {(kvo_function)get_##field, (kvo_function)set_##field}
    BOTH(VALUE, value),
    BOTH(OTHER, other),
    BOTH(QUIET, quiet),
    BOTH(PAIR, pair),
    BOTH(LEFT, left),
    BOTH(RIGHT, right),
    BOTH(NEXT, next),
    BOTH(OWNED, owned),
    BOTH(NAME, name),
    BOTH(BOX, box),
    BOTH(WIDE, wide),
#undef BOTH
    [SINK] = {NULL, (kvo_function)set_sink},
    [SUM] = {(kvo_function)get_sum, NULL},
    [FAR] = {(kvo_function)get_far, NULL},
    [FARTHER] = {(kvo_function)get_farther, NULL},
};

void call_setter(kvo_function setter, item *object, key of, int number) {
  switch (key_infos[of].kind) {
    case OBJECT: ((void (*)(kvo_object *, item *))setter)(&object->header, item_at(number)); return;
    case BOXED: ((void (*)(kvo_object *, box))setter)(&object->header, box_made(number)); return;
    case WIDTH: ((void (*)(kvo_object *, wide))setter)(&object->header, wide_made(number)); return;
    case STRING: {
      char text[16];
      snprintf(text, sizeof text, "%d", number);
      ((void (*)(kvo_object *, const char *))setter)(&object->header, number != 0 ? text : NULL);
      return;
    }
    default: ((void (*)(kvo_object *, int))setter)(&object->header, number);
  }
}

/* ----------------------------------------------------------------------------------------------------------- Classes -- */

static kvo_class *register_class(int shape, kvo_class *superclass, key first, key end) {
  kvo_property_spec properties[KEYS];
  char name[32];
  snprintf(name, sizeof name, "%s%d", superclass != NULL ? "Sub" : "Base", shape);
  for (key each = first; each < end; each++) {
    properties[each - first] = (kvo_property_spec){.name = key_infos[each].name,
                                                   .type = key_infos[each].type,
                                                   .getter = accessors[each].getter,
                                                   .setter = accessors[each].setter,
                                                   .affected_by = shape_affected_by(shape, each),
                                                   .flags = shape_is_manual(shape, each) ? KVO_PROPERTY_MANUAL : 0};
    if (shape_is_at_offset(shape, each))
      properties[each - first] = (kvo_property_spec){
          .name = key_infos[each].name, .type = "q", .offset = offsetof(item, value), .flags = KVO_PROPERTY_AT_OFFSET};
  }
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = name,
                         .superclass = superclass,
                         .instance_size = sizeof(item),
                         .properties = properties,
                         .property_count = end - first};
  kvo_class *made = NULL;
  kvo_status status = kvo_class_register(&spec, &made);
  if (status != KVO_OK) fail("class %s cannot be registered: %s", name, kvo_status_string(status));
  return made;
}

kvo_class *class_of_shape(int shape) {
  static kvo_class *classes[SHAPES];
  if (classes[shape] != NULL) return classes[shape];
  key split = (key)shape_base_keys(shape);
  kvo_class *made = register_class(shape, NULL, 0, split);
  if (shape_has_subclass(shape)) made = register_class(shape, made, split, KEYS);
  classes[shape] = made;
  return made;
}

/* ------------------------------------------------------------------------------------------------------------ Values -- */

value value_seen(const kvo_value *seen) {
  if (seen == NULL) return (value){ABSENT, 0};
  if (seen->bytes == NULL) return (value){NIL, 0};
  switch (seen->type[0]) {
    case 'i': return (value){INTEGER, *(const int *)seen->bytes};
    case 'q': return (value){INTEGER, (int)*(const long long *)seen->bytes};
    case '*': return (value){STRING, number_in(*(char *const *)seen->bytes)};
    case '@': return (value){OBJECT, slot_of(*(item *const *)seen->bytes)};
    default: break;
  }
  if (seen->size == sizeof(box)) {
    const box *boxed = seen->bytes;
    return (value){boxed->real == boxed->whole / 2.0 ? BOXED : TORN, boxed->whole};
  }
  const wide *whole = seen->bytes;
  for (int i = 0; i < 40; i++)
    if (seen->size != sizeof(wide) || whole->parts[i] != whole->parts[0] + i) return (value){TORN, i};
  return (value){WIDTH, (int)whole->parts[0]};
}

kvo_value value_made(value from, key of) {
  static struct {
    int integer;
    item *object;
    char text[16], *string;
    box box;
    wide wide;
  } made;
  switch (from.kind) {
    case INTEGER: made.integer = from.number; return (kvo_value){"i", sizeof(int), &made.integer};
    case OBJECT: made.object = item_at(from.number); return (kvo_value){"@", sizeof(item *), &made.object};
    case BOXED: made.box = box_made(from.number); return (kvo_value){key_infos[BOX].type, sizeof(box), &made.box};
    case WIDTH: made.wide = wide_made(from.number); return (kvo_value){key_infos[WIDE].type, sizeof(wide), &made.wide};
    case STRING:
      snprintf(made.text, sizeof made.text, "%d", from.number);
      made.string = made.text;
      return (kvo_value){"*", sizeof(char *), &made.string};
    default: return (kvo_value){of < KEYS ? key_infos[of].type : "@", sizeof(void *), NULL};
  }
}
