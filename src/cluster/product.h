/* A product as it was asked for. */
#ifndef TSR_CLUSTER_PRODUCT_H
#define TSR_CLUSTER_PRODUCT_H

#include "cluster/view.h"

typedef struct tsr_factor {
  const char *name;
  tsr_pmatrix matrix;
  bool there;         /* a matrix was given */
  int64_t i, j;       /* where the part begins */
  int64_t rows, cols; /* of op(part) */
  tsr_op op;
} tsr_factor;

typedef struct tsr_product {
  tsr_grid *grid;
  tsr_factor a, b, c;
  int64_t m, n, k;
  bool has_alpha, has_beta;
  char alpha[16], beta[16]; /* values of the type of C */
} tsr_product;

/* Copies what is given; nothing is checked. */
tsr_product tsr_product_make(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m, int64_t n,
                             int64_t k, const void *alpha, const tsr_pmatrix *a, int64_t ia,
                             int64_t ja, const tsr_pmatrix *b, int64_t ib, int64_t jb,
                             const void *beta, const tsr_pmatrix *c, int64_t ic, int64_t jc);

/* TSR_ERR_ARGUMENT; data: the matrices must have storage. */
tsr_status tsr_product_check(const tsr_product *product, bool data);

/* What all have to give alike. */
tsr_record tsr_product_record(const tsr_product *product);

tsr_view tsr_product_view(const tsr_factor *factor);

/* A and B count: alpha is not 0, and there is something to sum over. */
bool tsr_product_reads_inputs(const tsr_product *product);
bool tsr_product_reads_result(const tsr_product *product);

#endif
