/* mutes.c - a binding notifies of a change itself: the change that the setter makes within it is silenced (kvo_mute). */
#include "changes/announcements.h"

void kvo_mute_begin(kvo_mute *mute, kvo_object *object, kvo_key key) {
  if (mute == NULL) return;
  const kvo_class *cls = kvo_object_class(object);
  const kvo_property *property = cls != NULL ? kvo__class_find(cls, key) : NULL;
  mute->outer = kvo__own.mutes;
  mute->object = object;
  mute->key = key;
  mute->depth = kvo__present_depth();
  mute->is_computed = property != NULL && (property->flags & KVO_PROPERTY_COMPUTED) != 0;
  mute->is_used = false;
  kvo__own.mutes = mute;
  kvo__own.open_changes++;
}

void kvo_mute_end(kvo_mute *mute) {
  kvo_mute **link = &kvo__own.mutes;
  while (*link != NULL && *link != mute) link = &(*link)->outer;
  if (*link == NULL) return;
  *link = mute->outer;
  kvo__own.open_changes--;
}

bool kvo__mute_take(const kvo_object *object, kvo_key key) {
  kvo_mute *mute = kvo__own.mutes;
  while (mute != NULL && (mute->object != object || mute->key != key || mute->is_computed || mute->is_used))
    mute = mute->outer;
  if (mute == NULL) return false;
  return mute->is_used = true;
}

bool kvo__is_muted(const kvo_object *object, kvo_key key) {
  const kvo_mute *mute = kvo__own.mutes;
  while (mute != NULL && (mute->object != object || mute->key != key || mute->depth != kvo__present_depth()))
    mute = mute->outer;
  return mute != NULL && mute->is_computed;
}

bool kvo__notifies_itself(const kvo_object *object, kvo_key key) {
  const kvo_mute *mute = kvo__own.mutes;
  while (mute != NULL && (mute->object != object || mute->key != key)) mute = mute->outer;
  if (mute != NULL) return true;
  return kvo__manual_innermost() != NULL && kvo__manual_find(&kvo__own.thread->manuals, NULL, object, key) != NULL;
}
