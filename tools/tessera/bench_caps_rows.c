#include "bench_caps_rows.h"

#include <stdlib.h>
#include <string.h>

#include "plot.h"

/* Sums over the devices of a row. */
static caps_load total(const caps_row *row) {
  caps_load sum = {0};
  for (int d = 0; d < row->devices; d++) {
    const caps_load *one = &row->loads[d];
    sum.host += one->host;
    sum.peers += one->peers;
    sum.planned_host += one->planned_host;
    sum.planned_peers += one->planned_peers;
    sum.bound += one->bound;
  }
  return sum;
}

static bool same_line(const caps_row *a, const caps_row *b) {
  return a->operation == b->operation && a->devices == b->devices;
}

void caps_compare(caps_row *rows, int count) {
  for (int i = 0; i < count; i++) {
    double sum = 0;
    int found = 0;
    for (int j = 0; j < count; j++) {
      if (rows[j].cap != 0 || !same_line(&rows[i], &rows[j])) continue;
      sum += rows[j].tera;
      found++;
    }
    rows[i].whole = found > 0 ? rows[i].tera * found / sum : 0;
  }
}

/* ---- Table ---- */

static const char *cap_text(const caps_row *row) {
  static char text[24];
  if (row->cap == 0) return "-";
  snprintf(text, sizeof text, "%.4gG", (double)row->cap * 1e-9);
  return text;
}

static const char *share_text(double share, char text[16]) {
  snprintf(text, 16, share > 0 ? "%.3f" : "-", share);
  return text;
}

static const char *hold_text(const caps_row *row, char text[40]) {
  if (row->b == 0) return "fits";
  snprintf(text, 40, "%dx%d,%d,%.2g", row->b, row->c, row->d, row->l);
  return text;
}

static double peers_share(const caps_row *row) {
  caps_load sum = total(row);
  return sum.host + sum.peers > 0 ? sum.peers / (sum.host + sum.peers) : 0;
}

static const char *check_text(const caps_row *row) {
  return !row->checked ? "-" : row->good ? "ok" : "WRONG";
}

void caps_print_head(void) {
  printf("%-6s %-4s %8s %3s %8s %9s %9s %9s %8s %10s %9s %14s %7s  check\n", "op", "type", "N",
         "dev", "cap", "s", "TFLOP/s", "/ no cap", "/ peak", "predict s", "plan s", "bxc,d,l",
         "peers");
}

void caps_print_row(const caps_row *row) {
  char whole[16], peak[16], hold[40];
  printf("%-6s %-4c %8lld %3d %8s %9.3f %9.3f %9s %8s %10.3f %9.3f %14s %7.3f  %s\n",
         tsr_operation_name(row->operation), (char)row->type, (long long)row->n, row->devices,
         cap_text(row), row->seconds, row->tera, share_text(row->whole, whole),
         share_text(row->peak, peak), row->predicted, row->plan, hold_text(row, hold),
         peers_share(row), check_text(row));
  fflush(stdout);
}

void caps_print_loads(const caps_row *rows, int count) {
  printf("\nloads, GB a call: measured and planned, beside equation (1) and the lower bound\n");
  printf("%-6s %3s %8s %6s %10s %10s %10s %10s %10s %12s %10s\n", "op", "dev", "cap", "device",
         "host", "planned", "peers", "planned", "in all", "equation", "at least");
  for (int i = 0; i < count; i++) {
    const caps_row *r = &rows[i];
    for (int d = 0; d < r->devices; d++) {
      const caps_load *l = &r->loads[d];
      printf("%-6s %3d %8s %6d %10.4g %10.4g %10.4g %10.4g %10.4g %10.4g %c %10.4g\n",
             tsr_operation_name(r->operation), r->devices, cap_text(r), d, l->host * 1e-9,
             l->planned_host * 1e-9, l->peers * 1e-9, l->planned_peers * 1e-9,
             (l->host + l->peers) * 1e-9, r->equation_bytes * 1e-9, r->equation, l->bound * 1e-9);
    }
  }
}

/* ---- CSV ---- */

static void write_line(FILE *stream, const caps_row *r, int d) {
  const caps_load *l = &r->loads[d];
  fprintf(stream, "%s,%c,%lld,%d,%zu,%zu,%.9g,%.6g,%.5g,%.5g,%.9g,%.9g,",
          tsr_operation_name(r->operation), (char)r->type, (long long)r->n, r->devices, r->cap,
          r->budget, r->seconds, r->tera, r->whole, r->peak, r->predicted, r->plan);
  fprintf(stream, "%d,%d,%d,%.4g,%d,%.0f,%.0f,%.0f,%.0f,%c,%.0f,%.0f,%s\n", r->b, r->c, r->d, r->l,
          d, l->host, l->planned_host, l->peers, l->planned_peers, r->equation, r->equation_bytes,
          l->bound, check_text(r));
}

