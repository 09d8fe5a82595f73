#include "bench_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot.h"

double bench_tera_rate(const bench_row *row, double seconds) {
  if (seconds <= 0) return 0;
  const bench_shape *s = &row->shape;
  return operation_flops(row->operation, row->type, s->m, s->n, s->k) / seconds * 1e-12;
}

double bench_fraction(const bench_row *row) {
  return row->median > 0 ? row->floor / row->median : 0;
}

/* ---- Table ---- */

void bench_print_head(bool peer) {
  printf("%-4s %20s %-8s %3s %10s %10s %9s %10s %6s %10s %6s %9s", "type", "m x n x k", "home",
         "dev", "cold ms", "median ms", "TFLOP/s", "floor ms", "of it", "predict ms", "p/m",
         "plan ms");
  if (peer) printf(" %10s %9s %6s", "peer ms", "TFLOP/s", "ratio");
  printf("  check\n");
}

void bench_print_row(const bench_row *row, bool peer) {
  char shape[64];
  const bench_shape *s = &row->shape;
  if (s->m == s->n && s->n == s->k) {
    snprintf(shape, sizeof shape, "%lld", (long long)s->m);
  } else {
    snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)s->m, (long long)s->n,
             (long long)s->k);
  }
  printf("%-4c %20s %-8s %3d %10.3f %10.3f %9.3f %10.3f %6.3f %10.3f %6.2f %9.3f", (char)row->type,
         shape, row->home, row->devices, row->cold * 1e3, row->median * 1e3,
         bench_tera_rate(row, row->median), row->floor * 1e3, bench_fraction(row),
         row->predicted * 1e3, row->predicted / row->median, row->plan * 1e3);
  if (peer && row->peer[0]) {
    printf(" %10.3f %9.3f %6.2f", row->peer_s * 1e3, bench_tera_rate(row, row->peer_s),
           row->peer_s / row->median);
  } else if (peer) {
    printf(" %10s %9s %6s", "-", "-", "-");
  }
  printf("  %s\n", row->good ? "ok" : "WRONG");
  fflush(stdout);
}

/* ---- CSV and JSON ---- */

static void write_csv_row(FILE *stream, const bench_row *row) {
  fprintf(stream, "%s,%c,%lld,%lld,%lld,\"%s\",%d,", tsr_operation_name(row->operation),
          (char)row->type, (long long)row->shape.m, (long long)row->shape.n,
          (long long)row->shape.k, row->home, row->devices);
  fprintf(stream, "%.9g,%.9g,%.6g,%.9g,%.4f,%.9g,", row->cold, row->median,
          bench_tera_rate(row, row->median), row->floor, bench_fraction(row), row->predicted);
  if (row->peer[0]) {
    fprintf(stream, "%s,%.9g\n", row->peer, row->peer_s);
  } else {
    fprintf(stream, ",\n");
  }
}

static const char csv_head[] =
    "op,type,m,n,k,home,devices,cold_s,median_s,tflops,floor_s,fraction,predicted_s,peer,peer_s\n";

int bench_write_csv(const char *path, const bench_row *rows, int count) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", path);
  fputs(csv_head, stream);
  for (int i = 0; i < count; i++) write_csv_row(stream, &rows[i]);
  int code = fclose(stream) == 0 ? tool_write_file(path, text) : tool_fail("cannot write %s", path);
  free(text);
  return code;
}

int bench_append_csv(const char *path, const bench_row *row) {
  FILE *stream = fopen(path, "a+");
  if (!stream) return tool_fail("cannot write %s: %s", path, strerror(errno));
  /* A line that was cut off by the end of an earlier run stays one of its own. */
  bool cut = fseek(stream, -1, SEEK_END) == 0 && fgetc(stream) != '\n';
  fseek(stream, 0, SEEK_END);
  if (ftell(stream) == 0) fputs(csv_head, stream);
  if (cut) fputc('\n', stream);
  write_csv_row(stream, row);
  return fclose(stream) == 0 ? TOOL_OK : tool_fail("cannot write %s: %s", path, strerror(errno));
}

