/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A product in residues across processes. A row of op(A) and a column of op(B) have one scale each,
 * which all of their elements decide, so each process gets the whole rows of op(A) and the whole
 * columns of op(B) that its part of C needs. It multiplies them as one product of its own context,
 * with all of k. Sums of residues do not depend on their order, so C has the bits of a product of
 * one process.
 *
 * Parts of C whose accuracy cannot be promised are native products. If results are to be
 * reproducible, these have the same bits on any number of processes, too: C then moves to a
 * block-cyclic layout whose blocks are the squares that a product of one process judges each by
 * itself, and afterwards back. Each square lies on one process, which computes it as one process
 * alone does.
 */
#ifndef TSR_CLUSTER_RUN_WHOLE_LINES_H
#define TSR_CLUSTER_RUN_WHOLE_LINES_H

#include "cluster/layout/exchange.h"
#include "cluster/run/product.h"
typedef struct tsr_whole_lines {
  const tsr_product *product; /* not owned */
  tsr_emulation_way how;
  tsr_view c;            /* this process's part of C, which it multiplies */
  char *storage[3];      /* of rows of op(A), of columns of op(B), of C; NULL: C stays in place */
  tsr_exchange moves[4]; /* of A, of B, of C to where it is multiplied, and of C back */
  int count, before;     /* moves; of these, those that come before the product */
  int at;                /* the move under way */
  bool multiplied;
  tsr_status status; /* the first failure of this process */
  tsr_error error;
} tsr_whole_lines;

/* The predicted time of a product, of the process with the largest part of C. Every process has to
 * get and to give as many lines, as if each owned an equal part of A and B. */
typedef struct tsr_lines_forecast {
  double seconds;
  double before; /* of these, until the lines are here, and C, if it moves */
  double product;
  double moved;    /* bytes that a process receives, and sends */
  double memory;   /* bytes of host memory for lines, and for C, if it moves */
  int64_t part[2]; /* rows and columns of C */
} tsr_lines_forecast;

/* how: of a product that is emulated. Its part is planned once. Not collective, and the same on all
 * processes. TSR_ERR_MEMORY: the part does not fit the devices. */
tsr_status tsr_whole_lines_forecast(const tsr_product *product, const tsr_emulation_way *how,
                                    tsr_lines_forecast *forecast);

/* *pay: whether an emulated product is predicted to take less than `seconds`, which a native one
 * is, and its lines take no more memory than a choice of the library's may; *forecast is filled
 * then. As tsr_whole_lines_forecast. */
tsr_status tsr_whole_lines_pay(const tsr_product *product, const tsr_emulation_way *how,
                               double seconds, tsr_lines_forecast *forecast, bool *pay);

/* Allocates all memory that the product needs; if results must be reproducible, also looks whether
 * the devices have memory for it. Not collective. TSR_ERR_MEMORY: nothing was sent or changed. */
tsr_status tsr_whole_lines_create(const tsr_product *product, const tsr_emulation_way *how,
                                  tsr_whole_lines *lines);

/* Does what can be done without waiting for other processes; multiplies when all lines are here.
 * True: the product has ended. It ends once all processes have polled often enough. After an error
 * it goes on sending and receiving, so that the other processes can end, too. */
bool tsr_whole_lines_poll(tsr_whole_lines *lines);

/* The first error of this process, once the product has ended. */
tsr_status tsr_whole_lines_result(const tsr_whole_lines *lines);

/* A zeroed one is accepted. */
void tsr_whole_lines_destroy(tsr_whole_lines *lines);

#endif
