/* layout.c - the sizes and offsets that Embedding.md gives for bindings without a C compiler are those of the headers. */
#include "harness.h"

#include <kvo/kvo_fault.h>
#include <kvo/kvo_raw.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *document, row[1024];

static void begin(const char *name, size_t size) { snprintf(row, sizeof row, "| `%s` | %zu |", name, size); }

static void add(const char *name, size_t offset) {
  size_t length = strlen(row);
  snprintf(row + length, sizeof row - length, "%s `%s` %zu", row[length - 1] == '|' ? "" : ",", name, offset);
}
#define MEMBER(type, name) add(#name, offsetof(type, name))

static void end(void) {
  strcat(row, " |\n");
  CHECK_CONTAINS(document, row);
}

static void read_document(void) {
  FILE *file = fopen(KVO_EMBEDDING, "r");
  CHECK(file != NULL);
  enum { MOST = 1 << 20 };
  document = calloc(1, MOST);
  CHECK(document != NULL && fread(document, 1, MOST - 1, file) > 1000);
  fclose(file);
}

TEST("the layout of structures in Embedding.md is that of the headers on 64-bit platforms") {
  if (sizeof(void *) != 8) harness_skip("the table is that of 64 bits");
  read_document();
  begin("kvo_object", sizeof(kvo_object));
  MEMBER(kvo_object, kvo_private_word);
  end();
  begin("kvo_value", sizeof(kvo_value));
  MEMBER(kvo_value, type);
  MEMBER(kvo_value, size);
  MEMBER(kvo_value, bytes);
  end();
  begin("kvo_change", sizeof(kvo_change));
  MEMBER(kvo_change, object);
  MEMBER(kvo_change, key_path);
  MEMBER(kvo_change, kind);
  MEMBER(kvo_change, is_prior);
  MEMBER(kvo_change, old_value);
  MEMBER(kvo_change, new_value);
  MEMBER(kvo_change, indexes);
  MEMBER(kvo_change, index_count);
  MEMBER(kvo_change, context);
  MEMBER(kvo_change, observation);
  end();
  begin("kvo_observer", sizeof(kvo_observer));
  MEMBER(kvo_observer, struct_size);
  MEMBER(kvo_observer, key_path);
  MEMBER(kvo_observer, options);
  MEMBER(kvo_observer, callback);
  MEMBER(kvo_observer, user_data);
  MEMBER(kvo_observer, destroy);
  MEMBER(kvo_observer, context);
  MEMBER(kvo_observer, file);
  MEMBER(kvo_observer, line);
  end();
  begin("kvo_property_spec", sizeof(kvo_property_spec));
  MEMBER(kvo_property_spec, name);
  MEMBER(kvo_property_spec, type);
  MEMBER(kvo_property_spec, getter);
  MEMBER(kvo_property_spec, setter);
  MEMBER(kvo_property_spec, affected_by);
  MEMBER(kvo_property_spec, flags);
  MEMBER(kvo_property_spec, user);
  MEMBER(kvo_property_spec, offset);
  MEMBER(kvo_property_spec, setter_type);
  end();
  begin("kvo_class_spec", sizeof(kvo_class_spec));
  MEMBER(kvo_class_spec, struct_size);
  MEMBER(kvo_class_spec, name);
  MEMBER(kvo_class_spec, superclass);
  MEMBER(kvo_class_spec, instance_size);
  MEMBER(kvo_class_spec, properties);
  MEMBER(kvo_class_spec, property_count);
  MEMBER(kvo_class_spec, finalize);
  MEMBER(kvo_class_spec, collections);
  MEMBER(kvo_class_spec, collection_count);
  MEMBER(kvo_class_spec, collection_size);
  MEMBER(kvo_class_spec, property_size);
  MEMBER(kvo_class_spec, coding);
  end();
  begin("kvo_collection", sizeof(kvo_collection));
  MEMBER(kvo_collection, struct_size);
  MEMBER(kvo_collection, count);
  MEMBER(kvo_collection, element);
  end();
  begin("kvo_list_accessors", sizeof(kvo_list_accessors));
  MEMBER(kvo_list_accessors, struct_size);
  MEMBER(kvo_list_accessors, count);
  MEMBER(kvo_list_accessors, get_at);
  MEMBER(kvo_list_accessors, insert_at);
  MEMBER(kvo_list_accessors, remove_at);
  MEMBER(kvo_list_accessors, replace_at);
  MEMBER(kvo_list_accessors, user);
  end();
  begin("kvo_member_accessors", sizeof(kvo_member_accessors));
  MEMBER(kvo_member_accessors, struct_size);
  MEMBER(kvo_member_accessors, count);
  MEMBER(kvo_member_accessors, contains);
  MEMBER(kvo_member_accessors, for_each);
  MEMBER(kvo_member_accessors, add);
  MEMBER(kvo_member_accessors, remove);
  MEMBER(kvo_member_accessors, user);
  end();
  begin("kvo_fault", sizeof(kvo_fault));
  MEMBER(kvo_fault, code);
  MEMBER(kvo_fault, severity);
  MEMBER(kvo_fault, summary);
  MEMBER(kvo_fault, apple);
  MEMBER(kvo_fault, exception);
  MEMBER(kvo_fault, help);
  MEMBER(kvo_fault, file);
  MEMBER(kvo_fault, file_length);
  MEMBER(kvo_fault, line);
  MEMBER(kvo_fault, observations);
  MEMBER(kvo_fault, observation_count);
  MEMBER(kvo_fault, thread);
  MEMBER(kvo_fault, why);
  MEMBER(kvo_fault, object);
  MEMBER(kvo_fault, object_class);
  MEMBER(kvo_fault, sites);
  MEMBER(kvo_fault, site_count);
  MEMBER(kvo_fault, frames);
  MEMBER(kvo_fault, frame_count);
  MEMBER(kvo_fault, chain);
  MEMBER(kvo_fault, chain_count);
  MEMBER(kvo_fault, events);
  MEMBER(kvo_fault, event_count);
  end();
  begin("kvo_collection_spec", sizeof(kvo_collection_spec));
  MEMBER(kvo_collection_spec, name);
  MEMBER(kvo_collection_spec, element_type);
  MEMBER(kvo_collection_spec, flags);
  MEMBER(kvo_collection_spec, list);
  MEMBER(kvo_collection_spec, members);
  end();
  free(document);
}

