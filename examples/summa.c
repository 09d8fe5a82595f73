/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * SUMMA by hand (van de Geijn and Watts, 1997), C = A B, N x N, over a grid of MPI processes:
 * tsr_pgemm does the same in one call. Panels of A go along the rows of the grid and panels of B
 * along its columns, into buffers that are allocated once. While the devices multiply one pair of
 * panels, the next pair is on its way. C stays on the devices until the end.
 *
 *   mpicc summa.c $(pkg-config --cflags --libs tessera) -ltessera_mpi -o summa
 *   mpirun -n 4 ./summa 2000 4000 8000 > summa.csv
 *   python3 bench/pgemm.py --from summa.csv --roofline summa.svg
 */
#include <stdio.h>
#include <stdlib.h>
#include <tessera_mpi.h>
enum { DEPTH = 512 };

typedef struct summa {
  tsr_context *context;
  tsr_grid *grid;
  int shape[2], me[2];
  MPI_Comm along_row, along_col;
  int64_t n, m, w; /* extent of C; rows and columns of it here */
  tsr_pmatrix a, b, c;
  double *panel_a[2], *panel_b[2]; /* m x DEPTH, DEPTH x w: one multiplied, one on its way */
  MPI_Request request[2][2];
  MPI_Status status[2];
} summa;

