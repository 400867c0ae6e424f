/* report_form.c - the form of a report: every member of a fault, as text and as JSON, whatever the program's names contain. */
#include "reported.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
  struct timespec present; /* time(2) lags behind it */
  clock_gettime(CLOCK_REALTIME, &present);
  long past = (long)present.tv_sec - ((long)timegm(&split) + (long)second);
  CHECK(past >= 0 && past < 60);
  snprintf(rest, sizeof rest, "%.*s%s", (int)(line + 1 - text), text, end + 1);
  return rest;
}

static void check_text(const char *actual, const char *expected) {
  size_t same = 0;
  while (actual[same] != '\0' && actual[same] == expected[same]) same++;
  if (actual[same] != expected[same])
    harness_fail(__FILE__, __LINE__, "the text goes on with\n%.200s\nand not\n%.200s", actual + same, expected + same);
}

/* ------------------------------------------------------------------------------------------------------- A whole one -- */

#define AT(address) ((void *)(uintptr_t)(address))
#define FILE_AT(name, number) .file = name " and more", .file_length = sizeof name - 1, .line = number

static const kvo_fault_observation title = {.observation = 0x21,
                                            .key_path = "title",
                                            .options = KVO_NEW | KVO_OLD,
                                            .observer_class = "Sidebar",
                                            .observer = AT(0x110),
                                            .context = AT(0xc0),
                                            .note = "on queue com.example.model",
                                            FILE_AT("App/Sidebar.swift", 41),
                                            .object = AT(0x1e0),
                                            .object_class = "Document",
                                            .duplicate_count = 1};
static const kvo_fault_observation name = {.observation = 0x25,
                                           .key_path = "author.name",
                                           .options = KVO_INITIAL | KVO_PRIOR | KVO_ENDS_WITH_OBJECT,
                                           .object = AT(0x1e0)};

static kvo_fault whole(void) {
  static void *frames[] = {AT(0x1000), AT(0x1001)}; /* in no module */
  static kvo_fault_observation observations[2];
  static kvo_fault_site sites[3];
  static kvo_fault_step chain[3];
  static const kvo_event events[] = {
      {KVO_EVENT_REGISTERED, 0, 12.0034, AT(0x1e0), "Document", "title", 0x21, "App/Sidebar.swift", 41, NULL},
      {KVO_EVENT_CHANGED, 0, 0.8196, AT(0x1e0), "Document", "title", 0, NULL, 0, "\"x\""},
      {KVO_EVENT_ENDED, 0, 0, AT(0x1e0), "Document", "title", 0x21, "App/Sidebar.swift", 41, NULL},
      {KVO_EVENT_DIED, 0, 0, AT(0x1e0), NULL, "", 0, NULL, 0, NULL}};
  observations[0] = title, observations[1] = name;
  observations[1].frames = frames, observations[1].frame_count = 2;
  sites[0] = (kvo_fault_site){.label = "first removed", FILE_AT("App/Toolbar.swift", 60), .age = 0.8};
  sites[1] = (kvo_fault_site){.label = "destroyed", .age = -1};
  sites[2] = (kvo_fault_site){.label = "called", .age = 2.0005, .thread = UINT32_MAX};
  sites[2].frames = frames, sites[2].frame_count = 1;
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
                     .thread = UINT32_MAX,
                     .observations = observations,
                     .observation_count = 2,
                     .object = AT(0x1e0),
                     .object_class = "Document",
                     .sites = sites,
                     .site_count = 3,
                     .chain = chain,
                     .chain_count = 3,
                     .events = events,
                     .event_count = 4};
}

#define MORE "; KVO_HELP=1 lists all settings\n"

