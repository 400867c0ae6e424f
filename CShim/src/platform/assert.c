/* assert.c - ends the process after a failed assertion of the runtime. */
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>

void kvo__assert_failed(const char *condition, const char *file, int line) {
  fprintf(stderr, "KVO: %s:%d: %s does not hold\n", file, line, condition);
  abort();
}
