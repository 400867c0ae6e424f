/* who.c - who observes a key of a class: the observations of it, and those that reach it through a key path or an expression. */
#include "serving/client.h"
#include "text/report.h"
#include "watching/traffic.h"

#include <stdlib.h>

/* A name that has been asked for: a class, and a key path or "". */
typedef struct asked {
  const char *name;
  size_t class_length;
  const char *key_path;
} asked;

/* Whether the name of a class is the one that is asked for, or ends with it after a module's name and a point. */
static bool is_class(const asked *what, const char *class_name) {
  size_t length = strlen(class_name);
  if (length < what->class_length) return false;
  const char *end = class_name + length - what->class_length;
  return memcmp(end, what->name, what->class_length) == 0 && (end == class_name || end[-1] == '.');
}

/* Whether there is a registered class of the name; and the property that begins the key path, or the nearest. */
typedef struct who_known {
  bool class_exists, has_properties, key_exists;
} who_known;

static who_known look_up(const asked *what, kvo_nearest *nearest_class, kvo_nearest *nearest_key) {
  who_known result = {false, false, false};
  size_t first = strcspn(what->key_path, ".");
  kvo__classes_lock();
  for (const kvo_class *cls = kvo__classes_first(); cls != NULL; cls = cls->next) {
    if (atomic_load(&cls->is_retired) || cls->original != NULL) continue;
    kvo__nearest(nearest_class, cls->display_name);
    if (!is_class(what, cls->display_name)) continue;
    result.class_exists = true;
    for (size_t i = 0; i < cls->property_count; i++) {
      const char *name = cls->properties[i]->name;
      result.has_properties = true;
      result.key_exists |= strlen(name) == first && memcmp(name, what->key_path, first) == 0;
      kvo__nearest(nearest_key, name);
    }
  }
  kvo__classes_unlock();
  return result;
}

/* Splits what was asked for into a class and a key path. Names of classes may contain points: takes the longest that there is; if there is
 * none, the shortest that is like one. */
static who_known split(const char *name, asked *out, kvo_nearest *nearest_class, kvo_nearest *nearest_key) {
  who_known found = {false, false, false};
  *out = (asked){name, strlen(name), ""};
  for (size_t length = strlen(name); length > 0 && !found.class_exists; length--) {
    if (name[length] != '.' && name[length] != '\0') continue;
    asked what = {name, length, name[length] == '.' ? name + length + 1 : ""};
    char class_name[KVO_REQUEST];
    memcpy(class_name, name, length);
    class_name[length] = '\0';
    kvo_nearest like_class = {.name = class_name}, like_key = {.name = what.key_path};
    found = look_up(&what, &like_class, &like_key);
    if (nearest_class->found != NULL && !found.class_exists && like_class.found == NULL) continue;
    *out = what;
    *nearest_class = (kvo_nearest){.found = like_class.found};
    *nearest_key = (kvo_nearest){.found = like_key.found};
  }
  return found;
}

/* ------------------------------------------------------------------------------------------------------------ Lines -- */

typedef struct answer {
  const kvo_graph *graph;
  const asked *what;
  double seconds;
  size_t found, direct, objects;
} answer;

static bool is_direct(const answer *of, const kvo_graph_observation *each) {
  return is_class(of->what, of->graph->objects[each->object].class_name) &&
         (*of->what->key_path == '\0' || strcmp(each->key_path, of->what->key_path) == 0);
}

/* The edge through which an observation reaches the key, or NULL. */
static const kvo_graph_edge *edge_of(const answer *of, const kvo_graph_observation *each) {
  for (size_t i = each->first_edge; i < each->first_edge + each->edge_count; i++) {
    const kvo_graph_edge *edge = &of->graph->edges[i];
    if (edge->key == NULL || !is_class(of->what, of->graph->objects[edge->object].class_name)) continue;
    if (*of->what->key_path == '\0' || strcmp(edge->key, of->what->key_path) == 0) return edge;
  }
  return NULL;
}

static void who_put_object(kvo_sink *to, const char *name, const kvo_graph_object *object) {
  kvo__put_member(to, name);
  if (object == NULL) {
    kvo__put(to, "null");
    return;
  }
  kvo__put(to, "{\"class\":");
  kvo__put_json_bytes(to, object->class_name, strlen(object->class_name));
  kvo__put_json_address(to, "address", kvo__address(object->object));
  kvo__put_byte(to, '}');
}

