/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random problems of distributed products and redistributions, to be run by mpirun. Every problem
 * follows from the seed, its number and the number of processes:
 *   mpirun -n 6 cluster_driver --seed 5 --first 17 --count 1
 * Products are compared with the CPU's BLAS on one process, element by element and exactly.
 * Elements that must not be read are NaN; elements that must not be written are checked afterwards.
 * The bytes that each process has counted are those that were planned. Every eighth problem is a
 * redistribution. Half of the products are asynchronous, and some of
 * these are called twice, so that the second call adds to the first one's result. Half of the
 * problems use emulated devices: in checking mode, with random delays (and another number of
 * devices in each process), or reproducible: emulated, or natively, which is refused on several
 * processes.
 *   --level L        the MPI thread level: 1: MPI_THREAD_FUNNELED, 3: MPI_THREAD_MULTIPLE (default)
 *   --transport T    the transport that grids of several processes with devices must have
 *   --engine cuda    real devices, one for each process of a node
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "turn.h"

typedef struct problem {
  tsr_type type;
  tsr_op transa, transb;
  int64_t m, n, k, depth, block[2];
  int alpha[2], beta[2];
  int grid[2], lookahead, devices; /* devices: the number of the context in contexts[] */
  int calls;                       /* asynchronous calls, 1 or 2; 0: one blocking call */
  bool parsec;                     /* blocks and depth by the rules of Herault et al. */
  bool emulated;                   /* in residues; else natively */
  bool moves;                      /* a redistribution of op(A) to C, not a product */
  layout a, b, c;
} problem;

/* This process. */
typedef struct world {
  int rank, size;
  tsr_context *contexts[4]; /* the CPU's BLAS; emulated devices: checked, delayed, reproducible */
  const char *transport;    /* NULL: any */
} world;

/* ---- Drawing -------------------------------------------------------------- */

enum { REPRODUCIBLE = 3 }; /* its number in contexts[] */

static int64_t draw_extent(numbers *n) {
  switch (numbers_draw(n, 0, 11)) {
    case 0:
      return numbers_draw(n, 0, 3);
    case 1:
    case 2:
    case 3:
      return numbers_draw(n, 100, 200);
    default:
      return numbers_draw(n, 1, 100);
  }
}

static void draw_grid(numbers *n, int size, int grid[2]) {
  do {
    grid[0] = (int)numbers_draw(n, 1, size);
  } while (size % grid[0] != 0);
  grid[1] = size / grid[0];
}

static void same_ends(layout *x, int direction, const layout *as, int of) {
  x->blocks[direction] = as->blocks[of];
  memcpy(x->ends[direction], as->ends[of], sizeof as->ends[of]);
}

static void same_rows(layout *x, const layout *as) {
  same_ends(x, 0, as, 0);
  x->i = as->i, x->m = as->m, x->mb = as->mb, x->imb = as->imb, x->row_source = as->row_source;
}

static void same_cols(layout *x, const layout *as) {
  same_ends(x, 1, as, 1);
  x->j = as->j, x->n = as->n, x->nb = as->nb, x->inb = as->inb, x->col_source = as->col_source;
}

/* In half of the problems, makes a layout that needs no redistribution: random layouts hardly ever
 * have that property. */
static void align(numbers *n, problem *p) {
  if (numbers_draw(n, 0, 1) == 0) same_rows(&p->a, &p->c);
  if (numbers_draw(n, 0, 1) == 0) same_cols(&p->b, &p->c);
}

/* In half of the problems, gives k the same blocks in A and B. */
static void align_k(numbers *n, problem *p) {
  if (numbers_draw(n, 0, 1) == 0) return;
  p->b.mb = p->a.nb, p->b.imb = p->a.inb;
  p->b.i = p->a.j, p->b.m = p->a.n;
  same_ends(&p->b, 0, &p->a, 1);
}

static void draw_scalars(numbers *n, problem *p) {
  for (int i = 0; i < 2; i++) {
    p->alpha[i] = (int)numbers_draw(n, -2, 2);
    p->beta[i] = (int)numbers_draw(n, -2, 2);
  }
  if (numbers_draw(n, 0, 3) == 0) p->alpha[0] = 1, p->alpha[1] = 0;
  if (numbers_draw(n, 0, 2) == 0) p->beta[0] = 0, p->beta[1] = 0;
}

