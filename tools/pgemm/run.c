/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera pgemm: multiplies matrices in NumPy files across the processes that mpirun starts. */
#include <stdlib.h>
#include <string.h>

#include "elements.h"
#include "matrices.h"
#include "progress.h"
#include "timeline.h"

typedef struct request {
  const char *paths[2], *c_path, *c0_path, *grid_text;
  output timeline;
  tsr_type type; /* 0: that of A */
  tsr_op ops[2];
  scalar alpha, beta;
  int64_t grid[2], block, repeat;
  const char *ends[3]; /* of the blocks of m, n and k: lists; NULL: blocks of `block` */
  cut_options cut;
  bool details, force, progress;
  settings settings;
} request;

/* The directions of a product. */
enum { M, N, K };

typedef struct words {
  const char *alpha, *beta, *transa, *transb, *type;
} words;

/* A product and all that it owns. A zeroed one may be ended. */
typedef struct job {
  const request *r;
  tsr_context *context;
  tsr_grid *grid;
  matrix_file file[3]; /* A, B, C0 */
  tsr_type type;
  int64_t block;      /* extent of the blocks in which matrices are distributed */
  bool irregular;     /* they are distributed as the lists say */
  block_list list[3]; /* of m, n and k */
  bool fortran;       /* the result is Fortran-ordered, as A is */
  int64_t m, n, k;    /* of the product as the user asked for it */
  tsr_pmatrix a, b, c, c0;
  tsr_op ops[2];     /* as given to the library (library_op) */
  double cold, best; /* s */
  moved_bytes moved; /* by this process, in the last product */
  matrix_output output;
  progress progress; /* of the first process */
  char *timeline;    /* its text, on the first process */
  int untold;        /* the exit code of a timeline that there is not */
} job;

/* ---- Options --------------------------------------------------------------------- */

/* Refuses what only processes that pass something to each other use. */
static int check_alone(const request *r) {
  const cut_options *cut = &r->cut;
  const struct {
    bool given;
    const char *name;
  } used[] = {{r->ends[M] != NULL, "m-ends"},  {r->ends[N] != NULL, "n-ends"},
              {r->ends[K] != NULL, "k-ends"},  {r->block > 0, "block"},
              {cut->depth > 0, "depth"},       {cut->lookahead > 0, "lookahead"},
              {cut->blocks != NULL, "blocks"}, {cut->cut != NULL, "cut"},
              {cut->network > 0, "network"}};
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; size == 1 && i < sizeof used / sizeof *used; i++)
    if (used[i].given)
      return tool_usage(
          "--%s: does nothing on one process; leave it out, or start several: mpirun -n 4 tessera "
          "pgemm ...",
          used[i].name);
  return TOOL_OK;
}

static int interpret(const words *w, request *r) {
  int code = TOOL_OK;
  r->ops[0] = r->ops[1] = TSR_NO_TRANS;
  r->alpha = (scalar){1, 0};
  r->beta = (scalar){r->c0_path ? 1 : 0, 0};
  if (w->alpha) code = parse_scalar("--alpha", w->alpha, &r->alpha);
  if (!code && w->beta) code = parse_scalar("--beta", w->beta, &r->beta);
  if (!code && w->transa) code = parse_op("--transa", w->transa, &r->ops[0]);
  if (!code && w->transb) code = parse_op("--transb", w->transb, &r->ops[1]);
  if (!code && w->type) code = parse_type("--type", w->type, &r->type);
  if (!code && r->type && !strchr("sdczhb", (char)r->type))
    code =
        tool_usage("--type %c: products across processes are of type s, d, c, z, h or b", r->type);
  if (!code && r->grid_text) code = parse_pair("--grid", r->grid_text, r->grid);
  if (!code && !r->c_path) code = tool_usage("no file for the result is given; give -o C.npy");
  if (!code && (r->beta.re != 0 || r->beta.im != 0) && !r->c0_path)
    code = tool_usage("--beta needs --c C0.npy, the matrix that beta multiplies");
  if (!code && r->timeline.path) code = timeline_is_json(r->timeline.path);
  if (!code) code = cut_check(&r->cut);
  if (!code) code = check_alone(r);
  return code ? code : settings_check(&r->settings);
}

