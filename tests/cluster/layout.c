/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t numbers_draw(numbers *n, int64_t least, int64_t most) {
  uint64_t z = n->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return least + (int64_t)((z ^ z >> 31) % (uint64_t)(most - least + 1));
}

/* ---- Layouts -------------------------------------------------------------- */

static int64_t draw_block(numbers *n) {
  return numbers_draw(n, 0, 2) == 0 ? numbers_draw(n, 1, 4) : numbers_draw(n, 1, 64);
}

static int64_t draw_margin(numbers *n) {
  return numbers_draw(n, 0, 1) == 0 ? 0 : numbers_draw(n, 0, 40);
}

/* In a quarter of the layouts blocks have any extents. */
static int64_t draw_ends(numbers *n, int64_t extent, int64_t ends[LAYOUT_BLOCKS]) {
  int64_t at = 0, blocks = 0, most = numbers_draw(n, 2, 40);
  if (numbers_draw(n, 0, 3) > 0) return 0;
  while (at < extent && blocks < LAYOUT_BLOCKS - 1) {
    at += numbers_draw(n, 1, most);
    ends[blocks++] = at < extent ? at : extent;
  }
  if (blocks > 0) ends[blocks - 1] = extent;
  return blocks;
}

layout layout_draw(numbers *n, int64_t rows, int64_t cols, const int grid[2]) {
  layout x = {.rows = rows, .cols = cols};
  x.i = draw_margin(n), x.j = draw_margin(n);
  x.m = x.i + rows + draw_margin(n), x.n = x.j + cols + draw_margin(n);
  x.mb = draw_block(n), x.nb = draw_block(n);
  x.imb = numbers_draw(n, 0, 2) == 0 ? draw_block(n) : 0;
  x.inb = numbers_draw(n, 0, 2) == 0 ? draw_block(n) : 0;
  x.row_source = (int)numbers_draw(n, 0, grid[0] - 1);
  x.col_source = (int)numbers_draw(n, 0, grid[1] - 1);
  x.extra = numbers_draw(n, 0, 1) == 0 ? 0 : numbers_draw(n, 0, 5);
  x.blocks[0] = draw_ends(n, x.m, x.ends[0]);
  x.blocks[1] = draw_ends(n, x.n, x.ends[1]);
  return x;
}

/* Writes the global indices that coordinate `me` owns to `index`, by going through all of them, and
 * returns their number. */
static int64_t own_indices(const layout *x, int direction, int count, int me, int64_t *index) {
  bool rows = direction == 0;
  int64_t block = rows ? x->mb : x->nb, first = rows ? x->imb : x->inb;
  int64_t left = first > 0 ? first : block, here = 0, next = 1;
  const int64_t *ends = x->ends[direction];
  bool irregular = x->blocks[direction] > 0;
  int turn = rows ? x->row_source : x->col_source;
  if (irregular) left = ends[0];
  for (int64_t i = 0; i < (rows ? x->m : x->n); i++) {
    if (left == 0) {
      left = irregular ? ends[next] - ends[next - 1] : block;
      next++;
      turn = (turn + 1) % count;
    }
    if (turn == me) index[here++] = i;
    left--;
  }
  return here;
}

/* ---- Elements ------------------------------------------------------------- */

static bool is_short(tsr_type type) {
  return type == TSR_H || type == TSR_B;
}

/* The bits of a small whole number or NaN as fp16 or bf16. */
static uint16_t short_bits(tsr_type type, double value) {
  int top = 0;
  double left = frexp(fabs(value), &top); /* left * 2^top, left in [0.5, 1) */
  int digits = type == TSR_H ? 10 : 7, bias = type == TSR_H ? 15 : 127;
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value)) return type == TSR_H ? 0x7e00 : 0x7fc0;
  if (value == 0) return sign;
  uint16_t fraction = (uint16_t)((2 * left - 1) * (1 << digits));
  return (uint16_t)(sign | (top - 1 + bias) << digits | fraction);
}

size_t element_size(tsr_type type) {
  return is_short(type) ? 2 : type == TSR_S ? 4 : type == TSR_Z ? 16 : 8;
}

static bool is_complex(tsr_type type) {
  return type == TSR_C || type == TSR_Z;
}

static void put(tsr_type type, double re, double im, void *to) {
  uint16_t bits = short_bits(type, re);
  if (is_short(type)) {
    memcpy(to, &bits, sizeof bits);
    return;
  }
  double d[2] = {re, im};
  float f[2] = {(float)re, (float)im};
  bool wide = type == TSR_D || type == TSR_Z;
  memcpy(to, wide ? (void *)d : (void *)f, element_size(type));
}

