/* report_form.c - the form of a report: every member of a fault, as text and as JSON, whatever the program's names contain. */
#include "fixture.h"
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *formatted(const kvo_fault *fault, kvo_report_format format) {
  static char report[1 << 17];
  CHECK(kvo_fault_format(fault, format, report, sizeof report) < sizeof report);
  if (format == KVO_REPORT_JSON) CHECK(json_is_valid(report));
  return report;
}

/* Returns a text report without the line about the process, which it checks. */
static const char *without_process(const char *text) {
  static char rest[1 << 14];
  const char *line = strstr(text, "\n  process "), *end = line != NULL ? strchr(line + 1, '\n') : NULL;
  if (end == NULL) harness_fail(__FILE__, __LINE__, "no line about the process in:\n%s", text);
  long process = 0;
  int year, month, day, hour, minute;
  double second;
  char program[512] = "", version[32] = "";
  int read = sscanf(line, "\n  process %ld %511[^,], %d-%d-%dT%d:%d:%lfZ, swift-kvo %31[0-9.]\n", &process, program,
                    &year, &month, &day, &hour, &minute, &second, version);
  CHECK(read == 9 && process == (long)getpid());
  CHECK_EQ((const char *)version, kvo_version_string());
  CHECK_CONTAINS(program, "test_report_form");
  struct tm split = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day, .tm_hour = hour, .tm_min = minute};
  long past = (long)time(NULL) - ((long)timegm(&split) + (long)second);
  CHECK(past >= 0 && past < 60);
  snprintf(rest, sizeof rest, "%.*s%s", (int)(line + 1 - text), text, end + 1);
  return rest;
}

static void check_lines(const char *actual, const char *const *expected, size_t count) {
  actual = without_process(actual);
  for (size_t i = 0; i < count; i++) {
    size_t length = strcspn(actual, "\n");
    if (strlen(expected[i]) != length || memcmp(actual, expected[i], length) != 0)
      harness_fail(__FILE__, __LINE__, "line %zu is\n%.*s\nand not\n%s", i, (int)length, actual, expected[i]);
    actual += length + (actual[length] == '\n');
  }
  CHECK_EQ(actual, "");
}

/* ------------------------------------------------------------------------------------------------------- A whole one -- */

#define AT(address) ((void *)(uintptr_t)(address))
#define FILE_AT(name, number) .file = name, .file_length = sizeof name - 1, .line = number

static const kvo_fault_observation title = {.observation = 0x21,
                                            .key_path = "title",
                                            .options = KVO_NEW | KVO_OLD,
                                            .observer_class = "Sidebar",
                                            .observer = AT(0x110),
                                            .context = AT(0xc0),
                                            FILE_AT("App/Sidebar.swift", 41),
                                            .object = AT(0x1e0),
                                            .object_class = "Document"};
static const kvo_fault_observation name = {
    .observation = 0x25, .key_path = "author.name", .options = KVO_NONE, .observer = AT(0x2f0)};

static kvo_fault whole(void) {
  static kvo_fault_observation observations[2];
  static kvo_fault_site sites[2];
  static kvo_fault_step chain[3];
  static const kvo_event events[] = {
      {KVO_EVENT_REGISTERED, 0, 12.0034, AT(0x1e0), "Document", "title", 0x21, "App/Sidebar.swift", 41, NULL},
      {KVO_EVENT_CHANGED, 0, 0.8196, AT(0x1e0), "Document", "title", 0, NULL, 0, "\"x\""},
      {KVO_EVENT_ENDED, 0, 0, AT(0x1e0), "Document", "title", 0x21, "App/Sidebar.swift", 41, NULL}};
  observations[0] = title, observations[1] = name;
  sites[0] = (kvo_fault_site){.label = "first removed", FILE_AT("App/Toolbar.swift", 60), .age = 0.8};
  sites[1] = (kvo_fault_site){.label = "destroyed", .age = -1};
  chain[0] = (kvo_fault_step){title, 2, 61, 0}, chain[1] = (kvo_fault_step){name, 0, 0, 0};
  chain[1].observation.observation = 0x29; /* not listed */
  chain[2] = (kvo_fault_step){title, 1, 1, 0};
  return (kvo_fault){.code = KVO_FAULT_REMOVED_TWICE,
                     .severity = KVO_SEVERITY_FATAL,
                     .summary = "KVO0003 fatal: removed twice",
                     .why = "An observation is removed once.",
                     .apple = "Cannot remove.\nReally not.",
                     .exception = "NSRangeException",
                     .help = "remove it once\nor never",
                     FILE_AT("App/Main.swift", 88),
                     .observations = observations,
                     .observation_count = 2,
                     .object = AT(0x1e0),
                     .object_class = "Document",
                     .sites = sites,
                     .site_count = 2,
                     .chain = chain,
                     .chain_count = 3,
                     .events = events,
                     .event_count = 3};
}

