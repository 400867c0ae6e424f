/* faulting.c - a program, and a library to load, with one misuse in a static function. */
#include <kvo/kvo.h>

__attribute__((noinline)) static void close_document(void) {
  kvo_remove_observer(7);
  __asm__ volatile("");
}

void fault_in_module(void) {
  close_document();
  __asm__ volatile("");
}

int main(void) {
  fault_in_module();
  return 0;
}
