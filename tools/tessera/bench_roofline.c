/* tessera bench roofline: measured points under the machine's roofs, the links' included. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_dataset.h"
#include "plot.h"
#include "roofs.h"

enum { MOST_SIZES = 64, MOST_HOMES = 16, MOST_SERIES = 3 * BENCH_MOST_COUNTS + 2, PANELS = 2 };

typedef enum panel_kind { PANEL_HOST, PANEL_FABRIC } panel_kind;

typedef struct roofline_request {
  bench_dataset set;
  const char *from, *n, *shape, *homes, *plot;
  bench_home home[MOST_HOMES];
  int home_count;
  bench_row *rows; /* the points to draw */
  int row_count;
  roofs_machine *machine;
  roofs roof[BENCH_MOST_COUNTS]; /* of each number of devices that occurs, ascending */
  int roof_count;
} roofline_request;

/* ---- What is asked for ---- */

static int make_points(roofline_request *r) {
  bench_shape shapes[2 * MOST_SIZES];
  int count = bench_parse_squares(r->n, shapes, MOST_SIZES);
  if (count >= 0 && r->shape) {
    int more = bench_parse_shapes(r->shape, shapes + count, MOST_SIZES);
    count = more < 0 ? -1 : count + more;
  }
  if (count >= 0) r->home_count = bench_parse_homes(r->homes, r->home, MOST_HOMES);
  if (count < 0 || r->home_count < 0) return TOOL_USAGE;
  r->set.points = calloc((size_t)(count * r->home_count), sizeof *r->set.points);
  if (!r->set.points) return tool_fail("out of memory");
  for (int i = 0; i < count * r->home_count; i++) {
    r->set.points[r->set.point_count++] = (bench_point){shapes[i % count], r->home[i / count]};
  }
  return TOOL_OK;
}

static int parse_request(int argc, char **argv, roofline_request *r) {
  bench_dataset_begin(&r->set);
  r->n = "1024,2048,4096,8192,16384";
  r->shape = "16384x16384x1024,16384x16384x4096,4096x4096x65536";
  r->homes = "h,h,h;0,0,0";
  r->set.peer = "none";
  const option table[] = {
      {"plot", 0, OPTION_TEXT, &r->plot, "FILE.svg", "the chart; required"},
      {"from", 0, OPTION_TEXT, &r->from, "CSV,...",
       "draw what other benchmarks measured, and measure nothing"},
      {"n", 0, OPTION_TEXT, &r->n, "N,...", "extents to measure (1024 to 16384 by doubling)"},
      {"shape", 0, OPTION_TEXT, &r->shape, "MxNxK,...",
       "and others (16384x16384x1024,16384x16384x4096,4096x4096x65536)"},
      {"homes", 0, OPTION_TEXT, &r->homes, "H;...", "where A,B,C are (h,h,h;0,0,0)"},
      DATASET_OPTIONS(&r->set),
      {0}};
  const option_command command = {
      "--plot FILE.svg [options]",
      "Draws rates over flops for each byte that must cross the binding link: operands in host\n"
      "memory over the host links, operands on devices over the links between devices. The roofs\n"
      "are the machine's: what kernels sustain, what the links and the devices' memories carry.",
      "tessera bench roofline --from regular.csv,irregular.csv --plot roofline.svg",
      table,
      0,
      0};
  int code = options_parse(&command, argc, argv, NULL, NULL);
  if (!code && !r->plot) code = tool_usage("--plot FILE.svg is required");
  if (!code) code = bench_dataset_interpret(&r->set);
  return code ? code : make_points(r);
}

/* ---- Points ---- */

static int read_files(roofline_request *r) {
  char *names = strdup(r->from), *rest = names;
  int code = names ? TOOL_OK : tool_fail("out of memory");
  for (char *name; !code && (name = strsep(&rest, ",")) != NULL;) {
    code = bench_read_csv(name, &r->rows, &r->row_count);
  }
  free(names);
  return code;
}

static bool in_host(home h) {
  return h.kind != HOME_DEVICE;
}

/* Bytes of an operand: of C in one direction, in which it goes as well as in the other. */
static double operand_bytes(const bench_row *row, int operand) {
  const bench_shape *s = &row->shape;
  const double counts[3] = {(double)s->m * (double)s->k, (double)s->k * (double)s->n,
                            (double)s->m * (double)s->n};
  return counts[operand] * (double)element_size(row->type);
}

/* The bytes over the host links, counted as those of a square product: what goes in and out in
 * another proportion may take longer or shorter for each byte, and counts as more or fewer. */
static double host_bytes(const roofline_request *r, const bench_row *row, const home homes[3]) {
  double in = 0, out = 0;
  for (int i = 0; i < 3; i++) {
    if (in_host(homes[i])) in += operand_bytes(row, i);
  }
  if (in_host(homes[2])) out = operand_bytes(row, 2);
  if (in + out <= 0) return 0;
  double rate = roofs_host_rate(r->machine, row->devices, in / (in + out));
  double square = roofs_host_rate(r->machine, row->devices, 0.75);
  return rate > 0 ? (in + out) * square / rate : 0;
}

