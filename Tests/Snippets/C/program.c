/* C.md's first program. */
#include <kvo/kvo.h>
#include <stdio.h>

// declarations: first

int main(void) {
  // statements: first
  return 0;
}
