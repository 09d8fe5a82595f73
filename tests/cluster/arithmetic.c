/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Emulated products across processes have the bits of those of one process, which every process
 * computes here for itself, in the same context or one of other devices.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../arithmetic/hard_data.h"
#include "cases.h"

/* Machines on which native kernels are much faster than emulated products, and much slower; and so
 * slow that a product of these tests is worth sending whole lines for. */
static const char fast_kernels[] = "host:200 gpu*3@nvlink:300 pcie:25 rate:1";
static const char slow_kernels[] =
    "host:200 gpu*3@nvlink:300 pcie:25 rate:0.001,0.001 rate.c:0.001 rate.z:0.001 rate.h:400";
static const char slowest_kernels[] =
    "host:200 gpu*3@nvlink:300 pcie:25 rate:1e-7,1e-7 rate.c:1e-7 rate.z:1e-7 rate.h:400";

static tsr_context *context_on(const char *machine, const char *arithmetic, const char *devices,
                               int reproducible, size_t memory) {
  tsr_options options = TSR_OPTIONS_DEFAULT;
  tsr_context *context = NULL;
  options.engine = "host";
  options.devices = devices;
  options.machine = machine;
  options.memory = memory;
  options.check = 1;
  options.reproducible = reproducible;
  options.arithmetic = arithmetic;
  HOLD(tsr_context_create(&options, &context) == TSR_OK);
  return context;
}

static tsr_context *context_of(const char *arithmetic, const char *devices, int reproducible,
                               size_t memory) {
  return context_on(fast_kernels, arithmetic, devices, reproducible, memory);
}

/* ---- A product ------------------------------------------------------------------ */

/* c = alpha op(a) op(b) + beta c. The stored matrices lie around the parts that are multiplied,
 * which begin at row 1 and column 2; full: each process has all of them. expected: of one process.
 */
typedef struct product {
  tsr_type type;
  tsr_op transa, transb;
  hard_family family;
  int64_t m, n, k;
  double beta;
  int block;
  bool spoilt; /* one element of a is infinite */
  void *full[3], *expected;
  int64_t rows[3], cols[3];
  tsr_pmatrix part[3];
} product;

enum { ROW = 1, COL = 2 };

static size_t size_of(tsr_type type) {
  return (size_t)hard_parts(type) * (hard_is_single(type) ? 4 : 8);
}

static void *element(const product *p, int x, void *base, int64_t i, int64_t j) {
  return (char *)base + (size_t)(i + j * p->rows[x]) * size_of(p->type);
}

static size_t bytes_of(const product *p, int x) {
  return (size_t)(p->rows[x] * p->cols[x]) * size_of(p->type);
}

static void fill(product *p, uint64_t seed) {
  int64_t extent[3][2] = {{p->m, p->k}, {p->k, p->n}, {p->m, p->n}};
  tsr_op op[3] = {p->transa, p->transb, TSR_NO_TRANS};
  for (int x = 0; x < 3; x++) {
    bool plain = op[x] == TSR_NO_TRANS;
    p->rows[x] = extent[x][plain ? 0 : 1] + ROW;
    p->cols[x] = extent[x][plain ? 1 : 0] + COL;
    p->full[x] = calloc(bytes_of(p, x) + 1, 1);
    int64_t lines = x == 0 ? p->m : p->n, length = x < 2 ? p->k : p->m;
    hard_fill(x < 2 ? p->family : HARD_UNIFORM, p->type, x > 0, op[x], lines, length, p->rows[x],
              seed, element(p, x, p->full[x], ROW, COL));
  }
  if (p->spoilt) hard_write(p->type, element(p, 0, p->full[0], ROW, COL), 0, INFINITY);
  p->expected = malloc(bytes_of(p, 2));
  memcpy(p->expected, p->full[2], bytes_of(p, 2));
}

