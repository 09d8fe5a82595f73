/*
 * op() of a part of a distributed matrix, as one process sees it: which index is whose in both
 * directions, and where its own elements are. A transposition exchanges the directions and nothing
 * else, so what works on views knows no cases.
 */
#ifndef TSR_CLUSTER_VIEW_H
#define TSR_CLUSTER_VIEW_H

#include <stddef.h>

#include "cluster/axis.h"
#include "cluster/grid.h"

typedef struct tsr_view {
  tsr_axis axis[2]; /* rows and columns of the view */
  int weight[2];    /* the process at coordinates (x, y) of the axes is x weight[0] + y weight[1] */
  int me[2];        /* this process's coordinates in the axes */
  int64_t stride[2]; /* elements from one own row, or column, to the next */
  char *base;        /* the first own element of the part */
  size_t size;       /* bytes of an element */
  bool conjugate;    /* elements count as their conjugates */
} tsr_view;

/* TSR_ERR_ARGUMENT, naming the field of `name`, where the matrix makes no sense or is not on the
 * grid; data: it must have its storage. */
tsr_status tsr_pmatrix_check(const tsr_grid *grid, const char *name, const tsr_pmatrix *matrix,
                             bool data);

/* The same for the part of rows x cols at (i, j). */
tsr_status tsr_pmatrix_check_part(const char *name, const tsr_pmatrix *matrix, int64_t i, int64_t j,
                                  int64_t rows, int64_t cols);

tsr_status tsr_op_check(const char *name, tsr_op op);

/* What all have to give alike of a matrix, which may be NULL; ij: where the part begins. */
void tsr_record_add_matrix(tsr_record *record, const char *object, const tsr_pmatrix *matrix,
                           int64_t i, int64_t j);

/* op() of the stored rows x cols part at (i, j); both were checked. */
tsr_view tsr_view_make(const tsr_pmatrix *matrix, int64_t i, int64_t j, int64_t rows, int64_t cols,
                       tsr_op op);

/* Own rows (0) or columns (1) of a view. */
int64_t tsr_view_local(const tsr_view *view, int direction);

/* The address of the element that is the first of own row and column indices given by view index.
 */
char *tsr_view_at(const tsr_view *view, int64_t row, int64_t col);

/* Copies extent[0] x extent[1] elements of `size` bytes (4, 8 or 16) between any two strides. */
void tsr_block_copy(size_t size, const int64_t extent[2], const char *from,
                    const int64_t from_stride[2], char *to, const int64_t to_stride[2]);

/* Changes the sign of the imaginary parts of complex elements of 8 or 16 bytes. */
void tsr_block_conjugate(size_t size, int64_t count, char *elements);

#endif
