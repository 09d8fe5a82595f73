/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels on residues in plain C: what emulated devices run, and what GPUs are compared with.
 */
#include "arithmetic/arithmetic.h"
#include "arithmetic/cpu_residues.h"
#include "arithmetic/judgement.h"
#include "arithmetic/moduli.h"

/* ---- Making residues --------------------------------------------------------- */

/* A line of op(a): k elements, `step` elements apart. parts: numbers of an element. */
typedef struct line_elements {
  tsr_type type;
  const void *first;
  int64_t step, k;
  int parts;
  bool conjugated;
} line_elements;

/* Part 0, the real one, or 1 of an element; a real element has no other. */
static double part_of(const line_elements *line, int64_t h, int part) {
  int64_t at = h * line->step * line->parts + part;
  if (part >= line->parts) return 0;
  double value = tsr_type_get(line->type)->size == sizeof(float) * (size_t)line->parts
                     ? (double)((const float *)line->first)[at]
                     : ((const double *)line->first)[at];
  return part == 1 && line->conjugated ? -value : value;
}

static tsr_line measure(const line_elements *line, double root) {
  tsr_line_sums sums = {0};
  double most = 0;
  for (int64_t h = 0; h < line->k; h++)
    for (int part = 0; part < line->parts; part++)
      most = tsr_greater(most, fabs(part_of(line, h, part)));
  if (most > 0 && most < INFINITY) {
    int top = tsr_top_of(most);
    for (int64_t h = 0; h < line->k; h++)
      tsr_line_add(&sums, fabs(part_of(line, h, 0)), fabs(part_of(line, h, 1)), top);
  }
  return tsr_line_of(&sums, most, line->k * line->parts, root);
}

/* Writes the residues of an element to byte `to` of each plane. */
static void convert_element(const tsr_moduli *moduli, int parts, int64_t re, int64_t im, int8_t *to,
                            int64_t plane) {
  int count = moduli->count;
  for (int l = 0; l < count; l++) {
    int32_t p = moduli->modulus[l], r = tsr_residue(re, p), i = tsr_residue(im, p);
    to[l * plane] = (int8_t)r;
    if (parts == 1) continue;
    to[(count + l) * plane] = (int8_t)i;
    to[(2 * count + l) * plane] = (int8_t)tsr_residue(r + i, p);
  }
}

/* Writes the line's residues to line `to` of each plane; 0 for a line that is not finite. */
static void convert(const line_elements *line, const tsr_line *record, const tsr_moduli *moduli,
                    int8_t *to, int64_t ld, int64_t plane) {
  bool finite = record->exponent != TSR_LINE_NOT_FINITE;
  for (int64_t h = 0; h < ld; h++) {
    bool used = finite && h < line->k;
    int64_t re = used ? (int64_t)tsr_rounded(part_of(line, h, 0), record->exponent) : 0;
    int64_t im = used ? (int64_t)tsr_rounded(part_of(line, h, 1), record->exponent) : 0;
    convert_element(moduli, line->parts, re, im, to + h, plane);
  }
}

static tsr_line *records_of(const tsr_kernel_args *x, const void *block, int64_t ld, int operand) {
  tsr_lines_range lines = x->lines.of[operand];
  const tsr_lines_args *r = &x->lines;
  int element =
      tsr_form_element(r->arithmetic, &(tsr_promise){.keeps_lines = r->keeps_lines}, x->type);
  return (tsr_line *)((char *)block + tsr_residues_records(ld, lines.lines, element)) + lines.first;
}

/* The first of the kernel's lines that the block keeps. */
static void *kept_of(const tsr_kernel_args *x, const void *block, int64_t ld, int operand) {
  tsr_lines_range lines = x->lines.of[operand];
  int planes = tsr_arithmetic_planes(x->lines.arithmetic, x->type);
  size_t before = (size_t)lines.first * (size_t)ld * tsr_type_get(x->type)->size;
  return (char *)block + tsr_residues_kept(ld, lines.lines, planes) + before;
}

static int parts_of(tsr_type type) {
  return tsr_type_get(type)->complex_valued ? 2 : 1;
}

