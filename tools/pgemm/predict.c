#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"

/* ---- The machine ------------------------------------------------------------- */

typedef struct predictor {
  const predict_request *request;
  tsr_context *context;
  tsr_context_facts facts;
  double peak; /* flops/s of a device */
  predict_row *rows;
  int count, room;
} predictor;

/* The rate of large products, as tsr_plan_accumulation has it. */
static int find_peak(predictor *x) {
  const predict_request *r = x->request;
  enum { LARGE = 16384 };
  int devices = x->facts.devices > 0 ? x->facts.devices : 1;
  tsr_accumulation a;
  x->peak = 1e12 * r->peak;
  if (r->peak > 0) return TOOL_OK;
  int code = tool_status(tsr_plan_accumulation(x->context, r->type, LARGE, (int64_t)LARGE * devices,
                                               LARGE, TSR_HOST, NULL, 1, &a));
  if (!code)
    x->peak =
        element_flops(r->type, LARGE, (int64_t)LARGE * devices, LARGE) / a.next.kernels / devices;
  return code;
}

/* ---- Extents ------------------------------------------------------------------- */

/* Own rows of a process: as many tiles as the one with most has. */
static int64_t own_tiles(int64_t n, int64_t tile, int64_t count) {
  int64_t tiles = (n + tile - 1) / tile;
  return (tiles + count - 1) / count;
}

static double elements_of(const predictor *x, double share) {
  double devices = x->facts.devices > 0 ? x->facts.devices : 1;
  return share * devices * (double)x->facts.memory / (double)element_size(x->request->type);
}

/* The paper's: C takes three quarters of the devices at most, in even blocks. Tiles side by side in
 * one of them. */
static int64_t block_tiles(const predictor *x, int64_t own) {
  double most = elements_of(x, 0.75), tile = (double)x->request->tile;
  int64_t parts = 1;
  if (x->facts.devices == 0) return own;
  while (pow((double)((own + parts - 1) / parts) * tile, 2) > most && parts < own) parts++;
  return (own + parts - 1) / parts;
}

/* A x B and C, without panels, fit the process's memory. */
static bool fits_host(const predictor *x, const int64_t grid[2], int64_t n) {
  double rows = (double)own_tiles(n, x->request->tile, grid[0]) * (double)x->request->tile;
  double cols = (double)own_tiles(n, x->request->tile, grid[1]) * (double)x->request->tile;
  static const double for_matrices = 0.9; /* the rest is for panels */
  return 3 * rows * cols * (double)element_size(x->request->type) <=
         for_matrices * (double)x->request->memory;
}