static int parse(int argc, char **argv, request *r) {
  words w = {0};
  const option table[] = {
      {"output", 'o', OPTION_TEXT, &r->c_path, "C.npy", "where the result goes (needed)"},
      {"alpha", 0, OPTION_TEXT, &w.alpha, "X", "factor of A B (default: 1; 1.5+2j if complex)"},
      {"beta", 0, OPTION_TEXT, &w.beta, "Y", "factor of C0 (default: 1 with --c, else 0)"},
      {"c", 0, OPTION_TEXT, &r->c0_path, "C0.npy", "the matrix to add to"},
      {"transa", 0, OPTION_TEXT, &w.transa, "N|T|C", "use A, transposed, conjugate transposed"},
      {"transb", 0, OPTION_TEXT, &w.transb, "N|T|C", "the same for B"},
      {"type", 0, OPTION_TEXT, &w.type, "s|d|c|z|h|b",
       "multiply as fp32, fp64, complex, complex fp64, fp16, bf16 (default: as A)"},
      {"grid", 0, OPTION_TEXT, &r->grid_text, "PxQ",
       "rows x columns of processes (default: by prediction)"},
      {"block", 0, OPTION_WHOLE, &r->block, "N",
       "extent of the blocks in which matrices are distributed (default: at most 256)"},
      {"m-ends", 0, OPTION_TEXT, &r->ends[M], "E,E,...",
       "where the blocks of rows of op(A) and C end, if not all have one extent"},
      {"n-ends", 0, OPTION_TEXT, &r->ends[N], "E,E,...", "the same for columns of op(B) and C"},
      {"k-ends", 0, OPTION_TEXT, &r->ends[K], "E,E,...", "the same for the sum over k"},
      CUT_OPTIONS(&r->cut),
      {"repeat", 0, OPTION_WHOLE, &r->repeat, "N", "N more products, for the warm time"},
      {"details", 0, OPTION_FLAG, &r->details, NULL, "print the plan and its predicted times, too"},
      {"timeline", 0, OPTION_TEXT, &r->timeline.path, "FILE.json",
       "write the timeline of all processes, for Perfetto"},
      OUTPUT_FORCE(&r->force),
      PROGRESS_OPTION(&r->progress),
      SETTINGS_ENGINE(&r->settings),
      SETTINGS_DEVICES(&r->settings),
      SETTINGS_MACHINE(&r->settings),
      SETTINGS_MEMORY(&r->settings),
      SETTINGS_TILE(&r->settings),
      SETTINGS_CHECK(&r->settings),
      {0}};
  static const option_mode modes[] = {CUT_MODE,
                                      {"engine=cpu", NULL, "devices machine memory tile check",
                                       "there are no devices; leave it out"},
                                      {0}};
  const option_command command = {
      "A.npy B.npy -o C.npy [options]",
      "Computes C = alpha op(A) op(B) + beta C0 on matrices in NumPy files. All processes read "
      "and\n"
      "write the files together, and none has a whole matrix. The processes of a node share out\n"
      "its devices.",
      "mpirun -n 4 tessera pgemm A.npy B.npy -o C.npy",
      table,
      2,
      2,
      .modes = modes};
  int code = options_parse(&command, argc, argv, r->paths, NULL);
  return code ? code : interpret(&w, r);
}

/* Reads the options first on process 0, which prints any error; the others read them only if they
 * are right, so that an error is printed once. */
static int parse_together(int argc, char **argv, request *r) {
  int code = is_first() ? parse(argc, argv, r) : TOOL_OK;
  MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return code == TOOL_OK && !is_first() ? parse(argc, argv, r) : code;
}