#define MORE_OF_REGISTRATIONS                                                                                          \
  "; KVO_STACKS=32 records the stacks of registrations; KVO_HISTORY=256 records earlier events"
#define MORE "; KVO_HELP=1 lists all settings"

TEST("a text report says what, why, the locations, the observations, the deliveries, earlier events, and what to do") {
  static const char *const lines[] = {
      "KVO0003 fatal: removed twice",
      "  An observation is removed once.",
      "  first removed at App/Toolbar.swift:60  0.800 s ago",
      "  destroyed at an unknown place (pass KVO_HERE)",
      "  observations:",
      "    \"title\" of Document@0x1e0  observer Sidebar@0x110  options new|old  context 0xc0",
      "        registered at App/Sidebar.swift:41",
      "    \"author.name\"  observer 0x2f0",
      "        registered at an unknown place (pass KVO_HERE)",
      "  fault at App/Main.swift:88",
      "  deliveries in progress, each caused by the one above:",
      "    \"title\" of Document@0x1e0 notified Sidebar@0x110, registered at App/Sidebar.swift:41",
      "    \"author.name\" notified 0x2f0, registered at an unknown place (pass KVO_HERE)",
      "    (the 2 steps above repeated 61 more times)",
      "    \"title\" of Document@0x1e0 notified Sidebar@0x110, registered at App/Sidebar.swift:41",
      "    (repeated 1 more time)",
      "  what happened before:",
      "    12.003 s before: registered \"title\" of Document@0x1e0 at App/Sidebar.swift:41",
      "    0.820 s before: changed \"title\" of Document@0x1e0, now \"x\"",
      "    0.000 s before: ended \"title\" of Document@0x1e0, registered at App/Sidebar.swift:41",
      "  Apple says: Cannot remove. ...",
      "  help: remove it once",
      "    or never",
      ("  more: kvo explain KVO0003" MORE_OF_REGISTRATIONS MORE),
  };
  kvo_fault fault = whole();
  check_lines(formatted(&fault, KVO_REPORT_TEXT), lines, sizeof lines / sizeof *lines);
}

static const char *report_of_chain(const kvo_fault_step *chain, size_t count) {
  kvo_fault fault = {.code = KVO_FAULT_RECURSION, .severity = KVO_SEVERITY_FATAL, .summary = "x", .chain = chain};
  fault.chain_count = count;
  return formatted(&fault, KVO_REPORT_TEXT);
}

TEST("repeated and omitted deliveries are counted, and what does not fit into a text") {
  static kvo_fault_step chain[300];
  for (size_t i = 0; i < 300; i++) chain[i].observation = title;
  const char *text = report_of_chain(chain, 1);
  CHECK_CONTAINS(text, "\n  delivery in progress: \"title\" of Document@0x1e0 notified Sidebar@0x110, registered at ");
  CHECK_SAME(strstr(text, "repeated"), NULL);
  CHECK_SAME(strstr(text, "omitted"), NULL);
  chain[0].round = 1, chain[0].repeats = 2, chain[0].skipped = 1;
  text = report_of_chain(chain, 1);
  CHECK_CONTAINS(text, "above:\n    (1 outer delivery omitted)\n    \"title\"");
  CHECK_CONTAINS(text, ":41\n    (repeated 2 more times)\n");
  chain[0].round = 12, chain[0].repeats = 19, chain[0].skipped = 29;
  text = report_of_chain(chain, 12);
  CHECK_CONTAINS(text, "above:\n    (29 outer deliveries omitted)\n    \"title\"");
  CHECK_CONTAINS(text, ":41\n    (the 12 steps above repeated 19 more times)\n");
  text = report_of_chain(chain, 300);
  size_t shown = 0;
  for (const char *at = strstr(text, " notified "); at != NULL; at = strstr(at + 1, " notified ")) shown++;
  char left[64];
  snprintf(left, sizeof left, "\n    (%zu more; KVO_REPORT=json lists them)\n", 300 - shown);
  CHECK(shown > 50 && shown < 200);
  CHECK_CONTAINS(text, left);
}

