/* c_callback.c - passes deliveries to the C callbacks of observations registered through kvo.h. */
#include "expressions/deliver.h"

/* Also if the registration has failed; the program's `destroy` is not called then. */
static void c_abandon(void *user_data) {
  kvo_c_observer *observer = user_data;
  kvo__unbox(atomic_load(&observer->spare));
  kvo__free(observer);
}

/* What is left is freed by kvo_hooks.free_observer. */
static void c_destroy(void *user_data) {
  kvo_c_observer *observer = user_data;
  if (observer->destroy != NULL) observer->destroy(observer->user_data);
  kvo__unbox(atomic_load(&observer->spare));
}

/* A delivery to a C callback, nested in the views of its values. */
typedef struct c_delivery {
  const kvo_raw_change *raw;
  const kvo_c_observer *observer;
  kvo_change change;
} c_delivery;

static void c_send(const kvo_value *new_value, void *arg) {
  c_delivery *delivery = arg;
  delivery->change.new_value = new_value;
  delivery->observer->callback(&delivery->change, delivery->observer->user_data);
}

/* The characters may be in the property itself, as those of a std::string are, which the callback may set. */
static void c_send_copied(const kvo_value *new_value, void *arg) {
  bool is_text = kvo__type_unqualified(new_value->type)[0] == '*' && new_value->bytes != NULL;
  const char *text = is_text ? *(const char *const *)new_value->bytes : NULL;
  if (text == NULL) {
    c_send(new_value, arg);
    return;
  }
  char *copy = kvo__copy_string(text, strlen(text));
  kvo_value copied = {new_value->type, new_value->size, &copy};
  c_send(copy != NULL ? &copied : NULL, arg);
  kvo__free(copy);
}

static void c_send_with_old(const kvo_value *old_value, void *arg) {
  c_delivery *delivery = arg;
  delivery->change.old_value = old_value;
  const kvo_property *property = delivery->raw->property;
  if (delivery->raw->new_value != NULL)
    kvo__property_view(property, delivery->raw->new_value, property->ops != NULL ? c_send_copied : c_send, delivery);
  else
    c_send(NULL, delivery);
}

static void c_callback(const kvo_raw_change *raw, void *user_data) {
  kvo_c_observer *observer = user_data;
  c_delivery delivery = {raw, observer, {.object = raw->object, .key_path = observer->key_path}};
  delivery.change.kind = raw->kind;
  delivery.change.is_prior = raw->is_prior;
  delivery.change.indexes = raw->indexes;
  delivery.change.index_count = raw->index_count;
  delivery.change.context = observer->context;
  delivery.change.observation = raw->observation;
  if (raw->property == NULL) { /* values of c_evaluate */
    const kvo_boxed *old_box = raw->old_value, *new_box = raw->new_value;
    delivery.change.old_value = old_box != NULL ? &old_box->value : NULL;
    c_send(new_box != NULL ? &new_box->value : NULL, &delivery);
  } else if (raw->old_value != NULL) {
    kvo__property_view(raw->property, raw->old_value, c_send_with_old, &delivery);
  } else {
    c_send_with_old(NULL, &delivery);
  }
}

/* The path was valid at registration: since then it has come to lead to an object without such a key, or its operator to a value with which
 * it cannot compute. Reported once for each change, so not for the evaluation before the next one. */
static void report_broken(kvo_status status, const kvo_object *object) {
  kvo_fault_observation concerned;
  kvo__describe_node(kvo__own.recorder->tracked->anchor, &concerned);
  KVO_MISUSE(path_broken, status, object, &concerned);
}

kvo_boxed *kvo__path_evaluate(kvo_object *object, const char *key_path, kvo_boxed *spare) {
  kvo_status status;
  kvo_boxed *box = kvo__path_copy(object, key_path, &status, KVO_PATH_OBSERVED, spare);
  bool is_broken =
      status == KVO_ERROR_UNDEFINED_KEY || status == KVO_ERROR_NOT_AN_OBJECT || status == KVO_ERROR_TYPE_MISMATCH;
  if (is_broken && kvo_track_is_recording()) report_broken(status, object);
  return box;
}

static kvo_boxed *take_spare(kvo_c_observer *observer) {
  bool is_there = atomic_load_explicit(&observer->spare, memory_order_relaxed) != NULL;
  return is_there ? atomic_exchange(&observer->spare, NULL) : NULL;
}

static void *c_evaluate(void *user_data) {
  kvo_c_observer *observer = user_data;
  return kvo__path_evaluate(observer->object, observer->key_path, take_spare(observer));
}

static void c_release(void *value, void *user_data) {
  kvo_c_observer *observer = user_data;
  kvo_boxed *box = value, *none = NULL;
  if (!box->is_plain || !atomic_compare_exchange_strong(&observer->spare, &none, box)) kvo__unbox(box);
}

static bool c_same(const void *one, const void *other, void *user_data) {
  (void)user_data;
  const kvo_boxed *boxes[] = {one, other};
  return kvo__value_same(&boxes[0]->value, &boxes[1]->value);
}

static void box_again(const kvo_value *value, void *arg) {
  kvo_boxed **box = arg;
  *box = kvo__box_again(value, *box);
}

static void *c_of_property(const kvo_property *property, const void *value, void *user_data) {
  kvo_boxed *box = take_spare(user_data);
  kvo__property_view(property, value, box_again, &box);
  return box;
}

const kvo_observer_ops kvo__c_ops = {
    .callback = c_callback,
    .destroy = c_destroy,
    .abandon = c_abandon,
    .evaluate = c_evaluate,
    .release = c_release,
    .same = c_same,
    .of_property = c_of_property,
};

bool kvo__box_may_hold_object(const kvo_boxed *value) {
  return value != NULL && value->value.bytes != NULL && kvo__type_may_hold_object(value->value.type);
}

bool kvo__is_of_c(const kvo_observer_ops *ops) { return ops == &kvo__c_ops; }
