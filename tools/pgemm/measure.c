#include "measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "matrices.h"
#include "parallel.h"
#include "plot.h"
#include "random.h"

enum { A_SEED = 11, B_SEED = 12, SAMPLES = 8, MOST_REPEATS = 1000 };

/* One number of processes: those of comm. */
typedef struct trial {
  const measure_request *r;
  tsr_context *context;
  MPI_Comm comm;
  bool first; /* process 0 of them */
  tsr_grid *grid;
  tsr_pmatrix a, b, c;
  measure_row row;
} trial;

/* ---- Random matrices --------------------------------------------------------------- */

/* The global index of own row or column number `local`. */
static int64_t global_of(int64_t local, int64_t block, int count, int me) {
  return (local / block * count + me) * block + local % block;
}

typedef struct filling {
  const tsr_pmatrix *x;
  uint64_t seed;
  int rows, cols, row, col; /* of the grid, and this process's */
} filling;

/* Own columns begin .. end-1. Element (i, j) of an n x n matrix is number i + j n of its seed,
 * wherever it is. */
static void fill_columns(void *user, int64_t begin, int64_t end) {
  const filling *f = user;
  const tsr_pmatrix *x = f->x;
  size_t size = element_size(x->type);
  for (int64_t local = begin; local < end; local++) {
    int64_t j = global_of(local, x->nb, f->cols, f->col);
    char *to = (char *)x->data + (size_t)(local * x->ld) * size;
    for (int64_t i = f->row * x->mb; i < x->m; i += f->rows * x->mb) {
      int64_t count = x->m - i < x->mb ? x->m - i : x->mb;
      random_fill(x->type, f->seed, i + j * x->m, count, to);
      to += (size_t)count * size;
    }
  }
}