/* The exit code of a status that is the same on all processes; only the first prints its
 * message. */
static int same_status(tsr_status status) {
  if (status == TSR_OK) return TOOL_OK;
  return is_first() ? tool_status(status) : TOOL_FAILED;
}

/* ---- Files ------------------------------------------------------------------------ */

static int choose_type(job *j) {
  tsr_type a = j->file[0].type, b = j->file[1].type;
  j->type = j->r->type ? j->r->type : a;
  if (!is_first()) return TOOL_OK;
  if (!j->r->type && a != b)
    return tool_fail("%s is %s but %s is %s; choose with --type which one to multiply as",
                     j->r->paths[0], element_name(a), j->r->paths[1], element_name(b));
  if (!strchr("sdczhb", (char)j->type))
    return tool_fail("%s is %s; choose with --type s, d, c, z, h or b which one to multiply as",
                     j->r->paths[0], element_name(a));
  for (int i = 0; i < 3; i++)
    if (j->file[i].rows >= 0 && element_is_complex(j->file[i].type) && !element_is_complex(j->type))
      return tool_fail("a file is %s, the product is %s", element_name(j->file[i].type),
                       element_name(j->type));
  bool real = !element_is_complex(j->type);
  if (real && (j->r->alpha.im != 0 || j->r->beta.im != 0))
    return tool_fail("alpha and beta must be real for %s matrices", element_name(j->type));
  return TOOL_OK;
}

static int choose_extents(job *j) {
  const matrix_file *a = &j->file[0], *b = &j->file[1], *c0 = &j->file[2];
  bool turn_a = j->r->ops[0] != TSR_NO_TRANS, turn_b = j->r->ops[1] != TSR_NO_TRANS;
  int64_t inner = turn_b ? b->cols : b->rows;
  j->m = turn_a ? a->cols : a->rows;
  j->k = turn_a ? a->rows : a->cols;
  j->n = turn_b ? b->rows : b->cols;
  if (!is_first()) return TOOL_OK;
  if (inner != j->k)
    return tool_fail(
        "op(A) is %lld x %lld and op(B) is %lld x %lld: the inner extents differ; is --transa or "
        "--transb missing?",
        (long long)j->m, (long long)j->k, (long long)inner, (long long)j->n);
  if (j->r->c0_path && (c0->rows != j->m || c0->cols != j->n))
    return tool_fail("%s is %lld x %lld, the product is %lld x %lld", j->r->c0_path,
                     (long long)c0->rows, (long long)c0->cols, (long long)j->m, (long long)j->n);
  return TOOL_OK;
}

static int look_at_files(job *j) {
  j->file[2].rows = -1;
  int code = matrix_file_open(j->r->paths[0], &j->file[0]);
  if (!code) code = matrix_file_open(j->r->paths[1], &j->file[1]);
  if (!code && j->r->c0_path) code = matrix_file_open(j->r->c0_path, &j->file[2]);
  if (code) return code;
  j->fortran = j->file[0].fortran;
  code = all_agree(choose_type(j));
  return code ? code : all_agree(choose_extents(j));
}

/* Checks all outputs and creates the file of C, before anything is computed. */
static int make_outputs(job *j) {
  const request *r = j->r;
  const output outputs[] = {{"-o", r->c_path, OUTPUT_MAPPED}, r->timeline};
  const char *inputs[5] = {r->paths[0], r->paths[1]};
  int count = 2;
  if (r->c0_path) inputs[count++] = r->c0_path;
  if (r->settings.machine) inputs[count++] = r->settings.machine;
  int code = all_agree(is_first() ? output_check(outputs, 2, inputs, r->force) : TOOL_OK);
  if (code) return code;
  return matrix_output_open(r->c_path, r->force, j->type, j->fortran, j->m, j->n, &j->output);
}

