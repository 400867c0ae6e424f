/* nodes.c - the values of a small binding. A node has references; a kvo_binding_value has one of them in its first word. */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 16, NAME = 24 };

typedef struct node {
  int references;
  kvo_binding_kind kind;
  /* 'q', 'd', '*', or 0. */
  char type;
  int64_t integer;
  double real;
  char text[64];
  size_t count;
  struct node *items[ITEMS];
  char keys[ITEMS][NAME];
  kvo_gathering how;
} node;

long node_count, node_fail_in;

static node *make(kvo_binding_kind kind) {
  node *made = calloc(1, sizeof *made);
  if (made == NULL) abort();
  made->references = 1;
  made->kind = kind;
  node_count++;
  return made;
}

static node *retain(node *of) {
  if (of != NULL) of->references++;
  return of;
}

static void release(node *of) {
  if (of == NULL || --of->references > 0) return;
  for (size_t i = 0; i < of->count; i++) release(of->items[i]);
  free(of);
  node_count--;
}

static node *node_of(const kvo_binding_value *value) { return value->kind != KVO_KIND_NIL ? value->words[0] : NULL; }

/* Gives a reference to a value, whose kind the walk has to ask for. */
static void give(node *of, kvo_binding_value *to) {
  to->kind = of != NULL ? KVO_KIND_UNKNOWN : KVO_KIND_NIL;
  to->words[0] = of;
}

/* ------------------------------------------------------------------------------------------------------------- Texts -- */

static void skip(const char **at) { *at += strspn(*at, " ,:"); }

static void parse_name(const char **at, char *to, size_t size) {
  bool quoted = **at == '\'';
  size_t length = quoted ? strcspn(++*at, "'") : strcspn(*at, " :,");
  snprintf(to, size, "%.*s", (int)length, *at);
  *at += length + quoted;
}

static node *parse(const char **at) {
  static const char begins[] = "[<{(", ends[] = "]>})";
  static const kvo_binding_kind kinds[] = {KVO_KIND_LIST, KVO_KIND_SET, KVO_KIND_DICTIONARY, KVO_KIND_OBJECT};
  skip(at);
  const char *begin = **at != '\0' ? strchr(begins, **at) : NULL;
  if (begin != NULL) {
    node *made = make(kinds[begin - begins]);
    for (++*at, skip(at); **at != ends[begin - begins]; skip(at)) {
      if (begin - begins >= 2) parse_name(at, made->keys[made->count], NAME);
      made->items[made->count++] = parse(at);
    }
    ++*at;
    return made;
  }
  if (strncmp(*at, "nil", 3) == 0) return *at += 3, NULL;
  if (strncmp(*at, "null", 4) == 0) return *at += 4, make(KVO_KIND_NULL);
  node *made = make(KVO_KIND_VALUE);
  if (**at == '\'') {
    made->type = '*';
    parse_name(at, made->text, sizeof made->text);
    return made;
  }
  size_t length = strcspn(*at, " ,]>})");
  made->type = memchr(*at, '.', length) != NULL ? 'd' : 'q';
  made->integer = strtoll(*at, NULL, 10);
  made->real = strtod(*at, NULL);
  *at += length;
  return made;
}

kvo_binding_value node_value(const char *text) {
  kvo_binding_value made = {.ops = &node_ops};
  give(parse(&text), &made);
  return made;
}

static void write(const node *of, char *to, size_t size) {
  static const char *const marks[] = {
      [KVO_KIND_OBJECT] = "()", [KVO_KIND_LIST] = "[]", [KVO_KIND_SET] = "<>", [KVO_KIND_DICTIONARY] = "{}"};
  size_t length = 0;
  if (of == NULL || of->kind == KVO_KIND_NULL) {
    snprintf(to, size, "%s", of == NULL ? "nil" : "null");
  } else if (of->kind == KVO_KIND_VALUE) {
    if (of->type == '*') snprintf(to, size, "'%s'", of->text);
    if (of->type == 'q') snprintf(to, size, "%lld", (long long)of->integer);
    if (of->type == 'd') snprintf(to, size, "%.15g", of->real);
  } else {
    length += (size_t)snprintf(to, size, "%c", marks[of->kind][0]);
    for (size_t i = 0; i < of->count && length < size; i++) {
      length += (size_t)snprintf(to + length, size - length, "%s%s%s", i > 0 ? "," : "", of->keys[i],
                                 of->keys[i][0] != '\0' ? ":" : "");
      if (length >= size) return;
      write(of->items[i], to + length, size - length);
      length += strlen(to + length);
    }
    if (length < size) snprintf(to + length, size - length, "%c", marks[of->kind][1]);
  }
}