TEST("deliveries in progress of observations that the report lists take no lines of their own") {
  kvo_fault_step chain[2] = {{name, 0, 0, 0}, {title, 0, 0, 0}};
  kvo_fault fault = whole();
  fault.chain = chain;
  fault.chain_count = 1;
  const char *text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_CONTAINS(text, "registered at App/Sidebar.swift:41\n    \"author.name\"");
  CHECK_CONTAINS(text, "registered at an unknown place (pass KVO_HERE), being notified\n");
  fault.chain_count = 2;
  text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_SAME(strstr(text, "in progress"), NULL);
  CHECK_CONTAINS(text, "registered at App/Sidebar.swift:41, being notified\n");
  fault.code = KVO_FAULT_DANGLING_OBSERVER; /* a dangling observer is not called */
  CHECK_SAME(strstr(formatted(&fault, KVO_REPORT_TEXT), "being notified"), NULL);
}

TEST("JSON has a member for each of these, in one line") {
  kvo_fault fault = whole();
  const char *json = formatted(&fault, KVO_REPORT_JSON);
  static const char *const parts[] = {
      "{\"schema\":1,\"code\":\"KVO0003\",\"severity\":\"fatal\",\"summary\":\"KVO0003 fatal: removed twice\","
      "\"why\":\"An observation is removed once.\",\"apple\":\"Cannot remove.\\u000aReally not.\","
      "\"exception\":\"NSRangeException\",\"help\":\"remove it once\\u000aor never\","
      "\"object\":{\"address\":\"0x1e0\",\"class\":\"Document\"},\"process\":",
      ",\"thread\":0,\"threadName\":\"\",\"faultAt\":{\"file\":\"App/Main.swift\",\"line\":88},\"stack\":[],",
      "\"sites\":[{\"label\":\"first removed\",\"at\":{\"file\":\"App/Toolbar.swift\",\"line\":60},\"thread\":0,"
      "\"secondsAgo\":0.800,\"stack\":[]},"
      "{\"label\":\"destroyed\",\"at\":null,\"thread\":0,\"secondsAgo\":null,\"stack\":[]}],",
      "\"observations\":[{\"id\":\"0x21\",\"keyPath\":\"title\",\"object\":{\"address\":\"0x1e0\",\"class\":"
      "\"Document\"},"
      "\"observerClass\":\"Sidebar\",\"observer\":\"0x110\",\"options\":[\"new\",\"old\"],\"context\":\"0xc0\","
      "\"registeredAt\":{\"file\":\"App/Sidebar.swift\",\"line\":41},\"callback\":null,\"stack\":[]},"
      "{\"id\":\"0x25\",\"keyPath\":\"author.name\",\"object\":null,\"observerClass\":null,\"observer\":\"0x2f0\","
      "\"options\":[],\"context\":\"0x0\",\"registeredAt\":null,\"callback\":null,\"stack\":[]}],",
      "\"chain\":[{\"observation\":{\"id\":\"0x21\",",
      "},\"round\":2,\"repeats\":61,\"skipped\":0},{\"observation\":{\"id\":\"0x29\",",
      "\"events\":[{\"kind\":\"registered\",\"secondsAgo\":12.003,\"thread\":0,"
      "\"object\":{\"address\":\"0x1e0\",\"class\":\"Document\"},\"keyPath\":\"title\",\"id\":\"0x21\","
      "\"registeredAt\":{\"file\":\"App/Sidebar.swift\",\"line\":41},\"value\":null},{\"kind\":\"changed\",",
      "\"id\":\"0x0\",\"registeredAt\":null,\"value\":\"\\u0022x\\u0022\"},{\"kind\":\"ended\",",
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) CHECK_CONTAINS(json, parts[i]);
  CHECK_EQ(strcspn(json, "\n"), strlen(json) - 1);
}

