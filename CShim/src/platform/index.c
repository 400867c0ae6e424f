/* index.c - a treap: a binary search tree that is also a heap of pseudo-random ranks, so that it stays shallow whatever the order of
 * insertions and removals. It allocates nothing. */
#include "platform/index.h"

static uint64_t rank_of(const kvo_index_entry *entry) {
  uint64_t mixed = ((uint64_t)(uintptr_t)entry >> 4) * UINT64_C(0x9e3779b97f4a7c15);
  return (mixed ^ mixed >> 32) * UINT64_C(0xbf58476d1ce4e5b9);
}

static bool is_less(kvo_index_key left, kvo_index_key right) {
  return left.major != right.major ? left.major < right.major : left.minor < right.minor;
}

void kvo__index_add(kvo_index *index, kvo_index_entry *entry) {
  kvo_index_key key = index->key_of(entry);
  kvo_index_entry **link = &index->root;
  while (*link != NULL && rank_of(*link) >= rank_of(entry))
    link = is_less(key, index->key_of(*link)) ? &(*link)->left : &(*link)->right;
  kvo_index_entry *below = *link, **less = &entry->left, **greater = &entry->right;
  *link = entry;
  while (below != NULL) {
    if (is_less(index->key_of(below), key)) {
      *less = below;
      less = &below->right;
      below = below->right;
    } else {
      *greater = below;
      greater = &below->left;
      below = below->left;
    }
  }
  *less = *greater = NULL;
}

void kvo__index_remove(kvo_index *index, kvo_index_entry *entry) {
  kvo_index_key key = index->key_of(entry);
  kvo_index_entry **link = &index->root;
  while (*link != entry) link = is_less(key, index->key_of(*link)) ? &(*link)->left : &(*link)->right;
  kvo_index_entry *less = entry->left, *greater = entry->right;
  while (less != NULL && greater != NULL) {
    if (rank_of(less) >= rank_of(greater)) {
      *link = less;
      link = &less->right;
      less = less->right;
    } else {
      *link = greater;
      link = &greater->left;
      greater = greater->left;
    }
  }
  *link = less != NULL ? less : greater;
}

kvo_index_entry *kvo__index_before(const kvo_index *index, kvo_index_key key) {
  kvo_index_entry *found = NULL, *at = index->root;
  while (at != NULL) {
    bool is_before = is_less(index->key_of(at), key);
    if (is_before) found = at;
    at = is_before ? at->right : at->left;
  }
  return found;
}

kvo_index_entry *kvo__index_from(const kvo_index *index, kvo_index_key key) {
  kvo_index_entry *found = NULL, *at = index->root;
  while (at != NULL) {
    bool is_before = is_less(index->key_of(at), key);
    if (!is_before) found = at;
    at = is_before ? at->right : at->left;
  }
  return found;
}
