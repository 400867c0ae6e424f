/* encoding.c - parses Objective-C type encodings into libffi's types, and refuses those that no call can pass. */
#include "classes/classes.h"

/* Enough for any real structure. The limits keep a hostile encoding from overflowing the stack or exhausting memory; arrays of arrays
 * multiply, hence a limit of all members together. */
enum { ENCODING_MAX_DEPTH = 32, MAX_ARRAY = 4096, MAX_MEMBERS = 1 << 16 };

/* `room` is how many more members are allowed; `reason` says why a type was refused. */
typedef struct parsing {
  size_t room;
  const char *reason;
} parsing;

static kvo_status encoding_refuse(parsing *of, kvo_status status, const char *reason) {
  of->reason = reason;
  return status;
}

static const char malformed[] = "it is malformed";

static kvo_status encoding_parse(const char **cursor, int depth, parsing *of, ffi_type **out);

/* const, in, inout, out, bycopy, byref, oneway: none changes how a value is passed. */
static bool is_qualifier(char code) {
  switch (code) {
    case 'r':
    case 'n':
    case 'N':
    case 'o':
    case 'O':
    case 'R':
    case 'V': return true;
    default: return false;
  }
}

const char *kvo__type_unqualified(const char *type) {
  if (type == NULL) return "?";
  while (is_qualifier(*type)) type++;
  return type;
}

static ffi_type *scalar(char code) {
  switch (code) {
    case 'c': return &ffi_type_schar;
    case 'C': return &ffi_type_uchar;
    case 's': return &ffi_type_sshort;
    case 'S': return &ffi_type_ushort;
    case 'i': return &ffi_type_sint;
    case 'I': return &ffi_type_uint;
    case 'l': return &ffi_type_slong;
    case 'L': return &ffi_type_ulong;
    case 'q': return &ffi_type_sint64;
    case 'Q': return &ffi_type_uint64;
    case 'f': return &ffi_type_float;
    case 'd': return &ffi_type_double;
    case 'D': return &ffi_type_longdouble;
    case 'B': return &ffi_type_uint8;
    case '*':
    case '@':
    case ':':
    case '#': return &ffi_type_pointer;
    default: return NULL;
  }
}

/* Structures and arrays are allocated blocks of this type; scalars are libffi's constants. */
typedef struct aggregate {
  ffi_type type;
  /* How many of the elements it owns. An array owns the first, which all others repeat. */
  size_t count;
  ffi_type *elements[];
} aggregate;

static bool is_aggregate(const ffi_type *type) { return type->type == FFI_TYPE_STRUCT; }

void kvo__type_free(ffi_type *type) {
  if (type == NULL || !is_aggregate(type)) return;
  aggregate *whole = (aggregate *)type;
  for (size_t i = 0; i < whole->count; i++) kvo__type_free(whole->elements[i]);
  kvo__free(whole);
}

static aggregate *make_aggregate(size_t count) {
  aggregate *made = kvo__alloc(sizeof(aggregate) + (count + 1) * sizeof(ffi_type *));
  if (made == NULL) return NULL;
  made->type.type = FFI_TYPE_STRUCT;
  made->type.elements = made->elements;
  return made;
}

/* Appends a type, which the aggregate owns from now on. When the block is full, that is, when the count is a power of two, it is
 * reallocated at twice the size. */
static aggregate *encoding_append(aggregate *whole, ffi_type *element) {
  if ((whole->count & (whole->count - 1)) == 0) {
    aggregate *larger = make_aggregate(whole->count == 0 ? 1 : 2 * whole->count);
    if (larger == NULL) return NULL;
    memcpy(larger->elements, whole->elements, whole->count * sizeof(ffi_type *));
    larger->count = whole->count;
    kvo__free(whole);
    whole = larger;
  }
  whole->elements[whole->count++] = element;
  return whole;
}

/* The type by which libffi passes an aggregate of `count` members. On x86-64 a structure of one long double is passed and returned as a
 * long double is, in st(0), but libffi takes its result from memory. */
static ffi_type *as_scalar(aggregate *whole, size_t count) {
#if defined(__x86_64__)
  if (count == 1 && whole->elements[0] == &ffi_type_longdouble) {
    kvo__type_free(&whole->type);
    return &ffi_type_longdouble;
  }
#else
  (void)count;
#endif
  return &whole->type;
}

