/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The kernels on residues in plain C: what emulated devices run, and what GPUs are compared with.
 */
#include "base/cpu_internal.h"
#include "base/residues.h"

/* ---- Making residues --------------------------------------------------------- */

/* A line of op(a): k elements, `step` elements apart. */
typedef struct line_elements {
  tsr_type type;
  const void *first;
  int64_t step, k;
} line_elements;

static double element(const line_elements *line, int64_t h) {
  int64_t at = h * line->step;
  return line->type == TSR_S ? (double)((const float *)line->first)[at]
                             : ((const double *)line->first)[at];
}

static tsr_line measure(const line_elements *line, double root) {
  tsr_line_sums sums = {0};
  double most = 0;
  for (int64_t h = 0; h < line->k; h++) most = tsr_greater(most, fabs(element(line, h)));
  if (most > 0 && most < INFINITY) {
    int top = tsr_top_of(most);
    for (int64_t h = 0; h < line->k; h++) tsr_line_add(&sums, fabs(element(line, h)), top);
  }
  return tsr_line_of(&sums, most, line->k, root);
}

/* Writes the line's residues to line `to` of each plane; 0 for a line that is not finite. */
static void convert(const line_elements *line, const tsr_line *record, const tsr_moduli *moduli,
                    int8_t *to, int64_t ld, int64_t plane) {
  bool finite = record->exponent != TSR_LINE_NOT_FINITE;
  for (int64_t h = 0; h < ld; h++) {
    bool used = finite && h < line->k;
    int64_t x = used ? tsr_integer_of(element(line, h), record->exponent) : 0;
    for (int l = 0; l < moduli->count; l++)
      to[l * plane + h] = (int8_t)tsr_residue(x, moduli->modulus[l]);
  }
}

static tsr_line *records_of(const void *block, int64_t ld, tsr_residue_lines lines, int moduli) {
  return (tsr_line *)((char *)block + tsr_residues_records(ld, lines.lines, moduli)) + lines.first;
}

static void make_residues(const tsr_kernel_args *x) {
  const tsr_residue_lines *to = &x->residues.of[2];
  tsr_moduli moduli;
  tsr_moduli_fill(x->residues.moduli, &moduli);
  tsr_line *records = records_of(x->c, x->ldc, *to, moduli.count);
  for (int64_t i = 0; i < x->n; i++) {
    int64_t size = (int64_t)tsr_type_get(x->type)->size;
    int64_t start = tsr_kernel_offset(x->transa, 0, i, x->lda);
    line_elements line = {x->type, (const char *)x->a + start * size,
                          tsr_kernel_offset(x->transa, 1, 0, x->lda), x->m};
    records[i] = measure(&line, moduli.root);
    convert(&line, &records[i], &moduli, (int8_t *)x->c + (to->first + i) * x->ldc, x->ldc,
            to->lines * x->ldc);
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

static const int8_t *line_at(const void *block, int64_t ld, tsr_residue_lines of, int plane,
                             int64_t i) {
  return (const int8_t *)block + ((int64_t)plane * of.lines + of.first + i) * ld;
}

static double read_c(const tsr_kernel_args *x, int64_t at) {
  if (x->beta.re == 0) return 0;
  return x->type == TSR_S ? (double)((const float *)x->c)[at] : ((const double *)x->c)[at];
}

static void write_c(const tsr_kernel_args *x, int64_t at, double value) {
  if (x->type == TSR_S)
    ((float *)x->c)[at] = (float)value;
  else
    ((double *)x->c)[at] = value;
}

static void multiply_lines(const tsr_kernel_args *x, const tsr_moduli *moduli, int64_t i, int64_t j,
                           int power) {
  const tsr_residue_args *r = &x->residues;
  int32_t residue[TSR_MODULI_MOST];
  for (int l = 0; l < moduli->count; l++)
    residue[l] = product_modulo(line_at(x->a, x->lda, r->of[0], l, i),
                                line_at(x->b, x->ldb, r->of[1], l, j), x->k, moduli->modulus[l]);
  int64_t at = i + j * x->ldc;
  write_c(x, at,
          tsr_recovered_update(tsr_recover(moduli, residue), power, x->alpha.re, x->beta.re,
                               read_c(x, at)));
}

/* Whether the accuracy can be promised for the whole block. */
static bool judge(const tsr_kernel_args *x, const tsr_line *rows, const tsr_line *columns) {
  tsr_worst a = tsr_worst_start(), b = tsr_worst_start();
  for (int64_t i = 0; i < x->m; i++) tsr_worst_add(&a, &rows[i]);
  for (int64_t j = 0; j < x->n; j++) tsr_worst_add(&b, &columns[j]);
  return tsr_verdict(&a, &b, x->k, x->residues.tolerance);
}

/* Without a promise, c stays as it was; where beta is 0, c need not hold anything, and gets 0. */
static void refuse(const tsr_kernel_args *x) {
  if (x->residues.verdict != NULL) *x->residues.verdict = 1;
  if (x->beta.re != 0) return;
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++) write_c(x, i + j * x->ldc, 0);
}

static void multiply(const tsr_kernel_args *x) {
  const tsr_residue_args *r = &x->residues;
  const tsr_line *rows = records_of(x->a, x->lda, r->of[0], r->moduli);
  const tsr_line *columns = records_of(x->b, x->ldb, r->of[1], r->moduli);
  if (!judge(x, rows, columns)) {
    refuse(x);
    return;
  }
  tsr_moduli moduli;
  tsr_moduli_fill(r->moduli, &moduli);
  for (int64_t j = 0; j < x->n; j++)
    for (int64_t i = 0; i < x->m; i++)
      multiply_lines(x, &moduli, i, j, -(rows[i].exponent + columns[j].exponent));
}

void tsr_cpu_residues(const tsr_kernel_args *x) {
  if (x->kernel == TSR_KERNEL_RESIDUES)
    make_residues(x);
  else
    multiply(x);
}
