/* announcements.c - the list of changes that a thread has announced by hand and not ended. */
#include "changes/announcements.h"

/* A longer list gets an index. */
enum { ANNOUNCEMENTS_FEW = 16 };

/* The list of this thread, innermost first. Other threads search it under its lock, when a did without a will may belong to another thread;
 * hence it is in the thread's record, which exists as long as others can find it. */
kvo_manual *kvo__manual_innermost(void) { return kvo__own.thread != NULL ? kvo__own.thread->manuals.first : NULL; }

static kvo_manual *announcements_of_entry(const kvo_index_entry *entry) {
  return (kvo_manual *)((uintptr_t)entry - offsetof(kvo_manual, entry));
}

static kvo_index_key announcements_key_of(const kvo_index_entry *entry) {
  const kvo_manual *open = announcements_of_entry(entry);
  return kvo__index_key(open->object, open->key, open->number);
}

static bool announcements_is_of(const kvo_manual *open, const kvo_object *object, kvo_key key) {
  return open->object == object && open->key == key;
}

kvo_manual *kvo__manual_find(const kvo_manual_list *list, const kvo_manual *one, const kvo_object *object,
                             kvo_key key) {
  if (list->by_key.key_of == NULL) {
    kvo_manual *open = one != NULL ? one->below : list->first;
    while (open != NULL && !announcements_is_of(open, object, key)) open = open->below;
    return open;
  }
  kvo_index_key wanted = kvo__index_key(object, key, one != NULL ? one->number : UINT64_MAX);
  for (kvo_index_entry *at; (at = kvo__index_before(&list->by_key, wanted)) != NULL;
       wanted = announcements_key_of(at)) {
    if (announcements_key_of(at).major != wanted.major) return NULL;
    if (announcements_is_of(announcements_of_entry(at), object, key)) return announcements_of_entry(at);
  }
  return NULL;
}

void kvo__manual_push(kvo_manual *open) {
  kvo__assert(kvo__own.thread != NULL);
  kvo_manual_list *list = &kvo__own.thread->manuals;
  open->below = list->first;
  open->number = open->below != NULL ? open->below->number + 1 : 0;
  kvo__lock(&list->lock);
  if (open->below != NULL) open->below->above = open;
  list->first = open;
  list->count++;
  if (list->by_key.key_of != NULL) {
    kvo__index_add(&list->by_key, &open->entry);
  } else if (list->count > ANNOUNCEMENTS_FEW) {
    list->by_key.key_of = announcements_key_of;
    for (; open != NULL; open = open->below) kvo__index_add(&list->by_key, &open->entry);
  }
  kvo__unlock(&list->lock);
  kvo__own.open_changes++;
}

kvo_fault_site kvo__manual_site(const kvo_manual *open, uint32_t thread) {
  const char *file = open->place.file;
  return (kvo_fault_site){.label = "willChange called",
                          .file = file,
                          .file_length = file != NULL ? strlen(file) : 0,
                          .line = open->place.line,
                          .thread = thread,
                          .age = -1,
                          .frames = open->frames,
                          .frame_count = open->frame_count};
}

void kvo__manual_take_out(kvo_manual *open) {
  kvo_manual_list *list = &kvo__own.thread->manuals;
  kvo__lock(&list->lock);
  if (open->below != NULL) open->below->above = open->above;
  *(open->above != NULL ? &open->above->below : &list->first) = open->below;
  if (list->by_key.key_of != NULL) kvo__index_remove(&list->by_key, &open->entry);
  if (--list->count == 0) list->by_key.key_of = NULL;
  kvo__unlock(&list->lock);
  kvo__own.open_changes--;
}

void kvo__manual_is_doubled(const kvo_object *object, kvo_key key) {
  if (kvo__manual_innermost() == NULL) return;
  const kvo_manual_list *list = &kvo__own.thread->manuals;
  kvo_manual *open = kvo__manual_find(list, NULL, object, key);
  while (open != NULL && open->has_values) open = kvo__manual_find(list, open, object, key);
  if (open == NULL) return;
  kvo_fault_observation concerned;
  bool is_observed = kvo__describe_first(kvo__manual_content(open)->slot, &concerned);
  kvo_fault_site will = kvo__manual_site(open, kvo__thread_number());
  KVO_MISUSE(doubled, kvo__manual_content(open)->info, open->name, is_observed ? &concerned : NULL, &will);
}
