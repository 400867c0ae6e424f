/* page.c - embeds the files of the page: they are too large to be literals of Swift. */
#include "view_page.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char html[] = {
#embed "Page/page.html"
};
static const unsigned char css[] = {
#embed "Page/page.css"
};
static const unsigned char js[] = {
#embed "Page/findings.js"
    ,
#embed "Page/page.js"
};
static const unsigned char graphviz[] = {
#embed "Graphviz/graphviz.js"
};

kvo_view_text kvo_view_html(void) { return (kvo_view_text){html, sizeof html}; }
kvo_view_text kvo_view_css(void) { return (kvo_view_text){css, sizeof css}; }
kvo_view_text kvo_view_js(void) { return (kvo_view_text){js, sizeof js}; }
kvo_view_text kvo_view_graphviz(void) { return (kvo_view_text){graphviz, sizeof graphviz}; }
