/* answers.c - the requests of a client: figures, the graph, a trace. Who observes: who.c. */
#define _GNU_SOURCE
#include "serving/client.h"
#include "serving/figures.h"
#include "serving/serving.h"
#include "watching/trace.h"
#include "watching/traffic.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MILLISECOND = 1000000, MOST_MS = 24 * 3600 * 1000, LEAST_INTERVAL = 10, LOOK = 20, LENGTH_LINE = 96 };

/* ------------------------------------------------------------------------------------------------------------- Lines -- */

static void put_hello(kvo_sink *to, void *arg) {
  (void)arg;
  kvo__append(to, "{\"protocol\":%d,\"library\":\"%d.%d.%d\",\"pid\":%d", (int)KVO_PROTOCOL, KVO_VERSION_MAJOR,
              KVO_VERSION_MINOR, KVO_VERSION_PATCH, (int)getpid());
  kvo__put_json_string(to, "program", program_invocation_short_name);
  kvo__put(to, "}\n");
}

static void answers_out_of_memory(kvo_client *of) {
  kvo__client_fail(of, "outOfMemory", "the program has no memory for the answer");
}

static void put_length(kvo_client *of, const char *form, unsigned long long bytes) {
  char *line = kvo__output_room(&of->output, LENGTH_LINE);
  if (line == NULL) return;
  kvo_sink to = {.memory = line, .capacity = LENGTH_LINE, .fd = -1};
  kvo__append(&to, "{\"content\":\"%s\",\"bytes\":%llu}\n", form, bytes);
  of->output.length += to.total;
}

/* -------------------------------------------------------------------------------------------------------- Counting -- */

static unsigned counting;

static void begin_counting(kvo_client *of) {
  of->counts = true;
  if (counting++ == 0) kvo__traffic_start();
}

static void end_counting(kvo_client *of) {
  if (of->counts && --counting == 0) kvo__traffic_stop();
  of->counts = false;
}

/* ---------------------------------------------------------------------------------------------------------- Figures -- */

static void tell_figures(kvo_client *of) {
  kvo_figures figures;
  bool told = kvo__figures_take(&figures);
  if (told) told = kvo__output_put(&of->output, kvo__put_figures, &figures);
  kvo__figures_free(&figures);
  if (!told) {
    answers_out_of_memory(of);
  } else if (of->left == 1) {
    kvo__client_finish(of);
  } else if (of->left > 1) {
    of->left--;
  }
}

static void stream(kvo_client *of, uint32_t interval, uint32_t count) {
  begin_counting(of);
  of->stage = KVO_STREAMS;
  of->interval = (int64_t)(interval < LEAST_INTERVAL ? LEAST_INTERVAL : interval) * MILLISECOND;
  of->left = count;
  of->due = kvo__now() + of->interval;
  tell_figures(of);
}

/* ------------------------------------------------------------------------------------------------------------ Graph -- */

static void tell_graph(kvo_client *of, kvo_graph_form form, const char *name) {
  kvo_graph *graph = NULL;
  bool told = kvo_snapshot(&graph) == KVO_OK;
  if (told) {
    /* Without memory a picture is empty, the second time too. */
    size_t size = kvo_graph_format(graph, form, NULL, 0);
    char *room = size > 0 ? kvo__output_room(&of->output, LENGTH_LINE + size + 1) : NULL;
    told = room != NULL && kvo_graph_format(graph, form, room + LENGTH_LINE, size + 1) == size;
    if (told) {
      put_length(of, name, size);
      memmove(of->output.text + of->output.length, room + LENGTH_LINE, size);
      of->output.length += size;
    }
  }
  kvo_graph_free(graph);
  if (told)
    kvo__client_finish(of);
  else
    answers_out_of_memory(of);
}

/* ------------------------------------------------------------------------------------------------------------ Trace -- */

static void begin_trace(kvo_client *of, uint32_t milliseconds) {
  int fd = memfd_create("kvo-trace", MFD_CLOEXEC);
  if (fd < 0) {
    kvo__client_fail(of, "file", "the program cannot make a file in memory: %s", strerror(errno));
    return;
  }
  char path[40];
  kvo_sink to = {.memory = path, .capacity = sizeof path, .fd = -1};
  kvo__append(&to, "/proc/self/fd/%d", fd);
  uint64_t number;
  kvo_status status = kvo__trace_begin_as(path, &number);
  if (status != KVO_OK) {
    close(fd);
    if (status == KVO_ERROR_BUSY)
      kvo__client_fail(of, "busy", "a trace is being recorded already, by the program or for another client");
    else
      kvo__client_fail(of, "file", "the program cannot record into a file in memory");
    return;
  }
  of->stage = KVO_TRACES;
  of->recording = number;
  of->traced = fd;
  of->begun = kvo__now();
  of->interval = (int64_t)milliseconds * MILLISECOND;
  of->due = of->begun;
}

