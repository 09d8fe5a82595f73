/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The graphs of the updates of one triangle of C: gemmt, syrk, herk, syr2k, her2k.
 *
 * A part of C is cut where it meets the diagonal. Outside of the diagonal block it is an ordinary
 * product. The diagonal block is computed whole in W, and its triangle is added to C. If all of the
 * part is summed in W, it is one product, and cut only when it is added to C. These products are
 * GEMMT, which may leave anything beside the triangle: the vendor's kernels for a triangle do half
 * the work in several times the time where a block is too small to fill a device unless its sums
 * are split, which only the vendor's GEMM does (measured, 256 x 256 x 1024: 65 us against 8 us),
 * and the engine computes large ones by squares. Hermitian updates, whose diagonal must be real,
 * use the routine's own kernel.
 */
#include "base/least.h"
#include "blas/build.h"
#include "blas/family.h"
#include "blas/lines.h"
#include "blas/operation.h"

/* Rows [row, row + rows) of a part of C. A region on the diagonal has the same rows as columns; the
 * others do not touch the diagonal, unless a region of each kind was joined to a trapezoid. */
typedef struct region {
  tsr_part_of_c part;
  int64_t row, rows;
  bool diagonal, trapezoid;
} region;

/* Finds the regions of the stored triangle in a part, and returns how many. Rows and columns of
 * tiles are cut alike, or rows are not cut at all, so a diagonal block is in one tile. */
static int regions_of(const tsr_builder *b, tsr_part_of_c p, region found[2]) {
  const tsr_cuts *m = &b->tiling->m;
  int64_t begin = tsr_cut_begin(m, p.i), end = begin + tsr_cut_length(m, p.i);
  bool lower = b->call->uplo == TSR_LOWER;
  int64_t from = lower ? tsr_most(begin, p.col + p.cols) : begin;
  int64_t to = lower ? end : tsr_least(end, p.col);
  int count = 0;
  if (begin <= p.col && p.col < end) found[count++] = (region){p, p.col, p.cols, true, false};
  if (from < to) found[count++] = (region){p, from, to - from, false, false};
  return count;
}

static bool is_hermitian(const tsr_call *call) {
  return call->operation == TSR_HERK || call->operation == TSR_HER2K;
}

static bool has_two_products(const tsr_call *call) {
  return call->operation == TSR_SYR2K || call->operation == TSR_HER2K;
}

/* Kernels on lines can write a triangle, so that no block of C needs a W. */
static bool goes_to_w(const tsr_builder *b, const region *r) {
  if (tsr_call_has_form(b->call)) return false;
  return r->diagonal ? !is_hermitian(b->call) : tsr_goes_to_w(b, r->part);
}

static tsr_task_operand region_of(const tsr_builder *b, int matrix, bool reads, const region *r) {
  return tsr_rectangle(b->graph, matrix, reads ? TSR_UPDATE : TSR_WRITE, r->row, r->rows,
                       r->part.col, r->part.cols);
}

/* The device that computes a region. Copies to a device move whole rectangles, but only a triangle
 * of a diagonal block may be written to C. So a diagonal block of a C in device memory is computed
 * where C is. */
static int16_t device_of(const tsr_builder *b, const region *r) {
  const tsr_operand *c = &b->call->operand[TSR_C_];
  if (r->diagonal && c->memory == TSR_DEVICE) return (int16_t)c->location;
  return tsr_owner_of(b->tiling, r->part.i, r->part.j);
}

static bool push(tsr_builder *b, tsr_task task, const region *r) {
  task.m = (int32_t)r->rows;
  task.n = (int32_t)r->part.cols;
  task.device = device_of(b, r);
  return tsr_push_task(b, task);
}

/* Whether a diagonal block must be zeroed first. It is copied whole, so all of it must be written,
 * even if C is not read. */
static bool must_clear(const tsr_builder *b, const region *r) {
  return r->diagonal && b->call->beta == TSR_ZERO &&
         device_of(b, r) != b->call->operand[TSR_C_].location;
}

static bool push_clearing(tsr_builder *b, const region *r) {
  if (!must_clear(b, r)) return true;
  tsr_task task = {.kernel = TSR_KERNEL_SCALE, .flags = TSR_FLAG_BETA};
  task.operand[2] = region_of(b, TSR_C_, false, r);
  return push(b, task, r);
}

/* ---- Products ------------------------------------------------------------- */

/* Rows [row, row + rows) of op(X) in k-panel l, as X stores them. For the B of gemmt these are
 * columns of op(B). */
