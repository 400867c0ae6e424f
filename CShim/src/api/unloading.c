/* unloading.c - whether a module may be unloaded: what still has an address of it. */
#include "api/api.h"
#include "methods/methods.h"
#include "platform/modules.h"
#include "text/sink.h"

#include <kvo/kvo_fault.h>

/* A search for the addresses of a module. */
typedef struct unloading_search {
  kvo_module_range module;
  /** What has one, if something was found. */
  kvo_sink what;
  char text[400];
} unloading_search;

static bool has_function(const unloading_search *of, kvo_function function) {
  return kvo__is_in(&of->module, (uintptr_t)function);
}
static bool unloading_has(const unloading_search *of, const void *address) {
  return kvo__is_in(&of->module, (uintptr_t)address);
}

/* ------------------------------------------------------------------------------------------------------ Observations -- */

/* Whether an observation calls into the module, or has something there: what it calls, what it passes, the object itself. */
static bool is_used_by(const unloading_search *of, const kvo_node *node, const void *object) {
  if (unloading_has(of, object)) return true;
  if (kvo__is_direct(kvo__node_kind(node)) && kvo__is_closure(node) &&
      (has_function(of, (kvo_function)node->closure) || has_function(of, (kvo_function)node->deliver)))
    return true;
  const kvo_observer_ops *ops = kvo__node_ops(node);
  if (kvo__is_of_c(ops)) {
    const kvo_c_observer *observer = kvo__node_user_data(node);
    return has_function(of, (kvo_function)observer->callback) || has_function(of, (kvo_function)observer->destroy) ||
           unloading_has(of, observer->user_data);
  }
  return unloading_has(of, ops) || has_function(of, (kvo_function)ops->callback) ||
         has_function(of, (kvo_function)ops->destroy) || unloading_has(of, kvo__node_user_data(node)) ||
         kvo__bind_is_in(node, &of->module);
}

/* An observation that has ended: a change in progress on any thread may have its node, and calls its `destroy` afterwards; or that is
 * running. */
static void note_ended(kvo_node *node, void *arg) {
  unloading_search *of = arg;
  if (of->what.total > 0 || !is_used_by(of, node, NULL)) return;
  kvo__append(&of->what, "observation %llu has ended, but a change in progress, or one that was left, may use it",
              (unsigned long long)node->id);
  kvo_place place = kvo__site_place(node->site);
  if (place.file != NULL) kvo__append(&of->what, " (%s:%lu)", place.file, (unsigned long)place.line);
}

static void unloading_note(kvo_node *node, void *arg) {
  unloading_search *of = arg;
  if (of->what.total > 0) return;
  kvo_fault_observation described;
  kvo__describe_node(node, &described);
  if (!is_used_by(of, node, described.object)) return;
  if (kvo__node_kind(node) == KVO_NODE_DEATH)
    kvo__append(&of->what, "the death of %s@", described.object_class);
  else
    kvo__append(&of->what, "\"%s\" of %s@", described.key_path, described.object_class);
  kvo__put_address(&of->what, (uintptr_t)described.object);
  kvo__append(&of->what, " is still observed");
  if (described.file != NULL)
    kvo__append(&of->what, " (%.*s:%lu)", (int)described.file_length, described.file, (unsigned long)described.line);
}

/* -------------------------------------------------------------------------------------------------- Whatever is left -- */

static void look_at_handlers(unloading_search *of) {
  void *arg;
  kvo_fault_handler handler = kvo_get_fault_handler(&arg);
  bool is_used = handler != NULL && (has_function(of, (kvo_function)handler) || unloading_has(of, arg));
  if (!is_used && (handler = kvo_get_thread_fault_handler(&arg)) != NULL)
    is_used = has_function(of, (kvo_function)handler) || unloading_has(of, arg);
  if (is_used) kvo__append(&of->what, "a fault handler is still set");
}

