/* counted.c - see counted.h. */
#include "counted.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct counted {
  kvo_object header;
  _Atomic int references;
  pthread_mutex_t lock;
  counted *next;
  int count;
};

void (*counted_has_read)(counted *of);
void (*counted_pause)(void);

/* ------------------------------------------------------------------------------------------------------------- Class -- */

static kvo_key next_key, count_key;
static kvo_class *cls;

static void view_next(const void *value, void *user, kvo_value_reader reader, void *arg) {
  counted *const *next = value;
  kvo_value view = {"@", sizeof *next, *next != NULL ? (const void *)next : NULL};
  reader(&view, arg);
}

static void view_count(const void *value, void *user, kvo_value_reader reader, void *arg) {
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static void *copy_next(void *instance, void *user, const kvo_selection *selection) {
  counted **value = malloc(sizeof *value);
  *value = counted_next(instance);
  return value;
}

static void release_next(void *value, void *user) {
  counted **next = value;
  counted_release(*next);
  free(value);
}

static int read_count(counted *of) {
  if (kvo_is_tracking()) kvo_track_read(&of->header, count_key);
  pthread_mutex_lock(&of->lock);
  int count = of->count;
  pthread_mutex_unlock(&of->lock);
  return count;
}

static void *copy_count(void *instance, void *user, const kvo_selection *selection) {
  int *value = malloc(sizeof *value);
  *value = read_count(instance);
  return value;
}

static void release_count(void *value, void *user) { free(value); }

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) { return KVO_ERROR_READ_ONLY; }

static void register_class(void) {
  static const kvo_value_ops next_ops = {copy_next, release_next, view_next, assign_nothing, NULL};
  static const kvo_value_ops count_ops = {copy_count, release_count, view_count, assign_nothing, NULL};
  const kvo_binding_property properties[] = {{.name = "next", .type = "@", .ops = &next_ops},
                                             {.name = "count", .type = "i", .ops = &count_ops}};
  next_key = kvo_key_hash("next", 4);
  count_key = kvo_key_hash("count", 5);
  CHECK_OK(kvo_binding_class_register("Counted", NULL, offsetof(counted, header), properties, 2, &cls));
}

/* ----------------------------------------------------------------------------------------------------------- Objects -- */

counted *counted_make(int count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_class);
  counted *made = calloc(1, sizeof *made);
  kvo_object_adopt(&made->header, cls);
  pthread_mutex_init(&made->lock, NULL);
  made->references = 1;
  made->count = count;
  return made;
}

counted *counted_retain(counted *of) {
  if (of != NULL) atomic_fetch_add(&of->references, 1);
  return of;
}

void counted_release(counted *of) {
  if (of == NULL || atomic_fetch_sub(&of->references, 1) != 1) return;
  kvo_object_finish(&of->header);
  counted_release(of->next);
  pthread_mutex_destroy(&of->lock);
  memset(of, 0xdd, sizeof *of);
  free(of);
}

kvo_object *counted_object(counted *of) { return &of->header; }

counted *counted_next(counted *of) {
  if (kvo_is_tracking()) kvo_track_read(&of->header, next_key);
  pthread_mutex_lock(&of->lock);
  counted *next = counted_retain(of->next);
  pthread_mutex_unlock(&of->lock);
  if (counted_has_read != NULL) counted_has_read(of);
  return next;
}

void counted_store_next(counted *of, counted *next) {
  pthread_mutex_lock(&of->lock);
  counted *replaced = of->next;
  of->next = next;
  pthread_mutex_unlock(&of->lock);
  counted_release(replaced);
}

static void store_count(counted *of, int count) {
  pthread_mutex_lock(&of->lock);
  of->count = count;
  pthread_mutex_unlock(&of->lock);
}

/* A change of which no observer gets the property's own values, because paths are evaluated. */
static uint32_t begin(kvo_frame *frame, counted *of, kvo_key key) {
  uint32_t wants = kvo_frame_begin(frame, &of->header, key);
  if ((wants & KVO_FRAME_WANTS_WILL) != 0) kvo_frame_will(frame, NULL);
  return wants;
}

void counted_set_next(counted *of, counted *next) {
  kvo_frame frame;
  uint32_t wants = begin(&frame, of, next_key);
  if (counted_pause != NULL) counted_pause();
  counted_store_next(of, next);
  if (counted_pause != NULL) counted_pause();
  if (wants != 0)
    kvo_frame_finish(&frame, NULL);
  else
    kvo_binding_stored(&of->header, next_key);
}

void counted_set_count(counted *of, int count) {
  kvo_frame frame;
  uint32_t wants = begin(&frame, of, count_key);
  store_count(of, count);
  if (wants != 0)
    kvo_frame_finish(&frame, NULL);
  else
    kvo_binding_stored(&of->header, count_key);
}

/* --------------------------------------------------------------------------------------------------------- Observing -- */

static void *evaluate(void *user_data) {
  counted_watcher *self = user_data;
  counted *at = counted_retain(self->root);
  for (int i = 0; i < self->depth && at != NULL; i++) {
    counted *next = counted_next(at);
    counted_release(at);
    at = next;
  }
  int *value = malloc(sizeof *value);
  *value = at != NULL ? read_count(at) : -1;
  counted_release(at);
  return value;
}

static void note(const kvo_raw_change *change, void *user_data) {
  counted_watcher *self = user_data;
  CHECK(self->destroyed == 0);
  if (change->old_value != NULL) self->last_old = *(const int *)change->old_value;
  if (change->new_value != NULL) self->last_new = *(const int *)change->new_value;
  if (change->is_prior)
    self->priors++;
  else
    self->calls++;
}

static void end(void *user_data) {
  counted_watcher *self = user_data;
  self->destroyed++;
}

static void release_value(void *value, void *user_data) { free(value); }

void counted_watch(counted_watcher *watcher, counted *root, int depth, int options) {
  static const kvo_observer_ops ops = {
      .callback = note, .destroy = end, .evaluate = evaluate, .release = release_value};
  memset(watcher, 0, sizeof *watcher);
  watcher->root = root;
  watcher->depth = depth;
  kvo_binding_observer described = {
      .key_path = "next.count", .options = (kvo_options)options, .ops = &ops, .user_data = watcher, KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(&root->header, &described, true, &watcher->id));
}
