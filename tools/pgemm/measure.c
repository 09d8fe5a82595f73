#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "matrices.h"
#include "plot.h"
#include "random.h"

enum { A_SEED = 11, B_SEED = 12, SAMPLES = 8, MOST_REPEATS = 1000 };

/* One number of processes: those of comm. */
typedef struct trial {
  const measure_request *r;
  tsr_grid *grid;
  tsr_pmatrix a, b, c;
  measure_row row;
} trial;

/* ---- Random matrices --------------------------------------------------------------- */

/* Element (i, j) of an n x n matrix is number i + j n of its seed, wherever it is. */
static void fill(const tsr_pmatrix *x, uint64_t seed) {
  int rows, cols, row, col;
  size_t size = element_size(x->type);
  char *to = x->data;
  tsr_grid_place(x->grid, &rows, &cols, &row, &col);
  for (int64_t j0 = col * x->nb; j0 < x->n; j0 += cols * x->nb)
    for (int64_t j = j0; j < x->n && j < j0 + x->nb; j++)
      for (int64_t i = row * x->mb; i < x->m; i += rows * x->mb) {
        int64_t count = x->m - i < x->mb ? x->m - i : x->mb;
        random_fill(x->type, seed, i + j * x->m, count, to);
        to += (size_t)count * size;
      }
}

/* The element of C at (i, j), summed up again, and how large rounding errors may be. */
static void sum_up(const trial *t, int64_t i, int64_t j, double sum[2], double *scale) {
  int64_t n = t->row.n;
  sum[0] = sum[1] = *scale = 0;
  for (int64_t l = 0; l < n; l++) {
    double a[2], b[2];
    random_element(t->r->type, A_SEED, i + l * n, &a[0], &a[1]);
    random_element(t->r->type, B_SEED, l + j * n, &b[0], &b[1]);
    sum[0] += a[0] * b[0] - a[1] * b[1];
    sum[1] += a[0] * b[1] + a[1] * b[0];
    *scale += hypot(a[0], a[1]) * hypot(b[0], b[1]);
  }
}

/* The global index of own row or column number `local`. */
static int64_t global_of(int64_t local, int64_t block, int count, int me) {
  return (local / block * count + me) * block + local % block;
}

/* Some elements of each process. */
static bool check(const trial *t) {
  int rows, cols, row, col;
  int64_t m, n;
  const tsr_pmatrix *c = &t->c;
  bool good = true;
  tsr_grid_place(t->grid, &rows, &cols, &row, &col);
  tsr_pmatrix_extents(c, &m, &n);
  for (int s = 0; s < SAMPLES && m > 0 && n > 0; s++) {
    int64_t at[2] = {(int64_t)(random_uniform(7, 2 * (uint64_t)s) * (double)m),
                     (int64_t)(random_uniform(7, 2 * (uint64_t)s + 1) * (double)n)};
    double sum[2], scale, re, im;
    sum_up(t, global_of(at[0], c->mb, rows, row), global_of(at[1], c->nb, cols, col), sum, &scale);
    element_load(c->type, c->data, at[0] + at[1] * c->ld, 1, &re, &im);
    good = good && hypot(re - sum[0], im - sum[1]) <= element_bound(c->type, t->row.n) * scale;
  }
  return good;
}

/* ---- One number of processes --------------------------------------------------------- */

static int say(tsr_status status, bool first) {
  if (status == TSR_OK) return TOOL_OK;
  return first ? tool_status(status) : TOOL_FAILED;
}

static tsr_status product(const trial *t, tsr_pplan **plan) {
  int64_t n = t->row.n;
  scalar_value one = scalar_for(t->r->type, (scalar){1, 0});
  scalar_value zero = scalar_for(t->r->type, (scalar){0, 0});
  if (plan)
    return tsr_pgemm_plan(t->grid, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one, &t->a, 0, 0, &t->b, 0,
                          0, &zero, &t->c, 0, 0, plan);
  return tsr_pgemm(t->grid, TSR_NO_TRANS, TSR_NO_TRANS, n, n, n, &one, &t->a, 0, 0, &t->b, 0, 0,
                   &zero, &t->c, 0, 0);
}

static int time_once(const trial *t, MPI_Comm comm, bool first, double *seconds) {
  MPI_Barrier(comm);
  double begin = tool_now();
  tsr_status status = product(t, NULL);
  double mine = tool_now() - begin;
  MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
  return say(status, first);
}