/* Copies between this process's part of a matrix and all of it. */
static void copy_part(const product *p, int x, void *full, bool outward) {
  const tsr_pmatrix *part = &p->part[x];
  int64_t rows, cols, at = 0;
  int grid_rows, grid_cols, row, col;
  size_t size = size_of(p->type);
  tsr_grid_place(part->grid, &grid_rows, &grid_cols, &row, &col);
  tsr_pmatrix_extents(part, &rows, &cols);
  for (int64_t j = 0; j < part->n; j++)
    for (int64_t i = 0; i < part->m; i++) {
      if ((part->row_source + i / part->mb) % grid_rows != row) continue;
      if ((part->col_source + j / part->nb) % grid_cols != col) continue;
      char *here = (char *)part->data + (size_t)(at % rows + at / rows * part->ld) * size;
      void *there = element(p, x, full, i, j);
      memcpy(outward ? there : here, outward ? (void *)here : there, size);
      at++;
    }
  HOLD(at == rows * cols);
}

static void distribute(product *p, tsr_grid *grid, int seed) {
  int rows, cols, row, col;
  tsr_grid_place(grid, &rows, &cols, &row, &col);
  for (int x = 0; x < 3; x++) {
    HOLD(tsr_pmatrix_create(grid, p->type, p->rows[x], p->cols[x], p->block + x * seed,
                            p->block + 3 * x, (seed + x) % rows, x % cols, &p->part[x]) == TSR_OK);
    copy_part(p, x, p->full[x], false);
  }
}

static void drop(product *p) {
  for (int x = 0; x < 3; x++) {
    tsr_pmatrix_destroy(&p->part[x]);
    free(p->full[x]);
  }
  free(p->expected);
}

/* alpha and beta in the type. */
typedef struct scalars {
  double alpha[2], beta[2];
  float single_alpha[2], single_beta[2];
} scalars;

static scalars scalars_of(const product *p) {
  return (scalars){{-1.25, 0}, {p->beta, 0}, {-1.25f, 0}, {(float)p->beta, 0}};
}

static void multiply_alone(const product *p, tsr_context *context) {
  scalars s = scalars_of(p);
  bool single = hard_is_single(p->type);
  HOLD(tsr_gemm(context, p->type, TSR_COL_MAJOR, p->transa, p->transb, p->m, p->n, p->k,
                single ? (void *)s.single_alpha : s.alpha, element(p, 0, p->full[0], ROW, COL),
                p->rows[0], element(p, 1, p->full[1], ROW, COL), p->rows[1],
                single ? (void *)s.single_beta : s.beta, element(p, 2, p->expected, ROW, COL),
                p->rows[2]) == TSR_OK);
}

static tsr_status multiply(const product *p, tsr_grid *grid, bool async) {
  scalars s = scalars_of(p);
  bool single = hard_is_single(p->type);
  return (async ? tsr_pgemm_async : tsr_pgemm)(
      grid, p->transa, p->transb, p->m, p->n, p->k, single ? (void *)s.single_alpha : s.alpha,
      &p->part[0], ROW, COL, &p->part[1], ROW, COL, single ? (void *)s.single_beta : s.beta,
      &p->part[2], ROW, COL);
}

/* Whether this process's part of C has the expected bits. */
static bool is_as_expected(const product *p) {
  void *full = malloc(bytes_of(p, 2));
  memcpy(full, p->expected, bytes_of(p, 2));
  copy_part(p, 2, full, true);
  bool same = memcmp(full, p->expected, bytes_of(p, 2)) == 0;
  free(full);
  return same;
}

static void compare(product *p, tsr_grid *grid, tsr_context *alone, int seed, bool async) {
  fill(p, (uint64_t)seed);
  distribute(p, grid, seed);
  multiply_alone(p, alone);
  EXPECT(multiply(p, grid, async), TSR_OK, "");
  if (async) EXPECT(tsr_grid_sync(grid), TSR_OK, "");
  HOLD(is_as_expected(p));
  drop(p);
}

/* ---- Cases ---------------------------------------------------------------------- */

