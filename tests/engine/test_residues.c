/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels on residues of an engine: the bits are those of the CPU's. */
#include <stdio.h>

#include "arithmetic/arithmetic.h"
#include "arithmetic/judgement.h"
#include "arithmetic/moduli.h"
#include "cpu/blas.h"
#include "harness.h"
#include "../arithmetic/hard_data.h"

typedef struct bench {
  harness h;
  tsr_queue *queue;
} bench;

/* A product c = alpha op(a) op(b) + beta c. Lines are converted in several steps. */
typedef struct residue_case {
  hard_family family;
  tsr_type type;
  tsr_op transa, transb;
  int64_t m, n, k;
  int moduli, steps;
  bool keeps;        /* blocks keep their lines */
  bool by_quantiles; /* overlaps do not decide */
  /* Of row `row` and column `column` of C all products are far below those of their greatest
   * elements, so that their accuracy cannot be promised; that of the others in the row and the
   * column can. */
  bool breaks;
  int64_t row, column;
  tsr_uplo uplo;
  bool hermitian;
  double alpha, beta;
} residue_case;

/* Its matrices, in host memory. */
typedef struct matrices {
  int64_t lda, ldb, ldc;
  size_t size, bytes[3], residues[2];
  char *a, *b, *c;
} matrices;

static void *room(size_t bytes) {
  void *made = calloc(bytes + 64, 1);
  assert_non_null(made);
  return made;
}

/* Writes element h of a line of op(A) (second: op(B)); imaginary parts become 0. */
static void write_element(const residue_case *t, const matrices *x, bool second, int64_t line,
                          int64_t h, double value) {
  bool down = ((second ? t->transb : t->transa) == TSR_NO_TRANS) == second;
  int64_t ld = second ? x->ldb : x->lda, at = down ? h + line * ld : line + h * ld;
  int parts = hard_parts(t->type);
  for (int part = 0; part < parts; part++)
    hard_write(t->type, second ? x->b : x->a, at * parts + part, part == 0 ? value : 0);
}

/* Row (1, 2^-20, 0, ..) and column (0, 1, 0, ..). */
static void break_element(const residue_case *t, const matrices *x) {
  for (int64_t h = 0; h < t->k; h++) {
    write_element(t, x, false, t->row, h, h == 0 ? 1 : h == 1 ? 0x1p-20 : 0);
    write_element(t, x, true, t->column, h, h == 1);
  }
}

static matrices make(const residue_case *t) {
  bool plain_a = t->transa == TSR_NO_TRANS, plain_b = t->transb == TSR_NO_TRANS;
  matrices x = {.size = tsr_type_get(t->type)->size};
  x.lda = (plain_a ? t->m : t->k) + 3;
  x.ldb = (plain_b ? t->k : t->n) + 1;
  x.ldc = t->m + 2;
  x.bytes[0] = (size_t)(x.lda * (plain_a ? t->k : t->m)) * x.size;
  x.bytes[1] = (size_t)(x.ldb * (plain_b ? t->n : t->k)) * x.size;
  x.bytes[2] = (size_t)(x.ldc * t->n) * x.size;
  x.residues[0] = tsr_form_bytes(tsr_residues_of(t->moduli),
                                 &(tsr_promise){.keeps_lines = t->keeps}, t->type, t->k, t->m);
  x.residues[1] = tsr_form_bytes(tsr_residues_of(t->moduli),
                                 &(tsr_promise){.keeps_lines = t->keeps}, t->type, t->k, t->n);
  x.a = room(x.bytes[0]);
  x.b = room(x.bytes[1]);
  x.c = room(x.bytes[2]);
  hard_fill(t->family, t->type, false, t->transa, t->m, t->k, x.lda, 3, x.a);
  hard_fill(t->family, t->type, true, t->transb, t->n, t->k, x.ldb, 3, x.b);
  hard_fill(HARD_UNIFORM, t->type, true, TSR_NO_TRANS, t->n, t->m, x.ldc, 5, x.c);
  if (t->breaks) break_element(t, &x);
  return x;
}