TEST("what is unknown takes no line in a text, and is null in JSON") {
  static const char *const lines[] = {
      "KVO0011 error: nothing",
      ("  more: kvo explain KVO0011" MORE),
  };
  kvo_fault fault = {
      .code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = "KVO0011 error: nothing"};
  check_lines(formatted(&fault, KVO_REPORT_TEXT), lines, sizeof lines / sizeof *lines);
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON),
                 "\"why\":null,\"apple\":null,\"exception\":null,\"help\":null,\"object\":null,\"process\":");
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON),
                 "\"faultAt\":null,\"stack\":[],\"sites\":[],\"observations\":[],\"chain\":[],\"events\":[]}\n");
}

/* The same text with N for each number of a thread or process, and for the name of the thread, which a tool may change. */
static const char *without_numbers(const char *text) {
  static char masked[1 << 13];
  static const char *const before[] = {"  thread ",      "\"thread\":", "\"process\":",  "\"threadName\":\"",
                                       "\"program\":\"", "\"time\":\"", "\"version\":\""};
  size_t at = 0;
  while (*text != '\0' && at + 1 < sizeof masked) {
    masked[at++] = *text++;
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
      size_t length = strlen(before[i]), shown = strcspn(text, ",\" \n");
      if (at < length || memcmp(masked + at - length, before[i], length) != 0) continue;
      masked[at++] = 'N';
      text += shown;
    }
  }
  masked[at] = '\0';
  return masked;
}

