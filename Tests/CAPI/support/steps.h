/* steps.h - counts the instructions that a process executes, by single steps: exact, and the same at each run. */
#ifndef KVO_TEST_STEPS_H
#define KVO_TEST_STEPS_H

/* Begins and ends what is counted. Outside of steps_of they do nothing of use. */
void steps_begin(void);
void steps_end(void);

/* Runs `body(arg)` in a child process, and returns how many instructions it executed between the two calls, and in its calls of the kernel
 * none; -1 where processes cannot be traced. If the child fails, so does this process. */
long steps_of(void (*body)(void *arg), void *arg);

#endif
