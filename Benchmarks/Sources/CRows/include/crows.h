/* crows.h - the rows in C: a setter called directly, behind a trampoline of ours, and behind a bare libffi closure. */
#ifndef CROWS_H
#define CROWS_H

/* Each of these sets a double property `count` times; what it needs is made by its first call. */

/** Of an object of ours with one observer, which adds up old and new values: through the intercepting setter. */
void crows_set_observed(long count);

/** Of an object of ours that nobody observes: through the setter that the runtime answers. */
void crows_set_unobserved(long count);

/** Of a plain structure, through a bare closure that does nothing but ffi_call the setter. */
void crows_set_bare_closure(long count);

/** Of a plain structure, through a pointer to the setter. */
void crows_set_pointer(long count);

/** Sets an atomic property of one object of ours, the same for all threads, with one observer. */
void crows_set_shared(long count);

/** Has the calling thread run on processor `index` of those that the process may use, counted round and round. */
void crows_pin_thread(int index);

#endif /* CROWS_H */