/* Copies a line, with zeros from element k to ld - 1. */
static void keep(const line_elements *line, void *to, int64_t ld) {
  bool single = line->type == TSR_S || line->type == TSR_C;
  for (int64_t e = 0; e < ld * line->parts; e++) {
    int64_t h = e / line->parts;
    double value = h < line->k ? part_of(line, h, (int)(e % line->parts)) : 0;
    if (single)
      ((float *)to)[e] = (float)value;
    else
      ((double *)to)[e] = value;
  }
}

static void make_residues(const tsr_kernel_args *x) {
  const tsr_lines_range *to = &x->lines.of[2];
  tsr_moduli moduli;
  tsr_moduli_fill(x->lines.arithmetic->number, &moduli);
  tsr_line *records = records_of(x, x->c, x->ldc, 2);
  size_t size = tsr_type_get(x->type)->size;
  line_elements line = {.type = x->type,
                        .step = tsr_kernel_offset(x->transa, 1, 0, x->lda),
                        .k = x->m,
                        .parts = parts_of(x->type),
                        .conjugated = x->transb == TSR_CONJ_TRANS};
  for (int64_t i = 0; i < x->n; i++) {
    int64_t start = tsr_kernel_offset(x->transa, 0, i, x->lda);
    line.first = (const char *)x->a + start * (int64_t)size;
    records[i] = measure(&line, moduli.root);
    convert(&line, &records[i], &moduli, (int8_t *)x->c + (to->first + i) * x->ldc, x->ldc,
            to->lines * x->ldc);
    if (x->lines.keeps_lines)
      keep(&line, (char *)kept_of(x, x->c, x->ldc, 2) + (size_t)(i * x->ldc) * size, x->ldc);
  }
}

/* ---- Products ------------------------------------------------------------------ */

/* The most products of two residues, each up to 2^14, whose sum fits 32 bits. */
enum { PART = 1 << 16 };

static int32_t dot(const int8_t *a, const int8_t *b, int64_t count) {
  int32_t sum = 0;
  for (int64_t h = 0; h < count; h++) sum += a[h] * b[h];
  return sum;
}

/* The residue of the product of two lines of one plane. */
static int32_t product_modulo(const int8_t *a, const int8_t *b, int64_t k, int32_t p) {
  int64_t sum = 0;
  for (int64_t h = 0; h < k; h += PART)
    sum += tsr_residue(dot(a + h, b + h, k - h < PART ? k - h : PART), p);
  return tsr_residue(sum, p);
}

static const int8_t *line_at(const void *block, int64_t ld, tsr_lines_range of, int plane,
                             int64_t i) {
  return (const int8_t *)block + ((int64_t)plane * of.lines + of.first + i) * ld;
}

static bool is_zero(tsr_scalar s) {
  return s.re == 0 && s.im == 0;
}

/* An element of c; 0 if it is not used. */
static tsr_complex read_c(const tsr_kernel_args *x, int64_t at) {
  const float *s = x->c;
  const double *d = x->c;
  if (is_zero(x->beta)) return (tsr_complex){0, 0};
  switch (x->type) {
    case TSR_S:
      return (tsr_complex){(double)s[at], 0};
    case TSR_D:
      return (tsr_complex){d[at], 0};
    case TSR_C:
      return (tsr_complex){(double)s[2 * at], (double)s[2 * at + 1]};
    default:
      return (tsr_complex){d[2 * at], d[2 * at + 1]};
  }
}

static void write_c(const tsr_kernel_args *x, int64_t at, tsr_complex value) {
  float *s = x->c;
  double *d = x->c;
  switch (x->type) {
    case TSR_S:
      s[at] = (float)value.re;
      break;
    case TSR_D:
      d[at] = value.re;
      break;
    case TSR_C:
      s[2 * at] = (float)value.re;
      s[2 * at + 1] = (float)value.im;
      break;
    default:
      d[2 * at] = value.re;
      d[2 * at + 1] = value.im;
  }
}

/* The residue of the product of line i of a and line j of b in a plane of modulus p. */
static int32_t in_plane(const tsr_kernel_args *x, int plane, int32_t p, int64_t i, int64_t j) {
  const tsr_lines_range *of = x->lines.of;
  return product_modulo(line_at(x->a, x->lda, of[0], plane, i),
                        line_at(x->b, x->ldb, of[1], plane, j), x->k, p);
}

