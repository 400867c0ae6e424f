/* readers.pml - a model of how changes protect the nodes that they read, for spin; scripts/check-model.sh checks it.
 *
 * Two threads make changes of one object, which each thread protects by its mark or by counting itself, while a third thread removes two
 * observations, one after the other. Documentation/Design.md, "Readers and epochs", has the argument that this checks; the functions are
 * those of CShim/src/registry (nodes.c, readers.h) and CShim/src/changes (set.c, reading.h). Each thread has a store buffer, as on x86: a
 * plain store reaches the memory later than the thread's own next loads. An atomic exchange empties the buffer of its thread, membarrier(2)
 * those of all threads.
 *
 * What must hold: no thread reads a node that was freed, and in the end both nodes are freed.
 *
 * Each of these macros leaves out one step, and the model must then find an error: NO_BARRIER, NO_SECOND_LOOK, COUNTED_LATE, NO_WAITERS,
 * NO_ENTERED. */

#define CHANGES 2 /* of each thread */

/* kvo_info.reader; 0 and 1 are the threads. */
#define NOBODY 2
#define ALL 3
#define COUNTED 4
byte reader = NOBODY;

byte newest = 1;     /* the node in the list; 0: none */
byte counted = 0;    /* readers in kvo_info.state */
bool freed[3];
bool garbage[3];     /* removed, and to be freed by the last reader */
byte waiters = 0;
bool list_is_locked = false;
byte finished = 0;

/* A thread's mark, as it is in memory, and the buffer of the stores to it. */
bool reads[2];
bool entered[2];
mtype = { CLEAR, PUSH, POP };
chan buffer[2] = [6] of { mtype };
byte clears[2]; /* how many CLEAR are in the buffer: the thread's own load sees them */

inline apply(t, store) {
  if
  :: store == CLEAR -> entered[t] = false; clears[t]--
  :: store == PUSH -> reads[t] = true
  :: store == POP -> reads[t] = false
  fi
}

/* The processor writes a buffered store to memory, at any time. */
active [2] proctype processor() {
  mtype store;
end:
  do
  :: atomic { buffer[_pid]?store -> apply(_pid, store) }
  od
}

inline drain(t) {
  do
  :: nempty(buffer[t]) -> buffer[t]?store; apply(t, store)
  :: empty(buffer[t]) -> break
  od
}

inline free_garbage() {
  if
  :: counted == 0 && garbage[1] -> garbage[1] = false; assert(!freed[1]); freed[1] = true
  :: else
  fi;
  if
  :: counted == 0 && garbage[2] -> garbage[2] = false; assert(!freed[2]); freed[2] = true
  :: else
  fi
}

inline leave(t) { atomic { drain(t); assert(counted > 0); counted--; free_garbage() } }

/* kvo__mark_take */
inline take(t) {
  atomic { !list_is_locked -> drain(t); list_is_locked = true };
  was = entered[t];
  entered[t] = false;
  reads[t] = false;
  list_is_locked = false;
  if
  :: was -> leave(t)
  :: else
  fi
}

/* kvo__stop_reading */
inline stop_reading(t) {
  buffer[t]!POP;
  seen = waiters;
#ifdef NO_WAITERS
  seen = 0;
#endif
  was = (clears[t] == 0 && entered[t]);
#ifdef NO_ENTERED
  was = false;
#endif
  if
  :: seen != 0 || was -> take(t)
  :: else
  fi
}

inline read_nodes() {
  node = newest;
  if
  :: node != 0 -> assert(!freed[node]); assert(!freed[node])
  :: else
  fi
}

proctype thread(byte t) {
  byte changes = 0, node, seen;
  byte found;
  bool was, by_mark;
  mtype store;
  do
  :: changes < CHANGES ->
    changes++;
    /* begin */
    found = reader;
    by_mark = (found == t || found == ALL);
    if
    :: by_mark
    :: !by_mark -> /* kvo__read_by_marks: at once if it is the first, otherwise now and then */
      if
      :: atomic { drain(t); if
         :: reader == found && (found == NOBODY || found == COUNTED) -> reader = t; by_mark = true
         :: reader == found && found != NOBODY && found != COUNTED -> reader = ALL; by_mark = true
         :: reader != found
         fi }
      :: found != NOBODY
      fi
    fi;
    if
    :: by_mark ->
      atomic { buffer[t]!CLEAR; clears[t]++ };
      buffer[t]!PUSH;
#ifndef NO_SECOND_LOOK
      found = reader;
      by_mark = (found == t || found == ALL);
#endif
      if
      :: by_mark -> read_nodes()
      :: else
      fi;
      stop_reading(t)
    :: else
    fi;
    if
    :: !by_mark ->
      atomic { drain(t); counted++ };
      read_nodes();
      leave(t)
    :: else
    fi
  :: else -> break
  od;
  atomic { drain(t); finished++ }
}

inline count_marks(t) {
  if
  :: reads[t] && !entered[t] -> entered[t] = true; atomic { counted++ }; any = true
  :: else
  fi
}

/* kvo__node_retire of the node in the list. */
inline retire(removed, next) {
  newest = next;
  is_unread = (counted == 0); /* one exchange */
  any = false;
  found = reader;
  if
  :: found != NOBODY && found != COUNTED ->
#ifndef COUNTED_LATE
    reader = COUNTED;
#endif
    waiters++;
#ifndef NO_BARRIER
    atomic { drain(0); drain(1) };
#endif
#ifdef COUNTED_LATE
    reader = COUNTED;
#endif
    atomic { !list_is_locked -> list_is_locked = true };
    count_marks(0);
    count_marks(1);
    list_is_locked = false;
    waiters--
  :: else
  fi;
  if
  :: is_unread && !any -> assert(!freed[removed]); freed[removed] = true
  :: else -> atomic { garbage[removed] = true; free_garbage() }
  fi
}

proctype remover() {
  byte found;
  bool any, is_unread;
  mtype store;
  retire(1, 2);
  retire(2, 0);
  finished == 2;
  assert(freed[1] && freed[2] && counted == 0)
}

init { atomic { run thread(0); run thread(1); run remover() } }
