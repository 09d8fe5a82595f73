/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The kernels on residues (arithmetic/moduli.h). The products are those of residue_products.h where
 * the device has them; else the vendor's products of 8-bit integers with sums of 32 bits. All
 * others are those of residue_kernels.h.
 *
 * C is done in parts whose residues or sums, for all moduli, fit the queue's room.
 */
#include <math.h>

#include "arithmetic/arithmetic.h"
#include "base/least.h"
#include "engine/gpu/internal.h"
#include "engine/gpu/residues/residue_kernels.h"
#include "engine/gpu/residues/residue_products.h"
#include "engine/gpu/tuning.h"

/* Products whose sums fit 32 bits: each is up to 2^14. */
enum { PART = 1 << 16 };

/* The vendor's integer products want m in fours, and no more columns are needed at once. */
enum { FOURS = 4, COLUMNS_MOST = 1 << 16 };

tsr_status gpu_make_residues(const tsr_queue *queue, const tsr_kernel_args *x) {
  tsr_moduli moduli;
  tsr_moduli_fill(x->lines.arithmetic->number, &moduli);
  tsr_gpu_residues args = {.type = (char)x->type,
                           .turned = x->transa != TSR_NO_TRANS,
                           .conjugated = x->transb == TSR_CONJ_TRANS,
                           .k = x->m,
                           .n = x->n,
                           .a = x->a,
                           .lda = x->lda,
                           .block = x->c,
                           .ld = x->ldc,
                           .first = x->lines.of[2].first,
                           .lines = x->lines.of[2].lines,
                           .keeps_lines = x->lines.keeps_lines};
  int error = tsr_gpu_residues_launch(&args, &moduli, queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", queue->index);
  return TSR_OK;
}

/* ---- Products ------------------------------------------------------------------ */

/* A product, and the parts of the queue's room. */
typedef struct product {
  tsr_queue *queue;
  const tsr_kernel_args *x;
  tsr_moduli moduli;
  int planes;
  int64_t rows, columns; /* of C, of a full part; in the room a column has as many rows */
  int64_t step;          /* numbers of a plane in the room */
  tsr_gpu_judgement *judgement;
  int8_t *residues; /* of the products; NULL if the device has not the kernel that makes them */
  int32_t *sums;    /* of the products; over all of k, their residues' sums; NULL if it has */
  int32_t *parts;   /* of the products over a part of k, if there are several; else sums */
} product;

static bool is_in_parts(const tsr_kernel_args *x) {
  return x->lda > PART;
}

static int64_t rounded_up(int64_t x, int64_t unit) {
  return (x + unit - 1) / unit * unit;
}

/* Bytes of a queue's room, that of judging apart. */
static int64_t room_of(const tsr_queue *queue) {
  return queue->device->products ? TSR_TUNE_RESIDUE_ROOM : TSR_TUNE_SUM_ROOM;
}

static tsr_status make_room(tsr_queue *queue) {
  size_t bytes = (size_t)room_of(queue) + TSR_GPU_JUDGING_ROOM;
  if (queue->residues != NULL) return TSR_OK;
  gpuError error = gpuMalloc(&queue->residues, bytes);
  if (error == gpuSuccess) return TSR_OK;
  queue->residues = NULL;
  return gpu_fail(error == gpuErrorMemory ? TSR_ERR_MEMORY : TSR_ERR_DEVICE, error,
                  "allocating memory for sums of residues", queue->index);
}

/* An extent in as few pieces as are at most `most` long, all but the last of them alike. */
static int64_t piece_of(int64_t extent, int64_t most, int64_t unit) {
  int64_t pieces = (extent + most - 1) / most;
  return rounded_up((extent + pieces - 1) / pieces, unit);
}

/* Parts of whole tiles, about square, of one byte an element. */
static void cut_for_residues(product *p) {
  const int64_t high = TSR_PRODUCTS_ROWS, wide = TSR_PRODUCTS_COLUMNS;
  int64_t numbers = TSR_TUNE_RESIDUE_ROOM / p->planes, side = (int64_t)sqrt((double)numbers);
  p->rows = piece_of(p->x->m, side / high * high, high);
  p->columns = piece_of(p->x->n, numbers / p->rows / wide * wide, wide);
}

/* Parts of four bytes an element, twice that if k is in parts. */
static void cut_for_sums(product *p) {
  int64_t numbers = TSR_TUNE_SUM_ROOM / 4 / p->planes / (is_in_parts(p->x) ? 2 : 1);
  p->rows = tsr_least(rounded_up(p->x->m, FOURS), TSR_TUNE_SUM_ROWS);
  p->columns = tsr_least(tsr_least(numbers / p->rows, COLUMNS_MOST), p->x->n);
}

static product product_of(tsr_queue *queue, const tsr_kernel_args *x) {
  product p = {.queue = queue, .x = x, .judgement = queue->residues};
  char *room = (char *)queue->residues + TSR_GPU_JUDGING_ROOM;
  tsr_moduli_fill(x->lines.arithmetic->number, &p.moduli);
  p.planes = tsr_arithmetic_planes(x->lines.arithmetic, x->type);
  if (queue->device->products)
    cut_for_residues(&p);
  else
    cut_for_sums(&p);
  p.step = p.rows * p.columns;
  if (queue->device->products) {
    p.residues = (int8_t *)room;
    return p;
  }
  p.sums = (int32_t *)room;
  p.parts = is_in_parts(x) ? p.sums + p.step * p.planes : p.sums;
  return p;
}

static const tsr_line *records_of(const product *p, const void *block, int64_t ld, int operand) {
  tsr_lines_range of = p->x->lines.of[operand];
  int element = tsr_form_element(
      p->x->lines.arithmetic, &(tsr_promise){.keeps_lines = p->x->lines.keeps_lines}, p->x->type);
  return (const tsr_line *)((const char *)block + tsr_residues_records(ld, of.lines, element)) +
         of.first;
}

/* The first of the kernel's lines that a block keeps. */
static const void *kept_of(const product *p, const void *block, int64_t ld, int operand) {
  tsr_lines_range of = p->x->lines.of[operand];
  size_t before = (size_t)of.first * (size_t)ld * tsr_type_get(p->x->type)->size;
  return (const char *)block + tsr_residues_kept(ld, of.lines, p->planes) + before;
}

/* The region of the part of c that begins at (i, j). */
static tsr_gpu_region region_of(const tsr_kernel_args *x, int64_t i, int64_t j) {
  return (tsr_gpu_region){(char)x->uplo, x->diag == TSR_UNIT, i - j};
}

/* Where line `line` of the first plane has its residue `from`. */
static const int8_t *line_at(const void *block, int64_t ld, tsr_lines_range of, int64_t line,
                             int64_t from) {
  return (const int8_t *)block + (of.first + line) * ld + from;
}

/* ---- Judging ------------------------------------------------------------------- */

static bool overlaps_may_decide(const product *p) {
  return p->x->lines.overlaps && p->x->k <= TSR_OVERLAPS_LONGEST;
}

static tsr_status judge_by_quantiles(const product *p) {
  const tsr_kernel_args *x = p->x;
  const tsr_lines_args *r = &x->lines;
  bool complex_valued = tsr_type_get(x->type)->complex_valued;
  int error =
      tsr_gpu_judge_launch(records_of(p, x->a, x->lda, 0), x->m, records_of(p, x->b, x->ldb, 1),
                           x->n, x->k, complex_valued, r->tolerance, overlaps_may_decide(p),
                           p->judgement, p->x->verdict, p->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  return TSR_OK;
}

/* The rows and columns of a part of C whose bytes, with a number for each line, fit the room of the
 * sums or residues, which are made later. */
typedef struct judged_part {
  int64_t rows, columns;
} judged_part;

_Static_assert((int)TSR_TUNE_SUM_ROOM / (TSR_OVERLAPS_LONGEST + 4) >= 2 * TSR_GPU_OVERLAPS_SIDE &&
                   (int)TSR_TUNE_RESIDUE_ROOM >= (int)TSR_TUNE_SUM_ROOM,
               "a tile's rows and columns fit");

static int64_t in_whole_tiles(int64_t lines) {
  return lines / TSR_GPU_OVERLAPS_SIDE * TSR_GPU_OVERLAPS_SIDE;
}

static judged_part judged_part_of(const product *p) {
  const tsr_kernel_args *x = p->x;
  int64_t fit = room_of(p->queue) / (x->lda + (int64_t)sizeof(uint32_t)), half = fit / 2;
  if (x->m + x->n <= fit) return (judged_part){x->m, x->n};
  int64_t rows = x->n < half ? fit - x->n : half;
  judged_part part = {.rows = tsr_least(x->m, in_whole_tiles(rows))};
  part.columns = tsr_least(x->n, x->n <= fit - part.rows ? x->n : in_whole_tiles(fit - part.rows));
  return part;
}

/* `count` lines from line `from` on of an operand. */
static tsr_gpu_overlapping overlapping_of(const product *p, int operand, int64_t from,
                                          int64_t count, uint8_t *bytes, uint32_t *lost) {
  const tsr_kernel_args *x = p->x;
  tsr_lines_range of = x->lines.of[operand];
  const void *block = operand == 0 ? x->a : x->b;
  int64_t ld = operand == 0 ? x->lda : x->ldb;
  return (tsr_gpu_overlapping){.count = count,
                               .lines = line_at(block, ld, of, from, 0),
                               .plane = of.lines * ld,
                               .records = records_of(p, block, ld, operand) + from,
                               .lost = lost,
                               .bytes = bytes};
}

/* The part of C from (i, j) on. The room begins with the bytes, which are whole words. */
static tsr_gpu_overlaps overlaps_of(const product *p, judged_part part, int64_t i, int64_t j) {
  const tsr_kernel_args *x = p->x;
  int64_t m = tsr_least(part.rows, x->m - i), n = tsr_least(part.columns, x->n - j);
  uint8_t *bytes = (uint8_t *)p->queue->residues + TSR_GPU_JUDGING_ROOM;
  uint32_t *lost = (uint32_t *)(bytes + (m + n) * x->lda);
  return (tsr_gpu_overlaps){
      .judged = {p->moduli.count, tsr_type_get(x->type)->complex_valued, x->k, x->lines.tolerance},
      .region = region_of(x, i, j),
      .ld = x->lda,
      .rows = overlapping_of(p, 0, i, m, bytes, lost),
      .columns = overlapping_of(p, 1, j, n, bytes + m * x->lda, lost + m),
      .judgement = p->judgement,
      .verdict = x->verdict};
}

/* Only the device knows whether overlaps have to decide. */
static tsr_status judge_by_overlaps(const product *p) {
  const tsr_kernel_args *x = p->x;
  judged_part part = judged_part_of(p);
  tsr_leading_moduli leading;
  tsr_leading_moduli_fill(p->moduli.count, &leading);
  for (int64_t j = 0; j < x->n; j += part.columns)
    for (int64_t i = 0; i < x->m; i += part.rows) {
      tsr_gpu_overlaps args = overlaps_of(p, part, i, j);
      int error = tsr_gpu_overlaps_launch(&args, &leading, p->queue->stream);
      GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
    }
  return TSR_OK;
}

static tsr_status judge(const product *p) {
  TSR_TRY(judge_by_quantiles(p));
  return overlaps_may_decide(p) ? judge_by_overlaps(p) : TSR_OK;
}

/* ---- Computing ----------------------------------------------------------------- */

/* Computes c from the lines that the blocks keep, if the product has been refused. */
static tsr_status multiply_refused(const product *p) {
  const tsr_kernel_args *x = p->x;
  tsr_gpu_native args = {.type = (char)x->type,
                         .region = region_of(x, 0, 0),
                         .m = x->m,
                         .n = x->n,
                         .k = x->k,
                         .a = kept_of(p, x->a, x->lda, 0),
                         .b = kept_of(p, x->b, x->ldb, 1),
                         .lda = x->lda,
                         .ldb = x->ldb,
                         .alpha = {x->alpha.re, x->alpha.im},
                         .beta = {x->beta.re, x->beta.im},
                         .c = x->c,
                         .ldc = x->ldc,
                         .refused = &p->judgement->refused};
  if (!x->lines.keeps_lines) return TSR_OK;
  int error = tsr_gpu_native_launch(&args, p->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  return TSR_OK;
}

/* The residues of m rows and n columns from (i, j) on. */
static tsr_status multiply_and_reduce(const product *p, int64_t i, int64_t j, int64_t m,
                                      int64_t n) {
  const tsr_kernel_args *x = p->x;
  const tsr_lines_range *of = x->lines.of;
  tsr_gpu_products args = {.planes = p->planes,
                           .m = m,
                           .n = n,
                           .k = x->lda,
                           .a = line_at(x->a, x->lda, of[0], i, 0),
                           .b = line_at(x->b, x->ldb, of[1], j, 0),
                           .ld_a = x->lda,
                           .ld_b = x->ldb,
                           .plane_a = of[0].lines * x->lda,
                           .plane_b = of[1].lines * x->ldb,
                           .residues = p->residues,
                           .ld = p->rows,
                           .step = p->step};
  int error = tsr_gpu_products_launch(&args, &p->moduli, p->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  return TSR_OK;
}

/* The sums of m rows and n columns from (i, j) on over k bytes of the lines from `from` on. */
static tsr_status multiply(const product *p, int64_t i, int64_t j, int64_t m, int64_t n,
                           int64_t from, int64_t k) {
  static const int32_t one = 1, zero = 0;
  const tsr_kernel_args *x = p->x;
  const tsr_lines_range *of = x->lines.of;
  int64_t whole = m / FOURS * FOURS, plane_a = of[0].lines * x->lda, plane_b = of[1].lines * x->ldb;
  const int8_t *a = line_at(x->a, x->lda, of[0], i, from);
  const int8_t *b = line_at(x->b, x->ldb, of[1], j, from);
  if (whole > 0)
    GPU_BLAS_TRY(
        gpuBlasGemmStridedBatched(p->queue->blas, gpuBlasOpT, gpuBlasOpN, (int)whole, (int)n,
                                  (int)k, &one, a, gpuBlas8I, (int)x->lda, plane_a, b, gpuBlas8I,
                                  (int)x->ldb, plane_b, &zero, p->parts, gpuBlas32I, (int)p->rows,
                                  p->step, p->planes, gpuBlasCompute32I, gpuBlasDefaultAlgorithm),
        "products of residues", p->queue->index);
  tsr_gpu_rest rest = {.planes = p->planes,
                       .m = m - whole,
                       .n = n,
                       .k = k,
                       .ld = x->lda,
                       .a = a + whole * x->lda,
                       .b = b,
                       .plane_a = plane_a,
                       .plane_b = plane_b,
                       .sums = p->parts + whole,
                       .ldc = p->rows,
                       .step = p->step};
  int error = tsr_gpu_rest_launch(&rest, p->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  return TSR_OK;
}

/* Bytes beyond k in a line are 0, so that products may use whole lines. */
static tsr_status sum(const product *p, int64_t i, int64_t j, int64_t m, int64_t n) {
  int64_t all = p->x->lda;
  for (int64_t from = 0; from < all; from += PART) {
    TSR_TRY(multiply(p, i, j, m, n, from, tsr_least(PART, all - from)));
    if (p->parts == p->sums) continue;
    int error = tsr_gpu_fold_launch(&p->moduli, p->planes, p->parts, p->step, from == 0, p->sums,
                                    p->queue->stream);
    GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  }
  return TSR_OK;
}

static tsr_status recover(const product *p, int64_t i, int64_t j, int64_t m, int64_t n) {
  const tsr_kernel_args *x = p->x;
  int64_t size = (int64_t)tsr_type_get(x->type)->size;
  tsr_gpu_recover args = {.type = (char)x->type,
                          .region = region_of(x, i, j),
                          .leaves = x->lines.keeps_lines,
                          .m = m,
                          .n = n,
                          .sums = p->sums,
                          .residues = p->residues,
                          .ld = p->rows,
                          .step = p->step,
                          .rows = records_of(p, x->a, x->lda, 0) + i,
                          .columns = records_of(p, x->b, x->ldb, 1) + j,
                          .alpha = {x->alpha.re, x->alpha.im},
                          .beta = {x->beta.re, x->beta.im},
                          .c = (char *)x->c + (i + j * x->ldc) * size,
                          .ldc = x->ldc,
                          .refused = &p->judgement->refused};
  int error = tsr_gpu_recover_launch(&args, &p->moduli, p->queue->stream);
  GPU_TRY((gpuError)error, "launching a kernel", p->queue->index);
  return TSR_OK;
}

tsr_status gpu_residue_gemm(tsr_queue *queue, const tsr_kernel_args *x) {
  TSR_TRY(tsr_kernel_check_int(x, GPU_BLAS));
  if (!queue->device->products && !queue->blas) TSR_TRY(gpu_blas_start(queue));
  TSR_TRY(make_room(queue));
  product p = product_of(queue, x);
  TSR_TRY(judge(&p));
  TSR_TRY(multiply_refused(&p));
  for (int64_t j = 0; j < x->n; j += p.columns)
    for (int64_t i = 0; i < x->m; i += p.rows) {
      int64_t m = tsr_least(p.rows, x->m - i), n = tsr_least(p.columns, x->n - j);
      TSR_TRY(p.residues != NULL ? multiply_and_reduce(&p, i, j, m, n) : sum(&p, i, j, m, n));
      TSR_TRY(recover(&p, i, j, m, n));
    }
  return TSR_OK;
}