static problem draw(uint64_t seed, int64_t index, int size) {
  static const tsr_type types[6] = {TSR_S, TSR_D, TSR_C, TSR_Z, TSR_H, TSR_B};
  static const tsr_op ops[4] = {TSR_NO_TRANS, TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};
  numbers n = {seed * 1000003u + (uint64_t)index * 64u + (uint64_t)size};
  problem p = {.type = types[numbers_draw(&n, 0, 5)], .moves = index % 8 == 7};
  p.transa = ops[numbers_draw(&n, 0, 3)], p.transb = ops[numbers_draw(&n, 0, 3)];
  p.m = draw_extent(&n), p.n = draw_extent(&n), p.k = p.moves ? p.n : draw_extent(&n);
  p.depth = numbers_draw(&n, 0, 1) == 0 ? 0 : numbers_draw(&n, 1, 40);
  p.lookahead = (int)numbers_draw(&n, 0, 4);
  p.calls = (int)numbers_draw(&n, -1, 2);
  if (p.calls < 0 || p.moves) p.calls = 0;
  for (int d = 0; d < 2; d++)
    p.block[d] = numbers_draw(&n, 0, 1) == 0 ? 0 : numbers_draw(&n, 1, 60);
  p.devices = index % 6 > 2 ? (int)(index % 6) - 2 : 0;
  draw_scalars(&n, &p);
  draw_grid(&n, size, p.grid);
  bool straight_a = p.transa == TSR_NO_TRANS, straight_b = p.transb == TSR_NO_TRANS;
  p.a = layout_draw(&n, straight_a ? p.m : p.k, straight_a ? p.k : p.m, p.grid);
  p.b = layout_draw(&n, straight_b ? p.k : p.n, straight_b ? p.n : p.k, p.grid);
  p.c = layout_draw(&n, p.m, p.n, p.grid);
  if (straight_a && straight_b) align(&n, &p);
  if (straight_a && straight_b) align_k(&n, &p);
  p.parsec = p.devices != REPRODUCIBLE && numbers_draw(&n, 0, 3) == 0;
  p.emulated = p.devices == REPRODUCIBLE && numbers_draw(&n, 0, 3) > 0;
  if (p.parsec || p.emulated) p.depth = p.block[0] = p.block[1] = 0;
  if (p.emulated) p.lookahead = 0;
  return p;
}

static void print_layout(const char *name, const layout *x) {
  printf(
      "  %s: %lld x %lld in %lld x %lld (first %lld x %lld) from (%d, %d), part %lld x %lld at "
      "(%lld, %lld), ld +%lld, irregular blocks %lld x %lld\n",
      name, (long long)x->m, (long long)x->n, (long long)x->mb, (long long)x->nb, (long long)x->imb,
      (long long)x->inb, x->row_source, x->col_source, (long long)x->rows, (long long)x->cols,
      (long long)x->i, (long long)x->j, (long long)x->extra, (long long)x->blocks[0],
      (long long)x->blocks[1]);
}

static void print_problem(const problem *p) {
  printf(
      "  %s %c, ops %c %c, m %lld n %lld k %lld, alpha %d %d beta %d %d, grid %d x %d, depth "
      "%lld, lookahead %d, blocks %lld x %lld, calls %d, devices %d, emulated %d\n",
      p->moves ? "redistribution" : "product", p->type, p->transa, p->transb, (long long)p->m,
      (long long)p->n, (long long)p->k, p->alpha[0], p->alpha[1], p->beta[0], p->beta[1],
      p->grid[0], p->grid[1], (long long)p->depth, p->lookahead, (long long)p->block[0],
      (long long)p->block[1], p->calls, p->devices, p->emulated);
  print_layout("A", &p->a);
  print_layout("B", &p->b);
  print_layout("C", &p->c);
}

/* ---- The result, on one process -------------------------------------------- */

enum { A_ = 1, B_ = 2, C_ = 3 };

/* A part as a column-major matrix on one process; NULL: no memory. */
static char *dense(const layout *x, tsr_type type, int which) {
  size_t size = element_size(type);
  char *full = malloc((size_t)(x->rows * x->cols) * size + 1);
  for (int64_t j = 0; full != NULL && j < x->cols; j++)
    for (int64_t i = 0; i < x->rows; i++)
      element_put(type, which, x->i + i, x->j + j, KNOWN, full + (size_t)(i + j * x->rows) * size);
  return full;
}

static int64_t leading(int64_t rows) {
  return rows > 0 ? rows : 1;
}

