/* tessera bench irregular: fat-thin and thin-fat products with operands in mixed places
 * (Anastasiadis et al., section IV-E). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_dataset.h"
#include "plot.h"

enum { FAMILIES = 2 };

static const double NOISE = 0.03; /* what a point may be slower with more devices */

typedef struct irregular_request {
  bench_dataset set;
  bench_irregular_words shapes;
  const char *homes, *plot;
  bench_points points;
  int64_t sample, seed;
} irregular_request;

/* ---- Points ---- */

static bool is_fat(bench_shape shape) {
  return shape.k <= shape.m;
}

static int make_points(irregular_request *r) {
  int code = bench_points_irregular(&r->shapes, r->homes, &r->points);
  r->set.points = r->points.items;
  r->set.point_count = r->points.count;
  if (!code && r->sample > 0) bench_dataset_sample(&r->set, r->sample, (uint64_t)r->seed);
  return code;
}

static int parse_request(int argc, char **argv, irregular_request *r) {
  bench_dataset_begin(&r->set);
  r->shapes = (bench_irregular_words){BENCH_FAT, BENCH_THIN, BENCH_RATIO};
  r->homes = BENCH_IRREGULAR_HOMES;
  r->seed = 1;
  const option table[] = {
      {"fat", 0, OPTION_TEXT, &r->shapes.fat, "N,...",
       "M = N with a small K (16384 to 40960 by 4096)"},
      {"thin", 0, OPTION_TEXT, &r->shapes.thin, "N,...",
       "M = N with a large K (5120 to 11264 by 1024)"},
      {"ratio", 0, OPTION_TEXT, &r->shapes.ratio, "R,...",
       "how many times K is smaller, larger (4,8,16)"},
      {"homes", 0, OPTION_TEXT, &r->homes, "H;...",
       "where A,B,C are (h,h,h;0,0,0;3,2,h;h,h,0;3,2,1); device d is d modulo those used"},
      {"sample", 0, OPTION_WHOLE, &r->sample, "N", "so many points, chosen at random (0: all)"},
      {"seed", 0, OPTION_WHOLE, &r->seed, "S", "which sample (1)"},
      DATASET_OPTIONS(&r->set),
      {"plot", 0, OPTION_TEXT, &r->plot, "FILE.svg", "draw those of the most devices"},
      {0}};
  const option_command command = {
      "[options]",
      "Times C = A B + C in shapes far from square, with operands in mixed places, and sums up: "
      "the\n"
      "mean fraction of the floor, the worst point, points slower than the peer, and points "
      "slower\n"
      "with more devices.",
      "tessera bench irregular --devices 4 --sample 40 --csv irregular.csv --resume --seconds 540",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code) code = bench_dataset_interpret(&r->set);
  return code ? code : make_points(r);
}

/* ---- Summary ---- */

typedef struct summary {
  int devices, measured, against_peer, slower_than_peer, above_floor, slower_with_more;
  double log_fractions, log_speedups;
  const bench_row *worst;
} summary;

/* The quickest on fewer devices, of the same point as asked. */
static double best_of_fewer(const bench_dataset *d, int count, int point) {
  double best = INFINITY;
  for (int c = 0; c < d->count_count; c++) {
    const bench_row *row = bench_dataset_row(d, c, point);
    if (row && d->counts[c] < d->counts[count]) best = fmin(best, row->median);
  }
  return best;
}

static void count_row(const bench_row *row, double best_of_less, summary *s) {
  double part = bench_fraction(row);
  s->measured++;
  s->log_fractions += log(fmax(part, 1e-9));
  if (part > 1 + NOISE) s->above_floor++;
  if (!s->worst || part < bench_fraction(s->worst)) s->worst = row;
  if (row->median > best_of_less * (1 + NOISE)) s->slower_with_more++;
  if (!row->peer[0]) return;
  s->against_peer++;
  s->log_speedups += log(row->peer_s / row->median);
  if (row->median > row->peer_s) s->slower_than_peer++;
}

static summary sum_up(const bench_dataset *d, int count) {
  summary s = {.devices = (int)d->counts[count]};
  for (int p = 0; p < d->point_count; p++) {
    const bench_row *row = bench_dataset_row(d, count, p);
    if (row) count_row(row, best_of_fewer(d, count, p), &s);
  }
  return s;
}

static void print_summary(const bench_dataset *d, const summary *s) {
  printf("\n%d device%s: %d of %d points measured", s->devices, s->devices == 1 ? "" : "s",
         s->measured, d->point_count);
  if (s->measured == 0) {
    printf("\n");
    return;
  }
  const bench_row *w = s->worst;
  printf("; fraction of the floor: geometric mean %.3f, least %.3f (%lldx%lldx%lld at %s)\n",
         exp(s->log_fractions / s->measured), bench_fraction(w), (long long)w->shape.m,
         (long long)w->shape.n, (long long)w->shape.k, w->home);
  if (s->above_floor > 0) {
    printf("  above 1.03 of the floor: %d; the machine's rates are too low there\n",
           s->above_floor);
  }
  if (s->against_peer > 0) {
    printf("  slower than the peer: %d of %d; geometric mean of the speed-up %.2f\n",
           s->slower_than_peer, s->against_peer, exp(s->log_speedups / s->against_peer));
  }
  if (d->count_count > 1) {
    printf("  slower than on fewer devices, by more than 3 %%: %d\n", s->slower_with_more);
  }
}