static int time_all(trial *t, MPI_Comm comm, bool first) {
  double times[MOST_REPEATS];
  int repeat = (int)(t->r->repeat < MOST_REPEATS ? t->r->repeat : MOST_REPEATS);
  int code = time_once(t, comm, first, &t->row.first);
  for (int i = 0; i < repeat && !code; i++) code = time_once(t, comm, first, &times[i]);
  if (!code) t->row.median = repeat > 0 ? tool_median(times, repeat) : t->row.first;
  return code;
}

static void predict(trial *t) {
  tsr_pplan *plan = NULL;
  tsr_pprediction p;
  if (t->row.processes == 1 || product(t, &plan) != TSR_OK) return;
  if (tsr_pplan_predict(plan, &p) == TSR_OK) t->row.predicted = p.seconds;
  tsr_pplan_destroy(plan);
}

static int make_matrices(trial *t, bool first) {
  int64_t n = t->row.n, block = t->r->block;
  tsr_pmatrix *all[3] = {&t->a, &t->b, &t->c};
  for (int i = 0; i < 3; i++) {
    int code =
        say(tsr_pmatrix_create(t->grid, t->r->type, n, n, block, block, 0, 0, all[i]), first);
    if (code) return code;
  }
  fill(&t->a, A_SEED);
  fill(&t->b, B_SEED);
  return TOOL_OK;
}

static int measure(trial *t, MPI_Comm comm, bool first) {
  tsr_grid_place(t->grid, &t->row.rows, &t->row.cols, NULL, NULL);
  t->row.transport = t->row.processes > 1 ? tsr_grid_transport(t->grid) : "-";
  int code = cut_apply(&t->r->cut, t->grid);
  if (!code) code = make_matrices(t, first);
  if (!code) code = time_all(t, comm, first);
  if (code) return code;
  int good = check(t), all;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm);
  t->row.good = all != 0;
  predict(t);
  return TOOL_OK;
}

/* Of those in comm; the others have MPI_COMM_NULL. */
static int do_count(const measure_request *r, tsr_context *context, MPI_Comm comm,
                    measure_row *row) {
  int rank;
  trial t = {.r = r, .row = *row};
  MPI_Comm_rank(comm, &rank);
  t.row.devices = tsr_device_count(context);
  int code = say(tsr_grid_create(context, comm, 0, 0, &t.grid), rank == 0);
  if (!code) code = measure(&t, comm, rank == 0);
  tsr_pmatrix_destroy(&t.a);
  tsr_pmatrix_destroy(&t.b);
  tsr_pmatrix_destroy(&t.c);
  tsr_grid_destroy(t.grid);
  *row = t.row;
  return code;
}

/* ---- Results -------------------------------------------------------------------------- */

static double rate_of(const measure_request *r, const measure_row *row) {
  return element_flops(r->type, row->n, row->n, row->n) / row->median;
}

/* Against the first row: strong, how much faster for each process; weak, the rate of one. */
static double efficiency(const measure_request *r, const measure_row *row,
                         const measure_row *base) {
  return rate_of(r, row) / row->processes / (rate_of(r, base) / base->processes);
}

static void print_row(const measure_request *r, const measure_row *row, const measure_row *base) {
  if (row == base)
    printf("%-9s %-7s %8s %-4s %8s %11s %11s %11s %12s %11s  %s\n", "processes", "grid", "devices",
           "by", "N", "first", "median", "predicted", "GFLOP/s", "efficiency", "result");
  char grid[24];
  snprintf(grid, sizeof grid, "%dx%d", row->rows, row->cols);
  printf("%-9d %-7s %8d %-4s %8lld %11s %11s %11s %12.1f %9.1f %%  %s\n", row->processes, grid,
         row->devices, row->transport, (long long)row->n, tool_seconds(row->first),
         tool_seconds(row->median), row->predicted > 0 ? tool_seconds(row->predicted) : "-",
         1e-9 * rate_of(r, row), 100 * efficiency(r, row, base), row->good ? "right" : "WRONG");
  fflush(stdout);
}

