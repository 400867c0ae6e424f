/* call.c - the call of a method with its hooks. */
#include "methods/methods.h"

/* A call in progress. The program's view of it comes first. */
typedef struct running {
  kvo_call view;
  kvo_method *method;
  /** The addresses of the arguments, the object's first, and room for user. */
  void **arguments;
  kvo_chain *chains[2];
  /** How far the chains were searched for the next hook instead of the function. */
  uint32_t next[2];
  kvo_hook_when phase;
} running;

static bool applies(const running *of, const kvo_hooking *hook, kvo_hook_when when) {
  if (hook == NULL || hook->when != when || !atomic_load_explicit(&hook->live, memory_order_acquire)) return false;
  if (hook->cls == NULL || hook->cls == of->method->cls) return true;
  const kvo_class *cls = kvo_object_class(of->view.object);
  while (cls != NULL && cls != hook->cls) cls = cls->superclass;
  return cls != NULL;
}

/* The next hook of this kind in both chains, or NULL. */
static kvo_hooking *call_next_of(const running *of, uint32_t at[2], kvo_hook_when when) {
  kvo_hooking *found[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    const kvo_chain *chain = of->chains[i];
    if (chain == NULL || chain->kinds[when] == 0) continue;
    while (at[i] < chain->count && !applies(of, chain->links[at[i]].hook, when)) at[i]++;
    if (at[i] < chain->count) found[i] = chain->links[at[i]].hook;
  }
  if (found[0] == NULL && found[1] == NULL) return NULL;
  bool second =
      found[0] == NULL || (found[1] != NULL && (found[1]->order != found[0]->order ? found[1]->order < found[0]->order
                                                                                   : found[1]->id < found[0]->id));
  at[second]++;
  return found[second];
}

static bool call_has(const running *of, kvo_hook_when when) {
  return (of->chains[0] != NULL && of->chains[0]->kinds[when] != 0) ||
         (of->chains[1] != NULL && of->chains[1]->kinds[when] != 0);
}

static void call_run_all(running *of, kvo_hook_when when) {
  of->phase = when;
  const kvo_chain *only = of->chains[0] == NULL ? of->chains[1] : of->chains[1] == NULL ? of->chains[0] : NULL;
  if (only != NULL) {
    for (uint32_t i = 0; i < only->count; i++) {
      const kvo_hooking *hook = only->links[i].hook;
      if (applies(of, hook, when)) hook->function(&of->view, hook->user_data);
    }
    return;
  }
  uint32_t at[2] = {0, 0};
  for (kvo_hooking *hook; (hook = call_next_of(of, at, when)) != NULL;) hook->function(&of->view, hook->user_data);
}

/* Moves an integer result, which libffi has widened to a register, to where a value of its type is. */
static void narrow(const kvo_method *method, unsigned char *result) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  const ffi_type *type = method->result;
  bool is_integer = type->type == FFI_TYPE_INT || (type->type >= FFI_TYPE_UINT8 && type->type <= FFI_TYPE_SINT32);
  if (is_integer) memmove(result, result + sizeof(ffi_arg) - type->size, type->size);
#else
  (void)method, (void)result; /* its first bytes are the value */
#endif
}

/* Calls a function with at most one parameter, a scalar, or with two usual ones, and with a usual result, by its exact type. False for
 * others. */
KVO_CALLS_BY_SIGNATURE
static bool call_directly(const kvo_method *method, void **arguments, void *result) {
  kvo_object *object = *(kvo_object **)arguments[0];
  const kvo_function function = method->function;
#define CALL(code, T)                                                                                                  \
  case code:                                                                                                           \
    RESULT((KVO_RESULT(*)(kvo_object *, T))function)(object, *(T *)arguments[1]);                                      \
    return true;
#define CALL_TWO(code, T, other, U)                                                                                    \
  case KVO_SHAPE(code, other):                                                                                         \
    RESULT((KVO_RESULT(*)(kvo_object *, T, U))function)(object, *(T *)arguments[1], *(U *)arguments[2]);               \
    return true;
#define CALLS                                                                                                          \
  switch (method->shape) {                                                                                             \
    case 'v':                                                                                                          \
      RESULT((KVO_RESULT(*)(kvo_object *))function)(object);                                                           \
      return true;                                                                                                     \
      KVO_FOR_EACH_SCALAR(CALL)                                                                                        \
      CALL_TWO('i', int, 'i', int)                                                                                     \
      CALL_TWO('i', int, 'd', double)                                                                                  \
      CALL_TWO('i', int, '^', void *)                                                                                  \
      CALL_TWO('d', double, 'i', int)                                                                                  \
      CALL_TWO('d', double, 'd', double)                                                                               \
      CALL_TWO('d', double, '^', void *)                                                                               \
      CALL_TWO('^', void *, 'i', int)                                                                                  \
      CALL_TWO('^', void *, 'd', double)                                                                               \
      CALL_TWO('^', void *, '^', void *)                                                                               \
    default: return false;                                                                                             \
  }
  switch (method->result_type[0]) {
#define RESULT
#define KVO_RESULT void
    case 'v': CALLS
#undef RESULT
#undef KVO_RESULT
#define RESULT *(KVO_RESULT *)result =
#define KVO_RESULT int
    case 'i': CALLS
#undef KVO_RESULT
#define KVO_RESULT double
    case 'd': CALLS
#undef KVO_RESULT
#define KVO_RESULT void *
    case '@':
    case '^':
    case '*': CALLS
#undef KVO_RESULT
#undef RESULT
#undef CALLS
#undef CALL
#undef CALL_TWO
    default: return false;
  }
}

