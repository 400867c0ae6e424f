/* program.c - programs: decoded from an input of the fuzzer, and printed after a failure. */
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prefers the first object and the first paths, because interactions are more likely then. */
static int slot_from(uint8_t byte) { return byte % 8 < SLOTS ? 0 : byte % SLOTS; }
static int subject_from(uint8_t byte) { return byte < 5 * PATHS ? byte % PATHS : byte % 8; }

static bool ends_at_unkept(const operation *add) {
  const char *path = key_paths[add->subject % PATHS], *dot = strrchr(path, '.'), *last = dot != NULL ? dot + 1 : path;
  key end = key_named(last, (int)strlen(last));
  return end == NEXT || end == OWNED || end == BOX || end == WIDE || end == SINK;
}

/* Whether no earlier operation announces what a DID ends. */
static bool lacks_will(const program *of, const operation *did) {
  for (const operation *each = of->operations; each < did; each++)
    if (each->code == WILL && each->slot == did->slot && each->subject == did->subject) return false;
  return true;
}

/* Without KVO_FUZZ_ALL=1 a program lacks what is known to differ, except where differences.md says otherwise, so that a run finds
 * something else. */
static void leave_out_known(program *of) {
  bool coalesces = false, announces = false, binds = false;
  int silent = 0;
  for (int i = 0; i < of->count; i++) {
    coalesces |= of->operations[i].code == COALESCE || of->operations[i].code == BIND;
    announces |= of->operations[i].code == DID;
    binds |= of->operations[i].code == BIND;
  }
  for (operation *each = of->operations; each < of->operations + of->count; each++) {
    key any = each->subject % KEYS;
    bool adds = each->code == ADD || each->code == ADD_CLOSURE;
    if (each->code == WILL_INDEXES) each->code = WILL;
    if (each->code == PROXY) each->flags &= ~3;
    if (each->code == STORE && (any == NEXT || any == OWNED || (each->when & ACT_ON_SELF) != 0)) each->code = QUERY;
    if (each->code == ADD && ends_at_unkept(each)) each->argument &= ~KVO_OLD;
    if (adds && coalesces) each->argument &= ~KVO_PRIOR;
    if (each->code == DID && binds && lacks_will(of, each)) each->code = QUERY;
    if (each->code == KILL && silent > 0 && announces) each->code = QUERY;
    if (silent > 0) silent--;
    if (each->code == SILENTLY) silent = (each->flags & 3) + 1 > silent ? (each->flags & 3) + 1 : silent;
  }
}

void program_decode(program *out, const uint8_t *bytes, size_t size) {
  *out = (program){.is_whole = getenv("KVO_FUZZ_ALL") != NULL};
  for (size_t i = 0; i < HEADER_SIZE && i < size; i++) out->shapes[i] = bytes[i] % SHAPES;
  for (size_t at = HEADER_SIZE; at + OPERATION_SIZE <= size && out->count < PROGRAM_SIZE; at += OPERATION_SIZE) {
    const uint8_t *code = bytes + at;
    operation_code which = code[0] < RARE        ? code[0] % FREQUENT
                           : (code[5] & 16) != 0 ? LATER + code[0] % (OPERATIONS - LATER)
                                                 : FREQUENT + code[0] % (LATER - FREQUENT);
    out->operations[out->count++] = (operation){.code = which,
                                                .slot = slot_from(code[1]),
                                                .subject = subject_from(code[2]),
                                                .argument = code[3],
                                                .flags = code[4],
                                                .when = code[5] % 16};
  }
  if (!out->is_whole) leave_out_known(out);
}

/* ---------------------------------------------------------------------------------------------------------- Printing -- */

static void print_options(int options) {
  static const char *const names[] = {"new", "old", "initial", "prior"};
  for (int i = 0; i < 4; i++)
    if ((options >> i & 1) != 0) fprintf(stderr, " %s", names[i]);
  if ((options & 16) != 0) fprintf(stderr, " ends-with-object");
}

static const char *const closure_names[CLOSURES] = {"", "{value + other}", "{value odd ? next.value : other}",
                                                    "{other = 3 value}"};

