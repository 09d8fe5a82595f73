/*
 * Moving a view to another layout: what one process has and another wants is sent at once, a window
 * of the view after the other, so that memory for messages is bounded. It goes on when it is
 * polled, and never waits.
 */
#ifndef TSR_CLUSTER_EXCHANGE_H
#define TSR_CLUSTER_EXCHANGE_H

#include "cluster/pack.h"
#include "cluster/view.h"

typedef struct tsr_exchange {
  const tsr_peers *peers;
  tsr_view from, to;    /* of the same extents; to.conjugate is ignored */
  tsr_packers *packers; /* who copies, or NULL: the caller alone */
  int64_t window[2];    /* rows and columns that are moved at once */
  int64_t at[2];        /* the next one */
  MPI_Request request;  /* of the one that is under way, if there is one */
  bool under_way;
  tsr_status status; /* the first failure here */
  tsr_error error;
  char *out, *in;
  int *count; /* what goes out and where it begins, what comes in and where: 4 for each process */
} tsr_exchange;

/* Takes the memory that it needs, of this process alone. TSR_ERR_MEMORY. */
tsr_status tsr_exchange_create(const tsr_peers *peers, tsr_packers *packers, const tsr_view *from,
                               const tsr_view *to, tsr_exchange *exchange);

/* Does what can be done without waiting; true: it has ended. Collective, in that it ends when all
 * have polled it often enough. It goes on to the end whatever happens. */
bool tsr_exchange_poll(tsr_exchange *exchange);

/* The first error here, of one that has ended. */
tsr_status tsr_exchange_result(const tsr_exchange *exchange);

/* Both, waiting. */
tsr_status tsr_exchange_run(tsr_exchange *exchange);

/* Bytes that a process sends or receives, if all have as much. */
double tsr_exchange_bytes(const tsr_view *from, int processes);

/* Zeroed ones are accepted. */
void tsr_exchange_destroy(tsr_exchange *exchange);

#endif