TEST("a text report shortens deep stacks, equal observations and Apple's list; JSON has all") {
  static void *frames[21];
  for (size_t i = 0; i < 21; i++) frames[i] = AT(0x1000 + i); /* in no module */
  kvo_fault_observation observations[] = {title, name, name};
  observations[0].duplicate_count = 1;
  observations[1].duplicate_count = 2;
  observations[1].context = AT(0xc1);
  observations[2].observer = NULL;
  observations[2].object = AT(0x1e0);
  observations[2].options = KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT;
  observations[2].frames = frames;
  observations[2].frame_count = 2;
  const kvo_fault_site sites[] = {
      {.label = "first", FILE_AT("a.c", 1), .age = 0, .thread = (uint32_t)getpid()},
      {.label = "second", .age = -1, .frames = frames, .frame_count = 1, .thread = UINT32_MAX},
      {.label = "third",
       .file = "b.c and more",
       .file_length = 3,
       .line = 2,
       .age = 2.0005,
       .frames = frames + 20,
       .frame_count = 1}};
  const kvo_event events[] = {{KVO_EVENT_DIED, (uint32_t)getpid(), 1, AT(0x1e0), "Document", "", 0, NULL, 0, NULL},
                              {KVO_EVENT_DELIVERED, 0, 0.0004, AT(0x1e0), NULL, "title", 0x21, NULL, 0, "nil"}};
  const kvo_fault fault = {.code = KVO_FAULT_DEALLOCATED_WHILE_OBSERVED,
                           .severity = KVO_SEVERITY_FATAL,
                           .summary = "two\nlines",
                           .why = "for\na reason",
                           .apple = "Observation info: (\n<one>\n<two>\n)",
                           .thread = (uint32_t)getpid(),
                           .frames = frames,
                           .frame_count = 21,
                           .observations = observations,
                           .observation_count = 3,
                           .sites = sites,
                           .site_count = 3,
                           .events = events,
                           .event_count = 2};
  CHECK_EQ(without_numbers(without_process(formatted(&fault, KVO_REPORT_TEXT))),
           "two\n"
           "  lines\n"
           "  for\n"
           "    a reason\n"
           "  first at a.c:1  thread N (main), 0.000 s ago\n"
           "  second  thread N\n"
           "      #0 0x1000\n"
           "  third at b.c:2  2.001 s ago\n"
           "      #0 0x1014\n"
           "  observations:\n"
           "    \"title\" of Document@0x1e0  observer Sidebar@0x110  options new|old  context 0xc0\n"
           "        registered at App/Sidebar.swift:41, as were 1 other like it\n"
           "    \"author.name\"  observer 0x2f0  context 0xc1\n"
           "        registered at an unknown place (pass KVO_HERE), as were 2 others like it\n"
           "    \"author.name\" of 0x1e0  observer a callback  options initial|prior\n"
           "        registered at an unknown place (pass KVO_HERE)\n"
           "          #0 0x1000\n"
           "          #1 0x1001\n"
           "  fault  thread N (main)\n"
           "      #0 0x1000\n"
           "      #1 0x1001\n"
           "      #2 0x1002\n"
           "      #3 0x1003\n"
           "      #4 0x1004\n"
           "      #5 0x1005\n"
           "      #6 0x1006\n"
           "      #7 0x1007\n"
           "      #8 0x1008\n"
           "      #9 0x1009\n"
           "      #10 0x100a\n"
           "      #11 0x100b\n"
           "      #12 0x100c\n"
           "      #13 0x100d\n"
           "      #14 0x100e\n"
           "      #15 0x100f\n"
           "      (5 more frames; KVO_REPORT=json lists them)\n"
           "  what happened before:\n"
           "    1.000 s before: died Document@0x1e0  thread N (main)\n"
           "    0.000 s before: delivered \"title\" of 0x1e0, now nil\n"
           "  Apple says: Observation info: (...)\n"
           "  more: kvo explain KVO0001; KVO_STACKS=32 records the stacks of registrations" MORE "\n");
  CHECK_EQ(
      without_numbers(formatted(&fault, KVO_REPORT_JSON)),
      "{\"schema\":1,\"code\":\"KVO0001\",\"severity\":\"fatal\",\"summary\":\"two\\u000alines\","
      "\"why\":\"for\\u000aa reason\",\"apple\":\"Observation info: (\\u000a<one>\\u000a<two>\\u000a)\","
      "\"exception\":null,\"help\":null,\"object\":null,\"process\":N,\"program\":\"N\",\"time\":\"N\",\"version\":\"N\",\"thread\":N,"
      "\"threadName\":\"N\",\"faultAt\":null,\"stack\":[{\"address\":\"0x1000\"},"
      "{\"address\":\"0x1001\"},{\"address\":\"0x1002\"},{\"address\":\"0x1003\"},{\"address\":\"0x1004\"},"
      "{\"address\":\"0x1005\"},{\"address\":\"0x1006\"},{\"address\":\"0x1007\"},{\"address\":\"0x1008\"},"
      "{\"address\":\"0x1009\"},{\"address\":\"0x100a\"},{\"address\":\"0x100b\"},{\"address\":\"0x100c\"},"
      "{\"address\":\"0x100d\"},{\"address\":\"0x100e\"},{\"address\":\"0x100f\"},{\"address\":\"0x1010\"},"
      "{\"address\":\"0x1011\"},{\"address\":\"0x1012\"},{\"address\":\"0x1013\"},{\"address\":\"0x1014\"}],"
      "\"sites\":[{\"label\":\"first\",\"at\":{\"file\":\"a.c\",\"line\":1},\"thread\":N,\"secondsAgo\":0.000,"
      "\"stack\":[]},{\"label\":\"second\",\"at\":null,\"thread\":N,\"secondsAgo\":null,"
      "\"stack\":[{\"address\":\"0x1000\"}]},{\"label\":\"third\",\"at\":{\"file\":\"b.c\",\"line\":2},\"thread\":N,"
      "\"secondsAgo\":2.001,\"stack\":[{\"address\":\"0x1014\"}]}],\"observations\":[{\"id\":\"0x21\","
      "\"keyPath\":\"title\",\"object\":{\"address\":\"0x1e0\",\"class\":\"Document\"},"
      "\"observerClass\":\"Sidebar\",\"observer\":\"0x110\",\"options\":[\"new\",\"old\"],\"context\":\"0xc0\","
      "\"registeredAt\":{\"file\":\"App/Sidebar.swift\",\"line\":41},\"callback\":null,\"stack\":[],"
      "\"duplicateCount\":1},{\"id\":\"0x25\",\"keyPath\":\"author.name\",\"object\":null,"
      "\"observerClass\":null,\"observer\":\"0x2f0\",\"options\":[],\"context\":\"0xc1\",\"registeredAt\":null,"
      "\"callback\":null,\"stack\":[],\"duplicateCount\":2},{\"id\":\"0x25\",\"keyPath\":\"author.name\","
      "\"object\":{\"address\":\"0x1e0\",\"class\":null},\"observerClass\":null,\"observer\":\"0x0\","
      "\"options\":[\"initial\",\"prior\"],\"context\":\"0x0\",\"registeredAt\":null,\"callback\":null,"
      "\"stack\":[{\"address\":\"0x1000\"},{\"address\":\"0x1001\"}]}],\"chain\":[],\"events\":[{\"kind\":\"died\","
      "\"secondsAgo\":1.000,\"thread\":N,\"object\":{\"address\":\"0x1e0\",\"class\":\"Document\"},"
      "\"keyPath\":\"\",\"id\":\"0x0\",\"registeredAt\":null,\"value\":null},{\"kind\":\"delivered\","
      "\"secondsAgo\":0.000,\"thread\":N,\"object\":{\"address\":\"0x1e0\",\"class\":null},\"keyPath\":\"title\","
      "\"id\":\"0x21\",\"registeredAt\":null,\"value\":\"nil\"}]}"
      "\n");
}