/* The kernel that makes lines [first, end) of a (second: of b). */
static tsr_kernel_args conversion(const residue_case *t, const matrices *x, bool second,
                                  int64_t first, int64_t end, const char *from, void *to) {
  tsr_op op = second ? t->transb : t->transa;
  bool down = (op == TSR_NO_TRANS) == second;
  int64_t ld = second ? x->ldb : x->lda;
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUES,
                          .type = t->type,
                          .transa = down ? TSR_NO_TRANS : TSR_TRANS,
                          .transb = op == TSR_CONJ_TRANS ? op : TSR_NO_TRANS,
                          .m = t->k,
                          .n = end - first,
                          .alpha = {1, 0},
                          .a = from + (down ? first * ld : first) * (int64_t)x->size,
                          .lda = ld,
                          .c = to,
                          .ldc = tsr_residues_ld(t->k)};
  args.lines.arithmetic = tsr_residues_of(t->moduli);
  args.lines.keeps_lines = t->keeps;
  args.lines.of[2] = (tsr_lines_range){first, second ? t->n : t->m};
  return args;
}

static tsr_kernel_args product(const residue_case *t, const matrices *x, const void *ra,
                               const void *rb, void *c, int32_t *verdict) {
  tsr_kernel_args args = {.kernel = TSR_KERNEL_RESIDUE_GEMM,
                          .type = t->type,
                          .transa = TSR_TRANS,
                          .transb = TSR_NO_TRANS,
                          .uplo = t->uplo,
                          .diag = t->hermitian ? TSR_UNIT : TSR_NON_UNIT,
                          .m = t->m,
                          .n = t->n,
                          .k = t->k,
                          .alpha = {t->alpha, 0.5 * hard_parts(t->type) - 0.5},
                          .beta = {t->beta, 0},
                          .a = ra,
                          .b = rb,
                          .c = c,
                          .lda = tsr_residues_ld(t->k),
                          .ldb = tsr_residues_ld(t->k),
                          .ldc = x->ldc};
  args.lines = (tsr_lines_args){.arithmetic = tsr_residues_of(t->moduli),
                                .keeps_lines = t->keeps,
                                .tolerance = tsr_moduli_tolerance(t->type, t->moduli, t->k),
                                .overlaps = !t->by_quantiles,
                                .of = {{0, t->m}, {0, t->n}, {0, 0}}};
  args.verdict = verdict;
  return args;
}

/* Where a matrix is on the device, and pinned memory to bring it there and back. */
typedef struct operand {
  void *pinned, *device;
  size_t bytes;
} operand;

static operand operand_of(bench *b, const void *from, size_t bytes) {
  operand x = {take(&b->h, TSR_HOST, bytes), take(&b->h, 0, bytes), bytes};
  tsr_copy_args copy = plain_copy(x.device, 0, x.pinned, TSR_HOST, bytes);
  if (from == NULL) return x;
  memcpy(x.pinned, from, bytes);
  OK(b->h.engine->copy(b->queue, &copy));
  return x;
}

static void fetch(bench *b, const operand *x) {
  tsr_copy_args copy = plain_copy(x->pinned, TSR_HOST, x->device, 0, x->bytes);
  OK(b->h.engine->copy(b->queue, &copy));
}

static void drop(bench *b, const operand *x) {
  b->h.engine->free(b->h.state, 0, x->device);
  b->h.engine->free(b->h.state, TSR_HOST, x->pinned);
}

static void run_kernel(bench *b, const tsr_kernel_args *args) {
  if (b != NULL)
    OK(b->h.engine->kernel(b->queue, args));
  else
    OK(tsr_cpu_kernel(args));
}

static void convert_all(bench *b, const residue_case *t, const matrices *x, bool second,
                        const char *from, void *to) {
  int64_t lines = second ? t->n : t->m;
  for (int s = 0; s < t->steps; s++) {
    tsr_kernel_args args =
        conversion(t, x, second, lines * s / t->steps, lines * (s + 1) / t->steps, from, to);
    if (args.n > 0) run_kernel(b, &args);
  }
}

