/*
 * SUMMA (van de Geijn and Watts, 1997) with C in place: panels of op(A) go along the rows of the
 * grid and panels of op(B) along its columns, `lookahead` of them ahead of the products. The rows
 * of op(A) are dealt as C's, the columns of op(B) as C's columns; k is dealt as it may be.
 *
 * A process whose product fails goes on sending and receiving, so that no other one waits for it.
 */
#ifndef TSR_DIST_SUMMA_H
#define TSR_DIST_SUMMA_H

#include "dist/panels.h"
#include "dist/view.h"

/* Memory of one panel of A and one of B, and the messages that fill it. */
typedef struct tsr_summa_slot {
  char *a, *b;
  MPI_Request request[2];
} tsr_summa_slot;

typedef struct tsr_summa {
  const tsr_grid *grid;
  tsr_type type;
  const void *alpha, *beta;
  const void *one;
  tsr_view a, b, c;
  int64_t rows, cols; /* of C, here */
  int64_t ldc;
  tsr_panels panels;
  tsr_summa_slot slot[TSR_LOOKAHEAD_MOST + 1];
  int slots;
  tsr_status status; /* the first failure here */
  tsr_error error;
} tsr_summa;

/* Whether op(A), op(B) need not move. */
bool tsr_summa_fits_a(const tsr_grid *grid, const tsr_view *a, const tsr_view *c);
bool tsr_summa_fits_b(const tsr_grid *grid, const tsr_view *b, const tsr_view *c);

/* Takes the memory that it needs, of this process alone. k is at least 1, and the same in both.
 * TSR_ERR_MEMORY, with nothing kept. */
tsr_status tsr_summa_create(const tsr_grid *grid, tsr_type type, const void *alpha,
                            const tsr_view *a, const tsr_view *b, const void *beta,
                            const tsr_view *c, tsr_summa *summa);

/* Collective. Goes on to the end whatever happens; returns the first error here. C is then at home.
 */
tsr_status tsr_summa_run(tsr_summa *summa);

/* Zeroed ones are accepted. */
void tsr_summa_destroy(tsr_summa *summa);

#endif