/* The most bytes that a device must send or receive when all do as much and no element of C is
 * shared: the others have a share s of C, and touch at least sqrt(s) of A and of B. */
static double fabric_bytes(const bench_row *row, const home homes[3]) {
  double others = (row->devices - 1.0) / row->devices, most = 0;
  for (int d = 0; d < row->devices; d++) {
    double bytes = 0;
    for (int i = 0; i < 3; i++) {
      double share = i == 2 ? others : sqrt(others);
      if (homes[i].device == d) bytes += operand_bytes(row, i) * share;
    }
    most = fmax(most, bytes);
  }
  return most;
}

/* Flops for each byte over the links of that panel; 0 when the point does not belong there. */
static double intensity(const roofline_request *r, const bench_row *row, panel_kind panel) {
  home homes[3];
  if (row->median <= 0 || homes_parse(row->home, HOME_PINNED, homes) != TOOL_OK) return 0;
  bool any_host = in_host(homes[0]) || in_host(homes[1]) || in_host(homes[2]);
  if (any_host != (panel == PANEL_HOST)) return 0;
  double bytes = any_host ? host_bytes(r, row, homes) : fabric_bytes(row, homes);
  double flops = element_flops(row->type, row->shape.m, row->shape.n, row->shape.k);
  return bytes > 0 ? flops / bytes : 0;
}

/* ---- Roofs ---- */

static int compare_roofs(const void *a, const void *b) {
  return ((const roofs *)a)->devices - ((const roofs *)b)->devices;
}

static bool has_roof(const roofline_request *r, int devices) {
  for (int i = 0; i < r->roof_count; i++) {
    if (r->roof[i].devices == devices) return true;
  }
  return false;
}

/* Keeps the rows of the type, and finds the roofs of their numbers of devices. */
static int find_roofs(roofline_request *r) {
  tsr_context *context = NULL;
  int kept = 0, code = settings_open(&r->set.settings, &context);
  if (!code) code = roofs_open(context, &r->machine);
  tsr_context_destroy(context);
  for (int i = 0; i < r->row_count && !code; i++) {
    const bench_row *row = &r->rows[i];
    if (row->type != r->set.kind.type || row->devices < 1) continue;
    r->rows[kept++] = *row;
    if (has_roof(r, r->rows[kept - 1].devices) || r->roof_count == BENCH_MOST_COUNTS) continue;
    code = roofs_find(r->machine, row->type, r->rows[kept - 1].devices, &r->roof[r->roof_count]);
    if (!code) r->roof_count++;
  }
  if (!code && kept < r->row_count) {
    tool_note("note: %d results of other types, or of no device, are left out",
              r->row_count - kept);
  }
  r->row_count = kept;
  qsort(r->roof, (size_t)r->roof_count, sizeof *r->roof, compare_roofs);
  if (!code && kept == 0) code = tool_fail("no result of that type to draw");
  return code;
}

static double link_rate(const roofs *roof, panel_kind panel) {
  return panel == PANEL_HOST ? roof->host : roof->fabric;
}

/* A slope of so many bytes/s up to the flat of the kernels. */
static void fill_roof(plot_series *s, double bytes, double flops, double least, double most) {
  double ridge = flops / bytes;
  if (least < ridge) {
    s->x[s->count] = least;
    s->y[s->count++] = least * bytes * 1e-12;
  }
  s->x[s->count] = fmax(ridge, least);
  s->y[s->count++] = flops * 1e-12;
  if (most > ridge) {
    s->x[s->count] = most;
    s->y[s->count++] = flops * 1e-12;
  }
}

/* ---- The chart ---- */

typedef struct canvas {
  plot_series series[MOST_SERIES];
  int count;
  double *points, least, most; /* room, and the span of intensities */
  size_t used;
} canvas;

static plot_series *add_series(canvas *c, int colour, plot_style style, size_t room) {
  plot_series *s = &c->series[c->count++];
  *s = (plot_series){.colour = colour, .style = style};
  s->x = c->points + c->used;
  s->y = s->x + room;
  c->used += 2 * room;
  return s;
}

static void add_points(const roofline_request *r, panel_kind panel, int index, canvas *c) {
  const roofs *roof = &r->roof[index];
  plot_series *s = add_series(c, index, PLOT_POINTS, (size_t)r->row_count);
  for (int i = 0; i < r->row_count; i++) {
    const bench_row *row = &r->rows[i];
    double x = intensity(r, row, panel);
    if (row->devices != roof->devices || x <= 0) continue;
    s->x[s->count] = x;
    s->y[s->count++] = bench_tera_rate(row, row->median);
    c->least = fmin(c->least, x);
    c->most = fmax(c->most, x);
  }
  snprintf(s->label, sizeof s->label, "%d device%s, measured", roof->devices,
           roof->devices == 1 ? "" : "s");
  if (s->count == 0) c->count--;
}

