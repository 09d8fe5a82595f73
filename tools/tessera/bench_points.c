#include "bench_points.h"

#include <stdlib.h>

enum { MOST_SIZES = 64, MOST_RATIOS = 8 };

static int make_room(const char *homes, int each, bench_points *p) {
  *p = (bench_points){.items = NULL};
  p->home_count = bench_parse_homes(homes, p->home, BENCH_MOST_HOMES);
  if (p->home_count < 0) return TOOL_USAGE;
  p->items = calloc((size_t)each * (size_t)p->home_count + 1, sizeof *p->items);
  return p->items ? TOOL_OK : tool_fail("out of memory");
}

int bench_points_squares(const char *n, const char *homes, bench_points *p) {
  bench_shape shapes[MOST_SIZES];
  int sizes = bench_parse_squares(n, shapes, MOST_SIZES);
  if (sizes < 0) return TOOL_USAGE;
  int code = make_room(homes, sizes, p);
  for (int h = 0; h < p->home_count && !code; h++) {
    for (int i = 0; i < sizes; i++) p->items[p->count++] = (bench_point){shapes[i], p->home[h]};
  }
  return code;
}

/* ---- Irregular ---- */

/* Extents, and how many times K is smaller or larger. */
typedef struct family {
  int64_t extents[MOST_SIZES], ratios[MOST_RATIOS];
  int count, ratio_count;
  bool fat;
} family;

static int parse_list(const char *name, const char *text, int64_t *values, int room) {
  int count = options_whole_list(text, values, room);
  for (int i = 0; i < count; i++) {
    if (values[i] < 1) count = -1;
  }
  if (count < 0) tool_usage("--%s %s: must be numbers such as 4,8,16", name, text);
  return count;
}

static int parse_family(const char *name, const char *text, const char *ratio, family *f) {
  f->count = parse_list(name, text, f->extents, MOST_SIZES);
  if (f->count < 0) return TOOL_USAGE;
  f->ratio_count = parse_list("ratio", ratio, f->ratios, MOST_RATIOS);
  return f->ratio_count < 0 ? TOOL_USAGE : TOOL_OK;
}

/* All ratios of one family of shapes at each home. */
static void add_family(const family *f, bench_points *p) {
  for (int h = 0; h < p->home_count; h++) {
    for (int i = 0; i < f->count; i++) {
      for (int j = 0; j < f->ratio_count; j++) {
        int64_t m = f->extents[i], k = f->fat ? m / f->ratios[j] : m * f->ratios[j];
        p->items[p->count++] = (bench_point){{m, m, k}, p->home[h]};
      }
    }
  }
}

int bench_points_irregular(const bench_irregular_words *words, const char *homes, bench_points *p) {
  family fat = {.fat = true}, thin = {.fat = false};
  int code = parse_family("fat", words->fat, words->ratio, &fat);
  if (!code) code = parse_family("thin", words->thin, words->ratio, &thin);
  if (!code) code = make_room(homes, (fat.count + thin.count) * fat.ratio_count, p);
  if (code) return code;
  add_family(&fat, p);
  add_family(&thin, p);
  return TOOL_OK;
}
