/*
 * SUMMA (van de Geijn and Watts, 1997) with C in place: goes through a schedule. Panels of op(A) go
 * along the rows of the grid and panels of op(B) along its columns, ahead of the products, which
 * the devices do one beside the other. The rows of op(A) are dealt as C's, the columns of op(B) as
 * C's columns; k is dealt as it may be.
 *
 * It never waits: it goes on when it is polled, by whichever thread, one at a time. A process whose
 * product fails goes on sending and receiving, so that no other one waits for it.
 */
#ifndef TSR_CLUSTER_SUMMA_H
#define TSR_CLUSTER_SUMMA_H

#include "cluster/exchange.h"
#include "cluster/transport.h"

/* Where a panel comes from and what it is. */
typedef struct tsr_panel_source {
  const struct tsr_summa *summa;
  int operand;
  int32_t panel;
  tsr_span part; /* own rows of A, or columns of B, that the block has */
} tsr_panel_source;

/* What a slot holds: rows x cols, without gaps. */
typedef struct tsr_filling {
  int64_t rows, cols;
} tsr_filling;

typedef struct tsr_summa {
  tsr_grid *grid;
  tsr_type type;
  char alpha[16], beta[16], one[16]; /* values of the type */
  tsr_view a, b, c;                  /* A and B as they are when they are sent */
  int64_t rows, cols, ldc;
  tsr_summa_schedule schedule;             /* owned */
  tsr_exchange *moves[2];                  /* of operands that are redistributed first; not owned */
  size_t next;                             /* the step that begins next */
  size_t home;                             /* steps before it that bring blocks home are complete */
  size_t multiplied;                       /* products among the steps before it are complete */
  bool *complete;                          /* [step] */
  tsr_event *begin, *end;                  /* [step] around a product, or a way home */
  int32_t sending[TSR_TRANSPORT_MESSAGES]; /* the step of each message under way, or
                                              TSR_NO_SUMMA_STEP */
  tsr_panel_source source[TSR_TRANSPORT_MESSAGES];
  double since[TSR_TRANSPORT_MESSAGES]; /* when it began, for timelines */
  double moving[2];                     /* when a redistribution did */
  tsr_filling filling[2][TSR_SLOTS_MOST];
  bool devices;
  bool lost;         /* panels are missing, for which another process answers */
  tsr_status status; /* the first failure here */
  tsr_error error;
} tsr_summa;

/* Whether op(A), op(B) need not move. */
bool tsr_summa_fits_a(const tsr_grid *grid, const tsr_view *a, const tsr_view *c);
bool tsr_summa_fits_b(const tsr_grid *grid, const tsr_view *b, const tsr_view *c);

/* Bytes of a slot for each operand: the same on all processes. */
void tsr_summa_slot_bytes(const tsr_summa_schedule *schedule, size_t element, size_t bytes[2]);

/* Takes over the schedule, on TSR_OK alone; the grid's slots must suffice for it when it runs. Of
 * this process alone. TSR_ERR_MEMORY. */
tsr_status tsr_summa_create(tsr_grid *grid, tsr_type type, const void *alpha, const tsr_view *a,
                            const tsr_view *b, const void *beta, const tsr_view *c,
                            tsr_summa_schedule *schedule, tsr_summa *summa);

/* Whether this process's context has the memory for its products, where it must have it (local.h).
 * TSR_ERR_MEMORY. */
tsr_status tsr_summa_check(const tsr_summa *summa);

/* Does what can be done without waiting; true: all steps have ended. Collective, in that it ends
 * when all have polled it often enough. */
bool tsr_summa_poll(tsr_summa *summa);

/* Messages are under way: it should be polled again at once. */
bool tsr_summa_has_messages(const tsr_summa *summa);

/* The first error here, of one that has ended, but for what the products say: that tsr_sync does.
 */
tsr_status tsr_summa_result(const tsr_summa *summa);

/* Zeroed ones are accepted. */
void tsr_summa_destroy(tsr_summa *summa);

#endif