static const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
static const tsr_op ops[] = {TSR_NO_TRANS, TSR_TRANS, TSR_CONJ_TRANS};

/* Where all of C is emulated, all layouts have the bits of one process. */
static void same_bits(world *w) {
  (void)w;
  static const char *const arithmetics[] = {"emulated", "emulated:16", "emulated:1e-6"};
  static const int blocks[] = {1, 7, 16, 64};
  for (int i = 0; i < 12; i++) {
    tsr_context *here = context_of(arithmetics[i % 3], i % 2 ? "2" : "1", 0, 0);
    tsr_context *alone = context_of(arithmetics[i % 3], "1", 0, 0);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    product p = {.type = types[i % 4],
                 .transa = ops[i % 3],
                 .transb = ops[i / 3 % 3],
                 .family = i % 5 == 4 ? HARD_INTEGER : HARD_UNIFORM,
                 .m = 61,
                 .n = 50 + i,
                 .k = i == 3 ? 400 : 90,
                 .beta = i % 2 ? 0.75 : 0,
                 .block = blocks[i % 4]};
    compare(&p, grid, alone, i, i % 4 == 3);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
    tsr_context_destroy(alone);
  }
}

/* Reproducible products have them also where parts of C are left to native ones, or all of it. */
static void same_bits_of_any_data(world *w) {
  (void)w;
  static const hard_family families[] = {HARD_UNIFORM, HARD_UNIFORM, HARD_SPREAD, HARD_SPARSE};
  for (int i = 0; i < 8; i++) {
    tsr_context *here = context_of("emulated", i % 2 ? "3" : "1", 1, i % 3 ? 4000000 : 0);
    tsr_context *alone = context_of("emulated", "2", 1, 0);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    product p = {.type = types[i % 3],
                 .transa = ops[i % 3],
                 .transb = ops[i / 3 % 3],
                 .family = families[i % 4],
                 .m = 280,
                 .n = 300 - i,
                 .k = 60,
                 .beta = i < 4 ? -2 : 0,
                 .block = 20 + i,
                 .spoilt = i % 4 == 1};
    compare(&p, grid, alone, i, i == 5);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
    tsr_context_destroy(alone);
  }
}

/* Products whose bits would depend on the number of processes are refused where they are to be
 * reproducible: native ones, those of auto, and those of types without residues. */
static void native_products_are_refused(world *w) {
  static const char *const arithmetics[] = {"native", "auto", "auto:1e-6", "emulated"};
  for (int i = 0; i < 4 && w->size > 1; i++) {
    tsr_context *here = context_of(arithmetics[i], "1", 1, 0);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    product p = {.type = types[i],
                 .transa = TSR_NO_TRANS,
                 .transb = TSR_NO_TRANS,
                 .m = 40,
                 .n = 30,
                 .k = i == 3 ? 0 : 20,
                 .beta = 0.5,
                 .block = 8};
    fill(&p, 1);
    distribute(&p, grid, 0);
    if (i == 3) multiply_alone(&p, here); /* scaling has the same bits everywhere */
    for (int async = 0; async < 2 && i < 3; async++)
      EXPECT(multiply(&p, grid, async), TSR_ERR_UNSUPPORTED, "TESSERA_REPRODUCIBLE");
    if (i == 3) EXPECT(multiply(&p, grid, false), TSR_OK, "");
    HOLD(is_as_expected(&p));
    drop(&p);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
  }
}

/* Panels and blocks that the program sets are for native products: an emulated one is refused, and
 * where the faster way is to be taken, it is the native one. */
