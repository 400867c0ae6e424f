/* swift_names.c - shortens demangled Swift names, which contain all types, to the form used in documentation: `App.(close in _7FCE)(_:
 * App.Library, at: Swift.Int) throws -> ()` becomes `App.close(_:at:)`. */
#include "platform/symbols.h"

/* Reads and writes the same memory: the name only becomes shorter. */
typedef struct kvo_name {
  const char *at;
  char *begin, *end;
} kvo_name;

static bool swift_names_begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The end of a group in brackets of any kind, after the closing one; the end of the text if it was cut. */
static const char *past_group(const char *at) {
  int depth = 0;
  do {
    if (at[0] == '-' && at[1] == '>')
      at++;
    else if (*at == '(' || *at == '<' || *at == '[')
      depth++;
    else if (*at == ')' || *at == '>' || *at == ']')
      depth--;
    if (*at != '\0') at++;
  } while (*at != '\0' && depth > 0);
  return at;
}

/* Where a word outside of all groups begins; the end of the text if there is none. */
static const char *find_outside(const char *at, const char *word) {
  while (*at != '\0' && !swift_names_begins(at, word))
    at = *at == '(' || *at == '<' || *at == '[' ? past_group(at) : at + 1;
  return at;
}

static void swift_names_copy(kvo_name *name, const char *end) {
  while (name->at < end) *name->end++ = *name->at++;
}

/* Writes `(_: App.Library, at: Swift.Int)` as `(_:at:)`. */
static void copy_labels(kvo_name *name) {
  const char *end = past_group(name->at);
  *name->end++ = *name->at++;
  while (name->at + 1 < end) {
    const char *comma = find_outside(name->at, ", "), *colon = name->at + strcspn(name->at, ":, (<)");
    if (comma > end - 1) comma = end - 1;
    if (*colon == ':')
      swift_names_copy(name, colon);
    else if (comma > name->at)
      *name->end++ = '_';
    if (comma > name->at) *name->end++ = ':';
    name->at = comma + (comma < end - 1 ? 2 : 0);
  }
  *name->end++ = ')';
  name->at = end;
}

/* Writes `(close in _7FCE)`, a name that is private to a file, as `close`. Types may contain such names: `(App.(Library in _7FCE))`. */
static bool copy_private(kvo_name *name) {
  const char *end = past_group(name->at), *word = name->at + 1, *in = word + strcspn(word, " (");
  if (in >= end || !swift_names_begins(in, " in _")) return false;
  name->at = word;
  swift_names_copy(name, in);
  name->at = end;
  return true;
}

static bool follows_name(const kvo_name *name) {
  if (name->end == name->begin) return false;
  char last = name->end[-1];
  return last != ' ' && last != ':' && last != '.';
}

/* Whether `#1` follows, as in `inner #1 <A>(_: A)`, a function nested in another. */
static bool follows_number(const kvo_name *name) {
  return name->end - name->begin > 1 && name->end[-1] == ' ' && name->end[-2] >= '0' && name->end[-2] <= '9';
}

/* Skips the types of a nested function, up to the name of the function that contains it. */
static void skip_types(kvo_name *name) {
  name->at = find_outside(name->at, " in ");
  while (name->end > name->begin && name->end[-1] == ' ') name->end--;
}

/* Writes `closure #2 in closure #1 in App.open()` as `closure in App.open()`: nobody counts closures. */
static bool copy_closure(kvo_name *name) {
  static const char word[] = "closure", in[] = " in ";
  enum { WORD = sizeof word - 1, IN = sizeof in - 1 };
  if (!swift_names_begins(name->at, "closure #") || (name->end != name->begin && name->end[-1] != ' ')) return false;
  const char *written = name->end - (WORD + IN);
  if (written >= name->begin && swift_names_begins(written, word)) name->end -= WORD + IN;
  swift_names_copy(name, name->at + WORD);
  name->at += 2 + strspn(name->at + 2, "0123456789");
  return true;
}

void kvo__shorten_swift(char *text) {
  static const char *const noise[] = {"partial apply forwarder for ", "suspend resume partial function for ",
                                      "await resume partial function for ", "merged ", "@objc "};
  kvo_name name = {text, text, text};
  if (text[0] == '(' && text[1] >= '0' && text[1] <= '9' && strchr(text, ' ') != NULL) name.at = strchr(text, ' ') + 1;
  for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
    if (swift_names_begins(name.at, noise[i])) name.at += strlen(noise[i]);
  while (*name.at != '\0') {
    if (swift_names_begins(name.at, "(extension in ")) {
      name.at = past_group(name.at);
      name.at += *name.at == ':';
    } else if (*name.at == '`') {
      const char *quote = strchr(name.at + 1, '`');
      swift_names_copy(&name, quote != NULL ? quote + 1 : name.at + strlen(name.at));
    } else if ((*name.at == '(' && copy_private(&name)) || copy_closure(&name)) {
      continue;
    } else if (*name.at == '(') {
      if (follows_name(&name)) copy_labels(&name);
      skip_types(&name);
    } else if (*name.at == '<' && (follows_name(&name) || follows_number(&name))) {
      name.at = past_group(name.at);
    } else if (swift_names_begins(name.at, " : ")) {
      skip_types(&name);
    } else {
      swift_names_copy(&name, name.at + 1);
    }
  }
  *name.end = '\0';
}