static void check_same(const residue_case *t, const char *what, const void *engine, const void *cpu,
                       size_t bytes) {
  if (memcmp(engine, cpu, bytes) == 0) return;
  size_t at = 0;
  while (((const char *)engine)[at] == ((const char *)cpu)[at]) at++;
  fail_msg("%s, %c, %lld x %lld x %lld, %d moduli: %s differ at byte %zu of %zu",
           hard_names[t->family], (char)t->type, (long long)t->m, (long long)t->n, (long long)t->k,
           t->moduli, what, at, bytes);
}

/* One bit pattern for all NaN, whose signs and payloads differ from device to device. */
static void unify(tsr_type type, void *c, size_t bytes) {
  size_t size = hard_is_single(type) ? sizeof(float) : sizeof(double);
  for (size_t i = 0; i < bytes / size; i++)
    if (isnan(hard_read(type, c, (int64_t)i))) hard_write(type, c, (int64_t)i, NAN);
}

/* The same in the lines that a block of residues keeps. */
static void unify_kept(const residue_case *t, int64_t lines, char *block) {
  int64_t ld = tsr_residues_ld(t->k);
  int planes = tsr_arithmetic_planes(tsr_residues_of(t->moduli), t->type);
  size_t bytes = (size_t)(ld * lines) * tsr_type_get(t->type)->size;
  if (t->keeps) unify(t->type, block + tsr_residues_kept(ld, lines, planes), bytes);
}

/* Returns whether the product is refused. */
static bool run_case(bench *b, const residue_case *t) {
  matrices x = make(t);
  operand a = operand_of(b, x.a, x.bytes[0]), bb = operand_of(b, x.b, x.bytes[1]);
  operand c = operand_of(b, x.c, x.bytes[2]), ra = operand_of(b, NULL, x.residues[0]);
  operand rb = operand_of(b, NULL, x.residues[1]);
  int32_t *verdict = take(&b->h, TSR_HOST, 16), cpu_verdict = 0;
  *verdict = 0;
  char *cpu_ra = room(x.residues[0]), *cpu_rb = room(x.residues[1]);
  convert_all(b, t, &x, false, a.device, ra.device);
  convert_all(b, t, &x, true, bb.device, rb.device);
  tsr_kernel_args args = product(t, &x, ra.device, rb.device, c.device, verdict);
  run_kernel(b, &args);
  fetch(b, &ra), fetch(b, &rb), fetch(b, &c);
  OK(drain(&b->h, b->queue, 0));
  convert_all(NULL, t, &x, false, x.a, cpu_ra);
  convert_all(NULL, t, &x, true, x.b, cpu_rb);
  args = product(t, &x, cpu_ra, cpu_rb, x.c, &cpu_verdict);
  args.lines.overlaps = args.lines.overlaps && b->h.engine->traits.overlaps;
  run_kernel(NULL, &args);
  unify_kept(t, t->m, ra.pinned), unify_kept(t, t->m, cpu_ra);
  unify_kept(t, t->n, rb.pinned), unify_kept(t, t->n, cpu_rb);
  check_same(t, "residues of A", ra.pinned, cpu_ra, x.residues[0]);
  check_same(t, "residues of B", rb.pinned, cpu_rb, x.residues[1]);
  unify(t->type, c.pinned, x.bytes[2]), unify(t->type, x.c, x.bytes[2]);
  check_same(t, "elements of C", c.pinned, x.c, x.bytes[2]);
  if (*verdict != cpu_verdict)
    fail_msg("%s, %c, %lld x %lld x %lld, %d moduli: verdict %d, on the CPU %d",
             hard_names[t->family], (char)t->type, (long long)t->m, (long long)t->n,
             (long long)t->k, t->moduli, *verdict, cpu_verdict);
  drop(b, &a), drop(b, &bb), drop(b, &c), drop(b, &ra), drop(b, &rb);
  b->h.engine->free(b->h.state, TSR_HOST, verdict);
  free(cpu_ra), free(cpu_rb), free(x.a), free(x.b), free(x.c);
  return cpu_verdict != 0;
}