static void cuts_that_are_set(world *w) {
  static const char *const arithmetics[] = {"emulated", "auto"};
  for (int i = 0; i < 6 && w->size > 1; i++) {
    tsr_context *here = context_on(slowest_kernels, arithmetics[i % 2], "1", 0, 0);
    tsr_grid *grid = NULL;
    call x;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    if (i / 2 == 0) EXPECT(tsr_grid_set_panels(grid, 0, 2), TSR_OK, "");
    if (i / 2 == 1) EXPECT(tsr_grid_set_blocks(grid, 0, 7), TSR_OK, "");
    if (i / 2 == 2) EXPECT(tsr_grid_set_cut(grid, TSR_CUT_PARSEC), TSR_OK, "");
    if (!HOLD(call_create(grid, TSR_NO_TRANS, &x))) return;
    EXPECT(call_run(&x), i % 2 == 0 ? TSR_ERR_ARGUMENT : TSR_OK, "whole rows and columns");
    HOLD(i % 2 == 0 || is_right(&x));
    EXPECT(tsr_grid_set_panels(grid, 0, 0), TSR_OK, "");
    EXPECT(tsr_grid_set_blocks(grid, 0, 0), TSR_OK, "");
    EXPECT(tsr_grid_set_cut(grid, TSR_CUT_MODEL), TSR_OK, "");
    EXPECT(call_run(&x), TSR_OK, "");
    HOLD(is_right(&x));
    call_destroy(&x);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
  }
}

/* Processes that would compute in different ways say so, and C stays as it was. */
static void different_ways(world *w) {
  if (w->size == 1) return;
  tsr_context *here = context_of(w->rank == 0 ? "emulated:15" : "emulated", "1", 0, 0);
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  product p = {.type = TSR_D,
               .transa = TSR_NO_TRANS,
               .transb = TSR_NO_TRANS,
               .m = 20,
               .n = 30,
               .k = 40,
               .block = 8};
  fill(&p, 1);
  distribute(&p, grid, 0);
  EXPECT(multiply(&p, grid, false), TSR_ERR_ARGUMENT, "the number of moduli");
  HOLD(is_as_expected(&p));
  HOLD(tsr_set_arithmetic(here, "emulated") == TSR_OK);
  multiply_alone(&p, here);
  EXPECT(multiply(&p, grid, false), TSR_OK, "");
  HOLD(is_as_expected(&p));
  drop(&p);
  tsr_grid_destroy(grid);
  tsr_context_destroy(here);
}

/* The error of this process's part of C, as a part of alpha (|A||B|) + beta C. */
static double worst_error(const product *p) {
  void *full = malloc(bytes_of(p, 2)), *c = malloc((size_t)(p->m * p->n) * size_of(p->type));
  void *old = malloc((size_t)(p->m * p->n) * size_of(p->type));
  memcpy(full, p->expected, bytes_of(p, 2));
  copy_part(p, 2, full, true);
  for (int64_t j = 0; j < p->n; j++) {
    size_t column = (size_t)p->m * size_of(p->type), at = (size_t)j * column;
    memcpy((char *)c + at, element(p, 2, full, ROW, COL + j), column);
    memcpy((char *)old + at, element(p, 2, p->full[2], ROW, COL + j), column);
  }
  const hard_product x = {.type = p->type,
                          .transa = p->transa,
                          .transb = p->transb,
                          .m = p->m,
                          .n = p->n,
                          .k = p->k,
                          .lda = p->rows[0],
                          .ldb = p->rows[1],
                          .alpha = -1.25,
                          .beta = p->beta,
                          .a = element(p, 0, p->full[0], ROW, COL),
                          .b = element(p, 1, p->full[1], ROW, COL),
                          .old = old,
                          .c = c};
  double unit = hard_is_single(p->type) ? 0x1p-24 : 0x1p-53;
  double worst = hard_worst(&x) * ((double)p->k + 2) * unit * (hard_parts(p->type) == 2 ? 2.83 : 1);
  free(full), free(c), free(old);
  return worst;
}

/* Ends the timeline: whether kernels on residues are in it. */
static bool has_residues(tsr_context *context) {
  char *text = NULL;
  HOLD(tsr_timeline_end(context, &text) == TSR_OK);
  bool found = text != NULL && strstr(text, "residue gemm") != NULL;
  free(text);
  return found;
}