const char *node_text(const kvo_binding_value *value) {
  static char text[512];
  write(node_of(value), text, sizeof text);
  return text;
}

/* --------------------------------------------------------------------------------------------------------- Functions -- */

void node_destroy(kvo_binding_value *value) {
  release(node_of(value));
  value->kind = KVO_KIND_NIL;
}

static void copy(const kvo_binding_value *value, kvo_binding_value *to) {
  to->kind = value->kind;
  to->words[0] = retain(node_of(value));
}

static void classify(kvo_binding_value *value) { value->kind = node_of(value)->kind; }

static size_t find(const node *in, const char *key, size_t length) {
  size_t i = 0;
  while (i < in->count && (strncmp(in->keys[i], key, length) != 0 || in->keys[i][length] != '\0')) i++;
  return i;
}

static void note(node_walk *walk, const char *key, size_t length, bool is_last) {
  size_t used = strlen(walk->keys);
  snprintf(walk->keys + used, sizeof walk->keys - used, "%s%.*s%s", used > 0 ? " " : "", (int)length, key,
           is_last ? "!" : "");
}

static kvo_status value_for_key(const kvo_binding_value *of, const char *key, size_t length, bool is_last,
                                kvo_binding_value *to, void *user) {
  const node *in = node_of(of);
  size_t at = find(in, key, length);
  if (in->kind != KVO_KIND_VALUE) note(user, key, length, is_last);
  if (at == in->count) return in->kind == KVO_KIND_OBJECT ? KVO_ERROR_NO_GETTER : KVO_ERROR_UNDEFINED_KEY;
  give(retain(in->items[at]), to);
  return KVO_OK;
}

static kvo_status set_value_for_key(const kvo_binding_value *of, const char *key, size_t length,
                                    const kvo_binding_value *value, kvo_binding_value *changed, void *user) {
  node *in = node_of(of);
  size_t at = find(in, key, length);
  note(user, key, length, false);
  if (at == in->count && in->kind == KVO_KIND_OBJECT) return KVO_ERROR_READ_ONLY;
  if (in->kind == KVO_KIND_DICTIONARY) {
    node *made = make(KVO_KIND_DICTIONARY);
    memcpy(made->keys, in->keys, sizeof made->keys);
    for (made->count = 0; made->count < in->count; made->count++)
      made->items[made->count] = retain(in->items[made->count]);
    if (at == in->count) snprintf(made->keys[made->count++], NAME, "%.*s", (int)length, key);
    give(made, changed);
    in = made;
  }
  node *old = in->items[at];
  in->items[at] = retain(node_of(value));
  release(old);
  return KVO_OK;
}

static size_t count(const kvo_binding_value *of) { return node_of(of)->count; }

static kvo_status each(const kvo_binding_value *of, kvo_status (*visit)(kvo_binding_value *element, void *arg),
                       void *arg, void *user) {
  const node *in = node_of(of);
  kvo_status status = user != NULL ? KVO_OK : KVO_ERROR_INVALID_ARGUMENT;
  for (size_t i = 0; i < in->count && status == KVO_OK; i++) {
    kvo_binding_value element = {.ops = &node_ops};
    give(in->items[i], &element);
    status = visit(&element, arg);
  }
  return status;
}

static void number(const kvo_binding_value *value, bool texts, kvo_value_reader reader, void *arg) {
  const node *of = node_of(value);
  const char *text = of->text;
  if (of->type == 'q') reader(&(kvo_value){"q", sizeof of->integer, &of->integer}, arg);
  if (of->type == 'd') reader(&(kvo_value){"d", sizeof of->real, &of->real}, arg);
  /* A text that begins with "#" stands for a decimal of the language. */
  if (of->type == '*' && *text == '#') text++;
  if (of->type == '*' && (texts || text != of->text)) reader(&(kvo_value){"*", sizeof text, &text}, arg);
}