static void fill(const tsr_pmatrix *x, uint64_t seed) {
  enum { COLUMNS = 16 }; /* of a thread at a time */
  filling f = {.x = x, .seed = seed};
  int64_t rows, cols;
  tsr_grid_place(x->grid, &f.rows, &f.cols, &f.row, &f.col);
  tsr_pmatrix_extents(x, &rows, &cols);
  parallel_for(cols, COLUMNS, fill_columns, &f);
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

/* Own row and column of a sample of an m x n part. */
static void sample(int s, int64_t m, int64_t n, int64_t at[2]) {
  at[0] = (int64_t)(random_uniform(7, 2 * (uint64_t)s) * (double)m);
  at[1] = (int64_t)(random_uniform(7, 2 * (uint64_t)s + 1) * (double)n);
}

/* What another product left there does not count. */
static void spoil(const trial *t) {
  const tsr_pmatrix *c = &t->c;
  const double nan[1] = {NAN};
  int64_t m, n, at[2];
  tsr_pmatrix_extents(c, &m, &n);
  for (int s = 0; s < SAMPLES && m > 0 && n > 0; s++) {
    sample(s, m, n, at);
    element_store(c->type, c->data, at[0] + at[1] * c->ld, 1, nan, nan);
  }
}

/* Some elements of each process. */
static bool check(const trial *t) {
  int rows, cols, row, col;
  int64_t m, n, at[2];
  const tsr_pmatrix *c = &t->c;
  bool good = true;
  tsr_grid_place(t->grid, &rows, &cols, &row, &col);
  tsr_pmatrix_extents(c, &m, &n);
  for (int s = 0; s < SAMPLES && m > 0 && n > 0; s++) {
    double sum[2], scale, re, im;
    sample(s, m, n, at);
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

static int time_once(const trial *t, double *seconds) {
  MPI_Barrier(t->comm);
  double begin = tool_now();
  tsr_status status = product(t, NULL);
  double mine = tool_now() - begin;
  MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, t->comm);
  return say(status, t->first);
}

static int time_all(trial *t) {
  double times[MOST_REPEATS];
  int repeat = (int)(t->r->repeat < MOST_REPEATS ? t->r->repeat : MOST_REPEATS);
  int code = time_once(t, &t->row.first);
  for (int i = 0; i < repeat && !code; i++) code = time_once(t, &times[i]);
  if (!code) t->row.median = repeat > 0 ? tool_median(times, repeat) : t->row.first;
  return code;
}

/* One more product, and what all its processes did over time. */
static int draw(trial *t) {
  double ignored;
  char *text = NULL;
  int code = say(tsr_grid_timeline_begin(t->grid), t->first);
  if (!code) code = time_once(t, &ignored);
  if (!code) code = say(tsr_grid_timeline_end(t->grid, 0, 0, &text), t->first);
  if (!code && text) code = tool_write_file(t->r->timeline, text);
  free(text);
  return code;
}

static void predict(trial *t) {
  tsr_pplan *plan = NULL;
  tsr_pprediction p;
  if (t->row.processes == 1 || product(t, &plan) != TSR_OK) return;
  if (tsr_pplan_predict(plan, &p) == TSR_OK) t->row.predicted = p.seconds;
  tsr_pplan_destroy(plan);
}

/* Once: the grids of several transports have one shape. */
static int make_matrices(trial *t) {
  int64_t n = t->row.n, block = t->r->block;
  tsr_pmatrix *all[3] = {&t->a, &t->b, &t->c};
  for (int i = 0; i < 3; i++) {
    int code =
        say(tsr_pmatrix_create(t->grid, t->r->type, n, n, block, block, 0, 0, all[i]), t->first);
    if (!code) continue;
    while (i-- > 0) tsr_pmatrix_destroy(all[i]);
    return code;
  }
  fill(&t->a, A_SEED);
  fill(&t->b, B_SEED);
  return TOOL_OK;
}

static int measure(trial *t) {
  int code = cut_apply(&t->r->cut, t->grid);
  if (!code && t->a.grid == NULL) code = make_matrices(t);
  if (!code) spoil(t);
  if (!code) code = time_all(t);
  if (code) return code;
  int good = check(t), all;
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, t->comm);
  t->row.good = all != 0;
  predict(t);
  return t->r->timeline ? draw(t) : TOOL_OK;
}

static const char *transport_of(const trial *t) {
  const char *name = tsr_grid_transport(t->grid);
  if (t->row.processes == 1) return "-";
  return strcmp(name, "nccl") == 0 ? "nccl" : "mpi"; /* the grid's own text ends with it */
}

/* In place of the grid of the last transport, which still has the matrices. */
static int do_transport(trial *t) {
  tsr_grid *former = t->grid, *made = NULL;
  int code = say(tsr_grid_create(t->context, t->comm, t->row.rows, t->row.cols, &made), t->first);
  if (code) return code;
  t->grid = made;
  if (t->a.grid != NULL) t->a.grid = t->b.grid = t->c.grid = made;
  tsr_grid_destroy(former);
  tsr_grid_place(made, &t->row.rows, &t->row.cols, NULL, NULL);
  t->row.transport = transport_of(t);
  if (t->first) tell_detour(t->context, made);
  return measure(t);
}

/* One after the other; what fails with one does not keep the next from being tried. rows: one for
 * each; returns how many. */
static int do_transports(trial *t, measure_row *rows, int *code) {
  const measure_request *r = t->r;
  int count = t->row.processes > 1 && r->transport_count > 0 ? r->transport_count : 1;
  for (int i = 0; i < count; i++) {
    const measure_row blank = {.processes = t->row.processes,
                               .rows = t->row.rows,
                               .cols = t->row.cols,
                               .devices = t->row.devices,
                               .n = t->row.n,
                               .transport = "-"};
    t->row = blank;
    if (r->transport_count > 0) {
      setenv("TESSERA_TRANSPORT", r->transports[i], 1);
      t->row.transport = r->transports[i];
    }
    int failed = do_transport(t);
    t->row.failed = failed != 0;
    if (failed) *code = failed;
    rows[i] = t->row;
  }
  return count;
}

/* Of those in comm; the others have MPI_COMM_NULL. */
static int do_count(const measure_request *r, tsr_context *context, MPI_Comm comm,
                    measure_row *rows, int *code) {
  int rank;
  MPI_Comm_rank(comm, &rank);
  trial t = {.r = r, .context = context, .comm = comm, .first = rank == 0, .row = rows[0]};
  t.row.devices = tsr_device_count(context);
  int count = do_transports(&t, rows, code);
  tsr_pmatrix_destroy(&t.a);
  tsr_pmatrix_destroy(&t.b);
  tsr_pmatrix_destroy(&t.c);
  tsr_grid_destroy(t.grid);
  return count;
}

/* ---- Results -------------------------------------------------------------------------- */

static double rate_of(const measure_request *r, const measure_row *row) {
  return element_flops(r->type, row->n, row->n, row->n) / row->median;
}

/* What others are compared with: the first row that has a time, if there is one. */
static const measure_row *first_of(const measure_row *rows, int count) {
  int i = 0;
  while (i < count - 1 && rows[i].failed) i++;
  return &rows[i];
}

/* Against the first row: strong, how much faster for each process; weak, the rate of one. */
static double efficiency(const measure_request *r, const measure_row *row,
                         const measure_row *base) {
  return rate_of(r, row) / row->processes / (rate_of(r, base) / base->processes);
}

static void print_row(const measure_request *r, const measure_row *row, const measure_row *base,
                      bool header) {
  if (header)
    printf("%-9s %-7s %8s %-4s %8s %11s %11s %11s %12s %11s  %s\n", "processes", "grid", "devices",
           "by", "N", "first", "median", "predicted", "GFLOP/s", "efficiency", "result");
  char grid[24];
  if (row->failed) {
    printf("%-9d %-7s %8d %-4s %8lld failed\n", row->processes, "-", row->devices, row->transport,
           (long long)row->n);
    fflush(stdout);
    return;
  }
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
  for (int i = 0; i < count; i++) {
    if (rows[i].failed) continue;
    fprintf(stream, "%s,%c,%d,%d,%d,%d,%lld,%.6g,%.6g,%.6g,%.5g,%.4g,%d,%s\n",
            r->strong ? "strong" : "weak", (char)r->type, rows[i].processes, rows[i].rows,
            rows[i].cols, rows[i].devices, (long long)rows[i].n, rows[i].first, rows[i].median,
            rows[i].predicted, 1e-9 * rate_of(r, &rows[i]),
            efficiency(r, &rows[i], first_of(rows, count)), rows[i].good, rows[i].transport);
  }
  int code = fclose(stream) == 0 ? tool_write_file(r->csv, text) : tool_fail("out of memory");
  free(text);
  return code;
}

static int write_plot(const measure_request *r, const measure_row *rows, int count) {
  double x[MEASURE_ROWS], y[2][MEASURE_ROWS];
  const measure_row *base = first_of(rows, count);
  int drawn = 0;
  for (int i = 0; i < count; i++) {
    if (rows[i].failed) continue;
    x[drawn] = rows[i].processes;
    y[0][drawn] = 1e-9 * rate_of(r, &rows[i]);
    y[1][drawn++] = 1e-9 * rate_of(r, base) * rows[i].processes / base->processes;
  }
  plot_series series[2] = {{"measured", 0, PLOT_SOLID, drawn, x, y[0]},
                           {"as the first for each process", 6, PLOT_DASHED, drawn, x, y[1]}};
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

/* On the first so many processes; the others wait. One row for each transport: *count. */
static int do_rows(const measure_request *r, tsr_context *context, int64_t processes,
                   measure_row *rows, int *count) {
  int rank, code = TOOL_OK;
  MPI_Comm comm;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  rows[0] = (measure_row){.processes = (int)processes, .n = extent_of(r, processes)};
  MPI_Comm_split(MPI_COMM_WORLD, rank < processes ? 0 : MPI_UNDEFINED, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    *count = do_count(r, context, comm, rows, &code);
    MPI_Comm_free(&comm);
  }
  MPI_Bcast(count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return all_agree(code);
}

static int finish(const measure_request *r, const measure_row *rows, int count) {
  int code = TOOL_OK;
  if (!is_first()) return TOOL_OK;
  if (r->csv) code = write_csv(r, rows, count);
  if (!code && r->plot) code = write_plot(r, rows, count);
  for (int i = 0; i < count && !code; i++)
    if (!rows[i].failed && !rows[i].good) code = tool_fail("a result is wrong");
  return code;
}

static int check_count(int64_t count, int size) {
  if (count >= 1 && count <= size) return TOOL_OK;
  return is_first() ? tool_fail("--processes %lld: mpirun has started %d", (long long)count, size)
                    : TOOL_FAILED;
}

/* What was measured is written, whatever failed. */
static int run_all(const measure_request *r, tsr_context *context) {
  int64_t counts[MEASURE_COUNTS];
  measure_row rows[MEASURE_ROWS];
  int size, code = TOOL_OK, done = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int count = choose_counts(r, size, counts);
  for (int i = 0; i < count && done + MEASURE_TRANSPORTS <= MEASURE_ROWS; i++) {
    int more = 0;
    if (!code) code = check_count(counts[i], size);
    if (code) break;
    code = do_rows(r, context, counts[i], &rows[done], &more);
    for (int j = done; j < done + more && is_first(); j++)
      print_row(r, &rows[j], first_of(rows, j + 1), j == 0);
    done += more;
  }
  int finished = all_agree(finish(r, rows, done));
  return code ? code : finished;
}

int measure_run(const measure_request *r) {
  tsr_options options;
  tsr_context *context = NULL;
  int sharing = 1, wrong = settings_options(&r->settings, &options);
  if (wrong) return wrong;
  tsr_status status = tsr_context_create_dealt(MPI_COMM_WORLD, &options, &context, &sharing);
  int code = say(status, is_first());
  if (!code && sharing > 1 && is_first()) tool_note("%d processes share a device", sharing);
  if (!code) code = run_all(r, context);
  tsr_context_destroy(context);
  return code;
}
