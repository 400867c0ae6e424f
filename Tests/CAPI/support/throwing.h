/* throwing.h - C++ exceptions, for tests in C. */
#ifndef KVO_TEST_THROWING_H
#define KVO_TEST_THROWING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

void throw_out(void);
/* Whether the body has thrown. */
bool catch_from(void (*body)(void *arg), void *arg);

/* A fault in app::misuse(unsigned long). */
void misuse_in_cpp(void);

#ifdef __cplusplus
}
#endif

#endif
