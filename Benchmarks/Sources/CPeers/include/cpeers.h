/* cpeers.h - the C side of the benchmarks: a setter behind a trampoline of ours, and behind a bare libffi closure. */
#ifndef CPEERS_H
#define CPEERS_H

/** Makes a C object with an observed double property, and a bare libffi closure of the same setter. False: it failed. */
int cpeers_prepare(void);

/** Sets the property `count` times through the intercepting setter, with one observer that adds up what it gets. */
void cpeers_set_observed(long count);

/** The same number of calls through a bare closure that does nothing but ffi_call the setter. */
void cpeers_set_bare_closure(long count);

/** The sum that the observer has made, so that it is not optimised away. */
double cpeers_sum(void);

#endif /* CPEERS_H */
