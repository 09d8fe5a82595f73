/* For doors that have another way to do a product that fails. */
#ifndef TSR_CLUSTER_OFFER_H
#define TSR_CLUSTER_OFFER_H

#include <stdbool.h>

#include "tessera_mpi.h"

/* As tsr_pgemm. *begun, the same on all processes: whether C may have been written when it fails.
 */
TSR_API tsr_status tsr_pgemm_begun(tsr_grid *grid, tsr_op transa, tsr_op transb, int64_t m,
                                   int64_t n, int64_t k, const void *alpha, const tsr_pmatrix *a,
                                   int64_t ia, int64_t ja, const tsr_pmatrix *b, int64_t ib,
                                   int64_t jb, const void *beta, const tsr_pmatrix *c, int64_t ic,
                                   int64_t jc, bool *begun);

#endif
