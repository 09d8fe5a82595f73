#include "verify_level3.h"

static const scalar one = {1, 0};

/* ---- Operands as matrices ---- */

static lanes_matrix general(const verify_call *call, int operand, tsr_op op) {
  return (lanes_matrix){.view = matrix_op(call->stored[operand], op)};
}

/* The A of symm, hemm, trmm and trsm. */
static lanes_matrix structured_a(const verify_call *call) {
  const tsr_level3 *w = &call->what;
  bool triangular = w->operation == TSR_TRMM || w->operation == TSR_TRSM;
  lanes_matrix a = {call->stored[0], LANES_SYMMETRIC, w->uplo, w->diag == TSR_UNIT};
  if (operation_get(w->operation)->hermitian) a.structure = LANES_HERMITIAN;
  if (!triangular) return a;
  a.structure = LANES_TRIANGULAR;
  return lanes_matrix_op(a, w->transa);
}

/* What is written, as the formula sees it: a stored triangle stands for a whole symmetric or
 * Hermitian matrix, but that of gemmt for itself. */
static lanes_matrix written(const verify_call *call) {
  const operation_info *info = operation_get(call->what.operation);
  lanes_matrix c = {call->stored[2], LANES_GENERAL, call->what.uplo, false};
  if (info->triangle) c.structure = info->hermitian ? LANES_HERMITIAN : LANES_SYMMETRIC;
  if (call->what.operation == TSR_GEMMT) c.structure = LANES_TRIANGULAR;
  return c;
}

/* ---- Terms ---- */

/* sum = sum + factor M x */
static bool add_applied(const lanes_matrix *m, const lanes *x, scalar factor, lanes *sum) {
  lanes y = {0};
  bool good = lanes_apply(m, x, &y);
  if (good) lanes_add(sum, &y, factor);
  lanes_destroy(&y);
  return good;
}

/* sum = sum + factor L R x */
static bool add_product(lanes_matrix left, lanes_matrix right, const lanes *x, scalar factor,
                        lanes *sum) {
  lanes y = {0};
  bool good = lanes_apply(&right, x, &y) && add_applied(&left, &y, factor, sum);
  lanes_destroy(&y);
  return good;
}

static bool add_triangle(const verify_call *call, const lanes *x, lanes *sum) {
  lanes y = {0};
  matrix_view a = matrix_op(call->stored[0], call->what.transa);
  matrix_view b = matrix_op(call->stored[1], call->what.transb);
  bool good = lanes_apply_triangle(&a, &b, call->what.uplo, x, &y);
  if (good) lanes_add(sum, &y, call->alpha);
  lanes_destroy(&y);
  return good;
}

/* alpha op(A) op(A)^T, or with B both of its terms; ^H for the Hermitian ones. */
static bool add_rank_k(const verify_call *call, const lanes *x, lanes *sum) {
  const tsr_level3 *w = &call->what;
  bool hermitian = operation_get(w->operation)->hermitian;
  tsr_op turn = hermitian ? TSR_CONJ_TRANS : TSR_TRANS;
  lanes_matrix a = general(call, 0, w->transa);
  scalar alpha = call->alpha;
  if (!operation_has(w->operation, 1)) {
    return add_product(a, lanes_matrix_op(a, turn), x, alpha, sum);
  }
  lanes_matrix b = general(call, 1, w->transa);
  scalar second = {alpha.re, hermitian ? -alpha.im : alpha.im};
  return add_product(a, lanes_matrix_op(b, turn), x, alpha, sum) &&
         add_product(b, lanes_matrix_op(a, turn), x, second, sum);
}

/* alpha A B or alpha B A */
static bool add_sided(const verify_call *call, lanes_matrix b, const lanes *x, lanes *sum) {
  lanes_matrix a = structured_a(call);
  bool left = call->what.side == TSR_LEFT;
  return add_product(left ? a : b, left ? b : a, x, call->alpha, sum);
}

/* The part of the formula that is multiplied by alpha. */
static bool add_alpha_part(const verify_call *call, const lanes *x, lanes *sum) {
  const tsr_level3 *w = &call->what;
  lanes_matrix c = written(call);
  switch (w->operation) {
    case TSR_GEMM:
      return add_product(general(call, 0, w->transa), general(call, 1, w->transb), x, call->alpha,
                         sum);
    case TSR_GEMMT:
      return add_triangle(call, x, sum);
    case TSR_SYMM:
    case TSR_HEMM:
      return add_sided(call, general(call, 1, TSR_NO_TRANS), x, sum);
    case TSR_TRMM:
      return add_sided(call, c, x, sum);
    case TSR_TRSM:
      return add_applied(&c, x, call->alpha, sum);
    default:
      return add_rank_k(call, x, sum);
  }
}

static bool is_zero(scalar value) {
  return value.re == 0 && value.im == 0;
}

/* What BLAS does not read is not read here either. */
bool verify_expect(const verify_call *call, verify_sums *sums) {
  const tsr_level3 *w = &call->what;
  bool has_beta = w->operation != TSR_TRMM && w->operation != TSR_TRSM;
  lanes_matrix c = written(call);
  if (!lanes_create(&sums->x, w->n) || !lanes_create(&sums->wanted, w->m)) return false;
  lanes_randomise(&sums->x);
  bool good = true;
  if (!is_zero(call->alpha) && w->k > 0) good = add_alpha_part(call, &sums->x, &sums->wanted);
  if (good && has_beta && !is_zero(call->beta)) {
    good = add_applied(&c, &sums->x, call->beta, &sums->wanted);
  }
  return good;
}

/* ---- The result ---- */

static bool apply_result(const verify_call *call, const lanes *x, lanes *got) {
  lanes_matrix c = written(call);
  if (call->what.operation != TSR_TRSM) return add_applied(&c, x, one, got);
  lanes_matrix a = structured_a(call);
  bool left = call->what.side == TSR_LEFT;
  return add_product(left ? a : c, left ? c : a, x, one, got);
}

bool verify_result_of(const verify_call *call, verify_sums *sums, verify_result *result) {
  const tsr_level3 *w = &call->what;
  lanes got = {0};
  bool good = lanes_create(&got, w->m) && apply_result(call, &sums->x, &got);
  if (good) {
    bool two_products = w->operation == TSR_SYR2K || w->operation == TSR_HER2K;
    /* A solution errs by what the sums of its equation may: by |A| |X|, not by |B| alone. */
    for (int64_t i = 0; w->operation == TSR_TRSM && i < w->m; i++) {
      sums->wanted.size[i] += got.size[i];
    }
    verify_compare(w->type, w->n, two_products ? 2 * w->k : w->k, &got, &sums->wanted, result);
  }
  lanes_destroy(&got);
  return good;
}

void verify_end(verify_sums *sums) {
  lanes_destroy(&sums->x);
  lanes_destroy(&sums->wanted);
}
