/* GEMM: argument checks and the graph builder. */
#include <inttypes.h>

#include "base/alloc.h"
#include "blas/graph.h"

/* ---- Arguments ------------------------------------------------------------ */

/* Largest extent, so that sums of extents stay far from overflow; check_size looks at products. */
static const int64_t EXTENT_MAX = INT64_C(1) << 40;

static tsr_status check_extent(const char *name, int64_t value) {
  if (value >= 0 && value <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "gemm: %s = %" PRId64 ": give an extent from 0 to %" PRId64,
                  name, value, EXTENT_MAX);
}

static tsr_status check_op(const char *name, tsr_op op) {
  if (op == TSR_NO_TRANS || op == TSR_TRANS || op == TSR_CONJ_TRANS) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "gemm: %s = %d: give TSR_NO_TRANS, TSR_TRANS or TSR_CONJ_TRANS",
                  name, (int)op);
}

static tsr_status check_flags(tsr_type type, tsr_layout layout, tsr_op transa, tsr_op transb) {
  if (!tsr_type_get(type))
    return tsr_fail(TSR_ERR_ARGUMENT, "gemm: type = %d: give one of s d c z h b t", (int)type);
  if (layout != TSR_COL_MAJOR && layout != TSR_ROW_MAJOR)
    return tsr_fail(TSR_ERR_ARGUMENT, "gemm: layout = %d: give TSR_COL_MAJOR or TSR_ROW_MAJOR",
                    (int)layout);
  TSR_TRY(check_op("transa", transa));
  return check_op("transb", transb);
}

/* The leading dimension of a stored rows x cols matrix in the caller's layout. */
static tsr_status check_ld(const char *name, int64_t ld, tsr_layout layout, int64_t rows,
                           int64_t cols) {
  int64_t least = layout == TSR_COL_MAJOR ? rows : cols;
  if (least < 1) least = 1;
  if (ld >= least && ld <= EXTENT_MAX) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "gemm: %s = %" PRId64 ": it must be at least %" PRId64
                  ", the stored %s of the matrix",
                  name, ld, least, layout == TSR_COL_MAJOR ? "rows" : "columns");
}

static tsr_status check_pointer(const char *name, const void *pointer, bool used) {
  if (pointer || !used) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT, "gemm: %s = NULL: give the address of the matrix", name);
}

/* The last element of a stored rows x cols matrix must be within what an address can tell. */
static tsr_status check_size(const char *name, tsr_type type, tsr_layout layout, int64_t rows,
                             int64_t cols, int64_t ld) {
  int64_t most = INT64_MAX / (int64_t)tsr_type_get(type)->size;
  int64_t lines = layout == TSR_COL_MAJOR ? cols : rows;
  if (rows == 0 || cols == 0 || lines <= most / ld) return TSR_OK;
  return tsr_fail(TSR_ERR_ARGUMENT,
                  "gemm: %s is %" PRId64 " x %" PRId64 " with ld%s = %" PRId64
                  ": more than an address can tell; give smaller extents",
                  name, rows, cols, name, ld);
}

static bool transposed(tsr_op op) {
  return op != TSR_NO_TRANS;
}

/* The stored extents of op(X), which is rows x cols. */
static void set_operand(tsr_operand *operand, tsr_op op, int64_t rows, int64_t cols, int64_t ld) {
  operand->rows = transposed(op) ? cols : rows;
  operand->cols = transposed(op) ? rows : cols;
  operand->ld = ld;
}

/* Conjugation means nothing to a real type: one kind of call, not two. */
static tsr_op plain_op(tsr_type type, tsr_op op) {
  return op == TSR_CONJ_TRANS && !tsr_type_get(type)->complex_valued ? TSR_TRANS : op;
}

/* Column-major from here on. */
static void fill_call(tsr_type type, tsr_op transa, tsr_op transb, int64_t m, int64_t n, int64_t k,
                      int64_t lda, int64_t ldb, int64_t ldc, const tsr_binding *binding,
                      tsr_call *call) {
  *call = (tsr_call){.operation = TSR_GEMM,
                     .type = type,
                     .transa = plain_op(type, transa),
                     .transb = plain_op(type, transb),
                     .side = TSR_LEFT,
                     .uplo = TSR_GENERAL,
                     .diag = TSR_NON_UNIT,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = tsr_scalar_classify(binding->alpha),
                     .beta = tsr_scalar_classify(binding->beta)};
  set_operand(&call->operand[TSR_A], transa, m, k, lda);
  set_operand(&call->operand[TSR_B_], transb, k, n, ldb);
  set_operand(&call->operand[TSR_C_], TSR_NO_TRANS, m, n, ldc);
}

tsr_status tsr_call_gemm(tsr_type type, tsr_layout layout, tsr_op transa, tsr_op transb, int64_t m,
                         int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                         const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc,
                         bool check_pointers, tsr_call *call, tsr_binding *binding) {
  TSR_TRY(check_flags(type, layout, transa, transb));
  TSR_TRY(check_extent("m", m));
  TSR_TRY(check_extent("n", n));
  TSR_TRY(check_extent("k", k));
  TSR_TRY(check_pointer("alpha", alpha, true));
  TSR_TRY(check_pointer("beta", beta, true));
  TSR_TRY(check_ld("lda", lda, layout, transposed(transa) ? k : m, transposed(transa) ? m : k));
  TSR_TRY(check_ld("ldb", ldb, layout, transposed(transb) ? n : k, transposed(transb) ? k : n));
  TSR_TRY(check_ld("ldc", ldc, layout, m, n));
  TSR_TRY(
      check_size("a", type, layout, transposed(transa) ? k : m, transposed(transa) ? m : k, lda));
  TSR_TRY(
      check_size("b", type, layout, transposed(transb) ? n : k, transposed(transb) ? k : n, ldb));
  TSR_TRY(check_size("c", type, layout, m, n, ldc));

  tsr_binding bound = {.alpha = tsr_scalar_read(type, alpha), .beta = tsr_scalar_read(type, beta)};
  if (check_pointers) {
    bool writes = m > 0 && n > 0;
    bool reads = writes && k > 0 && tsr_scalar_classify(bound.alpha) != TSR_ZERO;
    TSR_TRY(check_pointer("a", a, reads));
    TSR_TRY(check_pointer("b", b, reads));
    TSR_TRY(check_pointer("c", c, writes));
    if (reads && (c == a || c == b))
      return tsr_fail(TSR_ERR_ARGUMENT,
                      "gemm: c = %p is the same memory as %s: give C a place of its own", c,
                      c == a ? "a" : "b");
  }
  /* A row-major product is the column-major product of the transposes: C' = B' A'. */
  bool swap = layout == TSR_ROW_MAJOR;
  bound.base[TSR_A] = (void *)(swap ? b : a);
  bound.base[TSR_B_] = (void *)(swap ? a : b);
  bound.base[TSR_C_] = c;
  if (swap)
    fill_call(type, transb, transa, n, m, k, ldb, lda, ldc, &bound, call);
  else
    fill_call(type, transa, transb, m, n, k, lda, ldb, ldc, &bound, call);
  *binding = bound;
  return TSR_OK;
}