/* ------------------------------------------------------------------------------------------------- The program's names -- */

TEST("control characters and invalid UTF-8 are escaped in a text; letters of all scripts are not") {
  kvo_fault_observation odd = title;
  odd.key_path = "a\nb\x7f\xc2\x9b"
                 "c\xff\xe2\x82\xac\xc3\xa4";
  odd.observer_class = "\x1b[2J";
  kvo_fault fault = whole();
  fault.observations = &odd;
  fault.observation_count = 1;
  const char *text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_CONTAINS(text, "\"a\\x0ab\\x7f\\xc2\\x9bc\\xff\xe2\x82\xac\xc3\xa4\" of Document");
  CHECK_CONTAINS(text, "observer \\x1b[2J@0x110");
  const char *json = formatted(&fault, KVO_REPORT_JSON);
  CHECK_CONTAINS(json, "\"a\\u000ab\\u007f\xc2\x9b"
                       "c\\ufffd\xe2\x82\xac\xc3\xa4\"");
}

TEST("UTF-8 is valid from the first to the last character of each length, and neither overlong nor a surrogate") {
  static const char *const valid[] = {"\xc2\xa0",     "\xdf\xbf",     "\xe0\xa0\x80",     "\xed\x9f\xbf",
                                      "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
  static const char *const invalid[] = {"\x80",
                                        "\xc1\xbf",
                                        "\xc2",
                                        "\xc2\xc0",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xe2\x82",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80",
                                        "\xf5\x80\x80\x80",
                                        "\xff",
                                        "\xf0\x9f\x98\x7f"};
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR};
  char expected[64];
  for (size_t i = 0; i < sizeof valid / sizeof *valid; i++) {
    fault.summary = valid[i];
    snprintf(expected, sizeof expected, "%s\n", valid[i]);
    CHECK_SAME(strstr(formatted(&fault, KVO_REPORT_TEXT), expected), formatted(&fault, KVO_REPORT_TEXT));
    snprintf(expected, sizeof expected, "\"summary\":\"%s\"", valid[i]);
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), expected);
  }
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    fault.summary = invalid[i];
    snprintf(expected, sizeof expected, "\\x%02x", (unsigned)(unsigned char)invalid[i][0]);
    CHECK_SAME(strstr(formatted(&fault, KVO_REPORT_TEXT), expected), formatted(&fault, KVO_REPORT_TEXT));
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), "\"summary\":\"\\ufffd");
  }
}

TEST("the last control character and the first letter are told apart, in a text and in JSON") {
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR};
  fault.summary = "\x1f ~\x7f\xc2\x9f\xc2\xa0\\\"";
  const char *text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_SAME(strstr(text, "\\x1f ~\\x7f\\xc2\\x9f\xc2\xa0\\\"\n"), text);
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), ":\"\\u001f ~\\u007f\xc2\x9f\xc2\xa0\\u005c\\u0022\",");
}

static size_t longest_line(const char *text) {
  size_t longest = 0;
  for (size_t length; *text != '\0'; text += length + (text[length] == '\n')) {
    length = strcspn(text, "\n");
    if (length > longest) longest = length;
  }
  return longest;
}