static bool read_csv_row(const char *line, bench_row *row) {
  char type;
  long long m, n, k;
  double rate, part;
  int used = 0;
  *row = (bench_row){.good = true};
  if (!strchr(line, '\n')) return false; /* cut off */
  if (sscanf(line, "gemm,%c,%lld,%lld,%lld,\"%23[^\"]\",%d,%lf,%lf,%lf,%lf,%lf,%lf,%n", &type, &m,
             &n, &k, row->home, &row->devices, &row->cold, &row->median, &rate, &row->floor, &part,
             &row->predicted, &used) != 12 ||
      used == 0) {
    return false;
  }
  row->type = (tsr_type)type;
  row->shape = (bench_shape){m, n, k};
  if (sscanf(line + used, "%15[^,],%lf", row->peer, &row->peer_s) != 2) row->peer[0] = '\0';
  return true;
}

static int keep_row(bench_row **rows, int *count, const bench_row *row) {
  bench_row *more = realloc(*rows, ((size_t)*count + 1) * sizeof *more);
  if (!more) return tool_fail("out of memory");
  *rows = more;
  more[(*count)++] = *row;
  return TOOL_OK;
}

int bench_read_csv(const char *path, bench_row **rows, int *count) {
  char line[512];
  int code = TOOL_OK;
  bool headed = false;
  FILE *stream = fopen(path, "r");
  if (!stream) return tool_fail("%s: %s", path, strerror(errno));
  while (code == TOOL_OK && fgets(line, sizeof line, stream)) {
    bench_row row;
    headed = headed || strcmp(line, csv_head) == 0;
    if (read_csv_row(line, &row)) code = keep_row(rows, count, &row);
  }
  fclose(stream);
  if (code == TOOL_OK && !headed) {
    code = tool_fail("%s: no results of a benchmark; its first line must be %s", path, csv_head);
  }
  return code;
}

bool bench_same_case(const bench_row *a, const bench_row *b) {
  return a->type == b->type && a->devices == b->devices && a->shape.m == b->shape.m &&
         a->shape.n == b->shape.n && a->shape.k == b->shape.k && strcmp(a->home, b->home) == 0;
}

static void print_json_row(const bench_row *row) {
  printf("  {\"op\": \"%s\", \"type\": \"%c\", \"m\": %lld, \"n\": %lld, \"k\": %lld, ",
         tsr_operation_name(row->operation), (char)row->type, (long long)row->shape.m,
         (long long)row->shape.n, (long long)row->shape.k);
  printf("\"home\": \"%s\", \"devices\": %d, \"cold_s\": %.9g, \"median_s\": %.9g, ", row->home,
         row->devices, row->cold, row->median);
  printf("\"tflops\": %.6g, \"floor_s\": %.9g, \"fraction\": %.4f, \"predicted_s\": %.9g, ",
         bench_tera_rate(row, row->median), row->floor, bench_fraction(row), row->predicted);
  if (row->peer[0]) {
    printf("\"peer\": \"%s\", \"peer_s\": %.9g, \"peer_block\": %d, ", row->peer, row->peer_s,
           row->peer_block);
  } else {
    printf("\"peer\": null, \"peer_s\": null, ");
  }
  printf("\"plan_s\": %.9g, \"correct\": %s}", row->plan, row->good ? "true" : "false");
}

void bench_print_json(const bench_row *rows, int count) {
  printf("[\n");
  for (int i = 0; i < count; i++) {
    print_json_row(&rows[i]);
    printf(i + 1 < count ? ",\n" : "\n");
  }
  printf("]\n");
}

/* ---- Chart ---- */

enum { MOST_SERIES = 24, MOST_PANELS = 24 };

/* The extent of a cube of as many flops. */
static double cube(const bench_row *row) {
  return cbrt((double)row->shape.m * (double)row->shape.n * (double)row->shape.k);
}

typedef enum curve { CURVE_OURS, CURVE_FLOOR, CURVE_PEER } curve;

static double curve_seconds(const bench_row *row, curve which) {
  if (which == CURVE_OURS) return row->median;
  if (which == CURVE_FLOOR) return row->floor;
  return row->peer[0] ? row->peer_s : 0;
}

static void sort_points(plot_series *s) {
  for (int i = 1; i < s->count; i++) {
    for (int j = i; j > 0 && s->x[j] < s->x[j - 1]; j--) {
      double x = s->x[j], y = s->y[j];
      s->x[j] = s->x[j - 1];
      s->y[j] = s->y[j - 1];
      s->x[j - 1] = x;
      s->y[j - 1] = y;
    }
  }
}

