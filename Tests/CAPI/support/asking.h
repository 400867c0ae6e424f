/* asking.h - a client of the socket of this program or of another one, as tests use it. */
#ifndef KVO_TEST_ASKING_H
#define KVO_TEST_ASKING_H

#include <stdbool.h>
#include <sys/types.h>

/* The value of KVO_SOCKET for tests. */
#define ASKING_SOCKET "/tmp/kvo-test-%p.sock"

/* The path of the socket of a process. Valid until the next call. */
const char *asking_path(pid_t process);
/* Connects to the socket, waiting until it exists. */
int asking_connect(pid_t process);
/* Sends bytes. */
void asking_send(int fd, const char *text);
/* Receives until the server closes. Free the text; NULL if the connection is broken. Closes the socket. */
char *asking_rest(int fd);
/* Receives one line, with its end; NULL at the end of the connection. Valid until the next call. */
const char *asking_line(int fd);
/* Sends a request to this process and returns the whole answer. Free it. */
char *ask(const char *request);
/* The answer, which must end with {"done":true}. */
char *ask_well(const char *request);
/* The number after the first `name` behind the first `from`; -1 if there is none. */
long long number_after(const char *text, const char *from, const char *name);

#endif
