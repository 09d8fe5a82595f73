/* Inside the planner: which channels each link of a machine uses, as a table. */
#ifndef TSR_PLAN_MODEL_LINKS_H
#define TSR_PLAN_MODEL_LINKS_H

#include "machine/machine.h"

enum { TSR_LINK_USES = 12 }; /* more channels of one link are left out */

typedef struct tsr_link_uses {
  int count;
  int channel[TSR_LINK_USES];
  float seconds[TSR_LINK_USES]; /* of the channel's time for each byte */
} tsr_link_uses;

typedef struct tsr_links {
  int locations;
  tsr_link_uses *uses; /* [from * locations + to] */
} tsr_links;

tsr_status tsr_links_create(const tsr_machine *machine, tsr_links *links);
void tsr_links_free(tsr_links *links);

static inline const tsr_link_uses *tsr_links_of(const tsr_links *links, int from, int to) {
  return &links->uses[(size_t)from * (size_t)links->locations + (size_t)to];
}

#endif