static void must(tsr_status status) {
  if (status == TSR_OK) return;
  fprintf(stderr, "%s: %s\n", tsr_status_name(status), tsr_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* An element of A, and of B: small whole numbers, so that sums are exact. */
static double element(int64_t i, int64_t j) {
  return (double)((i * 3 + j * 5) % 7 - 3);
}

static double *at(const tsr_pmatrix *x, int64_t i, int64_t j) {
  return (double *)x->data + i + j * x->ld;
}

/* Makes a matrix with one block for each process. */
static void make(summa *s, tsr_pmatrix *x, int64_t *rows, int64_t *cols) {
  int64_t mb = (s->n + s->shape[0] - 1) / s->shape[0], nb = (s->n + s->shape[1] - 1) / s->shape[1];
  must(tsr_pmatrix_create(s->grid, TSR_D, s->n, s->n, mb, nb, 0, 0, x));
  must(tsr_pmatrix_extents(x, rows, cols));
  for (int64_t j = 0; j < *cols; j++)
    for (int64_t i = 0; i < *rows; i++)
      *at(x, i, j) = element(s->me[0] * mb + i, s->me[1] * nb + j);
}

/* The end of the panel at k: DEPTH further, or where A's or B's next owner begins. */
static int64_t panel_end(const summa *s, int64_t k) {
  int64_t a = (k / s->a.nb + 1) * s->a.nb, b = (k / s->b.mb + 1) * s->b.mb;
  int64_t owned = a < b ? a : b, end = k + DEPTH < s->n ? k + DEPTH : s->n;
  return end < owned ? end : owned;
}

/* The owners copy their panels to the buffers; the others of the row or column receive them. */
static void send_panel(summa *s, int64_t k, int slot) {
  int64_t depth = panel_end(s, k) - k, col = k / s->a.nb, row = k / s->b.mb;
  for (int64_t l = 0; l < depth && s->me[1] == col; l++)
    for (int64_t i = 0; i < s->m; i++)
      s->panel_a[slot][i + l * s->m] = *at(&s->a, i, k - col * s->a.nb + l);
  for (int64_t j = 0; j < s->w && s->me[0] == row; j++)
    for (int64_t l = 0; l < depth; l++)
      s->panel_b[slot][l + j * depth] = *at(&s->b, k - row * s->b.mb + l, j);
  MPI_Ibcast(s->panel_a[slot], (int)(s->m * depth), MPI_DOUBLE, (int)col, s->along_row,
             &s->request[slot][0]);
  MPI_Ibcast(s->panel_b[slot], (int)(s->w * depth), MPI_DOUBLE, (int)row, s->along_col,
             &s->request[slot][1]);
}

/* The next panels travel while the devices multiply these. */
static void multiply(summa *s) {
  static const double one = 1, zero = 0;
  send_panel(s, 0, 0);
  for (int64_t k = 0, end, slot = 0; k < s->n; k = end, slot = 1 - slot) {
    double *a = s->panel_a[slot], *b = s->panel_b[slot];
    int64_t depth = (end = panel_end(s, k)) - k;
    MPI_Waitall(2, s->request[slot], s->status);
    must(tsr_sync(s->context)); /* the product before this one: its buffers are free */
    must(tsr_invalidate(s->context, s->m * DEPTH, 1, a, s->m * DEPTH, TSR_D));
    must(tsr_invalidate(s->context, s->w * DEPTH, 1, b, s->w * DEPTH, TSR_D));
    must(tsr_gemm_async(s->context, TSR_D, TSR_COL_MAJOR, TSR_NO_TRANS, TSR_NO_TRANS, s->m, s->w,
                        depth, &one, a, s->m, b, depth, k == 0 ? &zero : &one, s->c.data, s->c.ld));
    if (end < s->n) send_panel(s, end, (int)(1 - slot));
  }
  must(tsr_coherent_async(s->context, TSR_GENERAL, s->m, s->w, s->c.data, s->c.ld, TSR_D));
  must(tsr_sync(s->context));
  must(tsr_release(s->context, 0, 0, NULL, 1, TSR_D));
}

/* Sums up some elements of each process again. */
static int is_right(const summa *s) {
  for (int64_t x = 0; x < 16 && s->m > 0 && s->w > 0; x++) {
    int64_t i = x * 7919 % s->m, j = x * 104729 % s->w;
    double rest = *at(&s->c, i, j);
    for (int64_t k = 0; k < s->n; k++)
      rest -= element(s->me[0] * s->c.mb + i, k) * element(k, s->me[1] * s->c.nb + j);
    if (rest != 0) return 0;
  }
  return 1;
}

/* Makes two products; the second, warm one counts. */
static int run(summa *s, int64_t n) {
  double seconds[2], flops = 2.0 * (double)n * (double)n * (double)n;
  int64_t rows, cols;
  s->n = n;
  make(s, &s->a, &rows, &cols);
  make(s, &s->b, &rows, &cols);
  make(s, &s->c, &s->m, &s->w);
  for (int i = 0; i < 2; i++) {
    must(tsr_malloc(s->context, TSR_HOST, 8 * DEPTH * (size_t)s->m, (void **)&s->panel_a[i]));
    must(tsr_malloc(s->context, TSR_HOST, 8 * DEPTH * (size_t)s->w, (void **)&s->panel_b[i]));
  }
  for (int i = 0; i < 2; i++) {
    double mine = (MPI_Barrier(MPI_COMM_WORLD), -MPI_Wtime());
    multiply(s);
    mine += MPI_Wtime();
    MPI_Allreduce(&mine, &seconds[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  int right = is_right(s);
  int p = s->shape[0], q = s->shape[1], devices = tsr_device_count(s->context);
  if (s->me[0] + s->me[1] == 0)
    printf("summa,d,%d,%d,%d,%d,%lld,%.6g,%.6g,0,%.5g,1,%d\n", p * q, p, q, devices, (long long)n,
           seconds[0], seconds[1], 1e-9 * flops / seconds[1], right);
  for (int i = 0; i < 4; i++) tsr_free(s->context, i < 2 ? s->panel_a[i] : s->panel_b[i - 2]);
  tsr_pmatrix_destroy(&s->a), tsr_pmatrix_destroy(&s->b), tsr_pmatrix_destroy(&s->c);
  return right;
}

int main(int argc, char **argv) {
  summa s;
  int right = 1; /* here; the others have an exit status of their own */
  MPI_Init(&argc, &argv);
  must(tsr_context_create_dealt(MPI_COMM_WORLD, NULL, &s.context, NULL));
  must(tsr_grid_create(s.context, MPI_COMM_WORLD, 0, 0, &s.grid));
  must(tsr_grid_place(s.grid, &s.shape[0], &s.shape[1], &s.me[0], &s.me[1]));
  MPI_Comm_split(MPI_COMM_WORLD, s.me[0], s.me[1], &s.along_row);
  MPI_Comm_split(MPI_COMM_WORLD, s.me[1], s.me[0], &s.along_col);
  for (int i = 1; i < argc; i++) right &= run(&s, atoll(argv[i]));
  tsr_grid_destroy(s.grid);
  tsr_context_destroy(s.context);
  MPI_Finalize();
  return !right;
}