static void print_slower_points(const bench_dataset *d, int count) {
  for (int p = 0; p < d->point_count; p++) {
    const bench_row *row = bench_dataset_row(d, count, p);
    double best = best_of_fewer(d, count, p);
    if (!row || row->median <= best * (1 + NOISE)) continue;
    printf("    %lldx%lldx%lld at %s: %s, on fewer devices %s\n", (long long)row->shape.m,
           (long long)row->shape.n, (long long)row->shape.k, row->home, tool_seconds(row->median),
           tool_seconds(best));
  }
}

static void print_summaries(const bench_dataset *d) {
  for (int c = 0; c < d->count_count; c++) {
    summary s = sum_up(d, c);
    print_summary(d, &s);
    print_slower_points(d, c);
  }
}

/* ---- Chart ---- */

static int most_devices(const bench_dataset *d) {
  int most = 0;
  for (int c = 1; c < d->count_count; c++) {
    if (d->counts[c] > d->counts[most]) most = c;
  }
  return most;
}

static double extent_of(const bench_row *row) {
  return cbrt((double)row->shape.m * (double)row->shape.n * (double)row->shape.k);
}

static void add_mark(plot_series *s, const bench_row *row, double seconds) {
  if (seconds <= 0) return;
  s->x[s->count] = extent_of(row);
  s->y[s->count++] = bench_tera_rate(row, seconds);
}

/* Three series for a home: floor, peer, ours. points: room for all of them. */
static void fill_series(const irregular_request *r, bool fat, int which, plot_series series[3],
                        double *points) {
  static const plot_style styles[] = {PLOT_BARS, PLOT_RINGS, PLOT_POINTS};
  const bench_dataset *d = &r->set;
  int count = most_devices(d);
  for (int i = 0; i < 3; i++) {
    series[i] = (plot_series){.colour = which, .style = styles[i]};
    series[i].x = points + (size_t)i * 2 * (size_t)d->point_count;
    series[i].y = series[i].x + d->point_count;
  }
  for (int p = 0; p < d->point_count; p++) {
    const bench_row *row = bench_dataset_row(d, count, p);
    if (!row || is_fat(row->shape) != fat) continue;
    if (strcmp(d->points[p].asked.text, r->points.home[which].text) != 0) continue;
    add_mark(&series[0], row, row->floor);
    add_mark(&series[1], row, row->peer[0] ? row->peer_s : 0);
    add_mark(&series[2], row, row->median);
  }
  snprintf(series[2].label, sizeof series[2].label, "home %s", r->points.home[which].text);
}

static int draw(const irregular_request *r) {
  const bench_dataset *d = &r->set;
  plot_series series[FAMILIES][3 * BENCH_MOST_HOMES + 2];
  plot_panel panels[FAMILIES];
  char titles[FAMILIES][96];
  size_t each = 6 * (size_t)d->point_count;
  double *points = calloc(each * (size_t)r->points.home_count * FAMILIES + 1, sizeof *points);
  if (!points) return tool_fail("out of memory for %s", r->plot);
  for (int f = 0; f < FAMILIES; f++) {
    bool fat = f == 0;
    int used = 3 * r->points.home_count;
    for (int h = 0; h < r->points.home_count; h++) {
      double *room = points + each * (size_t)(f * r->points.home_count + h);
      fill_series(r, fat, h, &series[f][3 * h], room);
    }
    series[f][used++] = (plot_series){.label = "floor", .colour = 6, .style = PLOT_BARS};
    series[f][used++] = (plot_series){.label = "cuBLASXt", .colour = 6, .style = PLOT_RINGS};
    snprintf(titles[f], sizeof titles[f], "%cgemm, %lld devices, %s", (char)d->kind.type,
             (long long)d->counts[most_devices(d)],
             fat ? "fat-thin: M = N > K" : "thin-fat: M = N < K");
    panels[f] = (plot_panel){titles[f], "cube root of M N K", "TFLOP/s", false, series[f], used};
  }
  int code = plot_write(r->plot, panels, FAMILIES);
  free(points);
  return code;
}

static int publish(const irregular_request *r) {
  int count;
  bench_row *rows = bench_dataset_rows(&r->set, &count);
  if (!rows) return tool_fail("out of memory");
  if (r->set.json) {
    bench_print_json(rows, count);
  } else if (count > 0) {
    print_summaries(&r->set);
  }
  free(rows);
  return r->plot && count > 0 ? draw(r) : TOOL_OK;
}

int bench_irregular(int argc, char **argv) {
  irregular_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (code == OPTIONS_HELPED) return TOOL_OK;
  if (code == TOOL_OK) {
    code = bench_dataset_run(&request.set);
    /* What was measured before something failed is still worth having. */
    int published = publish(&request);
    if (code == TOOL_OK) code = published;
  }
  bench_dataset_end(&request.set);
  return code;
}
