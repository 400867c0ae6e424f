/* asking.h - a client of the socket of this program or of another one, as tests use it. */
#ifndef KVO_TEST_ASKING_H
#define KVO_TEST_ASKING_H

#include <sys/types.h>

/* The value of KVO_SOCKET for tests, and the path of the socket of a process, which is valid until the next call. */
#define ASKING_SOCKET "/tmp/kvo-test-%p.sock"
const char *asking_path(pid_t process);

/* Connects to the socket, waiting until it exists. */
int asking_connect(pid_t process);
/* Connects a socket that was made before, without waiting. Returns 0, or the error. */
int asking_connect_with(int fd, pid_t process);
/* Sends bytes. */
void asking_send(int fd, const char *text);
/* Sends a request to this process, and returns the connection when the first line of the answer has come. */
int asking_begin(const char *request);
/* Receives one line of JSON, with its end; NULL at the end of the connection. Texts are valid until this thread's
 * next call. */
const char *asking_line(int fd);
/* Receives until the server closes, and closes the socket. */
const char *asking_rest(int fd);
/* Sends a request to this process. The answer without its first line, and its last, which is {"done":true}. */
const char *answer_to(const char *request);
/* The last line of an answer, which is an error. */
const char *error_of(const char *request);
/* The number after the first `name` behind the first `from`; -1 if there is none. */
long long number_after(const char *text, const char *from, const char *name);

#endif