static tsr_complex multiply_real(const tsr_kernel_args *x, const tsr_moduli *moduli, int64_t i,
                                 int64_t j, int power, double c) {
  tsr_recovery r = tsr_recovery_start();
  for (int l = 0; l < moduli->count; l++)
    tsr_recovery_add(&r, moduli, l, in_plane(x, l, moduli->modulus[l], i, j));
  return (tsr_complex){tsr_recovered_update(tsr_recovery_end(&r, moduli), power,
                                            tsr_scaling_of(x->alpha.re), x->beta.re, c),
                       0};
}

/* Multiplies complex numbers by three products (Karatsuba), which is exact on residues. */
static tsr_complex multiply_complex(const tsr_kernel_args *x, const tsr_moduli *moduli, int64_t i,
                                    int64_t j, int power, tsr_complex c) {
  tsr_recovery re = tsr_recovery_start(), im = tsr_recovery_start();
  int count = moduli->count;
  for (int l = 0; l < count; l++) {
    int32_t p = moduli->modulus[l], reals = in_plane(x, l, p, i, j);
    int32_t imaginaries = in_plane(x, count + l, p, i, j);
    int32_t sums = in_plane(x, 2 * count + l, p, i, j);
    tsr_recovery_add(&re, moduli, l, tsr_residue(reals - imaginaries, p));
    tsr_recovery_add(&im, moduli, l, tsr_residue(sums - reals - imaginaries, p));
  }
  return tsr_recovered_complex(tsr_recovery_end(&re, moduli), tsr_recovery_end(&im, moduli), power,
                               (tsr_complex){x->alpha.re, x->alpha.im},
                               (tsr_complex){x->beta.re, x->beta.im}, c);
}

/* Rows *begin .. *end-1 of column j of c that the kernel writes. */
static void rows_of(const tsr_kernel_args *x, int64_t j, int64_t *begin, int64_t *end) {
  tsr_uplo uplo = x->uplo == 0 ? TSR_GENERAL : x->uplo;
  tsr_triangle_rows(uplo, j, x->m, begin, end);
}

/* The old element of c; of a Hermitian c the diagonal is real. */
static tsr_complex old_c(const tsr_kernel_args *x, int64_t i, int64_t j) {
  tsr_complex c = read_c(x, i + j * x->ldc);
  if (x->diag == TSR_UNIT && i == j) c.im = 0;
  return c;
}

static void write_result(const tsr_kernel_args *x, int64_t i, int64_t j, tsr_complex c) {
  if (x->diag == TSR_UNIT && i == j) c.im = 0;
  write_c(x, i + j * x->ldc, c);
}

static void multiply_lines(const tsr_kernel_args *x, const tsr_moduli *moduli, int64_t i, int64_t j,
                           int power) {
  tsr_complex c = old_c(x, i, j);
  write_result(x, i, j,
               parts_of(x->type) == 2 ? multiply_complex(x, moduli, i, j, power, c)
                                      : multiply_real(x, moduli, i, j, power, c.re));
}

/* Whether the accuracy can be promised for the whole block. */
static bool judge(const tsr_kernel_args *x, const tsr_line *rows, const tsr_line *columns) {
  tsr_worst a = tsr_worst_start(), b = tsr_worst_start();
  for (int64_t i = 0; i < x->m; i++) tsr_worst_add(&a, &rows[i]);
  for (int64_t j = 0; j < x->n; j++) tsr_worst_add(&b, &columns[j]);
  if (tsr_verdict(&a, &b, x->k, parts_of(x->type) == 2, x->lines.tolerance)) return true;
  bool may = x->lines.overlaps && a.finite && b.finite && x->k <= TSR_OVERLAPS_LONGEST;
  return may && tsr_cpu_judge_by_overlaps(x, rows, columns);
}

/* ---- Without residues ----------------------------------------------------------- */

/* The sum of the products of two real lines, and alpha times it and beta c, in the type R. GPUs'
 * code has the same operations in the same order. */
#define NATIVE_REAL(name, R, FMA)                                                    \
  static double name(const tsr_kernel_args *x, const R *a, const R *b, double old) { \
    R sum = 0;                                                                       \
    for (int64_t h = 0; h < x->k; h++) sum = FMA(a[h], b[h], sum);                   \
    R product = (R)x->alpha.re * sum;                                                \
    if (x->beta.re == 0) return (double)product;                                     \
    R kept = (R)x->beta.re * (R)old;                                                 \
    return (double)(R)(product + kept);                                              \
  }

