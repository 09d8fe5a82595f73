/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* The slots of a grid: memory in which panels of A and B arrive. */
#ifndef TSR_CLUSTER_SLOTS_H
#define TSR_CLUSTER_SLOTS_H

#include "cluster/transport/transport.h"

/* Whether the slots are at least count[0] and count[1] slots of bytes[0] and bytes[1] bytes for A
 * and B. */
bool tsr_panel_slots_suffice(const tsr_panel_slots *slots, const int count[2],
                             const size_t bytes[2]);

/* Replaces the slots by larger or more ones if they do not suffice. No operation may be using them.
 * TSR_ERR_MEMORY: all slots are freed then. */
tsr_status tsr_panel_slots_provide(const tsr_transport *transport, void *state, const int count[2],
                                   const size_t bytes[2], tsr_panel_slots *slots);
void tsr_panel_slots_free(const tsr_transport *transport, void *state, tsr_panel_slots *slots);

#endif
