/* view_page.h - the files of the page that `kvo view` makes, embedded in the program. */
#ifndef KVO_VIEW_PAGE_H
#define KVO_VIEW_PAGE_H

#include <stddef.h>

/** A constant text without NUL. */
typedef struct kvo_view_text {
  const void *bytes;
  size_t length;
} kvo_view_text;

kvo_view_text kvo_view_html(void);
kvo_view_text kvo_view_css(void);
kvo_view_text kvo_view_js(void);
kvo_view_text kvo_view_graphviz(void);

#endif /* KVO_VIEW_PAGE_H */
