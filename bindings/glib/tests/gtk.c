/* gtk.c - GTK's list models and a column view follow a list, under Xvfb. */
#include "support.h"

#include <gtk/gtk.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10000 };

static kvo_object *owner;
static GPtrArray *rows;

static void add(const char *name, int age) {
  kvo_object *row = person_new(name, age);
  g_ptr_array_add(rows, row);
  person_add_friend(owner, -1, row);
}

static void begin(void) {
  owner = person_new("owner", 0);
  rows = g_ptr_array_new();
}

static void end(void) {
  kvo_object_destroy(owner);
  for (guint i = 0; i < rows->len; i++) kvo_object_destroy(rows->pdata[i]);
  g_ptr_array_unref(rows);
}

static GtkExpression *key(const char *property) {
  return gtk_property_expression_new(kvo_glib_wrapper_type(person_class()), NULL, property);
}

static void note_names(GListModel *model) {
  for (guint i = 0; i < g_list_model_get_n_items(model); i++) {
    GObject *item = g_list_model_get_item(model, i);
    char *name;
    g_object_get(item, "name", &name, NULL);
    note("%s", name);
    g_free(name);
    g_object_unref(item);
  }
}

static void test_sorted(void) {
  begin();
  add("Cid", 30);
  add("Ann", 20);
  GtkSorter *sorter = GTK_SORTER(gtk_string_sorter_new(key("name")));
  GtkSortListModel *sorted = gtk_sort_list_model_new(kvo_glib_list_model(owner, "friends"), sorter);
  note_names(G_LIST_MODEL(sorted));
  add("Bob", 40);
  add("Abe", 1);
  note_names(G_LIST_MODEL(sorted));
  kvo_list_remove(owner, "friends", 0);
  note_names(G_LIST_MODEL(sorted));
  assert_noted("Ann Cid Abe Ann Bob Cid Abe Ann Bob");
  g_object_unref(sorted);
  end();
}

static void test_filtered(void) {
  begin();
  add("Cid", 30);
  add("Ann", 20);
  GtkFilter *filter = GTK_FILTER(gtk_string_filter_new(key("name")));
  gtk_string_filter_set_search(GTK_STRING_FILTER(filter), "nn");
  GtkFilterListModel *filtered = gtk_filter_list_model_new(kvo_glib_list_model(owner, "friends"), filter);
  note_names(G_LIST_MODEL(filtered));
  add("Hanna", 1);
  add("Bob", 1);
  note_names(G_LIST_MODEL(filtered));
  assert_noted("Ann Ann Hanna");
  g_object_unref(filtered);
  end();
}

/* ---------------------------------------------------------------------------------------------------------------- A view -- */

static void setup(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data) {
  (void)factory, (void)user_data;
  GtkWidget *label = gtk_label_new(NULL);
  gtk_list_item_set_child(item, label);
  GtkExpression *of_item = gtk_property_expression_new(GTK_TYPE_LIST_ITEM, NULL, "item");
  GtkExpression *name = gtk_property_expression_new(kvo_glib_wrapper_type(person_class()), of_item, "name");
  gtk_expression_bind(name, label, "label", item);
}

/* The texts of the labels that are shown, sorted. */
static void collect(GtkWidget *widget, GPtrArray *texts) {
  if (GTK_IS_LABEL(widget) && gtk_widget_get_mapped(widget))
    g_ptr_array_add(texts, (gpointer)gtk_label_get_label(GTK_LABEL(widget)));
  for (GtkWidget *child = gtk_widget_get_first_child(widget); child != NULL; child = gtk_widget_get_next_sibling(child))
    collect(child, texts);
}

static gboolean is_shown(GtkWidget *view, const char *text) {
  GPtrArray *texts = g_ptr_array_new();
  collect(view, texts);
  gboolean is_there = FALSE;
  for (guint i = 0; i < texts->len; i++) is_there |= strcmp(texts->pdata[i], text) == 0;
  g_ptr_array_unref(texts);
  return is_there;
}

static void wait_for(GtkWidget *view, const char *text, gboolean is_there) {
  gint64 until = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;
  while (is_shown(view, text) != is_there && g_get_monotonic_time() < until) g_main_context_iteration(NULL, FALSE);
  g_assert_true(is_shown(view, text) == is_there);
}

