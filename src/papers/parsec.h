/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The parameters of Herault et al., "Generic matrix multiplication for multi-GPU accelerated
 * distributed-memory platforms over PaRSEC", sections III-B3 and III-B4: blocks of C as large as
 * three quarters of the devices' memory, then chunks of k as deep as the rest has room for. All of
 * it follows from extents and memory; no rate counts. Tessera finds its cuts by replaying plans;
 * these serve comparisons and programs that want the paper's algorithm.
 */
#ifndef TSR_PAPERS_PARSEC_H
#define TSR_PAPERS_PARSEC_H

#include <stdbool.h>

#include "tessera_papers.h"

/* What one process multiplies, and with what. */
typedef struct tsr_parsec_question {
  int64_t rows, cols, k; /* elements: of its own part of C, and all of k */
  int64_t tile;          /* t, elements; at least 1 */
  int devices;           /* G; at least 1 */
  double memory;         /* bytes of a device that may be used */
  double element;        /* bytes */
  int lookahead;         /* l; 0: the paper's, 1 for one block of C, 2 for several */
} tsr_parsec_question;

/* Fills in *cut. False: not even one tile of C and a chunk of one tile fit a device. */
bool tsr_parsec_choose(const tsr_parsec_question *question, tsr_parsec_cut *cut);

#endif