static int write_csv(const measure_request *r, const measure_row *rows, int count) {
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) return tool_fail("out of memory for %s", r->csv);
  fprintf(stream,
          "mode,type,processes,rows,cols,devices,n,first_s,median_s,predicted_s,gflops,"
          "efficiency,right,transport\n");
  for (int i = 0; i < count; i++)
    fprintf(stream, "%s,%c,%d,%d,%d,%d,%lld,%.6g,%.6g,%.6g,%.5g,%.4g,%d,%s\n",
            r->strong ? "strong" : "weak", (char)r->type, rows[i].processes, rows[i].rows,
            rows[i].cols, rows[i].devices, (long long)rows[i].n, rows[i].first, rows[i].median,
            rows[i].predicted, 1e-9 * rate_of(r, &rows[i]), efficiency(r, &rows[i], &rows[0]),
            rows[i].good, rows[i].transport);
  int code = fclose(stream) == 0 ? tool_write_file(r->csv, text) : tool_fail("out of memory");
  free(text);
  return code;
}

static int write_plot(const measure_request *r, const measure_row *rows, int count) {
  double x[MEASURE_COUNTS], y[2][MEASURE_COUNTS];
  for (int i = 0; i < count; i++) {
    x[i] = rows[i].processes;
    y[0][i] = 1e-9 * rate_of(r, &rows[i]);
    y[1][i] = 1e-9 * rate_of(r, &rows[0]) * rows[i].processes / rows[0].processes;
  }
  plot_series series[2] = {{"measured", 0, PLOT_SOLID, count, x, y[0]},
                           {"as the first for each process", 6, PLOT_DASHED, count, x, y[1]}};
  plot_panel panel = {.title = r->strong ? "Strong scaling" : "Weak scaling",
                      .x_label = "processes",
                      .y_label = "GFLOP/s",
                      .series = series,
                      .count = 2};
  return plot_write(r->plot, &panel, 1);
}

/* ---- All of them ------------------------------------------------------------------------ */

static int choose_counts(const measure_request *r, int size, int64_t counts[MEASURE_COUNTS]) {
  if (r->count_count > 0) {
    memcpy(counts, r->counts, sizeof r->counts);
    return r->count_count;
  }
  int count = 0;
  for (int64_t p = 1; p <= size && count < MEASURE_COUNTS; p *= 2) counts[count++] = p;
  if (counts[count - 1] != size && count < MEASURE_COUNTS) counts[count++] = size;
  return count;
}

static int64_t extent_of(const measure_request *r, int64_t processes) {
  if (r->strong) return r->n;
  return (int64_t)((double)r->n * sqrt((double)processes) + 0.5);
}

/* Row i, on the first so many processes; the others wait. */
static int do_row(const measure_request *r, tsr_context *context, int64_t processes,
                  measure_row *row) {
  int rank, code = TOOL_OK;
  MPI_Comm comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  *row = (measure_row){.processes = (int)processes, .n = extent_of(r, processes)};
  MPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    code = do_count(r, context, comm, row);
    MPI_Comm_free(&comm);
  }
  return all_agree(code);
}

static int finish(const measure_request *r, const measure_row *rows, int count) {
  int code = TOOL_OK;
  if (!is_first()) return TOOL_OK;
  if (r->csv) code = write_csv(r, rows, count);
  if (!code && r->plot) code = write_plot(r, rows, count);
  for (int i = 0; i < count && !code; i++)
    if (!rows[i].good) code = tool_fail("a result is wrong");
  return code;
}

static int run_all(const measure_request *r, tsr_context *context) {
  int64_t counts[MEASURE_COUNTS];
  measure_row rows[MEASURE_COUNTS];
  int size, code = TOOL_OK;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int count = choose_counts(r, size, counts);
  for (int i = 0; i < count && !code; i++) {
    if (counts[i] < 1 || counts[i] > size) {
      code = is_first()
                 ? tool_fail("--processes %lld: mpirun has started %d", (long long)counts[i], size)
                 : TOOL_FAILED;
      break;
    }
    code = do_row(r, context, counts[i], &rows[i]);
    if (!code && is_first()) print_row(r, &rows[i], &rows[0]);
  }
  return code ? code : all_agree(finish(r, rows, count));
}

int measure_run(const measure_request *r) {
  const settings *s = &r->settings;
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  int sharing = 1, wrong = settings_set_memory(s, &options);
  if (wrong) return wrong;
  options.engine = s->engine;
  options.devices = s->devices;
  options.machine = s->machine;
  tsr_status status = tsr_context_create_dealt(MPI_COMM_WORLD, &options, &context, &sharing);
  int code = say(status, is_first());
  if (!code && sharing > 1 && is_first()) tool_note("%d processes share a device", sharing);
  if (!code) code = run_all(r, context);
  tsr_context_destroy(context);
  return code;
}
