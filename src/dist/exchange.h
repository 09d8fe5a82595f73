/*
 * Moving a view to another layout: what one process has and another wants is sent at once, a window
 * of the view after the other, so that memory for messages is bounded.
 */
#ifndef TSR_DIST_EXCHANGE_H
#define TSR_DIST_EXCHANGE_H

#include "dist/view.h"

typedef struct tsr_exchange {
  const tsr_peers *peers;
  tsr_view from, to; /* of the same extents; to.conjugate is ignored */
  int64_t window[2]; /* rows and columns that are moved at once */
  char *out, *in;
  int *count; /* what goes out and where it begins, what comes in and where: 4 for each process */
} tsr_exchange;

/* Takes the memory that it needs, of this process alone. TSR_ERR_MEMORY. */
tsr_status tsr_exchange_create(const tsr_peers *peers, const tsr_view *from, const tsr_view *to,
                               tsr_exchange *exchange);

/* Collective. Goes on to the end whatever happens; returns the first error. */
tsr_status tsr_exchange_run(tsr_exchange *exchange);

/* Zeroed ones are accepted. */
void tsr_exchange_destroy(tsr_exchange *exchange);

#endif