static size_t summary_length;
static kvo_action measure(const kvo_fault *fault, void *arg) {
  (void)arg;
  summary_length = strlen(fault->summary);
  CHECK_CONTAINS(fault->summary, "KVO0010 error: cannot observe \"aaaa");
  CHECK_CONTAINS(fault->summary, " bytes left out)...");
  CHECK_CONTAINS(fault->summary, ": it has an empty component");
  const char *text = formatted(fault, KVO_REPORT_TEXT);
  CHECK(longest_line(text) < 1200);
  CHECK(strlen(text) < 8192);
  CHECK(strlen(formatted(fault, KVO_REPORT_JSON)) < 32768);
  /* Cut once only, although both the handler and the report cut it. */
  const char *first = strstr(text, "bytes left out");
  CHECK(first != NULL && strstr(first + 1, "bytes left out") == NULL);
  return KVO_ACTION_IGNORE;
}

TEST("of a key path of 1 MB the beginning and the end are printed") {
  enum { LENGTH = 1 << 20 };
  char *path = malloc(LENGTH + 1);
  CHECK(path != NULL);
  memset(path, 'a', LENGTH);
  path[LENGTH - 5] = path[LENGTH - 4] = '.';
  path[LENGTH] = '\0';
  item *object = item_make(0);
  watcher w = {0};
  kvo_observer observer = watcher_observer(path, KVO_NONE, &w);
  kvo_set_fault_handler(measure, NULL);
  CHECK_STATUS(kvo_add_observer(as_object(object), &observer, NULL), KVO_ERROR_MALFORMED_KEY_PATH);
  CHECK(summary_length > 900 && summary_length < 1200);
  kvo_set_fault_handler(NULL, NULL);
  free(path);
  item_destroy(object);
}

TEST("a name of up to 1000 bytes is whole; of a longer one the first 600 and the last 300 are printed") {
  char long_name[1002], expected[1002];
  for (size_t i = 0; i < 1001; i++) long_name[i] = (char)('a' + i % 26);
  long_name[1000] = '\0';
  kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = long_name};
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), long_name);
  long_name[1000] = 'z';
  long_name[1001] = '\0';
  snprintf(expected, sizeof expected, "%.600s...(101 bytes left out)...%s\n", long_name, long_name + 701);
  const char *text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_SAME(strstr(text, expected), text);
}

TEST("a name is not cut inside a UTF-8 character") {
  static const char *const all[] = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  for (size_t shift = 0; shift < 12; shift++) {
    const char *letter = all[shift % 3], *before = &"xxx"[shift / 3], *after = &"yyy"[shift / 3];
    char name[3008], expected[32];
    size_t length = (size_t)snprintf(name, sizeof name, "%s", before);
    for (int i = 0; i < 700; i++) length += (size_t)snprintf(name + length, sizeof name - length, "%s", letter);
    snprintf(name + length, sizeof name - length, "%s", after);
    kvo_fault fault = {.code = KVO_FAULT_NEVER_NOTIFIES, .severity = KVO_SEVERITY_ERROR, .summary = name};
    const char *text = formatted(&fault, KVO_REPORT_TEXT);
    snprintf(expected, sizeof expected, "%s...(", letter);
    CHECK_CONTAINS(text, expected);
    snprintf(expected, sizeof expected, " bytes left out)...%s", letter);
    CHECK_CONTAINS(text, expected);
    CHECK_SAME(strstr(text, "\\x"), NULL);
  }
}

TEST("a text ends with a NUL in a buffer of any size, and behind the buffer nothing is written") {
  char whole[256], cut[256];
  size_t length = kvo_call_format((const void *)(uintptr_t)1, whole, sizeof whole);
  CHECK_EQ(strlen(whole), length);
  for (size_t size = 0; size < length + 3; size++) {
    memset(cut, 'x', sizeof cut);
    CHECK_EQ(kvo_call_format((const void *)(uintptr_t)1, cut, size), length);
    size_t kept = size > length ? length : size - (size > 0);
    CHECK_EQ(memcmp(cut, whole, kept), 0);
    if (size > 0) CHECK_EQ((int)cut[kept], 0);
    CHECK_EQ((int)cut[size > 0 ? kept + 1 : 0], 'x');
  }
}
