/* guard.c - faults in calls of the module, which become errors of Lua. */
#include "module.h"

#include <string.h>

/* A key or a key path that is wrong, in a way that C would survive with a status. */
static bool is_wrong_key(const kvo_fault *fault) {
  if (fault->severity != KVO_SEVERITY_ERROR) return false;
  switch (fault->code) {
    case KVO_FAULT_UNDEFINED_KEY:
    case KVO_FAULT_MALFORMED_KEY_PATH:
    case KVO_FAULT_THROUGH_COLLECTION:
    case KVO_FAULT_TYPE_MISMATCH:
    case KVO_FAULT_BAD_OPERATOR: return true;
    default: return false;
  }
}

static kvo_action on_fault(const kvo_fault *fault, void *arg) {
  guard *of = arg;
  if (fault->severity != KVO_SEVERITY_FATAL && !is_wrong_key(fault)) return KVO_ACTION_DEFAULT;
  if (of->fault[0] == 0) strncpy(of->fault, fault->summary, sizeof of->fault - 1);
  return KVO_ACTION_IGNORE;
}

void guard_begin(guard *of) {
  *of = (guard){.outer = NULL};
  of->outer = kvo_get_thread_fault_handler(&of->outer_arg);
  kvo_set_thread_fault_handler(on_fault, of);
}

void guard_end(guard *of) { kvo_set_thread_fault_handler(of->outer, of->outer_arg); }

void guard_check(lua_State *L, guard *of, kvo_status status, const char *what) {
  guard_end(of);
  if (of->fault[0] != 0) luaL_error(L, "%s: %s", what, of->fault);
  check_status(L, status, what);
}

bool guard_note(const char *text) {
  void *arg;
  if (kvo_get_thread_fault_handler(&arg) != on_fault) return false;
  guard *of = arg;
  if (of->fault[0] == 0) strncpy(of->fault, text, sizeof of->fault - 1);
  return true;
}
