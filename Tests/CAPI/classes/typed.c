/* typed.c - KVO_SET takes values of the property's type only: what C can see does not compile, the rest is a fault and sets nothing. With
 * WRONG defined, this file is a program that must not compile. */
#include "made.h"

typedef struct point {
  double x, y;
} point;

typedef struct typed {
  kvo_object header;
  int whole;
  long wide;
  double real;
  bool flag;
  char letter;
  char *text;
  kvo_object *object;
  void *pointer;
  point at;
} typed;

static typed *typed_make(void) {
#define AT(member, encoding) AT_OFFSET(typed, member, encoding)
  static const kvo_property_spec properties[] = {AT(whole, "i"),  AT(wide, "l"),     AT(real, "d"),
                                                 AT(flag, "B"),   AT(letter, "c"),   AT(text, "*"),
                                                 AT(object, "@"), AT(pointer, "^v"), AT(at, "{point=dd}")};
#undef AT
  return (typed *)object_made("Typed", sizeof(typed), properties, COUNT(properties));
}

#ifdef WRONG
void wrong(kvo_object *object);
void wrong(kvo_object *object) {
  char *text = NULL;
  (void)text;
#if WRONG == 1
  KVO_SET(object, "whole", int, 3.5);
#elif WRONG == 2
  KVO_SET(object, "wide", long, text);
#elif WRONG == 3
  KVO_SET(object, "real", double, text);
#elif WRONG == 4
  KVO_SET(object, "whole", int, *(typed *)object);
#endif
}
#endif

TEST("a value of the property's type is set, and the value is evaluated once") {
  typed *of = typed_make();
  int next = 1;
  CHECK_OK(KVO_SET(of, "whole", int, next++));
  CHECK_EQ(next, 2);
  CHECK_EQ(of->whole, 1);
  CHECK_OK(KVO_SET(of, "whole", unsigned, 7));
  CHECK_OK(KVO_SET(of, "real", double, 5)); /* C converts an int to a double, and loses nothing */
  CHECK_EQ(of->real, 5.0);
  CHECK_OK(KVO_SET(of, "flag", bool, true));
  CHECK_OK(KVO_SET(of, "letter", char, 'x'));
  CHECK_OK(KVO_SET(of, "letter", signed char, 'y'));
  CHECK_OK(KVO_SET(of, "text", const char *, "text"));
  CHECK_OK(KVO_SET(of, "text", char *, NULL));
  CHECK_OK(KVO_SET(of, "object", kvo_object *, &of->header));
  CHECK_OK(KVO_SET(of, "object", typed *, of));
  CHECK_OK(KVO_SET(of, "pointer", int *, &of->whole));
  CHECK_OK(KVO_SET(of, "pointer", char *, &of->letter));
  kvo_object_destroy(&of->header);
}

TEST("a value may contain commas, and another set: the program is compiled with -Wshadow") {
  typed *of = typed_make();
  CHECK_OK(KVO_SET(of, "at", point, (point){1, 2}));
  CHECK_EQ(of->at.y, 2.0);
  kvo_status status = KVO_SET(of, "whole", int, KVO_SET(of, "wide", long, KVO_SET(of, "real", double, 2.5) == KVO_OK));
  CHECK_OK(status);
  CHECK_EQ(of->wide, 1);
  CHECK_EQ(of->real, 2.5);
  CHECK_OK(kvo_set_value(&of->header, "real", KVO_VALUE(double, ((point){3, 4}).y)));
  CHECK_EQ(of->real, 4.0);
  kvo_object_destroy(&of->header);
}

TEST_REPORTED("a value of another type is fault KVO0026, and nothing is set") {
  typed *of = typed_make();
  const typed before = *of;
  ignore_faults();
#define WRONGLY(key, T, value)                                                                                         \
  do {                                                                                                                 \
    faults.count = 0;                                                                                                  \
    CHECK_STATUS(KVO_SET(of, key, T, value), KVO_ERROR_TYPE_MISMATCH);                                                 \
    CHECK_EQ(faults.count, 1);                                                                                         \
    CHECK_EQ(faults.code, KVO_FAULT_TYPE_MISMATCH);                                                                    \
    CHECK_BYTES(of, &before, sizeof before);                                                                           \
  } while (0)
  WRONGLY("wide", double, 3.25);
  WRONGLY("wide", int, 3);
  WRONGLY("real", long, 3);
  WRONGLY("real", float, 3.0f);
  WRONGLY("flag", char, 2);
  WRONGLY("flag", unsigned char, 2);
  WRONGLY("text", kvo_object *, &of->header);
  WRONGLY("text", typed *, of);
  WRONGLY("text", void *, of);
  WRONGLY("object", char *, (char *)"text");
  WRONGLY("wide", char *, (char *)"text");
  WRONGLY("pointer", long, 5);
  CHECK_CONTAINS(kvo_last_error(), "property 'pointer' of class 'Typed' has the type \"^v\"");
  kvo_object_destroy(&of->header);
}