static void call_function(kvo_method *method, void **arguments, void *result) {
  if (call_directly(method, arguments, result)) return;
  ffi_call(&method->cif, method->function, result, arguments);
  narrow(method, result);
}

static void proceed(running *of) {
  kvo_hooking *hook = call_next_of(of, of->next, KVO_HOOK_INSTEAD);
  if (hook != NULL)
    hook->function(&of->view, hook->user_data);
  else
    call_function(of->method, of->arguments, of->view.result);
}

kvo_status kvo_call_proceed(kvo_call *call) {
  running *of = (running *)call;
  if (of == NULL || of->phase != KVO_HOOK_INSTEAD)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "kvo_call_proceed: the hook is not one instead of a method");
  uint32_t before[2] = {of->next[0], of->next[1]};
  proceed(of);
  of->phase = KVO_HOOK_INSTEAD;
  memcpy(of->next, before, sizeof before);
  return KVO_OK;
}

static void run_hooked(kvo_method *method, void **arguments, void *result, kvo_chain *const chains[2]) {
  kvo_value values[KVO_MAX_PARAMETERS];
  for (size_t i = 0; i < method->count; i++) {
    bool is_nil = (method->references >> i & 1) != 0 && *(void **)arguments[1 + i] == NULL;
    values[i] = (kvo_value){method->types[i], method->arguments[1 + i]->size, is_nil ? NULL : arguments[1 + i]};
  }
  size_t size = method->result->type == FFI_TYPE_VOID ? 0 : method->result->size;
  running of;
  of.view =
      (kvo_call){*(kvo_object **)arguments[0], method->name, values, method->count, method->result_type, size, result};
  of.method = method;
  of.arguments = arguments;
  of.chains[0] = chains[0];
  of.chains[1] = chains[1];
  if (size > sizeof(ffi_arg))
    memset(result, 0, size);
  else if (size != 0)
    *(ffi_arg *)result = 0;
  if (call_has(&of, KVO_HOOK_BEFORE)) call_run_all(&of, KVO_HOOK_BEFORE);
  if (call_has(&of, KVO_HOOK_INSTEAD)) {
    of.phase = KVO_HOOK_INSTEAD;
    of.next[0] = of.next[1] = 0;
    proceed(&of);
  } else {
    call_function(method, arguments, result);
  }
  if (call_has(&of, KVO_HOOK_AFTER)) call_run_all(&of, KVO_HOOK_AFTER);
  for (int i = 0; i < 2; i++) kvo__chain_let_go(chains[i]);
}

/* Calls a method. `arguments` has room for user, if the method has it, and `result` for the result and for a register, because libffi
 * widens small integers. */
static void call_run(kvo_method *method, void **arguments, void *result) {
  kvo_chain *chains[2];
  if (kvo__chains_take(method, *(kvo_object **)arguments[0], chains))
    run_hooked(method, arguments, result, chains);
  else
    call_function(method, arguments, result);
}

static void call_with_user(kvo_method *method, void **arguments, void *result) {
  void *all[1 + KVO_MAX_PARAMETERS + 1];
  memcpy(all, arguments, (1 + method->count) * sizeof *all);
  all[1 + method->count] = &method->user;
  call_run(method, all, result);
}

void kvo__method_called(ffi_cif *cif, void *result, void **arguments, void *user_data) {
  kvo_method *method = user_data;
  (void)cif;
  if (method->with_user)
    call_with_user(method, arguments, result);
  else
    call_run(method, arguments, result);
  kvo__widen_result(method->result, result, result);
}

kvo_status kvo_object_call(kvo_object *object, const char *name, void *const *arguments, void *result) {
  static const char function[] = "kvo_object_call";
  if (object == NULL || name == NULL)
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: object or name is NULL", function);
  const kvo_class *cls = kvo_object_class(object);
  kvo_method *method = kvo__method_find(cls, name);
  if (method == NULL)
    return kvo__fail(KVO_ERROR_UNDEFINED_KEY, "%s: class '%s' has no method '%s'", function, kvo_class_name(cls), name);
  bool gives = method->result->type != FFI_TYPE_VOID;
  if ((gives && result == NULL) || (method->count > 0 && arguments == NULL))
    return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: method '%s': %s is NULL", function, name,
                     gives && result == NULL ? "result" : "arguments");
  void *all[1 + KVO_MAX_PARAMETERS + 1] = {&object};
  for (size_t i = 0; i < method->count; i++) {
    if (arguments[i] == NULL)
      return kvo__fail(KVO_ERROR_INVALID_ARGUMENT, "%s: method '%s': an argument's address is NULL", function, name);
    all[1 + i] = arguments[i];
  }
  all[1 + method->count] = &method->user;
  union {
    max_align_t aligned;
    char bytes[KVO_MAX_RESULT];
    ffi_arg widened;
  } typed;
  call_run(method, all, &typed);
  if (gives) memcpy(result, &typed, method->result->size);
  return KVO_OK;
}
