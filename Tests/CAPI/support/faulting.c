/* faulting.c - a program, and a loadable library, with misuse in a static function. */
#include <kvo/kvo.h>

__attribute__((noinline)) static void close_document(void) {
  kvo_remove_observer(7);
  __asm__ volatile("");
}

void fault_in_module(void) {
  close_document();
  __asm__ volatile("");
}

static void nothing(const kvo_change *change, void *user_data) { (void)change, (void)user_data; }

/* Observations whose names are in this module, for later reports. */
kvo_status observe_in_module(kvo_object *object, const char *key_path, kvo_options options, kvo_observation *out) {
  kvo_observer observer = {
      .struct_size = sizeof observer, .key_path = key_path, .options = options, .callback = nothing, KVO_HERE};
  kvo_status status = kvo_add_observer(object, &observer, out);
  __asm__ volatile("");
  return status;
}

kvo_status remove_in_module(kvo_observation observation) {
  kvo_status status = kvo_remove_observer(observation);
  __asm__ volatile(""); /* prevents a tail call */
  return status;
}

kvo_status announce_in_module(kvo_object *object) { return kvo_will_change(object, "quiet"); }

int main(void) {
  fault_in_module();
  return 0;
}
