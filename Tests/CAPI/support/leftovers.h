/* leftovers.h - what the plug-in leftovers.c leaves behind, and its functions. */
#ifndef KVO_TEST_LEFTOVERS_H
#define KVO_TEST_LEFTOVERS_H

#include <kvo/kvo.h>

typedef enum leftover {
  LEFT_CALLBACK,
  LEFT_PATH,
  LEFT_USER_DATA,
  LEFT_BINDING,
  LEFT_HOOK,
  LEFT_HANDLER,
  LEFT_THREAD_HANDLER,
  LEFT_DEATH,
  LEFT_END,
  LEFT_METHOD,
  LEFT_NOTHING
} leftover;

/* Leaves one of these behind in an object of the host, which has the keys value, other and next and the method twice. */
KVO_API kvo_status leftovers_leave(leftover what, kvo_object *object, kvo_callback callback_of_host);
/* Takes it away; a method cannot be. */
KVO_API void leftovers_take(void);
/* Registers and unregisters the plug-in's class. */
KVO_API kvo_status leftovers_open(void);
KVO_API kvo_status leftovers_close(void);

#endif /* KVO_TEST_LEFTOVERS_H */
