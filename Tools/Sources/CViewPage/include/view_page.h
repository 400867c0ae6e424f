/* view_page.h - the files of the page that `kvo view` makes, and the pages of faults, embedded in the program. */
#ifndef KVO_VIEW_PAGE_H
#define KVO_VIEW_PAGE_H

#include <stddef.h>

/** A constant text. */
typedef struct kvo_view_text {
  const void *bytes;
  size_t length;
} kvo_view_text;

kvo_view_text kvo_view_html(void);
kvo_view_text kvo_view_css(void);
kvo_view_text kvo_view_js(void);
kvo_view_text kvo_view_graphviz(void);
/** The pages of Documentation/Faults in the order of their numbers, each with a NUL at its end. */
kvo_view_text kvo_view_faults(void);

#endif /* KVO_VIEW_PAGE_H */