static void test_view(void) {
  begin();
  for (int i = 0; i < ROWS; i++) {
    char *name = g_strdup_printf("row %05d", i);
    add(name, i);
    g_free(name);
  }
  gint64 start = g_get_monotonic_time();
  GtkSortListModel *sorted =
      gtk_sort_list_model_new(kvo_glib_list_model(owner, "friends"), GTK_SORTER(gtk_string_sorter_new(key("name"))));
  g_test_message("%d rows sorted in %.0f ms", ROWS, (double)(g_get_monotonic_time() - start) / 1000);
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
  g_signal_connect(factory, "setup", G_CALLBACK(setup), NULL);
  GtkWidget *view = gtk_column_view_new(GTK_SELECTION_MODEL(gtk_single_selection_new(G_LIST_MODEL(sorted))));
  gtk_column_view_append_column(GTK_COLUMN_VIEW(view), gtk_column_view_column_new("Name", factory));
  GtkWidget *scrolled = gtk_scrolled_window_new(), *window = gtk_window_new();
  gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), view);
  gtk_window_set_child(GTK_WINDOW(window), scrolled);
  gtk_window_set_default_size(GTK_WINDOW(window), 300, 400);
  gtk_window_present(GTK_WINDOW(window));
  wait_for(view, "row 00001", TRUE);
  person_set_name(rows->pdata[1], "changed");
  g_assert_true(is_shown(view, "changed")); /* at once */
  add("row 00000 b", 1);
  wait_for(view, "row 00000 b", TRUE);
  kvo_list_remove(owner, "friends", 0);
  wait_for(view, "row 00000", FALSE);

  GtkWidget *label = gtk_label_new(NULL), *entry = gtk_entry_new();
  g_object_ref_sink(label);
  g_object_ref_sink(entry);
  kvo_glib_bind(rows->pdata[2], "name", label, "label", G_BINDING_SYNC_CREATE);
  kvo_glib_bind(rows->pdata[2], "name", entry, "text", G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  gtk_editable_set_text(GTK_EDITABLE(entry), "typed");
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "typed");
  g_object_unref(label);
  g_object_unref(entry);
  gtk_window_destroy(GTK_WINDOW(window));
  run_ready();
  end();
}

/* ------------------------------------------------------------------------------------------------------------ Widgets -- */

static void test_nil_text(void) {
  kvo_object *ann = person_new(NULL, 5);
  GtkWidget *entry = gtk_entry_new(), *label = gtk_label_new("old");
  g_object_ref_sink(entry);
  g_object_ref_sink(label);
  kvo_glib_bind(ann, "name", entry, "text", G_BINDING_SYNC_CREATE | G_BINDING_BIDIRECTIONAL);
  kvo_glib_bind(ann, "name", label, "label", G_BINDING_SYNC_CREATE);
  g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(entry)), ==, "");
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "");
  gtk_editable_set_text(GTK_EDITABLE(entry), "typed");
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "typed");
  person_set_name(ann, NULL);
  g_assert_cmpstr(gtk_editable_get_text(GTK_EDITABLE(entry)), ==, "");
  g_object_unref(entry);
  g_object_unref(label);
  kvo_object_destroy(ann);
}

/* When it is disposed of, an entry lets go of its buffer first, and cannot be read afterwards. */
static void test_buffer(void) {
  GtkWidget *entry = gtk_entry_new(), *label = gtk_label_new(NULL);
  g_object_ref_sink(entry);
  g_object_ref_sink(label);
  kvo_glib_bind(kvo_glib_observe(entry), "buffer.text", label, "label", G_BINDING_SYNC_CREATE);
  gtk_editable_set_text(GTK_EDITABLE(entry), "typed");
  g_object_unref(entry);
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "typed");
  g_object_unref(label);
}

static void test_lookup(void) {
  kvo_object *ann = person_new("Ann", 5), *bo = person_new("Bo", 50);
  GtkWidget *label = gtk_label_new(NULL);
  g_object_ref_sink(label);
  kvo_set_object(ann, "boss", bo);
  GObject *wrapper = kvo_glib_wrap(ann);
  GtkExpression *name = gtk_property_expression_new(kvo_glib_wrapper_type(person_class()), key("boss"), "name");
  gtk_expression_bind(name, label, "label", wrapper);
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "Bo");
  person_set_name(bo, "Bob");
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "Bob");
  kvo_set_object(ann, "boss", ann);
  person_set_name(ann, "Anna");
  g_assert_cmpstr(gtk_label_get_label(GTK_LABEL(label)), ==, "Anna");
  g_object_unref(label);
  g_object_unref(wrapper);
  kvo_object_destroy(ann);
  kvo_object_destroy(bo);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_FATAL_MASK); /* GTK warns where there is no session bus */
  if (!gtk_init_check()) {
    g_print("1..0 # SKIP there is no display\n");
    return EXIT_SUCCESS;
  }
  g_test_add_func("/gtk/a sort list model follows", test_sorted);
  g_test_add_func("/gtk/a filter list model follows", test_filtered);
  g_test_add_func("/gtk/an entry and a label show a nil string as none", test_nil_text);
  g_test_add_func("/gtk/the buffer of an entry is followed until the entry ends", test_buffer);
  g_test_add_func("/gtk/an expression follows the object of a property", test_lookup);
  g_test_add_func("/gtk/a column view of ten thousand rows, a label and an entry follow", test_view);
  return g_test_run();
}