int caps_write_csv(const char *path, const caps_row *rows, int count) {
  char *text = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", path);
  fputs(
      "op,type,n,devices,cap,budget,median_s,tflops,of_uncapped,of_peak,predicted_s,plan_s,b,c,d,l,"
      "device,host_bytes,planned_host_bytes,peer_bytes,planned_peer_bytes,equation,equation_bytes,"
      "bound_bytes,check\n",
      stream);
  for (int i = 0; i < count; i++) {
    for (int d = 0; d < rows[i].devices; d++) write_line(stream, &rows[i], d);
  }
  int code = fclose(stream) == 0 ? tool_write_file(path, text) : tool_fail("cannot write %s", path);
  free(text);
  return code;
}

/* ---- Chart ---- */

enum { MOST_SERIES = 24 };

typedef struct chart {
  char title[64];
  plot_series series[MOST_SERIES];
  int used;
  double *points;
} chart;

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

/* Of the x axis, bytes. */
static double unit_of(const caps_row *rows, int count) {
  double least = 1e9;
  for (int i = 0; i < count; i++) {
    if ((double)rows[i].budget < least) least = (double)rows[i].budget;
  }
  return least < 1e9 ? 1e6 : 1e9;
}

static void add_line(const caps_row *rows, int count, const caps_row *like, int colour,
                     bool measured, chart *c) {
  plot_series *s = &c->series[c->used];
  *s = (plot_series){.colour = colour, .style = measured ? PLOT_SOLID : PLOT_DASHED};
  s->x = c->points + (size_t)count * 2 * (size_t)c->used;
  s->y = s->x + count;
  snprintf(s->label, sizeof s->label, "%s, %d device%s", measured ? "measured" : "predicted",
           like->devices, like->devices == 1 ? "" : "s");
  for (int i = 0; i < count; i++) {
    if (!same_line(&rows[i], like) || rows[i].budget == 0) continue;
    s->x[s->count] = (double)rows[i].budget / unit_of(rows, count);
    s->y[s->count++] = rows[i].tera * (measured ? 1 : rows[i].seconds / rows[i].predicted);
  }
  sort_points(s);
  if (s->count > 0) c->used++;
}

static bool is_first(const caps_row *rows, int index, bool of_its_line) {
  for (int i = 0; i < index; i++) {
    bool same = rows[i].operation == rows[index].operation;
    if (of_its_line ? same_line(&rows[i], &rows[index]) : same) return false;
  }
  return true;
}

static int fill_chart(const caps_row *rows, int count, const caps_row *like, chart *c) {
  int colour = 0;
  c->points = calloc((size_t)count * 2 * MOST_SERIES + 1, sizeof *c->points);
  if (!c->points) return tool_fail("out of memory for a chart");
  snprintf(c->title, sizeof c->title, "%c%s, N = %lld, pinned host memory", (char)like->type,
           tsr_operation_name(like->operation), (long long)like->n);
  for (int i = 0; i < count && c->used + 2 <= MOST_SERIES; i++) {
    if (rows[i].operation != like->operation || !is_first(rows, i, true)) continue;
    add_line(rows, count, &rows[i], colour, true, c);
    add_line(rows, count, &rows[i], colour++, false, c);
  }
  return TOOL_OK;
}

int caps_write_plot(const char *path, const caps_row *rows, int count) {
  chart *charts = calloc(TSR_OPERATION_COUNT, sizeof *charts);
  plot_panel panels[TSR_OPERATION_COUNT];
  int used = 0, code = charts ? TOOL_OK : tool_fail("out of memory for %s", path);
  for (int i = 0; i < count && !code; i++) {
    if (!is_first(rows, i, false)) continue;
    chart *c = &charts[used];
    code = fill_chart(rows, count, &rows[i], c);
    const char *x =
        unit_of(rows, count) < 1e9 ? "budget of a device, MB" : "budget of a device, GB";
    panels[used++] = (plot_panel){c->title, x, "TFLOP/s", false, c->series, c->used};
  }
  if (!code) code = plot_write(path, panels, used);
  for (int i = 0; i < used; i++) free(charts[i].points);
  free(charts);
  return code;
}
