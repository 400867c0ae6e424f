/* serving/serving.h - lets clients of the same user look at the running program through a socket (KVO_SOCKET): server.c.
 *
 * A client sends one line, and receives lines of JSON, the first of which names the protocol; then the server closes the connection:
 *
 *     hello                    the first line only
 *     stats [MS [COUNT]]       figures, every MS milliseconds (1000), COUNT times (1; 0: until the client closes)
 *     graph [json|dot|mermaid] a graph of all observations (kvo_graph_format)
 *     trace [MS]               a trace of the next MS milliseconds (5000), at most KVO_MOST_TRACED bytes
 *     who MS CLASS[.KEYPATH]   who observes it, and how often each was notified during MS milliseconds
 *
 * The last line is {"done":true}, or {"error":...,"code":...}. What is not lines of JSON follows a line with its number of bytes. */
#ifndef KVO_SERVING_H
#define KVO_SERVING_H

#include "watching/events.h"

enum { KVO_PROTOCOL = 1, KVO_MOST_TRACED = 1 << 28 };

/** Has the next registration call kvo__serve, if the setting asks for a socket. */
KVO_HIDDEN void kvo__serve_start(void);
/** The hook `serve`: starts the server, once. */
KVO_HIDDEN void kvo__serve(void);
/** At the end of the process: removes the socket, and waits for the server, but not long. */
KVO_HIDDEN void kvo__serve_end(void);
/** In the child of a fork: closes what belongs to the parent. The child's next registration starts a server of its own. */
KVO_HIDDEN void kvo__serve_forked(void);

#endif /* KVO_SERVING_H */
