/* methods.c - the target fuzz_methods: methods and the hooks on them.
 *
 * The input is a sequence of steps: calls, hooks that are added and removed, objects that die. A model runs in step with each call:
 * whenever the runtime calls a hook or the method, it has to be what the model expects next. Hooks act in their calls as the input says. */
#include <kvo/kvo.h>
#include <kvo/kvo_method.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Callbacks and accessors need not use all that they are given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

enum { OBJECTS = 3, METHODS = 4, MOST_HOOKS = 64, MOST_CALLS = 4 };

/* The last object is of the subclass, which has its own "scaled". */
typedef enum method { PLAIN, SCALED, COUNTED, OWN_SCALED } method;

typedef struct hooked {
  kvo_hook id;
  bool live, on_class;
  /** The number of an object, or 1 for the subclass. */
  int on;
  method of;
  kvo_hook_when when;
  int order, destroyed;
} hooked;

/* A call in progress: the hooks that it began with, in their order, and how far it is. */
typedef struct call {
  int object;
  method of;
  kvo_hook_when stage;
  int hooks[MOST_HOOKS], count, at;
  long result;
} call;

static kvo_class *classes[2];
static kvo_object objects[OBJECTS];
static hooked hooks[MOST_HOOKS];
static call calls[MOST_CALLS];
static int hook_count, depth, actions;
static long fails_in;

static void fail(const char *what) {
  fprintf(stderr, "\nfuzz_methods: %s; the last error: %s\n", what, kvo_last_error());
  abort();
}

static void expect(bool condition, const char *what) {
  if (!condition) fail(what);
}

static const uint8_t *at, *end;
static unsigned byte(void) { return at < end ? *at++ : 0; }

/* ----------------------------------------------------------------------------------------------------------- The model -- */

static method method_of(int object, method name) { return object == 2 && name == SCALED ? OWN_SCALED : name; }

static bool applies(const hooked *hook, int object, method of) {
  return hook->live && hook->of == of && (hook->on_class ? hook->on == 0 || object == 2 : hook->on == object);
}

static void begin_call(int object, method of) {
  call *made = &calls[depth++];
  *made = (call){.object = object, .of = of, .stage = KVO_HOOK_BEFORE};
  for (int i = 0; i < hook_count; i++) {
    if (!applies(&hooks[i], object, of)) continue;
    int place = made->count++;
    for (; place > 0 && hooks[made->hooks[place - 1]].order > hooks[i].order; place--)
      made->hooks[place] = made->hooks[place - 1];
    made->hooks[place] = i;
  }
}

/* The position of the next hook that is called, or the count. */
static int next_in(const call *of, kvo_hook_when when) {
  int next = of->at;
  while (next < of->count && !(hooks[of->hooks[next]].live && hooks[of->hooks[next]].when == when)) next++;
  return next;
}

/* Goes on to a stage; what is left of the one before must have run. */
static void advance(call *of, kvo_hook_when to) {
  while (of->stage < to) {
    expect(of->stage == KVO_HOOK_INSTEAD || next_in(of, of->stage) == of->count, "a hook was left out");
    of->stage++;
    of->at = 0;
  }
  expect(of->stage == to, "a hook runs too late");
}

static void expect_function(method of) {
  expect(depth > 0 && calls[depth - 1].of == of, "another method was called");
  advance(&calls[depth - 1], KVO_HOOK_INSTEAD);
  expect(next_in(&calls[depth - 1], KVO_HOOK_INSTEAD) == calls[depth - 1].count, "a hook instead was left out");
}

/* --------------------------------------------------------------------------------------------------------- The methods -- */

static int plain(kvo_object *object, int by) {
  expect_function(PLAIN);
  expect(object == &objects[calls[depth - 1].object], "the method of another object was called");
  return (int)(calls[depth - 1].result = by + 1);
}
static double scaled(kvo_object *object, double by, const char *text) {
  expect_function(SCALED);
  expect(text == NULL || strcmp(text, "text") == 0, "an argument is another one");
  return (double)(calls[depth - 1].result = (long)by * 2);
}
static double own_scaled(kvo_object *object, double by, const char *text) {
  expect_function(OWN_SCALED);
  return (double)(calls[depth - 1].result = (long)by * 3);
}
static signed char counted(kvo_object *object, signed char by, void *user) {
  expect_function(COUNTED);
  expect(user == &fails_in, "the user data of a method is another one");
  return (signed char)(calls[depth - 1].result = (signed char)-by);
}