static bool is_less(const kvo_binding_value *one, const kvo_binding_value *other, bool *is_less) {
  const node *nodes[] = {node_of(one), node_of(other)};
  if (nodes[0]->type != '*' || nodes[1]->type != '*' || nodes[0]->text[0] == '#') return false;
  *is_less = strcmp(nodes[0]->text, nodes[1]->text) < 0;
  return true;
}

static void integer(int64_t value, kvo_binding_value *to) {
  node *made = make(KVO_KIND_VALUE);
  made->type = 'q';
  made->integer = value;
  give(made, to);
}

static void sum(const kvo_binding_sum *sum, kvo_binding_value *to) {
  node *made = make(KVO_KIND_VALUE);
  made->type = '*';
  char digits[40] = "long";
  if (sum->is_short)
    snprintf(digits, sizeof digits, "%s%llue%d", sum->is_negative ? "-" : "", (unsigned long long)sum->magnitude,
             (int)sum->exponent);
  snprintf(made->text, sizeof made->text, "#%.44s/%zu", sum->text != NULL ? sum->text : "none", sum->count);
  if (sum->is_short && strncmp(made->text + 1, digits, strlen(digits)) != 0) abort();
  const char *magnitude = sum->text != NULL && sum->text[0] == '-' ? sum->text + 1 : sum->text;
  bool is_short = magnitude != NULL && strspn(magnitude, "0123456789") <= 18;
  if (sum->is_short != is_short) abort();
  made->real = sum->quotient;
  if (sum->text == NULL || sum->count != 1) made->type = 'd';
  give(made, to);
}

static void *gather(kvo_gathering how, size_t capacity) {
  if (capacity > ITEMS || (node_fail_in > 0 && --node_fail_in == 0)) return NULL;
  node *made = make(how == KVO_GATHER_SET ? KVO_KIND_SET : KVO_KIND_LIST);
  made->how = how;
  return made;
}

static kvo_status add(void *gathered, const kvo_binding_value *value) {
  node *to = gathered, *item = node_of(value);
  bool is_distinct = to->how == KVO_GATHER_SET || to->how == KVO_GATHER_DISTINCT;
  if (is_distinct && (item == NULL || item->kind == KVO_KIND_OBJECT)) return KVO_ERROR_TYPE_MISMATCH;
  char text[512], other[512];
  write(item, text, sizeof text);
  for (size_t i = 0; is_distinct && i < to->count; i++) {
    write(to->items[i], other, sizeof other);
    if (strcmp(text, other) == 0) return KVO_OK;
  }
  if (to->count == ITEMS) return KVO_ERROR_OUT_OF_MEMORY;
  bool is_null = item == NULL && to->how == KVO_GATHER_LIST;
  to->items[to->count++] = is_null ? make(KVO_KIND_NULL) : retain(item);
  return KVO_OK;
}

static void finish(void *gathered, kvo_binding_value *to) {
  if (to != NULL)
    give(gathered, to);
  else
    release(gathered);
}

static void refused(const kvo_binding_refusal *why, void *user) {
  static const char *const reasons[] = {"KEY",          "SETTING", "OPERATOR", "COLLECTION", "NO_NUMBER",
                                        "INCOMPARABLE", "NO_LIST", "NO_SET",   "DISTINCT",   "NO_MEMBER"};
  node_walk *walk = user;
  int length =
      snprintf(walk->refusal, sizeof walk->refusal, "%s %.*s of ", reasons[why->reason], (int)why->length, why->name);
  snprintf(walk->refusal + length, sizeof walk->refusal - (size_t)length, "%s", node_text(why->of));
  if (why->reason < KVO_REFUSED_NO_NUMBER) return;
  length = (int)strlen(walk->refusal);
  snprintf(walk->refusal + length, sizeof walk->refusal - (size_t)length, ": %s",
           why->operand != NULL ? node_text(why->operand) : "nil");
  if (why->other == NULL) return;
  length = (int)strlen(walk->refusal);
  snprintf(walk->refusal + length, sizeof walk->refusal - (size_t)length, " and %s", node_text(why->other));
}

const kvo_binding_values node_ops = {sizeof(kvo_binding_values),
                                     copy,
                                     node_destroy,
                                     classify,
                                     value_for_key,
                                     set_value_for_key,
                                     count,
                                     each,
                                     number,
                                     is_less,
                                     integer,
                                     sum,
                                     gather,
                                     add,
                                     finish,
                                     refused};
