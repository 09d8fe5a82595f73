/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Machines by the name of their devices, as machine strings. Sources: H200 measured by us
 * (machines/README.md); A100 from Anastasiadis et al., "Uncut-GEMMs", Table I, with a host link for
 * each device; H100 the H200's in proportion to the vendor's figures; V100 from Choi, Nikolskiy,
 * Stegailov, "Tuning of a matrix-matrix multiplication algorithm for several GPUs", Table 1; MI300X
 * and MI250X (a die) from the machine files, MI210 as a die of it, MI100 at 0.8 of the vendor's
 * figures; of AMD's, links other than the MI300X's differ from pair to pair, so none is assumed.
 * Host memory is the slowest that servers with these devices have.
 */
#include "machine/shipped.h"

#include <stdio.h>
#include <string.h>

typedef struct shipped {
  const char *part;   /* a part of the device's name; the first row that fits counts */
  const char *before; /* the machine string up to the number of devices */
  const char *behind; /* and after it */
} shipped;

static const shipped table[] = {
    {"H200", "host:200,150 gpu*", ":141@nvswitch:396 pcie:55 rate:62.8,51 hbm:4800"},
    {"H100", "host:200,150 gpu*", ":80@nvswitch:396 pcie:55 rate:60,49 hbm:3300"},
    {"A100", "host:150,100 gpu*", ":40@nvswitch:250 pcie:24 rate:17.2,17.2 hbm:1560"},
    {"V100", "host:100,70 gpu*", ":16@nvlink:48 pcie:12 rate:7.4,14.9 hbm:900"},
    {"MI300X", "host:200,150 gpu*", ":192@nvlink:48 pcie:50 rate:98,98 hbm:5300"},
    {"MI250", "host:150,100 gpu*", ":64@none pcie:24 rate:36,36 hbm:1600"},
    {"MI210", "host:150,100 gpu*", ":64@none pcie:24 rate:36,36 hbm:1600"},
    {"MI100", "host:100,70 gpu*", ":32@none pcie:24 rate:9.2,18.5 hbm:1200"},
    {"", "host:60,40 gpu*", ":8@none pcie:12 rate:0.3,8 hbm:300"},
};

tsr_status tsr_machine_shipped(const char *device, int devices, tsr_machine **machine) {
  const shipped *row = table;
  char string[160];
  tsr_machine *made;
  while (strstr(device, row->part) == NULL) row++;
  snprintf(string, sizeof string, "%s%d%s", row->before, devices, row->behind);
  TSR_TRY(tsr_machine_parse(string, &made));
  snprintf(made->name, sizeof made->name, "%d x %.60s, not measured", devices, device);
  snprintf(made->source, sizeof made->source, "built-in");
  *machine = made;
  return TSR_OK;
}