/* Computes the product on this process with the CPU's BLAS. again: it is the second call, which
 * adds to C (beta 1). */
static bool multiply_there(const world *w, const problem *p, bool again, char *c) {
  char alpha[16], beta[16];
  char *a = dense(&p->a, p->type, A_), *b = dense(&p->b, p->type, B_);
  scalar_put(p->type, p->alpha[0], p->alpha[1], alpha);
  scalar_put(p->type, again ? 1 : p->beta[0], again ? 0 : p->beta[1], beta);
  tsr_status status =
      tsr_gemm(w->contexts[0], p->type, TSR_COL_MAJOR, p->transa, p->transb, p->m, p->n, p->k,
               alpha, a, leading(p->a.rows), b, leading(p->b.rows), beta, c, leading(p->m));
  free(a);
  free(b);
  return status == TSR_OK;
}

static void conjugate(tsr_type type, char *element) {
  if (type == TSR_C) ((float *)(void *)element)[1] *= -1;
  if (type == TSR_Z) ((double *)(void *)element)[1] *= -1;
}

static void move_there(const problem *p, char *c) {
  size_t size = element_size(p->type);
  for (int64_t j = 0; j < p->n; j++)
    for (int64_t i = 0; i < p->m; i++) {
      bool straight = p->transa == TSR_NO_TRANS;
      char *to = c + (size_t)(i + j * p->m) * size;
      element_put(p->type, A_, p->a.i + (straight ? i : j), p->a.j + (straight ? j : i), KNOWN, to);
      if (p->transa == TSR_CONJ_TRANS) conjugate(p->type, to);
    }
}

/* The expected C, the same on all processes; NULL: it could not be computed. Collective. */
static char *expected(const world *w, const problem *p) {
  char *c = dense(&p->c, p->type, C_);
  int made = c != NULL;
  if (made && w->rank == 0 && p->moves) move_there(p, c);
  if (made && w->rank == 0 && !p->moves) made = multiply_there(w, p, false, c);
  if (made && w->rank == 0 && p->calls == 2) made = multiply_there(w, p, true, c);
  MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!made) return NULL;
  MPI_Bcast(c, (int)((size_t)(p->m * p->n) * element_size(p->type)), MPI_BYTE, 0, MPI_COMM_WORLD);
  return c;
}

/* ---- A problem ------------------------------------------------------------- */

static bool reads_inputs(const problem *p) {
  bool complex = p->type == TSR_C || p->type == TSR_Z;
  return p->moves || (p->k > 0 && (p->alpha[0] != 0 || (complex && p->alpha[1] != 0)));
}

static bool reads_c(const problem *p) {
  bool complex = p->type == TSR_C || p->type == TSR_Z;
  return !p->moves && (p->beta[0] != 0 || (complex && p->beta[1] != 0));
}

static tsr_status call_async(const problem *p, tsr_grid *grid, const storage *a, const storage *b,
                             const storage *c) {
  for (int i = 0; i < p->calls; i++) {
    char alpha[16], beta[16];
    scalar_put(p->type, p->alpha[0], p->alpha[1], alpha);
    scalar_put(p->type, i == 1 ? 1 : p->beta[0], i == 1 ? 0 : p->beta[1], beta);
    tsr_status status =
        tsr_pgemm_async(grid, p->transa, p->transb, p->m, p->n, p->k, alpha, &a->matrix, p->a.i,
                        p->a.j, &b->matrix, p->b.i, p->b.j, beta, &c->matrix, p->c.i, p->c.j);
    if (status != TSR_OK) return status;
    memset(alpha, 77, sizeof alpha); /* the call must have copied the scalars */
    memset(beta, 77, sizeof beta);
  }
  return tsr_grid_sync(grid);
}

static tsr_status call(const problem *p, tsr_grid *grid, const storage *a, const storage *b,
                       const storage *c) {
  char alpha[16], beta[16];
  if (p->calls > 0) return call_async(p, grid, a, b, c);
  scalar_put(p->type, p->alpha[0], p->alpha[1], alpha);
  scalar_put(p->type, p->beta[0], p->beta[1], beta);
  if (p->moves)
    return tsr_redistribute(grid, p->transa, p->m, p->n, &a->matrix, p->a.i, p->a.j, &c->matrix,
                            p->c.i, p->c.j);
  return tsr_pgemm(grid, p->transa, p->transb, p->m, p->n, p->k, alpha, &a->matrix, p->a.i, p->a.j,
                   &b->matrix, p->b.i, p->b.j, beta, &c->matrix, p->c.i, p->c.j);
}