static void print_operation(const operation *op) {
  const char *path = key_paths[op->subject % PATHS], *any = key_infos[op->subject % (KEYS + 1)].name,
             *settable = key_infos[op->subject % KEYS].name;
  int number = stored_for(op->subject % KEYS, op->argument);
  switch (op->code) {
    case CREATE: fprintf(stderr, "create object %d of shape %d", op->slot, op->argument % SHAPES); break;
    case KILL:
      fprintf(stderr, "kill object %d%s", op->slot, (op->flags & 1) != 0 ? "" : ", references to it stay");
      break;
    case SET:
      fprintf(stderr, "set %s of object %d to %d%s", settable, op->slot, number,
              (op->flags & 1) != 0 ? ", through a setter that was kept" : "");
      break;
    case STORE: fprintf(stderr, "store %d in %s of object %d, telling nobody", number, settable, op->slot); break;
    case SET_PATH:
      fprintf(stderr, "set path \"%s\" of object %d to %d (flags %d)", path, op->slot, op->argument, op->flags);
      break;
    case GET_PATH: fprintf(stderr, "get path \"%s\" of object %d", path, op->slot); break;
    case WILL: fprintf(stderr, "will change %s of object %d", any, op->slot); break;
    case WILL_INDEXES:
      fprintf(stderr, "will change indexes %x of %s of object %d, kind %d", (unsigned)op->argument, any, op->slot,
              op->flags & 3);
      break;
    case DID: fprintf(stderr, "did change %s of object %d", any, op->slot); break;
    case ADD:
      fprintf(stderr, "observe \"%s\" of object %d as observer %d with context %d, options", path, op->slot,
              op->flags & 3, op->flags >> 2 & 3);
      print_options(op->argument);
      fprintf(stderr, "; its callback runs the next %d", op->flags >> 6);
      break;
    case REMOVE: fprintf(stderr, "remove observation %d", op->subject); break;
    case CANCEL:
      fprintf(stderr, "cancel observation %d%s", op->subject, (op->flags & 1) != 0 ? " and wait" : "");
      break;
    case FORGED: fprintf(stderr, "remove an id that is nearly that of observation %d", op->subject); break;
    case REMOVE_FOR: fprintf(stderr, "remove observer %d of \"%s\" of object %d", op->flags & 3, path, op->slot); break;
    case REMOVE_FOR_CONTEXT:
      fprintf(stderr, "remove observer %d of \"%s\" of object %d, context %d", op->flags & 3, path, op->slot,
              op->flags >> 2 & 3);
      break;
    case QUERY: fprintf(stderr, "query object %d", op->slot); break;
    case PAUSE: fprintf(stderr, "pause observation %d", op->subject); break;
    case RESUME:
      fprintf(stderr, "resume observation %d%s", op->subject, (op->flags & 1) != 0 ? ", telling what it missed" : "");
      break;
    case SILENTLY:
      fprintf(stderr, "silence objects %x in the next %d", (unsigned)op->argument % (1 << SLOTS), (op->flags & 3) + 1);
      break;
    case COALESCE:
      fprintf(stderr, "coalesce changes of objects %x%s in the next %d", (unsigned)op->argument % (1 << SLOTS),
              (op->flags & 4) != 0 ? ", if they differ," : "", (op->flags & 3) + 1);
      break;
    case BIND:
      fprintf(stderr, "bind ");
      if ((op->flags & 4) != 0)
        fprintf(stderr, "property %d of object %d in both directions", op->flags >> 3 & 1, op->slot);
      else if (op->flags % SETTING != PATH)
        fprintf(stderr, "%s of the target", closure_names[op->flags % SETTING]);
      else
        fprintf(stderr, "\"%s\" of object %d", path, op->slot);
      fprintf(stderr, " to property %d of object %d", (op->argument & 7) % 5, op->argument >> 3 & 3);
      break;
    case PROXY:
      fprintf(stderr, "set %s of object %d to %d as a proxy, kind %d", settable, op->slot, number, (op->flags & 3) + 1);
      break;
    case ADD_CLOSURE:
      fprintf(stderr, "observe %s of object %d as observer %d, options",
              closure_names[1 + op->subject % (CLOSURES - 1)], op->slot, op->flags & 3);
      print_options(op->argument);
      fprintf(stderr, "; its callback runs the next %d", op->flags >> 6);
      break;
    case OPERATIONS:
    case RARE: break;
  }
  if (op->when != 0)
    fprintf(stderr, " [in a callback:%s%s%s%s]", (op->when & ACT_NOT_PRIOR) != 0 ? " not before" : "",
            (op->when & ACT_NOT_AFTER) != 0 ? " not after" : "", (op->when & ACT_ONCE) != 0 ? " once" : "",
            (op->when & ACT_ON_SELF) != 0 ? " itself" : "");
}

void program_print(const program *of, int last) {
  fprintf(stderr, "objects of shapes %d %d %d %d\n", of->shapes[0], of->shapes[1], of->shapes[2], of->shapes[3]);
  for (int i = 0; i < of->count; i++) {
    fprintf(stderr, "%s%3d ", i == last ? ">" : " ", i);
    print_operation(&of->operations[i]);
    fputc('\n', stderr);
  }
}

static void print_value(const char *name, value of) {
  static const char *const kinds[] = {"-", "nil", "", "object ", "string ", "box ", "wide ", "torn "};
  fprintf(stderr, " %s %s", name, kinds[of.kind]);
  if (of.kind >= INTEGER) fprintf(stderr, "%d", of.number);
}

void event_print(const event *of, const char *prefix) {
  fprintf(stderr, "%s", prefix);
  switch (of->kind) {
    case CALLED:
      fprintf(stderr, "observation %d called %s, object %d, path \"%s\", kind %d, observer %d, context %d", of->watch,
              of->prior ? "before" : "after", of->slot, of->path >= 0 ? key_paths[of->path] : "(another)", of->change,
              of->identity, of->context);
      print_value("old", of->before);
      print_value("new", of->after);
      if (of->index_count != 0) fprintf(stderr, " %d indexes %x", of->index_count, (unsigned)of->indexes);
      break;
    case EVALUATED: fprintf(stderr, "binding %d was evaluated %d times", of->watch, of->index_count); break;
    case RETURNED: fprintf(stderr, "returned %d: %s", of->status, kvo_status_string((kvo_status)of->status)); break;
    case FAULTED:
      fprintf(stderr, "fault KVO%04d", of->status);
      if (of->index_count != 0) fprintf(stderr, ", %d observations %x", of->index_count, (unsigned)of->indexes);
      break;
    case READ: print_value("read", of->after); break;
    case COUNTED: fprintf(stderr, "object %d has %d registrations", of->slot, of->index_count); break;
    case LISTED: fprintf(stderr, "object %d lists observation %d", of->slot, of->watch); break;
    case STORED:
      fprintf(stderr, "%s of object %d", key_infos[of->path].name, of->slot);
      print_value("is", of->after);
      break;
  }
  fputc('\n', stderr);
}