static const kvo_method_spec specs[] = {{.name = "plain", .type = "i@i", .function = (kvo_function)plain},
                                        {.name = "scaled", .type = "d@d*", .function = (kvo_function)scaled},
                                        {.name = "counted",
                                         .type = "c@c",
                                         .function = (kvo_function)counted,
                                         .flags = KVO_METHOD_WITH_USER,
                                         .user = &fails_in},
                                        {.name = "scaled", .type = "d@d*", .function = (kvo_function)own_scaled}};

static long result_of(const kvo_call *of) {
  switch (of->result_type[0]) {
    case 'i': return *(int *)of->result;
    case 'd': return (long)*(double *)of->result;
    default: return *(signed char *)of->result;
  }
}

static void write_result(kvo_call *of, long value) {
  switch (of->result_type[0]) {
    case 'i': *(int *)of->result = (int)value; break;
    case 'd': *(double *)of->result = (double)value; break;
    default: *(signed char *)of->result = (signed char)value;
  }
}

static void call_method(int object, method name, unsigned how, signed char by) {
  if (depth == MOST_CALLS) return;
  int before = depth;
  begin_call(object, method_of(object, name));
  const call *made = &calls[before];
  bool is_hooked = false;
  for (int i = 0; i < hook_count; i++) is_hooked = is_hooked || (hooks[i].live && hooks[i].of == made->of);
  kvo_object *on = &objects[object];
  kvo_function function = kvo_object_method(on, specs[name].name);
  expect((function == specs[made->of].function) == (!is_hooked && name != COUNTED),
         "the function is not the program's own one, or is although it is hooked");
  char *text = how & 2 ? "text" : NULL;
  double real = by;
  int integer = by;
  void *arguments[] = {name == PLAIN ? (void *)&integer : name == SCALED ? (void *)&real : (void *)&by, &text};
  union {
    int integer;
    double real;
    signed char character;
  } room;
  long result;
  if (how & 1) expect(kvo_object_call(on, specs[name].name, arguments, &room) == KVO_OK, "a call was refused");
  switch (name) {
    case PLAIN: result = how & 1 ? room.integer : ((int (*)(kvo_object *, int))function)(on, integer); break;
    case COUNTED:
      result = how & 1 ? room.character : ((signed char (*)(kvo_object *, signed char))function)(on, by);
      break;
    default:
      result = (long)(how & 1 ? room.real : ((double (*)(kvo_object *, double, char *))function)(on, real, text));
  }
  expect(result == made->result, "the result is another one");
  advance(&calls[before], KVO_HOOK_AFTER);
  expect(next_in(made, KVO_HOOK_AFTER) == made->count, "a hook after the method was left out");
  depth = before;
}

/* ----------------------------------------------------------------------------------------------------------- The hooks -- */

static void destroy(void *user_data) {
  hooked *hook = user_data;
  expect(!hook->live, "a hook that has not ended was destroyed");
  expect(hook->destroyed++ == 0, "a hook was destroyed twice");
}

static void act(kvo_call *of, unsigned self);

static void called(kvo_call *of, void *user_data) {
  hooked *hook = user_data;
  expect(depth > 0, "a hook runs without a call");
  call *in = &calls[depth - 1];
  expect(of->object == &objects[in->object], "a hook got another object");
  advance(in, hook->when);
  int next = next_in(in, hook->when);
  expect(next < in->count && hook == &hooks[in->hooks[next]], "another hook was to be called");
  expect(hook->destroyed == 0, "a hook runs after its destroy");
  expect(result_of(of) == in->result, "a hook saw another result");
  in->at = next + 1;
  act(of, (unsigned)(hook - hooks));
}

static void *allocate(size_t size, void *arg) { return fails_in > 0 && --fails_in == 0 ? NULL : malloc(size); }
static void deallocate(void *memory, void *arg) { free(memory); }

