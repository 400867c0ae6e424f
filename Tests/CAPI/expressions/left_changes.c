/* left_changes.c - changes that are left with longjmp between their beginning and their end, far below the code that goes on: they are over
 * at the next change, and what they kept is given back. */
#include "allocator.h"
#include "below.h"

#include <kvo/kvo_binding.h>
#include <setjmp.h>

/* Local variables stay on the stack, where their addresses show what was left; and what a jump crosses may be lost. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0:detect_stack_use_after_return=0"; }

static jmp_buf out;

static item *object, *root, *near, *nearer;

/* -------------------------------------------------------------------------------------------------------- A setter -- */

static item *get_next(const item *of) { return of->next; }
static void leave_setter(item *of, item *next) {
  (void)of, (void)next;
  longjmp(out, 1);
}

static item *leaver_make(void) {
  static const kvo_property_spec next = {
      .name = "next", .type = "@", .getter = (kvo_function)get_next, .setter = (kvo_function)leave_setter};
  kvo_class_spec spec = {.struct_size = sizeof spec,
                         .name = "Leaver",
                         .instance_size = sizeof(item),
                         .properties = &next,
                         .property_count = 1};
  kvo_class *cls;
  kvo_object *made;
  CHECK_OK(kvo_class_register(&spec, &cls));
  CHECK_OK(kvo_object_create(cls, &made));
  return (item *)made;
}

static void set_and_be_left(void) { item_set_next(object, nearer); }

TEST("the old values of changes whose setters were left are given back at the next changes") {
  enum { ROUNDS = 40 };
  use_counting_allocator();
  ignore_faults();
  static watcher of_left, of_root;
  near = item_make(1);
  nearer = item_make(2);
  root = item_make(0);
  object = leaver_make();
  object->next = root->next = near;
  watch(object, "next.value", KVO_OLD | KVO_NEW, &of_left);
  watch(root, "next.value", KVO_OLD | KVO_NEW, &of_root);
  static long before;
  for (volatile int i = 0; i < ROUNDS; i++) {
    if (setjmp(out) == 0) call_below(set_and_be_left);
    item_set_next(root, i % 2 == 0 ? nearer : near);
    CHECK_EQ(of_root.calls, i + 1);
    if (i == ROUNDS / 2 - 1) before = live_blocks;
  }
  CHECK(live_blocks < before + 5);
  CHECK_EQ(of_left.calls, 0);
  item_set_value(near, 5);
  CHECK_EQ(of_left.calls, 1);
  CHECK_EQ(of_left.old_value.integer, 1);
  CHECK_OK(kvo_remove_observer(of_root.id));
  CHECK_OK(kvo_remove_observer(of_left.id));
}

/* -------------------------------------------------------------------------------------------------------- A frame -- */

__attribute__((noinline)) static void begin_and_leave(void) {
  kvo_frame frame;
  CHECK(kvo_frame_enter(&frame, as_object(object), kvo_key_hash("value", 5)) != 0);
  longjmp(out, 1);
}

TEST("a binding's change that was left before its end is over at the next change, also if a path was read before it") {
  ignore_faults();
  static watcher direct, path;
  object = item_make(1);
  root = item_make(0);
  root->next = near = item_make(2);
  watch(object, "value", KVO_NONE, &direct);
  for (volatile int i = 0; i < 5; i++) {
    item_set_value(object, 2);
    watch(root, "next.value", KVO_NONE, &path);
    if (setjmp(out) == 0) call_below(begin_and_leave);
    CHECK_EQ(direct.calls, 2 * i + 1);
    item_set_value(object, 3);
    CHECK_EQ(direct.calls, 2 * i + 2);
    CHECK_OK(kvo_remove_observer(path.id));
  }
  CHECK_OK(kvo_remove_observer(direct.id));
  CHECK_EQ(direct.destroyed, 1);
  CHECK_EQ(path.destroyed, 5);
  CHECK_EQ(path.calls, 0);
}