static bool is_near(double x, double y) {
  return fabs(x - y) < 0.5; /* bytes: whole numbers */
}

/* Whether this process has moved what was planned since `before` (counted, planned). */
static bool moved_as_planned(tsr_grid *grid, const tsr_ptraffic before[2]) {
  tsr_ptraffic x, y;
  const tsr_ptraffic *b = &before[0], *p = &before[1];
  if (tsr_grid_traffic(grid, &x, &y) != TSR_OK) return false;
  return is_near(x.from_host - b->from_host, y.from_host - p->from_host) &&
         is_near(x.from_peers - b->from_peers, y.from_peers - p->from_peers) &&
         is_near(x.to_host - b->to_host, y.to_host - p->to_host) &&
         is_near(x.received - b->received, y.received - p->received) &&
         is_near(x.sent - b->sent, y.sent - p->sent);
}

/* Whether the product is refused: it is to be reproducible, and native, on several processes. */
static bool is_refused(const world *w, const problem *p) {
  bool narrow = p->type == TSR_H || p->type == TSR_B;
  bool multiplies = !p->moves && reads_inputs(p) && p->m > 0 && p->n > 0;
  return p->devices == REPRODUCIBLE && w->size > 1 && multiplies && (!p->emulated || narrow);
}

/* What is wrong with a call that ended with this status; NULL: nothing. */
static const char *judge_status(const world *w, const problem *p, tsr_status status) {
  if (!is_refused(w, p)) return status == TSR_OK ? NULL : tsr_message();
  return status == TSR_ERR_UNSUPPORTED ? NULL : "it is not refused";
}

static const char *run_on(const world *w, const problem *p, tsr_grid *grid) {
  tsr_ptraffic before[2];
  storage a, b, c;
  const char *wrong = NULL;
  bool made = storage_create(&p->a, grid, p->type, &a) &&
              storage_create(&p->b, grid, p->type, &b) && storage_create(&p->c, grid, p->type, &c);
  char *right = expected(w, p);
  if (!made || right == NULL) return "the test has no memory"; /* leaks: the program ends */
  filling inputs = reads_inputs(p) ? KNOWN : NOT_A_NUMBER;
  storage_fill(&a, &p->a, A_, inputs, NOT_A_NUMBER);
  storage_fill(&b, &p->b, B_, inputs, NOT_A_NUMBER);
  storage_fill(&c, &p->c, C_, reads_c(p) ? KNOWN : NOT_A_NUMBER, KNOWN);
  if (tsr_grid_traffic(grid, &before[0], &before[1]) != TSR_OK)
    wrong = tsr_message();
  else
    wrong = judge_status(w, p, call(p, grid, &a, &b, &c));
  if (wrong == NULL && !moved_as_planned(grid, before))
    wrong = "other bytes were moved than were planned";
  if (wrong == NULL && !is_refused(w, p) && !storage_holds(&c, &p->c, C_, right))
    wrong = "the result is wrong";
  storage_destroy(&a);
  storage_destroy(&b);
  storage_destroy(&c);
  free(right);
  return wrong;
}

static bool has_transport(const world *w, const problem *p, const tsr_grid *grid) {
  if (w->transport == NULL || p->devices == 0 || w->size == 1) return true;
  return strcmp(tsr_grid_transport(grid), w->transport) == 0;
}

static const char *run(const world *w, const problem *p) {
  tsr_grid *grid = NULL;
  tsr_context *context = w->contexts[p->devices];
  const char *wrong = NULL;
  if (p->devices > 0 && tsr_set_arithmetic(context, p->emulated ? "emulated" : "native") != TSR_OK)
    return tsr_message();
  if (tsr_grid_create(context, MPI_COMM_WORLD, p->grid[0], p->grid[1], &grid) != TSR_OK)
    return tsr_message();
  if (tsr_grid_set_panels(grid, p->depth, p->lookahead) != TSR_OK ||
      tsr_grid_set_blocks(grid, p->block[0], p->block[1]) != TSR_OK ||
      tsr_grid_set_cut(grid, p->parsec ? TSR_CUT_PARSEC : TSR_CUT_MODEL) != TSR_OK)
    wrong = tsr_message();
  else if (!has_transport(w, p, grid))
    wrong = "the grid has another transport";
  else
    wrong = run_on(w, p, grid);
  tsr_grid_destroy(grid);
  return wrong;
}

