/* crows.h - the rows in C: a setter called directly, through our trampoline, and through a bare libffi closure. */
#ifndef CROWS_H
#define CROWS_H

/* Each of these sets a double property `count` times; the first call creates the objects. */

/** Of an object with one observer, which adds old and new values: through the intercepting setter. */
void crows_set_observed(long count);

/** Of an unobserved object: through the setter that the runtime returns. */
void crows_set_unobserved(long count);

/** Of a plain structure, through a bare closure that does nothing but ffi_call the setter. */
void crows_set_bare_closure(long count);

/** Of a plain structure, through a pointer to the setter. */
void crows_set_pointer(long count);

/** Of the first of 81 objects in a grid, whose others are bound to the sum of those to the left and above; the last one has an observer. */
void crows_set_corner(long count);

/** Sets an atomic property of one object, which all threads share, with one observer. */
void crows_set_shared(long count);

/** Sets a property of one object that only the thread with this number, 0 or 1, sets, with one observer. The properties of the threads
 * are 128 bytes apart. */
void crows_set_apart(long count, int thread);

/** Pins the calling thread to processor `index`, modulo the number of processors that the process may use. */
void crows_pin_thread(int index);

#endif /* CROWS_H */