TEST("a text report says what, why, the locations, the observations, the deliveries, earlier events, and what to do") {
  kvo_fault fault = whole();
  check_text(without_process(formatted(&fault, KVO_REPORT_TEXT)),
             "KVO0003 fatal: removed twice\n"
             "  An observation is removed once.\n"
             "  first removed at App/Toolbar.swift:60  0.800 s ago\n"
             "  destroyed at an unknown place (pass KVO_HERE)\n"
             "  called  thread 4294967295, 2.001 s ago\n"
             "      #0 0x1000\n"
             "  observations:\n"
             "    \"title\" of Document@0x1e0  observer Sidebar@0x110  options new|old  context 0xc0\n"
             "        registered at App/Sidebar.swift:41, as was 1 other like it, on queue com.example.model\n"
             "    \"author.name\" of 0x1e0  observer a callback  options initial|prior\n"
             "        registered at an unknown place (pass KVO_HERE)\n"
             "          #0 0x1000\n"
             "          #1 0x1001\n"
             "  fault at App/Main.swift:88  thread 4294967295\n"
             "  deliveries in progress, each caused by the one above:\n"
             "    \"title\" of Document@0x1e0 notified Sidebar@0x110, registered at App/Sidebar.swift:41\n"
             "    \"author.name\" of 0x1e0 notified a callback, registered at an unknown place (pass KVO_HERE)\n"
             "    (the 2 steps above repeated 61 more times)\n"
             "    \"title\" of Document@0x1e0 notified Sidebar@0x110, registered at App/Sidebar.swift:41\n"
             "    (repeated 1 more time)\n"
             "  what happened before:\n"
             "    12.003 s before: registered \"title\" of Document@0x1e0 at App/Sidebar.swift:41\n"
             "    0.820 s before: changed \"title\" of Document@0x1e0, now \"x\"\n"
             "    0.000 s before: ended \"title\" of Document@0x1e0, registered at App/Sidebar.swift:41\n"
             "    0.000 s before: died 0x1e0\n"
             "  Apple says: Cannot remove. ...\n"
             "  help: remove it once\n"
             "    or never\n"
             "  more: kvo explain KVO0003; KVO_STACKS=32 records the stacks of registrations; KVO_HISTORY=256 records "
             "earlier events" MORE);
}

TEST("JSON has a member for each of these, in one line") {
  kvo_fault fault = whole();
  const char *json = formatted(&fault, KVO_REPORT_JSON);
  static const char *const parts[] = {
      "{\"schema\":1,\"code\":\"KVO0003\",\"severity\":\"fatal\",\"summary\":\"KVO0003 fatal: removed twice\","
      "\"why\":\"An observation is removed once.\",\"apple\":\"Cannot remove.\\u000aReally not.\","
      "\"exception\":\"NSRangeException\",\"help\":\"remove it once\\u000aor never\","
      "\"object\":{\"address\":\"0x1e0\",\"class\":\"Document\"},\"process\":",
      ",\"thread\":4294967295,\"threadName\":\"\",\"faultAt\":{\"file\":\"App/Main.swift\",\"line\":88},\"stack\":[],",
      "\"sites\":[{\"label\":\"first removed\",\"at\":{\"file\":\"App/Toolbar.swift\",\"line\":60},\"thread\":0,"
      "\"secondsAgo\":0.800,\"stack\":[]},"
      "{\"label\":\"destroyed\",\"at\":null,\"thread\":0,\"secondsAgo\":null,\"stack\":[]},"
      "{\"label\":\"called\",\"at\":null,\"thread\":4294967295,\"secondsAgo\":2.001,"
      "\"stack\":[{\"address\":\"0x1000\"}]}],",
      "\"observations\":[{\"id\":\"0x21\",\"keyPath\":\"title\",\"object\":{\"address\":\"0x1e0\",\"class\":"
      "\"Document\"},"
      "\"observerClass\":\"Sidebar\",\"observer\":\"0x110\",\"options\":[\"new\",\"old\"],\"context\":\"0xc0\","
      "\"note\":\"on queue com.example.model\",\"registeredAt\":{\"file\":\"App/Sidebar.swift\",\"line\":41},"
      "\"callback\":null,\"stack\":[],\"duplicateCount\":1},"
      "{\"id\":\"0x25\",\"keyPath\":\"author.name\",\"object\":{\"address\":\"0x1e0\",\"class\":null},"
      "\"observerClass\":null,\"observer\":\"0x0\",\"options\":[\"initial\",\"prior\"],\"context\":\"0x0\","
      "\"registeredAt\":null,\"callback\":null,\"stack\":[{\"address\":\"0x1000\"},{\"address\":\"0x1001\"}]}],",
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
  kvo_fault fault = fault_of("KVO0011 error: nothing");
  check_text(without_process(formatted(&fault, KVO_REPORT_TEXT)), "KVO0011 error: nothing\n"
                                                                  "  more: kvo explain KVO0011" MORE);
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON),
                 "\"why\":null,\"apple\":null,\"exception\":null,\"help\":null,\"object\":null,\"process\":");
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON),
                 "\"faultAt\":null,\"stack\":[],\"sites\":[],\"observations\":[],\"chain\":[],\"events\":[]}\n");
}

