/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * SUMMA (van de Geijn and Watts, 1997) with C in place: executes a schedule. Panels of op(A) are
 * broadcast along the rows of the grid and panels of op(B) along its columns, before the products
 * need them; the devices compute the products. The rows of op(A) are distributed as C's rows, the
 * columns of op(B) as C's columns; k may be distributed in any way.
 *
 * It never waits: it progresses when it is polled, by any thread, one at a time. If a product fails
 * on one process, that process goes on sending and receiving panels, so that no other process waits
 * for it.
 */
#ifndef TSR_CLUSTER_RUN_SUMMA_H
#define TSR_CLUSTER_RUN_SUMMA_H

#include "cluster/layout/exchange.h"
#include "cluster/transport/transport.h"

/* The panel of a message, from which its parts in the matrix follow (tsr_panel_parts). */
typedef struct tsr_panel_source {
  const struct tsr_summa *summa;
  int operand;
  int32_t panel;
  tsr_span part; /* own rows of A, or columns of B, in the row or column of blocks */
} tsr_panel_source;

/* The extents of the panel in a slot; it lies there without gaps. */
typedef struct tsr_filling {
  int64_t rows, cols;
} tsr_filling;

typedef struct tsr_summa {
  tsr_grid *grid;
  tsr_type type;
  const char *arithmetic;            /* of products of panels, as tsr_level3 has it; not owned */
  char alpha[16], beta[16], one[16]; /* values of the type */
  tsr_view a, b, c; /* op(A) and op(B) in the layout that is sent: after redistribution */
  int64_t rows, cols, ldc;
  tsr_summa_schedule schedule;             /* owned */
  tsr_exchange *moves[2];                  /* of operands that are redistributed first; not owned */
  size_t next;                             /* the step that begins next */
  size_t written_back;                     /* all write-backs before this step are complete */
  size_t multiplied;                       /* all products before this step are complete */
  bool *complete;                          /* [step] */
  tsr_event *begin, *end;                  /* [step]: around a product or a write-back */
  int32_t sending[TSR_TRANSPORT_MESSAGES]; /* the step of each message under way, or
                                              TSR_NO_SUMMA_STEP */
  tsr_panel_source source[TSR_TRANSPORT_MESSAGES];
  double since[TSR_TRANSPORT_MESSAGES]; /* when the message began (tsr_now), for timelines */
  double moving[2];                     /* when the redistribution of A, of B began */
  tsr_filling filling[2][TSR_SLOTS_MOST];
  bool devices;      /* the context has devices */
  bool lost;         /* panels will not arrive; the process that failed reports the error */
  tsr_status status; /* the first failure of this process */
  tsr_error error;
} tsr_summa;

/* Whether op(A), op(B) can be sent as it lies, without redistribution. */
bool tsr_summa_fits_a(const tsr_grid *grid, const tsr_view *a, const tsr_view *c);
bool tsr_summa_fits_b(const tsr_grid *grid, const tsr_view *b, const tsr_view *c);

/* bytes[0], bytes[1]: bytes of a slot for A, for B; the same on all processes. */
void tsr_summa_slot_bytes(const tsr_summa_schedule *schedule, size_t element, size_t bytes[2]);

/* Prepares the execution of a schedule. On TSR_OK *schedule moves into *summa; on failure the
 * caller keeps it. The grid's slots must suffice for the schedule before the first poll. Not
 * collective. TSR_ERR_MEMORY. */
tsr_status tsr_summa_create(tsr_grid *grid, tsr_type type, const void *alpha, const tsr_view *a,
                            const tsr_view *b, const void *beta, const tsr_view *c,
                            const char *arithmetic, tsr_summa_schedule *schedule, tsr_summa *summa);

/* Adds what the schedule sends, receives and uploads on this process to the grid's planned counts.
 */
void tsr_summa_plan_counts(const tsr_summa *summa);

/* Does what can be done without waiting. True: all steps have ended. They end once all processes
 * have polled often enough. */
bool tsr_summa_poll(tsr_summa *summa);

/* Whether messages are under way, so that the product should be polled again at once. */
bool tsr_summa_has_messages(const tsr_summa *summa);

/* The first error of this process, once all steps have ended. Errors of the asynchronous products
 * are returned by tsr_sync instead. */
tsr_status tsr_summa_result(const tsr_summa *summa);

/* A zeroed tsr_summa is accepted. */
void tsr_summa_destroy(tsr_summa *summa);

#endif