/* ---- Processes and operands --------------------------------------------------------- */

static int open_context(job *j) {
  tsr_options options;
  int sharing = 1, wrong = settings_options(&j->r->settings, &options);
  if (wrong) return wrong;
  tsr_status status = tsr_context_create_dealt(MPI_COMM_WORLD, &options, &j->context, &sharing);
  if (status == TSR_OK) status = settings_force(&j->r->settings, j->context);
  if (status == TSR_OK && sharing > 1 && is_first())
    tool_note("%d processes share a device; start fewer processes, or use more --devices", sharing);
  return same_status(status);
}

/* At most 256, and small enough that each process has a part of a small matrix, too. */
static int64_t default_block(const job *j, const int shape[2]) {
  enum { MOST = 256 };
  int64_t least = j->m < j->n ? j->m : j->n;
  if (j->k < least) least = j->k;
  int processes = shape[0] > shape[1] ? shape[0] : shape[1];
  int64_t block = (least + processes - 1) / processes;
  return block < 1 ? 1 : block > MOST ? MOST : block;
}

/* The list that was given, or that of blocks of one extent. */
static int make_list(const job *j, int direction, int64_t extent, block_list *list) {
  const char *text = j->r->ends[direction], *const rest = "mnk";
  int64_t room = (extent + j->block - 1) / j->block;
  for (const char *at = text; at && *at; at++) room += *at == ',';
  list->ends = malloc((size_t)(room + 1) * sizeof *list->ends);
  if (list->ends == NULL) return tool_fail("out of memory");
  for (int64_t at = 0; text == NULL && at < extent;) {
    at = extent - at > j->block ? at + j->block : extent;
    list->ends[list->count++] = at;
  }
  if (text == NULL) return TOOL_OK;
  list->count = options_whole_list(text, list->ends, (int)room + 1);
  if (list->count < 0 && is_first())
    tool_usage("--%c-ends %s: must be whole numbers with commas", rest[direction], text);
  if (list->count < 0) return TOOL_USAGE;
  for (int64_t b = 0; b < list->count; b++)
    if (list->ends[b] <= (b > 0 ? list->ends[b - 1] : 0)) {
      if (is_first()) tool_usage("--%c-ends %s: must increase from 1 on", rest[direction], text);
      return TOOL_USAGE;
    }
  if (list->ends[list->count - 1] == extent) return TOOL_OK;
  if (is_first())
    tool_usage("--%c-ends %s: ends at %lld, and %c is %lld; give the ends of all blocks",
               rest[direction], text, (long long)list->ends[list->count - 1], rest[direction],
               (long long)extent);
  return TOOL_USAGE;
}

static int make_lists(job *j) {
  const int64_t extents[3] = {j->m, j->n, j->k};
  int code = TOOL_OK;
  j->irregular = j->r->ends[M] || j->r->ends[N] || j->r->ends[K];
  for (int i = 0; i < 3 && j->irregular && !code; i++)
    code = make_list(j, i, extents[i], &j->list[i]);
  return code;
}

/* The blocks of a matrix of the library that holds a file, whose rows and columns are these
 * directions. */
static matrix_blocks blocks_of(const job *j, int rows, int cols, bool fortran) {
  matrix_blocks blocks = {.block = j->block};
  if (!j->irregular) return blocks;
  blocks.rows = &j->list[fortran ? rows : cols];
  blocks.cols = &j->list[fortran ? cols : rows];
  return blocks;
}