static void look_at_methods(unloading_search *of, const kvo_method *method, const char *what) {
  if (method != NULL && of->what.total == 0)
    kvo__append(&of->what, "%s '%s' of class '%s'", what, method->name, method->cls->name);
}

/* Accessors are their size, functions, and what is passed to them. */
static bool has_accessors(const unloading_search *of, const void *accessors, size_t size) {
  for (size_t at = sizeof(size_t); at < size; at += sizeof(void *)) {
    const void *address;
    memcpy(&address, (const char *)accessors + at, sizeof address);
    if (unloading_has(of, address)) return true;
  }
  return false;
}

static bool unloading_is_of(const unloading_search *of, const kvo_property *property) {
  if (property->ops != NULL && unloading_has(of, property->ops)) return true;
  if (property->to_many == NULL)
    return has_function(of, property->getter) || has_function(of, property->setter) ||
           unloading_has(of, property->user);
  return property->to_many->is_list ? has_accessors(of, &property->to_many->list, sizeof property->to_many->list)
                                    : has_accessors(of, &property->to_many->members, sizeof property->to_many->members);
}

static bool is_class_of(const unloading_search *of, const kvo_class *cls) {
  bool is_used = unloading_has(of, cls->given_name) || has_function(of, (kvo_function)cls->finalize) ||
                 has_function(of, (kvo_function)cls->retain) || has_function(of, (kvo_function)cls->release) ||
                 (cls->coding != NULL && unloading_has(of, cls->coding->user));
  if (cls->coding != NULL)
    is_used = is_used || has_function(of, (kvo_function)cls->coding->value_for_undefined_key) ||
              has_function(of, (kvo_function)cls->coding->set_value_for_undefined_key) ||
              has_function(of, (kvo_function)cls->coding->set_nil_value_for_key) ||
              has_function(of, (kvo_function)cls->coding->validate);
  for (size_t i = 0; i < cls->property_count && !is_used; i++) is_used = unloading_is_of(of, cls->properties[i]);
  return is_used;
}

static void look_at_classes(unloading_search *of) {
  if (of->what.total > 0) return;
  kvo__classes_lock();
  const kvo_class *each = kvo__classes_first();
  while (each != NULL && (atomic_load(&each->is_retired) || !is_class_of(of, each))) each = each->next;
  if (each != NULL) kvo__append(&of->what, "class '%s' is still registered", each->name);
  kvo__classes_unlock();
}

/* ------------------------------------------------------------------------------------------------------------ Asking -- */

static kvo_status unloading_look(const char *function, const void *address, bool at_classes) {
  unloading_search of;
  if (!kvo__module_may_go(address, &of.module)) return KVO_OK;
  of.what = kvo__sink_of(of.text, sizeof of.text);
  kvo__world_stop();
  kvo__ids_visit(KVO_NODE_DEATH, unloading_note, &of);
  kvo__ids_visit_ended(note_ended, &of);
  kvo__world_resume();
  kvo_observation ends = of.what.total == 0 ? kvo__end_in(&of.module) : 0;
  if (ends != 0) kvo__append(&of.what, "the end of observation %llu is still waited for", (unsigned long long)ends);
  if (of.what.total == 0) look_at_handlers(&of);
  look_at_methods(&of, kvo__hook_in(&of.module), "a hook is still on method");
  if (at_classes) look_at_methods(&of, kvo__method_in(&of.module), "it has method");
  if (at_classes) look_at_classes(&of);
  if (of.what.total == 0) return KVO_OK;
  kvo__sink_end(&of.what);
  return kvo__fail(KVO_ERROR_BUSY, "%s: the module cannot be unloaded: %s", function, of.text);
}

kvo_status kvo__module_is_unused(const char *function, const void *address) {
  return unloading_look(function, address, false);
}

kvo_status kvo_can_unload(const void *address) {
  if (address == NULL) return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_can_unload: address is NULL");
  return unloading_look("kvo_can_unload", address, true);
}
