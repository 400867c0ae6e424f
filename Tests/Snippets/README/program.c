/* README.md's C code, as a program. */
#include <kvo/kvo.h>
#include <stdio.h>

// declarations: C

int main(void) {
  // statements: C
  return 0;
}