static int open_grid(job *j) {
  int shape[2] = {(int)j->r->grid[0], (int)j->r->grid[1]}, size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsr_status status = TSR_OK;
  if (shape[0] == 0 && cut_is_paper(&j->r->cut))
    cut_square_grid(size, shape);
  else if (shape[0] == 0 && is_first())
    status = tsr_grid_suggest(j->context, size, j->type, j->m, j->n, j->k, &shape[0], &shape[1]);
  int code = all_agree(tool_status(status));
  if (code) return code;
  MPI_Bcast(shape, 2, MPI_INT, 0, MPI_COMM_WORLD);
  j->block = j->r->block > 0 ? j->r->block : default_block(j, shape);
  code = all_agree(make_lists(j));
  if (code) return code;
  code = same_status(tsr_grid_create(j->context, MPI_COMM_WORLD, shape[0], shape[1], &j->grid));
  if (!code && is_first()) tell_detour(j->context, j->grid);
  const int64_t extents[] = {j->m, j->n, j->k}, processes[] = {shape[0], shape[1]};
  if (!code && is_first()) cut_warn(&j->r->cut, extents, processes);
  return code ? code : cut_apply(&j->r->cut, j->grid);
}

/* *given: the op to give to the library. A C-ordered file is read as its transpose, and a C-ordered
 * result is computed as its transpose. True: the op that remains is a conjugate without a
 * transpose, so the operand is to be conjugated when it is read. */
static bool library_op(bool fortran, bool result_fortran, tsr_op op, tsr_op *given) {
  bool turned = (op != TSR_NO_TRANS) != (fortran != result_fortran);
  bool conjugated = op == TSR_CONJ_TRANS;
  *given = turned ? conjugated ? TSR_CONJ_TRANS : TSR_TRANS : TSR_NO_TRANS;
  return conjugated && !turned;
}

static int read_operand(job *j, int which, tsr_pmatrix *x) {
  bool conjugate = library_op(j->file[which].fortran, j->fortran, j->r->ops[which], &j->ops[which]);
  bool turned = j->r->ops[which] != TSR_NO_TRANS;
  int rows = which == 0 ? M : K, cols = which == 0 ? K : N;
  matrix_blocks blocks =
      blocks_of(j, turned ? cols : rows, turned ? rows : cols, j->file[which].fortran);
  return matrix_read(j->r->paths[which], &j->file[which], j->grid, j->type, &blocks, conjugate, x);
}

static int make_result(job *j) {
  int64_t m = j->fortran ? j->m : j->n, n = j->fortran ? j->n : j->m;
  matrix_blocks blocks = blocks_of(j, M, N, j->fortran);
  return same_status(matrix_create(j->grid, j->type, m, n, &blocks, &j->c));
}

/* Copies C0 to the result, transposed if its file has the other order. */
static int reset_result(job *j) {
  if (!j->r->c0_path) return TOOL_OK;
  if (j->c0.grid == NULL) {
    matrix_blocks blocks = blocks_of(j, M, N, j->file[2].fortran);
    int code = matrix_read(j->r->c0_path, &j->file[2], j->grid, j->type, &blocks, false, &j->c0);
    if (code) return code;
  }
  tsr_op op = j->file[2].fortran == j->fortran ? TSR_NO_TRANS : TSR_TRANS;
  return same_status(tsr_redistribute(j->grid, op, j->c.m, j->c.n, &j->c0, 0, 0, &j->c, 0, 0));
}

/* ---- The product ------------------------------------------------------------------- */

/* Multiplies, or plans if plan is not NULL. A C-ordered result is computed as its transpose, so
 * op(B) comes first. */
static tsr_status multiply(const job *j, tsr_pplan **plan) {
  scalar_value alpha = scalar_for(j->type, j->r->alpha), beta = scalar_for(j->type, j->r->beta);
  int first = j->fortran ? 0 : 1;
  const tsr_pmatrix *x = first == 0 ? &j->a : &j->b, *y = first == 0 ? &j->b : &j->a;
  if (plan)
    return tsr_pgemm_plan(j->grid, j->ops[first], j->ops[1 - first], j->c.m, j->c.n, j->k, &alpha,
                          x, 0, 0, y, 0, 0, &beta, &j->c, 0, 0, plan);
  return tsr_pgemm(j->grid, j->ops[first], j->ops[1 - first], j->c.m, j->c.n, j->k, &alpha, x, 0, 0,
                   y, 0, 0, &beta, &j->c, 0, 0);
}

