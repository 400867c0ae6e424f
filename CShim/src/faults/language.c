/* language.c - whether the code that has to be corrected is Swift: the help of a fault names what its reader can write. */
#include "faults/reporting.h"

static bool is_swift_file(const char *file, size_t length) {
  static const char ending[] = ".swift";
  enum { ENDING = sizeof ending - 1 };
  return length > ENDING && memcmp(file + length - ENDING, ending, ENDING) == 0;
}

bool kvo__is_for_swift(kvo_place place, const kvo_fault_observation *concerned) {
  if (place.file != NULL) return is_swift_file(place.file, strlen(place.file));
  if (concerned != NULL && concerned->file != NULL) return is_swift_file(concerned->file, concerned->file_length);
  if (concerned != NULL && concerned->callback != NULL) return false; /* registered in C */
  return kvo__has_swift();
}
