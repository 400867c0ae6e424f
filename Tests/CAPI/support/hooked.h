/* hooked.h - items whose getters and setters also do what a test wants. */
#ifndef KVO_TEST_HOOKED_H
#define KVO_TEST_HOOKED_H

#include "fixture.h"

/* An item of the class "Hooked", which has only the keys value (i) and next (@). */
item *hooked_make(int value);

/* Called, unless NULL: by the getter of `value` after it has read, and by setters before they store. */
extern void (*in_getter)(item *of);
extern void (*in_setter)(item *of);

#endif