/* Parses "{name=fields}" after the brace. A structure without fields is refused, because it does not say how it is passed. */
static kvo_status parse_structure(const char **cursor, int depth, parsing *of, ffi_type **out) {
  const char *at = *cursor + 1;
  while (*at != '\0' && *at != '=' && *at != '}' && *at != '{' && *at != '(' && *at != '[') at++;
  static const char empty[] = "a structure without members does not say how it is passed";
  if (*at == '}') return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, empty);
  if (*at != '=') return encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, malformed);
  at++;
  if (*at == '}') return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, empty);
  aggregate *whole = make_aggregate(0);
  if (whole == NULL) return KVO_ERROR_OUT_OF_MEMORY;
  while (*at != '}') {
    if (*at == '"') { /* an optional field name */
      at++;
      while (*at != '\0' && *at != '"') at++;
      if (*at == '\0') break;
      at++;
      continue;
    }
    ffi_type *element = NULL;
    kvo_status status = *at == '\0' ? encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, malformed)
                                    : encoding_parse(&at, depth + 1, of, &element);
    aggregate *larger = status == KVO_OK ? encoding_append(whole, element) : NULL;
    if (larger == NULL) {
      if (status == KVO_OK) kvo__type_free(element);
      kvo__type_free(&whole->type);
      return status == KVO_OK ? KVO_ERROR_OUT_OF_MEMORY : status;
    }
    whole = larger;
  }
  if (*at != '}' || whole->count == 0) {
    kvo__type_free(&whole->type);
    return encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, malformed);
  }
  *cursor = at + 1;
  *out = as_scalar(whole, whole->count);
  return KVO_OK;
}

/* Parses "[nT]" inside a structure. libffi has no arrays, but a structure of n members has the same layout and is passed the same way. */
static kvo_status parse_array(const char **cursor, int depth, parsing *of, ffi_type **out) {
  if (depth == 0) return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "C passes arrays only inside structures");
  static const char large[] = "it has too many members";
  const char *at = *cursor + 1;
  size_t count = 0;
  while (*at >= '0' && *at <= '9') {
    count = count * 10 + (size_t)(*at++ - '0');
    if (count > MAX_ARRAY) return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, large);
  }
  if (count == 0) return encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, malformed);
  ffi_type *element = NULL;
  size_t before = of->room;
  kvo_status status = encoding_parse(&at, depth + 1, of, &element);
  if (status != KVO_OK) return status;
  size_t each = before - of->room;
  if (*at != ']')
    status = encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, malformed);
  else if ((count - 1) * each > of->room)
    status = encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, large);
  aggregate *whole = status == KVO_OK ? make_aggregate(count) : NULL;
  if (whole == NULL) {
    kvo__type_free(element);
    return status == KVO_OK ? KVO_ERROR_OUT_OF_MEMORY : status;
  }
  of->room -= (count - 1) * each;
  for (size_t i = 0; i < count; i++) whole->elements[i] = element;
  whole->count = 1;
  *cursor = at + 1;
  *out = as_scalar(whole, count);
  return KVO_OK;
}

/* Skips the type that a pointer points to. */
static kvo_status skip_pointee(const char **cursor, int depth) {
  const char *at = *cursor;
  if (depth > ENCODING_MAX_DEPTH) return KVO_ERROR_BAD_TYPE_ENCODING;
  if (*at == '{' || *at == '(' || *at == '[') {
    char open = *at, close = open == '{' ? '}' : open == '(' ? ')' : ']';
    int nesting = 0;
    do {
      if (*at == '\0') return KVO_ERROR_BAD_TYPE_ENCODING;
      if (*at == open) nesting++;
      if (*at == close) nesting--;
      at++;
    } while (nesting > 0);
    *cursor = at;
    return KVO_OK;
  }
  if (*at != '\0' && strchr("rnNoORVA", *at) != NULL) {
    *cursor = at + 1;
    return skip_pointee(cursor, depth + 1);
  }
  if (*at == '^') {
    *cursor = at + 1;
    return skip_pointee(cursor, depth + 1);
  }
  if (*at == 'v' || *at == '?' || scalar(*at) != NULL) {
    *cursor = at + 1;
    return KVO_OK;
  }
  return KVO_ERROR_BAD_TYPE_ENCODING;
}