/* The span leaves room for the slopes: from half of the lowest ridge, of the memory's, on. */
static void widen(const roofline_request *r, panel_kind panel, canvas *c) {
  for (int i = 0; i < r->roof_count; i++) {
    const roofs *roof = &r->roof[i];
    double bytes = link_rate(roof, panel);
    if (roof->memory > 0) c->least = fmin(c->least, roof->kernels / roof->memory / 2);
    if (bytes > 0) c->most = fmax(c->most, roof->kernels / bytes * 2);
  }
}

static void add_roof(const roofline_request *r, panel_kind panel, int index, canvas *c) {
  const roofs *roof = &r->roof[index];
  double bytes = link_rate(roof, panel);
  if (bytes <= 0) return;
  plot_series *s = add_series(c, index, PLOT_DASHED, 3);
  fill_roof(s, bytes, roof->kernels, c->least, c->most);
  snprintf(s->label, sizeof s->label, "%d: %.0f GB/s, %.4g TFLOP/s", roof->devices, bytes * 1e-9,
           roof->kernels * 1e-12);
}

static void add_memory_roof(const roofline_request *r, canvas *c) {
  const roofs *roof = &r->roof[r->roof_count - 1];
  if (roof->memory <= 0) return;
  plot_series *s = add_series(c, 6, PLOT_DASHED, 3);
  fill_roof(s, roof->memory, roof->kernels, c->least, roof->kernels / roof->memory);
  snprintf(s->label, sizeof s->label, "devices' memory: %.4g TB/s", roof->memory * 1e-12);
}

static void fill_canvas(const roofline_request *r, panel_kind panel, canvas *c) {
  c->least = INFINITY;
  for (int i = 0; i < r->roof_count; i++) add_points(r, panel, i, c);
  if (c->count == 0) return;
  widen(r, panel, c);
  for (int i = 0; i < r->roof_count; i++) add_roof(r, panel, i, c);
  add_memory_roof(r, c);
}

static int draw(const roofline_request *r) {
  static const char *const titles[PANELS] = {"operands in host memory: under the host links",
                                             "operands on devices: under the links of the home"};
  static const char *const labels[PANELS] = {
      "flops for each byte over the host links (in and out as of a square)",
      "flops for each byte that the home must send, or receive"};
  canvas *canvases = calloc(PANELS, sizeof *canvases);
  plot_panel panels[PANELS];
  size_t room = (size_t)r->roof_count * (2 * (size_t)r->row_count + 6) + 6;
  int used = 0, code = canvases ? TOOL_OK : tool_fail("out of memory for %s", r->plot);
  for (int p = 0; p < PANELS && !code; p++) {
    canvas *c = &canvases[p];
    c->points = calloc(room, sizeof *c->points);
    if (!c->points) code = tool_fail("out of memory for %s", r->plot);
    if (!code) fill_canvas(r, (panel_kind)p, c);
    if (c->count == 0) continue;
    panels[used++] = (plot_panel){titles[p], labels[p], "TFLOP/s", true, c->series, c->count};
  }
  if (!code && used == 0) code = tool_fail("no result crosses a link: nothing to draw");
  if (!code) code = plot_write(r->plot, panels, used);
  for (int p = 0; p < PANELS && canvases; p++) free(canvases[p].points);
  free(canvases);
  return code;
}

/* ---- The command ---- */

static void print_roofs(const roofline_request *r) {
  printf("\n%7s %14s %12s %20s %18s\n", "devices", "kernels TF/s", "memory TB/s", "host links GB/s",
         "of a device GB/s");
  for (int i = 0; i < r->roof_count; i++) {
    const roofs *f = &r->roof[i];
    printf("%7d %14.4g %12.4g %20.4g %18.4g\n", f->devices, f->kernels * 1e-12, f->memory * 1e-12,
           f->host * 1e-9, f->fabric * 1e-9);
  }
}

static int gather(roofline_request *r) {
  if (r->from) return read_files(r);
  int code = bench_dataset_run(&r->set);
  r->rows = bench_dataset_rows(&r->set, &r->row_count);
  if (!r->rows) return tool_fail("out of memory");
  if (r->set.json) bench_print_json(r->rows, r->row_count);
  return code;
}

int bench_roofline(int argc, char **argv) {
  roofline_request request = {0};
  int code = parse_request(argc, argv, &request);
  if (!code) code = gather(&request);
  if (!code) code = find_roofs(&request);
  if (!code) code = draw(&request);
  if (!code && !request.set.json) print_roofs(&request);
  roofs_close(request.machine);
  free(request.rows);
  bench_dataset_end(&request.set);
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