static bench open_bench(void) {
  bench b = {.h = harness_open(&(tsr_engine_options){.count = 1})};
  if (!b.h.engine->traits.forms) {
    harness_close(&b.h);
    skip();
  }
  b.queue = queue_of(&b.h, 0, TSR_QUEUE_COMPUTE);
  return b;
}

static void close_bench(bench *b) {
  b->h.engine->queue_destroy(b->queue);
  harness_close(&b->h);
}

/* Every family of data, every type and all ways in which matrices are stored. */
static void bits_are_those_of_the_cpu(void **state) {
  (void)state;
  const tsr_type types[] = {TSR_D, TSR_S, TSR_Z, TSR_C};
  bench b = open_bench();
  for (int family = 0; family < HARD_FAMILIES; family++)
    for (int variant = 0; variant < 32; variant++) {
      residue_case t = {.family = (hard_family)family,
                        .type = types[(variant & 1) + variant / 8 % 2 * 2],
                        .keeps = variant >= 16,
                        .transa = variant & 2 ? TSR_CONJ_TRANS : TSR_NO_TRANS,
                        .transb = variant & 4 ? TSR_TRANS : TSR_NO_TRANS,
                        .m = 30 + variant % 16,
                        .n = 41 - variant % 16,
                        .k = 50 + 37 * (variant % 8),
                        .steps = 1 + variant % 3,
                        .alpha = variant & 2 ? -1.75 : 1,
                        .beta = variant & 4 ? 0.3 : 0};
      t.moduli = tsr_moduli_of_type(t.type) + (variant & 2 ? 1 : 0);
      run_case(&b, &t);
    }
  close_bench(&b);
}

/* A triangle of C, refused or not, symmetric or Hermitian; larger than what a thread block of a GPU
 * computes. */
static void triangles_are_those_of_the_cpu(void **state) {
  (void)state;
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  bench b = open_bench();
  for (int variant = 0; variant < 64; variant++) {
    tsr_type type = types[variant % 4];
    residue_case t = {.family = variant & 4 ? HARD_SPREAD : HARD_UNIFORM,
                      .type = type,
                      .transa = TSR_NO_TRANS,
                      .transb = TSR_TRANS,
                      .m = 67 + variant,
                      .n = 67 + variant,
                      .k = 35,
                      .moduli = tsr_moduli_of_type(type),
                      .steps = 1,
                      .keeps = variant & 8,
                      .uplo = variant & 16 ? TSR_LOWER : TSR_UPPER,
                      .hermitian = hard_parts(type) == 2 && variant & 8,
                      .alpha = 2,
                      .beta = variant & 32 ? 0.5 : 0};
    run_case(&b, &t);
  }
  close_bench(&b);
}

/* A product that quantiles refuse. */
static residue_case undecided_case(tsr_type type, int variant) {
  return (residue_case){.family = HARD_HILBERT,
                        .type = type,
                        .transa = variant & 1 ? TSR_CONJ_TRANS : TSR_NO_TRANS,
                        .transb = variant & 2 ? TSR_TRANS : TSR_NO_TRANS,
                        .m = 140 + variant,
                        .n = 131 + variant,
                        .k = 90 + 13 * variant,
                        .moduli = tsr_moduli_of_type(type) + 1,
                        .steps = 1,
                        .keeps = variant & 1,
                        .alpha = 1,
                        .beta = variant & 2 ? 0.25 : 0};
}

static void check_verdict(bench *b, const residue_case *t, bool refused) {
  if (run_case(b, t) != refused)
    fail_msg("%c, %lld x %lld x %lld is%s refused", (char)t->type, (long long)t->m, (long long)t->n,
             (long long)t->k, refused ? " not" : "");
}

/* Where quantiles promise nothing, overlaps do, unless one element of C cannot be promised that is
 * written. */
