/* hidden.h - what the plug-in hidden.cpp exports. */
#ifndef KVO_TEST_HIDDEN_H
#define KVO_TEST_HIDDEN_H

#include <kvo/kvo.hpp>

extern "C" {
/* An object of a class of the plug-in. */
KVO_API kvo_object *hidden_gauge();
/* What object::from is in the plug-in. */
KVO_API kvo::object *hidden_object(kvo_object *header);
/* Lets an observer throw a kvo::error. */
KVO_API void hidden_throw();
}

#endif
