/* The slots of a grid. */
#ifndef TSR_CLUSTER_SLOTS_H
#define TSR_CLUSTER_SLOTS_H

#include "cluster/transport.h"

bool tsr_panel_slots_suffice(const tsr_panel_slots *slots, const int count[2],
                             const size_t bytes[2]);

/* Makes there be so many of at least these sizes, of A and of B. Nothing may be using them.
 * TSR_ERR_MEMORY: there are none then. */
tsr_status tsr_panel_slots_provide(const tsr_transport *transport, void *state, const int count[2],
                                   const size_t bytes[2], tsr_panel_slots *slots);
void tsr_panel_slots_free(const tsr_transport *transport, void *state, tsr_panel_slots *slots);

#endif
