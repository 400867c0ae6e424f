/* CSwiftRuntime.h - the entry point of Swift's runtime that the Swift layer calls and that Swift code cannot name. */
#ifndef C_SWIFT_RUNTIME_H
#define C_SWIFT_RUNTIME_H

/** Retains an object unless its deinitialisation has begun, and returns it or NULL. Its memory has to be there, as an unowned
 * reference sees to. It is how a weak reference is read, without the side table, which would make every retain and release of
 * the object slower. Defined in libswiftCore. */
void *_Nullable swift_tryRetain(void *_Nonnull object);

#endif