/* The part of this process is not empty: it has made products. */
static bool has_part(const product *p) {
  int64_t rows, cols;
  tsr_pmatrix_extents(&p->part[2], &rows, &cols);
  return rows > COL && cols > COL;
}

/* With auto each process computes panels of k in the faster way. Where kernels are slow that is
 * emulated, with the accuracy that is asked for; each of the panels rounds C once more. */
static void the_faster_way(world *w) {
  static const struct {
    const char *text;
    double accuracy;
  } asked[] = {{"auto", 0}, {"auto:1e-4", 1e-4}, {"auto:1e-2", 1e-2}};
  for (int i = 0; i < 8; i++) {
    double accuracy = asked[i % 3].accuracy;
    tsr_context *here = context_on(slow_kernels, asked[i % 3].text, i % 2 ? "2" : "1", 0, 0);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    product p = {.type = types[i % 4],
                 .transa = ops[i % 3],
                 .transb = ops[i / 3 % 3],
                 .family = HARD_UNIFORM,
                 .m = 41,
                 .n = 30 + i,
                 .k = 200,
                 .beta = i % 2 ? 0.75 : 0,
                 .block = 16};
    fill(&p, (uint64_t)i);
    distribute(&p, grid, i);
    multiply_alone(&p, here);
    HOLD(tsr_timeline_begin(here) == TSR_OK);
    EXPECT(multiply(&p, grid, i % 4 == 3), TSR_OK, "");
    EXPECT(tsr_grid_sync(grid), TSR_OK, "");
    HOLD(has_residues(here) || !has_part(&p));
    double unit = hard_is_single(p.type) ? 0x1p-24 : 0x1p-53;
    double rounding = ((double)p.k + 2 + 13) * unit * (hard_parts(p.type) == 2 ? 2.83 : 1);
    HOLD(worst_error(&p) <= accuracy + rounding);
    drop(&p);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
  }
  (void)w;
}

/* Where even panels would take long, auto takes whole lines, and so has the bits of one process. */
static void whole_lines_where_they_pay(world *w) {
  (void)w;
  for (int i = 0; i < 4; i++) {
    const char *asked = i % 2 ? "auto:1e-4" : "auto";
    tsr_context *here = context_on(slowest_kernels, asked, "1", 0, 0);
    tsr_context *alone = context_of(i % 2 ? "emulated:1e-4" : "emulated", "2", 0, 0);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    product p = {.type = types[i],
                 .transa = ops[i % 3],
                 .transb = ops[(i + 1) % 3],
                 .family = HARD_UNIFORM,
                 .m = 90,
                 .n = 80 + i,
                 .k = 60,
                 .beta = i % 2 ? 0.75 : 0,
                 .block = 16};
    compare(&p, grid, alone, i, i == 3);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
    tsr_context_destroy(alone);
  }
}

/* Where kernels are fast it is natively, with the bits of that, and however late an asynchronous
 * product is carried out, it has the arithmetic that was set when it was made. */
static void arithmetics_of_the_moment(world *w) {
  (void)w;
  static const char *const first[] = {"auto", "native", "emulated", "emulated:1e-6"};
  for (int i = 0; i < 8; i++) {
    bool native = i % 4 < 2;
    tsr_context *here = context_of(first[i % 4], "1", 0, 0);
    tsr_grid *grid = NULL;
    EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
    product p = {.type = types[i % 4],
                 .transa = TSR_NO_TRANS,
                 .transb = TSR_TRANS,
                 .family = HARD_UNIFORM,
                 .m = 50,
                 .n = 60,
                 .k = 70,
                 .beta = 1,
                 .block = 9};
    fill(&p, (uint64_t)i);
    distribute(&p, grid, 0);
    if (native) HOLD(tsr_set_arithmetic(here, "native") == TSR_OK);
    EXPECT(multiply(&p, grid, false), TSR_OK, "");
    void *bits = malloc(bytes_of(&p, 2)), *again = malloc(bytes_of(&p, 2));
    memcpy(bits, p.full[2], bytes_of(&p, 2));
    copy_part(&p, 2, bits, true);
    copy_part(&p, 2, p.full[2], false);
    HOLD(tsr_set_arithmetic(here, first[i % 4]) == TSR_OK);
    EXPECT(multiply(&p, grid, true), TSR_OK, "");
    HOLD(tsr_set_arithmetic(here, native ? "emulated:8" : "native") == TSR_OK);
    EXPECT(tsr_grid_sync(grid), TSR_OK, "");
    memcpy(again, p.full[2], bytes_of(&p, 2));
    copy_part(&p, 2, again, true);
    HOLD(memcmp(bits, again, bytes_of(&p, 2)) == 0);
    free(bits), free(again);
    drop(&p);
    tsr_grid_destroy(grid);
    tsr_context_destroy(here);
  }
}

