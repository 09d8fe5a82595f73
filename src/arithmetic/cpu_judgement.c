/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* Judges products in residues by the overlap of their lines (arithmetic/judgement.h), in plain C.
 */
#include "arithmetic/arithmetic.h"
#include "arithmetic/cpu_residues.h"
#include "arithmetic/judgement.h"
#include "arithmetic/moduli.h"

/* C is judged in squares, over so many elements of the lines at a time, which fit a CPU's cache. */
enum { SIDE = 16, DEEP = 128 };

/* Lines of an operand: the residues of the first in the first plane, and their records. */
typedef struct lines_of {
  const int8_t *first;
  int64_t ld, plane, count;
  const tsr_line *record;
} lines_of;

/* Some lines, expanded. */
typedef struct expanded {
  uint8_t leading[SIDE][DEEP], common[SIDE][DEEP];
  uint64_t units[SIDE];
} expanded;

/* A square of C. */
typedef struct square {
  expanded a, b;
  tsr_overlap of[SIDE][SIDE];
} square;

/* A number of an element, scaled: `at` is the place of its first residue. */
static uint64_t whole_of(const lines_of *x, const tsr_leading_moduli *m, int64_t at) {
  tsr_whole whole = {0};
  for (int l = 0; l < m->count; l++) tsr_whole_add(&whole, m, l, x->first[l * x->plane + at]);
  return tsr_whole_end(&whole, m);
}

/* moduli: the number of planes of real parts, after which those of imaginary parts follow. */
static void expand_element(const lines_of *x, const tsr_leading_moduli *m, int moduli,
                           bool complex_valued, int64_t line, int64_t h, expanded *to, int i,
                           int e) {
  int64_t at = line * x->ld + h;
  int room = x->record[line].room;
  uint64_t re = whole_of(x, m, at);
  uint64_t im = complex_valued ? whole_of(x, m, moduli * x->plane + at) : 0;
  uint32_t byte = tsr_overlap_byte(re, im, room);
  to->leading[i][e] = byte & 127;
  to->common[i][e] = (uint8_t)(byte >> 7);
  if (room >= 12) to->units[i] += tsr_whole_units(re, room) + tsr_whole_units(im, room);
}

/* Elements from h on of `lines` lines from `line` on. */
static void expand(const lines_of *x, const tsr_judged *judged, const tsr_leading_moduli *m,
                   int64_t line, int lines, int64_t h, int count, expanded *to) {
  for (int i = 0; i < lines; i++)
    for (int e = 0; e < count; e++)
      expand_element(x, m, judged->moduli, judged->complex_valued, line + i, h + e, to, i, e);
}

static uint32_t dot(const uint8_t *a, const uint8_t *b, int count) {
  uint32_t sum = 0;
  for (int e = 0; e < count; e++) sum += (uint32_t)a[e] * b[e];
  return sum;
}

static void multiply_square(square *s, int rows, int columns, int count) {
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++) {
      s->of[i][j].least += dot(s->a.leading[i], s->b.leading[j], count);
      s->of[i][j].common += dot(s->a.common[i], s->b.common[j], count);
    }
}

/* Whether the kernel writes element (i, j) of C. */
static bool is_written(tsr_uplo uplo, int64_t i, int64_t j) {
  return uplo == TSR_LOWER ? i >= j : uplo == TSR_UPPER ? i <= j : true;
}

/* Whether the accuracy is promised for the square's elements, of which the first is (i0, j0). */
static bool judge_square(const square *s, const tsr_judged *judged, tsr_uplo uplo,
                         const lines_of *a, const lines_of *b, int64_t i0, int64_t j0, int rows,
                         int columns) {
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < rows; i++) {
      const tsr_line *row = &a->record[i0 + i], *column = &b->record[j0 + j];
      tsr_overlap overlap = s->of[i][j];
      overlap.common += tsr_lost_elements(row, s->a.units[i], judged->k) +
                        tsr_lost_elements(column, s->b.units[j], judged->k);
      bool written = is_written(uplo, i0 + i, j0 + j);
      if (written && !tsr_is_promised(judged, row, column, overlap)) return false;
    }
  return true;
}

static int least(int64_t left, int most) {
  return left < most ? (int)left : most;
}

static lines_of lines_from(const tsr_kernel_args *x, int operand, const tsr_line *records) {
  tsr_lines_range of = x->lines.of[operand];
  int64_t ld = operand == 0 ? x->lda : x->ldb;
  const int8_t *block = operand == 0 ? x->a : x->b;
  return (lines_of){block + of.first * ld, ld, of.lines * ld, operand == 0 ? x->m : x->n, records};
}

bool tsr_cpu_judge_by_overlaps(const tsr_kernel_args *x, const tsr_line *rows,
                               const tsr_line *columns) {
  bool complex_valued = tsr_type_get(x->type)->complex_valued, promised = true;
  tsr_judged judged = {x->lines.arithmetic->number, complex_valued, x->k, x->lines.tolerance};
  tsr_leading_moduli leading;
  tsr_leading_moduli_fill(judged.moduli, &leading);
  lines_of a = lines_from(x, 0, rows), b = lines_from(x, 1, columns);
  for (int64_t j = 0; j < b.count && promised; j += SIDE)
    for (int64_t i = 0; i < a.count && promised; i += SIDE) {
      square s = {0};
      int m = least(a.count - i, SIDE), n = least(b.count - j, SIDE);
      for (int64_t h = 0; h < x->k; h += DEEP) {
        int count = least(x->k - h, DEEP);
        expand(&a, &judged, &leading, i, m, h, count, &s.a);
        expand(&b, &judged, &leading, j, n, h, count, &s.b);
        multiply_square(&s, m, n, count);
      }
      promised = judge_square(&s, &judged, x->uplo, &a, &b, i, j, m, n);
    }
  return promised;
}
