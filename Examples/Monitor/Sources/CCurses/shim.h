/* ncurses for Swift, which imports neither its macros nor, in Swift 6, its global variables. */
#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <ncurses.h>
#include <wchar.h>

/* Declared by wchar.h only with _XOPEN_SOURCE, which Swift's import of the C library does not define. */
extern int wcwidth(wchar_t character);

/* Unlike initscr, it does not end the process for an unknown type of terminal. */
static inline SCREEN *curses_open(void) { return newterm(NULL, stdout, stdin); }
/* Declared by term.h, whose macros have names such as "lines". */
extern char *tigetstr(const char *name);

/* Whether text can be put at any place of the screen, which a terminal of type "dumb" cannot do. */
static inline bool curses_can_move(void) {
  char *found = tigetstr("cup");
  return found != NULL && found != (char *)-1;
}

static inline WINDOW *curses_screen(void) { return stdscr; }
static inline attr_t curses_bold(void) { return A_BOLD; }
static inline attr_t curses_dim(void) { return A_DIM; }
static inline attr_t curses_reverse(void) { return A_REVERSE; }
static inline attr_t curses_color(short pair) { return COLOR_PAIR(pair); }
