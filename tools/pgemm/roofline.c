#include "roofline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "plot.h"

enum { POINTS = 1024, SERIES = 8, LINE = 512 };

typedef struct point {
  char mode[16];
  double intensity; /* flops a process does for each byte that it receives */
  double rate;      /* GFLOP/s of a process */
} point;

typedef struct points {
  point all[POINTS];
  int count;
  double peak; /* GFLOP/s of a process on its machine, of the types that occur */
  tsr_type type;
} points;

/* ---- Reading -------------------------------------------------------------------- */

/* Lines that are no rows are passed over; one process has no network. */
static void read_line(const char *line, points *p) {
  char type;
  int processes, rows, cols, devices;
  long long n;
  double first, seconds;
  point x;
  if (p->count == POINTS ||
      sscanf(line, "%15[^,],%c,%d,%d,%d,%d,%lld,%lf,%lf,", x.mode, &type, &processes, &rows, &cols,
             &devices, &n, &first, &seconds) != 9 ||
      !strchr("sdcz", type) || processes < 2 || rows < 1 || cols < 1 || !(seconds > 0))
    return;
  double extent = (double)n, size = (double)element_size((tsr_type)type);
  double flops = element_flops((tsr_type)type, n, n, n) / processes;
  double bytes = size * extent * extent * ((1 - 1.0 / cols) / rows + (1 - 1.0 / rows) / cols);
  x.intensity = flops / bytes;
  x.rate = 1e-9 * flops / seconds;
  p->type = (tsr_type)type;
  p->all[p->count++] = x;
}

static int read_file(const char *path, points *p) {
  char line[LINE];
  FILE *stream = fopen(path, "r");
  if (!stream) return tool_fail("%s: %s", path, strerror(errno));
  while (fgets(line, sizeof line, stream)) read_line(line, p);
  fclose(stream);
  return TOOL_OK;
}

static int read_all(const char *paths, points *p) {
  char *names = strdup(paths), *rest = names;
  int code = names ? TOOL_OK : tool_fail("out of memory");
  for (char *name; !code && (name = strsep(&rest, ",")) != NULL;) code = read_file(name, p);
  free(names);
  if (!code && p->count == 0) code = tool_fail("%s: no products on several processes", paths);
  return code;
}

/* ---- Roofs ---------------------------------------------------------------------- */

/* Of large products on all devices of a process. */
static int find_roofs(const roofline_request *r, points *p, double *network) {
  enum { LARGE = 16384 };
  tsr_context *context = NULL;
  tsr_context_facts facts = {0};
  tsr_accumulation a = {0};
  settings given = r->settings;
  given.engine = "cpu"; /* it is only asked for its machine */
  int code = settings_open(&given, &context);
  if (!code) code = tool_status(tsr_context_describe(context, &facts));
  int64_t n = (int64_t)LARGE * (facts.devices > 0 ? facts.devices : 1);
  if (!code)
    code = tool_status(
        tsr_plan_accumulation(context, p->type, LARGE, n, LARGE, TSR_HOST, NULL, 1, &a));
  tsr_context_destroy(context);
  if (code) return code;
  p->peak = r->peak > 0 ? r->peak : 1e-9 * element_flops(p->type, LARGE, n, LARGE) / a.next.kernels;
  *network = r->network > 0                ? r->network
             : facts.network_bandwidth > 0 ? 1e-9 * facts.network_bandwidth
                                           : 10;
  return TOOL_OK;
}

/* ---- Drawing -------------------------------------------------------------------- */

typedef struct chart {
  double x[SERIES][POINTS], y[SERIES][POINTS];
  plot_series series[SERIES];
  int count;
} chart;

static plot_series *series_of(chart *c, const char *label, plot_style style) {
  for (int i = 0; i < c->count; i++)
    if (strcmp(c->series[i].label, label) == 0) return &c->series[i];
  if (c->count == SERIES) return NULL;
  plot_series *s = &c->series[c->count];
  *s = (plot_series){.colour = c->count, .style = style, .x = c->x[c->count], .y = c->y[c->count]};
  snprintf(s->label, sizeof s->label, "%s", label);
  c->count++;
  return s;
}

static void add(plot_series *s, double x, double y) {
  if (s == NULL || s->count == POINTS) return;
  s->x[s->count] = x;
  s->y[s->count++] = y;
}

static void add_roof(chart *c, const points *p, double network) {
  double least = INFINITY, most = 0, ridge = p->peak / network;
  char label[64];
  for (int i = 0; i < p->count; i++) {
    least = fmin(least, p->all[i].intensity);
    most = fmax(most, p->all[i].intensity);
  }
  least = fmin(least, ridge / 4), most = fmax(most, 4 * ridge);
  snprintf(label, sizeof label, "%.3g GB/s; %.4g GFLOP/s", network, p->peak);
  plot_series *roof = series_of(c, label, PLOT_DASHED);
  add(roof, least, least * network);
  add(roof, ridge, p->peak);
  add(roof, most, p->peak);
}

static int draw(const roofline_request *r, const points *p, double network) {
  chart *c = calloc(1, sizeof *c);
  if (!c) return tool_fail("out of memory for %s", r->plot);
  add_roof(c, p, network);
  for (int i = 0; i < p->count; i++)
    add(series_of(c, p->all[i].mode, PLOT_POINTS), p->all[i].intensity, p->all[i].rate);
  plot_panel panel = {.title = "Products across processes, of one process",
                      .x_label = "flops for each byte that it receives",
                      .y_label = "GFLOP/s",
                      .logarithmic = true,
                      .series = c->series,
                      .count = c->count};
  int code = plot_write(r->plot, &panel, 1);
  free(c);
  return code;
}

static void report(const points *p, double network) {
  printf("%-8s %14s %12s %12s %10s\n", "mode", "flops a byte", "GFLOP/s", "roof", "share");
  for (int i = 0; i < p->count; i++) {
    double roof = fmin(p->peak, network * p->all[i].intensity);
    printf("%-8s %14.1f %12.2f %12.2f %8.1f %%\n", p->all[i].mode, p->all[i].intensity,
           p->all[i].rate, roof, 100 * p->all[i].rate / roof);
  }
}

int roofline_run(const roofline_request *r) {
  points *p = calloc(1, sizeof *p);
  double network = 0;
  int code = p ? read_all(r->from, p) : tool_fail("out of memory");
  if (!code) code = find_roofs(r, p, &network);
  if (!code) report(p, network);
  if (!code && r->plot) code = draw(r, p, network);
  free(p);
  return code;
}
