/* hooked.c - see hooked.h. */
#include "hooked.h"
#include "made.h"

void (*in_getter)(item *of);
void (*in_setter)(item *of);

static int get_value(item *of) {
  int value = of->value;
  if (in_getter != NULL) in_getter(of);
  return value;
}

static void set_value(item *of, int value) {
  if (in_setter != NULL) in_setter(of);
  of->value = value;
}

static item *get_next(item *of) { return of->next; }

static void set_next(item *of, item *next) {
  if (in_setter != NULL) in_setter(of);
  of->next = next;
}

item *hooked_make(int value) {
  static kvo_class *cls;
  static const kvo_property_spec properties[] = {PROPERTY("value", "i", get_value, set_value),
                                                 PROPERTY("next", "@", get_next, set_next)};
  if (cls == NULL) cls = class_made("Hooked", sizeof(item), properties, 2);
  item *made = (item *)object_of(cls);
  made->value = value;
  return made;
}
