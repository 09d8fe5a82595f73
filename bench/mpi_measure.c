/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Measures products across processes on random matrices and checks some elements of each process's
 * part. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"
#include "parallel.h"
#include "random.h"

enum { A_SEED = 11, B_SEED = 12, SAMPLES = 8, REPEATS = 5, BLOCK = 256 };

/* The context, processes, grid and matrices of the last case, which later cases use if they fit. */
static struct bed {
  tsr_context *context;
  settings with; /* the context was made with these */
  MPI_Comm comm; /* of the first `processes` processes; MPI_COMM_NULL: this one only waits */
  int processes;
  tsr_grid *grid;
  tsr_pmatrix a, b, c;
} bed = {.comm = MPI_COMM_NULL};

/* The exit code of a status that is the same on all processes; only the first prints its
 * message. */
static int same_status(tsr_status status) {
  if (status == TSR_OK) return TOOL_OK;
  return is_first() ? tool_status(status) : TOOL_FAILED;
}

/* ---- Random matrices --------------------------------------------------------------- */

/* The global index of this process's row or column number `local`. */
static int64_t global_of(int64_t local, int64_t block, int count, int me) {
  return (local / block * count + me) * block + local % block;
}

typedef struct filling {
  const tsr_pmatrix *x;
  uint64_t seed;
  int rows, cols, row, col; /* of the grid, and this process's */
} filling;

/* Fills this process's columns begin .. end-1. Element (i, j) of a matrix of m rows is element i +
 * j m of its seed, on whichever process it lies. */
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
  enum { COLUMNS = 16 }; /* in one range of a thread */
  filling f = {.x = x, .seed = seed};
  int64_t rows, cols;
  tsr_grid_place(x->grid, &f.rows, &f.cols, &f.row, &f.col);
  tsr_pmatrix_extents(x, &rows, &cols);
  parallel_for(cols, COLUMNS, fill_columns, &f);
}

/* sum: element (i, j) of C, computed in double; *scale: the sum of |a| |b|, to which its rounding
 * error is proportional. */
static void expected_element(const mpi_case *c, int64_t i, int64_t j, double sum[2],
                             double *scale) {
  sum[0] = sum[1] = *scale = 0;
  for (int64_t l = 0; l < c->k; l++) {
    double a[2], b[2];
    random_element(c->type, A_SEED, i + l * c->m, &a[0], &a[1]);
    random_element(c->type, B_SEED, l + j * c->k, &b[0], &b[1]);
    sum[0] += a[0] * b[0] - a[1] * b[1];
    sum[1] += a[0] * b[1] + a[1] * b[0];
    *scale += hypot(a[0], a[1]) * hypot(b[0], b[1]);
  }
}

/* at: the local row and column of sample number s in an m x n part. */
static void sample(int s, int64_t m, int64_t n, int64_t at[2]) {
  at[0] = (int64_t)(random_uniform(7, 2 * (uint64_t)s) * (double)m);
  at[1] = (int64_t)(random_uniform(7, 2 * (uint64_t)s + 1) * (double)n);
}

/* Sets the sampled elements of C to NaN, so that results of an earlier product do not pass the
 * check. */
static void spoil(void) {
  const tsr_pmatrix *c = &bed.c;
  const double nan[1] = {NAN};
  int64_t m, n, at[2];
  tsr_pmatrix_extents(c, &m, &n);
  for (int s = 0; s < SAMPLES && m > 0 && n > 0; s++) {
    sample(s, m, n, at);
    element_store(c->type, c->data, at[0] + at[1] * c->ld, 1, nan, nan);
  }
}

static bool check_own(const mpi_case *c) {
  const tsr_pmatrix *x = &bed.c;
  int rows, cols, row, col;
  int64_t m, n, at[2];
  bool good = true;
  tsr_grid_place(bed.grid, &rows, &cols, &row, &col);
  tsr_pmatrix_extents(x, &m, &n);
  for (int s = 0; s < SAMPLES && m > 0 && n > 0; s++) {
    double sum[2], scale, re, im;
    sample(s, m, n, at);
    expected_element(c, global_of(at[0], x->mb, rows, row), global_of(at[1], x->nb, cols, col), sum,
                     &scale);
    element_load(x->type, x->data, at[0] + at[1] * x->ld, 1, &re, &im);
    good = good && hypot(re - sum[0], im - sum[1]) <= element_bound(x->type, c->k) * scale;
  }
  return good;
}