/* A reproducible product that does not fit the devices of one process is refused on all before C is
 * changed; an asynchronous one at once, if there are several processes. */
static void too_little_memory(world *w) {
  tsr_context *here = context_of("emulated", "1", 1, w->rank == w->size - 1 ? 20000 : 0);
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  product p = {.type = TSR_D,
               .transa = TSR_NO_TRANS,
               .transb = TSR_NO_TRANS,
               .m = 600,
               .n = 600,
               .k = 40,
               .block = 50,
               .beta = 1};
  fill(&p, 1);
  distribute(&p, grid, 0);
  EXPECT(multiply(&p, grid, false), TSR_ERR_MEMORY, "TESSERA_MEMORY");
  EXPECT(multiply(&p, grid, true), w->size > 1 ? TSR_ERR_MEMORY : TSR_OK, "TESSERA_MEMORY");
  EXPECT(tsr_grid_sync(grid), w->size > 1 ? TSR_OK : TSR_ERR_MEMORY, "TESSERA_MEMORY");
  HOLD(is_as_expected(&p));
  drop(&p);
  tsr_grid_destroy(grid);
  tsr_context_destroy(here);
}

/* Allocations of a process fail in turn: C comes right, or the call is refused everywhere. */
static void no_memory_for_a_product(world *w) {
  tsr_context *here = context_of("emulated", "2", 0, 0);
  tsr_grid *grid = NULL;
  EXPECT(tsr_grid_create(here, MPI_COMM_WORLD, 0, 0, &grid), TSR_OK, "");
  for (int who = 0; who < w->size && w->size > 1; who = next_of(w, who)) {
    bool done = false, refused = false;
    for (long n = 1; !done && n < 4000; n += 1 + n / 20) {
      call x;
      if (!HOLD(call_create(grid, n % 2 ? TSR_TRANS : TSR_NO_TRANS, &x))) return;
      if (w->rank == who) tsr_alloc_fail_at(n);
      tsr_status status = call_run(&x);
      int failed = w->rank == who && tsr_alloc_fail_at(0) > 0;
      MPI_Bcast(&failed, 1, MPI_INT, who, MPI_COMM_WORLD);
      done = !failed;
      refused |= status != TSR_OK;
      expect(status, status == TSR_OK ? TSR_OK : TSR_ERR_MEMORY, "", __LINE__);
      if (status == TSR_OK) HOLD(is_right(&x));
      call_destroy(&x);
    }
    HOLD(done && refused);
  }
  tsr_grid_destroy(grid);
  tsr_context_destroy(here);
}

int main(int argc, char **argv) {
  static const test_case cases[] = {
      {"same bits", same_bits},
      {"same bits of any data", same_bits_of_any_data},
      {"native products are refused", native_products_are_refused},
      {"cuts that are set", cuts_that_are_set},
      {"different ways", different_ways},
      {"the faster way", the_faster_way},
      {"whole lines where they pay", whole_lines_where_they_pay},
      {"arithmetics of the moment", arithmetics_of_the_moment},
      {"too little memory", too_little_memory},
      {"no memory for a product", no_memory_for_a_product},
  };
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
