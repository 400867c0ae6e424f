/* catalogue.c - the rows of the crash catalogue, and the list of the scenarios in C. */
#include "scenarios.h"

#include <string.h>

#define LIFETIMES "3.1 Lifetimes"
#define REMOVAL "3.2 Removal"
#define REGISTRATION "3.3 Registration"
#define DELIVERY "3.4 Delivery"
#define MANUAL "3.5 Manual notification"
#define THREADS "3.6 Threads"
#define MACHINERY "3.7 Policy and report"
#define BEYOND "Codes without a row"

static const kvo_crash_row rows[] = {
    {"K01", LIFETIMES, "an object dies while observed"},
    {"K02", LIFETIMES, "an object dies whose observations end with it"},
    {"K03", LIFETIMES, "an object dies that observes itself"},
    {"K04", LIFETIMES, "an object dies that observes itself in the safe way"},
    {"K05", LIFETIMES, "of two observers one was removed before the object dies"},
    {"K06", LIFETIMES, "a weakly held object on a key path dies"},
    {"K07", LIFETIMES, "the root of an observed key path dies"},
    {"K08", LIFETIMES, "the observed object is replaced, and the new one is unobserved"},
    {"K09", LIFETIMES, "an observer died without removing itself"},
    {"K10", LIFETIMES, "as K09, an object of another class at its address"},
    {"K11", LIFETIMES, "as K09, an object of the same class at its address"},
    {"K12", LIFETIMES, "an id of an object that died, whose address is used again"},
    {"K13", LIFETIMES, "an observed property is set while its object is destroyed"},
    {"K14", LIFETIMES, "a callback keeps an object that is being destroyed"},
    {"K15", LIFETIMES, "a callback refers weakly to an object that is being destroyed"},
    {"K16", LIFETIMES, "an observation that keeps itself and its object alive"},
    {"K17", LIFETIMES, "an observation that ends before any change"},
    {"K18", LIFETIMES, "an observed object on the stack"},
    {"K19", LIFETIMES, "an object dies while a callback of it runs on another thread"},
    {"K20", LIFETIMES, "an observer dies in its own callback"},
    {"K21", LIFETIMES, "an object dies in a callback of it"},
    {"K22", LIFETIMES, "an observation is made of an object that is being destroyed"},
    {"K23", LIFETIMES, "100 000 short-lived observed objects"},
    {"K24", LIFETIMES, "the process ends while objects are observed"},
    {"K25", LIFETIMES, "what an observation holds removes another when it is destroyed"},
    {"K26", REMOVAL, "removal of what was never registered"},
    {"K27", REMOVAL, "removal twice"},
    {"K28", REMOVAL, "removal on two threads at once"},
    {"K29", REMOVAL, "a class and its subclass both remove the same"},
    {"K30", REMOVAL, "removal with a wrong context"},
    {"K31", REMOVAL, "removal without a context that fits two observations"},
    {"K32", REMOVAL, "removal in the initial callback"},
    {"K33", REMOVAL, "removal of itself in a callback"},
    {"K34", REMOVAL, "removal of a later observer in a callback"},
    {"K35", REMOVAL, "removal of the last observer in its callback"},
    {"K36", REMOVAL, "removal between will and did"},
    {"K37", REMOVAL, "registration between will and did"},
    {"K38", REMOVAL, "cancel and wait while the callback runs on another thread"},
    {"K39", REMOVAL, "cancel and wait within its own callback"},
    {"K40", REMOVAL, "two callbacks that cancel and wait for each other"},
    {"K41", REMOVAL, "removal by a key path in temporary memory"},
    {"K42", REMOVAL, "removal of ids that never were one"},
    {"K43", REGISTRATION, "an undefined key"},
    {"K44", REGISTRATION, "malformed key paths"},
    {"K45", REGISTRATION, "a key that can never notify"},
    {"K46", REGISTRATION, "a setter of a signature that cannot be intercepted"},
    {"K47", REGISTRATION, "NULL where something has to be"},
    {"K48", REGISTRATION, "memory that is not an object"},
    {"K49", REGISTRATION, "a key path through a collection"},
    {"K50", REGISTRATION, "the same registration twice"},
    {"K51", REGISTRATION, "no executable memory for trampolines"},
    {"K52", REGISTRATION, "65 537 observers of one object"},
    {"K53", REGISTRATION, "something else writes into the header of an observed object"},
    {"K54", REGISTRATION, "something else restores an observed object's header out of turn"},
    {"K55", REGISTRATION, "a fork after registration, and a callback in the child"},
    {"K56", REGISTRATION, "the library that owns the callback is unloaded"},
    {"K57", DELIVERY, "a central callback that handles nothing"},
    {"K58", DELIVERY, "a callback that sets the same property without end"},
    {"K59", DELIVERY, "two properties bound to each other, and the values settle"},
    {"K60", DELIVERY, "two properties bound to each other, and the values never settle"},
    {"K61", DELIVERY, "a chain of thousands of objects, each set by the one before"},
    {"K62", DELIVERY, "a callback that is left by longjmp"},
    {"K63", DELIVERY, "a callback that ends the process"},
    {"K64", DELIVERY, "a callback that reads and writes what is being changed in place"},
    {"K65", DELIVERY, "the order of observers and of the setter's own code"},
    {"K66", DELIVERY, "a value of another type"},
    {"K67", DELIVERY, "a callback that takes long"},
    {"K68", DELIVERY, "the object dies before its observer's queue comes to the change"},
    {"K69", DELIVERY, "a callback that registers an observer each time"},
    {"K70", MANUAL, "didChange without willChange"},
    {"K71", MANUAL, "willChange without didChange"},
    {"K72", MANUAL, "willChange on one thread, didChange on another"},
    {"K73", MANUAL, "pairs of two keys that overlap"},
    {"K74", MANUAL, "a setter that notifies, announced by hand as well"},
    {"K75", MANUAL, "an announcement of an unknown key"},
    {"K76", MANUAL, "an object on a key path is replaced without notification"},
    {"K77", MANUAL, "willChange and didChange of different positions"},
    {"K78", MANUAL, "willChange of positions outside the collection"},
    {"K79", THREADS, "threads set one key: each set is told"},
    {"K80", THREADS, "threads register and remove while others set"},
    {"K81", THREADS, "threads replace an object on a key path"},
    {"K82", THREADS, "two threads whose callbacks set each other's object"},
    {"K83", THREADS, "a lock that a callback needs is held while waiting for the callback"},
    {"K84", THREADS, "threads that are the first to observe a class"},
    {"K85", THREADS, "the last removal races with a set"},
    {"K86", THREADS, "an object dies while another thread registers with it"},
    {"K87", MACHINERY, "a handler that goes on after each fault"},
    {"K88", MACHINERY, "a handler that raises a fault itself"},
    {"K89", MACHINERY, "a handler that is left by longjmp"},
    {"K90", MACHINERY, "a fault without memory, and in a signal handler"},
    {"K91", MACHINERY, "two threads that fault at once"},
    {"K92", MACHINERY, "a malformed policy"},
    {"K93", MACHINERY, "a closed standard error, JSON, another destination"},
    {"K94", MACHINERY, "a stripped program"},
    {"K95", MACHINERY, "values that must not be in a report"},
    {"K96", MACHINERY, "a dead observer under AddressSanitizer"},
    {"K97", MACHINERY, "Swift's own backtrace below the report"},
    {"E35", BEYOND, "nil for a property that cannot be nil"},
    {"E36", BEYOND, "an unknown collection operator"},
    {"E37", BEYOND, "an index out of range"},
    {"E38", BEYOND, "a mutation of a collection that is nil"},
    {"E39", BEYOND, "a key that is declared to affect itself"},
    {"E40", BEYOND, "different numbers of elements and indexes"},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const crash_part *const parts[] = {&crash_lifetimes, &crash_endings, &crash_removal,  &crash_registration,
                                          &crash_delivery,  &crash_manual,  &crash_machinery};

const kvo_crash_row *kvo_crash_rows(size_t *count) {
  *count = ROW_COUNT;
  return rows;
}

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

bool kvo_crash_is_c(const kvo_crash_scenario *scenario) { return scenario->id[strlen(scenario->id) - 1] == 'c'; }