/* Whether the problem is right on all processes; else process 0 prints the error of the first
 * failed process. Collective. */
static bool judge(const world *w, const problem *p, int64_t index, uint64_t seed,
                  const char *wrong) {
  int mine = wrong != NULL ? w->rank : w->size, first;
  char text[600] = "";
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == w->size) return true;
  if (w->rank == first) snprintf(text, sizeof text, "%s", wrong);
  MPI_Bcast(text, sizeof text, MPI_CHAR, first, MPI_COMM_WORLD);
  if (w->rank == 0) {
    printf(
        "FAILED: mpirun -n %d cluster_driver --seed %llu --first %lld --count 1\n  process %d: "
        "%s\n",
        w->size, (unsigned long long)seed, (long long)index, first, text);
    print_problem(p);
  }
  return false;
}

/* ---- The program ----------------------------------------------------------- */

/* The rank of this process on its node. Collective. */
static int local_rank(void) {
  MPI_Comm node;
  int rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  return rank;
}

static tsr_options emulated_devices(void) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  options.engine = "host";
  options.devices = "2";
  options.machine = "host:200 gpu*2@nvlink:300 pcie:25 rate:1";
  options.memory = (size_t)16 << 20;
  return options;
}

/* Gives each process another number of devices, up to 5: more than a transport has ways. */
static void vary_devices(tsr_options *options, int rank, char text[2][64]) {
  int devices = (rank + 2) % 5 + 1;
  snprintf(text[0], sizeof text[0], "%d", devices);
  snprintf(text[1], sizeof text[1], "host:200 gpu*%d@nvlink:300 pcie:25 rate:1", devices);
  options->devices = text[0];
  options->machine = text[1];
}

/* list: memory for the number of the device as text. */
static tsr_options real_device(const char *engine, char list[16]) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  snprintf(list, 16, "%d,", local_rank());
  options.engine = engine;
  options.devices = list;
  options.machine = "host:200 gpu*1@nvlink:300 pcie:50 rate:60";
  options.memory = (size_t)256 << 20;
  return options;
}

static bool open_world(world *w, const char *engine) {
  char list[16], varied[2][64];
  tsr_options cpu = TSR_OPTIONS_DEFAULT, other;
  tsr_options devices = engine == NULL ? emulated_devices() : real_device(engine, list);
  MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &w->size);
  cpu.engine = "cpu";
  devices.check = 1;
  if (tsr_context_create(&cpu, &w->contexts[0]) != TSR_OK ||
      tsr_context_create(&devices, &w->contexts[1]) != TSR_OK)
    return false;
  devices.check = 0;
  if (engine == NULL) tsr_host_delay((uint64_t)w->rank + 1);
  other = devices;
  if (engine == NULL) vary_devices(&other, w->rank, varied);
  if (tsr_context_create(&other, &w->contexts[2]) != TSR_OK) return false;
  devices.reproducible = 1;
  return tsr_context_create(&devices, &w->contexts[3]) == TSR_OK;
}

static const char *text_argument(int argc, char **argv, const char *name) {
  for (int i = 1; i + 1 < argc; i++)
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  return NULL;
}

static long long argument(int argc, char **argv, const char *name, long long otherwise) {
  const char *text = text_argument(argc, argv, name);
  return text != NULL ? atoll(text) : otherwise;
}

int main(int argc, char **argv) {
  world w = {.transport = text_argument(argc, argv, "--transport")};
  int level;
  bool alone = argument(argc, argv, "--level", 3) < 3;
  MPI_Init_thread(&argc, &argv, alone ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &level);
  uint64_t seed = (uint64_t)argument(argc, argv, "--seed", 1);
  long long first = argument(argc, argv, "--first", 0), count = argument(argc, argv, "--count", 40);
  first += turn_of_samples() * argument(argc, argv, "--turns", 0);
  if (!open_world(&w, text_argument(argc, argv, "--engine"))) {
    printf("no context: %s\n", tsr_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int passed = 0, failed = 0;
  for (long long i = first; i < first + count; i++) {
    problem p = draw(seed, i, w.size);
    if (judge(&w, &p, i, seed, run(&w, &p)))
      passed++;
    else
      failed++;
  }
  if (w.rank == 0) printf("%d passed, %d failed\n", passed, failed);
  for (int i = 0; i < 4; i++) tsr_context_destroy(w.contexts[i]);
  MPI_Finalize();
  return failed > 0;
}