/* Predicted time of the product in seconds; 0: not known. */
static double expected_time(const job *j) {
  tsr_pprediction p = {0};
  tsr_pplan *plan = NULL;
  if (multiply(j, &plan) != TSR_OK) return 0;
  double seconds = tsr_pplan_predict(plan, &p) == TSR_OK ? p.seconds : 0;
  tsr_pplan_destroy(plan);
  return seconds;
}

/* Shows how far the first process's product is: one process knows it, several know only the time
 * that is predicted. */
static int show_progress(job *j) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!is_first()) return TOOL_OK;
  if (size > 1) {
    progress_phase(&j->progress, "multiplying", expected_time(j));
    return TOOL_OK;
  }
  progress_call(&j->progress, "multiplying", element_flops(j->type, j->m, j->n, j->k));
  return tool_status(tsr_set_progress(j->context, progress_tell, &j->progress));
}

static int run_once(job *j, double *seconds) {
  int code = reset_result(j);
  if (code) return code;
  code = all_agree(show_progress(j));
  if (code) return code;
  moved_bytes before;
  code = all_agree(moved_read(j->grid, NULL, &before));
  if (code) return code;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = tool_now();
  code = same_status(multiply(j, NULL));
  double mine = tool_now() - begin;
  if (!code) code = all_agree(moved_read(j->grid, &before, &j->moved));
  MPI_Allreduce(&mine, seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  progress_phase(&j->progress, "", 0);
  return code;
}

static int write_result(job *j) {
  progress_phase(&j->progress, "writing the result", 0);
  int code = matrix_write(&j->output, &j->c);
  progress_close(&j->progress);
  return code;
}

/* Behind the result, which a timeline that fails does not cost. */
static int write_timeline(const job *j) {
  int code = j->untold;
  if (!code && j->timeline) code = output_write(&j->r->timeline, j->timeline, j->r->force);
  return all_agree(code);
}

/* The timeline is of the last product. If it fails the product goes on. */
static int run_all(job *j) {
  int code = TOOL_OK;
  for (int64_t i = 0; i <= j->r->repeat && !code; i++) {
    double seconds = 0;
    bool traced = j->r->timeline.path && i == j->r->repeat;
    if (traced) j->untold = same_status(tsr_grid_timeline_begin(j->grid));
    code = run_once(j, &seconds);
    if (!code && traced && !j->untold)
      j->untold = same_status(tsr_grid_timeline_end(j->grid, 0, 0, &j->timeline));
    if (i == 0) j->cold = seconds;
    if (i > 0 && (i == 1 || seconds < j->best)) j->best = seconds;
  }
  return code;
}

/* Prints the plan of the product across processes: the verdict, and with --details all of it. */
static int print_across(const job *j) {
  char *verdict = NULL, *text = NULL;
  tsr_pplan *plan = NULL;
  int code = tool_status(multiply(j, &plan));
  if (!code) code = tool_status(tsr_pplan_print(plan, TSR_VERDICT, &verdict));
  if (!code && j->r->details) code = tool_status(tsr_pplan_print(plan, TSR_TEXT, &text));
  if (!code && !settings_emulated(&j->r->settings)) fputs(verdict, stdout);
  if (text && !j->fortran) printf("\nThe plan has A and B, and rows and columns, exchanged:");
  if (text) printf("\n%s", text);
  free(verdict);
  free(text);
  tsr_pplan_destroy(plan);
  return code;
}

/* The product of one process is a call like any other; without devices it has no plan. */
static int print_alone(const job *j) {
  tsr_plan *plan = NULL;
  if (tsr_device_count(j->context) == 0 || tsr_plan_last(j->context, &plan) != TSR_OK) {
    if (j->r->details) tool_note("no details: this product needed no plan");
    return TOOL_OK;
  }
  int code = tool_print_plan(plan, TSR_VERDICT);
  if (!code && j->r->details) printf("\n");
  if (!code && j->r->details) code = tool_print_plan(plan, TSR_TEXT);
  tsr_plan_destroy(plan);
  return code;
}

/* What each process moved in the last product. */
static int print_moved(const job *j) {
  int size, cols;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsr_grid_place(j->grid, NULL, &cols, NULL, NULL);
  moved_bytes *all = moved_gather(&j->moved, MPI_COMM_WORLD);
  if (all != NULL) moved_print(all, size, cols);
  int code = is_first() && all == NULL ? tool_fail("out of memory") : TOOL_OK;
  free(all);
  return all_agree(code);
}

static int print_verdict(const job *j) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!is_first()) return TOOL_OK;
  if (size == 1) return print_alone(j);
  if (!settings_emulated(&j->r->settings)) return print_across(j);
  printf("On emulated devices: a rehearsal, its times mean nothing.\n");
  return j->r->details ? print_across(j) : TOOL_OK;
}