/* ---- Processes, grid and matrices ------------------------------------------------------ */

static void drop_matrices(void) {
  tsr_pmatrix *const all[3] = {&bed.a, &bed.b, &bed.c};
  for (int i = 0; i < 3; i++) {
    if (all[i]->grid) tsr_pmatrix_destroy(all[i]);
    *all[i] = (tsr_pmatrix){0};
  }
}

static void drop_processes(void) {
  drop_matrices();
  tsr_grid_destroy(bed.grid);
  bed.grid = NULL;
  if (bed.comm != MPI_COMM_NULL) MPI_Comm_free(&bed.comm);
  bed.processes = 0;
}

void mpi_measure_end(void) {
  drop_processes();
  tsr_context_destroy(bed.context);
  bed.context = NULL;
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Makes the context, unless the last one has the same settings. All processes that were started on
 * a node share out its devices. */
static int open_context(const settings *with) {
  tsr_options options;
  int sharing = 1;
  bool same =
      same_text(with->engine, bed.with.engine) && same_text(with->devices, bed.with.devices) &&
      same_text(with->machine, bed.with.machine) && same_text(with->memory, bed.with.memory);
  if (bed.context && same) return TOOL_OK;
  mpi_measure_end();
  bed.with = *with;
  int code = settings_options(with, &options);
  if (code) return code;
  code = same_status(tsr_context_create_dealt(MPI_COMM_WORLD, &options, &bed.context, &sharing));
  if (!code) code = same_status(settings_force(with, bed.context));
  if (!code && sharing > 1 && is_first()) tool_note("%d processes share a device", sharing);
  return code;
}

static int choose_processes(int64_t processes) {
  int rank, size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int count = processes < 0 ? size : (int)processes;
  if (count > size) {
    if (is_first()) tool_usage("--processes %d: mpirun has started %d; ask for fewer", count, size);
    return TOOL_USAGE;
  }
  if (count == bed.processes) return TOOL_OK;
  drop_processes();
  MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &bed.comm);
  bed.processes = count;
  return TOOL_OK;
}

/* Makes the case's grid and destroys the last one. The matrices of the last grid are moved to the
 * new one if they have the case's distribution. */
static int make_grid(const mpi_case *c) {
  tsr_grid *former = bed.grid, *made = NULL;
  int rows, cols, old_rows = 0, old_cols = 0;
  static char given[16] = "?"; /* TESSERA_TRANSPORT at the start; "?": not read yet */
  const char *first = getenv("TESSERA_TRANSPORT");
  if (given[0] == '?') snprintf(given, sizeof given, "%s", first ? first : "");
  setenv("TESSERA_TRANSPORT", c->words.transport ? c->words.transport : given, 1);
  int shape[2] = {(int)c->grid[0], (int)c->grid[1]}, size;
  MPI_Comm_size(bed.comm, &size);
  if (shape[0] == 0 && cut_is_paper(&c->words.cut)) cut_square_grid(size, shape);
  int code = same_status(tsr_grid_create(bed.context, bed.comm, shape[0], shape[1], &made));
  if (code) return code;
  tsr_grid_place(made, &rows, &cols, NULL, NULL);
  if (former) tsr_grid_place(former, &old_rows, &old_cols, NULL, NULL);
  const tsr_pmatrix *a = &bed.a, *b = &bed.b;
  if (a->grid && (rows != old_rows || cols != old_cols || a->type != c->type || a->m != c->m ||
                  a->n != c->k || b->n != c->n || a->mb != c->block))
    drop_matrices();
  if (bed.a.grid) bed.a.grid = bed.b.grid = bed.c.grid = made;
  tsr_grid_destroy(former);
  bed.grid = made;
  if (is_first()) tell_detour(bed.context, made);
  return cut_apply(&c->words.cut, made);
}

static int make_matrices(const mpi_case *c) {
  const struct {
    tsr_pmatrix *matrix;
    int64_t rows, cols;
  } all[] = {{&bed.a, c->m, c->k}, {&bed.b, c->k, c->n}, {&bed.c, c->m, c->n}};
  int code = TOOL_OK;
  if (bed.a.grid) return TOOL_OK;
  for (int i = 0; i < 3 && !code; i++)
    code = same_status(tsr_pmatrix_create(bed.grid, c->type, all[i].rows, all[i].cols, c->block,
                                          c->block, 0, 0, all[i].matrix));
  if (code) {
    drop_matrices();
    return code;
  }
  fill(&bed.a, A_SEED);
  fill(&bed.b, B_SEED);
  return TOOL_OK;
}

