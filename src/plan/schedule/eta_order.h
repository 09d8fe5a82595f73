/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The order of a product's tasks by estimated arrival (Uncut-GEMMs, section III-G and algorithm 1).
 *
 * A sub-problem is one tile product. Devices take turns; a device next takes the sub-problem that
 * can start first, by the tiles' estimated arrivals over all routes. Its missing tiles are then
 * booked on the links, to all devices that will read them. This happens on an availability of its
 * own, before anything is scheduled, so that the order is known in advance also where memory is
 * tight: there the sub-problems of one C block, and of those the next ones for which copies run
 * ahead, are ordered among themselves.
 *
 * Two things are ours: sub-problems that can start before the device is free are equally early, so
 * that tiles of C are completed in their order; and of equally early ones the one is taken whose
 * tile lets most others start.
 */
#ifndef TSR_PLAN_SCHEDULE_ETA_ORDER_H
#define TSR_PLAN_SCHEDULE_ETA_ORDER_H

#include "plan/schedule/copies.h"

/* Invariant: the tasks of the graph, each once. The products of one tile of C may come in another
 * order than in the graph; the one that comes first begins the sum, and the last one completes it.
 */
typedef struct tsr_eta_order {
  tsr_task *tasks; /* NULL: not made */
  size_t count;
} tsr_eta_order;

/* Whether the tasks of a graph can be ordered so: it is a product whose kernels each compute a
 * whole tile of C, in one pass over k. Other graphs keep their order. */
bool tsr_eta_order_is_possible(const tsr_problem *problem);

/* Makes the order. tight: tiles share memory. TSR_ERR_MEMORY. */
tsr_status tsr_eta_order_make(const tsr_problem *problem, const tsr_copies *copies, bool tight,
                              tsr_eta_order *order);
void tsr_eta_order_free(tsr_eta_order *order);

#endif
