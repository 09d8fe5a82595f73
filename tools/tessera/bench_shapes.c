#include "bench_shapes.h"

#include <string.h>

enum { MOST_SQUARES = 256 };

int bench_parse_squares(const char *text, bench_shape *shapes, int room) {
  int64_t extents[MOST_SQUARES];
  int count = options_whole_list(text, extents, room < MOST_SQUARES ? room : MOST_SQUARES);
  if (count < 0) tool_usage("--n %s: must be extents such as 4096,8192", text);
  for (int i = 0; i < count; i++) shapes[i] = (bench_shape){extents[i], extents[i], extents[i]};
  return count;
}

int bench_parse_shapes(const char *text, bench_shape *shapes, int room) {
  const char *at = text;
  for (int count = 0; count < room; at++) {
    long long m, n, k;
    int used = 0;
    if (sscanf(at, "%lldx%lldx%lld%n", &m, &n, &k, &used) != 3 || m < 0 || n < 0 || k < 0) break;
    shapes[count++] = (bench_shape){m, n, k};
    at += used;
    if (!*at) return count;
    if (*at != ',') break;
  }
  tool_usage("--shape %s: must be MxNxK,... such as 8192x8192x1024", text);
  return -1;
}

int bench_parse_counts(const char *text, int64_t counts[BENCH_MOST_COUNTS]) {
  int count = options_whole_list(text, counts, BENCH_MOST_COUNTS);
  for (int i = 0; i < count; i++) {
    if (counts[i] < 1 || counts[i] > 1000) count = -1;
  }
  if (count < 0) tool_usage("--devices %s: must be numbers such as 1,2,4", text);
  return count;
}

static int parse_one_home(const char *text, size_t length, bench_home *one) {
  if (length >= sizeof one->text) return tool_usage("--homes %s: one is too long", text);
  memcpy(one->text, text, length);
  one->text[length] = '\0';
  return homes_parse(one->text, HOME_PINNED, one->homes);
}

int bench_parse_homes(const char *text, bench_home *homes, int room) {
  for (int count = 0; count < room;) {
    size_t length = strcspn(text, ";");
    if (parse_one_home(text, length, &homes[count]) != TOOL_OK) return -1;
    count++;
    if (!text[length]) return count;
    text += length + 1;
  }
  tool_usage("--homes: at most %d", room);
  return -1;
}

static void print_home(const home homes[3], char *text, size_t room) {
  size_t used = 0;
  for (int i = 0; i < 3 && used < room; i++) {
    const char *comma = i > 0 ? "," : "";
    int length = homes[i].kind == HOME_DEVICE
                     ? snprintf(text + used, room - used, "%s%d", comma, homes[i].device)
                     : snprintf(text + used, room - used, "%s%c", comma,
                                homes[i].kind == HOME_PAGEABLE ? 'u' : 'h');
    used += (size_t)length;
  }
}

bench_home bench_real_home(const bench_home *asked, int devices) {
  bench_home real = *asked;
  for (int i = 0; i < 3; i++) {
    if (real.homes[i].kind == HOME_DEVICE && devices > 0) real.homes[i].device %= devices;
  }
  print_home(real.homes, real.text, sizeof real.text);
  return real;
}