static void report(const job *j) {
  int rows, cols, size;
  double flops = element_flops(j->type, j->m, j->n, j->k);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  tsr_grid_place(j->grid, &rows, &cols, NULL, NULL);
  if (!is_first()) return;
  printf("%s: %lld x %lld %s, C = op(A) op(B) over k = %lld, on %d x %d processes\n", j->r->c_path,
         (long long)j->m, (long long)j->n, element_name(j->type), (long long)j->k, rows, cols);
  printf("first product %s, %s\n", tool_seconds(j->cold), tool_rate(flops / j->cold));
  if (j->r->repeat > 0)
    printf("best of %lld more %s, %s\n", (long long)j->r->repeat, tool_seconds(j->best),
           tool_rate(flops / j->best));
}

static int carry_out(job *j) {
  int code = look_at_files(j);
  if (!code) code = make_outputs(j);
  if (is_first()) progress_open(&j->progress, j->r->progress);
  if (!code) code = open_context(j);
  if (!code) code = open_grid(j);
  progress_phase(&j->progress, "reading the matrices", 0);
  if (!code) code = read_operand(j, 0, &j->a);
  if (!code) code = read_operand(j, 1, &j->b);
  if (!code) code = make_result(j);
  progress_phase(&j->progress, "", 0);
  if (!code) code = run_all(j);
  if (!code) code = write_result(j);
  if (code) return code;
  report(j);
  code = all_agree(print_verdict(j));
  if (!code && j->r->details) code = print_moved(j);
  int drawn = write_timeline(j);
  return code ? code : drawn;
}

static void end(job *j) {
  progress_close(&j->progress);
  tsr_pmatrix_destroy(&j->a);
  tsr_pmatrix_destroy(&j->b);
  tsr_pmatrix_destroy(&j->c);
  tsr_pmatrix_destroy(&j->c0);
  tsr_grid_destroy(j->grid);
  matrix_output_close(&j->output);
  free(j->timeline);
  for (int i = 0; i < 3; i++) free(j->list[i].ends);
  tsr_context_destroy(j->context);
}

/* Every process says it, since none knows whether another does. */
static int check_launcher(void) {
  tsr_launcher_facts facts;
  tsr_launcher_describe(&facts);
  return facts.error[0] ? tool_fail("%s", facts.error) : TOOL_OK;
}

int pgemm_run(int argc, char **argv) {
  request r = {.timeline = {"--timeline", NULL, OUTPUT_TEXT}};
  job j = {.r = &r};
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  int code = check_launcher();
  if (!code) code = parse_together(argc, argv, &r);
  if (!code) {
    code = carry_out(&j);
    end(&j);
  }
  MPI_Finalize();
  return code == OPTIONS_HELPED ? TOOL_OK : code;
}
