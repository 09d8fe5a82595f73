/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

#include "plan/model/links.h"

#include "base/alloc.h"

static void note_channel(tsr_links *links, const tsr_channel *channel, int index) {
  for (int i = 0; i < channel->count; i++) {
    const tsr_channel_use *use = &channel->uses[i];
    tsr_link_uses *uses = &links->uses[use->from * links->locations + use->to];
    if (uses->count == TSR_LINK_USES) continue;
    uses->channel[uses->count] = index;
    uses->seconds[uses->count++] = (float)(use->weight / channel->capacity);
  }
}

tsr_status tsr_links_create(const tsr_machine *machine, tsr_links *links) {
  int locations = tsr_machine_locations(machine);
  links->locations = locations;
  links->uses = tsr_alloc_zero((size_t)locations * (size_t)locations, sizeof *links->uses);
  if (!links->uses) return tsr_fail(TSR_ERR_MEMORY, "no host memory for a plan: free some");
  for (int i = 0; i < machine->channels; i++) note_channel(links, &machine->channel[i], i);
  return TSR_OK;
}

void tsr_links_free(tsr_links *links) {
  tsr_dealloc(links->uses);
  links->uses = NULL;
}
