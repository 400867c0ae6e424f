/* expression.c - see expression.h. */
#include "expression.h"

#include <stdlib.h>
#include <string.h>

static void *evaluate(void *user_data) {
  expression *self = user_data;
  self->evaluated++;
  int result = self->body(self), *value = malloc(sizeof *value);
  CHECK(value != NULL);
  *value = result;
  return value;
}

static void release(void *value, void *user_data) {
  ((expression *)user_data)->released++;
  free(value);
}

static void note(const kvo_raw_change *change, void *user_data) {
  expression *self = user_data;
  if (change->is_prior)
    self->priors++;
  else
    self->notified++;
  self->passed += change->property != NULL;
  self->old_value = change->old_value != NULL ? *(const int *)change->old_value : NO_VALUE;
  self->new_value = change->new_value != NULL ? *(const int *)change->new_value : NO_VALUE;
}

const kvo_observer_ops expression_ops = {.callback = note, .evaluate = evaluate, .release = release};

void expression_begin(expression *self, int options) {
  kvo_binding_observer described = {.key_path = self->key_path != NULL ? self->key_path : "expression",
                                    .options = (kvo_options)options,
                                    .ops = &expression_ops,
                                    .user_data = self,
                                    KVO_HERE};
  CHECK_OK(kvo_binding_observe_tracked(self->root, &described, self->keeps_last, &self->id));
}

void expression_end(expression *self) {
  CHECK_OK(kvo_remove_observer(self->id));
  CHECK_EQ(self->released, self->evaluated);
}

kvo_key key_of(const char *name) { return kvo_key_hash(name, strlen(name)); }
void read_key(item *of, const char *key) { kvo_track_read(as_object(of), key_of(key)); }

int read_value(item *of) {
  read_key(of, "value");
  return of->value;
}

item *read_next(item *of) {
  read_key(of, "next");
  return of->next;
}