static void overlaps_decide(void **state) {
  (void)state;
  const tsr_type types[] = {TSR_S, TSR_D, TSR_C, TSR_Z};
  bench b = open_bench();
  if (!b.h.engine->traits.overlaps) {
    close_bench(&b);
    skip();
  }
  for (int variant = 0; variant < 16; variant++) {
    residue_case t = undecided_case(types[variant % 4], variant / 4);
    t.by_quantiles = true;
    check_verdict(&b, &t, true);
    t.by_quantiles = false;
    check_verdict(&b, &t, false);
    t.breaks = true; /* in turn in each of the tiles that a GPU's blocks judge */
    t.row = variant & 4 ? t.m - 1 : 1, t.column = variant & 8 ? t.n - 1 : 0;
    check_verdict(&b, &t, true);
    t.m = t.n, t.row = t.n - 1, t.column = 2, t.uplo = TSR_LOWER;
    check_verdict(&b, &t, true);
    t.uplo = TSR_UPPER;
    check_verdict(&b, &t, false);
  }
  close_bench(&b);
}

/* More lines than a device has room for at once: 511 of the longest that overlaps judge, or 2047 on
 * GPUs with a kernel of our own for the products. That takes long and 4 GB, so it is done only if
 * TSR_TEST_LINES says with how many. */
static void overlaps_decide_in_parts(void **state) {
  (void)state;
  const char *asked = getenv("TSR_TEST_LINES");
  if (asked == NULL) skip();
  int64_t lines = atoll(asked);
  bench b = open_bench();
  for (int variant = 0; variant < 4; variant++) {
    residue_case t = {.family = HARD_SPARSE,
                      .type = TSR_S,
                      .transa = TSR_TRANS,
                      .transb = TSR_NO_TRANS,
                      .m = variant & 1 ? lines : 5,
                      .n = variant & 1 ? 5 : lines,
                      .k = TSR_OVERLAPS_LONGEST,
                      .moduli = TSR_MODULI_LEAST,
                      .steps = 1,
                      .alpha = 1,
                      .breaks = variant & 2};
    t.row = t.m - 1, t.column = t.n - 1;
    check_verdict(&b, &t, t.breaks);
  }
  close_bench(&b);
}

/* Extents of 1, odd ones, sums in several parts, and C in several parts. */
static void shapes_do_not_matter(void **state) {
  (void)state;
  static const int64_t shapes[][3] = {{1, 1, 1},     {1, 70, 33},    {67, 1, 129},  {3, 2, 16},
                                      {5, 6, 70000}, {4, 3, 131073}, {257, 130, 64}};
  bench b = open_bench();
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int moduli = TSR_MODULI_LEAST; moduli <= TSR_MODULI_MOST; moduli += 6) {
      residue_case t = {.family = HARD_INTEGER,
                        .type = moduli > 8 ? TSR_D : TSR_C,
                        .transa = TSR_NO_TRANS,
                        .transb = TSR_CONJ_TRANS,
                        .m = shapes[i][0],
                        .n = shapes[i][1],
                        .k = shapes[i][2],
                        .moduli = moduli,
                        .steps = 1,
                        .alpha = 0.5,
                        .beta = 1};
      run_case(&b, &t);
    }
  close_bench(&b);
}

/* More rows and columns than one part of C has on a GPU; on the CPU that would take long. */
static void parts_of_c_fit_together(void **state) {
  (void)state;
  bool small = harness_emulates();
  bench b = open_bench();
  residue_case t = {.family = HARD_UNIFORM,
                    .type = TSR_D,
                    .transa = TSR_TRANS,
                    .transb = TSR_NO_TRANS,
                    .m = small ? 130 : 2310,
                    .n = small ? 120 : 2611,
                    .k = 40,
                    .moduli = 14,
                    .steps = 2,
                    .alpha = -1,
                    .beta = 2};
  run_case(&b, &t);
  close_bench(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bits_are_those_of_the_cpu), cmocka_unit_test(triangles_are_those_of_the_cpu),
      cmocka_unit_test(overlaps_decide),           cmocka_unit_test(overlaps_decide_in_parts),
      cmocka_unit_test(shapes_do_not_matter),      cmocka_unit_test(parts_of_c_fit_together),
  };
  cmocka_set_test_filter(getenv("TSR_TEST_ONLY")); /* a pattern of names; none: all */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
