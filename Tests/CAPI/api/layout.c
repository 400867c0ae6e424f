/* layout.c - the sizes and offsets that Embedding.md gives for bindings without a C compiler are those of the headers. */
#include "harness.h"

#include <kvo/kvo_fault.h>
#include <kvo/kvo_raw.h>

#include <stdio.h>
#include <stdlib.h>

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

/* A structure and all its members, each as AT(name). */
#define STRUCTURE(type, ...)                                                                                           \
  do {                                                                                                                 \
    typedef type structure;                                                                                            \
    const member members[] = {__VA_ARGS__};                                                                            \
    check_row(#type, sizeof(type), members, sizeof members / sizeof *members);                                         \
  } while (0)
#define AT(name)                                                                                                       \
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
  STRUCTURE(kvo_object, AT(kvo_private_word));
  STRUCTURE(kvo_value, AT(type), AT(size), AT(bytes));
  STRUCTURE(kvo_change, AT(object), AT(key_path), AT(kind), AT(is_prior), AT(old_value), AT(new_value), AT(indexes),
            AT(index_count), AT(context), AT(observation));
  STRUCTURE(kvo_observer, AT(struct_size), AT(key_path), AT(options), AT(callback), AT(user_data), AT(destroy),
            AT(context), AT(file), AT(line));
  STRUCTURE(kvo_property_spec, AT(name), AT(type), AT(getter), AT(setter), AT(affected_by), AT(flags), AT(user),
            AT(offset), AT(setter_type));
  STRUCTURE(kvo_class_spec, AT(struct_size), AT(name), AT(superclass), AT(instance_size), AT(properties),
            AT(property_count), AT(finalize), AT(collections), AT(collection_count), AT(collection_size),
            AT(property_size), AT(coding));
  STRUCTURE(kvo_collection, AT(struct_size), AT(count), AT(element));
  STRUCTURE(kvo_list_accessors, AT(struct_size), AT(count), AT(get_at), AT(insert_at), AT(remove_at), AT(replace_at),
            AT(user));
  STRUCTURE(kvo_member_accessors, AT(struct_size), AT(count), AT(contains), AT(for_each), AT(add), AT(remove),
            AT(user));
  STRUCTURE(kvo_fault, AT(code), AT(severity), AT(summary), AT(apple), AT(exception), AT(help), AT(file),
            AT(file_length), AT(line), AT(observations), AT(observation_count), AT(thread), AT(why), AT(object),
            AT(object_class), AT(sites), AT(site_count), AT(frames), AT(frame_count), AT(chain), AT(chain_count),
            AT(events), AT(event_count));
  STRUCTURE(kvo_collection_spec, AT(name), AT(element_type), AT(flags), AT(list), AT(members));
  STRUCTURE(kvo_value_ops, AT(copy), AT(release), AT(view), AT(assign), AT(same));
  STRUCTURE(kvo_raw_property, AT(name), AT(type), AT(ops), AT(user), AT(affected_by), AT(flags));
  STRUCTURE(kvo_raw_class, AT(struct_size), AT(name), AT(superclass), AT(header_offset), AT(properties),
            AT(property_count), AT(property_size));
  STRUCTURE(kvo_raw_change, AT(object), AT(instance), AT(changed), AT(property), AT(old_value), AT(new_value),
            AT(indexes), AT(index_count), AT(kind), AT(is_prior), AT(observation));
  STRUCTURE(kvo_observer_ops, AT(callback), AT(destroy), AT(abandon), AT(evaluate), AT(release), AT(same), AT(is_here),
            AT(ask), AT(of_property));
  STRUCTURE(kvo_raw_observer, AT(struct_size), AT(key_path), AT(options), AT(ops), AT(user_data), AT(context),
            AT(identity), AT(file), AT(line), AT(note), AT(is_receiver), AT(is_binding), AT(target), AT(target_key),
            AT(is_opaque));
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