static int compare_whole(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

enum { EXTENTS = 64 };

/* The last extent for which C is one block, and the next ones; 0 when there is none. */
static int64_t last_whole(const predictor *x, const int64_t grid[2], int64_t most) {
  int64_t step = x->request->tile * grid[0];
  for (int64_t n = most; n >= step; n -= step)
    if (block_tiles(x, own_tiles(n, x->request->tile, grid[0])) ==
        own_tiles(n, x->request->tile, grid[0]))
      return n;
  return 0;
}

/* In even steps of a factor, and around the change to several blocks of C; each a whole number of
 * tiles for each process. */
static int choose_extents(const predictor *x, const int64_t grid[2], int64_t extents[EXTENTS]) {
  const predict_request *r = x->request;
  int64_t step = r->tile * grid[0], most = step;
  int count = 0;
  while (fits_host(x, grid, most + step)) most += step;
  double factor = pow((double)most / (double)r->least, 1.0 / (double)(r->points - 1));
  for (int64_t i = 0; i < r->points && count < EXTENTS - 8; i++) {
    int64_t n = (int64_t)((double)r->least * pow(factor, (double)i) / (double)step + 0.5) * step;
    if (n >= step && n <= most) extents[count++] = n;
  }
  int64_t whole = last_whole(x, grid, most);
  for (int i = 0; i < 4 && whole > 0 && whole < most; i++) {
    int64_t n = whole + (i == 3 ? 6 : i) * step;
    if (n <= most && n >= r->least) extents[count++] = n;
  }
  extents[count++] = most;
  qsort(extents, (size_t)count, sizeof *extents, compare_whole);
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (kept == 0 || extents[i] != extents[kept - 1]) extents[kept++] = extents[i];
  return kept;
}

/* ---- One point ------------------------------------------------------------------ */

/* Chunks as deep as the devices have room for: of the panels there are three sets (docs/
 * distributed.md) or, with more lookahead, as many as are on their way. */
static int64_t paper_depth(const predictor *x, int64_t block, int64_t lookahead) {
  double devices = x->facts.devices > 0 ? x->facts.devices : 1;
  double size = (double)element_size(x->request->type), b = (double)block;
  double left = 0.9 * (double)x->facts.memory / size - b * b / devices;
  double sets = lookahead + 1 > 3 ? (double)lookahead + 1 : 3;
  int64_t tiles = (int64_t)(left / (sets * (b + b / devices)) / (double)x->request->tile);
  return (tiles > 1 ? tiles : 1) * x->request->tile;
}

static int set_cut(const predictor *x, tsr_grid *grid, const int64_t shape[2], int64_t n,
                   int64_t lookahead) {
  const predict_request *r = x->request;
  int64_t block = 0, depth = 0;
  if (r->paper) {
    block = block_tiles(x, own_tiles(n, r->tile, shape[0])) * r->tile;
    depth = paper_depth(x, block, lookahead);
  }
  int code = tool_status(tsr_grid_set_panels(grid, depth, (int)lookahead));
  return code ? code : tool_status(tsr_grid_set_blocks(grid, block, block));
}

static int predict_point(const predictor *x, tsr_grid *grid, int64_t n, tsr_pprediction *p) {
  tsr_type type = x->request->type;
  scalar_value one = scalar_for(type, (scalar){1, 0}), zero = scalar_for(type, (scalar){0, 0});
  tsr_pmatrix m = {.grid = grid,
                   .type = type,
                   .m = n,
                   .n = n,
                   .mb = x->request->tile,
                   .nb = x->request->tile,
                   .ld = 1};
  tsr_pplan *plan = NULL;
  int code = tool_status(tsr_pgemm_plan(grid, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one, &m, 0, 0,
                                        &m, 0, 0, &zero, &m, 0, 0, &plan));
  if (!code) code = tool_status(tsr_pplan_predict(plan, p));
  tsr_pplan_destroy(plan);
  return code;
}

static int add_row(predictor *x, const predict_row *row) {
  if (x->count == x->room) {
    int room = x->room ? 2 * x->room : 256;
    predict_row *rows = realloc(x->rows, (size_t)room * sizeof *rows);
    if (!rows) return tool_fail("out of memory");
    x->rows = rows;
    x->room = room;
  }
  x->rows[x->count++] = *row;
  return TOOL_OK;
}

static int do_point(predictor *x, tsr_grid *grid, predict_row *row) {
  const predict_request *r = x->request;
  const int64_t *shape = r->grids[row->grid];
  double devices = (double)(shape[0] * shape[1]) * (x->facts.devices > 0 ? x->facts.devices : 1);
  int code = set_cut(x, grid, shape, row->n, row->lookahead);
  if (!code) code = predict_point(x, grid, row->n, &row->p);
  if (code) return code;
  double flops = element_flops(r->type, row->n, row->n, row->n) / row->p.seconds / devices;
  row->rate = flops / 1e12;
  row->share = flops / x->peak;
  predict_print(r, row);
  fflush(stdout);
  return add_row(x, row);
}

/* ---- All of them ------------------------------------------------------------------ */

static int do_series(predictor *x, tsr_grid *grid, predict_row *row) {
  int64_t extents[EXTENTS];
  int count = choose_extents(x, x->request->grids[row->grid], extents), code = TOOL_OK;
  for (int i = 0; i < count && !code; i++) {
    row->n = extents[i];
    code = do_point(x, grid, row);
  }
  return code;
}

static int do_grid(predictor *x, int index, double network) {
  const predict_request *r = x->request;
  tsr_grid *grid = NULL;
  int code = tool_status(
      tsr_grid_imagine(x->context, (int)r->grids[index][0], (int)r->grids[index][1], &grid));
  predict_row row = {.grid = index, .network = network};
  if (network <= 0)
    row.network = x->facts.network_bandwidth > 0 ? x->facts.network_bandwidth / 1e9 : 10;
  static const double latency = 2e-6;
  if (!code && network > 0) code = tool_status(tsr_grid_set_network(grid, 1e9 * network, latency));
  for (int i = 0; i < r->lookahead_count && !code; i++) {
    row.lookahead = r->lookaheads[i];
    code = do_series(x, grid, &row);
  }
  tsr_grid_destroy(grid);
  return code;
}

static int do_all(predictor *x) {
  const predict_request *r = x->request;
  int code = tool_status(tsr_context_describe(x->context, &x->facts));
  if (!code) code = find_peak(x);
  if (code) return code;
  predict_print_head(r);
  for (int i = 0; i < r->network_count && !code; i++)
    for (int g = 0; g < r->grid_count && !code; g++) code = do_grid(x, g, r->networks[i]);
  if (code) return code;
  predict_print_summary(r, x->rows, x->count);
  if (r->csv) code = predict_write_csv(r, x->rows, x->count);
  if (!code && r->plot) code = predict_write_plot(r, x->rows, x->count);
  return code;
}

int predict_run(const predict_request *request) {
  predictor x = {.request = request};
  settings given = request->settings;
  given.engine = "cpu"; /* it only plans */
  int code = settings_open(&given, &x.context);
  if (!code) code = do_all(&x);
  tsr_context_destroy(x.context);
  free(x.rows);
  return code;
}
