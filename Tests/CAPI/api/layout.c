/* layout.c - the sizes and offsets that Embedding.md gives for bindings without a C compiler are those of the headers. */
#include "harness.h"

#include <kvo/kvo_fault.h>
#include <kvo/kvo_raw.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *document;

typedef struct member {
  const char *name;
  size_t offset;
} member;

/* Checks that the document has the row "| `structure` | size | `member` offset, `member` offset |". */
static void check_row(const char *structure, size_t size, const member *members, size_t count) {
  char row[1024];
  int length = snprintf(row, sizeof row, "| `%s` | %zu |", structure, size);
  for (size_t i = 0; i < count; i++)
    length += snprintf(row + length, sizeof row - (size_t)length, "%s `%s` %zu", i > 0 ? "," : "", members[i].name,
                       members[i].offset);
  snprintf(row + length, sizeof row - (size_t)length, " |\n");
  CHECK_CONTAINS(document, (const char *)row);
}

/* A structure and all its members, each as MEMBER(name). */
#define STRUCTURE(type, ...)                                                                                           \
  do {                                                                                                                 \
    typedef type structure;                                                                                            \
    const member members[] = {__VA_ARGS__};                                                                            \
    check_row(#type, sizeof(type), members, sizeof members / sizeof *members);                                         \
  } while (0)
#define MEMBER(name)                                                                                                   \
  { #name, offsetof(structure, name) }

static void read_document(void) {
  enum { MOST = 1 << 20 };
  FILE *file = fopen(KVO_EMBEDDING, "r");
  document = calloc(1, MOST);
  CHECK(file != NULL && document != NULL && fread(document, 1, MOST - 1, file) > 1000);
  fclose(file);
}

TEST("the layout of structures in Embedding.md is that of the headers on 64-bit platforms") {
  if (sizeof(void *) != 8) harness_skip("the table is that of 64 bits");
  read_document();
  STRUCTURE(kvo_object, MEMBER(kvo_private_word));
  STRUCTURE(kvo_value, MEMBER(type), MEMBER(size), MEMBER(bytes));
  STRUCTURE(kvo_change, MEMBER(object), MEMBER(key_path), MEMBER(kind), MEMBER(is_prior), MEMBER(old_value),
            MEMBER(new_value), MEMBER(indexes), MEMBER(index_count), MEMBER(context), MEMBER(observation));
  STRUCTURE(kvo_observer, MEMBER(struct_size), MEMBER(key_path), MEMBER(options), MEMBER(callback), MEMBER(user_data),
            MEMBER(destroy), MEMBER(context), MEMBER(file), MEMBER(line));
  STRUCTURE(kvo_property_spec, MEMBER(name), MEMBER(type), MEMBER(getter), MEMBER(setter), MEMBER(affected_by),
            MEMBER(flags), MEMBER(user), MEMBER(offset), MEMBER(setter_type));
  STRUCTURE(kvo_class_spec, MEMBER(struct_size), MEMBER(name), MEMBER(superclass), MEMBER(instance_size),
            MEMBER(properties), MEMBER(property_count), MEMBER(finalize), MEMBER(collections), MEMBER(collection_count),
            MEMBER(collection_size), MEMBER(property_size), MEMBER(coding));
  STRUCTURE(kvo_collection, MEMBER(struct_size), MEMBER(count), MEMBER(element));
  STRUCTURE(kvo_list_accessors, MEMBER(struct_size), MEMBER(count), MEMBER(get_at), MEMBER(insert_at),
            MEMBER(remove_at), MEMBER(replace_at), MEMBER(user));
  STRUCTURE(kvo_member_accessors, MEMBER(struct_size), MEMBER(count), MEMBER(contains), MEMBER(for_each), MEMBER(add),
            MEMBER(remove), MEMBER(user));
  STRUCTURE(kvo_fault, MEMBER(code), MEMBER(severity), MEMBER(summary), MEMBER(apple), MEMBER(exception), MEMBER(help),
            MEMBER(file), MEMBER(file_length), MEMBER(line), MEMBER(observations), MEMBER(observation_count),
            MEMBER(thread), MEMBER(why), MEMBER(object), MEMBER(object_class), MEMBER(sites), MEMBER(site_count),
            MEMBER(frames), MEMBER(frame_count), MEMBER(chain), MEMBER(chain_count), MEMBER(events),
            MEMBER(event_count));
  STRUCTURE(kvo_collection_spec, MEMBER(name), MEMBER(element_type), MEMBER(flags), MEMBER(list), MEMBER(members));
  STRUCTURE(kvo_value_ops, MEMBER(copy), MEMBER(release), MEMBER(view), MEMBER(assign), MEMBER(same));
  STRUCTURE(kvo_raw_property, MEMBER(name), MEMBER(type), MEMBER(ops), MEMBER(user), MEMBER(affected_by),
            MEMBER(flags));
  STRUCTURE(kvo_raw_class, MEMBER(struct_size), MEMBER(name), MEMBER(superclass), MEMBER(header_offset),
            MEMBER(properties), MEMBER(property_count), MEMBER(property_size));
  STRUCTURE(kvo_raw_change, MEMBER(object), MEMBER(instance), MEMBER(changed), MEMBER(property), MEMBER(old_value),
            MEMBER(new_value), MEMBER(indexes), MEMBER(index_count), MEMBER(kind), MEMBER(is_prior),
            MEMBER(observation));
  STRUCTURE(kvo_observer_ops, MEMBER(callback), MEMBER(destroy), MEMBER(abandon), MEMBER(evaluate), MEMBER(release),
            MEMBER(same), MEMBER(is_here), MEMBER(ask), MEMBER(of_property));
  STRUCTURE(kvo_raw_observer, MEMBER(struct_size), MEMBER(key_path), MEMBER(options), MEMBER(ops), MEMBER(user_data),
            MEMBER(context), MEMBER(identity), MEMBER(file), MEMBER(line), MEMBER(note), MEMBER(is_receiver),
            MEMBER(is_binding), MEMBER(target), MEMBER(target_key));
  free(document);
}

TEST("enumerations are int, and a bool is a byte") {
  CHECK_EQ(sizeof(kvo_status), sizeof(int));
  CHECK_EQ(sizeof(kvo_options), sizeof(int));
  CHECK_EQ(sizeof(kvo_change_kind), sizeof(int));
  CHECK_EQ(sizeof(kvo_action), sizeof(int));
  CHECK_EQ(sizeof(kvo_fault_code), sizeof(int));
  CHECK_EQ(sizeof(kvo_severity), sizeof(int));
  CHECK_EQ(sizeof(bool), 1);
}