static const char *report_of_chain(const kvo_fault_step *chain, size_t count) {
  kvo_fault fault = fault_of("x");
  fault.chain = chain;
  fault.chain_count = count;
  return formatted(&fault, KVO_REPORT_TEXT);
}

TEST("repeated and omitted deliveries are counted, and what does not fit into a text") {
  static kvo_fault_step chain[300];
  for (size_t i = 0; i < 300; i++) chain[i].observation = title;
  const char *text = report_of_chain(chain, 1);
  CHECK_CONTAINS(text, "\n  delivery in progress: \"title\" of Document@0x1e0 notified Sidebar@0x110, registered at ");
  CHECK(strstr(text, "repeated") == NULL && strstr(text, "omitted") == NULL);
  chain[0].round = 1, chain[0].repeats = 2, chain[0].skipped = 1;
  text = report_of_chain(chain, 1);
  CHECK_CONTAINS(text, "above:\n    (1 outer delivery omitted)\n    \"title\"");
  CHECK_CONTAINS(text, ":41\n    (repeated 2 more times)\n");
  chain[0].round = 12, chain[0].repeats = 19, chain[0].skipped = 29;
  text = report_of_chain(chain, 300);
  CHECK_CONTAINS(text, "above:\n    (29 outer deliveries omitted)\n    \"title\"");
  CHECK_CONTAINS(text, ":41\n    (the 12 steps above repeated 19 more times)\n");
  size_t shown = occurrences(text, " notified ");
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
  CHECK_CONTAINS(text, "com.example.model\n    \"author.name\"");
  CHECK_CONTAINS(text, "registered at an unknown place (pass KVO_HERE), being notified\n");
  CHECK_SAME(strstr(text, "in progress"), NULL);
  fault.code = KVO_FAULT_DANGLING_OBSERVER; /* a dangling observer is not called */
  CHECK_SAME(strstr(formatted(&fault, KVO_REPORT_TEXT), "being notified"), NULL);
}

/* ------------------------------------------------------------------------------------------------- The program's names -- */

TEST("control characters and invalid UTF-8 are escaped in a text and in JSON; letters of all scripts are not") {
  static const struct {
    const char *text, *in_text, *in_json;
  } rows[] = {
      {"\x1f ~\x7f\xc2\x9f\xc2\xa0\\\"", "\\x1f ~\\x7f\\xc2\\x9f\xc2\xa0\\\"",
       "\\u001f ~\\u007f\xc2\x9f\xc2\xa0\\u005c\\u0022"},
      {"\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf", "\xc2\xa0\xdf\xbf"},
      {"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
       "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"},
      {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"}};
  static const char *const invalid[] = {"\x80",         "\xc1\xbf",     "\xc2",         "\xc2\xc0",
                                        "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",     "\xf0\x8f\xbf\xbf",
                                        "\xff",         "\xf5\x80\x80", "\xf4\x90\x80", "\xf0\x9f\x98\x7f"};
  char expected[64];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kvo_fault fault = fault_of(rows[i].text);
    snprintf(expected, sizeof expected, "%s\n", rows[i].in_text);
    CHECK_EQ(strncmp(formatted(&fault, KVO_REPORT_TEXT), expected, strlen(expected)), 0);
    snprintf(expected, sizeof expected, "\"summary\":\"%s\",", rows[i].in_json);
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), expected);
  }
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
    kvo_fault fault = fault_of(invalid[i]);
    snprintf(expected, sizeof expected, "\\x%02x", (unsigned)(unsigned char)invalid[i][0]);
    CHECK_EQ(strncmp(formatted(&fault, KVO_REPORT_TEXT), expected, 4), 0);
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), "\"summary\":\"\\ufffd");
  }
}