static void look_at_trace(kvo_client *of) {
  struct stat is;
  int64_t now = kvo__now();
  bool goes_on = kvo__trace_goes_on(of->recording);
  bool is_full = fstat(of->traced, &is) != 0 || is.st_size >= KVO_MOST_TRACED;
  int64_t left = of->begun + of->interval - now;
  if (goes_on && !is_full && left > 0) {
    of->due = now + (left < LOOK * MILLISECOND ? left : LOOK * MILLISECOND);
    return;
  }
  kvo_status status = kvo__trace_end_of(of->recording);
  of->recording = 0;
  char *line = kvo__output_room(&of->output, 160);
  if (line == NULL || status != KVO_OK || fstat(of->traced, &is) != 0) {
    kvo__client_fail(of, "file", "the trace could not be written");
    return;
  }
  kvo_sink to = {.memory = line, .capacity = 160, .fd = -1};
  kvo__append(&to, "{\"recorded\":%llu.%03u,\"endedBy\":\"%s\"}\n",
              (unsigned long long)((now - of->begun) / 1000000000), (unsigned)((now - of->begun) / MILLISECOND % 1000),
              !goes_on  ? "program"
              : is_full ? "size"
                        : "time");
  of->output.length += to.total;
  put_length(of, "trace", (unsigned long long)is.st_size);
  of->output.size = is.st_size;
  of->output.file = atomic_exchange(&of->traced, -1);
  of->due = INT64_MAX;
  of->stage = KVO_ENDS;
  of->is_whole = false; /* the last line follows the file */
}

/* --------------------------------------------------------------------------------------------------------- Requests -- */

/* Takes the next word of a request; "" if there is none. Words are separated by one space. */
static const char *take_word(char **rest) {
  char *word = *rest, *end = word + strcspn(word, " ");
  *rest = *end != '\0' ? end + 1 : end;
  *end = '\0';
  return word;
}

/* Takes a number, if there is one more word. False, after an answer, if it is none, or more than a day. */
static bool take_number(kvo_client *of, char **rest, uint32_t *number) {
  const char *word = take_word(rest);
  if (*word == '\0') return true;
  char *end;
  unsigned long read = strtoul(word, &end, 10);
  if (*word < '0' || *word > '9' || *end != '\0' || read > MOST_MS) {
    kvo__client_fail(of, "request", "\"%s\" is not a number from 0 to %d", word, (int)MOST_MS);
    return false;
  }
  *number = (uint32_t)read;
  return true;
}

static bool is_at_end(kvo_client *of, const char *rest) {
  if (*rest != '\0') kvo__client_fail(of, "request", "unexpected: \"%s\"", rest);
  return *rest == '\0';
}

static void answer_graph(kvo_client *of, char *rest) {
  static const char *const names[] = {"json", "dot", "mermaid"};
  static const kvo_graph_form forms[] = {KVO_GRAPH_JSON, KVO_GRAPH_DOT, KVO_GRAPH_MERMAID};
  const char *word = take_word(&rest);
  if (*word == '\0') word = names[0];
  if (!is_at_end(of, rest)) return;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
    if (strcmp(word, names[i]) == 0) {
      tell_graph(of, forms[i], names[i]);
      return;
    }
  kvo__client_fail(of, "request", "there is no graph as \"%s\"; there are json, dot and mermaid", word);
}

static void answer_who(kvo_client *of, char *rest) {
  uint32_t milliseconds = 0;
  if (!take_number(of, &rest, &milliseconds)) return;
  if (*rest == '\0') {
    kvo__client_fail(of, "request", "say how many milliseconds to count, and whose observers: who 1000 Document.title");
    return;
  }
  of->name = rest;
  of->begun = kvo__now();
  if (milliseconds == 0) {
    kvo__client_who(of, of->name, 0);
    return;
  }
  begin_counting(of);
  of->stage = KVO_COUNTS;
  of->due = of->begun + (int64_t)milliseconds * MILLISECOND;
}

void kvo__client_answer(kvo_client *of) {
  char *rest = of->request;
  of->due = INT64_MAX;
  if (!kvo__output_put(&of->output, put_hello, NULL)) {
    answers_out_of_memory(of);
    return;
  }
  const char *word = take_word(&rest);
  uint32_t interval = 1000, count = 1, traced = 5000;
  if (strcmp(word, "hello") == 0) {
    if (is_at_end(of, rest)) kvo__client_finish(of);
  } else if (strcmp(word, "stats") == 0) {
    if (take_number(of, &rest, &interval) && take_number(of, &rest, &count) && is_at_end(of, rest))
      stream(of, interval, count);
  } else if (strcmp(word, "graph") == 0) {
    answer_graph(of, rest);
  } else if (strcmp(word, "trace") == 0) {
    if (take_number(of, &rest, &traced) && is_at_end(of, rest)) begin_trace(of, traced);
  } else if (strcmp(word, "who") == 0) {
    answer_who(of, rest);
  } else {
    kvo__client_fail(of, "request", "there is no request \"%s\"; there are hello, stats, graph, trace and who", word);
  }
}

void kvo__client_continue(kvo_client *of) {
  switch (of->stage) {
    case KVO_STREAMS:
      do of->due += of->interval;
      while (of->due <= kvo__now());
      /* A client that reads slowly receives fewer figures. */
      if (of->output.sent == of->output.length) tell_figures(of);
      break;
    case KVO_TRACES: look_at_trace(of); break;
    case KVO_COUNTS: kvo__client_who(of, of->name, (double)(kvo__now() - of->begun) / 1e9); break;
    case KVO_READS:
    case KVO_ENDS: break;
  }
}

void kvo__client_leave(kvo_client *of) {
  end_counting(of);
  if (of->recording != 0) kvo__trace_end_of(of->recording);
  of->recording = 0;
  kvo__output_close(&of->traced);
  kvo__output_free(&of->output);
}

void kvo__client_forked(void) { counting = 0; }