static bool same_panel(const bench_row *a, const bench_row *b) {
  return a->operation == b->operation && a->type == b->type && strcmp(a->home, b->home) == 0;
}

static bool same_line(const bench_row *a, const bench_row *b) {
  return same_panel(a, b) && a->devices == b->devices;
}

/* The points of like's panel and number of devices; x and y have room for count each. */
static void collect(const bench_row *rows, int count, const bench_row *like, curve which,
                    plot_series *s) {
  for (int i = 0; i < count; i++) {
    double seconds = curve_seconds(&rows[i], which);
    if (!same_line(&rows[i], like) || seconds <= 0 || cube(&rows[i]) <= 0) continue;
    s->x[s->count] = cube(&rows[i]);
    s->y[s->count++] = bench_tera_rate(&rows[i], seconds);
  }
  sort_points(s);
}

static bool first_of_its_line(const bench_row *rows, int index) {
  for (int i = 0; i < index; i++) {
    if (same_line(&rows[i], &rows[index])) return false;
  }
  return true;
}

static const char *peer_name(const bench_row *rows, int count) {
  for (int i = 0; i < count; i++) {
    if (rows[i].peer[0]) return rows[i].peer;
  }
  return "peer";
}

/* The chart of one panel, with room for its points. */
typedef struct chart {
  char title[64];
  const bench_look *look;
  plot_series series[MOST_SERIES];
  int used;
  double *points;
} chart;

static void add_line(const bench_row *rows, int count, const bench_row *like, int colour,
                     curve which, chart *c) {
  static const plot_style points[] = {PLOT_POINTS, PLOT_BARS, PLOT_RINGS};
  const char *const whats[] = {c->look->ours, "floor", peer_name(rows, count)};
  const char *what = whats[which];
  plot_series *s = &c->series[c->used];
  *s = (plot_series){.colour = colour, .style = (plot_style)which};
  if (c->look->points || (which == CURVE_PEER && c->look->peer_points)) s->style = points[which];
  s->x = c->points + (size_t)count * 2 * (size_t)c->used;
  s->y = s->x + count;
  snprintf(s->label, sizeof s->label, "%s, %d device%s", what, like->devices,
           like->devices == 1 ? "" : "s");
  collect(rows, count, like, which, s);
  if (s->count > 0) c->used++;
}

static int fill_chart(const bench_row *rows, int count, const bench_row *like, chart *c) {
  int colour = 0;
  c->points = calloc((size_t)count * 2 * MOST_SERIES + 1, sizeof *c->points);
  if (!c->points) return tool_fail("out of memory for a chart");
  snprintf(c->title, sizeof c->title, "%c%s, home %s", (char)like->type,
           tsr_operation_name(like->operation), like->home);
  for (int i = 0; i < count && c->used + 3 <= MOST_SERIES; i++) {
    if (!same_panel(&rows[i], like) || !first_of_its_line(rows, i)) continue;
    for (curve which = CURVE_OURS; which <= CURVE_PEER; which++) {
      add_line(rows, count, &rows[i], colour, which, c);
    }
    colour++;
  }
  return TOOL_OK;
}

static bool first_of_its_panel(const bench_row *rows, int index) {
  for (int i = 0; i < index; i++) {
    if (same_panel(&rows[i], &rows[index])) return false;
  }
  return true;
}

int bench_write_plot(const char *path, const bench_row *rows, int count, const bench_look *look) {
  static const bench_look usual = {.ours = "tessera"};
  chart *charts = calloc(MOST_PANELS, sizeof *charts);
  plot_panel panels[MOST_PANELS];
  int used = 0, code = charts ? TOOL_OK : tool_fail("out of memory for %s", path);
  for (int i = 0; i < count && used < MOST_PANELS && !code; i++) {
    if (!first_of_its_panel(rows, i)) continue;
    chart *c = &charts[used];
    c->look = look ? look : &usual;
    code = fill_chart(rows, count, &rows[i], c);
    panels[used++] = (plot_panel){c->title, "N", "TFLOP/s", false, c->series, c->used};
  }
  if (!code) code = plot_write(path, panels, used);
  for (int i = 0; i < used; i++) free(charts[i].points);
  free(charts);
  return code;
}
