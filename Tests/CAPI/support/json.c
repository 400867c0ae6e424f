/* json.c - a JSON parser that only checks. */
#include "json.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const char *value(const char *at);

/* Not with strspn(3), because ThreadSanitizer's version searches the end of the text each time. */
static const char *skip(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n') at++;
  return at;
}

/* These functions return the rest of the text, or NULL. */
static const char *word(const char *at, const char *expected) {
  size_t length = strlen(expected);
  return strncmp(at, expected, length) == 0 ? at + length : NULL;
}

static const char *string(const char *at) {
  if (*at++ != '"') return NULL;
  while (*at != '"') {
    if ((unsigned char)*at < 0x20) return NULL;
    if (*at++ != '\\') continue;
    if (*at == 'u') {
      for (int i = 1; i <= 4; i++)
        if (!isxdigit((unsigned char)at[i])) return NULL;
      at += 5;
    } else if (*at != '\0' && strchr("\"\\/bfnrt", *at) != NULL) {
      at++;
    } else {
      return NULL;
    }
  }
  return at + 1;
}

static const char *digits(const char *at) {
  const char *first = at;
  while (isdigit((unsigned char)*at)) at++;
  return at > first ? at : NULL;
}

static const char *number(const char *at) {
  if (*at == '-') at++;
  if (at[0] == '0' && isdigit((unsigned char)at[1])) return NULL;
  at = digits(at);
  if (at != NULL && *at == '.') at = digits(at + 1);
  if (at != NULL && (*at == 'e' || *at == 'E')) at = digits(at + 1 + (at[1] == '-' || at[1] == '+'));
  return at;
}

static const char *list(const char *at, char end, bool named) {
  at = skip(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (named) {
      at = string(at);
      if (at == NULL || *(at = skip(at)) != ':') return NULL;
      at = skip(at + 1);
    }
    at = value(at);
    if (at == NULL) return NULL;
    at = skip(at);
    if (*at == end) return at + 1;
    if (*at != ',') return NULL;
    at = skip(at + 1);
  }
}

static const char *value(const char *at) {
  switch (*at) {
    case '{': return list(at, '}', true);
    case '[': return list(at, ']', false);
    case '"': return string(at);
    case 't': return word(at, "true");
    case 'f': return word(at, "false");
    case 'n': return word(at, "null");
    default: return number(at);
  }
}

bool json_is_valid(const char *text) {
  const char *at = value(skip(text));
  return at != NULL && *skip(at) == '\0';
}