static tsr_task_operand factor(const tsr_builder *b, int x, int l, int64_t row, int64_t rows) {
  const tsr_cuts *k = &b->tiling->k;
  int64_t from = tsr_cut_begin(k, l), length = tsr_cut_length(k, l);
  if (b->call->operation == TSR_GEMMT && x == TSR_B_)
    return tsr_oriented(b->graph, x, b->call->transb, from, length, row, rows);
  return tsr_oriented(b->graph, x, b->call->transa, row, rows, from, length);
}

/* Sets the scalars and the C of product `number` (from 0) of the `products` of k-panel l. */
static void set_target(const tsr_builder *b, const region *r, int l, int number, int products,
                       tsr_task *task) {
  const tsr_call *call = b->call;
  bool first = l == b->first_k_panel && number == 0, lazy = goes_to_w(b, r);
  bool reads = !first || (!lazy && (call->beta != TSR_ZERO || must_clear(b, r)));
  task->operand[2] = region_of(b, lazy ? TSR_W : TSR_C_, reads, r);
  if (!first)
    task->flags |= TSR_FLAG_BETA_ONE;
  else if (!lazy)
    task->flags |= TSR_FLAG_BETA;
  if (call->alpha == TSR_ONE) task->flags |= TSR_FLAG_ALPHA_ONE;
  task->last = !lazy && l == b->last_k_panel && number == products - 1;
}

static void conjugate_alpha(const tsr_call *call, tsr_task *task) {
  if (is_hermitian(call) && call->alpha != TSR_ONE) task->flags |= TSR_FLAG_ALPHA_CONJ;
}

/* Adds product `number` of a k-panel: the region's rows of one factor by its columns of the other.
 * Product 1 of syr2k and her2k has A and B exchanged. */
static bool push_gemm(tsr_builder *b, const region *r, int l, int number, int products) {
  const tsr_call *call = b->call;
  int left = number == 0 ? TSR_A : TSR_B_;
  bool has_b = tsr_operation_get(call->operation)->has.b;
  int right = products == 2 ? TSR_A + TSR_B_ - left : has_b ? TSR_B_ : TSR_A;
  tsr_op across = call->transa != TSR_NO_TRANS ? TSR_NO_TRANS
                  : is_hermitian(call)         ? TSR_CONJ_TRANS
                                               : TSR_TRANS;
  bool triangle = r->diagonal || r->trapezoid;
  tsr_form form = {.transa = call->transa,
                   .transb = call->operation == TSR_GEMMT ? call->transb : across,
                   .uplo = triangle ? call->uplo : TSR_GENERAL};
  tsr_task task = {.kernel = triangle ? TSR_KERNEL_GEMMT : TSR_KERNEL_GEMM,
                   .form = tsr_form_pack(form),
                   .k = tsr_cut_length(&b->tiling->k, l)};
  task.operand[0] = factor(b, left, l, r->row, r->rows);
  task.operand[1] = factor(b, right, l, r->part.col, r->part.cols);
  set_target(b, r, l, number, products, &task);
  if (number == 1) conjugate_alpha(call, &task);
  return push(b, task, r);
}

static bool push_own_kernel(tsr_builder *b, const region *r, int l) {
  bool two = has_two_products(b->call);
  tsr_form form = {.transa = b->call->transa, .uplo = b->call->uplo};
  tsr_task task = {.kernel = two ? TSR_KERNEL_HER2K : TSR_KERNEL_HERK,
                   .form = tsr_form_pack(form),
                   .k = tsr_cut_length(&b->tiling->k, l)};
  task.operand[0] = factor(b, TSR_A, l, r->row, r->rows);
  if (two) task.operand[1] = factor(b, TSR_B_, l, r->row, r->rows);
  set_target(b, r, l, 0, 1, &task);
  return push(b, task, r);
}

/* ---- In a form ---- */

/* Adds product `number` for rows of a region that lie in one tile of the left factor. */
static bool push_product_of_lines(tsr_builder *b, const region *r, int number, int products) {
  const tsr_call *call = b->call;
  int left, right;
  tsr_line_factors(call, number, &left, &right);
  tsr_form form = {.uplo = r->diagonal ? call->uplo : TSR_GENERAL,
                   .diag = r->diagonal && is_hermitian(call) ? TSR_UNIT : TSR_NON_UNIT};
  tsr_task task = {.form = tsr_form_pack(form),
                   .m = (int32_t)r->rows,
                   .n = (int32_t)r->part.cols,
                   .k = (int32_t)call->k,
                   .device = device_of(b, r)};
  task.operand[0] = tsr_rectangle(b->graph, left, TSR_READ, 0, call->k, r->row, r->rows);
  task.operand[1] = tsr_rectangle(b->graph, right, TSR_READ, 0, call->k, r->part.col, r->part.cols);
  set_target(b, r, b->first_k_panel, number, products, &task);
  if (number == 1) conjugate_alpha(call, &task);
  return tsr_push_product_of_lines(b, task);
}

