/* SPDX-FileCopyrightText: 2026 The Tessera authors */
/* SPDX-License-Identifier: BSD-3-Clause */

/* tessera-pgemm: products across processes. The command tessera runs this program for 'tessera
 * pgemm' and 'tessera plan pgemm', so that only this program is linked with MPI. */
#include <string.h>

#include "output_file.h"
#include "pgemm.h"

typedef struct subcommand {
  const char *name, *full_name;
  int (*run)(int argc, char **argv);
} subcommand;

static const subcommand subcommands[] = {
    {"run", "tessera pgemm", pgemm_run},
    {"plan", "tessera plan pgemm", pgemm_plan},
    {"describe", "tessera-pgemm describe", pgemm_describe},
};

int main(int argc, char **argv) {
  tool_hold_descriptors();
  tool_set_name("tessera-pgemm");
  for (size_t i = 0; argc > 1 && i < sizeof subcommands / sizeof *subcommands; i++) {
    if (strcmp(argv[1], subcommands[i].name) != 0) continue;
    tool_set_name(subcommands[i].full_name);
    output_catch_signals();
    int code = subcommands[i].run(argc - 1, argv + 1);
    return fflush(stdout) == 0 ? code : tool_fail("cannot write to the standard output");
  }
  return tool_fail("use 'tessera pgemm' or 'tessera plan pgemm'");
}