/* ---- Products ---------------------------------------------------------------------------- */

static tsr_status multiply(const mpi_case *c, tsr_pplan **plan) {
  scalar_value one = scalar_for(c->type, (scalar){1, 0}), zero = scalar_for(c->type, (scalar){0});
  const tsr_op n = TSR_NO_TRANS;
  if (plan)
    return tsr_pgemm_plan(bed.grid, n, n, c->m, c->n, c->k, &one, &bed.a, 0, 0, &bed.b, 0, 0, &zero,
                          &bed.c, 0, 0, plan);
  return tsr_pgemm(bed.grid, n, n, c->m, c->n, c->k, &one, &bed.a, 0, 0, &bed.b, 0, 0, &zero,
                   &bed.c, 0, 0);
}

static int time_once(const mpi_case *c, double *seconds) {
  MPI_Barrier(bed.comm);
  double begin = tool_now();
  tsr_status status = multiply(c, NULL);
  double mine = tool_now() - begin;
  MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, bed.comm);
  return same_status(status);
}

static int time_all(const mpi_case *c, mpi_row *row) {
  double times[MPI_MOST_REPEATS];
  int repeat = c->words.repeat < 0 ? REPEATS : (int)c->words.repeat;
  int code = time_once(c, &row->first);
  for (int i = 0; i < repeat && !code; i++) code = time_once(c, &times[i]);
  if (!code) row->median = repeat > 0 ? tool_median(times, repeat) : row->first;
  return code;
}

/* Runs one more product and sums up the bytes that its processes move. */
static int count_bytes(const mpi_case *c, mpi_row *row) {
  double ignored;
  moved_bytes before, mine;
  int code = moved_read(bed.grid, NULL, &before);
  if (!code) code = time_once(c, &ignored);
  if (!code) code = moved_read(bed.grid, &before, &mine);
  if (!code) row->moved = moved_gather(&mine, bed.comm);
  return code;
}

/* Runs one more product and writes the timeline of all its processes. */
static int draw(const mpi_case *c, const output *timeline, bool force) {
  double ignored;
  char *text = NULL;
  int code = same_status(tsr_grid_timeline_begin(bed.grid));
  if (!code) code = time_once(c, &ignored);
  if (!code) code = same_status(tsr_grid_timeline_end(bed.grid, 0, 0, &text));
  if (!code && text) code = output_write(timeline, text, force);
  free(text);
  return code;
}

static void predict(const mpi_case *c, mpi_row *row) {
  tsr_pplan *plan = NULL;
  if (row->processes == 1 || multiply(c, &plan) != TSR_OK) return;
  if (tsr_pplan_predict(plan, &row->p) == TSR_OK) row->predicted = row->p.seconds;
  tsr_pplan_destroy(plan);
}

/* Measures the case; only for the processes in bed.comm, the others wait. */
static int measure(const mpi_case *c, const output *timeline, bool force, mpi_row *row) {
  int code = make_grid(c), all = 0;
  if (!code) code = make_matrices(c);
  if (code) return code;
  tsr_grid_place(bed.grid, &row->rows, &row->cols, NULL, NULL);
  row->devices = tsr_device_count(bed.context);
  row->transport = row->processes == 1                                 ? "-"
                   : strcmp(tsr_grid_transport(bed.grid), "nccl") == 0 ? "nccl"
                                                                       : "mpi";
  spoil();
  code = time_all(c, row);
  if (code) return code;
  int good = check_own(c);
  MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, bed.comm);
  row->measured = true;
  row->good = all != 0;
  predict(c, row);
  code = count_bytes(c, row);
  if (code) return code;
  return timeline ? draw(c, timeline, force) : TOOL_OK;
}

int mpi_measure(const mpi_case *c, const output *timeline, bool force, mpi_row *row) {
  int code = open_context(&c->words.settings);
  *row = (mpi_row){.c = c};
  if (!code) code = choose_processes(c->words.processes);
  row->processes = bed.processes;
  if (!code && bed.comm != MPI_COMM_NULL) code = measure(c, timeline, force, row);
  return all_agree(code);
}
