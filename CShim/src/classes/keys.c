/* keys.c - hashes of keys, and the check of key paths. */
#include "classes/classes.h"

kvo_key kvo_key_hash(const char *name, size_t length) {
  if (name == NULL) length = 0;
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++) {
    hash ^= (unsigned char)name[i];
    hash *= UINT64_C(0x100000001b3);
  }
  return hash != KVO_KEY_LIFETIME && hash != KVO_KEY_DEATH ? hash : 1;
}

kvo_status kvo__path_check(const char *key_path) {
  if (key_path == NULL) return KVO_ERROR_INVALID_ARGUMENT;
  for (const char *at = key_path; *at != '.' && *at != '\0'; at++) {
    at = strchr(at, '.');
    if (at == NULL) return KVO_OK;
  }
  return kvo__fail(KVO_ERROR_MALFORMED_KEY_PATH, "key path '%s' has an empty component", key_path);
}
