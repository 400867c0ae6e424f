/* zeros.h - values of a binding's properties of type i, which are all 0 and cannot be set. */
#ifndef KVO_TEST_ZEROS_H
#define KVO_TEST_ZEROS_H

#include "harness.h"

#include <kvo/kvo_binding.h>
#include <stdlib.h>

static void *copy_zero(void *instance, void *user, const kvo_selection *selection) { return calloc(1, sizeof(int)); }

static void release_copy(void *value, void *user) { free(value); }

static void view_int(const void *value, void *user, kvo_value_reader reader, void *arg) {
  kvo_value view = {"i", sizeof(int), value};
  reader(&view, arg);
}

static kvo_status assign_nothing(void *instance, void *user, const kvo_value *value) { return KVO_ERROR_READ_ONLY; }

static const kvo_value_ops zeros = {copy_zero, release_copy, view_int, assign_nothing, NULL};

#endif