static void put_observer(kvo_sink *to, const answer *of, const kvo_graph_observation *each, const kvo_graph_edge *via) {
  kvo__put(to, "{\"id\":\"");
  kvo__put_address(to, each->observation);
  kvo__put_byte(to, '"');
  who_put_object(to, "object", &of->graph->objects[each->object]);
  kvo__put_json_string(to, "keyPath", each->key_path);
  /* For an observation of another object or key path: the object that has the key. */
  who_put_object(to, "via", via != NULL ? &of->graph->objects[via->object] : NULL);
  kvo__put_json_options(to, each->options);
  kvo__put_member(to, "endsWithObject");
  kvo__put(to, (each->options & KVO_ENDS_WITH_OBJECT) != 0 ? "true" : "false");
  const char *class_name = each->observer_class;
  if (class_name == NULL && each->observer_object != KVO_GRAPH_NONE)
    class_name = of->graph->objects[each->observer_object].class_name;
  kvo__put_json_string(to, "observerClass", class_name != NULL && *class_name != '\0' ? class_name : NULL);
  kvo__put_json_address(to, "observer", kvo__address(each->observer));
  kvo__put_json_string(to, "note", each->note);
  kvo__put_json_site(to, "registeredAt", each->file, each->file != NULL ? strlen(each->file) : 0, each->line);
  uint64_t count = 0;
  kvo__put_member(to, "notifications");
  if (of->seconds > 0 && kvo__traffic_of(each->observation, &count))
    kvo__put_number(to, count, 10);
  else
    kvo__put(to, "null");
  kvo__put(to, "}\n");
}

static void put_answer(kvo_sink *to, void *arg) {
  answer *of = arg;
  const kvo_graph *graph = of->graph;
  of->found = of->direct = of->objects = 0;
  size_t last = KVO_GRAPH_NONE;
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    bool direct = is_direct(of, each);
    of->direct += direct;
    of->found += direct || edge_of(of, each) != NULL;
    of->objects += direct && each->object != last; /* they are sorted by object */
    if (direct) last = each->object;
  }
  kvo__put(to, "{\"class\":");
  kvo__put_json_bytes(to, of->what->name, of->what->class_length);
  kvo__put_json_string(to, "keyPath", *of->what->key_path != '\0' ? of->what->key_path : NULL);
  kvo__append(to, ",\"objects\":%zu,\"observations\":%zu,\"through\":%zu,\"seconds\":", of->objects, of->direct,
              of->found - of->direct);
  kvo__put_seconds(to, of->seconds);
  kvo__put(to, "}\n");
  for (size_t i = 0; i < graph->observation_count; i++) {
    const kvo_graph_observation *each = &graph->observations[i];
    const kvo_graph_edge *via = is_direct(of, each) ? NULL : edge_of(of, each);
    if (via != NULL || is_direct(of, each)) put_observer(to, of, each, via);
  }
}

static bool who_is_observed(const answer *of) {
  for (size_t i = 0; i < of->graph->observation_count; i++)
    if (is_direct(of, &of->graph->observations[i]) || edge_of(of, &of->graph->observations[i]) != NULL) return true;
  return false;
}

static void answer_name(kvo_client *of, const kvo_graph *graph, const char *name, double seconds) {
  kvo_nearest nearest_class = {.name = NULL}, nearest_key = {.name = NULL};
  asked what;
  who_known found = split(name, &what, &nearest_class, &nearest_key);
  int length = (int)what.class_length;
  answer answered = {.graph = graph, .what = &what, .seconds = seconds};
  bool observed = who_is_observed(&answered);
  if (!found.class_exists && !observed && nearest_class.found != NULL)
    kvo__client_fail(of, "unknownClass", "there is no class \"%.*s\"; did you mean \"%s\"?", length, name,
                     nearest_class.found);
  else if (!found.class_exists && !observed)
    kvo__client_fail(of, "unknownClass", "there is no class \"%.*s\" that has been observed", length, name);
  else if (*what.key_path != '\0' && !observed && found.has_properties && !found.key_exists &&
           nearest_key.found != NULL)
    kvo__client_fail(of, "unknownKey", "%.*s has no key \"%s\"; did you mean \"%s\"?", length, name, what.key_path,
                     nearest_key.found);
  else if (*what.key_path != '\0' && !observed && found.has_properties && !found.key_exists)
    kvo__client_fail(of, "unknownKey", "%.*s has no key \"%s\"", length, name, what.key_path);
  else if (kvo__output_put(&of->output, put_answer, &answered))
    kvo__client_finish(of);
  else
    kvo__client_fail(of, "outOfMemory", "the program has no memory for the answer");
}

void kvo__client_who(kvo_client *of, const char *name, double seconds) {
  kvo_graph *graph = NULL;
  if (kvo_snapshot(&graph) == KVO_OK)
    answer_name(of, graph, name, seconds);
  else
    kvo__client_fail(of, "outOfMemory", "the program has no memory for the answer");
  kvo_graph_free(graph);
}
