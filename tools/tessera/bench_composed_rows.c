#include <stdlib.h>

#include "bench_composed.h"
#include "plot.h"

static const char *const names[COMPOSED_VARIANTS] = {"composed", "separate"};

/* ---- Figures of a row ---- */

static double tera_rate(const composed_row *r) {
  double flops = operation_flops(TSR_TRSM, r->type, r->n, r->n, r->n) +
                 operation_flops(TSR_GEMM, r->type, r->n, r->n, r->n);
  return flops / r->median * 1e-12;
}

/* A's triangle, B, C and D. */
static double floor_in(const composed_row *r) {
  double n = (double)r->n;
  return (n * (n + 1) / 2 + 3 * n * n) * (double)element_size(r->type);
}

/* X and C. */
static double floor_out(const composed_row *r) {
  return 2 * (double)r->n * (double)r->n * (double)element_size(r->type);
}

/* ---- Table and CSV ---- */

void composed_print_head(void) {
  printf("%-4s %7s %3s %-8s %10s %10s %9s %9s %9s %9s %9s %8s %8s  check\n", "type", "N", "dev",
         "calls", "cold ms", "warm ms", "TFLOP/s", "GB in", "GB out", "GB d-d", "GB local",
         "in/floor", "out/floor");
}

void composed_print(const composed_row *r) {
  printf("%-4c %7lld %3d %-8s %10.3f %10.3f %9.4g %9.4g %9.4g %9.4g %9.4g %8.3f %8.3f  %s\n",
         (char)r->type, (long long)r->n, r->devices, names[r->variant], r->cold * 1e3,
         r->median * 1e3, tera_rate(r), r->moved.host_to_device * 1e-9,
         r->moved.device_to_host * 1e-9, r->moved.device_to_device * 1e-9,
         r->moved.within_devices * 1e-9, r->moved.host_to_device / floor_in(r),
         r->moved.device_to_host / floor_out(r), r->good ? "ok" : "WRONG");
  fflush(stdout);
}

static void write_line(FILE *file, const composed_row *r) {
  fprintf(file, "%c,%lld,%d,%s,%.9g,%.9g,%.6g,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%lld\n", (char)r->type,
          (long long)r->n, r->devices, names[r->variant], r->cold, r->median, tera_rate(r),
          r->moved.host_to_device, r->moved.device_to_host, r->moved.device_to_device,
          r->moved.within_devices, floor_in(r), floor_out(r), (long long)r->moved.plans);
}

int composed_write_csv(const char *path, const composed_row *rows, int count) {
  FILE *file = fopen(path, "w");
  if (!file) return tool_fail("%s: cannot be written", path);
  fprintf(file,
          "type,n,devices,calls,cold_s,median_s,tflops,host_to_device,device_to_host,"
          "device_to_device,within_devices,floor_in,floor_out,plans\n");
  for (int i = 0; i < count; i++) write_line(file, &rows[i]);
  bool bad = ferror(file);
  return fclose(file) != 0 || bad ? tool_fail("%s: cannot be written", path) : TOOL_OK;
}

/* ---- Charts ---- */

enum { PANELS = 4, MOST_SERIES = COMPOSED_VARIANTS * BENCH_MOST_COUNTS + 1 };

static double tera(const composed_row *r) {
  return tera_rate(r);
}
static double in(const composed_row *r) {
  return r->moved.host_to_device * 1e-9;
}
static double least_in(const composed_row *r) {
  return floor_in(r) * 1e-9;
}
static double out(const composed_row *r) {
  return r->moved.device_to_host * 1e-9;
}
static double least_out(const composed_row *r) {
  return floor_out(r) * 1e-9;
}
static double between(const composed_row *r) {
  return r->moved.device_to_device * 1e-9;
}

static const struct {
  const char *title, *unit;
  double (*value)(const composed_row *), (*floor)(const composed_row *); /* floor: may be NULL */
} panel_kinds[PANELS] = {{"trsm, then gemm", "TFLOP/s", tera, NULL},
                         {"host to devices", "GB", in, least_in},
                         {"devices to host", "GB", out, least_out},
                         {"device to device", "GB", between, NULL}};

typedef struct composed_chart {
  plot_series series[MOST_SERIES];
  int used;
  double *points; /* room for 2 * rows of each series */
} composed_chart;

static bool same_line(const composed_row *a, const composed_row *b) {
  return a->variant == b->variant && a->devices == b->devices;
}

static bool first_of_its_line(const composed_row *rows, int index) {
  for (int i = 0; i < index; i++) {
    if (same_line(&rows[i], &rows[index])) return false;
  }
  return true;
}

/* In ascending order of x: points are few. */
static void insert(plot_series *s, double x, double y) {
  int at = s->count++;
  for (; at > 0 && s->x[at - 1] > x; at--) {
    s->x[at] = s->x[at - 1];
    s->y[at] = s->y[at - 1];
  }
  s->x[at] = x;
  s->y[at] = y;
}

static plot_series *add_series(composed_chart *c, int rows, plot_style style, int colour) {
  plot_series *s = &c->series[c->used];
  double *x = c->points + (size_t)c->used++ * 2 * (size_t)rows;
  *s = (plot_series){.colour = colour, .style = style, .x = x, .y = x + rows};
  return s;
}

static void add_line(const composed_row *rows, int count, const composed_row *like, int panel,
                     composed_chart *c) {
  plot_style style = like->variant == COMPOSED ? PLOT_SOLID : PLOT_DASHED;
  plot_series *s = add_series(c, count, style, c->used / COMPOSED_VARIANTS);
  snprintf(s->label, sizeof s->label, "%s, %d device%s", names[like->variant], like->devices,
           like->devices == 1 ? "" : "s");
  for (int i = 0; i < count; i++) {
    if (same_line(&rows[i], like)) insert(s, (double)rows[i].n, panel_kinds[panel].value(&rows[i]));
  }
}

static void add_floor(const composed_row *rows, int count, int panel, composed_chart *c) {
  plot_series *s = add_series(c, count, PLOT_DOTTED, 6);
  snprintf(s->label, sizeof s->label, "each matrix once");
  for (int i = 0; i < count; i++) {
    if (same_line(&rows[i], &rows[0]))
      insert(s, (double)rows[i].n, panel_kinds[panel].floor(&rows[i]));
  }
}

static int fill_chart(const composed_row *rows, int count, int panel, composed_chart *c) {
  c->points = calloc((size_t)count * 2 * MOST_SERIES, sizeof *c->points);
  if (!c->points) return tool_fail("out of memory for a chart");
  for (int i = 0; i < count && c->used + 1 < MOST_SERIES; i++) {
    if (first_of_its_line(rows, i)) add_line(rows, count, &rows[i], panel, c);
  }
  if (panel_kinds[panel].floor) add_floor(rows, count, panel, c);
  return TOOL_OK;
}

int composed_write_plot(const char *path, const composed_row *rows, int count) {
  composed_chart *charts = calloc(PANELS, sizeof *charts);
  plot_panel panels[PANELS];
  int code = charts ? TOOL_OK : tool_fail("out of memory for %s", path);
  for (int i = 0; i < PANELS && !code; i++) {
    code = fill_chart(rows, count, i, &charts[i]);
    panels[i] = (plot_panel){panel_kinds[i].title, "N",           panel_kinds[i].unit, false,
                             charts[i].series,     charts[i].used};
  }
  if (!code) code = plot_write(path, panels, PANELS);
  for (int i = 0; charts && i < PANELS; i++) free(charts[i].points);
  free(charts);
  return code;
}