NATIVE_REAL(native_single, float, fmaf)
NATIVE_REAL(native_double, double, fma)

/* The same of complex lines. */
#define NATIVE_COMPLEX(name, R, FMA)                                                           \
  static tsr_complex name(const tsr_kernel_args *x, const R *a, const R *b, tsr_complex old) { \
    R re = 0, im = 0, alpha[2] = {(R)x->alpha.re, (R)x->alpha.im};                             \
    R beta[2] = {(R)x->beta.re, (R)x->beta.im}, c[2] = {(R)old.re, (R)old.im};                 \
    for (int64_t h = 0; h < x->k; h++) {                                                       \
      const R *y = a + 2 * h, *z = b + 2 * h;                                                  \
      re = FMA(-y[1], z[1], FMA(y[0], z[0], re));                                              \
      im = FMA(y[1], z[0], FMA(y[0], z[1], im));                                               \
    }                                                                                          \
    R real = FMA(-alpha[1], im, alpha[0] * re), imaginary = FMA(alpha[1], re, alpha[0] * im);  \
    if (beta[0] == 0 && beta[1] == 0) return (tsr_complex){(double)real, (double)imaginary};   \
    R kept = FMA(-beta[1], c[1], beta[0] * c[0]), too = FMA(beta[1], c[0], beta[0] * c[1]);    \
    return (tsr_complex){(double)(R)(real + kept), (double)(R)(imaginary + too)};              \
  }

NATIVE_COMPLEX(native_single_complex, float, fmaf)
NATIVE_COMPLEX(native_double_complex, double, fma)

static tsr_complex native_element(const tsr_kernel_args *x, const void *a, const void *b,
                                  tsr_complex old) {
  switch (x->type) {
    case TSR_S:
      return (tsr_complex){native_single(x, a, b, old.re), 0};
    case TSR_D:
      return (tsr_complex){native_double(x, a, b, old.re), 0};
    case TSR_C:
      return native_single_complex(x, a, b, old);
    default:
      return native_double_complex(x, a, b, old);
  }
}

static void multiply_natively(const tsr_kernel_args *x) {
  const char *a = kept_of(x, x->a, x->lda, 0), *b = kept_of(x, x->b, x->ldb, 1);
  int64_t size = (int64_t)tsr_type_get(x->type)->size, begin, end;
  for (int64_t j = 0; j < x->n; j++) {
    rows_of(x, j, &begin, &end);
    for (int64_t i = begin; i < end; i++)
      write_result(x, i, j,
                   native_element(x, a + i * x->lda * size, b + j * x->ldb * size, old_c(x, i, j)));
  }
}

/* If there are no lines, c stays as it was; if beta is 0, c need not hold anything, and gets 0. */
static void leave(const tsr_kernel_args *x) {
  int64_t begin, end;
  for (int64_t j = 0; j < x->n && is_zero(x->beta); j++) {
    rows_of(x, j, &begin, &end);
    for (int64_t i = begin; i < end; i++) write_c(x, i + j * x->ldc, (tsr_complex){0, 0});
  }
}

/* Without a promise. */
static void refuse(const tsr_kernel_args *x) {
  if (x->verdict != NULL) *x->verdict = 1;
  if (x->lines.keeps_lines)
    multiply_natively(x);
  else
    leave(x);
}

static void multiply(const tsr_kernel_args *x) {
  const tsr_line *rows = records_of(x, x->a, x->lda, 0), *columns = records_of(x, x->b, x->ldb, 1);
  if (!judge(x, rows, columns)) {
    refuse(x);
    return;
  }
  tsr_moduli moduli;
  tsr_moduli_fill(x->lines.arithmetic->number, &moduli);
  int64_t begin, end;
  for (int64_t j = 0; j < x->n; j++) {
    rows_of(x, j, &begin, &end);
    for (int64_t i = begin; i < end; i++)
      multiply_lines(x, &moduli, i, j, -(rows[i].exponent + columns[j].exponent));
  }
}

void tsr_cpu_residues(const tsr_kernel_args *x) {
  if (x->kernel == TSR_KERNEL_RESIDUES)
    make_residues(x);
  else
    multiply(x);
}
