/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "pblas_operand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Drawing -------------------------------------------------------------- */

static int draw(numbers *n, int least, int most) {
  return (int)numbers_draw(n, least, most);
}

static int draw_block(numbers *n) {
  return draw(n, 0, 2) == 0 ? draw(n, 1, 3) : draw(n, 1, 20);
}

static int draw_source(numbers *n, int count) {
  return draw(n, 0, 4) == 0 ? -1 : draw(n, 0, count - 1);
}

operand operand_draw(numbers *n, int which, int rows, int cols, const int grid[2]) {
  operand x = {.which = which,
               .descriptor_type = draw(n, 1, 2),
               .extent = {rows, cols},
               .extra = draw(n, 0, 1) == 0 ? 0 : draw(n, 0, 5)};
  for (int d = 0; d < 2; d++) {
    x.at[d] = draw(n, 0, 1) == 0 ? 0 : draw(n, 0, 25);
    x.block[d] = draw_block(n);
    x.first[d] = x.descriptor_type == 1 ? x.block[d] : draw_block(n);
    x.source[d] = draw_source(n, grid[d]);
  }
  int behind[2] = {draw(n, 0, 10), draw(n, 0, 10)};
  x.m = x.at[0] + rows + behind[0];
  x.n = x.at[1] + cols + behind[1];
  if (x.m == 0) x.m = 1; /* ScaLAPACK wants a matrix of at least 1 x 1, also for an empty part */
  if (x.n == 0) x.n = 1;
  return x;
}

void operand_print(const operand *x) {
  printf(
      "  %c: %d x %d, type %d, blocks %d x %d (first %d x %d) from (%d, %d), part %d x %d at "
      "(%d, %d), ld +%d\n",
      "?ABC"[x->which], x -> m, x -> n, x -> descriptor_type, x -> block[0], x -> block[1],
      x -> first[0], x -> first[1], x -> source[0], x -> source[1], x -> extent[0], x -> extent[1],
      x -> at[0], x -> at[1], x -> extra);
}

/* ---- Elements ------------------------------------------------------------- */

static void read_element(tsr_type type, const void *from, double value[2]) {
  float narrow[2] = {0, 0};
  bool wide = type == TSR_D || type == TSR_Z;
  value[0] = value[1] = 0;
  memcpy(wide ? (void *)value : (void *)narrow, from, element_size(type));
  if (!wide) value[0] = narrow[0], value[1] = narrow[1];
}

void element_get(tsr_type type, int which, int i, int j, double value[2]) {
  char element[16];
  element_put(type, which, i, j, KNOWN, element);
  read_element(type, element, value);
}

/* ---- Storage -------------------------------------------------------------- */

/* Writes the global indices that this process owns in direction d, by going through all of them,
 * and returns their number. */
static int own_indices(const operand *x, int d, const place_in_grid *grid, int *index) {
  int extent = d == 0 ? x->m : x->n, left = x->first[d], turn = x->source[d], here = 0;
  for (int i = 0; i < extent; i++, left--) {
    if (left == 0) left = x->block[d], turn = (turn + 1) % grid->extent[d];
    if (x->source[d] < 0 || turn == grid->me[d]) index[here++] = i;
  }
  return here;
}

static void describe(const operand *x, int context, int ld, int descriptor[11]) {
  const int one[9] = {1,           context,      x->m,         x->n, x->block[0],
                      x->block[1], x->source[0], x->source[1], ld};
  const int two[11] = {2,           context,     x->m,        x->n,         x->first[0],
                       x->first[1], x->block[0], x->block[1], x->source[0], x->source[1],
                       ld};
  memcpy(descriptor, x->descriptor_type == 1 ? one : two,
         x->descriptor_type == 1 ? sizeof one : sizeof two);
}

static bool is_inside(const operand *x, int row, int col) {
  return row >= x->at[0] && row < x->at[0] + x->extent[0] && col >= x->at[1] &&
         col < x->at[1] + x->extent[1];
}

static char *place(const local_operand *x, char *data, int i, int j) {
  return data + ((size_t)i + (size_t)j * (size_t)x->ld) * element_size(x->type);
}

static void fill(local_operand *x, filling inside, filling outside) {
  for (int j = 0; j < x->count[1]; j++)
    for (int i = 0; i < x->ld; i++) {
      if (i >= x->count[0]) {
        padding_put(x->type, place(x, x->data, i, j));
        continue;
      }
      int row = x->index[0][i], col = x->index[1][j];
      element_put(x->type, x->of->which, row, col, is_inside(x->of, row, col) ? inside : outside,
                  place(x, x->data, i, j));
    }
}

bool local_create(const operand *of, tsr_type type, const place_in_grid *grid, filling inside,
                  filling outside, local_operand *x) {
  *x = (local_operand){.of = of, .type = type};
  for (int d = 0; d < 2; d++) {
    x->index[d] = malloc((size_t)(d == 0 ? of->m : of->n) * sizeof *x->index[d]);
    if (x->index[d] == NULL) return false;
    x->count[d] = own_indices(of, d, grid, x->index[d]);
  }
  x->ld = (x->count[0] > 0 ? x->count[0] : 1) + of->extra;
  if (x->count[1] == 0 && of->extra == 0) x->ld = 1; /* enough without columns */
  describe(of, grid->context, x->ld, x->descriptor);
  x->bytes = (size_t)x->ld * (size_t)x->count[1] * element_size(type);
  x->data = malloc(x->bytes + 1);
  x->before = malloc(x->bytes + 1);
  if (x->data == NULL || x->before == NULL) return false;
  fill(x, inside, outside);
  memcpy(x->before, x->data, x->bytes);
  return true;
}

void local_destroy(local_operand *x) {
  free(x->index[0]);
  free(x->index[1]);
  free(x->data);
  free(x->before);
}

/* ---- Checking ------------------------------------------------------------- */

bool local_is_untouched(const local_operand *x) {
  return memcmp(x->data, x->before, x->bytes) == 0;
}

static bool is_right(const local_operand *x, int i, int j, element_function *right,
                     const void *user) {
  const operand *of = x->of;
  const char *now = place(x, x->data, i, j);
  int row = i < x->count[0] ? x->index[0][i] : -1, col = x->index[1][j];
  if (row < 0 || !is_inside(of, row, col))
    return memcmp(now, place(x, x->before, i, j), element_size(x->type)) == 0;
  double is[2], wanted[2];
  read_element(x->type, now, is);
  right(user, row - of->at[0], col - of->at[1], wanted);
  return is[0] == wanted[0] && is[1] == wanted[1];
}

bool local_holds(const local_operand *x, element_function *right, const void *user) {
  for (int j = 0; j < x->count[1]; j++)
    for (int i = 0; i < x->ld; i++)
      if (!is_right(x, i, j, right, user)) return false;
  return true;
}
