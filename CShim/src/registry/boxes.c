/* boxes.c - copies of values that C can read, with all that they point to. */
#include "registry/registry.h"

/* What follows the box of a collection. */
typedef struct box_of_many {
  kvo_boxed box;
  kvo_collection base;
  kvo_boxed **elements;
} box_of_many;

static const box_of_many *many_of(const kvo_collection *base) {
  return (const box_of_many *)(const void *)((const char *)base - offsetof(box_of_many, base));
}

static kvo_status pass(const kvo_collection *self, size_t position, kvo_value_reader reader, void *arg) {
  reader(&many_of(self)->elements[position]->value, arg);
  return KVO_OK;
}

/* Whether a value is a collection that this file has made. */
static bool is_many(const kvo_value *value) {
  const kvo_collection *base = kvo_value_collection(value);
  return base != NULL && base->element == pass;
}

const char kvo__foreign_type[] = "?";

/* A copy of a binding's value. */
typedef struct box_of_foreign {
  kvo_boxed box;
  kvo_binding_value own;
} box_of_foreign;

static kvo_boxed *box_foreign(const kvo_binding_value *own) {
  box_of_foreign *made = kvo__alloc(sizeof *made);
  if (made == NULL) return NULL;
  made->own = (kvo_binding_value){own->ops, KVO_KIND_NIL, {NULL}};
  own->ops->copy(own, &made->own);
  made->box.value = (kvo_value){kvo__foreign_type, sizeof made->own, &made->own};
  return &made->box;
}

void kvo__unbox(kvo_boxed *box) {
  if (box == NULL) return;
  if (kvo__foreign(&box->value) != NULL) {
    box_of_foreign *of = (box_of_foreign *)(void *)box;
    of->own.ops->destroy(&of->own);
  }
  if (is_many(&box->value)) {
    box_of_many *many = (box_of_many *)(void *)box;
    for (size_t i = 0; i < many->base.count; i++) kvo__unbox(many->elements[i]);
    kvo__free(many->elements);
  }
  kvo__free(box);
}

kvo_boxed *kvo__box_of(const char *type, kvo_boxed **boxes, size_t count) {
  size_t length = strlen(type) + 1;
  box_of_many *many = kvo__alloc(sizeof *many + length);
  kvo_boxed **elements = kvo__alloc((count + 1) * sizeof *elements);
  bool is_whole = many != NULL && elements != NULL;
  for (size_t i = 0; i < count; i++) is_whole = is_whole && boxes[i] != NULL;
  if (!is_whole) {
    for (size_t i = 0; i < count; i++) kvo__unbox(boxes[i]);
    kvo__free(elements);
    kvo__free(many);
    return NULL;
  }
  if (count > 0) memcpy(elements, boxes, count * sizeof *elements);
  many->elements = elements;
  many->base = (kvo_collection){sizeof(kvo_collection), count, pass};
  many->box.value = (kvo_value){memcpy(many + 1, type, length), sizeof(kvo_collection), &many->base};
  return &many->box;
}

static void box_element(const kvo_value *value, void *arg) { *(kvo_boxed **)arg = kvo__box(value); }

static kvo_boxed *box_collection(const kvo_value *value, const kvo_collection *from) {
  kvo_boxed **boxes = kvo__alloc((from->count + 1) * sizeof *boxes);
  if (boxes == NULL) return NULL;
  size_t count = 0;
  for (; count < from->count; count++)
    if (from->element(from, count, box_element, &boxes[count]) != KVO_OK || boxes[count] == NULL) break;
  /* The box of one that failed is NULL. */
  kvo_boxed *made = kvo__box_of(value->type, boxes, count < from->count ? count + 1 : count);
  kvo__free(boxes);
  return made;
}

kvo_boxed *kvo__box(const kvo_value *value) {
  static const char no_type[] = "?";
  if (kvo__foreign(value) != NULL) return box_foreign(kvo__foreign(value));
  const kvo_collection *collection = kvo_value_collection(value);
  if (collection != NULL) return box_collection(value, collection);
  const char *type = value->type != NULL ? value->type : no_type;
  bool string = kvo__type_unqualified(type)[0] == '*' && value->bytes != NULL;
  const char *text = string ? *(char *const *)value->bytes : NULL;
  size_t type_length = strlen(type) + 1, text_length = text != NULL ? strlen(text) + 1 : 0;
  size_t bytes_at = (sizeof(kvo_boxed) + type_length + 15) / 16 * 16, size = value->bytes != NULL ? value->size : 0;
  kvo_boxed *box = kvo__alloc(bytes_at + size + text_length);
  if (box == NULL) return NULL;
  char *block = (char *)box;
  memcpy(block + sizeof(kvo_boxed), type, type_length);
  box->value.type = block + sizeof(kvo_boxed);
  box->value.size = value->size;
  if (value->bytes == NULL) return box;
  memcpy(block + bytes_at, value->bytes, size);
  box->value.bytes = block + bytes_at;
  box->is_plain = type != no_type && strchr("*?[<", kvo__type_unqualified(type)[0]) == NULL;
  if (text != NULL) {
    char *copy = block + bytes_at + size;
    memcpy(copy, text, text_length);
    memcpy(block + bytes_at, &copy, sizeof copy);
  }
  return box;
}

/* Most types are one letter. */
static bool boxes_are_equal(const char *one, const char *other) {
  return one[0] == other[0] && (one[0] == '\0' || (one[1] == other[1] && (one[1] == '\0' || strcmp(one, other) == 0)));
}

kvo_boxed *kvo__box_again(const kvo_value *value, kvo_boxed *spare) {
  if (spare != NULL && spare->is_plain && value->type != NULL && value->bytes != NULL &&
      spare->value.size == value->size && boxes_are_equal(spare->value.type, value->type)) {
    memcpy((void *)(uintptr_t)spare->value.bytes, value->bytes, value->size);
    return spare;
  }
  kvo__unbox(spare);
  return kvo__box(value);
}
