/* catalogue.c - the rows of the crash catalogue, and the list of the scenarios in C. */
#include "scenarios.h"

#include <string.h>

static const kvo_crash_row rows[] = {
    {"K01", "an object dies while observed"},
    {"K03", "an object dies that observes itself"},
    {"K04", "an object dies that observes itself in the safe way"},
    {"K05", "of two observers one was removed before the object dies"},
    {"K07", "the root of an observed key path dies"},
    {"K08", "the observed object is replaced, and the new one is unobserved"},
    {"K09", "an observer died without removing itself"},
    {"K10", "as K09, an object of another class at its address"},
    {"K11", "as K09, an object of the same class at its address"},
    {"K12", "an id of an object that died, whose address is used again"},
    {"K13", "an observed property is set while its object is destroyed"},
    {"K14", "a callback keeps an object that is being destroyed"},
    {"K15", "a callback refers weakly to an object that is being destroyed"},
    {"K16", "an observation that keeps itself and its object alive"},
    {"K17", "an observation that ends before any change"},
    {"K18", "an observed object on the stack"},
    {"K22", "an observation is made of an object that is being destroyed"},
    {"K23", "100 000 short-lived observed objects"},
    {"K24", "the process ends while objects are observed"},
    {"K26", "removal of what was never registered"},
    {"K27", "removal twice"},
    {"K28", "removal on two threads at once"},
    {"K29", "a class and its subclass both remove the same"},
    {"K30", "removal with a wrong context"},
    {"K31", "removal without a context that fits two observations"},
    {"K35", "removal of the last observer in its callback"},
    {"K39", "cancel and wait within its own callback"},
    {"K41", "removal by a key path in temporary memory"},
    {"K42", "removal of ids that never were one"},
    {"K43", "an undefined key"},
    {"K44", "malformed key paths"},
    {"K45", "a key that can never notify"},
    {"K46", "a setter of a signature that cannot be intercepted"},
    {"K47", "NULL where something has to be"},
    {"K48", "memory that is not an object"},
    {"K49", "a key path through a collection"},
    {"K50", "the same registration twice"},
    {"K51", "no executable memory for trampolines"},
    {"K53", "something else writes into the header of an observed object"},
    {"K54", "something else restores an observed object's header out of turn"},
    {"K57", "a central callback that handles nothing"},
    {"K58", "a callback that sets the same property without end"},
    {"K60", "two properties bound to each other, and the values never settle"},
    {"K62", "a callback that is left by longjmp"},
    {"K64", "a callback that reads and writes what is being changed in place"},
    {"K65", "the order of observers and of the setter's own code"},
    {"K66", "a value of another type"},
    {"K67", "a callback that takes long"},
    {"K70", "didChange without willChange"},
    {"K71", "willChange without didChange"},
    {"K72", "willChange on one thread, didChange on another"},
    {"K74", "a setter that notifies, announced by hand as well"},
    {"K75", "an announcement of an unknown key"},
    {"K76", "an object on a key path is replaced without notification"},
    {"K77", "willChange and didChange of different positions"},
    {"K78", "willChange of positions outside the collection"},
    {"K83", "a lock that a callback needs is held while waiting for the callback"},
    {"K86", "an object dies while another thread registers with it"},
    {"K88", "a handler that raises a fault itself"},
    {"K89", "a handler that is left by longjmp"},
    {"K90", "a fault without memory, and in a signal handler"},
    {"K91", "two threads that fault at once"},
    {"K92", "a malformed policy"},
    {"K93", "a closed standard error, JSON, another destination"},
    {"K94", "a stripped program"},
    {"K95", "values that must not be in a report"},
    {"K96", "a dead observer under AddressSanitizer"},
    {"K97", "Swift's own backtrace below the report"},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const crash_part *const parts[] = {&crash_lifetimes, &crash_endings, &crash_removal,  &crash_registration,
                                          &crash_delivery,  &crash_manual,  &crash_machinery};

const kvo_crash_row *kvo_crash_row_of(const char *id) {
  for (size_t i = 0; i < ROW_COUNT; i++)
    if (strncmp(rows[i].number, id, 3) == 0) return &rows[i];
  return NULL;
}

const kvo_crash_scenario *kvo_crash_c_scenario(size_t index) {
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    if (index < parts[i]->count) return &parts[i]->scenarios[index];
    index -= parts[i]->count;
  }
  return NULL;
}
