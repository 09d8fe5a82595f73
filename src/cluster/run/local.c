/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "cluster/run/local.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/types.h"
#include "cpu/blas.h"

/* ---- Parts of matrices ---------------------------------------------------------- */

/* Whether a failed operation is worth another try: it lacked memory, and the context has dropped
 * its cached blocks. */
static bool has_made_room(const tsr_grid *grid, tsr_status status) {
  return status == TSR_ERR_MEMORY && tsr_trim(grid->context) == TSR_OK;
}

static bool is_on_devices(const tsr_grid *grid, const tsr_local_part *x) {
  return tsr_device_count(grid->context) > 0 && x->rows > 0 && x->cols > 0;
}

static tsr_status settle(const tsr_grid *grid, tsr_type type, const tsr_local_part *x) {
  return tsr_coherent(grid->context, TSR_GENERAL, x->rows, x->cols, x->base, x->ld, type);
}

static tsr_status write_back(const tsr_grid *grid, tsr_type type, const tsr_local_part *x) {
  return tsr_coherent_async(grid->context, TSR_GENERAL, x->rows, x->cols, x->base, x->ld, type);
}

static tsr_status renew(const tsr_grid *grid, tsr_type type, const tsr_local_part *x) {
  return tsr_invalidate(grid->context, x->rows, x->cols, x->base, x->ld, type);
}

typedef tsr_status move(const tsr_grid *grid, tsr_type type, const tsr_local_part *x);

/* Does `what`; if memory is missing, drops the context's cached blocks and does it again. */
static tsr_status try_twice(move *what, const tsr_grid *grid, tsr_type type,
                            const tsr_local_part *x) {
  if (!is_on_devices(grid, x)) return TSR_OK;
  tsr_status status = what(grid, type, x);
  return has_made_room(grid, status) ? what(grid, type, x) : status;
}

tsr_status tsr_local_settle(const tsr_grid *grid, tsr_type type, const tsr_local_part *x) {
  return try_twice(settle, grid, type, x);
}

tsr_status tsr_local_write_back(const tsr_grid *grid, tsr_type type, const tsr_local_part *x) {
  return try_twice(write_back, grid, type, x);
}

tsr_status tsr_local_renew(const tsr_grid *grid, tsr_type type, const tsr_local_part *x) {
  return try_twice(renew, grid, type, x);
}

/* ---- By the CPU's BLAS ------------------------------------------------------------ */

/* Makes a panel slot (the memory of a received panel) readable by the CPU. If slots are in a
 * device's memory, the panel is copied to host memory: *slot and *copy point to the copy, which the
 * caller frees. Otherwise *slot stays and *copy is NULL. */
static tsr_status fetch(const tsr_grid *grid, size_t bytes, const void **slot, void **copy) {
  *copy = NULL;
  if (grid->model.host.up == 0 || bytes == 0) return TSR_OK;
  *copy = tsr_alloc(bytes);
  if (*copy == NULL) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a panel");
  TSR_TRY(tsr_memcpy(grid->context, *copy, *slot, bytes));
  *slot = *copy;
  return TSR_OK;
}

static tsr_status multiply_here(const tsr_local_product *x, const void *a, const void *b) {
  tsr_kernel_args args = {.kernel = TSR_KERNEL_GEMM,
                          .type = x->type,
                          .transa = TSR_NO_TRANS,
                          .transb = TSR_NO_TRANS,
                          .m = x->c.rows,
                          .n = x->c.cols,
                          .k = x->k,
                          .alpha = tsr_scalar_read(x->type, x->alpha),
                          .beta = tsr_scalar_read(x->type, x->beta),
                          .a = a,
                          .b = b,
                          .c = x->c.base,
                          .lda = x->c.rows,
                          .ldb = x->k > 0 ? x->k : 1,
                          .ldc = x->c.ld};
  TSR_TRY(tsr_cpu_blas_load());
  if (!tsr_kernel_reads_inputs(&args)) args = tsr_kernel_without_inputs(&args);
  return tsr_cpu_kernel(&args);
}

/* Computes the product with the CPU's BLAS: first C is written back, and the devices drop it. */
static tsr_status by_cpu(const tsr_grid *grid, const tsr_local_product *x) {
  size_t size = tsr_type_get(x->type)->size;
  const void *a = x->a, *b = x->b;
  void *copies[2] = {NULL, NULL};
  tsr_log(TSR_LOG_INFO, "the CPU's BLAS does a product of this process: %s", tsr_message());
  TSR_TRY(tsr_local_settle(grid, x->type, &x->c));
  TSR_TRY(tsr_local_renew(grid, x->type, &x->c));
  tsr_status status = fetch(grid, (size_t)(x->c.rows * x->k) * size, &a, &copies[0]);
  if (status == TSR_OK) status = fetch(grid, (size_t)(x->k * x->c.cols) * size, &b, &copies[1]);
  if (status == TSR_OK) status = multiply_here(x, a, b);
  tsr_dealloc(copies[0]);
  tsr_dealloc(copies[1]);
  return status;
}

/* ---- Products -------------------------------------------------------------------- */

typedef tsr_status multiplication(const tsr_grid *grid, const tsr_local_product *x);

/* Runs `what`; if memory is missing, again without cached blocks; then with the CPU's BLAS. */
static tsr_status with_or_without_devices(multiplication *what, const tsr_grid *grid,
                                          const tsr_local_product *x) {
  tsr_status status = what(grid, x);
  if (has_made_room(grid, status)) status = what(grid, x);
  return status == TSR_ERR_MEMORY ? by_cpu(grid, x) : status;
}

static tsr_level3 gemm_of(const tsr_local_product *x) {
  return (tsr_level3){.operation = TSR_GEMM,
                      .type = x->type,
                      .layout = TSR_COL_MAJOR,
                      .transa = TSR_NO_TRANS,
                      .transb = TSR_NO_TRANS,
                      .m = x->c.rows,
                      .n = x->c.cols,
                      .k = x->k,
                      .lda = x->c.rows,
                      .ldb = x->k,
                      .ldc = x->c.ld,
                      .arithmetic = x->arithmetic};
}

static tsr_status multiply(const tsr_grid *grid, const tsr_local_product *x) {
  const tsr_level3 what = gemm_of(x);
  return tsr_level3_run_async(grid->context, &what, x->alpha, x->a, x->b, x->beta, x->c.base);
}

tsr_status tsr_local_multiply(const tsr_grid *grid, const tsr_local_product *x) {
  return with_or_without_devices(multiply, grid, x);
}

static tsr_status scale(const tsr_grid *grid, const tsr_local_product *x) {
  const tsr_local_part *c = &x->c;
  return tsr_gemm(grid->context, x->type, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, c->rows,
                  c->cols, 0, x->alpha, NULL, c->ld, NULL, 1, x->beta, c->base, c->ld);
}

tsr_status tsr_local_scale(const tsr_grid *grid, const tsr_local_product *x) {
  return with_or_without_devices(scale, grid, x);
}