void element_put(tsr_type type, int which, int64_t i, int64_t j, filling f, void *to) {
  numbers n = {(uint64_t)which * 1000003u + (uint64_t)i * 8191u + (uint64_t)j};
  int most = is_short(type) ? 1 : 4; /* bf16 has whole numbers to 256 */
  double re = (double)numbers_draw(&n, -most, most), im = (double)numbers_draw(&n, -most, most);
  if (f == NOT_A_NUMBER) re = im = NAN;
  put(type, re, im, to);
}

void scalar_put(tsr_type type, int re, int im, void *to) {
  put(is_short(type) ? TSR_S : type, re, is_complex(type) ? im : 0, to);
}

void padding_put(tsr_type type, void *to) {
  put(type, -77, 77, to);
}

bool element_equal(tsr_type type, const void *a, const void *b) {
  double x[2] = {0, 0}, y[2] = {0, 0};
  uint16_t p, q;
  if (is_short(type)) {
    memcpy(&p, a, sizeof p), memcpy(&q, b, sizeof q);
    return p == q || ((p | q) & 0x7fff) == 0; /* 0 and -0 */
  }
  if (type == TSR_D || type == TSR_Z) {
    memcpy(x, a, element_size(type)), memcpy(y, b, element_size(type));
  } else {
    float f[2] = {0, 0}, g[2] = {0, 0};
    memcpy(f, a, element_size(type)), memcpy(g, b, element_size(type));
    x[0] = f[0], x[1] = f[1], y[0] = g[0], y[1] = g[1];
  }
  return x[0] == y[0] && x[1] == y[1];
}

/* ---- Storage -------------------------------------------------------------- */

bool storage_create(const layout *x, tsr_grid *grid, tsr_type type, storage *s) {
  int extent[2], me[2];
  *s = (storage){.size = element_size(type)};
  if (tsr_grid_place(grid, &extent[0], &extent[1], &me[0], &me[1]) != TSR_OK) return false;
  s->index[0] = malloc((size_t)(x->m + 1) * sizeof *s->index[0]);
  s->index[1] = malloc((size_t)(x->n + 1) * sizeof *s->index[1]);
  if (s->index[0] == NULL || s->index[1] == NULL) return false;
  for (int d = 0; d < 2; d++) s->local[d] = own_indices(x, d, extent[d], me[d], s->index[d]);
  int64_t ld = (s->local[0] > 0 ? s->local[0] : 1) + x->extra;
  void *data = malloc((size_t)(ld * s->local[1]) * s->size + 1);
  s->matrix = (tsr_pmatrix){grid,   type,   x->m,          x->n,          x->mb, x->nb,
                            x->imb, x->inb, x->row_source, x->col_source, ld,    data};
  if (x->blocks[0] > 0) s->matrix.row_ends = x->ends[0], s->matrix.row_blocks = x->blocks[0];
  if (x->blocks[1] > 0) s->matrix.col_ends = x->ends[1], s->matrix.col_blocks = x->blocks[1];
  return data != NULL;
}

void storage_destroy(storage *s) {
  free(s->index[0]);
  free(s->index[1]);
  free(s->matrix.data);
}

static bool inside(const layout *x, int64_t i, int64_t j) {
  return i >= x->i && i < x->i + x->rows && j >= x->j && j < x->j + x->cols;
}

static char *place(const storage *s, int64_t i, int64_t j) {
  return (char *)s->matrix.data + (i + j * s->matrix.ld) * (int64_t)s->size;
}

void storage_fill(storage *s, const layout *x, int which, filling in, filling out) {
  for (int64_t j = 0; j < s->local[1]; j++)
    for (int64_t i = 0; i < s->matrix.ld; i++) {
      if (i >= s->local[0]) {
        padding_put(s->matrix.type, place(s, i, j));
        continue;
      }
      int64_t row = s->index[0][i], col = s->index[1][j];
      element_put(s->matrix.type, which, row, col, inside(x, row, col) ? in : out, place(s, i, j));
    }
}

static void expect(const storage *s, const layout *x, int which, const void *expected, int64_t i,
                   int64_t j, void *to) {
  tsr_type type = s->matrix.type;
  if (i >= s->local[0]) {
    padding_put(type, to);
    return;
  }
  int64_t row = s->index[0][i], col = s->index[1][j];
  if (!inside(x, row, col)) {
    element_put(type, which, row, col, KNOWN, to);
    return;
  }
  int64_t at = row - x->i + (col - x->j) * x->rows;
  memcpy(to, (const char *)expected + at * (int64_t)s->size, s->size);
}

bool storage_holds(const storage *s, const layout *x, int which, const void *expected) {
  char wanted[16];
  for (int64_t j = 0; j < s->local[1]; j++)
    for (int64_t i = 0; i < s->matrix.ld; i++) {
      expect(s, x, which, expected, i, j, wanted);
      if (!element_equal(s->matrix.type, place(s, i, j), wanted)) return false;
    }
  return true;
}