static bool push_products_of_lines(tsr_builder *b, const region *r) {
  const tsr_cuts *cuts = &b->tiling->n;
  int products = has_two_products(b->call) ? 2 : 1;
  if (r->diagonal && !push_clearing(b, r)) return false;
  for (int i = 0; i < cuts->count; i++) {
    region part = *r;
    int64_t end = tsr_least(r->row + r->rows, cuts->at[i + 1]);
    part.row = tsr_most(r->row, cuts->at[i]);
    part.rows = end - part.row;
    for (int number = 0; part.rows > 0 && number < products; number++)
      if (!push_product_of_lines(b, &part, number, products)) return false;
  }
  return true;
}

/* ---- All products ---- */

static bool push_product(tsr_builder *b, const region *r, int l) {
  if (tsr_call_has_form(b->call)) return push_products_of_lines(b, r);
  if (r->diagonal && is_hermitian(b->call))
    return (l != b->first_k_panel || push_clearing(b, r)) && push_own_kernel(b, r, l);
  int products = has_two_products(b->call) ? 2 : 1;
  for (int number = 0; number < products; number++)
    if (!push_gemm(b, r, l, number, products)) return false;
  return true;
}

/* ---- Sums and scaling ----------------------------------------------------- */

static uint8_t triangle_form(const tsr_builder *b, const region *r) {
  return tsr_form_pack((tsr_form){.uplo = r->diagonal ? b->call->uplo : TSR_GENERAL});
}

static bool push_addition(tsr_builder *b, const region *r) {
  if (!goes_to_w(b, r)) return true;
  if (!push_clearing(b, r)) return false;
  tsr_task task = {.kernel = TSR_KERNEL_ADD,
                   .form = triangle_form(b, r),
                   .flags = TSR_FLAG_BETA | TSR_FLAG_ALPHA_ONE,
                   .last = true};
  task.operand[0] = region_of(b, TSR_W, true, r);
  task.operand[0].access = TSR_READ;
  task.operand[2] = region_of(b, TSR_C_, b->call->beta != TSR_ZERO || must_clear(b, r), r);
  task.m = (int32_t)r->rows;
  task.n = (int32_t)r->part.cols;
  bool elsewhere = !r->diagonal && b->tiling->adder >= 0;
  task.device = elsewhere ? b->tiling->adder : device_of(b, r);
  return tsr_push_task(b, task);
}

/* Scales a region. A Hermitian diagonal block is scaled by herk without a product, which makes the
 * diagonal real. */
static bool push_scaling(tsr_builder *b, const region *r) {
  if (!push_clearing(b, r)) return false;
  bool own = r->diagonal && is_hermitian(b->call);
  tsr_task task = {.kernel = own ? TSR_KERNEL_HERK : TSR_KERNEL_SCALE,
                   .form = triangle_form(b, r),
                   .flags = TSR_FLAG_BETA,
                   .last = true};
  task.operand[2] = region_of(b, TSR_C_, b->call->beta != TSR_ZERO || must_clear(b, r), r);
  return push(b, task, r);
}

/* If both regions of a part are summed in W by one device, one product computes both: a kernel of
 * its own for the diagonal block would be small, and so slow. */
static int join_products(const tsr_builder *b, region found[2], int count) {
  if (count < 2 || !goes_to_w(b, &found[0]) || !goes_to_w(b, &found[1]) ||
      device_of(b, &found[0]) != device_of(b, &found[1]))
    return count;
  found[0].row = tsr_least(found[0].row, found[1].row);
  found[0].rows += found[1].rows;
  found[0].diagonal = false;
  found[0].trapezoid = true;
  return 1;
}

static bool emit(tsr_builder *b, tsr_part_of_c p, int step) {
  region found[2];
  int count = regions_of(b, p, found);
  if (step >= 0) count = join_products(b, found, count);
  for (int i = 0; i < count; i++) {
    bool pushed = step == TSR_STEP_SCALE ? push_scaling(b, &found[i])
                  : step == TSR_STEP_ADD ? push_addition(b, &found[i])
                                         : push_product(b, &found[i], step);
    if (!pushed) return false;
  }
  return true;
}

/* The diagonal block of a part depends on the part's columns, so all k-panels must have the same
 * n-blocks, unless all of C is summed in W: whatever trapezoids the k-panels have, each of them
 * computes every element of the triangle. */
bool tsr_build_rank(tsr_builder *b) {
  b->uniform = !tsr_sums_triangle_in_w(b->call, b->tiling->lazy);
  b->adds_at_once = true;
  b->emit = emit;
  return tsr_build_parts(b);
}