TEST("names in observations, notes and files are escaped, too, each up to its length") {
  kvo_fault_observation odd = title;
  odd.key_path = "a\nb";
  odd.observer_class = "\x1b[2J";
  odd.note = "a\n  fault at b.c:1\033[2J";
  kvo_fault fault = fault_of("x");
  fault.observations = &odd;
  fault.observation_count = 1;
  fault.file = "a\xc3\xa4.c";
  fault.file_length = 2; /* inside a character */
  fault.line = 7;
  const char *text = formatted(&fault, KVO_REPORT_TEXT);
  CHECK_CONTAINS(text, "\"a\\x0ab\" of Document@0x1e0  observer \\x1b[2J@0x110");
  CHECK_CONTAINS(text, " as was 1 other like it, a\\x0a  fault at b.c:1\\x1b[2J\n  fault at a\\xc3:7\n");
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_JSON), "\"faultAt\":{\"file\":\"a\\ufffd\",\"line\":7}");
}

TEST("a string of up to 1000 bytes is whole; of a longer one the first 600 and the last 300 are printed") {
  char long_name[1002], expected[1002];
  for (size_t i = 0; i < 1001; i++) long_name[i] = (char)('a' + i % 26);
  long_name[1000] = '\0';
  kvo_fault fault = fault_of(long_name);
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), long_name);
  long_name[1000] = 'z';
  long_name[1001] = '\0';
  snprintf(expected, sizeof expected, "%.600s...(101 bytes left out)...%s\n", long_name, long_name + 701);
  CHECK_EQ(strncmp(formatted(&fault, KVO_REPORT_TEXT), expected, strlen(expected)), 0);
  memset(long_name, 0x80, 1001); /* no UTF-8 */
  CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), "\\x80...(107 bytes left out)...\\x80");
}

TEST("of Apple's sentence the first line is shown, without the beginning of a list at its end") {
  static const struct {
    const char *sentence, *shown;
  } rows[] = {{"(\n<one>\n)", "\n  Apple says: (...)\n"},
              {"info (\n<one>\n)", "\n  Apple says: info (...)\n"},
              {"info (", "\n  Apple says: info (\n"},
              {"\nmore", "\n  Apple says:  ...\n"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kvo_fault fault = fault_of("x");
    fault.apple = rows[i].sentence;
    CHECK_CONTAINS(formatted(&fault, KVO_REPORT_TEXT), rows[i].shown);
  }
}

TEST("a report is written like snprintf(3): whole or cut, with a NUL, and nothing behind the buffer") {
  char whole_call[256], cut[256];
  size_t length = kvo_call_format((const void *)(uintptr_t)1, whole_call, sizeof whole_call);
  CHECK_EQ(strlen(whole_call), length);
  CHECK_EQ(kvo_call_format((const void *)(uintptr_t)1, NULL, 0), length);
  for (size_t size = 0; size < length + 3; size++) {
    memset(cut, 'x', sizeof cut);
    CHECK_EQ(kvo_call_format((const void *)(uintptr_t)1, cut, size), length);
    size_t kept = size > length ? length : size - (size > 0);
    CHECK_EQ(memcmp(cut, whole_call, kept), 0);
    if (size > 0) CHECK_EQ((int)cut[kept], 0);
    CHECK_EQ((int)cut[size > 0 ? kept + 1 : 0], 'x');
  }
  kvo_fault fault = fault_of("0123456789");
  length = kvo_fault_format(&fault, KVO_REPORT_TEXT, NULL, 0);
  CHECK_EQ(kvo_fault_format(&fault, KVO_REPORT_TEXT, cut, 5), length);
  CHECK_EQ((const char *)cut, "0123");
  CHECK(length > 20);
}