static kvo_status encoding_parse(const char **cursor, int depth, parsing *of, ffi_type **out) {
  if (depth > ENCODING_MAX_DEPTH) return encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, "it is nested too deeply");
  if (of->room == 0) return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "it has too many members");
  of->room--;
  char code = **cursor;
  if (is_qualifier(code)) {
    (*cursor)++;
    return encoding_parse(cursor, depth + 1, of, out);
  }
  /* Well-formed, but there is no portable way to pass them. */
  switch (code) {
    case '{': return parse_structure(cursor, depth, of, out);
    case '[': return parse_array(cursor, depth, of, out);
    case '^': {
      (*cursor)++;
      *out = &ffi_type_pointer;
      kvo_status status = skip_pointee(cursor, depth + 1);
      return status == KVO_OK ? KVO_OK : encoding_refuse(of, status, malformed);
    }
    case '(': return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "unions are not supported");
    case 'b': return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "bit fields are not supported");
    case 'v': return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "void is no value");
    case '?': return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "\"?\" says nothing about the value");
    case 'j': return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "complex numbers are not supported");
    case 't':
    case 'T': return encoding_refuse(of, KVO_ERROR_UNSUPPORTED_SETTER, "integers of 128 bits are not supported");
    case '\0': return encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, "it ends too early");
    default: break;
  }
  *out = scalar(code);
  if (*out == NULL) return encoding_refuse(of, KVO_ERROR_BAD_TYPE_ENCODING, malformed);
  (*cursor)++;
  return KVO_OK;
}

kvo_status kvo__type_parse_next(const char **cursor, ffi_type **out, const char **reason) {
  const char *at = kvo__type_unqualified(*cursor);
  ffi_type *parsed = NULL;
  parsing of = {MAX_MEMBERS, "no memory"};
  kvo_status status = encoding_parse(&at, 0, &of, &parsed);
  /* As a side effect this computes the size and alignment of structures; libffi refuses what it cannot pass. */
  ffi_cif cif;
  if (status == KVO_OK && ffi_prep_cif(&cif, FFI_DEFAULT_ABI, 0, parsed, NULL) != FFI_OK) {
    kvo__type_free(parsed);
    status = encoding_refuse(&of, KVO_ERROR_UNSUPPORTED_SETTER, "libffi cannot pass it");
  }
  if (status == KVO_OK) {
    *cursor = at;
    *out = parsed;
  } else {
    *reason = of.reason;
  }
  return status;
}

kvo_status kvo__type_parse(const char *type, ffi_type **out, const char **reason) {
  ffi_type *parsed = NULL;
  kvo_status status = kvo__type_parse_next(&type, &parsed, reason);
  if (status != KVO_OK) return status;
  if (*type != '\0') {
    kvo__type_free(parsed);
    *reason = "more follows the type";
    return KVO_ERROR_BAD_TYPE_ENCODING;
  }
  *out = parsed;
  return KVO_OK;
}

kvo_form kvo__type_form(const char *type) {
  switch (type[0]) {
    case 'f':
    case 'd':
    case 'D': return KVO_FORM_REAL;
    case '*':
    case '@':
    case '^':
    case ':':
    case '#': return KVO_FORM_POINTER;
    case '{': return KVO_FORM_STRUCTURE;
    default: return KVO_FORM_INTEGER;
  }
}

kvo_status kvo__type_measure(const char *type, size_t *size) {
  ffi_type *parsed;
  const char *reason;
  kvo_status status = kvo__type_parse(type, &parsed, &reason);
  if (status != KVO_OK) return status;
  *size = parsed->size;
  kvo__type_free(parsed);
  return KVO_OK;
}

kvo_status kvo_type_size(const char *type, size_t *size, size_t *alignment) {
  ffi_type *parsed;
  const char *reason = "it is NULL";
  if (type == NULL || kvo__type_parse(type, &parsed, &reason) != KVO_OK)
    return kvo__fail(KVO_ERROR_BAD_TYPE_ENCODING, "kvo_type_size: type encoding \"%s\": %s", type != NULL ? type : "",
                     reason);
  if (size != NULL) *size = parsed->size;
  if (alignment != NULL) *alignment = parsed->alignment;
  kvo__type_free(parsed);
  return KVO_OK;
}