static void add_hook(void) {
  if (hook_count == MOST_HOOKS) return;
  unsigned what = byte(), where = byte();
  hooked *made = &hooks[hook_count++];
  *made = (hooked){.when = KVO_HOOK_BEFORE + what % 3, .order = (int)(what / 3 % 5) - 2, .on_class = where & 1};
  made->on = (int)(where / 2 % (made->on_class ? 2 : OBJECTS));
  method name = (method)(where / 8 % 3);
  made->of = method_of(made->on_class ? 2 * made->on : made->on, name);
  kvo_hook_spec spec = {.struct_size = sizeof spec,
                        .method = specs[name].name,
                        .when = made->when,
                        .order = made->order,
                        .function = called,
                        .user_data = made,
                        .destroy = destroy};
  made->live = true; /* no call begins before the return */
  fails_in = what >= 200 ? 1 + what % 4 : 0;
  kvo_status status = made->on_class ? kvo_class_hook(classes[made->on], &spec, &made->id)
                                     : kvo_object_hook(&objects[made->on], &spec, &made->id);
  expect(status == KVO_OK || (status == KVO_ERROR_OUT_OF_MEMORY && what >= 200), "a hook was refused");
  fails_in = 0;
  made->live = status == KVO_OK;
  if (made->live)
    expect(made->id > 0, "a hook has no id");
  else
    made->destroyed = 1;
}

static void remove_hook(unsigned number) {
  if (hook_count == 0) return;
  hooked *hook = &hooks[number % (unsigned)hook_count];
  bool was_live = hook->live;
  hook->live = false;
  expect(kvo_hook_remove(hook->id) == (was_live ? KVO_OK : KVO_ERROR_NOT_REGISTERED), "a removal has another status");
}

static void act(kvo_call *of, unsigned self) {
  call *in = &calls[depth - 1];
  for (unsigned left = byte() % 4; left > 0 && actions > 0; left--, actions--) {
    unsigned what = byte();
    switch (what % 6) {
      case 0: add_hook(); break;
      case 1: remove_hook(what & 64 ? self : byte()); break;
      case 2: call_method((int)(what / 8 % OBJECTS), (method)(what / 32 % 3), byte(), (signed char)byte()); break;
      case 3: write_result(of, in->result = (signed char)byte()); break;
      default: {
        int position = in->at;
        bool may_proceed = in->stage == KVO_HOOK_INSTEAD;
        expect((kvo_call_proceed(of) == KVO_OK) == may_proceed, "a hook may proceed, or may not, against its kind");
        in->at = position;
        expect(result_of(of) == in->result, "the result is another one after kvo_call_proceed");
      }
    }
  }
}

/* -------------------------------------------------------------------------------------------------------------- Steps -- */

static void begin_object(int number) {
  expect(kvo_object_init(&objects[number], classes[number == 2]) == KVO_OK, "no object");
}

static void end_object(int number) {
  for (int i = 0; i < hook_count; i++)
    if (!hooks[i].on_class && hooks[i].on == number) hooks[i].live = false;
  kvo_object_finish(&objects[number]);
}

static void check_ends(void) {
  for (int i = 0; i < hook_count; i++)
    expect(hooks[i].destroyed == !hooks[i].live, "a hook that has ended was not destroyed");
}

static void step(void) {
  unsigned what = byte();
  actions = 32;
  switch (what % 8) {
    case 0:
    case 1:
    case 2: add_hook(); break;
    case 3: remove_hook(byte()); break;
    case 4:
      end_object((int)(what / 8 % OBJECTS));
      check_ends();
      begin_object((int)(what / 8 % OBJECTS));
      break;
    default: call_method((int)(what / 8 % OBJECTS), (method)(what / 32 % 3), what % 4, (signed char)byte());
  }
  check_ends();
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerInitialize(int *count, char ***arguments) {
  kvo_set_allocator(allocate, deallocate, NULL);
  kvo_class_spec spec = {.struct_size = sizeof spec, .name = "Base", .instance_size = sizeof(kvo_object)};
  expect(kvo_class_register(&spec, &classes[0]) == KVO_OK, "no class");
  spec.name = "Sub";
  spec.superclass = classes[0];
  expect(kvo_class_register(&spec, &classes[1]) == KVO_OK, "no class");
  expect(kvo_class_add_methods(classes[0], specs, 3, sizeof *specs) == KVO_OK, "no methods");
  expect(kvo_class_add_methods(classes[1], &specs[OWN_SCALED], 1, sizeof *specs) == KVO_OK, "no methods");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  at = bytes, end = bytes + size;
  hook_count = depth = 0;
  for (int i = 0; i < OBJECTS; i++) begin_object(i);
  for (int steps = 0; at < end && steps < 64; steps++) step();
  for (int i = 0; i < OBJECTS; i++) end_object(i);
  check_ends();
  for (int i = 0; i < hook_count; i++)
    if (hooks[i].live) remove_hook((unsigned)i);
  check_ends();
  return 0;
}
