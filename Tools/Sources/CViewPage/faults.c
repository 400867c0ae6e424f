/* faults.c - embeds the pages of Documentation/Faults, each with a NUL at its end. The file includes itself: at depth n it embeds page n,
 * up to the last fault of the table. */
#if __INCLUDE_LEVEL__ == 0
#include "view_page.h"

#include <kvo/kvo_fault.h>

#pragma clang diagnostic ignored "-Wc23-extensions"

#define QUOTED(name) #name
/* clang-format off */
#define PASTED(zeros, code) QUOTED(../../../Documentation/Faults/KVO##zeros##code.md)
/* clang-format on */
#define PAGE(zeros, code) PASTED(zeros, code)
#define REACHES(name, value, severity, exception, text, why) +(value >= __INCLUDE_LEVEL__)

static const char pages[] = {
#include "faults.c"
};

kvo_view_text kvo_view_faults(void) { return (kvo_view_text){pages, sizeof pages}; }
#elif KVO_FAULT_MAP(REACHES)
#if __INCLUDE_LEVEL__ < 10
#embed PAGE(000, __INCLUDE_LEVEL__) suffix(, 0, )
#else
#embed PAGE(00, __INCLUDE_LEVEL__) suffix(, 0, )
#endif
#include "faults.c"
#endif
