/* registry/closures.h - the call of the observer of a node, which may be a Swift closure (node.c). Part of registry.h. */
#ifndef KVO_CLOSURES_H
#define KVO_CLOSURES_H

#include "registry/nodes.h"

/** Whether the compiler knows Swift's calling convention, so that the runtime can call closures itself. A closure is passed as two
 * arguments, its function and its context. */
#define KVO_CALLS_CLOSURES 0
#if defined(__has_attribute)
#if __has_attribute(swiftcall)
#undef KVO_CALLS_CLOSURES
#define KVO_CALLS_CLOSURES 1
typedef
    __attribute__((swiftcall)) void (*kvo_deliver)(const kvo_raw_change *change, kvo_raw_callback closure,
                                                   void *closure_context, __attribute__((swift_context)) void *context);
#endif
#endif

/** The ops of all closures. */
extern KVO_HIDDEN const kvo_observer_ops *_Atomic kvo__closure_ops;

static inline bool kvo__is_closure(const kvo_node *node) { return (node->options & KVO_NODE_IS_CLOSURE) != 0; }

/** The ops of a node of kind DIRECT. */
static inline const kvo_observer_ops *kvo__direct_ops(const kvo_node *node) {
  return kvo__is_closure(node) ? atomic_load_explicit(&kvo__closure_ops, memory_order_acquire) : node->ops;
}

/** Delivers to the closure of a node that has one. A function that captures nothing ignores its own context, and one that has a context
 * ignores the closure: see kvo_binding_observer. */
static inline void kvo__call_function(const kvo_raw_change *change, const kvo_node *node) {
#if KVO_CALLS_CLOSURES
  ((kvo_deliver)(void *)node->deliver)(change, node->closure, node->user_data, node->user_data);
#else
  (void)change, (void)node; /* Swift's compiler, which makes closures, compiles this file as well */
#endif
}

/** Calls the closure of a node that takes a word. */
static inline void kvo__call_with_word(const kvo_node *node, void *instance, const kvo_word_change *change) {
#if KVO_CALLS_CLOSURES
  typedef __attribute__((swiftcall)) void (*closure)(void *instance, const kvo_word_change *change,
                                                     __attribute__((swift_context)) void *context);
  ((closure)(void *)node->closure)(instance, change, node->user_data);
#else
  (void)node, (void)instance, (void)change;
#endif
}

/** Calls the observer of a node of kind DIRECT. */
static inline void kvo__call_node(const kvo_raw_change *change, const kvo_node *node) {
  if (__builtin_expect(KVO_CALLS_CLOSURES && kvo__is_closure(node), KVO_CALLS_CLOSURES))
    kvo__call_function(change, node);
  else
    node->ops->callback(change, node->user_data);
}

/** A callback and its argument that do what kvo__call_node does. */
KVO_HIDDEN void kvo__call_closure(const kvo_raw_change *change, void *node);
static inline kvo_raw_callback kvo__direct_callback(const kvo_node *node) {
  return kvo__is_closure(node) ? kvo__call_closure : node->ops->callback;
}
static inline void *kvo__direct_argument(const kvo_node *node) {
  return kvo__is_closure(node) ? (void *)(uintptr_t)node : node->user_data;
}

#endif /* KVO_CLOSURES_H */
