/* pieces.c - parts that text and JSON reports share. */
#define _GNU_SOURCE
#include "text/report.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

void kvo__put_code(kvo_sink *to, kvo_fault_code code) {
  kvo__put(to, "KVO");
  for (unsigned digit = 1000; digit > 0; digit /= 10) kvo__put_byte(to, "0123456789"[(unsigned)code / digit % 10]);
}

void kvo__put_seconds(kvo_sink *to, double seconds) {
  unsigned long long thousandths = seconds < 1e12 ? (unsigned long long)(seconds * 1000 + 0.5) : 1000000000000000;
  kvo__put_number(to, thousandths / 1000, 10);
  kvo__put_byte(to, '.');
  for (unsigned digit = 100; digit > 0; digit /= 10) kvo__put_byte(to, "0123456789"[thousandths / digit % 10]);
}

void kvo__put_build_id(kvo_sink *to, const kvo_module *of) {
  for (size_t i = 0; i < of->build_id_length; i++) {
    kvo__put_byte(to, "0123456789abcdef"[of->build_id[i] >> 4]);
    kvo__put_byte(to, "0123456789abcdef"[of->build_id[i] & 15]);
  }
}

const kvo_named_option kvo__named_options[KVO_OPTION_COUNT] = {
    {KVO_NEW, "new"}, {KVO_OLD, "old"}, {KVO_INITIAL, "initial"}, {KVO_PRIOR, "prior"}};

const char *kvo__thread_name(uint32_t thread, char *buffer, size_t size) {
  char path[64];
  kvo_sink to = {.memory = path, .capacity = sizeof path, .fd = -1};
  kvo__put(&to, "/proc/self/task/");
  kvo__put_number(&to, thread, 10);
  kvo__put(&to, "/comm");
  kvo__sink_end(&to);
  int cancellation = kvo__cancel_hold(), fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = fd >= 0 ? read(fd, buffer, size - 1) : 0;
  if (fd >= 0) close(fd);
  kvo__cancel_resume(cancellation);
  if (length > 0 && buffer[length - 1] == '\n') length--;
  buffer[length > 0 ? length : 0] = '\0';
  return buffer;
}

const char *kvo__program_path(char buffer[KVO_PROGRAM_PATH]) {
  ssize_t length = readlink("/proc/self/exe", buffer, KVO_PROGRAM_PATH - 1);
  buffer[length > 0 ? length : 0] = '\0';
  return buffer;
}

/* The day of a number of days since 1970, in the Gregorian calendar. gmtime_r(3) takes a lock. */
static void split_day(long long days, unsigned *year, unsigned *month, unsigned *day) {
  enum { FROM_MARCH_0 = 719468, OF_400_YEARS = 146097 };
  unsigned long long since = (unsigned long long)days + FROM_MARCH_0;
  unsigned of_era = (unsigned)(since % OF_400_YEARS);
  unsigned years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  unsigned of_year = of_era - (365 * years + years / 4 - years / 100), from_march = (5 * of_year + 2) / 153;
  *day = of_year - (153 * from_march + 2) / 5 + 1;
  *month = from_march < 10 ? from_march + 3 : from_march - 9;
  *year = years + 400 * (unsigned)(since / OF_400_YEARS) + (*month <= 2);
}

const char *kvo__time_text(char buffer[KVO_TIME_SIZE]) {
  enum { OF_DAY = 86400 };
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  unsigned year, month, day, second = (unsigned)(now.tv_sec % OF_DAY);
  split_day((long long)now.tv_sec / OF_DAY, &year, &month, &day);
  kvo_sink to = {.memory = buffer, .capacity = KVO_TIME_SIZE, .fd = -1};
  kvo__append(&to, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)year, (int)month, (int)day, (int)(second / 3600),
              (int)(second / 60 % 60), (int)(second % 60), (int)(now.tv_nsec / 1000000));
  kvo__sink_end(&to);
  return buffer;
}

const char *kvo__event_name(kvo_event_kind kind) {
  switch (kind) {
    case KVO_EVENT_REGISTERED: return "registered";
    case KVO_EVENT_ENDED: return "ended";
    case KVO_EVENT_CHANGED: return "changed";
    case KVO_EVENT_DELIVERED: return "delivered";
    case KVO_EVENT_DIED: return "died";
  }
  return "unknown";
}