TEST("so is that of the structures of kvo_raw.h") {
  if (sizeof(void *) != 8) harness_skip("the table is that of 64 bits");
  read_document();
  begin("kvo_value_ops", sizeof(kvo_value_ops));
  MEMBER(kvo_value_ops, copy);
  MEMBER(kvo_value_ops, release);
  MEMBER(kvo_value_ops, view);
  MEMBER(kvo_value_ops, assign);
  MEMBER(kvo_value_ops, same);
  end();
  begin("kvo_raw_property", sizeof(kvo_raw_property));
  MEMBER(kvo_raw_property, name);
  MEMBER(kvo_raw_property, type);
  MEMBER(kvo_raw_property, ops);
  MEMBER(kvo_raw_property, user);
  MEMBER(kvo_raw_property, affected_by);
  MEMBER(kvo_raw_property, flags);
  end();
  begin("kvo_raw_class", sizeof(kvo_raw_class));
  MEMBER(kvo_raw_class, struct_size);
  MEMBER(kvo_raw_class, name);
  MEMBER(kvo_raw_class, superclass);
  MEMBER(kvo_raw_class, header_offset);
  MEMBER(kvo_raw_class, properties);
  MEMBER(kvo_raw_class, property_count);
  MEMBER(kvo_raw_class, property_size);
  end();
  begin("kvo_raw_change", sizeof(kvo_raw_change));
  MEMBER(kvo_raw_change, object);
  MEMBER(kvo_raw_change, instance);
  MEMBER(kvo_raw_change, changed);
  MEMBER(kvo_raw_change, property);
  MEMBER(kvo_raw_change, old_value);
  MEMBER(kvo_raw_change, new_value);
  MEMBER(kvo_raw_change, indexes);
  MEMBER(kvo_raw_change, index_count);
  MEMBER(kvo_raw_change, kind);
  MEMBER(kvo_raw_change, is_prior);
  MEMBER(kvo_raw_change, observation);
  end();
  begin("kvo_observer_ops", sizeof(kvo_observer_ops));
  MEMBER(kvo_observer_ops, callback);
  MEMBER(kvo_observer_ops, destroy);
  MEMBER(kvo_observer_ops, abandon);
  MEMBER(kvo_observer_ops, evaluate);
  MEMBER(kvo_observer_ops, release);
  MEMBER(kvo_observer_ops, same);
  MEMBER(kvo_observer_ops, is_here);
  MEMBER(kvo_observer_ops, ask);
  MEMBER(kvo_observer_ops, of_property);
  end();
  begin("kvo_raw_observer", sizeof(kvo_raw_observer));
  MEMBER(kvo_raw_observer, struct_size);
  MEMBER(kvo_raw_observer, key_path);
  MEMBER(kvo_raw_observer, options);
  MEMBER(kvo_raw_observer, ops);
  MEMBER(kvo_raw_observer, user_data);
  MEMBER(kvo_raw_observer, context);
  MEMBER(kvo_raw_observer, identity);
  MEMBER(kvo_raw_observer, file);
  MEMBER(kvo_raw_observer, line);
  MEMBER(kvo_raw_observer, note);
  MEMBER(kvo_raw_observer, is_receiver);
  MEMBER(kvo_raw_observer, is_binding);
  MEMBER(kvo_raw_observer, target);
  MEMBER(kvo_raw_observer, target_key);
  end();
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
